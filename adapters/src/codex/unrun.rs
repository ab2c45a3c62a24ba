//! Calls that have failed, were refused or stopped: what items say of that, and what they have no place for.

use super::items::{FILE_CHANGE, MCP_TOOL_CALL};
use crate::event::{Fate, ResultStatus};
use crate::json::{Out, Str};

/// What the program says of a call of a server's tool that its user has refused, and of one that was stopped.
const REJECTED: &str = "user rejected MCP tool call: ";
const CANCELLED: &str = "user cancelled MCP tool call: ";

/// How the call of a server's tool ended, if its error says more than that it has failed.
pub(super) fn unrun(error: Str<'_>) -> Option<ResultStatus> {
    let said = [(REJECTED, ResultStatus::Denied), (CANCELLED, ResultStatus::Canceled)];
    said.into_iter().find(|(words, _)| error.begins(alone(words))).map(|(_, status)| status)
}

/// The words where no reason follows.
fn alone(words: &'static str) -> &'static str {
    words.trim_end_matches(": ")
}

/// What an error, which stands at this pointer, begins with that says so, if its text does not.
pub(super) fn words(status: ResultStatus, text: Str<'_>, at: &'static str, out: &Out) -> &'static str {
    let words = match status {
        ResultStatus::Denied => REJECTED,
        ResultStatus::Canceled => CANCELLED,
        ResultStatus::Success | ResultStatus::Error => return "",
    };
    if unrun(text) == Some(status) {
        return "";
    }
    out.invented(at, "what the program says of a call that was refused or stopped");
    if text.is_empty() { alone(words) } else { words }
}

/// Tells the ledger what an item of this kind does not say of how its call went. `declines`: files that change may be declined.
pub(super) fn lose(item: &str, status: ResultStatus, declines: bool, out: &Out) {
    let as_failed = match item {
        "web_search" | "todo_list" => {
            if status != ResultStatus::Success {
                out.note(Fate::Renamed, "", "a call that has not succeeded: its item does not say so");
            }
            return;
        }
        MCP_TOOL_CALL => false,
        "command_execution" => status == ResultStatus::Canceled,
        FILE_CHANGE if declines => status == ResultStatus::Canceled,
        _ => matches!(status, ResultStatus::Denied | ResultStatus::Canceled),
    };
    if as_failed {
        out.note(Fate::Renamed, "", "a call that was refused or stopped: its item has failed");
    }
}
