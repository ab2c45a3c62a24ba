//! `updateTodos`.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::persona::shared::say;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::{Todo, Todos};
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;

/// The tool. `todos` is the session's (a subagent has its own).
pub fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "updateTodos",
        "Writes the list of things to do for this session: the whole of it, or with merge only what is new or has changed, by id. \
                      Use it for work of three steps or more, and not for less. Keep one thing in progress at a time.",
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "content": {"type": "string"},
                            "status": {
                                "type": "string",
                                "enum": [
                                    "TODO_STATUS_PENDING",
                                    "TODO_STATUS_IN_PROGRESS",
                                    "TODO_STATUS_COMPLETED",
                                    "TODO_STATUS_CANCELLED",
                                ],
                            },
                        },
                        "required": ["id", "content", "status"],
                    },
                },
                "merge": {"type": "boolean", "description": "Keep what is on the list and not named here (default false)"},
            },
            "required": ["todos"],
        }),
    );
    todo::todo(Dialect::Cursor, say::invalid, spec, todos, |error| say::failed(&error), written)
}

fn written(written: Written<'_>, todos: &Todos) -> Given {
    let new = written.list;
    let old = if written.merges { todos.merge(new) } else { todos.replace(new) };
    let now = todos.list();
    let lines: Vec<String> = now
        .iter()
        .map(|todo| format!("- [{}] {} ({})", todo.status.word(), todo.content, id(todo)))
        .collect();
    let text = if lines.is_empty() {
        "The list of todos is empty.".to_owned()
    } else {
        format!("The todos are now:\n{}", lines.join("\n"))
    };
    Given::text(text).with(DetailShape::Claude, json!({"oldTodos": shown(&old), "newTodos": shown(&now)}))
}

fn id(todo: &Todo) -> &str {
    todo.id.as_deref().unwrap_or_default()
}

fn shown(list: &[Todo]) -> Value {
    let shown = |todo: &Todo| json!({"id": id(todo), "content": todo.content, "status": todo.status.word()});
    list.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::{Room, text};
    use crate::tools::shell::tests::within;

    #[test]
    fn the_list_is_replaced_or_merged() {
        within(10, async {
            let room = Room::new(vec![todo(&Rc::default())]);
            let item = |id: &str, status: &str| json!({"id": id, "content": format!("do {id}"), "status": format!("TODO_STATUS_{status}")});
            room.call("updateTodos", json!({"todos": [item("1", "PENDING"), item("2", "PENDING")]}))
                .await;
            let merged = room
                .call(
                    "updateTodos",
                    json!({"todos": [item("2", "COMPLETED"), item("3", "CANCELLED")], "merge": true}),
                )
                .await;
            assert_eq!(
                text(&merged),
                "The todos are now:\n- [pending] do 1 (1)\n- [completed] do 2 (2)\n- [cancelled] do 3 (3)"
            );
            let (_, detail) = merged.detail.unwrap();
            assert_eq!(detail["newTodos"][1], json!({"id": "2", "content": "do 2", "status": "completed"}));
            let none = room.call("updateTodos", json!({"todos": []})).await;
            assert_eq!(text(&none), "The list of todos is empty.");
        });
    }
}
