//! The protocol's messages, read and written.

use crate::testing::{converted, kept, traced};

/// The events of a log, without the header.
fn events(log: &str) -> Vec<String> {
    let text = kept(log, "acp", "agentglot");
    text.lines()
        .skip(1)
        .filter(|line| !line.starts_with("{\"spelling\""))
        .map(str::to_owned)
        .collect()
}

fn has(events: &[String], words: &[&str]) -> usize {
    events.iter().filter(|event| words.iter().all(|word| event.contains(word))).count()
}

const PROMPT: &str = r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}"#;
const ASKS: &str = r#"{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute","title":"ls"},"options":[{"optionId":"x","name":"No","kind":"reject_once"}]}}"#;

/// Both sides have asked under one id: bare answers are told apart by what they say, and by who asked last.
#[test]
fn ids_that_collide_are_different_questions() {
    let refused = r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"selected","optionId":"x"}}}"#;
    let over = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let found = events(&[PROMPT, ASKS, refused, over].join("\n"));
    assert_eq!(has(&found, &["\"input\":\"response\"", "\"deny\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"outcome\"", "\"success\""]), 1, "{found:#?}");
    // An error says nothing about who: the later question is answered first.
    let unknown = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#;
    let failed = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no model"}}"#;
    let found = events(&[PROMPT, ASKS, unknown, failed].join("\n"));
    assert_eq!(has(&found, &["\"input\":\"response\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"outcome\"", "failed_model", "no model"]), 1, "{found:#?}");
}

#[test]
fn answers_to_nobody_end_nothing() {
    let found = events(&[PROMPT, r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"x"}}"#].join("\n"));
    assert_eq!(has(&found, &["\"event\":\"response\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"outcome\"", "\"synthetic\":true"]), 1, "{found:#?}");
}

/// The question introduces the call, whose name and arguments are what is shown of it.
#[test]
fn a_question_introduces_its_call() {
    let result = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a b"}}]}}}"#;
    let found = events(&[PROMPT, ASKS, result].join("\n"));
    assert_eq!(
        has(&found, &["\"type\":\"call\"", "\"name\":\"execute\"", "{\"command\":\"ls\"}"]),
        1,
        "{found:#?}"
    );
    assert_eq!(has(&found, &["\"event\":\"tool_result\"", "\"a b\""]), 1, "{found:#?}");
}

/// Gemini CLI's in plan mode: it says why a call may not be, and nothing more of it.
#[test]
fn a_call_that_never_begins_has_what_it_shows_as_its_result() {
    let shows = |status: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call_update","toolCallId":"c","name":"write_file","kind":"edit","status":"{status}","content":[{{"type":"content","content":{{"type":"text","text":"Access denied"}}}}]}}}}}}"#
        )
    };
    let over = |why: &str| format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"stopReason":"{why}"}}}}"#);
    let results = |log: &[&str]| has(&events(&log.join("\n")), &["\"event\":\"tool_result\"", "Access denied", "\"error\""]);
    assert_eq!(results(&[PROMPT, &shows("pending"), &over("end_turn")]), 1);
    // What runs may go on in the background, what was stopped is told so, and whose question was answered is another's business.
    assert_eq!(results(&[PROMPT, &shows("in_progress"), &over("end_turn")]), 0);
    assert_eq!(results(&[PROMPT, &shows("pending"), &over("cancelled")]), 0);
    let allowed = r#"{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"selected","optionId":"x"}}}"#;
    assert_eq!(results(&[PROMPT, ASKS, allowed, &shows("pending"), &over("end_turn")]), 0);
}

/// Calls are written as editors need them: announced, running, done; changes as diffs.
#[test]
fn calls_are_written_in_steps() {
    let log = [
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","permissionMode":"default","uuid":"1"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/w/a","old_string":"x","new_string":"y"}}]},"session_id":"s","uuid":"2"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done","is_error":true}]},"session_id":"s","uuid":"3"}"#,
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"session_id":"s","uuid":"4"}"#,
    ]
    .join("\n");
    let out = kept(&log, "claude", "acp");
    let place = |words: &str| out.find(words).unwrap_or_else(|| panic!("{words} in {out}"));
    let steps = [
        r#""status":"pending""#,
        r#""content":[{"type":"diff","path":"/w/a","oldText":"x","newText":"y"}]"#,
        r#""status":"in_progress""#,
        r#""status":"failed""#,
        r#""stopReason":"max_turn_requests""#,
    ];
    assert!(steps.map(place).is_sorted(), "{out}");
    // It is read as the same, and written as it was.
    assert_eq!(kept(&kept(&out, "acp", "agentglot"), "agentglot", "acp"), out);
}

/// Whatever it is, it is told or kept.
#[test]
fn rubbish_is_kept() {
    for line in [
        "not json",
        "[]",
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"dir":"x","msg":{}}"#,
        r#"{"dir":"a2c","ms":1,"msg":[]}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"session/update","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"brand_new"}}}"#,
        r#"{"jsonrpc":"2.0","method":"_x/y"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}"#,
    ] {
        let log = format!("{line}\n");
        let stored = kept(&log, "acp", "agentglot");
        assert_eq!(kept(&stored, "agentglot", "acp"), log, "{stored}");
    }
}

/// Of what was said before a session was loaded nobody says how it ended: each turn ends once, and that is marked.
#[test]
fn turns_that_are_said_again_end_once_each() {
    let says = |word: &str, message: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"{word}","messageId":"{message}","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        )
    };
    let load = r#"{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}"#;
    let again = [
        says("user_message_chunk", "", "one, "),
        says("user_message_chunk", "", "in pieces"),
        says("agent_message_chunk", "", "first"),
        says("user_message_chunk", "u2", "two, stopped"),
        says("user_message_chunk", "u3", "three"),
        says("agent_message_chunk", "", "third"),
    ];
    let ends = |log: &[&str]| has(&events(&log.join("\n")), &["\"event\":\"outcome\"", "\"synthetic\":true"]);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let loaded = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(ends(&[&[load], &again[..], &[loaded]].concat()), 3);
    // Cut off, prompted before the answer, and without the host's side.
    assert_eq!(ends(&[&[load], &again[..]].concat()), 3);
    assert_eq!(ends(&[&[load], &again[..], &[PROMPT]].concat()), 4);
    assert_eq!(ends(&again), 3);
    let found = kept(&[&[load], &again[..], &[loaded]].concat().join("\n"), "acp", "claude");
    assert_eq!(found.matches("\"type\":\"result\"").count(), 3, "{found}");
    assert_eq!(found.matches("\"synthetic\":true").count(), 3, "{found}");
}

/// That the model's API wants other credentials has a number of its own.
#[test]
fn credentials_that_are_missing_have_a_number() {
    for (word, code) in [("authentication_failed", "-32000"), ("rate_limit", "-32603")] {
        let text = "\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"API Error\"}]}";
        let reply = format!("{{\"type\":\"assistant\",{text},\"error\":\"{word}\"}}");
        let result = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error"}"#;
        let written = kept(&[&reply, result].join("\n"), "claude", "acp");
        assert!(written.contains(&format!("\"error\":{{\"code\":{code},")), "{written}");
    }
}

/// Arguments may come when the call runs already, and other calls, texts and results in between: each call is told with what it is called
/// with, where it was first spoken of.
#[test]
fn arguments_that_come_late_are_the_calls() {
    let update = |rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"A","update":{{{rest}}}}}}}
"#
        )
    };
    let begins = |id: &str, status: &str| {
        update(&format!(
            r#""sessionUpdate":"tool_call","toolCallId":"{id}","status":"{status}","title":"bash","name":"bash","kind":"execute","rawInput":{{}}"#
        ))
    };
    let says = |id: &str, input: &str| {
        update(&format!(
            r#""sessionUpdate":"tool_call_update","toolCallId":"{id}","rawInput":{{"command":"{input}"}}"#
        ))
    };
    let ends = |id: &str| {
        update(&format!(
            r#""sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"completed","content":[{{"type":"content","content":{{"type":"text","text":"out {id}"}}}}]"#
        ))
    };
    let text = update(r#""sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"caf\u00e9"}"#);
    // What stands in the log one behind the other is said so, whatever of it was known when.
    let holds = |log: &str, said: &[&str]| {
        for to in ["claude", "qwen-code", "openai:messages"] {
            let out = converted(log, "acp", to);
            let mut rest = out.as_str();
            // A list says the text of a reply before its calls.
            for said in said.iter().filter(|said| to != "openai:messages" || !said.contains("caf")) {
                let at = rest.find(said).unwrap_or_else(|| panic!("{to}: {said} is not in its place in {out}"));
                rest = &rest[at + said.len()..];
            }
            // Stored events are those of the log.
            let stored = kept(log, "acp", "agentglot");
            assert_eq!(converted(&stored, "agentglot", to), out, "{stored}");
            assert_eq!(kept(&stored, "agentglot", "acp"), log);
        }
    };
    // A call that is alone, and one that takes no arguments.
    for (late, said) in [(says("c1", "late"), "late"), (String::new(), "bash")] {
        let log = begins("c1", "pending") + &begins("c1", "in_progress").replace("tool_call\"", "tool_call_update\"") + &late + &ends("c1");
        holds(&log, &[said, "out c1"]);
    }
    let log = begins("c1", "pending")
        + &begins("c2", "in_progress")
        + &text
        + &begins("c3", "in_progress")
        + &says("c3", "three")
        + &ends("c3")
        + &says("c1", "on")
        + &says("c2", "two")
        + &says("c1", "one")
        + &ends("c2")
        + &ends("c1");
    holds(&log, &["one", "two", "caf\\u00e9", "three", "out c3", "out c2", "out c1"]);
    // A turn that ends, or a log that is cut off, leaves nothing untold.
    holds(
        &(begins("c1", "pending") + &text + &begins("c2", "pending") + &says("c2", "two")),
        &["c1", "caf", "two"],
    );
}

#[test]
fn what_blocks_hold_is_said_in_the_targets_words() {
    const LOG: &str = r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"A","prompt":[{"type":"text","text":"look"},{"type":"audio","mimeType":"audio/wav","data":"AAAA"},{"type":"resource","resource":{"uri":"file:///a.txt","text":"in a file"}},{"type":"resource","resource":{"uri":"file:///b","blob":"QkJC"}},{"type":"resource_link","uri":"file:///c","name":"c"}]}}
{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
"#;
    for to in ["claude", "claude:transcript"] {
        let (out, ledger) = traced(LOG, "acp", to);
        assert!(out.contains(r#"{"type":"text","text":"in a file"}"#), "{to}: {out}");
        for (gone, at) in [("audio", 1), ("QkJC", 3), ("resource_link", 4)] {
            assert!(!out.contains(gone), "{to}: {out}");
            assert!(
                ledger.contains(&format!("\"pointer\":\"/params/prompt/{at}\",\"fate\":\"dropped\"")),
                "{to}: {ledger}"
            );
        }
    }
}

/// An answer that nobody asked for ends no turn: neither the one that runs nor the one before.
#[test]
fn an_answer_to_nobody_ends_no_turn() {
    let log = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}
{"jsonrpc":"2.0","id":7,"result":{"stopReason":"cancelled"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"done"}}}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
"#;
    let claude = kept(log, "acp", "claude");
    assert_eq!(claude.matches("\"type\":\"result\"").count(), 1, "{claude}");
    assert!(claude.contains("\"subtype\":\"success\""), "{claude}");
    // Of the agent's side alone nobody knows what was asked.
    let alone: String = log.lines().skip(4).take(2).map(|line| format!("{line}\n")).collect();
    assert!(kept(&alone, "acp", "claude").contains("\"result\":\"done\""));
}

const TWICE: &str = r#"
{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","permissionMode":"default","claude_code_version":"2.1.329","uuid":"a"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Frob","input":{"n":1}}]},"session_id":"s","uuid":"b"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"one"}]},"session_id":"s","uuid":"d"}
{"type":"assistant","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Frob","input":{"n":2}}]},"session_id":"s","uuid":"e"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"two"}]},"session_id":"s","uuid":"f"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"num_turns":2,"result":"","session_id":"s","uuid":"g"}
"#;

/// What an agent says again of a session that began in this log stands there already; of another one it is all that there is.
#[test]
fn what_is_said_again_of_a_session_of_this_log_is_said_once() {
    let new = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#;
    let opened = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#;
    let says =
        |rest: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{rest}}}}}}}"#);
    let call = says(r#""tool_call","toolCallId":"c","title":"ls","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"a""#);
    let text = says(r#""agent_message_chunk","content":{"type":"text","text":"done"}"#);
    let user = says(r#""user_message_chunk","content":{"type":"text","text":"go"}"#);
    let over = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let load = r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}"#;
    let again: [&str; 5] = [load, &user, &call, &text, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#];
    let init = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    let whole = [&[init, new, opened, PROMPT, &call, &text, over, init][..], &again].concat().join("\n");
    let found = events(&whole);
    assert_eq!(
        has(&found, &["\"event\":\"prompt\""]) + has(&found, &["\"input\":\"prompt\""]),
        1,
        "{found:#?}"
    );
    assert_eq!(has(&found, &["\"event\":\"outcome\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"type\":\"call\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"session\""]), 2, "{found:#?}");
    let found = events(&again.join("\n"));
    assert_eq!(has(&found, &["\"type\":\"call\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"prompt\""]), 1, "{found:#?}");
}

/// Editors know a call by its id for as long as its session goes on.
#[test]
fn no_two_calls_have_the_same_id() {
    let (log, ledger) = traced(TWICE, "claude", "acp");
    let ids: Vec<&str> = log.split("\"toolCallId\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(ids, ["c", "c", "c", "c-2", "c-2", "c-2"], "{log}");
    assert!(ledger.contains("another call of the session has its id"), "{ledger}");
    let back = kept(&log, "acp", "openai:messages");
    assert_eq!((back.matches("\"c-2\"").count(), back.matches("\"c\"").count()), (2, 2), "{back}");
}

/// What is called a call when the call of its id is over is another one.
#[test]
fn an_id_that_comes_again_is_another_call() {
    let log = kept(TWICE, "claude", "acp").replace("c-2", "c");
    let found = events(&log);
    for n in ["\"input\":{\"n\":1}", "\"input\":{\"n\":2}"] {
        assert_eq!(has(&found, &["\"event\":\"reply\"", n]), 1, "{found:#?}");
    }
    assert_eq!(has(&found, &["\"event\":\"tool_result\""]), 2, "{found:#?}");
    assert_eq!(kept(&kept(&log, "acp", "agentglot"), "agentglot", "acp"), log);
}

/// Calls keep their order, and those of one reply stand before what comes of any of them, also where one has no arguments.
#[test]
fn calls_of_a_reply_keep_their_order() {
    let update =
        |update: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{update}}}}}}}"#);
    let call = |id: &str, input: &str| {
        update(&format!(
            r#""tool_call","toolCallId":"{id}","title":"Frob","status":"pending","rawInput":{input},"name":"Frob""#
        ))
    };
    let done = |id: &str| update(&format!(r#""tool_call_update","toolCallId":"{id}","status":"completed""#));
    for results in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]] {
        let mut lines = vec![PROMPT.to_owned(), call("a", "{}"), call("b", "{}"), call("c", r#"{"x":1}"#)];
        lines.extend(results.map(done));
        let out = converted(&(lines.join("\n") + "\n"), "acp", "claude");
        let at = |kind: &str, id: &str| out.find(&format!("\"{kind}\":\"{id}\""));
        let calls = ["a", "b", "c"].map(|id| at("id", id));
        assert!(calls[0].is_some() && calls.is_sorted(), "{out}");
        let ended = results.map(|id| at("tool_use_id", id));
        assert!(calls[2] < ended[0] && ended.is_sorted(), "{out}");
    }
}

/// What this protocol's reader did not understand is no block, whatever it is called.
#[test]
fn a_text_without_text_is_no_block_elsewhere() {
    let said = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":0}}}}"#;
    let claude = kept(&[PROMPT, said].join("\n"), "acp", "claude");
    assert!(!claude.contains(r#""text":0"#), "{claude}");
}

/// A host may change the mode while the agent speaks: the text is one, for it and for readers of the log.
#[test]
fn facts_that_change_in_a_reply_do_not_end_it() {
    let opened = [
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","modes":{"currentModeId":"a","availableModes":[]}}}"#,
        PROMPT,
    ];
    let says = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        )
    };
    let change = [
        r#"{"jsonrpc":"2.0","id":7,"method":"session/set_mode","params":{"sessionId":"s","modeId":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
    ];
    let over = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let log = [&opened[..], &[&says("one ")], &change, &[&says("text"), over]].concat().join("\n");
    let found = kept(&log, "acp", "claude");
    assert_eq!(found.matches("\"type\":\"assistant\"").count(), 1, "{found}");
    assert_eq!(found.matches("\"text\":\"one text\"").count(), 1, "{found}");
    assert_eq!(found.matches("\"result\":\"one text\"").count(), 1, "{found}");
}

/// A call goes on when its turn is over: what came of it is that call's, and no other one.
#[test]
fn a_result_behind_the_turn_is_of_the_call_that_waits_for_it() {
    let call = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"sleep","kind":"execute","status":"in_progress","rawInput":{"command":"sleep 9"}}}}"#;
    let over = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let late = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"late"}}]}}}"#;
    let next = PROMPT.replace("\"id\":3", "\"id\":4");
    let end = over.replace("\"id\":3", "\"id\":4");
    let log = [PROMPT, call, over, late, &next, &end, ""].join("\n");
    let found = events(&log);
    assert_eq!(has(&found, &["\"type\":\"call\""]), 1, "{found:#?}");
    assert_eq!(has(&found, &["\"event\":\"tool_result\"", "late"]), 1, "{found:#?}");
    for to in ["claude", "qwen", "cursor", "codex:rollout"] {
        let out = kept(&log, "acp", to);
        assert!(out.contains("late") && !out.contains("unknown\",\"input"), "{to}\n{out}");
    }
    // There a result follows its call, which is told again.
    let tricode = kept(&log, "acp", "tricode");
    assert_eq!(tricode.matches("\"tool_call\", \"name\": \"run_command\"").count(), 2, "{tricode}");
    // Another turn's call has the id: it is another one.
    let again = [PROMPT, call, over, &next, call, &end, ""].join("\n");
    let found = events(&again);
    assert_eq!(has(&found, &["\"type\":\"call\""]), 2, "{found:#?}");
    for log in [&log, &again] {
        assert_eq!(kept(&kept(log, "acp", "agentglot"), "agentglot", "acp"), **log);
    }
}

/// A call is told behind one that was spoken of before it: what is shown of a file are its arguments there too.
#[test]
fn a_diff_goes_over_as_arguments_behind_a_call_that_waits() {
    let update = |update: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#);
    let first = update(r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"x","kind":"execute","status":"pending","rawInput":{}}"#);
    let second = update(
        r#"{"sessionUpdate":"tool_call","toolCallId":"b","title":"y","kind":"edit","status":"in_progress","content":[{"type":"diff","path":"/w/f","oldText":"before","newText":"behind"}]}"#,
    );
    let runs = update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"command":"ls"}}"#);
    let over = r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#;
    let log = [PROMPT, &first, &second, &runs, over, ""].join("\n");
    for to in ["qwen", "codex:rollout", "atif", "ag-ui"] {
        let (out, ledger) = traced(&log, "acp", to);
        assert!(out.contains("before") && out.contains("behind"), "{to}\n{out}");
        let mut lines = ledger.lines().filter(|line| line.contains("\"line\":3,") && line.contains("\"dropped\""));
        assert!(!lines.any(|line| line.contains("content\"") || line.contains("Text\"")), "{to}\n{ledger}");
    }
}

/// A turn may have any number of calls, and those that nobody ends are not all remembered; each is told.
#[test]
fn calls_of_a_long_turn_are_told_and_forgotten() {
    let call = |at: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"c{at}","title":"ls","status":"pending"}}}}}}"#
        )
    };
    let ends = |at: usize| call(at).replace("\"tool_call\"", "\"tool_call_update\"").replace("pending", "completed");
    let mut log = vec![PROMPT.to_owned()];
    log.extend((0..3000).map(call));
    log.extend([ends(2999), ends(0)]);
    let found = events(&log.join("\n"));
    assert_eq!(has(&found, &["\"type\":\"call\"", "\"c1500\""]), 1);
    assert_eq!(has(&found, &["\"type\":\"call\"", "\"c2999\""]), 1);
    // Nobody knows any more that it began.
    assert_eq!(has(&found, &["\"type\":\"call\"", "\"c0\""]), 2);
    // One that has not ended is remembered longer than those that have.
    let mut log = vec![PROMPT.to_owned(), call(0)];
    log.extend((1..3000).flat_map(|at| [call(at), ends(at)]));
    log.push(ends(0));
    let found = events(&log.join("\n"));
    assert_eq!(has(&found, &["\"type\":\"call\"", "\"c0\""]), 1);
    assert_eq!(has(&found, &["\"event\":\"tool_result\""]), 3000);
}

/// Gemini CLI passes on how its model's API has answered.
#[test]
fn the_number_of_an_error_may_be_a_status() {
    let status = |code: i32| {
        let failed = format!(r#"{{"jsonrpc":"2.0","id":3,"error":{{"code":{code},"message":"slow down"}}}}"#);
        let out = converted(&format!("{PROMPT}\n{failed}\n"), "acp", "claude");
        out.contains(r#""api_error_status":429"#)
    };
    assert_eq!([429, -32603].map(status), [true, false]);
}

#[test]
fn a_prompt_that_was_cancelled_and_has_an_error_as_its_answer_was_cancelled() {
    let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
    let failed = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal service failure"}}"#;
    let cancelled = |log: &[&str]| has(&events(&log.join("\n")), &["\"event\":\"outcome\"", "\"cancelled\""]);
    assert_eq!(cancelled(&[PROMPT, cancel, failed]), 1);
    // One that comes between two turns is of neither.
    assert_eq!(cancelled(&[cancel, PROMPT, failed]), 0);
}

#[test]
fn images_that_a_call_shows_are_its_result() {
    let log = |content: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{{"sessionId":"s","prompt":[{{"type":"text","text":"go"}}]}}}}
{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call","toolCallId":"c","title":"look","kind":"other","name":"look","status":"pending","rawInput":{{"x":1}}}}}}}}
{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed",{content}}}}}}}
{{"jsonrpc":"2.0","id":1,"result":{{"stopReason":"end_turn"}}}}
"#
        )
    };
    let image = r#"{"type":"content","content":{"type":"image","mimeType":"image/png","data":"QUJD"}}"#;
    let source = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#;
    let document = r#"{"type":"content","content":{"type":"resource","resource":{"uri":"file:///a","mimeType":"application/pdf","blob":"REVG"}}}"#;
    let text = r#"{"type":"content","content":{"type":"text","text":"seen"}}"#;
    for (content, wanted) in [
        (
            format!(r#""content":[{text},{image}]"#),
            format!(r#"[{{"type":"text","text":"seen"}},{source}]"#),
        ),
        (format!(r#""content":[{image}]"#), format!("[{source}]")),
        (
            format!(r#""content":[{image}],"rawOutput":"seen""#),
            format!(r#"[{{"type":"text","text":"seen"}},{source}]"#),
        ),
        (
            format!(r#""content":[{document}]"#),
            r#"[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"REVG"}}]"#.to_owned(),
        ),
    ] {
        let claude = converted(&log(&content), "acp", "claude");
        assert!(claude.contains(&wanted), "{wanted}\n{claude}");
    }
}

#[test]
fn documents_are_resources_and_addresses_are_links() {
    let image = r#"{"type":"image","source":{"type":"url","url":"https://e.org/a.png"}}"#;
    let document = r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"REVG"}}"#;
    let log = format!(
        r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","claude_code_version":"2.1.0","uuid":"1"}}
{{"type":"user","message":{{"role":"user","content":[{{"type":"text","text":"go"}},{image},{document}]}},"session_id":"s","uuid":"2","isReplay":true}}
"#
    );
    let acp = converted(&log, "claude", "acp");
    for text in [
        r#"{"type":"resource_link","uri":"https://e.org/a.png","name":"https://e.org/a.png"}"#,
        r#"{"type":"resource","resource":{"uri":"attachment:document","mimeType":"application/pdf","blob":"REVG"}}"#,
    ] {
        assert!(acp.contains(text), "{text}\n{acp}");
    }
}
