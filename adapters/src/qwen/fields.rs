//! The members of the RFC's lines that the model has no place for.

use crate::names::Names;

/// Name and meaning, sorted by name. Members with a place in the model (`session_id`, `status`, `suggestions` …) are not here.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    (
        "annotations",
        "message, delta: one annotation of a type that is not the RFC's own, such as OpenAI's url_citation",
    ),
    (
        "blocked_path",
        "control_request as the program ships it: the path that the call was stopped for",
    ),
    ("callback_id", "control_request hook_callback: the hook that is to run"),
    (
        "capabilities",
        "Chat Request: the questions about commands that the host answers on the control channel",
    ),
    ("command", "control_request confirm_action: the command that wants to act"),
    ("commands", "control_request confirm_shell_commands: the commands that are to run"),
    ("confirmation", "x-qwen-tool-display: what the user was asked, on a call that has ended"),
    ("continuation", "Chat Request: whether it goes on with the turn before"),
    ("control_errors", "metadata: faults of the control channel, as a list in a text"),
    ("decision_reason", "control_request as the program ships it: why the user is asked"),
    ("description", "x-qwen-thought: its text, where reasoning_content says something else"),
    ("error", "metadata of a finish chunk: what went wrong, which the summary says too"),
    ("event", "control_request hook_callback: the event that the hook waits for"),
    ("finish_reason", "on a line without a reply, where it is not the usual one"),
    ("frequency_penalty", "plain request: OpenAI's sampling option"),
    ("function_call", "message, delta: OpenAI's older form of tool_calls"),
    ("input", "control_request hook_callback: what the hook is told"),
    ("input_format", "receipt: how the host writes, text or stream-json"),
    ("log_scope", "annotations: system, tool or debug"),
    ("logprobs", "choice: OpenAI's log probabilities"),
    ("max_tokens", "plain request: OpenAI's limit"),
    ("message", "control_request mcp_message: the JSON-RPC message"),
    (
        "metadata",
        "request: free data of the host; on a line without a reply: what it says besides",
    ),
    ("model", "a line of another model than the lines around it"),
    ("n", "plain request: OpenAI's number of choices"),
    ("output_format", "receipt: how the agent writes, stream-json or stream-chunk-json"),
    ("payload", "control_request: what a hook or an MCP server is told"),
    ("pending", "x-qwen-tool-display: whether the call is still validated or scheduled"),
    ("prompt", "control_request confirm_action: the question"),
    ("prompt_id", "annotations: the turn, on a line that belongs to none"),
    ("reason", "control_request: why it is asked"),
    ("refusal", "message, delta: what the model says when it refuses"),
    ("request_id", "control/cancel: asks for a control_response too"),
    ("seed", "plain request: OpenAI's sampling option"),
    ("server_name", "control_request mcp_message: the MCP server"),
    ("service_tier", "OpenAI's tier of service"),
    ("session_id", "x-qwen-tool-display: the session again"),
    ("stop", "plain request: OpenAI's stop sequences"),
    ("stream", "plain request: OpenAI's switch between the two objects"),
    ("stream_options", "plain request: OpenAI's options of a stream"),
    (
        "system_fingerprint",
        "OpenAI's name of the server's configuration, where it holds no receipt",
    ),
    ("temperature", "plain request: OpenAI's sampling option"),
    (
        "timestamp",
        "x-qwen-tool-display: when the call got there, where created says another time",
    ),
    ("title", "control_request: the headline of a question"),
    ("tool_choice", "plain request: OpenAI's choice of tools"),
    ("tool_request", "Chat Request: the call that the host wants to be run"),
    ("top_p", "plain request: OpenAI's sampling option"),
    ("urls", "control_request confirm_action: the pages that are to be opened"),
    ("usage", "on a line without a reply: the tokens of a round"),
    ("user", "plain request: OpenAI's name of the end user"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the RFC's page, or OpenAI's on which it builds, names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
