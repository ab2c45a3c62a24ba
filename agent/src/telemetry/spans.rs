//! Spans by `opentelemetry`, sent by `opentelemetry-otlp` as OTLP/HTTP in its JSON form.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, InstrumentationScope, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::EnvResourceDetector;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};
use serde_json::Value;
use tokio::sync::oneshot;

use super::LAST;

/// A span waits no longer than this for others.
const PACE: Duration = Duration::from_millis(500);

/// How long a request may take. `OTEL_EXPORTER_OTLP_TIMEOUT` says otherwise, in milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A span. It ends when it is dropped.
#[derive(Debug)]
pub struct Span(Option<Context>);

impl Span {
    /// Begins one, below the one that this is done in. `client`: it is about asking another program.
    pub fn begin(name: &'static str, client: bool) -> Self {
        let parent = current();
        let context = parent.span().span_context().clone();
        if context.is_valid() && !context.is_sampled() {
            return Self(None);
        }
        Self(provider().map(|provider| {
            let scope = InstrumentationScope::builder("agentglot").with_version(env!("CARGO_PKG_VERSION")).build();
            let tracer = provider.tracer_with_scope(scope);
            let kind = if client { SpanKind::Client } else { SpanKind::Internal };
            let span = tracer.span_builder(name).with_kind(kind).start_with_context(&tracer, &parent);
            parent.with_span(span)
        }))
    }

    /// Says something about it: a text, a whole number or a truth.
    pub fn set(&self, name: &'static str, value: impl Into<Value>) {
        let Some(context) = &self.0 else { return };
        let value: opentelemetry::Value = match value.into() {
            Value::Bool(value) => value.into(),
            Value::Number(number) if number.is_i64() => number.as_i64().unwrap_or_default().into(),
            Value::String(text) => text.into(),
            other => other.to_string().into(),
        };
        context.span().set_attribute(KeyValue::new(name, value));
    }

    /// It failed. `kind` says how in a word, never in a server's or a person's own ones.
    pub fn fail(&self, kind: impl Into<String>) {
        if let Some(context) = &self.0 {
            context.span().set_status(Status::error(""));
            self.set("error.type", kind.into());
        }
    }

    /// It is over.
    pub fn end(self) {
        drop(self);
    }

    /// Does something within it.
    pub async fn within<T>(&self, what: impl Future<Output = T>) -> T {
        match &self.0 {
            Some(context) => what.with_context(context.clone()).await,
            None => what.await,
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // Whoever still holds the context holds a span that is over.
        if let Some(context) = &self.0 {
            context.span().end();
        }
    }
}

/// The `traceparent` of what is done now, for whoever is asked to do a part of it.
pub fn traceparent() -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&current(), &mut carrier);
    carrier.remove("traceparent")
}

/// Sends what there is. Within [`LAST`], however it goes.
pub async fn flush() {
    let Some(provider) = provider() else { return };
    let (done, waiting) = oneshot::channel();
    let sending = std::thread::Builder::new().name("otlp-flush".to_owned()).spawn(move || {
        let _ = provider.force_flush();
        let _ = done.send(());
    });
    if sending.is_ok() {
        let _ = tokio::time::timeout(LAST, waiting).await;
    }
}

/// The span that this is done in, or who began us.
fn current() -> Context {
    static INHERITED: OnceLock<Context> = OnceLock::new();
    let current = Context::current();
    if current.has_active_span() {
        return current;
    }
    let inherited = INHERITED.get_or_init(|| {
        let value = std::env::var("TRACEPARENT").unwrap_or_default();
        let carrier = HashMap::from([("traceparent".to_owned(), value)]);
        TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
    });
    inherited.clone()
}

/// Who sends spans, if the environment says where they go.
fn provider() -> Option<&'static SdkTracerProvider> {
    static PROVIDER: OnceLock<Option<SdkTracerProvider>> = OnceLock::new();
    let start = || {
        let variable = |name: &str| std::env::var(name).ok();
        if !is_wanted(&variable) {
            return None;
        }
        let http = Http::new(patience(&variable))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(http)
            .with_protocol(Protocol::HttpJson)
            .build();
        let exporter = exporter.inspect_err(|error| tracing::warn!("spans are not sent: {error}")).ok()?;
        let pace = BatchConfigBuilder::default().with_scheduled_delay(PACE).build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(pace).build();
        Some(
            SdkTracerProvider::builder()
                .with_resource(resource(&variable))
                .with_span_processor(processor)
                .build(),
        )
    };
    PROVIDER.get_or_init(start).as_ref()
}

type Variable<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A variable that says something.
fn given(variable: Variable<'_>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

/// A variable of the exporter, for traces before all.
fn of_exporter(variable: Variable<'_>, name: &str) -> Option<String> {
    given(variable, &format!("OTEL_EXPORTER_OTLP_TRACES_{name}")).or_else(|| given(variable, &format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// Whether the environment wants spans: it says where they go, and nothing speaks against it. The exporter reads the rest itself.
fn is_wanted(variable: Variable<'_>) -> bool {
    let off = given(variable, "OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if off || given(variable, "OTEL_TRACES_EXPORTER").is_some_and(|value| value != "otlp") || of_exporter(variable, "ENDPOINT").is_none() {
        return false;
    }
    if of_exporter(variable, "PROTOCOL").is_some_and(|protocol| protocol == "grpc") {
        tracing::warn!("spans are not sent: OTLP goes over HTTP here, and OTEL_EXPORTER_OTLP_PROTOCOL asks for gRPC");
        return false;
    }
    true
}

fn patience(variable: Variable<'_>) -> Duration {
    of_exporter(variable, "TIMEOUT")
        .and_then(|millis| millis.trim().parse().ok())
        .map_or(PATIENCE, Duration::from_millis)
}

fn resource(variable: Variable<'_>) -> Resource {
    let ours = [
        KeyValue::new("service.name", "agentglot"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
    ];
    let resource = Resource::builder_empty()
        .with_attributes(ours)
        .with_detector(Box::new(EnvResourceDetector::new()));
    match given(variable, "OTEL_SERVICE_NAME") {
        Some(name) => resource.with_service_name(name).build(),
        None => resource.build(),
    }
}

/// Our client, for the processor's own thread: that one has no runtime and may block.
#[derive(Debug)]
struct Http {
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
    warned: AtomicBool,
}

impl Http {
    fn new(patience: Duration) -> Option<Self> {
        Some(Self {
            client: crate::http::client().timeout(patience).build().ok()?,
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?,
            warned: AtomicBool::new(false),
        })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let answer = self.client.execute(request.try_into()?).await?;
        // Nobody reads what a collector says beside its status.
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }
}

#[async_trait]
impl HttpClient for Http {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.block_on(self.send(request));
        let failed = match &sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the collector answers {}", answer.status())),
            Err(error) if error.is_timeout() => Some("the collector does not answer".to_owned()),
            // Its own words may hold the URL, and that a password.
            Err(_) => Some("the collector cannot be reached".to_owned()),
        };
        if let Some(failed) = failed.filter(|_| !self.warned.swap(true, Ordering::Relaxed)) {
            tracing::warn!("spans are lost: {failed}");
        }
        Ok(sent?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_whether_spans_are_sent() {
        fn found<'v>(all: &'v [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'v {
            |name| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/");
        assert!(!is_wanted(&found(&[])));
        assert!(is_wanted(&found(&[base])));
        assert!(is_wanted(&found(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1/t")])));
        for off in [
            ("OTEL_SDK_DISABLED", "true"),
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ] {
            assert!(!is_wanted(&found(&[base, off])), "{off:?}");
        }
        assert_eq!(patience(&found(&[base])), PATIENCE);
        assert_eq!(patience(&found(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "50")])), Duration::from_millis(50));
        let name = |all: &[(&str, &str)]| resource(&found(all)).get(&"service.name".into()).map(|name| name.to_string());
        assert_eq!(name(&[]).as_deref(), Some("agentglot"));
        assert_eq!(name(&[("OTEL_SERVICE_NAME", "mine")]).as_deref(), Some("mine"));
    }
}
