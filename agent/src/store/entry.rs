//! One line of a transcript, as it is read: of any program that writes such lines, and with whatever else is in them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::line::Object;

use crate::model::message::{Call, CallResult, Part, Source};
use crate::model::usage::Tokens;

/// A line. Members that are not needed are passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) subtype: Option<String>,
    pub(super) uuid: Option<String>,
    pub(super) parent_uuid: Option<String>,
    pub(super) session_id: Option<String>,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    pub(super) is_compact_summary: bool,
    pub(super) is_visible_in_transcript_only: bool,
    pub(super) is_api_error_message: bool,
    pub(super) permission_mode: Option<String>,
    pub(super) timestamp: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) custom_title: Option<String>,
    pub(super) last_prompt: Option<String>,
    pub(super) leaf_uuid: Option<String>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    agentglot: Option<&'a RawValue>,
}

/// What a message's line says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The model's name.
    pub(super) model: Option<String>,
    pub(super) parts: Vec<Part>,
}

impl<'a> Entry<'a> {
    /// A line that is an object with a type.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// Part of the chain.
    pub(super) fn is_chained(&self) -> bool {
        self.uuid.is_some() && matches!(&*self.kind, "user" | "assistant" | "system" | "attachment" | "progress")
    }

    /// Something that the user said himself.
    pub(super) fn is_prompt(&self) -> bool {
        self.kind == "user" && !self.is_meta && !self.is_compact_summary && !self.has(b"\"tool_result\"") && self.message.is_some()
    }

    /// Whether this stands somewhere in its message.
    pub(super) fn has(&self, needle: &[u8]) -> bool {
        let message = self.message.map_or("", RawValue::get);
        memchr::memmem::find(message.as_bytes(), needle).is_some()
    }

    /// What the reply has used, in the words of Anthropic's API.
    pub(super) fn used(&self) -> Tokens {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Message {
            usage: Usage,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Usage {
            input_tokens: u64,
            output_tokens: u64,
            cache_read_input_tokens: u64,
            cache_creation_input_tokens: u64,
        }
        let message = self.message.and_then(|message| serde_json::from_str(message.get()).ok());
        let Message { usage } = message.unwrap_or_default();
        Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
        }
    }

    /// The id of the reply that it is a block of.
    pub(super) fn reply(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Id {
            id: Option<String>,
        }
        (self.kind == "assistant").then_some(())?;
        serde_json::from_str::<Id>(self.message?.get()).ok()?.id.filter(|id| !id.is_empty())
    }

    /// What it says, as far as it can be understood.
    pub(super) fn said(&self) -> Said {
        let Some(message) = self.message else { return Said::default() };
        let Some(message) = lenient::<Message>(message.get()) else {
            return Said::default();
        };
        let more = self.agentglot.and_then(|more| serde_json::from_str(more.get()).ok()).unwrap_or_default();
        Said {
            parts: message
                .content
                .as_deref()
                .map(|content| parts(content, message.model.as_deref(), &more))
                .unwrap_or_default(),
            model: message.model,
        }
    }

    /// The id of the call that a hook has put off here.
    pub(super) fn deferred(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Deferred {
            #[serde(rename = "type")]
            kind: String,
            #[serde(rename = "toolUseID")]
            call: String,
        }
        let deferred: Deferred = serde_json::from_str(self.attachment?.get()).ok()?;
        (deferred.kind == "hook_deferred_tool").then_some(deferred.call)
    }

    /// A prompt that came while the turn ran: it is an attachment, and read by the model as the user's.
    pub(super) fn queued(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Queued {
            #[serde(rename = "type")]
            kind: String,
            prompt: Option<String>,
        }
        let queued: Queued = serde_json::from_str(self.attachment?.get()).ok()?;
        queued.prompt.filter(|_| queued.kind == "queued_command")
    }
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    content: Option<Box<RawValue>>,
}

/// What a block has no room for.
#[derive(Default, Deserialize)]
#[serde(default)]
struct More {
    thinking: Option<Source>,
    input: Option<String>,
    extra: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    source: Option<Bytes>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
    content: Option<Box<RawValue>>,
    is_error: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Bytes {
    media_type: String,
    data: String,
}

fn parts(content: &RawValue, model: Option<&str>, more: &More) -> Vec<Part> {
    if let Some(text) = lenient::<String>(content.get()).filter(|_| content.get().starts_with('"')) {
        return if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] };
    }
    let blocks: Vec<Box<RawValue>> = serde_json::from_str(content.get()).unwrap_or_default();
    let blocks = blocks.iter().filter_map(|block| lenient::<Block>(block.get()));
    blocks.filter_map(|block| part(block, model.unwrap_or_default(), more)).collect()
}

fn part(block: Block, model: &str, more: &More) -> Option<Part> {
    Some(match &*block.kind {
        "text" => Part::Text(block.text?),
        "thinking" => {
            let signature = block.signature.filter(|signature| !signature.is_empty());
            let source = more.thinking.clone().unwrap_or_else(|| Source {
                api: if signature.is_some() { "anthropic" } else { "openai" }.to_owned(),
                model: model.to_owned(),
                member: if signature.is_some() { "" } else { "reasoning_content" }.to_owned(),
            });
            Part::Thinking {
                text: block.thinking.unwrap_or_default(),
                signature,
                source,
            }
        }
        "redacted_thinking" => Part::Redacted { data: block.data? },
        "tool_use" => Part::Call(Call {
            id: block.id?,
            name: block.name?,
            input: match (&more.input, block.input) {
                (Some(input), _) => input.clone(),
                (None, Some(input)) => input.get().to_owned(),
                (None, None) => "{}".to_owned(),
            },
            extra: more.extra.as_deref().map(|extra| extra.get().to_owned()),
        }),
        "tool_result" => Part::Result(CallResult {
            call: block.tool_use_id?,
            content: block.content.map(|content| parts(&content, None, &More::default())).unwrap_or_default(),
            is_error: block.is_error.unwrap_or_default(),
        }),
        "image" | "document" => {
            let Bytes { media_type, data } = block.source.filter(|source| !source.data.is_empty())?;
            if block.kind == "image" {
                Part::Image { media_type, data }
            } else {
                Part::Document { media_type, data }
            }
        }
        _ => return None,
    })
}

/// An object's members in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Each<'a> {
            type Value = Vec<(String, &'a RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(Each(PhantomData)).map(Members)
    }
}

/// A line as it stands in a copy of its session: of the copy's id, and with a word on where it comes from.
pub(super) fn forked(line: &[u8], id: &str, from: &str) -> Option<String> {
    let Members(members) = serde_json::from_slice(line).ok()?;
    let mut copy = Object::new();
    let mut source = Object::new();
    source.text("sessionId", from);
    for (key, value) in members {
        match &*key {
            "sessionId" => copy.text("sessionId", id),
            "forkedFrom" => &mut copy,
            _ => {
                if key == "uuid" {
                    source.raw("messageUuid", value.get());
                }
                copy.raw(&key, value.get())
            }
        };
    }
    copy.raw("forkedFrom", &source.end());
    Some(copy.end())
}

/// Reads JSON; where it cannot be read because of half a surrogate pair, which no text can hold, that is replaced.
fn lenient<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
    if let Ok(read) = serde_json::from_str(json) {
        return Some(read);
    }
    match paired(json) {
        Cow::Owned(json) => serde_json::from_str(&json).ok(),
        Cow::Borrowed(_) => None,
    }
}

/// JSON whose escaped surrogates all come in pairs.
fn paired(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut clean = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += found;
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                clean.push_str(&json[from..at]);
                clean.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            (Some(_), _) => at += 6,
            // A backslash and one ASCII character, or the JSON is none.
            (None, _) => at = (at + 2).min(json.len()),
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    clean.push_str(&json[from..]);
    Cow::Owned(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_do_not_cost_the_message() {
        let line = br#"{"type":"user","uuid":"u","message":{"role":"user","content":"a\ud800b\ud83d\ude00 \\ud800 \udc00"}}"#;
        let entry = Entry::read(line).unwrap();
        assert_eq!(entry.said().parts, [Part::Text("a\u{fffd}b\u{1f600} \\ud800 \u{fffd}".into())]);
    }

    #[test]
    fn blocks_nest_as_deep_as_they_like() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let line = format!(
            r#"{{"type":"assistant","uuid":"u","message":{{"id":"m","content":[{{"type":"tool_use","id":"c","name":"N","input":{{"a":{deep}}}}}]}},"toolUseResult":{deep}}}"#
        );
        let entry = Entry::read(line.as_bytes()).unwrap();
        let Part::Call(call) = &entry.said().parts[0] else { panic!() };
        assert_eq!(call.input, format!("{{\"a\":{deep}}}"));
    }
}
