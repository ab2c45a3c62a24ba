//! Tables as streams of Arrow's C interface: batches go to whoever reads them as they are, without a copy.

use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use agentglot::cli::call::Call;
use agentglot::columns::{RecordBatch, SchemaRef, Table};
use agentglot::io::{Console, Memory};
use agentglot::work::{Work, run_giving};
use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyCapsule;

use crate::errors;

/// So many batches wait to be taken.
const WAITING: usize = 2;

/// A table of logs, read anew by each stream that is asked of it.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct ArrowStream {
    call: Call,
    table: Table,
    /// Damage ends the stream, behind all rows.
    raises: bool,
}

#[pymethods]
impl ArrowStream {
    /// The options are those of `convert --to arrow`.
    #[new]
    fn new(py: Python<'_>, args: Vec<OsString>, name: &str, memory: Option<PyBackedBytes>, table: &str, raises: bool) -> PyResult<Self> {
        let table = table.parse().map_err(|why: String| errors::usage(py, &why))?;
        // A copy: what reads it may outlive the interpreter.
        let memory = memory.map(|bytes| Memory::new(name, bytes.to_vec()));
        let call = Call { args, memory };
        Ok(Self { call, table, raises })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.table.schema()).map_err(|error| errors::usage(py, &error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Another schema may be asked for; whoever does casts by himself, as the interface has it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let call = self.call.clone();
        let begun = errors::free(py, || call.work())?;
        let work = begun.map_err(|failure| errors::failure(py, failure))?;
        let (made, batches) = sync_channel(WAITING);
        let raises = self.raises;
        let thread = std::thread::Builder::new().name("agentglot-tables".to_owned());
        thread.spawn(move || make(work, raises, made)).map_err(PyOSError::new_err)?;
        let stream = Batches {
            schema: self.table.schema(),
            batches,
        };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(stream)), c"arrow_array_stream")
    }
}

type Given = Result<RecordBatch, ArrowError>;

/// Makes the batches, on a thread that has nothing of Python's, so that whoever waits for it may hold what he likes.
fn make(work: Work, raises: bool, made: SyncSender<Given>) {
    let to = made.clone();
    let run = || run_giving(work, Box::new(move |_, batch| to.send(Ok(batch)).is_ok()), &Console::silent());
    let why = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(done)) => raises.then(|| first_fault(&done.report)).flatten(),
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(panic) => Some(errors::said(&*panic as &(dyn Any + Send))),
    };
    if let Some(why) = why {
        // Nobody may be there any more.
        let _ = made.send(Err(ArrowError::ParseError(why)));
    }
}

/// What is wrong first, with its place, if anything is; and how much more.
fn first_fault(report: &str) -> Option<String> {
    let report: serde_json::Value = serde_json::from_str(report).ok()?;
    let mut first = None;
    let mut count = 0;
    for log in report["logs"].as_array()? {
        let name = log["log"].as_str().unwrap_or("-");
        for damage in log["damage"].as_array().into_iter().flatten() {
            let file = damage["file"].as_str().unwrap_or(name);
            let reason = damage["reason"].as_str().unwrap_or_default();
            first.get_or_insert_with(|| format!("{file}:{}:{}: {reason}", damage["line"], damage["byte"]));
        }
        if let Some(error) = log["error"].as_str() {
            first.get_or_insert_with(|| error.to_owned());
            count += 1;
        }
        count += log["damaged"].as_u64().unwrap_or_default();
    }
    match count {
        0 | 1 => first,
        more => first.map(|first| format!("{first} (and {} more)", more - 1)),
    }
}

struct Batches {
    schema: SchemaRef,
    batches: Receiver<Given>,
}

impl Iterator for Batches {
    type Item = Given;

    fn next(&mut self) -> Option<Given> {
        self.batches.recv().ok()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
