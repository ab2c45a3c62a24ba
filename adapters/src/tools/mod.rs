//! What a tool call means, and what each agent calls it.
//!
//! Each agent's folder has its [`Tools`]: names, and the ways from and to the canonical forms. A call is read into what it asks for
//! ([`Args`](args::Args)) and written in the target's words; a result is read into what it [shows](ToolOutput) and written in the
//! target's shape. Texts, paths and other values move as they were written; only what has to be worked out (numbers in other units,
//! diffs, numbered lines) is made anew. A call stays in its source's words when its arguments do not have the shape that they should
//! have, and when the target has nothing that means the same. docs/tools.md says what that comes to for each pair.

pub mod args;
pub(crate) mod diff;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod output;
pub(crate) mod reshaped;
pub(crate) mod result;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
pub(crate) mod told;

use std::cell::Cell;

use bumpalo::Bump;

/// The memory that a translated call lives in.
pub use bumpalo::Bump as Arena;

use crate::codec::{Dialect, Format, Layout};
use crate::event::{ResultStatus, ToolCall, ToolKind, ToolResult};
use crate::json::{Out, Raw, Str};
use args::{Args, NotebookEdit, Read, Todo, TodoStatus, Todos};
use json::Json;

pub use output::{FileChange, FileRead, ShellRun, SubagentRun, ToolOutput, output};
pub(crate) use table::any_kind;
pub use table::{Tools, kind_of};

/// From one dialect's tools to another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translate {
    /// Whose tools the calls name.
    pub from: Dialect,
    /// Whose tools they are to name.
    pub to: Dialect,
    cd: bool,
    whole: bool,
    /// The target is what a program keeps of a session.
    store: bool,
    /// A line may ask.
    asks: bool,
    /// The working folder, as the body of a JSON string; empty while it is not known.
    folder: String,
    /// A path was meant from there.
    from_folder: Cell<bool>,
    /// The list of things to do as the source last showed it, for calls that change one thing of it.
    list: Vec<(String, TodoStatus)>,
}

impl Translate {
    /// Nothing is known yet but whose calls they are.
    pub const fn new(from: Dialect, to: Dialect) -> Self {
        Self {
            from,
            to,
            cd: false,
            whole: false,
            store: false,
            asks: true,
            folder: String::new(),
            from_folder: Cell::new(false),
            list: Vec::new(),
        }
    }

    /// With `cd`, the folder in which a command runs goes into the command (`cd FOLDER && …`) where the target has no other place for it.
    #[must_use]
    pub fn with_cd(self, cd: bool) -> Self {
        Self { cd, ..self }
    }

    /// The calls are for this format, which may say all that they ask for ([`Format::has_whole_calls`]), or only what was said and done.
    #[must_use]
    pub(crate) fn for_format(self, format: Format) -> Self {
        Self {
            whole: format.has_whole_calls(),
            store: format.is_store(),
            asks: !format.is_store() && format.mode.layout != Layout::Document,
            ..self
        }
    }

    /// Whether the target has a line that asks whether a call may run.
    pub(crate) fn asks(&self) -> bool {
        self.asks && self.to.conduct().can_ask()
    }

    /// The session works in this folder: relative paths are meant from there.
    pub(crate) fn in_folder(&mut self, folder: Str<'_>) {
        folder.as_escaped().clone_into(&mut self.folder);
    }

    /// Whether paths that are meant from the folder go over with it.
    pub(crate) fn says_folder(&self) -> bool {
        self.ends().is_some_and(|(_, to)| to.whole_paths)
    }

    /// Whether one has since this was asked last.
    pub(crate) fn said_folder(&self) -> bool {
        self.from_folder.take()
    }

    /// A call has its result, which may show the list of things to do.
    pub(crate) fn follow(&mut self, call: &ToolCall<'_>, result: &ToolResult<'_>, arena: &Bump) {
        let Some((from, _)) = self.ends() else { return };
        if call.kind != ToolKind::Todo || result.status != ResultStatus::Success {
            return;
        }
        let Some(ToolOutput::Todos(shown)) = (from.texts.todos)(texts::joined(result.content, arena), arena) else {
            return;
        };
        // What is shown of a thing may be more than what it was called with.
        let asked = match self.args(from, call.name, call.input, arena) {
            Some(Args::Todos { list, .. }) if list.len() == shown.len() => list,
            _ => shown,
        };
        let todos = asked.iter().zip(shown.iter());
        self.list = todos
            .map(|(asked, shown)| (asked.content.as_escaped().to_owned(), shown.status))
            .collect();
    }

    /// The call in the target's own name and arguments; `None` when it stays as it is.
    pub fn call<'a>(&self, call: &ToolCall<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
        let (args, words) = self.words(call.name, call.input, call.id, arena)?;
        in_words(call, &args, words)
    }

    /// What of a call's arguments its name may say in the target: the server and the tool.
    pub(crate) fn in_name<'a>(&self, call: &ToolCall<'a>, arena: &'a Bump) -> Option<[Str<'a>; 2]> {
        match self.ends()?.0.args(call.name, call.input, arena)? {
            Args::Mcp { server, tool, .. } => Some([server, tool]),
            _ => None,
        }
    }

    /// What a call asks for, and how the target says it.
    fn words<'a>(&self, name: Str<'a>, input: Raw<'a>, id: Str<'_>, arena: &'a Bump) -> Option<(Args<'a>, (Str<'a>, Raw<'a>))> {
        let (from, to) = self.ends()?;
        let args = self.args(from, name, input, arena)?;
        self.if_said(|| {
            let args = self.fitted(args, to, arena);
            let words = (to.write)(&args, id, Json::like(input, arena))?;
            Some((args, words))
        })
    }

    /// Of what does not come to be no path has gone over.
    fn if_said<T>(&self, make: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.from_folder.get();
        let made = make();
        if made.is_none() {
            self.from_folder.set(before);
        }
        made
    }

    /// Whether only the result of a call tells what to call it: an edit of which nobody says yet what it replaces, for an agent
    /// whose edits say it.
    pub(crate) fn waits(&self, call: &ToolCall<'_>, arena: &Bump) -> bool {
        call.kind == ToolKind::Edit
            && self.ends().is_some_and(|(from, to)| {
                let args = to.names_old.then(|| from.args(call.name, call.input, arena)).flatten();
                matches!(args, Some(Args::Edit { change, .. }) if change.old.is_none())
            })
    }

    fn args<'a>(&self, from: &Tools, name: Str<'a>, input: Raw<'a>, arena: &'a Bump) -> Option<Args<'a>> {
        from.args(name, input, arena).or_else(|| {
            // One thing of the list changes: the list goes over as it is then.
            let (number, status) = (from.texts.progress)(&name.unescape(), input)?;
            let at = usize::try_from(number).ok()?.checked_sub(1).filter(|at| *at < self.list.len())?;
            let todo = |(n, (content, before)): (usize, &(String, TodoStatus))| Todo {
                id: None,
                content: Str::trusted(arena.alloc_str(content)),
                status: if n == at { status } else { *before },
                active: None,
            };
            Some(Args::Todos {
                list: Todos::made(arena.alloc_slice_fill_iter(self.list.iter().enumerate().map(todo))),
                merge: false,
            })
        })
    }

    /// What a call asks for, as far as it is said otherwise to the target's tools whatever these are called.
    fn fitted<'a>(&self, args: Args<'a>, to: &Tools, arena: &'a Bump) -> Args<'a> {
        let whole = |path| {
            let whole = if to.whole_paths { absolute(path, &self.folder, arena) } else { path };
            self.from_folder.set(self.from_folder.get() || whole != path);
            whole
        };
        match args {
            Args::Read(read) => Args::Read(Read {
                path: whole(read.path),
                ..read
            }),
            Args::Write { path, content } => Args::Write { path: whole(path), content },
            // An edit without an old text makes the file.
            Args::Edit { path, change } if change.old.is_some_and(Str::is_empty) => Args::Write {
                path: whole(path),
                content: change.new,
            },
            Args::Edit { path, change } => Args::Edit { path: whole(path), change },
            Args::MultiEdit { path, changes } => Args::MultiEdit { path: whole(path), changes },
            Args::NotebookEdit(edit) => Args::NotebookEdit(NotebookEdit {
                path: whole(edit.path),
                ..edit
            }),
            Args::List { path, ignore } => Args::List { path: whole(path), ignore },
            Args::Shell(shell) if self.cd && !to.shell.has_folder => Args::Shell(shell.with_cd(arena)),
            args => args,
        }
    }

    /// The result in the target's own shape, and its call in the target's own words; `None` for what stays as it is. `call` is the
    /// call as the source made it. Some calls can only be told when the result is known too, as where there are two names
    /// for writing a file, one for a new file and one for a file that is there.
    pub fn result<'a>(&self, call: &ToolCall<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> (Option<ToolCall<'a>>, Option<ToolResult<'a>>) {
        result::result(self, call, result, arena)
    }

    /// A session's list of tools as the target lists them: an array of names, also where the source has them in one text with
    /// blanks between them. `None` when nothing changes. Names that nobody else knows stay; two tools that are one in the target
    /// are listed once. Not every agent lists its tools.
    pub fn list<'a>(&self, tools: Raw<'a>, arena: &'a Bump) -> Option<Raw<'a>> {
        let (from, to) = self.ends()?;
        // No program keeps it.
        let listed = to.listed.filter(|_| !self.store)?;
        let mut list = String::with_capacity(2 * tools.as_str().len());
        list.push('[');
        let mut changed = false;
        let mut seen: Vec<&str> = Vec::with_capacity(32);
        let elements = tools.strings().map(Str::as_escaped);
        let words = tools
            .string()
            .map_or("", Str::as_escaped)
            .split([' ', ','])
            .filter(|name| !name.is_empty());
        for name in elements.chain(words) {
            let native = match from.kind(&Str::trusted(name).unescape()) {
                ToolKind::Other => None,
                kind => {
                    let other = listed.iter().find(|(of, _)| *of == kind).map(|(_, name)| *name);
                    other.or_else(|| to.name(kind))
                }
            };
            let name = native.unwrap_or(name);
            changed |= native.is_some();
            if !seen.contains(&name) {
                seen.push(name);
                list.push_str(if list.len() > 1 { ",\"" } else { "\"" });
                list.push_str(name);
                list.push('"');
            }
        }
        list.push(']');
        // Names are strings that were checked.
        changed.then(|| Raw::checked(arena.alloc_str(&list)))
    }

    /// What an outcome says of refused calls (`[{tool_name,tool_use_id,tool_input}]`), with the target's own names and arguments;
    /// `None` when nothing changes.
    pub(crate) fn refused<'a>(&self, denials: Raw<'a>, arena: &'a Bump, out: &Out) -> Option<Raw<'a>> {
        self.ends().filter(|_| !self.store && self.to.vendor().logs.lists_denials)?;
        let mut list = String::from("[");
        let mut changed = false;
        for denial in denials.elements() {
            if list.len() > 1 {
                list.push(',');
            }
            let parts = json::members(denial, ["tool_name", "tool_use_id", "tool_input"]);
            let call = parts.and_then(|[name, id, input]| {
                let name = name?.string()?;
                let id = id?.string()?;
                let call = ToolCall {
                    id,
                    name,
                    kind: kind_of(self.from, name),
                    input: input?,
                    fields: &[],
                };
                Some((call, self.call(&call, arena)?))
            });
            match call {
                Some((denied, call)) => {
                    changed = true;
                    out.used(call.id.as_escaped());
                    self.tell(&denied, &call, None, out);
                    for part in [
                        "{\"tool_name\":\"",
                        call.name.as_escaped(),
                        "\",\"tool_use_id\":\"",
                        call.id.as_escaped(),
                        "\",\"tool_input\":",
                        call.input.as_str(),
                        "}",
                    ] {
                        list.push_str(part);
                    }
                }
                None => {
                    out.used(denial.as_str());
                    list.push_str(denial.as_str());
                }
            }
        }
        list.push(']');
        changed.then(|| Raw::trusted(arena.alloc_str(&list)))
    }

    /// Both ends, if they have tools of their own that differ.
    fn ends(&self) -> Option<(&'static Tools, &'static Tools)> {
        let (from, to) = (Tools::of(self.from)?, Tools::of(self.to)?);
        let whole = to.whole.filter(|_| self.whole);
        (!from.is(to)).then_some((from, whole.unwrap_or(to)))
    }
}

/// A path from the root on: `path` itself if it is one, or if nobody knows from where it is meant.
fn absolute<'a>(path: Str<'a>, folder: &str, arena: &'a Bump) -> Str<'a> {
    let mut rest = path.as_escaped();
    let bytes = rest.as_bytes();
    let is_drive = bytes.get(1) == Some(&b':') && bytes[0].is_ascii_alphabetic();
    // A backslash begins an escape: of a slash, or of a share's name.
    if folder.is_empty() || rest.is_empty() || is_drive || matches!(bytes[0], b'/' | b'\\' | b'~') {
        return path;
    }
    let mut base = folder;
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below.trim_start_matches('/');
        } else if let (Some(above), Some((parent, _))) = (rest.strip_prefix("../"), base.trim_end_matches('/').rsplit_once('/')) {
            (rest, base) = (above, parent);
        } else {
            break;
        }
    }
    let rest = if rest == "." { "" } else { rest };
    let base = base.trim_end_matches('/');
    let slash = if rest.is_empty() && !base.is_empty() { "" } else { "/" };
    Str::trusted(bumpalo::format!(in arena, "{}{}{}", base, slash, rest).into_bump_str())
}

/// A call in other words; `None` if they are its own.
fn in_words<'a>(call: &ToolCall<'a>, args: &Args<'a>, (name, input): (Str<'a>, Raw<'a>)) -> Option<ToolCall<'a>> {
    // The same arguments in another order stay as they were written.
    let same = input.as_str().len() == call.input.as_str().len() && input.same_value(call.input);
    let input = if same { call.input } else { input };
    (!same || name != call.name).then_some(ToolCall {
        name,
        kind: args.kind(),
        input,
        ..*call
    })
}
