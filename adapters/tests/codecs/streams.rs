//! Streams of model APIs: recorded ones, where they lie beside the repository, and our own.
//!
//! What a stream says is read a second time with a general JSON reader and compared; where a stream is cut into reads changes nothing; its
//! end is what it is.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use agentglot_adapters::raw::codec::{Cx, Decode};
use agentglot_adapters::raw::event::{BlockHead, Event, Input, Kind, Piece, Sink, StopKind};
use agentglot_adapters::raw::frame::{Frame, Sse};
use agentglot_adapters::raw::openai::End;
use agentglot_adapters::raw::{anthropic, openai};
use bumpalo::Bump;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Openai,
    Anthropic,
}

struct Log {
    name: String,
    api: Api,
    bytes: Vec<u8>,
}

/// What was told, by kind.
#[derive(Debug, Default, PartialEq)]
struct Told {
    text: String,
    thinking: String,
    signatures: String,
    calls: Vec<(String, String, String)>,
    rounds: usize,
    stops: Vec<(StopKind, String)>,
    output: Option<u64>,
    errors: usize,
    /// Everything, to compare.
    all: String,
    open: Option<u32>,
    next: u32,
    in_call: bool,
}

impl<'a> Sink<'a> for Told {
    fn event(&mut self, event: &Event<'a>) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.all, "{:?}", event.kind);
        match event.kind {
            Kind::RoundStart(_) => {
                assert_eq!(self.open, None);
                self.rounds += 1;
                self.next = 0;
            }
            Kind::BlockStart(start) => {
                assert_eq!(self.open, None, "one block at a time");
                assert_eq!(start.index, self.next, "numbers go up from 0");
                self.next += 1;
                self.open = Some(start.index);
                self.in_call = matches!(start.head, BlockHead::Call { .. });
                if let BlockHead::Call { id, name } = start.head {
                    self.calls.push((id.unescape().into_owned(), name.unescape().into_owned(), String::new()));
                }
            }
            Kind::Delta(delta) => {
                assert_eq!(self.open, Some(delta.index));
                match delta.piece {
                    Piece::Text(text) => self.text.push_str(text.as_escaped()),
                    Piece::Thinking(text) => self.thinking.push_str(text.as_escaped()),
                    Piece::Signature(text) => self.signatures.push_str(text.as_escaped()),
                    Piece::Input(text) if self.in_call => self.calls.last_mut().expect("a call").2.push_str(text.as_escaped()),
                    _ => {}
                }
            }
            Kind::BlockStop(stop) => {
                assert_eq!(self.open.take(), Some(stop.index));
            }
            Kind::RoundStop(stop) => {
                assert_eq!(self.open, None);
                self.stops.extend(stop.stop.map(|stop| (stop.kind, stop.word.unescape().into_owned())));
                self.output = stop.usage.and_then(|usage| usage.output).map(|count| count.value).or(self.output);
            }
            Kind::RoundEnd(end) => {
                assert_eq!(self.open, None);
                if end.abandoned_from == Some(0) {
                    self.text.clear();
                    self.thinking.clear();
                    self.signatures.clear();
                    self.calls.clear();
                }
            }
            Kind::Fatal(_) => self.errors += 1,
            Kind::Noise(_) | Kind::Unknown(_) => panic!("{:?}", event.kind),
            _ => {}
        }
    }

    fn input(&mut self, _input: &Input<'a>) {}
}

impl Told {
    fn calls(&self) -> Vec<(String, String, String)> {
        let plain = |body: &str| serde_json::from_str::<String>(&format!("\"{body}\"")).unwrap();
        self.calls
            .iter()
            .map(|(id, name, input)| (id.clone(), name.clone(), plain(input)))
            .collect()
    }
}

enum Decoder {
    Openai(openai::Decoder),
    Anthropic(anthropic::Decoder),
}

fn decoded(log: &Log, payloads: &[Vec<u8>]) -> (Told, End) {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut told = Told::default();
    let mut decoder = match log.api {
        Api::Openai => Decoder::Openai(openai::Decoder::live(1)),
        Api::Anthropic => Decoder::Anthropic(anthropic::Decoder::live()),
    };
    for payload in payloads {
        let text = arena.alloc_str(std::str::from_utf8(payload).unwrap());
        let used = match &mut decoder {
            Decoder::Openai(decoder) => decoder.line(text, &cx, &mut told),
            Decoder::Anthropic(decoder) => decoder.line(text, &cx, &mut told),
        };
        assert_eq!(used, Ok(text.len()), "{}: {text}", log.name);
    }
    let end = match &mut decoder {
        Decoder::Openai(decoder) => {
            decoder.finish(&cx, &mut told);
            decoder.end()
        }
        Decoder::Anthropic(decoder) => {
            decoder.finish(&cx, &mut told);
            decoder.end()
        }
    };
    assert_eq!(told.open, None, "{}", log.name);
    (told, end)
}

/// The payloads of a stream that comes in these reads.
fn framed<'r>(reads: impl IntoIterator<Item = &'r [u8]>) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    let mut sse = Sse::new(16 << 20);
    let mut each = |frame: Frame<'_>| {
        match frame {
            Frame::Event { data, .. } => payloads.push(data.to_vec()),
            other => panic!("{other:?}"),
        }
        true
    };
    for read in reads {
        sse.feed(read, &mut each);
    }
    sse.finish(&mut each);
    payloads
}

/// Whether the stream, cut in two, has these payloads.
fn cut_is_the_same(bytes: &[u8], at: usize, payloads: &[Vec<u8>]) -> bool {
    let mut left = payloads.iter();
    let mut same = true;
    let mut sse = Sse::new(16 << 20);
    let mut each = |frame: Frame<'_>| {
        same &= matches!(frame, Frame::Event { data, .. } if left.next().is_some_and(|wanted| wanted == data));
        true
    };
    sse.feed(&bytes[..at], &mut each);
    sse.feed(&bytes[at..], &mut each);
    sse.finish(&mut each);
    same && left.next().is_none()
}

/// What a stream says, read another way.
#[derive(Debug, Default)]
struct Second {
    text: String,
    thinking: String,
    calls: Vec<(String, String)>,
    output: Option<u64>,
    end: Option<End>,
    error: bool,
    word: Option<String>,
    open: Vec<(u64, usize)>,
}

fn second(api: Api, payloads: &[Vec<u8>]) -> Second {
    let mut said = Second::default();
    for payload in payloads {
        if payload == b"[DONE]" {
            if said.end == Some(End::Incomplete) {
                said.end = Some(End::Terminal);
            }
            continue;
        }
        let value: Value = serde_json::from_slice(payload).unwrap();
        match api {
            Api::Openai => second_openai(&value, &mut said),
            Api::Anthropic => second_anthropic(&value, &mut said),
        }
    }
    said
}

fn second_openai(value: &Value, said: &mut Second) {
    let body = |text: &Value| text.as_str().unwrap_or_default().to_owned();
    let usage = [&value["usage"], &value["x_groq"]["usage"], &value["choices"][0]["usage"]];
    if let Some(usage) = usage.iter().find(|usage| usage.is_object()) {
        said.output = usage["completion_tokens"].as_u64();
    }
    for choice in value["choices"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0)
    {
        said.end = said.end.or(Some(End::Incomplete));
        let delta = &choice["delta"];
        said.text.push_str(&body(&choice["text"]));
        let names = ["reasoning_content", "reasoning"];
        let thought = names.iter().map(|name| body(&delta[*name])).find(|text| !text.is_empty());
        let details = || {
            let list = delta["reasoning_details"].as_array().into_iter().flatten();
            list.map(|detail| format!("{}{}", body(&detail["text"]), body(&detail["summary"])))
                .collect()
        };
        said.thinking.push_str(&thought.unwrap_or_else(details));
        match &delta["content"] {
            Value::Array(list) => {
                for element in list {
                    said.text.push_str(&body(&element["text"]));
                    for thought in element["thinking"].as_array().into_iter().flatten() {
                        said.thinking.push_str(&body(&thought["text"]));
                    }
                }
            }
            text => said.text.push_str(&body(text)),
        }
        said.text.push_str(&body(&delta["refusal"]));
        for (at, call) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let index = call["index"].as_u64().unwrap_or(at as u64);
            let found = said.open.iter().find(|(known, _)| *known == index).map(|(_, at)| *at);
            let found = found.unwrap_or_else(|| {
                said.calls.push(Default::default());
                said.open.push((index, said.calls.len() - 1));
                said.calls.len() - 1
            });
            let name = body(&call["function"]["name"]);
            if !name.is_empty() {
                said.calls[found].0 = name;
            }
            said.calls[found].1.push_str(&body(&call["function"]["arguments"]));
        }
        if let Some(word) = choice["finish_reason"].as_str() {
            said.word = Some(word.to_owned());
            said.end = Some(End::Terminal);
        }
    }
    if !value["error"].is_null() {
        said.end = Some(End::Failed);
        said.error = true;
    }
}

fn second_anthropic(value: &Value, said: &mut Second) {
    let body = |text: &Value| text.as_str().unwrap_or_default().to_owned();
    match value["type"].as_str().unwrap_or_default() {
        "message_start" => {
            if said.end == Some(End::Incomplete) {
                said.text.clear();
                said.thinking.clear();
                said.calls.clear();
            }
            said.end = Some(End::Incomplete);
            said.open.clear();
        }
        "content_block_start" => {
            let block = &value["content_block"];
            said.text.push_str(&body(&block["text"]));
            said.thinking.push_str(&body(&block["thinking"]));
            if block["type"] == "tool_use" {
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                let input = input.map(|input| Value::Object(input.clone()).to_string()).unwrap_or_default();
                said.calls.push((body(&block["name"]), input));
                said.open.push((value["index"].as_u64().unwrap(), said.calls.len() - 1));
            }
        }
        "content_block_delta" => {
            let delta = &value["delta"];
            said.text.push_str(&body(&delta["text"]));
            said.thinking.push_str(&body(&delta["thinking"]));
            let call = said.open.iter().find(|(index, _)| Some(*index) == value["index"].as_u64());
            if let Some((_, at)) = call {
                said.calls[*at].1.push_str(&body(&delta["partial_json"]));
            }
        }
        "message_delta" => {
            said.word = value["delta"]["stop_reason"].as_str().map(str::to_owned);
            said.output = value["usage"]["output_tokens"].as_u64().or(said.output);
        }
        "message_stop" => said.end = Some(End::Terminal),
        "error" => {
            said.end = Some(End::Failed);
            said.error = true;
        }
        _ => {}
    }
}

fn check(log: &Log, splits: bool) -> End {
    let name = &log.name;
    let payloads = framed([log.bytes.as_slice()]);
    assert!(!payloads.is_empty(), "{name}");
    let (told, end) = decoded(log, &payloads);
    let said = second(log.api, &payloads);
    let plain = |body: &str| serde_json::from_str::<String>(&format!("\"{body}\"")).unwrap();
    assert_eq!(plain(&told.text), said.text, "{name}");
    assert_eq!(plain(&told.thinking), said.thinking, "{name}");
    assert_eq!(end, said.end.unwrap(), "{name}");
    assert_eq!(told.errors > 0, said.error, "{name}");
    if log.api == Api::Openai || told.rounds == 1 {
        assert_eq!(told.output, said.output, "{name}");
    }
    let calls: Vec<(String, String)> = told.calls().into_iter().map(|(_, name, input)| (name, input)).collect();
    assert_eq!(calls, said.calls, "{name}");
    assert!(told.calls.iter().all(|(id, name, _)| !id.is_empty() && !name.is_empty()), "{name}");
    if let (Some((kind, word)), End::Terminal) = (told.stops.last(), end) {
        // Of a refusal the API says only that it came to its end.
        let said = said
            .word
            .as_deref()
            .map(|said| if *kind == StopKind::Refusal && said == "stop" { "refusal" } else { said });
        assert_eq!(said, Some(word.as_str()), "{name}");
        if word == "length" || word == "max_tokens" {
            assert_eq!(*kind, StopKind::Length, "{name}");
        } else if *kind == StopKind::Tools {
            let whole = |input: &str| input.trim().is_empty() || serde_json::from_str::<Value>(input).is_ok();
            assert!(calls.iter().all(|(_, input)| whole(input)), "{name}");
        }
    }
    if splits {
        cuts(log, &payloads);
        assert_eq!(decoded(log, &framed(log.bytes.chunks(1))).0, told, "{name}");
    }
    end
}

/// Every cut of a short stream, one-byte reads and 200 cuts of a long one.
///
/// A blank line ends an event and leaves nothing behind, so what a cut changes would be seen in the event that it is in, or in the next
/// one: for every cut these two are read; the whole stream is read for one cut in 16 besides.
fn cuts(log: &Log, payloads: &[Vec<u8>]) {
    let len = log.bytes.len();
    let ends = boundaries(&log.bytes);
    if len <= 8 << 10 {
        for window in ends.windows(3) {
            let part = &log.bytes[window[0]..window[2]];
            let wanted = framed([part]);
            let first = window[1] - window[0];
            // The cuts in the second event are those of the next window; those of the last one are all here.
            let to = if window[2] == len { part.len() } else { first };
            for at in 0..=to {
                assert!(cut_is_the_same(part, at, &wanted), "{} cut at {}", log.name, window[0] + at);
            }
        }
        for at in (0..=len).step_by(if ends.len() < 3 { 1 } else { 16 }) {
            assert!(cut_is_the_same(&log.bytes, at, payloads), "{} cut at {at}", log.name);
        }
        return;
    }
    let mut seed = len as u64;
    for _ in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (seed >> 33) as usize % len;
        // The event that the cut is in and those around it.
        let here = ends.partition_point(|&end| end <= at);
        let (from, to) = (ends[here.saturating_sub(3)], ends[(here + 2).min(ends.len() - 1)]);
        let part = &log.bytes[from..to];
        assert!(cut_is_the_same(part, at - from, &framed([part])), "{} cut at {at}", log.name);
    }
    assert_eq!(framed(log.bytes.chunks(1)), payloads, "{}", log.name);
}

/// Where events begin, and the end.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut found = vec![0];
    for at in 1..bytes.len() {
        let blank = bytes[..at].ends_with(b"\n\n") || bytes[..at].ends_with(b"\n\r\n");
        if blank && !matches!(bytes[at], b'\n' | b'\r') {
            found.push(at);
        }
    }
    found.push(bytes.len());
    found
}

fn logs(folder: &Path, logs: &mut Vec<Log>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            self::logs(&path, logs);
            continue;
        }
        let name = path.display().to_string();
        let bytes = std::fs::read(&path).unwrap();
        let bytes = if name.ends_with(".sse") {
            bytes
        } else if name.ends_with(".stream.jsonl") {
            // Payloads alone: what was around them was not kept.
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
            lines.flat_map(|line| [b"data: ", line, b"\n\n"].concat()).collect()
        } else if name.ends_with(".http") {
            let text = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
            let Some((head, body)) = text.split_once("\n\n") else { continue };
            if !head.contains("text/event-stream") {
                continue;
            }
            body.as_bytes().to_vec()
        } else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let api = if text.contains("message_start") || text.contains("content_block") || name.contains("/anthropic/") {
            Api::Anthropic
        } else {
            Api::Openai
        };
        logs.push(Log { name, api, bytes });
    }
}

fn recorded() -> Vec<Log> {
    let mut found = Vec::new();
    if let Some(folder) = crate::common::beside::shared("sse") {
        logs(&folder, &mut found);
    }
    found
}

#[test]
fn recorded_streams_say_what_they_say_however_they_are_cut() {
    let logs = recorded();
    if logs.is_empty() {
        return;
    }
    assert!(logs.len() >= 396, "{}", logs.len());
    let (first, second) = logs.split_at(logs.len() / 2);
    let run = |logs: &[Log]| logs.iter().map(|log| check(log, true)).collect::<Vec<_>>();
    let ends = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(first));
        let mut ends = run(second);
        ends.extend(other.join().unwrap());
        ends
    });
    let count = |end: End| ends.iter().filter(|&&found| found == end).count();
    eprintln!(
        "{} streams: {} whole, {} cut off, {} failed",
        ends.len(),
        count(End::Terminal),
        count(End::Incomplete),
        count(End::Failed)
    );
    assert!(count(End::Failed) >= 3 && count(End::Incomplete) >= 1);
}

#[test]
fn our_own_streams_say_what_they_say_however_they_are_cut() {
    let mut found = Vec::new();
    for api in ["openai", "anthropic"] {
        logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden").join(api), &mut found);
    }
    assert!(found.len() >= 8, "{}", found.len());
    for log in &found {
        check(log, true);
    }
}
