//! Codex's tools: the kinds of items that are calls.

mod args;
mod command;
pub(in crate::codex) use command::line as command_line;
pub(super) mod model;
mod results;

use bumpalo::Bump;

use super::items::{FILE_CHANGE, Tool};
use crate::event::{DetailShape, ToolCall, ToolKind};
use crate::json::{Out, Raw, Str};
use crate::tools::args::{Args, TodoStatus};
use crate::tools::json::Json;
use crate::tools::output::ToolOutput;
use crate::tools::table::{DetailReader, Shell, Tools, names};

// Recorded items, which hosts are shown; then what the model calls, which rollout files say.
names! {
    Edit: "file_change", "apply_patch";
    Shell: "command_execution", "exec_command", "shell_command", "shell", "local_shell";
    Todo: "todo_list", "update_plan";
    Subagent: "collab_tool_call", "spawn_agent";
    WebSearch: "web_search";
    Mcp: "mcp_tool_call";
}

/// The tools. A session lists none of them.
pub(crate) static TOOLS: Tools = Tools {
    whole_paths: true,
    shell: SHELL,
    reshapes,
    form: Some(DetailShape::Codex),
    answered,
    whole: Some(&WHOLE),
    ..Tools::new(NAMES, args::read, args::write, results::write)
};

/// The same in rollout files and the app-server: they say what is changed in files, and `exec` only in which.
static WHOLE: Tools = Tools {
    whole_paths: true,
    shell: SHELL,
    reshapes,
    form: Some(DetailShape::Codex),
    answered: answered_whole,
    ..Tools::new(NAMES, args::read, args::write_whole, results::write)
};

const SHELL: Shell = Shell {
    has_folder: false,
    keeps_end: true,
    silence: "",
};

fn reshapes(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Shell | ToolKind::Write | ToolKind::Edit)
}

/// How a command ended.
pub(crate) static DETAIL: DetailReader = DetailReader {
    shape: DetailShape::Codex,
    complete: |_| false,
    read: results::read,
};

/// The call in the words of `exec`, which all of the program's formats share, if it is one of these tools and says it otherwise.
pub(super) fn canonical<'a>(call: &ToolCall<'a>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    if Tool::of(&call.name.unescape()).is_some_and(|tool| tool.takes(call.input)) {
        return None;
    }
    if let Some(changes) = model::shown(call.input, arena).filter(|_| call.name.is("apply_patch")) {
        return Some((Str::trusted(FILE_CHANGE), changes));
    }
    args::write(&TOOLS.args(call.name, call.input, arena)?, call.id, Json::like(call.input, arena))
}

/// Tells of the members of a list's objects that have no place.
pub(super) fn lose_others(list: Option<Raw<'_>>, places: &[&str], out: &Out) {
    let members = list.into_iter().flat_map(Raw::elements).flat_map(Raw::members);
    for (_, value) in members.filter(|(name, _)| !places.iter().any(|place| name.is(place))) {
        out.lost(value.as_str(), None, "no place in codex");
    }
}

/// Tells of what the model said of a command besides it: an item has no place for that.
pub(super) fn lose_beside_command(call: &ToolCall<'_>, out: &Out) {
    if TOOLS.kind(&call.name.unescape()) != ToolKind::Shell {
        return;
    }
    for (_, value) in call
        .input
        .members()
        .filter(|(name, _)| !["cmd", "command"].iter().any(|said| name.is(said)))
    {
        out.lost(value.as_str(), None, "no place in codex");
    }
}

/// The call as a line of `exec` says it, which does not tell what was changed in a file.
pub(super) fn in_exec<'a>(call: &ToolCall<'a>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let made = canonical(call, arena);
    let (name, input) = made.unwrap_or((call.name, call.input));
    let Some(changes) = input.get("changes").filter(|_| name.is(FILE_CHANGE)) else {
        return made;
    };
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[');
    let mut more = false;
    for change in changes.elements() {
        let kind = change.get("kind")?;
        more |= kind.string().is_none() || change.get("diff").is_some();
        let kind = kind.string().or_else(|| kind.get("type")?.string())?;
        json.item().mark('{').key("path").raw(change.get("path")?).key("kind").str(kind).mark('}');
    }
    json.mark(']').mark('}');
    (more || made.is_some()).then(|| (name, json.done()))
}

/// The arguments of files that change, with paths from the root on: the model says them from the working folder on.
pub(super) fn whole_paths<'a>(input: Raw<'a>, cwd: &str, arena: &'a Bump) -> Raw<'a> {
    let Some(changes) = input.get("changes").filter(|_| !cwd.is_empty()) else {
        return input;
    };
    let mut json = Json::new(arena);
    json.mark('{').key("changes").mark('[');
    for change in changes.elements() {
        json.item().mark('{');
        for (name, value) in change.members() {
            json.key(&name.unescape());
            match value.string().filter(|path| name.is("path") && !path.as_escaped().starts_with('/')) {
                Some(path) => json.str(Str::trusted(&format!("{cwd}/{}", path.as_escaped()))),
                None => json.raw(value),
            };
        }
        json.mark('}');
    }
    json.mark(']').mark('}');
    json.done()
}

/// The steps of the call's plan, if it writes one.
pub(super) fn plan_of<'a>(call: &ToolCall<'a>, arena: &'a Bump) -> Option<Vec<(Str<'a>, TodoStatus)>> {
    match args::read(TOOLS.kind(&call.name.unescape()), call.input, arena)? {
        Args::Todos { list, .. } => Some(list.iter().map(|step| (step.content, step.status)).collect()),
        _ => None,
    }
}

/// A file that was there is not added.
fn answered_whole<'a>(call: &ToolCall<'a>, args: &Args<'a>, output: ToolOutput<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
    let told = answered(call, args, output, arena)?;
    let Args::Write { path, content } = *args else { return Some(told) };
    let (name, input) = args::replaced(path, content, arena)?;
    Some(ToolCall { name, input, ..told })
}

/// The same, of which no more is told than which file it is.
fn answered<'a>(call: &ToolCall<'a>, args: &Args<'a>, output: ToolOutput<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
    match (output, *args) {
        (ToolOutput::Wrote(change) | ToolOutput::Edited(change), Args::Write { path, .. }) if change.created == Some(false) => {
            let (name, input) = args::change(path, "update", arena);
            let kind = ToolKind::Edit;
            Some(ToolCall { name, input, kind, ..*call })
        }
        _ => None,
    }
}
