//! The arguments of OpenCode's tools, in camel case for the most part.

use bumpalo::Bump;

use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::snake_tools::{change, changes, common, mcp_name, replacement, write_common};
use crate::tools::args::{Args, Change, Grep, Question, Read, Shell, Subagent};
use crate::tools::json::{Json, array, members, optional, whole};

const CHANGE: [&str; 3] = ["oldString", "newString", "replaceAll"];

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        // Lines are counted from 1.
        ToolKind::Read => {
            let [path, offset, limit] = members(input, ["filePath", "offset", "limit"])?;
            Args::Read(Read {
                path: path?.string()?,
                start: optional(offset, whole)?.map(|line| line.max(1)),
                count: optional(limit, whole)?,
                ..Read::default()
            })
        }
        ToolKind::Write => {
            let [path, content] = members(input, ["filePath", "content"])?;
            Args::Write {
                path: path?.string()?,
                content: content?.string()?,
            }
        }
        ToolKind::Edit => {
            let [path] = members(input, ["filePath"])?;
            let change = change(input, CHANGE)?;
            Args::Edit {
                path: path?.string()?,
                change: Change {
                    old: Some(change.old?),
                    ..change
                },
            }
        }
        ToolKind::MultiEdit => {
            let [path, edits] = members(input, ["filePath", "edits"])?;
            Args::MultiEdit {
                path: path?.string()?,
                changes: changes(edits?, CHANGE, arena)?,
            }
        }
        ToolKind::Shell => {
            let [command, timeout, folder, description] = members(input, ["command", "timeout", "workdir", "description"])?;
            Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: None,
                directory: optional(folder, Raw::string)?,
            })
        }
        ToolKind::Grep => {
            let [pattern, path, include] = members(input, ["pattern", "path", "include"])?;
            Args::Grep(Grep {
                pattern: pattern?.string()?,
                path: optional(path, Raw::string)?,
                glob: optional(include, Raw::string)?,
                ..Grep::default()
            })
        }
        ToolKind::Fetch => {
            let [url] = members(input, ["url"])?;
            Args::Fetch {
                url: url?.string()?,
                prompt: None,
            }
        }
        ToolKind::Ask => {
            let [questions] = members(input, ["questions"])?;
            Args::Ask {
                questions: Question::list(array(questions?)?, ["question", "header", "multiple", "options"], arena)?,
            }
        }
        ToolKind::ExitPlan => return None,
        kind => return common(kind, input, arena),
    })
}

/// The agent that takes any task.
const ANY_AGENT: &str = "general";

/// Deleting and plans to approve are missing; several edits at once were there in older versions.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    match *args {
        Args::Read(read) => {
            json.key("filePath").str(read.path).maybe_number("offset", read.start);
            json.maybe_number("limit", read.count);
        }
        Args::Write { path, content } => {
            json.key("filePath").str(path).key("content").str(content);
        }
        Args::Edit { path, change } => {
            json.key("filePath").str(path);
            let old = Some(change.old.unwrap_or_default());
            replacement(&mut json, Change { old, ..change }, CHANGE);
        }
        Args::Shell(shell) => {
            json.key("command").str(shell.command).maybe_number("timeout", shell.timeout);
            json.maybe_str("workdir", shell.directory).maybe_str("description", shell.description);
        }
        Args::Grep(grep) => {
            json.key("pattern").str(grep.pattern).maybe_str("path", grep.path);
            json.maybe_str("include", grep.glob);
        }
        // Each has to say how much it matters.
        Args::Todos { list, merge: false } => {
            json.key("todos").mark('[');
            for todo in list.iter() {
                json.item().mark('{').key("content").str(todo.content);
                json.key("status").plain(todo.status.word()).key("priority").lit("\"medium\"").mark('}');
            }
            json.mark(']');
        }
        // Which agent it is for has to be said.
        Args::Subagent(call) => {
            let call = Subagent {
                agent: Some(call.agent.unwrap_or(Str::trusted(ANY_AGENT))),
                background: None,
                ..call
            };
            write_common(&Args::Subagent(call), &mut json)?;
        }
        Args::Fetch { url, .. } => {
            json.key("url").str(url);
        }
        Args::Ask { questions } => {
            json.key("questions").mark('[');
            for question in questions {
                json.item().mark('{').key("question").str(question.text);
                json.key("header").str(question.head.unwrap_or(question.text)).key("options").mark('[');
                for choice in question.options {
                    json.item().mark('{').key("label").str(choice.label);
                    json.key("description").str(choice.description.unwrap_or(choice.label)).mark('}');
                }
                json.mark(']').maybe_bool("multiple", question.several).mark('}');
            }
            json.mark(']');
        }
        Args::Mcp { server, tool, args } => return Some((mcp_name(server, tool, arena), args)),
        Args::Glob { .. } | Args::List { .. } | Args::WebSearch { .. } => write_common(args, &mut json)?,
        Args::MultiEdit { .. } | Args::NotebookEdit(_) | Args::Delete { .. } | Args::Todos { .. } | Args::Plan { .. } => return None,
    }
    json.mark('}');
    Some((Str::trusted(super::TOOLS.name(args.kind())?), json.done()))
}
