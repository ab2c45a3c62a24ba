//! Commands as calls.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agentglot::adapters::Format;
use agentglot::cli::call::Call;
use agentglot::io::{Console, Input, Memory, Source, Target};
use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;
use serde_json::json;

use crate::fault::{Made, Work, aside, is_closed};

/// Keeps what is written; no more of it when the process ends.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if is_closed() {
            return Err(io::Error::other("the process is ending"));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Options as words of a command line.
pub(crate) fn words(args: Vec<String>) -> Vec<OsString> {
    args.into_iter().map(OsString::from).collect()
}

/// The bytes are copied: JavaScript may go on to write into them.
fn call(args: Vec<String>, name: &str, memory: Option<&Uint8Array>) -> Call {
    Call {
        args: words(args),
        memory: memory.map(|bytes| Memory::new(name, bytes.to_vec())),
    }
}

pub(crate) fn input(name: &str, path: Option<String>, memory: Option<&Uint8Array>) -> Input {
    match (path, memory) {
        (Some(path), _) => Input::File(PathBuf::from(path)),
        (None, Some(memory)) => Input::Memory(Memory::new(name, memory.to_vec())),
        (None, None) => Input::Memory(Memory::new(name, "")),
    }
}

/// `convert`: the output, the report.
#[napi]
pub fn convert(args: Vec<String>, name: String, memory: Option<Uint8Array>) -> AsyncTask<Work> {
    let call = call(args, &name, memory.as_ref());
    aside(move || {
        let kept = Kept::default();
        let done = call.convert(Target::program(kept.clone()))?;
        Ok(Made {
            bytes: Some(kept.take()),
            text: Some(done.report),
            status: done.status.code(),
            ..Made::default()
        })
    })
}

/// `check`: its JSON lines.
#[napi]
pub fn check(args: Vec<String>, name: String, memory: Option<Uint8Array>) -> AsyncTask<Work> {
    let call = call(args, &name, memory.as_ref());
    aside(move || {
        let kept = Kept::default();
        let status = call.check(Target::program(kept.clone()))?.code();
        let text = String::from_utf8_lossy(&kept.take()).into_owned();
        Ok(Made {
            text: Some(text),
            status,
            ..Made::default()
        })
    })
}

/// `stats`: its JSON.
#[napi]
pub fn stats(args: Vec<String>, name: String, memory: Option<Uint8Array>) -> AsyncTask<Work> {
    let call = call(args, &name, memory.as_ref());
    aside(move || {
        let (text, status) = call.stats()?;
        Ok(Made {
            text: Some(text),
            status: status.code(),
            ..Made::default()
        })
    })
}

/// What a log is written in, and what told; `null` if there is nothing in it.
#[napi]
pub fn detect(name: String, path: Option<String>, memory: Option<Uint8Array>) -> AsyncTask<Work> {
    let input = input(&name, path, memory.as_ref());
    aside(move || {
        let found = Source::open(&input, &Console::silent())?.detect()?;
        let found = found.map(|found| json!({"format": found.format.to_string(), "why": found.why}));
        Ok(Made {
            text: Some(json!(found).to_string()),
            ..Made::default()
        })
    })
}

/// The formats that there are, as JSON: name, whether it is read, whether it is written.
#[napi]
pub fn formats() -> String {
    let apis = agentglot::adapters::Dialect::APIS.into_iter().map(Format::from);
    let all = Format::all().chain(apis);
    let all: Vec<_> = all
        .map(|format| json!([format.to_string(), format.is_readable(), format.is_writable()]))
        .collect();
    json!(all).to_string()
}
