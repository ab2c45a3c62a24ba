//! What is written is told from the other dialects as what it is, and read back it says the same of tokens.

use agentglot_adapters::convert::Options;
use agentglot_adapters::detect::{Answer, Detector};
use agentglot_adapters::raw::codec::{Dialect, Format};

use crate::common::json::Json;
use crate::common::read::objects;
use crate::common::{Log, Wrongs, convert, events, parallel, plain_goldens, quick, recordings, streaming};

/// Tokens of a log's turns: sent, of those from the cache, written. Numbers of a whole session go on over its turns.
fn tokens(from: Format, log: &[u8]) -> Option<[u64; 3]> {
    let mut sum: Option<[u64; 3]> = None;
    let mut session: [u64; 3] = [0; 3];
    let mut id = String::new();
    for event in objects(&quick(from, events(), log).out) {
        if event.str("event") != "outcome" {
            continue;
        }
        if event.str("session") != id {
            event.str("session").clone_into(&mut id);
            session = [0; 3];
        }
        let Some(usage) = event.get("usage") else { continue };
        let count = |name: &str| usage.get(name).and_then(|n| n.compact().parse::<u64>().ok()).unwrap_or(0);
        let cached = count("cache_read") + count("cache_write");
        let input = count("input") + if usage.get("inclusive").is_some() { 0 } else { cached };
        // Thoughts may stand beside the output, and in the total.
        let output = count("output").max(count("total").saturating_sub(input));
        let found = [input, count("cache_read"), output];
        let sum = sum.get_or_insert_default();
        for n in 0..3 {
            if usage.str("scope") == "session" {
                // A turn that failed says zero.
                sum[n] += found[n].saturating_sub(session[n]);
                session[n] = session[n].max(found[n]);
            } else {
                sum[n] += found[n];
            }
        }
    }
    sum.filter(|sum| sum.iter().any(|&n| n > 0))
}

#[test]
fn as_what_it_is() {
    let logs: Vec<Log> = plain_goldens().into_iter().chain(recordings()).filter(Log::is_plain).collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let spent = tokens(log.format, &log.bytes);
        for to in streaming().into_iter().filter(|to| to.dialect != log.format.dialect) {
            for partial in [false, true] {
                let options = Options {
                    partial,
                    ..Options::new(log.format, to)
                };
                let out = convert(&options, &log.bytes).out;
                if out.trim_ascii().is_empty() {
                    continue;
                }
                wrongs.check();
                let group = format!("{} -> {to}", log.format);
                let told = match Detector::new(false).look(&out, true) {
                    Answer::Found(found) => found.format,
                    // A run that was refused is a sentence.
                    _ if to.dialect == Dialect::Tricode && !out.contains(&b'{') => continue,
                    other => {
                        wrongs.add(format!("told {group}"), format!("{}: {other:?}", log.name));
                        continue;
                    }
                };
                if told.dialect != to.dialect {
                    wrongs.add(format!("told {group}"), format!("{}: {told}", log.name));
                }
                let holds = matches!(to.dialect, Dialect::Claude | Dialect::QwenCode | Dialect::Qwen);
                let back = tokens(told, &out);
                if holds && spent.is_some() && back != spent {
                    wrongs.add(format!("tokens {group}"), format!("{}: {back:?} for {spent:?}", log.name));
                }
            }
        }
    };
    parallel(&logs, over).finish("what is written is recognised");
}

/// What one agent answers its host means nothing to another one's: it goes over in no other dialect.
#[test]
fn by_no_answer_in_another_dialects_words() {
    let logs: Vec<Log> = plain_goldens().into_iter().chain(recordings()).filter(Log::is_plain).collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in ["claude", "qwen-code"]
            .map(crate::common::format)
            .into_iter()
            .filter(|to| to.dialect != log.format.dialect)
        {
            let done = convert(&crate::common::with_ledger(Options::new(log.format, to)), &log.bytes);
            let answers = |bytes: &[u8]| {
                let all = objects(bytes);
                let says = |object: &&Json| {
                    object.str("type") == "control_response"
                        && object
                            .get("response")
                            .and_then(|r| r.get("response"))
                            .is_some_and(|body| !body.members().is_empty())
                };
                all.iter().filter(says).count()
            };
            wrongs.check();
            if answers(&done.out) > 0 {
                wrongs.add(format!("answers {} -> {to}", log.format), &log.name);
            }
            if answers(&log.bytes) > 0 && !done.ledger.contains("\"fate\":\"dropped\"") {
                wrongs.add(
                    format!("answers {} -> {to}", log.format),
                    format!("{}: the ledger does not tell", log.name),
                );
            }
        }
    };
    parallel(&logs, over).finish("what is written is recognised");
}
