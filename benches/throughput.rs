//! How fast conversions are in memory, on one thread, as multiples of a `serde_json::Value` round trip of the same log.
//!
//! `cargo bench --bench throughput -- [--mb N] [--rounds N] [--only TEXT] [--tsv]`. Each log is made by the seeded generator. In each
//! round the baseline and all conversions of a log take turns; a figure is the median over the rounds. `--only` keeps the
//! pairs whose line contains the text, `--tsv` is for benches/compare/run.py. Started without arguments, as `cargo test`
//! does, it converts a little of everything once.
//!
//! A log that tells replies in pieces is converted in pieces (`--include-partial-messages`), one that tells them whole is not. That
//! such a log is told in pieces all the same is measured too, beside the rows.
//!
//! A pair is as fast as its slower way of naming tools: verbatim, or native, which is what the program does unless told otherwise.

mod corpus;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use agentglot_adapters::convert::{Converter, Options, ToolNames};
use agentglot_adapters::raw::codec::Format;
use corpus::{Corpus, Plan};
use serde_json::Value;

const CHUNKS: &str = "qwen:stream-chunk-json";
const EVENTS: &str = "agentglot:events";
const TARGETS: [&str; 7] = ["claude", "qwen-code", "qwen:stream-json", CHUNKS, "tricode", "cursor", EVENTS];

/// A kind of log, how it is read, what it is converted to.
struct Source {
    label: &'static str,
    format: &'static str,
    /// The generator's name of it; `None` is made by converting the first source to events.
    corpus: Option<&'static str>,
    targets: &'static [&'static str],
}

impl Source {
    /// Whether it tells replies in pieces.
    fn has_pieces(&self) -> bool {
        !matches!(self.corpus, Some("claude-messages" | "qwen-messages" | "tricode" | "recordings:tricode")) && !self.is_other()
    }

    /// Whether it is a file that a program keeps, or a stream that is not among the targets.
    fn is_other(&self) -> bool {
        OTHERS.iter().any(|other| other.format == self.format)
    }
}

/// What a log is converted to.
#[derive(Clone, Copy)]
struct Target {
    name: &'static str,
    /// `--include-partial-messages`.
    partial: bool,
    /// Beside the rows: the source has no pieces.
    extra: bool,
    /// `--ledger`.
    ledger: bool,
}

impl Target {
    fn label(self) -> String {
        let more = if self.extra { ", in pieces" } else { "" };
        format!("{}{more}{}", self.name, if self.ledger { WITH_LEDGER } else { "" })
    }
}

const WITH_LEDGER: &str = ", with a ledger";

/// Files that programs keep, and streams that are not among the targets.
const OTHERS: [Source; 9] = [
    other("transcripts of Claude Code", "claude:transcript", "recordings:claude:transcript"),
    other("chats of Qwen Code", "qwen-code:chat", "recordings:qwen-code:chat"),
    other("`codex exec`", "codex", "recordings:codex"),
    other("`codex app-server`", "codex:app-server", "recordings:codex:app-server"),
    other("rollouts of Codex", "codex:rollout", "recordings:codex:rollout"),
    other("Gemini CLI", "gemini", "recordings:gemini"),
    other("chats of Gemini CLI", "gemini:chat", "recordings:gemini:chat"),
    other("OpenCode", "opencode", "recordings:opencode"),
    other("conversations of the ACP", "acp", "recordings:acp"),
];

const fn other(label: &'static str, format: &'static str, corpus: &'static str) -> Source {
    source(label, format, Some(corpus), &["claude", CHUNKS, EVENTS])
}

const SOURCES: [Source; 13] = [
    source("claude partial", "claude", Some("claude-partial"), &TARGETS),
    source("claude partial, keys sorted", "claude", Some("claude-partial-sorted"), &[CHUNKS]),
    source("claude partial, keys shuffled", "claude", Some("claude-partial-shuffled"), &[CHUNKS]),
    source("claude messages", "claude", Some("claude-messages"), &TARGETS),
    source("qwen-code partial", "qwen-code", Some("qwen-code-partial"), &TARGETS),
    source("qwen messages", "qwen:stream-json", Some("qwen-messages"), &TARGETS),
    source("qwen chunks", CHUNKS, Some("qwen-chunks"), &TARGETS),
    source("tricode", "tricode", Some("tricode"), &TARGETS),
    source("cursor partial", "cursor", Some("cursor-partial"), &TARGETS),
    source("events of claude partial", EVENTS, None, &TARGETS),
    source(
        "recordings of Claude Code",
        "claude",
        Some("recordings:claude"),
        &[CHUNKS, "cursor", EVENTS],
    ),
    source(
        "recordings of Qwen Code",
        "qwen-code",
        Some("recordings:qwen-code"),
        &[CHUNKS, "cursor", EVENTS],
    ),
    source(
        "recordings of Tricode",
        "tricode",
        Some("recordings:tricode"),
        &[CHUNKS, "cursor", EVENTS],
    ),
];

const fn source(label: &'static str, format: &'static str, corpus: Option<&'static str>, targets: &'static [&'static str]) -> Source {
    Source {
        label,
        format,
        corpus,
        targets,
    }
}

/// The rows of the table in docs/speed.md: a text, the bar, and which pairs count. A pair counts for the first row that takes it.
type Row = (&'static str, f64, fn(&Source, Target) -> bool);
const ROWS: [Row; 8] = [
    (
        "recordings of other streams and of files that programs keep, with new ids",
        3.0,
        |source, _| source.is_other(),
    ),
    ("Claude partial → chunks with a ledger", 3.0, |_, target| target.ledger),
    ("recordings of the real programs, again and again with new ids", 3.0, |source, _| {
        source.corpus.is_some_and(|corpus| corpus.starts_with("recordings:"))
    }),
    ("Claude partial → chunks, in memory, one thread", 8.0, |source, target| {
        source.corpus == Some("claude-partial") && target.name == CHUNKS
    }),
    ("the same with keys in another, constant order", 6.0, |source, _| {
        source.corpus == Some("claude-partial-sorted")
    }),
    ("the same with keys shuffled on each line", 2.0, |source, _| {
        source.corpus == Some("claude-partial-shuffled")
    }),
    ("message-level Claude → each other dialect", 4.0, |source, target| {
        source.corpus == Some("claude-messages") && target.name != "claude"
    }),
    ("every other pair of streaming formats", 3.0, |_, _| true),
];

struct Settings {
    megabytes: u64,
    rounds: usize,
    only: Option<String>,
    tsv: bool,
}

/// What was measured of one pair. Speeds are in MB of input a second, ratios against the baseline of the same round.
struct Pair {
    row: Option<usize>,
    source: &'static str,
    target: String,
    baseline: f64,
    verbatim: Speed,
    native: Speed,
}

impl Pair {
    /// The ratio that counts.
    fn ratio(&self) -> f64 {
        self.verbatim.ratio.min(self.native.ratio)
    }
}

struct Speed {
    speed: f64,
    ratio: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let settings = match settings(&arguments) {
        Ok(settings) => settings,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    if let Err(why) = fair_baseline() {
        eprintln!("{why}");
        return ExitCode::from(2);
    }
    let mut pairs = Vec::new();
    let mut silent = 0;
    for source in SOURCES.iter().chain(&OTHERS) {
        silent += measure(source, &settings, &mut pairs);
    }
    if settings.tsv {
        print_tsv(&pairs);
    } else {
        print_tables(&pairs);
    }
    ExitCode::from(u8::from(silent > 0))
}

fn settings(arguments: &[String]) -> Result<Settings, String> {
    let mut settings = Settings {
        megabytes: 32,
        rounds: 5,
        only: None,
        tsv: false,
    };
    if arguments.is_empty() {
        (settings.megabytes, settings.rounds) = (1, 1);
    }
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = |least: u64| {
            let value = arguments.next().and_then(|value| value.parse().ok());
            value.filter(|&value| value >= least).ok_or(format!("{argument} needs a number"))
        };
        match argument.as_str() {
            "--mb" => settings.megabytes = number(1)?,
            "--rounds" => settings.rounds = number(1)? as usize,
            "--only" => settings.only = Some(arguments.next().ok_or("--only needs a text")?.clone()),
            "--tsv" => settings.tsv = true,
            // What cargo says to every bench.
            "--bench" => {}
            other => return Err(format!("{other}: --mb N, --rounds N, --only TEXT and --tsv are understood")),
        }
    }
    Ok(settings)
}

/// Measures the pairs of a source that are wanted, and tells how many of them wrote nothing.
fn measure(source: &Source, settings: &Settings, pairs: &mut Vec<Pair>) -> usize {
    let wanted = |target: &Target| {
        let line = format!("{} → {}", source.label, target.label());
        settings.only.as_ref().is_none_or(|text| line.contains(text))
    };
    let plain = source.targets.iter().map(|&name| Target {
        name,
        partial: source.has_pieces(),
        extra: false,
        ledger: false,
    });
    let with_ledger = (source.corpus == Some("claude-partial")).then_some(Target {
        name: CHUNKS,
        partial: true,
        extra: false,
        ledger: true,
    });
    let told_in_pieces = ["claude", "qwen-code", "cursor"]
        .into_iter()
        .filter(|_| !source.has_pieces() && !source.is_other())
        .map(|name| Target {
            name,
            partial: true,
            extra: true,
            ledger: false,
        });
    let mut targets: Vec<Target> = plain.chain(with_ledger).chain(told_in_pieces).filter(wanted).collect();
    if targets.is_empty() {
        return 0;
    }
    let log = log(source, settings.megabytes * 1_000_000);
    let mut out = Vec::with_capacity(log.len() * 2);
    let count = targets.len();
    targets.retain(|target| {
        out.clear();
        convert_in_memory(source.format, *target, false, &log, &mut out);
        if out.is_empty() {
            eprintln!("!!! {} → {}: nothing was written", source.label, target.label());
        }
        !out.is_empty()
    });
    let silent = count - targets.len();
    let mut baselines = Vec::new();
    let mut speeds = vec![[Vec::new(), Vec::new()]; targets.len()];
    // The first round only warms caches and memory.
    for round in 0..=settings.rounds {
        let baseline = speed(&log, &mut out, round_trip);
        for (target, speeds) in targets.iter().zip(&mut speeds) {
            for (native, speeds) in [false, true].into_iter().zip(speeds) {
                let convert = |log: &[u8], out: &mut Vec<u8>| convert_in_memory(source.format, *target, native, log, out);
                let speed = speed(&log, &mut out, convert);
                if round > 0 {
                    speeds.push((speed, speed / baseline));
                }
            }
        }
        if round > 0 {
            baselines.push(baseline);
        }
    }
    let baseline = median(baselines.into_iter());
    for (target, [verbatim, native]) in targets.into_iter().zip(speeds) {
        let row = ROWS.iter().position(|(_, _, takes)| !target.extra && takes(source, target));
        let of = |speeds: &[(f64, f64)]| Speed {
            speed: median(speeds.iter().map(|&(speed, _)| speed)),
            ratio: median(speeds.iter().map(|&(_, ratio)| ratio)),
        };
        let pair = Pair {
            row,
            source: source.label,
            target: target.label(),
            baseline,
            verbatim: of(&verbatim),
            native: of(&native),
        };
        eprintln!(
            "{} → {}: {:.1} × verbatim, {:.1} × native",
            pair.source, pair.target, pair.verbatim.ratio, pair.native.ratio
        );
        pairs.push(pair);
    }
    silent
}

/// The log of a source.
fn log(source: &Source, bytes: u64) -> Vec<u8> {
    let corpus = Corpus::from_name(source.corpus.unwrap_or("claude-partial")).expect("the sources name known kinds");
    let mut log = Vec::with_capacity(bytes as usize * 51 / 50);
    corpus.write(Plan::of_size(bytes), &mut log).expect("writing to memory cannot fail");
    if source.corpus.is_some() {
        return log;
    }
    let mut events = Vec::new();
    let target = Target {
        name: EVENTS,
        partial: true,
        extra: false,
        ledger: false,
    };
    convert_in_memory("claude", target, false, &log, &mut events);
    events
}

/// MB of `log` that `work` gets through in a second. The log is read once before, so that the caches are as full for each.
fn speed(log: &[u8], out: &mut Vec<u8>, work: impl FnOnce(&[u8], &mut Vec<u8>)) -> f64 {
    black_box(log.iter().fold(0, |sum: u8, &byte| sum ^ byte));
    out.clear();
    let start = Instant::now();
    work(log, out);
    black_box(&mut *out);
    log.len() as f64 / 1e6 / start.elapsed().as_secs_f64()
}

/// Features of serde_json that other packages ask for reach us when all are built together, and change what is compared.
fn fair_baseline() -> Result<(), &'static str> {
    let again = |json: &str| serde_json::from_str::<Value>(json).map(|value| value.to_string()).unwrap_or_default();
    if again("1e2") == "1e2" {
        return Err("serde_json has arbitrary_precision here, which slows the baseline: bench this package alone");
    }
    if again(r#"{"b":1,"a":2}"#) != r#"{"b":1,"a":2}"# {
        return Err("serde_json needs preserve_order here: a baseline that sorts keys does other work than we do");
    }
    Ok(())
}

/// The baseline: each line is parsed to a `Value`, which is written again. What is no JSON in a recording is copied.
fn round_trip(log: &[u8], out: &mut Vec<u8>) {
    for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Err(_) => out.extend_from_slice(line),
        }
        out.push(b'\n');
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// For each row that was measured: its place, its slowest pair and how many pairs it has.
fn rows(pairs: &[Pair]) -> Vec<(usize, &Pair, usize)> {
    let rows = (0..ROWS.len()).filter_map(|row| {
        let of_row = || pairs.iter().filter(move |pair| pair.row == Some(row));
        let slowest = of_row().min_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
        Some((row, slowest, of_row().count()))
    });
    rows.collect()
}

fn print_tables(pairs: &[Pair]) {
    println!("| work | bar | verbatim tools | native tools | |\n|---|--:|--:|--:|---|");
    for (row, slowest, _) in rows(pairs) {
        let (work, bar, _) = ROWS[row];
        let verdict = if slowest.ratio() >= bar { "✓" } else { "✗ missed" };
        let Pair { verbatim, native, .. } = slowest;
        println!("| {work} | {bar} × | {:.1} × | {:.1} × | {verdict} |", verbatim.ratio, native.ratio);
    }
    println!("\n| source | target | `Value`, MB/s | verbatim, MB/s | × | native, MB/s | × | bar | |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|---|");
    for pair in pairs {
        let Pair {
            source,
            target,
            baseline,
            verbatim,
            native,
            ..
        } = pair;
        let bar = pair.row.map(|row| ROWS[row].1);
        let verdict = match bar {
            None => "",
            Some(bar) if pair.ratio() >= bar => "✓",
            Some(_) => "✗ missed",
        };
        let bar = bar.map_or(String::new(), |bar| bar.to_string());
        println!(
            "| {source} | {target} | {baseline:.0} | {:.0} | {:.1} | {:.0} | {:.1} | {bar} | {verdict} |",
            verbatim.speed, verbatim.ratio, native.speed, native.ratio
        );
    }
}

/// `row`, work, bar, the ratios of its slowest pair, verbatim and native, and that pair if there are several; then `pair`, source, target,
/// and its five figures.
fn print_tsv(pairs: &[Pair]) {
    for (row, slowest, count) in rows(pairs) {
        let (work, bar, _) = ROWS[row];
        let Pair {
            source,
            target,
            verbatim,
            native,
            ..
        } = slowest;
        let which = if count > 1 { format!("{source} → {target}") } else { String::new() };
        println!("row\t{work}\t{bar}\t{:.2}\t{:.2}\t{which}", verbatim.ratio, native.ratio);
    }
    for Pair {
        source,
        target,
        baseline,
        verbatim,
        native,
        ..
    } in pairs
    {
        println!(
            "pair\t{source}\t{target}\t{baseline:.0}\t{:.0}\t{:.1}\t{:.0}\t{:.1}",
            verbatim.speed, verbatim.ratio, native.speed, native.ratio
        );
    }
}

/// Converts a whole log, in pieces of the size in which the program reads files. Names are those of `--from` and `--to`.
fn convert_in_memory(from: &str, to: Target, native_tools: bool, input: &[u8], out: &mut Vec<u8>) {
    let format = |name: &str| name.parse::<Format>().expect("the bench names known formats");
    let mut converter = Converter::new(Options {
        tools: if native_tools { ToolNames::Native } else { ToolNames::Verbatim },
        partial: to.partial,
        ledger: to.ledger.then(|| "log".to_owned()),
        ..Options::new(format(from), format(to.name))
    });
    for piece in input.chunks(256 * 1024) {
        converter.feed(piece, out);
        black_box(converter.take_ledger());
    }
    converter.finish(out);
    black_box(converter.take_ledger());
}
