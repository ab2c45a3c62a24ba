//! An event: its line, and its members read when they are asked for.

use agentglot::adapters::raw::json::{Raw, Shape};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyString};

/// What all events have in Rust: the line of `agentglot:events` that says them.
#[pyclass(frozen, subclass, module = "agentglot._native")]
pub(crate) struct Event {
    line: Py<PyBytes>,
}

#[pymethods]
impl Event {
    #[new]
    fn new(line: Py<PyBytes>) -> Self {
        Self { line }
    }

    /// The line, without the line feed.
    #[getter]
    fn _line(&self, py: Python<'_>) -> Py<PyBytes> {
        self.line.clone_ref(py)
    }
}

/// A member of events of one class: a descriptor that reads it from the line.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct Member {
    name: String,
    /// What makes a value of what JSON has.
    build: Option<Py<PyAny>>,
}

#[pymethods]
impl Member {
    #[new]
    fn new(name: String, build: Option<Py<PyAny>>) -> Self {
        Self { name, build }
    }

    fn __get__<'py>(slf: &Bound<'py, Self>, event: Option<&Bound<'py, Event>>, _class: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(event) = event else { return Ok(slf.clone().into_any()) };
        let py = slf.py();
        let member = slf.get();
        let line = text(event.get().line.bind(py));
        let Some(value) = Raw::trusted(line).get(&member.name) else {
            return Ok(py.None().into_bound(py));
        };
        let value = python(py, value)?;
        match &member.build {
            Some(build) => build.bind(py).call1((value,)),
            None => Ok(value),
        }
    }
}

/// Lines come from the writer of events, or were checked when they came from elsewhere.
fn text<'l>(line: &'l Bound<'_, PyBytes>) -> &'l str {
    std::str::from_utf8(line.as_bytes()).unwrap_or("null")
}

/// A value as `json.loads` has it.
fn python<'py>(py: Python<'py>, value: Raw<'_>) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let text = value.as_str();
    match value.shape() {
        Some(Shape::String) if !text.contains('\\') => return Ok(PyString::new(py, &text[1..text.len() - 1]).into_any()),
        Some(Shape::Bool) => return Ok(PyBool::new(py, text == "true").to_owned().into_any()),
        Some(Shape::Null) => return Ok(py.None().into_bound(py)),
        Some(Shape::Number) => {
            if let Ok(number) = text.parse::<i64>() {
                return Ok(number.into_pyobject(py)?.into_any());
            }
        }
        _ => {}
    }
    LOADS.import(py, "json", "loads")?.call1((text,))
}
