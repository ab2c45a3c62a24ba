//! Hooks of a host whose agent calls none.

use serde_json::{Value, json};

use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::event::{OutcomeKind, Place};
use crate::session::tests::Scene;

const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","tools":[],"model":"m","uuid":"u-1"}"#;
const DONE: &str =
    r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"ok","session_id":"s-1"}"#;
const CALL: &str = r#"{"type":"assistant","uuid":"u-2","session_id":"s-1","parent_tool_use_id":null,"message":{"id":"m-1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c-1","name":"run_shell_command","input":{"command":"ls","is_background":false}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}}"#;
const ASK: &str = r#"{"type":"control_request","request_id":"q-1","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","tool_use_id":"c-1","input":{"command":"ls","is_background":false},"permission_suggestions":null,"blocked_path":null}}"#;
const RESULT: &str = r#"{"type":"user","uuid":"u-3","session_id":"s-1","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c-1","is_error":false,"content":"a\nb"}]}}"#;

/// A host of Claude Code's with these hooks, before another program.
fn scene(hooks: &Value) -> Scene {
    let mut scene = Scene::between(Dialect::Claude, Dialect::QwenCode);
    let request = json!({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize", "hooks": hooks}});
    scene.host(&request.to_string());
    heard(&mut scene);
    scene.backend.told.clear();
    scene
}

fn of(event: &str) -> Value {
    json!({event: [{"matcher": null, "hookCallbackIds": ["h"], "timeout": 2}]})
}

fn heard(scene: &mut Scene) -> Vec<Value> {
    scene.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the callbacks were told since the last time: the requests' ids and the payloads.
fn callbacks(lines: &[Value]) -> Vec<(String, Value)> {
    let asked = lines.iter().filter(|line| line["request"]["subtype"] == "hook_callback");
    asked
        .map(|line| (line["request_id"].as_str().unwrap().to_owned(), line["request"]["input"].clone()))
        .collect()
}

fn asks_host(lines: &[Value]) -> bool {
    lines.iter().any(|line| line["request"]["subtype"] == "can_use_tool")
}

fn outcomes(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["type"] == "result").collect()
}

fn answer(scene: &mut Scene, id: &str, body: &Value) {
    let response = json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": body}});
    scene.host(&response.to_string());
}

fn decides(word: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "so it is"}})
}

/// The answer of the only hook.
fn answers(scene: &mut Scene, body: &Value) -> Value {
    let lines = heard(scene);
    let asked = callbacks(&lines);
    assert_eq!(asked.len(), 1, "{lines:?}");
    assert!(!asks_host(&lines), "{lines:?}");
    answer(scene, &asked[0].0, body);
    asked[0].1.clone()
}

fn told(scene: &mut Scene) -> String {
    std::mem::take(&mut scene.backend.told).join("\n")
}

#[test]
fn what_a_hook_denies_does_not_run() {
    let mut scene = scene(&of("PreToolUse"));
    scene.host(PROMPT).agent(INIT).agent(CALL).agent(ASK);
    told(&mut scene);
    let payload = answers(&mut scene, &decides("deny"));
    assert_eq!(payload["tool_name"], "Bash");
    assert_eq!(payload["tool_input"]["command"], "ls");
    assert_eq!(payload["tool_use_id"], "c-1");
    assert_eq!(payload["session_id"], "s-1");
    let denial = told(&mut scene);
    assert!(denial.contains("deny") && denial.contains("so it is"), "{denial}");
    assert!(!asks_host(&heard(&mut scene)));
    // It has not run: no hook hears of its result.
    scene.agent(&RESULT.replace("false", "true"));
    assert!(callbacks(&heard(&mut scene)).is_empty());
}

#[test]
fn whom_no_hook_stops_the_host_is_asked_about() {
    for body in [json!({}), decides("ask"), json!(null)] {
        let mut scene = scene(&of("PreToolUse"));
        scene.host(PROMPT).agent(INIT).agent(CALL).agent(ASK);
        told(&mut scene);
        answers(&mut scene, &body);
        assert!(asks_host(&heard(&mut scene)), "{body}");
        assert_eq!(told(&mut scene), "");
    }
}

#[test]
fn a_hook_that_allows_lifts_no_rule_and_one_that_asks_overrides_it() {
    let cases = [("allow", false, "allow", false), ("allow", true, "deny", false), ("ask", false, "", true)];
    for (word, refused, expected, asked) in cases {
        let mut scene = scene(&of("PreToolUse"));
        let rules = vec!["Bash".to_owned()];
        if refused {
            scene.session.host.rules.refused = rules;
        } else {
            scene.session.host.rules.allowed = rules;
        }
        scene.host(PROMPT).agent(INIT).agent(CALL).agent(ASK);
        told(&mut scene);
        answers(&mut scene, &decides(word));
        let said = told(&mut scene);
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{word}: {said}");
        assert_eq!(asks_host(&heard(&mut scene)), asked, "{word}");
    }
}

#[test]
fn a_hook_that_says_nothing_or_changes_the_arguments_lets_nothing_run() {
    let changed = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "rm x"}}});
    for way in ["late", "gone", "changed"] {
        let mut scene = scene(&of("PreToolUse"));
        scene.host(PROMPT).agent(INIT).agent(CALL).agent(ASK);
        told(&mut scene);
        match way {
            "late" => _ = scene.after(2),
            "gone" => {
                let now = scene.now;
                scene.session.host_gone(now, &mut scene.backend);
            }
            _ => _ = answers(&mut scene, &changed),
        }
        assert!(told(&mut scene).contains("deny"), "{way}");
        assert!(!asks_host(&heard(&mut scene)), "{way}");
    }
}

#[test]
fn only_hooks_whose_matcher_fits_are_called_and_the_strictest_counts() {
    let hooks = json!({"PreToolUse": [{"matcher": "Edit|Write", "hookCallbackIds": ["no"]}, {"matcher": "Ba.*", "hookCallbackIds": ["one", "two"]}]});
    let mut scene = scene(&hooks);
    scene.host(PROMPT).agent(INIT).agent(CALL).agent(ASK);
    told(&mut scene);
    let asked = callbacks(&heard(&mut scene));
    assert_eq!(asked.len(), 2);
    answer(&mut scene, &asked[1].0, &decides("deny"));
    assert_eq!(told(&mut scene), "");
    answer(&mut scene, &asked[0].0, &decides("allow"));
    assert!(told(&mut scene).contains("deny"));
}

#[test]
fn a_call_that_asked_nobody_is_told_when_it_has_run_and_a_denial_ends_the_turn() {
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["before"]}], "PostToolUse": [{"hookCallbackIds": ["behind"]}]});
    let mut scene = scene(&hooks);
    scene.host(PROMPT).agent(INIT).agent(CALL).agent(RESULT);
    told(&mut scene);
    let asked = callbacks(&heard(&mut scene));
    let events: Vec<_> = asked.iter().map(|(_, payload)| payload["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(events, ["PreToolUse", "PostToolUse"]);
    assert_eq!(asked[1].1["tool_response"]["stdout"], "a\nb");
    answer(&mut scene, &asked[1].0, &json!({}));
    assert_eq!(told(&mut scene), "");
    answer(&mut scene, &asked[0].0, &decides("deny"));
    assert!(told(&mut scene).contains("Interrupt"));
}

#[test]
fn a_prompt_waits_for_its_hooks_and_later_ones_behind_it() {
    let mut scene = scene(&of("UserPromptSubmit"));
    scene.host(PROMPT).host(&PROMPT.replace("hi", "second"));
    assert_eq!(told(&mut scene), "");
    let added = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it \"rains\""}});
    assert_eq!(answers(&mut scene, &added)["prompt"], "hi");
    let first = told(&mut scene);
    assert!(
        first.contains("hi") && first.contains("it \\\\\\\"rains\\\\\\\"") && !first.contains("second"),
        "{first}"
    );
    // The hooks of the second one are called when it is its turn.
    assert!(callbacks(&heard(&mut scene)).is_empty());
    scene.agent(INIT).agent(DONE);
    let lines = heard(&mut scene);
    assert_eq!(outcomes(&lines).len(), 1);
    let (id, payload) = callbacks(&lines).remove(0);
    assert_eq!(payload["prompt"], "second");
    answer(&mut scene, &id, &json!({"decision": "block", "reason": "not this"}));
    assert_eq!(told(&mut scene), "");
    let lines = heard(&mut scene);
    assert!(outcomes(&lines)[0]["result"].as_str().unwrap().contains("not this"), "{lines:?}");
    assert!(!scene.session.busy());
}

#[test]
fn a_prompt_that_waits_is_asked_about_however_the_turn_before_it_ends() {
    for way in ["failed", "stopped", "over"] {
        let mut scene = scene(&of("UserPromptSubmit"));
        scene.host(PROMPT).host(PROMPT);
        answers(&mut scene, &json!({}));
        let now = scene.now;
        match way {
            "failed" => scene.session.end_turns(OutcomeKind::Failed(Place::Backend), "it fell over", false, now),
            "stopped" => scene.session.end_turns(OutcomeKind::Cancelled, "stopped by the host", false, now),
            _ => scene.session.backend_over(None, now),
        }
        scene.session.go_on(now, &mut scene.backend);
        let lines = heard(&mut scene);
        let (left, told) = if way == "over" { (0, 2) } else { (1, 1) };
        assert_eq!((callbacks(&lines).len(), outcomes(&lines).len()), (left, told), "{way}: {lines:?}");
        assert_eq!(scene.session.busy(), left > 0, "{way}");
    }
}

#[test]
fn a_prompt_that_waits_can_be_stopped_and_outlives_no_host() {
    let mut scene = scene(&of("UserPromptSubmit"));
    scene.host(PROMPT);
    scene.host(r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}"#);
    assert_eq!(outcomes(&heard(&mut scene)).len(), 1);
    assert!(!scene.session.busy() && !told(&mut scene).contains("Prompt"));
    scene.host(PROMPT);
    heard(&mut scene);
    let now = scene.now;
    scene.session.host_gone(now, &mut scene.backend);
    assert!(told(&mut scene).contains("Prompt"));
}

#[test]
fn a_turn_that_hooks_do_not_let_end_goes_on_and_has_one_outcome() {
    let mut scene = scene(&of("Stop"));
    scene.host(PROMPT).agent(INIT).agent(DONE);
    told(&mut scene);
    assert!(scene.session.busy());
    for round in 0..=8 {
        assert!(outcomes(&heard_but(&mut scene, round)).is_empty());
        let feedback = told(&mut scene);
        assert_eq!(feedback.contains("Stop hook feedback"), round < 8, "{round}: {feedback}");
        if round < 8 {
            scene.agent(INIT).agent(DONE);
        }
    }
    assert_eq!(outcomes(&heard(&mut scene)).len(), 1);
    assert!(!scene.session.busy());
}

/// The hook wants the turn to go on. What was said before.
fn heard_but(scene: &mut Scene, round: usize) -> Vec<Value> {
    let lines = heard(scene);
    let asked = callbacks(&lines);
    assert_eq!(asked[0].1["stop_hook_active"], round > 0);
    answer(scene, &asked[0].0, &json!({"decision": "block", "reason": "more"}));
    lines
}

#[test]
fn an_outcome_that_waits_is_told_when_the_agent_goes() {
    let mut scene = scene(&of("Stop"));
    scene.host(PROMPT).agent(INIT).agent(DONE);
    let now = scene.now;
    scene.session.backend_over(None, now);
    assert_eq!(outcomes(&heard(&mut scene)).len(), 1);
    assert!(!scene.session.busy());
}

#[test]
fn more_questions_than_anybody_answers_are_denied_and_prompts_that_wait_are_counted() {
    let mut scene = scene(&json!({"PreToolUse": [{"hookCallbackIds": ["h"]}], "UserPromptSubmit": [{"hookCallbackIds": ["p"]}]}));
    scene.host(PROMPT).host(PROMPT).host(PROMPT);
    assert!(scene.session.queued() >= 2 * PROMPT.len());
    let asked = callbacks(&heard(&mut scene));
    answer(&mut scene, &asked[0].0, &json!({}));
    told(&mut scene);
    for number in 0..2000 {
        scene.agent(&ASK.replace("q-1", &format!("q-{number}")).replace("c-1", &format!("c-{number}")));
        scene.after(0);
    }
    assert!(scene.backend.told.len() > 900, "{}", scene.backend.told.len());
    assert!(scene.backend.told.iter().all(|told| told.contains("deny")));
}
