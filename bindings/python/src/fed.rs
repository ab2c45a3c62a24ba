//! Conversions that are fed.

use std::ffi::OsString;

use agentglot::adapters::convert::{AutoConverter, Options};
use agentglot::cli::call::Call;
use agentglot::io::Memory;
use pyo3::prelude::*;

use crate::as_one::AsOne;
use crate::errors::failure;

/// One with these options of `convert` on the command line, but for what `change` changes of them.
pub(crate) fn converter(py: Python<'_>, args: Vec<OsString>, change: impl FnOnce(&mut Options)) -> PyResult<AsOne<AutoConverter>> {
    let call = Call {
        args,
        memory: Some(Memory::new("-", "")),
    };
    call.converter(change).map(AsOne).map_err(|error| failure(py, error))
}
