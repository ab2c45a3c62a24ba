use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client as Http, Response, redirect};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::endpoint::Endpoint;
use super::stream::{Ended, Stream, is_broken};
use super::written::{Parts, Told, Written};
use super::{Ask, Hear, Model, ModelError, ModelErrorKind, anthropic, failure, openai};
use agentglot_adapters::raw::event::{Delta, Event, Kind, Notice, Origin, Piece, Topic};
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_models::{Api, Catalog, catalog, choose};
use agentglot_process::file::read_named_text;

/// The largest table of models, in bytes.
const LARGEST_TABLE: u64 = 4 << 20;

/// A model behind an API over HTTP.
pub struct Client {
    endpoint: Endpoint,
    catalog: Arc<Catalog>,
    http: Http,
    host: String,
    /// Parameters that this server refused for a model, as they are sent since: what was taken away, and what came in its place.
    learnt: RefCell<HashMap<String, Vec<String>>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// The most that is read of the body of a failed answer, and of a reply that is no stream.
const MOST_OF_ERROR: usize = 64 << 10;
const MOST_OF_REPLY: usize = 64 << 20;
/// How long nothing may come of the body of a failed answer: its status says enough.
const PATIENCE_FOR_ERROR: Duration = Duration::from_secs(10);
/// How long nothing may come behind the reason why a reply stops, where neither a last word nor the end of the stream follows it.
const PATIENCE_FOR_END: Duration = Duration::from_secs(5);
/// The most that is read of a list of models, and how long a server may take for it.
const MOST_OF_MODELS: usize = 4 << 20;
const PATIENCE_FOR_MODELS: Duration = Duration::from_secs(10);
/// The most redirects that are followed.
const MOST_REDIRECTS: usize = 5;

impl Client {
    /// Ready to ask; connects to nobody yet. Proxies come from the environment (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` …).
    ///
    /// # Errors
    /// When the endpoint's URL is none, or TLS cannot be set up.
    pub fn new(endpoint: Endpoint, catalog: Arc<Catalog>) -> Result<Self, ModelError> {
        let wrong = |message: String| ModelError::new(ModelErrorKind::BadRequest, message);
        let host = endpoint.host();
        let url = reqwest::Url::parse(&endpoint.url()).map_err(|error| wrong(format!("the base URL of the model is no URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("the base URL of the model begins with {}:, not with https:", url.scheme())));
        }
        let http = crate::http::client()
            .connect_timeout(endpoint.patience.connect)
            .redirect(redirect::Policy::custom(same_host))
            .tcp_nodelay(true)
            .build()
            .map_err(|error| failure::of_transport(error, &host))?;
        Ok(Self {
            endpoint,
            catalog,
            http,
            host,
            learnt: RefCell::default(),
        })
    }

    /// What the environment says, with the prices and limits that the process goes by: a table of the
    /// user's, if `AGENTGLOT_MODELS` names a file, before the program's own. See [`Endpoint::of_environment`].
    ///
    /// # Errors
    /// As [`Endpoint::of_environment`] and [`Self::new`], and when the user's table cannot be read.
    pub fn of_environment(api: Api) -> Result<Self, ModelError> {
        Self::of_variables(api, &|name| std::env::var(name).ok())
    }

    /// The same, where something else may say what the variables say.
    ///
    /// # Errors
    /// As [`Self::of_environment`].
    pub fn of_variables(api: Api, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let endpoint = Endpoint::of_environment(api, variable)?;
        if let Some(path) = std::env::var_os("AGENTGLOT_MODELS").filter(|path| !path.is_empty()) {
            let wrong = |why: String| ModelError::new(ModelErrorKind::BadRequest, format!("AGENTGLOT_MODELS, {}: {why}", path.display()));
            let text = read_named_text(Path::new(&path), LARGEST_TABLE).map_err(|error| wrong(error.to_string()))?;
            let table = Catalog::over(&text).map_err(|error| wrong(error.message().to_owned()))?;
            // Another client of this process may have done it already.
            choose(table);
        }
        Self::new(endpoint, catalog())
    }

    /// Where it asks.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Prices and limits.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The members of a request, of which some are written apart.
    fn members(&self, ask: &Ask<'_>, told: Told) -> Map<String, Value> {
        let manner = self.catalog.manner(self.endpoint.api, &self.host, ask.model);
        let mut members = match self.endpoint.api {
            Api::Openai => openai::members(ask, manner),
            Api::Anthropic => anthropic::members(ask, manner, self.catalog.model(ask.model), told),
        };
        if ask.whole {
            members.insert("stream".into(), false.into());
            members.remove("stream_options");
        }
        if let Some(refusals) = self.learnt.borrow().get(ask.model) {
            for refusal in refusals {
                openai::adapt(&mut members, refusal);
            }
        }
        members
    }

    fn body(&self, members: &Map<String, Value>, parts: &Parts<'_>) -> Bytes {
        match self.endpoint.api {
            Api::Openai => openai::body(members, parts),
            Api::Anthropic => anthropic::body(members, parts),
        }
        .into()
    }

    /// The models that the server says it has, as it names them.
    ///
    /// # Errors
    /// When it does not answer in time, or with something else than a list.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let request = self.http.get(self.endpoint.models_url()).headers(self.headers("application/json")?);
        let answer = tokio::time::timeout(PATIENCE_FOR_MODELS, request.send()).await;
        let late = |_| ModelError::new(ModelErrorKind::Timeout, format!("{} did not list its models in time", self.host));
        let answer = answer
            .map_err(late)?
            .map_err(|error| self.hide(failure::of_transport(error, &self.host)))?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let text = self.text(answer, MOST_OF_MODELS, Instant::now() + PATIENCE_FOR_MODELS).await?;
        if !status.is_success() {
            return Err(self.hide(failure::of_answer(status.as_u16(), &headers, &text, &self.host)));
        }
        let list: Option<Value> = serde_json::from_slice(&text).ok();
        let ids = list.as_ref().and_then(|list| list.get("data")?.as_array()).map(|models| {
            let ids = models.iter().filter_map(|model| model.get("id")?.as_str());
            ids.map(str::to_owned).collect()
        });
        ids.ok_or_else(|| ModelError::new(ModelErrorKind::Malformed, format!("{} answered with no list of models", self.host)))
    }

    /// What every request says of itself and of us.
    fn headers(&self, accept: &str) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        let mut put = |name: &str, value: &str, secret: bool| -> Result<(), ModelError> {
            let wrong = |_| ModelError::new(ModelErrorKind::BadRequest, format!("the header {name} holds what no header may hold"));
            let value = value.parse::<reqwest::header::HeaderValue>().map_err(|_| ()).map_err(wrong)?;
            let key = name.parse::<reqwest::header::HeaderName>().map_err(|_| ()).map_err(wrong)?;
            let mut value = value;
            value.set_sensitive(secret);
            headers.insert(key, value);
            Ok(())
        };
        put("accept", accept, false)?;
        put("content-type", "application/json", false)?;
        if let Some(traceparent) = crate::telemetry::traceparent() {
            put("traceparent", &traceparent, false)?;
        }
        if self.endpoint.api == Api::Anthropic {
            put("anthropic-version", "2023-06-01", false)?;
        }
        if let Some(key) = &self.endpoint.key {
            match key.bearer {
                true => put("authorization", &format!("Bearer {}", key.text), true)?,
                false => put("x-api-key", &key.text, true)?,
            }
        }
        for (name, value) in &self.endpoint.headers {
            put(name, value, true)?;
        }
        Ok(headers)
    }

    /// One attempt, until the answer's head is there.
    async fn send(&self, body: Bytes, until: Instant) -> Result<Response, ModelError> {
        let request = self.http.post(self.endpoint.url()).body(body).headers(self.headers("text/event-stream")?);
        // To connect is part of it.
        match tokio::time::timeout_at(until, request.send()).await {
            Ok(answer) => answer.map_err(|error| failure::of_transport(error, &self.host)),
            Err(_) => Err(self.silent()),
        }
    }

    /// One attempt. Tells `heard` whether anything of a reply has been told.
    async fn attempt(&self, body: Bytes, heard: &mut bool, hear: &mut Hear<'_>) -> Result<(), Attempt> {
        let until = Instant::now() + self.endpoint.patience.first_byte;
        let answer = self.send(body, until).await?;
        let status = answer.status();
        let headers = answer.headers().clone();
        if !status.is_success() {
            let patience = self.endpoint.patience.stall.min(PATIENCE_FOR_ERROR);
            let text = self.text(answer, MOST_OF_ERROR, Instant::now() + patience).await.unwrap_or_default();
            let error = failure::of_answer(status.as_u16(), &headers, &text, &self.host);
            return Err(Attempt {
                again: failure::should_retry(&headers),
                error,
            });
        }
        let request_id = ["request-id", "x-request-id"].iter().find_map(|name| headers.get(*name)?.to_str().ok());
        let id = |error: ModelError| ModelError {
            request_id: error.request_id.clone().or_else(|| request_id.map(str::to_owned)),
            ..error
        };
        let mut hear = |event: &Event<'_>| {
            *heard |= !is_broken(event);
            hear(event);
        };
        let mut stream = Stream::new(self.endpoint.api, self.endpoint.max_reply);
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if is_json(kind) {
            // Asked for a stream, and answered in one piece: a reply, or an error with a good status.
            let until = until.max(Instant::now() + self.endpoint.patience.stall);
            let text = self.text(answer, MOST_OF_REPLY, until).await.map_err(id)?;
            return stream.whole(&text, &self.host, &mut hear).map_err(|error| id(error).into());
        }
        self.stream(answer, until, &mut stream, &mut hear).await.map_err(|error| id(error).into())
    }

    /// Reads a stream. Once a byte of it is there, `stall` counts, and only what is part of a reply begins it anew: comments, pings and empty pieces do not.
    async fn stream(&self, mut answer: Response, mut until: Instant, stream: &mut Stream, hear: &mut Hear<'_>) -> Result<(), ModelError> {
        let stall = self.endpoint.patience.stall;
        let (mut has_begun, mut has_round) = (false, false);
        loop {
            let cut = match tokio::time::timeout_at(until, answer.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    let mut moves = !std::mem::replace(&mut has_begun, true);
                    let mut listen = |event: &Event<'_>| {
                        moves |= match event.kind {
                            Kind::RoundStart(_) => !std::mem::replace(&mut has_round, true),
                            ref kind => carries(kind),
                        };
                        hear(event);
                    };
                    if stream.feed(&bytes, &mut listen)? == Ended::Yes {
                        return Ok(());
                    }
                    if moves {
                        until = Instant::now() + stall;
                    }
                    if stream.is_ending() {
                        until = until.min(Instant::now() + stall.min(PATIENCE_FOR_END));
                    }
                    continue;
                }
                Ok(Ok(None)) => None,
                Ok(Err(error)) => Some(failure::of_transport(error, &self.host)),
                Err(_) if has_begun => Some(self.stalled()),
                Err(_) => Some(self.silent()),
            };
            return stream.finish(cut, &self.host, hear);
        }
    }

    /// A body, as far as it is wanted, all of it until then.
    async fn text(&self, mut answer: Response, most: usize, until: Instant) -> Result<Vec<u8>, ModelError> {
        let mut text = Vec::new();
        loop {
            match tokio::time::timeout_at(until, answer.chunk()).await {
                Ok(Ok(Some(bytes))) => text.extend_from_slice(&bytes),
                Ok(Ok(None)) => return Ok(text),
                Ok(Err(error)) => return Err(failure::of_transport(error, &self.host)),
                Err(_) => return Err(if text.is_empty() { self.silent() } else { self.stalled() }),
            }
            if text.len() >= most {
                text.truncate(most);
                return Ok(text);
            }
        }
    }

    /// The answer did not begin in time.
    fn silent(&self) -> ModelError {
        let seconds = self.endpoint.patience.first_byte.as_secs_f64();
        let message = format!("{} did not answer within {seconds} seconds", self.host);
        ModelError::new(ModelErrorKind::Timeout, message)
    }

    /// It does not go on.
    fn stalled(&self) -> ModelError {
        let seconds = self.endpoint.patience.stall.as_secs_f64();
        let message = format!("nothing of a reply came from {} for {seconds} seconds", self.host);
        ModelError::new(ModelErrorKind::Timeout, message)
    }

    /// The error without the key, whoever repeated it.
    fn hide(&self, error: ModelError) -> ModelError {
        let mut message = error.message;
        let key = self.endpoint.key.iter().map(|key| key.text.as_str());
        let headers = self.endpoint.headers.iter().map(|(_, value)| value.as_str());
        for secret in key.chain(headers).filter(|secret| secret.len() >= 6) {
            message = message.replace(secret, "…");
        }
        ModelError { message, ..error }
    }
}

/// A failed attempt.
struct Attempt {
    error: ModelError,
    /// What the server says of trying again.
    again: Option<bool>,
}

impl From<ModelError> for Attempt {
    fn from(error: ModelError) -> Self {
        Self { error, again: None }
    }
}

#[async_trait(?Send)]
impl Model for Client {
    async fn reply(&self, ask: &Ask<'_>, hear: &mut Hear<'_>) -> Result<(), ModelError> {
        let patience = self.endpoint.patience;
        let fresh = Written::default();
        let (api, written) = (self.endpoint.api, ask.written.unwrap_or(&fresh));
        let (mut members, mut body) = written.with(api, ask, |parts| {
            let members = self.members(ask, parts.told);
            let body = self.body(&members, parts);
            (members, body)
        });
        let mut failed = 0;
        let mut adapted = 0;
        loop {
            let mut heard = false;
            let Err(Attempt { error, again }) = self.attempt(body.clone(), &mut heard, hear).await else {
                return Ok(());
            };
            let error = self.hide(error);
            if heard {
                return Err(error);
            }
            let refused = error.kind == ModelErrorKind::BadRequest && self.endpoint.api == Api::Openai && adapted < 4;
            if refused && openai::adapt(&mut members, &error.message) {
                body = written.with(api, ask, |parts| self.body(&members, parts));
                adapted += 1;
                self.learnt.borrow_mut().entry(ask.model.to_owned()).or_default().push(error.message);
                continue;
            }
            // Nobody listens on this machine: waiting does not start a server.
            let nobody = error.kind == ModelErrorKind::Refused && self.endpoint.is_local();
            let most = ask.most_overloaded.filter(|_| error.kind == ModelErrorKind::Overloaded);
            if nobody
                || failed >= patience.retries.min(most.unwrap_or(u32::MAX))
                || !again.unwrap_or(error.may_pass() && !error.message.starts_with(failure::NO_TLS))
            {
                return Err(error);
            }
            let wait = match error.retry_after {
                Some(asked) if asked > patience.longest_wait => return Err(error),
                Some(asked) => asked,
                None => backoff(failed, rand::random::<f64>()),
            };
            failed += 1;
            tell_retry(failed, patience.retries, wait, &error, hear);
            tokio::time::sleep(wait).await;
        }
    }

    fn api(&self) -> Api {
        self.endpoint.api
    }
}

/// Whether an event brings anything of a reply.
fn carries(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Delta(Delta { piece, .. }) => match piece {
            Piece::Text(text) | Piece::Thinking(text) | Piece::Signature(text) | Piece::Subject(text) | Piece::Input(text) => {
                !text.as_escaped().is_empty()
            }
            Piece::Other(_) => true,
        },
        _ => true,
    }
}

/// How long to wait behind the n-th failure, counted from 0, if nobody says: any time up to a bound that doubles.
fn backoff(failed: u32, random: f64) -> Duration {
    const FIRST: f64 = 1.0;
    const LONGEST: f64 = 32.0;
    Duration::from_secs_f64((FIRST * f64::from(2u32.saturating_pow(failed.min(10)))).min(LONGEST) * random.clamp(0.0, 1.0))
}

fn tell_retry(attempt: u32, most: u32, wait: Duration, error: &ModelError, hear: &mut Hear<'_>) {
    let mut message = String::new();
    Str::escape(&error.message, &mut message);
    let status = error.status.map_or_else(|| "null".to_owned(), |status| status.to_string());
    let data = format!(
        "{{\"attempt\":{attempt},\"max_retries\":{most},\"retry_delay_ms\":{},\"error_status\":{status},\"error\":\"{}\"}}",
        wait.as_millis(),
        error.word()
    );
    let notice = Notice {
        name: Str::trusted("api_retry"),
        topic: Topic::Retry,
        message: Some(Str::trusted(&message)),
        data: Some(Raw::trusted(&data)),
    };
    hear(&Event::new(Origin::default(), Kind::Notice(&notice)));
}

/// A request is sent again only to the server that it was for, and only if the server wants it as it is: the key goes nowhere else.
fn same_host(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let same = attempt.previous().last().is_some_and(|from| {
        let to = attempt.url();
        from.host_str() == to.host_str() && from.port_or_known_default() == to.port_or_known_default() && from.scheme() == to.scheme()
    });
    let as_it_is = matches!(attempt.status().as_u16(), 307 | 308);
    if same && as_it_is && attempt.previous().len() <= MOST_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_are_spread_over_all_of_the_time() {
        assert_eq!(backoff(0, 1.0), Duration::from_secs(1));
        assert_eq!(backoff(3, 1.0), Duration::from_secs(8));
        assert_eq!(backoff(40, 1.0), Duration::from_secs(32));
        assert_eq!(backoff(5, 0.0), Duration::ZERO);
        assert_eq!(backoff(5, 0.5), Duration::from_secs(16));
    }
}
