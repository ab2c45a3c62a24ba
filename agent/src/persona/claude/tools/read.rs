//! `Read`.

use serde_json::{Value, json};

use super::say;
use crate::model::message::Part;
use crate::persona::shared::native::plain;
use crate::tools::files::{Shown, part, read_file};
use crate::tools::notebook::{self, Cell};
use crate::tools::read::{Media, Text, Window};
use crate::tools::seen::Seen;
use crate::tools::text::{with_plain_ends, with_short_lines};
use crate::tools::{Cx, Given, Spec};
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::Read;

/// The most lines of one call, if it does not ask for more.
const LINES: u64 = 2000;
/// The most bytes of a file that is read without a window; about 25,000 tokens.
const BYTES: usize = 100_000;
/// The most bytes of a window.
const WINDOW_BYTES: usize = 256 << 10;
/// The most bytes with `allow_large`.
const LARGE_BYTES: usize = 1 << 20;
/// The most characters of a line.
const LINE: usize = 2000;
/// The largest picture that model APIs take, in bytes before base64.
const IMAGE: usize = 3_750_000;

pub(super) fn spec() -> Spec {
    Spec {
        name: "Read".into(),
        description: "Reads a file of the workspace. Lines come back behind their numbers and a tab; without a window the first 2000. \
                      Longer lines than 2000 characters are cut. Pictures (PNG, JPEG, GIF, WebP), PDFs and Jupyter notebooks can be \
                      read too. Folders cannot: list them with a shell command. Read a file before you change it."
            .into(),
        schema: json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "The absolute path of the file"},
                "offset": {"type": "integer", "minimum": 0, "description": "The number of the first line, from 1. Only for files that are too large to be read at once"},
                "limit": {"type": "integer", "minimum": 1, "description": "How many lines. Only for files that are too large to be read at once"},
                "pages": {"type": "string", "description": "Pages of a PDF, as \"3\" or \"1-5\""},
                "allow_large": {"type": "boolean", "description": "Read more than the usual limits allow. Only if all of it is needed"},
            },
            "required": ["file_path"],
            "additionalProperties": false,
        }),
        kind: ToolKind::Read,
        reads_only: true,
        ..Spec::default()
    }
}

pub(super) async fn run(asked: &Read<'_>, large: bool, seen: &Seen, cx: &Cx<'_>) -> Given {
    let whole = asked.start.is_none() && asked.count.is_none();
    let window = Window {
        first: asked.start.unwrap_or(1),
        lines: asked.count.or((!large).then_some(LINES)),
        bytes: match (large, whole) {
            (true, _) => LARGE_BYTES,
            (false, true) => BYTES,
            (false, false) => WINDOW_BYTES,
        },
        hash: false,
    };
    let (place, content) = match read_file(plain(asked.path), window, whole, seen, cx).await {
        Ok(read) => read,
        Err(fault) => return say::fault(&fault, &cx.world.wall),
    };
    let named = place.named().display().to_string();
    match content {
        Shown::Notebook(cells) => {
            let detail = json!({"type": "notebook", "file": {"filePath": named, "cells": cells.iter().map(Cell::json).collect::<Value>()}});
            notebook_text(&cells).with(DetailShape::Claude, detail)
        }
        Shown::Text(text) => shown(&named, &text, whole),
        Shown::Media(media) => self::media(&named, &media),
        Shown::Binary(stat) => say::failed(&format!(
            "This tool cannot read binary files. {named} is one, of {} bytes. Use other tools to look into it.",
            stat.size
        )),
    }
}

fn shown(named: &str, text: &Text, whole: bool) -> Given {
    let mut content = with_short_lines(&with_plain_ends(&text.text), LINE, "... [truncated]");
    if text.cut && text.count == 1 && !content.ends_with("[truncated]") {
        content.push_str("... [truncated]");
    }
    let mut file = json!({
        "filePath": named,
        "content": content,
        "numLines": text.count,
        "startLine": text.first,
        "totalLines": text.total,
    });
    let mut seen = if text.size == 0 || content.is_empty() && text.total == 1 {
        reminder("Warning: the file exists but the contents are empty.")
    } else if text.count == 0 {
        reminder(&format!(
            "Warning: the file exists but is shorter than the provided offset ({}). The file has {} lines.",
            text.first, text.total
        ))
    } else {
        numbered(&content, text.first)
    };
    let last = text.first + text.count.max(1) - 1;
    if (text.cut || whole) && text.count > 0 && last < text.total {
        file["truncatedByTokenCap"] = text.cut.into();
        seen.push_str("\n\n");
        seen.push_str(&reminder(&format!(
            "Lines {} to {last} of {} are shown. Read on with offset and limit, or search the file.",
            text.first, text.total
        )));
        if !text.cut
            && let Some(file) = file.as_object_mut()
        {
            file.remove("truncatedByTokenCap");
        }
    }
    Given::text(seen).with(DetailShape::Claude, json!({"type": "text", "file": file}))
}

/// Lines behind their numbers.
fn numbered(content: &str, first: u64) -> String {
    let mut text = String::with_capacity(content.len() + content.len() / 8);
    for (line, n) in content.split('\n').zip(first..) {
        if n > first {
            text.push('\n');
        }
        text.push_str(&n.to_string());
        text.push('\t');
        text.push_str(line);
    }
    text
}

fn reminder(text: &str) -> String {
    format!("<system-reminder>{text}</system-reminder>")
}

fn media(named: &str, media: &Media) -> Given {
    let size = media.bytes.len();
    let pdf = media.media_type == "application/pdf";
    if !pdf && size > IMAGE {
        return say::failed(&format!("{named} has {size} bytes. Pictures of up to {IMAGE} bytes can be read."));
    }
    let part = part(media);
    let (Part::Image { data, .. } | Part::Document { data, .. }) = &part else {
        return Given::text("");
    };
    let (content, detail) = if pdf {
        let file = json!({"filePath": named, "base64": data, "originalSize": size});
        let text = Part::Text(format!("PDF file read: {named} ({size} bytes)"));
        (vec![text, part], json!({"type": "pdf", "file": file}))
    } else {
        let file = json!({"base64": data, "type": media.media_type, "originalSize": size});
        (vec![part], json!({"type": "image", "file": file}))
    };
    Given {
        status: ResultStatus::Success,
        content,
        detail: Some((DetailShape::Claude, detail)),
        exit_code: None,
    }
}

fn notebook_text(cells: &[Cell]) -> Given {
    let mut content: Vec<Part> = vec![Part::Text(notebook::text(cells))];
    for picture in cells.iter().flat_map(|cell| &cell.pictures) {
        content.push(Part::Image {
            media_type: picture.media_type.clone(),
            data: picture.data.clone(),
        });
    }
    Given { content, ..Given::text("") }
}
