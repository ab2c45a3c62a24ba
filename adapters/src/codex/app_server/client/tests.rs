use super::AppServer;
use crate::client::{Client, Exchange, Wait};
use crate::codec::Dialect;
use crate::event::Kind;
use crate::launch::{ArgError, Launch, PermissionMode, Resume, SystemPrompt, Text};
use crate::live::{Heard, Listener};

/// A client between a host of Claude's and a program that says what a test has it say.
struct Talk {
    client: AppServer,
    host: Listener,
    session: Listener,
    /// What the session has read, a word an event.
    told: Vec<String>,
    over: Option<String>,
    notes: Vec<String>,
    /// Turns.
    ended: usize,
}

/// The first turn has begun.
const BEGUN: &str = r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","items":[],"status":"inProgress"}}}"#;
const GREETED: &str = r#"{"id":"agentglot-1","result":{"userAgent":"x","codexHome":"/h"}}"#;
const OPENED: &str = r#"{"id":"agentglot-2","result":{"thread":{"id":"t","cwd":"/w","model":"m","turns":[]},"model":"m","cwd":"/w"}}"#;

fn launch() -> Launch {
    Launch::new(Dialect::Claude)
}

impl Talk {
    /// The program has started; what it was told.
    fn begin(launch: &Launch) -> (Self, String) {
        let client = AppServer::new(launch);
        let mut talk = Self {
            session: Listener::to_agent(client.format(), usize::MAX),
            client,
            host: Listener::to_host(Dialect::Claude, usize::MAX),
            told: Vec::new(),
            over: None,
            notes: Vec::new(),
            ended: 0,
        };
        assert_eq!(talk.client.waits(), None);
        let mut exchange = Exchange::default();
        talk.client.begin(&mut exchange);
        let said = talk.take(exchange);
        (talk, said)
    }

    /// The same with a thread that is open.
    fn open(launch: &Launch) -> Self {
        let (mut talk, _) = Self::begin(launch);
        talk.hears(GREETED);
        talk.hears(OPENED);
        assert_eq!(talk.client.waits(), None);
        talk.told.clear();
        talk
    }

    /// The same, and a turn runs.
    fn running() -> Self {
        let mut talk = Self::open(&launch());
        talk.prompt("go");
        talk.hears(r#"{"id":"agentglot-3","result":{"turn":{"id":"u","items":[],"status":"inProgress"}}}"#);
        talk.hears(BEGUN);
        talk
    }

    fn take(&mut self, exchange: Exchange) -> String {
        let told = &mut self.told;
        self.session.feed(&exchange.session, &mut |heard| match heard {
            Heard::Event(event) => told.push(word(&event.kind)),
            Heard::Damaged { .. } => told.push("damaged".to_owned()),
            Heard::Input(_) => {}
        });
        self.over = self.over.take().or(exchange.over);
        self.notes.extend(exchange.notes);
        String::from_utf8(exchange.program).unwrap()
    }

    /// The program says a line; what it is answered.
    fn hears(&mut self, line: &str) -> String {
        let mut exchange = Exchange::default();
        self.client.hear(line.as_bytes(), &mut exchange);
        self.take(exchange)
    }

    /// The host says a line; whether the program deals with it, and what it is told.
    fn says(&mut self, line: &str) -> (bool, String) {
        let mut exchange = Exchange::default();
        let mut taken = false;
        let client = &mut self.client;
        self.host.feed(format!("{line}\n").as_bytes(), &mut |heard| {
            if let Heard::Input(input) = heard {
                taken = client.input(input, &mut exchange);
            }
        });
        (taken, self.take(exchange))
    }

    fn prompt(&mut self, text: &str) -> String {
        let line = format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#);
        let (taken, said) = self.says(&line);
        assert!(taken);
        said
    }

    fn requests(&mut self, request: &str) -> (bool, String) {
        self.says(&format!(r#"{{"type":"control_request","request_id":"r1","request":{request}}}"#))
    }

    fn answers(&mut self, id: &str, body: &str) -> String {
        let line = format!(r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{body}}}}}"#);
        self.says(&line).1
    }

    /// The turn that runs ends: the first is `u`.
    fn ends(&mut self, status: &str) -> String {
        let id = match self.ended {
            0 => "u".to_owned(),
            ended => format!("u-{ended}"),
        };
        self.ended += 1;
        self.ends_one(&id, status)
    }

    fn ends_one(&mut self, id: &str, status: &str) -> String {
        self.hears(&format!(
            r#"{{"method":"turn/completed","params":{{"threadId":"t","turn":{{"id":"{id}","items":[],"status":"{status}","error":null}}}}}}"#
        ))
    }
}

/// What the session makes of an event.
fn word(kind: &Kind<'_>) -> String {
    match kind {
        Kind::Session(session) => format!("session {}", session.model.map_or("", |model| model.as_escaped())),
        Kind::Request(request) => {
            let asked = request.permission.expect("only permissions are asked for");
            let call = asked.call.map_or("", |call| call.as_escaped());
            format!("ask {} {} {call}", request.id.unwrap().as_escaped(), asked.name.as_escaped())
        }
        Kind::ToolResult(result) => {
            let said: Vec<_> = result.content.texts().map(|text| text.unescape().into_owned()).collect();
            format!("result {:?} {}", result.status, said.join("|"))
        }
        Kind::Response(response) => format!("response {} {}", response.id.map_or("", |id| id.as_escaped()), response.ok),
        Kind::Outcome(outcome) => format!("outcome {:?} {}", outcome.kind, outcome.error.map_or("", |why| why.as_escaped())),
        Kind::Withdraw(_) => "withdraw".to_owned(),
        Kind::Noise(_) => "noise".to_owned(),
        Kind::Notice(_) => "notice".to_owned(),
        _ => "event".to_owned(),
    }
}

fn turn(n: u64, text: &str, more: &str) -> String {
    format!(
        "{{\"method\":\"turn/start\",\"id\":\"agentglot-{n}\",\"params\":{{\"threadId\":\"t\",\"input\":[{{\"type\":\"text\",\"text\":\"{text}\",\"text_elements\":[]}}]{more}}}}}\n"
    )
}

#[test]
fn a_handshake_opens_a_thread_and_prompts_wait_for_it() {
    let (mut talk, said) = Talk::begin(&launch());
    assert!(
        said.starts_with(r#"{"method":"initialize","id":"agentglot-1","params":{"clientInfo":"#),
        "{said}"
    );
    assert_eq!(talk.client.waits(), Some(Wait::Begin));
    assert_eq!(talk.prompt("one"), "");
    assert!(talk.client.queued() > 0);
    let said = talk.hears(GREETED);
    let opens = r#"{"method":"thread/start","id":"agentglot-2","params":{"approvalPolicy":"untrusted","sandbox":"workspace-write"}}"#;
    assert_eq!(said, format!("{{\"method\":\"initialized\"}}\n{opens}\n"));
    assert_eq!(talk.prompt("two"), "");
    assert_eq!(talk.hears(OPENED), turn(3, "one", ""));
    // A second turn beside the first would be told to that one.
    talk.hears(r#"{"id":"agentglot-3","result":{"turn":{"id":"u"}}}"#);
    assert_eq!(talk.ends("completed"), turn(4, "two", ""));
    // That was the first one's end.
    assert_eq!(talk.ends_one("u", "completed"), "");
    assert_eq!(talk.notes.len(), 1, "{:?}", talk.notes);
    assert_eq!(talk.ends("completed"), "");
    let ends = talk.told.iter().filter(|word| word.starts_with("outcome")).count();
    assert_eq!((ends, talk.client.queued(), talk.over), (2, 0, None));
    assert!(talk.told.contains(&"session m".to_owned()), "{:?}", talk.told);
}

#[test]
fn a_launch_is_said_when_the_thread_is_opened() {
    let (mut talk, _) = Talk::begin(&Launch {
        model: Some("gpt".to_owned()),
        cwd: Some("/w".to_owned()),
        permission: Some(PermissionMode::Bypass),
        system: SystemPrompt {
            replace: Some(Text::Here("be \"short\"".to_owned())),
            append: Some(Text::Here("and kind".to_owned())),
        },
        add_dirs: vec!["/more".to_owned()],
        mcp_config: vec![
            r#"{"mcpServers": {"a": {"command": "x", "args": ["-y"]},
                "b": {"type": "http", "url": "http://h", "headers": {"K": "v"}},
                "c": {"type": "sse", "url": "http://h"}, "d": {"type": "sdk", "name": "d"}}}"#
                .to_owned(),
        ],
        json_schema: Some("{\n\"type\": \"object\"}".to_owned()),
        ..launch()
    });
    let said = talk.hears(GREETED);
    let params = [
        r#""approvalPolicy":"never","sandbox":"danger-full-access","cwd":"/w","model":"gpt""#,
        r#""baseInstructions":"be \"short\"","developerInstructions":"and kind""#,
        r#""config":{"sandbox_workspace_write":{"writable_roots":["/more"]},"#,
        r#""mcp_servers":{"a":{"command":"x","args":["-y"]},"b":{"url":"http://h","http_headers":{"K":"v"}}}}"#,
    ];
    for part in params {
        assert!(said.replace(' ', "").contains(&part.replace(' ', "")), "{part}\n{said}");
    }
    assert_eq!(said.lines().count(), 2);
    assert_eq!(talk.notes.len(), 2, "{:?}", talk.notes);
    talk.hears(OPENED);
    assert_eq!(talk.prompt("go"), turn(3, "go", r#","outputSchema":{"type":"object"}"#));
    talk.hears(
        r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed","items":[{"type":"agentMessage","id":"i","text":"{\"a\":1}"}]}}}"#,
    );
    assert_eq!(talk.client.stage, super::Stage::Open);
}

#[test]
fn threads_are_gone_on_with() {
    let resumed = |resume| Launch { resume, ..launch() };
    let (mut talk, _) = Talk::begin(&resumed(Resume::Session("s-1".to_owned())));
    let said = talk.hears(GREETED);
    assert!(
        said.contains(r#""method":"thread/resume","id":"agentglot-2","params":{"threadId":"s-1","excludeTurns":true,"approvalPolicy""#),
        "{said}"
    );
    // In the words of the program that the host knows.
    talk.hears(r#"{"id":"agentglot-2","error":{"code":-32600,"message":"no rollout found for thread id s-1"}}"#);
    let words = ArgError::no_session(Dialect::Claude, "s-1").text;
    assert_eq!(talk.over.as_deref(), Some(words.trim_end()));

    let (mut talk, _) = Talk::begin(&resumed(Resume::Latest));
    assert!(
        talk.hears(GREETED)
            .contains(r#""method":"thread/list","id":"agentglot-2","params":{"limit":1,"#)
    );
    let said = talk.hears(r#"{"id":"agentglot-2","result":{"data":[{"id":"s-2"}]}}"#);
    assert!(
        said.contains(r#""method":"thread/resume","id":"agentglot-3","params":{"threadId":"s-2""#),
        "{said}"
    );

    let (mut talk, _) = Talk::begin(&resumed(Resume::Latest));
    talk.hears(GREETED);
    assert!(talk.hears(r#"{"id":"agentglot-2","result":{"data":[]}}"#).contains("\"thread/start\""));

    let (mut talk, _) = Talk::begin(&Launch {
        fork: true,
        ..resumed(Resume::Session("s-1".to_owned()))
    });
    assert!(
        talk.hears(GREETED)
            .contains(r#""method":"thread/fork","id":"agentglot-2","params":{"threadId":"s-1","approvalPolicy""#)
    );
}

#[test]
fn a_handshake_that_fails_or_never_comes_is_the_end() {
    let (mut talk, _) = Talk::begin(&launch());
    talk.hears(r#"{"id":"agentglot-1","error":{"code":-1,"message":"too old"}}"#);
    assert_eq!(talk.over.as_deref(), Some("codex app-server refuses to begin: too old"));
    let (mut talk, _) = Talk::begin(&launch());
    let mut exchange = Exchange::default();
    talk.client.late(&mut exchange);
    assert_eq!(exchange.over.as_deref(), Some("codex app-server did not answer the handshake"));
    let (mut talk, _) = Talk::begin(&launch());
    talk.hears(GREETED);
    talk.hears(r#"{"id":"agentglot-2","result":{}}"#);
    assert!(talk.over.is_some());
}

const STARTS: &str = r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"fileChange","id":"c","changes":[{"path":"/w/a","kind":{"type":"add"},"diff":"x\n"}],"status":"inProgress"}}}"#;
const ASKS: &str = r#"{"method":"item/fileChange/requestApproval","id":0,"params":{"threadId":"t","turnId":"u","itemId":"c"}}"#;
const RESOLVED: &str = r#"{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}"#;

#[test]
fn approvals_are_the_host_s() {
    for (body, decision) in [
        (r#"{"behavior":"allow","updatedInput":{}}"#, r#""decision":"accept""#),
        (
            r#"{"behavior":"allow","updatedPermissions":[{"type":"addRules"}]}"#,
            r#""decision":"acceptForSession""#,
        ),
        (
            r#"{"behavior":"deny","message":"not now"}"#,
            r#""decision":"decline","message":"not now""#,
        ),
        (
            r#"{"behavior":"deny","message":"stop","interrupt":true}"#,
            r#""decision":"cancel","message":"stop""#,
        ),
        (r#"{"behavior":"perhaps"}"#, r#""decision":"decline""#),
    ] {
        let mut talk = Talk::running();
        talk.hears(STARTS);
        assert_eq!(talk.hears(ASKS), "");
        assert!(talk.told.contains(&"ask 0 file_change c".to_owned()), "{:?}", talk.told);
        assert_eq!(talk.answers("0", body), format!("{{\"id\":0,\"result\":{{{decision}}}}}\n"));
        talk.hears(RESOLVED);
        assert!(!talk.told.contains(&"withdraw".to_owned()), "{:?}", talk.told);
        // Nobody asks any more.
        assert_eq!(talk.answers("0", body), "");
    }
}

#[test]
fn the_words_of_a_denial_are_what_came_of_the_call() {
    let mut talk = Talk::running();
    talk.hears(STARTS);
    talk.hears(ASKS);
    talk.answers("0", r#"{"behavior":"deny","message":"not now"}"#);
    talk.hears(&STARTS.replace("started", "completed").replace("inProgress", "declined"));
    assert_eq!(talk.told.last().unwrap(), "result Denied not now");
}

#[test]
fn tools_of_servers_are_asked_about_by_forms() {
    let item = r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"mcpToolCall","id":"c","server":"calc","tool":"add","status":"inProgress","arguments":{"a":2}}}}"#;
    let form = r#"{"method":"mcpServer/elicitation/request","id":5,"params":{"threadId":"t","turnId":"u","serverName":"calc","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"add","tool_params":{"a":2}},"message":"Allow?"}}"#;
    for (body, action) in [
        (r#"{"behavior":"allow"}"#, r#""action":"accept","content":{}"#),
        (r#"{"behavior":"deny","message":"no"}"#, r#""action":"decline","message":"no""#),
    ] {
        let mut talk = Talk::running();
        talk.hears(item);
        talk.hears(form);
        assert_eq!(talk.told.last().unwrap(), "ask 5 mcp_tool_call c");
        assert_eq!(talk.answers("5", body), format!("{{\"id\":5,\"result\":{{{action}}}}}\n"));
    }
    // What a server itself wants to know is another thing.
    let mut talk = Talk::running();
    let said = talk.hears(&form.replace("mcp_tool_call", "other"));
    assert!(said.starts_with(r#"{"id":5,"error":{"code":-32601,"#), "{said}");
}

#[test]
fn what_nobody_can_answer_is_refused_and_told_to_our_log() {
    let mut talk = Talk::running();
    let before = talk.told.len();
    let said = talk.hears(r#"{"method":"item/tool/call","id":"x","params":{"threadId":"t"}}"#);
    assert_eq!(
        said,
        "{\"id\":\"x\",\"error\":{\"code\":-32601,\"message\":\"agentglot does not serve item/tool/call\"}}\n"
    );
    assert_eq!((talk.told.len(), talk.notes.len()), (before, 1));
}

#[test]
fn an_interrupt_reaches_the_turn_that_runs() {
    let mut talk = Talk::open(&launch());
    let stop = r#"{"subtype":"interrupt"}"#;
    assert_eq!(talk.requests(stop), (false, String::new()), "no turn runs");
    talk.prompt("go");
    // The program has not said yet which turn it is.
    assert_eq!(talk.requests(stop), (true, String::new()));
    assert_eq!(talk.client.waits(), None);
    // It knows of no turn to interrupt until it says that it has begun.
    assert_eq!(talk.hears(r#"{"id":"agentglot-3","result":{"turn":{"id":"u"}}}"#), "");
    assert_eq!(talk.client.waits(), None);
    assert_eq!(
        talk.hears(BEGUN),
        "{\"method\":\"turn/interrupt\",\"id\":\"r1\",\"params\":{\"threadId\":\"t\",\"turnId\":\"u\"}}\n"
    );
    assert_eq!(talk.client.waits(), Some(Wait::Stop));
    talk.hears(r#"{"id":"r1","result":{}}"#);
    talk.ends("interrupted");
    assert_eq!(talk.client.waits(), None);
    assert!(
        talk.told.ends_with(&["response r1 true".to_owned(), "outcome Cancelled ".to_owned()]),
        "{:?}",
        talk.told
    );
    // Nor does one that only waits for the handshake hold that up.
    let (mut early, _) = Talk::begin(&launch());
    early.prompt("go");
    assert_eq!(early.requests(stop), (true, String::new()));
    early.hears(GREETED);
    assert_eq!(early.hears(OPENED), turn(3, "go", ""));
    early.hears(r#"{"id":"agentglot-3","result":{"turn":{"id":"u"}}}"#);
    assert!(early.hears(BEGUN).contains("turn/interrupt"));
    // A turn that ends before it is known which it is needs not be stopped.
    talk.prompt("again");
    talk.requests(stop);
    talk.hears(r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"items":[],"status":"completed"}}}"#);
    assert_eq!(talk.told.last().unwrap(), "response r1 true");
    talk.prompt("go");
    talk.hears(r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"v"}}}"#);
    talk.requests(stop);
    let mut exchange = Exchange::default();
    talk.client.late(&mut exchange);
    assert!(exchange.over.unwrap().contains("did not end the turn"));
}

/// The program lets them go on in the background, as it does with those of a turn that ends by itself.
#[test]
fn commands_that_a_stopped_turn_leaves_behind_are_ended() {
    let command = |word: &str, turn: &str, process: &str| {
        let item = format!(r#"{{"type":"commandExecution","id":"c{process}","command":"sleep 9","processId":"{process}","status":"inProgress"}}"#);
        format!(r#"{{"method":"item/{word}","params":{{"threadId":"t","turnId":"{turn}","item":{item}}}}}"#)
    };
    let (mut talk, greeting) = Talk::begin(&launch());
    assert!(greeting.contains(r#""capabilities":{"experimentalApi":true}"#), "{greeting}");
    talk.hears(GREETED);
    talk.hears(OPENED);
    talk.prompt("go");
    talk.hears(BEGUN);
    for process in ["1", "2"] {
        talk.hears(&command("started", "u", process));
    }
    talk.hears(&command("completed", "u", "1"));
    talk.hears(&command("started", "of another turn", "3"));
    talk.requests(r#"{"subtype":"interrupt"}"#);
    assert_eq!(
        talk.ends("interrupted"),
        "{\"method\":\"thread/backgroundTerminals/terminate\",\"id\":\"agentglot-4\",\"params\":{\"threadId\":\"t\",\"processId\":\"2\"}}\n"
    );
    talk.hears(r#"{"id":"agentglot-4","error":{"code":-32600,"message":"not served"}}"#);
    assert_eq!((talk.over.as_deref(), talk.client.waits()), (None, None));
    let mut goes_on = Talk::running();
    goes_on.hears(&command("started", "u", "1"));
    assert_eq!(goes_on.ends("completed"), "");
}

#[test]
fn changes_are_told_with_the_next_turn_and_once() {
    let mut talk = Talk::running();
    assert_eq!(talk.requests(r#"{"subtype":"set_model","model":"n"}"#), (false, String::new()));
    assert_eq!(
        talk.requests(r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#),
        (false, String::new())
    );
    talk.ends("completed");
    let more = r#","model":"n","approvalPolicy":"on-request","sandboxPolicy":{"type":"workspaceWrite","writableRoots":[]}"#;
    assert_eq!(talk.prompt("b"), turn(4, "b", more));
    assert_eq!(talk.told.last().unwrap(), "session n");
    talk.ends("completed");
    talk.requests(r#"{"subtype":"set_permission_mode","mode":"plan"}"#);
    assert_eq!(
        talk.prompt("c"),
        turn(5, "c", r#","approvalPolicy":"never","sandboxPolicy":{"type":"readOnly"}"#)
    );
    talk.ends("completed");
    assert_eq!(talk.prompt("d"), turn(6, "d", ""));
}

#[test]
fn a_turn_that_is_refused_has_failed() {
    let mut talk = Talk::open(&launch());
    talk.prompt("a");
    talk.prompt("b");
    let said = talk.hears(r#"{"id":"agentglot-3","error":{"code":-32600,"message":"no such model"}}"#);
    assert_eq!(said, turn(4, "b", ""));
    assert!(
        talk.told
            .iter()
            .any(|word| word.starts_with("outcome") && word.ends_with("no such model")),
        "{:?}",
        talk.told
    );
}

#[test]
fn a_prompt_is_texts_and_images() {
    let mut talk = Talk::open(&launch());
    let (_, said) = talk.says(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}},{"type":"document","source":{"type":"text","data":"x"}}]}}"#,
    );
    assert!(
        said.contains(r#"{"type":"text","text":"a","text_elements":[]},{"type":"image","url":"data:image/png;base64,AA"}]"#),
        "{said}"
    );
    assert_eq!(talk.notes.len(), 1, "{:?}", talk.notes);
}

#[test]
fn lines_that_are_none_are_told_and_nothing_stops() {
    let mut talk = Talk::running();
    for line in [
        "WARN something",
        "{\"method\":",
        "[1]",
        "{}",
        r#"{"id":"agentglot-99","result":{}}"#,
        r#"{"result":1}"#,
    ] {
        assert_eq!(talk.hears(line), "", "{line}");
    }
    let mut exchange = Exchange::default();
    talk.client.hear(b"\xff\xfe", &mut exchange);
    talk.take(exchange);
    assert_eq!(talk.over, None);
    assert!(
        talk.told.contains(&"noise".to_owned()) && talk.told.contains(&"damaged".to_owned()),
        "{:?}",
        talk.told
    );
    talk.ends("completed");
    assert_eq!(talk.told.last().unwrap(), "outcome Success ");
}

/// An agent that the program has started has a thread and turns of its own.
#[test]
fn turns_of_other_threads_end_none_of_ours() {
    let mut talk = Talk::running();
    talk.prompt("next");
    assert_eq!(
        talk.hears(r#"{"method":"turn/completed","params":{"threadId":"k","turn":{"id":"v","items":[],"status":"completed"}}}"#),
        ""
    );
    assert!(talk.ends("completed").contains("next"));
}
