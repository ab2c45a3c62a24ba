//! The workspace: the folders that file tools may touch, and no way out of them.

use std::path::{Path, PathBuf};

/// The working folder and the folders that were added to it.
#[derive(Debug)]
pub struct Wall {
    root: PathBuf,
}

impl Wall {
    /// A workspace of one folder. The path is made absolute and free of links.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    /// The working folder.
    pub fn root(&self) -> &Path {
        &self.root
    }
}
