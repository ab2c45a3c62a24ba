//! What stands around the rows of a page: its style, its scripts, its policy.

use std::fmt::Write as _;

use super::markup::put;

/// How pages look.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What a page does whose log still grows.
const LIVE: &str = include_str!("live.js");
/// The digests of these, which the page's policy names: `sha256` in base64.
const STYLE_HASH: &str = include_str!("page.css.sha256");
const SCRIPT_HASH: &str = include_str!("page.js.sha256");
const LIVE_HASH: &str = include_str!("live.js.sha256");

/// What a page needs that a server gives, not a file.
#[derive(Clone, Debug)]
pub struct Served {
    /// How its log was when it was read.
    pub seen: String,
    /// What is said from now on is put behind what is there.
    pub live: bool,
    /// Where the list of sessions is.
    pub home: &'static str,
}

/// What a page may do: nothing but what its own script does. A page that is served may ask its server what is new.
pub fn policy(served: bool) -> String {
    let (style, script) = (STYLE_HASH.trim_end(), SCRIPT_HASH.trim_end());
    let more = if served {
        format!(" 'sha256-{}'; connect-src 'self'", LIVE_HASH.trim_end())
    } else {
        String::new()
    };
    format!("default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'{more}; base-uri 'none'; form-action 'none'")
}

/// A page up to its main part.
pub(super) fn frame(title: &str, class: &str, bar: &str, served: Option<&Served>) -> String {
    let policy = policy(served.is_some());
    let mut more = String::new();
    let mut bar = bar.to_owned();
    if let Some(served) = served {
        more.push_str("<link rel=\"icon\" href=\"data:,\">\n");
        bar = bar.replacen(
            "<header class=\"bar\">\n",
            &format!(
                "<header class=\"bar\">\n<nav aria-label=\"Pages\"><a href=\"{}\">Sessions</a></nav>\n<p id=\"news\" role=\"status\"></p>\n",
                served.home
            ),
            1,
        );
        if served.live {
            // It looks at the page before anything else does.
            put!(
                more,
                "<meta name=\"agentglot-seen\" content=\"{}\">\n<script>{LIVE}</script>\n",
                served.seen
            );
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n{more}<script>{SCRIPT}</script>\n</head>\n<body{class}>\n{bar}<main id=\"main\" tabindex=\"-1\">\n"
    )
}

/// What a reader does something with: it stands above the session, and means nothing without the script.
pub(super) const BAR: &str = include_str!("bar.html");

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_policy_names_what_stands_on_the_page() {
        let mut wrong = Vec::new();
        let all = [
            ("page.css", STYLE, STYLE_HASH),
            ("page.js", SCRIPT, SCRIPT_HASH),
            ("live.js", LIVE, LIVE_HASH),
        ];
        for (name, text, named) in all {
            // The end of an element would end it anywhere.
            assert!(!text.contains("</s") && !text.contains("<!--"), "{name}");
            let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text)) + "\n";
            if digest != named {
                if std::env::var_os("BLESS").is_some() {
                    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/show/html").join(format!("{name}.sha256"));
                    std::fs::write(path, digest).unwrap();
                } else {
                    wrong.push(name);
                }
            }
        }
        assert!(wrong.is_empty(), "the digests of {wrong:?} are others (BLESS=1 writes them)");
    }
}
