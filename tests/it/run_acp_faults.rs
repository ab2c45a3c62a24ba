//! What goes wrong between an editor and its sessions, and what the command line means to them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::golden;
use crate::run_acp::Editor;
use crate::support::app_server::Client;
use crate::support::model::{Answer, Server, Step};
use crate::support::play::Play;
use crate::support::stage::{Host, Stage};
use crate::support::wait;

/// The program with nothing in its environment that chooses anything.
fn program(play: &Play, args: &[&str]) -> Command {
    called(play, env!("CARGO_BIN_EXE_agentglot"), args)
}

fn called(play: &Play, name: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(play.path("")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", play.base().join("home"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A program that refuses to begin is ended, and nobody takes its session for open.
#[test]
fn a_session_that_is_refused_leaves_nothing() {
    let refusal = r#"{"type":"control_response","response":{"subtype":"error","request_id":"editor-1","error":"not today"}}"#;
    let stage = Stage::new(&["pid pids", "read", &format!("say {refusal}"), "hang"]);
    let mut editor = Editor::of(stage.host("acp", "claude", &[], &[]));
    let cwd = stage.path("").display().to_string();
    let refused = editor.ask("session/new", json!({"cwd": cwd, "mcpServers": []}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("not today"), "{refused}");
    wait("its program is gone", Duration::from_secs(20), || stage.living().is_empty());
    editor.host.close();
    assert_eq!(editor.host.end().code(), 0);
}

/// An editor that says nothing more gets the answers to what it has asked; nobody is there to permit anything.
#[test]
fn what_was_asked_is_answered_when_the_input_ends() {
    let call = Step::Call(
        "call_a".into(),
        "Bash".into(),
        json!({"command": "touch ran", "description": "d"}).to_string(),
    );
    let play = Play::script(vec![Answer::steps(vec![Step::Pause(300), call]), Answer::text("All done.")]);
    let mut editor = Editor::of(Host::new(play.command("acp", &[])));
    let opened = editor.ask("session/new", json!({"cwd": play.at(""), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let id = editor.prompt(&session, "go");
    editor.host.close();
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.host.end().code(), 0);
    assert!(!play.path("ran").exists());
}

/// Whoever is stopped by a signal says so to those who wait.
#[test]
fn what_was_asked_is_answered_when_a_signal_ends_it() {
    let play = Play::script(vec![Answer::steps(vec![Step::Pause(20_000), Step::Text("late".into())])]);
    let mut editor = Editor::of(Host::new(play.command("acp", &[])));
    let opened = editor.ask("session/new", json!({"cwd": play.at(""), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    let ids = [editor.prompt(&session, "one"), editor.prompt(&session, "two")];
    wait("the model is asked", Duration::from_secs(20), || !play.server.asked().is_empty());
    editor.host.signal(rustix::process::Signal::TERM);
    for id in ids {
        assert!(editor.answer(id)["error"]["message"].as_str().unwrap().contains("stopped"));
    }
    assert_eq!(editor.host.end().code(), 143);
}

/// A message that is too long is refused by its id, and why is said.
#[test]
fn a_message_that_is_too_long_is_refused_by_its_id() {
    let play = Play::script(Vec::new());
    let mut command = play.command("acp", &[]);
    command.env("AGENTGLOT_MAX_PROMPT", "2000");
    let mut editor = Editor::of(Host::new(command));
    let refused = editor.ask("session/prompt", json!({"sessionId": "x".repeat(5000), "prompt": []}));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("--max-prompt"), "{refused}");
    editor.host.close();
    assert_eq!(editor.host.end().code(), 0);
}

/// Each session is in a folder of its own; what the command line and the environment say is meant from the folder of the start.
#[test]
fn paths_are_those_of_the_folder_that_it_was_started_in() {
    let play = Play::script(Vec::new());
    for folder in ["a", "b"] {
        std::fs::create_dir(play.path(folder)).unwrap();
    }
    std::fs::copy(golden("claude/cli_plain.out.jsonl"), play.path("a/log.jsonl")).unwrap();
    let link = play.base().join("acp");
    symlink(env!("CARGO_BIN_EXE_agentglot"), &link).unwrap();
    let flags = program(&play, &["acp", "--backend", "replay:log.jsonl", "--record", "kept"]);
    let mut variables = program(&play, &["run", "--as", "acp"]);
    variables.env("AGENTGLOT_BACKEND", "replay:log.jsonl").env("AGENTGLOT_RECORD", "kept");
    let mut linked = called(&play, &link, &[]);
    linked.env("AGENTGLOT_BACKEND", "replay:./log.jsonl").env("AGENTGLOT_RECORD", "kept");
    for mut command in [flags, variables, linked] {
        command.current_dir(play.path("a"));
        let mut editor = Editor::of(Host::new(command));
        let opened = editor.ask("session/new", json!({"cwd": play.at("b"), "mcpServers": []}));
        let session = opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
        let id = editor.prompt(&session, "hello");
        assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
        assert_eq!(editor.leave(&play), 0);
        assert!(!play.path("b/kept").exists());
        std::fs::remove_dir_all(play.path("a/kept")).unwrap();
    }
    // What cannot be had is named by the path that was meant.
    let command = program(&play, &["acp", "--backend", "cli:claude=./no-such-program"]);
    let mut editor = Editor::of(Host::new(command));
    let refused = editor.ask("session/new", json!({"cwd": play.at("b"), "mcpServers": []}));
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains(&play.at("no-such-program")), "{refused}");
    assert_eq!(editor.leave(&play), 0);
}

/// Folders that are named by relative paths are the same folders for all sessions: that of settings and sessions, and more to work in.
#[test]
fn folders_are_the_same_for_all_sessions() {
    let play = Play::script(Vec::new());
    let writes = Answer::calls(&[("Write", json!({"file_path": play.at("a.txt"), "content": "one\n"}))]);
    let play = play.served(Server::script(vec![writes, Answer::text("Done.")]));
    std::fs::create_dir(play.path("b")).unwrap();
    let mut command = play.command("acp", &["--permission-mode", "acceptEdits", "--add-dir", "."]);
    command.env("CLAUDE_CONFIG_DIR", "settings");
    let mut editor = Editor::of(Host::new(command));
    let opened = editor.ask("session/new", json!({"cwd": play.at("b"), "mcpServers": []}));
    let session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
    let id = editor.prompt(&session, "hello");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(play.read("a.txt"), "one\n", "nobody was asked");
    let listed = editor.ask("session/list", json!({"cwd": play.at("b")}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session.as_str(), "{listed}");
    assert_eq!(editor.leave(&play), 0);
    assert!(play.path("settings").exists() && !play.path("b/settings").exists());
}

/// What was said on a branch that was left is no part of the conversation.
#[test]
fn branches_that_were_left_are_not_loaded() {
    let play = Play::new(|asked, _| Answer::text(if asked.last().contains("second") { "Two." } else { "One." }));
    let mut editor = Editor::of(play.host("acp", &[]));
    let session = editor.open(&play);
    for text in ["first", "second"] {
        let id = editor.prompt(&session, text);
        editor.answer(id);
    }
    assert_eq!(editor.leave(&play), 0);
    // The second prompt again, with another text and another answer.
    let transcript = find(&play, &format!("{session}.jsonl"));
    let text = std::fs::read_to_string(&transcript).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let left = lines
        .iter()
        .position(|line| line["type"] == "user" && line.to_string().contains("second"))
        .unwrap();
    let mut branch = String::new();
    for line in lines[left..].iter().filter(|line| line["uuid"].is_string()) {
        branch += &line.to_string().replace("second", "third").replace("Two.", "Three.");
        branch.push('\n');
    }
    for line in &lines[left..] {
        if let Some(old) = line["uuid"].as_str() {
            branch = branch.replace(old, &uuid::Uuid::new_v4().to_string());
        }
    }
    std::fs::write(&transcript, text + &branch).unwrap();

    let mut editor = Editor::of(play.host("acp", &[]));
    let params = json!({"sessionId": session, "cwd": play.at(""), "mcpServers": []});
    let loaded = editor.ask("session/load", params);
    assert!(loaded["result"].is_object(), "{loaded}");
    assert_eq!(editor.text(&session, "user_message_chunk"), "firstthird");
    assert_eq!(editor.text(&session, "agent_message_chunk"), "One.Three.");
    assert_eq!(editor.leave(&play), 0);
}

fn find(play: &Play, name: &str) -> std::path::PathBuf {
    let mut folders = vec![play.base().join("home")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    panic!("there is no {name}")
}

/// While the editor reads nothing, its programs are not heard, and no time runs against them.
#[test]
fn no_clock_runs_while_the_editor_is_held_back() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("go on") => Answer::text("Fine."),
        _ => Answer::steps(vec![Step::Text("much ".repeat(60_000)), Step::Pause(60_000)]),
    });
    let mut command = play.command("acp", &[]);
    command.env("AGENTGLOT_MAX_QUEUED", "1K").env("AGENTGLOT_CONTROL_TIMEOUT", "3");
    let mut host = Host::deaf(command);
    let mut stdin = host.take_stdin();
    let mut lines = BufReader::new(host.take_stdout()).lines();
    let mut say = |line: Value| writeln!(stdin, "{line}").unwrap();
    let mut until = |id: u64| {
        loop {
            let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            if line["id"] == id && line["method"].is_null() {
                return line;
            }
        }
    };
    say(json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": play.at(""), "mcpServers": []}}));
    let session = until(1)["result"]["sessionId"].clone();
    let prompt = |id: u64, text: &str| {
        let prompt = json!([{"type": "text", "text": text}]);
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": session, "prompt": prompt}})
    };
    say(prompt(2, "say much"));
    // More than the pipe takes is on its way.
    std::thread::sleep(Duration::from_secs(2));
    say(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(until(2)["result"]["stopReason"], "cancelled");
    say(prompt(3, "go on"));
    assert_eq!(until(3)["result"]["stopReason"], "end_turn", "the session lives");
}

/// Only our own name has a short form: another program's first word is its own.
#[test]
fn a_link_takes_the_first_word_for_its_own() {
    let play = Play::script(Vec::new());
    let link = play.base().join("claude");
    symlink(env!("CARGO_BIN_EXE_agentglot"), &link).unwrap();
    let mut command = called(&play, &link, &["acp", "-p"]);
    let said = command.env("AGENTGLOT_BACKEND", "demo").stdin(Stdio::null()).output().unwrap();
    assert!(said.status.success() && !said.stdout.is_empty(), "{said:?}");
}

/// The short form takes what the long one takes, the flags of our own log too.
#[test]
fn the_short_form_writes_the_log_that_is_asked_for() {
    let play = Play::script(Vec::new());
    for args in [
        &["run", "-v", "--as", "acp", "--backend", "demo"][..],
        &["acp", "-v", "--backend", "demo"],
        &["-v", "acp", "--backend", "demo"],
    ] {
        let mut editor = Editor::of(Host::new(program(&play, args)));
        editor.host.say(r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#);
        editor.host.close();
        let end = editor.host.end();
        assert!(end.stderr.contains("which nobody asked"), "{args:?}: {end:?}");
    }
}

/// An agent that is asked for its sessions and names them without end, dies, or never answers: the editor is told so, which gets no empty list.
#[test]
fn sessions_that_an_agent_does_not_name_are_no_empty_list() {
    let play = Play::script(Vec::new());
    let greets = r#"say {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}}"#;
    let page = |n: usize| {
        let session = json!({"sessionId": format!("s{n}"), "cwd": "/w", "title": "t".repeat(20_000)});
        let page = json!({"jsonrpc": "2.0", "id": n, "result": {"sessions": [session], "nextCursor": n.to_string()}});
        ["read".to_owned(), format!("say {page}")]
    };
    let endless: Vec<String> = (1..30).flat_map(page).collect();
    let cases = [
        (endless, "--max-line"),
        (vec!["read".to_owned(), "exit 4".to_owned()], "exit code 4"),
        (vec!["read".to_owned(), "hang".to_owned()], "does not answer"),
    ];
    for (then, why) in cases {
        let commands: Vec<String> = ["pid pids".to_owned(), "read".to_owned(), greets.to_owned()]
            .into_iter()
            .chain(then)
            .collect();
        let stage = Stage::new(&commands);
        let backend = format!("acp:{}", stage.path("agent-program").display());
        let args = ["acp", "--backend", &backend, "--max-line", "100K", "--start-timeout", "3"];
        let mut command = program(&play, &args);
        command.current_dir(stage.path(""));
        let mut editor = Editor::of(Host::new(command));
        let listed = editor.ask("session/list", json!({}));
        let said = listed["error"]["message"].as_str().unwrap_or_else(|| panic!("{why}: {listed}"));
        assert!(said.contains(why) && listed["error"]["code"] == -32603, "{listed}");
        wait("the agent is gone", Duration::from_secs(20), || stage.living().is_empty());
        editor.host.close();
        assert_eq!(editor.host.end().code(), 0);
    }
    let stage = Stage::new(&["read", "exit 4"]);
    let backend = format!("acp:{}", stage.path("agent-program").display());
    let mut client = Client::of(Host::new(program(
        &play,
        &["run", "--as", "codex", "--backend", &backend, "--", "app-server"],
    )));
    let id = client.send("thread/list", json!({}));
    let listed = client.answer(id);
    assert!(
        listed["error"]["message"].as_str().is_some_and(|why| why.contains("exit code 4")),
        "{listed}"
    );
    client.host.close();
    assert_eq!(client.host.end().code(), 0);
}

/// An agent that says nothing, or talks without end, keeps `doctor` no longer than a session.
#[test]
fn an_agent_that_is_probed_has_a_deadline_and_a_number_of_bytes() {
    let play = Play::script(Vec::new());
    for (does, limit, why) in [
        ("hang", ("AGENTGLOT_START_TIMEOUT", "2"), "does not answer"),
        ("flood stdout 100000000", ("AGENTGLOT_MAX_LINE", "1M"), "--max-line"),
    ] {
        let stage = Stage::new(&["pid pids", "ignore TERM", does, "hang"]);
        let mut command = program(&play, &["doctor", "--probe"]);
        let backend = format!("acp:{}", stage.path("agent-program").display());
        command
            .current_dir(stage.path(""))
            .env("AGENTGLOT_BACKEND", backend)
            .env(limit.0, limit.1);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(why), "{does}: {said}");
        wait("the agent is gone", Duration::from_secs(20), || stage.living().is_empty());
    }
}
