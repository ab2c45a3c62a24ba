//! `read_file`.

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
use crate::workspace::Fault;
use agentglot_adapters::event::ToolKind;

/// The most lines of one call, if it does not ask for more.
const LINES: u64 = 2000;
/// The most bytes of one call.
const BYTES: usize = 100_000;
/// The most characters of a line.
const LINE: usize = 2000;

#[derive(Debug)]
pub(super) struct Read {
    spec: Spec,
    seen: Rc<Seen>,
}

impl Read {
    pub(super) fn new(seen: Rc<Seen>) -> Self {
        let spec = Spec {
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
        let path = say::text(&arguments, "file_path").to_owned();
        let is_notebook = offset.is_none() && limit.is_none() && path.ends_with(".ipynb");
        let window = Window {
            first: offset.unwrap_or(0).saturating_add(1),
            lines: Some(limit.unwrap_or(LINES)),
            bytes: BYTES,
            hash: false,
        };
        let done = blocking(cx, move |wall, cancel| {
            let place = wall.locate(path)?;
            let window = if is_notebook { notebook::WINDOW } else { window };
            Ok::<_, Fault>((read(&place, &window, cancel)?, place))
        });
        let (content, place) = match done.await {
            Ok(done) => done,
            Err(fault) => return say::fault(&fault),
        };
        let shown = cx.world.wall.shown(place.path()).display().to_string();
        match content {
            Content::Text(text) => {
                self.seen.put(place.path(), text.stamp.clone());
                if is_notebook && let Some(cells) = notebook::cells(&text.text) {
                    return say::said(notebook::text(&cells), &format!("Read notebook: {shown}"));
                }
                self::text(&shown, &text)
            }
            Content::Media(media) => {
                self.seen.put(place.path(), media.stamp.clone());
                self::media(&shown, &media)
            }
            Content::Binary(_) => say::said(
                format!("Cannot display content of binary file: {shown}"),
                &format!("Skipped binary file: {shown}"),
            ),
        }
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
    let (media_type, data) = (media.media_type.to_owned(), BASE64_STANDARD.encode(&media.bytes));
    let (part, word) = if media_type == "application/pdf" {
        (Part::Document { media_type, data }, "pdf")
    } else {
        (Part::Image { media_type, data }, "image")
    };
    Given {
        content: vec![part],
        ..say::said("", &format!("Read {word} file: {shown}"))
    }
}
