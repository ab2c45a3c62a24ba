/// Members that the model has no place for.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("annotations", "citations of a text (OpenRouter, OpenAI's search)"),
    ("audio", "messages: a spoken answer that was given before"),
    ("created", "when the reply began, in seconds since 1970"),
    ("extra_content", "what Gemini wants back with a call: `google.thought_signature`"),
    ("functions", "messages: the functions that could be called, as they were once said"),
    ("max_completion_tokens", "messages, request: how much the model may write"),
    ("max_tokens", "messages, request: the same, as it was once called"),
    ("member", "the member of the stream that held a thought; it goes back under this name"),
    ("metadata", "messages, request: what the caller keeps with it"),
    ("name", "messages: which participant speaks, or whose result it is"),
    ("parallel_tool_calls", "messages: whether an answer may call several tools"),
    ("provider", "who answered behind OpenRouter"),
    (
        "reasoning_details",
        "thoughts in OpenRouter's form, with signatures and what only the vendor can read",
    ),
    ("reasoning_effort", "messages, request: how hard the model is to think"),
    ("response_format", "messages, request: the form of the answer"),
    ("seed", "messages, request: what chance begins with"),
    ("service_tier", "OpenAI's price class of the request"),
    ("stop", "messages, request: where the model is to stop"),
    ("stream", "messages, request: whether the answer comes in pieces"),
    ("stream_options", "messages, request: what comes beside the pieces"),
    ("system_fingerprint", "OpenAI's mark of the model's configuration"),
    ("temperature", "messages, request: how much is left to chance"),
    ("tool_choice", "messages, request: which tool is to be called"),
    ("tools", "messages: the tools that could be called, as functions"),
    ("top_p", "messages, request: how much is left to chance"),
    ("type", "`function`, or `custom` where a tool takes a text"),
    ("user", "messages, request: whom the caller asks for"),
    ("weight", "messages: whether an answer is learned from, 0 or 1"),
    ("x_groq", "Groq's request id and usage"),
];

use crate::names::Names;

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
