//! Members that only this protocol's events have.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("activityType", "ACTIVITY_SNAPSHOT, ACTIVITY_DELTA: what kind of activity it is"),
    ("code", "RUN_ERROR, SUBAGENT_ERROR: which error it is"),
    ("content", "of an activity: what is shown; of a result: its parts, where it is no text"),
    ("delta", "STATE_DELTA: what has changed; of a first chunk: its piece"),
    ("description", "SUBAGENT_STARTED: what the subagent is for"),
    (
        "encryptedValue",
        "REASONING_ENCRYPTED_VALUE: a signature, where it is of no thought that was told",
    ),
    ("entityId", "REASONING_ENCRYPTED_VALUE: of which message or call it is"),
    ("event", "RAW: what another program has said"),
    ("input", "RUN_STARTED: what the run was asked for with"),
    ("message", "SUBAGENT_ERROR: what went wrong"),
    ("messageId", "of a message: its id"),
    ("messages", "MESSAGES_SNAPSHOT: all messages of the thread"),
    ("metadata", "what a producer adds of its own; what we add stands under `agentglot`"),
    ("name", "of a custom event, a subagent, a message's author"),
    ("outcome", "RUN_FINISHED, SUBAGENT_FINISHED: success, interrupt, cancelled, suspended"),
    ("parentMessageId", "of a call or a subagent: the message that it belongs to"),
    ("parentRunId", "RUN_STARTED: the run that has begun this one"),
    ("parentSubagentRunId", "SUBAGENT_STARTED: the subagent that has begun it"),
    ("parentToolCallId", "SUBAGENT_STARTED: the call that it works for"),
    ("patch", "ACTIVITY_DELTA: what has changed"),
    ("protocolVersion", "RUN_STARTED: the version that the producer speaks"),
    ("rawEvent", "the event that this one was made of"),
    ("replace", "ACTIVITY_SNAPSHOT: whether it takes the place of what was shown"),
    ("result", "RUN_FINISHED, SUBAGENT_FINISHED: what came of it"),
    ("role", "of a message: assistant, user, system, developer, tool, reasoning"),
    ("snapshot", "STATE_SNAPSHOT: the state"),
    ("source", "RAW: which program"),
    ("stepName", "of a step: its name"),
    ("subtype", "REASONING_ENCRYPTED_VALUE: message or tool-call"),
    ("threadId", "RUN_FINISHED: the thread, where it is another one than the run's"),
    ("title", "THINKING_START: a headline"),
    ("toolCallId", "of a call: its id, where nothing says that it begins; of a chunk"),
    ("toolCallName", "of a chunk: which tool"),
    ("type", "of an event: its type, where that does not go without saying"),
    ("usage", "RUN_FINISHED, RUN_ERROR: what the run took, one entry for each model"),
    ("value", "CUSTOM: what it says"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
