//! The tools of each dialect: its names, schemas and texts over the operations of [`super::tools`].

pub mod args;
pub mod claude;
pub mod cursor;
pub mod qwen;
#[cfg(test)]
pub(crate) mod testing;
pub mod tricode;
mod web;
