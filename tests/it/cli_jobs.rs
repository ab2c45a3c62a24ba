//! Any number of jobs gives the same bytes: output, ledger, messages, exit code.

use std::fmt::Write;
use std::path::Path;

use crate::common::{Scratch, arg, golden, run};

/// A log of many sessions of all goldens of a dialect. The id of a session stands in other sessions' lines too, lines without
/// a session and damaged ones lie between.
fn many_sessions(dialect: &str, megabytes: usize) -> String {
    let mut texts: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(golden(dialect)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mixed = dialect == "qwen" && name.contains(".chunks");
        if name.ends_with(".jsonl") && !name.contains(".in.") && !mixed {
            texts.extend(std::fs::read_to_string(&path));
        }
    }
    texts.sort();
    let mut log = String::new();
    let mut round = 0_u64;
    while log.len() < megabytes << 20 {
        for (n, text) in texts.iter().enumerate() {
            // Another id each time, of the same length.
            let fresh = text
                .replace("-0000-", &format!("-{:04x}-", round % 65536))
                .replace("chatcmpl-s", &format!("chatcmpl-{round}s"));
            let fresh = fresh.replace("Session ID: ", &format!("Session ID: {:02x}", round % 256));
            log.push_str(fresh.trim_end());
            log.push('\n');
            match n % 11 {
                3 => log.push_str("{\"type\":\"broken\n"),
                5 => log.push_str("plain text\n\n"),
                7 => {
                    let _ = writeln!(log, "{{\"type\":\"keep_alive\",\"of\":\"{}\"}}", round);
                }
                _ => {}
            }
        }
        round += 1;
    }
    log
}

fn same_with_any_jobs(dialect: &str, to: &str, log: &Path, scratch: &Scratch) {
    let convert = |jobs: &str| {
        let ledger = scratch.path(&format!("ledger-{jobs}"));
        let ran = run([
            "-vv",
            "convert",
            "--from",
            dialect,
            "--to",
            to,
            "--jobs",
            jobs,
            "--ledger",
            arg(&ledger),
            arg(log),
        ]);
        // Our own log tells whether there was more than one part.
        let (own, told): (Vec<_>, Vec<_>) = ran.err.lines().map(str::to_owned).partition(|line| line.contains(" agentglot::"));
        let cuts = own.iter().filter(|line| line.contains("cut")).count();
        (ran.out, std::fs::read(ledger).unwrap(), told, ran.code, cuts)
    };
    let one = convert("1");
    assert_eq!(one.4, 0);
    let many = convert("3");
    assert!(many.4 >= 2, "{dialect}: the log was cut {} times", many.4);
    assert_eq!(many.3, one.3, "{dialect} to {to}: exit codes");
    let differs = one.0.iter().zip(&many.0).position(|(a, b)| a != b);
    let around = |bytes: &[u8]| differs.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(300)..(at + 100).min(bytes.len())]).into_owned());
    assert!(
        many.0 == one.0,
        "{dialect} to {to}: output of {} and {} bytes differs:\n{:?}\n{:?}",
        one.0.len(),
        many.0.len(),
        around(&one.0),
        around(&many.0)
    );
    if many.1 != one.1 {
        let (a, b) = (
            String::from_utf8_lossy(&one.1).into_owned(),
            String::from_utf8_lossy(&many.1).into_owned(),
        );
        let (left, right) = a.lines().zip(b.lines()).find(|(a, b)| a != b).unwrap_or(("end", "end"));
        panic!("{dialect} to {to}: ledgers differ:\n{left}\n{right}");
    }
    assert!(many.2 == one.2, "{dialect} to {to}: messages");
}

#[test]
fn a_big_log_of_claude() {
    let scratch = Scratch::new();
    let log = scratch.file("log.jsonl", many_sessions("claude", 7));
    for to in ["claude", "qwen:stream-chunk-json", "tricode", "cursor"] {
        same_with_any_jobs("claude", to, &log, &scratch);
    }
}

#[test]
fn a_big_log_of_qwen_code() {
    let scratch = Scratch::new();
    let log = scratch.file("log.jsonl", many_sessions("qwen-code", 7));
    for to in ["claude", "qwen"] {
        same_with_any_jobs("qwen-code", to, &log, &scratch);
    }
}

#[test]
fn a_big_log_of_cursor() {
    let scratch = Scratch::new();
    let log = scratch.file("log.jsonl", many_sessions("cursor", 7));
    for to in ["claude", "cursor:text"] {
        same_with_any_jobs("cursor", to, &log, &scratch);
    }
}

#[test]
fn a_big_log_of_tricode_and_of_the_rfc() {
    let scratch = Scratch::new();
    for dialect in ["tricode", "qwen"] {
        let log = scratch.file("log.jsonl", many_sessions(dialect, 7));
        same_with_any_jobs(dialect, "claude", &log, &scratch);
    }
}

#[test]
fn many_logs() {
    let scratch = Scratch::new();
    let mut files = Vec::new();
    for dialect in ["claude", "cursor", "qwen-code", "tricode", "qwen", "hostile"] {
        for entry in std::fs::read_dir(golden(dialect)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    // In a folder each needs a name of its own.
    let mut stems = std::collections::HashSet::new();
    files.retain(|file| stems.insert(file.file_stem().unwrap().to_owned()));
    files.push(scratch.path("missing"));
    let convert = |jobs: &str, more: &[&str]| {
        let ledger = scratch.path(&format!("ledger-{jobs}"));
        let args = ["convert", "--to", "cursor", "--jobs", jobs, "--ledger", arg(&ledger)];
        let ran = run(args.iter().copied().chain(more.iter().copied()).chain(files.iter().map(|f| arg(f))));
        (ran, std::fs::read(ledger).unwrap())
    };
    let (one, one_ledger) = convert("1", &[]);
    let (many, many_ledger) = convert("4", &[]);
    assert!(one.out == many.out && one_ledger == many_ledger);
    assert_eq!((one.err, one.code), (many.err, many.code));
    assert_eq!(one.code, 3);
    let folder = scratch.path("out");
    convert("4", &["-o", arg(&folder)]);
    let names = scratch.names("out");
    assert!(names.len() > 200 && names.iter().all(|name| name.contains(".cursor.json")), "{names:?}");
    let together: Vec<u8> = files
        .iter()
        .filter_map(|f| {
            let name = f.file_name()?.to_str()?;
            let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))?;
            std::fs::read(folder.join(format!("{stem}.cursor.jsonl"))).ok()
        })
        .flatten()
        .collect();
    assert!(together == one.out);
}
