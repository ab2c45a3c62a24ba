//! Reads Rust source as far as the tests of its layers need it: the words of its code, without comments and without what is only
//! built for tests, and the paths that stand in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One word of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A name or a keyword.
    Name(String),
    /// What a string holds, as it is spelled.
    Text(String),
    /// One character of punctuation; `::` is two.
    Mark(char),
}

/// A file of a crate.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path below the crate's `src`.
    pub(crate) name: String,
    /// Its module: `["launch", "child"]` of `launch/child.rs`.
    pub(crate) module: Vec<String>,
    /// Its code that is not for tests alone.
    pub(crate) words: Vec<Word>,
}

/// The files below a folder that are built outside of tests, by name.
pub(crate) fn files(root: &Path) -> Vec<File> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the source is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() { walk(&path, into) } else { into.push(path) }
        }
    }
    let mut paths = Vec::new();
    walk(root, &mut paths);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    let mut for_tests: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut all = Vec::new();
    for path in &paths {
        let name = path
            .strip_prefix(root)
            .expect("it lies below")
            .to_str()
            .expect("names are UTF-8")
            .to_owned();
        let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let text = fs::read_to_string(path).expect("source is UTF-8");
        let (words, tests) = without_tests(words(&text));
        for test in tests {
            for_tests.insert(module.iter().cloned().chain([test]).collect());
        }
        all.push(File { name, module, words });
    }
    all.retain(|file| !(1..=file.module.len()).any(|n| for_tests.contains(&file.module[..n])));
    all
}

/// Cuts a text into words.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some((held, used)) = string(rest) {
            words.push(Word::Text(held.to_owned()));
            at += used;
        } else if first == b'\'' {
            at += character(rest);
        } else if first.is_ascii_alphabetic() || first == b'_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push(Word::Name(rest[..end].to_owned()));
            at += end;
        } else {
            let letter = rest.chars().next().expect("it is not over");
            if !letter.is_whitespace() {
                words.push(Word::Mark(letter));
            }
            at += letter.len_utf8();
        }
    }
    words
}

/// What a string that begins here holds, and how long it is with its quotes.
fn string(rest: &str) -> Option<(&str, usize)> {
    let plain = rest.strip_prefix('b').unwrap_or(rest);
    let before = rest.len() - plain.len();
    if let Some(raw) = plain.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inner = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = inner.find(&close)?;
        return Some((&inner[..end], before + 1 + hashes + 1 + end + close.len()));
    }
    let inner = plain.strip_prefix('"')?;
    let mut at = 0;
    while at < inner.len() {
        match inner.as_bytes()[at] {
            b'\\' => at += 2,
            b'"' => return Some((&inner[..at], before + at + 2)),
            _ => at += 1,
        }
    }
    None
}

/// How long the character or the lifetime is that begins here.
fn character(rest: &str) -> usize {
    let mut letters = rest.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => 3 + rest[3..].find('\'').expect("a character ends"),
        Some((at, letter)) if rest[at + letter.len_utf8()..].starts_with('\'') => at + letter.len_utf8() + 1,
        _ => 1,
    }
}

/// Leaves out items under `#[cfg(test)]` and functions under `#[test]`; with it come the modules in files of their own among them.
fn without_tests(words: Vec<Word>) -> (Vec<Word>, Vec<String>) {
    let mark = |at: usize, c: char| words.get(at) == Some(&Word::Mark(c));
    let mut kept = Vec::with_capacity(words.len());
    let mut modules = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !(mark(at, '#') && mark(at + 1, '[')) {
            kept.push(words[at].clone());
            at += 1;
            continue;
        }
        let end = closing(&words, at + 1);
        if !is_for_tests(&words[at + 2..end]) {
            kept.extend_from_slice(&words[at..=end]);
            at = end + 1;
            continue;
        }
        at = end + 1;
        // Other attributes of the same item.
        while mark(at, '#') && mark(at + 1, '[') {
            at = closing(&words, at + 1) + 1;
        }
        let start = at;
        while at < words.len() && !mark(at, ';') && !mark(at, '{') {
            at = match words[at] {
                Word::Mark('(' | '[') => closing(&words, at),
                _ => at,
            } + 1;
        }
        if mark(at, '{') {
            at = closing(&words, at);
            // `use a::{b};`
            at += usize::from(mark(at + 1, ';'));
        } else if let Some(Word::Name(name)) = words[start..at].last() {
            modules.push(name.clone());
        }
        at += 1;
    }
    (kept, modules)
}

/// Whether an attribute, without its brackets, says that its item is for tests alone.
fn is_for_tests(attribute: &[Word]) -> bool {
    let names: Vec<&str> = attribute
        .iter()
        .filter_map(|word| if let Word::Name(name) = word { Some(name.as_str()) } else { None })
        .collect();
    matches!(names.as_slice(), ["test"] | ["cfg", "test"]) || matches!(names.as_slice(), ["cfg", "all", rest @ ..] if rest.contains(&"test"))
}

/// Where the bracket that opens at `open` is closed.
fn closing(words: &[Word], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    words.len() - 1
}

impl File {
    /// Every path of the crate that stands in the code, from the crate's root: of `use`, of types and of expressions. A path with a list
    /// at its end is one for each of the list. Those of the standard library begin with `std`.
    pub(crate) fn paths(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        for at in 0..self.words.len() {
            let Word::Name(name) = &self.words[at] else { continue };
            let begins = at < 2 || self.words[at - 1] != Word::Mark(':') || self.words[at - 2] != Word::Mark(':');
            let base = match name.as_str() {
                "crate" => Vec::new(),
                "std" => vec!["std".to_owned()],
                "self" => self.module.clone(),
                "super" => self.module[..self.module.len().saturating_sub(1)].to_vec(),
                _ => continue,
            };
            let goes_on = self.words.get(at + 1) == Some(&Word::Mark(':')) && self.words.get(at + 2) == Some(&Word::Mark(':'));
            if begins && goes_on {
                self.tree(at + 1, base, &mut found);
            }
        }
        found.retain(|path| !path.is_empty());
        found
    }

    /// Reads on behind a path's segment; returns where it is over.
    fn tree(&self, mut at: usize, mut path: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
        let mark = |at: usize, c: char| self.words.get(at) == Some(&Word::Mark(c));
        while mark(at, ':') && mark(at + 1, ':') {
            at += 2;
            match self.words.get(at) {
                Some(Word::Name(name)) if name == "super" => _ = path.pop(),
                Some(Word::Name(name)) => path.push(name.clone()),
                Some(Word::Mark('{')) => {
                    at += 1;
                    while !mark(at, '}') && at < self.words.len() {
                        let Word::Name(name) = &self.words[at] else {
                            at += 1;
                            continue;
                        };
                        let mut branch = path.clone();
                        if name != "self" {
                            branch.push(name.clone());
                        }
                        at = self.tree(at + 1, branch, found);
                        // `a as b`
                        while at < self.words.len() && !mark(at, ',') && !mark(at, '}') {
                            at += 1;
                        }
                    }
                    return at + 1;
                }
                _ => break,
            }
            at += 1;
        }
        found.push(path);
        at
    }
}
