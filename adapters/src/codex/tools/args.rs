//! Arguments: the members of an item that say what it is for.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::command;
use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Shell, Subagent, Todo, TodoStatus};
use crate::tools::json::{Json, array, members, object, optional};

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        ToolKind::Shell => {
            let [line] = members(input, ["command"])?;
            let line = line?.string()?;
            Args::Shell(Shell {
                command: command::script(line, arena).unwrap_or(line),
                timeout: None,
                description: None,
                background: None,
                directory: None,
            })
        }
        // What was changed in a file is not said, so that only a deletion means the same elsewhere.
        ToolKind::Edit => {
            let [changes] = members(input, ["changes"])?;
            let mut changes = array(changes?)?.elements();
            let [path, kind] = members(changes.next()?, ["path", "kind"])?;
            if changes.next().is_some() || !kind?.string()?.is("delete") {
                return None;
            }
            Args::Delete { path: path?.string()? }
        }
        ToolKind::Todo => {
            let [items] = members(input, ["items"])?;
            let mut list = BumpVec::new_in(arena);
            for item in array(items?)?.elements() {
                let [text, completed] = members(item, ["text", "completed"])?;
                let done = optional(completed, Raw::bool)? == Some(true);
                list.push(Todo {
                    id: None,
                    content: text?.string()?,
                    status: if done { TodoStatus::Completed } else { TodoStatus::Pending },
                    active: None,
                });
            }
            Args::Todos {
                list: list.into_bump_slice(),
                merge: false,
            }
        }
        ToolKind::WebSearch => {
            let [query] = members(input, ["query"])?;
            Args::WebSearch { query: query?.string()? }
        }
        ToolKind::Mcp => {
            let [server, tool, args] = members(input, ["server", "tool", "arguments"])?;
            let (server, tool) = (server?.string()?, tool?.string()?);
            let args = optional(args, object)?.unwrap_or(Raw::trusted("{}"));
            return (!server.is_empty() && !tool.is_empty()).then_some(Args::Mcp { server, tool, args });
        }
        // The other tools for agents have no counterpart.
        ToolKind::Subagent => {
            let [tool, prompt] = members(input, ["tool", "prompt"])?;
            if !tool?.string()?.is(SPAWN) {
                return None;
            }
            Args::Subagent(Subagent {
                description: None,
                prompt: prompt?.string()?,
                agent: None,
                background: None,
                model: None,
            })
        }
        _ => return None,
    })
}

/// The tool that starts an agent.
const SPAWN: &str = "spawn_agent";

/// Of a file that is written or changed, the item says which and no more.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{');
    match *args {
        Args::Shell(shell) => {
            json.key("command").str(command::line(shell.command, arena));
        }
        Args::Write { path, .. } => return Some(change(path, "add", arena)),
        Args::Edit { path, .. } | Args::MultiEdit { path, .. } => return Some(change(path, "update", arena)),
        Args::Delete { path } => return Some(change(path, "delete", arena)),
        Args::Todos { list, merge: false } => {
            json.key("items").mark('[');
            for todo in Todo::going_on(list) {
                json.item().mark('{').key("text").str(todo.content);
                json.key("completed").bool(todo.status == TodoStatus::Completed).mark('}');
            }
            json.mark(']');
        }
        Args::WebSearch { query } => {
            json.key("query").str(query);
        }
        Args::Mcp { server, tool, args } => {
            json.key("server").str(server).key("tool").str(tool).key("arguments").raw(args);
        }
        Args::Subagent(call) => {
            json.key("tool").plain(SPAWN).key("prompt").str(call.prompt);
        }
        _ => return None,
    }
    json.mark('}');
    Some((Str::trusted(super::TOOLS.name(args.kind())?), json.done()))
}

/// One file that changes.
pub(super) fn change<'a>(path: Str<'_>, kind: &str, arena: &'a Bump) -> (Str<'a>, Raw<'a>) {
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[').mark('{').key("path").str(path);
    json.key("kind").plain(kind).mark('}').mark(']').mark('}');
    (Str::trusted("file_change"), json.done())
}
