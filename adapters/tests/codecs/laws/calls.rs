//! What came of each call is the same when it is read back, or the ledger says that it is not; and no two calls have one id where a target
//! gives each its own.

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Format, Layout};

use crate::common::json::Json;
use crate::common::lost::entries;
use crate::common::{Wrongs, convert, events, format, quick, with_ledger};

const TOOLS: [(&str, &str); 9] = [
    ("Bash", r#"{"command":"ls"}"#),
    ("Read", r#"{"file_path":"/w/a"}"#),
    ("Edit", r#"{"file_path":"/w/a","old_string":"x","new_string":"y"}"#),
    ("Write", r#"{"file_path":"/w/b","content":"q\n"}"#),
    ("TodoWrite", r#"{"todos":[{"content":"a","status":"pending","activeForm":"doing a"}]}"#),
    ("WebSearch", r#"{"query":"rust"}"#),
    ("Task", r#"{"description":"d","prompt":"p","subagent_type":"general-purpose"}"#),
    ("mcp__shop__price", r#"{"item":"yarn"}"#),
    ("Frobnicate", r#"{"a":1}"#),
];

/// What the ledger says where a target cannot say how a call ended.
const TOLD: [&str; 6] = [
    "refused or stopped: its item has failed",
    "a call that was stopped",
    "has not succeeded",
    "a call that failed",
    "one word for calls",
    "the first call of the list failed",
];

const INIT: &str = r#"{"event":"session","session":"s","cwd":"/w","model":"m"}"#;
const PROMPT: &str = r#"{"event":"prompt","session":"s","source":"host","content":"do it"}"#;
const DONE: &str = r#"{"event":"reply","session":"s","round":"m9","model":"m","blocks":[{"type":"text","text":"done"}],"stop":"end_turn","last":true}
{"event":"outcome","session":"s","outcome":"success","is_error":false,"text":"done"}"#;

fn call(round: usize, id: &str, (name, input): (&str, &str)) -> String {
    format!(
        r#"{{"event":"reply","session":"s","round":"m{round}","model":"m","blocks":[{{"type":"call","id":"{id}","name":"{name}","input":{input}}}],"stop":"tool_use","last":true}}"#
    )
}

fn result(id: &str, name: &str, status: &str, text: &str) -> String {
    let failed = status != "success";
    format!(r#"{{"event":"tool_result","session":"s","call":"{id}","name":"{name}","status":"{status}","content":"{text}","is_error":{failed}}}"#)
}

fn log(source: &str, lines: &[String]) -> String {
    format!(
        "{{\"agentglot\":\"events\",\"version\":1,\"source\":\"{source}\"}}\n{INIT}\n{PROMPT}\n{}\n{DONE}\n",
        lines.join("\n")
    )
}

/// Formats that say what came of calls.
fn formats() -> Vec<Format> {
    let says = |format: &Format| !matches!(format.mode.layout, Layout::Document | Layout::Text);
    Format::all()
        .filter(|format| format.is_writable() && format.is_readable() && says(format) && *format != events())
        .collect()
}

fn read(out: &[u8], from: Format) -> Vec<Json> {
    let back = quick(from, events(), out);
    back.text().lines().filter_map(Json::read).collect()
}

fn count_calls(read: &[Json]) -> usize {
    let blocks = read.iter().flat_map(|event| event.items("blocks").iter().chain(event.get("block")));
    blocks.filter(|block| block.str("type") == "call").count()
}

#[test]
fn how_a_call_ended_is_read_back_or_told() {
    let mut wrongs = Wrongs::default();
    for to in formats() {
        let source = if to.dialect.name() == "claude" { "qwen-code" } else { "claude" };
        for tool in TOOLS {
            for status in ["success", "error", "denied", "canceled"] {
                for text in ["", "so it ended"] {
                    let lines = [call(1, "c1", tool), result("c1", tool.0, status, text)];
                    let done = convert(&with_ledger(Options::new(events(), to)), log(source, &lines).as_bytes());
                    let read = read(&done.out, to);
                    let found = read
                        .iter()
                        .find(|event| event.str("event") == "tool_result")
                        .map(|event| event.str("status"));
                    let told = || {
                        entries(&done.ledger)
                            .iter()
                            .any(|entry| TOLD.iter().any(|note| entry.note.contains(note)))
                    };
                    wrongs.check();
                    if found != Some(status) && !told() {
                        wrongs.add(to.to_string(), format!("{} {status} {text:?}: {found:?}", tool.0));
                    }
                }
            }
        }
    }
    wrongs.finish("how calls ended");
}

/// Two calls of one id, one behind the other: sources give ids again that count their calls anew.
#[test]
fn no_id_is_given_to_two_calls() {
    let lines = [1, 2].map(|round| [call(round, "c1", TOOLS[0]), result("c1", "Bash", "success", &format!("answer {round}"))].join("\n"));
    for name in [
        "codex:app-server",
        "cursor",
        "acp",
        "ag-ui",
        "claude:transcript",
        "qwen-code:chat",
        "gemini:chat",
        "codex:rollout",
        "opencode:export",
    ] {
        let to = format(name);
        let source = if name.starts_with("claude") { "qwen-code" } else { "claude" };
        let out = quick(events(), to, log(source, &lines).as_bytes()).out;
        let read = read(&out, to);
        let results: Vec<&Json> = read.iter().filter(|event| event.str("event") == "tool_result").collect();
        let [first, second] = results[..] else { panic!("{name}: {results:?}") };
        assert_ne!(first.str("call"), second.str("call"), "{name}");
        assert!(second.str("content").contains("answer 2"), "{name}: {second:?}");
    }
}

/// A call that is said again, before it has a result, is a call as well.
#[test]
fn a_call_that_nobody_answered_stays_beside_another_of_its_id() {
    let ended = r#"{"event":"outcome","session":"s","outcome":"success","is_error":false}"#;
    let lines = [call(1, "c1", TOOLS[0]), ended.to_owned(), call(2, "c1", TOOLS[1])];
    let mut wrongs = Wrongs::default();
    for to in formats() {
        let out = convert(&with_ledger(Options::new(events(), to)), log("claude", &lines).as_bytes());
        let calls = count_calls(&read(&out.out, to));
        wrongs.check();
        if calls != 2 {
            wrongs.add(to.to_string(), format!("{calls} calls"));
        }
    }
    wrongs.finish("calls of one id");
}

/// An error that belongs to no turn ends none that begins later.
#[test]
fn what_follows_an_error_without_a_turn_is_all_there() {
    let fatal = r#"{"event":"fatal","message":"the arguments are no JSON"}"#;
    let lines = [call(1, "c1", TOOLS[0]), result("c1", "Bash", "success", "answer")];
    let whole = log("qwen", &lines);
    let (header, rest) = whole.split_once('\n').expect("a header");
    let both = format!("{header}\n{fatal}\n{rest}");
    let mut wrongs = Wrongs::default();
    for to in formats() {
        let out = convert(&with_ledger(Options::new(events(), to)), both.as_bytes()).out;
        let read = read(&out, to);
        let calls = count_calls(&read);
        let results = read.iter().filter(|event| event.str("event") == "tool_result").count();
        let done = read
            .iter()
            .any(|event| event.str("event") == "outcome" && event.str("outcome") == "success");
        wrongs.check();
        if (calls, results, done) != (1, 1, true) {
            wrongs.add(to.to_string(), format!("{calls} calls, {results} results, ended well: {done}"));
        }
    }
    wrongs.finish("what follows an error");
}

/// Of a turn that says nothing nothing goes on with another one.
#[test]
fn a_silent_turn_needs_no_prompt() {
    let silent = r#"{"event":"outcome","session":"s","outcome":"success","is_error":false,"text":""}"#;
    let one = log("claude", &[]);
    for to in formats() {
        let done = convert(&with_ledger(Options::new(events(), to)), format!("{one}{silent}\n").as_bytes());
        assert!(!done.ledger.contains("the turn has no prompt"), "{to}: {}", done.ledger);
    }
}

/// Where nothing but prompts tells turns apart, one without a prompt goes on with the one before.
#[test]
fn a_turn_that_has_no_prompt_is_one_of_its_own_or_told() {
    let turn = |n: u32| {
        format!(
            "{{\"event\":\"reply\",\"session\":\"s\",\"round\":\"m{n}\",\"model\":\"m\",\"blocks\":[{{\"type\":\"text\",\"text\":\"answer {n}\"}}],\"stop\":\"end_turn\",\"last\":true}}\n{{\"event\":\"outcome\",\"session\":\"s\",\"outcome\":\"success\",\"is_error\":false,\"text\":\"answer {n}\"}}\n"
        )
    };
    let log = format!(
        "{{\"agentglot\":\"events\",\"version\":1,\"source\":\"gemini\"}}\n{INIT}\n{}{}",
        turn(1),
        turn(2)
    );
    for to in formats() {
        let done = convert(&with_ledger(Options::new(events(), to)), log.as_bytes());
        let outcomes = read(&done.out, to).iter().filter(|event| event.str("event") == "outcome").count();
        let told = entries(&done.ledger).iter().any(|entry| entry.note.contains("the turn has no prompt"));
        assert_eq!((outcomes == 2, told), (!told, outcomes != 2), "{to}: {outcomes} turns, told: {told}");
    }
}
