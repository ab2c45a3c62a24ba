//! What changed between two texts, as hunks: `structuredPatch`, and the text of a unified diff in its
//! everybody else spell it.

use similar::{Algorithm, ChangeTag, DiffOp};

use bumpalo::Bump;
use bumpalo::collections::String as BumpString;

use super::json::{Json, members, whole};
use crate::json::{Digits, Raw, Str, next_escape};

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    hunks: Vec<Hunk>,
}

/// A place that changed. A range of no lines begins at the line before which it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    /// Without their ends, after ` `, `-`, `+` or `\`.
    lines: Lines,
}

/// Lines, one after the other in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lines {
    text: String,
    ends: Vec<usize>,
}

impl Lines {
    /// Appends a line that is given in parts.
    fn push(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |&end| &self.text[std::mem::replace(&mut from, end)..end])
    }
}

/// `structuredPatch`, which was checked in full, as the text of a unified diff for [`DiffStyle::Git`], and how many lines
/// it adds and removes: what [`Patch::unified`] and [`Patch::stat`] give, but no text is looked at. `None` where it is empty, is
/// none, or has texts that are not [plainly escaped](Str::is_plainly_escaped), as `path` has to be.
pub(crate) fn as_spelled<'a>(patch: Raw<'_>, path: Str<'_>, created: bool, arena: &'a Bump) -> Option<(Str<'a>, (u64, u64))> {
    let mut text = BumpString::with_capacity_in(patch.as_str().len() + 2 * path.as_escaped().len() + 64, arena);
    let (from, path) = (if created { "/dev/null" } else { "a/" }, path.as_escaped());
    let old = if created { "" } else { path };
    [r"--- ", from, old, r"\n+++ b/", path, r"\n"].iter().for_each(|part| text.push_str(part));
    let number = |text: &mut BumpString<'_>, start: u64, lines: u64| {
        let start = if lines == 0 { start.saturating_sub(1) } else { start };
        text.push_str(Digits::of(start.into()).as_str());
        if lines != 1 {
            text.push(',');
            text.push_str(Digits::of(lines.into()).as_str());
        }
    };
    let (mut added, mut removed, mut hunks) = (0, 0, 0);
    for hunk in patch.elements() {
        let [old_start, old_lines, new_start, new_lines, lines] = members(hunk, ["oldStart", "oldLines", "newStart", "newLines", "lines"])?;
        text.push_str("@@ -");
        number(&mut text, whole(old_start?)?, whole(old_lines?)?);
        text.push_str(" +");
        number(&mut text, whole(new_start?)?, whole(new_lines?)?);
        text.push_str(r" @@\n");
        for line in lines?.elements() {
            let line = line.string().filter(|line| line.is_plainly_escaped())?.as_escaped();
            match line.as_bytes().first() {
                Some(b'+') => added += 1,
                Some(b'-') => removed += 1,
                _ => {}
            }
            text.push_str(line);
            text.push_str(r"\n");
        }
        hunks += 1;
    }
    (hunks > 0).then(|| (Str::trusted(text.into_bump_str()), (added, removed)))
}

/// The text of a new file, which is plainly escaped and not empty, as the text of a unified diff for [`DiffStyle::Git`], and how
/// many lines it has: what [`Patch::between`] gives for no text and this one, but no text is looked at.
pub(crate) fn created_as_spelled<'a>(text: Str<'_>, path: Str<'_>, arena: &'a Bump) -> (Str<'a>, u64) {
    let body = text.as_escaped();
    let mut hunk = BumpString::with_capacity_in(body.len() + body.len() / 16 + 64, arena);
    let (mut lines, mut from, mut at) = (0u64, 0, 0);
    while let Some(escape) = next_escape(body, at) {
        at = escape + 2;
        if body.as_bytes().get(escape + 1) == Some(&b'n') {
            hunk.push('+');
            hunk.push_str(&body[from..at]);
            (from, lines) = (at, lines + 1);
        }
    }
    if from < body.len() {
        ["+", &body[from..], r"\n\\ No newline at end of file\n"]
            .iter()
            .for_each(|part| hunk.push_str(part));
        lines += 1;
    }
    let count = Digits::of(lines.into());
    let count = if lines == 1 { ["", ""] } else { [",", count.as_str()] };
    let head = [r"--- /dev/null\n+++ b/", path.as_escaped(), r"\n@@ -0,0 +1", count[0], count[1], r" @@\n"];
    let mut diff = BumpString::with_capacity_in(hunk.len() + path.as_escaped().len() + 64, arena);
    head.iter().chain([&&*hunk]).for_each(|part| diff.push_str(part));
    (Str::trusted(diff.into_bump_str()), lines)
}

/// How the text of a unified diff is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffStyle {
    /// As `git` writes.
    Git,
    /// No line end at the end, a range of no lines keeps its number, nothing is said of a missing last line end.
    Bare,
    /// Python's `difflib`: nothing is said of a missing last line end.
    Difflib,
}

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;
/// Above this product of line counts, texts are not compared any more but replaced as a whole: comparing takes time and
/// memory in proportion to it when nothing is alike.
const LIMIT: usize = 4_000_000;
const NO_END: &str = "\\ No newline at end of file";

impl Patch {
    /// What turns one text into the other.
    pub(crate) fn between(before: &str, after: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
        let (olds, news) = (head..old.len() - tail, head..new.len() - tail);
        if olds.is_empty() && news.is_empty() {
            return Self::default();
        }
        let mut ops = Vec::new();
        if head > 0 {
            ops.push(DiffOp::Equal {
                old_index: 0,
                new_index: 0,
                len: head,
            });
        }
        if olds.len().saturating_mul(news.len()) > LIMIT || olds.is_empty() || news.is_empty() {
            ops.push(DiffOp::Replace {
                old_index: head,
                old_len: olds.len(),
                new_index: head,
                new_len: news.len(),
            });
        } else {
            ops.extend(similar::capture_diff(Algorithm::Myers, &old, olds.clone(), &new, news.clone()));
        }
        if tail > 0 {
            ops.push(DiffOp::Equal {
                old_index: olds.end,
                new_index: news.end,
                len: tail,
            });
        }
        let hunks = similar::group_diff_ops(ops, CONTEXT)
            .into_iter()
            .map(|group| Hunk::of(&group, &old, &new))
            .collect();
        Self { hunks }
    }

    /// Reads `structuredPatch`, which was checked in full.
    pub(crate) fn structured(patch: Raw<'_>) -> Option<Self> {
        let mut hunks = Vec::new();
        for hunk in patch.elements() {
            let [old_start, old_lines, new_start, new_lines, lines] = members(hunk, ["oldStart", "oldLines", "newStart", "newLines", "lines"])?;
            let mut hunk = Hunk {
                old_start: whole(old_start?)?,
                old_lines: whole(old_lines?)?,
                new_start: whole(new_start?)?,
                new_lines: whole(new_lines?)?,
                lines: Lines::default(),
            };
            for line in lines?.elements() {
                hunk.lines.push(&[&line.string()?.unescape()]);
            }
            hunks.push(hunk);
        }
        Some(Self { hunks })
    }

    /// Reads the text of a unified diff of one file.
    pub(crate) fn parse(text: &str, style: DiffStyle) -> Option<Self> {
        let mut hunks: Vec<Hunk> = Vec::new();
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if let Some(ranges) = line.strip_prefix("@@ -") {
                let (old, rest) = ranges.split_once(" +")?;
                let (new, _) = rest.split_once(" @@")?;
                let ((old_start, old_lines), (new_start, new_lines)) = (range(old, style)?, range(new, style)?);
                hunks.push(Hunk {
                    old_start,
                    old_lines,
                    new_start,
                    new_lines,
                    lines: Lines::default(),
                });
            } else if let Some(hunk) = hunks.last_mut() {
                match line.as_bytes().first() {
                    Some(b' ' | b'+' | b'-' | b'\\') => hunk.lines.push(&[line]),
                    // Some programs cut the blank of an empty line off.
                    None => hunk.lines.push(&[" "]),
                    Some(_) => return None,
                }
            } else if !line.starts_with("--- ") && !line.starts_with("+++ ") {
                return None;
            }
        }
        Some(Self { hunks })
    }

    /// Whether nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }

    /// Lines added and removed.
    pub(crate) fn stat(&self) -> (u64, u64) {
        let count = |sign| {
            self.hunks
                .iter()
                .flat_map(|hunk| hunk.lines.iter())
                .filter(|line| line.starts_with(sign))
                .count() as u64
        };
        (count('+'), count('-'))
    }

    /// The text of a unified diff; `from` and `to` stand behind `--- ` and `+++ `.
    pub(crate) fn unified(&self, from: &str, to: &str, style: DiffStyle) -> String {
        use std::fmt::Write;
        let mut text = format!("--- {from}\n+++ {to}\n");
        let range = |start: u64, lines: u64| match lines {
            1 => start.to_string(),
            0 if style != DiffStyle::Bare => format!("{},0", start.saturating_sub(1)),
            lines => format!("{start},{lines}"),
        };
        for hunk in &self.hunks {
            // Writing to a string in memory cannot fail.
            let _ = writeln!(
                text,
                "@@ -{} +{} @@",
                range(hunk.old_start, hunk.old_lines),
                range(hunk.new_start, hunk.new_lines)
            );
            for line in hunk.lines.iter().filter(|line| style == DiffStyle::Git || !line.starts_with('\\')) {
                text.push_str(line);
                text.push('\n');
            }
        }
        if style == DiffStyle::Bare {
            text.pop();
        }
        text
    }

    /// Writes `structuredPatch`.
    pub(crate) fn write(&self, json: &mut Json<'_>) {
        json.mark('[');
        for hunk in &self.hunks {
            json.item()
                .mark('{')
                .key("oldStart")
                .number(hunk.old_start)
                .key("oldLines")
                .number(hunk.old_lines);
            json.key("newStart")
                .number(hunk.new_start)
                .key("newLines")
                .number(hunk.new_lines)
                .key("lines")
                .mark('[');
            for line in hunk.lines.iter() {
                json.item().plain(line);
            }
            json.mark(']').mark('}');
        }
        json.mark(']');
    }
}

impl Hunk {
    fn of(group: &[DiffOp], old: &[&str], new: &[&str]) -> Self {
        let mut hunk = Self::default();
        let first = group.first().map_or((0, 0), |op| (op.old_range().start, op.new_range().start));
        (hunk.old_start, hunk.new_start) = (first.0 as u64 + 1, first.1 as u64 + 1);
        for op in group {
            for change in op.iter_changes(old, new) {
                let line = change.value();
                let (sign, in_old, in_new) = match change.tag() {
                    ChangeTag::Equal => (" ", 1, 1),
                    ChangeTag::Delete => ("-", 1, 0),
                    ChangeTag::Insert => ("+", 0, 1),
                };
                hunk.old_lines += in_old;
                hunk.new_lines += in_new;
                hunk.lines.push(&[sign, line.strip_suffix('\n').unwrap_or(line)]);
                if !line.ends_with('\n') {
                    hunk.lines.push(&[NO_END]);
                }
            }
        }
        hunk
    }
}

fn range(text: &str, style: DiffStyle) -> Option<(u64, u64)> {
    let (start, lines) = match text.split_once(',') {
        Some((start, lines)) => (start.parse().ok()?, lines.parse().ok()?),
        None => (text.parse().ok()?, 1),
    };
    Some((
        if lines == 0 && style != DiffStyle::Bare {
            u64::saturating_add(start, 1)
        } else {
            start
        },
        lines,
    ))
}

/// The lines of two texts that stand at an unknown place of a file: the first with `-`, the second with `+`.
pub(crate) fn bare(old: Str<'_>, new: Str<'_>) -> String {
    let mut text = String::new();
    for (sign, side) in [('-', old), ('+', new)] {
        for line in side.unescape().lines() {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    }
    text.pop();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recorded_patches_are_made_again() {
        let patch = Patch::between("hello\nworld\n", "goodbye\nworld\n");
        let arena = Bump::new();
        let mut json = Json::new(&arena);
        patch.write(&mut json);
        let json = json.done();
        assert_eq!(
            json.as_str(),
            r#"[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":["-hello","+goodbye"," world"]}]"#
        );
        assert_eq!(Patch::structured(json), Some(patch));
        // Cursor: a line added, a new file.
        let patch = Patch::between("alpha\nbeta\n", "alpha\nbeta\nprobe13\n");
        assert_eq!(
            patch.unified("a//w/n", "b//w/n", DiffStyle::Bare),
            "--- a//w/n\n+++ b//w/n\n@@ -1,2 +1,3 @@\n alpha\n beta\n+probe13"
        );
        let patch = Patch::between("", "Fixed.\n");
        assert_eq!(
            patch.unified("/dev/null", "b//w/n", DiffStyle::Bare),
            "--- /dev/null\n+++ b//w/n\n@@ -1,0 +1 @@\n+Fixed."
        );
        assert_eq!(
            patch.unified("a/n", "b/n", DiffStyle::Difflib),
            "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+Fixed.\n"
        );
        assert_eq!(patch.stat(), (1, 0));
        // Tricode: a file overwritten.
        let patch = Patch::between("# Demo\n\nA small project.\n", "# Title\nNew content\n");
        let text = "--- a/R\n+++ b/R\n@@ -1,3 +1,2 @@\n-# Demo\n-\n-A small project.\n+# Title\n+New content\n";
        assert_eq!(patch.unified("a/R", "b/R", DiffStyle::Difflib), text);
        assert_eq!(Patch::parse(text, DiffStyle::Difflib), Some(patch));
    }

    #[test]
    fn a_missing_last_line_end_is_told_where_one_tells_it() {
        let patch = Patch::between("a", "a\n");
        assert_eq!(
            patch.unified("x", "y", DiffStyle::Git),
            "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
        );
        assert_eq!(patch.unified("x", "y", DiffStyle::Difflib), "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+a\n");
        assert!(Patch::between("a\nb", "a\nb").is_empty());
    }

    #[test]
    fn texts_with_nothing_in_common_are_replaced_whole_in_no_time() {
        let (mut old, mut new) = (String::new(), String::new());
        for n in 0..100_000 {
            old.push_str(&format!("old {n}\n"));
            new.push_str(&format!("new {n}\n"));
        }
        let patch = Patch::between(&old, &new);
        assert_eq!((patch.hunks.len(), patch.stat()), (1, (100_000, 100_000)));
    }

    #[test]
    fn what_is_no_diff_is_refused() {
        for text in [
            "hello",
            "@@ -1 +1 @@\nhello",
            "@@ -x +1 @@",
            "@@ -1",
            "@@ -1 +1",
            "@@ -1,99999999999999999999 +1 @@",
        ] {
            assert_eq!(Patch::parse(text, DiffStyle::Git), None, "{text}");
        }
        for text in [
            "{}",
            "[{}]",
            "[{\"oldStart\":1}]",
            "[1]",
            "[{\"oldStart\":-1,\"oldLines\":0,\"newStart\":0,\"newLines\":0,\"lines\":[]}]",
        ] {
            assert!(Patch::structured(Raw::trusted(text)).is_none_or(|patch| patch.is_empty()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_patch_is_written_as_it_is_spelled(
            before in "([a\"\\\\\té]{0,2}\n){0,12}[a-c]{0,1}",
            after in "([a\"\\\\\té\u{1}]{0,2}\n){0,12}[a-c]{0,1}",
            created in any::<bool>(),
        ) {
            let arena = Bump::new();
            let patch = Patch::between(&before, &after);
            let mut json = Json::new(&arena);
            patch.write(&mut json);
            let from = if created { "/dev/null" } else { "a/p\\\"q" };
            let text = patch.unified(from, "b/p\\\"q", DiffStyle::Git);
            let mut body = String::new();
            Str::escape(&text, &mut body);
            let spelled = as_spelled(json.done(), Str::trusted(r#"p\\\"q"#), created, &arena);
            if patch.is_empty() || body.contains(r"\u0001") {
                prop_assert_eq!(spelled, None);
            } else {
                prop_assert_eq!(spelled, Some((Str::trusted(&body), patch.stat())));
            }
        }

        #[test]
        fn a_new_file_is_written_as_it_is_spelled(text in "([a\"\\\\\té]{0,2}\n){0,4}[a-c]{0,1}") {
            let patch = Patch::between("", &text);
            let mut diff = String::new();
            Str::escape(&patch.unified("/dev/null", "b/p", DiffStyle::Git), &mut diff);
            let (mut body, arena) = (String::new(), Bump::new());
            Str::escape(&text, &mut body);
            if !text.is_empty() {
                let spelled = created_as_spelled(Str::trusted(&body), Str::trusted("p"), &arena);
                prop_assert_eq!(spelled, (Str::trusted(&diff), patch.stat().0));
            }
        }

        #[test]
        fn hunks_say_how_to_get_from_one_text_to_the_other(before in "([a-c]{0,2}\n){0,12}[a-c]{0,1}", after in "([a-c]{0,2}\n){0,12}[a-c]{0,1}") {
            let patch = Patch::between(&before, &after);
            let text = patch.unified("a", "b", DiffStyle::Git);
            prop_assert_eq!(Patch::parse(&text, DiffStyle::Git), Some(patch.clone()));
            // Apply it.
            let old: Vec<_> = before.split_inclusive('\n').collect();
            let (mut made, mut at) = (String::new(), 0);
            for hunk in &patch.hunks {
                let start = hunk.old_start as usize - 1;
                made.extend(old[at..start].iter().copied());
                at = start + hunk.old_lines as usize;
                let mut lines = hunk.lines.iter().peekable();
                while let Some(line) = lines.next() {
                    let ended = !lines.peek().is_some_and(|next| next.starts_with('\\'));
                    if line.starts_with([' ', '+']) {
                        made.push_str(&line[1..]);
                        made.push_str(if ended { "\n" } else { "" });
                    }
                }
            }
            made.extend(old[at..].iter().copied());
            prop_assert_eq!(made, after);
        }
    }
}
