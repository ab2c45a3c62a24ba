//! What was asked, and what is answered.

use super::decode::{Decoder, Line};
use super::facts::Change;
use super::fields::knows;
use super::{MODELS, MODES, RESULT};
use crate::chat::{FieldList, Members};
use crate::codec::Cx;
use crate::event::{
    At, Count, Event, Fate, Fields, Input, InputKind, Kind, Limit, Origin, Outcome, OutcomeKind, Place, Response, Scope, Session, Sink, Stop, Usage,
};
use crate::json::{Error, Raw, Shape, Str};
use crate::trace::Kept;

/// Questions that wait for their answer, by the id as it is spelled.
#[derive(Debug, Default)]
pub(super) struct Asked(Vec<(String, Question)>);

/// A question.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) method: Method,
    /// Its place among all questions.
    pub(super) at: u64,
    pub(super) session: String,
    /// For [`Method::Session`]: the folder.
    pub(super) cwd: String,
    /// What is another if it is granted.
    pub(super) change: Option<Change>,
    /// Where the host says what it is then, for the ledger.
    pub(super) kept: Kept,
    /// For [`Method::Permission`]: the call, the answers to choose from, and whether they permit.
    pub(super) call: String,
    pub(super) options: Vec<(String, bool)>,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Prompt,
    Session(Opens),
    Permission,
    Other,
}

/// How a session is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    /// `session/new`: nothing was said in it before.
    Anew,
    /// `session/load`, `session/resume`: what was said in it may be said again.
    Again,
    /// `session/fork`: under another id.
    Branch,
}

impl Opens {
    /// What a method opens, if it does.
    pub(super) fn read(method: &str) -> Option<Self> {
        Some(match method {
            "session/new" => Self::Anew,
            "session/load" | "session/resume" => Self::Again,
            "session/fork" => Self::Branch,
            _ => return None,
        })
    }
}

impl Question {
    pub(super) const fn of(method: Method) -> Self {
        Self {
            method,
            at: 0,
            session: String::new(),
            cwd: String::new(),
            change: None,
            kept: Kept::NONE,
            call: String::new(),
            options: Vec::new(),
        }
    }
}

impl Asked {
    /// More than anybody has open; the oldest are forgotten.
    const MOST: usize = 256;

    pub(super) fn add(&mut self, id: &str, question: Question) {
        if self.0.len() == Self::MOST {
            self.0.remove(0);
        }
        self.take(id);
        self.0.push((id.to_owned(), question));
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == id)
    }

    fn take(&mut self, id: &str) -> Option<Question> {
        Some(self.0.remove(self.find(id)?).1)
    }

    /// The session that a question is about; `None` of one that says none.
    pub(super) fn session_of(&self, id: &str) -> Option<&str> {
        let session = &self.0[self.find(id)?].1.session;
        (!session.is_empty()).then_some(session)
    }

    fn asked_at(&self, id: &str) -> Option<u64> {
        Some(self.0[self.find(id)?].1.at)
    }

    /// Whether a session is opened whose turns are said again.
    pub(super) fn replays(&self) -> bool {
        self.0.iter().any(|(_, question)| question.method == Method::Session(Opens::Again))
    }
}

impl Decoder {
    pub(super) fn answer<'a>(&mut self, mut line: Line<'a>, by_host: Option<bool>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let id = line.message.get("id").map_or("", Raw::as_str);
        let result = line.message.get("result");
        let by_host = by_host.unwrap_or_else(|| self.is_hosts(id, result));
        if by_host {
            let question = self.agent_asked.take(id);
            self.hosts_answer(line, question, sink);
            return Ok(());
        }
        let mut question = self.host_asked.take(id);
        let mut kept = question.as_mut().map(|question| std::mem::take(&mut question.kept)).unwrap_or_default();
        self.last = question.clone().map(|question| (id.to_owned(), question));
        if let Some(question) = question.as_ref().filter(|question| !question.session.is_empty()) {
            question.session.clone_into(&mut self.session);
        }
        let says = |name: &str| line.message.find(&["result", name]).is_some();
        let change = question.as_ref().and_then(|question| question.change.clone());
        let (method, cwd) = question.map_or((None, String::new()), |question| (Some(question.method), question.cwd));
        let replayed = method == Some(Method::Session(Opens::Again)) && self.turn.replayed;
        if replayed {
            self.tell_calls(&cx, sink);
            self.end_replayed(&cx, sink);
        }
        match method {
            // The answer in version 2 is only that it was heard.
            Some(Method::Prompt) | None if says("stopReason") && (method.is_some() || self.is_unasked() || !self.prompted) => {
                self.prompt_answer(line, sink);
            }
            // A log of the agent's alone holds no prompts.
            Some(Method::Prompt) | None if line.message.get("error").is_some() && (method.is_some() || self.is_unasked()) => {
                self.prompt_answer(line, sink);
            }
            // One that is loaded need not say more than that.
            Some(Method::Session(Opens::Again)) if result.is_some_and(Raw::is_null) => self.opened(line, cwd, replayed, sink),
            Some(Method::Session(_)) | None
                if result.is_some_and(|r| r.shape() == Some(Shape::Object)) && (method.is_some() || says("sessionId")) =>
            {
                let named = line.message.find(&["result", "sessionId"]).and_then(Raw::string);
                if let (Some(Method::Session(Opens::Anew)), Some(id)) = (method, named) {
                    id.as_escaped().clone_into(&mut self.begun);
                }
                self.opened(line, cwd, replayed, sink);
            }
            _ => {
                let origin = self.origin(&cx);
                let response = cx.keep(line.response());
                let fields = line.fields();
                sink.event(&Event {
                    origin,
                    kind: Kind::Response(response),
                    fields: line.rest(fields),
                });
                if let Some(change) = change.filter(|_| response.ok) {
                    self.changed(change, &mut kept, &cx, sink);
                }
                if let Some(trace) = cx.trace {
                    trace.tell_held(&mut kept, Fate::Dropped, "the agent has not granted it");
                }
            }
        }
        Ok(())
    }

    /// Whether a turn is going on that no prompt began.
    const fn is_unasked(&self) -> bool {
        self.turns == 0 && self.turn.said
    }

    /// Whether a bare answer is the host's: both sides may have asked under this id.
    fn is_hosts(&self, id: &str, result: Option<Raw<'_>>) -> bool {
        let says = |names: &[&str]| names.iter().any(|name| result.is_some_and(|result| result.get(name).is_some()));
        let looks = || match () {
            () if says(&["outcome", "action"]) => Some(true),
            () if says(&["stopReason", "sessionId", "protocolVersion", "messageId", "configOptions", "modes"]) => Some(false),
            () => None,
        };
        match (self.host_asked.asked_at(id), self.agent_asked.asked_at(id)) {
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (None, None) => looks().unwrap_or(false),
            // The one that was asked later; whoever has waited longer has been passed over by it.
            (Some(host), Some(agent)) => looks().unwrap_or(agent > host),
        }
    }

    fn hosts_answer<'a>(&mut self, mut line: Line<'a>, question: Option<Question>, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        let mut response = line.response();
        let mut fields = line.fields();
        let permission = question.filter(|question| question.method == Method::Permission);
        if let (Some(question), Some(body)) = (permission, response.body) {
            let answer = permits(&question, body);
            self.calls.permitted(&question.call, answer == Answer::Allow);
            response.body = Some(Raw::checked(answer.words()));
            if let Some(members) = Members::of(body, &cx) {
                members.pour(RESULT, knows, &mut fields);
            }
        }
        let origin = self.origin(&cx);
        sink.input(&Input {
            origin,
            kind: InputKind::Response(cx.keep(response)),
            fields: line.rest(fields),
        });
    }

    /// A session was opened. What was said in it before has named it.
    fn opened<'a>(&mut self, mut line: Line<'a>, cwd: String, named: bool, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        let mut result = line
            .message
            .take("result", &cx)
            .and_then(|result| line.message.inside(result, &cx))
            .unwrap_or_else(|| Members::new(&cx));
        if !named {
            line.session = result.get("sessionId").and_then(Raw::string);
        }
        let mut fields = line.fields();
        let mut inner = |name: &str, key: &str, at: At<'static>| {
            let mut members = Members::of(result.get(name)?, &cx)?;
            let current = members.text(key, &cx);
            if current.is_some() {
                result.take_raw(name);
                members.pour(at, knows, &mut fields);
            }
            current
        };
        let permission_mode = inner("modes", "currentModeId", MODES);
        let model = inner("models", "currentModelId", MODELS);
        let [chosen_mode, chosen_model] = chosen(result.get("configOptions"));
        let session = cx.keep(Session {
            cwd: (!cwd.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&cwd))),
            model: model.or(chosen_model.value),
            permission_mode: permission_mode.or(chosen_mode.value),
            agents: self.agents(&cx),
            ..Session::default()
        });
        self.facts.opened([chosen_mode.id, chosen_model.id], session);
        result.pour(RESULT, knows, &mut fields);
        self.cwd = cwd;
        let origin = self.origin_of(&line);
        sink.event(&Event {
            origin,
            kind: Kind::Session(session),
            fields: line.rest(fields),
        });
    }

    /// The turn is over, as the answer to its prompt says.
    fn prompt_answer<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) {
        let cx = line.cx;
        let mut fields = line.fields();
        let mut ends = Ends::default();
        match line.message.shaped("error", Shape::Object, &cx) {
            Some(error) => ends.error(error, &cx, &mut fields),
            None => {
                if let Some(mut result) = line.message.take("result", &cx).and_then(|result| line.message.inside(result, &cx)) {
                    ends.read(&mut result, &cx, &mut fields);
                    result.pour(RESULT, knows, &mut fields);
                }
            }
        }
        let origin = self.origin(&cx);
        let fields = line.rest(fields);
        self.outcome(ends, origin, &cx, sink, fields);
    }

    /// Tells how a turn ended.
    pub(super) fn outcome<'a>(&mut self, ends: Ends<'a>, origin: Origin<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>, fields: Fields<'a>) {
        self.tell_calls(cx, sink);
        // OpenCode answers a prompt that was cancelled before it had begun with an error.
        let kind = match ends.kind {
            OutcomeKind::Failed(Place::Model) if self.turn.cancelled => OutcomeKind::Cancelled,
            kind => kind,
        };
        if kind != OutcomeKind::Cancelled {
            self.tell_unbegun(cx, sink);
        }
        self.end_block(origin, sink);
        self.turn = super::decode::Turn::default();
        self.turns = self.turns.saturating_sub(1);
        self.calls.end_turn();
        let cost = (!self.cost.is_empty()).then(|| Raw::checked(cx.arena.alloc_str(&self.cost)));
        let outcome = cx.keep(Outcome {
            synthetic: ends.synthetic,
            error: ends.error,
            word: ends.word,
            usage: ends.usage,
            stop: ends
                .word
                .filter(|word| matches!(word.as_escaped(), "end_turn" | "max_tokens" | "refusal"))
                .map(Stop::read),
            cost_usd: cost,
            ..Outcome::new(kind)
        });
        sink.event(&Event {
            origin,
            kind: Kind::Outcome(outcome),
            fields,
        });
    }
}

/// An option of a session, and what it is set to.
#[derive(Clone, Copy, Default)]
struct Chosen<'a> {
    id: Option<Str<'a>>,
    value: Option<Str<'a>>,
}

/// The first options that set the mode and the model.
fn chosen(options: Option<Raw<'_>>) -> [Chosen<'_>; 2] {
    let mut found = [("mode", None), ("model", None)];
    for option in options.into_iter().flat_map(Raw::elements) {
        let parts = option.pick(["category", "id", "currentValue"]);
        let [category, id, value] = parts.map(|part| part.and_then(Raw::string));
        let place = found.iter_mut().find(|(name, _)| category.is_some_and(|word| word.is(name)));
        if let Some((_, first @ None)) = place {
            *first = Some(Chosen { id, value });
        }
    }
    found.map(|(_, first)| first.unwrap_or_default())
}

/// How a turn ended.
pub(super) struct Ends<'a> {
    kind: OutcomeKind,
    word: Option<Str<'a>>,
    error: Option<Str<'a>>,
    usage: Option<Usage<'a>>,
    synthetic: bool,
}

impl Default for Ends<'_> {
    fn default() -> Self {
        Self {
            kind: OutcomeKind::Success,
            word: None,
            error: None,
            usage: None,
            synthetic: false,
        }
    }
}

impl<'a> Ends<'a> {
    /// Takes out of an object why a turn ended and what it took.
    pub(super) fn read(&mut self, from: &mut Members<'a>, cx: &Cx<'a>, fields: &mut FieldList<'a>) {
        self.word = from.text("stopReason", cx);
        self.kind = match self.word.map_or("", Str::as_escaped) {
            "max_tokens" => OutcomeKind::Limit(Limit::Tokens),
            "max_turn_requests" => OutcomeKind::Limit(Limit::Turns),
            "refusal" => OutcomeKind::Refused,
            "cancelled" => OutcomeKind::Cancelled,
            "error" => OutcomeKind::Failed(Place::Model),
            _ => OutcomeKind::Success,
        };
        if let Some(usage) = from.shaped("usage", Shape::Object, cx) {
            self.usage = Some(read_usage(usage));
        }
        let meta = from.get("_meta");
        let said = meta.and_then(|meta| meta.get("quota")).and_then(|quota| quota.get("token_count"));
        if let Some(said) = said.filter(|said| self.usage.is_none() && said.get("input_tokens").is_some()) {
            let count = |name| said.get(name).and_then(Count::read);
            self.usage = Some(Usage {
                input: count("input_tokens"),
                output: count("output_tokens"),
                inclusive: true,
                scope: Scope::Turn,
                ..Usage::default()
            });
        }
        self.made_up(meta, cx);
        if let Some(kind) = word_of(meta, "outcome").and_then(OutcomeKind::read) {
            self.kind = kind;
        }
        self.error = meta.and_then(|meta| meta.get("error")).and_then(Raw::string);
        if let Some(error) = from.shaped("error", Shape::Object, cx) {
            self.error(error, cx, fields);
        }
    }

    fn made_up(&mut self, meta: Option<Raw<'a>>, cx: &Cx<'a>) {
        let flag = meta.and_then(|meta| meta.get("synthetic")).filter(|flag| flag.bool() == Some(true));
        if let Some(flag) = flag {
            cx.took(flag.as_str());
            self.synthetic = true;
        }
    }

    /// An error ended it.
    fn error(&mut self, error: Raw<'a>, cx: &Cx<'a>, fields: &mut FieldList<'a>) {
        let Some(mut members) = Members::of(error, cx) else { return };
        let number = members.get("code").filter(|code| code.shape() == Some(Shape::Number));
        let code = number.and_then(Raw::i64);
        self.word = self.word.or(number.map(|code| Str::trusted(code.as_str())));
        self.made_up(members.get("data"), cx);
        let data = members.get("data");
        if let Some(usage) = data
            .and_then(|data| data.get("usage"))
            .filter(|usage| usage.shape() == Some(Shape::Object))
        {
            self.usage = Some(read_usage(usage));
        }
        self.kind = match (code, word_of(data, "outcome").and_then(OutcomeKind::read)) {
            (_, Some(kind)) => kind,
            (Some(-32800), _) => OutcomeKind::Cancelled,
            (Some(-32700 | -32602..=-32600), _) => OutcomeKind::Failed(Place::Protocol),
            (Some(-32002), _) => OutcomeKind::Failed(Place::Backend),
            _ => OutcomeKind::Failed(Place::Model),
        };
        // The message says nothing where the details do.
        let details = data.and_then(|data| data.get("details")).and_then(Raw::string);
        let message = members.get("message").and_then(Raw::string);
        let plain = message.and_then(|message| message.as_escaped().strip_prefix("Internal error: "));
        if let Some(plain) = plain {
            // The number says that already.
            let plain = cx.arena.alloc_str(plain);
            if let Some(whole) = members.text("message", cx) {
                cx.stands_for(plain, whole.as_escaped());
                if let Some(trace) = cx.trace {
                    trace.renamed(whole.as_escaped(), "that the error is internal, its number says");
                }
            }
            self.error = Some(Str::trusted(plain));
            return members.pour(At::Part("/error"), knows, fields);
        }
        self.error = match details.filter(|_| message.is_some_and(|message| message.is("Internal error"))) {
            Some(details) => Some(details),
            None => members.text("message", cx),
        };
        members.pour(At::Part("/error"), knows, fields);
    }
}

fn word_of<'a>(from: Option<Raw<'a>>, name: &str) -> Option<&'a str> {
    Some(from?.get(name)?.string()?.as_escaped())
}

/// Cache reads and writes are counted apart.
pub(super) fn read_usage(usage: Raw<'_>) -> Usage<'_> {
    let names = [
        "inputTokens",
        "outputTokens",
        "thoughtTokens",
        "cachedReadTokens",
        "cachedWriteTokens",
        "totalTokens",
    ];
    let [input, output, reasoning, cache_read, cache_write, total] = usage.pick(names).map(|count| count.and_then(Count::read));
    Usage {
        input,
        output,
        reasoning,
        cache_read,
        cache_write,
        total,
        scope: Scope::Turn,
        raw: Some(usage),
        ..Usage::default()
    }
}

impl<'a> Line<'a> {
    /// An answer as it is.
    fn response(&mut self) -> Response<'a> {
        let cx = self.cx;
        let id = self.id();
        if id.is_some() {
            self.message.take_raw("id");
        }
        let error = self.message.take("error", &cx);
        Response {
            id,
            ok: error.is_none(),
            body: self.message.take("result", &cx),
            error,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Allow,
    Deny,
    /// The turn is given up.
    Cancel,
}

impl Answer {
    const fn words(self) -> &'static str {
        match self {
            Self::Allow => "{\"behavior\":\"allow\"}",
            Self::Deny => "{\"behavior\":\"deny\",\"message\":\"\"}",
            Self::Cancel => "{\"behavior\":\"deny\",\"message\":\"\",\"interrupt\":true}",
        }
    }
}

/// What a host's choice comes to.
fn permits(question: &Question, body: Raw<'_>) -> Answer {
    let outcome = body.get("outcome");
    let chosen = outcome.and_then(|outcome| outcome.get("optionId")).and_then(Raw::string);
    match chosen {
        None => Answer::Cancel,
        Some(chosen) => {
            let known = question.options.iter().find(|(id, _)| id == chosen.as_escaped());
            match known.map_or_else(|| chosen.as_escaped().starts_with("allow"), |(_, allows)| *allows) {
                true => Answer::Allow,
                false => Answer::Deny,
            }
        }
    }
}
