//! Signs of the protocol's events (docs/ag-ui.md).

use crate::codec::Dialect::AgUi;
use crate::detect::{Evidence, Opened, PROOF, STRONG};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(AgUi, weight, why));
    if let Some(data) = line.text.strip_prefix("data:") {
        return recognise(&Opened::new(data.trim_start()));
    }
    match line.kind {
        "RUN_STARTED" | "RUN_FINISHED" if line.has_all(&["threadId", "runId"]) => evidence(PROOF, "a run with a threadId and a runId"),
        "RUN_ERROR" if line.has("message") => evidence(STRONG, "RUN_ERROR with a message"),
        "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_END" if line.has("messageId") => evidence(PROOF, "a text with a messageId"),
        "REASONING_START" | "REASONING_MESSAGE_START" | "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_END" | "REASONING_END"
            if line.has("messageId") =>
        {
            evidence(PROOF, "a thought with a messageId")
        }
        "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END" | "TOOL_CALL_RESULT" if line.has("toolCallId") => {
            evidence(PROOF, "a call with a toolCallId")
        }
        "TEXT_MESSAGE_CHUNK" | "TOOL_CALL_CHUNK" | "REASONING_MESSAGE_CHUNK" => evidence(STRONG, "a chunk of a message or a call"),
        "THINKING_TEXT_MESSAGE_START" | "THINKING_TEXT_MESSAGE_CONTENT" | "THINKING_TEXT_MESSAGE_END" => evidence(STRONG, "a thought of version 0"),
        "STEP_STARTED" | "STEP_FINISHED" if line.has("stepName") => evidence(STRONG, "a step with a stepName"),
        "STATE_SNAPSHOT" if line.has("snapshot") => evidence(STRONG, "a state"),
        "STATE_DELTA" if line.has("delta") => evidence(STRONG, "a change of the state"),
        "MESSAGES_SNAPSHOT" if line.has("messages") => evidence(STRONG, "all messages of a thread"),
        "SUBAGENT_STARTED" | "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" if line.has("subagentRunId") => {
            evidence(PROOF, "a subagent with a subagentRunId")
        }
        _ => None,
    }
}
