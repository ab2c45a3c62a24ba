//! Pieces of lines that several writers need.

use crate::event::{At, Fields};
use crate::json::{Out, Raw, Str};

/// An assistant line up to the text.
pub(super) const ASSISTANT: &str = "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":";
/// A piece of a thought up to the text.
pub(super) const THINKING: &str = "{\"type\":\"thinking\",\"subtype\":\"delta\",\"text\":";
/// The end of a thought up to the session.
pub(super) const THOUGHT: &str = "{\"type\":\"thinking\",\"subtype\":\"completed\"";

/// `,"key":"…"` for a string that is there.
pub(super) fn member(key: &str, value: Option<Str<'_>>, out: &mut Out) {
    if let Some(value) = value {
        name(key, out);
        out.str(value);
    }
}

/// `,"key":…` for a value that is there.
pub(super) fn raw_member(key: &str, value: Option<Raw<'_>>, out: &mut Out) {
    if let Some(value) = value {
        name(key, out);
        out.unchecked(value);
    }
}

/// `,"key":`.
pub(super) fn name(key: &str, out: &mut Out) {
    out.lit(",\"");
    out.lit(key);
    out.lit("\":");
}

/// The fields of one object, each behind a comma.
pub(super) fn fields(fields: Fields<'_>, at: At<'_>, out: &mut Out) {
    for field in fields.iter().filter(|field| field.at == at) {
        field.write_next(out);
    }
}

/// `"readToolCall":{"args":…` or `"function":{"name":…,"arguments":"…"`, the object left open. Returns whether anything
/// stands in it.
pub(super) fn tool(native: bool, tool: Str<'_>, input: Option<Raw<'_>>, out: &mut Out) -> bool {
    if native {
        out.str(tool);
        out.lit(":{");
        out.raw_if("\"args\":", input);
        return input.is_some();
    }
    out.lit("\"function\":{\"name\":");
    out.str(tool);
    if let Some(input) = input {
        out.lit(",\"arguments\":");
        match input.string() {
            // Arguments that are no JSON stand as the text that they are.
            Some(text) => out.str(text),
            None => {
                out.lit("\"");
                out.json_in_string(input.as_str());
                out.lit("\"");
            }
        }
    }
    true
}
