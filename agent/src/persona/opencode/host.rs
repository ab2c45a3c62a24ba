//! What hosts of OpenCode's are told.

use serde_json::json;

use super::tools;
use crate::model::ModelError;
use crate::persona::host::{HostFacts, HostPersona, plain};

#[derive(Debug)]
pub(super) struct OpencodeHost;

static FACTS: HostFacts = HostFacts {
    is_timed: true,
    whole_calls: Some(told),
    ..HostFacts::PLAIN
};

impl HostPersona for OpencodeHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn failure(&self, error: &ModelError) -> String {
        plain(error).to_owned()
    }
}

/// Tools of MCP servers are `SERVER_TOOL` here, and a call of a tool that there is not is one of the tool `invalid`.
fn told(name: &str, input: &str) -> (String, String) {
    if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        return (format!("{server}_{tool}"), input.to_owned());
    }
    match tools::is_known(name) {
        true => (name.to_owned(), input.to_owned()),
        false => ("invalid".to_owned(), json!({"tool": name, "error": tools::no_tool(name)}).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_its_names() {
        for (name, wanted) in [("mcp__calc__add", "calc_add"), ("read", "read"), ("task", "task"), ("nosuch", "invalid")] {
            assert_eq!(told(name, "{}").0, wanted);
        }
        assert!(told("nosuch", "{}").1.contains(r#""tool":"nosuch""#));
    }
}
