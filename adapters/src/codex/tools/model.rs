//! What the model itself calls: rollout files say it, hosts are shown items.

use bumpalo::Bump;

use super::args;
use super::command;
use crate::codex::items::MCP_TOOL_CALL;
use crate::event::{ToolCall, ToolKind};
use crate::json::{Raw, Str};
use crate::tools::args::{Args, Change, Shell, TodoStatus};
use crate::tools::json::{Json, array, escaped, members, optional, plain};

/// A call as the model makes it.
#[derive(Debug)]
pub(in crate::codex) enum Asked<'a> {
    /// A function: its name and its arguments.
    Function(&'static str, Raw<'a>),
    /// A tool of an MCP server.
    Mcp { server: Str<'a>, tool: Str<'a>, arguments: Raw<'a> },
    /// A patch.
    Patch(Str<'a>),
    /// The server searches for this, or does what the action says.
    Search { query: Str<'a>, action: Option<Raw<'a>> },
}

/// What a command runs: a line for a shell, or words of which a shell may be the first.
pub(super) fn shell<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Shell<'a>> {
    let [cmd, command, folder] = members(input, ["cmd", "command", "workdir"])?;
    let run = match (cmd, command) {
        (Some(cmd), _) => cmd.string()?,
        (None, Some(words)) if words.string().is_none() => {
            let words: Option<Vec<_>> = array(words)?.elements().map(|word| plain(word.string()?)).collect();
            let line = command::joined(&words?);
            let line = escaped(&line, arena);
            command::script(line, arena).unwrap_or(line)
        }
        (None, Some(line)) => line.string().map(|line| command::script(line, arena).unwrap_or(line))?,
        (None, None) => return None,
    };
    Some(Shell {
        command: run,
        directory: optional(folder, Raw::string)?,
        ..Shell::default()
    })
}

/// The call as the model would make it, if it is one of a host's items.
pub(in crate::codex) fn asked<'a>(call: &ToolCall<'a>, arena: &'a Bump) -> Option<Asked<'a>> {
    let name = call.name.unescape();
    match &*name {
        PATCH => return call.input.get("input")?.string().map(Asked::Patch),
        "command_execution" | "file_change" | "todo_list" | "collab_tool_call" | "web_search" | MCP_TOOL_CALL => {}
        _ => return None,
    }
    let mut json = Json::new(arena);
    let args = args::read(super::TOOLS.kind(&name), call.input, arena);
    Some(match args {
        Some(Args::Shell(shell)) => {
            json.mark('{').key("cmd").str(shell.command).mark('}');
            Asked::Function("exec_command", json.done())
        }
        Some(Args::Todos { list, .. }) => {
            json.mark('{').key("plan").mark('[');
            for todo in list.iter() {
                json.item().mark('{').key("step").str(todo.content).key("status");
                json.plain(match todo.status {
                    TodoStatus::Completed => "completed",
                    TodoStatus::InProgress => "in_progress",
                    _ => "pending",
                });
                json.mark('}');
            }
            json.mark(']').mark('}');
            Asked::Function("update_plan", json.done())
        }
        Some(Args::Subagent(subagent)) => {
            json.mark('{').key("message").str(subagent.prompt).mark('}');
            Asked::Function("spawn_agent", json.done())
        }
        Some(Args::WebSearch { query }) => Asked::Search {
            query,
            action: call.input.get("action").filter(|action| action.get("type").is_some()),
        },
        Some(Args::Mcp { server, tool, args }) => Asked::Mcp {
            server,
            tool,
            arguments: args,
        },
        Some(Args::Write { path, content }) => Asked::Patch(patch(&[added(path, content)?], arena)),
        Some(Args::Edit { path, change }) => Asked::Patch(patch(&[updated(path, &[change])?], arena)),
        Some(Args::MultiEdit { path, changes }) => Asked::Patch(patch(&[updated(path, changes)?], arena)),
        _ if name == "file_change" => {
            let [changes] = members(call.input, ["changes"])?;
            let parts: Option<Vec<String>> = array(changes?)?.elements().map(|change| changed(change, arena)).collect();
            Asked::Patch(patch(&parts?, arena))
        }
        _ => return None,
    })
}

/// The tool that changes files.
const PATCH: &str = "apply_patch";

fn patch<'a>(parts: &[String], arena: &'a Bump) -> Str<'a> {
    escaped(&format!("*** Begin Patch\n{}*** End Patch\n", parts.concat()), arena)
}

/// The lines of a text, each behind a mark.
fn marked(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

fn added(path: Str<'_>, content: Str<'_>) -> Option<String> {
    Some(format!("*** Add File: {}\n{}", plain(path)?, marked('+', &plain(content)?)))
}

fn updated(path: Str<'_>, changes: &[Change<'_>]) -> Option<String> {
    let hunk = |change: &Change<'_>| {
        let old = marked('-', &plain(change.old.unwrap_or_default())?);
        Some(format!("@@\n{old}{}", marked('+', &plain(change.new)?)))
    };
    let hunks: Option<Vec<String>> = changes.iter().map(hunk).collect();
    Some(format!("*** Update File: {}\n{}", plain(path)?, hunks?.concat()))
}

/// One of several files that change. Where nobody says how, only which is known.
fn changed(change: Raw<'_>, arena: &Bump) -> Option<String> {
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[').raw(change).mark(']').mark('}');
    match args::read(ToolKind::Edit, json.done(), arena) {
        Some(Args::Write { path, content }) => return added(path, content),
        Some(Args::Edit { path, change }) => return updated(path, &[change]),
        Some(Args::MultiEdit { path, changes }) => return updated(path, changes),
        _ => {}
    }
    let [path, kind, diff] = members(change, ["path", "kind", "diff"])?;
    let (path, kind) = (plain(path?.string()?)?, kind?);
    let [word, moved] = match kind.string() {
        Some(word) => [Some(word), None],
        None => {
            let [word, moved] = members(kind, ["type", "move_path"])?;
            [word?.string(), moved.and_then(Raw::string)]
        }
    };
    let what = match &*word?.unescape() {
        "add" => "Add",
        "delete" => "Delete",
        _ => "Update",
    };
    let moved = match moved {
        Some(to) => format!("*** Move to: {}\n", plain(to)?),
        None => String::new(),
    };
    let diff = match diff.filter(|_| what == "Update") {
        Some(diff) => plain(diff.string()?)?,
        None => "".into(),
    };
    Some(format!("*** {what} File: {path}\n{moved}{}", hunks(&diff)))
}

/// The lines of a diff as those of a patch, which does not number them.
fn hunks(diff: &str) -> String {
    let lines = diff.lines().skip_while(|line| !line.starts_with("@@"));
    lines
        .map(|line| format!("{}\n", if line.starts_with("@@") { "@@" } else { line }))
        .collect()
}

/// The files that a patch changes: a kind, a path, and the lines that say how.
fn files(patch: &str) -> Vec<(&'static str, &str, Vec<&str>)> {
    let mut files: Vec<(&'static str, &str, Vec<&str>)> = Vec::new();
    for line in patch.lines() {
        let begins = [
            ("add", "*** Add File: "),
            ("delete", "*** Delete File: "),
            ("update", "*** Update File: "),
        ];
        let file = begins.iter().find_map(|(kind, begins)| Some((*kind, line.strip_prefix(begins)?)));
        match (file, files.last_mut()) {
            (Some((kind, path)), _) => files.push((kind, path, Vec::new())),
            (None, Some((_, _, lines))) if !matches!(line, "*** Begin Patch" | "*** End Patch" | "*** End of File") => lines.push(line),
            _ => {}
        }
    }
    files
}

/// The patch, where a shell is called with it: the program applies it by itself.
pub(in crate::codex) fn by_shell<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Str<'a>> {
    let [command] = members(input, ["command"])?;
    let words: Vec<Str<'a>> = array(command?)?.elements().map_while(Raw::string).collect();
    if let [tool, patch] = words.as_slice() {
        return tool.is(PATCH).then_some(*patch);
    }
    let [shell, flag, script] = words.as_slice() else { return None };
    let script = plain(*script).filter(|_| shell.as_escaped().ends_with("sh") && flag.is("-lc"))?;
    let (first, rest) = script.strip_prefix("apply_patch <<")?.split_once('\n')?;
    let end = first.trim().trim_matches(['\'', '"']);
    let patch = rest.trim_end().strip_suffix(end).filter(|patch| patch.ends_with('\n'))?;
    (patch.starts_with("*** Begin Patch") && !end.is_empty()).then(|| escaped(patch, arena))
}

/// The text of a patch, if these are the arguments of the tool that takes one.
fn text<'a>(input: Raw<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let [patch] = members(input, ["input"])?;
    plain(patch?.string()?)
}

/// What a patch does, if it is to one file.
pub(super) fn patched<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    let text = text(input)?;
    let files = files(&text);
    let [(kind, path, lines)] = files.as_slice() else { return None };
    let path = escaped(path, arena);
    if lines.iter().any(|line| line.starts_with("*** ")) {
        return None;
    }
    Some(match *kind {
        "delete" => Args::Delete { path },
        "add" => {
            let content: String = lines.iter().map(|line| format!("{}\n", line.strip_prefix('+').unwrap_or(line))).collect();
            Args::Write {
                path,
                content: escaped(&content, arena),
            }
        }
        _ => {
            let diff: String = lines.iter().map(|line| format!("{line}\n")).collect();
            match args::hunks(&diff, arena).as_slice() {
                [] => return None,
                [change] => Args::Edit { path, change: *change },
                changes => Args::MultiEdit {
                    path,
                    changes: arena.alloc_slice_copy(changes),
                },
            }
        }
    })
}

/// The files that a patch changes and how, as a host is shown them.
pub(super) fn shown<'a>(input: Raw<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
    let text = text(input)?;
    let files = files(&text);
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[');
    for (kind, path, lines) in &files {
        let moved = lines.first().and_then(|line| line.strip_prefix("*** Move to: "));
        let mark = if *kind == "add" { "+" } else { "" };
        let lines = lines.iter().skip(usize::from(moved.is_some()));
        let diff: String = lines.map(|line| format!("{}\n", line.strip_prefix(mark).unwrap_or(line))).collect();
        json.item().mark('{').key("path").plain(path).key("kind");
        match moved {
            Some(to) => json.mark('{').key("type").plain(kind).key("move_path").plain(to).mark('}'),
            None => json.plain(kind),
        };
        json.key("diff").plain(&diff).mark('}');
    }
    json.mark(']').mark('}');
    (!files.is_empty()).then(|| json.done())
}
