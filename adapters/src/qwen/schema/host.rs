//! What the RFC's hosts write.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, line, one_of};

pub(super) const LINES: &[Line] = &[
    line::<ChatRequest>(&[("input", "")]),
    line::<PlainRequest>(&[("messages", "")]),
    line::<HintRequest>(&[("type", "command_hint_request")]),
    line::<SideRequest>(&[("type", "command_hint_cancel")]),
    line::<HeartbeatRequest>(&[("type", "heartbeat_request")]),
    line::<Cancel>(&[("type", "control/cancel")]),
    line::<HostResponse>(&[("type", "control_response")]),
];

/// A prompt, a command, or the result of a tool of the host's.
#[derive(JsonSchema)]
struct ChatRequest {
    /// `_new`, or none, begins a session.
    session_id: Option<String>,
    /// `<session_id>########<n>` without it.
    prompt_id: Option<String>,
    model: Option<String>,
    input: Input,
    tool_call_id: Option<String>,
    continuation: Option<bool>,
    tool_request: Option<ToolRequest>,
    /// The questions about commands that the host answers on the control channel: confirm_shell_commands, confirm_action,
    /// quit_confirmation.
    capabilities: Option<Words>,
    options: Option<Options>,
    tools: Option<Vec<HostTool>>,
    protocol_version: Option<ProtocolVersion>,
}

/// A call that the host wants to be run.
#[derive(JsonSchema)]
struct ToolRequest {
    #[schemars(rename = "callId")]
    call_id: Option<String>,
    name: String,
    args: Option<Value>,
    /// The model is not told of it.
    #[schemars(rename = "isClientInitiated")]
    is_client_initiated: Option<bool>,
    prompt_id: Option<String>,
}

/// Words between blanks, or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

/// A number, or a text that holds one.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum ProtocolVersion {
    Number(u64),
    Text(String),
}

/// What the host says.
#[derive(JsonSchema)]
struct Input {
    origin: Origin,
    parts: Vec<Part>,
    command: Option<Command>,
    tool_call_id: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
enum Origin {
    User,
    ToolResponse,
    System,
}

/// text, function_response, file_data, inline_data or instruction; others are allowed.
struct Part;

impl JsonSchema for Part {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_of(
            generator,
            &[
                line::<Text>(&[("type", "text")]),
                line::<Text>(&[("type", "instruction")]),
                line::<FunctionResponse>(&[("type", "function_response")]),
                line::<FileData>(&[("type", "file_data")]),
                line::<InlineData>(&[("type", "inline_data")]),
            ],
        )
    }
}

/// Text, or an instruction to the program.
#[derive(JsonSchema)]
struct Text {
    text: String,
}

/// What came of a call of a tool of the host's.
#[derive(JsonSchema)]
struct FunctionResponse {
    function_response: Object,
}

/// A file by its address.
#[derive(JsonSchema)]
struct FileData {
    file_data: Object,
}

/// A file in base64.
#[derive(JsonSchema)]
struct InlineData {
    inline_data: Object,
}

/// A slash or an at command.
#[derive(JsonSchema)]
pub(super) struct Command {
    /// `slash` or `at`.
    kind: String,
    path: Option<Vec<String>>,
    args: Option<String>,
    references: Option<Vec<Reference>>,
    #[schemars(rename = "approvedCommands")]
    approved_commands: Option<Vec<String>>,
    /// once, always or cancel.
    #[schemars(rename = "confirmationOutcome")]
    confirmation_outcome: Option<String>,
}

/// A file that is spoken of.
#[derive(JsonSchema)]
struct Reference {
    original: String,
    resolved: Option<String>,
}

/// For this request alone.
#[derive(JsonSchema)]
struct Options {
    model: Option<String>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u64>,
    /// The only tools that may run.
    tool_overrides: Option<Vec<String>>,
}

/// A tool of the host's, in OpenAI's function shape.
#[derive(JsonSchema)]
struct HostTool {
    r#type: Option<String>,
    function: HostFunction,
}

/// What the model is told of it.
#[derive(JsonSchema)]
struct HostFunction {
    name: String,
    description: Option<String>,
    parameters: Option<Object>,
}

/// A request as OpenAI's API takes it: the last message is the prompt, those before it the history.
#[derive(JsonSchema)]
struct PlainRequest {
    model: Option<String>,
    messages: Vec<PlainMessage>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u64>,
    tools: Option<Vec<HostTool>>,
}

/// One of them.
#[derive(JsonSchema)]
struct PlainMessage {
    role: String,
    content: Option<PlainContent>,
}

/// Text, or parts.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum PlainContent {
    Text(String),
    Parts(Vec<BTreeMap<String, Value>>),
}

/// Suggestions are wanted.
#[derive(JsonSchema)]
struct HintRequest {
    session_id: Option<String>,
    prompt_id: Option<String>,
    /// `slash` or `at`.
    trigger: String,
    text: String,
    cursor: Option<u64>,
    context: Option<HintContext>,
}

/// Where the user is.
#[derive(JsonSchema)]
struct HintContext {
    cwd: Option<String>,
    selected_text: Option<String>,
}

/// Something about a session.
#[derive(JsonSchema)]
struct SideRequest {
    session_id: Option<String>,
    prompt_id: Option<String>,
}

/// A sign of life is wanted, or one every so many milliseconds.
#[derive(JsonSchema)]
struct HeartbeatRequest {
    session_id: Option<String>,
    prompt_id: Option<String>,
    interval_ms: Option<u64>,
}

/// The turn is to stop.
#[derive(JsonSchema)]
struct Cancel {
    session_id: Option<String>,
    prompt_id: Option<String>,
    reason: Option<String>,
    /// Wants a `control_response` too.
    request_id: Option<String>,
}

/// The host's answer to a question; the id stands at the top, or inside.
#[derive(JsonSchema)]
struct HostResponse {
    request_id: Option<String>,
    response: HostAnswer,
}

/// What is answered: `result`, or what stands in its place as the `qwen` program reads it.
#[derive(JsonSchema)]
struct HostAnswer {
    subtype: String,
    request_id: Option<String>,
    result: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
}
