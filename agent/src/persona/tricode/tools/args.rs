//! Arguments as the program reads them: Python's idea of truth, of numbers and of what stands for nothing.

use serde_json::Value;

use crate::tools::Given;

/// An argument; one that is `null` counts as absent, as it does in Python where `None` is the default.
pub(super) fn given<'v>(input: &'v Value, name: &str) -> Option<&'v Value> {
    input.get(name).filter(|value| !value.is_null())
}

/// A text that has to be there.
pub(super) fn text<'v>(input: &'v Value, name: &str) -> Result<&'v str, Given> {
    match given(input, name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Given::error(format!("Invalid arguments: {name} must be a string"))),
        None => Err(Given::error(format!("Invalid arguments: {name} is required"))),
    }
}

/// A text that may be left out.
pub(super) fn text_or<'v>(input: &'v Value, name: &str, otherwise: &'v str) -> Result<&'v str, Given> {
    match given(input, name) {
        None => Ok(otherwise),
        Some(_) => text(input, name),
    }
}

/// Whether an argument is set.
pub(super) fn is_set(input: &Value, name: &str, otherwise: bool) -> bool {
    input.get(name).map_or(otherwise, truthy)
}

/// What Python takes for true.
pub(super) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// What `int(value)` gives: of numbers, of truth and of texts that are numbers.
pub(super) fn int(value: &Value) -> Result<i64, String> {
    let text = match value {
        Value::Bool(truth) => return Ok(i64::from(*truth)),
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            return Ok(number.as_i64().unwrap_or(float as i64));
        }
        Value::String(text) => text,
        other => return Err(format!("int() argument must be a number or a string, not '{}'", kind(other))),
    };
    let digits = text.trim().replace('_', "");
    digits
        .parse()
        .map_err(|_| format!("invalid literal for int() with base 10: {}", repr(value)))
}

/// Whether Python calls it an `int`.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.as_i64().unwrap_or(i64::MAX)),
        _ => None,
    }
}

/// Seconds; a time that is no number is an error in Python's words.
pub(super) fn seconds(input: &Value, name: &str, otherwise: f64) -> Result<f64, String> {
    match given(input, name) {
        None => Ok(otherwise),
        Some(Value::Number(number)) => Ok(number.as_f64().unwrap_or(otherwise)),
        Some(Value::Bool(truth)) => Ok(f64::from(u8::from(*truth))),
        Some(other) => Err(format!("{name} must be a number, not '{}'", kind(other))),
    }
}

/// What `str(value)` prints.
pub(super) fn string(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// What `repr(value)` prints.
pub(super) fn repr(value: &Value) -> String {
    agentglot_adapters::raw::tricode::python_repr(&value.to_string())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// What `json.dumps(value)` prints: blanks behind commas and colons, everything beyond ASCII escaped.
pub(super) fn dumps(value: &Value) -> String {
    let mut to = String::new();
    dump(value, &mut to);
    to
}

/// The values written here are a few levels deep: results of tools, made by us.
fn dump(value: &Value, to: &mut String) {
    match value {
        Value::String(text) => dump_text(text, to),
        Value::Array(items) => {
            to.push('[');
            for (at, item) in items.iter().enumerate() {
                to.push_str(if at == 0 { "" } else { ", " });
                dump(item, to);
            }
            to.push(']');
        }
        Value::Object(members) => {
            to.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                to.push_str(if at == 0 { "" } else { ", " });
                dump_text(key, to);
                to.push_str(": ");
                dump(member, to);
            }
            to.push('}');
        }
        plain => to.push_str(&plain.to_string()),
    }
}

fn dump_text(text: &str, to: &mut String) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\u{8}' => to.push_str("\\b"),
            '\u{c}' => to.push_str("\\f"),
            ' '..='~' => to.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    to.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    to.push('"');
}

/// A text as Python reads it from a file: every end of a line is a newline.
pub(super) fn universal(text: String) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text
    }
}

/// So many bytes of a text or a few fewer: up to the end of a character.
pub(super) fn whole_end(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The lines that `splitlines(keepends=True)` gives.
pub(super) fn split_lines(text: &str) -> Vec<&str> {
    let ends = |c| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}' | '\u{1d}' | '\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        let len = if rest[at..].starts_with("\r\n") {
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        let (line, behind) = rest.split_at(at + len);
        lines.push(line);
        rest = behind;
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

/// The text of a file's bytes, or what Python says of bytes that are no UTF-8.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(universal(text)),
        Err(error) => error,
    };
    let at = error.utf8_error().valid_up_to();
    let first = error.as_bytes()[at];
    let starts = matches!(first, 0xc2..=0xf4);
    let (bytes, why) = match error.utf8_error().error_len() {
        None => (error.as_bytes().len() - at, "unexpected end of data"),
        Some(len) if starts => (len, "invalid continuation byte"),
        Some(_) => (1, "invalid start byte"),
    };
    Err(if bytes > 1 {
        format!("'utf-8' codec can't decode bytes in position {at}-{}: {why}", at + bytes - 1)
    } else {
        format!("'utf-8' codec can't decode byte 0x{first:02x} in position {at}: {why}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_read_as_python_does() {
        assert_eq!(int(&json!("2")), Ok(2));
        assert_eq!(int(&json!(" -7 ")), Ok(-7));
        assert_eq!(int(&json!(2.9)), Ok(2));
        assert_eq!(int(&json!(true)), Ok(1));
        assert_eq!(int(&json!("x")), Err("invalid literal for int() with base 10: 'x'".to_owned()));
        assert_eq!((whole(&json!(true)), whole(&json!(8.0)), whole(&json!(8))), (Some(1), None, Some(8)));
        for (value, truth) in [(json!(0), false), (json!("false"), true), (json!([]), false), (json!({"a": 0}), true)] {
            assert_eq!(truthy(&value), truth, "{value}");
        }
    }

    #[test]
    fn texts_are_written_as_python_does() {
        assert_eq!(
            dumps(&json!({"a": ["é🎉\u{7f}", null, 1]})),
            r#"{"a": ["\u00e9\ud83c\udf89\u007f", null, 1]}"#
        );
        assert_eq!(
            string(&json!({"id": 1, "desc": "it's", "x": null})),
            "{'id': 1, 'desc': \"it's\", 'x': None}"
        );
        assert_eq!(string(&json!("a\"b")), "a\"b");
    }

    #[test]
    fn lines_end_where_python_ends_them() {
        assert_eq!(split_lines("a\nb\r\nc\u{2028}d\u{c}e"), ["a\n", "b\r\n", "c\u{2028}", "d\u{c}", "e"]);
        assert_eq!(universal("a\r\nb\rc\n".to_owned()), "a\nb\nc\n");
        assert_eq!(
            decode(b"ab\xff".to_vec()).unwrap_err(),
            "'utf-8' codec can't decode byte 0xff in position 2: invalid start byte"
        );
        assert_eq!(
            decode("é🎉".as_bytes()[..4].to_vec()).unwrap_err(),
            "'utf-8' codec can't decode bytes in position 2-3: unexpected end of data"
        );
    }
}
