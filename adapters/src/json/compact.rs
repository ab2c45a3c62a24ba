//! JSON on one line.

use std::borrow::Cow;

use super::scan::string_stop;

/// The same JSON without the white space between its tokens, if a line feed or a carriage return is in it; else as it is. Strings
/// stay as they are written, and what is no JSON stays as wrong as it was.
pub fn on_one_line(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    if memchr::memchr2(b'\n', b'\r', bytes).is_none() {
        return Cow::Borrowed(json);
    }
    let mut line = String::with_capacity(json.len());
    let (mut from, mut at) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                line.push_str(&json[from..at]);
                at += 1;
                from = at;
            }
            b'"' => at = string_end(bytes, at + 1),
            _ => at += 1,
        }
    }
    line.push_str(&json[from..]);
    Cow::Owned(line)
}

/// Where in `json` the byte at offset `at` of what [`on_one_line`] made of it stands.
pub(crate) fn unfolded(json: &str, at: usize) -> usize {
    let bytes = json.as_bytes();
    let (mut here, mut kept) = (0, 0);
    while let Some(&byte) = bytes.get(here) {
        let next = if byte == b'"' { string_end(bytes, here + 1) } else { here + 1 };
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            if at < kept + (next - here) {
                return here + (at - kept);
            }
            kept += next - here;
        }
        here = next;
    }
    here
}

/// The place behind the string whose body begins at `from`.
fn string_end(bytes: &[u8], mut from: usize) -> usize {
    loop {
        from = string_stop(bytes, from);
        match bytes.get(from) {
            None => return bytes.len(),
            Some(b'"') => return from + 1,
            Some(b'\\') => from = (from + 2).min(bytes.len()),
            Some(_) => from += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_tokens_is_left_out() {
        let pretty = "{\n  \"a b\": [\r\n\t1,\n\t\" x\\\" \\n \\\\\"\n  ],\n \"n\" : -1e5 }";
        assert_eq!(on_one_line(pretty), "{\"a b\":[1,\" x\\\" \\n \\\\\"],\"n\":-1e5}");
        assert_eq!(on_one_line("{ \"a\": 1 }"), "{ \"a\": 1 }", "one line as it is");
        for broken in ["\n\"", "\n\"\\", "\n\"\u{1}\n", "{\n", "\n\"ü\\ü"] {
            let _ = on_one_line(broken);
        }
        assert_eq!(on_one_line("\n\"a\nb\""), "\"a\nb\"", "a line feed in a string is still damage");
    }

    #[test]
    fn a_place_is_found_again() {
        let pretty = "{\n  \"a b\": [\r\n\t1,\n\t\" x\"\n  ],\n \"n\" : -1e5\n}\n";
        let line = on_one_line(pretty);
        let places: Vec<_> = (0..line.len()).map(|at| unfolded(pretty, at)).collect();
        assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
        assert!(
            places.iter().zip(line.bytes()).all(|(&at, byte)| pretty.as_bytes()[at] == byte),
            "{places:?}"
        );
        assert_eq!(unfolded(pretty, line.len()), pretty.len());
    }
}
