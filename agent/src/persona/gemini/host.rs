//! What hosts of Gemini CLI's are told.

use serde_json::json;

use crate::model::ModelError;
use crate::persona::host::{HostFacts, HostPersona, plain};

#[derive(Debug)]
pub(super) struct GeminiHost;

static FACTS: HostFacts = HostFacts {
    is_timed: true,
    whole_calls: Some(|name, input| (told(name), input.to_owned())),
    ..HostFacts::PLAIN
};

impl HostPersona for GeminiHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    /// The API's answer stands in it as JSON; of one that was asked too often, what can be done about that stands behind it.
    fn failure(&self, error: &ModelError) -> String {
        let Some(status) = error.status else {
            return format!("[API Error: {}]", plain(error));
        };
        let body = json!({"error": {"code": status, "message": plain(error), "status": word(status)}});
        let hint = if status == 429 { "\nPlease wait and try again later." } else { "" };
        format!("[API Error: {body}]{hint}")
    }
}

/// Tools of MCP servers are `mcp_SERVER_TOOL` here, where the server's name allows that.
fn told(name: &str) -> String {
    let parts = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    match parts {
        Some((server, tool)) if !server.contains('_') => format!("mcp_{server}_{tool}"),
        _ => name.to_owned(),
    }
}

/// What the API calls such a status.
const fn word(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_have_its_names_where_they_can_be_told_apart() {
        for (name, wanted) in [
            ("mcp__calc__add", "mcp_calc_add"),
            ("mcp__my_calc__add", "mcp__my_calc__add"),
            ("read_file", "read_file"),
        ] {
            assert_eq!(told(name), wanted);
        }
    }
}
