//! Signs of Codex's lines (docs/codex.md).

use super::{app_server, rollout};
use crate::codec::Dialect::Codex;
use crate::detect::{Evidence, FAINT, HINT, Opened, PROOF, STRONG, word};
use crate::json::Raw;

/// What the line says for Codex.
pub(crate) fn recognise(line: &Opened<'_>) -> Option<Evidence> {
    let evidence = |weight, why| Some(Evidence::new(Codex, weight, why));
    if let Some((weight, why)) = message(line) {
        return Some(Evidence::new(Codex, weight, why).mode(app_server::MODE));
    }
    if let Some((weight, why)) = kept(line) {
        return Some(Evidence::new(Codex, weight, why).mode(rollout::MODE));
    }
    match line.kind {
        "thread.started" if line.has("thread_id") => evidence(PROOF, "thread.started with thread_id"),
        "item.started" | "item.updated" | "item.completed" if line.find(&["item", "type"]).is_some() => evidence(PROOF, "an item with a type"),
        "turn.completed" if line.find(&["usage", "cached_input_tokens"]).is_some() => evidence(PROOF, "turn.completed with usage"),
        "turn.failed" if line.find(&["error", "message"]).is_some() => evidence(STRONG, "turn.failed with an error"),
        "turn.started" | "turn.completed" => evidence(HINT, "a turn's start or end"),
        "error" if line.has("message") && !line.has("error") => evidence(FAINT, "an error with a message"),
        _ => None,
    }
}

/// What a line says for a rollout file.
fn kept(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    if !line.has("payload") {
        return bare(line);
    }
    if !line.has("timestamp") {
        return None;
    }
    match line.kind {
        "session_meta" if line.find(&["payload", "id"]).is_some() => Some((PROOF, "session_meta with its payload")),
        "response_item" | "event_msg" if line.find(&["payload", "type"]).is_some() => Some((PROOF, "an item of a rollout file")),
        "session_meta" | "turn_context" | "world_state" | "token_usage_record" | "compacted" | "inter_agent_communication_metadata" => {
            Some((STRONG, "a line of a rollout file"))
        }
        _ => None,
    }
}

/// The same for one of the time before there were payloads.
fn bare(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    let part = || line.get("content")?.elements().next()?.get("type");
    Some(match line.kind {
        "" if line.has_all(&["id", "timestamp", "instructions"]) => (PROOF, "the header of an older rollout file"),
        "" if line.word("record_type") == "state" => (STRONG, "record_type state"),
        "message" if part().is_some_and(|kind| matches!(word(kind), "input_text" | "output_text")) => (STRONG, "a message of the Responses API"),
        "function_call" if line.has_all(&["call_id", "arguments"]) => (STRONG, "a call of the Responses API"),
        "function_call_output" if line.has_all(&["call_id", "output"]) => (STRONG, "an output of the Responses API"),
        "reasoning" if line.has("summary") => (STRONG, "reasoning of the Responses API"),
        _ => return None,
    })
}

/// What a message says for the app-server: JSON-RPC that does not say so, with methods that nobody else has.
fn message(line: &Opened<'_>) -> Option<(u32, &'static str)> {
    let recorded = line.get("msg").filter(|_| line.has("dir"));
    let inside = recorded.map(|message| Opened::part(message.as_str()));
    let get = |name: &str| inside.as_ref().unwrap_or(line).get(name);
    if get("jsonrpc").is_some() {
        return None;
    }
    let Some(method) = get("method").map(word) else {
        let names = |result: Raw<'_>| result.pick(["codexHome", "thread", "turn"]).iter().any(Option::is_some);
        return (get("id").is_some() && get("result").is_some_and(names)).then_some((STRONG, "an answer with a thread, without jsonrpc"));
    };
    let about = method.split('/').next()?;
    match about {
        "thread" | "turn" | "item" if method.contains('/') => Some((PROOF, "a message about a thread, a turn or an item, without jsonrpc")),
        "initialize" | "initialized" | "configWarning" | "remoteControl" | "account" => {
            Some((STRONG, "a message of the app-server, without jsonrpc"))
        }
        _ => None,
    }
}
