//! Sessions of the built-in agent that go on, and conversations that are too long.

use serde_json::Value;

use super::agent::{FREE, done, shell};
use crate::support::model::{Answer, Step};
use crate::support::play::{ONE, PRINT, Play, said};
use crate::support::stage::{Host, QWEN, user};

/// The id that a run says it has.
fn session(dialect: &str, lines: &[Value]) -> String {
    if dialect == "tricode" {
        let line = lines.iter().find_map(|line| line["message"].as_str()).expect("it says its session");
        return line.rsplit(' ').next().unwrap().to_owned();
    }
    let id = lines.iter().find_map(|line| line["session_id"].as_str());
    id.expect("lines have a session").to_owned()
}

/// What takes the prompt stands last: the flag of Qwen Code.
fn before<'a>(more: &[&'a str], args: &[&'a str]) -> Vec<&'a str> {
    [more, args].concat()
}

#[test]
fn sessions_go_on_and_fork() {
    let none: &[&str] = &[];
    for (dialect, args, resume, latest, fork) in [
        ("claude", PRINT, "--resume", &["--continue"][..], &["--fork-session"][..]),
        ("qwen-code", ONE[1].1, "--resume", &["--continue"], none),
        ("cursor", ONE[5].1, "--resume", &["--continue"], none),
        ("tricode", ONE[4].1, "-r", none, none),
    ] {
        let play = Play::new(|_, number| Answer::text(&format!("answer-{number}")));
        let first = play.one(dialect, args, "prompt-0");
        let id = session(dialect, &first.lines);
        let second = play.one(dialect, &before(&[resume, &id], args), "prompt-1");
        assert_eq!(session(dialect, &second.lines), id, "{dialect}: {second:#?}");
        let mut last = 1;
        if !latest.is_empty() {
            last += 1;
            let third = play.one(dialect, &before(latest, args), "prompt-2");
            assert_eq!(session(dialect, &third.lines), id, "{dialect}: {third:#?}");
        }
        if !fork.is_empty() {
            last += 1;
            let fourth = play.one(dialect, &before(&[&[resume, &id], fork].concat(), args), "prompt-3");
            assert_ne!(session(dialect, &fourth.lines), id, "{dialect}: {fourth:#?}");
        }
        let all = play.server.asked().pop().unwrap().all();
        for n in 0..last {
            assert!(
                all.contains(&format!("prompt-{n}")) && all.contains(&format!("answer-{n}")),
                "{dialect}: {all}"
            );
        }
        assert!(all.contains(&format!("prompt-{last}")), "{dialect}: {all}");
    }
}

#[test]
fn a_session_has_the_id_it_is_given_and_one_writer() {
    let id = "0d5e2a52-9e4f-4c83-8f6e-3f1a8f1f7a11";
    let play = Play::script(vec![Answer::steps(vec![
        Step::Text("Hm".into()),
        Step::Pause(1500),
        Step::Text("m".into()),
    ])]);
    let mut command = play.command("claude", &[FREE, &["--session-id", id]].concat());
    command.env("AGENTGLOT_MODEL_STALL_TIMEOUT", "10");
    let mut host = Host::new(command);
    host.say(&user("go"));
    let init = host.until("system");
    assert_eq!(init["session_id"], id);
    let second = play.one("claude", &[PRINT, &["--resume", id]].concat(), "me too");
    assert_ne!(second.code(), 0, "{second:#?}");
    assert!(second.stderr.contains("Another process"), "{second:#?}");
    host.close();
    assert_eq!(host.end().code(), 0);
    let home = play.base().join("home/.claude/projects");
    let folder = std::fs::read_dir(&home).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).unwrap();
    assert!(kept.contains("\"go\"") && kept.contains("Hmm"), "{kept}");
}

/// Says that it has read so much.
fn full(text: &str) -> Answer {
    Answer::steps(vec![Step::Text(text.to_owned()), Step::Used(125_000, 10)])
}

#[test]
fn a_full_conversation_is_replaced_by_a_summary() {
    for (dialect, args) in [("claude", FREE), ("qwen-code", QWEN)] {
        let play = Play::script(vec![full("the first answer"), Answer::text("they spoke of wool"), done()]);
        let mut host = play.host(dialect, args);
        host.say(&user("the first prompt"));
        host.until("result");
        host.say(&user("the second prompt"));
        host.until("result");
        host.close();
        let end = host.end();
        let told = said(&end);
        assert!(dialect == "qwen-code" || told.contains("compact_boundary"), "{dialect}: {told}");
        assert_eq!(end.results()[1]["result"], "All done.", "{dialect}: {end:#?}");
        let asked = play.server.asked();
        assert_eq!(asked.len(), 3, "{dialect}");
        let last = asked[2].all();
        assert!(last.contains("they spoke of wool") && last.contains("the second prompt"), "{last}");
        assert!(!last.contains("the first answer"), "{last}");
    }
}

#[test]
fn a_summary_in_the_middle_of_work_is_announced() {
    for (dialect, args, announced) in [(ONE[0].0, ONE[0].1, "compact_boundary"), (ONE[3].0, ONE[3].1, "ChatCompressed")] {
        let call = Step::Call(
            "call_0".into(),
            shell(dialect).into(),
            r#"{"command": "echo wool", "description": "x"}"#.into(),
        );
        let play = Play::script(vec![
            Answer::steps(vec![call, Step::Used(125_000, 10)]),
            Answer::text("they ran a command"),
            done(),
        ]);
        let end = play.one(dialect, args, "go");
        assert!(said(&end).contains(announced) && said(&end).contains("All done."), "{dialect}: {end:#?}");
        assert!(play.server.asked()[1].all().contains("wool"), "{dialect}");
        assert!(play.server.asked()[2].all().contains("they ran a command"), "{dialect}");
    }
}

#[test]
fn a_conversation_that_the_model_finds_too_long_is_made_shorter() {
    let too_long = || {
        Answer::error(
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        )
    };
    let play = Play::new(move |asked, _| {
        let all = asked.all();
        if all.len() > 60_000 {
            too_long()
        } else if all.contains("Summarise this conversation") {
            Answer::text("they spoke of wool")
        } else {
            done()
        }
    });
    let mut host = play.host("claude", FREE);
    // Each of them fits alone, and the summary of all of them is too long to be asked for at once too.
    for n in 0..4 {
        host.say(&user(&format!("prompt {n} {}", "wool ".repeat(4000))));
        let result = host.until("result");
        assert_eq!(result["result"], "All done.", "{n}: {result}");
    }
    host.close();
    let end = host.end();
    assert!(said(&end).contains("compact_boundary"));
    assert_eq!(end.code(), 0);
}

#[test]
fn sessions_of_claude_code_are_listed_shown_and_left_alone() {
    let play = Play::script(vec![Answer::text("ours")]);
    play.print("begun by us");
    let projects = play.base().join("home/.claude/projects");
    let folder = std::fs::read_dir(&projects).unwrap().next().unwrap().unwrap().path();
    let theirs = folder.join("0d5e2a52-9e4f-4c83-8f6e-3f1a8f1f7a11.jsonl");
    let line = |kind: &str, text: &str| {
        let message = serde_json::json!({"role": kind, "content": [{"type": "text", "text": text}]});
        let (uuid, parent) = if kind == "user" { ("u-1", Value::Null) } else { ("a-1", "u-1".into()) };
        serde_json::json!({"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-01-01T00:00:00Z", "cwd": play.at(""), "message": message})
    };
    std::fs::write(
        &theirs,
        format!("{}\n{}\n", line("user", "begun by them"), line("assistant", "their answer")),
    )
    .unwrap();
    let sessions = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agentglot"));
        command.arg("sessions").args(args).current_dir(play.path(""));
        let out = command.env_clear().env("HOME", play.base().join("home")).output().unwrap();
        (
            out.status.code(),
            String::from_utf8(out.stdout).unwrap(),
            String::from_utf8(out.stderr).unwrap(),
        )
    };
    let (_, listed, _) = sessions(&["list", "--json"]);
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut kinds: Vec<(&str, &str, &str)> = listed
        .iter()
        .map(|one| {
            (
                one["dialect"].as_str().unwrap(),
                one["by"].as_str().unwrap(),
                one["prompt"].as_str().unwrap(),
            )
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("claude", "agentglot", "begun by us"), ("claude", "claude", "begun by them")]);
    let (code, shown, _) = sessions(&["show", "0d5e2a52"]);
    assert_eq!(
        (code, shown.contains("> begun by them") && shown.contains("their answer")),
        (Some(0), true),
        "{shown}"
    );
    let path = theirs.display().to_string();
    assert_eq!(sessions(&["show", &path]).1, shown);
    let (code, _, said) = sessions(&["show", &play.at("")]);
    assert!(code != Some(0) && !said.is_empty(), "{said}");
    std::fs::write(play.path("log.jsonl"), "{}\n").unwrap();
    let (code, _, said) = sessions(&["show", "log.jsonl"]);
    assert!(code == Some(2) && said.contains("not the transcript of a session"), "{said}");
    // What no text and no number of Rust's can hold, and what lies deeper than serde_json reads.
    let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let odd = line("assistant", "half")
        .to_string()
        .replace("half", "half \\ud83d of it")
        .replace("\"uuid\"", &format!("\"toolUseResult\":{nested},\"n\":{}1,\"uuid\"", "9".repeat(400)));
    std::fs::write(play.path("odd.jsonl"), format!("{}\n{odd}\n", line("user", "a question"))).unwrap();
    for to in [&[][..], &["--to", "claude"]] {
        let (code, shown, said) = sessions(&[&["show", "odd.jsonl"], to].concat());
        assert!(code == Some(0) && said.is_empty() && shown.contains("of it"), "{shown}{said}");
    }
    // A store says what became of a turn, and who said what.
    let failed = line("assistant", "API Error: 500")
        .to_string()
        .replace("\"uuid\"", "\"isApiErrorMessage\":true,\"uuid\"");
    std::fs::write(play.path("failed.jsonl"), format!("{}\n{failed}\n", line("user", "a question"))).unwrap();
    let shown = sessions(&["show", "failed.jsonl", "--to", "claude"]).1;
    assert!(shown.lines().last().unwrap().contains("\"is_error\":true"), "{shown}");
    let shown = sessions(&["show", "failed.jsonl", "--to", "codex:rollout"]).1;
    assert!(
        shown.contains("session_meta") && shown.lines().next().unwrap().contains("session_meta"),
        "{shown}"
    );
    assert!(shown.contains("\"user_message\",\"message\":\"a question\""), "{shown}");
    let ours = listed.iter().find(|one| one["by"] == "agentglot").unwrap()["path"].as_str().unwrap();
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_agentglot"))
        .args(["show", ours])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("> begun by us") && !shown.contains("[unknown]"), "{shown}");
    let (code, _, said) = sessions(&["delete", "0d5e2a52"]);
    assert!(code == Some(2) && said.contains("was not begun by agentglot"), "{said}");
    sessions(&["delete", "--all"]);
    assert!(theirs.exists());
    assert_eq!(sessions(&["list", "--json"]).1.lines().count(), 1);
}
