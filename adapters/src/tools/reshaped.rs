//! What became of each part of a result that goes over in another shape, for the ledger.
//!
//! No table says it a second time: a part has gone over when what it says is found in what was made of the result. A text is
//! looked for line by line, because targets number lines, shorten and frame them; of a line with escapes its longest plain stretch.

use std::cell::Cell;

use crate::codec::Cx;
use crate::event::{Content, ToolResult};
use crate::json::{Out, Raw, Shape, Str};

/// What was made of a result, as it is written.
pub(crate) struct Made<'m> {
    texts: Vec<&'m [u8]>,
    /// How much more is searched.
    left: Cell<usize>,
    /// A text of which some lines are found is said in another shape.
    in_lines: bool,
    /// Texts of the source that stay as they are: they go over where they are written.
    stays: Vec<*const u8>,
}

/// So much is searched for one result; what would be looked for behind that counts as found.
const MOST: usize = 1 << 28;
/// Values below so many others are not looked at one by one.
const DEPTH: usize = 32;

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Yes,
    No,
    /// It says nothing: `null`, `""`, a truth value.
    Nothing,
}

impl<'m> Made<'m> {
    /// What the result says now.
    pub(crate) fn result(result: &ToolResult<'m>) -> Self {
        let mut texts: Vec<&[u8]> = result.content.texts().map(|text| text.as_escaped().as_bytes()).collect();
        if let Content::Blocks(blocks) = result.content {
            texts.extend(blocks.iter().filter_map(|block| match block {
                crate::event::Block::Media(media) => Some(media.raw.as_str().as_bytes()),
                crate::event::Block::Other { raw, .. } => Some(raw.as_str().as_bytes()),
                _ => None,
            }));
        }
        texts.extend(result.detail.map(|detail| detail.raw.as_str().as_bytes()));
        if let Some(call) = result.of {
            texts.push(call.input.as_str().as_bytes());
        }
        Self::of(texts)
    }

    /// What its text says as it stands.
    pub(crate) fn texts(content: Content<'m>) -> Self {
        Self::whole(content.texts().map(|text| text.as_escaped().as_bytes()).collect())
    }

    /// What was written, of which nothing is said in part.
    pub(crate) const fn whole(texts: Vec<&'m [u8]>) -> Self {
        let mut made = Self::of(texts);
        made.in_lines = false;
        made
    }

    /// What was written.
    pub(crate) const fn of(texts: Vec<&'m [u8]>) -> Self {
        Self {
            texts,
            left: Cell::new(MOST),
            in_lines: true,
            stays: Vec::new(),
        }
    }

    /// The same of a result whose text stays as it is.
    pub(crate) fn with_text(mut self, content: Content<'_>) -> Self {
        self.stays = content.texts().map(|text| text.as_escaped().as_ptr()).collect();
        self
    }

    /// Tells of a text of the source.
    pub(crate) fn tell_text(&self, text: Str<'_>, note: &'static str, out: &Out) {
        if self.says(text.as_escaped()) {
            out.renamed(text.as_escaped(), note);
        }
    }

    /// Tells of a value of the source which may go over as it is, besides what was made of it.
    pub(crate) fn tell_beside(&self, value: Raw<'_>, out: &Out) {
        let mut over = Vec::new();
        if self.judge(value, 0, &mut over) == Found::Yes {
            over.iter().for_each(|part| out.used(part));
        }
    }

    /// Tells of a value of the source, and of its parts.
    pub(crate) fn tell(&self, value: Raw<'_>, note: &'static str, out: &Out) {
        let mut over = Vec::new();
        if self.judge(value, 0, &mut over) == Found::Yes {
            over.iter().for_each(|part| out.used(part));
            out.reshaped(value.as_str(), note);
        }
    }

    /// `text` was made of a value: where it goes over, so do the parts of the value that it says.
    pub(crate) fn stands_for(text: &str, value: Raw<'_>, cx: &Cx<'_>) {
        if cx.trace.is_none() || value.as_str().as_bytes().as_ptr_range().contains(&text.as_ptr()) {
            return;
        }
        let mut over = Vec::new();
        if Made::of(vec![text.as_bytes()]).judge(value, 0, &mut over) == Found::Yes {
            over.iter().for_each(|part| cx.stands_for(text, part));
        }
    }

    /// Whether a value has gone over.
    pub(crate) fn tells(&self, value: Raw<'_>) -> bool {
        self.judge(value, 0, &mut Vec::new()) == Found::Yes
    }

    /// Whether it has, or says nothing.
    pub(crate) fn lacks_nothing(&self, value: Raw<'_>) -> bool {
        self.judge(value, 0, &mut Vec::new()) != Found::No
    }

    /// Whether something of a value has gone over; the parts that are not lost.
    fn judge<'v>(&self, value: Raw<'v>, depth: usize, over: &mut Vec<&'v str>) -> Found {
        let mut any = Found::Nothing;
        let mut part = |inner: Raw<'v>, over: &mut Vec<&'v str>| match self.judge(inner, depth + 1, over) {
            Found::Yes => any = Found::Yes,
            Found::No if any == Found::Nothing => any = Found::No,
            _ => {}
        };
        match value.shape() {
            Some(Shape::Object) if depth < DEPTH => value.members().for_each(|(key, member)| match is_word(key, member) {
                true => over.push(member.as_str()),
                false => part(member, over),
            }),
            Some(Shape::Array) if depth < DEPTH => value.elements().for_each(|element| part(element, over)),
            Some(Shape::String) => {
                let body = value.string().map_or("", Str::as_escaped);
                if self.stays.contains(&body.as_ptr()) {
                    return Found::Yes;
                }
                any = match body.is_empty() {
                    true => Found::Nothing,
                    false if self.says(body) => Found::Yes,
                    false => Found::No,
                };
            }
            Some(Shape::Number) => any = if self.has(value.as_str()) { Found::Yes } else { Found::No },
            _ => {}
        }
        let has_parts = value.as_str().len() > 2 && matches!(value.shape(), Some(Shape::Object | Shape::Array)) && depth < DEPTH;
        if any != Found::No && !has_parts {
            over.push(value.as_str());
        }
        any
    }

    /// Whether a line of a text is said.
    fn says(&self, body: &str) -> bool {
        // `Output: TEXT` among lines of other names: the text alone may be what is said.
        let is_all = |line: &str| {
            line.split_once(": ")
                .is_some_and(|(_, rest)| !rest.is_empty() && self.texts.contains(&rest.as_bytes()))
        };
        self.has(body) || self.in_lines && body.split("\\n").any(|line| self.has(plain(line)) || is_all(line))
    }

    fn has(&self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        let mut found = false;
        for made in &self.texts {
            let left = self.left.get();
            if left == 0 {
                return true;
            }
            self.left.set(left.saturating_sub(made.len()));
            found = found || memchr::memmem::find(made, text.as_bytes()).is_some();
        }
        found
    }
}

/// Whether it says what kind of thing the object is, which what is made of it says in its own way.
fn is_word(key: Str<'_>, value: Raw<'_>) -> bool {
    let word = value.string().map_or("", Str::as_escaped);
    matches!(key.as_escaped(), "kind" | "type") && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') && !word.is_empty()
}

/// The longest stretch of a line without an escape.
fn plain(line: &str) -> &str {
    line.split('\\')
        .enumerate()
        // The letter of an escape is none of the text.
        .map(|(n, piece)| if n == 0 { piece } else { piece.get(1..).unwrap_or_default() }.trim())
        .max_by_key(|piece| piece.len())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of a value has gone over, in the order in which it stands; nothing if nothing has.
    fn over<'v>(made: &[&str], value: &'v str) -> Vec<&'v str> {
        let made = Made::of(made.iter().map(|text| text.as_bytes()).collect());
        let mut over = Vec::new();
        match made.judge(Raw::trusted(value), 0, &mut over) {
            Found::Yes => over,
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_part_has_gone_over_when_what_it_says_is_said() {
        let result = r#"{"stdout":"one\ntwo","stderr":"bad","exitCode":3,"interrupted":false,"signal":null,"note":""}"#;
        // What says nothing is never lost.
        let said = [r#""one\ntwo""#, "false", "null", r#""""#];
        assert_eq!(over(&[r"1\tone"], result), said, "a line that is numbered");
        assert_eq!(over(&["bad, 3"], result), [r#""bad""#, "3", "false", "null", r#""""#]);
        assert!(over(&["something else"], result).is_empty(), "nothing of it is said");
    }

    #[test]
    fn of_a_line_with_escapes_its_longest_plain_stretch_is_looked_for() {
        assert_eq!(plain(r"a\tlonger stretch\u00e9x"), "longer stretch");
        assert_eq!(
            over(&[r"say \u0022longer stretch"], r#"{"a":"\tlonger stretch\"x"}"#),
            [r#""\tlonger stretch\"x""#]
        );
        assert!(over(&["shorter"], r#"{"a":"\tlonger stretch\"x"}"#).is_empty());
    }

    #[test]
    fn words_that_say_what_an_object_is_go_over_with_it() {
        let file = r#"{"type":"text","file":{"kind":"ts","path":"/w/a","lines":7}}"#;
        assert_eq!(over(&["/w/a"], file), [r#""text""#, r#""ts""#, r#""/w/a""#]);
        assert!(over(&["text"], file).is_empty(), "for its word alone nothing has gone over");
        assert_eq!(
            over(&["x"], r#"[{"type":"two words","v":"x"}]"#),
            [r#""x""#],
            "this is no word but a text"
        );
    }

    #[test]
    fn texts_behind_a_name_and_deep_values_are_found() {
        assert_eq!(over(&["done"], r#""Output: done""#), [r#""Output: done""#]);
        assert!(over(&["done so"], r#""Output: done""#).is_empty());
        let deep = format!("{}\"x\"{}", "[".repeat(DEPTH + 5), "]".repeat(DEPTH + 5));
        assert_eq!(
            over(&["x"], &format!("[\"x\",{deep}]")).len(),
            2,
            "what is nested too deep is not looked at"
        );
    }
}
