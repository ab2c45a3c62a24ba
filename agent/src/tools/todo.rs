//! The list of things to do.

use std::cell::RefCell;
use std::collections::HashSet;

use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::tools::args::{self, TodoStatus};

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// Its id, where the dialect gives one.
    pub id: Option<String>,
    /// What.
    pub content: String,
    /// How it stands.
    pub status: TodoStatus,
    /// The same while it is being done (`Running the tests`), where the dialect has that.
    pub active_form: Option<String>,
}

/// The list of one agent.
#[derive(Debug, Default)]
pub struct Todos(RefCell<Vec<Todo>>);

impl Todos {
    /// The list.
    pub fn list(&self) -> Vec<Todo> {
        self.0.borrow().clone()
    }

    /// Puts another list in its place, which is returned.
    pub fn replace(&self, list: Vec<Todo>) -> Vec<Todo> {
        self.0.replace(list)
    }

    /// Changes those whose ids are known and adds the others. Returns the list as it was.
    pub fn merge(&self, list: Vec<Todo>) -> Vec<Todo> {
        let mut all = self.0.borrow_mut();
        let before = all.clone();
        for todo in list {
            match all.iter_mut().find(|old| old.id.is_some() && old.id == todo.id) {
                Some(old) => *old = todo,
                None => all.push(todo),
            }
        }
        before
    }
}

/// The list of a call.
///
/// # Errors
/// What is wrong with it, for the model.
pub fn read(list: args::Todos<'_>) -> Result<Vec<Todo>, String> {
    let mut all: Vec<Todo> = Vec::with_capacity(list.len());
    let mut ids = HashSet::new();
    for (n, todo) in list.iter().enumerate() {
        let wrong = |what: &str| Err(format!("Item {} of `todos`: {what}", n + 1));
        let plain = |text: Str<'_>| text.unescape().into_owned();
        let content = plain(todo.content).trim().to_owned();
        if content.is_empty() {
            return wrong("`content` must be a text that is not empty.");
        }
        let id = todo.id.map(plain);
        if id.as_ref().is_some_and(|id| !ids.insert(id.clone())) {
            return wrong("the `id` stands twice in the list.");
        }
        all.push(Todo {
            id,
            content,
            status: todo.status,
            active_form: todo.active.map(plain),
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use agentglot_adapters::raw::codec::Dialect;
    use agentglot_adapters::raw::event::ToolKind;
    use agentglot_adapters::raw::json::Raw;
    use agentglot_adapters::raw::tools::args::Args;
    use agentglot_adapters::raw::tools::{Arena, Tools};
    use serde_json::{Value, json};

    use super::*;

    fn listed(list: Value) -> Result<Vec<Todo>, String> {
        let input = json!({ "todos": list }).to_string();
        let arena = Arena::new();
        let args = Tools::of(Dialect::Cursor).and_then(|tools| tools.read_args(ToolKind::Todo, Raw::trusted(&input), &arena));
        let Some(Args::Todos { list, .. }) = args else { panic!("{input}") };
        read(list)
    }

    #[test]
    fn lists_are_read_replaced_and_merged() {
        let todos = Todos::default();
        let first = listed(json!([{"id": "1", "content": "a", "status": "TODO_STATUS_IN_PROGRESS"}, {"id": "2", "content": " b "}])).unwrap();
        assert_eq!(first[0].status, TodoStatus::InProgress);
        assert_eq!(
            (first[1].id.as_deref(), first[1].content.as_str(), first[1].status),
            (Some("2"), "b", TodoStatus::Pending)
        );
        assert!(todos.replace(first.clone()).is_empty());
        let more = listed(json!([{"id": "2", "content": "b", "status": "completed"}, {"id": "3", "content": "c"}])).unwrap();
        assert_eq!(todos.merge(more), first);
        let now: Vec<_> = todos.list().into_iter().map(|todo| (todo.content, todo.status.word())).collect();
        assert_eq!(
            now,
            [
                ("a".to_owned(), "in_progress"),
                ("b".to_owned(), "completed"),
                ("c".to_owned(), "pending")
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (list, what) in [
            (
                json!([{"content": "a"}, {"content": " "}]),
                "Item 2 of `todos`: `content` must be a text that is not empty.",
            ),
            (
                json!([{"content": "a", "id": "1"}, {"content": "b", "id": "1"}]),
                "Item 2 of `todos`: the `id` stands twice in the list.",
            ),
        ] {
            assert_eq!(listed(list).unwrap_err(), what);
        }
    }
}
