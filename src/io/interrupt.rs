//! Files that have not got their names yet are removed when a signal ends the program.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file was begun. From the first one on, signals are listened to; without a listener the program ends all the same, and only leaves its
/// files behind.
pub(super) fn begun(path: &Path) {
    static LISTENING: Once = Once::new();
    unfinished().push(path.to_owned());
    LISTENING.call_once(|| crate::system::before_signals(remove));
}

/// A file has got its name, or is gone.
pub(super) fn done(path: &Path) {
    unfinished().retain(|known| known != path);
}

fn remove() {
    let all = unfinished();
    for path in all.iter() {
        let _ = std::fs::remove_file(path);
    }
    // No file gets its name from now on.
    std::mem::forget(all);
}
