//! The pages lead somewhere: the paths and types that they name are there, and so is what links lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The folders that paths in the pages begin with.
const TOP: [&str; 9] = [
    "adapters/",
    "agent/",
    "src/",
    "tests/",
    "golden/",
    "benches/",
    "docs/",
    "examples/",
    "bindings/",
];

/// The picture of the README is what its script draws now (`BLESS=1` writes it).
#[test]
fn the_picture_is_current() {
    let drawn = std::process::Command::new("python3")
        .args([
            "tools/picture/picture.py",
            env!("CARGO_BIN_EXE_agentglot"),
            "golden/cursor/read_edit.jsonl",
        ])
        .current_dir(root())
        .env_remove("NO_COLOR")
        .output();
    let drawn = match drawn {
        Ok(drawn) => drawn,
        Err(why) => return crate::common::skipped("the picture of the README", why),
    };
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let picture = root().join("docs/show.svg");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&picture, &drawn.stdout).unwrap();
    }
    assert!(
        std::fs::read(&picture).unwrap() == drawn.stdout,
        "docs/show.svg is not what tools/picture/picture.py draws (BLESS=1 writes it)"
    );
}

#[test]
fn the_map_names_what_there_is() {
    let map = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let types = types();
    let (mut names, mut wrong) = (0, Vec::new());
    for word in code(&map) {
        if is_type(word) {
            names += 1;
            let (name, member) = word.split_once("::").map_or((word, None), |(name, member)| (name, Some(member)));
            let files = types.get(name).map(Vec::as_slice).unwrap_or_default();
            let has = |file: &&Rc<str>, member: &str| file.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == member);
            if !files.iter().any(|file| member.is_none_or(|member| has(&file, member))) {
                wrong.push(format!("no {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/ARCHITECTURE.md names what is not there: {}", wrong.join(", "));
    assert!(names > 20, "the map was not understood: {names} types");
}

#[test]
fn pages_name_paths_that_there_are() {
    let (mut paths, mut wrong) = (0, Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for word in code(&text).filter(|word| TOP.iter().any(|top| word.starts_with(top))) {
            paths += 1;
            // What stands behind it are arguments; `NAME` stands for any.
            let path = word.split(' ').next().unwrap_or_default();
            if !path.contains("NAME") && !root().join(path).exists() {
                wrong.push(format!("{}: {word}", name(&page)));
            }
        }
    }
    assert!(wrong.is_empty(), "paths that are not there:\n{}", wrong.join("\n"));
    assert!(paths > 80, "only {paths} paths");
}

#[test]
fn links_lead_somewhere() {
    let (mut links, mut wrong) = (0, Vec::new());
    for page in &pages() {
        let text = std::fs::read_to_string(page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let (file, part) = link.split_once('#').map_or((link, None), |(file, part)| (file, Some(part)));
            if file.contains("://") || link.contains(char::is_whitespace) || link.contains('`') {
                continue;
            }
            links += 1;
            let to = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            let there = match (std::fs::read_to_string(&to), part) {
                (Ok(text), Some(part)) => text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == part),
                _ => to.exists(),
            };
            if !there {
                wrong.push(format!("{}: {link}", name(page)));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nowhere:\n{}", wrong.join("\n"));
    assert!(links > 30, "only {links} links");
}

#[test]
fn threats_name_the_tests_that_hold_them() {
    let page = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (_, table) = page.split_once("\n## Threats\n").unwrap();
    let table = table.split("\n## ").next().unwrap();
    let tests = tests();
    let (mut rows, mut wrong) = (0, Vec::new());
    // Behind the head and the line below it.
    for row in table.lines().filter(|line| line.starts_with('|')).skip(2) {
        rows += 1;
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let named: Vec<&str> = cells.last().unwrap().split('`').skip(1).step_by(2).collect();
        if cells.len() != 3 || named.is_empty() {
            wrong.push(format!("no test: {row}"));
        }
        wrong.extend(
            named
                .iter()
                .filter(|name| !tests.contains(**name))
                .map(|name| format!("no test is called {name}")),
        );
    }
    assert!(wrong.is_empty(), "docs/security.md:\n{}", wrong.join("\n"));
    assert!(rows > 10, "the table was not understood: {rows} rows");
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    pages.extend(["README.md", "CONTRIBUTING.md", "benches/README.md", "golden/README.md"].map(|page| root().join(page)));
    pages
}

fn name(page: &Path) -> std::path::Display<'_> {
    page.strip_prefix(root()).unwrap_or(page).display()
}

/// What stands in backticks outside of blocks of code.
fn code(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("\n```").step_by(2);
    prose.flat_map(|part| part.split('`').skip(1).step_by(2))
}

/// `Decoder`, `Kind::Request`.
fn is_type(word: &str) -> bool {
    let name = word.split("::").next().unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.contains(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':')
}

/// The files that define each type of the crates.
fn types() -> BTreeMap<String, Vec<Rc<str>>> {
    let mut types: BTreeMap<String, Vec<Rc<str>>> = BTreeMap::new();
    for text in sources(&["adapters/src", "agent/src", "agent/process/src", "columns/src", "src"]) {
        for line in text.lines() {
            let words: Vec<&str> = line
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|word| !word.is_empty())
                .collect();
            for pair in words.windows(2).filter(|pair| matches!(pair[0], "struct" | "enum" | "trait" | "type")) {
                types.entry(pair[1].to_owned()).or_default().push(Rc::clone(&text));
            }
        }
    }
    types
}

/// The names of all tests: a function behind an attribute that ends in `test`, with or without arguments.
fn tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for text in sources(&[
        "adapters/src",
        "adapters/tests",
        "agent/src",
        "agent/tests",
        "agent/process/src",
        "columns/src",
        "src",
        "tests/it",
    ]) {
        let mut attribute = false;
        for line in text.lines().map(str::trim) {
            let of_test = line.strip_prefix("#[").and_then(|line| line.split([']', '(']).next());
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            match function.and_then(|line| line.split_once('(')) {
                Some((name, _)) if attribute => drop(tests.insert(name.to_owned())),
                _ => {}
            }
            attribute = of_test.is_some_and(|name| name == "test" || name.ends_with("::test")) || attribute && line.starts_with("#[");
        }
    }
    tests
}

/// The Rust files of folders.
fn sources(folders: &[&str]) -> Vec<Rc<str>> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                texts.push(std::fs::read_to_string(&path).unwrap().into());
            }
        }
    }
    texts
}

/// What a heading is called in a link, as GitHub has it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
