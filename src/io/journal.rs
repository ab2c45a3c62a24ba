//! The program's own log, kept for a host that wants it in the stream.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// So many records wait; the oldest go first.
const MOST: usize = 1024;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How important it is, as the RFC's `console_level`: `error`, `warn`, `info`, `debug`.
    pub level: &'static str,
    /// What it is about, as the RFC's `log_scope`: `system`, `tool`, `debug`.
    pub scope: &'static str,
    /// The message and what belongs to it, without a line feed at its end.
    pub text: String,
}

/// Keeps what is logged until [`take`] is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct Journal;

struct Waiting {
    records: VecDeque<Record>,
    lost: u64,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    records: VecDeque::new(),
    lost: 0,
});
static WAKE: Notify = Notify::const_new();

/// Waits until there is a record. Cancel-safe.
pub async fn ready() {
    while waiting().records.is_empty() {
        WAKE.notified().await;
    }
}

/// Takes the records; the first one says how many were lost, if any were.
pub fn take() -> Vec<Record> {
    let mut waiting = waiting();
    let lost = std::mem::take(&mut waiting.lost);
    let lost = (lost > 0).then(|| Record {
        level: "warn",
        scope: "system",
        text: format!("{lost} older records were lost"),
    });
    lost.into_iter().chain(waiting.records.drain(..)).collect()
}

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Subscriber> Layer<S> for Journal {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let about = event.metadata();
        let level = match *about.level() {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            Level::DEBUG | Level::TRACE => "debug",
        };
        let is_tools = ["::tools", "::catalog", "::mcp"].iter().any(|part| about.target().contains(part));
        let scope = match level {
            "debug" => "debug",
            _ if is_tools => "tool",
            _ => "system",
        };
        let mut words = Words::default();
        event.record(&mut words);
        let text = super::clean(&format!("{}{}", words.message, words.rest)).into_owned();
        let mut waiting = waiting();
        if waiting.records.len() == MOST {
            waiting.records.pop_front();
            waiting.lost += 1;
        }
        waiting.records.push_back(Record { level, scope, text });
        drop(waiting);
        WAKE.notify_one();
    }
}

#[derive(Default)]
struct Words {
    message: String,
    rest: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // A String takes everything.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.rest, " {}={value:?}", field.name())
        };
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn records_have_a_level_and_a_scope() {
        let subscriber = tracing_subscriber::registry().with(Journal);
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(target: "agentglot::agent::mcp", server = "loom", "it is gone");
            tracing::debug!("thread {}", 7);
        });
        let records = take();
        let [one, two] = &records[..] else { panic!("{records:?}") };
        assert_eq!((one.level, one.scope, one.text.as_str()), ("warn", "tool", "it is gone server=\"loom\""));
        assert_eq!((two.level, two.scope, two.text.as_str()), ("debug", "debug", "thread 7"));
    }
}
