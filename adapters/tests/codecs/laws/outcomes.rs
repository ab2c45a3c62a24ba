//! How a turn ended goes over to every target that has a place for it; of the others the ledger tells, once.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::event::{Limit, OutcomeKind};

use crate::common::lost::entries;
use crate::common::{Wrongs, all_targets, convert, events, format, parallel, with_ledger};

const WORDS: &str = "The source's own words";

/// A turn that ended so, as events, in as many words as there are.
fn turn(kind: OutcomeKind, words: Option<&str>) -> String {
    let stop = match kind {
        OutcomeKind::Refused => "refusal",
        OutcomeKind::Limit(Limit::Tokens) => "max_tokens",
        _ => "end_turn",
    };
    let failed = kind != OutcomeKind::Success;
    let error = words
        .filter(|_| failed)
        .map_or_else(String::new, |words| format!(r#","error":"{words}""#));
    let word = kind.as_str();
    [
        r#"{"agentglot":"events","version":1,"source":"agentglot"}"#,
        r#"{"event":"session","session":"s","cwd":"/w","model":"m"}"#,
        r#"{"event":"prompt","session":"s","source":"host","content":[{"type":"text","text":"ask"}]}"#,
        &format!(r#"{{"event":"reply","session":"s","round":"r","model":"m","blocks":[{{"type":"text","text":"said"}}],"stop":"{stop}"}}"#),
        &format!(r#"{{"event":"outcome","session":"s","outcome":"{word}","is_error":{failed}{error}}}"#),
        "",
    ]
    .join("\n")
}

/// The outcomes that are read out of a log.
fn outcomes(from: Format, log: &[u8]) -> Vec<OutcomeKind> {
    let told = convert(&Options::new(from, events()), log);
    let outcome = |line: &str| {
        let word = line.split_once(r#","outcome":""#)?.1.split('"').next()?;
        OutcomeKind::read(word)
    };
    told.text().lines().filter_map(outcome).collect()
}

#[test]
fn go_over_or_are_told_of() {
    let targets: Vec<Format> = all_targets(events()).into_iter().filter(|to| to.is_readable()).collect();
    let over = |to: &Format, wrongs: &mut Wrongs| {
        for kind in OutcomeKind::ALL {
            for words in [None, Some(WORDS)] {
                wrongs.check();
                let log = turn(kind, words);
                let done = convert(&with_ledger(Options::new(events(), *to)), log.as_bytes());
                let found = outcomes(*to, &done.out);
                let told = entries(&done.ledger);
                let how = |note: &str| note.starts_with("how the turn ended") || note.contains("has no result line");
                let told = told
                    .iter()
                    .filter(|entry| entry.last == 5 && entry.pointer.is_empty() && how(&entry.note))
                    .count();
                let name = || format!("{} {}", kind.as_str(), words.map_or("without words", |_| "with words"));
                let wanted = usize::from(found != [kind]);
                // Where nothing is written of it, it may be read so all the same: of what a store says last, or of a log that lacks an end.
                let unsaid = to.is_store() || to.dialect == Dialect::Cursor;
                if told != wanted && !(unsaid && told == 1) {
                    wrongs.add(format!("outcome -> {to}"), format!("{}: read as {found:?}, told of {told} times", name()));
                }
                // Where it goes over, so does what the source says; people read it in any case.
                if words.is_some()
                    && wanted + told == 0
                    && kind != OutcomeKind::Success
                    && !done.ledger.contains("/error")
                    && !done.text().contains(WORDS)
                {
                    wrongs.add(format!("words -> {to}"), format!("{}: {}", name(), done.text()));
                }
            }
        }
    };
    parallel(&targets, over).finish("outcomes");
}

/// Words that tell how a turn ended stand before what the source says once, however many dialects it goes through.
#[test]
fn are_said_once() {
    let mut wrongs = Wrongs::default();
    let codex = format("codex");
    for through in all_targets(events()).into_iter().filter(|to| to.is_readable() && *to != codex) {
        for kind in OutcomeKind::ALL {
            wrongs.check();
            let once = convert(&Options::new(events(), through), turn(kind, Some(WORDS)).as_bytes()).out;
            let again = convert(&Options::new(through, codex), &once);
            let word = format!("{}: ", kind.as_str());
            if again.text().lines().any(|line| line.matches(&word).count() > 1) {
                wrongs.add(format!("twice -> {through}"), format!("{}: {}", kind.as_str(), again.text()));
            }
        }
    }
    wrongs.finish("outcomes");
}

/// A reason that nobody knows is written as it is said, or told of.
#[test]
fn reasons_that_nobody_knows_are_not_lost() {
    let log = [
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","permissionMode":"default","uuid":"i"}"#,
        r#"{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"said"}],"stop_reason":"odd_reason","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"a"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"said","session_id":"s","total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1},"permission_denials":[],"uuid":"r"}"#,
        "",
    ]
    .join("\n");
    let mut wrongs = Wrongs::default();
    for to in all_targets(format("claude")) {
        wrongs.check();
        let done = convert(&with_ledger(Options::new(format("claude"), to)), log.as_bytes());
        let told = entries(&done.ledger);
        let told = told
            .iter()
            .filter(|entry| entry.pointer == "/message/stop_reason" || entry.pointer.is_empty() && entry.first == 2);
        if usize::from(done.text().contains("odd_reason")) + told.count() == 0 {
            wrongs.add(format!("claude -> {to}"), done.text().to_owned());
        }
    }
    wrongs.finish("reasons");
}
