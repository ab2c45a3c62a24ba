//! What an agent's program is started with, when its host speaks another dialect.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, Host, INIT, QWEN, Stage, request, result, text, user};
use crate::support::within;

/// An agent whose arguments and input are kept, and that answers a prompt.
fn stage() -> Stage {
    let stage = Stage::new::<&str>(&[]);
    let path = |name: &str| stage.path(name).display().to_string();
    let script = [
        format!("args {}", path("args")),
        format!("keep {}", path("stdin")),
        "read".to_owned(),
        "read".to_owned(),
        format!("say {INIT}"),
        format!("say {}", text("there")),
        format!("say {}", result("there")),
        "read all".to_owned(),
    ];
    std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
    stage
}

/// Lets a host of the dialect shake hands and prompt, and waits for the answer.
fn talks(stage: &Stage, dialect: &str, backend: &str, args: &[&str], handshake: &Value) -> Host {
    let mut host = stage.host(dialect, backend, &[], args);
    host.say(&request("1", &handshake.to_string())).say(&user("hi"));
    host.until("result");
    host
}

fn args(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.path("args")).unwrap();
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// The configuration of MCP servers that the program is told; nobody else may read it.
fn servers(args: &[String]) -> Value {
    let told: Vec<&str> = args.iter().filter_map(|arg| arg.strip_prefix("--mcp-config=")).collect();
    assert_eq!(told.len(), 1, "{args:?}");
    let mode = std::fs::metadata(told[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    serde_json::from_str(&std::fs::read_to_string(told[0]).unwrap()).unwrap()
}

/// The Qwen Code SDK names its servers in the handshake; Claude Code takes them on its command line only.
#[test]
fn servers_of_a_qwen_host_s_handshake_reach_claude() {
    within(60, async {
        let stage = stage();
        let handshake = json!({"subtype": "initialize", "mcpServers": {
            "files": {"command": "files-server", "args": ["-x"], "env": {"KEY": "very-secret"}},
            "far": {"httpUrl": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer very-secret"}},
            "old": {"url": "http://127.0.0.1:9/sse"},
        }});
        let mut host = talks(&stage, "qwen-code", "claude", QWEN, &handshake);
        let args = args(&stage);
        assert!(!args.iter().any(|arg| arg.contains("secret")), "{args:?}");
        // Without a mode it asks the host, which is there to answer.
        assert!(args.contains(&"--permission-mode=default".to_owned()), "{args:?}");
        assert_eq!(
            servers(&args),
            json!({"mcpServers": {
                "files": {"command": "files-server", "args": ["-x"], "env": {"KEY": "very-secret"}},
                "far": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer very-secret"}},
                "old": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
            }})
        );
        host.close();
        assert_eq!(host.end().code(), 0);
        let path = args.iter().find_map(|arg| arg.strip_prefix("--mcp-config=")).unwrap();
        assert!(!std::path::Path::new(path).exists(), "{path} is left behind");
    });
}

/// The TypeScript SDK of Claude says in the handshake what the Python SDK says on the command line.
#[test]
fn what_a_claude_host_s_handshake_says_reaches_qwen_like_its_command_line() {
    within(60, async {
        let stage = stage();
        let file = stage.path("servers.json");
        std::fs::write(
            &file,
            r#"{"mcpServers":{"b":{"command":"second"},"c":{"type":"sse","url":"http://127.0.0.1:9/c"}}}"#,
        )
        .unwrap();
        let own = r#"{"mcpServers":{"a":{"type":"http","url":"http://127.0.0.1:9/a"},"b":{"command":"first"}}}"#;
        let file = file.display().to_string();
        let args_of_host: Vec<&str> = CLAUDE.iter().copied().chain(["--mcp-config", own, &file]).collect();
        let handshake = json!({
            "subtype": "initialize",
            "systemPrompt": ["Be terse.", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "Be kind."],
            "appendSystemPrompt": "And quick.",
            "mcpServers": {"d": {"type": "stdio", "command": "fourth"}},
        });
        let mut host = talks(&stage, "claude", "qwen", &args_of_host, &handshake);
        let args = args(&stage);
        assert!(args.contains(&"--system-prompt=Be terse.\n\nBe kind.".to_owned()), "{args:?}");
        assert!(args.contains(&"--append-system-prompt=And quick.".to_owned()), "{args:?}");
        assert_eq!(
            servers(&args),
            json!({"mcpServers": {
                "a": {"httpUrl": "http://127.0.0.1:9/a"},
                "b": {"command": "second"},
                "c": {"url": "http://127.0.0.1:9/c"},
                "d": {"command": "fourth"},
            }})
        );
        // Its own handshake does not name them again.
        let heard = std::fs::read_to_string(stage.path("stdin")).unwrap();
        assert!(heard.contains("initialize") && !heard.contains("fourth"), "{heard}");
        host.close();
        host.end();
    });
}

/// A program of the host's own dialect is told everything as it was said.
#[test]
fn a_program_of_the_hosts_own_dialect_hears_its_handshake_as_it_is() {
    within(60, async {
        let stage = stage();
        let handshake = json!({"subtype": "initialize", "systemPrompt": ["Be terse."], "mcpServers": {"d": {"command": "fourth"}}});
        let mut host = talks(&stage, "claude", "claude", CLAUDE, &handshake);
        let args = args(&stage);
        assert!(
            !args.iter().any(|arg| arg.contains("prompt=Be") || arg.starts_with("--mcp-config")),
            "{args:?}"
        );
        let heard = std::fs::read_to_string(stage.path("stdin")).unwrap();
        assert!(
            heard
                .lines()
                .next()
                .is_some_and(|line| line.contains(&request("1", &handshake.to_string()))),
            "{heard}"
        );
        host.close();
        host.end();
    });
}

/// A host writes its first line when it has started us, and would read of a broken pipe if we were gone before.
#[test]
fn a_run_that_cannot_begin_hears_the_host_s_first_line() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let mut run = Command::new(env!("CARGO_BIN_EXE_agentglot"))
        .args([
            "run",
            "--as",
            "claude",
            "--",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        ])
        .env_remove("AGENTGLOT_BACKEND")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut why = String::new();
    BufReader::new(run.stderr.take().unwrap()).read_line(&mut why).unwrap();
    assert!(why.starts_with("agentglot: "), "{why}");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(b"{\"type\":\"control_request\"}\n").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(2));
}

/// `agentglot acp` is a form of `run`, and is told of as what it is.
#[test]
fn a_short_form_is_explained_by_its_own_name() {
    let said = |args: &[&str]| {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_agentglot")).args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    for args in [&["acp", "--help"][..], &["-v", "acp", "-h"]] {
        let text = said(args);
        assert!(text.contains("Usage: agentglot acp") && !text.contains("--as <DIALECT>"), "{text}");
    }
    assert!(said(&["run", "--help"]).contains("Usage: agentglot run [OPTIONS] --as <DIALECT>"));
}
