//! Events of the model to events of the protocol: the encoder, and how runs begin.

use std::collections::BTreeMap;

use super::own::Known;
use super::write::Speaker;
use super::{OURS, REQUEST, SESSION, VERSION};
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{Counted, Event, Input, InputKind, Kind, Origin, Piece, Request, Session, Topic, Usage};
use crate::ids;
use crate::json::{Digits, Out, Raw, Str, alike};
use crate::threads::Threads;
use crate::trace::Kept;
use crate::unique::Unique;

/// Writes version 1.0: a run for each turn, and everything that begins ends before the run does.
#[derive(Debug)]
pub struct Encoder {
    style: Style,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) session: String,
    /// How many runs were begun, and messages that nobody named.
    runs: u64,
    pub(super) messages: u64,
    pub(super) run: Option<Run>,
    /// The facts of the session that were said last, as an object; those that no run has said yet.
    facts: Vec<u8>,
    unsaid: bool,
    /// Where the source says them.
    kept: Kept,
    /// The same of the facts that no run has said yet.
    kept_facts: [Kept; 9],
    /// The usage of all turns so far, from sources that count so.
    pub(super) total: Usage<'static>,
    /// It was told that the turn failed.
    pub(super) failed: bool,
    /// The time of the last event, in milliseconds.
    time: String,
    pub(super) known: Known,
}

/// The run that goes on.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) id: String,
    /// The session that it is in, escaped.
    pub(super) session: String,
    /// How many rounds there were.
    pub(super) rounds: u64,
    /// Ids of messages and subagents, and those of calls, which are named apart.
    pub(super) messages: Unique,
    pub(super) calls: Unique,
    pub(super) threads: Threads<Speaker>,
    /// Calls that subagents have made, with these.
    pub(super) owners: BTreeMap<String, String>,
    /// The same the other way round: what each has made.
    pub(super) owned: BTreeMap<String, Vec<String>>,
    /// All that was said, escaped.
    pub(super) said: String,
    /// What its rounds took, by their models.
    pub(super) models: BTreeMap<String, Usage<'static>>,
    /// Calls that wait for permission: what was asked, by the calls.
    pub(super) asked: BTreeMap<String, String>,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            session: String::new(),
            runs: style.at,
            messages: style.at,
            run: None,
            facts: Vec::new(),
            unsaid: false,
            kept: Kept::default(),
            kept_facts: Default::default(),
            total: Usage::default(),
            failed: false,
            time: String::new(),
            known: Known::default(),
        }
    }

    fn is_own(&self) -> bool {
        self.style.source == Dialect::AgUi
    }

    /// Who speaks when. `waits`: of what is said nothing goes over before a run begins.
    fn meet(&mut self, origin: &Origin<'_>, waits: bool, out: &Out) {
        if let Some(session) = origin.session.filter(|id| !id.is_empty()) {
            match &self.run {
                // A run that comes says it, if one does.
                None if waits => out.hold(&mut self.kept, session.as_escaped()),
                // A run has one session, which its first line says.
                Some(run) if !alike(session.as_escaped(), &run.session) => {}
                _ => out.beside(session.as_escaped()),
            }
            if !alike(session.as_escaped(), &self.session) {
                session.as_escaped().clone_into(&mut self.session);
            }
        }
        self.time.clear();
        if let Some((time, millis)) = origin.time.and_then(|time| Some((time, time.millis()?))) {
            out.beside(time.source());
            if let Ok(digits) = std::str::from_utf8(Digits::of(i128::from(millis)).as_bytes()) {
                self.time.push_str(digits);
            }
        }
    }

    /// Begins a line, with its time and the subagent that says it.
    pub(super) fn begin(&self, kind: &str, agent: &str, out: &mut Out) {
        out.lit("{\"type\":\"");
        out.lit(kind);
        out.lit("\"");
        if !self.time.is_empty() {
            out.lit(",\"timestamp\":");
            out.lit(&self.time);
        }
        if !agent.is_empty() {
            out.lit(",\"subagentRunId\":\"");
            out.lit(agent);
            out.lit("\"");
        }
    }

    /// Begins a run, if none goes on.
    pub(super) fn need_run(&mut self, turn: Option<Str<'_>>, out: &mut Out) {
        if self.run.is_some() {
            return;
        }
        self.failed = false;
        if self.session.is_empty() {
            self.session = ids::uuid("", self.style.at);
            out.invented("/threadId", "the source names no session");
        }
        let id = match turn.filter(|turn| !turn.is_empty()) {
            Some(turn) => {
                out.used(turn.as_escaped());
                turn.as_escaped().to_owned()
            }
            None => {
                out.invented("/runId", "the source names no turn");
                ids::uuid(&self.session, self.runs)
            }
        };
        self.runs += 1;
        self.begin("RUN_STARTED", "", out);
        out.lit(",\"threadId\":\"");
        out.lit(&self.session);
        out.lit("\",\"runId\":\"");
        out.lit(&id);
        out.lit("\",\"protocolVersion\":\"");
        out.lit(VERSION);
        out.lit("\"");
        out.invented("/protocolVersion", "the version that is written");
        self.all_kept().for_each(|kept| out.release(kept));
        let facts = std::mem::take(&mut self.unsaid).then_some(&self.facts).filter(|facts| facts.len() > 2);
        if let Some(facts) = facts {
            out.lit(",\"metadata\":{\"");
            out.lit(OURS);
            out.lit("\":");
            out.bytes(facts);
            out.lit("}");
        }
        out.lit("}\n");
        self.run = Some(Run {
            id,
            session: self.session.clone(),
            ..Run::default()
        });
    }

    fn all_kept(&mut self) -> impl Iterator<Item = &mut Kept> {
        std::iter::once(&mut self.kept).chain(&mut self.kept_facts)
    }

    /// The session's facts: with the run that begins, or on their own where they have changed.
    fn session_facts(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        // What was said before is said by no run where it is another now.
        let said_before = std::str::from_utf8(&self.facts).unwrap_or_default();
        for (kept, source) in self.kept_facts.iter_mut().zip(sources(session)) {
            match source.is_some_and(|source| said_before.contains(source)) {
                true => out.release(kept),
                false => out.drop_held(kept, "the session says something else before its run begins"),
            }
        }
        if self.run.is_none() && !session.opens_turn {
            // The run that begins next says them, if one does.
            self.facts = object(&mut Out::default(), |out| facts(session, out));
            self.unsaid = true;
            for (kept, source) in self.kept_facts.iter_mut().zip(sources(session)) {
                source.into_iter().for_each(|source| out.hold(kept, source));
            }
            return;
        }
        let facts = object(out, |out| facts(session, out));
        let changed = facts != self.facts;
        self.facts = facts;
        out.carried();
        if self.run.is_none() {
            self.unsaid = true;
            self.need_run(event.origin.turn, out);
        } else if changed && self.facts.len() > 2 {
            self.begin("CUSTOM", "", out);
            out.lit(",\"name\":\"");
            out.lit(SESSION);
            out.lit("\",\"value\":");
            out.bytes(&self.facts);
            out.lit("}\n");
            out.invented("/name", "our own name for facts that have changed");
        }
    }

    /// What the agent asks while it works. A run that goes on cannot wait for an answer.
    fn request(&mut self, event: &Event<'_>, request: &Request<'_>, out: &mut Out) {
        if self.run.is_none() {
            return;
        }
        let agent = self.speaker(event.origin.parent, event, out).id.clone();
        self.begin("CUSTOM", &agent, out);
        out.lit(",\"name\":\"");
        out.lit(REQUEST);
        out.invented("/name", "our own name for what the agent asks");
        out.lit("\",\"value\":{\"subtype\":");
        request.write_subtype(out);
        out.str_if(",\"id\":", request.id);
        if let Some(permission) = request.permission {
            out.str_if(",\"toolCallId\":", permission.call);
            out.str_if(",\"toolName\":", Some(permission.name));
            out.unchecked_if(",\"input\":", permission.input);
            out.unchecked_if(",\"suggestions\":", permission.suggestions);
            if let (Some(call), Some(id), Some(run)) = (permission.call, request.id, &mut self.run) {
                run.asked.insert(call.as_escaped().to_owned(), id.as_escaped().to_owned());
            }
        }
        out.lit("}}\n");
    }
}

impl Encode for Encoder {
    fn want(&self) -> Want {
        Want::DELTAS.with_subagents().with_whole_rounds()
    }

    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        if self.is_own() {
            return false;
        }
        self.piece(None, piece, out);
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn takes_fields(&self) -> bool {
        self.is_own()
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        let is_met = session.is_none_or(|id| alike(id.as_escaped(), &self.session));
        is_met && !self.is_own() && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.is_own() {
            return self.own(event, out);
        }
        let waits = matches!(event.kind, Kind::Session(session) if !session.opens_turn);
        self.meet(&event.origin, waits, out);
        match event.kind {
            Kind::Session(session) => self.session_facts(event, session, out),
            Kind::Request(request) => self.request(event, request, out),
            Kind::Prompt(prompt) => self.prompt(event, prompt, out),
            Kind::RoundStart(start) => self.round_start(event, start, out),
            Kind::BlockStart(start) => self.block_start(event, start, out),
            Kind::Delta(delta) => self.piece(event.origin.parent, delta.piece, out),
            Kind::BlockStop(_) => self.block_stop(event.origin.parent, out),
            Kind::RoundEnd(end) => self.round_end(event, end, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.fatal(event, fatal, out),
            _ => {}
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let (InputKind::Prompt(prompt), false) = (input.kind, self.is_own()) {
            let event = Event::new(input.origin, Kind::Prompt(prompt));
            self.event(&event, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        self.all_kept().for_each(|kept| out.drop_held(kept, "no run follows that would say it"));
        // Whatever began it said nothing that a turn is made of.
        if self.run.is_some() && !self.is_own() {
            self.end_unsaid(out);
        }
    }
}

/// What `write` writes, each member behind a comma, as an object that is kept.
pub(super) fn object(out: &mut Out, write: impl FnOnce(&mut Out)) -> Vec<u8> {
    let mut written = out.apart(write);
    match written.first_mut() {
        Some(comma) => *comma = b'{',
        None => written.push(b'{'),
    }
    written.push(b'}');
    written
}

/// Writes a line's `metadata` with what the protocol has no place for, if there is any.
pub(super) fn ours(out: &mut Out, write: impl FnOnce(&mut Out)) {
    let object = object(out, write);
    if object.len() > 2 {
        out.lit(",\"metadata\":{\"");
        out.lit(OURS);
        out.lit("\":");
        out.bytes(&object);
        out.lit("}");
    }
}

/// Where the source says the facts that are written.
fn sources<'a>(session: &Session<'a>) -> [Option<&'a str>; 9] {
    let text = |text: Option<Str<'a>>| text.map(Str::as_escaped);
    let list = |list: Option<Raw<'a>>| list.map(Raw::as_str);
    [
        text(session.version),
        text(session.cwd),
        text(session.model),
        text(session.permission_mode),
        text(session.api_key_source),
        list(session.tools),
        list(session.mcp_servers),
        list(session.slash_commands),
        list(session.agents),
    ]
}

fn facts(session: &Session<'_>, out: &mut Out) {
    out.str_if(",\"version\":", session.version);
    out.str_if(",\"cwd\":", session.cwd);
    out.str_if(",\"model\":", session.model);
    out.str_if(",\"permissionMode\":", session.permission_mode);
    out.str_if(",\"apiKeySource\":", session.api_key_source);
    let lists = [
        (",\"tools\":", session.tools),
        (",\"mcpServers\":", session.mcp_servers),
        (",\"slashCommands\":", session.slash_commands),
        (",\"agents\":", session.agents),
    ];
    for (name, list) in lists {
        out.unchecked_if(name, list);
    }
    if session.resumed {
        out.lit(",\"resumed\":true");
    }
}
