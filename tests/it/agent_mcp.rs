//! MCP servers of the built-in agent: a program that behaves as badly as servers do, one behind HTTP, and one in the host.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::ResultStatus;
use agentglot::agent::control_requests::HostRequests;
use agentglot::agent::mcp::{Mcp, Options, Server, Status, config};
use agentglot::agent::model::message::Part;
use agentglot::agent::tools::{Cx, Given, Progress, Tool, World};
use agentglot::agent::workspace::Wall;
use agentglot::child::Watcher;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::support::{alive, alone, eventually, example, within};

/// A session's surroundings, gone with it.
struct Place {
    folder: tempfile::TempDir,
    world: World,
    requests: HostRequests,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World {
            wall: Arc::new(Wall::new(folder.path()).expect("a wall")),
            environment: Arc::new(vec![("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]),
            scratch: folder.path().join("scratch"),
        };
        Self {
            folder,
            world,
            requests: HostRequests::default(),
        }
    }

    fn options(&self) -> Options {
        let mut options = Options::new(self.folder.path().to_owned(), self.world.environment.to_vec(), &|_| None);
        options.watcher = Watcher::Nobody;
        options.connect = Duration::from_secs(20);
        options
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The bad server, under the name `bad`.
    fn bad(&self, more: &[&str]) -> Value {
        let mut args = vec!["--log".to_owned(), self.folder.path().join("log").display().to_string()];
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        json!({ "command": example("mcp_server"), "args": args })
    }

    async fn start(&self, servers: Value, options: Options) -> Mcp {
        let mcp = Mcp::start(read(&servers), self.requests.clone(), options);
        mcp.ready().await;
        mcp
    }

    async fn started(&self) -> Mcp {
        self.start(json!({ "bad": self.bad(&[]) }), self.options()).await
    }

    async fn call(&self, mcp: &Mcp, name: &str, input: Value) -> Given {
        self.call_until(mcp, name, input, CancellationToken::new()).await.0
    }

    async fn call_until(&self, mcp: &Mcp, name: &str, input: Value, cancel: CancellationToken) -> (Given, String) {
        let tool = tool(mcp, name);
        let told = RefCell::new(String::new());
        let tell = |progress: Progress<'_>| match progress {
            Progress::Stdout(bytes) | Progress::Stderr(bytes) => told.borrow_mut().push_str(&String::from_utf8_lossy(bytes)),
        };
        let cx = Cx {
            call: "call_1",
            cancel,
            world: &self.world,
            tell: &tell,
        };
        let given = tool.run(&input, &cx).await;
        (given, told.into_inner())
    }
}

fn read(servers: &Value) -> Vec<Server> {
    config::of_value(servers, "dynamic", &|_| None).expect("a configuration")
}

fn tool(mcp: &Mcp, name: &str) -> Rc<dyn Tool> {
    let found = mcp.tools().into_iter().find(|tool| tool.spec().name == name);
    found.unwrap_or_else(|| panic!("there is no {name}: {:?}", names(mcp)))
}

fn names(mcp: &Mcp) -> Vec<String> {
    mcp.tools().iter().map(|tool| tool.spec().name.clone()).collect()
}

fn text(given: &Given) -> String {
    let texts = given.content.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        _ => "<picture>",
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_program_is_listed_called_and_ended() {
    within(60, async {
        let place = Place::new();
        let mcp = place.started().await;
        let names = names(&mcp);
        assert_eq!(names[0], "mcp__bad__echo");
        assert!(names.contains(&"mcp__bad__odd_name".to_owned()), "{names:?}");
        assert_eq!(names[names.len() - 2..], ["ListMcpResourcesTool", "ReadMcpResourceTool"]);
        let echo = tool(&mcp, "mcp__bad__echo");
        assert_eq!(
            echo.spec().schema["properties"]["text"]["x-unknown"],
            json!([1]),
            "the schema is passed as it is"
        );
        assert!(echo.spec().reads_only && !tool(&mcp, "mcp__bad__fail").spec().reads_only);
        assert_eq!(mcp.instructions(), [("bad".to_owned(), "Be kind to it.".to_owned())]);

        assert_eq!(text(&place.call(&mcp, "mcp__bad__echo", json!({"text":"ö\n🦀"})).await), "ö\n🦀");
        assert_eq!(text(&place.call(&mcp, "mcp__bad__odd_name", json!({})).await), "odd");
        assert!(matches!(
            &place.call(&mcp, "mcp__bad__image", json!({})).await.content[0],
            Part::Image { .. }
        ));
        let failed = place.call(&mcp, "mcp__bad__fail", json!({})).await;
        assert_eq!((failed.status, text(&failed).as_str()), (ResultStatus::Error, "it failed"));
        let refused = place.call(&mcp, "mcp__bad__error", json!({})).await;
        assert_eq!(
            (refused.status, text(&refused).as_str()),
            (ResultStatus::Error, "MCP error -32602: bad arguments")
        );
        let broken = place.call(&mcp, "mcp__bad__broken", json!({})).await;
        assert!(
            broken.status == ResultStatus::Error && text(&broken).contains("not JSON-RPC"),
            "{}",
            text(&broken)
        );
        let (given, told) = place.call_until(&mcp, "mcp__bad__progress", json!({}), CancellationToken::new()).await;
        assert_eq!((text(&given).as_str(), told.as_str()), ("done", "1/3 step\n2/3 step\n3/3 step\n"));
        let roots = text(&place.call(&mcp, "mcp__bad__roots", json!({})).await);
        assert!(roots.contains(&format!("file://{}", place.folder.path().display())), "{roots}");

        let big = place.call(&mcp, "mcp__bad__big", json!({})).await;
        assert!(
            text(&big).len() < 101_000 && text(&big).contains("the whole is saved at "),
            "{}",
            text(&big).len()
        );
        let kept = place.folder.path().join("scratch/mcp/bad-call_1-whole.txt");
        assert_eq!(std::fs::metadata(kept).expect("it is kept").len(), 1_000_000);

        let listed = text(&place.call(&mcp, "ListMcpResourcesTool", json!({})).await);
        assert!(listed.contains("\"uri\":\"mem:a\"") && listed.contains("\"server\":\"bad\""), "{listed}");
        let kept = place.call(&mcp, "ReadMcpResourceTool", json!({"server":"bad","uri":"mem:a"})).await;
        assert_eq!(text(&kept), "[Resource from bad at mem:a] kept");
        assert_eq!(
            place.call(&mcp, "ReadMcpResourceTool", json!({"server":"no","uri":"mem:a"})).await.status,
            ResultStatus::Error
        );

        assert_eq!(mcp.commands()[0].name, "mcp__bad__greet");
        let said = mcp
            .prompt("mcp__bad__greet", "all the world", &place.world.scratch)
            .await
            .expect("it is one")
            .expect("it is answered");
        assert_eq!(said[0].text(), "Greet all the world");
        assert!(mcp.prompt("mcp__bad__nothing", "", &place.world.scratch).await.is_none());

        let pids = text(&place.call(&mcp, "mcp__bad__spawn", json!({})).await);
        let pids: Vec<i32> = pids.split(' ').map(|pid| pid.parse().expect("a number")).collect();
        assert!(pids.iter().all(|&pid| alive(pid)));
        mcp.stop().await;
        eventually("the server and what it started are gone", Duration::from_secs(5), || {
            !pids.iter().any(|&pid| alive(pid))
        })
        .await;
        assert!(mcp.tools().is_empty());
    });
}

#[test]
fn a_dropped_server_leaves_nothing_behind() {
    within(60, async {
        let place = Place::new();
        let mcp = place.started().await;
        let pids = text(&place.call(&mcp, "mcp__bad__spawn", json!({})).await);
        let pids: Vec<i32> = pids.split(' ').map(|pid| pid.parse().expect("a number")).collect();
        drop(mcp);
        eventually("the server and what it started are gone", Duration::from_secs(10), || {
            !pids.iter().any(|&pid| alive(pid))
        })
        .await;
    });
}

#[test]
fn programs_get_their_own_variables_and_no_secrets_of_ours() {
    within(60, async {
        let place = Place::new();
        let mut server = place.bad(&[]);
        server["env"] = json!({ "MINE": "1", "PATH": "/bin" });
        let mcp = place.start(json!({ "bad": server }), place.options()).await;
        let variables = text(&place.call(&mcp, "mcp__bad__variables", json!({})).await);
        let names: Vec<&str> = variables.lines().filter(|line| !line.starts_with("AGENTGLOT_")).collect();
        let folder = format!("PWD={}", place.folder.path().display());
        assert_eq!(names, ["MINE=1", "PATH=/bin", folder.as_str()]);
        mcp.stop().await;
    });
}

#[test]
fn servers_that_do_not_come_up_are_failed_ones_and_say_why() {
    within(60, async {
        let place = Place::new();
        let mut options = place.options();
        options.connect = Duration::from_millis(1500);
        let servers = json!({
            "silent": place.bad(&["--silent"]),
            "refuses": place.bad(&["--refuse"]),
            "missing": { "command": "/nonexistent/server" },
            "nowhere": { "type": "http", "url": "http://127.0.0.1:9/mcp" },
            "shapeless": { "type": "pigeon" },
        });
        let began = Instant::now();
        let mcp = Mcp::start(read(&servers), place.requests.clone(), options);
        assert!(mcp.status().iter().any(|known| known.status == Status::Pending));
        mcp.ready().await;
        assert!(began.elapsed() < Duration::from_secs(10), "they are waited for side by side");
        let status = mcp.status();
        assert!(status.iter().all(|known| known.status == Status::Failed), "{status:?}");
        let why: Vec<&str> = status.iter().map(|known| known.error.as_deref().unwrap_or_default()).collect();
        assert_eq!(why[0], "it did not answer within 1500 ms");
        assert_eq!(why[1], "it ended with exit code 4 (no licence for this machine)");
        assert!(why[2].contains("/nonexistent/server"), "{why:?}");
        assert!(why[3].to_lowercase().contains("refused"), "{why:?}");
        assert!(why[4].contains("pigeon"), "{why:?}");
        assert!(mcp.tools().is_empty());
        assert_eq!(mcp.reconnect("nobody").await, Err("Server not found: nobody".to_owned()));
        mcp.stop().await;
    });
}

#[test]
fn a_server_that_dies_fails_the_call_and_is_started_anew() {
    within(60, async {
        let place = Place::new();
        let mcp = place.started().await;
        let died = place.call(&mcp, "mcp__bad__die", json!({})).await;
        assert_eq!(died.status, ResultStatus::Error);
        assert_eq!(text(&died), "The MCP server bad gave no answer: it ended with exit code 3 (out of luck)");
        assert_eq!(mcp.status()[0].status, Status::Failed);
        assert_eq!(text(&place.call(&mcp, "mcp__bad__echo", json!({"text":"again"})).await), "again");
        assert_eq!(mcp.status()[0].status, Status::Connected);
        mcp.stop().await;
    });
}

#[test]
fn a_server_that_floods_fails_the_call_in_bounded_memory() {
    // What other tests hold would be counted too.
    if !alone("agent_mcp::a_server_that_floods_fails_the_call_in_bounded_memory") {
        return;
    }
    within(120, async {
        let place = Place::new();
        let mcp = place.started().await;
        for (name, why) in [
            ("mcp__bad__flood", "a line of more than 16 MiB"),
            ("mcp__bad__chatter", "far more than it was asked for"),
        ] {
            let began = memory();
            let flooded = place.call(&mcp, name, json!({})).await;
            assert!(
                flooded.status == ResultStatus::Error && text(&flooded).contains(why),
                "{}",
                text(&flooded)
            );
            let grown = memory().saturating_sub(began);
            assert!(grown < 200 << 20, "{name}: {grown} bytes more");
            assert_eq!(text(&place.call(&mcp, "mcp__bad__echo", json!({"text":"on"})).await), "on");
        }
        mcp.stop().await;
    });
}

/// What we hold in memory, in bytes; 0 where the system does not tell.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

#[test]
fn a_server_that_hangs_is_told_that_nobody_waits() {
    within(60, async {
        let place = Place::new();
        let mcp = place.started().await;
        let cancel = CancellationToken::new();
        let stop = async {
            eventually("the call arrived", Duration::from_secs(10), || place.log().contains("\"hang\"")).await;
            cancel.cancel();
        };
        let ((given, _), ()) = tokio::join!(place.call_until(&mcp, "mcp__bad__hang", json!({}), cancel.clone()), stop);
        assert_eq!((given.status, text(&given).as_str()), (ResultStatus::Error, "The call was interrupted."));
        eventually("the server is told", Duration::from_secs(10), || {
            place.log().contains("notifications/cancelled")
        })
        .await;
        assert_eq!(text(&place.call(&mcp, "mcp__bad__echo", json!({"text":"on"})).await), "on");
        mcp.stop().await;

        let mut server = place.bad(&[]);
        server["timeout"] = json!(1000);
        let mcp = place.start(json!({ "bad": server }), place.options()).await;
        let given = place.call(&mcp, "mcp__bad__hang", json!({})).await;
        assert_eq!(text(&given), "The MCP server bad gave no answer: it did not answer within 1 s");
        eventually("the server is told", Duration::from_secs(10), || {
            place.log().matches("notifications/cancelled").count() == 2
        })
        .await;
        mcp.stop().await;
    });
}

#[test]
fn lists_that_change_are_read_again() {
    within(60, async {
        let place = Place::new();
        let mcp = place.started().await;
        assert!(!names(&mcp).contains(&"mcp__bad__new".to_owned()));
        place.call(&mcp, "mcp__bad__grow", json!({})).await;
        mcp.refresh().await;
        assert!(names(&mcp).contains(&"mcp__bad__new".to_owned()));
        assert_eq!(text(&place.call(&mcp, "mcp__bad__new", json!({})).await), "new");
        mcp.stop().await;
    });
}

#[test]
fn questions_to_the_user_go_to_the_host_or_are_declined() {
    within(60, async {
        let place = Place::new();
        let mut options = place.options();
        options.asks_user = true;
        let mcp = place.start(json!({ "bad": place.bad(&[]) }), options).await;
        let host = async {
            loop {
                place.requests.wake().notified().await;
                let (asked, _) = place.requests.take();
                if let Some((id, question)) = asked.into_iter().next() {
                    assert_eq!(question.subtype, "elicitation");
                    let field = |name: &str| question.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                    assert_eq!((field("mcp_server_name"), field("message")), (Some(json!("bad")), Some(json!("Who?"))));
                    assert_eq!(field("property_order"), Some(json!(["name", "age"])));
                    place
                        .requests
                        .answer(&id, Ok(json!({ "action": "accept", "content": { "name": "Ada" } })));
                    return;
                }
            }
        };
        let (given, ()) = tokio::join!(place.call(&mcp, "mcp__bad__ask", json!({})), host);
        assert_eq!(
            serde_json::from_str::<Value>(&text(&given)).expect("JSON"),
            json!({"action":"accept","content":{"name":"Ada"}})
        );
        mcp.stop().await;

        let mcp = place.started().await;
        let given = place.call(&mcp, "mcp__bad__ask", json!({})).await;
        assert!(text(&given).contains("decline"), "{}", text(&given));
        mcp.stop().await;
    });
}

#[test]
fn the_host_sets_switches_and_asks_for_servers() {
    within(90, async {
        let place = Place::new();
        let mcp = place.started().await;
        let control = async |subtype: &str, request: Value| mcp.control(subtype, &request).await.expect("it is about servers");
        let set = control(
            "mcp_set_servers",
            json!({"servers":{"two":place.bad(&[]),"three":{"command":"/nonexistent/x"}}}),
        )
        .await
        .expect("it is set");
        assert_eq!((&set["added"], &set["removed"]), (&json!(["two", "three"]), &json!([])));
        assert!(set["errors"]["three"].as_str().is_some_and(|why| why.contains("/nonexistent/x")), "{set}");
        assert!(names(&mcp).contains(&"mcp__two__echo".to_owned()));
        let set = control("mcp_set_servers", json!({"servers":{"two":place.bad(&[])}}))
            .await
            .expect("it is set");
        assert_eq!(set, json!({"added":[],"removed":["three"],"errors":{}}));

        let told = control("mcp_status", json!({})).await.expect("it is told");
        let servers = told["mcpServers"].as_array().expect("a list");
        assert_eq!(
            (&servers[0]["name"], &servers[0]["status"], &servers[0]["serverInfo"]),
            (&json!("bad"), &json!("connected"), &json!({"name":"bad","version":"1.2"}))
        );
        assert_eq!(
            servers[0]["tools"][0],
            json!({"name":"echo","description":"Does echo","annotations":{"readOnly":true}})
        );
        assert!(servers[0]["config"].get("env").is_none());
        assert_eq!(
            control("mcp_server_status", json!({})).await.expect("it is told")["status"],
            json!({"bad":"connected","two":"connected"})
        );

        control("mcp_toggle", json!({"serverName":"two","enabled":false}))
            .await
            .expect("it is off");
        assert_eq!(mcp.status()[1].status, Status::Disabled);
        assert!(!names(&mcp).contains(&"mcp__two__echo".to_owned()));
        control("mcp_toggle", json!({"serverName":"two","enabled":true})).await.expect("it is on");
        assert!(names(&mcp).contains(&"mcp__two__echo".to_owned()));
        control("mcp_reconnect", json!({"serverName":"bad"})).await.expect("it is there");
        assert_eq!(
            control("mcp_toggle", json!({"serverName":"x","enabled":false})).await,
            Err("Server not found: x".to_owned())
        );
        assert_eq!(
            control("mcp_call", json!({"tool":"mcp__x__y"})).await,
            Err("MCP server not connected: x".to_owned())
        );
        let called = control("mcp_call", json!({"tool":"mcp__bad__echo","arguments":{"text":"hi"}}))
            .await
            .expect("it is called");
        assert_eq!(called["content"], json!([{"type":"text","text":"hi"}]));
        let resource = control("mcp_read_resource", json!({"serverName":"bad","uri":"mem:a"}))
            .await
            .expect("it is read");
        assert_eq!(resource["contents"][0]["text"], "kept");
        assert!(control("mcp_read_resource", json!({"server":"bad"})).await.is_err());
        assert_eq!(
            mcp.provenance("mcp__two__echo").map(|whose| (whose.server, whose.source)),
            Some(("two".to_owned(), "dynamic".to_owned()))
        );
        assert!(mcp.control("set_model", &json!({})).await.is_none());
        mcp.stop().await;
    });
}

/// A host with a server of its own. It answers until there is nothing more to do, and keeps what it heard.
async fn host(requests: &HostRequests, heard: &RefCell<Vec<Value>>) {
    loop {
        requests.wake().notified().await;
        let (asked, withdrawn) = requests.take();
        for id in withdrawn {
            heard.borrow_mut().push(json!({ "withdrawn": id }));
        }
        for (id, question) in asked {
            assert_eq!(question.subtype, "mcp_message");
            assert_eq!(question.fields[0], ("server_name".to_owned(), json!("calc")));
            let message = question.fields[1].1.clone();
            heard.borrow_mut().push(message.clone());
            let result = match message["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}})
                }
                Some("tools/list") => {
                    json!({"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}}]})
                }
                Some("tools/call") if message["params"]["arguments"]["a"] == json!(0) => continue,
                Some("tools/call") => json!({"content":[{"type":"text","text":"42"}],"is_error":message["params"]["arguments"]["a"] == json!(1)}),
                // Both SDKs answer notifications with something that has another's id.
                _ => {
                    requests.answer(&id, Ok(json!({"mcp_response":{"jsonrpc":"2.0","result":{},"id":0}})));
                    continue;
                }
            };
            requests.answer(&id, Ok(json!({"mcp_response":{"jsonrpc":"2.0","id":message["id"],"result":result}})));
        }
    }
}

/// Runs what is given beside the host.
async fn beside<T>(place: &Place, heard: &RefCell<Vec<Value>>, what: impl Future<Output = T>) -> T {
    tokio::select! {
        done = what => done,
        () = host(&place.requests, heard) => unreachable!("it answers for ever"),
    }
}

#[test]
fn servers_in_the_host_are_spoken_to_over_the_control_channel() {
    within(60, async {
        let (place, heard) = (Place::new(), RefCell::default());
        let mcp = place.start(json!({}), place.options()).await;
        mcp.initialize(&json!({"subtype":"initialize","sdkMcpServers":["calc"]}))
            .expect("a handshake");
        assert_eq!(mcp.status()[0].status, Status::Pending);
        beside(&place, &heard, mcp.ready()).await;
        assert_eq!((mcp.status()[0].status, mcp.status()[0].source.as_str()), (Status::Connected, "sdk"));
        assert_eq!(names(&mcp), ["mcp__calc__add"]);
        let given = beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":2,"b":40}))).await;
        assert_eq!((given.status, text(&given).as_str()), (ResultStatus::Success, "42"));
        assert_eq!(
            beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":1}))).await.status,
            ResultStatus::Error
        );
        let methods = || {
            heard
                .borrow()
                .iter()
                .map(|message| (message["method"].clone(), message["id"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            methods(),
            [
                (json!("initialize"), json!(0)),
                (json!("notifications/initialized"), Value::Null),
                (json!("tools/list"), json!(1)),
                (json!("tools/call"), json!(2)),
                (json!("tools/call"), json!(3)),
            ]
        );

        // A call that is interrupted is taken back, and the server is told.
        let cancel = CancellationToken::new();
        let stop = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let call = async {
            tokio::join!(place.call_until(&mcp, "mcp__calc__add", json!({"a":0}), cancel.clone()), stop)
                .0
                .0
        };
        assert_eq!(beside(&place, &heard, call).await.status, ResultStatus::Error);
        let last: Vec<Value> = heard.borrow().iter().rev().take(2).cloned().collect();
        assert!(last.iter().any(|message| message.get("withdrawn").is_some()), "{last:?}");
        assert!(
            last.iter()
                .any(|message| message["method"] == "notifications/cancelled" && message["params"]["requestId"] == json!(4)),
            "{last:?}"
        );

        // What the server says of its own accord.
        let say = async |message: Value| {
            beside(&place, &heard, async {
                mcp.from_host("calc", &message).await;
                mcp.refresh().await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            })
            .await;
            heard.borrow().last().cloned().expect("something was heard")
        };
        assert_eq!(
            say(json!({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})).await["method"],
            "tools/list"
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":"p","method":"ping"})).await,
            json!({"jsonrpc":"2.0","id":"p","result":{}})
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"})).await["error"]["code"],
            json!(-32601)
        );
        assert_eq!(
            say(json!({"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{}})).await["result"],
            json!({"action":"decline"})
        );
        mcp.from_host("nobody", &json!({"id":1,"method":"ping"})).await;
        place.requests.hang_up();
    });
}

#[test]
fn servers_that_the_host_has_described_are_not_asked_again() {
    within(60, async {
        let (place, heard) = (Place::new(), RefCell::default());
        let mcp = place.start(
            json!({ "calc": { "type": "sdk", "name": "calc" } }),
            Options {
                connect: Duration::from_secs(5),
                ..place.options()
            },
        );
        // Python names its servers in the flag as well.
        let mcp = beside(&place, &heard, mcp).await;
        mcp.initialize(&json!({"sdkMcpServers":["calc"]})).expect("a handshake");
        assert_eq!(mcp.status().len(), 1);
        heard.borrow_mut().clear();

        let mcp = place.start(json!({}), place.options()).await;
        let manifest = json!({"initializeResult":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}},
            "toolsListResult":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}});
        mcp.initialize(&json!({"sdkMcpServers":["calc"],"sdkMcpServerManifests":{"calc":manifest}}))
            .expect("a handshake");
        beside(&place, &heard, mcp.ready()).await;
        assert!(heard.borrow().is_empty());
        let given = beside(&place, &heard, place.call(&mcp, "mcp__calc__add", json!({"a":2}))).await;
        assert_eq!(text(&given), "42");
        assert_eq!(heard.borrow()[0]["id"], json!(2), "the host has counted two requests itself");
    });
}

#[test]
fn a_host_that_does_not_answer_makes_a_failed_server() {
    within(60, async {
        let place = Place::new();
        let mut options = place.options();
        options.connect = Duration::from_millis(200);
        let mcp = place.start(json!({ "calc": { "type": "sdk", "name": "calc" } }), options).await;
        assert_eq!(mcp.status()[0].status, Status::Failed);
    });
}

/// A server behind HTTP, as small as one can be: JSON answers to POSTs, and a body without end where it is asked for.
async fn serve_http(listener: tokio::net::TcpListener, token: &'static str) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { return };
        tokio::spawn(async move {
            let mut held = Vec::new();
            loop {
                let mut chunk = [0; 4096];
                let (head, body) = loop {
                    if let Some(at) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(&held[..at]).to_lowercase();
                        let length = head
                            .lines()
                            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                            .unwrap_or(0_usize);
                        if held.len() >= at + 4 + length {
                            let body = held[at + 4..at + 4 + length].to_vec();
                            held.drain(..at + 4 + length);
                            break (head, body);
                        }
                    }
                    match stream.read(&mut chunk).await {
                        Ok(0) | Err(_) => return,
                        Ok(read) => held.extend_from_slice(&chunk[..read]),
                    }
                };
                let reply = |status: &str, body: String| {
                    format!(
                        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nwww-authenticate: Bearer\r\ncontent-length: {}\r\n\r\n{body}",
                        body.len()
                    )
                };
                let message: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let id = &message["id"];
                let result = match message["method"].as_str() {
                    _ if !head.contains(&format!("authorization: bearer {token}")) => {
                        let _ = stream.write_all(reply("401 Unauthorized", String::new()).as_bytes()).await;
                        continue;
                    }
                    Some("initialize") => {
                        json!({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}})
                    }
                    Some("tools/list") => {
                        json!({"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"flood","inputSchema":{"type":"object"}},{"name":"html","inputSchema":{"type":"object"}}]})
                    }
                    Some("tools/call") if message["params"]["name"] == "flood" => {
                        let _ = stream
                            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
                            .await;
                        let piece = vec![b'x'; 64 << 10];
                        while stream.write_all(&piece).await.is_ok() {}
                        return;
                    }
                    Some("tools/call") if message["params"]["name"] == "html" => {
                        let page = "<h1>Bad gateway</h1>";
                        let answer = format!(
                            "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
                            page.len()
                        );
                        let _ = stream.write_all(answer.as_bytes()).await;
                        continue;
                    }
                    Some("tools/call") => json!({"content":[{"type":"text","text":message["params"]["arguments"]["text"]}]}),
                    Some(_) if id.is_null() => {
                        let _ = stream.write_all(reply("202 Accepted", String::new()).as_bytes()).await;
                        continue;
                    }
                    _ => {
                        let _ = stream.write_all(reply("405 Method Not Allowed", String::new()).as_bytes()).await;
                        continue;
                    }
                };
                let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
                let _ = stream.write_all(reply("200 OK", body).as_bytes()).await;
            }
        });
    }
}

#[test]
fn servers_behind_http_are_spoken_to() {
    within(90, async {
        let place = Place::new();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("it has one"));
        tokio::spawn(serve_http(listener, "right"));
        let servers = json!({
            "far": { "type": "http", "url": url, "headers": { "Authorization": "Bearer right" } },
            "shut": { "type": "http", "url": url, "headers": { "Authorization": "Bearer wrong" } },
        });
        let mcp = place.start(servers, place.options()).await;
        let status: Vec<Status> = mcp.status().iter().map(|known| known.status).collect();
        assert_eq!(status, [Status::Connected, Status::NeedsAuth], "{:?}", mcp.status());
        assert_eq!(text(&place.call(&mcp, "mcp__far__echo", json!({"text":"hi"})).await), "hi");
        let page = place.call(&mcp, "mcp__far__html", json!({})).await;
        assert!(page.status == ResultStatus::Error && !text(&page).contains("Bearer"), "{}", text(&page));
        let began = memory();
        let flooded = place.call(&mcp, "mcp__far__flood", json!({})).await;
        assert_eq!(flooded.status, ResultStatus::Error, "{}", text(&flooded));
        assert!(memory().saturating_sub(began) < 200 << 20);
        assert_eq!(text(&place.call(&mcp, "mcp__far__echo", json!({"text":"on"})).await), "on");
        mcp.stop().await;
    });
}
