use std::borrow::Cow;
use std::fmt::Write;

use super::envelope::Reader;
use super::members::{FieldList, field, inner};
use crate::codec::Cx;
use crate::event::{At, Field, Fields};
use crate::json::{Cursor, Error, Out, Raw, Shape, Str, on_one_line};

/// One element of `tool_calls`: a whole call in a message, a piece of one in a delta.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallPiece<'a> {
    /// Which call of the reply the piece belongs to.
    pub(crate) index: Option<u64>,
    /// The same as it is written.
    pub(crate) number: Option<Raw<'a>>,
    /// The call's id: in the first piece only.
    pub(crate) id: Option<Str<'a>>,
    /// The function's name: in the first piece only.
    pub(crate) name: Option<Str<'a>>,
    /// The arguments, or a piece of them, as the text of a JSON object. Some servers write the object itself: its text.
    pub(crate) arguments: Option<Str<'a>>,
    /// Other members.
    pub(crate) fields: Fields<'a>,
}

impl<'a> Reader<'_, 'a> {
    /// Reads the elements of `tool_calls`; the cursor stands at an array.
    pub(super) fn calls(&self, at: &mut Cursor<'a>) -> Result<&'a [CallPiece<'a>], Error> {
        let mut calls = bumpalo::collections::Vec::with_capacity_in(at.elements_ahead(), self.cx.arena);
        let mut array = at.array()?;
        while array.more(at)? {
            calls.push(self.call(at, calls.len() as u32)?);
        }
        Ok(calls.into_bump_slice())
    }

    /// Reads one of them, number `n`; the cursor stands at an object.
    pub(crate) fn call(&self, at: &mut Cursor<'a>, n: u32) -> Result<CallPiece<'a>, Error> {
        let mut call = CallPiece::default();
        let mut fields = FieldList::new_in(self.cx.arena);
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let shape = at.shape()?;
            match (&*key.unescape(), shape) {
                ("id", Shape::String) if call.id.is_none() => call.id = Some(at.string()?),
                ("function", Shape::Object) if call.name.is_none() && call.arguments.is_none() => self.function(at, n, &mut call, &mut fields)?,
                ("index", Shape::Number) if call.index.is_none() => {
                    let value = at.skip()?;
                    // A number beyond any count of calls is none.
                    call.index = value.u64().filter(|index| u32::try_from(*index).is_ok());
                    match call.index {
                        Some(_) => {
                            call.number = Some(value);
                            self.cx.took(value.as_str());
                        }
                        None => fields.push(Field {
                            at: At::Block(n),
                            key,
                            value,
                            known: false,
                        }),
                    }
                }
                (_, Shape::Null) => self.cx.took(at.skip()?.as_str()),
                (name, _) => {
                    let value = at.skip()?;
                    if name == "type" && value.as_str() == "\"function\"" {
                        self.cx.took(value.as_str());
                    } else {
                        fields.push(field(At::Block(n), key, value, self.knows));
                    }
                }
            }
        }
        call.fields = fields.into_bump_slice();
        Ok(call)
    }

    fn function(&self, at: &mut Cursor<'a>, n: u32, call: &mut CallPiece<'a>, fields: &mut FieldList<'a>) -> Result<(), Error> {
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let shape = at.shape()?;
            match (&*key.unescape(), shape) {
                ("name", Shape::String) if call.name.is_none() => call.name = Some(at.string()?),
                ("arguments", Shape::String) if call.arguments.is_none() => call.arguments = Some(at.string()?),
                ("arguments", Shape::Object) if call.arguments.is_none() => {
                    let value = at.raw()?;
                    self.cx.took(value.as_str());
                    call.arguments = Some(self.cx.text(value.as_str()));
                }
                (_, Shape::Null) => self.cx.took(at.skip()?.as_str()),
                _ => {
                    let value = at.skip()?;
                    fields.push(field(At::Block(n), key, value, self.knows));
                }
            }
        }
        Ok(())
    }
}

/// The arguments of a whole call as a JSON value. None at all are `{}`; a text that is no JSON stays a string.
pub(crate) fn arguments_json<'a>(arguments: Option<Str<'a>>, cx: &Cx<'a>) -> Raw<'a> {
    let Some(arguments) = arguments else { return Raw::trusted("{}") };
    if !arguments.has_escapes() {
        let text = arguments.as_escaped().trim_ascii();
        if text.is_empty() {
            cx.took(arguments.as_escaped());
            return Raw::trusted("{}");
        }
        if is_json(text) {
            return Raw::trusted(text);
        }
    } else {
        let text = arguments.unescape_in(cx.arena).trim_ascii();
        if is_json(text) {
            cx.took(arguments.as_escaped());
            let text = match on_one_line(text) {
                Cow::Borrowed(text) => text,
                Cow::Owned(text) => cx.arena.alloc_str(&text),
            };
            cx.stands_for(text, arguments.as_escaped());
            return Raw::trusted(text);
        }
    }
    cx.took(arguments.as_escaped());
    let mut quoted = String::with_capacity(arguments.as_escaped().len() + 2);
    let _ = write!(quoted, "\"{}\"", arguments.as_escaped());
    let quoted = cx.arena.alloc_str(&quoted);
    cx.stands_for(quoted, arguments.as_escaped());
    Raw::trusted(quoted)
}

/// Writes a whole call as an element of `tool_calls`, up to the brace that closes it. Arguments that are a string are no JSON:
/// they go back as the text they were.
pub(crate) fn write_call(id: Str<'_>, name: Str<'_>, input: Raw<'_>, out: &mut Out) {
    out.lit("{\"id\":");
    out.str(id);
    out.lit(",\"type\":\"function\",\"function\":{\"name\":");
    out.str(name);
    out.lit(",\"arguments\":\"");
    match inner(input) {
        Some(text) => out.body(text),
        None => out.json_in_string(input.as_str()),
    }
    out.lit("\"}");
}

/// Whether a text is one JSON value and nothing else.
pub(crate) fn is_json(text: &str) -> bool {
    let mut at = Cursor::new(text);
    at.raw().is_ok() && at.at_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;

    fn json(body: &str) -> String {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        arguments_json(Some(Str::trusted(body)), &cx).as_str().to_owned()
    }

    #[test]
    fn arguments_are_unwrapped_and_wrapped_again() {
        for body in [
            "{}",
            "{\\\"a\\\": [1, \\\"\\\\n\\\"]}",
            "...",
            "{\\\"a\\\":",
            "{\\\"s\\\":\\\"é\\\\ud800\\\"}",
        ] {
            let value = json(body);
            let mut out = Out::default();
            write_call(Str::trusted("c"), Str::trusted("f"), Raw::trusted(&value), &mut out);
            let written = format!("{}}}", String::from_utf8(out.written().to_vec()).unwrap());
            let expected = format!("{{\"id\":\"c\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{body}\"}}}}");
            assert_eq!(written, expected);
        }
        assert_eq!(json(""), "{}");
        assert_eq!(json(" {} "), "{}");
        assert_eq!(json("{\\\"s\\\":\\\"\\ud800\\\"}"), "{\"s\":\"\\ud800\"}", "a lone surrogate survives");
    }
}
