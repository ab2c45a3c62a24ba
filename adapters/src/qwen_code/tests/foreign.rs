//! What other programs say, as this one writes it.

use crate::convert::Options;
use crate::event::{Outcome, OutcomeKind, Place};
use crate::testing::{converted, format, traced, with};

/// Several lines may come of one, also where something stands between them; and a reply's id may come again.
#[test]
fn no_two_lines_have_the_same_id() {
    let reply = |id: &str, uuid: &str, blocks: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{uuid}\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{{\"id\":\"{id}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{blocks}],\"stop_reason\":null,\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n"
        )
    };
    let call = |id: &str| format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Frob\",\"input\":{{}}}}");
    let result = |id: &str| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"x\"}}");
    let text = "{\"type\":\"text\",\"text\":\"hm\"}";
    let log = [
        "{\"type\":\"system\",\"subtype\":\"init\",\"uuid\":\"a\",\"session_id\":\"s\",\"cwd\":\"/w\",\"tools\":[],\"model\":\"m\"}\n".to_owned(),
        reply("m1", "b", &format!("{text},{},{text},{}", call("c1"), call("c2"))),
        format!(
            "{{\"type\":\"user\",\"uuid\":\"d\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{{\"role\":\"user\",\"content\":[{},{}]}}}}\n",
            result("c1"),
            result("c2")
        ),
        reply("m2", "e", text),
        reply("m1", "f", text),
        "{\"type\":\"result\",\"subtype\":\"success\",\"uuid\":\"g\",\"session_id\":\"s\",\"is_error\":false,\"duration_ms\":1,\"num_turns\":1,\"result\":\"hm\"}\n".to_owned(),
    ]
    .concat();
    for (from, to, partial) in [
        ("claude", "qwen-code", false),
        ("claude", "qwen-code", true),
        ("claude", "qwen-code:json", false),
        ("qwen-code", "qwen-code:json", false),
    ] {
        let options = Options {
            partial,
            ..Options::new(format(from), format(to))
        };
        let written = with(&log, options);
        let ids: Vec<&str> = written.split("\"uuid\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert!(ids.len() > 6 && distinct.len() == ids.len(), "{from} -> {to}: {written}");
    }
}

/// Logs that have no outcomes get them: how a turn ended is read back as it was told.
#[test]
fn a_made_up_outcome_is_read_back_as_it_was() {
    for kind in OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Success) {
        let error = match kind {
            OutcomeKind::Failed(Place::Protocol) => Outcome::CUT_OFF,
            OutcomeKind::Failed(_) => "400 bad request",
            _ => "",
        };
        let log = [
            r#"{"agentglot":"events","version":1,"source":"claude"}"#,
            r#"{"event":"session","session":"s","opens_turn":true}"#,
            &format!(
                r#"{{"event":"outcome","session":"s","outcome":"{}","is_error":true,"synthetic":true,"error":"{error}"}}"#,
                kind.as_str()
            ),
            "",
        ]
        .join("\n");
        let written = converted(&log, "agentglot", "qwen-code");
        let read = converted(&written, "qwen-code", "agentglot");
        let said = match kind {
            // That a tool failed is not said.
            OutcomeKind::Failed(Place::Tool) => OutcomeKind::Failed(Place::Backend),
            kind => kind,
        };
        assert!(read.contains(&format!(r#""outcome":"{}""#, said.as_str())), "{kind:?}: {written}{read}");
    }
}

/// A call that is made up for a result has a line of its own.
#[test]
fn a_call_that_is_made_up_has_another_id_than_its_result() {
    let log = "{\"type\":\"system\",\"subtype\":\"init\",\"uuid\":\"s\",\"session_id\":\"s\",\"cwd\":\"/w\",\"tools\":[],\"model\":\"m\"}
{\"type\":\"user\",\"uuid\":\"u1\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"is_error\":false,\"content\":\"x\"}]}}
";
    let document = converted(log, "qwen-code", "qwen-code:json");
    assert!(
        document.contains("\"tool_use\"") && document.matches("\"uuid\":\"u1\"").count() == 1,
        "{document}"
    );
}

/// A file of a session has no line for what was asked, and none for what was refused.
#[test]
fn questions_have_no_place_in_a_chat_file() {
    let log = r#"{"type":"system","subtype":"init","session_id":"s","model":"x","cwd":"/w","tools":[]}
{"type":"assistant","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls -a"},"tool_use_id":"t"}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no","is_error":true}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"session_id":"s","permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls -a"}}]}
"#;
    let (chat, ledger) = traced(log, "claude", "qwen-code:chat");
    assert!(!chat.contains("ls -a"), "{chat}");
    for line in [
        "3,\"pointer\":\"\",\"fate\":\"dropped\"",
        "5,\"pointer\":\"/permission_denials\",\"fate\":\"dropped\"",
    ] {
        assert!(ledger.contains(&format!("\"line\":{line}")), "{ledger}");
    }
    assert!(!ledger.contains("/request/tool_name"), "{ledger}");
}

/// The error that ends a program has a result, also where another program goes on in the same log.
#[test]
fn what_goes_on_behind_a_programs_end_is_another_turn() {
    let chunk = |session: &str, delta: &str, end: &str| {
        format!(
            "{{\"id\":\"chatcmpl-{session}\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":{end}}}]}}\n"
        )
    };
    let log = [
        "{\"error\":{\"message\":\"broke\",\"type\":\"invalid_request_error\",\"code\":\"X\"}}\n".to_owned(),
        chunk("s-2", "\"content\":\"goes on\"", "null"),
    ]
    .concat();
    for to in ["qwen-code", "qwen-code:json", "claude"] {
        let out = converted(&log, "qwen:stream-chunk-json", to);
        assert_eq!(out.matches("\"type\":\"result\"").count(), 2, "{to}: {out}");
        let (_, behind) = out.split_once("broke").expect("the error is told");
        assert!(behind.contains("goes on"), "{to}: {out}");
    }
}

/// The stream breaks off within a call, and what came before it stands: its message stops like any other.
#[test]
fn a_message_of_which_something_stands_has_a_stop() {
    let event =
        |event: &str, more: &str| format!(r#"{{"type":"stream_event","event":{event},"session_id":"s","parent_tool_use_id":null,"uuid":"u"{more}}}"#);
    let log = |from: u32| {
        [
            r#"{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.332","model":"m"}"#.to_owned(),
            event(
                r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[]}}"#,
                "",
            ),
            event(
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                "",
            ),
            event(
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"part"}}"#,
                "",
            ),
            event(r#"{"type":"content_block_stop","index":0}"#, ""),
            event(
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"Bash","input":{}}}"#,
                "",
            ),
            event(
                r#"{"type":"message_stop"}"#,
                &format!(r#","abandoned_blocks":{{"api_message_id":"m1","from_block_index":{from}}}"#),
            ),
        ]
        .join("\n")
    };
    let written = |from: u32| {
        let options = Options {
            partial: true,
            ..Options::new(format("claude"), format("qwen-code"))
        };
        let out = with(&log(from), options);
        (out.matches("\"message_stop\"").count(), out.matches("\"subtype\":\"retry\"").count())
    };
    assert_eq!(written(1), (1, 0));
    assert_eq!(written(0), (0, 1));
}

/// What the program says of a stream that held nothing has its tokens, and is no reply of the model's all the same.
#[test]
fn a_failure_with_tokens_is_said_once() {
    let log = crate::testing::golden("qwen-code/empty_reply.out.jsonl");
    for to in ["claude:transcript", "gemini:chat"] {
        let out = converted(&log, "qwen-code", to);
        assert_eq!(out.matches("ended with empty response text").count(), 1, "{to}: {out}");
    }
    let out = converted(&log, "qwen-code", "openai:messages");
    assert!(!out.contains("API Error"), "{out}");
}
