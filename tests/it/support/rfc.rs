//! A host of the RFC in front of the built-in agent. Every line of both sides is looked at by our own schemas, and what the agent said is
//! kept for tests/it/wire.rs, where Python reads it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agentglot::adapters::raw::codec::Dialect;
use agentglot::schema::schema;
use serde_json::{Value, json};

use super::model::Server;
use super::play::Play;

/// Arguments for one JSON object a line on both sides, message by message.
pub(crate) const MESSAGES: &[&str] = &["--input-format", "stream-json", "--output-format", "stream-json"];
/// The same piece by piece.
pub(crate) const CHUNKS: &[&str] = &["--input-format", "stream-json", "--output-format", "stream-chunk-json"];

/// Where the agent's lines of the tests are kept, a file for each session.
pub(crate) fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rfc-sessions")
}

/// Looks at a line of the agent's, or, with `input`, of the host's.
pub(crate) fn fits(line: &Value, input: bool) {
    static SCHEMAS: OnceLock<[jsonschema::Validator; 2]> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        [false, true].map(|input| {
            let schema = schema(Dialect::Qwen.into(), input).expect("the RFC has one for each side");
            jsonschema::validator_for(&schema).expect("it is a schema")
        })
    });
    let wrong: Vec<String> = schemas[usize::from(input)]
        .iter_errors(line)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "a line that does not fit our schema: {wrong:#?}\n{line}");
}

/// Keeps the lines of a run, each session by itself.
#[derive(Default)]
pub(crate) struct Keeper {
    sessions: BTreeMap<String, String>,
    last: String,
    _counted: Counted,
}

/// Keepers that have not written yet what they keep.
pub(crate) fn keepers() -> usize {
    KEEPERS.load(Ordering::SeqCst)
}

static KEEPERS: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Default for Counted {
    fn default() -> Self {
        KEEPERS.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        KEEPERS.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Keeper {
    /// Looks at the next line of the agent's and keeps it.
    pub(crate) fn line(&mut self, text: &str) -> Value {
        let line: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("no JSON: {error}: {text}"));
        fits(&line, false);
        let of_object = line["id"].as_str().map(|id| id.trim_start_matches("chatcmpl-"));
        let named = of_object.or_else(|| line["session_id"].as_str().or_else(|| line["request"]["session_id"].as_str()));
        if let Some(session) = named.filter(|_| line.get("object").is_some()) {
            session.clone_into(&mut self.last);
        }
        let session = named.unwrap_or(&self.last).to_owned();
        let lines = self.sessions.entry(session).or_default();
        lines.push_str(text);
        lines.push('\n');
        line
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // A run that was killed may have said half a line; nothing else goes wrong here that a test would want to know.
        let _ = std::fs::create_dir_all(kept());
        for (session, lines) in &self.sessions {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}-{session}.jsonl", std::process::id());
            let _ = std::fs::write(kept().join(name), lines);
        }
    }
}

/// The host.
pub(crate) struct Rfc {
    pub(crate) play: Play,
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    reader: Option<JoinHandle<()>>,
    errors: Option<JoinHandle<String>>,
    pub(crate) seen: Vec<Value>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl Rfc {
    /// In front of this model.
    pub(crate) fn new(server: Server) -> Self {
        Self::with(Play::of(server), MESSAGES, &|_| {})
    }

    /// In front of this one, with these arguments, and whatever else the run needs.
    pub(crate) fn with(play: Play, args: &[&str], prepare: &dyn Fn(&mut Command)) -> Self {
        let mut command = play.command("qwen", args);
        command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "60");
        prepare(&mut command);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (give, lines) = channel();
        let reader = std::thread::spawn(move || {
            let mut keeper = Keeper::default();
            for text in stdout.lines().map_while(Result::ok) {
                // A test that has ended reads no more; the session is kept all the same.
                let _ = give.send(keeper.line(&text));
            }
        });
        let errors = std::thread::spawn(move || {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            said
        });
        Self {
            play,
            stdin: child.stdin.take(),
            child,
            lines,
            reader: Some(reader),
            errors: Some(errors),
            seen: Vec::new(),
        }
    }

    /// Says a line that is as the RFC wants it.
    pub(crate) fn say(&mut self, line: &Value) {
        fits(line, true);
        self.say_raw(&line.to_string());
    }

    /// Says anything.
    pub(crate) fn say_raw(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// A prompt in the session that goes on.
    pub(crate) fn prompt(&mut self, text: &str) {
        let session = self.session();
        self.say(&json!({"session_id": session, "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}}));
    }

    /// The session of the last object; `_new` before there is one.
    pub(crate) fn session(&self) -> String {
        let id = self.seen.iter().rev().find_map(|line| line["id"].as_str());
        id.map_or("_new", |id| id.trim_start_matches("chatcmpl-")).to_owned()
    }

    /// Answers a question of the agent's.
    pub(crate) fn answer(&mut self, asked: &Value, response: Value) {
        self.say(&json!({"type": "control_response", "request_id": asked["request_id"], "response": response}));
    }

    /// The same with a result.
    pub(crate) fn answer_well(&mut self, asked: &Value, result: Value) {
        self.answer(asked, json!({"subtype": "success", "result": result}));
    }

    pub(crate) fn next(&mut self) -> Option<Value> {
        let line = self.lines.recv_timeout(Duration::from_secs(20)).ok()?;
        self.seen.push(line.clone());
        Some(line)
    }

    pub(crate) fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            match self.next() {
                Some(line) if holds(&line) => return line,
                Some(_) => {}
                None => break,
            }
        }
        let last: Vec<String> = self.seen.iter().rev().take(12).rev().map(Value::to_string).collect();
        panic!("it does not come; the last of {} lines:\n{}", self.seen.len(), last.join("\n"));
    }

    pub(crate) fn kind(&mut self, kind: &str) -> Value {
        self.until(|line| line["type"] == kind)
    }

    /// The metadata of the next summary.
    pub(crate) fn summary(&mut self) -> Value {
        self.until(|line| line["metadata"]["summary"] == "true")["metadata"].clone()
    }

    /// The next result of a command.
    pub(crate) fn result(&mut self) -> Value {
        self.kind("result/command")["result"].clone()
    }

    /// The next call that is so far.
    pub(crate) fn status(&mut self, status: &str) -> Value {
        let line = self.until(|line| displays(line).any(|display| display["status"] == status));
        displays(&line).find(|display| display["status"] == status).unwrap().clone()
    }

    /// Closes the input, and reads to the end.
    pub(crate) fn end(mut self) -> End {
        self.stdin.take();
        self.rest()
    }

    /// Reads to the end of a run that ends by itself.
    pub(crate) fn rest(mut self) -> End {
        let until = Instant::now() + Duration::from_secs(30);
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.seen.push(line);
        }
        while self.child.try_wait().unwrap().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(self.child.try_wait().unwrap().is_some(), "it does not end");
        let code = self.child.wait().unwrap().code();
        // A line that does not fit has ended the reader.
        self.reader.take().unwrap().join().unwrap();
        let stderr = self.errors.take().unwrap().join().unwrap();
        End {
            code,
            lines: std::mem::take(&mut self.seen),
            stderr,
        }
    }
}

impl Drop for Rfc {
    fn drop(&mut self) {
        self.stdin.take();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a line says, as a message or a piece of one.
pub(crate) fn said(line: &Value) -> &Value {
    let choice = &line["choices"][0];
    if choice["delta"].is_object() {
        &choice["delta"]
    } else {
        &choice["message"]
    }
}

/// The annotations of a line of one type.
pub(crate) fn annotations<'l>(line: &'l Value, kind: &'static str) -> impl Iterator<Item = &'l Value> {
    let all = said(line)["annotations"].as_array().into_iter().flatten();
    all.filter(move |annotation| annotation["type"] == kind)
}

pub(crate) fn displays(line: &Value) -> impl Iterator<Item = &Value> {
    annotations(line, "x-qwen-tool-display")
}

/// Output of this source for a terminal: the annotation and its text.
pub(crate) fn terminals<'l>(lines: &'l [Value], source: &str) -> Vec<(&'l Value, String)> {
    let mut found = Vec::new();
    for line in lines {
        for terminal in annotations(line, "x-qwen-terminal").filter(|terminal| terminal["source"] == source) {
            found.push((terminal, said(line)["content"].as_str().unwrap_or_default().to_owned()));
        }
    }
    found
}
