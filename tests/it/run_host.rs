//! What a host can do wrong, or what can happen to it, in front of a stand-in. The table is in docs/run.md.

use std::io::Read;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::stage::{CLAUDE, Host, INIT, QWEN, Stage, request, result, text, user};
use crate::support::{alive, eventually, within};

fn say(line: &str) -> String {
    format!("say {line}")
}

/// An agent that notes its process and one that it started, both deaf to signals.
fn stubborn(commands: &[String]) -> Stage {
    let stage = Stage::new::<&str>(&[]);
    let pids = format!("pid {}", stage.path("pids").display());
    let script = [
        vec!["ignore TERM".to_owned(), "ignore INT".to_owned(), pids, "spawn".to_owned()],
        commands.to_vec(),
    ]
    .concat();
    std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
    stage
}

/// Starts a turn of such an agent that never ends.
fn busy(dialect: &str, args: &[&str], stage: &Stage) -> Host {
    let mut host = stage.host(dialect, "claude", &[], args);
    host.say(&user("hi"));
    host.until("system");
    assert!(!stage.living().is_empty());
    host
}

fn endless() -> Vec<String> {
    vec!["read".to_owned(), say(INIT), say(&text("begun")), "hang".to_owned()]
}

/// Nothing of it is alive five seconds later.
async fn dies(stage: &Stage, since: Instant, what: &str) {
    let left = Duration::from_secs(5).saturating_sub(since.elapsed());
    eventually(what, left, || stage.living().is_empty()).await;
}

#[test]
fn term_and_int_end_the_stream_and_everything_behind_it() {
    within(120, async {
        for (dialect, args, interrupted) in [("claude", CLAUDE, 0), ("qwen-code", QWEN, 130)] {
            for (signal, code) in [(Signal::TERM, 143), (Signal::INT, interrupted)] {
                let stage = stubborn(&endless());
                let host = busy(dialect, args, &stage);
                let since = Instant::now();
                host.signal(signal);
                let end = host.end();
                assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
                assert_eq!(end.code(), code, "{dialect}: {end:#?}");
                assert_eq!(end.result()["is_error"], true, "{dialect}: {end:#?}");
                dies(&stage, since, dialect).await;
            }
        }
    });
}

/// So long an agent whose input was closed may take to end by itself, unless a signal has come.
const OWN_TIME: Duration = Duration::from_millis(1500);

/// Whether it happens sooner than that. A machine that does something else may be late once, and not five times.
fn sooner(what: impl Fn() -> Duration) -> bool {
    (0..5).any(|_| what() < OWN_TIME)
}

/// A host that is told to end deletes its folders next, and finds nobody there who still writes into them.
#[test]
fn a_signal_is_passed_on_to_an_agent_that_does_not_look_at_its_input() {
    let ends = |dialect: &str, args: &[&str], close: bool| {
        let stage = Stage::new(&["read", &say(INIT), &say(&text("begun")), "hang"]);
        let mut host = stage.host(dialect, "claude", &[], args);
        host.say(&user("hi"));
        host.until("system");
        if close {
            host.close();
        }
        let since = Instant::now();
        host.signal(Signal::TERM);
        let end = host.end();
        assert_eq!((end.code(), end.results().len()), (143, 1), "{end:#?}");
        assert!(stage.living().is_empty());
        since.elapsed()
    };
    assert!(sooner(|| ends("claude", CLAUDE, false)));
    assert!(sooner(|| ends("qwen-code", QWEN, true)));
    // Nothing is left to be said, and the agent has its own time to end: there is none any more.
    let leaves = || {
        let stage = Stage::new(&["control answer", "hang"]);
        let mut host = stage.host("claude", "claude", &[], CLAUDE);
        host.say(&request("r1", r#"{"subtype":"initialize","hooks":null}"#));
        host.until("control_response");
        host.close();
        std::thread::sleep(Duration::from_millis(100));
        let since = Instant::now();
        host.signal(Signal::TERM);
        let end = host.end();
        assert!(end.results().is_empty() && [0, 143].contains(&end.code()), "{end:#?}");
        since.elapsed() + Duration::from_millis(100)
    };
    assert!(sooner(leaves));
}

#[test]
fn term_while_the_host_does_not_read_ends_it_all_the_same() {
    within(60, async {
        let stage = Stage::new::<&str>(&[]);
        let many: String = (0..1000).map(|_| text(&"x".repeat(4000)) + "\n").collect();
        std::fs::write(stage.path("many"), many).unwrap();
        let script = [
            "ignore TERM".to_owned(),
            format!("pid {}", stage.path("pids").display()),
            "spawn".to_owned(),
            "read".to_owned(),
            say(INIT),
            format!("rate 1000000 1000 {}", stage.path("many").display()),
        ];
        std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
        let mut host = Host::deaf(stage.command("claude", "claude", &[], CLAUDE));
        host.say(&user("hi"));
        eventually("the agent runs", Duration::from_secs(10), || stage.living().len() == 2).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let since = Instant::now();
        host.signal(Signal::TERM);
        // Its pipe stays open, and nobody reads from it.
        let _pipe = host.take_stdout();
        let end = host.end();
        assert_eq!(end.code(), 143);
        dies(&stage, since, "the agent").await;
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    });
}

#[test]
fn a_killed_stand_in_takes_its_agent_along() {
    within(60, async {
        let stage = stubborn(&endless());
        let host = busy("claude", CLAUDE, &stage);
        let since = Instant::now();
        host.signal(Signal::KILL);
        dies(&stage, since, "the agent").await;
    });
}

#[test]
fn a_closed_output_ends_everything() {
    within(60, async {
        let stage = stubborn(&endless());
        let mut host = Host::deaf(stage.command("claude", "claude", &[], CLAUDE));
        host.say(&user("hi"));
        let mut stdout = host.take_stdout();
        let mut byte = [0; 1];
        stdout.read_exact(&mut byte).unwrap();
        let us = i32::try_from(host.process.id()).unwrap();
        let since = Instant::now();
        drop(stdout);
        let end = host.end();
        assert!(!alive(us) && end.code() == 1, "{end:#?}");
        dies(&stage, since, "the agent").await;
    });
}

#[test]
fn an_output_that_cannot_be_written_ends_everything() {
    within(120, async {
        let editor = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
        let threads = r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}"#;
        for (dialect, args, says) in [
            ("claude", CLAUDE, user("hi")),
            ("qwen-code", QWEN, user("hi")),
            ("codex", &["exec", "--json", "--skip-git-repo-check", "hi"][..], String::new()),
            ("codex", &["app-server"], threads.to_owned()),
            ("acp", &[], editor.to_owned()),
        ] {
            let stage = stubborn(&endless());
            let mut command = stage.command(dialect, "claude", &[], args);
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let mut program = command.stdout(full).spawn().unwrap();
            let mut stdin = program.stdin.take().filter(|_| !says.is_empty());
            if let Some(stdin) = &mut stdin {
                std::io::Write::write_all(stdin, format!("{says}\n").as_bytes()).unwrap();
            }
            let end = tokio::task::spawn_blocking(|| program.wait_with_output()).await.unwrap().unwrap();
            let said = String::from_utf8_lossy(&end.stderr);
            assert_eq!(end.status.code(), Some(1), "{dialect}: {said}");
            assert!(said.contains("standard output cannot be written"), "{dialect}: {said}");
            drop(stdin);
            dies(&stage, Instant::now(), dialect).await;
        }
    });
}

/// So few files may be open that nothing can be waited for.
#[test]
fn too_few_open_files_are_told() {
    let stage = Stage::new(&["hang"]);
    for (dialect, args) in [("claude", CLAUDE), ("qwen-code", QWEN), ("acp", &[]), ("codex", &["app-server"])] {
        for most in 5..11 {
            let program = stage.command(dialect, "claude", &[], args);
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &format!("ulimit -n {most} && exec \"$0\" \"$@\"")]);
            command
                .arg(program.get_program())
                .args(program.get_args())
                .stdin(std::process::Stdio::null());
            let said = command.output().unwrap();
            let (lines, why) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
            assert!(!why.contains("panicked"), "{dialect}, {most}: {why}");
            assert!(
                said.status.code() == Some(1) && format!("{lines}{why}").contains("Too many open files"),
                "{dialect}, {most}: {said:?}"
            );
        }
    }
}

#[test]
fn a_closed_input_ends_an_idle_session_and_lets_a_turn_end() {
    within(60, async {
        // The agent does not look at its input.
        let idle = stubborn(&["control answer".to_owned(), "hang".to_owned()]);
        let mut host = idle.host("claude", "claude", &[], CLAUDE);
        host.say(&request("r1", r#"{"subtype":"initialize","hooks":null}"#));
        host.until("control_response");
        let since = Instant::now();
        host.close();
        let end = host.end();
        assert_eq!(end.code(), 0, "{end:#?}");
        assert!(end.results().is_empty(), "{end:#?}");
        dies(&idle, since, "the idle agent").await;

        let script = [
            "read".to_owned(),
            say(INIT),
            say(&text("begun")),
            "sleep 700".to_owned(),
            say(&result("done")),
            "hang".to_owned(),
        ];
        let stage = stubborn(&script);
        let mut host = busy("claude", CLAUDE, &stage);
        host.close();
        host.until("result");
        let since = Instant::now();
        let end = host.end();
        assert_eq!((end.result()["result"].as_str(), end.code()), (Some("done"), 0), "{end:#?}");
        dies(&stage, since, "the agent whose turn is over").await;
    });
}

/// The most memory that a process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// A host reads 1 KiB a second for so long, and then all it can, while the agent writes so many times 4 MiB in one turn, as fast as
/// they are taken.
#[cfg(target_os = "linux")]
fn reads_slowly(dialect: &str, args: &[&str], seconds: usize, times: usize) {
    const LINES: usize = 256;
    let stage = Stage::new::<&str>(&[]);
    let many: String = (0..LINES).map(|_| text(&"x".repeat(16 << 10)) + "\n").collect();
    std::fs::write(stage.path("many"), many).unwrap();
    let script = [
        "read".to_owned(),
        say(INIT),
        format!("pour {times} {}", stage.path("many").display()),
        say(&result("done")),
        "read all".to_owned(),
    ];
    std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
    let mut host = Host::deaf(stage.command(dialect, "claude", &[], args));
    let pid = host.process.id();
    std::thread::sleep(Duration::from_millis(300));
    let before = peak(pid);
    host.say(&user("hi"));
    let mut stdout = host.take_stdout();
    let mut tail = Vec::new();
    let mut piece = [0; 1024];
    for _ in 0..seconds {
        stdout.read_exact(&mut piece).unwrap();
        tail.extend_from_slice(&piece);
        std::thread::sleep(Duration::from_secs(1));
    }
    let slow = peak(pid);
    let (mut texts, mut results) = (0, 0);
    let mut room = vec![0; 64 << 10];
    while results == 0 {
        let read = stdout.read(&mut room).unwrap();
        assert!(read > 0, "it ended after {texts} texts");
        tail.extend_from_slice(&room[..read]);
        if let Some(end) = tail.iter().rposition(|&byte| byte == b'\n') {
            for line in tail[..end].split(|&byte| byte == b'\n') {
                texts += usize::from(line.len() > 16 << 10);
                results += usize::from(line.windows(15).take(400).any(|part| part == b"\"type\":\"result\""));
            }
            tail.drain(..=end);
        }
    }
    let after = peak(pid);
    host.close();
    assert_eq!(host.end().code(), 0, "{dialect}");
    assert_eq!((texts, results), (times * LINES, 1), "{dialect}");
    assert!(
        slow - before < 64 << 20 && after - before < 64 << 20,
        "{dialect}: {before} {slow} {after}"
    );
    println!("{dialect}: {times} times 4 MiB, memory grew by {} KiB", (after - before) >> 10);
}

#[test]
#[cfg(target_os = "linux")]
fn a_slow_host_loses_nothing_of_a_gigabyte() {
    within(900, async { reads_slowly("claude", CLAUDE, 20, 256) });
}

#[test]
fn a_question_that_the_host_does_not_answer_is_denied_with_the_time() {
    within(60, async {
        let ask = r#"ask q1 20000 {"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}"#;
        let yes = |id: &str| {
            format!(
                r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{{"command":"ls"}}}}}}}}"#
            )
        };
        let malformed = r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":7}}}"#;
        let empty = r#"{"type":"control_response"}"#;
        let error = r#"{"type":"control_response","response":{"subtype":"error","request_id":"q1","error":"callback failed"}}"#;
        for (answers, words, limit) in [
            (vec![], "did not answer within 1.", "1"),
            (vec![yes("another")], "did not answer within 1.", "1"),
            (vec![empty.to_owned()], "did not answer within 1.", "1"),
            (vec![malformed.to_owned()], "could not be understood", "30"),
            (vec![error.to_owned()], "callback failed", "30"),
            (vec![yes("q1"), yes("q1")], "\"behavior\":\"allow\"", "30"),
        ] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("keep {}", stage.path("kept").display()),
                "read".to_owned(),
                say(INIT),
                ask.to_owned(),
                say(&result("lives")),
                "read".to_owned(),
                say(INIT),
                say(&result("goes on")),
                "read all".to_owned(),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host("claude", "claude", &["--permission-timeout", limit], CLAUDE);
            host.say(&user("hi"));
            host.until("control_request");
            for answer in &answers {
                host.say(answer);
            }
            host.until("result");
            host.say(&user("more"));
            host.until("result");
            host.close();
            let end = host.end();
            assert_eq!(end.code(), 0, "{end:#?}");
            let kept = std::fs::read_to_string(stage.path("kept")).unwrap();
            let replies: Vec<&str> = kept.lines().filter(|line| line.contains("control_response")).collect();
            assert_eq!(replies.len(), 1, "{answers:?}: {kept}");
            assert!(replies[0].contains(words) && replies[0].contains("q1"), "{answers:?}: {kept}");
            let withdrawn = end.lines.iter().any(|line| line["type"] == "control_cancel_request");
            assert_eq!(withdrawn, words.contains("within"), "{end:#?}");
        }
    });
}

/// What the agent was answered to its questions.
fn answers(stage: &Stage) -> Vec<(String, String)> {
    let kept = std::fs::read_to_string(stage.path("kept")).unwrap();
    let lines = kept.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(|line| line["type"] == "control_response")
        .map(|line| (word(&line["response"]["request_id"]), word(&line["response"]["response"]["behavior"])))
        .filter(|(_, behavior)| !behavior.is_empty())
        .collect()
}

#[test]
fn what_the_command_line_says_of_tools_holds_for_an_agent_that_is_not_told() {
    within(60, async {
        let ask = |id: &str, tool: &str, input: &str| {
            format!(r#"ask {id} 5000 {{"subtype":"can_use_tool","tool_name":"{tool}","tool_use_id":"c-{id}","input":{input}}}"#)
        };
        for (mode, rest) in [("dontAsk", "deny"), ("default", "allow")] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("keep {}", stage.path("kept").display()),
                "read".to_owned(),
                say(INIT),
                ask("listed", "run_shell_command", r#"{"command":"ls -l"}"#),
                ask("two", "run_shell_command", r#"{"command":"ls; touch x"}"#),
                ask("ruled-out", "write_file", r#"{"file_path":"/x","content":"y"}"#),
                ask("other", "edit", r#"{"file_path":"/x","old_string":"a","new_string":"b"}"#),
                say(&result("done")),
                "read all".to_owned(),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let rules = ["--allowedTools", "Bash(ls:*)", "--disallowedTools", "Write", "--permission-mode", mode];
            let mut host = stage.host("claude", "qwen", &[], &[CLAUDE, &rules].concat());
            host.say(&user("hi"));
            let mut asked = Vec::new();
            let end = loop {
                let line = host.next(Duration::from_secs(20)).unwrap();
                if line["type"] == "control_request" {
                    asked.push(line["request"]["tool_name"].as_str().unwrap().to_owned());
                    let id = line["request_id"].as_str().unwrap();
                    host.say(&format!(
                        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"behavior":"allow","updatedInput":{}}}}}}}"#,
                        line["request"]["input"]
                    ));
                }
                if line["type"] == "result" {
                    break line;
                }
            };
            host.close();
            assert_eq!(host.end().code(), 0);
            let expected = [("listed", "allow"), ("two", rest), ("ruled-out", "deny"), ("other", rest)];
            assert_eq!(answers(&stage), expected.map(|(id, word)| (id.to_owned(), word.to_owned())), "{mode}");
            assert_eq!(asked, if rest == "allow" { vec!["Bash", "Edit"] } else { vec![] }, "{mode}");
            let denied = end["permission_denials"].as_array().unwrap();
            assert_eq!(denied.len(), if rest == "allow" { 1 } else { 3 }, "{mode}: {end:#}");
            assert!(denied.iter().any(|denied| denied["tool_name"] == "Write"), "{mode}: {end:#}");
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn daemons_live_on_only_where_that_was_asked_for() {
    within(60, async {
        for (settings, lives) in [(&["--keep-daemons"][..], true), (&[], false)] {
            let stage = Stage::new::<&str>(&[]);
            let script = [
                format!("pid {}", stage.path("pids").display()),
                "spawn detached".to_owned(),
                "sleep 700".to_owned(),
                "read".to_owned(),
                say(INIT),
                say(&result("done")),
                "read all".to_owned(),
            ];
            std::fs::write(stage.path("agent-program.script"), script.join("\n")).unwrap();
            let mut host = stage.host("claude", "claude", settings, CLAUDE);
            host.say(&user("hi"));
            host.until("result");
            eventually("both have begun", Duration::from_secs(5), || stage.living().len() == 2).await;
            host.close();
            // The daemon holds our pipes' other ends: the run ends all the same.
            assert_eq!(host.end().code(), 0);
            let living = stage.living();
            for pid in &living {
                let pid = rustix::process::Pid::from_raw(*pid).unwrap();
                rustix::process::kill_process(pid, Signal::KILL).unwrap();
            }
            assert_eq!(living.len(), usize::from(lives), "{settings:?}");
        }
    });
}
