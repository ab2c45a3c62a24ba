use std::sync::LazyLock;

use crate::convert::Options;
use crate::detect::{Answer, Detector};
use crate::json::Raw;
use crate::testing::{damage, format, golden, kept, traced, with};

static MESSAGES: LazyLock<String> = LazyLock::new(|| golden("openai/messages.jsonl"));

#[test]
fn it_is_given_back_byte_for_byte() {
    for log in [MESSAGES.to_owned(), MESSAGES.repeat(2)] {
        assert_eq!(kept(&log, "openai:messages", "openai:messages"), log);
        let events = kept(&log, "openai:messages", "agentglot");
        assert_eq!(kept(&events, "agentglot", "openai:messages"), log);
    }
}

#[test]
fn what_events_say_is_written_anew() {
    let events = kept(&MESSAGES, "openai:messages", "agentglot");
    let edited = kept(
        &events.replace("4 °C in Oslo, 7 °C", "5 °C in Oslo, 7 °C"),
        "agentglot",
        "openai:messages",
    );
    let wanted = MESSAGES.replace("4 °C in Oslo", "5 °C in Oslo");
    assert_eq!(edited.lines().count(), wanted.lines().count());
    for (line, wanted) in edited.lines().zip(wanted.lines()) {
        assert!(Raw::trusted(line).same_value(Raw::trusted(wanted)), "{line}\n{wanted}");
    }
}

/// What stands in several messages stays in several, and a refusal is one.
#[test]
fn messages_stay_apart() {
    let log = concat!(
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"one"},{"role":"assistant","content":"two"},"#,
        r#"{"role":"assistant","content":null,"refusal":"No."}]}"#,
        "\n"
    );
    let events = kept(log, "openai:messages", "agentglot");
    let edited = kept(&events.replace("\"one\"", "\"first\""), "agentglot", "openai:messages");
    assert_eq!(edited, log.replace("\"one\"", "\"first\""));
}

/// A prompt and its completion are a session too, as texts or as messages.
#[test]
fn a_pair_is_a_session() {
    let texts = r#"{"prompt":"2+2?","completion":"4"}"#.to_owned() + "\n";
    let lists = r#"{"prompt":[{"role":"user","content":"2+2?"}],"completion":[{"role":"assistant","content":"4"}]}"#.to_owned() + "\n";
    for log in [texts, lists] {
        let (out, ledger) = traced(&log, "openai:messages", "claude");
        assert_eq!(out.matches("\"result\":\"4\"").count(), 1, "{out}");
        assert_eq!(out.matches("2+2?").count(), 1, "{out}");
        assert!(!ledger.contains("\"dropped\""), "{ledger}");
        let found = Detector::new(false).look(log.as_bytes(), true);
        assert!(
            matches!(&found, Answer::Found(found) if found.format == format("openai:messages")),
            "{found:?}"
        );
        let events = kept(&log, "openai:messages", "agentglot");
        assert_eq!(kept(&events, "agentglot", "openai:messages"), log);
    }
}

/// The API takes images from the user only.
#[test]
fn what_the_model_shows_has_no_place() {
    let log = CLAUDE.replace(
        r#"{"type":"text","text":"Done."}"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"text","text":"Done."}"#,
    );
    let (line, ledger) = traced(&log, "claude", "openai:messages");
    assert!(line.contains(r#"{"role":"assistant","content":"Done."}"#), "{line}");
    assert!(ledger.contains(r#""line":6,"pointer":"/message/content/0","fate":"dropped""#), "{ledger}");
}

#[test]
fn ids_that_are_made_up_are_no_others() {
    let log = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"x"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"y"}]}"#;
    let claude = kept(log, "openai:messages", "claude");
    assert_eq!(claude.matches(r#""id":"call_1""#).count(), 1, "{claude}");
    assert_eq!(claude.matches(r#""tool_use_id":"call_1""#).count(), 1, "{claude}");
}

/// Data sets have columns of any name beside the list.
#[test]
fn a_session_with_other_columns_is_recognised() {
    let found = |more: &str| {
        let line = format!(r#"{{"id":"7",{more},"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":"b"}}]}}"#);
        match Detector::new(false).look(line.as_bytes(), true) {
            Answer::Found(found) => found.format.to_string(),
            _ => String::new(),
        }
    };
    for more in [r#""source":"x""#, r#""metadata":{"a":1}"#, r#""prompt":"a""#] {
        assert_eq!(found(more), "openai:messages", "{more}");
    }
    assert_eq!(found(r#""model":"m""#), "qwen", "a request of an agent");
}

#[test]
fn a_session_behind_the_log_of_an_agent_is_read() {
    let options = Options {
        follow: true,
        ..Options::new(format("claude"), format("agentglot"))
    };
    let events = with(&format!("{CLAUDE}{}", *MESSAGES), options);
    assert_eq!(events.matches("\"event\":\"session\"").count(), 1 + MESSAGES.lines().count(), "{events}");
}

/// APIs take objects only.
#[test]
fn arguments_are_objects_for_others() {
    for (said, wanted) in [("[1,2]", r#"{"input":[1,2]}"#), (r#"{\"a\":"#, r#"{"input":"{\"a\":"}"#), ("{}", "{}")] {
        let log = format!(
            r#"{{"messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c2","type":"function","function":{{"name":"g","arguments":"{said}"}}}}]}},{{"role":"tool","tool_call_id":"c2","content":"x"}}]}}"#
        );
        for (to, name) in [
            ("claude", "input"),
            ("claude:transcript", "input"),
            ("gemini:chat", "args"),
            ("qwen-code:chat", "args"),
        ] {
            let written = kept(&log, "openai:messages", to);
            assert!(written.contains(&format!("\"{name}\":{wanted}")), "{to}: {written}");
        }
    }
}

/// The forms of images are those of all dialects.
#[test]
fn images_of_other_dialects_are_images() {
    let codex = concat!(
        r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","originator":"x","cli_version":"1"}}"#,
        "\n",
        r#"{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}}"#,
        "\n",
    );
    let line = kept(codex, "codex:rollout", "openai:messages");
    assert!(
        line.contains(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#),
        "{line}"
    );
    let claude = kept(codex, "codex:rollout", "claude");
    assert!(
        claude.contains(r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#),
        "{claude}"
    );
}

/// What a repair adds stands inside of the session, not behind it.
#[test]
fn a_repair_adds_results() {
    for (name, log, added) in [
        (
            "openai:messages",
            r#"{"messages":[{"role":"user","content":"q","a":1},{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"user","content":"q2"},{"role":"assistant","content":"x"}]}"#,
            r#"{"role":"tool","tool_call_id":"c2","content":"The tool call was interrupted"#,
        ),
        (
            "sharegpt",
            r#"{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"{\"name\": \"g\", \"arguments\": {}}"},{"from":"human","value":"q2","a":1},{"from":"gpt","value":"x"}]}"#,
            r#"{"from":"observation","value":"The tool call was interrupted"#,
        ),
        (
            "atif",
            r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"x","version":"1"},"steps":[{"step_id":1,"source":"user","message":"hi","a":1},{"step_id":2,"source":"agent","message":"a","tool_calls":[{"tool_call_id":"c1","function_name":"f","arguments":{}}]},{"step_id":3,"source":"user","message":"b"}]}"#,
            r#""observation":{"results":[{"source_call_id":"c1","content":"The tool call was interrupted"#,
        ),
    ] {
        let options = Options {
            repair: true,
            keep_spelling: true,
            ..Options::new(format(name), format(name))
        };
        let repaired = with(log, options);
        assert!(repaired.contains(added), "{repaired}");
        assert!(repaired.contains(r#""a":1"#), "{repaired}");
        assert_eq!(kept(log, name, name).trim_end(), log);
    }
}

/// A tool may take a text in place of an object.
#[test]
fn custom_calls_are_calls() {
    let log = concat!(
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"custom","custom":{"name":"run_sql","input":"select 1"}}]},"#,
        r#"{"role":"tool","tool_call_id":"x","content":"1"},{"role":"assistant","content":"one"}]}"#,
        "\n"
    );
    let claude = kept(log, "openai:messages", "claude");
    assert!(
        claude.contains(r#"{"type":"tool_use","id":"x","name":"run_sql","input":{"input":"select 1"}}"#),
        "{claude}"
    );
    assert!(!claude.contains(r#""name":"unknown""#) && !claude.contains("custom"), "{claude}");
    let events = kept(log, "openai:messages", "agentglot");
    let edited = kept(&events.replace("\"one\"", "\"1\""), "agentglot", "openai:messages");
    assert_eq!(edited, log.replace("\"one\"", "\"1\""));
}

/// A refusal may be a member or a part.
#[test]
fn a_refusal_is_one_wherever_it_stands() {
    for said in [r#""content":null,"refusal":"No.""#, r#""content":[{"type":"refusal","refusal":"No."}]"#] {
        let log = format!(r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant",{said}}}]}}"#);
        let events = kept(&log, "openai:messages", "agentglot");
        assert!(events.contains("\"outcome\":\"refused\""), "{events}");
    }
}

#[test]
fn each_line_is_a_session() {
    let events = kept(&MESSAGES.repeat(2), "openai:messages", "agentglot");
    assert_eq!(events.matches("\"event\":\"session\"").count(), 6, "{events}");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 10, "{events}");
    assert_eq!(kept(&MESSAGES.repeat(2), "openai:messages", "sharegpt").lines().count(), 6);
}

#[test]
fn others_say_the_same() {
    let (claude, ledger) = traced(&MESSAGES, "openai:messages", "claude");
    for text in [
        r#""thinking":"Two places, two calls.""#,
        r#""name":"get_weather","input":{"place": "Oslo", "unit": "celsius"}"#,
        r#""tool_use_id":"call_a2","content":"{\"degrees\": 7}""#,
        r#""id":"call_1","name":"get_weather""#,
        r#""tool_use_id":"call_1","content":"{\"degrees\": -3}""#,
        "I do not name people.",
    ] {
        assert!(claude.contains(text), "{text}\n{claude}");
    }
    for pointer in ["/messages/0/content", "/tools", "/messages/5/weight"] {
        assert!(ledger.contains(&format!("\"pointer\":\"{pointer}")), "{pointer}\n{ledger}");
    }
}

const CLAUDE: &str = concat!(
    r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s1","tools":["Bash"],"model":"m1","permissionMode":"default","claude_code_version":"2.1.0","uuid":"u0"}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u1"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a1","role":"assistant","model":"m1","content":[{"type":"thinking","thinking":"Hm.","signature":"SIG"}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u2"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a1","role":"assistant","model":"m1","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls \"a\""}}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u3"}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a\nb","is_error":true}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u4"}"#,
    "\n",
    r#"{"type":"assistant","message":{"id":"a2","role":"assistant","model":"m1","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u5"}"#,
    "\n",
    r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":12,"num_turns":2,"result":"Done.","session_id":"s1","total_cost_usd":0.25,"uuid":"u6"}"#,
    "\n",
);

#[test]
fn a_session_becomes_a_line() {
    let (line, ledger) = traced(CLAUDE, "claude", "openai:messages");
    let wanted = concat!(
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},"#,
        r#"{"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls \\\"a\\\"\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"a\nb"},{"role":"assistant","content":"Done."}]}"#,
        "\n",
    );
    assert_eq!(line, wanted);
    for told in ["\"/message/content/0/signature\"", "\"/total_cost_usd\"", "a call that failed"] {
        assert!(ledger.contains(told), "{told}\n{ledger}");
    }
}

#[test]
fn rubbish_is_told() {
    for (text, damages) in [
        ("{\"messages\":7}", 0),
        ("{\"messages\":[{\"role\":\"user\",", 1),
        (
            "{\"messages\":[7,null,{},{\"role\":\"x\"},{\"role\":\"user\",\"content\":7},{\"role\":\"tool\"},{\"role\":\"assistant\",\"tool_calls\":[3,{},{\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}]}",
            0,
        ),
        ("{\"a\":1}\nhello\n[1]", 0),
        ("{\"messages\":[]}\n{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}", 0),
    ] {
        for to in ["agentglot", "sharegpt", "claude"] {
            assert_eq!(damage(text, "openai:messages", to).len(), damages, "{text} to {to}");
        }
    }
}

/// A user may say two things before the model answers: both belong to one turn.
#[test]
fn two_messages_of_the_user_are_prompts_of_one_turn() {
    const LOG: &str = "{\"messages\":[{\"role\":\"user\",\"content\":\"first\"},{\"role\":\"user\",\"content\":\"second\"},{\"role\":\"assistant\",\"content\":\"ok\"}]}\n";
    let events = crate::testing::converted(LOG, "openai:messages", "agentglot");
    assert_eq!(events.matches("\"event\":\"prompt\"").count(), 2, "{events}");
    assert_eq!(events.matches("\"event\":\"outcome\"").count(), 1, "{events}");
    assert!(events.contains("\"outcome\":\"success\""), "{events}");
    for to in ["claude", "cursor", "agentglot", "codex:rollout", "gemini:chat", "sharegpt"] {
        let there = crate::testing::converted(LOG, "openai:messages", to);
        assert_eq!(crate::testing::converted(&there, to, "openai:messages"), LOG, "by way of {to}");
    }
}

/// An image whose data stand in its address is told of once, however the target says it.
#[test]
fn an_image_has_one_entry() {
    let log = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},{"role":"assistant","content":"Blue."}]}
"#;
    for to in ["codex:rollout", "opencode:export", "atif", "claude"] {
        let ledger = traced(log, "openai:messages", to).1;
        let told = ledger.lines().filter(|line| line.contains("/image_url/url\"")).count();
        assert!(told <= 1, "{to}\n{ledger}");
    }
}

/// What the program says in the user's place while a turn goes on has its name, and begins no turn when it is read back.
#[test]
fn what_the_program_says_in_the_users_place_has_a_name() {
    let notice = r#"{"type":"user","message":{"role":"user","content":"<reminder>"},"parent_tool_use_id":null,"session_id":"s","isSynthetic":true,"uuid":"n1"}"#;
    let done = r#"{"type":"assistant","message":{"id":"m9","role":"assistant","model":"m","content":[{"type":"text","text":"Again."}],"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"n2"}"#;
    let (before, result) = CLAUDE.trim_end().rsplit_once('\n').unwrap();
    let log = [before, notice, done, result, ""].join("\n");
    let (line, ledger) = traced(&log, "claude", "openai:messages");
    assert!(line.contains(r#"{"role":"user","name":"program","content":"<reminder>"}"#), "{line}");
    assert!(ledger.contains("/messages/name"), "{ledger}");
    let back = kept(&line, "openai:messages", "claude");
    assert!(back.contains(r#""isSynthetic":true"#), "{back}");
    assert_eq!(back.matches(r#""type":"result""#).count(), 1, "{back}");
    let (_, ledger) = traced(&log, "claude", "sharegpt");
    assert!(ledger.contains("nothing says that the user did not"), "{ledger}");
}
