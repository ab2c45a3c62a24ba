//! Sessions to events.

use super::INFO;
use super::fields::knows;
use super::message::{Message, Said, created};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode, stray};
use crate::event::{
    At, Block, Content, Event, Kind, Origin, OutcomeKind, Prompt, PromptSource, Reply, RoundEnd, RoundStart, Session, Sink, Stop, StopKind, Time,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::opencode::decode::why;
use crate::opencode::parts::{image, usage};
use crate::store::{Child, Turn};

/// Reads it.
#[derive(Debug, Default)]
pub struct Decoder {
    session: String,
    /// How a turn ended is worked out of its last message.
    turn: Turn,
    /// What is read is the session of a subagent, which works for this call.
    child: Option<Child>,
    /// The turn has begun with what the program says in the user's place, and nobody has asked or replied.
    only_told: bool,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let mut members = Members::read(&mut at, cx)?;
        let end = at.position();
        let list = |name| members.get(name).filter(|list| list.shape() == Some(Shape::Array));
        let (messages, parts) = (list("messages"), list("parts"));
        let info = members.get("info").and_then(|info| Members::of(info, cx));
        match (info, messages, parts) {
            (Some(info), Some(messages), _) => {
                let id = info.get("id").and_then(Raw::string).ok_or(Error::missing(end, "info/id"))?;
                members.take_raw("info");
                members.take_raw("messages");
                self.enter(id, cx, sink);
                self.opened(info, members, cx, sink);
                for message in messages.elements() {
                    self.message(message, cx, sink);
                }
                // Its messages may stand behind it.
                if messages.elements().next().is_some() {
                    self.end_turn(cx, sink);
                }
            }
            (Some(_), None, Some(_)) => self.message(Raw::trusted(&text[..end]), cx, sink),
            _ => self.unknown(Raw::trusted(&text[..end]), cx, sink),
        }
        Ok(end)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_turn(cx, sink);
    }

    fn subagent(&mut self, of: &Child) {
        self.child = Some(of.clone());
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self {
            child: self.child.take(),
            ..Self::default()
        };
    }
}

impl Decoder {
    /// Something of a session comes: the turn of another one is over.
    fn enter<'a>(&mut self, session: Str<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if session.as_escaped() != self.session {
            self.end_turn(cx, sink);
            session.as_escaped().clone_into(&mut self.session);
        }
    }

    /// What a subagent does is part of the turn of its call.
    fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if self.child.is_none() {
            self.turn.end(&self.session, cx, sink);
        }
    }

    /// Whose something is: of a subagent's session the id is its own.
    fn origin<'a>(&self, session: Option<Str<'a>>, time: Option<Time<'a>>, cx: &Cx<'a>) -> Origin<'a> {
        let origin = Origin {
            session: session.filter(|_| self.child.is_none()),
            time,
            ..Origin::default()
        };
        self.child.as_ref().map_or(origin, |child| child.origin(origin, cx))
    }

    fn unknown<'a>(&self, raw: Raw<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let session = (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session)));
        crate::store::unknown(raw, session, sink);
    }

    fn opened<'a>(&self, mut info: Members<'a>, rest: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let model = info.get("model").and_then(|model| model.get("id")).and_then(Raw::string);
        if self.child.is_some() {
            return;
        }
        let session = cx.keep(Session {
            cwd: info.text("directory", cx),
            version: info.text("version", cx),
            model,
            opens_turn: true,
            ..Session::default()
        });
        let origin = self.origin(info.text("id", cx), created(&info), cx);
        let mut fields = FieldList::new_in(cx.arena);
        info.pour(INFO, knows, &mut fields);
        rest.pour(At::Line, knows, &mut fields);
        sink.event(&Event {
            origin,
            kind: Kind::Session(session),
            fields: fields.into_bump_slice(),
        });
    }

    fn message<'a>(&mut self, raw: Raw<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let opened = Members::of(raw, cx).and_then(|mut rest| {
            let info = Members::of(rest.take_raw("info")?, cx)?;
            Some((info, rest))
        });
        let Some((mut info, mut rest)) = opened else {
            return self.unknown(raw, cx, sink);
        };
        let Some(role) = info
            .get("role")
            .and_then(Raw::string)
            .filter(|role| role.is("user") || role.is("assistant"))
        else {
            return self.unknown(raw, cx, sink);
        };
        info.word("role", cx);
        let session = info.text("sessionID", cx);
        if let Some(session) = session {
            self.enter(session, cx, sink);
        }
        let session = session.or_else(|| (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session))));
        let message = Message {
            cx: *cx,
            id: info.get("id").and_then(Raw::string),
            origin: self.origin(session, created(&info), cx),
            info,
            parts: rest.shaped("parts", Shape::Array, cx),
            rest,
        };
        if role.is("user") {
            self.prompt(message, sink);
        } else {
            self.answer(message, sink);
        }
    }

    fn prompt<'a>(&mut self, mut message: Message<'a>, sink: &mut dyn Sink<'a>) {
        let cx = message.cx;
        let parts = || message.parts.into_iter().flat_map(Raw::elements);
        let kind_of = |raw: Raw<'a>| raw.get("type").and_then(Raw::string).unwrap_or_default();
        let is_users = |raw: Raw<'a>| match kind_of(raw).as_escaped() {
            "text" => raw.get("synthetic").and_then(Raw::bool) != Some(true),
            // That the conversation is to be made shorter.
            kind => kind != "compaction",
        };
        // The program says something too in the user's place, and goes on.
        let by_program = parts().next().is_some() && !parts().any(is_users);
        if by_program {
            self.only_told |= !self.turn.is_open();
        } else if !std::mem::take(&mut self.only_told) {
            self.end_turn(&cx, sink);
        }
        self.turn.goes_on();
        let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
        for raw in parts() {
            let kind = kind_of(raw);
            let text = message.part(raw, "text").filter(|_| kind.is("text")).and_then(|mut part| {
                let text = part.text("text")?;
                Some(Block::Text {
                    text,
                    fields: part.rest().into_bump_slice(),
                })
            });
            blocks.push(text.or_else(|| image(raw)).unwrap_or(Block::Other { kind, raw }));
        }
        let prompt = cx.keep(Prompt {
            content: Content::Blocks(blocks.into_bump_slice()),
            source: match self.child {
                Some(_) => PromptSource::Parent,
                None if by_program => PromptSource::Agent,
                None => PromptSource::Host,
            },
        });
        let fields = message.fields(FieldList::new_in(cx.arena));
        sink.event(&Event {
            origin: message.origin,
            kind: Kind::Prompt(prompt),
            fields,
        });
    }

    /// A reply of the model: a round.
    fn answer<'a>(&mut self, mut message: Message<'a>, sink: &mut dyn Sink<'a>) {
        self.only_told = false;
        let (cx, origin) = (message.cx, message.origin);
        let error = message.info.get("error").filter(|error| error.shape() == Some(Shape::Object));
        let finish = message.info.get("finish").and_then(Raw::string);
        let tokens = usage(&message.info, &cx);
        let cost = message.info.get("cost").and_then(Raw::f64);
        let id = message.info.text("id", &cx);
        let start = cx.keep(RoundStart {
            id,
            model: message.info.text("modelID", &cx),
            ..RoundStart::default()
        });
        let mut said = Said {
            id,
            blocks: bumpalo::collections::Vec::new_in(cx.arena),
            end: None,
            cost: None,
            denied: false,
        };
        let mut parts = message.parts.into_iter().flat_map(Raw::elements).peekable();
        let mut fields = FieldList::new_in(cx.arena);
        // The first part says no more than that a round begins.
        let first = parts.next_if(|raw| raw.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("step-start")));
        if let Some(part) = first.and_then(|raw| message.part(raw, "step-start")) {
            fields.extend_from_slice(&part.rest());
        }
        let fields = message.fields(fields);
        sink.event(&Event {
            origin,
            kind: Kind::RoundStart(start),
            fields,
        });
        for raw in parts {
            said.part(raw, &message, sink);
        }
        let (stop, usage) = said.end.unwrap_or((finish.map(Stop::read), tokens));
        if said.end.is_none() {
            let end = cx.keep(RoundEnd {
                stop,
                usage,
                abandoned_from: None,
            });
            sink.event(&Event::new(origin, Kind::RoundEnd(end)));
        }
        self.turn.reply(&Reply {
            id,
            blocks: said.blocks.into_bump_slice(),
            stop,
            usage,
            ..Reply::default()
        });
        self.turn.cost(cost.or(said.cost));
        if said.denied && stop.is_none_or(|stop| stop.kind == StopKind::Tools) {
            self.turn.ends_as(OutcomeKind::Cancelled);
        }
        if let Some(error) = error {
            let name = error.get("name").and_then(Raw::string).unwrap_or_default();
            let message = error.get("data").and_then(|data| data.get("message")).and_then(Raw::string);
            let error = message.unwrap_or(name);
            self.turn.failed(error);
            self.turn.ends_as(why(name, message));
            self.turn.keeps(error, &cx);
        }
    }
}
