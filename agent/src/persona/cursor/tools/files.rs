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
use serde_json::{Map, Value, json};

use self::search::{find, search};
use super::tree;
use crate::persona::shared::args::Wrong;
use crate::persona::shared::native::{Run, change, plain, stray, texts, tools};
use crate::tools::delete::delete_file;
use crate::tools::diff::Diff;
use crate::tools::edit::{Change, EditFault};
use crate::tools::files::{Shown, change_file, part, put_file, read_file};
use crate::tools::read::Window;
use crate::tools::seen::Seen;
use crate::tools::text::with_plain_ends;
use crate::tools::work::blocking;
use crate::tools::{Cx, Given, Spec, Tool};
use crate::workspace::Fault;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::{DetailShape, ResultStatus, ToolKind};
use agentglot_adapters::raw::tools::args::{self, Args};

/// The most bytes of a file that are read.
const BYTES: usize = 100_000;

/// The tools for files. `seen` is the session's (a subagent has its own): a file that was read and has changed since is not edited.
pub fn files(seen: &Rc<Seen>) -> Vec<Rc<dyn Tool>> {
    let what = [What::Read, What::Write, What::Edit, What::Delete, What::List, What::Glob, What::Grep];
    tools(Dialect::Cursor, invalid, what.into_iter().map(What::spec), Files(Rc::clone(seen)))
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

/// Runs the tools for files.
#[derive(Debug)]
struct Files(Rc<Seen>);

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
            ..Spec::default()
        }
    }
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

fn invalid(spec: &Spec, wrong: &[Wrong]) -> Given {
    let first = wrong.first().map(|wrong| format!("{:?}: {:?}", wrong.path, wrong.what));
    error(&format!("Invalid arguments for {}: {}", spec.name, first.unwrap_or_default()))
}

#[async_trait(?Send)]
impl Run for Files {
    async fn run(&self, args: &Args<'_>, _: &Value, cx: &Cx<'_>) -> Given {
        match args {
            Args::Read(asked) => self.read(asked, cx).await,
            Args::Write { path, content } => self.write(plain(*path), plain(*content), cx).await,
            Args::Edit { path, change: asked } => self.edit(plain(*path), change(asked), cx).await,
            Args::Delete { path } => self.delete(plain(*path), cx).await,
            Args::List { path, ignore } => tree::list(plain(*path), texts(*ignore), cx).await,
            Args::Glob { pattern, path } => find(*pattern, *path, cx).await,
            Args::Grep(asked) => search(asked, cx).await,
            _ => stray(),
        }
    }
}

impl Files {
    async fn read(&self, asked: &args::Read<'_>, cx: &Cx<'_>) -> Given {
        let window = Window {
            first: asked.start.unwrap_or(1),
            lines: asked.count.filter(|limit| *limit > 0),
            bytes: BYTES,
            hash: false,
        };
        let (place, content) = match read_file(plain(asked.path), window, false, &self.0, cx).await {
            Ok(read) => read,
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
            Shown::Text(text) => {
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
            Shown::Media(media) => Given {
                content: vec![part(&media)],
                ..success("", typed("", 0, media.bytes.len() as u64, (1, 1), false))
            },
            Shown::Binary(_) | Shown::Notebook(_) => error(&format!("{named} is a binary file and cannot be shown")),
        }
    }

    async fn write(&self, path: String, content: String, cx: &Cx<'_>) -> Given {
        let (place, written) = match put_file(&path, &content, &self.0, cx).await {
            Ok(written) => written,
            Err(fault) => return denied(&fault, &path),
        };
        let named = place.named().display().to_string();
        let before = written.before.as_deref().map(with_plain_ends);
        let words = if written.created {
            format!("Wrote contents to {named}")
        } else {
            format!("The file {named} has been updated.")
        };
        changed(&named, before.as_deref(), &content, words)
    }

    async fn edit(&self, path: String, change: Change, cx: &Cx<'_>) -> Given {
        match change_file(&path, change, &self.0, cx).await {
            Ok((place, edited)) => {
                let named = place.named().display().to_string();
                let words = format!("The file {named} has been updated.");
                changed(&named, Some(&edited.before), &edited.after, words)
            }
            Err(EditFault::File(fault)) => denied(&fault, &path),
            Err(fault) => error(&fault.to_string()),
        }
    }

    async fn delete(&self, path: String, cx: &Cx<'_>) -> Given {
        let named = path.clone();
        match blocking(cx, move |wall, _| delete_file(wall, &path)).await {
            Ok(deleted) => {
                self.0.forget(deleted.place.path());
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
