use std::path::{Path, PathBuf};

use bumpalo::Bump;

use crate::codec::{Cx, Decode, Dialect, Encode, Style};
use crate::event::{Event, Input, Sink};
use crate::json::{Error, Out, Raw};
use crate::trace::Trace;
use crate::tricode::formatted_result::Shown;
use crate::tricode::{Decoder, Encoder, formatted_call, formatted_result};

/// Recorded logs where they are at hand, else those in the repository.
fn logs() -> Vec<(PathBuf, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders: Vec<PathBuf> = match crate::beside::shared("recordings/tricode") {
        Some(recorded) => vec![recorded.join("65cba1e"), recorded],
        None => vec![here.join("../golden/tricode")],
    };
    let mut logs = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).expect("a folder of logs") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "jsonl") && !path.to_string_lossy().contains(".api.") {
                logs.push((path.clone(), std::fs::read_to_string(path).expect("UTF-8")));
            }
        }
    }
    logs.sort();
    assert!(logs.len() >= 29, "{} logs", logs.len());
    logs
}

const STYLE: Style = Style::new(Dialect::Tricode.modes()[0], Dialect::Tricode);

/// What a decoder says, in short.
#[derive(Default)]
struct Said(Vec<String>);

impl<'a> Sink<'a> for Said {
    fn event(&mut self, event: &Event<'a>) {
        self.0.push(format!(
            "{:?} {:?}",
            event.kind,
            event
                .fields
                .iter()
                .map(|f| (f.key.as_escaped(), f.value.as_str(), f.known))
                .collect::<Vec<_>>()
        ));
    }
    fn input(&mut self, _: &Input<'a>) {
        unreachable!("Tricode has no host lines");
    }
}

/// Decodes a log line by line into an encoder without anything between them.
struct Rebuild<'e> {
    encoder: &'e mut Encoder,
    out: &'e mut Out,
    unknown: &'e mut Vec<String>,
    /// `formatted` has to be worked out.
    bare: bool,
}

impl<'a> Sink<'a> for Rebuild<'_> {
    fn event(&mut self, event: &Event<'a>) {
        let fields = if self.bare { &[] } else { event.fields };
        let event = &Event { fields, ..*event };
        self.unknown
            .extend(event.fields.iter().filter(|f| !f.known).map(|f| f.key.as_escaped().to_owned()));
        self.encoder.event(event, self.out);
    }
    fn input(&mut self, _: &Input<'a>) {
        unreachable!("Tricode has no host lines");
    }
}

fn each<'a>(decoder: &mut Decoder, line: &'a str, arena: &'a Bump, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        let used = decoder.line(rest, &Cx::new(arena), sink)?;
        rest = rest[used..].trim_ascii_start();
    }
    Ok(())
}

fn said(log: &str) -> Vec<String> {
    let (mut decoder, mut said, arena) = (Decoder::default(), Said::default(), Bump::new());
    for line in log.lines() {
        each(&mut decoder, line, &arena, &mut said).unwrap_or_else(|error| said.0.push(format!("{error}")));
    }
    said.0
}

#[test]
fn every_recorded_formatted_string_is_worked_out() {
    let mut strings = 0;
    for (path, log) in logs() {
        let mut call: Option<serde_json::Value> = None;
        for line in log.lines() {
            let Some(at) = line.find("{\"type\": \"tool_") else { continue };
            let line = &line[at..];
            let get = |key| Raw::trusted(line).get(key);
            let name = get("name").and_then(Raw::string).unwrap();
            let mut body = Vec::new();
            if let Some(arguments) = get("arguments") {
                formatted_call::write(name, arguments, &mut body);
                call = Some(serde_json::from_str(line).unwrap());
            } else {
                let arguments = call.take().map(|call| call["arguments"].to_string());
                let shown = Shown {
                    name,
                    arguments: arguments.as_deref().map(Raw::trusted),
                    success: get("success").and_then(Raw::bool).unwrap(),
                    result: get("result").and_then(Raw::string).unwrap(),
                };
                formatted_result::write(shown, &mut body);
            }
            let recorded = get("formatted").and_then(Raw::string).unwrap().as_escaped();
            assert_eq!(String::from_utf8(body).unwrap(), recorded, "{}", path.display());
            strings += 1;
        }
    }
    assert!(strings >= 280, "{strings}");
    println!("{strings} formatted strings");
}

#[test]
fn recorded_lines_are_rebuilt_byte_for_byte() {
    rebuild(false);
    rebuild(true);
}

fn rebuild(bare: bool) {
    let (mut json, mut same, mut texts) = (0, 0, 0);
    for (path, log) in logs() {
        let (mut decoder, mut encoder) = (Decoder::default(), Encoder::new(STYLE));
        let mut unknown = Vec::new();
        for line in log.lines().filter(|line| !line.trim_ascii().is_empty()) {
            let arena = Bump::new();
            let mut out = Out::default();
            let mut sink = Rebuild {
                encoder: &mut encoder,
                out: &mut out,
                unknown: &mut unknown,
                bare,
            };
            each(&mut decoder, line, &arena, &mut sink).unwrap_or_else(|error| panic!("{}: {line}: {error}", path.display()));
            let written = String::from_utf8(out.written().to_vec()).unwrap();
            if line.starts_with("{\"type\"") {
                json += 1;
                same += usize::from(written == format!("{line}\n"));
            } else {
                // Text and the object glued to it come out on lines of their own.
                texts += 1;
                assert_eq!(written.replace('\n', ""), line.trim_ascii(), "{}", path.display());
            }
        }
        assert_eq!(unknown, Vec::<String>::new(), "{}", path.display());
    }
    assert_eq!(same, json);
    println!("{same} of {json} lines of JSON, {texts} lines of text");
}

#[test]
fn a_log_says_what_it_says() {
    let log = concat!(
        "{\"type\": \"system\", \"message\": \"Session ID: 1a2b3c4d\"}\n",
        "{\"type\": \"round\", \"number\": 1}\n",
        "{\"type\": \"tool_call\", \"name\": \"mkdir\", \"arguments\": {\"path\": \"d\"}, \"formatted\": \"MKDIR(\\\"d\\\", parents=True)\"}\n",
        "Your choice [1/2/3/4]: {\"type\": \"tool_result\", \"name\": \"mkdir\", \"success\": false, \"result\": \"Denied: no\", \"formatted\": \"[FAIL] Denied: no\"}\n",
        "{\"type\": \"reminder\", \"message\": \"think\", \"extra\": [1]}\n",
        "{\"content\": \"done\", \"type\": \"final\"}\n",
    );
    let said = said(log);
    let wanted = [
        "Session(Session { cwd: None",
        "RoundStart(RoundStart { id: None, model: None, usage: None, number: Some(1) }) []",
        "Reply(Reply { id: None, model: None, blocks: [Call(ToolCall { id: Str(\"call_1\"), name: Str(\"mkdir\")",
        "Noise(\"Your choice [1/2/3/4]: \") []",
        "ToolResult(ToolResult { call: Str(\"call_1\"), name: Some(Str(\"mkdir\")), status: Denied, content: Text(Str(\"Denied: no\"))",
        "Notice(Notice { name: Str(\"reminder\"), topic: Reminder, message: Some(Str(\"think\")), data: None }) [(\"extra\", \"[1]\", false)]",
        "Reply(Reply { id: None, model: None, blocks: [Text { text: Str(\"done\")",
        "Outcome(Outcome { kind: Success, is_error: false, synthetic: false, text: Some(Str(\"done\"))",
    ];
    assert_eq!(said.len(), wanted.len(), "{said:#?}");
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.starts_with(wanted), "{said}\n{wanted}");
    }
    assert!(
        said[2].ends_with("[(\"formatted\", \"\\\"MKDIR(\\\\\\\"d\\\\\\\", parents=True)\\\"\", true)]"),
        "{}",
        said[2]
    );
}

#[test]
fn the_ledger_hears_of_formatted_strings_that_say_something_else() {
    let dropped = |line: &str| {
        let trace = Trace::default();
        let (mut decoder, mut said, arena) = (Decoder::default(), Said::default(), Bump::new());
        trace.begin(line);
        let cx = Cx {
            trace: Some(&trace),
            ..Cx::new(&arena)
        };
        decoder.line(line, &cx, &mut said).unwrap();
        let found = trace.settle(line, true, "x");
        found.iter().any(|finding| finding.pointer == "/formatted")
    };
    let call =
        |formatted: &str| format!("{{\"type\":\"tool_call\",\"name\":\"plan\",\"arguments\":{{\"action\":\"skip\"}},\"formatted\":{formatted}}}");
    assert!(!dropped(&call("\"PLAN SKIP\"")), "it goes over with what it is worked out from");
    assert!(dropped(&call("\"PLAN\"")) && dropped(&call("null")));
    let result =
        |formatted: &str| format!("{{\"type\":\"tool_result\",\"name\":\"x\",\"success\":false,\"result\":\"a\",\"formatted\":\"{formatted}\"}}");
    assert!(!dropped(&result("[FAIL] a")) && dropped(&result("[OK] a")));
}

#[test]
fn results_belong_to_the_last_open_call_of_their_name() {
    let said = said(concat!(
        "{\"type\":\"tool_call\",\"name\":\"a\",\"arguments\":{}}\n",
        "{\"type\":\"tool_call\",\"name\":\"b\",\"arguments\":{}}\n",
        "{\"type\":\"tool_call\",\"name\":\"a\",\"arguments\":{}}\n",
        "{\"type\":\"tool_result\",\"name\":\"a\",\"success\":true,\"result\":\"\"}\n",
        "{\"type\":\"tool_result\",\"name\":\"b\",\"success\":true,\"result\":\"\"}\n",
        "{\"type\":\"tool_result\",\"name\":\"a\",\"success\":true,\"result\":\"\"}\n",
        "{\"type\":\"tool_result\",\"name\":\"a\",\"success\":true,\"result\":\"\"}\n",
    ));
    let ids: Vec<&str> = said[3..]
        .iter()
        .map(|said| &said["ToolResult(ToolResult { call: Str(\"".len()..][..6])
        .collect();
    assert_eq!(ids, ["call_3", "call_2", "call_1", "call_4"]);
}

#[test]
fn plain_sentences_end_the_run_and_other_text_does_not() {
    let first = |log: &str| said(log).pop().unwrap();
    assert!(first("OpenAI API error: Error code: 401 - \"no\"\n").starts_with("Outcome(Outcome { kind: Failed(Model), is_error: true"));
    assert!(first("OpenAI API error: \"no\"\n").contains("error: Some(Str(\"OpenAI API error: \\\\\\\"no\\\\\\\"\"))"));
    assert!(first("Error: Session 00000000 not found\n").starts_with("Outcome(Outcome { kind: Failed(Backend)"));
    assert!(first("❌ Agent terminated: User cancelled\n").starts_with("Outcome(Outcome { kind: Cancelled"));
    // In the middle of printed text.
    assert!(first("Content: a\nError: b\n").starts_with("Noise(\"Error: b\")"));
    for noise in [
        "{",
        "{'type': 'final'}",
        "{\"a\": 1,",
        "[1, 2]",
        "12",
        "He wrote {\"type\": \"final\" into it.",
        "x {\"type\": \"zz",
        "a {\"b\": 1}",
    ] {
        assert_eq!(said(noise), [format!("Noise({noise:?}) []")]);
    }
    assert!(said("x {\"type\": \"zz\"}")[1].starts_with("Unknown("));
}

#[test]
fn damage_is_named_and_tells_nothing() {
    for (line, why) in [
        ("{\"type\": \"final\", \"cont", "the value is cut off at byte 23"),
        ("{\"ty", "the value is cut off at byte 4"),
        ("{\"type\": \"final\"}", "required member \"content\" is missing at byte 17"),
        (
            "{\"type\": \"tool_result\", \"success\": \"yes\", \"result\": \"\"}",
            "value of the wrong type at byte 35",
        ),
        (
            "{\"type\": \"tool_call\", \"name\": \"a\", \"arguments\": {\"n\": NaN}}",
            "bad literal at byte 54",
        ),
    ] {
        assert_eq!(said(line), [why], "{line}");
    }
    let cut = said("Your choice [1/2/3/4]: {\"type\": \"tool_re");
    assert_eq!(cut, ["Noise(\"Your choice [1/2/3/4]: \") []", "the value is cut off at byte 17"]);
}

#[test]
fn a_long_line_of_beginnings_costs_no_square() {
    let mut line = "x ".to_owned() + &"{\"type\": \"final\", \"a\": [".repeat(20_000);
    line.push('}');
    assert!(said(&line)[0].starts_with("Noise(\"x {"));
}

#[test]
fn a_number_that_is_none_stays_a_field() {
    assert!(said("{\"type\": \"round\", \"number\": \"one\"}")[0].ends_with("number: None }) [(\"number\", \"\\\"one\\\"\", true)]"));
}
