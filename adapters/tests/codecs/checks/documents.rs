//! Logs that are one value: a number of tokens that is none, a value that breaks off, and of an array of messages what lines can break.

use agentglot_adapters::check::{Level, Rule};
use agentglot_adapters::raw::codec::{Format, Layout};

use super::broken::broken;
use super::found;
use super::lines::{Line, lines, read};
use crate::common::{Log, format, goldens, parallel};

fn documents() -> Vec<Log> {
    let sound = |log: &Log| !log.host && !log.hostile && found(log.format, &log.bytes).iter().all(|finding| finding.level < Level::Warning);
    let all = goldens().into_iter().filter(|log| log.format.mode.layout == Layout::Document);
    let all: Vec<Log> = all.filter(sound).collect();
    for name in ["claude:json", "qwen-code:json", "gemini:json", "cursor:json", "atif"] {
        assert!(all.iter().any(|log| log.format == format(name)), "no sound log of {name}");
    }
    all
}

/// Whether a log breaks a rule.
fn breaks(of: Format, log: &str, rule: Rule) -> bool {
    let findings = found(of, log.as_bytes());
    findings.iter().any(|finding| finding.rule == rule && finding.level >= Level::Warning)
}

#[test]
fn a_number_that_is_none_is_seen() {
    let mut of_gemini = 0;
    for log in documents() {
        let text = String::from_utf8(log.bytes.clone()).expect("a sound log");
        let line: Line = read(log.format, &text);
        for range in &line.counts {
            of_gemini += usize::from(log.format == format("gemini:json"));
            for new in ["-5", "\"5\"", "1.5"] {
                let log_of = line.with(range, new);
                assert!(breaks(log.format, &log_of, Rule::InvalidUsage), "{} {range:?} {new}", log.name);
            }
        }
    }
    assert!(of_gemini > 0, "no number of Gemini's was changed");
}

#[test]
fn a_value_that_breaks_off_is_damage() {
    for log in documents() {
        let text = String::from_utf8(log.bytes.clone()).expect("a sound log");
        for part in [3, 2] {
            let cut = (text.len() / part..).find(|at| text.is_char_boundary(*at)).expect("its end is one");
            assert!(breaks(log.format, &text[..cut], Rule::DamagedLine), "{} cut at {cut}", log.name);
        }
    }
}

/// A list of messages breaks the rules that its messages break as lines.
#[test]
fn a_list_breaks_what_its_messages_break() {
    let lists: Vec<(Log, Format)> = documents()
        .into_iter()
        .filter(|log| log.bytes.trim_ascii().starts_with(b"[") && log.bytes.len() < 60_000)
        .map(|log| (log.clone(), log.format.dialect.into()))
        .collect();
    assert!(lists.len() > 2, "hardly a list of messages");
    parallel(&lists, |(log, of), wrongs| {
        let messages: Vec<Box<serde_json::value::RawValue>> = serde_json::from_slice(&log.bytes).expect("a sound log");
        let flat: Vec<String> = messages.iter().map(|message| message.get().replace('\n', " ")).collect();
        let line_log = Log {
            format: *of,
            bytes: (flat.join("\n") + "\n").into_bytes(),
            ..log.clone()
        };
        for broken in broken(&line_log, &lines(&line_log), false) {
            // A line that breaks off is no message, and one value may have no place for the session's facts.
            if matches!(broken.rule, Rule::DamagedLine | Rule::MissingInit) {
                continue;
            }
            wrongs.check();
            let list = format!("[{}]\n", broken.lines.join(","));
            if !breaks(log.format, &list, broken.rule) && !broken.or.iter().any(|rule| breaks(log.format, &list, *rule)) {
                wrongs.add(format!("{} {} is not seen", log.format, broken.rule), log.name.clone());
            }
        }
    })
    .finish("a list breaks what its messages break");
}
