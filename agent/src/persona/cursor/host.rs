//! What hosts of Cursor's are told: calls whole, under its names.

use serde_json::{Value, json};

use super::tools::files;
use crate::persona::host::{HostFacts, HostPersona};

#[derive(Debug)]
pub(super) struct CursorHost;

static FACTS: HostFacts = HostFacts {
    is_timed: true,
    whole_calls: Some(told),
    ..HostFacts::PLAIN
};

impl HostPersona for CursorHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }
}

/// What a call is called where hosts see it, and its arguments: tools for files in Cursor's words, others in those of which the codec
/// makes Cursor's.
fn told(name: &str, input: &str) -> (String, String) {
    let Ok(arguments) = serde_json::from_str::<Value>(input) else {
        return (name.to_owned(), input.to_owned());
    };
    match name {
        "shell" => ("Bash".to_owned(), input.to_owned()),
        "task" => ("Agent".to_owned(), input.to_owned()),
        "updateTodos" => {
            let todos = arguments.get("todos").and_then(Value::as_array);
            let todos: Vec<Value> = todos.into_iter().flatten().map(todo).collect();
            ("TodoWrite".to_owned(), json!({ "todos": todos }).to_string())
        }
        _ => match files::told(name, &arguments) {
            Some((key, arguments)) => (key.to_owned(), arguments.to_string()),
            None => (name.to_owned(), input.to_owned()),
        },
    }
}

fn todo(todo: &Value) -> Value {
    let text = |name: &str| todo.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = text("status").trim_start_matches("TODO_STATUS_").to_lowercase();
    json!({"id": text("id"), "content": text("content"), "activeForm": text("content"), "status": status})
}
