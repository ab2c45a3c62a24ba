//! What the agent is called and how it behaves in each dialect, where that is more than the dialect's codec.

pub mod claude;
pub mod cursor;
pub mod qwen;
mod shared;
#[cfg(test)]
pub(crate) mod testing;
pub mod tricode;

use std::fmt;
use std::rc::Rc;

use serde_json::Value;

use super::chat::Message;
use super::core::Tokens;
use super::tool::{Given, Tool, World};
use super::tools::fetch::Policy;
use super::tools::processes::Processes;
use super::tools::web_search::Engine;
use crate::model::Ask;
use agentglot_adapters::codec::Dialect;

/// How the agent behaves in a dialect.
pub trait Persona: fmt::Debug {
    /// Which.
    fn dialect(&self) -> Dialect;

    /// The tools, under the dialect's names.
    fn tools(&self, world: &Rc<World>) -> Vec<Rc<dyn Tool>>;

    /// What its tools run: to be ended with the session, and looked at for ends of what runs in the background.
    fn processes(&self) -> Option<Rc<Processes>> {
        None
    }

    /// The system prompt, where the host gives none.
    fn system_prompt(&self, world: &World) -> String;

    /// A call that is refused before anything else is asked: Tricode's plan gate.
    fn gate(&self, name: &str, input: &Value) -> Option<Given> {
        let _ = (name, input);
        None
    }

    /// The result of a call of a tool that there is not.
    fn unknown(&self, name: &str) -> Given {
        Given::error(format!("Unknown tool: {name}"))
    }

    /// Whether a call needs leave, where that does not follow from what it touches: Tricode asks about a fixed list of tools.
    fn needs_leave(&self, name: &str) -> Option<bool> {
        let _ = name;
        None
    }

    /// What becomes of the other calls of a round when a person has denied one, where the turn ends behind them without an answer.
    fn behind_denial(&self) -> Option<Given> {
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

    /// A request to the model in short, for whoever wants to see it between the lines.
    fn debug_request(&self, ask: &Ask<'_>) -> Option<String> {
        let _ = ask;
        None
    }

    /// The answer to it: its id, the model, what it says, what it has cost.
    fn debug_reply(&self, id: &str, model: &str, message: &Message, tokens: Tokens) -> Option<String> {
        let _ = (id, model, message, tokens);
        None
    }

    /// What of all this a session keeps on disk, for a run that goes on with it.
    fn keep(&self) -> Option<Value> {
        None
    }

    /// Takes back what an earlier run of the session kept.
    fn restore(&self, kept: &Value) {
        let _ = kept;
    }
}

/// What fetches pages, where it may. Tricode's is always one of its tools.
pub fn fetch(dialect: Dialect, policy: Policy) -> Option<Rc<dyn Tool>> {
    match dialect {
        Dialect::Claude => Some(claude::tools::web::fetch(policy)),
        Dialect::Qwen | Dialect::QwenCode => Some(qwen::tools::web::fetch(policy)),
        Dialect::Cursor => Some(cursor::tools::web::fetch(policy)),
        _ => None,
    }
}

/// What searches the web, where it may. Tricode's is always one of its tools.
pub fn search(dialect: Dialect, engine: Engine) -> Option<Rc<dyn Tool>> {
    match dialect {
        Dialect::Claude => Some(claude::tools::web::search(engine)),
        Dialect::Qwen | Dialect::QwenCode => Some(qwen::tools::web::search(engine)),
        Dialect::Cursor => Some(cursor::tools::web::search(engine)),
        _ => None,
    }
}
