//! Settings that a program takes from a variable of its environment.

use serde_json::{Map, Value};

/// Settings that stand in a variable, and what else they are to say. What is no object is the program's to complain about.
pub(super) fn settings(set: Option<&str>, more: &str) -> String {
    fn fill(set: &mut Map<String, Value>, more: Map<String, Value>) {
        for (name, value) in more {
            match (set.get_mut(&name), value) {
                (None, value) => _ = set.insert(name, value),
                (Some(Value::Object(set)), Value::Object(more)) => fill(set, more),
                (Some(_), _) => {}
            }
        }
    }
    let set = set.filter(|text| !text.trim().is_empty()).unwrap_or("{}");
    match (serde_json::from_str(set), serde_json::from_str(more)) {
        (Ok(Value::Object(mut set)), Ok(Value::Object(more))) => {
            fill(&mut set, more);
            Value::Object(set).to_string()
        }
        _ => set.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_added_to_those_that_are_there() {
        let more = r#"{"a":{"b":1,"c":2},"d":3}"#;
        for (set, whole) in [
            (None, more),
            (Some(""), more),
            (Some(r#"{"a":{"b":9},"e":4}"#), r#"{"a":{"b":9,"c":2},"d":3,"e":4}"#),
            (Some(r#"{"a":null}"#), r#"{"a":null,"d":3}"#),
            (Some("// words"), "// words"),
        ] {
            let said: Value = serde_json::from_str(&settings(set, more)).unwrap_or(Value::Null);
            assert_eq!(said, serde_json::from_str::<Value>(whole).unwrap_or(Value::Null), "{set:?}");
        }
        assert_eq!(settings(Some("// words"), more), "// words");
    }
}
