//! Events to messages: who writes what.

use bumpalo::Bump;

use super::write::Turn;
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{Counted, Event, Fields, Input, Kind, Topic, Usage};
use crate::json::{Out, Raw, Str};
use crate::unique::Unique;
use crate::unsaid::Unsaid;
use crate::waiting::Waiting;

/// Writes what the program says. Lines that were read here go back as they were, the host's too.
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    own: bool,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) thread: String,
    /// The session's facts, and where the source says them until they are said here.
    pub(super) cwd: Option<String>,
    /// A command says the folder.
    pub(super) says_cwd: bool,
    pub(super) model: Option<String>,
    pub(super) facts: Unsaid,
    /// The thread has been announced.
    pub(super) started: bool,
    pub(super) turns: u64,
    pub(super) turn: Turn,
    /// No two calls of a thread have the same id.
    unique: Unique,
    /// Calls of the turn before that have no results: the host may have run them.
    pub(super) late: Waiting<(String, String)>,
    /// The usage of all turns so far.
    pub(super) total: Option<Usage<'static>>,
    pub(super) asked: u64,
    /// Items that have no id in the source.
    pub(super) items: u64,
    /// What time it is in a session that lives.
    pub(super) now: Option<i64>,
}

impl Encoder {
    /// At the beginning of a session.
    pub(crate) fn new(style: Style) -> Self {
        Self {
            own: style.is_own(Dialect::Codex),
            style,
            thread: String::new(),
            cwd: None,
            says_cwd: false,
            model: None,
            facts: Unsaid::default(),
            // Threads of ours are announced when they are opened.
            started: style.agent,
            turns: style.at,
            turn: Turn::default(),
            unique: Unique::default(),
            late: Waiting::default(),
            total: None,
            asked: 0,
            items: style.at,
            now: None,
        }
    }
}

impl Encode for Encoder {
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn want(&self) -> Want {
        Want::BOTH.without_inputs().with_whole_rounds()
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn said_folder(&mut self) -> Option<bool> {
        Some(std::mem::take(&mut self.says_cwd))
    }

    fn passes_over(&self, topic: Topic, _: Option<Str<'_>>) -> bool {
        !self.own && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        let other = event.origin.session.filter(|id| !id.is_empty() && id.as_escaped() != self.thread);
        // A turn ends in the thread in which it began, whatever its session is called by then. The next one tells of the other thread.
        if let Some(id) = other.filter(|_| self.own || self.style.agent || !self.turn.open) {
            self.started &= self.own || self.style.agent;
            id.as_escaped().clone_into(&mut self.thread);
        }
        match (line(event.fields), event.kind) {
            (Some(line), _) if self.own => write(line, out),
            (_, Kind::Noise(text)) if self.own => out.copied_line(text),
            (_, Kind::Unknown(line)) if self.own => write(line, out),
            // What one line says in several events is written with one of them. What was added to the log is of no line.
            _ if self.own && !is_added(event) => {}
            // What a host that is there says of a call names it as the agent does.
            _ if self.style.agent => self.foreign(event, out),
            _ => {
                let arena = Bump::new();
                let renamed = self.unique.event(event, "/params/item/id", &arena, out);
                self.foreign(renamed.as_ref().unwrap_or(event), out);
            }
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let Some(line) = line(input.fields).filter(|_| self.own) {
            write(line, out);
        }
    }

    fn now(&mut self, millis: i64) {
        self.now = Some(millis);
    }

    fn finish(&mut self, out: &mut Out) {
        self.facts.drop(out);
    }
}

/// The line that an event is of.
fn line<'a>(fields: Fields<'a>) -> Option<Raw<'a>> {
    fields.iter().find(|field| field.key.is(super::LINE)).map(|field| field.value)
}

fn write(line: Raw<'_>, out: &mut Out) {
    out.unchecked(line);
    out.lit("\n");
}

/// Whether a repair has added it.
fn is_added(event: &Event<'_>) -> bool {
    match event.kind {
        Kind::Outcome(outcome) => outcome.synthetic,
        Kind::ToolResult(result) => result.status == crate::event::ResultStatus::Canceled,
        _ => false,
    }
}
