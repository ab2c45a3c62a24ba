use crate::convert::{Converter, Options};

/// Some servers write an empty reason in place of none: a reply that has no other is cut off.
#[test]
fn an_empty_finish_reason_is_none() {
    for log in [
        r#"{"id":"chatcmpl-s","object":"chat.completion","created":0,"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"half"},"finish_reason":""}]}"#,
        r#"{"id":"chatcmpl-s","object":"chat.completion.chunk","created":0,"model":"x","choices":[{"index":0,"delta":{"content":"half"},"finish_reason":""}]}"#,
    ] {
        let out = crate::testing::converted(&format!("{log}\n"), "qwen", "claude");
        assert!(
            out.contains("half") && out.contains("error_during_execution") && !out.contains(r#""stop_reason":"""#),
            "{out}"
        );
    }
}

/// The same behind replies that are spelled alike and have a reason.
#[test]
fn an_empty_finish_reason_is_none_behind_others_too() {
    let reply = |reason: &str| {
        format!(
            "{{\"id\":\"chatcmpl-s\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"x\",\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":\"half\"}},\"finish_reason\":\"{reason}\"}}],\"usage\":{{\"prompt_tokens\":905,\"completion_tokens\":14,\"total_tokens\":919}}}}\n"
        )
    };
    let log = ["tool_calls", "tool_calls", "", "stop"].map(reply).concat();
    let options = Options {
        partial: true,
        ..Options::new("qwen".parse().unwrap(), "claude".parse().unwrap())
    };
    let (mut converter, mut out) = (Converter::new(options), Vec::new());
    converter.feed(log.as_bytes(), &mut out);
    converter.finish(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("half") && !out.contains(r#""stop_reason":"""#), "{out}");
}
