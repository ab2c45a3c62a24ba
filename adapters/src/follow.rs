//! Sessions of different dialects in one log: whether a line begins one that the log's dialect does not read.

use bumpalo::Bump;

use crate::codec::{Cx, Decode, Decoder, Dialect, Format, Layout};
use crate::detect::{self, Evidence, PROOF};
use crate::event::{Event, Input, Kind, Sink, Topic};

/// Whether a turn has ended with it, or has begun or goes on; `None` if it says nothing of turns.
pub(crate) const fn ends_turn(kind: &Kind<'_>) -> Option<bool> {
    match kind {
        Kind::Outcome(_) => Some(true),
        Kind::Delta(_) | Kind::BlockStart(_) | Kind::RoundStart(_) | Kind::Reply(_) | Kind::ToolResult(_) | Kind::Prompt(_) => Some(false),
        Kind::Session(session) if session.opens_turn => Some(false),
        // What follows is the same session, whatever its id.
        Kind::Notice(notice) if matches!(notice.topic, Topic::Reset) => Some(false),
        _ => None,
    }
}

/// Whether a line of a log of this format, of which this is said first, may as well begin a session in another dialect.
#[inline]
pub(crate) fn may_begin_another(event: &Event<'_>, format: Format, in_turn: bool) -> bool {
    match &event.kind {
        // The payloads of a model's stream look like lines of other dialects.
        _ if format.mode.layout == Layout::Sse => false,
        Kind::Session(session) => {
            let is_own = session.version.is_some() && event.origin.session.is_some();
            !is_own || format.is_store() || !format.dialect.vendor().logs.version_tells
        }
        Kind::Unknown(_) => true,
        Kind::Notice(notice) => notice.topic == Topic::Other || !in_turn,
        Kind::Response(_) | Kind::Request(_) => !in_turn,
        _ => false,
    }
}

/// Why such a line is damage where the log was said to be in `dialect`.
pub(crate) fn why(found: Evidence, read: Format) -> String {
    format!("a session in {} begins here ({}), and the log is read as {read}", found.format, found.why)
}

/// What a line begins in another dialect than `dialect`, whose decoder knows no such line, or takes it for the beginning of a session;
/// `in_turn`: the session before is in the middle of a turn.
#[cold]
pub(crate) fn begins_another(dialect: Dialect, text: &str, in_turn: bool) -> Option<Evidence> {
    if !text.starts_with('{') {
        return None;
    }
    let found = detect::proof_of_another(dialect, text)?;
    let other = found.format.dialect;
    // The stream of a model's API is one reply, and no session.
    if (other.is_api() && !found.format.is_writable()) || !found.format.is_readable() {
        return None;
    }
    if !in_turn {
        return Some(found);
    }
    if found.weight < PROOF {
        return None;
    }
    let mut first = First::default();
    let cx = Cx {
        arena: &Bump::new(),
        trace: None,
    };
    Decoder::new(found.format).line(text, &cx, &mut first).ok()?;
    first.0.then_some(found)
}

/// Whether a session begins with a line.
#[derive(Default)]
struct First(bool);

impl<'a> Sink<'a> for First {
    fn event(&mut self, event: &Event<'a>) {
        self.0 |= matches!(event.kind, Kind::Session(_));
    }

    fn input(&mut self, _input: &Input<'a>) {}

    fn source(&mut self, _format: Format) {
        self.0 = true;
    }
}
