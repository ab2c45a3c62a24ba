//! What calls did, for people: the same words whoever's tools they are.

use bumpalo::Bump;

use super::{Call, Json, ResultStatus, ToolKind};
use crate::event;
use crate::events::mirror::Mirror;
use crate::json::Str;
use crate::tools::args::{Args, Change, Read, Shell, Todo, TodoStatus, Todos};
use crate::tools::diff::{self, DiffStyle, Patch};
use crate::tools::output::{FileChange, ToolOutput};
use crate::tools::{Tools, output};

/// What a call did: what its line says, the change that it made, what it gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deed {
    /// `Read`, `Edit`, `Bash` …; the tool's own name where it is not known what it does.
    pub verb: String,
    /// What was read, changed, run, looked for. May have several lines.
    pub object: String,
    /// What else the call asks for.
    pub detail: Option<String>,
    /// The file that it changes.
    pub file: Option<String>,
    /// The change as hunks of a unified diff, without the lines that name the file; without `@@` where its place is not known.
    pub diff: Option<String>,
    /// How many lines it adds and removes.
    pub lines: Option<(u64, u64)>,
    /// The exit code of a command.
    pub exit: Option<i64>,
    /// What it gave: what a command printed, a file's text, what was found, what went wrong. Empty where the change says it all.
    pub output: String,
}

impl Call {
    /// What it did.
    pub fn deed(&self) -> Deed {
        let arena = &Bump::new();
        let mut deed = Deed::default();
        let args = self.args(arena);
        deed.asks(self, args.as_ref());
        if let Some(args) = &args {
            deed.would_change(args);
        }
        if let Some(result) = &self.result {
            deed.gave(self, result.status, &self.output(result, arena));
            if deed.output.is_empty() && result.status != ResultStatus::Success {
                deed.output = result.content.text();
            }
        }
        deed
    }

    fn call<'a>(&'a self, arena: &'a Bump) -> event::ToolCall<'a> {
        event::ToolCall {
            id: self.id.borrow(arena),
            name: self.name.borrow(arena),
            kind: self.kind,
            input: self.input.borrow(arena),
            fields: &[],
        }
    }

    fn args<'a>(&'a self, arena: &'a Bump) -> Option<Args<'a>> {
        let call = self.call(arena);
        let all = || Tools::all().filter(|tools| tools.kind(&self.name) == self.kind);
        let own = all().find_map(|tools| tools.args(call.name, call.input, arena));
        own.or_else(|| Tools::all().find_map(|tools| tools.read_args(self.kind, call.input, arena)))
    }

    fn output<'a>(&'a self, result: &'a super::ToolResult, arena: &'a Bump) -> ToolOutput<'a> {
        output(Some(&self.call(arena)), &result.borrow(arena), arena)
    }
}

impl Deed {
    /// What the call asks for.
    fn asks(&mut self, call: &Call, args: Option<&Args<'_>>) {
        self.verb = verb(call).to_owned();
        let Some(args) = args else {
            self.object = about(&call.input);
            let path = ["path", "file_path"].iter().find_map(|name| call.input.get(name)?.to_text());
            if let (Some(path), true) = (path, changes_files(call.kind) || call.kind == ToolKind::Read) {
                self.object = path;
            }
            return;
        };
        let mut detail = Vec::new();
        match args {
            Args::Read(read) => {
                self.object = plain(read.path);
                detail.extend(part(read));
            }
            Args::Write { path, .. } | Args::Edit { path, .. } | Args::MultiEdit { path, .. } | Args::Delete { path } => {
                self.object = plain(*path);
                self.file = Some(plain(*path));
            }
            Args::NotebookEdit(edit) => {
                self.object = plain(edit.path);
                self.file = Some(plain(edit.path));
                detail.extend(edit.mode.map(plain));
                detail.extend(edit.cell.map(|cell| format!("cell {}", plain(cell))));
            }
            Args::List { path, .. } => self.object = plain(*path),
            Args::Shell(shell) => {
                self.object = plain(shell.command);
                detail.extend(manner(shell));
            }
            Args::Grep(grep) => {
                self.object = plain(grep.pattern);
                detail.extend(grep.path.map(|path| format!("in {}", plain(path))));
                detail.extend(grep.glob.map(plain));
                detail.extend(grep.file_type.map(plain));
            }
            Args::Glob { pattern, path } => {
                self.object = plain(*pattern);
                detail.extend(path.map(|path| format!("in {}", plain(path))));
            }
            Args::Todos { list, .. } => {
                let done = list.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
                self.object = format!("{done} of {} done", list.len());
                self.output = todos(*list);
            }
            Args::Subagent(task) => {
                self.object = plain(task.description.unwrap_or(task.prompt));
                detail.extend(task.agent.map(plain));
                detail.extend(task.model.map(plain));
                detail.extend(task.background.unwrap_or(false).then(|| "in the background".to_owned()));
            }
            Args::Fetch { url, .. } => self.object = plain(*url),
            Args::WebSearch { query } => self.object = plain(*query),
            Args::Mcp { server, tool, args } => {
                self.verb = format!("{}/{}", plain(*server), plain(*tool));
                self.object = if args.as_str() == "{}" {
                    String::new()
                } else {
                    args.as_str().to_owned()
                };
            }
            Args::Ask { questions } => {
                let texts: Vec<String> = questions.iter().map(|question| plain(question.text)).collect();
                self.object = texts.join("\n");
            }
            Args::Plan { plan } => self.output = plan.map(plain).unwrap_or_default(),
        }
        self.detail = (!detail.is_empty()).then(|| detail.join(", "));
    }

    /// The change that is asked for, as far as the call tells it.
    fn would_change(&mut self, args: &Args<'_>) {
        let changes = match args {
            Args::Edit { change, .. } => std::slice::from_ref(change),
            Args::MultiEdit { changes, .. } => changes,
            Args::Write { content, .. } => {
                let patch = Patch::between("", &content.unescape());
                self.set(&patch);
                self.lines = None;
                return;
            }
            _ => return,
        };
        let known = changes.iter().filter_map(|Change { old, new, .. }| Some(((*old)?, *new)));
        let (mut text, mut lines) = (String::new(), (0, 0));
        for (old, new) in known {
            let patch = Patch::between(&old.unescape(), &new.unescape());
            let (added, removed) = patch.stat();
            lines = (lines.0 + added, lines.1 + removed);
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&if patch.is_empty() { diff::bare(old, new) } else { unplaced(&patch) });
        }
        if !text.is_empty() {
            self.diff = Some(text);
            self.lines = Some(lines);
        }
    }

    /// What came of it.
    fn gave(&mut self, call: &Call, status: ResultStatus, output: &ToolOutput<'_>) {
        let succeeded = status == ResultStatus::Success;
        match output {
            ToolOutput::Read(read) => self.output = plain(read.content),
            ToolOutput::Wrote(change) | ToolOutput::Edited(change) => self.changed(change),
            ToolOutput::Shell(run) => {
                self.exit = run.exit;
                self.output = plain(run.output);
                if self.output.is_empty() {
                    self.output = [plain(run.stdout), plain(run.stderr)].concat();
                }
            }
            ToolOutput::Todos(list) => self.output = todos(*list),
            ToolOutput::Plan { message, plan } => {
                let texts = [plan.map(plain).unwrap_or_default(), plain(*message)];
                self.output = texts.join("\n").trim_matches('\n').to_owned();
            }
            ToolOutput::Subagent(run) => self.output = plain(run.text),
            ToolOutput::Files(files) => self.output = files.iter().map(|file| plain(*file)).collect::<Vec<_>>().join("\n"),
            ToolOutput::Text(text) if !succeeded => self.output = plain(*text),
            // The program only says that it did so.
            ToolOutput::Text(_) if self.diff.is_some() || call.kind == ToolKind::Todo && !self.output.is_empty() => {}
            ToolOutput::Text(text) => self.output = plain(*text),
        }
        if !succeeded && matches!(output, ToolOutput::Text(_)) && changes_files(call.kind) {
            // Nothing was changed.
            self.lines = None;
        }
    }

    fn changed(&mut self, change: &FileChange<'_>) {
        let path = plain(change.path);
        if self.object.is_empty() || self.file.is_none() {
            self.object.clone_from(&path);
        }
        self.file = Some(path);
        match change.patch() {
            Some(patch) if !patch.is_empty() => self.set(&patch),
            _ => {
                self.lines = change.stat_of(None).or(self.lines);
                self.diff = change.bare().or(self.diff.take());
            }
        }
        if change.created == Some(true) {
            self.detail = Some("new".to_owned());
        }
    }

    fn set(&mut self, patch: &Patch) {
        self.lines = Some(patch.stat());
        self.diff = Some(hunks(patch));
    }
}

/// What arguments say whose shape is not known: the paths in a list, the only text, or all of it.
fn about(input: &Json) -> String {
    let members: Vec<(String, Json)> = input.members().collect();
    let paths = members.iter().flat_map(|(_, value)| value.elements()).filter_map(|element| {
        let kind = element.get("kind").and_then(|kind| kind.to_text());
        let path = element.get("path")?.to_text()?;
        Some(kind.map_or_else(|| path.clone(), |kind| format!("{kind} {path}")))
    });
    let paths: Vec<String> = paths.collect();
    if !paths.is_empty() {
        return paths.join(", ");
    }
    match members.as_slice() {
        [] if matches!(input.as_str(), "null" | "{}") => String::new(),
        [(_, only)] => only.to_text().unwrap_or_else(|| input.to_string()),
        _ => input.to_string(),
    }
}

/// The word for what a call does.
const fn verb(call: &Call) -> &str {
    match call.kind {
        ToolKind::Read => "Read",
        ToolKind::Write => "Write",
        ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit => "Edit",
        ToolKind::Shell => "Bash",
        ToolKind::Grep => "Grep",
        ToolKind::Glob => "Glob",
        ToolKind::List => "List",
        ToolKind::Delete => "Delete",
        ToolKind::Mkdir => "Mkdir",
        ToolKind::Todo => "Todo",
        ToolKind::Subagent => "Agent",
        ToolKind::Fetch => "Fetch",
        ToolKind::WebSearch => "Search",
        ToolKind::Ask => "Ask",
        ToolKind::ExitPlan => "Plan",
        ToolKind::Mcp | ToolKind::Other => call.name.as_str(),
    }
}

const fn changes_files(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Write | ToolKind::Edit | ToolKind::MultiEdit)
}

fn plain(text: Str<'_>) -> String {
    text.unescape().into_owned()
}

/// Which part of a file is read.
fn part(read: &Read<'_>) -> Option<String> {
    match (read.start, read.count, read.pages) {
        (_, _, Some(pages)) => Some(format!("pages {}", plain(pages))),
        (Some(start), Some(1), _) => Some(format!("line {start}")),
        (Some(start), Some(count), _) => Some(format!("lines {start}–{}", start.saturating_add(count).saturating_sub(1))),
        (Some(start), None, _) => Some(format!("from line {start}")),
        (None, Some(count), _) => Some(format!("lines 1–{count}")),
        (None, None, None) => None,
    }
}

/// How a command is run.
fn manner(shell: &Shell<'_>) -> Vec<String> {
    let folder = shell.directory.map(|folder| format!("in {}", plain(folder)));
    let background = shell.background.unwrap_or(false).then(|| "in the background".to_owned());
    folder.into_iter().chain(background).collect()
}

fn todos(list: Todos<'_>) -> String {
    let line = |todo: Todo<'_>| {
        let mark = match todo.status {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
            TodoStatus::Cancelled => "[-]",
        };
        format!("{mark} {}", plain(todo.content))
    };
    list.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The hunks alone.
fn hunks(patch: &Patch) -> String {
    let text = patch.unified("", "", DiffStyle::Git);
    let body = text.find("\n@@").map_or("", |at| &text[at + 1..]);
    body.trim_end_matches('\n').to_owned()
}

/// The lines of hunks whose place in the file is not known.
fn unplaced(patch: &Patch) -> String {
    let text = hunks(patch);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("@@ ") && !line.starts_with('\\')).collect();
    lines.join("\n")
}
