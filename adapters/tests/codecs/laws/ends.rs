//! Law 4. Each turn has exactly one outcome, whatever happened to the source.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};
use agentglot_adapters::raw::vendor::Ends;

use crate::common::turns::{ends, successes, turns};
use crate::common::{Chance, Log, Wrongs, convert, events, parallel, parting, plain_goldens, quick, recordings, stream_goldens, targets, verbatim};

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
        let done = convert(&crate::common::with_ledger(Options::new(log.format, events())), cut);
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
        let repaired = convert(&same, cut);
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

/// Of several sessions in one file of a program's, one value is written all the same: the last outcome, or all messages.
#[test]
fn of_files_of_sessions_put_together() {
    let logs: Vec<Log> = plain_goldens()
        .into_iter()
        .filter(|log| log.format.mode.layout == Layout::Store)
        .collect();
    let pairs: Vec<(&Log, &Log)> = logs
        .iter()
        .zip(logs.iter().skip(1))
        .filter(|(first, second)| first.format == second.format)
        .collect();
    assert!(pairs.len() > 10, "only {} pairs of stores", pairs.len());
    let over = |(first, second): &(&Log, &Log), wrongs: &mut Wrongs| {
        let both = [first.bytes.as_slice(), b"\n", &second.bytes].concat();
        for to in Format::all().filter(|to| to.mode.layout == Layout::Document && to.dialect.vendor().logs.ends != Ends::Unsaid) {
            for verbose in [false, true] {
                wrongs.check();
                let options = Options {
                    verbose,
                    ..Options::new(first.format, to)
                };
                let out = convert(&options, &both).out;
                let values = serde_json::Deserializer::from_slice(&out).into_iter::<serde_json::Value>().count();
                if values > 1 {
                    wrongs.add(
                        format!("one value {} -> {to}", first.format),
                        format!("{} {}: {values}", first.name, second.name),
                    );
                }
            }
        }
    };
    parallel(&pairs, over).finish("one value");
}

/// Rows that are alike are as many sessions, also when they are stored as events, whose headers say where each began.
#[test]
fn of_rows_that_are_alike() {
    let stored = plain_goldens()
        .into_iter()
        .filter(|log| log.format.mode.layout == Layout::Rows && log.bytes.len() < 100_000);
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let twice = [log.bytes.trim_ascii_end(), b"\n", &log.bytes].concat();
        let stored = convert(&verbatim(log.format, events()), &twice).out;
        for to in targets(log.format).into_iter().filter(|to| *to != events()) {
            wrongs.check();
            let (direct, back) = (
                convert(&verbatim(log.format, to), &twice).out,
                convert(&verbatim(events(), to), &stored).out,
            );
            if direct != back {
                wrongs.add(
                    format!("stored {} -> {to}", log.format),
                    format!("{}: {}", log.name, parting(&direct, &back)),
                );
            }
        }
    };
    parallel(&stored.collect::<Vec<_>>(), over).finish("rows");
}
