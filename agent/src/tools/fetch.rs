//! Fetches a page of the web as text.
//!
//! Only `http` and `https`; only public addresses, unless the user has named a host that may be another. A name is looked up once: the
//! addresses that were checked are the ones that are connected to, so what the name says a moment later does not count, and each redirect
//! is checked anew. Redirects are followed within a host; one to another host is told and not followed. No proxy is used, for a proxy would
//! look names up itself.
//!
//! At most [`Limits::bytes`] of a page are read, whatever it is packed in, and the whole takes at most [`Limits::time`].

mod address;
mod html;
mod text;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Response, StatusCode, Url};

pub use address::{Refused, judge};

/// How many redirects are followed.
const REDIRECTS: usize = 10;

/// The longest address that is fetched, in bytes.
const LONGEST_URL: usize = 2000;

/// What may be fetched, and how much of it.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Hosts whose addresses may be any, such as `localhost` or `wiki.company`; `*.company` is all below it.
    pub hosts: Vec<String>,
    /// Bounds.
    pub limits: Limits,
    /// Who looks names up.
    pub lookup: Arc<dyn Lookup>,
}

impl Policy {
    /// Public addresses, and these hosts whatever their addresses.
    pub fn new(hosts: Vec<String>) -> Self {
        Self {
            hosts,
            limits: Limits::default(),
            lookup: Arc::new(System),
        }
    }

    fn names(&self, host: &str) -> bool {
        self.hosts.iter().any(|named| match named.strip_prefix("*.") {
            Some(above) => host.len() > above.len() && host.to_ascii_lowercase().ends_with(&format!(".{}", above.to_ascii_lowercase())),
            None => named.eq_ignore_ascii_case(host),
        })
    }
}

/// Bounds of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many bytes of the page are read, unpacked.
    pub bytes: usize,
    /// How long the whole may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 10 << 20,
            time: Duration::from_secs(60),
        }
    }
}

/// Looks the addresses of names up.
#[async_trait]
pub trait Lookup: fmt::Debug + Send + Sync {
    /// The addresses of a name.
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// As the system does it.
#[derive(Clone, Copy, Debug)]
pub struct System;

#[async_trait]
impl Lookup for System {
    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}

/// What a fetch gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched<P = Page> {
    /// A page.
    Page(P),
    /// A redirect to another host, which is the caller's to follow.
    Elsewhere {
        /// The address that sends there.
        from: String,
        /// Where it sends.
        to: String,
        /// The status: 301, 302, 303, 307 or 308.
        status: u16,
    },
}

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its address, after redirects.
    pub url: String,
    /// The status. Pages that report an error are pages too.
    pub status: u16,
    /// What the status is called: `OK`, `Not Found`.
    pub reason: String,
    /// The type that the server gave.
    pub kind: String,
    /// How many bytes were read.
    pub bytes: usize,
    /// There was more than [`Limits::bytes`].
    pub cut: bool,
    /// HTML as readable text, other text as it is.
    pub text: String,
}

/// A page as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its address, after redirects.
    pub url: Url,
    /// The status.
    pub status: StatusCode,
    /// The type that the server gave.
    pub kind: String,
    /// What was read.
    pub bytes: Vec<u8>,
    /// There was more than [`Limits::bytes`].
    pub cut: bool,
}

impl Body {
    /// HTML as readable text, with links in the way of Markdown; other text as it is.
    pub fn text(&self) -> String {
        text::readable(&self.bytes, &self.kind, Some(&self.url))
    }
}

/// The words of a piece of HTML.
pub fn plain(html: &str) -> String {
    html::bare(html)
}

/// Why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// It is no address.
    #[error("Invalid URL: {0}")]
    Url(String),
    /// Neither `http` nor `https`.
    #[error("Only HTTP/HTTPS protocols are supported, got: {0}")]
    Scheme(String),
    /// A name and a password stand in the address: they are never sent.
    #[error("Invalid URL: a user name or a password in it is not sent; leave it out")]
    Credentials,
    /// The address is not public.
    #[error("Access to {kind} addresses is forbidden: {address}")]
    Private {
        /// `private IP`, `loopback` …
        kind: Refused,
        /// Which.
        address: IpAddr,
    },
    /// The name has no address.
    #[error("{host} cannot be looked up: {why}")]
    Lookup {
        /// The name.
        host: String,
        /// What the system says.
        why: String,
    },
    /// It took too long.
    #[error("The page did not come within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The connection failed.
    #[error("The page cannot be fetched: {0}")]
    Connection(String),
    /// One redirect followed another.
    #[error("The page sends elsewhere more than {REDIRECTS} times")]
    Redirects,
    /// It is no text.
    #[error("The page is of type {0}, which is no text")]
    Binary(String),
}

/// Fetches a page. Dropping the future ends the connection.
///
/// # Errors
/// When the address may not be fetched or cannot, or what comes is no text.
pub async fn fetch(url: &str, policy: &Policy) -> Result<Fetched, FetchError> {
    const PAGES: &str = "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5";
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(PAGES))]);
    let time = policy.limits.time;
    let page = async {
        match follow(url, &headers, policy).await? {
            Fetched::Page(body) => page(body).await.map(Fetched::Page),
            Fetched::Elsewhere { from, to, status } => Ok(Fetched::Elsewhere { from, to, status }),
        }
    };
    tokio::time::timeout(time, page).await.unwrap_or(Err(FetchError::TimedOut(time)))
}

/// The same with headers of the caller's, and the page as it comes. The headers go to the host of the address alone.
///
/// # Errors
/// The same.
pub async fn fetch_body(url: &str, headers: &HeaderMap, policy: &Policy) -> Result<Fetched<Body>, FetchError> {
    let time = policy.limits.time;
    tokio::time::timeout(time, follow(url, headers, policy))
        .await
        .unwrap_or(Err(FetchError::TimedOut(time)))
}

async fn follow(url: &str, headers: &HeaderMap, policy: &Policy) -> Result<Fetched<Body>, FetchError> {
    if url.len() > LONGEST_URL {
        return Err(FetchError::Url(format!("it has more than {LONGEST_URL} bytes")));
    }
    let mut url = Url::parse(url.trim()).map_err(|error| FetchError::Url(error.to_string()))?;
    for _ in 0..=REDIRECTS {
        let response = get(&url, headers, policy).await?;
        let status = response.status();
        let Some(to) = target(&url, &response)? else {
            return body(url, response, policy).await.map(Fetched::Page);
        };
        if !is_same(&url, &to) {
            return Ok(Fetched::Elsewhere {
                from: url.into(),
                to: to.into(),
                status: status.as_u16(),
            });
        }
        url = to;
    }
    Err(FetchError::Redirects)
}

/// One request, to an address that was checked.
async fn get(url: &Url, headers: &HeaderMap, policy: &Policy) -> Result<Response, FetchError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(FetchError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FetchError::Credentials);
    }
    let host = url.host_str().ok_or_else(|| FetchError::Url("there is no host in it".to_owned()))?;
    let port = url.port_or_known_default().unwrap_or(80);
    let named = policy.names(host);
    let mut client = crate::http::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .pool_max_idle_per_host(0);
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let addresses = match literal {
        Some(address) => vec![SocketAddr::new(address, port)],
        None => {
            let lookup = |why: String| FetchError::Lookup { host: host.to_owned(), why };
            let found = policy.lookup.lookup(host, port).await.map_err(|error| lookup(error.to_string()))?;
            if found.is_empty() {
                return Err(lookup("it has no address".to_owned()));
            }
            found
        }
    };
    if !named {
        // One bad address among good ones is enough: which one is taken is not ours to say.
        if let Some((kind, address)) = addresses.iter().find_map(|address| Some((judge(address.ip()).err()?, address.ip()))) {
            return Err(FetchError::Private { kind, address });
        }
    }
    if literal.is_none() {
        client = client.resolve_to_addrs(host, &addresses);
    }
    let client = client.build().map_err(|error| failed(&error))?;
    let request = client.get(url.clone()).headers(headers.clone());
    request.send().await.map_err(|error| failed(&error))
}

/// The innermost reason, without the address: it may hold a secret.
fn failed(error: &(dyn std::error::Error + 'static)) -> FetchError {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    FetchError::Connection(innermost.to_string())
}

/// Where a response sends.
fn target(url: &Url, response: &Response) -> Result<Option<Url>, FetchError> {
    let status = response.status();
    let sends = matches!(
        status,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER | StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| sends) else {
        return Ok(None);
    };
    // What a model is told of a redirect is no longer than what it may ask for.
    if location.len() > LONGEST_URL {
        return Err(FetchError::Url(format!("the page sends to an address of more than {LONGEST_URL} bytes")));
    }
    let location = String::from_utf8_lossy(location.as_bytes());
    url.join(&location)
        .map(Some)
        .map_err(|error| FetchError::Url(format!("the page sends to {location:?}: {error}")))
}

/// Whether two addresses are of one host, `www.` or not; from `https` nothing leads back to `http`.
fn is_same(from: &Url, to: &Url) -> bool {
    let bare = |url: &Url| url.host_str().map(|host| host.strip_prefix("www.").unwrap_or(host).to_owned());
    let ports = from.port() == to.port() && (from.scheme() == to.scheme() || (from.scheme(), to.scheme()) == ("http", "https"));
    bare(from) == bare(to) && ports
}

async fn body(url: Url, response: Response, policy: &Policy) -> Result<Body, FetchError> {
    let status = response.status();
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned())
        .unwrap_or_default();
    if !text::is_text(&kind) {
        return Err(FetchError::Binary(kind));
    }
    let (mut body, mut bytes, mut cut) = (response.bytes_stream(), Vec::new(), false);
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| failed(&error))?;
        let room = policy.limits.bytes - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            cut = true;
            break;
        }
    }
    drop(body);
    if kind.is_empty() && bytes.contains(&0) {
        return Err(FetchError::Binary("application/octet-stream".to_owned()));
    }
    Ok(Body {
        url,
        status,
        kind,
        bytes,
        cut,
    })
}

/// Pages are made readable beside the session: they may be large.
async fn page(body: Body) -> Result<Page, FetchError> {
    let read = tokio::task::spawn_blocking(move || Page {
        text: body.text(),
        url: body.url.into(),
        status: body.status.as_u16(),
        reason: body.status.canonical_reason().unwrap_or_default().to_owned(),
        kind: body.kind,
        bytes: body.bytes.len(),
        cut: body.cut,
    });
    read.await.map_err(|error| FetchError::Connection(error.to_string()))
}

#[cfg(test)]
#[path = "fetch/tests.rs"]
mod tests;
