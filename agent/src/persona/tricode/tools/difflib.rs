//! Unified diffs as Python's `difflib.unified_diff` makes them: by the longest common runs of lines, with its rule for lines that are
//! in a text too often to mean anything, and nothing said of a last line without an end.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use similar::DiffOp;
use similar::udiff::UnifiedHunkHeader;

use super::args::split_lines;
use crate::tools::diff::too_long;

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;

/// From this many lines on, those that make up more than a hundredth of the text are not looked for.
const POPULAR: usize = 200;

/// Comparisons that may be made, and the time for them; texts that need more are told as one change of all between the first and the last
/// line that differ. Python would go on for minutes.
const LIMIT: usize = 50_000_000;
const PATIENCE: Duration = Duration::from_secs(3);

/// The diff of two texts under a file's name; empty if they are the same.
pub(super) fn unified(before: &str, after: &str, name: &str) -> String {
    if let Some((removed, added)) = too_long(before, after) {
        return format!("--- a/{name}\n+++ b/{name}\n[too long to compare: {added} lines came and {removed} went]\n");
    }
    let (a, b) = (split_lines(before), split_lines(after));
    let groups = similar::group_diff_ops(opcodes(&a, &b), CONTEXT);
    let mut diff = String::new();
    for group in groups.iter().filter(|group| !group.is_empty()) {
        if diff.is_empty() {
            diff.push_str(&format!("--- a/{name}\n+++ b/{name}\n"));
        }
        diff.push_str(&format!("{}\n", UnifiedHunkHeader::new(group)));
        for change in group.iter().flat_map(|op| op.iter_changes(&a[..], &b[..])) {
            diff.push_str(&format!("{}{}", change.tag(), change.value()));
        }
    }
    diff
}

/// Equal lines: where in each text, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    a: usize,
    b: usize,
    len: usize,
}

fn opcodes(a: &[&str], b: &[&str]) -> Vec<DiffOp> {
    let (mut i, mut j) = (0, 0);
    let mut ops = Vec::new();
    let end = Match {
        a: a.len(),
        b: b.len(),
        len: 0,
    };
    for found in matches(a, b).into_iter().chain([end]) {
        if i < found.a || j < found.b {
            ops.push(DiffOp::Replace {
                old_index: i,
                old_len: found.a - i,
                new_index: j,
                new_len: found.b - j,
            });
        }
        if found.len > 0 {
            ops.push(DiffOp::Equal {
                old_index: found.a,
                new_index: found.b,
                len: found.len,
            });
        }
        (i, j) = (found.a + found.len, found.b + found.len);
    }
    ops
}

/// The runs of equal lines, in order, none of them touching the next in both texts.
fn matches(a: &[&str], b: &[&str]) -> Vec<Match> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in b.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if b.len() >= POPULAR {
        let most = b.len() / 100 + 1;
        places.retain(|_, places| places.len() <= most);
    }
    let mut found = Vec::new();
    let mut todo = vec![(0, a.len(), 0, b.len())];
    let mut spent = Spent {
        steps: 0,
        end: Instant::now() + PATIENCE,
    };
    while let Some((alo, ahi, blo, bhi)) = todo.pop() {
        let Some(best) = longest(a, b, &places, (alo, ahi, blo, bhi), &mut spent) else {
            return ends(a, b);
        };
        if best.len == 0 {
            continue;
        }
        found.push(best);
        if alo < best.a && blo < best.b {
            todo.push((alo, best.a, blo, best.b));
        }
        if best.a + best.len < ahi && best.b + best.len < bhi {
            todo.push((best.a + best.len, ahi, best.b + best.len, bhi));
        }
    }
    found.sort_unstable();
    let mut joined: Vec<Match> = Vec::new();
    for next in found {
        match joined.last_mut() {
            Some(last) if last.a + last.len == next.a && last.b + last.len == next.b => last.len += next.len,
            _ => joined.push(next),
        }
    }
    joined
}

/// What two texts have in common at their ends.
fn ends(a: &[&str], b: &[&str]) -> Vec<Match> {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let all = [
        Match { a: 0, b: 0, len: head },
        Match {
            a: a.len() - tail,
            b: b.len() - tail,
            len: tail,
        },
    ];
    all.into_iter().filter(|found| found.len > 0).collect()
}

/// What comparing has taken by now.
struct Spent {
    steps: usize,
    end: Instant,
}

/// The longest run of equal lines, the first of several in the first text and then in the second. `None` when it takes too long.
fn longest(
    a: &[&str],
    b: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (alo, ahi, blo, bhi): (usize, usize, usize, usize),
    spent: &mut Spent,
) -> Option<Match> {
    let mut best = Match { a: alo, b: blo, len: 0 };
    // How long a run ends at a line of the second text, for the line of the first one before this.
    let mut before: HashMap<usize, usize> = HashMap::new();
    for (i, line) in a.iter().enumerate().take(ahi).skip(alo) {
        let mut now = HashMap::new();
        let at = places.get(line).map_or(&[][..], Vec::as_slice);
        let from = at.partition_point(|&j| j < blo);
        for &j in at[from..].iter().take_while(|&&j| j < bhi) {
            let len = j.checked_sub(1).and_then(|j| before.get(&j)).copied().unwrap_or(0) + 1;
            now.insert(j, len);
            if len > best.len {
                best = Match {
                    a: i + 1 - len,
                    b: j + 1 - len,
                    len,
                };
            }
            spent.steps += 1;
        }
        before = now;
        spent.steps += 1;
        if spent.steps > LIMIT || (i % 64 == 0 && Instant::now() > spent.end) {
            return None;
        }
    }
    // Lines that are there too often count where they stand beside the run.
    while best.a > alo && best.b > blo && a[best.a - 1] == b[best.b - 1] {
        best = Match {
            a: best.a - 1,
            b: best.b - 1,
            len: best.len + 1,
        };
    }
    while best.a + best.len < ahi && best.b + best.len < bhi && a[best.a + best.len] == b[best.b + best.len] {
        best.len += 1;
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn diffs_are_those_of_python() {
        assert_eq!(unified("a\n", "a\n", "n"), "");
        assert_eq!(unified("", "fresh\n", "n"), "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+fresh\n");
        assert_eq!(unified("a\nb", "a\nc", "n"), "--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n a\n-b+c");
        assert_eq!(
            unified("# Demo\n\nA small project.\n", "# Title\nNew content\n", "README.md"),
            "--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,2 @@\n-# Demo\n-\n-A small project.\n+# Title\n+New content\n"
        );
    }

    /// What python3 -c "import difflib; …" prints for these texts, a line a letter.
    #[test]
    fn longest_runs_come_first_and_far_changes_apart() {
        let lines = |letters: &str| letters.chars().map(|c| format!("{c}\n")).collect::<String>();
        for (a, b, want) in [
            ("abcabba", "cbabac", "@@ -1,7 +1,6 @@\n+c\n+b\n a\n b\n+a\n c\n-a\n-b\n-b\n-a\n"),
            (
                "abcdefghijklmnop",
                "Abcdefghijklmnoq",
                "@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n@@ -13,4 +13,4 @@\n m\n n\n o\n-p\n+q\n",
            ),
            ("abcdefgh", "Xabcdefgh", "@@ -1,3 +1,4 @@\n+X\n a\n b\n c\n"),
        ] {
            assert_eq!(unified(&lines(a), &lines(b), "n"), format!("--- a/n\n+++ b/n\n{want}"), "{a} {b}");
        }
    }

    #[test]
    fn lines_that_are_everywhere_are_not_looked_for() {
        let many = "x\n".repeat(300);
        let diff = unified(&many, &format!("y\n{many}"), "n");
        // No line is rare, so no run is found to begin with: Python replaces all of it as well.
        assert!(diff.starts_with("--- a/n\n+++ b/n\n@@ -1,300 +1,301 @@\n-x\n"), "{}", &diff[..60]);
    }
}
