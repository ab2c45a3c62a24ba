//! JSON Schemas of every format's lines, and what of a log does not fit them.

mod misfits;
mod shape;

pub use agentglot_adapters::schema::{formats, schema};
pub use misfits::Misfits;

#[cfg(test)]
mod tests;
