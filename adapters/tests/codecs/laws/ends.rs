//! Law 4. Each turn has exactly one outcome, whatever happened to the source.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Dialect, Format};

use crate::common::turns::{ends, successes, turns};
use crate::common::{Chance, Log, Wrongs, events, parallel, quick, recordings, stream_goldens, targets};

/// Counts the ends in one output.
fn check(name: &str, from: Format, to: Format, input: &[u8], good: usize, wrongs: &mut Wrongs) {
    let wanted = turns(from, input);
    let out = quick(from, to, input).out;
    let found = ends(to, &out);
    wrongs.check();
    // A Cursor turn that fails has no line that says so.
    let (least, most) = if to.dialect == Dialect::Cursor {
        (good, good)
    } else {
        (wanted.least, wanted.most)
    };
    if !(least..=most).contains(&found) {
        wrongs.add(format!("ends {from} -> {to}"), format!("{name}: {found} ends for {least}..={most} turns"));
    }
}

fn all_targets(name: &str, from: Format, input: &[u8], wrongs: &mut Wrongs) {
    let good = successes(&quick(from, events(), input).out);
    for to in targets(from) {
        check(name, from, to, input, good, wrongs);
    }
}

#[test]
fn of_goldens() {
    parallel(&stream_goldens(), |log, wrongs| all_targets(&log.name, log.format, &log.bytes, wrongs)).finish("one end");
}

#[test]
fn of_recordings() {
    let logs: Vec<Log> = recordings().into_iter().filter(Log::is_plain).collect();
    if !logs.is_empty() {
        parallel(&logs, |log, wrongs| all_targets(&log.name, log.format, &log.bytes, wrongs)).finish("one end");
    }
}

/// Logs that end too early: behind each line.
#[test]
fn of_logs_cut_at_each_line() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let cuts: Vec<usize> = (0..log.bytes.len()).filter(|at| log.bytes[*at] == b'\n').collect();
        // Long logs are cut at about sixty of their lines.
        for at in cuts.iter().step_by(1 + cuts.len() / 60) {
            all_targets(&format!("{} cut at byte {}", log.name, at + 1), log.format, &log.bytes[..=*at], wrongs);
        }
    };
    parallel(&stream_goldens(), over).finish("one end");
}

/// Logs that end in the middle of a line.
#[test]
fn of_logs_cut_at_random_bytes() {
    let logs = stream_goldens();
    let mut chance = Chance::new(200);
    let cuts: Vec<(&Log, usize)> = (0..200)
        .map(|_| {
            let log = chance.pick(&logs);
            (log, chance.below(log.bytes.len()))
        })
        .collect();
    let over = |(log, at): &(&Log, usize), wrongs: &mut Wrongs| {
        all_targets(&format!("{} cut at byte {at}", log.name), log.format, &log.bytes[..*at], wrongs);
    };
    parallel(&cuts, over).finish("one end");
}

/// The last turn's outcome is made up, marked, and told when the log is cut; `--repair` adds it in the same dialect.
#[test]
fn that_are_made_up_are_marked() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let cut = &log.bytes[..log.bytes.len() * 3 / 5];
        let is_told = turns(log.format, cut).least <= ends(log.format, cut);
        if is_told || log.format.dialect == Dialect::Cursor || !log.format.is_writable() {
            return;
        }
        wrongs.check();
        let done = crate::common::convert(&crate::common::with_ledger(Options::new(log.format, events())), cut);
        // A reply of the RFC that stopped ends its turn, summed up or not.
        let told = log.format.dialect == Dialect::Qwen;
        if !told && !done.text().contains("\"synthetic\":true") {
            wrongs.add(
                format!("made-up ends {} -> agentglot", log.format),
                format!("{}: no outcome is marked as made up", log.name),
            );
        }
        if !told && !done.ledger.contains("\"fate\":\"invented\"") {
            wrongs.add(
                format!("made-up ends {} -> agentglot", log.format),
                format!("{}: the ledger does not tell", log.name),
            );
        }
        let same = Options {
            repair: true,
            ..Options::new(log.format, log.format)
        };
        let repaired = crate::common::convert(&same, cut);
        let wanted = turns(log.format, cut);
        if !(wanted.least..=wanted.most).contains(&ends(log.format, &repaired.out)) {
            wrongs.add(
                format!("repair {}", log.format),
                format!("{}: {} ends after --repair", log.name, ends(log.format, &repaired.out)),
            );
        }
    };
    parallel(&stream_goldens(), over).finish("one end");
}

/// Programs that fail one after the other, each with its last words alone, have an outcome each.
#[test]
fn of_programs_that_say_only_why_they_failed() {
    let from = crate::common::format("qwen");
    let line = |why: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"{why}\"}},\"finish_reason\":\"error\"}}],\"metadata\":{{\"error\":\"unsupported_protocol\"}}}}\n"
        )
    };
    let log = [line("first reason"), line("second reason")].concat();
    for to in targets(from).into_iter().filter(|to| to.dialect != Dialect::Cursor) {
        let done = quick(from, to, log.as_bytes());
        // The program's own words are the end there.
        if to != events() && to.dialect != Dialect::Qwen {
            assert_eq!(ends(to, &done.out), 2, "{to}: {}", done.text());
        }
        assert!(
            done.text().contains("first reason") && done.text().contains("second reason"),
            "{to}: {}",
            done.text()
        );
    }
}
