//! Events of the protocol to events of the model: which is which.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::What;
use super::chunks::Chunk;
use super::line::Line;
use super::prompt::Held;
use super::thread::Thread;
use super::told::Told;
use super::{REQUEST, ROUND, SESSION};
use crate::chat::Members;
use crate::codec::{Cx, Decode};
use crate::event::{Event, Kind, Origin, RoundEnd, RoundStart, Sink, Topic};
use crate::json::{Cursor, Error, Raw, Str};

/// Reads it.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The thread's id, escaped.
    pub(super) session: String,
    main: Thread,
    subagents: BTreeMap<String, Thread>,
    /// The subagent whose something is that is open, where it is one's.
    pub(super) owners: BTreeMap<(What, String), String>,
    pub(super) chunk: Option<Chunk>,
    /// What the user says, as far as it is told.
    pub(super) held: Vec<Held>,
    /// The names of the run's calls.
    pub(super) calls: BTreeMap<String, String>,
    /// What the agent has asked in this run.
    pub(super) asked: BTreeSet<String>,
    /// What the session has told.
    pub(super) told: Told,
    /// The line before ended the run.
    pub(super) finished: bool,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let value = text.strip_prefix("data:").map_or(text, str::trim_start);
        if !value.starts_with('{') {
            sink.event(&Event::new(Origin::default(), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(value);
        let members = Members::read(&mut at, cx)?;
        let used = at.position();
        match Line::open(&value[..used], members, cx) {
            Some(mut line) => self.said(&mut line, sink)?,
            None => sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(&value[..used])))),
        }
        Ok(text.len() - value.len() + used)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_chunk(cx, sink);
        self.end_prompts(cx, sink);
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self::default();
    }
}

impl Decoder {
    fn said<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        line.bare = !sink.takes_fields();
        let finished = std::mem::take(&mut self.finished);
        match &*line.word.unescape() {
            // The run has had its outcome; an error behind it is no second one.
            "RUN_ERROR" if finished => {
                self.finished = true;
                let message = line.text("message");
                line.notice(Topic::Other, message, sink);
                Ok(())
            }
            "TEXT_MESSAGE_START" => self.text_start(line, sink),
            "TEXT_MESSAGE_CONTENT" => self.piece(What::Text, line, sink),
            "TEXT_MESSAGE_END" => self.stop(What::Text, line, sink),
            "TOOL_CALL_START" => self.call_start(line, sink),
            "TOOL_CALL_ARGS" => self.piece(What::Call, line, sink),
            "TOOL_CALL_END" => self.stop(What::Call, line, sink),
            "TOOL_CALL_RESULT" => self.result(line, sink),
            "REASONING_START" | "THINKING_START" => self.span_start(line, sink),
            "REASONING_MESSAGE_START" | "THINKING_TEXT_MESSAGE_START" => self.thought_start(line, sink),
            "REASONING_MESSAGE_CONTENT" | "THINKING_TEXT_MESSAGE_CONTENT" => self.piece(What::Thought, line, sink),
            "REASONING_MESSAGE_END" | "THINKING_TEXT_MESSAGE_END" => self.stop(What::Thought, line, sink),
            "REASONING_END" | "THINKING_END" => self.span_end(line, sink),
            "REASONING_ENCRYPTED_VALUE" => self.seal(line, sink),
            "TEXT_MESSAGE_CHUNK" => self.chunk(What::Text, line, sink),
            "TOOL_CALL_CHUNK" => self.chunk(What::Call, line, sink),
            "REASONING_MESSAGE_CHUNK" => self.chunk(What::Thought, line, sink),
            "RUN_STARTED" => self.run_started(line, sink),
            "RUN_FINISHED" => self.run_finished(line, sink),
            "RUN_ERROR" => self.run_error(line, sink),
            "STEP_STARTED" => self.step(true, line, sink),
            "STEP_FINISHED" => self.step(false, line, sink),
            "SUBAGENT_STARTED" => self.subagent_started(line, sink),
            "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => self.subagent_over(line, sink),
            "MESSAGES_SNAPSHOT" => self.messages(line, sink),
            "CUSTOM" => self.custom(line, sink),
            "STATE_SNAPSHOT" | "STATE_DELTA" | "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA" | "RAW" => {
                line.origin = self.thread(line.agent).origin(line.agent, line.origin, &line.cx);
                line.notice(Topic::Other, None, sink);
                Ok(())
            }
            _ => {
                sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(line.text))));
                Ok(())
            }
        }
    }

    /// Who speaks. A subagent may speak of which nothing says that it begins.
    pub(super) fn thread(&mut self, agent: Option<Str<'_>>) -> &mut Thread {
        match agent.map_or("", Str::as_escaped) {
            "" => &mut self.main,
            id => self.subagents.entry(id.to_owned()).or_insert_with(|| Thread::of(id)),
        }
    }

    /// A run begins, or is over: nothing of it goes on.
    pub(super) fn forget_run(&mut self) {
        self.main = Thread::default();
        self.subagents.clear();
        self.owners.clear();
        self.calls.clear();
        self.asked.clear();
    }

    /// The run is over: so is what nothing else ends.
    pub(super) fn end_rounds<'a>(&mut self, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for thread in self.subagents.values_mut().chain([&mut self.main]) {
            let origin = thread.origin(None, origin, cx);
            thread.end_implied(origin, sink);
        }
    }

    /// What is open has said so much.
    pub(super) fn note_open(&mut self) {
        for thread in self.subagents.values_mut().chain([&mut self.main]) {
            for what in [What::Text, What::Thought, What::Call] {
                for (id, open) in what.of(thread) {
                    self.told.says(what.seen(), Str::trusted(id), open.said);
                }
            }
        }
    }

    /// Something else than more chunks of the same begins.
    pub(super) fn break_off<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        if self.chunk.is_some() {
            self.end_chunk(&line.cx, sink);
        }
    }

    /// Whether what goes on under an id, and does not say whose it is, is the main agent's.
    pub(super) fn is_mains(&mut self, what: What, id: Str<'_>) -> bool {
        self.owners.is_empty() || what.of(&mut self.main).contains_key(id.as_escaped())
    }

    /// Steps are the producer's own, but for those that we have written: they are rounds.
    fn step<'a>(&mut self, begins: bool, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let step = line.need("stepName")?;
        self.break_off(line, sink);
        let number = step.as_escaped().strip_prefix(ROUND);
        let is_round = number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        let ours = line.ours();
        let (cx, agent) = (line.cx, line.agent);
        let thread = self.thread(agent);
        let origin = thread.origin(agent, line.origin, &cx);
        line.origin = origin;
        let kind = match (is_round, begins) {
            (true, true) => {
                thread.begin_step(step.as_escaped(), origin, sink);
                let text = |name: &str| ours?.get(name)?.string();
                Kind::RoundStart(cx.keep(RoundStart {
                    id: text("messageId"),
                    model: text("model"),
                    ..RoundStart::default()
                }))
            }
            (true, false) => {
                // What it ends has begun elsewhere, or never.
                thread.end_step(step.as_escaped());
                Kind::RoundEnd(cx.keep(RoundEnd {
                    stop: ours.and_then(|ours| ours.get("stopReason")?.string()).map(crate::event::Stop::read),
                    usage: ours.and_then(|ours| super::usage::of_round(ours.get("usage")?)),
                    abandoned_from: None,
                }))
            }
            (false, _) => {
                line.notice(Topic::Status, Some(step), sink);
                return Ok(());
            }
        };
        cx.took(step.as_escaped());
        line.tell(kind, sink);
        Ok(())
    }

    fn custom<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = line.need("name")?;
        let (cx, agent) = (line.cx, line.agent);
        line.origin = self.thread(agent).origin(agent, line.origin, &cx);
        let value = line.members.get("value");
        let kind = match name.as_escaped() {
            SESSION => value.map(|value| Kind::Session(cx.keep(super::run::facts(value)))),
            REQUEST => value.map(|value| Kind::Request(super::run::request(value, &cx))),
            _ => None,
        };
        match kind {
            Some(kind) => {
                cx.took(name.as_escaped());
                if let Kind::Request(request) = kind {
                    self.asked.extend(request.id.map(|id| id.as_escaped().to_owned()));
                }
                line.bare = false;
                line.tell(kind, sink);
            }
            None => line.notice(Topic::Other, None, sink),
        }
        Ok(())
    }
}
