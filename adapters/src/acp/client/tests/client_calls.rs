//! What an agent wants done by us, and who is asked.

use super::*;
use crate::client::Act;

impl Scene {
    fn wants(&mut self, id: u64, method: &str, params: &str) -> String {
        let said = self.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"sessionId":"s-1",{params}}}}}"#
        ));
        if self.client_calls.is_empty() { said } else { String::new() }
    }

    fn done(&mut self, number: u64, done: Result<Done, Undone>) -> String {
        self.with(|talk, exchange| talk.done(number, done, exchange))
    }
}

#[test]
fn what_an_agent_wants_done_is_done_under_its_number() {
    let mut scene = Scene::open();
    assert!(scene.wants(7, "fs/read_text_file", r#""path":"/w/a\"b","line":2"#).is_empty());
    let client_call = scene.client_calls.pop().unwrap();
    let path = "/w/a\"b".to_owned();
    assert_eq!(
        client_call.act,
        Act::Read {
            path,
            line: Some(2),
            limit: None
        }
    );
    assert_eq!((client_call.permitted, client_call.mode), (false, PermissionMode::Ask));
    let again = scene.hears(r#"{"jsonrpc":"2.0","id":7,"method":"terminal/kill","params":{"sessionId":"s-1","terminalId":"t"}}"#);
    assert!(again.contains("-32600"), "{again}");
    let said = scene.done(client_call.number, Ok(Done::Text("x\n".to_owned())));
    assert_eq!(said, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":\"x\\n\"}}\n");
    assert_eq!(scene.done(client_call.number, Ok(Done::Nothing)), "", "once");
    assert!(scene.events.is_empty());
    // What is taken back is answered, and what comes of it is nobody's business.
    scene.wants(8, "terminal/wait_for_exit", r#""terminalId":"t""#);
    let client_call = scene.client_calls.pop().unwrap();
    let said = scene.hears(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":8}}"#);
    assert!(said.contains("-32800"), "{said}");
    assert_eq!(scene.done(client_call.number, Ok(Done::Nothing)), "");
}

#[test]
fn the_host_is_asked_about_a_deed_once() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.events.clear();
    for (id, body, code) in [(20, r#"{"behavior":"allow"}"#, None), (21, r#"{"behavior":"deny"}"#, Some("-32603"))] {
        scene.wants(id, "fs/write_text_file", r#""path":"/w/a","content":"x""#);
        let first = scene.client_calls.pop().unwrap();
        assert_eq!(scene.done(first.number, Err(Undone::AskHost)), "");
        let question = format!("agentglot-{}", first.number);
        assert!(
            scene.events.iter().any(|event| event.starts_with(&format!("asks {question}"))),
            "{:?}",
            scene.events
        );
        let (taken, said) = scene.permits(&question, body);
        assert!(taken);
        assert!(!scene.permits(&question, body).0, "once");
        match code {
            Some(code) => assert!(said.contains(code) && scene.client_calls.is_empty(), "{said}"),
            None => {
                let client_call = scene.client_calls.pop().unwrap();
                assert_eq!((client_call.number, client_call.permitted), (first.number, true));
                assert!(scene.done(client_call.number, Ok(Done::Nothing)).contains("\"result\":{}"));
            }
        }
    }
    // No question of the agent's can be taken for one of ours.
    for id in [r#""agentglot-1""#, r#""\u0061gentglot-9""#] {
        let said = scene.asks(id);
        assert!(said.contains("-32600"), "{said}");
    }
    // A question that is open when the agent takes its request back is taken back from the host.
    scene.wants(22, "fs/write_text_file", r#""path":"/w/a","content":"x""#);
    let number = scene.client_calls.pop().unwrap().number;
    scene.done(number, Err(Undone::AskHost));
    scene.hears(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":22}}"#);
    assert_eq!(scene.events.last().unwrap(), &format!("withdraws agentglot-{number}"));
}

#[test]
fn an_agent_that_plans_no_longer_asks_and_no_more_than_that() {
    let (mut scene, _) = Scene::new(|launch| launch.permission = Some(PermissionMode::Plan));
    scene.answers(0, GREETED);
    scene.answers(1, OPENED);
    // Not what it was before the mode was set.
    scene.updates(r#"{"sessionUpdate":"current_mode_update","currentModeId":"default"}"#);
    scene.answers(2, "{}");
    let mode = |scene: &mut Scene| {
        scene.wants(30, "terminal/create", r#""command":"ls""#);
        let client_call = scene.client_calls.pop().unwrap();
        scene.done(client_call.number, Ok(Done::Nothing));
        client_call.mode
    };
    assert_eq!(mode(&mut scene), PermissionMode::Plan);
    scene.updates(r#"{"sessionUpdate":"current_mode_update","currentModeId":"yolo"}"#);
    assert_eq!(mode(&mut scene), PermissionMode::Ask);
    // What the host wants counts as soon as it holds.
    scene.requests(ControlKind::SetMode, "mode", "plan");
    assert_eq!(mode(&mut scene), PermissionMode::Ask);
    scene.answers(3, "{}");
    assert_eq!(mode(&mut scene), PermissionMode::Plan);
}

#[test]
fn what_a_terminal_has_shown_is_told_with_the_call_that_shows_it() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.updates(r#"{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"ls","status":"in_progress","content":[{"type":"terminal","terminalId":"t"}]}"#);
    scene.wants(30, "terminal/output", r#""terminalId":"t""#);
    let number = scene.client_calls.pop().unwrap().number;
    let shown = Done::Output {
        text: "a \"file\"\n".to_owned(),
        cut: false,
        exit: None,
    };
    scene.done(number, Ok(shown));
    scene.results.clear();
    scene.updates(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}"#);
    assert_eq!(scene.results, ["a \"file\"\n"]);
    // Terminals of its own are its own business.
    scene.updates(
        r#"{"sessionUpdate":"tool_call","toolCallId":"d","kind":"execute","status":"completed","content":[{"type":"terminal","terminalId":"own"}]}"#,
    );
    assert_eq!(scene.results.last().unwrap(), "");
}

#[test]
fn a_file_that_is_missing_is_an_error_unless_the_agent_cannot_read_that() {
    let missing = || Err(Undone::Missing("/w/a".to_owned()));
    for (info, said) in [("other", "-32002"), ("gemini-cli", "{\"content\":\"\"}")] {
        let (mut scene, _) = Scene::new(|_| {});
        scene.answers(0, &GREETED.replacen('{', &format!("{{\"agentInfo\":{{\"name\":\"{info}\"}},"), 1));
        scene.answers(1, OPENED);
        scene.wants(30, "fs/read_text_file", r#""path":"/w/a""#);
        let number = scene.client_calls.pop().unwrap().number;
        let answer = scene.done(number, missing());
        assert!(answer.contains(said), "{info}: {answer}");
        scene.wants(31, "terminal/kill", r#""terminalId":"t""#);
        let number = scene.client_calls.pop().unwrap().number;
        assert!(scene.done(number, missing()).contains("-32002"));
    }
}
