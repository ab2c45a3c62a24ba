//! `Converter`: fed with pieces, gives pieces.

use std::ffi::OsString;
use std::sync::Mutex;

use agentglot::adapters::convert::{self, AutoConverter};
use agentglot::adapters::detect::Unclear;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::as_one::AsOne;
use crate::{errors, fed};

/// A conversion that is fed.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct Converter {
    name: String,
    converter: Mutex<AsOne<AutoConverter>>,
}

impl Converter {
    /// Does something with the interpreter free.
    fn free<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut AutoConverter, &mut Vec<u8>) -> Result<(), Unclear> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (made, out) = errors::free(py, || {
            let mut out = Vec::new();
            // What a panic has left is not used any more: each call would panic again, and be told.
            let made = work(&mut self.converter.lock().expect("no call before has failed").0, &mut out);
            (made, out)
        })?;
        made.map_err(|unclear| errors::unclear(py, &self.name, &unclear))?;
        Ok(PyBytes::new(py, &out))
    }

    /// Looks at the conversion, if it has begun.
    fn look<T>(&self, py: Python<'_>, work: impl FnOnce(&mut convert::Converter) -> T + Send) -> PyResult<T>
    where
        T: Default + Send,
    {
        errors::free(py, || {
            let mut converter = self.converter.lock().expect("no call before has failed");
            converter.0.converter_mut().map(work).unwrap_or_default()
        })
    }
}

#[pymethods]
impl Converter {
    #[new]
    fn new(py: Python<'_>, args: Vec<OsString>, name: String, ledger: bool) -> PyResult<Self> {
        let called = ledger.then(|| name.clone());
        let converter = fed::converter(py, args, |options| options.ledger = called)?;
        Ok(Self {
            name,
            converter: Mutex::new(converter),
        })
    }

    fn feed<'py>(&self, py: Python<'py>, piece: PyBackedBytes) -> PyResult<Bound<'py, PyBytes>> {
        self.free(py, |converter, out| converter.feed(&piece, out))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.free(py, AutoConverter::finish)
    }

    /// What was damaged since the last call.
    fn take_damage<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let damage = self.look(py, convert::Converter::take_damage)?;
        damage.iter().map(|damage| errors::damage(py, &self.name, damage)).collect()
    }

    /// Lines of the ledger that were written since the last call.
    fn take_ledger(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, convert::Converter::take_ledger)
    }

    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<Option<String>> {
        errors::free(py, || {
            let converter = self.converter.lock().expect("no call before has failed");
            converter.0.from().map(|format| format.to_string())
        })
    }

    #[getter]
    fn lines(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |converter| converter.lines())
    }

    #[getter]
    fn stopped(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |converter| converter.stopped())
    }
}
