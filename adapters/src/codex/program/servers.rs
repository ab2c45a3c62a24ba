//! MCP servers as the program's settings say them, in the words that agents have in common.

use crate::conduct::quoted;
use crate::json::{Raw, Shape, Str};

/// The servers of `mcp_servers`, without those that are switched off.
pub(in crate::codex) fn common(servers: Raw<'_>) -> String {
    let is_on = |server: &Raw<'_>| server.get("enabled").and_then(Raw::bool) != Some(false);
    let servers = servers.members().filter(|(_, server)| is_on(server));
    let servers: Vec<String> = servers.map(|(name, server)| member(name.as_escaped(), &one(server))).collect();
    format!("{{\"mcpServers\":{{{}}}}}", servers.join(","))
}

fn one(server: Raw<'_>) -> String {
    if server.shape() != Some(Shape::Object) {
        return server.as_str().to_owned();
    }
    let (mut members, mut env, mut headers) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in server.members() {
        let text = value.string();
        match (name.as_escaped(), text) {
            ("enabled_tools", _) => members.push(member("includeTools", value.as_str())),
            ("disabled_tools", _) => members.push(member("excludeTools", value.as_str())),
            ("tool_timeout_sec", _) => {
                let seconds = value.as_str().parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
                members.extend(seconds.map(|seconds| member("timeout", &format!("{:.0}", seconds * 1000.0))));
            }
            ("env", _) => env.extend(value.members().map(|(name, value)| member(name.as_escaped(), value.as_str()))),
            // One that is not set is empty there.
            ("env_vars", _) => env.extend(value.elements().filter_map(Raw::string).map(|name| variable(name, name, "", ":-"))),
            ("http_headers", _) => headers.extend(value.members().map(|(name, value)| member(name.as_escaped(), value.as_str()))),
            ("env_http_headers", _) => {
                let named = value.members().filter_map(|(name, value)| Some((name, value.string()?)));
                headers.extend(named.map(|(name, value)| variable(name, value, "", "")));
            }
            ("bearer_token_env_var", Some(token)) => headers.push(variable(Str::trusted("Authorization"), token, "Bearer ", "")),
            (name, _) => members.push(member(name, value.as_str())),
        }
    }
    for (name, list) in [("env", env), ("headers", headers)] {
        if !list.is_empty() {
            members.push(member(name, &format!("{{{}}}", list.join(","))));
        }
    }
    format!("{{{}}}", members.join(","))
}

fn member(name: &str, value: &str) -> String {
    format!("\"{name}\":{value}")
}

/// A member whose value is that of a variable.
fn variable(name: Str<'_>, variable: Str<'_>, before: &str, else_empty: &str) -> String {
    member(name.as_escaped(), &quoted(&format!("{before}${{{}{else_empty}}}", variable.unescape())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_said_in_the_words_that_agents_have_in_common() {
        let servers = r#"{
            "a": {"command": "x", "args": ["-y"], "env": {"K": "v"}, "env_vars": ["TOKEN"], "enabled_tools": ["one"], "disabled_tools": ["two"],
                  "tool_timeout_sec": 1.5},
            "b": {"command": "y", "enabled": false},
            "c": {"url": "http://h", "bearer_token_env_var": "KEY", "http_headers": {"X": "1"}, "env_http_headers": {"Y": "WHY"}, "enabled": true}
        }"#;
        let common = common(Raw::trusted(servers));
        let all = Raw::trusted(&common).get("mcpServers").unwrap();
        let text = |server: &str, member: &str| all.get(server).unwrap().get(member).unwrap().as_str().to_owned();
        assert_eq!(all.members().count(), 2, "{common}");
        assert_eq!(text("a", "env"), r#"{"K":"v","TOKEN":"${TOKEN:-}"}"#);
        assert_eq!(
            (text("a", "includeTools"), text("a", "excludeTools")),
            (r#"["one"]"#.to_owned(), r#"["two"]"#.to_owned())
        );
        assert_eq!((text("a", "timeout"), text("a", "command")), ("1500".to_owned(), r#""x""#.to_owned()));
        assert_eq!(text("c", "headers"), r#"{"Authorization":"Bearer ${KEY}","X":"1","Y":"${WHY}"}"#);
    }
}
