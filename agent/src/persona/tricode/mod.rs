//! Tricode.

pub mod tools;
