//! The lines of the RFC: OpenAI's objects with annotations, side lines, the control channel, Chat Requests.

// The types say what lines have; nothing is read into them.
#![allow(dead_code)]

mod host;

use host::Command;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use crate::schema::parts::Object;
use crate::schema::{Line, Side, Sides, line, one_of};

pub(super) static SIDES: Sides = Sides {
    agent: Side {
        lines: AGENT,
        tags: &["object", "type", "error", "choices"],
    },
    host: Some(Side {
        lines: host::LINES,
        tags: &["type", "input", "messages"],
    }),
};

const AGENT: &[Line] = &[
    line::<Completion>(&[("object", "chat.completion")]),
    line::<Chunk>(&[("object", "chat.completion.chunk")]),
    line::<Failed>(&[("error", "")]),
    line::<CommandResult>(&[("type", "result/command")]),
    line::<HintResult>(&[("type", "result/command_hint")]),
    line::<HeartbeatResult>(&[("type", "result/heartbeat")]),
    line::<CancelResult>(&[("type", "result/cancel")]),
    line::<SessionEvent>(&[("type", "x-qwen-session-event")]),
    line::<ControlRequest>(&[("type", "control_request"), ("request", "")]),
    line::<FlatControlRequest>(&[("type", "control_request"), ("subtype", "")]),
    line::<ControlResponse>(&[("type", "control_response")]),
];

/// A message, a tool's result, output for a terminal, the receipt or the summary of a turn.
#[derive(JsonSchema)]
struct Completion {
    /// `chatcmpl-<session_id>`.
    id: String,
    /// Seconds since 1970.
    created: u64,
    model: String,
    choices: Vec<Choice>,
    usage: Option<Usage>,
    /// Text by name, as OpenAI's type wants it; programs write other values too.
    metadata: Option<Object>,
    system_fingerprint: Option<Value>,
}

/// The one choice.
#[derive(JsonSchema)]
struct Choice {
    index: u64,
    message: Message,
    finish_reason: Option<String>,
}

/// What is said.
#[derive(JsonSchema)]
struct Message {
    role: String,
    content: Option<String>,
    /// A thought, for clients of servers that tell them so.
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
    annotations: Option<Vec<Annotation>>,
}

/// A piece of what a [`Completion`] says.
#[derive(JsonSchema)]
struct Chunk {
    id: Option<String>,
    created: Option<u64>,
    model: Option<String>,
    /// None in the chunk that tells the usage.
    choices: Vec<ChunkChoice>,
    usage: Option<Usage>,
    metadata: Option<Object>,
}

/// The one choice.
#[derive(JsonSchema)]
struct ChunkChoice {
    index: Option<u64>,
    delta: Delta,
    finish_reason: Option<String>,
}

/// A piece of a message.
#[derive(JsonSchema)]
struct Delta {
    role: Option<String>,
    content: Option<String>,
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
    annotations: Option<Vec<Annotation>>,
}

/// A call of a tool.
#[derive(JsonSchema)]
struct ToolCall {
    id: String,
    r#type: Option<String>,
    function: Function,
}

/// The tool, and its arguments as JSON in a text.
#[derive(JsonSchema)]
struct Function {
    name: String,
    arguments: String,
}

/// A piece of a call; `index` counts on through the turn.
#[derive(JsonSchema)]
struct CallPiece {
    index: Option<u64>,
    id: Option<String>,
    r#type: Option<String>,
    function: Option<FunctionPiece>,
}

/// A piece of a call.
#[derive(JsonSchema)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

/// Tokens.
#[derive(JsonSchema)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<CachedTokens>,
}

/// Tokens that were read from the cache.
#[derive(JsonSchema)]
struct CachedTokens {
    cached_tokens: Option<u64>,
}

/// What stands beside a text. Other types are allowed.
struct Annotation;

impl JsonSchema for Annotation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Annotation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_of(
            generator,
            &[
                line::<Terminal>(&[("type", "x-qwen-terminal")]),
                line::<Ansi>(&[("type", "x-qwen-ansi")]),
                line::<Display>(&[("type", "x-qwen-tool-display")]),
                line::<Thought>(&[("type", "x-qwen-thought")]),
                line::<SessionEvent>(&[("type", "x-qwen-session-event")]),
            ],
        )
    }
}

/// How a text looks in a terminal. Offsets are code points of the text.
#[derive(JsonSchema)]
struct Terminal {
    index: Option<u64>,
    channel: Option<Channel>,
    source: Option<Source>,
    spans: Option<Vec<Span>>,
    ansi: Option<Vec<Sequence>>,
    console_level: Option<ConsoleLevel>,
    exit_code: Option<i64>,
    prompt_id: Option<String>,
    log_scope: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Channel {
    Stdout,
    Stderr,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Source {
    Assistant,
    Tool,
    Console,
    System,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum ConsoleLevel {
    Log,
    Warn,
    Error,
    Info,
    Debug,
}

/// A styled range; `start` and `end` are the other text's names.
#[derive(JsonSchema)]
struct Span {
    start_index: Option<u64>,
    end_index: Option<u64>,
    start: Option<u64>,
    end: Option<u64>,
    style: Option<Object>,
}

/// An escape sequence and where it stands; `code` is the other text's name.
#[derive(JsonSchema)]
struct Sequence {
    offset: u64,
    sequence: Option<String>,
    code: Option<String>,
}

/// An escape sequence on its own.
#[derive(JsonSchema)]
struct Ansi {
    value: String,
}

/// How far a call of a tool is, or what came of it.
#[derive(JsonSchema)]
struct Display {
    index: Option<u64>,
    tool_call_id: Option<String>,
    session_id: Option<String>,
    /// pending, confirming, executing, success, error or canceled; capitals are read too.
    status: String,
    result_display: Option<Shown>,
    confirmation: Option<Confirmation>,
    pending: Option<bool>,
    /// Milliseconds since 1970.
    timestamp: Option<f64>,
    log_scope: Option<String>,
}

/// What is shown of a result, by `kind`.
struct Shown;

impl JsonSchema for Shown {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Shown".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        one_of(
            generator,
            &[
                line::<Plain>(&[("kind", "string")]),
                line::<FileDiff>(&[("kind", "file_diff")]),
                line::<TodoList>(&[("kind", "todo_list")]),
                line::<PlanSummary>(&[("kind", "plan_summary")]),
                line::<TaskExecution>(&[("kind", "task_execution")]),
            ],
        )
    }
}

/// A text.
#[derive(JsonSchema)]
struct Plain {
    text: String,
}

/// A file was changed.
#[derive(JsonSchema)]
struct FileDiff {
    file_name: String,
    diff: String,
    original: Option<String>,
    modified: Option<String>,
    stat: Option<Stat>,
    text: Option<String>,
}

/// Lines added and removed.
#[derive(JsonSchema)]
struct Stat {
    ai_added_lines: u64,
    ai_removed_lines: u64,
    user_added_lines: u64,
    user_removed_lines: u64,
}

/// A list of things to do.
#[derive(JsonSchema)]
struct TodoList {
    todos: Vec<Todo>,
    text: Option<String>,
}

/// One of them.
#[derive(JsonSchema)]
struct Todo {
    id: Option<Value>,
    content: String,
    status: String,
}

/// A plan that was shown.
#[derive(JsonSchema)]
struct PlanSummary {
    message: String,
    plan_markdown: Option<String>,
    text: Option<String>,
}

/// What a subagent does.
#[derive(JsonSchema)]
struct TaskExecution {
    #[schemars(rename = "subagentName")]
    subagent_name: String,
    #[schemars(rename = "taskDescription")]
    task_description: Option<String>,
    status: String,
    #[schemars(rename = "toolCalls")]
    tool_calls: Option<Vec<TaskCall>>,
    text: Option<String>,
}

/// A call of a subagent's.
#[derive(JsonSchema)]
struct TaskCall {
    #[schemars(rename = "callId")]
    call_id: String,
    name: String,
    status: String,
}

/// What a person is asked about a call.
#[derive(JsonSchema)]
struct Confirmation {
    /// edit, exec, mcp, info or plan.
    r#type: String,
}

/// A thought: its first line, if that stands alone, and all of it.
#[derive(JsonSchema)]
struct Thought {
    index: Option<u64>,
    subject: Option<String>,
    description: String,
}

/// Something about the session, on a line of its own or as an annotation.
#[derive(JsonSchema)]
struct SessionEvent {
    index: Option<u64>,
    event: String,
    message: Option<String>,
    metrics: Option<Object>,
    session_id: Option<String>,
    prompt_id: Option<String>,
}

/// The program ends with an error.
#[derive(JsonSchema)]
struct Failed {
    error: Failure,
}

/// OpenAI's form of an error.
#[derive(JsonSchema)]
struct Failure {
    message: String,
    r#type: Option<String>,
    param: Option<String>,
    code: Option<Value>,
}

/// What came of a command.
#[derive(JsonSchema)]
struct CommandResult {
    session_id: Option<String>,
    prompt_id: Option<String>,
    command: Option<Command>,
    result: CommandOutcome,
}

/// handled, message, dialog, tool, submit_prompt, load_history, quit, quit_confirmation, confirm_shell_commands or confirm_action.
#[derive(JsonSchema)]
struct CommandOutcome {
    r#type: String,
    level: Option<String>,
    content: Option<String>,
}

/// Suggestions while the user types.
#[derive(JsonSchema)]
struct HintResult {
    session_id: Option<String>,
    prompt_id: Option<String>,
    trigger: Option<String>,
    /// ok, loading or error.
    status: String,
    suggestions: Option<Vec<Suggestion>>,
    metadata: Option<HintMetadata>,
    message: Option<String>,
}

/// One of them.
#[derive(JsonSchema)]
struct Suggestion {
    label: String,
    value: String,
    description: Option<String>,
    #[schemars(rename = "matchedIndex")]
    matched_index: Option<u64>,
}

/// About all of them.
#[derive(JsonSchema)]
struct HintMetadata {
    is_perfect_match: Option<bool>,
}

/// A sign of life; `ts` in seconds since 1970.
#[derive(JsonSchema)]
struct HeartbeatResult {
    session_id: Option<String>,
    prompt_id: Option<String>,
    status: String,
    ts: Option<f64>,
}

/// The answer to a cancel: ok or noop.
#[derive(JsonSchema)]
struct CancelResult {
    session_id: Option<String>,
    prompt_id: Option<String>,
    status: String,
    message: Option<String>,
}

/// A question to the host.
#[derive(JsonSchema)]
struct ControlRequest {
    request_id: String,
    request: Question,
}

/// A question whose members stand in the line itself, as one text of the RFC has it.
#[derive(JsonSchema)]
struct FlatControlRequest {
    request_id: String,
    subtype: String,
    tool: Option<Tool>,
}

/// can_use_tool, hook_callback, mcp_message, confirm_shell_commands, confirm_action or quit_confirmation.
#[derive(JsonSchema)]
struct Question {
    subtype: String,
    session_id: Option<String>,
    prompt_id: Option<String>,
    tool: Option<Tool>,
    metadata: Option<Object>,
    commands: Option<Vec<String>>,
    prompt: Option<Value>,
}

/// The call that is asked about.
#[derive(JsonSchema)]
struct Tool {
    name: String,
    arguments: Option<Object>,
}

/// An agent's answer to its host.
#[derive(JsonSchema)]
struct ControlResponse {
    request_id: Option<String>,
    response: Answer,
}

/// What is answered.
#[derive(JsonSchema)]
struct Answer {
    subtype: String,
    request_id: Option<String>,
    result: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
}
