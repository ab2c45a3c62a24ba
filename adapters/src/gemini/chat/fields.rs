//! The members that only a chat file has.

use crate::names::Names;

/// Members of a chat file's lines that the streams do not have, and what they mean; sorted by name. From recordings of Gemini CLI 0.61.0.
pub(super) const KNOWN: &[(&str, &str)] = &[
    ("$rewindTo", "the message of this id, and all behind it, are taken back"),
    (
        "$set",
        "changes of the header; `messages` in it is the conversation anew, with what the program has left out or put into it",
    ),
    ("content", "what a message says: a text, or Gemini's parts"),
    (
        "directories",
        "header: of a subagent, the folders that it works in; else those that were added to the session",
    ),
    ("displayContent", "what people see of a prompt, where the model is told something else"),
    ("id", "the message's id; a line with the id of an earlier one takes its place"),
    ("kind", "header: `main` or `subagent`"),
    ("lastUpdated", "header: when something was added last"),
    ("messages", "the conversation, in the one document that older versions write"),
    ("model", "the model that answered"),
    ("projectHash", "header: a hash of the project's folder"),
    ("sessionId", "header: the session's id"),
    ("startTime", "header: when the session began"),
    ("summary", "header: the session in a few words"),
    ("thoughts", "what the model thought: `{subject,description,timestamp}`"),
    ("tokens", "what the model call took: `{input,output,cached,thoughts,tool,total}`"),
    (
        "toolCalls",
        "calls with their results: `{id,name,args,result,status,timestamp,agentId,displayName,description,resultDisplay}`",
    ),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether docs/gemini.md names a member.
pub(super) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
