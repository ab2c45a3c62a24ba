//! What models used: each number goes over, or the ledger has an entry for it; a sum goes on whatever came of a turn.

use agentglot_adapters::convert::Options;

use crate::common::lost::entries;
use crate::common::{Log, Wrongs, convert, events, format, parallel, plain_goldens, quick, targets, with_ledger};

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
