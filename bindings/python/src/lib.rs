//! What the Python package `agentglot` has in Rust. Its Python side (`python/agentglot/`) has the documented API; here are the calls that it
//! is made of: bytes and paths in, bytes and events out, the interpreter free while they work.

mod arrow;
mod as_one;
mod convert;
mod errors;
mod event;
mod events;
mod fed;
mod sessions;
mod work;

use pyo3::prelude::*;

/// Made for `agentglot`; its names may change with any release.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::arrow::ArrowStream;
    #[pymodule_export]
    use super::convert::Converter;
    #[pymodule_export]
    use super::event::{Event, Member};
    #[pymodule_export]
    use super::events::Events;
    #[pymodule_export]
    use super::sessions::Turns;
    #[pymodule_export]
    use super::work::{check, close, convert, convert_files, detect, formats, panic, stats};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
