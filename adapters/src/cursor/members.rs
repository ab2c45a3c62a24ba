//! The members of an object, gathered before anybody knows what the object is: its `type` may come late.

use bumpalo::collections::Vec as ArenaVec;

use super::content::Found;
use super::fields::knows;
use crate::codec::Cx;
use crate::event::{At, Field};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

/// Members in the order in which they stand. What is not taken out is a field.
#[derive(Debug)]
pub(super) struct Members<'a> {
    items: ArenaVec<'a, Member<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    key: Str<'a>,
    /// The key without escapes.
    name: &'a str,
    value: Raw<'a>,
    taken: bool,
}

/// The key of a tool that has no kind of its own.
pub(super) const FUNCTION: &str = "function";

/// Whether a name is the key of a kind. Beside it stand `toolCallId` and others, in no fixed order.
pub(super) fn is_kind(name: &str) -> bool {
    name.ends_with("ToolCall")
}

/// A `tool_call` object, which is by far the largest part of its line and is walked only once.
#[derive(Debug)]
pub(super) struct ToolCallMembers<'a> {
    /// What stands beside the kind.
    pub(super) outer: Members<'a>,
    /// The kind, or [`FUNCTION`], and what is in it; absent when no member is of that name.
    pub(super) kind: Option<(Str<'a>, Members<'a>)>,
    /// What was found in the kind's `result`.
    pub(super) found: Option<Found<'a>>,
}

/// A `message` object and its blocks, if its content is a list.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) outer: Members<'a>,
    pub(super) blocks: Option<ArenaVec<'a, (Raw<'a>, Members<'a>)>>,
}

/// Objects of a line that are walked over together with it.
#[derive(Debug, Default)]
pub(super) struct Inside<'a> {
    pub(super) tool: Option<ToolCallMembers<'a>>,
    pub(super) message: Option<Message<'a>>,
}

impl<'a> Members<'a> {
    /// Reads the line's object at the cursor; most values are checked for structure only.
    pub(super) fn line(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<(Self, Inside<'a>), Error> {
        let mut inside = Inside::default();
        let members = Self::each(at, cx, |name, at| {
            match name {
                "tool_call" if at.shape()? == Shape::Object => inside.tool = Some(ToolCallMembers::read(at, cx)?),
                "message" if at.shape()? == Shape::Object => inside.message = Some(Message::read(at, cx)?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok((members, inside))
    }

    /// Reads the object at the cursor. `descend` may walk over a value by itself, and says whether it did.
    fn each(at: &mut Cursor<'a>, cx: &Cx<'a>, mut descend: impl FnMut(&'a str, &mut Cursor<'a>) -> Result<bool, Error>) -> Result<Self, Error> {
        let mut object = at.object()?;
        let mut items = ArenaVec::with_capacity_in(8, cx.arena);
        while let Some(key) = object.key(at)? {
            // Keys are short: a plain loop is quicker than a call.
            let name = match key.as_escaped().as_bytes().contains(&b'\\') {
                true => cx.arena.alloc_str(&key.unescape()),
                false => key.as_escaped(),
            };
            at.peek();
            let rest = at.rest();
            let begin = at.position();
            let value = match descend(name, at)? {
                true => Raw::trusted(&rest[..at.position() - begin]),
                false => at.skip()?,
            };
            items.push(Member {
                key,
                name,
                value,
                taken: false,
            });
        }
        Ok(Self { items })
    }

    fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        Self::each(at, cx, |_, _| Ok(false))
    }

    /// No members: what stands where an object should is none.
    pub(super) fn none(cx: &Cx<'a>) -> Self {
        Self {
            items: ArenaVec::new_in(cx.arena),
        }
    }

    /// Takes a member out. Of several with one name, the last counts, as for every JSON reader that keeps one.
    pub(super) fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        self.take_if(name, |_| true)
    }

    /// Takes a member out if it has the shape that its place asks for.
    pub(super) fn take_shape(&mut self, name: &str, shape: Shape) -> Option<Raw<'a>> {
        self.take_if(name, |value| value.shape() == Some(shape))
    }

    /// Takes out a string, which is checked in full. A value of another type stays.
    pub(super) fn take_string(&mut self, name: &str, line: &Line<'a>) -> Result<Option<Str<'a>>, Error> {
        self.take_shape(name, Shape::String).map(|value| line.string(value)).transpose()
    }

    /// Takes out the string without which the line is nothing.
    pub(super) fn need_string(&mut self, name: &'static str, line: &Line<'a>) -> Result<Str<'a>, Error> {
        let value = self.need(name, line)?;
        line.string(value)
    }

    /// Takes out the member without which the line is nothing.
    pub(super) fn need(&mut self, name: &'static str, line: &Line<'a>) -> Result<Raw<'a>, Error> {
        self.take(name).ok_or(line.missing(name))
    }

    /// Takes out a word that says what the object is, without escapes.
    pub(super) fn take_word(&mut self, name: &str, line: &Line<'a>) -> Result<Option<&'a str>, Error> {
        let Some(word) = self.take_string(name, line)? else { return Ok(None) };
        if is_word(word) {
            line.cx.took(word.as_escaped());
        }
        Ok(Some(match word.has_escapes() {
            true => line.cx.arena.alloc_str(&word.unescape()),
            false => word.as_escaped(),
        }))
    }

    /// What was not taken, as fields of the object at `at`.
    pub(super) fn rest(&self, at: At<'a>, fields: &mut ArenaVec<'a, Field<'a>>) {
        let left = self.items.iter().filter(|member| !member.taken);
        fields.extend(left.map(|member| Field {
            at,
            key: member.key,
            value: member.value,
            known: knows(member.name),
        }));
    }

    fn take_if(&mut self, name: &str, fits: impl Fn(Raw<'a>) -> bool) -> Option<Raw<'a>> {
        let member = self.items.iter_mut().rfind(|member| !member.taken && member.name == name)?;
        if !fits(member.value) {
            return None;
        }
        member.taken = true;
        Some(member.value)
    }
}

impl<'a> ToolCallMembers<'a> {
    fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        let (mut kind, mut found) = (None, None);
        let mut outer = Members::each(at, cx, |name, at| {
            let is_first = kind.is_none() && (is_kind(name) || name == FUNCTION);
            if !is_first || at.shape()? != Shape::Object {
                kind = kind.take().or(is_first.then(|| (name, Members::none(cx))));
                return Ok(false);
            }
            let inner = Members::each(at, cx, |name, at| {
                match name {
                    "args" | "arguments" => at.raw().map(|_| ())?,
                    "result" => found = Some(Found::read(at)?),
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            kind = Some((name, inner));
            Ok(true)
        })?;
        let kind = kind.and_then(|(name, inner)| {
            let member = outer.items.iter_mut().find(|member| member.name == name)?;
            member.taken = true;
            Some((member.key, inner))
        });
        Ok(Self { outer, kind, found })
    }
}

impl<'a> Message<'a> {
    fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        let mut blocks = None;
        let outer = Members::each(at, cx, |name, at| {
            if name != "content" || at.shape()? != Shape::Array {
                return Ok(false);
            }
            let mut found = ArenaVec::with_capacity_in(1, cx.arena);
            let mut array = at.array()?;
            while array.more(at)? {
                if at.shape()? != Shape::Object {
                    found.push((at.skip()?, Members::none(cx)));
                    continue;
                }
                let (rest, begin) = (at.rest(), at.position());
                let members = Members::read(at, cx)?;
                found.push((Raw::trusted(&rest[..at.position() - begin]), members));
            }
            blocks = Some(found);
            Ok(true)
        })?;
        Ok(Self { outer, blocks })
    }
}

/// The line that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) cx: Cx<'a>,
}

impl<'a> Line<'a> {
    /// A string of the line, checked in full.
    pub(super) fn string(&self, value: Raw<'a>) -> Result<Str<'a>, Error> {
        Cursor::new(value.as_str()).string().map_err(|error| self.place(value.as_str(), error))
    }

    /// A value of the line, checked in full.
    pub(super) fn checked(&self, value: Raw<'a>) -> Result<Raw<'a>, Error> {
        value.check().map(|()| value).map_err(|error| self.place(value.as_str(), error))
    }

    /// An error in a part of the line, with its place in the line.
    pub(super) fn place(&self, part: &str, error: Error) -> Error {
        let from = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        Error {
            at: (from + error.at).min(self.text.len()),
            ..error
        }
    }

    /// The line lacks a member: its name, or the way to it.
    pub(super) const fn missing(&self, member: &'static str) -> Error {
        Error {
            at: self.text.len(),
            why: Why::Missing(member),
        }
    }

    /// A list of fields to fill.
    pub(super) fn fields(&self) -> ArenaVec<'a, Field<'a>> {
        ArenaVec::with_capacity_in(8, self.cx.arena)
    }
}

/// Whether a word decides what is told: what it means goes over with that.
fn is_word(word: Str<'_>) -> bool {
    const WORDS: [&str; 22] = [
        "assistant",
        "completed",
        "connection",
        "delta",
        "error",
        "init",
        "interaction_query",
        "progress",
        "reconnected",
        "reconnecting",
        "request",
        "response",
        "result",
        "retry",
        "resuming",
        "started",
        "starting",
        "success",
        "system",
        "thinking",
        "tool_call",
        "user",
    ];
    WORDS.contains(&word.as_escaped())
}
