//! Takes keys and tokens out of what is kept.

use memchr::memmem::Finder;

/// What stands in the place of a secret.
const REDACTED: &[u8] = b"[redacted]";

/// Shorter values of variables are no keys, and would be found everywhere.
const SHORTEST: usize = 8;

/// The longest key that is looked for by its looks.
const LONGEST: usize = 4 << 10;

/// A line that grows beyond this is dealt with in pieces.
const PIECE: usize = 1 << 20;

/// How keys begin that say of themselves what they are, and how much has to follow at least.
const BEGINNINGS: [(&[u8], usize); 8] = [
    (b"sk-", 16),
    (b"ghp_", 30),
    (b"gho_", 30),
    (b"github_pat_", 30),
    (b"xoxb-", 16),
    (b"xoxp-", 16),
    (b"AIza", 30),
    (b"AKIA", 16),
];

/// Headers whose value is a secret, in lower case.
const HEADERS: [&[u8]; 3] = [b"authorization", b"x-api-key", b"api-key"];

/// Words in the name of a variable that holds a secret.
const WORDS: [&str; 14] = [
    "KEY",
    "KEYS",
    "APIKEY",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "BEARER",
];

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    name.split('_').any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// The values of our variables that are secrets, as they are and as they stand in JSON.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Finder<'static>>);

impl Secrets {
    /// Those among these variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut values: Vec<Vec<u8>> = Vec::new();
        for (_, value) in variables
            .into_iter()
            .filter(|(name, value)| is_secret_name(name) && value.len() >= SHORTEST)
        {
            let escaped = serde_json::to_string(&value).unwrap_or_default();
            let body = escaped.trim_matches('"').as_bytes().to_vec();
            for form in [value.into_bytes(), body] {
                if !values.contains(&form) {
                    values.push(form);
                }
            }
        }
        Self(values.iter().map(|value| Finder::new(value).into_owned()).collect())
    }

    /// The places of secrets, in order, without overlap.
    fn places(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for finder in &self.0 {
            let length = finder.needle().len();
            places.extend(finder.find_iter(bytes).map(|start| (start, start + length)));
        }
        for (beginning, least) in BEGINNINGS {
            for start in memchr::memmem::find_iter(bytes, beginning) {
                let body = start + beginning.len();
                let end = body + bytes[body..].iter().take(LONGEST).take_while(|byte| is_token(**byte)).count();
                if end - body >= least && begins(bytes, start) {
                    places.push((start, end));
                }
            }
        }
        for at in memchr::memchr2_iter(b'a', b'A', bytes).chain(memchr::memchr2_iter(b'x', b'X', bytes)) {
            let rest = &bytes[at..];
            let header = HEADERS
                .iter()
                .find(|header| rest.get(..header.len()).is_some_and(|name| name.eq_ignore_ascii_case(header)));
            if let Some(place) = header.and_then(|header| value_after(bytes, at + header.len())) {
                places.push(place);
            }
        }
        places.sort_unstable();
        let mut apart: Vec<(usize, usize)> = Vec::with_capacity(places.len());
        for (start, end) in places {
            match apart.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        apart
    }

    /// A text without secrets, and how many there were.
    pub fn redact(&self, bytes: &[u8]) -> (Vec<u8>, u64) {
        let mut redactor = Redactor::default();
        let mut out = Vec::new();
        redactor.feed(self, bytes, &mut out);
        redactor.finish(self, &mut out);
        (out, redactor.count)
    }
}

/// Redacts a stream in pieces of any size. Holds at most a line, and of a long line a piece.
#[derive(Debug, Default)]
pub struct Redactor {
    held: Vec<u8>,
    /// How many secrets there were.
    pub count: u64,
}

impl Redactor {
    /// Takes what comes next; appends what is clean to `out`.
    pub fn feed(&mut self, secrets: &Secrets, bytes: &[u8], out: &mut Vec<u8>) {
        for piece in bytes.chunks(PIECE) {
            let line = memchr::memrchr(b'\n', piece).map(|at| self.held.len() + at + 1);
            self.held.extend_from_slice(piece);
            match line {
                Some(cut) => self.let_go(secrets, cut, out),
                None if self.held.len() >= PIECE => self.let_go(secrets, self.held.len() - LONGEST - 64, out),
                None => {}
            }
        }
    }

    /// Nothing follows.
    pub fn finish(&mut self, secrets: &Secrets, out: &mut Vec<u8>) {
        self.let_go(secrets, self.held.len(), out);
    }

    /// Lets go of what stands before `cut`, or a little less: no secret is cut in two.
    fn let_go(&mut self, secrets: &Secrets, mut cut: usize, out: &mut Vec<u8>) {
        let places = secrets.places(&self.held);
        if let Some((start, _)) = places.iter().find(|(start, end)| *start < cut && cut < *end) {
            cut = *start;
        }
        let mut from = 0;
        for (start, end) in places.into_iter().take_while(|(_, end)| *end <= cut) {
            out.extend_from_slice(&self.held[from..start]);
            let secret = &self.held[start..end];
            if secret.iter().all(u8::is_ascii_digit) {
                // It may be a number: the line has to stay JSON.
                out.resize(out.len() + secret.len(), b'1');
            } else {
                out.extend_from_slice(REDACTED);
            }
            self.count += 1;
            from = end;
        }
        out.extend_from_slice(&self.held[from..cut]);
        self.held.drain(..cut);
    }
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a word begins here: not inside another one, an escape such as `\n` before it not counted.
fn begins(bytes: &[u8], at: usize) -> bool {
    match bytes[..at] {
        [.., b'\\', _] => true,
        [.., before] => !is_token(before),
        [] => true,
    }
}

/// The value of a header whose name ends at `at`: `: Bearer x`, `":"x"`, `\": \"x\"`, `=x`.
fn value_after(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let skip = |at: usize, these: &[u8]| at + bytes[at..].iter().take(8).take_while(|byte| these.contains(byte)).count();
    at = skip(at, b"\\\"' ");
    if !matches!(bytes.get(at), Some(b':' | b'=')) {
        return None;
    }
    at = skip(at + 1, b"\\\"' ");
    for scheme in [&b"bearer "[..], b"basic ", b"token "] {
        if bytes.get(at..at + scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme)) {
            at = skip(at + scheme.len(), b" ");
            break;
        }
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\'' | b' ' | b',' | b'}' | b'\n' | b'\r');
    let length = bytes[at..].iter().take(LONGEST).take_while(|byte| !ends(byte)).count();
    (length >= SHORTEST && bytes.get(at..at + REDACTED.len()) != Some(REDACTED)).then_some((at, at + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let pairs = [
            ("OPENAI_API_KEY", "abc\"defgh"),
            ("MY_TOKEN", "1234567890"),
            ("PWD", "/home/user/project"),
            ("SHORT_KEY", "true"),
        ];
        Secrets::of(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    fn redacted(text: &str) -> (String, u64) {
        let (bytes, count) = secrets().redact(text.as_bytes());
        (String::from_utf8(bytes).unwrap(), count)
    }

    #[test]
    fn finds_secrets_by_value_by_header_and_by_looks() {
        for (text, clean) in [
            (r#"{"a":"x abc\"defgh y"}"#, r#"{"a":"x [redacted] y"}"#),
            (r#"{"n":1234567890}"#, r#"{"n":1111111111}"#),
            (r#"{"Authorization":"Bearer abcdefghijk"}"#, r#"{"Authorization":"Bearer [redacted]"}"#),
            (
                r#"{"c":"curl -H \"authorization: Basic dXNlcjpwYXNz\" x"}"#,
                r#"{"c":"curl -H \"authorization: Basic [redacted]\" x"}"#,
            ),
            (r#"{"headers":{"x-api-key":"0a1b2c3d4e"}}"#, r#"{"headers":{"x-api-key":"[redacted]"}}"#),
            (r#"{"t":"one\nsk-ant-api03-AAAABBBBCCCC two"}"#, r#"{"t":"one\n[redacted] two"}"#),
        ] {
            assert_eq!(redacted(text), (clean.to_owned(), 1), "{text}");
        }
        for text in [
            r#"{"t":"task-force-is-a-long-word-with-dashes","u":"sk-short","v":"true","w":"/home/user/project"}"#,
            r#"{"t":"the authorization of the user is needed"}"#,
        ] {
            assert_eq!(redacted(text), (text.to_owned(), 0));
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let line = format!("{{\"a\":\"{} sk-aaaabbbbccccddddeeee {} 1234567890\"}}\n", "x".repeat(50), "y".repeat(70));
        let text = line.repeat(40);
        let whole = secrets().redact(text.as_bytes());
        assert_eq!(whole.1, 80);
        for size in [1, 7, 64, 1000] {
            let mut redactor = Redactor::default();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                redactor.feed(&secrets(), piece, &mut out);
            }
            redactor.finish(&secrets(), &mut out);
            assert_eq!((out, redactor.count), whole, "{size}");
        }
    }

    #[test]
    fn a_line_without_end_is_held_in_part_only() {
        let mut redactor = Redactor::default();
        let mut out = Vec::new();
        let unit = b"word sk-aaaabbbbccccddddeeee ";
        let text = unit.repeat((3 << 20) / unit.len());
        let mut most = 0;
        for piece in text.chunks(10_007) {
            redactor.feed(&secrets(), piece, &mut out);
            most = most.max(redactor.held.len());
        }
        redactor.finish(&secrets(), &mut out);
        assert!(most < 2 * PIECE, "{most}");
        assert_eq!(redactor.count as usize, text.len() / unit.len());
        assert!(memchr::memmem::find(&out, b"sk-a").is_none());
    }
}
