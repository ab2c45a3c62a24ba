//! What a failed answer means.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{ModelError, ModelErrorKind};

impl ModelError {
    pub(crate) fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            message: message.into(),
            retry_after: None,
            request_id: None,
            kind_word: None,
        }
    }

    /// Whether there is no such model.
    pub(crate) fn is_of_unknown_model(&self) -> bool {
        self.kind == ModelErrorKind::BadRequest && self.status == Some(404) && self.message.contains("model")
    }

    /// Whether the same request may go better next time.
    pub const fn may_pass(&self) -> bool {
        use ModelErrorKind as Kind;
        match self.kind {
            Kind::RateLimit | Kind::Overloaded | Kind::Server | Kind::Connection | Kind::Refused | Kind::Timeout | Kind::Incomplete => true,
            Kind::Authentication | Kind::Billing | Kind::TooLong | Kind::BadRequest | Kind::Malformed => false,
        }
    }

    /// The word that Claude Code has for it (`SDKAssistantMessageError`).
    pub const fn word(&self) -> &'static str {
        use ModelErrorKind as Kind;
        match self.kind {
            Kind::Authentication => "authentication_failed",
            Kind::Billing => "billing_error",
            Kind::RateLimit => "rate_limit",
            Kind::Overloaded => "overloaded",
            Kind::Server => "server_error",
            Kind::TooLong | Kind::BadRequest => "invalid_request",
            Kind::Connection | Kind::Refused | Kind::Timeout | Kind::Incomplete | Kind::Malformed => "unknown",
        }
    }
}

/// What an answer with this status and body means.
pub(super) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8], host: &str) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let said = said(&text);
    let words = said.as_ref().map(|said| said.message.as_str()).filter(|text| !text.is_empty());
    let message = match words {
        Some(words) => format!("{status} {words}"),
        None if text.trim().is_empty() => format!("{host} answered {status}{}", reason(status)),
        None => format!("{host} answered {status}{}: {}", reason(status), excerpt(&text)),
    };
    let kind = kind_of(status, said.as_ref().map_or("", |said| said.kind.as_str()), words.unwrap_or_default());
    ModelError {
        kind,
        status: Some(status),
        message,
        retry_after: retry_after(headers, SystemTime::now()),
        request_id: header(headers, "request-id")
            .or_else(|| header(headers, "x-request-id"))
            .map(str::to_owned),
        kind_word: said.and_then(|said| kind_word(&said.kind)),
    }
}

/// The first word of those that an API has for a failure.
fn kind_word(words: &str) -> Option<String> {
    words.split_whitespace().next().map(str::to_owned)
}

/// What an error inside a stream means.
pub(super) fn of_stream(message: &str, kind: &str, code: &str) -> ModelError {
    let status = code.parse::<u16>().ok().filter(|status| (400..600).contains(status));
    let known = match kind {
        "overloaded_error" => Some(529),
        "rate_limit_error" | "rate_limit_exceeded" => Some(429),
        "authentication_error" => Some(401),
        "permission_error" => Some(403),
        "billing_error" => Some(402),
        "invalid_request_error" => Some(400),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        _ => None,
    };
    let status = known.or(status);
    let word = kind_word(kind);
    let kind = kind_of(status.unwrap_or(500), if kind.is_empty() { code } else { kind }, message);
    ModelError {
        status,
        kind_word: word,
        ..ModelError::new(kind, message)
    }
}

/// What an event means that is called `error`, whatever its data are.
pub(super) fn of_error_event(data: &str) -> ModelError {
    match said(data) {
        Some(said) => of_stream(&said.message, said.kind.trim(), ""),
        None => of_stream(&excerpt(data), "", ""),
    }
}

/// An error as APIs say it.
struct Said {
    message: String,
    kind: String,
}

fn said(body: &str) -> Option<Said> {
    let value: Value = serde_json::from_str(body).ok()?;
    let value = match value {
        // Google's compatible API answers a list.
        Value::Array(list) => list.into_iter().next()?,
        value => value,
    };
    let error = match value.get("error") {
        Some(error) if !error.is_null() => error,
        _ => &value,
    };
    let message = match error {
        Value::String(text) => text.clone(),
        error => ["message", "detail", "msg", "error"].iter().find_map(|name| match error.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        })?,
    };
    // OpenRouter says behind "Provider returned error" what the provider said.
    let inner = error.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(Value::as_str);
    let message = match inner {
        Some(raw) => format!("{message}: {}", excerpt(raw)),
        None => message,
    };
    let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(Said {
        message: excerpt(&message),
        kind: format!("{} {}", word("type"), word("code")),
    })
}

fn kind_of(status: u16, kind: &str, message: &str) -> ModelErrorKind {
    use ModelErrorKind as Kind;
    let lower = message.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if matches!(status, 400 | 413 | 422 | 500) && (kind.contains("context_length") || kind.contains("exceed_context_size") || any(TOO_LONG)) {
        return Kind::TooLong;
    }
    let broke = kind.contains("insufficient_quota") || kind.contains("billing") || any(&["credit balance is too low", "insufficient balance"]);
    match status {
        402 => Kind::Billing,
        400 | 403 | 429 if broke => Kind::Billing,
        401 | 403 => Kind::Authentication,
        429 => Kind::RateLimit,
        503 | 529 => Kind::Overloaded,
        413 => Kind::TooLong,
        408 => Kind::Timeout,
        409 | 425 => Kind::Server,
        500.. => Kind::Server,
        _ => Kind::BadRequest,
    }
}

/// What APIs say when the conversation is too long for the model.
const TOO_LONG: &[&str] = &[
    // OpenAI, vLLM, many others.
    "maximum context length",
    "context_length_exceeded",
    // Anthropic.
    "prompt is too long",
    "exceed context limit",
    // llama.cpp.
    "exceeds the available context size",
    // Google.
    "exceeds the maximum number of tokens",
    // Alibaba.
    "range of input length should be",
    // Moonshot, xAI, Groq, Bedrock, Mistral, OpenRouter, LM Studio.
    "exceeded model token limit",
    "maximum prompt length",
    "reduce the length of the messages",
    "input is too long",
    "too large for model with",
    "exceeds the context window",
    "context window exceeds",
    "exceeds the limit of",
    "greater than the context length",
    "context length exceeded",
];

const fn reason(status: u16) -> &'static str {
    match status {
        300..400 => " (a redirect that is not followed)",
        404 => " (not found: is the base URL right?)",
        502 => " (bad gateway)",
        503 => " (unavailable)",
        504 => " (the gateway waited too long)",
        _ => "",
    }
}

/// The beginning of a text on one line, without the tags of HTML.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 500;
    let mut plain = String::new();
    let html = text.trim_start().get(..5).is_some_and(|start| {
        let start = start.to_ascii_lowercase();
        ["<!", "<?xml", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
    });
    let mut in_tag = false;
    for c in text.chars() {
        match c {
            '<' if html => in_tag = true,
            '>' if html && in_tag => {
                in_tag = false;
                plain.push(' ');
            }
            _ if in_tag => {}
            c => plain.push(c),
        }
        if plain.len() > MOST * 4 {
            break;
        }
    }
    let mut line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() > MOST {
        let end = (0..=MOST).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        line.truncate(end);
        line.push('…');
    }
    line
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// How long the API asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = header(headers, "retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let text = header(headers, "retry-after").map(str::trim);
    let seconds = millis
        .map(|millis| millis / 1000.0)
        .or_else(|| text.and_then(|text| text.parse::<f64>().ok()));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).ok();
    }
    let at = httpdate(text?)?;
    Some(at.duration_since(now).unwrap_or_default())
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`.
fn httpdate(text: &str) -> Option<SystemTime> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let month = MONTHS.find(words.next()?)? as i64 / 3 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 1970 in the Gregorian calendar; years begin in March.
    let y = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + day_of_year - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.try_into().ok()?))
}

/// What the server says of trying again, whatever the status: `x-should-retry`.
pub(super) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match header(headers, "x-should-retry")? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How a failure begins that no second attempt will mend.
pub(super) const NO_TLS: &str = "no TLS connection";

/// What TLS says when there is none to be had.
const TLS: &[&str] = &[
    "certificate",
    "corrupt message",
    "HandshakeFailure",
    "handshake",
    "ProtocolVersion",
    "InvalidContentType",
];

fn is_refused(error: &reqwest::Error) -> bool {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
        let refused = cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused);
        if refused {
            return true;
        }
    }
    false
}

/// A failure of the connection in one sentence. No URL: it may hold a key.
pub(super) fn of_transport(error: reqwest::Error, host: &str) -> ModelError {
    let error = error.without_url();
    let kind = match error.is_timeout() {
        true => ModelErrorKind::Timeout,
        false if is_refused(&error) => ModelErrorKind::Refused,
        false => ModelErrorKind::Connection,
    };
    // The innermost cause is the one that tells.
    let mut cause: &dyn std::error::Error = &error;
    let mut causes = vec![cause.to_string()];
    while let Some(inner) = cause.source() {
        cause = inner;
        causes.push(cause.to_string());
    }
    let last = causes.pop().unwrap_or_default();
    let tls = causes.iter().chain([&last]).any(|cause| TLS.iter().any(|words| cause.contains(words)));
    let message = match (error.is_connect(), error.is_builder()) {
        _ if tls && error.is_connect() => format!("{NO_TLS} to {host}: {last}"),
        (_, true) => return ModelError::new(ModelErrorKind::BadRequest, format!("the request cannot be built: {last}")),
        (true, _) if error.is_timeout() => format!("no connection to {host} in time"),
        (true, _) => format!("no connection to {host}: {last}"),
        _ => format!("the connection to {host} failed: {last}"),
    };
    ModelError::new(kind, message)
}
