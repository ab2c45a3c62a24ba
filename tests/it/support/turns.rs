//! Turns of Cursor's and Tricode's programs, as scripts of the fake agent.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::stage::Stage;

pub(crate) const ID: &str = "aaaaaaaa-1111-4222-8333-bbbbbbbbbbbb";

/// A session id as both programs know it.
pub(crate) fn session(backend: &str) -> &'static str {
    if backend == "tricode" { "0a1b2c3d" } else { ID }
}

pub(crate) fn say(line: &Value) -> String {
    format!("say {line}")
}

/// How a turn begins, as the program of this dialect writes it.
pub(crate) fn begins(backend: &str, prompt: &str, resumed: bool) -> Vec<String> {
    let id = session(backend);
    if backend == "tricode" {
        let word = if resumed { "Resumed session" } else { "Session ID:" };
        return vec![
            format!("say {{\"type\": \"system\", \"message\": \"{word} {id}\"}}"),
            "say {\"type\": \"round\", \"number\": 1}".to_owned(),
        ];
    }
    vec![
        "read all".to_owned(),
        say(&json!({"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":id,"model":"Auto","permissionMode":"default"})),
        say(&json!({"type":"user","message":{"role":"user","content":[{"type":"text","text":prompt}]},"session_id":id})),
    ]
}

/// How it answers and ends well.
pub(crate) fn answers(backend: &str, answer: &str) -> Vec<String> {
    if backend == "tricode" {
        return vec![format!("say {{\"type\": \"final\", \"content\": \"{answer}\"}}")];
    }
    let id = session(backend);
    vec![
        say(&json!({"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":answer}]},"session_id":id})),
        say(
            &json!({"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":answer,"session_id":id,"request_id":ID}),
        ),
    ]
}

/// A whole turn.
pub(crate) fn turn(backend: &str, prompt: &str, answer: &str, resumed: bool) -> Vec<String> {
    [begins(backend, prompt, resumed), answers(backend, answer)].concat()
}

/// A program that does one of these parts with each start; its arguments are kept.
pub(crate) fn stage(parts: &[Vec<String>]) -> Stage {
    let stage = Stage::new::<&str>(&[]);
    let path = |name: &str| stage.path(name).display().to_string();
    let mut script = vec![
        format!("args {}", path("args")),
        format!("pid {}", path("pids")),
        format!("keep {}", path("stdin")),
        format!("starts {}", path("starts")),
    ];
    script.extend(parts.join(&"---".to_owned()));
    std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
    stage
}

/// The arguments of each start.
pub(crate) fn starts(stage: &Stage) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(stage.path("args")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn typed(stage: &Stage) -> String {
    std::fs::read_to_string(stage.path("stdin")).unwrap_or_default()
}

/// The prompts among it, one behind the other, without requests that it did not know.
pub(crate) fn prompts(stage: &Stage) -> String {
    let typed = typed(stage);
    let prompts = typed
        .lines()
        .filter(|line| !line.starts_with("{\"method\"") && !line.starts_with("{\"jsonrpc\""));
    prompts.flat_map(str::split_whitespace).collect()
}

pub(crate) fn said(results: &[&Value]) -> Vec<String> {
    results
        .iter()
        .map(|result| result["result"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// `agentglot run --as DIALECT --backend replay:GOLDEN`.
pub(crate) fn replay(dialect: &str, log: &str, settings: &[&str], args: &[&str]) -> Command {
    replay_file(dialect, &format!("{}/golden/{log}", env!("CARGO_MANIFEST_DIR")), settings, args)
}

/// The same of a log that lies elsewhere.
pub(crate) fn replay_file(dialect: &str, log: &str, settings: &[&str], args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command
        .args(["run", "--as", dialect, "--backend", &format!("replay:{log}")])
        .args(settings)
        .arg("--")
        .args(args);
    for name in ["AGENTGLOT_ON_ASK", "AGENTGLOT_LOG", "AGENTGLOT_PACE"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
