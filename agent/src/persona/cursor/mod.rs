//! Cursor's agent.

pub mod tools;
