//! The members that only a transcript has.

/// Members of a transcript's lines that the streams do not have, and what they mean; sorted by name. From recordings of CLI 2.1.329 and
/// its older files.
pub(super) const KNOWN: &[(&str, &str)] = &[
    ("agentId", "the subagent whose line it is"),
    ("apiBlockIndex", "which block of the reply the line holds"),
    ("apiErrorStatus", "HTTP status of the failed model call"),
    ("apiErrorType", "the API's own type of error"),
    ("atis", "a mark that the program sets for itself"),
    ("attachment", "what the program puts before the model beside the conversation: {type, …}"),
    ("attributionAgent", "the subagent's definition that a reply is due to"),
    ("base", "api-request: the request that this one goes on from"),
    ("cacheControl", "api-request: what is to be cached"),
    ("cause", "why a model call failed"),
    ("compactMetadata", "of a compaction: {trigger, preTokens …}"),
    ("customTitle", "the title that the user gave the session"),
    ("durationMs", "how long it took"),
    (
        "echoWireToolInputs",
        "api-request: whether the arguments of calls are sent back as they came",
    ),
    ("entrypoint", "how the program was started: cli, sdk-cli, sdk-ts …"),
    ("failedResponseHadNoToolCall", "the reply that failed had called no tool"),
    ("forkedFrom", "the session and the line that a fork goes on from"),
    ("gitBranch", "the branch that is checked out in the working folder"),
    ("hasOutput", "a hook has written something"),
    ("hasUnknownModelCost", "a model was used whose price is not known"),
    ("hash", "api-request-blob: by which requests name it"),
    ("hookCount", "how many hooks ran"),
    ("hookErrors", "what hooks wrote to standard error"),
    ("hookInfos", "the hooks that ran: [{command …}]"),
    ("isApiErrorMessage", "the program's own message about a failed model call"),
    ("isCompactSummary", "the summary in place of what was said before a compaction"),
    ("isMeta", "the program's own words in the user's role"),
    ("isSidechain", "the line is a subagent's"),
    ("isSnapshotUpdate", "file-history-snapshot: in place of an earlier one"),
    ("isVisibleInTranscriptOnly", "shown to the user and not to the model"),
    ("keep", "api-request: how much of the one before is kept"),
    ("lastPrompt", "last-prompt: what the user said last"),
    ("leafUuid", "the line that the conversation goes on from"),
    ("level", "how serious a notice is"),
    ("logicalParentUuid", "the line before a compaction, which the chain does not lead to"),
    ("madeBy", "who a reply is by: model"),
    ("maxRetries", "how many attempts a model call gets"),
    ("messageId", "file-history-snapshot: the prompt before which the files were so"),
    ("operation", "queue-operation: enqueue, dequeue, remove, popAll"),
    ("origin", "where a prompt comes from: {kind}"),
    ("output_config", "api-request-blob: the effort asked for"),
    ("ownNote", "the note is the program's own"),
    ("params", "api-request: model and options"),
    ("parentUuid", "the line before it in the conversation"),
    ("perTurnEffort", "the effort asked for in this turn"),
    ("permissionDecision", "whether a call was allowed, and by what: {decision, source …}"),
    ("preventedContinuation", "a hook has ended the turn"),
    ("promptCacheRequested", "how long the prompt was to be cached"),
    ("promptId", "the prompt that a line belongs to"),
    ("promptSource", "where a prompt comes from: sdk, typed …"),
    ("querySource", "api-request: what it was for"),
    ("rendered", "an attachment as the model sees it"),
    ("renderedBesideToolResult", "an attachment as the model sees it beside a result"),
    ("renderedRole", "in which role the model sees an attachment"),
    ("requestDigest", "api-request: a hash of the whole"),
    ("requestId", "the API's id of the model call"),
    ("requestRef", "the api-request line of the model call"),
    ("requestedModel", "the model that was asked for"),
    ("retryAttempt", "which attempt of a model call failed"),
    ("retryInMs", "milliseconds until the next attempt"),
    ("rowSource", "where a prompt was put in: local …"),
    ("sandboxed", "the command ran in the sandbox"),
    ("sentAtMs", "when a prompt was sent, in milliseconds since 1970"),
    ("sessionId", "the session's id"),
    ("shape", "api-request-shape: system prompt and tools"),
    ("shapeHash", "by which requests name their shape"),
    ("slug", "a name for the session made of words"),
    ("snapshot", "file-history-snapshot: files and where their earlier states lie"),
    ("sourceToolAssistantUUID", "the line of the call that a result is for"),
    ("sourceToolUseID", "the call that a message is due to"),
    ("startTime", "cost-state: when the program started, in milliseconds"),
    ("stopReason", "why a hook ended the turn"),
    ("tail", "api-request: what is new in it"),
    ("thinkingDisplay", "how thinking is shown"),
    ("thinkingDurationMs", "how long the model thought"),
    ("thinkingMetadata", "how much thinking the user asked for"),
    ("thread", "api-request: the thread of requests that it belongs to: {type}"),
    ("todos", "the list of things to do when the prompt came"),
    ("toolDenialKind", "why a call did not run"),
    ("toolInputStreamMs", "how long a call's arguments took to come"),
    ("toolUseID", "the call that a notice is about"),
    ("toolUseResult", "a result in the tool's own form"),
    ("tools", "tools-used: the tools that were called so far"),
    ("totalAPIDuration", "cost-state: milliseconds spent in model calls"),
    ("totalAPIDurationWithoutRetries", "cost-state: the same without failed attempts"),
    ("totalCostUSD", "cost-state: US dollars"),
    ("totalDuration", "cost-state: milliseconds"),
    ("totalLinesAdded", "cost-state: lines that were added to files"),
    ("totalLinesRemoved", "cost-state: lines that were taken out of files"),
    ("totalToolDuration", "cost-state: milliseconds spent in tools"),
    ("turnCompanion", "the program itself put this message into the turn"),
    ("turnOrigin", "what began the turn: sdk, typed …"),
    ("turnPosition", "which prompt and turn of the session it is"),
    ("userType", "external"),
    ("version", "the program's version"),
];

/// Whether docs/claude.md names a member.
pub(super) fn knows(name: &str) -> bool {
    KNOWN.binary_search_by_key(&name, |(known, _)| known).is_ok() || crate::claude::fields::knows(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(KNOWN.iter().all(|(name, meaning)| knows(name) && !meaning.is_empty()));
        assert!(knows("uuid") && !knows("uuidx"));
    }
}
