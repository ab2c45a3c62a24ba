//! Sessions that programs keep, with the files of their subagents beside them.

use crate::common::{Scratch, arg, run};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/");

fn golden(name: &str) -> String {
    std::fs::read_to_string(GOLDEN.to_owned() + name).unwrap()
}

/// The call that the recorded subagents work for.
const CALL: &str = "toolu_mock000009";

fn about() -> String {
    format!("{{\"agentType\":\"general-purpose\",\"description\":\"Sub job\",\"toolUseId\":\"{CALL}\"}}")
}

/// A session of Claude Code's, and one of Qwen Code's, each with a subagent, as their programs lay them down.
fn kept() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("claude/s1.jsonl", golden("claude/transcript_agent.jsonl"));
    scratch.file("claude/s1/subagents/agent-a.jsonl", golden("claude/transcript_agent.subagent.jsonl"));
    scratch.file("claude/s1/subagents/agent-a.meta.json", about());
    scratch.file("qwen/chats/c1.jsonl", golden("qwen-code/chat_agent.jsonl"));
    scratch.file("qwen/subagents/c1/agent-b.jsonl", golden("qwen-code/chat_agent.subagent.jsonl"));
    scratch.file("qwen/subagents/c1/agent-b.meta.json", about());
    scratch
}

/// The lines of the subagent, and where its call's result stands.
fn of_subagent(text: &str) -> (Vec<usize>, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let all = |sign: &str| -> Vec<usize> { (0..lines.len()).filter(|&at| lines[at].contains(sign)).collect() };
    let own = all(&format!("\"parent_tool_use_id\":\"{CALL}\""));
    let results = all(&format!("\"tool_use_id\":\"{CALL}\""));
    (own, *results.first().expect("the call has a result"))
}

#[test]
fn a_session_is_read_with_its_subagents() {
    let scratch = kept();
    for (file, to) in [("claude/s1.jsonl", "claude"), ("qwen/chats/c1.jsonl", "qwen-code")] {
        let path = scratch.path(file);
        let ran = run(["convert", "-t", to, arg(&path)]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("with its subagents in "), "{}", ran.err);
        let (own, result) = of_subagent(ran.text());
        assert!(own.len() >= 2 && own.iter().all(|&line| line < result), "{file}: {own:?} before {result}");
        let ran = run(["convert", "-t", to, "--no-subagents", arg(&path)]);
        assert_eq!((ran.code, of_subagent(ran.text()).0.len()), (0, 0), "{}", ran.err);
        // Within one format nothing is put together.
        let ran = run([
            "convert",
            "-f",
            &format!("{to}:{}", if to == "claude" { "transcript" } else { "chat" }),
            "-t",
            &format!("{to}:{}", if to == "claude" { "transcript" } else { "chat" }),
            arg(&path),
        ]);
        assert_eq!(ran.text(), std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn what_goes_not_over_of_a_subagent_is_told_of_its_own_file() {
    let scratch = kept();
    let ledger = scratch.path("ledger.jsonl");
    let ran = run([
        "convert",
        "-t",
        "tricode",
        "--ledger",
        arg(&ledger),
        arg(&scratch.path("claude/s1.jsonl")),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = std::fs::read_to_string(&ledger).unwrap();
    let of_child: Vec<&str> = told.lines().filter(|line| line.contains("agent-a.jsonl")).collect();
    assert!(of_child.iter().any(|line| line.contains("the target knows one thread only")), "{told}");
    // A line that is damaged is one of its file too.
    scratch.file(
        "claude/s1/subagents/agent-a.jsonl",
        golden("claude/transcript_agent.subagent.jsonl") + "{\"type\":\n",
    );
    let ran = run(["convert", "-t", "claude", arg(&scratch.path("claude/s1.jsonl"))]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let damaged = ran
        .err
        .lines()
        .find(|line| line.contains("agent-a.jsonl:"))
        .unwrap_or_else(|| panic!("{}", ran.err));
    assert!(ran.text().contains("\"type\":\"result\""), "{damaged}");
}

#[test]
fn a_folder_of_sessions_has_no_logs_of_subagents() {
    let scratch = kept();
    let (out, folder) = (scratch.path("out"), scratch.path("claude"));
    let ran = run(["convert", "-t", "claude", "-o", arg(&out), arg(&folder)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(scratch.names("out"), ["s1.claude.jsonl"]);
    let ran = run(["convert", "-t", "claude", "--no-subagents", "-o", arg(&scratch.path("all")), arg(&folder)]);
    assert_eq!(scratch.names("all"), ["s1", "s1.claude.jsonl"], "{}", ran.err);
    // A store has a file for each.
    let ran = run(["convert", "-t", "claude:transcript", "-o", arg(&scratch.path("same")), arg(&folder)]);
    assert_eq!(scratch.names("same").len(), 2, "{}", ran.err);
}

#[test]
fn the_file_of_a_subagent_alone_is_read_with_a_word() {
    let scratch = kept();
    let path = scratch.path("claude/s1/subagents/agent-a.jsonl");
    let ran = run(["convert", "-t", "claude", arg(&path)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("this is the file of a subagent"), "{}", ran.err);
    assert!(ran.text().contains("\"type\":\"result\""));
    let ran = run(["check", arg(&path)]);
    assert!(ran.code == 0 && ran.text().contains("[warning sidechain]"), "{}", ran.text());
}

#[test]
fn a_session_is_checked_with_its_subagents() {
    let scratch = kept();
    let path = scratch.path("claude/s1.jsonl");
    let ran = run(["check", arg(&path)]);
    assert!(ran.code == 0 && ran.text().contains("agent-a.jsonl: claude:transcript"), "{}", ran.text());
    assert!(!ran.text().contains("sidechain"), "{}", ran.text());
    let ran = run(["check", "--no-subagents", arg(&path)]);
    assert!(!ran.text().contains("agent-a.jsonl"), "{}", ran.text());
}

/// Gemini CLI's files are called by no session's id, and nothing beside them says whose they are: that stands in the session's file.
#[test]
fn a_session_that_names_its_subagents_is_read_with_them() {
    let scratch = Scratch::new();
    let folder = "chats/aafb4fc1-87f9-48d9-8566-170be5c5dca5";
    scratch.file("chats/session-2026-11-21T07-03-aafb4fc1.jsonl", golden("gemini/chat_agent.jsonl"));
    let child = format!("{folder}/89379183-87b7-4d5c-a580-a2d2f8e2400c.jsonl");
    scratch.file(&child, golden("gemini/chat_agent.subagent.jsonl"));
    scratch.file(&format!("{folder}/stranger.jsonl"), golden("gemini/chat_think.jsonl"));
    let path = scratch.path("chats/session-2026-11-21T07-03-aafb4fc1.jsonl");
    let ran = run(["convert", "-t", "claude", arg(&path)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("with its subagents in ") && !ran.err.contains("stranger"), "{}", ran.err);
    let lines: Vec<&str> = ran.text().lines().collect();
    let call = "invoke_agent__invoke_agent_1795244633765_0";
    let all = |sign: String| -> Vec<usize> { (0..lines.len()).filter(|&at| lines[at].contains(&sign)).collect() };
    let own = all(format!("\"parent_tool_use_id\":\"{call}\""));
    let (called, answered) = (
        all(format!("\"type\":\"tool_use\",\"id\":\"{call}\"")),
        all(format!("\"tool_use_id\":\"{call}\"")),
    );
    assert!(own.len() >= 5, "{}", ran.text());
    assert!(
        own.iter().all(|&line| called[0] < line && line < answered[0]),
        "{called:?} {own:?} {answered:?}"
    );
    let ran = run(["convert", "-t", "claude", "--no-subagents", arg(&path)]);
    assert!(ran.code == 0 && !ran.text().contains("from-sub"), "{}", ran.err);
    let ran = run(["convert", "-t", "claude", arg(&scratch.path(&child))]);
    assert!(ran.err.contains("this is the file of a subagent"), "{}", ran.err);
    let ran = run(["convert", "-t", "claude", "-o", arg(&scratch.path("out")), arg(&scratch.path("chats"))]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let names = scratch.names("out");
    assert!(!names.iter().any(|name| name.contains("89379183")), "{names:?}");
    let ran = run(["check", arg(&path)]);
    assert!(
        ran.code == 0 && ran.text().contains("89379183-87b7-4d5c-a580-a2d2f8e2400c.jsonl: gemini:chat"),
        "{}",
        ran.text()
    );
}

/// Claude Code runs a skill as a subagent when it says so: nothing beside the subagent's file names the call, and what came of it names
/// the subagent.
#[test]
fn a_subagent_that_only_the_result_of_its_call_names_is_read_with_its_session() {
    let scratch = Scratch::new();
    let folder = "claude/s1/subagents";
    scratch.file("claude/s1.jsonl", golden("claude/transcript_agent.jsonl"));
    let child = golden("claude/transcript_agent.subagent.jsonl");
    scratch.file(&format!("{folder}/agent-a76fc01bc3551ad69.jsonl"), &child);
    scratch.file(
        &format!("{folder}/agent-a76fc01bc3551ad69.meta.json"),
        "{\"agentType\":\"general-purpose\",\"spawnDepth\":1}",
    );
    scratch.file(&format!("{folder}/agent-stranger.jsonl"), &child);
    let ran = run(["convert", "-t", "claude", arg(&scratch.path("claude/s1.jsonl"))]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("with its subagents in ") && !ran.err.contains("stranger"), "{}", ran.err);
    let (own, result) = of_subagent(ran.text());
    assert!(
        own.len() >= 2 && own.iter().all(|&line| line < result),
        "{own:?} before {result}: {}",
        ran.text()
    );
}

/// What stands in a pipe can be read once only: nobody looks into it for a session's id before.
#[cfg(unix)]
#[test]
fn a_pipe_that_is_named_as_a_file_is_read_whole() {
    for (log, format) in [("claude/cli_agent.out.jsonl", "claude"), ("gemini/chat_agent.jsonl", "gemini:chat")] {
        let shell = format!(
            "cat '{GOLDEN}{log}' | '{}' convert --from {format} --to {format} /dev/stdin",
            env!("CARGO_BIN_EXE_agentglot")
        );
        let out = std::process::Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(
            String::from_utf8(out.stdout).unwrap(),
            golden(log),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

/// What a subagent did stands below its call, counts with its session, and is part of what is compared.
#[test]
fn a_session_is_shown_counted_and_compared_with_its_subagents() {
    let scratch = kept();
    for file in ["claude/s1.jsonl", "qwen/chats/c1.jsonl"] {
        let path = scratch.path(file);
        let ran = run(["show", "--format", "json", arg(&path)]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let rows: Vec<serde_json::Value> = ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let call = rows.iter().position(|row| row["id"] == CALL).expect("the call is shown");
        let own: Vec<usize> = (0..rows.len()).filter(|&at| rows[at]["depth"] == 1).collect();
        assert!(own.len() >= 2 && own[0] == call + 1, "{file}: {own:?} below {call}");
        let ran = run(["show", "--format", "json", "--no-subagents", arg(&path)]);
        assert!(ran.code == 0 && !ran.text().contains("\"depth\":1"), "{}", ran.text());
        let rounds = |flags: &[&str]| -> u64 {
            let mut words = vec!["stats", "--json", arg(&path)];
            words.extend(flags);
            let ran = run(words);
            let said: serde_json::Value = serde_json::from_str(ran.text()).unwrap();
            assert_eq!(said["total"]["sessions"], 1, "{said}");
            said["total"]["rounds"].as_u64().unwrap()
        };
        assert!(rounds(&[]) > rounds(&["--no-subagents"]), "{file}");
        let alone = scratch.file("alone.jsonl", std::fs::read_to_string(&path).unwrap());
        assert_eq!(run(["diff", arg(&path), arg(&alone)]).code, 1);
        assert_eq!(run(["diff", "--no-subagents", arg(&path), arg(&alone)]).code, 0);
    }
    // Among a folder's files it is no session of its own, and its replies count once.
    let ran = run(["stats", "--json", arg(&scratch.path("claude"))]);
    let (whole, single) = (
        ran.text().to_owned(),
        run(["stats", "--json", arg(&scratch.path("claude/s1.jsonl"))]).text().to_owned(),
    );
    assert_eq!(whole, single);
    // Damage is told by the name of its own file, and the rest is shown.
    scratch.file(
        "claude/s1/subagents/agent-a.jsonl",
        golden("claude/transcript_agent.subagent.jsonl") + "{\"type\":\n",
    );
    let ran = run(["show", arg(&scratch.path("claude/s1.jsonl"))]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.text().lines().any(|line| line.contains("agent-a.jsonl:")), "{}", ran.text());
}

/// A folder of subagents that cannot be read is no empty one.
#[test]
fn a_folder_that_cannot_be_read_is_told() {
    let scratch = kept();
    let folder = scratch.path("claude/s1/subagents");
    std::fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let path = scratch.path("claude/s1.jsonl");
    for args in [
        &["convert", "-t", "claude", arg(&path)][..],
        &["stats", arg(&path)],
        &["show", arg(&path)],
    ] {
        let ran = run(args.iter().copied());
        assert_eq!(ran.code, 3, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("cannot be read: Too many levels"), "{args:?}: {}", ran.err);
        assert!(!ran.text().is_empty(), "{args:?}: the session itself is read");
    }
    assert_eq!(run(["convert", "-t", "claude", "--no-subagents", arg(&path)]).code, 0);
}
