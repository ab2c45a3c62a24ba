//! Claude Code.

pub mod tools;
