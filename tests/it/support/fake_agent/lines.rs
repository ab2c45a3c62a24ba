//! Stdin, read by a thread as soon as the script first asks for it, and not before.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::play::Out;

/// How control requests are answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    Answer,
    Never,
    Twice,
    Unknown,
    Malformed,
}

impl Manner {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "answer" => Self::Answer,
            "never" => Self::Never,
            "twice" => Self::Twice,
            "unknown" => Self::Unknown,
            "malformed" => Self::Malformed,
            other => return Err(format!("control {other}: there is no such manner")),
        })
    }
}

/// What the thread and the script share.
#[derive(Debug, Default)]
struct Setting {
    manner: Option<Manner>,
    keep: Option<File>,
}

#[derive(Debug)]
pub(crate) struct Lines {
    out: Out,
    setting: Arc<Mutex<Setting>>,
    plain: Option<Receiver<Vec<u8>>>,
    responses: Option<Receiver<Value>>,
}

impl Lines {
    pub(crate) fn new(out: Out) -> Self {
        Self {
            out,
            setting: Arc::default(),
            plain: None,
            responses: None,
        }
    }

    pub(crate) fn manner(&mut self, manner: Manner) {
        self.setting.lock().expect("no holder panics").manner = Some(manner);
        self.begin();
    }

    pub(crate) fn keep(&mut self, path: &Path) -> std::io::Result<()> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        self.setting.lock().expect("no holder panics").keep = Some(file);
        self.begin();
        Ok(())
    }

    /// The next line that is no control line. `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        self.begin();
        self.plain.as_ref()?.recv().ok()
    }

    /// The next answer, whatever it answers.
    pub(crate) fn next_response(&mut self, patience: Duration) -> Result<Value, RecvTimeoutError> {
        self.begin();
        self.responses.as_ref().ok_or(RecvTimeoutError::Disconnected)?.recv_timeout(patience)
    }

    /// The answer to a request of ours.
    pub(crate) fn response(&mut self, id: &str, patience: Duration) -> Result<Value, RecvTimeoutError> {
        self.begin();
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let responses = self.responses.as_ref().ok_or(RecvTimeoutError::Disconnected)?;
            let response = responses.recv_timeout(left)?;
            if response["request_id"] == id {
                return Ok(response);
            }
        }
    }

    fn begin(&mut self) {
        if self.plain.is_some() {
            return;
        }
        let (plain, plain_out) = channel();
        let (responses, responses_out) = channel();
        (self.plain, self.responses) = (Some(plain_out), Some(responses_out));
        let (out, setting) = (self.out.clone(), Arc::clone(&self.setting));
        std::thread::spawn(move || serve(&out, &setting, &plain, &responses));
    }
}

fn serve(out: &Out, setting: &Mutex<Setting>, plain: &Sender<Vec<u8>>, responses: &Sender<Value>) {
    let mut stdin = std::io::stdin().lock();
    let mut line = Vec::new();
    while matches!(stdin.read_until(b'\n', &mut line), Ok(1..)) {
        let mut now = setting.lock().expect("no holder panics");
        if let Some(file) = &mut now.keep {
            let _ = file.write_all(&line);
        }
        let manner = now.manner;
        drop(now);
        let value: Value = serde_json::from_slice(&line).unwrap_or_default();
        match (value["type"].as_str(), manner) {
            (Some("control_request"), Some(manner)) => answer(out, &value, manner),
            (Some("control_response"), _) => drop(responses.send(value["response"].clone())),
            _ => drop(plain.send(std::mem::take(&mut line))),
        }
        line.clear();
    }
}

fn answer(out: &Out, request: &Value, manner: Manner) {
    let id = match manner {
        Manner::Unknown => json!("an id that nobody gave"),
        _ => request["request_id"].clone(),
    };
    let response = json!({"subtype": "success", "request_id": id, "response": {"asked": request["request"]["subtype"]}});
    let line = format!("{}\n", json!({"type": "control_response", "response": response}));
    let written = match manner {
        Manner::Never => return,
        Manner::Twice => line.repeat(2),
        Manner::Malformed => format!("{}\n", &line[..line.len() / 2]),
        Manner::Answer | Manner::Unknown => line,
    };
    // Whoever closed our stdout does not want to know.
    let _ = out.write(written.as_bytes());
}
