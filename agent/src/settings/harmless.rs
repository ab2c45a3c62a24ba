//! What counts of the settings of a project that nobody trusts: what runs nothing, opens nothing, sends nothing and costs nothing.

use serde_json::{Map, Value};

use super::{at, by_tool};

/// The members: how the agent answers, by the name of a style (the text of a style is the user's or our own), and rules that only take
/// something away.
const MEMBERS: &[&[&str]] = &[
    &["outputStyle"],
    &["permissions", "deny"],
    &["permissions", "ask"],
    &["tools", "exclude"],
    &["excludeTools"],
    by_tool::MEMBER,
];

/// So many rules of a list, and so many bytes of a rule or a name.
const RULES: usize = 1000;
const BYTES: usize = 1024;

/// The harmless part of a file, and whether it says more than that.
pub(super) fn part(whole: &Value) -> (Value, bool) {
    let mut part = Value::Object(Map::new());
    for path in MEMBERS {
        let kept = match at(whole, path) {
            Some(Value::String(name)) if name.len() <= BYTES => Value::from(name.as_str()),
            Some(Value::Array(rules)) => rules
                .iter()
                .filter(|rule| rule.as_str().is_some_and(|rule| rule.len() <= BYTES))
                .take(RULES)
                .cloned()
                .collect(),
            // What is read of it takes something away.
            Some(Value::Object(rules)) if *path == by_tool::MEMBER && rules.len() <= RULES => Value::Object(rules.clone()),
            _ => continue,
        };
        let place = path.iter().fold(&mut part, |place, name| &mut place[*name]);
        *place = kept;
    }
    let more = part != *whole;
    (part, more)
}
