//! `TodoWrite`.

use std::rc::Rc;

use serde_json::{Value, json};

use super::say;
use crate::persona::shared::todo::{self, Written};
use crate::tools::todo::{Todo, Todos};
use crate::tools::{Given, Tool};

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::DetailShape;
use agentglot_adapters::raw::tools::args::TodoStatus;

const DONE: &str = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed \
                    with the current tasks if applicable";

/// The tool. `todos` is the session's (a subagent has its own).
pub fn todo(todos: &Rc<Todos>) -> Rc<dyn Tool> {
    let spec = todo::spec(
        "TodoWrite",
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
                            "content": {"type": "string", "description": "What is to be done: Run the tests"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                            "activeForm": {"type": "string", "description": "The same while it is being done: Running the tests"},
                        },
                        "required": ["content", "status", "activeForm"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["todos"],
            "additionalProperties": false,
        }),
    );
    todo::todo(Dialect::Claude, say::invalid, spec, todos, |error| say::failed(&error), written)
}

fn written(written: Written<'_>, todos: &Todos) -> Given {
    let new = written.list;
    let all_done = new.iter().all(|todo| todo.status == TodoStatus::Completed);
    let detail_new = shown(&new);
    // A list that is done is put away.
    let old = todos.replace(if all_done { Vec::new() } else { new });
    Given::text(DONE).with(DetailShape::Claude, json!({"oldTodos": shown(&old), "newTodos": detail_new}))
}

fn shown(list: &[Todo]) -> Value {
    let shown = |todo: &Todo| json!({"content": todo.content, "status": todo.status.word(), "activeForm": todo.active_form});
    list.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::testing::{Room, text};
    use crate::tools::shell::tests::within;
    use agentglot_adapters::raw::event::ResultStatus;

    #[test]
    fn the_list_is_told_as_it_was_and_as_it_is() {
        within(10, async {
            let todos = Rc::new(Todos::default());
            let room = Room::new(vec![todo(&todos)]);
            let item = |status: &str| json!({"content": "Run the tests", "status": status, "activeForm": "Running the tests"});
            let first = room.call("TodoWrite", json!({"todos": [item("pending")]})).await;
            assert_eq!(text(&first), DONE);
            assert_eq!(first.detail.unwrap().1, json!({"oldTodos": [], "newTodos": [item("pending")]}));
            let second = room.call("TodoWrite", json!({"todos": [item("completed")]})).await;
            assert_eq!(
                second.detail.unwrap().1,
                json!({"oldTodos": [item("pending")], "newTodos": [item("completed")]})
            );
            assert!(todos.list().is_empty());
            let wrong = room
                .call("TodoWrite", json!({"todos": [{"content": "x", "status": "soon", "activeForm": "y"}]}))
                .await;
            assert_eq!(wrong.status, ResultStatus::Error);
            assert!(text(&wrong).contains("`todos[0].status` is invalid"), "{wrong:?}");
        });
    }
}
