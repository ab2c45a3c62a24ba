//! Signals that ask us to end.

use std::future::poll_fn;
use std::task::Poll;

use rustix::process::{Resource, Signal, getrlimit};

use crate::child::sys;
use crate::status::Failure;

/// The signals that would end us and can be caught: each ends the session with an outcome.
pub(super) struct Signals(Vec<(i32, tokio::signal::unix::Signal)>);

impl Signals {
    const ALL: [Signal; 12] = [
        Signal::TERM,
        Signal::INT,
        Signal::HUP,
        Signal::QUIT,
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::XCPU,
        Signal::XFSZ,
    ];

    /// What waits for the next of them.
    pub(super) fn watch() -> Result<impl AsyncFnMut() -> i32, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        // Where files have a limit, it is one of them that reached it: writing it fails, and that is told where it was written.
        let is_limited = getrlimit(Resource::Fsize).current.is_some();
        let mut signals = Self(Vec::new());
        for one in Self::ALL {
            let number = one.as_raw();
            // `nohup`, and shells that put us into the background, want us to live on; by these two we are stopped all the same.
            if sys::is_ignored(number) && !matches!(one, Signal::TERM | Signal::INT) {
                continue;
            }
            let heard = signal(SignalKind::from_raw(number)).map_err(|error| Failure::Read {
                name: "signals".to_owned(),
                error,
            })?;
            signals.0.push((number, heard));
        }
        Ok(async move || {
            poll_fn(|cx| {
                for (number, heard) in &mut signals.0 {
                    while heard.poll_recv(cx).is_ready() {
                        if !(is_limited && *number == Signal::XFSZ.as_raw()) {
                            return Poll::Ready(*number);
                        }
                    }
                }
                Poll::Pending
            })
            .await
        })
    }
}
