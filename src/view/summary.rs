//! What a list says of a log.

use std::io::{self, Read};
use std::path::PathBuf;

use agentglot_adapters::events::OutcomeKind;
use agentglot_adapters::raw::store::begins_as_subagent;
use serde::{Deserialize, Serialize};

use crate::io::{Console, Input, Joined, Source, of_log};
use crate::show::{By, Page, Pick, Row, What, show, shown};
use crate::stats::noted_beside;
use crate::status::Failure;

/// What a list says of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Summary {
    /// The dialect.
    pub(super) agent: String,
    /// The id of its first session.
    pub(super) session: Option<String>,
    /// The beginning of the first prompt, else of the first answer.
    pub(super) title: String,
    /// The folder that was worked in.
    pub(super) project: Option<String>,
    pub(super) model: Option<String>,
    /// When the first turn began: milliseconds since 1970.
    pub(super) started: Option<i64>,
    pub(super) turns: u64,
    pub(super) calls: u64,
    /// Calls that failed, were refused or stopped.
    pub(super) failed: u64,
    /// The last turn did not end well.
    pub(super) bad: bool,
    /// Lines that cannot be read.
    pub(super) damaged: u64,
    /// It is the file of a subagent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_subagent: bool,
    /// The files of its subagents, which it is read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) beside: Vec<PathBuf>,
}

/// A title is no longer.
const LONGEST: usize = 160;

/// Reads a log; everything that was said goes to `said`, too.
///
/// # Errors
/// When it cannot be read, or is none.
pub(super) fn read(input: &Input, stop: &(dyn Fn() -> bool + Sync), said: &mut dyn FnMut(&str)) -> Result<Option<Summary>, Failure> {
    let name = input.name();
    let mut source = Source::open(input, &Console::plain())?;
    let from = source.written_in(input, None)?;
    let Some(found) = source.detect().ok().flatten() else {
        // What only the other side tells has the dialect of that.
        return match from {
            agentglot_adapters::Source::Is(format) => walk(input, source, from, &name, format.dialect.name(), stop, said).map(Some),
            _ => Ok(None),
        };
    };
    walk(input, source, from, &name, found.format.dialect.name(), stop, said).map(Some)
}

fn walk(
    input: &Input,
    source: Source,
    from: agentglot_adapters::Source,
    name: &str,
    agent: &str,
    stop: &(dyn Fn() -> bool + Sync),
    said: &mut dyn FnMut(&str),
) -> Result<Summary, Failure> {
    let subagents = of_log(input, from, source.head());
    let mut teller = Teller {
        summary: Summary {
            agent: agent.to_owned(),
            is_subagent: begins_as_subagent(source.head()),
            beside: subagents
                .iter()
                .filter_map(|subagent| Some(subagent.input.path()?.into_owned()))
                .collect(),
            ..Summary::default()
        },
        answer: None,
        said,
    };
    let log = Stopping {
        inner: source.into_reader(),
        stop,
    };
    let told = show(Joined::with(log, from, name, subagents), &Pick::default(), &mut teller).map_err(|error| Failure::Read {
        name: name.to_owned(),
        error,
    })?;
    let mut summary = teller.summary;
    summary.damaged = told.damaged;
    summary.project = summary.project.or_else(|| noted_beside(&input.path()?));
    if summary.title.is_empty() {
        summary.title = teller.answer.unwrap_or_default();
    }
    match told.stopped {
        Some(error) if summary.turns == 0 || stop() => Err(Failure::of_log(name, error)),
        // It is shown as far as it goes.
        Some(_) => {
            summary.damaged += 1;
            Ok(summary)
        }
        None => Ok(summary),
    }
}

struct Teller<'s> {
    summary: Summary,
    answer: Option<String>,
    said: &'s mut dyn FnMut(&str),
}

impl Page for Teller<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        let summary = &mut self.summary;
        match &row.what {
            What::Session(head) => {
                if summary.session.is_none() {
                    summary.session = head.id.map(cut);
                }
                if let Some(facts) = head.facts {
                    let text = |text: &Option<String>| text.as_deref().map(cut);
                    summary.project = summary.project.take().or_else(|| text(&facts.cwd));
                    summary.model = summary.model.take().or_else(|| text(&facts.model));
                }
            }
            What::Turn { started } => {
                summary.turns += 1;
                summary.started = summary.started.or_else(|| started.and_then(agentglot_adapters::events::Time::millis));
            }
            What::Prompt { text, by, .. } => {
                if summary.title.is_empty() && *by == By::User {
                    summary.title = cut(text);
                }
                (self.said)(text);
            }
            What::Answer { text, .. } => {
                if self.answer.is_none() {
                    self.answer = Some(cut(text));
                }
                (self.said)(text);
            }
            What::Thinking { text, .. } => (self.said)(text),
            What::Call { call, deed, state, .. } => {
                summary.calls += 1;
                summary.failed += u64::from(!state.is_fine());
                (self.said)(&call.name);
                (self.said)(&deed.verb);
                (self.said)(&deed.object);
                (self.said)(call.input.as_str());
                (self.said)(deed.diff.as_deref().unwrap_or_default());
                (self.said)(&deed.output);
            }
            What::Permission { name, message, .. } => {
                (self.said)(name);
                (self.said)(message.unwrap_or_default());
            }
            What::Notice { name, text, .. } | What::Raw { name, text, .. } => {
                (self.said)(name);
                (self.said)(text);
            }
            What::Damage { .. } => {}
            What::Outcome(ended) => {
                summary.bad = ended
                    .outcome
                    .is_some_and(|outcome| outcome.kind != OutcomeKind::Success && !outcome.synthetic);
                (self.said)(ended.outcome.and_then(|outcome| outcome.error.as_deref()).unwrap_or_default());
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The beginning of a text as one line, with nothing hidden in it.
fn cut(text: &str) -> String {
    // What is cut off need not be looked at.
    let head: String = text.trim_start().chars().take(LONGEST * 4).collect();
    let line = shown(&head).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Ends when nobody wants to know any more.
struct Stopping<'s, R> {
    inner: R,
    stop: &'s (dyn Fn() -> bool + Sync),
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_short_and_hide_nothing() {
        assert_eq!(cut("  a\n\n b\u{202e}\u{1b}[31mc "), "a b\\u{202e}c");
        assert_eq!(cut(&"é".repeat(1000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_log_is_told_in_a_few_words() {
        let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/cursor/read_edit.jsonl");
        let mut words = String::new();
        let summary = read(&Input::File(log), &|| false, &mut |text| words.push_str(text)).unwrap().unwrap();
        assert_eq!((summary.agent.as_str(), summary.turns, summary.damaged), ("cursor", 1, 0));
        assert!(summary.calls > 1 && !summary.title.is_empty() && words.contains("greet"), "{summary:?}");
    }
}
