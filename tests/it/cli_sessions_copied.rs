//! The sessions of every agent: copied for another one. Each test has a home of its own.

use std::path::{Path, PathBuf};

use agentglot_adapters::turns;
use serde_json::Value;

use crate::cli_sessions::{Home, KEPT};
use crate::common::{arg, golden, log, session};

/// For whom, the command, where the file lies, and where its lines have the id.
const TARGETS: [(&str, &str, &str, &str); 4] = [
    ("claude", "claude --resume ID", "home/.claude/projects/SLUG/ID.jsonl", "/sessionId"),
    ("qwen-code", "qwen --resume ID", "home/.qwen/projects/SLUG/chats/ID.jsonl", "/sessionId"),
    ("codex", "codex resume ID", "home/.codex/sessions/", "/payload/id"),
    ("gemini", "gemini --resume ID", "home/.gemini/tmp/work/chats/session-", "/sessionId"),
];

/// What is said in a session: prompts, texts, calls and results.
pub(crate) fn said(path: &Path, format: &str) -> Vec<String> {
    use agentglot_adapters::session::Block;
    let format: agentglot_adapters::raw::codec::Format = format.parse().unwrap();
    let mut said = Vec::new();
    for turn in turns(std::fs::File::open(path).unwrap(), format) {
        let turn = turn.expect("it can be read");
        said.extend(turn.thread.prompts.iter().map(|prompt| prompt.content.text()));
        for round in &turn.thread.rounds {
            for block in &round.blocks {
                match block {
                    Block::Text(text) => said.push(text.clone()),
                    Block::Call(call) => {
                        let result = call.result.as_ref().expect("each call has a result");
                        said.push(format!("call of {}: {}", result.call, plain(&result.content.text())));
                    }
                    _ => {}
                }
            }
        }
    }
    said
}

/// A result without what each program writes around it: numbers of lines, and what stands before and behind a command's output.
fn plain(result: &str) -> String {
    let lines = result
        .lines()
        .filter(|line| !line.starts_with("Process Group PGID:") && !line.contains("untrusted_context>"));
    let lines = lines.map(|line| {
        let line = line.strip_prefix("Output: ").unwrap_or(line);
        line.trim_start_matches(|c: char| c.is_ascii_digit()).trim()
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn store(agent: &str) -> &'static str {
    match agent {
        "claude" => "claude:transcript",
        "qwen-code" => "qwen-code:chat",
        "codex" => "codex:rollout",
        _ => "gemini:chat",
    }
}

#[test]
fn a_copy_lies_where_the_other_program_looks_and_says_what_the_source_says() {
    let home = Home::full();
    let slug: String = arg(&home.work())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    for (from, place, _) in KEPT {
        let source = home.scratch.path(place);
        let before = std::fs::read(&source).unwrap();
        for (to, command, file, id_at) in TARGETS {
            let copied = home.copied(arg(&source), to);
            let id = copied["id"].as_str().unwrap();
            let path = PathBuf::from(copied["path"].as_str().unwrap());
            let expected = home.scratch.path(&file.replace("SLUG", &slug).replace("ID", id));
            assert!(arg(&path).starts_with(arg(&expected)), "{path:?} {expected:?}");
            assert!(arg(&path).contains(&id[..8]), "{path:?}");
            assert!(uuid::Uuid::parse_str(id).is_ok());
            let words: Vec<&str> = copied["commands"][0]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap())
                .collect();
            assert_eq!(words.join(" "), command.replace("ID", id));
            let text = std::fs::read_to_string(&path).unwrap();
            let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            assert_eq!(first.pointer(id_at).and_then(Value::as_str), Some(id), "{from} to {to}: {first}");
            assert!(!text.contains(r#""cwd":"/workspace""#) && (to == "gemini" || text.contains(&format!(r#""cwd":"{}""#, arg(&home.work())))));
            assert_eq!(said(&path, store(to)), said(&source, store(from)), "{from} to {to}");
        }
        assert_eq!(std::fs::read(&source).unwrap(), before);
    }
    // Nothing but the sessions and the sign of whose a folder is was written.
    let others = home
        .files()
        .into_iter()
        .filter(|path| path.extension().is_none_or(|ending| ending != "jsonl"));
    let others: Vec<String> = others.map(|path| arg(&path).rsplit("home/").next().unwrap().to_owned()).collect();
    assert_eq!(others, [".gemini/tmp/work/.project_root"]);
    assert_eq!(
        std::fs::read_to_string(home.scratch.path("home/.gemini/tmp/work/.project_root")).unwrap(),
        arg(&home.work())
    );
}

#[test]
fn the_command_is_one_line_of_a_shell_and_all_else_goes_to_stderr() {
    let home = Home::full();
    let odd = home.scratch.path("it's here");
    std::fs::create_dir(&odd).unwrap();
    let ran = home.run(&["copy", "01a1fcec", "--to", "claude", "--cwd", arg(&odd)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let odd = arg(&odd.canonicalize().unwrap()).replace('\'', "'\\''");
    let hostile = home.scratch.path("a\n$(touch pwned);\u{1b}[2J%s'\\");
    std::fs::create_dir(&hostile).unwrap();
    let told = home.run(&["copy", "01a1fcec", "--to", "claude", "--cwd", arg(&hostile)]);
    assert!(!told.text().contains('\u{1b}') && told.text().lines().count() == 1, "{:?}", told.text());
    let goes = told.text().split(" && ").next().unwrap();
    let there = std::process::Command::new("sh")
        .args(["-c", &format!("{goes} && pwd -P")])
        .output()
        .unwrap();
    assert_eq!(there.stdout, format!("{}\n", arg(&hostile.canonicalize().unwrap())).as_bytes(), "{goes}");
    assert!(
        ran.text().starts_with(&format!("cd '{odd}' && claude --resume ")) && ran.text().lines().count() == 1,
        "{}",
        ran.text()
    );
    assert!(
        ran.err.contains("written to ") && ran.err.contains("no place in the target"),
        "{}",
        ran.err
    );
    // The folder that the session worked in is not here.
    let ran = home.run(&["copy", "01a1fcec", "--to", "claude"]);
    assert!(
        ran.code == 2 && ran.err.contains("worked in /workspace, which is not there; --cwd"),
        "{}",
        ran.err
    );
}

#[test]
fn a_log_gets_its_prompt_and_calls_get_results() {
    let home = Home::empty();
    let work = home.work();
    let file = home.scratch.file("log.jsonl", log("s-1", "An answer."));
    let ran = home.run(&["copy", arg(&file), "--to", "qwen-code", "--cwd", arg(&work)]);
    assert!(ran.code == 2 && ran.err.contains("--prompt"), "{}", ran.err);
    assert!(home.files().is_empty(), "{:?}", home.files());
    let ran = home.run(&[
        "copy",
        arg(&file),
        "--to",
        "qwen-code",
        "--cwd",
        arg(&work),
        "--prompt",
        "A question?",
        "--json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let copied: Value = serde_json::from_slice(&ran.out).unwrap();
    let path = PathBuf::from(copied["path"].as_str().unwrap());
    assert_eq!(said(&path, "qwen-code:chat"), ["A question?", "An answer."]);
    // A log that ends with a call.
    let [init, ..] = session("s-2", "");
    let call = r#"{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s-2","uuid":"00000000-0000-4000-8000-000000000002"}"#;
    let file = home.scratch.file("open.jsonl", format!("{init}\n{call}\n"));
    for (to, ..) in TARGETS {
        let ran = home.run(&["copy", arg(&file), "--to", to, "--cwd", arg(&work), "--prompt", "List.", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let copied: Value = serde_json::from_slice(&ran.out).unwrap();
        let said = said(Path::new(copied["path"].as_str().unwrap()), store(to));
        assert!(
            said.iter()
                .any(|said| said.starts_with("call of toolu_1: ") && said.contains("interrupted")),
            "{to}: {said:?}"
        );
    }
}

/// Files of Gemini CLI need not say where the session worked; the program notes it beside them.
#[test]
fn a_copy_works_where_the_folder_of_its_source_is_for() {
    let home = Home::empty();
    let (there, here) = (home.scratch.path("there"), home.work());
    std::fs::create_dir(&there).unwrap();
    let there = there.canonicalize().unwrap();
    let chat = concat!(
        r#"{"sessionId":"00000000-0000-4000-8000-000000000007","projectHash":"0","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}"#,
        "\n",
        r#"{"id":"1","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"Where?"}]}"#,
        "\n",
        r#"{"id":"2","timestamp":"2026-01-01T00:00:01.000Z","type":"gemini","content":"Here.","thoughts":[],"model":"m-1"}"#,
        "\n",
    );
    home.scratch
        .file("home/.gemini/tmp/there/chats/session-2026-01-01T00-00-0000.jsonl", chat);
    home.scratch.file("home/.gemini/tmp/there/.project_root", arg(&there));
    let listed = home.run(&["list", "--all-agents", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.out).unwrap();
    assert_eq!(listed["cwd"], arg(&there));
    let ran = home.run(&["copy", listed["id"].as_str().unwrap(), "--to", "codex", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let copied: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(copied["cwd"], arg(&there), "and not in {}", here.display());
    assert!(!ran.err.contains("goes on with"), "no command follows: {}", ran.err);
    let counted = home.command(&["stats", "--by", "project", "--csv"], &[]);
    assert!(
        counted.text().contains(arg(&there)) && !counted.text().contains('?'),
        "{}",
        counted.text()
    );
}

/// What is said without a time was said behind the last one that is known, not at the beginning of the log.
#[test]
fn what_has_no_time_is_dated_by_the_last_one_before_it() {
    let home = Home::empty();
    let line = |kind: &str, rest: &str| format!("{{\"type\":\"{kind}\",\"session_id\":\"s-1\",{rest}}}\n");
    let reply = |id: &str, text: &str, rest: &str| {
        let message = r#"{"id":"ID","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"TEXT"}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}"#;
        line(
            "assistant",
            &format!("\"message\":{}{rest}", message.replace("ID", id).replace("TEXT", text)),
        )
    };
    let source = line(
        "system",
        r#""subtype":"init","cwd":"/x","tools":[],"model":"m-1","claude_code_version":"2.1.0""#,
    ) + &reply("m-1", "Early.", r#","timestamp":"2026-03-01T10:00:00.000Z""#)
        + &reply("m-2", "Late.", r#","timestamp":"2026-03-01T11:00:00.000Z""#)
        + &reply("m-3", "Undated.", "");
    let source = home.scratch.file("log.jsonl", source);
    let work = home.work();
    let ran = home.run(&["copy", arg(&source), "--to", "codex", "--cwd", arg(&work), "--prompt", "When?", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let copied: Value = serde_json::from_slice(&ran.out).unwrap();
    let text = std::fs::read_to_string(copied["path"].as_str().unwrap()).unwrap();
    let mut undated = text.lines().filter(|line| line.contains("Undated."));
    assert!(undated.all(|line| line.contains("2026-03-01T11:00:00.000Z")), "{text}");
    assert!(
        text.lines()
            .any(|line| line.contains("When?") && line.contains("2026-03-01T10:00:00.000Z")),
        "{text}"
    );
}

/// A prompt that is given has no time in its log, and neither do its replies: they are dated by the first that it says.
#[test]
fn a_prompt_that_is_given_is_as_old_as_its_log() {
    let home = Home::empty();
    let work = home.work();
    let source = golden("claude/cli_parallel_partial.out.jsonl");
    for (to, ..) in TARGETS {
        let ran = home.run(&["copy", arg(&source), "--to", to, "--cwd", arg(&work), "--prompt", "Both.", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let copied: Value = serde_json::from_slice(&ran.out).unwrap();
        let text = std::fs::read_to_string(copied["path"].as_str().unwrap()).unwrap();
        assert!(!text.contains("\"1970-") && !text.contains("\"created\":0"), "{to}: {text}");
        assert!(
            to == "opencode" || text.contains("\"timestamp\":\"2026-11-21T06:00:19.149Z\""),
            "{to}: {text}"
        );
    }
}

#[test]
fn thoughts_stay_behind_where_they_would_be_refused() {
    let home = Home::empty();
    let source = golden("claude/transcript_think.jsonl");
    let thoughts = |path: &str| std::fs::read_to_string(path).unwrap().matches("thinking\":\"").count();
    assert!(thoughts(arg(&source)) > 0);
    let copied = home.copied(arg(&source), "claude");
    assert_eq!(
        thoughts(copied["path"].as_str().unwrap()),
        thoughts(arg(&source)),
        "those that are signed go over"
    );
    let copied = home.copied(arg(&source), "codex");
    let text = std::fs::read_to_string(copied["path"].as_str().unwrap()).unwrap();
    assert!(!text.contains("\"type\":\"reasoning\""), "{text}");
    // What another model thought is signed by nobody.
    let copied = home.copied(arg(&golden("gemini/chat_parallel.jsonl")), "claude");
    assert_eq!(thoughts(copied["path"].as_str().unwrap()), 0);
}

#[test]
fn nothing_is_ever_overwritten() {
    let home = Home::full();
    let source = home.scratch.path(KEPT[0].1);
    let mut ids = std::collections::BTreeSet::new();
    for (to, ..) in TARGETS {
        let before: Vec<(PathBuf, Vec<u8>)> = home
            .files()
            .into_iter()
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect();
        for _ in 0..3 {
            assert!(
                ids.insert(home.copied(arg(&source), to)["id"].as_str().unwrap().to_owned()),
                "ids are new"
            );
        }
        for (path, bytes) in before {
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{path:?}");
        }
    }
    let before = std::fs::read(&source).unwrap();
    let ran = home.run(&["copy", arg(&source), "--to", "codex", "--ledger", arg(&source)]);
    assert!(ran.code == 2 && ran.err.contains("this file is read; it would be lost"), "{}", ran.err);
    assert_eq!(std::fs::read(&source).unwrap(), before);
}

#[test]
fn a_folder_that_another_project_has_is_left_to_it() {
    let home = Home::full();
    home.scratch.file("home/.gemini/tmp/work/.project_root", "/somewhere/work");
    home.scratch.file("home/.gemini/history/work-1/.project_root", "/else/work");
    home.scratch.file(
        "home/.gemini/projects.json",
        r#"{"projects":{"/third/work":"work-2","/evil":"../../out"}}"#,
    );
    let copied = home.copied("86f24e3c", "gemini");
    assert!(
        copied["path"].as_str().unwrap().contains("/.gemini/tmp/work-3/chats/session-"),
        "{copied}"
    );
    // The next copy finds it again; so does one for a folder that the program's list has.
    assert!(home.copied("01a1fcec", "gemini")["path"].as_str().unwrap().contains("/tmp/work-3/"));
    let list = serde_json::json!({"projects": {arg(&home.work()): "mine"}}).to_string();
    home.scratch.file("home/.gemini/projects.json", list);
    assert!(home.copied("01a1fcec", "gemini")["path"].as_str().unwrap().contains("/tmp/mine/"));
    // A name that leads out of the folder is none.
    let list = serde_json::json!({"projects": {arg(&home.work()): "../../../out"}}).to_string();
    home.scratch.file("home/.gemini/projects.json", list);
    assert!(
        home.copied("01a1fcec", "gemini")["path"]
            .as_str()
            .unwrap()
            .contains("/.gemini/tmp/work-3/")
    );
    assert!(!home.scratch.path("out").exists());
}

#[test]
fn names_in_a_session_lead_nowhere() {
    let home = Home::empty();
    let line = |cwd: &str| {
        format!(
            "{}\n",
            serde_json::json!({
                "parentUuid": null, "isSidechain": false, "type": "user", "message": {"role": "user", "content": "Hello."},
                "uuid": "98b354d5-0e6f-4afb-a9d1-ece0724f3d63", "timestamp": "2026-11-21T07:07:46.347Z", "cwd": cwd,
                "sessionId": "../../../../out", "version": "2.1.329",
            })
        )
    };
    let hostile = home.scratch.file("hostile.jsonl", line("../../out"));
    let ran = home.run(&["copy", arg(&hostile), "--to", "claude"]);
    assert!(ran.code == 2 && ran.err.contains("no absolute path"), "{}", ran.err);
    for (to, ..) in TARGETS {
        let copied = home.copied(arg(&hostile), to);
        assert!(uuid::Uuid::parse_str(copied["id"].as_str().unwrap()).is_ok(), "{copied}");
        assert!(copied["path"].as_str().unwrap().starts_with(arg(&home.scratch.path("home"))) && !copied["path"].as_str().unwrap().contains(".."));
    }
    // A working folder with a quote, a line feed and an escape in its name.
    let odd = home.scratch.path("a\"b\n\u{1b}[31m/..x");
    std::fs::create_dir_all(&odd).unwrap();
    let source = home.scratch.file("plain.jsonl", line(arg(&odd.canonicalize().unwrap())));
    for (to, ..) in TARGETS {
        let ran = home.run(&["copy", arg(&source), "--to", to, "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let copied: Value = serde_json::from_slice(&ran.out).unwrap();
        assert_eq!(copied["cwd"], arg(&odd.canonicalize().unwrap()));
        let text = std::fs::read_to_string(copied["path"].as_str().unwrap()).unwrap();
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    }
    // A link in the place of a folder is not followed.
    let out = home.scratch.path("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::remove_dir_all(home.scratch.path("home/.claude/projects")).unwrap();
    std::os::unix::fs::symlink(&out, home.scratch.path("home/.claude/projects")).unwrap();
    let ran = home.run(&["copy", arg(&source), "--to", "claude"]);
    assert!(ran.code == 3 && ran.err.contains("link"), "{}", ran.err);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_copied_is_told_and_nothing_is_written() {
    let home = Home::empty();
    let work = home.work();
    let copy = |what: &str, to: &str| home.run(&["copy", what, "--to", to, "--cwd", arg(&work)]);
    let empty = home.scratch.file("empty.jsonl", "");
    let only = home.scratch.file("only.jsonl", session("s-1", "")[0].clone() + "\n");
    let two = home.scratch.file("two.jsonl", log("s-1", "One.") + &log("s-2", "Two."));
    let good = golden("claude/transcript_read.jsonl");
    let long = format!("/{}", "x".repeat(300));
    for (what, to, code, why) in [
        (arg(&home.scratch.path("work")), "claude", 3, "is a directory"),
        ("/dev/null", "claude", 2, "no plain file"),
        (arg(&empty), "claude", 2, "no conversation"),
        (arg(&only), "claude", 2, "prompt"),
        (arg(&two), "claude", 2, "2 sessions"),
        (arg(&home.scratch.path("not/there.jsonl")), "claude", 3, "No such file"),
        ("0123abcd", "claude", 2, "there is no session"),
        ("", "claude", 2, "there is no session"),
        ("../../etc/passwd", "claude", 3, "No such file"),
        (
            arg(&good),
            "cursor",
            2,
            "cursor keeps no sessions that we can write; there are claude, codex, gemini, opencode, qwen-code",
        ),
        (arg(&good), "nobody", 2, "unknown dialect"),
    ] {
        let ran = copy(what, to);
        assert!(ran.code == code && ran.err.contains(why), "{what} to {to}: {} {}", ran.code, ran.err);
        assert!(ran.out.is_empty(), "{}", ran.text());
    }
    let ran = home.run(&["copy", arg(&good), "--to", "claude", "--cwd", &long]);
    assert!(ran.code == 2 && ran.err.contains("not there"), "{}", ran.err);
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn damage_is_told_and_a_subagents_file_is_a_session_of_its_own() {
    let home = Home::empty();
    let work = home.work();
    let whole = std::fs::read_to_string(golden("gemini/chat_parallel.jsonl")).unwrap();
    let broken = home
        .scratch
        .file("session-broken.jsonl", whole.trim_end().to_owned() + "\n{\"id\":\"x\",\"type\":\"gem");
    let ran = home.run(&["copy", arg(&broken), "--to", "codex", "--cwd", arg(&work), "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("session-broken.jsonl:"), "{}", ran.err);
    let copied: Value = serde_json::from_slice(&ran.out).unwrap();
    let path = PathBuf::from(copied["path"].as_str().unwrap());
    assert_eq!(said(&path, "codex:rollout"), said(&golden("gemini/chat_parallel.jsonl"), "gemini:chat"));
    for recording in [
        "claude/transcript_agent.subagent.jsonl",
        "gemini/chat_agent.subagent.jsonl",
        "codex/rollout_subagent.jsonl",
    ] {
        let ran = home.run(&["copy", arg(&golden(recording)), "--to", "codex", "--cwd", arg(&work)]);
        assert!(ran.code == 0 && ran.err.contains("the file of a subagent"), "{recording}: {}", ran.err);
    }
}
