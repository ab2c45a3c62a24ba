use super::{Count, Scope, Stop, Usage};
use crate::json::{Raw, Str};

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

    /// The answer, for a target that says it where nothing has said it before.
    pub(crate) fn answer(&self, out: &crate::json::Out) -> Option<Str<'_>> {
        let text = self.text?;
        if self.told_before {
            // It went over with the reply that said it.
            out.used(text.as_escaped());
            return None;
        }
        Some(text)
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
