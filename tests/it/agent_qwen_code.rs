//! The built-in agent behind hosts of Qwen Code: what they read is what the program itself tells them (probed with 0.24.4).

use serde_json::{Value, json};

use crate::agent::{done, until};
use crate::support::model::{Answer, Step};
use crate::support::play::{Play, said};
use crate::support::stage::{Host, QWEN, request, user};

/// The SDK's arguments, with a mode.
fn sdk(mode: &'static str) -> Vec<&'static str> {
    vec![
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--channel=SDK",
        "--approval-mode",
        mode,
    ]
}

fn begun(play: &Play, args: &[&str]) -> Host {
    let mut host = play.host("qwen-code", args);
    host.say(&request("i", r#"{"subtype":"initialize","hooks":null}"#));
    host
}

fn run(command: &str) -> (&'static str, Value) {
    (
        "run_shell_command",
        json!({"command": command, "description": "x", "is_background": false}),
    )
}

/// Answers the question that comes next.
fn answer(host: &mut Host, answer: &Value) -> Value {
    let asked = host.until("control_request");
    let id = &asked["request_id"];
    host.say(&json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": answer}}).to_string());
    asked
}

/// What hosts read of the results of calls, in order.
fn results(lines: &[Value]) -> Vec<(bool, String)> {
    let blocks = lines.iter().filter(|line| line["type"] == "user").flat_map(|line| {
        let blocks = line["message"]["content"].as_array().cloned();
        blocks.unwrap_or_default()
    });
    blocks
        .filter(|block| block["type"] == "tool_result")
        .map(|block| (block["is_error"] == true, block["content"].as_str().unwrap_or_default().to_owned()))
        .collect()
}

#[test]
fn where_edits_are_accepted_commands_are_asked_about_still() {
    let play = Play::script(vec![Answer::calls(&[run("touch ran")]), done()]);
    let mut host = begun(&play, &sdk("auto-edit"));
    host.say(&user("go"));
    let asked = answer(&mut host, &json!({"behavior": "deny", "message": "no"}));
    assert_eq!(asked["request"]["tool_name"], "run_shell_command", "{asked}");
    let result = host.until("result");
    // What the host itself refuses is no denial of the program's.
    assert_eq!(result["permission_denials"], json!([]), "{result}");
    host.close();
    host.end();
    assert!(!play.path("ran").exists());
}

#[test]
fn tools_that_are_kept_from_the_model_say_why() {
    let play = Play::new(|_, number| match number {
        0 => Answer::calls(&[
            ("write_file", json!({"file_path": "/x", "content": ""})),
            run("ls"),
            ("edit", json!({"file_path": "/x", "old_string": "a", "new_string": "b"})),
            ("read_file", json!({"file_path": "secret.txt"})),
        ]),
        _ => done(),
    });
    std::fs::write(play.path("secret.txt"), "x").unwrap();
    let mut args = sdk("yolo");
    args.extend(["--core-tools", "read_file,write_file,edit"]);
    args.extend(["--exclude-tools", "write_file,Read(secret.txt)"]);
    let mut host = begun(&play, &args);
    host.say(&user("go"));
    let result = host.until("result");
    let told: Vec<String> = results(&host.seen).into_iter().map(|(_, text)| text).collect();
    let (mut refused, mut withheld, mut in_part) = (0, 0, 0);
    for text in &told {
        refused += usize::from(text.contains("but that permission was declined. Matching deny rule: \"write_file\"."));
        withheld += usize::from(text.contains("is not listed in the active core tools allowlist"));
        in_part += usize::from(text.contains("was denied by permission rules. Matching deny rule: \"Read(secret.txt)\"."));
    }
    assert_eq!((refused, withheld, in_part), (1, 1, 1), "{told:#?}");
    assert_eq!(result["permission_denials"].as_array().map(Vec::len), Some(3), "{result}");
    host.close();
    host.end();
}

#[test]
fn permission_for_no_arguments_is_permission_for_those_that_were_asked_about() {
    let play = Play::script(vec![
        Answer::calls(&[("write_file", json!({"file_path": "f.txt", "content": "written"}))]),
        done(),
    ]);
    let mut host = begun(&play, &sdk("default"));
    host.say(&user("go"));
    answer(&mut host, &json!({"behavior": "allow", "updatedInput": {}}));
    host.until("result");
    host.close();
    host.end();
    assert_eq!(play.read("f.txt"), "written");
}

#[test]
fn what_goes_wrong_with_the_model_is_told_as_a_reply_too() {
    let play = Play::script(vec![Answer::error(400, "bad request body"), done()]);
    let mut host = begun(&play, &sdk("yolo"));
    host.say(&user("go"));
    let reply = until(&mut host, "reply", |line| line["type"] == "assistant");
    let text = reply["message"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("[API Error: 400 "), "{reply}");
    assert_eq!(host.until("result")["error"]["message"], text);
    host.say(&user("again"));
    assert_eq!(host.until("result")["result"], "All done.");
    host.close();
    host.end();
}

#[test]
fn replies_that_are_none_are_asked_for_again_and_cut_ones_are_gone_on_with() {
    let nothing = || Answer::steps(vec![Step::Stop("stop")]);
    let play = Play::script(vec![nothing(), nothing(), nothing(), nothing()]);
    let end = play.one("qwen-code", &["--output-format", "stream-json", "-p"], "go");
    assert_eq!(
        end.result()["error"]["message"],
        "[API Error: Model stream ended with empty response text.]",
        "{end:#?}"
    );
    assert_eq!(play.server.asked().len(), 3);
    let play = Play::script(vec![nothing(), done()]);
    let end = play.one("qwen-code", &["--output-format", "stream-json", "-p"], "go");
    assert_eq!(
        (&end.result()["result"], &end.result()["num_turns"]),
        (&json!("All done."), &json!(1)),
        "{end:#?}"
    );

    let half = || Answer::steps(vec![Step::Text("Half a sent".into()), Step::Stop("length")]);
    let play = Play::script(vec![half(), Answer::text("ence.")]);
    let end = play.one("qwen-code", &["--output-format", "stream-json", "-p"], "go");
    assert_eq!(
        (&end.result()["result"], &end.result()["num_turns"]),
        (&json!("Half a sentence."), &json!(1)),
        "{end:#?}"
    );

    let broken = || Answer::steps(vec![Step::Text("Half a sent".into()), Step::Cut]);
    let play = Play::script(vec![broken(), Answer::text("ence.")]);
    let end = play.one("qwen-code", &["--output-format", "stream-json", "-p"], "go");
    assert_eq!(end.result()["result"], "Half a sentence.", "{end:#?}");
    assert!(play.server.asked()[1].all().contains("Half a sent"), "the model sees what it has said");
    let play = Play::script((0..4).map(|_| broken()).collect());
    let end = play.one("qwen-code", &["--output-format", "stream-json", "-p"], "go");
    assert_eq!((play.server.asked().len(), end.code()), (4, 1), "{end:#?}");
}

/// What a host's own server is asked.
fn served(message: &Value) -> Value {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "add", "description": "Adds", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "42"}]}),
        _ => json!({}),
    };
    json!({"mcp_response": {"jsonrpc": "2.0", "id": message["id"], "result": result}})
}

#[test]
fn hosts_are_not_asked_about_what_their_own_servers_do() {
    let play = Play::script(vec![Answer::calls(&[("mcp__calc__add", json!({"a": 2}))]), done()]);
    let mut host = play.host("qwen-code", &sdk("default"));
    host.say(&request(
        "i",
        r#"{"subtype":"initialize","hooks":null,"sdkMcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#,
    ));
    host.say(&user("go"));
    loop {
        let line = until(&mut host, "a request or the end", |line| {
            line["type"] == "control_request" || line["type"] == "result"
        });
        if line["type"] == "result" {
            break;
        }
        assert_eq!(line["request"]["subtype"], "mcp_message", "{line}");
        let (id, answer) = (&line["request_id"], served(&line["request"]["message"]));
        host.say(&json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": answer}}).to_string());
    }
    assert_eq!(results(&host.seen), [(false, "42".to_owned())]);
    host.close();
    host.end();
}

#[test]
fn a_stopped_turn_is_told_by_its_outcome_alone() {
    let play = Play::script(vec![
        Answer::steps(vec![Step::Text("I begin ".into()), Step::Pause(60_000), Step::Text("late".into())]),
        done(),
    ]);
    let mut args = sdk("yolo");
    args.push("--include-partial-messages");
    let mut host = begun(&play, &args);
    host.say(&user("go"));
    until(&mut host, "text", |line| line.to_string().contains("I begin"));
    host.say(&request("s", r#"{"subtype":"interrupt"}"#));
    assert_eq!(host.until("result")["error"]["message"], "Operation cancelled.");
    host.close();
    let end = host.end();
    assert!(!said(&end).contains("interrupted by user"), "{end:#?}");
}

#[test]
fn another_model_answers_from_the_next_round_on() {
    let play = Play::script(vec![Answer::calls(&[run("sleep 1")]), done(), done()]);
    let mut host = begun(&play, &sdk("yolo"));
    host.say(&user("go"));
    host.until("assistant");
    host.say(&request("m", r#"{"subtype":"set_model","model":"gpt-4.1"}"#));
    host.until("result");
    // A request that is refused changes nothing.
    host.say(&request("n", r#"{"subtype":"set_model","model":""}"#));
    host.say(&request("e", r#"{"subtype":"set_effort","effort":"high"}"#));
    host.say(&user("again"));
    let init = until(&mut host, "facts", |line| line["type"] == "system");
    assert_eq!(init["model"], "gpt-4.1", "{init}");
    host.until("result");
    host.close();
    host.end();
    let models: Vec<Value> = play.server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["gpt-4o", "gpt-4.1", "gpt-4.1"]);
}

#[test]
fn hosts_read_of_a_call_what_is_shown_of_it() {
    let play = Play::new(|_, number| match number {
        0 => Answer::calls(&[
            run("echo out"),
            run("exit 3"),
            (
                "ask_user_question",
                json!({"questions": [{"question": "Which colour?", "header": "Colour", "options": [
                    {"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]}]}),
            ),
        ]),
        _ => done(),
    });
    let mut host = begun(&play, &sdk("yolo"));
    host.say(&user("go"));
    let asked = host.until("control_request");
    let mut input = asked["request"]["input"].clone();
    input["answers"] = json!({"0": "Red"});
    let id = &asked["request_id"];
    host.say(
        &json!({"type": "control_response", "response": {"subtype": "success", "request_id": id,
            "response": {"behavior": "allow", "updatedInput": input}}})
        .to_string(),
    );
    host.until("result");
    let told = results(&host.seen);
    assert_eq!(told[0], (false, "out".to_owned()));
    assert!(told[1].0 && told[1].1.contains("Exit Code: 3"), "{told:#?}");
    assert_eq!(told[2], (false, "User has provided the following answers:\n\n**Colour**: Red".to_owned()));
    // The model reads all of it.
    assert!(play.server.asked()[1].all().contains("Command: echo out"));
    host.close();
    host.end();
}

#[test]
fn subagents_keep_their_words_and_only_those_of_the_host_are_named() {
    let play = Play::new(|asked, number| match number {
        0 => Answer::calls(&[(
            "agent",
            json!({"description": "d", "prompt": "do it", "subagent_type": "worker", "run_in_background": false}),
        )]),
        _ if asked.all().contains("do it") && number == 1 => Answer::steps(vec![
            Step::Text("WORDS OF ITS OWN".into()),
            Step::Call(
                "call_s".into(),
                "run_shell_command".into(),
                "{\"command\":\"echo s\",\"is_background\":false}".into(),
            ),
        ]),
        _ => done(),
    });
    let mut host = play.host("qwen-code", &sdk("yolo"));
    host.say(&request(
        "i",
        r#"{"subtype":"initialize","hooks":null,"agents":[{"name":"worker","description":"w","systemPrompt":"You work.","level":"session"}]}"#,
    ));
    host.say(&user("go"));
    let init = until(&mut host, "facts", |line| line["type"] == "system");
    assert_eq!(init["agents"], json!(["worker"]), "{init}");
    host.until("result");
    host.close();
    let end = host.end();
    assert!(!said(&end).contains("WORDS OF ITS OWN"), "{end:#?}");
    assert!(said(&end).contains("call_s"), "{end:#?}");
}

#[test]
fn the_limit_of_rounds_shows_in_the_exit_code() {
    let play = Play::script(vec![Answer::calls(&[run("true")])]);
    let mut args = sdk("yolo");
    args.extend(["--max-session-turns", "2"]);
    let mut host = begun(&play, &args);
    host.say(&user("go"));
    assert_eq!(host.until("result")["subtype"], "error_max_turns");
    host.close();
    assert_eq!(host.end().code(), 53);
}

#[test]
fn a_command_may_be_a_prompt() {
    let play = Play::script(vec![done()]);
    let mut host = begun(&play, &sdk("yolo"));
    host.say(&user("/init"));
    assert_eq!(host.until("result")["num_turns"], 1);
    host.close();
    host.end();
    assert!(play.server.asked()[0].last().contains("QWEN.md"));
}

#[test]
fn hosts_are_told_how_full_the_context_is_in_the_words_of_the_program() {
    let play = Play::script(vec![done()]);
    let mut host = begun(&play, &sdk("yolo"));
    host.say(&user("go"));
    host.until("result");
    host.say(&request("c", r#"{"subtype":"get_context_usage","show_details":false}"#));
    let told = until(&mut host, "answer", |line| line["response"]["request_id"] == "c");
    let usage = &told["response"]["response"];
    assert!(usage["totalTokens"].is_u64() && usage["contextWindowSize"].is_u64(), "{told}");
    assert!(usage["breakdown"]["systemPrompt"].is_u64() && usage["categories"].is_null(), "{told}");
    host.close();
    host.end();
}

#[test]
fn a_turn_whose_prompt_has_no_answer_goes_on_when_the_host_wants_that() {
    let play = Play::script(vec![Answer::error(400, "no"), Answer::text("Here it is.")]);
    let mut host = play.host("qwen-code", QWEN);
    host.say(&request("hello", r#"{"subtype":"initialize"}"#)).say(&user("go"));
    until(&mut host, "result", |line| line["type"] == "result");
    host.say(&request("on", r#"{"subtype":"continue_last_turn"}"#));
    let result = until(&mut host, "result", |line| line["type"] == "result");
    assert_eq!(result["result"], "Here it is.");
    // What has its answer does not go on.
    host.say(&request("off", r#"{"subtype":"continue_last_turn"}"#));
    let off = until(&mut host, "answer", |line| line["response"]["request_id"] == "off");
    host.close();
    let end = host.end();
    let on = end.lines.iter().find(|line| line["response"]["request_id"] == "on").unwrap();
    let told = |line: &Value| {
        (
            line["response"]["response"]["accepted"].clone(),
            line["response"]["response"]["interruption"].clone(),
        )
    };
    assert_eq!(told(on), (json!(true), json!("interrupted_prompt")));
    assert_eq!(told(&off), (json!(false), json!("none")));
    assert_eq!(play.server.asked()[1].body["messages"], play.server.asked()[0].body["messages"]);
    // The session's goal is told once, behind its first facts.
    let goals: Vec<_> = end.lines.iter().filter(|line| line["event"]["type"] == "goal_state").collect();
    assert_eq!(goals.len(), 1, "{end:#?}");
}

#[test]
fn how_much_the_model_is_to_think_is_confirmed_by_the_handshake() {
    let play = Play::script(Vec::new());
    let mut host = play.host("qwen-code", QWEN);
    host.say(&request("odd", r#"{"subtype":"initialize","effort":"boundless"}"#));
    host.say(&request("high", r#"{"subtype":"initialize","effort":"high"}"#));
    let odd = until(&mut host, "answer", |line| line["response"]["request_id"] == "odd");
    let high = until(&mut host, "answer", |line| line["response"]["request_id"] == "high");
    host.close();
    host.end();
    assert_eq!(odd["response"]["error"], "Invalid effort value. Supported: low, medium, high, xhigh, max");
    assert_eq!(
        high["response"]["response"]["effort_status"],
        json!({"effort": "high", "applied": true, "override": null})
    );
}
