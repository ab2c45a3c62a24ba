//! One walk over a line's members.

use crate::codec::Cx;
use crate::event::{At, Field};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

/// A member that docs/tricode.md names; the order is that of [`super::fields::KNOWN`].
#[derive(Clone, Copy)]
pub(super) enum Key {
    Arguments,
    Content,
    Formatted,
    Message,
    Name,
    Number,
    Result,
    Success,
    Type,
}

impl Key {
    fn of(key: Str<'_>) -> Option<Self> {
        let plain = |key: &str| {
            Some(match key {
                "type" => Self::Type,
                "name" => Self::Name,
                "arguments" => Self::Arguments,
                "formatted" => Self::Formatted,
                "success" => Self::Success,
                "result" => Self::Result,
                "number" => Self::Number,
                "message" => Self::Message,
                "content" => Self::Content,
                _ => return None,
            })
        };
        if key.has_escapes() {
            plain(&key.unescape())
        } else {
            plain(key.as_escaped())
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The members of a line.
#[derive(Default)]
pub(super) struct Members<'a> {
    text: &'a str,
    /// Where the line ends in the text.
    pub(super) end: usize,
    /// By [`Key`]. Of a key that comes twice it is the last, as Python has it.
    known: [Option<Raw<'a>>; 9],
    /// Which of them are there.
    there: u16,
    /// Everything else, in order.
    more: Vec<Field<'a>>,
}

impl<'a> Members<'a> {
    /// Reads the object that the text begins with. Texts and arguments are checked in full.
    pub(super) fn read(text: &'a str) -> Result<Self, Error> {
        let mut members = Self { text, ..Self::default() };
        let mut at = Cursor::new(text);
        let mut object = at.object()?;
        while let Some(name) = object.key(&mut at)? {
            let key = Key::of(name);
            let first = at.peek();
            let begin = at.position();
            match (key, first) {
                (Some(_), Some(b'"')) => {
                    at.string()?;
                }
                (Some(Key::Arguments), _) => {
                    at.raw()?;
                }
                _ => {
                    at.skip()?;
                }
            }
            let value = Raw::trusted(&text[begin..at.position()]);
            let Some(key) = key else {
                members.more.push(field(name, value, false));
                continue;
            };
            if let Some(before) = members.known[key as usize].replace(value) {
                members.more.push(field(name, before, true));
            }
            members.there |= key.bit();
        }
        members.end = at.position();
        Ok(members)
    }

    /// The line itself.
    pub(super) fn line(&self) -> &'a str {
        &self.text[..self.end]
    }

    /// A member, whatever it is.
    pub(super) const fn get(&self, key: Key) -> Option<Raw<'a>> {
        self.known[key as usize]
    }

    /// A member that has to be there.
    pub(super) fn require(&self, key: Key) -> Result<Raw<'a>, Error> {
        self.get(key).ok_or(Error {
            at: self.end,
            why: Why::Missing,
        })
    }

    /// A member that has to be a text.
    pub(super) fn text(&self, key: Key) -> Result<Str<'a>, Error> {
        let value = self.require(key)?;
        text(value).ok_or_else(|| self.wrong(value))
    }

    /// The error of a member of the wrong type.
    pub(super) fn wrong(&self, value: Raw<'_>) -> Error {
        Error {
            at: (value.as_str().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize),
            why: Why::Type,
        }
    }

    /// Every member but these.
    #[inline]
    pub(super) fn others(&self, typed: &[Key], cx: &Cx<'a>) -> &'a [Field<'a>] {
        let typed = typed.iter().fold(0, |bits, key| bits | key.bit());
        if self.there & !typed == 0 && self.more.is_empty() {
            return &[];
        }
        let names = super::fields::KNOWN.iter().zip(&self.known).enumerate();
        let untyped = names.filter(|&(at, _)| typed & 1 << at == 0);
        let mut fields: Vec<_> = untyped
            .filter_map(|(_, (&(name, _), &value))| Some(field(Str::trusted(name), value?, true)))
            .collect();
        fields.extend_from_slice(&self.more);
        cx.list(&fields)
    }
}

/// The body of a text that was read in full.
pub(super) fn text(value: Raw<'_>) -> Option<Str<'_>> {
    let body = value.as_str().strip_prefix('"')?;
    body.get(..body.len().checked_sub(1)?).map(Str::trusted)
}

/// A number that is not negative and has no fraction.
pub(super) fn count(value: Raw<'_>) -> Option<u64> {
    value.u64().filter(|_| value.shape() == Some(Shape::Number))
}

const fn field<'a>(key: Str<'a>, value: Raw<'a>, known: bool) -> Field<'a> {
    Field {
        at: At::Line,
        key,
        value,
        known,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::KNOWN;
    use super::*;

    #[test]
    fn keys_have_the_order_of_the_table() {
        for (at, &(name, meaning)) in KNOWN.iter().enumerate() {
            assert_eq!(Key::of(Str::trusted(name)).map(|key| key as usize), Some(at), "{name}");
            assert!(!meaning.is_empty());
        }
        assert_eq!(Key::of(Str::trusted("\\u0074ype")).map(|key| key as usize), Some(Key::Type as usize));
        assert!(Key::of(Str::trusted("typ")).is_none());
    }
}
