//! Raw JSON: values are walked over and moved as the bytes that were written, never rebuilt.
//!
//! Key order, number spelling, escapes, lone surrogates and duplicate keys survive because nothing here ever turns
//! text into another form unless it is asked to. [`Cursor`] walks a line once, in order; [`Str`] is the body of a
//! string with its escapes; [`Raw`] is any value as written; [`Out`] writes.
//!
//! Two degrees of checking: what a decoder takes with [`Cursor::string`] or [`Cursor::raw`] is checked in full (escapes,
//! control characters, numbers, literals); what it passes over with [`Cursor::skip`] is checked for structure only
//! (quotes and brackets match). UTF-8 is checked a line at a time before a cursor is made, so everything is `&str`.

mod alike;
mod compact;
mod cursor;
mod depth;
mod leaves;
mod lex;
mod number;
mod out;
mod pointer;
pub(crate) mod python;
mod raw;
mod scan;
mod sound;
mod string;

pub(crate) use alike::{alike, stands_at};
pub use compact::on_one_line;
pub(crate) use compact::unfolded;
pub(crate) use cursor::no_object;
pub use cursor::{Array, Cursor, Object};
pub(crate) use leaves::leaves;
pub(crate) use number::Digits;
pub use number::python_float;
pub use out::{Drain, Out};
pub(crate) use out::{LONG, escape_json};
pub(crate) use pointer::Pointers;
use pointer::{pointer_at, pointer_of_object};
pub use raw::{Raw, Shape};
pub use sound::sound_part;
pub use string::Str;
pub(crate) use string::next_escape;

/// What is wrong with a piece of JSON, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{why} at byte {at}")]
pub struct Error {
    /// Byte offset from the beginning of the line, counted from 0.
    pub at: usize,
    /// What is wrong.
    pub why: Why,
}

impl Error {
    /// The object that ends before `end` lacks a member.
    pub(crate) const fn missing(end: usize, member: &'static str) -> Self {
        Self {
            at: end,
            why: Why::Missing(member),
        }
    }

    /// The JSON pointer of what is wrong in `text`, as far as its brackets tell: also that of a member that is not there.
    pub(crate) fn pointer(&self, text: &str) -> Option<String> {
        match self.why {
            Why::Missing(member) => pointer_of_object(text, self.at.saturating_sub(1)).map(|object| format!("{object}/{member}")),
            _ => pointer_at(text, self.at),
        }
        .filter(|pointer| !pointer.is_empty())
    }
}

/// The ways in which JSON can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The text ends before the value does: a truncated line.
    #[error("the value is cut off")]
    CutOff,
    /// A control character stands unescaped in a string.
    #[error("control character in a string")]
    Control,
    /// A backslash is followed by something that JSON does not know.
    #[error("bad escape in a string")]
    Escape,
    /// Something that begins like a number is none.
    #[error("bad number")]
    Number,
    /// A bare word other than `true`, `false`, `null`.
    #[error("bad literal")]
    Literal,
    /// A closing bracket does not match the one that was opened.
    #[error("brackets do not match")]
    Bracket,
    /// A comma, colon, key or value was expected.
    #[error("comma, colon, key or value expected")]
    Syntax,
    /// The value has another type than its place in the protocol asks for.
    #[error("value of the wrong type")]
    Type,
    /// An object lacks a member that its place in the protocol asks for: its name, or the way to it with slashes. The place is
    /// the object's end.
    #[error("required member {0:?} is missing")]
    Missing(&'static str),
}
