//! The codec over whole logs: those of the goldens, and (where they are there) the examples of the decisions.

use std::path::{Path, PathBuf};

use bumpalo::Bump;
use serde_json::Value;

use super::{Decoder, Encoder};
use crate::codec::{Cx, Decode, Dialect, Encode, Mode, Style};
use crate::event::{Event, Input, Sink};
use crate::json::Out;

fn style(mode: Mode, source: Dialect) -> Style {
    Style {
        mode,
        source,
        partial: false,
        native_tools: false,
        old_text: false,
        agent: false,
        verbose: false,
    }
}

/// A decoder's events go straight to an encoder.
struct Straight {
    encoder: Encoder,
    out: Out,
}

impl<'a> Sink<'a> for Straight {
    fn event(&mut self, event: &Event<'a>) {
        self.encoder.event(event, &mut self.out);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.encoder.input(input, &mut self.out);
    }
}

/// Reads a log and writes it again without copying any line.
fn rebuilt(log: &str, mode: Mode) -> String {
    let mut straight = Straight {
        encoder: Encoder::new(style(mode, Dialect::Qwen)),
        out: Out::default(),
    };
    let mut decoder = Decoder::default();
    let arena = Bump::new();
    let cx = Cx { arena: &arena, trace: None };
    for line in log.lines() {
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            match decoder.line(rest, &cx, &mut straight) {
                Ok(used) => rest = rest[used..].trim_start(),
                Err(_) => break,
            }
        }
    }
    decoder.finish(&cx, &mut straight);
    straight.encoder.finish(&mut straight.out);
    String::from_utf8(straight.out.written().to_vec()).unwrap()
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/qwen")
}

fn mode_of(name: &str) -> Mode {
    if name.contains("chunk") {
        Mode::StreamChunkJson
    } else {
        Mode::StreamJson
    }
}

fn logs(folder: &Path, suffix: &str) -> Vec<(String, String)> {
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut logs: Vec<_> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    logs.sort();
    logs
}

fn values(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

/// Lines of `log` that do not come back as they were, by number.
fn lost(name: &str, log: &str) -> (usize, Vec<(usize, String)>) {
    let again = rebuilt(log, mode_of(name));
    let (before, after) = (values(log), values(&again));
    let mut lost = Vec::new();
    // Lines are compared in order; one that is missing or too much does not make the rest wrong.
    let mut from = 0;
    for (number, line) in before.iter().enumerate() {
        match after[from..].iter().position(|other| other == line) {
            Some(at) => from += at + 1,
            None => lost.push((number + 1, line.to_string())),
        }
    }
    (before.len(), lost)
}

#[test]
fn show_rebuild() {
    let mut all = 0;
    let mut bad = 0;
    for (name, log) in logs(&golden(), ".jsonl") {
        let (n, lost) = lost(&name, &log);
        all += n;
        bad += lost.len();
        println!("{name}: {} of {n} lost", lost.len());
        if !lost.is_empty() {
            for (number, line) in lost.iter().take(4) {
                println!("   {number}: {line}");
            }
            println!("   --- rebuilt:\n{}", rebuilt(&log, mode_of(&name)));
        }
    }
    println!("{bad} of {all}");
}
