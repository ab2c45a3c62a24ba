//! Writing JSON by hand: the vendors' key orders, spacing and escapes are part of what the corpora imitate. Lines are put
//! together from pieces; tool arguments and results, which occur in several spellings, are small trees.

use std::borrow::Cow;

/// Appends pieces to a `Vec<u8>`: `&str` goes in as it is, [`Text`] as a JSON string, numbers in decimal.
macro_rules! put {
    ($out:expr; $($piece:expr),* $(,)?) => {{
        let out: &mut Vec<u8> = $out;
        $( $crate::corpus::json::Piece::put(&$piece, out); )*
    }};
}
pub(super) use put;

/// A JSON string with its quotes. Control characters are escaped as `JSON.stringify` and Python's `json` both spell them.
pub(super) struct Text<'a>(pub &'a str);

/// Like [`Text`], with DEL, U+200D, U+2028 and U+2029 escaped too, as Claude Code writes them.
pub(super) struct ClaudeText<'a>(pub &'a str);

/// Something that [`put!`] can append.
pub(super) trait Piece {
    fn put(&self, out: &mut Vec<u8>);
}

impl Piece for &str {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
}

impl Piece for String {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
}

impl Piece for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut digits = [0; 20];
        let mut start = digits.len();
        let mut rest = *self;
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out.extend_from_slice(&digits[start..]);
    }
}

impl Piece for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }
}

impl Piece for Text<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        quote(self.0, false, out);
    }
}

impl Piece for ClaudeText<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        quote(self.0, true, out);
    }
}

/// How a program spells JSON.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// A blank after each comma and colon, as Python's `json` and most models write.
    pub spaced: bool,
    /// Escapes what [`ClaudeText`] escapes.
    pub invisible: bool,
}

impl Style {
    pub(super) const COMPACT: Self = Self {
        spaced: false,
        invisible: false,
    };
    pub(super) const SPACED: Self = Self {
        spaced: true,
        invisible: false,
    };
    pub(super) const CLAUDE: Self = Self {
        spaced: false,
        invisible: true,
    };
}

/// A JSON value.
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    Number(u64),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Map(Vec<(&'a str, Self)>),
}

impl Json<'_> {
    pub(super) fn write(&self, style: Style, out: &mut Vec<u8>) {
        let (comma, colon) = if style.spaced { (", ", ": ") } else { (",", ":") };
        match self {
            Self::Null => put!(out; "null"),
            Self::Bool(yes) => put!(out; if *yes { "true" } else { "false" }),
            Self::Number(number) => put!(out; *number),
            Self::Text(text) => quote(text, style.invisible, out),
            Self::List(items) => {
                put!(out; "[");
                for (n, item) in items.iter().enumerate() {
                    put!(out; if n > 0 { comma } else { "" });
                    item.write(style, out);
                }
                put!(out; "]");
            }
            Self::Map(members) => {
                put!(out; "{");
                for (n, (key, item)) in members.iter().enumerate() {
                    put!(out; if n > 0 { comma } else { "" });
                    quote(key, style.invisible, out);
                    put!(out; colon);
                    item.write(style, out);
                }
                put!(out; "}");
            }
        }
    }

    /// The value as text of its own.
    pub(super) fn text(&self, style: Style) -> String {
        let mut out = Vec::new();
        self.write(style, &mut out);
        String::from_utf8(out).expect("only whole strings and ASCII are written")
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<u64> for Json<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Json<'_> {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

/// A JSON object: `map! { "key" => value, … }`, values being anything that becomes a [`Json`].
macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::corpus::json::Json::Map(vec![$(($key, $crate::corpus::json::Json::from($value))),*])
    };
}
pub(super) use map;

/// A JSON array of what `items` gives.
pub(super) fn list<'a, T: Into<Json<'a>>>(items: impl IntoIterator<Item = T>) -> Json<'a> {
    Json::List(items.into_iter().map(Into::into).collect())
}

fn quote(text: &str, invisible: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0C => b"\\f",
            0..0x20 => b"",
            0x7F if invisible => b"\\u007f",
            0xE2 if invisible => match &bytes[at..at + 3] {
                b"\xE2\x80\x8D" => b"\\u200d",
                b"\xE2\x80\xA8" => b"\\u2028",
                b"\xE2\x80\xA9" => b"\\u2029",
                _ => continue,
            },
            _ => continue,
        };
        out.extend_from_slice(&bytes[done..at]);
        if escape.is_empty() {
            let hex = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]]);
        } else {
            out.extend_from_slice(escape);
        }
        done = at + if byte == 0xE2 { 3 } else { 1 };
    }
    out.extend_from_slice(&bytes[done..]);
    out.push(b'"');
}

/// `text` cut into pieces of `low..=high` characters, as a model streams them.
pub(super) fn pieces<'a>(rng: &mut super::rng::Rng, text: &'a str, low: usize, high: usize) -> Vec<&'a str> {
    let mut pieces = Vec::with_capacity(text.len() / low + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let count = rng.between(low, high);
        let end = rest.char_indices().nth(count).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// Milliseconds since 1970 as `2026-11-21T06:00:19.149Z`.
pub(super) fn timestamp(ms: u64) -> String {
    let (days, of_day) = (ms / 86_400_000, ms % 86_400_000);
    // Civil date from the day number, with years that begin in March so that the leap day comes last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}
