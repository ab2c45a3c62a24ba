//! Signs of the protocol's messages (docs/acp.md).

use crate::codec::Dialect::Acp;
use crate::detect::{Evidence, HINT, Opened, PROOF, STRONG, word};

/// What the line says for it.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Acp, weight, why));
    let recorded = matches!(line.word("dir"), "c2a" | "a2c");
    let inner = recorded.then(|| line.get("msg").map(|message| Opened::part(message.as_str()))).flatten();
    let inside = |path: &[&str]| inner.as_ref().unwrap_or(line).find(path);
    if inside(&["jsonrpc"]).map(word) != Some("2.0") {
        return None;
    }
    let method = inside(&["method"]).map_or("", word);
    let result = if method.is_empty() { inside(&["result"]) } else { None };
    let [stop, capabilities] = result.map_or([None; 2], |result| result.pick(["stopReason", "agentCapabilities"]));
    match method {
        "session/update" if inside(&["params", "update"]).is_some() => evidence(PROOF, "session/update in JSON-RPC"),
        "session/prompt" | "session/new" | "session/load" | "session/resume" | "session/request_permission" => {
            evidence(PROOF, "a request on a session in JSON-RPC")
        }
        "session/cancel" | "session/set_mode" | "session/set_config_option" => evidence(PROOF, "a request on a session in JSON-RPC"),
        // Servers of the Model Context Protocol begin alike, with a date as the version.
        "initialize" if inside(&["params", "protocolVersion"]).is_some_and(|version| version.u64().is_some()) => {
            evidence(PROOF, "initialize with the number of a version")
        }
        "" if stop.is_some() => evidence(STRONG, "an answer with a stopReason"),
        "" if capabilities.is_some() => evidence(PROOF, "an answer with agentCapabilities"),
        _ if recorded => evidence(STRONG, "a recorded message in JSON-RPC"),
        _ => evidence(HINT, "a message in JSON-RPC"),
    }
}
