//! The list of things to do.

use std::cell::RefCell;

use serde_json::Value;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// Its id, where the dialect gives one.
    pub id: Option<String>,
    /// What.
    pub content: String,
    /// How it stands.
    pub status: Status,
    /// The same while it is being done (`Running the tests`), where the dialect has that.
    pub active_form: Option<String>,
}

/// How a thing to do stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Not to be done any more.
    Cancelled,
}

impl Status {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }

    /// What a word means, Cursor's words too.
    pub fn of(word: &str) -> Option<Self> {
        let word = word.strip_prefix("TODO_STATUS_").unwrap_or(word).to_ascii_lowercase();
        [Self::Pending, Self::InProgress, Self::Completed, Self::Cancelled]
            .into_iter()
            .find(|status| status.word() == word)
    }
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

/// Reads the list of a call.
///
/// # Errors
/// What is wrong with it, for the model.
pub fn read(list: &Value) -> Result<Vec<Todo>, String> {
    let list = list.as_array().ok_or("`todos` must be a list.")?;
    let mut all: Vec<Todo> = Vec::with_capacity(list.len());
    for (n, todo) in list.iter().enumerate() {
        let wrong = |what: &str| format!("Item {} of `todos`: {what}", n + 1);
        let content = todo["content"].as_str().map(str::trim).filter(|content| !content.is_empty());
        let content = content.ok_or_else(|| wrong("`content` must be a text that is not empty."))?;
        let status = match &todo["status"] {
            Value::Null => Some(Status::Pending),
            status => status.as_str().and_then(Status::of),
        };
        let status = status.ok_or_else(|| wrong("`status` must be pending, in_progress or completed."))?;
        let id = match &todo["id"] {
            Value::Null => None,
            Value::String(id) => Some(id.clone()),
            Value::Number(id) => Some(id.to_string()),
            _ => return Err(wrong("`id` must be a text.")),
        };
        if id.is_some() && all.iter().any(|known| known.id == id) {
            return Err(wrong("the `id` stands twice in the list."));
        }
        all.push(Todo {
            id,
            content: content.to_owned(),
            status,
            active_form: todo["activeForm"].as_str().map(str::to_owned),
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_read_replaced_and_merged() {
        let todos = Todos::default();
        let first = read(&json!([{"id": "1", "content": "a", "status": "TODO_STATUS_IN_PROGRESS"}, {"id": 2, "content": " b "}])).unwrap();
        assert_eq!(first[0].status, Status::InProgress);
        assert_eq!(
            (first[1].id.as_deref(), first[1].content.as_str(), first[1].status),
            (Some("2"), "b", Status::Pending)
        );
        assert!(todos.replace(first.clone()).is_empty());
        let more = read(&json!([{"id": "2", "content": "b", "status": "completed"}, {"id": "3", "content": "c"}])).unwrap();
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
            (json!("x"), "`todos` must be a list."),
            (
                json!([{"content": "a"}, {"content": " "}]),
                "Item 2 of `todos`: `content` must be a text that is not empty.",
            ),
            (
                json!([{"content": "a", "status": "soon"}]),
                "Item 1 of `todos`: `status` must be pending, in_progress or completed.",
            ),
            (
                json!([{"content": "a", "id": 1}, {"content": "b", "id": "1"}]),
                "Item 2 of `todos`: the `id` stands twice in the list.",
            ),
        ] {
            assert_eq!(read(&list).unwrap_err(), what);
        }
    }
}
