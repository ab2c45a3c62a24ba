//! What goes wrong between an editor and its sessions, and what the command line means to them.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::run_acp::Editor;
use crate::support::stage::Stage;

fn eventually(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that refuses to begin is ended, and nobody takes its session for open.
#[test]
fn a_session_that_is_refused_leaves_nothing() {
    let refusal = r#"{"type":"control_response","response":{"subtype":"error","request_id":"editor-1","error":"not today"}}"#;
    let stage = Stage::new(&["pid pids", "read", &format!("say {refusal}"), "hang"]);
    let mut editor = Editor::of(stage.host("acp", "claude", &[], &[]));
    let cwd = stage.path("").display().to_string();
    let refused = editor.ask("session/new", json!({"cwd": cwd, "mcpServers": []}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("not today"), "{refused}");
    eventually("its program is gone", || stage.living().is_empty());
    editor.host.close();
    assert_eq!(editor.host.end().code(), 0);
}
