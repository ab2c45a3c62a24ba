//! A very long line of many small blocks is told in parts: nothing of it is lost or said twice, and where its parts stand is told as of
//! the whole line.

use std::cell::RefCell;
use std::rc::Rc;

use crate::common::{Wrongs, format, stream_goldens, streaming, with_ledger};
use crate::memory::long_lines;
use agentglot_adapters::convert::{Converter, LedgerEntry, Options, ToolNames};
use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::raw::event::Fate;

/// So many blocks with a word of this length are more than a megabyte.
const WORD: usize = 256;
/// So much is read at a time.
const READ: usize = 64 << 10;
/// This many.
const MANY: usize = 4_000;

struct Made {
    out: String,
    entries: Vec<LedgerEntry>,
    damage: Vec<(u64, u64, Option<String>)>,
}

/// Converts in reads of 64 KiB; what is drained is a part of the output.
fn convert(options: Options, log: &str) -> Made {
    convert_drained(options, log, READ)
}

fn convert_drained(options: Options, log: &str, reads: usize) -> Made {
    let drained = Rc::new(RefCell::new(Vec::new()));
    let drain = Rc::clone(&drained);
    convert_with(
        Converter::new(options).drained(Box::new(move |made| drain.borrow_mut().append(made))),
        &drained,
        log,
        reads,
    )
}

fn convert_with(mut converter: Converter, drained: &RefCell<Vec<u8>>, log: &str, reads: usize) -> Made {
    let (mut out, mut damage) = (Vec::new(), Vec::new());
    for read in log.as_bytes().chunks(reads) {
        converter.feed(read, &mut out);
        drained.borrow_mut().append(&mut out);
    }
    converter.finish(&mut out);
    drained.borrow_mut().append(&mut out);
    damage.extend(
        converter
            .take_damage()
            .into_iter()
            .map(|damage| (damage.line, damage.byte, damage.pointer)),
    );
    Made {
        out: String::from_utf8(drained.take()).expect("what is written is UTF-8"),
        entries: converter.take_entries(),
        damage,
    }
}

fn message(role: &str, blocks: &[String]) -> String {
    let blocks = blocks.join(",");
    match role {
        "user" => format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{blocks}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u","timestamp":"2026-01-01T00:00:00.000Z"}}"#
        ),
        _ => format!(
            r#"{{"type":"assistant","message":{{"id":"m","type":"message","role":"assistant","model":"k","content":[{blocks}],"stop_reason":null,"usage":{{"input_tokens":7,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#
        ),
    }
}

fn text(n: usize) -> String {
    format!(r#"{{"type":"text","text":"text-{n}.{:WORD$}"}}"#, "")
}

fn call(n: usize) -> String {
    format!(
        r#"{{"type":"tool_use","id":"call-{n}.","name":"Bash","input":{{"command":"echo {n}{:WORD$}"}}}}"#,
        ""
    )
}

fn result(n: usize) -> String {
    format!(
        r#"{{"tool_use_id":"call-{n}.","type":"tool_result","content":"result-{n}.{:WORD$}","is_error":false}}"#,
        ""
    )
}

/// Who says a line, and the blocks of it.
type Kind = (&'static str, fn(usize) -> String);

/// A log of one line of each kind, or with each block on a line of its own.
fn log(kinds: &[Kind], apart: bool) -> String {
    let mut log = String::new();
    for (role, block) in kinds {
        let blocks: Vec<String> = (0..MANY).map(block).collect();
        for blocks in blocks.chunks(if apart { 1 } else { MANY }) {
            log.push_str(&message(role, blocks));
            log.push('\n');
        }
    }
    log
}

/// How often each of some marks stands in an output.
fn marks(out: &str) -> Vec<(String, usize)> {
    let numbers = [0, 1, 2, MANY / 3, MANY / 2, MANY - 1];
    let marks = numbers
        .iter()
        .flat_map(|n| [format!("text-{n}."), format!("call-{n}."), format!("result-{n}.")]);
    marks
        .map(|mark| (out.matches(&mark).count(), mark))
        .map(|(count, mark)| (mark, count))
        .collect()
}

#[test]
fn say_what_the_same_blocks_say_on_lines_of_their_own() {
    let mut wrongs = Wrongs::default();
    let logs: [&[Kind]; 2] = [&[("assistant", text)], &[("assistant", call), ("user", result)]];
    for kinds in logs {
        let (long, apart) = (log(kinds, false), log(kinds, true));
        for from in ["claude", "qwen-code"] {
            for to in streaming() {
                let options = Options::new(format(from), to);
                let name = format!("{from} -> {to}");
                wrongs.check();
                let made = convert(options.clone(), &long);
                // What is copied is copied as it stands.
                let whole = if format(from) == to {
                    made.out == long
                } else {
                    marks(&made.out) == marks(&convert(options.clone(), &apart).out)
                };
                if !whole {
                    wrongs.add(name, format!("{:?} is not what the blocks say apart", marks(&made.out)));
                } else if made.out != convert(with_ledger(options), &long).out {
                    wrongs.add(name, "a ledger changes the output".to_owned());
                }
            }
        }
    }
    wrongs.finish("long lines in parts");
}

#[test]
fn are_written_the_same_when_they_are_handed_over_before_they_are_whole() {
    let mut wrongs = Wrongs::default();
    for (n, (from, shape, _, line)) in long_lines().into_iter().enumerate() {
        for to in Format::all().filter(|to| to.is_writable()) {
            wrongs.check();
            let options = Options {
                keep_spelling: true,
                ..Options::new(format(from), to)
            };
            // Every other one with a ledger.
            let options = if n % 2 == 0 { with_ledger(options) } else { options };
            let log = format!("{line}\n{line}\n");
            let drained = convert(options.clone(), &log);
            let whole = convert_with(Converter::new(options), &RefCell::default(), &log, READ);
            if drained.out != whole.out {
                wrongs.add(
                    format!("{from} -> {to}"),
                    format!("{shape}: {} and {} bytes", drained.out.len(), whole.out.len()),
                );
            }
        }
    }
    wrongs.finish("long lines handed over");
}

/// What was written of some lines is handed over while others are read.
#[test]
fn of_many_lines_that_are_read_at_once_none_is_written_or_told_in_another_way() {
    let mut wrongs = Wrongs::default();
    let logs = stream_goldens();
    for from in ["claude", "qwen-code", "qwen", "tricode", "cursor"].map(format) {
        let mut log = String::new();
        while log.len() < 3 << 19 {
            for golden in logs.iter().filter(|golden| golden.format == from) {
                // Control lines then name another session than replies.
                let text = String::from_utf8_lossy(&golden.bytes);
                log.push_str(&text.trim_end().replace("chatcmpl-s", "chatcmpl-7s"));
                log.push('\n');
            }
        }
        for to in Format::all().filter(|to| to.is_writable()) {
            wrongs.check();
            let options = with_ledger(Options::new(from, to));
            let drained = convert_drained(options.clone(), &log, log.len());
            let whole = convert_with(Converter::new(options), &RefCell::default(), &log, log.len());
            if drained.out != whole.out {
                wrongs.add(format!("{from} -> {to}"), "the output differs".to_owned());
            } else if drained.entries != whole.entries {
                wrongs.add(format!("{from} -> {to}"), "the ledger differs".to_owned());
            }
        }
    }
    wrongs.finish("many lines at once");
}

#[test]
fn are_told_in_the_ledger_as_whole_lines() {
    let mut blocks: Vec<String> = (0..MANY).map(text).collect();
    let marked = MANY - 7;
    blocks[marked] = format!(r#"{{"type":"text","text":"text-{marked}.","nobody_knows":1}}"#);
    let options = with_ledger(Options::new(format("claude"), format("qwen:stream-chunk-json")));
    let entries = convert(options, &(message("assistant", &blocks) + "\n")).entries;
    let pointer = format!("/message/content/{marked}/nobody_knows");
    assert_eq!(entries.iter().filter(|entry| entry.finding.pointer == pointer).count(), 1, "{entries:?}");
    // What stands around the blocks is told once.
    let lost = entries.iter().filter(|entry| entry.finding.fate == Fate::Dropped);
    let mut pointers: Vec<&str> = lost.map(|entry| entry.finding.pointer.as_str()).collect();
    pointers.sort_unstable();
    let all = pointers.len();
    pointers.dedup();
    assert_eq!(pointers.len(), all, "{entries:?}");
}

#[test]
fn have_a_ledger_that_is_no_longer_than_that_of_other_lines() {
    let options = with_ledger(Options::new(format("claude"), format("qwen-code")));
    let entries = convert(options, &log(&[("assistant", call)], false)).entries;
    let renamed = |pointer: &str| entries.iter().filter(|entry| entry.finding.pointer.ends_with(pointer)).count();
    assert!(
        (200..2000).contains(&renamed("/name")),
        "{} of {MANY} names are told one by one",
        renamed("/name")
    );
    let others = |entry: &LedgerEntry| entry.finding.note.contains("more parts of this line alike");
    assert!(entries.iter().any(others), "the others are counted");
}

/// Of so many not all wait for their results: those that do not are written before them, and once.
#[test]
fn have_each_call_once_however_many_wait_for_their_results() {
    const CALLS: usize = 5_000;
    let write = |n: usize| {
        format!(
            r#"{{"type":"tool_use","id":"call-{n}.","name":"Write","input":{{"file_path":"/w/{n}","content":"{:WORD$}"}}}}"#,
            ""
        )
    };
    for calls in [(0..CALLS).map(call).collect::<Vec<_>>(), (0..CALLS).map(write).collect()] {
        let results: Vec<String> = (0..CALLS).map(result).collect();
        let log = message("assistant", &calls) + "\n" + &message("user", &results) + "\n";
        for (to, call, result) in [
            ("tricode", r#""type": "tool_call""#, r#""type": "tool_result""#),
            ("cursor", r#""subtype":"started""#, r#""subtype":"completed""#),
        ] {
            let out = convert(Options::new(format("claude"), format(to)), &log).out;
            let count = |word: &str| out.matches(word).count();
            assert_eq!((count(call), count(result)), (CALLS, CALLS), "{to}: {}", &calls[0][..60]);
        }
    }
}

/// The target has a place for the last of them at most.
#[test]
fn are_counted_in_the_ledger_however_many_wait_for_their_fate() {
    const BLOCKS: usize = 6_000;
    let blocks: Vec<String> = (0..BLOCKS).map(text).collect();
    let options = with_ledger(Options::new(format("claude"), format("tricode")));
    let entries = convert(options, &(message("assistant", &blocks) + "\n")).entries;
    let others = |note: &str| -> Option<u64> { note.split_once("(and ")?.1.split_once(" more parts")?.0.parse().ok() };
    let lost = entries
        .iter()
        .filter(|entry| entry.finding.fate == Fate::Dropped && entry.finding.pointer.ends_with("/text"));
    let all: u64 = lost.map(|entry| entry.count + others(&entry.finding.note).unwrap_or(0)).sum();
    assert_eq!(all, BLOCKS as u64);
    assert!(entries.len() < 2000, "{} entries", entries.len());
}

#[test]
fn lose_nothing_but_what_is_damaged() {
    let mut blocks: Vec<String> = (0..MANY).map(text).collect();
    let broken = MANY / 2;
    blocks[broken] = r#"{"type":"text"}"#.to_owned();
    let line = message("assistant", &blocks) + "\n";
    let made = convert(Options::new(format("claude"), format("cursor")), &line);
    let [(1, byte, pointer)] = made.damage.as_slice() else {
        panic!("{:?}", made.damage)
    };
    let at = line.find(&blocks[broken]).expect("it stands there") as u64;
    assert!((at..=at + 20).contains(byte), "{byte} is not at {at}");
    assert!(
        pointer
            .as_ref()
            .is_some_and(|pointer| pointer.starts_with(&format!("/message/content/{broken}"))),
        "{pointer:?}"
    );
    for n in [0, MANY / 4, MANY - 1] {
        assert!(made.out.contains(&format!("text-{n}.")), "{n} is lost");
    }
}

#[test]
fn say_very_long_arguments_in_pieces() {
    let input = serde_json::json!({"file_path": "/w/a", "content": "é\"\\\n".repeat(400_000)});
    let block = format!(r#"{{"type":"tool_use","id":"c","name":"Write","input":{input}}}"#);
    let options = Options {
        tools: ToolNames::Verbatim,
        ..Options::new(format("claude"), format("qwen:stream-chunk-json"))
    };
    let out = convert(options, &(message("assistant", &[block]) + "\n")).out;
    let chunks = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON"));
    let pieces: Vec<String> = chunks
        .filter_map(|chunk| Some(chunk.pointer("/choices/0/delta/tool_calls/0/function/arguments")?.as_str()?.to_owned()))
        .filter(|piece| !piece.is_empty())
        .collect();
    assert!(pieces.len() > 1, "one piece");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&pieces.concat()).expect("they are one value"),
        input
    );
}
