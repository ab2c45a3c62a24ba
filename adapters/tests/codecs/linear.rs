//! Ten times as much of one thing takes about ten times as long: nothing is searched for among all that came before it, however
//! many blocks, calls, subagents, threads or questions there are in one round.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::common::{Wrongs, all_targets, convert, events, format, quick, streaming, with_ledger};
use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Format;

/// How many times as many.
const MORE: usize = 10;
/// How many times as long that may take: what is quadratic takes a hundred times as long.
const MOST: u32 = 40;
/// What takes less than this is not compared; for many as much of anything, that is no time.
const NO_TIME: Duration = Duration::from_millis(150);
/// The work of a thread is counted at such intervals by some kernels.
const INTERVAL: Duration = Duration::from_millis(4);

/// How many of each there are in the shorter log.
const FEW: usize = if cfg!(debug_assertions) { 1000 } else { 5000 };

const INIT: &str = r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Bash"],"mcp_servers":[],"model":"m","permissionMode":"default","slash_commands":[],"apiKeySource":"none","claude_code_version":"2.0.0","uuid":"u"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"done","session_id":"s","total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1},"permission_denials":[],"uuid":"r"}"#;

/// A log in the words of Claude Code.
#[derive(Default)]
struct Story(String);

impl Story {
    fn begin() -> Self {
        Self(format!("{INIT}\n"))
    }

    fn end(mut self) -> Vec<u8> {
        self.line(RESULT);
        self.0.into_bytes()
    }

    fn line(&mut self, line: &str) {
        writeln!(self.0, "{line}").expect("a String takes everything");
    }

    fn message(&mut self, message: &str, parent: Option<&str>, blocks: &str) {
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        let n = self.0.len();
        self.line(&format!(
            r#"{{"type":"assistant","message":{{"id":"{message}","type":"message","role":"assistant","model":"m","content":[{blocks}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":{parent},"session_id":"s","uuid":"{n}"}}"#
        ));
    }

    fn result(&mut self, call: &str, parent: Option<&str>) {
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        let n = self.0.len();
        self.line(&format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":"ok","is_error":false}}]}},"parent_tool_use_id":{parent},"session_id":"s","uuid":"{n}"}}"#
        ));
    }

    fn piece(&mut self, event: &str) {
        let n = self.0.len();
        self.line(&format!(
            r#"{{"type":"stream_event","event":{event},"session_id":"s","parent_tool_use_id":null,"uuid":"{n}"}}"#
        ));
    }
}

fn call(id: &str, name: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"command":"true {id}"}}}}"#)
}

fn text(n: usize) -> String {
    format!(r#"{{"type":"text","text":"text {n}."}}"#)
}

/// One thing, so many times.
type Many = fn(usize) -> Vec<u8>;

/// Many of one thing, in the words of Claude Code.
const STORIES: &[(&str, Many)] = &[
    ("texts of one message", |count| {
        let mut story = Story::begin();
        (0..count).for_each(|n| story.message("m", None, &text(n)));
        story.end()
    }),
    ("blocks of one line", |count| {
        let mut story = Story::begin();
        let blocks: Vec<String> = (0..count)
            .map(|n| if n % 2 == 0 { text(n) } else { call(&n.to_string(), "Bash") })
            .collect();
        story.message("m", None, &blocks.join(","));
        story.end()
    }),
    ("calls, then their results", |count| {
        let mut story = Story::begin();
        (0..count).for_each(|n| story.message("m", None, &call(&format!("c{n}"), "Bash")));
        (0..count).for_each(|n| story.result(&format!("c{n}"), None));
        story.end()
    }),
    ("calls, then their results from the last to the first", |count| {
        let mut story = Story::begin();
        (0..count).for_each(|n| story.message("m", None, &call(&format!("c{n}"), "Bash")));
        (0..count).rev().for_each(|n| story.result(&format!("c{n}"), None));
        story.end()
    }),
    ("results without calls", |count| {
        let mut story = Story::begin();
        (0..count).for_each(|n| story.result(&format!("c{n}"), None));
        story.end()
    }),
    ("subagents at work", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            let task = format!(r#"{{"type":"tool_use","id":"t{n}","name":"Task","input":{{"description":"d","prompt":"p","subagent_type":"g"}}}}"#);
            story.message("m", None, &task);
        }
        for n in 0..count {
            story.message(&format!("s{n}"), Some(&format!("t{n}")), &call(&format!("c{n}"), "Bash"));
        }
        for n in 0..count {
            story.result(&format!("c{n}"), Some(&format!("t{n}")));
            story.line(&format!(
                r#"{{"type":"system","subtype":"task_notification","task_id":"x{n}","tool_use_id":"t{n}","status":"completed","session_id":"s","uuid":"n{n}"}}"#
            ));
        }
        (0..count).for_each(|n| story.result(&format!("t{n}"), None));
        story.end()
    }),
    ("calls of one id", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            story.message(&format!("m{n}"), None, &call("c", "Bash").replace("true c", &format!("true {n}")));
        }
        (0..count).for_each(|_| story.result("c", None));
        story.end()
    }),
    ("subagents whose calls nobody made", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            story.message(&format!("s{n}"), Some(&format!("t{n}")), &call(&format!("c{n}"), "Bash"));
        }
        (0..count).for_each(|n| story.result(&format!("c{n}"), Some(&format!("t{n}"))));
        story.end()
    }),
    ("subagents in subagents", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            let parent = n.checked_sub(1).map(|before| format!("t{before}"));
            story.message(&format!("m{n}"), parent.as_deref(), &call(&format!("t{n}"), "Task"));
        }
        story.end()
    }),
    ("calls of one subagent", |count| {
        let mut story = Story::begin();
        story.message("m", None, &call("t", "Task"));
        (0..count).for_each(|n| story.message("s", Some("t"), &call(&format!("c{n}"), "Bash")));
        (0..count).for_each(|n| story.result(&format!("c{n}"), Some("t")));
        story.result("t", None);
        story.end()
    }),
    ("blocks in pieces that are open at once", |count| {
        let mut story = Story::begin();
        story.piece(r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#);
        for n in 0..count {
            story.piece(&format!(
                r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"tool_use","id":"c{n}","name":"Bash","input":{{}}}}}}"#
            ));
        }
        for part in ["{\\\"command\\\":", "\\\"true\\\"}"] {
            for n in 0..count {
                story.piece(&format!(
                    r#"{{"type":"content_block_delta","index":{n},"delta":{{"type":"input_json_delta","partial_json":"{part}"}}}}"#
                ));
            }
        }
        (0..count).for_each(|n| story.piece(&format!(r#"{{"type":"content_block_stop","index":{n}}}"#)));
        story.piece(
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":1,"output_tokens":1}}"#,
        );
        story.piece(r#"{"type":"message_stop"}"#);
        (0..count).for_each(|n| story.result(&format!("c{n}"), None));
        story.end()
    }),
    ("blocks in pieces, each confirmed", |count| {
        let mut story = Story::begin();
        story.piece(r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#);
        // A thought that no snapshot confirms stands before them all.
        story.piece(r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#);
        story.piece(r#"{"type":"content_block_stop","index":0}"#);
        for n in 1..=count {
            story.piece(&format!(
                r#"{{"type":"content_block_start","index":{n},"content_block":{{"type":"text","text":""}}}}"#
            ));
            story.piece(&format!(
                r#"{{"type":"content_block_delta","index":{n},"delta":{{"type":"text_delta","text":"text {n}."}}}}"#
            ));
            story.message("m", None, &text(n));
            story.piece(&format!(r#"{{"type":"content_block_stop","index":{n}}}"#));
        }
        story.piece(r#"{"type":"message_stop"}"#);
        story.end()
    }),
    ("questions, then their answers", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            story.message("m", None, &call(&format!("c{n}"), "Bash"));
            story.line(&format!(
                r#"{{"type":"control_request","request_id":"q{n}","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{{"command":"true"}},"tool_use_id":"c{n}"}}}}"#
            ));
        }
        for n in 0..count {
            story.line(&format!(
                r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"q{n}","response":{{"behavior":"allow","updatedInput":{{}}}}}}}}"#
            ));
        }
        (0..count).for_each(|n| story.result(&format!("c{n}"), None));
        story.end()
    }),
    ("short turns", |count| {
        let mut story = Story::begin();
        for n in 0..count {
            story.message(&format!("m{n}"), None, &text(n));
            story.line(RESULT);
            story.line(INIT);
        }
        story.end()
    }),
];

/// Calls of one reply of the RFC whose pieces come in turns.
fn chunks(count: usize) -> Vec<u8> {
    let mut log = String::new();
    let mut chunk = |delta: String, finish: &str| {
        writeln!(
            log,
            r#"{{"id":"chatcmpl-s","object":"chat.completion.chunk","created":1,"model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
        )
        .expect("a String takes everything");
    };
    chunk(r#"{"role":"assistant"}"#.to_owned(), "null");
    for n in 0..count {
        chunk(
            format!(r#"{{"tool_calls":[{{"index":{n},"id":"c{n}","type":"function","function":{{"name":"edit","arguments":""}}}}]}}"#),
            "null",
        );
    }
    for part in ["{\\\"path\\\":", "\\\"x\\\"}"] {
        for n in 0..count {
            chunk(
                format!(r#"{{"tool_calls":[{{"index":{n},"function":{{"arguments":"{part}"}}}}]}}"#),
                "null",
            );
        }
    }
    chunk("{}".to_owned(), "\"tool_calls\"");
    log.into_bytes()
}

/// How long this thread has worked, which others on the machine do not change; where nobody tells, what the clock says.
fn worked(begun: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(|| begun.elapsed(), Duration::from_nanos)
}

fn work(options: &Options, log: &[u8]) -> Duration {
    let begun = Instant::now();
    let before = worked(begun);
    std::hint::black_box(convert(options, log));
    worked(begun).saturating_sub(before)
}

fn is_linear(name: &str, options: &Options, few: &[u8], many: &[u8], wrongs: &mut Wrongs) {
    wrongs.check();
    let mut measured = (Duration::ZERO, Duration::ZERO);
    for _ in 0..3 {
        let (short, long) = (work(options, few), work(options, many));
        if long < NO_TIME || long < (short + INTERVAL) * MOST {
            return;
        }
        measured = (short, long);
    }
    let (short, long) = measured;
    wrongs.add(format!("{} -> {}", options.from, options.to), format!("{name}: {short:?}, then {long:?}"));
}

fn all_ways(name: &str, from: Format, few: &[u8], many: &[u8], wrongs: &mut Wrongs) {
    for to in streaming() {
        is_linear(name, &Options::new(from, to), few, many, wrongs);
        let ledger = with_ledger(Options::new(from, to));
        is_linear(&format!("{name}, with a ledger"), &ledger, few, many, wrongs);
    }
    let partial = Options {
        partial: true,
        repair: true,
        ..Options::new(from, format("claude"))
    };
    is_linear(&format!("{name}, repaired"), &partial, few, many, wrongs);
    is_linear(&format!("{name}, with a ledger"), &with_ledger(partial), few, many, wrongs);
}

#[test]
fn much_of_one_thing_takes_as_many_times_as_long() {
    let mut wrongs = Wrongs::default();
    let claude = format("claude");
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, story) in STORIES.iter().filter(|(name, _)| name.contains(&only)) {
        let (few, many) = (story(FEW), story(FEW * MORE));
        all_ways(name, claude, &few, &many, &mut wrongs);
        // The same in the words of the others, to the one that tells everything.
        for from in all_targets(claude).into_iter().filter(|from| from.is_readable()) {
            let to = if from == events() { format("qwen-code") } else { events() };
            let (few, many) = (quick(claude, from, &few).out, quick(claude, from, &many).out);
            is_linear(name, &Options::new(from, to), &few, &many, &mut wrongs);
        }
    }
    if only.is_empty() {
        let from = format("qwen:stream-chunk-json");
        all_ways("calls whose pieces come in turns", from, &chunks(FEW), &chunks(FEW * MORE), &mut wrongs);
    }
    wrongs.finish("linear");
}
