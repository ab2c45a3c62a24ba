//! Any agent of the Agent Client Protocol behind hosts of other dialects: our own, which is one, and one that does not behave.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::golden;
use crate::support::stage::{CLAUDE, Host, QWEN, Stage, request, user};

const GREETED: &str = r#"say {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
const OPENED: &str = r#"say {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#;
const ENDED: &str = r#"say {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#;

fn chunk(text: &str) -> String {
    let chunk = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"TEXT"}}"#.replace("TEXT", text);
    format!(r#"say {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s-1","update":{chunk}}}}}"#)
}

/// `agentglot run --as DIALECT --backend acp:COMMAND`, in this folder.
fn run(folder: &Path, dialect: &str, command: &str, settings: &[&str], args: &[&str]) -> Command {
    let mut run = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    run.args(["run", "--as", dialect, "--backend", &format!("acp:{command}")]);
    run.args(settings).arg("--").args(args).current_dir(folder);
    for name in ["AGENTGLOT_BACKEND", "AGENTGLOT_DEPTH", "AGENTGLOT_LOG", "AGENTGLOT_QWEN"] {
        run.env_remove(name);
    }
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    run
}

/// A scripted agent.
fn scripted(stage: &Stage, settings: &[&str], args: &[&str]) -> Host {
    Host::new(run(&stage.path(""), "claude", "./agent-program", settings, args))
}

/// Our own program as an agent, by a script that starts it: by its name it would be refused.
fn ours(folder: &Path, backend: &str) {
    let script = format!("#!/bin/sh\nexec '{}' acp --backend '{backend}' \"$@\"\n", env!("CARGO_BIN_EXE_agentglot"));
    std::fs::write(folder.join("agent.sh"), script).unwrap();
    std::fs::set_permissions(folder.join("agent.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn type_of<'v>(lines: &'v [Value], word: &str) -> Vec<&'v Value> {
    lines.iter().filter(|line| line["type"] == word).collect()
}

#[test]
fn hosts_of_every_dialect_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    ours(folder.path(), "demo");
    for (dialect, args) in [
        (
            "claude",
            &[
                "-p",
                "--verbose",
                "--output-format",
                "stream-json",
                "--dangerously-skip-permissions",
                "hi",
            ][..],
        ),
        ("qwen-code", &["--output-format", "stream-json", "--approval-mode", "yolo", "-p", "hi"]),
        ("cursor", &["-p", "--force", "--output-format", "stream-json", "hi"]),
        ("gemini", &["--output-format", "stream-json", "--yolo", "-p", "hi"]),
    ] {
        let end = Host::new(run(folder.path(), dialect, "./agent.sh", &[], args)).close_now().end();
        assert_eq!(end.code(), 0, "{dialect}: {end:#?}");
        let all = serde_json::to_string(&end.lines).unwrap();
        assert!(all.contains("hello-from-agentglot.txt"), "{dialect}: its call is told: {all}");
        end.result();
    }
}

#[test]
fn a_host_is_asked_answers_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    ours(folder.path(), "demo");
    for (behavior, status) in [("allow", Value::Bool(false)), ("deny", Value::Bool(true))] {
        let mut host = Host::new(run(folder.path(), "claude", "./agent.sh", &[], CLAUDE));
        host.say(&request("r-1", r#"{"subtype":"initialize"}"#)).say(&user("hi"));
        host.until("control_response");
        let asked = host.until("control_request");
        assert_eq!(asked["request"]["subtype"], "can_use_tool");
        assert_eq!(asked["request"]["tool_name"], "Write");
        let body = format!(r#"{{"behavior":"{behavior}","message":"no"}}"#);
        let id = asked["request_id"].as_str().unwrap();
        host.say(&format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{body}}}}}"#
        ));
        host.until("result");
        // The session goes on.
        host.say(&request("r-2", r#"{"subtype":"set_permission_mode","mode":"plan"}"#));
        assert_eq!(host.until("control_response")["response"]["response"]["mode"], "plan");
        host.say(&user("again"));
        host.until("result");
        let end = host.close_now().end();
        assert_eq!(end.code(), 0, "{end:#?}");
        let inits: Vec<_> = type_of(&end.lines, "system")
            .into_iter()
            .filter(|line| line["subtype"] == "init")
            .collect();
        assert_eq!(inits[0]["permissionMode"], "default");
        assert_eq!(inits.last().unwrap()["permissionMode"], "plan");
        let first = type_of(&end.lines, "user")[0]["message"]["content"][0].clone();
        assert_eq!(first["is_error"].as_bool().unwrap_or(false), status.as_bool().unwrap(), "{first}");
        assert_eq!(end.results().len(), 2);
    }
}

#[test]
fn a_log_that_an_agent_answers_from_is_told_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(golden("claude/cli_plain.out.jsonl"), folder.path().join("log.jsonl")).unwrap();
    ours(folder.path(), &format!("replay:{}", folder.path().join("log.jsonl").display()));
    let end = Host::new(run(
        folder.path(),
        "claude",
        "./agent.sh",
        &[],
        &["-p", "--verbose", "--output-format", "stream-json", "hi"],
    ))
    .close_now()
    .end();
    assert_eq!(end.code(), 0, "{end:#?}");
    let log = std::fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let said = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said = said
        .filter(|line| line["type"] == "result")
        .map(|line| line["result"].clone())
        .next()
        .unwrap();
    assert_eq!(end.result()["result"], said);
}

#[test]
fn a_session_that_is_loaded_does_not_say_again_what_was_said() {
    let load = GREETED;
    let stage = Stage::new(&[
        "keep heard",
        "read",
        load,
        "read",
        &chunk("what was said before"),
        r#"say {"jsonrpc":"2.0","id":1,"result":null}"#,
        "read",
        &chunk("new"),
        ENDED,
        "read all",
    ]);
    let mut host = scripted(&stage, &[], &[CLAUDE, &["--resume", "s-1"]].concat());
    host.say(&user("go on"));
    host.until("result");
    let end = host.close_now().end();
    assert_eq!(end.code(), 0, "{end:#?}");
    assert_eq!(end.result()["result"], "new");
    assert_eq!(end.result()["session_id"], "s-1");
    let heard = std::fs::read_to_string(stage.path("heard")).unwrap();
    assert!(heard.contains("\"session/load\",\"params\":{\"sessionId\":\"s-1\""), "{heard}");
}

#[test]
fn a_turn_that_the_host_stops_ends_by_the_agents_word() {
    let stage = Stage::new(&[
        "read",
        GREETED,
        "read",
        OPENED,
        "read",
        &chunk("one"),
        "read",
        r#"say {"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}"#,
        "read all",
    ]);
    let mut host = scripted(&stage, &[], &[CLAUDE, &["--include-partial-messages"]].concat());
    host.say(&user("hi"));
    host.until("stream_event");
    host.say(&request("r-1", r#"{"subtype":"interrupt"}"#));
    host.until("control_response");
    let result = host.until("result");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(host.close_now().end().results().len(), 1);
}

/// What each agent does, and what its host is told.
#[test]
fn an_agent_that_does_not_behave_ends_its_turn_once() {
    let huge = format!("write {}", "x".repeat(5000));
    let wrong = GREETED.replace("\"protocolVersion\":1", "\"protocolVersion\":7");
    let partial = chunk("half");
    let garbage = [
        "say no json at all",
        r#"say {"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"say {"jsonrpc":"2.0","id":"2","result":{"stopReason":"refusal"}}"#,
        r#"say {"jsonrpc":"2.0","id":2}"#,
        r#"say {"jsonrpc":"2.0","id":"x","method":"terminal/create","params":{}}"#,
        &huge,
        "say ",
    ];
    for (script, settings, why) in [
        (
            vec!["pid pids", "hang"],
            &["--start-timeout", "1"][..],
            "does not answer: no session has begun",
        ),
        (vec!["pid pids", "read", &wrong, "hang"], &[], "speaks version 7"),
        (vec!["pid pids", "read", "warn no key", "exit 3"], &[], "ended with exit code 3: no key"),
        (
            vec!["pid pids", "read", GREETED, "read", OPENED, "read", &partial, "die KILL"],
            &[],
            "was ended by signal 9 (SIGKILL)",
        ),
        (
            vec!["pid pids", "read", GREETED, "read", OPENED, "read", "write {\"jsonrpc\":", "exit 0"],
            &[],
            "ended with exit code 0; it ended in the middle of a line of 11 bytes",
        ),
        (
            vec![
                "pid pids",
                "read",
                GREETED,
                "read",
                r#"say {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"who are you?"}}"#,
                "hang",
            ],
            &[],
            "log in, or a key in the environment: who are you?",
        ),
        (
            [
                &["pid pids", "spawn", "read", GREETED, garbage[0], "read", OPENED, "read"][..],
                &garbage[1..],
                &[&partial, ENDED, "hang"],
            ]
            .concat(),
            &["--max-line", "4000"],
            "",
        ),
    ] {
        let stage = Stage::new(&script);
        let mut host = scripted(&stage, settings, CLAUDE);
        host.say(&user("hi"));
        host.until_within("result", Duration::from_secs(30));
        let end = host.close_now().end();
        let result = end.result();
        let told = format!("{result} {}", end.stderr);
        assert!(told.contains(why), "{script:?}: {told}");
        assert_eq!(result["is_error"], !why.is_empty(), "{script:?}: {result}");
        assert!(stage.living().is_empty(), "{script:?}: it is ended");
    }
}

#[test]
fn a_command_is_words_and_never_ourselves() {
    let folder = tempfile::tempdir().unwrap();
    for (command, why) in [
        ("", "a command is wanted"),
        ("'x", "has no end"),
        ("no-such-agent --acp", "no-such-agent"),
        (env!("CARGO_BIN_EXE_agentglot"), "agentglot itself"),
    ] {
        let end = Host::new(run(folder.path(), "qwen-code", command, &[], QWEN)).close_now().end();
        assert_ne!(end.code(), 0);
        assert!(end.stderr.contains(why), "{command}: {}", end.stderr);
    }
}

trait Closes {
    /// The host says nothing more.
    fn close_now(self) -> Self;
}

impl Closes for Host {
    fn close_now(mut self) -> Self {
        self.close();
        self
    }
}
