//! The tools of Claude Code.

pub mod shell;
