//! The codec against recorded logs, and what it makes of others'.

use crate::check::{Checker, Level, Rule};
use crate::codec::Dialect;
use crate::convert::{Converter, Options};
use crate::event::Fate;
use crate::testing::{converted, damage, with};

fn events(log: &str) -> String {
    converted(log, "codex", "agentglot")
}

const START: &str = "{\"type\":\"thread.started\",\"thread_id\":\"01a1fcf1-2e95-7a11-8bd5-ec1a67d9da87\"}\n{\"type\":\"turn.started\"}\n";

#[test]
fn it_goes_to_the_canonical_events_and_back() {
    let log = [
        START,
        r#"{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"hm"}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc ls","aggregated_output":"a\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"/a","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"id":"item_3","type":"web_search","id":"ws_1","query":"x","action":{"type":"search","query":"x"}}}
{"type":"item.completed","item":{"id":"item_3","type":"web_search","id":"ws_1","query":"x","action":{"type":"search","query":"x"}}}
{"type":"item.completed","item":{"id":"item_4","type":"mcp_tool_call","server":"s","tool":"t","arguments":null,"result":null,"error":{"message":"no"},"status":"failed"}}
{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"done","mood":"calm"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":11,"output_tokens":20}}
"#,
    ]
    .concat();
    let stored = events(&log);
    assert!(stored.contains("\"source\":\"codex\"") && stored.contains("\"key\":\"mood\""), "{stored}");
    assert_eq!(converted(&stored, "agentglot", "codex"), log);
    assert_eq!(converted(&log, "codex", "codex"), log);
}

/// Items begin at 0 again where a thread is resumed.
#[test]
fn calls_of_later_processes_have_ids_of_their_own() {
    let run = format!(
        "{START}{}",
        concat!(
            "{\"type\":\"item.started\",\"item\":{\"id\":\"item_0\",\"type\":\"command_execution\",\"command\":\"ls\",\"aggregated_output\":\"\",\"exit_code\":null,\"status\":\"in_progress\"}}\n",
            "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"command_execution\",\"command\":\"ls\",\"aggregated_output\":\"a\",\"exit_code\":0,\"status\":\"completed\"}}\n",
            "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"cached_input_tokens\":0,\"output_tokens\":1}}\n"
        )
    );
    let log = run.repeat(2);
    let stored = events(&log);
    assert!(
        stored.contains("\"call\":\"item_0\"") && stored.contains("\"call\":\"process2_item_0\""),
        "{stored}"
    );
    assert_eq!(converted(&stored, "agentglot", "codex"), log);
}

#[test]
fn a_list_of_things_to_do_is_a_call_each_time_that_it_changes() {
    let list = |word: &str, done: bool| {
        format!(
            "{{\"type\":\"item.{word}\",\"item\":{{\"id\":\"item_0\",\"type\":\"todo_list\",\"items\":[{{\"text\":\"a\",\"completed\":{done}}}]}}}}\n"
        )
    };
    let log = [START, &list("started", false), &list("updated", true), &list("completed", true)].concat();
    let stored = events(&log);
    let count = |what: &str| stored.matches(what).count();
    assert_eq!((count("\"type\":\"call\""), count("\"event\":\"tool_result\"")), (2, 2), "{stored}");
    assert!(stored.contains("\"item_0_2\""), "{stored}");
    let again = converted(&stored, "agentglot", "codex");
    assert!(again.starts_with(&log), "{again}");
    let last = [START, &list("started", false), &list("completed", true)].concat();
    assert_eq!(
        events(&last).matches("\"type\":\"call\"").count(),
        2,
        "a list that was not said before is said"
    );
}

#[test]
fn a_search_whose_words_come_late_is_a_call_when_they_are_there() {
    let item = |word: &str, query: &str| {
        format!("{{\"type\":\"item.{word}\",\"item\":{{\"id\":\"item_0\",\"type\":\"web_search\",\"query\":\"{query}\"}}}}\n")
    };
    let log = [START, &item("started", ""), &item("completed", "rust")].concat();
    let stored = events(&log);
    assert_eq!(
        stored.matches("\"type\":\"call\"").count(),
        1 + 1,
        "the call, and the result's own: {stored}"
    );
    assert!(stored.contains("\"input\":{\"query\":\"rust\"}"), "{stored}");
}

#[test]
fn what_lacks_what_it_needs_is_damage() {
    for item in [
        r#"{"id":"i","type":"command_execution"}"#,
        r#"{"id":"i","type":"command_execution","command":7}"#,
        r#"{"id":"i","type":"file_change","changes":{}}"#,
        r#"{"id":"i","type":"agent_message"}"#,
        r#"{"id":"i","type":"todo_list"}"#,
        r#"{"type":"agent_message","text":"x"}"#,
        r#"{"id":"i"}"#,
        "7",
    ] {
        let line = format!("{{\"type\":\"item.completed\",\"item\":{item}}}\n");
        assert_eq!(damage(&line, "codex", "agentglot").len(), 1, "{item}");
    }
    assert!(events("{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"new\"}}\n").contains("\"event\":\"unknown\""));
}

#[test]
fn why_a_turn_failed_is_told_by_its_words() {
    for (message, outcome) in [
        ("Incomplete response returned, reason: max_output_tokens", "limit_tokens"),
        ("Codex ran out of room in the model's context window. Start a new thread", "limit_tokens"),
        ("Missing environment variable: `NOPE`.", "failed_backend"),
        ("The model does not exist", "failed_model"),
    ] {
        let log = format!("{START}{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"{message}\"}}}}\n");
        assert!(events(&log).contains(&format!("\"outcome\":\"{outcome}\"")), "{message}");
    }
}

/// A log of canonical events that another dialect's agent is said to have written.
fn stored(events: &str) -> String {
    format!("{{\"agentglot\":\"events\",\"version\":1,\"source\":\"agentglot\"}}\n{events}")
}

#[test]
fn tokens_are_counted_up_over_the_turns() {
    let turn = |usage: &str| {
        format!(
            "{{\"event\":\"session\",\"session\":\"s\",\"opens_turn\":true}}\n{{\"event\":\"reply\",\"session\":\"s\",\"blocks\":[{{\"type\":\"text\",\"text\":\"x\"}}]}}\n{{\"event\":\"outcome\",\"session\":\"s\",\"outcome\":\"success\",\"is_error\":false,\"usage\":{usage}}}\n"
        )
    };
    let log = [
        turn("{\"input\":7,\"output\":2,\"cache_read\":1,\"scope\":\"turn\"}"),
        turn("{\"input\":10,\"output\":3,\"scope\":\"turn\"}"),
    ]
    .concat();
    let out = converted(&stored(&log), "agentglot", "codex");
    let sums: Vec<&str> = out.lines().filter(|line| line.contains("turn.completed")).collect();
    assert_eq!(sums.len(), 2, "{out}");
    assert!(
        sums[0].contains("\"input_tokens\":8,\"cached_input_tokens\":1,") && sums[0].contains("\"output_tokens\":2"),
        "{out}"
    );
    assert!(
        sums[1].contains("\"input_tokens\":18,\"cached_input_tokens\":1,") && sums[1].contains("\"output_tokens\":5"),
        "{out}"
    );
    assert_eq!(out.matches("thread.started").count(), 2, "a process a turn: {out}");
}

#[test]
fn a_tool_without_an_item_of_its_own_comes_back() {
    let log = "{\"event\":\"reply\",\"session\":\"s\",\"blocks\":[{\"type\":\"call\",\"id\":\"c\",\"name\":\"Look\",\"input\":{\"at\":\"sky\"}}]}\n{\"event\":\"tool_result\",\"session\":\"s\",\"call\":\"c\",\"status\":\"error\",\"content\":\"dark\"}\n";
    let out = converted(&stored(log), "agentglot", "codex");
    assert!(
        out.contains(r#""server":"builtin","tool":"Look","arguments":{"at":"sky"},"result":null"#),
        "{out}"
    );
    assert!(
        out.contains(r#""result":{"content":[{"type":"text","text":"dark"}],"structured_content":null},"error":null,"status":"failed""#),
        "{out}"
    );
    let back = events(&out);
    assert!(
        back.contains(r#""name":"Look","kind":"other","input":{"at":"sky"}"#) && back.contains("\"status\":\"error\""),
        "{back}"
    );
}

/// A run that was killed, repaired: the calls that still ran are completed, and the turn has its end.
#[test]
fn repairs_complete_the_items_and_end_the_turn() {
    let started = [
        (
            r#""type":"command_execution","command":"sleep 9","aggregated_output":"","exit_code":null,"status":"in_progress""#,
            r#""type":"command_execution","command":"sleep 9","aggregated_output":"The tool call was interrupted: the log holds no result for it.","exit_code":null,"status":"failed""#,
        ),
        (
            r#""type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":null,"error":null,"status":"in_progress""#,
            r#""type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":null,"error":{"message":"user cancelled MCP tool call: The tool call was interrupted: the log holds no result for it."},"status":"failed""#,
        ),
    ];
    let repair = Options {
        repair: true,
        ..Options::new(Dialect::Codex.into(), Dialect::Codex.into())
    };
    for (begun, completed) in started {
        let log = format!("{START}{{\"type\":\"item.started\",\"item\":{{\"id\":\"item_0\",{begun}}}}}\n");
        let repaired = with(&log, repair.clone());
        let added = repaired.strip_prefix(&log).expect("what is there stays as it is");
        let end = "{\"type\":\"turn.failed\",\"error\":{\"message\":\"the log ends before the turn does\"}}\n";
        assert_eq!(
            added,
            format!("{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_0\",{completed}}}}}\n{end}")
        );
        assert_eq!(with(&repaired, repair.clone()), repaired, "nothing is left to repair");
    }
}

/// A command may still run when its turn ends well; whatever else has no result by then lacks it.
#[test]
fn only_commands_outlive_their_turn() {
    let level = |begun: &str| {
        let mut checker = Checker::new(Dialect::Codex.into());
        checker.feed(START.as_bytes());
        checker.feed(format!("{{\"type\":\"item.started\",\"item\":{{\"id\":\"item_0\",{begun}}}}}\n").as_bytes());
        checker.feed(b"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"cached_input_tokens\":0,\"output_tokens\":1}}\n");
        let (findings, _) = checker.finish();
        let [finding] = &findings[..] else { panic!("{findings:#?}") };
        assert_eq!((finding.rule, finding.line), (Rule::CallWithoutResult, 3));
        finding.level
    };
    let command = r#""type":"command_execution","command":"sleep 9","aggregated_output":"","exit_code":null,"status":"in_progress""#;
    assert_eq!(level(command), Level::Warning);
    let server = r#""type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":null,"error":null,"status":"in_progress""#;
    assert_eq!(level(server), Level::Error);
}

/// How a turn ended goes over as its kind; a word that nobody knows says more.
#[test]
fn a_word_for_the_outcome_that_nobody_knows_is_told_as_lost() {
    let lost = |word: &str| {
        let log = format!(
            "{}\n{{\"type\":\"result\",\"subtype\":\"{word}\",\"is_error\":true,\"result\":\"no\",\"session_id\":\"s\"}}\n",
            r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/tmp","model":"m","tools":[]}"#
        );
        let mut converter = Converter::new(Options {
            ledger: Some("log".to_owned()),
            ..Options::new(Dialect::Claude.into(), Dialect::Codex.into())
        });
        let mut out = Vec::new();
        converter.feed(log.as_bytes(), &mut out);
        converter.finish(&mut out);
        let entries = converter.take_entries();
        entries
            .iter()
            .any(|entry| entry.line == 2 && entry.finding.pointer == "/subtype" && entry.finding.fate == Fate::Dropped)
    };
    assert!(lost("error_of_the_moon"));
    assert!(!lost("error_during_execution"));
}

/// What a server's tool shows is an image to every target, and an image of another dialect stands in an item as servers give it.
#[test]
fn an_image_of_a_server_is_an_image() {
    let log = r#"{"type":"thread.started","thread_id":"s"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":{"content":[{"type":"text","text":"here"},{"type":"image","data":"QUJD","mimeType":"image/png"}],"structured_content":null},"error":null,"status":"completed"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
"#;
    let blocks = crate::testing::kept(log, "codex", "claude");
    let source = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    assert!(blocks.contains(source), "{blocks}");
    let agent = crate::testing::kept(log, "codex", "acp");
    assert!(agent.contains(r#""mimeType":"image/png","data":"QUJD""#), "{agent}");
    let items = crate::testing::kept(&blocks, "claude", "codex");
    assert!(items.contains(r#"{"type":"image","data":"QUJD","mimeType":"image/png"}"#), "{items}");
}
