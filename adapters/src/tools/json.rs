//! Small helpers around raw JSON: taking an object apart by names, and building one in the arena.

use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

use crate::json::{Cursor, Digits, Raw, Shape, Str};

/// The members of an object with these names, in the order of the names; the last of several with one name counts, and `null`
/// counts as absent. `None` when `value` is no object or is damaged.
pub(crate) fn members<'a, const N: usize>(value: Raw<'a>, names: [&str; N]) -> Option<[Option<Raw<'a>>; N]> {
    let mut at = Cursor::new(value.as_str());
    let mut object = at.object().ok()?;
    let mut found = [None; N];
    while let Some(key) = object.next(&mut at).ok()? {
        let value = Raw::known(at.pass().ok()?.as_str(), value.is_checked());
        if let Some(index) = names.iter().position(|name| key.is(name)) {
            found[index] = (!value.is_null()).then_some(value);
        }
    }
    Some(found)
}

/// Reads a member that may be absent: `None` when it is there and of another type than it should be.
pub(crate) fn optional<'a, T>(value: Option<Raw<'a>>, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Option<Option<T>> {
    value.map_or(Some(None), |value| read(value).map(Some))
}

/// A whole number from 0 up, written as a number without point and exponent.
pub(crate) fn whole(value: Raw<'_>) -> Option<u64> {
    matches!(value.shape(), Some(Shape::Number))
        .then(|| value.as_str().parse().ok())
        .flatten()
}

/// The value if it is a number, or if it is an array, of which only the structure is known to be sound.
pub(crate) fn number(value: Raw<'_>) -> Option<Raw<'_>> {
    (value.shape() == Some(Shape::Number)).then_some(value)
}

/// The value if it is an array that passes the full check.
pub(crate) fn array(value: Raw<'_>) -> Option<Raw<'_>> {
    (value.shape() == Some(Shape::Array) && value.check().is_ok()).then_some(value)
}

/// The value if it is an object that passes the full check.
pub(crate) fn object(value: Raw<'_>) -> Option<Raw<'_>> {
    (value.shape() == Some(Shape::Object) && value.check().is_ok()).then_some(value)
}

/// Plain text as the body of a JSON string in the arena.
pub(crate) fn escaped<'a>(plain: &str, arena: &'a Bump) -> Str<'a> {
    let mut body = BumpString::with_capacity_in(plain.len() + plain.len() / 8 + 16, arena);
    Str::escape_parts(plain, |part| body.push_str(part));
    Str::trusted(body.into_bump_str())
}

/// The text of a string, unless it holds a lone surrogate, which plain text cannot.
pub(crate) fn plain(text: Str<'_>) -> Option<std::borrow::Cow<'_, str>> {
    let plain = text.unescape();
    let lost = text.has_escapes() && plain.contains('\u{fffd}') && char::decode_utf16(text.units()).any(|unit| unit.is_err());
    (!lost).then_some(plain)
}

/// A text of so many bytes is not to be moved in the arena.
const MANY: usize = 4096;
/// So much room is there for what stands around it.
const AROUND: usize = 1024;

/// Room for a value of about that many bytes.
const fn room(bytes: usize) -> usize {
    bytes.saturating_add(if bytes < MANY { 256 } else { AROUND })
}

/// Builds one JSON value in the arena. Commas are set by what stands before.
pub(crate) struct Json<'a> {
    text: BumpString<'a>,
    /// A value that it has been so far, and how much of that has come: as long as nothing else does, nothing is copied.
    like: Option<(Raw<'a>, usize)>,
    python: bool,
    /// All values in it were checked in full.
    sound: bool,
}

impl<'a> Json<'a> {
    /// Compact.
    pub(crate) fn new(arena: &'a Bump) -> Self {
        Self::with_room(0, arena)
    }

    /// The same for a value of about that many bytes: memory of the arena cannot grow where it stands.
    pub(crate) fn with_room(bytes: usize, arena: &'a Bump) -> Self {
        Self {
            text: BumpString::with_capacity_in(room(bytes), arena),
            like: None,
            python: false,
            sound: true,
        }
    }

    /// The same for a value that is perhaps spelled like another one, which is then taken as it stands.
    pub(crate) fn like(value: Raw<'a>, arena: &'a Bump) -> Self {
        Self {
            text: BumpString::new_in(arena),
            like: Some((value, 0)),
            python: false,
            sound: true,
        }
    }

    /// With a blank behind commas and colons, as Python writes.
    pub(crate) fn python(arena: &'a Bump) -> Self {
        Self {
            python: true,
            ..Self::new(arena)
        }
    }

    /// Where it is built.
    pub(crate) fn arena(&self) -> &'a Bump {
        self.text.bump()
    }

    #[inline]
    fn push(&mut self, text: &str) {
        if let Some((like, at)) = &mut self.like {
            let rest = &like.as_str().as_bytes()[*at..];
            // What is taken from the value stands there as a rule.
            if std::ptr::eq(rest.as_ptr(), text.as_ptr()) && rest.len() >= text.len() || rest.starts_with(text.as_bytes()) {
                *at += text.len();
                return;
            }
            self.differ();
        }
        // Behind a long text there is room for what usually follows: else the arena would hold it a second time.
        if text.len() > MANY && self.text.capacity() - self.text.len() < text.len() + 2 {
            self.text.reserve(text.len() + AROUND);
        }
        self.text.push_str(text);
    }

    /// It is another value.
    fn differ(&mut self) {
        if let Some((like, at)) = self.like.take() {
            // Of a long value it is as a rule the names that differ, or what stands around each of its elements.
            let len = like.as_str().len();
            self.text.reserve(room(if len > MANY { len + len / 8 } else { at }));
            self.text.push_str(&like.as_str()[..at]);
        }
    }

    /// Opens or closes an object or array, which is written as given: `{`, `}`, `[`, `]`. Where it opens inside an array, call
    /// [`Self::item`] first.
    pub(crate) fn mark(&mut self, bracket: char) -> &mut Self {
        self.push(bracket.encode_utf8(&mut [0; 4]));
        self
    }

    /// A key; its value has to follow.
    #[inline]
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.item();
        self.push("\"");
        self.push(name);
        self.push(if self.python { "\": " } else { "\":" });
        self
    }

    /// An element of an array is to follow.
    pub(crate) fn item(&mut self) -> &mut Self {
        let so_far = match self.like {
            Some((like, at)) => &like.as_str().as_bytes()[..at],
            None => self.text.as_bytes(),
        };
        if !matches!(so_far.last(), Some(b'{' | b'[')) {
            self.push(if self.python { ", " } else { "," });
        }
        self
    }

    /// A string.
    pub(crate) fn str(&mut self, text: Str<'_>) -> &mut Self {
        self.push("\"");
        self.push(text.as_escaped());
        self.push("\"");
        self
    }

    /// A string given as plain text.
    pub(crate) fn plain(&mut self, text: &str) -> &mut Self {
        self.push("\"");
        Str::escape_parts(text, |part| self.push(part));
        self.push("\"");
        self
    }

    /// A value as it stands.
    pub(crate) fn raw(&mut self, value: Raw<'_>) -> &mut Self {
        self.push(value.as_str());
        self.sound &= value.is_checked();
        self
    }

    /// A literal: `true`, `null`, `{}`.
    pub(crate) fn lit(&mut self, text: &str) -> &mut Self {
        self.push(text);
        self
    }

    /// A whole number.
    pub(crate) fn number(&mut self, n: impl Into<i128>) -> &mut Self {
        self.push(Digits::of(n.into()).as_str());
        self
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self, value: bool) -> &mut Self {
        self.lit(if value { "true" } else { "false" })
    }

    /// A member with a string, if there is one.
    pub(crate) fn maybe_str(&mut self, name: &str, text: Option<Str<'_>>) -> &mut Self {
        match text {
            Some(text) => self.key(name).str(text),
            None => self,
        }
    }

    /// A member with a value, if there is one.
    pub(crate) fn maybe_raw(&mut self, name: &str, value: Option<Raw<'_>>) -> &mut Self {
        match value {
            Some(value) => self.key(name).raw(value),
            None => self,
        }
    }

    /// A member with a number, if there is one.
    pub(crate) fn maybe_number(&mut self, name: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.key(name).number(value),
            None => self,
        }
    }

    /// A member with `true` or `false`, if it is known.
    pub(crate) fn maybe_bool(&mut self, name: &str, value: Option<bool>) -> &mut Self {
        match value {
            Some(value) => self.key(name).bool(value),
            None => self,
        }
    }

    /// The value.
    pub(crate) fn done(mut self) -> Raw<'a> {
        match self.like {
            Some((like, at)) if at == like.as_str().len() => return like,
            _ => self.differ(),
        }
        Raw::known(self.text.into_bump_str(), self.sound)
    }
}
