//! The same log with its keys in another order: parsers that learn one order must not depend on it.

use super::rng::Rng;

/// The order of the keys in every object of every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// As the program wrote them in the recordings.
    Recorded,
    /// Sorted by name at every level, as stores and languages with sorted maps give them back.
    OtherConstant,
    /// Drawn anew for each object of each line.
    ShuffledEachLine,
}

/// Appends `lines` with the keys of every object in the order asked for. `lines` holds compact JSON, one value a line;
/// the values themselves keep their bytes.
pub(super) fn reorder(lines: &[u8], order: KeyOrder, rng: &mut Rng, out: &mut Vec<u8>) {
    match order {
        KeyOrder::Recorded => out.extend_from_slice(lines),
        KeyOrder::OtherConstant | KeyOrder::ShuffledEachLine => {
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                let end = value(line, 0, order, rng, out);
                out.extend_from_slice(&line[end..]);
            }
        }
    }
}

/// Appends the value at `start` and returns where it ends. Recursion is as deep as the generator's own objects are.
fn value(line: &[u8], start: usize, order: KeyOrder, rng: &mut Rng, out: &mut Vec<u8>) -> usize {
    match line[start] {
        b'{' => {
            let (mut members, end) = members(line, start);
            match order {
                KeyOrder::OtherConstant => members.sort_by_key(|&(key, colon, _)| &line[key..colon]),
                _ => rng.shuffle(&mut members),
            }
            out.push(b'{');
            for (n, &(key, colon, _)) in members.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(&line[key..=colon]);
                value(line, colon + 1, order, rng, out);
            }
            out.push(b'}');
            end
        }
        b'[' => {
            out.push(b'[');
            let mut at = start + 1;
            while line[at] != b']' {
                at = value(line, at, order, rng, out);
                if line[at] == b',' {
                    out.push(b',');
                    at += 1;
                }
            }
            out.push(b']');
            at + 1
        }
        _ => {
            let end = skip(line, start);
            out.extend_from_slice(&line[start..end]);
            end
        }
    }
}

/// The members of the object at `start` as (key, colon, end of the value), and where the object ends.
fn members(line: &[u8], start: usize) -> (Vec<(usize, usize, usize)>, usize) {
    let mut members = Vec::new();
    let mut at = start + 1;
    while line[at] != b'}' {
        if line[at] == b',' {
            at += 1;
        }
        let colon = skip(line, at);
        let end = skip(line, colon + 1);
        members.push((at, colon, end));
        at = end;
    }
    (members, at + 1)
}

/// Where the value at `start` ends.
fn skip(line: &[u8], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    loop {
        match line[at] {
            b'"' => {
                at += 1;
                while line[at] != b'"' {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(line.get(at), None | Some(b',' | b':' | b'}' | b']' | b'\n')) {
            return at;
        }
    }
}
