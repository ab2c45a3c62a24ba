//! Real logs, and what we write, break no rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agentglot_adapters::check::{Finding, Level, Rule};

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Format;

use super::found;
use crate::common::{Log, beside, convert, events, format, goldens, manifest, model_goldens, parallel, quick, recordings};

/// Logs that are no whole ones though their programs were not killed, and what they lack.
const PARTS: [(&str, &[Rule]); 12] = [
    // Our own, made to lack it.
    ("qwen/no_summary.jsonl", &[Rule::MissingOutcome]),
    ("qwen/odd_chunks.jsonl", &[Rule::CallWithoutResult, Rule::MissingOutcome]),
    ("qwen/zh_spelling.jsonl", &[Rule::MissingOutcome]),
    ("cursor/killed_in_tool.jsonl", &[Rule::MissingOutcome]),
    // The program failed, and says nothing then.
    ("cursor/retry_no_result.jsonl", &[Rule::MissingOutcome]),
    ("cursor/dsh-failure-retries-no-result.jsonl", &[Rule::MissingOutcome]),
    // Only some of its lines were kept.
    (
        "cursor/crew-tools-completed.jsonl",
        &[Rule::MissingInit, Rule::MissingOutcome, Rule::ResultWithoutCall],
    ),
    // The program exits before its last line is written.
    ("qwen-code/long_line.out.jsonl", &[Rule::DamagedLine]),
    ("qwen-code/api_429.out.jsonl", &[Rule::MissingOutcome]),
    // What was refused has no end.
    ("acp/gemini/permission_deny.jsonl", &[Rule::CallWithoutResult]),
    // It was stopped, and says nothing of it.
    ("gemini/sigint.out.jsonl", &[Rule::MissingOutcome]),
    // Its host went away.
    ("qwen-code/sdk/sdk_abort.out.jsonl", &[Rule::MissingOutcome]),
];

/// The program dies in it, which others do without a word.
const FATAL: &str = "qwen/fatal_error.chunks.jsonl";

/// The logs of programs that did not end well: the recorder killed them, or they failed.
fn unwell() -> BTreeSet<String> {
    let ended_well = |exit: &str| exit == "0" || exit.is_empty();
    let mut names: BTreeSet<String> = manifest()
        .into_iter()
        .filter(|entry| !ended_well(entry.get("exit")) || !entry.get("stopped").is_empty())
        .map(|entry| entry.get("path").to_owned())
        .collect();
    let Some(root) = beside::shared("recordings") else { return names };
    for log in recordings() {
        let stem = log.name.trim_end_matches(".jsonl").trim_end_matches(".out");
        let Ok(meta) = fs::read_to_string(root.join(format!("{stem}.meta.json"))) else {
            continue;
        };
        let exit = ["\"exit_code\":", "\"exit\":"]
            .iter()
            .find_map(|key| Some(meta.split_once(key)?.1.trim_start()));
        if !exit.is_some_and(|exit| exit.starts_with('0')) || meta.contains("\"killed_by_recorder\": true") {
            names.insert(log.name);
        }
    }
    names
}

fn errors(log: &Log) -> Vec<Finding> {
    let mut findings = found(log.format, &log.bytes);
    findings.retain(|finding| finding.level == Level::Error);
    findings
}

fn tell(name: &str, finding: &Finding) -> String {
    format!("{name}:{}:{} {:?}: {}", finding.line, finding.byte, finding.pointer, finding.message)
}

#[test]
fn no_recorded_log_breaks_a_rule() {
    let unwell = unwell();
    let parts: BTreeMap<&str, &[Rule]> = PARTS.into_iter().collect();
    let logs: Vec<Log> = goldens().into_iter().chain(recordings()).filter(|log| !log.hostile).collect();
    parallel(&logs, |log, wrongs| {
        wrongs.check();
        for finding in errors(log) {
            let excused = match finding.rule {
                // Some hosts of the recordings write what no program understands.
                Rule::DamagedLine if log.host => true,
                Rule::MissingOutcome if unwell.contains(&log.name) => true,
                rule => parts.get(log.name.as_str()).is_some_and(|rules| rules.contains(&rule)),
            };
            if !excused {
                wrongs.add(format!("{} {}", log.format.dialect.name(), finding.rule), tell(&log.name, &finding));
            }
        }
    })
    .finish("a real log breaks no rule");
}

#[test]
fn what_we_write_breaks_no_rule() {
    let mut logs: Vec<Log> = goldens().into_iter().chain(model_goldens()).collect();
    logs.retain(|log| !log.hostile && !log.host);
    let formats: Vec<Format> = Format::all().filter(|format| format.is_writable()).collect();
    parallel(&logs, |log, wrongs| {
        let already: BTreeSet<Rule> = found(log.format, &log.bytes).into_iter().map(|finding| finding.rule).collect();
        // A turn that was cut off has no outcome anywhere, nor does one whose program keeps its failure for itself.
        let told = quick(log.format, events(), &log.bytes).out;
        let cut = memchr::memmem::find(&told, br#""is_error":true,"synthetic":true"#).is_some();
        let in_pieces = formats.iter().filter(|to| to.is_streaming()).map(|to| (*to, true));
        for (to, partial) in formats.iter().map(|to| (*to, false)).chain(in_pieces).filter(|(to, _)| *to != log.format) {
            wrongs.check();
            let options = Options {
                partial,
                ..Options::new(log.format, to)
            };
            let written = Log {
                format: to,
                bytes: convert(&options, &log.bytes).out,
                ..log.clone()
            };
            for finding in errors(&written) {
                // A program that is one turn says nothing where it fails.
                let silent = finding.rule == Rule::MissingOutcome && (to.dialect.vendor().logs.one_turn_a_run || log.name == FATAL || cut);
                // One value says nothing of the session.
                let silent = silent || finding.rule == Rule::MissingInit && !log.format.is_streaming();
                // Where pieces cannot be taken back, those of a reply that was given up stay with those of the one that followed.
                let silent = silent || finding.rule == Rule::DeltasDiffer && to == format("codex:app-server") && log.name == "anthropic/twice.sse";
                if !silent && !already.contains(&finding.rule) {
                    wrongs.add(format!("{} -> {to} {partial} {}", log.format, finding.rule), tell(&log.name, &finding));
                }
            }
        }
    })
    .finish("what we write breaks no rule");
}
