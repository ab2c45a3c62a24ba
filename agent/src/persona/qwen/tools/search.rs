//! `glob`, `grep_search`, `list_directory`.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::say;
use crate::persona::shared::grep::{asked, rows};
use crate::persona::shared::native::{number, plain, texts};
use crate::persona::shared::search::{self, path_of};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec, glob, grep, list};
use crate::workspace::{Fault, Kind, Place, Wall};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::tools::args::Grep;

/// The most files and entries of one call.
const MOST: usize = 100;
/// The most lines of a search.
const LINES: usize = 1000;
/// The most bytes of a search.
const BYTES: usize = 25_000;
/// The most characters of a line.
const WIDTH: usize = 2000;
/// Files that were written in this time come first.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder that was named, or all of the workspace; and how that is said.
fn places(wall: &Wall, path: Option<&str>) -> Result<(Vec<Place>, String), Fault> {
    let places = search::places(wall, path)?;
    let said = match (path, places.as_slice()) {
        (Some(_), [place]) => place.named().display().to_string(),
        (_, [_]) => "in the workspace directory".to_owned(),
        (_, several) => format!("across {} workspace directories", several.len()),
    };
    Ok((places, said))
}

/// What Qwen Code leaves out beside what Git does.
fn tree(hidden: bool) -> Tree {
    Tree {
        hidden,
        rules: vec![".qwenignore".to_owned()],
        ..Tree::default()
    }
}

fn items(count: usize, word: &str) -> String {
    format!("[{count} {word}{} truncated] ...", if count == 1 { "" } else { "s" })
}

pub(super) fn glob_spec() -> Spec {
    Spec {
        name: "glob".into(),
        description: "Finds files of the workspace by a glob for their paths, such as \"**/*.js\": up to 100 of them, those that were \
                      written last first. What .gitignore leaves out is not found."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The glob"},
                "path": {"type": "string", "description": "The folder; the working folder if it is left out"},
            },
            "required": ["pattern"],
        }),
        kind: ToolKind::Glob,
        reads_only: true,
        ..Spec::default()
    }
}

fn found_by_name(wall: &Wall, path: Option<&str>, pattern: &str, cancel: &CancellationToken) -> Result<(glob::Found, String), Fault> {
    let (places, said) = places(wall, path)?;
    let said = if path.is_some() { format!("within {said}") } else { said };
    let asked = glob::Asked {
        pattern: pattern.to_owned(),
        names: false,
        any_case: true,
        tree: tree(true),
        order: glob::Order::Recent(RECENT),
        most: MOST,
    };
    let all = search::by_name(wall, &places, &asked, cancel)?;
    Ok((all, said))
}

pub(super) async fn glob(pattern: Str<'_>, path: Option<Str<'_>>, cx: &Cx<'_>) -> Given {
    let pattern = plain(pattern);
    let (path, wanted) = (path_of(path), pattern.clone());
    let done = blocking(cx, move |wall, cancel| found_by_name(wall, path.as_deref(), &wanted, cancel));
    let (found, said) = match done.await {
        Ok(done) => done,
        Err(fault) => return say::failed(&format!("Error during glob search operation: {fault}"), &format!("Error: {fault}")),
    };
    if found.files.is_empty() {
        return say::said(format!("No files found matching pattern \"{pattern}\" {said}"), "No files found");
    }
    let names: Vec<String> = found.files.iter().map(|path| path.display().to_string()).collect();
    let mut text = format!(
        "Found {} file(s) matching \"{pattern}\" {said}, sorted by modification time (newest first):\n---\n{}",
        found.total,
        names.join("\n")
    );
    let mut shown = format!("Found {} matching file(s)", found.total);
    if found.total > names.len() {
        text.push_str(&format!("\n---\n{}", items(found.total - names.len(), "file")));
        shown.push_str(" (truncated)");
    }
    say::said(text, &shown)
}

pub(super) fn grep_spec() -> Spec {
    Spec {
        name: "grep_search".into(),
        description: "Searches the files of the workspace for a regular expression in ripgrep's syntax; capital letters are small ones \
                      too. Gives the lines that match. What .gitignore leaves out is not searched."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The regular expression"},
                "path": {"type": "string", "description": "The file or folder; the working folder if it is left out"},
                "glob": {"type": "string", "description": "Only files that this glob matches, such as \"*.js\" or \"*.{ts,tsx}\""},
                "limit": {"type": "integer", "minimum": 1, "description": "The most lines"},
            },
            "required": ["pattern"],
        }),
        kind: ToolKind::Grep,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn grep(asked: &Grep<'_>, cx: &Cx<'_>) -> Given {
    let limit = number(asked.limit).unwrap_or(LINES).min(LINES);
    let want = grep::Want::lines(WIDTH, limit);
    let wanted = grep::Asked {
        any_case: true,
        ..self::asked(asked, want, tree(false))
    };
    let filter = asked.glob.map(plain).unwrap_or_default();
    let path = path_of(asked.path);
    let named = path.clone();
    let done = blocking(cx, move |wall, cancel| {
        let (places, said) = places(wall, path.as_deref())?;
        let all = search::by_text(&places, &wanted, cancel)?;
        Ok::<_, Fault>((all, said))
    });
    let (found, said) = match done.await {
        Ok(done) => done,
        Err(fault) => return say::failed(&format!("Error during grep search operation: {fault}"), &format!("Error: {fault}")),
    };
    let said = named.map_or(said, |path| format!("in path \"{path}\""));
    let filtered = if filter.is_empty() {
        String::new()
    } else {
        format!(" (filter: \"{filter}\")")
    };
    told(&found, &plain(asked.pattern), &format!("{said}{filtered}"), limit)
}

fn told(found: &grep::Found, pattern: &str, said: &str, limit: usize) -> Given {
    let total: u64 = found.files.iter().map(|hits| hits.count).sum();
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    if total == 0 {
        return say::said(format!("No matches found for pattern \"{pattern}\" {said}."), "No matches found");
    }
    let word = if total == 1 { "match" } else { "matches" };
    let (mut lines, mut count) = (String::new(), 0);
    for row in rows(found, true, |path: &Path| Some(path.display().to_string())).into_iter().take(limit) {
        if lines.len() + row.len() > BYTES && count > 0 {
            break;
        }
        if count > 0 {
            lines.push('\n');
        }
        lines.push_str(&row);
        count += 1;
    }
    let mut text = format!("Found {total} {word} for pattern \"{pattern}\" {said}:\n---\n{lines}");
    let mut shown = format!("Found {total} {word}");
    if count < total {
        text.push_str(&format!("\n---\n{}", items(total - count, "line")));
        shown.push_str(" (truncated)");
    }
    say::said(text, &shown)
}

pub(super) fn list_spec() -> Spec {
    Spec {
        name: "list_directory".into(),
        description: "Lists what is in a folder of the workspace: folders first. What .gitignore leaves out is left out.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The absolute path of the folder"},
                "ignore": {"type": "array", "items": {"type": "string"}, "description": "Globs for names that are left out"},
                "file_filtering_options": {
                    "type": "object",
                    "properties": {
                        "respect_git_ignore": {"type": "boolean", "description": "Leave out what .gitignore does; true if it is left out"},
                        "respect_qwen_ignore": {"type": "boolean", "description": "The same for .qwenignore"},
                    },
                },
            },
            "required": ["path"],
        }),
        kind: ToolKind::List,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn list(path: Str<'_>, ignore: Option<Raw<'_>>, git_ignore: bool, cx: &Cx<'_>) -> Given {
    let path = plain(path);
    let asked = list::Asked {
        hidden: true,
        ignored: !git_ignore,
        depth: 1,
        without: texts(ignore),
        most: usize::MAX,
    };
    let named = path.clone();
    let done = blocking(cx, move |wall, cancel| list::list(&wall.locate(path)?, &asked, cancel));
    let entries = match done.await {
        Ok(listed) => listed.entries,
        Err(Fault::Missing(_)) => {
            return say::failed(
                &format!("Error: Directory not found or inaccessible: {named}"),
                "Error: Directory not found or inaccessible.",
            );
        }
        Err(Fault::NotFolder(_)) => {
            return say::failed(&format!("Error: Path is not a directory: {named}"), "Error: Path is not a directory.");
        }
        Err(fault) => return say::failed(&format!("Error listing directory: {fault}"), "Error: Failed to list directory."),
    };
    if entries.is_empty() {
        return say::said(format!("Directory {named} is empty."), "Directory is empty.");
    }
    let rows: Vec<String> = entries
        .iter()
        .take(MOST)
        .map(|entry| format!("{}{}", if entry.kind == Kind::Folder { "[DIR] " } else { "" }, entry.path.display()))
        .collect();
    let mut text = format!("Listed {} item(s) in {named}:\n---\n{}", entries.len(), rows.join("\n"));
    let mut shown = format!("Listed {} item(s)", entries.len());
    if entries.len() > MOST {
        text.push_str(&format!("\n---\n{}", items(entries.len() - MOST, "item")));
        shown.push_str(" (truncated)");
    }
    say::said(text, &shown)
}
