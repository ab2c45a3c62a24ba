//! The tools of each dialect: its names, schemas and texts over the operations of [`super::tools`].

pub mod args;
pub mod claude;
pub mod cursor;
pub mod qwen;
#[cfg(test)]
pub(crate) mod testing;
pub mod tricode;
mod web;

use std::rc::Rc;

use super::tool::Tool;
use super::tools::fetch::Policy;
use super::tools::web_search::Engine;
use agentglot_adapters::codec::Dialect;

/// What fetches pages, where it may. Tricode's is always one of its tools.
pub fn fetch(dialect: Dialect, policy: Policy) -> Option<Rc<dyn Tool>> {
    match dialect {
        Dialect::Claude => Some(claude::web::fetch(policy)),
        Dialect::Qwen | Dialect::QwenCode => Some(qwen::web::fetch(policy)),
        Dialect::Cursor => Some(cursor::web::fetch(policy)),
        _ => None,
    }
}

/// What searches the web, where it may. Tricode's is always one of its tools.
pub fn search(dialect: Dialect, engine: Engine) -> Option<Rc<dyn Tool>> {
    match dialect {
        Dialect::Claude => Some(claude::web::search(engine)),
        Dialect::Qwen | Dialect::QwenCode => Some(qwen::web::search(engine)),
        Dialect::Cursor => Some(cursor::web::search(engine)),
        _ => None,
    }
}
