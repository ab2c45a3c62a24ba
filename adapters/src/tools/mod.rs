//! What a tool call means, and what each dialect calls it.

use bumpalo::Bump;

use crate::codec::Dialect;
use crate::event::{ToolCall, ToolKind, ToolResult};
use crate::json::Str;

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

/// What a tool of a dialect does.
pub fn kind_of(dialect: Dialect, name: Str<'_>) -> ToolKind {
    let _ = (dialect, name);
    ToolKind::Other
}
