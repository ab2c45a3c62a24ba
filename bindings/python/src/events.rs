//! The events of a log, in batches.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;

use agentglot::adapters::convert::{AutoConverter, Damage};
use agentglot::adapters::detect::Unclear;
use agentglot::adapters::{Dialect, Json};
use agentglot::io::{Console, Input, READ, Source};
use pyo3::exceptions::{PyBlockingIOError, PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyType};

use crate::as_one::AsOne;
use crate::event::Event;
use crate::{errors, fed};

/// Where the bytes of a log come from.
enum Bytes {
    /// A file, or bytes in memory: read with the interpreter free.
    Reader(Box<dyn Read + Send>),
    /// An iterator of Python's.
    Pieces(Py<PyAny>),
    /// It is at its end.
    Over,
}

struct Reading {
    from: Bytes,
    converter: AsOne<AutoConverter>,
    room: Vec<u8>,
    /// Lines of events, and how many bytes of them have been handed out.
    batch: Vec<u8>,
    at: usize,
    damage: Vec<Damage>,
}

/// The events of a log; and, between them, what of it is damaged.
#[pyclass(frozen, module = "agentglot._native")]
pub(crate) struct Events {
    name: String,
    reading: Mutex<Reading>,
}

/// What a step brought.
enum Step {
    More,
    Unclear(Unclear),
    Failed(std::io::Error),
}

impl Reading {
    /// Reads on without the interpreter.
    fn read(&mut self) -> Step {
        let Bytes::Reader(reader) = &mut self.from else { return Step::More };
        self.room.resize(READ, 0);
        let read = match reader.read(&mut self.room) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Step::More,
            Err(error) => {
                self.from = Bytes::Over;
                return Step::Failed(error);
            }
        };
        let room = std::mem::take(&mut self.room);
        let step = self.take(&room[..read]);
        self.room = room;
        step
    }

    /// Takes a piece; an empty one is the end.
    fn take(&mut self, piece: &[u8]) -> Step {
        self.batch.clear();
        self.at = 0;
        let made = if piece.is_empty() {
            self.from = Bytes::Over;
            self.converter.0.finish(&mut self.batch)
        } else {
            self.converter.0.feed(piece, &mut self.batch)
        };
        if let Some(converter) = self.converter.0.converter_mut() {
            self.damage.append(&mut converter.take_damage());
        }
        self.damage.reverse();
        match made {
            Ok(()) => Step::More,
            Err(unclear) => {
                self.from = Bytes::Over;
                Step::Unclear(unclear)
            }
        }
    }

    /// The next line of an event in the batch.
    fn line(&mut self) -> Option<&[u8]> {
        loop {
            let rest = self.batch.get(self.at..).filter(|rest| !rest.is_empty())?;
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let from = self.at;
            self.at = from + len + 1;
            // Heads of sessions are no events.
            if !rest.starts_with(b"{\"agentglot\"") {
                return Some(&self.batch[from..from + len]);
            }
        }
    }
}

#[pymethods]
impl Events {
    /// `path` is opened and unpacked, `memory` is the log itself, `pieces` is an iterator of bytes.
    #[new]
    fn new(
        py: Python<'_>,
        args: Vec<OsString>,
        name: String,
        path: Option<PathBuf>,
        memory: Option<PyBackedBytes>,
        pieces: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let converter = fed::converter(py, args, |options| options.keep_spelling = false)?;
        let from = match (path, memory, pieces) {
            (Some(path), _, _) => {
                let opened = errors::free(py, || Source::open(&Input::File(path), &Console::silent()))?;
                Bytes::Reader(Box::new(opened.map_err(|error| errors::failure(py, error))?.into_reader()))
            }
            (_, Some(memory), _) => Bytes::Reader(Box::new(std::io::Cursor::new(memory))),
            (_, _, Some(pieces)) => Bytes::Pieces(pieces),
            _ => Bytes::Over,
        };
        Ok(Self {
            name,
            reading: Mutex::new(Reading {
                from,
                converter,
                room: Vec::new(),
                batch: Vec::new(),
                at: 0,
                damage: Vec::new(),
            }),
        })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next event, or a dict about damage.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            // Held for a moment only, and never while Python runs.
            let pieces = {
                let Ok(mut reading) = self.reading.try_lock() else {
                    return Err(PyValueError::new_err("the events are being read already"));
                };
                // A log of events is copied, line by line, whatever stands in it.
                let copied = reading.converter.0.from().is_some_and(|from| from.dialect == Dialect::CANONICAL);
                while let Some(line) = reading.line() {
                    if let Some(event) = event(py, line, copied)? {
                        return Ok(Some(event));
                    }
                }
                if let Some(damage) = reading.damage.pop() {
                    return errors::damage(py, &self.name, &damage).map(|about| Some(about.into_any()));
                }
                match &reading.from {
                    Bytes::Over => return Ok(None),
                    Bytes::Reader(_) => None,
                    Bytes::Pieces(pieces) => Some(pieces.clone_ref(py)),
                }
            };
            let piece = match &pieces {
                None => None,
                Some(pieces) => Some(next(pieces.bind(py)).inspect_err(|error| self.failed(py, error))?),
            };
            let step = errors::free(py, || {
                let mut reading = self.reading.lock().expect("no call before has failed");
                match &piece {
                    Some(piece) => reading.take(piece),
                    None => reading.read(),
                }
            })
            .inspect_err(|_| self.over())?;
            match step {
                Step::More => {}
                Step::Unclear(unclear) => return Err(errors::unclear(py, &self.name, &unclear)),
                Step::Failed(error) => return Err(errors::os(py, &self.name, error)),
            }
        }
    }

    /// What the log is written in, as far as it has been read.
    #[getter]
    fn format(&self) -> Option<String> {
        let reading = self.reading.try_lock().ok()?;
        reading.converter.0.from().map(|format| format.to_string())
    }

    /// Reads no more, and lets go of the file.
    fn close(&self) {
        self.over();
    }
}

impl Events {
    /// What raised gives no more; but where nothing is there for now, more may come.
    fn failed(&self, py: Python<'_>, error: &PyErr) {
        if !error.is_instance_of::<PyBlockingIOError>(py) {
            self.over();
        }
    }

    fn over(&self) {
        let mut reading = match self.reading.lock() {
            Ok(reading) => reading,
            Err(poisoned) => poisoned.into_inner(),
        };
        reading.from = Bytes::Over;
        reading.batch = Vec::new();
        reading.damage.clear();
        self.reading.clear_poison();
    }
}

/// The next piece that holds something; an empty one at the end.
fn next(pieces: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    let py = pieces.py();
    loop {
        match pieces.call_method0("__next__") {
            Ok(piece) => {
                let piece: PyBackedBytes = piece.extract()?;
                if !piece.is_empty() {
                    return Ok(piece);
                }
            }
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => return Ok(PyBytes::new(py, b"").into()),
            Err(error) => return Err(error),
        }
    }
}

/// The classes of `agentglot.model`, by what follows the first brace of a line: `"event":"delta"`.
static CLASSES: PyOnceLock<HashMap<Vec<u8>, Py<PyType>>> = PyOnceLock::new();

static NEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The event of a line; nothing if it is none.
fn event<'py>(py: Python<'py>, line: &[u8], copied: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
    let classes = CLASSES.get_or_try_init(py, || {
        let known = py.import("agentglot.model")?.getattr("CLASSES")?;
        let known = known.cast_into::<PyDict>()?;
        let classes = known.iter().map(|(kind, class)| {
            let kind: (String, String) = kind.extract()?;
            Ok((format!("\"{}\":\"{}", kind.0, kind.1).into_bytes(), class.cast_into::<PyType>()?.unbind()))
        });
        classes.collect::<PyResult<_>>()
    })?;
    let class = if copied {
        let Some(tag) = std::str::from_utf8(line).ok().and_then(Json::new).as_ref().and_then(tag) else {
            return Ok(None);
        };
        classes.get(tag.as_bytes())
    } else {
        // Both words are written as they stand in the table, and the second ends with the third quote after it began.
        let end = memchr::memchr_iter(b'"', line).nth(3).unwrap_or(line.len());
        line.get(1..end).and_then(|head| classes.get(head))
    };
    let Some(class) = class.or_else(|| classes.get(&b"\"event\":\""[..])) else {
        return Err(errors::usage(py, "an event that this package does not know"));
    };
    // The class's own `__new__` is for those who make events by hand.
    let new = NEW.get_or_try_init(py, || py.get_type::<Event>().getattr("__new__").map(Bound::unbind))?;
    new.bind(py).call1((class, PyBytes::new(py, line))).map(Some)
}

/// What kind of event a line says, as the table has it.
fn tag(line: &Json) -> Option<String> {
    let word = |key| Some(format!("\"{key}\":\"{}", line.get(key)?.to_text()?));
    word("event").or_else(|| word("input"))
}
