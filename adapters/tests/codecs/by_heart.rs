//! Lines that are spelled like earlier ones are known by heart, and take a shorter way through the whole conversion. With a ledger
//! every line takes the general way. Both give the same bytes, whatever stands in the log and in whatever order.

use crate::common::mutate::{changed, damaged};
use crate::common::samples::samples;
use crate::common::ways::alike;
use crate::common::{Chance, Log, Wrongs, events, format, goldens, parallel, quick, recordings, rounds};

/// A log as lines without their ends.
fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
        .collect()
}

/// The session's id, where a line says it.
fn session(lines: &[Vec<u8>]) -> Option<String> {
    const BEFORE: [&str; 5] = [
        "\"session_id\":\"",
        "\"session\":\"",
        "\"id\":\"chatcmpl-",
        "Session ID: ",
        "\"session_id\": \"",
    ];
    let said = |line: &Vec<u8>| {
        let line = std::str::from_utf8(line).ok()?;
        BEFORE.iter().find_map(|before| {
            let from = line.find(before)? + before.len();
            let id: String = line[from..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            (!id.is_empty()).then_some(id)
        })
    };
    lines.iter().find_map(said)
}

fn replaced(line: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut new = Vec::new();
    let mut at = 0;
    for found in memchr::memmem::find_iter(line, from.as_bytes()) {
        new.extend_from_slice(&line[at..found]);
        new.extend_from_slice(to.as_bytes());
        at = found + from.len();
    }
    new.extend_from_slice(&line[at..]);
    new
}

/// The log once more as another session.
fn again(lines: &[Vec<u8>], chance: &mut Chance) -> Vec<Vec<u8>> {
    let Some(id) = session(lines) else { return lines.to_vec() };
    let other = match chance.below(4) {
        0 => format!("{id}-2"),
        1 => "a".to_owned(),
        2 => id.chars().rev().collect(),
        _ => format!("{}x", &id[..id.len() - 1]),
    };
    lines.iter().map(|line| replaced(line, &id, &other)).collect()
}

/// A text of the line, one of those in which a string's content may be exchanged.
fn text_in(line: &str, chance: &mut Chance) -> Option<(usize, usize)> {
    let keys = [
        "\"text\":\"",
        "\"content\":\"",
        "\"thinking\":\"",
        "\"partial_json\":\"",
        "\"arguments\":\"",
        "\"result\":\"",
        "\"message\":\"",
    ];
    let found: Vec<usize> = keys
        .iter()
        .flat_map(|key| line.match_indices(key).map(|(at, key)| at + key.len()))
        .collect();
    let from = *found.get(chance.below(found.len().max(1)))?;
    let (mut end, bytes) = (from, line.as_bytes());
    while *bytes.get(end)? != b'"' {
        end += 1 + usize::from(bytes[end] == b'\\');
    }
    Some((from, end.min(line.len())))
}

/// The line with one of its texts exchanged.
fn with_text(line: &[u8], text: &str, chance: &mut Chance) -> Vec<u8> {
    let Ok(whole) = std::str::from_utf8(line) else { return line.to_vec() };
    match text_in(whole, chance) {
        Some((from, end)) if whole.is_char_boundary(end) => [&line[..from], text.as_bytes(), &line[end..]].concat(),
        _ => line.to_vec(),
    }
}

/// White space between all tokens, or between those of the later part of the line.
fn spaced(line: &[u8], chance: &mut Chance) -> Vec<u8> {
    let from = if chance.below(2) == 0 { 0 } else { chance.below(line.len()) };
    let white: &[u8] = [&b" "[..], b"\t ", b"\r"][chance.below(3)];
    let (mut in_string, mut escaped, mut new) = (false, false, Vec::new());
    for (at, &byte) in line.iter().enumerate() {
        new.push(byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' | b'{' | b'[' if !in_string && at >= from => new.extend_from_slice(white),
            _ => {}
        }
    }
    new
}

/// One of the things that may happen to a log.
fn upset(lines: &mut Vec<Vec<u8>>, other: &[Vec<u8>], chance: &mut Chance) {
    if lines.is_empty() {
        return;
    }
    let at = chance.below(lines.len());
    match chance.below(13) {
        // The same turn, or the same lines, more than once.
        0 => lines.extend(lines.clone()),
        1 => *lines = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect(),
        // Sessions one after the other, and in turns.
        2 => {
            let more = again(lines, chance);
            lines.extend(more);
        }
        3 => {
            let more = again(lines, chance);
            let run = 1 + chance.below(4);
            *lines = lines
                .chunks(run)
                .zip(more.chunks(run))
                .flat_map(|(one, two)| [one, two].concat())
                .collect();
        }
        4 => {
            let id = session(lines).unwrap_or_default();
            for _ in 0..1 + lines.len() / 8 {
                let at = chance.below(lines.len());
                lines[at] = with_text(&lines[at], &id, chance);
            }
        }
        5 => {
            for _ in 0..1 + lines.len() / 8 {
                let at = chance.below(lines.len());
                lines[at] = with_text(&lines[at], "", chance);
            }
        }
        6 => lines[at] = with_text(&lines[at], &"long \\u00e9 text ".repeat(3000), chance),
        7 => {
            let all = chance.below(2) == 0;
            for line in lines.iter_mut() {
                if !line.is_empty() && (all || chance.below(4) == 0) {
                    *line = spaced(line, chance);
                }
            }
        }
        // Lines in another order: a result between pieces, a piece behind its end.
        8 => {
            for _ in 0..1 + lines.len() / 6 {
                let (from, to) = (chance.below(lines.len()), chance.below(lines.len()));
                let line = lines.remove(from);
                lines.insert(to.min(lines.len()), line);
            }
        }
        9 => {
            for n in 1..lines.len() {
                if chance.below(4) == 0 {
                    lines.swap(n - 1, n);
                }
            }
        }
        10 if !other.is_empty() => lines.insert(at, other[chance.below(other.len())].clone()),
        // What a line says, changed behind lines that are spelled like it.
        _ => {
            for _ in 0..1 + lines.len() / 4 {
                let at = chance.below(lines.len());
                let Ok(line) = std::str::from_utf8(&lines[at]) else { continue };
                if !line.starts_with('{') || line.len() > 30_000 || serde_json::from_str::<&serde_json::value::RawValue>(line).is_err() {
                    continue;
                }
                let new = changed(line, chance).into_bytes();
                let twice = lines[at].clone();
                lines.splice(at..at, [twice, new]);
            }
        }
    }
}

/// Puts the lines together again.
fn joined(lines: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let ends = chance.below(4);
    let mut bytes = Vec::new();
    if chance.below(6) == 0 {
        bytes.extend_from_slice("\u{feff}".as_bytes());
    }
    for line in lines {
        if ends == 1 && chance.below(4) == 0 {
            bytes.extend_from_slice([&b"\n"[..], b"  ", b"\r\n", b"\t\n \n"][chance.below(4)]);
        }
        bytes.extend_from_slice(line);
        if ends == 1 && chance.below(4) == 0 {
            bytes.extend_from_slice(b" ");
        }
        bytes.extend_from_slice(if ends == 2 || ends == 3 && chance.below(3) == 0 {
            b"\r\n"
        } else {
            b"\n"
        });
    }
    if chance.below(4) == 0 {
        bytes.truncate(bytes.len().saturating_sub(1 + chance.below(20)));
    }
    bytes
}

fn all(logs: Vec<Log>, rounds: usize, seed: u64, law: &str) {
    let rounds = crate::common::rounds(rounds);
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(seed);
    let logs: Vec<Log> = logs
        .into_iter()
        .filter(|log| log.format.is_streaming() && log.bytes.len() < 400_000)
        .flat_map(|log| {
            let stored = Log {
                format: events(),
                name: format!("{} as events", log.name),
                bytes: quick(log.format, events(), &log.bytes).out,
                ..log.clone()
            };
            [log, stored]
        })
        .collect();
    let numbered: Vec<(usize, &Log)> = logs.iter().enumerate().collect();
    let wrongs = parallel(&numbered, |&(n, log), wrongs| {
        let mut chance = Chance::new(seed.wrapping_mul(1_000_003) + n as u64);
        let other = &logs[chance.below(logs.len())];
        for _ in 0..rounds {
            let mut upsets = lines(&log.bytes);
            for _ in 0..=chance.below(4) {
                upset(&mut upsets, &lines(&other.bytes), &mut chance);
                upsets.truncate(2000);
            }
            let mut bytes = joined(&upsets, &mut chance);
            if chance.below(4) == 0 {
                bytes = damaged(&bytes, &other.bytes, &mut chance);
            }
            alike(&log.name, log.format, &bytes, &mut chance, wrongs);
        }
    });
    wrongs.finish(law);
}

#[test]
fn goldens_in_disorder_are_converted_alike_both_ways() {
    all(goldens(), 2, 1, "by heart");
}

#[test]
fn recordings_in_disorder_are_converted_alike_both_ways() {
    let logs = recordings();
    if !logs.is_empty() {
        all(logs, 1, 2, "by heart, recordings");
    }
}

/// Short logs with lines that differ in one value only, as one session or as two.
#[test]
fn lines_that_differ_in_one_value_are_converted_alike_both_ways() {
    let samples = samples();
    let cases: Vec<u64> = (0..300 * rounds(1) as u64).collect();
    let wrongs = parallel(&cases, |&case, wrongs| {
        let mut chance = Chance::new(case);
        let dialect = chance.below(samples.len());
        let (sample, mut log) = samples[dialect].log(&mut chance);
        if chance.below(3) == 0 {
            let more = again(&log, &mut chance);
            let from = chance.below(log.len());
            log.extend_from_slice(&more[from..]);
        }
        let bytes = log.join(&b'\n');
        alike(&format!("case {case} of {}", sample.name), sample.format, &bytes, &mut chance, wrongs);
    });
    wrongs.finish("lines like it");
}

/// What means nothing as it stands in one line may mean something in the next: it is no part of the event that is learnt, and may not be
/// left open for it.
#[test]
fn what_meant_nothing_is_read_again_when_it_changes() {
    let rfc = |n: u32, details: &str, metadata: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s-1\",\"object\":\"chat.completion\",\"created\":1788000001,\"model\":\"m\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"t{n}\"}},\"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":200,\"completion_tokens\":9,\"total_tokens\":209,\"prompt_tokens_details\":{details}}}{metadata}}}\n"
        )
    };
    let claude = |n: u32, turns: &str, usage: &str| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":{n},\"num_turns\":{turns},\"result\":\"r{n}\",\"session_id\":\"s\",\"usage\":{usage},\"uuid\":\"u{n}\"}}\n"
        )
    };
    let mut wrongs = Wrongs::default();
    let mut try_all = |name: &str, from: &str, log: String| {
        for seed in 0..4 {
            alike(name, format(from), log.as_bytes(), &mut Chance::new(seed), &mut wrongs);
        }
    };
    for first in ["{}", "{\"cached_tokens\":null}", "{\"audio_tokens\":0}", "{\"cached_tokens\":-1}", "[]"] {
        let details = "{\"cached_tokens\":90}";
        let log = [
            rfc(0, "{}", ""),
            rfc(1, first, ""),
            rfc(2, details, ""),
            rfc(3, first, ""),
            rfc(4, details, ""),
        ];
        try_all(&format!("details {first}"), "qwen", log.concat());
    }
    let receipt = ",\"metadata\":{\"protocol_version\":\"1\"}";
    try_all(
        "receipts",
        "qwen",
        [rfc(0, "{}", ""), rfc(1, "{}", receipt), rfc(2, "{}", receipt)].concat(),
    );
    for first in ["0.5", "1.0", "-1", "1e3"] {
        let usage = "{\"input_tokens\":5,\"output_tokens\":6}";
        let log = [
            claude(1, first, usage),
            claude(2, first, usage),
            claude(3, "7", usage),
            claude(4, first, usage),
        ];
        try_all(&format!("turns {first}"), "claude", log.concat());
    }
    let usages = [
        "{\"output_tokens\":0.5}",
        "{\"output_tokens\":6}",
        "{\"output_tokens\":\"6\"}",
        "{\"output_tokens\":{}}",
    ];
    let log: Vec<String> = usages.iter().zip(1..).map(|(usage, n)| claude(n, "1", usage)).collect();
    try_all("counts", "claude", log.concat());
    wrongs.finish("by heart, what means nothing");
}

/// Pieces of two calls by turns, on lines without a time, which say nothing else: each belongs to its own.
#[test]
fn pieces_of_several_calls_on_lines_that_are_alike_stay_apart() {
    let chunk = |delta: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s-1\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n"
        )
    };
    let begins = |n: usize, id: &str| {
        chunk(&format!(
            "{{\"tool_calls\":[{{\"index\":{n},\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"read_file\",\"arguments\":\"\"}}}}]}}"
        ))
    };
    let goes_on = |n: usize, piece: &str| {
        chunk(&format!(
            "{{\"tool_calls\":[{{\"index\":{n},\"function\":{{\"arguments\":\"{piece}\"}}}}]}}"
        ))
    };
    let thinks = |text: &str, again: &str| {
        chunk(&format!(
            "{{\"reasoning_content\":\"{text}\",\"annotations\":[{{\"type\":\"x-qwen-thought\",\"subject\":\"\",\"description\":\"{again}\"}}]}}"
        ))
    };
    let mut log = chunk("{\"role\":\"assistant\"}");
    log += &["a", "b", "c"].map(|text| thinks(text, text)).concat();
    log += &thinks("d", "something else");
    log += &(0..4).map(|n| begins(n, &format!("call_{n}"))).collect::<String>();
    log += &(0..12).map(|n| goes_on(n % 4, if n < 4 { "{" } else { " " })).collect::<String>();
    log += &[
        begins(4, ""),
        begins(4, "call_4"),
        begins(4, "call_5"),
        begins(1, "call_1"),
        goes_on(1, "}"),
    ]
    .concat();
    let mut wrongs = Wrongs::default();
    for seed in 0..8 {
        alike(
            "calls",
            format("qwen:stream-chunk-json"),
            log.as_bytes(),
            &mut Chance::new(seed),
            &mut wrongs,
        );
    }
    wrongs.finish("by heart, calls");
}

/// A notice that nobody listens to goes unheard, but not where it is the first to name the session again.
#[test]
fn a_notice_behind_a_line_of_no_session_or_another_one_is_heard() {
    const LOG: &str = r#"
{"type":"system","subtype":"init","cwd":"/w","session_id":"abc","tools":["Bash"],"mcp_servers":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.0.0","uuid":"u"}
{"type":"system","subtype":"status","status":"requesting","uuid":"1","session_id":"abc"}
{"type":"system","subtype":"status","status":"requesting","uuid":"2","session_id":"abc"}
{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null,"session_id":"default"}
{"type":"system","subtype":"status","status":"requesting","uuid":"3","session_id":"abc"}
{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"one"}]},"parent_tool_use_id":null,"session_id":"","uuid":"4"}
{"type":"system","subtype":"status","status":"requesting","uuid":"5","session_id":"abc"}
{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"two"}]},"parent_tool_use_id":null,"uuid":"6"}
"#;
    let mut wrongs = Wrongs::default();
    for seed in 0..8 {
        alike("notices", format("claude"), LOG.as_bytes(), &mut Chance::new(seed), &mut wrongs);
    }
    wrongs.finish("by heart, sessions");
}
