//! Asking a model of a test's own, and what came of it.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agentglot::adapters::raw::event::{Event, Kind, Piece, Topic};
use agentglot::agent::model::message::Message;
use agentglot::backend::model::{Api, Ask, Catalog, Client, Endpoint, Gather, Key, Model, ModelError, Patience};
use serde_json::Value;

use super::server::{Do, Seen, Server, stream};

pub(crate) const KEY: &str = "sk-very-secret-0123456789";

/// What came of one reply.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) result: Result<(), ModelError>,
    pub(crate) gather: Gather,
    /// The notices of attempts that failed: attempt, most, delay, status, word.
    pub(crate) retries: Vec<(u64, u64, u64, Option<u64>, String)>,
    /// Every piece of text, as it came.
    pub(crate) pieces: Vec<String>,
}

pub(crate) fn patience() -> Patience {
    Patience {
        retries: 3,
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(10),
        stall: Duration::from_secs(10),
        longest_wait: Duration::from_secs(5),
    }
}

pub(crate) fn client(api: Api, base: &str, patience: Patience) -> Client {
    let mut endpoint = Endpoint::new(api, Some(base), Some(Key::of(api, KEY)));
    endpoint.patience = patience;
    Client::new(endpoint, Arc::new(Catalog::builtin())).unwrap()
}

pub(crate) async fn said(client: &Client, ask: &Ask<'_>) -> Said {
    let mut gather = Gather::new(client.api(), ask.model);
    let (mut retries, mut pieces) = (Vec::new(), Vec::new());
    let mut hear = |event: &Event<'_>| {
        gather.event(event);
        match event.kind {
            Kind::Notice(notice) if notice.topic == Topic::Retry => {
                assert_eq!(notice.name.as_escaped(), "api_retry");
                let member = |name: &str| notice.data.and_then(|data| data.get(name));
                let number = |name: &str| member(name).and_then(|value| value.u64());
                let word = member("error").and_then(|value| value.string());
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
pub(crate) async fn asked(api: Api, scripts: Vec<Vec<Do>>) -> (Said, Vec<Seen>) {
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
pub(crate) async fn body(api: Api, ask: Ask<'_>) -> Value {
    let server = Server::new(vec![good(api)]).await;
    let said = said(&client(api, &server.url(), patience()), &ask).await;
    said.result.unwrap();
    server.seen()[0].body.clone()
}

pub(crate) const OPENAI: [&str; 4] = [
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Grüße "},"finish_reason":null}]}"#,
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":"🦀"},"finish_reason":"stop"}]}"#,
    r#"{"id":"r1","object":"chat.completion.chunk","model":"m-1","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":100}}}"#,
    "[DONE]",
];

pub(crate) const ANTHROPIC: [&str; 6] = [
    r#"{"type":"message_start","message":{"id":"r1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße 🦀"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":20,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":7}}"#,
    r#"{"type":"message_stop"}"#,
];

pub(crate) fn good(api: Api) -> Vec<Do> {
    vec![Do::Send(match api {
        Api::Openai => stream(&OPENAI),
        Api::Anthropic => stream(&ANTHROPIC),
    })]
}

pub(crate) fn error_of(said: &Said) -> &ModelError {
    said.result.as_ref().unwrap_err()
}

pub(crate) fn user(text: &str) -> Rc<Message> {
    Rc::new(Message::user(text))
}
