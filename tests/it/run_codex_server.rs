//! `codex app-server` behind a host of Claude's: a stand-in says what the real one was recorded to say, or misbehaves.

use serde_json::{Value, json};

use crate::support::stage::{CLAUDE, End, Host, Stage, request, user};
use crate::support::turns::{prompts, stage, starts, typed};
use crate::support::within;

const GREETED: &str =
    r#"say {"id":"agentglot-1","result":{"userAgent":"agentglot/0.169.0","codexHome":"/h","platformFamily":"unix","platformOs":"linux"}}"#;
const THREAD: &str = "01a1fcf8-3737-7ac1-b8c6-360e864ada65";

/// What the program does: the handshake up to an open thread, and then this.
fn opened(then: &[&str]) -> Vec<String> {
    let thread = json!({"id":THREAD,"cwd":"/w","cliVersion":"0.169.0","model":"gpt-5.5","turns":[]});
    let answer = json!({"id":"agentglot-2","result":{"thread":thread,"model":"gpt-5.5","cwd":"/w","approvalPolicy":"untrusted"}});
    let script = ["read", GREETED, "read", "read"].map(str::to_owned).into_iter();
    let script = script.chain([format!("say {answer}")]);
    script.chain(then.iter().map(|&line| line.to_owned())).collect()
}

/// A notification of the turn of this number.
fn tells(turn: u64, method: &str, params: Value) -> String {
    let mut params = params;
    params["threadId"] = json!(THREAD);
    params["turnId"] = json!(format!("turn-{turn}"));
    format!("say {}", json!({"method":method,"params":params}))
}

/// Waits for the request of the turn, whose id is this, and begins it.
pub(crate) fn begins(turn: u64, request: u64) -> Vec<String> {
    let told = json!({"id":format!("turn-{turn}"),"items":[],"status":"inProgress","error":null});
    vec![
        "read".to_owned(),
        format!("say {}", json!({"id":format!("agentglot-{request}"),"result":{"turn":told}})),
        tells(turn, "turn/started", json!({"turn":told})),
    ]
}

pub(crate) fn says(turn: u64, text: &str) -> Vec<String> {
    let item = |text: &str| json!({"item":{"type":"agentMessage","id":format!("msg-{turn}"),"text":text}});
    vec![
        tells(turn, "item/started", item("")),
        tells(turn, "item/agentMessage/delta", json!({"itemId":format!("msg-{turn}"),"delta":text})),
        tells(turn, "item/completed", item(text)),
    ]
}

pub(crate) fn ends(turn: u64, status: &str, text: Option<&str>) -> String {
    let items: Vec<Value> = text.iter().map(|text| json!({"type":"agentMessage","id":"m","text":text})).collect();
    tells(
        turn,
        "turn/completed",
        json!({"turn":{"id":format!("turn-{turn}"),"items":items,"status":status,"error":null,"durationMs":5}}),
    )
}

pub(crate) fn answers(turn: u64, request: u64, text: &str) -> Vec<String> {
    [begins(turn, request), says(turn, text), vec![ends(turn, "completed", Some(text))]].concat()
}

/// A command that waits for permission.
fn asks(turn: u64) -> Vec<String> {
    let item = json!({"type":"commandExecution","id":"call-1","command":"/bin/bash -lc 'touch a'","cwd":"/w","status":"inProgress","aggregatedOutput":null,"exitCode":null});
    let question = json!({"threadId":THREAD,"turnId":format!("turn-{turn}"),"itemId":"call-1","command":"/bin/bash -lc 'touch a'","availableDecisions":["accept","cancel"]});
    vec![
        tells(turn, "item/started", json!({"item":item})),
        format!(
            "say {}",
            json!({"method":"item/commandExecution/requestApproval","id":0,"params":question})
        ),
        "read".to_owned(),
        tells(turn, "serverRequest/resolved", json!({"requestId":0})),
    ]
}

fn ran(turn: u64, status: &str, exit: Option<u64>) -> String {
    let item = json!({"type":"commandExecution","id":"call-1","command":"/bin/bash -lc 'touch a'","cwd":"/w","status":status,"aggregatedOutput":exit.map(|_| "done"),"exitCode":exit});
    tells(turn, "item/completed", json!({"item":item}))
}

pub(crate) fn plays(parts: &[Vec<String>]) -> Stage {
    stage(&[opened(&[]).into_iter().chain(parts.concat()).collect()])
}

/// What the program was told, message by message.
pub(crate) fn told(stage: &Stage) -> Vec<Value> {
    typed(stage).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn one<'t>(told: &'t [Value], method: &str) -> &'t Value {
    let mut found = told.iter().filter(|message| message["method"] == method);
    let message = found.next().unwrap_or_else(|| panic!("no {method}: {told:#?}"));
    assert!(found.next().is_none(), "{told:#?}");
    message
}

fn answer(host: &mut Host, asked: &Value, body: Value) {
    let id = &asked["request_id"];
    host.say(&json!({"type":"control_response","response":{"subtype":"success","request_id":id,"response":body}}).to_string());
}

fn tool_result(end: &End) -> &Value {
    let results = end
        .lines
        .iter()
        .filter(|line| line["type"] == "user")
        .map(|line| &line["message"]["content"][0]);
    let results: Vec<_> = results.filter(|block| block["type"] == "tool_result").collect();
    assert_eq!(results.len(), 1, "{end:#?}");
    results[0]
}

#[test]
fn several_turns_are_one_process_and_come_in_pieces() {
    within(60, async {
        let stage = plays(&[answers(1, 3, "First."), answers(2, 4, "Second."), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], &[CLAUDE, &["--include-partial-messages"]].concat());
        host.say(&user("one")).say(&user("two")).close();
        let end = host.end();
        let said: Vec<_> = end.results().iter().map(|result| result["result"].clone()).collect();
        assert_eq!((said, end.code()), (vec![json!("First."), json!("Second.")], 0), "{end:#?}");
        let count = |what: &str| {
            let deltas = end.lines.iter().filter(|line| line["event"]["type"] == what);
            deltas.count()
        };
        assert_eq!((count("content_block_delta"), count("message_stop")), (2, 2), "{end:#?}");
        // It says every prompt again; its host has not asked for that.
        assert!(end.lines.iter().all(|line| line["type"] != "user"), "{end:#?}");
        assert_eq!(starts(&stage), [["app-server"]]);
        let told = told(&stage);
        let opens = one(&told, "thread/start");
        assert_eq!(
            (&opens["params"]["approvalPolicy"], &opens["params"]["sandbox"]),
            (&json!("untrusted"), &json!("workspace-write"))
        );
        assert_eq!(told.iter().filter(|message| message["method"] == "turn/start").count(), 2);
        assert_eq!(stage.living(), [0; 0]);
    });
}

#[test]
fn the_host_is_asked_in_its_own_words_and_its_answer_reaches_the_program() {
    within(60, async {
        for (body, decision, status, words, denied) in [
            (json!({"behavior":"allow"}), "accept", "completed", "done", 0),
            (
                json!({"behavior":"deny","message":"not on my watch"}),
                "decline",
                "declined",
                "not on my watch",
                1,
            ),
        ] {
            let end = [ran(1, status, (denied == 0).then_some(0)), ends(1, "completed", None)];
            let stage = plays(&[begins(1, 3), asks(1), end.to_vec(), vec!["read all".to_owned()]]);
            let mut host = stage.host("claude", "codex", &[], CLAUDE);
            host.say(&user("one"));
            let asked = host.until("control_request");
            assert_eq!(
                (
                    &asked["request"]["tool_name"],
                    &asked["request"]["input"]["command"],
                    &asked["request"]["tool_use_id"]
                ),
                (&json!("Bash"), &json!("touch a"), &json!("call-1"))
            );
            answer(&mut host, &asked, body);
            host.until("result");
            host.close();
            let end = host.end();
            let result = tool_result(&end);
            assert!(result["content"].to_string().contains(words), "{result}");
            assert_eq!(result["is_error"] == true, denied == 1, "{result}");
            assert_eq!(end.result()["permission_denials"].as_array().unwrap().len(), denied, "{end:#?}");
            let told = told(&stage);
            let answers: Vec<_> = told.iter().filter(|message| message["id"] == 0).collect();
            assert_eq!(answers.len(), 1, "{told:#?}");
            assert_eq!(answers[0]["result"]["decision"], decision);
        }
    });
}

/// Whoever the agent is, its host may allow a tool for the rest of the session: it is not asked about that one again.
#[test]
fn a_tool_can_be_allowed_for_the_session() {
    within(60, async {
        let turn = |n| [begins(n, n + 2), asks(n), vec![ran(n, "completed", Some(0)), ends(n, "completed", None)]].concat();
        let stage = plays(&[turn(1), turn(2), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        let asked = host.until("control_request");
        let suggested = &asked["request"]["permission_suggestions"];
        assert_eq!(
            suggested,
            &json!([{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}])
        );
        let input = &asked["request"]["input"];
        let body = json!({"behavior":"allow","updatedInput":input,"updatedPermissions":suggested});
        answer(&mut host, &asked, body);
        host.until("result");
        host.say(&user("two")).close();
        let end = host.end();
        assert_eq!(end.results().len(), 2, "{end:#?}");
        let asked = end.lines.iter().filter(|line| line["type"] == "control_request").count();
        assert_eq!(asked, 1, "{end:#?}");
        let told = told(&stage);
        let decisions: Vec<_> = told
            .iter()
            .filter(|message| message["id"] == 0)
            .map(|message| &message["result"]["decision"])
            .collect();
        assert_eq!(decisions, ["accept", "accept"]);
    });
}

/// Arguments that the host has changed would not be those that run.
#[test]
fn changed_arguments_are_a_denial() {
    within(60, async {
        let end = [ran(1, "declined", None), ends(1, "completed", None)];
        let stage = plays(&[begins(1, 3), asks(1), end.to_vec(), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        let asked = host.until("control_request");
        answer(&mut host, &asked, json!({"behavior":"allow","updatedInput":{"command":"touch b"}}));
        host.until("result");
        host.close();
        let end = host.end();
        assert!(tool_result(&end)["content"].to_string().contains("only with the arguments"), "{end:#?}");
        assert!(typed(&stage).contains(r#""decision":"decline""#));
    });
}

#[test]
fn an_interrupt_stops_the_turn_that_runs_and_the_session_goes_on() {
    within(60, async {
        let waits = [begins(1, 3), says(1, "Slow")].concat();
        let stopped = [
            "read".to_owned(),
            r#"say {"id":"r1","result":{}}"#.to_owned(),
            ends(1, "interrupted", None),
        ];
        let stage = plays(&[waits, stopped.to_vec(), answers(2, 4, "Second."), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        host.until("assistant");
        host.say(&request("r1", r#"{"subtype":"interrupt"}"#));
        assert_eq!(host.until("control_response")["response"]["subtype"], "success");
        assert_eq!(host.until("result")["subtype"], "error_during_execution");
        host.say(&user("two"));
        assert_eq!(host.until("result")["result"], "Second.");
        host.close();
        assert_eq!(host.end().code(), 0);
        let told = told(&stage);
        assert_eq!(one(&told, "turn/interrupt")["params"], json!({"threadId":THREAD,"turnId":"turn-1"}));
        assert_eq!(starts(&stage).len(), 1);
    });
}

#[test]
fn another_model_or_mode_is_told_with_the_next_turn() {
    within(60, async {
        let stage = plays(&[answers(1, 3, "First."), answers(2, 4, "Second."), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        host.until("result");
        host.say(&request("r1", r#"{"subtype":"set_model","model":"other"}"#));
        host.say(&request("r2", r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#));
        for _ in 0..2 {
            assert_eq!(host.until("control_response")["response"]["subtype"], "success");
        }
        host.say(&user("two"));
        host.until("result");
        host.close();
        let end = host.end();
        let inits: Vec<_> = end.lines.iter().filter(|line| line["subtype"] == "init").collect();
        assert_eq!(
            (&inits[1]["model"], &inits[1]["permissionMode"]),
            (&json!("other"), &json!("acceptEdits"))
        );
        let told = told(&stage);
        let turns: Vec<_> = told.iter().filter(|message| message["method"] == "turn/start").collect();
        assert_eq!(turns[0]["params"].get("model"), None);
        let params = &turns[1]["params"];
        assert_eq!((&params["model"], &params["approvalPolicy"]), (&json!("other"), &json!("on-request")));
        assert_eq!(params["sandboxPolicy"]["type"], "workspaceWrite");
    });
}

#[test]
fn a_thread_is_gone_on_with_and_one_that_is_not_there_refused_in_the_host_s_words() {
    within(60, async {
        let args = [CLAUDE, &["--resume", THREAD]].concat();
        let stage = plays(&[answers(1, 3, "On."), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], &args);
        host.say(&user("one")).close();
        let end = host.end();
        assert_eq!((&end.result()["result"], &end.result()["session_id"]), (&json!("On."), &json!(THREAD)));
        assert_eq!(one(&told(&stage), "thread/resume")["params"]["threadId"], THREAD);

        let refuses = format!(r#"say {{"id":"agentglot-2","error":{{"code":-32600,"message":"no rollout found for thread id {THREAD}"}}}}"#);
        let stage = stage_of(&["read", GREETED, "read", "read", &refuses, "read all"]);
        let mut host = stage.host("claude", "codex", &[], &args);
        host.say(&user("one")).close();
        let end = host.end();
        assert!(
            end.stderr.contains(&format!("No conversation found with session ID: {THREAD}")),
            "{end:#?}"
        );
        assert_ne!(end.code(), 0);
        assert_eq!(stage.living(), [0; 0]);
    });
}

fn stage_of(script: &[&str]) -> Stage {
    stage(&[script.iter().map(|&line| line.to_owned()).collect()])
}

#[test]
fn one_that_never_answers_the_handshake_is_given_up() {
    within(60, async {
        for script in [&["hang"][..], &["read", GREETED, "hang"], &["say WARN this is no message", "hang"]] {
            let stage = stage_of(script);
            let mut host = stage.host("claude", "codex", &["--start-timeout", "1"], CLAUDE);
            host.say(&user("one"));
            let result = host.until("result");
            assert_eq!(result["is_error"], true, "{result}");
            host.close();
            let end = host.end();
            assert_eq!(end.results().len(), 1, "{end:#?}");
            assert_eq!(stage.living(), [0; 0], "{script:?}");
        }
    });
}

#[test]
fn one_that_dies_in_its_turn_leaves_one_failure() {
    within(60, async {
        for end in ["exit 0", "die KILL"] {
            let stage = plays(&[begins(1, 3), says(1, "Half"), vec!["spawn".to_owned(), end.to_owned()]]);
            let mut host = stage.host("claude", "codex", &[], CLAUDE);
            host.say(&user("one")).say(&user("two"));
            let result = host.until("result");
            assert_eq!(result["is_error"], true, "{result}");
            let all = host.end();
            assert!(all.results().iter().all(|result| result["is_error"] == true), "{all:#?}");
            assert_ne!(all.code(), 0);
            assert_eq!(starts(&stage).len(), 1, "what ran once is no older program");
            assert_eq!(stage.living(), [0; 0]);
        }
    });
}

/// A host that shows what runs would wait for it for ever.
#[test]
fn a_call_of_one_that_is_killed_has_a_result() {
    within(60, async {
        let runs = asks(1)[..1].to_vec();
        let stage = plays(&[[begins(1, 3), runs, vec!["die KILL".to_owned()]].concat()]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        let end = host.end();
        assert_eq!(tool_result(&end)["is_error"], true, "{end:#?}");
        assert_eq!(end.result()["is_error"], true, "{end:#?}");
    });
}

/// Lines that are none, questions of kinds that nobody knows, answers that nobody waits for.
#[test]
fn nonsense_is_survived() {
    within(60, async {
        let nonsense = [
            "say WARN something",
            r#"say {"method":"item/agentMessage/delta","params":"#,
            "say []",
            r#"say {"id":"agentglot-77","result":{}}"#,
            r#"say {"id":null,"error":{"code":-1,"message":"what?"}}"#,
            r#"say {"id":"agentglot-3"}"#,
            r#"say {"method":"item/agentMessage/delta","params":{"threadId":"another","turnId":"x","itemId":"y","delta":"Not yours."}}"#,
            r#"say {"method":"item/teleport/requestApproval","id":"q","params":{"threadId":"x","itemId":"c"}}"#,
            "read",
            r#"say {"method":"turn/completed","params":{"threadId":"another","turn":{"id":"x","items":[],"status":"completed"}}}"#,
        ];
        let nonsense = nonsense.map(str::to_owned).to_vec();
        let rest = [says(1, "Fine."), vec![ends(1, "completed", Some("Fine.")), "read all".to_owned()]].concat();
        let stage = plays(&[begins(1, 3), nonsense, rest]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one")).close();
        let end = host.end();
        assert_eq!((&end.result()["result"], end.code()), (&json!("Fine."), 0), "{end:#?}");
        let told = told(&stage);
        let refused = told.iter().find(|message| message["id"] == "q").expect("it is answered");
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    });
}

#[test]
fn a_turn_that_the_program_refuses_has_failed_and_the_next_one_begins() {
    within(60, async {
        let refuses = vec![
            "read".to_owned(),
            r#"say {"id":"agentglot-3","error":{"code":-32600,"message":"no such model"}}"#.to_owned(),
        ];
        let stage = plays(&[refuses, answers(2, 4, "Second."), vec!["read all".to_owned()]]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        let first = host.until("result");
        assert!(first["is_error"] == true && first.to_string().contains("no such model"), "{first}");
        host.say(&user("two"));
        assert_eq!(host.until("result")["result"], "Second.");
        host.close();
        assert_eq!(host.end().results().len(), 2);
    });
}

/// Who can be asked nothing is answered for by `--on-ask`.
#[test]
fn one_prompt_without_a_channel_is_answered_for() {
    within(60, async {
        for (on_ask, decision, status) in [("deny", "decline", "declined"), ("command_execution", "accept", "completed")] {
            let rest = [ran(1, status, None), ends(1, "completed", None), "read all".to_owned()];
            let stage = plays(&[begins(1, 3), asks(1), rest.to_vec()]);
            let host = stage.host(
                "claude",
                "codex",
                &["--on-ask", on_ask],
                &["-p", "--output-format", "stream-json", "--verbose", "go"],
            );
            let end = host.end();
            assert!(typed(&stage).contains(&format!(r#""decision":"{decision}""#)), "{on_ask}: {end:#?}");
        }
    });
}

/// A host of its own gets the lines of `exec` as they are.
#[test]
fn behind_codex_exec_it_is_codex_exec() {
    within(60, async {
        let log = format!("{}/golden/codex/resume_1.out.jsonl", env!("CARGO_MANIFEST_DIR"));
        let stage = stage_of(&["read all", &format!("file 0 {log}")]);
        let mut host = stage.host("codex", "codex", &[], &["exec", "--json", "--skip-git-repo-check", "go"]);
        host.close();
        let end = host.end();
        let recorded = std::fs::read_to_string(log).unwrap();
        let recorded: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((end.lines, end.status.code()), (recorded, Some(0)));
        assert!(
            starts(&stage)[0].starts_with(&["exec".to_owned(), "--json".to_owned()]),
            "{:?}",
            starts(&stage)
        );
    });
}

/// An older program has no app-server: it is started for each turn.
#[test]
fn one_without_an_app_server_is_started_for_each_turn() {
    within(60, async {
        let log = |name: &str| format!("file 0 {}/golden/codex/{name}.out.jsonl", env!("CARGO_MANIFEST_DIR"));
        let older = ["warn error: unrecognized subcommand 'app-server'".to_owned(), "exit 2".to_owned()];
        let turn = |name: &str| vec!["read all".to_owned(), log(name)];
        let stage = stage(&[older.to_vec(), turn("resume_1"), turn("resume_2")]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        assert_eq!(host.until("result")["result"], "Hello from the scripted model.");
        host.say(&request("r1", r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#));
        host.until("control_response");
        host.say(&user("two")).close();
        let end = host.end();
        assert_eq!(end.results()[1]["result"], "Second answer.", "{end:#?}");
        assert_eq!(end.code(), 0);
        let starts = starts(&stage);
        assert_eq!(starts[0], ["app-server"]);
        assert!(starts[1].contains(&"--sandbox=read-only".to_owned()), "{starts:?}");
        assert!(starts[2].contains(&"--sandbox=workspace-write".to_owned()), "{starts:?}");
        assert_eq!(prompts(&stage), "onetwo");
    });
}

/// What has ended once ends no other turn, and what has answered is no older program.
#[test]
fn an_end_is_that_of_its_own_turn() {
    within(60, async {
        let stage = plays(&[
            answers(1, 3, "First."),
            begins(2, 4),
            vec![ends(1, "completed", Some("First.")), ends(7, "failed", None)],
            says(2, "Second."),
            vec![ends(2, "completed", None), "read all".to_owned()],
        ]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one")).say(&user("two")).close();
        let end = host.end();
        let results: Vec<_> = end.results().iter().map(|result| result["result"].clone()).collect();
        assert_eq!(results, ["First.", "Second."], "{end:#?}");

        let stage = stage_of(&["read", GREETED, "read", "warn no luck", "die KILL"]);
        let mut host = stage.host("claude", "codex", &[], CLAUDE);
        host.say(&user("one"));
        let end = host.end();
        assert!(end.result().to_string().contains("no luck"), "{end:#?}");
        assert_eq!(starts(&stage).len(), 1, "{end:#?}");
    });
}
