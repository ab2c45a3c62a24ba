//! File work beside the session's own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::tools::Cx;
use crate::workspace::{Fault, Wall};

/// Does work with files on a thread that may block. The work looks at the token wherever it may take long; whoever waits here waits until
/// the work has come back, so that nothing happens to a file after the call has ended.
///
/// # Errors
/// The work's own, and when it breaks down.
pub async fn blocking<T, E>(cx: &Cx<'_>, work: impl FnOnce(&Wall, &CancellationToken) -> Result<T, E> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Fault> + Send + 'static,
{
    let (wall, cancel) = (cx.world.wall.clone(), cx.cancel.clone());
    let done = tokio::task::spawn_blocking(move || work(&wall, &cancel)).await;
    done.unwrap_or_else(|error| Err(Fault::Other(error.to_string()).into()))
}

/// So many pieces of work that were given up may still be going on.
const MOST_GIVEN_UP: usize = 2;

static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Does work that nothing can stop, a regular expression over a long text, on a thread of its own. Behind its time, or a second behind a cancellation,
/// nobody waits for it any more. It must only read: it may go on until it has ended, or the process has.
///
/// # Errors
/// When it took too long or was cancelled, and when too much of what was given up is still going on.
pub fn in_time<T: Send + 'static>(most: Duration, cancel: &CancellationToken, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    counted(&GIVEN_UP, most, cancel, work)
}

fn counted<T: Send + 'static>(
    given_up: &'static AtomicUsize,
    most: Duration,
    cancel: &CancellationToken,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    const GOING_ON: u8 = 0;
    const OVER: u8 = 1;
    const LEFT: u8 = 2;
    if given_up.load(Ordering::Relaxed) >= MOST_GIVEN_UP {
        return Err(Fault::Other(
            "earlier patterns that take too long are still being looked for: use simpler ones".to_owned(),
        ));
    }
    let (tell, told) = sync_channel(1);
    let state = Arc::new(AtomicU8::new(GOING_ON));
    let its = Arc::clone(&state);
    let thread = std::thread::Builder::new().name("search".to_owned()).spawn(move || {
        let _ = tell.send(work());
        if its.swap(OVER, Ordering::AcqRel) == LEFT {
            given_up.fetch_sub(1, Ordering::Relaxed);
        }
    });
    thread.map_err(|error| Fault::Other(error.to_string()))?;
    let until = Instant::now() + most;
    let mut cancelled = None;
    loop {
        match told.recv_timeout(Duration::from_millis(50)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::Other("the search broke down".to_owned())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if cancel.is_cancelled() {
            cancelled.get_or_insert_with(|| Instant::now() + Duration::from_secs(1));
        }
        let now = Instant::now();
        if now < until && cancelled.is_none_or(|then| now < then) {
            continue;
        }
        given_up.fetch_add(1, Ordering::Relaxed);
        if state.compare_exchange(GOING_ON, LEFT, Ordering::AcqRel, Ordering::Acquire).is_err() {
            given_up.fetch_sub(1, Ordering::Relaxed);
        }
        return Err(match cancelled {
            Some(_) => Fault::Cancelled,
            None => Fault::Other(format!(
                "the pattern was looked for longer than {} s and given up: use a simpler one",
                most.as_secs_f64()
            )),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nothing_stops_is_given_up_and_counted_as_long_as_it_goes_on() {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let (never, most) = (CancellationToken::new(), Duration::from_millis(50));
        assert_eq!(counted(&LEFT, most, &never, || 1), Ok(1));
        let (end, ended) = sync_channel::<()>(0);
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let endless = || {
            let ended = Arc::clone(&ended);
            move || drop(ended.lock().map(|ended| ended.recv()))
        };
        let why = counted(&LEFT, most, &never, endless()).unwrap_err().to_string();
        assert!(why.contains("longer than 0.05 s"), "{why}");
        let stopped = CancellationToken::new();
        stopped.cancel();
        assert_eq!(counted(&LEFT, Duration::from_secs(60), &stopped, endless()), Err(Fault::Cancelled));
        let why = counted(&LEFT, most, &never, || 1).unwrap_err().to_string();
        assert!(why.contains("earlier patterns"), "{why}");
        drop(end);
        let until = Instant::now() + Duration::from_secs(30);
        while counted(&LEFT, Duration::from_secs(60), &never, || 1).is_err() || LEFT.load(Ordering::Relaxed) > 0 {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(counted(&LEFT, most, &never, || -> u8 { panic!("for the test") }).is_err());
    }
}
