//! The one object of `json`, as the program lays it out.

use crate::json::Out;

/// Lays out what was written from `from` on, which is compact JSON: each member on a line of its own, two blanks deeper than its object.
pub(super) fn lay_out(from: usize, out: &mut Out) {
    let compact = out.take_from(from);
    let mut text = Vec::with_capacity(compact.len() * 2);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let feed = |depth: usize, text: &mut Vec<u8>| {
        text.push(b'\n');
        text.resize(text.len() + 2 * depth, b' ');
    };
    for (at, &byte) in compact.iter().enumerate() {
        if in_string {
            text.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'{' | b'[' => {
                text.push(byte);
                depth += 1;
                if !matches!(compact.get(at + 1), Some(b'}' | b']')) {
                    feed(depth, &mut text);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if !matches!(text.last(), Some(b'{' | b'[')) {
                    feed(depth, &mut text);
                }
                text.push(byte);
            }
            b',' => {
                text.push(byte);
                feed(depth, &mut text);
            }
            b':' => text.extend_from_slice(b": "),
            // What is taken over may have been laid out already.
            byte if byte.is_ascii_whitespace() => {}
            _ => {
                in_string = byte == b'"';
                text.push(byte);
            }
        }
    }
    out.bytes(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_laid_out_as_the_program_does() {
        let text = "{\"a\":{\"b\":[1,\"x, {\\\"y\\\": 2}\"],\"c\":{}},\"d\":[]}";
        let laid_out = "{\n  \"a\": {\n    \"b\": [\n      1,\n      \"x, {\\\"y\\\": 2}\"\n    ],\n    \"c\": {}\n  },\n  \"d\": []\n}";
        for input in [text, laid_out] {
            let mut out = Out::default();
            out.lit("before ");
            out.lit(input);
            lay_out(7, &mut out);
            assert_eq!(out.written(), format!("before {laid_out}").as_bytes());
        }
    }
}
