//! The six lines, in the order of keys that the program writes.

use super::formatted_call;
use super::formatted_result::{self, Shown};
use crate::event::Fields;
use crate::json::python::{self, Put};
use crate::json::{Out, Raw, Str};

/// What stands before the id in the `system` line of a new session.
pub(super) const NEW: &str = "Session ID: ";
/// What stands before the id when a session goes on from an earlier run.
pub(super) const RESUMED: &str = "Resumed session ";

/// `system`
pub(super) fn system(beginning: &str, message: Str<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\": \"system\", \"message\": \"");
    out.lit(beginning);
    python::text(message, out);
    out.lit("\"");
    close(fields, out);
}

/// `round`
pub(super) fn round(number: Option<u64>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\": \"round\"");
    if let Some(number) = number {
        out.lit(", \"number\": ");
        out.number(number);
    }
    close(fields, out);
}

/// `tool_call`. Returns whether all numbers of the arguments could be spelled as Python does.
pub(super) fn tool_call(name: Str<'_>, arguments: Raw<'_>, to: &mut impl Put) -> bool {
    let plain = tool_call_open(name, arguments, to);
    to.put(b", \"formatted\": \"");
    formatted_call::write(name, arguments, to);
    to.put(b"\"}\n");
    plain
}

/// `tool_call` up to its arguments.
pub(super) fn tool_call_open(name: Str<'_>, arguments: Raw<'_>, to: &mut impl Put) -> bool {
    to.put(b"{\"type\": \"tool_call\", \"name\": \"");
    python::text(name, to);
    to.put(b"\", \"arguments\": ");
    python::value(arguments, to)
}

/// `tool_result`
pub(super) fn tool_result(shown: Shown<'_>, to: &mut impl Put) {
    tool_result_open(Some(shown.name), shown.success, shown.result, to);
    to.put(b", \"formatted\": \"");
    formatted_result::write(shown, to);
    to.put(b"\"}\n");
}

/// `tool_result` up to its result.
pub(super) fn tool_result_open(name: Option<Str<'_>>, success: bool, result: Str<'_>, to: &mut impl Put) {
    to.put(b"{\"type\": \"tool_result\"");
    if let Some(name) = name {
        to.put(b", \"name\": \"");
        python::text(name, to);
        to.put(b"\"");
    }
    to.put(if success {
        b", \"success\": true, \"result\": \""
    } else {
        b", \"success\": false, \"result\": \""
    });
    python::text(result, to);
    to.put(b"\"");
}

/// `reminder`
pub(super) fn reminder(message: Str<'_>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\": \"reminder\", \"message\": \"");
    python::text(message, out);
    out.lit("\"");
    close(fields, out);
}

/// `final`
pub(super) fn last(content: Option<Str<'_>>, fields: Fields<'_>, out: &mut Out) {
    out.lit("{\"type\": \"final\", \"content\": ");
    match content {
        Some(content) => {
            out.lit("\"");
            python::text(content, out);
            out.lit("\"");
        }
        None => out.lit("null"),
    }
    close(fields, out);
}

/// Ends a line; fields of its own follow the members that have a place.
pub(super) fn close(fields: Fields<'_>, out: &mut Out) {
    for field in fields {
        out.lit(", \"");
        out.used(field.key.as_escaped());
        python::text(field.key, out);
        out.lit("\": ");
        value(field.value, out);
    }
    out.lit("}\n");
}

/// A value of which only the structure was checked.
pub(super) fn value(value: Raw<'_>, out: &mut Out) {
    if value.check().is_err() {
        return out.unchecked(value);
    }
    out.used(value.as_str());
    python::value(value, out);
}
