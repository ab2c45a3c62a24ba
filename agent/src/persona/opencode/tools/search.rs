//! `glob` and `grep`.

use std::fmt::Write;

use serde_json::json;

use super::say;
use crate::persona::shared::grep::asked;
use crate::persona::shared::native::{folder, plain};
use crate::tools::walk::Tree;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec, glob, grep};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::Grep;

/// The most files of one call, and the most lines.
const MOST: usize = 100;
/// The most characters of a line.
const WIDTH: usize = 2000;
/// What is said where nothing was found.
const NOTHING: &str = "No files found";

pub(super) fn glob_spec() -> Spec {
    Spec {
        name: "glob".into(),
        description: "Finds files by a glob for their paths, such as \"src/**/*.ts\": at most 100, those that were written last first. What \
                      .gitignore leaves out is not found."
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

pub(super) async fn glob(pattern: Str<'_>, path: Option<Str<'_>>, cx: &Cx<'_>) -> Given {
    let wanted = glob::Asked {
        pattern: plain(pattern),
        names: !pattern.as_escaped().contains('/'),
        any_case: false,
        tree: Tree {
            hidden: true,
            ..Tree::default()
        },
        order: glob::Order::Newest,
        most: MOST,
    };
    let path = folder(path);
    let done = blocking(cx, move |wall, cancel| glob::glob(wall, &wall.locate(path)?, &wanted, cancel));
    let found = match done.await {
        Ok(found) => found,
        Err(fault) => return say::fault(&fault),
    };
    let cut = found.total > found.files.len();
    let mut lines: Vec<String> = found.files.iter().map(|file| file.display().to_string()).collect();
    if lines.is_empty() {
        lines.push(NOTHING.to_owned());
    }
    if cut {
        lines.push(format!(
            "\n(These are the first {MOST} of {}: search below a folder, or with a narrower glob.)",
            found.total
        ));
    }
    say::said(lines.join("\n"), json!({"count": found.files.len()}), cut)
}

pub(super) fn grep_spec() -> Spec {
    Spec {
        name: "grep".into(),
        description: "Searches files for a regular expression and gives at most 100 lines that match, with their numbers. What .gitignore leaves \
                      out is not searched."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "The regular expression"},
                "path": {"type": "string", "description": "The folder or file; the working folder if it is left out"},
                "include": {"type": "string", "description": "Only files that this glob matches, such as \"*.{ts,tsx}\""},
            },
            "required": ["pattern"],
        }),
        kind: ToolKind::Grep,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn grep(wanted: &Grep<'_>, cx: &Cx<'_>) -> Given {
    let want = grep::Want::lines(WIDTH, MOST);
    let tree = Tree {
        hidden: true,
        ..Tree::default()
    };
    let search = asked(wanted, want, tree);
    let path = folder(wanted.path);
    let done = blocking(cx, move |wall, cancel| grep::grep(&wall.locate(path)?, &search, cancel));
    match done.await {
        Ok(found) => told(&found),
        Err(fault) => say::fault(&fault),
    }
}

/// What was found, by files; each line has an empty one behind it.
fn told(found: &grep::Found) -> Given {
    let (mut text, mut count) = (String::new(), 0);
    for hits in &found.files {
        let lines = hits.lines.iter().take(MOST - count);
        for (n, line) in lines.enumerate() {
            if n == 0 {
                let gap = if text.is_empty() { "" } else { "\n" };
                // Writing to a `String` cannot fail.
                let _ = write!(text, "{gap}\n{}:", hits.path.display());
            }
            let cut = if line.cut { "..." } else { "" };
            let gap = if n == 0 { "" } else { "\n" };
            let _ = write!(text, "{gap}\n  Line {}: {}{cut}", line.number, line.text);
            count += 1;
        }
        text.push('\n');
        if count == MOST {
            break;
        }
    }
    if count == 0 {
        return say::said(NOTHING, json!({"matches": 0}), false);
    }
    let total: u64 = found.files.iter().map(|hits| hits.count).sum();
    let cut = found.cut || total > count as u64;
    let more = if cut { " (more matches available)" } else { "" };
    let mut text = format!("Found {count} matches{more}{text}");
    if cut {
        text.push_str("\n\n(Results truncated: search below a folder, or for something narrower.)");
    }
    say::said(text, json!({"matches": count}), cut)
}
