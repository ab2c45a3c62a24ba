//! Lines read and written.

use crate::testing::{converted, traced};

fn events(payloads: &[&str]) -> String {
    let log: String = payloads
        .iter()
        .map(|payload| {
            let (kind, payload) = payload.split_once(' ').expect("a type and a payload");
            format!("{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
        })
        .collect();
    let stored = converted(&log, "codex:rollout", "agentglot");
    assert_eq!(converted(&stored, "agentglot", "codex:rollout"), log, "it goes back as it was");
    stored
}

const META: &str = r#"session_meta {"id":"t","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","cli_version":"0.80.0"}"#;
const ASK: &str = r#"response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}]}"#;
const CALL: &str = r#"response_item {"type":"function_call","name":"shell_command","arguments":"{\"command\": \"false\"}","call_id":"c"}"#;
const SAY: &str = r#"response_item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"say"}]}"#;

fn count(stored: &str, event: &str) -> usize {
    stored.matches(&format!("\"event\":\"{event}\"")).count()
}

/// The thread's sum that has not grown says nothing of another round.
#[test]
fn tokens_are_told_once_a_round() {
    let tokens = |total: u32, last: u32| {
        format!(
            "event_msg {{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{{\"input_tokens\":{total},\"total_tokens\":{total}}},\"last_token_usage\":{{\"input_tokens\":{last},\"total_tokens\":{last}}}}}}}"
        )
    };
    let (one, two) = (tokens(100, 100), tokens(201, 101));
    let output = r#"response_item {"type":"function_call_output","call_id":"c","output":"x"}"#;
    let stored = events(&[META, ASK, &one, CALL, &one, output, &one, SAY, &two, &two]);
    // What was said before the first reply is that of the thread so far.
    let told = |stored: &str| {
        stored
            .lines()
            .filter(|line| line.contains("\"event\":\"round_end\"") && line.contains("\"usage\""))
            .count()
    };
    assert_eq!(told(&stored), 1, "{stored}");
    assert!(stored.contains("\"input\":101"), "{stored}");
    let stored = events(&[META, ASK, CALL, &one, output, &one, SAY, &two, &two]);
    assert_eq!((told(&stored), count(&stored, "round_end")), (2, 2), "{stored}");
    assert!(stored.contains("\"input\":201"), "the sum of the turn: {stored}");
}

#[test]
fn what_a_command_printed_stands_behind_lines_about_it() {
    for (output, text, status) in [
        (r"Exit code: 1\nWall time: 0 seconds\nOutput:\nno\n", r"no\n", "error"),
        (
            r"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nyes",
            "yes",
            "success",
        ),
        (
            r#"{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":3,\"duration_seconds\":0.1}}"#,
            r"a\nb",
            "error",
        ),
        (
            r"Wall time: 3.8 seconds\naborted by user",
            r"Wall time: 3.8 seconds\naborted by user",
            "canceled",
        ),
        ("unsupported call: wibble", "unsupported call: wibble", "error"),
        ("Plan updated", "Plan updated", "success"),
        (r"Output:\nof something else", r"Output:\nof something else", "success"),
    ] {
        let output = format!("response_item {{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{output}\"}}");
        let stored = events(&[META, ASK, CALL, &output, SAY]);
        let line = stored.lines().find(|line| line.contains("\"tool_result\"")).expect("it was answered");
        assert!(line.contains(&format!("\"content\":\"{text}\"")), "{line}");
        assert!(line.contains(&format!("\"status\":\"{status}\"")), "{line}");
    }
}

/// What people were shown of a call is its result; what the model was told then says it again.
#[test]
fn a_result_is_told_once() {
    let shown = r#"event_msg {"type":"item_completed","item":{"type":"CommandExecution","id":"c","command":["false"],"aggregated_output":"no\n","exit_code":1,"status":"failed"}}"#;
    let output = r#"response_item {"type":"function_call_output","call_id":"c","output":"Exit code: 1\nWall time: 0 seconds\nOutput:\nno\n"}"#;
    for lines in [[shown, output], [output, shown]] {
        let stored = events(&[META, ASK, CALL, lines[0], lines[1], SAY]);
        assert_eq!(count(&stored, "tool_result"), 1, "{stored}");
        assert!(stored.contains(r#""exit_code":1"#), "{stored}");
    }
}

/// A prompt within a task goes on with its turn; where nothing says when turns end, each begins one.
#[test]
fn prompts_begin_turns() {
    let (start, end) = (
        r#"event_msg {"type":"task_started","turn_id":"a"}"#,
        r#"event_msg {"type":"task_complete","turn_id":"a","last_agent_message":"say","duration_ms":7}"#,
    );
    let stored = events(&[META, ASK, SAY, ASK, SAY]);
    assert_eq!((count(&stored, "prompt"), count(&stored, "outcome")), (2, 2), "{stored}");
    assert_eq!(stored.matches("\"synthetic\":true").count(), 2, "{stored}");
    let stored = events(&[META, start, ASK, SAY, ASK, SAY, end]);
    assert_eq!((count(&stored, "prompt"), count(&stored, "outcome")), (2, 1), "{stored}");
    assert!(stored.contains("\"duration_ms\":7") && !stored.contains("synthetic"), "{stored}");
    let failed = r#"event_msg {"type":"task_complete","turn_id":"a","last_agent_message":null,"error":{"message":"no"}}"#;
    let stored = events(&[META, start, ASK, failed]);
    assert!(stored.contains("\"error\":\"no\"") && stored.contains("\"is_error\":true"), "{stored}");
    let aborted = r#"event_msg {"type":"turn_aborted","turn_id":"a","reason":"interrupted"}"#;
    assert!(events(&[META, start, ASK, aborted]).contains("\"outcome\":\"cancelled\""));
    let used_up = aborted.replace("interrupted", "budget_limited");
    assert!(events(&[META, start, ASK, &used_up]).contains("\"outcome\":\"limit_budget\""));
}

/// What another agent of the team says begins a turn where that is said (0.171).
#[test]
fn another_agent_gives_a_task_or_says_what_came_of_one() {
    let says = r#"response_item {"type":"agent_message","author":"/lead","recipient":"/lead/a","content":[{"type":"input_text","text":"Message Type: NEW_TASK\n"},{"type":"encrypted_content","encrypted_content":"look"}]}"#;
    let sends = |for_it: bool| format!(r#"inter_agent_communication_metadata {{"trigger_turn":{for_it}}}"#);
    for (lines, prompts) in [
        (&[META, &sends(true), says, SAY][..], 1),
        (&[META, ASK, SAY, &sends(false), says, SAY], 1),
        (&[META, ASK, SAY, &sends(true), says, SAY, says], 2),
    ] {
        let stored = events(lines);
        assert_eq!((count(&stored, "prompt"), count(&stored, "unknown")), (prompts, 0), "{stored}");
        assert_eq!(count(&stored, "outcome"), prompts, "{stored}");
    }
}

/// What the program tells the model is no prompt, said so or not.
#[test]
fn context_is_no_prompt() {
    for context in [
        r##"response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w\n"}]}"##,
        r#"response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n"}]}"#,
        r#"response_item {"type":"message","role":"developer","content":[{"type":"input_text","text":"ask"}]}"#,
        r#"response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"ask"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["generic.turn_aborted"]}}"#,
    ] {
        assert_eq!(count(&events(&[META, context]), "prompt"), 0, "{context}");
    }
    let said = r#"response_item {"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>?"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}"#;
    assert_eq!(count(&events(&[META, said]), "prompt"), 1);
}

#[test]
fn servers_stand_in_names_or_beside_them() {
    for call in [
        r#"response_item {"type":"function_call","name":"mcp__calc__add","arguments":"{\"a\":1}","call_id":"c"}"#,
        r#"response_item {"type":"function_call","name":"add","namespace":"mcp__calc","arguments":"{\"a\":1}","call_id":"c"}"#,
    ] {
        let stored = events(&[META, ASK, call]);
        assert!(
            stored.contains(r#""name":"mcp_tool_call","kind":"mcp","input":{"server":"calc","tool":"add","arguments":{"a":1}}"#),
            "{stored}"
        );
    }
}

/// What others call goes to the model in its own words: patches, commands, plans.
#[test]
fn what_others_said_is_written_as_the_model_says_it() {
    let log = concat!(
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","uuid":"u0"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"false"}}]},"session_id":"s","uuid":"u1"}"#,
        "\n",
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"no","is_error":true}]},"session_id":"s","uuid":"u2"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"done"}]},"session_id":"s","uuid":"u3"}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":2,"result":"done","session_id":"s","total_cost_usd":0.1,"usage":{"input_tokens":1,"output_tokens":2},"uuid":"u4"}"#,
        "\n"
    );
    let written = converted(log, "claude", "codex:rollout");
    for part in [
        r#""type":"session_meta","payload":{"id":"s""#,
        r#""name":"exec_command","arguments":"{\"cmd\":\"false\"}","call_id":"c""#,
        r#""call_id":"c","output":"Exit code: 1\nWall time: 0 seconds\nOutput:\nno""#,
        r#""text":"done""#,
        r#""last_agent_message":"done""#,
    ] {
        assert!(written.contains(part), "{part} in {written}");
    }
    let back = converted(&written, "codex:rollout", "claude");
    assert!(back.contains(r#""name":"Bash","input":{"command":"false""#), "{back}");
    assert!(back.contains(r#""is_error":true"#) && back.contains(r#""result":"done""#), "{back}");
}

/// What another program told its model in the user's role is told to the model, and is no prompt.
#[test]
fn what_a_program_said_in_the_users_place_goes_over() {
    let log = concat!(
        r#"{"agentglot":"events","version":1}"#,
        "\n",
        r#"{"event":"session","session":"s","cwd":"/w","opens_turn":true}"#,
        "\n",
        r#"{"event":"prompt","session":"s","source":"agent","content":"Before."}"#,
        "\n",
        r#"{"event":"prompt","session":"s","source":"host","content":"ask"}"#,
        "\n",
        r#"{"event":"reply","session":"s","round":"r1","blocks":[{"type":"text","text":"say"}]}"#,
        "\n",
        r#"{"event":"prompt","session":"s","source":"agent","content":"This is a summary."}"#,
        "\n",
        r#"{"event":"reply","session":"s","round":"r2","blocks":[{"type":"text","text":"go on"}]}"#,
        "\n",
        r#"{"event":"outcome","session":"s","outcome":"success","is_error":false}"#,
        "\n"
    );
    let written = converted(log, "agentglot", "codex:rollout");
    assert_eq!(written.matches(r#""role":"user""#).count(), 3, "{written}");
    assert_eq!(written.matches(r#""type":"user_message""#).count(), 1, "{written}");
    let back = converted(&written, "codex:rollout", "agentglot");
    assert_eq!((count(&back, "prompt"), count(&back, "outcome")), (1, 1), "{back}");
    assert!(back.contains("This is a summary."), "{back}");
}

/// What its host asks and the agent says again is one prompt.
#[test]
fn a_prompt_is_written_once() {
    let log = concat!(
        r#"{"dir":"s2c","ms":1,"msg":{"method":"thread/started","params":{"thread":{"id":"t","cwd":"/w","turns":[]}}}}"#,
        "\n",
        r#"{"dir":"c2s","ms":1,"msg":{"method":"turn/start","id":3,"params":{"threadId":"t","input":[{"type":"text","text":"ask"}]}}}"#,
        "\n",
        r#"{"dir":"s2c","ms":2,"msg":{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"i","content":[{"type":"text","text":"ask"}]}}}}"#,
        "\n",
        r#"{"dir":"s2c","ms":3,"msg":{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"completed","error":null}}}}"#,
        "\n"
    );
    let written = converted(log, "codex:app-server", "codex:rollout");
    assert_eq!(written.matches(r#""type":"user_message","message":"ask""#).count(), 1, "{written}");
}

/// A session that was forked off another one may say whose words come first.
#[test]
fn another_thread_in_one_file_is_another_session() {
    let other = META.replace("\"id\":\"t\"", "\"id\":\"u\"");
    let stored = events(&[META, ASK, SAY, &other, ASK, SAY]);
    assert_eq!((count(&stored, "session"), count(&stored, "outcome")), (2, 2), "{stored}");
    let forked = META.replace("\"id\":\"t\"", "\"id\":\"t\",\"forked_from_id\":\"u\"");
    assert_eq!(count(&events(&[&forked, &other, ASK, SAY]), "session"), 1);
}

/// A patch says what it changes in each file, whoever is called with it.
#[test]
fn a_patch_is_told_as_the_changes_of_its_files() {
    const PATCH: &str = concat!(
        "*** Begin Patch\\n*** Add File: a\\n+one\\n+two\\n*** Update File: b\\n*** Move to: c\\n@@\\n-x\\n+y\\n",
        "*** Delete File: d\\n*** End Patch\\n"
    );
    let twice = PATCH.replace('\\', "\\\\");
    let own = format!(r#"response_item {{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"{PATCH}"}}"#);
    let shell =
        |words: &str| format!(r#"response_item {{"type":"function_call","call_id":"c","name":"shell","arguments":"{{\"command\":[{words}]}}"}}"#);
    let direct = shell(&format!(r#"\"apply_patch\",\"{twice}\""#));
    let script = shell(&format!(r#"\"bash\",\"-lc\",\"apply_patch <<'EOF'\\n{twice}EOF\\n\""#));
    let changes = concat!(
        r#"[{"path":"/w/a","kind":{"type":"add"},"diff":"one\ntwo\n"},"#,
        r#"{"path":"/w/b","kind":{"type":"update","move_path":"c"},"diff":"@@\n-x\n+y\n"},"#,
        r#"{"path":"/w/d","kind":{"type":"delete"},"diff":""}]"#
    );
    for call in [own, direct, script] {
        let stored = events(&[META, ASK, &call]);
        let shown = converted(&stored, "agentglot", "codex:app-server");
        assert!(shown.contains(changes), "{shown}");
        let exec = converted(&stored, "agentglot", "codex");
        assert!(
            exec.contains(r#""changes":[{"path":"a","kind":"add"},{"path":"b","kind":"update"},{"path":"d","kind":"delete"}]"#),
            "{exec}"
        );
    }
    let other = events(&[META, ASK, &shell(r#"\"bash\",\"-lc\",\"echo apply_patch\""#)]);
    assert!(other.contains(r#""name":"shell""#), "{other}");
}

/// Before September 2025 lines were the items themselves, behind the thread's facts, and the folder stood in what the model was told.
#[test]
fn items_that_stand_alone_are_read() {
    let log = r#"{"id":"t","timestamp":"2025-07-10T10:00:00.000Z","instructions":null,"git":{"branch":"main"}}
{"record_type":"state"}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/w/old</cwd>\n</environment_context>"}]}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"ask"}]}
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"think"}],"content":null,"encrypted_content":"x"}
{"type":"function_call","id":"fc_1","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c"}
{"type":"function_call_output","call_id":"c","output":"{\"output\":\"boom\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}
{"type":"message","id":null,"role":"assistant","content":[{"type":"output_text","text":"say"}]}
"#;
    let stored = converted(log, "codex:rollout", "agentglot");
    assert_eq!(converted(&stored, "agentglot", "codex:rollout"), log, "it goes back as it was");
    for (event, times) in [("prompt", 1), ("reply", 3), ("tool_result", 1), ("outcome", 1), ("unknown", 0)] {
        assert_eq!(count(&stored, event), times, "{event} in {stored}");
    }
    let claude = converted(log, "codex:rollout", "claude");
    for part in [
        r#""cwd":"/w/old""#,
        r#""session_id":"t""#,
        r#""input":{"command":"ls""#,
        r#""is_error":true"#,
        r#""result":"say""#,
    ] {
        assert!(claude.contains(part), "{part} in {claude}");
    }
}

/// What a server gave is shown beside what the model was told, which says it in words of its own.
#[test]
fn what_a_server_gave_is_an_item_of_exec_again() {
    let call = r#"response_item {"type":"function_call","name":"add","namespace":"mcp__calc","arguments":"{\"a\":2}","call_id":"c"}"#;
    let shown = r#"event_msg {"type":"item_completed","item":{"type":"McpToolCall","id":"c","server":"calc","tool":"add","arguments":{"a":2},"status":"completed","result":{"content":[{"type":"text","text":"42"}],"structuredContent":{"sum":42}}}}"#;
    let stored = events(&[META, ASK, call, shown, SAY]);
    let exec = converted(&stored, "agentglot", "codex");
    let result = r#""result":{"content":[{"type":"text","text":"42"}],"structured_content":{"sum":42}},"error":null,"status":"completed""#;
    assert!(exec.contains(result), "{exec}");
    // All that is known may be how it ended.
    let told = r#"response_item {"type":"function_call_output","call_id":"c","output":"Exit code: 1\nOutput:\nno"}"#;
    let exec = converted(&events(&[META, ASK, call, told, SAY]), "agentglot", "codex");
    let result = r#""result":{"content":[{"type":"text","text":"no"}],"structured_content":null},"error":null,"status":"failed""#;
    assert!(exec.contains(result), "{exec}");
}

/// A resource that a server gave is read by who goes on with the session, and stays what it is in this dialect.
#[test]
fn a_resource_that_a_server_gave_is_its_text() {
    let call = r#"response_item {"type":"function_call","name":"look","namespace":"mcp__calc","arguments":"{}","call_id":"c"}"#;
    let given = r#"[{"type":"resource","resource":{"uri":"mem://one","mimeType":"text/plain","text":"within"}},{"type":"resource_link","uri":"mem://two","name":"two"}]"#;
    let shown = format!(
        r#"event_msg {{"type":"item_completed","item":{{"type":"McpToolCall","id":"c","server":"calc","tool":"look","arguments":{{}},"status":"completed","result":{{"content":{given}}}}}}}"#
    );
    let stored = events(&[META, ASK, call, &shown, SAY]);
    assert!(converted(&stored, "agentglot", "codex").contains(given), "{stored}");
    for to in [
        "claude",
        "claude:transcript",
        "gemini",
        "gemini:chat",
        "opencode:export",
        "qwen-code:chat",
        "acp",
    ] {
        let out = converted(&stored, "agentglot", to);
        assert!(out.contains("within") && out.contains("mem://two"), "{to}: {out}");
    }
}

#[test]
fn that_a_conversation_was_made_shorter_is_told_once() {
    let once = [
        r#"compacted {"message":"short"}"#,
        r#"event_msg {"type":"context_compacted"}"#,
        r#"event_msg {"type":"item_completed","item":{"type":"ContextCompaction","id":"k"}}"#,
    ];
    let stored = events(&[&[META, ASK, SAY], &once[..], &[ASK, SAY], &once[..]].concat());
    assert_eq!(stored.matches("\"topic\":\"compaction\"").count(), 2, "{stored}");
    assert_eq!(stored.matches("\"topic\":\"compaction\",\"message\":\"short\"").count(), 2, "{stored}");
}

/// Some servers tell thoughts themselves and a summary of them.
#[test]
fn a_thought_and_its_summary_are_both_told() {
    let thought = r#"response_item {"type":"reasoning","summary":[{"type":"summary_text","text":"short"}],"content":[{"type":"reasoning_text","text":"long"}]}"#;
    let stored = events(&[META, ASK, thought, SAY]);
    let told = r#""blocks":[{"type":"thinking","text":"short"},{"type":"thinking","text":"long"}]"#;
    assert!(stored.contains(told), "{stored}");
}

/// What hosts are shown of a patch and of a search is what the model asked for.
#[test]
fn items_become_what_the_model_calls() {
    let item = |item: &str| format!(r#"{{"method":"item/completed","params":{{"threadId":"t","turnId":"u","item":{{{item}}}}}}}"#) + "\n";
    let moved = item(
        r#""type":"fileChange","id":"f","changes":[{"path":"/w/a","kind":{"type":"update","move_path":"/w/b"},"diff":"--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"}],"status":"completed""#,
    );
    let rollout = converted(&moved, "codex:app-server", "codex:rollout");
    assert!(rollout.contains(r"*** Move to: /w/b\n@@\n-old\n+new\n*** End Patch"), "{rollout}");
    let page = item(r#""type":"webSearch","id":"w","query":"https://a.b","action":{"type":"openPage","url":"https://a.b"}"#);
    let rollout = converted(&page, "codex:app-server", "codex:rollout");
    assert!(rollout.contains(r#""action":{"type":"open_page","url":"https://a.b"}"#), "{rollout}");
    let back = converted(&rollout, "codex:rollout", "codex");
    assert!(back.contains(r#""query":"https://a.b""#), "{back}");
    let search = item(r#""type":"webSearch","id":"w","query":"rust","action":{"type":"search","queries":["rust"]}"#);
    let rollout = converted(&search, "codex:app-server", "codex:rollout");
    assert!(
        rollout.contains(r#""action":{"type":"search","queries":["rust"],"query":"rust"}"#),
        "{rollout}"
    );
}

/// Images are told in prompts and in results, by each format in its way.
#[test]
fn images_go_over() {
    let image = r#"{"type":"input_image","image_url":"data:image/png;base64,QUJD"}"#;
    let log = format!(
        "{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"ask\"}},{image}]}}}}\n\
         {{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"name\":\"view_image\",\"arguments\":\"{{}}\",\"call_id\":\"c\"}}}}\n\
         {{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":[{image}]}}}}\n"
    );
    for (by, times) in [
        ("claude", 2),
        ("codex:app-server", 3),
        ("gemini:chat", 2),
        ("opencode:export", 2),
        ("qwen-code:chat", 1),
    ] {
        let made = converted(&log, "codex:rollout", by);
        assert_eq!(made.matches("QUJD").count(), times, "{by}: {made}");
        let back = converted(&made, by, "codex:rollout");
        assert_eq!(back.matches(image).count(), times.min(2), "{by}: {back}");
    }
}

/// A search has one text, and a patch does not say what stood in a file that it deletes.
#[test]
fn what_an_item_of_a_rollout_does_not_say_is_told() {
    let item = |item: &str| {
        let line = format!(r#"{{"method":"item/started","params":{{"item":{item},"threadId":"t","turnId":"u"}}}}"#);
        traced(&line, "codex:app-server", "codex:rollout")
    };
    let dropped = |ledger: &str, pointer: &str| {
        let end = format!("{pointer}\",\"fate\":\"dropped\"");
        ledger.lines().filter(|line| line.contains(&end)).count()
    };
    let (out, ledger) = item(r#"{"type":"webSearch","id":"w","query":"first","action":{"type":"search","query":"second"}}"#);
    assert!(out.contains("second") && !out.contains("first"), "{out}");
    assert_eq!(dropped(&ledger, "/item/query"), 1, "{ledger}");
    let change = r#"{"path":"/w/a","kind":{"type":"delete"},"diff":"gone\n"}"#;
    let (out, ledger) = item(&format!(r#"{{"type":"fileChange","id":"f","changes":[{change}],"status":"inProgress"}}"#));
    assert!(out.contains("*** Delete File: /w/a") && !out.contains("gone"), "{out}");
    assert_eq!(dropped(&ledger, "/changes/0/diff"), 1, "{ledger}");
}

/// What went wrong goes over with the outcome of its task, where that does not say it better.
#[test]
fn an_error_is_lost_where_no_outcome_says_it() {
    for to in ["claude", "codex", "acp", "opencode"] {
        let dropped = |end: &str| {
            let error = r#"event_msg {"type":"error","message":"It broke."}"#;
            let started = r#"event_msg {"type":"task_started","turn_id":"u"}"#;
            let log: String = [META, started, ASK, error, end]
                .iter()
                .map(|payload| {
                    let (kind, payload) = payload.split_once(' ').expect("a type and a payload");
                    format!("{{\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
                })
                .collect();
            let (out, ledger) = traced(&log, "codex:rollout", to);
            let here = ledger.lines().filter(|line| line.contains("\"line\":4,") && line.contains("\"dropped\""));
            let said = |line: &&str| line.contains("\"pointer\":\"\"") || line.contains("\"pointer\":\"/payload/message\"");
            (out.contains("It broke."), here.filter(said).count())
        };
        assert_eq!(dropped(r#"event_msg {"type":"task_complete","turn_id":"u"}"#), (true, 0), "{to}");
        let better = r#"event_msg {"type":"task_complete","turn_id":"u","error":{"message":"Else."}}"#;
        assert_eq!(dropped(better), (false, 1), "{to}");
    }
}

/// What is searched for goes over, and what else is said of the search does not.
#[test]
fn of_a_search_only_what_has_no_place_is_told_as_lost() {
    let search = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"owls of the north"}}}"#;
    let meta = r#"{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","cli_version":"0.169.0"}}"#;
    for to in ["claude", "gemini", "tricode", "opencode"] {
        let (out, ledger) = traced(&format!("{meta}\n{search}\n"), "codex:rollout", to);
        assert!(out.contains("owls of the north"), "{to}: {out}");
        let lost: Vec<&str> = ledger.lines().filter(|line| line.contains("/payload/action")).collect();
        assert!(
            lost.len() == 1 && lost[0].contains("\"pointer\":\"/payload/action/type\",\"fate\":\"dropped\""),
            "{to}: {ledger}"
        );
    }
}

/// What stands in the place of a call's result where it did not run says why.
#[test]
fn what_did_not_run_has_failed_or_was_refused() {
    for (output, status) in [
        (
            "approval policy is Never; reject command — you cannot ask for escalated permissions",
            "denied",
        ),
        (
            r#"exec_command failed: CreateProcess { message: \"Rejected(\\\"`rm -rf x` rejected: not permitted\\\")\" }"#,
            "denied",
        ),
        (r#"exec_command failed: CreateProcess { message: \"No such file\" }"#, "error"),
        ("write_stdin failed: Unknown process id 1", "error"),
        ("unable to locate image at `/w/x.png`: No such file or directory (os error 2)", "error"),
        ("approved", "success"),
    ] {
        let output = format!("response_item {{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{output}\"}}");
        let stored = events(&[META, ASK, CALL, &output, SAY]);
        assert!(stored.contains(&format!("\"status\":\"{status}\"")), "{output}: {stored}");
    }
}

/// The goal of a thread stands in the results of calls, and nobody has called.
#[test]
fn an_output_without_a_call_is_a_notice() {
    let goal = r#"response_item {"type":"function_call_output","id":"fco","name":"goal_objective","namespace":"agent","output":"win"}"#;
    let stored = events(&[
        META,
        ASK,
        CALL,
        r#"response_item {"type":"function_call_output","call_id":"c","output":"x"}"#,
        goal,
        SAY,
    ]);
    assert_eq!((count(&stored, "tool_result"), count(&stored, "notice")), (1, 1), "{stored}");
    assert_eq!(count(&stored, "unknown"), 0, "{stored}");
}

#[test]
fn an_image_that_the_api_made_is_a_result() {
    let log = r#"{"timestamp":"2026-11-21T07:10:27.732Z","type":"session_meta","payload":{"id":"t","timestamp":"2026-11-21T07:10:27.693Z","cwd":"/w","originator":"codex_exec","cli_version":"0.171.0","source":"exec"}}
{"timestamp":"2026-11-21T07:10:27.732Z","type":"event_msg","payload":{"type":"task_started","turn_id":"u"}}
{"timestamp":"2026-11-21T07:10:27.732Z","type":"response_item","payload":{"type":"image_generation_call","id":"ig","status":"completed","revised_prompt":"a cat","result":"QUJD"}}
{"timestamp":"2026-11-21T07:10:27.732Z","type":"response_item","payload":{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","queries":["cats","dogs"]}}}
{"timestamp":"2026-11-21T07:10:27.732Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"u","last_agent_message":null}}
"#;
    let claude = converted(log, "codex:rollout", "claude");
    for text in [
        r#""name":"image_generation","input":{"prompt":"a cat"}"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#,
        r#""query":"cats""#,
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    let events = converted(log, "codex:rollout", "agentglot");
    assert_eq!(converted(&events, "agentglot", "codex:rollout"), log);
}
