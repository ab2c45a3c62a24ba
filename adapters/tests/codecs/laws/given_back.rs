//! What is stored as events goes back to the dialect and format that it comes from, byte for byte.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Format;

use crate::common::{Chance, Log, Wrongs, convert, events, feed, format, goldens, parallel, parting, recordings, with_ledger};
use crate::memory::long_lines;

fn storing(from: Format) -> Options {
    Options {
        keep_spelling: true,
        ..Options::new(from, events())
    }
}

fn check(log: &Log, wrongs: &mut Wrongs) {
    // What is only read is never written, not even as it was.
    if !log.format.is_writable() {
        return;
    }
    wrongs.check();
    let group = format!("given back {}", log.format);
    let stored = convert(&storing(log.format), &log.bytes).out;
    let in_reads = |options: &Options, input: &[u8], most: usize| feed(options, input.chunks(most)).out;
    let most = 1 + Chance::new(log.bytes.len() as u64).below(2000);
    if in_reads(&storing(log.format), &log.bytes, most) != stored || convert(&with_ledger(storing(log.format)), &log.bytes).out != stored {
        wrongs.add(&group, format!("{}: stored otherwise in reads of {most} or with a ledger", log.name));
    }
    let back = Options::new(events(), log.format);
    for (how, back) in [
        ("", convert(&back, &stored).out),
        (" in reads", in_reads(&back, &stored, most)),
        (" with a ledger", convert(&with_ledger(back.clone()), &stored).out),
    ] {
        if back != log.bytes {
            wrongs.add(&group, format!("{}{how}: {}", log.name, parting(&log.bytes, &back)));
        }
    }
}

#[test]
fn of_goldens() {
    // An array of sessions is read, and a session a line is written.
    let is_array = |log: &Log| log.format.is_store() && log.bytes.starts_with(b"[");
    let logs: Vec<Log> = goldens().into_iter().filter(|log| !is_array(log)).collect();
    parallel(&logs, check).finish("what is stored is given back");
}

#[test]
fn of_recordings() {
    let logs = recordings();
    if !logs.is_empty() {
        parallel(&logs, check).finish("what is stored is given back");
    }
}

/// Long lines are told in parts, and what is stored of them is not held until it is whole.
#[test]
fn of_long_lines() {
    let logs: Vec<Log> = long_lines()
        .into_iter()
        .map(|(from, shape, _, line)| Log {
            name: shape.to_owned(),
            format: format(from),
            host: false,
            hostile: false,
            expected: false,
            bytes: format!("{line}\n{line}\n").into_bytes(),
        })
        .collect();
    parallel(&logs, check).finish("what is stored is given back");
}

/// Several logs in one file, whole or cut off.
#[test]
fn of_logs_put_together() {
    let logs: Vec<Log> = goldens()
        .into_iter()
        .filter(|log| log.is_plain() && !log.format.to_string().contains(':'))
        .collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let mut chance = Chance::new(log.bytes.len() as u64);
        let alike: Vec<&Log> = logs.iter().filter(|other| other.format == log.format).collect();
        let mut bytes = log.bytes.clone();
        for _ in 0..2 {
            if chance.below(2) == 0 {
                let cut = bytes[..chance.below(bytes.len())]
                    .iter()
                    .rposition(|byte| *byte == b'\n')
                    .map_or(0, |at| at + 1);
                bytes.truncate(cut);
            }
            bytes.extend_from_slice(&chance.pick(&alike).bytes);
        }
        check(&Log { bytes, ..log.clone() }, wrongs);
    };
    parallel(&logs, over).finish("what is stored is given back");
}

const LOG: &str = concat!(
    r#"{"uuid":"u0","session_id":"s","type":"system","subtype":"init","cwd":"/w","tools":[],"model":"m"}"#,
    "\n",
    r#"{"session_id": "s", "type": "assistant", "message": {"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"one"}]},"uuid":"u1"}"#,
    "\n\n  \t",
    r#"{"type":"result","subtype":"success","uuid":"u2","session_id":"s","is_error":false,"result":"one"}"#,
    "\r\n{\"type\":\"system\",\"subtype\":\"ini",
);

/// What was edited is written anew; the rest is as it was.
#[test]
fn of_edited_events() {
    let claude = format("claude");
    let stored = String::from_utf8(convert(&storing(claude), LOG.as_bytes()).out).unwrap();
    let back = |stored: &str| String::from_utf8(convert(&Options::new(events(), claude), stored.as_bytes()).out).unwrap();
    assert_eq!(back(&stored), LOG);
    let edited = back(&stored.replacen("\"text\":\"one\"", "\"text\":\"two\"", 1));
    let (wanted, found): (Vec<_>, Vec<_>) = (LOG.split('\n').collect(), edited.split('\n').collect());
    assert_eq!(found.len(), wanted.len(), "{edited}");
    for (n, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        match n {
            1 => assert!(found.contains("\"text\":\"two\"") && !edited.contains("\"text\":\"one\""), "{found}"),
            _ => assert_eq!(found, wanted),
        }
    }
    // Without its spellings the log says the same.
    let plain: Vec<&str> = stored.lines().filter(|line| !line.contains("\"agentglot\":\"spelling\"")).collect();
    let plain = back(&(plain.join("\n") + "\n"));
    assert!(plain.contains("\"text\":\"one\"") && plain != LOG);
}

/// A log that breaks off has no outcome, and gets none on the way back; who wants one asks for it.
#[test]
fn of_a_killed_run() {
    let claude = format("claude");
    let log = LOG.split_inclusive('\n').take(2).collect::<String>();
    let stored = convert(&storing(claude), log.as_bytes()).out;
    assert!(memchr::memmem::find(&stored, b"\"synthetic\":true").is_some());
    let back = Options::new(events(), claude);
    assert_eq!(convert(&back, &stored).text(), log);
    let repaired = convert(
        &Options {
            repair: true,
            ..Options::new(events(), claude)
        },
        &stored,
    );
    assert!(repaired.text().contains("\"synthetic\":true"), "{}", repaired.text());
}
