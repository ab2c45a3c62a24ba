//! `read_file`, `write_file`, `replace`.

use serde_json::json;

use super::say;
use crate::persona::shared::native::{change, plain, window};
use crate::persona::shared::search::named;
use crate::tools::edit::{EditFault, Unfit};
use crate::tools::files::{Shown, change_file, part, put_file, read_file};
use crate::tools::read::{Media, Text};
use crate::tools::seen::Seen;
use crate::tools::text::{with_plain_ends, with_short_lines};
use crate::tools::work::blocking;
use crate::tools::write::create;
use crate::tools::{Cx, Given, Spec};
use crate::workspace::Fault;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::{Change, Read};

/// The most lines of one call, if it does not ask for more.
const LINES: u64 = 2000;
/// The most bytes of one call.
const BYTES: usize = 100_000;
/// The most characters of a line.
const LINE: usize = 2000;
/// So much of a file is told again to whoever has changed it.
const TOLD: usize = 20_000;

pub(super) fn read_spec() -> Spec {
    Spec {
        name: "read_file".into(),
        description: "Reads a file of the workspace and gives its content. Of a large file a part comes back, with its place in the file: read \
                      on with start_line and end_line. Pictures (PNG, JPEG, GIF, WebP) and PDFs can be read too."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The path of the file"},
                "start_line": {"type": "integer", "minimum": 1, "description": "The first line, from 1"},
                "end_line": {"type": "integer", "minimum": 1, "description": "The last line, which is read too"},
            },
            "required": ["file_path"],
        }),
        kind: ToolKind::Read,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn read(asked: &Read<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let window = window(asked, LINES, BYTES);
    let (place, content) = match read_file(plain(asked.path), window, false, seen, cx).await {
        Ok(read) => read,
        Err(fault) => return say::fault(&fault, cx),
    };
    let shown = cx.world.wall.shown(place.path()).display().to_string();
    match content {
        Shown::Text(text) => self::text(&shown, &text),
        Shown::Media(media) => self::media(&shown, &media),
        Shown::Binary(_) | Shown::Notebook(_) => say::said(
            format!("Cannot display content of binary file: {shown}"),
            &format!("Skipped binary file: {shown}"),
        ),
    }
}

/// A whole file as it is, of which people see nothing; a part behind words that say which.
fn text(shown: &str, text: &Text) -> Given {
    let plain = with_plain_ends(&text.text);
    let content = with_short_lines(&plain, LINE, "... [truncated]");
    let shortened = content.len() != plain.len();
    let last = text.first + text.count.max(1) - 1;
    if !text.cut && !shortened && text.first == 1 && last >= text.total {
        return say::said(content, "");
    }
    let (first, last) = if text.count == 0 { (text.total, text.total) } else { (text.first, last) };
    let more = if shortened { " (some lines were shortened)" } else { "" };
    say::said(
        format!(
            "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines {first}-{last} of {} total lines.\nAction: Call read_file with \
             start_line {} to read on.\n\n--- FILE CONTENT (truncated) ---\n{content}",
            text.total,
            last + 1
        ),
        &format!("Read lines {first}-{last} of {} from {shown}{more}", text.total),
    )
}

fn media(shown: &str, media: &Media) -> Given {
    let word = if media.media_type == "application/pdf" { "pdf" } else { "image" };
    Given {
        content: vec![part(media)],
        ..say::said("", &format!("Read {word} file: {shown}"))
    }
}

pub(super) fn write_spec() -> Spec {
    Spec {
        name: "write_file".into(),
        description: "Writes a file of the workspace as a whole, new or not. Missing folders are made. To change a part of a file use replace."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The path of the file"},
                "content": {"type": "string", "description": "All that the file is to hold"},
            },
            "required": ["file_path", "content"],
        }),
        kind: ToolKind::Write,
        ..Spec::default()
    }
}

pub(super) async fn write(path: Str<'_>, content: Str<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let content = plain(content);
    let (place, written) = match put_file(&plain(path), &content, seen, cx).await {
        Ok(written) => written,
        Err(Fault::Folder(path)) => return say::refused(&format!("Path is a directory, not a file: {}", path.display()), say::INVALID),
        Err(fault) => return say::fault(&fault, cx),
    };
    let named = place.named().display();
    let done = if written.created {
        format!("Successfully created and wrote to new file: {named}.")
    } else {
        format!("Successfully overwrote file: {named}.")
    };
    say::unseen(told(&done, &content))
}

/// What was done, and how the file looks now.
fn told(done: &str, after: &str) -> String {
    if after.len() > TOLD {
        return done.to_owned();
    }
    format!("{done} Here is the updated code:\n{after}")
}

pub(super) fn replace_spec() -> Spec {
    Spec {
        name: "replace".into(),
        description: "Replaces a text in a file of the workspace. The old text has to stand in the file exactly so, with its indentation, and only \
                      once, unless allow_multiple is set: take three lines before and after it. Read the file first. An empty old text makes a \
                      new file."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The path of the file"},
                "instruction": {"type": "string", "description": "What the change is for, in one sentence"},
                "old_string": {"type": "string", "description": "The text that is replaced, unescaped"},
                "new_string": {"type": "string", "description": "The text that takes its place, unescaped"},
                "allow_multiple": {"type": "boolean", "description": "Replace every occurrence of old_string (default false)"},
            },
            "required": ["file_path", "instruction", "old_string", "new_string"],
        }),
        kind: ToolKind::Edit,
        ..Spec::default()
    }
}

pub(super) async fn replace(path: Str<'_>, asked: &Change<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let (path, change) = (plain(path), change(asked));
    if change.old.is_empty() {
        return make(&path, &change.new, seen, cx).await;
    }
    match change_file(&path, change, seen, cx).await {
        Ok((place, edited)) => {
            let done = format!("Successfully modified file: {} ({} replacements).", place.named().display(), edited.count);
            say::unseen(told(&done, &edited.after))
        }
        Err(why) => unchanged(&why, &path, cx),
    }
}

/// Makes a file that is not there yet.
async fn make(path: &str, content: &str, seen: &Seen, cx: &Cx<'_>) -> Given {
    let place = match cx.world.wall.locate(path) {
        Ok(place) => place,
        Err(fault) => return say::fault(&fault, cx),
    };
    let (at, text) = (place.clone(), content.to_owned());
    match blocking(cx, move |_, _| create(&at, &text)).await {
        Ok(written) => {
            seen.put(place.path(), written.stamp);
            let done = format!("Created new file: {} with provided content.", place.named().display());
            let shown = cx.world.wall.shown(place.path()).display().to_string();
            say::said(told(&done, content), &format!("Created {shown}"))
        }
        Err(Fault::Exists(_)) => say::failed(
            &format!("File already exists, cannot create: {}", place.named().display()),
            "Error: Failed to edit. Attempted to create a file that already exists.",
            "attempt_to_create_existing_file",
        ),
        Err(fault) => say::fault(&fault, cx),
    }
}

/// Why a file was not changed.
fn unchanged(why: &EditFault, path: &str, cx: &Cx<'_>) -> Given {
    let named = named(&cx.world.wall, path);
    match why {
        EditFault::File(Fault::Missing(_)) => say::failed(
            &format!("File not found: {named}"),
            "Error: File not found. Cannot apply edit. Use an empty old_string to create a new file.",
            "file_not_found",
        ),
        EditFault::File(Fault::Changed(_)) => say::failed(
            &format!("{named} has been changed since it was read. Read it again with read_file before the next attempt."),
            "Error: The file has been changed since it was read.",
            "file_write_failure",
        ),
        EditFault::File(fault) => say::fault(fault, cx),
        EditFault::NotText => say::failed(
            &format!("{named} is not a text file."),
            "Error: not a text file.",
            "edit_preparation_failure",
        ),
        EditFault::Change { why, .. } => unfit(why, &named),
    }
}

fn unfit(why: &Unfit, named: &str) -> Given {
    match why {
        Unfit::Several(count) => say::failed(
            &format!(
                "Failed to edit, Expected 1 occurrence but found {count} for old_string in file: {named}. If you intended to replace multiple \
                 occurrences, set 'allow_multiple' to true."
            ),
            &format!("Error: Failed to edit, expected 1 occurrence but found {count}."),
            "edit_expected_occurrence_mismatch",
        ),
        Unfit::Same => say::failed(
            &format!("No changes to apply. The old_string and new_string are identical in file: {named}"),
            "No changes to apply. The old_string and new_string are identical.",
            "edit_no_change",
        ),
        Unfit::TooBig(_) => say::failed(&format!("Failed to edit {named}: {why}."), &format!("Error: {why}."), "file_too_large"),
        _ => say::failed(
            &format!(
                "Could not find an exact match for 'old_string' in '{named}'. Read the lines in question with read_file and try again with the \
                 exact text."
            ),
            &format!("Error: Could not find an exact match for old_string in '{named}'."),
            "edit_no_occurrence_found",
        ),
    }
}
