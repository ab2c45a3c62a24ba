//! What a vendor's hosts are told of: the words that a persona and the session have for it.

use agentglot_adapters::raw::event::Topic;
use serde_json::Value;

use crate::model::message::Call;

/// Something that a host is told beside the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A line of its dialect, as it is.
    Line(Value),
    /// A line of type `system` with these members, an id and the session.
    System(&'static str, Value),
    /// A line of this type with these members, an id and the session.
    Other(&'static str, Value),
    /// An event about the session.
    Notice {
        /// What it is called.
        name: &'static str,
        /// What it is about.
        topic: Topic,
        /// In words.
        message: Option<String>,
        /// In members.
        data: Option<Value>,
    },
}

impl Told {
    /// An event about the session.
    pub(crate) fn notice(name: &'static str, topic: Topic, message: Option<&str>, data: Option<Value>) -> Self {
        Self::Notice {
            name,
            topic,
            message: message.map(str::to_owned),
            data,
        }
    }
}

/// A call as a host sees it: its name and its arguments.
pub type ToldCall = fn(name: &str, input: &str) -> (String, String);

/// What a host may want to know of a session besides its facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFacts<'a> {
    /// The output style.
    pub style: &'a str,
    /// The skills, by name.
    pub skills: Value,
    /// The plugins.
    pub plugins: Value,
    /// The format of what the host reads.
    pub output: &'a str,
}

/// How far a conversation was made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted<'a> {
    /// `auto` or `manual`.
    pub trigger: &'a str,
    /// Tokens before it.
    pub before: u64,
    /// Tokens after it.
    pub after: u64,
    /// The id of the line in the transcript where it begins anew.
    pub boundary: &'a str,
    /// The session.
    pub session: &'a str,
}

/// A limit at which a turn has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reached<'a> {
    /// So many rounds.
    Rounds(u64),
    /// The conversation does not fit the model; what is said of that.
    Context(&'a str),
}

/// How a turn ended, where the kind of its outcome does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The model was done.
    Done,
    /// A hook has put a call off.
    Deferred,
    /// The call that was put off cannot be gone on with.
    Unavailable,
    /// A hook has ended it.
    Held,
    /// A hook has ended it when the model was done.
    HeldAtStop,
    /// The model has refused to answer.
    Refused,
    /// The model did not give its answer in the form that was asked for.
    Unstructured,
}

/// A subagent at work and its calls, for whoever sees a display of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SubagentShown<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its task.
    pub task: &'a str,
    /// Its calls.
    pub calls: Vec<CallShown<'a>>,
}

/// A call of a subagent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallShown<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// How far it is.
    pub status: &'static str,
    /// The arguments.
    pub input: &'a Value,
    /// What it gave.
    pub text: Option<&'a str>,
}

/// What is said of a turn that the user has stopped, perhaps while tools ran.
pub const fn interrupted(in_tools: bool) -> &'static str {
    if in_tools {
        "[Request interrupted by user for tool use]"
    } else {
        "[Request interrupted by user]"
    }
}

/// How full the context of a session is, in tokens.
#[derive(Clone, Debug)]
pub struct ContextParts {
    /// The model.
    pub model: String,
    /// So many it reads.
    pub window: u64,
    /// So many there are.
    pub total: u64,
    /// Those of the system prompt.
    pub system: u64,
    /// Those of the tools.
    pub tools: u64,
    /// Those of what was said, by their length alone.
    pub said: u64,
    /// The API has counted all of them.
    pub counted: bool,
}

impl ContextParts {
    /// Those of what was said.
    pub const fn messages(&self) -> u64 {
        self.total.saturating_sub(self.system + self.tools)
    }

    /// Those that there is room for.
    pub const fn free(&self) -> u64 {
        self.window.saturating_sub(self.total)
    }

    /// What people are told of them.
    pub const fn categories(&self) -> [(&'static str, u64); 4] {
        [
            ("System prompt", self.system),
            ("System tools", self.tools),
            ("Messages", self.messages()),
            ("Free space", self.free()),
        ]
    }
}

/// How a reply without calls may end that is no answer yet.
#[derive(Clone, Copy, Debug)]
pub enum Unfinished {
    /// It was cut off at the limit of tokens.
    Cut,
    /// There is nothing in it to see.
    Empty,
    /// It broke off in the middle of its text.
    Broken,
    /// The model, or a filter, refused.
    Refused,
}

/// The form of a result that a host reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultForm {
    /// It is a list of blocks, also where it is one text.
    pub is_blocks: bool,
    /// It says that it is no error.
    pub says_success: bool,
}

/// How often something is reminded of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reminders {
    /// So often.
    pub most: u64,
    /// A turn that ends in spite of them has failed.
    pub fails: bool,
}

/// What becomes of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptState {
    /// It waits for its turn.
    Queued,
    /// Its turn begins.
    Started,
    /// Its turn is over.
    Completed,
    /// Its turn was stopped, or it was taken back.
    Cancelled,
}

impl PromptState {
    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Started => "started",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A call that was refused without a question.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The call.
    pub call: &'a Call,
    /// The subagent that made it.
    pub agent: Option<&'a str>,
    /// What the model reads.
    pub text: &'a str,
    /// What has decided: `mode`, `hook`; `None` where nobody could be asked.
    pub kind: Option<&'a str>,
    /// Why a hook wanted somebody to be asked.
    pub why: Option<&'a str>,
}
