//! Damage with a seed.

use agentglot_adapters::raw::json::{Raw, Shape};

use super::Chance;

/// Values of the wrong type for wherever they are put.
const VALUES: [&str; 14] = [
    "null",
    "0",
    "-1",
    "1e999",
    "99999999999999999999999",
    "1.5",
    "\"\"",
    "\"\\ud800\"",
    "\"x\"",
    "[]",
    "{}",
    "true",
    "[[{}]]",
    "{\"type\":null}",
];

/// Texts that break lines and readers.
const TEXTS: [&[u8]; 12] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"{\"type\":",
    b"\"",
    b"\\",
    b"}{",
    b"\n{\"type\":\"result\"}\n",
    b"\n{\"type\": \"final\", \"content\": \"x\"}\n",
    b"\n{\"error\":{\"message\":\"x\"}}\n",
];

/// A damaged copy of `log`; `other` is another log to take pieces of.
pub fn damaged(log: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = log.to_vec();
    for _ in 0..=chance.below(3) {
        once(&mut bytes, other, chance);
    }
    bytes
}

fn once(bytes: &mut Vec<u8>, other: &[u8], chance: &mut Chance) {
    if bytes.is_empty() {
        bytes.extend_from_slice(other);
        return;
    }
    let at = chance.below(bytes.len());
    match chance.below(11) {
        0 => bytes.truncate(at),
        1 => bytes[at] = chance.next() as u8,
        2 => bytes[at] ^= 1 << chance.below(8),
        3 => {
            let noise: Vec<u8> = (0..chance.below(12)).map(|_| chance.next() as u8).collect();
            bytes.splice(at..at, noise);
        }
        4 => {
            let end = bytes.len().min(at + 1 + chance.below(400));
            bytes.drain(at..end);
        }
        5 => {
            let piece = *chance.pick(&TEXTS);
            bytes.splice(at..at, piece.iter().copied());
        }
        6 => {
            let end = bytes.len().min(at + 1 + chance.below(2000));
            let copy = bytes[at..end].to_vec();
            let to = chance.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        7 if !other.is_empty() => {
            // Two logs spliced: the beginning of one, the end of the other.
            bytes.truncate(at);
            bytes.extend_from_slice(&other[chance.below(other.len())..]);
        }
        8 => {
            let deep = *chance.pick(&[3, 200, 20_000]);
            let bracket: &[u8] = if chance.below(2) == 0 { b"[" } else { b"{\"a\":" };
            bytes.splice(at..at, bracket.repeat(deep));
        }
        9 => swap_lines(bytes, chance),
        _ => retype(bytes, at, chance),
    }
}

/// Exchanges two lines.
fn swap_lines(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (chance.below(lines.len()), chance.below(lines.len()));
    lines.swap(a, b);
    *bytes = lines.concat();
}

/// Puts a value of another type behind the next colon.
fn retype(bytes: &mut Vec<u8>, from: usize, chance: &mut Chance) {
    let Some(colon) = bytes[from..].windows(2).position(|w| w == b"\":").map(|at| from + at + 2) else {
        return;
    };
    let (mut depth, mut in_string, mut escaped, mut end) = (0, false, false, colon);
    while let Some(&byte) = bytes.get(end) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b',' | b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        end += 1;
    }
    bytes.splice(colon..end, chance.pick(&VALUES).bytes());
}

/// The values of a line, however deep, and the keys with their quotes.
fn values<'l>(value: Raw<'l>, into: &mut Vec<&'l str>) {
    into.push(value.as_str());
    match value.shape() {
        Some(Shape::Array) => value.elements().for_each(|element| values(element, into)),
        Some(Shape::Object) => value.members().for_each(|(_, member)| values(member, into)),
        _ => {}
    }
}

/// The line with one of its values changed, gone, or said twice.
pub fn changed(line: &str, chance: &mut Chance) -> String {
    const OTHERS: &[&str] = &[
        "\"\"",
        "\"x\"",
        "\"a\\n\\\"\\ud83d\"",
        "\"end_turn\"",
        "\"success\"",
        "\"bad\\x\"",
        "0",
        "7",
        "-1.5e3",
        "4294967296",
        "01",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[{\"text\":\"t\",\"type\":\"text\"}]",
        "{\"type\":\"text\",\"text\":\"\",\"id\":\"message\"}",
        "[nonsense]",
    ];
    let mut found = Vec::new();
    values(Raw::trusted(line), &mut found);
    let part = found[chance.below(found.len())];
    let from = part.as_ptr() as usize - line.as_ptr() as usize;
    let (before, behind) = (&line[..from], &line[from + part.len()..]);
    let own = found[chance.below(found.len())];
    match chance.below(8) {
        0 if part.starts_with('"') && part.len() > 2 => format!("{before}{}\"{behind}", &part[..1]),
        0 | 1 if part.starts_with('"') => format!("{before}{}é\\n1\"{behind}", &part[..part.len() - 1]),
        0..=4 => format!("{before}{}{behind}", OTHERS[chance.below(OTHERS.len())]),
        5 => format!("{before}{own}{behind}"),
        6 => format!(
            "{before}{part},\"{}\":{own}{behind}",
            ["id", "type", "text", "new", "index", "uuid"][chance.below(6)]
        ),
        _ => {
            let mut cut = chance.below(line.len());
            while !line.is_char_boundary(cut) {
                cut -= 1;
            }
            line[..cut].to_owned()
        }
    }
}
