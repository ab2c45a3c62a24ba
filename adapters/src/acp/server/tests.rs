use super::*;
use crate::event::{
    Block, Content, ControlKind, Kind, Origin, Outcome, OutcomeKind, Permission, Place, Reply, Request, Response, ResultStatus, ToolCall, ToolKind,
    ToolResult,
};
use crate::launch::Launch;
use crate::server::inside::Part;

fn sessions() -> Sessions {
    let inside = crate::server::inside();
    Sessions::new(Setup {
        launch: Launch::new(inside.dialect),
        new_id: || "s-1".to_owned(),
        now: || 0,
        system: ["", "", ""],
        most: 8,
        home: String::new(),
    })
}

fn hear(sessions: &mut Sessions, line: &str) -> Actions {
    let mut actions = Actions::default();
    sessions.hear(line.as_bytes(), &mut actions);
    actions
}

fn said(actions: &Actions) -> &str {
    std::str::from_utf8(&actions.out).unwrap()
}

/// The program inside answers the request of this number.
fn answers(sessions: &mut Sessions, number: u64, body: &str) -> Actions {
    responds(sessions, number, Ok(body))
}

fn responds(sessions: &mut Sessions, number: u64, what: Result<&str, &str>) -> Actions {
    let id = format!("editor-{number}");
    let response = Response {
        id: Some(Str::trusted(&id)),
        ok: what.is_ok(),
        body: what.ok().map(Raw::trusted),
        error: what.err().map(Raw::trusted),
    };
    says(sessions, Kind::Response(&response))
}

/// The program inside says this.
fn says(sessions: &mut Sessions, kind: Kind<'_>) -> Actions {
    let mut actions = Actions::default();
    sessions.said("s-1", &Event::new(Origin::default(), kind), &mut actions);
    actions
}

const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#;

fn opened() -> Sessions {
    let mut sessions = sessions();
    hear(&mut sessions, OPEN);
    answers(&mut sessions, 1, "{}");
    sessions
}

fn prompt(sessions: &mut Sessions, id: u64) -> Actions {
    let prompt = r#""prompt":[{"type":"text","text":"x"}]"#;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"s-1",{prompt}}}}}"#);
    hear(sessions, &line)
}

#[test]
fn a_session_opens_when_its_program_is_there() {
    let mut sessions = sessions();
    let servers =
        r#"[{"name":"m","command":"/m","args":["a"],"env":[{"name":"K","value":"v\n"}]},{"type":"http","name":"h","url":"http://h","headers":[]}]"#;
    let actions = hear(
        &mut sessions,
        &format!(r#"{{"jsonrpc":"2.0","id":"a","method":"session/new","params":{{"cwd":"/w","mcpServers":{servers}}}}}"#),
    );
    assert_eq!(said(&actions), "");
    let [Action::Open(name, launch), Action::Tell(..)] = &actions.todo[..] else {
        panic!("{actions:?}")
    };
    assert_eq!((name.as_str(), launch.cwd.as_deref()), ("s-1", Some("/w")));
    assert_eq!(
        launch.mcp_config,
        [r#"{"mcpServers":{"m":{"command":"/m","args":["a"],"env":{"K":"v\n"}},"h":{"type":"http","url":"http://h","headers":{}}}}"#]
    );
    assert_eq!(sessions.waits("s-1"), Some(Wait::Begin));
    let early = prompt(&mut sessions, 1);
    assert!(said(&early).contains("-32002"), "{}", said(&early));
    let opened = answers(
        &mut sessions,
        1,
        r#"{"models":[{"value":"m1","displayName":"M"}],"commands":[{"name":"c","description":"d","argumentHint":"[x]"}]}"#,
    );
    let lines: Vec<&str> = said(&opened).lines().collect();
    assert!(lines[0].starts_with(r#"{"jsonrpc":"2.0","id":"a","result":{"sessionId":"s-1","modes":{"currentModeId":"default""#));
    assert!(lines[0].contains(r#""currentValue":"m1","options":[{"value":"m1","name":"M"}]"#));
    assert!(lines[1].contains(r#""availableCommands":[{"name":"c","description":"d","input":{"hint":"[x]"}}]"#));
    assert_eq!(sessions.waits("s-1"), None);
}

/// A server that cannot be reached however long one waits is the editor's mistake.
#[test]
fn a_server_without_a_place_is_refused() {
    for server in [
        r#"{"command":"/m"}"#,
        r#"{"name":"m"}"#,
        r#"{"name":"m","command":5}"#,
        r#"{"name":"m","type":"http","command":"/m"}"#,
        r#"{"type":"sse","name":"m"}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{"cwd":"/w","mcpServers":[{server}]}}}}"#);
        let refused = hear(&mut sessions(), &line);
        assert!(said(&refused).contains("-32602") && refused.todo.is_empty(), "{server}: {refused:?}");
    }
}

#[test]
fn every_request_of_a_session_that_ends_is_answered() {
    let mut sessions = opened();
    for id in 2..4 {
        prompt(&mut sessions, id);
    }
    hear(
        &mut sessions,
        r#"{"jsonrpc":"2.0","id":4,"method":"session/set_mode","params":{"sessionId":"s-1","modeId":"plan"}}"#,
    );
    let mut actions = Actions::default();
    sessions.ended("s-1", "it died", &mut actions);
    for id in 2..5 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"it died"}}}}"#);
        assert_eq!(said(&actions).lines().filter(|said| *said == line).count(), 1, "{}", said(&actions));
    }
}

#[test]
fn a_session_whose_program_refuses_to_begin_is_not_open() {
    let mut sessions = sessions();
    hear(&mut sessions, OPEN);
    let refused = responds(&mut sessions, 1, Err(r#""not today""#));
    assert_eq!(
        said(&refused),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"not today\"}}\n"
    );
    assert!(matches!(&refused.todo[..], [Action::Close(name)] if name == "s-1"), "{refused:?}");
    let late = prompt(&mut sessions, 2);
    assert!(said(&late).contains("-32002"), "{late:?}");
    let again = hear(
        &mut sessions,
        r#"{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"s-1","cwd":"/w","mcpServers":[]}}"#,
    );
    assert!(matches!(&again.todo[..], [Action::Recall { .. }]), "{again:?}");
}

#[test]
fn a_prompt_is_cancelled_alone() {
    let mut sessions = opened();
    for id in 2..5 {
        prompt(&mut sessions, id);
    }
    let cancel = |sessions: &mut Sessions, id: u64| {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#);
        hear(sessions, &line)
    };
    let cancelled = |id: u64| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"stopReason\":\"cancelled\"}}}}\n");
    // One that waits never begins, and nothing else is stopped.
    let waits = cancel(&mut sessions, 3);
    assert_eq!((said(&waits), waits.todo.len()), (&*cancelled(3), 0));
    assert_eq!(sessions.waits("s-1"), None);
    // The one that runs is stopped; the next one goes on.
    let runs = cancel(&mut sessions, 2);
    assert_eq!(said(&runs), "");
    let [Action::Tell(_, lines)] = &runs.todo[..] else { panic!("{runs:?}") };
    assert!(String::from_utf8_lossy(lines).contains("interrupt"), "{runs:?}");
    assert_eq!(sessions.waits("s-1"), Some(Wait::Stop));
    let over = says(&mut sessions, Kind::Outcome(&Outcome::new(OutcomeKind::Cancelled)));
    assert!(said(&over).ends_with(&cancelled(2)), "{over:?}");
    assert!(matches!(&over.todo[..], [Action::Tell(..)]), "{over:?}");
    let over = says(&mut sessions, Kind::Outcome(&Outcome::new(OutcomeKind::Success)));
    assert!(said(&over).contains(r#""id":4,"result":{"stopReason":"end_turn""#), "{over:?}");
    // What nobody asked is nothing.
    let nothing = cancel(&mut sessions, 2);
    assert_eq!((said(&nothing), nothing.todo.len()), ("", 0));
}

#[test]
fn credentials_that_are_missing_are_named() {
    let mut sessions = opened();
    let failed = Outcome::new(OutcomeKind::Failed(Place::Model));
    for (id, error, code) in [
        (2, Some("authentication_failed"), -32000),
        (3, Some("rate_limit"), -32603),
        (4, None, -32603),
    ] {
        prompt(&mut sessions, id);
        let reply = Reply {
            error: error.map(Str::trusted),
            ..Reply::default()
        };
        says(&mut sessions, Kind::Reply(&reply));
        let over = says(&mut sessions, Kind::Outcome(&failed));
        assert!(said(&over).contains(&format!("\"id\":{id},\"error\":{{\"code\":{code},")), "{over:?}");
    }
}

#[test]
fn blocks_of_a_prompt_become_texts_and_images() {
    let text = r#"[{"type":"text","text":"a\n"},{"type":"resource_link","uri":"file:///a","name":"a"},
        {"type":"resource","resource":{"uri":"file:///b","text":"bee"}},{"type":"image","mimeType":"image/png","data":"AA"}]"#;
    let parts = prompt::blocks(Raw::trusted(text)).unwrap();
    Part::with(&parts, |content| {
        let texts: Vec<String> = content.texts().map(|text| text.unescape().into_owned()).collect();
        assert_eq!(texts, ["a\n", "[@a](file:///a)", "<context ref=\"file:///b\">\nbee\n</context>"]);
        assert!(matches!(content, Content::Blocks(blocks) if blocks.len() == 4));
    });
    assert!(prompt::blocks(Raw::trusted("[]")).is_err());
}

/// A model that counts its calls anew in each turn: the editor is asked about the call that it was shown. That runs only when it is allowed.
#[test]
fn a_question_is_about_the_call_that_was_shown() {
    let mut sessions = opened();
    for (number, shown, asked_as, chosen) in [(5, "c", 1, "allow_once"), (6, "c-2", 2, "reject_once")] {
        prompt(&mut sessions, number);
        let call = ToolCall {
            id: Str::trusted("c"),
            name: Str::trusted("Bash"),
            kind: ToolKind::Other,
            input: Raw::trusted("{}"),
            fields: &[],
        };
        let blocks = [Block::Call(call)];
        let reply = Reply {
            blocks: &blocks,
            ..Reply::default()
        };
        let told = says(&mut sessions, Kind::Reply(&reply));
        assert!(said(&told).contains(&format!(r#""toolCallId":"{shown}""#)), "{}", said(&told));
        let permission = Permission {
            name: call.name,
            call: Some(call.id),
            ..Permission::default()
        };
        let request = Request {
            id: Some(Str::trusted("q")),
            subtype: Str::trusted("can_use_tool"),
            kind: ControlKind::CanUseTool,
            permission: Some(&permission),
        };
        let asked = says(&mut sessions, Kind::Request(&request));
        assert!(
            said(&asked).contains(&format!(r#""toolCall":{{"toolCallId":"{shown}","status":"pending""#)),
            "{}",
            said(&asked)
        );
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{asked_as},"result":{{"outcome":{{"outcome":"selected","optionId":"{chosen}"}}}}}}"#);
        let answered = hear(&mut sessions, &answer);
        let runs = format!(r#""update":{{"sessionUpdate":"tool_call_update","toolCallId":"{shown}","status":"in_progress"}}"#);
        assert_eq!(said(&answered).contains(&runs), chosen == "allow_once", "{answered:?}");
        let result = ToolResult::new(call.id, ResultStatus::Success, Content::Text(Str::trusted("x")));
        says(&mut sessions, Kind::ToolResult(&result));
        says(&mut sessions, Kind::Outcome(&Outcome::new(OutcomeKind::Success)));
    }
}

#[test]
fn no_more_sessions_are_open_than_may_be() {
    let mut sessions = opened();
    sessions.setup.most = 1;
    sessions.setup.new_id = || "s-3".to_owned();
    let more = |method: &str, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"session/{method}","params":{{"sessionId":"{id}","cwd":"/w","mcpServers":[]}}}}"#)
    };
    for method in ["new", "load", "resume"] {
        let actions = hear(&mut sessions, &more(method, "s-2"));
        assert!(actions.todo.is_empty(), "{method}");
        assert!(
            said(&actions).contains("\"code\":-32603") && said(&actions).contains("--max-sessions"),
            "{}",
            said(&actions)
        );
    }
    hear(&mut sessions, &more("close", "s-1"));
    assert_eq!(hear(&mut sessions, &more("load", "s-2")).todo.len(), 1);
}
