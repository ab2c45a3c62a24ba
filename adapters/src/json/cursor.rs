//! One walk over a line, in the order in which it was written.

use super::lex;
use super::raw::{Raw, Shape};
use super::string::Str;
use super::{Error, Why};

/// A place in a text that holds JSON. Reading moves it forward.
///
/// ```
/// use agentglot_adapters::raw::json::Cursor;
/// let mut at = Cursor::new(r#"{"type":"result","n":[1,2]}"#);
/// let mut object = at.object().unwrap();
/// while let Some(key) = object.key(&mut at).unwrap() {
///     match key.as_escaped() {
///         "type" => assert_eq!(at.string().unwrap().as_escaped(), "result"),
///         _ => assert_eq!(at.skip().unwrap().as_str(), "[1,2]"),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// What does not begin as an object does: the value that it is, if it is one, and how much of the text it takes. A scalar that something
/// follows is the beginning of a text, not a value.
pub(crate) fn no_object(text: &str) -> (Option<Raw<'_>>, usize) {
    let mut at = Cursor::new(text);
    match at.raw() {
        Ok(raw) if raw.shape() == Some(Shape::Array) || at.at_end() => (Some(raw), at.position()),
        _ => (None, text.len()),
    }
}

/// An object that is being walked; ask it for its next key, then take or skip the value.
#[derive(Debug)]
pub struct Object {
    first: bool,
}

/// An array that is being walked; ask it whether there is another element, then take or skip it.
#[derive(Debug)]
pub struct Array {
    first: bool,
}

impl Object {
    /// The next key, or `None` behind the closing bracket. The value of the key before must have been read.
    #[inline]
    pub fn key<'a>(&mut self, at: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Error> {
        self.next(at)
    }

    /// [`Self::key`] where many are asked for in a short time.
    #[inline(always)]
    pub(crate) fn next<'a>(&mut self, at: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Error> {
        match at.text.as_bytes().get(at.at..) {
            // As nearly all are written.
            Some([b',', b'"', ..]) if !self.first => at.at += 2,
            _ => {
                match at.peek() {
                    Some(b'}') => {
                        at.at += 1;
                        return Ok(None);
                    }
                    Some(b',') if !self.first => {
                        at.at += 1;
                        if at.peek() != Some(b'"') {
                            return Err(at.wrong());
                        }
                    }
                    Some(b'"') if self.first => {}
                    _ => return Err(at.wrong()),
                }
                self.first = false;
                at.at += 1;
            }
        }
        let begin = at.at;
        let end = at.string_end(true)?;
        at.expect(b':')?;
        Ok(Some(Str::checked(&at.text[begin..end])))
    }
}

impl Array {
    /// Whether another element follows; `false` behind the closing bracket.
    #[inline]
    pub fn more(&mut self, at: &mut Cursor<'_>) -> Result<bool, Error> {
        match at.peek() {
            Some(b']') => {
                at.at += 1;
                return Ok(false);
            }
            Some(b',') if !self.first => at.at += 1,
            Some(_) if self.first => {}
            _ => return Err(at.wrong()),
        }
        self.first = false;
        Ok(true)
    }
}

impl<'a> Cursor<'a> {
    /// At the beginning of `text`.
    #[inline]
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// At byte `at` of `text`.
    #[inline]
    pub(crate) const fn starting(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Byte offset from the beginning of the text.
    #[inline]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// What has not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next byte that is not white space, without moving past it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        let byte = *bytes.get(self.at)?;
        if byte > b' ' {
            return Some(byte);
        }
        // One blank, as some write behind colons and commas.
        match bytes.get(self.at + 1) {
            Some(&next) if next > b' ' && byte == b' ' => {
                self.at += 1;
                Some(next)
            }
            _ => {
                self.at = lex::behind_space(bytes, self.at);
                bytes.get(self.at).copied()
            }
        }
    }

    /// The shape of the next value, without reading it.
    #[inline]
    pub fn shape(&mut self) -> Result<Shape, Error> {
        Shape::of(self.peek()).ok_or_else(|| self.wrong())
    }

    /// Opens an object.
    #[inline]
    pub fn object(&mut self) -> Result<Object, Error> {
        self.open(b'{')?;
        Ok(Object { first: true })
    }

    /// Opens an array.
    #[inline]
    pub fn array(&mut self) -> Result<Array, Error> {
        self.open(b'[')?;
        Ok(Array { first: true })
    }

    /// Reads a string and checks it in full.
    #[inline]
    pub fn string(&mut self) -> Result<Str<'a>, Error> {
        self.open(b'"')?;
        let begin = self.at;
        let end = self.string_end(true)?;
        Ok(Str::checked(&self.text[begin..end]))
    }

    /// Reads a string with its quotes and checks it in full.
    #[inline(always)]
    pub(crate) fn quoted(&mut self) -> Result<Raw<'a>, Error> {
        self.open(b'"')?;
        let begin = self.at - 1;
        self.string_end(true)?;
        Ok(Raw::checked(&self.text[begin..self.at]))
    }

    /// [`Self::raw`] where most values are short strings.
    #[inline(always)]
    pub(crate) fn mostly_string(&mut self) -> Result<Raw<'a>, Error> {
        let first = self.peek();
        self.peeked(first)
    }

    /// [`Self::mostly_string`] at the value's first byte, which has been looked at.
    #[inline(always)]
    pub(crate) fn peeked(&mut self, first: Option<u8>) -> Result<Raw<'a>, Error> {
        let begin = self.at;
        if first == Some(b'"') {
            self.at += 1;
            self.string_end(true)?;
        } else {
            self.at = lex::check_other(self.text, self.at, first)?;
        }
        Ok(Raw::checked(&self.text[begin..self.at]))
    }

    /// From behind a string's opening quote to behind its closing one, checked in full; returns where the closing one stands.
    #[inline]
    pub(crate) fn string_body(&mut self) -> Result<usize, Error> {
        self.string_end(true)
    }

    /// Reads a string; `None` for `null`.
    #[inline]
    pub fn string_or_null(&mut self) -> Result<Option<Str<'a>>, Error> {
        if self.peek() == Some(b'n') {
            self.at = lex::literal(self.text, self.at, "null")?;
            return Ok(None);
        }
        self.string().map(Some)
    }

    /// Reads `true` or `false`.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Error> {
        let (end, value) = match self.peek() {
            Some(b't') => (lex::literal(self.text, self.at, "true")?, true),
            Some(b'f') => (lex::literal(self.text, self.at, "false")?, false),
            Some(_) => return Err(self.error(Why::Type)),
            None => return Err(self.error(Why::CutOff)),
        };
        self.at = end;
        Ok(value)
    }

    /// Reads any value and checks it in full.
    #[inline]
    pub fn raw(&mut self) -> Result<Raw<'a>, Error> {
        self.mostly_string()
    }

    /// Reads any value and checks it in full; of an object, finds the first member of each name.
    pub(crate) fn raw_with<const N: usize>(&mut self, names: [&str; N]) -> Result<(Raw<'a>, [Option<Raw<'a>>; N]), Error> {
        let (raw, found) = self.raw_along(|at| at.find_checked(names))?;
        Ok((raw, found.unwrap_or([None; N])))
    }

    /// The same where `read`, which reads an object from here on and checks it in full, tells what it has found.
    pub(crate) fn raw_along<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<(Raw<'a>, Option<T>), Error> {
        self.peek();
        let begin = *self;
        match read(self) {
            Ok(found) => Ok((Raw::checked(&self.text[begin.at..self.at]), Some(found))),
            Err(_) => {
                // It is no object, or damaged: then all of it tells what is wrong.
                *self = begin;
                self.raw().map(|raw| (raw, None))
            }
        }
    }

    fn find_checked<const N: usize>(&mut self, names: [&str; N]) -> Result<[Option<Raw<'a>>; N], Error> {
        let mut found = [None; N];
        let mut object = self.object()?;
        while let Some(key) = object.key(self)? {
            let value = self.raw()?;
            for (name, place) in names.iter().zip(&mut found) {
                if place.is_none() && key.is(name) {
                    *place = Some(value);
                }
            }
        }
        Ok(found)
    }

    /// Passes over any value; checks only that its quotes and brackets match.
    #[inline]
    pub fn skip(&mut self) -> Result<Raw<'a>, Error> {
        self.pass()
    }

    /// [`Self::skip`] where many values are passed over in a short time.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Result<Raw<'a>, Error> {
        let first = self.peek();
        let begin = self.at;
        if first == Some(b'"') {
            self.at += 1;
            self.string_end(false)?;
        } else {
            self.at = lex::pass_other(self.text, self.at, first)?;
        }
        Ok(Raw::trusted(&self.text[begin..self.at]))
    }

    /// How many elements the array at this place has, where so much follows that memory for all of them is better taken at once; else 0.
    #[inline]
    pub(crate) fn elements_ahead(&self) -> usize {
        const LONG: usize = 1 << 16;
        if self.text.len() - self.at < LONG { 0 } else { self.count_elements() }
    }

    #[cold]
    fn count_elements(mut self) -> usize {
        let Ok(mut array) = self.array() else { return 0 };
        let mut count = 0;
        while array.more(&mut self) == Ok(true) && self.skip().is_ok() {
            count += 1;
        }
        count
    }

    /// An error at this place.
    #[inline]
    pub const fn error(&self, why: Why) -> Error {
        Error { at: self.at, why }
    }

    /// Whether only white space is left.
    #[inline]
    pub fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    #[inline]
    pub(super) fn open(&mut self, byte: u8) -> Result<(), Error> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.another())
    }

    /// The error of another value than the one that is due.
    #[cold]
    #[inline(never)]
    fn another(mut self) -> Error {
        match Shape::of(self.peek()) {
            Some(_) => self.error(Why::Type),
            None => self.wrong(),
        }
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong())
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wrong(mut self) -> Error {
        let why = match self.peek() {
            None => Why::CutOff,
            Some(b'a'..=b'z' | b'A'..=b'Z') => Why::Literal,
            Some(_) => Why::Syntax,
        };
        self.error(why)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lex::escape_end;
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) -> Result<&str, Error> {
        let mut at = Cursor::new(text);
        let raw = at.raw()?;
        if at.at_end() { Ok(raw.as_str()) } else { Err(at.error(Why::Syntax)) }
    }

    #[test]
    fn accepts_what_json_accepts_and_nothing_else() {
        for good in [
            "0",
            "-0",
            "1.10",
            "1e400",
            "123456789012345678901234567890",
            "true",
            "null",
            "\"\\ud800x\"",
            "[]",
            "{}",
            "[[],{}]",
            "{\"a\":[1,2,{\"b\":null}],\"a\":\"\"}",
            " [ 1 , 2 ] ",
            "\"\\u0041\\/\"",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "01",
            "-",
            "1.",
            "1e",
            ".5",
            "tru",
            "nul",
            "nulll",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "{",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[1}",
            "{\"a\":1]",
            "]",
            "\"\u{1}\"",
            "[1 2]",
            "{\"a\" 1}",
            "NaN",
            "'a'",
            "+1",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(check(&deep).is_ok());
        assert!(Cursor::new(&deep).skip().is_ok());
        let open = "{\"a\":".repeat(100_000);
        assert_eq!(check(&open).unwrap_err().why, Why::CutOff);
        assert_eq!(Cursor::new(&open).skip().unwrap_err().why, Why::CutOff);
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(check("{\"a\":tru}"), Err(Error { at: 5, why: Why::Literal }));
        assert_eq!(check("{\"a\":\"b"), Err(Error { at: 7, why: Why::CutOff }));
        assert_eq!(check("[1}"), Err(Error { at: 2, why: Why::Bracket }));
    }

    /// Where a string ends whose body begins at `from`, byte by byte.
    fn plain_end(bytes: &[u8], from: usize, full: bool) -> Result<usize, Error> {
        let mut at = from;
        loop {
            match bytes.get(at) {
                Some(b'"') => return Ok(at),
                Some(b'\\') if !full => at += 2,
                Some(b'\\') => at = escape_end(bytes, at).map_err(|why| Error { at, why })?,
                Some(&byte) if full && byte < 0x20 => return Err(Error { at, why: Why::Control }),
                Some(_) => at += 1,
                None => {
                    return Err(Error {
                        at: bytes.len(),
                        why: Why::CutOff,
                    });
                }
            }
        }
    }

    proptest! {
        #[test]
        fn strings_end_where_a_plain_loop_ends_them(
            text in prop::collection::vec(
                prop::sample::select(vec!["\\", "\\\\", "\\\"", "\\n", "\\u00e9", "\\u12", "\\x", "\"", "\u{1}", "a", "é", "0123456789abcdef", "sixty-four bytes of plain text without anything that stops a string.."]),
                0..24,
            ),
            end in "[\"a}]{0,3}",
            from in 0usize..8,
        ) {
            let text = text.concat() + &end;
            let from = (from.min(text.len())..).find(|&at| text.is_char_boundary(at)).unwrap();
            for full in [true, false] {
                let mut at = Cursor::starting(&text, from);
                let found = at.string_end(full);
                prop_assert_eq!(found, plain_end(text.as_bytes(), from, full), "{} {}", full, text);
                if let Ok(end) = found {
                    prop_assert_eq!(at.position(), end + 1);
                }
            }
        }

        #[test]
        fn containers_are_skipped_alike_fast_and_slowly(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", "[]", "{}", "\"", "\"\"", "\\", "\"\\\\\"", "\"\\\"]\"", "\"{[\"", "1,", "null", ":", "é", "                                 ",
                    "\"a text of some length without anything that stops it, and more of it\"",
                ]),
                0..60,
            ),
            open in "[\\[{]",
        ) {
            let text = open + &parts.concat();
            for from in [0, 1].into_iter().filter(|&from| text.is_char_boundary(from) && matches!(text.as_bytes().get(from), Some(b'{' | b'['))) {
                prop_assert_eq!(lex::skip_container(&text, from), lex::skip_container_slowly(&text, from), "{}", text);
            }
        }

        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}:,\"\\\\ntrue0-9eE.+ \\-]{0,40}") {
            let ours = check(&text).is_ok();
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(ours, theirs, "{}", text);
        }

        #[test]
        fn members_are_found_while_a_value_is_checked(text in "[{\\[]?([ab\":,{}\\[\\]1 ]|\"a\":|\"b\":){0,12}[}\\]]?") {
            let (mut whole, mut with) = (Cursor::new(&text), Cursor::new(&text));
            let raw = whole.raw();
            let found = with.raw_with(["a", "b"]);
            prop_assert_eq!(found.map(|(raw, _)| raw), raw);
            if let (Ok(raw), Ok((_, found))) = (raw, found) {
                prop_assert_eq!(found, [raw.get("a"), raw.get("b")]);
                prop_assert_eq!(with.position(), whole.position());
            }
        }

        #[test]
        fn skip_takes_exactly_what_raw_takes(text in "[\\[\\]{}:,\"\\\\ntrue0-9 ]{0,40}") {
            if let Ok(raw) = Cursor::new(&text).raw() {
                prop_assert_eq!(Cursor::new(&text).skip().map(|s| s.as_str()), Ok(raw.as_str()));
            }
        }
    }
}
