//! The example hosts and the page, run as their documentation says (docs/hosts.md): both hosts in front of the demonstration and in front of
//! the built-in agent with a scripted model behind it, the page in headless Chromium.
//!
//! Python is the machine's; Node and xterm.js go into a cache folder outside the clone. What is missing is said and passed over.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::skipped;

/// How long a host may take with its script.
const PATIENCE: Duration = Duration::from_secs(90);

#[test]
fn the_python_host_in_front_of_the_demonstration() {
    demonstrated(python());
}

#[test]
fn the_typescript_host_in_front_of_the_demonstration() {
    demonstrated(typescript());
}

#[test]
fn the_python_host_in_front_of_the_built_in_agent() {
    driven(python());
}

#[test]
fn the_typescript_host_in_front_of_the_built_in_agent() {
    driven(typescript());
}

#[test]
fn both_hosts_say_when_no_sign_of_life_comes() {
    for host in [python(), typescript()].into_iter().flatten() {
        let home = tempfile::tempdir().unwrap();
        // A program that reads nothing and says nothing.
        let stuck = home.path().join("stuck");
        fs::write(&stuck, "#!/bin/sh\nsleep 3\n").unwrap();
        fs::set_permissions(&stuck, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let said = host.run(home.path(), "beat\n", &stuck, &[], &[("HOST_BEAT", "0.2"), ("HOST_PATIENCE", "1")]);
        assert!(said.contains("[no heartbeat: the agent may be stuck]"), "{said}");
    }
}

#[test]
fn the_hosts_are_short_and_need_nothing() {
    for name in ["rfc_host.py", "rfc-host.ts"] {
        let text = fs::read_to_string(examples().join(name)).unwrap();
        assert!(text.lines().count() < 150, "{name}: {} lines", text.lines().count());
        assert!(
            !text.lines().any(|line| line.contains(" from \"") && !line.contains("from \"node:")),
            "{name}"
        );
    }
}

#[test]
fn the_page_shows_the_recorded_session() {
    let node = match installed() {
        Ok(modules) => modules,
        Err(why) => return skipped("the page with xterm.js", why),
    };
    let Some(chromium) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(program) else {
        return skipped("the page with xterm.js", "there is no Chromium");
    };
    let site = tempfile::tempdir().unwrap();
    for name in ["index.html", "show.js", "session.jsonl"] {
        fs::copy(examples().join("xterm").join(name), site.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(node, site.path().join("node_modules")).unwrap();
    let address = serve(site.path().to_owned());
    let picture = site.path().join("page.png");
    let run = |what: OsString, more: &[&str]| {
        let mut command = Command::new(&chromium);
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .args(["--window-size=1100,900", "--virtual-time-budget=8000", "--no-proxy-server"])
            .arg(format!("--user-data-dir={}", site.path().join("profile").display()))
            .arg(what)
            .args(more)
            .arg(format!("{address}/index.html"))
            .env("HOME", site.path());
        ended(command, "")
    };
    let page = run("--dump-dom".into(), &[]);
    for shown in [
        // The page writes what the terminal holds below it, for readers that see no canvas.
        "I will run the tests.",
        "running 3 tests",
        "run_shell_command",
        "The tests pass",
        "\u{fc}bersetzt \u{2192} \u{4e2d}\u{6587}",
    ] {
        assert!(page.contains(shown), "{shown} is not on the page:\n{page}");
    }
    assert!(page.contains("data-lines=\"shown\""), "the page did not come to its end:\n{page}");
    let mut option = OsString::from("--screenshot=");
    option.push(&picture);
    run(option, &[]);
    let bytes = fs::read(&picture).expect("the screenshot");
    assert!(bytes.len() > 10_000, "a page of {} bytes shows nothing", bytes.len());
    if let Some(kept) = std::env::var_os("AGENTGLOT_SCREENSHOT") {
        fs::copy(&picture, kept).unwrap();
    }
}

/// A host, as an interpreter and its script.
struct Host(PathBuf, PathBuf);

impl Host {
    /// What it prints.
    fn run(&self, home: &Path, script: &str, agent: &Path, args: &[&str], env: &[(&str, &str)]) -> String {
        let work = home.join("work");
        let _ = fs::create_dir(&work);
        let file = home.join("script");
        fs::write(&file, script).unwrap();
        let mut command = Command::new(&self.0);
        command.arg(&self.1).arg("--script").arg(file).arg(agent).args(args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home).env("NO_PROXY", "127.0.0.1").envs(env.iter().copied());
        command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(work);
        ended(command, script)
    }
}

fn demonstrated(host: Option<Host>) {
    let Some(host) = host else { return };
    let home = tempfile::tempdir().unwrap();
    let script = "beat\napprove\nsay hello\ncancel\ndeny\nsay again\n";
    let said = host.run(home.path(), script, agentglot(), &["--backend", "demo"], &[]);
    in_order(
        &said,
        &[
            "[session begins, protocol 1]",
            "[beat done]",
            "The user wants to see what a session looks like.",
            "I will write a greeting into a file, if you allow it.",
            "[call write_file {\"file_path\":",
            "[may it? {\"name\":\"write_file\"",
            "[approve]",
            "[tool success: File created successfully",
            "This was a demonstration",
            "[turn ends: success]",
            "[say done]",
            "[cancel noop: Nothing to cancel.]",
            "[call agent ",
            "[turn ends: success]",
        ],
    );
    let denied = host.run(home.path(), "deny\nsay hello\n", agentglot(), &["--backend", "demo"], &[]);
    in_order(&denied, &["[may it?", "[deny]", "[tool ", "Nothing was written.", "[turn ends: success]"]);
}

fn driven(host: Option<Host>) {
    let Some(host) = host else { return };
    let home = tempfile::tempdir().unwrap();
    let url = model();
    let env = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-scripted")];
    let args = ["--backend", "model:openai", "--model", "scripted", "--approval-mode", "default"];
    let script = "approve\nsay make it\ndeny\nsay make it again\nstart be slow\nbeat\ncancel\nhint /he\nsay hello\n";
    let said = host.run(home.path(), script, agentglot(), &args, &env);
    in_order(
        &said,
        &[
            "[session begins, protocol 1]",
            "A command will do.",
            "I will make it.",
            "[call run_shell_command ",
            "[may it? {\"name\":\"run_shell_command\"",
            "[approve]",
            "made it",
            "[tool success: ",
            "It is done.",
            "[turn ends: success]",
            "[deny done]",
            "[may it?",
            "[deny]",
            "[tool canceled: ",
            "[turn ends: ",
            "[beat done]",
            "[cancel ok: Request cancelled.]",
            "[USER_CANCELLED: User cancelled the request.]",
            "[cancel done]",
            "[hints: help",
            "[hint done]",
            "Hello to you.",
            "[turn ends: success]",
        ],
    );
    let made = fs::read_to_string(home.path().join("work/made")).expect("the command ran");
    assert_eq!(made, "made it\n", "it ran once: the second call was denied");
}

/// All of these, one behind the other.
fn in_order(said: &str, wanted: &[&str]) {
    let mut rest = said;
    for piece in wanted {
        let at = rest.find(piece).unwrap_or_else(|| panic!("no {piece:?} where it should be:\n{said}"));
        rest = &rest[at + piece.len()..];
    }
}

/// What a command prints that ends well and in time.
fn ended(mut command: Command, what: &str) -> String {
    let stderr = tempfile::NamedTempFile::new().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr.reopen().unwrap());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = stdout.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.is_none() {
        let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(&child), rustix::process::Signal::KILL);
        let _ = child.wait();
    }
    let said = reader.join().unwrap();
    let errors = fs::read_to_string(stderr.path()).unwrap_or_default();
    assert!(
        status.is_some_and(|status| status.success()),
        "{command:?} {what}: {status:?}\n{said}\n{errors}"
    );
    said
}

/// An OpenAI server: `slow` has an answer that takes 20 seconds, `make it` a command to run, and what came of it an end.
fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || reply(&stream));
        }
    });
    format!("http://{address}/v1")
}

fn reply(mut stream: &TcpStream) -> std::io::Result<()> {
    let (_, body) = request(stream)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let last = messages.last().cloned().unwrap_or_default();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let say = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]});
        let mut stream = stream;
        write!(stream, "data: {chunk}\n\n")?;
        stream.flush()
    };
    let text = last["content"].to_string();
    if last["role"] == "tool" {
        say(json!({"content": "It is done."}), None)?;
        say(json!({}), Some("stop"))?;
    } else if text.contains("hello") {
        say(json!({"content": "Hello to you."}), None)?;
        say(json!({}), Some("stop"))?;
    } else if text.contains("slow") {
        for _ in 0..200 {
            say(json!({"content": "slow "}), None)?;
            std::thread::sleep(Duration::from_millis(100));
        }
    } else {
        let arguments = json!({"command": "echo 'made it' >> made; cat made", "description": "Make it", "is_background": false});
        let call = json!({"index": 0, "id": format!("call_{}", messages.len()), "type": "function",
            "function": {"name": "run_shell_command", "arguments": arguments.to_string()}});
        say(json!({"reasoning_content": "A command will do."}), None)?;
        say(json!({"content": "I will make it."}), None)?;
        say(json!({"tool_calls": [call]}), None)?;
        say(json!({}), Some("tool_calls"))?;
    }
    write!(stream, "data: [DONE]\n\n")
}

/// A server of files.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || -> std::io::Result<()> {
                let (head, _) = request(&stream)?;
                let path = head.split_whitespace().nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
                let kind = match path.rsplit('.').next() {
                    Some("html") => "text/html; charset=utf-8",
                    Some("css") => "text/css",
                    Some("js" | "mjs") => "text/javascript",
                    _ => "text/plain; charset=utf-8",
                };
                let (status, body) = match fs::read(folder.join(&path)) {
                    Ok(body) if !path.contains("..") => ("200 OK", body),
                    _ => ("404 Not Found", Vec::new()),
                };
                let mut stream = &stream;
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                )?;
                stream.write_all(&body)
            });
        }
    });
    format!("http://{address}")
}

/// A request's head and body.
fn request(stream: &TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

fn python() -> Option<Host> {
    match program("python3") {
        Some(python) => Some(Host(python, examples().join("rfc_host.py"))),
        None => {
            skipped("the Python host", "there is no python3");
            None
        }
    }
}

/// With the machine's Node if that is new enough, otherwise with one of our own.
fn typescript() -> Option<Host> {
    let new_enough = |node: &PathBuf| {
        let version = Command::new(node).arg("--version").output().ok()?.stdout;
        let version = String::from_utf8(version).ok()?;
        let mut numbers = version.trim().trim_start_matches('v').split('.').map(|part| part.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??) >= (22, 18))
    };
    let node = match program("node").filter(|node| new_enough(node) == Some(true)) {
        Some(node) => Ok(node),
        None => installed().map(|modules| modules.join(".bin/node")),
    };
    match node {
        Ok(node) => Some(Host(node, examples().join("rfc-host.ts"))),
        Err(why) => {
            skipped("the TypeScript host", why);
            None
        }
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// `node_modules` with what tests/examples/package.json names.
fn installed() -> Result<PathBuf, String> {
    crate::installed::node_modules("examples/package.json")
}

fn agentglot() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_agentglot"))
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}
