//! Searches the web with an engine that the user has chosen.
//!
//! Three kinds of answers are understood, whatever the engine: that of Brave's search API (`web.results`), that of SearXNG
//! (`results`, with `format=json` in the address), and a page that people read, whose links to elsewhere are the results. The request is a
//! guarded fetch as any other: the address is checked and pinned, bytes and time are bounded. An engine that the user has named may have any address.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::fetch::{Body, FetchError, Fetched, Limits, Policy, fetch_body, plain};

/// Where is asked if nobody says it, with a key: <https://api-dashboard.search.brave.com/api-reference/web/search/get>.
pub const API: &str = "https://api.search.brave.com/res/v1/web/search";

/// The same without a key: the page for people.
pub const PAGE: &str = "https://search.brave.com/search?source=web";

/// The header in which Brave's API wants the key.
const KEY: &str = "x-subscription-token";

/// The most results of one request, as Brave's API has it.
pub const MOST: usize = 20;

/// How much of an answer is read, and how long it may take.
const LIMITS: Limits = Limits {
    bytes: 4 << 20,
    time: Duration::from_secs(15),
};

/// How much of a result's text is kept, in characters.
const TEXT: usize = 500;

/// A search engine.
#[derive(Clone, Debug)]
pub struct Engine {
    url: Url,
    key: Option<HeaderValue>,
    policy: Policy,
}

impl Engine {
    /// The engine of an address, or else the usual one. Variables: `AGENTGLOT_SEARCH_KEY` is sent to whichever it is, `BRAVE_API_KEY` to the
    /// usual one only.
    ///
    /// # Errors
    /// When it is no address or the key cannot be sent.
    pub fn new(address: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let key = set("AGENTGLOT_SEARCH_KEY").or_else(|| set("BRAVE_API_KEY").filter(|_| address.is_none()));
        let usual = if key.is_some() { API } else { PAGE };
        let host_of = |url: &Url| Some(url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?.to_owned());
        let url = Url::parse(address.unwrap_or(usual)).ok();
        let (url, host) = url.and_then(|url| host_of(&url).map(|host| (url, host))).ok_or_else(|| {
            let address = address.unwrap_or(usual);
            format!("{address} is no address of a search engine: http:// or https:// and a host are wanted")
        })?;
        let header = |key: String| {
            let mut header = HeaderValue::from_str(key.trim()).map_err(|_| "the key of the search engine cannot be sent in a header".to_owned())?;
            header.set_sensitive(true);
            Ok::<_, String>(header)
        };
        Ok(Self {
            url,
            key: key.map(header).transpose()?,
            policy: Policy {
                limits: LIMITS,
                ..Policy::new(if address.is_some() { vec![host] } else { Vec::new() })
            },
        })
    }

    /// The address that is asked.
    fn ask(&self, words: &str, most: usize) -> Url {
        let mut url = self.url.clone();
        let own: Vec<(String, String)> = self.url.query_pairs().map(|(name, value)| (name.into(), value.into())).collect();
        url.query_pairs_mut().clear().append_pair("q", words).extend_pairs(own);
        if self.key.is_some() {
            url.query_pairs_mut().append_pair("count", &most.clamp(1, MOST).to_string());
        }
        url
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The words.
    pub words: &'a str,
    /// At most so many results.
    pub most: usize,
    /// Only from these hosts and what is below them; all if there are none.
    pub only: &'a [String],
    /// Not from these.
    pub without: &'a [String],
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// What the page is called.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Some words of it; may be empty.
    pub text: String,
}

/// Why there are no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The engine was not reached.
    #[error("the search engine was not reached: {why}")]
    Fetch {
        /// What was asked; holds no key.
        url: String,
        /// Why.
        why: FetchError,
    },
    /// It wants to be asked less often.
    #[error("the search engine wants to be asked less often (429)")]
    TooOften,
    /// It wants a key, or another one.
    #[error("the search engine wants a key, or another one ({0}): AGENTGLOT_SEARCH_KEY")]
    Key(u16),
    /// It reports an error.
    #[error("the search engine answered {0}")]
    Status(u16),
    /// Its answer cannot be understood.
    #[error("the answer of the search engine cannot be understood: {0}")]
    Answer(String),
}

/// Searches. Dropping the future ends the request.
///
/// # Errors
/// When the engine is not reached, refuses or says something that is not understood.
pub async fn search(engine: &Engine, asked: Asked<'_>) -> Result<Vec<Hit>, SearchError> {
    let url = engine.ask(&with_sites(asked), asked.most);
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json, text/html;q=0.9"))]);
    if let Some(key) = &engine.key {
        headers.insert(HeaderName::from_static(KEY), key.clone());
    }
    let not_reached = |why: FetchError| SearchError::Fetch { url: url.to_string(), why };
    let body = match fetch_body(url.as_str(), &headers, &engine.policy).await.map_err(not_reached)? {
        Fetched::Page(body) => body,
        Fetched::Elsewhere { to, .. } => return Err(SearchError::Answer(format!("it sends to {to}"))),
    };
    match body.status.as_u16() {
        200..300 => {}
        429 => return Err(SearchError::TooOften),
        status @ (401 | 403) => return Err(SearchError::Key(status)),
        // Brave's API says this of a key that it does not know.
        422 if engine.key.is_some() => return Err(SearchError::Key(422)),
        status => return Err(SearchError::Status(status)),
    }
    let hits = tokio::task::spawn_blocking(move || read(&body)).await;
    let mut hits = hits.unwrap_or_else(|error| Err(SearchError::Answer(error.to_string())))?;
    let is_of = |hit: &Hit, hosts: &[String]| hosts.iter().any(|host| is_below(&hit.url, host));
    hits.retain(|hit| (asked.only.is_empty() || is_of(hit, asked.only)) && !is_of(hit, asked.without));
    hits.truncate(asked.most.clamp(1, MOST));
    Ok(hits)
}

/// The words with what engines understand of hosts. What they make of it is checked all the same.
fn with_sites(asked: Asked<'_>) -> String {
    let mut words = asked.words.to_owned();
    let sites: Vec<String> = asked.only.iter().map(|host| format!("site:{host}")).collect();
    match sites.as_slice() {
        [] => {}
        [site] => words.push_str(&format!(" {site}")),
        sites => words.push_str(&format!(" ({})", sites.join(" OR "))),
    }
    for host in asked.without {
        words.push_str(&format!(" -site:{host}"));
    }
    words
}

fn host(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.host_str()?.to_ascii_lowercase())
}

fn is_below(url: &str, above: &str) -> bool {
    let above = above.trim().trim_start_matches("*.").to_ascii_lowercase();
    host(url).is_some_and(|host| host == above || host.strip_suffix(&above).is_some_and(|below| below.ends_with('.')))
}

fn read(body: &Body) -> Result<Vec<Hit>, SearchError> {
    if body.cut {
        return Err(SearchError::Answer(format!("it is longer than {} bytes", LIMITS.bytes)));
    }
    if body.kind.contains("json") || body.bytes.trim_ascii_start().starts_with(b"{") {
        let answer: Value = serde_json::from_slice(&body.bytes).map_err(|error| SearchError::Answer(error.to_string()))?;
        return listed(&answer);
    }
    Ok(linked(&body.text(), &host(body.url.as_str()).unwrap_or_default()))
}

/// The results of Brave's API or of SearXNG.
fn listed(answer: &Value) -> Result<Vec<Hit>, SearchError> {
    let found = answer.get("web").unwrap_or(answer).get("results").and_then(Value::as_array);
    let Some(found) = found else {
        // Brave leaves `web` out where it has found nothing.
        return match answer.get("type").and_then(Value::as_str) {
            Some("search") => Ok(Vec::new()),
            _ => Err(SearchError::Answer("there are no results in it".to_owned())),
        };
    };
    let text = |one: &Value, names: &[&str]| {
        let text = names.iter().find_map(|name| one.get(name)?.as_str()).unwrap_or_default();
        short(&if text.contains(['<', '&']) { plain(text) } else { text.to_owned() })
    };
    let hit = |one: &Value| {
        let url = one.get("url").and_then(Value::as_str).filter(|url| host(url).is_some())?;
        Some(Hit {
            title: text(one, &["title"]),
            url: url.to_owned(),
            text: text(one, &["description", "content"]),
        })
    };
    Ok(found.iter().filter_map(hit).collect())
}

/// The links of a page that lead elsewhere, each with the text behind it.
fn linked(page: &str, own: &str) -> Vec<Hit> {
    let mut found: Vec<(usize, usize, Hit)> = Vec::new();
    let mut known = HashSet::new();
    let mut at = 0;
    while let Some(middle) = page[at..].find("](http").map(|middle| at + middle) {
        let behind = middle + 2;
        let Some(end) = page[behind..].find(')').map(|end| behind + end) else {
            break;
        };
        let url = &page[behind..end];
        if let Some(start) = opening(&page[at..middle]).map(|start| at + start) {
            let title = title(&page[start + 1..middle]);
            if !title.is_empty() && !is_related(url, own) && known.insert(url.to_owned()) {
                let hit = Hit {
                    title,
                    url: url.to_owned(),
                    text: String::new(),
                };
                found.push((start, end + 1, hit));
            }
        }
        at = end + 1;
    }
    let starts: Vec<usize> = found.iter().skip(1).map(|(start, ..)| *start).chain([page.len()]).collect();
    let with_text = |((_, end, mut hit), next): ((usize, usize, Hit), usize)| {
        hit.text = short(&literal(&page[end..next]));
        hit
    };
    found.into_iter().zip(starts).map(with_text).collect()
}

/// Where the bracket opens that closes at the end of a text.
fn opening(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b']' => open += 1,
            b'[' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// The text of a link, without the pictures in it and what makes it a heading.
fn title(text: &str) -> String {
    let mut title = text.to_owned();
    while let Some(start) = title.find("![") {
        let end = title[start..].find(']').map_or(title.len(), |end| start + end + 1);
        title.replace_range(start..end, " ");
    }
    let words = title
        .split_whitespace()
        .map(|word| word.trim_start_matches('#'))
        .filter(|word| !word.is_empty());
    short(&literal(&words.collect::<Vec<_>>().join(" ")))
}

/// Markdown's text without the backslashes before what would mean something.
fn literal(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut literal = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let escapes = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        literal.push(if escapes { letters.next().unwrap_or(letter) } else { letter });
    }
    literal
}

/// Whether an address belongs to the engine itself: `brave.com` to `search.brave.com`.
fn is_related(url: &str, own: &str) -> bool {
    let Some(host) = host(url) else { return true };
    let mut dots = own.rmatch_indices('.').map(|(at, _)| at + 1);
    let family = dots.nth(1).map_or(own, |at| &own[at..]);
    host == family || host.strip_suffix(family).is_some_and(|below| below.ends_with('.'))
}

/// In one line, and not too long.
fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
#[path = "web_search/tests.rs"]
pub(crate) mod tests;
