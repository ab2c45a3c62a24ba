//! Results of subagents' calls that wait for what the subagents say.

use super::parts::{call_of, result_of};
use crate::codec::Cx;
use crate::event::{Content, Fate, ResultStatus};
use crate::json::Raw;
use crate::trace::Kept;

/// The result of a subagent's call. Texts are the bodies of JSON strings.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) call: String,
    pub(super) name: Option<String>,
    pub(super) status: ResultStatus,
    pub(super) text: String,
    /// Where the source says the text, for the ledger.
    pub(super) kept: Kept,
}

impl Waiting {
    /// The line is told that says the text in one of these calls.
    pub(super) fn hold(&mut self, calls: Option<Raw<'_>>, cx: &Cx<'_>) {
        let Some(trace) = cx.trace else { return };
        for (raw, [id, name, args, result, status, _]) in calls.into_iter().flat_map(|calls| calls.elements_with(CALL)) {
            let id = call_of([id, name, args]).map(|call| call.id).filter(|id| id.as_escaped() == self.call);
            let result = id.and_then(|id| result_of(raw, [name, result, status], id, cx));
            if let Some(Content::Text(text)) = result.map(|result| result.content) {
                trace.hold_unsaid(&mut self.kept, text.as_escaped());
            }
        }
    }

    /// What came of the call is told, by a line that `says` the same or without one.
    pub(super) fn tell(mut self, says: bool, cx: &Cx<'_>) {
        let Some(trace) = cx.trace else { return };
        match says {
            true => trace.tell_held(
                &mut self.kept,
                Fate::Renamed,
                "what came of the call is told behind what the subagent said",
            ),
            false => trace.tell_held(
                &mut self.kept,
                Fate::Dropped,
                "a line behind what the subagent said tells something else of the call",
            ),
        }
    }
}

/// What one of `toolCalls` says.
pub(super) const CALL: [&str; 6] = ["id", "name", "args", "result", "status", "agentId"];
