//! MCP servers that are not ours: those that the protocol's makers publish for trying clients out.
//! Without npm or a way to install them the tests say so and pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::ResultStatus;
use agentglot::agent::control_requests::HostRequests;
use agentglot::agent::mcp::{Mcp, Options, Status, config};
use agentglot::agent::model::message::Part;
use agentglot::agent::tools::{Cx, Given, World};
use agentglot::agent::workspace::Wall;
use agentglot::child::Watcher;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::common::skipped;
use crate::installed::node_modules;
use crate::support::free_port;

/// Where the servers are.
fn servers() -> Option<PathBuf> {
    node_modules("sdks/mcp/package.json")
        .map_err(|why| skipped("MCP servers of others", why))
        .ok()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let in_time = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), test).await });
    in_time.expect("it ends in time");
}

/// A workspace with a text in it.
fn place() -> (tempfile::TempDir, World) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hello.txt"), "hello from a file\n").expect("it is written");
    let world = World {
        wall: Arc::new(Wall::new(folder.path()).expect("a wall")),
        environment: Arc::new(vec![("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]),
        scratch: folder.path().join("scratch"),
    };
    (folder, world)
}

async fn start(folder: &Path, world: &World, servers: Value) -> Mcp {
    let mut options = Options::new(folder.to_owned(), world.environment.to_vec(), &|_| None);
    options.watcher = Watcher::Nobody;
    let servers = config::of_value(&servers, "dynamic", &|_| None).expect("a configuration");
    let mcp = Mcp::start(servers, HostRequests::default(), options);
    mcp.ready().await;
    let status = mcp.status();
    assert!(status.iter().all(|known| known.status == Status::Connected), "{status:?}");
    mcp
}

async fn call(mcp: &Mcp, world: &World, name: &str, input: Value, cancel: CancellationToken) -> Given {
    let names: Vec<String> = mcp.tools().iter().map(|tool| tool.spec().name.clone()).collect();
    let tool = mcp
        .tools()
        .into_iter()
        .find(|tool| tool.spec().name == name)
        .unwrap_or_else(|| panic!("there is no {name}: {names:?}"));
    let cx = Cx {
        call: "call_1",
        cancel,
        world,
        tell: &|_| {},
    };
    tool.run(&input, &cx).await
}

fn text(given: &Given) -> String {
    let texts = given
        .content
        .iter()
        .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}

/// What every client should be able to do with the server that does everything.
async fn everything(mcp: &Mcp, world: &World) {
    let go = async |name: &str, input: Value| call(mcp, world, &format!("mcp__all__{name}"), input, CancellationToken::new()).await;
    assert!(mcp.tools().len() > 8, "{}", mcp.tools().len());
    assert_eq!(text(&go("echo", json!({"message":"hä?"})).await), "Echo: hä?");
    assert!(text(&go("get-sum", json!({"a":2,"b":40})).await).contains("42"));
    let picture = go("get-tiny-image", json!({})).await;
    assert!(
        picture
            .content
            .iter()
            .any(|part| matches!(part, Part::Image { media_type, .. } if media_type == "image/png")),
        "{picture:?}"
    );
    let weather = go("get-structured-content", json!({"location":"Chicago"})).await;
    assert!(serde_json::from_str::<Value>(&text(&weather)).expect("JSON, and only once")["temperature"].is_number());
    assert!(text(&go("get-resource-links", json!({"count":2})).await).contains("[Resource link: "));
    assert!(text(&go("get-resource-reference", json!({"resourceType":"Blob","resourceId":1})).await).contains("it is saved at "));
    let wrong = go("get-sum", json!({"a":"x"})).await;
    assert_eq!(wrong.status, ResultStatus::Error, "{}", text(&wrong));
    let listed = call(mcp, world, "ListMcpResourcesTool", json!({}), CancellationToken::new()).await;
    let listed: Value = serde_json::from_str(&text(&listed)).expect("JSON");
    let uri = listed[0]["uri"].as_str().expect("there are resources");
    let read = call(
        mcp,
        world,
        "ReadMcpResourceTool",
        json!({"server":"all","uri":uri}),
        CancellationToken::new(),
    )
    .await;
    assert_eq!(read.status, ResultStatus::Success, "{}", text(&read));
    let prompt = mcp
        .commands()
        .into_iter()
        .find(|command| command.arguments.is_empty())
        .expect("there are prompts");
    let said = mcp
        .prompt(&prompt.name, "", &world.scratch)
        .await
        .expect("it is there")
        .expect("it is answered");
    assert!(!said.is_empty() && !said[0].text().is_empty());

    // A call that takes ten seconds is left after one.
    let (began, cancel) = (Instant::now(), CancellationToken::new());
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let long = call(
        mcp,
        world,
        "mcp__all__trigger-long-running-operation",
        json!({"duration":10,"steps":5}),
        cancel.clone(),
    );
    let (given, ()) = tokio::join!(long, stop);
    assert!(given.status == ResultStatus::Error && began.elapsed() < Duration::from_secs(5));
    assert_eq!(text(&go("echo", json!({"message":"on"})).await), "Echo: on");
}

#[test]
fn everything_over_stdio() {
    let Some(modules) = servers() else { return };
    run(async {
        let (folder, world) = place();
        let server = modules.join(".bin/mcp-server-everything");
        let mcp = start(folder.path(), &world, json!({"all":{"command":server,"args":["stdio"]}})).await;
        everything(&mcp, &world).await;
        mcp.stop().await;
    });
}

/// The server that does everything behind an address, reached in one of the ways that it knows.
fn everything_at(way: &str, path: &str, kind: &str) {
    let Some(modules) = servers() else { return };
    let port = free_port();
    let mut server = Command::new(modules.join(".bin/mcp-server-everything"));
    server
        .arg(way)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = server.spawn().expect("the server starts");
    let until = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let done = std::panic::catch_unwind(|| {
        run(async {
            let (folder, world) = place();
            let url = format!("http://127.0.0.1:{port}{path}");
            let mcp = start(folder.path(), &world, json!({"all":{"type":kind,"url":url}})).await;
            everything(&mcp, &world).await;
            mcp.stop().await;
        });
    });
    server.kill().expect("it is killed");
    server.wait().expect("it is gone");
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn everything_over_http() {
    everything_at("streamableHttp", "/mcp", "http");
}

#[test]
fn everything_over_server_sent_events() {
    everything_at("sse", "/sse", "sse");
}

#[test]
fn files() {
    let Some(modules) = servers() else { return };
    run(async {
        let (folder, world) = place();
        let server = modules.join(".bin/mcp-server-filesystem");
        let mcp = start(folder.path(), &world, json!({"files":{"command":server,"args":[folder.path()]}})).await;
        let go = async |name: &str, input: Value| call(&mcp, &world, &format!("mcp__files__{name}"), input, CancellationToken::new()).await;
        let read = go("read_text_file", json!({"path":folder.path().join("hello.txt")})).await;
        assert_eq!((read.status, text(&read).trim_end()), (ResultStatus::Success, "hello from a file"));
        let listed = go("list_directory", json!({"path":folder.path()})).await;
        assert!(text(&listed).contains("[FILE] hello.txt"), "{}", text(&listed));
        let written = go("write_file", json!({"path":folder.path().join("new.txt"),"content":"ö"})).await;
        assert_eq!(written.status, ResultStatus::Success, "{}", text(&written));
        assert_eq!(std::fs::read_to_string(folder.path().join("new.txt")).expect("it is there"), "ö");
        let outside = go("read_text_file", json!({"path":"/etc/hostname"})).await;
        assert!(
            outside.status == ResultStatus::Error && text(&outside).contains("denied"),
            "{}",
            text(&outside)
        );
        let reads = |name: &str| {
            mcp.tools()
                .iter()
                .find(|tool| tool.spec().name == name)
                .map(|tool| tool.spec().reads_only)
        };
        assert_eq!(
            (reads("mcp__files__read_text_file"), reads("mcp__files__write_file")),
            (Some(true), Some(false))
        );
        mcp.stop().await;
    });
}
