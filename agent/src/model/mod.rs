//! Models behind an API over HTTP.
//!
//! [`Client`] asks: it writes the request for the API of its [`Endpoint`], reads the stream, and tries again what failed before anything of
//! a reply had come. What is told is the canonical model's; [`Gather`] puts a reply together for the conversation. [`Catalog`] knows
//! prices, limits and the ways of servers.

mod anthropic;
pub(crate) mod call_ids;
mod client;
mod endpoint;
mod failure;
mod gather;
mod history;
pub(crate) mod measure;
pub mod message;
pub mod names;
mod openai;
pub mod server_flags;
mod spec;
mod stream;
pub(crate) mod usage;
mod written;

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use async_trait::async_trait;

use crate::model::message::Message;
use agentglot_adapters::raw::event::Event;
pub use agentglot_models::{Api, Catalog, catalog, cost, window};
pub use client::Client;
pub(crate) use endpoint::key_variable;
pub use endpoint::{Endpoint, Key, Patience};
pub use gather::Gather;
pub use spec::{Owner, Spec};
pub(crate) use stream::is_broken;
pub use written::Written;

/// Who is told what a model says.
pub type Hear<'h> = dyn FnMut(&Event<'_>) + 'h;

/// A model that can be asked.
#[async_trait(?Send)]
pub trait Model: fmt::Debug {
    /// Asks for one reply, and tells what comes as it comes: the round's start, blocks in pieces and one after the other, its stop with
    /// the usage, its end; before it a notice for each attempt that failed and is tried again. Whoever drops this breaks the call off.
    ///
    /// # Errors
    /// When there is no reply, or only the beginning of one. What was told of it by then stands.
    async fn reply(&self, ask: &Ask<'_>, hear: &mut Hear<'_>) -> Result<(), ModelError>;

    /// Which API it is behind: what a [`Gather`] has to know.
    fn api(&self) -> Api;
}

/// What a model is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// The model, as its API calls it.
    pub model: &'a str,
    /// The system prompt; none if empty.
    pub system: &'a str,
    /// The conversation, the last message being the user's.
    pub messages: &'a [Rc<Message>],
    /// What is written of this conversation already: with it a request costs what is new in it.
    pub written: Option<&'a Written>,
    /// What it may call.
    pub tools: &'a [Rc<Spec>],
    /// The most tokens of the reply.
    pub max_tokens: Option<u64>,
    /// See the APIs.
    pub temperature: Option<f64>,
    /// See the APIs.
    pub top_p: Option<f64>,
    /// The most tokens for thinking; 0 is none at all, absent leaves it to the model.
    pub thinking: Option<u64>,
    /// `low`, `medium`, `high` …
    pub effort: Option<&'a str>,
    /// Call this tool.
    pub must_call: Option<&'a str>,
    /// So often it is asked again when it is overloaded; absent as often as at other failures.
    pub most_overloaded: Option<u32>,
    /// The reply is to come in one piece: one that came in pieces broke off.
    pub whole: bool,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// The HTTP status, if it came to that.
    pub status: Option<u16>,
    /// The reason in one sentence, with the API's own words if there are some. Never holds a key.
    pub message: String,
    /// When the API says to try again.
    pub retry_after: Option<Duration>,
    /// The id of the request, where the API names one.
    pub request_id: Option<String>,
    /// The API's own word for it.
    pub kind_word: Option<String>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// 401, 403, or no key.
    Authentication,
    /// 402, or an exhausted account.
    Billing,
    /// 429.
    RateLimit,
    /// 503, 529.
    Overloaded,
    /// Another 5xx.
    Server,
    /// The conversation is too long for the model.
    TooLong,
    /// The request was refused as wrong: 400, 404, 413, 422.
    BadRequest,
    /// No connection, TLS, DNS.
    Connection,
    /// No server listens at the address.
    Refused,
    /// Nothing came in time.
    Timeout,
    /// The stream ended before the reply did.
    Incomplete,
    /// What came is no reply.
    Malformed,
}
