use std::fmt;

use crate::json::{Cursor, Raw, Shape, Str};

/// A JSON value as the log spells it: key order, numbers and escapes stay as they were written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<str>);

impl Default for Json {
    /// `null`.
    fn default() -> Self {
        Self("null".into())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Json {
    /// One JSON value; `None` if the text is none, or more than one.
    pub fn new(text: &str) -> Option<Self> {
        let mut at = Cursor::new(text.trim_ascii());
        let value = at.raw().ok()?;
        at.at_end().then(|| Self(crate::json::on_one_line(value.as_str()).into()))
    }

    /// A text.
    pub fn text(plain: &str) -> Self {
        let mut body = String::with_capacity(plain.len() + 2);
        body.push('"');
        Str::escape(plain, &mut body);
        body.push('"');
        Self(body.into())
    }

    /// The JSON text.
    pub const fn as_str(&self) -> &str {
        &self.0
    }

    /// The member of an object with that name, if there is one.
    pub fn get(&self, key: &str) -> Option<Self> {
        self.raw().get(key).map(Self::part)
    }

    /// The members of an object in the order in which they stand; none for anything else.
    pub fn members(&self) -> impl Iterator<Item = (String, Self)> {
        self.raw().members().map(|(key, value)| (key.unescape().into_owned(), Self::part(value)))
    }

    /// The elements of an array; none for anything else.
    pub fn elements(&self) -> impl Iterator<Item = Self> {
        self.raw().elements().map(Self::part)
    }

    /// The text, if it is a string. Lone surrogates become U+FFFD.
    pub fn to_text(&self) -> Option<String> {
        self.raw().string().map(|text| text.unescape().into_owned())
    }

    /// The truth value, if it is one.
    pub fn to_bool(&self) -> Option<bool> {
        self.raw().bool()
    }

    /// The number, if it is a whole one that is not negative.
    pub fn to_u64(&self) -> Option<u64> {
        self.raw().u64()
    }

    /// The number, if it is a whole one.
    pub fn to_i64(&self) -> Option<i64> {
        self.raw().i64()
    }

    /// The number, if it is one and not too large for a double.
    pub fn to_f64(&self) -> Option<f64> {
        self.raw().f64()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.raw().is_null()
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.raw().shape() == Some(Shape::Object)
    }

    /// Text that is known to be one JSON value.
    #[cfg(feature = "serde")]
    pub(crate) fn trusted(text: String) -> Self {
        Self(text.into())
    }

    fn raw(&self) -> Raw<'_> {
        Raw::trusted(&self.0)
    }

    /// A part of a value that has been checked.
    fn part(raw: Raw<'_>) -> Self {
        Self(raw.as_str().into())
    }
}
