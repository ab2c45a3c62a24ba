//! Conversions that are fed, or read their log by themselves, piece by piece.

use std::io::Read;
use std::sync::{Arc, Mutex};

use agentglot::adapters::convert::{AutoConverter, Converter};
use agentglot::adapters::{Dialect, Json};
use agentglot::cli::call::Call;
use agentglot::io::{Console, Memory, READ, Source};
use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;

use crate::as_one::AsOne;
use crate::fault::{Fault, Made, Work, aside, damage};
use crate::work::{input, words};

enum Origin {
    /// Whoever calls has the log.
    Caller,
    /// A file, or bytes in memory, once it has been opened.
    Reader(Box<dyn Read + Send>),
}

struct Feeding {
    name: String,
    converter: AsOne<AutoConverter>,
    from: Origin,
    /// Events are wanted, as a JSON array, and not lines.
    events: bool,
}

/// A conversion. Its calls are made one after the other.
#[napi]
pub struct Feeder {
    feeding: Arc<Mutex<Option<Feeding>>>,
}

impl Feeding {
    fn made(&mut self, piece: Option<&[u8]>) -> Result<Made, Fault> {
        let mut out = Vec::new();
        let made = match piece {
            Some(piece) => self.converter.0.feed(piece, &mut out),
            None => self.converter.0.finish(&mut out),
        };
        made.map_err(|unclear| Fault::unclear(&self.name, &unclear))?;
        let found = self.look(Converter::take_damage).unwrap_or_default();
        let damage = damage(&self.name, &found);
        let (bytes, text) = if self.events {
            (None, Some(self.array(&out)))
        } else {
            (Some(out), None)
        };
        Ok(Made {
            bytes,
            text,
            damage,
            status: 0,
        })
    }

    /// Looks at the conversion, if it has begun.
    fn look<T>(&mut self, look: impl FnOnce(&mut Converter) -> T) -> Option<T> {
        self.converter.0.converter_mut().map(look)
    }

    /// The lines as one JSON array, which is parsed at once.
    fn array(&self, lines: &[u8]) -> String {
        // A log of events is copied, line by line, whatever stands in it.
        let copied = self.converter.0.from().is_some_and(|from| from.dialect == Dialect::CANONICAL);
        let mut array = String::with_capacity(lines.len() + 2);
        array.push('[');
        for line in String::from_utf8_lossy(lines).split('\n') {
            // Heads of sessions are no events.
            if line.is_empty() || line.starts_with("{\"agentglot\"") || (copied && !is_event(line)) {
                continue;
            }
            if array.len() > 1 {
                array.push(',');
            }
            array.push_str(line);
        }
        array.push(']');
        array
    }

    /// Reads on; an answer of the status 1 is the last.
    fn next(&mut self) -> Result<Made, Fault> {
        let Origin::Reader(reader) = &mut self.from else {
            return Err(Fault::usage("this log is fed"));
        };
        let mut room = vec![0; READ];
        let read = loop {
            match reader.read(&mut room) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read.map_err(|error| Fault::system(&self.name, &error))?,
            }
        };
        if read > 0 {
            return self.made(Some(&room[..read]));
        }
        Ok(Made {
            status: 1,
            ..self.made(None)?
        })
    }
}

fn is_event(line: &str) -> bool {
    Json::new(line).is_some_and(|line| line.get("event").is_some() || line.get("input").is_some())
}

impl Feeder {
    /// What a fault or a panic has left is not used any more.
    fn aside(&self, work: impl FnOnce(&mut Feeding) -> Result<Made, Fault> + Send + 'static) -> AsyncTask<Work> {
        let feeding = Arc::clone(&self.feeding);
        aside(move || {
            let mut feeding = feeding.lock().map_err(|_| Fault::usage("the conversion has failed"))?;
            let Some(mut with) = feeding.take() else {
                return Err(Fault::usage("the conversion is over"));
            };
            let made = work(&mut with)?;
            *feeding = Some(with);
            Ok(made)
        })
    }

    fn look<T>(&self, look: impl FnOnce(&mut Feeding) -> Option<T>) -> Option<T> {
        look(self.feeding.try_lock().ok()?.as_mut()?)
    }
}

#[napi]
impl Feeder {
    /// Nothing happens before the first call of another method, which tells what is wrong with the options.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self { feeding: Arc::default() }
    }

    /// Begins. With `events`, answers have JSON arrays of events; a file, or `memory`, is read by `next`, and what has neither is fed.
    #[napi]
    pub fn open(
        &self,
        args: Vec<String>,
        name: String,
        events: bool,
        ledger: bool,
        path: Option<String>,
        memory: Option<Uint8Array>,
    ) -> AsyncTask<Work> {
        let input = (path.is_some() || memory.is_some()).then(|| input(&name, path, memory.as_ref()));
        let feeding = Arc::clone(&self.feeding);
        aside(move || {
            let call = Call {
                args: words(args),
                memory: Some(Memory::new("-", "")),
            };
            let converter = AsOne(call.converter(|options| {
                options.keep_spelling &= !events;
                options.ledger = ledger.then(|| name.clone());
            })?);
            let from = match input {
                Some(input) => Origin::Reader(Box::new(Source::open(&input, &Console::silent())?.into_reader())),
                None => Origin::Caller,
            };
            let begun = Feeding {
                name,
                converter,
                from,
                events,
            };
            *feeding.lock().map_err(|_| Fault::usage("the conversion has failed"))? = Some(begun);
            Ok(Made::default())
        })
    }

    /// Takes a piece of the log.
    #[napi]
    pub fn feed(&self, piece: Uint8Array) -> AsyncTask<Work> {
        let piece = piece.to_vec();
        self.aside(move |feeding| feeding.made(Some(&piece)))
    }

    /// The log is over.
    #[napi]
    pub fn finish(&self) -> AsyncTask<Work> {
        self.aside(|feeding| feeding.made(None))
    }

    /// Reads on.
    #[napi]
    pub fn next(&self) -> AsyncTask<Work> {
        self.aside(Feeding::next)
    }

    /// Lines of the ledger that were written since the last call.
    #[napi]
    pub fn take_ledger(&self) -> String {
        self.look(|feeding| feeding.look(Converter::take_ledger)).unwrap_or_default()
    }

    /// What is read, if that is known by now.
    #[napi(getter)]
    pub fn format(&self) -> Option<String> {
        self.look(|feeding| feeding.converter.0.from()).map(|from| from.to_string())
    }

    /// Lines read.
    #[napi(getter)]
    pub fn lines(&self) -> Option<i64> {
        self.look(|feeding| i64::try_from(feeding.look(|converter| converter.lines()).unwrap_or(0)).ok())
    }

    /// Lets go of everything.
    #[napi]
    pub fn close(&self) {
        if let Ok(mut feeding) = self.feeding.try_lock() {
            *feeding = None;
        }
    }
}
