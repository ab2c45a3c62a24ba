//! `formatted` of a `tool_call`: the call in one line for people.
//!
//! Values are pasted without any escaping of their own, so that pasting the body of one JSON string into another is all
//! there is to do. The table is in docs/tricode.md; the recorded strings are the oracle of its test.

use super::repr::{paste, repr};
use crate::json::python::{self, Put};
use crate::json::{Raw, Shape, Str};

/// Writes the body of the string.
pub(super) fn write(name: Str<'_>, arguments: Raw<'_>, to: &mut impl Put) {
    match name.as_escaped() {
        "search_context" => {
            let [pattern, path] = pick(arguments, ["pattern", "path"]);
            to.put(b"SEARCH(pattern=");
            quoted(pattern, "", to);
            to.put(b", path=");
            quoted(path, ".", to);
            to.put(b")");
        }
        "read_file" => read(arguments, to),
        "create_file" => one(b"CREATE(", arguments, "path", "", to),
        "edit_file" => edit(arguments, to),
        "list_directory" => one(b"LIST(", arguments, "path", ".", to),
        "delete_file" => one(b"DELETE FILE(", arguments, "path", "", to),
        "delete_path" => {
            let [path, recursive] = pick(arguments, ["path", "recursive"]);
            to.put(b"DELETE PATH(");
            quoted(path, "", to);
            flag(recursive, false, b", recursive=True", to);
            to.put(b")");
        }
        "mkdir" => {
            let [path, parents, exist_ok] = pick(arguments, ["path", "parents", "exist_ok"]);
            to.put(b"MKDIR(");
            quoted(path, "", to);
            flag(parents, true, b", parents=True", to);
            flag(exist_ok, false, b", exist_ok=True", to);
            to.put(b")");
        }
        "plan" => {
            let [action] = pick(arguments, ["action"]);
            to.put(b"PLAN ");
            if let Some(action) = action.and_then(Raw::string) {
                upper(action, to);
            }
        }
        "run_command" => bare(b"RUN(", arguments, "command", to),
        "start_session" => bare(b"START SESSION(", arguments, "command", to),
        "send_input" => {
            let [session, text] = pick(arguments, ["session_id", "input_text"]);
            to.put(b"SEND TO SESSION(");
            or(session, "", to);
            to.put(b", ");
            quoted(text, "", to);
            to.put(b")");
        }
        // The program's own spelling.
        "read_output" => bare(b"READ SESSTION OUTPUT(", arguments, "session_id", to),
        "close_session" => bare(b"CLOSE SESSION(", arguments, "session_id", to),
        "list_sessions" => to.put(b"LIST SESSIONS()"),
        "fetch_url" => one(b"FETCH URL(", arguments, "url", "", to),
        "web_search" => {
            let [query, max] = pick(arguments, ["query", "max_results"]);
            to.put(b"WEB SEARCH(");
            quoted(query, "", to);
            to.put(b", max=");
            or(max, "5", to);
            to.put(b")");
        }
        "search_symbol" => {
            let [symbol, language, kind, offset, qualified, enclosing] =
                pick(arguments, ["symbol", "language", "kind", "offset", "qualified_name", "enclosing"]);
            to.put(b"SYMBOL(");
            quoted(symbol, "", to);
            let options = [
                ("lang", language),
                ("kind", kind),
                ("offset", offset),
                ("q", qualified),
                ("enc", enclosing),
            ];
            options.into_iter().for_each(|(key, value)| option(key, value, to));
            to.put(b")");
        }
        "list_symbols" => {
            let [path, language, kind, max, offset] = pick(arguments, ["path", "language", "kind", "max_results", "offset"]);
            to.put(b"LIST SYMBOLS(");
            quoted(path, ".", to);
            let options = [("lang", language), ("kind", kind), ("max", max), ("offset", offset)];
            options.into_iter().for_each(|(key, value)| option(key, value, to));
            to.put(b")");
        }
        "search_references" => references(arguments, to),
        _ => {
            upper(name, to);
            to.put(b"(");
            repr(arguments, to);
            to.put(b")");
        }
    }
}

fn read(arguments: Raw<'_>, to: &mut impl Put) {
    let [path, start, end, max, meta] = pick(arguments, ["path", "start_line", "end_line", "max_bytes", "with_metadata"]);
    let given = |value: Option<Raw<'_>>| value.is_some_and(|value| !value.is_null());
    to.put(b"READ(");
    quoted(path, "", to);
    if given(start) {
        to.put(b", start=");
        or(start, "", to);
        if given(end) {
            to.put(b", end=");
            or(end, "", to);
        }
    }
    if given(max) {
        to.put(b", max=");
        or(max, "", to);
        to.put(b"B");
    }
    flag(meta, false, b", meta", to);
    to.put(b")");
}

fn edit(arguments: Raw<'_>, to: &mut impl Put) {
    let [path, mode, hunks] = pick(arguments, ["path", "mode", "hunks"]);
    to.put(b"EDIT(");
    quoted(path, "", to);
    let patch = mode.is_none_or(|mode| mode.string().is_some_and(|mode| mode.is("patch")));
    if !patch {
        to.put(b", mode=");
        or(mode, "", to);
    } else if let Some(hunks) = hunks.filter(|&hunks| truthy(hunks)) {
        let count = match hunks.shape() {
            Some(Shape::Array) => hunks.elements().count(),
            Some(Shape::String) => hunks.string().map_or(0, Str::chars),
            _ => hunks.members().count(),
        };
        to.put(b", hunks=");
        to.put(count.to_string().as_bytes());
    }
    to.put(b")");
}

fn references(arguments: Raw<'_>, to: &mut impl Put) {
    let [definition, symbol, mode] = pick(arguments, ["definition", "symbol", "mode"]);
    to.put(b"REFS(");
    // A place, or else a name, each two values with a colon between them.
    let (key, object, [first, second]) = match (definition.filter(|&d| truthy(d)), symbol) {
        (Some(definition), _) => ("def=\\\"", definition, ["file", "start_line"]),
        (None, symbol) => ("sym=\\\"", symbol.unwrap_or(Raw::NULL), ["language", "name"]),
    };
    let [first, second] = pick(object, [first, second]);
    to.put(key.as_bytes());
    or(first, "", to);
    to.put(b":");
    or(second, "", to);
    to.put(b"\\\"");
    option("mode", mode, to);
    to.put(b")");
}

/// The values of some members of an object. Of a key that comes twice Python keeps the last.
pub(super) fn pick<'a, const N: usize>(object: Raw<'a>, keys: [&str; N]) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    for (key, value) in object.members() {
        if let Some(at) = keys.iter().position(|wanted| key.is(wanted)) {
            found[at] = Some(value);
        }
    }
    found
}

/// Python's idea of truth.
pub(super) fn truthy(value: Raw<'_>) -> bool {
    match value.shape() {
        Some(Shape::Null) | None => false,
        Some(Shape::Bool) => value.bool() == Some(true),
        Some(Shape::Number) => value.f64() != Some(0.0),
        Some(Shape::String) => value.as_str() != "\"\"",
        Some(Shape::Array) => value.elements().next().is_some(),
        Some(Shape::Object) => value.members().next().is_some(),
    }
}

fn or(value: Option<Raw<'_>>, default: &str, to: &mut impl Put) {
    match value {
        Some(value) => paste(value, to),
        None => to.put(default.as_bytes()),
    }
}

fn quoted(value: Option<Raw<'_>>, default: &str, to: &mut impl Put) {
    to.put(b"\\\"");
    or(value, default, to);
    to.put(b"\\\"");
}

/// `HEAD"VALUE")`
fn one(head: &[u8], arguments: Raw<'_>, key: &str, default: &str, to: &mut impl Put) {
    let [value] = pick(arguments, [key]);
    to.put(head);
    quoted(value, default, to);
    to.put(b")");
}

/// `HEADVALUE)`
fn bare(head: &[u8], arguments: Raw<'_>, key: &str, to: &mut impl Put) {
    let [value] = pick(arguments, [key]);
    to.put(head);
    or(value, "", to);
    to.put(b")");
}

fn flag(value: Option<Raw<'_>>, default: bool, text: &[u8], to: &mut impl Put) {
    if value.map_or(default, truthy) {
        to.put(text);
    }
}

/// `, KEY=VALUE`, if there is something to show.
fn option(key: &str, value: Option<Raw<'_>>, to: &mut impl Put) {
    if let Some(value) = value.filter(|&value| truthy(value)) {
        to.put(b", ");
        to.put(key.as_bytes());
        to.put(b"=");
        paste(value, to);
    }
}

/// Python's `str.upper`.
fn upper(body: Str<'_>, to: &mut impl Put) {
    let text = body.as_escaped();
    let mut short = [0; 64];
    match short.get_mut(..text.len()).filter(|_| text.is_ascii() && !body.has_escapes()) {
        Some(short) => {
            short.copy_from_slice(text.as_bytes());
            short.make_ascii_uppercase();
            to.put(short);
        }
        None => {
            let mut raised = String::new();
            Str::escape(&body.unescape().to_uppercase(), &mut raised);
            python::text(Str::trusted(&raised), to);
        }
    }
}
