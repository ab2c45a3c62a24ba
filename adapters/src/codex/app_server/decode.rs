//! Messages to events.

use std::collections::BTreeMap;

use bumpalo::Bump;

use super::calls::OpenCalls;
use super::message::Message;
use super::requests::{About, Ids, by_agent};
use super::said::Round;
use crate::chat::Members;
use crate::codec::{Cx, Decode};
use crate::detect::word;
use crate::elsewhere::{Addressed, Elsewhere};
use crate::event::{
    Agent, Count, Event, Fields, Input, InputKind, Kind, Notice, Origin, Others, Outcome, OutcomeKind, Place, RoundEnd, Scope, Session, Side, Sink,
    Topic, Usage, Withdraw,
};
use crate::json::{Cursor, Error, Raw, Str, on_one_line};

/// Reads it.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The thread of the session.
    pub(super) thread: String,
    /// Threads of agents that calls of it have started, and the calls.
    pub(super) children: Vec<(String, String)>,
    /// Requests without an answer, of either side.
    pub(super) agent_asked: Ids,
    pub(super) host_asked: Ids,
    pub(super) open: OpenCalls,
    pub(super) round: Round,
    /// Calls that the host has denied, and its words.
    pub(super) denied: BTreeMap<String, String>,
    /// How often the plan has changed.
    pub(super) plans: u64,
    /// The session's facts as they were said last.
    facts: Facts,
    /// The host has given the turn a schema of its answer.
    has_schema: bool,
    /// That the conversation was made shorter is the last that was said.
    pub(super) compacted: bool,
    /// A turn of the thread is going on.
    pub(super) in_turn: bool,
    /// Calls that start an agent and do not name its thread yet.
    pub(super) spawning: Vec<String>,
    /// What was asked in lines of other threads that were set aside.
    pub(super) elsewhere: Elsewhere,
    /// The request that the last line answered, and whether the host does: where another session begins with it, it is read once more.
    pub(super) last: Option<(bool, String, About)>,
}

/// What a session is like; each is the body of a JSON string.
#[derive(Clone, Debug, Default)]
struct Facts {
    cwd: Option<String>,
    model: Option<String>,
    version: Option<String>,
}

/// What is opened of a line: the message, what it says, and the thread or the item that it is about.
const OPENED: [&str; 5] = ["msg", "params", "result", "thread", "item"];

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            sink.event(&Event::new(self.here(cx), Kind::Noise(text)));
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let members = Members::read_along(&mut at, &OPENED, cx)?;
        let used = at.position();
        if self.in_turn && sink.sets_aside(&mut || self.others(&members, cx)) {
            return Ok(used);
        }
        let line = Raw::checked(&text[..used]);
        self.last = None;
        let Some(message) = Message::read(line, &members, *cx) else {
            sink.event(&Event::new(self.here(cx), Kind::Unknown(line)));
            return Ok(used);
        };
        if message.is_own {
            sink.own();
        }
        match (message.method, message.id) {
            (Some(method), Some(id)) => self.request(&message, method, id, sink),
            (Some(method), None) if message.side == Side::Host || method.is("initialized") => self.host_request(&message, method, sink),
            (Some(method), None) => self.notification(&message, method, sink)?,
            (None, _) => self.answer(&message, sink),
        }
        Ok(used)
    }

    fn is_in_turn(&self) -> bool {
        self.in_turn
    }

    fn is_others(&mut self, text: &str) -> bool {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        Members::read_along(&mut Cursor::new(text), &OPENED, &cx).is_ok_and(|members| self.others(&members, &cx).is_some())
    }

    fn own_sessions(&self, tell: &mut dyn FnMut(&str)) {
        tell(&self.thread);
        self.children.iter().for_each(|(child, _)| tell(child));
    }

    /// Requests that wait for their answer are those of the same connection.
    fn next_session(&mut self, to: &str) {
        if let Some((by_host, id, about)) = self.last.take() {
            let asked = if by_host { &mut self.agent_asked } else { &mut self.host_asked };
            asked.add(&id, about);
        }
        *self = Self {
            thread: to.to_owned(),
            host_asked: std::mem::take(&mut self.host_asked),
            agent_asked: std::mem::take(&mut self.agent_asked),
            elsewhere: std::mem::take(&mut self.elsewhere),
            ..Self::default()
        };
    }
}

impl Decoder {
    /// The thread that a line is of, if that is another than the one of which a turn is going on, and none of its own.
    fn others<'a>(&mut self, members: &Members<'a>, cx: &Cx<'a>) -> Option<Others> {
        let line = Addressed::of(members, cx);
        let (dir, about) = (line.dir, line.about);
        let thread = || about?.get("thread");
        let named = about
            .and_then(|about| about.get("threadId"))
            .or_else(|| thread()?.get("id"))
            .map_or("", word);
        // As a rule it names the thread of the turn.
        if named == self.thread && !named.is_empty() {
            return None;
        }
        let (id, method) = (line.id(), line.method());
        let is_own = |id: &str| id == self.thread || self.children.iter().any(|(child, _)| child == id);
        if named.is_empty() {
            // An answer.
            let id = id.filter(|_| method.is_empty())?;
            let by_host = match dir {
                "" => line.result().is_some_and(|result| result.get("decision").is_some()),
                dir => dir == "c2s",
            };
            let asked = if by_host { &self.agent_asked } else { &self.host_asked };
            let session = self.elsewhere.take(by_host, id);
            let asked = || Some(asked.thread_of(id).filter(|thread| !is_own(thread))?.to_owned());
            return session.or_else(asked).map(|session| Others { session, parent: None });
        }
        let parent = thread().and_then(|thread| thread.get("parentThreadId")).map_or("", word);
        let begins = !self.spawning.is_empty() && !parent.is_empty() && is_own(parent);
        if is_own(named) || begins {
            return None;
        }
        if let Some(id) = id.filter(|_| !method.is_empty()) {
            self.elsewhere.asks(dir == "s2c" || dir.is_empty() && by_agent(method), id, named);
        }
        Some(Others {
            session: named.to_owned(),
            parent: (!parent.is_empty()).then(|| parent.to_owned()),
        })
    }

    /// Where what names no thread belongs.
    fn here<'a>(&self, cx: &Cx<'a>) -> Origin<'a> {
        Origin {
            session: (!self.thread.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.thread))),
            ..Origin::default()
        }
    }

    /// A turn begins, or goes on; of the first thread that is named, where nothing has named the session.
    pub(super) fn begin_turn(&mut self, message: &Message<'_>) {
        let thread = message.text("threadId").unwrap_or_default().as_escaped();
        if self.thread.is_empty() {
            thread.clone_into(&mut self.thread);
        }
        self.in_turn |= thread == self.thread;
    }

    /// Where a message belongs.
    pub(super) fn origin<'a>(&self, message: &Message<'a>) -> Origin<'a> {
        let cx = &message.cx;
        let thread = message.text("threadId").or_else(|| message.find(&["thread", "id"])?.string());
        let child = thread.and_then(|thread| self.children.iter().find(|(child, _)| child == thread.as_escaped()));
        let turn = message.text("turnId").or_else(|| message.find(&["turn", "id"])?.string());
        Origin {
            session: match (child, thread) {
                (None, Some(thread)) => Some(thread),
                _ => self.here(cx).session,
            },
            turn,
            time: message.time,
            parent: child.map(|(_, call)| Str::trusted(cx.arena.alloc_str(call))),
            agent: child.map(|_| {
                cx.keep(Agent {
                    id: thread,
                    ..Agent::default()
                })
            }),
            ..Origin::default()
        }
    }

    /// What the line says.
    pub(super) fn tell<'a>(&self, message: &Message<'a>, kind: Kind<'a>, sink: &mut dyn Sink<'a>) {
        self.tell_with(message, kind, message.fields(), sink);
    }

    /// What the line says too.
    pub(super) fn tell_with<'a>(&self, message: &Message<'a>, kind: Kind<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.origin(message);
        sink.event(&Event { origin, kind, fields });
    }

    pub(super) fn input<'a>(&self, message: &Message<'a>, kind: InputKind<'a>, sink: &mut dyn Sink<'a>) {
        sink.input(&Input {
            origin: self.origin(message),
            kind,
            fields: message.fields(),
        });
    }

    pub(super) fn notice<'a>(&self, message: &Message<'a>, topic: Topic, text: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let notice = message.cx.keep(Notice {
            name: message.method.unwrap_or_default(),
            topic,
            message: text,
            data: None,
        });
        self.tell(message, Kind::Notice(notice), sink);
    }

    /// The conversation was made shorter, which an item and a message of its own say.
    pub(super) fn compaction<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        let again = std::mem::replace(&mut self.compacted, true);
        self.notice(message, if again { Topic::Status } else { Topic::Compaction }, None, sink);
    }

    fn notification<'a>(&mut self, message: &Message<'a>, method: Str<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = method.unescape();
        match &*name {
            "thread/started" => self.thread_started(message, sink)?,
            "turn/started" => {
                self.begin_turn(message);
                self.notice(message, Topic::Status, None, sink);
            }
            "turn/completed" => self.completed(message, sink)?,
            "item/started" | "item/completed" => self.item(message, name.ends_with("completed"), sink)?,
            "item/agentMessage/delta" | "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" | "item/reasoning/summaryPartAdded" => {
                self.piece(message, &name, sink)?;
            }
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" | "item/mcpToolCall/progress" => self.progress(message, sink)?,
            "turn/plan/updated" => self.plan(message, sink)?,
            "thread/tokenUsage/updated" => self.tokens(message, sink)?,
            "thread/compacted" => self.compaction(message, sink),
            "serverRequest/resolved" => self.resolved(message, sink),
            "error" => {
                let Some(text) = message.find(&["error", "message"]).and_then(Raw::string) else {
                    return Err(message.missing("params/error/message"));
                };
                let again = message.params.get("willRetry").and_then(Raw::bool) == Some(true);
                if again {
                    self.give_up(message, sink);
                }
                self.notice(message, if again { Topic::Retry } else { Topic::Other }, Some(text), sink);
            }
            name => match topic(name) {
                Some(topic) => self.notice(message, topic, message.text("message").or_else(|| message.text("summary")), sink),
                None => self.tell_with(message, Kind::Unknown(message.line), &[], sink),
            },
        }
        Ok(())
    }

    /// What the session is like: also said in the answer to who starts or resumes the thread.
    pub(super) fn session<'a>(&mut self, message: &Message<'a>, thread: &Members<'a>, told: &Members<'a>, sink: &mut dyn Sink<'a>) {
        let text = |of: &Members<'a>, name: &str| of.get(name).and_then(Raw::string);
        let id = text(thread, "id");
        if let Some(id) = id.filter(|id| id.as_escaped() != self.thread) {
            *self = Self {
                thread: id.as_escaped().to_owned(),
                host_asked: std::mem::take(&mut self.host_asked),
                agent_asked: std::mem::take(&mut self.agent_asked),
                elsewhere: std::mem::take(&mut self.elsewhere),
                last: self.last.take(),
                ..Self::default()
            };
        }
        let of_either = |name: &str| text(told, name).or_else(|| text(thread, name));
        let (cwd, model, version) = (of_either("cwd"), of_either("model"), text(thread, "cliVersion"));
        let kept = |fact: Option<Str<'_>>| fact.map(|fact| fact.as_escaped().to_owned());
        self.facts = Facts {
            cwd: kept(cwd),
            model: kept(model),
            version: kept(version),
        };
        let session = message.cx.keep(Session {
            cwd,
            model,
            version,
            resumed: thread.get("turns").is_some_and(|turns| turns.elements().next().is_some()),
            ..Session::default()
        });
        let origin = Origin {
            session: id,
            time: message.time,
            ..Origin::default()
        };
        sink.event(&Event {
            origin,
            kind: Kind::Session(session),
            fields: message.fields(),
        });
    }

    /// A turn that is to go otherwise than those before it, as those after it will: the session is another one.
    pub(super) fn changed<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        self.has_schema = message.params.get("outputSchema").is_some_and(|schema| !schema.is_null());
        let (model, cwd) = (message.text("model"), message.text("cwd"));
        let rules = ["approvalPolicy", "sandboxPolicy"]
            .iter()
            .any(|name| message.params.get(name).is_some_and(|rule| !rule.is_null()));
        if model.is_none() && cwd.is_none() && !rules {
            return;
        }
        let change = |fact: &mut Option<String>, now: Option<Str<'_>>| *fact = now.map(|now| now.as_escaped().to_owned()).or(fact.take());
        change(&mut self.facts.model, model);
        change(&mut self.facts.cwd, cwd);
        let cx = &message.cx;
        let told = |fact: &Option<String>| fact.as_ref().map(|fact| Str::trusted(cx.arena.alloc_str(fact)));
        let session = cx.keep(Session {
            cwd: told(&self.facts.cwd),
            model: told(&self.facts.model),
            version: told(&self.facts.version),
            ..Session::default()
        });
        self.tell_with(message, Kind::Session(session), &[], sink);
    }

    fn thread_started<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let thread = message.params.get("thread").ok_or_else(|| message.missing("params/thread"))?;
        let thread = message.params.opened(thread, &message.cx);
        let text = |name: &str| thread?.get(name).and_then(Raw::string);
        let (Some(thread), Some(id)) = (thread, text("id")) else {
            return Err(message.missing("params/thread/id"));
        };
        let parent = text("parentThreadId");
        let known = self.children.iter().any(|(child, _)| child == id.as_escaped());
        if !known && parent.is_none_or(|parent| parent.as_escaped() != self.thread || self.thread.is_empty()) {
            self.session(message, thread, thread, sink);
            return Ok(());
        }
        if !known && !self.spawning.is_empty() {
            self.children.push((id.as_escaped().to_owned(), self.spawning.remove(0)));
        }
        self.notice(message, Topic::Task, None, sink);
        Ok(())
    }

    fn tokens<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let last = message
            .find(&["tokenUsage", "last"])
            .ok_or_else(|| message.missing("params/tokenUsage/last"))?;
        let origin = self.origin(message);
        if origin.parent.is_none() && !self.round.leave() {
            // It is said again when a thread is resumed.
            self.notice(message, Topic::Status, None, sink);
            return Ok(());
        }
        let end = message.cx.keep(RoundEnd {
            usage: Some(usage(last)),
            ..RoundEnd::PLAIN
        });
        self.tell(message, Kind::RoundEnd(end), sink);
        Ok(())
    }

    /// A question that was answered, or that nobody has to answer any more.
    fn resolved<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) {
        let id = message.params.get("requestId");
        if self.agent_asked.take(id).is_none() {
            self.notice(message, Topic::Status, None, sink);
            return;
        }
        let id = id.map(|id| id.string().unwrap_or(Str::trusted(id.as_str())));
        self.tell(message, Kind::Withdraw(Withdraw { id }), sink);
    }

    fn completed<'a>(&mut self, message: &Message<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let turn = message.params.get("turn").ok_or_else(|| message.missing("params/turn"))?;
        let word = turn
            .get("status")
            .and_then(Raw::string)
            .ok_or_else(|| message.missing("params/turn/status"))?;
        let origin = self.origin(message);
        let is_other = message.text("threadId").is_some_and(|thread| thread.as_escaped() != self.thread) && !self.thread.is_empty();
        if origin.parent.is_some() || is_other {
            self.notice(message, Topic::SubagentEnd, None, sink);
            return Ok(());
        }
        let error = turn.get("error").and_then(|error| error.get("message")).and_then(Raw::string);
        let kind = match word.as_escaped() {
            "completed" => OutcomeKind::Success,
            "interrupted" => OutcomeKind::Cancelled,
            "failed" => crate::codex::failure::why(error.map_or("", Str::as_escaped)),
            _ => OutcomeKind::Failed(Place::Protocol),
        };
        let answer = |item: &Raw<'a>| item.get("type").and_then(Raw::string).is_some_and(|kind| kind.is("agentMessage"));
        let text = turn.get("items").and_then(|items| items.elements().filter(answer).last());
        self.in_turn = false;
        self.round = Round::default();
        self.denied.clear();
        self.open.end_turn();
        let text = text.and_then(|item| item.get("text")).and_then(Raw::string);
        let structured = text.filter(|_| self.has_schema && kind == OutcomeKind::Success).and_then(|text| {
            let answer = message.cx.arena.alloc_str(&on_one_line(&text.unescape()));
            Raw::trusted(answer).check().is_ok().then_some(Raw::trusted(answer))
        });
        let outcome = message.cx.keep(Outcome {
            text,
            structured,
            error,
            word: Some(word),
            duration_ms: turn.get("durationMs").filter(|ms| ms.u64().is_some()),
            ..Outcome::new(kind)
        });
        self.tell(message, Kind::Outcome(outcome), sink);
        Ok(())
    }
}

/// One model call's.
fn usage(last: Raw<'_>) -> Usage<'_> {
    let names = [
        "totalTokens",
        "inputTokens",
        "cachedInputTokens",
        "cacheWriteInputTokens",
        "outputTokens",
        "reasoningOutputTokens",
    ];
    let [total, input, cache_read, cache_write, output, reasoning] = last.pick(names).map(|count| count.and_then(Count::read));
    Usage {
        input,
        output,
        reasoning,
        cache_read,
        cache_write,
        total,
        inclusive: true,
        scope: Scope::Round,
        raw: Some(last),
        ..Usage::default()
    }
}

/// What other notifications are about; `None` of one that nobody knows.
fn topic(method: &str) -> Option<Topic> {
    Some(match method {
        "thread/status/changed"
        | "turn/diff/updated"
        | "thread/name/updated"
        | "thread/archived"
        | "thread/unarchived"
        | "thread/deleted"
        | "thread/reverted"
        | "thread/readState/changed"
        | "thread/queue/changed"
        | "thread/section/changed"
        | "thread/project/updated"
        | "thread/attachment/updated"
        | "thread/prediction/updated"
        | "thread/environment/connected"
        | "thread/environment/disconnected"
        | "turn/moderationMetadata"
        | "thread/closed"
        | "thread/goal/updated"
        | "thread/goal/cleared"
        | "thread/settings/updated"
        | "item/plan/delta"
        | "item/fileChange/patchUpdated"
        | "item/commandExecution/terminalInteraction"
        | "rawResponseItem/completed"
        | "remoteControl/status/changed" => Topic::Status,
        "account/rateLimits/updated" => Topic::Limit,
        "hook/started" | "hook/completed" => Topic::Hook,
        "configWarning"
        | "deprecationNotice"
        | "warning"
        | "guardianWarning"
        | "model/rerouted"
        | "model/verification"
        | "account/updated"
        | "account/login/completed"
        | "app/list/updated"
        | "skills/changed"
        | "mcpServer/startupStatus/updated"
        | "mcpServer/oauthLogin/completed"
        | "windows/worldWritableWarning"
        | "fuzzyFileSearch/sessionUpdated"
        | "fuzzyFileSearch/sessionCompleted"
        | "item/autoApprovalReview/started"
        | "item/autoApprovalReview/completed"
        | "command/exec/outputDelta"
        | "process/outputDelta"
        | "process/exited"
        | "fs/changed"
        | "account/gatewayOAuth/changed"
        | "autoApprovalReview/strictReviewRequired"
        | "externalAgentConfig/import/progress"
        | "externalAgentConfig/import/completed"
        | "mcpServer/event/stream/notification"
        | "model/safetyBuffering/updated"
        | "modelProvider/authRecoveryStarted"
        | "modelProvider/authRecoveryCompleted"
        | "project/changed"
        | "thread/search/partial"
        | "windowsSandbox/setupCompleted" => Topic::Other,
        _ => return None,
    })
}
