//! What a tool call means, and what each dialect calls it.

mod names;

use bumpalo::Bump;

use crate::codec::Dialect;
use crate::event::{ToolCall, ToolResult};

pub use names::{COLUMNS, kind_of, table};

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
        let _ = (call, arena);
        None
    }

    /// The result in the target's own shape; `None` when it stays as it is. `call` is the call as the source made it.
    pub fn result<'a>(&self, call: &ToolCall<'a>, result: &ToolResult<'a>, arena: &'a Bump) -> Option<ToolResult<'a>> {
        let _ = (call, result, arena);
        None
    }
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
