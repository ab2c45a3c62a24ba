//! What came of the calls of a step.

use std::collections::HashSet;

use super::decode::{Teller, Thread, references, results_of};
use super::fields::knows;
use super::step::notice;
use super::{EXTRA, IS_ERROR, STATUS};
use crate::chat::Members;
use crate::event::{At, Block, Kind, Origin, ResultStatus, ToolResult};
use crate::json::{Raw, Shape, Str};

impl<'a> Teller<'_, 'a> {
    /// Tells the results of a step; in front of each the work of the subagents that it refers to. One that names no call is that of the
    /// first call that has none.
    pub(super) fn results(&mut self, step: Raw<'a>, blocks: &'a [Block<'a>], origin: Origin<'a>, thread: Thread<'a>) {
        let cx = self.cx;
        let named = results_of(step).filter_map(|result| result.get("source_call_id")?.string());
        let named: HashSet<&str> = named.map(Str::as_escaped).collect();
        let calls = blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call.id),
            _ => None,
        });
        let mut open = calls.filter(|id| !named.contains(id.as_escaped()));
        for raw in results_of(step) {
            let members = Members::of(raw, &cx).filter(|_| raw.shape() == Some(Shape::Object));
            let Some(mut result) = members else {
                self.tell(origin, Kind::Notice(cx.keep(notice("observation", raw))), &[]);
                continue;
            };
            let call = result.text("source_call_id", &cx).or_else(|| open.next());
            let Some(call) = call.filter(|id| !id.is_empty()) else {
                self.tell(origin, Kind::Notice(cx.keep(notice("observation", raw))), &[]);
                continue;
            };
            for id in references(raw) {
                self.tell_named(id, call, thread);
            }
            let content = self.content(result.get("content"), raw.get(EXTRA));
            result.take_raw("content");
            let status = status_of(raw);
            let told = cx.keep(ToolResult {
                is_error: (status != ResultStatus::Success).then_some(true),
                ..ToolResult::new(call, status, content)
            });
            let mut fields = self.fields();
            result.pour(At::Line, knows, &mut fields);
            if origin.parent.is_none() {
                self.turn.goes_on();
            }
            self.tell(origin, Kind::ToolResult(told), fields.into_bump_slice());
        }
    }
}

/// How a call went: nothing in the format says it, and each writer has a word of its own for it.
fn status_of(result: Raw<'_>) -> ResultStatus {
    let Some(extra) = result.get(EXTRA) else { return ResultStatus::Success };
    let word = extra.get(STATUS).and_then(Raw::string).unwrap_or_default();
    let metadata = extra.get("tool_result_metadata");
    let failed = [
        extra.get(IS_ERROR),
        extra.get("tool_result_is_error"),
        metadata.and_then(|metadata| metadata.get(IS_ERROR)),
    ];
    match word.as_escaped() {
        "denied" => ResultStatus::Denied,
        "canceled" => ResultStatus::Canceled,
        _ if failed.into_iter().flatten().any(|flag| flag.bool() == Some(true)) => ResultStatus::Error,
        _ => ResultStatus::Success,
    }
}
