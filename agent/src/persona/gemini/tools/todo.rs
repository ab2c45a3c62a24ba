//! `write_todos`.

use std::rc::Rc;

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::Todos;
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;

/// The tool. `todos` is the session's.
pub(super) fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "write_todos",
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
                            "description": {"type": "string", "description": "What is to be done"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled", "blocked"]},
                        },
                        "required": ["description", "status"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["todos"],
            "additionalProperties": false,
        }),
    );
    todo::todo(
        Dialect::Gemini,
        say::invalid,
        spec,
        todos,
        |error| say::refused(&error, say::INVALID),
        written,
    )
}

/// The list is told again in the words of the call: a thing that is blocked is one that waits elsewhere.
fn written(written: Written<'_>, todos: &Todos) -> Given {
    let new = written.list;
    let told = if new.is_empty() {
        "Successfully cleared the todo list.".to_owned()
    } else {
        let line = |(n, todo): (usize, &Value)| {
            let text = |name: &str| todo[name].as_str().unwrap_or_default().to_owned();
            format!("{n}. [{}] {}", text("status"), text("description"))
        };
        let lines: Vec<String> = (1..).zip(written.input["todos"].as_array().into_iter().flatten()).map(line).collect();
        format!("Successfully updated the todo list. The current list is now:\n{}", lines.join("\n"))
    };
    todos.replace(new);
    say::unseen(told)
}
