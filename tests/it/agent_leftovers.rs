//! What is left of us and of what we started, however we end: signals at any time, deaths, full disks, commands that hide.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::agent_secrets::as_user;
use crate::support::model::{Answer, Step};
use crate::support::play::{ONE, PRINT, Play, run};
use crate::support::stage::Host;
use crate::support::wait;

/// What hides from whoever looks for it by group, session, parent or environment. `SLEEP` is a number that nobody else sleeps for.
const HIDING: &[&str] = &[
    "setsid env -i sleep SLEEP >/dev/null 2>&1 </dev/null &",
    "env -i setsid sh -c 'sleep SLEEP & exit' >/dev/null 2>&1 </dev/null",
    "(setsid env -i sh -c '(sh -c \"exec sleep SLEEP\" &) & :' >/dev/null 2>&1 </dev/null &); sleep 0.1",
    "setsid -f env -i setsid -f sleep SLEEP >/dev/null 2>&1 </dev/null",
    "env -i bash -c 'exec -a agentglot-watcher setsid sleep SLEEP >/dev/null 2>&1 </dev/null & disown -a'",
];

/// A number of seconds that tells a process from all others.
fn number() -> String {
    format!("9{}", uuid::Uuid::new_v4().as_u128() % 100_000_000)
}

/// Who sleeps for so long.
fn sleeper(seconds: &str) -> Option<Pid> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(seconds.as_bytes())
    };
    let pid = all.into_iter().find(is)?.file_name().to_str()?.parse().ok()?;
    Pid::from_raw(pid)
}

fn sleeps(seconds: &str) -> bool {
    sleeper(seconds).is_some()
}

fn bash(command: &str) -> (&'static str, serde_json::Value) {
    ("Bash", json!({"command": command, "description": "x"}))
}

fn done() -> Answer {
    Answer::text("All done.")
}

#[test]
fn what_hides_ends_with_the_session() {
    for hiding in HIDING {
        let seconds = number();
        let command = hiding.replace("SLEEP", &seconds);
        let play = Play::script(vec![Answer::calls(&[bash(&command)]), Answer::calls(&[bash("sleep 0.3")]), done()]);
        // Not root, whom nothing is hidden from: our process is closed to others of its user.
        let end = run(as_user(&play, play.command("claude", &[PRINT, &["go"]].concat())));
        assert_eq!(end.code(), 0, "{hiding}: {end:#?}");
        wait(&format!("it is left: {hiding}"), Duration::from_secs(3), || !sleeps(&seconds));
        play.nothing_is_left(None);
    }
}

#[test]
fn what_hides_lives_on_where_daemons_are_kept() {
    let seconds = number();
    // It has left the command's session before the command is over.
    let daemon = format!("setsid env -i sh -c 'touch up; exec sleep {seconds}' >/dev/null 2>&1 </dev/null & until [ -e up ]; do sleep 0.01; done");
    let play = Play::script(vec![Answer::calls(&[bash(&daemon)]), done()]);
    let mut command = play.command("claude", &[PRINT, &["go"]].concat());
    command.env("AGENTGLOT_KEEP_DAEMONS", "1");
    assert_eq!(run(command).code(), 0);
    wait("it lives on", Duration::from_secs(10), || sleeps(&seconds));
    rustix::process::kill_process(sleeper(&seconds).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn what_hides_ends_with_a_command_that_takes_too_long() {
    for hiding in HIDING {
        let seconds = number();
        let command = format!("{} sleep 1000", hiding.replace("SLEEP", &seconds) + "\n");
        let (name, mut input) = bash(&command);
        input["timeout"] = json!(1000);
        // The session goes on for a while: it is the command that ends it.
        let play = Play::script(vec![
            Answer::calls(&[(name, input)]),
            Answer::steps(vec![Step::Text("All".into()), Step::Pause(900), Step::Text("done.".into())]),
        ]);
        let mut host = Host::new(play.command("claude", &[&["--include-partial-messages"], PRINT, &["go"]].concat()));
        host.until("user");
        assert!(!sleeps(&seconds), "{hiding}");
        assert_eq!(host.end().code(), 0);
        play.nothing_is_left(None);
    }
}

#[test]
fn what_hides_ends_when_we_are_killed() {
    for hiding in HIDING {
        let seconds = number();
        let command = format!("{} sleep 1000", hiding.replace("SLEEP", &seconds) + "\n");
        let play = Play::script(vec![Answer::calls(&[bash(&command)]), done()]);
        let host = Host::new(as_user(&play, play.command("claude", &[PRINT, &["go"]].concat())));
        wait("it runs", Duration::from_secs(20), || sleeps(&seconds));
        // The watcher looks around twice a second.
        std::thread::sleep(Duration::from_millis(1200));
        host.signal(Signal::KILL);
        host.end();
        wait(&format!("it is left: {hiding}"), Duration::from_secs(5), || !sleeps(&seconds));
        play.nothing_is_left(None);
    }
}

/// Whether root may make a control group here.
fn may_have_a_group(groups: &str) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let point = mounts
        .lines()
        .find(|line| line.contains(" - cgroup2 "))
        .and_then(|line| line.split(' ').nth(4));
    let probe = point.map(|point| Path::new(point).join(format!("probe-{}", number())));
    let made = probe.is_some_and(|probe| std::fs::create_dir(&probe).and_then(|()| std::fs::remove_dir(&probe)).is_ok());
    made && rustix::process::geteuid().is_root() && groups.lines().any(|line| line == "0::/")
}

/// Where we may have a control group, nothing is too quick for it.
#[test]
fn nothing_leaves_a_group_of_ours_however_soon_we_are_killed() {
    for hiding in HIDING {
        let seconds = number();
        let command = format!("{} sleep 1000", hiding.replace("SLEEP", &seconds) + "\n");
        let play = Play::script(vec![Answer::calls(&[bash(&command)]), done()]);
        let host = Host::new(play.command("claude", &[PRINT, &["go"]].concat()));
        wait("it runs", Duration::from_secs(20), || sleeps(&seconds));
        let Some(pid) = sleeper(&seconds) else { continue };
        let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero())).unwrap_or_default();
        let has_group = groups.lines().any(|line| line.starts_with("0::") && line.contains("/agentglot-"));
        assert!(has_group || !may_have_a_group(&groups), "{groups}");
        if !has_group {
            rustix::process::kill_process(pid, Signal::KILL).unwrap();
        }
        host.signal(Signal::KILL);
        host.end();
        wait(&format!("it is left: {hiding}"), Duration::from_secs(5), || !sleeps(&seconds));
        play.nothing_is_left(None);
        // The group went with it.
        let folder = group_of(&groups);
        wait("the group goes", Duration::from_secs(10), || {
            folder.as_ref().is_none_or(|folder| !folder.exists())
        });
    }
}

/// Where the control group of ours is that a process is in, by what its `/proc/PID/cgroup` says.
fn group_of(groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = mounts.lines().find(|mount| mount.contains(" - cgroup2 "))?;
    let folder = Path::new(mount.split(' ').nth(4)?).join(group);
    group.contains("agentglot-").then_some(folder)
}

/// Where we and our watchers are killed, nobody is left to take the group away, or to end what is in it: the next session does.
#[test]
fn a_group_of_those_that_are_gone_is_ended_by_the_next_session() {
    let (seconds, hides) = (number(), HIDING[0]);
    let command = format!("{} sleep 1000", hides.replace("SLEEP", &seconds) + "\n");
    let play = Play::script(vec![Answer::calls(&[bash(&command)]), done()]);
    let host = Host::new(play.command("claude", &[PRINT, &["go"]].concat()));
    wait("it runs", Duration::from_secs(20), || sleeps(&seconds));
    let pid = sleeper(&seconds).unwrap();
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero())).unwrap_or_default();
    let Some(folder) = group_of(&groups) else {
        assert!(!may_have_a_group(&groups), "{groups}");
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
        return;
    };
    // Another session neither takes it away nor ends what is in it, as long as its owner lives.
    let play = play.again(crate::support::model::Server::script(vec![done(), done()]));
    assert_eq!(play.one("claude", PRINT, "go").result()["result"], "All done.");
    assert!(folder.exists() && sleeps(&seconds));
    let watchers: Vec<Pid> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let told = |word: &str| line.split(|byte| *byte == 0).any(|known| known == word.as_bytes());
            told("agentglot-watcher") && told(&folder.display().to_string())
        })
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect();
    assert!(!watchers.is_empty());
    // They are held while we are killed, so that none of them comes to anything.
    for signal in [Signal::STOP, Signal::KILL] {
        if signal == Signal::KILL {
            host.signal(signal);
        }
        watchers
            .iter()
            .for_each(|watcher| rustix::process::kill_process(*watcher, signal).unwrap());
    }
    host.end();
    assert!(folder.exists() && sleeps(&seconds), "nobody was left to do it");
    assert_eq!(play.one("claude", PRINT, "go").result()["result"], "All done.");
    wait("the next one ends it", Duration::from_secs(10), || !sleeps(&seconds) && !folder.exists());
    play.nothing_is_left(None);
}

/// Those that end a program and can be caught, with their numbers.
const SIGNALS: [Signal; 12] = [
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::IO,
    Signal::XCPU,
    Signal::XFSZ,
];

#[test]
fn every_signal_ends_with_an_outcome_and_leaves_nothing() {
    for (at, signal) in SIGNALS.into_iter().enumerate() {
        // Each signal in one dialect, and the first of them in all.
        let dialects = if at < 4 { ONE } else { &ONE[at % ONE.len()..=at % ONE.len()] };
        for (dialect, args) in dialects {
            let play = Play::script(vec![
                Answer::steps(vec![
                    Step::Text("Let us".into()),
                    Step::Pause(900),
                    Step::Text(" see".into())
                ]);
                3
            ]);
            let mut command = play.command(dialect, &[*args, &["go"]].concat());
            command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "60").env("TMPDIR", play.base());
            let host = Host::new(command);
            wait("it was asked", Duration::from_secs(20), || !play.server.asked().is_empty());
            std::thread::sleep(Duration::from_millis(100));
            let begun = Instant::now();
            host.signal(signal);
            let end = host.end();
            assert!(begun.elapsed() < Duration::from_secs(10), "{dialect} {signal:?}");
            let code = match (*dialect, signal) {
                ("claude", Signal::INT) => 0,
                ("codex", Signal::INT) => 1,
                _ => 128 + signal.as_raw(),
            };
            assert_eq!(end.code(), code, "{dialect} {signal:?}: {end:#?}");
            let text = end.lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            let told = match *dialect {
                "claude" | "qwen-code" => end.results().len() == 1 && end.result()["is_error"] == true,
                "qwen" => text.contains("error") || text.contains("cancel"),
                _ => true,
            };
            assert!(told, "{dialect} {signal:?}: {text}");
            play.nothing_is_left(None);
            assert!(ours(&play.base()).is_empty(), "{dialect} {signal:?}: {:?}", ours(&play.base()));
        }
    }
}

/// A signal may come before anybody answers: while the prompt is read, while the server is asked which models it has.
#[test]
fn a_signal_before_anybody_answers_ends_with_an_outcome() {
    let never_answers = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", never_answers.local_addr().unwrap());
    for (at, signal) in SIGNALS.into_iter().enumerate() {
        let dialects = if at < 4 { ONE } else { &ONE[at % ONE.len()..=at % ONE.len()] };
        for (dialect, args) in dialects {
            let play = Play::script(vec![done()]);
            // Without a prompt it is read from standard input.
            let bare: Vec<&str> = args.iter().copied().filter(|arg| *arg != "-p" || *dialect == "claude").collect();
            for reads in [true, false] {
                // Its prompt is an argument.
                if reads && *dialect == "tricode" {
                    continue;
                }
                let args = if reads { bare.clone() } else { [*args, &["go"]].concat() };
                let mut command = play.command(dialect, &args);
                command.env("OPENAI_BASE_URL", &address).env_remove("OPENAI_MODEL");
                let mut host = Host::new(command);
                let what = format!("{dialect} {signal:?}, {}", if reads { "reading" } else { "starting" });
                if !reads {
                    // It waits for an answer, or somebody else knocked at a port that was theirs before.
                    let _ = never_answers.accept().unwrap();
                }
                let caught = || {
                    let status = std::fs::read_to_string(format!("/proc/{}/status", host.process.id())).unwrap_or_default();
                    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
                    u64::from_str_radix(mask.trim(), 16).unwrap_or(0) >> (Signal::XFSZ.as_raw() - 1) & 1 == 1
                };
                wait(&format!("{what}: it listens"), Duration::from_secs(20), caught);
                if reads {
                    let mut stdin = host.take_stdin();
                    std::io::Write::write_all(&mut stdin, b"half a prom").unwrap();
                    // Its end comes when the program is gone.
                    std::mem::forget(stdin);
                }
                let begun = Instant::now();
                host.signal(signal);
                let end = host.end();
                assert!(begun.elapsed() < Duration::from_secs(5), "{what}");
                assert_eq!(end.code(), 128 + signal.as_raw(), "{what}: {end:#?}");
                let text = end.lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                let told = match *dialect {
                    "claude" | "qwen-code" => end.results().len() == 1 && end.result()["is_error"] == true,
                    "qwen" => text.contains("error") || text.contains("cancel"),
                    _ => true,
                };
                assert!(told, "{what}: {end:#?}");
                assert!(play.server.asked().is_empty(), "{what}");
                play.nothing_is_left(None);
            }
        }
    }
}

/// A host that talks has said its prompt by then, and perhaps that it will say nothing more.
#[test]
fn a_signal_before_anybody_answers_ends_a_prompt_of_standard_input_too() {
    let never_answers = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", never_answers.local_addr().unwrap());
    let hello = json!({"type": "control_request", "request_id": "hello", "request": {"subtype": "initialize"}});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": null, "session_id": ""});
    for (dialect, args) in [("claude", &["-p", "--verbose"][..]), ("qwen-code", &[])] {
        for (closes, prompts) in [(false, true), (true, true), (true, false)] {
            let play = Play::script(vec![done()]);
            let lines = ["--input-format", "stream-json", "--output-format", "stream-json"];
            let mut command = play.command(dialect, &[args, &lines].concat());
            command.env("OPENAI_BASE_URL", &address).env_remove("OPENAI_MODEL");
            let mut host = Host::new(command);
            let mut stdin = host.take_stdin();
            let said = if prompts { format!("{hello}\n{prompt}\n") } else { String::new() };
            std::io::Write::write_all(&mut stdin, said.as_bytes()).unwrap();
            let stdin = (!closes).then_some(stdin);
            let _asks = never_answers.accept().unwrap();
            let begun = Instant::now();
            host.signal(Signal::TERM);
            let end = host.end();
            drop(stdin);
            let what = format!("{dialect}, {closes} {prompts}: {end:#?}");
            assert!(begun.elapsed() < Duration::from_secs(5), "{what}");
            assert_eq!(end.code(), 143, "{what}");
            assert_eq!(end.results().len(), usize::from(prompts), "{what}");
            play.nothing_is_left(None);
        }
    }
}

/// What of ours lies in a folder.
fn ours(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("agentglot-")))
        .collect()
}

#[test]
fn nohup_and_the_background_of_a_script_are_heeded() {
    let play = Play::script(vec![Answer::steps(vec![
        Step::Text("All".into()),
        Step::Pause(800),
        Step::Text(" done.".into()),
    ])]);
    let given = play.command("claude", &[PRINT, &["go"]].concat());
    let mut command = Command::new("nohup");
    command
        .arg(given.get_program())
        .args(given.get_args())
        .env_clear()
        .current_dir(play.path(""));
    command.envs(given.get_envs().map(|(name, value)| (name, value.unwrap_or_default())));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let host = Host::new(command);
    wait("it was asked", Duration::from_secs(20), || !play.server.asked().is_empty());
    host.signal(Signal::HUP);
    let end = host.end();
    assert_eq!((end.code(), &end.result()["result"]), (0, &json!("All done.")), "{end:#?}");
}

#[test]
fn a_limit_on_the_size_of_files_ends_no_session() {
    let call = ("Write", json!({"file_path": "large.txt", "content": "x".repeat(200_000)}));
    let play = Play::script(vec![Answer::calls(&[call]), done()]);
    let given = play.command("claude", &[PRINT, &["go"]].concat());
    let mut command = Command::new("bash");
    // In units of a kibibyte.
    command
        .args(["-c", "ulimit -f 64; exec \"$0\" \"$@\""])
        .arg(given.get_program())
        .args(given.get_args());
    command.env_clear().current_dir(play.path(""));
    command.envs(given.get_envs().map(|(name, value)| (name, value.unwrap_or_default())));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let end = run(command);
    assert_eq!((end.code(), &end.result()["result"]), (0, &json!("All done.")), "{end:#?}");
    let told = play.server.asked()[1].last();
    assert!(told.contains("Error"), "{told}");
    assert!(!play.path("large.txt").exists() && ours(&play.path("")).is_empty());
    play.nothing_is_left(None);
}

#[test]
fn what_the_killed_leave_is_swept_by_the_next() {
    // Files are written all the time, in many folders.
    let write = |n: usize| {
        (
            "Write",
            json!({"file_path": format!("deep/{}/f{n}.txt", n % 5), "content": "y".repeat(3_000_000)}),
        )
    };
    let calls: Vec<_> = (0..40).map(write).collect();
    let (mut left, mut seed) = (0, 7_u64);
    let play = Play::new(move |_, _| Answer::calls(&calls));
    let temporary = play.base().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let bystander = temporary.join("agentglot-notes.txt");
    std::fs::write(&bystander, "of somebody else").unwrap();
    let start = || {
        let mut command = play.command("claude", &[PRINT, &["go"]].concat());
        command.env("TMPDIR", &temporary);
        Host::new(command)
    };
    for _ in 0..8 {
        let host = start();
        wait("it was asked", Duration::from_secs(20), || {
            !ours(&temporary).iter().all(|path| *path == bystander)
        });
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(seed >> 56));
        host.signal(Signal::KILL);
        host.end();
        left += ours(&temporary).len();
    }
    assert!(left > 8, "nothing was left to be swept");
    // One that lives holds its own.
    let living = start();
    let its = |path: &PathBuf| path.to_string_lossy().contains(&format!("agentglot-{}.", living.process.id()));
    wait("it began", Duration::from_secs(20), || ours(&temporary).iter().any(its));
    let next = Play::script(vec![done()]);
    let mut command = next.command("claude", &[PRINT, &["go"]].concat());
    command.env("TMPDIR", &temporary).current_dir(play.path(""));
    assert_eq!(run(command).code(), 0);
    let held = ours(&temporary);
    assert!(held.iter().any(its) && bystander.exists(), "{held:?}");
    assert_eq!(held.len(), 2, "the living one's and the bystander: {held:?}");
    living.signal(Signal::TERM);
    living.end();
    wait("all is swept", Duration::from_secs(5), || ours(&temporary) == [bystander.clone()]);
    let mut folders = vec![play.path("")];
    while let Some(folder) = folders.pop() {
        assert!(ours(&folder).is_empty(), "{:?}", ours(&folder));
        folders.extend(
            std::fs::read_dir(&folder)
                .unwrap()
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.is_dir()),
        );
    }
    play.nothing_is_left(None);
}
