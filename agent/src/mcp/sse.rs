//! A server behind HTTP as it was before March 2025 (protocol 2024-11-05, "HTTP with SSE"), as a transport of rmcp's, which has none for it.
//!
//! One GET opens a stream of server-sent events that lasts as long as the connection. Its first event, `endpoint`, holds the address that
//! messages are posted to; `message` events hold those of the server. A post is answered with a status alone. The address has to be of the
//! host that was asked, for headers go there too. What a server may say is bounded as for programs.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::link::{Trouble, innermost};
use super::stdio::{Fault, Flood, LONGEST_LINE, message};
use agentglot_adapters::raw::frame::{Frame, Sse as Frames};

/// How long a message may take to be taken.
const POST: Duration = Duration::from_secs(60);

/// The connection to such a server.
pub(super) struct Sse {
    client: Client,
    headers: HeaderMap,
    endpoint: Url,
    heard: Heard,
    fault: Fault,
    flood: Flood,
}

/// The stream, and what has come of it.
struct Heard {
    stream: Option<BoxStream<'static, reqwest::Result<Vec<u8>>>>,
    frames: Frames,
    events: VecDeque<Event>,
}

/// What is heard.
enum Event {
    /// Where messages are posted to.
    Endpoint(String),
    /// A message, as text.
    Message(Vec<u8>),
    /// One that is too long.
    TooLong,
}

impl Sse {
    /// Opens a connection. It takes as long as it takes.
    pub(super) async fn open(client: Client, url: &str, headers: HeaderMap, fault: Fault) -> Result<Self, Trouble> {
        let url = Url::parse(url).map_err(|error| Trouble::Gone(format!("its address is none: {error}")))?;
        let request = client
            .get(url)
            .headers(headers.clone())
            .header(ACCEPT, HeaderValue::from_static("text/event-stream"))
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let response = request.send().await.map_err(|error| Trouble::Gone(innermost(&error)))?;
        match response.status() {
            StatusCode::UNAUTHORIZED => return Err(Trouble::NeedsAuth),
            status if !status.is_success() => return Err(Trouble::Gone(format!("it answered {status}"))),
            _ => {}
        }
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("text/event-stream") {
            return Err(Trouble::Gone(format!("it answered with {kind:?} where a stream of events was expected")));
        }
        let from = response.url().clone();
        let mut heard = Heard {
            stream: Some(response.bytes_stream().map(|read| read.map(|bytes| bytes.to_vec())).boxed()),
            frames: Frames::new(LONGEST_LINE),
            events: VecDeque::new(),
        };
        let Event::Endpoint(endpoint) = heard.next().await.map_err(Trouble::Gone)? else {
            return Err(Trouble::Gone("it did not say where messages go".to_owned()));
        };
        let endpoint = from
            .join(&endpoint)
            .map_err(|error| Trouble::Gone(format!("the address that it wants messages at is none: {error}")))?;
        if endpoint.origin() != from.origin() {
            return Err(Trouble::Gone(format!(
                "it wants messages at another host ({})",
                endpoint.origin().ascii_serialization()
            )));
        }
        Ok(Self {
            client,
            headers,
            endpoint,
            heard,
            fault,
            flood: Flood::default(),
        })
    }
}

impl Heard {
    /// The next event, or why there is none. What has been read stays read when nobody waits any more.
    async fn next(&mut self) -> Result<Event, String> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(event);
            }
            let Some(stream) = &mut self.stream else {
                return Err("it closed its stream".to_owned());
            };
            let events = &mut self.events;
            let keep = |frame: Frame<'_>| {
                match frame {
                    Frame::Event { name: "endpoint", data, .. } => events.push_back(Event::Endpoint(String::from_utf8_lossy(data).trim().to_owned())),
                    Frame::Event {
                        name: "" | "message", data, ..
                    } => events.push_back(Event::Message(data.to_vec())),
                    Frame::Oversize { .. } => events.push_back(Event::TooLong),
                    Frame::Event { .. } | Frame::Stray { .. } => {}
                }
                true
            };
            match stream.next().await {
                Some(Ok(read)) => self.frames.feed(&read, keep),
                Some(Err(error)) => {
                    self.stream = None;
                    return Err(innermost(&error));
                }
                None => {
                    self.stream = None;
                    self.frames.finish(keep);
                }
            }
        }
    }
}

impl Transport<RoleClient> for Sse {
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self
            .client
            .post(self.endpoint.clone())
            .headers(self.headers.clone())
            .timeout(POST)
            .json(&item);
        async move {
            let response = request.send().await.map_err(|error| io::Error::other(innermost(&error)))?;
            match response.status() {
                status if status.is_success() => Ok(()),
                StatusCode::UNAUTHORIZED => Err(io::Error::other(Trouble::NeedsAuth)),
                status => Err(io::Error::other(format!("it answered {status}"))),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let text = match self.heard.next().await {
                Ok(Event::Message(text)) => text,
                Ok(Event::Endpoint(_)) => continue,
                Ok(Event::TooLong) => {
                    self.fault.set(format!("it said a message of more than {} MiB", LONGEST_LINE >> 20));
                    return None;
                }
                Err(why) => {
                    self.fault.set(why);
                    return None;
                }
            };
            let message = message(&text);
            let answer = matches!(message, Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)));
            if !answer && self.flood.rises(text.len(), Instant::now()) {
                self.fault.set("it said far more than it was asked for");
                return None;
            }
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.heard.stream = None;
        Ok(())
    }
}
