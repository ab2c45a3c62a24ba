//! News, as server-sent events: the list is otherwise than before; a log has grown.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::IntoResponse;
use axum::response::Response;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::unfold;
use serde::Deserialize;

use super::place::Stamp;
use super::server::AppState;

/// So often a log that somebody looks at is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// Says when the list is otherwise than before.
pub(super) async fn changes(State(app): State<Arc<AppState>>) -> Response {
    let reader = app.library.reader();
    let changed = app.library.changed.subscribe();
    let stream = unfold((changed, reader), |(mut changed, reader)| async move {
        changed.changed().await.ok()?;
        let event = Event::default().event("changed").data(changed.borrow_and_update().to_string());
        Some((Ok::<_, Infallible>(event), (changed, reader)))
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// What a page shows already.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    /// How the file was.
    #[serde(default)]
    seen: String,
}

/// Says when a session has grown, was begun anew, or is gone.
pub(super) async fn growth(State(app): State<Arc<AppState>>, Path((_, id)): Path<(String, usize)>, Query(Seen { seen }): Query<Seen>) -> Response {
    let input = app.library.log(id).map(|log| log.input);
    let reader = app.library.reader();
    let stream = unfold((input, seen, reader, false), |(input, seen, reader, gone)| async move {
        // Whoever was told that it is gone waits in case it comes back.
        loop {
            let stamp = match input.clone() {
                Some(input) => tokio::task::spawn_blocking(move || Stamp::of(&input)).await.ok()?,
                None => None,
            };
            match stamp {
                Some(stamp) if stamp.to_string() != seen => {
                    let was: u64 = seen.split('-').next().and_then(|size| size.parse().ok()).unwrap_or(0);
                    let name = if stamp.size < was { "again" } else { "grown" };
                    let event = Event::default().event(name).data(stamp.to_string());
                    return Some((Ok::<_, Infallible>(event), (input, stamp.to_string(), reader, false)));
                }
                None if !gone => return Some((Ok(Event::default().event("gone").data("gone")), (input, seen, reader, true))),
                _ => tokio::time::sleep(LOOK).await,
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}
