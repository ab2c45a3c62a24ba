//! Law 3. Nothing is lost in silence, and nothing is made up in silence.

use agentglot_adapters::convert::{Options, ToolNames};

use crate::common::lost::{check, entries, with_unknown_fields};
use crate::common::{Log, Wrongs, all_targets, convert, format, goldens, parallel, plain_goldens, targets, verbatim, with_ledger};

fn ways(log: &Log) -> Vec<Options> {
    let mut ways = Vec::new();
    for to in all_targets(log.format) {
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

/// Where nothing but an answer is written, each text that is not has an entry, and no call is told as if it were written.
#[test]
fn what_is_no_answer_is_told() {
    let log = [
        r#"{"type":"user","message":{"role":"user","content":"one"},"session_id":"s"}"#,
        r#"{"type":"assistant","message":{"id":"a","role":"assistant","model":"m","content":[{"type":"text","text":"before"}]},"session_id":"s"}"#,
        r#"{"type":"assistant","message":{"id":"a","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]},"session_id":"s"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"no"}]},"session_id":"s"}"#,
        r#"{"type":"assistant","message":{"id":"b","role":"assistant","model":"m","content":[{"type":"text","text":"first"}]},"session_id":"s"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"first"}"#,
        r#"{"type":"user","message":{"role":"user","content":"two"},"session_id":"s"}"#,
        r#"{"type":"assistant","message":{"id":"d","role":"assistant","model":"m","content":[{"type":"text","text":"second"}]},"session_id":"s"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"second"}"#,
        "",
    ]
    .join("\n");
    // The lines whose text has no place.
    for (to, texts) in [
        ("claude:text", &[2][..]),
        ("qwen:text", &[2]),
        ("qwen-code:text", &[2]),
        ("tricode:text", &[2]),
        ("cursor:text", &[2]),
        ("gemini:text", &[]),
        ("opencode:text", &[]),
        ("claude:json", &[2, 5]),
        ("cursor:json", &[2, 5]),
        ("gemini:json", &[2, 5]),
    ] {
        let told = entries(&convert(&with_ledger(Options::new(format("claude"), format(to))), log.as_bytes()).ledger);
        let lost = |line: u64, pointer: &str| {
            told.iter()
                .filter(|entry| entry.fate == "dropped" && entry.first <= line && line <= entry.last)
                .filter(|entry| pointer.starts_with(&entry.pointer))
                .count()
        };
        for line in [2, 5, 8] {
            let expected = usize::from(texts.contains(&line));
            assert_eq!(lost(line, "/message/content/0/text"), expected, "{to}: line {line}");
        }
        assert_eq!(lost(3, "/message/content/0/input"), 1, "{to}: the arguments");
        assert_eq!(lost(4, "/message/content/0/content"), 1, "{to}: the result");
        assert!(!told.iter().any(|entry| entry.fate == "renamed" && entry.first == 4), "{to}");
    }
}

/// One value is written for all sessions of a log: what the others said has an entry each.
#[test]
fn what_another_session_takes_the_place_of_is_told() {
    let session = |id: &str| {
        [
            format!(r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"{id}","tools":[],"model":"m"}}"#),
            format!(
                r#"{{"type":"assistant","message":{{"id":"m-{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"said in {id}"}}]}},"session_id":"{id}"}}"#
            ),
            format!(r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"{id}","result":"said in {id}"}}"#),
            String::new(),
        ]
        .join("\n")
    };
    // One that fails writes nothing in Cursor, and what stood before it stands.
    let broken = session("s2").replace(
        r#""subtype":"success","is_error":false"#,
        r#""subtype":"error_during_execution","is_error":true"#,
    );
    let done = convert(
        &with_ledger(Options::new(format("claude"), format("cursor:json"))),
        (session("s1") + &broken + &session("s3")).as_bytes(),
    );
    assert!(
        entries(&done.ledger)
            .iter()
            .any(|entry| entry.fate == "dropped" && entry.first == 2 && entry.pointer == "/message/content/0/text"),
        "{}",
        done.ledger
    );
    let log = session("s1") + &session("s2") + &session("s3");
    for to in ["claude:json", "cursor:json", "gemini:json"] {
        let done = convert(&with_ledger(Options::new(format("claude"), format(to))), log.as_bytes());
        assert!(
            done.text().contains("said in s3") && !done.text().contains("said in s1"),
            "{to}: {}",
            done.text()
        );
        let told = entries(&done.ledger);
        for (line, count) in [(2, 1), (5, 1), (8, 0)] {
            let lost = told.iter().filter(|entry| {
                let covers = "/message/content/0/text".starts_with(&entry.pointer);
                entry.fate == "dropped" && entry.first <= line && line <= entry.last && covers
            });
            assert_eq!(lost.count(), count, "{to}: line {line}\n{}", done.ledger);
        }
    }
}

/// Files of sessions put together: of a line that begins the second nothing is told of the first, and each part of it once.
#[test]
fn where_a_file_of_sessions_goes_on_with_another_one_is_told_of_its_own_line() {
    let line = |session: &str, parent: &str, id: &str, kind: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","message":{{"role":"{kind}","content":"Words of {id}"}},"uuid":"{id}","timestamp":"2026-01-01T00:00:00.000Z","sessionId":"{session}","cwd":"/w","version":"2"}}"#
        )
    };
    let log = [
        line("aaaaaaaa-0001", "null", "a1", "user"),
        // What it goes on from is not there.
        line("aaaaaaaa-0001", "\"a0\"", "a2", "user"),
        // Nothing is said of that.
        line("aaaaaaaa-0001", "\"a2\"", "a3", "user").replace("\"parentUuid\":\"a2\",", ""),
        line("bbbbbbbb-0002", "null", "b1", "user"),
        line("bbbbbbbb-0002", "\"b1\"", "b2", "user"),
    ];
    let from = format("claude:transcript");
    for to in all_targets(from) {
        let done = convert(&with_ledger(Options::new(from, to)), (log.join("\n") + "\n").as_bytes());
        let mut told = std::collections::HashSet::new();
        // What is invented stands in the output.
        for entry in entries(&done.ledger).into_iter().filter(|entry| entry.fate != "invented") {
            let of_parent = entry.pointer == "/parentUuid";
            let has_none = entry.first <= 3 && 3 <= entry.last;
            assert!(!of_parent || !has_none, "{to}: a pointer to nothing: {entry:?}");
            let not_there = entry.note.contains("is not there");
            assert!(!not_there || (entry.first, entry.last) == (2, 2), "{to}: told of another line: {entry:?}");
            for line in entry.first..=entry.last {
                assert!(!of_parent || told.insert(line), "{to}: told twice: {entry:?}\n{}", done.ledger);
            }
        }
    }
}
