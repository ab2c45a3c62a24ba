//! `write_todos`.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::say;
use crate::persona::shared::native::{Run, stray, tool};
use crate::tools::todo::{Todos, read};
use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::tools::args::Args;

/// The tool. `todos` is the session's.
pub(super) fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = Spec {
        name: "write_todos".to_owned(),
        description: "Writes the list of things to do, the whole of it each time. Use it for work of several steps, and not for less. Keep one \
                      thing in_progress at a time, and mark each completed as soon as it is done."
            .to_owned(),
        schema: json!({
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
        kind: ToolKind::Todo,
        ..Spec::default()
    };
    tool(Dialect::Gemini, say::invalid, spec, WriteTodos(Rc::clone(todos)))
}

#[derive(Debug)]
struct WriteTodos(Rc<Todos>);

#[async_trait(?Send)]
impl Run for WriteTodos {
    /// The list is told again in the words of the call: a thing that is blocked is one that waits elsewhere.
    async fn run(&self, args: &Args<'_>, input: &Value, _: &Cx<'_>) -> Given {
        let Args::Todos { list, .. } = args else { return stray() };
        let new = match read(list) {
            Ok(new) => new,
            Err(error) => return say::refused(&error, say::INVALID),
        };
        let told = if new.is_empty() {
            "Successfully cleared the todo list.".to_owned()
        } else {
            let line = |(n, todo): (usize, &Value)| {
                let text = |name: &str| todo[name].as_str().unwrap_or_default().to_owned();
                format!("{n}. [{}] {}", text("status"), text("description"))
            };
            let lines: Vec<String> = (1..).zip(input["todos"].as_array().into_iter().flatten()).map(line).collect();
            format!("Successfully updated the todo list. The current list is now:\n{}", lines.join("\n"))
        };
        self.0.replace(new);
        say::unseen(told)
    }
}
