//! Standing in for `codex app-server`: what a host of many threads says and hears.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::app_server::Client;
use crate::support::model::{Answer, Step};
use crate::support::play::Play;
use crate::support::stage::Host;

fn shell(command: &str) -> Answer {
    Answer::calls(&[("Bash", json!({"command": command}))])
}

#[test]
fn a_call_starts_and_ends_once_whatever_its_id_is() {
    let id = "call \"é\" \\ / \u{8} \u{b} \u{7f} \u{2028} 😀";
    let call = Step::Call(id.into(), "Bash".into(), json!({"command": "touch ran"}).to_string());
    let play = Play::script(vec![Answer::steps(vec![call]), Answer::text("Done.")]);
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "approvalPolicy": "untrusted"}));
    let turn = client.turn(&thread, "go");
    let question = client.question("commandExecution");
    assert_eq!(question["params"]["itemId"], id);
    client.decide(&question, json!("accept"));
    assert_eq!(client.completed(&turn)["status"], "completed");
    for method in ["item/started", "item/completed"] {
        let told = client.host.seen.iter().filter(|message| message["method"] == method);
        assert_eq!(told.filter(|message| message["params"]["item"]["id"] == id).count(), 1, "{method}");
    }
    assert!(play.path("ran").exists());
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_turn_is_told_from_its_beginning_to_its_end() {
    let play = Play::script(vec![Answer::steps(vec![
        Step::Think("let me see".into()),
        Step::Text("Hello \u{2028} ".into()),
        Step::Text("你好".into()),
        Step::Used(5, 7),
    ])]);
    let mut client = Client::start(&play);
    let opened = client.ask("thread/start", json!({"cwd": play.at("")}));
    assert_eq!(opened["cwd"], play.at("").trim_end_matches('/').to_owned() + "/");
    assert_eq!(
        (&opened["approvalPolicy"], &opened["sandbox"]["type"]),
        (&json!("on-request"), &json!("readOnly"))
    );
    let thread = opened["thread"]["id"].as_str().unwrap().to_owned();
    let turn = client.turn(&thread, "hello");
    let end = client.completed(&turn);
    assert_eq!((&end["status"], &end["error"]), (&json!("completed"), &Value::Null));
    assert!(end["durationMs"].as_i64().is_some() && end["startedAt"].as_i64().is_some(), "{end}");
    assert_eq!(client.kinds(&turn), ["userMessage", "reasoning", "agentMessage"]);
    assert_eq!(client.items(&turn)[2]["text"], "Hello \u{2028} 你好");
    let seen = &client.host.seen;
    let order: Vec<&str> = seen.iter().filter_map(|message| message["method"].as_str()).collect();
    assert_eq!(
        order[..4],
        ["thread/started", "thread/status/changed", "turn/started", "item/started"],
        "{order:#?}"
    );
    let pieces = seen.iter().filter(|message| message["method"] == "item/agentMessage/delta");
    let text: String = pieces.map(|message| message["params"]["delta"].as_str().unwrap()).collect();
    assert_eq!(text, "Hello \u{2028} 你好");
    let used = seen.iter().find(|message| message["method"] == "thread/tokenUsage/updated").unwrap();
    assert_eq!(used["params"]["tokenUsage"]["last"]["outputTokens"], 7);
    // Whoever reads by the published schema takes nothing without these.
    for message in seen.iter().filter(|message| !message["params"]["item"].is_null()) {
        let time = if message["method"] == "item/started" {
            "startedAtMs"
        } else {
            "completedAtMs"
        };
        assert!(message["params"][time].as_i64().is_some(), "{message}");
    }
    assert!(
        seen.iter()
            .all(|message| message["params"]["turnId"].is_null() || message["params"]["turnId"] == turn.as_str())
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn what_may_run_is_decided_by_the_host_or_by_the_policy() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("RUN ") => shell(last.split("RUN ").nth(1).unwrap().split('"').next().unwrap().trim()),
        _ => Answer::text("Done."),
    });
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "sandbox": "workspace-write", "approvalPolicy": "untrusted"}));
    for (decision, runs, status) in [("accept", true, "completed"), ("decline", false, "declined")] {
        let turn = client.turn(&thread, &format!("RUN touch {decision}"));
        let question = client.question("commandExecution");
        assert_eq!(question["params"]["command"], format!("/bin/bash -lc 'touch {decision}'"));
        assert_eq!(
            question["params"]["cwd"].as_str().unwrap().trim_end_matches('/'),
            play.at("").trim_end_matches('/')
        );
        assert_eq!(
            (&question["params"]["turnId"], &question["params"]["threadId"]),
            (&json!(turn), &json!(thread))
        );
        // An answer to nobody changes nothing.
        client.host.say(r#"{"id":4711,"result":{"decision":"accept"}}"#);
        client.decide(&question, json!(decision));
        assert_eq!(client.completed(&turn)["status"], "completed");
        assert_eq!(play.path(decision).exists(), runs);
        let call = client.items(&turn)[1].clone();
        assert_eq!((&call["type"], &call["status"]), (&json!("commandExecution"), &json!(status)), "{call}");
    }
    // The very command that was accepted for the session is not asked about again, though the agent proposes no rule for such a one.
    for asks in [true, false] {
        let turn = client.turn(&thread, "RUN echo x >> kept; touch y");
        if asks {
            let question = client.question("commandExecution");
            client.decide(&question, json!("acceptForSession"));
        }
        assert_eq!(client.completed(&turn)["status"], "completed");
    }
    assert_eq!(play.read("kept"), "x\nx\n");
    let turn = client.turn(&thread, "RUN touch cancel");
    let question = client.question("commandExecution");
    client.decide(&question, json!("cancel"));
    assert_eq!(client.completed(&turn)["status"], "interrupted");
    assert!(!play.path("cancel").exists());
    // Nobody is asked: what the sandbox does not allow does not run, and without one everything does.
    let input = |text: &str| json!([{"type": "text", "text": text}]);
    let never = json!({"threadId": thread, "input": input("RUN sh -c 'touch never'"), "approvalPolicy": "never"});
    let turn = client.ask("turn/start", never)["turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert!(!play.path("never").exists());
    let full = json!({"threadId": thread, "input": input("RUN sh -c 'touch full'"), "sandboxPolicy": {"type": "dangerFullAccess"}});
    let turn = client.ask("turn/start", full)["turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert!(play.path("full").exists());
    assert_eq!(client.leave(&play), 0);
    let host = play.host("codex", &["-c", "approval_policy=\"never\"", "-s", "workspace-write", "app-server"]);
    let mut client = Client::of(host);
    let opened = client.ask("thread/start", json!({"cwd": play.at("")}));
    assert_eq!(
        (&opened["approvalPolicy"], &opened["sandbox"]["type"]),
        (&json!("never"), &json!("workspaceWrite"))
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn files_change_when_the_host_accepts_it_and_the_diff_is_told() {
    let play = Play::script(vec![]);
    let file = play.at("a.txt");
    let play = play.served(crate::support::model::Server::script(vec![
        Answer::calls(&[("Read", json!({"file_path": file}))]),
        Answer::calls(&[("Edit", json!({"file_path": file, "old_string": "one", "new_string": "two"}))]),
        Answer::text("Done."),
    ]));
    std::fs::write(play.path("a.txt"), "one\n").unwrap();
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let turn = client.turn(&thread, "edit");
    let question = client.question("fileChange");
    client.decide(&question, json!("acceptForSession"));
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert_eq!(play.read("a.txt"), "two\n");
    let change = client.items(&turn).into_iter().find(|item| item["type"] == "fileChange").unwrap();
    assert_eq!(change["id"], question["params"]["itemId"]);
    let diff = change["changes"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("-one") && diff.contains("+two"), "{change}");
    assert_eq!(client.leave(&play), 0);
}

/// What a host does not want to hear it does not; why a turn has failed is nothing that the agent says, also where the thread goes on.
#[test]
fn an_end_says_the_answer_or_the_failure() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("WRITE") => Answer::calls(&[("Write", json!({"file_path": "new.txt", "content": "new"}))]),
        last if last.contains("WRONG") => Answer::error(400, "that was wrong"),
        _ => Answer::text("All done."),
    });
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "approvalPolicy": "on-request"}));
    let end = client.run(&thread, "go");
    let message = client.items(end["id"].as_str().unwrap())[1].clone();
    assert_eq!((&end["items"], &end["itemsView"]), (&json!([message]), &json!("summary")), "{end}");
    let end = client.run(&thread, "WRONG");
    let why = end["error"]["message"].as_str().unwrap();
    assert!(end["status"] == "failed" && why.contains("that was wrong"), "{end}");
    assert_eq!(
        (&end["items"], client.kinds(end["id"].as_str().unwrap())),
        (&json!([]), vec!["userMessage".to_owned()])
    );
    let turn = client.turn(&thread, "WRITE");
    let question = client.question("fileChange");
    client.decide(&question, json!("decline"));
    client.completed(&turn);
    let change = client.items(&turn).into_iter().find(|item| item["type"] == "fileChange").unwrap();
    assert_eq!(change["status"], "declined", "{change}");
    assert_eq!(client.leave(&play), 0);

    let mut host = play.host("codex", &["app-server"]);
    let able = json!({"optOutNotificationMethods": ["item/agentMessage/delta", "turn/started"]});
    let who = json!({"clientInfo": {"name": "quiet", "version": "1"}, "capabilities": able});
    host.say(&json!({"id": 0, "method": "initialize", "params": who}).to_string());
    let mut client = Client { host, ids: 0 };
    let read = client.ask("thread/resume", json!({"threadId": thread}));
    let failed = &read["thread"]["turns"][1];
    assert_eq!(
        (&failed["status"], failed["items"].as_array().unwrap().len()),
        (&json!("failed"), 1),
        "{failed}"
    );
    assert!(failed["error"]["message"].as_str().unwrap().contains("that was wrong"), "{failed}");
    client.run(&thread, "go");
    let methods: Vec<&Value> = client.host.seen.iter().map(|message| &message["method"]).collect();
    assert!(methods.contains(&&json!("item/started")), "{methods:?}");
    assert!(
        !methods.contains(&&json!("turn/started")) && !methods.contains(&&json!("item/agentMessage/delta")),
        "{methods:?}"
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_plan_says_what_is_being_done() {
    let step = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    let todos = json!([step("one", "completed"), step("two", "in_progress"), step("three", "pending")]);
    let play = Play::script(vec![Answer::calls(&[("TodoWrite", json!({"todos": todos}))]), Answer::text("Done.")]);
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    assert_eq!(client.run(&thread, "go")["status"], "completed");
    let plan = client.host.seen.iter().find(|message| message["method"] == "turn/plan/updated").unwrap();
    let said: Vec<_> = plan["params"]["plan"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert_eq!(said, ["completed", "inProgress", "pending"], "{plan}");
    assert_eq!(client.leave(&play), 0);
}

/// An answer that breaks off at the limit of tokens is none, as behind `exec`.
#[test]
fn an_answer_that_is_cut_off_is_a_failure() {
    let play = Play::new(|_, _| Answer::steps(vec![Step::Text("I think".into()), Step::Stop("length")]));
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let end = client.run(&thread, "go");
    assert_eq!(end["status"], "failed", "{end}");
    assert!(end["error"]["message"].as_str().unwrap().contains("max_output_tokens"), "{end}");
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_turn_is_stopped_steered_and_followed_by_another() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("slow") => Answer::steps(vec![Step::Text("I think".into()), Step::Pause(30_000), Step::Text("so".into())]),
        last if last.contains("short") => Answer::steps(vec![Step::Pause(700), Step::Text("First.".into())]),
        last if last.contains("more") => Answer::text("Second."),
        _ => Answer::text("Quick."),
    });
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let turn = client.turn(&thread, "slow");
    client.until("piece", |message| message["method"] == "item/agentMessage/delta");
    let named = |turn: &str| json!({"threadId": thread, "turnId": turn});
    assert!(
        client
            .refusal("turn/interrupt", named("another"))
            .contains(&format!("but found `{turn}`"))
    );
    assert_eq!(client.ask("turn/interrupt", named(&turn)), json!({}));
    let behind = client.turn(&thread, "quick");
    assert_ne!(behind, turn, "one that was interrupted hears nothing more");
    assert_eq!(client.completed(&turn)["status"], "interrupted");
    assert_eq!(client.completed(&behind)["status"], "completed");
    assert_eq!(client.refusal("turn/interrupt", named(&turn)), "no active turn to interrupt");
    let turn = client.turn(&thread, "short");
    let more = json!({"threadId": thread, "expectedTurnId": turn, "input": [{"type": "text", "text": "more"}]});
    assert_eq!(client.ask("turn/steer", more)["turnId"], turn);
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert_eq!(client.kinds(&turn), ["userMessage", "agentMessage", "userMessage", "agentMessage"]);
    assert_eq!(client.items(&turn)[3]["text"], "Second.");
    // A turn that is to begin while another one runs is that one.
    let turn = client.turn(&thread, "short");
    assert_eq!(client.turn(&thread, "/compact and more"), turn);
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert_eq!(client.kinds(&turn), ["userMessage", "agentMessage", "userMessage", "agentMessage"]);
    assert_eq!(client.items(&turn)[3]["text"], "Second.", "a text that begins with a slash is a text");
    // What has joined a turn stands in it when the thread is read.
    let read = client.ask("thread/read", json!({"threadId": thread, "includeTurns": true}));
    let last = read["thread"]["turns"].as_array().unwrap().last().unwrap();
    assert_eq!(last["id"], json!(turn), "{read}");
    let kinds: Vec<&str> = last["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["userMessage", "agentMessage", "userMessage", "agentMessage"], "{read}");
    assert_eq!(last["items"][2]["content"][0]["text"], "/compact and more");
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn threads_go_on_are_copied_listed_and_read() {
    let play = Play::new(|asked, _| Answer::text(&format!("I know {} messages.", asked.body["messages"].as_array().unwrap().len())));
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    let first = client.run(&thread, "remember me")["id"].clone();
    assert_eq!(client.ask("thread/loaded/list", json!({}))["data"], json!([thread]));
    assert_eq!(client.leave(&play), 0);

    let mut client = Client::start(&play);
    let list = client.ask("thread/list", json!({"limit": 1}));
    assert_eq!((&list["data"][0]["id"], &list["nextCursor"]), (&json!(thread), &Value::Null), "{list}");
    assert_eq!(list["data"][0]["status"]["type"], "notLoaded");
    let read = client.ask("thread/read", json!({"threadId": thread, "includeTurns": true}));
    assert_eq!(read["thread"]["turns"][0]["id"], first, "a turn keeps its id");
    let items = &read["thread"]["turns"][0]["items"];
    assert_eq!(items[0]["content"][0]["text"], "remember me", "{read}");
    assert_eq!(items[1]["type"], "agentMessage");
    let resumed = client.ask("thread/resume", json!({"threadId": thread}));
    assert_eq!(resumed["thread"]["turns"], read["thread"]["turns"]);
    assert_eq!(resumed["cwd"].as_str().unwrap().trim_end_matches('/'), play.at("").trim_end_matches('/'));
    let known = |client: &Client, turn: &Value| client.items(turn["id"].as_str().unwrap())[1]["text"].as_str().unwrap().to_owned();
    let turn = client.run(&thread, "and now?");
    let after = known(&client, &turn);
    assert_ne!(after, "I know 2 messages.", "what was said before is not known any more");
    let copy = client.ask("thread/fork", json!({"threadId": thread, "excludeTurns": true}));
    assert_eq!((&copy["thread"]["forkedFromId"], &copy["thread"]["turns"]), (&json!(thread), &json!([])));
    let copied = copy["thread"]["id"].as_str().unwrap().to_owned();
    assert_ne!(copied, thread);
    let turn = client.run(&copied, "and in the copy?");
    assert_ne!(known(&client, &turn), after);
    // A copy ends where it is told to.
    for (cut, turns) in [("lastTurnId", 1), ("beforeTurnId", 0)] {
        let mut params = json!({"threadId": thread});
        params[cut] = first.clone();
        let short = client.ask("thread/fork", params)["thread"].clone();
        assert_eq!(short["turns"].as_array().unwrap().len(), turns, "{cut}: {short}");
        let turn = client.run(short["id"].as_str().unwrap(), "and in this one?");
        assert_eq!(known(&client, &turn), format!("I know {} messages.", 2 + 2 * turns), "{cut}");
    }
    let nowhere = client.refusal("thread/fork", json!({"threadId": thread, "lastTurnId": "nope"}));
    assert_eq!(nowhere, "turn not found: nope");
    let order = |client: &mut Client, direction: &str| client.ask("thread/list", json!({"sortDirection": direction}))["data"].clone();
    let (mut newest, oldest) = (order(&mut client, "desc"), order(&mut client, "asc"));
    newest.as_array_mut().unwrap().reverse();
    assert_eq!(newest, oldest);
    assert_eq!(client.ask("thread/unsubscribe", json!({"threadId": thread}))["status"], "unsubscribed");
    assert!(
        client
            .refusal("turn/start", json!({"threadId": thread, "input": [{"type": "text", "text": "x"}]}))
            .contains("not found")
    );
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn an_answer_has_the_schema_that_a_turn_names() {
    let play = Play::new(|asked, _| {
        let wants = asked.tools().iter().any(|tool| tool == "StructuredOutput");
        match wants && !asked.last().contains("tool") {
            true => Answer::calls(&[("StructuredOutput", json!({"n": 4}))]),
            false => Answer::text("plain"),
        }
    });
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at("")}));
    client.run(&thread, "plain please");
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let params = json!({"threadId": thread, "input": [{"type": "text", "text": "count"}], "outputSchema": schema});
    let turn = client.ask("turn/start", params)["turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(client.completed(&turn)["status"], "completed");
    let texts = client.items(&turn).into_iter().filter(|item| item["type"] == "agentMessage").count();
    assert_eq!(texts, 1);
    let last = client.items(&turn).into_iter().rfind(|item| item["type"] == "agentMessage").unwrap();
    assert_eq!(serde_json::from_str::<Value>(last["text"].as_str().unwrap()).unwrap(), json!({"n": 4}));
    let wrong = json!({"threadId": thread, "input": [{"type": "text", "text": "x"}], "outputSchema": 5});
    assert!(client.refusal("turn/start", wrong).contains("outputSchema"));
    // The first turn of a copy may name one, too.
    let copy = client.ask("thread/fork", json!({"threadId": thread}))["thread"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let params = json!({"threadId": copy, "input": [{"type": "text", "text": "count"}], "outputSchema": {"type": "object"}});
    let turn = client.ask("turn/start", params)["turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(client.completed(&turn)["status"], "completed");
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_turn_that_nobody_asked_for_has_an_id_and_an_end_too() {
    let play = Play::script(vec![
        Answer::calls(&[("Bash", json!({"command": "sleep 0.5; echo done", "run_in_background": true}))]),
        Answer::text("Started."),
        Answer::text("It is done."),
        Answer::text("As you like."),
    ]);
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "sandbox": "danger-full-access"}));
    let turn = client.turn(&thread, "in the background");
    assert_eq!(client.completed(&turn)["status"], "completed");
    let own = client.until("turn of its own", |message| {
        message["method"] == "turn/completed" && message["params"]["turn"]["id"] != turn.as_str()
    });
    let own = own["params"]["turn"]["id"].as_str().unwrap().to_owned();
    assert_eq!(client.items(&own).last().unwrap()["text"], "It is done.");
    let next = client.turn(&thread, "go on");
    assert_eq!(client.completed(&next)["status"], "completed");
    assert_eq!(client.items(&next).last().unwrap()["text"], "As you like.");
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for message in &client.host.seen {
        let id = message["params"]["turn"]["id"].clone();
        match message["method"].as_str() {
            Some("turn/started") => begun.push(id),
            Some("turn/completed") => ended.push(id),
            _ => {}
        }
    }
    assert_eq!(begun, ended);
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn settings_of_a_turn_count_when_it_begins() {
    let play = Play::new(|asked, _| match asked.last() {
        last if last.contains("RUN ") => shell(last.split("RUN ").nth(1).unwrap().split('"').next().unwrap().trim()),
        last if last.contains("then") => Answer::text("Done."),
        _ => Answer::text("Done."),
    });
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "approvalPolicy": "never", "sandbox": "read-only"}));
    let with = |text: &str, more: Value| {
        let mut params = json!({"threadId": thread, "input": [{"type": "text", "text": text}]});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let begin = |client: &mut Client, params: Value| client.ask("turn/start", params)["turn"]["id"].as_str().unwrap().to_owned();
    let turn = begin(&mut client, with("RUN touch nobody", json!({})));
    client.completed(&turn);
    assert!(!play.path("nobody").exists());
    let turn = begin(
        &mut client,
        with("RUN touch full", json!({"sandboxPolicy": {"type": "dangerFullAccess"}})),
    );
    client.completed(&turn);
    assert!(play.path("full").exists());
    // What is said while a turn runs changes nothing for it, and counts for the next one.
    let asks = begin(&mut client, with("RUN touch asked", json!({"approvalPolicy": "untrusted"})));
    let question = client.question("commandExecution");
    assert_eq!(begin(&mut client, with("plain", json!({"approvalPolicy": "never"}))), asks);
    client.decide(&question, json!("decline"));
    client.completed(&asks);
    assert!(!play.path("asked").exists());
    let free = begin(&mut client, with("RUN touch later", json!({})));
    client.completed(&free);
    assert!(play.path("later").exists());
    let image = json!({"threadId": thread, "input": [{"type": "image", "url": "http://127.0.0.1:1/a.png"}]});
    assert!(client.refusal("turn/start", image).contains("inline data URL"));
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn what_is_wrong_is_refused_and_hurts_nobody() {
    let play = Play::new(|_, _| Answer::text("Fine."));
    let mut client = Client::start(&play);
    for rubbish in ["rubbish", "[]", "{}", "{\"id\":{}}", "{\"method\":3}", "\u{0}", "{\"id\":1} {\"id\":2}"] {
        client.host.say(rubbish);
    }
    assert!(
        client
            .refusal("nope", json!({}))
            .starts_with("Invalid request: unknown variant `nope`, expected one of `initialize`")
    );
    assert!(client.refusal("thread/start", json!({"cwd": 3})).contains("cwd"));
    assert!(client.refusal("thread/start", json!({"cwd": "relative"})).contains("absolute"));
    assert!(
        client
            .refusal("thread/start", json!({"approvalPolicy": "sometimes"}))
            .contains("approvalPolicy")
    );
    assert!(client.refusal("thread/start", json!({"sandbox": "none"})).contains("sandbox"));
    assert!(
        client
            .refusal("thread/resume", json!({"threadId": "../../etc/passwd"}))
            .contains("invalid session id")
    );
    let nobody = "01a1fcf8-4143-7513-ad2b-ab712607a611";
    assert_eq!(
        client.refusal("thread/resume", json!({"threadId": nobody})),
        format!("no rollout found for thread id {nobody}")
    );
    let thread = client.open(json!({"cwd": play.at("")}));
    for input in [json!(null), json!("x"), json!([]), json!([{"type": "sound"}]), json!([{"text": "x"}])] {
        client.refusal("turn/start", json!({"threadId": thread, "input": input}));
    }
    assert_eq!(client.run(&thread, "hello")["status"], "completed");
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn no_more_threads_are_open_than_may_be() {
    let play = Play::script(vec![Answer::text("Fine.")]);
    let mut command = play.command("codex", &["app-server"]);
    command.env("AGENTGLOT_MAX_SESSIONS", "1");
    let mut client = Client::of(Host::new(command));
    let thread = client.open(json!({"cwd": play.at("")}));
    assert_eq!(client.run(&thread, "hello")["status"], "completed");
    for method in ["thread/start", "thread/fork"] {
        let why = client.refusal(method, json!({"cwd": play.at(""), "threadId": thread}));
        assert!(why.contains("--max-sessions") && why.contains("thread/unsubscribe"), "{why}");
    }
    client.ask("thread/unsubscribe", json!({"threadId": thread}));
    client.open(json!({"cwd": play.at("")}));
    // A request whose id nobody can answer to is refused all the same.
    for id in ["null", "{}", "[1]", "true"] {
        client.host.say(&format!("{{\"id\":{id},\"method\":\"model/list\"}}"));
        let refused = client.until("refusal", |message| !message["error"].is_null() && message["id"].is_null());
        assert_eq!(refused["error"]["code"], -32600, "{id}: {refused}");
        client.host.seen.clear();
    }
    // Of two requests under one id each is answered.
    for _ in 0..3 {
        client.host.say(r#"{"id":"same","method":"thread/list","params":{}}"#);
    }
    for _ in 0..3 {
        client.until("list", |message| message["id"] == "same" && message["result"]["data"].is_array());
    }
    assert_eq!(client.leave(&play), 0);
}

#[test]
fn a_signal_ends_the_turn_and_what_it_runs() {
    let play = Play::script(vec![shell("sleep 300"), Answer::text("Done.")]);
    let mut client = Client::start(&play);
    let thread = client.open(json!({"cwd": play.at(""), "sandbox": "danger-full-access"}));
    let turn = client.turn(&thread, "go");
    client.until("command", |message| message["params"]["item"]["type"] == "commandExecution");
    let process = client.host.process.id();
    client.host.signal(Signal::TERM);
    assert_eq!(client.completed(&turn)["status"], "failed");
    assert_eq!(client.host.end().code(), 143);
    play.nothing_is_left(Some(process));
}
