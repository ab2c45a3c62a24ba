//! The members of an object, gathered before anybody knows what the object is: its `type` may come late.

use bumpalo::collections::Vec as ArenaVec;

use super::fields::is_known;
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

impl<'a> Members<'a> {
    /// Reads the object at the cursor; the values are checked for structure only.
    pub(super) fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        let mut object = at.object()?;
        let mut items = ArenaVec::with_capacity_in(8, cx.arena);
        while let Some(key) = object.key(at)? {
            let name = match key.has_escapes() {
                true => cx.arena.alloc_str(&key.unescape()),
                false => key.as_escaped(),
            };
            items.push(Member {
                key,
                name,
                value: at.skip()?,
                taken: false,
            });
        }
        Ok(Self { items })
    }

    /// The members of `value`, which is a part of `line`.
    pub(super) fn of(value: Raw<'a>, line: &Line<'a>) -> Result<Self, Error> {
        Self::read(&mut Cursor::new(value.as_str()), &line.cx).map_err(|error| line.place(value.as_str(), error))
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
    pub(super) fn need_string(&mut self, name: &str, line: &Line<'a>) -> Result<Str<'a>, Error> {
        let value = self.need(name, line)?;
        line.string(value)
    }

    /// Takes out the member without which the line is nothing.
    pub(super) fn need(&mut self, name: &str, line: &Line<'a>) -> Result<Raw<'a>, Error> {
        self.take(name).ok_or(Error {
            at: line.text.len(),
            why: Why::Missing,
        })
    }

    /// Takes out a word that says what the object is, without escapes.
    pub(super) fn take_word(&mut self, name: &str, line: &Line<'a>) -> Result<Option<&'a str>, Error> {
        let Some(word) = self.take_string(name, line)? else { return Ok(None) };
        line.cx.took(word.as_escaped());
        Ok(Some(match word.has_escapes() {
            true => line.cx.arena.alloc_str(&word.unescape()),
            false => word.as_escaped(),
        }))
    }

    /// Takes out the first member whose name fits.
    pub(super) fn take_first(&mut self, fits: impl Fn(&str) -> bool) -> Option<(Str<'a>, Raw<'a>)> {
        let member = self.items.iter_mut().find(|member| !member.taken && fits(member.name))?;
        member.taken = true;
        Some((member.key, member.value))
    }

    /// What was not taken, as fields of the object at `at`.
    pub(super) fn rest(&self, at: At<'a>, fields: &mut ArenaVec<'a, Field<'a>>) {
        let left = self.items.iter().filter(|member| !member.taken);
        fields.extend(left.map(|member| Field {
            at,
            key: member.key,
            value: member.value,
            known: is_known(member.name),
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

    /// A list of fields to fill.
    pub(super) fn fields(&self) -> ArenaVec<'a, Field<'a>> {
        ArenaVec::new_in(self.cx.arena)
    }
}
