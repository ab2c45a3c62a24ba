//! Logs put together: sessions of turns, turns of rounds, rounds of blocks, calls with their results and subagents.
//!
//! [`turns`] gives each turn when it ends, whatever the log is made of: deltas become whole blocks, what comes twice counts once,
//! a turn that breaks off gets an outcome that says so. [`sessions`] collects them.
//!
//! | what | where it comes from |
//! |---|---|
//! | [`Session`] | all turns with one session id |
//! | [`Turn`] | from a prompt, or the session's facts, up to the outcome |
//! | [`Round`] | one model call: Anthropic's `message.id`, a reply with one `finish_reason`, Cursor's `model_call_id` |
//! | [`Block`] | one piece of a reply: text, thought, [`Call`] |
//! | [`Call::result`] | the result with the call's id |
//! | [`Call::subagent`] | what lines say whose parent is the call |
//! | [`Call::permission`] | the request for permission that names the call, and its answer if the log holds it |
//!
//! Tokens are those of the source. Times and costs stand in the [`Outcome`]: milliseconds and US dollars.

mod build;
mod deed;
mod gone;
mod growing;
#[cfg(feature = "serde")]
mod serde;

use std::io::Read;

use crate::codec::Format;
use crate::events::{
    self, Event, Json, Notice, Outcome, Prompt, Response, ResultStatus, SessionFacts, Stop, Thinking, Time, ToolKind, ToolProgress, ToolResult, Usage,
};
use crate::read::{Error, Intake, Source};
pub use deed::Deed;
pub use growing::Growing;

/// One conversation with one id.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Session {
    /// Its id; `None` if no line names one.
    pub id: Option<String>,
    /// Its facts as they were told last.
    pub facts: Option<SessionFacts>,
    /// Its turns in order.
    pub turns: Vec<Turn>,
}

/// One prompt up to its outcome.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The id of its session.
    pub session: Option<String>,
    /// Its number in the session, counted from 1.
    pub number: u64,
    /// The session's facts as they were told last.
    pub facts: Option<SessionFacts>,
    /// When its first line was said, where lines say so.
    pub started: Option<Time>,
    /// When its last line was said.
    pub ended: Option<Time>,
    /// What the main thread said.
    pub thread: Thread,
    /// Subagents whose call the log does not hold.
    pub strays: Vec<Subagent>,
    /// Requests for permission that name no call of the turn.
    pub permissions: Vec<Permission>,
    /// Model calls that failed and were tried again.
    pub retries: Vec<Notice>,
    /// Where the conversation was made shorter.
    pub compactions: Vec<Notice>,
    /// Everything else, in order: other notices, control requests, output for a terminal, noise, unknown lines.
    pub others: Vec<Event>,
    /// Where in the main thread the things of these lists stand, in order.
    pub asides: Vec<Aside>,
    /// The tokens of the turn: as the source says; else what the session's sum has grown by, or the sum of the main thread's rounds
    /// (then `provenance` is derived).
    pub usage: Option<Usage>,
    /// The tokens of the session so far, where the source says them.
    pub session_usage: Option<Usage>,
    /// How it ended. `None` only in logs of the host's side, which do not say.
    pub outcome: Option<Outcome>,
    /// Where its first line stands, and its last one, as [`Growing::at`] was told; else 0.
    pub places: (u64, u64),
    gone: gone::Gone,
}

/// Where something beside the replies of the main thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Aside {
    /// The round, counted from 0.
    pub round: usize,
    /// The block of it before which it stands, counted from 0; how many there are where it stands behind the last one.
    pub block: usize,
    /// What it is: the next one of the list.
    pub what: AsideKind,
}

/// The list that an [`Aside`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsideKind {
    /// [`Thread::prompts`].
    Prompt,
    /// [`Turn::permissions`].
    Permission,
    /// [`Turn::retries`].
    Retry,
    /// [`Turn::compactions`].
    Compaction,
    /// [`Turn::others`].
    Other,
}

/// What one agent said in a turn: the main one or a subagent.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Thread {
    /// Text in the user's role, where the log holds it: the prompt, and what the program adds.
    pub prompts: Vec<Prompt>,
    /// Where each of those stands, as [`Growing::at`] was told; else 0.
    pub prompt_places: Vec<u64>,
    /// Its model calls in order.
    pub rounds: Vec<Round>,
}

/// One model call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Round {
    /// The reply's id, if the source has one.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// When it was first heard of.
    pub time: Option<Time>,
    /// What it replied, in order.
    pub blocks: Vec<Block>,
    /// What it replied and took back, when the reply was given up.
    pub retracted: Vec<Block>,
    /// Why it stopped.
    pub stop: Option<Stop>,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// The reply is an error message, not the model's words.
    pub error: Option<String>,
    /// Where it was first heard of, as [`Growing::at`] was told; else 0.
    pub place: u64,
    over: bool,
}

/// One piece of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text that the user sees.
    Text(String),
    /// What the model thought.
    Thinking(Thinking),
    /// A tool call.
    Call(Box<Call>),
    /// Anything else: media, redacted thought, kinds without a meaning here.
    Other(events::Block),
}

/// A tool call with what came of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool's name in the source dialect.
    pub name: String,
    /// What the tool does, if it is known.
    pub kind: ToolKind,
    /// The arguments: an object as a rule.
    pub input: Json,
    /// When it was said, where the line says so.
    pub asked: Option<Time>,
    /// When its result was said.
    pub answered: Option<Time>,
    /// Who was asked whether it may run, and the answer.
    pub permission: Option<Permission>,
    /// What was to be seen while it ran.
    pub progress: Vec<ToolProgress>,
    /// What came of it; `None` if the log does not say.
    pub result: Option<ToolResult>,
    /// The subagent that worked for it.
    pub subagent: Option<Subagent>,
    /// Where its block stands, and its result, as [`Growing::at`] was told; else 0.
    pub places: (u64, u64),
}

/// An agent that works for a tool call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Subagent {
    /// The id of the call.
    pub call: String,
    /// Who it is, where lines name it.
    pub agent: Option<events::Agent>,
    /// What it said.
    pub thread: Thread,
}

/// A request for permission.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Permission {
    /// The request's id.
    pub id: Option<String>,
    /// What is to be allowed.
    pub asked: events::Permission,
    /// The answer, if the log holds it: those of agents alone do not.
    pub answer: Option<Response>,
    /// The agent took the question back.
    pub withdrawn: bool,
}

impl Turn {
    /// The calls of the turn, those of subagents too, each before those of its subagent.
    pub fn calls(&self) -> Vec<&Call> {
        let mut calls = Vec::new();
        self.thread.each_call(&mut |call| calls.push(call));
        for stray in &self.strays {
            stray.thread.each_call(&mut |call| calls.push(call));
        }
        calls
    }

    /// What the agent said to the user in the main thread, the texts of its rounds with a line feed between them.
    pub fn text(&self) -> String {
        let blocks = self.thread.rounds.iter().flat_map(|round| &round.blocks);
        let texts: Vec<&str> = blocks
            .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
            .collect();
        texts.join("\n")
    }
}

impl Thread {
    fn each_call<'t>(&'t self, each: &mut impl FnMut(&'t Call)) {
        for block in self.rounds.iter().flat_map(|round| &round.blocks) {
            if let Block::Call(call) = block {
                each(call);
                if let Some(subagent) = &call.subagent {
                    subagent.thread.each_call(each);
                }
            }
        }
    }
}

impl Call {
    /// Whether it ran and succeeded; `None` if the log does not say.
    pub fn succeeded(&self) -> Option<bool> {
        self.result.as_ref().map(|result| result.status == ResultStatus::Success)
    }
}

impl Round {
    /// Whether nothing more belongs to its reply.
    pub const fn is_over(&self) -> bool {
        self.over
    }
}

impl Permission {
    /// Whether it was given; `None` if the log does not say.
    pub fn allowed(&self) -> Option<bool> {
        let answer = self.answer.as_ref()?;
        let behavior = answer.body.as_ref().and_then(|body| body.get("behavior")?.to_text());
        if answer.ok { behavior.map(|word| word == "allow") } else { Some(false) }
    }
}

/// Reads the turns of a log: each is given when it ends. What is held at a time is one turn.
///
/// ```
/// use agentglot_adapters::{Dialect, turns};
/// let log = r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}
/// {"type":"user","session_id":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a.txt"}]}}
/// {"type":"result","subtype":"success","is_error":false,"result":"One file.","session_id":"s"}
/// "#;
/// for turn in turns(log.as_bytes(), Dialect::Claude) {
///     let turn = turn?;
///     let calls = turn.calls();
///     assert_eq!(calls[0].input.get("command").unwrap().to_text().unwrap(), "ls");
///     assert_eq!(calls[0].result.as_ref().unwrap().content.text(), "a.txt");
/// }
/// # Ok::<(), agentglot_adapters::Error>(())
/// ```
pub fn turns<R: Read>(reader: R, from: impl Into<Source>) -> Turns<R> {
    Turns {
        input: Intake::new(reader, from.into()),
        log: None,
        without_contents: false,
        over: false,
    }
}

/// Reads the sessions of a log that fits into memory, in the order in which they begin, and what could not be read of it.
pub fn sessions<R: Read>(reader: R, from: impl Into<Source>) -> (Vec<Session>, Vec<Error>) {
    let mut sessions: Vec<Session> = Vec::new();
    let mut errors = Vec::new();
    for turn in turns(reader, from) {
        let turn = match turn {
            Ok(turn) => turn,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        let at = sessions.iter().position(|session| session.id == turn.session).unwrap_or_else(|| {
            sessions.push(Session {
                id: turn.session.clone(),
                ..Session::default()
            });
            sessions.len() - 1
        });
        let session = &mut sessions[at];
        session.facts = turn.facts.clone().or(session.facts.take());
        session.turns.push(turn);
        // Sessions may take turns in one log; the number is that within the session.
        let count = session.turns.len() as u64;
        session.turns.last_mut().expect("one was just put in").number = count;
    }
    (sessions, errors)
}

/// The turns of a log: what [`turns`] gives.
#[derive(Debug)]
pub struct Turns<R> {
    input: Intake<R>,
    log: Option<Growing>,
    without_contents: bool,
    over: bool,
}

impl<R: Read> Turns<R> {
    /// The same for a log that errors call by this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.input.name = Some(name.into());
        self
    }

    /// What calls were given, what came of them and what the model thought is left out: enough to count, and less work. To be said before
    /// anything is read.
    pub const fn leave_contents(&mut self) {
        self.without_contents = true;
    }

    /// Takes what was said since the last turn and belongs to none.
    pub fn rest(&mut self) -> Vec<Event> {
        self.log.as_mut().map(Growing::rest).unwrap_or_default()
    }

    /// What the log is written in. `None`: it holds nothing.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn format(&mut self) -> Result<Option<Format>, Error> {
        self.input.format()
    }

    /// Reads on: gives a turn that has ended, or nothing where more has to be read to end one. `None`: there is no more.
    pub fn step(&mut self) -> Option<Result<Option<Turn>, Error>> {
        loop {
            if let Some(log) = &mut self.log {
                if let Some(found) = log.next_ended() {
                    return Some(found.map(Some).map_err(|error| error.in_file(self.input.name.as_deref())));
                }
                // Before a read that may wait.
                if !self.over && log.is_fresh() {
                    return Some(Ok(None));
                }
            }
            if self.over {
                return None;
            }
            match self.more() {
                Ok(more) => self.over = !more,
                Err(error) => {
                    self.over = true;
                    if let Some(log) = &mut self.log {
                        log.broke_off();
                    }
                    return Some(Err(error));
                }
            }
        }
    }

    /// The turn that has begun and not ended. Who shows it as it grows may let go of what is shown ([`Turn::let_go`]): the turn that
    /// [`Self::step`] gives in the end lacks it too.
    pub fn going_on(&mut self) -> Option<&mut Turn> {
        self.log.as_mut()?.going_on()
    }

    fn more(&mut self) -> Result<bool, Error> {
        let Some(format) = self.input.format()? else { return Ok(false) };
        let follow = self.input.follows();
        let without_contents = self.without_contents;
        let log = self.log.get_or_insert_with(|| {
            let mut log = Growing::following(format, follow);
            if without_contents {
                log.leave_contents();
            }
            log
        });
        let piece = self.input.piece()?;
        if piece.is_empty() {
            log.finish();
        } else {
            log.feed(piece);
        }
        Ok(!piece.is_empty())
    }
}

impl<R: Read> Iterator for Turns<R> {
    type Item = Result<Turn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(turn) = self.step()?.transpose() {
                return Some(turn);
            }
        }
    }
}
