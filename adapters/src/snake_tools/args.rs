//! The arguments: first the shapes that several agents share, then those of the set with names in snake case.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::event::ToolKind;
use crate::json::{Raw, Shape, Str};
use crate::tools::args::{Args, Change, Grep, NotebookEdit, Question, Read, Shell, Subagent, Todos};
use crate::tools::json::{Json, array, members, number, optional, whole};

/// Arguments in the shape that several agents give them.
pub(crate) fn common<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    Some(match kind {
        ToolKind::Write => {
            let [path, content] = members(input, ["file_path", "content"])?;
            Args::Write {
                path: path?.string()?,
                content: content?.string()?,
            }
        }
        // Without an old text it makes a file.
        ToolKind::Edit => {
            let [path] = members(input, ["file_path"])?;
            let change = change(input, CHANGE)?;
            Args::Edit {
                path: path?.string()?,
                change: Change {
                    old: Some(change.old.unwrap_or_default()),
                    ..change
                },
            }
        }
        ToolKind::NotebookEdit => {
            let [path, cell, source, cell_type, mode] = members(input, ["notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"])?;
            let word =
                |value: Option<Raw<'a>>, words: &[&str]| optional(value, |value| value.string().filter(|word| words.contains(&word.as_escaped())));
            Args::NotebookEdit(NotebookEdit {
                path: path?.string()?,
                cell: optional(cell, Raw::string)?,
                source: optional(source, Raw::string)?,
                cell_type: word(cell_type, &["code", "markdown"])?,
                mode: word(mode, &["replace", "insert", "delete"])?,
            })
        }
        ToolKind::List => {
            let [path, ignore] = members(input, ["path", "ignore"])?;
            Args::List {
                path: path?.string()?,
                ignore: optional(ignore, array)?,
            }
        }
        ToolKind::Subagent => {
            let [description, prompt, agent, background, model] =
                members(input, ["description", "prompt", "subagent_type", "run_in_background", "model"])?;
            Args::Subagent(Subagent {
                description: optional(description, Raw::string)?,
                prompt: prompt?.string()?,
                agent: optional(agent, Raw::string)?,
                background: optional(background, Raw::bool)?,
                model: optional(model, Raw::string)?,
            })
        }
        ToolKind::Glob => {
            let [pattern, path] = members(input, ["pattern", "path"])?;
            Args::Glob {
                pattern: pattern?.string()?,
                path: optional(path, Raw::string)?,
            }
        }
        ToolKind::Fetch => {
            let [url, prompt] = members(input, ["url", "prompt"])?;
            Args::Fetch {
                url: url?.string()?,
                prompt: optional(prompt, Raw::string)?,
            }
        }
        ToolKind::WebSearch => {
            let [query] = members(input, ["query"])?;
            Args::WebSearch { query: query?.string()? }
        }
        ToolKind::Todo => {
            let [todos, merge] = members(input, ["todos", "merge"])?;
            Args::Todos {
                list: Todos::read(todos?, arena)?,
                merge: optional(merge, Raw::bool)? == Some(true),
            }
        }
        ToolKind::Ask => {
            let [questions] = members(input, ["questions"])?;
            Args::Ask {
                questions: Question::list(array(questions?)?, ["question", "header", "multiSelect", "options"], arena)?,
            }
        }
        ToolKind::ExitPlan => {
            let [plan] = members(input, ["plan"])?;
            Args::Plan {
                plan: optional(plan, Raw::string)?,
            }
        }
        _ => return None,
    })
}

/// The same the other way: the members of a call's arguments, in the shape that several agents give them.
pub(crate) fn write_common(args: &Args<'_>, json: &mut Json<'_>) -> Option<()> {
    match *args {
        Args::Write { path, content } => {
            json.key("file_path").str(path).key("content").str(content);
        }
        // Nobody says what was there: an edit has to name it all the same.
        Args::Edit { path, change } => {
            let old = Some(change.old.unwrap_or_default());
            json.key("file_path").str(path);
            replacement(json, Change { old, ..change }, CHANGE);
        }
        // Some ask for a text also where a cell is deleted.
        Args::NotebookEdit(edit) => {
            json.key("notebook_path").str(edit.path).maybe_str("cell_id", edit.cell);
            json.key("new_source").str(edit.source.unwrap_or_default());
            json.maybe_str("cell_type", edit.cell_type).maybe_str("edit_mode", edit.mode);
        }
        Args::List { path, ignore } => {
            json.key("path").str(path).maybe_raw("ignore", ignore);
        }
        Args::Subagent(call) => {
            json.key("description").str(call.description.unwrap_or_else(|| beginning(call.prompt)));
            json.key("prompt").str(call.prompt).maybe_str("subagent_type", call.agent);
            json.maybe_bool("run_in_background", call.background);
        }
        Args::Glob { pattern, path } => {
            json.key("pattern").str(pattern).maybe_str("path", path);
        }
        Args::Fetch { url, prompt } => {
            // Who does not ask anything wants to read the page.
            json.key("url").str(url).key("prompt").str(prompt.unwrap_or(Str::trusted(READ_IT)));
        }
        Args::WebSearch { query } => {
            json.key("query").str(query);
        }
        Args::Ask { questions } => {
            json.key("questions");
            ask(json, questions);
        }
        Args::Plan { plan } => {
            json.maybe_str("plan", plan);
        }
        _ => return None,
    }
    Some(())
}

/// What a page is asked when the source only fetches it.
const READ_IT: &str = "Give the text of the page.";

/// The beginning of a text, as a headline of it: its first words.
fn beginning(text: Str<'_>) -> Str<'_> {
    const MOST: usize = 48;
    let body = text.as_escaped();
    let line = &body[..body.find('\\').unwrap_or(body.len())];
    let end = match line.char_indices().nth(MOST) {
        None => line.len(),
        Some((end, _)) => line[..end].rfind(' ').unwrap_or(end),
    };
    Str::trusted(line[..end].trim_end())
}

/// Every member but `multiSelect` is required: what nobody says is the next best thing that is known.
fn ask(json: &mut Json<'_>, questions: &[Question<'_>]) {
    json.mark('[');
    for question in questions {
        json.item().mark('{').key("question").str(question.text);
        json.key("header").str(question.head.unwrap_or_else(|| beginning(question.text)));
        json.key("options").mark('[');
        for choice in question.options {
            json.item().mark('{').key("label").str(choice.label);
            json.key("description").str(choice.description.unwrap_or(choice.label)).mark('}');
        }
        json.mark(']').key("multiSelect").bool(question.several.unwrap_or(false)).mark('}');
    }
    json.mark(']');
}

const CHANGE: [&str; 3] = ["old_string", "new_string", "replace_all"];

/// One replacement, by the names of its three members.
pub(crate) fn change<'a>(value: Raw<'a>, names: [&str; 3]) -> Option<Change<'a>> {
    let [old, new, all] = members(value, names)?;
    Some(Change {
        old: optional(old, Raw::string)?,
        new: new?.string()?,
        all: optional(all, Raw::bool)?,
    })
}

/// A list of them.
pub(crate) fn changes<'a>(list: Raw<'a>, names: [&str; 3], arena: &'a Bump) -> Option<&'a [Change<'a>]> {
    let mut changes = BumpVec::new_in(arena);
    for value in array(list)?.elements() {
        changes.push(change(value, names)?);
    }
    Some(changes.into_bump_slice())
}

pub(crate) fn replacement(json: &mut Json<'_>, change: Change<'_>, [old, new, all]: [&str; 3]) {
    json.maybe_str(old, change.old).key(new).str(change.new).maybe_bool(all, change.all);
}

/// What every search in files is asked for in the same words.
pub(crate) fn grep<'a>(input: Raw<'a>) -> Option<Grep<'a>> {
    let [pattern, path, glob, file_type, multiline, offset] = members(input, ["pattern", "path", "glob", "type", "multiline", "offset"])?;
    Some(Grep {
        pattern: pattern?.string()?,
        path: optional(path, Raw::string)?,
        glob: optional(glob, Raw::string)?,
        file_type: optional(file_type, Raw::string)?,
        offset: optional(offset, number)?,
        multiline: optional(multiline, Raw::bool)?,
        ..Grep::default()
    })
}

/// `mcp__SERVER__TOOL`.
pub(crate) fn mcp<'a>(name: Str<'a>, input: Raw<'a>) -> Option<Args<'a>> {
    let (server, tool) = name.as_escaped().strip_prefix("mcp__")?.split_once("__")?;
    if name.has_escapes() || server.is_empty() || tool.is_empty() || input.shape() != Some(Shape::Object) {
        return None;
    }
    Some(Args::Mcp {
        server: Str::trusted(server),
        tool: Str::trusted(tool),
        args: input,
    })
}

pub(crate) fn mcp_name<'a>(server: Str<'_>, tool: Str<'_>, arena: &'a Bump) -> Str<'a> {
    let name = bumpalo::format!(in arena, "mcp__{}__{}", server.as_escaped(), tool.as_escaped());
    Str::trusted(name.into_bump_str())
}

/// The arguments of the set.
pub(super) fn read<'a>(kind: ToolKind, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
    match kind {
        ToolKind::Read => read_file(input),
        ToolKind::Shell => {
            let [command, background, timeout, description, directory] =
                members(input, ["command", "is_background", "timeout", "description", "directory"])?;
            Some(Args::Shell(Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                directory: optional(directory, Raw::string)?,
            }))
        }
        ToolKind::Grep => {
            // `include` is the older name of `glob`.
            let [include, limit] = members(input, ["include", "limit"])?;
            let grep = grep(input)?;
            Some(Args::Grep(Grep {
                glob: match grep.glob {
                    Some(glob) => Some(glob),
                    None => optional(include, Raw::string)?,
                },
                limit: optional(limit, number)?,
                ..grep
            }))
        }
        kind => common(kind, input, arena),
    }
}

/// Lines are counted from 0, as the tool's own description says; the program takes an offset without a limit, though the
/// description asks for both. `absolute_path` is the name of older versions, `path` that of the Chat Completion format's examples.
fn read_file<'a>(input: Raw<'a>) -> Option<Args<'a>> {
    let [path, old, short, offset, limit, pages] = members(input, ["file_path", "absolute_path", "path", "offset", "limit", "pages"])?;
    Some(Args::Read(Read {
        path: path.or(old).or(short)?.string()?,
        start: optional(offset, |line| whole(line)?.checked_add(1))?,
        count: optional(limit, whole)?,
        pages: optional(pages, Raw::string)?,
        capped: false,
    }))
}

/// A time limit that no more can be said of: ten minutes.
pub(crate) const LONGEST: u64 = 600_000;

/// Several edits at once and deleting are missing.
pub(super) fn write<'a>(args: &Args<'a>, _: Str<'_>, mut json: Json<'a>) -> Option<(Str<'a>, Raw<'a>)> {
    let arena = json.arena();
    json.mark('{');
    match *args {
        Args::Read(read) => {
            json.key("file_path")
                .str(read.path)
                .maybe_number("offset", read.start.map(|line| line.saturating_sub(1)));
            json.maybe_number("limit", read.count).maybe_str("pages", read.pages);
        }
        // `is_background` is required.
        Args::Shell(shell) => {
            json.key("command").str(shell.command).key("is_background");
            json.bool(shell.background.unwrap_or(false)).maybe_number("timeout", shell.limit(LONGEST));
            json.maybe_str("description", shell.description).maybe_str("directory", shell.directory);
        }
        Args::Grep(grep) => {
            json.key("pattern").str(grep.pattern).maybe_str("path", grep.path);
            json.maybe_str("glob", grep.glob).maybe_raw("limit", grep.limit);
        }
        Args::Todos { list, merge: false } => {
            json.key("todos").mark('[');
            for (index, todo) in list.going_on().enumerate() {
                json.item().mark('{');
                todo.write_id(&mut json, index);
                json.key("content").str(todo.content).key("status").plain(todo.status.word()).mark('}');
            }
            json.mark(']');
        }
        Args::Plan { plan } => {
            json.key("plan").str(plan.unwrap_or_default());
        }
        Args::Mcp { server, tool, args } => return Some((mcp_name(server, tool, arena), args)),
        ref args => write_common(args, &mut json)?,
    }
    json.mark('}');
    Some((Str::trusted(super::TOOLS.name(args.kind())?), json.done()))
}
