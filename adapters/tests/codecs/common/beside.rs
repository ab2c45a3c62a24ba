//! The reference material that may lie beside the clone. Where it does not, that is said on the terminal; where nothing may be skipped
//! (`AGENTGLOT_NO_SKIPS`), it is a failure.
#![allow(dead_code, reason = "shared by tests of several crates, each of which uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of it.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("golden").is_dir());
    let path = root.expect("the clone has golden/").join("../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    skipped(&format!("shared/{folder} is not beside this clone"));
    None
}

/// A test was not run, or not in full.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    assert!(std::env::var_os("AGENTGLOT_NO_SKIPS").is_none(), "{name} may not be skipped: {why}");
    // Straight to the terminal: what a test prints by the macros is kept back when it passes.
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {name}: {why}");
}
