//! `todowrite`.

use std::rc::Rc;

use serde_json::json;

use super::say;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::Todos;
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// The tool. `todos` is the session's.
pub(super) fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "todowrite",
        "Writes the list of things to do, the whole of it each time. Use it for work of several steps, and not for less. Keep one \
                      thing in_progress at a time, and mark each completed as soon as it is done.",
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The whole list",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string", "description": "What is to be done"},
                            "status": {"type": "string", "description": "pending, in_progress, completed or cancelled"},
                            "priority": {"type": "string", "description": "How much it matters: high, medium or low"},
                        },
                        "required": ["content", "status", "priority"],
                    },
                },
            },
            "required": ["todos"],
        }),
    );
    todo::todo(Dialect::Opencode, say::invalid, spec, todos, Given::error, written)
}

/// The list is told again in the words of the call.
fn written(written: Written<'_>, todos: &Todos) -> Given {
    let new = written.list;
    todos.replace(new);
    let list = &written.input["todos"];
    // A value that was read can be written.
    let text = serde_json::to_string_pretty(list).unwrap_or_default();
    say::said(text, json!({ "todos": list }), false)
}
