//! The built-in agent: a model behind an API, tools in the working folder, a session that can be gone on with.
//!
//! It says what it does in the words of the canonical model; the dialect of its host is a codec's business, as with any other back end.
//! What differs between the dialects beyond their lines (names of tools, Tricode's plan) is a [`persona`].

pub mod catalog;
pub mod chat;
pub mod hotline;
pub mod persona;
pub mod tool;
pub mod tools;
pub mod wall;
