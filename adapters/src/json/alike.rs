//! Whether two texts are the same, or two spellings of one.

use super::string::{Str, next_escape};

/// Up to so many bytes, a call of the general comparison takes longer than to compare them here.
const SHORT: usize = 256;

/// `a == b`, for ids, words and the like.
#[inline(always)]
pub(crate) fn alike(a: &str, b: &str) -> bool {
    a.len() == b.len() && same(a.as_bytes(), b.as_bytes())
}

/// Whether `part`, which is as short, stands at `at`.
#[inline(always)]
pub(crate) fn stands_at(bytes: &[u8], at: usize, part: &[u8]) -> bool {
    bytes
        .get(at..)
        .and_then(|rest| rest.get(..part.len()))
        .is_some_and(|found| same(found, part))
}

/// Compares texts of one length.
#[inline(always)]
fn same(one: &[u8], other: &[u8]) -> bool {
    match one.len() {
        0..4 => one.iter().zip(other).all(|(one, other)| one == other),
        4..8 => same_in_parts::<4>(one, other),
        8..16 => same_in_parts::<8>(one, other),
        16..32 => same_in_parts::<16>(one, other),
        32..=SHORT => same_in_parts::<32>(one, other),
        _ => one == other,
    }
}

/// Compares texts of one length, which have so many bytes at least. The last part may hold bytes of the one before it.
#[inline(always)]
fn same_in_parts<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    for (part, wanted) in one.as_chunks::<N>().0.iter().zip(other.as_chunks::<N>().0) {
        if part != wanted {
            return false;
        }
    }
    one.last_chunk::<N>() == other.last_chunk()
}

impl Str<'_> {
    /// Whether it is a JSON text that says what `json`, which is one, says in the same words: the same but for white space between
    /// tokens. False does not mean that it says something else.
    pub(crate) fn spells_json(self, json: &str) -> bool {
        let (body, json) = (self.as_escaped().as_bytes(), json.as_bytes());
        let (mut at, mut to) = (0, 0);
        let mut inside = false;
        loop {
            // Quotes and backslashes are escaped: what stands between two escapes is in one string or in none.
            let end = next_escape(self.as_escaped(), at).unwrap_or(body.len());
            if stands_at(json, to, &body[at..end]) {
                to += end - at;
            } else if inside {
                return false;
            } else {
                match same_tokens(&body[at..end], json, to) {
                    Some(end) => to = end,
                    None => return false,
                }
            }
            let byte = match body.get(end..end + 2) {
                None => return end == body.len() && json[to..].trim_ascii_start().is_empty(),
                Some(&[_, escaped @ (b'"' | b'\\')]) => escaped,
                // White space between tokens.
                Some(b"\\n" | b"\\t" | b"\\r") if !inside && parts(json, to) => {
                    at = end + 2;
                    continue;
                }
                Some(_) => return false,
            };
            if !inside {
                to += blanks(json, to);
            }
            if json.get(to) != Some(&byte) {
                return false;
            }
            (at, to) = (end + 2, to + 1);
            if byte == b'"' {
                inside = !inside;
                continue;
            }
            // What the text escapes goes with its backslash.
            let (escaped, used) = match body.get(at..) {
                Some([b'\\', escaped @ (b'"' | b'\\'), ..]) => (*escaped, 2),
                Some([plain, ..]) if *plain != b'\\' => (*plain, 1),
                _ => return false,
            };
            if !inside || json.get(to) != Some(&escaped) {
                return false;
            }
            (at, to) = (at + used, to + 1);
        }
    }
}

/// Compares a part of a JSON text that has no strings with `json` from `to` on; returns where that part ends there.
fn same_tokens(part: &[u8], json: &[u8], mut to: usize) -> Option<usize> {
    for &byte in part {
        if json.get(to) == Some(&byte) {
            to += 1;
        } else if byte == b' ' {
            parts(json, to).then_some(())?;
        } else {
            to += blanks(json, to);
            (json.get(to) == Some(&byte)).then_some(())?;
            to += 1;
        }
    }
    Some(to)
}

/// Whether white space before the byte at `at` of a JSON text would change nothing: one of the tokens beside it is no word.
fn parts(json: &[u8], at: usize) -> bool {
    let free = |byte: Option<&u8>| byte.is_none_or(|byte| b"{}[]:, \t\n\r".contains(byte));
    free(at.checked_sub(1).and_then(|before| json.get(before))) || free(json.get(at))
}

/// How many bytes of white space begin at `at`.
fn blanks(json: &[u8], at: usize) -> usize {
    json.get(at..).map_or(0, |rest| rest.len() - rest.trim_ascii_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_alike_that_are_equal(len in 0usize..300, at in 0usize..300, from in 0usize..40) {
            let text: String = (0..len).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
            let longer = text.clone() + "x";
            prop_assert!(alike(&text, &text.clone()));
            prop_assert!(!alike(&text, &longer));
            let line = format!("{}{text}", "-".repeat(from));
            prop_assert!(stands_at(line.as_bytes(), from, text.as_bytes()));
            prop_assert!(!stands_at(line.as_bytes(), from, longer.as_bytes()));
            if at < len {
                let other = format!("{}X{}", &text[..at], &text[at + 1..]);
                prop_assert!(!alike(&text, &other));
                prop_assert!(!stands_at(line.as_bytes(), from, other.as_bytes()));
            }
        }

        #[test]
        fn a_json_text_is_recognised_with_white_space_between_its_tokens(
            tokens in prop::collection::vec((0..8usize, 0..5usize), 0..8),
            other in "[\\[\\]{}:,\" \n12tn\\\\a]{0,8}",
        ) {
            const SPACES: [&str; 5] = ["", " ", "\n", " \t ", "\r\n"];
            const VALUES: [&str; 8] = ["1", "-20.5e3", "true", "null", "\"\"", "\" \\\" 1\\\\\"", "\"\\u00e9\\n é\"", "{\"k\":[{},[]]}"];
            let (mut json, mut spaced) = (String::from("["), String::from("["));
            for (n, &(value, space)) in tokens.iter().enumerate() {
                json.push_str(if n > 0 { "," } else { "" });
                json.push_str(VALUES[value]);
                let space = SPACES[space];
                spaced.push_str(&format!("{}{space}{}{space}", if n > 0 { "," } else { "" }, VALUES[value].replace(',', &format!(",{space}"))));
            }
            json.push(']');
            spaced.push(']');
            let body = |text: &str| {
                let mut body = String::new();
                Str::escape(text, &mut body);
                body
            };
            prop_assert!(Str::trusted(&body(&json)).spells_json(&json));
            prop_assert!(Str::trusted(&body(&spaced)).spells_json(&json), "{} {}", spaced, json);
            prop_assert!(Str::trusted(&body(&json)).spells_json(&spaced));
            // Whatever it takes for the same is the same.
            if Str::trusted(&body(&other)).spells_json(&json) {
                prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&other).ok(), serde_json::from_str(&json).ok());
            }
            for cut in (0..=spaced.len()).filter(|&cut| spaced.is_char_boundary(cut)) {
                let (before, behind) = spaced.split_at(cut);
                for more in [" ", "1", "\"", "\\", "\n"] {
                    let changed = format!("{before}{more}{behind}");
                    if Str::trusted(&body(&changed)).spells_json(&json) {
                        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&changed).ok(), serde_json::from_str(&json).ok(), "{}", changed);
                    }
                }
            }
        }
    }
}
