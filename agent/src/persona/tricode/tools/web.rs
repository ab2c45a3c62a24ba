//! `fetch_url` and `web_search`

use std::time::Duration;

use serde_json::Value;

use super::args::{given, int, repr, seconds, string, text};
use crate::tools::fetch::{FetchError, Fetched, Limits, Policy, fetch as get};
use crate::tools::web_search::{self, Asked, Engine, MOST as MOST_RESULTS, SearchError};
use crate::tools::{Cx, Given};

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

/// So many results, if the model does not say how many.
const RESULTS: usize = 5;

pub(super) async fn search(engine: Option<&Engine>, input: &Value, cx: &Cx<'_>) -> Given {
    let words = match text(input, "query") {
        Ok(words) => words,
        Err(wrong) => return wrong,
    };
    let failed = |why: &dyn std::fmt::Display| Given::error(format!("Search failed: {why}"));
    let most = match given(input, "max_results").map(int) {
        None => RESULTS,
        Some(Ok(most)) => match usize::try_from(most) {
            Ok(most) if most > 0 => most.min(MOST_RESULTS),
            _ => return Given::error("max_results must be at least 1"),
        },
        Some(Err(why)) => return failed(&why),
    };
    let Some(engine) = engine else {
        return failed(&"there is no search engine");
    };
    let asked = Asked {
        words,
        most,
        ..Asked::default()
    };
    let found = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return failed(&"cancelled"),
        found = web_search::search(engine, asked) => found,
    };
    match found {
        Ok(hits) if hits.is_empty() => Given::text("No results found"),
        Ok(hits) => {
            let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
            let entry = |(number, hit): (usize, web_search::Hit)| {
                let (title, text) = (or(&hit.title, "No title"), or(&hit.text, "No description"));
                format!("[{number}] {title}\n    URL: {}\n    {text}\n", hit.url)
            };
            Given::text((1..).zip(hits).map(entry).collect::<Vec<_>>().join("\n"))
        }
        // The program's library says so whatever the reason is.
        Err(SearchError::Fetch {
            url,
            why: FetchError::Lookup { .. },
        }) => {
            let why = format!("error sending request for url ({url}) > error resolving DNS > no connections available");
            failed(&format!("DNSError: DNSError({})", repr(&why.into())))
        }
        Err(other) => failed(&other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::persona::testing::{Room, text as said};
    use crate::tools::web_search::tests::{BRAVE, engine};

    #[tokio::test]
    async fn results_are_numbered() {
        let (engine, heard) = engine("application/json", 200, BRAVE, Some("k")).await;
        let room = Room::new(Vec::new());
        let given = search(Some(&engine), &json!({"query": "a", "max_results": "99"}), &room.cx()).await;
        assert_eq!(
            said(&given),
            "[1] Serde & friends\n    URL: https://serde.rs/\n    A framework for data\n\n[2] Docs\n    URL: https://docs.rs/serde\n    No description\n"
        );
        assert!(heard.lock().unwrap()[0].contains("&count=20 "));
        let one = search(Some(&engine), &json!({"query": "a", "max_results": 1}), &room.cx()).await;
        assert!(!said(&one).contains("[2]"));
        let none = search(Some(&engine), &json!({"query": "a", "max_results": 0}), &room.cx()).await;
        assert_eq!(said(&none), "max_results must be at least 1");
    }

    #[tokio::test]
    async fn a_host_without_an_address_is_told_in_the_words_of_the_program() {
        let engine = Engine::new(Some("https://engine.invalid/search?source=web"), |_| None).unwrap();
        let room = Room::new(Vec::new());
        let given = search(Some(&engine), &json!({"query": "rust serde"}), &room.cx()).await;
        assert_eq!(
            said(&given),
            "Search failed: DNSError: DNSError('error sending request for url (https://engine.invalid/search?q=rust+serde&source=web) > error \
             resolving DNS > no connections available')"
        );
    }
}
