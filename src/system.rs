//! What each operating system does in its own way, as far as all commands need it.

/// Calls `before` when a signal is about to end the program, which it then does as signals do.
#[cfg(unix)]
pub(crate) fn before_signals(before: fn()) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            before();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// Without signals there is nothing to do before them.
#[cfg(not(unix))]
pub(crate) fn before_signals(_: fn()) {}
