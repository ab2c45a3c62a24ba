//! Bytes to lines.

mod lines;
mod values;

pub use lines::{Line, Lines};
pub use values::Values;
