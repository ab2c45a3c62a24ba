//! `Grep`.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::glob::nowhere;
use crate::persona::shared::grep::{asked, rows};
use crate::persona::shared::native::{folder, number, plain};
use crate::tools::grep::{Found, Hits, Want, grep as search};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Wall;
use agentglot_adapters::raw::event::{DetailShape, ToolKind};
use agentglot_adapters::raw::tools::args::Grep;

/// The most lines or files of one call, if it does not ask for more.
const LIMIT: usize = 250;
/// The most characters of a line.
const WIDTH: usize = 500;

pub(super) fn spec() -> Spec {
    let number = |text: &str| json!({"type": "integer", "minimum": 0, "description": text});
    let flag = |text: &str| json!({"type": "boolean", "description": text});
    let text = |text: &str| json!({"type": "string", "description": text});
    Spec {
        name: "Grep".into(),
        description: "Searches the files of the workspace for a regular expression in ripgrep's syntax (braces that are meant as such \
                      need a backslash). What .gitignore leaves out is not searched. Gives the files that match, their lines, or how \
                      many lines match."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": text("The regular expression"),
                "path": text("The file or folder; the working folder if it is left out"),
                "glob": text("Only files that this glob matches, such as \"*.js\" or \"*.{ts,tsx}\""),
                "output_mode": {
                    "type": "string",
                    "enum": ["content", "files_with_matches", "count"],
                    "description": "content: lines; files_with_matches (the default): files; count: the number of lines of each file",
                },
                "-B": number("Lines before each match, with content"),
                "-A": number("Lines after each match, with content"),
                "-C": number("The same as context"),
                "context": number("Lines before and after each match, with content"),
                "-n": flag("Numbers before the lines, with content; true if it is left out"),
                "-i": flag("Capital letters are small ones too"),
                "-o": flag("The matches alone, one a line, with content"),
                "type": text("Only files of this type, such as js, py, rust, go"),
                "head_limit": number("The most lines or files; 250 if it is left out, 0 is all"),
                "offset": number("Lines or files that are skipped before"),
                "multiline": flag("The pattern may go over several lines, and a dot is also the end of one"),
            },
            "required": ["pattern"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Grep,
        reads_only: true,
        ..Spec::default()
    }
}

/// A part of what was found.
#[derive(Clone, Copy)]
struct Page {
    limit: Option<usize>,
    offset: usize,
}

impl Page {
    fn of(asked: &Grep<'_>) -> Self {
        Self {
            limit: Some(number(asked.limit).unwrap_or(LIMIT)).filter(|limit| *limit > 0),
            offset: number(asked.offset).unwrap_or(0),
        }
    }

    /// How much has to be found at most.
    fn end(self) -> usize {
        self.limit.map_or(usize::MAX, |limit| self.offset.saturating_add(limit))
    }

    fn cut<T>(self, all: Vec<T>) -> (Vec<T>, Said) {
        let total = all.len();
        let page = all.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect();
        let said = Said {
            limit: self.limit.filter(|_| total > self.end()),
            offset: Some(self.offset).filter(|offset| *offset > 0),
        };
        (page, said)
    }
}

/// What of a page is worth saying.
struct Said {
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Said {
    fn words(&self) -> Option<String> {
        let limit = self.limit.map(|limit| format!("limit: {limit}"));
        let offset = self.offset.map(|offset| format!("offset: {offset}"));
        let words: Vec<String> = [limit, offset].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    fn put(&self, detail: &mut Map<String, Value>) {
        if let Some(limit) = self.limit {
            detail.insert("appliedLimit".into(), limit.into());
        }
        if let Some(offset) = self.offset {
            detail.insert("appliedOffset".into(), offset.into());
        }
    }
}

pub(super) async fn run(grep: &Grep<'_>, cx: &Cx<'_>) -> Given {
    let page = Page::of(grep);
    let mode = grep.mode.map_or_else(|| "files_with_matches".to_owned(), plain);
    let around = number(grep.context);
    let want = match mode.as_str() {
        "content" => Want::Lines {
            before: around.or(number(grep.before)).unwrap_or(0),
            after: around.or(number(grep.after)).unwrap_or(0),
            width: WIDTH,
            // One more, so that it is seen that there are more.
            most: page.end().saturating_add(1),
            only: grep.only == Some(true),
        },
        "count" => Want::Counts,
        _ => Want::Files,
    };
    let asked = asked(
        grep,
        want,
        Tree {
            hidden: true,
            ..Tree::default()
        },
    );
    let path = folder(grep.path);
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        Ok((search(&place, &asked, cancel)?, place))
    });
    let wall = &cx.world.wall;
    let (found, place) = match done.await {
        Ok(found) => found,
        Err(fault) => return nowhere(&fault, "Path", wall),
    };
    // Of one file nobody need be told which.
    let named = !place.path().is_file();
    match mode.as_str() {
        "content" => lines(&found, page, named, grep.numbers != Some(false), wall),
        "count" => counts(&found, page, wall),
        _ => files(found, page, wall),
    }
}

fn plural<'w>(count: usize, one: &'w str, many: &'w str) -> &'w str {
    if count == 1 { one } else { many }
}

fn files(found: Found, page: Page, wall: &Wall) -> Given {
    let mut hits = found.files;
    hits.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
    let names: Vec<String> = hits.iter().map(|hits| wall.shown(&hits.path).display().to_string()).collect();
    let (names, said) = page.cut(names);
    let text = if names.is_empty() {
        "No files found".to_owned()
    } else {
        let words = said.words().map(|words| format!(" {words}")).unwrap_or_default();
        format!(
            "Found {} {}{words}\n{}",
            names.len(),
            plural(names.len(), "file", "files"),
            names.join("\n")
        )
    };
    let mut detail = Map::from_iter([
        ("mode".into(), "files_with_matches".into()),
        ("filenames".into(), json!(names)),
        ("numFiles".into(), names.len().into()),
    ]);
    said.put(&mut detail);
    Given::text(text).with(DetailShape::Claude, Value::Object(detail))
}

fn counts(found: &Found, page: Page, wall: &Wall) -> Given {
    let (hits, said) = page.cut(found.files.iter().collect::<Vec<&Hits>>());
    let matches: u64 = hits.iter().map(|hits| hits.count).sum();
    let rows: Vec<String> = hits
        .iter()
        .map(|hits| format!("{}:{}", wall.shown(&hits.path).display(), hits.count))
        .collect();
    let content = rows.join("\n");
    let mut text = if content.is_empty() {
        "No matches found".to_owned()
    } else {
        content.clone()
    };
    let word = if matches == 1 { "occurrence" } else { "occurrences" };
    let files = plural(rows.len(), "file", "files");
    // Writing to a string cannot fail.
    let _ = write!(text, "\n\nFound {matches} total {word} across {} {files}.", rows.len());
    if let Some(words) = said.words() {
        let _ = write!(text, " with pagination = {words}");
    }
    let mut detail = Map::from_iter([
        ("mode".into(), "count".into()),
        ("numFiles".into(), rows.len().into()),
        ("filenames".into(), json!([])),
        ("content".into(), content.into()),
        ("numMatches".into(), matches.into()),
    ]);
    said.put(&mut detail);
    Given::text(text).with(DetailShape::Claude, Value::Object(detail))
}

fn lines(found: &Found, page: Page, named: bool, numbers: bool, wall: &Wall) -> Given {
    let (rows, said) = page.cut(rows(found, numbers, |path| named.then(|| wall.shown(path).display().to_string())));
    let content = rows.join("\n");
    let mut text = if content.is_empty() {
        "No matches found".to_owned()
    } else {
        content.clone()
    };
    if let Some(words) = said.words() {
        let _ = write!(text, "\n\n[Showing results with pagination = {words}]");
    }
    let mut detail = Map::from_iter([
        ("mode".into(), "content".into()),
        ("numFiles".into(), 0.into()),
        ("filenames".into(), json!([])),
        ("content".into(), content.into()),
        ("numLines".into(), rows.len().into()),
    ]);
    said.put(&mut detail);
    Given::text(text).with(DetailShape::Claude, Value::Object(detail))
}
