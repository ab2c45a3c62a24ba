//! The rules by which Anthropic's streams are read; each test names its rule.

use super::{Decoder, End};
use crate::weave::told::told;

fn start(id: &str) -> String {
    format!(
        r#"{{"type":"message_start","message":{{"id":"{id}","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{{"input_tokens":3,"cache_read_input_tokens":9,"output_tokens":1}}}}}}"#
    )
}

fn begin(index: u32, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn piece(index: u32, kind: &str, member: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{member}":{text}}}}}"#)
}

fn input(index: u32, text: &str) -> String {
    piece(index, "input_json_delta", "partial_json", text)
}

fn text(index: u32, said: &str) -> String {
    piece(index, "text_delta", "text", said)
}

fn end(index: u32) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

fn because(word: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}},"usage":{{"input_tokens":3,"cache_read_input_tokens":9,"output_tokens":5}}}}"#
    )
}

const STOP: &str = r#"{"type":"message_stop"}"#;
const TEXT: &str = r#"{"type":"text","text":""}"#;
const CALL: &str = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;

fn read(payloads: &[String]) -> (String, End) {
    let mut decoder = Decoder::live();
    let payloads: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let told = told(&mut decoder, &payloads);
    (told, decoder.end())
}

#[track_caller]
fn says(payloads: &[String], wanted: &str) {
    assert_eq!(read(payloads).0, wanted);
}

#[test]
fn rules_1_and_2_calls_and_limits() {
    let call = |word: &str, arguments: &str| read(&[start("m"), begin(0, CALL), input(0, arguments), end(0), because(word), STOP.into()]).0;
    assert!(call("end_turn", "{}").ends_with("because Tools end_turn 3(9)+5|end"));
    assert!(call("end_turn", "{\"a").ends_with("because Done end_turn 3(9)+5|end"));
    assert!(call("max_tokens", "{}").ends_with("because Length max_tokens 3(9)+5|end"));
    assert!(call("refusal", "{}").ends_with("because Refusal refusal 3(9)+5|end"));
}

#[test]
fn rule_5_the_empty_input_of_a_beginning_is_no_piece() {
    says(
        &[
            start("m"),
            begin(0, CALL),
            input(0, ""),
            input(0, "{\"x\":"),
            input(0, "1}"),
            end(0),
            begin(1, CALL),
            end(1),
            because("tool_use"),
            STOP.into(),
        ],
        "round m|call a f||{\"x\":|1}|stop|call a f|stop|because Tools tool_use 3(9)+5|end",
    );
    let whole = CALL.replace("{}", "{\"x\":1}");
    says(&[start("m"), begin(0, &whole), end(0)], "round m|call a f|{\"x\":1}|stop");
}

#[test]
fn rule_6_blocks_that_overlap_are_told_one_behind_the_other() {
    says(
        &[
            start("m"),
            begin(0, CALL),
            input(0, "{\"x\":"),
            begin(1, TEXT),
            text(1, "B"),
            input(0, "1}"),
            end(1),
            begin(2, TEXT),
            end(0),
            text(2, "C"),
            because("tool_use"),
            STOP.into(),
        ],
        "round m|call a f|{\"x\":|1}|stop|text|B|stop|text|C|stop|because Tools tool_use 3(9)+5|end",
    );
}

#[test]
fn rule_7_a_second_beginning() {
    // Of the same message: what has come stands.
    says(
        &[
            start("m"),
            begin(0, TEXT),
            text(0, "A"),
            start("m"),
            text(0, "B"),
            end(0),
            because("end_turn"),
            STOP.into(),
        ],
        "round m|text|A|B|stop|because Done end_turn 3(9)+5|end",
    );
    // Of another one: what has come is given up, and it is said.
    says(
        &[
            start("m"),
            begin(0, TEXT),
            text(0, "A"),
            start("n"),
            begin(0, TEXT),
            text(0, "B"),
            end(0),
            because("end_turn"),
            STOP.into(),
        ],
        "round m|text|A|stop|abandoned|round n|text|B|stop|because Done end_turn 3(9)+5|end",
    );
    // Behind a message that is over it is the next one.
    says(&[start("m"), STOP.into(), start("n"), STOP.into()], "round m|end|round n|end");
}

#[test]
fn a_reply_whose_beginning_was_left_out_is_one() {
    says(
        &[begin(0, TEXT), text(0, "A"), end(0), because("end_turn"), STOP.into()],
        "round |text|A|stop|because Done end_turn 3(9)+5|end",
    );
}

#[test]
fn rule_8_signatures_and_redacted_thoughts_are_as_they_came() {
    says(
        &[
            start("m"),
            begin(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
            piece(0, "thinking_delta", "thinking", "hm"),
            piece(0, "signature_delta", "signature", "c2ln+/=="),
            end(0),
            begin(1, r#"{"type":"redacted_thinking","data":"b3Bh+/=="}"#),
            end(1),
            because("end_turn"),
            STOP.into(),
        ],
        "round m|thinking|hm|signature c2ln+/==|stop|redacted b3Bh+/==|stop|because Done end_turn 3(9)+5|end",
    );
}

#[test]
fn rule_12_a_stream_that_just_ends_is_cut_off() {
    assert_eq!(
        read(&[start("m"), begin(0, TEXT), text(0, "A")]),
        ("round m|text|A|stop".to_owned(), End::Incomplete)
    );
    assert_eq!(read(&[start("m"), STOP.into()]).1, End::Terminal);
    assert_eq!(read(&[r#"{"type":"ping"}"#.to_owned()]).1, End::Nothing);
}

#[test]
fn rule_13_errors_inside_a_stream() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(
        read(&[start("m"), begin(0, TEXT), text(0, "A"), error.to_owned()]),
        ("round m|text|A|stop|failed overloaded_error: Overloaded".to_owned(), End::Failed)
    );
    assert_eq!(read(&[r#"{"error":{"code":500,"message":"no"}}"#.to_owned()]).1, End::Failed);
}

#[test]
fn a_reply_in_one_piece_is_read_like_a_stream() {
    let whole = r#"{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"A"},{"type":"tool_use","id":"a","name":"f","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#;
    assert_eq!(
        read(&[whole.to_owned()]),
        (
            "round m|thinking|hm|signature s|stop|text|A|stop|call a f|{\"x\":1}|stop|because Tools tool_use 3(?)+2|end".to_owned(),
            End::Terminal
        )
    );
}

/// What the API has searched, fetched or run is a call and a result for others, whether it came in pieces or whole.
#[test]
fn tools_that_the_api_runs_are_calls_with_results() {
    let call = r#"{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://e.org/cats","title":"Cats","encrypted_content":"x","page_age":null}]}"#;
    let connected = r#"{"type":"mcp_tool_use","id":"mcp_1","name":"add","server_name":"calc","input":{"a":2}}"#;
    let failed = r#"{"type":"mcp_tool_result","tool_use_id":"mcp_1","is_error":true,"content":[{"type":"text","text":"no sum"}]}"#;
    let begin = |index: u32, block: &str| format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#);
    let pieces = [
        start("m"),
        begin(0, call),
        input(0, r#"{"query":"#),
        input(0, r#""cats"}"#),
        end(0),
        begin(1, found),
        end(1),
        begin(2, connected),
        end(2),
        begin(3, failed),
        end(3),
        begin(4, TEXT),
        text(4, "Cats."),
        end(4),
        because("end_turn"),
        STOP.to_owned(),
    ];
    let streamed: String = pieces.iter().map(|event| format!("data: {event}\n\n")).collect();
    let call = call.replace("{}", r#"{"query":"cats"}"#);
    let whole = format!(
        r#"{{"type":"message","id":"m","role":"assistant","model":"x","content":[{call},{found},{connected},{failed},{{"type":"text","text":"Cats."}}],"stop_reason":"end_turn","usage":{{"input_tokens":3,"output_tokens":5}}}}"#
    );
    for log in [streamed, format!("data: {whole}\n\n")] {
        let codex = crate::testing::converted(&log, "anthropic", "codex");
        for text in [
            r#""type":"web_search","query":"cats""#,
            r#""tool":"mcp__calc__add","arguments":{"a":2},"result":{"content":[{"type":"text","text":"no sum"}]"#,
            r#""text":"Cats.""#,
        ] {
            assert!(codex.contains(text), "{text}\n{codex}");
        }
        let gemini = crate::testing::converted(&log, "anthropic", "gemini");
        for text in [
            r#""tool_id":"srv_1""#,
            r#""output":"Cats\nhttps://e.org/cats""#,
            r#""status":"error","output":"no sum""#,
        ] {
            assert!(gemini.contains(text), "{text}\n{gemini}");
        }
        let claude = crate::testing::converted(&log, "anthropic", "claude");
        for block in [found, failed] {
            assert!(claude.contains(block), "{block}\n{claude}");
        }
    }
}

/// The API pauses a long turn, and goes on with the result of a call in another reply.
#[test]
fn a_reply_that_begins_with_a_result_has_its_tokens() {
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]}"#;
    let pieces = [
        start("m"),
        begin(0, found),
        end(0),
        begin(1, TEXT),
        text(1, "Cats."),
        end(1),
        because("end_turn"),
        STOP.to_owned(),
    ];
    let log: String = pieces.iter().map(|event| format!("data: {event}\n\n")).collect();
    let rollout = crate::testing::converted(&log, "anthropic", "codex:rollout");
    assert!(
        rollout.contains(r#""last_token_usage":{"input_tokens":12,"cached_input_tokens":9"#),
        "{rollout}"
    );
}
