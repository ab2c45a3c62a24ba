//! Codex's lines, as a JSON Schema.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, Sides, line, one_of};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: AGENT,
        tags: &["type", "method", "result", "error", "msg"],
    },
    host: None,
};

// What the lines of `exec` are called does not go together with the methods of the app-server's messages.
const AGENT: &[Line] = &[
    line::<Recorded>(&[("dir", ""), ("msg", "")]),
    line::<ItemMessage>(&[("method", "item/started")]),
    line::<ItemMessage>(&[("method", "item/completed")]),
    line::<PieceMessage>(&[("method", "item/agentMessage/delta")]),
    line::<PieceMessage>(&[("method", "item/reasoning/summaryTextDelta")]),
    line::<TurnMessage>(&[("method", "turn/started")]),
    line::<TurnMessage>(&[("method", "turn/completed")]),
    line::<PlanMessage>(&[("method", "turn/plan/updated")]),
    line::<ThreadStarted>(&[("type", "thread.started")]),
    line::<TurnCompleted>(&[("type", "turn.completed")]),
    line::<TurnFailed>(&[("type", "turn.failed")]),
    line::<Failure>(&[("type", "error")]),
    line::<ItemLine>(&[("type", "item.started")]),
    line::<ItemLine>(&[("type", "item.updated")]),
    line::<ItemLine>(&[("type", "item.completed")]),
];

/// A process begins.
#[derive(JsonSchema)]
struct ThreadStarted {
    thread_id: String,
}

/// The turn is over.
#[derive(JsonSchema)]
struct TurnCompleted {
    usage: Option<Usage>,
}

/// Tokens of all turns of the thread so far.
#[derive(JsonSchema)]
struct Usage {
    /// With those from the cache.
    input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cache_write_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    reasoning_output_tokens: Option<u64>,
}

/// The turn failed.
#[derive(JsonSchema)]
struct TurnFailed {
    error: Failure,
}

/// What went wrong. On a line of its own it ends nothing.
#[derive(JsonSchema)]
struct Failure {
    message: String,
}

/// Something that happens.
#[derive(JsonSchema)]
struct ItemLine {
    item: Item,
}

/// Kinds that are not described are allowed.
struct Item;

impl JsonSchema for Item {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Item".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_of(
            generator,
            &[
                line::<Said>(&[("type", "agent_message")]),
                line::<Said>(&[("type", "reasoning")]),
                line::<Warning>(&[("type", "error")]),
                line::<CommandExecution>(&[("type", "command_execution")]),
                line::<FileChange>(&[("type", "file_change")]),
                line::<McpToolCall>(&[("type", "mcp_tool_call")]),
                line::<WebSearch>(&[("type", "web_search")]),
                line::<TodoList>(&[("type", "todo_list")]),
                line::<CollabToolCall>(&[("type", "collab_tool_call")]),
            ],
        )
    }
}

/// Text of the model's, or what it thought.
#[derive(JsonSchema)]
struct Said {
    id: String,
    text: String,
}

/// Something went wrong that ends nothing.
#[derive(JsonSchema)]
struct Warning {
    id: String,
    message: String,
}

/// A command.
#[derive(JsonSchema)]
struct CommandExecution {
    id: String,
    /// Quoted for a shell.
    command: String,
    /// What it printed to both streams.
    aggregated_output: Option<String>,
    exit_code: Option<i64>,
    /// in_progress, completed, failed or declined
    status: Option<String>,
}

/// Files that change.
#[derive(JsonSchema)]
struct FileChange {
    id: String,
    changes: Vec<Value>,
    status: Option<String>,
}

/// A call of an MCP server's tool.
#[derive(JsonSchema)]
struct McpToolCall {
    id: String,
    server: String,
    tool: String,
    arguments: Option<Value>,
    /// Blocks, and a value.
    result: Option<Object>,
    error: Option<Failure>,
    status: Option<String>,
}

/// A search of the web. Its own lines say `id` twice.
#[derive(JsonSchema)]
struct WebSearch {
    id: String,
    query: String,
    action: Option<Value>,
}

/// The list of things to do.
#[derive(JsonSchema)]
struct TodoList {
    id: String,
    items: Vec<Todo>,
}

/// A thing to do.
#[derive(JsonSchema)]
struct Todo {
    text: String,
    completed: bool,
}

/// A tool for agents: spawn_agent and others.
#[derive(JsonSchema)]
struct CollabToolCall {
    id: String,
    tool: String,
    sender_thread_id: Option<String>,
    receiver_thread_ids: Option<Vec<String>>,
    prompt: Option<String>,
    agents_states: Option<Object>,
    status: Option<String>,
}

/// A message of the app-server as a recording keeps it.
#[derive(JsonSchema)]
struct Recorded {
    /// `c2s` or `s2c`.
    dir: String,
    ms: Option<u64>,
    msg: Object,
}

/// The app-server says that something happens in a turn.
#[derive(JsonSchema)]
struct ItemMessage {
    params: ItemParams,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ItemParams {
    thread_id: Option<String>,
    turn_id: Option<String>,
    item: AppItem,
}

/// What happens; its other members are those of its type.
#[derive(JsonSchema)]
struct AppItem {
    id: String,
    #[schemars(rename = "type")]
    kind: String,
}

/// A piece of a text or a thought.
#[derive(JsonSchema)]
struct PieceMessage {
    params: PieceParams,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct PieceParams {
    thread_id: Option<String>,
    turn_id: Option<String>,
    item_id: String,
    delta: String,
}

/// A turn begins or is over.
#[derive(JsonSchema)]
struct TurnMessage {
    params: TurnParams,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct TurnParams {
    thread_id: Option<String>,
    turn: Turn,
}

#[derive(JsonSchema)]
struct Turn {
    id: Option<String>,
    status: String,
}

/// The plan as it is now.
#[derive(JsonSchema)]
struct PlanMessage {
    params: PlanParams,
}

#[derive(JsonSchema)]
struct PlanParams {
    explanation: Option<String>,
    plan: Vec<Step>,
}

#[derive(JsonSchema)]
struct Step {
    step: String,
    status: String,
}
