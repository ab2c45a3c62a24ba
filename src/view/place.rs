use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use agentglot_adapters::raw::ids::{FNV_SEED, fnv};

use crate::io::{Input, Walk};
use crate::status::Failure;

/// Where logs are.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a folder, and all that lie in it.
    Folder(PathBuf),
    /// Where agents keep sessions on this machine.
    #[cfg(all(unix, feature = "agent"))]
    Machine,
}

/// How a log was when it was looked at: one that is as it was holds what it held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    /// When it was written last: nanoseconds since 1970.
    pub(super) modified: i64,
}

impl Stamp {
    /// That of a log which was found just now, and is there.
    pub(super) fn found(input: &Input) -> Option<Self> {
        match input {
            Input::Record(record) => Some(Self::new(record.was())),
            input => Self::of(input),
        }
    }

    /// That of a log which is there.
    pub(super) fn of(input: &Input) -> Option<Self> {
        if let Input::Record(record) = input {
            return record.now().map(Self::new);
        }
        let about = input.path()?.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Self::new((about.len(), about.modified().ok()?)))
    }

    fn new((size, modified): (u64, SystemTime)) -> Self {
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            size,
            modified: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        }
    }
}

impl std::fmt::Display for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.size, self.modified)
    }
}

impl Place {
    /// What may be logs, and what could not be listed.
    pub(super) fn inputs(&self) -> Result<(Vec<Input>, Vec<Failure>), Failure> {
        match self {
            Self::Folder(folder) => {
                std::fs::read_dir(folder).map_err(|error| Failure::Read {
                    name: folder.display().to_string(),
                    error,
                })?;
                let mut failed = Vec::new();
                let found = Walk::new(&[], None)?.logs(folder, |failure| failed.push(failure));
                let files = found.iter().filter_map(|input| Some(Input::File(input.path()?.into_owned())));
                Ok((files.collect(), failed))
            }
            #[cfg(all(unix, feature = "agent"))]
            Self::Machine => Ok(crate::homes::called()),
        }
    }

    /// A path as it is named on pages.
    pub(super) fn name(&self, path: &std::path::Path) -> String {
        let below = match self {
            Self::Folder(folder) => path.strip_prefix(folder).unwrap_or(path),
            #[cfg(all(unix, feature = "agent"))]
            Self::Machine => path,
        };
        below.display().to_string()
    }

    /// What it is called on pages.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            #[cfg(all(unix, feature = "agent"))]
            Self::Machine => "this machine".to_owned(),
        }
    }

    /// Whether what the files of subagents hold is no session of its own, even where nothing names its session.
    pub(super) fn knows_sessions(&self) -> bool {
        !matches!(self, Self::Folder(_))
    }

    /// The name under which its index is kept.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Folder(folder) => format!("folder-{:016x}", fnv(folder.as_os_str().as_encoded_bytes(), FNV_SEED)),
            #[cfg(all(unix, feature = "agent"))]
            Self::Machine => "machine".to_owned(),
        }
    }
}
