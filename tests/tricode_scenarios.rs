//! The built-in agent as Tricode, judged by recordings of the real program: the same workspace, arguments, standard input and model,
//! so the same lines. The scenarios are beside the repository; without them there is nothing to judge.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use regex_lite::Regex;
use serde_json::{Value, json};

/// Scenarios whose lines are others here, and why: docs/agent.md tells the same.
const OTHERS: [(&str, &str); 5] = [
    (
        "bad_arguments",
        "the real program dies of arguments that are no JSON; here they are an error that the model reads",
    ),
    (
        "fetch_web",
        "no search engine is configured; the recording has the error of a network that was not there",
    ),
    ("surrogate", "the real program dies of half a character"),
    (
        "symbols_refs",
        "search_symbol, list_symbols and search_references, which the model is not told of, are not there",
    ),
    ("tools_whitelist", "a tool that --tools leaves out does not run"),
];

#[test]
fn recorded_scenarios_give_the_recorded_lines() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let Ok(text) = std::fs::read_to_string(shared.join("harness/tricode/scenarios.json")) else {
        return;
    };
    let all: Value = serde_json::from_str(&text).unwrap();
    let only = std::env::var("SCENARIO").ok();
    let mut same = 0;
    let mut wrong = Vec::new();
    let scenarios = all["scenarios"].as_object().unwrap();
    for (name, scenario) in scenarios.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == *name)) {
        let recorded = std::fs::read_to_string(shared.join(format!("recordings/tricode/{name}.jsonl"))).unwrap();
        let about = std::fs::read_to_string(shared.join(format!("recordings/tricode/{name}.meta.json"))).unwrap();
        let about: Value = serde_json::from_str(&about).unwrap();
        let ran = run(&all, scenario);
        let (want, got) = (lines(&recorded, "/workspace"), lines(&ran.stdout, &ran.root));
        let alike = want == got && about["exit_code"].as_i64() == ran.code.map(i64::from);
        let known = OTHERS.iter().any(|(other, _)| other == name);
        same += usize::from(alike);
        if alike == known {
            let first = want.iter().zip(&got).position(|(a, b)| a != b).unwrap_or(want.len().min(got.len()));
            wrong.push(format!(
                "{name}: {}, exit {:?} for {}\n  want {:?}\n  got  {:?}\n  {}",
                if alike { "the same, and called another" } else { "another" },
                ran.code,
                about["exit_code"],
                want.get(first),
                got.get(first),
                ran.stderr
            ));
        }
    }
    println!("{same} of {} scenarios are the same", scenarios.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Ran {
    stdout: String,
    stderr: String,
    code: Option<i32>,
    root: String,
}

fn run(all: &Value, scenario: &Value) -> Ran {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap().join("workspace");
    make(&root, &all["workspace"], all["workspace_mtime"].as_u64().unwrap());
    let home = scratch.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let server = Server::start(scenario["model"].as_array().unwrap().clone());
    let args = scenario["argv"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_agentglot"))
        .args(["run", "--as", "tricode", "--backend", "model:openai", "--"])
        .args(args)
        .current_dir(&root)
        .env_clear()
        .envs([
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", home.display().to_string()),
            ("TZ", "UTC".to_owned()),
            ("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port)),
            ("OPENAI_API_KEY", "sk-test".to_owned()),
            ("OPENAI_MODEL", "mock-model".to_owned()),
            ("AGENTGLOT_MODEL_RETRIES", "1".to_owned()),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    if let Some(text) = scenario["stdin"].as_str() {
        // A program that reads nothing may be gone by now.
        let _ = stdin.write_all(text.as_bytes());
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Ran {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        root: root.display().to_string(),
    }
}

fn make(root: &Path, files: &Value, time: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(time);
    let mut folders = BTreeMap::new();
    for (name, text) in files.as_object().unwrap() {
        let path: PathBuf = root.join(name);
        let folder = path.parent().unwrap();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, text.as_str().unwrap()).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        folders.insert(folder.to_owned(), ());
    }
    for folder in folders.keys().filter(|folder| *folder != root) {
        std::fs::File::open(folder).unwrap().set_modified(time).unwrap();
    }
}

/// The lines without what differs from run to run: ids, the workspace, owners, sizes of folders, times.
fn lines(text: &str, root: &str) -> Vec<String> {
    let text = text.replace(root, "/W");
    let id = Regex::new(r"(Session ID: |Resumed session )[0-9a-f]{8}").unwrap();
    let text = id.replace_all(&text, "${1}ID");
    // The words of the system prompt are our own.
    let prompt = Regex::new(r"(?s)(\[0\] Role: system\n  Content: ).*?\.\.\. \(truncated\)").unwrap();
    let text = prompt.replace_all(&text, "${1}PROMPT");
    let response = Regex::new("Response ID: \\S+").unwrap();
    let text = response.replace_all(&text, "Response ID: ID");
    let other = Regex::new(r"(symbol_id|reference_id)=[0-9a-f]{16}").unwrap();
    let text = other.replace_all(&text, "${1}=ID");
    let entry = Regex::new(r"([-d][-rwx]{9})[.+]? +\d+ \S+ +\S+ +(\d+) \w{3} [ \d]\d +[\d:]+ ").unwrap();
    let text = entry.replace_all(&text, |found: &regex_lite::Captures<'_>| {
        let size = if found[1].starts_with('d') { "" } else { &found[2] };
        format!("{} {size} ", &found[1])
    });
    let total = Regex::new(r"total \d+\\n").unwrap();
    let text = total.replace_all(&text, "total\\n");
    text.lines().map(str::to_owned).collect()
}

/// A model that says what the script says, as a stream.
struct Server {
    port: u16,
}

impl Server {
    fn start(script: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(script);
        let next = Arc::new(AtomicUsize::new(0));
        let session = Arc::new(Mutex::new(String::new()));
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, next, session) = (script.clone(), next.clone(), session.clone());
                std::thread::spawn(move || while serve(&stream, &script, &next, &session).is_some() {});
            }
        });
        Self { port }
    }
}

/// Answers one request; `None` at the end of the connection.
fn serve(stream: &TcpStream, script: &[Value], next: &AtomicUsize, session: &Mutex<String>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let started = Regex::new("Session ([0-9a-f]{8}) started").unwrap();
    let mut session = session.lock().unwrap();
    for message in body["messages"].as_array()? {
        if let Some(found) = message["content"].as_str().and_then(|text| started.captures(text)) {
            *session = found[1].to_owned();
        }
    }
    let number = next.fetch_add(1, Ordering::Relaxed);
    let step = &script[number.min(script.len() - 1)];
    let mut to = stream;
    if let Some(status) = step["status"].as_u64() {
        let text = step["body"].to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        return to.write_all(format!("{head}{text}").as_bytes()).ok();
    }
    let mut said = String::new();
    for chunk in chunks(step, number, &session) {
        said.push_str(&format!("data: {chunk}\n\n"));
    }
    said.push_str("data: [DONE]\n\n");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    to.write_all(head.as_bytes()).ok()?;
    for piece in said.as_bytes().chunks(97) {
        to.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).ok()?;
        to.write_all(piece).ok()?;
        to.write_all(b"\r\n").ok()?;
    }
    to.write_all(b"0\r\n\r\n").ok()
}

/// A step as the chunks of a stream.
fn chunks(step: &Value, number: usize, session: &str) -> Vec<String> {
    if let Some(raw) = step["raw"].as_str() {
        // As text: it may hold what no JSON library takes.
        let chunk = raw
            .replace("\"chat.completion\"", "\"chat.completion.chunk\"")
            .replace("\"message\"", "\"delta\"");
        return vec![chunk];
    }
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": "mock-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    };
    let mut chunks = vec![chunk(json!({"role": "assistant"}), Value::Null)];
    let content: Vec<char> = step["content"].as_str().unwrap_or_default().chars().collect();
    for piece in content.chunks(3) {
        chunks.push(chunk(json!({"content": piece.iter().collect::<String>()}), Value::Null));
    }
    let none = Vec::new();
    let calls = step["calls"].as_array().unwrap_or(&none);
    for (at, call) in calls.iter().enumerate() {
        let arguments = call[1]
            .as_str()
            .map_or_else(|| call[1].to_string(), str::to_owned)
            .replace("{sid}", session);
        let begin = json!({"index": at, "id": format!("call_{number}_{at}"), "type": "function", "function": {"name": call[0], "arguments": ""}});
        chunks.push(chunk(json!({"tool_calls": [begin]}), Value::Null));
        let arguments: Vec<char> = arguments.chars().collect();
        for piece in arguments.chunks(5) {
            let more = json!({"index": at, "function": {"arguments": piece.iter().collect::<String>()}});
            chunks.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    chunks.push(chunk(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" })));
    chunks.push(json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": "mock-model", "choices": [],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }));
    chunks.iter().map(Value::to_string).collect()
}
