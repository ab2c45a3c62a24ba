//! Whatever the bytes are, `check` ends, in time and memory that grow with the log alone, and says the same however the log is cut.

use std::time::{Duration, Instant};

use agentglot_adapters::check::{Checker, Finding};
use agentglot_adapters::raw::codec::Format;

use super::found;
use crate::common::{Chance, Log, goldens, parallel, rounds};

/// Makes some bytes of a log others, and takes, doubles and moves pieces of it.
fn damaged(log: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = log.to_vec();
    for _ in 0..1 + chance.below(12) {
        if bytes.is_empty() {
            break;
        }
        let from = chance.below(bytes.len());
        let to = (from + 1 + chance.below(200)).min(bytes.len());
        let piece = bytes[from..to].to_vec();
        match chance.below(5) {
            0 => bytes[from] = *chance.pick(b"{}[]\",:0-\\x\n\xff\x00"),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, piece)),
            3 => {
                let at = chance.below(bytes.len());
                bytes.splice(at..at, piece);
            }
            _ => bytes.truncate(from),
        }
    }
    bytes
}

/// Lines of a log in another order, some of them gone, some twice.
fn shuffled(log: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
    for _ in 0..1 + chance.below(6) {
        if lines.is_empty() {
            break;
        }
        let line = lines[chance.below(lines.len())];
        match chance.below(3) {
            0 => drop(lines.remove(chance.below(lines.len()))),
            1 => lines.insert(chance.below(lines.len()), line),
            _ => {
                let (a, b) = (chance.below(lines.len()), chance.below(lines.len()));
                lines.swap(a, b);
            }
        }
    }
    lines.concat()
}

fn in_pieces(format: Format, log: &[u8], chance: &mut Chance) -> Vec<Finding> {
    let mut settings = agentglot_adapters::check::Settings::default();
    settings.follow = true;
    let mut checker = Checker::with(format, settings);
    let mut findings = Vec::new();
    let mut rest = log;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(1 + chance.below(rest.len().min(4000)));
        checker.feed(piece);
        findings.extend(checker.take_findings());
        rest = behind;
    }
    findings.extend(checker.finish().0);
    findings
}

#[test]
fn whatever_the_bytes_are_check_ends_and_says_the_same_in_pieces() {
    let logs: Vec<Log> = goldens().into_iter().filter(|log| log.bytes.len() < 60_000).collect();
    parallel(&logs, |log, wrongs| {
        let mut chance = Chance::new(log.bytes.len() as u64 + 17);
        for round in 0..rounds(6) {
            wrongs.check();
            let made = match round % 2 {
                0 => damaged(&log.bytes, &mut chance),
                _ => shuffled(&log.bytes, &mut chance),
            };
            if found(log.format, &made) != in_pieces(log.format, &made, &mut chance) {
                wrongs.add("another finding in pieces", &log.name);
            }
        }
    })
    .finish("check says the same however a log is cut");
}

/// One log that breaks a rule on each line, or in each part of one line, `n` times.
fn faulty(kind: usize, n: usize) -> String {
    let init = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"/\",\"model\":\"m\",\"tools\":[]}\n";
    let mut log = init.to_owned();
    let many = |part: &dyn Fn(usize) -> String, between: &str| (0..n).map(part).collect::<Vec<_>>().join(between);
    let user = |parts: String| {
        format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{parts}]}},\"session_id\":\"s\",\"uuid\":\"u\"}}\n")
    };
    let answer =
        |parts: String| format!("{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{parts}]}},\"session_id\":\"s\"}}\n");
    let event = |event: String| format!("{{\"type\":\"stream_event\",\"event\":{event},\"session_id\":\"s\"}}\n");
    log += &match kind {
        // In one line: results without calls, calls with one id, calls without results.
        0 => user(many(
            &|k| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"c{k}\",\"content\":\"\"}}"),
            ",",
        )),
        1 => answer(many(
            &|_| "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"n\",\"input\":{}}".to_owned(),
            ",",
        )),
        2 => answer(many(
            &|k| format!("{{\"type\":\"tool_use\",\"id\":\"c{k}\",\"name\":\"n\",\"input\":{{}}}}"),
            ",",
        )),
        // On lines of their own: the same, and pieces of blocks that nobody opened, and blocks that nobody closes.
        3 => many(
            &|k| user(format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"c{k}\",\"content\":\"\"}}")),
            "",
        ),
        4 => many(
            &|k| {
                event(format!(
                    "{{\"type\":\"content_block_delta\",\"index\":{k},\"delta\":{{\"type\":\"text_delta\",\"text\":\"t\"}}}}"
                ))
            },
            "",
        ),
        5 => many(
            &|k| {
                event(format!(
                    "{{\"type\":\"content_block_start\",\"index\":{k},\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}"
                ))
            },
            "",
        ),
        // Unknown types and fields of many names, subagents of nobody, sessions that change.
        6 => many(&|k| format!("{{\"type\":\"t{k}\",\"x{k}\":1}}\n"), ""),
        7 => many(
            &|k| format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[]}},\"session_id\":\"s\",\"parent_tool_use_id\":\"p{k}\"}}\n"),
            "",
        ),
        8 => many(
            &|k| format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[]}},\"session_id\":\"s{k}\"}}\n"),
            "",
        ),
        // One session within another.
        _ => many(&|k| init.replace("\"s\"", &format!("\"s{k}\"")), ""),
    };
    log
}

#[test]
fn a_fault_on_each_line_takes_no_longer_than_its_line() {
    let time = |kind: usize, n: usize| {
        let log = faulty(kind, n);
        (0..10)
            .map(|_| {
                let begin = Instant::now();
                assert!(!found("claude".parse().unwrap(), log.as_bytes()).is_empty(), "{kind}");
                begin.elapsed()
            })
            .min()
            .unwrap_or_default()
    };
    for kind in 0..10 {
        // Eight times as much; a search of all that was before would take 64 times as long, each time that it is measured.
        let grows = |_| {
            let (few, many) = (time(kind, 1000), time(kind, 8000));
            (many >= few * 28 + Duration::from_millis(30)).then(|| format!("1000 take {few:?}, 8000 take {many:?}"))
        };
        let measured: Option<Vec<_>> = (0..3).map(grows).collect();
        assert_eq!(measured, None, "faults of kind {kind}");
    }
}
