//! Small readers of each format, written for tests alone: what a log says, as a flat list of items of the main thread.

mod acp;
mod ag_ui;
mod agentglot;
mod atif;
mod chat;
pub mod claude;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod qwen;
mod tricode;

pub use codex::message;
pub use tricode::is_tricode_error;

use super::json::Json;
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};

/// One thing that a log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Text(String),
    Think(String),
    /// A tool call; the arguments in canonical JSON.
    Call {
        id: String,
        name: String,
        input: String,
    },
    /// A tool's result; its text where the format has it in plain form.
    Result {
        id: String,
        ok: bool,
        text: Option<String>,
    },
    /// A turn is over.
    End {
        ok: bool,
    },
}

/// What a log says. Neighbouring texts, and neighbouring thoughts, are one.
pub fn read(format: Format, bytes: &[u8]) -> Vec<Item> {
    let items = match (format.dialect, format.mode.layout) {
        (Dialect::Claude | Dialect::QwenCode, _) => claude::claude(bytes),
        (Dialect::Qwen, Layout::Pieces) => qwen::chunks(bytes),
        (Dialect::Qwen, _) => qwen::completions(bytes),
        (Dialect::Tricode, _) => tricode::tricode(bytes),
        (Dialect::Cursor, _) => cursor::cursor(bytes),
        (Dialect::Gemini, _) => gemini::gemini(bytes),
        (Dialect::Codex, _) if format.mode.name == "app-server" => codex::app_server(bytes),
        (Dialect::Codex, _) => codex::codex(bytes),
        (Dialect::Atif, _) => atif::atif(bytes),
        (Dialect::Acp, _) => acp::acp(bytes),
        (Dialect::AgUi, _) => ag_ui::ag_ui(bytes),
        (Dialect::Opencode, _) => opencode::opencode(bytes),
        (Dialect::Openai, Layout::Rows) => chat::messages(bytes),
        (Dialect::Sharegpt, _) => chat::conversations(bytes),
        (Dialect::Agentglot | Dialect::Openai | Dialect::Anthropic, _) => agentglot::events(bytes),
    };
    merged(items)
}

pub fn merged(items: Vec<Item>) -> Vec<Item> {
    let mut all: Vec<Item> = Vec::new();
    for item in items {
        match (all.last_mut(), item) {
            (_, Item::Text(text) | Item::Think(text)) if text.is_empty() => {}
            (Some(Item::Text(before)), Item::Text(text)) | (Some(Item::Think(before)), Item::Think(text)) => before.push_str(&text),
            (_, item) => all.push(item),
        }
    }
    all
}

/// The JSON objects of a log, line by line; everything else is left out.
pub fn objects(bytes: &[u8]) -> Vec<Json> {
    let text = String::from_utf8_lossy(bytes);
    text.split('\n')
        .filter_map(|line| Json::read(line.strip_prefix('\u{feff}').unwrap_or(line)).filter(Json::is_object))
        .collect()
}

/// The text of content that is a text or a list of blocks.
pub fn content_text(content: Option<&Json>) -> String {
    match content {
        Some(Json::Text(text)) => text.clone(),
        Some(Json::List(blocks)) => blocks.iter().filter(|b| b.str("type") == "text").map(|b| b.str("text")).collect(),
        _ => String::new(),
    }
}

/// Arguments that stand in a text, in canonical JSON where they are JSON.
pub fn arguments(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    Json::read(text).map_or_else(|| text.to_owned(), |json| json.canonical())
}

fn main_thread(object: &Json) -> bool {
    object.get("parent_tool_use_id").is_none_or(Json::is_null)
}

/// Qwen Code's subagents end with a `result` of their own, all zero, in the middle of the turn; it ends nothing.
pub fn is_subagents_end(object: &Json) -> bool {
    // What ends a turn says the second one behind `[API Error: `.
    let says = object.at(&["error", "message"]).and_then(Json::text);
    matches!(says, Some("CANCELLED" | "Model stream ended with empty response text."))
        && object.get("duration_ms") == Some(&Json::Number("0".to_owned()))
}
