//! Sessions and turns for serde. What is an event too, or a part of one, is spelled as in `agentglot:events`; what is absent is left out.

use serde_core::ser::SerializeMap;
use serde_core::{Serialize, Serializer};

use super::{Block, Call, Permission, Round, Session, Subagent, Thread, Turn};
use crate::events::{self, ControlKind, Event, Json, Kind, Origin, Reply, Request, RoundStop, Time, ToolCall, Usage};

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::new(serializer)?;
        object.some("id", self.id.as_ref())?;
        object.some("facts", self.facts.as_ref().map(|facts| said(Kind::Session(Box::new(facts.clone())))))?;
        object.list("turns", &self.turns)?;
        object.end()
    }
}

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let notices = |notices: &[events::Notice]| -> Vec<Json> {
            let notices = notices.iter().cloned();
            notices.map(|notice| said(Kind::Notice(Box::new(notice)))).collect()
        };
        let mut object = Object::new(serializer)?;
        object.some("session", self.session.as_ref())?;
        object.some("number", Some(self.number))?;
        object.some("facts", self.facts.as_ref().map(|facts| said(Kind::Session(Box::new(facts.clone())))))?;
        object.some("started", self.started.as_ref().and_then(time))?;
        object.some("ended", self.ended.as_ref().and_then(time))?;
        object.thread(&self.thread)?;
        object.list("strays", &self.strays)?;
        object.list("permissions", &self.permissions)?;
        object.list("retries", &notices(&self.retries))?;
        object.list("compactions", &notices(&self.compactions))?;
        object.list("others", &self.others)?;
        object.some("usage", self.usage.as_ref().and_then(usage))?;
        object.some("session_usage", self.session_usage.as_ref().and_then(usage))?;
        object.some(
            "outcome",
            self.outcome.as_ref().map(|outcome| said(Kind::Outcome(Box::new(outcome.clone())))),
        )?;
        object.end()
    }
}

impl Serialize for Thread {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::new(serializer)?;
        object.thread(self)?;
        object.end()
    }
}

impl Serialize for Round {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Object::new(serializer)?;
        object.some("id", self.id.as_ref())?;
        object.some("model", self.model.as_ref())?;
        object.some("time", self.time.as_ref().and_then(time))?;
        object.list("blocks", &self.blocks)?;
        object.list("retracted", &self.retracted)?;
        object.some("stop", self.stop.as_ref().map(|stop| &stop.word))?;
        object.some("usage", self.usage.as_ref().and_then(usage))?;
        object.some("error", self.error.as_ref())?;
        object.end()
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => block(events::Block::text(text)).serialize(serializer),
            Self::Thinking(thinking) => block(events::Block::Thinking(thinking.clone())).serialize(serializer),
            Self::Other(other) => block(other.clone()).serialize(serializer),
            Self::Call(call) => call.serialize(serializer),
        }
    }
}

impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = ToolCall {
            kind: self.kind,
            ..ToolCall::new(&self.id, &self.name, self.input.clone())
        };
        let progress: Vec<Json> = self
            .progress
            .iter()
            .map(|progress| said(Kind::ToolProgress(Box::new(progress.clone()))))
            .collect();
        let mut object = Object::new(serializer)?;
        for (name, value) in block(events::Block::Call(call)).iter().flat_map(Json::members) {
            object.some(&name, Some(value))?;
        }
        object.some("asked", self.asked.as_ref().and_then(time))?;
        object.some("answered", self.answered.as_ref().and_then(time))?;
        object.some("permission", self.permission.as_ref())?;
        object.list("progress", &progress)?;
        object.some(
            "result",
            self.result.as_ref().map(|result| said(Kind::ToolResult(Box::new(result.clone())))),
        )?;
        object.some("subagent", self.subagent.as_ref())?;
        object.end()
    }
}

impl Serialize for Subagent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let agent = |agent: &events::Agent| {
            let origin = Origin {
                agent: Some(Box::new(agent.clone())),
                ..Origin::default()
            };
            of(origin).get("agent")
        };
        let mut object = Object::new(serializer)?;
        object.some("call", Some(&self.call))?;
        object.some("agent", self.agent.as_ref().and_then(agent))?;
        object.thread(&self.thread)?;
        object.end()
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let asked = Request {
            id: self.id.clone(),
            subtype: "can_use_tool".to_owned(),
            kind: ControlKind::CanUseTool,
            permission: Some(Box::new(self.asked.clone())),
        };
        let mut object = Object::new(serializer)?;
        object.some("asked", Some(said(Kind::Request(Box::new(asked)))))?;
        object.some(
            "answer",
            self.answer.as_ref().map(|answer| said(Kind::Response(Box::new(answer.clone())))),
        )?;
        object.some("withdrawn", self.withdrawn.then_some(true))?;
        object.end()
    }
}

/// An object whose absent members are left out.
struct Object<M>(M);

impl<M: SerializeMap> Object<M> {
    fn new<S: Serializer<SerializeMap = M, Ok = M::Ok, Error = M::Error>>(serializer: S) -> Result<Self, M::Error> {
        serializer.serialize_map(None).map(Self)
    }

    fn some(&mut self, name: &str, value: Option<impl Serialize>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.0.serialize_entry(name, &value))
    }

    fn list(&mut self, name: &str, list: &[impl Serialize]) -> Result<(), M::Error> {
        self.some(name, (!list.is_empty()).then_some(list))
    }

    fn thread(&mut self, thread: &Thread) -> Result<(), M::Error> {
        let prompts = thread.prompts.iter().cloned();
        let prompts: Vec<Json> = prompts.map(|prompt| said(Kind::Prompt(Box::new(prompt)))).collect();
        self.list("prompts", &prompts)?;
        self.list("rounds", &thread.rounds)
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

/// What was said, as an event that says nothing else.
fn said(kind: Kind) -> Json {
    let event = Event {
        origin: Origin::default(),
        kind,
        fields: Vec::new(),
    };
    Json::trusted(event.to_json())
}

/// An event that says nothing but where it belongs.
fn of(origin: Origin) -> Json {
    let event = Event {
        origin,
        kind: Kind::BlockStop(events::BlockStop { index: 0 }),
        fields: Vec::new(),
    };
    Json::trusted(event.to_json())
}

fn time(time: &Time) -> Option<Json> {
    let time = Some(time.clone());
    of(Origin { time, ..Origin::default() }).get("time")
}

fn block(block: events::Block) -> Option<Json> {
    let reply = said(Kind::Reply(Box::new(Reply::new(vec![block]))));
    reply.get("blocks")?.elements().next()
}

fn usage(usage: &Usage) -> Option<Json> {
    let usage = Some(usage.clone());
    said(Kind::RoundStop(Box::new(RoundStop {
        usage,
        ..RoundStop::default()
    })))
    .get("usage")
}
