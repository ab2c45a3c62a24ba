//! What the program says of calls that were refused or stopped.

use crate::codec::TellsEnd;
use crate::event::{ResultStatus, ToolResult};
use crate::json::Str;

/// What stands before the reason for which a call did not run to its end.
const CANCELLED: &str = "[Operation Cancelled] Reason: ";

/// How a call ended that has not succeeded, if the words of its result say more than that it failed.
pub(super) fn unrun(text: Str<'_>) -> Option<ResultStatus> {
    let told = text.as_escaped();
    match told.strip_prefix(CANCELLED) {
        Some(why) if why.starts_with("User denied execution") => Some(ResultStatus::Denied),
        Some(_) => Some(ResultStatus::Canceled),
        None => told.starts_with("Tool execution denied by policy").then_some(ResultStatus::Denied),
    }
}

/// Whether a result that is none of success says so with its words too.
pub(super) fn says_more(result: &ToolResult<'_>) -> bool {
    result.status != ResultStatus::Success && result.content.texts().next().is_some_and(|text| unrun(text).is_some())
}

/// How a result says it.
pub(super) fn tells_end(result: &ToolResult<'_>, at: &'static str) -> TellsEnd {
    let text = result.content.texts().next().unwrap_or_default();
    let words = match result.status {
        said if unrun(text) == Some(said) => return TellsEnd::Itself,
        ResultStatus::Denied => "[Operation Cancelled] Reason: User denied execution.",
        ResultStatus::Canceled => "[Operation Cancelled] Reason: User cancelled tool execution.",
        ResultStatus::Success | ResultStatus::Error => return TellsEnd::Itself,
    };
    TellsEnd::InWords { words, at }
}
