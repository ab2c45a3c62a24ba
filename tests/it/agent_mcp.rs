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

mod host;
mod http;

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
        let described = tool(&mcp, "mcp__bad__big").spec().description.clone();
        assert!(
            described.len() < 2100 && described.ends_with("ä… [the rest was left out]"),
            "{}",
            described.len()
        );

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
        let deep = place.call(&mcp, "mcp__bad__deep", json!({})).await;
        assert!(text(&deep).contains("not JSON-RPC"), "{}", text(&deep));
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
            ("mcp__bad__answers", "far more than it was asked for"),
            ("mcp__bad__deaf", "it asks and does not take the answers"),
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

#[test]
fn a_server_lists_no_more_than_can_be_held() {
    within(60, async {
        let place = Place::new();
        let mcp = place.start(json!({ "bad": place.bad(&["--endless"]) }), place.options()).await;
        assert!(mcp.tools().is_empty(), "{:?}", names(&mcp));
        let said = format!("{:?}", mcp.status());
        assert!(said.contains("more than 32 MiB"), "{said}");
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
