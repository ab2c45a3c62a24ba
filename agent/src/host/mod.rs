//! What goes between the agent and its host: events and questions one way, prompts and answers the other.

pub(crate) mod display;
pub(crate) mod event_writer;
pub(crate) mod prompts;
pub(crate) mod reply;
pub mod requests;
pub(crate) mod state;
pub mod terminal;
