//! The spans of the built-in agent, as a collector on the loopback interface gets them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// What came to a server: heads and bodies.
type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// What came of a run: what the collector got, what the model got, what the agent printed, how long it took.
struct Run {
    spans: Vec<Value>,
    posts: Vec<(String, Value)>,
    asked: Vec<(String, Value)>,
    said: String,
    took: Duration,
}

#[test]
fn turns_rounds_and_tools_are_spans_below_the_one_that_began_us() {
    let run = run(
        &[("TRACEPARENT", &format!("00-{TRACE}-{PARENT}-01"))],
        Collector::Takes,
        "echo trace=$TRACEPARENT",
    );
    let of = |name: &str| run.spans.iter().filter(|span| span["name"] == name).collect::<Vec<_>>();
    let (turns, rounds, tools) = (of("turn"), of("round"), of("tool"));
    assert_eq!((turns.len(), rounds.len(), tools.len()), (1, 2, 1), "{:#?}", run.spans);
    let (turn, tool) = (turns[0], tools[0]);
    assert!(run.spans.iter().all(|span| span["traceId"] == TRACE), "{:#?}", run.spans);
    assert_eq!(turn["parentSpanId"], PARENT);
    for below in rounds.iter().chain(&tools) {
        assert_eq!(below["parentSpanId"], turn["spanId"]);
    }
    for span in &run.spans {
        let time = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        assert!(time("startTimeUnixNano") >= of("turn")[0]["startTimeUnixNano"].as_str().unwrap().parse().unwrap());
        let id = span["spanId"].as_str().unwrap();
        assert!(id.len() == 16 && id != "0000000000000000", "{id}");
        assert_eq!(status(span), 0);
    }
    assert_eq!(attribute(turn, "gen_ai.operation.name"), json!({"stringValue": "invoke_agent"}));
    assert_eq!(attribute(turn, "agentglot.rounds"), json!({"intValue": "2"}));
    assert_eq!(attribute(rounds[0], "gen_ai.request.model"), json!({"stringValue": "scripted"}));
    assert_eq!(attribute(rounds[0], "gen_ai.usage.input_tokens"), json!({"intValue": "120"}));
    assert_eq!(attribute(tool, "gen_ai.tool.name"), json!({"stringValue": "Bash"}));
    assert_eq!(attribute(tool, "gen_ai.tool.call.id"), json!({"stringValue": "c1"}));

    // The command has the tool's span, each request to the model its round's.
    let tool_parent = format!("trace=00-{TRACE}-{}-01", tool["spanId"].as_str().unwrap());
    assert!(run.said.contains(&tool_parent), "{tool_parent}: {}", run.said);
    for ((head, _), round) in run.asked.iter().zip(&rounds) {
        let wanted = format!("traceparent: 00-{TRACE}-{}-01", round["spanId"].as_str().unwrap());
        assert!(head.contains(&wanted), "{wanted}: {head}");
    }
    // Nothing of what was said, no argument, no result, no key.
    for (head, body) in &run.posts {
        assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
        assert!(
            head.contains("content-type: application/json") && head.contains("x-tenant: a b"),
            "{head}"
        );
        let text = body.to_string();
        for secret in ["sk-secret", "whisper this", "echo", "trace=", "All done"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        assert_eq!(
            attribute(&body["resourceSpans"][0]["resource"], "service.name"),
            json!({"stringValue": "agentglot"})
        );
    }
}

#[test]
fn a_tool_that_fails_is_a_failed_span() {
    let run = run(&[], Collector::Takes, "exit 3");
    let tool = run.spans.iter().find(|span| span["name"] == "tool").unwrap();
    assert_eq!((status(tool), attribute(tool, "error.type")), (2, json!({"stringValue": "error"})));
    let turn = run.spans.iter().find(|span| span["name"] == "turn").unwrap();
    let parent = turn["parentSpanId"].as_str().unwrap_or_default();
    assert_eq!((status(turn), parent), (0, ""), "it begins a trace of its own");
}

#[test]
fn a_parent_that_is_not_sampled_is_handed_on_and_told_nothing_of() {
    let parent = format!("00-{TRACE}-{PARENT}-00");
    let run = run(&[("TRACEPARENT", &parent)], Collector::Takes, "echo trace=$TRACEPARENT");
    assert!(run.posts.is_empty(), "{:?}", run.posts);
    assert!(run.said.contains(&format!("trace={parent}")), "{}", run.said);
    assert!(run.asked[0].0.contains(&format!("traceparent: {parent}")), "{}", run.asked[0].0);
}

#[test]
fn a_collector_that_never_answers_holds_nobody_up() {
    let stuck = run(&[], Collector::Stuck, "true");
    assert!(stuck.said.contains("All done"));
    assert!(stuck.took < Duration::from_secs(8), "{:?}", stuck.took);
    let gone = run(&[], Collector::Gone, "true");
    assert!(gone.said.contains("All done"));
}

#[derive(Clone, Copy, PartialEq)]
enum Collector {
    Takes,
    Stuck,
    Gone,
}

fn run(env: &[(&str, &str)], collector: Collector, command: &'static str) -> Run {
    let (posts, asked) = (Seen::default(), Seen::default());
    let sink = serve(posts.clone(), move |mut stream, _| {
        if collector == Collector::Stuck {
            std::thread::sleep(Duration::from_secs(30));
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    });
    let sink = if collector == Collector::Gone {
        "http://127.0.0.1:9".to_owned()
    } else {
        sink
    };
    let model = serve(asked.clone(), move |stream, body| answer(stream, body, command));
    let home = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let mut agent = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    agent.args(["run", "--as", "claude", "--backend", "model:openai", "--"]);
    agent.args(["-p", "--output-format", "stream-json", "--verbose", "--model", "scripted"]);
    agent.args(["--dangerously-skip-permissions", "whisper this"]);
    agent.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path());
    agent.env("OPENAI_BASE_URL", format!("{model}/v1")).env("OPENAI_API_KEY", "sk-secret");
    agent.env("NO_PROXY", "127.0.0.1").env("OTEL_EXPORTER_OTLP_ENDPOINT", sink);
    agent.env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b").envs(env.iter().copied());
    agent.current_dir(home.path()).stdin(Stdio::null());
    let output = agent.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let posts = posts.lock().unwrap().clone();
    let spans = posts
        .iter()
        .flat_map(|(_, body)| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned().unwrap_or_default())
        .collect();
    Run {
        spans,
        asked: asked.lock().unwrap().clone(),
        posts,
        said,
        took: begun.elapsed(),
    }
}

/// 0 if nothing is said, 2 for an error.
fn status(of: &Value) -> u64 {
    of["status"]["code"].as_u64().unwrap_or(0)
}

fn attribute(of: &Value, name: &str) -> Value {
    let all = of["attributes"].as_array().expect("attributes");
    all.iter().find(|one| one["key"] == name).unwrap_or_else(|| panic!("no {name} in {of:#}"))["value"].clone()
}

/// A model that runs a command and is done.
fn answer(mut stream: TcpStream, body: &Value, command: &str) {
    let called = body["messages"]
        .as_array()
        .is_some_and(|all| all.iter().any(|message| message["role"] == "tool"));
    let (delta, reason) = if called {
        (json!({"content": "All done"}), "stop")
    } else {
        let arguments = json!({"command": command}).to_string();
        let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "Bash", "arguments": arguments}});
        (json!({"tool_calls": [call]}), "tool_calls")
    };
    let chunk = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let usage = json!({"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127});
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice],
            "usage": reason.map(|_| usage)});
        format!("data: {chunk}\n\n")
    };
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{}{}data: [DONE]\n\n",
        chunk(delta, None),
        chunk(json!({}), Some(reason))
    );
}

/// A server that keeps what it is sent.
fn serve(seen: Seen, reply: impl Fn(TcpStream, &Value) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reply = Arc::new(reply);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (seen, reply) = (seen.clone(), reply.clone());
            std::thread::spawn(move || -> std::io::Result<()> {
                let mut reader = BufReader::new(stream.try_clone()?);
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line)?;
                    let lower = line.to_lowercase();
                    if let Some(value) = lower.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap_or(0);
                    }
                    head.push_str(&lower);
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body)?;
                let body: Value = serde_json::from_slice(&body).unwrap_or_default();
                seen.lock().unwrap().push((head, body.clone()));
                reply(stream, &body);
                Ok(())
            });
        }
    });
    format!("http://{address}")
}
