//! Files that have not got their names yet are removed when a signal ends the program.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file was begun. From the first one on, signals are listened to.
pub(super) fn begun(path: &Path) {
    let mut all = unfinished();
    all.push(path.to_owned());
    #[cfg(unix)]
    {
        static LISTENING: std::sync::Once = std::sync::Once::new();
        LISTENING.call_once(listen);
    }
}

/// A file has got its name, or is gone.
pub(super) fn done(path: &Path) {
    unfinished().retain(|known| known != path);
}

/// Without a listener the program ends all the same; it only leaves its files behind.
#[cfg(unix)]
fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    let remove = move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is kept: no file gets its name from now on.
            let all = unfinished();
            for path in all.iter() {
                let _ = std::fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(remove);
}
