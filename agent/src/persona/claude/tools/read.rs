//! `Read`.

use std::path::PathBuf;
use std::rc::Rc;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::say;
use crate::model::message::Part;
use crate::tools::notebook;
use crate::tools::read::{Content, Media, Text, Window, read};
use crate::tools::seen::Seen;
use crate::tools::text::{with_plain_ends, with_short_lines};
use crate::tools::work::blocking;
use crate::tools::{Access, Cx, Given, Spec, Tool};
use crate::workspace::{Fault, Stamp};
use agentglot_adapters::event::{DetailShape, ResultStatus, ToolKind};

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

#[derive(Debug)]
pub(super) struct Read {
    spec: Spec,
    seen: Rc<Seen>,
}

impl Read {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
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
        };
        Self { spec, seen }
    }
}

#[async_trait(?Send)]
impl Tool for Read {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        Access::Read(vec![say::text(input, "file_path").to_owned()])
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match say::arguments(&self.spec, input) {
            Ok(arguments) => arguments,
            Err(given) => return given,
        };
        let (offset, limit) = (arguments["offset"].as_u64(), arguments["limit"].as_u64());
        let large = arguments["allow_large"] == true;
        let whole = offset.is_none() && limit.is_none();
        let window = Window {
            first: offset.unwrap_or(1).max(1),
            lines: limit.or((!large).then_some(LINES)),
            bytes: match (large, whole) {
                (true, _) => LARGE_BYTES,
                (false, true) => BYTES,
                (false, false) => WINDOW_BYTES,
            },
            hash: false,
        };
        let path = PathBuf::from(say::text(&arguments, "file_path"));
        let is_notebook = whole && path.extension().is_some_and(|end| end == "ipynb");
        let done = blocking(cx, move |wall, cancel| {
            let place = wall.locate(path)?;
            let window = if is_notebook { notebook::WINDOW } else { window };
            Ok::<_, Fault>((read(&place, &window, cancel)?, place))
        });
        let (content, place) = match done.await {
            Ok(done) => done,
            Err(fault) => return say::fault(&fault, &cx.world.wall),
        };
        let named = place.named().display().to_string();
        let see = |stamp: &Stamp| self.seen.put(place.path(), stamp.clone());
        match content {
            Content::Text(text) => {
                see(&text.stamp);
                if is_notebook && let Some(cells) = notebook::cells(&text.text) {
                    let detail =
                        json!({"type": "notebook", "file": {"filePath": named, "cells": cells.iter().map(notebook::Cell::json).collect::<Value>()}});
                    return notebook_text(&cells).with(DetailShape::Claude, detail);
                }
                shown(&named, &text, whole)
            }
            Content::Media(media) => {
                see(&media.stamp);
                self::media(&named, &media)
            }
            Content::Binary(stat) => say::failed(&format!(
                "This tool cannot read binary files. {named} is one, of {} bytes. Use other tools to look into it.",
                stat.size
            )),
        }
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
    let (size, media_type) = (media.bytes.len(), media.media_type.to_owned());
    let pdf = media_type == "application/pdf";
    if !pdf && size > IMAGE {
        return say::failed(&format!("{named} has {size} bytes. Pictures of up to {IMAGE} bytes can be read."));
    }
    let data = BASE64_STANDARD.encode(&media.bytes);
    let (content, detail) = if pdf {
        let file = json!({"filePath": named, "base64": data, "originalSize": size});
        let text = Part::Text(format!("PDF file read: {named} ({size} bytes)"));
        (vec![text, Part::Document { media_type, data }], json!({"type": "pdf", "file": file}))
    } else {
        let file = json!({"base64": data, "type": media_type, "originalSize": size});
        (vec![Part::Image { media_type, data }], json!({"type": "image", "file": file}))
    };
    Given {
        status: ResultStatus::Success,
        content,
        detail: Some((DetailShape::Claude, detail)),
        exit_code: None,
    }
}

fn notebook_text(cells: &[notebook::Cell]) -> Given {
    let mut content: Vec<Part> = vec![Part::Text(notebook::text(cells))];
    for picture in cells.iter().flat_map(|cell| &cell.pictures) {
        content.push(Part::Image {
            media_type: picture.media_type.clone(),
            data: picture.data.clone(),
        });
    }
    Given { content, ..Given::text("") }
}
