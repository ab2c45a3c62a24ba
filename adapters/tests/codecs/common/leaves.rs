//! The leaves of logs: every value with its pointer, and everything that an output says, for looking things up.

use std::collections::{BTreeMap, HashSet};

use agentglot_adapters::raw::codec::{Format, Layout};

use super::json::Json;

/// One value that is no container (or an empty one).
#[derive(Clone, Debug)]
pub struct Leaf<'j> {
    /// Its JSON pointer in its line.
    pub pointer: String,
    /// The last key on the way to it.
    pub key: &'j str,
    pub value: &'j Json,
}

/// All leaves of a value, in order.
pub fn leaves(value: &Json) -> Vec<Leaf<'_>> {
    fn go<'j>(value: &'j Json, pointer: &mut String, key: &'j str, into: &mut Vec<Leaf<'j>>) {
        let length = pointer.len();
        match value {
            Json::Object(members) => {
                for (name, value) in members {
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    go(value, pointer, name, into);
                    pointer.truncate(length);
                }
            }
            Json::List(items) => {
                for (at, value) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{at}"));
                    go(value, pointer, key, into);
                    pointer.truncate(length);
                }
            }
            value => into.push(Leaf {
                pointer: pointer.clone(),
                key,
                value,
            }),
        }
    }
    let mut all = Vec::new();
    go(value, &mut String::new(), "", &mut all);
    all
}

/// Keys of words that belong to a protocol, whatever they look like.
const WORDS: [&str; 13] = [
    "type",
    "object",
    "subtype",
    "role",
    "kind",
    "itemsView",
    "status",
    "finish_reason",
    "stop_reason",
    "permissionMode",
    "permission_mode",
    "mode",
    "method",
];

/// A value that is its own: it cannot stand in an output by accident. Words of protocols (`content_block_delta`,
/// `end_turn`) and small numbers are not.
pub fn distinctive<'j>(leaf: &Leaf<'j>) -> Option<&'j str> {
    match leaf.value {
        // What a message of JSON-RPC is.
        Json::Text(_) if leaf.key == "method" => None,
        Json::Text(text) if text.chars().count() >= 6 && text.chars().any(|c| !matches!(c, 'a'..='z' | '_' | '-')) => {
            (!WORDS.contains(&leaf.key) || text.len() > 30).then_some(text)
        }
        Json::Number(digits) if digits.bytes().filter(u8::is_ascii_digit).count() >= 4 => Some(digits),
        _ => None,
    }
}

/// What stands on a line.
#[derive(Debug)]
pub enum Part<'l> {
    Value(Json),
    Text(&'l str),
}

/// The values and texts of a line: one value as a rule; several objects one after the other; a prompt before an object, as
/// Tricode writes it; a text that is no JSON.
pub fn parts(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        let found = match Json::first(rest) {
            Some((value, after)) if rest.starts_with('{') || after.is_empty() => Some((0, value, after)),
            _ => rest
                .find("{\"type\": \"")
                .filter(|at| *at > 0)
                .and_then(|at| Json::first(&rest[at..]).map(|(value, after)| (at, value, after))),
        };
        let Some((at, value, after)) = found else {
            parts.push(Part::Text(rest));
            break;
        };
        if at > 0 {
            parts.push(Part::Text(rest[..at].trim_ascii()));
        }
        parts.push(Part::Value(value));
        rest = after.trim_ascii_start();
    }
    parts
}

/// Everything that the lines of a log say, ready to be asked whether something is among it.
#[derive(Debug, Default)]
pub struct Said {
    exact: HashSet<String>,
    /// Pieces that belong together, by key, index and thread.
    joined: BTreeMap<String, String>,
    arguments: Vec<String>,
    /// Everything one after the other, for what is part of something larger.
    all: String,
}

/// Keys of texts that come in pieces which are put together.
const PIECES: [&str; 13] = [
    "text",
    "delta",
    "thinking",
    "content",
    "reasoning_content",
    "description",
    "result",
    "arguments",
    "partial_json",
    "input",
    "signature",
    "subject",
    "data",
];

/// Those of them that are pieces of JSON.
pub const FRAGMENTS: [&str; 3] = ["arguments", "partial_json", "input"];

impl Said {
    /// What a log says. Lines that are no JSON count as texts.
    pub fn of(log: &[u8]) -> Self {
        let mut said = Self::default();
        let log = String::from_utf8_lossy(log);
        for line in log.strip_prefix('\u{feff}').unwrap_or(&log).split('\n') {
            for part in parts(line) {
                match part {
                    Part::Value(value) => said.value(&value),
                    Part::Text(text) => {
                        said.text(text, 0);
                        // The blanks before it are a part of it.
                        said.text(line.trim_end_matches('\r'), 0);
                    }
                }
            }
        }
        for (key, text) in std::mem::take(&mut said.joined) {
            said.text(&text, 0);
            if FRAGMENTS.iter().any(|name| key.starts_with(name)) {
                said.arguments.push(text);
            }
        }
        said
    }

    /// What an output in a format says: one that is a value laid out over lines, or text, is not read line by line.
    pub fn of_output(out: &[u8], to: Format) -> Self {
        let text = String::from_utf8_lossy(out);
        match to.mode.layout {
            Layout::Text => {
                let mut said = Self::of(out);
                said.text(&text, 0);
                said
            }
            Layout::Document | Layout::Session => {
                let whole = Json::read(text.trim());
                whole.map_or_else(|| Self::of(out), |value| Self::of(value.compact().as_bytes()))
            }
            _ => Self::of(out),
        }
    }

    fn value(&mut self, value: &Json) {
        let thread = value
            .get("parent_tool_use_id")
            .or_else(|| value.get("parent"))
            .map_or(String::new(), Json::compact);
        self.inside(value, "", &thread, "");
    }

    fn inside(&mut self, value: &Json, key: &str, thread: &str, index: &str) {
        match value {
            Json::Object(members) => {
                // AG-UI names what a piece is of.
                let call = value.get("toolCallId");
                let of = value.get("index").or(call).or_else(|| value.get("messageId"));
                let own = of.map(Json::compact);
                let index = own.as_deref().unwrap_or(index);
                for (name, value) in members {
                    self.exact.insert(name.clone());
                    let name = if name == "delta" && call.is_some() { "input" } else { name };
                    self.inside(value, name, thread, index);
                }
            }
            Json::List(items) => items.iter().for_each(|item| self.inside(item, key, thread, index)),
            Json::Text(text) => {
                if PIECES.contains(&key) {
                    let place = if FRAGMENTS.contains(&key) || key == "delta" { index } else { "" };
                    self.joined.entry(format!("{key} {thread} {place}")).or_default().push_str(text);
                }
                self.text(text, 0);
            }
            Json::Number(digits) => {
                self.exact.insert(digits.clone());
            }
            Json::Null | Json::Bool(_) => {}
        }
    }

    /// A text, and what it says when it is JSON itself or has escapes left to undo.
    fn text(&mut self, text: &str, depth: usize) {
        if depth > 3 || !self.exact.insert(text.to_owned()) && depth == 0 {
            return;
        }
        self.all.push_str(text);
        self.all.push('\n');
        // Calls may stand as JSON on lines of a text.
        let lines = text
            .lines()
            .filter(|line| line.len() < text.len() && line.starts_with(['{', '[']) && depth == 0);
        lines.for_each(|line| self.text(line, depth + 1));
        if text.starts_with(['{', '[']) {
            let mut rest = text;
            while let Some((value, after)) = Json::first(rest) {
                for leaf in leaves(&value) {
                    match leaf.value {
                        Json::Text(inner) => self.text(inner, depth + 1),
                        Json::Number(digits) => {
                            self.exact.insert(digits.clone());
                        }
                        _ => {}
                    }
                }
                rest = after.trim_ascii_start();
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// The arguments of calls that came in pieces, put together.
    pub fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// Whether this text (or number) is said, on its own or as part of something.
    pub fn has(&self, text: &str) -> bool {
        self.exact.contains(text) || memchr::memmem::find(self.all.as_bytes(), text.as_bytes()).is_some()
    }
}
