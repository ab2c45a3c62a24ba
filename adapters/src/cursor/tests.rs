//! The codec against recorded and hand-made logs: lines that are rebuilt, and turns that are written anew.

use std::path::{Path, PathBuf};

use bumpalo::Bump;
use serde_json::Value;

use super::{Decoder, Encoder};
use crate::assemble::{Assembler, Down, Duties};
use crate::codec::{Cx, Decode, Dialect, Encode, Mode, Style};
use crate::convert::{Converter, Options};
use crate::event::{Event, Input, Sink};
use crate::json::Out;

const SESSION: &str = r#""session_id":"S""#;

fn style(source: Dialect, mode: Mode, partial: bool) -> Style {
    Style {
        partial,
        native_tools: true,
        ..Style::new(mode, source)
    }
}

/// Recorded logs beside the repository, and the ones in it.
fn logs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = crate::beside::shared("recordings/cursor")
        .into_iter()
        .chain([root.join("../golden/cursor")]);
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder of logs"));
    let mut logs: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    logs.sort();
    logs
}

/// Encodes each event as it is decoded.
struct Straight<'e> {
    encoder: &'e mut Encoder,
    out: Out,
    unknown: Vec<String>,
}

impl<'a> Sink<'a> for Straight<'_> {
    fn event(&mut self, event: &Event<'a>) {
        self.unknown
            .extend(event.fields.iter().filter(|f| !f.known).map(|f| f.key.as_escaped().to_owned()));
        self.encoder.event(event, &mut self.out);
    }

    fn input(&mut self, _: &Input<'a>) {
        unreachable!("there are no host lines");
    }
}

/// Each line of a log, and what becomes of it when it is decoded and encoded without anything between.
fn rebuild(log: &str) -> Vec<(String, Result<String, String>, Vec<String>)> {
    let (mut decoder, mut encoder) = (Decoder::default(), Encoder::new(style(Dialect::Cursor, Mode::STREAM_JSON, false)));
    let mut found = Vec::new();
    for line in log.lines() {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let mut sink = Straight {
            encoder: &mut encoder,
            out: Out::default(),
            unknown: Vec::new(),
        };
        let read = decoder.line(line, &cx, &mut sink);
        let text = String::from_utf8(sink.out.written().to_vec()).unwrap();
        found.push((line.to_owned(), read.map(|_| text).map_err(|e| e.to_string()), sink.unknown));
    }
    found
}

#[test]
fn recorded_lines_are_rebuilt() {
    let (mut same, mut all) = (0, 0);
    let mut wrong = Vec::new();
    for path in logs() {
        let log = std::fs::read_to_string(&path).unwrap();
        for (line, built, _) in rebuild(&log) {
            let Ok(wanted) = serde_json::from_str::<Value>(&line) else { continue };
            all += 1;
            let built = built.unwrap_or_else(|error| panic!("{path:?}: {error}: {line}"));
            match serde_json::from_str::<Value>(&built) {
                Ok(value) if value == wanted => {
                    same += 1;
                    // Not only the same value but the same spelling, in all that the real program wrote.
                    assert_eq!(built, format!("{line}\n"), "{path:?}");
                }
                _ => wrong.push(format!("{path:?}\n- {line}\n+ {built}")),
            }
        }
    }
    assert!(same * 100 >= all * 98, "{same} of {all}:\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_fields_are_known() {
    for path in logs() {
        let log = std::fs::read_to_string(&path).unwrap();
        for (line, _, unknown) in rebuild(&log) {
            assert!(unknown.is_empty(), "{path:?}: {unknown:?} in {line}");
        }
    }
}

/// What an independent reader understands of a log: texts, calls, results, ends.
#[derive(Debug, Default, PartialEq)]
struct Digest {
    text: String,
    thinking: String,
    spine: Vec<&'static str>,
    calls: Vec<(String, String)>,
    results: Vec<(String, bool)>,
    ends: Vec<bool>,
}

impl Digest {
    fn say(&mut self, what: &'static str) {
        if self.spine.last() != Some(&what) {
            self.spine.push(what);
        }
    }
}

fn digest(log: &str) -> Digest {
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let text_of = |line: &Value| -> String {
        line["message"]["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|b| b["text"].as_str())
            .collect()
    };
    let is_piece = |line: &Value| line.get("timestamp_ms").is_some() && line.get("model_call_id").is_none();
    let (mut partial, mut said) = (false, String::new());
    for line in &lines {
        match line["type"].as_str() {
            Some("assistant") if is_piece(line) => said.push_str(&text_of(line)),
            Some("assistant") => partial |= !said.is_empty() && said == text_of(line),
            Some("tool_call") => said.clear(),
            _ => {}
        }
    }
    let mut digest = Digest::default();
    for line in &lines {
        match (line["type"].as_str().unwrap_or(""), line["subtype"].as_str().unwrap_or("")) {
            ("assistant", _) if !partial || is_piece(line) => {
                digest.text.push_str(&text_of(line));
                digest.say("text");
            }
            ("thinking", "delta") => {
                digest.thinking.push_str(line["text"].as_str().unwrap());
                digest.say("thinking");
            }
            ("tool_call", subtype) => {
                let (id, tool) = (line["call_id"].as_str().unwrap().to_owned(), line["tool_call"].as_object().unwrap());
                let (key, body) = tool.iter().find(|(key, _)| key.ends_with("ToolCall") || *key == "function").unwrap();
                if subtype == "started" || !digest.calls.iter().any(|(known, _)| *known == id) {
                    digest.calls.push((
                        id.clone(),
                        if key == "function" {
                            body["name"].as_str().unwrap().to_owned()
                        } else {
                            key.clone()
                        },
                    ));
                    digest.spine.push("call");
                }
                if subtype == "completed" {
                    digest.results.push((id, body["result"].get("success").is_some()));
                }
            }
            ("result", _) => digest.ends.push(!line["is_error"].as_bool().unwrap_or(false)),
            _ => {}
        }
    }
    digest
}

/// Writes a log anew, as if another dialect had said it.
fn anew(log: &str, style: Style) -> String {
    struct Through<'d, 'a> {
        assembler: &'d mut Assembler,
        down: Down<'d, 'a>,
    }
    impl<'a> Sink<'a> for Through<'_, 'a> {
        fn event(&mut self, event: &Event<'a>) {
            self.assembler.event(event, &mut self.down);
        }
        fn input(&mut self, input: &Input<'a>) {
            self.assembler.input(input, &mut self.down);
        }
    }
    let mut decoder = Decoder::default();
    let mut encoder = crate::codec::Encoder::new(Dialect::Cursor, style);
    let mut assembler = Assembler::new(Dialect::Cursor.into(), encoder.want(), Duties::default());
    let mut out = Out::default();
    for line in log.lines() {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let down = Down {
            encoder: &mut encoder,
            out: &mut out,
            cx,
        };
        let mut sink = Through {
            assembler: &mut assembler,
            down,
        };
        decoder.line(line, &cx, &mut sink).unwrap();
    }
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    assembler.finish(&mut Down {
        encoder: &mut encoder,
        out: &mut out,
        cx,
    });
    encoder.finish(&mut out);
    String::from_utf8(out.written().to_vec()).unwrap()
}

#[test]
fn recorded_turns_say_the_same_when_they_are_written_anew() {
    for path in logs() {
        let log = std::fs::read_to_string(&path).unwrap();
        for partial in [false, true] {
            // Cursor's names are native ones.
            let text = anew(&log, style(Dialect::Claude, Mode::STREAM_JSON, partial));
            assert_eq!(digest(&text), digest(&log), "{path:?} partial: {partial}\n{text}");
            assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{path:?}\n{text}");
        }
    }
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{}\n", line.replace("SESSION", SESSION))).collect()
}

const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w",SESSION,"model":"Auto","permissionMode":"default"}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","duration_ms":7,"duration_api_ms":7,"is_error":false,"result":"One.Two.",SESSION,"request_id":"R","usage":{"inputTokens":5,"outputTokens":4,"cacheReadTokens":3,"cacheWriteTokens":2}}"#;

fn turn() -> String {
    lines(&[
        INIT,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go"}]},SESSION}"#,
        r#"{"type":"thinking","subtype":"delta","text":"Hm",SESSION,"timestamp_ms":10}"#,
        r#"{"type":"thinking","subtype":"completed",SESSION,"timestamp_ms":11}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"One."}]},SESSION,"model_call_id":"R-0-aaaa","timestamp_ms":12}"#,
        r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"13"},"model_call_id":"R-0-aaaa",SESSION,"timestamp_ms":13}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"A"}}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"13","completedAtMs":"14"},"model_call_id":"R-0-aaaa",SESSION,"timestamp_ms":14}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Two."}]},SESSION}"#,
        RESULT,
    ])
}

#[test]
fn a_turn_is_written_as_the_real_program_writes_it() {
    assert_eq!(
        untimed(&anew(&turn(), style(Dialect::Claude, Mode::STREAM_JSON, false))),
        untimed(&turn())
    );
}

/// A log without the times of its thoughts, which are lost when pieces become one.
fn untimed(log: &str) -> String {
    let cut = |line: &str| match line.split_once(",\"timestamp_ms\"") {
        Some((head, _)) if line.starts_with("{\"type\":\"thinking\"") => format!("{head}}}\n"),
        _ => format!("{line}\n"),
    };
    log.lines().map(cut).collect()
}

#[test]
fn with_partial_output_segments_come_in_pieces_and_whole() {
    let partial = anew(&turn(), style(Dialect::Claude, Mode::STREAM_JSON, true));
    let said: Vec<&str> = partial.lines().filter(|line| line.contains("\"assistant\"")).collect();
    let line = |rest: &str, text: &str| {
        let head = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":""#;
        format!("{head}{text}\"}}]}},{SESSION}{rest}}}")
    };
    assert_eq!(
        said,
        [
            line(",\"timestamp_ms\":12", "One."),
            line(",\"model_call_id\":\"R-0-aaaa\",\"timestamp_ms\":12", "One."),
            line(",\"timestamp_ms\":14", "Two."),
            line("", "Two."),
        ]
    );
}

#[test]
fn json_and_text_hold_what_counts_at_the_end() {
    let json = anew(&turn(), style(Dialect::Claude, Mode::JSON, false));
    let wanted = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"duration_api_ms":7,"result":"One.Two.",SESSION,"request_id":"R","usage":{"inputTokens":5,"outputTokens":4,"cacheReadTokens":3,"cacheWriteTokens":2}}"#;
    assert_eq!(json, lines(&[wanted]));
    assert_eq!(anew(&turn(), style(Dialect::Claude, Mode::TEXT, false)), "Two.\n");
    let old = Style {
        old_text: true,
        hides_thoughts: false,
        agent: false,
        ..style(Dialect::Claude, Mode::TEXT, false)
    };
    assert_eq!(anew(&turn(), old).lines().count(), 1);
    // A killed run has neither.
    let killed: String = turn().lines().take(6).map(|line| format!("{line}\n")).collect();
    assert_eq!(anew(&killed, style(Dialect::Claude, Mode::JSON, false)), "");
    assert_eq!(anew(&killed, style(Dialect::Claude, Mode::TEXT, false)), "");
}

#[test]
fn a_json_value_becomes_a_turn() {
    let value = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":7,"duration_api_ms":7,"result":"Blue.","session_id":"S"}"#;
    let mut converter = Converter::new(Options::new("cursor:json".parse().unwrap(), "cursor".parse().unwrap()));
    let mut out = Vec::new();
    converter.feed(value.as_bytes(), &mut out);
    converter.finish(&mut out);
    let wanted = lines(&[
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"",SESSION,"model":"Auto","permissionMode":"default"}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Blue."}]},SESSION}"#,
        r#"{"type":"result","subtype":"success","duration_ms":7,"duration_api_ms":7,"is_error":false,"result":"Blue.",SESSION}"#,
    ]);
    assert_eq!(String::from_utf8(out).unwrap(), wanted);
}

#[test]
fn tools_without_a_kind_are_functions() {
    let log = turn().replace("readToolCall", "function").replace(
        "\"args\":{\"path\":\"a\"}",
        "\"name\":\"spell\",\"arguments\":\"{\\\"path\\\": \\\"a\\\"}\"",
    );
    assert_eq!(untimed(&anew(&log, style(Dialect::Claude, Mode::STREAM_JSON, false))), untimed(&log));
    // Other dialects' names are no kinds, whatever they end in.
    let verbatim = Style {
        native_tools: false,
        ..style(Dialect::Claude, Mode::STREAM_JSON, false)
    };
    let text = anew(&turn(), verbatim);
    assert!(
        text.contains(r#""tool_call":{"function":{"name":"readToolCall","arguments":"{\"path\":\"a\"}"},"hookAdd"#),
        "{text}"
    );
}

#[test]
fn results_without_a_form_say_how_they_went() {
    for (result, wanted) in [
        (
            r#"{"rejected":{"reason":"No"}}"#,
            r#"{"function":{"name":"spell","result":{"rejected":{"reason":"No"}}},"#,
        ),
        (
            r#"{"error":{"errorMessage":"No"}}"#,
            r#"{"function":{"name":"spell","arguments":"{}","result":{"error":{"errorMessage":"No"}}},"#,
        ),
        (
            r#"{"success":{"content":"Yes"}}"#,
            r#"{"function":{"name":"spell","arguments":"{}","result":{"success":{"content":"Yes"}}},"#,
        ),
    ] {
        let completed = format!(
            r#"{{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{{"function":{{"name":"spell","arguments":"{{}}","result":{result}}}}},{SESSION}}}"#
        );
        let text = anew(&completed, style(Dialect::Claude, Mode::STREAM_JSON, false));
        let line = text.lines().find(|line| line.contains("\"completed\"")).unwrap();
        assert!(line.contains(wanted), "{line}");
        assert!(text.contains("\"started\""), "a result without a call gets one: {text}");
    }
}

#[test]
fn damage_is_told_before_anything_is_said() {
    for (line, why) in [
        (r#"{"type":"assistant"}"#, "required member \"message\" is missing"),
        (r#"{"type":"assistant","message":{"content":5}}"#, "value of the wrong type"),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text"}]}}"#,
            "required member \"text\" is missing",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\x"}]}}"#,
            "bad escape in a string",
        ),
        (r#"{"type":"thinking","subtype":"delta"}"#, "required member \"text\" is missing"),
        (
            r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"toolCallId":"c"}}"#,
            "required member \"tool_call/function\" is missing",
        ),
        (
            r#"{"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{}}}"#,
            "required member \"call_id\" is missing",
        ),
        (
            r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"function":{"name":5}}}"#,
            "value of the wrong type",
        ),
        (
            r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"a":tru}}}}"#,
            "bad literal",
        ),
        (r#"{"type":"result","result":"a"#, "the value is cut off"),
    ] {
        let found = rebuild(line);
        let error = found[0].1.as_ref().unwrap_err();
        assert!(error.starts_with(why), "{line}: {error}");
    }
}

#[test]
fn wrong_types_and_odd_lines_are_kept() {
    for line in [
        r#"{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"x":1,"readToolCall":{"args":{},"y":2},"z":[]},"timestamp_ms":"late","model_call_id":7}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"result":"done"}}}"#,
        r#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"function":{"name":"f","arguments":"no json"}}}"#,
        r#"{"type":"tool_call","subtype":"progress","call_id":"c","tool_call":{"shellToolCall":{}},"session_id":"S","timestamp_ms":1}"#,
        r#"{"type":"tool_call","subtype":"elsewhere","call_id":"c"}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a","q":1},{"type":"zz"}],"w":null},"session_id":"S","zz_unknown":{"deep":[1,2.50,"x"]}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a","q":1}]},"session_id":"S","timestamp_ms":1}"#,
        r#"{"type":"status","subtype":"alive","session_id":"S"}"#,
        r#"{"type":"system","subtype":"later","session_id":"S","x":1}"#,
        r#"{"type":"interaction_query","subtype":"response","query_type":"zzQuery","response":null,"session_id":"S"}"#,
        r#"{"type":"result","subtype":"error","is_error":true,"result":"gone","session_id":"S"}"#,
        r#"{"type":"thinking","subtype":"completed","session_id":"S"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"image","data":"x"}]},"session_id":5}"#,
        r#"{"no":"type"}"#,
        "[1,2]",
        "\"text\"",
    ] {
        let built = rebuild(line).remove(0).1.unwrap();
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(value(&built), value(line), "{built}");
    }
    assert_eq!(rebuild("RetriableError: [x] no").remove(0).1.unwrap(), "RetriableError: [x] no\n");
}

#[test]
fn escaped_keys_and_words_are_read() {
    let line = r#"{"\u0074ype":"assist\u0061nt","mess\u0061ge":{"content":[{"type":"te\u0078t","text":"a"}]}}"#;
    let built = rebuild(line).remove(0).1.unwrap();
    assert!(built.contains(r#"{"type":"text","text":"a"}"#), "{built}");
}

#[test]
fn what_is_learnt_changes_nothing() {
    // Each line once learnt and once alone, where nothing can have been learnt.
    for path in logs() {
        let log = std::fs::read_to_string(&path).unwrap();
        for (line, built, _) in rebuild(&log) {
            if ["{\"type\":\"thinking\",\"subtype\":\"delta\"", "{\"type\":\"assistant\""]
                .iter()
                .any(|head| line.starts_with(head))
            {
                assert_eq!(rebuild(&line).remove(0).1, built, "{path:?}");
            }
        }
    }
}

#[test]
fn the_ledger_is_told_what_a_line_repeats_and_what_it_lacks() {
    let mut options = Options::new("cursor".parse().unwrap(), "agentglot".parse().unwrap());
    options.ledger = Some("log".to_owned());
    let mut converter = Converter::new(options);
    let mut events = Vec::new();
    converter.feed(turn().as_bytes(), &mut events);
    converter.finish(&mut events);
    assert!(!converter.take_ledger().contains("\"dropped\""), "the canonical events hold everything");

    let mut options = Options::new("agentglot".parse().unwrap(), "cursor".parse().unwrap());
    options.ledger = Some("log".to_owned());
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    let bare = "{\"event\":\"reply\",\"blocks\":[{\"type\":\"text\",\"text\":\"Hi\"}]}\n{\"event\":\"reply\",\"blocks\":[{\"type\":\"call\",\"id\":\"c\",\"name\":\"f\",\"kind\":\"other\",\"input\":{}}]}\n";
    converter.feed(bare.as_bytes(), &mut out);
    converter.finish(&mut out);
    let ledger = converter.take_ledger();
    for pointer in ["/session_id", "/cwd", "/model", "/apiKeySource", "/permissionMode", "/model_call_id"] {
        assert!(
            ledger.contains(&format!("\"pointer\":\"{pointer}\",\"fate\":\"invented\"")),
            "{pointer}: {ledger}"
        );
    }
    assert!(!String::from_utf8_lossy(&out).contains("timestamp_ms"), "nobody knows when");
}

#[test]
fn a_piece_at_a_time_that_nobody_knows_is_a_piece_all_the_same() {
    let piece =
        |event: &str| format!("{{\"type\":\"stream_event\",\"event\":{event},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u\"}}\n");
    let log = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" two."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_stop"}"#,
    ]
    .map(piece)
    .concat();
    let mut options = Options::new("claude".parse().unwrap(), "cursor".parse().unwrap());
    options.partial = true;
    let mut converter = Converter::new(options);
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    let written = String::from_utf8(out).unwrap();
    assert_eq!(written.matches("\"timestamp_ms\":null").count(), 2, "{written}");
    assert_eq!(written.matches("timestamp_ms").count(), 2, "{written}");
    for ledger in [None, Some("log".to_owned())] {
        let mut options = Options::new("cursor".parse().unwrap(), "qwen".parse().unwrap());
        options.ledger = ledger;
        let mut converter = Converter::new(options);
        let mut back = Vec::new();
        converter.feed(written.as_bytes(), &mut back);
        converter.finish(&mut back);
        let back = String::from_utf8(back).unwrap();
        assert_eq!(back.matches("One two.").count(), 1, "{back}");
        assert!(!converter.take_ledger().contains("/timestamp_ms"));
    }
}

/// The result says again what was said in segments: one entry tells of it, whether or not the target says the answer with the outcome.
#[test]
fn the_result_has_one_entry() {
    for to in ["claude", "claude:transcript", "gemini:chat", "qwen-code:chat", "acp"] {
        let (_, ledger) = crate::testing::traced(&turn(), "cursor", to);
        let last = |line: &&str| line.contains("\"line\":9,");
        let tells = |line: &&str| {
            ["\"pointer\":\"\",\"fate\":\"dropped\"", "\"pointer\":\"/result\""]
                .iter()
                .any(|what| line.contains(what))
        };
        assert_eq!(ledger.lines().filter(last).filter(tells).count(), 1, "{to}: {ledger}");
    }
}
