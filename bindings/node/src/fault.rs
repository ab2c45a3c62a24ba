//! What went wrong, as JSON of which JavaScript makes an error; and panics, of which none may end the process.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use agentglot::adapters::convert::Damage;
use agentglot::adapters::detect::Unclear;
use agentglot::adapters::{Error, ErrorKind};
use agentglot::status::Failure;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Task};
use napi_derive::napi;
use serde_json::{Value, json};

/// What a call brought: bytes, JSON, an exit code; or what went wrong.
#[napi(object)]
#[derive(Default)]
pub struct Answer {
    /// What was written.
    pub bytes: Option<Buffer>,
    /// JSON, or lines of it.
    pub text: Option<String>,
    /// JSON: damage that was found.
    pub damage: Option<String>,
    /// The exit code that the command would have.
    pub status: u32,
    /// JSON: why there is nothing else.
    pub fault: Option<String>,
}

/// The same on its way from the thread that made it.
#[derive(Default)]
pub struct Made {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) text: Option<String>,
    pub(crate) damage: Option<String>,
    pub(crate) status: u8,
}

/// A fault, as JSON has it.
pub struct Fault(Value);

impl Fault {
    fn new(kind: &str, message: &str) -> Self {
        Self(json!({"kind": kind, "message": message}))
    }

    /// Options that make no sense.
    pub(crate) fn usage(why: &str) -> Self {
        Self::new("usage", why)
    }

    /// A dialect that could not be told.
    pub(crate) fn unclear(name: &str, unclear: &Unclear) -> Self {
        let candidates: Vec<String> = unclear.candidates.iter().map(|found| found.format.to_string()).collect();
        Self(json!({"kind": "unclear", "message": format!("{name}: {unclear}"), "file": name, "candidates": candidates}))
    }

    /// What the system says.
    pub(crate) fn system(name: &str, error: &io::Error) -> Self {
        Self(json!({"kind": "system", "message": error.to_string(), "file": name, "errno": error.raw_os_error()}))
    }

    /// Why the reading of a log ended.
    pub(crate) fn reading(name: &str, error: Error) -> Self {
        let said = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(error) => Self::system(name, &error),
            ErrorKind::Unclear(why) => Self::unclear(name, &why),
            _ => Self::usage(&said),
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Usage(why) => Self::usage(&why),
            Failure::Unclear { name, unclear } => Self::unclear(&name, &unclear),
            Failure::Read { name, error } | Failure::Write { name, error } => Self::system(&name, &error),
        }
    }
}

/// Damage, as JSON has it.
pub(crate) fn damage(name: &str, found: &[Damage]) -> Option<String> {
    let told = |damage: &Damage| json!({"file": name, "line": damage.line, "byte": damage.byte, "pointer": damage.pointer, "reason": damage.reason});
    (!found.is_empty()).then(|| Value::from_iter(found.iter().map(told)).to_string())
}

type Doing = Box<dyn FnOnce() -> Result<Made, Fault> + Send>;

/// Work for a thread of Node's pool.
pub struct Work(Option<Doing>);

/// Has it done on a thread of Node's pool. A panic becomes a fault.
pub(crate) fn aside(work: impl FnOnce() -> Result<Made, Fault> + Send + 'static) -> AsyncTask<Work> {
    AsyncTask::new(Work(Some(Box::new(work))))
}

impl Task for Work {
    type Output = Result<Made, Fault>;
    type JsValue = Answer;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let Some(work) = self.0.take() else { return Ok(Ok(Made::default())) };
        if is_closed() {
            return Ok(Err(Fault::usage("the process is ending")));
        }
        Ok(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Fault::new("internal", &said(&*panic)))))
    }

    fn resolve(&mut self, _: Env, output: Self::Output) -> napi::Result<Answer> {
        Ok(match output {
            Ok(made) => Answer {
                bytes: made.bytes.map(Buffer::from),
                text: made.text,
                damage: made.damage,
                status: made.status.into(),
                fault: None,
            },
            Err(Fault(fault)) => Answer {
                fault: Some(fault.to_string()),
                ..Answer::default()
            },
        })
    }
}

fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("agentglot failed: {}", said.unwrap_or("it panicked"))
}

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the process ends: its end waits for what is at work, which had better stop.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// The process is about to end.
#[napi]
pub fn close() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// What becomes of a panic: for tests.
#[napi]
pub fn panic(text: String) -> AsyncTask<Work> {
    aside(move || panic!("{text}"))
}
