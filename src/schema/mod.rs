//! JSON Schemas of every dialect's lines, and what of a log does not fit them.

mod misfits;
mod shape;

pub use agentglot_adapters::schema::schema;
pub use misfits::Misfits;

#[cfg(test)]
mod tests;
