//! The lines of a stream, in the order of keys that the program writes.

use super::ERROR;
use crate::event::{At, Fields};
use crate::json::{Out, Str};

/// Writes a member with a string.
pub(super) fn member(name: &str, text: Str<'_>, out: &mut Out) {
    out.lit(",\"");
    out.lit(name);
    out.lit("\":");
    out.str(text);
}

/// Writes a member that is some texts one after the other.
pub(super) fn texts<'t>(name: &str, texts: impl Iterator<Item = Str<'t>>, out: &mut Out) {
    out.lit(",\"");
    out.lit(name);
    out.lit("\":\"");
    texts.for_each(|text| out.body(text));
    out.lit("\"");
}

/// Writes the fields of the line itself that have no place before its end, and ends it.
pub(super) fn close(fields: Fields<'_>, out: &mut Out) {
    for field in fields.iter().filter(|field| field.at == At::Line && !field.key.is(OUTPUT)) {
        field.write_next(out);
    }
    out.lit("}\n");
}

/// What people see of a call that failed, where that is a field.
pub(super) const OUTPUT: &str = "output";

/// Writes an error that was read in this dialect: its members besides the message are among the fields. False if it said none.
pub(super) fn error<'t>(message: impl Iterator<Item = Str<'t>>, fields: Fields<'_>, out: &mut Out) -> bool {
    let part = At::Part(ERROR);
    let Some(kind) = fields.iter().find(|field| field.at == part && field.key.is("type")) else {
        return false;
    };
    out.lit(",\"error\":{\"type\":");
    out.unchecked(kind.value);
    texts("message", message, out);
    for field in fields.iter().filter(|field| field.at == part && !field.key.is("type")) {
        field.write_next(out);
    }
    out.lit("}");
    true
}

/// Writes an error of ours.
pub(super) fn error_of<'t>(kind: &str, message: impl Iterator<Item = Str<'t>>, out: &mut Out) {
    out.lit(",\"error\":{\"type\":\"");
    out.lit(kind);
    out.lit("\"");
    out.invented("/error/type", "the source does not say it in this dialect's words");
    texts("message", message, out);
    out.lit("}");
}
