//! Waits and signs of life, as a host sees them.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::stage::{CLAUDE, Host, INIT, Stage, result, text, user};
use crate::support::within;

/// A host of the RFC, over the session that is built in.
fn rfc(settings: &[&str]) -> Host {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentglot"));
    command.args(["run", "--as", "qwen", "--backend", "demo"]).args(settings);
    command.args(["--", "--input-format", "stream-json", "--output-format", "stream-json"]);
    command.env_remove("AGENTGLOT_HEARTBEAT").env_remove("AGENTGLOT_LOG");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Host::new(command)
}

#[test]
fn signs_of_life_come_unasked_where_they_are_wanted() {
    within(60, async {
        let mut host = rfc(&["--heartbeat", "0.2"]);
        let since = Instant::now();
        let first = host.until("result/heartbeat");
        let second = host.until("result/heartbeat");
        assert!(since.elapsed() > Duration::from_millis(300), "{:?}", since.elapsed());
        assert_eq!((&first["status"], first["session_id"].is_string()), (&"ok".into(), true), "{first}");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        assert!(second["ts"].as_u64().is_some_and(|ts| now - ts < 5), "{second}");
        // The host wants none any more, and is still answered.
        host.say(r#"{"type":"heartbeat_request","session_id":"s","interval_ms":0}"#);
        while host.next(Duration::from_millis(700)).is_ok() {}
        host.say(r#"{"type":"heartbeat_request","session_id":"s"}"#);
        host.until("result/heartbeat");
        host.close();
        assert_eq!(host.end().code(), 0);

        // Nobody wants them unless it is said.
        let mut host = rfc(&[]);
        assert!(host.next(Duration::from_secs(1)).is_err(), "{:?}", host.seen);
        host.close();
        host.end();
    });
}

/// Also in the middle of a turn in which the agent says nothing.
#[test]
fn signs_of_life_go_on_while_the_agent_is_silent() {
    within(60, async {
        let script = [
            "read".to_owned(),
            format!("say {INIT}"),
            "sleep 1500".to_owned(),
            format!("say {}", text("at last")),
            format!("say {}", result("at last")),
        ];
        let stage = Stage::new(&script);
        let args = ["--input-format", "stream-json", "--output-format", "stream-json"];
        let mut host = stage.host("qwen", "claude", &["--heartbeat", "0.3"], &args);
        host.say(r#"{"session_id":"_new","input":{"origin":"user","parts":[{"type":"text","text":"hi"}]}}"#)
            .close();
        let end = host.end();
        let beats: Vec<usize> = (0..end.lines.len()).filter(|&n| end.lines[n]["type"] == "result/heartbeat").collect();
        assert!((3..12).contains(&beats.len()), "{end:#?}");
        let answer = end.lines.iter().position(|line| line.to_string().contains("at last"));
        assert!(
            answer.is_some_and(|answer| beats.iter().filter(|&&beat| beat < answer).count() >= 3),
            "{end:#?}"
        );
    });
}

#[test]
fn a_prompt_on_standard_input_that_never_ends_is_given_up() {
    within(60, async {
        for (dialect, args, begun) in [
            ("cursor", &["--trust", "-p"][..], ""),
            ("cursor", &["--trust", "-p"], "Write me a"),
            ("claude", &["-p"], "Write me a"),
        ] {
            let mut process = Command::new(env!("CARGO_BIN_EXE_agentglot"))
                .args(["run", "--as", dialect, "--backend", "demo", "--prompt-timeout", "0.5", "--"])
                .args(args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let since = Instant::now();
            let mut open = process.stdin.take().unwrap();
            open.write_all(begun.as_bytes()).unwrap();
            let output = process.wait_with_output().unwrap();
            assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{dialect}: {stderr}");
            let words = format!("{} bytes, and nothing more for 0.5 s", begun.len());
            assert!(stderr.contains(&words) && stderr.trim_end().lines().count() == 1, "{dialect}: {stderr}");
            drop(open);
        }
    });
}

/// An agent that goes on by itself so long after its input was closed: background work that has ended begins a turn.
fn goes_on(after: u64) -> Stage {
    Stage::new(&[
        "read".to_owned(),
        format!("say {INIT}"),
        format!("say {}", result("first")),
        "read all".to_owned(),
        format!("sleep {after}"),
        format!("say {INIT}"),
        format!("say {}", result("second")),
    ])
}

#[test]
fn an_agent_has_time_to_end_by_itself_and_what_it_says_then_is_told() {
    within(60, async {
        for (after, settings, results) in [
            (300, &[][..], 2),
            (20_000, &[], 1),
            (2_500, &["--shutdown-timeout", "30"], 2),
            (20_000, &["--shutdown-timeout", "0.2"], 1),
        ] {
            let since = Instant::now();
            let stage = goes_on(after);
            let mut host = stage.host("claude", "claude", settings, CLAUDE);
            host.say(&user("hi")).close();
            let end = host.end();
            assert_eq!((end.code(), end.results().len()), (0, results), "{after} {settings:?}: {end:#?}");
            // Well below the five seconds after which nothing of ours may be alive.
            assert!(since.elapsed() < Duration::from_secs(5), "{after} {settings:?}: {:?}", since.elapsed());
        }
    });
}
