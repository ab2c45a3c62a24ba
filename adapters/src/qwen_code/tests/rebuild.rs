//! Decoding and encoding again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Mirror;
use crate::beside::shared;

/// Every recorded line of the program and of its hosts, and the elements of its `json` format.
fn recorded() -> Vec<(PathBuf, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recordings = ["recordings/qwen-code", "recordings/qwen-code/sdk"];
    let mut files: Vec<PathBuf> = recordings
        .into_iter()
        .filter_map(shared)
        .chain([root.join("../golden/qwen-code")])
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder of logs"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if name.ends_with(".out.jsonl") || name.ends_with(".in.jsonl") {
            found.push((file, text.split('\n').filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()));
        } else if name.ends_with(".out.json") {
            let elements = match serde_json::from_str::<Value>(&text) {
                Ok(Value::Array(elements)) => elements.iter().map(Value::to_string).collect(),
                _ => continue,
            };
            found.push((file, elements));
        }
    }
    found
}

/// Lines that are damaged, or lack what their type needs: hosts tried what the program makes of them.
fn is_damaged(line: &str) -> bool {
    match serde_json::from_str::<Value>(line) {
        Err(_) => line.starts_with('{'),
        Ok(value) => {
            let lacks = |kind: &str, what: &str| value["type"] == kind && value.pointer(what).is_none_or(Value::is_null);
            lacks("control_request", "/request") || lacks("user", "/message") || lacks("assistant", "/message/content")
        }
    }
}

#[test]
fn every_recorded_line_is_built_again() {
    let (mut lines, mut same) = (0, 0);
    let mut wrong = Vec::new();
    for (file, text) in recorded() {
        let mut mirror = Mirror::new();
        for line in text {
            if is_damaged(&line) {
                assert!(mirror.line(&line).is_err(), "{line}");
                continue;
            }
            lines += 1;
            let rebuilt = match mirror.line(&line) {
                Ok(rebuilt) => rebuilt.out,
                Err(error) => panic!("{}: {error}: {line}", file.display()),
            };
            let equal = match serde_json::from_str::<Value>(&line) {
                Ok(value) => serde_json::from_str::<Value>(&rebuilt).is_ok_and(|built| built == value),
                Err(_) => rebuilt == format!("{line}\n"),
            };
            same += usize::from(equal);
            if !equal {
                wrong.push(format!("{}\n  {:.600}\n  {:.600}", file.display(), line, rebuilt));
            }
        }
    }
    println!("{same} of {lines} lines");
    assert!(same * 100 >= lines * 98, "{same} of {lines}\n{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_recorded_field_is_known() {
    // What hosts made up to see what happens.
    const MADE_UP: &[&str] = &["n", "reason"];
    for (file, text) in recorded() {
        let mut mirror = Mirror::new();
        for line in text.iter().filter(|line| !is_damaged(line)) {
            let unknown = mirror.line(line).unwrap().unknown;
            assert!(
                unknown.iter().all(|name| MADE_UP.contains(&name.as_str())),
                "{}: {unknown:?}: {line:.400}",
                file.display()
            );
        }
    }
}

#[test]
fn lines_that_no_recording_holds_are_built_again() {
    let mut mirror = Mirror::new();
    for line in [
        r#"{"session_id":"s","message":{"content":[{"annotations":[{"type":"x","value":1}],"text":"a\ud83d\ude00","type":"text"}],"zz":1.50,"role":"assistant","model":"m","id":"u","usage":{"output_tokens":0,"input_tokens":0,"extra":0},"stop_reason":null,"type":"message"},"uuid":"u","parent_tool_use_id":null,"\u0074ype":"assistant"}"#,
        r#"{"type":"assistant","uuid":"u","session_id":"s","parent_tool_use_id":null,"message":{"id":"u","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"t","signature":"Looking around"},{"type":"image","source":{}},{"type":"new","x":[]}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":0,"total_tokens":3,"details":{"a":1}}}}"#,
        r#"{"type":"system","subtype":"model_fallback","uuid":"u","session_id":"s","parent_tool_use_id":"call","data":{"from":"a","to":"b"},"later":null}"#,
        r#"{"type":"system","subtype":"init","uuid":"s","session_id":"s","cwd":"/w","tools":["a"],"mcp_servers":[],"model":"m","permission_mode":"yolo","slash_commands":[],"qwen_code_version":"9","agents":[],"output_style":"x","skills":[],"capabilities":["c"],"unheard_of":1}"#,
        r#"{"type":"stream_event","uuid":"u","session_id":"s","parent_tool_use_id":null,"event":{"type":"tool_progress","tool_use_id":"call","content":"half","more":1}}"#,
        r#"{"type":"stream_event","uuid":"u1","session_id":"s","parent_tool_use_id":null,"event":{"type":"content_block_delta","index":7,"delta":{"type":"citations_delta","citation":{}}}}"#,
        r#"{"type":"stream_event","uuid":"u2","session_id":"s","parent_tool_use_id":null,"event":{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"stream_event","uuid":"u","session_id":"s","parent_tool_use_id":null,"event":{"type":"unheard_of","x":1}}"#,
        r#"{"type":"result","subtype":"success","uuid":"u","session_id":"s","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"{\"answer\":42}","usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[{"tool_name":"t","tool_use_id":"c","tool_input":{}}],"stats":{"models":{}},"structured_result":{"answer":42}}"#,
        r#"{"type":"result","subtype":"error_max_turns","uuid":"u","session_id":"s","is_error":true,"duration_ms":1,"num_turns":1,"error":{"message":"m","type":"t"},"synthetic":true,"odd":[]}"#,
        r#"{"type":"result","subtype":"error_during_execution","uuid":"u","session_id":"s","is_error":true,"duration_ms":0,"duration_api_ms":0,"num_turns":0,"usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[],"error":{"message":"CANCELLED","code":1},"odd":1}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"edit","tool_use_id":"c","input":{},"permission_suggestions":null,"blocked_path":"/etc"}}"#,
        r#"{"type":"user","uuid":"u","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","is_error":false,"content":[{"type":"text","text":"a"}],"odd":1}],"odd":2},"odd":3}"#,
        r#"{"type":"user","uuid":"u","session_id":"s","parent_tool_use_id":null,"message":{"role":"user","content":"as one text"}}"#,
        r#"{"type":"unheard_of","x":1}"#,
        r#"{"no":"type"}"#,
        r#"{"type":7}"#,
        r#"[1,2]"#,
        r#""text""#,
    ] {
        let built = mirror.line(line).unwrap().out;
        assert_eq!(
            serde_json::from_str::<Value>(&built).unwrap(),
            serde_json::from_str::<Value>(line).unwrap(),
            "{built}"
        );
    }
    assert_eq!(mirror.line("plain words").unwrap().out, "plain words\n");
    assert_eq!(mirror.line("[plain words").unwrap().out, "[plain words\n");
}

#[test]
fn what_lacks_its_substance_is_damaged() {
    let mut mirror = Mirror::new();
    for line in [
        "{",
        "{\"type\":\"assistant\"}",
        "{\"type\":\"assistant\",\"message\":{}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":\"x\"}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\"}]}}",
        "{\"type\":\"user\",\"message\":null}",
        "{\"type\":\"stream_event\"}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0}}",
        "{\"type\":\"stream_event\",\"event\":{\"type\":\"tool_progress\"}}",
        "{\"type\":\"system\"}",
        "{\"type\":\"control_request\",\"request\":{}}",
        "{\"type\":\"control_request\",\"request\":{\"subtype\":\"can_use_tool\"}}",
        "{\"type\":\"control_response\"}",
        "{\"type\":\"result\",\"result\":\"a\\x\"}",
        "{\"type\":\"result\",\"result\":\"cut",
    ] {
        assert!(mirror.line(line).is_err(), "{line}");
    }
}
