//! `update_plan`.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::invalid;
use crate::persona::shared::native::{Run, stray, tool};
use crate::tools::todo::{Todos, read};
use crate::tools::{Cx, Given, Spec, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::tools::args::Args;

/// The tool. `todos` is the session's.
pub(super) fn plan(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = Spec {
        name: "update_plan".to_owned(),
        description: "Updates the task plan: the whole of it each time. Provide an optional explanation and a list of plan items, each with a \
                      step and status. At most one step can be in_progress at a time."
            .to_owned(),
        schema: json!({
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
        kind: ToolKind::Todo,
        ..Spec::default()
    };
    tool(Dialect::Codex, invalid, spec, UpdatePlan(Rc::clone(todos)))
}

#[derive(Debug)]
struct UpdatePlan(Rc<Todos>);

#[async_trait(?Send)]
impl Run for UpdatePlan {
    async fn run(&self, args: &Args<'_>, _: &Value, _: &Cx<'_>) -> Given {
        let Args::Todos { list, .. } = args else { return stray() };
        match read(list) {
            Ok(new) => {
                self.0.replace(new);
                Given::text("Plan updated")
            }
            Err(error) => Given::error(error),
        }
    }
}
