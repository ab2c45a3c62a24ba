//! Plain use: somebody reads text, and is told on standard error what the text does not say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Scratch, program};

const VARIABLES: [&str; 7] = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "AGENTGLOT_BACKEND",
    "XDG_CONFIG_HOME",
];

fn plain(home: &Scratch, env: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = program();
    command.args(args).current_dir(home.path("")).env("HOME", home.path(""));
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.envs(env.iter().copied());
    command
}

fn run(env: &[(&str, &str)], args: &[&str]) -> Output {
    plain(&Scratch::new(), env, args).output().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A server of OpenAI's API that has these models; it answers every call with one text, and tells which model each call asked for.
fn server(models: &'static str) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut first, mut length) = (String::new(), 0);
            stream.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let (kind, answer) = if first.starts_with("GET /v1/models ") {
                ("application/json", models.to_owned())
            } else {
                let asked: serde_json::Value = serde_json::from_slice(&body).unwrap();
                tell.send(asked["model"].as_str().unwrap().to_owned()).unwrap();
                let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}"#;
                ("text/event-stream", format!("data: {chunk}\n\ndata: [DONE]\n\n"))
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            stream.get_mut().write_all((head + &answer).as_bytes()).unwrap();
        }
    });
    (url, told)
}

#[test]
fn a_local_server_is_asked_for_its_models() {
    let (url, asked) = server(r#"{"object":"list","data":[{"id":"my-model"},{"id":"other"}]}"#);
    let output = run(&[("OPENAI_BASE_URL", &url)], &["run", "--as", "claude", "--", "-p", "Hi"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"Hello.\n"[..]), "{}", err(&output));
    assert_eq!(asked.recv().unwrap(), "my-model");
    assert!(
        err(&output).contains("model:openai answers, for its key or address is set in the environment"),
        "{}",
        err(&output)
    );
    let output = run(
        &[("OPENAI_BASE_URL", &url), ("AGENTGLOT_BACKEND", "model:openai")],
        &["run", "--as", "claude", "--", "-p", "--model", "named", "Hi"],
    );
    assert_eq!((asked.recv().unwrap().as_str(), err(&output).as_str()), ("named", ""));
}

#[test]
fn doctor_says_what_would_run_and_asks_the_server_when_it_is_to() {
    let (url, _asked) = server(r#"{"object":"list","data":[{"id":"my-model"}]}"#);
    let report = |args: &[&str]| -> (serde_json::Value, Option<i32>) {
        let output = run(&[("OPENAI_BASE_URL", &url)], args);
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    };
    let (told, code) = report(&["doctor", "--json"]);
    assert_eq!((code, &told["servers"][0]["models"]), (Some(0), &serde_json::Value::Null));
    for link in told["links"].as_array().unwrap() {
        assert_eq!(link["backend"], "model:openai, by the environment", "{link}");
    }
    assert_eq!(report(&["doctor", "--json", "--probe"]).0["servers"][0]["models"][0], "my-model");
    // Nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone = format!("http://127.0.0.1:{port}/v1");
    let output = run(&[("OPENAI_BASE_URL", &gone)], &["doctor", "--probe"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Connection refused"));
}

#[test]
fn a_broken_configuration_is_not_called_absent() {
    let home = Scratch::new();
    home.file("agentglot.toml", "backend = \n");
    let output = plain(&home, &[], &["doctor"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("agentglot.toml:1") && !text.contains("no agentglot.toml here or above"),
        "{text}"
    );
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (variable, backend) in [("OPENAI_BASE_URL", "model:openai"), ("ANTHROPIC_BASE_URL", "model:anthropic")] {
        let begun = Instant::now();
        let output = run(
            &[(variable, &format!("http://127.0.0.1:{port}")), ("AGENTGLOT_BACKEND", backend)],
            &["run", "--as", "claude", "--", "-p", "Hi"],
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert!(String::from_utf8_lossy(&output.stdout).contains("Connection refused"), "{output:?}");
    }
}

#[test]
fn an_address_without_a_scheme_is_told_with_its_variable() {
    let output = run(&[("OPENAI_BASE_URL", "localhost:8080/v1")], &["run", "--as", "cursor", "--", "-p", "Hi"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(err(&output).contains("OPENAI_BASE_URL is \"localhost:8080/v1\"") && err(&output).contains("http://localhost:8080/v1 may be meant"));
}

#[test]
fn each_retry_is_a_line_on_standard_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // Whoever breaks off does not mind.
            let _ = stream.read(&mut [0; 1 << 16]);
            let _ = stream.write_all(b"HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\nretry-after-ms: 10\r\nconnection: close\r\n\r\n");
        }
    });
    let env = [
        ("OPENAI_BASE_URL", &*url),
        ("OPENAI_MODEL", "m"),
        ("AGENTGLOT_MODEL_RETRIES", "2"),
        ("AGENTGLOT_BACKEND", "model:openai"),
    ];
    let output = run(&env, &["run", "--as", "claude", "--", "-p", "Hi"]);
    let err = err(&output);
    let retries: Vec<&str> = err.lines().filter(|line| line.contains("trying again in 0.0 s")).collect();
    assert_eq!(retries.len(), 2, "{err}");
    assert!(retries[0].contains("503") && retries[0].ends_with("(1 of 2)"), "{err}");
    // A host's stream has the same numbers, and none that are made up.
    let output = run(
        &env,
        &["run", "--as", "claude", "--", "-p", "--output-format", "stream-json", "--verbose", "Hi"],
    );
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let retry: serde_json::Value = lines
        .lines()
        .find(|line| line.contains("api_retry"))
        .map(|line| serde_json::from_str(line).unwrap())
        .unwrap();
    assert_eq!(
        (&retry["attempt"], &retry["max_retries"], &retry["error_status"]),
        (&1.into(), &2.into(), &503.into())
    );
    assert_eq!((&retry["retry_delay_ms"], &retry["error"]), (&10.into(), &"overloaded".into()));
}

#[test]
fn denied_calls_are_told_with_the_flag_that_helps() {
    for dialect in ["claude", "qwen-code", "cursor"] {
        let demo = |more: &[&str]| {
            let args = [&["run", "--as", dialect, "--backend", "demo"], more, &["--", "-p", "What is here?"]].concat();
            err(&run(&[], &args))
        };
        assert!(demo(&[]).contains("1 tool call was denied; --on-ask"), "{dialect}: {}", demo(&[]));
        assert!(!demo(&["--on-ask", "Write,Edit,create_file,write_file"]).contains("denied"), "{dialect}");
    }
}

#[test]
fn tricode_without_stdio_writes_text() {
    let demo = |more: &[&str], args: &[&str]| run(&[], &[&["run", "--as", "tricode", "--backend", "demo"], more, &["--"], args].concat());
    let output = demo(&["--on-ask", "Write,Edit,create_file,write_file"], &["What is here?"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        output.status.success() && !text.contains('{') && text.trim().lines().count() >= 1,
        "{output:?}"
    );
    let lines = demo(&["--on-ask", "Write,Edit,create_file,write_file"], &["--stdio", "What is here?"]);
    let last = String::from_utf8(lines.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(text, format!("{}\n", last["content"].as_str().unwrap()));
    let output = demo(&[], &["What is here?"]);
    assert!(err(&output).contains("1 tool call was denied; --on-ask"), "{output:?}");
    // A model that cannot be had is said where the answer would stand.
    let env = [
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
        ("OPENAI_MODEL", "m"),
        ("AGENTGLOT_BACKEND", "model:openai"),
    ];
    let output = run(&env, &["run", "--as", "tricode", "--", "x"]);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("OpenAI API error: "), "{output:?}");
}

#[test]
fn a_tool_that_nobody_has_is_an_error() {
    let output = run(
        &[],
        &["run", "--as", "claude", "--backend", "demo", "--on-ask", "Read,Bsh", "--", "-p", "Hi"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("no agent has a tool called \"Bsh\"; did you mean \"Bash\"?"),
        "{}",
        err(&output)
    );
    let output = run(
        &[],
        &[
            "run",
            "--as",
            "claude",
            "--backend",
            "demo",
            "--on-ask",
            "mcp__my__tool,NotebookEdit",
            "--",
            "-p",
            "Hi",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
}

#[test]
fn what_was_said_is_not_lost_when_the_run_is_stopped() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1 << 16]);
        let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"So far."}}]}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        stream.write_all(format!("{head}data: {chunk}\n\n").as_bytes()).unwrap();
        tell.send(()).unwrap();
        // Until the other side hangs up.
        let _ = stream.read(&mut [0; 1]);
    });
    let home = Scratch::new();
    let env = [("OPENAI_BASE_URL", &*url), ("OPENAI_MODEL", "m"), ("AGENTGLOT_BACKEND", "model:openai")];
    let child = plain(&home, &env, &["run", "--as", "claude", "--", "-p", "Hi"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    told.recv_timeout(Duration::from_secs(30)).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("So far.\n"), "{output:?}");
    assert_eq!(output.status.code(), Some(130));
}
