//! The arguments of a call, as JSON that can be understood in one way only.
//!
//! Of two members with one name some readers take the first and some the last: a host could be shown the one, and the tool do the other.

use std::collections::HashSet;

use agentglot_adapters::raw::json::{Raw, Shape};
use serde_json::Value;

/// Reads the arguments of a call.
///
/// # Errors
/// Why they are none, as the end of a sentence about them.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let input: Value = serde_json::from_str(text).map_err(|error| format!("are no JSON and were not run: {error}"))?;
    if !input.is_object() {
        return Err("are no JSON object".to_owned());
    }
    match twice(Raw::trusted(text)) {
        Some(name) => Err(format!("hold {name:?} twice in one object and were not run: say it once")),
        None => Ok(input),
    }
}

/// A name that stands twice in one object.
fn twice(value: Raw<'_>) -> Option<String> {
    match value.shape()? {
        Shape::Object => {
            let mut names = HashSet::new();
            value.members().find_map(|(name, inside)| {
                let name = name.unescape().into_owned();
                match names.contains(&name) {
                    true => Some(name),
                    false => {
                        names.insert(name);
                        twice(inside)
                    }
                }
            })
        }
        Shape::Array => value.elements().find_map(twice),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once_in_an_object() {
        for text in [
            r#"{}"#,
            r#"{"a":1,"b":[{"a":1},{"a":2.5},null,true,"x",-1,1e400]}"#,
            r#"{"a":{"a":{"a":"b"}}}"#,
        ] {
            let read = read(text);
            assert!(read.is_ok() || text.contains("1e400"), "{text}: {read:?}");
        }
        for text in [
            r#"{"command":"ls","command":"rm -rf x"}"#,
            r#"{"command":"ls","comm\u0061nd":"rm -rf x"}"#,
            r#"{"edits":[{"old":"a","new":"b","new":"c"}]}"#,
        ] {
            assert!(read(text).unwrap_err().contains("twice"), "{text}");
        }
        assert!(read("[]").unwrap_err().contains("no JSON object") && read("{").unwrap_err().contains("no JSON and"));
    }
}
