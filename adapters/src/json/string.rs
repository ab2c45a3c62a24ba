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
        if self.0.len() <= plain.len() {
            return self.0 == plain;
        }
        // Only a string with escapes is longer than what it says, and most differ in the first byte.
        let (first, wanted) = (self.0.as_bytes().first(), plain.as_bytes().first());
        (first == wanted || first == Some(&b'\\')) && self.spells(plain)
    }

    #[inline(never)]
    fn spells(self, plain: &str) -> bool {
        self.has_escapes() && self.unescaped() == plain
    }

    /// Whether its text begins with `plain`, however it is escaped.
    pub(crate) fn begins(self, plain: &str) -> bool {
        let mut units = self.units();
        self.0.starts_with(plain) || plain.encode_utf16().all(|unit| units.next() == Some(unit))
    }

    /// Whether a backslash is in it.
    #[inline]
    pub fn has_escapes(self) -> bool {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let bytes = self.0.as_bytes();
        // Keys and words are short, and looked at before a search has begun: the first and the last eight bytes of it at once.
        match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(first), Some(last)) if bytes.len() <= 16 => {
                let zeros = |word: &[u8; 8]| {
                    let word = u64::from_le_bytes(*word) ^ (ONES * b'\\' as u64);
                    word.wrapping_sub(ONES) & !word & (ONES << 7)
                };
                zeros(first) | zeros(last) != 0
            }
            (Some(_), _) => memchr::memchr(b'\\', bytes).is_some(),
            _ => bytes.contains(&b'\\'),
        }
    }

    /// Whether both say the same text, however it is escaped.
    #[inline]
    pub fn same_text(self, other: Str<'_>) -> bool {
        super::alike(self.0, other.0) || ((self.has_escapes() || other.has_escapes()) && self.units().eq(other.units()))
    }

    /// Whether it is escaped as [`Self::escape`] would do it, which then has one spelling for each text: a part of the text is a
    /// part of the body. False does not mean that it is not.
    pub(crate) fn is_plainly_escaped(self) -> bool {
        let body = self.0.as_bytes();
        let mut from = 0;
        while let Some(at) = next_escape(self.0, from) {
            if !matches!(body.get(at + 1), Some(b'n' | b't' | b'r' | b'"' | b'\\')) {
                return false;
            }
            from = at + 2;
        }
        true
    }

    /// The text itself. A lone surrogate becomes U+FFFD, for there is no other way to hold it in a `str`.
    #[inline]
    pub fn unescape(self) -> Cow<'a, str> {
        if self.has_escapes() {
            Cow::Owned(self.unescaped())
        } else {
            Cow::Borrowed(self.0)
        }
    }

    #[inline(never)]
    fn unescaped(self) -> String {
        let mut text = String::with_capacity(self.0.len());
        self.unescape_into(&mut text, |text, _| text.push(char::REPLACEMENT_CHARACTER));
        text
    }

    /// Appends the text itself to `text`. What stands for a lone surrogate is for `lone` to say.
    pub(crate) fn unescape_into(self, text: &mut String, mut lone: impl FnMut(&mut String, u16)) {
        let mut rest = self.0;
        while let Some(at) = next_escape(rest, 0) {
            text.push_str(&rest[..at]);
            let (unit, used) = escaped_unit(&rest[at..]);
            rest = rest.get(at + used..).unwrap_or("");
            if let Ok(ascii @ 0..=0x7f) = u8::try_from(unit) {
                text.push(char::from(ascii));
                continue;
            }
            if !(0xd800..0xe000).contains(&unit) {
                text.extend(char::from_u32(u32::from(unit)));
                continue;
            }
            // Only two escapes make a pair: what is no escape is a whole character.
            let (low, used) = if rest.starts_with('\\') { escaped_unit(rest) } else { (0, 0) };
            match char::decode_utf16([unit, low]).next() {
                Some(Ok(c)) => {
                    text.push(c);
                    rest = rest.get(used..).unwrap_or("");
                }
                _ => lone(text, unit),
            }
        }
        text.push_str(rest);
    }

    /// The text itself, put into the arena. A lone surrogate stays an escape: it can only stand inside a string of the JSON that the
    /// text holds.
    pub(crate) fn unescape_in(self, arena: &bumpalo::Bump) -> &str {
        self.unescaped_in(arena).0
    }

    /// The text itself, put into the arena if it has escapes. `None` when a lone surrogate is in it, which no `str` can hold.
    pub(crate) fn plain_in(self, arena: &'a bumpalo::Bump) -> Option<&'a str> {
        if !self.has_escapes() {
            return Some(self.0);
        }
        let (text, lone) = self.unescaped_in(arena);
        (!lone).then_some(text)
    }

    /// The text as [`Self::unescape_in`] puts it into the arena, and whether a lone surrogate is in it.
    fn unescaped_in(self, arena: &bumpalo::Bump) -> (&str, bool) {
        let body = self.0.as_bytes();
        // No escape is shorter than what it says.
        let text = arena.alloc_slice_fill_copy(body.len() + PART, 0);
        // What stands before `from` is in the text already, `len` bytes of it.
        let mut done = Unescaped::default();
        let mut at = 0;
        while let Some(super::scan::Block { stops, width }) = super::scan::block(body, at) {
            let mut stops = stops & behind(done.from.saturating_sub(at));
            while stops != 0 {
                self.unescape_at(at + stops.trailing_zeros() as usize, text, &mut done);
                stops &= behind(done.from - at);
            }
            at += width;
        }
        while let Some(stop) = next_escape(self.0, done.from) {
            self.unescape_at(stop, text, &mut done);
        }
        let len = copy(body, done.from.min(body.len())..body.len(), text, done.len);
        // Whole characters were taken out and put in.
        (simdutf8::basic::from_utf8(&text[..len]).unwrap_or_default(), done.lone)
    }

    /// Writes what stands before the escape at `at`, and what that says.
    #[inline(always)]
    fn unescape_at(self, at: usize, text: &mut [u8], done: &mut Unescaped) {
        done.len = copy(self.0.as_bytes(), done.from..at, text, done.len);
        let byte = match self.0.as_bytes().get(at + 1) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(&byte @ (b'"' | b'\\')) => byte,
            _ => return self.unescape_rare(at, text, done),
        };
        text[done.len] = byte;
        (done.from, done.len) = (at + 2, done.len + 1);
    }

    fn unescape_rare(self, at: usize, text: &mut [u8], done: &mut Unescaped) {
        let (unit, used) = escaped_unit(&self.0[at..]);
        done.from = at + used;
        // Only two escapes make a pair: what is no escape is a whole character.
        let rest = self.0.get(done.from..).unwrap_or("");
        let (low, used) = if rest.starts_with('\\') { escaped_unit(rest) } else { (0, 0) };
        let text = &mut text[done.len..];
        match char::decode_utf16([unit, low]).next() {
            Some(Ok(c)) => {
                done.from += if c.len_utf16() == 2 { used } else { 0 };
                done.len += c.encode_utf8(text).len();
            }
            _ => {
                text[..2].copy_from_slice(b"\\u");
                for (place, shift) in text[2..6].iter_mut().zip([12, 8, 4, 0]) {
                    *place = b"0123456789abcdef"[usize::from(unit >> shift & 15)];
                }
                done.len += 6;
                done.lone = true;
            }
        }
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
            let (unit, used) = escaped_unit(rest);
            rest = rest.get(used..).unwrap_or("");
            Some(unit)
        })
    }

    /// Appends `text` to `body` as the body of a JSON string, with the fewest escapes: quotes, backslashes and control
    /// characters (`\n \r \t \b \f`, the rest as `\u00xx`).
    pub fn escape(text: &str, body: &mut String) {
        Self::escape_parts(text, |part| body.push_str(part));
    }

    /// The same, part by part.
    #[inline]
    pub(crate) fn escape_parts(text: &str, mut put: impl FnMut(&str)) {
        let bytes = text.as_bytes();
        let mut from = 0;
        loop {
            let stop = super::scan::string_stop(bytes, from);
            if stop > from {
                put(&text[from..stop]);
            }
            let Some(&byte) = bytes.get(stop) else { return };
            match byte {
                b'"' => put("\\\""),
                b'\\' => put("\\\\"),
                b'\n' => put("\\n"),
                b'\r' => put("\\r"),
                b'\t' => put("\\t"),
                0x08 => put("\\b"),
                0x0c => put("\\f"),
                control => {
                    put(if control < 0x10 { "\\u000" } else { "\\u001" });
                    let digit = usize::from(control & 15);
                    put(&"0123456789abcdef"[digit..=digit]);
                }
            }
            from = stop + 1;
        }
    }

    /// How many bytes the text itself has in UTF-8; `None` when a lone surrogate is in it.
    pub(crate) fn utf8_len(self) -> Option<usize> {
        let mut rest = self.0;
        let mut len = 0;
        while let Some(at) = next_escape(rest, 0) {
            let (unit, used) = escaped_unit(&rest[at..]);
            rest = rest.get(at + used..).unwrap_or("");
            len += at;
            len += match char::from_u32(u32::from(unit)) {
                Some(c) => c.len_utf8(),
                None => {
                    let (low, used) = if rest.starts_with('\\') { escaped_unit(rest) } else { (0, 0) };
                    rest = rest.get(used..).unwrap_or("");
                    char::decode_utf16([unit, low]).next()?.ok()?.len_utf8()
                }
            };
        }
        Some(len + rest.len())
    }

    /// The number of characters (Unicode code points) of the text; a surrogate pair is one, a lone surrogate too.
    pub fn chars(self) -> usize {
        if !self.has_escapes() {
            return self.0.chars().count();
        }
        char::decode_utf16(self.units()).count()
    }
}

/// How far a text has been unescaped.
#[derive(Default)]
struct Unescaped {
    /// Up to where.
    from: usize,
    /// How many bytes that gave.
    len: usize,
    /// A lone surrogate was among them.
    lone: bool,
}

/// The bits of a block without its first `count` bytes.
#[inline(always)]
fn behind(count: usize) -> u64 {
    u32::try_from(count).ok().and_then(|count| u64::MAX.checked_shl(count)).unwrap_or(0)
}

/// How many bytes are copied at a time where escapes stand close to each other.
pub(super) const PART: usize = 16;

/// Copies a range of `from` to `at`, and up to a part more; returns where the range ends.
#[inline(always)]
pub(super) fn copy(from: &[u8], range: std::ops::Range<usize>, to: &mut [u8], at: usize) -> usize {
    let len = range.len();
    match (from.get(range.start..range.start + PART), to.get_mut(at..at + PART)) {
        (Some(from), Some(to)) if len <= PART => to.copy_from_slice(from),
        _ => to[at..at + len].copy_from_slice(&from[range]),
    }
    at + len
}

/// Where the next escape of a string's body begins, at or behind `from`.
#[inline]
pub(crate) fn next_escape(body: &str, mut from: usize) -> Option<usize> {
    // Quotes and control characters stop the search too, but cannot stand in a body.
    loop {
        from = super::scan::string_stop(body.as_bytes(), from);
        match body.as_bytes().get(from) {
            Some(b'\\') => return Some(from),
            Some(_) => from += 1,
            None => return None,
        }
    }
}

/// The UTF-16 code unit of the escape that `rest` begins with, and how many bytes it takes.
#[inline]
fn escaped_unit(rest: &str) -> (u16, usize) {
    match rest.as_bytes().get(1) {
        Some(b'u') => (rest.get(2..6).and_then(|hex| u16::from_str_radix(hex, 16).ok()).unwrap_or(0xfffd), 6),
        Some(b'n') => (0x0a, 2),
        Some(b't') => (0x09, 2),
        Some(b'r') => (0x0d, 2),
        Some(b'b') => (0x08, 2),
        Some(b'f') => (0x0c, 2),
        Some(&byte) => (u16::from(byte), 2),
        None => (u16::from(b'\\'), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_begins_the_same_however_it_is_escaped() {
        for body in ["</a> b", "<\\/a>", "\\u003c/a\\u003E"] {
            assert!(Str::trusted(body).begins("</a>"), "{body}");
        }
        for body in ["", "<", "<\\\\/a>", "\\u003c"] {
            assert!(!Str::trusted(body).begins("</a>"), "{body}");
        }
    }

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

    #[test]
    fn surrogates_pair_up_only_with_their_neighbours() {
        let of = |body: &'static str| Str::trusted(body).unescape().into_owned();
        assert_eq!(of("\\ud83dx\\ude00"), "\u{fffd}x\u{fffd}");
        assert_eq!(of("\\ud83d\\ud83d\\ude00\\n"), "\u{fffd}😀\n");
        assert_eq!(of("\\ude00\\ud83d"), "\u{fffd}\u{fffd}");
        assert_eq!(of("\\ud83d😀"), "\u{fffd}😀");
    }

    proptest! {
        #[test]
        fn a_backslash_is_found_wherever_it_stands(len in 0usize..40, at in 0usize..40) {
            let plain = "e".repeat(len);
            prop_assert!(!Str::trusted(&plain).has_escapes());
            prop_assert!(Str::trusted(&plain).is(&plain));
            if at < len {
                let escaped = format!("{}\\u0065{}", &plain[..at], &plain[at + 1..]);
                prop_assert!(Str::trusted(&escaped).has_escapes());
                prop_assert!(Str::trusted(&escaped).is(&plain));
                prop_assert!(!Str::trusted(&escaped).is(&plain[1..]));
                prop_assert!(!Str::trusted(&plain).is(&escaped));
            }
        }

        #[test]
        fn text_and_code_units_agree(body in "(\\\\ud83d|\\\\ude00|\\\\u00e9|\\\\n|\\\\\\\\|é|😀|a){0,8}") {
            let units: String = char::decode_utf16(Str::trusted(&body).units()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            prop_assert_eq!(Str::trusted(&body).unescape(), units.as_str());
            let lone = char::decode_utf16(Str::trusted(&body).units()).any(|c| c.is_err());
            prop_assert_eq!(Str::trusted(&body).utf8_len(), (!lone).then_some(units.len()));
        }

        #[test]
        fn text_in_the_arena_is_the_same(body in "(\\\\uD83D|\\\\ude00|\\\\u00e9|\\\\u0041|\\\\n|\\\\\\\\|\\\\\"|é|😀|a|a bit more than a part){0,8}") {
            let arena = bumpalo::Bump::new();
            let mut text = String::new();
            Str::trusted(&body).unescape_into(&mut text, |text, lone| text.push_str(&format!("\\u{lone:04x}")));
            prop_assert_eq!(Str::trusted(&body).unescape_in(&arena), text.as_str());
            let lone = char::decode_utf16(Str::trusted(&body).units()).any(|unit| unit.is_err());
            prop_assert_eq!(Str::trusted(&body).plain_in(&arena), (!lone).then_some(text.as_str()));
        }

        #[test]
        fn escape_and_unescape_are_inverse(text in any::<String>()) {
            let mut body = String::new();
            Str::escape(&text, &mut body);
            prop_assert_eq!(Str::trusted(&body).unescape(), text.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{body}\"")).unwrap(), text);
        }
    }
}
