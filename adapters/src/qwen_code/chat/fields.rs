//! The members that only a chat file has.

use crate::names::Names;

/// Members of a chat file's lines that the streams do not have, and what they mean; sorted by name. From recordings of Qwen Code 0.24.4.
pub(super) const KNOWN: &[(&str, &str)] = &[
    ("agentId", "the subagent whose line it is"),
    ("agentName", "the name of the subagent's definition"),
    ("agentRound", "which model call of the subagent the reply is of"),
    ("agentRunId", "which run of the subagent it is"),
    ("contextWindowSize", "how much the model can read"),
    ("cwd", "the working folder"),
    ("gitBranch", "the branch that is checked out there"),
    ("isSidechain", "the line is a subagent's"),
    ("message", "what was said: {role, parts}"),
    ("model", "the model that answered"),
    ("parentUuid", "the line before it"),
    ("provenance", "whose words they are: real_user, assistant_output, tool_result, system"),
    ("response", "a result as the model sees it: {output} or {error}"),
    ("role", "message: user or model"),
    ("sessionId", "the session's id"),
    ("subtype", "what kind of system line, or of message that is not the user's"),
    ("systemPayload", "what a system line says"),
    ("thoughtSignature", "a thought's signature"),
    ("timestamp", "when it was"),
    ("toolCallResult", "a result as the program knows it: {callId, status, resultDisplay …}"),
    ("type", "user, assistant, tool_result, system"),
    ("usageMetadata", "tokens"),
    ("uuid", "the line's own id"),
    ("version", "the program's version"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether docs/qwen-code.md names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
