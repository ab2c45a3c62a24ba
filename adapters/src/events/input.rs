//! What a host says.

use super::mirror::{owned, owned_enum};
use super::{InputOrigin, Json, Prompt, Request, Response, Withdraw};

owned_enum! {
    /// What a host can say.
    #[derive(Clone, Debug, PartialEq)]
    enum InputKind = InputKind {
        /// A prompt.
        Prompt(Box<Prompt>),
        /// A prompt with all that the RFC adds to it.
        Chat(Box<ChatRequest>),
        /// A question to the agent.
        Request(Box<Request>),
        /// An answer to the agent.
        Response(Box<Response>),
        /// A question is taken back.
        Withdraw(Withdraw),
        /// The user types a command.
        Hint(Box<HintRequest>),
        /// The hints are no longer wanted.
        HintCancel,
        /// Are you alive.
        Heartbeat {
            /// Asks for heartbeats at this pace, in milliseconds; 0 stops them.
            interval_ms: Option<Json>,
        },
        /// Stop the turn.
        Cancel {
            /// Why.
            reason: Option<String>,
        },
        /// Nothing, said so that the pipe stays open.
        KeepAlive,
        /// Other environment variables.
        Environment(Json),
        /// Text that is no JSON.
        Noise(Box<str>),
        /// A line of no type that the dialect knows.
        Unknown(Json),
    }
}

owned! {
    /// The RFC's Chat Request, and the plain `{model,messages}` request.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct ChatRequest = ChatRequest {
        /// The model for this turn.
        model: Option<String>,
        /// Whose words the parts are.
        origin: Option<InputOrigin>,
        /// `[{type:"text",text}, {type:"function_response",…}, {type:"file_data",…}, {type:"instruction",text}]`.
        parts: Option<Json>,
        /// `{kind,path,args,references}`.
        command: Option<Json>,
        /// The call that `parts` answers.
        tool_call: Option<String>,
        /// `{temperature,tool_overrides,…}`.
        options: Option<Json>,
        /// Tools that the host runs.
        tools: Option<Json>,
        /// `messages` of a plain request; the last user message is the prompt.
        messages: Option<Json>,
        /// The protocol version that the client wants.
        protocol_version: Option<Json>,
    }

    /// The user types a command and wants suggestions.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct HintRequest = HintRequest {
        /// `slash` or `at`.
        trigger: Option<String>,
        /// What stands in the input box.
        text: Option<String>,
        /// The cursor's place in it.
        cursor: Option<Json>,
        /// `{cwd,selected_text}`.
        context: Option<Json>,
    }
}
