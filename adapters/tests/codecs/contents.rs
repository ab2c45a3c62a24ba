//! What the vendors' types allow and no recording shows.

use agentglot_adapters::convert::Options;

use crate::common::{Converted, convert, format, with_ledger};

/// A log in another format, with the ledger.
fn to(log: &str, from: &str, to: &str) -> Converted {
    convert(&with_ledger(Options::new(format(from), format(to))), log.as_bytes())
}

/// How the turn ended that a log in this format tells of.
fn ended(log: &str, from: &str) -> String {
    let events = to(log, from, "agentglot");
    let outcome = events.text().split("\"outcome\":\"").nth(1).unwrap_or_default();
    outcome.split('"').next().unwrap_or_default().to_owned()
}

/// The pieces of a reply of OpenAI's API, and why it stopped.
fn chunks(deltas: &[&str], finish: &str) -> String {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let said: String = deltas.iter().map(|delta| chunk(delta, "null")).collect();
    format!("{said}{}data: [DONE]\n\n", chunk("{}", &format!("\"{finish}\"")))
}

/// A session of Gemini CLI in which the model says these parts.
fn gemini(parts: &str) -> String {
    format!(
        concat!(
            r#"{{"sessionId":"s1","projectHash":"x","startTime":"2026-11-21T07:03:00.000Z","lastUpdated":"2026-11-21T07:03:00.000Z","kind":"main"}}"#,
            "\n",
            r#"{{"id":"m1","timestamp":"2026-11-21T07:03:01.000Z","type":"user","content":[{{"text":"hi"}}]}}"#,
            "\n",
            r#"{{"id":"m2","timestamp":"2026-11-21T07:03:02.000Z","type":"gemini","content":[{}],"thoughts":[],"model":"g"}}"#,
            "\n"
        ),
        parts
    )
}

const PNG: &str = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#;

#[test]
fn what_is_spoken_is_said_in_words() {
    let stream = chunks(
        &[
            r#"{"role":"assistant","audio":{"id":"a1"}}"#,
            r#"{"audio":{"transcript":"Good "}}"#,
            r#"{"audio":{"transcript":"day.","data":"QUJD"}}"#,
        ],
        "stop",
    );
    let claude = to(&stream, "openai", "claude");
    assert!(claude.text().contains(r#"{"type":"text","text":"Good day."}"#), "{}", claude.text());
    let messages = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"audio":{"id":"a1","data":"QUJD","expires_at":1,"transcript":"Good day."}}]}"#;
    let claude = to(messages, "openai:messages", "claude");
    assert!(claude.text().contains(r#"{"type":"text","text":"Good day."}"#), "{}", claude.text());
}

/// Wherever an answer may hold one, and told of once where not.
#[test]
fn images_of_answers_go_over() {
    let stream = chunks(
        &[
            r#"{"role":"assistant","content":"See"}"#,
            &format!(r#"{{"content":"","images":[{PNG}]}}"#),
        ],
        "stop",
    );
    let messages = format!(r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":"See","images":[{PNG}]}}]}}"#);
    let chat = gemini(r#"{"text":"See"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}"#);
    let export = r#"{"info":{"id":"ses_1","directory":"/w","version":"1","time":{"created":1,"updated":1}},"messages":[{"info":{"role":"user","id":"msg_1","sessionID":"ses_1","time":{"created":1}},"parts":[{"type":"text","text":"hi","id":"prt_1"}]},{"info":{"role":"assistant","id":"msg_2","sessionID":"ses_1","parentID":"msg_1","modelID":"m","time":{"created":1}},"parts":[{"type":"text","text":"See","id":"prt_2"},{"type":"file","mime":"image/png","url":"data:image/png;base64,QUJD","id":"prt_3"}]}]}"#;
    for (log, from) in [
        (&*stream, "openai"),
        (&messages, "openai:messages"),
        (&chat, "gemini:chat"),
        (export, "opencode:export"),
    ] {
        for (target, image) in [
            (
                "claude",
                r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}"#,
            ),
            (
                "acp",
                r#""sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"QUJD"}"#,
            ),
            ("gemini:chat", r#"{"inlineData":{"mimeType":"image/png","data":"QUJD"}}"#),
            ("qwen-code:chat", r#"{"inlineData":{"mimeType":"image/png","data":"QUJD"}}"#),
            ("opencode:export", r#""mime":"image/png","url":"data:image/png;base64,QUJD""#),
        ] {
            let there = to(log, from, target);
            assert_eq!(there.text().matches(image).count(), 1, "{from} to {target}: {}", there.text());
        }
        let cursor = to(log, from, "cursor");
        assert!(!cursor.text().contains("QUJD") && cursor.ledger.contains("dropped"), "{}", cursor.ledger);
    }
    let streamed = convert(
        &Options {
            partial: true,
            ..Options::new(format("openai"), format("claude"))
        },
        stream.as_bytes(),
    );
    assert!(!streamed.text().contains("image_url"), "{}", streamed.text());
}

#[test]
fn sounds_go_where_there_is_a_place() {
    let chat = gemini(r#"{"inlineData":{"mimeType":"audio/wav","data":"QUJD"}},{"text":"See"}"#);
    let acp = to(&chat, "gemini:chat", "acp");
    let sound = r#"{"type":"audio","mimeType":"audio/wav","data":"QUJD"}"#;
    assert!(acp.text().contains(sound), "{}", acp.text());
    let back = to(acp.text(), "acp", "gemini:chat");
    assert!(
        back.text().contains(r#"{"inlineData":{"mimeType":"audio/wav","data":"QUJD"}}"#),
        "{}",
        back.text()
    );
}

/// A block says what it is: what elsewhere says it by the name of a member is none.
#[test]
fn what_is_no_block_is_none() {
    let parts = r#"{"inlineData":{"mimeType":"audio/wav","data":"QUJD"}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://e.org/b.mp4"}},{"fileData":{"fileUri":"https://e.org/c.png"}},{"text":"See"}"#;
    for target in ["claude", "claude:transcript"] {
        let made = to(&gemini(parts), "gemini:chat", target);
        let text = made.text();
        assert!(
            text.contains(r#"{"type":"image","source":{"type":"url","url":"https://e.org/c.png"}}"#),
            "{text}"
        );
        assert!(!text.contains("inlineData") && !text.contains("fileData"), "{text}");
        assert!(made.ledger.contains("dropped"), "{}", made.ledger);
    }
}

/// The API ran it, and the model goes on.
#[test]
fn code_that_an_api_runs_is_a_call() {
    let chat = gemini(
        r#"{"text":"Let me see."},{"executableCode":{"language":"PYTHON","code":"print(1)"}},{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"1\n"}},{"text":"One."}"#,
    );
    let cursor = to(&chat, "gemini:chat", "qwen-code");
    for part in [
        r#""name":"code_execution","input":{"code":"print(1)","language":"PYTHON"}"#,
        r#""is_error":true,"content":"1\n""#,
        "One.",
    ] {
        assert!(cursor.text().contains(part), "{part}\n{}", cursor.text());
    }
    assert!(!cursor.ledger.contains("executableCode\",\"fate\":\"dropped"), "{}", cursor.ledger);
}

/// What the turn failed of, and what ended it, is the same behind a store or a stream of another program.
#[test]
fn refusals_and_limits_come_back() {
    let stop = |reason: &str| {
        format!(
            concat!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{"cwd":"/w","mcpServers":[]}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"sessionId":"s1"}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"hi"}}]}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"No."}}}}}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"{}"}}}}"#,
                "\n"
            ),
            reason
        )
    };
    for (reason, wanted) in [
        ("refusal", "refused"),
        ("max_tokens", "limit_tokens"),
        ("max_turn_requests", "limit_turns"),
        ("cancelled", "cancelled"),
    ] {
        for target in ["codex:exec", "codex:app-server", "codex:rollout", "gemini:chat"] {
            let there = to(&stop(reason), "acp", target);
            assert_eq!(ended(there.text(), target), wanted, "{target}: {}", there.text());
        }
    }
    // A transcript knows why its replies stopped, which the end of the round says.
    for (reason, wanted) in [("content_filter", "refused"), ("length", "limit_tokens")] {
        let there = to(
            &chunks(&[r#"{"role":"assistant","content":"No."}"#], reason),
            "openai",
            "claude:transcript",
        );
        assert_eq!(ended(there.text(), "claude:transcript"), wanted, "{}", there.text());
    }
    // The source's own words stand behind those of the program.
    let refused =
        "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\",\"content\":[]}}";
    let anthropic = format!(
        "data: {refused}\n\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"refusal\",\"stop_details\":{{\"type\":\"refusal\",\"category\":\"cyber\",\"explanation\":\"Not this.\"}}}}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
    );
    for target in [
        "codex:exec",
        "codex:app-server",
        "codex:rollout",
        "agentglot",
        "opencode:run",
        "qwen:stream-json",
    ] {
        let there = to(&anthropic, "anthropic", target);
        assert!(there.text().contains("Not this."), "{target}: {}", there.text());
        assert!(!there.ledger.contains("explanation\",\"fate\":\"dropped"), "{target}: {}", there.ledger);
        assert_eq!(ended(there.text(), target), "refused", "{target}: {}", there.text());
    }
}

/// What is held until its call is known, or until another block is over, is not told as lost.
#[test]
fn what_is_held_goes_over() {
    let late = chunks(
        &[
            r#"{"role":"assistant","function_call":{"name":"f","arguments":""}}"#,
            r#"{"function_call":{"arguments":"{\"a\":1}"}}"#,
        ],
        "function_call",
    );
    let text = chunks(
        &[r#"{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"custom","custom":{"name":"sql","input":"select 1"}}]}"#],
        "tool_calls",
    );
    let woven = chunks(
        &[
            r#"{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"f","arguments":"{\"b\":2}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}"#,
        ],
        "tool_calls",
    );
    for (log, said) in [(&late, "{\"a\":1}"), (&text, "select 1"), (&woven, "{\"b\":2}")] {
        for target in [
            "claude",
            "qwen:stream-chunk-json",
            "acp",
            "gemini:stream-json",
            "ag-ui",
            "openai:messages",
        ] {
            let there = to(log, "openai", target);
            let plain = there.text().replace("\\\"", "\"");
            assert!(plain.contains(said), "{target}: {plain}");
            let lost = |entry: &&str| entry.contains("\"dropped\"") && entry.contains("tool_calls");
            assert_eq!(there.ledger.lines().find(lost), None, "{target}");
        }
    }
}

#[test]
fn an_error_that_the_outcome_says_is_not_lost() {
    let export = r#"{"info":{"id":"ses_1","directory":"/w","version":"1","time":{"created":1,"updated":1}},"messages":[{"info":{"role":"user","id":"msg_1","sessionID":"ses_1","time":{"created":1}},"parts":[{"type":"text","text":"hi","id":"prt_1"}]},{"info":{"role":"assistant","id":"msg_2","sessionID":"ses_1","parentID":"msg_1","modelID":"m","time":{"created":1},"error":{"name":"APIError","data":{"message":"too busy","statusCode":503}}},"parts":[]}]}"#;
    let claude = to(export, "opencode:export", "claude");
    assert!(claude.text().contains("too busy"), "{}", claude.text());
    let told: Vec<&str> = claude.ledger.lines().filter(|entry| entry.contains("/info/error")).collect();
    assert!(
        told.iter().all(|entry| !entry.contains("/error\"") && !entry.contains("/message\"")),
        "{told:?}"
    );
    assert!(told.iter().any(|entry| entry.contains("/statusCode\"")), "{told:?}");
}

/// A result may be of any shape, and may stand in a reply.
#[test]
fn results_of_any_shape_are_results() {
    let tricode = concat!(
        r#"{"type": "system", "message": "Session ID: ab12cd34"}"#,
        "\n",
        r#"{"type": "round", "number": 1}"#,
        "\n",
        r#"{"type": "tool_call", "name": "x", "arguments": {}, "formatted": "X {}"}"#,
        "\n",
        r#"{"type": "tool_result", "name": "x", "success": true, "result": {"n": [1]}, "formatted": "ok"}"#,
        "\n",
        r#"{"type": "final", "content": ["done"]}"#,
        "\n"
    );
    let claude = to(tricode, "tricode", "claude");
    assert!(claude.text().contains(r#""content":"{\"n\": [1]}""#), "{}", claude.text());
    assert!(
        claude.text().contains(r#""text":"[\"done\"]""#) && claude.damage.is_empty(),
        "{}",
        claude.text()
    );
    let qwen = concat!(
        r#"{"type":"system","subtype":"init","uuid":"s1","session_id":"s1","cwd":"/w","tools":[],"mcp_servers":[],"model":"m","permission_mode":"default","slash_commands":[],"qwen_code_version":"0.24.4","agents":[]}"#,
        "\n",
        r#"{"type":"assistant","uuid":"m1","session_id":"s1","parent_tool_use_id":null,"message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"read_file","input":{"file_path":"/w/a"}},{"type":"tool_result","tool_use_id":"c1","is_error":false,"content":"inside"}],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#,
        "\n"
    );
    for target in ["qwen:stream-json", "cursor", "codex:exec", "gemini:stream-json", "acp"] {
        let there = to(qwen, "qwen-code", target);
        assert!(there.text().contains("inside"), "{target}: {}", there.text());
    }
}

/// What a line only says again is no loss; what a target takes by its id alone it does not get without.
#[test]
fn what_is_said_again_and_what_has_no_id() {
    let cursor = concat!(
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s1","model":"Auto","permissionMode":"default"}"#,
        "\n",
        r#"{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"function":{"name":"f","arguments":"{}"}},"session_id":"s1"}"#,
        "\n",
        r#"{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"function":{"name":"f","arguments":"{}","result":{"success":{"content":"ok"}}}},"session_id":"s1"}"#,
        "\n"
    );
    for target in ["claude", "qwen-code", "gemini:chat", "acp"] {
        let there = to(cursor, "cursor", target);
        assert!(!there.ledger.contains("/tool_call/function/name\""), "{target}: {}", there.ledger);
    }
    let qwen = concat!(
        r#"{"type":"system","subtype":"init","uuid":"s1","session_id":"s1","cwd":"/w","tools":[],"mcp_servers":[],"model":"m","permission_mode":"default","slash_commands":[],"qwen_code_version":"0.24.4","agents":[]}"#,
        "\n",
        r#"{"type":"control_cancel_request"}"#,
        "\n"
    );
    let claude = to(qwen, "qwen-code", "claude");
    assert!(!claude.text().contains("control_cancel_request"), "{}", claude.text());
    assert!(claude.ledger.contains(r#""line":2,"pointer":"","fate":"dropped""#), "{}", claude.ledger);
}
