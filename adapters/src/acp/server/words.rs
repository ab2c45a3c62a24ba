//! Answers, errors, and what else is written once.

use super::super::rpc;
use crate::conduct::quoted;
use crate::json::{Raw, Shape, Str};
use crate::launch::PermissionMode;
use crate::server::Actions;

/// What is answered to `initialize`: version 1 whatever was asked for, for an editor that does not speak it hangs up.
pub(super) const CAPABILITIES: &str = concat!(
    "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,\"promptCapabilities\":{\"image\":true,\"audio\":false,",
    "\"embeddedContext\":true},\"mcpCapabilities\":{\"http\":true,\"sse\":true},\"sessionCapabilities\":{\"list\":{},\"resume\":{},",
    "\"close\":{},\"additionalDirectories\":{}}},\"authMethods\":[],\"agentInfo\":{\"name\":\"agentglot\",\"title\":\"agentglot\",",
    "\"version\":\"",
    env!("CARGO_PKG_VERSION"),
    "\"}}"
);

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct Wrong {
    code: i32,
    pub(super) message: String,
}

impl Wrong {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(super) fn parse(why: &str) -> Self {
        Self::new(-32700, format!("Parse error: {why}"))
    }

    pub(super) fn request(why: &str) -> Self {
        Self::new(-32600, format!("Invalid request: {why}"))
    }

    pub(super) fn method(method: &str) -> Self {
        Self::new(-32601, format!("Method not found: {method}"))
    }

    pub(super) fn params(why: &str) -> Self {
        Self::new(-32602, format!("Invalid params: {why}"))
    }

    pub(super) fn internal(why: &str) -> Self {
        Self::new(-32603, why)
    }

    pub(super) fn nothing(session: &str) -> Self {
        Self::new(-32002, format!("Resource not found: session {session:?}"))
    }
}

/// Answers a request. `id` is the number as it was spelled.
pub(super) fn answer(id: &str, result: &str, actions: &mut Actions) {
    say(&rpc::answer(id, result), actions);
}

/// Refuses one.
pub(super) fn refuse(id: &str, wrong: &Wrong, actions: &mut Actions) {
    say(&rpc::error(id, wrong.code, &wrong.message), actions);
}

fn say(message: &str, actions: &mut Actions) {
    actions.out.extend_from_slice(message.as_bytes());
    actions.out.push(b'\n');
}

/// Tells what is new in a session; `update` is its members, `session` fits into a text.
pub(super) fn update(session: &str, update: &str, actions: &mut Actions) {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{{update}}}}}}}\n");
    actions.out.extend_from_slice(line.as_bytes());
}

/// A member with a plain text.
pub(super) fn member(name: &str, plain: &str, into: &mut String) {
    into.push_str(&quoted(name));
    into.push(':');
    into.push_str(&quoted(plain));
}

/// The modes of a session: name, title and what it means. Where everything runs is one only for who began there.
pub(super) fn modes(bypass: bool) -> impl Iterator<Item = (PermissionMode, &'static str, &'static str, &'static str)> {
    use PermissionMode::{AcceptEdits, Ask, Bypass, DontAsk, Plan};
    [
        (Ask, "default", "Default", "asks before files change and commands run"),
        (AcceptEdits, "acceptEdits", "Accept edits", "files are edited without a question"),
        (Plan, "plan", "Plan", "nothing is changed; a plan is made"),
        (DontAsk, "dontAsk", "Don't ask", "what would need a permission is refused"),
        (Bypass, "bypassPermissions", "Bypass permissions", "everything runs without a question"),
    ]
    .into_iter()
    .filter(move |(mode, ..)| bypass || *mode != Bypass)
}

/// The MCP servers of a session, by their names: lists of variables and headers are objects there.
pub(super) fn servers(list: Raw<'_>) -> Result<Option<String>, Wrong> {
    if list.shape() != Some(Shape::Array) {
        return Err(Wrong::params("mcpServers: a list is wanted"));
    }
    let mut all = String::new();
    for server in list.elements() {
        let Some(name) = server.get("name").and_then(Raw::string) else {
            return Err(Wrong::params("mcpServers: each has a name"));
        };
        let wanted = match server.get("type").and_then(Raw::string).map(Str::as_escaped) {
            None | Some("stdio") => Some("command"),
            Some("http" | "sse") => Some("url"),
            Some(_) => None,
        };
        if wanted.is_some_and(|wanted| server.get(wanted).and_then(Raw::string).is_none()) {
            return Err(Wrong::params("mcpServers: each has a command, or a type and a url"));
        }
        all.push_str(if all.is_empty() { "\"" } else { ",\"" });
        all.push_str(name.as_escaped());
        all.push_str("\":{");
        let mut first = true;
        for (key, value) in server.members().filter(|(key, _)| !key.is("name") && !key.is("_meta")) {
            all.push_str(if std::mem::replace(&mut first, false) { "\"" } else { ",\"" });
            all.push_str(key.as_escaped());
            all.push_str("\":");
            match key.as_escaped() {
                "env" | "headers" if value.shape() == Some(Shape::Array) => pairs(value, &mut all),
                _ => all.push_str(value.as_str()),
            }
        }
        all.push('}');
    }
    Ok((!all.is_empty()).then(|| format!("{{\"mcpServers\":{{{all}}}}}")))
}

/// `[{name,value}]` as an object.
fn pairs(list: Raw<'_>, all: &mut String) {
    let text = |pair: Raw<'_>, name: &str| pair.get(name).and_then(Raw::string).map(Str::as_escaped).map(str::to_owned);
    let pairs = list.elements().filter_map(|pair| Some((text(pair, "name")?, text(pair, "value")?)));
    all.push('{');
    for (n, (name, value)) in pairs.enumerate() {
        all.push_str(if n > 0 { ",\"" } else { "\"" });
        all.push_str(&name);
        all.push_str("\":\"");
        all.push_str(&value);
        all.push('"');
    }
    all.push('}');
}
