use crate::convert::{Converter, Options};
use crate::testing::traced;

/// Some servers write an empty reason in place of none: a reply that has no other is cut off.
#[test]
fn an_empty_finish_reason_is_none() {
    for log in [
        r#"{"id":"chatcmpl-s","object":"chat.completion","created":0,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"half"},"finish_reason":""}]}"#,
        r#"{"id":"chatcmpl-s","object":"chat.completion.chunk","created":0,"model":"x","choices":[{"index":0,"delta":{"content":"half"},"finish_reason":""}]}"#,
    ] {
        let out = crate::testing::converted(&format!("{log}\n"), "qwen", "claude");
        assert!(
            out.contains("half") && out.contains("error_during_execution") && !out.contains(r#""stop_reason":"""#),
            "{out}"
        );
    }
}

/// The same behind replies that are spelled alike and have a reason.
#[test]
fn an_empty_finish_reason_is_none_behind_others_too() {
    let reply = |reason: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"x\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"half\"}},\"finish_reason\":\"{reason}\"}}],\"usage\":{{\"prompt_tokens\":905,\"completion_tokens\":14,\"total_tokens\":919}}}}\n"
        )
    };
    let log = ["tool_calls", "tool_calls", "", "stop"].map(reply).concat();
    let options = Options {
        partial: true,
        ..Options::new("qwen".parse().unwrap(), "claude".parse().unwrap())
    };
    let (mut converter, mut out) = (Converter::new(options), Vec::new());
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("half") && !out.contains(r#""stop_reason":"""#), "{out}");
}

/// A reply of Claude Code that calls a tool, in the main thread or by the subagent of a call.
fn calls(id: &str, name: &str, input: &str, by: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m-{id}\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{input}}}],\"usage\":{{\"input_tokens\":711,\"output_tokens\":7}}}},\"parent_tool_use_id\":{by},\"session_id\":\"s\"}}\n"
    )
}

fn result(id: &str, text: &str, by: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"{text}\"}}]}},\"parent_tool_use_id\":{by},\"session_id\":\"s\"}}\n"
    )
}

const INIT: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"x\",\"cwd\":\"/w\",\"tools\":[]}\n";
const DONE: &str = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"\",\"session_id\":\"s\"}\n";

/// What a subagent's own subagents call is told with the call of the main thread. Its tokens have no place.
#[test]
fn subagents_of_subagents_are_told_with_the_call_of_the_main_thread() {
    let task = r#"{"description":"d","prompt":"p","subagent_type":"g"}"#;
    let log = [
        INIT,
        &calls("t1", "Task", task, "null"),
        &calls("t2", "Task", task, "\"t1\""),
        &calls("t3", "Bash", r#"{"command":"deep"}"#, "\"t2\""),
        &result("t3", "down here", "\"t2\""),
        &result("t2", "came up", "\"t1\""),
        &result("t1", "all done", "null"),
        DONE,
    ]
    .concat();
    for to in ["qwen", "qwen:stream-chunk-json"] {
        let (out, ledger) = traced(&log, "claude", to);
        for told in ["deep", "down here", "came up"] {
            assert_eq!(out.matches(told).count(), 1, "{to} {told}\n{out}");
        }
        let dropped = |pointer: &str| ledger.lines().any(|line| line.contains(pointer) && line.contains("\"dropped\""));
        assert!(dropped("\"line\":3,") && dropped("/message/usage"), "{ledger}");
        assert!(!dropped("/message/content"), "{ledger}");
    }
}

/// The turn is over before the call of a subagent has its result.
#[test]
fn what_a_subagent_did_is_dropped_where_its_call_has_no_result() {
    let log = [
        INIT,
        &calls("t1", "Task", r#"{"description":"d","prompt":"p","subagent_type":"g"}"#, "null"),
        &calls("t2", "frob", r#"{"at":"unheard"}"#, "\"t1\""),
        DONE,
    ]
    .concat();
    let (out, ledger) = traced(&log, "claude", "qwen");
    assert!(!out.contains("unheard"), "{out}");
    let told = ledger
        .lines()
        .filter(|line| line.contains("\"line\":3,") && line.contains("/message/content"));
    assert!(
        told.clone().any(|line| line.contains("/input") && line.contains("\"dropped\"")),
        "{ledger}"
    );
    assert!(!ledger.contains("in pieces"), "{ledger}");
}

/// An error beside a reply makes the reply the program's own words, unless the model has spent tokens on them or the turn ends with them.
#[test]
fn an_error_beside_a_reply_says_whose_words_it_has() {
    let log = |finish: &str, usage: &str, error: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"x\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"half\"}},\"finish_reason\":\"{finish}\"}}]{usage},\"metadata\":{{\"error\":\"{error}\"}}}}\n"
        )
    };
    let usage = r#","usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}"#;
    for (finish, usage, error, is_programs) in [
        ("stop", "", "rate_limit", true),
        ("stop", "", "the model is away", true),
        ("stop", usage, "rate_limit", false),
        ("error", "", "overloaded", false),
        ("error", "", "half", true),
    ] {
        let events = crate::testing::converted(&log(finish, usage, error), "qwen", "agentglot");
        let reply = events.lines().find(|line| line.contains("\"event\":\"reply\"")).unwrap_or_default();
        assert_eq!(reply.contains("\"error\":"), is_programs, "{finish} {error}: {reply}");
    }
}
