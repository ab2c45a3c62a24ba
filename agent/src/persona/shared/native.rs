//! The frame of a persona's tool: its arguments are held against its schema and read into the canonical ones by the dialect's own reader;
//! by those it is judged, shown and run.

use std::fmt::Debug;
use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::args::{Wrong, check};
use crate::tools::notebook::{CellChange, Mode};
use crate::tools::read::Window;
use crate::tools::work::blocking;
use crate::tools::{Access, Cx, Given, ShellCommand, Spec, Tool, edit, write};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::json::{Raw, Str};
use agentglot_adapters::raw::tools::args::{Args, Change, NotebookEdit, Read, Shell};
use agentglot_adapters::raw::tools::{Arena, Tools};

/// Runs the tools of a dialect, and says in its words what came of it.
#[async_trait(?Send)]
pub(in crate::persona) trait Run: Debug {
    /// Runs a call. `input` is what the canonical arguments were read from, for members that nobody else has.
    async fn run(&self, args: &Args<'_>, input: &Value, cx: &Cx<'_>) -> Given;

    /// Runs a call of a tool that no other agent has the like of: there are no canonical arguments.
    async fn run_own(&self, spec: &Spec, input: &Value, cx: &Cx<'_>) -> Given {
        let _ = (input, cx);
        Given::error(format!("The arguments of {} cannot be read.", spec.name))
    }

    /// A command as permissions are asked for it.
    fn asked(&self, shell: &Shell<'_>) -> ShellCommand {
        ShellCommand {
            line: plain(shell.command),
            ..ShellCommand::default()
        }
    }

    /// What such a call touches.
    fn access_own(&self, input: &Value) -> Access {
        let _ = input;
        Access::Nothing
    }
}

/// What is said of arguments that do not fit a tool's schema.
pub(in crate::persona) type Invalid = fn(&Spec, &[Wrong]) -> Given;

/// The tools of a dialect that are told so.
pub(in crate::persona) fn tools<R: Run + 'static>(
    dialect: Dialect,
    invalid: Invalid,
    specs: impl IntoIterator<Item = Spec>,
    run: R,
) -> Vec<Rc<dyn Tool>> {
    let run = Rc::new(run);
    let tool = |spec| {
        let run = Rc::clone(&run);
        Rc::new(NativeTool { dialect, invalid, spec, run }) as Rc<dyn Tool>
    };
    specs.into_iter().map(tool).collect()
}

/// One such tool.
pub(in crate::persona) fn tool<R: Run + 'static>(dialect: Dialect, invalid: Invalid, spec: Spec, run: R) -> Rc<dyn Tool> {
    let run = Rc::new(run);
    Rc::new(NativeTool { dialect, invalid, spec, run })
}

/// The result of a call of a tool that is not among those that are run there: specs and what runs them do not agree.
pub(in crate::persona) fn stray() -> Given {
    Given::error("This tool cannot be run.")
}

/// The plain text of a canonical argument.
pub(in crate::persona) fn plain(text: Str<'_>) -> String {
    text.unescape().into_owned()
}

/// The folder that a search goes through, as the model wrote it: the working folder if it wrote none.
pub(in crate::persona) fn folder(path: Option<Str<'_>>) -> String {
    path.filter(|path| !path.is_empty()).map_or_else(|| ".".to_owned(), plain)
}

/// A number that a search is asked for.
pub(in crate::persona) fn number(number: Option<Raw<'_>>) -> Option<usize> {
    number?.u64().map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

/// The texts of a list.
pub(in crate::persona) fn texts(list: Option<Raw<'_>>) -> Vec<String> {
    let texts = list.into_iter().flat_map(Raw::elements).filter_map(Raw::string);
    texts.map(plain).collect()
}

/// The part of a file that a call reads: of `lines`, unless it asks for another number, and at most of `bytes`.
pub(in crate::persona) fn window(asked: &Read<'_>, lines: u64, bytes: usize) -> Window {
    Window {
        first: asked.start.unwrap_or(1),
        lines: Some(asked.count.unwrap_or(lines)),
        bytes,
        hash: false,
    }
}

/// A change of a notebook's cell, as it is made.
pub(in crate::persona) fn cell_change(asked: &NotebookEdit<'_>) -> CellChange {
    CellChange {
        cell: asked.cell.map(plain),
        source: asked.source.map(plain).unwrap_or_default(),
        kind: asked.cell_type.map(plain),
        mode: match asked.mode.map(Str::as_escaped) {
            Some("insert") => Mode::Insert,
            Some("delete") => Mode::Delete,
            _ => Mode::Replace,
        },
    }
}

/// A canonical replacement. What is replaced is always known here.
pub(in crate::persona) fn change(change: &Change<'_>) -> edit::Change {
    edit::Change {
        old: change.old.map(plain).unwrap_or_default(),
        new: plain(change.new),
        all: change.all == Some(true),
    }
}

#[derive(Debug)]
struct NativeTool<R> {
    dialect: Dialect,
    invalid: Invalid,
    spec: Spec,
    run: Rc<R>,
}

impl<R> NativeTool<R> {
    /// The canonical arguments; `None` if those that were checked have another shape.
    fn args<'a>(&self, checked: &Value, arena: &'a Arena) -> Option<Args<'a>> {
        let mut input = checked.clone();
        let members = input.as_object_mut()?;
        // What the model was not told of does not count.
        members.retain(|name, _| self.spec.schema["properties"].get(name).is_some());
        for (_, member) in members {
            // Canonical numbers are whole, and a time-out below zero is none.
            if let Some(number) = member.as_f64().filter(|_| !member.is_u64()) {
                *member = json!(number.ceil().max(0.0) as u64);
            }
        }
        // A folder that is not named is the working folder.
        if self.spec.kind == ToolKind::List && input["path"].as_str().is_none_or(str::is_empty) {
            input["path"] = json!(".");
        }
        let text = arena.alloc_str(&input.to_string());
        Tools::of(self.dialect)?.read_args(self.spec.kind, Raw::trusted(text), arena)
    }
}

#[async_trait(?Send)]
impl<R: Run> Tool for NativeTool<R> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    /// A call whose arguments do not fit touches nothing: it does not run.
    fn access(&self, input: &Value) -> Access {
        let Ok(checked) = check(&self.spec.schema, input) else {
            return Access::Nothing;
        };
        match self.args(&checked, &Arena::new()) {
            Some(args) => access(&args, self.run.as_ref()),
            None => self.run.access_own(&checked),
        }
    }

    async fn preview(&self, input: &Value, cx: &Cx<'_>) -> Option<String> {
        let (path, content, changes) = {
            let arena = Arena::new();
            match self.args(&check(&self.spec.schema, input).ok()?, &arena)? {
                Args::Write { path, content } => (plain(path), Some(plain(content)), Vec::new()),
                Args::Edit { path, change: one } => (plain(path), None, vec![change(&one)]),
                Args::MultiEdit { path, changes } => (plain(path), None, changes.iter().map(change).collect()),
                _ => return None,
            }
        };
        match content {
            Some(content) => blocking(cx, move |wall, _| write::preview(&wall.locate(path)?, &content)).await.ok(),
            None => blocking(cx, move |wall, _| edit::preview(&wall.locate(path)?, &changes)).await.ok(),
        }
    }

    async fn run(&self, input: &Value, cx: &Cx<'_>) -> Given {
        let checked = match check(&self.spec.schema, input) {
            Ok(checked) => checked,
            Err(wrong) => return (self.invalid)(&self.spec, &wrong),
        };
        let arena = Arena::new();
        match self.args(&checked, &arena) {
            Some(args) => self.run.run(&args, &checked, cx).await,
            None => self.run.run_own(&self.spec, &checked, cx).await,
        }
    }
}

/// What a call touches.
fn access(args: &Args<'_>, run: &impl Run) -> Access {
    match *args {
        Args::Read(read) => Access::Read(vec![folder(Some(read.path))]),
        Args::List { path, .. } => Access::Read(vec![folder(Some(path))]),
        Args::Glob { path, .. } => Access::Read(vec![folder(path)]),
        Args::Grep(grep) => Access::Read(vec![folder(grep.path)]),
        Args::Write { path, .. } | Args::Edit { path, .. } | Args::MultiEdit { path, .. } | Args::Delete { path } => {
            Access::Write(vec![folder(Some(path))])
        }
        Args::NotebookEdit(edit) => Access::Write(vec![folder(Some(edit.path))]),
        Args::Shell(shell) => Access::Run(run.asked(&shell)),
        Args::Fetch { url, .. } => Access::Fetch(plain(url)),
        Args::Mcp { .. } => Access::Mcp,
        Args::Todos { .. } | Args::Subagent(_) | Args::WebSearch { .. } | Args::Ask { .. } | Args::Plan { .. } => Access::Nothing,
    }
}
