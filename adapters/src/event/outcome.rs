use std::borrow::Cow;

use super::{Count, Fate, Scope, Stop, Usage};
use crate::json::{Out, Raw, Str};

/// How a turn ended: Claude's, Qwen Code's and Cursor's `result`, the RFC's summary, Tricode's `final` or the lack of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// What it means.
    pub kind: OutcomeKind,
    /// Whether the source calls it an error.
    pub is_error: bool,
    /// Made up because the source had none (a killed run, a truncated log).
    pub synthetic: bool,
    /// The answer: the last text, or what the source says it is.
    pub text: Option<Str<'a>>,
    /// That text was said before the outcome of an earlier turn, which was held back: nothing says it anew.
    pub told_before: bool,
    /// What went wrong, for people.
    pub error: Option<Str<'a>>,
    /// The word on the wire: Claude's `subtype`, the RFC's `outcome`.
    pub word: Option<Str<'a>>,
    /// Milliseconds from the prompt to the end.
    pub duration_ms: Option<Raw<'a>>,
    /// Milliseconds spent in model calls.
    pub duration_api_ms: Option<Raw<'a>>,
    /// The source's own count of turns (Claude: 1 + the user lines of the turn; see docs/claude.md).
    pub num_turns: Option<Count<'a>>,
    /// US dollars.
    pub cost_usd: Option<Raw<'a>>,
    /// What they were spent on; Claude's `total_cost_usd` is that of the session so far, whatever its usage counts.
    pub cost_scope: Scope,
    /// Tokens.
    pub usage: Option<Usage<'a>>,
    /// Why the last reply stopped.
    pub stop: Option<Stop<'a>>,
    /// Tool calls that were refused: `[{tool_name,tool_use_id,tool_input}]`.
    pub denials: Option<Raw<'a>>,
    /// The answer in the form that the host's JSON schema asked for.
    pub structured: Option<Raw<'a>>,
    /// The request's id: Cursor's `request_id`.
    pub request_id: Option<Str<'a>>,
}

/// What an outcome means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The turn was done.
    Success,
    /// The model, or a filter, refused.
    Refused,
    /// A limit was reached.
    Limit(Limit),
    /// Somebody stopped it.
    Cancelled,
    /// It failed.
    Failed(Place),
}

/// Which limit ended a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Rounds: `error_max_turns`.
    Turns,
    /// Money: `error_max_budget_usd`.
    Budget,
    /// Tokens or context.
    Tokens,
    /// Attempts at structured output: `error_max_structured_output_retries`.
    Retries,
    /// Time.
    Time,
}

/// Where a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The model or its API.
    Model,
    /// A tool.
    Tool,
    /// The stream between agent and host: it ended too early, or could not be read.
    Protocol,
    /// The agent's program.
    Backend,
}

impl Outcome<'_> {
    /// What went wrong where the source lacks the end of a turn.
    pub(crate) const CUT_OFF: &'static str = "the log ends before the turn does";

    /// The same of a session's file.
    pub(crate) const FILE_CUT_OFF: &'static str = "the session's file ends before the turn does";

    /// Whether it neither answers nor says what went wrong.
    pub(crate) fn says_nothing(&self) -> bool {
        !self.is_error && self.structured.is_none() && self.text.is_none_or(|text| text.is_empty())
    }

    /// The answer, for a target that says it where nothing has said it before.
    pub(crate) fn answer(&self, out: &Out) -> Option<Str<'_>> {
        let text = self.text?;
        if self.told_before {
            // It went over with the reply that said it.
            out.used(text.as_escaped());
            return None;
        }
        Some(text)
    }

    /// Tells the ledger, for a target that does not say how turns end, that it does not say that this one ended badly.
    pub(crate) fn unsaid(&self, out: &Out) {
        if self.is_error && !self.synthetic {
            self.kind.told_as(OutcomeKind::Success, out);
        }
    }

    /// An outcome of which only the meaning is known.
    pub const fn new(kind: OutcomeKind) -> Self {
        Self {
            is_error: !matches!(kind, OutcomeKind::Success),
            kind,
            synthetic: false,
            text: None,
            told_before: false,
            error: None,
            word: None,
            duration_ms: None,
            duration_api_ms: None,
            num_turns: None,
            cost_usd: None,
            cost_scope: Scope::Session,
            usage: None,
            stop: None,
            denials: None,
            structured: None,
            request_id: None,
        }
    }
}

impl OutcomeKind {
    /// The word that the RFC's summary and the `agentglot` dialect use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Refused => "refused",
            Self::Limit(Limit::Turns) => "limit_turns",
            Self::Limit(Limit::Budget) => "limit_budget",
            Self::Limit(Limit::Tokens) => "limit_tokens",
            Self::Limit(Limit::Retries) => "limit_retries",
            Self::Limit(Limit::Time) => "limit_time",
            Self::Cancelled => "cancelled",
            Self::Failed(Place::Model) => "failed_model",
            Self::Failed(Place::Tool) => "failed_tool",
            Self::Failed(Place::Protocol) => "failed_protocol",
            Self::Failed(Place::Backend) => "failed_backend",
        }
    }

    /// Every outcome.
    pub const ALL: [Self; 12] = [
        Self::Success,
        Self::Refused,
        Self::Limit(Limit::Turns),
        Self::Limit(Limit::Budget),
        Self::Limit(Limit::Tokens),
        Self::Limit(Limit::Retries),
        Self::Limit(Limit::Time),
        Self::Cancelled,
        Self::Failed(Place::Model),
        Self::Failed(Place::Tool),
        Self::Failed(Place::Protocol),
        Self::Failed(Place::Backend),
    ];

    /// Reads the word back.
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// How a turn ended badly of which this is said, where [`Self::message`] has said it.
    pub(crate) fn named(message: &str) -> Option<Self> {
        if [Outcome::CUT_OFF, Outcome::FILE_CUT_OFF].contains(&message) {
            return Some(Self::Failed(Place::Protocol));
        }
        let word = message.split_once(": ").map_or(message, |(word, _)| word);
        Self::read(word).filter(|kind| *kind != Self::Success)
    }

    /// Its word, where a text stands behind it. Where something failed is not worth a word before what the source says.
    pub(crate) const fn prefix(self) -> Option<&'static str> {
        match self {
            Self::Success | Self::Failed(_) => None,
            kind => Some(kind.as_str()),
        }
    }

    /// What went wrong, for the member `at` of a target that tells how a turn ended by a message, as `read` reads it: as the source says it, behind
    /// the words `own` if it would be read as something else.
    pub(crate) fn message<'t>(
        self,
        text: Option<Str<'t>>,
        own: Option<&'static str>,
        read: impl Fn(&str) -> Self,
        at: &'static str,
        out: &Out,
    ) -> Cow<'t, str> {
        let Some(text) = text.filter(|text| !text.is_empty()).map(Str::as_escaped) else {
            let words = own.unwrap_or(self.as_str());
            out.invented(at, "the source does not say what went wrong");
            self.told_as(read(words), out);
            return Cow::Borrowed(words);
        };
        match own.filter(|_| read(text) != self) {
            None => {
                self.told_as(read(text), out);
                Cow::Borrowed(text)
            }
            Some(own) => {
                out.used(text);
                out.invented(at, "before what the source says stand the words that tell how the turn ended");
                let between = if own.ends_with('.') { " " } else { ": " };
                Cow::Owned(format!("{own}{between}{text}"))
            }
        }
    }

    /// Tells the ledger if the target has no word for it and says something else.
    pub(crate) fn told_as(self, other: Self, out: &Out) {
        if self != other && self != Self::Success {
            out.note(Fate::Renamed, "", "how the turn ended has no word of its own in the target");
        }
    }
}

/// The program itself ends with an error: the RFC's bare `{"error":{…}}`, Tricode's plain error lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fatal<'a> {
    /// What happened.
    pub message: Str<'a>,
    /// OpenAI's `type` (`invalid_request_error` …).
    pub kind: Option<Str<'a>>,
    /// OpenAI's `param`.
    pub param: Option<Raw<'a>>,
    /// A code: `QWEN_INVALID_TOOL_ARGS` …
    pub code: Option<Raw<'a>>,
}
