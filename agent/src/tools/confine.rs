//! Landlock: commands that may write only where they are allowed to.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Devices that commands write to without harm.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Commands may write, create, rename and delete in these folders, in the folder for temporary files and to harmless devices, and nowhere
/// else. They may read and run what their user may. They get no more rights than they have (`sudo` does not work).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confine {
    folders: Vec<PathBuf>,
    no_temporary: bool,
}

/// Why commands cannot be confined.
#[derive(Debug, thiserror::Error)]
pub enum NoLandlock {
    /// Not Linux.
    #[error("commands cannot be confined: only Linux has Landlock")]
    System,
    /// The kernel has no Landlock, or it is switched off.
    #[error("commands cannot be confined: this kernel has no Landlock, or it is switched off ({0})")]
    Kernel(String),
    /// A folder cannot be opened.
    #[error("commands cannot be confined to {}: {reason}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Rules that are ready to be applied to one command.
#[derive(Debug)]
pub(crate) struct Rules(#[cfg(target_os = "linux")] landlock::RulesetCreated);

impl Confine {
    /// These folders, which must be there, and the one for temporary files.
    pub fn to(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
            no_temporary: false,
        }
    }

    /// Not in the folders for temporary files either.
    #[must_use]
    pub const fn without_temporary(mut self) -> Self {
        self.no_temporary = true;
        self
    }

    /// One more folder.
    #[must_use]
    pub fn and(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Whether the system can do it and the folders are there. To be asked before a session that depends on it begins.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check(&self) -> Result<(), NoLandlock> {
        self.rules().map(drop)
    }

    /// Makes the rules for one command.
    #[cfg(target_os = "linux")]
    pub(crate) fn rules(&self) -> Result<Rules, NoLandlock> {
        use landlock::{ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr};
        let kernel = |error: landlock::RulesetError| NoLandlock::Kernel(error.to_string());
        // What the first version has is a must; what later ones add is taken where it is there.
        let writing = AccessFs::from_write(ABI::V5);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))
            .map_err(kernel)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(writing)
            .map_err(kernel)?
            .create()
            .map_err(kernel)?;
        let temporary = std::env::temp_dir();
        let temporary = [temporary.as_path(), Path::new("/tmp"), Path::new("/var/tmp")];
        let temporary = temporary.into_iter().filter(|_| !self.no_temporary);
        let optional = DEVICES.iter().map(Path::new).chain(temporary);
        let wanted = self.folders.iter().map(|path| (path.as_path(), true));
        for (path, must) in wanted.chain(optional.map(|path| (path, false))) {
            let opened = match PathFd::new(path) {
                Ok(opened) => opened,
                Err(_) if !must => continue,
                Err(error) => {
                    return Err(NoLandlock::Folder {
                        path: path.to_owned(),
                        reason: error.to_string(),
                    });
                }
            };
            let access = if path.is_dir() {
                writing
            } else {
                writing & AccessFs::from_file(ABI::V5)
            };
            rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(kernel)?;
        }
        Ok(Rules(rules))
    }

    /// Other systems cannot.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn rules(&self) -> Result<Rules, NoLandlock> {
        Err(NoLandlock::System)
    }
}

impl Rules {
    #[cfg(target_os = "linux")]
    pub(crate) fn apply(self, command: &mut Command) {
        agentglot_process::sys::restrict(command, self.0);
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn apply(self, _: &mut Command) {}
}
