//! OpenAI's chat vocabulary, which several dialects share: `chat.completion` and `chat.completion.chunk` objects, tool calls,
//! usage, finish reasons.
//!
//! Nothing here knows a dialect by name.
//!
//! * [`Reader::envelope`] reads a whole object in one walk, keys in any order: the envelope, the first choice with its message
//!   or delta, the usage. What OpenAI does not define stays in [`Envelope::rest`]; `annotations` are handed to the caller, who
//!   knows their types. Of a key that comes twice the first one is read, the second is kept as a member or a field.
//! * [`Frame`] writes the envelope, [`write_usage`] and [`write_call`] what stands in it.
//!
//! A member that is optional and has the wrong type is kept as a field that is not known; `null` says nothing.

mod calls;
mod envelope;
mod frame;
mod members;
mod usage;

pub(crate) use calls::{CallPiece, arguments_json, is_json, write_call};
pub(crate) use envelope::{Choice, Envelope, Form, Object, Reader};
pub(crate) use frame::Frame;
pub(crate) use members::{FieldList, Members, inner, plain};
pub(crate) use usage::{COUNTS, read_usage, write_usage};
