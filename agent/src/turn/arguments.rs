//! The arguments of a call, as JSON that can be understood in one way only.
//!
//! Of two members with one name some readers take the first and some the last: a host could be shown the one, and the tool do the other.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
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
    match twice(text) {
        Some(name) => Err(format!("hold {name:?} twice in one object and were not run: say it once")),
        None => Ok(input),
    }
}

/// A name that stands twice in one object.
fn twice(text: &str) -> Option<String> {
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    // What cannot be read has been told already.
    let _ = Once(&found).deserialize(&mut reader);
    found.into_inner()
}

/// Takes any value, and gives up where a name comes twice.
#[derive(Clone, Copy)]
struct Once<'f>(&'f RefCell<Option<String>>);

impl<'de> DeserializeSeed<'de> for Once<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if names.contains(&name) {
                *self.0.borrow_mut() = Some(name);
                return Err(A::Error::custom("a name comes twice"));
            }
            names.insert(name);
            members.next_value_seed(self)?;
        }
        Ok(())
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
