//! `todo_write`.

use std::rc::Rc;

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::{Todo, Todos};
use crate::tools::{Given, Tool};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;

/// The tool. `todos` is the session's (a subagent has its own).
pub fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "todo_write",
        "Writes the list of things to do for this session, the whole of it each time. Use it for work of three steps or more, and \
                      not for less. Keep one thing in_progress at a time, and mark each completed as soon as it is done.",
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The updated todo list",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string", "description": "An id of your own"},
                            "content": {"type": "string", "description": "What is to be done"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["content", "status", "id"],
                    },
                },
            },
            "required": ["todos"],
        }),
    );
    todo::todo(
        Dialect::QwenCode,
        say::invalid,
        spec,
        todos,
        |error| say::failed(&error, &format!("Error writing todos: {error}")),
        written,
    )
}

fn written(written: Written<'_>, todos: &Todos) -> Given {
    let new = written.list;
    let list = shown(&new);
    let text = if new.is_empty() {
        "Todo list has been cleared.\n\n<system-reminder>\nYour todo list is now empty. DO NOT mention this explicitly to the user. You \
         have no pending tasks in your todo list.\n</system-reminder>"
            .to_owned()
    } else {
        format!(
            "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed \
             with the current tasks if applicable\n\n<system-reminder>\nYour todo list has changed. DO NOT mention this explicitly to the \
             user. Here are the latest contents of your todo list:\n\n{list}. Continue on with the tasks at hand if \
             applicable.\n</system-reminder>"
        )
    };
    todos.replace(new);
    Given::text(text).with(DetailShape::Qwen, json!({"kind": "todo_list", "todos": list}))
}

fn shown(list: &[Todo]) -> Value {
    let shown = |todo: &Todo| json!({"id": todo.id, "content": todo.content, "status": todo.status.word()});
    list.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::{Room, text};
    use crate::tools::shell::tests::within;

    #[test]
    fn the_list_is_shown_and_told() {
        within(10, async {
            let todos = Rc::new(Todos::default());
            let room = Room::new(vec![todo(&todos)]);
            let list = json!([{"id": "1", "content": "a", "status": "in_progress"}]);
            let given = room.call("todo_write", json!({"todos": list})).await;
            assert!(text(&given).contains("\n\n[{\"id\":\"1\",\"content\":\"a\",\"status\":\"in_progress\"}]. Continue on"));
            assert_eq!(given.detail, Some((DetailShape::Qwen, json!({"kind": "todo_list", "todos": list}))));
            assert_eq!(todos.list().len(), 1);
            let none = room.call("todo_write", json!({"todos": []})).await;
            assert!(text(&none).starts_with("Todo list has been cleared."));
            let wrong = room.call("todo_write", json!({"todos": [{"content": "a", "status": "pending"}]})).await;
            assert_eq!(text(&wrong), "params/todos/0 must have required property 'id'");
        });
    }
}
