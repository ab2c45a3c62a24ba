//! Law 2. Where the input is cut into reads never changes the output, the ledger or what is said about damage.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Format;

use crate::common::{Chance, Converted, Log, Wrongs, convert, feed, format, goldens, parallel, parting, targets, with_ledger};

fn compare(name: &str, how: &str, options: &Options, whole: &Converted, cut: &Converted, wrongs: &mut Wrongs) {
    wrongs.check();
    let group = format!("chunking {} -> {}", options.from, options.to);
    if whole.out != cut.out {
        wrongs.add(group, format!("{name} {how}: {}", parting(&whole.out, &cut.out)));
    } else if whole.ledger != cut.ledger {
        wrongs.add(
            group,
            format!("{name} {how}, ledger: {}", parting(whole.ledger.as_bytes(), cut.ledger.as_bytes())),
        );
    } else if whole.damage != cut.damage {
        wrongs.add(group, format!("{name} {how}, damage: {:?} / {:?}", whole.damage, cut.damage));
    }
}

/// The smallest logs that say something: of each dialect, damaged or not.
fn small(logs: Vec<Log>) -> Vec<Log> {
    let mut chosen = Vec::new();
    for dialect in [
        "claude",
        "qwen",
        "qwen:stream-chunk-json",
        "qwen-code",
        "tricode",
        "cursor",
        "gemini",
        "codex",
        "codex:app-server",
        "acp",
        "opencode",
        "claude:json",
        "gemini:json",
    ] {
        for hostile in [false, true] {
            let mut of: Vec<Log> = logs
                .iter()
                .filter(|l| l.format == format(dialect) && l.hostile == hostile && l.bytes.len() > 250)
                .cloned()
                .collect();
            of.sort_by_key(|l| (l.host, l.bytes.len()));
            of.truncate(if hostile { 1 } else { 3 });
            chosen.extend(of.into_iter().filter(|l| l.bytes.len() < 6000));
        }
    }
    chosen
}

/// Two targets for a log: streaming ones in turn, so that all pairs are seen.
fn some_targets(from: Format, number: usize) -> Vec<Format> {
    let all = targets(from);
    vec![all[number % all.len()], all[(number + 3) % all.len()]]
}

#[test]
fn at_every_byte_of_small_goldens() {
    let logs: Vec<(usize, Log)> = small(goldens()).into_iter().enumerate().collect();
    assert!(logs.len() >= 20, "only {} small goldens", logs.len());
    let check = |(number, log): &(usize, Log), wrongs: &mut Wrongs| {
        for to in some_targets(log.format, *number) {
            let options = with_ledger(Options::new(log.format, to));
            let whole = convert(&options, &log.bytes);
            for at in 1..log.bytes.len() {
                let (head, tail) = log.bytes.split_at(at);
                compare(
                    &log.name,
                    &format!("cut at {at}"),
                    &options,
                    &whole,
                    &feed(&options, [head, tail]),
                    wrongs,
                );
            }
            compare(&log.name, "byte by byte", &options, &whole, &feed(&options, log.bytes.chunks(1)), wrongs);
        }
    };
    parallel(&logs, check).finish("chunking");
}

#[test]
fn at_random_bytes_of_all_goldens() {
    let logs = goldens();
    let check = |log: &Log, wrongs: &mut Wrongs| {
        let mut chance = Chance::new(log.bytes.len() as u64);
        let mut all = targets(log.format);
        all.push(log.format);
        for to in all {
            let options = with_ledger(Options {
                partial: chance.below(2) == 0,
                ..Options::new(log.format, to)
            });
            let whole = convert(&options, &log.bytes);
            for _ in 0..2 {
                let mut reads: Vec<&[u8]> = Vec::new();
                let mut rest = &log.bytes[..];
                let most = *chance.pick(&[7, 300, 5000]);
                while !rest.is_empty() {
                    let (head, tail) = rest.split_at(rest.len().min(chance.below(most)));
                    reads.push(head);
                    rest = tail;
                }
                compare(
                    &log.name,
                    &format!("in {} reads", reads.len()),
                    &options,
                    &whole,
                    &feed(&options, reads),
                    wrongs,
                );
            }
        }
    };
    parallel(&logs, check).finish("chunking");
}
