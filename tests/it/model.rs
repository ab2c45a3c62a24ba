//! Models behind HTTP: what comes of good answers, and of those that are not whole. The server is ours and does what each test says.

use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::{Event, Kind, StopKind};
use agentglot::agent::model::message::Part;
use agentglot::backend::model::{Api, Ask, Model, ModelErrorKind};
use serde_json::json;

use crate::support::asked::{ANTHROPIC, KEY, OPENAI, asked, client, error_of, good, patience, user};
use crate::support::server::{Do, Server, head, stream};

#[tokio::test]
async fn a_reply_of_an_openai_compatible_server() {
    let (said, seen) = asked(Api::Openai, vec![good(Api::Openai)]).await;
    said.result.unwrap();
    assert_eq!(said.gather.message().text(), "Grüße 🦀");
    assert_eq!(said.gather.stop(), Some((StopKind::Done, "stop")));
    assert_eq!((said.gather.id(), said.gather.model()), (Some("r1"), Some("m-1")));
    let head = &seen[0].head;
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    let body = &seen[0].body;
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["messages"], json!([{"role": "user", "content": "hi"}]));
}

#[tokio::test]
async fn a_reply_of_anthropics() {
    let (said, seen) = asked(Api::Anthropic, vec![good(Api::Anthropic)]).await;
    said.result.unwrap();
    assert_eq!(said.gather.message().text(), "Grüße 🦀");
    assert_eq!(said.gather.stop(), Some((StopKind::Done, "end_turn")));
    let head = &seen[0].head;
    assert!(head.starts_with("post /v1/messages http/1.1"), "{head}");
    assert!(
        head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert!(!head.contains("authorization"));
    let body = &seen[0].body;
    assert!(body["max_tokens"].as_u64().unwrap() >= 4096);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}])
    );
}

#[tokio::test]
async fn rule_11_usage_counts_each_token_once() {
    for api in [Api::Openai, Api::Anthropic] {
        let (said, _) = asked(api, vec![good(api)]).await;
        let usage = said.gather.usage().unwrap();
        let value = |count: Option<agentglot::adapters::raw::event::Count<'_>>| count.map(|count| count.value);
        assert_eq!(
            (value(usage.input), value(usage.cache_read), value(usage.output)),
            (Some(20), Some(100), Some(7)),
            "{api:?}"
        );
        assert_eq!(usage.prompt_tokens(), Some(if api == Api::Openai { 120 } else { 125 }));
    }
}

#[tokio::test]
async fn rule_14_bytes_come_one_by_one_behind_a_mark_with_crlf() {
    let mut bytes = head("200 OK", "text/event-stream; charset=utf-8", "");
    bytes.extend_from_slice("\u{feff}: hello\r\n\r\n".as_bytes());
    for payload in OPENAI {
        bytes.extend_from_slice(format!("data:{payload}\r\n\r\n").as_bytes());
    }
    // The last blank line never comes.
    bytes.truncate(bytes.len() - 2);
    let (said, _) = asked(Api::Openai, vec![vec![Do::Drip(bytes)]]).await;
    said.result.unwrap();
    assert_eq!(said.gather.message().text(), "Grüße 🦀");
    assert!(said.gather.usage().is_some());
}

#[tokio::test]
async fn pieces_are_told_as_they_come() {
    let bytes = stream(&OPENAI[..1]);
    let rest = stream(&OPENAI[1..]);
    let at = rest.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let script = vec![Do::Send(bytes), Do::Wait(Duration::from_millis(300)), Do::Send(rest[at..].to_vec())];
    let server = Server::new(vec![script]).await;
    let client = client(Api::Openai, &server.url(), patience());
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let begun = Instant::now();
    let mut first = None;
    let mut hear = |event: &Event<'_>| {
        if matches!(event.kind, Kind::Delta(_)) {
            first.get_or_insert_with(|| begun.elapsed());
        }
    };
    client.reply(&ask, &mut hear).await.unwrap();
    assert!(first.unwrap() + Duration::from_millis(200) < begun.elapsed());
}

#[tokio::test]
async fn a_reply_that_was_broken_off_has_no_half_calls() {
    let payloads = [
        ANTHROPIC[0],
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"x"}}"#,
    ];
    let (said, _) = asked(Api::Anthropic, vec![vec![Do::Send(stream(&payloads))]]).await;
    assert_eq!(error_of(&said).kind, ModelErrorKind::Incomplete);
    let message = said.gather.message();
    assert_eq!(message.calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(said.gather.stop(), None, "nothing of it is to be run");
    assert!(matches!(&message.parts[0], Part::Thinking { signature: None, source, .. } if source.api == "anthropic"));
}
