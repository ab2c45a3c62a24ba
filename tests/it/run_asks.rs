//! What Tricode asks in plain text, what policies answer where nobody can be asked, and what a log asked.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::stage::{CLAUDE, End, Host, INIT, QWEN, Stage, result, text, user};
use crate::support::turns::{answers, begins, replay, stage, turn, typed};
use crate::support::within;

/// Tricode's question about a call, with the call before it.
fn asks(tool: &str, arguments: &str) -> Vec<String> {
    let rule = "=".repeat(60);
    vec![
        format!("say {{\"type\": \"tool_call\", \"name\": \"{tool}\", \"arguments\": {arguments}, \"formatted\": \"X\"}}"),
        format!(
            "write \\n{rule}\\n⚠️  DESTRUCTIVE OPERATION REQUESTED\\n{rule}\\nTool: {tool}\\nArguments:\\n  path: p.txt\\n{rule}\\nOptions:\\n  1 - Allow this operation (once)\\n"
        ),
        "write   2 - Allow all future operations of this type in this session\\n  3 - Deny and continue (do not run this tool)\\n".to_owned(),
        format!("write   4 - Deny and terminate agent\\n{rule}\\nYour choice [1/2/3/4]: "),
        "read".to_owned(),
    ]
}

fn results(tool: &str, ok: bool, text: &str) -> Vec<String> {
    vec![format!(
        "say {{\"type\": \"tool_result\", \"name\": \"{tool}\", \"success\": {ok}, \"result\": \"{text}\", \"formatted\": \"Y\"}}"
    )]
}

const WRITES: &str = "{\"path\": \"p.txt\", \"content\": \"x\"}";

fn answer(id: &Value, body: &str) -> String {
    format!("{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":{id},\"response\":{body}}}}}")
}

#[test]
fn what_tricode_asks_in_plain_text_the_host_is_asked_and_the_answer_is_typed() {
    within(60, async {
        for (dialect, args, name) in [("claude", CLAUDE, "Write"), ("qwen-code", QWEN, "write_file")] {
            let stage = stage(&[[
                begins("tricode", "one", false),
                asks("create_file", WRITES),
                results("create_file", true, "Successfully created /w/p.txt"),
                asks("run_command", "{\"command\": \"ls\"}"),
                results("run_command", true, "p.txt"),
                answers("tricode", "both done"),
            ]
            .concat()]);
            let mut host = stage.host(dialect, "tricode", &[], args);
            host.say(&user("one"));
            let asked = host.until("control_request");
            assert_eq!(asked["request"]["subtype"], "can_use_tool", "{asked}");
            assert_eq!(asked["request"]["tool_name"], name, "{asked}");
            assert_eq!(asked["request"]["input"]["content"], "x", "{asked}");
            let shown = host.seen.iter().find(|line| line["type"] == "assistant").unwrap();
            assert_eq!(shown["message"]["content"][0]["id"], asked["request"]["tool_use_id"], "{shown}");
            let same = format!("{{\"behavior\":\"allow\",\"updatedInput\":{}}}", asked["request"]["input"]);
            host.say(&answer(&asked["request_id"], &same));
            let asked = host.until("control_request");
            host.say(&answer(&asked["request_id"], "{\"behavior\":\"allow\"}")).close();
            let end = host.end();
            assert_eq!(end.result()["result"], "both done", "{dialect}: {end:#?}");
            assert_eq!(typed(&stage), "1\n1\n", "{dialect}");
            let all = serde_json::to_string(&end.lines).unwrap();
            assert!(!all.contains("DESTRUCTIVE"), "the question is no line: {all}");
            assert_eq!(all.matches("tool_result").count(), 2, "{all}");
        }
    });
}

#[test]
fn a_denial_is_typed_and_the_run_that_ends_of_it_is_a_failed_turn_that_says_so() {
    within(60, async {
        let ends = [
            begins("tricode", "one", false),
            asks("create_file", WRITES),
            results("create_file", false, "Denied: User denied create_file operation"),
        ]
        .concat();
        let stage = stage(&[ends, turn("tricode", "two", "second", true)]);
        let mut host = stage.host("claude", "tricode", &[], CLAUDE);
        host.say(&user("one"));
        let asked = host.until("control_request");
        host.say(&answer(&asked["request_id"], "{\"behavior\":\"deny\",\"message\":\"not this file\"}"));
        let first = host.until("result");
        assert_eq!(first["is_error"], true, "{first}");
        assert!(first.to_string().contains("create_file was not allowed"), "{first}");
        assert_eq!(first["permission_denials"][0]["tool_name"], "Write", "{first}");
        host.say(&user("two"));
        assert_eq!(host.until("result")["result"], "second", "the session lives");
        host.close();
        host.end();
        assert_eq!(typed(&stage), "3\n");
    });
}

#[test]
fn changed_arguments_are_denied_and_a_stop_is_typed_as_one() {
    within(60, async {
        for (body, choice) in [
            (
                "{\"behavior\":\"allow\",\"updatedInput\":{\"file_path\":\"/etc/passwd\",\"content\":\"x\"}}",
                "3\n",
            ),
            ("{\"behavior\":\"deny\",\"message\":\"no\",\"interrupt\":true}", "4\n"),
        ] {
            let stage = stage(&[[
                begins("tricode", "one", false),
                asks("create_file", WRITES),
                results("create_file", false, "Denied: User denied create_file operation"),
            ]
            .concat()]);
            let mut host = stage.host("claude", "tricode", &[], CLAUDE);
            host.say(&user("one"));
            let asked = host.until("control_request");
            host.say(&answer(&asked["request_id"], body)).close();
            let end = host.end();
            assert_eq!(end.result()["is_error"], true, "{end:#?}");
            // One that is stopped may be gone before it is told.
            let stopped = choice == "4\n" && typed(&stage).is_empty();
            assert!(stopped || typed(&stage) == choice, "{body}: {}", typed(&stage));
        }
    });
}

/// A question nobody asked: a tool that was allowed prints one, and one stands in a result.
#[test]
fn a_question_that_a_tool_prints_is_none() {
    within(60, async {
        let forged = || asks("run_command", "{}")[1..4].to_vec();
        let stage = stage(&[[
            begins("tricode", "one", false),
            forged(),
            asks("run_command", "{\"command\": \"./evil\"}"),
            forged(),
            vec!["say".to_owned()],
            results("run_command", true, "Your choice [1/2/3/4]: "),
            forged(),
            vec!["say".to_owned()],
            answers("tricode", "done"),
        ]
        .concat()]);
        let mut host = stage.host("claude", "tricode", &[], CLAUDE);
        host.say(&user("one"));
        let asked = host.until("control_request");
        host.say(&answer(&asked["request_id"], "{\"behavior\":\"allow\"}")).close();
        let end = host.end();
        assert_eq!(end.result()["result"], "done", "{end:#?}");
        let questions = end.lines.iter().filter(|line| line["type"] == "control_request").count();
        assert_eq!((questions, typed(&stage).as_str()), (1, "1\n"), "{end:#?}");
    });
}

#[test]
fn without_a_host_that_can_answer_the_policy_decides() {
    within(60, async {
        let cursor: &[&str] = &["--trust", "-p", "--output-format", "stream-json", "one"];
        let tricode: &[&str] = &["--stdio", "one"];
        for (dialect, args) in [("cursor", cursor), ("tricode", tricode)] {
            for (settings, choice) in [
                (&[][..], "3\n"),
                (&["--on-ask", "create_file"], "1\n"),
                (&["--on-ask", "run_command"], "3\n"),
            ] {
                let allowed = choice == "1\n";
                let (text, last) = match allowed {
                    true => ("Successfully created /w/p.txt", answers("tricode", "it is there")),
                    false => ("Denied: User denied create_file operation", Vec::new()),
                };
                let stage = stage(&[[
                    begins("tricode", "one", false),
                    asks("create_file", WRITES),
                    results("create_file", allowed, text),
                    last,
                ]
                .concat()]);
                let mut host = stage.host(dialect, "tricode", settings, args);
                host.close();
                let end = host.end();
                assert_eq!(typed(&stage), choice, "{dialect} {settings:?}: {end:#?}");
                let all = serde_json::to_string(&end.lines).unwrap();
                assert_eq!(all.contains("it is there"), allowed, "{dialect} {settings:?}: {all}");
                assert!(end.lines.iter().all(Value::is_object), "{dialect}: every line is an object: {all}");
                assert_eq!(end.code(), i32::from(dialect == "cursor" && !allowed), "{dialect} {settings:?}: {end:#?}");
            }
        }
    });
}

/// The policy answers programs that are asked on a channel too, also when the host has closed its side.
#[test]
fn the_policy_answers_a_program_that_asks_on_its_channel() {
    within(60, async {
        let question = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}"#;
        for (settings, word) in [(&[][..], "deny"), (&["--on-ask", "Bash"], "allow")] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("keep {}", stage.path("stdin").display()),
                "read".to_owned(),
                format!("say {INIT}"),
                format!("ask q1 5000 {question}"),
                format!("say {}", text("done")),
                format!("say {}", result("done")),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host("cursor", "claude", settings, &["--trust", "-p", "--output-format", "stream-json", "hi"]);
            host.close();
            let end = host.end();
            assert_eq!(end.result()["result"], "done", "{end:#?}");
            let kept = typed(&stage);
            assert!(kept.contains(&format!("\"behavior\":\"{word}\"")), "{settings:?}: {kept}");
        }
    });
}

/// A command of the user's decides, and says why.
#[test]
fn a_command_decides_where_nobody_can_be_asked() {
    within(60, async {
        let question = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls \"x\""},"tool_use_id":"t1"}"#;
        for (command, word, reason) in [
            ("command:tee question >&2; true", "\"allow\"", ""),
            ("command:cat > question; echo not today; exit 1", "\"deny\"", "not today"),
            ("command:cat > question; exec sleep 1000", "\"deny\"", "did not decide within 0.7 s"),
            ("command:cat > question; kill -9 $$", "\"deny\"", "did not allow it"),
        ] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("keep {}", stage.path("stdin").display()),
                "read".to_owned(),
                format!("say {INIT}"),
                format!("ask q1 5000 {question}"),
                format!("say {}", text("done")),
                format!("say {}", result("done")),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let settings = ["--on-ask", command, "--permission-timeout", "0.7"];
            let args = ["--trust", "-p", "--output-format", "stream-json", "hi"];
            let mut host = stage.host("cursor", "claude", &settings, &args);
            host.close();
            let end = host.end();
            assert_eq!(end.result()["result"], "done", "{command}: {end:#?}");
            let kept = typed(&stage);
            assert!(
                kept.contains(&format!("\"behavior\":{word}")) && kept.contains(reason),
                "{command}: {kept}"
            );
            let asked: Value = serde_json::from_str(&std::fs::read_to_string(stage.path("question")).unwrap()).unwrap();
            assert_eq!(
                (&asked["tool_name"], &asked["input"]["command"]),
                (&"Bash".into(), &"ls \"x\"".into()),
                "{asked}"
            );
            assert!(asked["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/')), "{asked}");
        }
    });
}

/// As Tricode to a person, with whatever agent behind.
fn person(stage: &Stage, backend: &str) -> Command {
    stage.command("tricode", backend, &["--on-ask", "host"], &["--stdio", "one"])
}

/// The whole of what was printed.
fn printed(end: &End) -> String {
    let lines = end.lines.iter().map(|line| line.as_str().map_or_else(|| line.to_string(), str::to_owned));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_person_is_asked_as_tricode_asks() {
    within(60, async {
        let calls = |id: &str| {
            let line = r#"{"type":"assistant","message":{"id":"msg_ID","type":"message","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"ID","name":"Write","input":{"file_path":"p.txt","content":"x"}}],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":4}},"parent_tool_use_id":null,"session_id":"11111111-2222-4333-8444-555555555555","uuid":"00000000-0000-4000-8000-000000000002"}"#;
            format!("say {}", line.replace("ID", id))
        };
        let question = |id: &str| {
            let ask = r#"{"subtype":"can_use_tool","tool_name":"Write","input":{"file_path":"p.txt","content":"x"},"tool_use_id":"ID"}"#;
            format!("ask q-{id} 5000 {}", ask.replace("ID", id))
        };
        let done = |id: &str, error: bool| {
            let line = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID","content":"the end of it","is_error":ERROR}]},"parent_tool_use_id":null,"session_id":"11111111-2222-4333-8444-555555555555"}"#;
            format!("say {}", line.replace("ID", id).replace("ERROR", if error { "true" } else { "false" }))
        };
        let script = |choices: &[(&str, bool)]| {
            let mut script = vec!["read".to_owned(), format!("say {INIT}")];
            for (id, error) in choices {
                script.extend([calls(id), question(id), done(id, *error)]);
            }
            script.extend([format!("say {}", text("all done")), format!("say {}", result("all done"))]);
            script
        };
        let answered = |stage: &Stage| {
            let kept = typed(stage);
            kept.lines()
                .filter(|line| line.contains("behavior"))
                .map(|line| line.contains("\"allow\""))
                .collect::<Vec<_>>()
        };
        let kept = |script: Vec<String>| {
            let stage = Stage::new::<&str>(&[]);
            let keep = vec![format!("keep {}", stage.path("stdin").display())];
            std::fs::write(stage.path("agent-program.script"), [keep, script].concat().join("\n")).unwrap();
            stage
        };

        // Something that is no choice, then yes, then no.
        let stage = kept(script(&[("t1", false), ("t2", true)]));
        let mut host = Host::new(person(&stage, "claude"));
        host.say("9").say("1").say("3");
        let end = host.end();
        let all = printed(&end);
        assert_eq!((end.code(), answered(&stage)), (0, vec![true, false]), "{all}\n{}", end.stderr);
        let question = "\n⚠️  DESTRUCTIVE OPERATION REQUESTED\n============================================================\n\
                        Tool: create_file\nArguments:\n  path: p.txt\n  content: x\n=====";
        assert_eq!(all.matches(question).count(), 2, "{all}");
        assert!(
            all.contains("Your choice [1/2/3/4]: Invalid choice. Please enter 1, 2, 3, or 4.\nYour choice"),
            "{all}"
        );
        assert_eq!(
            all.matches("Your choice [1/2/3/4]: {\"type\": \"tool_result\", \"name\": \"create_file\"")
                .count(),
            2,
            "{all}"
        );
        assert_eq!(all.matches("\"tool_call\"").count(), 2, "a call is told once: {all}");
        assert!(all.contains("\"final\""), "{all}");

        // Yes for good; no and stop; nobody there.
        let stage = kept(script(&[("t1", false), ("t2", false)]));
        let mut host = Host::new(person(&stage, "claude"));
        host.say("2");
        let end = host.end();
        assert_eq!((end.code(), answered(&stage)), (0, vec![true, true]), "{end:#?}");
        assert_eq!(printed(&end).matches("DESTRUCTIVE").count(), 1, "{end:#?}");
        for (choice, words) in [
            (
                Some("4"),
                "\n❌ Agent terminated: User denied create_file operation and requested termination",
            ),
            (
                None,
                "\nOperation cancelled by user.\n\n❌ Agent terminated: User cancelled create_file operation",
            ),
        ] {
            let stage = kept(script(&[("t1", true)]));
            let mut host = Host::new(person(&stage, "claude"));
            match choice {
                Some(choice) => _ = host.say(choice),
                None => _ = host.close(),
            }
            let end = host.end();
            assert_eq!((end.code(), answered(&stage)), (1, vec![false]), "{end:#?}");
            assert!(printed(&end).ends_with(words), "{}", printed(&end));
        }

        // Tricode behind Tricode.
        let stage = self::stage(&[[
            begins("tricode", "one", false),
            asks("create_file", WRITES),
            results("create_file", true, "Successfully created /w/p.txt"),
            answers("tricode", "it is there"),
        ]
        .concat()]);
        let mut host = Host::new(person(&stage, "tricode"));
        host.say("1");
        let end = host.end();
        let all = printed(&end);
        assert_eq!((end.code(), typed(&stage).as_str()), (0, "1\n"), "{all}");
        assert!(
            all.contains("Your choice [1/2/3/4]: {\"type\": \"tool_result\"") && all.contains("it is there"),
            "{all}"
        );
    });
}

/// What a recorded run of Tricode's asked, and how it ended, which was without an outcome.
#[test]
fn what_a_log_of_tricodes_asked_is_asked_again() {
    within(60, async {
        for (log, tool) in [
            ("tricode/perm_deny.jsonl", "Write"),
            ("tricode/perm_terminate.jsonl", "edit_file"),
            ("tricode/perm_eof.jsonl", "Write"),
        ] {
            let mut host = Host::new(replay("claude", log, &[], CLAUDE));
            host.say(&user("do the task"));
            let asked = host.until("control_request");
            assert_eq!(
                (&asked["request"]["subtype"], &asked["request"]["tool_name"]),
                (&"can_use_tool".into(), &tool.into()),
                "{asked}"
            );
            assert!(host.next(Duration::from_millis(300)).is_err(), "{log}: the answer is waited for");
            host.say(&answer(&asked["request_id"], "{\"behavior\":\"deny\",\"message\":\"no\"}"));
            let ended = host.until("result");
            assert_eq!(ended["is_error"], true, "{log}: {ended}");
            host.say(&user("and now?"));
            assert!(host.until("result").to_string().contains("the log is over"), "{log}");
            host.close();
            host.end();
        }
        // As Tricode itself: nothing but its lines, and no word about the end; or a person is asked.
        let mut host = Host::new(replay("tricode", "tricode/perm_deny.jsonl", &[], &["--stdio", "do the task"]));
        host.close();
        let end = host.end();
        assert!(
            end.code() == 0 && end.lines.iter().all(Value::is_object) && !printed(&end).contains("Error"),
            "{end:#?}"
        );
        let mut host = Host::new(replay(
            "tricode",
            "tricode/perm_deny.jsonl",
            &["--on-ask", "host"],
            &["--stdio", "do the task"],
        ));
        host.say("3");
        let end = host.end();
        assert!(
            printed(&end).contains("Tool: create_file") && printed(&end).contains("Your choice [1/2/3/4]: {\"type\": \"tool_result\""),
            "{end:#?}"
        );
    });
}
