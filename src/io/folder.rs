use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::{DirEntry, WalkDir};

use super::Input;
use crate::status::Failure;

/// Finds the logs in a folder and all that lie in it. Links are not followed.
#[derive(Clone, Debug)]
pub struct Walk {
    names: GlobSet,
    /// This folder is left out: what is written there is not read again.
    leave_out: Option<PathBuf>,
}

/// What logs are called.
const LOGS: &str = "*.{jsonl,ndjson,json,sse}{,.gz,.zst,.zstd}";

impl Walk {
    /// Finds files that are called as one of `patterns` says, or as logs are if there is none. A pattern with a slash is held against the
    /// path below the folder, one without against the name.
    ///
    /// # Errors
    /// When a pattern cannot be read.
    pub fn new(patterns: &[String], leave_out: Option<&Path>) -> Result<Self, Failure> {
        let mut names = GlobSetBuilder::new();
        let usual = [LOGS.to_owned()];
        for pattern in if patterns.is_empty() { &usual } else { patterns } {
            let anywhere = if pattern.contains('/') { String::new() } else { "**/".to_owned() };
            let glob = GlobBuilder::new(&format!("{anywhere}{pattern}"))
                .literal_separator(true)
                .empty_alternates(true)
                .build();
            names.add(glob.map_err(|error| Failure::Usage(format!("--include {pattern}: {}", error.kind())))?);
        }
        Ok(Self {
            names: names.build().map_err(|error| Failure::Usage(format!("--include: {error}")))?,
            leave_out: leave_out.and_then(|path| path.canonicalize().ok()),
        })
    }

    /// The logs in a folder, in the order of their names. Of what cannot be read a word is said to `tell`.
    pub fn logs(&self, folder: &Path, mut tell: impl FnMut(Failure)) -> Vec<Input> {
        let mut found = Vec::new();
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(|entry| entry.depth() == 0 || !self.is_left_out(entry)) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                    if self.names.is_match(below) {
                        found.push(Input::InFolder {
                            folder: folder.to_owned(),
                            below: below.to_owned(),
                        });
                    }
                }
                Ok(_) => {}
                Err(error) => tell(Failure::Read {
                    name: error.path().unwrap_or(folder).display().to_string(),
                    error: error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into()),
                }),
            }
        }
        found
    }

    fn is_left_out(&self, entry: &DirEntry) -> bool {
        let is_ours = || {
            self.leave_out
                .as_ref()
                .is_some_and(|out| entry.path().canonicalize().is_ok_and(|path| path == *out))
        };
        entry.file_type().is_dir() && (entry.file_name() == OsStr::new(".git") || is_ours())
    }
}
