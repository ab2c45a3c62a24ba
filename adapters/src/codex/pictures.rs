//! Images that the model looks at or makes: items, and calls of the API's own tool, without a result of their own.

use super::items::object;
use crate::codec::{Cx, Dialect};
use crate::event::{Block, Content, Media, ResultStatus, ToolCall, ToolResult};
use crate::json::{Raw, Str};
use crate::tools::kind_of;

/// An image that was made, as a call and what came of it. `get` takes a member by its name here or in items.
pub(super) fn made<'a>(id: Str<'a>, get: impl Fn(&'static str, &'static str) -> Option<Raw<'a>>, cx: &Cx<'a>) -> (ToolCall<'a>, ToolResult<'a>) {
    let text = |raw: Option<Raw<'a>>| raw.and_then(Raw::string).filter(|text| !text.is_empty());
    let prompt = get("revised_prompt", "revisedPrompt").filter(|prompt| prompt.string().is_some());
    let asks: Vec<_> = prompt.into_iter().map(|prompt| ("prompt", prompt)).collect();
    let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
    let failure = get("failure", "failure").and_then(|failure| failure.get("message"));
    let told = [failure, get("saved_path", "savedPath")].map(text);
    blocks.extend(told.into_iter().flatten().map(|text| Block::Text { text, fields: &[] }));
    blocks.extend(text(get("result", "result")).map(|data| image(data, cx)));
    let failed = text(get("status", "status")).is_some_and(|status| status.is("failed"));
    let status = if failed { ResultStatus::Error } else { ResultStatus::Success };
    answered(
        call(id, "image_generation", object(&asks, cx)),
        status,
        Content::Blocks(blocks.into_bump_slice()),
    )
}

/// An image of the folder that the model was shown.
pub(super) fn seen<'a>(id: Str<'a>, path: Raw<'a>, cx: &Cx<'a>) -> (ToolCall<'a>, ToolResult<'a>) {
    let call = call(id, "view_image", object(&[("path", path)], cx));
    answered(call, ResultStatus::Success, Content::Text(Str::EMPTY))
}

fn call<'a>(id: Str<'a>, name: &'static str, input: Raw<'a>) -> ToolCall<'a> {
    let name = Str::trusted(name);
    ToolCall {
        id,
        name,
        kind: kind_of(Dialect::Codex, name),
        input,
        fields: &[],
    }
}

const fn answered<'a>(call: ToolCall<'a>, status: ResultStatus, content: Content<'a>) -> (ToolCall<'a>, ToolResult<'a>) {
    let result = ToolResult {
        name: Some(call.name),
        ..ToolResult::new(call.id, status, content)
    };
    (call, result)
}

/// The API says no type: the program keeps what it gets as PNG.
fn image<'a>(data: Str<'a>, cx: &Cx<'a>) -> Block<'a> {
    let block = format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}"#,
        data.as_escaped()
    );
    let raw = Raw::trusted(cx.arena.alloc_str(&block));
    cx.stands_for(raw.as_str(), data.as_escaped());
    Block::Media(Media {
        kind: Str::trusted("image"),
        raw,
    })
}
