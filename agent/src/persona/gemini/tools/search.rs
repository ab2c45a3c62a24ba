//! `glob`, `grep_search`, `list_directory`.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::grep::asked;
use crate::persona::shared::native::{number, plain, texts};
use crate::persona::shared::search::{by_name, by_text, named, path_of, places};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec, glob, grep, list};
use crate::workspace::{Fault, Kind, Wall};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::tools::args::Grep;

/// The most files of one call.
const FILES: usize = 1000;
/// The most lines of a search, if it does not ask for fewer.
const LINES: usize = 100;
/// The most characters of a line.
const WIDTH: usize = 2000;
/// Files that were written in this time come first.
const RECENT: Duration = Duration::from_secs(24 * 60 * 60);

/// What the program leaves out beside what Git does.
fn tree(hidden: bool) -> Tree {
    Tree {
        hidden,
        rules: vec![".geminiignore".to_owned()],
        ..Tree::default()
    }
}

pub(super) fn glob_spec() -> Spec {
    Spec {
        name: "glob".into(),
        description: "Finds files of the workspace by a glob for their paths, such as \"src/**/*.ts\": those that were written last first. What \
                      .gitignore leaves out is not found."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The glob"},
                "dir_path": {"type": "string", "description": "The folder; all of the workspace if it is left out"},
                "case_sensitive": {"type": "boolean", "description": "Small and capital letters are not the same (default false)"},
            },
            "required": ["pattern"],
        }),
        kind: ToolKind::Glob,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn glob(pattern: Str<'_>, path: Option<Str<'_>>, input: &Value, cx: &Cx<'_>) -> Given {
    let pattern = plain(pattern);
    let wanted = glob::Asked {
        pattern: pattern.clone(),
        names: false,
        any_case: input["case_sensitive"] != true,
        tree: tree(true),
        order: glob::Order::Recent(RECENT),
        most: FILES,
    };
    let path = path_of(path);
    let place = folder(path.as_deref(), &cx.world.wall);
    let done = blocking(cx, move |wall, cancel| {
        let places = places(wall, path.as_deref())?;
        by_name(wall, &places, &wanted, cancel)
    });
    let found = match done.await {
        Ok(found) => found,
        Err(fault) => return trouble(&fault, "glob search operation", "glob_execution_error", cx),
    };
    if found.files.is_empty() {
        return say::said(format!("No files found matching pattern \"{pattern}\" within {place}"), "No files found");
    }
    let mut text = format!(
        "Found {} file(s) matching \"{pattern}\" within {place}, sorted by modification time (newest first):",
        found.total
    );
    for file in &found.files {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\n{}", file.display());
    }
    if found.total > found.files.len() {
        let _ = write!(text, "\n[{} more files are not listed]", found.total - found.files.len());
    }
    say::said(text, &format!("Found {} matching file(s)", found.total))
}

/// Where was searched, as it is said.
fn folder(path: Option<&str>, wall: &Wall) -> String {
    match path {
        Some(path) => named(wall, path),
        None if wall.folders().len() > 1 => format!("{} workspace directories", wall.folders().len()),
        None => wall.root().display().to_string(),
    }
}

/// A search that could not be made.
fn trouble(fault: &Fault, what: &str, error: &str, cx: &Cx<'_>) -> Given {
    match fault {
        Fault::Outside { .. } => say::fault(fault, cx),
        Fault::NotFolder(path) => say::refused(&format!("Path is not a directory: {}", path.display()), say::INVALID),
        Fault::Missing(path) => say::refused(&format!("Path does not exist: {}", path.display()), say::INVALID),
        fault => say::failed(&format!("Error during {what}: {fault}"), &format!("Error: {fault}"), error),
    }
}

pub(super) fn grep_spec() -> Spec {
    Spec {
        name: "grep_search".into(),
        description: "Searches the files of the workspace for a regular expression; capital letters are small ones too. Gives at most 100 lines \
                      that match. What .gitignore leaves out is not searched."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The regular expression"},
                "dir_path": {"type": "string", "description": "The folder or file; all of the workspace if it is left out"},
                "include_pattern": {"type": "string", "description": "Only files that this glob matches, such as \"*.{ts,tsx}\""},
                "names_only": {"type": "boolean", "description": "Give the files' names alone"},
                "max_matches_per_file": {"type": "integer", "minimum": 1, "description": "The most lines of one file"},
                "total_max_matches": {"type": "integer", "minimum": 1, "description": "The most lines (default 100)"},
            },
            "required": ["pattern"],
        }),
        kind: ToolKind::Grep,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn grep(wanted: &Grep<'_>, input: &Value, cx: &Cx<'_>) -> Given {
    let most = number(wanted.limit).unwrap_or(LINES).min(LINES);
    let of_file = input["max_matches_per_file"].as_u64().and_then(|most| usize::try_from(most).ok());
    let names = wanted.mode.is_some();
    let want = if names {
        grep::Want::Files
    } else {
        grep::Want::lines(WIDTH, of_file.map_or(most, |of_file| of_file.min(most)))
    };
    let search = grep::Asked {
        any_case: wanted.ignore_case != Some(false),
        ..asked(wanted, want, tree(false))
    };
    let path = path_of(wanted.path);
    let named = path.clone();
    let done = blocking(cx, move |wall, cancel| by_text(&places(wall, path.as_deref())?, &search, cancel));
    let found = match done.await {
        Ok(found) => found,
        Err(Fault::Other(why)) if why.starts_with("regex parse error") => {
            let text = format!("Invalid regular expression pattern provided: {}. Error: {why}", plain(wanted.pattern));
            return say::refused(&text, say::INVALID);
        }
        Err(fault) => return trouble(&fault, "grep search operation", "grep_execution_error", cx),
    };
    let mut place = match named {
        Some(path) => format!("in path \"{path}\""),
        None if cx.world.wall.folders().len() > 1 => format!("across {} workspace directories", cx.world.wall.folders().len()),
        None => "in the workspace directory".to_owned(),
    };
    if let Some(glob) = wanted.glob.map(plain).filter(|glob| !glob.is_empty()) {
        place.push_str(&format!(" (filter: \"{glob}\")"));
    }
    say::unseen(told(&found, &plain(wanted.pattern), &place, names, most, &cx.world.wall))
}

/// What was found, by files.
fn told(found: &grep::Found, pattern: &str, place: &str, names: bool, most: usize, wall: &Wall) -> String {
    if found.files.is_empty() {
        return format!("No matches found for pattern \"{pattern}\" {place}.");
    }
    let shown = |hits: &grep::Hits| wall.shown(&hits.path).display().to_string();
    if names {
        let files: Vec<String> = found.files.iter().map(shown).collect();
        let word = if files.len() == 1 { "file" } else { "files" };
        return format!(
            "Found {} {word} with matches for pattern \"{pattern}\" {place}:\n{}",
            files.len(),
            files.join("\n")
        );
    }
    let mut lines = String::new();
    let mut count = 0;
    for hits in &found.files {
        let of_file = hits.lines.iter().take(most - count);
        let before = count;
        for line in of_file {
            if before == count {
                let _ = write!(lines, "\nFile: {}", shown(hits));
            }
            count += 1;
            let cut = if line.cut { "... [truncated]" } else { "" };
            let _ = write!(lines, "\nL{}: {}{cut}", line.number, line.text);
        }
        if count > before {
            lines.push_str("\n---");
        }
        if count == most {
            break;
        }
    }
    let total: u64 = found.files.iter().map(|hits| hits.count).sum();
    let cut = if total > count as u64 {
        " (results limited; search for something narrower)"
    } else {
        ""
    };
    let word = if count == 1 { "match" } else { "matches" };
    format!("Found {count} {word} for pattern \"{pattern}\" {place}{cut}:\n---{lines}")
}

pub(super) fn list_spec() -> Spec {
    Spec {
        name: "list_directory".into(),
        description: "Lists what is in a folder of the workspace: folders first. What .gitignore leaves out is left out.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "dir_path": {"type": "string", "description": "The path of the folder"},
                "ignore": {"type": "array", "items": {"type": "string"}, "description": "Globs for names that are left out"},
                "file_filtering_options": {
                    "type": "object",
                    "properties": {
                        "respect_git_ignore": {"type": "boolean", "description": "Leave out what .gitignore does; true if it is left out"},
                        "respect_gemini_ignore": {"type": "boolean", "description": "The same for .geminiignore"},
                    },
                },
            },
            "required": ["dir_path"],
        }),
        kind: ToolKind::List,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn list(path: Str<'_>, ignore: Option<Raw<'_>>, input: &Value, cx: &Cx<'_>) -> Given {
    let path = plain(path);
    let wanted = list::Asked {
        hidden: true,
        ignored: input["file_filtering_options"]["respect_git_ignore"] == false,
        depth: 1,
        without: texts(ignore),
        most: usize::MAX,
    };
    let named = named(&cx.world.wall, &path);
    let entries = match blocking(cx, move |wall, cancel| list::list(&wall.locate(path)?, &wanted, cancel)).await {
        Ok(listed) => listed.entries,
        Err(fault @ Fault::Outside { .. }) => return say::fault(&fault, cx),
        Err(Fault::NotFolder(_)) => {
            let text = format!("Error: Path is not a directory: {named}");
            return say::failed(&text, "Error: Path is not a directory.", "path_is_not_a_directory");
        }
        Err(fault) => {
            let text = format!("Error listing directory: {fault}");
            return say::failed(&text, "Error: Failed to list directory.", "ls_execution_error");
        }
    };
    if entries.is_empty() {
        return say::said(format!("Directory {named} is empty."), "Directory is empty.");
    }
    let mut text = format!("Directory listing for {named}:");
    for entry in &entries {
        let name = entry.path.display();
        let _ = match entry.kind {
            Kind::Folder => write!(text, "\n[DIR] {name}"),
            _ => write!(text, "\n{name} ({} bytes)", entry.size),
        };
    }
    say::unseen(text)
}
