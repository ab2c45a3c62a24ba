//! Lines of stores, taken apart and written again by their own encoders.

use bumpalo::Bump;

use super::{begins_as_subagent, session_of};
use crate::codec::{Cx, Decode, Decoder, Dialect, Encode, Encoder, Format, Style};
use crate::event::{Event, Input, Kind, Sink};
use crate::json::{Out, Raw};
use crate::testing::traced;

struct Through<'e>(&'e mut Encoder, &'e mut Out);

impl<'a> Sink<'a> for Through<'_> {
    fn event(&mut self, event: &Event<'a>) {
        // What is told of the file as a whole has no line.
        if !event.fields.is_empty() || !matches!(event.kind, Kind::Session(_) | Kind::Outcome(_)) {
            self.0.event(event, self.1);
        }
    }

    fn input(&mut self, input: &Input<'a>) {
        self.0.input(input, self.1);
    }
}

fn rebuilt(format: Format, log: &str) {
    let style = Style {
        source_mode: format.mode,
        ..Style::new(format.mode, format.dialect)
    };
    let (mut decoder, mut encoder) = (Decoder::new(format), Encoder::new(format.dialect, style));
    let whole = [log.trim()];
    let lines: Vec<&str> = if format.mode.layout.is_lines() {
        log.lines().collect()
    } else {
        whole.to_vec()
    };
    for line in lines {
        let (arena, mut out) = (Bump::new(), Out::default());
        let cx = Cx::new(&arena);
        decoder
            .line(line, &cx, &mut Through(&mut encoder, &mut out))
            .unwrap_or_else(|error| panic!("{error}: {line}"));
        if !format.mode.layout.is_lines() {
            encoder.finish(&mut out);
        }
        let again = String::from_utf8_lossy(out.written()).into_owned();
        assert!(
            Raw::trusted(line).same_value(Raw::trusted(again.trim_end())),
            "{format}\n{line:.2000}\n{again:.2000}"
        );
    }
}

#[test]
fn lines_that_are_kept_are_rebuilt() {
    let mut seen = 0;
    for dialect in Dialect::ALL {
        for store in dialect.vendor().stores {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/").to_owned() + dialect.name();
            for file in std::fs::read_dir(folder).expect("goldens lie in folders") {
                let path = file.expect("an entry").path();
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if name.starts_with(store.mode.name) && !name.ends_with(".out.jsonl") {
                    rebuilt(
                        Format { dialect, mode: store.mode },
                        &std::fs::read_to_string(&path).expect("it can be read"),
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 5, "{seen} kept sessions");
}

/// A file is sent to a model as a whole, and servers refuse ids of calls that come twice.
#[test]
fn no_two_calls_of_a_file_have_the_same_id() {
    let log = r#"
        {"agentglot":1,"source":"tricode"}
        {"event":"session","session":"s","opens_turn":true}
        {"event":"reply","session":"s","round":"m1","blocks":[{"type":"call","id":"c","name":"Frob","kind":"other","input":{"n":1}}]}
        {"event":"tool_result","session":"s","call":"c","status":"success","content":"one"}
        {"event":"outcome","session":"s","outcome":"success"}
        {"event":"session","session":"s","opens_turn":true}
        {"event":"reply","session":"s","round":"m2","blocks":[{"type":"call","id":"c","name":"Frob","kind":"other","input":{"n":2}}]}
        {"event":"tool_result","session":"s","call":"c","status":"success","content":"two"}
        {"event":"outcome","session":"s","outcome":"success"}
    "#;
    let log: String = log.lines().map(|line| format!("{}\n", line.trim())).collect();
    for store in ["claude:transcript", "qwen-code:chat", "gemini:chat", "codex:rollout"] {
        let (kept, ledger) = traced(log.trim_start(), "agentglot", store);
        let first = kept.matches("\"c\"").count();
        assert!(first > 0 && kept.matches("\"c-2\"").count() == first, "{store}: {kept}");
        assert!(ledger.contains("another call of the session has its id"), "{store}: {ledger}");
    }
}

#[test]
fn a_session_is_named_by_the_first_object_however_it_is_laid_out() {
    for (head, id) in [
        ("{\"sessionId\":\"one\",\"projectHash\":\"x\"}\n{\"sessionId\":\"two\"}\n", Some("one")),
        (
            "\u{feff}\n{\n  \"a\": [1, {\"sessionId\": \"no\"}],\n  \"sessionId\": \"one\",\n  \"messages\": [\n    {\"te",
            Some("one"),
        ),
        ("{\"a\":1}\n{\"sessionId\":\"two\"}\n", None),
        ("{\"sessionId\":\"../one\"}\n", None),
        ("{\"messages\":[{\"te", None),
        ("", None),
    ] {
        assert_eq!(session_of(head.as_bytes()).as_deref(), id, "{head}");
    }
    for (head, is_one) in [
        ("{\"isSidechain\":true,\"parentUuid\":null}\n", true),
        ("{\"isSidechain\":false}\n{\"isSidechain\":true}\n", false),
        ("{\n  \"projectHash\": \"x\",\n  \"kind\": \"subagent\",\n  \"messages\": [", true),
        ("{\"type\":\"session_meta\",\"payload\":{\"thread_source\":\"subagent\"}}\n", true),
    ] {
        assert_eq!(begins_as_subagent(head.as_bytes()), is_one, "{head}");
    }
}
