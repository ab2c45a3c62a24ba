//! Damage with a seed.

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
