//! Any value, as it was written.

use std::fmt;

use super::string::Str;
use super::{Cursor, Error};

/// One JSON value as written: its bytes, white space inside included, none around.
///
/// What comes out of [`Cursor::raw`] is checked in full; what comes out of [`Cursor::skip`] only for structure, and
/// [`super::Out::unchecked`] checks it when it is written.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    text: &'a str,
    /// It has been checked in full.
    sound: bool,
    /// See [`Self::unread`].
    unread: bool,
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Raw<'_> {}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Raw").field(&self.text).finish()
    }
}

/// The six shapes of JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Shape {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Shape {
    pub(crate) const fn of(first: Option<u8>) -> Option<Self> {
        Some(match first {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'-' | b'0'..=b'9') => Self::Number,
            Some(b'"') => Self::String,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            _ => return None,
        })
    }
}

impl<'a> Raw<'a> {
    /// `null`.
    pub const NULL: Self = Self::checked("null");

    /// Takes a value that was checked in full.
    pub(crate) const fn checked(text: &'a str) -> Self {
        Self::known(text, true)
    }

    /// Takes a text that the caller knows to be one JSON value (a literal, or one that it just built).
    pub const fn trusted(text: &'a str) -> Self {
        Self::known(text, false)
    }

    /// The same for one that `was_checked` in full, or was not.
    pub(crate) const fn known(text: &'a str, was_checked: bool) -> Self {
        Self {
            text,
            sound: was_checked,
            unread: false,
        }
    }

    /// The same, as a value that its reader has passed over: of its name nobody asks for the value, so that another one of its type would
    /// mean as little.
    #[inline]
    pub(crate) const fn unread(self) -> Self {
        Self { unread: true, ..self }
    }

    /// The same, as a value that its reader has looked at.
    #[inline]
    pub(crate) const fn read(self) -> Self {
        Self { unread: false, ..self }
    }

    /// Whether its reader has passed over it.
    #[inline]
    pub(crate) const fn is_unread(self) -> bool {
        self.unread
    }

    /// Whether it is known to be sound; false does not mean that it is not.
    #[inline]
    pub(crate) const fn is_checked(self) -> bool {
        self.sound
    }

    /// The text.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        self.text
    }

    /// The shape; `None` only for a text that is no JSON.
    #[inline]
    pub fn shape(self) -> Option<Shape> {
        Shape::of(self.text.as_bytes().first().copied())
    }

    /// Whether it is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.text == "null"
    }

    /// The string, if it is one that passes the full check.
    #[inline]
    pub fn string(self) -> Option<Str<'a>> {
        if self.sound {
            return self.text.strip_prefix('"')?.strip_suffix('"').map(Str::checked);
        }
        Cursor::new(self.text).string().ok()
    }

    /// A part of it, which was found by structure.
    #[inline]
    const fn part(self, part: Self) -> Self {
        Self::known(part.text, self.sound)
    }

    /// The value of `true` or `false`.
    #[inline]
    pub fn bool(self) -> Option<bool> {
        match self.text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A whole number that fits; a JSON string that holds one counts too (proto3 writes 64-bit numbers so), and one with a fraction of
    /// nothing (tables of numbers, some of which are missing, are written so).
    #[inline]
    pub fn u64(self) -> Option<u64> {
        let text = self.number();
        few_digits(text).or_else(|| text.parse().ok()).or_else(|| whole(text))
    }

    /// As [`Self::u64`], signed.
    #[inline]
    pub fn i64(self) -> Option<i64> {
        let text = self.number();
        few_digits(text).and_then(|n| i64::try_from(n).ok()).or_else(|| text.parse().ok())
    }

    /// The text that may be a number: a string's without its quotes.
    #[inline]
    fn number(self) -> &'a str {
        if self.text.starts_with('"') {
            self.text.trim_matches('"')
        } else {
            self.text
        }
    }

    /// A number as a double, if it is not too large for one.
    #[inline]
    pub fn f64(self) -> Option<f64> {
        let number = matches!(self.shape(), Some(Shape::Number)).then(|| self.text.parse().ok()).flatten();
        number.filter(|number: &f64| number.is_finite())
    }

    /// The value of the first member named `key`, if this is an object that has one.
    pub fn get(self, key: &str) -> Option<Self> {
        let mut at = Cursor::new(self.text);
        let mut object = at.object().ok()?;
        while let Some(name) = object.key(&mut at).ok()? {
            let value = at.skip().ok()?;
            if name.is(key) {
                return Some(self.part(value));
            }
        }
        None
    }

    /// The value at the end of a path of names, each time of the first member of its name. What is on the way is not passed over first.
    pub fn find(self, path: &[&str]) -> Option<Self> {
        let Some((mut name, mut path)) = path.split_first() else {
            return Some(self);
        };
        let mut at = Cursor::new(self.text);
        let mut object = at.object().ok()?;
        while let Some(key) = object.key(&mut at).ok()? {
            if !key.is(name) {
                at.skip().ok()?;
                continue;
            }
            let Some((next, rest)) = path.split_first() else {
                return at.skip().ok().map(|value| self.part(value));
            };
            (name, path) = (next, rest);
            object = at.object().ok()?;
        }
        None
    }

    /// The values of the first members of these names, in one walk.
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        let mut left = N;
        let mut at = Cursor::new(self.text);
        let Ok(mut object) = at.object() else { return found };
        while left > 0
            && let Ok(Some(key)) = object.next(&mut at)
        {
            let Ok(value) = at.pass() else { break };
            let place = names.iter().zip(&mut found).find(|(name, place)| place.is_none() && key.is(name));
            if let Some((_, place)) = place {
                *place = Some(self.part(value));
                left -= 1;
            }
        }
        found
    }

    /// The members of an object in order, duplicates included; nothing for another shape. Stops at the first damage.
    pub fn members(self) -> impl Iterator<Item = (Str<'a>, Self)> {
        let mut at = Cursor::new(self.text);
        let mut object = at.object().ok();
        std::iter::from_fn(move || {
            let key = object.as_mut()?.key(&mut at).ok()??;
            Some((key, self.part(at.skip().ok()?)))
        })
    }

    /// The elements of an array in order; nothing for another shape. Stops at the first damage.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        let mut at = Cursor::new(self.text);
        let mut array = at.array().ok();
        std::iter::from_fn(move || {
            let more = array.as_mut()?.more(&mut at).ok()?;
            if more { Some(self.part(at.skip().ok()?)) } else { None }
        })
    }

    /// The elements of an array in order, and of those that are objects the first members of these names, in one walk. The array has been
    /// checked in full.
    pub(crate) fn elements_with<const N: usize>(self, names: [&str; N]) -> impl Iterator<Item = (Self, [Option<Self>; N])> {
        let mut at = Cursor::new(self.text);
        let mut array = at.array().ok();
        std::iter::from_fn(move || {
            if !array.as_mut()?.more(&mut at).ok()? {
                return None;
            }
            let mut found = [None; N];
            if at.peek() != Some(b'{') {
                return Some((self.part(at.skip().ok()?), found));
            }
            let begin = at;
            let mut object = at.object().ok()?;
            while let Some(key) = object.key(&mut at).ok()? {
                let value = self.part(at.skip().ok()?);
                let place = names.iter().zip(&mut found).find(|(name, place)| place.is_none() && key.is(name));
                if let Some((_, place)) = place {
                    *place = Some(value);
                }
            }
            let text = begin.rest();
            Some((Self::known(&text[..at.position() - begin.position()], self.sound), found))
        })
    }

    /// The elements of an array that are strings and pass the full check, in order. Stops at the first damage of the structure.
    pub fn strings(self) -> impl Iterator<Item = Str<'a>> {
        let mut at = Cursor::new(self.text);
        let mut array = at.array().ok();
        std::iter::from_fn(move || {
            while array.as_mut()?.more(&mut at).ok()? {
                let before = at;
                if let Ok(string) = at.string() {
                    return Some(string);
                }
                at = before;
                at.skip().ok()?;
            }
            None
        })
    }

    /// Checks the whole value, and that it is one: nothing stands behind it.
    pub fn check(self) -> Result<(), Error> {
        if self.sound {
            return Ok(());
        }
        let mut at = Cursor::new(self.text);
        at.raw()?;
        if at.at_end() { Ok(()) } else { Err(at.wrong()) }
    }

    /// Whether two values say the same: white space, key order and the spelling of escapes do not count; numbers are
    /// compared as text, then as doubles. Works without recursion on objects and arrays of any depth that are spelled alike;
    /// nesting beyond 64 levels is compared as text.
    pub fn same_value(self, other: Raw<'_>) -> bool {
        self.text == other.text || same(self, other, 0)
    }
}

/// A number of so few digits that it fits: a count or a time, as a rule.
#[inline]
fn few_digits(text: &str) -> Option<u64> {
    let digits = Some(text.as_bytes()).filter(|digits| (1..=18).contains(&digits.len()))?;
    digits
        .iter()
        .try_fold(0, |n, digit| digit.is_ascii_digit().then(|| n * 10 + u64::from(digit - b'0')))
}

/// The number, if there is nothing behind its point and each whole number up to it can be told apart.
#[cold]
fn whole(text: &str) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let number: f64 = text.parse().ok().filter(|_| text.starts_with(|first: char| first.is_ascii_digit()))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative and not large"
    )]
    (number.fract() == 0.0 && number <= MOST).then_some(number as u64)
}

fn same(a: Raw<'_>, b: Raw<'_>, depth: u32) -> bool {
    if a.text == b.text {
        return true;
    }
    if depth > 64 || a.shape() != b.shape() {
        return false;
    }
    match a.shape() {
        Some(Shape::String) => matches!((a.string(), b.string()), (Some(a), Some(b)) if a.same_text(b)),
        Some(Shape::Number) => a.f64().is_some() && a.f64() == b.f64(),
        Some(Shape::Array) => {
            let (mut left, mut right) = (a.elements(), b.elements());
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return true,
                    (Some(a), Some(b)) if same(a, b, depth + 1) => {}
                    _ => return false,
                }
            }
        }
        Some(Shape::Object) => {
            let right: Vec<_> = b.members().collect();
            let mut taken = vec![false; right.len()];
            let mut count = 0;
            for (key, value) in a.members() {
                let found = (0..right.len()).find(|&i| !taken[i] && right[i].0.same_text(key) && same(value, right[i].1, depth + 1));
                match found {
                    Some(i) => taken[i] = true,
                    None => return false,
                }
                count += 1;
            }
            count == right.len()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_one_however_it_is_spelled() {
        let read = |text| Raw::trusted(text).u64();
        for (text, number) in [("12", 12), ("12.0", 12), ("1e3", 1000), ("\"7\"", 7), ("18446744073709551615", u64::MAX)] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["12.5", "-1", "-0.0", "1e300", "null", "\"x\"", "\"inf\"", "[1]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn values_that_say_the_same_are_the_same() {
        let raw = |text| Raw::trusted(text);
        assert!(raw("{\"a\":1,\"b\":[true,null]}").same_value(raw("{ \"b\" : [true, null], \"a\" : 1.0 }")));
        assert!(raw("\"\\u00e9\"").same_value(raw("\"é\"")));
        assert!(!raw("{\"a\":1}").same_value(raw("{\"a\":1,\"a\":1}")));
        assert!(!raw("[1,2]").same_value(raw("[2,1]")));
        assert!(!raw("\"1\"").same_value(raw("1")));
    }

    #[test]
    fn members_keep_order_and_duplicates() {
        let found: Vec<_> = Raw::trusted("{\"z\":1,\"a\":2,\"z\":3}")
            .members()
            .map(|(k, v)| (k.as_escaped(), v.as_str()))
            .collect();
        assert_eq!(found, [("z", "1"), ("a", "2"), ("z", "3")]);
        assert_eq!(Raw::trusted("\"42\"").u64(), Some(42));
    }

    #[test]
    fn paths_and_picked_members_are_what_they_are_one_by_one() {
        let objects = [
            r#"{"a":{"b":{"c":1},"b":2},"a":3,"d":null}"#,
            r#"{"d":[{"a":1}],"\u0061":{"c":2,"b":[1]},"b":{"a":{"b":4}}}"#,
            r#"{"a":[1],"b":{}}"#,
            "[1]",
            r#"{"b":1,"a":{"b":"#,
        ];
        for object in objects.map(Raw::trusted) {
            for path in [&["a"][..], &["a", "b"], &["a", "b", "c"], &["b", "a", "b"], &["d", "a"], &[]] {
                let one_by_one = path.iter().try_fold(object, |value, name| value.get(name));
                assert_eq!(object.find(path), one_by_one, "{object:?} {path:?}");
            }
            let names = ["d", "a", "x", "b"];
            let each = names.map(|name| object.get(name));
            assert_eq!(object.pick(names), each, "{object:?}");
            let list = format!("[ {}, [], {} ]", object.as_str(), object.as_str());
            let list = Raw::trusted(&list);
            if list.check().is_ok() {
                let found: Vec<_> = list.elements_with(names).collect();
                assert_eq!(found, [(object, each), (Raw::trusted("[]"), [None; 4]), (object, each)]);
            }
        }
    }

    #[test]
    fn what_stands_behind_a_value_is_no_part_of_it() {
        assert!(Raw::trusted("{\"a\":1} ").check().is_ok());
        for text in ["{} garbage", "{}{}", "{}},\"b\":{}", "1 2", ""] {
            assert!(Raw::trusted(text).check().is_err(), "{text}");
        }
    }
}
