//! What a user of the target sees: lines of golden logs, converted, that were wrong once and are as the target writes them.

use crate::common::json::Json;
use crate::common::{convert, format, golden_folder, quick, with_ledger};
use agentglot_adapters::convert::Options;

/// A golden log in another format.
fn golden(from: &str, to: &str, name: &str) -> Vec<Json> {
    lines(&raw(from, to, name))
}

fn raw(from: &str, to: &str, name: &str) -> String {
    let log = std::fs::read(golden_folder().join(name)).expect("the golden log is part of the repository");
    quick(format(from), format(to), &log).text().to_owned()
}

/// What the ledger says of it: fate, pointer and note of each entry.
fn ledger(from: &str, to: &str, name: &str) -> Vec<Json> {
    let log = std::fs::read(golden_folder().join(name)).expect("the golden log is part of the repository");
    lines(&convert(&with_ledger(Options::new(format(from), format(to))), &log).ledger)
}

fn tells(ledger: &[Json], fate: &str, pointer: &str) -> bool {
    ledger.iter().any(|entry| entry.str("fate") == fate && entry.str("pointer") == pointer)
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().filter_map(Json::read).collect()
}

fn of_type<'l>(lines: &'l [Json], name: &str) -> Vec<&'l Json> {
    lines.iter().filter(|line| line.str("type") == name).collect()
}

fn last<'l>(lines: &'l [Json], name: &str) -> &'l Json {
    of_type(lines, name).pop().expect("there is such a line")
}

fn member<'l>(line: &'l Json, path: &[&str]) -> &'l Json {
    line.at(path).unwrap_or_else(|| panic!("no {path:?} in {line:?}"))
}

fn compact(line: &Json, path: &[&str]) -> String {
    member(line, path).compact()
}

#[test]
fn tools_are_listed_as_they_are_called() {
    let qwen = golden("claude", "qwen-code", "claude/cli_deny_default.out.jsonl");
    let tools = compact(&qwen[0], &["tools"]);
    assert!(
        tools.starts_with(r#"["agent","run_shell_command","#) && tools.ends_with(r#","write_file"]"#),
        "{tools}"
    );
    let denied =
        r#"[{"tool_name":"write_file","tool_use_id":"toolu_mock000035","tool_input":{"file_path":"/workspace/asked.txt","content":"asked\n"}}]"#;
    assert_eq!(compact(last(&qwen, "result"), &["permission_denials"]), denied);
    let claude = golden("qwen-code", "claude", "qwen-code/permission_denied_write.out.jsonl");
    let tools = compact(&claude[0], &["tools"]);
    assert!(
        tools.contains(r#""Task""#) && tools.contains(r#""Read""#) && !tools.contains("read_file"),
        "{tools}"
    );
    let denied = r#"[{"tool_name":"Write","tool_use_id":"call_d2","tool_input":{"file_path":"/workspace/n.txt","content":"x"}}]"#;
    assert_eq!(compact(last(&claude, "result"), &["permission_denials"]), denied);
}

#[test]
fn the_time_of_a_snapshot_goes_over_when_its_text_was_said_in_pieces() {
    let chunks = golden("claude", "qwen:stream-chunk-json", "claude/cli_think_partial.out.jsonl");
    let answer = chunks.iter().find(|line| line.compact().contains("The answer i")).expect("it is said");
    assert_eq!(compact(answer, &["created"]), "1795240818");
    let claude = golden("cursor", "claude", "cursor/partial_shell.jsonl");
    let thought = claude
        .iter()
        .find(|line| line.compact().contains(r#""thinking":"The user"#))
        .expect("it is said");
    assert_eq!(thought.str("timestamp"), "2026-08-29T10:40:00.004Z");
}

#[test]
fn tasks_keep_their_descriptions_and_go_over_to_claude() {
    let qwen = golden("claude", "qwen-code", "claude/cli_agent.out.jsonl");
    let started = qwen.iter().find(|line| line.str("subtype") == "task_started").expect("a task is started");
    assert_eq!(member(started, &["data", "description"]).text(), Some("Sub job"));
    let claude = golden("qwen-code", "claude", "qwen-code/subagent_bg.out.jsonl");
    let of = |name: &str| claude.iter().find(|line| line.str("subtype") == name).cloned().expect("it is told");
    assert_eq!(of("task_started").str("description"), "look at file");
    let ended = of("task_notification");
    assert_eq!((ended.str("task_id"), ended.str("status")), ("general-purpose-call_ag", "completed"));
    assert_eq!(compact(&ended, &["usage"]), r#"{"total_tokens":240,"tool_uses":1,"duration_ms":286}"#);
    let rfc = raw("qwen-code", "qwen", "qwen-code/subagent_bg.out.jsonl");
    assert!(rfc.contains(r#""taskPrompt":"Read hello.txt and report","status":"running""#), "{rfc}");
}

#[test]
fn a_lost_connection_is_no_retry() {
    let claude = golden("cursor", "claude", "cursor/retry_no_result.jsonl");
    let attempts: Vec<String> = claude
        .iter()
        .filter(|line| line.str("subtype") == "api_retry")
        .map(|line| compact(line, &["attempt"]))
        .collect();
    assert_eq!(attempts, ["1", "2", "3"]);
}

#[test]
fn a_turn_that_failed_did_not_end_well() {
    let failed = golden("tricode", "claude", "tricode/api_error_mid.jsonl");
    assert_eq!(last(&failed, "result").str("stop_reason"), "stop_sequence");
    let ended = golden("tricode", "claude", "tricode/perm_terminate.jsonl");
    assert_eq!(last(&ended, "result").str("terminal_reason"), "aborted_tools");
    let error = golden("qwen", "claude", "qwen/model_error.jsonl");
    let words: Vec<&str> = of_type(&error, "assistant").iter().map(|line| line.str("error")).collect();
    assert!(
        words.iter().all(|word| ["", "unknown"].contains(word)),
        "free text is no word of Claude's: {words:?}"
    );
}

#[test]
fn a_result_of_cursor_names_its_request() {
    let cursor = golden("tricode", "cursor", "tricode/read.jsonl");
    let request = last(&cursor, "result").str("request_id");
    let call = of_type(&cursor, "tool_call")[0].str("model_call_id");
    assert!(!request.is_empty() && call.starts_with(request), "{request} {call}");
}

#[test]
fn refused_calls_are_listed_and_refused() {
    let claude = golden("tricode", "claude", "tricode/perm_deny.jsonl");
    let denials = member(last(&claude, "result"), &["permission_denials"]).list().to_vec();
    let names: Vec<&str> = denials.iter().map(|denial| denial.str("tool_name")).collect();
    assert_eq!(names, ["Write", "Read"]);
    let whole = golden("tricode", "claude:json", "tricode/perm_deny.jsonl");
    assert_eq!(member(&whole[0], &["permission_denials"]).list().len(), 2);
    let cursor = raw("qwen", "cursor", "qwen/two_tools.jsonl");
    assert!(
        cursor.contains(r#""rejected":{"command":"git push","workingDirectory":"","reason":"Ada said no.""#),
        "{cursor}"
    );
    let tricode = raw("qwen", "tricode", "qwen/two_tools.jsonl");
    assert!(tricode.contains(r#""formatted": "[FAIL] Denied: Ada said no.""#), "{tricode}");
}

#[test]
fn a_part_of_a_file_has_no_line_more_than_was_read() {
    let claude = raw("cursor", "claude", "cursor/read_edit.jsonl");
    let part = r#""content":"    return (\"hello \" + name).upper()","numLines":1,"startLine":2"#;
    assert!(claude.contains(part), "{claude}");
}

#[test]
fn the_answer_is_what_was_said_last() {
    let log = "cursor/read_edit.jsonl";
    let answer = "Done: `greet.py` shouts and `CHANGES.md` says so.";
    assert_eq!(last(&golden("cursor", "tricode", log), "final").str("content"), answer);
    assert_eq!(last(&golden("cursor", "claude", log), "result").str("result"), answer);
    let whole = format!("I'll look at `greet.py` first.\n{answer}");
    assert_eq!(golden("cursor", "cursor:json", log)[0].str("result"), whole);
    assert!(tells(&ledger("cursor", "tricode", log), "merged", "/result"));
}

#[test]
fn pieces_of_2025_are_one_text() {
    let claude = golden("cursor", "claude", "cursor/deltas_2025.jsonl");
    let texts: Vec<String> = of_type(&claude, "assistant")
        .into_iter()
        .flat_map(|line| member(line, &["message", "content"]).list().to_vec())
        .filter(|block| block.str("type") == "text")
        .map(|block| block.str("text").to_owned())
        .collect();
    // That there are pieces is known with the second one.
    assert_eq!(texts, ["I will ", "read the notes", " and write a summary.", " All tidy now."]);
}

#[test]
fn what_a_shell_says_is_told_apart() {
    let tricode = raw("cursor", "tricode", "cursor/parallel_shell.jsonl");
    assert!(tricode.contains(r#"FAILED\n\n[stderr]\nerror: test failed\n"#), "{tricode}");
    assert!(tricode.contains(r#""result": "[no output]", "formatted": "[OK] no output""#), "{tricode}");
    let back = quick(format("tricode"), format("cursor"), tricode.as_bytes());
    let back = back.text();
    assert!(
        back.contains(r#""stderr":"error: test failed\n""#) && !back.contains("[no output]"),
        "{back}"
    );
}

#[test]
fn todos_are_those_that_are_shown() {
    let cursor = raw("qwen", "cursor", "qwen/displays.jsonl");
    assert!(
        cursor.contains(r#"{"id":"3","content":"cut","status":"TODO_STATUS_PENDING"}],"totalCount":3"#),
        "{cursor}"
    );
}

#[test]
fn a_message_for_a_server_arrives() {
    for to in ["claude", "qwen-code"] {
        let lines = golden("qwen", to, "qwen/control.jsonl");
        let asked = lines
            .iter()
            .find(|line| line.at(&["request", "subtype"]).and_then(Json::text) == Some("mcp_message"));
        let asked = asked.expect("it is asked");
        assert_eq!(member(asked, &["request", "server_name"]).text(), Some("shop"));
        assert_eq!(compact(asked, &["request", "message", "method"]), r#""tools/list""#);
    }
}

#[test]
fn calls_without_results_stand_in_their_round() {
    let tricode = golden("qwen", "tricode", "qwen/control.jsonl");
    let types: Vec<&str> = tricode.iter().map(|line| line.str("type")).collect();
    assert_eq!(types, ["system", "round", "tool_call", "round", "final"]);
}

#[test]
fn no_prompt_is_named_before_a_session_is() {
    let rfc = raw("qwen-code", "qwen", "qwen-code/sdk_sdk_mcp_tool.out.jsonl");
    assert!(!rfc.contains("\"########"), "{rfc}");
}

/// What a review was asked for stands in no message, and the turn of the reviewer is a part of it.
#[test]
fn a_review_has_its_prompt_and_one_outcome() {
    let events = golden("codex:rollout", "agentglot:events", "codex/rollout_review.jsonl");
    let of = |name: &str| events.iter().filter(|event| event.str("event") == name).collect::<Vec<_>>();
    let prompts: Vec<_> = of("prompt").iter().map(|prompt| prompt.str("content").to_owned()).collect();
    assert_eq!(prompts, ["[[review]] look"]);
    assert_eq!(of("outcome").len(), 1);
}

/// Each reply says its first count, and its end the last one, which is what the program keeps.
#[test]
fn what_is_kept_has_the_tokens_that_replies_had_in_the_end() {
    let kept = golden("claude", "claude:transcript", "claude/cli_parallel_partial.out.jsonl");
    let tokens = |line: &Json| {
        let output = line.at(&["message", "usage", "output_tokens"])?;
        Some((line.at(&["message", "id"])?.compact(), output.compact()))
    };
    let said: std::collections::BTreeMap<_, _> = kept.iter().filter_map(tokens).collect();
    assert_eq!(said.into_values().collect::<Vec<_>>(), ["20", "21"]);
}

#[test]
fn stored_events_are_in_the_tools_of_their_source() {
    let log = "claude/cli_edit.out.jsonl";
    for to in ["qwen-code", "tricode", "cursor"] {
        let events = raw("claude", "agentglot:events", log);
        let stored = quick(format("agentglot:events"), format(to), events.as_bytes());
        let direct = raw("claude", to, log);
        let calls = |text: &str| lines(text).iter().filter(|line| line.compact().contains("call")).count();
        assert_eq!(calls(stored.text()), calls(&direct));
        let name = ["\"edit\"", "\"edit_file\"", "\"editToolCall\""]
            .into_iter()
            .find(|name| direct.contains(name));
        assert!(stored.text().contains(name.expect("it edits")), "{to}");
    }
}

#[test]
fn the_ledger_tells_what_was_lost_and_no_more() {
    let asked = ledger("qwen-code", "tricode", "qwen-code/ctl_perm_edit_write.out.jsonl");
    assert!(
        !tells(&asked, "renamed", "/request/tool_name"),
        "a question that is not asked has no tool"
    );
    let shell = ledger("cursor", "qwen-code", "cursor/partial_shell.jsonl");
    let result = |entry: &&Json| entry.str("fate") == "dropped" && entry.str("pointer").ends_with("/result");
    assert_eq!(shell.iter().find(result), None);
}

/// How the turns of a golden log ended, once it is in another format.
fn outcomes(from: &str, to: &str, name: &str) -> Vec<String> {
    let log = raw(from, to, name);
    let events = quick(format(to), format("agentglot"), log.as_bytes());
    let lines = lines(events.text());
    let ends = lines.iter().filter(|line| line.str("event") == "outcome");
    ends.map(|line| line.str("outcome").to_owned()).collect()
}

/// A failure told behind what the model said leaves the model's words to it.
#[test]
fn what_the_model_said_before_it_failed_is_kept() {
    for to in [
        "codex:rollout",
        "gemini:chat",
        "qwen-code:chat",
        "claude:transcript",
        "openai:messages",
        "sharegpt",
    ] {
        let log = raw("qwen", to, "qwen/model_error.jsonl");
        for words in ["I begin", "The file is not there."] {
            assert!(log.contains(words), "{to}: {words}: {log}");
        }
    }
}

#[test]
fn a_shell_of_an_editor_s_agent_is_a_shell_with_a_folder() {
    let codex = golden("acp", "codex", "acp/codex_parallel.jsonl");
    let item = |line: &Json| line.at(&["item", "type"]).and_then(Json::text).unwrap_or_default().to_owned();
    let commands = codex.iter().filter(|line| item(line) == "command_execution").count();
    assert_eq!(commands, 2, "it begins and ends");
    // What is shown as a file that it reads is no command.
    let claude = golden("acp", "claude", "acp/codex_parallel.jsonl");
    let calls = claude
        .iter()
        .flat_map(|line| line.at(&["message", "content"]).map_or(&[][..], Json::list));
    let names: Vec<&str> = calls.map(|block| block.str("name")).filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["Read", "Bash", "Read"]);
}

#[test]
fn turns_end_as_they_did_where_nobody_says_it_as_a_rule() {
    // A command that goes on behind the end of its turn.
    assert_eq!(outcomes("codex", "opencode:export", "codex/longcmd.out.jsonl"), ["success"]);
    // The program has ended with an error.
    assert_eq!(outcomes("qwen", "atif", "qwen/bare_error.jsonl"), ["failed_backend"]);
    // A turn that a task in the background begins, before the outcome of the one before.
    assert_eq!(
        outcomes("claude", "cursor", "claude/cli_agent_background.out.jsonl"),
        ["success", "success"]
    );
}

/// A claude log of one call, with these lines in place of its result.
fn answered(results: &[&str]) -> String {
    let call = r#"{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"mcp__a__b","input":{}}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"s","uuid":"u1"}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","uuid":"u9"}"#;
    let init = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","uuid":"u0"}"#;
    let all: Vec<&str> = [init, call].into_iter().chain(results.iter().copied()).chain([end]).collect();
    all.join("\n") + "\n"
}

const IN_TWO: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"first thing"},{"type":"text","text":"second thing"}]}]},"session_id":"s","uuid":"u2"}"#;

/// Where a result is one text, what stood in texts of its own stands on lines of its own.
#[test]
fn texts_of_a_result_do_not_run_into_each_other() {
    for to in crate::common::all_targets(format("claude")) {
        let log = quick(format("claude"), to, answered(&[IN_TWO]).as_bytes());
        assert!(!log.text().contains("first thingsecond thing"), "{to}: {}", log.text());
    }
}

/// A collector may write a line twice: the result is told once.
#[test]
fn a_result_that_stands_twice_is_told_once() {
    let results = |format, log: &[u8]| {
        let calls = agentglot_adapters::turns(log, format).map_while(Result::ok);
        calls.map(|turn| turn.calls().len()).sum::<usize>()
    };
    // As long, and different in the middle alone.
    let around = "x".repeat(200);
    let long = IN_TWO.replace("second thing", &format!("{around}second thing{around}"));
    let another = long.replace("second", "others");
    let events = format("agentglot");
    for to in crate::common::all_targets(format("claude")) {
        // Events say what the log says.
        if to == events || !to.is_readable() {
            continue;
        }
        let once = quick(format("claude"), to, answered(&[IN_TWO]).as_bytes()).out;
        let twice = convert(&with_ledger(Options::new(format("claude"), to)), answered(&[IN_TWO, IN_TWO]).as_bytes());
        assert_eq!(results(to, &twice.out), results(to, &once), "{to}");
        assert_eq!(
            twice.text().matches("second thing").count(),
            String::from_utf8_lossy(&once).matches("second thing").count(),
            "{to}: {}",
            twice.text()
        );
        // What is not the same is not lost.
        let other = convert(&with_ledger(Options::new(format("claude"), to)), answered(&[&long, &another]).as_bytes());
        assert!(
            other.text().contains("others thing") || other.ledger.contains("line\":4"),
            "{to}: {}",
            other.text()
        );
    }
}

/// A session's file that breaks off is told so by whoever writes it.
#[test]
fn a_file_that_breaks_off_is_no_failure_of_the_model() {
    for to in ["codex", "codex:app-server", "codex:rollout", "gemini", "opencode", "qwen-code", "tricode"] {
        assert_eq!(outcomes("gemini:chat", to, "gemini/chat_loop.jsonl"), ["failed_protocol"], "{to}");
    }
}
