//! Calls that were refused or stopped, for targets in which only what their program says of it tells that.

use bumpalo::collections::Vec as BumpVec;

use super::Down;
use crate::codec::{Cx, Encode, TellsEnd};
use crate::event::{Block, Content, Fate, ResultStatus, ToolResult};
use crate::json::Str;

/// Sees to it that the target says how the call ended, or that the ledger says that it does not.
pub(super) fn tell<'a>(result: &mut ToolResult<'a>, down: &Down<'_, 'a>) {
    if !matches!(result.status, ResultStatus::Denied | ResultStatus::Canceled) {
        return;
    }
    match down.encoder.tells_end(result) {
        TellsEnd::Itself => {}
        TellsEnd::InWords { words, at } => {
            down.out.invented(at, "what the program says of a call that was refused or stopped");
            result.content = begun(words, result.content, down.cx);
        }
        TellsEnd::Lost(why) => down.out.note(Fate::Renamed, "", why),
    }
}

/// The content with these words in front of its text.
fn begun<'a>(words: &'static str, content: Content<'a>, cx: Cx<'a>) -> Content<'a> {
    let blocks = match content {
        Content::Text(text) => return Content::Text(behind(words, text, cx)),
        Content::Blocks(blocks) => blocks,
    };
    let (first, rest) = match blocks {
        [Block::Text { text, .. }, rest @ ..] => (*text, rest),
        _ => (Str::EMPTY, blocks),
    };
    let mut all = BumpVec::with_capacity_in(rest.len() + 1, cx.arena);
    all.push(Block::Text {
        text: behind(words, first, cx),
        fields: &[],
    });
    all.extend_from_slice(rest);
    Content::Blocks(all.into_bump_slice())
}

fn behind<'a>(words: &'static str, text: Str<'a>, cx: Cx<'a>) -> Str<'a> {
    if text.is_empty() {
        return Str::trusted(words.trim_end());
    }
    let between = if words.ends_with(' ') { "" } else { "\\n" };
    let all = bumpalo::format!(in cx.arena, "{words}{between}{}", text.as_escaped()).into_bump_str();
    if let Some(trace) = cx.trace {
        trace.says_all(all, &[text]);
    }
    Str::trusted(all)
}
