//! What a decoder talks to.

use super::Options;
use super::core::{assembler, style};
use crate::assemble::{Assembler, Down};
use crate::codec::{Dialect, Encode, Encoder};
use crate::event::{Event, Fate, Finding, Input, InputKind, Kind, Piece, Sink, Topic};
use crate::json::{Out, Str, alike};
use crate::ledger::Ledger;

/// What a decoder talks to: the assembler, and a new encoder for each session.
pub(super) struct Pipe<'d, 'a> {
    pub(super) options: &'d Options,
    pub(super) identity: bool,
    pub(super) collects: bool,
    pub(super) assembler: &'d mut Assembler,
    pub(super) source: &'d mut Dialect,
    pub(super) fresh: &'d mut bool,
    pub(super) session: &'d mut String,
    pub(super) down: Down<'d, 'a>,
    pub(super) ledger: Option<&'d mut Ledger>,
    pub(super) line: u64,
    pub(super) told: Told,
}

/// What came of a line.
pub(super) struct Told {
    /// The first thing that `strict` objects to.
    pub(super) objection: Option<String>,
    pub(super) events: u32,
    /// It says something beside the conversation, whose own parts other lines say too.
    pub(super) aside: bool,
    /// How much output there was before this line's own.
    pub(super) before: usize,
    /// The session that was read before has ended with this line.
    pub(super) changed: bool,
}

/// Listens to nothing.
pub(super) struct Nobody;

impl<'a> Sink<'a> for Nobody {
    fn event(&mut self, _event: &Event<'a>) {}
    fn input(&mut self, _input: &Input<'a>) {}
}

impl Told {
    /// Nothing has come of it yet.
    #[inline]
    pub(super) fn new(out: &Out) -> Self {
        Self {
            objection: None,
            events: 0,
            aside: false,
            before: out.len(),
            changed: false,
        }
    }
}

impl Pipe<'_, '_> {
    /// What came of the line.
    pub(super) fn told(self) -> Told {
        self.told
    }

    /// Whether the line said something of which nothing came.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.told.events > 0 && self.down.out.len() == self.told.before
    }

    /// Nothing has come yet of the line that begins.
    #[inline]
    pub(super) fn next_line(&mut self) {
        self.line += 1;
        self.told.events = 0;
        self.told.aside = false;
        self.told.before = self.down.out.len();
    }

    /// Ends the session: everything that is held goes out, and nothing is left of it.
    pub(super) fn end_session(&mut self) {
        self.assembler.finish(&mut self.down);
        if !self.identity {
            self.down.encoder.finish(self.down.out);
        }
        if let (Some(trace), Some(ledger)) = (self.down.cx.trace, self.ledger.as_deref_mut()) {
            // What a decoder made up is in no output that is a copy.
            let made_up = |finding: &Finding| self.identity && matches!(finding.fate, Fate::Invented | Fate::Merged);
            ledger.add(self.line, trace.take_findings().into_iter().filter(|finding| !made_up(finding)));
            ledger.add_late(trace.take_late());
            trace.end_held();
        }
    }

    fn begin_session(&mut self, prompts_used: usize) {
        if !self.collects {
            *self.down.encoder = Encoder::new(self.options.to.dialect, style(self.options, *self.source));
        }
        let fresh = assembler(self.options, *self.source, self.down.encoder, prompts_used);
        self.assembler.begin_anew(fresh);
    }

    #[cold]
    fn next_session(&mut self, id: &str) {
        if !self.session.is_empty() {
            // What is still to say belongs to the line before this one, which was the session's last.
            let line = self.line;
            self.line = (line - 1).max(1);
            self.end_session();
            self.line = line;
            if let Some(ledger) = self.ledger.as_deref_mut() {
                ledger.close();
            }
            if let Some(trace) = self.down.cx.trace {
                trace.nothing_carried();
            }
            self.told.before = self.down.out.len();
            self.told.changed = true;
            let used = self.assembler.prompts_used();
            self.begin_session(used);
        }
        id.clone_into(self.session);
    }

    fn object(&mut self, fields: crate::event::Fields<'_>, what: impl FnOnce() -> Option<String>) {
        if self.told.objection.is_none() {
            self.told.objection = what().or_else(|| fields.iter().find(|f| !f.known).map(|f| format!("unknown field {:?}", f.key.unescape())));
        }
    }
}

impl<'a> Sink<'a> for Pipe<'_, 'a> {
    /// Of events that were stored the dialect that they come from decides what is whose; a session that has begun stays as it
    /// is.
    fn source(&mut self, dialect: Dialect) {
        *self.source = dialect;
        if *self.fresh {
            self.begin_session(self.assembler.prompts_used());
        }
    }

    #[inline]
    fn event(&mut self, event: &Event<'a>) {
        self.told.events += 1;
        self.told.aside |= !event.kind.is_conversation();
        *self.fresh = false;
        if let Some(id) = event.origin.session {
            if !alike(id.as_escaped(), self.session) && !id.is_empty() {
                self.next_session(id.as_escaped());
            }
            // The session's id is in the output, wherever the target says it; for it alone no line counts as carried.
            self.down.cx.took(id.as_escaped());
        }
        if self.options.strict {
            self.object(event.fields, || {
                matches!(event.kind, Kind::Unknown(_)).then(|| "unknown type of line".to_owned())
            });
        }
        self.assembler.event(event, &mut self.down);
    }

    #[inline]
    fn more(&mut self, piece: Piece<'a>) -> bool {
        let taken = !self.options.strict && self.assembler.more(piece, &mut self.down);
        self.told.events += u32::from(taken);
        taken
    }

    #[inline]
    fn passes_over(&mut self, topic: Topic, session: Option<Str<'a>>) -> bool {
        let general = self.options.strict || self.identity || self.down.cx.trace.is_some();
        let unheard = !general && self.assembler.is_in(session) && self.down.encoder.passes_over(topic, session);
        self.told.events += u32::from(unheard);
        self.told.aside |= unheard;
        unheard
    }

    #[inline]
    fn takes_fields(&self) -> bool {
        self.options.strict || self.down.cx.trace.is_some() || self.down.encoder.takes_fields()
    }

    #[inline]
    fn takes_usage(&self) -> bool {
        self.down.cx.trace.is_some() || self.down.encoder.takes_usage()
    }

    fn input(&mut self, input: &Input<'a>) {
        self.told.events += 1;
        self.told.aside = true;
        *self.fresh = false;
        if self.options.strict {
            self.object(input.fields, || {
                matches!(input.kind, InputKind::Unknown(_)).then(|| "unknown type of line".to_owned())
            });
        }
        self.assembler.input(input, &mut self.down);
    }
}
