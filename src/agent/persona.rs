//! What the agent is called and how it behaves in each dialect, where that is more than the dialect's codec.

use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::tool::{Given, Tool, World};
use crate::adapters::codec::Dialect;

/// How the agent behaves in a dialect.
pub trait Persona: fmt::Debug {
    /// Which.
    fn dialect(&self) -> Dialect;

    /// The tools, under the dialect's names.
    fn tools(&self, world: &Rc<World>) -> Vec<Rc<dyn Tool>>;

    /// The system prompt, where the host gives none.
    fn system_prompt(&self, world: &World) -> String;

    /// A call that is refused before anything else is asked: Tricode's plan gate.
    fn gate(&self, name: &str, input: &Value) -> Option<Given> {
        let _ = (name, input);
        None
    }

    /// What the model is reminded of behind the last result of a round: told to the model as a message of the user's, and to the host as
    /// a reminder.
    fn reminder(&self) -> Option<String> {
        None
    }

    /// Why the model may not finish yet, though it tried.
    fn unfinished(&self) -> Option<String> {
        None
    }
}
