//! The tools of Cursor's agent.
//!
//! The results of commands and lists of things to do are typed in Claude's form, those of files in Cursor's own ([`files`]).

pub mod files;
pub mod shell;
pub mod todo;
mod tree;
pub mod web;
