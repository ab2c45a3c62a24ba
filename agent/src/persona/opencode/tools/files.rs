//! `read`, `write`, `edit`.

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::native::{change, plain, window};
use crate::tools::diff::Diff;
use crate::tools::edit::{EditFault, Unfit};
use crate::tools::files::{Shown, change_file, part, put_file, read_file};
use crate::tools::list;
use crate::tools::read::{Media, Text};
use crate::tools::seen::Seen;
use crate::tools::text::{with_plain_ends, with_short_lines};
use crate::tools::work::blocking;
use crate::tools::write::create;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::{Fault, Kind, Place};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::{Change, Read};

/// The most lines of one call, if it does not ask for fewer.
const LINES: u64 = 2000;
/// The most bytes of one call.
const BYTES: usize = 50 << 10;
/// The most characters of a line.
const LINE: usize = 2000;
/// So many lines are shown to people as a foretaste.
const FORETASTE: usize = 20;

pub(super) fn read_spec() -> Spec {
    Spec {
        name: "read".into(),
        description: "Reads a file, each line behind its number and a colon, or lists a folder. Of a large file the first 2000 lines come: read on \
                      with offset and limit. Pictures (PNG, JPEG, GIF, WebP) and PDFs can be read too."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "filePath": {"type": "string", "description": "The path of the file or folder"},
                "offset": {"type": "integer", "minimum": 0, "description": "The first line, from 1"},
                "limit": {"type": "integer", "minimum": 0, "description": "The most lines (default 2000)"},
            },
            "required": ["filePath"],
        }),
        kind: ToolKind::Read,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn read(asked: &Read<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let window = window(asked, LINES, BYTES);
    match read_file(plain(asked.path), window, false, seen, cx).await {
        Ok((place, Shown::Text(text))) => self::text(&place, &text),
        Ok((place, Shown::Media(media))) => self::media(&place, &media),
        Ok((place, Shown::Binary(_) | Shown::Notebook(_))) => Given::error(format!("Cannot read binary file: {}", place.named().display())),
        Err(Fault::Folder(_)) => folder(plain(asked.path), cx).await,
        Err(fault) => say::fault(&fault),
    }
}

fn text(place: &Place, text: &Text) -> Given {
    let path = place.named().display().to_string();
    // The empty text behind the last line end is no line.
    let total = text.total.saturating_sub(u64::from(!text.open_end));
    if text.first > total && text.first > 1 {
        return Given::error(format!("Offset {} is out of range for this file ({total} lines)", text.first));
    }
    let content = with_plain_ends(&text.text);
    let content = with_short_lines(&content, LINE, "... (line truncated)");
    let lines: Vec<&str> = content.lines().collect();
    let last = (text.first + lines.len() as u64).saturating_sub(1);
    let more = last < total;
    let mut told = format!("<path>{path}</path>\n<type>file</type>\n<content>\n");
    for (number, line) in (text.first..).zip(&lines) {
        told.push_str(&format!("{number}: {line}\n"));
    }
    told.push_str(&match more {
        true => format!(
            "\n(Showing lines {}-{last} of {total}. Use offset={} to continue.)\n</content>",
            text.first,
            last + 1
        ),
        false => format!("\n(End of file - total {total} lines)\n</content>"),
    });
    let metadata = json!({
        "preview": foretaste(&lines),
        "loaded": [],
        "display": {
            "type": "file", "path": path, "text": lines.join("\n"), "lineStart": text.first, "lineEnd": last, "totalLines": total, "truncated": more,
        },
    });
    say::said(told, metadata, more)
}

fn foretaste(lines: &[&str]) -> String {
    lines[..lines.len().min(FORETASTE)].join("\n")
}

fn media(place: &Place, media: &Media) -> Given {
    let word = if media.media_type == "application/pdf" { "PDF" } else { "Image" };
    let text = format!("{word} read successfully");
    let metadata = json!({"preview": text, "loaded": [], "display": {"type": "file", "path": place.named().display().to_string()}});
    let mut given = say::said(text, metadata, false);
    given.content.push(part(media));
    given
}

/// A folder's entries.
async fn folder(path: String, cx: &Cx<'_>) -> Given {
    let wanted = list::Asked {
        hidden: true,
        ignored: true,
        depth: 1,
        without: Vec::new(),
        most: LINES as usize,
    };
    let done = blocking(cx, move |wall, cancel| {
        let place = wall.locate(path)?;
        Ok::<_, Fault>((list::list(&place, &wanted, cancel)?, place))
    });
    let (listed, place) = match done.await {
        Ok(listed) => listed,
        Err(fault) => return say::fault(&fault),
    };
    let mut names: Vec<String> = Vec::new();
    for entry in &listed.entries {
        let end = if entry.kind == Kind::Folder { "/" } else { "" };
        names.push(format!("{}{end}", entry.path.display()));
    }
    names.sort_unstable();
    let path = place.named().display().to_string();
    let count = names.len();
    let more = if listed.cut { "; there are more" } else { "" };
    let text = format!(
        "<path>{path}</path>\n<type>directory</type>\n<entries>\n{}\n\n({count} entries{more})\n</entries>",
        names.join("\n")
    );
    let lines: Vec<&str> = names.iter().map(String::as_str).collect();
    let metadata = json!({
        "preview": foretaste(&lines),
        "loaded": [],
        "display": {"type": "directory", "path": path, "entries": names, "offset": 1, "totalEntries": count, "truncated": listed.cut},
    });
    say::said(text, metadata, listed.cut)
}

pub(super) fn write_spec() -> Spec {
    Spec {
        name: "write".into(),
        description: "Writes a file as a whole, new or not. Missing folders are made. To change a part of a file use edit.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "content": {"type": "string", "description": "All that the file is to hold"},
                "filePath": {"type": "string", "description": "The path of the file"},
            },
            "required": ["content", "filePath"],
        }),
        kind: ToolKind::Write,
        ..Spec::default()
    }
}

pub(super) async fn write(path: Str<'_>, content: Str<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    match put_file(&plain(path), &plain(content), seen, cx).await {
        Ok((place, written)) => {
            let metadata = json!({"diagnostics": {}, "filepath": place.named().display().to_string(), "exists": !written.created});
            say::said("Wrote file successfully.", metadata, false)
        }
        Err(fault) => say::fault(&fault),
    }
}

pub(super) fn edit_spec() -> Spec {
    Spec {
        name: "edit".into(),
        description: "Replaces a text in a file. The old text has to stand in the file exactly so, with its indentation but without the numbers of \
                      lines that read puts before them, and only once, unless replaceAll is set. Read the file first. An empty old text makes a \
                      new file."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "filePath": {"type": "string", "description": "The path of the file"},
                "oldString": {"type": "string", "description": "The text that is replaced"},
                "newString": {"type": "string", "description": "The text that takes its place"},
                "replaceAll": {"type": "boolean", "description": "Replace every occurrence of oldString (default false)"},
            },
            "required": ["filePath", "oldString", "newString"],
        }),
        kind: ToolKind::Edit,
        ..Spec::default()
    }
}

pub(super) async fn edit(path: Str<'_>, asked: &Change<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let (path, change) = (plain(path), change(asked));
    if change.old.is_empty() {
        return make(&path, &change.new, seen, cx).await;
    }
    match change_file(&path, change, seen, cx).await {
        Ok((place, edited)) => edited_to(&place, &edited.before, &edited.after),
        Err(why) => Given::error(unchanged(&why)),
    }
}

/// Makes a file that is not there yet.
async fn make(path: &str, content: &str, seen: &Seen, cx: &Cx<'_>) -> Given {
    let place = match cx.world.wall.locate(path) {
        Ok(place) => place,
        Err(fault) => return say::fault(&fault),
    };
    let (at, text) = (place.clone(), content.to_owned());
    match blocking(cx, move |_, _| create(&at, &text)).await {
        Ok(written) => {
            seen.put(place.path(), written.stamp);
            edited_to(&place, "", content)
        }
        Err(Fault::Exists(path)) => Given::error(format!("oldString is empty, but {} is there already: write replaces it.", path.display())),
        Err(fault) => say::fault(&fault),
    }
}

fn edited_to(place: &Place, before: &str, after: &str) -> Given {
    say::said(
        "Edit applied successfully.",
        difference(&place.named().display().to_string(), before, after),
        false,
    )
}

fn difference(path: &str, before: &str, after: &str) -> Value {
    let diff = Diff::of(before, after);
    let patch = format!("Index: {path}\n{}\n{}", "=".repeat(67), diff.unified(path, path));
    json!({
        "diagnostics": {},
        "diff": patch,
        "filediff": {"file": path, "patch": patch, "additions": diff.added, "deletions": diff.removed},
    })
}

/// Why a file was not changed.
fn unchanged(why: &EditFault) -> String {
    match why {
        EditFault::File(Fault::Missing(path)) => format!("File {} not found", path.display()),
        EditFault::File(Fault::Folder(path)) => format!("Path is a directory, not a file: {}", path.display()),
        EditFault::File(Fault::Changed(path)) => {
            format!(
                "File {} has been modified since it was last read. Read it again before changing it.",
                path.display()
            )
        }
        EditFault::Change { why: Unfit::Same, .. } => "No changes to apply: oldString and newString are identical.".to_owned(),
        EditFault::Change { why: Unfit::Several(_), .. } => {
            "Found multiple matches for oldString. Give more of what stands around it, so that it is found once.".to_owned()
        }
        EditFault::Change { why: Unfit::NotFound, .. } => {
            "Could not find oldString in the file. It has to match exactly, with its blanks, indentation and line ends.".to_owned()
        }
        other => other.to_string(),
    }
}
