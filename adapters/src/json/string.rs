//! Strings with their escapes left alone.

use std::borrow::Cow;

/// The body of a JSON string as it stands between its quotes: escapes intact, valid JSON, valid UTF-8.
///
/// It can be written again without looking at it. A lone surrogate (`\ud83d`) stays what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Str<'a>(&'a str);

impl<'a> Str<'a> {
    /// The empty string.
    pub const EMPTY: Self = Self("");

    pub(crate) const fn checked(body: &'a str) -> Self {
        Self(body)
    }

    /// Takes the body of a JSON string that the caller knows to be well-formed: a literal without quotes, backslashes
    /// and control characters, or something that [`escape`](Self::escape) made.
    pub const fn trusted(body: &'a str) -> Self {
        Self(body)
    }

    /// The body, escapes included.
    #[inline]
    pub const fn as_escaped(self) -> &'a str {
        self.0
    }

    /// Whether nothing is in it.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether it says `plain` (a text without escapes).
    #[inline]
    pub fn is(self, plain: &str) -> bool {
        self.0 == plain || (self.0.len() > plain.len() && self.has_escapes() && self.unescape() == plain)
    }

    /// Whether a backslash is in it.
    #[inline]
    pub fn has_escapes(self) -> bool {
        memchr::memchr(b'\\', self.0.as_bytes()).is_some()
    }

    /// Whether both say the same text, however it is escaped.
    #[inline]
    pub fn same_text(self, other: Str<'_>) -> bool {
        self.0 == other.0 || ((self.has_escapes() || other.has_escapes()) && self.units().eq(other.units()))
    }

    /// The text itself. A lone surrogate becomes U+FFFD, for there is no other way to hold it in a `str`.
    pub fn unescape(self) -> Cow<'a, str> {
        if !self.has_escapes() {
            return Cow::Borrowed(self.0);
        }
        let mut text = String::with_capacity(self.0.len());
        text.extend(char::decode_utf16(self.units()).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Cow::Owned(text)
    }

    /// The text as UTF-16 code units, lone surrogates as they are.
    pub fn units(self) -> impl Iterator<Item = u16> + 'a {
        let mut rest = self.0;
        let mut low = None;
        std::iter::from_fn(move || {
            if let Some(unit) = low.take() {
                return Some(unit);
            }
            let first = rest.chars().next()?;
            if first != '\\' {
                rest = &rest[first.len_utf8()..];
                let mut pair = [0; 2];
                let units = first.encode_utf16(&mut pair);
                low = units.get(1).copied();
                return Some(units[0]);
            }
            let (unit, used) = match rest.as_bytes().get(1) {
                Some(b'u') => (rest.get(2..6).and_then(|hex| u16::from_str_radix(hex, 16).ok()).unwrap_or(0xfffd), 6),
                Some(b'n') => (0x0a, 2),
                Some(b't') => (0x09, 2),
                Some(b'r') => (0x0d, 2),
                Some(b'b') => (0x08, 2),
                Some(b'f') => (0x0c, 2),
                Some(&byte) => (u16::from(byte), 2),
                None => (u16::from(b'\\'), 1),
            };
            rest = rest.get(used..).unwrap_or("");
            Some(unit)
        })
    }

    /// Appends `text` to `body` as the body of a JSON string, with the fewest escapes: quotes, backslashes and control
    /// characters (`\n \r \t \b \f`, the rest as `\u00xx`).
    pub fn escape(text: &str, body: &mut String) {
        let bytes = text.as_bytes();
        let mut from = 0;
        loop {
            let stop = super::scan::string_stop(bytes, from);
            body.push_str(&text[from..stop]);
            let Some(&byte) = bytes.get(stop) else { return };
            match byte {
                b'"' => body.push_str("\\\""),
                b'\\' => body.push_str("\\\\"),
                b'\n' => body.push_str("\\n"),
                b'\r' => body.push_str("\\r"),
                b'\t' => body.push_str("\\t"),
                0x08 => body.push_str("\\b"),
                0x0c => body.push_str("\\f"),
                control => {
                    const HEX: &[u8; 16] = b"0123456789abcdef";
                    body.push_str("\\u00");
                    body.push(HEX[usize::from(control >> 4)].into());
                    body.push(HEX[usize::from(control & 15)].into());
                }
            }
            from = stop + 1;
        }
    }

    /// The number of characters (Unicode code points) of the text; a surrogate pair is one, a lone surrogate too.
    pub fn chars(self) -> usize {
        if !self.has_escapes() {
            return self.0.chars().count();
        }
        char::decode_utf16(self.units()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_read_and_lone_surrogates_survive_comparison() {
        let s = Str::trusted("a\\n\\u00e9\\ud83d\\ude00\\ud800\\/");
        assert_eq!(s.unescape(), "a\né😀\u{fffd}/");
        assert!(s.same_text(Str::trusted("a\\u000aé😀\\uD800/")));
        assert!(!s.same_text(Str::trusted("a\\né😀\u{fffd}/")));
        assert_eq!(s.chars(), 6);
        assert!(Str::trusted("\\u0074ype").is("type"));
        assert!(!Str::trusted("type").is("typ"));
    }

    proptest! {
        #[test]
        fn escape_and_unescape_are_inverse(text in any::<String>()) {
            let mut body = String::new();
            Str::escape(&text, &mut body);
            prop_assert_eq!(Str::trusted(&body).unescape(), text.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{body}\"")).unwrap(), text);
        }
    }
}
