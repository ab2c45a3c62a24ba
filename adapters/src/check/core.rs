//! Takes what the decoder tells, and asks the rules.

use bumpalo::Bump;

use super::blocks::Round;
use super::calls::Told;
use super::report::{Line, Report};
use super::state::State;
use super::turns::{About, is_part};
use super::{Misfit, Rule, Schemas, Settings, usage};
use crate::codec::{Cx, Decode, Decoder, Format, Layout};
use crate::convert::sessions::{Sessions, Step};
use crate::detect::Evidence;
use crate::event::{
    At, Block, BlockHead, Event, Field, Fields, Input, InputKind, Kind, Outcome, OutcomeKind, Piece, Place, PromptSource, Sink, StopKind, ToolKind,
    Topic,
};
use crate::follow;
use crate::json::{Cursor, Error, Raw, Str};
use crate::reader::{Consumer, Damaged, Source, Taken};
use crate::vendor::{Ends, Pieces, Vendor};

/// Everything behind the reader.
#[derive(Debug)]
pub(super) struct Core {
    format: Format,
    follow: bool,
    /// It is the file of a subagent.
    of_subagent: bool,
    /// Whose events they are: of those that were stored, the vendor that said them first.
    vendor: &'static Vendor,
    schemas: Option<Box<dyn Schemas>>,
    sessions: Sessions,
    state: State,
    /// Sessions that another one broke into in the middle of a turn.
    interrupted: Vec<(String, State)>,
    /// That their lines stand by turns has been said.
    is_mixed: bool,
    pub(super) report: Report,
    /// The id of the session before, within this turn.
    before: String,
}

/// More sessions than this are not mixed in one file.
const MOST_INTERRUPTED: usize = 64;

/// What a decoder talks to.
struct Heard<'c, 'a> {
    core: &'c mut Core,
    line: &'c mut Line<'a>,
    text: &'a str,
    events: u32,
    /// Another session begins with this line, which has to be read once more.
    another: Option<String>,
    foreign: Option<Evidence>,
    /// The session is over: nothing of another one is taken.
    over: bool,
    /// It is a piece of a text and nothing else: where it is spelled like a line before, all of it has been read.
    is_plain: bool,
    /// The line is read as one that is spelled like it: what begins something else is left to the general way.
    again: bool,
}

impl Core {
    pub(super) fn new(format: Format, settings: Settings) -> Self {
        Self {
            format,
            follow: settings.follow,
            of_subagent: settings.of_subagent,
            vendor: format.dialect.vendor(),
            schemas: settings.schemas,
            sessions: Sessions::default(),
            state: State::default(),
            interrupted: Vec::new(),
            is_mixed: false,
            report: Report::default(),
            before: String::new(),
        }
    }

    /// Has the decoder read a line. What begins with it, if it was not for the session that is read, and whether it could be read.
    fn read<'a>(&mut self, text: &'a str, line: &mut Line<'a>, decoder: &mut Decoder, arena: &'a Bump) -> (Heading, Result<usize, Error>) {
        let mut heard = Heard::new(self, line, text);
        let used = decoder.line(text, &Cx::new(arena), &mut heard);
        let Heard { another, foreign, .. } = heard;
        let foreign = match used {
            Err(_) => follow::begins_another(self.format.dialect, text, self.state.in_turn),
            Ok(_) => foreign,
        };
        (Heading { another, foreign }, used)
    }

    /// Ends the session as if the log were over.
    fn end_session(&mut self, line: u64, decoder: &mut Decoder, arena: &Bump) {
        self.report.summary.lines = line;
        let mut line = Line::none(line);
        let mut heard = Heard {
            over: true,
            ..Heard::new(self, &mut line, "")
        };
        decoder.finish(&Cx::new(arena), &mut heard);
    }

    /// Another session begins with the line.
    fn next_session(&mut self, id: &str, line: &mut Line<'_>, decoder: &mut Decoder, arena: &Bump) {
        let in_turn = self.state.in_turn;
        if !in_turn {
            self.end_session(line.number(), decoder, arena);
        }
        let is_back = self.interrupted.iter().any(|(other, _)| other == id);
        let next = if is_back { State::default() } else { self.state.next() };
        let state = std::mem::replace(&mut self.state, next);
        if in_turn {
            // Its lines may come again.
            self.interrupted.push((self.sessions.current().to_owned(), state));
            if self.interrupted.len() > MOST_INTERRUPTED {
                self.interrupted.remove(0).1.end(self.vendor, &mut self.report);
            }
        } else {
            state.end(self.vendor, &mut self.report);
        }
        if let Some(at) = self.interrupted.iter().position(|(other, _)| other == id) {
            self.state = self.interrupted.remove(at).1;
            if !self.format.mode.serves_many && !std::mem::replace(&mut self.is_mixed, true) {
                let text = format!(
                    "the session {:?} goes on in the middle of another one: read each of them alone",
                    Str::trusted(id).unescape()
                );
                self.report.find(Rule::MixedSessions, line.whole(), text);
            }
        } else {
            let text = format!("the session {:?} begins", Str::trusted(id).unescape());
            self.report.find(Rule::NextSession, line.whole(), text);
        }
        self.sessions.begin(id, in_turn);
        self.before.clear();
        self.report.damaged = false;
        decoder.next_session(id);
    }

    /// A session in another dialect begins with the line.
    fn next_dialect(&mut self, found: Evidence, line: &mut Line<'_>, decoder: &mut Decoder, arena: &Bump) {
        self.end_session(line.number(), decoder, arena);
        self.end_states();
        self.format = found.format;
        self.vendor = found.format.dialect.vendor();
        self.sessions = Sessions::default();
        self.report.damaged = false;
        *decoder = Decoder::new(found.format);
        let text = format!("from here on it is {} ({})", found.format, found.why);
        self.report.find(Rule::NextDialect, line.whole(), text);
    }

    fn end_states(&mut self) {
        for (_, state) in std::mem::take(&mut self.interrupted) {
            state.end(self.vendor, &mut self.report);
        }
        std::mem::take(&mut self.state).end(self.vendor, &mut self.report);
    }

    /// What the line is beside what it says.
    fn look(&mut self, value: &str, line: &mut Line<'_>) {
        let Self { report, schemas, .. } = self;
        usage::look(Raw::trusted(value), self.format.dialect.vendor().logs.usage_at, line, report);
        // Where a rule says what is wrong, its schema need not.
        if report.worst < Some(super::Level::Error)
            && let Some(schemas) = schemas
            && let Some(Misfit { pointer, what }) = schemas.misfit(self.format, value)
        {
            let place = || {
                let mut place = line.place(at_pointer(value, &pointer).unwrap_or(value));
                place.pointer = Some(pointer.clone());
                place
            };
            report.fold(Rule::Schema, place, what);
        }
    }
}

const fn is_text(piece: Piece<'_>) -> bool {
    matches!(piece, Piece::Text(_) | Piece::Thinking(_) | Piece::Input(_))
}

/// The ids of the lines that a compaction keeps.
fn kept<'a>(fields: Fields<'a>, path: &'static [&'static str]) -> impl Iterator<Item = Str<'a>> {
    let list = path.split_first().and_then(|(first, rest)| {
        let field = fields.iter().find(|field| field.key.is(first))?;
        field.value.find(rest)
    });
    list.into_iter().flat_map(Raw::elements).filter_map(Raw::string)
}

/// Whether the line says the outcome, in any of its parts.
fn is_told(outcome: &Outcome<'_>, line: &Line<'_>) -> bool {
    let texts = [outcome.text, outcome.error, outcome.word].into_iter().flatten().map(Str::as_escaped);
    let values = [outcome.duration_ms, outcome.duration_api_ms].into_iter().flatten().map(Raw::as_str);
    let mut parts = texts.chain(values).filter(|part| !part.is_empty()).peekable();
    line.is_plain() || parts.peek().is_none() || parts.any(|part| line.holds(part))
}

/// What begins with a line.
struct Heading {
    another: Option<String>,
    foreign: Option<Evidence>,
}

/// The value at a JSON pointer.
fn at_pointer<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let mut value = Raw::trusted(text);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        value = match step.parse::<usize>() {
            Ok(index) if value.as_str().starts_with('[') => value.elements().nth(index)?,
            _ => value.get(&step)?,
        };
    }
    Some(value.as_str())
}

impl Consumer for Core {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        let Source {
            decoder,
            arena,
            line: number,
            stand,
            ..
        } = source;
        let mut line = Line::new(text, number, stand.at);
        self.report.worst = None;
        let (heading, mut used) = self.read(text, &mut line, decoder, arena);
        match (heading.foreign, heading.another) {
            (Some(found), _) if self.follow => {
                self.next_dialect(found, &mut line, decoder, arena);
                used = self.read(text, &mut line, decoder, arena).1;
            }
            (Some(found), _) => self.report.find(Rule::ForeignSession, line.whole(), follow::why(found, self.format)),
            (None, Some(id)) => {
                self.next_session(&id, &mut line, decoder, arena);
                used = self.read(text, &mut line, decoder, arena).1;
            }
            (None, None) => {}
        }
        if used.is_err() && text.starts_with('{') && Cursor::new(text).raw().is_ok() {
            self.look(text, &mut line);
        }
        let used = used?;
        if text.starts_with('{') {
            // Decoders check what they need; here the rest is checked too.
            Cursor::new(text).raw()?;
            self.look(&text[..used.min(text.len())], &mut line);
        }
        Ok(used)
    }

    fn again<'a>(&mut self, lines: &'a str, source: Source<'_, 'a>) -> Taken {
        let mut taken = Taken::default();
        let Source { decoder, arena, .. } = source;
        while let Some(end) = memchr::memchr(b'\n', &lines.as_bytes()[taken.bytes..]) {
            let rest = &lines[taken.bytes..];
            let text = rest[..end].trim_ascii_end();
            let mut line = Line::new(text, source.line + taken.lines + 1, 0);
            self.report.worst = None;
            let mut heard = Heard {
                again: true,
                ..Heard::new(self, &mut line, text)
            };
            let Some(used) = decoder.again(rest, &Cx::new(arena), &mut heard) else {
                break;
            };
            // A line that another session begins with is read by itself.
            if heard.another.is_some() || heard.foreign.is_some() {
                break;
            }
            let is_plain = heard.is_plain;
            taken.bytes += used;
            taken.lines += 1;
            if is_plain {
                continue;
            }
            match Cursor::new(text).raw() {
                Ok(_) => self.look(text, &mut line),
                Err(error) => self.damaged(&Damaged {
                    line: line.number(),
                    byte: error.at as u64 + 1,
                    pointer: error.pointer(text),
                    why: error.why.to_string(),
                    bytes: text.as_bytes(),
                }),
            }
        }
        taken
    }

    fn damaged(&mut self, damaged: &Damaged<'_>) {
        let place = super::report::Place {
            line: damaged.line,
            byte: damaged.byte,
            pointer: damaged.pointer.clone(),
        };
        self.report.find(Rule::DamagedLine, place, damaged.why.clone());
        self.report.damaged = true;
    }

    fn end(&mut self, source: Source<'_, '_>) {
        let Source { decoder, arena, line, .. } = source;
        self.end_session(line, decoder, arena);
        self.end_states();
        self.report.end();
    }
}

impl<'a> Sink<'a> for Heard<'_, 'a> {
    fn source(&mut self, format: Format, at: Option<u64>) {
        self.core.vendor = format.dialect.vendor();
        self.core.sessions.header(at);
    }

    fn program(&mut self, session: Option<Str<'a>>, process: Option<Raw<'a>>) {
        let in_turn = self.core.state.in_turn;
        if self.another.is_none() && !self.over && self.core.sessions.is_another_program(session, process, in_turn) {
            self.another = Some(String::new());
        }
    }

    fn event(&mut self, event: &Event<'a>) {
        if self.another.is_some() {
            return;
        }
        let in_turn = self.core.state.in_turn;
        if self.events == 0 && !self.over && follow::may_begin_another(event, self.core.format, in_turn) {
            if self.foreign.is_none() {
                self.foreign = follow::begins_another(self.core.format.dialect, self.text, in_turn);
            }
            if self.foreign.is_some() && (self.core.follow || self.again) {
                return;
            }
        }
        if let Some(id) = event.origin.session.filter(|id| !id.is_empty()) {
            if !self.over && !self.core.sessions.is_current(id.as_escaped()) && self.is_another(event, id) {
                return;
            }
            self.core.sessions.read(&event.kind);
        }
        self.events += 1;
        self.is_plain = self.events == 1 && event.fields.is_empty() && matches!(event.kind, Kind::Delta(delta) if is_text(delta.piece));
        self.hear(event);
    }

    fn input(&mut self, input: &Input<'a>) {
        if self.another.is_some() {
            return;
        }
        self.events += 1;
        self.fields(input.fields);
        match input.kind {
            InputKind::Noise(_) => self.noise(),
            InputKind::Unknown(raw) => self.unknown(raw),
            _ => {}
        }
    }
}

impl<'c, 'a> Heard<'c, 'a> {
    const fn new(core: &'c mut Core, line: &'c mut Line<'a>, text: &'a str) -> Self {
        Self {
            core,
            line,
            text,
            events: 0,
            another: None,
            foreign: None,
            over: false,
            is_plain: false,
            again: false,
        }
    }

    /// An event names another session than the line before. Returns whether it is another one.
    fn is_another(&mut self, event: &Event<'_>, id: Str<'_>) -> bool {
        let core = &mut *self.core;
        let before = core.sessions.current().to_owned();
        let renamed = core.sessions.is_renamed();
        if core
            .sessions
            .step(id.as_escaped(), &event.kind, core.state.in_turn || core.state.turns.is_fresh())
            == Step::Another
        {
            self.another = Some(id.as_escaped().to_owned());
            return true;
        }
        let back = core.before == id.as_escaped();
        if !before.is_empty() && core.sessions.current() != before && !renamed && !back {
            let text = format!(
                "the session {:?} goes on as {:?}",
                Str::trusted(&before).unescape(),
                Str::trusted(id.as_escaped()).unescape()
            );
            let place = self.line.place(id.as_escaped());
            core.report.find(Rule::SessionChanges, place, text);
        }
        core.before = before;
        false
    }

    fn hear(&mut self, event: &Event<'a>) {
        self.fields(event.fields);
        match event.kind {
            Kind::Noise(_) => return self.noise(),
            Kind::Unknown(raw) => self.unknown(raw),
            _ => {}
        }
        let Self { core, line, text, over, .. } = self;
        let Core {
            state,
            report,
            vendor,
            format,
            of_subagent,
            ..
        } = &mut **core;
        let stored = format.dialect.vendor().logs.stores_others;
        let chain = vendor.stores.iter().find(|store| store.mode == format.mode).and_then(|store| store.chain);
        state.origin(event, &vendor.logs, stored, line, report);
        let parent = event.origin.parent;
        let pieces = vendor.logs.pieces;
        let about = About {
            facts: vendor.logs.facts,
            refusal_ends: vendor.logs.one_turn_a_run,
            stored,
            document: format.mode.layout == Layout::Document,
            has_documents: vendor.modes.iter().any(|mode| mode.layout == Layout::Document),
            turn: event.origin.turn,
            text,
        };
        if let Some(chain) = chain {
            state.tree.line(event, &chain, *of_subagent, line, report);
        }
        // What is kept on disk says nothing of turns, nor do logs that do not end each.
        let has_turns = vendor.logs.ends != Ends::Unsaid && !format.is_store();
        if has_turns && parent.is_none() && is_part(&event.kind) {
            state.turns.part(&event.kind, &about, line, report);
        }
        let in_turn = state.in_turn;
        let State {
            turns,
            calls,
            threads,
            lines,
            ..
        } = state;
        let round = match parent {
            None => &mut threads.main,
            // One that nobody called is not kept.
            Some(parent)
                if (calls.knows(parent) || vendor.logs.free_subagents) && (is_part(&event.kind) || matches!(event.kind, Kind::RoundEnd(_))) =>
            {
                threads.subagent(parent.as_escaped(), |_| Round::default())
            }
            Some(_) => &mut Round::default(),
        };
        if parent.is_some() && pieces == Pieces::Messages {
            round.unframed(line);
        }
        match event.kind {
            Kind::Session(session) if has_turns && parent.is_none() => turns.facts(session, line, report),
            Kind::Notice(notice) if notice.topic == Topic::Task => turns.task(),
            Kind::Notice(notice) if notice.topic == Topic::Retry => round.tries_again(),
            Kind::Notice(notice) if notice.topic == Topic::Compaction => {
                kept(event.fields, vendor.logs.kept_at).for_each(|id| lines.forget(id));
            }
            // What tells several turns of a store gives the facts once.
            Kind::Prompt(_) if stored && parent.is_none() => turns.prompt(),
            // A session that is opened again begins its turns with what the user said, and no line ends them.
            Kind::Prompt(prompt) if vendor.logs.ends == Ends::Unsaid && prompt.source == PromptSource::Echo && parent.is_none() && !in_turn => {
                calls.say_again();
            }
            Kind::RoundStart(start) => round.start(start, pieces, line, report),
            Kind::BlockStart(start) => {
                if let BlockHead::Call { id, .. } = start.head {
                    calls.call(id, Told::Start, parent, line, report);
                    if vendor.logs.host_runs_tools {
                        calls.excuse(id);
                    }
                }
                round.block(&start, pieces, line, report);
            }
            Kind::Delta(delta) => round.delta(&delta, pieces, line, report),
            Kind::BlockStop(stop) => round.stop(stop.index, pieces, line, report),
            Kind::RoundEnd(end) => {
                for id in round.end(end, pieces, line, report) {
                    calls.retract(&id);
                }
            }
            Kind::Reply(reply) => {
                round.whole(reply, pieces, line, report);
                for block in reply.blocks {
                    if let Block::Call(call) = block {
                        calls.call(call.id, Told::Whole, parent, line, report);
                        if vendor.logs.host_runs_tools || vendor.logs.commands_outlive_turns && call.kind == ToolKind::Shell {
                            calls.excuse(call.id);
                        }
                    }
                }
            }
            Kind::Request(request) if vendor.logs.host_answers => {
                if let Some(call) = request.permission.and_then(|permission| permission.call) {
                    calls.excuse(call);
                }
            }
            Kind::ToolResult(result) => {
                calls.result(result, line, report);
                if let Some(mut subagent) = threads.end(result.call.as_escaped()) {
                    subagent.end_turn(false, pieces, report);
                }
            }
            Kind::Outcome(outcome) if parent.is_none() => {
                // Made up for a turn that was cut off. Any other was read off the rest of a log whose program does not say it.
                let made_up = outcome.synthetic && outcome.kind == OutcomeKind::Failed(Place::Protocol);
                let worked_out = vendor.logs.ends == Ends::WorkedOut && outcome.synthetic;
                let made = !worked_out && (*over || made_up || !is_told(outcome, line));
                // A stop that no model makes: the turn goes on elsewhere.
                let elsewhere = outcome.stop.is_some_and(|stop| stop.kind == StopKind::Other);
                let well = outcome.kind == OutcomeKind::Success && !outcome.synthetic && !elsewhere;
                match made || !has_turns {
                    // No line says it, or it is told of a log that says nothing else of turns.
                    true => turns.end(report),
                    false => turns.outcome(outcome, &about, line, report),
                }
                calls.end_turn(well, report);
                threads.main.end_turn(well, pieces, report);
                report.summary.outcomes += u64::from(!made);
                report.damaged = false;
            }
            Kind::Fatal(_) => {
                turns.fatal();
                calls.end_turn(false, report);
                threads.main.end_turn(false, pieces, report);
                report.summary.outcomes += 1;
            }
            _ => {}
        }
        if let Some(ended) = follow::ends_turn(&event.kind).filter(|_| parent.is_none()) {
            state.in_turn = !ended;
        } else if matches!(event.kind, Kind::Fatal(_)) {
            state.in_turn = false;
        }
    }

    fn noise(&mut self) {
        let tally = self.core.report.summary.noise.get_or_insert(super::Tally {
            count: 0,
            first: self.line.number(),
        });
        tally.count += 1;
        let line = &self.line;
        self.core.report.fold(Rule::Noise, || line.whole(), "text that is no JSON".to_owned());
    }

    fn unknown(&mut self, raw: Raw<'_>) {
        let word = |key| raw.get(key).and_then(Raw::string).map(|s| s.unescape().into_owned());
        let name = match (word("type"), word("subtype")) {
            (Some(kind), Some(subtype)) => format!("{kind}/{subtype}"),
            (Some(kind), None) => kind,
            (None, _) if raw.as_str().starts_with('{') => "an object without type".to_owned(),
            (None, _) if raw.as_str().starts_with('[') => "an array".to_owned(),
            (None, _) => "a scalar".to_owned(),
        };
        let line = &mut *self.line;
        let place = || line.place(raw.get("type").map_or(raw.as_str(), Raw::as_str));
        self.core.report.fold(Rule::UnknownType, place, format!("unknown type {name}"));
    }

    fn fields(&mut self, fields: Fields<'_>) {
        for Field { at, key, value, .. } in fields.iter().filter(|f| !f.known) {
            let name = key.unescape();
            let place = match at {
                At::Line => format!("/{name}"),
                At::Part(part) => format!("{part}/{name}"),
                At::Block(_) => format!("/*/{name}"),
            };
            let line = &mut *self.line;
            let text = format!("unknown field, or of an unknown type: {place}");
            self.core.report.fold(Rule::UnknownField, || line.place(value.as_str()), text);
        }
    }
}
