mod client_calls;
mod mode_and_model;
mod program;

use super::*;
use crate::client::ClientCall;
use crate::event::{At, Field, Fields, Kind, Media, OutcomeKind, PromptSource, Request, Response, ResultStatus};
use crate::json::Str;
use crate::launch::{PermissionMode, Resume};
use crate::live::{Heard, Listener};

/// A conversation, and what the session has read of it.
struct Scene {
    talk: Conversation,
    listener: Listener,
    events: Vec<String>,
    over: Option<String>,
    notes: Vec<String>,
    client_calls: Vec<ClientCall>,
    /// The texts of results.
    results: Vec<String>,
}

const UNKNOWN: &str = "11111111-2222-4333-8444-555555555555";
const GREETED: &str =
    r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"mcpCapabilities":{"http":true}}}"#;
const OPENED: &str = r#"{"sessionId":"s-1","modes":{"currentModeId":"default","availableModes":[{"id":"default"},{"id":"plan"},{"id":"yolo"}]},"models":{"currentModelId":"m-1","availableModels":[{"modelId":"m-1"},{"modelId":"m-2"}]}}"#;

impl Scene {
    fn new(launch: impl FnOnce(&mut Launch)) -> (Self, String) {
        let mut asked = Launch::new(Dialect::Claude);
        asked.cwd = Some("/w".to_owned());
        launch(&mut asked);
        let mut scene = Self {
            talk: Conversation::new(&asked, None),
            listener: Listener::to_agent(Dialect::Acp, 1 << 20),
            events: Vec::new(),
            over: None,
            notes: Vec::new(),
            client_calls: Vec::new(),
            results: Vec::new(),
        };
        let said = scene.with(|talk, exchange| talk.begin(exchange));
        (scene, said)
    }

    /// One with an open session, in which nothing had to be set.
    fn open() -> Self {
        let (mut scene, _) = Self::new(|_| {});
        scene.answers(0, GREETED);
        scene.answers(1, OPENED);
        assert_eq!(scene.talk.waits(), None);
        scene.events.clear();
        scene
    }

    /// Lets it deal with something. Returns what is said to the agent.
    fn with<R>(&mut self, deal: impl FnOnce(&mut Conversation, &mut Exchange) -> R) -> String {
        let mut exchange = Exchange::default();
        deal(&mut self.talk, &mut exchange);
        let (events, results) = (&mut self.events, &mut self.results);
        self.listener.feed(&exchange.session, &mut |heard| match heard {
            Heard::Event(event) => {
                if let Kind::ToolResult(result) = event.kind {
                    results.push(result.content.texts().map(|text| text.unescape().into_owned()).collect());
                }
                events.push(told(&event.kind));
            }
            Heard::Input(_) => {}
            Heard::Damaged { why, .. } => panic!("the session cannot read it: {why}"),
        });
        self.over = self.over.take().or(exchange.over);
        self.notes.extend(exchange.notes);
        self.client_calls.extend(exchange.client_calls);
        String::from_utf8(exchange.program).unwrap()
    }

    fn hears(&mut self, line: &str) -> String {
        self.with(|talk, exchange| talk.hear(line.as_bytes(), exchange))
    }

    fn answers(&mut self, id: u64, result: &str) -> String {
        self.hears(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    fn refuses(&mut self, id: u64, code: i32, message: &str) -> String {
        self.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#
        ))
    }

    fn updates(&mut self, update: &str) -> String {
        self.hears(&format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s-1","update":{update}}}}}"#
        ))
    }

    fn says(&mut self, kind: InputKind<'_>, fields: Fields<'_>) -> (bool, String) {
        let mut taken = false;
        let input = Input {
            origin: crate::event::Origin::default(),
            kind,
            fields,
        };
        let said = self.with(|talk, exchange| taken = talk.input(&input, exchange));
        (taken, said)
    }

    fn prompts(&mut self, text: &str) -> String {
        let prompt = Prompt {
            content: Content::Text(Str::trusted(text)),
            source: PromptSource::Host,
        };
        let (taken, said) = self.says(InputKind::Prompt(&prompt), &[]);
        assert!(taken);
        said
    }

    fn requests(&mut self, kind: ControlKind, member: &str, value: &str) -> (bool, String) {
        let value = quoted(value);
        let fields = [Field {
            key: Str::trusted(member),
            value: Raw::trusted(&value),
            at: At::Line,
            known: true,
        }];
        let request = Request {
            id: Some(Str::trusted("host-1")),
            subtype: Str::EMPTY,
            kind,
            permission: None,
        };
        self.says(InputKind::Request(&request), &fields)
    }

    fn permits(&mut self, id: &str, body: &str) -> (bool, String) {
        let response = Response {
            id: Some(Str::trusted(id)),
            ok: true,
            body: Some(Raw::trusted(body)),
            error: None,
        };
        self.says(InputKind::Response(&response), &[])
    }

    fn asks(&mut self, id: &str) -> String {
        self.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"session/request_permission","params":{{"sessionId":"s-1","toolCall":{{"toolCallId":"c-1","title":"ls","kind":"execute","rawInput":{{"command":"ls"}}}},"options":[{{"optionId":"always","kind":"allow_always"}},{{"optionId":"yes","kind":"allow_once"}},{{"optionId":"no","kind":"reject_once"}}]}}}}"#
        ))
    }
}

/// What an event is, in a word or two.
fn told(kind: &Kind<'_>) -> String {
    let text = |text: Option<Str<'_>>| text.map_or("-", Str::as_escaped).to_owned();
    match kind {
        Kind::Session(session) => format!("session {} {} {}", text(session.cwd), text(session.model), text(session.permission_mode)),
        Kind::Prompt(prompt) => format!("prompt {}", prompt.content.texts().map(Str::as_escaped).collect::<String>()),
        Kind::Request(request) => format!("asks {} {:?}", text(request.id), request.kind),
        Kind::Response(response) => format!("answers {} {}", text(response.id), response.ok),
        Kind::Withdraw(withdraw) => format!("withdraws {}", text(withdraw.id)),
        Kind::Outcome(outcome) => format!("outcome {:?} {}", outcome.kind, text(outcome.error)),
        Kind::ToolResult(result) => format!("result {:?}", result.status),
        Kind::Delta(_) => "delta".to_owned(),
        Kind::Reply(_) => "reply".to_owned(),
        _ => "other".to_owned(),
    }
}

fn lines(said: &str) -> Vec<&str> {
    said.lines().collect()
}

#[test]
fn prompts_wait_for_the_session_and_then_for_each_other() {
    let (mut scene, said) = Scene::new(|_| {});
    assert!(
        said.starts_with(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"#)
            && said.contains(r#""session":{"notices":{}}"#),
        "{said}"
    );
    assert_eq!(scene.talk.waits(), Some(Wait::Begin));
    assert_eq!(scene.prompts("one"), "");
    assert_eq!(scene.prompts("two"), "");
    assert!(scene.talk.queued() > 0);
    let open = scene.answers(0, GREETED);
    assert_eq!(
        open,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n"
    );
    let first = scene.answers(1, OPENED);
    assert_eq!(
        first,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s-1\",\"prompt\":[{\"type\":\"text\",\"text\":\"one\"}]}}\n"
    );
    assert_eq!(scene.talk.waits(), None);
    scene.updates(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}"#);
    let second = scene.answers(2, r#"{"stopReason":"end_turn"}"#);
    assert!(second.contains("\"id\":3") && second.contains("two"), "{second}");
    assert_eq!(scene.refuses(3, -32603, "Internal error: no"), "");
    let turns: Vec<_> = scene.events.iter().filter(|event| !event.starts_with("other")).collect();
    let outcomes = ["outcome Success -", "outcome Failed(Model) no"];
    assert_eq!(turns[0], "session /w m-1 default");
    assert_eq!(turns[1..3], ["prompt one", "delta"]);
    assert!(outcomes.iter().all(|outcome| turns.iter().any(|turn| turn == outcome)), "{turns:?}");
    assert_eq!(scene.talk.queued(), 0);
}

#[test]
fn images_go_over_where_they_are_taken() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#;
    let blocks = [
        Block::Text {
            text: Str::trusted("look"),
            fields: &[],
        },
        Block::Media(Media {
            kind: Str::trusted("image"),
            raw: Raw::trusted(image),
        }),
    ];
    let prompt = Prompt {
        content: Content::Blocks(&blocks),
        source: PromptSource::Host,
    };
    for takes in [true, false] {
        let (mut scene, _) = Scene::new(|_| {});
        scene.answers(0, &GREETED.replace("\"image\":true", &format!("\"image\":{takes}")));
        scene.answers(1, OPENED);
        let (_, said) = scene.says(InputKind::Prompt(&prompt), &[]);
        assert_eq!(said.contains(r#"{"type":"image","mimeType":"image/png","data":"AAAA"}"#), takes, "{said}");
        assert_eq!(scene.notes.is_empty(), takes);
    }
}

#[test]
fn a_question_is_answered_by_the_option_that_says_no_more_than_the_host() {
    for (body, option) in [
        (r#"{"behavior":"allow","updatedInput":{}}"#, "yes"),
        (r#"{"behavior":"deny","message":"no"}"#, "no"),
        ("{}", "no"),
    ] {
        for id in ["0", "\"a\\n\""] {
            let mut scene = Scene::open();
            scene.prompts("x");
            assert_eq!(scene.asks(id), "");
            let name = id.trim_matches('"');
            assert_eq!(scene.events.last().unwrap(), &format!("asks {name} CanUseTool"));
            let (taken, said) = scene.permits(name, body);
            assert!(taken);
            let want = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}}}"#);
            assert_eq!(said, want + "\n");
            assert!(!scene.permits(name, body).0, "it is answered once");
        }
    }
}

#[test]
fn stopping_answers_what_is_asked_and_ends_by_the_agents_word() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.asks("7");
    let (taken, said) = scene.requests(ControlKind::Interrupt, "subtype", "interrupt");
    assert!(!taken, "the turn's end is all that the agent says to it");
    assert_eq!(
        lines(&said),
        [
            r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"cancelled"}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}"#,
        ]
    );
    assert_eq!(scene.talk.waits(), Some(Wait::Stop));
    // What it asks now, nobody is asked.
    assert!(scene.asks("8").contains("cancelled"));
    scene.updates(r#"{"sessionUpdate":"tool_call_update","toolCallId":"c-1","status":"failed"}"#);
    scene.answers(2, r#"{"stopReason":"cancelled"}"#);
    assert_eq!(scene.talk.waits(), None);
    let ends = [
        format!("result {:?}", ResultStatus::Denied),
        format!("outcome {:?} -", OutcomeKind::Cancelled),
    ];
    assert_eq!(scene.events[scene.events.len() - 2..], ends);
}

#[test]
fn a_prompt_that_is_stopped_before_it_was_told_is_stopped_at_once() {
    let (mut scene, _) = Scene::new(|_| {});
    scene.prompts("x");
    scene.requests(ControlKind::Interrupt, "subtype", "interrupt");
    scene.answers(0, GREETED);
    let said = scene.answers(1, OPENED);
    assert_eq!(lines(&said).len(), 2, "{said}");
    assert!(said.contains("session/prompt") && said.ends_with("\"session/cancel\",\"params\":{\"sessionId\":\"s-1\"}}\n"));
}

#[test]
fn an_agent_that_does_not_stop_is_over() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.requests(ControlKind::Interrupt, "subtype", "interrupt");
    scene.with(|talk, exchange| talk.late(exchange));
    assert!(scene.over.unwrap().contains("does not end the turn"));
}

#[test]
fn a_session_goes_on_and_does_not_say_again_what_was_said() {
    let (mut scene, _) = Scene::new(|launch| launch.resume = Resume::Session("s-1".to_owned()));
    scene.prompts("x");
    let said = scene.answers(0, GREETED);
    assert!(
        said.contains("\"session/load\",\"params\":{\"sessionId\":\"s-1\",\"cwd\":\"/w\""),
        "{said}"
    );
    scene.updates(r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"before"}}"#);
    scene.updates(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"before"}}"#);
    assert!(scene.answers(1, "null").contains("session/prompt"));
    assert_eq!(scene.events, ["session /w - -", "prompt x"]);
    // Where nothing is said again, that is asked for.
    let (mut scene, _) = Scene::new(|launch| launch.resume = Resume::Session(UNKNOWN.to_owned()));
    let said = scene.answers(0, &GREETED.replace("\"promptCap", "\"sessionCapabilities\":{\"resume\":{}},\"promptCap"));
    assert!(said.contains("session/resume"), "{said}");
    scene.refuses(1, -32002, "Resource not found");
    assert_eq!(scene.over.unwrap(), format!("No conversation found with session ID: {UNKNOWN}"));
}

#[test]
fn the_latest_session_is_the_one_that_was_written_last() {
    let (mut scene, _) = Scene::new(|launch| launch.resume = Resume::Latest);
    let said = scene.answers(0, &GREETED.replace("\"promptCap", "\"sessionCapabilities\":{\"list\":{}},\"promptCap"));
    assert!(said.contains("session/list"), "{said}");
    let list = r#"{"sessions":[{"sessionId":"a","updatedAt":"2026-01-02T00:00:00Z"},{"sessionId":"b","updatedAt":"2026-01-03T00:00:00Z"}]}"#;
    assert!(scene.answers(1, list).contains("\"sessionId\":\"b\""));
}

#[test]
fn what_nobody_offered_is_refused_and_what_makes_no_sense_is_told() {
    let mut scene = Scene::open();
    let refused = scene.hears(r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"who?"}}"#);
    assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"#), "{refused}");
    for line in [
        "no json",
        "[]",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"2","result":{}}"#,
    ] {
        let before = scene.notes.len();
        assert_eq!(scene.hears(line), "", "{line}");
        assert_eq!(scene.notes.len(), before + 1, "{line}");
    }
    scene.with(|talk, exchange| talk.hear(b"\xff", exchange));
    assert_eq!(scene.over, None);
    assert!(scene.events.is_empty());
    // What is of another session is nobody's.
    let other = r#"{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s-2"}}"#;
    assert!(scene.hears(other).contains("-32602"));
}

#[test]
fn a_handshake_that_cannot_be_is_over_in_plain_words() {
    for (answer, why) in [(r#"{"protocolVersion":2}"#, "speaks version 2"), ("{}", "speaks version none")] {
        let (mut scene, _) = Scene::new(|_| {});
        scene.answers(0, answer);
        let over = scene.over.unwrap();
        assert!(over.contains(why), "{over}");
    }
    let (mut scene, _) = Scene::new(|_| {});
    scene.with(|talk, exchange| talk.late(exchange));
    assert!(scene.over.take().unwrap().contains("does not answer"));
    assert_eq!(scene.talk.waits(), None);
    // Late answers change nothing.
    assert_eq!(scene.answers(0, GREETED), "");
}

#[test]
fn a_key_logs_in_where_that_is_wanted() {
    let ways = r#","authMethods":[{"id":"chat","name":"Log in"},{"id":"openai-api-key","name":"API key","type":"env_var"}]"#;
    let greeted = GREETED.strip_suffix('}').unwrap().to_owned() + ways + "}";
    let (mut scene, _) = Scene::new(|_| {});
    scene.answers(0, &greeted);
    let said = scene.refuses(1, -32000, "Authentication required");
    assert!(said.contains("\"authenticate\",\"params\":{\"methodId\":\"openai-api-key\"}"), "{said}");
    assert!(scene.answers(2, "{}").contains("session/new"));
    scene.refuses(3, -32000, "Authentication required");
    let over = scene.over.unwrap();
    assert!(over.contains("Authentication required") && over.contains("Log in, API key"), "{over}");
}

#[test]
fn servers_are_told_in_the_protocols_words_where_they_can_be_reached() {
    let config = r#"{"mcpServers":{"a":{"command":"x","args":["-v"],"env":{"K":"v"}},"h":{"type":"http","url":"http://h","headers":{"A":"b"}},"s":{"type":"sse","url":"http://s"},"here":{"type":"sdk","name":"here"}}}"#;
    let (mut scene, _) = Scene::new(|launch| launch.mcp_config.push(config.to_owned()));
    let said = scene.answers(0, GREETED);
    let servers = r#""mcpServers":[{"name":"a","command":"x","args":["-v"],"env":[{"name":"K","value":"v"}]},{"name":"h","type":"http","url":"http://h","headers":[{"name":"A","value":"b"}]}]"#;
    assert!(said.contains(servers), "{said}");
    assert_eq!(scene.notes.len(), 2, "{:?}", scene.notes);
}

#[test]
fn a_question_that_is_taken_back_is_taken_back_from_the_host() {
    let mut scene = Scene::open();
    scene.prompts("x");
    scene.asks("0");
    let said = scene.hears(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}}"#);
    assert!(said.contains("-32800"), "{said}");
    assert_eq!(scene.events.last().unwrap(), "withdraws 0");
    assert!(!scene.permits("0", "{}").0);
}
