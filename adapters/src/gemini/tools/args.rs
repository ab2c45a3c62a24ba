//! The arguments of Gemini CLI's tools.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::event::ToolKind;
use crate::json::{Raw, Str};
use crate::snake_tools::{change, common, mcp_name, write_common};
use crate::tools::args::{Args, Change, Grep, Question, Read, Shell, Subagent, Todo, TodoStatus, Todos};
use crate::tools::json::{Json, array, members, number, optional, whole};

/// The arguments of a call. Names that older versions had are read too (`absolute_path`, `path`, `directory`, `include` …).
pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    match kind {
        ToolKind::Read => read_file(input),
        ToolKind::Edit => edit(input),
        ToolKind::Shell => {
            let [command, description, background, folder, old] =
                members(input, ["command", "description", "is_background", "dir_path", "directory"])?;
            Some(Args::Shell(Shell {
                command: command?.string()?,
                timeout: None,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                directory: optional(folder.or(old), Raw::string)?,
            }))
        }
        ToolKind::Grep => grep(input),
        ToolKind::Glob => {
            let [pattern, folder, old] = members(input, ["pattern", "dir_path", "path"])?;
            Some(Args::Glob {
                pattern: pattern?.string()?,
                path: optional(folder.or(old), Raw::string)?,
            })
        }
        ToolKind::List => {
            let [folder, old, ignore] = members(input, ["dir_path", "path", "ignore"])?;
            Some(Args::List {
                path: folder.or(old)?.string()?,
                ignore: optional(ignore, array)?,
            })
        }
        ToolKind::Todo => {
            let [todos] = members(input, ["todos"])?;
            Some(Args::Todos {
                list: Todos::made(todo_list(todos?, arena)?),
                merge: false,
            })
        }
        ToolKind::Subagent => {
            let [agent, prompt] = members(input, ["agent_name", "prompt"])?;
            Some(Args::Subagent(Subagent {
                prompt: prompt?.string()?,
                agent: optional(agent, Raw::string)?,
                ..Subagent::default()
            }))
        }
        ToolKind::Fetch => {
            let [prompt, url] = members(input, ["prompt", "url"])?;
            match url {
                Some(url) => Some(Args::Fetch {
                    url: url.string()?,
                    prompt: optional(prompt, Raw::string)?,
                }),
                None => Some(fetch(prompt?.string()?)),
            }
        }
        ToolKind::Ask => {
            let [questions] = members(input, ["questions"])?;
            Some(Args::Ask {
                questions: Question::list(array(questions?)?, ["question", "header", "multiSelect", "options"], arena)?,
            })
        }
        ToolKind::Write | ToolKind::WebSearch => common(kind, input, arena),
        _ => None,
    }
}

/// Lines are counted from 1, and the last one is included; older versions counted from 0 (`offset`) and said how many (`limit`).
fn read_file(input: Raw<'_>) -> Option<Args<'_>> {
    let [path, old, start, end, offset, limit] = members(input, ["file_path", "absolute_path", "start_line", "end_line", "offset", "limit"])?;
    let offset = optional(offset, |line| whole(line)?.checked_add(1))?;
    let start = optional(start, whole)?.or(offset);
    let upto = |end: Raw<'_>| whole(end)?.checked_add(1)?.checked_sub(start.unwrap_or(1));
    Some(Args::Read(Read {
        path: path.or(old)?.string()?,
        start,
        count: optional(end, upto)?.or(optional(limit, whole)?),
        ..Read::default()
    }))
}

/// Older versions said how many times the text had to be there.
fn edit(input: Raw<'_>) -> Option<Args<'_>> {
    let [path, times] = members(input, ["file_path", "expected_replacements"])?;
    let change = change(input, ["old_string", "new_string", "allow_multiple"])?;
    let several = optional(times, whole)?.map(|times| times > 1);
    Some(Args::Edit {
        path: path?.string()?,
        // Without an old text it makes a file.
        change: Change {
            old: Some(change.old.unwrap_or_default()),
            all: change.all.or(several.filter(|several| *several)),
            ..change
        },
    })
}

/// Small and capital letters are the same unless the call says otherwise.
fn grep(input: Raw<'_>) -> Option<Args<'_>> {
    let [pattern, folder, path, glob, old, names] = members(input, ["pattern", "dir_path", "path", "include_pattern", "include", "names_only"])?;
    let [exact, context, before, after, limit] = members(input, ["case_sensitive", "context", "before", "after", "total_max_matches"])?;
    let names = optional(names, Raw::bool)?;
    Some(Args::Grep(Grep {
        pattern: pattern?.string()?,
        path: optional(folder.or(path), Raw::string)?,
        glob: optional(glob.or(old), Raw::string)?,
        mode: names.filter(|names| *names).map(|_| Str::trusted(NAMES_ONLY)),
        ignore_case: optional(exact, Raw::bool)?.map(|exact| !exact),
        context: optional(context, number)?,
        before: optional(before, number)?,
        after: optional(after, number)?,
        limit: optional(limit, number)?,
        ..Grep::default()
    }))
}

/// The mode of a search that gives names alone.
const NAMES_ONLY: &str = "files_with_matches";

/// A thing that waits for another is not begun elsewhere.
fn todo_list<'a>(todos: Raw<'a>, arena: &'a Bump) -> Option<&'a [Todo<'a>]> {
    let mut list = BumpVec::new_in(arena);
    for todo in array(todos)?.elements() {
        let [content, status] = members(todo, ["description", "status"])?;
        let word = status?.string()?;
        list.push(Todo {
            id: None,
            content: content?.string()?,
            status: if word.is("blocked") {
                TodoStatus::Pending
            } else {
                TodoStatus::read(word)?
            },
            active: None,
        });
    }
    Some(list.into_bump_slice())
}

/// The addresses stand in the prompt. One that stands before it is not said again.
fn fetch(said: Str<'_>) -> Args<'_> {
    let body = said.as_escaped();
    let found = ["http://", "https://"].into_iter().filter_map(|scheme| body.find(scheme)).min();
    let at = found.unwrap_or(0);
    let url = &body[at..];
    let end = found
        .and_then(|_| url.find([' ', '\\', '"', '<', '>', ')', ']', '`', '\'']))
        .unwrap_or(url.len());
    let (url, behind) = url.split_at(end);
    let prompt = match (at, behind.strip_prefix(' ')) {
        _ if at == 0 && behind.is_empty() => None,
        (0, Some(prompt)) => Some(prompt),
        _ => Some(body),
    };
    Args::Fetch {
        url: Str::trusted(url),
        prompt: prompt.map(Str::trusted),
    }
}

/// `mcp_SERVER_TOOL`: names of servers hold no `_`, as the program's documentation demands, for nobody could tell where they end.
pub(in super::super) fn mcp(name: Str<'_>) -> Option<(Str<'_>, Str<'_>)> {
    let (server, tool) = name.as_escaped().strip_prefix("mcp_")?.split_once('_')?;
    let sound = !server.is_empty() && !tool.is_empty() && !name.has_escapes();
    sound.then(|| (Str::trusted(server), Str::trusted(tool)))
}

/// Several edits at once, deleting, and plans to approve are missing.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    match *args {
        Args::Read(read) => {
            let end = read.count.and_then(|count| read.start.unwrap_or(1).checked_add(count)?.checked_sub(1));
            json.key("file_path").str(read.path).maybe_number("start_line", read.start);
            json.maybe_number("end_line", end);
        }
        // What an edit is for has to be said.
        Args::Edit { path, change } => {
            json.key("file_path").str(path).key("instruction").lit(INSTRUCTION);
            json.key("old_string").str(change.old.unwrap_or_default());
            json.key("new_string").str(change.new).maybe_bool("allow_multiple", change.all);
        }
        Args::Shell(shell) => {
            json.key("command").str(shell.command).maybe_str("description", shell.description);
            json.maybe_str("dir_path", shell.directory).maybe_bool("is_background", shell.background);
        }
        Args::Grep(grep) => {
            json.key("pattern").str(grep.pattern).maybe_str("dir_path", grep.path);
            json.maybe_str("include_pattern", grep.glob);
            json.maybe_bool("names_only", grep.mode.filter(|mode| mode.is(NAMES_ONLY)).map(|_| true));
            json.maybe_bool("case_sensitive", grep.ignore_case.map(|same| !same));
            json.maybe_raw("context", grep.context).maybe_raw("after", grep.after);
            json.maybe_raw("before", grep.before).maybe_raw("total_max_matches", grep.limit);
        }
        Args::Glob { pattern, path } => {
            json.key("pattern").str(pattern).maybe_str("dir_path", path);
        }
        Args::List { path, ignore } => {
            json.key("dir_path").str(path).maybe_raw("ignore", ignore);
        }
        Args::Todos { list, merge: false } => {
            json.key("todos").mark('[');
            for todo in list.iter() {
                json.item().mark('{').key("description").str(todo.content);
                json.key("status").plain(todo.status.word()).mark('}');
            }
            json.mark(']');
        }
        Args::Subagent(call) => {
            json.key("agent_name").str(call.agent.unwrap_or(Str::trusted(ANY_AGENT)));
            json.key("prompt").str(call.prompt);
        }
        Args::Fetch { url, prompt } => {
            json.key("prompt").str(with_url(url, prompt, arena));
        }
        Args::Ask { questions } => ask(&mut json, questions),
        Args::Mcp { server, tool, args } => {
            let plain = !server.as_escaped().contains('_') && !server.is_empty() && !tool.is_empty();
            let own = || Str::trusted(bumpalo::format!(in arena, "mcp_{}_{}", server.as_escaped(), tool.as_escaped()).into_bump_str());
            return Some((if plain { own() } else { mcp_name(server, tool, arena) }, args));
        }
        Args::Write { .. } | Args::WebSearch { .. } => write_common(args, &mut json)?,
        Args::MultiEdit { .. } | Args::NotebookEdit(_) | Args::Delete { .. } | Args::Todos { .. } | Args::Plan { .. } => return None,
    }
    json.mark('}');
    Some((Str::trusted(super::TOOLS.name(args.kind())?), json.done()))
}

/// What an edit is for when the source does not say it.
const INSTRUCTION: &str = "\"Replace the text.\"";
/// The agent that takes any task.
const ANY_AGENT: &str = "generalist";

/// What is asked about a page, with its address.
fn with_url<'a>(url: Str<'a>, prompt: Option<Str<'a>>, arena: &'a Bump) -> Str<'a> {
    match prompt {
        None => url,
        Some(prompt) if prompt.as_escaped().contains(url.as_escaped()) => prompt,
        Some(prompt) => Str::trusted(bumpalo::format!(in arena, "{} {}", url.as_escaped(), prompt.as_escaped()).into_bump_str()),
    }
}

/// A question with answers to choose from is of another type than one without.
fn ask(json: &mut Json<'_>, questions: &[Question<'_>]) {
    json.key("questions").mark('[');
    for question in questions {
        json.item().mark('{').key("question").str(question.text);
        json.key("header").str(question.head.unwrap_or_default()).key("type");
        json.plain(if question.options.is_empty() { "text" } else { "choice" });
        if !question.options.is_empty() {
            json.key("options").mark('[');
            for choice in question.options {
                json.item().mark('{').key("label").str(choice.label);
                json.key("description").str(choice.description.unwrap_or(choice.label)).mark('}');
            }
            json.mark(']');
        }
        json.maybe_bool("multiSelect", question.several).mark('}');
    }
    json.mark(']');
}
