//! Configurations of MCP servers in another program's words.
//!
//! All have an object of servers by name below `mcpServers`, and one of two ways to say how a server at an address is reached
//! ([`ServerWords`]).

use super::program::ServerWords;
use crate::json::{Raw, Shape};

/// Several configurations as one, in the words `to`. Of servers with the same name the last one counts. With it
/// comes why something of it could not be said, if that is so; `None` if one of them is no JSON object.
pub(crate) fn merged(configs: &[&str], from: ServerWords, to: ServerWords) -> Option<(String, Option<&'static str>)> {
    let mut said: Vec<(&str, String)> = Vec::new();
    let mut why = None;
    for config in configs {
        let config = Raw::trusted(config.trim());
        if config.check().is_err() || config.shape() != Some(Shape::Object) {
            return None;
        }
        let servers = config.get("mcpServers").unwrap_or(config);
        for (name, server) in servers.members() {
            said.retain(|(known, _)| *known != name.as_escaped());
            match in_words(server, from, to) {
                Ok((server, lost)) => {
                    said.push((name.as_escaped(), server));
                    why = why.or(lost);
                }
                Err(lost) => why = Some(lost),
            }
        }
    }
    let servers: Vec<String> = said.iter().map(|(name, server)| format!("\"{name}\":{server}")).collect();
    Some((format!("{{\"mcpServers\":{{{}}}}}", servers.join(",")), why))
}

/// A server, and what of it could not be said; an error if it cannot be said at all.
fn in_words(server: Raw<'_>, from: ServerWords, to: ServerWords) -> Result<(String, Option<&'static str>), &'static str> {
    let kind = server.get("type").and_then(Raw::string);
    let is = |word: &str| kind.is_some_and(|kind| kind.is(word));
    if from == to || is("sdk") || server.shape() != Some(Shape::Object) {
        return Ok((server.as_str().to_owned(), None));
    }
    let has = |name: &str| server.get(name).is_some_and(|value| value.string().is_some());
    // The member with the address, what it is called over there, and the `type` that belongs to it.
    let (address, named, kind) = if to == ServerWords::Member {
        ("url", if is("sse") { "url" } else { "httpUrl" }, None)
    } else if has("httpUrl") {
        ("httpUrl", "url", Some("http"))
    } else if has("url") {
        ("url", "url", Some("sse"))
    } else if has("tcp") {
        return Err("this program knows no server behind a WebSocket");
    } else {
        ("url", "url", None)
    };
    let mut members: Vec<String> = kind.into_iter().map(|kind| format!("\"type\":\"{kind}\"")).collect();
    let mut lost = None;
    for (key, value) in server.members() {
        let key = key.as_escaped();
        match key {
            key if key == address => members.push(format!("\"{named}\":{}", value.as_str())),
            "type" | "url" | "httpUrl" | "tcp" => {}
            "command" | "args" | "env" | "headers" | "timeout" => members.push(format!("\"{key}\":{}", value.as_str())),
            _ => lost = Some("of a server, this program is told how to reach it and how long to wait for it, and nothing more"),
        }
    }
    Ok((format!("{{{}}}", members.join(",")), lost))
}

#[cfg(test)]
mod tests {
    use super::ServerWords::{Member, Type};
    use super::*;

    #[test]
    fn servers_are_said_in_the_words_of_the_program() {
        let claude = r#"{"mcpServers":{"files":{"type":"stdio","command":"x","args":["-a"],"env":{"K":"v"}},"far":{"type":"http","url":"http://h/mcp","headers":{"A":"b"}},"old":{"type":"sse","url":"http://h/sse"},"here":{"type":"sdk","name":"here"}}}"#;
        let qwen = r#"{"mcpServers":{"files":{"command":"x","args":["-a"],"env":{"K":"v"}},"far":{"httpUrl":"http://h/mcp","headers":{"A":"b"}},"old":{"url":"http://h/sse"},"here":{"type":"sdk","name":"here"}}}"#;
        assert_eq!(merged(&[claude], Type, Member), Some((qwen.to_owned(), None)));
        let back = claude.replace(r#""type":"stdio","#, "");
        assert_eq!(merged(&[qwen], Member, Type), Some((back, None)));
        // Servers are taken without the frame as well.
        let bare = qwen.strip_prefix(r#"{"mcpServers":"#).and_then(|rest| rest.strip_suffix('}')).unwrap();
        assert_eq!(merged(&[bare], Member, Member), Some((qwen.to_owned(), None)));
    }

    #[test]
    fn several_configurations_are_one_and_the_last_server_of_a_name_counts() {
        let configs = [
            r#"{"mcpServers":{"a":{"command":"1"},"b":{"command":"2"}}}"#,
            r#" {"mcpServers":{"a":{"command":"3"}}} "#,
        ];
        let one = r#"{"mcpServers":{"b":{"command":"2"},"a":{"command":"3"}}}"#;
        assert_eq!(merged(&configs, Type, Member), Some((one.to_owned(), None)));
        for broken in ["{", "[]", "{\"a\":}", ""] {
            assert_eq!(merged(&[configs[0], broken], Type, Member), None, "{broken}");
        }
    }

    #[test]
    fn what_cannot_be_said_of_a_server_is_told() {
        let (text, why) = merged(
            &[r#"{"mcpServers":{"a":{"tcp":"ws://h"},"b":{"command":"x","cwd":"/tmp"}}}"#],
            Member,
            Type,
        )
        .unwrap();
        assert_eq!(text, r#"{"mcpServers":{"b":{"command":"x"}}}"#);
        assert!(why.is_some());
    }
}
