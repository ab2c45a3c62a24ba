//! What is done for agents that lack something, and for programs of which more is known than of any agent.

use super::*;

/// An agent has a word of its own for it, or says nothing; and what it says later of the call is no second result.
#[test]
fn a_call_that_the_host_denies_has_the_hosts_words_as_its_result() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.asks("0");
    let mut exchange = Exchange::default();
    let response = Response {
        id: Some(Str::trusted("0")),
        ok: true,
        body: Some(Raw::trusted(r#"{"behavior":"deny","message":"not \"now\""}"#)),
        error: None,
    };
    let input = Input {
        origin: crate::event::Origin::default(),
        kind: InputKind::Response(&response),
        fields: &[],
    };
    assert!(scene.talk.input(&input, &mut exchange));
    let told = String::from_utf8(exchange.session).unwrap();
    assert!(
        told.contains(r#""toolCallId":"c-1","status":"failed","content":[{"type":"content","content":{"type":"text","text":"not \"now\""}}]"#),
        "{told}"
    );
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.asks("0");
    scene.permits("0", r#"{"behavior":"deny"}"#);
    scene.updates(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c-1","status":"failed","rawOutput":"refused"}"#);
    let results: Vec<_> = scene.events.iter().filter(|event| event.starts_with("result")).collect();
    assert_eq!(results, ["result Denied"]);
}

#[test]
fn changes_of_files_are_allowed_for_an_agent_that_has_no_mode_for_it() {
    let mut scene = Scene::open();
    let (taken, said) = scene.requests(ControlKind::SetMode, "mode", "acceptEdits");
    assert_eq!((taken, said.as_str()), (true, ""));
    assert_eq!(scene.events, ["answers host-1 true", "session /w m-1 default"]);
    scene.prompts("x");
    let options = r#""options":[{"optionId":"yes","kind":"allow_once"}]"#;
    for (call, allowed) in [
        (r#""kind":"edit","locations":[{"path":"/w/a/b"}]"#, true),
        (r#""kind":"edit","locations":[{"path":"/w/a"},{"path":"/etc/passwd"}]"#, false),
        (r#""kind":"edit","locations":[{"path":"/w/../etc/passwd"}]"#, false),
        (r#""kind":"edit","locations":[{"path":"/wide/a"}]"#, false),
        (r#""kind":"edit","locations":[]"#, false),
        (r#""kind":"execute","locations":[{"path":"/w"}]"#, false),
    ] {
        scene.events.clear();
        let said = scene.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{{"sessionId":"s-1","toolCall":{{"toolCallId":"c",{call}}},{options}}}}}"#
        ));
        let asked = scene.events.iter().any(|event| event.starts_with("asks"));
        assert_eq!(
            (said.contains("\"optionId\":\"yes\""), asked),
            (allowed, !allowed),
            "{call}: {:?}",
            scene.events
        );
        scene.permits("7", r#"{"behavior":"deny"}"#);
    }
}

#[test]
fn a_model_is_known_without_the_name_of_its_provider() {
    let models = r#"{"sessionId":"s-1","configOptions":[{"id":"model","category":"model","currentValue":"b/m-1","options":[{"value":"a/m-1"},{"value":"a/m-2"},{"value":"b/m-1"},{"value":"b/m-2"},{"value":"c/m-3"}]}]}"#;
    for (name, word) in [
        ("m-2", Some("b/m-2")),
        ("a/m-2", Some("a/m-2")),
        ("m-3", Some("c/m-3")),
        ("m-9", Some("m-9")),
        ("m-1", None),
    ] {
        let (mut scene, _) = Scene::new(|launch| launch.model = Some(name.to_owned()));
        scene.answers(0, GREETED);
        let said = scene.answers(1, models);
        let wanted = word.map(|word| format!("\"value\":\"{word}\""));
        assert!(wanted.as_ref().map_or(said.is_empty(), |wanted| said.contains(wanted)), "{name}: {said}");
    }
}

#[test]
fn what_an_agent_says_of_a_change_is_no_turn() {
    let mut scene = Scene::open();
    scene.requests(ControlKind::SetMode, "mode", "plan");
    scene.updates(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"[MODE] plan"}}"#);
    assert!(scene.events.is_empty(), "{:?}", scene.events);
    assert_eq!(scene.notes.len(), 1);
    scene.answers(2, "{}");
    assert_eq!(scene.events, ["answers host-1 true", "session /w m-1 plan"]);
}

/// A program of which more is known than of any agent.
const PROGRAM: Serves = Serves {
    protocol: Dialect::Acp,
    child: &[],
    flags: &[],
    variables: &[],
    settings: None,
    unknown: &[],
    in_lines: |_| false,
    joins_names: true,
    wants_objects: false,
    call: |_| Vec::new(),
};

#[test]
fn what_a_program_says_otherwise_of_a_call_is_told_as_others_say_it() {
    let serves = Serves {
        unknown: &["never heard of it"],
        call: |said| {
            let name = said.get("title").map(|title| title.as_str().to_owned());
            vec![("name", name), ("rawInput", None)]
        },
        ..PROGRAM
    };
    let mut scene = Scene::open();
    scene.talk.serves = Some(serves);
    let mut exchange = Exchange::default();
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"do","rawInput":{"a":1}},"sessionId":"s-1"}}"#;
    scene.talk.hear(update.as_bytes(), &mut exchange);
    let told = String::from_utf8(exchange.session).unwrap();
    assert_eq!(
        told,
        r#"{"dir":"a2c","msg":{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"do","name":"do"},"sessionId":"s-1"}}}"#
            .to_owned()
            + "\n"
    );
    // Only who knows the servers can tell where the name of one ends.
    let (mut scene, _) = Scene::new(|launch| {
        launch.mcp_config = vec![r#"{"mcpServers":{"my.files":{"command":"x"},"my.files_old":{"command":"y"}}}"#.to_owned()];
    });
    let (launch, mut exchange) = (scene.talk.launch.clone(), Exchange::default());
    scene.talk = Conversation::new(&launch, Some(serves));
    (scene.talk.stage, scene.talk.session) = (Stage::Open, "s-1".to_owned());
    for (title, name) in [
        ("my_files_read", "mcp__my_files__read"),
        ("my_files_old_read_all", "mcp__my_files_old__read_all"),
        ("my_file", "my_file"),
    ] {
        exchange.session.clear();
        scene
            .talk
            .hear(update.replace("\"do\"", &format!("\"{title}\"")).as_bytes(), &mut exchange);
        let told = String::from_utf8_lossy(&exchange.session);
        assert!(told.contains(&format!("\"name\":\"{name}\"")), "{told}");
    }
    let (mut scene, _) = Scene::new(|launch| {
        launch.resume = Resume::Session(UNKNOWN.to_owned());
        launch.system.append = Some(crate::launch::Text::Here("Be brief.".to_owned()));
    });
    scene.talk.serves = Some(serves);
    let said = scene.answers(0, GREETED);
    assert!(!said.contains("_meta"), "{said}");
    assert!(scene.notes.iter().any(|note| note.contains("`system`")), "{:?}", scene.notes);
    scene.refuses(1, -32603, "Never heard of it");
    assert!(scene.over.unwrap().contains("No conversation found"));
}

/// A program asks about a call of a server's tool before it says what the call is given.
#[test]
fn a_question_waits_for_the_arguments_of_its_call() {
    const CALL: &str = r#"{"sessionUpdate":"tool_call","toolCallId":"c-9","title":"files_read","status":"pending"}"#;
    const RUNS: &str = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c-9","status":"in_progress","rawInput":{"a":1}}"#;
    const ASKS: &str = r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c-9","title":"files_read","status":"pending"},"options":[{"optionId":"once","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}"#;
    let serves = Serves {
        call: |said| match said.get("sessionUpdate").and_then(Raw::string) {
            Some(update) if update.is("tool_call") => vec![("name", said.get("title").map(|title| title.as_str().to_owned()))],
            _ => Vec::new(),
        },
        ..PROGRAM
    };
    let begin = || {
        let mut scene = Scene::open();
        scene.talk.serves = Some(serves);
        scene.talk.servers = vec!["files".to_owned()];
        scene.prompts("x");
        scene.updates(CALL);
        scene
    };
    let hears = |scene: &mut Scene, line: &str| {
        let mut exchange = Exchange::default();
        scene.talk.hear(line.as_bytes(), &mut exchange);
        String::from_utf8(exchange.session).unwrap()
    };
    let update = |update: &str| format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s-1","update":{update}}}}}"#);
    let asks = "session/request_permission";
    let mut scene = begin();
    assert_eq!(hears(&mut scene, ASKS), "");
    assert_eq!(scene.talk.waits(), Some(Wait::Arguments));
    let told = hears(&mut scene, &update(RUNS));
    let lines: Vec<_> = told.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("rawInput") && lines[1].contains(asks), "{told}");
    assert_eq!(scene.talk.waits(), None);
    // They do not come: it is asked all the same, once.
    let mut scene = begin();
    hears(&mut scene, ASKS);
    let mut exchange = Exchange::default();
    scene.talk.late(&mut exchange);
    assert!(String::from_utf8(exchange.session).unwrap().contains(asks));
    assert_eq!(exchange.over, None);
    assert!(!hears(&mut scene, &update(RUNS)).contains(asks));
    // It is taken back, or the turn is stopped: it is not asked.
    for stop in [
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
    ] {
        let mut scene = begin();
        hears(&mut scene, ASKS);
        hears(&mut scene, stop);
        assert_eq!(scene.talk.waits(), None, "{stop}");
        assert!(!hears(&mut scene, &update(RUNS)).contains(asks), "{stop}");
    }
    // Where the arguments were said before, nothing waits.
    let mut scene = begin();
    hears(&mut scene, &update(RUNS));
    assert!(hears(&mut scene, ASKS).contains(asks));
}
