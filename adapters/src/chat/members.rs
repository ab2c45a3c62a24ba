use bumpalo::collections::Vec as ArenaVec;

use super::calls::is_json;
use crate::codec::Cx;
use crate::event::{At, Field};
use crate::json::{Cursor, Error, Raw, Shape, Str};

/// Members of a line that the model has no place for, while they are collected.
pub(crate) type FieldList<'a> = ArenaVec<'a, Field<'a>>;

/// The members of an object, gathered before anybody knows what they mean. What is not taken out is a field.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    list: ArenaVec<'a, (Str<'a>, Raw<'a>)>,
}

impl<'a> Members<'a> {
    /// No members yet; takes no memory until there is one.
    pub(crate) fn new(cx: &Cx<'a>) -> Self {
        Self {
            list: ArenaVec::new_in(cx.arena),
        }
    }

    /// Reads the object at the cursor and checks it in full.
    pub(crate) fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        let mut members = Self::new(cx);
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            members.list.push((key, at.raw()?));
        }
        Ok(members)
    }

    /// The members of a value, if it is an object; what has been checked is not checked again.
    pub(crate) fn of(raw: Raw<'a>, cx: &Cx<'a>) -> Option<Self> {
        if !raw.is_checked() {
            return Self::read(&mut Cursor::new(raw.as_str()), cx).ok();
        }
        let mut list = (raw.shape() == Some(Shape::Object)).then(|| Self::new(cx))?;
        list.list.extend(raw.members());
        Some(list)
    }

    /// Adds a member.
    pub(crate) fn push(&mut self, key: Str<'a>, value: Raw<'a>) {
        self.list.push((key, value));
    }

    /// All members, as they are now.
    pub(crate) fn seen(&self, cx: &Cx<'a>) -> Self {
        let mut list = ArenaVec::with_capacity_in(self.list.len(), cx.arena);
        list.extend_from_slice(&self.list);
        Self { list }
    }

    /// The value of the first member of this name.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.list.iter().find(|(key, _)| key.is(name)).map(|(_, value)| *value)
    }

    /// The key of the first member of this name, as it is spelled.
    pub(crate) fn key(&self, name: &str) -> Option<Str<'a>> {
        self.list.iter().find(|(key, _)| key.is(name)).map(|(key, _)| *key)
    }

    /// Takes out the first member of this name. `null` counts as structure and as nothing.
    pub(crate) fn take(&mut self, name: &str, cx: &Cx<'a>) -> Option<Raw<'a>> {
        let at = self.list.iter().position(|(key, _)| key.is(name))?;
        let (_, value) = self.list.remove(at);
        if value.is_null() {
            cx.took(value.as_str());
            return None;
        }
        Some(value)
    }

    /// Takes out the first member of this name, whatever it says.
    pub(crate) fn take_raw(&mut self, name: &str) -> Option<Raw<'a>> {
        let at = self.list.iter().position(|(key, _)| key.is(name))?;
        Some(self.list.remove(at).1)
    }

    /// Takes out the first member of this name if it has this shape. `null` counts as structure and as nothing; anything else
    /// stays.
    pub(crate) fn shaped(&mut self, name: &str, shape: Shape, cx: &Cx<'a>) -> Option<Raw<'a>> {
        match self.get(name)?.shape() {
            Some(Shape::Null) => self.take(name, cx),
            Some(found) if found == shape => self.take(name, cx),
            _ => None,
        }
    }

    /// Takes out a string.
    pub(crate) fn text(&mut self, name: &str, cx: &Cx<'a>) -> Option<Str<'a>> {
        let value = self.get(name)?;
        if !value.is_null() {
            value.string()?;
        }
        self.take(name, cx).and_then(inner)
    }

    /// Takes out a string that says nothing but what kind of thing the object is.
    pub(crate) fn word(&mut self, name: &str, cx: &Cx<'a>) -> Option<Str<'a>> {
        let word = self.text(name, cx)?;
        cx.took(word.as_escaped());
        Some(word)
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What is left, as fields; it stays.
    pub(crate) fn copy(&self, at: At<'a>, knows: fn(&str) -> bool, into: &mut FieldList<'a>) {
        into.extend(self.list.iter().map(|&(key, value)| field(at, key, value, knows)));
    }

    /// What is left, as fields. `knows` tells whether the dialect's page names a member.
    pub(crate) fn pour(self, at: At<'a>, knows: fn(&str) -> bool, into: &mut FieldList<'a>) {
        for (key, value) in self.list {
            into.push(field(at, key, value, knows));
        }
    }
}

/// A member that the model has no place for.
pub(super) fn field<'a>(at: At<'a>, key: Str<'a>, value: Raw<'a>, knows: fn(&str) -> bool) -> Field<'a> {
    let known = if key.has_escapes() {
        knows(&key.unescape())
    } else {
        knows(key.as_escaped())
    };
    Field { at, key, value, known }
}

/// The body of a string that has been checked in full; `None` for another shape.
#[inline]
pub(crate) fn inner(value: Raw<'_>) -> Option<Str<'_>> {
    value.as_str().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(Str::trusted)
}

/// A number or a truth value, whether it is written as such or as a string (OpenAI's metadata holds strings only).
pub(crate) fn plain(value: Raw<'_>) -> Raw<'_> {
    match inner(value) {
        Some(body) if is_json(body.as_escaped()) => Raw::trusted(body.as_escaped()),
        _ => value,
    }
}
