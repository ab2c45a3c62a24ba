use bumpalo::Bump;

use super::{Decoder, Encoder};
use crate::codec::{Cx, Decode, Dialect, Encode, Style};
use crate::convert::{Converter, Options};
use crate::event::{Event, Input, Sink};
use crate::json::Out;

/// Decodes each line and writes it again.
struct Again<'o> {
    encoder: Encoder,
    out: &'o mut Out,
}

impl<'a> Sink<'a> for Again<'_> {
    fn event(&mut self, event: &Event<'a>) {
        self.encoder.event(event, self.out);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.encoder.input(input, self.out);
    }
}

fn again(log: &str) -> String {
    let style = Style {
        partial: true,
        ..Style::new(Dialect::Agentglot.modes()[0], Dialect::Agentglot)
    };
    let mut out = Out::default();
    let arena = Bump::new();
    let mut decoder = Decoder::default();
    let mut sink = Again {
        encoder: Encoder::new(style),
        out: &mut out,
    };
    for line in log.lines() {
        let cx = Cx::new(&arena);
        assert_eq!(decoder.line(line, &cx, &mut sink).unwrap(), line.len());
    }
    String::from_utf8(out.written().to_vec()).unwrap()
}

/// One line of every kind, with every member.
const EVERYTHING: &str = r#"{"agentglot":"events","version":1,"source":"agentglot"}
{"event":"session","session":"s","id":"u","turn":"s########1","time":"2026-01-01T00:00:00Z","cwd":"/w","model":"m","tools":["a","b"],"permission_mode":"default","version":"1","api_key_source":"env","mcp_servers":[],"slash_commands":[],"agents":[],"protocol_version":"1","capabilities":"can_use_tool","resumed":true,"opens_turn":true,"fields":[{"key":"x","value":{"deep":[1,2.50]},"known":true},{"key":"y","at":"/message","value":null},{"key":"z","block":2,"value":"é\/\ud800"}]}
{"event":"notice","name":"api_retry","topic":"retry","message":"again","data":{"attempt":1}}
{"event":"prompt","source":"echo","content":"hi"}
{"event":"prompt","parent":"call_1","source":"parent","content":[{"type":"text","text":"hi"},{"type":"media","kind":"image","raw":{"type":"image"}}]}
{"event":"round_start","round":"msg","model":"m","usage":{"scope":"round","input":1,"output":2,"reasoning":5,"cache_read":3,"cache_write":4,"total":10,"inclusive":true,"reasoning_beside":true,"derived":true,"raw":{"a":1}},"number":3}
{"event":"block_start","index":0,"block":{"type":"text"}}
{"event":"block_start","index":1,"block":{"type":"call","id":"c","name":"Read"}}
{"event":"block_start","index":2,"block":{"type":"redacted","data":"=="}}
{"event":"block_start","index":3,"block":{"type":"other","kind":"server_tool_use","raw":{}}}
{"event":"block_start","index":4,"block":{"type":"thinking"}}
{"event":"delta","session":"s","time_ms":17,"index":0,"text":"a\n"}
{"event":"delta","index":4,"thinking":"hm"}
{"event":"delta","index":4,"signature":"=="}
{"event":"delta","index":4,"subject":"head"}
{"event":"delta","index":1,"input":"{\"a\""}
{"event":"delta","index":1,"other":{"type":"citations_delta"}}
{"event":"block_stop","index":0}
{"event":"round_stop","stop":"end_turn","usage":{"scope":"turn","input":1}}
{"event":"round_end","stop":"tool_use","abandoned_from":1}
{"event":"reply","agent":{"is":"subagent","id":"a","name":"n","task":"t"},"round":"msg","model":"m","blocks":[{"type":"text","text":"x","fields":[{"key":"citations","value":[],"known":true}]},{"type":"thinking","text":"","signature":"==","subject":"s"},{"type":"redacted","data":"=="},{"type":"call","id":"c","name":"Read","kind":"read","input":{"b":1,"a":1e400,"b":2}},{"type":"other","kind":"x","raw":[1]}],"stop":"end_turn","usage":{"scope":"session"},"error":"rate_limit","last":true}
{"event":"tool_result","call":"c","name":"Read","status":"denied","content":"no","is_error":true,"detail_shape":"claude","detail":{"a":1},"result":{"type":"tool_result","fields":[{"key":"k","value":1,"known":true}]}}
{"event":"tool_progress","call":"c","status":"executing","content":"x","confirmation":{"type":"exec"}}
{"event":"terminal","text":"x","channel":"stderr","source":"console","spans":[],"ansi":[],"level":"warn","exit_code":1,"raw_ansi":"\u001b[0m"}
{"event":"request","request_id":"r","subtype":"can_use_tool","permission":{"name":"Bash","call":"c","input":{"command":"ls"},"suggestions":[]}}
{"event":"response","request_id":"r","ok":false,"body":{},"error":"no"}
{"event":"withdraw","request_id":"r"}
{"event":"command","command":{"kind":"slash"},"result":{"type":"handled"}}
{"event":"hint","trigger":"slash","status":"ok","suggestions":[],"metadata":{},"message":"m"}
{"event":"heartbeat","status":"ok","ts":1}
{"event":"cancel_result","status":"noop","message":"m"}
{"event":"outcome","time_s":5,"outcome":"limit_turns","is_error":true,"synthetic":true,"text":"t","error":"e","word":"error_max_turns","duration_ms":1,"duration_api_ms":2,"num_turns":3,"cost_usd":0.10,"cost_scope":"turn","usage":{"scope":"turn","input":1},"stop":"end_turn","denials":[],"structured":{},"request_id":"q"}
{"event":"fatal","message":"m","kind":"k","param":null,"code":"c"}
{"event":"noise","text":"log \"line\"\rand over it"}
{"event":"unknown","line":{"type":"new"}}
{"input":"prompt","session":"s","source":"host","content":"hi"}
{"input":"chat","model":"m","from":"tool_response","parts":[],"command":{},"tool_call":"c","options":{},"tools":[],"messages":[],"protocol_version":1}
{"input":"request","request_id":"r","subtype":"interrupt"}
{"input":"response","request_id":"r","ok":true,"body":{"behavior":"allow"}}
{"input":"withdraw","request_id":"r"}
{"input":"hint","trigger":"at","text":"@x","cursor":2,"context":{}}
{"input":"hint_cancel"}
{"input":"heartbeat","interval_ms":5}
{"input":"cancel","reason":"escape"}
{"input":"keep_alive"}
{"input":"environment","variables":{"A":"b"}}
{"input":"noise","text":"x"}
{"input":"unknown","line":{"type":"?"}}
"#;

#[test]
fn every_event_reads_back_as_it_was_written() {
    let written = again(EVERYTHING);
    for (got, wanted) in written.lines().zip(EVERYTHING.lines()) {
        assert_eq!(got, wanted);
    }
    assert_eq!(written, EVERYTHING);
}

#[test]
fn any_key_order_and_unknown_members_are_read() {
    let written = again("{ \"index\": 0, \"zz\": {\"a\":[1]}, \"t\\u0065xt\": \"hi\", \"event\": \"delta\" }");
    assert!(
        written.ends_with("{\"event\":\"delta\",\"index\":0,\"text\":\"hi\",\"fields\":[{\"key\":\"zz\",\"value\":{\"a\":[1]}}]}\n"),
        "{written}"
    );
}

#[test]
fn an_event_of_another_version_is_kept_whole() {
    let written = again("{\"event\":\"telepathy\",\"index\":0}\n{\"neither\":1}");
    assert!(
        written
            .contains("{\"event\":\"unknown\",\"line\":{\"event\":\"telepathy\",\"index\":0}}\n{\"event\":\"unknown\",\"line\":{\"neither\":1}}\n"),
        "{written}"
    );
}

#[test]
fn noise_that_was_put_together_of_several_lines_is_several_again() {
    // The string does not end on its line, so what is one value by its brackets is none.
    let log = "  {\n    \"id\": \"Q\",\n    W\",\n    \"u\\\": 2}\"\n  },\n";
    let events = convert(Dialect::Tricode, Dialect::Agentglot, log);
    let noise = events.lines().filter(|line| line.starts_with("{\"event\":\"noise\"")).count();
    assert!(noise > 1 && !events.contains("\\n"), "{events}");
    let mut back = Converter::new(Options::new(Dialect::Agentglot.into(), Dialect::Claude.into()));
    let mut out = Vec::new();
    back.feed(events.as_bytes(), &mut out);
    back.finish(&mut out);
    assert_eq!(back.damaged(), 0, "{events}");
}

fn convert(from: Dialect, to: Dialect, log: &str) -> String {
    let mut converter = Converter::new(Options::new(from.into(), to.into()));
    let mut out = Vec::new();
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    String::from_utf8(out).unwrap()
}
