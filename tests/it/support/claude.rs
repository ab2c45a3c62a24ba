//! A host of Claude Code's that greets, answers hooks and questions, and reads results.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stage::{End, Host, request};

/// A host that speaks, with permission for shell commands.
pub(crate) const BASH: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--allowedTools",
    "Bash",
];

/// A call of the shell.
pub(crate) fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command, "description": "a command"}))
}

/// The handshake, with a hook for each of these moments, called as the moment is.
pub(crate) fn hello(moments: &[&str], more: &Value) -> String {
    let hooks: serde_json::Map<String, Value> = moments
        .iter()
        .map(|name| ((*name).to_owned(), json!([{"matcher": null, "hookCallbackIds": [name]}])))
        .collect();
    let mut hello = json!({"subtype": "initialize", "hooks": hooks});
    hello.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    request("hello", &hello.to_string())
}

/// The answer to what was asked.
pub(crate) fn respond(asked: &Value, answer: &Value) -> String {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": asked["request_id"], "response": answer}}).to_string()
}

/// Reads so many results, answering what is asked on the way: by the name of a hook, or `can_use_tool`.
pub(crate) fn serve(host: &mut Host, results: usize, answer: impl Fn(&str) -> Value) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(30);
    let mut found = Vec::new();
    while found.len() < results {
        let line = match host.next(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(error) => panic!("no result: {error}; seen {:#?}", host.seen),
        };
        if line["type"] == "control_request" {
            let about = line["request"]["callback_id"].as_str().or(line["request"]["subtype"].as_str()).unwrap();
            let answer = answer(about);
            host.say(&respond(&line, &answer));
        } else if line["type"] == "result" {
            found.push(line);
        }
    }
    found
}

/// What the hooks of a moment were told.
pub(crate) fn called<'a>(lines: &'a [Value], name: &str) -> Vec<&'a Value> {
    let asked = lines.iter().filter(|line| line["request"]["subtype"] == "hook_callback");
    asked
        .map(|line| &line["request"]["input"])
        .filter(|input| input["hook_event_name"] == name)
        .collect()
}

/// The host says nothing more.
pub(crate) fn closed(mut host: Host) -> End {
    host.close();
    host.end()
}
