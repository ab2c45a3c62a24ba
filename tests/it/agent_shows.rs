//! What hosts of the RFC see of the built-in agent's work: terminal output, displays of calls, events of the session.

use std::fs;
use std::num::NonZero;

use serde_json::{Value, json};

use crate::support::model::{Answer, Asked, Server, Step};
use crate::support::play::Play;
use crate::support::rfc::{MESSAGES, Rfc};

fn call(id: &str, name: &str, arguments: &Value) -> Answer {
    Answer::steps(vec![Step::Call(id.to_owned(), name.to_owned(), arguments.to_string())])
}

/// How many calls have been answered.
fn results(asked: &Asked) -> usize {
    let all = asked.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|message| message["role"] == "tool").count()
}

/// One call of a tool, then `done`.
fn calls(name: &str, arguments: &Value) -> Server {
    Server::script(vec![call("c1", name, arguments), Answer::text("done")])
}

/// A session in front of this model, with one prompt.
fn begin(model: Server, args: &[&str]) -> Rfc {
    begin_with(Play::of(model), &[MESSAGES, args].concat())
}

fn begin_with(play: Play, args: &[&str]) -> Rfc {
    // A model that is busy is asked again.
    let mut session = Rfc::with(play, args, &|command| {
        command.env("AGENTGLOT_MODEL_RETRIES", "3");
    });
    session.prompt("go");
    session
}

/// All lines.
fn end(mut session: Rfc) -> Vec<Value> {
    session.summary();
    let end = session.end();
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    end.lines
}

/// The annotations of a type, each with the content beside it.
fn annotations<'l>(lines: &'l [Value], kind: &str) -> Vec<(&'l Value, &'l Value)> {
    let mut found = Vec::new();
    for line in lines {
        for choice in line["choices"].as_array().into_iter().flatten() {
            let said = if choice["delta"].is_object() {
                &choice["delta"]
            } else {
                &choice["message"]
            };
            for annotation in said["annotations"].as_array().into_iter().flatten() {
                if annotation["type"] == kind {
                    found.push((annotation, &said["content"]));
                }
            }
        }
    }
    found
}

/// Events of the session, in lines of their own or in annotations.
fn events<'l>(lines: &'l [Value], name: &str) -> Vec<&'l Value> {
    let alone = lines.iter().filter(|line| line["type"] == "x-qwen-session-event");
    let beside = annotations(lines, "x-qwen-session-event").into_iter().map(|(event, _)| event);
    alone.chain(beside).filter(|event| event["event"] == name).collect()
}

/// The bytes of one channel, put together from text and sequences.
fn bytes(lines: &[Value], channel: &str) -> String {
    let mut out = String::new();
    for (terminal, content) in annotations(lines, "x-qwen-terminal") {
        if terminal["channel"] != channel {
            continue;
        }
        assert_eq!(terminal["source"], "tool");
        let mut text = content.as_str().unwrap_or_default().chars();
        let mut at = 0;
        for ansi in terminal["ansi"].as_array().unwrap() {
            let offset = ansi["offset"].as_u64().unwrap() as usize;
            out.extend(text.by_ref().take(offset - at));
            at = offset;
            out.push_str(ansi["sequence"].as_str().unwrap());
        }
        out.extend(text);
    }
    out
}

/// The screen of a terminal that shows this, with its colours.
fn screen(bytes: &[u8]) -> (String, String, (u16, u16)) {
    let mut terminal = vt100::Parser::new(NonZero::new(24).unwrap(), NonZero::new(60).unwrap(), 0);
    // A terminal makes a carriage return of its own at each line feed of a program.
    for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if n > 0 {
            terminal.process(b"\r\n");
        }
        terminal.process(line);
    }
    let screen = terminal.screen();
    (screen.contents(), screen.contents_formatted(), screen.cursor_position())
}

/// Colours of all kinds, a line that is written over, the cursor going up and back, wide and joined characters, a title, a cleared screen.
const PIECES: &[&str] = &[
    "plain \u{1b}[1;32mgr",
    "ün\u{1b}[0m \u{1b}[38;5;208morange\u{1b}[39m \u{1b}[48;2;10;20;30mback\u{1b}[49m\n",
    "10%\r20%\r\u{1b}[K30%\n\u{1b}]0;a tit",
    "le\u{7}世界 \u{1b}[4m한국\u{1b}[24m e\u{301} 👩‍👩‍👧\n",
    "up\u{1b}[1Aover\u{1b}",
    "[5D<\u{1b}[s\u{1b}[10;20Hfar\u{1b}[u>\u{1b}[3;1H\u{1b}[7minverse\u{1b}[27m\n\u{1b}(B\u{1b}[?25l",
];

#[test]
fn the_screen_is_the_one_that_the_tool_made() {
    for format in ["stream-json", "stream-chunk-json"] {
        // Each piece comes in a write of its own, cut in the middle of sequences and of characters.
        let mut script = String::from("import os, time\n");
        for piece in PIECES {
            let (head, tail) = piece.as_bytes().split_at(piece.len() / 2);
            for part in [head, tail] {
                let numbers: Vec<String> = part.iter().map(u8::to_string).collect();
                script.push_str(&format!("os.write(1, bytes([{}]))\ntime.sleep(0.02)\n", numbers.join(",")));
            }
            script.push_str("os.write(2, b'\\x1b[31mwarn\\x1b[0m\\n')\n");
        }
        let model = calls("run_shell_command", &json!({"command": "python3 paint.py", "is_background": false}));
        let play = Play::of(model);
        fs::write(play.path("paint.py"), script).unwrap();
        let args = ["--yolo", "--input-format", "stream-json", "--output-format", format];
        let lines = end(begin_with(play, &args));
        let whole = PIECES.concat();
        assert_eq!(bytes(&lines, "stdout"), whole, "{format}");
        assert_eq!(screen(bytes(&lines, "stdout").as_bytes()), screen(whole.as_bytes()));
        let warned = "\u{1b}[31mwarn\u{1b}[0m\n".repeat(PIECES.len());
        assert_eq!(bytes(&lines, "stderr"), warned);
        assert_eq!(screen(bytes(&lines, "stderr").as_bytes()), screen(warned.as_bytes()));
        // The spans alone, without the sequences, say what is coloured.
        let terminals = annotations(&lines, "x-qwen-terminal");
        let red = terminals.iter().filter(|(terminal, _)| terminal["channel"] == "stderr");
        for (terminal, content) in red {
            let spans = terminal["spans"].as_array().unwrap();
            let of = |span: &Value, key: &str| span[key].as_u64().unwrap() as usize;
            for span in spans {
                let said: String = content
                    .as_str()
                    .unwrap()
                    .chars()
                    .skip(of(span, "start_index"))
                    .take(of(span, "end_index") - of(span, "start_index"))
                    .collect();
                assert_eq!((said.as_str(), &span["style"]["theme_token"]), ("warn", &json!("AccentRed")));
            }
        }
        // The model reads both streams.
        let displays = annotations(&lines, "x-qwen-tool-display");
        let (last, _) = displays.last().unwrap();
        let text = last["result_display"]["text"].as_str().unwrap();
        assert!(text.contains("warn") && text.contains("世界"), "{last}");
    }
}

/// The states of a call, in their order.
fn states(lines: &[Value], id: &str) -> Vec<String> {
    let displays = annotations(lines, "x-qwen-tool-display");
    let of_call = displays.iter().filter(|(display, _)| display["tool_call_id"] == id);
    of_call.map(|(display, _)| display["status"].as_str().unwrap().to_owned()).collect()
}

fn is_asked(line: &Value) -> bool {
    line["type"] == "control_request"
}

fn leave(session: &mut Rfc, asked: &Value, behavior: &str) {
    session.answer_well(asked, json!({"behavior": behavior, "message": "not today"}));
}

#[test]
fn calls_are_shown_through_their_whole_life() {
    let command = json!({"command": "git status; exit 3", "is_background": false});
    for (name, arguments, answer, last) in [
        ("run_shell_command", command.clone(), "approve", "error"),
        ("run_shell_command", command, "deny", "canceled"),
        (
            "write_file",
            json!({"file_path": "loom.txt", "content": "one\ntwo\n"}),
            "approve",
            "success",
        ),
        (
            "write_file",
            json!({"file_path": "loom.txt", "content": "one\ntwo\n"}),
            "deny",
            "canceled",
        ),
    ] {
        let play = Play::of(calls(name, &arguments));
        let keeps = play.again(play.server.clone());
        let mut session = begin_with(play, MESSAGES);
        let asked = session.until(is_asked);
        leave(&mut session, &asked, answer);
        let lines = end(session);
        let runs = if answer == "approve" {
            &["pending", "confirming", "executing"][..]
        } else {
            &["pending", "confirming"]
        };
        assert_eq!(states(&lines, "c1"), [runs, &[last]].concat(), "{name} {answer}");
        let displays = annotations(&lines, "x-qwen-tool-display");
        let (confirming, _) = displays.iter().find(|(display, _)| display["status"] == "confirming").unwrap();
        let (shown, _) = displays.last().unwrap();
        let confirmation = &confirming["confirmation"];
        if name == "run_shell_command" {
            assert_eq!(
                (&confirmation["type"], &confirmation["command"], &confirmation["rootCommand"]),
                (&json!("exec"), &json!("git status; exit 3"), &json!("git"))
            );
        } else {
            assert_eq!((&confirmation["type"], &confirmation["fileName"]), (&json!("edit"), &json!("loom.txt")));
            assert!(confirmation["fileDiff"].as_str().unwrap().contains("+two"), "{confirmation}");
            assert_eq!(keeps.path("loom.txt").exists(), answer == "approve");
        }
        if (name, answer) == ("write_file", "approve") {
            let display = &shown["result_display"];
            assert_eq!(
                (&display["kind"], &display["stat"]["ai_added_lines"]),
                (&json!("file_diff"), &json!(2)),
                "{display}"
            );
        }
        if answer == "deny" {
            assert!(shown["result_display"]["text"].as_str().unwrap().contains("not today"), "{shown}");
        }
    }
}

#[test]
fn lists_and_plans_have_kinds_of_their_own() {
    let todos = json!({"todos": [{"id": "1", "content": "warp", "status": "in_progress"}, {"id": "2", "content": "weft", "status": "pending"}]});
    let lines = end(begin(calls("todo_write", &todos), &["--yolo"]));
    let displays = annotations(&lines, "x-qwen-tool-display");
    let (shown, _) = displays.last().unwrap();
    assert_eq!(shown["result_display"]["kind"], "todo_list", "{shown}");
    assert_eq!(
        shown["result_display"]["todos"][0],
        json!({"id": "1", "content": "warp", "status": "in_progress"})
    );

    let plan = json!({"plan": "# Weave\n- warp"});
    let mut session = begin(calls("exit_plan_mode", &plan), &["--approval-mode", "plan"]);
    let asked = session.until(is_asked);
    leave(&mut session, &asked, "approve");
    let lines = end(session);
    let displays = annotations(&lines, "x-qwen-tool-display");
    let (confirming, _) = displays.iter().find(|(display, _)| display["status"] == "confirming").unwrap();
    assert_eq!(
        (&confirming["confirmation"]["type"], &confirming["confirmation"]["plan"]),
        (&json!("plan"), &json!("# Weave\n- warp"))
    );
    let (shown, _) = displays.last().unwrap();
    assert_eq!(
        (&shown["result_display"]["kind"], &shown["result_display"]["plan_markdown"]),
        (&json!("plan_summary"), &json!("# Weave\n- warp"))
    );
}

#[test]
fn a_subagent_is_shown_while_it_works() {
    let model = Server::start(|asked, _| match (asked.tools().iter().any(|name| name == "agent"), results(asked)) {
        (true, 0) => call(
            "main",
            "agent",
            &json!({"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}),
        ),
        (false, 0) => call("below", "run_shell_command", &json!({"command": "echo found", "is_background": false})),
        (false, 1) => Answer::text("it is there"),
        _ => Answer::text("done"),
    });
    let lines = end(begin(model, &["--yolo"]));
    let displays = annotations(&lines, "x-qwen-tool-display");
    assert!(
        states(&lines, "below").is_empty(),
        "the RFC has no lines of a subagent's own: {displays:#?}"
    );
    let told: Vec<_> = displays
        .iter()
        .filter(|(display, _)| display["result_display"]["kind"] == "task_execution")
        .map(|(display, _)| {
            let task = &display["result_display"];
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (word(&display["status"]), word(&task["status"]), word(&task["toolCalls"][0]["status"]))
        })
        .collect();
    let as_told = |display: &str, task: &str, call: &str| (display.to_owned(), task.to_owned(), call.to_owned());
    assert_eq!(
        told,
        [
            as_told("executing", "running", "executing"),
            as_told("executing", "running", "success"),
            as_told("success", "completed", "success"),
        ]
    );
}

#[test]
fn limits_cuts_and_new_attempts_are_events() {
    let always = Server::start(|asked, _| call(&format!("c{}", results(asked)), "list_directory", &json!({"path": "."})));
    let lines = end(begin(always, &["--yolo", "--max-session-turns", "2"]));
    let [event] = events(&lines, "MaxSessionTurns")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["metrics"]["max_session_turns"], 2);

    let cut = Answer::steps(vec![Step::Text("a long sto".into()), Step::Stop("length")]);
    let lines = end(begin(Server::script(vec![cut]), &[]));
    let [event] = events(&lines, "MAX_TOKENS")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["message"], "Response truncated due to token limits.");

    let busy = Answer::error(503, "the loom is busy").header("retry-after-ms", "5");
    let lines = end(begin(Server::script(vec![busy, Answer::text("done")]), &[]));
    let [event] = events(&lines, "Retry")[..] else { panic!("{lines:#?}") };
    assert_eq!(
        (&event["metrics"]["attempt"], &event["metrics"]["error_status"]),
        (&json!(1), &json!(503)),
        "{event}"
    );

    let sleeps = json!({"command": "sleep 60", "is_background": false});
    let mut session = begin(calls("run_shell_command", &sleeps), &["--yolo"]);
    session.until(|line| line.to_string().contains("\"executing\""));
    session.say(&json!({"type": "control/cancel", "session_id": "any", "reason": "escape"}));
    let lines = end(session);
    let [event] = events(&lines, "USER_CANCELLED")[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!(event["message"], "User cancelled the request.");
    assert_eq!(states(&lines, "c1").last().unwrap(), "canceled");
}
