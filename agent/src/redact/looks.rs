//! Secrets that say of themselves what they are: by how they begin, by what stands before them, by the address that they are part of.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::names::{is_plain_name, is_secret_name};
use super::{LONGEST, REDACTED, SHORTEST};

/// How keys begin, and how much has to follow at least.
const KEYS: [(&str, usize); 47] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("whsec_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glrt-", 16),
    ("glptt-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xoxe-", 10),
    ("xoxe.", 10),
    ("xapp-", 10),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("dop_v1_", 30),
    ("SG.", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("r8_", 30),
    ("nvapi-", 20),
    ("pplx-", 20),
    ("tvly-", 16),
    ("dckr_pat_", 16),
    ("shpat_", 20),
    ("sbp_", 20),
    ("lin_api_", 20),
    ("ATATT3", 20),
    ("AGE-SECRET-KEY-", 20),
    ("hvs.", 20),
];

/// Hosts whose addresses are secrets from the path on.
const WEBHOOKS: [&str; 9] = [
    "hooks.slack.com",
    "discord.com/api/webhooks",
    "discordapp.com/api/webhooks",
    "webhook.office.com",
    "outlook.office.com/webhook",
    "hooks.zapier.com",
    "api.telegram.org/bot",
    "maker.ifttt.com/trigger",
    "chat.googleapis.com/v1/spaces",
];

/// What stands in names of secrets.
const NAMES: [&str; 16] = [
    "key",
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "creds",
    "jwt",
    "pwd",
    "pass",
    "dsn",
    "auth",
    "cookie",
    "webhook",
    "sig",
    "headers",
];

/// Where a name is looked for no further back.
const LONGEST_NAME: usize = 128;

/// A private key is no longer.
const LONGEST_PEM: usize = 16 << 10;

#[derive(Clone, Copy)]
enum Sign {
    Key(&'static str, usize),
    Jwt,
    Pem,
    Address,
    Webhook,
    Name,
}

static SIGNS: LazyLock<(AhoCorasick, Vec<Sign>)> = LazyLock::new(|| {
    let mut all: Vec<(&str, Sign)> = KEYS.iter().map(|(text, least)| (*text, Sign::Key(text, *least))).collect();
    all.extend(WEBHOOKS.iter().map(|text| (*text, Sign::Webhook)));
    all.extend(NAMES.iter().map(|text| (*text, Sign::Name)));
    all.extend([
        ("eyJ", Sign::Jwt),
        ("-----BEGIN ", Sign::Pem),
        ("://", Sign::Address),
        (r":\/\/", Sign::Address),
    ]);
    let finder = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(all.iter().map(|(text, _)| *text));
    (
        finder.expect("a short list of short texts"),
        all.into_iter().map(|(_, sign)| sign).collect(),
    )
});

/// The places of all of them, in no order.
pub(super) fn places(bytes: &[u8], places: &mut Vec<(usize, usize)>) {
    let (finder, signs) = &*SIGNS;
    // A name may hold several signs.
    let mut named = 0;
    for found in finder.find_overlapping_iter(bytes) {
        let (start, end) = (found.start(), found.end());
        let place = match signs[found.pattern().as_usize()] {
            Sign::Key(text, least) => (bytes[start..end] == *text.as_bytes()).then(|| key(bytes, start, end, least)).flatten(),
            Sign::Jwt => jwt(bytes, start),
            Sign::Pem => pem(bytes, start),
            Sign::Address => password(bytes, end),
            Sign::Webhook => webhook(bytes, end),
            Sign::Name if end <= named => None,
            Sign::Name => {
                let name = name(bytes, start, end);
                named = name.1;
                places.extend(headers(bytes, name));
                value(bytes, name)
            }
        };
        places.extend(place);
    }
}

/// Whether a value is a secret whatever it is called.
pub(super) fn is_secret(value: &str) -> bool {
    let mut found = Vec::new();
    places(value.as_bytes(), &mut found);
    !found.is_empty() || KEYS.iter().any(|(key, _)| value.starts_with(key) && value.len() > key.len())
}

/// Whether a text looks as if somebody had made it up at random: no word, no path, no name, no code.
pub(super) fn is_random(value: &[u8]) -> bool {
    let odd = |byte: &u8| !byte.is_ascii_graphic() || b"\"'`\\$(){}<>[],;".contains(byte);
    let is_constant = value.contains(&b'_')
        && value
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    value.len() >= SHORTEST
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && !value.iter().any(odd)
        && !value.starts_with(b"/")
        && !value.starts_with(b".")
        && !value.starts_with(b"~")
        && memchr::memmem::find(value, b"://").is_none()
        && !is_constant
}

/// Where a private key that has begun ends in these lines; `None` if it goes on behind them.
pub(super) fn end_of_pem(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(end) = memchr::memmem::find(line, b"-----END ") {
            return Some(at + line.len().min(after_dashes(line, end + 9)));
        }
        // Not part of a key: it was none, or has been cut.
        if !line.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=:,- \t\r\n".contains(byte)) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Whether a private key begins here and does not end here.
pub(super) fn is_open(secret: &[u8]) -> bool {
    secret.starts_with(b"-----BEGIN ") && memchr::memmem::find(secret, b"-----END ").is_none()
}

fn after_dashes(bytes: &[u8], from: usize) -> usize {
    memchr::memmem::find(&bytes[from..], b"-----").map_or(bytes.len(), |at| from + at + 5)
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a word begins here: not inside another one, an escape (`\n`, `\u003d`) before it not counted.
fn begins(bytes: &[u8], at: usize) -> bool {
    match bytes[..at] {
        [.., b'\\', _] => true,
        [.., b'\\', b'u', _, _, _, _] => true,
        [.., b'%', one, two] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit() => true,
        [.., before] => !is_token(before),
        [] => true,
    }
}

fn run(bytes: &[u8], from: usize, is: impl Fn(u8) -> bool) -> usize {
    from + bytes[from..].iter().take(LONGEST).take_while(|byte| is(**byte)).count()
}

fn key(bytes: &[u8], start: usize, body: usize, least: usize) -> Option<(usize, usize)> {
    let dots = bytes[body - 1] == b'.';
    let end = run(bytes, body, |byte| is_token(byte) || dots && byte == b'.');
    (end - body >= least && begins(bytes, start)).then_some((start, end))
}

/// Three parts in base64, the first of them the beginning of an object.
fn jwt(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    if !begins(bytes, start) {
        return None;
    }
    let first = run(bytes, start, is_token);
    let second = run(bytes, (first + 1).min(bytes.len()), is_token);
    let is_one = bytes.get(first) == Some(&b'.') && bytes.get(second) == Some(&b'.') && first - start >= 10 && second - first >= 10;
    is_one.then(|| (start, run(bytes, second + 1, is_token)))
}

fn pem(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let most = bytes.len().min(start + LONGEST_PEM);
    let text = &bytes[start..most];
    let head = memchr::memmem::find(&text[..text.len().min(64)], b"PRIVATE KEY")?;
    let end = memchr::memmem::find(&text[head..], b"-----END ").map(|at| after_dashes(text, head + at + 9));
    // Without its end it goes to the end of the text that it stands in, which may be all there is.
    let end = end.or_else(|| memchr::memchr(b'"', text)).unwrap_or(text.len());
    // A mark at the end may be escaped.
    let end = text[..end].iter().rposition(|byte| *byte != b'\\').map_or(end, |last| last + 1);
    Some((start, start + end))
}

/// The password of an address whose authority begins at `at`, or the token that stands for a user.
fn password(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let is_space = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control() || b"\"'`<>|".contains(&byte);
    let whole = &bytes[at..run(bytes, at, |byte| !is_space(byte)).min(at + 1024)];
    let authority = whole.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(whole.len());
    let colon = whole[..authority].iter().position(|byte| *byte == b':');
    let user = whole[..authority].iter().rposition(|byte| *byte == b'@');
    let (from, to) = match (colon, user) {
        (Some(colon), Some(user)) if colon < user => (colon + 1, user),
        (_, Some(user)) if user >= 16 && whole[..user].iter().all(|byte| is_token(*byte)) => (0, user),
        // A password with a slash in it, which should have been written otherwise. A number is a port.
        (Some(colon), None) if !whole[colon + 1..authority].iter().all(u8::is_ascii_digit) => {
            (colon + 1, whole.iter().rposition(|byte| *byte == b'@').filter(|at| *at > authority)?)
        }
        _ => return None,
    };
    let is_placeholder = whole.get(from).is_none_or(|first| b"$<[*{%".contains(first)) || whole[from..to].starts_with("…".as_bytes());
    (from < to && !is_placeholder).then_some((at + from, at + to))
}

/// What stands behind a host to which anybody may write who knows it.
fn webhook(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut end = at;
    // A slash may be escaped.
    while let Some(byte) = bytes.get(end) {
        end += match byte {
            b'\\' if bytes.get(end + 1) == Some(&b'/') => 2,
            byte if is_token(*byte) || b"/.:?=&@%".contains(byte) => 1,
            _ => break,
        };
    }
    (end - at >= 16).then_some((at, end))
}

/// The whole of a name of which a part stands here.
fn name(bytes: &[u8], start: usize, end: usize) -> (usize, usize) {
    let before = bytes[..start].iter().rev().take(LONGEST_NAME).take_while(|byte| is_token(**byte)).count();
    let after = bytes[end..].iter().take(LONGEST_NAME).take_while(|byte| is_token(**byte)).count();
    let mut from = start - before;
    // The letter of an escape is no part of it.
    if from > 0 && bytes[from - 1] == b'\\' && from < start {
        from += 1;
    }
    (from, end + after)
}

/// Where a value begins whose name ends at `at`: `: x`, `=x`, `":"x`, `\": \"x`; and whether a quotation mark stands before it.
fn behind(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let skip = |at: usize, these: &[u8]| at + bytes[at..].iter().take(8).take_while(|byte| these.contains(byte)).count();
    let at = skip(at, b"\\\"' ");
    if !matches!(bytes.get(at), Some(b':' | b'=')) {
        return None;
    }
    let from = skip(at + 1, b"\\\"' ");
    let quoted = bytes[at + 1..from].iter().any(|byte| matches!(byte, b'"' | b'\''));
    Some((from, quoted))
}

const fn ends_value(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'\'' | b'`' | b',' | b'}' | b';' | b'<' | b'>') || byte.is_ascii_whitespace()
}

/// The value of what is called so, if it is a secret.
fn value(bytes: &[u8], (start, end): (usize, usize)) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(&bytes[start..end]).ok()?;
    let dashes = text.len() - text.trim_start_matches('-').len();
    let text = &text[dashes..];
    if text.eq_ignore_ascii_case("sig") || text.eq_ignore_ascii_case("signature") || is_secret_name(text) {
        let in_query =
            start > 0 && (matches!(bytes[start - 1], b'?' | b'&') || bytes[..start].ends_with(br"\u0026") || bytes[..start].ends_with(b"&amp;"));
        let (from, quoted) = if dashes == 2 && bytes.get(end) == Some(&b' ') {
            (end + 1, false)
        } else {
            behind(bytes, end)?
        };
        let to = run(bytes, from, |byte| !ends_value(byte));
        if in_query {
            let to = from
                + bytes[from..to]
                    .iter()
                    .position(|byte| matches!(byte, b'&' | b'#' | b')'))
                    .unwrap_or(to - from);
            return long_enough(bytes, from, to);
        }
        if is_header(text) {
            return header(bytes, text, from);
        }
        let is_constant = !text.bytes().any(|byte| byte.is_ascii_lowercase());
        let believed = dashes == 2 || is_constant && is_secret_name(text) || is_plain_name(text) && (quoted || bytes.get(to) == Some(&b';'));
        return (believed && is_random(&bytes[from..to])).then_some((from, to));
    }
    None
}

fn long_enough(bytes: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    (to - from >= SHORTEST && !bytes[from..to].starts_with(REDACTED) && !b"$<{".contains(&bytes[from])).then_some((from, to))
}

fn is_header(name: &str) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    ["authorization", "proxy-authorization", "api-key", "cookie", "set-cookie", "private-token"]
        .iter()
        .any(is)
        || name.len() > 2 && name.as_bytes()[..2].eq_ignore_ascii_case(b"x-") && is_secret_name(name)
}

/// The value of a header, which may have a word before it that says of what kind it is, or be several.
fn header(bytes: &[u8], name: &str, from: usize) -> Option<(usize, usize)> {
    let ends = |byte: u8| matches!(byte, b'"' | b'\\' | b'\'' | b'\n' | b'\r');
    if name.len() >= 6 && name.as_bytes()[name.len() - 6..].eq_ignore_ascii_case(b"cookie") {
        return long_enough(bytes, from, run(bytes, from, |byte| !ends(byte)));
    }
    let word = run(bytes, from, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_scheme = bytes.get(word) == Some(&b' ') && word > from && name.to_ascii_lowercase().ends_with("authorization");
    let schemes = [
        &b"bearer"[..],
        b"basic",
        b"token",
        b"digest",
        b"apikey",
        b"negotiate",
        b"aws4-hmac-sha256",
    ];
    let from = if is_scheme && schemes.iter().any(|scheme| bytes[from..word].eq_ignore_ascii_case(scheme)) {
        run(bytes, word, |byte| byte == b' ')
    } else {
        from
    };
    let several = bytes[..from].to_ascii_lowercase().ends_with(b"digest ") || bytes[..from].ends_with(b"AWS4-HMAC-SHA256 ");
    let to = run(bytes, from, |byte| !ends(byte) && (several || !matches!(byte, b' ' | b',' | b'}')));
    long_enough(bytes, from, to)
}

/// The values of an object `"headers": {…}`, as far as they look like secrets.
fn headers(bytes: &[u8], (start, end): (usize, usize)) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    if !bytes[start..end].eq_ignore_ascii_case(b"headers") {
        return places;
    }
    let Some((from, false)) = behind(bytes, end).filter(|(from, _)| bytes.get(*from) == Some(&b'{')) else {
        return places;
    };
    let object = &bytes[from + 1..run(bytes, from + 1, |byte| !matches!(byte, b'{' | b'}'))];
    let mut at = from + 1;
    for (n, text) in object.split(|byte| *byte == b'"').enumerate() {
        let body = text.strip_suffix(b"\\").unwrap_or(text);
        // Every fourth piece is a value: `"name":"value","name":"value"`.
        if n % 4 == 3 && is_random(body) {
            places.push((at, at + body.len()));
        }
        at += text.len() + 1;
    }
    places
}
