//! What is read and written.

use super::VENDOR;
use crate::testing::{converted, damage, golden};

/// The lines of a log of this type.
fn of<'l>(log: &'l str, word: &str) -> Vec<&'l str> {
    let start = format!("{{\"type\":\"{word}\"");
    log.lines().filter(|line| line.starts_with(&start)).collect()
}

fn has(log: &str, words: &[&str]) -> usize {
    log.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
}

#[test]
fn fields_are_sorted() {
    assert!(VENDOR.fields.is_sorted_by(|(one, _), (other, _)| one < other));
}

#[test]
fn it_goes_to_the_canonical_events_and_back() {
    for name in [
        "run",
        "chunks",
        "old",
        "subagents",
        "interrupts",
        "snapshot",
        "written_agent",
        "written_think",
    ] {
        let log = golden(&format!("ag-ui/{name}.jsonl"));
        let back = converted(&converted(&log, "ag-ui", "agentglot"), "agentglot", "ag-ui");
        let count = |log: &str| log.lines().count();
        assert_eq!(count(&back), count(&log), "{name}\n{back}");
    }
}

#[test]
fn arguments_that_come_one_among_the_other_are_those_of_their_calls() {
    let claude = converted(&golden("ag-ui/run.jsonl"), "ag-ui", "claude");
    assert_eq!(
        has(&claude, &[r#""name":"get_forecast","input":{"city": "Oslo", "days": 2}"#]),
        1,
        "{claude}"
    );
    assert_eq!(
        has(&claude, &[r#""name":"get_forecast","input":{"city":"Bergen","days":2}"#]),
        1,
        "{claude}"
    );
    for text in [
        r#""thinking":"Two cities, so two calls.","signature":"c2VhbGVkIGJ5IHRoZSBtb2RlbA==""#,
        r#"{"type":"redacted_thinking","data":"bm9ib2R5IHJlYWRzIHRoaXM="}"#,
        r#""media_type":"image/png","data":"iVBORw0KGgo=""#,
        r#""result":"Oslo stays dry; Bergen gets rain.""#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
}

#[test]
fn chunks_begin_and_end_by_themselves() {
    let events = converted(&golden("ag-ui/chunks.jsonl"), "ag-ui", "agentglot");
    assert_eq!(has(&events, &["\"event\":\"prompt\"", "Count the lines."]), 1, "{events}");
    assert_eq!(has(&events, &["\"event\":\"block_start\""]), 5, "{events}");
    assert_eq!(has(&events, &["\"event\":\"block_stop\""]), 5, "{events}");
    let written = converted(&converted(&golden("ag-ui/chunks.jsonl"), "ag-ui", "claude"), "claude", "ag-ui");
    assert_eq!(of(&written, "TOOL_CALL_END").len(), 2, "{written}");
    assert!(written.contains(r#"{\"path\":\"notes.txt\"}"#), "{written}");
    assert_eq!(has(&written, &["TOOL_CALL_RESULT", "\"status\":\"error\""]), 1, "{written}");
}

/// The list says all once more, and the result the answer.
#[test]
fn what_is_said_again_is_told_once() {
    let claude = converted(&golden("ag-ui/old.jsonl"), "ag-ui", "claude");
    assert_eq!(claude.matches("\"text\":\"Hello, Ada.\"").count(), 1, "{claude}");
    assert_eq!(claude.matches("\"type\":\"tool_use\"").count(), 1, "{claude}");
    assert_eq!(claude.matches("\"type\":\"tool_result\"").count(), 1, "{claude}");
    let shot = converted(&golden("ag-ui/snapshot.jsonl"), "ag-ui", "claude");
    for text in [
        "\"thinking\":\"A cat.\"",
        "\"input\":{\"factor\": 3}",
        "the lens is broken",
        "A cat, I think.",
    ] {
        assert!(shot.contains(text), "{text}\n{shot}");
    }
}

#[test]
fn a_run_that_waits_asks() {
    let events = converted(&golden("ag-ui/interrupts.jsonl"), "ag-ui", "agentglot");
    assert_eq!(
        has(&events, &["\"event\":\"request\"", "can_use_tool", "int_40", "empty_bin"]),
        1,
        "{events}"
    );
    assert_eq!(has(&events, &["\"event\":\"outcome\""]), 4, "{events}");
    assert_eq!(has(&events, &["\"event\":\"outcome\"", "\"cancelled\""]), 1, "{events}");
    assert_eq!(has(&events, &["\"event\":\"outcome\"", "overloaded", "failed_model"]), 1, "{events}");
}

/// A run for each turn, everything closed, a subagent between its call and its result.
#[test]
fn what_is_written_is_strict() {
    let log = converted(&golden("claude/cli_agent.out.jsonl"), "claude", "ag-ui");
    let place = |word: &str| log.lines().position(|line| line.contains(word));
    assert_eq!(of(&log, "RUN_STARTED").len(), of(&log, "RUN_FINISHED").len(), "{log}");
    for (begin, end) in [
        ("TEXT_MESSAGE_START", "TEXT_MESSAGE_END"),
        ("TOOL_CALL_START", "TOOL_CALL_END"),
        ("STEP_STARTED", "STEP_FINISHED"),
        ("SUBAGENT_STARTED", "SUBAGENT_FINISHED"),
    ] {
        assert_eq!(of(&log, begin).len(), of(&log, end).len(), "{begin}: {log}");
    }
    let call = place("\"TOOL_CALL_END\"").expect("there is a call");
    assert!(
        Some(call) < place("SUBAGENT_STARTED") && place("SUBAGENT_STARTED") < place("SUBAGENT_FINISHED"),
        "{log}"
    );
    assert!(!log.contains("null") && !log.contains("\"delta\":\"\""), "{log}");
}

#[test]
fn framed_events_are_read_and_given_back() {
    let log = golden("ag-ui/run.jsonl");
    let framed: String = log.lines().map(|line| format!("data: {line}\n\n")).collect();
    assert_eq!(converted(&framed, "ag-ui", "claude"), converted(&log, "ag-ui", "claude"));
    assert_eq!(converted(&framed, "ag-ui", "ag-ui"), framed);
}

#[test]
fn damaged_events_tell_nothing() {
    for line in [
        r#"{"type":"RUN_STARTED","threadId":"t"}"#,
        r#"{"type":"TEXT_MESSAGE_START"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}"#,
        r#"{"type":"TOOL_CALL_START","toolCallId":"c"}"#,
        r#"{"type":"TOOL_CALL_ARGS","delta":"{}"}"#,
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c"}"#,
        r#"{"type":"TEXT_MESSAGE_CHUNK","delta":"whose?"}"#,
        r#"{"type":"RUN_ERROR"}"#,
        r#"{"type":"RUN_FINISHED","runId":"r"}"#,
    ] {
        assert_eq!(damage(line, "ag-ui", "agentglot").len(), 1, "{line}");
        assert_eq!(converted(line, "ag-ui", "agentglot"), "", "{line}");
    }
}
