//! What hosts hear of a reply while it comes: all of it, but for what a dialect keeps to itself or calls otherwise.

use serde_json::{Value, json};

use crate::host::event_writer::{EventWriter, Speaks, body};
use crate::persona::cursor::tools as cursor;
use agentglot_adapters::raw::event::{BlockHead, BlockStart, Delta, Event, Kind, Piece};
use agentglot_adapters::raw::json::Str;

/// Tells a reply, event by event.
#[derive(Debug)]
pub(crate) struct Teller {
    events: EventWriter,
    speaks: Option<Speaks>,
    /// A subagent's words and thoughts stay with it, as Claude Code does it unless it is asked for them.
    calls_only: bool,
    /// The host is Cursor's: calls are told whole, under its names.
    cursor: bool,
    hidden: bool,
    call: Option<Held>,
}

/// A call that is coming.
#[derive(Debug)]
struct Held {
    id: String,
    name: String,
    /// The arguments, as the body of a JSON string.
    input: String,
}

impl Teller {
    /// For a reply of whoever speaks.
    pub(crate) const fn new(events: EventWriter, speaks: Option<Speaks>, calls_only: bool, cursor: bool) -> Self {
        Self {
            events,
            speaks,
            calls_only,
            cursor,
            hidden: false,
            call: None,
        }
    }

    /// The next event of the reply; `id` is that of the line that its block becomes.
    pub(crate) fn tell(&mut self, event: &Event<'_>, id: Option<&str>) {
        match event.kind {
            Kind::BlockStart(start) => {
                self.hidden = self.calls_only && !matches!(start.head, BlockHead::Call { .. });
                if let (BlockHead::Call { id, name }, true) = (start.head, self.cursor) {
                    self.call = Some(Held {
                        id: id.as_escaped().to_owned(),
                        name: name.unescape().into_owned(),
                        input: String::new(),
                    });
                    return;
                }
                if self.hidden {
                    return;
                }
            }
            Kind::Delta(delta) => {
                if let (Some(call), Piece::Input(piece)) = (&mut self.call, delta.piece) {
                    call.input.push_str(piece.as_escaped());
                    return;
                }
                if self.hidden {
                    return;
                }
            }
            Kind::BlockStop(stop) => {
                if let Some(call) = self.call.take() {
                    self.whole(&call, stop.index);
                } else if std::mem::take(&mut self.hidden) {
                    return;
                }
            }
            _ => {}
        }
        self.events.say(event.kind, self.speaks.as_ref(), id);
    }

    /// Tells a call that has come, up to its end.
    fn whole(&self, call: &Held, index: u32) {
        let input = Str::trusted(&call.input).unescape();
        let (name, input) = of_cursor(&call.name, &input);
        let (name, input) = (body(&name), body(&input));
        let head = BlockHead::Call {
            id: Str::trusted(&call.id),
            name: Str::trusted(&name),
        };
        let say = |kind| self.events.say(kind, self.speaks.as_ref(), None);
        say(Kind::BlockStart(BlockStart { index, head }));
        say(Kind::Delta(Delta {
            index,
            piece: Piece::Input(Str::trusted(&input)),
        }));
    }
}

/// What a call is called where Cursor's hosts see it, and its arguments: tools for files in Cursor's words, others in those of Claude Code,
/// of which the codec makes Cursor's.
pub(crate) fn of_cursor(name: &str, input: &str) -> (String, String) {
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
        _ => match cursor::files::told(name, &arguments) {
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
