use bumpalo::collections::Vec as ArenaVec;

use super::calls::is_json;
use crate::codec::Cx;
use crate::event::{At, Field};
use crate::json::{Cursor, Error, Raw, Shape, Str, alike};

/// Members of a line that the model has no place for, while they are collected.
pub(crate) type FieldList<'a> = ArenaVec<'a, Field<'a>>;

/// Few objects have more members.
const USUAL: usize = 8;

/// The members of an object, gathered before anybody knows what they mean. What is not taken out is a field.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    /// What is taken out leaves a gap.
    list: ArenaVec<'a, (Str<'a>, Option<Raw<'a>>)>,
    /// One of the values, which was opened when it was read.
    opened: Option<(Raw<'a>, &'a Self)>,
}

impl<'a> Members<'a> {
    /// No members yet; takes no memory until there is one.
    pub(crate) fn new(cx: &Cx<'a>) -> Self {
        Self {
            list: ArenaVec::new_in(cx.arena),
            opened: None,
        }
    }

    /// Reads the object at the cursor and checks it in full.
    pub(crate) fn read(at: &mut Cursor<'a>, cx: &Cx<'a>) -> Result<Self, Error> {
        Self::read_along(at, &[], cx)
    }

    /// The same where it is known which object in it will be opened, and which one in that: they are read in the same walk. On such a
    /// path a name may be left out.
    pub(crate) fn read_along(at: &mut Cursor<'a>, path: &[&str], cx: &Cx<'a>) -> Result<Self, Error> {
        // Lent to nobody, it stays in registers.
        let mut here = *at;
        let mut object = here.object()?;
        let mut list = ArenaVec::with_capacity_in(USUAL, cx.arena);
        let mut opened = None;
        while let Some(key) = object.next(&mut here)? {
            let first = here.peek();
            let may_open = first == Some(b'{') && opened.is_none();
            let place = if may_open { path.iter().position(|name| key.is(name)) } else { None };
            let value = match place {
                Some(place) => {
                    let mut inside = here;
                    let whole = inside.raw_along(|at| Self::read_along(at, &path[place + 1..], cx))?;
                    here = inside;
                    opened = whole.1.map(|inner| (whole.0, &*cx.arena.alloc(inner)));
                    whole.0
                }
                None => here.peeked(first)?,
            };
            list.push((key, Some(value)));
        }
        *at = here;
        Ok(Self { list, opened })
    }

    /// The members of a value, if it is an object; what has been checked is not checked again.
    pub(crate) fn of(raw: Raw<'a>, cx: &Cx<'a>) -> Option<Self> {
        if !raw.is_checked() {
            return Self::read(&mut Cursor::new(raw.as_str()), cx).ok();
        }
        let mut at = Cursor::new(raw.as_str());
        let mut object = at.object().ok()?;
        let mut list = ArenaVec::with_capacity_in(USUAL, cx.arena);
        while let Some(key) = object.next(&mut at).ok()? {
            list.push((key, Some(Raw::checked(at.pass().ok()?.as_str()))));
        }
        Some(Self { list, opened: None })
    }

    /// [`Self::of`] for a value that is or was among these members.
    pub(crate) fn inside(&self, value: Raw<'a>, cx: &Cx<'a>) -> Option<Self> {
        match self.opened {
            Some((raw, inner)) if std::ptr::eq(raw.as_str(), value.as_str()) => Some(inner.seen(cx)),
            _ => Self::of(value, cx),
        }
    }

    /// [`Self::inside`] where nothing is taken out of it.
    pub(crate) fn opened(&self, value: Raw<'a>, cx: &Cx<'a>) -> Option<&'a Self> {
        match self.opened {
            Some((raw, inner)) if std::ptr::eq(raw.as_str(), value.as_str()) => Some(inner),
            _ => Self::of(value, cx).map(|inner| &*cx.arena.alloc(inner)),
        }
    }

    /// Adds a member.
    pub(crate) fn push(&mut self, key: Str<'a>, value: Raw<'a>) {
        self.list.push((key, Some(value)));
    }

    /// All members, as they are now.
    pub(crate) fn seen(&self, cx: &Cx<'a>) -> Self {
        let mut list = ArenaVec::with_capacity_in(self.list.len(), cx.arena);
        list.extend_from_slice_copy(&self.list);
        Self { list, opened: self.opened }
    }

    /// The value of the first member of this name.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.list.iter().find(|member| is_left(member, name))?.1
    }

    /// The value at the end of a path of names, each time of the first member of its name. What was opened is not walked over again.
    pub(crate) fn find(&self, path: &[&str]) -> Option<Raw<'a>> {
        let (name, rest) = path.split_first()?;
        let value = self.get(name)?;
        match self.opened {
            Some((raw, inner)) if !rest.is_empty() && std::ptr::eq(raw.as_str(), value.as_str()) => inner.find(rest),
            _ => value.find(rest),
        }
    }

    /// The key of the first member of this name, as it is spelled.
    pub(crate) fn key(&self, name: &str) -> Option<Str<'a>> {
        self.list.iter().find(|member| is_left(member, name)).map(|(key, _)| *key)
    }

    /// Takes out the first member of this name. `null` counts as structure and as nothing.
    pub(crate) fn take(&mut self, name: &str, cx: &Cx<'a>) -> Option<Raw<'a>> {
        let value = self.take_raw(name)?;
        if value.is_null() {
            cx.took(value.as_str());
            return None;
        }
        Some(value)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<Raw<'a>>> {
        self.list.iter_mut().find(|member| is_left(member, name)).map(|(_, value)| value)
    }

    /// Takes out the first member of this name, whatever it says.
    pub(crate) fn take_raw(&mut self, name: &str) -> Option<Raw<'a>> {
        self.place(name)?.take()
    }

    /// Takes out the first member of this name if it has this shape. `null` counts as structure and as nothing; anything else
    /// stays.
    pub(crate) fn shaped(&mut self, name: &str, shape: Shape, cx: &Cx<'a>) -> Option<Raw<'a>> {
        self.take_if(name, cx, |value| (value.shape() == Some(shape)).then_some(value))
    }

    /// Takes out a string.
    pub(crate) fn text(&mut self, name: &str, cx: &Cx<'a>) -> Option<Str<'a>> {
        self.take_if(name, cx, Raw::string)
    }

    /// Takes out the first member of this name if it is something that can be read so, or `null`.
    #[inline(always)]
    fn take_if<T>(&mut self, name: &str, cx: &Cx<'a>, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Option<T> {
        let place = self.place(name)?;
        let value = (*place)?;
        let found = read(value);
        if found.is_some() {
            *place = None;
        } else if value.is_null() {
            *place = None;
            cx.took(value.as_str());
        }
        found
    }

    /// Takes out a string that says nothing but what kind of thing the object is.
    pub(crate) fn word(&mut self, name: &str, cx: &Cx<'a>) -> Option<Str<'a>> {
        let word = self.text(name, cx)?;
        cx.took(word.as_escaped());
        Some(word)
    }

    /// Takes out a string that says no more than what is known.
    pub(crate) fn again(&mut self, name: &str, known: &str, cx: &Cx<'a>) {
        let Some(place) = self.place(name) else { return };
        if let Some(said) = place.and_then(Raw::string).filter(|said| said.as_escaped() == known) {
            cx.took(said.as_escaped());
            *place = None;
        }
    }

    /// How many are left.
    pub(crate) fn len(&self) -> usize {
        self.list.iter().filter(|(_, value)| value.is_some()).count()
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.iter().all(|(_, value)| value.is_none())
    }

    /// What is left, as fields; it stays.
    pub(crate) fn copy(&self, at: At<'a>, knows: fn(&str) -> bool, into: &mut FieldList<'a>) {
        for &(key, value) in &self.list {
            if let Some(value) = value {
                into.push(field(at, key, value, knows));
            }
        }
    }

    /// What is left, as fields. `knows` tells whether the dialect's page names a member.
    pub(crate) fn pour(self, at: At<'a>, knows: fn(&str) -> bool, into: &mut FieldList<'a>) {
        self.copy(at, knows, into);
    }
}

/// Whether a member has this name and was not taken out; names come in any order.
#[inline(always)]
fn is_left((key, value): &(Str<'_>, Option<Raw<'_>>), name: &str) -> bool {
    // Only a key with escapes is longer than what it says.
    let is_named = alike(key.as_escaped(), name) || key.as_escaped().len() > name.len() && key.is(name);
    is_named && value.is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_on_the_way_is_what_is_opened_later() {
        let lines = [
            r#"{"a":{"x":1,"b":{"y":[2],"c":{}}},"z":null}"#,
            r#"{"b":{"c":{"y":1},"c":{"y":2}},"a":{"b":3}}"#,
            r#"{ "a" : { "b" : [1] } , "a" : 2 }"#,
            r#"{"a":"text","b":{"c":1}}"#,
            r#"{"a":{"b":{"c":1]}}"#,
            r#"{"a":{"b":{"c":1}"#,
            r#"{"a":{"b":{"c":01}}}"#,
        ];
        let arena = bumpalo::Bump::new();
        let cx = Cx::new(&arena);
        for line in lines {
            let (mut at, mut along) = (Cursor::new(line), Cursor::new(line));
            let plain = Members::read(&mut at, &cx);
            let opened = Members::read_along(&mut along, &["a", "b", "c"], &cx);
            assert_eq!(at.position(), along.position(), "{line}");
            match (plain, opened) {
                (Ok(plain), Ok(opened)) => same(&plain, &opened, &cx),
                (plain, opened) => assert_eq!(plain.err(), opened.err(), "{line}"),
            }
        }
    }

    fn same<'a>(plain: &Members<'a>, opened: &Members<'a>, cx: &Cx<'a>) {
        assert_eq!(plain.list.as_slice(), opened.list.as_slice());
        for value in plain.list.iter().filter_map(|(_, value)| value.as_ref()) {
            match (Members::of(*value, cx), opened.inside(*value, cx)) {
                (Some(plain), Some(opened)) => same(&plain, &opened, cx),
                (plain, opened) => assert!(plain.is_none() && opened.is_none()),
            }
        }
    }
}
