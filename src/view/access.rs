//! Who may come in: whoever knows the token, by a browser that was sent to this machine, to read.
//!
//! The token is the first part of each path. A cookie would go to every other server on this machine (cookies know no ports), and would be
//! sent along by other sites' pages; a path is sent by nobody who does not know it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

/// What a request must bring.
#[derive(Debug)]
pub(super) struct Access {
    token: String,
    /// The names that this server goes by, with its port.
    hosts: [String; 2],
}

/// The policy of pages that bring files of ours along.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

impl Access {
    /// With a token that nobody can guess.
    pub(super) fn new(port: u16) -> Self {
        Self {
            // 122 bits of the system's randomness.
            token: uuid::Uuid::new_v4().simple().to_string(),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        }
    }

    /// The address that leads in.
    pub(super) fn address(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// Why a request is refused.
    fn refuses(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "Pages are read here, nothing else."));
        }
        let headers = request.headers();
        let is_own = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        // Another name that leads to this machine is another site's (DNS rebinding).
        let named = request.uri().authority().is_none_or(|authority| is_own(authority.as_str()));
        if !named || !only(headers, &header::HOST).is_some_and(is_own) {
            return Some((StatusCode::FORBIDDEN, "This server does not go by that name."));
        }
        if headers.contains_key(header::ORIGIN) {
            let own = only(headers, &header::ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !own.is_some_and(is_own) {
                return Some((StatusCode::FORBIDDEN, "Another site's pages get nothing here."));
            }
        }
        let about = |name: &'static str| headers.get(name).map(HeaderValue::as_bytes);
        let is_opened = about("sec-fetch-mode") == Some(b"navigate") && about("sec-fetch-dest").is_none_or(|to| to == b"document");
        if matches!(about("sec-fetch-site"), Some(site) if site != b"same-origin" && site != b"none") && !is_opened {
            return Some((StatusCode::FORBIDDEN, "Another site's pages get nothing here."));
        }
        let token = request.uri().path().split('/').nth(1).unwrap_or_default();
        if !same(token.as_bytes(), self.token.as_bytes()) {
            return Some((
                StatusCode::FORBIDDEN,
                "Open the address that `agentglot view` has written: the token in it is missing here, or an old one.",
            ));
        }
        None
    }
}

/// The value of a header that stands there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether two texts are the same; how long it takes says nothing about where they are not.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Stands before everything else.
pub(super) async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let mut response = match access.refuses(&request) {
        None => next.run(request).await,
        Some((status, why)) => {
            let mut refused = Response::new(Body::from(format!("{why}\n")));
            *refused.status_mut() = status;
            refused
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            if status == StatusCode::METHOD_NOT_ALLOWED {
                refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            refused
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page with a stricter one has said so.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(access: &Access, method: Method, path: &str, headers: &[(&str, &str)]) -> Option<StatusCode> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        access.refuses(&request.body(Body::empty()).unwrap()).map(|(status, _)| status)
    }

    #[test]
    fn who_comes_in_knows_the_token_and_was_sent_here() {
        let access = Access::new(80);
        let path = format!("/{}/", access.token);
        let host = ("host", "127.0.0.1:80");
        let get = |path: &str, headers: &[(&str, &str)]| refused(&access, Method::GET, path, headers);
        assert_eq!(get(&path, &[host]), None);
        assert_eq!(get(&path, &[("host", "LOCALHOST:80")]), None);
        assert_eq!(get(&format!("http://127.0.0.1:80{path}"), &[host]), None);
        assert_eq!(get(&path, &[host, ("origin", "http://localhost:80")]), None);
        assert_eq!(get(&path, &[host, ("sec-fetch-site", "same-origin")]), None);
        // A link in another site's page, or in a mail.
        assert_eq!(
            get(&path, &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]),
            None
        );
        let no = Some(StatusCode::FORBIDDEN);
        for headers in [
            &[][..],
            &[("host", "evil.example:80")],
            &[("host", "127.0.0.1")],
            &[("host", "127.0.0.1:81")],
            &[("host", "127.0.0.1:80.evil.example")],
            &[host, host],
            &[host, ("host", "evil.example:80")],
            &[host, ("origin", "http://evil.example")],
            &[host, ("origin", "https://127.0.0.1:80")],
            &[host, ("origin", "http://127.0.0.1:81")],
            &[host, ("origin", "null")],
            &[host, ("sec-fetch-site", "cross-site")],
            &[host, ("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
            &[
                host,
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "iframe"),
            ],
        ] {
            assert_eq!(get(&path, headers), no, "{headers:?}");
        }
        assert_eq!(get(&format!("http://evil.example{path}"), &[host]), no);
        for path in [
            "/",
            "//",
            "/x/",
            "/../",
            &path[..path.len() - 2],
            &format!("{}0/", &path[..path.len() - 1]),
            &format!("/x{path}"),
        ] {
            assert_eq!(get(path, &[host]), no, "{path}");
        }
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH, Method::TRACE] {
            assert_eq!(refused(&access, method, &path, &[host]), Some(StatusCode::METHOD_NOT_ALLOWED));
        }
    }

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let [one, other] = [Access::new(1), Access::new(1)];
        assert_ne!(one.token, other.token);
        assert!(one.token.len() == 32 && one.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
