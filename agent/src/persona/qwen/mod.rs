//! Qwen Code, and the RFC.

pub mod tools;
