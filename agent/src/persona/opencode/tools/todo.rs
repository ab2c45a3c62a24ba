//! `todowrite`.

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
        name: "todowrite".to_owned(),
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
        kind: ToolKind::Todo,
        ..Spec::default()
    };
    tool(Dialect::Opencode, say::invalid, spec, WriteTodos(Rc::clone(todos)))
}

#[derive(Debug)]
struct WriteTodos(Rc<Todos>);

#[async_trait(?Send)]
impl Run for WriteTodos {
    /// The list is told again in the words of the call.
    async fn run(&self, args: &Args<'_>, input: &Value, _: &Cx<'_>) -> Given {
        let Args::Todos { list, .. } = args else { return stray() };
        let new = match read(list) {
            Ok(new) => new,
            Err(error) => return Given::error(error),
        };
        self.0.replace(new);
        let todos = &input["todos"];
        // A value that was read can be written.
        let text = serde_json::to_string_pretty(todos).unwrap_or_default();
        say::said(text, json!({ "todos": todos }), false)
    }
}
