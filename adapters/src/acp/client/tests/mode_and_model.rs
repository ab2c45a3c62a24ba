//! Modes and models: those that a session begins with, and what sets another one.

use super::*;

#[test]
fn modes_and_models_are_set_in_the_agents_words() {
    let mut scene = Scene::open();
    let (taken, said) = scene.requests(ControlKind::SetMode, "mode", "bypassPermissions");
    assert!(taken);
    assert_eq!(
        said,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/set_mode\",\"params\":{\"sessionId\":\"s-1\",\"modeId\":\"yolo\"}}\n"
    );
    scene.answers(2, "{}");
    assert_eq!(scene.events, ["answers host-1 true", "session /w m-1 yolo"]);
    // What it lacks is refused; what its host answers for it is no matter of the agent's.
    scene.events.clear();
    assert_eq!(scene.requests(ControlKind::SetMode, "mode", "auto"), (true, String::new()));
    assert_eq!(scene.events, ["answers host-1 false"]);
    assert_eq!(scene.requests(ControlKind::SetMode, "mode", "default"), {
        let said = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/set_mode\",\"params\":{\"sessionId\":\"s-1\",\"modeId\":\"default\"}}\n";
        (true, said.to_owned())
    });
    scene.events.clear();
    let (_, said) = scene.requests(ControlKind::SetModel, "model", "m-2");
    assert!(said.contains("session/set_model") && said.contains("\"modelId\":\"m-2\""), "{said}");
    scene.refuses(4, -32602, "no such model");
    assert_eq!(scene.events, ["answers host-1 false"]);
}

#[test]
fn a_session_begins_in_the_mode_and_with_the_model_that_the_host_wants() {
    let (mut scene, _) = Scene::new(|launch| {
        launch.permission = Some(PermissionMode::Plan);
        launch.model = Some("m-2".to_owned());
    });
    scene.prompts("x");
    scene.answers(0, GREETED);
    let said = scene.answers(1, OPENED);
    let said = lines(&said);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("\"modeId\":\"plan\"") && said[1].contains("\"modelId\":\"m-2\""));
    assert_eq!(scene.talk.waits(), Some(Wait::Begin));
    assert_eq!(scene.answers(2, "{}"), "");
    assert!(scene.answers(3, "{}").contains("session/prompt"));
    let (mut scene, _) = Scene::new(|launch| launch.permission = Some(PermissionMode::Plan));
    scene.answers(0, GREETED);
    scene.answers(1, r#"{"sessionId":"s-1"}"#);
    assert!(scene.over.unwrap().contains("no mode that means Plan"));
}

/// An agent may begin in a mode that asks less than the program which the host knows.
#[test]
fn a_host_that_names_no_mode_gets_that_of_the_program_that_it_knows() {
    let opened = |current: &str, modes: &[&str]| {
        let modes: Vec<_> = modes.iter().map(|mode| format!(r#"{{"id":"{mode}"}}"#)).collect();
        format!(
            r#"{{"sessionId":"s-1","modes":{{"currentModeId":"{current}","availableModes":[{}]}}}}"#,
            modes.join(",")
        )
    };
    for (host, current, modes, set) in [
        (Dialect::Claude, "auto", &["default", "plan", "auto"][..], Some("default")),
        (Dialect::Claude, "auto", &["auto", "full-access"], None),
        (Dialect::Claude, "build", &["approve", "build"], None),
        (Dialect::QwenCode, "yolo", &["default", "auto", "yolo"], Some("default")),
        (Dialect::Opencode, "default", &["default", "acceptEdits"], Some("acceptEdits")),
    ] {
        let (mut scene, _) = Scene::new(|launch| {
            *launch = Launch {
                cwd: Some("/w".to_owned()),
                ..Launch::new(host)
            }
        });
        scene.answers(0, GREETED);
        let said = scene.answers(1, &opened(current, modes));
        let wanted = set.map(|mode| format!("\"modeId\":\"{mode}\""));
        assert!(
            wanted.as_ref().map_or(said.is_empty(), |wanted| said.contains(wanted)),
            "{host:?} {current}: {said}"
        );
    }
}

/// claude-agent-acp 0.101.0 lists a model that it was told when the session was opened, runs it, and calls another the current one.
#[test]
fn a_model_that_was_told_and_is_listed_is_the_current_one() {
    const GREETED: &str = r#"{"protocolVersion":1,"agentCapabilities":{"_meta":{"claudeCode":{"promptQueueing":true}}}}"#;
    for (listed, set) in [("m-1", true), ("m-2", false)] {
        let opened = format!(
            r#"{{"sessionId":"s-1","configOptions":[{{"id":"model","category":"model","currentValue":"default","options":[{{"value":"default"}},{{"value":"{listed}"}}]}}]}}"#
        );
        let (mut scene, _) = Scene::new(|launch| launch.model = Some("m-1".to_owned()));
        scene.answers(0, GREETED);
        assert_eq!(scene.answers(1, &opened).contains("\"value\":\"m-1\""), set, "{listed}");
    }
}

/// The greeting of claude-agent-acp, which opens a session once more with another model.
const OPENS_ANEW: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"_meta":{"claudeCode":{"promptQueueing":true}},"sessionCapabilities":{"resume":{}}}}"#;

/// claude-agent-acp 0.101.0 takes the name of its list that has a word in common with a name that it lacks.
#[test]
fn a_model_that_the_agent_takes_for_another_is_had_by_opening_the_session_once_more() {
    let chosen = |current: &str| {
        format!(
            r#"{{"sessionId":"s-1","configOptions":[{{"id":"model","category":"model","currentValue":"{current}","options":[{{"value":"opus"}},{{"value":"first-model"}}]}}]}}"#
        )
    };
    for (asked, taken, anew) in [
        ("second-model", "first-model", true),
        ("claude-opus-5", "opus", false),
        ("opus", "first-model", false),
    ] {
        let (mut scene, _) = Scene::new(|launch| launch.model = Some("first-model".to_owned()));
        scene.answers(0, OPENS_ANEW);
        scene.answers(1, &chosen("first-model"));
        scene.requests(ControlKind::SetModel, "model", asked);
        let said = scene.answers(2, &chosen(taken));
        assert_eq!(said.contains("session/resume") && said.contains(asked), anew, "{asked}: {said}");
    }
}

/// A list of models is not all that such an agent can be told.
#[test]
fn a_model_that_the_list_lacks_is_had_by_opening_the_session_once_more() {
    let opened = |current: &str| {
        format!(
            r#"{{"sessionId":"s-1","configOptions":[{{"id":"model","category":"model","currentValue":"{current}","options":[{{"value":"opus"}},{{"value":"{current}"}}]}}]}}"#
        )
    };
    let (mut scene, _) = Scene::new(|launch| launch.model = Some("m-1".to_owned()));
    scene.answers(0, OPENS_ANEW);
    scene.answers(1, &opened("m-1"));
    scene.requests(ControlKind::SetModel, "model", "m-9");
    let anew = scene.refuses(2, -32602, "Invalid value");
    assert_eq!(
        anew,
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/resume\",\"params\":{\"sessionId\":\"s-1\",\"cwd\":\"/w\",\"mcpServers\":[],\"_meta\":{\"claudeCode\":{\"options\":{\"model\":\"m-9\"}}}}}\n"
    );
    // There is no session to prompt until it is open.
    assert_eq!(scene.prompts("x"), "");
    scene.events.clear();
    assert!(scene.answers(3, &opened("m-9")).contains("session/prompt"));
    assert_eq!(scene.events[..2], ["answers host-1 true", "session /w m-9 -"]);
    // What runs would end; and what the agent does not take there either is refused.
    scene.events.clear();
    scene.requests(ControlKind::SetModel, "model", "m-8");
    assert_eq!(scene.refuses(5, -32602, "Invalid value"), "");
    scene.answers(4, r#"{"stopReason":"end_turn"}"#);
    scene.requests(ControlKind::SetModel, "model", "m-7");
    assert!(scene.refuses(6, -32602, "Invalid value").contains("m-7"));
    scene.refuses(7, -32602, "no such model");
    let answers: Vec<_> = scene.events.iter().filter(|event| event.starts_with("answers")).collect();
    assert_eq!(answers, ["answers host-1 false", "answers host-1 false"]);
    assert!(scene.prompts("y").contains("session/prompt"));
}
