//! What the built-in agent does, as spans of OpenTelemetry: a turn, its rounds with the model, its tools.
//!
//! Spans go by OTLP/HTTP in its JSON form to `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces` behind it;
//! without either there are none. A thread of its own sends them in batches. Nothing waits for it but the end of the agent, and that no
//! longer than [`LAST`]; what cannot be sent, and what is too much, is lost. No span holds what was said, an argument, or a result.
//!
//! `TRACEPARENT` (W3C Trace Context) is the parent of turns. Commands get it as a variable and models as a header, with the span that they
//! belong to; without an exporter, or when the parent is not sampled, it is handed on as it came.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

/// How long the end of the agent waits for the last spans.
pub const LAST: Duration = Duration::from_secs(1);

/// So many spans wait to be sent; more are lost.
const MOST: usize = 2048;

/// So many go into one request.
const BATCH: usize = 256;

/// A span waits no longer than this for others.
const PACE: Duration = Duration::from_millis(500);

/// How long a request may take. `OTEL_EXPORTER_OTLP_TIMEOUT` says otherwise, in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The place of a span in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    trace: u128,
    span: u64,
    sampled: bool,
}

impl Context {
    /// Reads a `traceparent`. `None` if it is none that may be gone on with.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let known = hex(version, 2) && version != "ff" && hex(trace, 32) && hex(span, 16) && hex(flags, 2);
        // Version 00 has four parts; later ones may have more.
        if !known || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let context = Self {
            trace: u128::from_str_radix(trace, 16).ok()?,
            span: u64::from_str_radix(span, 16).ok()?,
            sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
        };
        (context.trace != 0 && context.span != 0).then_some(context)
    }

    /// As a `traceparent`.
    pub fn traceparent(self) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

tokio::task_local! {
    static CURRENT: Context;
}

/// The `traceparent` of what is done now, for whoever is asked to do a part of it.
pub fn traceparent() -> Option<String> {
    let current = CURRENT.try_with(|context| *context).ok();
    current.or_else(inherited).map(Context::traceparent)
}

/// Who began us.
fn inherited() -> Option<Context> {
    static INHERITED: OnceLock<Option<Context>> = OnceLock::new();
    *INHERITED.get_or_init(|| Context::parse(&std::env::var("TRACEPARENT").ok()?))
}

/// A span. It ends when it is dropped.
#[derive(Debug)]
pub struct Span(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    context: Context,
    parent: Option<u64>,
    name: &'static str,
    client: bool,
    begun: SystemTime,
    clock: Instant,
    said: RefCell<Said>,
}

#[derive(Debug, Default)]
struct Said {
    attributes: Map<String, Value>,
    failed: bool,
}

impl Span {
    /// Begins one, below the one that this is done in. `client`: it is about asking another program.
    pub fn begin(name: &'static str, client: bool) -> Self {
        let parent = CURRENT.try_with(|context| *context).ok().or_else(inherited);
        if exporter().is_none() || parent.is_some_and(|parent| !parent.sampled) {
            return Self(None);
        }
        let context = Context {
            trace: parent.map_or_else(|| rand::random_range(1..=u128::MAX), |parent| parent.trace),
            span: rand::random_range(1..=u64::MAX),
            sampled: true,
        };
        Self(Some(Box::new(Open {
            context,
            parent: parent.map(|parent| parent.span),
            name,
            client,
            begun: SystemTime::now(),
            clock: Instant::now(),
            said: RefCell::default(),
        })))
    }

    /// Says something about it: a text, a whole number or a truth.
    pub fn set(&self, name: &str, value: impl Into<Value>) {
        if let Some(open) = &self.0 {
            open.said.borrow_mut().attributes.insert(name.to_owned(), value.into());
        }
    }

    /// It failed. `kind` says how in a word, never in a server's or a person's own ones.
    pub fn fail(&self, kind: impl Into<String>) {
        if let Some(open) = &self.0 {
            open.said.borrow_mut().failed = true;
            self.set("error.type", kind.into());
        }
    }

    /// Does something within it.
    pub async fn within<T>(&self, what: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(open) => CURRENT.scope(open.context, what).await,
            None => what.await,
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let (Some(open), Some(exporter)) = (self.0.take(), exporter()) {
            // Full or gone: the span is lost, the agent goes on.
            let _ = exporter.try_send(Order::Span(open.written()));
        }
    }
}

impl Open {
    /// As OTLP's JSON has it: ids in hexadecimal, times in nanoseconds as texts.
    fn written(self) -> Value {
        let nanos = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        let said = self.said.into_inner();
        let mut span = json!({
            "traceId": format!("{:032x}", self.context.trace),
            "spanId": format!("{:016x}", self.context.span),
            "name": self.name,
            "kind": if self.client { 3 } else { 1 },
            "startTimeUnixNano": nanos(self.begun),
            // A clock that is set meanwhile makes no span end before it began.
            "endTimeUnixNano": nanos(self.begun + self.clock.elapsed()),
            "attributes": attributes(&said.attributes),
            "status": if said.failed { json!({"code": 2}) } else { json!({}) },
        });
        if let Some(parent) = self.parent {
            span["parentSpanId"] = format!("{parent:016x}").into();
        }
        span
    }
}

/// Numbers are texts there, as 64 bits do not fit into JSON's numbers everywhere.
fn attributes(all: &Map<String, Value>) -> Vec<Value> {
    let value = |value: &Value| match value {
        Value::Bool(value) => json!({"boolValue": value}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    };
    all.iter().map(|(name, is)| json!({"key": name, "value": value(is)})).collect()
}

/// Sends what there is. Within [`LAST`], however it goes.
pub async fn flush() {
    let Some(exporter) = exporter() else { return };
    let (done, waiting) = oneshot::channel();
    if exporter.try_send(Order::Flush(done)).is_ok() {
        let _ = tokio::time::timeout(LAST, waiting).await;
    }
}

enum Order {
    Span(Value),
    Flush(oneshot::Sender<()>),
}

/// Where spans go, if they go anywhere.
fn exporter() -> Option<&'static SyncSender<Order>> {
    static EXPORTER: OnceLock<Option<SyncSender<Order>>> = OnceLock::new();
    EXPORTER
        .get_or_init(|| {
            let aim = Aim::of(&|name| std::env::var(name).ok())?;
            let (send, receive) = sync_channel(MOST);
            let work = move || aim.work(&receive);
            std::thread::Builder::new().name("otlp".to_owned()).spawn(work).ok()?;
            Some(send)
        })
        .as_ref()
}

/// What the environment says about the export.
#[derive(Clone, Debug, PartialEq)]
struct Aim {
    url: String,
    headers: Vec<(String, String)>,
    patience: Duration,
    resource: Map<String, Value>,
}

impl Aim {
    fn of(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let get = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let off = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if off || get("OTEL_TRACES_EXPORTER").is_some_and(|value| value != "otlp") {
            return None;
        }
        let of_traces = |name: &str| get(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
        let of_any = |name: &str| of_traces(name).or_else(|| get(&format!("OTEL_EXPORTER_OTLP_{name}")));
        let url = of_traces("ENDPOINT").or_else(|| Some(format!("{}/v1/traces", get("OTEL_EXPORTER_OTLP_ENDPOINT")?.trim_end_matches('/'))))?;
        if of_any("PROTOCOL").is_some_and(|protocol| protocol == "grpc") {
            tracing::warn!("spans are not sent: OTLP goes over HTTP here, and OTEL_EXPORTER_OTLP_PROTOCOL asks for gRPC");
            return None;
        }
        let mut resource: Map<String, Value> = get("OTEL_RESOURCE_ATTRIBUTES")
            .map(|list| pairs(&list).into_iter().map(|(name, value)| (name, value.into())).collect())
            .unwrap_or_default();
        if let Some(name) = get("OTEL_SERVICE_NAME") {
            resource.insert("service.name".to_owned(), name.into());
        }
        resource.entry("service.name").or_insert_with(|| "agentglot".into());
        resource.entry("service.version").or_insert_with(|| env!("CARGO_PKG_VERSION").into());
        Some(Self {
            url,
            headers: of_any("HEADERS").map(|list| pairs(&list)).unwrap_or_default(),
            patience: of_any("TIMEOUT")
                .and_then(|millis| millis.trim().parse().ok())
                .map_or(PATIENCE, Duration::from_millis),
            resource,
        })
    }

    /// Lives as long as the process.
    fn work(&self, orders: &Receiver<Order>) {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        let Ok(http) = crate::http::client().timeout(self.patience).build() else {
            return;
        };
        let mut spans = Vec::new();
        let mut due = Instant::now();
        loop {
            let order = if spans.is_empty() {
                orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                orders.recv_timeout(due.saturating_duration_since(Instant::now()))
            };
            let flushed = match order {
                Ok(Order::Span(span)) => {
                    if spans.is_empty() {
                        due = Instant::now() + PACE;
                    }
                    spans.push(span);
                    if spans.len() < BATCH {
                        continue;
                    }
                    None
                }
                Ok(Order::Flush(done)) => Some(done),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if !spans.is_empty() {
                runtime.block_on(self.send(&http, std::mem::take(&mut spans)));
            }
            if let Some(done) = flushed {
                let _ = done.send(());
            }
        }
    }

    async fn send(&self, http: &reqwest::Client, spans: Vec<Value>) {
        let body = json!({"resourceSpans": [{
            "resource": {"attributes": attributes(&self.resource)},
            "scopeSpans": [{
                "scope": {"name": "agentglot", "version": env!("CARGO_PKG_VERSION")},
                "spans": spans,
            }],
        }]});
        let mut request = http.post(&self.url).json(&body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let failed = match request.send().await {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => format!("the collector answers {}", answer.status()),
            Err(error) if error.is_timeout() => "the collector does not answer".to_owned(),
            // Its own words may hold the URL, and that a password.
            Err(_) => "the collector cannot be reached".to_owned(),
        };
        static TOLD: AtomicBool = AtomicBool::new(false);
        if !TOLD.swap(true, Ordering::Relaxed) {
            tracing::warn!("spans are lost: {failed}");
        }
    }
}

/// `name=value,name=value`, with values as in URLs.
fn pairs(list: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_owned(), decoded(value.trim()))).filter(|(name, _)| !name.is_empty())
    };
    list.split(',').filter_map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The name of a kind of error as attributes have it: `TooLong` is `too_long`.
pub fn word(kind: &impl std::fmt::Debug) -> String {
    let mut word = String::new();
    for letter in format!("{kind:?}").chars().take_while(|letter| letter.is_alphanumeric()) {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        let _ = write!(word, "{}", letter.to_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_standard_has_it() {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let context = Context::parse(text).unwrap();
        assert_eq!(context.traceparent(), text);
        assert!(context.sampled);
        assert!(!Context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00").unwrap().sampled);
        assert!(Context::parse("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more").is_some());
        for wrong in [
            "",
            "00",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
        ] {
            assert_eq!(Context::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_environment_says_where_spans_go() {
        let aim = |all: &[(&str, &str)]| {
            let find = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            Aim::of(&find)
        };
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/");
        assert_eq!(aim(&[]), None);
        assert_eq!(aim(&[base]).unwrap().url, "http://127.0.0.1:4318/v1/traces");
        let own = aim(&[base, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1/t")]).unwrap();
        assert_eq!((own.url.as_str(), own.patience), ("http://127.0.0.1/t", PATIENCE));
        for off in [
            ("OTEL_SDK_DISABLED", "true"),
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ] {
            assert_eq!(aim(&[base, off]), None);
        }
        let more = aim(&[
            base,
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, y=1"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "50"),
            ("OTEL_SERVICE_NAME", "mine"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=x,service.name=other"),
        ])
        .unwrap();
        assert_eq!(more.headers, [("x-key".into(), "a b".into()), ("y".into(), "1".into())]);
        assert_eq!(
            (more.resource["service.name"].as_str(), more.resource["team"].as_str()),
            (Some("mine"), Some("x"))
        );
        assert_eq!(more.patience, Duration::from_millis(50));
    }

    #[test]
    fn kinds_are_words() {
        #[derive(Debug)]
        #[allow(dead_code, reason = "it is there to be printed")]
        enum Kind {
            TooLong,
            Failed(u8),
        }
        assert_eq!((word(&Kind::TooLong).as_str(), word(&Kind::Failed(1)).as_str()), ("too_long", "failed"));
    }
}
