//! MCP servers of the built-in agent behind HTTP as it was before March 2025: one stream of events, and posts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::ResultStatus;
use agentglot::agent::control_requests::HostRequests;
use agentglot::agent::mcp::{Mcp, Options, Status, config};
use agentglot::agent::model::message::Part;
use agentglot::agent::tools::{Cx, Given, World};
use agentglot::agent::workspace::Wall;
use agentglot::child::Watcher;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::support::model::Answer;
use crate::support::play::{PRINT, Play, run};
use crate::support::within;

/// A server: each stream has posts of its own.
struct Server {
    address: String,
    streams: Mutex<Vec<UnboundedSender<String>>>,
    opened: AtomicUsize,
}

impl Server {
    async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = Arc::new(Self {
            address: format!("http://{}", listener.local_addr().expect("it has one")),
            streams: Mutex::default(),
            opened: AtomicUsize::new(0),
        });
        let serves = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Arc::clone(&serves);
                tokio::spawn(async move { server.connection(stream).await });
            }
        });
        server
    }

    async fn connection(&self, mut stream: TcpStream) -> Option<()> {
        let mut held = Vec::new();
        loop {
            let (head, body) = request(&mut stream, &mut held).await?;
            let path = head.split(' ').nth(1)?.to_owned();
            let status = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            if !head.contains("\r\nx-token: right\r\n") && !path.starts_with("/open") {
                stream.write_all(status("401 Unauthorized").as_bytes()).await.ok()?;
                continue;
            }
            if head.starts_with("get ") {
                let endpoint = match path.as_str() {
                    "/sse" => {
                        let (to, from) = unbounded_channel();
                        let mut streams = self.streams.lock().await;
                        streams.push(to);
                        self.opened.fetch_add(1, Ordering::Relaxed);
                        let endpoint = format!("messages?at={}", streams.len() - 1);
                        drop(streams);
                        return stream_to(stream, &endpoint, Some(from)).await;
                    }
                    "/open/elsewhere" => "http://other.example/messages",
                    "/open/silent" => "",
                    "/open/page" => {
                        let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi";
                        stream.write_all(page.as_bytes()).await.ok()?;
                        continue;
                    }
                    "/open/moved" => {
                        let to = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/sse\r\ncontent-length: 0\r\n\r\n";
                        stream.write_all(to.as_bytes()).await.ok()?;
                        continue;
                    }
                    _ => {
                        stream.write_all(status("404 Not Found").as_bytes()).await.ok()?;
                        continue;
                    }
                };
                return stream_to(stream, endpoint, None).await;
            }
            let at: usize = path.strip_prefix("/messages?at=")?.parse().ok()?;
            stream.write_all(status("202 Accepted").as_bytes()).await.ok()?;
            let message: Value = serde_json::from_slice(&body).ok()?;
            if let Some(event) = answer(&message) {
                let mut streams = self.streams.lock().await;
                match event {
                    // The stream ends.
                    None => streams[at] = unbounded_channel().0,
                    Some(event) => drop(streams[at].send(event)),
                }
            }
        }
    }
}

/// What becomes of a message: nothing, the end of the stream, or something that is said on it.
fn answer(message: &Value) -> Option<Option<String>> {
    let id = &message["id"];
    let result = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}),
        "tools/list" => {
            let names = ["echo", "hang", "drop", "flood"];
            json!({"tools": names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))})
        }
        "tools/call" => match message["params"]["name"].as_str()? {
            "echo" => json!({"content":[{"type":"text","text":message["params"]["arguments"]["text"]}]}),
            "hang" => return None,
            "drop" => return Some(None),
            _ => return Some(Some(format!("event: message\ndata: {}\n\n", "x".repeat(20 << 20)))),
        },
        _ if id.is_null() => return None,
        _ => {
            let error = json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"Method not found"}});
            return Some(Some(format!("data: {error}\n\n")));
        }
    };
    let said = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    // Ends of lines, comments and other events are of every kind there is.
    Some(Some(format!(
        ": still here\r\nevent: weather\r\ndata: rain\r\n\r\nevent: message\r\ndata: {said}\r\n\r\n"
    )))
}

async fn stream_to(mut stream: TcpStream, endpoint: &str, from: Option<UnboundedReceiver<String>>) -> Option<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    if !endpoint.is_empty() {
        stream.write_all(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes()).await.ok()?;
    }
    match from {
        Some(mut from) => {
            while let Some(event) = from.recv().await {
                // In pieces: where reads are cut changes nothing.
                for piece in event.as_bytes().chunks(1 << 16) {
                    stream.write_all(piece).await.ok()?;
                }
            }
        }
        None => std::future::pending().await,
    }
    Some(())
}

/// The next request: its head in small letters, and its body.
async fn request(stream: &mut TcpStream, held: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some(at) = held.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = format!("{}\r\n", String::from_utf8_lossy(&held[..at]).to_lowercase());
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                .unwrap_or(0_usize);
            if held.len() >= at + 4 + length {
                let body = held[at + 4..at + 4 + length].to_vec();
                held.drain(..at + 4 + length);
                return Some((head, body));
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => held.extend_from_slice(&chunk[..read]),
        }
    }
}

struct Place {
    _folder: tempfile::TempDir,
    world: World,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let world = World {
            wall: Arc::new(Wall::new(folder.path()).expect("a wall")),
            environment: Arc::default(),
            scratch: folder.path().join("scratch"),
        };
        Self { _folder: folder, world }
    }

    async fn start(&self, servers: Value, connect: Duration) -> Mcp {
        let mut options = Options::new(self.world.wall.root().to_owned(), Vec::new(), &|_| None);
        options.watcher = Watcher::Nobody;
        options.connect = connect;
        let servers = config::of_value(&servers, "dynamic", &|_| None).expect("a configuration");
        let mcp = Mcp::start(servers, HostRequests::default(), options);
        mcp.ready().await;
        mcp
    }

    async fn call(&self, mcp: &Mcp, name: &str, input: Value, cancel: CancellationToken) -> Given {
        let tool = mcp.tools().into_iter().find(|tool| tool.spec().name == name).expect(name);
        let cx = Cx {
            call: "call_1",
            cancel,
            world: &self.world,
            tell: &|_| {},
        };
        tool.run(&input, &cx).await
    }
}

fn text(given: &Given) -> String {
    let texts = given.content.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_server_is_listed_called_and_left() {
    within(60, async {
        let (server, place) = (Server::start().await, Place::new());
        let url = format!("{}/sse", server.address);
        let servers = json!({"old": {"type": "sse", "url": url, "headers": {"X-Token": "right"}}});
        let mcp = place.start(servers, Duration::from_secs(20)).await;
        let status = &mcp.status()[0];
        assert_eq!(status.status, Status::Connected, "{status:?}");
        let go = async |name: &str, input: Value| place.call(&mcp, &format!("mcp__old__{name}"), input, CancellationToken::new()).await;
        assert_eq!(text(&go("echo", json!({"text": "hä?\n\nyes"})).await), "hä?\n\nyes");

        // Calls side by side find their own answers.
        let (one, two) = tokio::join!(go("echo", json!({"text": "1"})), go("echo", json!({"text": "2"})));
        assert_eq!((text(&one).as_str(), text(&two).as_str()), ("1", "2"));

        // A call without an answer is left; one whose stream ends is told so, and the next one opens another.
        let (cancel, began) = (CancellationToken::new(), Instant::now());
        let stop = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            cancel.cancel();
        };
        let (hung, ()) = tokio::join!(place.call(&mcp, "mcp__old__hang", json!({}), cancel.clone()), stop);
        assert!(hung.status == ResultStatus::Error && began.elapsed() < Duration::from_secs(10));
        for (name, why) in [("drop", "closed its stream"), ("flood", "more than 16 MiB")] {
            let ended = go(name, json!({})).await;
            assert!(
                ended.status == ResultStatus::Error && text(&ended).contains(why),
                "{name}: {}",
                text(&ended)
            );
            assert_eq!(text(&go("echo", json!({"text": "on"})).await), "on", "{name}");
        }
        assert_eq!(server.opened.load(Ordering::Relaxed), 3);
        mcp.stop().await;
    });
}

#[test]
fn servers_that_do_not_come_up_say_why() {
    within(60, async {
        let (server, place) = (Server::start().await, Place::new());
        let at = |path: &str, token: &str| json!({"type": "sse", "url": format!("{}{path}", server.address), "headers": {"X-Token": token}});
        let nobody = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("it has one");
        let servers = json!({
            "shut": at("/sse", "wrong"),
            "barred": {"type": "http", "url": format!("{}/mcp", server.address)},
            "missing": at("/nothing", "right"),
            "page": at("/open/page", "right"),
            "elsewhere": at("/open/elsewhere", "right"),
            "moved": at("/open/moved", "right"),
            "silent": at("/open/silent", "right"),
            "nobody": {"type": "sse", "url": format!("http://{nobody}/sse")},
            "nowhere": {"type": "sse", "url": "no address"},
        });
        let mcp = place.start(servers, Duration::from_secs(2)).await;
        for (known, (name, status, why)) in mcp.status().iter().zip([
            ("shut", Status::NeedsAuth, ""),
            // Streamable HTTP, and nothing said of how to log in.
            ("barred", Status::NeedsAuth, ""),
            ("missing", Status::Failed, "it answered 404 Not Found"),
            ("page", Status::Failed, "text/html"),
            ("elsewhere", Status::Failed, "another host (http://other.example)"),
            ("moved", Status::Failed, "it answered 302 Found"),
            ("silent", Status::Failed, "2 s"),
            ("nobody", Status::Failed, "refused"),
            ("nowhere", Status::Failed, "its address is none"),
        ]) {
            assert_eq!((known.name.as_str(), known.status), (name, status), "{known:?}");
            assert!(known.error.as_deref().unwrap_or_default().contains(why), "{known:?}");
        }
        mcp.stop().await;
    });
}

#[test]
fn hosts_are_told_which_servers_want_a_login() {
    within(60, async {
        let server = Server::start().await;
        let told = |token: &str| json!({"type": "sse", "url": format!("{}/sse", server.address), "headers": {"X-Token": token}});
        let config = json!({"mcpServers": {"old": told("right"), "shut": told("wrong")}}).to_string();
        let echo = ("mcp__old__echo", json!({"text": "from afar"}));
        let play = Play::script(vec![Answer::calls(&[echo]), Answer::text("All done.")]);
        let mut args = vec!["--mcp-config", &config];
        args.extend(PRINT);
        args.push("go");
        let command = play.command("claude", &args);
        let end = tokio::task::spawn_blocking(move || run(command)).await.expect("it runs");
        assert_eq!(end.code(), 0, "{end:#?}");
        let servers = end.lines[0]["mcp_servers"].as_array().expect("init names the servers");
        let told: Vec<_> = servers
            .iter()
            .map(|server| (server["name"].as_str(), server["status"].as_str()))
            .collect();
        assert_eq!(told, [(Some("old"), Some("connected")), (Some("shut"), Some("needs-auth"))], "{end:#?}");
        assert!(play.server.asked()[1].all().contains("from afar"));
    });
}
