//! JSON as Python's `json.dumps(obj, ensure_ascii=False)` spells it after reading it.
//!
//! Separators are `", "` and `": "`; text stands as it is but for quotes, backslashes and control characters (`\n \r \t \b
//! \f`, the rest as `\u001b`), so `\/` becomes `/`, `\u00e9` becomes `é` and surrogate pairs are joined; `/`, DEL and U+2028
//! are plain. Integers keep their digits, other numbers become the shortest spelling of the double. Key order and keys that
//! come twice stay. Two things stay as they were although Python would spell them otherwise, because what we write is
//! always valid JSON in valid UTF-8: a lone surrogate keeps its escape, and a number beyond the doubles keeps its digits
//! (Python says `Infinity`).
//!
//! Nothing is parsed into a tree: what needs no change is copied in runs, whatever the depth.

use super::lex::escaped;
use super::number::python_float;
use super::out::Out;
use super::raw::Raw;
use super::scan;
use super::string::Str;

/// Takes bytes one piece after the other.
pub(crate) trait Put {
    /// Takes the next piece.
    fn put(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Put for Out {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }
}

/// The body of a string in Python's spelling.
pub(crate) fn text(body: Str<'_>, to: &mut impl Put) {
    let mut speller = Speller::new(body.as_escaped(), to);
    while let Some(at) = next_odd(speller.bytes, speller.from) {
        match speller.bytes.get(at + 1) {
            Some(b'u') => {
                let (piece, end) = escape(speller.bytes, at);
                match piece {
                    Piece::Char(c) => {
                        speller.flush(at, end);
                        put_char(c, speller.to);
                    }
                    // It stays, and is looked at no more.
                    _ => {
                        speller.flush(end, end);
                    }
                }
            }
            _ => speller.flush(at, at + 1),
        }
    }
    speller.finish();
}

/// Where the next escape begins that Python may spell otherwise, at or behind `from`, which is no part of an escape: `\/` or `\u`.
fn next_odd(bytes: &[u8], from: usize) -> Option<usize> {
    let is_odd = |at: usize| {
        // Backslashes in pairs stand for themselves.
        let before = || bytes[from..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        matches!(bytes.get(at + 1), Some(b'/' | b'u')) && before() % 2 == 0
    };
    let mut at = from;
    while let Some(width) = scan::block(bytes, at).map(|block| block.width) {
        let escapes = scan::equal(bytes, at, b'\\');
        if escapes != 0 {
            let behind = scan::equal(bytes, at, b'u') | scan::equal(bytes, at, b'/');
            // What stands behind the last one is not in this block.
            let mut hits = escapes & (behind >> 1 | 1 << (width - 1));
            while hits != 0 {
                let hit = at + hits.trailing_zeros() as usize;
                if is_odd(hit) {
                    return Some(hit);
                }
                hits &= hits - 1;
            }
        }
        at += width;
    }
    (at..bytes.len()).find(|&at| bytes[at] == b'\\' && is_odd(at))
}

/// Any value in Python's spelling. Returns whether all its numbers could be spelled as Python does.
pub(crate) fn value(value: Raw<'_>, to: &mut impl Put) -> bool {
    let mut speller = Speller::new(value.as_str(), to);
    speller.value();
    let plain = speller.plain;
    speller.finish();
    plain
}

/// A part of the body of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Characters that stand for themselves.
    Plain(&'a str),
    /// A character that is written as an escape, or as two.
    Char(char),
    /// Half of a surrogate pair without its other half.
    Lone(u16),
}

/// The parts of a string's body in order.
pub(crate) fn pieces<'a>(body: Str<'a>) -> impl Iterator<Item = Piece<'a>> + Clone {
    let text = body.as_escaped();
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        if at >= bytes.len() {
            return None;
        }
        let mut stop = scan::string_stop(bytes, at);
        // Quotes and control characters do not stand in a body; if one does, it stands for itself.
        while bytes.get(stop).is_some_and(|&byte| byte != b'\\') {
            stop = scan::string_stop(bytes, stop + 1);
        }
        if stop > at {
            let plain = &text[at..stop];
            at = stop;
            return Some(Piece::Plain(plain));
        }
        let (piece, end) = escape(bytes, at);
        at = end;
        Some(piece)
    })
}

/// How many newlines a text has, and whether it ends with one.
pub(crate) fn newlines(body: Str<'_>) -> (usize, bool) {
    let bytes = body.as_escaped().as_bytes();
    let (mut count, mut at, mut last) = (0, 0, usize::MAX);
    let mut carry = 0;
    while let Some(width) = scan::block(bytes, at).map(|block| block.width) {
        let (escaped, escaping) = escaped(scan::equal(bytes, at, b'\\'), carry);
        if escaped != 0 {
            if escaped & scan::equal(bytes, at, b'u') != 0 {
                break;
            }
            let found = escaped & scan::equal(bytes, at, b'n');
            count += found.count_ones() as usize;
            if found != 0 {
                last = at + found.ilog2() as usize + 1;
            }
        }
        carry = escaping >> (width - 1);
        at += width;
    }
    // Little is left, or there are escapes with digits.
    at -= carry as usize;
    loop {
        at = scan::string_stop(bytes, at);
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\\'), Some(b'n')) => {
                count += 1;
                at += 2;
                last = at;
            }
            (Some(b'\\'), Some(b'u')) => {
                let (piece, end) = escape(bytes, at);
                at = end;
                if piece == Piece::Char('\n') {
                    count += 1;
                    last = at;
                }
            }
            (Some(b'\\'), _) => at += 2,
            (Some(_), _) => at += 1,
            (None, _) => return (count, last == bytes.len()),
        }
    }
}

/// The escape that begins at `at`, and where it ends. One that JSON does not know stands for its second character.
fn escape(bytes: &[u8], at: usize) -> (Piece<'static>, usize) {
    let plain = match bytes.get(at + 1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let Some(unit) = hex(bytes, at + 2) else {
                return (Piece::Char('u'), at + 2);
            };
            if let Some(c) = char::from_u32(u32::from(unit)) {
                return (Piece::Char(c), at + 6);
            }
            let low = (bytes.get(at + 6..at + 8) == Some(b"\\u")).then(|| hex(bytes, at + 8)).flatten();
            return match low.map(|low| char::decode_utf16([unit, low]).next()) {
                Some(Some(Ok(c))) => (Piece::Char(c), at + 12),
                _ => (Piece::Lone(unit), at + 6),
            };
        }
        Some(&byte) if byte.is_ascii() => char::from(byte),
        _ => return (Piece::Char('\\'), at + 1),
    };
    (Piece::Char(plain), at + 2)
}

fn hex(bytes: &[u8], at: usize) -> Option<u16> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    bytes
        .get(at..at + 4)?
        .iter()
        .try_fold(0, |unit, byte| Some(unit << 4 | digit(byte)? as u16))
}

/// Copies runs that are spelled right, and re-spells what is between them.
struct Speller<'b, P> {
    bytes: &'b [u8],
    /// Where the run begins that has not been copied yet.
    from: usize,
    plain: bool,
    to: &'b mut P,
}

impl<'b, P: Put> Speller<'b, P> {
    fn new(text: &'b str, to: &'b mut P) -> Self {
        Self {
            bytes: text.as_bytes(),
            from: 0,
            plain: true,
            to,
        }
    }

    /// Copies the run up to `to`; the next one begins at `next`.
    #[inline]
    fn flush(&mut self, to: usize, next: usize) {
        if to > self.from {
            self.to.put(&self.bytes[self.from..to]);
        }
        self.from = next;
    }

    fn finish(mut self) {
        self.flush(self.bytes.len(), self.bytes.len());
    }

    /// From behind the opening quote to the closing one (or the end); returns its place.
    #[inline]
    fn body(&mut self, mut at: usize) -> usize {
        loop {
            at = scan::string_stop(self.bytes, at);
            match (self.bytes.get(at), self.bytes.get(at + 1)) {
                (Some(b'\\'), Some(b'/')) => {
                    self.flush(at, at + 1);
                    at += 2;
                }
                (Some(b'\\'), Some(b'u')) => at = self.unicode(at),
                (Some(b'\\'), _) => at += 2,
                (Some(b'"') | None, _) => return at.min(self.bytes.len()),
                (Some(_), _) => at += 1,
            }
        }
    }

    fn unicode(&mut self, at: usize) -> usize {
        let (piece, end) = escape(self.bytes, at);
        let Piece::Char(c) = piece else { return end };
        self.flush(at, end);
        put_char(c, self.to);
        end
    }

    fn value(&mut self) {
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'"' => at = self.body(at + 1) + 1,
                b',' | b':' => {
                    at += 1;
                    if self.bytes.get(at) == Some(&b' ') && !self.is_space(at + 1) {
                        at += 1;
                        continue;
                    }
                    self.flush(at, at);
                    self.to.put(b" ");
                    at = self.spaces(at);
                }
                b' ' | b'\t' | b'\n' | b'\r' => {
                    self.flush(at, at);
                    at = self.spaces(at);
                }
                b'-' | b'0'..=b'9' => at = self.number(at),
                _ => at += 1,
            }
        }
    }

    fn is_space(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Passes over white space, which is not copied.
    fn spaces(&mut self, mut at: usize) -> usize {
        while self.is_space(at) {
            at += 1;
        }
        self.from = at;
        at
    }

    fn number(&mut self, at: usize) -> usize {
        let digits = |from: usize| from + self.bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = digits(at + 1);
        while matches!(self.bytes.get(end), Some(b'.' | b'e' | b'E' | b'+' | b'-')) {
            end = digits(end + 1);
        }
        // Digits, signs and letters of numbers only: always UTF-8.
        let number = std::str::from_utf8(&self.bytes[at..end]).unwrap_or("");
        if number == "-0" || number.contains(['.', 'e', 'E']) {
            let spelled = python_float(number);
            if spelled.ends_with(|c: char| c.is_ascii_digit()) {
                if spelled != number {
                    self.flush(at, end);
                    self.to.put(spelled.as_bytes());
                }
            } else {
                self.plain = false;
            }
        }
        end
    }
}

/// A character as it stands in the body of a string.
pub(crate) fn put_char(c: char, to: &mut impl Put) {
    let mut buffer = [0; 6];
    match c {
        '"' => to.put(b"\\\""),
        '\\' => to.put(b"\\\\"),
        '\n' => to.put(b"\\n"),
        '\r' => to.put(b"\\r"),
        '\t' => to.put(b"\\t"),
        '\u{8}' => to.put(b"\\b"),
        '\u{c}' => to.put(b"\\f"),
        '\0'..='\u{1f}' => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            buffer.copy_from_slice(b"\\u0000");
            buffer[4] = HEX[c as usize >> 4];
            buffer[5] = HEX[c as usize & 15];
            to.put(&buffer);
        }
        c => to.put(c.encode_utf8(&mut buffer).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(json: &str) -> String {
        let mut out = Vec::new();
        assert_eq!(value(Raw::trusted(json), &mut out), !json.contains("e400"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_spelled_as_python_spells_them() {
        for (json, python) in [
            ("{}", "{}"),
            ("{ }", "{}"),
            ("[ ]", "[]"),
            ("[1,2]", "[1, 2]"),
            ("[1, 2]", "[1, 2]"),
            ("[1,  2 ]", "[1, 2]"),
            ("{\"a\" :1,\t\"b\":\n[ true,false , null]}", "{\"a\": 1, \"b\": [true, false, null]}"),
            ("{\"a\":1,\"a\":2}", "{\"a\": 1, \"a\": 2}"),
            (
                "[1.10,1e5,-0,-0.0,1E-7,123456789012345678901234567890]",
                "[1.1, 100000.0, 0, -0.0, 1e-07, 123456789012345678901234567890]",
            ),
            ("[1e400,-1e400]", "[1e400, -1e400]"),
            ("\"a,b:c\"", "\"a,b:c\""),
            (
                "\"\\/\\u00e9\\u2028\\u007f\\u001B\\u000a\\u0008\\u005c\\u0022\"",
                "\"/é\u{2028}\u{7f}\\u001b\\n\\b\\\\\\\"\"",
            ),
            ("\"\\ud83d\\ude00\\ud83d\\ud83d\\ude00\\ude00x\"", "\"😀\\ud83d😀\\ude00x\""),
            ("\"\\\\u00e9\\\\/\\\"\"", "\"\\\\u00e9\\\\/\\\"\""),
            ("\"\\ud83d", "\"\\ud83d"),
        ] {
            assert_eq!(spelled(json), python, "{json}");
        }
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = format!("{}{}", "[1,".repeat(100_000), "2".to_owned() + &"]".repeat(100_000));
        assert_eq!(spelled(&deep).len(), deep.len() + 100_000);
    }

    #[test]
    fn newlines_are_counted_however_they_are_spelled() {
        for (body, count, ends) in [
            ("", 0, false),
            ("a", 0, false),
            ("a\\n", 1, true),
            ("\\na\\u000A", 2, true),
            ("a\\\\n", 0, false),
            ("\\n\\\\", 1, false),
            ("a\\nb\\u000d", 1, false),
        ] {
            assert_eq!(newlines(Str::trusted(body)), (count, ends), "{body}");
        }
    }

    #[test]
    fn pieces_are_what_the_text_is_made_of() {
        let found: Vec<_> = pieces(Str::trusted("aé\\nb\\ud83d\\ude00\\ud800c")).collect();
        let wanted = [
            Piece::Plain("aé"),
            Piece::Char('\n'),
            Piece::Plain("b"),
            Piece::Char('😀'),
            Piece::Lone(0xd800),
            Piece::Plain("c"),
        ];
        assert_eq!(found, wanted);
    }

    proptest! {
        #[test]
        fn any_text_reads_back_and_a_second_time_changes_nothing(plain in any::<String>(), ascii in any::<bool>()) {
            let body: String = match ascii {
                true => plain.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect(),
                false => {
                    let mut body = String::new();
                    Str::escape(&plain, &mut body);
                    body
                }
            };
            let once = spelled(&format!("[{{\"{body}\":\"{body}\"}}]"));
            prop_assert_eq!(&spelled(&once), &once);
            let mut alone = Vec::new();
            text(Str::trusted(&body), &mut alone);
            let alone = String::from_utf8(alone).unwrap();
            prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{alone}\"")).unwrap(), plain);
            prop_assert_eq!(once, format!("[{{\"{alone}\": \"{alone}\"}}]"));
        }

        #[test]
        fn bytes_that_are_no_json_do_no_harm(text in "[\\[\\]{}:,\"\\\\ue0-9.+ é\\-]{0,40}") {
            let mut out = Vec::new();
            value(Raw::trusted(&text), &mut out);
            super::text(Str::trusted(&text), &mut out);
            newlines(Str::trusted(&text));
            prop_assert!(pieces(Str::trusted(&text)).count() <= text.len());
            prop_assert!(String::from_utf8(out).is_ok());
        }
    }
}
