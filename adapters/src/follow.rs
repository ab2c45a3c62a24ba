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
    let arena = Bump::new();
    let cx = Cx::new(&arena);
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

    fn source(&mut self, _format: Format, _at: Option<u64>) {
        self.0 = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a decoder says of a line that it is its dialect's alone.
    #[derive(Default)]
    struct Own(bool);

    impl<'a> Sink<'a> for Own {
        fn event(&mut self, _event: &Event<'a>) {}

        fn input(&mut self, _input: &Input<'a>) {}

        fn own(&mut self) {
            self.0 = true;
        }
    }

    /// The lines of all recordings, each with the dialect whose folder it lies in. Of lines that are spelled alike but for digits one.
    fn lines() -> Vec<(Dialect, String)> {
        let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
        let mut seen = std::collections::BTreeSet::new();
        let mut lines = Vec::new();
        for dialect in Dialect::readable() {
            for entry in std::fs::read_dir(golden.join(dialect.name())).into_iter().flatten() {
                let text = std::fs::read_to_string(entry.expect("a folder can be listed").path()).unwrap_or_default();
                let short = text.lines().filter(|line| line.starts_with('{') && line.len() < 4096);
                lines.extend(
                    short
                        .filter(|line| seen.insert(line.replace(|c: char| c.is_ascii_digit(), "")))
                        .map(|line| (dialect, line.to_owned())),
                );
            }
        }
        lines
    }

    #[test]
    fn a_line_that_is_a_dialects_alone_begins_nothing_in_another() {
        let lines = lines();
        let one_of_each: Vec<&str> = Dialect::readable()
            .flat_map(|dialect| lines.iter().filter(move |(of, _)| *of == dialect).step_by(7).take(8))
            .map(|(_, line)| line.as_str())
            .collect();
        let (mut own, mut others) = (0, 0);
        for dialect in Dialect::readable() {
            let formats = dialect.modes().iter().map(|&mode| Format { dialect, mode });
            for format in formats.filter(|format| format.is_readable()) {
                for (n, (_, line)) in lines.iter().filter(|(of, _)| *of == dialect).enumerate() {
                    // The members of another line before its own, or behind them.
                    let joined = one_of_each.iter().flat_map(|other| [(*other, line.as_str()), (line.as_str(), *other)]);
                    let joined = joined.map(|(first, then)| format!("{},{}", first.trim_end().trim_end_matches('}'), &then[1..]));
                    for text in std::iter::once(line.clone()).chain(joined.filter(|_| n % 8 == 0)) {
                        let mut says = Own::default();
                        let arena = Bump::new();
                        let cx = Cx::new(&arena);
                        let _ = Decoder::new(format).line(&text, &cx, &mut says);
                        if !says.0 {
                            others += 1;
                            continue;
                        }
                        own += 1;
                        for in_turn in [false, true] {
                            assert_eq!(begins_another(dialect, &text, in_turn), None, "{format}: {text}");
                        }
                    }
                }
            }
        }
        assert!(own > 100 && others > 100, "{own} {others}");
    }
}
