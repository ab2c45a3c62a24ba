//! What the agent says: canonical events, written as `agentglot:events` for the session to read.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::clock::now_iso;
use crate::control_requests::Question;
use crate::model::message::{Call, Part};
use crate::permissions::Decision;
use crate::persona::host::ResultForm;
use crate::persona::{HostPersona, Told};
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::event::{
    Agent, At, Block, CommandResult, Content, Detail, DetailShape, Event, Field, Kind, Media, Notice, Origin, Outcome, Permission, Prompt,
    PromptSource, Reply, Request, Response, ResultStatus, Session, Time, ToolCall, ToolProgress, ToolResult, Topic, Withdraw,
};
use agentglot_adapters::raw::json::{Raw, Str, on_one_line};
use agentglot_adapters::raw::live::{Manner, Speaker};

/// Says what happens in one session. Clones are the same events.
#[derive(Clone, Debug)]
pub(crate) struct EventWriter {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    speaker: RefCell<Speaker>,
    out: RefCell<Vec<u8>>,
    wake: Notify,
    /// The session's id and the turn's, each as the body of a JSON string.
    session: RefCell<String>,
    turn: RefCell<String>,
    /// How it speaks.
    persona: &'static dyn HostPersona,
    /// Prompts that were answered without an outcome.
    answered: Cell<usize>,
}

/// The subagent that speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunningSubagent {
    /// The call that began it.
    pub call: String,
    /// Its own id.
    pub id: String,
    /// The kind of agent.
    pub kind: String,
    /// Its task.
    pub task: String,
    /// When it began.
    pub begun: Option<Instant>,
}

/// What is told of a call that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done<'a> {
    /// The call.
    pub call: &'a Call,
    /// How it went.
    pub status: ResultStatus,
    /// What the model reads.
    pub content: &'a [Part],
    /// The typed form.
    pub detail: Option<&'a (DetailShape, Value)>,
    /// The line's id.
    pub id: &'a str,
    /// Who has decided whether it may run.
    pub decision: Option<Decision>,
}

impl EventWriter {
    /// Has said nothing yet, to a host that hears it so.
    pub(crate) fn new(persona: &'static dyn HostPersona) -> Self {
        let format = Format::from(Dialect::Agentglot);
        let speaker = Speaker::new(Manner {
            native_tools: false,
            partial: true,
            ..Manner::new(Dialect::Agentglot, format)
        });
        Self {
            inner: Rc::new(Inner {
                speaker: RefCell::new(speaker),
                out: RefCell::default(),
                wake: Notify::new(),
                session: RefCell::default(),
                turn: RefCell::default(),
                persona,
                answered: Cell::new(0),
            }),
        }
    }

    /// From here on it is this session.
    pub(crate) fn set_session(&self, id: &str) {
        *self.inner.session.borrow_mut() = body(id);
    }

    /// From here on it is this turn.
    pub(crate) fn set_turn(&self, id: &str) {
        *self.inner.turn.borrow_mut() = body(id);
    }

    /// The turn.
    pub(crate) fn turn(&self) -> String {
        self.inner.turn.borrow().clone()
    }

    /// Takes what was said.
    pub(crate) fn take(&self, into: &mut Vec<u8>) -> bool {
        let mut out = self.inner.out.borrow_mut();
        let any = !out.is_empty();
        into.append(&mut out);
        any
    }

    /// The prompt is answered, and there will be no outcome.
    pub(crate) fn answered(&self) {
        self.inner.answered.set(self.inner.answered.get() + 1);
        self.inner.wake.notify_one();
    }

    /// Whether [`Self::take_answered`] has something to say.
    pub(crate) fn has_answered(&self) -> bool {
        self.inner.answered.get() > 0
    }

    /// Whether one more prompt was answered in this way.
    pub(crate) fn take_answered(&self) -> bool {
        let left = self.inner.answered.get();
        self.inner.answered.set(left.saturating_sub(1));
        left > 0
    }

    /// Waits until something was said.
    pub(crate) async fn said(&self) {
        self.inner.wake.notified().await;
    }

    /// Wakes whoever waits for something to be said.
    pub(crate) fn nudge(&self) {
        self.inner.wake.notify_one();
    }

    /// Says an event as it is, in the name of the session, the turn and whoever speaks.
    pub(crate) fn say(&self, kind: Kind<'_>, subagent: Option<&RunningSubagent>, id: Option<&str>) {
        self.say_with(kind, subagent, id, &[], false);
    }

    /// Text of several lines that is none of the protocol's.
    pub(crate) fn lines(&self, text: &str) {
        for line in text.split('\n') {
            self.say(Kind::Noise(line), None, None);
        }
    }

    /// The outcome of a command; `command` may be null.
    pub(crate) fn command(&self, command: &Value, result: &Value) {
        let (command, result) = (Some(command).filter(|c| !c.is_null()).map(Value::to_string), result.to_string());
        let result = CommandResult {
            command: command.as_deref().map(Raw::trusted),
            result: Some(Raw::trusted(&result)),
        };
        self.say(Kind::Command(&result), None, None);
    }

    /// Something beside the conversation, in the name of the turn that is named (the body of a JSON string) or of none.
    pub(crate) fn side(&self, kind: Kind<'_>, turn: Option<&str>) {
        let now = self.inner.turn.replace(turn.unwrap_or_default().to_owned());
        self.say(kind, None, None);
        *self.inner.turn.borrow_mut() = now;
    }

    /// The session's facts, which begin a turn.
    pub(crate) fn session(&self, session: &Session<'_>, added: &[(&str, Value)], id: &str) {
        let keep: Vec<_> = added.iter().map(|(key, value)| (body(key), value.to_string())).collect();
        let place = self.inner.persona.facts().session_members_at;
        let fields: Vec<_> = keep.iter().map(|(key, value)| field(place, key, value)).collect();
        self.say_with(Kind::Session(session), None, Some(id), &fields, false);
    }

    /// A line of the host's dialect as it is.
    pub(crate) fn line(&self, line: &Value) {
        let text = line.to_string();
        self.say(Kind::Unknown(Raw::trusted(&text)), None, None);
    }

    /// A line of type `system`, for hosts that read such lines.
    pub(crate) fn system(&self, subtype: &str, members: &Value) {
        self.typed("system", Some(subtype), members);
    }

    /// A line of this type, for hosts that read such lines.
    fn typed(&self, kind: &str, subtype: Option<&str>, members: &Value) {
        let mut line = Map::new();
        line.insert("type".to_owned(), kind.into());
        line.extend(subtype.map(|subtype| ("subtype".to_owned(), subtype.into())));
        line.extend(members.as_object().cloned().unwrap_or_default());
        line.insert("uuid".to_owned(), line_id().into());
        line.insert("session_id".to_owned(), self.inner.session.borrow().as_str().into());
        self.line(&Value::Object(line));
    }

    /// Something beside the conversation, as the persona has it.
    pub(crate) fn told(&self, told: &Told) {
        match told {
            Told::Line(line) => self.line(line),
            Told::System(subtype, members) => self.system(subtype, members),
            Told::Other(kind, members) => self.typed(kind, None, members),
            Told::Notice { name, topic, message, data } => self.notice(name, *topic, message.as_deref(), data.as_ref()),
        }
    }

    /// A reply that stands for one, with members that only its dialect has.
    pub(crate) fn reply_with(&self, reply: &Reply<'_>, id: &str, added: &[(&str, Value)]) {
        let keep: Vec<_> = added.iter().map(|(key, value)| (body(key), value.to_string())).collect();
        let fields: Vec<_> = keep.iter().map(|(key, value)| field(At::Line, key, value)).collect();
        self.say_with(Kind::Reply(reply), None, Some(id), &fields, false);
    }

    /// Text in the user's role.
    pub(crate) fn prompt(&self, parts: &[Part], source: PromptSource, subagent: Option<&RunningSubagent>, id: &str) {
        self.prompt_with(parts, source, subagent, id, &[]);
    }

    /// What the host has said, again.
    pub(crate) fn echo(&self, parts: &[Part], is_text: bool, id: &str) {
        let say = |content: Content<'_>| {
            let prompt = Prompt {
                content,
                source: PromptSource::Echo,
            };
            self.say_with(Kind::Prompt(&prompt), None, Some(id), &[], true);
        };
        match parts {
            [Part::Text(text)] if is_text => say(Content::Text(Str::trusted(&body(text)))),
            parts => with_blocks(parts, |blocks| say(Content::Blocks(blocks))),
        }
    }

    /// The same with members that only its dialect has.
    pub(crate) fn prompt_with(&self, parts: &[Part], source: PromptSource, subagent: Option<&RunningSubagent>, id: &str, added: &[(&str, Value)]) {
        let keep: Vec<_> = added.iter().map(|(key, value)| (body(key), value.to_string())).collect();
        let fields: Vec<_> = keep.iter().map(|(key, value)| field(At::Line, key, value)).collect();
        with_blocks(parts, |blocks| {
            let content = Content::Blocks(blocks);
            let prompt = Prompt { content, source };
            self.say_with(Kind::Prompt(&prompt), subagent, Some(id), &fields, false);
        });
    }

    /// The result of a call.
    pub(crate) fn result(&self, done: &Done<'_>, subagent: Option<&RunningSubagent>) {
        let input = sound(&done.call.input);
        let (shown, input) = match self.inner.persona.facts().whole_calls {
            Some(told) => told(&done.call.name, &input),
            None => (done.call.name.clone(), input.into_owned()),
        };
        let (id, name) = (body(&done.call.id), body(&shown));
        let detail = done.detail.map(|(shape, value)| (*shape, value.to_string()));
        let failed = done.status != ResultStatus::Success;
        let meta = done
            .decision
            .and_then(|decision| self.inner.persona.decision(&decision, &done.call.id))
            .map(|(name, value)| (name, value.to_string()));
        let fields: Vec<_> = meta.iter().map(|(name, meta)| field(At::Line, name, meta)).collect();
        let form = match done.detail {
            Some((_, detail)) if !failed => self.inner.persona.result_form(detail),
            _ => ResultForm::default(),
        };
        let tell = |content: Content<'_>| {
            let result = ToolResult {
                call: Str::trusted(&id),
                name: Some(Str::trusted(&name)),
                status: done.status,
                content,
                is_error: (failed || form.says_success).then_some(failed),
                detail: detail.as_ref().map(|(shape, raw)| Detail {
                    shape: *shape,
                    raw: Raw::trusted(raw),
                }),
                fields: &[],
                of: Some(ToolCall {
                    id: Str::trusted(&id),
                    name: Str::trusted(&name),
                    kind: Default::default(),
                    input: Raw::trusted(&input),
                    fields: &[],
                }),
            };
            self.say_with(Kind::ToolResult(&result), subagent, Some(done.id), &fields, true);
        };
        match done.content {
            [Part::Text(text)] if !form.is_blocks => tell(Content::Text(Str::trusted(&body(text)))),
            parts => with_blocks(parts, |blocks| tell(Content::Blocks(blocks))),
        }
    }

    /// How far a call is.
    pub(crate) fn progress(
        &self,
        call: &str,
        status: &str,
        content: Option<&Value>,
        confirmation: Option<&Value>,
        subagent: Option<&RunningSubagent>,
    ) {
        let (call, status) = (body(call), body(status));
        let (content, confirmation) = (content.map(Value::to_string), confirmation.map(Value::to_string));
        let progress = ToolProgress {
            call: Str::trusted(&call),
            status: Some(Str::trusted(&status)),
            content: content.as_deref().map(Raw::trusted),
            confirmation: confirmation.as_deref().map(Raw::trusted),
        };
        self.say(Kind::ToolProgress(&progress), subagent, None);
    }

    /// Something about the session.
    pub(crate) fn notice(&self, name: &str, topic: Topic, message: Option<&str>, data: Option<&Value>) {
        let (name, message) = (body(name), message.map(body));
        let data = data.map(Value::to_string);
        let notice = Notice {
            name: Str::trusted(&name),
            topic,
            message: message.as_deref().map(Str::trusted),
            data: data.as_deref().map(Raw::trusted),
        };
        self.say(Kind::Notice(&notice), None, None);
    }

    /// A question for the host.
    pub(crate) fn ask(&self, id: &str, question: &Question) {
        let keep: Vec<_> = question.fields.iter().map(|(key, value)| (body(key), value.to_string())).collect();
        let fields: Vec<_> = keep.iter().map(|(key, value)| field(At::Part("/request"), key, value)).collect();
        let (id, subtype) = (body(id), body(&question.subtype));
        let asked = question.permission.as_ref().map(|asked| {
            let suggestions = asked.suggestions.as_ref().map(Value::to_string);
            (body(&asked.name), body(&asked.call), asked.input.to_string(), suggestions)
        });
        let permission = asked.as_ref().map(|(name, call, input, suggestions)| Permission {
            name: Str::trusted(name),
            call: Some(Str::trusted(call)),
            input: Some(Raw::trusted(input)),
            suggestions: suggestions.as_deref().map(Raw::trusted),
        });
        let request = Request {
            id: Some(Str::trusted(&id)),
            subtype: Str::trusted(&subtype),
            kind: question.kind,
            permission: permission.as_ref(),
        };
        self.say_with(Kind::Request(&request), None, None, &fields, false);
    }

    /// A question is taken back.
    pub(crate) fn withdraw(&self, id: &str) {
        let id = body(id);
        self.say(Kind::Withdraw(Withdraw { id: Some(Str::trusted(&id)) }), None, None);
    }

    /// A request of the host's is refused, with a code that its program may look at.
    pub(crate) fn refuse(&self, id: &str, why: &str, code: &str) {
        let id = body(id);
        let error = serde_json::json!({"message": why, "code": code}).to_string();
        let response = Response {
            id: Some(Str::trusted(&id)),
            ok: false,
            body: None,
            error: Some(Raw::trusted(&error)),
        };
        self.say(Kind::Response(&response), None, None);
    }

    /// An answer to a request of the host's.
    pub(crate) fn respond(&self, id: &str, answer: &Result<Value, String>) {
        let id = body(id);
        let (text, error) = match answer {
            Ok(value) => (value.to_string(), None),
            Err(why) => (String::new(), Some(format!("\"{}\"", body(why)))),
        };
        let response = Response {
            id: Some(Str::trusted(&id)),
            ok: answer.is_ok(),
            body: answer.as_ref().ok().filter(|value| !value.is_null()).map(|_| Raw::trusted(&text)),
            error: error.as_deref().map(Raw::trusted),
        };
        self.say(Kind::Response(&response), None, None);
    }

    /// The turn's end.
    pub(crate) fn outcome(&self, outcome: &Outcome<'_>, added: &[(String, Value)], id: &str) {
        let keep: Vec<_> = added.iter().map(|(key, value)| (body(key), value.to_string())).collect();
        let fields: Vec<_> = keep.iter().map(|(key, value)| field(At::Line, key, value)).collect();
        self.say_with(Kind::Outcome(outcome), None, Some(id), &fields, false);
    }

    fn say_with(&self, kind: Kind<'_>, subagent: Option<&RunningSubagent>, id: Option<&str>, fields: &[Field<'_>], timed: bool) {
        let timed = timed || self.inner.persona.facts().is_timed;
        let session = self.inner.session.borrow();
        let turn = self.inner.turn.borrow();
        let time = if timed { now_iso() } else { String::new() };
        let subagent = subagent.map(|s| [body(&s.call), body(&s.id), body(&s.kind), body(&s.task)]);
        let some = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        let [agent_id, agent_kind, agent_task] = match &subagent {
            Some([_, id, kind, task]) => [some(id), some(kind), some(task)],
            None => [None, None, None],
        };
        let agent = Agent {
            id: agent_id.as_deref().map(Str::trusted),
            name: agent_kind.as_deref().map(Str::trusted),
            task: agent_task.as_deref().map(Str::trusted),
        };
        let origin = Origin {
            session: Some(Str::trusted(&session)).filter(|id| !id.is_empty()),
            id: id.map(Str::trusted),
            parent: subagent.as_ref().map(|[call, ..]| Str::trusted(call)),
            agent: (agent != Agent::default()).then_some(&agent),
            turn: Some(Str::trusted(&turn)).filter(|id| !id.is_empty()),
            time: timed.then(|| Time::Iso(Str::trusted(&time))),
        };
        let event = Event { origin, kind, fields };
        self.inner.speaker.borrow_mut().directly(&event, &mut self.inner.out.borrow_mut());
        self.inner.wake.notify_one();
    }
}

/// Plain text as the body of a JSON string.
pub(crate) fn body(plain: &str) -> String {
    let mut body = String::with_capacity(plain.len());
    Str::escape(plain, &mut body);
    body
}

pub(crate) use crate::ids::line_id;

/// The arguments of a call as an object, also if the model wrote something else.
fn sound(input: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Map<String, Value>>(input) {
        Ok(_) => on_one_line(input),
        Err(_) => Cow::Borrowed("{}"),
    }
}

fn field<'a>(at: At<'a>, key: &'a str, value: &'a str) -> Field<'a> {
    Field {
        at,
        key: Str::trusted(key),
        value: Raw::trusted(value),
        known: true,
    }
}

/// Gives parts as blocks: text and media.
fn with_blocks(parts: &[Part], tell: impl FnOnce(&[Block<'_>])) {
    enum Kept {
        Text(String),
        Media(&'static str, String),
    }
    let kept: Vec<Kept> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(Kept::Text(body(text))),
            Part::Image { media_type, data } => Some(Kept::Media("image", media("image", media_type, data))),
            Part::Document { media_type, data } => Some(Kept::Media("document", media("document", media_type, data))),
            _ => None,
        })
        .collect();
    let blocks: Vec<Block<'_>> = kept
        .iter()
        .map(|kept| match kept {
            Kept::Text(text) => Block::Text {
                text: Str::trusted(text),
                fields: &[],
            },
            Kept::Media(kind, raw) => Block::Media(Media {
                kind: Str::trusted(kind),
                raw: Raw::trusted(raw),
            }),
        })
        .collect();
    tell(&blocks);
}

fn media(kind: &str, media_type: &str, data: &str) -> String {
    serde_json::json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}).to_string()
}
