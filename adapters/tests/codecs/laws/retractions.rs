//! A reply that was given up and fetched again is said once, and what a target has no place for is told.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Dialect;

use crate::common::read::objects;
use crate::common::{convert, events, format, quick, streaming, with_ledger};

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"5e5510aa-0000-4000-8000-000000000001","tools":["Bash"],"mcp_servers":[],"model":"m","permissionMode":"default","claude_code_version":"2.1.329","uuid":"00000000-0000-4000-8000-000000000001"}"#;

fn log(lines: &[&str]) -> String {
    let mut log = format!("{INIT}\n");
    for (n, line) in lines.iter().enumerate() {
        let tail = format!(
            r#","parent_tool_use_id":null,"session_id":"5e5510aa-0000-4000-8000-000000000001","uuid":"00000000-0000-4000-8000-{:012}"}}"#,
            n + 2
        );
        let line = line.strip_suffix('}').expect("lines are objects");
        let tail = if line.contains("parent_tool_use_id") {
            tail.replacen(",\"parent_tool_use_id\":null", "", 1)
        } else {
            tail
        };
        log += &format!("{line}{tail}\n");
    }
    log
}

/// What Claude Code writes when the stream of a reply breaks off: pieces, `abandoned_blocks`, and the reply once more as a whole.
fn broken(said: &str, then: &str) -> String {
    let delta =
        format!(r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{said}"}}}}}}"#);
    let whole = format!(
        r#"{{"type":"assistant","message":{{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{then}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":100,"output_tokens":20}}}}}}"#
    );
    let result = format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"{then}","total_cost_usd":0.1,"usage":{{"input_tokens":200,"output_tokens":21}}}}"#
    );
    log(&[
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":100,"output_tokens":1}}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}"#,
        &delta,
        r#"{"type":"stream_event","event":{"type":"content_block_stop","index":0}}"#,
        r#"{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"api_message_id":"msg_1","from_block_index":0}}"#,
        &whole,
        &result,
    ])
}

/// The texts that the pieces, and those that the whole blocks of canonical events say.
fn said(events: &[u8]) -> (String, String) {
    let (mut pieces, mut whole) = (String::new(), String::new());
    for event in objects(events) {
        match event.str("event") {
            "delta" => pieces += event.str("text"),
            "reply" => event.items("blocks").iter().for_each(|block| whole += block.str("text")),
            _ => {}
        }
    }
    (pieces, whole)
}

#[test]
fn are_said_once() {
    for (first, then) in [
        ("partial text before the break", "partial text before the break"),
        ("partial text", "partial text before the break"),
    ] {
        let log = broken(first, then);
        for to in streaming()
            .into_iter()
            .filter(|to| to.dialect != Dialect::Claude && to.dialect != Dialect::Agentglot)
        {
            for partial in [false, true] {
                let options = Options {
                    partial,
                    ..Options::new(format("claude"), to)
                };
                let out = convert(&options, log.as_bytes()).out;
                let text = String::from_utf8(out.clone()).expect("output is UTF-8");
                let (pieces, _) = said(&quick(to, events(), &out).out);
                // A dialect that can take pieces back may say them anew.
                let most = 1 + usize::from(first != then && text.contains("\"preserveText\":false"));
                assert!(
                    pieces.matches("partial text").count() <= most,
                    "{to}, partial {partial}: the pieces say {pieces:?}\n{text}"
                );
                // Read by somebody who wants whole replies.
                let back = quick(to, format("claude"), &out).out;
                let whole: Vec<String> = objects(&back)
                    .iter()
                    .filter(|line| line.str("type") == "assistant")
                    .flat_map(|line| line.at(&["message"]).map(|m| m.items("content").to_vec()).unwrap_or_default())
                    .map(|block| block.str("text").to_owned())
                    .collect();
                assert_eq!(whole.concat(), then, "{to}, partial {partial}:\n{text}");
            }
        }
    }
}

/// What a subagent says has no place in chunks of the RFC: the ledger tells each text, once.
#[test]
fn what_a_subagent_says_is_told_where_it_has_no_place() {
    let log = log(&[
        r#"{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"description":"look","prompt":"look about","subagent_type":"general-purpose"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"assistant","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"a thought of the helper","signature":"sig"}],"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":"toolu_1"}"#,
        r#"{"type":"assistant","message":{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"words of the helper"}],"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":"toolu_1"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"","total_cost_usd":0.1,"usage":{"input_tokens":2,"output_tokens":2}}"#,
    ]);
    for to in ["qwen", "qwen:stream-chunk-json"].map(format) {
        let done = convert(&with_ledger(Options::new(format("claude"), to)), log.as_bytes());
        for (line, text, pointer) in [
            (3, "a thought of the helper", "/message/content/0/thinking"),
            (4, "words of the helper", "/message/content/0/text"),
        ] {
            assert!(!done.text().contains(text), "{to}: there is a place now");
            let told = done.ledger.lines().filter(|entry| {
                let place = |pointer: &str| entry.contains(&format!("\"line\":{line},\"pointer\":\"{pointer}\",\"fate\":\"dropped\""));
                place(pointer) || place("") || place("/message") || place("/message/content") || place("/message/content/0")
            });
            assert_eq!(told.count(), 1, "{to}: {text}\n{}", done.ledger);
        }
    }
}
