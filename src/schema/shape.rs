//! What a schema can tell of a line, as a number: lines of one shape fit alike.

use std::collections::BTreeSet;

/// The shape of a line that is known to be JSON: its keys, the types of its values, and what the members `tags` say.
pub(super) fn shape(line: &str, tags: &BTreeSet<String>) -> u64 {
    let bytes = line.as_bytes();
    let mut hash = Mix(0);
    let mut tagged = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at + 1);
                let text = &line[at + 1..end.min(line.len())];
                at = end + 1;
                let behind = bytes[at.min(bytes.len())..].iter().find(|byte| !byte.is_ascii_whitespace());
                if behind == Some(&b':') {
                    hash.text(text);
                    tagged = tags.contains(text);
                } else if tagged {
                    hash.text(text);
                } else {
                    hash.add(u64::from(b'"'));
                }
            }
            b'-' | b'0'..=b'9' => {
                let len = bytes[at..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'))
                    .count();
                number(&line[at..at + len], &mut hash);
                at += len;
            }
            b':' => at += 1,
            _ if byte.is_ascii_whitespace() => at += 1,
            // Brackets, commas, and the letters of `true`, `false` and `null`.
            _ => {
                hash.add(u64::from(byte));
                at += 1;
            }
        }
    }
    hash.0
}

/// Whole or not, below zero or not; what is too long for that stands for itself.
fn number(text: &str, hash: &mut Mix) {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.len() > 15 || text.contains(['e', 'E']) {
        hash.text(text);
        return;
    }
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    hash.add(u64::from(b'0') + u64::from(is_whole) * 2 + u64::from(text.starts_with('-')) * 4);
}

/// Where a string ends: the offset of its quote.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn text(&mut self, text: &str) {
        self.add(text.len() as u64);
        for piece in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.add(u64::from_le_bytes(word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_shape_differ_in_what_no_schema_looks_at() {
        let tags = BTreeSet::from(["type".to_owned()]);
        let of = |line| shape(line, &tags);
        let one = of(r#"{"type":"x","text":"say \"hi\"","n":1,"m":[1.5,null]}"#);
        assert_eq!(one, of(r#"{ "type": "x", "text": "", "n": 25, "m": [0.25, null] }"#));
        for other in [
            r#"{"type":"y","text":"t","n":1,"m":[1.5,null]}"#,
            r#"{"type":"x","text":5,"n":1,"m":[1.5,null]}"#,
            r#"{"type":"x","text":"t","n":-1,"m":[1.5,null]}"#,
            r#"{"type":"x","text":"t","n":1.5,"m":[1.5,null]}"#,
            r#"{"type":"x","text":"t","n":"1","m":[1.5,null]}"#,
            r#"{"type":"x","text":"t","n":1,"m":[1.5]}"#,
            r#"{"type":"x","text":"t","n":1,"m":[1.5,true]}"#,
            r#"{"type":"x","text":"t","n":1,"k":[1.5,null]}"#,
            r#"{"type":"x","text":"t","n":1,"m":{"m":[1.5,null]}}"#,
        ] {
            assert_ne!(one, of(other), "{other}");
        }
    }
}
