//! One line of a transcript, as it is written.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::model::message::{Call, CallResult, Part, Source};
use agentglot_adapters::raw::json::on_one_line;

/// An object, member by member in the order of the calls.
#[derive(Debug)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Self(String::from("{"))
    }

    /// A member whose value is JSON already.
    pub(super) fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(key));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.raw(key, &quoted(value))
    }

    /// Absent is left out.
    pub(super) fn maybe(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.text(key, value);
        }
        self
    }

    /// Absent is `null`.
    pub(super) fn or_null(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, "null"),
        }
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.raw(key, if value { "true" } else { "false" })
    }

    /// `true`, or left out.
    pub(super) fn only_if(&mut self, key: &str, value: bool) -> &mut Self {
        if value {
            self.flag(key, true);
        }
        self
    }

    pub(super) fn value(&mut self, key: &str, value: &Value) -> &mut Self {
        self.raw(key, &value.to_string())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A string of JSON.
pub(super) fn quoted(text: &str) -> String {
    // Text is always JSON.
    serde_json::to_string(text).unwrap_or_default()
}

/// The content of a message: a lone text as it is, else blocks. What the blocks have no room for is appended to `more`.
pub(super) fn content(parts: &[Part], more: &mut Object) -> String {
    match parts {
        [Part::Text(text)] => quoted(text),
        parts => array(parts, more),
    }
}

/// Blocks.
pub(super) fn array(parts: &[Part], more: &mut Object) -> String {
    let blocks: Vec<String> = parts.iter().map(|part| block(part, more)).collect();
    format!("[{}]", blocks.join(","))
}

/// A block as the Anthropic API has it. What it has no room for is appended to `more`.
pub(super) fn block(part: &Part, more: &mut Object) -> String {
    let mut block = Object::new();
    match part {
        Part::Text(text) => {
            block.text("type", "text").text("text", text);
        }
        Part::Image { media_type, data } => {
            block.text("type", "image").raw("source", &bytes(media_type, data));
        }
        Part::Document { media_type, data } => {
            block.text("type", "document").raw("source", &bytes(media_type, data));
        }
        Part::Thinking { text, signature, source } => {
            let signature = signature.as_deref().unwrap_or_default();
            block.text("type", "thinking").text("thinking", text).text("signature", signature);
            if source.api != "anthropic" {
                more.raw("thinking", &origin(source));
            }
        }
        Part::Redacted { data } => {
            block.text("type", "redacted_thinking").text("data", data);
        }
        Part::Call(call) => {
            let object = is_object(&call.input);
            let input = if object { call.input.trim() } else { "{}" };
            block
                .text("type", "tool_use")
                .text("id", &call.id)
                .text("name", &call.name)
                .raw("input", &on_one_line(input));
            note_call(call, object, more);
        }
        Part::Result(result) => return tool_result(result),
    }
    block.end()
}

/// What a `tool_use` block has no room for.
fn note_call(call: &Call, object: bool, more: &mut Object) {
    if !object {
        more.text("input", &call.input);
    }
    if let Some(extra) = call.extra.as_deref().filter(|extra| is_object(extra)) {
        more.raw("extra", &on_one_line(extra));
    }
}

fn origin(source: &Source) -> String {
    let mut origin = Object::new();
    origin
        .text("api", &source.api)
        .text("model", &source.model)
        .text("member", &source.member);
    origin.end()
}

/// A result's block.
pub(super) fn tool_result(result: &CallResult) -> String {
    let mut block = Object::new();
    block.text("tool_use_id", &result.call).text("type", "tool_result");
    block.raw("content", &content(&result.content, &mut Object::new()));
    block.only_if("is_error", result.is_error);
    block.end()
}

fn bytes(media_type: &str, data: &str) -> String {
    let mut source = Object::new();
    source.text("type", "base64").text("media_type", media_type).text("data", data);
    source.end()
}

/// Whether a text is a JSON object.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stay_as_they_were_written() {
        let call = |input: &str| {
            Part::Call(Call {
                id: "c".into(),
                name: "N".into(),
                input: input.into(),
                extra: None,
            })
        };
        let mut more = Object::new();
        assert_eq!(
            block(&call("{\"a\":\n1e2}"), &mut more),
            r#"{"type":"tool_use","id":"c","name":"N","input":{"a":1e2}}"#
        );
        assert!(more.is_empty());
        assert_eq!(
            block(&call("{\"a\":"), &mut more),
            r#"{"type":"tool_use","id":"c","name":"N","input":{}}"#
        );
        assert_eq!(more.end(), r#"{"input":"{\"a\":"}"#);
    }
}
