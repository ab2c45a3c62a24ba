//! `read_file`.

use serde_json::json;

use super::say;
use crate::persona::shared::native::{plain, window};
use crate::tools::files::{Shown, part, read_file};
use crate::tools::notebook;
use crate::tools::read::{Media, Text};
use crate::tools::seen::Seen;
use crate::tools::text::{with_plain_ends, with_short_lines};
use crate::tools::{Cx, Given, Spec};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::tools::args::Read;

/// The most lines of one call, if it does not ask for more.
const LINES: u64 = 2000;
/// The most bytes of one call.
const BYTES: usize = 100_000;
/// The most characters of a line.
const LINE: usize = 2000;

pub(super) fn spec() -> Spec {
    Spec {
        name: "read_file".into(),
        description: "Reads a file of the workspace and gives its content. Of a large file a part comes back, with its place in the \
                      file: read on with offset and limit. Pictures (PNG, JPEG, GIF, WebP), PDFs and notebooks can be read too."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The absolute path of the file"},
                "offset": {"type": "integer", "minimum": 0, "description": "How many lines are skipped; needs limit"},
                "limit": {"type": "integer", "minimum": 1, "description": "How many lines are read"},
                "pages": {"type": "string", "description": "Pages of a PDF, as \"3\" or \"1-5\""},
            },
            "required": ["file_path"],
        }),
        kind: ToolKind::Read,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn run(asked: &Read<'_>, seen: &Seen, cx: &Cx<'_>) -> Given {
    let window = window(asked, LINES, BYTES);
    let whole = asked.start.is_none() && asked.count.is_none();
    let (place, content) = match read_file(plain(asked.path), window, whole, seen, cx).await {
        Ok(read) => read,
        Err(fault) => return say::fault(&fault),
    };
    let shown = cx.world.wall.shown(place.path()).display().to_string();
    match content {
        Shown::Notebook(cells) => say::said(notebook::text(&cells), &format!("Read notebook: {shown}")),
        Shown::Text(text) => self::text(&shown, &text),
        Shown::Media(media) => self::media(&shown, &media),
        Shown::Binary(_) => say::said(
            format!("Cannot display content of binary file: {shown}"),
            &format!("Skipped binary file: {shown}"),
        ),
    }
}

/// A whole file as it is; a part behind a line that says which.
fn text(shown: &str, text: &Text) -> Given {
    let plain = with_plain_ends(&text.text);
    let content = with_short_lines(&plain, LINE, "... [truncated]");
    let shortened = content.len() != plain.len();
    let last = text.first + text.count.max(1) - 1;
    if !text.cut && !shortened && text.first == 1 && last >= text.total {
        return Given::text(content);
    }
    let (first, last) = if text.count == 0 { (text.total, text.total) } else { (text.first, last) };
    let mut display = format!("Read lines {first}-{last} of {} from {shown}", text.total);
    if shortened {
        display.push_str(" (some lines were shortened)");
    }
    say::said(
        format!("Showing lines {first}-{last} of {} total lines.\n\n---\n\n{content}", text.total),
        &display,
    )
}

fn media(shown: &str, media: &Media) -> Given {
    let word = if media.media_type == "application/pdf" { "pdf" } else { "image" };
    Given {
        content: vec![part(media)],
        ..say::said("", &format!("Read {word} file: {shown}"))
    }
}
