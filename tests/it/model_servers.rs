//! Model servers that are not ours: aimock (npm) and fakellm (PyPI), on the loopback interface, both APIs each.
//!
//! Without Python, npm or a way to install the packages the tests say so and pass.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentglot::adapters::raw::event::{Event, Kind, StopKind, ToolKind, Topic};
use agentglot::agent::model::message::{CallResult, Message, Part, Role};
use agentglot::agent::tools::Spec;
use agentglot::backend::model::{Api, Ask, Catalog, Client, Endpoint, Gather, Key, Model, ModelError, ModelErrorKind};
use serde_json::json;

use crate::common::skipped;
use crate::installed::{node_modules, python};
use crate::support::free_port;

/// A server that runs, and is ended with the test.
struct Running {
    child: Child,
    port: u16,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn aimock() {
    let bin = match node_modules("servers/package.json") {
        Ok(modules) => modules.join(".bin"),
        Err(why) => return skipped("aimock", why),
    };
    let server = start(|port| {
        let mut command = Command::new(bin.join("node"));
        command.arg(std::fs::canonicalize(bin.join("llmock")).expect("the package brings it"));
        // The cut needs time between the chunks.
        command
            .args(["-p", &port.to_string(), "-c", "8", "-l", "5", "-f"])
            .arg(lists().join("aimock.json"));
        command
    });
    for api in [Api::Openai, Api::Anthropic] {
        talk(api, server.port, "hello", "Hello! How can I help you today?");
        works(api, server.port);
        let (result, gather, _) = ask(api, server.port, &[Rc::new(Message::user("be cut"))]);
        assert_eq!(result.unwrap_err().kind, ModelErrorKind::Incomplete, "{api:?}");
        assert!(!gather.is_whole() && gather.stop().is_none());
        let came = gather.message().text();
        assert!("This answer is going to be cut off".starts_with(came.trim()), "{api:?}: {came}");
        // It asks for a second each time.
        let begun = Instant::now();
        let (result, _, retries) = ask(api, server.port, &[Rc::new(Message::user("too many"))]);
        let error = result.unwrap_err();
        assert_eq!((error.kind, error.status, retries), (ModelErrorKind::RateLimit, Some(429), 2), "{api:?}");
        assert!(begun.elapsed() >= Duration::from_secs(2), "{api:?}: Retry-After is kept");
    }
}

#[test]
fn fakellm() {
    let python = match python("servers/requirements.txt") {
        Ok(python) => python,
        Err(why) => return skipped("fakellm", why),
    };
    let server = start(|port| {
        let mut command = Command::new(python.with_file_name("fakellm"));
        command
            .args(["serve", "--port", &port.to_string(), "--config"])
            .arg(lists().join("fakellm.yaml"));
        command
    });
    for api in [Api::Openai, Api::Anthropic] {
        talk(api, server.port, "hello", "Hi there!");
        let (result, gather, _) = ask(api, server.port, &[Rc::new(Message::user("read one"))]);
        result.unwrap();
        let message = gather.message();
        let calls: Vec<_> = message.calls().collect();
        assert_eq!((calls.len(), calls[0].name.as_str()), (1, "read_file"), "{api:?}");
        let input: serde_json::Value = serde_json::from_str(&calls[0].input).unwrap();
        assert_eq!(input, json!({"path": "a.txt"}));
        assert_eq!(gather.stop().map(|(kind, _)| kind), Some(StopKind::Tools), "{api:?}");
    }
}

/// Text alone.
fn talk(api: Api, port: u16, prompt: &str, answer: &str) {
    let (result, gather, retries) = ask(api, port, &[Rc::new(Message::user(prompt))]);
    result.unwrap();
    assert_eq!((gather.message().text().as_str(), retries), (answer, 0), "{api:?}");
    assert_eq!(gather.stop().map(|(kind, _)| kind), Some(StopKind::Done));
    assert!(gather.is_whole());
}

/// A thought, a text, two calls; then their results and the end.
fn works(api: Api, port: u16) {
    let mut messages = vec![Rc::new(Message::user("read both"))];
    let (result, gather, _) = ask(api, port, &messages);
    result.unwrap();
    let reply = gather.message();
    assert_eq!(reply.text(), "Reading both.", "{api:?}");
    let thought = reply
        .parts
        .iter()
        .any(|part| matches!(part, Part::Thinking { text, .. } if text == "Two files are wanted."));
    assert!(thought, "{api:?}: {reply:?}");
    let calls: Vec<(String, String)> = reply.calls().map(|call| (call.name.clone(), call.input.clone())).collect();
    assert_eq!(
        calls,
        [
            ("read_file".to_owned(), "{\"path\":\"a.txt\"}".to_owned()),
            ("list_dir".to_owned(), "{\"path\":\"src\"}".to_owned())
        ]
    );
    assert_eq!(gather.stop().map(|(kind, _)| kind), Some(StopKind::Tools));
    let results = reply.calls().map(|call| {
        Part::Result(CallResult {
            call: call.id.clone(),
            content: vec![Part::Text("héllo".into())],
            is_error: false,
        })
    });
    let results = Message {
        role: Role::User,
        parts: results.collect(),
    };
    messages.extend([reply, results].map(Rc::new));
    let (result, gather, _) = ask(api, port, &messages);
    result.unwrap();
    assert_eq!(gather.message().text(), "They say: héllo ✓", "{api:?}");
}

/// Asks once; gives what came and how often it was tried again.
fn ask(api: Api, port: u16, messages: &[Rc<Message>]) -> (Result<(), ModelError>, Gather, u32) {
    let mut endpoint = Endpoint::new(api, Some(&format!("http://127.0.0.1:{port}")), Some(Key::of(api, "mock-key")));
    endpoint.patience.retries = 2;
    let client = Client::new(endpoint, Arc::new(Catalog::builtin())).unwrap();
    let model = match api {
        Api::Openai => "gpt-4o",
        Api::Anthropic => "claude-sonnet-4-5",
    };
    let tools = ["read_file", "list_dir"].map(|name| {
        Rc::new(Spec {
            name: name.into(),
            description: "looks".into(),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            kind: ToolKind::Other,
            reads_only: true,
            owner: None,
        })
    });
    let ask = Ask {
        model,
        system: "Be brief.",
        messages,
        tools: &tools,
        max_tokens: Some(1000),
        ..Ask::default()
    };
    let mut gather = Gather::new(api, model);
    let mut retries = 0;
    let mut hear = |event: &Event<'_>| {
        retries += u32::from(matches!(event.kind, Kind::Notice(notice) if notice.topic == Topic::Retry));
        gather.event(event);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), client.reply(&ask, &mut hear)).await });
    (result.expect("an answer in time"), gather, retries)
}

/// Starts a server on a free port and waits until it listens.
fn start(command: impl Fn(u16) -> Command) -> Running {
    let port = free_port();
    let mut command = command(port);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut running = Running {
        child: child.unwrap_or_else(|error| panic!("{command:?}: {error}")),
        port,
    };
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(running.child.try_wait().unwrap().is_none(), "{command:?} has ended");
        assert!(Instant::now() < until, "{command:?} does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    running
}

fn lists() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers")
}
