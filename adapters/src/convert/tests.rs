use super::*;
use crate::codec::{Format, Layout};
use crate::reader::{MARK, WINDOW};

/// Output, damage and the number of lines, when the log comes in pieces of that size, which may be told to be text.
fn converted(log: &[u8], piece: usize, told: bool) -> (Vec<u8>, Vec<Damage>, u64) {
    let mut options = Options::new("claude".parse().unwrap(), "qwen".parse().unwrap());
    options.max_line = 3 * WINDOW;
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    for piece in log.chunks(piece) {
        match std::str::from_utf8(piece) {
            Ok(text) if told => converter.feed_text(text, &mut out),
            _ => converter.feed(piece, &mut out),
        }
    }
    converter.finish(&mut out);
    let damage = converter.take_damage();
    (out, damage, converter.lines())
}

#[test]
fn lines_in_place_and_lines_that_were_kept_are_read_alike() {
    let text = |body: &str| {
        format!(
            "{{\"type\":\"assistant\",\"session_id\":\"s\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{body}\"}}]}}}}"
        )
    };
    let mut log = MARK.as_bytes().to_vec();
    for body in ["first", &"é".repeat(WINDOW), "second", &"x".repeat(4 * WINDOW), "third"] {
        log.extend_from_slice(text(body).as_bytes());
        log.extend_from_slice(b"\r\n\n");
    }
    log.extend_from_slice(b"{\"type\":\"assistant\",\"x\":\"\xff\"}\n");
    log.extend_from_slice(text("last").as_bytes());
    let whole = converted(&log, log.len(), false);
    assert_eq!(whole.2, 12);
    let reasons: Vec<_> = whole.1.iter().map(|damage| (damage.line, damage.byte)).collect();
    assert_eq!(reasons, [(7, 1), (11, 26)]);
    for piece in [1, 7, 1000, WINDOW, WINDOW + 1, 3 * WINDOW] {
        for told in [false, true] {
            assert!(converted(&log, piece, told) == whole, "pieces of {piece} bytes, told to be text: {told}");
        }
    }
}

/// Models write arguments over several lines where they like; a log has a value a line.
#[test]
fn arguments_over_several_lines_stay_on_one() {
    const CLAUDE: &str = r#"{"type":"stream_event","session_id":"s","uuid":"u1","parent_tool_use_id":null,"event":{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}}
{"type":"stream_event","session_id":"s","uuid":"u2","parent_tool_use_id":null,"event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}}
{"type":"stream_event","session_id":"s","uuid":"u3","parent_tool_use_id":null,"event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\n  \"command\":\r\n \"echo \\n\"\n}"}}}
{"type":"stream_event","session_id":"s","uuid":"u4","parent_tool_use_id":null,"event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","session_id":"s","uuid":"u5","parent_tool_use_id":null,"event":{"type":"message_stop"}}"#;
    const OPENAI: &str = r#"data: {"id":"m","object":"chat.completion.chunk","model":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"Bash","arguments":"{\n  \"command\":\r\n \"echo \\n\"\n}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
    const WHOLE: &str = r#"data: {"id":"m","object":"chat.completion","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"Bash","arguments":"{\n  \"command\":\r\n \"echo \\n\"\n}"}}]},"finish_reason":"tool_calls"}]}

"#;
    const QWEN: &str = r#"{"id":"m","object":"chat.completion","created":1,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"run_shell_command","arguments":"{\n  \"command\":\r\n \"echo \\n\"\n}"}}]},"finish_reason":"tool_calls"}]}"#;
    let log = |text: &str| format!("{text}\n");
    let sources = [
        ("claude", log(CLAUDE)),
        ("openai:sse", log(OPENAI)),
        ("openai:sse", log(WHOLE)),
        ("qwen", log(QWEN)),
    ];
    for (from, log) in &sources {
        for to in Format::all().filter(|to| to.is_writable() && !matches!(to.mode.layout, Layout::Text | Layout::Document)) {
            for partial in [false, true] {
                let mut options = Options::new(from.parse().unwrap(), to);
                options.partial = partial;
                let mut converter = Converter::new(options);
                let mut out = Vec::new();
                converter.feed(log.as_bytes(), &mut out);
                converter.finish(&mut out);
                let out = String::from_utf8(out).unwrap();
                assert!(out.contains("echo"), "{from} to {to}: {out}");
                // How Tricode says that the log ends early.
                for line in out.lines().filter(|line| !line.is_empty() && !line.starts_with("OpenAI API error")) {
                    assert!(
                        serde_json::from_str::<serde_json::Value>(line).is_ok(),
                        "{from} to {to}, partial {partial}: {line}"
                    );
                }
            }
        }
    }
}

/// What `agentglot convert` does where no dialect is named.
fn found_and_converted(log: &str, to: &str) -> String {
    let crate::detect::Answer::Found(found) = crate::detect::Detector::new(false).look(log.as_bytes(), true) else {
        panic!("no dialect found in {log}");
    };
    let options = Options {
        follow: found.format.stands_with_others(),
        ..Options::new(found.format, to.parse().unwrap())
    };
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    assert_eq!(converter.take_damage(), []);
    String::from_utf8(out).unwrap()
}

#[test]
fn training_data_and_logs_stand_in_one_file() {
    let claude = concat!(
        r#"{"type":"system","subtype":"init","cwd":"/","session_id":"s","tools":[],"permissionMode":"default","claude_code_version":"2.1.329","uuid":"u"}"#,
        "\n",
        r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"the log's"}]}}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":false,"result":"the log's","session_id":"s","num_turns":1}"#,
    );
    let rows = [
        r#"{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"the row's"}]}"#,
        r#"{"id":7,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"the row's"}]}"#,
        r#"{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"the row's"}]}"#,
    ];
    for row in rows {
        for log in [
            format!("{row}\n{claude}\n"),
            format!("{claude}\n{row}\n"),
            format!("{row}\n{claude}\n{row}\n"),
        ] {
            for to in ["agentglot", "codex:exec", "openai:messages"] {
                let out = found_and_converted(&log, to);
                let count = |text: &str| out.matches(text).count() >= log.matches(text).count().min(2) - usize::from(text == "the log's");
                assert!(count("the row's") && count("the log's"), "{to}: {log}\n{out}");
            }
        }
    }
}

/// What each turn says, in the order of their outcomes: its session, texts, results and outcome.
fn turns(events: &str) -> Vec<String> {
    let mut turns = vec![String::new()];
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let turn = turns.last_mut().unwrap();
        let said = match (text("event"), text("input")) {
            ("prompt", _) | (_, "prompt") => text("content"),
            ("delta", _) => text("text"),
            ("tool_result", _) => text("content"),
            ("outcome", _) => text("outcome"),
            _ => continue,
        };
        *turn += &format!("{}: {said}; ", text("session"));
        if text("event") == "outcome" {
            turns.push(String::new());
        }
    }
    assert_eq!(turns.pop().as_deref(), Some(""), "nothing is said outside of turns");
    turns
}

#[test]
fn sessions_of_one_connection_are_read_one_by_one() {
    let logs = [
        (
            "acp",
            include_str!("many/acp.jsonl"),
            &[
                "A: ask A; A: A one ; A: out a; A: A two; A: success; ",
                "B: ask B; B: B one ; B: out b; B: B two; B: limit_tokens; ",
                "A: again A; A: A three; A: success; ",
            ][..],
        ),
        (
            "opencode:bus",
            include_str!("many/bus.jsonl"),
            &[
                "ses_A: ask A; ses_A: A one ; ses_A: A two; ses_A: success; ",
                "ses_B: ask B; ses_B: B one ; ses_B: success; ",
            ],
        ),
        (
            "codex:app-server",
            include_str!("many/app.jsonl"),
            &[
                "thr_A: ask A; thr_A: A one ; thr_A: A two; thr_A: success; ",
                "thr_B: ask B; thr_B: B one; thr_B: out b; thr_B: cancelled; ",
                "thr_B: again B; thr_B: failed_model; ",
            ],
        ),
    ];
    for (from, log, wanted) in logs {
        let options = Options {
            keep_spelling: true,
            ..Options::new(from.parse().unwrap(), "agentglot".parse().unwrap())
        };
        let events = crate::testing::with(log, options);
        assert_eq!(turns(&events), wanted, "{from}");
        if from.parse::<Format>().unwrap().is_writable() {
            assert_eq!(crate::testing::converted(&events, "agentglot", from), log, "given back");
        }
        // A turn that is cut off keeps nothing back.
        let last = log
            .lines()
            .rfind(|line| line.contains("ses_A") || line.contains("thr_A") || line.contains("\"id\":3,\"result\":{\"stop"));
        let cut = log.replace(last.unwrap(), "");
        let events = crate::testing::converted(&cut, from, "agentglot");
        for said in ["ask B", "B one"] {
            assert!(events.contains(said), "{from}: {said}: {events}");
        }
    }
}

/// Where a line stands is told of it, not of the line that ended its waiting.
#[test]
fn the_ledger_says_where_lines_stood_that_waited() {
    let log = include_str!("many/acp.jsonl");
    let mut converter = Converter::new(Options {
        ledger: Some("log".to_owned()),
        ..Options::new("acp".parse().unwrap(), "codex".parse().unwrap())
    });
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    let entries = converter.take_entries();
    let at = log.lines().position(|line| line.contains("ask B")).unwrap() as u64 + 1;
    assert!(entries.iter().any(|entry| entry.line == at), "{entries:?}");
    assert_eq!(converter.lines(), log.lines().count() as u64);
}

/// Ids of calls may come twice: a result is of the first call that waits of those that were made together.
#[test]
fn results_find_their_calls_where_two_have_one_id() {
    let call = |message: &str, calls: &[&str]| {
        let calls = calls
            .iter()
            .map(|what| format!(r#"{{"type":"tool_use","id":"c","name":"Bash","input":{{"command":"run {what}"}}}}"#));
        let calls = calls.collect::<Vec<_>>().join(",");
        format!(r#"{{"type":"assistant","session_id":"s","message":{{"id":"{message}","role":"assistant","content":[{calls}]}}}}"#)
    };
    let result = |what: &str| {
        format!(
            r#"{{"type":"user","session_id":"s","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","content":"out {what}"}}]}}}}"#
        )
    };
    let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","num_turns":1}"#.to_owned();
    let logs = [
        [
            call("m1", &["one"]),
            result("one"),
            call("m2", &["two"]),
            result("two"),
            end.clone(),
            String::new(),
        ]
        .join("\n"),
        [call("m1", &["one", "two"]), result("one"), result("two"), end, String::new()].join("\n"),
    ];
    for log in &logs {
        // Each line that holds a result holds its call.
        for to in ["opencode", "codex", "codex:app-server", "cursor"] {
            let out = crate::testing::converted(log, "claude", to);
            for what in ["one", "two"] {
                let found: Vec<&str> = out.lines().filter(|line| line.contains(&format!("out {what}"))).collect();
                assert_eq!(found.len(), 1, "{to}: {out}");
                assert!(found[0].contains(&format!("run {what}")), "{to}: {out}");
            }
            let calls = out.matches("run one").count();
            assert_eq!(calls, out.matches("run two").count(), "{to}: {out}");
        }
        let export = crate::testing::converted(log, "claude", "opencode:export");
        for what in ["one", "two"] {
            let input = export.find(&format!(r#""command":"run {what}""#)).unwrap();
            assert!(
                export[input..].split("callID").next().unwrap().contains(&format!("out {what}")),
                "{export}"
            );
        }
        for to in ["acp", "claude:transcript", "codex:rollout", "gemini:chat", "qwen-code:chat"] {
            let out = crate::testing::converted(log, "claude", to);
            let (sessions, _) = crate::session::sessions(out.as_bytes(), crate::read::Source::Is(to.parse().unwrap()));
            assert_eq!(paired(&sessions), ["one", "two"], "{to}: {out}");
        }
        let (sessions, _) = crate::session::sessions(log.as_bytes(), Dialect::Claude);
        assert_eq!(paired(&sessions), ["one", "two"]);
        let events = crate::testing::converted(log, "claude", "ag-ui");
        let id_of = |what: &str| {
            let line = events.lines().find(|line| line.contains(what) && !line.contains("SNAPSHOT")).unwrap();
            line.split("toolCallId\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        assert_eq!((id_of("run one"), id_of("run two")), (id_of("out one"), id_of("out two")), "{events}");
        assert_ne!(id_of("run one"), id_of("run two"));
    }
}

/// What was run, where the result says the same.
fn paired(sessions: &[crate::session::Session]) -> Vec<String> {
    let calls = sessions.iter().flat_map(|session| &session.turns).flat_map(|turn| turn.calls());
    let ran = calls.filter_map(|call| {
        let (_, ran) = call.input.as_str().split_once("run ")?;
        let what = ran.split(['"', '\'']).next()?;
        let result = call.result.as_ref()?.content.text();
        result.contains(&format!("out {what}")).then(|| what.to_owned())
    });
    ran.collect()
}

/// The payloads of a model's stream look like lines of another dialect, and begin no session in it.
#[test]
fn the_stream_of_a_model_goes_on_as_such() {
    let chunk = |text: &str| {
        format!(
            "data: {{\"id\":\"m\",\"object\":\"chat.completion.chunk\",\"model\":\"x\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
        )
    };
    let out = found_and_converted(&(chunk("one ") + &chunk("two")), "agentglot");
    assert_eq!(out.matches("\"source\":").count(), 1, "{out}");
    assert!(out.contains("\"one \"") && out.contains("\"two\""), "{out}");
}

/// Lines of a session, of another one and of the first again: no id that is made up comes twice, and a part by itself gives the same.
#[test]
fn a_session_that_comes_back_gets_other_ids() {
    let (a, b) = ("aaaaaaaa-0000-4000-8000-000000000000", "bbbbbbbb-0000-4000-8000-000000000000");
    let run = |id: &str| {
        let line = |begin: &str, rest: &str| format!("{{{begin},{rest}\"session_id\":\"{id}\"}}\n");
        let message = |role: &str| format!("\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"go\"}}]}},");
        [
            line(r#""type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","model":"m""#, ""),
            line("\"type\":\"user\"", &message("user")),
            line("\"type\":\"assistant\"", &message("assistant")),
            line(
                r#""type":"result","subtype":"success","is_error":false,"duration_ms":1,"result":"go""#,
                "",
            ),
        ]
        .concat()
    };
    let parts = [run(a), run(b), run(a)];
    let ids = |text: &str, key: &str| -> Vec<String> {
        let mark = format!("\"{key}\":\"");
        let found = text.split(&mark).skip(1).filter_map(|rest| rest.split('"').next());
        found.map(str::to_owned).collect()
    };
    for (to, keys) in [
        ("claude", &["uuid"][..]),
        ("claude:transcript", &["uuid"]),
        ("qwen-code:chat", &["uuid"]),
        ("gemini:chat", &["id"]),
        ("ag-ui", &["messageId"]),
        ("opencode", &["id"]),
        ("codex:rollout", &["turn_id"]),
    ] {
        let convert = |log: &str, at: usize| {
            let mut converter = Converter::new(Options {
                at: at as u64,
                ..Options::new("cursor".parse().unwrap(), to.parse().unwrap())
            });
            let mut out = Vec::new();
            converter.feed(log.as_bytes(), &mut out);
            converter.finish(&mut out);
            String::from_utf8(out).unwrap()
        };
        let whole = convert(&parts.concat(), 0);
        let mut at = 0;
        let apart: Vec<String> = parts
            .iter()
            .map(|part| {
                at += part.len();
                convert(part, at - part.len())
            })
            .collect();
        assert!(apart.concat() == whole, "{to}");
        for key in keys {
            // One id may stand in several lines of one visit.
            let of = |visit: &String| ids(visit, key).into_iter().collect::<std::collections::BTreeSet<_>>();
            assert!(
                !of(&apart[0]).is_empty() && of(&apart[0]).is_disjoint(&of(&apart[2])),
                "{to} {key}: {whole}"
            );
        }
    }
}
