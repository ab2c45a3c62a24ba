//! What the user says: texts in the user's role, and the messages that a run is asked for with.

use super::blocks::What;
use super::decode::Decoder;
use super::line::Line;
use super::parts;
use super::told::{self, Seen};
use crate::codec::Cx;
use crate::event::{Content, Event, Fields, Kind, Origin, Prompt, PromptSource, Sink};
use crate::json::{Raw, Str};

/// A text that comes in pieces and is no agent's.
#[derive(Debug)]
pub(super) struct Held {
    /// The message's id, escaped.
    id: String,
    text: String,
    source: PromptSource,
    /// The subagent that it was said to; empty for the main agent.
    agent: String,
}

const PIECES: &str = "what the user says goes over whole";

impl Held {
    pub(super) fn add(&mut self, text: Option<Str<'_>>) {
        self.text.push_str(text.unwrap_or_default().as_escaped());
    }
}

impl Decoder {
    /// A message begins that is no agent's; returns its place among those that are held.
    pub(super) fn hold<'a>(&mut self, id: Str<'a>, role: Str<'a>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) -> usize {
        self.told.see(Seen::Message, id);
        let (cx, agent) = (line.cx, line.agent);
        self.end_prompt(What::Text, id, agent, &cx, sink);
        line.origin = self.thread(agent).origin(agent, line.origin, &cx);
        let source = match (role.is("user"), agent) {
            (true, None) => PromptSource::Echo,
            (true, Some(_)) => PromptSource::Parent,
            (false, _) => PromptSource::Agent,
        };
        self.held.push(Held {
            id: id.as_escaped().to_owned(),
            text: String::new(),
            source,
            agent: agent.unwrap_or_default().as_escaped().to_owned(),
        });
        line.structure(PIECES, sink);
        self.held.len() - 1
    }

    /// The place of what is held under an id. What goes on need not say to whom it is said.
    pub(super) fn held_at(&mut self, what: What, id: Str<'_>, agent: Option<Str<'_>>) -> Option<usize> {
        if what != What::Text {
            return None;
        }
        let said = agent.map(Str::as_escaped);
        self.held
            .iter()
            .position(|held| held.id == id.as_escaped() && said.is_none_or(|said| said == held.agent))
    }

    /// More of it.
    pub(super) fn hear<'a>(&mut self, held: usize, text: Str<'a>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        self.held[held].add(Some(text));
        let (cx, agent) = (line.cx, line.agent);
        line.origin = self.thread(agent).origin(agent, line.origin, &cx);
        line.structure(PIECES, sink);
    }

    /// It is whole, and this line says so.
    pub(super) fn tell_held<'a>(&mut self, held: usize, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        let held = self.held.remove(held);
        let (cx, agent) = (line.cx, line.agent);
        let said = agent.or_else(|| (!held.agent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&held.agent))));
        let mut origin = self.thread(said).origin(agent, line.origin, &cx);
        origin.time = line.origin.time;
        line.bare = false;
        if let Some(id) = line.find("messageId") {
            cx.took(id.as_escaped());
        }
        cx.took(line.word.as_escaped());
        line.again("type");
        let fields = line.rest();
        self.tell(&held, origin, fields, &cx, sink);
    }

    /// It is over, if it is held, for something else follows.
    pub(super) fn end_prompt<'a>(&mut self, what: What, id: Str<'_>, agent: Option<Str<'_>>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(at) = self.held_at(what, id, agent) {
            let held = self.held.remove(at);
            self.tell_whole(&held, cx, sink);
        }
    }

    /// All that is held is over.
    pub(super) fn end_prompts<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for held in std::mem::take(&mut self.held) {
            self.tell_whole(&held, cx, sink);
        }
    }

    fn tell_whole<'a>(&mut self, held: &Held, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let said = (!held.agent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&held.agent)));
        let origin = self.thread(said).origin(None, Origin::default(), cx);
        self.tell(held, origin, &[], cx, sink);
    }

    fn tell<'a>(&mut self, held: &Held, origin: Origin<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let text = Str::trusted(cx.arena.alloc_str(&held.text));
        self.told.says(Seen::Message, Str::trusted(&held.id), told::more(told::NOTHING, text));
        let prompt = cx.keep(Prompt {
            content: Content::Text(text),
            source: held.source,
        });
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(prompt),
            fields,
        });
    }

    /// What a run is asked for with: what came of calls that the host has run, and what the user has said behind the last answer.
    pub(super) fn asked<'a>(&mut self, input: Option<Raw<'a>>, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(messages) = input.and_then(|input| input.get("messages")) else {
            return;
        };
        let mut last = Vec::new();
        for message in messages.elements() {
            let id = message.get("id").and_then(Raw::string);
            let is_new = id.is_none_or(|id| self.told.see(Seen::Message, id));
            if let Some((id, content)) = id.zip(message.get("content")).filter(|_| is_new) {
                self.told.says(Seen::Message, id, told::print(content));
            }
            match message.get("role").and_then(Raw::string) {
                Some(role) if role.is("user") => last.extend(is_new.then_some(message)),
                Some(role) if role.is("tool") => {
                    last.clear();
                    let call = message.get("toolCallId").and_then(Raw::string);
                    if call.is_some_and(|call| self.told.knows(Seen::Call, call)) {
                        self.whole_result(message, origin, &[], cx, sink);
                    }
                }
                _ => last.clear(),
            }
        }
        for message in last {
            let Some(content) = message.get("content") else { continue };
            let prompt = cx.keep(Prompt {
                content: parts::content(content, cx),
                source: PromptSource::Host,
            });
            sink.event(&Event::new(origin, Kind::Prompt(prompt)));
        }
    }
}
