//! What the tests of the laws share: the golden logs and the recordings, conversion in one call, chance with a seed.

#![allow(missing_docs, unreachable_pub)]

pub mod beside;
pub mod chance;
pub mod json;
pub mod leaves;
pub mod lost;
pub mod mutate;
pub mod read;
pub mod samples;
pub mod siblings;
pub mod story;
pub mod tool_schema;
pub mod turns;
pub mod ways;
pub mod write;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::{Converter, Damage, Options, ToolNames};
use agentglot_adapters::raw::codec::{Dialect, Format};

pub use chance::Chance;

/// A log to test with.
#[derive(Clone, Debug)]
pub struct Log {
    /// Relative to its folder: `claude/cli_plain.out.jsonl`.
    pub name: String,
    pub format: Format,
    /// What the host wrote, not the agent.
    pub host: bool,
    /// Damaged on purpose.
    pub hostile: bool,
    /// Its conversions are kept in `golden/expected`.
    pub expected: bool,
    pub bytes: Vec<u8>,
}

impl Log {
    /// What an agent wrote, undamaged, line by line.
    pub fn is_plain(&self) -> bool {
        !self.host && !self.hostile && self.format.mode.layout.is_lines() && !self.bytes.is_empty()
    }
}

pub fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

/// One `[[file]]` of `golden/MANIFEST.toml`, as far as tests need it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub keys: BTreeMap<String, String>,
}

/// Reads `golden/MANIFEST.toml`: lines `key = value` under `[[file]]`. The lines inside `wrong = [ … ]` are left out.
pub fn manifest() -> Vec<Entry> {
    let text = fs::read_to_string(golden_folder().join("MANIFEST.toml")).expect("golden/MANIFEST.toml is part of the repository");
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if line == "[[file]]" {
            entries.push(Entry::default());
        } else if let Some((key, value)) = line.split_once(" = ").filter(|_| line.starts_with(|c: char| c.is_ascii_lowercase())) {
            let entry = entries.last_mut().expect("the manifest begins with a [[file]]");
            let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
            assert!(
                entry.keys.insert(key.to_owned(), value.to_owned()).is_none(),
                "{key} twice in the manifest"
            );
        }
    }
    entries
}

impl Entry {
    pub fn get(&self, key: &str) -> &str {
        self.keys.get(key).map_or("", String::as_str)
    }
}

/// Every golden log of an agent or its host.
pub fn goldens() -> Vec<Log> {
    let all = goldens_where(|side| side != "model");
    assert!(all.len() > 200, "only {} goldens", all.len());
    all
}

/// The golden streams of model APIs.
pub fn model_goldens() -> Vec<Log> {
    goldens_where(|side| side == "model")
}

fn goldens_where(is_side: impl Fn(&str) -> bool) -> Vec<Log> {
    let log = |entry: Entry| {
        let name = entry.get("path").to_owned();
        let bytes = fs::read(golden_folder().join(&name)).unwrap_or_else(|e| panic!("golden/{name}: {e}"));
        Log {
            format: entry.get("dialect").parse().unwrap_or_else(|e| panic!("golden/{name}: {e}")),
            host: entry.get("side") == "host",
            hostile: entry.get("hostile") == "true",
            expected: entry.get("expected") == "true",
            bytes,
            name,
        }
    };
    manifest().into_iter().filter(|entry| is_side(entry.get("side"))).map(log).collect()
}

/// The undamaged golden logs of agents in streaming formats: what most laws are about.
pub fn plain_goldens() -> Vec<Log> {
    goldens().into_iter().filter(Log::is_plain).collect()
}

/// Those of them that hosts read while the agent works.
pub fn stream_goldens() -> Vec<Log> {
    plain_goldens().into_iter().filter(|log| log.format.is_streaming()).collect()
}

/// Every recorded log, where they are at hand.
pub fn recordings() -> Vec<Log> {
    let Some(root) = beside::shared("recordings") else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let log = |path: PathBuf| {
        let name = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
        let dialect = name.split('/').next()?;
        let plain = matches!(dialect, "tricode" | "cursor");
        let host = name.ends_with(".in.jsonl");
        // Logs that an SDK wrote down have no other ending.
        let lines = name.ends_with(".out.jsonl")
            || host
            || name.starts_with("codex/sdk/")
            || dialect == "acp" && name.ends_with(".jsonl")
            || plain && name.ends_with(".jsonl") && !name.ends_with(".api.jsonl");
        let whole = name.ends_with(".out.json")
            || dialect == "atif" && name.ends_with(".json")
            || plain && name.ends_with(".json") && !name.ends_with(".meta.json");
        let mode = if whole { ":json" } else { "" };
        let served = name.starts_with("codex/app-server/");
        let exported = dialect == "opencode" && name.ends_with(".json") && !name.ends_with(".meta.json");
        let happened = dialect == "opencode" && name.ends_with(".events.jsonl");
        let kept = name.ends_with(".rollout.jsonl");
        let mode = match () {
            () if served => ":app-server",
            () if kept => ":rollout",
            () if exported => ":export",
            () if happened => ":bus",
            () => mode,
        };
        let format = format!("{dialect}{mode}")
            .parse()
            .ok()
            .filter(|_| lines || whole || served || kept || exported || happened)?;
        Some(Log {
            format,
            host,
            hostile: false,
            expected: false,
            bytes: fs::read(&path).ok()?,
            name,
        })
    };
    paths.into_iter().filter_map(log).collect()
}

/// All files below a folder, in order.
pub fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Every streaming format that can be written.
pub fn streaming() -> Vec<Format> {
    Format::all().filter(|f| f.is_streaming() && f.is_writable()).collect()
}

/// Every streaming format but `from` itself.
pub fn targets(from: Format) -> Vec<Format> {
    streaming().into_iter().filter(|to| *to != from).collect()
}

/// Every format but `from` itself, streams and others.
pub fn all_targets(from: Format) -> Vec<Format> {
    Format::all().filter(|to| to.is_writable() && *to != from).collect()
}

pub fn format(name: &str) -> Format {
    name.parse().expect("tests name formats that exist")
}

pub fn events() -> Format {
    Dialect::Agentglot.into()
}

/// What a conversion gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    pub out: Vec<u8>,
    pub ledger: String,
    pub damage: Vec<Damage>,
}

impl Converted {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("output is UTF-8")
    }
}

/// Converts in one read.
pub fn convert(options: &Options, input: &[u8]) -> Converted {
    feed(options, [input])
}

/// Converts in the given reads.
pub fn feed<'a>(options: &Options, reads: impl IntoIterator<Item = &'a [u8]>) -> Converted {
    let mut converter = Converter::new(options.clone());
    let mut out = Vec::new();
    for read in reads {
        converter.feed(read, &mut out);
    }
    converter.finish(&mut out);
    Converted {
        out,
        ledger: converter.take_ledger(),
        damage: converter.take_damage(),
    }
}

/// Converts from one format to another as the command does by default.
pub fn quick(from: Format, to: Format, input: &[u8]) -> Converted {
    convert(&Options::new(from, to), input)
}

/// The options with tools left alone.
pub fn verbatim(from: Format, to: Format) -> Options {
    Options {
        tools: ToolNames::Verbatim,
        ..Options::new(from, to)
    }
}

/// The options with a ledger.
pub fn with_ledger(options: Options) -> Options {
    Options {
        ledger: Some("log".to_owned()),
        ..options
    }
}

/// How often a random test is done: `ROUNDS` times, or else what is quick.
pub fn rounds(usual: usize) -> usize {
    std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Gathers what is wrong, so that one run names everything; fails at the end.
#[derive(Debug, Default)]
pub struct Wrongs {
    groups: BTreeMap<String, Vec<String>>,
    checked: u64,
}

impl Wrongs {
    /// One thing was looked at.
    pub fn check(&mut self) {
        self.checked += 1;
    }

    /// `what` of the kind `group` (law and pair) is wrong.
    pub fn add(&mut self, group: impl Into<String>, what: impl Into<String>) {
        self.groups.entry(group.into()).or_default().push(what.into());
    }

    pub fn extend(&mut self, other: Self) {
        self.checked += other.checked;
        for (group, list) in other.groups {
            self.groups.entry(group).or_default().extend(list);
        }
    }

    /// Fails if anything is wrong, with the first few of each group, or if nothing was looked at.
    pub fn finish(self, law: &str) {
        assert!(self.checked > 0, "{law}: nothing was checked");
        if self.groups.is_empty() {
            return;
        }
        let show: usize = std::env::var("SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
        let mut text = format!(
            "{law}: {} wrong of {} checked\n",
            self.groups.values().map(Vec::len).sum::<usize>(),
            self.checked
        );
        for (group, list) in &self.groups {
            text.push_str(&format!("  {group}: {}\n", list.len()));
            for what in list.iter().take(show) {
                text.push_str(&format!("      {}\n", short(what, 700)));
            }
        }
        panic!("{text}");
    }
}

/// The beginning of a text that may be long.
pub fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

/// Where two outputs part: the line, and both beginnings from there.
pub fn parting(left: &[u8], right: &[u8]) -> String {
    let at = left.iter().zip(right).position(|(a, b)| a != b).unwrap_or(left.len().min(right.len()));
    let line = left[..at].iter().filter(|b| **b == b'\n').count() + 1;
    let show = |bytes: &[u8]| {
        let from = at.saturating_sub(60).min(bytes.len());
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 140)]).into_owned()
    };
    format!(
        "line {line}, byte {at} of {}/{}: {:?} / {:?}",
        left.len(),
        right.len(),
        show(left),
        show(right)
    )
}

/// Runs `check` over all items on as many threads as the machine has.
pub fn parallel<T: Sync>(items: &[T], check: impl Fn(&T, &mut Wrongs) + Sync) -> Wrongs {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let work = || {
            let mut wrongs = Wrongs::default();
            while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                check(item, &mut wrongs);
            }
            wrongs
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().fold(Wrongs::default(), |mut all, worker| {
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            all
        })
    })
}
