use std::pin::pin;

use super::*;
use crate::adapters::raw::event::{At, Field};
use crate::adapters::raw::json::{Raw, Str};

const CONFIG: &str = r#"{"mcpServers":{"far":{"type":"http","url":"http://h"},"here":{"type":"sdk","name":"here"}}}"#;

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), test).await.expect("it ends") });
}

/// The servers of a handshake, and the configurations as they are then.
fn instead(member: &str, configs: &[&str]) -> (Option<Inside>, Vec<Value>) {
    let mut configs: Vec<String> = configs.iter().map(|text| (*text).to_owned()).collect();
    let fields = [Field {
        at: At::Part("/request"),
        key: Str::trusted("sdkMcpServers"),
        value: Raw::trusted(member),
        known: true,
    }];
    let request = Request {
        id: None,
        subtype: Str::trusted("initialize"),
        kind: ControlKind::Initialize,
        permission: None,
    };
    let inside = Inside::instead(&request, &fields, &mut configs);
    (inside, configs.iter().map(|text| serde_json::from_str(text).unwrap()).collect())
}

/// The host answers a message.
fn answer(inside: &mut Inside, id: &str, body: &Value) {
    let body = json!({ "mcp_response": body }).to_string();
    let response = Response {
        id: Some(Str::trusted(id)),
        ok: true,
        body: Some(Raw::trusted(&body)),
        error: None,
    };
    assert!(inside.answered(&response));
}

/// What a program that has started a server hears of it, while the messages are put to the host.
async fn hears(inside: &mut Inside, program: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    tokio::select! {
        read = program.read_line(&mut line) => { read.unwrap(); }
        message = inside.next() => panic!("{message:?}"),
    }
    serde_json::from_str(&line).unwrap()
}

async fn start(inside: &Inside, server: &str) -> BufReader<UnixStream> {
    let mut program = UnixStream::connect(inside.folder.path().join(SOCKET)).await.unwrap();
    program.write_all(format!("{}\n", json!(server)).as_bytes()).await.unwrap();
    BufReader::new(program)
}

async fn say(program: &mut BufReader<UnixStream>, message: Value) {
    program.get_mut().write_all(format!("{message}\n").as_bytes()).await.unwrap();
}

#[test]
fn servers_of_the_host_are_started_in_its_place_and_others_stay() {
    run(async {
        assert!(instead("[]", &[r#"{"mcpServers":{"far":{"url":"http://h"}}}"#]).0.is_none());
        for named in ["[\"here\",\"there\"]", r#"{"here":{"type":"sdk"},"there":{"type":"sdk"}}"#] {
            let (inside, configs) = instead(named, &[CONFIG]);
            let inside = inside.expect("it stands in");
            assert_eq!(configs[0]["mcpServers"]["far"], json!({"type":"http","url":"http://h"}));
            let socket = inside.folder.path().join(SOCKET);
            assert_eq!(configs[0]["mcpServers"]["here"]["args"], json!([RELAY, socket, "here"]));
            assert_eq!(configs[1]["mcpServers"]["there"]["args"], json!([RELAY, socket, "there"]));
            drop(inside);
            assert!(!socket.exists());
        }
    });
}

#[test]
fn what_tools_there_are_is_asked_page_by_page_and_waited_for() {
    run(async {
        let mut inside = instead("[]", &[CONFIG]).0.unwrap();
        assert!(inside.due().is_some());
        let asked = inside.next().await;
        assert_eq!((asked.server.as_str(), &asked.message["method"]), ("here", &json!("initialize")));
        answer(&mut inside, &asked.id, &json!({"result":{"capabilities":{}}}));
        assert_eq!(inside.next().await.message["method"], "notifications/initialized");
        let asked = inside.next().await;
        answer(&mut inside, &asked.id, &json!({"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}));
        let asked = inside.next().await;
        assert_eq!(asked.message["params"], json!({"cursor":"2"}));
        assert!(inside.due().is_some());
        answer(&mut inside, &asked.id, &json!({"result":{"tools":[{"name":"b c"}]}}));
        assert!(inside.due().is_none());
        assert!(inside.servers()[0].connected);
        assert_eq!(inside.servers()[0].tools, ["mcp__here__a", "mcp__here__b_c"]);

        // One that refuses has none.
        let mut inside = instead("[]", &[CONFIG]).0.unwrap();
        let asked = inside.next().await;
        answer(&mut inside, &asked.id, &json!({"error":{"code":-32601,"message":"no"}}));
        assert!(inside.due().is_none());
        assert!(!inside.servers()[0].connected);
    });
}

#[test]
fn two_programs_may_use_the_same_ids_and_each_hears_its_own_answer() {
    run(async {
        let mut inside = instead("[]", &[CONFIG]).0.unwrap();
        inside.messages.clear();
        let (mut one, mut two) = (start(&inside, "here").await, start(&inside, "here").await);
        say(&mut one, json!({"jsonrpc":"2.0","id":"x","method":"tools/call"})).await;
        let first = inside.next().await;
        say(&mut two, json!({"jsonrpc":"2.0","id":"x","method":"tools/call"})).await;
        let second = inside.next().await;
        assert_ne!(first.message["id"], second.message["id"]);
        // What is given up is named by the number that the host knows.
        say(
            &mut one,
            json!({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}),
        )
        .await;
        assert_eq!(inside.next().await.message["params"]["requestId"], first.message["id"]);
        answer(&mut inside, &second.id, &json!({"id":9,"result":{"n":2}}));
        answer(&mut inside, &first.id, &json!({"id":9,"result":{"n":1}}));
        assert_eq!(hears(&mut inside, &mut one).await, json!({"id":"x","result":{"n":1}}));
        assert_eq!(hears(&mut inside, &mut two).await, json!({"id":"x","result":{"n":2}}));
    });
}

#[test]
fn a_message_that_the_host_does_not_answer_is_an_error() {
    run(async {
        let mut inside = instead("[]", &[CONFIG]).0.unwrap();
        inside.messages.clear();
        let mut program = start(&inside, "here").await;
        for (ok, body, error, said) in [
            (true, r#"{"behavior":"deny","message":"too late"}"#, "null", "too late"),
            (false, "null", "\"no such server\"", "no such server"),
            (false, "null", "null", "the host did not answer"),
        ] {
            say(&mut program, json!({"jsonrpc":"2.0","id":7,"method":"ping"})).await;
            let asked = inside.next().await;
            let response = Response {
                id: Some(Str::trusted(&asked.id)),
                ok,
                body: Some(Raw::trusted(body)),
                error: Some(Raw::trusted(error)),
            };
            assert!(inside.answered(&response));
            // A second answer belongs to nobody.
            assert!(inside.answered(&response));
            let heard = hears(&mut inside, &mut program).await;
            assert_eq!((&heard["id"], &heard["error"]["message"]), (&json!(7), &json!(said)));
        }
        // A program that has gone is owed nothing.
        say(&mut program, json!({"jsonrpc":"2.0","id":8,"method":"ping"})).await;
        let asked = inside.next().await;
        drop(program);
        let left = pin!(tokio::time::sleep(Duration::from_millis(100)));
        tokio::select! {
            message = inside.next() => panic!("{message:?}"),
            () = left => {}
        }
        assert!(inside.clients.is_empty());
        answer(&mut inside, &asked.id, &json!({"result":{}}));
    });
}

#[test]
fn what_a_server_says_of_its_own_accord_is_heard() {
    run(async {
        let mut inside = instead("[]", &[CONFIG]).0.unwrap();
        inside.messages.clear();
        let mut program = start(&inside, "here").await;
        say(&mut program, json!({"jsonrpc":"2.0","method":"notifications/initialized"})).await;
        inside.next().await;
        for (server, method) in [("there", "ping"), ("here", "notifications/tools/list_changed")] {
            let (server, message) = (json!(server).to_string(), json!({"jsonrpc":"2.0","method":method}).to_string());
            let field = |key, value| Field {
                at: At::Part("/request"),
                key: Str::trusted(key),
                value: Raw::trusted(value),
                known: true,
            };
            inside.says(&[field("server_name", server.as_str()), field("message", message.as_str())]);
        }
        assert_eq!(hears(&mut inside, &mut program).await["method"], "notifications/tools/list_changed");
    });
}

#[test]
fn a_text_that_is_json_and_no_object_gets_a_structure_that_is_one() {
    for (text, structured) in [
        ("42", json!({"result":42})),
        ("[1]", json!({"result":[1]})),
        ("{}", Value::Null),
        ("four", Value::Null),
    ] {
        let mut result = json!({"content":[{"type":"text","text":text}]});
        structure(&mut result);
        assert_eq!(result["structuredContent"], structured, "{text}");
    }
}
