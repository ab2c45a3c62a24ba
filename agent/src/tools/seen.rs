//! What the model knows of the files: which it has read, and how they looked then.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::workspace::Stamp;

/// The files that the model has read or written in a session, by their real paths. All tools of a session share one.
#[derive(Debug, Default)]
pub struct Seen {
    files: RefCell<HashMap<PathBuf, Stamp>>,
}

impl Seen {
    /// The model knows the file as it looks so.
    pub fn put(&self, path: &Path, stamp: Stamp) {
        self.files.borrow_mut().insert(path.to_owned(), stamp);
    }

    /// How the file looked when the model saw it last.
    pub fn get(&self, path: &Path) -> Option<Stamp> {
        self.files.borrow().get(path).cloned()
    }

    /// The file is no more.
    pub fn forget(&self, path: &Path) {
        self.files.borrow_mut().remove(path);
    }

    /// The conversation is a new one.
    pub fn clear(&self) {
        self.files.borrow_mut().clear();
    }
}
