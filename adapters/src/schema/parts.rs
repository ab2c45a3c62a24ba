//! What several dialects have in common: messages and their blocks, usage, the control channel, pieces of a stream.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{Line, line, one_of};

/// Any JSON object.
pub(crate) type Object = BTreeMap<String, Value>;

/// Text, or a list of blocks.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Content {
    /// Plain text.
    Text(String),
    /// Blocks of several kinds.
    Blocks(Vec<Block>),
}

/// One block of a message. Kinds that are not described are allowed.
pub(crate) struct Block;

impl JsonSchema for Block {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Block".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_of(
            generator,
            &[
                line::<Text>(&[("type", "text")]),
                line::<Thinking>(&[("type", "thinking")]),
                line::<ToolUse>(&[("type", "tool_use")]),
                line::<ToolResult>(&[("type", "tool_result")]),
            ],
        )
    }
}

/// Text.
#[derive(JsonSchema)]
struct Text {
    text: String,
}

/// A thought, with the API's signature.
#[derive(JsonSchema)]
struct Thinking {
    thinking: String,
    signature: Option<String>,
}

/// A call of a tool.
#[derive(JsonSchema)]
struct ToolUse {
    id: String,
    name: String,
    input: Option<Value>,
}

/// What came of a call.
#[derive(JsonSchema)]
struct ToolResult {
    tool_use_id: String,
    content: Option<Content>,
    is_error: Option<bool>,
}

/// A message of the model's.
#[derive(JsonSchema)]
pub(crate) struct Reply {
    id: Option<String>,
    role: Option<String>,
    model: Option<String>,
    content: Vec<Block>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Option<Usage>,
}

/// A message of the user's side: prompts, and results of tools.
#[derive(JsonSchema)]
pub(crate) struct Message {
    role: Option<String>,
    content: Content,
}

/// Tokens, as Anthropic's API counts them.
#[derive(JsonSchema)]
pub(crate) struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    total_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

/// What the output is made of.
#[derive(JsonSchema)]
pub(crate) struct OutputDetails {
    thinking_tokens: Option<u64>,
}

/// A question of the control channel.
#[derive(JsonSchema)]
pub(crate) struct ControlRequest {
    request_id: String,
    request: Request,
}

/// What is asked, by `subtype`.
struct Request;

impl JsonSchema for Request {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Request".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = one_of(
            generator,
            &[
                line::<CanUseTool>(&[("subtype", "can_use_tool")]),
                line::<HookCallback>(&[("subtype", "hook_callback")]),
                line::<McpMessage>(&[("subtype", "mcp_message")]),
            ],
        );
        schema.insert("required".to_owned(), serde_json::json!(["subtype"]));
        schema
    }
}

/// Whether a tool may run.
#[derive(JsonSchema)]
struct CanUseTool {
    tool_name: String,
    input: Object,
    tool_use_id: Option<String>,
    permission_suggestions: Option<Vec<Value>>,
}

/// A hook of the host's is to run.
#[derive(JsonSchema)]
struct HookCallback {
    callback_id: String,
    input: Option<Value>,
}

/// A message for an MCP server of the host's.
#[derive(JsonSchema)]
struct McpMessage {
    server_name: String,
    message: Object,
}

/// A question of the host's: what each subtype takes is the agent's to judge.
#[derive(JsonSchema)]
pub(crate) struct HostRequest {
    request_id: String,
    request: Subtyped,
}

/// Something of a subtype.
#[derive(JsonSchema)]
pub(crate) struct Subtyped {
    subtype: String,
}

/// An answer of the control channel.
#[derive(JsonSchema)]
pub(crate) struct ControlResponse {
    response: Response,
}

/// What is answered.
#[derive(JsonSchema)]
struct Response {
    subtype: String,
    request_id: String,
    response: Option<Value>,
    error: Option<Value>,
}

/// A question is taken back.
#[derive(JsonSchema)]
pub(crate) struct ControlCancel {
    request_id: String,
}

/// A piece of a reply, as Anthropic's API streams it.
pub(crate) struct StreamPiece;

impl JsonSchema for StreamPiece {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StreamPiece".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = one_of(generator, PIECES);
        schema.insert("required".to_owned(), serde_json::json!(["type"]));
        schema
    }
}

/// The pieces of a stream.
pub(crate) const PIECES: &[Line] = &[
    line::<MessageStart>(&[("type", "message_start")]),
    line::<BlockStart>(&[("type", "content_block_start")]),
    line::<BlockDelta>(&[("type", "content_block_delta")]),
    line::<BlockStop>(&[("type", "content_block_stop")]),
    line::<MessageDelta>(&[("type", "message_delta")]),
    line::<StreamError>(&[("type", "error")]),
];

/// A reply begins.
#[derive(JsonSchema)]
struct MessageStart {
    message: Object,
}

/// A block begins.
#[derive(JsonSchema)]
struct BlockStart {
    index: u64,
    content_block: Object,
}

/// A piece of a block.
#[derive(JsonSchema)]
struct BlockDelta {
    index: u64,
    delta: Object,
}

/// A block is whole.
#[derive(JsonSchema)]
struct BlockStop {
    index: u64,
}

/// Why the reply stopped.
#[derive(JsonSchema)]
struct MessageDelta {
    delta: Object,
    usage: Option<Usage>,
}

/// The API failed in the middle of a reply.
#[derive(JsonSchema)]
struct StreamError {
    error: Object,
}

/// What the model says: a whole reply, or some blocks of it.
#[derive(JsonSchema)]
pub(crate) struct Assistant {
    message: Reply,
    session_id: Option<String>,
    uuid: Option<String>,
    /// The call whose subagent speaks.
    parent_tool_use_id: Option<String>,
    error: Option<Value>,
}

/// The user's side: prompts that are said again, results of tools.
#[derive(JsonSchema)]
pub(crate) struct User {
    message: Message,
    session_id: Option<String>,
    uuid: Option<String>,
    parent_tool_use_id: Option<String>,
    /// The typed form of a result.
    tool_use_result: Option<Value>,
}

/// Something about the session.
#[derive(JsonSchema)]
pub(crate) struct System {
    subtype: String,
    session_id: Option<String>,
    uuid: Option<String>,
}

/// An MCP server, and how it is.
#[derive(JsonSchema)]
pub(crate) struct McpServer {
    name: String,
    status: String,
}

/// A piece of a reply.
#[derive(JsonSchema)]
pub(crate) struct StreamEvent {
    event: StreamPiece,
    session_id: Option<String>,
    parent_tool_use_id: Option<String>,
    uuid: Option<String>,
}

/// A prompt.
#[derive(JsonSchema)]
pub(crate) struct Prompt {
    message: Message,
    session_id: Option<String>,
    parent_tool_use_id: Option<String>,
    uuid: Option<String>,
}
