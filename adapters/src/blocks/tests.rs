use bumpalo::Bump;

use super::*;
use crate::codec::Cx;
use crate::event::{At, Block, BlockHead, Content, Piece, ResultStatus, Scope, StopKind};
use crate::json::{Cursor, Out, Raw, Str, Why};

static SEAL: Vocabulary = Vocabulary {
    dialect: Dialect::Claude,
    signature: Signature::Seal,
    usage: UsageForm::Split,
    start: StartForm::Full,
    knows: |name| name == "citations",
};
static SUBJECT: Vocabulary = Vocabulary {
    dialect: Dialect::QwenCode,
    signature: Signature::Subject,
    usage: UsageForm::Inclusive,
    start: StartForm::Bare,
    ..SEAL
};

fn written(write: impl FnOnce(&mut Out)) -> String {
    let mut out = Out::default();
    write(&mut out);
    String::from_utf8(out.written().to_vec()).unwrap()
}

fn same(a: &str, b: &str) -> bool {
    Raw::trusted(a).check().is_ok() && Raw::trusted(a).same_value(Raw::trusted(b))
}

/// Reads a user message and writes it again.
fn again(words: &'static Vocabulary, message: &str) -> Result<String, Why> {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut fields = FieldList::new_in(&arena);
    let said = Reader { cx: &cx, words }
        .user(&mut Cursor::new(message), &mut fields)
        .map_err(|e| e.why)?;
    let writer = Writer { words, own: true };
    Ok(written(|out| {
        out.lit("{\"role\":\"user\",\"content\":");
        match said {
            Said::Content(content) => writer.content(out, content),
            Said::Parts(parts) => {
                for (n, part) in parts.iter().enumerate() {
                    out.lit(if n == 0 { "[" } else { "," });
                    match part {
                        Part::Block(block) => writer.block(out, block),
                        Part::Result(result) => writer.result(out, result, result.is_error),
                    }
                }
                out.lit("]");
            }
        }
        writer.fields(out, fields.into_bump_slice(), At::Part(MESSAGE));
        out.lit("}");
    }))
}

#[test]
fn contents_read_back_in_any_key_order() {
    for message in [
        r#"{"role":"user","content":"text \ud83d"}"#,
        r#"{"content":[],"role":"user","odd":{"a":[1.50]}}"#,
        r#"{"role":"user","content":[{"citations":null,"text":"a","type":"text","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"data":"="}}]}"#,
        r#"{"role":"user","content":[{"content":"early","type":"tool_result","is_error":false,"tool_use_id":"t1"}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"n"}]},"bare",null]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"first","content":"second","is_error":"yes"}]}"#,
        r#"{"role":"user","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"xx"},{"type":"tool_use","id":"i","name":"n","input":{"a":1,"b":[]}}]}"#,
        r#"{"role":"user","content":[{"type":"server_tool_use","id":"i","input":{}},{"no":"type"},{"type":7}]}"#,
        r#"{"\u0072ole":"user","c\u006fntent":[{"\u0074ype":"text","te\u0078t":"escaped keys"}]}"#,
    ] {
        let again = again(&SEAL, message).unwrap();
        assert!(same(&again, message), "{message}\n{again}");
    }
}

#[test]
fn what_lacks_its_needs_is_damaged() {
    for (message, why) in [
        (r#"{"role":"assistant","content":"x"}"#, Why::Type),
        (r#"{"role":"user"}"#, Why::Missing("content")),
        (r#"{"role":"user","content":{"a":1}}"#, Why::Type),
        (r#"{"role":"user","content":[{"type":"text"}]}"#, Why::Missing("text")),
        (r#"{"role":"user","content":[{"type":"text","text":5}]}"#, Why::Type),
        (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":null,"content":12}]}"#,
            Why::Type,
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_use","name":"Bash","input":{}}]}"#,
            Why::Missing("id"),
        ),
        (r#"{"role":"user","content":[{"type":"zz","data":"\x"}]}"#, Why::Escape),
        (r#"{"role":"user","content":[{"type":"image","data":[01]}]}"#, Why::Number),
    ] {
        assert_eq!(again(&SEAL, message), Err(why), "{message}");
    }
}

#[test]
fn a_signature_is_a_seal_or_a_subject() {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let text = r#"[{"type":"thinking","thinking":"t","signature":"Plan"},{"type":"thinking","thinking":"t","signature":""}]"#;
    let blocks = Reader { cx: &cx, words: &SUBJECT }.blocks(&mut Cursor::new(text)).unwrap();
    let subjects: Vec<_> = blocks
        .iter()
        .map(|b| matches!(b, Block::Thinking(t) if t.subject == Some(Str::trusted("Plan")) && t.signature.is_none()))
        .collect();
    assert_eq!(subjects, [true, false]);
    assert_eq!(written(|out| Writer { words: &SUBJECT, own: true }.blocks(out, blocks)), text);
    let foreign = written(|out| Writer { words: &SEAL, own: false }.blocks(out, &blocks[..1]));
    assert_eq!(foreign, r#"[{"type":"thinking","thinking":"t","signature":""}]"#);
}

#[test]
fn results_carry_their_status_and_odd_members() {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut fields = FieldList::new_in(&arena);
    let message = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":12,"is_error":true,"x":1}]}"#;
    let said = Reader { cx: &cx, words: &SEAL }.user(&mut Cursor::new(message), &mut fields).unwrap();
    let Said::Parts([Part::Result(result)]) = said else { panic!("{said:?}") };
    assert_eq!(
        (result.status, result.is_error, result.content),
        (ResultStatus::Error, Some(true), Content::Blocks(&[]))
    );
    let odd: Vec<_> = result
        .fields
        .iter()
        .map(|f| (f.key.as_escaped(), f.value.as_str(), f.known, f.at))
        .collect();
    assert_eq!(odd, [("content", "12", false, At::Block(0)), ("x", "1", false, At::Block(0))]);
}

#[test]
fn usage_keeps_its_own_form_and_takes_another() {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut fields = FieldList::new_in(&arena);
    let split = r#"{"input_tokens":100,"cache_creation_input_tokens":7,"cache_read_input_tokens":11,"output_tokens":2,"service_tier":"standard"}"#;
    let key = Str::trusted("usage");
    let mut read = |words, text| {
        Reader { cx: &cx, words }
            .usage(&mut Cursor::new(text), Scope::Turn, At::Line, key, &mut fields)
            .unwrap()
    };
    let usage = read(&SEAL, split).unwrap();
    assert_eq!(usage.prompt_tokens(), Some(118));
    assert_eq!(written(|out| Writer { words: &SEAL, own: true }.usage(out, Some(&usage))), split);
    let inclusive = written(|out| Writer { words: &SUBJECT, own: false }.usage(out, Some(&usage)));
    assert_eq!(inclusive, r#"{"input_tokens":118,"output_tokens":2,"cache_read_input_tokens":11}"#);
    let back = read(
        &SUBJECT,
        r#"{"input_tokens":118,"output_tokens":2,"cache_read_input_tokens":11,"total_tokens":120}"#,
    )
    .unwrap();
    let split = written(|out| Writer { words: &SEAL, own: false }.usage(out, Some(&back)));
    assert_eq!(
        split,
        r#"{"input_tokens":107,"cache_creation_input_tokens":0,"cache_read_input_tokens":11,"output_tokens":2}"#
    );
    assert!(read(&SEAL, "null").is_none());
    assert!(read(&SEAL, "\"much\"").is_none());
    assert_eq!(
        fields.iter().map(|f| (f.value.as_str(), f.known)).collect::<Vec<_>>(),
        [("\"much\"", false)]
    );
}

fn event(words: &'static Vocabulary, text: &str) -> Result<(String, String), Why> {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut fields = FieldList::new_in(&arena);
    let event = Reader { cx: &cx, words }.event(&mut Cursor::new(text), &mut fields).map_err(|e| e.why)?;
    let fields = fields.into_bump_slice();
    let writer = Writer { words, own: true };
    let again = written(|out| match event {
        StreamEvent::MessageStart(start) => writer.message_start(out, start.id.unwrap_or_default(), start.model.unwrap_or_default(), &start, fields),
        StreamEvent::BlockStart(start, _) => writer.block_start(out, start.index, &start.head, fields),
        StreamEvent::Delta(delta) => writer.delta(out, delta.index, &delta.piece, fields),
        StreamEvent::BlockStop(stop) => writer.block_stop(out, stop.index, fields),
        StreamEvent::MessageDelta(stop) => writer.message_delta(out, stop.stop.as_ref(), stop.usage.as_ref(), fields),
        StreamEvent::MessageStop => writer.message_stop(out, fields),
        StreamEvent::Other { raw, .. } => out.unchecked(raw),
    });
    Ok((format!("{event:?}"), again))
}

#[test]
fn events_read_back_in_any_key_order() {
    for text in [
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1},"container":null}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}"#,
        r#"{"content_block":{"signature":"","type":"thinking","thinking":""},"index":1,"type":"content_block_start"}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":"early"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"Read","input":{},"caller":{"type":"direct"}}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"t","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
        r#"{"delta":{"text":"a\"b\ud800","type":"text_delta"},"index":4294967295,"type":"content_block_delta"}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"t","estimated_tokens":3}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"s"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"a":1}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"container":null},"usage":{"output_tokens":20},"context_management":{"applied_edits":[]}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":null,"stop_sequence":"x"},"usage":{"output_tokens":20}}"#,
        r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{}}"#,
        r#"{"type":"ping","delta":5,"index":"x"}"#,
        r#"{"goal":1}"#,
    ] {
        let (event, again) = event(&SEAL, text).unwrap();
        assert!(same(&again, text), "{text}\n{event}\n{again}");
    }
}

#[test]
fn damaged_events_are_told() {
    for (text, why) in [
        (r#"{"type":"content_block_delta","index":0}"#, Why::Missing("delta")),
        (
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}"#,
            Why::Missing("index"),
        ),
        (r#"{"type":"content_block_delta","index":0,"delta":"x"}"#, Why::Type),
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","thinking":"x"}}"#,
            Why::Missing("text"),
        ),
        (
            r#"{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"x"}}"#,
            Why::Type,
        ),
        (
            r#"{"type":"content_block_delta","index":4294967296,"delta":{"type":"text_delta","text":"x"}}"#,
            Why::Type,
        ),
        (r#"{"type":"content_block_start","index":0}"#, Why::Missing("content_block")),
        (r#"{"type":"message_start","message":[]}"#, Why::Type),
        ("null", Why::Type),
        (r#"{"type":"message_stop""#, Why::CutOff),
    ] {
        assert_eq!(event(&SEAL, text), Err(why), "{text}");
    }
}

#[test]
fn a_block_may_begin_with_something() {
    let arena = Bump::new();
    let cx = Cx::new(&arena);
    let mut fields = FieldList::new_in(&arena);
    let mut read = |text| Reader { cx: &cx, words: &SEAL }.event(&mut Cursor::new(text), &mut fields).unwrap();
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}"#;
    assert!(matches!(read(text), StreamEvent::BlockStart(start, Some(Piece::Text(t))) if start.head == BlockHead::Text && t.is("Hi")));
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"i","name":"n","input":{"a":"b"}}}"#;
    assert!(matches!(read(text), StreamEvent::BlockStart(_, Some(Piece::Input(t))) if t.unescape() == r#"{"a":"b"}"#));
    let text = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":null}"#;
    assert!(matches!(read(text), StreamEvent::MessageDelta(stop) if stop.stop.is_some_and(|s| s.kind == StopKind::Tools) && stop.usage.is_none()));
}
