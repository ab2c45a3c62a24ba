//! Files that have not got their names yet are removed when a signal ends the program.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a file that goes when a signal ends the program before it is [`done`], whenever the signal comes. From the first one on, signals are
/// listened to; without a listener the program ends all the same, and only leaves its files behind.
///
/// # Errors
/// Those of `make`.
pub(super) fn begin(path: &Path, make: impl FnOnce() -> io::Result<File>) -> io::Result<File> {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| crate::system::before_signals(remove));
    let mut all = unfinished();
    let file = make()?;
    all.push(path.to_owned());
    Ok(file)
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
