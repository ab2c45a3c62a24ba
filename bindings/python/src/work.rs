//! Commands as calls.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agentglot::adapters::Format;
use agentglot::cli::call::Call;
use agentglot::io::{Console, Input, Memory, Source, Target};
use agentglot::status::Failure;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors;

/// Keeps what is written; no more of it when the interpreter ends.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if errors::is_closed() {
            return Err(io::Error::other("the interpreter is shutting down"));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn call(args: Vec<OsString>, name: &str, memory: Option<PyBackedBytes>) -> Call {
    Call {
        args,
        memory: memory.map(|bytes| Memory::new(name, bytes)),
    }
}

/// Does it with the interpreter free.
fn done<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    errors::free(py, work)?.map_err(|error| errors::failure(py, error))
}

/// `convert` of one log: the output, the report, the exit code.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    args: Vec<OsString>,
    name: String,
    memory: Option<PyBackedBytes>,
) -> PyResult<(Bound<'py, PyBytes>, String, u8)> {
    let call = call(args, &name, memory);
    let kept = Kept::default();
    let target = Target::program(kept.clone());
    let done = done(py, || call.convert(target))?;
    Ok((PyBytes::new(py, &kept.take()), done.report, done.status.code()))
}

/// `convert` of files into files: the report, the exit code.
#[pyfunction]
pub(crate) fn convert_files(py: Python<'_>, args: Vec<OsString>) -> PyResult<(String, u8)> {
    let call = call(args, "", None);
    let target = Target::program(io::sink());
    let done = done(py, || call.convert(target))?;
    Ok((done.report, done.status.code()))
}

/// `check`: its JSON lines, the exit code.
#[pyfunction]
pub(crate) fn check<'py>(py: Python<'py>, args: Vec<OsString>, name: String, memory: Option<PyBackedBytes>) -> PyResult<(Bound<'py, PyBytes>, u8)> {
    let call = call(args, &name, memory);
    let kept = Kept::default();
    let target = Target::program(kept.clone());
    let status = done(py, || call.check(target))?;
    Ok((PyBytes::new(py, &kept.take()), status.code()))
}

/// `stats`: its JSON, the exit code.
#[pyfunction]
pub(crate) fn stats(py: Python<'_>, args: Vec<OsString>, name: String, memory: Option<PyBackedBytes>) -> PyResult<(String, u8)> {
    let call = call(args, &name, memory);
    done(py, || call.stats()).map(|(text, status)| (text, status.code()))
}

/// What a log is written in, and what told; nothing if there is nothing in it.
#[pyfunction]
pub(crate) fn detect(py: Python<'_>, name: String, path: Option<PathBuf>, memory: Option<PyBackedBytes>) -> PyResult<Option<(String, String)>> {
    let input = match (path, memory) {
        (Some(path), _) => Input::File(path),
        (None, Some(memory)) => Input::Memory(Memory::new(&name, memory)),
        (None, None) => return Ok(None),
    };
    let found = done(py, || Source::open(&input, &Console::silent())?.detect())?;
    Ok(found.map(|found| (found.format.to_string(), found.why)))
}

/// The formats that there are: name, whether it is read, whether it is written.
#[pyfunction]
pub(crate) fn formats() -> Vec<(String, bool, bool)> {
    let apis = agentglot::adapters::Dialect::APIS.into_iter().map(Format::from);
    let all = Format::all().chain(apis);
    all.map(|format| (format.to_string(), format.is_readable(), format.is_writable()))
        .collect()
}

/// The interpreter is about to end.
#[pyfunction]
pub(crate) fn close(py: Python<'_>) {
    errors::close(py);
}

/// What becomes of a panic: for tests.
#[pyfunction]
pub(crate) fn panic(py: Python<'_>, text: String) -> PyResult<()> {
    errors::free(py, || panic!("{text}"))
}
