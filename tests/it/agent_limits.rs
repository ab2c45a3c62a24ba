//! What a model, a folder or a host may not do to the built-in agent: give it what it may not read, keep it waiting, fill its memory.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::support::model::{Answer, Asked, Says, Server, Step};
use crate::support::play::{ONE, PRINT, Play, run, said};
use crate::support::stage::{Host, user};

const FREE: &[&str] = &[
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--dangerously-skip-permissions",
];

/// Tricode's first call.
fn plan() -> (&'static str, Value) {
    ("plan", json!({"action": "skip", "reason": "it is short"}))
}

fn done() -> Answer {
    Answer::text("All done.")
}

/// The most memory that a process has had so far, in MiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) >> 10
}

/// All that the model was told, by every request.
fn told(asked: &[Asked]) -> String {
    asked.iter().map(Asked::all).collect()
}

const CANARY: &str = "canary_of_the_secret";

#[test]
fn what_a_rule_denies_to_be_read_reaches_no_model() {
    let play = Play::new(|_, _| done());
    for folder in ["private", "docs", ".claude"] {
        std::fs::create_dir_all(play.path(folder)).unwrap();
    }
    for name in ["secret.txt", "private/notes.md", "docs/x.key"] {
        std::fs::write(play.path(name), format!("{CANARY}\n")).unwrap();
    }
    symlink("secret.txt", play.path("link.txt")).unwrap();
    std::fs::hard_link(play.path("secret.txt"), play.path("twin.txt")).unwrap();
    let outside = play.base().join("outside.txt");
    std::fs::write(&outside, CANARY).unwrap();
    let memory = "Mind these: @secret.txt @./private/notes.md @link.txt @twin.txt and docs.\n";
    for name in ["CLAUDE.md", "QWEN.md", "AGENTS.md"] {
        std::fs::write(play.path(name), memory).unwrap();
    }
    let rules = [
        "Read(./secret.txt)",
        "Read(private/**)",
        "Read(*.key)",
        &format!("Read(/{})", outside.display()),
    ];
    let calls = Answer::calls(&[
        ("Grep", json!({"pattern": "canary", "output_mode": "content"})),
        ("Grep", json!({"pattern": "canary", "path": play.at("docs"), "output_mode": "content"})),
        ("Read", json!({"file_path": play.at("link.txt")})),
        ("Read", json!({"file_path": play.at("twin.txt")})),
        ("Read", json!({"file_path": play.at("docs/../secret.txt")})),
    ]);
    let prompt = format!(
        "see @secret.txt @. @private @private/notes.md @link.txt @twin.txt @docs/x.key @**/*.txt @{}",
        outside.display()
    );
    for denies in [true, false] {
        let settings = json!({"permissions": {"deny": if denies { &rules[..] } else { &[] }}}).to_string();
        let play = play.again(Server::script(vec![calls.clone(), done()]));
        let mut args = PRINT.to_vec();
        args.splice(0..0, ["--settings", &settings, "--setting-sources", "user,project"]);
        let end = play.one("claude", &args, &prompt);
        assert_eq!(end.result()["result"], "All done.", "{end:#?}");
        let told = told(&play.server.asked());
        assert!(told.contains("Mind these"), "{told}");
        assert_eq!(told.contains(CANARY), !denies, "{told}");
        assert_eq!(end.lines.iter().any(|line| line.to_string().contains(CANARY)), !denies);
    }
}

/// Everything that is read unasked in a folder, and in the user's own, is a pipe that nobody writes to, a device, or has no end.
#[test]
fn a_folder_of_pipes_devices_and_endless_files_keeps_nobody_waiting() {
    let names = [
        ".ignore",
        ".gitignore",
        ".git/info/exclude",
        ".git/HEAD",
        "agentglot.toml",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        "QWEN.md",
        ".qwenignore",
        ".cursorignore",
        ".mcp.json",
        ".env",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/CLAUDE.md",
        ".claude/agents/a.md",
        ".claude/commands/c.md",
        ".claude/skills/s/SKILL.md",
        ".claude/output-styles/o.md",
        ".qwen/settings.json",
        ".qwen/commands/c.md",
        ".qwen/agents/a.md",
        ".cursor/cli.json",
        ".cursor/mcp.json",
        ".cursor/rules/r.mdc",
    ];
    let pipe = |path: &Path| mkfifoat(CWD, path, Mode::RWXU).unwrap();
    let device = |path: &Path| symlink("/dev/zero", path).unwrap();
    let endless = |path: &Path| File::create(path).unwrap().set_len(1 << 40).unwrap();
    let folder = |path: &Path| std::fs::create_dir(path).unwrap();
    type Make<'m> = &'m dyn Fn(&Path);
    let kinds: [(&str, Make<'_>); 4] = [("pipes", &pipe), ("devices", &device), ("endless", &endless), ("folders", &folder)];
    for (what, make) in kinds {
        let play = Play::new(|_, _| done());
        for root in [play.path(""), play.base().join("home"), play.path("below")] {
            for name in names {
                let path = root.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                make(&path);
            }
        }
        std::fs::write(play.path("below/wool.txt"), "white wool\n").unwrap();
        for (dialect, args) in ONE {
            let search = match *dialect {
                "claude" => vec![
                    ("Grep", json!({"pattern": "wool", "output_mode": "content"})),
                    ("Glob", json!({"pattern": "**/*.txt"})),
                ],
                "tricode" => vec![plan(), ("search_context", json!({"pattern": "wool", "path": "."}))],
                "cursor" => vec![("grep", json!({"pattern": "wool"})), ("ls", json!({"path": "."}))],
                _ => vec![
                    ("grep_search", json!({"pattern": "wool"})),
                    ("list_directory", json!({"path": play.at("")})),
                ],
            };
            let play = play.again(Server::script(vec![Answer::calls(&search), done()]));
            // Trusted too: then its settings count.
            let trusted: &[&str] = if *dialect == "claude" {
                &["--setting-sources", "user,project,local"]
            } else {
                &[]
            };
            let command = play.command(dialect, &[trusted, args, &["see @below/wool.txt and @."][..]].concat());
            let begun = Instant::now();
            let end = run(command);
            let time = begun.elapsed();
            assert!(time < Duration::from_secs(60), "{what} {dialect}: {time:?}");
            // What a user's own file of settings is may be an error, told in words; what a folder holds is none.
            assert!(said(&end).contains("All done."), "{what} {dialect}: {end:#?}");
            assert!(told(&play.server.asked()).contains("white wool"), "{what} {dialect}");
        }
    }
}

#[test]
fn an_answer_that_unpacks_without_end_is_cut_off() {
    let piece = "x".repeat(1 << 20);
    let text = |times| (0..times).map(|_| Step::Text(piece.clone())).collect::<Vec<_>>();
    let thoughts = |times| (0..times).map(|_| Step::Think(piece.clone())).collect::<Vec<_>>();
    let arguments = |times| {
        (0..times)
            .map(|n| Step::Call(format!("c{n}"), "Read".to_owned(), format!("{{\"file_path\":\"{piece}\"}}")))
            .collect::<Vec<_>>()
    };
    let calls = (0..1000)
        .map(|n| Step::Call(format!("c{n}"), "Read".to_owned(), "{\"file_path\":\"a\"}".to_owned()))
        .collect::<Vec<_>>();
    let small = Some("2000000");
    for (what, limit, steps, why) in [
        ("text", None, text(40), "larger than 33554432 bytes"),
        ("text", small, text(4), "larger than 2000000 bytes"),
        ("thoughts", small, thoughts(4), "larger than 2000000 bytes"),
        ("arguments", small, arguments(4), "larger than 2000000 bytes"),
        ("calls", None, calls, "more than 256 calls"),
        (
            "events of nothing",
            small,
            vec![Step::Raw(": nothing\n".repeat(2_000_000))],
            "larger than 16000000 bytes",
        ),
    ] {
        for api in ["openai", "anthropic"] {
            let play = Play::script(vec![Answer::steps(steps.clone()).packed()]);
            let mut command = play.command_of(api, "claude", FREE);
            if let Some(limit) = limit {
                command.env("AGENTGLOT_MODEL_MAX_REPLY", limit);
            }
            let mut host = Host::new(command);
            host.say(&user("go"));
            let result = host.until_within("result", Duration::from_secs(100));
            let peak = peak(host.process.id());
            assert!(result["is_error"] == true, "{what} {api}: {result}");
            assert!(
                result.to_string().contains(why),
                "{what} {api}: {}",
                &result.to_string()[..2000.min(result.to_string().len())]
            );
            assert!(peak > 0 && peak < 500, "{what} {api}: {peak} MiB");
            // The session goes on.
            host.close();
            assert_eq!(host.end().results().len(), 1, "{what} {api}");
        }
    }
}

/// Two gigabytes in some megabytes: as texts, thoughts, arguments of one call, an event without an end.
#[test]
fn two_gigabytes_in_a_few_megabytes_are_cut_off() {
    let piece = "x".repeat(1 << 20);
    let openai = |delta: Value| format!("data: {}\n\n", json!({"id": "c", "choices": [{"index": 0, "delta": delta}]}));
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "id": "c0", "function": {"name": "Read", "arguments": arguments}}]});
    let event = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    let block = |block: Value| {
        let message = json!({"id": "m", "role": "assistant", "model": "m-1", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}});
        event(json!({"type": "message_start", "message": message}))
            + &event(json!({"type": "content_block_start", "index": 0, "content_block": block}))
    };
    let delta = |delta: Value| event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let endless = |beginning: &str| (format!("data: {beginning}"), piece.clone());
    let (reply, event_of_it) = (
        "the reply is larger than 33554432 bytes",
        "an event of the reply is larger than 67108864 bytes",
    );
    for (api, what, (beginning, piece), why) in [
        (
            "openai",
            "text",
            (openai(json!({"content": ""})), openai(json!({"content": piece}))),
            reply,
        ),
        ("openai", "thoughts", (String::new(), openai(json!({"reasoning_content": piece}))), reply),
        ("openai", "arguments", (openai(call("{\"file_path\":\"")), openai(call(&piece))), reply),
        ("openai", "one event", endless("{\"choices\":[{\"delta\":{\"content\":\""), event_of_it),
        (
            "anthropic",
            "text",
            (
                block(json!({"type": "text", "text": ""})),
                delta(json!({"type": "text_delta", "text": piece})),
            ),
            reply,
        ),
        (
            "anthropic",
            "thoughts",
            (
                block(json!({"type": "thinking", "thinking": "", "signature": ""})),
                delta(json!({"type": "thinking_delta", "thinking": piece})),
            ),
            reply,
        ),
        (
            "anthropic",
            "arguments",
            (
                block(json!({"type": "tool_use", "id": "c0", "name": "Read", "input": {}})),
                delta(json!({"type": "input_json_delta", "partial_json": piece})),
            ),
            reply,
        ),
        (
            "anthropic",
            "one event",
            endless("{\"type\":\"content_block_delta\",\"x\":\""),
            event_of_it,
        ),
    ] {
        let answer = Answer::with(200, Says::Bomb(beginning, piece, 2048));
        let play = Play::script(vec![answer]);
        let mut command = play.command_of(api, "claude", FREE);
        command.env("AGENTGLOT_MODEL_FIRST_BYTE_TIMEOUT", "100");
        let mut host = Host::new(command);
        let begun = Instant::now();
        host.say(&user("go"));
        let result = host.until_within("result", Duration::from_secs(100)).to_string();
        let (time, peak) = (begun.elapsed(), peak(host.process.id()));
        host.close();
        assert_eq!(host.end().results().len(), 1, "{api} {what}");
        assert!(result.contains(why), "{api} {what}: {}", &result[..2000.min(result.len())]);
        assert!(peak > 0 && peak < 400, "{api} {what}: {peak} MiB");
        assert!(time < Duration::from_secs(60), "{api} {what}: {time:?}");
    }
}

#[test]
fn a_change_that_multiplies_a_file_is_refused() {
    let play = Play::new(|_, _| done());
    std::fs::write(play.path("a"), "a".repeat(1 << 20)).unwrap();
    let long = "b".repeat(100 << 10);
    let calls = |tool: &str, input: Value| {
        vec![
            Answer::calls(&[("Read", json!({"file_path": play.at("a"), "limit": 1}))]),
            Answer::calls(&[(tool, input)]),
            done(),
        ]
    };
    let edit = json!({"file_path": play.at("a"), "old_string": "a", "new_string": long, "replace_all": true});
    let claude = play.again(Server::script(calls("Edit", edit)));
    let mut host = claude.host("claude", FREE);
    host.say(&user("go"));
    let begun = Instant::now();
    assert_eq!(host.until_within("result", Duration::from_secs(60))["result"], "All done.");
    let (time, peak) = (begun.elapsed(), peak(host.process.id()));
    assert!(time < Duration::from_secs(60) && peak < 300, "{time:?}, {peak} MiB");
    assert!(
        claude.server.asked()[2].all().contains("more than 67108864"),
        "{}",
        claude.server.asked()[2].last()
    );
    host.close();
    host.end();

    // So many hunks, each of which has to find its place.
    let hunk = json!({"op": "insert_after", "anchor": {"type": "regex", "pattern": "a+"}, "content": "b"});
    for (hunks, why) in [
        (100_000, "Invalid response from API"),
        (20_000, "more than 10000"),
        (10_000, "the places of the hunks were not found within 20 s"),
    ] {
        std::fs::write(play.path("a"), "a\n".repeat(1 << 20)).unwrap();
        let input = json!({"path": "a", "mode": "patch", "hunks": vec![hunk.clone(); hunks]});
        let tricode = play.again(Server::script(vec![Answer::calls(&[plan(), ("edit_file", input)]), done()]));
        let begun = Instant::now();
        let (_, args) = ONE.iter().find(|(dialect, _)| *dialect == "tricode").unwrap();
        let end = tricode.one("tricode", args, "go");
        assert!(begun.elapsed() < Duration::from_secs(120), "{hunks}: {:?}", begun.elapsed());
        let told = format!("{}{:?}", told(&tricode.server.asked()[1..]), end.lines);
        let shown: String = told.chars().rev().take(600).collect::<String>().chars().rev().collect();
        assert!(told.contains(why), "{hunks}: {:?}: … {shown}", end.status);
    }
}

#[test]
fn files_of_terabytes_are_read_as_far_as_they_are_looked_through() {
    let play = Play::new(|_, _| done());
    let make = |name: &str, head: &str| {
        let mut file = File::create(play.path(name)).unwrap();
        file.write_all(head.as_bytes()).unwrap();
        file.set_len(1 << 42).unwrap();
    };
    make("text", &"wool\n".repeat(3000));
    make("bin", "");
    let file = |name: &str, first: u64| json!({"file_path": play.at(name), "limit": 1, "offset": first});
    let calls = Answer::calls(&[
        ("Read", file("text", 1)),
        ("Read", file("text", 4000)),
        ("Read", file("bin", 1)),
        ("Grep", json!({"pattern": "wool", "path": play.at("text"), "output_mode": "count"})),
        ("Grep", json!({"pattern": "wool.*silk", "multiline": true, "path": play.at("text")})),
        ("Grep", json!({"pattern": "wool"})),
        ("Edit", json!({"file_path": play.at("text"), "old_string": "wool", "new_string": "silk"})),
        ("Write", json!({"file_path": play.at("text"), "content": "silk"})),
    ]);
    let play = play.again(Server::script(vec![calls, done()]));
    let mut host = play.host("claude", FREE);
    host.say(&user("see @text"));
    let begun = Instant::now();
    assert_eq!(
        host.until_within("result", Duration::from_secs(100))["result"],
        "All done.",
        "{:#?}",
        host.seen
    );
    let (time, peak) = (begun.elapsed(), peak(host.process.id()));
    host.close();
    host.end();
    assert!(time < Duration::from_secs(90) && peak < 400, "{time:?}, {peak} MiB");
    let asked = play.server.asked();
    assert!(asked[1].all().contains("lies behind the first 1024 MiB"), "{}", asked[1].last());

    // Both are the user's to say.
    make("text", &"wool\n".repeat(3000));
    for (call, name, value, why) in [
        (("Read", file("text", 4000)), "AGENTGLOT_MAX_SCAN", "1M", "lies behind the first 1 MiB"),
        (
            ("Grep", json!({"pattern": "silk", "path": play.at("text")})),
            "AGENTGLOT_SEARCH_TIMEOUT",
            "0.000001",
            "did not end within 0.000001 s",
        ),
    ] {
        let play = play.again(Server::script(vec![Answer::calls(&[call]), done()]));
        let mut command = play.command("claude", &[PRINT, &["go"]].concat());
        command.env(name, value);
        assert_eq!(run(command).result()["result"], "All done.");
        let told = told(&play.server.asked()[1..]);
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn a_prompt_without_end_is_refused_in_words() {
    let play = Play::script(vec![done()]);
    let piece = vec![b'x'; 1 << 20];
    let stream = &["--output-format", "stream-json", "--input-format", "stream-json", "--verbose"][..];
    for (dialect, args, settings) in [
        ("claude", &["-p", "--output-format", "json"][..], None),
        ("claude", &["-p", "--output-format", "json"][..], Some("3M")),
        ("claude", stream, None),
        ("claude", stream, Some("3M")),
        (
            "qwen",
            &["--output-format", "stream-json", "--input-format", "stream-json"][..],
            Some("3M"),
        ),
        (
            "qwen-code",
            &["--output-format", "stream-json", "--input-format", "stream-json"][..],
            Some("3M"),
        ),
        ("cursor", &["-p", "--output-format", "json"][..], Some("3M")),
    ] {
        let what = format!("{dialect} {args:?} {settings:?}");
        let mut command = play.command(dialect, args);
        if let Some(most) = settings {
            command.env("AGENTGLOT_MAX_PROMPT", most);
        }
        let mut host = Host::new(command);
        let mut stdin = host.take_stdin();
        let (mut written, mut peak) = (0_usize, 0);
        let begun = Instant::now();
        // Far more than may be: it reads on or closes its end, as it likes.
        while written < 2 << 30 && stdin.write_all(&piece).is_ok() {
            written += piece.len();
            peak = peak.max(self::peak(host.process.id()));
        }
        let _ = stdin.write_all(b"\n");
        drop(stdin);
        let end = host.end();
        let most = settings.map_or(67_108_864_u64, |_| 3 << 20);
        let words = format!("{}{}", end.stderr, end.lines.iter().map(Value::to_string).collect::<String>());
        assert!(words.contains(&most.to_string()), "{what}: {}", &words[..2000.min(words.len())]);
        assert!(
            end.code() != 0
                || end
                    .lines
                    .iter()
                    .any(|line| line["is_error"] == true || line.to_string().contains("error")),
            "{what}: {words}"
        );
        assert!(peak < 150 + 3 * (most >> 20), "{what}: {peak} MiB");
        assert!(begun.elapsed() < Duration::from_secs(180), "{what}: {:?}", begun.elapsed());
        assert!(play.server.asked().is_empty(), "{what}");
    }
    let end = play.one("claude", &["--output-format", "json", "-p"], &"x".repeat(100_000));
    assert_eq!(end.code(), 0, "{end:#?}");
    let mut command = play.command("claude", &["--output-format", "json", "-p", &"x".repeat(100_000)]);
    command.env("AGENTGLOT_MAX_PROMPT", "50K");
    let end = run(command);
    assert!(end.code() != 0 && end.stderr.contains("more than 51200 bytes"), "{end:#?}");
}
