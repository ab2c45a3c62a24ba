//! What hosts of the RFC see of the built-in agent's work: terminal output, displays of calls, events of the session.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZero;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::rfc::Keeper;

/// What the model answers to a request: the delta and why it stops; `Err` is a status without an answer.
type Script = dyn Fn(&Value) -> Result<(Value, &'static str), u16> + Send + Sync;

fn model(script: Box<Script>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let script: Arc<Script> = Arc::from(script);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let script = Arc::clone(&script);
            std::thread::spawn(move || answer(stream, &*script));
        }
    });
    format!("http://{address}/v1")
}

fn answer(mut stream: TcpStream, script: &Script) -> std::io::Result<()> {
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
    let (delta, reason) = match script(&serde_json::from_slice(&body)?) {
        Ok(said) => said,
        Err(status) => {
            let body = r#"{"error":{"message":"the loom is busy","type":"server_error"}}"#;
            return write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nretry-after-ms: 5\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    };
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], "usage": usage});
        format!("data: {chunk}\n\n")
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{}{}data: [DONE]\n\n",
        chunk(delta, None),
        chunk(json!({}), Some(reason))
    )
}

fn call(id: &str, name: &str, arguments: &Value) -> (Value, &'static str) {
    let call = json!({"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    (json!({"tool_calls": [call]}), "tool_calls")
}

fn done() -> (Value, &'static str) {
    (json!({"content": "done"}), "stop")
}

/// How many calls have been answered.
fn results(request: &Value) -> usize {
    let all = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|message| message["role"] == "tool").count()
}

/// One call of a tool, then `done`.
fn calls(name: &'static str, arguments: Value) -> Box<Script> {
    Box::new(move |request| {
        Ok(match results(request) {
            0 => call("c1", name, &arguments),
            _ => done(),
        })
    })
}

struct Session {
    home: tempfile::TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    seen: Vec<Value>,
}

impl Session {
    /// A session in front of this model, with one prompt.
    fn begin(script: Box<Script>, args: &[&str], files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        fs::create_dir(&work).unwrap();
        for (name, text) in files {
            fs::write(work.join(name), text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command.args(["run", "--as", "qwen", "--backend", "model:openai", "--"]).args(args);
        if !args.contains(&"--output-format") {
            command.args(["--input-format", "stream-json", "--output-format", "stream-json"]);
        }
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command
            .env("HOME", home.path())
            .env("OPENAI_BASE_URL", model(script))
            .env("OPENAI_API_KEY", "k");
        command.env("NO_PROXY", "127.0.0.1").current_dir(work);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            let mut keeper = Keeper::default();
            for line in stdout.lines().map_while(Result::ok) {
                let _ = tell.send(keeper.line(&line));
            }
        });
        let mut session = Self {
            home,
            stdin: child.stdin.take(),
            child,
            lines,
            seen: Vec::new(),
        };
        session.say(&json!({"session_id": "_new", "input": {"origin": "user", "parts": [{"type": "text", "text": "go"}]}}));
        session
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line of which this holds.
    fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self
                .lines
                .recv_timeout(Duration::from_secs(30))
                .unwrap_or_else(|_| panic!("nothing comes behind {:#?}", self.seen));
            self.seen.push(line.clone());
            if holds(&line) {
                return line;
            }
        }
    }

    /// All lines, and the folder that it worked in.
    fn end(mut self) -> (Vec<Value>, tempfile::TempDir) {
        self.until(|line| line["metadata"]["summary"] == "true");
        drop(self.stdin.take());
        self.seen.extend(self.lines.iter());
        assert!(self.child.wait().unwrap().success());
        (self.seen, self.home)
    }
}

/// The annotations of a type, each with the content beside it.
fn annotations<'l>(lines: &'l [Value], kind: &str) -> Vec<(&'l Value, &'l Value)> {
    let mut found = Vec::new();
    for line in lines {
        for choice in line["choices"].as_array().into_iter().flatten() {
            let said = if choice["delta"].is_object() {
                &choice["delta"]
            } else {
                &choice["message"]
            };
            for annotation in said["annotations"].as_array().into_iter().flatten() {
                if annotation["type"] == kind {
                    found.push((annotation, &said["content"]));
                }
            }
        }
    }
    found
}

/// Events of the session, in lines of their own or in annotations.
fn events<'l>(lines: &'l [Value], name: &str) -> Vec<&'l Value> {
    let alone = lines.iter().filter(|line| line["type"] == "x-qwen-session-event");
    let beside = annotations(lines, "x-qwen-session-event").into_iter().map(|(event, _)| event);
    alone.chain(beside).filter(|event| event["event"] == name).collect()
}

/// The bytes of one channel, put together from text and sequences.
fn bytes(lines: &[Value], channel: &str) -> String {
    let mut out = String::new();
    for (terminal, content) in annotations(lines, "x-qwen-terminal") {
        if terminal["channel"] != channel {
            continue;
        }
        assert_eq!(terminal["source"], "tool");
        let mut text = content.as_str().unwrap_or_default().chars();
        let mut at = 0;
        for ansi in terminal["ansi"].as_array().unwrap() {
            let offset = ansi["offset"].as_u64().unwrap() as usize;
            out.extend(text.by_ref().take(offset - at));
            at = offset;
            out.push_str(ansi["sequence"].as_str().unwrap());
        }
        out.extend(text);
    }
    out
}

/// The screen of a terminal that shows this, with its colours.
fn screen(bytes: &[u8]) -> (String, String, (u16, u16)) {
    let mut terminal = vt100::Parser::new(NonZero::new(24).unwrap(), NonZero::new(60).unwrap(), 0);
    // A terminal makes a carriage return of its own at each line feed of a program.
    for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if n > 0 {
            terminal.process(b"\r\n");
        }
        terminal.process(line);
    }
    let screen = terminal.screen();
    (screen.contents(), screen.contents_formatted(), screen.cursor_position())
}

/// Colours of all kinds, a line that is written over, the cursor going up and back, wide and joined characters, a title, a cleared screen.
const PIECES: &[&str] = &[
    "plain \u{1b}[1;32mgr",
    "ün\u{1b}[0m \u{1b}[38;5;208morange\u{1b}[39m \u{1b}[48;2;10;20;30mback\u{1b}[49m\n",
    "10%\r20%\r\u{1b}[K30%\n\u{1b}]0;a tit",
    "le\u{7}世界 \u{1b}[4m한국\u{1b}[24m e\u{301} 👩‍👩‍👧\n",
    "up\u{1b}[1Aover\u{1b}",
    "[5D<\u{1b}[s\u{1b}[10;20Hfar\u{1b}[u>\u{1b}[3;1H\u{1b}[7minverse\u{1b}[27m\n\u{1b}(B\u{1b}[?25l",
];

#[test]
fn the_screen_is_the_one_that_the_tool_made() {
    for format in ["stream-json", "stream-chunk-json"] {
        // Each piece comes in a write of its own, cut in the middle of sequences and of characters.
        let mut script = String::from("import os, time\n");
        for piece in PIECES {
            let (head, tail) = piece.as_bytes().split_at(piece.len() / 2);
            for part in [head, tail] {
                let numbers: Vec<String> = part.iter().map(u8::to_string).collect();
                script.push_str(&format!("os.write(1, bytes([{}]))\ntime.sleep(0.02)\n", numbers.join(",")));
            }
            script.push_str("os.write(2, b'\\x1b[31mwarn\\x1b[0m\\n')\n");
        }
        let model = calls("run_shell_command", json!({"command": "python3 paint.py", "is_background": false}));
        let args = ["--yolo", "--input-format", "stream-json", "--output-format", format];
        let (lines, _home) = Session::begin(model, &args, &[("paint.py", &script)]).end();
        let whole = PIECES.concat();
        assert_eq!(bytes(&lines, "stdout"), whole, "{format}");
        assert_eq!(screen(bytes(&lines, "stdout").as_bytes()), screen(whole.as_bytes()));
        let warned = "\u{1b}[31mwarn\u{1b}[0m\n".repeat(PIECES.len());
        assert_eq!(bytes(&lines, "stderr"), warned);
        assert_eq!(screen(bytes(&lines, "stderr").as_bytes()), screen(warned.as_bytes()));
        // The spans alone, without the sequences, say what is coloured.
        let terminals = annotations(&lines, "x-qwen-terminal");
        let red = terminals.iter().filter(|(terminal, _)| terminal["channel"] == "stderr");
        for (terminal, content) in red {
            let spans = terminal["spans"].as_array().unwrap();
            let of = |span: &Value, key: &str| span[key].as_u64().unwrap() as usize;
            for span in spans {
                let said: String = content
                    .as_str()
                    .unwrap()
                    .chars()
                    .skip(of(span, "start_index"))
                    .take(of(span, "end_index") - of(span, "start_index"))
                    .collect();
                assert_eq!((said.as_str(), &span["style"]["theme_token"]), ("warn", &json!("AccentRed")));
            }
        }
        // The model reads both streams.
        let displays = annotations(&lines, "x-qwen-tool-display");
        let (last, _) = displays.last().unwrap();
        let text = last["result_display"]["text"].as_str().unwrap();
        assert!(text.contains("warn") && text.contains("世界"), "{last}");
    }
}

/// The states of a call, in their order.
fn states(lines: &[Value], id: &str) -> Vec<String> {
    let displays = annotations(lines, "x-qwen-tool-display");
    let of_call = displays.iter().filter(|(display, _)| display["tool_call_id"] == id);
    of_call.map(|(display, _)| display["status"].as_str().unwrap().to_owned()).collect()
}

fn is_asked(line: &Value) -> bool {
    line["type"] == "control_request"
}

fn leave(asked: &Value, behavior: &str) -> Value {
    let result = json!({"behavior": behavior, "message": "not today"});
    json!({"type": "control_response", "request_id": asked["request_id"], "response": {"subtype": "success", "result": result}})
}

#[test]
fn calls_are_shown_through_their_whole_life() {
    let command = json!({"command": "git status; exit 3", "is_background": false});
    for (name, arguments, answer, last) in [
        ("run_shell_command", command.clone(), "approve", "error"),
        ("run_shell_command", command, "deny", "canceled"),
        (
            "write_file",
            json!({"file_path": "loom.txt", "content": "one\ntwo\n"}),
            "approve",
            "success",
        ),
        (
            "write_file",
            json!({"file_path": "loom.txt", "content": "one\ntwo\n"}),
            "deny",
            "canceled",
        ),
    ] {
        let mut session = Session::begin(calls(name, arguments), &[], &[]);
        let asked = session.until(is_asked);
        session.say(&leave(&asked, answer));
        let (lines, home) = session.end();
        let runs = if answer == "approve" {
            &["pending", "confirming", "executing"][..]
        } else {
            &["pending", "confirming"]
        };
        assert_eq!(states(&lines, "c1"), [runs, &[last]].concat(), "{name} {answer}");
        let displays = annotations(&lines, "x-qwen-tool-display");
        let (confirming, _) = displays.iter().find(|(display, _)| display["status"] == "confirming").unwrap();
        let (shown, _) = displays.last().unwrap();
        let confirmation = &confirming["confirmation"];
        if name == "run_shell_command" {
            assert_eq!(
                (&confirmation["type"], &confirmation["command"], &confirmation["rootCommand"]),
                (&json!("exec"), &json!("git status; exit 3"), &json!("git"))
            );
        } else {
            assert_eq!((&confirmation["type"], &confirmation["fileName"]), (&json!("edit"), &json!("loom.txt")));
            assert!(confirmation["fileDiff"].as_str().unwrap().contains("+two"), "{confirmation}");
            assert_eq!(home.path().join("work/loom.txt").exists(), answer == "approve");
        }
        if (name, answer) == ("write_file", "approve") {
            let display = &shown["result_display"];
            assert_eq!(
                (&display["kind"], &display["stat"]["ai_added_lines"]),
                (&json!("file_diff"), &json!(2)),
                "{display}"
            );
        }
        if answer == "deny" {
            assert!(shown["result_display"]["text"].as_str().unwrap().contains("not today"), "{shown}");
        }
    }
}

#[test]
fn lists_and_plans_have_kinds_of_their_own() {
    let todos = json!({"todos": [{"id": "1", "content": "warp", "status": "in_progress"}, {"id": "2", "content": "weft", "status": "pending"}]});
    let (lines, _home) = Session::begin(calls("todo_write", todos), &["--yolo"], &[]).end();
    let displays = annotations(&lines, "x-qwen-tool-display");
    let (shown, _) = displays.last().unwrap();
    assert_eq!(shown["result_display"]["kind"], "todo_list", "{shown}");
    assert_eq!(
        shown["result_display"]["todos"][0],
        json!({"id": "1", "content": "warp", "status": "in_progress"})
    );

    let mut session = Session::begin(
        calls("exit_plan_mode", json!({"plan": "# Weave\n- warp"})),
        &["--approval-mode", "plan"],
        &[],
    );
    let asked = session.until(is_asked);
    session.say(&leave(&asked, "approve"));
    let (lines, _home) = session.end();
    let displays = annotations(&lines, "x-qwen-tool-display");
    let (confirming, _) = displays.iter().find(|(display, _)| display["status"] == "confirming").unwrap();
    assert_eq!(
        (&confirming["confirmation"]["type"], &confirming["confirmation"]["plan"]),
        (&json!("plan"), &json!("# Weave\n- warp"))
    );
    let (shown, _) = displays.last().unwrap();
    assert_eq!(
        (&shown["result_display"]["kind"], &shown["result_display"]["plan_markdown"]),
        (&json!("plan_summary"), &json!("# Weave\n- warp"))
    );
}

#[test]
fn a_subagent_is_shown_while_it_works() {
    let model: Box<Script> = Box::new(|request| {
        let is_main = request["tools"]
            .as_array()
            .is_some_and(|all| all.iter().any(|tool| tool["function"]["name"] == "agent"));
        Ok(match (is_main, results(request)) {
            (true, 0) => call(
                "main",
                "agent",
                &json!({"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}),
            ),
            (false, 0) => call("below", "run_shell_command", &json!({"command": "echo found", "is_background": false})),
            (false, 1) => (json!({"content": "it is there"}), "stop"),
            _ => done(),
        })
    });
    let (lines, _home) = Session::begin(model, &["--yolo"], &[]).end();
    let displays = annotations(&lines, "x-qwen-tool-display");
    assert!(
        states(&lines, "below").is_empty(),
        "the RFC has no lines of a subagent's own: {displays:#?}"
    );
    let told: Vec<_> = displays
        .iter()
        .filter(|(display, _)| display["result_display"]["kind"] == "task_execution")
        .map(|(display, _)| {
            let task = &display["result_display"];
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (word(&display["status"]), word(&task["status"]), word(&task["toolCalls"][0]["status"]))
        })
        .collect();
    let as_told = |display: &str, task: &str, call: &str| (display.to_owned(), task.to_owned(), call.to_owned());
    assert_eq!(
        told,
        [
            as_told("executing", "running", "executing"),
            as_told("executing", "running", "success"),
            as_told("success", "completed", "success"),
        ]
    );
}

#[test]
fn limits_cuts_and_new_attempts_are_events() {
    let always: Box<Script> = Box::new(|request| Ok(call(&format!("c{}", results(request)), "list_directory", &json!({"path": "."}))));
    let (lines, _home) = Session::begin(always, &["--yolo", "--max-session-turns", "2"], &[]).end();
    let [event] = events(&lines, "MaxSessionTurns")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["metrics"]["max_session_turns"], 2);

    let (lines, _home) = Session::begin(Box::new(|_| Ok((json!({"content": "a long sto"}), "length"))), &[], &[]).end();
    let [event] = events(&lines, "MAX_TOKENS")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["message"], "Response truncated due to token limits.");

    let asked = std::sync::atomic::AtomicUsize::new(0);
    let busy: Box<Script> = Box::new(move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => Err(503),
        _ => Ok(done()),
    });
    let (lines, _home) = Session::begin(busy, &[], &[]).end();
    let [event] = events(&lines, "Retry")[..] else { panic!("{lines:#?}") };
    assert_eq!(
        (&event["metrics"]["attempt"], &event["metrics"]["error_status"]),
        (&json!(1), &json!(503)),
        "{event}"
    );

    let mut session = Session::begin(
        calls("run_shell_command", json!({"command": "sleep 60", "is_background": false})),
        &["--yolo"],
        &[],
    );
    session.until(|line| line.to_string().contains("\"executing\""));
    session.say(&json!({"type": "control/cancel", "session_id": "any", "reason": "escape"}));
    let (lines, _home) = session.end();
    let [event] = events(&lines, "USER_CANCELLED")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["message"], "User cancelled the request.");
    assert_eq!(states(&lines, "c1").last().unwrap(), "canceled");
}
