//! Pages as text.

use encoding_rs::{Encoding, UTF_8};
use reqwest::Url;

use super::html;

/// How far into a page its charset is looked for.
const HEAD: usize = 1024;

/// Whether a type is one of text. A page without a type is taken for text.
pub(super) fn is_text(kind: &str) -> bool {
    let kind = essence(kind);
    kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || kind.ends_with("+yaml")
        || matches!(
            kind.as_str(),
            "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/x-javascript"
                | "application/ecmascript"
                | "application/yaml"
                | "application/x-yaml"
                | "application/toml"
                | "application/x-ndjson"
                | "application/jsonl"
                | "application/x-sh"
                | "application/sql"
                | "application/graphql"
                | "application/x-tex"
        )
}

/// A type without its parameters.
fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What a page says. Links are told from `base`.
pub(super) fn readable(bytes: &[u8], kind: &str, base: Option<&Url>) -> String {
    let essence = essence(kind);
    let looks_like_html = || {
        let head = bytes.trim_ascii_start();
        [&b"<!doctype html"[..], b"<html"]
            .iter()
            .any(|mark| head.len() >= mark.len() && head[..mark.len()].eq_ignore_ascii_case(mark))
    };
    let html = matches!(essence.as_str(), "text/html" | "application/xhtml+xml") || (essence.is_empty() && looks_like_html());
    let said = parameter(kind, "charset").or_else(|| html.then(|| declared(bytes)).flatten());
    let encoding = said.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    // A byte order mark counts more than what is said.
    let (text, _, _) = encoding.decode(bytes);
    if html { html::text(&text, base) } else { text.into_owned() }
}

/// A parameter of a type.
fn parameter(kind: &str, name: &str) -> Option<String> {
    let mut parameters = kind.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, value) = parameters.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// The charset that a page of HTML declares: `<meta charset=…>` or `content="…; charset=…"`.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let (_, behind) = head.split_once("charset=")?;
    let label: String = behind
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || "-_:.".contains(*letter))
        .collect();
    Some(label).filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable(bytes: &[u8], kind: &str) -> String {
        super::readable(bytes, kind, None)
    }

    #[test]
    fn html_is_known_by_its_type_or_its_beginning() {
        for (kind, told) in [
            ("text/html; charset=utf-8", "# x"),
            ("application/xhtml+xml", "# x"),
            ("text/plain", "<html><h1>x</h1>"),
            ("", "# x"),
        ] {
            assert_eq!(readable(b"<html><h1>x</h1>", kind), told, "{kind}");
        }
        assert_eq!(readable(b"<b>x</b>", ""), "<b>x</b>");
    }

    #[test]
    fn charsets_are_heeded() {
        assert_eq!(readable(b"gr\xfc\xdfe", "text/plain; charset=\"ISO-8859-1\""), "grüße");
        assert_eq!(readable(b"<meta charset=windows-1252><p>gr\xfc\xdfe", "text/html"), "grüße");
        assert_eq!(readable(b"\xef\xbb\xbfa", "text/plain; charset=latin1"), "a");
        assert_eq!(readable(b"\xff\xfea\0", "text/plain"), "a");
        assert_eq!(readable(b"a\xffb", "text/plain; charset=nonsense"), "a\u{fffd}b");
    }

    #[test]
    fn types_of_text_are_known() {
        for kind in [
            "text/html; charset=utf-8",
            "TEXT/plain",
            "application/json",
            "application/ld+json",
            "image/svg+xml",
            "",
        ] {
            assert!(is_text(kind), "{kind}");
        }
        for kind in ["image/png", "application/pdf", "application/octet-stream", "video/mp4", "application/zip"] {
            assert!(!is_text(kind), "{kind}");
        }
    }
}
