//! What an agent can do wrong behind a stand-in, and what its host sees of it. The table is in docs/run.md.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::stage::{CLAUDE, Host, INIT, QWEN, Stage, request, result, text, user};
use crate::support::within;

fn say(line: &str) -> String {
    format!("say {line}")
}

/// What the Python SDK's parser needs of a result.
fn is_whole(result: &Value) {
    for member in ["subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"] {
        assert!(!result[member].is_null(), "{member}: {result:#}");
    }
}

/// From the last whole line to the outcome, with the 200 ms that the agent lives after it.
const AT_ONCE: Duration = Duration::from_secs(1);

#[test]
fn an_agent_killed_in_a_line_fails_its_turn_at_once() {
    within(60, async {
        for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN)] {
            for backend in ["claude", "qwen"] {
                let script = [
                    "read".to_owned(),
                    say(INIT),
                    say(&text("before")),
                    "write {\"type\":\"assistant\",\"mess".to_owned(),
                    "sleep 200".to_owned(),
                    "die KILL".to_owned(),
                ];
                let stage = Stage::new(&script);
                // The best of three: a machine that is busy with something else is not what this is about.
                let tries = (0..3).map(|_| {
                    let mut host = stage.host(dialect, backend, &[], args);
                    host.say(&user("hi"));
                    host.until("assistant");
                    let since = Instant::now();
                    host.until("result");
                    (since.elapsed(), host.end())
                });
                let mut best: Option<(Duration, _)> = None;
                for (waited, end) in tries {
                    let soon = waited < AT_ONCE;
                    if best.as_ref().is_none_or(|(least, _)| waited < *least) {
                        best = Some((waited, end));
                    }
                    if soon {
                        break;
                    }
                }
                let (waited, end) = best.unwrap();
                println!("{dialect} {backend}: {waited:?}");
                assert!(waited < AT_ONCE, "{dialect} {backend}: {waited:?} after the last line");
                let result = end.result();
                assert_eq!(result["is_error"], true, "{dialect} {backend}: {result:#}");
                is_whole(result);
                let init = end.lines.iter().find(|line| line["subtype"] == "init").unwrap();
                assert_eq!(result["session_id"], init["session_id"], "{dialect} {backend}");
                let said = result.to_string();
                assert!(said.contains("in the middle of a line of 25 bytes"), "{dialect} {backend}: {said}");
                // A host that talks reads the result; Qwen Code's exit code says nothing about it.
                assert_eq!(end.code(), i32::from(dialect == "claude"), "{dialect} {backend}: {end:#?}");
            }
        }
    });
}

/// Qwen Code answers an interrupt while it starts, and then begins the turn all the same.
#[test]
fn an_interrupt_waits_for_the_turn_of_an_agent_that_stops_what_runs() {
    within(60, async {
        let script = [
            "control answer".to_owned(),
            "sleep 700".to_owned(),
            say(INIT),
            "sleep 500".to_owned(),
            say(&result("stopped")),
            "read all".to_owned(),
        ];
        let stage = Stage::new(&script);
        let mut host = stage.host("claude", "qwen", &[], CLAUDE);
        host.say(&user("hi")).say(&request("r1", r#"{"subtype":"interrupt"}"#));
        host.until("result");
        host.close();
        let end = host.end();
        let place = |what: &str| end.lines.iter().position(|line| line["type"] == what).unwrap();
        assert!(place("system") < place("control_response"), "{end:#?}");
        assert!(place("control_response") < place("result"), "{end:#?}");
    });
}

/// A host that shows what runs would wait for it for ever.
#[test]
fn a_call_of_an_agent_that_is_killed_has_a_result() {
    within(60, async {
        let call = text("before").replace(
            r#"{"type":"text","text":"before"}"#,
            r#"{"type":"tool_use","id":"c-1","name":"x","input":{}}"#,
        );
        let stage = Stage::new(&["read".to_owned(), say(INIT), say(&call), "die KILL".to_owned()]);
        let mut host = stage.host("claude", "qwen", &[], CLAUDE);
        host.say(&user("hi"));
        let end = host.end();
        let of_call = |line: &&Value| line["type"] == "user" && line["message"]["content"][0]["tool_use_id"] == "c-1";
        let results: Vec<_> = end.lines.iter().filter(of_call).collect();
        assert_eq!(results.len(), 1, "{end:#?}");
        assert_eq!(results[0]["message"]["content"][0]["is_error"], true);
        assert_eq!(end.result()["is_error"], true);
    });
}

#[test]
fn an_agent_killed_before_its_first_line_fails_its_turn() {
    within(60, async {
        for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN)] {
            let stage = Stage::new(&["read", "warn out of luck", "die KILL"]);
            let mut host = stage.host(dialect, "claude", &[], args);
            host.say(&user("hi"));
            let end = host.end();
            let result = end.result();
            is_whole(result);
            assert_eq!(result["is_error"], true, "{dialect}: {result:#}");
            assert!(result.to_string().contains("out of luck"), "{dialect}: {result:#}");
            assert!(end.stderr.contains("out of luck"), "{dialect}: {end:#?}");
        }
    });
}

#[test]
fn programs_for_one_prompt_say_by_their_code_that_the_agent_died() {
    within(60, async {
        let script = ["read".to_owned(), say(INIT), say(&text("before")), "die KILL".to_owned()];
        let stage = Stage::new(&script);
        let print = &["-p", "--output-format", "stream-json", "hi"][..];
        for (dialect, args, results, code) in [
            ("cursor", &["--trust", "-p", "--output-format", "stream-json", "hi"][..], 0, 1),
            ("qwen-code", print, 1, 1),
            ("claude", &["-p", "--verbose", "--output-format", "stream-json", "hi"], 1, 1),
            ("claude", &["-p", "--output-format", "json", "hi"], 1, 1),
            ("qwen-code", &["--output-format", "json", "hi"], 1, 1),
        ] {
            let mut host = stage.host(dialect, "claude", &[], args);
            host.close();
            let end = host.end();
            assert_eq!(end.code(), code, "{dialect} {args:?}: {end:#?}");
            // One object, or a list of all of them.
            let found = end
                .lines
                .iter()
                .flat_map(|line| line.as_array().map_or(std::slice::from_ref(line), Vec::as_slice));
            let found: Vec<&Value> = found.filter(|line| line["type"] == "result").collect();
            assert_eq!(found.len(), results, "{dialect} {args:?}: {end:#?}");
            if results == 0 {
                assert_eq!(end.stderr.trim_end().lines().count(), 1, "{dialect}: {end:#?}");
            }
        }
    });
}

#[test]
fn an_agent_that_ends_without_a_result_gets_one() {
    within(60, async {
        let script = ["read".to_owned(), say(INIT), say(&text("all I know")), "exit 0".to_owned()];
        for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN)] {
            let stage = Stage::new(&script);
            let mut host = stage.host(dialect, "claude", &[], args);
            host.say(&user("hi"));
            let end = host.end();
            is_whole(end.result());
            assert_eq!(end.result()["is_error"], true, "{end:#?}");
        }
    });
}

#[test]
fn a_silent_agent_is_given_up() {
    within(60, async {
        let pids = |stage: &Stage| stage.path("pids").display().to_string();
        for script in [
            vec!["read".to_owned(), "hang".to_owned()],
            vec!["read".to_owned(), say(INIT), "hang".to_owned()],
        ] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                vec!["ignore TERM".to_owned(), format!("pid {}", pids(&stage)), "spawn".to_owned()],
                script,
            ]
            .concat();
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let limits = ["--start-timeout", "1", "--silence-timeout", "1"];
            let mut host = stage.host("claude", "claude", &limits, CLAUDE);
            host.say(&user("hi"));
            let end = host.end();
            assert!(end.result().to_string().contains("has said nothing for 1 s"), "{end:#?}");
            assert_eq!(end.code(), 1);
            assert!(stage.living().is_empty(), "{:?}", stage.living());
        }
    });
}

#[test]
fn an_agent_that_never_ends_its_turn_is_stopped() {
    within(60, async {
        for (limits, talk, why) in [
            (["--turn-timeout", "1"], "rate 20 1000", "has not ended within 1 s (--turn-timeout)"),
            (["--turn-timeout", "1"], "pour 1000000", "has not ended within 1 s (--turn-timeout)"),
            (
                ["--max-turn", "64K"],
                "pour 1000000",
                "more than the 65536 bytes that a turn may have (--max-turn)",
            ),
        ] {
            let stage = Stage::new::<&str>(&[]);
            let (pids, lines) = (stage.path("pids"), stage.path("lines"));
            std::fs::write(&lines, format!("{}\n", text("and so on"))).unwrap();
            let script = [
                "ignore TERM".to_owned(),
                format!("pid {}", pids.display()),
                "spawn".to_owned(),
                "read".to_owned(),
                say(INIT),
                format!("{talk} {}", lines.display()),
                "hang".to_owned(),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host("claude", "claude", &limits, CLAUDE);
            host.say(&user("hi"));
            let end = host.end();
            assert!(end.result().to_string().contains(why), "{talk}: {}", end.result());
            assert_eq!(end.code(), 1);
            assert!(stage.living().is_empty(), "{:?}", stage.living());
        }
    });
}

#[test]
fn a_second_result_is_left_out_and_turns_of_its_own_are_kept() {
    within(60, async {
        for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN)] {
            let script = [
                "read".to_owned(),
                say(INIT),
                say(&text("one")),
                say(&result("one")),
                say(&result("again")),
                say(INIT),
                say(&text("by myself")),
                say(&result("by myself")),
                "read all".to_owned(),
            ];
            let stage = Stage::new(&script);
            let mut host = stage.host(dialect, "claude", &[], args);
            host.say(&user("hi"));
            host.until("result");
            host.until("result");
            host.close();
            let end = host.end();
            let texts: Vec<&str> = end.results().iter().map(|result| result["result"].as_str().unwrap()).collect();
            assert_eq!(texts, ["one", "by myself"], "{dialect}: {end:#?}");
            assert_eq!(end.code(), 0);
        }
    });
}

#[test]
fn what_comes_after_the_result_makes_no_second_outcome() {
    within(60, async {
        for (dialect, args) in [
            ("claude", CLAUDE),
            ("qwen-code", QWEN),
            ("qwen", &["--output-format", "stream-json", "--input-format", "stream-json"]),
        ] {
            let stage = Stage::new(&goes_on(&[]));
            let mut host = stage.host(dialect, "claude", &[], args);
            let prompt = match dialect {
                "qwen" => r#"{"session_id":"_new","input":{"origin":"user","parts":[{"type":"text","text":"hi"}]}}"#.to_owned(),
                _ => user("hi"),
            };
            host.say(&prompt);
            std::thread::sleep(Duration::from_millis(1500));
            host.close();
            let end = host.end();
            let outcomes = end.lines.iter().filter(|line| {
                let chunk = &line["choices"][0]["finish_reason"];
                line["type"] == "result" || chunk == "error"
            });
            assert_eq!(
                outcomes.filter(|line| line["is_error"] != false || dialect != "qwen").count(),
                usize::from(dialect != "qwen"),
                "{dialect}: {end:#?}"
            );
            assert_eq!(end.code(), 0, "{dialect}: {end:#?}");
        }
    });
}

#[test]
fn a_flood_on_stderr_blocks_nothing() {
    within(120, async {
        let script = [
            "read".to_owned(),
            say(INIT),
            "flood stderr 104857600".to_owned(),
            say(&result("done")),
            "read all".to_owned(),
        ];
        let stage = Stage::new(&script);
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&user("hi"));
        host.until("result");
        host.close();
        let end = host.end();
        assert_eq!((end.result()["result"].as_str(), end.code()), (Some("done"), 0), "{end:#?}");
    });
}

#[test]
fn an_agent_may_talk_before_it_listens() {
    within(60, async {
        // Both pipes are full before the agent reads its first byte.
        let stage = Stage::new::<&str>(&[]);
        let many: String = (0..4000).map(|_| text(&"x".repeat(400)) + "\n").collect();
        std::fs::write(stage.path("many"), many).unwrap();
        let script = [
            say(INIT),
            format!("file 0 {}", stage.path("many").display()),
            "read".to_owned(),
            say(&result("done")),
            "read all".to_owned(),
        ];
        std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&user(&"p".repeat(128 << 10)));
        host.until("result");
        host.close();
        let end = host.end();
        assert_eq!(end.lines.iter().filter(|line| line["type"] == "assistant").count(), 4000);
        assert_eq!((end.result()["result"].as_str(), end.code()), (Some("done"), 0));
    });
}

#[test]
fn a_prompt_of_128_kib_arrives_whole() {
    within(60, async {
        let kept = |stage: &Stage| std::fs::read_to_string(stage.path("kept")).unwrap();
        let long = "p".repeat(128 << 10);
        for (dialect, backend, args) in [("claude", "claude", CLAUDE), ("claude", "qwen", CLAUDE), ("qwen-code", "claude", QWEN)] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("keep {}", stage.path("kept").display()),
                "read".to_owned(),
                say(INIT),
                say(&result("done")),
                "read all".to_owned(),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host(dialect, backend, &[], args);
            host.say(&user(&long));
            host.until("result");
            host.close();
            assert_eq!(host.end().code(), 0);
            assert!(kept(&stage).contains(&long), "{dialect} over {backend}");
        }
    });
}

/// A run of a program that has one turn is over with it: nothing begins another one that nobody ends.
#[test]
fn what_comes_after_the_result_of_a_run_begins_no_turn() {
    within(60, async {
        for (dialect, args, ends) in [
            ("codex", &["exec", "--json", "--skip-git-repo-check", "hi"][..], "turn.completed"),
            ("cursor", &["-p", "--output-format", "stream-json", "hi"], "result"),
            ("gemini", &["--output-format", "stream-json", "-p", "hi"], "result"),
            ("opencode", &["run", "--format", "json", "hi"], "step_finish"),
        ] {
            let stage = Stage::new(&goes_on(&[say(&result("two"))]));
            let mut host = stage.host(dialect, "claude", &[], args);
            host.close();
            let end = host.end();
            let types = end.types();
            assert_eq!((end.code(), types.last()), (0, Some(&ends)), "{dialect}: {end:#?}");
            assert_eq!(types.iter().filter(|word| **word == ends).count(), 1, "{dialect}: {end:#?}");
        }
    });
}

#[test]
fn requests_that_an_agent_never_answers_are_answered_with_the_time() {
    within(60, async {
        for (manner, answers) in [("never", 0), ("unknown", 0), ("malformed", 0), ("twice", 1), ("answer", 1)] {
            let control = format!("control {manner}");
            let script = [control, "read".to_owned(), say(INIT), say(&result("lives")), "read all".to_owned()];
            let stage = Stage::new(&script);
            let mut host = stage.host("claude", "claude", &["--control-timeout", "0.5"], CLAUDE);
            host.say(&request("r1", r#"{"subtype":"set_model","model":"m-2"}"#));
            let answer = host.until("control_response");
            assert_eq!(answer["response"]["request_id"], "r1", "{manner}: {answer:#}");
            if answers == 0 {
                assert_eq!(answer["response"]["subtype"], "error", "{manner}: {answer:#}");
                let why = answer["response"]["error"].as_str().unwrap();
                assert!(why.contains("no answer from the agent within 0.5 s"), "{manner}: {why}");
            } else {
                assert_eq!(answer["response"]["subtype"], "success", "{manner}: {answer:#}");
            }
            host.say(&user("hi"));
            host.until("result");
            host.close();
            let end = host.end();
            assert_eq!(end.result()["result"], "lives", "{manner}: {end:#?}");
            let replies = end.lines.iter().filter(|line| line["type"] == "control_response");
            assert_eq!(replies.count(), 1, "{manner}: {end:#?}");
            assert_eq!(end.code(), 0, "{manner}: {end:#?}");
        }
    });
}

#[test]
fn requests_are_refused_when_the_agent_dies() {
    within(60, async {
        let stage = Stage::new(&["control never", "sleep 300", "warn it was too much", "exit 3"]);
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&request("r1", r#"{"subtype":"initialize","hooks":null}"#));
        let answer = host.until("control_response");
        assert_eq!(answer["response"]["subtype"], "error", "{answer:#}");
        assert!(answer["response"]["error"].as_str().unwrap().contains("it was too much"), "{answer:#}");
        let end = host.end();
        assert_eq!(end.code(), 1, "{end:#?}");
        assert!(end.results().is_empty() && end.stderr.contains("it was too much"), "{end:#?}");
    });
}

/// One sentence on standard error that names the program, nothing on standard output, exit code 1.
fn refuses(host: Host, words: &[&str]) {
    let end = host.end();
    assert_eq!(end.code(), 1, "{end:#?}");
    assert!(end.lines.is_empty(), "{end:#?}");
    assert_eq!(end.stderr.trim_end().lines().count(), 1, "{end:#?}");
    for word in words {
        assert!(end.stderr.contains(word), "{word}: {end:#?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    within(60, async {
        let stage = Stage::new::<&str>(&[]);
        let plain = stage.path("plain");
        std::fs::write(&plain, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
        for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN), ("cursor", &["--trust", "-p", "hi"])] {
            for (name, words) in [
                ("nowhere", ["nowhere", "no such program", "install the program"]),
                ("plain", ["plain", "may not be run", "chmod +x"]),
            ] {
                let command = stage.command_with(&stage.path(name), dialect, "claude", &[], args);
                refuses(Host::new(command), &words);
            }
        }
    });
}

#[test]
fn a_program_that_cannot_start_is_named_as_soon_as_it_is_needed() {
    within(60, async {
        let stage = Stage::new::<&str>(&[]);
        let broken = stage.path("broken");
        std::fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
        std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut host = Host::new(stage.command_with(&broken, "claude", "claude", &[], CLAUDE));
        host.say(&user("hi"));
        let end = host.end();
        assert_eq!(end.code(), 1, "{end:#?}");
        assert!(end.result().to_string().contains("interpreter"), "{end:#?}");
        assert!(end.stderr.contains("interpreter"), "{end:#?}");
    });
}

#[test]
fn a_program_without_a_key_or_of_another_version_is_told_how_to_be_mended() {
    within(60, async {
        for (words, mend) in [
            ("warn Invalid API key · Please run /login", "ANTHROPIC_API_KEY"),
            ("warn error: unknown option '--permission-prompt-tool'", "update the program"),
            ("warn error: unknown option '--permission-prompt-tool'", "it is 1.0.3 (Claude Code) and"),
        ] {
            let stage = Stage::new::<&str>(&[]);
            // It is asked for its version after it has failed, not before.
            let starts = format!("starts {}", stage.path("starts").display());
            let script = [&starts, words, "exit 1", "---", "say 1.0.3 (Claude Code)", "exit 0"];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host("claude", "claude", &[], CLAUDE);
            host.say(&user("hi"));
            let end = host.end();
            assert_eq!(end.code(), 1, "{end:#?}");
            assert!(end.result()["errors"][0].as_str().unwrap().contains(mend), "{end:#?}");
            assert!(end.stderr.contains(mend), "{end:#?}");
        }
    });
}

/// Nothing more can come of it, and whether it ends does not matter.
#[test]
fn an_agent_that_closes_its_output_is_not_waited_for() {
    within(60, async {
        let acp = [
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#,
        ];
        for (backend, lines) in [("claude", &[INIT][..]), ("gemini", &acp), ("codex", &[])] {
            let stage = Stage::new::<&str>(&[]);
            let says: String = lines.iter().map(|line| format!("read heard\necho '{line}'\n")).collect();
            let script = format!(
                "#!/bin/sh\necho $$ > '{}'\n{says}read heard\nexec >&-\nexec sleep 600\n",
                stage.path("pids").display()
            );
            let program = stage.path("agent-program");
            std::fs::remove_file(&program).unwrap();
            std::fs::write(&program, script).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
            let mut host = stage.host("claude", backend, &[], CLAUDE);
            host.say(&user("hi"));
            if backend == "claude" {
                host.say(&user("and this"));
            }
            let result = host.until_within("result", Duration::from_secs(30));
            host.close();
            let end = host.end();
            let told = format!("{result} {}", end.stderr);
            assert!(
                result["is_error"] == true && told.contains("closed its output, and did not end"),
                "{backend}: {told}"
            );
            assert!(stage.living().is_empty(), "{backend}");
        }
    });
}

/// An agent that says more behind its result, and then this.
fn goes_on(then: &[String]) -> Vec<String> {
    let said = [say(INIT), say(&text("one")), say(&result("one")), say(&text("an afterthought"))];
    [&["read".to_owned()][..], &said, then, &["read all".to_owned()]].concat()
}
