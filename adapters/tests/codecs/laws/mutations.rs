//! Law 7. No panic for any bytes, and what is written is always sound: JSON lines in UTF-8.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use agentglot_adapters::convert::{Options, ToolNames};
use agentglot_adapters::raw::codec::{Dialect, Format, Layout};

use crate::common::lost::entries;
use crate::common::mutate::damaged;
use crate::common::{Chance, Converted, Log, Wrongs, convert, events, feed, goldens, parallel, quick, rounds, short, with_ledger};

/// What is wrong with an output as such. Another mode of the same dialect passes on the noise of the input.
fn unsound(from: Format, to: Format, input: &[u8], out: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(out) else {
        return Some("no UTF-8".to_owned());
    };
    if to.mode.layout == Layout::Text {
        return None;
    }
    let sound = |text: &str| serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    // One value may be laid out over lines.
    if to.mode.layout.is_one_value() && sound(text) {
        return None;
    }
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        // Tricode writes plain sentences between its objects.
        let plain = to.dialect == Dialect::Tricode && !line.starts_with('{');
        let noise = || from.dialect == to.dialect && memchr::memmem::find(input, line.as_bytes()).is_some();
        if !plain && !sound(line) && !noise() {
            return Some(format!("no JSON: {}", short(line, 300)));
        }
    }
    (!text.is_empty() && !text.ends_with('\n')).then(|| "the last line is not ended".to_owned())
}

fn options(log: &Log, to: Format, chance: &mut Chance) -> Options {
    let mut maybe = |one_in: usize| chance.below(one_in) == 0;
    Options {
        tools: if maybe(3) { ToolNames::Verbatim } else { ToolNames::Native },
        partial: maybe(2),
        strict: maybe(12),
        repair: maybe(4),
        validate: maybe(4),
        old_text: maybe(2),
        verbose: maybe(2),
        max_line: if maybe(8) { 1000 } else { Options::MAX_LINE },
        prompts: if maybe(4) { vec!["Say \"hi\"\n".to_owned()] } else { Vec::new() },
        ledger: maybe(2).then(|| "log".to_owned()),
        ..Options::new(log.format, to)
    }
}

fn try_one(log: &Log, to: Format, bytes: &[u8], chance: &mut Chance, wrongs: &mut Wrongs) {
    let options = options(log, to, chance);
    wrongs.check();
    let group = format!("damage {} -> {to}", log.format);
    let begun = Instant::now();
    let Ok(done) = catch_unwind(AssertUnwindSafe(|| convert(&options, bytes))) else {
        return wrongs.add(
            &group,
            format!(
                "{}: panic; {} and the input\n{}",
                log.name,
                how(&options),
                short(&String::from_utf8_lossy(bytes), 2000)
            ),
        );
    };
    if begun.elapsed() > Duration::from_secs(60) {
        wrongs.add(&group, format!("{}: took {:?} for {} bytes", log.name, begun.elapsed(), bytes.len()));
    }
    if log.format != to
        && let Some(what) = unsound(log.format, to, bytes, &done.out)
    {
        wrongs.add(&group, format!("{}: {what} ({})", log.name, how(&options)));
    }
    entries(&done.ledger);
    let most = 1 + chance.below(3000);
    let Ok(Converted { out, .. }) = catch_unwind(AssertUnwindSafe(|| feed(&options, bytes.chunks(most)))) else {
        return wrongs.add(&group, format!("{}: panic when cut into reads of {most}", log.name));
    };
    // With `strict` the run ends within a read, so that its cut may show in what follows.
    if !options.strict && out != done.out {
        wrongs.add(&group, format!("{}: other output in reads of {most}", log.name));
    }
}

fn how(options: &Options) -> String {
    let Options {
        tools,
        partial,
        strict,
        repair,
        validate,
        max_line,
        ..
    } = options;
    format!("{tools:?}, partial {partial}, strict {strict}, repair {repair}, validate {validate}, max_line {max_line}")
}

#[test]
fn of_goldens() {
    let logs = goldens();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let mut chance = Chance::new(log.name.bytes().fold(7u64, |hash, b| hash.wrapping_mul(31).wrapping_add(u64::from(b))));
        for to in Format::all() {
            let other = &logs[chance.below(logs.len())].bytes;
            let bytes = damaged(&log.bytes, other, &mut chance);
            try_one(log, to, &bytes, &mut chance, wrongs);
        }
    };
    parallel(&logs, over).finish("no panic");
}

/// A byte that breaks a value without breaking the brackets around it, at many places of each log, and of the events that are stored of
/// it: whoever copies a value has looked at all of it.
#[test]
fn of_single_bytes() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let mut chance = Chance::new(log.bytes.len() as u64 + 17);
        let stored = Log {
            format: events(),
            name: format!("{} as events", log.name),
            bytes: quick(log.format, events(), &log.bytes).out,
            ..log.clone()
        };
        for damaged in [log, &stored] {
            let targets: Vec<Format> = Format::all().filter(|to| *to != damaged.format).collect();
            for _ in 0..rounds(1) {
                for &to in &targets {
                    if let Some(bytes) = with_a_bad_byte(&damaged.bytes, &mut chance) {
                        both_ways(damaged, to, &bytes, wrongs);
                    }
                }
            }
        }
    };
    let logs: Vec<Log> = goldens().into_iter().filter(|log| log.bytes.len() < 60_000 && !log.hostile).collect();
    parallel(&logs, over).finish("what is written is sound");
}

/// One byte put in, exchanged or taken away.
fn with_a_bad_byte(log: &[u8], chance: &mut Chance) -> Option<Vec<u8>> {
    let mut bytes = log.to_vec();
    let at = chance.below(bytes.len().max(1));
    match chance.below(6) {
        // Behind a value's colon or in the middle of a string, as a rule.
        0 => bytes.splice(at..at, *b"\\q").for_each(drop),
        1 => bytes.splice(at..at, *b"\x01").for_each(drop),
        2 => {
            let digit = bytes[at..].iter().position(u8::is_ascii_digit)? + at;
            bytes.splice(digit..=digit, chance.pick(&[&b"1e"[..], b"01", b"1.", b"-", b"1e+"]).iter().copied());
        }
        3 => {
            let comma = bytes[at..].iter().position(|byte| *byte == b',')? + at;
            bytes.insert(comma, b',');
        }
        4 => bytes[at] = *chance.pick(b"\\\",:{}[]x0"),
        _ => drop(bytes.remove(at)),
    }
    Some(bytes)
}

fn both_ways(log: &Log, to: Format, bytes: &[u8], wrongs: &mut Wrongs) {
    wrongs.check();
    let options = Options::new(log.format, to);
    let done = convert(&options, bytes);
    // Text that is no JSON goes back to where it comes from.
    if let Some(what) = unsound(log.format, to, bytes, &done.out).filter(|_| log.format.dialect != Dialect::Agentglot || !is_noise(bytes, &done.out))
    {
        wrongs.add(format!("a bad byte {} -> {to}", log.format), format!("{}: {what}", log.name));
    }
    if convert(&with_ledger(options), bytes).out != done.out {
        wrongs.add(
            format!("a bad byte {} -> {to}", log.format),
            format!("{}: other output with a ledger", log.name),
        );
    }
}

/// Whether all of an output that is no JSON is text that the events call noise.
fn is_noise(events: &[u8], out: &[u8]) -> bool {
    let lines = || out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let odd = lines().filter(|line| serde_json::from_slice::<&serde_json::value::RawValue>(line).is_err());
    odd.clone().all(|line| {
        let text = serde_json::to_string(&String::from_utf8_lossy(line)).expect("text");
        memchr::memmem::find(events, text.trim_matches('"').as_bytes()).is_some() && !line.starts_with(b"{")
    })
}

/// Logs that are sound, or damaged by hand, in every format: also those that no other test writes.
#[test]
fn of_sound_logs() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in Format::all().filter(|to| *to != log.format) {
            wrongs.check();
            let done = convert(&Options::new(log.format, to), &log.bytes);
            if let Some(what) = unsound(log.format, to, &log.bytes, &done.out) {
                wrongs.add(format!("sound {} -> {to}", log.format), format!("{}: {what}", log.name));
            }
        }
    };
    parallel(&goldens(), over).finish("what is written is sound");
}

/// Nesting far deeper than any stack allows, wherever a value may stand.
#[test]
fn of_depth() {
    let deep = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000));
    let values = [deep("[", "", "]"), deep("{\"a\":", "1", "}"), deep("[", "", ""), deep("{\"a\":", "", "")];
    let places = [
        (
            "claude",
            r#"{"type":"assistant","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"c","name":"Bash","input":@}]},"session_id":"s","uuid":"u"}"#,
        ),
        (
            "claude",
            r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":@}]},"session_id":"s","tool_use_result":@}"#,
        ),
        ("claude", r#"{"type":"system","subtype":"init","session_id":"s","tools":@,"x":@}"#),
        ("claude", r#"{"type":"zzz","x":@}"#),
        ("claude", "@"),
        ("qwen-code", r#"{"type":"system","subtype":"retry","data":@,"session_id":"s","uuid":"u"}"#),
        (
            "qwen",
            r#"{"id":"chatcmpl-s","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,"annotations":[{"type":"x-qwen-tool-display","tool_call_id":"c","status":"success","result_display":@}]},"finish_reason":"stop"}]}"#,
        ),
        (
            "qwen:stream-chunk-json",
            r#"{"id":"chatcmpl-s","object":"chat.completion.chunk","created":1,"model":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"Read","arguments":"@"}}]},"finish_reason":null}]}"#,
        ),
        ("tricode", r#"{"type": "tool_call", "name": "zzz", "arguments": @, "formatted": "x"}"#),
        (
            "cursor",
            r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":@}},"session_id":"s"}"#,
        ),
        (
            "gemini",
            r#"{"type":"tool_use","timestamp":"t","tool_name":"write_file","tool_id":"c","parameters":@}"#,
        ),
        (
            "opencode",
            r#"{"type":"tool_use","timestamp":1,"sessionID":"s","part":{"tool":"write","callID":"c","state":{"status":"error","input":@,"error":"e","metadata":@}}}"#,
        ),
        ("gemini", r#"{"type":"result","timestamp":"t","status":"error","error":@,"stats":@}"#),
        (
            "agentglot",
            r#"{"event":"reply","blocks":[{"type":"call","id":"c","name":"n","input":@}],"fields":@}"#,
        ),
    ];
    let cases: Vec<(&str, String)> = places
        .iter()
        .flat_map(|(name, place)| {
            let in_string = place.contains("\"@\"");
            values.iter().map(move |value| {
                (
                    *name,
                    place.replace('@', &if in_string { value.replace('"', "\\\"") } else { value.clone() }) + "\n",
                )
            })
        })
        .collect();
    let over = |(name, line): &(&str, String), wrongs: &mut Wrongs| {
        let from: Format = crate::common::format(name);
        for to in Format::all() {
            wrongs.check();
            let begun = Instant::now();
            let done = convert(
                &with_ledger(Options {
                    validate: true,
                    ..Options::new(from, to)
                }),
                line.as_bytes(),
            );
            let group = format!("depth {from} -> {to}");
            if begun.elapsed() > Duration::from_secs(60) {
                wrongs.add(&group, format!("took {:?}: {}", begun.elapsed(), short(line, 100)));
            }
            match unsound(from, to, line.as_bytes(), &done.out) {
                Some(what) if from != to => wrongs.add(&group, what),
                _ => {}
            }
        }
    };
    parallel(&cases, over).finish("depth");
}
