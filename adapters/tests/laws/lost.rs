//! Law 3. Nothing is lost in silence, and nothing is made up in silence.

use agentglot_adapters::convert::{Options, ToolNames};

use crate::common::lost::{check, entries, with_unknown_fields};
use crate::common::{Log, Wrongs, convert, format, goldens, parallel, plain_goldens, targets, verbatim, with_ledger};

fn ways(log: &Log) -> Vec<Options> {
    let mut ways = Vec::new();
    for to in targets(log.format) {
        ways.push(verbatim(log.format, to));
        ways.push(Options {
            partial: true,
            ..verbatim(log.format, to)
        });
        ways.push(Options::new(log.format, to));
    }
    ways
}

#[test]
fn in_goldens() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for options in ways(log) {
            check(&log.name, &options, &log.bytes, wrongs);
        }
    };
    parallel(&plain_goldens(), over).finish("nothing is lost in silence");
}

/// The same with a field that nobody knows in every object.
#[test]
fn in_goldens_full_of_unknown_fields() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        let input = with_unknown_fields(&log.bytes);
        assert!(input.len() > log.bytes.len(), "{}: no fields came in", log.name);
        for options in ways(log).into_iter().filter(|o| o.tools == ToolNames::Verbatim && !o.partial) {
            check(&format!("{} (unknown fields)", log.name), &options, &input, wrongs);
        }
    };
    let logs: Vec<Log> = plain_goldens().into_iter().filter(|l| l.bytes.contains(&b'{')).collect();
    parallel(&logs, over).finish("nothing is lost in silence");
}

/// What hosts say.
#[test]
fn in_host_logs() {
    let logs: Vec<Log> = goldens().into_iter().filter(|l| l.host && !l.hostile).collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in targets(log.format) {
            check(&log.name, &verbatim(log.format, to), &log.bytes, wrongs);
        }
    };
    parallel(&logs, over).finish("nothing is lost in silence");
}

/// Damaged logs: each damaged line is told, and the sound ones go over.
#[test]
fn in_hostile_logs() {
    let logs: Vec<Log> = goldens()
        .into_iter()
        .filter(|l| l.hostile && l.format.is_streaming() && !l.name.contains("utf16"))
        .collect();
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in targets(log.format) {
            check(&log.name, &verbatim(log.format, to), &log.bytes, wrongs);
        }
    };
    parallel(&logs, over).finish("nothing is lost in silence");
}

/// An edit of which nobody says what it replaces names a text all the same.
#[test]
fn what_a_call_needs_and_nobody_says_is_told() {
    let log = concat!(
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"Auto","permissionMode":"default"}"#,
        "\n",
        r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"editToolCall":{"args":{"path":"/w/a.txt","streamContent":"new"}}},"model_call_id":"m","session_id":"s","timestamp_ms":12}"#,
        "\n",
    );
    let options = with_ledger(Options::new(format("cursor"), format("claude")));
    let done = convert(&options, log.as_bytes());
    assert!(done.text().contains(r#""old_string":"""#), "{}", done.text());
    let told = entries(&done.ledger);
    let about = |key: &str| {
        told.iter()
            .filter(|entry| entry.fate == "invented" && entry.pointer.ends_with(key))
            .count()
    };
    assert_eq!(
        (about("/old_string"), about("/new_string"), about("/file_path")),
        (1, 0, 0),
        "{}",
        done.ledger
    );
}
