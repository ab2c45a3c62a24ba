//! How Python prints values: `str()` and `repr()`, as parts of the body of a JSON string.

use crate::json::python::{self, Piece, Put, put_char};
use crate::json::{Cursor, Raw, Str, next_escape, python_float};

/// What `f"{value}"` prints: a text as it is, everything else as [`repr`].
pub(super) fn paste(value: Raw<'_>, to: &mut impl Put) {
    match value.string() {
        Some(text) => python::text(text, to),
        None => repr(value, to),
    }
}

/// What `repr(value)` prints: `{'x': 1, 's': "it's", 'b': True, 'n': None}`. Keys that come twice are printed twice.
pub(super) fn repr(value: Raw<'_>, to: &mut impl Put) {
    let text = value.as_str();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'"' => {
                let mut cursor = Cursor::new(&text[at..]);
                let Ok(body) = cursor.string() else { return };
                string(body, to);
                cursor.position()
            }
            b't' => word(b"True", 4, to),
            b'f' => word(b"False", 5, to),
            b'n' => word(b"None", 4, to),
            b',' => word(b", ", 1, to),
            b':' => word(b": ", 1, to),
            b' ' | b'\t' | b'\n' | b'\r' => 1,
            b'-' | b'0'..=b'9' => number(&text[at..], to),
            _ => word(&bytes[at..=at], 1, to),
        }
    }
}

/// Puts `printed` for `taken` bytes of the source.
fn word(printed: &[u8], taken: usize, to: &mut impl Put) -> usize {
    to.put(printed);
    taken
}

fn number(text: &str, to: &mut impl Put) -> usize {
    let len = text
        .bytes()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
        .count();
    let number = &text[..len];
    if number != "-0" && !number.contains(['.', 'e', 'E']) {
        return word(number.as_bytes(), len, to);
    }
    match python_float(number).as_str() {
        "Infinity" => word(b"inf", len, to),
        "-Infinity" => word(b"-inf", len, to),
        spelled => word(spelled.as_bytes(), len, to),
    }
}

/// Single quotes, or double ones when that saves escapes.
fn string(body: Str<'_>, to: &mut impl Put) {
    let bytes = body.as_escaped().as_bytes();
    let hidden = body.has_escapes() && memchr::memmem::find(bytes, b"\\u002").is_some();
    let has = |quote: char| memchr::memchr(quote as u8, bytes).is_some() || (hidden && python::pieces(body).any(|piece| piece == Piece::Char(quote)));
    let single = has('\'');
    let double = single && !has('"');
    let quote: &[u8] = if double { b"\\\"" } else { b"'" };
    to.put(quote);
    let odd = if (!single || double) && all_printable(body.as_escaped()) {
        simple(body.as_escaped(), to)
    } else {
        Some(0)
    };
    let rest = odd.and_then(|from| body.as_escaped().get(from..)).unwrap_or("");
    for piece in python::pieces(Str::trusted(rest)) {
        match piece {
            Piece::Plain(run) => plain(run, single && !double, to),
            Piece::Char('\'') if !double => to.put(b"\\\\'"),
            Piece::Char(c) => char(c, to),
            Piece::Lone(unit) => code('u', 4, u32::from(unit), to),
        }
    }
    to.put(quote);
}

/// Whether all characters of a string's body are printable: escapes are, as they stand there.
fn all_printable(body: &str) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bytes = body.as_bytes();
    let mut at = 0;
    loop {
        // Nothing but ASCII, and no DEL.
        while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk).map(|word| u64::from_le_bytes(*word))
            && (word | word.wrapping_add(ONES)) & (ONES << 7) == 0
        {
            at += 8;
        }
        match bytes.get(at) {
            None => return true,
            Some(..0x7f) => at += 1,
            Some(_) => match body.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if is_printable(c) => at += c.len_utf8(),
                _ => return false,
            },
        }
    }
}

/// Prints text whose characters all stand for themselves, and its common escapes: the backslash of `\n`, `\t`, `\r` and `\\` is
/// escaped for JSON. Returns where another escape begins, before which it stops.
fn simple(text: &str, to: &mut impl Put) -> Option<usize> {
    /// How many bytes are put together before they are written; longer runs are written as they are.
    const DESK: usize = 256;
    let bytes = text.as_bytes();
    let (mut desk, mut len, mut from) = ([0; DESK], 0, 0);
    let odd = loop {
        let stop = next_escape(text, from).unwrap_or(bytes.len());
        let run = &bytes[from..stop];
        if len + run.len() + 4 > DESK {
            to.put(&desk[..len]);
            len = 0;
        }
        if run.len() + 4 > DESK {
            to.put(run);
        } else {
            match (bytes.get(from..from + 16), desk.get_mut(len..len + 16)) {
                (Some(source), Some(desk)) if run.len() <= 16 => desk.copy_from_slice(source),
                _ => desk[len..len + run.len()].copy_from_slice(run),
            }
            len += run.len();
        }
        let printed: &[u8] = match (bytes.get(stop), bytes.get(stop + 1)) {
            (None, _) => break None,
            (Some(b'\\'), Some(b'n')) => b"\\\\n",
            (Some(b'\\'), Some(b't')) => b"\\\\t",
            (Some(b'\\'), Some(b'r')) => b"\\\\r",
            (Some(b'\\'), Some(b'"')) => b"\\\"",
            (Some(b'\\'), Some(b'\\')) => b"\\\\\\\\",
            _ => break Some(stop),
        };
        desk[len..len + printed.len()].copy_from_slice(printed);
        len += printed.len();
        from = stop + 2;
    };
    to.put(&desk[..len]);
    odd
}

/// Characters that are no escapes in JSON; some of them are in Python.
fn plain(run: &str, escape_quote: bool, to: &mut impl Put) {
    let simple = run.bytes().fold(0, u8::max) < 0x7f;
    if simple && !escape_quote {
        return to.put(run.as_bytes());
    }
    let mut from = 0;
    for (at, c) in run.char_indices() {
        let quote = c == '\'' && escape_quote;
        if quote || !(c.is_ascii_graphic() || c == ' ' || is_printable(c)) {
            to.put(&run.as_bytes()[from..at]);
            from = at + c.len_utf8();
            match quote {
                true => to.put(b"\\\\'"),
                false => char(c, to),
            }
        }
    }
    to.put(&run.as_bytes()[from..]);
}

fn char(c: char, to: &mut impl Put) {
    match c {
        '\\' => to.put(b"\\\\\\\\"),
        '\n' => to.put(b"\\\\n"),
        '\r' => to.put(b"\\\\r"),
        '\t' => to.put(b"\\\\t"),
        c if is_printable(c) => put_char(c, to),
        c if c <= '\u{ff}' => code('x', 2, c.into(), to),
        c if c <= '\u{ffff}' => code('u', 4, c.into(), to),
        c => code('U', 8, c.into(), to),
    }
}

/// `\x7f`, `\u2028`, `\U000e0001`; the backslash is escaped for JSON.
fn code(letter: char, digits: u32, c: u32, to: &mut impl Put) {
    let mut text = [b'\\', b'\\', letter as u8, 0, 0, 0, 0, 0, 0, 0, 0];
    for place in 0..digits {
        let digit = c >> (4 * (digits - 1 - place)) & 15;
        text[3 + place as usize] = b"0123456789abcdef"[digit as usize];
    }
    to.put(&text[..3 + digits as usize]);
}

/// Python's `str.isprintable`: no control, format, private, unassigned or separating character but the blank. `escape_debug`
/// asks the same of every character that is not the first of its text.
fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        // Letters, punctuation and pictures that are all assigned; the rest is looked up.
        '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{24f}' | '\u{400}'..='\u{481}' | '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{23ff}' => true,
        '\u{2500}'..='\u{27ff}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        '\0'..='\u{a0}' => false,
        c => {
            let mut text = String::from("a");
            text.push(c);
            text.escape_debug().nth(1) == Some(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: &str) -> String {
        let mut out = vec![b'"'];
        repr(Raw::trusted(json), &mut out);
        out.push(b'"');
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn values_are_printed_as_python_prints_them() {
        // Each right side is what Python 3.11 printed for `repr(json.loads(left))`.
        for (json, python) in [
            (
                r#"{"x":1,"s":"it's","b":true,"n":null,"l":[1.5,"é"]}"#,
                r#"{'x': 1, 's': "it's", 'b': True, 'n': None, 'l': [1.5, 'é']}"#,
            ),
            (
                r#"{ "a" : [ false , -0, 1e5, 1e400, -1e400 ] , "b" : { } }"#,
                "{'a': [False, 0, 100000.0, inf, -inf], 'b': {}}",
            ),
            (r#""say \"it's\"""#, r#"'say "it\'s"'"#),
            (r#""say \"it\"""#, r#"'say "it"'"#),
            (r#""\u0027\u0022""#, r#"'\'"'"#),
            (r#""\u0027""#, r#""'""#),
            (r#""a\n\r\t\b\f\\\/\u001b\u007f""#, r#"'a\n\r\t\x08\x0c\\/\x1b\x7f'"#),
            (
                "\"\u{7f}\u{a0}\u{ad}é\u{2028}\u{3000}世界🎉\u{e000}\u{e0001}\u{301}\u{378}\"",
                "'\\x7f\\xa0\\xadé\\u2028\\u3000世界🎉\\ue000\\U000e0001\u{301}\\u0378'",
            ),
            (r#""\u00e9\ud83d\ude00\ud83dx""#, "'é😀\\ud83dx'"),
            ("\"\"", "''"),
        ] {
            assert_eq!(printed(json), python, "{json}");
        }
    }

    #[test]
    fn a_text_is_pasted_without_quotes() {
        let mut out = Vec::new();
        paste(Raw::trusted("\"a\\\"\\u00e9\""), &mut out);
        paste(Raw::trusted("[\"a\"]"), &mut out);
        paste(Raw::trusted("2"), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a\\\"é['a']2");
    }
}
