//! `update_plan`.

use std::rc::Rc;

use serde_json::json;

use super::invalid;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::Todos;
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// The tool. `todos` is the session's.
pub(super) fn plan(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "update_plan",
        "Updates the task plan: the whole of it each time. Provide an optional explanation and a list of plan items, each with a \
                      step and status. At most one step can be in_progress at a time.",
        json!({
            "type": "object",
            "properties": {
                "explanation": {"type": "string"},
                "plan": {
                    "type": "array",
                    "description": "The list of steps",
                    "items": {
                        "type": "object",
                        "properties": {
                            "step": {"type": "string"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["step", "status"],
                    },
                },
            },
            "required": ["plan"],
        }),
    );
    todo::todo(Dialect::Codex, invalid, spec, todos, Given::error, written)
}

fn written(written: Written<'_>, todos: &Todos) -> Given {
    todos.replace(written.list);
    Given::text("Plan updated")
}
