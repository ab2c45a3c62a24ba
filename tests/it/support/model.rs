//! A model server that does what a test says: both APIs, streams in pieces, every way to fail.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};

/// What a server answers to one request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) says: Says,
    /// It is compressed, each piece so that it can be read when it comes.
    pub(crate) packed: bool,
}

/// The body.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    /// A stream, in the shape of the API that was asked.
    Steps(Vec<Step>),
    /// Something else, as it is.
    Body(&'static str, String),
    /// Nothing, for so long; then the connection is closed.
    Silence(Duration),
    /// A stream of the beginning, then of the same again and again, so many times. It is packed, and costs next to nothing.
    Bomb(String, String, usize),
}

/// A piece of a stream. What is not broken off ends with the API's own end.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Text(String),
    Think(String),
    /// Id, name, arguments as they are written.
    Call(String, String, String),
    /// Nothing comes for so many milliseconds.
    Pause(u64),
    /// The connection breaks.
    Cut,
    /// This goes out as it is.
    Raw(String),
    /// Why it stops, by the API's own word.
    Stop(&'static str),
    /// Tokens read and written.
    Used(u64, u64),
}

use Step::{Call, Cut, Pause, Raw, Stop, Text, Think, Used};

impl Answer {
    pub(crate) const fn steps(steps: Vec<Step>) -> Self {
        Self::with(200, Says::Steps(steps))
    }

    pub(crate) const fn with(status: u16, says: Says) -> Self {
        Self {
            status,
            headers: Vec::new(),
            says,
            packed: false,
        }
    }

    /// An answer of a few words.
    pub(crate) fn text(text: &str) -> Self {
        Self::steps(vec![Text(text.to_owned())])
    }

    /// Calls of tools.
    pub(crate) fn calls(calls: &[(&str, Value)]) -> Self {
        let calls = calls.iter().enumerate();
        Self::steps(
            calls
                .map(|(at, (name, input))| Call(format!("call_{at}"), (*name).to_owned(), input.to_string()))
                .collect(),
        )
    }

    /// An error as APIs write it.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": "some_error", "message": message}});
        Self::with(status, Says::Body("application/json", body.to_string()))
    }

    pub(crate) fn packed(mut self) -> Self {
        self.packed = true;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Asked {
    /// The text of all messages of a role, in whichever API's shape, and the results of tools with them.
    pub(crate) fn all(&self) -> String {
        self.body["messages"].to_string()
    }

    /// The last message's text.
    pub(crate) fn last(&self) -> String {
        self.body["messages"]
            .as_array()
            .and_then(|all| all.last())
            .map(Value::to_string)
            .unwrap_or_default()
    }

    /// The system prompt.
    pub(crate) fn system(&self) -> String {
        let first = &self.body["messages"][0];
        match first["role"].as_str() {
            Some("system" | "developer") => first["content"].to_string(),
            _ => self.body.get("system").map(Value::to_string).unwrap_or_default(),
        }
    }

    /// The names of the tools that were offered.
    pub(crate) fn tools(&self) -> Vec<String> {
        let all = self.body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["function"]["name"].as_str().or_else(|| tool["name"].as_str()).map(str::to_owned);
        all.iter().filter_map(name).collect()
    }
}

/// A server on this machine, for as long as the process runs.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) port: u16,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers by the request and its number, from 0.
    pub(crate) fn start(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::begin(answer, true)
    }

    /// The same, without a log.
    #[allow(dead_code, reason = "benches/agent.rs starts one")]
    pub(crate) fn start_unlogged(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::begin(answer, false)
    }

    fn begin(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static, logs: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
        let kept = log.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, count, log) = (answer.clone(), count.clone(), kept.clone());
                std::thread::spawn(move || {
                    let _ = stream.set_nodelay(true);
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    // A client that is gone is no reason to panic.
                    while let Some(asked) = read(&mut reader) {
                        if logs {
                            log.lock().unwrap().push(asked.clone());
                        }
                        let number = count.fetch_add(1, Ordering::SeqCst);
                        if write(&stream, &asked, &answer(&asked, number)).is_none() {
                            break;
                        }
                    }
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                });
            }
        });
        Self { port, log }
    }

    /// One answer after the other; the last one again and again.
    pub(crate) fn script(answers: Vec<Answer>) -> Self {
        Self::start(move |_, number| answers[number.min(answers.len() - 1)].clone())
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        path: head.split_whitespace().nth(1)?.to_owned(),
        head,
        body: serde_json::from_slice(&body).ok()?,
    })
}

/// `None`: the connection is over.
fn write(mut to: &TcpStream, asked: &Asked, answer: &Answer) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} X\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut packer = answer.packed.then(|| GzEncoder::new(Vec::new(), Compression::default()));
    if packer.is_some() {
        head.push_str("content-encoding: gzip\r\n");
    }
    let mut packed = |text: &str, last: bool| match &mut packer {
        None => text.as_bytes().to_vec(),
        Some(packer) => {
            packer.write_all(text.as_bytes()).unwrap();
            if last { packer.try_finish() } else { packer.flush() }.unwrap();
            std::mem::take(packer.get_mut())
        }
    };
    match &answer.says {
        Says::Silence(time) => {
            std::thread::sleep(*time);
            None
        }
        Says::Body(kind, body) => {
            let body = packed(body, true);
            head.push_str(&format!("content-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len()));
            to.write_all(head.as_bytes()).ok()?;
            to.write_all(&body).ok()
        }
        Says::Bomb(beginning, piece, times) => {
            head.push_str("content-type: text/event-stream\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n");
            to.write_all(head.as_bytes()).ok()?;
            let mut packer = GzEncoder::new(Vec::new(), Compression::best());
            packer.write_all(beginning.as_bytes()).unwrap();
            packer.flush().unwrap();
            let mut bytes = std::mem::take(packer.get_mut());
            for sent in 0..=*times {
                if sent == 1 {
                    bytes = again(piece);
                }
                to.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).ok()?;
                to.write_all(&bytes).ok()?;
                to.write_all(b"\r\n").ok()?;
            }
            None
        }
        Says::Steps(steps) => {
            head.push_str("content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
            to.write_all(head.as_bytes()).ok()?;
            let mut shape = Shape::new(asked.path.ends_with("/messages"));
            let mut put = |text: String, last: bool| {
                let bytes = packed(&text, last);
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(&bytes);
                chunk.extend_from_slice(b"\r\n");
                to.write_all(&chunk).ok()
            };
            for step in steps {
                match step {
                    Pause(ms) => std::thread::sleep(Duration::from_millis(*ms)),
                    Cut => return None,
                    Raw(raw) => put(raw.clone(), false)?,
                    step => {
                        let text = shape.step(step);
                        if !text.is_empty() {
                            put(text, false)?;
                        }
                    }
                }
            }
            put(shape.end(), true)?;
            to.write_all(b"0\r\n\r\n").ok()
        }
    }
}

/// What packs a text so that it looks back at nothing that stands before it: it may stand many times behind another.
fn again(text: &str) -> Vec<u8> {
    let mut packed = Vec::with_capacity(text.len());
    let mut packer = Compress::new(Compression::best(), false);
    packer.compress_vec(text.as_bytes(), &mut packed, FlushCompress::Full).unwrap();
    packed
}

/// The stream of an API as it is written.
struct Shape {
    anthropic: bool,
    begun: bool,
    blocks: u64,
    calls: u64,
    stop: Option<&'static str>,
    used: (u64, u64),
}

impl Shape {
    const fn new(anthropic: bool) -> Self {
        Self {
            anthropic,
            begun: false,
            blocks: 0,
            calls: 0,
            stop: None,
            used: (7, 3),
        }
    }

    fn step(&mut self, step: &Step) -> String {
        match step {
            Stop(word) => self.stop = Some(word),
            Used(read, written) => self.used = (*read, *written),
            step if self.anthropic => return self.anthropic(step),
            Text(text) => return openai(&json!({"content": text}), None),
            Think(text) => return openai(&json!({"reasoning_content": text}), None),
            Call(id, name, input) => {
                let at = self.calls;
                self.calls += 1;
                return openai(
                    &json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": input}}]}),
                    None,
                );
            }
            Pause(_) | Cut | Raw(_) => {}
        }
        String::new()
    }

    fn anthropic(&mut self, step: &Step) -> String {
        let (block, delta) = match step {
            Text(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            Think(text) => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                json!({"type": "thinking_delta", "thinking": text}),
            ),
            Call(id, name, input) => {
                self.calls += 1;
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    json!({"type": "input_json_delta", "partial_json": input}),
                )
            }
            _ => return String::new(),
        };
        let at = self.blocks;
        self.blocks += 1;
        let mut text = self.begin();
        text.push_str(&named(&json!({"type": "content_block_start", "index": at, "content_block": block})));
        text.push_str(&named(&json!({"type": "content_block_delta", "index": at, "delta": delta})));
        if matches!(step, Think(_)) {
            text.push_str(&named(
                &json!({"type": "content_block_delta", "index": at, "delta": {"type": "signature_delta", "signature": "c2ln"}}),
            ));
        }
        text.push_str(&named(&json!({"type": "content_block_stop", "index": at})));
        text
    }

    fn begin(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) {
            return String::new();
        }
        named(
            &json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": self.used.0, "output_tokens": 0}}}),
        )
    }

    fn end(&mut self) -> String {
        let (read, written) = self.used;
        let calls = self.calls > 0;
        if self.anthropic {
            let stop = self.stop.unwrap_or(if calls { "tool_use" } else { "end_turn" });
            let mut text = self.begin();
            text.push_str(&named(
                &json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"input_tokens": read, "output_tokens": written}}),
            ));
            text.push_str(&named(&json!({"type": "message_stop"})));
            return text;
        }
        let stop = self.stop.unwrap_or(if calls { "tool_calls" } else { "stop" });
        let mut text = openai(&json!({}), Some(stop));
        let usage = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}});
        text.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
        text
    }
}

fn openai(delta: &Value, stop: Option<&str>) -> String {
    let chunk = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]});
    format!("data: {chunk}\n\n")
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}
