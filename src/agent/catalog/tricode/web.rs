//! `fetch_url` and `web_search`

use std::time::Duration;

use serde_json::Value;

use super::args::{given, int, seconds, string, text};
use crate::agent::tool::{Cx, Given};
use crate::agent::tools::fetch::{FetchError, Fetched, Limits, Policy, fetch as get};

/// How long a page may take if the model does not say, and at most: seconds.
const TIMEOUT: f64 = 10.0;
const LONGEST: f64 = 120.0;

/// The largest page, in bytes.
const MOST: usize = 5 << 20;

pub(super) async fn fetch(input: &Value, cx: &Cx<'_>) -> Given {
    let url = match text(input, "url") {
        Ok(url) => url.trim(),
        Err(wrong) => return wrong,
    };
    let failed = |why: String| Given::error(format!("Failed to fetch URL: {why}"));
    let time = match seconds(input, "timeout", TIMEOUT) {
        Ok(time) => time.clamp(0.0, LONGEST),
        Err(why) => return failed(why),
    };
    let Some((_, rest)) = url.split_once("://") else {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        return Given::error(FetchError::Scheme(scheme.to_owned()).to_string());
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let policy = Policy {
        limits: Limits {
            bytes: MOST,
            time: Duration::from_secs_f64(time),
        },
        ..Policy::new(Vec::new())
    };
    let fetched = tokio::select! {
        fetched = get(url, &policy) => fetched,
        () = cx.cancel.cancelled() => return failed("cancelled".to_owned()),
    };
    match fetched {
        Ok(Fetched::Page(page)) if page.status >= 400 => Given::error(format!("HTTP error: {} {}", page.status, page.reason)),
        Ok(Fetched::Page(page)) if page.cut => Given::error(format!("Content exceeded size limit during download (max: {MOST} bytes)")),
        Ok(Fetched::Page(page)) => match page.text.trim() {
            "" => Given::error("Website returned no readable content (possibly JavaScript-rendered SPA or empty page)"),
            text => Given::text(text),
        },
        Ok(Fetched::Elsewhere { to, status, .. }) => failed(format!("the page sends to {to} ({status}); fetch that address if it is what you want")),
        Err(FetchError::Private { .. }) => Given::error(format!("Access to private IP addresses is forbidden: {host}")),
        Err(FetchError::TimedOut(_)) => {
            let asked = given(input, "timeout").map_or_else(|| "10".to_owned(), string);
            Given::error(format!("Request timed out after {asked} seconds"))
        }
        Err(why @ (FetchError::Connection(_) | FetchError::Lookup { .. })) => Given::error(format!("Connection error: {why}")),
        Err(why @ (FetchError::Scheme(_) | FetchError::Url(_))) => Given::error(why.to_string()),
        Err(other) => failed(other.to_string()),
    }
}

pub(super) fn search(input: &Value) -> Given {
    if let Err(wrong) = text(input, "query") {
        return wrong;
    }
    if given(input, "max_results").is_some_and(|most| int(most).is_ok_and(|most| most < 1)) {
        return Given::error("max_results must be at least 1");
    }
    Given::error("Search failed: no search engine is configured")
}
