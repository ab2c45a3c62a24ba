//! What the user says: texts in the user's role, and the messages that a run is asked for with.

use super::decode::{Decoder, Seen};
use super::line::Line;
use super::parts;
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

impl Decoder {
    /// A message begins that is no agent's.
    pub(super) fn hold<'a>(&mut self, id: Str<'a>, role: Str<'a>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        self.see(Seen::Message, id);
        let (cx, agent) = (line.cx, line.agent);
        line.origin = self.thread(agent).origin(agent, line.origin, &cx);
        let source = match (role.is("user"), agent) {
            (true, None) => PromptSource::Echo,
            (true, Some(_)) => PromptSource::Parent,
            (false, _) => PromptSource::Agent,
        };
        self.held = Some(Held {
            id: id.as_escaped().to_owned(),
            text: String::new(),
            source,
            agent: agent.unwrap_or_default().as_escaped().to_owned(),
        });
        line.structure(PIECES, sink);
    }

    /// Whether it is what is held.
    pub(super) fn is_held(&self, id: Str<'_>) -> bool {
        self.held.as_ref().is_some_and(|held| held.id == id.as_escaped())
    }

    /// More of it.
    pub(super) fn hear<'a>(&mut self, text: Str<'a>, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        self.add_to_held(Some(text));
        let (cx, agent) = (line.cx, line.agent);
        line.origin = self.thread(agent).origin(agent, line.origin, &cx);
        line.structure(PIECES, sink);
    }

    pub(super) fn add_to_held(&mut self, text: Option<Str<'_>>) {
        if let Some((held, text)) = self.held.as_mut().zip(text) {
            held.text.push_str(text.as_escaped());
        }
    }

    /// It is whole, and this line says so.
    pub(super) fn told<'a>(&mut self, line: &mut Line<'a>, sink: &mut dyn Sink<'a>) {
        let Some(held) = self.held.take() else { return };
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
        tell(&held, origin, fields, &cx, sink);
    }

    /// It is over, for something else follows.
    pub(super) fn end_prompt<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(held) = self.held.take() else { return };
        let said = (!held.agent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&held.agent)));
        let origin = self.thread(said).origin(None, Origin::default(), cx);
        tell(&held, origin, &[], cx, sink);
    }

    /// The prompt that a run is asked for with: what the user has said behind the last answer.
    pub(super) fn asked<'a>(&mut self, input: Option<Raw<'a>>, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(messages) = input.and_then(|input| input.get("messages")) else {
            return;
        };
        let mut last = Vec::new();
        for message in messages.elements() {
            let id = message.get("id").and_then(Raw::string);
            let is_new = id.is_none_or(|id| self.see(Seen::Message, id));
            match message.get("role").and_then(Raw::string) {
                Some(role) if role.is("user") => last.extend(is_new.then_some(message)),
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

fn tell<'a>(held: &Held, origin: Origin<'a>, fields: Fields<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
    let prompt = cx.keep(Prompt {
        content: Content::Text(Str::trusted(cx.arena.alloc_str(&held.text))),
        source: held.source,
    });
    sink.event(&Event {
        origin,
        kind: Kind::Prompt(prompt),
        fields,
    });
}
