//! Faults around the built-in agent: one outcome, the session goes on where it can, no file half written, no process left, the reason in
//! one sentence. docs/agent.md has them in a table.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::skipped;
use crate::support::claude::bash;
use crate::support::model::{Answer, Says, Server, Step};
use crate::support::play::{ONE, PRINT, Play, run, said};
use crate::support::stage::{End, Host, request, user};
use crate::support::{free_port, wait};

/// Claude's host with leave for everything.
const FREE: &[&str] = &[
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--dangerously-skip-permissions",
];

fn done() -> Answer {
    Answer::text("All done.")
}

/// The reason is one sentence: nothing of a crash, no key, no page.
fn is_one_sentence(why: &str, what: &str) {
    assert!(!why.is_empty() && why.len() < 500, "{what}: {why}");
    assert!(!why.trim_end().contains('\n'), "{what}: {why}");
    assert!(!why.contains("sk-a-secret-of-ours") && !why.contains("panicked"), "{what}: {why}");
}

/// A run of Claude's that failed, once, and says why.
fn failed(end: &End, what: &str, why: &str) {
    let result = end.result();
    assert_eq!(result["is_error"], true, "{what}: {end:#?}");
    assert_eq!(end.code(), 1, "{what}: {end:#?}");
    let text = result["result"].as_str().or_else(|| result["errors"][0].as_str()).unwrap_or_default();
    is_one_sentence(text, what);
    assert!(text.contains(why), "{what}: {text:?} does not say {why:?}");
}

/// The peak of a process's memory in bytes.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10
}

#[test]
fn a_model_that_cannot_be_had_is_one_failed_outcome() {
    let page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1>\n<hr>nginx</body></html>";
    let odd = |kind, body: &str| Answer::with(200, Says::Body(kind, body.to_owned()));
    for (what, answer, why) in [
        ("401", Answer::error(401, "the key sk-a-secret-of-ours is wrong"), "401"),
        ("403", Answer::error(403, "not for you"), "403"),
        ("404", Answer::error(404, "no such model"), "404"),
        ("429", Answer::error(429, "slow down").header("retry-after", "3600"), "429"),
        ("500", Answer::error(500, "oh"), "500"),
        ("529", Answer::error(529, "overloaded"), "529"),
        ("a page with 502", Answer::with(502, Says::Body("text/html", page.to_owned())), "502"),
        ("a page with 200", odd("text/html", page), ""),
        ("garbage", odd("application/json", "\u{0}\u{1}{]"), ""),
        ("nothing", odd("text/event-stream", ""), ""),
        ("another stream", odd("text/event-stream", "data: {\"hello\":1}\n\ndata: x\n\n"), ""),
        (
            "an error in the stream",
            odd("text/event-stream", "data: {\"error\":{\"message\":\"out of wool\"}}\n\n"),
            "out of wool",
        ),
        ("a connection that is closed", Answer::with(200, Says::Silence(Duration::ZERO)), ""),
    ] {
        for api in ["openai", "anthropic"] {
            let play = Play::script(vec![answer.clone()]);
            let end = run(play.command_of(api, "claude", &[PRINT, &["go"]].concat()));
            failed(&end, &format!("{what}, {api}"), why);
            assert_eq!(play.server.asked().len(), 1, "{what}, {api}");
        }
    }
}

#[test]
fn every_dialect_tells_a_model_that_is_down_once() {
    for (dialect, args) in ONE {
        for (status, answer) in [(401, Answer::error(401, "no")), (500, Answer::error(500, "oh"))] {
            let play = Play::script(vec![answer]);
            let end = play.one(dialect, args, "go");
            let told = said(&end) + &end.stderr;
            assert!(told.contains(&status.to_string()), "{dialect} {args:?}: {end:#?}");
            // Tricode's programs end well whatever happens; the others do not.
            assert_eq!(end.code() != 0, *dialect != "tricode", "{dialect} {args:?}: {end:#?}");
            assert!(end.results().len() <= 1, "{dialect} {args:?}: {end:#?}");
            assert!(!end.stderr.contains("panicked"), "{dialect}: {end:#?}");
        }
    }
}

#[test]
fn a_server_that_is_not_there_or_talks_no_tls() {
    let play = Play::script(vec![done()]);
    let free = free_port();
    for (what, url, why) in [
        ("nobody listens", format!("http://127.0.0.1:{free}/v1"), "connect"),
        ("no TLS", format!("https://127.0.0.1:{}/v1", play.server.port), ""),
        ("no such host", "http://no-such-host.invalid/v1".to_owned(), ""),
    ] {
        let mut command = play.command("claude", &[PRINT, &["go"]].concat());
        command.env("OPENAI_BASE_URL", url).env("NO_PROXY", "*");
        failed(&run(command), what, why);
    }
    let mut command = play.command("claude", &[PRINT, &["go"]].concat());
    command.env("OPENAI_BASE_URL", "ftp://127.0.0.1/");
    let end = run(command);
    assert_ne!(end.code(), 0, "{end:#?}");
    assert_eq!(end.stderr.trim_end().lines().count(), 1, "{end:#?}");
}

#[test]
fn what_may_pass_is_tried_again_and_told() {
    for answer in [
        Answer::error(429, "slow down").header("retry-after", "0"),
        Answer::error(500, "oh").header("retry-after", "0"),
        Answer::error(529, "overloaded").header("retry-after", "0"),
    ] {
        let play = Play::script(vec![answer, done()]);
        let mut command = play.command("claude", &[PRINT, &["go"]].concat());
        command.env("AGENTGLOT_MODEL_RETRIES", "2");
        let end = run(command);
        assert_eq!(end.result()["result"], "All done.", "{end:#?}");
        assert_eq!(end.lines.iter().filter(|line| line["subtype"] == "api_retry").count(), 1, "{end:#?}");
    }
}

/// The calls of which blocks of this kind tell.
fn named(end: &End, kind: &str, member: &str) -> Vec<Value> {
    let blocks = end.lines.iter().filter_map(|line| line["message"]["content"].as_array()).flatten();
    blocks.filter(|block| block["type"] == kind).map(|block| block[member].clone()).collect()
}

#[test]
fn a_call_of_a_reply_that_is_stopped_has_its_result() {
    let call = Step::Call("call_0".into(), "Bash".into(), r#"{"command": "touch ran"}"#.into());
    let play = Play::script(vec![Answer::steps(vec![Step::Text("I look".into()), call, Step::Pause(20_000)])]);
    let mut host = play.host("claude", &[FREE, &["--include-partial-messages"]].concat());
    host.say(&user("go"));
    while host.until("stream_event")["event"]["delta"]["text"] != "I look" {}
    // A call is told when it is whole, and not before the reply is.
    std::thread::sleep(Duration::from_secs(1));
    host.say(&request("i", r#"{"subtype":"interrupt"}"#));
    host.until("result");
    host.close();
    let end = host.end();
    assert_eq!(named(&end, "tool_use", "id"), ["call_0"], "{end:#?}");
    assert_eq!(named(&end, "tool_result", "tool_use_id"), ["call_0"], "{end:#?}");
    assert!(!play.path("ran").exists());
}

#[test]
fn a_stream_that_is_cut_anywhere_runs_nothing_and_the_session_goes_on() {
    let half = r#"data: {"id":"c-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"Bash","arguments":"{\"command\": \"touch ran\", \"desc"}}]}}]}"#;
    let call = || Step::Call("call_0".into(), "Bash".into(), r#"{"command": "touch ran"}"#.into());
    for (what, steps) in [
        ("before anything", vec![Step::Cut]),
        ("in the first line", vec![Step::Raw("data: {\"id\":\"c-1\",\"cho".into()), Step::Cut]),
        (
            "in a character",
            vec![
                Step::Text("wo".into()),
                Step::Raw("data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d".into()),
                Step::Cut,
            ],
        ),
        ("in text", vec![Step::Text("The sheep".into()), Step::Cut]),
        ("in a thought", vec![Step::Think("Hm".into()), Step::Cut]),
        ("in arguments", vec![Step::Raw(format!("{half}\n\n")), Step::Cut]),
        ("behind a call", vec![Step::Text("I look".into()), call(), Step::Cut]),
        ("behind two calls", vec![call(), call(), Step::Cut]),
        ("by a refusal behind a call", vec![call(), Step::Stop("content_filter")]),
    ] {
        // Claude's hosts read that a reply without calls is given up, or refused, and that the model is asked once more.
        let asks_again = ["in a character", "in text", "in a thought", "by a refusal behind a call"].contains(&what);
        let answers = if asks_again {
            vec![Answer::steps(steps.clone()), Answer::steps(steps), done()]
        } else {
            vec![Answer::steps(steps), done()]
        };
        let play = Play::script(answers);
        let mut host = play.host("claude", FREE);
        host.say(&user("go"));
        let result = host.until("result");
        assert_eq!(result["is_error"], true, "{what}: {result}");
        is_one_sentence(result["result"].as_str().unwrap_or("?\n"), what);
        host.say(&user("again"));
        assert_eq!(host.until("result")["result"], "All done.", "{what}: {:#?}", host.seen);
        host.close();
        let end = host.end();
        assert_eq!(end.results().len(), 2, "{what}: {end:#?}");
        assert!(!play.path("ran").exists(), "{what}");
        assert_eq!(
            named(&end, "tool_result", "tool_use_id"),
            named(&end, "tool_use", "id"),
            "{what}: {end:#?}"
        );
        let asked = play.server.asked();
        assert!(asked.last().unwrap().all().contains("again"), "{what}");
    }
}

/// The same, again and again, for twenty seconds.
fn beats(what: &str) -> Vec<Step> {
    (0..100).flat_map(|_| [Step::Raw(what.to_owned()), Step::Pause(200)]).collect()
}

#[test]
fn the_wait_for_a_connection_is_part_of_that_for_the_first_byte() {
    // Nobody takes what is said to it: the queue of those that wait is full.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let play = Play::script(Vec::new());
    let mut command = play.command("claude", &[PRINT, &["go"]].concat());
    command
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
        .env("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "2")
        .env("AGENTGLOT_MODEL_CONNECT_TIMEOUT", "30");
    let begun = Instant::now();
    failed(&run(command), "a server that takes and says nothing", "did not answer within 2 seconds");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_stall_ends_in_time() {
    for (what, steps) in [
        ("in text", vec![Step::Text("The sheep".into()), Step::Pause(20_000)]),
        ("in a call", vec![Step::Raw(": hello\n\n".into()), Step::Pause(20_000)]),
        // A sign of life is none of a reply, whatever it is called.
        ("behind comments", beats(": still here\n\n")),
        ("behind pings", beats("event: ping\ndata: {\"type\": \"ping\"}\n\n")),
        (
            "behind empty pieces",
            beats("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n"),
        ),
        (
            "behind an event that never ends",
            [vec![Step::Raw("data: {\"choices\": [".into())], beats(" ")].concat(),
        ),
    ] {
        let play = Play::script(vec![Answer::steps(steps)]);
        let mut command = play.command("claude", &[PRINT, &["go"]].concat());
        command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "1");
        let begun = Instant::now();
        let end = run(command);
        assert!(begun.elapsed() < Duration::from_secs(12), "{what}: {:?}", begun.elapsed());
        failed(&end, what, "seconds");
    }
    let play = Play::script(vec![Answer::with(200, Says::Silence(Duration::from_secs(20)))]);
    let mut command = play.command("claude", &[PRINT, &["go"]].concat());
    command
        .env("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "1")
        .env("AGENTGLOT_MODEL_CONNECT_TIMEOUT", "1");
    failed(&run(command), "before the first byte", "seconds");
}

#[test]
fn tools_that_hang_fork_and_die_leave_nothing() {
    let with = |command: &str| {
        let (name, mut input) = bash(command);
        input["timeout"] = json!(1000);
        (name, input)
    };
    for (what, call, told) in [
        ("hangs", with("echo begun; sleep 987654"), "begun"),
        (
            "ignores signals",
            with("trap '' TERM INT HUP; echo begun; while :; do sleep 987654; done"),
            "begun",
        ),
        ("forks and ends", bash("sleep 987654 & sleep 987655 & echo forked"), "forked"),
        (
            "forks with its output closed",
            bash("nohup sleep 987654 >/dev/null 2>&1 & echo forked"),
            "forked",
        ),
        (
            "becomes a daemon",
            bash("setsid sleep 987654 >/dev/null 2>&1 < /dev/null & echo forked"),
            "forked",
        ),
        ("is killed", bash("echo begun; kill -9 $$"), "begun"),
        ("kills its group", bash("echo begun; kill -9 0"), ""),
        ("closes everything and goes on", with("exec 0<&- 1>&- 2>&-; exec sleep 987654"), ""),
        ("reads", bash("cat; echo read"), "read"),
    ] {
        let play = Play::script(vec![Answer::calls(&[call]), done()]);
        let host = {
            let mut host = play.host("claude", PRINT_GO);
            host.close();
            host
        };
        let pid = host.process.id();
        let end = host.end();
        assert_eq!(end.result()["result"], "All done.", "{what}: {end:#?}");
        assert!(play.server.asked()[1].last().contains(told), "{what}: {}", play.server.asked()[1].last());
        play.nothing_is_left(Some(pid));
    }
}

const PRINT_GO: &[&str] = &[
    "-p",
    "--verbose",
    "--output-format",
    "stream-json",
    "--dangerously-skip-permissions",
    "go",
];

#[test]
fn a_tool_that_prints_a_gigabyte_takes_no_memory() {
    let play = Play::script(vec![
        Answer::calls(&[bash("head -c 1000000000 /dev/zero | tr '\\0' 'x'")]),
        Answer::steps(vec![Step::Text("All done.".into())]),
    ]);
    let mut host = play.host("claude", FREE);
    host.say(&user("go"));
    assert_eq!(host.until("result")["result"], "All done.");
    let peak = peak(host.process.id());
    host.close();
    assert_eq!(host.end().code(), 0);
    assert!(play.server.asked()[1].last().len() < 200_000);
    assert!(peak > 0 && peak < 200 << 20, "{} MiB", peak >> 20);
    play.nothing_is_left(None);
}

#[test]
fn an_agent_that_is_killed_takes_its_commands_along() {
    let play = Play::script(vec![Answer::calls(&[bash("touch began; sleep 987654")]), done()]);
    let mut host = play.host("claude", FREE);
    host.say(&user("go"));
    wait("it begins", Duration::from_secs(30), || play.path("began").exists());
    let pid = host.process.id();
    host.signal(rustix::process::Signal::KILL);
    drop(host.end());
    play.nothing_is_left(Some(pid));
    // The transcript can be gone on with, whatever it was in the middle of.
    let end = play.one("claude", &[PRINT, &["--continue"]].concat(), "and now?");
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    assert!(play.server.asked()[1].all().contains("touch began"));
}

/// Runs a command of the agent's in a mount namespace of its own, behind `setup`; `None` where that is not allowed.
fn in_namespace(play: &Play, setup: &str, args: &[&str]) -> Option<End> {
    let allowed = Command::new("unshare")
        .args(["-m", "true"])
        .output()
        .is_ok_and(|out| out.status.success());
    if !allowed {
        skipped("a disk of its own", "this user may not mount one");
        return None;
    }
    let ours = play.command("claude", args);
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-ec", &format!("{setup}\ncd \"$WORK\"; exec \"$@\""), "sh"]);
    command.arg(ours.get_program()).args(ours.get_args());
    command.env_clear();
    for (name, value) in ours.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("WORK", play.path("")).current_dir(play.base());
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Some(run(command))
}

#[test]
fn a_full_disk_leaves_files_whole() {
    let big = "wool ".repeat(100_000);
    let play = Play::new(|_, _| done());
    let calls = Answer::calls(&[
        ("Read", json!({"file_path": play.at("kept")})),
        ("Write", json!({"file_path": play.at("kept"), "content": big})),
        ("Write", json!({"file_path": play.at("new"), "content": big})),
        bash("cat kept; ls -A"),
    ]);
    let play = play.served(Server::script(vec![calls, done()]));
    let setup = "mount -t tmpfs -o size=256k none \"$WORK\"; printf 'the old text' > \"$WORK/kept\"";
    let Some(end) = in_namespace(&play, setup, &[PRINT, &["go"]].concat()) else {
        return;
    };
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    // What the tools said, without the calls.
    let messages = play.server.asked()[1].body["messages"].clone();
    let said: Vec<&str> = messages
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["role"] == "tool")
        .filter_map(|one| one["content"].as_str())
        .collect();
    assert!(said[1].contains("no space left") && said[2].contains("no space left"), "{said:?}");
    // The old text, and no other file.
    assert_eq!(said[3].trim(), "the old textkept", "{said:?}");
}

#[test]
fn a_full_disk_under_the_transcript_stops_nobody() {
    let big = bash("head -c 20000 /dev/zero | tr '\\0' 'x'");
    let play = Play::script(vec![Answer::calls(std::slice::from_ref(&big)), Answer::calls(&[big]), done()]);
    let setup = "mount -t tmpfs -o size=32k none \"$HOME\"";
    let Some(end) = in_namespace(&play, setup, &[PRINT, &["go"]].concat()) else {
        return;
    };
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    assert!(
        said(&end).contains("session_writes_lost") || end.stderr.contains("No space left"),
        "what is not kept is told: {end:#?}"
    );
}

#[test]
fn a_read_only_workspace_is_told_to_the_model() {
    let play = Play::new(|_, _| done());
    let calls = Answer::calls(&[
        ("Read", json!({"file_path": play.at("kept")})),
        ("Edit", json!({"file_path": play.at("kept"), "old_string": "old", "new_string": "new"})),
        ("Write", json!({"file_path": play.at("new"), "content": "x"})),
    ]);
    let play = play.served(Server::script(vec![calls, done()]));
    let setup = "mount -t tmpfs none \"$WORK\"; printf 'the old text' > \"$WORK/kept\"; mount -o remount,ro \"$WORK\"";
    let Some(end) = in_namespace(&play, setup, &[PRINT, &["go"]].concat()) else {
        return;
    };
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    let last = play.server.asked()[1].all();
    assert_eq!(last.matches("ead-only").count(), 2, "{last}");
}

#[test]
fn a_file_that_changes_under_an_edit_stays_as_it_is() {
    let folder = Play::new(|_, _| done());
    let path = folder.path("wool.txt");
    std::fs::write(&path, "white wool\n").unwrap();
    let named = folder.at("wool.txt");
    let server = Server::start(move |_, number| match number {
        0 => Answer::calls(&[("Read", json!({"file_path": named}))]),
        1 => {
            std::fs::write(&path, "white wool of another\n").unwrap();
            Answer::calls(&[
                ("Edit", json!({"file_path": named, "old_string": "white", "new_string": "black"})),
                ("Write", json!({"file_path": named, "content": "mine"})),
            ])
        }
        _ => done(),
    });
    let play = folder.served(server);
    let end = play.print("go");
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    assert_eq!(play.read("wool.txt"), "white wool of another\n");
    assert_eq!(
        play.server.asked()[2].all().matches("modified since").count(),
        2,
        "{}",
        play.server.asked()[2].all()
    );
}

#[test]
fn files_that_are_no_text_and_files_that_are_huge() {
    let play = Play::new(|_, _| done());
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    std::fs::write(play.path("bin"), &bytes).unwrap();
    let huge = std::fs::File::create(play.path("huge")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let text = std::fs::File::create(play.path("text")).unwrap();
    std::io::Write::write_all(&mut &text, "wool\n".repeat(1000).as_bytes()).unwrap();
    text.set_len(1 << 30).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, play.path("pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let file = |name: &str| json!({"file_path": play.at(name)});
    let calls = Answer::calls(&[
        ("Read", file("bin")),
        ("Edit", json!({"file_path": play.at("bin"), "old_string": "A", "new_string": "B"})),
        ("Read", file("huge")),
        ("Read", json!({"file_path": play.at("text"), "limit": 3})),
        ("Grep", json!({"pattern": "wool", "path": play.at("")})),
        ("Read", file("pipe")),
        ("Read", file("/dev/zero")),
        ("Write", json!({"file_path": play.at("pipe"), "content": "x"})),
    ]);
    let play = play.served(Server::script(vec![calls, done()]));
    let mut host = play.host("claude", FREE);
    host.say(&user("go"));
    let begun = Instant::now();
    assert_eq!(host.until("result")["result"], "All done.", "{:#?}", host.seen);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let peak = peak(host.process.id());
    host.close();
    let end = host.end();
    assert!(peak > 0 && peak < 200 << 20, "{} MiB", peak >> 20);
    assert_eq!(std::fs::read(play.path("bin")).unwrap(), bytes);
    assert!(play.server.asked()[1].body.to_string().len() < 400_000);
    assert_eq!(end.results().len(), 1);
}

#[test]
fn paths_that_lead_out_of_the_workspace_are_refused() {
    let play = Play::new(|_, _| done());
    std::fs::write(play.base().join("secret"), "do not read").unwrap();
    symlink(play.base().join("secret"), play.path("link")).unwrap();
    symlink(play.base(), play.path("up")).unwrap();
    let outside = play.base().join("outside").display().to_string();
    let calls = Answer::calls(&[
        ("Read", json!({"file_path": play.at("../secret")})),
        ("Read", json!({"file_path": play.at("link")})),
        ("Read", json!({"file_path": play.at("up/secret")})),
        ("Write", json!({"file_path": outside, "content": "x"})),
        ("Write", json!({"file_path": play.at("up/outside"), "content": "x"})),
        ("Write", json!({"file_path": play.at("link"), "content": "x"})),
        (
            "Grep",
            json!({"pattern": "do not", "path": play.base().display().to_string(), "output_mode": "content"}),
        ),
    ]);
    let play = play.served(Server::script(vec![calls, done()]));
    let end = play.print("go");
    assert_eq!(end.result()["result"], "All done.", "{end:#?}");
    assert!(!play.base().join("outside").exists());
    assert_eq!(std::fs::read_to_string(play.base().join("secret")).unwrap(), "do not read");
    // The call itself says "do not"; nothing says the rest.
    assert!(!play.server.asked()[1].all().contains("do not read"), "{}", play.server.asked()[1].all());
}

#[test]
fn mcp_servers_that_die_hang_or_flood() {
    for (what, script) in [
        ("is not there", None),
        ("dies", Some("exit 3")),
        ("hangs", Some("sleep 987654")),
        ("floods", Some("yes wool")),
        ("floods without a line", Some("cat /dev/zero")),
        ("forks", Some("sleep 987654 & sleep 987655 & exit 0")),
    ] {
        let play = Play::script(vec![Answer::calls(&[("mcp__bad__tool", json!({})), bash("echo alive")]), done()]);
        let program = play.path("server");
        if let Some(script) = script {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let config = json!({"mcpServers": {"bad": {"command": program}}}).to_string();
        let mut command = play.command("claude", &[PRINT, &["--mcp-config", &config, "--", "go"]].concat());
        command.env("MCP_TIMEOUT", "1500");
        let mut host = Host::new(command);
        let pid = host.process.id();
        host.close();
        let end = host.end();
        assert_eq!(end.result()["result"], "All done.", "{what}: {end:#?}");
        let init = end.lines.iter().find(|line| line["subtype"] == "init").unwrap();
        assert_eq!(init["mcp_servers"][0]["status"], "failed", "{what}: {init}");
        assert!(play.server.asked()[1].all().contains("alive"), "{what}");
        play.nothing_is_left(Some(pid));
    }
}

#[test]
fn a_host_that_does_not_read_any_more() {
    let play = Play::script(vec![Answer::calls(&[bash("touch began; sleep 3; touch ended")]), done()]);
    let mut host = play.host("claude", FREE);
    host.say(&user("go"));
    wait("it begins", Duration::from_secs(30), || play.path("began").exists());
    host.close();
    drop(host.end());
    // /dev/full takes nothing: it ends, with one sentence.
    let mut command = play.command("claude", PRINT_GO);
    command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let out = command.stdin(std::process::Stdio::null()).spawn().unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("No space left"), "{stderr}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    play.nothing_is_left(None);
}
