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

use fancy_regex::Regex;
use serde_json::{Value, json};

use crate::common::skipped;

/// Scenarios whose lines are others here, and why: docs/agent.md tells the same.
const OTHERS: [(&str, &str); 4] = [
    (
        "bad_arguments",
        "the real program dies of arguments that are no JSON; here they are an error that the model reads",
    ),
    (
        "search_no_rg",
        "there was no ripgrep where it was recorded; with it the last line found has its end, and is counted",
    ),
    ("surrogate", "the real program dies of half a character"),
    ("tools_whitelist", "a tool that --tools leaves out does not run"),
];

#[test]
fn recorded_scenarios_give_the_recorded_lines() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let Ok(text) = std::fs::read_to_string(shared.join("harness/tricode/scenarios.json")) else {
        return skipped("recorded scenarios of Tricode", "they are not beside this clone");
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
    /// What the model was asked.
    asked: Vec<Value>,
}

impl Ran {
    /// The lines of some types, in short: `round 1`, `call NAME`, `ok NAME`, `failed NAME: WHY`, `reminder TEXT`, `final TEXT`.
    fn told(&self) -> Vec<String> {
        let line = |line: &str| {
            let line: Value = serde_json::from_str(&line[line.find("{\"type\": \"")?..]).ok()?;
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            Some(match text("type") {
                "round" => format!("round {}", line["number"]),
                "tool_call" => format!("call {}", text("name")),
                "tool_result" if line["success"] == true => format!("ok {}", text("name")),
                "tool_result" => format!("failed {}: {}", text("name"), text("result")),
                "reminder" => format!("reminder {}", text("message")),
                "final" => format!("final {}", text("content")),
                _ => text("message").to_owned(),
            })
        };
        self.stdout.lines().filter_map(line).collect()
    }

    /// The session's id.
    fn session(&self) -> String {
        let told = self.told();
        told[0].rsplit(' ').next().unwrap().to_owned()
    }
}

fn says(text: &str) -> Value {
    json!({"content": text})
}

fn calls(calls: &[(&str, Value)]) -> Value {
    json!({"content": null, "calls": calls})
}

fn skips() -> Value {
    calls(&[("plan", json!({"action": "skip"}))])
}

const FREE: &[&str] = &["--stdio", "--bypass-permission", "go"];

#[test]
fn a_choice_holds_for_a_call_or_for_all_of_its_tool() {
    let stage = Stage::new();
    let create = |name: &str| calls(&[("create_file", json!({"path": name, "content": "x"}))]);
    let model = json!([skips(), create("a"), create("b"), create("c"), says("done")]);
    let ran = stage.run(&["--stdio", "go"], "1\n2\n", &model);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("DESTRUCTIVE OPERATION").count(), 2, "{}", ran.stdout);
    assert_eq!(
        ran.stdout.matches("Your choice [1/2/3/4]: {\"type\": \"tool_result\"").count(),
        2,
        "{}",
        ran.stdout
    );
    assert!(["a", "b", "c"].iter().all(|name| stage.root.join(name).exists()));
    assert_eq!(ran.told().last().unwrap(), "final done");
}

#[test]
fn open_tasks_are_reminded_of_until_they_are_done() {
    let stage = Stage::new();
    let update = |status: &str| ("plan", json!({"action": "update", "task_id": 1, "status": status}));
    let read = || ("list_directory", json!({}));
    let run = || ("run_command", json!({"command": "true"}));
    let model = json!([
        calls(&[("plan", json!({"action": "create", "tasks": ["only"]}))]),
        calls(&[update("in_progress"), run(), read()]),
        calls(&[run(), run()]),
        says("done"),
        calls(&[update("completed")]),
        says("really done"),
    ]);
    let ran = stage.run(FREE, "", &model);
    let told = ran.told();
    let reminders: Vec<&String> = told.iter().filter(|line| line.starts_with("reminder")).collect();
    assert_eq!(reminders.len(), 3, "{told:#?}");
    assert!(reminders[0].starts_with("reminder ⚠️ Task [1] 'only' is in_progress."), "{reminders:?}");
    assert!(
        reminders[1].starts_with("reminder ⚠️ WARNING: You performed 3 significant operations"),
        "{reminders:?}"
    );
    assert_eq!(
        reminders[2],
        "reminder ⚠️ WARNING: 1 task(s) still incomplete:\n  [1] in_progress  - only\n\nYou must complete all tasks before finishing."
    );
    // Each result behind its call, also of calls that were made together.
    let second: Vec<&str> = told.iter().skip_while(|line| *line != "round 2").take(8).map(String::as_str).collect();
    assert_eq!(
        second[..7],
        [
            "round 2",
            "call plan",
            "ok plan",
            "call run_command",
            "ok run_command",
            "call list_directory",
            "ok list_directory"
        ]
    );
    assert_eq!(told.last().unwrap(), "final really done");
    assert_eq!(told.iter().filter(|line| line.starts_with("final")).count(), 1);
    // The model reads the reminder too.
    let last = ran.asked.last().unwrap()["messages"].to_string();
    assert!(last.contains("still incomplete"), "{last}");
}

#[test]
fn calls_of_a_reply_stand_in_its_order_and_each_line_found_is_counted() {
    let stage = Stage::new();
    for n in 0..300 {
        let text = if n % 150 == 7 { "a needle\n" } else { "hay\n" };
        std::fs::write(stage.root.join(format!("f{n}.txt")), text.repeat(1 + n)).unwrap();
    }
    std::fs::write(stage.root.join("f7.txt"), "a needle\n").unwrap();
    std::fs::write(stage.root.join("f157.txt"), "the needle").unwrap();
    // What takes longest comes first, and all of it only reads.
    let round = [
        ("search_context", json!({"pattern": "needle"})),
        ("list_directory", json!({"recursive": true})),
        ("read_file", json!({"path": "f7.txt"})),
        ("search_context", json!({"pattern": "needle", "path": "f7.txt"})),
        ("read_file", json!({"path": "f0.txt"})),
    ];
    let ran = stage.run(FREE, "", &json!([skips(), calls(&round), says("done")]));
    let told = ran.told();
    let wanted = round.iter().flat_map(|(name, _)| [format!("call {name}"), format!("ok {name}")]);
    let from = told.iter().position(|line| line == "round 2").unwrap() + 1;
    assert_eq!(told[from..from + 10], wanted.collect::<Vec<_>>(), "{told:#?}");
    let found: Vec<Value> = ran
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line["type"] == "tool_result" && line["name"] == "search_context")
        .collect();
    let [all, one] = &found[..] else { panic!("{found:?}") };
    let root = &ran.root;
    let lines = format!("{root}/f157.txt:1:the needle\n{root}/f7.txt:1:a needle\n");
    assert_eq!((&all["result"], &all["formatted"]), (&json!(lines), &json!("[OK] 2 results")));
    assert_eq!((&one["result"], &one["formatted"]), (&json!("1:a needle\n"), &json!("[OK] 1 results")));
}

#[test]
fn a_session_is_gone_on_with_and_so_is_its_plan() {
    let stage = Stage::new();
    let plan = calls(&[("plan", json!({"action": "create", "tasks": ["one", "two"]}))]);
    let broken = json!({"status": 400, "body": {"error": {"message": "no more"}}});
    let first = stage.run(FREE, "", &json!([plan, broken]));
    assert_eq!(first.stdout.lines().last().unwrap(), "OpenAI API error: Error code: 400 - no more");
    assert_eq!(first.code, Some(0));
    let id = first.session();
    assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");

    // A first answer is not held back, though tasks are open.
    let args = ["--stdio", "--bypass-permission", "-r", &id, "again"];
    let second = stage.run(&args, "", &json!([says("hello")]));
    assert_eq!(
        second.told(),
        [format!("Resumed session {id}"), "round 1".to_owned(), "final hello".to_owned()]
    );
    let asked = second.asked[0]["messages"].to_string();
    assert!(asked.contains("\"again\"") && asked.contains("\"go\""), "{asked}");

    // With the plan of the first run no decision has to be made again.
    let check = calls(&[("list_directory", json!({})), ("plan", json!({"action": "check"}))]);
    let done = |task: u64| ("plan", json!({"action": "update", "task_id": task, "status": "completed"}));
    let third = stage.run(&args, "", &json!([check, says("bye"), calls(&[done(1), done(2)]), says("bye now")]));
    let told = third.told();
    assert_eq!(
        told[2..6],
        ["call list_directory", "ok list_directory", "call plan", "ok plan"],
        "{told:#?}"
    );
    assert!(told[7].contains("2 task(s) still incomplete"), "{told:#?}");
    assert_eq!(told.last().unwrap(), "final bye now");
}

#[test]
fn a_tool_that_is_left_out_does_not_run() {
    let stage = Stage::new();
    let model = json!([skips(), calls(&[("run_command", json!({"command": "touch ran"}))]), says("done")]);
    let args = ["--stdio", "--bypass-permission", "--tools", "read_file", "go"];
    let ran = stage.run(&args, "", &model);
    assert!(
        ran.told().contains(&"failed run_command: Unknown tool: run_command".to_owned()),
        "{}",
        ran.stdout
    );
    assert!(!stage.root.join("ran").exists());
    let tools: Vec<&str> = ran.asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(tools, ["read_file", "plan"]);
}

fn run(all: &Value, scenario: &Value) -> Ran {
    let stage = Stage::new();
    make(&stage.root, &all["workspace"], all["workspace_mtime"].as_u64().unwrap());
    let args: Vec<&str> = scenario["argv"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    stage.run(&args, scenario["stdin"].as_str().unwrap_or_default(), &scenario["model"])
}

/// A workspace and a home.
struct Stage {
    home: tempfile::TempDir,
    root: PathBuf,
    _scratch: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        // A path as long as `/workspace`: what is cut to a length is cut where it was recorded.
        let scratch = tempfile::Builder::new().prefix("").rand_bytes(3).tempdir_in("/tmp").unwrap();
        let root = scratch.path().canonicalize().unwrap().join("w");
        std::fs::create_dir(&root).unwrap();
        Self {
            home: tempfile::tempdir().unwrap(),
            root,
            _scratch: scratch,
        }
    }

    fn run(&self, args: &[&str], stdin: &str, model: &Value) -> Ran {
        let server = Server::start(model.as_array().unwrap().clone());
        let mut child = Command::new(env!("CARGO_BIN_EXE_agentglot"))
            .args(["run", "--as", "tricode", "--backend", "model:openai", "--"])
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .envs([
                ("PATH", std::env::var("PATH").unwrap_or_default()),
                ("HOME", self.home.path().display().to_string()),
                ("TZ", "UTC".to_owned()),
                ("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port)),
                ("OPENAI_API_KEY", "sk-test".to_owned()),
                ("OPENAI_MODEL", "mock-model".to_owned()),
                ("AGENTGLOT_MODEL_RETRIES", "1".to_owned()),
                ("AGENTGLOT_SEARCH_ENGINE", format!("https://{NOWHERE}/search?source=web")),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        // A program that reads nothing may be gone by now.
        let _ = to.write_all(stdin.as_bytes());
        drop(to);
        let output = child.wait_with_output().unwrap();
        Ran {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            root: self.root.display().to_string(),
            asked: std::mem::take(&mut *server.asked.lock().unwrap()),
        }
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

/// A host that there never is (RFC 6761). Where the recordings were made there was no network, so the host of the search engine, which
/// they name, had no address.
const NOWHERE: &str = "search.brave.invalid";

/// The lines without what differs from run to run: ids, the workspace, owners, sizes of folders, times.
fn lines(text: &str, root: &str) -> Vec<String> {
    let text = text.replace(root, "/W").replace(NOWHERE, "search.brave.com");
    let id = Regex::new(r"(Session ID: |Resumed session )[0-9a-f]{8}").unwrap();
    let text = id.replace_all(&text, "${1}ID");
    // The words of the system prompt are our own.
    let prompt = Regex::new(r"(?s)(\[0\] Role: system\n  Content: ).*?\.\.\. \(truncated\)").unwrap();
    let text = prompt.replace_all(&text, "${1}PROMPT");
    let response = Regex::new("Response ID: \\S+").unwrap();
    let text = response.replace_all(&text, "Response ID: ID");
    // Made of the whole path.
    let other = Regex::new("reference_id=[0-9a-f]{16}").unwrap();
    let text = other.replace_all(&text, "reference_id=ID");
    let entry = Regex::new(r"([-d][-rwx]{9})[.+]? +\d+ \S+ +\S+ +(\d+) \w{3} [ \d]\d +[\d:]+ ").unwrap();
    let text = entry.replace_all(&text, |found: &fancy_regex::Captures<'_, str>| {
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
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    fn start(script: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(script);
        let next = Arc::new(AtomicUsize::new(0));
        let session = Arc::new(Mutex::new(String::new()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let asks = asked.clone();
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (script, next, session, asks) = (script.clone(), next.clone(), session.clone(), asks.clone());
                std::thread::spawn(move || while serve(&stream, &script, &next, &session, &asks).is_some() {});
            }
        });
        Self { port, asked }
    }
}

/// Answers one request; `None` at the end of the connection.
fn serve(stream: &TcpStream, script: &[Value], next: &AtomicUsize, session: &Mutex<String>, asked: &Mutex<Vec<Value>>) -> Option<()> {
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
        if let Some(found) = message["content"].as_str().and_then(|text| started.captures(text).unwrap()) {
            *session = found[1].to_owned();
        }
    }
    asked.lock().unwrap().push(body);
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
