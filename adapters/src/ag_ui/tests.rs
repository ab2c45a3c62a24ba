//! What is read and written.

use crate::testing::{converted, damage, golden, traced};

/// The lines of a log of this type.
fn of<'l>(log: &'l str, word: &str) -> Vec<&'l str> {
    let start = format!("{{\"type\":\"{word}\"");
    log.lines().filter(|line| line.starts_with(&start)).collect()
}

fn has(log: &str, words: &[&str]) -> usize {
    log.lines().filter(|line| words.iter().all(|word| line.contains(word))).count()
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

/// A run of these events.
fn run(events: &str) -> String {
    let started = r#"{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}"#;
    let finished = r#"{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}"#;
    format!("{started}\n{}\n{finished}\n", events.trim()).replace("\n    ", "\n")
}

#[test]
fn what_goes_on_behind_a_result_is_not_lost() {
    let text = run(r#"
    {"type":"TEXT_MESSAGE_START","messageId":"a1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"one "}
    {"type":"TOOL_CALL_START","toolCallId":"c0","toolCallName":"g","parentMessageId":"a1"}
    {"type":"TOOL_CALL_ARGS","toolCallId":"c0","delta":"{\"b\":"}
    {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f","parentMessageId":"a1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"two"}
    {"type":"TOOL_CALL_END","toolCallId":"c1"}
    {"type":"TOOL_CALL_RESULT","messageId":"m1","toolCallId":"c1","content":"R1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":" three"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":" four"}
    {"type":"TEXT_MESSAGE_END","messageId":"a1"}
    {"type":"TOOL_CALL_ARGS","toolCallId":"c0","delta":"2}"}
    {"type":"TOOL_CALL_END","toolCallId":"c0"}
    {"type":"TOOL_CALL_RESULT","messageId":"m2","toolCallId":"c0","content":"R2"}"#);
    let claude = converted(&text, "ag-ui", "claude");
    for said in [r#""text":"one two""#, r#""text":" three four""#, r#""input":{"b":2}"#] {
        assert_eq!(claude.matches(said).count(), 1, "{said}\n{claude}");
    }
    let thought = run(r#"
    {"type":"REASONING_MESSAGE_START","messageId":"h1","role":"reasoning"}
    {"type":"REASONING_MESSAGE_CONTENT","messageId":"h1","delta":"hm "}
    {"type":"TOOL_CALL_START","toolCallId":"c3","toolCallName":"g"}
    {"type":"TOOL_CALL_END","toolCallId":"c3"}
    {"type":"TOOL_CALL_RESULT","messageId":"m3","toolCallId":"c3","content":"R3"}
    {"type":"REASONING_MESSAGE_CONTENT","messageId":"h1","delta":"LATE"}
    {"type":"REASONING_MESSAGE_END","messageId":"h1"}"#);
    for target in ["claude", "openai:messages", "atif", "codex"] {
        assert!(converted(&text, "ag-ui", target).contains("three four"), "{target}");
        assert!(converted(&thought, "ag-ui", target).contains("LATE"), "{target}");
    }
}

#[test]
fn a_reply_has_the_id_of_its_message_behind_a_thought_too() {
    let log = run(r#"
    {"type":"REASONING_MESSAGE_START","messageId":"h1","role":"reasoning"}
    {"type":"REASONING_MESSAGE_CONTENT","messageId":"h1","delta":"hm"}
    {"type":"REASONING_MESSAGE_END","messageId":"h1"}
    {"type":"TEXT_MESSAGE_START","messageId":"a2"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a2","delta":"Done"}
    {"type":"TEXT_MESSAGE_END","messageId":"a2"}"#);
    for log in [converted(&log, "ag-ui", "claude"), {
        let events = converted(&log, "ag-ui", "agentglot");
        converted(&events, "agentglot", "claude")
    }] {
        assert_eq!(has(&log, &[r#""type":"assistant""#, r#""id":"a2""#]), 2, "{log}");
    }
}

#[test]
fn who_said_it_is_who_has_begun_it() {
    let log = run(r#"
    {"type":"TEXT_MESSAGE_START","messageId":"a1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"A"}
    {"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"x","parentToolCallId":"c7"}
    {"type":"TEXT_MESSAGE_START","messageId":"a1","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"sub","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"B"}
    {"type":"TEXT_MESSAGE_END","messageId":"a1","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_END","messageId":"a1"}
    {"type":"TEXT_MESSAGE_CHUNK","messageId":"a2","delta":"C"}
    {"type":"TEXT_MESSAGE_CHUNK","messageId":"a2","delta":"theirs","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_START","messageId":"u2","role":"user"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"u2","delta":"steer"}
    {"type":"TEXT_MESSAGE_START","messageId":"a3"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"u2","delta":" more"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a3","delta":"ok"}
    {"type":"TEXT_MESSAGE_END","messageId":"u2"}
    {"type":"TEXT_MESSAGE_END","messageId":"a3"}"#);
    let events = converted(&log, "ag-ui", "agentglot");
    let subs = |text: &str, parent: &str| has(&events, &[&format!("\"text\":\"{text}\""), parent]);
    assert_eq!(
        [subs("sub", "\"parent\":\"c7\""), subs("theirs", "\"parent\":\"c7\"")],
        [1, 1],
        "{events}"
    );
    assert_eq!([subs("B", "\"parent\""), subs("C", "\"parent\"")], [0, 0], "{events}");
    assert_eq!(has(&events, &["\"event\":\"prompt\"", "steer more"]), 1, "{events}");
    assert_eq!(has(&events, &["\"event\":\"delta\"", "more"]), 0, "{events}");
}

#[test]
fn what_a_tool_of_the_hosts_gave_back_comes_with_the_next_run() {
    let log = run(r#"
    {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"pick","parentMessageId":"a1"}
    {"type":"TOOL_CALL_END","toolCallId":"c1"}
    {"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}
    {"type":"RUN_STARTED","threadId":"t1","runId":"r2","input":{"messages":[{"id":"m0","role":"tool","toolCallId":"c0","content":"of long ago"},{"id":"m1","role":"tool","toolCallId":"c1","content":"RED!"},{"id":"u2","role":"user","content":"And now?"}]}}"#);
    let events = converted(&log, "ag-ui", "agentglot");
    assert_eq!(has(&events, &["\"event\":\"tool_result\"", "RED!"]), 1, "{events}");
    assert_eq!(has(&events, &["\"event\":\"tool_result\""]), 1, "{events}");
    let claude = converted(&log, "ag-ui", "claude");
    assert_eq!(claude.matches("RED!").count(), 1, "{claude}");
    assert_eq!(claude.matches("\"type\":\"tool_use\"").count(), 1, "{claude}");
}

#[test]
fn a_run_has_one_outcome() {
    let log = run("") + r#"{"type":"RUN_ERROR","message":"late"}"# + "\n" + &run("") + &run("");
    let claude = converted(&log, "ag-ui", "claude");
    assert_eq!(has(&claude, &["\"type\":\"result\""]), 3, "{claude}");
    assert!(!claude.contains("late"), "{claude}");
}

#[test]
fn a_subagent_of_no_call_is_no_fault() {
    let log = run(r#"
    {"type":"TEXT_MESSAGE_START","messageId":"a0"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a0","delta":"first"}
    {"type":"TEXT_MESSAGE_END","messageId":"a0"}
    {"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"x"}
    {"type":"TEXT_MESSAGE_START","messageId":"a1","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"second","subagentRunId":"s1"}
    {"type":"TEXT_MESSAGE_END","messageId":"a1","subagentRunId":"s1"}
    {"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}"#);
    let claude = converted(&log, "ag-ui", "claude");
    let place = |word: &str| claude.find(word).expect(word);
    assert!(
        place("first") < place("\"id\":\"s1\"") && place("\"id\":\"s1\"") < place("second"),
        "{claude}"
    );
}

#[test]
fn what_a_list_of_messages_says_otherwise_is_accounted_for() {
    let text = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"a1","delta":"Hel"}
    {"type":"TEXT_MESSAGE_CHUNK","delta":"lo"}
    {"type":"TOOL_CALL_CHUNK","toolCallId":"k","toolCallName":"f","delta":"{}"}
    {"type":"STEP_STARTED","stepName":"x"}
    "#;
    let ledger = |list: &str| {
        traced(
            &run(&format!("{text}{{\"type\":\"MESSAGES_SNAPSHOT\",\"messages\":{list}}}")),
            "ag-ui",
            "claude",
        )
        .1
    };
    let same =
        r#"[{"id":"a1","role":"assistant","content":"Hello","toolCalls":[{"id":"k","type":"function","function":{"name":"f","arguments":"{}"}}]}]"#;
    assert!(!ledger(same).contains("/messages/"), "{}", ledger(same));
    assert!(ledger(same).contains("told already"), "{}", ledger(same));
    assert!(
        !ledger(r#"[{"id":"a1","role":"assistant","content":"Hello","zz":1}]"#)
            .contains(r#""pointer":"","fate":"merged","dialect":"claude","note":"the messages"#)
    );
    let others = r#"[{"id":"a1","role":"assistant","content":"Hello","zz":"UNKNOWN"},{"id":"p","role":"activity","content":{"steps":["PLAN"]}},{"role":"user","content":"NO ID"},{"id":"a2","role":"assistant","content":"new"}]"#;
    let otherwise =
        r#"[{"id":"a1","role":"assistant","content":"Hello!","toolCalls":[{"id":"k","type":"function","function":{"name":"f","arguments":"[]"}}]}]"#;
    for (list, places) in [
        (others, &["/messages/0/zz", "/messages/1", "/messages/2"][..]),
        (otherwise, &["/messages/0/content", "/messages/0/toolCalls/0/function/arguments"][..]),
    ] {
        let ledger = ledger(list);
        for place in places {
            assert!(ledger.contains(place), "{place}\n{ledger}");
        }
        assert!(!ledger.contains("/messages/0/id"), "{ledger}");
    }
}

/// What a run gives its host may be any value, and is no text that it has said.
#[test]
fn what_a_run_gives_is_no_text_elsewhere() {
    let log = concat!(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#,
        "\n",
        r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"said"}"#,
        "\n",
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"given":1}}"#,
        "\n",
    );
    let cursor = converted(log, "ag-ui", "cursor");
    assert!(cursor.contains(r#""result":"said""#), "{cursor}");
}

/// What a subagent in the background does goes on when the turn is over: its call is begun anew in the run that has the result, and is
/// the same call.
#[test]
fn a_result_of_a_later_run_has_its_call_there() {
    let claude = concat!(
        r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/w","tools":["Bash"],"model":"k","uuid":"u0"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"k","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"sleep 9"}}],"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"u1"}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Started.","session_id":"s","usage":{"input_tokens":1,"output_tokens":1},"uuid":"u2"}"#,
        "\n",
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"woke"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"u3"}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Over.","session_id":"s","usage":{"input_tokens":1,"output_tokens":1},"uuid":"u4"}"#,
        "\n",
    );
    let runs = converted(claude, "claude", "ag-ui");
    let second = runs.split("RUN_FINISHED").nth(1).unwrap_or_default();
    let order = ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT"].map(|word| second.find(word));
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{runs}");
    assert_eq!(of(&runs, "TOOL_CALL_ARGS").len(), 1, "{runs}");
    let back = converted(&runs, "ag-ui", "claude");
    for (words, times) in [("tool_use\"", 1), ("sleep 9", 1), ("tool_result\"", 1), ("woke", 1)] {
        assert_eq!(back.matches(words).count(), times, "{words}\n{back}");
    }
}
