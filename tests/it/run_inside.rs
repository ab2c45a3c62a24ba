//! MCP servers that live in the host, behind agents that know only servers which they start themselves.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::model::Answer;
use crate::support::play::Play;
use crate::support::stage::{CLAUDE, Host, request, user};

/// A host with a server of its own, and our own program as an agent of the Agent Client Protocol behind it. Without `answers` nothing is
/// said to messages for the server. Returns all that the host has read, and how long it took until the session's facts came.
fn talk(play: &Play, answers: bool) -> (Vec<Value>, Duration) {
    // It starts no program that is itself, which the one that stands for the server would be: it is another file.
    let mut program = std::path::PathBuf::from(env!("CARGO_BIN_EXE_agentglot"));
    if answers {
        let other = play.base().join("another");
        std::fs::copy(&program, &other).unwrap();
        program = other;
    }
    let url = format!("http://127.0.0.1:{}/v1", play.server.port);
    let script = format!(
        "#!/bin/sh\nexport OPENAI_BASE_URL={url} OPENAI_API_KEY=k OPENAI_MODEL=gpt-4o\nexec '{}' acp --backend model:openai\n",
        program.display()
    );
    let agent = play.base().join("agent.sh");
    std::fs::write(&agent, script).unwrap();
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#;
    let mut args = CLAUDE.to_vec();
    args.extend(["--mcp-config", config, "--allowedTools", "mcp__calc__add"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args(["run", "--as", "claude", "--backend", &format!("acp:{}", agent.display()), "--"]);
    command.args(args).current_dir(play.path(""));
    for name in ["AGENTGLOT_BACKEND", "AGENTGLOT_DEPTH", "AGENTGLOT_LOG"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut host, began) = (Host::new(command), Instant::now());
    host.say(&request("r-1", r#"{"subtype":"initialize","sdkMcpServers":["calc"]}"#))
        .say(&user("add"));
    let mut introduced = Duration::ZERO;
    loop {
        let line = host.next(Duration::from_secs(60)).expect("it goes on");
        match line["type"].as_str() {
            Some("system") if line["subtype"] == "init" => introduced = began.elapsed(),
            Some("result") => break,
            Some("control_request") if answers => {
                let (id, message) = (&line["request_id"], &line["request"]["message"]);
                assert_eq!(line["request"]["subtype"], "mcp_message", "{line}");
                assert_eq!(line["request"]["server_name"], "calc");
                let result = match message["method"].as_str() {
                    Some("initialize") => {
                        json!({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}})
                    }
                    Some("tools/list") => json!({"tools":[{"name":"add","inputSchema":{"type":"object"}}]}),
                    Some("tools/call") => {
                        let sum = message["params"]["arguments"]["a"].as_i64().unwrap() + message["params"]["arguments"]["b"].as_i64().unwrap();
                        json!({"content":[{"type":"text","text":format!("it is {sum}")}]})
                    }
                    _ => json!({}),
                };
                let answer = json!({"mcp_response":{"jsonrpc":"2.0","id":message["id"],"result":result}});
                host.say(&json!({"type":"control_response","response":{"subtype":"success","request_id":id,"response":answer}}).to_string());
            }
            _ => {}
        }
    }
    host.say(&request("r-2", r#"{"subtype":"mcp_status"}"#));
    host.until("control_response");
    host.close();
    let end = host.end();
    assert_eq!(end.code(), 0, "{end:#?}");
    (end.lines, introduced)
}

#[test]
fn an_agent_of_the_protocol_calls_a_tool_of_a_server_inside_the_host() {
    let play = Play::script(vec![
        Answer::calls(&[("mcp__calc__add", json!({"a": 2, "b": 40}))]),
        Answer::text("The sum is 42."),
    ]);
    let (lines, _) = talk(&play, true);
    let init = lines.iter().find(|line| line["subtype"] == "init").unwrap();
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__calc__add")), "{init}");
    assert_eq!(init["mcp_servers"], json!([{"name":"calc","status":"connected"}]));
    let status = lines.iter().rfind(|line| line["type"] == "control_response").unwrap();
    assert_eq!(status["response"]["response"]["mcpServers"][0]["status"], "connected", "{status}");
    let calls: Vec<_> = lines.iter().filter(|line| line["request"]["message"]["method"] == "tools/call").collect();
    assert_eq!(calls.len(), 1, "{lines:#?}");
    let said = serde_json::to_string(&lines).unwrap();
    assert!(said.contains("it is 42") && said.contains("The sum is 42."), "{said}");
}

#[test]
fn a_host_that_does_not_answer_for_its_server_is_not_waited_for() {
    let play = Play::script(vec![Answer::text("There is no such tool.")]);
    let (lines, introduced) = talk(&play, false);
    assert!(introduced < Duration::from_secs(20), "{introduced:?}");
    let init = lines.iter().find(|line| line["subtype"] == "init").unwrap();
    assert_eq!(init["mcp_servers"], json!([{"name":"calc","status":"failed"}]));
}
