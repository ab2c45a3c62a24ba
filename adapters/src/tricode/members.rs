//! One walk over a line's members.

use super::fields::KNOWN;
use super::formatted_result::Same;
use crate::codec::Cx;
use crate::event::{At, Field};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why, stands_at};

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
    const fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Content => "content",
            Self::Formatted => "formatted",
            Self::Message => "message",
            Self::Name => "name",
            Self::Number => "number",
            Self::Result => "result",
            Self::Success => "success",
            Self::Type => "type",
        }
    }

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

/// What a line is, by its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    System,
    Round,
    Call,
    Result,
    Reminder,
    Final,
}

impl Line {
    /// Every one, with its `type`.
    pub(super) const ALL: [(Self, &str); 6] = [
        (Self::Result, "tool_result"),
        (Self::Call, "tool_call"),
        (Self::Round, "round"),
        (Self::Final, "final"),
        (Self::System, "system"),
        (Self::Reminder, "reminder"),
    ];

    fn of(word: Str<'_>) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| word.is(name)).map(|&(line, _)| line)
    }
}

/// The one member that is a field as a rule.
const FORMATTED: u16 = Key::Formatted.bit();

/// The members of a line.
#[derive(Default)]
pub(super) struct Members<'a> {
    text: &'a str,
    /// What it is; `None` for types that nobody knows.
    pub(super) line: Option<Line>,
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
    /// Nothing has been read yet of the object that the text begins with.
    #[inline]
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }

    /// Reads it. Texts and arguments are checked in full.
    #[inline]
    pub(super) fn read(&mut self) -> Result<(), Error> {
        match self.read_usual() {
            Some(()) => Ok(()),
            None => self.read_general(),
        }
    }

    fn read_general(&mut self) -> Result<(), Error> {
        *self = Self::of(self.text);
        let mut at = Cursor::new(self.text);
        let mut object = at.object()?;
        while let Some(name) = object.key(&mut at)? {
            let Some(key) = Key::of(name) else {
                self.more.push(field(name, at.skip()?, false));
                continue;
            };
            let value = value(key, &mut at)?;
            if let Some(before) = self.known[key as usize].replace(value) {
                self.more.push(field(name, before, true));
            }
            self.there |= key.bit();
        }
        self.line = self.get(Key::Type).and_then(text).and_then(Line::of);
        self.end = at.position();
        Ok(())
    }

    /// Reads a line that is spelled as the program spells it, without looking for keys. If it is not, nothing is lost.
    #[inline]
    pub(super) fn read_usual(&mut self) -> Option<()> {
        let text = self.text;
        let kind = text.strip_prefix("{\"type\": \"")?;
        let usual = USUAL.iter().find(|usual| kind.starts_with(usual.kind))?;
        let begin = "{\"type\": ".len();
        let mut at = Cursor::starting(text, begin + 1 + usual.kind.len());
        self.line = Some(usual.line);
        self.known[Key::Type as usize] = Some(Raw::trusted(&text[begin..at.position()]));
        self.there = Key::Type.bit();
        for &(before, key) in usual.members {
            if !stands_at(text.as_bytes(), at.position(), before.as_bytes()) {
                return None;
            }
            at = Cursor::starting(text, at.position() + before.len());
            // White space between the two would belong to neither.
            if text.as_bytes().get(at.position())?.is_ascii_whitespace() {
                return None;
            }
            self.known[key as usize] = Some(value(key, &mut at).ok()?);
            self.there |= key.bit();
        }
        self.end = at.position() + 1;
        (text.as_bytes().get(at.position()) == Some(&b'}')).then_some(())
    }

    /// The text of the line.
    pub(super) fn text_of_line(&self) -> &'a str {
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
            why: Why::Missing(key.name()),
        })
    }

    /// A member that has to be a text.
    pub(super) fn text(&self, key: Key) -> Result<Str<'a>, Error> {
        let value = self.require(key)?;
        text(value).ok_or_else(|| self.wrong(value))
    }

    /// A member that is a text as a rule. What a tool of another make gives is its JSON text.
    pub(super) fn said(&self, key: Key, cx: &Cx<'a>) -> Result<Str<'a>, Error> {
        let value = self.require(key)?;
        let json = value.as_str();
        Ok(text(value).unwrap_or_else(|| match memchr::memchr2(b'"', b'\\', json.as_bytes()) {
            // Without a text in it, it is the body of one as it stands.
            None if !json.bytes().any(|byte| byte < b' ') => Str::trusted(json),
            _ => {
                let said = cx.text(json);
                cx.stands_for(said.as_escaped(), json);
                said
            }
        }))
    }

    /// The error of a member of the wrong type.
    pub(super) fn wrong(&self, value: Raw<'_>) -> Error {
        Error {
            at: (value.as_str().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize),
            why: Why::Type,
        }
    }

    /// Tells the ledger that `formatted` went over with the members that it was worked out from, if it says what they say.
    pub(super) fn took_formatted(&self, cx: &Cx<'a>, write: impl FnOnce(&mut Same<'_>)) {
        let Some(formatted) = self.get(Key::Formatted) else { return };
        if text(formatted).is_some_and(|body| Same::is(body, write)) {
            cx.took(formatted.as_str());
        }
    }

    /// Every member but these.
    #[inline]
    pub(super) fn others(&self, typed: &[Key], cx: &Cx<'a>) -> &'a [Field<'a>] {
        let typed = typed.iter().fold(0, |bits, key| bits | key.bit());
        if self.there & !typed == 0 && self.more.is_empty() {
            return &[];
        }
        if let (FORMATTED, Some(value), true) = (self.there & !typed, self.get(Key::Formatted), self.more.is_empty()) {
            return cx.list(&[field(Str::trusted("formatted"), value, true)]);
        }
        let names = KNOWN.iter().zip(&self.known).enumerate();
        let untyped = names.filter(|&(at, _)| typed & 1 << at == 0);
        let mut fields: Vec<_> = untyped
            .filter_map(|(_, (&(name, _), &value))| Some(field(Str::trusted(name), value?, true)))
            .collect();
        fields.extend_from_slice(&self.more);
        cx.list(&fields)
    }
}

/// How the program spells a line behind `{"type": "`.
struct Usual {
    line: Line,
    /// The type and its closing quote.
    kind: &'static str,
    /// What stands before each value.
    members: &'static [(&'static str, Key)],
}

const USUAL: [Usual; 6] = [
    Usual {
        line: Line::Result,
        kind: "tool_result\"",
        members: &[
            (", \"name\": ", Key::Name),
            (", \"success\": ", Key::Success),
            (", \"result\": ", Key::Result),
            (", \"formatted\": ", Key::Formatted),
        ],
    },
    Usual {
        line: Line::Call,
        kind: "tool_call\"",
        members: &[
            (", \"name\": ", Key::Name),
            (", \"arguments\": ", Key::Arguments),
            (", \"formatted\": ", Key::Formatted),
        ],
    },
    Usual {
        line: Line::Round,
        kind: "round\"",
        members: &[(", \"number\": ", Key::Number)],
    },
    Usual {
        line: Line::Final,
        kind: "final\"",
        members: &[(", \"content\": ", Key::Content)],
    },
    Usual {
        line: Line::System,
        kind: "system\"",
        members: &[(", \"message\": ", Key::Message)],
    },
    Usual {
        line: Line::Reminder,
        kind: "reminder\"",
        members: &[(", \"message\": ", Key::Message)],
    },
];

/// The value of a member.
#[inline(always)]
fn value<'a>(key: Key, at: &mut Cursor<'a>) -> Result<Raw<'a>, Error> {
    match key {
        // It is kept as it stands, if at all.
        Key::Formatted => at.pass(),
        Key::Arguments => at.raw(),
        _ if at.peek() != Some(b'"') => at.skip(),
        _ => at.quoted(),
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

    #[test]
    fn usual_lines_are_read_as_others_are() {
        for (line, usual) in [
            ("{\"type\": \"round\", \"number\": 1}", true),
            ("{\"type\": \"round\", \"number\": 1 }", false),
            ("{\"type\": \"round\", \"number\":  1}", false),
            ("{\"type\": \"round\", \"number\": 1, \"x\": 2}", false),
            ("{\"type\": \"final\", \"content\": \"a\\\"}\"}{\"type\"", true),
            ("{\"type\": \"final\", \"content\": \"a\\x\"}", false),
            ("{\"type\": \"final\", \"content\": \"a\"", false),
            (
                "{\"type\": \"tool_call\", \"name\": \"n\", \"arguments\": [{}, 1], \"formatted\": null}",
                true,
            ),
            (
                "{\"type\": \"tool_result\", \"name\": \"n\", \"success\": true, \"result\": \"\", \"formatted\": \"\"}",
                true,
            ),
            ("{\"type\":\"round\",\"number\":1}", false),
        ] {
            let mut members = Members::of(line);
            assert_eq!(members.read_usual().is_some(), usual, "{line}");
            let mut general = Members::of(line);
            if general.read_general().is_err() {
                assert!(!usual, "{line}");
                continue;
            }
            members.read().unwrap();
            assert_eq!(members.end, general.end);
            assert_eq!(
                (members.line, members.known, members.there),
                (general.line, general.known, general.there),
                "{line}"
            );
        }
    }
}
