//! The tools of Cursor's agent.
//!
//! Their results are typed in Claude's form, from which the results of Cursor's lines are made.

pub mod shell;
pub mod todo;
