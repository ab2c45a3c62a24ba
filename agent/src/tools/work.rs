//! File work beside the session's own thread.

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
