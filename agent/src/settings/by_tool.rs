//! Rules that stand under the names of tools, `{"bash": "ask", "edit": {"*": "deny", "docs/**": "allow"}}`, or one word for all tools.
//!
//! There the last one that fits counts. Here what denies and what asks comes first and nothing is taken from what allows, so that nobody gets
//! more than he has there.

use serde_json::Value;

use super::at;
use crate::permissions::Behavior;

/// Where they stand.
pub(super) const MEMBER: &[&str] = &["permission"];

/// The rules of a file, as they are written elsewhere.
pub(super) fn rules(file: &Value) -> Vec<(Behavior, String)> {
    let mut rules = Vec::new();
    match at(file, MEMBER) {
        Some(Value::Object(tools)) => {
            for (tool, said) in tools {
                // The name of one tool stands for all that change files.
                let tools: &[&str] = if tool == "edit" { &["edit", "write"] } else { &[tool] };
                for tool in tools {
                    match said {
                        Value::Object(contents) => {
                            let rule = |(content, said): (&String, &Value)| Some((taking(said)?, format!("{tool}({content})")));
                            rules.extend(contents.iter().filter_map(rule));
                        }
                        said => rules.extend(taking(said).map(|behavior| (behavior, (*tool).to_owned()))),
                    }
                }
            }
        }
        Some(said) => rules.extend(taking(said).map(|behavior| (behavior, "*".to_owned()))),
        None => {}
    }
    rules
}

/// What takes something away.
fn taking(said: &Value) -> Option<Behavior> {
    Behavior::from_name(said.as_str()?).filter(|behavior| *behavior != Behavior::Allow)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_by_tool_are_read() {
        let file = json!({"permission": {"bash": {"*": "allow", "git push*": "deny"}, "edit": "ask", "webfetch": "allow", "read": 5}});
        let wanted = [
            (Behavior::Deny, "bash(git push*)".to_owned()),
            (Behavior::Ask, "edit".to_owned()),
            (Behavior::Ask, "write".to_owned()),
        ];
        assert_eq!(rules(&file), wanted);
        assert_eq!(rules(&json!({"permission": "ask"})), [(Behavior::Ask, "*".to_owned())]);
        assert!(rules(&json!({})).is_empty());
    }
}
