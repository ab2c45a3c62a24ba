//! No unbounded memory: what a conversion holds does not grow with the log.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use agentglot_adapters::convert::{Converter, Options};
use agentglot_adapters::raw::codec::Format;

use crate::common::{Chance, Wrongs, format, plain_goldens, streaming, with_ledger};

/// Counts what this thread holds.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// How much this thread has allocated so far, in pieces: a measure of its work that no other thread changes.
pub(crate) fn made() -> u64 {
    MADE.get()
}

fn count(change: isize) {
    // While a thread ends its counters may be gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + change);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = MADE.try_with(|made| made.set(made.get() + 1));
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Feeds `piece` again and again in reads of 8 KiB; returns what is held after each round, output not counted.
fn held(options: &Options, rounds: usize, mut piece: impl FnMut(usize) -> Vec<u8>) -> Vec<isize> {
    let mut out = Vec::with_capacity(4 << 20);
    let mut after = Vec::with_capacity(rounds);
    let before = HELD.get();
    let mut converter = Converter::new(options.clone());
    for round in 0..rounds {
        let bytes = piece(round);
        for read in bytes.chunks(8192) {
            out.clear();
            converter.feed(read, &mut out);
            converter.take_ledger();
            converter.take_damage();
        }
        drop(bytes);
        after.push(HELD.get() - before - (out.capacity() as isize - (4 << 20)));
    }
    after
}

/// Each golden 160 times, as one log: turn after turn of one session, and session after session.
#[test]
fn does_not_grow_with_the_log() {
    let logs = plain_goldens();
    let mut wrongs = Wrongs::default();
    for dialect in [
        "claude",
        "qwen",
        "qwen:stream-chunk-json",
        "qwen-code",
        "tricode",
        "cursor",
        "gemini",
        "codex",
        "opencode",
        "claude:transcript",
        "qwen-code:chat",
        "codex:app-server",
        "codex:rollout",
        "acp",
    ] {
        let from = format(dialect);
        let mut chance = Chance::new(3);
        let of: Vec<_> = logs.iter().filter(|l| l.format == from).collect();
        for to in streaming() {
            for keep_ledger in [false, true] {
                let log = chance.pick(&of);
                let options = if keep_ledger {
                    with_ledger(Options::new(from, to))
                } else {
                    Options::new(from, to)
                };
                let piece = |round: usize| {
                    let mut bytes = log.bytes.clone();
                    if !bytes.ends_with(b"\n") {
                        bytes.push(b'\n');
                    }
                    // Another session every other round: the last digits of its id change, wherever it stands.
                    if round % 4 < 2 {
                        return bytes;
                    }
                    String::from_utf8_lossy(&bytes).replace("-4", "-5").into_bytes()
                };
                wrongs.check();
                let most = |after: &[isize]| after.iter().max().copied().unwrap_or(0);
                let grown = |rounds: usize| {
                    let after = held(&options, rounds, piece);
                    (most(&after[rounds / 2 - 8..rounds / 2]), most(&after[rounds - 8..]))
                };
                // Where no id is given twice, some thousands are remembered.
                let ids = if matches!(to.to_string().as_str(), "cursor" | "codex:app-server") {
                    96 << 10
                } else {
                    0
                };
                let is_more = |(early, late): (isize, isize)| late > early + early / 10 + 4096 + ids;
                let (mut early, mut late) = grown(160);
                // What is learnt of lines may be learnt late, once.
                if !keep_ledger && is_more((early, late)) {
                    (early, late) = grown(640);
                }
                // A ledger remembers some thousands of the runs of lines that may go on.
                if !keep_ledger && is_more((early, late)) {
                    wrongs.add(
                        format!("memory {from} -> {to}"),
                        format!(
                            "{} (ledger {keep_ledger}): {early} bytes after half of the rounds, {late} after all",
                            log.name
                        ),
                    );
                }
                if late > 2 << 20 {
                    wrongs.add(
                        format!("memory {from} -> {to}"),
                        format!("{} (ledger {keep_ledger}): {late} bytes held", log.name),
                    );
                }
            }
        }
    }
    wrongs.finish("no unbounded memory");
}

/// One long line: at most two and a half times its length, output included.
#[test]
fn of_a_long_line() {
    let text = "x\\n".repeat(2 << 20);
    let head = r#"{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"k","content":[{"type":"text","text":""#;
    let tail = r#""}],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}"#;
    let line = format!("{head}{text}{tail}\n");
    let mut converter = Converter::new(Options::new(format("claude"), format("qwen:stream-chunk-json")));
    let mut out = Vec::new();
    let before = HELD.get();
    PEAK.set(before);
    for read in line.as_bytes().chunks(64 << 10) {
        converter.feed(read, &mut out);
    }
    converter.finish(&mut out);
    assert!(out.len() > text.len(), "the text is in the output");
    let peak = (PEAK.get() - before) as f64 / line.len() as f64;
    // The line that is gathered and the line that is written, and what growing buffers ask for in advance.
    assert!(peak < 4.1, "{peak:.2} times the line");
}

/// One call, text or result that fills a line, or very many small ones, and how much may be held for a byte of the line: buffers that
/// grow and the chunks of the arena ask for up to twice of what is written to them.
pub(crate) fn long_lines() -> Vec<(&'static str, &'static str, f64, String)> {
    const LEN: usize = 5 << 18;
    let many = |part: &dyn Fn(usize) -> String| {
        let mut parts = String::with_capacity(LEN + 100);
        for n in 0.. {
            if parts.len() > LEN {
                break;
            }
            parts.push_str(if n > 0 { "," } else { "" });
            parts.push_str(&part(n));
        }
        parts
    };
    let text = "some text of a line\\n".repeat(LEN / 21);
    let said = |blocks: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","type":"message","role":"assistant","model":"k","content":[{blocks}],"stop_reason":null,"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#
        )
    };
    let user = |blocks: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{blocks}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u","timestamp":"2026-01-01T00:00:00.000Z"}}"#
        )
    };
    let call = |name: &str, input: &str| said(&format!(r#"{{"type":"tool_use","id":"c","name":"{name}","input":{{{input}}}}}"#));
    let todo = |n| format!(r#"{{"content":"do {n}","status":"pending","activeForm":"doing"}}"#);
    let small = |n| format!(r#""a{n}":{n}"#);
    let chat = |message: &str| {
        format!(
            r#"{{"id":"chatcmpl-s","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant",{message}}},"finish_reason":"stop"}}]}}"#
        )
    };
    vec![
        ("claude", "a text", 5.0, said(&format!(r#"{{"type":"text","text":"{text}"}}"#))),
        (
            "claude",
            "a thought",
            5.0,
            said(&format!(r#"{{"type":"thinking","thinking":"{text}","signature":"x"}}"#)),
        ),
        (
            "claude",
            "a file",
            5.0,
            call("Write", &format!(r#""file_path":"/w/a","content":"{text}""#)),
        ),
        (
            "claude",
            "texts",
            6.0,
            said(&many(&|n| format!(r#"{{"type":"text","text":"text {n}."}}"#))),
        ),
        (
            "claude",
            "texts of a user",
            9.0,
            user(&many(&|n| format!(r#"{{"type":"text","text":"text {n}."}}"#))),
        ),
        (
            "claude",
            "calls",
            10.0,
            said(&many(&|n| {
                format!(r#"{{"type":"tool_use","id":"c{n}","name":"Bash","input":{{"command":"true"}}}}"#)
            })),
        ),
        (
            "claude",
            "results",
            13.0,
            user(&many(&|n| {
                format!(r#"{{"tool_use_id":"c{n}","type":"tool_result","content":"ok","is_error":false}}"#)
            })),
        ),
        ("claude", "things to do", 9.0, call("TodoWrite", &format!(r#""todos":[{}]"#, many(&todo)))),
        ("claude", "arguments of an unknown tool", 6.0, call("mcp__a__b", &many(&small))),
        (
            "claude",
            "arguments without a place",
            5.0,
            call("Read", &format!(r#""file_path":"/w/a",{}"#, many(&small))),
        ),
        (
            "claude",
            "a deep value",
            5.0,
            call(
                "Read",
                &format!(r#""file_path":"/w/a","x":{}{}"#, "[".repeat(LEN / 2), "]".repeat(LEN / 2)),
            ),
        ),
        ("qwen", "a text", 6.0, chat(&format!(r#""content":"{text}""#))),
        (
            "qwen",
            "calls",
            17.0,
            chat(&format!(
                r#""content":null,"tool_calls":[{}]"#,
                many(&|n| format!(r#"{{"id":"c{n}","type":"function","function":{{"name":"run_shell_command","arguments":"{{}}"}}}}"#))
            )),
        ),
        (
            "cursor",
            "a file",
            4.0,
            format!(
                r#"{{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{{"editToolCall":{{"args":{{"path":"/w/a","streamContent":"{text}"}}}}}},"model_call_id":"m","session_id":"s","timestamp_ms":1}}"#
            ),
        ),
        (
            "codex",
            "output",
            9.0,
            format!(
                r#"{{"type":"item.completed","item":{{"id":"i","type":"command_execution","command":"ls","aggregated_output":"{text}","exit_code":0,"status":"completed"}}}}"#
            ),
        ),
        (
            "gemini",
            "output",
            7.0,
            format!(r#"{{"type":"tool_result","timestamp":"2026-01-01T00:00:00.000Z","tool_id":"c","status":"success","output":"{text}"}}"#),
        ),
    ]
}

/// How much is held at most, output included, for a byte of a long line.
fn peak(options: &Options, line: &str) -> f64 {
    let mut converter = Converter::new(options.clone()).drained(Box::new(Vec::clear));
    let mut out = Vec::new();
    let before = HELD.get();
    PEAK.set(before);
    for read in line.as_bytes().chunks(64 << 10) {
        converter.feed(read, &mut out);
    }
    converter.feed(b"\n", &mut out);
    (PEAK.get() - before) as f64 / line.len() as f64
}

/// Long lines of any shape: a ledger is no longer than its line, however many parts there are to tell of.
#[test]
fn of_long_lines_of_many_shapes() {
    let mut wrongs = Wrongs::default();
    for (from, shape, most, line) in long_lines() {
        for to in ["claude", "qwen", "qwen:stream-chunk-json", "tricode", "cursor", "agentglot:events"] {
            let plain = Options {
                keep_spelling: true,
                ..Options::new(format(from), format(to))
            };
            for (ledger, options) in [(false, plain.clone()), (true, with_ledger(plain))] {
                wrongs.check();
                let peak = peak(&options, &line);
                if peak > most {
                    wrongs.add(format!("{from} -> {to}"), format!("{shape} (ledger {ledger}): {peak:.1} times the line"));
                }
            }
        }
    }
    wrongs.finish("long lines");
}

/// Targets that hold what they write until a session or a turn is over.
const HOLDING: [&str; 9] = [
    "atif",
    "codex:app-server",
    "gemini:json",
    "gemini:text",
    "openai:messages",
    "opencode:export",
    "qwen-code:chat",
    "qwen-code:json",
    "sharegpt",
];

/// Of a long text most targets hold no more than the line and the turn's answer.
#[test]
fn of_a_long_text_whatever_the_target() {
    let mut wrongs = Wrongs::default();
    let text = "words and \\n".repeat(1 << 20);
    let line = format!(
        r#"{{"type":"assistant","message":{{"id":"m","type":"message","role":"assistant","model":"k","content":[{{"type":"text","text":"{text}"}}],"stop_reason":null,"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#
    );
    for to in Format::all().filter(|to| to.is_writable()) {
        wrongs.check();
        let peak = peak(&Options::new(format("claude"), to), &line);
        let most = if HOLDING.contains(&to.to_string().as_str()) { 4.5 } else { 2.5 };
        if peak > most {
            wrongs.add(format!("claude -> {to}"), format!("{peak:.2} times the line"));
        }
    }
    wrongs.finish("a long text");
}

/// A line over the limit is not held at all.
#[test]
fn of_a_line_over_the_limit() {
    let mut converter = Converter::new(Options {
        max_line: 1 << 20,
        ..Options::new(format("claude"), format("qwen"))
    });
    let mut out = Vec::new();
    let before = HELD.get();
    PEAK.set(before);
    converter.feed(b"{\"type\":\"assistant\",\"x\":\"", &mut out);
    for _ in 0..1000 {
        converter.feed(&[b'y'; 64 << 10], &mut out);
    }
    converter.feed(b"\"}\n", &mut out);
    assert!(PEAK.get() - before < 3 << 20, "{} bytes for a limit of 1 MiB", PEAK.get() - before);
    assert_eq!(converter.take_damage().len(), 1);
}
