use bumpalo::Bump;

use super::{Assembler, Down, Duties};
use crate::agentglot;
use crate::codec::{Cx, Decode, Dialect, Encoder, Style, Want};
use crate::event::{Event, Input, Sink};
use crate::json::Out;
use crate::testing::traced;

/// Runs canonical events through an assembler and writes what comes out as canonical events, shortened for reading:
/// `{"event":"delta","index":0,"text":"a"}` becomes `delta index:0 text:"a"`.
fn assemble(source: Dialect, want: Want, duties: Duties, log: &str) -> Vec<String> {
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
    let style = Style {
        partial: true,
        ..Style::new(Dialect::Agentglot.modes()[0], Dialect::Agentglot)
    };
    let mut encoder = Encoder::new(Dialect::Agentglot, style);
    let mut assembler = Assembler::new(source.into(), want, duties);
    let mut out = Out::default();
    let mut decoder = agentglot::Decoder::default();
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    for line in log.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let down = Down {
            encoder: &mut encoder,
            out: &mut out,
            cx,
        };
        decoder
            .line(
                line,
                &cx,
                &mut Through {
                    assembler: &mut assembler,
                    down,
                },
            )
            .unwrap();
    }
    assembler.finish(&mut Down {
        encoder: &mut encoder,
        out: &mut out,
        cx,
    });
    let text = String::from_utf8(out.written().to_vec()).unwrap();
    text.lines().skip(1).map(short).collect()
}

fn short(line: &str) -> String {
    let mut text = String::new();
    for (key, value) in crate::json::Raw::trusted(line).members() {
        match key.as_escaped() {
            "event" => text.push_str(value.string().unwrap().as_escaped()),
            key => text.push_str(&format!(" {key}:{}", value.as_str())),
        }
    }
    text
}

const PARTIAL: &str = r#"
    {"event":"session","opens_turn":true}
    {"event":"round_start","round":"m1"}
    {"event":"block_start","index":0,"block":{"type":"text"}}
    {"event":"delta","index":0,"text":"Hel"}
    {"event":"delta","index":0,"text":"lo"}
    {"event":"reply","round":"m1","blocks":[{"type":"text","text":"Hello"}]}
    {"event":"block_stop","index":0}
    {"event":"block_start","index":1,"block":{"type":"call","id":"c","name":"Read"}}
    {"event":"delta","index":1,"input":"{\"p\":"}
    {"event":"delta","index":1,"input":"1}"}
    {"event":"reply","round":"m1","blocks":[{"type":"call","id":"c","name":"Read","kind":"read","input":{"p":1}}]}
    {"event":"block_stop","index":1}
    {"event":"round_stop","stop":"tool_use","usage":{"scope":"round","input":5,"output":2}}
    {"event":"round_end"}
    {"event":"tool_result","call":"c","status":"success","content":"ok"}
    {"event":"outcome","outcome":"success"}
"#;

#[test]
fn a_target_of_snapshots_gets_each_block_once() {
    assert_eq!(
        assemble(Dialect::Claude, Want::SNAPSHOTS, Duties::default(), PARTIAL),
        [
            "session opens_turn:true",
            "round_start round:\"m1\"",
            "reply round:\"m1\" blocks:[{\"type\":\"text\",\"text\":\"Hello\"}]",
            "reply round:\"m1\" blocks:[{\"type\":\"call\",\"id\":\"c\",\"name\":\"Read\",\"kind\":\"read\",\"input\":{\"p\":1}}]",
            "round_end stop:\"tool_use\" usage:{\"scope\":\"round\",\"input\":5,\"output\":2}",
            "tool_result call:\"c\" status:\"success\" content:\"ok\" of:{\"type\":\"call\",\"id\":\"c\",\"name\":\"Read\",\"kind\":\"read\",\"input\":{\"p\":1}}",
            "outcome outcome:\"success\" is_error:false",
        ]
    );
}

#[test]
fn a_target_of_deltas_gets_each_piece_once() {
    assert_eq!(
        assemble(Dialect::Claude, Want::DELTAS, Duties::default(), PARTIAL),
        [
            "session opens_turn:true",
            "round_start round:\"m1\"",
            "block_start index:0 block:{\"type\":\"text\"}",
            "delta index:0 text:\"Hel\"",
            "delta index:0 text:\"lo\"",
            "block_stop index:0",
            "block_start index:1 block:{\"type\":\"call\",\"id\":\"c\",\"name\":\"Read\"}",
            "delta index:1 input:\"{\\\"p\\\":\"",
            "delta index:1 input:\"1}\"",
            "block_stop index:1",
            "round_end stop:\"tool_use\" usage:{\"scope\":\"round\",\"input\":5,\"output\":2}",
            "tool_result call:\"c\" status:\"success\" content:\"ok\" of:{\"type\":\"call\",\"id\":\"c\",\"name\":\"Read\",\"kind\":\"read\",\"input\":{\"p\":1}}",
            "outcome outcome:\"success\" is_error:false",
        ]
    );
}

#[test]
fn a_target_of_both_gets_the_snapshot_before_the_stop() {
    let both = assemble(Dialect::Claude, Want::BOTH, Duties::default(), PARTIAL);
    let order: Vec<&str> = both.iter().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(
        order,
        [
            "session",
            "round_start",
            "block_start",
            "delta",
            "delta",
            "reply",
            "block_stop",
            "block_start",
            "delta",
            "delta",
            "reply",
            "block_stop",
            "round_end",
            "tool_result",
            "outcome"
        ]
    );
    // The same from a source that only has pieces, or only whole blocks.
    let pieces: String = PARTIAL.lines().filter(|l| !l.contains("\"reply\"")).map(|l| format!("{l}\n")).collect();
    let from_pieces = assemble(Dialect::Qwen, Want::BOTH, Duties::default(), &pieces);
    assert_eq!(from_pieces.iter().map(|l| l.split(' ').next().unwrap()).collect::<Vec<_>>(), order);
    let wholes: String = PARTIAL
        .lines()
        .filter(|l| ["reply", "result", "outcome", "session"].iter().any(|k| l.contains(k)))
        .map(|l| format!("{l}\n"))
        .collect();
    let from_wholes = assemble(Dialect::Claude, Want::BOTH, Duties::default(), &wholes);
    assert_eq!(
        from_wholes.iter().map(|l| l.split(' ').next().unwrap()).collect::<Vec<_>>(),
        [
            "session",
            "round_start",
            "block_start",
            "delta",
            "reply",
            "block_stop",
            "block_start",
            "delta",
            "reply",
            "block_stop",
            "tool_result",
            "round_end",
            "outcome"
        ]
    );
    // Who has no place for the pieces of arguments is spared them, and nothing else.
    for (source, log, inputs) in [(Dialect::Claude, PARTIAL, 2), (Dialect::Qwen, &pieces, 2), (Dialect::Claude, &wholes, 1)] {
        let all = assemble(source, Want::BOTH, Duties::default(), log);
        let (given, spared): (Vec<_>, Vec<_>) = all.into_iter().partition(|l| !(l.starts_with("delta ") && l.contains(" input:")));
        assert_eq!(spared.len(), inputs);
        assert_eq!(assemble(source, Want::BOTH.without_inputs(), Duties::default(), log), given);
    }
}

#[test]
fn snapshots_that_follow_their_stop_are_still_recognised() {
    // Qwen Code: the whole line comes behind the last stop, and one line holds all parallel calls.
    let log = r#"
        {"event":"round_start"}
        {"event":"block_start","index":0,"block":{"type":"text"}}
        {"event":"delta","index":0,"text":"Hi"}
        {"event":"block_stop","index":0}
        {"event":"reply","round":"a","blocks":[{"type":"text","text":"Hi"}]}
        {"event":"block_start","index":0,"block":{"type":"call","id":"x","name":"r"}}
        {"event":"delta","index":0,"input":"{}"}
        {"event":"block_stop","index":0}
        {"event":"block_start","index":1,"block":{"type":"call","id":"y","name":"r"}}
        {"event":"delta","index":1,"input":"{}"}
        {"event":"block_stop","index":1}
        {"event":"reply","round":"b","blocks":[{"type":"call","id":"x","name":"r","kind":"other","input":{}},{"type":"call","id":"y","name":"r","kind":"other","input":{}}]}
        {"event":"round_end"}
        {"event":"outcome","outcome":"success"}
    "#;
    let deltas = assemble(Dialect::QwenCode, Want::DELTAS, Duties::default(), log);
    assert_eq!(deltas.iter().filter(|l| l.starts_with("delta")).count(), 3);
    assert_eq!(deltas.iter().filter(|l| l.starts_with("block_start")).count(), 3);
    assert_eq!(deltas.iter().filter(|l| l.starts_with("round_start")).count(), 1);
    let wholes = assemble(Dialect::QwenCode, Want::SNAPSHOTS, Duties::default(), log);
    assert_eq!(wholes.iter().filter(|l| l.starts_with("reply")).count(), 2);
    let both = assemble(Dialect::QwenCode, Want::BOTH, Duties::default(), log);
    assert_eq!(both.iter().filter(|l| l.starts_with("reply")).count(), 3);
    assert_eq!(both.iter().filter(|l| l.starts_with("delta")).count(), 3);
}

#[test]
fn a_reply_that_was_given_up_is_not_said_twice() {
    let log = r#"
        {"event":"round_start","round":"m1"}
        {"event":"block_start","index":0,"block":{"type":"text"}}
        {"event":"delta","index":0,"text":"Hel"}
        {"event":"block_stop","index":0}
        {"event":"round_end","abandoned_from":0}
        {"event":"reply","round":"m2","blocks":[{"type":"text","text":"Hello"}]}
        {"event":"outcome","outcome":"success"}
    "#;
    let texts = |want| -> Vec<String> {
        let all = assemble(Dialect::Claude, want, Duties::default(), log);
        all.into_iter().filter(|l| l.starts_with("delta") || l.starts_with("reply")).collect()
    };
    assert_eq!(texts(Want::DELTAS), ["delta index:0 text:\"Hel\"", "delta index:0 text:\"lo\""]);
    assert_eq!(
        texts(Want::SNAPSHOTS),
        ["reply round:\"m2\" blocks:[{\"type\":\"text\",\"text\":\"Hello\"}]"]
    );
}

/// Qwen Code calls the model again when its reply was cut off, and goes on with the text that has stopped.
#[test]
fn a_text_that_goes_on_behind_its_end_is_one() {
    let log = r#"
        {"event":"round_start","round":"m1"}
        {"event":"block_start","index":0,"block":{"type":"text"}}
        {"event":"delta","index":0,"text":"Hel"}
        {"event":"block_stop","index":0}
        {"event":"delta","index":0,"text":"l"}
        {"event":"delta","index":0,"text":"o"}
        {"event":"reply","round":"m1","blocks":[{"type":"text","text":"Hello"}]}
        {"event":"round_end"}
        {"event":"outcome","outcome":"success"}
    "#;
    let texts = |want| -> Vec<String> {
        let all = assemble(Dialect::QwenCode, want, Duties::default(), log);
        all.into_iter().filter(|l| l.starts_with("delta") || l.starts_with("reply")).collect()
    };
    let deltas = texts(Want::DELTAS);
    let said: Vec<&str> = deltas.iter().filter_map(|l| l.split_once("text:")).map(|(_, text)| text).collect();
    assert_eq!(said, ["\"Hel\"", "\"l\"", "\"o\""], "{deltas:#?}");
    let whole = "reply round:\"m1\" blocks:[{\"type\":\"text\",\"text\":\"Hello\"}]";
    assert_eq!(texts(Want::SNAPSHOTS), [whole]);
    assert_eq!(texts(Want::BOTH).iter().filter(|l| *l == whole).count(), 1);
}

#[test]
fn what_the_source_finally_calls_its_arguments_goes_over() {
    let log = PARTIAL.replace("\"input\":{\"p\":1}", "\"input\":{\"all\":false,\"p\":1}");
    let deltas = assemble(Dialect::Claude, Want::DELTAS, Duties::default(), &log);
    assert!(
        deltas.contains(&"delta index:1 input:\"{\\\"all\\\":false,\\\"p\\\":1}\"".to_owned()),
        "{deltas:#?}"
    );
    assert_eq!(deltas.iter().filter(|l| l.contains("input:")).count(), 1);
}

#[test]
fn every_turn_ends_once() {
    let log = r#"
        {"event":"session","session":"s","opens_turn":true}
        {"event":"reply","round":"m","blocks":[{"type":"text","text":"Hi"}]}
    "#;
    let all = assemble(Dialect::Claude, Want::SNAPSHOTS, Duties::default(), log);
    assert_eq!(
        all.last().unwrap(),
        "outcome session:\"s\" outcome:\"failed_protocol\" is_error:true synthetic:true error:\"the log ends before the turn does\""
    );
    let none = assemble(
        Dialect::Claude,
        Want::SNAPSHOTS,
        Duties::default(),
        r#"{"event":"response","request_id":"r","ok":true}"#,
    );
    assert_eq!(none.len(), 1, "no turn, no outcome: {none:?}");
}

#[test]
fn a_result_without_a_call_gets_one() {
    let log = r#"{"event":"tool_result","call":"c","name":"Read","status":"success","content":"ok"}"#;
    let all = assemble(Dialect::Claude, Want::SNAPSHOTS, Duties::default(), log);
    assert!(
        all.iter()
            .any(|l| l == "reply blocks:[{\"type\":\"call\",\"id\":\"c\",\"name\":\"Read\",\"kind\":\"other\",\"input\":{}}]"),
        "{all:#?}"
    );
}

#[test]
fn repairs_add_what_is_missing_and_nothing_else() {
    let log = r#"
        {"event":"session","session":"s","opens_turn":true}
        {"event":"reply","round":"m","blocks":[{"type":"call","id":"a","name":"A","kind":"other","input":{}},{"type":"call","id":"b","name":"B","kind":"other","input":{}}]}
        {"event":"tool_result","call":"a","status":"success","content":"ok"}
    "#;
    let duties = Duties {
        repair: true,
        watch: true,
        ..Duties::default()
    };
    let all = assemble(Dialect::Claude, Want::AS_IS, duties, log);
    assert_eq!(all.len(), 2, "{all:#?}");
    assert!(all[0].starts_with("tool_result session:\"s\" call:\"b\" name:\"B\" status:\"canceled\""));
    assert!(all[1].starts_with("outcome"));
}

/// It has one that says so, and the host reads no second one in a later turn. Another call of that id is another call.
#[test]
fn a_call_of_a_stopped_turn_has_one_result() {
    let log = r#"
        {"event":"session","session":"s","opens_turn":true}
        {"event":"reply","round":"m","blocks":[{"type":"call","id":"a","name":"A","kind":"other","input":{}}]}
        {"event":"outcome","outcome":"cancelled"}
        {"event":"reply","round":"n","blocks":[{"type":"text","text":"next"}]}
        {"event":"tool_progress","call":"a","status":"in_progress"}
        {"event":"tool_result","call":"a","status":"success","content":"late"}
        {"event":"reply","round":"o","blocks":[{"type":"call","id":"a","name":"A","kind":"other","input":{}}]}
        {"event":"tool_result","call":"a","status":"success","content":"its own"}
        {"event":"outcome","outcome":"success"}
    "#;
    for source in [Dialect::Codex, Dialect::Acp] {
        let duties = Duties {
            live: true,
            ..Duties::default()
        };
        let all = assemble(source, Want::SNAPSHOTS, duties, log);
        let of_call: Vec<&String> = all.iter().filter(|line| line.starts_with("tool_")).collect();
        assert_eq!(of_call.len(), 2, "{all:#?}");
        assert!(
            of_call[0].contains("The tool call was interrupted.") && of_call[1].contains("its own"),
            "{all:#?}"
        );
    }
}

#[test]
fn prompts_go_where_the_log_lacks_them() {
    let log = r#"
        {"event":"session","opens_turn":true}
        {"event":"reply","round":"m","blocks":[{"type":"text","text":"one"}]}
        {"event":"outcome","outcome":"success"}
        {"event":"prompt","source":"echo","content":"second, said by the log"}
        {"event":"reply","round":"n","blocks":[{"type":"text","text":"two"}]}
        {"event":"outcome","outcome":"success"}
        {"event":"reply","round":"o","blocks":[{"type":"text","text":"three"}]}
        {"event":"outcome","outcome":"success"}
    "#;
    let duties = Duties {
        prompts: ["first", "second", "third"].map(str::to_owned).to_vec(),
        ..Duties::default()
    };
    let all = assemble(Dialect::Claude, Want::SNAPSHOTS, duties, log);
    let prompts: Vec<&String> = all.iter().filter(|l| l.starts_with("prompt")).collect();
    assert_eq!(
        prompts,
        [
            "prompt source:\"echo\" content:\"first\"",
            "prompt source:\"echo\" content:\"second, said by the log\"",
            "prompt source:\"echo\" content:\"third\""
        ]
    );
    assert!(all[1].starts_with("prompt"), "behind the session, before the reply: {all:#?}");
}

#[test]
fn subagents_stay_apart() {
    let log = r#"
        {"event":"reply","round":"m","blocks":[{"type":"call","id":"t","name":"Task","kind":"subagent","input":{}}]}
        {"event":"delta","parent":"t","index":0,"text":"in"}
        {"event":"delta","index":0,"text":"out"}
        {"event":"delta","parent":"t","index":0,"text":"side"}
        {"event":"tool_result","call":"t","status":"success","content":"ok"}
        {"event":"outcome","outcome":"success"}
    "#;
    let kept = assemble(Dialect::Claude, Want::SNAPSHOTS.with_subagents(), Duties::default(), log);
    assert!(
        kept.contains(&"reply parent:\"t\" blocks:[{\"type\":\"text\",\"text\":\"inside\"}]".to_owned()),
        "{kept:#?}"
    );
    assert!(
        kept.contains(&"reply blocks:[{\"type\":\"text\",\"text\":\"out\"}]".to_owned())
            || kept.contains(&"reply round:\"m\" blocks:[{\"type\":\"text\",\"text\":\"out\"}]".to_owned()),
        "{kept:#?}"
    );
    let flat = assemble(Dialect::Claude, Want::SNAPSHOTS, Duties::default(), log);
    assert!(!flat.iter().any(|l| l.contains("side")), "{flat:#?}");
}

#[test]
fn what_came_in_pieces_stays_before_what_comes_whole() {
    // Cursor: thoughts come in pieces only, segments in pieces and perhaps whole, calls whole.
    for whole in ["", r#"{"event":"reply","round":"m","blocks":[{"type":"text","text":"I ask"}]}"#] {
        let log = format!(
            r#"
            {{"event":"block_start","index":0,"block":{{"type":"thinking"}}}}
            {{"event":"delta","index":0,"thinking":"hm"}}
            {{"event":"block_stop","index":0}}
            {{"event":"delta","index":1,"text":"I ask"}}
            {whole}
            {{"event":"reply","round":"m","blocks":[{{"type":"call","id":"c","name":"f","kind":"other","input":{{}}}}]}}
            {{"event":"tool_result","call":"c","status":"success","content":"ok"}}
            {{"event":"outcome","outcome":"success"}}
            "#
        );
        for want in [Want::SNAPSHOTS, Want::BOTH, Want::DELTAS] {
            let all = assemble(Dialect::Cursor, want, Duties::default(), &log);
            let at = |what: &str| {
                all.iter()
                    .position(|line| line.contains(what))
                    .unwrap_or_else(|| panic!("{what}: {all:#?}"))
            };
            assert!(
                at("hm") < at("I ask") && at("I ask") < at("\"call\"") && at("\"call\"") < at("tool_result"),
                "{all:#?}"
            );
        }
    }
}

#[test]
fn blocks_do_not_overlap_where_a_text_follows_a_call_that_came_in_pieces() {
    let log = r#"
        {"event":"session","opens_turn":true}
        {"event":"block_start","index":0,"block":{"type":"call","id":"a","name":"Read"}}
        {"event":"delta","index":0,"input":"{}"}
        {"event":"block_stop","index":0}
        {"event":"block_start","index":1,"block":{"type":"text"}}
        {"event":"delta","index":1,"text":"be"}
        {"event":"delta","index":1,"text":"tween"}
        {"event":"block_stop","index":1}
        {"event":"block_start","index":2,"block":{"type":"call","id":"b","name":"Read"}}
        {"event":"delta","index":2,"input":"{}"}
        {"event":"block_stop","index":2}
        {"event":"outcome","outcome":"success"}
    "#;
    let want = Want {
        snapshots: true,
        ..Want::DELTAS
    };
    let out = assemble(Dialect::AgUi, want, Duties::default(), log);
    let blocks: Vec<&str> = out.iter().filter(|line| line.starts_with("block_")).map(String::as_str).collect();
    assert_eq!(
        blocks,
        [
            "block_start index:0 block:{\"type\":\"call\",\"id\":\"a\",\"name\":\"Read\"}",
            "block_stop index:0",
            "block_start index:1 block:{\"type\":\"text\"}",
            "block_stop index:1",
            "block_start index:2 block:{\"type\":\"call\",\"id\":\"b\",\"name\":\"Read\"}",
            "block_stop index:2",
        ],
        "{out:#?}"
    );
}

#[test]
fn pieces_of_a_round_that_only_the_whole_text_names_are_said_once() {
    let log = r#"
        {"event":"session","opens_turn":true}
        {"event":"reply","round":"m1","blocks":[{"type":"call","id":"never","name":"Read","kind":"read","input":{}}]}
        {"event":"block_start","index":1,"block":{"type":"text"}}
        {"event":"delta","index":1,"text":"once"}
        {"event":"reply","round":"m2","blocks":[{"type":"text","text":"once"}]}
        {"event":"block_stop","index":1}
        {"event":"reply","round":"m2","blocks":[{"type":"call","id":"c","name":"Read","kind":"read","input":{}}]}
        {"event":"outcome","outcome":"success"}
    "#;
    for want in [Want::SNAPSHOTS, Want::DELTAS] {
        let out = assemble(Dialect::Cursor, want, Duties::default(), log);
        assert_eq!(out.iter().filter(|line| line.contains("once")).count(), 1, "{out:#?}");
    }
}

#[test]
fn what_was_said_before_a_result_stands_before_it() {
    let log = r#"
        {"event":"session","opens_turn":true}
        {"event":"round_start","round":"m"}
        {"event":"reply","round":"m","blocks":[{"type":"call","id":"c","name":"f","kind":"other","input":{}}]}
        {"event":"block_start","index":1,"block":{"type":"text"}}
        {"event":"delta","index":1,"text":"I "}
        {"event":"delta","index":1,"text":"wait"}
        {"event":"block_stop","index":1}
        {"event":"tool_result","call":"c","status":"success","content":"ok"}
        {"event":"round_end"}
        {"event":"outcome","outcome":"success"}
    "#;
    for want in [Want::SNAPSHOTS, Want::BOTH] {
        let all = assemble(Dialect::Acp, want, Duties::default(), log);
        let at = |what: &str| all.iter().position(|line| line.contains(what));
        assert!(at("I wait").is_some() && at("I wait") < at("tool_result"), "{all:#?}");
        assert_eq!(all.iter().filter(|line| line.contains("I wait")).count(), 1, "{all:#?}");
    }
}

#[test]
fn arguments_that_come_behind_their_call_are_told_as_lost() {
    let line = |rest: &str| format!("{{{rest},\"parent_tool_use_id\":null,\"session_id\":\"s\",\"uuid\":\"u\"}}\n");
    let piece = |event: &str| line(&format!("\"type\":\"stream_event\",\"event\":{{{event}}}"));
    let log = |input: &str| {
        [
            line(r#""type":"system","subtype":"init","cwd":"/w","tools":[],"model":"m","permissionMode":"default","claude_code_version":"2.1.329""#),
            piece(r#""type":"message_start","message":{"id":"m1","role":"assistant","model":"m","content":[]}"#),
            piece(r#""type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"Frob","input":{}}"#),
            piece(r#""type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}"#),
            piece(r#""type":"content_block_stop","index":0"#),
            piece(r#""type":"content_block_start","index":1,"content_block":{"type":"text","text":""}"#),
            piece(r#""type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hm"}"#),
            line(&format!(
                r#""type":"assistant","message":{{"id":"m1","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"c","name":"Frob","input":{input}}},{{"type":"text","text":"hm"}}]}}"#
            )),
        ]
        .concat()
    };
    for (input, lost) in [(r#"{"n":1}"#, 0), (r#"{"n":77}"#, 1)] {
        let (out, ledger) = traced(&log(input), "claude", "acp");
        assert!(out.contains(r#""rawInput":{"n":1}"#) && !out.contains("77"), "{out}");
        assert_eq!(
            ledger.matches(r#""pointer":"/message/content/0/input","fate":"dropped""#).count(),
            lost,
            "{ledger}"
        );
    }
}

#[test]
fn a_block_that_no_snapshot_follows_is_whole_when_it_stops() {
    let log = r#"
        {"event":"session","opens_turn":true}
        {"event":"block_start","index":0,"block":{"type":"text"}}
        {"event":"delta","index":0,"text":"I look."}
        {"event":"block_start","index":1,"block":{"type":"call","id":"a","name":"Read"}}
        {"event":"block_stop","index":0}
        {"event":"notice","name":"behind the text","topic":"other"}
        {"event":"delta","index":1,"input":"{}"}
        {"event":"block_stop","index":1}
        {"event":"notice","name":"behind the call","topic":"other"}
        {"event":"outcome","outcome":"success"}
    "#;
    let duties = Duties {
        whole_at_stop: true,
        ..Duties::default()
    };
    for want in [Want::SNAPSHOTS, Want::BOTH] {
        let out = assemble(Dialect::Agentglot, want, duties.clone(), log);
        let wholes: Vec<&str> = out
            .iter()
            .filter_map(|line| line.split(' ').next())
            .filter(|word| ["reply", "notice"].contains(word))
            .collect();
        assert_eq!(wholes, ["reply", "notice", "reply", "notice"], "{out:#?}");
    }
}
