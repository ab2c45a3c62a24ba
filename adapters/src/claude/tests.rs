use std::path::{Path, PathBuf};

use bumpalo::Bump;

use super::*;
use crate::codec::{Cx, Decode, Encode, Mode, Style};
use crate::event::{Event, Field, Input, Sink};
use crate::json::{Error, Out, Raw};

pub(super) const STYLE: Style = Style {
    partial: true,
    native_tools: true,
    ..Style::new(Mode::STREAM_JSON, Dialect::Claude)
};

/// Encodes what a decoder says as soon as it says it.
pub(super) struct Through<'e> {
    encoder: &'e mut Encoder,
    out: Out,
    unknown: Vec<String>,
    by_host: bool,
}

impl Through<'_> {
    fn look(&mut self, fields: &[Field<'_>]) {
        self.unknown
            .extend(fields.iter().filter(|f| !f.known).map(|f| format!("{} at {:?}", f.key.unescape(), f.at)));
    }
}

impl<'a> Sink<'a> for Through<'_> {
    fn event(&mut self, event: &Event<'a>) {
        self.look(event.fields);
        self.encoder.event(event, &mut self.out);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.look(input.fields);
        self.by_host = true;
        self.encoder.input(input, &mut self.out);
    }
}

/// Decodes and encodes one line in the same dialect: what it gives, the members that are not known, whether the host says it.
pub(super) fn through(decoder: &mut Decoder, encoder: &mut Encoder, line: &str) -> Result<(String, Vec<String>, bool), Error> {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut sink = Through {
        encoder,
        out: Out::default(),
        unknown: Vec::new(),
        by_host: false,
    };
    let mut rest = line.trim();
    while !rest.is_empty() {
        let used = decoder.line(rest, &cx, &mut sink)?;
        rest = rest[used.max(1)..].trim_start();
    }
    Ok((String::from_utf8(sink.out.written().to_vec()).unwrap(), sink.unknown, sink.by_host))
}

pub(super) fn same(a: &str, b: &str) -> bool {
    match (serde_json::from_str::<serde_json::Value>(a), serde_json::from_str::<serde_json::Value>(b)) {
        (Ok(a), Ok(b)) => a == b,
        // A lone surrogate is beyond `Value`.
        _ => a.trim() == b.trim() || (Raw::trusted(a.trim()).check().is_ok() && Raw::trusted(a.trim()).same_value(Raw::trusted(b.trim()))),
    }
}

/// The files of a folder beside the workspace, if it is there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of logs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // Transcripts are rebuilt elsewhere.
    let of_streams = |name: &str| name.ends_with(".out.jsonl") || name.ends_with(".in.jsonl");
    files.retain(|file| file.file_name().and_then(|name| name.to_str()).is_some_and(of_streams));
    files.sort();
    files
}

/// Recorded lines that do not come back, and why.
const DAMAGED: &[(&str, usize, &str)] = &[
    (
        "stdin_control_no_request.in.jsonl",
        1,
        "a control request without a body: the program ends with exit 1",
    ),
    (
        "stdin_user_no_message.in.jsonl",
        1,
        "a user line without a message: the program ends with exit 1",
    ),
    (
        "stdin_user_wrong_role.in.jsonl",
        1,
        "a user line with another role: the program ends with exit 1",
    ),
];

/// Host lines that look like the agent's: it alone asks these things, and answers that it does not know them.
fn is_the_agents(line: &str) -> bool {
    ["can_use_tool", "hook_callback", "elicitation"]
        .iter()
        .any(|subtype| line.contains(&format!("\"subtype\": \"{subtype}\"")))
}

fn rebuild(folder: &Path) {
    let (mut lines, mut failed) = (0, Vec::new());
    for file in files(folder) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (mut decoder, mut encoder) = (Decoder::default(), Encoder::new(STYLE));
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        let mut told = false;
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            lines += 1;
            let damaged = DAMAGED.iter().any(|d| d.0 == name && d.1 == n + 1);
            match through(&mut decoder, &mut encoder, line) {
                Ok((again, unknown, by_host)) => {
                    // What is said before the host has said anything of its own can be of either side.
                    told |= by_host;
                    let host = name.ends_with(".in.jsonl") && told && !is_the_agents(line);
                    if !same(&again, line) || !unknown.is_empty() || damaged || by_host != host {
                        failed.push(format!("{name}:{} {unknown:?} {by_host}\n  {line:.600}\n  {again:.600}", n + 1));
                    }
                }
                Err(_) if damaged => {}
                Err(error) => failed.push(format!("{name}:{}: {error}: {line:.200}", n + 1)),
            }
        }
    }
    assert!(failed.is_empty(), "{} of {lines}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn recorded_lines_are_rebuilt() {
    if let Some(folder) = crate::beside::shared("recordings/claude") {
        rebuild(&folder);
    }
}

#[test]
fn golden_lines_are_rebuilt() {
    rebuild(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden/claude"));
}

#[test]
fn costs_of_turns_add_up() {
    let turn = |text: &str, cost: &str| {
        format!(
            "{{\"event\":\"outcome\",\"session\":\"s\",\"outcome\":\"success\",\"is_error\":false,\"text\":\"{text}\",\"cost_usd\":{cost},\"cost_scope\":\"turn\"}}\n"
        )
    };
    let log = format!(
        "{{\"agentglot\":\"events\",\"version\":1}}\n{}{}{}",
        turn("one", "0.10"),
        turn("two", "0.2"),
        turn("three", "0.3")
    );
    let options = crate::convert::Options::new(Dialect::Agentglot.into(), Dialect::Claude.into());
    let mut claude = Vec::new();
    let mut converter = crate::convert::Converter::new(options);
    converter.feed(log.as_bytes(), &mut claude);
    converter.finish(&mut claude);
    let claude = String::from_utf8(claude).unwrap();
    let costs: Vec<&str> = claude
        .split("\"total_cost_usd\":")
        .skip(1)
        .map(|rest| &rest[..rest.find(',').unwrap()])
        .collect();
    assert_eq!(costs, ["0.10", "0.3", "0.6"], "{claude}");
}

/// Tokens that are said behind a round are those of its lines; what no tokens follow goes out without, in its place.
#[test]
fn tokens_that_are_said_behind_a_round_are_its_lines() {
    let log = |events: &[&str]| {
        let head = r#"{"agentglot":"events","version":1,"source":"codex:rollout"}"#;
        let lines = std::iter::once(head).chain(events.iter().copied());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let call = r#"{"event":"reply","session":"s","blocks":[{"type":"text","text":"one"},{"type":"call","id":"c","name":"x","input":{}}]}"#;
    let result = r#"{"event":"tool_result","session":"s","call":"c","status":"success","content":"done"}"#;
    let tokens = r#"{"event":"round_end","session":"s","usage":{"scope":"round","input":7,"output":5}}"#;
    let text = r#"{"event":"reply","session":"s","blocks":[{"type":"text","text":"two"}]}"#;
    let ends = r#"{"event":"outcome","session":"s","outcome":"success"}"#;
    let starts = r#"{"event":"round_start","session":"s"}"#;
    let out = crate::testing::kept(&log(&[starts, call, result, tokens, starts, text, ends]), "agentglot", "claude");
    let lines: Vec<&str> = out.lines().skip(1).collect();
    let says = |at: usize, word: &str, tokens: u32| {
        let line = lines[at];
        assert!(line.contains(word), "{out}");
        assert!(line.contains(&format!("\"input_tokens\":{tokens},")), "{line}");
        assert!(Raw::trusted(line).get("message").is_some(), "{line}");
    };
    says(0, "\"one\"", 7);
    says(1, "tool_use", 7);
    assert!(lines[2].contains("tool_result"), "{out}");
    says(3, "\"two\"", 0);
    assert_eq!(lines.len(), 5, "{out}");
}

/// Transcripts name no model but those of replies: a turn that follows one begins with its.
#[test]
fn a_later_turn_names_the_model_that_answered() {
    let line = |kind: &str, id: u8, message: &str| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{message},\"uuid\":\"u{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"s\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
        )
    };
    let ask = r#"{"role":"user","content":"ask"}"#;
    let say = r#"{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"text","text":"say"}],"stop_reason":"end_turn"}"#;
    let log = [
        line("user", 1, ask),
        line("assistant", 2, say),
        line("user", 3, ask),
        line("assistant", 4, say),
    ]
    .concat();
    let out = crate::testing::kept(&log, "claude:transcript", "claude");
    let inits: Vec<&str> = out.lines().filter(|line| line.contains("\"init\"")).collect();
    assert_eq!(inits.len(), 2, "{out}");
    assert!(
        inits[0].contains("\"model\":\"unknown\"") && inits[1].contains("\"model\":\"claude-x\""),
        "{out}"
    );
}

/// A line that goes on from nothing begins its session, also where the file does not hold what the user said.
#[test]
fn sessions_of_one_file_may_begin_with_a_reply() {
    let line = |session: &str, id: &str, after: &str, kind: &str, message: &str| {
        let after = if after.is_empty() { "null".to_owned() } else { format!("\"{after}\"") };
        format!(
            "{{\"parentUuid\":{after},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{message},\"uuid\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"sessionId\":\"{session}\",\"cwd\":\"/w\",\"version\":\"2\"}}\n"
        )
    };
    let call = r#"{"id":"m","role":"assistant","model":"x","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}"#;
    let session = |name: &str| {
        let id = |n: u8| format!("{name}{n}");
        line(name, &id(1), "", "assistant", call) + &line(name, &id(2), &id(1), "user", result)
    };
    let log = session("s") + &session("t");
    let out = crate::testing::kept(&log, "claude:transcript", "tricode");
    let begun: Vec<&str> = out.lines().filter(|line| line.contains("Session ID")).collect();
    assert_eq!(begun.len(), 2, "{out}");
    let mut checker = crate::check::Checker::new("claude:transcript".parse().unwrap());
    checker.feed(log.as_bytes());
    let rules: Vec<_> = checker.finish().0.into_iter().map(|finding| finding.rule).collect();
    assert!(!rules.contains(&crate::check::Rule::DuplicateCallId), "{rules:?}");
}

/// A turn that ends with a refusal is one, whether or not that counts as an error.
#[test]
fn a_refusal_is_read_back_as_one() {
    let log = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"refusal":"I cannot."}]}
"#;
    let claude = crate::testing::kept(log, "openai:messages", "claude");
    let events = crate::testing::kept(&claude, "claude", "agentglot");
    assert!(events.contains("\"outcome\":\"refused\",\"is_error\":true"), "{claude}\n{events}");
}

/// What the program writes in the user's role when the user stops it is nothing that the user asks: other dialects say that the turn
/// was cancelled.
#[test]
fn a_notice_of_an_interrupt_is_no_prompt_elsewhere() {
    let log = r#"{"type":"system","subtype":"init","session_id":"s","model":"x","cwd":"/w","tools":[],"uuid":"1"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"x","content":[{"type":"text","text":"Half"}]},"session_id":"s","uuid":"2"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"session_id":"s","uuid":"3"}
{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s","terminal_reason":"aborted_streaming","uuid":"4"}
"#;
    for to in [
        "gemini:chat",
        "opencode:export",
        "codex:rollout",
        "qwen-code:chat",
        "openai:messages",
        "sharegpt",
    ] {
        let (out, ledger) = crate::testing::traced(log, "claude", to);
        assert!(out.contains("Half") && !out.contains("interrupted by"), "{to}: {out}");
        assert!(ledger.contains("that the user has stopped"), "{to}: {ledger}");
    }
    let stored = crate::testing::converted(log, "claude", "claude:transcript");
    assert!(stored.contains("[Request interrupted by user]"), "{stored}");
}

/// The id of a reply goes over into the file of a session.
#[test]
fn a_reply_keeps_its_id_in_a_transcript() {
    let log = r#"{"type":"system","subtype":"init","session_id":"s","model":"x","cwd":"/w","tools":[]}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"x","content":[{"type":"text","text":"a"}]},"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"session_id":"s"}
"#;
    let (transcript, ledger) = crate::testing::traced(log, "claude", "claude:transcript");
    assert!(transcript.contains("\"id\":\"m1\""), "{transcript}");
    assert!(!ledger.contains("/message/id"), "{ledger}");
}

/// Why a reply stopped is said in Claude's words, though the source says it only behind the reply.
#[test]
fn a_transcript_says_why_a_reply_stopped() {
    let opencode = |kind: &str, part: &str| {
        let part = format!(r#"{{"id":"p","sessionID":"s","messageID":"m",{part}}}"#);
        format!("{{\"type\":\"{kind}\",\"timestamp\":1,\"sessionID\":\"s\",\"part\":{part}}}\n")
    };
    for (word, said, outcome) in [("stop", "end_turn", "success"), ("length", "max_tokens", "limit_tokens")] {
        let log = [
            opencode("step_start", r#""type":"step-start""#),
            opencode("text", r#""type":"text","text":"half""#),
            opencode(
                "step_finish",
                &format!(r#""type":"step-finish","reason":"{word}","tokens":{{"input":7,"output":5}}"#),
            ),
        ];
        let rfc = format!(
            r#"{{"id":"r","object":"chat.completion","created":1,"model":"m","session_id":"s","choices":[{{"index":0,"message":{{"role":"assistant","content":"half"}},"finish_reason":"{word}"}}]}}"#
        );
        for (log, from) in [(log.concat(), "opencode"), (rfc, "qwen")] {
            let transcript = crate::testing::kept(&log, from, "claude:transcript");
            let stop = format!(r#""stop_reason":"{said}","stop_sequence":null"#);
            assert!(transcript.contains(&stop), "{from}: {transcript}");
            let again = crate::testing::converted(&transcript, "claude:transcript", "agentglot");
            assert!(again.contains(&format!(r#""outcome":"{outcome}""#)), "{from}: {again}");
        }
    }
}

#[test]
fn what_comes_of_a_call_in_the_background_is_told_when_later_turns_are_over() {
    let reply = |parent: &str, id: &str, block: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","type":"message","role":"assistant","model":"m","content":[{block}]}},"parent_tool_use_id":{parent},"session_id":"s"}}"#
        )
    };
    let result = |parent: &str, call: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"done"}}]}},"parent_tool_use_id":{parent},"session_id":"s"}}"#
        )
    };
    let init = r#"{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.332","model":"m"}"#;
    let end = r#"{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}"#;
    let log = [
        init.to_owned(),
        reply("null", "m1", r#"{"type":"tool_use","id":"c1","name":"Agent","input":{"prompt":"look"}}"#),
        result("null", "c1"),
        reply(r#""c1""#, "m2", r#"{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"ls"}}"#),
        end.to_owned(),
        init.to_owned(),
        reply("null", "m3", r#"{"type":"text","text":"ok"}"#),
        end.to_owned(),
        result(r#""c1""#, "c2"),
    ]
    .join("\n");
    let events = crate::testing::converted(&crate::testing::converted(&log, "claude", "qwen-code"), "qwen-code", "agentglot");
    let of = |what: &str| events.lines().filter(|line| line.contains(what)).count();
    assert_eq!(of(r#""type":"call","id":"c2""#), 1, "{events}");
    assert_eq!(of(r#""event":"tool_result""#), 2, "{events}");
    // What a subagent says between turns is no turn.
    assert_eq!(of(r#""event":"outcome""#), 2, "{events}");
}

/// Results that are held back while subagents work in the background say again what their turns have said, which nothing says twice.
#[test]
fn an_answer_that_was_told_before_an_earlier_outcome_is_not_said_again() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.332","model":"m"}"#;
    let reply = |id: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":"{text}"}}]}},"parent_tool_use_id":null,"session_id":"s"}}"#
        )
    };
    let end = |text: &str| format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","session_id":"s"}}"#);
    let (first, second, third) = ("Launched.", "It came back.", "Another one.");
    let held = [
        init.to_owned(),
        reply("m1", first),
        init.to_owned(),
        reply("m2", second),
        init.to_owned(),
        reply("m3", third),
        end(first),
        end(second),
        end(third),
        // A command that the program answers itself says something new, and the same once more is said once more.
        init.to_owned(),
        end("Nothing to do."),
        init.to_owned(),
        reply("m4", third),
        end(third),
    ]
    .join("\n");
    for to in [
        "openai:messages",
        "sharegpt",
        "opencode:export",
        "opencode",
        "codex",
        "codex:app-server",
        "gemini",
        "atif",
        "acp",
        "ag-ui",
    ] {
        let (out, ledger) = crate::testing::traced(&held, "claude", to);
        let said = |text: &str| out.matches(&format!("\"{text}\"")).count();
        let once = said(first);
        assert!(once > 0 && (said(second), said("Nothing to do.")) == (once, once), "{to}: {out}");
        assert_eq!(said(third), 2 * once, "{to}: {out}");
        assert!(!ledger.contains("\"line\":8,\"pointer\":\"/result\""), "{to}: {ledger}");
    }
}

#[test]
fn what_holds_a_text_is_read_where_there_are_no_such_blocks() {
    let found = r#"{"type":"search_result","source":"https://e.org/cats","title":"Cats","content":[{"type":"text","text":"They purr."}]}"#;
    let document = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"All of it."},"title":"Book"}"#;
    let log = format!(
        r#"{{"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":[],"model":"m","claude_code_version":"2.1.0","uuid":"1"}}
{{"type":"assistant","message":{{"id":"m1","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"t","name":"Frob","input":{{}}}}]}},"session_id":"s","uuid":"2"}}
{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{found},{document}]}}]}},"session_id":"s","uuid":"3"}}
"#
    );
    let gemini = crate::testing::converted(&log, "claude", "gemini");
    let text = r#""output":"Cats\nThey purr.\nhttps://e.org/cats\nBook\nAll of it.""#;
    assert!(gemini.contains(text), "{gemini}");
    let kept = crate::testing::converted(&log, "claude", "claude:transcript");
    assert!(kept.contains(found) && kept.contains(document), "{kept}");
}

/// Nothing but the program's words in the user's place says in a transcript that a turn was stopped.
#[test]
fn a_transcript_says_that_a_turn_was_stopped() {
    let log = concat!(
        r#"{"agentglot":"events","version":1,"source":"gemini"}"#,
        "\n",
        r#"{"event":"prompt","session":"s","source":"host","content":"go"}"#,
        "\n",
        r#"{"event":"reply","session":"s","round":"m1","model":"m","blocks":[{"type":"text","text":"half"}],"last":true}"#,
        "\n",
        r#"{"event":"outcome","session":"s","outcome":"cancelled","is_error":true}"#,
        "\n"
    );
    let stored = crate::testing::converted(log, "agentglot", "claude:transcript");
    assert_eq!(stored.matches("[Request interrupted by user]").count(), 1, "{stored}");
    let back = crate::testing::converted(&stored, "claude:transcript", "agentglot");
    assert!(back.contains(r#""outcome":"cancelled""#), "{back}");
    assert_eq!(
        crate::testing::converted(&stored, "claude:transcript", "claude")
            .matches("\"type\":\"result\"")
            .count(),
        1
    );
}
