use super::*;

#[test]
fn what_is_damaged_is_named_and_the_rest_is_read() {
    let settings = Settings {
        max_line: Some(100),
        ..Settings::default()
    };
    let mut checker = Checker::with("claude".parse().unwrap(), settings);
    let long = format!("{{\"type\":\"system\",\"x\":\"{}\"}}\n", "x".repeat(100));
    for piece in ["\u{feff}{\"type\":\"keep_alive\"}\nplain\n", &long, "[1,2]\n"] {
        checker.feed(piece.as_bytes());
    }
    checker.feed(b"\xff\n");
    let (findings, summary) = checker.finish();
    let errors = findings.iter().filter(|f| f.level == Level::Error);
    let lines: Vec<_> = errors.map(|f| (f.line, f.message.split(' ').next().unwrap())).collect();
    assert_eq!(lines, [(3, "a"), (5, "invalid")]);
    assert_eq!(summary.lines, 5);
}

/// A connection of several turns, each with its answer, is sound: whether there is a turn too many nothing says there.
#[test]
fn turns_of_a_connection_are_sound() {
    let turn = |id: u32| {
        format!(
            concat!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s","prompt":[{{"type":"text","text":"go"}}]}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"done"}}}}}}}}"#,
                "\n",
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#,
                "\n"
            ),
            id = id
        )
    };
    let opened = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
        "\n"
    );
    let mut checker = Checker::new("acp".parse().unwrap());
    checker.feed([opened, &turn(2), &turn(3)].concat().as_bytes());
    let (findings, summary) = checker.finish();
    let warned: Vec<_> = findings.iter().filter(|finding| finding.level >= Level::Warning).collect();
    assert!(warned.is_empty(), "{warned:?}");
    assert_eq!(summary.outcomes, 2);
}

/// Claude Code holds the result of a turn back while subagents work in the background, and begins the turn of what they report meanwhile.
#[test]
fn an_outcome_may_come_behind_the_beginning_of_the_next_turn() {
    let init = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"claude_code_version\":\"2.1.332\"}\n";
    let said = |id: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"a\"}}]}},\"session_id\":\"s\",\"uuid\":\"{id}\"}}\n"
        )
    };
    let told = "{\"type\":\"system\",\"subtype\":\"task_notification\",\"task_id\":\"t\",\"status\":\"completed\",\"summary\":\"x\",\"session_id\":\"s\",\"uuid\":\"n\"}\n";
    let result = |n: u32| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"{n}\",\"num_turns\":1,\"session_id\":\"s\",\"total_cost_usd\":0.1,\"uuid\":\"r{n}\"}}\n"
        )
    };
    let (one, two, first, second) = (said("one"), said("two"), result(1), result(2));
    let wrong = |log: &[&str]| {
        let mut checker = Checker::new("claude".parse().unwrap());
        checker.feed(log.concat().as_bytes());
        let findings = checker.finish().0.into_iter().filter(|finding| finding.level == Level::Error);
        findings.map(|finding| (finding.rule, finding.line)).collect::<Vec<_>>()
    };
    assert_eq!(wrong(&[init, &one, told, init, &two, &first, &second]), []);
    assert_eq!(wrong(&[init, &one, told, init, &two, &first]), [(Rule::MissingOutcome, 1)]);
    assert_eq!(
        wrong(&[init, &one, told, init, &two, &first, &second, &result(3)]),
        [(Rule::SecondOutcome, 8)]
    );
    // Without tasks each turn ends before the next.
    assert_eq!(
        wrong(&[init, &one, init, &two, &first, &second]),
        [(Rule::MissingOutcome, 1), (Rule::SecondOutcome, 6)]
    );
}

/// The stream breaks off within a call: the end of the reply takes the block back, which never stops.
#[test]
fn a_block_that_is_given_up_needs_no_stop() {
    let event = |event: &str, more: &str| {
        format!("{{\"type\":\"stream_event\",\"event\":{event},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u\"{more}}}\n")
    };
    let start = |index: u32, block: &str| {
        event(
            &format!("{{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{block}}}"),
            "",
        )
    };
    let begun = [
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"claude_code_version\":\"2.1.332\"}\n".to_owned(),
        event(
            "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}",
            "",
        ),
        start(0, "{\"type\":\"text\",\"text\":\"\"}"),
        event("{\"type\":\"content_block_stop\",\"index\":0}", ""),
        start(1, "{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"Bash\",\"input\":{}}"),
    ]
    .concat();
    let wrong = |more: &str| {
        let mut checker = Checker::new("claude".parse().unwrap());
        checker.feed((begun.clone() + &event("{\"type\":\"message_stop\"}", more)).as_bytes());
        let findings = checker.finish().0.into_iter().filter(|finding| finding.rule == Rule::BlockNotStopped);
        findings.map(|finding| finding.line).collect::<Vec<_>>()
    };
    let given_up = |from: u32| format!(",\"abandoned_blocks\":{{\"api_message_id\":\"m\",\"from_block_index\":{from}}}");
    assert_eq!(wrong(&given_up(1)), [] as [u64; 0]);
    assert_eq!(wrong(&given_up(2)), [5]);
    assert_eq!(wrong(""), [5]);
}

/// A failure told as a text is told, whatever would be escaped in it.
#[test]
fn a_failure_in_plain_text_is_an_outcome() {
    for error in ["Error code: 400", r#"{"type": "error"}"#, r"C:\x"] {
        let mut checker = Checker::new("tricode".parse().unwrap());
        let log = format!("{{\"type\": \"system\", \"message\": \"Session ID: 1\"}}\nOpenAI API error: {error}\n");
        checker.feed(log.as_bytes());
        let (findings, summary) = checker.finish();
        assert!(findings.is_empty(), "{error}: {findings:?}");
        assert_eq!(summary.outcomes, 1);
    }
}

/// One line that says how it ended is what a program writes that was asked for one document; before others it lacks the beginning.
#[test]
fn an_outcome_that_stands_alone_is_a_document() {
    let result = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"session_id\":\"s\",\"total_cost_usd\":0.1}\n";
    let user = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"},\"session_id\":\"s\"}\n";
    for (log, findings) in [(result.to_owned(), 0), (format!("{result}{user}"), 1)] {
        let mut checker = Checker::new("claude".parse().unwrap());
        checker.feed(log.as_bytes());
        let rules: Vec<_> = checker.finish().0.into_iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, vec![Rule::MissingInit; findings]);
    }
}

/// Of stored events nobody knows what the log was like.
#[test]
fn an_outcome_that_stands_alone_may_be_stored() {
    let log = concat!(
        "{\"agentglot\":\"events\",\"version\":1,\"source\":\"claude:json\"}\n",
        "{\"event\":\"outcome\",\"session\":\"s\",\"outcome\":\"success\",\"is_error\":false,\"text\":\"done\"}\n"
    );
    let mut checker = Checker::new("agentglot".parse().unwrap());
    checker.feed(log.as_bytes());
    let findings = checker.finish().0;
    assert!(findings.iter().all(|finding| finding.level < Level::Error), "{findings:?}");
}

/// That a turn ended well is read off a log that does not say so. That one was cut off is no outcome.
#[test]
fn an_outcome_that_was_worked_out_is_one() {
    let prompt = "{\"event\":\"prompt\",\"session\":\"s\",\"source\":\"host\",\"content\":\"go\"}\n";
    let reply = "{\"event\":\"reply\",\"session\":\"s\",\"blocks\":[{\"type\":\"text\",\"text\":\"done\"}]}\n";
    let ended = |outcome: &str, is_error: bool| {
        format!("{{\"event\":\"outcome\",\"session\":\"s\",\"outcome\":\"{outcome}\",\"is_error\":{is_error},\"synthetic\":true}}\n")
    };
    let turn = |end: &str| [prompt, reply, end].concat();
    let opening = concat!(
        "{\"agentglot\":\"events\",\"version\":1,\"source\":\"gemini:chat\"}\n",
        "{\"event\":\"session\",\"session\":\"s\",\"opens_turn\":true}\n"
    );
    let log = |turns: &[String]| format!("{opening}{}", turns.concat());
    let well = turn(&ended("success", false));
    for (log, outcomes, missing) in [
        (log(&[well.clone(), well.clone()]), 2, 0),
        (log(&[well, turn(&ended("failed_protocol", true))]), 1, 1),
    ] {
        let mut checker = Checker::new("agentglot".parse().unwrap());
        checker.feed(log.as_bytes());
        let (findings, summary) = checker.finish();
        let rules: Vec<_> = findings.into_iter().map(|finding| finding.rule).collect();
        assert_eq!((rules, summary.outcomes), (vec![Rule::MissingOutcome; missing], outcomes));
    }
}

/// What a session said before is said again when it is opened again: its calls are no second ones. Within one turn they are.
#[test]
fn calls_that_are_said_again_are_no_second_ones() {
    let update = |rest: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{\"sessionUpdate\":{rest}}}}}}}\n")
    };
    let asked = |id: u32, method: &str, rest: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/{method}\",\"params\":{{\"sessionId\":\"s\",{rest}}}}}\n")
    };
    let answered = |id: u32, result: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{result}}}}}\n");
    let call = update(r#""tool_call","toolCallId":"c","name":"x","status":"in_progress","rawInput":{"a":1}"#)
        + &update(r#""tool_call_update","toolCallId":"c","status":"completed","rawOutput":"done""#);
    let prompt = asked(1, "prompt", r#""prompt":[{"type":"text","text":"go"}]"#) + &call + &answered(1, r#""stopReason":"end_turn""#);
    let load = asked(2, "load", r#""cwd":"/w","mcpServers":[]"#)
        + &update(r#""user_message_chunk","content":{"type":"text","text":"go"}"#)
        + &call
        + &answered(2, "");
    let start = asked(0, "new", r#""cwd":"/w","mcpServers":[]"#) + &answered(0, r#""sessionId":"s""#);
    let again = prompt.replace("\"id\":1", "\"id\":3");
    for (log, wrong) in [(&load, 0), (&again, 1)] {
        let mut checker = Checker::new("acp".parse().unwrap());
        checker.feed([&start, &prompt, log].map(String::as_str).concat().as_bytes());
        let (findings, _) = checker.finish();
        let errors: Vec<_> = findings.iter().filter(|finding| finding.level == Level::Error).collect();
        assert_eq!(
            errors.iter().filter(|finding| finding.rule == Rule::DuplicateCallId).count(),
            wrong,
            "{errors:?}"
        );
        assert!(wrong > 0 || errors.is_empty(), "{errors:?}");
    }
}

/// What the host runs has its result in the next run. In no dialect is that a call without one, or a second one.
#[test]
fn a_result_that_comes_with_the_next_turn_is_one() {
    let run = |id: u8, says: &str| {
        format!(
            "{{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r{id}\"}}\n{says}\n{{\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r{id}\"}}\n"
        )
    };
    let call = r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"ask"}
{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"q\":1}"}
{"type":"TOOL_CALL_END","toolCallId":"c"}"#;
    let result = r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"yes"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","role":"assistant","delta":"fine"}"#;
    let told = |log: &str, to: Format| {
        let mut out = Vec::new();
        let mut converter = crate::convert::Converter::new(Options::new("ag-ui".parse().unwrap(), to));
        converter.feed(log.as_bytes(), &mut out);
        converter.finish(&mut out);
        let mut checker = Checker::new(to);
        checker.feed(&out);
        let (findings, _) = checker.finish();
        let of_calls = findings
            .into_iter()
            .filter(|finding| finding.level >= Level::Warning && finding.rule.name().contains("call"));
        of_calls.map(|finding| finding.rule.name()).collect::<Vec<_>>()
    };
    let answered = run(1, call) + &run(2, result);
    // In Tricode results name no calls, and Codex's `exec` counts them anew: there a result is of a call in the same turn.
    let names_calls = |to: &Format| !["tricode", "codex"].contains(&to.to_string().as_str());
    for to in Format::all().filter(|to| to.is_writable() && to.is_readable() && names_calls(to)) {
        assert_eq!(told(&answered, to), Vec::<&str>::new(), "{to}");
    }
    let other = r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","role":"assistant","delta":"fine"}"#;
    for log in [run(1, call) + &run(2, other), run(1, call)] {
        assert_eq!(told(&log, "claude".parse().unwrap()), ["call-without-result"], "{log}");
    }
}

/// What a tool wants a number for may come as a text from the model; anything else that the whole says otherwise is a fault.
#[test]
fn arguments_that_a_program_tidied_are_no_fault() {
    let log = |input: &str| {
        let start = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{}}},"session_id":"s","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"Bash","input":{}}},"session_id":"s","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ls  \",\"timeout\":\"100\",\"bg\":\"true\"}"}},"session_id":"s","parent_tool_use_id":null}"#;
        format!(
            "{start}\n{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"Bash\",\"input\":{input}}}],\"usage\":{{}}}},\"session_id\":\"s\",\"parent_tool_use_id\":null}}\n"
        )
    };
    for (input, level) in [
        (r#"{"command":"ls","timeout":100,"bg":true}"#, Level::Warning),
        (r#"{"command":"ls","timeout":10,"bg":true}"#, Level::Error),
        (r#"{"command":"ls","timeout":100,"bg":null}"#, Level::Error),
    ] {
        let mut checker = Checker::new("claude".parse().unwrap());
        checker.feed(log(input).as_bytes());
        let (findings, _) = checker.finish();
        let found = findings
            .iter()
            .find(|finding| finding.rule == Rule::DeltasDiffer)
            .map(|finding| finding.level);
        assert_eq!(found, Some(level), "{input}: {findings:?}");
    }
}

/// A review begins a message of which it says nothing; what it found is another one.
#[test]
fn an_item_of_which_nothing_was_said_is_not_the_next_whole_one() {
    let item = |word: &str, id: &str, text: &str| {
        format!(
            "{{\"method\":\"item/{word}\",\"params\":{{\"threadId\":\"t\",\"turnId\":\"u\",\"item\":{{\"type\":\"agentMessage\",\"id\":\"{id}\",\"text\":\"{text}\"}}}}}}\n"
        )
    };
    let log = [
        item("started", "a", ""),
        item("started", "b", "It is bad."),
        item("completed", "b", "It is bad."),
    ]
    .concat();
    let mut checker = Checker::new("codex:app-server".parse().unwrap());
    checker.feed(log.as_bytes());
    let (findings, _) = checker.finish();
    assert!(findings.iter().all(|finding| finding.rule != Rule::DeltasDiffer), "{findings:?}");
}

fn errors(log: &str, format: &str) -> Vec<&'static str> {
    let mut checker = Checker::new(format.parse().unwrap());
    checker.feed(log.as_bytes());
    let (findings, _) = checker.finish();
    let errors = findings.into_iter().filter(|finding| finding.level == Level::Error);
    errors.map(|finding| finding.rule.name()).collect()
}

/// Qwen Code stops a text once that was cut off, and goes on with it when the model has been called again.
#[test]
fn a_text_may_go_on_when_the_model_is_called_again() {
    let event = |event: &str| format!("{{\"type\":\"stream_event\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"event\":{event}}}\n");
    let piece = |text: &str| {
        event(&format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}"
        ))
    };
    let whole = |text: &str| {
        format!(
            "{{\"type\":\"assistant\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let retry = "{\"type\":\"system\",\"subtype\":\"retry\",\"session_id\":\"s\",\"data\":{\"preserveText\":true}}\n";
    let log = |retry: &str, text: &str| {
        [
            &event("{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\"}}"),
            &event("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"),
            &piece("Hel"),
            &event("{\"type\":\"content_block_stop\",\"index\":0}"),
            retry,
            &piece("lo"),
            &whole(text),
            &event("{\"type\":\"message_stop\"}"),
        ]
        .concat()
    };
    let of_blocks = |log: &str| -> Vec<_> {
        let all = errors(log, "qwen-code").into_iter();
        all.filter(|rule| rule.contains("block") || rule.contains("deltas")).collect()
    };
    assert_eq!(of_blocks(&log(retry, "Hello")), Vec::<&str>::new());
    assert_eq!(of_blocks(&log(retry, "Help")), ["deltas-differ"]);
    assert_eq!(of_blocks(&log("", "Hello")), ["block-not-started", "deltas-differ"]);
}

/// Claude Code's background subagents work on behind `/clear`, under the name of the session that has begun.
#[test]
fn a_subagent_works_on_in_the_next_session() {
    let line = |kind: &str, id: &str, content: &str, parent: &str, session: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"message\":{{\"id\":\"{id}\",\"role\":\"{kind}\",\"content\":[{content}]}},\"parent_tool_use_id\":{parent},\"session_id\":\"{session}\"}}\n"
        )
    };
    let call = |id: &str, name: &str| format!("{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{name}\",\"input\":{{}}}}");
    let result = |id: &str| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}");
    let over =
        |session: &str| format!("{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"\",\"session_id\":\"{session}\"}}\n");
    let first = [
        line("assistant", "m1", &call("a", "Task"), "null", "s1"),
        line("user", "u1", &result("a"), "null", "s1"),
        line("assistant", "m2", &call("b", "Bash"), "\"a\"", "s1"),
        over("s1"),
        r#"{"type":"conversation_reset","new_conversation_id":"s2","uuid":"r","session_id":"s1"}
{"type":"system","subtype":"background_tasks_changed","tasks":[],"uuid":"b","session_id":"s1"}
{"type":"system","subtype":"init","session_id":"s2","cwd":"/w","tools":[],"model":"k","uuid":"i"}
"#
        .to_owned(),
        over("s2"),
    ]
    .concat();
    let of_calls = |log: &str| -> Vec<_> {
        let all = errors(log, "claude").into_iter();
        all.filter(|rule| rule.contains("call") || rule.contains("parent")).collect()
    };
    assert_eq!(
        of_calls(&(first.clone() + &line("user", "u2", &result("b"), "\"a\"", "s2"))),
        Vec::<&str>::new()
    );
    assert_eq!(
        of_calls(&(first + &line("user", "u2", &result("c"), "\"d\"", "s2"))),
        ["unknown-parent", "result-without-call"]
    );
}

/// Two programs have written into one file: it is said, once. Logs one after the other are no fault.
#[test]
fn sessions_whose_lines_stand_by_turns_are_told_once() {
    let lines = |id: &str| {
        [
            format!(
                r#"{{"type":"system","subtype":"init","session_id":"{id}","claude_code_version":"2.1.329","cwd":"/","tools":[],"model":"m","uuid":"{id}0"}}"#
            ),
            format!(
                r#"{{"type":"assistant","message":{{"id":"m{id}","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"a"}}]}},"session_id":"{id}","uuid":"{id}1"}}"#
            ),
            format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"a","session_id":"{id}","uuid":"{id}2"}}"#),
        ]
    };
    let mixed = |lines: Vec<String>| {
        let mut checker = Checker::new("claude".parse().unwrap());
        checker.feed((lines.join("\n") + "\n").as_bytes());
        let (findings, _) = checker.finish();
        findings
            .into_iter()
            .filter(|finding| finding.rule == Rule::MixedSessions)
            .collect::<Vec<_>>()
    };
    let (a, b) = (lines("a"), lines("b"));
    let by_turns = a.iter().zip(&b).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let found = mixed(by_turns);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].line, found[0].level), (3, Level::Warning));
    assert!(found[0].message.contains("\"a\" goes on"), "{}", found[0].message);
    assert!(mixed([a, b].concat()).is_empty());
}
