use crate::codec::Cx;
use crate::event::{At, Block, Content, Field, Fields, Media, ResultStatus, Thinking, ToolCall, ToolResult};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

use super::message::Part;
use super::{Signature, Vocabulary};

/// Members of a line that the model has no place for, while they are collected.
pub(crate) type FieldList<'a> = bumpalo::collections::Vec<'a, Field<'a>>;

/// Reads one line's objects.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'c, 'a> {
    pub(crate) cx: &'c Cx<'a>,
    pub(crate) words: &'static Vocabulary,
}

/// What an object's members are while its type is not known yet: gathered, then taken out by name.
pub(crate) struct Members<'c, 'a> {
    list: FieldList<'a>,
    reader: Reader<'c, 'a>,
    place: At<'a>,
    /// A key is spelled with escapes.
    escaped: bool,
}

/// The name of a key that is spelled with escapes; `None` for one without.
#[inline]
pub(crate) fn plain_key<'a>(cx: &Cx<'a>, name: &str) -> Option<&'a str> {
    is_escaped(name).then(|| &*cx.arena.alloc_str(&Str::trusted(name).unescape()))
}

/// A word of the protocol, without escapes.
#[inline]
pub(crate) fn plain<'a>(cx: &Cx<'a>, word: Str<'a>) -> &'a str {
    plain_key(cx, word.as_escaped()).unwrap_or(word.as_escaped())
}

/// Whether a backslash is in a key or another word of the protocol. They are short: a loop is done before a search has begun.
#[inline]
fn is_escaped(word: &str) -> bool {
    word.bytes().any(|byte| byte == b'\\')
}

/// What `at` has read since `before` (its [`Cursor::rest`] at the value's first byte).
#[inline]
pub(crate) fn since<'a>(before: &'a str, at: &Cursor<'a>) -> Raw<'a> {
    Raw::trusted(&before[..before.len() - at.rest().len()])
}

impl<'c, 'a> Reader<'c, 'a> {
    /// An empty list; it takes no memory until something is in it.
    #[inline]
    pub(crate) fn fields(&self) -> FieldList<'a> {
        FieldList::new_in(self.cx.arena)
    }

    /// A member that the model has no place for.
    #[inline]
    pub(crate) fn field(&self, at: At<'a>, key: Str<'a>, value: Raw<'a>) -> Field<'a> {
        let name = key.as_escaped();
        let known = (self.words.knows)(name) || (is_escaped(name) && (self.words.knows)(&key.unescape()));
        Field { at, key, value, known }
    }

    /// Reads a string for a member that needs none. Anything else is passed over and becomes a field that is not known; `null`
    /// is structure.
    #[inline]
    pub(crate) fn text(&self, at: &mut Cursor<'a>, place: At<'a>, key: Str<'a>, fields: &mut FieldList<'a>) -> Result<Option<Str<'a>>, Error> {
        if at.peek() == Some(b'"') {
            return at.string().map(Some);
        }
        let value = at.skip()?;
        if value.is_null() {
            self.cx.took(value.as_str());
        } else {
            fields.push(Field {
                at: place,
                key,
                value,
                known: false,
            });
        }
        Ok(None)
    }

    /// Reads a text or a list of blocks. A `tool_result` among them stays raw: content does not nest.
    pub(crate) fn content(&self, at: &mut Cursor<'a>) -> Result<Content<'a>, Error> {
        if at.shape()? == Shape::String {
            return at.string().map(Content::Text);
        }
        self.blocks(at).map(Content::Blocks)
    }

    /// Reads a list of blocks. A `tool_result` among them stays raw.
    pub(crate) fn blocks(&self, at: &mut Cursor<'a>) -> Result<&'a [Block<'a>], Error> {
        let mut blocks = bumpalo::collections::Vec::with_capacity_in(at.elements_ahead(), self.cx.arena);
        let mut array = at.array()?;
        while array.more(at)? {
            match self.part(at, blocks.len() as u32, false)? {
                Part::Block(block) => blocks.push(block),
                // Never given back without `results`.
                Part::Result(_) => {}
            }
        }
        Ok(blocks.into_bump_slice())
    }

    /// Reads one element of a list of blocks, the `n`-th. With `results` a `tool_result` is read too.
    pub(super) fn part(&self, at: &mut Cursor<'a>, n: u32, results: bool) -> Result<Part<'a>, Error> {
        if at.shape()? != Shape::Object {
            let raw = at.raw()?;
            return Ok(Part::Block(Block::Other { kind: Str::EMPTY, raw }));
        }
        let before = at.rest();
        let mut object = at.object()?;
        let mut kind: Option<Str<'a>> = None;
        let mut input = None;
        let mut content = None;
        // `content` that came before `type`.
        let mut later: Option<Cursor<'a>> = None;
        let mut members = Members::new(*self, At::Block(n));
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            loop {
                match name {
                    "type" if kind.is_none() && at.peek() == Some(b'"') => kind = Some(at.string()?),
                    "input" if input.is_none() => input = Some((key, at.raw()?)),
                    "content" if results && content.is_none() && later.is_none() => match kind {
                        Some(kind) if kind.is("tool_result") => match at.shape()? {
                            Shape::String | Shape::Array => content = Some(self.content(at)?),
                            _ => members.push(key, at)?,
                        },
                        Some(_) => members.push(key, at)?,
                        None => {
                            at.peek();
                            later = Some(*at);
                            members.push(key, at)?;
                        }
                    },
                    _ => match plain_key(self.cx, name) {
                        Some(plain) => {
                            name = plain;
                            continue;
                        }
                        None => members.push(key, at)?,
                    },
                }
                break;
            }
        }
        let Some(kind) = kind else {
            return Ok(Part::Block(Block::Other {
                kind: Str::EMPTY,
                raw: checked(since(before, at), at.position())?,
            }));
        };
        let end = at.position();
        let block = match plain(self.cx, kind) {
            "text" => {
                let text = members.need("text", end)?;
                Block::Text {
                    text,
                    fields: members.finish_with(input),
                }
            }
            "thinking" => {
                let text = members.need("thinking", end)?;
                let signature = members.text("signature");
                let (signature, subject) = match self.words.signature {
                    Signature::Seal => (signature, None),
                    Signature::Subject => {
                        signature.filter(|s| s.is_empty()).inspect(|s| self.cx.took(s.as_escaped()));
                        (None, signature.filter(|s| !s.is_empty()))
                    }
                };
                Block::Thinking(Thinking {
                    text,
                    signature,
                    subject,
                    fields: members.finish_with(input),
                })
            }
            "redacted_thinking" => {
                let data = members.need("data", end)?;
                Block::Redacted {
                    data,
                    fields: members.finish_with(input),
                }
            }
            "tool_use" => {
                let id = members.need("id", end)?;
                let name = members.need("name", end)?;
                let (_, input) = input.ok_or(at.error(Why::Missing("input")))?;
                let kind = crate::tools::kind_of(self.words.dialect, name);
                Block::Call(ToolCall {
                    id,
                    name,
                    kind,
                    input,
                    fields: members.finish(),
                })
            }
            "tool_result" if results => {
                let call = members.need("tool_use_id", end)?;
                if let Some(mut early) = later
                    && matches!(early.shape()?, Shape::String | Shape::Array)
                {
                    content = Some(self.content(&mut early)?);
                    members.take("content");
                }
                let is_error = members.bool("is_error");
                let status = if is_error == Some(true) {
                    ResultStatus::Error
                } else {
                    ResultStatus::Success
                };
                self.cx.took(kind.as_escaped());
                return Ok(Part::Result(ToolResult {
                    is_error,
                    fields: members.finish_with(input),
                    ..ToolResult::new(call, status, content.unwrap_or(Content::Blocks(&[])))
                }));
            }
            "image" | "document" => {
                return Ok(Part::Block(Block::Media(Media {
                    kind,
                    raw: checked(since(before, at), at.position())?,
                })));
            }
            _ => {
                return Ok(Part::Block(Block::Other {
                    kind,
                    raw: checked(since(before, at), at.position())?,
                }));
            }
        };
        self.cx.took(kind.as_escaped());
        Ok(Part::Block(block))
    }
}

impl<'c, 'a> Members<'c, 'a> {
    pub(crate) fn new(reader: Reader<'c, 'a>, place: At<'a>) -> Self {
        Self {
            list: reader.fields(),
            reader,
            place,
            escaped: false,
        }
    }

    /// Reads the value of `key` and keeps it. Strings are checked in full, other values for structure.
    #[inline]
    pub(crate) fn push(&mut self, key: Str<'a>, at: &mut Cursor<'a>) -> Result<(), Error> {
        let value = if at.peek() == Some(b'"') {
            let before = at.rest();
            at.string()?;
            since(before, at)
        } else {
            at.skip()?
        };
        self.escaped |= is_escaped(key.as_escaped());
        self.list.push(Field {
            at: self.place,
            key,
            value: value.unread(),
            known: true,
        });
        Ok(())
    }

    /// Where the first member of this name is, which from then on has been looked at.
    fn find(&mut self, name: &str) -> Option<usize> {
        let escaped = self.escaped;
        let found = self.list.iter().position(|f| f.key.as_escaped() == name || (escaped && f.key.is(name)))?;
        self.list[found].value = self.list[found].value.read();
        Some(found)
    }

    /// Takes the first member of this name out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        let found = self.find(name)?;
        Some(self.list.remove(found).value)
    }

    /// Takes a member out if `read` likes it; `null` is structure. Anything else stays, as a field that is not known.
    fn optional<T>(&mut self, name: &str, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Option<T> {
        let found = self.find(name)?;
        let value = self.list[found].value;
        let read = read(value);
        if read.is_some() || value.is_null() {
            self.list.remove(found);
            if value.is_null() {
                self.reader.cx.took(value.as_str());
            }
        } else {
            self.list[found].known = false;
        }
        read
    }

    /// Takes a string out.
    pub(crate) fn text(&mut self, name: &str) -> Option<Str<'a>> {
        self.optional(name, body)
    }

    /// Takes any value out that passes the full check.
    pub(crate) fn value(&mut self, name: &str) -> Option<Raw<'a>> {
        self.optional(name, |value| (!value.is_null() && value.check().is_ok()).then_some(value))
    }

    /// Takes a truth value out, which counts as structure.
    pub(crate) fn bool(&mut self, name: &str) -> Option<bool> {
        let cx = self.reader.cx;
        self.optional(name, |value| value.bool().inspect(|_| cx.took(value.as_str())))
    }

    /// Takes a string out that has to be there.
    /// Otherwise the object, which ends at byte `end`, is damaged.
    pub(crate) fn need(&mut self, name: &'static str, end: usize) -> Result<Str<'a>, Error> {
        match self.take(name) {
            Some(value) => body(value).ok_or(Error { at: end, why: Why::Type }),
            None => Err(Error::missing(end, name)),
        }
    }

    /// Takes a text that a block begins with out; it is empty as a rule, and then structure.
    pub(crate) fn opening(&mut self, name: &str) -> Option<Str<'a>> {
        let text = self.text(name)?;
        if text.is_empty() {
            self.reader.cx.took(text.as_escaped());
            return None;
        }
        Some(text)
    }

    /// Takes an empty text out as structure; any other value stays.
    pub(super) fn opening_or_field(&mut self, name: &str) {
        self.drop_if(name, |value| value.as_str() == "\"\"");
    }

    /// Takes `null` out as structure; any other value stays.
    pub(crate) fn drop_null(&mut self, name: &str) {
        self.drop_if(name, Raw::is_null);
    }

    fn drop_if(&mut self, name: &str, is_structure: impl Fn(Raw<'a>) -> bool) {
        if let Some(found) = self.find(name).filter(|&found| is_structure(self.list[found].value)) {
            self.reader.cx.took(self.list.remove(found).value.as_str());
        }
    }

    /// What is left, as fields. What was taken out gives its memory back to the arena: there may be very many blocks on a line.
    pub(crate) fn finish(mut self) -> Fields<'a> {
        if self.list.is_empty() {
            return &[];
        }
        for field in &mut self.list {
            field.known = field.known && self.reader.field(field.at, field.key, field.value).known;
        }
        self.list.shrink_to_fit();
        self.list.into_bump_slice()
    }

    /// The same, with a member that was read apart.
    pub(super) fn finish_with(mut self, extra: Option<(Str<'a>, Raw<'a>)>) -> Fields<'a> {
        if let Some((key, value)) = extra {
            self.list.push(Field {
                at: self.place,
                key,
                value,
                known: true,
            });
        }
        self.finish()
    }

    /// What is left, appended to the fields of the line.
    pub(crate) fn pour(self, into: &mut FieldList<'a>) {
        into.extend_from_slice(self.finish());
    }
}

/// The body of a string that [`Members::push`] has checked.
#[inline]
fn body(value: Raw<'_>) -> Option<Str<'_>> {
    value.as_str().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(Str::trusted)
}

/// What goes over as it is has to be sound all through. It ends at byte `end` of the line.
pub(super) fn checked(raw: Raw<'_>, end: usize) -> Result<Raw<'_>, Error> {
    let begin = end - raw.as_str().len();
    raw.check().map(|()| raw).map_err(|error| Error {
        at: begin + error.at,
        ..error
    })
}
