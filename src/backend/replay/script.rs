//! A log, cut into steps.

use std::collections::HashMap;

use crate::adapters::convert::Options;
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::conduct::TextQuestion;
use crate::adapters::raw::event::{Block, ControlKind, Event, InputKind, Kind, ResultStatus, Topic};
use crate::adapters::raw::json::{Raw, Str};
use crate::adapters::raw::live::{Heard, Listener};
use crate::backend::TypedQuestion;

/// What the host's side of a recorded run asked: the subtype of each of its control requests, by id.
#[derive(Clone, Debug, Default)]
pub struct Asked(HashMap<String, String>);

impl Asked {
    /// Reads the host's side of a log.
    pub fn read(dialect: Dialect, log: &[u8]) -> Self {
        let mut asked = HashMap::new();
        let mut listener = Listener::to_host(dialect, Options::MAX_LINE);
        let mut hear = |heard: Heard<'_, '_>| {
            if let Heard::Input(input) = heard
                && let InputKind::Request(request) = input.kind
                && let Some(id) = request.id
            {
                asked.insert(id.as_escaped().to_owned(), request.subtype.unescape().into_owned());
            }
        };
        listener.feed(log, &mut hear);
        listener.finish(&mut hear);
        Self(asked)
    }
}

/// What takes the place of the recorded session's facts.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// The session's id; the recorded one stays if it is empty.
    pub session: String,
    /// The working folder; the recorded one stays if it is empty.
    pub cwd: String,
}

/// Why a log cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// There is nothing in it.
    #[error("the log is empty")]
    Empty,
}

/// One line of the log.
#[derive(Debug)]
pub(super) struct Step {
    /// As it is told, line feed included.
    pub(super) line: Vec<u8>,
    pub(super) act: Act,
    /// How many prompts must have come before it.
    pub(super) turn: usize,
    /// It is the first of its turn.
    pub(super) opens: bool,
    /// Milliseconds since 1970, where the line says it.
    pub(super) time: Option<i64>,
    /// It is no line but a question in plain text.
    pub(super) question: Option<Box<TypedQuestion>>,
}

/// What a line does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It is said.
    Plain,
    /// It asks the host something, under this id.
    Ask(String),
    /// It takes a question back.
    Withdraw(String),
    /// It answers an interrupt, which had this id.
    AnswerInterrupt(String),
    /// It answers another request, whenever the host asks again.
    Answer,
}

/// A log that was read.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) dialect: Dialect,
    pub(super) steps: Vec<Step>,
    /// How many turns it has that answer a prompt.
    pub(super) turns: usize,
    /// The last turn has no end: how it ends then.
    pub(super) unended: Option<Unended>,
    /// Answers to requests of the host: the subtype, the request's id, the line.
    answers: Vec<Recorded>,
}

/// A turn without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unended {
    /// The log breaks off.
    Broken,
    /// A call of this tool was not allowed, after which some programs end without a word.
    Denied(String),
}

#[derive(Debug)]
struct Recorded {
    subtype: String,
    id: String,
    line: Vec<u8>,
    given: bool,
}

impl Script {
    pub(super) fn read(dialect: Dialect, log: &[u8], asked: &Asked, live: &Live) -> Result<Self, ScriptError> {
        let mut reader = Reader {
            asked,
            script: Self {
                dialect,
                steps: Vec::new(),
                turns: 0,
                unended: None,
                answers: Vec::new(),
            },
            recorded: Live::default(),
            open: false,
            unasked: false,
            call: None,
            denied: None,
        };
        let mut listener = Listener::to_agent(dialect, Options::MAX_LINE);
        if let Some(mut questions) = dialect.conduct().questions() {
            let mut lines = Vec::new();
            let mut found = questions.feed(log, &mut lines);
            while let Some(question) = found {
                reader.lines(&std::mem::take(&mut lines), &mut listener);
                reader.ask(question);
                found = questions.feed(&[], &mut lines);
            }
            questions.finish(&mut lines);
            reader.lines(&lines, &mut listener);
        } else {
            reader.lines(log, &mut listener);
        }
        let unended = reader.denied.take().map_or(Unended::Broken, Unended::Denied);
        reader.script.unended = reader.open.then_some(unended);
        let Reader { mut script, recorded, .. } = reader;
        if script.steps.is_empty() {
            return Err(ScriptError::Empty);
        }
        // Ids of questions may be made of the session's: the host answers to what it reads.
        let relive_id = |id: &mut String| *id = String::from_utf8_lossy(&relive(id.as_bytes(), &recorded, live)).into_owned();
        for step in &mut script.steps {
            step.line = relive(&step.line, &recorded, live);
            match &mut step.act {
                Act::Ask(id) | Act::Withdraw(id) | Act::AnswerInterrupt(id) => relive_id(id),
                Act::Plain | Act::Answer => {}
            }
        }
        for answer in &mut script.answers {
            answer.line = relive(&answer.line, &recorded, live);
            relive_id(&mut answer.id);
        }
        Ok(script)
    }

    /// Whether the log answers an interrupt in the turn that step `at` belongs to, at it or after it.
    pub(super) fn interrupted_after(&self, at: usize) -> bool {
        let Some(turn) = self.steps.get(at).map(|step| step.turn) else {
            return false;
        };
        self.steps[at..]
            .iter()
            .take_while(|step| step.turn == turn)
            .any(|step| matches!(step.act, Act::AnswerInterrupt(_)))
    }

    /// Whether a question is taken back in step `at` or after it.
    pub(super) fn withdrawn(&self, at: usize, id: &str) -> bool {
        self.steps[at..]
            .iter()
            .any(|step| matches!(&step.act, Act::Withdraw(taken) if taken == id))
    }

    /// The recorded answer to a request of the host's, under the id that it has now: the first that was not given yet, else the last.
    pub(super) fn answer(&mut self, subtype: &str, id: &str) -> Option<Vec<u8>> {
        let fits = |answer: &&mut Recorded| answer.subtype == subtype;
        let fresh = self.answers.iter().position(|answer| answer.subtype == subtype && !answer.given);
        let found = match fresh {
            Some(at) => self.answers.get_mut(at),
            None => self.answers.iter_mut().rfind(fits),
        }?;
        found.given = true;
        Some(renamed(&found.line, &found.id, id))
    }
}

/// What a line turned out to be.
#[derive(Default)]
struct Seen {
    act: Option<Act>,
    opens: bool,
    ends: bool,
    task_over: bool,
    time: Option<i64>,
    answered: Option<(String, String)>,
}

struct Reader<'s> {
    asked: &'s Asked,
    script: Script,
    recorded: Live,
    /// A turn runs.
    open: bool,
    /// The next turn comes of its own: a task in the background has ended.
    unasked: bool,
    /// The last call: its id, its tool and its arguments.
    call: Option<(String, String, String)>,
    /// The tool of the last call, if that was not allowed.
    denied: Option<String>,
}

impl Reader<'_> {
    fn lines(&mut self, log: &[u8], listener: &mut Listener) {
        for line in log.split_inclusive(|&byte| byte == b'\n') {
            let mut seen = Seen::default();
            listener.feed(line, &mut |heard| self.see(&heard, &mut seen));
            if !line.ends_with(b"\n") {
                listener.finish(&mut |heard| self.see(&heard, &mut seen));
            }
            self.keep(line, seen);
        }
    }

    /// A question in plain text, about the call before it.
    fn ask(&mut self, question: TextQuestion) {
        let (call, _, input) = self.call.clone().unwrap_or_else(|| (String::new(), String::new(), "{}".to_owned()));
        let id = format!("agentglot-typed-{}", self.script.steps.len());
        self.script.steps.push(Step {
            line: Vec::new(),
            act: Act::Ask(id.clone()),
            turn: self.script.turns,
            opens: false,
            time: None,
            question: Some(Box::new(TypedQuestion {
                id,
                call,
                tool: question.tool,
                input,
                text: question.text,
            })),
        });
    }

    fn see(&mut self, heard: &Heard<'_, '_>, seen: &mut Seen) {
        let Heard::Event(event) = heard else { return };
        if let Some(time) = event.origin.time.and_then(|time| time.millis()) {
            seen.time = Some(time);
        }
        if let Some(session) = event.origin.session.filter(|_| self.recorded.session.is_empty()) {
            session.as_escaped().clone_into(&mut self.recorded.session);
        }
        if let Kind::Session(session) = event.kind
            && let Some(cwd) = session.cwd.filter(|_| self.recorded.cwd.is_empty())
        {
            cwd.as_escaped().clone_into(&mut self.recorded.cwd);
        }
        match event.kind {
            Kind::Request(request) => {
                seen.act = Some(Act::Ask(plain(request.id)));
                // What a prompt sets off; MCP servers are greeted before there is one.
                seen.opens |= request.kind != ControlKind::Mcp;
            }
            Kind::Withdraw(withdraw) => seen.act = Some(Act::Withdraw(plain(withdraw.id))),
            Kind::Response(response) => {
                let id = plain(response.id);
                let subtype = match self.asked.0.get(&id) {
                    Some(subtype) => subtype.clone(),
                    None => response.body.map(guess).unwrap_or_default().to_owned(),
                };
                seen.act = Some(if subtype == "interrupt" && self.open {
                    Act::AnswerInterrupt(id)
                } else {
                    seen.answered = Some((subtype, id));
                    Act::Answer
                });
            }
            Kind::ToolResult(result) => {
                let tool = self.call.as_ref().map(|(_, tool, _)| tool.clone());
                self.denied = tool.filter(|_| result.status == ResultStatus::Denied);
            }
            // A run that was refused has an outcome and nothing before it.
            Kind::Outcome(_) | Kind::Fatal(_) => (seen.opens, seen.ends) = (true, true),
            Kind::Notice(notice) => {
                seen.task_over |= notice.topic == Topic::Task && notice.name.is("task_notification");
                seen.opens |= self.begins(event);
            }
            Kind::Session(session) => seen.opens |= session.opens_turn,
            Kind::Reply(reply) => {
                seen.opens = true;
                if let Some(Block::Call(call)) = reply.blocks.last() {
                    let input = call.input.as_str().to_owned();
                    self.call = Some((call.id.as_escaped().to_owned(), call.name.as_escaped().to_owned(), input));
                }
            }
            Kind::RoundStart(_) | Kind::BlockStart(_) | Kind::Delta(_) | Kind::Prompt(_) => seen.opens = true,
            _ => {}
        }
    }

    /// Whether a notice belongs to the turn that follows it.
    fn begins(&self, event: &Event<'_>) -> bool {
        event.fields.iter().any(|field| {
            let word = field.value.string();
            field.key.is("state") && word.is_some_and(|word| word.is("running"))
                || field.key.is("status") && word.is_some_and(|word| word.is("requesting"))
        })
    }

    fn keep(&mut self, line: &[u8], seen: Seen) {
        let act = seen.act.unwrap_or(Act::Plain);
        let opens = !self.open && seen.opens;
        if opens {
            self.open = true;
            if !std::mem::take(&mut self.unasked) || self.script.turns == 0 {
                self.script.turns += 1;
            }
        }
        let mut line = line.to_vec();
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        if let Some((subtype, id)) = seen.answered {
            self.script.answers.push(Recorded {
                subtype,
                id,
                line: line.clone(),
                given: false,
            });
        }
        self.script.steps.push(Step {
            line,
            act,
            turn: self.script.turns,
            opens,
            time: seen.time,
            question: None,
        });
        if seen.ends {
            self.open = false;
        }
        self.unasked |= !self.open && seen.task_over;
    }
}

fn plain(id: Option<Str<'_>>) -> String {
    id.map(|id| id.as_escaped().to_owned()).unwrap_or_default()
}

/// What was asked, by what was answered: a log of the agent's side alone does not say it.
fn guess(body: Raw<'_>) -> &'static str {
    const SUBTYPES: [&str; 9] = [
        "initialize",
        "interrupt",
        "set_model",
        "set_permission_mode",
        "set_effort",
        "supported_commands",
        "get_context_usage",
        "mcp_server_status",
        "get_available_models",
    ];
    if let Some(said) = body.get("subtype").and_then(Raw::string) {
        return SUBTYPES.into_iter().find(|name| said.is(name)).unwrap_or_default();
    }
    const MEMBERS: [(&str, &str); 8] = [
        ("still_queued", "interrupt"),
        ("available_output_styles", "initialize"),
        ("mode", "set_permission_mode"),
        ("model", "set_model"),
        ("mcpServers", "mcp_status"),
        ("categories", "get_context_usage"),
        ("models", "list_models"),
        ("canRewind", "rewind_files"),
    ];
    MEMBERS
        .into_iter()
        .find(|(member, _)| body.get(member).is_some())
        .map(|(_, subtype)| subtype)
        .unwrap_or_default()
}

/// A line with another request id.
pub(super) fn renamed(line: &[u8], old: &str, new: &str) -> Vec<u8> {
    replace(line, format!("\"{old}\"").as_bytes(), format!("\"{new}\"").as_bytes(), |_| true)
}

/// A line with the live session's id and folder in place of the recorded ones.
fn relive(line: &[u8], recorded: &Live, live: &Live) -> Vec<u8> {
    let mut line = line.to_vec();
    if !live.session.is_empty() && recorded.session.len() >= 8 {
        line = replace(&line, recorded.session.as_bytes(), live.session.as_bytes(), |_| true);
    }
    if !live.cwd.is_empty() && recorded.cwd.len() > 1 {
        let mut cwd = String::new();
        Str::escape(&live.cwd, &mut cwd);
        // `/work` is no part of `/workshop`.
        let ends = |next: Option<&u8>| !next.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        line = replace(&line, recorded.cwd.as_bytes(), cwd.as_bytes(), ends);
    }
    line
}

/// Every occurrence of `old` that `fits`, by the byte behind it, replaced.
fn replace(text: &[u8], old: &[u8], new: &[u8], fits: impl Fn(Option<&u8>) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(old.len()).position(|window| window == old) {
        let behind = &rest[at + old.len()..];
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(if fits(behind.first()) { new } else { old });
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}
