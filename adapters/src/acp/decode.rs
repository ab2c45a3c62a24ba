//! Messages to events: who says one, and what it is.

use bumpalo::Bump;

use super::answers::{Asked, Method, Opens, Question};
use super::calls::Calls;
use super::facts::{Known, declared};
use super::fields::knows;
use super::{PARAMS, RECORDED, TOOL_CALL};
use crate::chat::{FieldList, Members};
use crate::codec::{Cx, Decode};
use crate::elsewhere::Elsewhere;
use crate::event::{
    At, Block, Content, ControlKind, Event, Fields, Input, InputKind, Kind, Media, Notice, Origin, Outcome, OutcomeKind, Permission, Prompt,
    PromptSource, Request, Sink, Topic, Withdraw,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// Reads both directions of a conversation.
#[derive(Debug, Default)]
pub struct Decoder {
    /// What the host has asked and the agent has not answered, and the other way round.
    pub(super) host_asked: Asked,
    pub(super) agent_asked: Asked,
    /// The question of the host's that the last message answered: where another session begins with it, it is read once more.
    pub(super) last: Option<(String, Question)>,
    /// What was asked in lines of other sessions that were set aside.
    pub(super) elsewhere: Elsewhere,
    /// How many questions there were: of two with one id the later one is answered.
    count: u64,
    /// The session that the last message named.
    pub(super) session: String,
    pub(super) cwd: String,
    /// The session that began in this log: what an agent that goes on with it says again stands here already.
    pub(super) begun: String,
    pub(super) facts: Known,
    /// Prompts that have no outcome yet.
    pub(super) turns: u32,
    /// The log has prompts of the host.
    pub(super) prompted: bool,
    pub(super) turn: Turn,
    pub(super) calls: Calls,
    /// How many plans were shown.
    pub(super) plans: u64,
    /// US dollars so far.
    pub(super) cost: String,
}

/// What of a turn has been said.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// A reply has begun.
    pub(super) round: bool,
    /// A call of it has its result.
    pub(super) resulted: bool,
    /// One that the agent has made itself: what it did by its host may be told before the model has said all.
    pub(super) ran: bool,
    /// The text or thought that comes in pieces.
    pub(super) open: Option<Open>,
    /// The index of the next block.
    pub(super) next: u32,
    /// Anything was said.
    pub(super) said: bool,
    /// It comes from an earlier process, and nobody says how it ended.
    pub(super) replayed: bool,
    /// It began with what the user said, not with a prompt; the id of that message, if it has one.
    pub(super) heard: Option<String>,
    pub(super) cancelled: bool,
}

#[derive(Debug)]
pub(super) struct Open {
    pub(super) index: u32,
    pub(super) thinking: bool,
    pub(super) message: String,
}

/// A message, opened.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) cx: Cx<'a>,
    /// What is left of what a recorder wrapped around it.
    recorded: Members<'a>,
    /// What is left of the message.
    pub(super) message: Members<'a>,
    /// What is left of its parameters.
    pub(super) params: Members<'a>,
    /// What is asked or told; an answer says none.
    method: Option<Str<'a>>,
    pub(super) session: Option<Str<'a>>,
    /// It says the version of JSON-RPC as everybody spells it.
    is_plain: bool,
}

/// What only hosts ask and say, besides what begins with `session/`.
const HOST_SAYS: [&str; 5] = ["initialize", "authenticate", "logout", "auth/", "providers/"];
/// What only agents ask and say.
pub(super) const AGENT_SAYS: [&str; 5] = ["session/update", "session/request_permission", "fs/", "terminal/", "elicitation/"];

/// What is opened of a line: the message, and what it says.
const OPENED: [&str; 5] = ["msg", "params", "result", "update", "content"];

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            sink.event(&Event::new(Origin::default(), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &OPENED, cx)?;
        let used = at.position();
        if self.is_in_turn() && sink.sets_aside(&mut || self.others(&members, cx)) {
            return Ok(used);
        }
        let Some((line, by_host)) = Line::open(&text[..used], members, cx) else {
            sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(&text[..used]))));
            return Ok(used);
        };
        self.last = None;
        if line.is_own(by_host) {
            sink.own();
        }
        match line.method {
            Some(method) => self.call_or_notice(line, method, by_host, sink)?,
            None => self.answer(line, by_host, sink)?,
        }
        Ok(used)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.tell_calls(cx, sink);
        self.end_replayed(cx, sink);
    }

    /// Turns that are said again end without a word.
    fn is_in_turn(&self) -> bool {
        self.turns > 0 || self.turn.said && !self.turn.replayed
    }

    fn is_others(&mut self, text: &str) -> bool {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        Members::read_along(&mut Cursor::new(text), &OPENED, &cx).is_ok_and(|members| self.others(&members, &cx).is_some())
    }

    fn own_sessions(&self, tell: &mut dyn FnMut(&str)) {
        tell(&self.session);
    }

    /// Questions that wait for their answer are those of the same host.
    fn next_session(&mut self, _to: &str) {
        if let Some((id, question)) = self.last.take() {
            self.host_asked.add(&id, question);
        }
        *self = Self {
            host_asked: std::mem::take(&mut self.host_asked),
            agent_asked: std::mem::take(&mut self.agent_asked),
            elsewhere: std::mem::take(&mut self.elsewhere),
            count: self.count,
            prompted: self.prompted,
            ..Self::default()
        };
    }
}

impl<'a> Line<'a> {
    /// The message of a line, and who says it where a recorder tells; `None` if it is none.
    fn open(text: &'a str, mut members: Members<'a>, cx: &Cx<'a>) -> Option<(Self, Option<bool>)> {
        let mut recorded = Members::new(cx);
        let mut by_host = None;
        if let (Some(dir), Some(inner)) = (members.get("dir").and_then(Raw::string), members.get("msg")) {
            by_host = Some(match dir.as_escaped() {
                "c2a" => true,
                "a2c" => false,
                _ => return None,
            });
            let message = members.inside(inner, cx)?;
            members.take_raw("msg");
            members.word("dir", cx);
            recorded = std::mem::replace(&mut members, message);
        }
        let method = members.get("method").and_then(Raw::string);
        let answers = || members.get("id").is_some() && (members.get("result").is_some() || members.get("error").is_some());
        if method.is_none() && !answers() {
            return None;
        }
        let mut line = Self {
            text,
            cx: *cx,
            recorded,
            message: members,
            params: Members::new(cx),
            method,
            session: None,
            is_plain: false,
        };
        let version = line.message.get("jsonrpc").and_then(Raw::string);
        line.is_plain = version.is_some_and(|version| version.as_escaped() == "2.0");
        if version.is_some_and(|version| version.is("2.0")) {
            line.message.word("jsonrpc", cx);
        }
        let params = line
            .message
            .get("params")
            .filter(|_| method.is_some())
            .and_then(|params| line.message.inside(params, cx));
        if let Some(params) = params.filter(|params| !params.is_empty()) {
            line.message.take_raw("params");
            line.params = params;
            line.session = line.params.text("sessionId", cx);
        }
        Some((line, by_host))
    }

    /// Whether it is no other protocol's: news of a session, or nothing but a recorded message.
    fn is_own(&self, by_host: Option<bool>) -> bool {
        let is_recorded = by_host.is_some() && self.recorded.len() == usize::from(self.recorded.get("ms").is_some());
        let is_news = self.method.is_some_and(|method| method.as_escaped() == "session/update");
        self.is_plain && (is_recorded || is_news && self.params.get("update").is_some())
    }

    pub(super) fn missing(&self, member: &'static str) -> Error {
        Error::missing(self.text.len(), member)
    }

    /// The id of a message, without quotes.
    pub(super) fn id(&self) -> Option<Str<'a>> {
        let id = self.message.get("id")?;
        id.string()
            .or_else(|| (id.shape() == Some(Shape::Number)).then(|| Str::trusted(id.as_str())))
    }

    pub(super) fn fields(&self) -> FieldList<'a> {
        FieldList::new_in(self.cx.arena)
    }

    /// What is left of the line behind other fields.
    pub(super) fn rest(self, mut fields: FieldList<'a>) -> Fields<'a> {
        self.params.pour(PARAMS, knows, &mut fields);
        self.message.pour(At::Line, knows, &mut fields);
        self.recorded.pour(RECORDED, knows, &mut fields);
        fields.into_bump_slice()
    }

    /// The same where the event says the id.
    fn rest_without_id(mut self, fields: FieldList<'a>) -> Fields<'a> {
        if self.id().is_some() {
            self.message.take_raw("id");
        }
        self.rest(fields)
    }
}

impl Decoder {
    pub(super) fn origin<'a>(&self, cx: &Cx<'a>) -> Origin<'a> {
        let known = (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session)));
        Origin {
            session: known,
            ..Origin::default()
        }
    }

    /// The session that the line names, or the one that it is about.
    pub(super) fn origin_of<'a>(&mut self, line: &Line<'a>) -> Origin<'a> {
        if let Some(session) = line.session {
            session.as_escaped().clone_into(&mut self.session);
            return Origin {
                session: Some(session),
                ..Origin::default()
            };
        }
        self.origin(&line.cx)
    }

    fn call_or_notice<'a>(&mut self, mut line: Line<'a>, method: Str<'a>, by_host: Option<bool>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let name = method.unescape();
        let asks = line.message.get("id").is_some_and(|id| !id.is_null());
        let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
        let by_host = by_host.unwrap_or_else(|| match () {
            () if begins(&AGENT_SAYS) => false,
            () if begins(&HOST_SAYS) || name.starts_with("session/") => true,
            // Who asks in words of their own while a prompt waits is the agent.
            () => asks && self.turns == 0,
        });
        line.message.word("method", &cx);
        if name == "initialize" && by_host {
            // Another conversation begins.
            self.finish(&cx, sink);
            *self = Self {
                begun: std::mem::take(&mut self.begun),
                ..Self::default()
            };
        }
        match (&*name, by_host, asks) {
            ("session/update", false, false) => self.update(line, sink),
            ("session/prompt", true, true) => self.prompt(line, sink),
            ("session/request_permission", false, true) => self.permission(line, method, sink),
            ("session/cancel", true, false) => {
                self.turn.cancelled = true;
                let origin = self.origin_of(&line);
                let kind = InputKind::Cancel { reason: None };
                let fields = line.fields();
                sink.input(&Input {
                    origin,
                    kind,
                    fields: line.rest(fields),
                });
                Ok(())
            }
            ("$/cancel_request", ..) => {
                self.withdraw(line, by_host, sink);
                Ok(())
            }
            (_, _, true) => {
                self.request(line, method, by_host, sink);
                Ok(())
            }
            (_, false, false) => {
                let origin = self.origin_of(&line);
                let notice = cx.keep(Notice {
                    name: method,
                    topic: Topic::Other,
                    message: None,
                    data: None,
                });
                let fields = line.fields();
                sink.event(&Event {
                    origin,
                    kind: Kind::Notice(notice),
                    fields: line.rest(fields),
                });
                Ok(())
            }
            (_, true, false) => {
                sink.input(&Input {
                    origin: self.origin_of(&line),
                    kind: InputKind::Unknown(Raw::trusted(line.text)),
                    fields: &[],
                });
                Ok(())
            }
        }
    }

    fn ask(&mut self, line: &Line<'_>, by_host: bool, question: Question) {
        let asked = if by_host { &mut self.host_asked } else { &mut self.agent_asked };
        if let Some(id) = line.message.get("id") {
            self.elsewhere.take(!by_host, id.as_str());
            self.count += 1;
            asked.add(id.as_str(), Question { at: self.count, ..question });
        }
    }

    fn prompt<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let Some(prompt) = line.params.shaped("prompt", Shape::Array, &cx) else {
            return Err(line.missing("params/prompt"));
        };
        let origin = self.origin_of(&line);
        self.tell_calls(&cx, sink);
        self.end_block(origin, sink);
        self.end_replayed(&cx, sink);
        self.turn = Turn::default();
        self.turns += 1;
        self.prompted = true;
        let question = Question {
            session: self.session.clone(),
            ..Question::of(Method::Prompt)
        };
        self.ask(&line, true, question);
        let prompt = cx.keep(Prompt {
            content: content(prompt, &cx),
            source: PromptSource::Host,
        });
        let fields = line.fields();
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(prompt),
            fields: line.rest(fields),
        });
        Ok(())
    }

    /// Anything that waits for an answer, but for prompts and permissions.
    fn request<'a>(&mut self, line: Line<'a>, method: Str<'a>, by_host: bool, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        // Not each names the session that is spoken of: one may be closed, or opened.
        let origin = match line.session {
            Some(session) => Origin {
                session: Some(session),
                ..Origin::default()
            },
            None => self.origin(&cx),
        };
        let name = method.unescape();
        let opens = Opens::read(&name).filter(|_| by_host);
        let mut question = Question::of(opens.map_or(Method::Other, Method::Session));
        origin.session.unwrap_or_default().as_escaped().clone_into(&mut question.session);
        if let Some(cwd) = line.params.get("cwd").and_then(Raw::string).filter(|_| opens.is_some()) {
            cwd.as_escaped().clone_into(&mut question.cwd);
        }
        if by_host {
            question.change = self.facts.change(&name, &line);
            if opens.is_some() {
                self.facts.agents = declared(&line);
            }
        }
        if let Some(trace) = cx.trace.filter(|_| opens.is_some()) {
            trace.merged("the folder is told with the session, when it is open");
        }
        self.keep_change(&line, &mut question);
        self.ask(&line, by_host, question);
        let kind = match &*name {
            "elicitation/create" => ControlKind::Confirm,
            _ => ControlKind::Other,
        };
        let request = cx.keep(Request {
            id: line.id(),
            subtype: method,
            kind,
            permission: None,
        });
        let fields = line.fields();
        let fields = line.rest_without_id(fields);
        match by_host {
            true => sink.input(&Input {
                origin,
                kind: InputKind::Request(request),
                fields,
            }),
            false => sink.event(&Event {
                origin,
                kind: Kind::Request(request),
                fields,
            }),
        }
    }

    /// It may be the first that is said of the call.
    fn permission<'a>(&mut self, mut line: Line<'a>, method: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        // Version 2 says what it is about in an object of its own.
        let mut subject = line.params.get("subject").and_then(|subject| Members::of(subject, &cx));
        let call = match &mut subject {
            Some(subject) => subject.shaped("toolCall", Shape::Object, &cx),
            None => line.params.shaped("toolCall", Shape::Object, &cx),
        };
        let origin = self.origin_of(&line);
        let mut question = Question::of(Method::Permission);
        question.session.clone_from(&self.session);
        question.options = line
            .params
            .get("options")
            .into_iter()
            .flat_map(Raw::elements)
            .filter_map(option)
            .collect();
        let mut fields = line.fields();
        let mut permission = Permission {
            name: Str::trusted("unknown"),
            ..Permission::default()
        };
        if let Some(mut call) = call.and_then(|call| Members::of(call, &cx)) {
            let Some(id) = call.text("toolCallId", &cx) else {
                return Err(line.missing("params/toolCall/toolCallId"));
            };
            id.as_escaped().clone_into(&mut question.call);
            let before = self.calls.known(id);
            self.begin_call(id, origin, sink);
            self.tell_before(id, &cx, sink);
            self.calls.hear(id, &call);
            self.tell_call(id, Some(&call), &[], origin, &cx, sink);
            permission = self.calls.told(id, &call, &cx);
            if self.calls.takes_input(id, &before) {
                call.take_raw("rawInput");
            }
            call.pour(TOOL_CALL, knows, &mut fields);
        }
        if let Some(subject) = subject {
            line.params.take_raw("subject");
            subject.pour(At::Part("/params/subject"), knows, &mut fields);
        }
        self.ask(&line, false, question);
        let request = cx.keep(Request {
            id: line.id(),
            subtype: method,
            kind: ControlKind::CanUseTool,
            permission: Some(cx.keep(permission)),
        });
        sink.event(&Event {
            origin,
            kind: Kind::Request(request),
            fields: line.rest_without_id(fields),
        });
        Ok(())
    }

    fn withdraw<'a>(&mut self, mut line: Line<'a>, by_host: bool, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        let id = line.params.get("requestId");
        // Numbers and texts are ids alike.
        let id = id.and_then(|id| {
            id.string()
                .or_else(|| (id.shape() == Some(Shape::Number)).then(|| Str::trusted(id.as_str())))
        });
        if id.is_some() {
            line.params.take("requestId", &cx);
        }
        let origin = self.origin_of(&line);
        let withdraw = Withdraw { id };
        let fields = line.fields();
        let fields = line.rest(fields);
        match by_host {
            true => sink.input(&Input {
                origin,
                kind: InputKind::Withdraw(withdraw),
                fields,
            }),
            false => sink.event(&Event {
                origin,
                kind: Kind::Withdraw(withdraw),
                fields,
            }),
        }
    }

    /// Turns that were only said again are over. Nobody says how they ended.
    pub(super) fn end_replayed<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if std::mem::take(&mut self.turn.replayed) {
            self.end_untold(cx, sink);
        }
    }

    /// The turn is over, and nobody says how it ended.
    pub(super) fn end_untold<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.origin(cx);
        self.end_block(origin, sink);
        self.turn = Turn::default();
        self.calls.end_turn();
        let outcome = cx.keep(Outcome {
            synthetic: true,
            ..Outcome::new(OutcomeKind::Success)
        });
        sink.event(&Event::new(origin, Kind::Outcome(outcome)));
    }
}

/// Blocks of content. One text alone is a text.
pub(super) fn content<'a>(list: Raw<'a>, cx: &Cx<'a>) -> Content<'a> {
    let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
    for raw in list.elements() {
        blocks.push(block(raw, cx));
    }
    match blocks.as_slice() {
        [Block::Text { text, fields: [] }] => Content::Text(*text),
        _ => Content::Blocks(blocks.into_bump_slice()),
    }
}

pub(super) fn block<'a>(raw: Raw<'a>, cx: &Cx<'a>) -> Block<'a> {
    block_of(raw, Members::of(raw, cx), cx)
}

/// The same of one that was opened, if it is an object.
pub(super) fn block_of<'a>(raw: Raw<'a>, members: Option<Members<'a>>, cx: &Cx<'a>) -> Block<'a> {
    let mut members = members.unwrap_or_else(|| Members::new(cx));
    let kind = members.get("type").and_then(Raw::string).unwrap_or_default();
    if kind.is("text")
        && let Some(text) = members.text("text", cx)
    {
        members.word("type", cx);
        let mut fields = FieldList::new_in(cx.arena);
        members.pour(At::Block(0), knows, &mut fields);
        return Block::Text {
            text,
            fields: fields.into_bump_slice(),
        };
    }
    if kind.is("resource")
        && let Some(text) = members.find(&["resource", "text"]).and_then(Raw::string)
    {
        cx.took(kind.as_escaped());
        return Block::Text { text, fields: &[] };
    }
    match kind.as_escaped() {
        "image" | "audio" => Block::Media(Media { kind, raw }),
        "resource" if members.find(&["resource", "blob"]).is_some() => Block::Media(Media { kind, raw }),
        _ => Block::Other { kind, raw },
    }
}

/// An answer that may be chosen, and whether it permits.
fn option(option: Raw<'_>) -> Option<(String, bool)> {
    let id = option.get("optionId")?.string()?;
    let kind = option.get("kind")?.string()?;
    Some((id.as_escaped().to_owned(), kind.as_escaped().starts_with("allow")))
}
