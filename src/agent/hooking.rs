//! Where hooks are asked.

use std::rc::Rc;

use serde_json::Value;

use super::chat::Call;
use super::core::{Core, Thread};
use super::tool::Given;
use super::voice::Speaks;

/// What hooks say before a call.
#[derive(Debug)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// It runs, without any further question; with these arguments, if they were changed.
    Allow(Option<Value>),
    /// The host is to be asked, for this reason.
    Ask(Option<Value>, String),
    /// It is judged with these arguments.
    Changed(Value),
    /// It does not run, for this reason.
    Deny(String),
    /// The turn ends here, for this reason.
    Stop(String),
}

/// Before a call.
pub async fn before(core: &Rc<Core>, thread: &Thread, call: &Call, input: &Value) -> Before {
    let _ = (core, thread, call, input);
    Before::Nothing
}

/// What hooks want behind a call.
#[derive(Debug, Default)]
pub struct After {
    /// What the model is told besides.
    pub context: Option<String>,
    /// The turn ends here, for this reason.
    pub stop: Option<String>,
    /// What the model reads instead of the result.
    pub content: Option<String>,
}

/// Behind a call.
pub async fn after(core: &Rc<Core>, thread: &Thread, call: &Call, input: &Value, given: &Given) -> After {
    let _ = (core, thread, call, input, given);
    After::default()
}

/// The model wants to stop. Returns why it may not.
pub async fn before_stop(core: &Rc<Core>, thread: &Thread, text: &str) -> Option<String> {
    let _ = (core, thread, text);
    None
}

/// The conversation is about to be made shorter.
pub async fn before_compaction(core: &Rc<Core>, trigger: &str, wish: Option<&str>) {
    let _ = (core, trigger, wish);
}

/// A subagent begins.
pub async fn subagent_begins(core: &Rc<Core>, speaks: &Speaks) {
    let _ = (core, speaks);
}

/// A subagent ended.
pub async fn subagent_ends(core: &Rc<Core>, speaks: &Speaks) {
    let _ = (core, speaks);
}
