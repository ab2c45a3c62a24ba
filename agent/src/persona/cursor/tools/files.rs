//! `read`, `write`, `edit`, `delete`, `ls`, `glob`, `grep`.
//!
//! # How they are told
//!
//! The model calls them by these short names. On the wire of Cursor a call is the key of its kind (`readToolCall`), its arguments are
//! Cursor's, and its result is typed. [`told`] says a call as the wire has it; the results carry Cursor's typed form
//! ([`DetailShape::Cursor`], as recorded) and not Claude's: that of a search, a list or a deletion holds more than Claude's has room for.

mod search;

use std::rc::Rc;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use self::search::{find, search};
use super::tree;
use crate::model::message::Part;
use crate::persona::shared::args::check;
use crate::tools::delete::delete_file;
use crate::tools::diff::Diff;
use crate::tools::edit::{Change, EditFault, edit, preview};
use crate::tools::read::{Content, Window, read};
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::work::blocking;
use crate::tools::write;
use crate::tools::{Access, Cx, Given, Spec, Tool};
use crate::workspace::Fault;
use agentglot_adapters::event::{DetailShape, ResultStatus, ToolKind};

/// The most bytes of a file that are read.
const BYTES: usize = 100_000;

/// The tools for files. `seen` is the session's (a subagent has its own): a file that was read and has changed since is not edited.
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    let what = [What::Read, What::Write, What::Edit, What::Delete, What::List, What::Glob, What::Grep];
    let tool = |what: What| {
        Rc::new(FileTool {
            spec: what.spec(),
            what,
            seen: seen.clone(),
        }) as Rc<dyn Tool>
    };
    what.into_iter().map(tool).collect()
}

/// How the wire has a call: the key of its kind and its arguments. `None` for a tool that is none of Cursor's own.
pub fn told(name: &str, input: &Value) -> Option<(&'static str, Value)> {
    let mut arguments = input.as_object().cloned().unwrap_or_default();
    // What an edit replaces is not told, and what a file is to hold is called the same.
    let mut streamed = |from: &str| {
        for gone in ["oldText", "replaceAll"] {
            arguments.remove(gone);
        }
        if let Some(text) = arguments.remove(from) {
            arguments.insert("streamContent".to_owned(), text);
        }
    };
    let key = match name {
        "read" => "readToolCall",
        "write" => {
            streamed("fileText");
            "editToolCall"
        }
        "edit" => {
            streamed("newText");
            "editToolCall"
        }
        "delete" => "deleteToolCall",
        "ls" => "lsToolCall",
        "glob" => "globToolCall",
        "grep" => "grepToolCall",
        "shell" => "shellToolCall",
        "updateTodos" => "updateTodosToolCall",
        "task" => "taskToolCall",
        "webFetch" => "webFetchToolCall",
        "webSearch" => "webSearchToolCall",
        _ => return None,
    };
    Some((key, Value::Object(arguments)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Read,
    Write,
    Edit,
    Delete,
    List,
    Glob,
    Grep,
}

#[derive(Debug)]
struct FileTool {
    spec: Spec,
    what: What,
    seen: Rc<Seen>,
}

impl What {
    fn spec(self) -> Spec {
        let text = |text: &str| json!({"type": "string", "description": text});
        let number = |text: &str| json!({"type": "integer", "minimum": 0, "description": text});
        let flag = |text: &str| json!({"type": "boolean", "description": text});
        let (name, kind, description, properties, required) = match self {
            Self::Read => (
                "read",
                ToolKind::Read,
                "Reads a file of the workspace. Of a large one the beginning comes back: read on with offset and limit. Pictures and PDFs \
                 can be read too.",
                json!({"path": text("The file"), "offset": number("The first line, from 1"), "limit": number("How many lines")}),
                json!(["path"]),
            ),
            Self::Write => (
                "write",
                ToolKind::Write,
                "Writes a file of the workspace as a whole, new or not. Missing folders are made. To change a part of a file use edit.",
                json!({"path": text("The file"), "fileText": text("What it is to hold")}),
                json!(["path", "fileText"]),
            ),
            Self::Edit => (
                "edit",
                ToolKind::Edit,
                "Replaces a text in a file of the workspace. The old text has to stand in the file exactly so, with its indentation, and \
                 only once, unless replaceAll is set: take more lines around it if it stands there more often.",
                json!({
                    "path": text("The file"),
                    "oldText": text("The text that is replaced"),
                    "newText": text("The text that takes its place"),
                    "replaceAll": flag("Replace every occurrence"),
                }),
                json!(["path", "oldText", "newText"]),
            ),
            Self::Delete => (
                "delete",
                ToolKind::Delete,
                "Deletes a file of the workspace.",
                json!({"path": text("The file")}),
                json!(["path"]),
            ),
            Self::List => (
                "ls",
                ToolKind::List,
                "Lists what is in a folder of the workspace and up to three folders deep.",
                json!({
                    "path": text("The folder; the working folder if it is left out"),
                    "ignore": {"type": "array", "items": {"type": "string"}, "description": "Globs for what is left out"},
                }),
                json!([]),
            ),
            Self::Glob => (
                "glob",
                ToolKind::Glob,
                "Finds files of the workspace by a glob for their paths, the one that was written last first. A glob without a slash \
                 matches names, however deep.",
                json!({"globPattern": text("The glob"), "targetDirectory": text("The folder; the working folder if it is left out")}),
                json!(["globPattern"]),
            ),
            Self::Grep => (
                "grep",
                ToolKind::Grep,
                "Searches the files of the workspace for a regular expression in ripgrep's syntax. What .gitignore leaves out is not \
                 searched.",
                json!({
                    "pattern": text("The regular expression"),
                    "path": text("The file or folder; the working folder if it is left out"),
                    "glob": text("Only files that this glob matches"),
                    "outputMode": {
                        "type": "string",
                        "enum": ["content", "files_with_matches", "count"],
                        "description": "Lines (if it is left out), files, or how many lines of each file",
                    },
                    "caseInsensitive": flag("Capital letters are small ones too"),
                    "multiline": flag("The pattern may go over several lines"),
                    "context": number("Lines before and after each match"),
                    "type": text("Only files of this type, such as js, py, rust"),
                    "headLimit": number("The most lines or files"),
                    "offset": number("Lines or files that are skipped before"),
                }),
                json!(["pattern"]),
            ),
        };
        Spec {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({"type": "object", "properties": properties, "required": required}),
            kind,
            reads_only: matches!(self, Self::Read | Self::List | Self::Glob | Self::Grep),
        }
    }

    /// The argument that names a file or folder.
    const fn path(self) -> &'static str {
        match self {
            Self::Glob => "targetDirectory",
            _ => "path",
        }
    }
}

fn text(arguments: &Value, name: &str) -> String {
    arguments[name].as_str().unwrap_or_default().to_owned()
}

fn number(arguments: &Value, name: &str) -> Option<usize> {
    arguments[name].as_u64().and_then(|number| usize::try_from(number).ok())
}

pub(super) fn success(words: impl Into<String>, typed: Value) -> Given {
    Given::text(words).with(DetailShape::Cursor, json!({"success": typed}))
}

/// A call that failed, under a word for why.
fn failed(words: &str, key: &str, typed: Value) -> Given {
    let mut detail = Map::new();
    detail.insert(key.to_owned(), typed);
    Given::error(words).with(DetailShape::Cursor, Value::Object(detail))
}

pub(super) fn error(words: &str) -> Given {
    failed(words, "error", json!({"errorMessage": words}))
}

#[async_trait(?Send)]
impl Tool for FileTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn access(&self, input: &Value) -> Access {
        let path = input[self.what.path()].as_str().filter(|path| !path.is_empty()).unwrap_or(".");
        match self.spec.reads_only {
            true => Access::Read(vec![path.to_owned()]),
            false => Access::Write(vec![path.to_owned()]),
        }
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let arguments = check(&self.spec.schema, input).ok()?;
        let path = text(&arguments, "path");
        match self.what {
            What::Write => {
                let content = text(&arguments, "fileText");
                blocking(cx, move |wall, _| write::preview(&wall.locate(path)?, &content)).await.ok()
            }
            What::Edit => {
                let change = change(&arguments);
                blocking(cx, move |wall, _| preview(&wall.locate(path)?, &[change])).await.ok()
            }
            _ => None,
        }
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let arguments = match check(&self.spec.schema, input) {
            Ok(arguments) => arguments,
            Err(wrong) => {
                let missing = wrong
                    .first()
                    .map(|wrong| format!("{:?}: {:?}", wrong.path, wrong.what))
                    .unwrap_or_default();
                return error(&format!("Invalid arguments for {}: {missing}", self.spec.name));
            }
        };
        match self.what {
            What::Read => self.read(&arguments, cx).await,
            What::Write => self.write(&arguments, cx).await,
            What::Edit => self.edit(&arguments, cx).await,
            What::Delete => self.delete(&arguments, cx).await,
            What::List => tree::list(&arguments, cx).await,
            What::Glob => find(&arguments, cx).await,
            What::Grep => search(&arguments, cx).await,
        }
    }
}

fn change(arguments: &Value) -> Change {
    Change {
        old: text(arguments, "oldText"),
        new: text(arguments, "newText"),
        all: arguments["replaceAll"] == true,
    }
}

impl FileTool {
    async fn read(&self, arguments: &Value, cx: &Cx<'_>) -> Given {
        let path = text(arguments, "path");
        let window = Window {
            first: arguments["offset"].as_u64().unwrap_or(1).max(1),
            lines: arguments["limit"].as_u64().filter(|limit| *limit > 0),
            bytes: BYTES,
            hash: false,
        };
        let done = blocking(cx, move |wall, cancel: &CancellationToken| {
            let place = wall.locate(path)?;
            Ok::<_, Fault>((read(&place, &window, cancel)?, place))
        });
        let (content, place) = match done.await {
            Ok(done) => done,
            Err(fault) => return error(&fault.to_string()),
        };
        let named = place.named().display().to_string();
        let typed = |content: &str, total: u64, size: u64, range: (u64, u64), cut: bool| {
            json!({
                "content": content,
                "isEmpty": content.is_empty(),
                "exceededLimit": cut,
                "totalLines": total,
                "fileSize": size,
                "path": named,
                "readRange": {"startLine": range.0, "endLine": range.1},
                "relatedCursorRulePaths": [],
                "relatedCursorRules": [],
            })
        };
        match content {
            Content::Text(text) => {
                self.seen.put(place.path(), text.stamp.clone());
                let content = with_plain_ends(&text.text);
                let last = text.first + text.count.max(1) - 1;
                let typed = typed(&content, text.total, text.size, (text.first, last), text.cut);
                let more = if text.cut || window.lines.is_none() && last < text.total {
                    format!(
                        "\n[Lines {} to {last} of {} are shown. Read on with offset and limit.]",
                        text.first, text.total
                    )
                } else {
                    String::new()
                };
                success(content + &more, typed)
            }
            Content::Media(media) => {
                self.seen.put(place.path(), media.stamp.clone());
                let (media_type, data) = (media.media_type.to_owned(), BASE64_STANDARD.encode(&media.bytes));
                let part = match media.media_type {
                    "application/pdf" => Part::Document { media_type, data },
                    _ => Part::Image { media_type, data },
                };
                Given {
                    content: vec![part],
                    ..success("", typed("", 0, media.bytes.len() as u64, (1, 1), false))
                }
            }
            Content::Binary(_) => error(&format!("{named} is a binary file and cannot be shown")),
        }
    }

    async fn write(&self, arguments: &Value, cx: &Cx<'_>) -> Given {
        let (path, content) = (text(arguments, "path"), text(arguments, "fileText"));
        let place = match cx.world.wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return denied(&fault, &path),
        };
        let seen = self.seen.get(place.path());
        let (at, new) = (place.clone(), content.clone());
        let done = blocking(cx, move |_, _| {
            write::write(&at, &new, write::Put::Instead, seen.as_ref().filter(|_| at.path().exists()))
        });
        let written = match done.await {
            Ok(written) => written,
            Err(fault) => return denied(&fault, &path),
        };
        self.seen.put(place.path(), written.stamp);
        let named = place.named().display().to_string();
        let before = written.before.as_deref().map(with_plain_ends);
        let words = if written.created {
            format!("Wrote contents to {named}")
        } else {
            format!("The file {named} has been updated.")
        };
        changed(&named, before.as_deref(), &content, words)
    }

    async fn edit(&self, arguments: &Value, cx: &Cx<'_>) -> Given {
        let (path, change) = (text(arguments, "path"), change(arguments));
        let place = match cx.world.wall.locate(&path) {
            Ok(place) => place,
            Err(fault) => return denied(&fault, &path),
        };
        let seen = self.seen.get(place.path());
        let at = place.clone();
        match blocking(cx, move |_, _| edit(&at, &[change], seen.as_ref())).await {
            Ok(edited) => {
                self.seen.put(place.path(), edited.stamp);
                let named = place.named().display().to_string();
                let words = format!("The file {named} has been updated.");
                changed(&named, Some(&edited.before), &edited.after, words)
            }
            Err(EditFault::File(fault)) => denied(&fault, &path),
            Err(fault) => error(&fault.to_string()),
        }
    }

    async fn delete(&self, arguments: &Value, cx: &Cx<'_>) -> Given {
        let path = text(arguments, "path");
        let named = path.clone();
        match blocking(cx, move |wall, _| delete_file(wall, &path)).await {
            Ok(deleted) => {
                self.seen.forget(deleted.place.path());
                let path = deleted.place.named().display().to_string();
                let mut typed = json!({"path": path, "deletedFile": path, "fileSize": deleted.size.to_string()});
                if let Some(text) = deleted.text {
                    typed["prevContent"] = text.into();
                }
                success(format!("Deleted {path}"), typed)
            }
            Err(fault @ Fault::Folder(_)) => failed(&fault.to_string(), "notFile", json!({"path": named, "actualType": "directory"})),
            Err(fault) => denied(&fault, &named),
        }
    }
}

/// Why a file could not be changed, under Cursor's word for it.
fn denied(fault: &Fault, path: &str) -> Given {
    let words = fault.to_string();
    match fault {
        Fault::Missing(_) => failed(&words, "fileNotFound", json!({"path": path})),
        Fault::Denied(_) | Fault::ReadOnly(_) | Fault::Outside { .. } => {
            failed(&words, "writePermissionDenied", json!({"path": path, "error": words}))
        }
        _ => error(&words),
    }
}

/// As recorded: a new file comes from `/dev/null` and has no content before.
fn changed(named: &str, before: Option<&str>, after: &str, words: String) -> Given {
    let diff = Diff::of(before.unwrap_or_default(), after);
    let from = before.map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{named}"));
    let mut patch = format!("--- {from}\n+++ b/{named}");
    let count = |lines: usize| if lines == 1 { String::new() } else { format!(",{lines}") };
    for hunk in &diff.hunks {
        let (old, new) = (count(hunk.old_lines), count(hunk.new_lines));
        patch.push_str(&format!("\n@@ -{}{old} +{}{new} @@", hunk.old_start, hunk.new_start));
        for line in &hunk.lines {
            patch.push('\n');
            patch.push_str(line);
        }
    }
    let mut typed = json!({"path": named, "linesAdded": diff.added, "linesRemoved": diff.removed, "diffString": patch});
    if let Some(before) = before {
        typed["beforeFullFileContent"] = before.into();
    }
    typed["afterFullFileContent"] = after.into();
    typed["message"] = words.as_str().into();
    success(words, typed)
}

/// A status for results that are made elsewhere in this folder.
pub(super) fn listed(words: String, typed: Value) -> Given {
    debug_assert!(typed.is_object());
    Given {
        status: ResultStatus::Success,
        ..success(words, typed)
    }
}

/// The same for a folder that cannot be listed.
pub(super) fn unlisted(fault: &Fault) -> Given {
    error(&fault.to_string())
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
