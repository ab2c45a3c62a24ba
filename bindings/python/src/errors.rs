//! What went wrong, as the exceptions of `agentglot._errors`; and panics, of which none may end the interpreter.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentglot::adapters::convert::Damage;
use agentglot::adapters::detect::Unclear;
use agentglot::adapters::{Error, ErrorKind};
use agentglot::status::Failure;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Makes an exception of this class with these attributes.
fn exception(py: Python<'_>, class: &str, text: &str, about: &[(&str, Bound<'_, PyAny>)]) -> PyErr {
    let made = || {
        let attributes = PyDict::new(py);
        for (name, value) in about {
            attributes.set_item(name, value)?;
        }
        py.import("agentglot._errors")?.getattr(class)?.call((text,), Some(&attributes))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

fn text<'py>(py: Python<'py>, text: &str) -> Bound<'py, PyAny> {
    pyo3::types::PyString::new(py, text).into_any()
}

/// Options that make no sense.
pub(crate) fn usage(py: Python<'_>, why: &str) -> PyErr {
    exception(py, "UsageError", why, &[])
}

/// A dialect that could not be told.
pub(crate) fn unclear(py: Python<'_>, name: &str, unclear: &Unclear) -> PyErr {
    let candidates: Vec<String> = unclear.candidates.iter().map(|found| found.format.to_string()).collect();
    match candidates.into_pyobject(py) {
        Ok(candidates) => exception(
            py,
            "UnclearError",
            &format!("{name}: {unclear}"),
            &[("file", text(py, name)), ("candidates", candidates.into_any())],
        ),
        Err(error) => error,
    }
}

/// Damage as a dict.
pub(crate) fn damage<'py>(py: Python<'py>, name: &str, damage: &Damage) -> PyResult<Bound<'py, PyDict>> {
    let about = PyDict::new(py);
    about.set_item("file", name)?;
    about.set_item("line", damage.line)?;
    about.set_item("byte", damage.byte)?;
    about.set_item("pointer", damage.pointer.as_deref())?;
    about.set_item("reason", &damage.reason)?;
    Ok(about)
}

/// What the system says. An exception of Python's that went through a reader comes out again.
pub(crate) fn os(py: Python<'_>, name: &str, error: io::Error) -> PyErr {
    let error = match error.downcast::<PyErr>() {
        Ok(raised) => return raised,
        Err(error) => error,
    };
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{name}: {error}"));
    };
    // The class of its number, as `open` raises it.
    let said = py
        .import("os")
        .and_then(|os| os.call_method1("strerror", (number,)))
        .and_then(|why| py.get_type::<PyOSError>().call1((number, why, name)));
    said.map_or_else(|error| error, PyErr::from_value)
}

/// Why a command could not be done.
pub(crate) fn failure(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Usage(why) => usage(py, &why),
        Failure::Unclear { name, unclear: why } => unclear(py, &name, &why),
        Failure::Read { name, error } | Failure::Write { name, error } => os(py, &name, error),
    }
}

/// Why the reading of a log ended.
pub(crate) fn reading(py: Python<'_>, name: &str, error: Error) -> PyErr {
    let said = error.to_string();
    match error.into_kind() {
        ErrorKind::Io(error) => os(py, name, error),
        ErrorKind::Unclear(why) => unclear(py, name, &why),
        _ => usage(py, &said),
    }
}

/// How much is at work without the interpreter, and whether that goes away.
struct AtWork {
    running: usize,
    closed: bool,
}

/// So long the end of the interpreter waits for what is at work.
const PATIENCE: Duration = Duration::from_secs(60);

static AT_WORK: Mutex<AtWork> = Mutex::new(AtWork { running: 0, closed: false });
static ENDED: Condvar = Condvar::new();

fn at_work() -> MutexGuard<'static, AtWork> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Somebody works while others run Python.
struct Running;

impl Running {
    fn begin() -> Option<Self> {
        let mut at_work = at_work();
        if at_work.closed {
            return None;
        }
        at_work.running += 1;
        Some(Self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        at_work().running -= 1;
        ENDED.notify_all();
    }
}

/// Whether the interpreter ends: what is at work had better stop.
pub(crate) fn is_closed() -> bool {
    at_work().closed
}

/// Works while others run Python. A panic becomes an exception, and nothing is begun any more when the interpreter ends: a thread that
/// comes back to an interpreter that is gone could only be torn down with the whole process.
pub(crate) fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let Some(running) = Running::begin() else {
        return Err(PyRuntimeError::new_err("the interpreter is shutting down"));
    };
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    drop(running);
    done.map_err(|panic| exception(py, "InternalError", &said(&*panic), &[]))
}

/// What a panic says.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("agentglot failed: {}", said.unwrap_or("it panicked"))
}

/// The interpreter is about to end: waits until nobody works without it, which asks [`is_closed`]; not for a read that never comes back.
pub(crate) fn close(py: Python<'_>) {
    at_work().closed = true;
    py.detach(|| {
        let works = |at_work: &mut AtWork| at_work.running > 0;
        drop(ENDED.wait_timeout_while(at_work(), PATIENCE, works));
    });
}
