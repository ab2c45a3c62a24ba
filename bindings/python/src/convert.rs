//! `Converter`: fed with pieces, gives pieces.

use std::ffi::OsString;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;
use crate::machine::Machine;

/// A conversion that is fed.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct Converter {
    name: String,
    machine: Mutex<Machine>,
}

impl Converter {
    /// Does something with the interpreter free.
    fn free<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut Machine, &mut Vec<u8>) -> Result<(), agentglot::adapters::detect::Unclear> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (made, out) = errors::free(py, || {
            let mut out = Vec::new();
            // What a panic has left is not used any more: each call would panic again, and be told.
            let made = work(&mut self.machine.lock().expect("no call before has failed"), &mut out);
            (made, out)
        })?;
        made.map_err(|unclear| errors::unclear(py, &self.name, &unclear))?;
        Ok(PyBytes::new(py, &out))
    }

    fn locked<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Machine) -> T + Send) -> PyResult<T>
    where
        T: Send,
    {
        errors::free(py, || work(&mut self.machine.lock().expect("no call before has failed")))
    }
}

#[pymethods]
impl Converter {
    #[new]
    fn new(py: Python<'_>, args: Vec<OsString>, name: String, ledger: bool) -> PyResult<Self> {
        let called = ledger.then(|| name.clone());
        let machine = Machine::new(py, args)?.with(|options| options.ledger = called);
        Ok(Self {
            name,
            machine: Mutex::new(machine),
        })
    }

    fn feed<'py>(&self, py: Python<'py>, piece: PyBackedBytes) -> PyResult<Bound<'py, PyBytes>> {
        self.free(py, |machine, out| machine.feed(&piece, out))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.free(py, Machine::finish)
    }

    /// What was damaged since the last call.
    fn take_damage<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let damage = self.locked(py, Machine::take_damage)?;
        damage.iter().map(|damage| errors::damage(py, &self.name, damage)).collect()
    }

    /// Lines of the ledger that were written since the last call.
    fn take_ledger(&self, py: Python<'_>) -> PyResult<String> {
        self.locked(py, Machine::take_ledger)
    }

    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.locked(py, |machine| machine.from().map(|format| format.to_string()))
    }

    #[getter]
    fn lines(&self, py: Python<'_>) -> PyResult<u64> {
        self.locked(py, |machine| machine.lines())
    }

    #[getter]
    fn stopped(&self, py: Python<'_>) -> PyResult<bool> {
        self.locked(py, |machine| machine.stopped())
    }
}
