//! What a call of a server's tool gave, as parts for the model and in the typed form of the dialect.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Naming, PLAIN};
use crate::model::message::Part;
use crate::tools::Given;
use agentglot_adapters::raw::event::ResultStatus;

/// The longest picture that is given to a model, in characters of base64: APIs take 5 MiB.
const LARGEST_IMAGE: usize = 5 << 20;

/// How many bytes of text a token is taken for.
const BYTES_PER_TOKEN: usize = 4;

/// Where results go that the model cannot take whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store<'a> {
    /// The folder; it is made when it is needed.
    pub(super) folder: &'a Path,
    /// The call, for the names of files.
    pub(super) call: &'a str,
    /// The server.
    pub(super) server: &'a str,
    /// How many tokens of text the model gets.
    pub(super) tokens: usize,
}

/// What `tools/call`'s result means.
pub(super) fn given(result: &Value, naming: Naming, store: Store<'_>) -> Given {
    let is_error = ["isError", "is_error"]
        .iter()
        .any(|member| result.get(member) == Some(&Value::Bool(true)));
    let mut content = parts(result, store);
    if content.is_empty() {
        content.push(Part::Text(if is_error {
            "The tool failed and said nothing.".to_owned()
        } else {
            String::new()
        }));
    }
    limit(&mut content, store);
    let detail = naming.detail.map(|shape| {
        let detail = if is_error {
            Value::String(format!("Error: {}", text_of(&content)))
        } else {
            typed(result, content.iter().filter_map(block).collect())
        };
        (shape, detail)
    });
    Given {
        status: if is_error { ResultStatus::Error } else { ResultStatus::Success },
        content,
        detail,
        exit_code: None,
    }
}

/// A result in the typed form: its blocks, and what it holds besides if it does.
fn typed(result: &Value, blocks: Vec<Value>) -> Value {
    let besides = ["structuredContent", "_meta"].map(|name| (name, result.get(name).filter(|value| !value.is_null())));
    let links: Vec<&Value> = result.get("content").and_then(Value::as_array).into_iter().flatten().collect();
    let links = links.into_iter().filter(|block| block["type"] == "resource_link").map(|link| {
        let mut link = link.clone();
        link.as_object_mut().map(|members| members.remove("type"));
        link
    });
    let links: Vec<Value> = links.collect();
    if besides.iter().all(|(_, value)| value.is_none()) && links.is_empty() {
        return Value::Array(blocks);
    }
    let mut typed = json!({ "content": blocks });
    if let (_, Some(structured)) = besides[0] {
        typed["content"] = structured.to_string().into();
    }
    for (name, value) in besides {
        if let Some(value) = value {
            typed[name] = value.clone();
        }
    }
    if !links.is_empty() {
        typed["resourceLinks"] = links.into();
    }
    typed
}

fn parts(result: &Value, store: Store<'_>) -> Vec<Part> {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut parts: Vec<Part> = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        parts.extend(part(block, n, store));
    }
    if let Some(old) = result.get("toolResult") {
        parts.push(Part::Text(text(old)));
    }
    if let Some(structured) = result.get("structuredContent").filter(|structured| !structured.is_null()) {
        // Servers are told to say it as text too; most do, and some libraries put what is no object into one of one member.
        let wrapped = structured
            .as_object()
            .filter(|object| object.len() == 1)
            .and_then(|object| object.values().next());
        if !says(&parts, structured) && !wrapped.is_some_and(|wrapped| says(&parts, wrapped)) {
            parts.push(Part::Text(structured.to_string()));
        }
    }
    parts
}

/// Whether the text says a value: in one part, or one item a part.
fn says(parts: &[Part], value: &Value) -> bool {
    let says = |part: &Part, value: &Value| match part {
        Part::Text(text) => value.as_str() == Some(text) || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value),
        _ => false,
    };
    let items = || {
        value
            .as_array()
            .is_some_and(|items| items.len() == parts.len() && parts.iter().zip(items).all(|(part, item)| says(part, item)))
    };
    parts.iter().any(|part| says(part, value)) || items()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A block of content.
pub(super) fn part(block: &Value, n: usize, store: Store<'_>) -> Option<Part> {
    let member = |name: &str| block.get(name).and_then(Value::as_str);
    match member("type") {
        Some("text") => member("text").map(|text| Part::Text(text.to_owned())),
        Some("image") => {
            let (data, kind) = (member("data")?, member("mimeType").unwrap_or("image/png"));
            Some(picture(data, kind).unwrap_or_else(|| saved(data, kind, "picture", n, store)))
        }
        Some("audio") => Some(saved(member("data")?, member("mimeType").unwrap_or("audio/wav"), "sound", n, store)),
        Some("resource_link") => {
            let mut said = format!(
                "[Resource link: {}] {}",
                member("name").unwrap_or_default(),
                member("uri").unwrap_or_default()
            );
            if let Some(description) = member("description") {
                said.push_str(&format!(" ({description})"));
            }
            Some(Part::Text(said))
        }
        Some("resource") => Some(resource(block.get("resource")?, n, store)),
        // What no one knows is shown as it is.
        _ => Some(Part::Text(block.to_string())),
    }
}

/// The contents of a resource.
pub(super) fn resource(contents: &Value, n: usize, store: Store<'_>) -> Part {
    let member = |name: &str| contents.get(name).and_then(Value::as_str);
    let uri = member("uri").unwrap_or_default();
    if let Some(text) = member("text") {
        return Part::Text(format!("[Resource from {} at {uri}] {text}", store.server));
    }
    let (data, kind) = (
        member("blob").unwrap_or_default(),
        member("mimeType").unwrap_or("application/octet-stream"),
    );
    picture(data, kind).unwrap_or_else(|| saved(data, kind, &format!("resource {uri}"), n, store))
}

/// A picture, if models can see it.
fn picture(data: &str, kind: &str) -> Option<Part> {
    let seen = matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp") && data.len() <= LARGEST_IMAGE;
    // An API refuses the whole conversation for one picture that is none.
    (seen && !data.is_empty() && STANDARD.decode(data).is_ok()).then(|| Part::Image {
        media_type: kind.to_owned(),
        data: data.to_owned(),
    })
}

/// Bytes that no model takes: they are kept in a file, and the model is told where.
fn saved(data: &str, kind: &str, what: &str, n: usize, store: Store<'_>) -> Part {
    let Ok(bytes) = STANDARD.decode(data) else {
        return Part::Text(format!("[A {what} of type {kind} came whose base64 is broken]"));
    };
    let ending = kind
        .rsplit(['/', '+'])
        .next()
        .filter(|ending| ending.bytes().all(|b| b.is_ascii_alphanumeric()))
        .unwrap_or("bin");
    match keep(store, &format!("{n}.{ending}"), &bytes) {
        Ok(path) => Part::Text(format!(
            "[A {what} of type {kind} with {} bytes came; it is saved at {path}]",
            bytes.len()
        )),
        Err(why) => Part::Text(format!(
            "[A {what} of type {kind} with {} bytes came, and could not be saved: {why}]",
            bytes.len()
        )),
    }
}

/// Writes a file for this user alone, and says where.
fn keep(store: Store<'_>, ending: &str, bytes: &[u8]) -> std::io::Result<String> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let folder = store.folder.join("mcp");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let safe = |text: &str| -> String { PLAIN.part(text).chars().take(40).collect() };
    let name = format!("{}-{}-{ending}", safe(store.server), safe(store.call));
    let path = folder.join(name);
    let mut options = std::fs::OpenOptions::new();
    // Never through a link that somebody laid there.
    let _ = std::fs::remove_file(&path);
    options.write(true).create_new(true).mode(0o600).open(&path)?.write_all(bytes)?;
    Ok(path.display().to_string())
}

/// Cuts text that is longer than the model is given, and keeps the whole in a file.
fn limit(content: &mut Vec<Part>, store: Store<'_>) {
    let most = store.tokens.saturating_mul(BYTES_PER_TOKEN);
    let total: usize = content.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum();
    if total <= most {
        return;
    }
    let whole = text_of(content);
    let mut left = most;
    content.retain_mut(|part| {
        let Part::Text(text) = part else { return true };
        if text.len() > left {
            let end = (0..=left).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
        }
        left -= text.len();
        !text.is_empty()
    });
    let kept = match keep(store, "whole.txt", whole.as_bytes()) {
        Ok(path) => format!("the whole is saved at {path}"),
        Err(why) => format!("the whole could not be saved: {why}"),
    };
    content.push(Part::Text(format!(
        "[The result has {} characters, more than the {} tokens that one may have; only its beginning stands here, {kept}]",
        whole.chars().count(),
        store.tokens
    )));
}

/// All text of it.
pub(super) fn text_of(content: &[Part]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
        .collect();
    texts.join("\n")
}

/// A part as Claude's `tool_use_result` has it.
fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        Part::Image { media_type, data } => Some(json!({ "type": "image", "source": { "type": "base64", "media_type": media_type, "data": data } })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentglot_adapters::raw::event::DetailShape;

    const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn run(result: Value, tokens: usize) -> (Given, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store {
            folder: folder.path(),
            call: "call/1",
            server: "srv",
            tokens,
        };
        (given(&result, PLAIN, store), folder)
    }

    #[test]
    fn text_and_pictures_are_parts_and_blocks() {
        let (given, _folder) = run(
            json!({"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":DOT}]}),
            100,
        );
        assert_eq!(given.status, ResultStatus::Success);
        assert_eq!(given.content.len(), 2);
        assert!(matches!(&given.content[1], Part::Image { media_type, .. } if media_type == "image/png"));
        let (shape, detail) = given.detail.unwrap();
        assert_eq!(shape, DetailShape::Claude);
        assert_eq!(
            detail,
            json!([{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":DOT}}])
        );
    }

    #[test]
    fn failures_are_errors_in_both_spellings() {
        for member in ["isError", "is_error"] {
            let (given, _folder) = run(json!({"content":[{"type":"text","text":"no"}], member: true}), 100);
            assert_eq!((given.status, given.detail.unwrap().1), (ResultStatus::Error, json!("Error: no")));
        }
        assert_eq!(text_of(&run(json!({"isError":true}), 9).0.content), "The tool failed and said nothing.");
    }

    #[test]
    fn structured_content_is_said_once() {
        let text = |result| text_of(&run(result, 100).0.content);
        assert_eq!(
            text(json!({"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}})),
            "{ \"a\": 1 }"
        );
        assert_eq!(
            text(json!({"content":[{"type":"text","text":"one"}],"structuredContent":{"a":1}})),
            "one\n{\"a\":1}"
        );
        assert_eq!(text(json!({"content":[],"structuredContent":[1]})), "[1]");
        assert_eq!(
            text(json!({"content":[{"type":"text","text":"a\n"}],"structuredContent":{"content":"a\n"}})),
            "a\n"
        );
        let items = json!([{"type":"text","text":"a"},{"type":"text","text":"{\"b\":1}"}]);
        assert_eq!(
            text(json!({"content":items,"structuredContent":{"result":["a",{"b":1}]}})),
            "a\n{\"b\":1}"
        );
        assert_eq!(text(json!({"content":[{"type":"hologram","x":1}]})), "{\"type\":\"hologram\",\"x\":1}");
    }

    #[test]
    fn resources_links_and_sounds_are_told_and_bytes_are_kept() {
        let (given, folder) = run(
            json!({"content":[
                {"type":"resource_link","uri":"file:///a","name":"a","description":"d"},
                {"type":"resource","resource":{"uri":"x:1","text":"t"}},
                {"type":"resource","resource":{"uri":"x:2","mimeType":"application/zip","blob":"AAEC"}},
                {"type":"audio","mimeType":"audio/wav","data":"AAEC"},
                {"type":"image","mimeType":"image/png","data":"?"}]}),
            1000,
        );
        let texts: Vec<String> = given.content.iter().map(|part| text_of(std::slice::from_ref(part))).collect();
        assert_eq!(texts[0], "[Resource link: a] file:///a (d)");
        assert_eq!(texts[1], "[Resource from srv at x:1] t");
        assert!(
            texts[2].starts_with("[A resource x:2 of type application/zip with 3 bytes came; it is saved at "),
            "{}",
            texts[2]
        );
        assert_eq!(std::fs::read(folder.path().join("mcp/srv-call_1-2.zip")).unwrap(), [0, 1, 2]);
        assert!(texts[3].starts_with("[A sound of type audio/wav"), "{}", texts[3]);
        assert!(texts[4].contains("base64 is broken"), "{}", texts[4]);
    }

    #[test]
    fn too_much_text_is_cut_and_kept_whole() {
        let long = "ö".repeat(1000);
        let (given, folder) = run(json!({"content":[{"type":"text","text":long},{"type":"text","text":"end"}]}), 100);
        let text = text_of(&given.content);
        assert!(
            text.starts_with(&"ö".repeat(200)) && !text.starts_with(&"ö".repeat(201)) && text.contains("1004 characters"),
            "{text}"
        );
        let whole = std::fs::read_to_string(folder.path().join("mcp/srv-call_1-whole.txt")).unwrap();
        assert_eq!(whole, format!("{long}\nend"));
    }
}
