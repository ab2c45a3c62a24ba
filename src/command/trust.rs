//! `trust`: the folders whose own files count.

use std::path::{Path, PathBuf};

use super::print;
use crate::config::trust::{self, Trust};
use crate::io::one_line;
use crate::status::{Failure, Status};

/// What is to be done with the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    /// Say it.
    List,
    /// Trust these.
    Add(Vec<PathBuf>),
    /// Trust them no longer.
    Remove(Vec<PathBuf>),
}

/// Does it.
///
/// # Errors
/// When a folder is not there, or the list cannot be read or written.
pub fn run(what: &Do) -> Result<Status, Failure> {
    let mut text = String::new();
    let mut status = Status::Clean;
    match what {
        Do::List => Trust::now()
            .folders()
            .iter()
            .for_each(|folder| text.push_str(&format!("{}\n", shown(folder)))),
        Do::Add(folders) => {
            for folder in folders {
                text.push_str(&format!("{} is trusted\n", shown(&trust::add(folder)?)));
            }
        }
        Do::Remove(folders) => {
            for folder in folders {
                let known = trust::remove(folder)?;
                status = if known { status } else { Status::Damaged };
                let word = if known { "is trusted no longer" } else { "was not trusted" };
                text.push_str(&format!("{} {word}\n", shown(folder)));
            }
        }
    }
    print(text.as_bytes())?;
    Ok(status)
}

/// A folder's name, on one line.
fn shown(folder: &Path) -> String {
    one_line(&folder.display().to_string())
}
