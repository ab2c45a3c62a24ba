//! How a dialect's own program behaves towards its host, besides the lines that it writes: what it answers to control
//! requests, what it does with input that it cannot read, and with which code it exits.

use std::borrow::Cow;

use crate::blocks::api_error;
use crate::codec::Mode;
use crate::event::{Fields, Outcome, OutcomeKind, Request};
use crate::json::{Raw, Str};
use crate::launch::Launch;

/// What is known of the session when its host asks.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The session's id.
    pub session: String,
    /// The working folder.
    pub cwd: String,
    /// The model; empty if nobody named one.
    pub model: String,
    /// The model that the session began with: the one that is meant where the host takes its choice back.
    pub first_model: String,
    /// The permission mode, in this dialect's words; empty if nobody named one.
    pub permission_mode: String,
    /// The process, where its host is told.
    pub pid: u32,
    /// A turn is running.
    pub busy: bool,
    /// Subagents that the host declared, by name.
    pub agents: Vec<String>,
    /// MCP servers as the session's facts tell them, `[{name,status}]` as JSON; empty if nobody told.
    pub mcp_servers: String,
    /// Tokens of the session so far: input, output.
    pub tokens: (u64, u64),
    /// What the agent says of itself, if it is ours.
    pub greeting: Option<Greeting>,
}

/// What an agent of ours says of itself when its host greets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// Commands: `[{name,description,argumentHint}]` as JSON.
    pub commands: String,
    /// Kinds of subagents: `[{name,description}]` as JSON.
    pub agents: String,
    /// Models: `[{value,displayName,description}]` as JSON.
    pub models: String,
    /// The variable that holds the key of the model's API; empty if there is none.
    pub key_source: String,
    /// The output style.
    pub output_style: String,
    /// The output styles that there are.
    pub output_styles: Vec<String>,
}

/// What a program answers to a control request of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done. With the JSON of the answer's body, if there is something to say.
    Done(Option<String>),
    /// It is refused, with the reason and, where the dialect has them, a code.
    Refused(String, Option<&'static str>),
}

/// What a program does with a line of its host's that it cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing: the session goes on.
    Ignored,
    /// A turn that fails for this reason; the session goes on.
    FailedTurn(Cow<'static, str>),
    /// It says so in a line that belongs to no turn; the session goes on.
    Told(String),
    /// It was a request, which is answered with this line; the session goes on.
    Answered(String),
    /// It exits, and says why on standard error.
    Fatal {
        /// The text, without a line feed at its end.
        stderr: String,
        /// The exit code.
        code: u8,
    },
}

/// A line of a host's that makes no sense.
#[derive(Clone, Copy, Debug)]
pub struct Misread<'a> {
    /// The line.
    pub text: &'a str,
    /// The same, if it is JSON.
    pub json: Option<Raw<'a>>,
    /// What is wrong.
    pub why: &'a str,
    /// A turn is running.
    pub busy: bool,
}

impl Misread<'_> {
    /// Whether it is an object whose `type` is this word.
    pub(crate) fn is(&self, word: &str) -> bool {
        let kind = self.json.and_then(|json| json.get("type")).and_then(Raw::string);
        kind.is_some_and(|kind| kind.is(word))
    }
}

/// How a run ended, as far as the exit code depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The last outcome; `None` if there was no turn.
    pub outcome: Option<OutcomeKind>,
    /// The last outcome was called an error.
    pub is_error: bool,
    /// The host talks over standard input, for as many turns as it likes.
    pub interactive: bool,
    /// The HTTP status of the model call that failed, where the last outcome names it.
    pub status: Option<u16>,
    /// What the host reads is text for people.
    pub is_text: bool,
}

impl Ended {
    /// With an outcome.
    pub fn note(&mut self, outcome: &Outcome<'_>) {
        self.outcome = Some(outcome.kind);
        self.is_error = outcome.is_error;
        let said = outcome.error.or(outcome.text).filter(|_| outcome.is_error);
        self.status = said.and_then(|text| api_error::named_status(&text.unescape()));
    }
}

/// How a program behaves towards its host.
pub trait Conduct: std::fmt::Debug + Sync {
    /// The version that it calls itself, where hosts look at it.
    fn version(&self) -> &'static str;

    /// What it answers to a control request. `fields` are the request's own members.
    fn answer(&self, request: &Request<'_>, fields: Fields<'_>, facts: &Facts) -> Answer {
        let _ = (fields, facts);
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    /// What it does with a line that it cannot read.
    fn damaged(&self, line: &Misread<'_>) -> Damage {
        let _ = line;
        Damage::Ignored
    }

    /// Whether a line that is JSON but no object with a `type` is as bad as one that is no JSON.
    fn needs_type(&self) -> bool {
        false
    }

    /// Whether the stream tells what goes wrong beside the turns: lines of types that nobody knows, faults of the control channel, the
    /// end of the program. A question that the host could not answer is then asked once more if the host wants that.
    fn tells_faults(&self) -> bool {
        false
    }

    /// Whether bytes that are no UTF-8 are read with other characters in their place, as a program in JavaScript reads them.
    fn takes_any_bytes(&self) -> bool {
        false
    }

    /// Whether a prompt whose id has come before is passed over.
    fn drops_repeated_prompts(&self) -> bool {
        false
    }

    /// What its program is answered if nobody answers this question of it, where it would take an error for consent.
    fn unheard(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<&'static str> {
        let _ = (request, fields);
        None
    }

    /// Why it refuses a request of which a member has another type: that changes nothing.
    fn ill_typed(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<&'static str> {
        let _ = (request, fields);
        None
    }

    /// Whether this request of its host's ends the session, and the turn that runs.
    fn ends_session(&self, request: &Request<'_>) -> bool {
        let _ = request;
        false
    }

    /// Whether it answers control requests that have no id.
    fn answers_nameless(&self) -> bool {
        false
    }

    /// Whether a prompt that says nothing begins no turn.
    fn ignores_empty_prompts(&self) -> bool {
        false
    }

    /// Its exit code.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.is_error || ended.outcome.is_none())
    }

    /// Its exit code when `SIGINT` has stopped it, if that is not the signal's; not where it writes text for people.
    fn interrupted(&self) -> Option<u8> {
        None
    }

    /// Whether it has a way to ask its host for permission; without one a policy decides.
    fn can_ask(&self) -> bool {
        false
    }

    /// Whether it takes a question back when it no longer needs the answer.
    fn withdraws(&self) -> bool {
        false
    }

    /// Whether it can ask a person in plain text, on its standard output. The host's standard input is then lines of answers.
    fn asks_in_text(&self) -> bool {
        false
    }

    /// Takes such questions out of what the program prints.
    fn questions(&self) -> Option<Box<dyn TextQuestions>> {
        None
    }

    /// What is to be typed for such a choice.
    fn types(&self, choice: Choice) -> &'static str {
        let _ = choice;
        ""
    }

    /// What a person answered to such a question about a tool; without a line, nothing can be answered any more.
    fn typed(&self, line: Option<&str>, tool: &str) -> Typed {
        let _ = (line, tool);
        Typed::Unclear("")
    }

    /// Whether it gives signs of life that nobody asked for, at a pace of its own.
    fn gives_signs_of_life(&self) -> bool {
        false
    }

    /// Whether what it writes in this mode says that a turn failed. Where it does not, the reason goes to standard error.
    fn tells_failures(&self, _mode: Mode) -> bool {
        true
    }

    /// Whether a signal ends it without another word in this mode.
    fn breaks_off(&self, _mode: Mode) -> bool {
        false
    }

    /// Whether it writes text as it comes, and not at the end of a turn.
    fn writes_text_at_once(&self) -> bool {
        false
    }

    /// Whether the one value of this mode goes to standard error where it says that the turn failed.
    fn fails_on_stderr(&self, _mode: Mode) -> bool {
        false
    }

    /// Whether it says on standard output why a run cannot begin.
    fn refuses_on_stdout(&self) -> bool {
        false
    }

    /// Whether a session that cannot begin is told in the stream too.
    fn tells_no_session(&self) -> bool {
        false
    }

    /// Whether its hosts say which version of the protocol they want.
    fn has_versions(&self) -> bool {
        false
    }

    /// Whether a line that it says between two turns is part of what was said, and the last outcome not the end.
    fn is_said(&self, line: Raw<'_>) -> bool {
        let _ = line;
        false
    }

    /// Whether it says each prompt again, unasked.
    fn echoes(&self) -> bool {
        false
    }

    /// What it is told that has asked something which cannot be handed on, for this reason: a line, if it waits for an answer. `line` is that on
    /// which it asked, or an object of what nobody understood of it.
    fn refusal(&self, line: Raw<'_>, why: &str) -> Option<String> {
        let _ = (line, why);
        None
    }

    /// Whether a line of which more cannot be understood is the one that ends a turn of a program which lives on behind it.
    fn ends_turn(&self, line: Raw<'_>) -> bool {
        let _ = line;
        false
    }

    /// The subagents that a request of its host's declares, by name; `None` if it declares none.
    fn declared_agents(&self, request: &Request<'_>, fields: Fields<'_>) -> Option<Vec<String>> {
        let _ = (request, fields);
        None
    }

    /// Adds to a launch what a request of its host's says of how the program is to be started.
    fn amend(&self, request: &Request<'_>, fields: Fields<'_>, launch: &mut Launch) {
        let _ = (request, fields, launch);
    }
}

/// A dialect without a program of its own: nothing is answered, and what makes no sense is told.
#[derive(Clone, Copy, Debug)]
pub struct NoProgram;

impl Conduct for NoProgram {
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("Unknown control request subtype: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, line: &Misread<'_>) -> Damage {
        Damage::Told(line.why.to_owned())
    }

    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(!ended.interactive && ended.is_error)
    }
}

/// A question that a program asks in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextQuestion {
    /// The tool, as the body of a JSON string.
    pub tool: String,
    /// What was printed, up to where the choice is typed.
    pub text: Vec<u8>,
}

/// Takes the questions out of what a program prints.
pub trait TextQuestions: std::fmt::Debug {
    /// Takes what the program printed, in pieces of any size, and gives on to `lines` what is no question. After a question the
    /// rest is kept: call this again, with nothing, before anything else.
    fn feed(&mut self, bytes: &[u8], lines: &mut Vec<u8>) -> Option<TextQuestion>;

    /// Nothing more comes: gives on what was kept.
    fn finish(&mut self, lines: &mut Vec<u8>);
}

/// What a person may choose when a question is asked in plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Only this call may run.
    Once,
    /// This call, and every later one of the same tool.
    Always,
    /// This call may not run.
    Deny,
    /// It may not run, and the run is to end.
    Stop,
}

/// What a person answered to a question in plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The call may run.
    Allow,
    /// The call may run, and so may every later one of the same tool.
    AllowTool,
    /// The call may not run, in these words.
    Deny(String),
    /// It may not run, and the turn ends.
    Stop {
        /// What the program prints at once.
        prints: &'static str,
        /// Why the turn ended.
        why: String,
    },
    /// It is no answer: the program prints this and waits for another one.
    Unclear(&'static str),
}

/// A member of a control request.
pub(crate) fn member<'a>(fields: Fields<'a>, name: &str) -> Option<Raw<'a>> {
    fields.iter().find(|field| field.key.is(name)).map(|field| field.value)
}

/// A text among the members of a control request, as plain text.
pub(crate) fn text(fields: Fields<'_>, name: &str) -> Option<String> {
    member(fields, name).and_then(Raw::string).map(|text| text.unescape().into_owned())
}

/// What is answered to a control request that cannot be handed on, under its id as it is spelled.
pub(crate) fn refused_request(line: Raw<'_>, why: &str) -> Option<String> {
    refused_with_code(line, why, None)
}

/// The same, with a code.
pub(crate) fn refused_with_code(line: Raw<'_>, why: &str, code: Option<&str>) -> Option<String> {
    let is_other = |kind: Raw<'_>| !kind.string().is_some_and(|word| word.is("control_request"));
    if line.get("type").is_some_and(is_other) {
        return None;
    }
    let id = line.get("request_id").unwrap_or(Raw::NULL);
    Some(format!(
        "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"error\",\"request_id\":{},\"error\":{}{}}}}}\n",
        id.as_str(),
        quoted(why),
        code.map(|code| format!(",\"error_code\":\"{code}\"")).unwrap_or_default()
    ))
}

/// Whether the type of a line is `result`.
pub(crate) fn is_result(line: Raw<'_>) -> bool {
    line.get("type").and_then(Raw::string).is_some_and(|word| word.is("result"))
}

/// Adds the MCP servers that a handshake names to those of the command line; a later one of the same name counts.
pub(crate) fn add_servers(fields: Fields<'_>, launch: &mut Launch) {
    if let Some(servers) = member(fields, "mcpServers").filter(|servers| servers.members().next().is_some()) {
        launch.mcp_config.push(format!("{{\"mcpServers\":{}}}", servers.as_str()));
    }
}

/// Plain text as a JSON string.
pub(crate) fn quoted(plain: &str) -> String {
    let mut body = String::with_capacity(plain.len() + 2);
    body.push('"');
    Str::escape(plain, &mut body);
    body.push('"');
    body
}
