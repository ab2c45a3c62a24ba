//! The tools of Qwen Code, which are those of the RFC too.

pub mod shell;
