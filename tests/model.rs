//! Models behind HTTP: what is asked, what comes of good answers and of bad ones. The server is ours and does what each test says.

#[path = "support/server.rs"]
mod server;

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentglot::adapters::event::{Event, Kind, Piece, StopKind, ToolKind, Topic};
use agentglot::agent::chat::{Call, CallResult, Message, Part, Role, Source};
use agentglot::agent::tool::Spec;
use agentglot::backend::model::{Api, Ask, Catalog, Client, Endpoint, Gather, Key, Model, ModelError, ModelErrorKind, Patience};
use serde_json::{Value, json};
use server::{Do, Server, head, stream, whole};
use tokio::io::AsyncWriteExt;

const KEY: &str = "sk-very-secret-0123456789";

/// What came of one reply.
#[derive(Debug)]
struct Said {
    result: Result<(), ModelError>,
    gather: Gather,
    /// The notices of attempts that failed: attempt, most, delay, status, word.
    retries: Vec<(u64, u64, u64, Option<u64>, String)>,
    /// Every piece of text, as it came.
    pieces: Vec<String>,
}

fn patience() -> Patience {
    Patience {
        retries: 3,
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(10),
        stall: Duration::from_secs(10),
        longest_wait: Duration::from_secs(5),
    }
}

fn client(api: Api, base: &str, patience: Patience) -> Client {
    let mut endpoint = Endpoint::new(api, Some(base), Some(Key::of(api, KEY)));
    endpoint.patience = patience;
    Client::new(endpoint, Arc::new(Catalog::builtin())).unwrap()
}

async fn said(client: &Client, ask: &Ask<'_>) -> Said {
    let mut gather = Gather::new(client.api(), ask.model);
    let (mut retries, mut pieces) = (Vec::new(), Vec::new());
    let mut hear = |event: &Event<'_>| {
        gather.event(event);
        match event.kind {
            Kind::Notice(notice) if notice.topic == Topic::Retry => {
                assert_eq!(notice.name.as_escaped(), "api_retry");
                let number = |name: &str| event.fields.iter().find(|field| field.key.is(name)).and_then(|field| field.value.u64());
                let word = event
                    .fields
                    .iter()
                    .find(|field| field.key.is("error"))
                    .and_then(|field| field.value.string());
                retries.push((
                    number("attempt").unwrap(),
                    number("max_retries").unwrap(),
                    number("retry_delay_ms").unwrap(),
                    number("error_status"),
                    word.unwrap().as_escaped().to_owned(),
                ));
            }
            Kind::Delta(delta) => {
                if let Piece::Text(text) = delta.piece {
                    pieces.push(text.unescape().into_owned());
                }
            }
            _ => {}
        }
    };
    let result = client.reply(ask, &mut hear).await;
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?} {client:?}").contains("secret"), "{error:?}");
        assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
    }
    Said {
        result,
        gather,
        retries,
        pieces,
    }
}

/// Asks once, of a server that answers so.
async fn asked(api: Api, scripts: Vec<Vec<Do>>) -> (Said, Vec<server::Seen>) {
    let server = Server::new(scripts).await;
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let said = said(&client(api, &server.url(), patience()), &ask).await;
    (said, server.seen())
}

/// Asks with these messages; gives the body of the request.
async fn body(api: Api, ask: Ask<'_>) -> Value {
    let server = Server::new(vec![good(api)]).await;
    let said = said(&client(api, &server.url(), patience()), &ask).await;
    said.result.unwrap();
    server.seen()[0].body.clone()
}

const OPENAI: [&str; 4] = [
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Grüße "},"finish_reason":null}]}"#,
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":"🦀"},"finish_reason":"stop"}]}"#,
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":100}}}"#,
    "[DONE]",
];

const ANTHROPIC: [&str; 6] = [
    r#"{"type":"message_start","message":{"id":"r1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße 🦀"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}"#,
    r#"{"type":"message_stop"}"#,
];

fn good(api: Api) -> Vec<Do> {
    vec![Do::Send(match api {
        Api::Openai => stream(&OPENAI),
        Api::Anthropic => stream(&ANTHROPIC),
    })]
}

fn error_of(said: &Said) -> &ModelError {
    said.result.as_ref().unwrap_err()
}

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
        let value = |count: Option<agentglot::adapters::event::Count<'_>>| count.map(|count| count.value);
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
async fn what_may_pass_is_tried_again_and_each_attempt_is_told() {
    let scripts = vec![
        whole(
            "429 Too Many Requests",
            "application/json",
            "Retry-After: 0\r\n",
            r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
        ),
        whole("500 Internal Server Error", "text/plain", "retry-after-ms: 5\r\n", "oops"),
        whole(
            "529 Overloaded",
            "application/json",
            "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        good(Api::Anthropic),
    ];
    let (said, seen) = asked(Api::Anthropic, scripts).await;
    said.result.unwrap();
    assert_eq!(said.gather.message().text(), "Grüße 🦀");
    assert_eq!(
        said.retries,
        [
            (1, 3, 0, Some(429), "rate_limit".to_owned()),
            (2, 3, 5, Some(500), "server_error".to_owned()),
            (3, 3, 0, Some(529), "overloaded".to_owned())
        ]
    );
    assert_eq!(seen.len(), 4);
    assert!(seen.iter().all(|later| later.body == seen[0].body));
}

#[tokio::test]
async fn retries_are_limited_and_long_waits_are_not_waited() {
    let no = || {
        whole(
            "500 Internal Server Error",
            "application/json",
            "Retry-After: 0\r\n",
            r#"{"error":{"message":"no"}}"#,
        )
    };
    let (said, seen) = asked(Api::Openai, vec![no()]).await;
    assert_eq!((error_of(&said).kind, error_of(&said).status), (ModelErrorKind::Server, Some(500)));
    assert_eq!((said.retries.len(), seen.len()), (3, 4));
    let long = whole(
        "429 Too Many Requests",
        "application/json",
        "Retry-After: 3600\r\nx-request-id: q7\r\n",
        r#"{"error":{"message":"tomorrow"}}"#,
    );
    let (said, seen) = asked(Api::Openai, vec![long]).await;
    let error = error_of(&said);
    assert_eq!(error.kind, ModelErrorKind::RateLimit);
    assert_eq!(
        (error.retry_after, error.request_id.as_deref()),
        (Some(Duration::from_secs(3600)), Some("q7"))
    );
    assert_eq!((error.message.as_str(), seen.len()), ("429 tomorrow", 1));
    // The server's own word on it.
    let never = whole("500 Internal Server Error", "application/json", "x-should-retry: false\r\n", "{}");
    assert_eq!(asked(Api::Openai, vec![never]).await.1.len(), 1);
}

#[tokio::test]
async fn statuses_mean_what_they_mean() {
    use ModelErrorKind as E;
    for (status, text, kind) in [
        ("400 Bad Request", "no", E::BadRequest),
        ("401 Unauthorized", "bad key", E::Authentication),
        ("403 Forbidden", "no", E::Authentication),
        ("402 Payment Required", "pay", E::Billing),
        (
            "429 Too Many Requests",
            "You exceeded your current quota: insufficient_quota",
            E::RateLimit,
        ),
        ("404 Not Found", "no such model", E::BadRequest),
        ("413 Payload Too Large", "too large", E::TooLong),
        ("422 Unprocessable Entity", "no", E::BadRequest),
        ("400 Bad Request", "Your credit balance is too low to access the API", E::Billing),
        (
            "400 Bad Request",
            "This model's maximum context length is 4096 tokens. However, you requested 5000",
            E::TooLong,
        ),
        ("400 Bad Request", "prompt is too long: 210000 tokens > 200000 maximum", E::TooLong),
        (
            "400 Bad Request",
            "input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000",
            E::TooLong,
        ),
        (
            "400 Bad Request",
            "request (6024 tokens) exceeds the available context size (4096 tokens), try increasing it",
            E::TooLong,
        ),
        (
            "400 Bad Request",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            E::TooLong,
        ),
        (
            "400 Bad Request",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
            E::TooLong,
        ),
        ("503 Service Unavailable", "later", E::Overloaded),
        ("504 Gateway Timeout", "later", E::Server),
    ] {
        let again = "x-should-retry: false\r\n";
        let body = json!({"error": {"message": text, "type": "x"}}).to_string();
        let (said, seen) = asked(Api::Openai, vec![whole(status, "application/json", again, &body)]).await;
        let error = error_of(&said);
        assert_eq!((error.kind, seen.len()), (kind, 1), "{status} {text}");
        assert_eq!(error.status, status[..3].parse().ok());
        assert_eq!(error.message, format!("{} {text}", &status[..3]));
    }
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let (said, seen) = asked(Api::Openai, vec![whole("429 Too Many Requests", "application/json", "", quota)]).await;
    assert_eq!((error_of(&said).kind, seen.len()), (E::Billing, 1));
}

#[tokio::test]
async fn rule_13_what_is_no_stream_is_read_for_what_it_is() {
    // A page of somebody in between.
    let page = "<html><head><title>502</title></head><body><h1>Bad Gateway</h1>\n</body></html>";
    let (said, _) = asked(
        Api::Openai,
        vec![whole("502 Bad Gateway", "text/html", "x-should-retry: false\r\n", page)],
    )
    .await;
    assert_eq!(error_of(&said).kind, ModelErrorKind::Server);
    assert!(
        error_of(&said).message.ends_with("answered 502 (bad gateway): 502 Bad Gateway"),
        "{}",
        error_of(&said)
    );
    let (said, seen) = asked(Api::Openai, vec![whole("200 OK", "text/html", "", page)]).await;
    assert_eq!((error_of(&said).kind, seen.len()), (ModelErrorKind::Malformed, 1));
    assert!(error_of(&said).message.contains("Bad Gateway"));
    // An error with a good status, as JSON and in a stream's clothes.
    for kind in ["application/json", "text/event-stream"] {
        let (said, _) = asked(
            Api::Openai,
            vec![whole("200 OK", kind, "", r#"{"error":{"message":"no credit","code":402}}"#)],
        )
        .await;
        let error = error_of(&said);
        assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Billing, "no credit"), "{kind}");
    }
    // A whole reply, though a stream was asked for.
    let reply = r#"{"id":"r1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    for kind in ["application/json", "text/event-stream"] {
        let (said, _) = asked(Api::Openai, vec![whole("200 OK", kind, "", reply)]).await;
        assert_eq!(said.result, Ok(()), "{kind}");
        assert_eq!(said.gather.message().text(), "whole");
        assert!(said.gather.usage().is_some());
    }
    let reply = r#"{"id":"r1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"whole"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let (said, _) = asked(Api::Anthropic, vec![whole("200 OK", "application/json", "", reply)]).await;
    assert_eq!(said.result, Ok(()));
    assert_eq!(said.gather.message().text(), "whole");
    // A stream under a wrong name.
    let mut bytes = head("200 OK", "application/json", "");
    let good = stream(&OPENAI);
    bytes.extend_from_slice(&good[good.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4..]);
    let (said, _) = asked(Api::Openai, vec![vec![Do::Send(bytes)]]).await;
    assert_eq!(said.result, Ok(()));
    // Nothing at all.
    let (said, seen) = asked(
        Api::Openai,
        vec![vec![Do::Send(head("200 OK", "text/event-stream", "Retry-After: 0\r\n"))]],
    )
    .await;
    assert_eq!(error_of(&said).kind, ModelErrorKind::Incomplete);
    assert_eq!(seen.len(), 4, "nothing was told: it is tried again");
}

#[tokio::test]
async fn rule_13_errors_inside_a_stream() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    // Before anything was told it is tried again.
    let (said, seen) = asked(
        Api::Anthropic,
        vec![vec![Do::Send(stream(&[r#"{"type":"ping"}"#, error]))], good(Api::Anthropic)],
    )
    .await;
    assert_eq!(said.result, Ok(()));
    assert_eq!((said.retries.len(), seen.len()), (1, 2));
    // Behind that it is not.
    let cut = stream(&[ANTHROPIC[0], ANTHROPIC[1], ANTHROPIC[2], error]);
    let (said, seen) = asked(Api::Anthropic, vec![vec![Do::Send(cut)], good(Api::Anthropic)]).await;
    let error = error_of(&said);
    assert_eq!(
        (error.kind, error.status, error.message.as_str()),
        (ModelErrorKind::Overloaded, Some(529), "Overloaded")
    );
    assert_eq!(seen.len(), 1);
    assert_eq!(said.gather.message().text(), "Grüße 🦀", "what was told stands");
    assert!(!said.gather.is_whole());
    let (said, _) = asked(
        Api::Openai,
        vec![vec![Do::Send(stream(&[OPENAI[0], r#"{"error":{"message":"gone","code":401}}"#]))]],
    )
    .await;
    assert_eq!(error_of(&said).kind, ModelErrorKind::Authentication);
}

#[tokio::test]
async fn rule_12_a_cut_stream_is_incomplete_and_keeps_what_came() {
    for api in [Api::Openai, Api::Anthropic] {
        let Do::Send(whole) = good(api).remove(0) else { unreachable!() };
        let text = String::from_utf8(whole.clone()).unwrap();
        let body = text.find("\r\n\r\n").unwrap() + 4;
        let said_text = text.find("Grüße").unwrap();
        let over = match api {
            Api::Openai => text.find("\"finish_reason\":\"stop\"").unwrap() + "\"finish_reason\":\"stop\"}]}".len(),
            Api::Anthropic => text.find("message_stop").unwrap() + "message_stop\"}".len(),
        };
        for cut in (body..whole.len()).step_by(61).chain([whole.len() - 1]) {
            for reset in [false, true] {
                let mut script = vec![Do::Send(whole[..cut].to_vec())];
                if reset {
                    script.extend([Do::Wait(Duration::from_millis(20)), Do::Reset]);
                }
                let server = Server::new(vec![script]).await;
                let no_retries = Patience { retries: 0, ..patience() };
                let messages = [user("hi")];
                let ask = Ask {
                    model: "m",
                    messages: &messages,
                    ..Ask::default()
                };
                let said = said(&client(api, &server.url(), no_retries), &ask).await;
                match said.result {
                    // A reset may be seen before what was sent last.
                    Ok(()) => assert!(cut >= over, "{api:?} cut at {cut} of {over}"),
                    Err(error) => {
                        assert!(cut < over || reset, "{api:?} cut at {cut}: {error}");
                        let early = said.pieces.is_empty() && cut < said_text + 200;
                        let kinds = [ModelErrorKind::Incomplete, ModelErrorKind::Connection, ModelErrorKind::Malformed];
                        assert!(
                            error.kind == kinds[0] || early && kinds.contains(&error.kind),
                            "{api:?} cut at {cut}: {error:?}"
                        );
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn rule_12_a_stream_with_a_call_is_cut_at_any_byte() {
    let openai = [
        r#"{"id":"r","model":"m","choices":[{"index":0,"delta":{"content":"Ü\ud83e\udd80"},"finish_reason":null}]}"#,
        r#"{"id":"r","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]},"finish_reason":null}]}"#,
        r#"{"id":"r","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}]}"#,
        r#"{"id":"r","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "[DONE]",
    ];
    let anthropic = [
        r#"{"type":"message_start","message":{"id":"r","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":":1}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    for (api, payloads, last) in [
        (Api::Openai, &openai[..], r#""finish_reason":"tool_calls"}]}"#),
        (Api::Anthropic, &anthropic[..], r#"{"type":"message_stop"}"#),
    ] {
        let whole = stream(payloads);
        let text = String::from_utf8(whole.clone()).unwrap();
        let (body, over) = (text.find("\r\n\r\n").unwrap() + 4, text.find(last).unwrap() + last.len());
        // One connection is one answer: the n-th one ends behind n bytes.
        let scripts = (body..=whole.len()).map(|cut| vec![Do::Send(whole[..cut].to_vec())]).collect();
        let server = Server::new(scripts).await;
        let client = client(api, &server.url(), Patience { retries: 0, ..patience() });
        for cut in body..=whole.len() {
            let said = said(&client, &ask).await;
            let message = said.gather.message();
            assert!(
                message.calls().all(|call| call.input == r#"{"x":1}"#),
                "{api:?} cut at {cut}: {message:?}"
            );
            assert_eq!(said.result.is_ok(), cut >= over, "{api:?} cut at {cut} of {over}: {:?}", said.result);
            // Calls are run when a reply says that it stops for them.
            assert_eq!(said.gather.stop().is_some(), said.result.is_ok(), "{api:?} cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_breaks_before_an_answer_is_tried_again() {
    let (said, seen) = asked(Api::Openai, vec![vec![Do::Reset], vec![], good(Api::Openai)]).await;
    assert_eq!(said.result, Ok(()));
    assert_eq!((said.retries.len(), seen.len()), (2, 3));
    assert_eq!(said.retries[0].3, None);
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let quick = Patience {
        retries: 0,
        first_byte: Duration::from_millis(200),
        stall: Duration::from_millis(200),
        connect: Duration::from_millis(200),
        ..patience()
    };
    let hang = Do::Wait(Duration::from_secs(30));
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    for script in [
        vec![hang.clone()],
        vec![Do::Send(head("200 OK", "text/event-stream", "")), hang.clone()],
        vec![Do::Send(stream(&OPENAI[..1])), hang.clone()],
        vec![Do::Send(head("200 OK", "application/json", "")), hang.clone()],
        vec![Do::Send(head("500 Internal Server Error", "application/json", "")), hang.clone()],
    ] {
        let server = Server::new(vec![script.clone()]).await;
        let begun = Instant::now();
        let said = said(&client(Api::Openai, &server.url(), quick), &ask).await;
        let kind = error_of(&said).kind;
        assert!(matches!(kind, ModelErrorKind::Timeout | ModelErrorKind::Server), "{script:?}: {kind:?}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn no_server_and_no_tls() {
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let none = Patience { retries: 0, ..patience() };
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let refused = said(&client(Api::Openai, &format!("http://127.0.0.1:{closed}/v1"), none), &ask).await;
    assert_eq!(error_of(&refused).kind, ModelErrorKind::Connection);
    assert!(
        error_of(&refused).message.starts_with(&format!("no connection to 127.0.0.1:{closed}: ")),
        "{}",
        error_of(&refused)
    );
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = plain.local_addr().unwrap().port();
    let knocks = tokio::spawn(async move {
        let mut knocks = 0;
        while let Ok(Ok((mut stream, _))) = tokio::time::timeout(Duration::from_secs(2), plain.accept()).await {
            knocks += 1;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        knocks
    });
    let tls = said(&client(Api::Openai, &format!("https://127.0.0.1:{port}/v1"), patience()), &ask).await;
    assert_eq!(error_of(&tls).kind, ModelErrorKind::Connection, "{:?}", tls.result);
    assert!(
        error_of(&tls).message.starts_with("no TLS connection to 127.0.0.1:"),
        "{}",
        error_of(&tls)
    );
    assert_eq!((tls.retries.len(), knocks.await.unwrap()), (0, 1), "no second attempt mends it");
    let wrong = Endpoint::new(Api::Openai, Some("not a url"), None);
    assert!(Client::new(wrong, Arc::new(Catalog::builtin())).is_err());
    let file = Endpoint::new(Api::Openai, Some("file:///etc"), None);
    assert!(Client::new(file, Arc::new(Catalog::builtin())).is_err());
}

#[tokio::test]
async fn the_key_goes_to_its_own_server_alone_and_into_no_error() {
    let thief = Server::new(vec![good(Api::Openai)]).await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = format!("Location: {}/v1/chat/completions\r\n", thief.url());
        let (said, _) = asked(Api::Openai, vec![whole(status, "text/plain", &to, "")]).await;
        assert_eq!(error_of(&said).kind, ModelErrorKind::BadRequest, "{status}");
    }
    assert!(thief.seen().is_empty());
    // To another place on the same server, as it is.
    let (said, seen) = asked(
        Api::Openai,
        vec![
            whole("307 Temporary Redirect", "text/plain", "Location: /elsewhere\r\n", ""),
            good(Api::Openai),
        ],
    )
    .await;
    assert_eq!(said.result, Ok(()));
    assert!(seen[1].head.starts_with("post /elsewhere") && seen[1].head.contains(KEY) && seen[1].body == seen[0].body);
    // A server that repeats it: `said` looks for it.
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}}).to_string();
    let (said, _) = asked(Api::Openai, vec![whole("401 Unauthorized", "application/json", "", &echo)]).await;
    assert_eq!(error_of(&said).message, "401 Incorrect API key provided: ….");
}

#[tokio::test]
async fn rule_15_parameters_that_a_server_refuses_are_sent_otherwise_and_it_is_remembered() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens"}}"#;
    let server = Server::new(vec![
        whole("400 Bad Request", "application/json", "", refusal),
        whole(
            "422 Unprocessable Entity",
            "application/json",
            "",
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
        ),
        good(Api::Openai),
    ])
    .await;
    let client = client(Api::Openai, &server.url(), patience());
    let messages = [user("hi")];
    let ask = Ask {
        model: "odd",
        messages: &messages,
        max_tokens: Some(77),
        ..Ask::default()
    };
    for _ in 0..2 {
        assert_eq!(said(&client, &ask).await.result, Ok(()));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    assert_eq!(seen[0].body["max_tokens"], 77);
    for later in &seen[2..] {
        assert_eq!(later.body["max_completion_tokens"], 77);
        assert!(later.body.get("max_tokens").is_none() && later.body.get("stream_options").is_none());
    }
    assert_eq!(body(Api::Openai, Ask { model: "gpt-5-mini", ..ask }).await["max_completion_tokens"], 77);
}

#[tokio::test]
async fn whoever_stops_listening_ends_the_call() {
    let script = vec![Do::Send(stream(&OPENAI[..1])), Do::Wait(Duration::from_secs(20))];
    let server = Server::new(vec![script]).await;
    let client = client(Api::Openai, &server.url(), patience());
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let mut hear = |_: &Event<'_>| {};
    assert!(
        tokio::time::timeout(Duration::from_millis(300), client.reply(&ask, &mut hear))
            .await
            .is_err()
    );
    let begun = Instant::now();
    while !server.seen()[0].left {
        assert!(begun.elapsed() < Duration::from_secs(5), "the connection stays open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn call(id: &str, input: &str) -> Part {
    Part::Call(Call {
        id: id.into(),
        name: "f".into(),
        input: input.into(),
        extra: None,
    })
}

fn result(id: &str, text: &str) -> Part {
    Part::Result(CallResult {
        call: id.into(),
        content: vec![Part::Text(text.into())],
        is_error: false,
    })
}

fn message(role: Role, parts: Vec<Part>) -> Rc<Message> {
    Rc::new(Message { role, parts })
}

fn user(text: &str) -> Rc<Message> {
    Rc::new(Message::user(text))
}

fn thinking(api: &str, member: &str, signature: Option<&str>) -> Part {
    Part::Thinking {
        text: "hm".into(),
        signature: signature.map(Into::into),
        source: Source {
            api: api.into(),
            model: "m".into(),
            member: member.into(),
        },
    }
}

#[tokio::test]
async fn rule_15_results_come_first_in_one_message_and_each_call_has_one() {
    let messages = [
        user("go"),
        message(
            Role::Assistant,
            vec![Part::Text("ok".into()), call("a", "{\"x\":1}"), call("b", ""), call("c", "{\"x")],
        ),
        message(Role::User, vec![Part::Text("by the way".into()), result("b", "B")]),
        message(Role::User, vec![result("a", "A"), result("z", "Z"), Part::Text("  ".into())]),
    ];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let body_of = body(Api::Anthropic, ask).await;
    let list = body_of["messages"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    assert_eq!(list[1]["content"][1]["input"], json!({"x": 1}));
    assert_eq!(list[1]["content"][2]["input"], json!({}));
    assert_eq!(list[1]["content"][3]["input"], json!({"invalid_json": "{\"x"}));
    let last = list[2]["content"].as_array().unwrap();
    let kinds: Vec<&str> = last.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "tool_result", "text", "text"]);
    let ids: Vec<&str> = last[..3].iter().map(|block| block["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!((&last[2]["is_error"], last[0].get("is_error")), (&json!(true), None));
    assert!(last[3]["text"].as_str().unwrap().ends_with('Z') && last[4]["text"] == "by the way");

    let body_of = body(Api::Openai, ask).await;
    let list = body_of["messages"].as_array().unwrap();
    let roles: Vec<&str> = list.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "tool", "user"]);
    assert_eq!(list[1]["tool_calls"][1]["function"]["arguments"], "{}");
    assert!(list[4]["content"].as_str().unwrap().starts_with("Error: ") && list[4]["tool_call_id"] == "c");

    // A conversation that ends with calls, and one that begins with the model.
    let open = [message(Role::Assistant, vec![call("a", "{}")])];
    let body_of = body(Api::Anthropic, Ask { messages: &open, ..ask }).await;
    let list = body_of["messages"].as_array().unwrap();
    assert_eq!(list[0]["role"], "user");
    assert_eq!(list[2]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn rule_8_thoughts_go_back_to_anthropic_signed_or_not_at_all() {
    let messages = [
        user("go"),
        message(
            Role::Assistant,
            vec![
                thinking("anthropic", "", Some("c2ln+/==")),
                Part::Redacted { data: "b3Bh".into() },
                thinking("anthropic", "", None),
                thinking("anthropic", "", Some("")),
                thinking("openai", "reasoning_content", Some("forged")),
                call("toolu:1", "{}"),
            ],
        ),
        message(Role::User, vec![result("toolu:1", "A")]),
    ];
    let ask = Ask {
        model: "m",
        messages: &messages,
        thinking: Some(2000),
        temperature: Some(0.5),
        ..Ask::default()
    };
    let body_of = body(Api::Anthropic, ask).await;
    let content = body_of["messages"][1]["content"].as_array().unwrap();
    assert_eq!(content[0], json!({"type": "thinking", "thinking": "hm", "signature": "c2ln+/=="}));
    assert_eq!(content[1], json!({"type": "redacted_thinking", "data": "b3Bh"}));
    assert_eq!((content.len(), &content[2]["id"]), (3, &json!("toolu_1")));
    assert_eq!(body_of["messages"][2]["content"][0]["tool_use_id"], "toolu_1");
    assert_eq!(body_of["thinking"], json!({"type": "enabled", "budget_tokens": 2000}));
    assert!(body_of.get("temperature").is_none());
    // In the middle of its work a model cannot begin to think.
    let thoughtless = [
        user("go"),
        message(Role::Assistant, vec![call("a", "{}")]),
        message(Role::User, vec![result("a", "A")]),
    ];
    let body_of = body(
        Api::Anthropic,
        Ask {
            messages: &thoughtless,
            ..ask
        },
    )
    .await;
    assert!(body_of.get("thinking").is_none());
    assert_eq!(body_of["temperature"], 0.5);
}

#[tokio::test]
async fn rule_9_thoughts_go_back_under_the_name_they_came_by() {
    let earlier = message(
        Role::Assistant,
        vec![thinking("openai", "reasoning_content", None), Part::Text("first".into())],
    );
    let details = r#"[{"type":"reasoning.text","text":"hm","signature":"s"}]"#;
    let now = |member: &str| {
        message(
            Role::Assistant,
            vec![
                thinking("openai", member, Some(details)),
                thinking("anthropic", "", Some("s")),
                call("a", "{}"),
            ],
        )
    };
    let ask = |messages: &'static [Rc<Message>]| Ask {
        model: "m",
        messages,
        ..Ask::default()
    };
    for (member, wanted) in [
        ("reasoning_content", json!("hm")),
        ("reasoning", json!("hm")),
        ("reasoning_details", serde_json::from_str(details).unwrap()),
    ] {
        let messages = vec![
            user("1"),
            earlier.clone(),
            user("2"),
            now(member),
            message(Role::User, vec![result("a", "A")]),
        ];
        let messages: &'static [Rc<Message>] = messages.leak();
        let body_of = body(Api::Openai, ask(messages)).await;
        let list = body_of["messages"].as_array().unwrap();
        assert_eq!(list[3][member], wanted, "{member}");
        assert!(list[1].get("reasoning_content").is_none(), "of an earlier task");
        // Another model never saw them.
        let body_of = body(Api::Openai, Ask { model: "n", ..ask(messages) }).await;
        assert!(body_of["messages"][3].get(member).is_none());
    }
    let messages: &'static [Rc<Message>] = vec![
        user("1"),
        message(Role::Assistant, vec![thinking("openai", "content", None), Part::Text("4".into())]),
        user("2"),
    ]
    .leak();
    let body_of = body(Api::Openai, ask(messages)).await;
    assert_eq!(
        body_of["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "4"}])
    );
}

#[tokio::test]
async fn what_a_call_carries_for_its_vendor_goes_back() {
    let chunk = r#"{"id":"r","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let (said, _) = asked(Api::Openai, vec![vec![Do::Send(stream(&[chunk, "[DONE]"]))]]).await;
    let reply = said.gather.message();
    assert_eq!(said.gather.stop(), Some((StopKind::Tools, "tool_calls")));
    let messages = [user("go"), Rc::new(reply), message(Role::User, vec![result("a", "A")])];
    let body_of = body(
        Api::Openai,
        Ask {
            model: "m",
            messages: &messages,
            ..Ask::default()
        },
    )
    .await;
    assert_eq!(
        body_of["messages"][1]["tool_calls"][0]["extra_content"],
        json!({"google": {"thought_signature": "s"}})
    );
}

#[tokio::test]
async fn tools_pictures_and_prompts_are_written_as_each_api_wants_them() {
    let spec = Spec {
        name: "f".into(),
        description: "does f".into(),
        schema: json!({"type": "object", "properties": {}}),
        kind: ToolKind::Other,
        reads_only: false,
    };
    let picture = || Part::Image {
        media_type: "image/png".into(),
        data: "aaaa".into(),
    };
    let document = Part::Document {
        media_type: "application/pdf".into(),
        data: "bbbb".into(),
    };
    let shown = Part::Result(CallResult {
        call: "a".into(),
        content: vec![picture()],
        is_error: false,
    });
    let messages = [
        message(Role::User, vec![Part::Text("look".into()), picture(), document]),
        message(Role::Assistant, vec![call("a", "{}")]),
        message(Role::User, vec![shown]),
    ];
    let tools = [Rc::new(spec)];
    let ask = Ask {
        model: "m",
        system: "be brief",
        messages: &messages,
        tools: &tools,
        must_call: Some("f"),
        top_p: Some(0.5),
        ..Ask::default()
    };
    let anthropic = body(Api::Anthropic, ask).await;
    let cached = json!({"type": "ephemeral"});
    assert_eq!(
        anthropic["system"],
        json!([{"type": "text", "text": "be brief", "cache_control": cached}])
    );
    assert_eq!(
        anthropic["tools"],
        json!([{"name": "f", "description": "does f", "input_schema": {"type": "object", "properties": {}}, "cache_control": cached}])
    );
    assert_eq!(anthropic["tool_choice"], json!({"type": "tool", "name": "f"}));
    assert_eq!(
        anthropic["messages"][0]["content"][1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}})
    );
    assert_eq!(anthropic["messages"][0]["content"][2]["type"], "document");
    assert_eq!(anthropic["messages"][2]["content"][0]["content"][0]["type"], "image");
    let openai = body(Api::Openai, ask).await;
    assert_eq!(openai["messages"][0], json!({"role": "system", "content": "be brief"}));
    assert_eq!(
        openai["messages"][1]["content"][1],
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}})
    );
    assert_eq!(
        openai["messages"][1]["content"][2]["file"]["file_data"],
        "data:application/pdf;base64,bbbb"
    );
    assert_eq!(openai["messages"][3]["role"], "tool");
    assert_eq!(
        openai["messages"][4]["content"][1]["type"], "image_url",
        "a tool's message holds text alone"
    );
    assert_eq!(openai["tools"][0]["function"]["name"], "f");
    assert_eq!(openai["tool_choice"], json!({"type": "function", "function": {"name": "f"}}));
    assert_eq!(openai["top_p"], 0.5);
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
