//! An MCP server for tests: JSON-RPC lines on stdin and stdout, and tools that behave as badly as servers do.
//!
//! `mcp_server [--silent] [--refuse] [--endless] [--log FILE]`: `--silent` answers nothing, `--refuse` ends with a reason on stderr, `--endless` has
//! tools without end, `--log` keeps each line that came in.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--refuse") {
        eprintln!("no licence for this machine");
        std::process::exit(4);
    }
    let log = args.iter().position(|arg| arg == "--log").and_then(|at| args.get(at + 1));
    let mut log = log.map(|path| std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the log opens"));
    println!("A server that believes to speak to a person");
    let mut server = Server {
        endless: has("--endless"),
        ..Server::default()
    };
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(log) = &mut log {
            writeln!(log, "{line}").expect("the log is written");
        }
        if has("--silent") {
            continue;
        }
        if let Ok(message) = serde_json::from_str(&line) {
            server.hear(&message);
        }
    }
}

#[derive(Default)]
struct Server {
    grown: bool,
    endless: bool,
    /// The id of the call that waits for an answer of the client's.
    waiting: Option<Value>,
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // A client that is gone is no reason to panic.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

fn answer(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn text(id: &Value, text: impl Into<String>) {
    answer(id, &json!({ "content": [{ "type": "text", "text": text.into() }] }));
}

impl Server {
    fn hear(&mut self, message: &Value) {
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            if let Some(call) = self.waiting.take() {
                text(&call, message["result"].to_string());
            }
            return;
        };
        let params = &message["params"];
        match method {
            "initialize" => answer(
                id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true }, "resources": {}, "prompts": {} },
                    "serverInfo": { "name": "bad", "version": "1.2" },
                    "instructions": "Be kind to it."
                }),
            ),
            "tools/list" => self.tools(id, params),
            "resources/list" => answer(id, &json!({ "resources": [{ "uri": "mem:a", "name": "a", "mimeType": "text/plain" }] })),
            "resources/read" => answer(id, &json!({ "contents": [{ "uri": params["uri"], "text": "kept" }] })),
            "prompts/list" => {
                answer(
                    id,
                    &json!({ "prompts": [{ "name": "greet", "description": "Greets", "arguments": [{ "name": "who", "required": true }] }] }),
                );
            }
            "prompts/get" => {
                let said = format!("Greet {}", params["arguments"]["who"].as_str().unwrap_or("nobody"));
                answer(
                    id,
                    &json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": said } }] }),
                );
            }
            "tools/call" => self.call(id, params),
            "ping" => answer(id, &json!({})),
            _ => {}
        }
    }

    fn tools(&self, id: &Value, params: &Value) {
        if self.endless {
            let tool = json!({ "name": "long", "description": "d".repeat(10 << 20), "inputSchema": { "type": "object" } });
            return answer(id, &json!({ "tools": [tool], "nextCursor": "more" }));
        }
        let names = [
            "echo",
            "image",
            "fail",
            "error",
            "die",
            "hang",
            "flood",
            "chatter",
            "deaf",
            "answers",
            "deep",
            "grow",
            "ask",
            "roots",
            "progress",
            "variables",
            "spawn",
            "big",
            "broken",
            "odd.name",
        ];
        let mut tools: Vec<Value> = names
            .iter()
            .map(|name| {
                json!({
                    "name": name,
                    "description": format!("Does {name}{}", "ä".repeat(if *name == "big" { 100_000 } else { 0 })),
                    "inputSchema": { "type": "object", "properties": { "text": { "type": "string", "x-unknown": [1] } }, "$schema": "http://json-schema.org/draft-07/schema#" },
                    "annotations": { "readOnlyHint": *name == "echo" }
                })
            })
            .collect();
        if self.grown {
            tools.push(json!({ "name": "new", "inputSchema": { "type": "object" } }));
        }
        // In two pages.
        let second = tools.split_off(5);
        match params["cursor"].as_str() {
            None => answer(id, &json!({ "tools": tools, "nextCursor": "2" })),
            Some(_) => answer(id, &json!({ "tools": second })),
        }
    }

    #[allow(clippy::zombie_processes, reason = "the client ends it with our group")]
    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        match params["name"].as_str().unwrap_or_default() {
            "echo" => text(id, arguments["text"].as_str().unwrap_or("nothing")),
            "odd.name" => text(id, "odd"),
            "new" => text(id, "new"),
            "image" => answer(id, &json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": DOT }] })),
            "fail" => answer(id, &json!({ "content": [{ "type": "text", "text": "it failed" }], "isError": true })),
            "error" => say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "bad arguments" } })),
            "broken" => say(&json!({ "jsonrpc": "2.0", "id": id, "error": "just so" })),
            "die" => {
                eprintln!("out of luck");
                std::process::exit(3);
            }
            "hang" => {}
            "flood" => {
                let piece = vec![b'x'; 1 << 20];
                let mut out = std::io::stdout().lock();
                while out.write_all(&piece).is_ok() {}
                std::process::exit(5);
            }
            "chatter" => loop {
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } }));
            },
            "deaf" => {
                for n in 0_u64.. {
                    say(&json!({ "jsonrpc": "2.0", "id": n, "method": "ping" }));
                    if n % 30 == 0 {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                }
            }
            "answers" => {
                for n in 1_000_000_u64.. {
                    say(&json!({ "jsonrpc": "2.0", "id": n, "result": {} }));
                }
            }
            "deep" => {
                let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
                println!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":{open}{close}}}}}");
            }
            "grow" => {
                self.grown = true;
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                text(id, "grown");
            }
            "ask" => {
                self.waiting = Some(id.clone());
                let schema = json!({ "type": "object", "properties": { "name": { "type": "string" }, "age": { "type": "integer" } } });
                say(
                    &json!({ "jsonrpc": "2.0", "id": 900, "method": "elicitation/create", "params": { "message": "Who?", "requestedSchema": schema } }),
                );
            }
            "roots" => {
                self.waiting = Some(id.clone());
                say(&json!({ "jsonrpc": "2.0", "id": 901, "method": "roots/list" }));
            }
            "progress" => {
                for n in 1..=3 {
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                        "params": { "progressToken": params["_meta"]["progressToken"], "progress": n, "total": 3, "message": "step" } }));
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
                text(id, "done");
            }
            "variables" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                names.sort();
                text(id, names.join("\n"));
            }
            "spawn" => {
                let child = std::process::Command::new("sleep")
                    .arg("1000")
                    .stdin(std::process::Stdio::null())
                    .spawn()
                    .expect("sleep starts");
                text(id, format!("{} {}", std::process::id(), child.id()));
            }
            "big" => text(id, "y".repeat(1_000_000)),
            other => say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": format!("no tool {other}") } })),
        }
    }
}
