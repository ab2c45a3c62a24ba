//! What tools do, whatever a dialect calls them: typed arguments in, typed results or errors out.

pub mod confine;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod environment;
pub mod fetch;
pub mod files;
pub mod glob;
pub mod grep;
pub mod ignored;
pub mod jobs;
pub mod list;
pub mod mkdir;
pub mod notebook;
pub mod processes;
pub mod pty;
pub mod read;
pub mod seen;
pub mod shell;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod terminals;
pub mod text;
pub mod todo;
mod tool;
pub mod walk;
pub mod web_search;
pub mod work;
pub mod write;

pub use crate::model::{Owner, Spec};
pub use tool::*;
