//! What tools print, taken apart for hosts that show it: text, escape sequences and where they stand, and styled ranges.
//!
//! Text and sequences put together again give the bytes, but for bytes that are no UTF-8: each run of them is U+FFFD.

use serde_json::{Value, json};

/// Takes one stream of a tool's output apart, piece by piece.
#[derive(Debug, Default)]
pub struct Apart {
    /// The beginning of a character or of a sequence whose rest has not come.
    rest: Vec<u8>,
    style: Style,
}

/// A piece, taken apart. Offsets are code points of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What is not part of a sequence.
    pub text: String,
    /// `[{offset,sequence}]`.
    pub ansi: Vec<Value>,
    /// `[{start_index,end_index,style}]`.
    pub spans: Vec<Value>,
}

/// The style that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    color: Option<u8>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    inverse: bool,
}

/// The longest sequence that is waited for; a longer one is shown as text.
const LONGEST: usize = 64 << 10;

impl Apart {
    /// Takes a piece. What is not whole at its end comes with the next one.
    pub fn feed(&mut self, bytes: &[u8]) -> Shown {
        self.rest.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.rest);
        let used = self.take(&all, false);
        self.rest = all[used.1..].to_vec();
        used.0
    }

    /// Nothing more comes: what is left is shown as it stands.
    pub fn finish(&mut self) -> Shown {
        let all = std::mem::take(&mut self.rest);
        self.take(&all, true).0
    }

    fn take(&mut self, all: &[u8], last: bool) -> (Shown, usize) {
        let mut shown = Shown::default();
        let mut count = 0;
        let mut styled_from = 0;
        let mut at = 0;
        while at < all.len() {
            if all[at] == 0x1b {
                match sequence(&all[at..]) {
                    Found::Whole(length) => {
                        let text = String::from_utf8_lossy(&all[at..at + length]).into_owned();
                        if let Some(style) = self.style.after(&text) {
                            span(&mut shown.spans, self.style, styled_from, count);
                            (self.style, styled_from) = (style, count);
                        }
                        shown.ansi.push(json!({"offset": count, "sequence": text}));
                        at += length;
                        continue;
                    }
                    Found::Partial if !last && all.len() - at < LONGEST => break,
                    Found::Partial | Found::None => {}
                }
            }
            let end = all[at + 1..]
                .iter()
                .position(|byte| *byte == 0x1b)
                .map_or(all.len(), |found| at + 1 + found);
            let piece = &all[at..end];
            let (text, whole) = readable(piece, last || end < all.len());
            count += text.chars().count();
            shown.text.push_str(&text);
            at += whole;
            if whole < piece.len() {
                break;
            }
        }
        span(&mut shown.spans, self.style, styled_from, count);
        (shown, at)
    }
}

impl Shown {
    /// Whether there is nothing to show.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty() && self.ansi.is_empty()
    }

    /// Text and sequences put together again.
    pub fn together(&self) -> String {
        let mut out = String::new();
        let mut chars = self.text.chars();
        let mut at = 0;
        for ansi in &self.ansi {
            let offset = ansi["offset"].as_u64().unwrap_or(0) as usize;
            out.extend(chars.by_ref().take(offset - at));
            at = offset;
            out.push_str(ansi["sequence"].as_str().unwrap_or_default());
        }
        out.extend(chars);
        out
    }
}

fn span(spans: &mut Vec<Value>, style: Style, from: usize, to: usize) {
    if from < to && style != Style::default() {
        spans.push(json!({"start_index": from, "end_index": to, "style": style.value()}));
    }
}

/// The text of some bytes, and how many of them it is: a character whose rest may still come is left.
fn readable(bytes: &[u8], last: bool) -> (String, usize) {
    let mut text = String::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        at += chunk.valid().len();
        let bad = chunk.invalid();
        if bad.is_empty() {
            continue;
        }
        let may_go_on = at + bad.len() == bytes.len() && !last && begins_character(bad);
        if may_go_on {
            return (text, at);
        }
        text.push('\u{fffd}');
        at += bad.len();
    }
    (text, at)
}

/// Whether bytes are the beginning of a character of several bytes.
fn begins_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

enum Found {
    Whole(usize),
    Partial,
    None,
}

/// The escape sequence at the beginning of some bytes (ECMA-48; strings end in ST or BEL).
fn sequence(bytes: &[u8]) -> Found {
    match bytes.get(1) {
        None => Found::Partial,
        Some(b'[') => {
            for (at, byte) in bytes.iter().enumerate().skip(2) {
                match byte {
                    0x20..=0x3f => {}
                    0x40..=0x7e => return Found::Whole(at + 1),
                    _ => return Found::None,
                }
            }
            Found::Partial
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            for (at, byte) in bytes.iter().enumerate().skip(2) {
                match byte {
                    0x07 => return Found::Whole(at + 1),
                    b'\\' if bytes[at - 1] == 0x1b && at > 2 => return Found::Whole(at + 1),
                    _ => {}
                }
            }
            Found::Partial
        }
        Some(0x20..=0x2f) => {
            for (at, byte) in bytes.iter().enumerate().skip(2) {
                match byte {
                    0x20..=0x2f => {}
                    0x30..=0x7e => return Found::Whole(at + 1),
                    _ => return Found::None,
                }
            }
            Found::Partial
        }
        Some(0x30..=0x7e) => Found::Whole(2),
        Some(_) => Found::None,
    }
}

impl Style {
    /// The style behind a sequence, if that is one that sets the style (SGR).
    fn after(self, sequence: &str) -> Option<Self> {
        let codes = sequence.strip_prefix("\u{1b}[")?.strip_suffix('m')?;
        let mut style = self;
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            match code {
                "" | "0" => style = Self::default(),
                "1" => style.bold = true,
                "2" => style.dim = true,
                "3" => style.italic = true,
                "4" => style.underline = true,
                "7" => style.inverse = true,
                "22" => (style.bold, style.dim) = (false, false),
                "23" => style.italic = false,
                "24" => style.underline = false,
                "27" => style.inverse = false,
                "39" => style.color = None,
                "38" | "48" => {
                    let skip = if codes.next() == Some("5") { 1 } else { 3 };
                    codes.by_ref().take(skip).for_each(drop);
                    if code == "38" {
                        style.color = None;
                    }
                }
                code => {
                    if let Ok(number) = code.parse::<u8>()
                        && let 30..=37 | 90..=97 = number
                    {
                        style.color = Some(number % 10);
                    }
                }
            }
        }
        Some(style)
    }

    /// As the RFC writes it: colours as tokens of its themes.
    fn value(self) -> Value {
        let mut style = serde_json::Map::new();
        let token = match self.color {
            Some(0) => Some("Comment"),
            Some(1) => Some("AccentRed"),
            Some(2) => Some("AccentGreen"),
            Some(3) => Some("AccentYellow"),
            Some(4) => Some("AccentBlue"),
            Some(5) => Some("AccentPurple"),
            Some(6) => Some("AccentCyan"),
            Some(_) => Some("Foreground"),
            None => None,
        };
        if let Some(token) = token {
            style.insert("theme_token".to_owned(), json!(token));
        }
        let flags = [
            ("bold", self.bold),
            ("dim", self.dim),
            ("italic", self.italic),
            ("underline", self.underline),
            ("inverse", self.inverse),
        ];
        for (name, _) in flags.into_iter().filter(|(_, on)| *on) {
            style.insert(name.to_owned(), json!(true));
        }
        Value::Object(style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURS: &str = "plain \u{1b}[1;32mgrün\u{1b}[0m \u{1b}]0;title\u{7}\u{1b}[38;5;9mx\u{1b}[39m\r\n\u{1b}(B世界\u{1b}[2K";

    #[test]
    fn text_and_sequences_stand_apart() {
        let shown = Apart::default().feed(COLOURS.as_bytes());
        assert_eq!(shown.text, "plain grün x\r\n世界");
        assert_eq!(shown.ansi[0], json!({"offset": 6, "sequence": "\u{1b}[1;32m"}));
        assert_eq!(shown.ansi[1], json!({"offset": 10, "sequence": "\u{1b}[0m"}));
        assert_eq!(
            shown.spans,
            [json!({"start_index": 6, "end_index": 10, "style": {"theme_token": "AccentGreen", "bold": true}})]
        );
        assert_eq!(shown.together(), COLOURS);
    }

    #[test]
    fn cuts_change_nothing() {
        for cut in 0..COLOURS.len() {
            let mut apart = Apart::default();
            let mut together = apart.feed(&COLOURS.as_bytes()[..cut]).together();
            together += &apart.feed(&COLOURS.as_bytes()[cut..]).together();
            together += &apart.finish().together();
            assert_eq!(together, COLOURS, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_shown_as_such() {
        let mut apart = Apart::default();
        assert_eq!(apart.feed(b"a\xff\xfeb\xe4\xb8").text, "a\u{fffd}\u{fffd}b");
        assert_eq!(apart.feed(b"\x96").text, "世");
        assert_eq!(apart.feed(b"\x1b[3").text, "");
        assert_eq!(apart.finish().text, "\u{1b}[3");
        assert_eq!(apart.feed(b"\x1b\x01x").text, "\u{1b}\u{1}x");
    }
}
