//! The golden logs: the manifest tells of each file, and what 24 of them become in every other dialect is kept.
//!
//! `BLESS=1 cargo test -p agentglot-adapters --test codecs goldens` writes `golden/expected` anew; read the difference before it is
//! committed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Dialect, Format};

use crate::common::{Log, convert, golden_folder, goldens, manifest, walk, with_ledger};

#[test]
fn the_manifest_tells_of_each_file() {
    let folder = golden_folder();
    let mut paths = Vec::new();
    walk(&folder, &mut paths);
    let files: BTreeSet<String> = paths
        .iter()
        .filter_map(|p| p.strip_prefix(&folder).ok()?.to_str().map(str::to_owned))
        .filter(|name| !name.starts_with("expected/") && !["MANIFEST.toml", "README.md", ".gitattributes"].contains(&name.as_str()))
        .collect();
    let listed: Vec<String> = manifest().iter().map(|e| e.get("path").to_owned()).collect();
    let told: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(told.len(), listed.len(), "a file is listed twice");
    assert_eq!(
        files.difference(&told).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "files without an entry"
    );
    assert_eq!(
        told.difference(&files).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "entries without a file"
    );
}

#[test]
fn each_entry_says_what_it_must() {
    let expected = manifest().iter().filter(|e| e.get("expected") == "true").count();
    assert!(expected >= 24, "conversions of {expected} files are kept");
    let recorded = manifest().iter().filter(|e| e.get("origin").starts_with("recorded")).count();
    assert!(recorded >= 40, "{recorded} real recordings");
    for entry in manifest() {
        let path = entry.get("path").to_owned();
        for key in ["path", "dialect", "side", "program", "version", "origin", "shows", "altered"] {
            assert!(!entry.get(key).is_empty(), "{path}: {key} is missing");
        }
        let format: Format = entry.get("dialect").parse().unwrap_or_else(|e| panic!("{path}: {e}"));
        let folder = path.split('/').next().unwrap_or_default();
        // What a host sent to a program that does not know it is of the dialect in which it was sent.
        assert!(
            folder == "hostile" || folder == format.dialect.name() || entry.get("side") == "host",
            "{path}: a log of {format}"
        );
        assert_eq!(entry.get("side") == "host", path.contains(".in."), "{path}: side");
        assert_eq!(entry.get("hostile") == "true", folder == "hostile", "{path}: hostile");
        assert_eq!(entry.keys.contains_key("wrong"), folder == "hostile", "{path}: what is wrong with it");
    }
}

/// The formats that a log's conversions are kept in: the default one of every other dialect, and the RFC's chunks.
fn kept(log: &Log) -> Vec<Format> {
    let chunks = "qwen:stream-chunk-json".parse().expect("it is a format");
    Dialect::ALL
        .into_iter()
        .map(Format::from)
        .chain([chunks])
        .filter(|to| to.dialect != log.format.dialect)
        .collect()
}

/// `expected/claude/cli_edit.qwen-stream-chunk-json`, without its ending.
fn place(log: &Log, to: Format) -> PathBuf {
    let (folder, file) = log.name.split_once('/').expect("goldens lie in folders");
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    let stem = stem.strip_suffix(".out").unwrap_or(stem);
    let target = to.to_string().replace(':', "-");
    golden_folder().join("expected").join(folder).join(format!("{stem}.{target}"))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// The lines that differ, with their neighbours.
fn difference(name: &str, kept: &str, now: &str) -> String {
    let diff = similar::TextDiff::from_lines(kept, now);
    let text = diff
        .unified_diff()
        .context_radius(1)
        .header(&format!("{name} (kept)"), &format!("{name} (now)"))
        .to_string();
    crate::common::short(&text, 4000)
}

#[test]
fn conversions_are_as_expected() {
    let bless = std::env::var("BLESS").is_ok_and(|v| v == "1");
    let folder = golden_folder().join("expected");
    assert!(bless || folder.is_dir(), "golden/expected is not there (BLESS=1 writes it)");
    let mut wrong = Vec::new();
    let mut written: BTreeSet<PathBuf> = BTreeSet::new();
    for log in goldens().into_iter().filter(|log| log.expected) {
        for to in kept(&log) {
            let options = Options {
                ledger: Some(format!("golden/{}", log.name)),
                ..with_ledger(Options::new(log.format, to))
            };
            let done = convert(&options, &log.bytes);
            let ending = if to.is_streaming() { ".jsonl" } else { ".json" };
            let out = String::from_utf8(done.out).unwrap_or_else(|e| panic!("{} -> {to}: {e}", log.name));
            for (path, now) in [
                (with_ending(&place(&log, to), ending), out),
                (with_ending(&place(&log, to), ".ledger.jsonl"), done.ledger),
            ] {
                written.insert(path.clone());
                let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
                if bless {
                    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("golden/expected can be written");
                    fs::write(&path, &now).unwrap_or_else(|e| panic!("{name}: {e}"));
                    continue;
                }
                match fs::read_to_string(&path) {
                    Ok(kept) if kept == now => {}
                    Ok(kept) => wrong.push(difference(&name, &kept, &now)),
                    Err(error) => wrong.push(format!("{name}: {error}")),
                }
            }
        }
    }
    let mut there = Vec::new();
    walk(&folder, &mut there);
    for stale in there.into_iter().filter(|path| !written.contains(path)) {
        if bless {
            fs::remove_file(&stale).expect("golden/expected can be written");
        } else {
            wrong.push(format!("{}: nothing is converted to it", stale.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ; BLESS=1 takes what is now:\n{}",
        wrong.len(),
        written.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}
