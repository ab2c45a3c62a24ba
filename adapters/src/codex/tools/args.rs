//! Arguments: the members of an item that say what it is for.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use super::{command, model};
use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Change, Subagent, Todo, TodoStatus, Todos};
use crate::tools::json::{Json, array, escaped, members, object, optional, plain};

pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        ToolKind::Shell => {
            return model::shell(input, arena).map(Args::Shell);
        }
        ToolKind::Edit if input.get("input").is_some() => return model::patched(input, arena),
        ToolKind::Edit => {
            let [changes] = members(input, ["changes"])?;
            let mut changes = array(changes?)?.elements();
            let change = changes.next()?;
            if changes.next().is_some() {
                return None;
            }
            return file(change, arena);
        }
        ToolKind::Todo if input.get("plan").is_some() => {
            let [plan, explanation] = members(input, ["plan", "explanation"])?;
            optional(explanation, Raw::string)?;
            return Some(Args::Todos {
                list: Todos::made(steps(array(plan?)?, arena)?),
                merge: false,
            });
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
                list: Todos::made(list.into_bump_slice()),
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
        ToolKind::Subagent if input.get("message").is_some() => {
            let [task, message, role] = members(input, ["task_name", "message", "agent_type"])?;
            Args::Subagent(Subagent {
                description: optional(task, Raw::string)?,
                prompt: message?.string()?,
                agent: optional(role, Raw::string)?,
                ..Subagent::default()
            })
        }
        ToolKind::Subagent => {
            let [tool, prompt] = members(input, ["tool", "prompt"])?;
            if !tool?.string()?.is(SPAWN) {
                return None;
            }
            Args::Subagent(Subagent {
                prompt: prompt?.string()?,
                ..Subagent::default()
            })
        }
        _ => return None,
    })
}

/// One file that changes. `exec` does not say how, so that of its changes only a deletion means the same elsewhere.
fn file<'a>(change: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let [path, kind, diff] = members(change, ["path", "kind", "diff"])?;
    let (path, kind) = (path?.string()?, kind?);
    let diff = optional(diff, Raw::string)?;
    let word = match kind.string() {
        Some(word) => word,
        None => {
            let [word, moved] = members(kind, ["type", "move_path"])?;
            if moved.is_some_and(|moved| !moved.is_null()) {
                return None;
            }
            word?.string()?
        }
    };
    match (&*word.unescape(), diff) {
        ("delete", _) => Some(Args::Delete { path }),
        ("add", Some(content)) => Some(Args::Write { path, content }),
        ("update", Some(diff)) => match hunks(&plain(diff)?, arena).as_slice() {
            [] => None,
            [change] => Some(Args::Edit { path, change: *change }),
            changes => Some(Args::MultiEdit {
                path,
                changes: arena.alloc_slice_copy(changes),
            }),
        },
        _ => None,
    }
}

/// The hunks of a diff as replacements: what stands around a change tells where it is.
pub(super) fn hunks<'a>(diff: &str, arena: &'a Bump) -> Vec<Change<'a>> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in diff.split_inclusive('\n') {
        if line.starts_with("@@") {
            all.push(Default::default());
            continue;
        }
        let Some((old, new)) = all.last_mut() else { continue };
        match line.as_bytes() {
            [b'-', ..] => old.push_str(&line[1..]),
            [b'+', ..] => new.push_str(&line[1..]),
            [b' ', ..] => [old, new].into_iter().for_each(|text| text.push_str(&line[1..])),
            // No line feed at the end of the file.
            [b'\\', ..] => [old, new].into_iter().for_each(|text| text.truncate(text.trim_end_matches('\n').len())),
            _ => {}
        }
    }
    let change = |(old, new): &(String, String)| Change {
        old: Some(escaped(old, arena)),
        new: escaped(new, arena),
        all: None,
    };
    all.iter().map(change).collect()
}

/// A plan as the model writes it, and the app-server tells it.
fn steps<'a>(plan: Raw<'a>, arena: &'a Bump) -> Option<&'a [Todo<'a>]> {
    let mut list = BumpVec::new_in(arena);
    for step in plan.elements() {
        let [text, status] = members(step, ["step", "status"])?;
        list.push(Todo {
            id: None,
            content: text?.string()?,
            status: match &*status?.string()?.unescape() {
                "pending" => TodoStatus::Pending,
                "inProgress" | "in_progress" => TodoStatus::InProgress,
                "completed" => TodoStatus::Completed,
                _ => return None,
            },
            active: None,
        });
    }
    Some(list.into_bump_slice())
}

/// The tool that starts an agent.
const SPAWN: &str = "spawn_agent";

/// Of a file that is written or changed, the item says which and no more.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
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
            for todo in list.going_on() {
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

/// The same with what is written or changed.
pub(super) fn write_whole<'a>(args: &Args<'a>, call: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    match *args {
        Args::Write { path, content } => Some(changed(path, "add", Some(content), arena)),
        Args::Edit { path, change } => Some(changed(path, "update", diff(&[change], arena), arena)),
        Args::MultiEdit { path, changes } => Some(changed(path, "update", diff(changes, arena), arena)),
        // A plan says what is being done.
        Args::Todos { list, merge: false } => {
            json.mark('{').key("plan").mark('[');
            for todo in list.going_on() {
                json.item().mark('{').key("step").str(todo.content).key("status");
                json.plain(match todo.status {
                    TodoStatus::Completed => "completed",
                    TodoStatus::InProgress => "in_progress",
                    _ => "pending",
                });
                json.mark('}');
            }
            json.mark(']').mark('}');
            Some((Str::trusted("update_plan"), json.done()))
        }
        _ => write(args, call, json),
    }
}

/// A file that was there gets another content.
pub(super) fn replaced<'a>(path: Str<'_>, content: Str<'a>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let change = Change {
        old: Some(Str::EMPTY),
        new: content,
        all: None,
    };
    Some(changed(path, "update", Some(diff(&[change], arena)?), arena))
}

/// Replacements as the hunks of a diff; nothing if one does not say what it replaces. What is replaced everywhere is so only where it is
/// read.
fn diff<'a>(changes: &[Change<'_>], arena: &'a Bump) -> Option<Str<'a>> {
    let mut diff = String::new();
    for change in changes {
        let (old, new) = (plain(change.old?)?, plain(change.new)?);
        diff.push_str("@@\n");
        for (mark, text) in [('-', &old), ('+', &new)] {
            for line in text.lines() {
                diff.extend([mark]);
                diff.push_str(line);
                diff.push('\n');
            }
        }
        if !old.ends_with('\n') && !new.ends_with('\n') {
            diff.push_str("\\ No newline at end of file\n");
        }
    }
    Some(escaped(&diff, arena))
}

/// One file that changes.
pub(super) fn change<'a>(path: Str<'_>, kind: &str, arena: &'a Bump) -> (Str<'a>, Raw<'a>) {
    changed(path, kind, None, arena)
}

/// The same, and how.
fn changed<'a>(path: Str<'_>, kind: &str, diff: Option<Str<'_>>, arena: &'a Bump) -> (Str<'a>, Raw<'a>) {
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[').mark('{').key("path").str(path);
    json.key("kind").plain(kind);
    if let Some(diff) = diff {
        json.key("diff").str(diff);
    }
    json.mark('}').mark(']').mark('}');
    (Str::trusted("file_change"), json.done())
}
