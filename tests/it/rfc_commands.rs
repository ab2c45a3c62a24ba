//! Chat Requests, commands, hints, cancelling and versions of the RFC, answered by the built-in agent over a scripted model.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::rfc::Keeper;

/// A model that does what the last message says: `SLOW` says a word and then nothing, `HOSTTOOL` calls the tool `weather`, all else is said back.
#[derive(Clone, Default)]
struct Model {
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = self.asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let asked = asked.clone();
                std::thread::spawn(move || answer(stream, &asked));
            }
        });
        format!("http://{address}/v1")
    }

    fn last(&self) -> Value {
        self.asked.lock().unwrap().last().cloned().unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn words(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

fn answer(mut stream: TcpStream, asked: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some((_, value)) = line.split_once(':').filter(|(key, _)| key.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    asked.lock().unwrap().push(body);
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        format!(
            "data: {}\n\n",
            json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
        )
    };
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let (text, user) = (words(&last), last["role"] == "user");
    let (delta, reason) = if user && text.contains("HOSTTOOL") {
        let call = json!({"index": 0, "id": "call_h", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Ulm\"}"}});
        (json!({"tool_calls": [call]}), "tool_calls")
    } else {
        if user && text.contains("SLOW") {
            write!(stream, "{}", chunk(json!({"content": "begun"}), None))?;
            stream.flush()?;
            std::thread::sleep(Duration::from_secs(30));
        }
        (json!({"content": format!("heard: {text}")}), "stop")
    };
    write!(stream, "{}{}data: [DONE]\n\n", chunk(delta, None), chunk(json!({}), Some(reason)))
}

struct Host {
    home: tempfile::TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    model: Model,
}

impl Host {
    fn new() -> Self {
        Self::with(&|_| {})
    }

    fn with(prepare: &dyn Fn(&std::path::Path)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        fs::create_dir(&work).unwrap();
        prepare(home.path());
        let model = Model::default();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command.args(["run", "--as", "qwen", "--backend", "model:openai", "--"]);
        command.args(["--input-format", "stream-json", "--output-format", "stream-json"]);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home.path());
        command
            .env("OPENAI_BASE_URL", model.start())
            .env("OPENAI_API_KEY", "k")
            .env("OPENAI_MODEL", "m")
            .env("NO_PROXY", "127.0.0.1");
        command
            .current_dir(&work)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (give, lines) = channel();
        std::thread::spawn(move || {
            let mut keeper = Keeper::default();
            for line in stdout.lines().map_while(Result::ok) {
                let _ = give.send(keeper.line(&line));
            }
        });
        Self {
            stdin: child.stdin.take(),
            home,
            child,
            lines,
            model,
        }
    }

    fn say(&mut self, line: Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn prompt(&mut self, text: &str) {
        self.say(json!({"input": {"origin": "user", "parts": [{"type": "text", "text": text}]}, "session_id": self.session()}));
    }

    /// The session's id is not known before the receipt: without one, a new session.
    fn session(&self) -> &'static str {
        "_new"
    }

    fn until(&self, what: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(20);
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if what(&line) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error}: {seen:#?}"),
            }
        }
    }

    fn kind(&self, kind: &str) -> Value {
        self.until(|line| line["type"] == kind)
    }

    fn summary(&self) -> Value {
        self.until(|line| line["metadata"]["summary"] == "true")["metadata"].clone()
    }

    /// The next result of a command.
    fn result(&self) -> Value {
        self.kind("result/command")["result"].clone()
    }

    fn command(&mut self, text: &str) -> Value {
        self.prompt(text);
        self.result()
    }

    fn end(mut self) -> Option<i32> {
        self.stdin.take();
        self.child.wait().unwrap().code()
    }
}

#[test]
fn each_command_is_answered_with_its_own_result_and_begins_no_turn() {
    let mut host = Host::with(&|home| {
        fs::create_dir_all(home.join(".qwen/commands")).unwrap();
        fs::write(home.join(".qwen/commands/review.md"), "Review !{echo from-the-shell} of $ARGUMENTS").unwrap();
    });
    for (text, kind) in [
        ("/help", "dialog"),
        ("?", "dialog"),
        ("/clear", "handled"),
        ("/chat list", "message"),
        ("/model", "dialog"),
        ("/model other-model", "message"),
        ("/tools", "message"),
        ("/mcp", "message"),
        ("/stats", "message"),
        ("/memory show", "message"),
        ("/memory add wool is soft", "message"),
        ("/init", "submit_prompt"),
        ("/theme", "dialog"),
        ("/quit", "quit"),
        ("/quit-confirm", "quit_confirmation"),
    ] {
        let result = host.command(text);
        assert_eq!(result["type"], kind, "{text}: {result}");
        assert_ne!(result["status"], "error", "{text}: {result}");
    }
    assert!(
        fs::read_to_string(host.home.path().join("work/QWEN.md"))
            .unwrap()
            .contains("- wool is soft")
    );
    for text in ["/nothing", "/chat save ../x", "/chat resume nobody", "/chat delete nobody", "/compress"] {
        let result = host.command(text);
        assert_eq!(
            (&result["type"], &result["status"]),
            (&"message".into(), &"error".into()),
            "{text}: {result}"
        );
    }
    let asks = host.command("/review the loom");
    assert_eq!(asks, json!({"type": "confirm_shell_commands", "commands": ["echo from-the-shell"]}));
    let approved = json!({"kind": "slash", "path": ["review"], "args": "the loom; echo !{no}", "approvedCommands": ["echo from-the-shell"]});
    host.say(json!({"input": {"origin": "user", "parts": [], "command": approved}}));
    let submitted = host.result();
    assert_eq!(submitted["type"], "submit_prompt");
    assert_eq!(submitted["parts"][0]["text"], "Review from-the-shell\n of the loom; echo !{no}");
    host.say(json!({"input": {"origin": "system", "parts": [{"type": "instruction", "text": "/clear"}]}}));
    assert_eq!(host.result()["type"], "handled");
    assert_eq!(host.model.count(), 0);
    assert_eq!(host.end(), Some(0));
}

#[test]
fn a_conversation_is_kept_under_a_name_and_taken_up_again() {
    let mut host = Host::new();
    host.prompt("the red thread");
    host.summary();
    let session = {
        host.say(json!({"type": "heartbeat_request"}));
        host.kind("result/heartbeat")["session_id"].clone()
    };
    let text = |text: &str| json!({"session_id": session, "input": {"origin": "user", "parts": [{"type": "text", "text": text}]}});
    host.say(text("/chat save one"));
    assert!(host.result()["content"].as_str().unwrap().contains("saved"));
    host.say(text("/chat save one"));
    assert_eq!(host.result()["type"], "confirm_action");
    let again = json!({"kind": "slash", "path": ["chat", "save"], "args": "one", "confirmationOutcome": "once"});
    host.say(json!({"session_id": session, "input": {"origin": "user", "parts": [], "command": again}}));
    assert_eq!(host.result()["type"], "message");
    let chats = host.home.path().join(".local/state/agentglot/chats");
    let file = fs::read_dir(fs::read_dir(chats).unwrap().next().unwrap().unwrap().path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    host.say(text("/clear"));
    assert_eq!(host.result()["type"], "handled");
    host.say(text("what was it?"));
    host.summary();
    assert!(!host.model.last()["messages"].to_string().contains("red thread"));
    host.say(text("/chat resume one"));
    assert_eq!(host.result()["history"][0], json!({"role": "user", "content": "the red thread"}));
    host.say(text("and now?"));
    host.summary();
    assert!(host.model.last()["messages"].to_string().contains("red thread"));
    assert_eq!(host.end(), Some(0));
}

#[test]
fn requests_choose_sessions_ids_models_options_and_tools() {
    let mut host = Host::new();
    let prompt = json!({"origin": "user", "parts": [{"type": "text", "text": "fir"}, {"type": "text", "text": "st"}]});
    let options = json!({"temperature": 0.5, "top_p": 0.25, "max_tokens": 77, "tool_overrides": ["read_file"]});
    host.say(json!({"session_id": "_new", "prompt_id": "p1", "model": "special", "input": prompt, "options": options}));
    let receipt = host.until(|_| true);
    assert_eq!(receipt["metadata"]["protocol_version"], "1");
    assert_eq!(receipt["metadata"]["input_format"], "stream-json");
    assert!(receipt["metadata"]["capabilities"].as_str().unwrap().contains("command_hint"));
    assert_eq!(host.summary()["outcome"], "success");
    let asked = host.model.last();
    assert_eq!(
        (&asked["model"], &asked["temperature"], &asked["top_p"]),
        (&"special".into(), &json!(0.5), &json!(0.25))
    );
    assert_eq!(words(asked["messages"].as_array().unwrap().last().unwrap()), "first");
    let tools = |asked: &Value| {
        asked["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(tools(&asked), ["read_file"]);
    let first = receipt["id"].as_str().unwrap().trim_start_matches("chatcmpl-").to_owned();
    // The same session goes on, without the options of the one before.
    host.say(json!({"session_id": first, "input": {"parts": [{"type": "text", "text": "second"}]}}));
    host.summary();
    let asked = host.model.last();
    assert!(
        asked["model"] != "special" && asked["temperature"].is_null() && tools(&asked).len() > 3,
        "{asked}"
    );
    assert!(asked["messages"].to_string().contains("first"));
    // Another session knows nothing of it, and has a receipt of its own.
    host.say(json!({"model": "m", "messages": [
        {"role": "user", "content": "before"}, {"role": "assistant", "content": "indeed"}, {"role": "user", "content": "third"}
    ]}));
    let other = host.until(|line| line["metadata"]["protocol_version"] == "1");
    assert_ne!(other["id"], receipt["id"]);
    host.summary();
    let said = host.model.last()["messages"].to_string();
    assert!(!said.contains("first") && said.contains("before") && said.contains("indeed"), "{said}");
    // Back again.
    host.say(json!({"session_id": first, "input": {"parts": [{"type": "text", "text": "fourth"}]}}));
    host.summary();
    assert!(host.model.last()["messages"].to_string().contains("second"));
    for (request, code) in [
        (
            json!({"session_id": "nobody", "input": {"parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_UNKNOWN_SESSION",
        ),
        (
            json!({"prompt_id": "p1", "input": {"parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_DUPLICATE_PROMPT_ID",
        ),
        (json!({"input": {"parts": []}}), "QWEN_INVALID_REQUEST"),
        (json!({"input": {"parts": [{"type": "song"}]}}), "QWEN_INVALID_REQUEST"),
        (json!({"input": {"parts": "text"}}), "QWEN_INVALID_REQUEST"),
        (
            json!({"input": {"origin": "moon", "parts": [{"type": "text", "text": "x"}]}}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "text", "text": "x"}]}, "options": 3}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "text", "text": "x"}]}, "tools": [{"type": "function"}]}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"input": {"parts": [{"type": "file_data", "file_uri": "/etc/passwd"}]}}),
            "QWEN_INVALID_REQUEST",
        ),
        (
            json!({"tool_call_id": "none", "input": {"origin": "tool_response", "parts": []}}),
            "QWEN_INVALID_REQUEST",
        ),
    ] {
        let before = host.model.count();
        host.say(request.clone());
        let summary = host.summary();
        assert!(
            summary["error"].as_str().is_some_and(|error| error.starts_with(code)),
            "{request}: {summary}"
        );
        assert_eq!(host.model.count(), before, "{request}");
    }
    host.prompt("still here");
    assert_eq!(host.summary()["outcome"], "success");
    assert_eq!(host.end(), Some(0));
}

#[test]
fn the_host_runs_its_own_tools() {
    let mut host = Host::new();
    let tool = json!({"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}});
    host.say(json!({"input": {"parts": [{"type": "text", "text": "HOSTTOOL"}]}, "tools": [tool]}));
    let call = host.until(|line| line["choices"][0]["message"]["tool_calls"][0]["id"] == "call_h");
    assert_eq!(call["choices"][0]["message"]["tool_calls"][0]["function"]["name"], "weather");
    let response = json!({"type": "function_response", "function_response": {"name": "weather", "response": {"output": "rain"}}});
    host.say(json!({"input": {"origin": "tool_response", "tool_call_id": "call_h", "parts": [response]}}));
    assert_eq!(host.summary()["outcome"], "success");
    let asked = host.model.last();
    assert_eq!(words(asked["messages"].as_array().unwrap().last().unwrap()), "rain");
    // Cancelled while the host works: the call is answered.
    let tool = json!({"type": "function", "function": {"name": "weather"}});
    host.say(json!({"input": {"parts": [{"type": "text", "text": "HOSTTOOL"}]}, "tools": [tool]}));
    host.until(|line| line.to_string().contains("executing"));
    host.say(json!({"type": "control/cancel", "reason": "escape"}));
    assert_eq!(host.kind("result/cancel")["status"], "ok");
    host.until(|line| line.to_string().contains("\"canceled\""));
    assert_eq!(host.summary()["outcome"], "cancelled");
    assert_eq!(host.end(), Some(0));
}

#[test]
fn files_are_named_in_prompts() {
    let mut host = Host::with(&|home| {
        fs::write(home.join("work/a b.txt"), "the blank one").unwrap();
        fs::write(home.join("outside.txt"), "not for you").unwrap();
    });
    host.prompt("read @a\\ b.txt and @../outside.txt, me@home");
    let line = host.kind("result/command");
    assert_eq!(
        line["command"],
        json!({"kind": "at", "references": [{"original": "@a\\ b.txt", "resolved": "a b.txt"}]})
    );
    assert_eq!(
        (&line["result"]["type"], &line["result"]["skipped"][0]["original"]),
        (&"handled".into(), &"@../outside.txt".into())
    );
    host.summary();
    let said = host.model.last()["messages"].to_string();
    assert!(said.contains("the blank one") && !said.contains("not for you"), "{said}");
    let command = json!({"kind": "at", "references": [{"original": "@it", "resolved": "a b.txt"}]});
    host.say(json!({"input": {"parts": [{"type": "text", "text": "see @it"}], "command": command}}));
    assert_eq!(host.result()["type"], "handled");
    host.summary();
    assert!(host.model.last()["messages"].to_string().contains("the blank one"));
    let command = json!({"kind": "at", "references": [{"original": "@x", "resolved": "../outside.txt"}]});
    host.say(json!({"input": {"parts": [{"type": "text", "text": "@x"}], "command": command}}));
    assert_eq!(host.result()["status"], "error");
    assert_eq!(host.end(), Some(0));
}

#[test]
fn signs_of_life_hints_and_cancelling_are_answered_while_the_model_works() {
    let mut host = Host::with(&|home| fs::write(home.join("work/loom.py"), "").unwrap());
    host.say(json!({"type": "control/cancel"}));
    assert_eq!(host.until(|_| true)["metadata"]["protocol_version"], "1");
    assert_eq!(host.kind("result/cancel")["status"], "noop");
    host.say(json!({"session_id": "_new", "prompt_id": "slow", "input": {"parts": [{"type": "text", "text": "SLOW"}]}}));
    let until = Instant::now() + Duration::from_secs(20);
    while host.model.count() == 0 {
        assert!(Instant::now() < until, "the model is not asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut took = Vec::new();
    for n in 0..100 {
        let begun = Instant::now();
        host.say(json!({"type": "heartbeat_request", "prompt_id": format!("h{n}")}));
        assert_eq!(host.kind("result/heartbeat")["prompt_id"], format!("h{n}"));
        took.push(begun.elapsed());
    }
    took.sort();
    println!("heartbeats in a model call: p50 {:?}, p99 {:?}", took[50], took[98]);
    assert!(took[98] < Duration::from_secs(1), "{took:?}");
    let hint = |trigger: &str, text: &str, cursor: u64| json!({"type": "command_hint_request", "prompt_id": "preview", "trigger": trigger, "text": text, "cursor": cursor});
    host.say(hint("slash", "/c and more", 2));
    let line = host.kind("result/command_hint");
    let labels: Vec<_> = line["suggestions"].as_array().unwrap().iter().map(|one| one["label"].clone()).collect();
    assert_eq!(labels, ["chat", "clear", "compress"]);
    assert_eq!(
        (&line["prompt_id"], &line["metadata"]["is_perfect_match"]),
        (&"preview".into(), &false.into())
    );
    host.say(hint("slash", "/?", 2));
    let line = host.kind("result/command_hint");
    assert_eq!(
        (&line["suggestions"][0]["label"], &line["suggestions"][0]["matchedIndex"]),
        (&"help".into(), &json!(0))
    );
    assert_eq!(line["metadata"]["is_perfect_match"], true);
    host.say(hint("slash", "/chat l", 7));
    assert_eq!(host.kind("result/command_hint")["suggestions"][0]["value"], "list");
    host.say(hint("at", "@lo", 3));
    assert_eq!(host.kind("result/command_hint")["status"], "loading");
    assert_eq!(host.kind("result/command_hint")["suggestions"][0]["value"], "loom.py");
    host.say(hint("moon", "x", 1));
    assert_eq!(host.kind("result/command_hint")["status"], "error");
    host.say(json!({"type": "command_hint_request", "trigger": "at", "text": "@", "cursor": 1, "context": {"cwd": "/etc"}}));
    assert!(host.kind("result/command_hint")["message"].as_str().unwrap().contains("outside"));
    host.say(json!({"type": "control/cancel", "prompt_id": "another", "reason": "escape"}));
    assert_eq!(host.kind("result/cancel")["status"], "noop");
    let begun = Instant::now();
    host.say(json!({"type": "control/cancel", "prompt_id": "slow", "reason": "escape"}));
    let line = host.kind("result/cancel");
    assert_eq!(
        (&line["status"], &line["prompt_id"], &line["message"]),
        (&"ok".into(), &"slow".into(), &"Request cancelled.".into())
    );
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(host.kind("x-qwen-session-event")["event"], "USER_CANCELLED");
    assert_eq!(host.summary()["outcome"], "cancelled");
    host.say(json!({"type": "heartbeat_request"}));
    let session = host.kind("result/heartbeat")["session_id"].clone();
    host.say(json!({"session_id": session, "input": {"parts": [{"type": "text", "text": "go on"}]}}));
    host.summary();
    let said = host.model.last()["messages"].to_string();
    assert!(said.contains("Request cancelled.") && !said.contains("/chat l"), "{said}");
    assert_eq!(host.end(), Some(0));
}

#[test]
fn a_version_that_nobody_speaks_ends_the_run() {
    for version in [json!(3), json!("2")] {
        let mut host = Host::new();
        host.say(json!({"protocol_version": version, "input": {"parts": [{"type": "text", "text": "x"}]}}));
        let line = host.until(|_| true);
        assert_eq!(line["choices"][0]["finish_reason"], "error", "{line}");
        assert_eq!(line["metadata"]["error"], "unsupported_protocol");
        assert_eq!(host.child.wait().unwrap().code(), Some(2));
    }
    let mut host = Host::new();
    host.say(json!({"protocol_version": "1", "input": {"parts": [{"type": "text", "text": "x"}]}}));
    assert_eq!(host.summary()["outcome"], "success");
    assert_eq!(host.end(), Some(0));
}
