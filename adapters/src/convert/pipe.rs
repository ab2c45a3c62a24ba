//! What a decoder talks to.

use super::sessions::{Sessions, Step};
use super::setup::{assembler, style};
use super::stored::Stored;
use super::{Anew, Options};
use crate::answer::NOT_THE_LAST;
use crate::assemble::{Assembler, Down};
use crate::codec::{Encode, Encoder, Format};
use crate::detect::Evidence;
use crate::event::{Event, Fate, Finding, Input, InputKind, Kind, Origin, Others, Piece, Session, Sink, Spelling, Time, Topic};
use crate::follow;
use crate::json::{Out, Raw, Str};
use crate::ledger::Ledger;
use crate::trace::Given;

/// What a decoder talks to: the assembler, and a new encoder for each session.
pub(super) struct Pipe<'d, 'a> {
    pub(super) options: &'d Options,
    pub(super) identity: bool,
    pub(super) collects: bool,
    pub(super) assembler: &'d mut Assembler,
    pub(super) source: &'d mut Format,
    pub(super) fresh: &'d mut bool,
    pub(super) sessions: &'d mut Sessions,
    pub(super) stored: &'d mut Stored,
    pub(super) down: Down<'d, 'a>,
    pub(super) ledger: Option<&'d mut Ledger>,
    pub(super) line: u64,
    /// What is read: the line, and perhaps more behind it.
    pub(super) text: &'d str,
    /// The line is read by heart: what is not as usual is left to the general way.
    pub(super) by_heart: bool,
    /// A line of another session may wait until the turn is over.
    pub(super) takes_aside: bool,
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
    /// Another session begins with this line: nothing that names it was taken, for a decoder that knows nothing of the session before
    /// has to read it.
    pub(super) another: Option<String>,
    /// The session is over: nothing of another one is taken.
    pub(super) over: bool,
    /// It gives the session another id.
    pub(super) renames: bool,
    /// The line begins a session in another dialect.
    pub(super) foreign: Option<Evidence>,
    /// It is known that it begins none.
    pub(super) own: bool,
    /// What there is to say of the session that has ended, as long as it stands in the one value that is written.
    pub(super) given: Given,
    /// It says how a turn ended.
    pub(super) ends: bool,
    /// It waits until the turn is over that is going on, and nothing of it was told.
    pub(super) waits: Option<Others>,
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
            another: None,
            over: false,
            renames: false,
            foreign: None,
            own: false,
            given: Given::default(),
            ends: false,
            waits: None,
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
    pub(super) fn is_silent(&mut self) -> bool {
        let promised = self.down.out.take_promise();
        !promised && self.told.events > 0 && self.down.out.len() == self.told.before
    }

    /// Nothing has come yet of the line that begins.
    #[inline]
    pub(super) fn next_line(&mut self) {
        self.line += 1;
        self.told.events = 0;
        self.told.aside = false;
        self.told.renames = false;
        self.told.own = false;
        self.told.before = self.down.out.len();
    }

    /// Ends the session: everything that is held goes out, and nothing is left of it.
    pub(super) fn end_session(&mut self) {
        let before = self.down.out.len();
        self.assembler.finish(&mut self.down);
        if !self.identity {
            self.down.encoder.finish(self.down.out);
        }
        let promised = self.down.out.take_promise();
        self.sessions.wrote(promised || self.down.out.len() > before);
        if let (Some(trace), Some(ledger)) = (self.down.cx.trace, self.ledger.as_deref_mut()) {
            self.sessions.over(self.options.to.mode.layout, trace);
            let mut given = self.down.encoder.given();
            // In a copy is everything, and nothing that a decoder made up.
            let tells = |finding: &Finding| !self.identity || matches!(finding.fate, Fate::Repaired | Fate::Damaged);
            ledger.add(self.line, trace.take_findings().into_iter().filter(tells));
            ledger.add_late(trace.take_late());
            self.told.given = trace.end_given(&mut given, NOT_THE_LAST);
            ledger.add_late(trace.end_held());
        }
    }

    fn begin_session(&mut self, at: u64, prompts_used: usize) {
        if !self.collects {
            *self.down.encoder = Encoder::new(self.options.to.dialect, style(self.options, *self.source, at));
        }
        let fresh = assembler(self.options, *self.source, self.down.encoder, prompts_used);
        self.assembler.begin_anew(fresh);
    }

    /// Begins the session `id`; the one before has ended.
    pub(super) fn next_session(&mut self, id: &str, at: u64, in_turn: bool) {
        if let Some(ledger) = self.ledger.as_deref_mut() {
            ledger.close();
        }
        let used = self.assembler.prompts_used();
        self.begin_session(at, used);
        self.sessions.begin(id, in_turn);
    }

    /// The first event of a line that may as well begin a session in another dialect. Returns whether that is to be read as such.
    #[cold]
    fn is_foreign(&mut self, event: &Event<'_>) -> bool {
        // What names another session is read by itself, and looked at there.
        if self.by_heart && !self.sessions.is_unnamed() && event.origin.session.is_some_and(|id| !self.sessions.is_current(id.as_escaped())) {
            self.told.another = Some(String::new());
            return true;
        }
        if self.told.events == 0 && self.told.foreign.is_none() && !self.told.own {
            let in_turn = self.assembler.is_in_turn();
            self.told.foreign = follow::begins_another(self.options.from.dialect, self.text, in_turn);
            self.told.own = !in_turn && self.told.foreign.is_none();
        }
        self.told.foreign.is_some() && (self.options.follow || self.by_heart)
    }

    /// An event names another session than the line before. Returns whether it is another one.
    #[cold]
    fn is_another(&mut self, event: &Event<'_>, id: &str) -> bool {
        // A connection that serves several sessions names each; none goes on under another id.
        let is_other = self.options.from.mode.serves_many && !self.sessions.is_unnamed();
        let another = self.told.over || self.sessions.step(id, &event.kind, self.assembler.is_in_turn()) == Step::Another || is_other;
        if another {
            self.told.another = Some(id.to_owned());
        }
        another
    }

    fn object(&mut self, fields: crate::event::Fields<'_>, what: impl FnOnce() -> Option<String>) {
        if self.told.objection.is_none() {
            self.told.objection = what().or_else(|| fields.iter().find(|f| !f.known).map(|f| format!("unknown field {:?}", f.key.unescape())));
        }
    }
}

impl<'a> Pipe<'_, 'a> {
    /// Takes an event for a session that is written anew. The target is told first where that belongs.
    #[cold]
    fn anew(&mut self, anew: &Anew, event: &Event<'a>, first: bool) {
        let cx = self.down.cx;
        let origin = anew.origin(event.origin, self.sessions.latest, &cx);
        self.sessions.latest = origin.time.and_then(Time::millis);
        let kind = match event.kind {
            Kind::Session(facts) => Kind::Session(cx.keep(anew.facts(*facts, &cx))),
            kind => {
                if first {
                    let facts = cx.keep(anew.facts(Session::default(), &cx));
                    let at = Origin {
                        session: origin.session,
                        time: origin.time,
                        ..Origin::default()
                    };
                    self.assembler.event(&Event::new(at, Kind::Session(facts)), &mut self.down);
                }
                kind
            }
        };
        self.assembler.event(&Event { origin, kind, ..*event }, &mut self.down);
    }
}

impl<'a> Sink<'a> for Pipe<'_, 'a> {
    /// Of events that were stored the dialect that they come from decides what is whose; a session that has begun stays as it
    /// is.
    fn source(&mut self, format: Format, at: Option<u64>) {
        *self.source = format;
        if *self.fresh {
            self.begin_session(at.unwrap_or(self.options.at), self.assembler.prompts_used());
        }
        // Before the first session there is none that it could be another than.
        self.sessions.header(at.filter(|_| !*self.fresh));
    }

    fn spelled(&mut self, spelling: &Spelling<'a>) {
        if let Stored::Giving(giving) = self.stored {
            giving.spelled(spelling, self.options.to);
        }
    }

    #[inline]
    fn own(&mut self) {
        self.told.own = true;
    }

    #[inline]
    fn sets_aside(&mut self, others: &mut dyn FnMut() -> Option<Others>) -> bool {
        self.told.waits = if self.takes_aside { others() } else { None };
        self.told.waits.is_some()
    }

    fn program(&mut self, session: Option<Str<'a>>, process: Option<Raw<'a>>) {
        let in_turn = self.assembler.is_in_turn();
        if self.told.another.is_none() && (self.told.over || self.sessions.is_another_program(session, process, in_turn)) {
            self.told.another = Some(String::new());
        }
    }

    #[inline]
    fn event(&mut self, event: &Event<'a>) {
        if self.told.another.is_some() {
            return;
        }
        if follow::may_begin_another(event, self.options.from, self.assembler.is_in_turn()) && self.is_foreign(event) {
            return;
        }
        if let Some(id) = event.origin.session {
            let is_current = self.sessions.is_current(id.as_escaped());
            self.told.renames |= !is_current && !self.sessions.is_unnamed();
            if !is_current && !id.is_empty() && self.is_another(event, id.as_escaped()) {
                return;
            }
            if is_current && self.sessions.begins_again() {
                self.told.another = Some(id.as_escaped().to_owned());
                return;
            }
            // The session's id is in the output, wherever the target says it; for it alone no line counts as carried.
            match self.down.cx.trace {
                Some(trace) if self.told.renames => self.sessions.renamed(trace),
                Some(trace) => {
                    trace.took(id.as_escaped());
                    if !self.identity {
                        self.sessions.names(id.as_escaped(), trace);
                    }
                }
                None => {}
            }
            self.sessions.read(&event.kind);
        } else if self.sessions.begins_unnamed(self.assembler.is_in_turn()) {
            self.told.another = Some(String::new());
            return;
        } else if matches!(event.kind, Kind::Fatal(_)) {
            self.sessions.read(&event.kind);
        }
        self.told.events += 1;
        self.told.aside |= !event.kind.is_conversation();
        self.told.ends |= matches!(event.kind, Kind::Outcome(outcome) if !outcome.synthetic);
        let first = std::mem::replace(self.fresh, false);
        if self.options.strict {
            self.object(event.fields, || {
                matches!(event.kind, Kind::Unknown(_)).then(|| "unknown type of line".to_owned())
            });
        }
        match &self.options.anew {
            None => self.assembler.event(event, &mut self.down),
            Some(anew) => self.anew(anew, event, first),
        }
        if let (Some(trace), true, Some(id)) = (self.down.cx.trace, self.told.renames, event.origin.session) {
            let written = self.down.out.since(self.told.before);
            if memchr::memmem::find(written, id.as_escaped().as_bytes()).is_some() {
                trace.used(id.as_escaped());
            }
        }
    }

    #[inline]
    fn more(&mut self, piece: Piece<'a>) -> bool {
        let general = self.options.strict || self.sessions.is_headed();
        let taken = !general && self.told.another.is_none() && self.assembler.more(piece, &mut self.down);
        self.told.events += u32::from(taken);
        taken
    }

    #[inline]
    fn passes_over(&mut self, topic: Topic, session: Option<Str<'a>>) -> bool {
        let general = self.options.strict || self.identity || self.down.cx.trace.is_some() || self.sessions.is_headed();
        let unheard = !general && self.assembler.is_in(session) && self.down.encoder.passes_over(topic, session);
        if unheard {
            self.told.events += 1;
            self.told.aside = true;
            *self.fresh = false;
            if session.is_some() {
                self.sessions.notice(topic);
            }
        }
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
        if self.told.another.is_some() {
            return;
        }
        let session = input.origin.session.filter(|_| matches!(input.kind, InputKind::Prompt(_)));
        let is_other = session.map(|id| !self.sessions.is_current(id.as_escaped()));
        let another = match self.sessions.is_headed() {
            true => is_other.unwrap_or(!self.assembler.is_in_turn()),
            false => is_other == Some(true) && self.options.from.mode.serves_many,
        };
        if self.sessions.begins_again() || another && !self.sessions.is_unnamed() {
            self.told.another = Some(session.unwrap_or_default().as_escaped().to_owned());
            return;
        }
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
