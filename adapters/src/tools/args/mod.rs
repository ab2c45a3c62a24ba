//! The arguments of a call, whatever the dialect spells them like.
//!
//! A source's arguments are read into [`Args`], which holds slices of the source, and written in the target's shape.
//! What the target has no member for is left out; what the source does not say is not made up, except for members whose
//! absence and default mean the same and that the target's own program always writes (named beside the code).

mod ask;
mod files;
mod run;
mod search;

use bumpalo::Bump;

use super::names::family_kind;
use super::{Family, Todo};
use crate::event::ToolKind;
use crate::json::{Raw, Str};

pub(super) use ask::{read_todo, read_todos, status_word, write_todo};
pub(super) use files::overwrite;

/// What a call asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Args<'a> {
    Read(Read<'a>),
    Write { path: Str<'a>, content: Str<'a> },
    Edit { path: Str<'a>, change: Change<'a> },
    MultiEdit { path: Str<'a>, changes: &'a [Change<'a>] },
    Shell(Shell<'a>),
    Grep(Grep<'a>),
    Glob { pattern: Str<'a>, path: Option<Str<'a>> },
    List { path: Str<'a>, ignore: Option<Raw<'a>> },
    Delete { path: Str<'a> },
    Todos { list: &'a [Todo<'a>], merge: bool },
    Subagent(Subagent<'a>),
    Fetch { url: Str<'a>, prompt: Option<Str<'a>> },
    WebSearch { query: Str<'a> },
    Mcp { server: Str<'a>, tool: Str<'a>, args: Raw<'a> },
    Ask { questions: Raw<'a>, cursor: bool },
    Plan { plan: Option<Str<'a>> },
}

/// Reading a file or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) path: Str<'a>,
    /// The first line, counted from 1.
    pub(super) start: Option<u64>,
    /// How many lines.
    pub(super) count: Option<u64>,
    /// Pages of a document (Claude, Qwen).
    pub(super) pages: Option<Str<'a>>,
    /// No more than a number of bytes was asked for (Tricode), so what comes may be less than the lines say.
    pub(super) capped: bool,
}

/// One replacement in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    /// What is replaced; Cursor does not say it.
    pub(super) old: Option<Str<'a>>,
    pub(super) new: Str<'a>,
    /// Every occurrence, not only the one.
    pub(super) all: Option<bool>,
}

/// Running a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell<'a> {
    pub(super) command: Str<'a>,
    /// Milliseconds.
    pub(super) timeout: Option<u64>,
    pub(super) description: Option<Str<'a>>,
    pub(super) background: Option<bool>,
    pub(super) directory: Option<Str<'a>>,
}

/// Searching in files. Options that two dialects share are moved as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grep<'a> {
    pub(super) pattern: Str<'a>,
    pub(super) path: Option<Str<'a>>,
    pub(super) glob: Option<Str<'a>>,
    pub(super) mode: Option<Str<'a>>,
    pub(super) ignore_case: Option<bool>,
    pub(super) context: Option<Raw<'a>>,
    pub(super) file_type: Option<Str<'a>>,
    pub(super) limit: Option<Raw<'a>>,
    pub(super) offset: Option<Raw<'a>>,
    pub(super) multiline: Option<bool>,
}

/// Handing work to a subagent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subagent<'a> {
    pub(super) description: Option<Str<'a>>,
    pub(super) prompt: Str<'a>,
    pub(super) agent: Option<Str<'a>>,
    pub(super) background: Option<bool>,
}

impl<'a> Args<'a> {
    /// Reads the arguments of `name` in a dialect; `None` when the tool is not known or its arguments have another shape.
    pub(super) fn read(from: Family, name: Str<'a>, input: Raw<'a>, arena: &'a Bump) -> Option<Self> {
        let plain = name.unescape();
        match family_kind(from, &plain) {
            ToolKind::Read => files::read(from, input),
            ToolKind::Write => files::write(from, input),
            ToolKind::Edit => files::edit(from, input, arena),
            ToolKind::MultiEdit => files::multi_edit(input, arena),
            ToolKind::List => files::list(from, input),
            ToolKind::Delete => files::delete(input),
            ToolKind::Shell => run::shell(from, input),
            ToolKind::Subagent => run::subagent(from, input),
            ToolKind::Mcp => run::mcp(name, input),
            ToolKind::Grep => search::grep(from, input),
            ToolKind::Glob => search::glob(from, input),
            ToolKind::Fetch => search::fetch(input),
            ToolKind::WebSearch => search::web_search(from, input),
            ToolKind::Todo => ask::todos(input, arena),
            ToolKind::Ask => ask::ask(from, input),
            ToolKind::ExitPlan => ask::plan(input),
            ToolKind::Mkdir | ToolKind::Other => None,
        }
    }

    /// The call in a dialect's own words; `None` when it has none for it. `id` is the call's, which Cursor repeats.
    pub(super) fn write(&self, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
        match *self {
            Self::Read(read) => files::write_read(read, to, arena),
            Self::Write { path, content } => files::write_write(path, content, to, arena),
            Self::Edit { path, change } => files::write_edit(path, change, to, arena),
            Self::MultiEdit { path, changes } => files::write_multi_edit(path, changes, to, arena),
            Self::List { path, ignore } => files::write_list(path, ignore, to, id, arena),
            Self::Delete { path } => files::write_delete(path, to, id, arena),
            Self::Shell(shell) => run::write_shell(shell, to, id, arena),
            Self::Subagent(subagent) => run::write_subagent(subagent, to, arena),
            Self::Mcp { server, tool, args } => run::write_mcp(server, tool, args, to, id, arena),
            Self::Grep(grep) => search::write_grep(grep, to, id, arena),
            Self::Glob { pattern, path } => search::write_glob(pattern, path, to, arena),
            Self::Fetch { url, prompt } => search::write_fetch(url, prompt, to, id, arena),
            Self::WebSearch { query } => search::write_web_search(query, to, id, arena),
            Self::Todos { list, merge } => ask::write_todos(list, merge, to, arena),
            Self::Ask { questions, cursor } => ask::write_ask(questions, cursor, to, arena),
            Self::Plan { plan } => ask::write_plan(plan, to, arena),
        }
    }

    /// What it asks for.
    pub(super) const fn kind(&self) -> ToolKind {
        match self {
            Self::Read(_) => ToolKind::Read,
            Self::Write { .. } => ToolKind::Write,
            Self::Edit { .. } => ToolKind::Edit,
            Self::MultiEdit { .. } => ToolKind::MultiEdit,
            Self::Shell(_) => ToolKind::Shell,
            Self::Grep(_) => ToolKind::Grep,
            Self::Glob { .. } => ToolKind::Glob,
            Self::List { .. } => ToolKind::List,
            Self::Delete { .. } => ToolKind::Delete,
            Self::Todos { .. } => ToolKind::Todo,
            Self::Subagent(_) => ToolKind::Subagent,
            Self::Fetch { .. } => ToolKind::Fetch,
            Self::WebSearch { .. } => ToolKind::WebSearch,
            Self::Mcp { .. } => ToolKind::Mcp,
            Self::Ask { .. } => ToolKind::Ask,
            Self::Plan { .. } => ToolKind::ExitPlan,
        }
    }
}

#[cfg(test)]
mod props_tests;
#[cfg(test)]
mod tests;
