//! Models behind HTTP that fail: what is tried again, what is told, and that nobody waits for ever.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::Event;
use agentglot::backend::model::{Api, Ask, Catalog, Client, Endpoint, Model, ModelErrorKind, Patience};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::support::asked::{ANTHROPIC, KEY, OPENAI, asked, client, error_of, good, patience, said, user};
use crate::support::server::{Do, Server, head, stream, whole};

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
async fn rule_13_an_error_may_have_no_other_word_than_that() {
    let stops = OPENAI[0].replace("\"finish_reason\":null", "\"finish_reason\":\"error\"");
    let (said, _) = asked(Api::Openai, vec![vec![Do::Send(stream(&[OPENAI[0], &stops, "[DONE]"]))]]).await;
    assert_eq!(error_of(&said).kind, ModelErrorKind::Server, "{stops}");
    let mut named = stream(&OPENAI[..1]);
    let end = named.windows(4).rposition(|four| four == b"\r\n\r\n").unwrap();
    named.truncate(end + 4);
    named.extend_from_slice(b"event: error\r\ndata: {\"message\":\"no more\"}\r\n\r\n");
    let (said, _) = asked(Api::Openai, vec![vec![Do::Send(named)]]).await;
    assert_eq!(error_of(&said).message, "no more");
}

/// A reply with a gap would pass for a whole one.
#[tokio::test]
async fn a_reply_of_which_a_part_cannot_be_read_is_none() {
    for (api, payloads) in [(Api::Openai, &OPENAI[..]), (Api::Anthropic, &ANTHROPIC[..])] {
        for broken in [r#"{"choices":[{"delta":{"content":"lo"#, r#"{"type":"content_block_start","index":"0"}"#] {
            if api == Api::Openai && broken.ends_with('}') {
                continue;
            }
            let payloads = [&payloads[..1], &[broken], &payloads[1..]].concat();
            let (said, seen) = asked(api, vec![vec![Do::Send(stream(&payloads))], good(api)]).await;
            let error = error_of(&said);
            assert_eq!((error.kind, seen.len()), (ModelErrorKind::Malformed, 1), "{api:?} {broken}: {error:?}");
            assert!(error.message.contains("a part of the reply cannot be read"), "{error:?}");
        }
    }
}

/// It has said why it stops; a connection that is kept open behind that is no part of the reply.
#[tokio::test]
async fn the_end_of_a_reply_is_not_waited_for_as_its_pieces_are() {
    let at = OPENAI.iter().position(|payload| payload.contains("\"finish_reason\":\"stop\"")).unwrap();
    let bytes = stream(&OPENAI[..=at]);
    let server = Server::new(vec![vec![Do::Send(bytes), Do::Wait(Duration::from_secs(60))]]).await;
    let patient = Patience {
        stall: Duration::from_secs(50),
        ..patience()
    };
    let messages = [user("hi")];
    let ask = Ask {
        model: "m",
        messages: &messages,
        ..Ask::default()
    };
    let said = tokio::time::timeout(Duration::from_secs(30), said(&client(Api::Openai, &server.url(), patient), &ask)).await;
    assert_eq!(said.expect("it is not waited for").result, Ok(()));
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
    assert_eq!(error_of(&refused).kind, ModelErrorKind::Refused);
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
