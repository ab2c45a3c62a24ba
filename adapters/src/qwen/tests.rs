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
