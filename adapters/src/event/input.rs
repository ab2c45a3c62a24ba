use super::{Fields, Origin, Prompt, Request, Response, Withdraw};
use crate::json::{Raw, Str};

/// One thing that the host says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input<'a> {
    /// Session and turn it is meant for.
    pub origin: Origin<'a>,
    /// What is said.
    pub kind: InputKind<'a>,
    /// Members that the model has no place for.
    pub fields: Fields<'a>,
}

/// What a host can say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InputKind<'a> {
    /// A prompt: Claude's and Qwen Code's `user` line.
    Prompt(&'a Prompt<'a>),
    /// A prompt with all that the RFC adds to it (origin, command, options, tool results).
    Chat(&'a ChatRequest<'a>),
    /// A question to the agent.
    Request(&'a Request<'a>),
    /// An answer to the agent.
    Response(&'a Response<'a>),
    /// A question is taken back.
    Withdraw(Withdraw<'a>),
    /// The user types a command: the RFC's `command_hint_request`.
    Hint(&'a HintRequest<'a>),
    /// The hints are no longer wanted: `command_hint_cancel`.
    HintCancel,
    /// Are you alive: the RFC's `heartbeat_request`.
    Heartbeat {
        /// Asks for unsolicited heartbeats at this pace, in milliseconds; 0 stops them.
        interval_ms: Option<Raw<'a>>,
    },
    /// Stop the turn: the RFC's `control/cancel`.
    Cancel {
        /// `escape`.
        reason: Option<Str<'a>>,
    },
    /// Nothing, said so that the pipe stays open: Claude's `keep_alive`.
    KeepAlive,
    /// Other environment variables: Claude's `update_environment_variables`.
    Environment(Raw<'a>),
    /// Text that is no JSON.
    Noise(&'a str),
    /// A line of no type that the dialect knows.
    Unknown(Raw<'a>),
}

/// The RFC's Qwen Chat Request, and the plain `{model,messages}` request that its examples show.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChatRequest<'a> {
    /// The model for this turn.
    pub model: Option<Str<'a>>,
    /// Whose words the parts are.
    pub origin: Option<InputOrigin>,
    /// `[{type:"text",text}, {type:"function_response",…}, {type:"file_data",…}, {type:"instruction",text}]`.
    pub parts: Option<Raw<'a>>,
    /// `{kind,path,args,references}`.
    pub command: Option<Raw<'a>>,
    /// The call that `parts` answers, with origin `tool_response`.
    pub tool_call: Option<Str<'a>>,
    /// `{temperature,tool_overrides,…}`.
    pub options: Option<Raw<'a>>,
    /// Tools that the host runs, in OpenAI's function shape.
    pub tools: Option<Raw<'a>>,
    /// `messages` of a plain request; the last user message is the prompt.
    pub messages: Option<Raw<'a>>,
    /// The protocol version that the client wants.
    pub protocol_version: Option<Raw<'a>>,
}

/// Whose words a Chat Request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOrigin {
    /// The user's.
    User,
    /// A tool's.
    ToolResponse,
    /// The host program's.
    System,
}

/// The user types a command and wants suggestions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HintRequest<'a> {
    /// `slash` or `at`.
    pub trigger: Option<Str<'a>>,
    /// What stands in the input box.
    pub text: Option<Str<'a>>,
    /// The cursor's place in it.
    pub cursor: Option<Raw<'a>>,
    /// `{cwd,selected_text}`.
    pub context: Option<Raw<'a>>,
}

/// Which side of the pipe a log was taken on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Not known yet.
    #[default]
    Unknown,
    /// What the agent wrote.
    Agent,
    /// What the host wrote.
    Host,
}
