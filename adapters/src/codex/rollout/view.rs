//! What people are shown of items (0.169): they say how a tool ended, and come before what the model is told.

use super::decode::Decoder;
use super::line::Line;
use crate::codex::calls::{detail, mcp_content, status};
use crate::event::{Content, Kind, ResultStatus, Sink, ToolResult};
use crate::json::{Error, Raw, Shape, Str};

impl Decoder {
    pub(super) fn shown_item<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let item = line.get("item").filter(|item| item.shape() == Some(Shape::Object));
        let item = item.ok_or_else(|| line.missing("item"))?;
        let text = |name: &str| item.get(name).and_then(Raw::string);
        let kind = text("type").ok_or_else(|| line.missing("item/type"))?;
        match &*kind.unescape() {
            "CommandExecution" | "FileChange" | "McpToolCall" => {
                let id = text("id").ok_or_else(|| line.missing("item/id"))?;
                if !self.open.remove(id.as_escaped()) {
                    // The model was told already, or a tool of the program's own has run it.
                    self.said_twice(line, sink);
                    return Ok(());
                }
                line.cx.took(kind.as_escaped());
                self.shown.insert(id.as_escaped().to_owned());
                let result = result(line, item, id, &kind.unescape());
                self.result(line, result, true, sink);
            }
            "UserMessage"
            | "AgentMessage"
            | "Reasoning"
            | "Plan"
            | "WebSearch"
            | "HookPrompt"
            | "ImageView"
            | "ImageGeneration"
            | "DynamicToolCall"
            | "CollabAgentToolCall"
            | "SubAgentActivity"
            | "ExitedReviewMode"
            | "Sleep" => self.said_twice(line, sink),
            "EnteredReviewMode" => {
                line.cx.took(kind.as_escaped());
                self.review(line, text("user_facing_hint"), sink);
            }
            "ContextCompaction" => self.compaction(line, "ContextCompaction", None, sink),
            _ => self.tell_with(line, Kind::Unknown(line.raw), &[], sink),
        }
        Ok(())
    }
}

/// What came of a call, in the words of `exec`.
fn result<'a>(line: &Line<'a>, item: Raw<'a>, id: Str<'a>, kind: &str) -> ToolResult<'a> {
    let cx = &line.cx;
    let get = |name: &str| item.get(name).filter(|value| !value.is_null());
    let text = |name: &str| get(name).and_then(Raw::string).unwrap_or_default();
    let (word, exit) = (get("status"), get("exit_code"));
    let status = status(word.and_then(Raw::string), exit);
    if let Some(word) = word.filter(|word| matches!(word.as_str(), "\"completed\"" | "\"failed\"" | "\"declined\"")) {
        cx.took(word.as_str());
    }
    if let Some(exit) = exit.filter(|exit| status == ResultStatus::Success && exit.as_str() == "0") {
        cx.took(exit.as_str());
    }
    let content = match kind {
        "CommandExecution" => Content::Text(text("aggregated_output")),
        "McpToolCall" => mcp_content(get("result"), get("error"), cx),
        _ if status == ResultStatus::Success => Content::Text(text("stdout")),
        _ => Content::Text(text("stderr")),
    };
    // A server's answer has both of these, whichever it is.
    let either = |name: &str| (kind == "McpToolCall").then(|| item.get(name).unwrap_or(Raw::NULL));
    let shown: Vec<_> = [
        ("result", either("result")),
        ("error", either("error")),
        ("exit_code", exit),
        ("status", word),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect();
    ToolResult {
        detail: detail(&shown, cx),
        ..ToolResult::new(id, status, content)
    }
}
