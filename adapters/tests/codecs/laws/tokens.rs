//! What models used: each number goes over, or the ledger has an entry for it; a sum goes on whatever came of a turn.

use agentglot_adapters::convert::Options;
use agentglot_adapters::events::Scope;
use agentglot_adapters::raw::codec::Format;

use crate::common::lost::entries;
use crate::common::{Log, Wrongs, convert, events, format, golden_folder, parallel, plain_goldens, quick, targets, with_ledger};

/// Two rounds and an outcome; each number of tokens stands nowhere else.
fn two_rounds(outcome: &str) -> String {
    [
        r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Bash"],"model":"m","uuid":"u0"}"#,
        r#"{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":7001,"output_tokens":7002,"cache_read_input_tokens":7003,"cache_creation_input_tokens":7004}},"session_id":"s","uuid":"u1"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]},"session_id":"s","uuid":"u2"}"#,
        r#"{"type":"assistant","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":7101,"output_tokens":7102,"cache_read_input_tokens":7103,"cache_creation_input_tokens":7104}},"session_id":"s","uuid":"u3"}"#,
        outcome,
    ]
    .join("\n")
        + "\n"
}

const TOLD: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":2,"result":"done","session_id":"s","total_cost_usd":0.1,"usage":{"input_tokens":9001,"output_tokens":9002},"uuid":"u4"}"#;

#[test]
fn each_number_goes_over_or_is_told() {
    let claude = format("claude");
    let untold = TOLD.replace(r#""usage":{"input_tokens":9001,"output_tokens":9002},"#, "");
    for outcome in [TOLD, &untold, &TOLD.replace("\"is_error\":false", "\"is_error\":true")] {
        let log = two_rounds(outcome);
        for to in targets(claude) {
            let done = convert(&with_ledger(Options::new(claude, to)), log.as_bytes());
            let found = entries(&done.ledger);
            for (line, first) in [(2u64, 7001u64), (4, 7101)] {
                for (n, key) in ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
                    .into_iter()
                    .enumerate()
                {
                    let number = first + n as u64;
                    let pointer = format!("/message/usage/{key}");
                    let told: Vec<_> = found
                        .iter()
                        .filter(|entry| entry.fate == "dropped" && (entry.first..=entry.last).contains(&line))
                        .filter(|entry| pointer.starts_with(&entry.pointer))
                        .collect();
                    let sum = number + (7000 + n as u64 + if first == 7001 { 101 } else { 1 });
                    let written = [number, sum].iter().any(|number| done.text().contains(&number.to_string()));
                    // Where the cache counts as input, numbers are sums of others.
                    let in_sum = ["okens\":21", "okens\":42316"].iter().any(|sum| done.text().contains(sum));
                    assert!(
                        told.len() == 1 || told.is_empty() && (written || in_sum),
                        "{to}: {number} in {told:?}\n{}",
                        done.text()
                    );
                }
            }
        }
    }
}

/// Chunks have a place for the tokens of a turn; without an outcome that says them they are those of its rounds.
#[test]
fn chunks_say_what_the_rounds_used() {
    let untold = TOLD.replace(r#""usage":{"input_tokens":9001,"output_tokens":9002},"#, "");
    let done = quick(format("claude"), format("qwen:stream-chunk-json"), two_rounds(&untold).as_bytes());
    assert!(done.text().contains("\"completion_tokens\":14104"), "{}", done.text());
}

/// The tokens of a round may come when all that it said has gone out: the turn's summary has them then.
#[test]
fn what_comes_behind_its_reply_goes_over_with_the_turn() {
    let log = two_rounds("").lines().take(1).collect::<String>()
        + r#"
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant","model":"m","content":[]}},"session_id":"s","uuid":"u1"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]},"session_id":"s","uuid":"u2"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"a"}]},"session_id":"s","uuid":"u3"}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":7001,"output_tokens":7002}},"session_id":"s","uuid":"u4"}
{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s","uuid":"u5"}
{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"done","session_id":"s","uuid":"u6"}
"#;
    let done = convert(&with_ledger(Options::new(format("claude"), format("qwen"))), log.as_bytes());
    assert!(
        done.text().contains("\"prompt_tokens\":7001,\"completion_tokens\":7002"),
        "{}",
        done.text()
    );
    assert!(!done.ledger.contains("/event/usage/input_tokens"), "{}", done.ledger);
}

/// A rollout says the tokens of a round when its call has been answered, an export behind all parts of the message: they stand with what
/// the round said all the same, where the target has a place for them there.
#[test]
fn what_comes_behind_the_results_stands_with_the_round() {
    let rollout = [
        r#"{"timestamp":"2026-11-21T07:10:27.732Z","type":"session_meta","payload":{"id":"s","cwd":"/w","originator":"codex_exec","cli_version":"0.169.0"}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.733Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.734Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.735Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.736Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"a"}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.737Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":7001,"cached_input_tokens":0,"output_tokens":7002,"reasoning_output_tokens":0,"total_tokens":14003},"last_token_usage":{"input_tokens":7001,"cached_input_tokens":0,"output_tokens":7002,"reasoning_output_tokens":0,"total_tokens":14003}}}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.738Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.739Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":14102,"cached_input_tokens":0,"output_tokens":14104,"reasoning_output_tokens":0,"total_tokens":28206},"last_token_usage":{"input_tokens":7101,"cached_input_tokens":0,"output_tokens":7102,"reasoning_output_tokens":0,"total_tokens":14203}}}}"#,
        r#"{"timestamp":"2026-11-21T07:10:27.740Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":"done"}}"#,
    ]
    .join("\n")
        + "\n";
    let rollout = (format("codex:rollout"), rollout.into_bytes());
    let export = (format("opencode:export"), quick(rollout.0, format("opencode:export"), &rollout.1).out);
    let run = (format("ag-ui"), quick(rollout.0, format("ag-ui"), &rollout.1).out);
    for (from, log) in [rollout, export, run] {
        for to in [
            "claude",
            "claude:transcript",
            "qwen-code:chat",
            "gemini:chat",
            "atif",
            "opencode",
            "opencode:export",
            "codex:app-server",
            "ag-ui",
            "qwen-code",
            "qwen",
        ] {
            let to = format(to);
            let done = quick(from, to, &log);
            let read = quick(to, events(), &done.out);
            let outputs: Vec<u64> = read
                .text()
                .lines()
                .filter(|line| line.contains("\"scope\":\"round\""))
                .filter_map(|line| line.split("\"output\":").nth(1)?.split([',', '}']).next()?.parse().ok())
                .collect();
            assert_eq!(outputs, [7002, 7102], "{from} -> {to}: {}", done.text());
        }
        let read = agentglot_adapters::turns(log.as_slice(), from).map(Result::unwrap);
        let rounds = read.flat_map(|turn| turn.thread.rounds);
        let outputs: Vec<_> = rounds.filter_map(|round| round.usage?.output).collect();
        assert_eq!(outputs, [7002, 7102], "turns of {from}");
    }
}

/// What each reply of the main thread has written, as it is read back.
fn outputs(format: Format, log: &[u8]) -> Vec<u64> {
    let read = agentglot_adapters::turns(log, format).map(Result::unwrap);
    let rounds = read.flat_map(|turn| turn.thread.rounds);
    rounds.filter_map(|round| round.usage?.output.filter(|output| *output > 0)).collect()
}

/// Each line of a reply may have an id of its own, and only the last one its tokens.
#[test]
fn a_reply_of_several_lines_is_counted_once() {
    let qwen_code = format("qwen-code");
    let log = r#"{"type":"system","subtype":"init","uuid":"i","session_id":"s","cwd":"/w","tools":[],"model":"m"}
{"type":"assistant","uuid":"a","session_id":"s","parent_tool_use_id":null,"message":{"id":"a","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"x"}],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"assistant","uuid":"b","session_id":"s","parent_tool_use_id":null,"message":{"id":"b","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"run_shell_command","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":7001,"output_tokens":7002}}}
{"type":"user","uuid":"r","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":false,"content":"a"}]}}
{"type":"result","subtype":"success","uuid":"z","session_id":"s","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"x","usage":{"input_tokens":7001,"output_tokens":7002},"permission_denials":[]}
"#;
    for to in targets(qwen_code) {
        let done = quick(qwen_code, to, log.as_bytes());
        let outputs = outputs(to, &done.out);
        assert!(outputs.is_empty() || outputs == [7002], "{to}: {outputs:?}\n{}", done.text());
    }
}

/// Calls may run while their reply goes on, and each line of a reply says the tokens of all of it: they are told once.
#[test]
fn a_reply_that_goes_on_behind_results_is_counted_once() {
    let claude = format("claude");
    let more = r#"{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"d","name":"Bash","input":{"command":"pwd"}}],"usage":{"input_tokens":7001,"output_tokens":7002}},"session_id":"s","uuid":"u5"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"/w"}]},"session_id":"s","uuid":"u6"}
{"type":"assistant","message":{"id":"m2""#;
    let log = two_rounds(TOLD).replace(r#"{"type":"assistant","message":{"id":"m2""#, more);
    for to in targets(claude) {
        let done = convert(&with_ledger(Options::new(claude, to)), log.as_bytes());
        assert_eq!(done.out, quick(claude, to, log.as_bytes()).out, "{to}: a ledger changes nothing");
        let outputs = outputs(to, &done.out);
        assert!(outputs.is_empty() || outputs == [7002, 7102], "{to}: {outputs:?}\n{}", done.text());
        let calls = quick(to, events(), &done.out);
        assert_eq!(calls.text().matches("\"event\":\"tool_result\"").count(), 2, "{to}\n{}", done.text());
    }
    // Where a reply is one line, it is one.
    for (to, line) in [("gemini:chat", "\"type\":\"gemini\""), ("qwen-code:chat", "\"type\":\"assistant\"")] {
        let done = quick(claude, format(to), log.as_bytes());
        assert_eq!(done.text().matches(line).count(), 2, "{to}: {}", done.text());
    }
}

/// A reply of which only the tokens are left (Gemini CLI's, whose call stands on a line of its own) leaves them to what its round says next.
#[test]
fn a_reply_without_words_leaves_its_tokens_to_its_call() {
    let log = [
        r#"{"sessionId":"s","projectHash":"p","startTime":"2026-11-21T07:03:49.422Z","lastUpdated":"2026-11-21T07:03:49.422Z","kind":"main"}"#,
        r#"{"id":"a","timestamp":"2026-11-21T07:03:49.430Z","type":"user","content":[{"text":"go"}]}"#,
        r#"{"id":"b","timestamp":"2026-11-21T07:03:49.486Z","type":"gemini","content":"","thoughts":[],"tokens":{"input":7001,"output":7002,"cached":0,"thoughts":0,"tool":0,"total":14003},"model":"m"}"#,
        r#"{"id":"b","timestamp":"2026-11-21T07:03:49.486Z","type":"gemini","content":"","thoughts":[],"tokens":{"input":7001,"output":7002,"cached":0,"thoughts":0,"tool":0,"total":14003},"model":"m","toolCalls":[{"id":"c","name":"read_file","args":{"file_path":"/a"},"result":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"x"}}}],"status":"success","timestamp":"2026-11-21T07:03:49.490Z"}]}"#,
    ]
    .join("\n")
        + "\n";
    let done = quick(format("gemini:chat"), format("claude:transcript"), log.as_bytes());
    let call = done.text().lines().find(|line| line.contains("\"tool_use\"")).unwrap().to_owned();
    assert!(call.contains("\"output_tokens\":7002"), "{call}");
}

/// The sum of a session, as Qwen Code says it.
fn turn(n: u32, input: u32, failed: bool) -> String {
    let (word, rest) = match failed {
        false => ("success", "\"is_error\":false,\"result\":\"x\""),
        true => ("error_during_execution", "\"is_error\":true,\"error\":{\"message\":\"no\"}"),
    };
    format!(
        "{}\n{}\n{{\"type\":\"result\",\"subtype\":\"{word}\",\"uuid\":\"r{n}\",\"session_id\":\"s\",{rest},\"duration_ms\":1,\"duration_api_ms\":1,\"num_turns\":1,\"usage\":{{\"input_tokens\":{input},\"output_tokens\":{}}},\"permission_denials\":[]}}\n",
        format_args!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"uuid\":\"i{n}\",\"session_id\":\"s\",\"cwd\":\"/w\",\"tools\":[],\"model\":\"m\"}}"
        ),
        format_args!(
            "{{\"type\":\"assistant\",\"uuid\":\"a{n}\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{{\"id\":\"a{n}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}],\"stop_reason\":null}}}}"
        ),
        input.min(1),
    )
}

/// A turn that fails uses tokens too: they are not the next turn's, also where a target says nothing of such a turn.
#[test]
fn a_failed_turn_keeps_its_own() {
    let qwen_code = format("qwen-code");
    let log = [
        turn(1, 1000, false),
        turn(2, 1100, true),
        turn(3, 1107, false),
        turn(4, 0, true),
        turn(5, 1109, false),
    ]
    .concat();
    for to in targets(qwen_code) {
        let done = quick(qwen_code, to, log.as_bytes());
        // Where a number is that of the session, it is said as it is; where it is that of the turn, so is each.
        // OpenCode's lines say those of rounds alone.
        if matches!(to.dialect.name(), "tricode" | "opencode") || to == events() {
            continue;
        }
        let read = quick(to, events(), &done.out);
        // The app-server says it of its rounds.
        let of_rounds = to.mode.name == "app-server";
        let says = if of_rounds {
            "{\"event\":\"round_end\""
        } else {
            "{\"event\":\"outcome\""
        };
        let inputs: Vec<u64> = read
            .text()
            .lines()
            .filter(|line| line.starts_with(says) && !line.contains("\"synthetic\":true"))
            .filter_map(|line| line.split("\"input\":").nth(1)?.split([',', '}']).next()?.parse().ok())
            .filter(|input| *input > 0)
            .collect();
        let wanted: &[u64] = match to.dialect.name() {
            "cursor" => &[1000, 7, 2],
            // Sums of the thread, which a turn that failed does not say.
            "codex" if !of_rounds => &[1000, 1107, 1109],
            _ => &[1000, 100, 7, 2],
        };
        assert_eq!(inputs, wanted, "{to}: {}", done.text());
    }
}

/// With and without a ledger, whatever a log says of tokens.
#[test]
fn of_goldens() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        for to in targets(log.format) {
            wrongs.check();
            let options = Options::new(log.format, to);
            if convert(&with_ledger(options.clone()), &log.bytes).out != convert(&options, &log.bytes).out {
                wrongs.add(format!("tokens {} -> {to}", log.format), log.name.clone());
            }
        }
    };
    parallel(&plain_goldens(), over).finish("the ledger changes nothing");
}

/// Formats with a place for what was thought.
const SAY_REASONING: [&str; 22] = [
    "agentglot",
    "claude",
    "claude:json",
    "claude:transcript",
    "qwen",
    "qwen:stream-chunk-json",
    "qwen-code:chat",
    "codex",
    "codex:rollout",
    "codex:app-server",
    "gemini",
    "gemini:json",
    "gemini:chat",
    "opencode",
    "opencode:bus",
    "opencode:export",
    "acp",
    "acp:v2",
    "ag-ui",
    "atif",
    "anthropic",
    "openai",
];

/// Those of them that say it of rounds alone.
const OF_ROUNDS: [&str; 2] = ["codex:app-server", "opencode"];

/// What was written and, of that, thought, over all turns of a log, or over all rounds. Nothing where the log says of one that more was
/// thought than written.
fn thought(format: Format, log: &[u8], of_rounds: bool) -> [u64; 2] {
    let mut sum = [0; 2];
    for turn in agentglot_adapters::turns(log, format).map_while(Result::ok) {
        let rounds = turn.thread.rounds.iter().filter_map(|round| round.usage.as_ref());
        let said: Vec<_> = if of_rounds { rounds.collect() } else { turn.usage.iter().collect() };
        for usage in said {
            let counts = [usage.written_tokens(), usage.reasoning_tokens()].map(Option::unwrap_or_default);
            if counts[0] < counts[1] {
                return [0; 2];
            }
            // Of the session so far: the last one is that of all turns. A turn that failed may say zeros.
            let so_far = usage.scope == Scope::Session;
            if !so_far || counts[0] > 0 {
                sum = std::array::from_fn(|n| if so_far { counts[n] } else { sum[n] + counts[n] });
            }
        }
    }
    sum
}

/// What was thought goes over wherever there is a place for it, and what was written stays the same with it and without: some dialects
/// count the one as a part of the other, and some beside it.
#[test]
fn what_was_thought_is_counted_alike() {
    let over = |log: &Log, wrongs: &mut Wrongs| {
        // Programs that were recorded with a model that thinks say it; the others say 0.
        let names = [
            "\"thinking_tokens\":",
            "\"reasoning\":",
            "\"reasoning_output_tokens\":",
            "\"thoughtsTokenCount\":",
        ];
        let text = String::from_utf8_lossy(&log.bytes).replace("\"tokens\":{\"total\":", "\"tokens\":{\"was\":");
        let thinks = names
            .iter()
            .fold(text, |text, name| text.replace(&format!("{name}0"), &format!("{name}3")));
        for bytes in [log.bytes.as_slice(), thinks.as_bytes()] {
            let [turns, rounds] = [false, true].map(|of_rounds| thought(log.format, bytes, of_rounds));
            for to in targets(log.format) {
                let name = to.to_string();
                let of_rounds = OF_ROUNDS.contains(&name.as_str());
                let said = if of_rounds { rounds } else { turns };
                if !SAY_REASONING.contains(&name.as_str()) || said[1] == 0 {
                    continue;
                }
                wrongs.check();
                let found = thought(to, &quick(log.format, to, bytes).out, of_rounds);
                // Codex says nothing of tokens at the end of a turn that failed.
                if found != said && (name != "codex" || found != [0, 0]) {
                    wrongs.add(
                        format!("thought {} -> {to}", log.format),
                        format!("{}: {said:?}, then {found:?}", log.name),
                    );
                }
            }
        }
    };
    parallel(&plain_goldens(), over).finish("what was thought is counted alike");
}

/// The tokens of all turns of a log: sent and written.
fn spent(format: Format, log: &[u8]) -> [u64; 2] {
    let turns = agentglot_adapters::turns(log, format).map_while(Result::ok);
    let usages: Vec<_> = turns.filter_map(|turn| turn.usage).collect();
    let sum = |count: fn(&agentglot_adapters::events::Usage) -> Option<u64>| usages.iter().filter_map(count).sum();
    [
        sum(agentglot_adapters::events::Usage::prompt_tokens),
        sum(agentglot_adapters::events::Usage::written_tokens),
    ]
}

/// Formats that say tokens of rounds alone, or sum them up.
const ASK_ROUNDS: [&str; 8] = [
    "claude:transcript",
    "qwen-code:chat",
    "codex:rollout",
    "codex:app-server",
    "gemini:chat",
    "opencode",
    "opencode:export",
    "atif",
];

/// What a program writes of a reply while it is on its way counts little of what the model writes; its outcome says all of it.
#[test]
fn what_only_the_outcome_knows_is_the_last_round_s() {
    let claude = format("claude");
    let log = two_rounds(TOLD)
        .replace("\"output_tokens\":7002", "\"output_tokens\":1")
        .replace("\"output_tokens\":7102", "\"output_tokens\":1")
        .replace(
            "\"input_tokens\":9001",
            "\"input_tokens\":14102,\"cache_read_input_tokens\":14106,\"cache_creation_input_tokens\":14108",
        );
    assert_eq!(spent(claude, log.as_bytes()), [42316, 9002]);
    for to in ASK_ROUNDS.map(format) {
        assert_eq!(spent(to, &quick(claude, to, log.as_bytes()).out), [42316, 9002], "{to}");
    }
    // The model was asked by somebody else, too: what that has cost is not this round's.
    let more = log.replace("\"input_tokens\":14102", "\"input_tokens\":15102");
    for to in ASK_ROUNDS.map(format) {
        assert_eq!(spent(to, &quick(claude, to, more.as_bytes()).out)[1], 2, "{to}");
    }
}

/// The tokens of a turn of one round are those of the round, whoever says them.
#[test]
fn tokens_of_a_turn_are_those_of_its_only_round() {
    for (from, name) in [
        ("qwen:stream-chunk-json", "qwen/plain.chunks.jsonl"),
        ("codex", "codex/stdin_prompt.out.jsonl"),
        ("cursor", "cursor/plain_answer.jsonl"),
        ("gemini:json", "gemini/json.out.json"),
    ] {
        let from = format(from);
        let log = std::fs::read(golden_folder().join(name)).expect("the golden log is part of the repository");
        let wanted = spent(from, &log);
        assert_ne!(wanted, [0, 0], "{name}");
        for to in ASK_ROUNDS.map(format).into_iter().filter(|to| *to != from) {
            assert_eq!(spent(to, &quick(from, to, &log).out), wanted, "{name} -> {to}");
        }
    }
}
