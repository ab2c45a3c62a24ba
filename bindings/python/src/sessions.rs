//! Logs put together: each turn when it has ended, as JSON.

use std::path::PathBuf;
use std::sync::Mutex;

use agentglot::adapters::Format;
use agentglot::io::{Console, Input, Joined, Memory};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::as_one::AsOne;
use crate::errors;

/// The turns of a log; and, between them, what of it is damaged.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct Turns {
    name: String,
    turns: Mutex<Option<AsOne<Joined<'static>>>>,
}

#[pymethods]
impl Turns {
    /// `path` is opened and unpacked, `memory` is the log itself.
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        path: Option<PathBuf>,
        memory: Option<PyBackedBytes>,
        from: Option<&str>,
        subagents: bool,
    ) -> PyResult<Self> {
        let from = match from.map(str::parse::<Format>).transpose() {
            Ok(from) => from,
            Err(error) => return Err(errors::usage(py, &error.to_string())),
        };
        let input = match (path, memory) {
            (Some(path), _) => Input::File(path),
            (None, Some(memory)) => Input::Memory(Memory::new(&name, memory)),
            (None, None) => Input::Memory(Memory::new(&name, "")),
        };
        let turns = errors::free(py, || Joined::open(&input, from, subagents, &Console::silent()).map(AsOne))?;
        Ok(Self {
            name,
            turns: Mutex::new(Some(turns.map_err(|error| errors::failure(py, error))?)),
        })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next turn as JSON, or a dict about damage.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = errors::free(py, || {
            let mut turns = self.turns.lock().expect("no call before has failed");
            let next = turns.as_mut()?.0.next();
            if !matches!(&next, Some(Ok(_))) && !matches!(&next, Some(Err(error)) if error.can_continue()) {
                *turns = None;
            }
            Some(next?.map(|turn| serde_json::to_vec(&turn)))
        })?;
        match next {
            None => Ok(None),
            Some(Ok(Ok(json))) => Ok(Some(PyBytes::new(py, &json).into_any())),
            Some(Ok(Err(error))) => Err(errors::usage(py, &error.to_string())),
            Some(Err(error)) if error.can_continue() => {
                let about = pyo3::types::PyDict::new(py);
                about.set_item("file", error.file().unwrap_or(&self.name))?;
                about.set_item("line", error.line())?;
                about.set_item("byte", error.byte())?;
                about.set_item("pointer", None::<&str>)?;
                about.set_item("reason", error.to_string())?;
                Ok(Some(about.into_any()))
            }
            Some(Err(error)) => Err(errors::reading(py, &self.name, error)),
        }
    }

    /// Reads no more.
    fn close(&self) {
        if let Ok(mut turns) = self.turns.try_lock() {
            *turns = None;
        }
    }
}
