//! Logs put together: turns when they have ended, as JSON.

use std::sync::{Arc, Mutex};

use agentglot::adapters::Format;
use agentglot::io::{Console, Joined};
use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;
use serde_json::json;

use crate::as_one::AsOne;
use crate::fault::{Fault, Made, Work, aside, is_closed};
use crate::work::input;

/// So much JSON of turns goes over at a time; a turn is never cut.
const BATCH: usize = 1 << 18;

/// The turns of a log, and between them what of it is damaged.
#[napi]
pub struct Turns {
    turns: Arc<Mutex<Option<AsOne<Joined<'static>>>>>,
}

#[napi]
impl Turns {
    /// Nothing is opened yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self { turns: Arc::default() }
    }

    /// Opens a file, or what is in memory.
    #[napi]
    pub fn open(&self, name: String, path: Option<String>, memory: Option<Uint8Array>, from: Option<String>, subagents: bool) -> AsyncTask<Work> {
        let input = input(&name, path, memory.as_ref());
        let turns = Arc::clone(&self.turns);
        aside(move || {
            let from = from.map(|from| from.parse::<Format>()).transpose();
            let from = from.map_err(|error| Fault::usage(&error.to_string()))?;
            let opened = Joined::open(&input, from, subagents, &Console::silent())?;
            *turns.lock().map_err(|_| Fault::usage("the reading has failed"))? = Some(AsOne(opened));
            Ok(Made::default())
        })
    }

    /// The next turns: a JSON array of `{"turn": …}` and `{"damage": …}`. An answer of the status 1 is the last.
    #[napi]
    pub fn next(&self, name: String) -> AsyncTask<Work> {
        let turns = Arc::clone(&self.turns);
        aside(move || {
            let mut place = turns.lock().map_err(|_| Fault::usage("the reading has failed"))?;
            let mut text = String::from("[");
            let mut add = |what: &str, json: &str| {
                if text.len() > 1 {
                    text.push(',');
                }
                text.push_str(&format!("{{\"{what}\":{json}}}"));
                text.len() < BATCH
            };
            let mut status = 0;
            loop {
                let Some(AsOne(reading)) = place.as_mut() else {
                    status = 1;
                    break;
                };
                let more = match reading.next() {
                    _ if is_closed() => return Err(Fault::usage("the process is ending")),
                    Some(Ok(turn)) => match serde_json::to_string(&turn) {
                        Ok(json) => add("turn", &json),
                        Err(error) => return Err(Fault::usage(&error.to_string())),
                    },
                    Some(Err(error)) if error.can_continue() => {
                        let file = error.file().unwrap_or(&name);
                        let about = json!({"file": file, "line": error.line(), "byte": error.byte(), "pointer": null, "reason": error.to_string()});
                        add("damage", &about.to_string())
                    }
                    Some(Err(error)) => {
                        *place = None;
                        return Err(Fault::reading(&name, error));
                    }
                    None => {
                        *place = None;
                        true
                    }
                };
                if !more {
                    break;
                }
            }
            text.push(']');
            Ok(Made {
                text: Some(text),
                status,
                ..Made::default()
            })
        })
    }

    /// Reads no more.
    #[napi]
    pub fn close(&self) {
        if let Ok(mut turns) = self.turns.try_lock() {
            *turns = None;
        }
    }
}
