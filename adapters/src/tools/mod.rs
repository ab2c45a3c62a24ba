//! What a tool call means, and what each dialect calls it.

mod args;
mod diff;
mod json;
mod lines;
mod names;
mod result;
mod shown;

use bumpalo::Bump;

use crate::codec::Dialect;
use crate::event::{ToolCall, ToolResult};
use crate::json::Str;
use args::Args;

pub use names::{COLUMNS, kind_of, table};
pub use shown::{FileChange, FileRead, ShellRun, Shown, TaskRun, shown};

/// From one dialect's tools to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translate {
    /// Whose tools the calls name.
    pub from: Dialect,
    /// Whose tools they are to name.
    pub to: Dialect,
}

impl Translate {
    /// The call in the target's own name and arguments; `None` when it stays as it is.
    pub fn call<'a>(&self, call: &ToolCall<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
        let (from, to) = self.families()?;
        let args = Args::read(from, call.name, call.input, arena)?;
        let (name, input) = args.write(to, call.id, arena)?;
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

    /// The result in the target's own shape; `None` when it stays as it is. `call` is the call as the source made it.
    pub fn result<'a>(&self, call: &ToolCall<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> Option<ToolResult<'a>> {
        result::result(self, call, result, arena)
    }

    /// [`Self::call`] when the result is known too. Tricode has two names for writing a file, one for a new file and one for a file
    /// that is there, and only the result tells which it was.
    pub fn answered<'a>(&self, call: &ToolCall<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> Option<ToolCall<'a>> {
        result::answered(self, call, result, arena).or_else(|| self.call(call, arena))
    }

    /// Both ends, if they have tools of their own that differ.
    fn families(&self) -> Option<(Family, Family)> {
        let (from, to) = (Family::of(self.from)?, Family::of(self.to)?);
        (from != to).then_some((from, to))
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Todo<'a> {
    /// Its id, where the dialect has ids (Qwen, Cursor).
    pub id: Option<Str<'a>>,
    /// What is to be done.
    pub content: Str<'a>,
    /// How far it is.
    pub status: TodoStatus,
    /// What is said while it is done: Claude's `activeForm`.
    pub active: Option<Str<'a>>,
}

/// How far a thing to do is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TodoStatus {
    /// Not begun: `pending`, `TODO_STATUS_PENDING`.
    Pending,
    /// Being done: `in_progress`, `TODO_STATUS_IN_PROGRESS`.
    InProgress,
    /// Done: `completed`, `TODO_STATUS_COMPLETED`.
    Completed,
    /// Called off: `TODO_STATUS_CANCELLED`; only Cursor knows it.
    Cancelled,
}

impl TodoStatus {
    /// The word that Claude, Qwen and Tricode write.
    pub const fn word(self) -> &'static str {
        args::status_word(self)
    }
}

/// The list that a call to a todo tool writes, whatever dialect it is from: `todos` with either spelling of the status, or
/// Tricode's `plan` with `action:"create"`. `None` when it writes none (`plan` with another action) or is of another shape.
pub fn todos<'a>(call: &ToolCall<'a>) -> Option<Vec<Todo<'a>>> {
    let mut list = Vec::new();
    args::read_todos(call.input, |todo| list.push(todo))?;
    Some(list)
}

/// Whether a list of [`todos`] only adds to the one before and changes it: Cursor's `merge:true`.
pub fn todos_merge(call: &ToolCall<'_>) -> bool {
    call.input.get("merge").and_then(crate::json::Raw::bool) == Some(true)
}

/// Dialects with the same tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Claude,
    Qwen,
    Cursor,
    Tricode,
}

impl Family {
    /// In the order in which a name of unknown origin is tried: Tricode before Qwen, for where both know a name, its arguments
    /// are the ones that tell.
    const ALL: [Self; 4] = [Self::Claude, Self::Cursor, Self::Tricode, Self::Qwen];

    /// The tools of a dialect. The canonical events have none of their own.
    const fn of(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Claude => Some(Self::Claude),
            Dialect::Qwen | Dialect::QwenCode => Some(Self::Qwen),
            Dialect::Cursor => Some(Self::Cursor),
            Dialect::Tricode => Some(Self::Tricode),
            Dialect::Agentglot => None,
        }
    }
}
