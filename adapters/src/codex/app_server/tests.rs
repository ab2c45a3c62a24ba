use crate::testing::{converted, damage};

fn events(log: &str) -> String {
    converted(log, "codex:app-server", "agentglot")
}

const ASKS: &str =
    r#"{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"t","turnId":"u","itemId":"c","command":"/bin/bash -lc ls"}}"#;

fn command(word: &str, status: &str, printed: &str) -> String {
    format!(
        r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"u","item":{{"type":"commandExecution","id":"c","command":"/bin/bash -lc ls","status":"{status}","aggregatedOutput":{printed},"exitCode":null}}}}}}"#
    )
}

const ENDS: &str = r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"completed","error":null}}}"#;

#[test]
fn what_is_stored_goes_back_as_it_was() {
    let log = [
        ASKS,
        &command("started", "inProgress", "null"),
        &command("completed", "completed", "\"a\\n\""),
        ENDS,
        "",
    ]
    .join("\n");
    let stored = events(&log);
    assert!(stored.contains("\"source\":\"codex:app-server\""), "{stored}");
    assert_eq!(converted(&stored, "agentglot", "codex:app-server"), log);
    // Lines of another mode are none of this one.
    let exec = converted(&stored, "agentglot", "codex");
    assert!(exec.contains("\"type\":\"item.completed\"") && !exec.contains("\"method\""), "{exec}");
}

/// Both sides count their requests from 0: an answer belongs to who was asked.
#[test]
fn ids_of_both_sides_collide() {
    let log = [
        ASKS,
        r#"{"method":"turn/interrupt","id":0,"params":{"threadId":"t","turnId":"u"}}"#,
        r#"{"id":0,"result":{"decision":"decline"}}"#,
        r#"{"id":0,"result":{}}"#,
        "",
    ]
    .join("\n");
    let found: Vec<String> = events(&log).lines().skip(1).map(|line| line[..12].to_owned()).collect();
    assert_eq!(found, ["{\"event\":\"re", "{\"input\":\"re", "{\"input\":\"re", "{\"event\":\"re"]);
    // A number is another id than its digits as a text.
    let log = [ASKS, r#"{"id":"0","result":{"decision":"accept"}}"#, ""].join("\n");
    assert!(events(&log).lines().nth(2).unwrap().starts_with("{\"event\":\"response\""));
}

#[test]
fn what_a_host_decides_is_said_in_canonical_words() {
    for (result, body) in [
        (r#"{"decision":"accept"}"#, Some(r#"{"behavior":"allow"}"#)),
        (r#"{"decision":"acceptForSession"}"#, Some(r#"{"behavior":"allow"}"#)),
        (
            r#"{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}"#,
            Some(r#"{"behavior":"allow"}"#),
        ),
        (r#"{"decision":"decline"}"#, Some(r#"{"behavior":"deny","message":""}"#)),
        (r#"{"decision":"cancel"}"#, Some(r#"{"behavior":"deny","message":"","interrupt":true}"#)),
        (r#"{"action":"accept","content":{}}"#, Some(r#"{"behavior":"allow"}"#)),
        (r#"{"decision":"perhaps"}"#, None),
    ] {
        let stored = events(&[ASKS, &format!("{{\"id\":0,\"result\":{result}}}"), ""].join("\n"));
        let answer = stored.lines().find(|line| line.starts_with("{\"input\":\"response\"")).unwrap();
        let found = body.map(|body| format!("\"body\":{body}"));
        assert_eq!(answer.contains("\"body\":"), found.is_some(), "{answer}");
        assert!(found.is_none_or(|body| answer.contains(&body)), "{answer}");
    }
}

#[test]
fn an_answer_to_nobody_is_kept_and_ends_nothing() {
    let log = "{\"id\":7,\"result\":{}}\n{\"id\":8,\"error\":{\"code\":-32600,\"message\":\"no\"}}\n";
    let stored = events(log);
    assert_eq!(stored.matches("\"event\":\"response\"").count(), 2, "{stored}");
    assert!(!stored.contains("outcome"), "{stored}");
}

#[test]
fn an_item_that_nobody_completes_or_starts_is_one_call() {
    let started = [&command("started", "inProgress", "null"), ENDS, ""].join("\n");
    assert_eq!(events(&started).matches("\"event\":\"reply\"").count(), 1);
    let completed = [&command("completed", "failed", "\"x\""), ENDS, ""].join("\n");
    let stored = events(&completed);
    assert_eq!(stored.matches("\"event\":\"reply\"").count(), 1, "{stored}");
    assert_eq!(converted(&stored, "agentglot", "codex:app-server"), completed);
}

/// Only the calls that started last are remembered to have done so when their turn is over: a result of another says its call again.
#[test]
fn calls_that_nobody_ends_are_forgotten_in_the_order_in_which_they_started() {
    let of = |at: usize, word: &str, status: &str| command(word, status, "null").replace("\"id\":\"c\"", &format!("\"id\":\"{}\"", 1000 - at));
    let mut log: Vec<String> = (0..100).map(|at| of(at, "started", "inProgress")).collect();
    log.push(ENDS.to_owned());
    let before = events(&(log.join("\n") + "\n")).matches("\"event\":\"reply\"").count();
    for (at, again) in [(99, 0), (36, 0), (35, 1), (0, 1)] {
        let log = [log.join("\n"), of(at, "completed", "completed"), ENDS.to_owned(), String::new()].join("\n");
        let stored = events(&log);
        assert_eq!(stored.matches("\"event\":\"reply\"").count(), before + again, "{at}");
    }
}

#[test]
fn a_line_that_is_cut_off_is_damage() {
    assert_eq!(damage(&ASKS[..60], "codex:app-server", "agentglot").len(), 1);
}

/// What an agent does that another one has started is not said by the main thread.
#[test]
fn threads_of_agents_are_below_their_call() {
    let log = [
        r#"{"method":"thread/started","params":{"thread":{"id":"t","turns":[]}}}"#,
        r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","status":"inProgress","senderThreadId":"t","receiverThreadIds":["k"],"prompt":"look","agentsStates":{}}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"k","turnId":"v","item":{"type":"agentMessage","id":"m","text":"seen"}}}"#,
        r#"{"method":"turn/completed","params":{"threadId":"k","turn":{"id":"v","items":[],"status":"completed","error":null}}}"#,
        ENDS,
        "",
    ]
    .join("\n");
    let stored = events(&log);
    assert!(stored.contains("\"parent\":\"c\""), "{stored}");
    assert_eq!(stored.matches("\"event\":\"outcome\"").count(), 1, "{stored}");
    let exec = converted(&log, "codex:app-server", "codex");
    assert!(!exec.contains("seen") && exec.contains("\"tool\":\"spawn_agent\""), "{exec}");
}

#[test]
fn a_diff_is_an_edit_elsewhere() {
    let change = |kind: &str, diff: &str| {
        format!(
            r#"{{"method":"item/started","params":{{"threadId":"t","turnId":"u","item":{{"type":"fileChange","id":"c","changes":[{{"path":"/w/a","kind":{kind},"diff":"{diff}"}}],"status":"inProgress"}}}}}}"#
        ) + "\n"
    };
    let update = change(r#"{"type":"update","move_path":null}"#, r"@@ -1,2 +1,2 @@\n-old\n+new\n same\n");
    let claude = converted(&update, "codex:app-server", "claude");
    assert!(
        claude.contains(r#""name":"Edit","input":{"file_path":"/w/a","old_string":"old\nsame\n","new_string":"new\nsame\n"}"#),
        "{claude}"
    );
    let add = converted(&change(r#"{"type":"add"}"#, r"one\n"), "codex:app-server", "claude");
    assert!(add.contains(r#""name":"Write","input":{"file_path":"/w/a","content":"one\n"}"#), "{add}");
    // A file that is moved is no such edit.
    let moved = converted(
        &change(r#"{"type":"update","move_path":"/w/b"}"#, r"@@ -1 +1 @@\n-a\n+b\n"),
        "codex:app-server",
        "claude",
    );
    assert!(moved.contains("file_change"), "{moved}");
    let exec = converted(&update, "codex:app-server", "codex");
    assert!(exec.contains(r#""changes":[{"path":"/w/a","kind":"update"}]"#), "{exec}");
}

/// A command may end between two pieces of a text, which goes on.
#[test]
fn what_is_said_around_the_end_of_a_command_is_said_once() {
    let said = |word: &str, rest: &str| format!(r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"u",{rest}}}}}"#);
    let piece = |text: &str| said("agentMessage/delta", &format!(r#""itemId":"m","delta":"{text}""#));
    let whole = |word: &str, text: &str| said(word, &format!(r#""item":{{"type":"agentMessage","id":"m","text":"{text}"}}"#));
    let log = [
        &command("started", "inProgress", "null"),
        &whole("started", ""),
        &piece("one "),
        &command("completed", "completed", "\"a\\n\""),
        &piece("two"),
        &whole("completed", "one two"),
        ENDS,
        "",
    ]
    .join("\n");
    for to in ["claude", "acp", "openai:messages"] {
        let out = converted(&log, "codex:app-server", to);
        let texts = out.matches("one ").count() + out.matches("\"two\"").count();
        // ACP says it in its pieces; Claude's result says the answer once more.
        let wanted = if to == "openai:messages" { 1 } else { 2 };
        assert_eq!(texts, wanted, "{to}: {out}");
    }
}

#[test]
fn that_a_conversation_was_made_shorter_is_told_once() {
    let item =
        |word: &str| format!(r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"u","item":{{"type":"contextCompaction","id":"k"}}}}}}"#);
    let told = r#"{"method":"thread/compacted","params":{"threadId":"t","turnId":"u"}}"#;
    let stored = events(&[&item("started"), &item("completed"), told, ENDS, ""].join("\n"));
    assert_eq!(stored.matches("\"topic\":\"compaction\"").count(), 1, "{stored}");
}

/// The parts of a summary and those of the thought itself are counted apart.
#[test]
fn a_thought_and_its_summary_are_both_told() {
    let piece = |kind: &str, index: &str, text: &str| {
        format!(r#"{{"method":"item/reasoning/{kind}","params":{{"threadId":"t","turnId":"u","itemId":"r","delta":"{text}","{index}":0}}}}"#)
    };
    let long = piece("textDelta", "contentIndex", "long");
    let short = piece("summaryTextDelta", "summaryIndex", "short");
    let whole = r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"reasoning","id":"r","summary":["short"],"content":["long"]}}}"#;
    for log in [[&long, &short], [&short, &long]] {
        let log = [log[0], log[1], whole, ENDS, ""].join("\n");
        for to in ["claude", "openai:messages"] {
            let out = converted(&log, "codex:app-server", to);
            assert_eq!((out.matches("short").count(), out.matches("long").count()), (1, 1), "{to}: {out}");
        }
    }
}

/// What is said of a thread before the call that starts it says whose it is changes no session.
#[test]
fn news_of_a_thread_that_nobody_has_named_yet() {
    let log = [
        r#"{"method":"thread/started","params":{"thread":{"id":"t","turns":[]}}}"#,
        r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}"#,
        r#"{"method":"thread/status/changed","params":{"threadId":"k","status":{"type":"idle"}}}"#,
        r#"{"method":"warning","params":{"threadId":"k","message":"no such model"}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"m","text":"seen"}}}"#,
        ENDS,
        "",
    ]
    .join("\n");
    let mut checker = crate::check::Checker::new("codex:app-server".parse().unwrap());
    checker.feed(log.as_bytes());
    let rules: Vec<_> = checker.finish().0.into_iter().map(|finding| finding.rule).collect();
    assert!(rules.is_empty(), "{rules:?}");
}

/// A thread may begin before the call that starts it says which one it is.
#[test]
fn threads_of_agents_are_below_the_call_that_is_starting_one() {
    let spawn = |word: &str, receivers: &str| {
        format!(
            r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"u","item":{{"type":"collabAgentToolCall","id":"c","tool":"spawnAgent","status":"inProgress","senderThreadId":"t","receiverThreadIds":[{receivers}],"prompt":"look","agentsStates":{{}}}}}}}}"#
        )
    };
    let begins = |thread: &str| format!(r#"{{"method":"thread/started","params":{{"thread":{{"id":"{thread}","parentThreadId":"t","turns":[]}}}}}}"#);
    let says = |thread: &str| {
        format!(
            r#"{{"method":"item/completed","params":{{"threadId":"{thread}","turnId":"v","item":{{"type":"agentMessage","id":"m","text":"seen by {thread}"}}}}}}"#
        )
    };
    let log = [
        r#"{"method":"thread/started","params":{"thread":{"id":"t","turns":[]}}}"#,
        r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}"#,
        &spawn("started", ""),
        &begins("k"),
        &says("k"),
        &spawn("completed", r#""k""#),
        // No call has started this one: it is a session of its own.
        &begins("z"),
        &says("z"),
        &says("t"),
        ENDS,
        "",
    ]
    .join("\n");
    let claude = converted(&log, "codex:app-server", "claude");
    let line = |text: &str| claude.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{claude}"));
    assert!(line("seen by k").contains(r#""parent_tool_use_id":"c""#), "{claude}");
    assert!(line("seen by t").contains(r#""session_id":"t""#), "{claude}");
    assert!(line("seen by z").contains(r#""session_id":"z""#), "{claude}");
    assert_eq!(claude.matches(r#""subtype":"init""#).count(), 2, "{claude}");
}

#[test]
fn images_of_prompts_and_results_are_images_elsewhere() {
    let log = [
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"userMessage","id":"p","content":[{"type":"text","text":"ask","text_elements":[]},{"type":"image","url":"data:image/png;base64,QUJD"}]}}}"#,
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"dynamicToolCall","id":"d","tool":"look","arguments":{},"status":"completed","contentItems":[{"type":"inputImage","imageUrl":"data:image/png;base64,QUJD"}],"success":true}}}"#,
        ENDS,
        "",
    ]
    .join("\n");
    let claude = converted(&log, "codex:app-server", "claude");
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    assert_eq!(claude.matches(image).count(), 2, "{claude}");
    let back = converted(&claude, "claude", "codex:app-server");
    assert!(
        back.contains(r#"{"type":"image","url":"data:image/png;base64,QUJD"}"#) && back.contains(r#""imageUrl":"data:image/png;base64,QUJD""#),
        "{back}"
    );
}

/// What was said of a reply that was cut off stays an item, unless the reply that is fetched again says the same.
#[test]
fn a_reply_that_was_given_up_is_an_item_of_its_own() {
    let line = |rest: &str| format!("{{{rest},\"session_id\":\"s\",\"parent_tool_use_id\":null}}\n");
    let event = |event: &str| line(&format!("\"type\":\"stream_event\",\"event\":{event}"));
    let cut = |id: &str| {
        [
            event(&format!(
                "{{\"type\":\"message_start\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\"}}}}"
            )),
            event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#),
            event(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"This will be"}}"#),
            event(r#"{"type":"content_block_stop","index":0}"#),
            line(&format!(
                r#""type":"stream_event","event":{{"type":"message_stop"}},"abandoned_blocks":{{"api_message_id":"{id}","from_block_index":0}}"#
            )),
        ]
        .concat()
    };
    let whole = |text: &str| {
        line(&format!(
            r#""type":"assistant","message":{{"id":"m3","type":"message","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
        ))
    };
    let cut_text = "This will be";
    for (text, pieces, items) in [
        ("Lost.", vec![cut_text, cut_text, "Lost."], vec![cut_text, cut_text, "Lost."]),
        (cut_text, vec![cut_text, cut_text], vec![cut_text, cut_text]),
        (
            "This will be said.",
            vec![cut_text, cut_text, " said."],
            vec![cut_text, "This will be said."],
        ),
    ] {
        let log = cut("m1") + &cut("m2") + &whole(text);
        let out = converted(&log, "claude", "codex:app-server");
        let of = |method: &str, path: &str| -> Vec<String> {
            let all = out
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON"));
            let these = all.filter(|line| line["method"] == method);
            these
                .map(|line| line.pointer(path).and_then(|text| text.as_str()).unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(of("item/agentMessage/delta", "/params/delta"), pieces, "{out}");
        assert_eq!(of("item/completed", "/params/item/text"), items, "{out}");
        let mut checker = crate::check::Checker::new("codex:app-server".parse().unwrap());
        checker.feed(out.as_bytes());
        let (findings, _) = checker.finish();
        assert!(findings.iter().all(|finding| finding.rule.name() != "deltas-differ"), "{findings:?}");
    }
}

/// It is one call, whose result comes with the turn in which it ends.
#[test]
fn a_command_that_outlives_its_turn_is_one_call() {
    let begins =
        |turn: &str| format!(r#"{{"method":"turn/started","params":{{"threadId":"t","turn":{{"id":"{turn}","items":[],"status":"inProgress"}}}}}}"#);
    let log = [
        &begins("u"),
        &command("started", "inProgress", "null"),
        ENDS,
        &begins("v"),
        &command("completed", "completed", "\"over\\n\""),
        &ENDS.replace("\"u\"", "\"v\""),
        "",
    ]
    .join("\n");
    let claude = converted(&log, "codex:app-server", "claude");
    assert_eq!(claude.matches("\"type\":\"tool_use\"").count(), 1, "{claude}");
    assert_eq!(claude.matches("\"type\":\"tool_result\"").count(), 1, "{claude}");
    let result = claude.lines().position(|line| line.contains("tool_result")).unwrap();
    let end = claude.lines().position(|line| line.contains("\"type\":\"result\"")).unwrap();
    assert!(result > end, "{claude}");
}

/// What was said of it when the model is called again is said anew; what was whole before that stays.
#[test]
fn a_reply_that_breaks_off_and_is_fetched_again_is_said_once() {
    let said = |word: &str, id: &str, text: &str| {
        format!(r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"u","item":{{"type":"agentMessage","id":"{id}","text":"{text}"}}}}}}"#)
    };
    let piece = |id: &str, text: &str| {
        format!(r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"t","turnId":"u","itemId":"{id}","delta":"{text}"}}}}"#)
    };
    let again = r#"{"method":"error","params":{"error":{"message":"Reconnecting... 1/5"},"willRetry":true,"threadId":"t","turnId":"u"}}"#;
    let log = [
        r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"inProgress"}}}"#,
        &said("started", "m1", ""),
        &piece("m1", "Whole. "),
        &said("completed", "m1", "Whole. "),
        &said("started", "m2", ""),
        &piece("m2", "It breaks"),
        again,
        again,
        &said("started", "m3", ""),
        &piece("m3", "It breaks off no more."),
        &said("completed", "m3", "It breaks off no more."),
        ENDS,
        "",
    ]
    .join("\n");
    let claude = converted(&log, "codex:app-server", "claude");
    assert_eq!(claude.matches("Whole. ").count(), 1, "{claude}");
    assert!(!claude.contains("It breaks\""), "{claude}");
    assert_eq!(claude.matches("\"text\":\"It breaks off no more.").count(), 1, "{claude}");
    assert_eq!(claude.matches("\"type\":\"result\"").count(), 1, "{claude}");
}

#[test]
fn images_and_what_a_search_found_are_results() {
    let item = |item: &str| {
        format!(
            r#"{{"method":"thread/started","params":{{"thread":{{"id":"t","sessionId":"t","cwd":"/w","cliVersion":"0.171.0"}}}}}}
{{"method":"turn/started","params":{{"threadId":"t","turn":{{"id":"u","items":[],"status":"inProgress","error":null}}}}}}
{{"method":"item/completed","params":{{"item":{item},"threadId":"t","turnId":"u","completedAtMs":1}}}}
{{"method":"turn/completed","params":{{"threadId":"t","turn":{{"id":"u","items":[],"status":"completed","error":null}}}}}}
"#
        )
    };
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    for (said, texts) in [
        (
            r#"{"type":"imageGeneration","id":"i","status":"completed","revisedPrompt":"a cat","failure":null,"savedPath":"/w/a.png","generationId":null,"result":"QUJD"}"#,
            vec![r#""name":"image_generation","input":{"prompt":"a cat"}"#, "/w/a.png", image],
        ),
        (
            r#"{"type":"imageGeneration","id":"i","status":"failed","revisedPrompt":null,"failure":{"code":"c","message":"no cats"},"generationId":null,"result":""}"#,
            vec![r#""name":"image_generation","input":{}"#, "no cats", r#""is_error":true"#],
        ),
        (
            r#"{"type":"imageView","id":"i","path":"/w/a.png"}"#,
            vec![r#""name":"view_image","input":{"path":"/w/a.png"}"#],
        ),
        (
            r#"{"type":"webSearch","id":"i","query":"cats","action":null,"results":[{"title":"Cats","url":"https://e.org/cats"}]}"#,
            vec!["Cats", "https://e.org/cats"],
        ),
    ] {
        let log = item(said);
        let claude = converted(&log, "codex:app-server", "claude");
        for text in texts {
            assert!(claude.contains(text), "{text}\n{claude}");
        }
        let events = converted(&log, "codex:app-server", "agentglot");
        assert_eq!(converted(&events, "agentglot", "codex:app-server"), log);
    }
}
