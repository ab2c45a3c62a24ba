//! What changed between two texts.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};

/// After this time a difference is told roughly: the texts that are so different are long.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lines around a change that are shown with it.
const AROUND: usize = 3;

/// So many parts that differ are told, and so many bytes of them; what comes behind is only counted.
const MOST_HUNKS: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;

/// So many lines are compared, of both texts together and without what they begin and end with alike: of longer ones it is only told how
/// many lines came and went.
const MOST_LINES: usize = 2_000_000;

const NO_END: &str = "\\ No newline at end of file";

/// A part of two texts in which they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line in the old text, from 1, also where it has no line there.
    pub old_start: usize,
    /// How many lines of the old text it has.
    pub old_lines: usize,
    /// The number of its first line in the new text, from 1.
    pub new_start: usize,
    /// How many lines of the new text it has.
    pub new_lines: usize,
    /// Its lines without their ends, behind `-`, `+` or a blank; and `\ No newline at end of file` behind a last line without an end.
    pub lines: Vec<String>,
}

/// How two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The parts that differ, three lines around each.
    pub hunks: Vec<Hunk>,
    /// Lines that are in the new text alone.
    pub added: usize,
    /// Lines that are in the old text alone.
    pub removed: usize,
    /// There are more parts than are told.
    pub cut: bool,
}

impl Diff {
    /// Of two texts.
    pub fn of(before: &str, after: &str) -> Self {
        if let Some((removed, added)) = too_long(before, after) {
            return Self {
                added,
                removed,
                cut: true,
                ..Self::default()
            };
        }
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
        let mut told = Self::default();
        let mut bytes = 0;
        for ops in diff.grouped_ops(AROUND) {
            told.cut |= told.hunks.len() >= MOST_HUNKS || bytes >= MOST_BYTES;
            if told.cut {
                let count = |tag: &[DiffTag], of: fn(&DiffOp) -> usize| ops.iter().filter(|op| tag.contains(&op.tag())).map(of).sum::<usize>();
                told.removed += count(&[DiffTag::Delete, DiffTag::Replace], |op| op.old_range().len());
                told.added += count(&[DiffTag::Insert, DiffTag::Replace], |op| op.new_range().len());
                continue;
            }
            let (Some(first), Some(last)) = (ops.first(), ops.last()) else {
                continue;
            };
            let (old, new) = (
                first.old_range().start..last.old_range().end,
                first.new_range().start..last.new_range().end,
            );
            let mut lines = Vec::new();
            for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => {
                        told.removed += 1;
                        '-'
                    }
                    ChangeTag::Insert => {
                        told.added += 1;
                        '+'
                    }
                };
                let line = change.value();
                bytes += line.len();
                lines.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
                if !line.ends_with('\n') {
                    lines.push(NO_END.to_owned());
                }
            }
            told.hunks.push(Hunk {
                old_start: old.start + 1,
                old_lines: old.len(),
                new_start: new.start + 1,
                new_lines: new.len(),
                lines,
            });
        }
        told
    }

    /// Claude's `structuredPatch`.
    pub fn structured(&self) -> Value {
        self.hunks
            .iter()
            .map(|hunk| {
                json!({
                    "oldStart": hunk.old_start,
                    "oldLines": hunk.old_lines,
                    "newStart": hunk.new_start,
                    "newLines": hunk.new_lines,
                    "lines": hunk.lines,
                })
            })
            .collect()
    }

    /// A patch as `diff -u` writes it, with these words behind `---` and `+++`.
    pub fn unified(&self, from: &str, to: &str) -> String {
        let mut text = format!("--- {from}\n+++ {to}\n");
        // A part without lines is said to begin on the line before it.
        let start = |start: usize, lines: usize| if lines == 0 { start - 1 } else { start };
        for hunk in &self.hunks {
            let (old, new) = (start(hunk.old_start, hunk.old_lines), start(hunk.new_start, hunk.new_lines));
            text.push_str(&format!("@@ -{old},{} +{new},{} @@\n", hunk.old_lines, hunk.new_lines));
            for line in &hunk.lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        if self.cut {
            text.push_str(&format!("[cut here: {} lines came and {} went in all]\n", self.added, self.removed));
        }
        text
    }
}

/// Whether texts have more lines that differ than are compared; then how many of the first and of the second.
pub fn too_long(before: &str, after: &str) -> Option<(usize, usize)> {
    Some(differing_lines(before, after)).filter(|(one, other)| one + other > MOST_LINES)
}

/// How many lines of each text lie between what they begin and end with alike.
fn differing_lines(before: &str, after: &str) -> (usize, usize) {
    let (one, other) = (before.as_bytes(), after.as_bytes());
    let head = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let head = memchr::memrchr(b'\n', &one[..head]).map_or(0, |end| end + 1);
    let (one, other) = (&one[head..], &other[head..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let lines = |text: &[u8]| memchr::memchr_iter(b'\n', &text[..text.len() - tail]).count() + 1;
    (lines(one), lines(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the new text out of the old one and the hunks; or the old one out of the new one.
    fn apply(text: &str, diff: &Diff, back: bool) -> String {
        let (gone, come) = if back { ('+', '-') } else { ('-', '+') };
        let source: Vec<&str> = text.split_inclusive('\n').collect();
        let (mut at, mut made) = (0, String::new());
        for hunk in &diff.hunks {
            let start = if back { hunk.new_start } else { hunk.old_start } - 1;
            made.extend(source[at..start].iter().copied());
            at = start;
            let mut lines = hunk.lines.iter().peekable();
            while let Some(line) = lines.next() {
                let end = if lines.next_if(|next| *next == NO_END).is_some() { "" } else { "\n" };
                let (sign, line) = line.split_at(1);
                let whole = format!("{line}{end}");
                if !sign.starts_with(come) {
                    assert_eq!(source[at], whole);
                    at += 1;
                }
                if !sign.starts_with(gone) {
                    made.push_str(&whole);
                }
            }
        }
        made.extend(source[at..].iter().copied());
        made
    }

    #[test]
    fn a_recorded_change_has_the_recorded_hunks() {
        let diff = Diff::of("hello\nworld\n", "goodbye\nworld\n");
        let recorded = json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-hello", "+goodbye", " world"]}]);
        assert_eq!(diff.structured(), recorded);
        assert_eq!((diff.added, diff.removed), (1, 1));
        assert_eq!(diff.unified("a", "b"), "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-hello\n+goodbye\n world\n");
        assert_eq!(Diff::of("", "x\n").unified("a", "b"), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(Diff::of("same", "same"), Diff::default());
    }

    #[test]
    fn a_difference_leads_from_one_text_to_the_other_and_back() {
        let mut seed = 7u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let text = |next: &mut dyn FnMut(u64) -> u64| {
            let mut text: String = (0..next(40)).map(|_| ["a\n", "b\n", "\n", "-x\n", "ü\r\n"][next(5) as usize]).collect();
            if next(2) == 0 {
                text.push_str("end");
            }
            text
        };
        for _ in 0..500 {
            let (before, after) = (text(&mut next), text(&mut next));
            let diff = Diff::of(&before, &after);
            assert_eq!(apply(&before, &diff, false), after);
            assert_eq!(apply(&after, &diff, true), before);
        }
    }
}
