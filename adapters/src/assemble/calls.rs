use std::collections::HashMap;

use crate::codec::Cx;
use crate::event::{ToolCall, ToolKind};
use crate::json::{Raw, Str};

/// The tool calls of a turn, so that a result can be told with its call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_id: HashMap<String, Stored>,
    order: Vec<String>,
}

/// A call that waits for its result.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) name: String,
    kind: ToolKind,
    input: String,
    resolved: bool,
}

impl Calls {
    /// Remembers a call. A call that is said again is an update.
    pub(super) fn add(&mut self, call: &ToolCall<'_>) {
        let id = call.id.as_escaped();
        match self.by_id.get_mut(id) {
            Some(known) => {
                call.name.as_escaped().clone_into(&mut known.name);
                known.kind = call.kind;
                call.input.as_str().clone_into(&mut known.input);
            }
            None => {
                self.order.push(id.to_owned());
                let stored = Stored {
                    id: id.to_owned(),
                    name: call.name.as_escaped().to_owned(),
                    kind: call.kind,
                    input: call.input.as_str().to_owned(),
                    resolved: false,
                };
                self.by_id.insert(id.to_owned(), stored);
            }
        }
    }

    pub(super) fn knows(&self, id: Str<'_>) -> bool {
        self.by_id.contains_key(id.as_escaped())
    }

    /// The call of a result, put into the line's memory. What it held is let go: a call has one result.
    pub(super) fn resolve<'a>(&mut self, id: Str<'a>, cx: Cx<'a>) -> Option<ToolCall<'a>> {
        let stored = self.by_id.get_mut(id.as_escaped())?;
        if std::mem::replace(&mut stored.resolved, true) {
            return None;
        }
        let input = std::mem::take(&mut stored.input);
        Some(ToolCall {
            id,
            name: Str::trusted(cx.arena.alloc_str(&stored.name)),
            kind: stored.kind,
            input: Raw::trusted(cx.arena.alloc_str(&input)),
            fields: &[],
        })
    }

    /// Calls that got no result, in the order in which they were made.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = &Stored> {
        self.order.iter().filter_map(|id| self.by_id.get(id)).filter(|call| !call.resolved)
    }

    pub(super) fn clear(&mut self) {
        self.by_id.clear();
        self.order.clear();
    }
}
