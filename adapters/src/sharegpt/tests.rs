use std::sync::LazyLock;

use super::trimmed;
use crate::testing::{converted, damage, golden, kept, traced};

static TOOLS: LazyLock<String> = LazyLock::new(|| golden("sharegpt/conversations_tools.jsonl"));
static ARRAY: LazyLock<String> = LazyLock::new(|| golden("sharegpt/conversations_array.json"));

#[test]
fn it_is_given_back_byte_for_byte() {
    for log in [&*TOOLS, &*ARRAY] {
        assert_eq!(kept(log, "sharegpt", "sharegpt"), *log);
    }
    assert_eq!(kept(&kept(&TOOLS, "sharegpt", "agentglot"), "agentglot", "sharegpt"), *TOOLS);
}

#[test]
fn what_is_said_becomes_messages() {
    let messages = kept(&TOOLS, "sharegpt", "openai:messages");
    let wanted = concat!(
        r#"{"messages":[{"role":"system","content":"You say what the weather is like."},"#,
        r#"{"role":"user","content":"How warm is it in Oslo?"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"place\": \"Oslo\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"call_1","content":"{\"degrees\": 4}"},"#,
        r#"{"role":"assistant","content":"4 °C."},"#,
        r#"{"role":"user","content":"And in Bergen and \"Tromsø\"?"},"#,
        r#"{"role":"assistant","content":"I look.","reasoning_content":"Two places.","tool_calls":[{"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{\"place\": \"Bergen\"}"}},"#,
        r#"{"id":"call_3","type":"function","function":{"name":"get_weather","arguments":"{\"place\": \"Tromsø\", \"unit\": \"celsius\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"call_2","content":"{\"degrees\": 7}"},"#,
        r#"{"role":"tool","tool_call_id":"call_3","content":"{\"degrees\": -3}"},"#,
        r#"{"role":"assistant","content":"7 °C in Bergen,\n-3 °C in Tromsø."}]}"#,
        "\n",
        r#"{"messages":[{"role":"system","content":"You are kind."},{"role":"user","content":"Hello <image>"},{"role":"assistant","content":"Hello!"}]}"#,
        "\n",
    );
    assert_eq!(messages, wanted);
    let back = kept(&messages, "openai:messages", "sharegpt");
    for said in [
        r#"{"from":"function_call","value":"{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Oslo\"}}"}"#,
        r#"{"from":"function_call","value":"<think>\nTwo places.\n</think>\n\nI look.\n<tool_call>\n[{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Bergen\"}}, {\"name\""#,
        r#"{"from":"observation","value":"{\"degrees\": 7}\n</tool_response>\n<tool_response>\n{\"degrees\": -3}"}"#,
    ] {
        assert!(
            TOOLS.contains(
                &said
                    .replace("\",\"value", "\", \"value")
                    .replace("\"from\":", "\"from\": ")
                    .replace("\"value\":", "\"value\": ")
            ),
            "{said}"
        );
        assert!(back.contains(said), "{said}\n{back}");
    }
}

#[test]
fn an_array_is_its_sessions() {
    let messages = kept(&ARRAY, "sharegpt", "openai:messages");
    assert_eq!(messages.lines().count(), 2, "{messages}");
    assert!(messages.contains(r#""name":"add","arguments":"{\"a\": 2, \"b\": 2}""#), "{messages}");
    assert!(
        messages.contains(r#"{"role":"tool","tool_call_id":"call_1","content":"4"}"#),
        "{messages}"
    );
    let events = kept(&ARRAY, "sharegpt", "agentglot");
    assert!(events.contains(r#""session":"QWJhYvA_0""#), "{events}");
}

#[test]
fn a_mark_in_arguments_ends_no_call() {
    let log = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"x\": \"</tool_call>\"}"}}]}]}"#;
    let said = kept(log, "openai:messages", "sharegpt");
    assert_eq!(said.matches("</tool_call>").count(), 1, "{said}");
    assert!(
        kept(&said, "sharegpt", "openai:messages").contains(r#"{\"x\": \"<\\/tool_call>\"}"#),
        "{said}"
    );
}

#[test]
fn texts_are_trimmed_but_for_what_is_escaped() {
    for (text, wanted) in [("\\n a\\n\\n", "a"), ("a\\\\n", "a\\\\n"), ("a\\\\\\n", "a\\\\"), ("\\n", ""), ("", "")] {
        assert_eq!(trimmed(text), wanted, "{text}");
    }
}

/// A text may hold what marks a call; a call that stands behind it is one all the same.
#[test]
fn marks_in_texts_are_texts() {
    let call = r#"<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"#;
    for text in [
        "use <tool_call> now",
        "use <tool_call>{ now",
        "a </tool_call> b",
        "<tool_call>x</tool_call>",
        &"<tool_call>".repeat(9),
    ] {
        let log =
            format!("{{\"conversations\":[{{\"from\":\"human\",\"value\":\"a\"}},{{\"from\":\"gpt\",\"value\":\"{text}\\n{call}{call}\"}}]}}\n");
        let messages = kept(&log, "sharegpt", "openai:messages");
        assert!(messages.contains(&format!("\"content\":\"{text}\"")), "{messages}");
        assert_eq!(messages.matches("\"name\":\"f\"").count(), 2, "{messages}");
        let (_, ledger) = traced(&messages, "openai:messages", "sharegpt");
        assert!(ledger.contains("holds a mark"), "{ledger}");
    }
}

/// A thought may hold what marks thoughts.
#[test]
fn marks_in_thoughts_are_thoughts() {
    for (thought, behind) in [
        ("a <think>b</think> c", ""),
        ("<think>b</think>", "d"),
        ("<think>", "d"),
        ("a", "d </think>"),
    ] {
        let call = r#"{\"name\": \"f\", \"arguments\": {}}"#;
        for (from, text) in [("function_call", call), ("gpt", behind)] {
            let said = format!("{{\"from\":\"{from}\",\"value\":\"<think>\\n{thought}\\n</think>\\n\\n{text}\"}}");
            let log = format!("{{\"conversations\":[{{\"from\":\"human\",\"value\":\"a\"}},{said}]}}\n");
            let messages = kept(&log, "sharegpt", "openai:messages");
            assert!(messages.contains(&format!("\"reasoning_content\":\"{thought}\"")), "{messages}");
            let is_call = from == "function_call";
            assert_eq!(messages.matches("\"name\":\"f\"").count(), usize::from(is_call), "{messages}");
            assert!(
                is_call || messages.contains(&format!("\"content\":\"{text}\"")) || text.is_empty(),
                "{messages}"
            );
        }
    }
}

/// What is said in other escapes is the same.
#[test]
fn marks_are_marks_however_they_are_escaped() {
    let log = r#"{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"<think>\nhm\n</think>\n\nLook.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 2}}\n</tool_call>"},{"from":"tool","value":"4\n</tool_response>\n<tool_response>\n5"},{"from":"gpt","value":"<think>t</think>Four."}]}"#;
    let wanted = kept(log, "sharegpt", "openai:messages");
    assert_eq!(wanted.matches("reasoning_content").count(), 2, "{wanted}");
    assert_eq!(wanted.matches("\"role\":\"tool\"").count(), 2, "{wanted}");
    for escaped in [
        log.replace('/', "\\/"),
        log.replace('<', "\\u003c"),
        log.replace('>', "\\u003E").replace('/', "\\u002f"),
        log.replace("\\n", "\\u000a"),
    ] {
        let (said, ledger) = traced(&escaped, "sharegpt", "openai:messages");
        assert_eq!(said, wanted, "{escaped}");
        assert!(!ledger.contains("\"dropped\""), "{ledger}");
    }
    let told = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"say \u003cthink> b"}]}"#;
    let (_, ledger) = traced(told, "openai:messages", "sharegpt");
    assert!(ledger.contains("holds a mark"), "{ledger}");
}

#[test]
fn results_stand_in_marks_or_between_them() {
    let call = r#"{"from":"gpt","value":"<tool_call>\n{\"name\":\"w\",\"arguments\":{}}\n</tool_call>"}"#;
    for (calls, said, wanted) in [
        (
            2,
            r"<tool_response>\n4\n</tool_response>\n<tool_response>\n7\n</tool_response>",
            &["4", "7"][..],
        ),
        (2, r"<tool_response>4</tool_response><tool_response>7</tool_response>\n", &["4", "7"]),
        (1, r"<tool_response>\n4\n</tool_response>", &["4"]),
        (2, r"4\n</tool_response>\n<tool_response>\n7", &["4", "7"]),
        (
            1,
            r"4\n</tool_response>\n<tool_response>\n7",
            &[r"4\n</tool_response>\n<tool_response>\n7"],
        ),
        (1, r"4</tool_response> and 7", &["4</tool_response> and 7"]),
        (1, r"a \\n</tool_response>\n", &[r"a \\n</tool_response>\n"]),
        (1, "<tool_response>", &["<tool_response>"]),
        (1, "", &[""]),
    ] {
        let calls = vec![call; calls].join(",");
        let log = format!(r#"{{"conversations":[{{"from":"human","value":"q"}},{calls},{{"from":"tool","value":"{said}"}}]}}"#);
        let messages = kept(&log, "sharegpt", "openai:messages");
        let results = messages.split(r#""role":"tool","tool_call_id":"call_"#).skip(1);
        let texts: Vec<&str> = results
            .filter_map(|result| result.split_once(r#"content":""#)?.1.split_once(r#""}"#))
            .map(|(text, _)| text)
            .collect();
        assert_eq!(texts, wanted, "{messages}");
    }
}

/// Calls may stand in messages of their own before anything comes of the first.
#[test]
fn results_without_ids_are_those_of_the_calls_in_their_order() {
    let call = |name: &str| format!(r#"{{"from":"function_call","value":"\n{{\"name\":\"{name}\",\"arguments\":{{}}}}"}}"#);
    let log = format!(
        r#"{{"conversations":[{{"from":"human","value":"q"}},{},{},{{"from":"observation","value":"4"}},{{"from":"observation","value":"5"}}]}}"#,
        call("w"),
        call("v")
    );
    let messages = kept(&log, "sharegpt", "openai:messages");
    for part in [
        r#"{"id":"call_1","type":"function","function":{"name":"w""#,
        r#"{"id":"call_2","type":"function","function":{"name":"v""#,
        r#""tool_call_id":"call_1","content":"4"}"#,
        r#""tool_call_id":"call_2","content":"5"}"#,
    ] {
        assert!(messages.contains(part), "{part}\n{messages}");
    }
}

#[test]
fn what_calls_say_besides_is_told() {
    let log = r#"{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b <tool_call>{\"id\":\"c7\",\"name\":\"f\",\"arguments\":{},\"type\":\"function\"}</tool_call>"}]}"#;
    let (messages, ledger) = traced(log, "sharegpt", "openai:messages");
    assert!(messages.contains(r#""id":"c7""#), "{messages}");
    assert!(
        ledger.contains("beside its name and arguments: type") && !ledger.contains(": id"),
        "{ledger}"
    );
}

/// What has no place is told, the time of each line with it.
#[test]
fn what_has_no_place_is_told() {
    let log = concat!(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},"session_id":"s","uuid":"1","timestamp":"2026-01-01T00:00:00Z"}"#,
        "\n",
        r#"{"type":"assistant","message":{"id":"m","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}]},"session_id":"s","uuid":"2","timestamp":"2026-01-01T00:00:01Z"}"#,
        "\n",
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]},"session_id":"s","uuid":"3","timestamp":"2026-01-01T00:00:02Z"}"#,
        "\n",
    );
    let (_, ledger) = traced(log, "claude", "sharegpt");
    for lost in [
        r#""line":1,"pointer":"/message/content/1","fate":"dropped""#,
        r#""line":1,"last_line":3,"pointer":"/timestamp","fate":"dropped","dialect":"sharegpt","note":"no place in sharegpt","count":3"#,
        r#""line":2,"pointer":"/message/content/0/id","fate":"dropped""#,
        r#""line":3,"pointer":"/message/content/0/tool_use_id","fate":"dropped""#,
    ] {
        assert!(ledger.contains(lost), "{lost}\n{ledger}");
    }
}

/// A session is one value: what an encoder has no place for hides nothing else of it.
#[test]
fn each_part_that_has_no_place_is_told() {
    let log = r#"{"conversations":[{"from":"human","value":"q","zz1":1},{"from":"gpt","value":"a","zz2":2}],"zz3":3}"#;
    let (_, ledger) = traced(log, "sharegpt", "tricode");
    for pointer in ["/conversations/0/value", "/conversations/0/zz1", "/conversations/1/zz2", "/zz3"] {
        assert!(
            ledger.contains(&format!("\"pointer\":\"{pointer}\",\"fate\":\"dropped\"")),
            "{pointer}\n{ledger}"
        );
    }
    assert!(!ledger.contains(r#""pointer":"","fate":"dropped""#), "{ledger}");
}

/// Data sets whose members are called as OpenAI's are hold the same.
#[test]
fn members_may_be_called_role_and_content() {
    let named = r#"{"conversations":[{"from":"system","value":"s"},{"from":"human","value":"q"},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"observation","value":"r"},{"from":"gpt","value":"a"}]}
"#;
    let words = [
        ("\"from\"", "\"role\""),
        ("\"value\"", "\"content\""),
        ("human", "user"),
        ("gpt", "assistant"),
        ("observation", "tool"),
    ];
    let in_roles = words.iter().fold(named.to_owned(), |log, (from, to)| log.replace(from, to));
    let crate::detect::Answer::Found(found) = crate::detect::Detector::new(false).look(in_roles.as_bytes(), true) else {
        panic!("it is not recognised");
    };
    assert_eq!(found.format, crate::codec::Dialect::Sharegpt.into());
    // Ids are made of the text.
    let said = |log: &str| {
        let log = log.replacen('{', "{\"id\":\"one\",", 1);
        converted(&log, "sharegpt", "openai:messages")
    };
    assert_eq!(said(&in_roles), said(named));
    let stored = kept(&in_roles, "sharegpt", "agentglot");
    assert_eq!(converted(&stored, "agentglot", "sharegpt"), in_roles);
}

#[test]
fn rubbish_is_told() {
    for (text, damages) in [
        ("{\"conversations\":7}", 0),
        ("{\"conversations\":[{\"from\":\"human\",", 1),
        (
            "{\"conversations\":[7,null,{},{\"from\":\"x\",\"value\":\"a\"},{\"from\":\"human\",\"value\":7},{\"from\":\"observation\",\"value\":\"a\"},{\"from\":\"function_call\",\"value\":\"{\"}]}",
            0,
        ),
        ("{\"a\":1}\nhello\n", 0),
    ] {
        for to in ["agentglot", "openai:messages", "claude"] {
            assert_eq!(damage(text, "sharegpt", to).len(), damages, "{text} to {to}");
        }
    }
}

/// One text holds a thought and what is said: where a target has a place for one of them only, the other is told.
#[test]
fn what_has_no_place_of_a_text_is_told() {
    let log = r#"{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"<think>\nlooking\n</think>\nfound"}]}"#;
    for (to, goes_over) in [
        ("claude:transcript", &["found"][..]),
        ("tricode", &["found"]),
        ("claude", &["looking", "found"]),
    ] {
        let (out, ledger) = traced(log, "sharegpt", to);
        let lost = ledger.matches(r#""pointer":"/conversations/1/value","fate":"dropped""#).count();
        for part in ["looking", "found"] {
            assert_eq!(out.contains(part), goes_over.contains(&part), "{to}: {out}");
        }
        assert_eq!(lost, 2 - goes_over.len(), "{to}: {ledger}");
    }
}
