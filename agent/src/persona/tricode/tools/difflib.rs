//! Unified diffs as Python's `difflib.unified_diff` makes them: by the longest common runs of lines, with its rule for lines that are
//! in a text too often to mean anything, and nothing said of a last line without an end.

use std::collections::HashMap;

use super::args::split_lines;

/// Lines of unchanged text around a change.
const CONTEXT: usize = 3;

/// From this many lines on, those that make up more than a hundredth of the text are not looked for.
const POPULAR: usize = 200;

/// Comparisons that may be made; texts that need more are told as one change of all between the first and the last line that differ.
/// Python would go on for minutes.
const LIMIT: usize = 50_000_000;

/// The diff of two texts under a file's name; empty if they are the same.
pub(super) fn unified(before: &str, after: &str, name: &str) -> String {
    let (a, b) = (split_lines(before), split_lines(after));
    let groups = groups(opcodes(&a, &b));
    let mut diff = String::new();
    if groups.is_empty() {
        return diff;
    }
    diff.push_str(&format!("--- a/{name}\n+++ b/{name}\n"));
    for group in groups {
        let (first, last) = (group[0], group[group.len() - 1]);
        diff.push_str(&format!("@@ -{} +{} @@\n", range(first.a.0, last.a.1), range(first.b.0, last.b.1)));
        for code in group {
            if code.same {
                a[code.a.0..code.a.1].iter().for_each(|line| push(' ', line, &mut diff));
                continue;
            }
            a[code.a.0..code.a.1].iter().for_each(|line| push('-', line, &mut diff));
            b[code.b.0..code.b.1].iter().for_each(|line| push('+', line, &mut diff));
        }
    }
    diff
}

fn push(mark: char, line: &str, diff: &mut String) {
    diff.push(mark);
    diff.push_str(line);
}

/// Lines of a text, from and behind, as the head of a hunk tells them.
fn range(from: usize, behind: usize) -> String {
    match behind - from {
        1 => (from + 1).to_string(),
        0 => format!("{from},0"),
        len => format!("{},{len}", from + 1),
    }
}

/// Lines of the one text and what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Code {
    same: bool,
    a: (usize, usize),
    b: (usize, usize),
}

/// Equal lines: where in each text, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    a: usize,
    b: usize,
    len: usize,
}

fn opcodes(a: &[&str], b: &[&str]) -> Vec<Code> {
    let (mut i, mut j) = (0, 0);
    let mut codes = Vec::new();
    let end = Match {
        a: a.len(),
        b: b.len(),
        len: 0,
    };
    for found in matches(a, b).into_iter().chain([end]) {
        if i < found.a || j < found.b {
            codes.push(Code {
                same: false,
                a: (i, found.a),
                b: (j, found.b),
            });
        }
        (i, j) = (found.a + found.len, found.b + found.len);
        if found.len > 0 {
            codes.push(Code {
                same: true,
                a: (found.a, i),
                b: (found.b, j),
            });
        }
    }
    codes
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
    let mut spent = 0;
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

/// The longest run of equal lines, the first of several in the first text and then in the second. `None` when it takes too long.
fn longest(
    a: &[&str],
    b: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (alo, ahi, blo, bhi): (usize, usize, usize, usize),
    spent: &mut usize,
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
            *spent += 1;
        }
        before = now;
        *spent += 1;
        if *spent > LIMIT {
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

/// The changes, those that stand near one another together, with the unchanged lines around them.
fn groups(mut codes: Vec<Code>) -> Vec<Vec<Code>> {
    if let Some(first) = codes.first_mut().filter(|code| code.same) {
        first.a.0 = first.a.0.max(first.a.1.saturating_sub(CONTEXT));
        first.b.0 = first.b.0.max(first.b.1.saturating_sub(CONTEXT));
    }
    if let Some(last) = codes.last_mut().filter(|code| code.same) {
        last.a.1 = last.a.1.min(last.a.0 + CONTEXT);
        last.b.1 = last.b.1.min(last.b.0 + CONTEXT);
    }
    let mut groups = Vec::new();
    let mut group = Vec::new();
    for mut code in codes {
        if code.same && code.a.1 - code.a.0 > 2 * CONTEXT {
            let mut end = code;
            end.a.1 = end.a.0 + CONTEXT;
            end.b.1 = end.b.0 + CONTEXT;
            group.push(end);
            groups.push(std::mem::take(&mut group));
            code.a.0 = code.a.1 - CONTEXT;
            code.b.0 = code.b.1 - CONTEXT;
        }
        group.push(code);
    }
    groups.push(group);
    groups.retain(|group| group.iter().any(|code| !code.same));
    groups
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
