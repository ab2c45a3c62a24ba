//! Gemini CLI and OpenCode behind a host of Claude's as agents of the Agent Client Protocol: a stand-in says what the real ones were heard to say.

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, Host, Stage, request, user};
use crate::support::turns::{stage, starts, typed};
use crate::support::within;

/// A line end in a script is one of the output.
fn say(message: &Value) -> String {
    format!("say {}", message.to_string().replace("\\n", "\\u000a"))
}

fn answers(id: u64, result: &Value) -> String {
    say(&json!({"jsonrpc":"2.0","id":id,"result":result}))
}

fn update(update: &Value) -> String {
    say(&json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":update}}))
}

fn text(text: &str) -> String {
    update(&json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":text}}))
}

fn asks(call: &Value) -> String {
    let options = json!([{"optionId":"all","kind":"allow_always"},{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]);
    say(&json!({"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":call,"options":options}}))
}

/// The handshake, and then this; the first prompt is the third request.
fn program(opened: &Value, then: &[String]) -> Stage {
    let greeted = json!({"protocolVersion":1,"agentCapabilities":{"loadSession":true}});
    let begin = [
        "read".to_owned(),
        answers(0, &greeted),
        "read".to_owned(),
        answers(1, opened),
        "read".to_owned(),
    ];
    stage(&[[&begin[..], then, &["read all".to_owned()]].concat()])
}

/// What a program of Google's lists.
fn gemini(then: &[String]) -> Stage {
    let modes = json!({"currentModeId":"default","availableModes":[{"id":"default"},{"id":"autoEdit"},{"id":"yolo"},{"id":"plan"}]});
    program(&json!({"sessionId":"s-1","modes":modes}), then)
}

fn opencode(then: &[String]) -> Stage {
    let mode = json!({"id":"mode","category":"mode","currentValue":"build","options":[{"value":"build"},{"value":"plan"}]});
    let models = json!([{"value":"anthropic/claude-haiku-4-5"},{"value":"anthropic/claude-sonnet-4-5"}]);
    let model = json!({"id":"model","category":"model","currentValue":"anthropic/claude-sonnet-4-5","options":models});
    program(&json!({"sessionId":"s-1","configOptions":[model, mode]}), then)
}

/// The script names the folder that it is played in.
fn in_its_folder(stage: &Stage) {
    let folder = std::fs::canonicalize(stage.path("")).unwrap().display().to_string();
    let script = std::fs::read_to_string(stage.path("agent-program.script")).unwrap();
    std::fs::write(stage.path("agent-program.script"), script.replace("FOLDER", folder.trim_end_matches('/'))).unwrap();
}

fn answer(host: &mut Host, asked: &Value, body: &Value) {
    let id = &asked["request_id"];
    host.say(&json!({"type":"control_response","response":{"subtype":"success","request_id":id,"response":body}}).to_string());
}

fn blocks<'v>(lines: &'v [Value], kind: &'v str) -> Vec<&'v Value> {
    let content = lines.iter().filter_map(|line| line["message"]["content"].as_array()).flatten();
    content.filter(|block| block["type"] == kind).collect()
}

#[test]
fn gemini_asks_in_the_hosts_words_and_answers_every_turn_in_one_process() {
    within(60, async {
        let diff = json!([{"type":"diff","path":"/w/a.txt","oldText":"","newText":"new\n"}]);
        let call = json!({"toolCallId":"write_file__write_file_1_0","status":"pending","title":"Writing to a.txt","kind":"edit","content":diff});
        let mut done = call.clone();
        done["sessionUpdate"] = json!("tool_call_update");
        done["status"] = json!("completed");
        let shell = json!({"sessionUpdate":"tool_call","toolCallId":"run_shell_command__run_shell_command_2_0","status":"in_progress","title":"false","kind":"execute","content":[]});
        let mut failed = shell.clone();
        failed["sessionUpdate"] = json!("tool_call_update");
        failed["status"] = json!("completed");
        failed["content"] = json!([{"type":"content","content":{"type":"text","text":"Output: (empty)\nExit Code: 1\nProcess Group PGID: 9"}}]);
        let stage = gemini(&[
            asks(&call),
            "read".to_owned(),
            update(&done),
            text("Written."),
            answers(2, &json!({"stopReason":"end_turn"})),
            "read".to_owned(),
            update(&shell),
            update(&failed),
            text("It failed."),
            answers(3, &json!({"stopReason":"end_turn"})),
        ]);
        let mut host = stage.host("claude", "gemini", &[], &[CLAUDE, &["--model", "m", "--allowedTools", "Read"]].concat());
        host.say(&user("one"));
        let asked = host.until("control_request");
        assert_eq!(
            (&asked["request"]["tool_name"], &asked["request"]["input"]),
            (&json!("Write"), &json!({"file_path":"/w/a.txt","content":"new\n"}))
        );
        answer(&mut host, &asked, &json!({"behavior":"allow"}));
        assert_eq!(host.until("result")["result"], "Written.");
        host.say(&user("two"));
        assert_eq!(host.until("result")["result"], "It failed.");
        host.close();
        let end = host.end();
        let calls: Vec<_> = blocks(&end.lines, "tool_use")
            .iter()
            .map(|call| (call["name"].clone(), call["input"].clone()))
            .collect();
        assert_eq!(calls[0], (json!("Write"), json!({"file_path":"/w/a.txt","content":"new\n"})));
        assert_eq!(calls[1], (json!("Bash"), json!({"command":"false"})));
        let failed: Vec<_> = blocks(&end.lines, "tool_result")
            .iter()
            .map(|result| result["is_error"] == true)
            .collect();
        assert_eq!(failed, [false, true], "{end:#?}");
        assert_eq!(
            starts(&stage),
            [[
                "--acp",
                "--skip-trust",
                "--debug",
                "--model=m",
                "--approval-mode=default",
                "--allowed-tools=read_file"
            ]]
        );
        assert!(typed(&stage).contains(r#""optionId":"yes""#));
        assert_eq!(stage.living(), [0; 0]);
    });
}

/// It says nothing more of such a call, and the model goes on.
#[test]
fn a_call_that_gemini_may_not_make_has_the_hosts_words_as_its_result() {
    within(60, async {
        let call = json!({"toolCallId":"run_shell_command__run_shell_command_1_0","status":"pending","title":"rm a","kind":"execute","content":[]});
        let stage = gemini(&[
            asks(&call),
            "read".to_owned(),
            text("So be it."),
            answers(2, &json!({"stopReason":"end_turn"})),
        ]);
        let mut host = stage.host("claude", "gemini", &[], CLAUDE);
        host.say(&user("one"));
        let asked = host.until("control_request");
        answer(&mut host, &asked, &json!({"behavior":"deny","message":"not on my watch"}));
        let result = host.until("result");
        assert_eq!((&result["result"], &result["is_error"]), (&json!("So be it."), &json!(false)));
        assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
        host.close();
        let end = host.end();
        let results = blocks(&end.lines, "tool_result");
        assert_eq!(results.len(), 1, "{end:#?}");
        assert!(
            results[0]["is_error"] == true && results[0]["content"].to_string().contains("not on my watch"),
            "{results:?}"
        );
    });
}

/// The program is not told what it may do unasked: the host's hooks hear of a call first, and then its mode lets it run.
#[test]
fn hooks_of_the_host_guard_what_its_mode_lets_run() {
    within(60, async {
        let call = json!({"toolCallId":"run_shell_command__run_shell_command_1_0","status":"pending","title":"rm a","kind":"execute","content":[]});
        let mut done = call.clone();
        done["sessionUpdate"] = json!("tool_call_update");
        done["status"] = json!("completed");
        done["content"] = json!([{"type":"content","content":{"type":"text","text":"Output: gone\nExit Code: 0"}}]);
        let round = |number| {
            [
                asks(&call),
                "read".to_owned(),
                update(&done),
                text("Done."),
                answers(number, &json!({"stopReason":"end_turn"})),
            ]
        };
        let stage = gemini(&[&round(2)[..], &["read".to_owned()], &round(3)[..]].concat());
        let wants = &["--permission-mode", "bypassPermissions", "--allowedTools", "Bash"];
        let mut host = stage.host("claude", "gemini", &[], &[CLAUDE, wants].concat());
        let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["before"]}], "Stop": [{"hookCallbackIds": ["end"]}]});
        host.say(&request("i", &json!({"subtype": "initialize", "hooks": hooks}).to_string()));
        host.until("control_response");
        for decision in ["defer", "deny"] {
            host.say(&user("go"));
            let asked = host.until("control_request");
            let told = &asked["request"]["input"];
            assert_eq!(
                (&asked["request"]["callback_id"], &told["hook_event_name"], &told["tool_input"]["command"]),
                (&json!("before"), &json!("PreToolUse"), &json!("rm a"))
            );
            let decided = json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "not today"});
            let body = if decision == "deny" {
                json!({"hookSpecificOutput": decided})
            } else {
                json!({})
            };
            answer(&mut host, &asked, &body);
            let stops = host.until("control_request");
            assert_eq!(stops["request"]["callback_id"], "end");
            answer(&mut host, &stops, &json!({}));
            assert_eq!(host.until("result")["result"], "Done.");
        }
        host.close();
        let end = host.end();
        assert!(!end.lines.iter().any(|line| line["request"]["subtype"] == "can_use_tool"), "{end:#?}");
        assert_eq!(starts(&stage), [["--acp", "--skip-trust", "--debug", "--approval-mode=default"]]);
        let typed = typed(&stage);
        let (first, second) = (typed.find(r#""optionId":"yes""#), typed.find(r#""optionId":"no""#));
        assert!(first.is_some() && first < second, "{typed}");
        assert_eq!(stage.living(), [0; 0]);
    });
}

/// What is asked about it is by a variable: by itself it asks about next to nothing.
#[test]
fn opencode_is_made_to_ask_and_its_calls_are_the_hosts() {
    within(60, async {
        let first =
            json!({"sessionUpdate":"tool_call","toolCallId":"c-1","title":"bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"}});
        let input = json!({"command":"exit 3","description":"Fail","cwd":"/w"});
        let runs =
            json!({"sessionUpdate":"tool_call_update","toolCallId":"c-1","title":"exit 3","kind":"execute","status":"in_progress","rawInput":input});
        let asked = json!({"toolCallId":"c-1","title":"exit 3","kind":"execute","status":"pending","rawInput":{"command":"exit 3"}});
        let output = json!({"output":"out\n","metadata":{"exit":3}});
        let done = json!({"sessionUpdate":"tool_call_update","toolCallId":"c-1","title":"exit 3","status":"completed","rawOutput":output});
        let stage = opencode(&[
            "env OPENCODE_PERMISSION".to_owned(),
            update(&first),
            update(&runs),
            asks(&asked),
            "read".to_owned(),
            update(&done),
            text("It failed."),
            answers(2, &json!({"stopReason":"end_turn"})),
        ]);
        let mut command = stage.command("claude", "opencode", &[], CLAUDE);
        command.env("AGENTGLOT_LOG", "warn");
        let mut host = Host::new(command);
        host.say(&user("one"));
        let question = host.until("control_request");
        assert_eq!(
            (&question["request"]["tool_name"], &question["request"]["input"]),
            (&json!("Bash"), &json!({"command":"exit 3","description":"Fail"}))
        );
        answer(&mut host, &question, &json!({"behavior":"allow"}));
        host.until("result");
        host.close();
        let end = host.end();
        let results = blocks(&end.lines, "tool_result");
        assert!(
            results[0]["is_error"] == true && results[0]["content"].to_string().contains("out"),
            "{results:?}"
        );
        assert_eq!(end.lines[0]["model"], "claude-sonnet-4-5", "{end:#?}");
        assert_eq!(starts(&stage), [["acp"]]);
        for rule in [r#"\"edit\":\"ask\""#, r#"\"bash\":\"ask\""#] {
            assert!(end.stderr.contains(rule), "{end:#?}");
        }
    });
}

/// What it has asked about it has its host write, besides writing it itself: that is the call which was allowed, and no other.
#[test]
fn what_opencode_may_write_its_host_writes_unasked() {
    within(60, async {
        let content = json!([{"type":"diff","path":"FOLDER/a.txt","oldText":"","newText":"new\n"}]);
        let first = json!({"sessionUpdate":"tool_call","toolCallId":"c-1","title":"write","kind":"edit","status":"pending","rawInput":{}});
        let input = json!({"filePath":"FOLDER/a.txt","content":"new\n"});
        let runs =
            json!({"sessionUpdate":"tool_call_update","toolCallId":"c-1","title":"write","kind":"edit","status":"in_progress","rawInput":input});
        let about = json!({"filepath":"FOLDER/a.txt","diff":"+new\n"});
        let asked = json!({"toolCallId":"c-1","title":"FOLDER/a.txt","kind":"edit","status":"pending","rawInput":about,"content":content});
        let params = json!({"sessionId":"s-1","path":"FOLDER/a.txt","content":"new\n"});
        let done =
            json!({"sessionUpdate":"tool_call_update","toolCallId":"c-1","status":"completed","rawOutput":{"output":"Wrote file successfully."}});
        let stage = opencode(&[
            update(&first),
            update(&runs),
            asks(&asked),
            "read".to_owned(),
            say(&json!({"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":params})),
            "read".to_owned(),
            update(&done),
            answers(2, &json!({"stopReason":"end_turn"})),
        ]);
        in_its_folder(&stage);
        let mut host = stage.host("claude", "opencode", &[], CLAUDE);
        host.say(&user("one"));
        let question = host.until("control_request");
        answer(&mut host, &question, &json!({"behavior":"allow"}));
        host.until("result");
        host.close();
        let end = host.end();
        assert_eq!(end.lines.iter().filter(|line| line["type"] == "control_request").count(), 1, "{end:#?}");
        let calls: Vec<_> = blocks(&end.lines, "tool_use").iter().map(|call| call["name"].clone()).collect();
        assert_eq!(calls, ["Write"], "{end:#?}");
        assert_eq!(std::fs::read_to_string(stage.path("a.txt")).unwrap(), "new\n");
    });
}

/// It has no such mode: what it asks about changes of files is answered for the host.
#[test]
fn opencode_changes_files_unasked_where_its_host_accepts_edits() {
    within(60, async {
        let call = json!({"toolCallId":"c-1","title":"a.txt","kind":"edit","status":"pending","locations":[{"path":"FOLDER/a.txt"}]});
        let stage = opencode(&[
            answers(2, &json!({"stopReason":"end_turn"})),
            "read".to_owned(),
            asks(&call),
            "read".to_owned(),
            answers(3, &json!({"stopReason":"end_turn"})),
        ]);
        in_its_folder(&stage);
        let mut host = stage.host("claude", "opencode", &[], CLAUDE);
        host.say(&user("one"));
        host.until("result");
        host.say(&request("r-1", r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#));
        assert_eq!(host.until("control_response")["response"]["subtype"], "success");
        host.say(&user("two"));
        host.until("result");
        host.close();
        let end = host.end();
        assert!(end.lines.iter().all(|line| line["type"] != "control_request"), "{end:#?}");
        let modes: Vec<_> = end
            .lines
            .iter()
            .filter(|line| line["subtype"] == "init")
            .map(|line| line["permissionMode"].clone())
            .collect();
        assert_eq!(modes, ["default", "acceptEdits"]);
        assert!(typed(&stage).contains(r#""optionId":"yes""#));
    });
}

/// The protocol has no word for a schema: the answer is one if it is JSON of it, and if not the host hears that there is none.
#[test]
fn an_answer_of_a_schema_is_one_or_the_turn_has_failed() {
    const SCHEMA: &str = r#"{"type":"object","properties":{"answer":{"type":"number"}},"required":["answer"]}"#;
    within(120, async {
        let begun = request("i", &format!(r#"{{"subtype":"initialize","jsonSchema":{SCHEMA}}}"#));
        let flag = [CLAUDE, &["--json-schema", SCHEMA]].concat();
        for (backend, program) in [("gemini", gemini as fn(&[String]) -> Stage), ("opencode", opencode)] {
            for (args, begins) in [(&flag[..], None), (CLAUDE, Some(&begun))] {
                for (said, wanted) in [
                    (["{\"answer\":", "42}"], json!({"answer":42})),
                    (["```json\n{\"answer\":", "42}\n```\n"], json!({"answer":42})),
                    (["{\"answer\":", "\"42\"}"], Value::Null),
                    (["Forty", "-two."], Value::Null),
                ] {
                    let stage = program(&[text(said[0]), text(said[1]), answers(2, &json!({"stopReason":"end_turn"}))]);
                    let mut run = stage.host("claude", backend, &[], args);
                    begins.into_iter().for_each(|line| _ = run.say(line));
                    run.say(&user("hi")).close();
                    let end = run.end();
                    let result = end.result();
                    let subtype = if wanted.is_null() {
                        "error_max_structured_output_retries"
                    } else {
                        "success"
                    };
                    assert_eq!(
                        (&result["structured_output"], &result["subtype"]),
                        (&wanted, &json!(subtype)),
                        "{backend}: {result:#}"
                    );
                    assert_eq!(result["is_error"], wanted.is_null(), "{backend}: {result:#}");
                    let why = result["errors"].to_string();
                    assert_eq!(why.contains("no JSON of the schema"), wanted.is_null(), "{backend}: {result:#}");
                }
            }
        }
    });
}
