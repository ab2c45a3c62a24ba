//! The members of one object: gathered once, asked for by name.

use bumpalo::collections::Vec as ArenaVec;

use crate::codec::Cx;
use crate::event::{At, Field, Fields};
use crate::json::{Cursor, Error, Out, Raw, Str};

/// An object whose members are taken one by one; what nobody takes is unknown.
pub(super) struct Members<'a, 'c> {
    list: ArenaVec<'a, Member<'a>>,
    /// A key is spelled with escapes.
    escaped: bool,
    cx: &'c Cx<'a>,
}

struct Member<'a> {
    key: Str<'a>,
    value: Raw<'a>,
    taken: bool,
}

impl<'a, 'c> Members<'a, 'c> {
    /// Walks the object at the cursor. All of it is checked in full: it was put together from lines of a dialect by somebody, and what
    /// stands in it is written as it is.
    pub(super) fn read(at: &mut Cursor<'a>, cx: &'c Cx<'a>) -> Result<Self, Error> {
        Self::walk(at, Cursor::raw, cx)
    }

    /// Walks an object inside another one, which has been checked; nothing if it is none.
    pub(super) fn of(raw: Raw<'a>, cx: &'c Cx<'a>) -> Self {
        let sound = |at: &mut Cursor<'a>| at.skip().map(|value| Raw::known(value.as_str(), raw.is_checked()));
        Self::walk(&mut Cursor::new(raw.as_str()), sound, cx).unwrap_or(Self {
            list: ArenaVec::new_in(cx.arena),
            escaped: false,
            cx,
        })
    }

    fn walk(at: &mut Cursor<'a>, read: impl Fn(&mut Cursor<'a>) -> Result<Raw<'a>, Error>, cx: &'c Cx<'a>) -> Result<Self, Error> {
        let mut object = at.object()?;
        let mut list = ArenaVec::with_capacity_in(12, cx.arena);
        let mut escaped = false;
        while let Some(key) = object.key(at)? {
            escaped |= key.has_escapes();
            let value = read(at)?;
            list.push(Member { key, value, taken: false });
        }
        Ok(Self { list, escaped, cx })
    }

    fn find<T>(&mut self, key: &str, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Option<T> {
        // Nearly all names that are not meant differ in length or in the first byte.
        let first = key.as_bytes().first();
        let spelled = |name: &str| name.len() == key.len() && name.as_bytes().first() == first && name == key;
        let escaped = self.escaped;
        let named = |name: Str<'a>| spelled(name.as_escaped()) || escaped && name.is(key);
        let found = self.list.iter_mut().find(|member| !member.taken && named(member.key))?;
        let value = read(found.value)?;
        found.taken = true;
        Some(value)
    }

    /// The value of the first member of that name, whether it was taken or not.
    pub(super) fn value(&self, key: &str) -> Option<Raw<'a>> {
        self.list.iter().find(|member| member.key.is(key)).map(|member| member.value)
    }

    /// A string.
    pub(super) fn str(&mut self, key: &str) -> Option<Str<'a>> {
        self.find(key, Raw::string)
    }

    /// A string that is structure: it decides what the event is.
    pub(super) fn word(&mut self, key: &str) -> Option<Str<'a>> {
        let word = self.str(key)?;
        self.cx.took(word.as_escaped());
        Some(word)
    }

    /// Any value.
    pub(super) fn part(&mut self, key: &str) -> Option<Raw<'a>> {
        self.find(key, Some)
    }

    /// `true` or `false`; structure.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let cx = self.cx;
        self.find(key, |raw| raw.bool().inspect(|_| cx.took(raw.as_str())))
    }

    /// A whole number; structure.
    pub(super) fn number(&mut self, key: &str) -> Option<u64> {
        let cx = self.cx;
        self.find(key, |raw| raw.u64().inspect(|_| cx.took(raw.as_str())))
    }

    /// The fields of the source dialect, and with them what nobody has taken.
    pub(super) fn fields(&mut self) -> Fields<'a> {
        let stored = self.part("fields");
        if stored.is_none() && self.list.iter().all(|member| member.taken) {
            return &[];
        }
        let mut fields = ArenaVec::new_in(self.cx.arena);
        for stored in stored.into_iter().flat_map(Raw::elements) {
            let mut field = Members::of(stored, self.cx);
            let (Some(key), Some(value)) = (field.str("key"), field.part("value")) else {
                continue;
            };
            let at = match (field.number("block"), field.str("at")) {
                (Some(block), _) => At::Block(u32::try_from(block).unwrap_or(u32::MAX)),
                (None, Some(at)) => At::Part(at.as_escaped()),
                (None, None) => At::Line,
            };
            let known = field.flag("known").unwrap_or(false);
            let value = value.unread();
            fields.push(Field { at, key, value, known });
        }
        let unknown = self.list.iter().filter(|member| !member.taken);
        fields.extend(unknown.map(|member| Field {
            at: At::Line,
            key: member.key,
            value: member.value,
            known: false,
        }));
        fields.into_bump_slice()
    }
}

/// Writes members behind a first one.
pub(super) struct Writer<'o> {
    pub(super) out: &'o mut Out,
}

impl Writer<'_> {
    #[inline(always)]
    fn key(&mut self, key: &str) {
        self.out.lit(",\"");
        self.out.lit(key);
        self.out.lit("\":");
    }

    #[inline]
    pub(super) fn str(&mut self, key: &str, value: Option<Str<'_>>) {
        if let Some(value) = value {
            self.key(key);
            self.out.str(value);
        }
    }

    #[inline]
    pub(super) fn word(&mut self, key: &str, value: &str) {
        self.key(key);
        self.out.lit("\"");
        self.out.lit(value);
        self.out.lit("\"");
    }

    /// A value that was checked when it was read.
    #[inline]
    pub(super) fn raw(&mut self, key: &str, value: Option<Raw<'_>>) {
        if let Some(value) = value {
            self.key(key);
            self.out.raw(value);
        }
    }

    /// A value of which only the structure was checked.
    #[inline]
    pub(super) fn unchecked(&mut self, key: &str, value: Option<Raw<'_>>) {
        if let Some(value) = value {
            self.key(key);
            self.out.unchecked(value);
        }
    }

    pub(super) fn flag(&mut self, key: &str, value: bool) {
        if value {
            self.key(key);
            self.out.lit("true");
        }
    }

    pub(super) fn bool(&mut self, key: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.key(key);
            self.out.lit(if value { "true" } else { "false" });
        }
    }

    pub(super) fn number(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.key(key);
            self.out.number(value);
        }
    }

    pub(super) fn text(&mut self, key: &str, plain: &str) {
        self.key(key);
        self.out.text(plain);
    }

    /// A list; `each` writes one element.
    pub(super) fn list<T>(&mut self, key: &str, items: &[T], mut each: impl FnMut(&mut Writer<'_>, &T)) {
        self.key(key);
        self.out.lit("[");
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.out.lit(",");
            }
            each(&mut Writer { out: self.out }, item);
        }
        self.out.lit("]");
    }

    /// An object; `each` writes what stands in it, beginning without a comma.
    pub(super) fn object(&mut self, key: &str, inside: impl FnOnce(&mut Writer<'_>)) {
        self.key(key);
        inside(&mut Writer { out: self.out });
    }

    pub(super) fn fields(&mut self, fields: Fields<'_>) {
        if fields.is_empty() {
            return;
        }
        self.list("fields", fields, |w, field| {
            w.out.lit("{\"key\":");
            w.out.str(field.key);
            match field.at {
                At::Line => {}
                At::Part(at) => w.text("at", at),
                At::Block(n) => w.number("block", Some(n.into())),
            }
            w.unchecked("value", Some(field.value));
            w.flag("known", field.known);
            w.out.lit("}");
        });
    }
}
