//! Bytes to lines, values and events.

mod lines;
mod sse;
mod values;

pub use lines::{Line, Lines};
pub use sse::{Frame, Sse};
pub use values::Values;
