//! Paths outside of the workspace: open to the one call that the host saw and allowed, and to nothing and nobody else.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::claude::{closed, hello, serve};
use crate::support::model::Answer;
use crate::support::play::{PRINT, Play, run, said};
use crate::support::stage::{CLAUDE, End, QWEN, user};

fn done() -> Answer {
    Answer::text("All done.")
}

fn write(path: impl AsRef<Path>) -> (&'static str, Value) {
    ("Write", json!({"file_path": path.as_ref(), "content": "written"}))
}

/// A model that makes these calls one after the other.
fn calling(calls: Vec<(&'static str, Value)>) -> Play {
    let mut answers: Vec<Answer> = calls.into_iter().map(|call| Answer::calls(&[call])).collect();
    answers.push(done());
    let play = Play::script(answers);
    std::fs::create_dir(play.base().join("out")).unwrap();
    play
}

/// Answers each question by a function of the request. Gives the requests, and the end.
fn asking(play: &Play, dialect: &str, args: &[&str], mut answer: impl FnMut(&Value) -> Value) -> (Vec<Value>, End) {
    let mut host = play.host(dialect, args);
    host.say(&hello(&[], &json!({}))).say(&user("go"));
    let mut asked = Vec::new();
    loop {
        let line = host.next(std::time::Duration::from_secs(30)).unwrap();
        if line["type"] == "result" {
            return (asked, closed(host));
        }
        if line["type"] == "control_request" && line["request"]["subtype"] == "can_use_tool" {
            let answer = answer(&line["request"]);
            asked.push(line["request"].clone());
            let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
            host.say(&json!({"type": "control_response", "response": response}).to_string());
        }
    }
}

fn allow(_: &Value) -> Value {
    json!({"behavior": "allow"})
}

#[test]
fn what_the_host_saw_and_allowed_runs_outside_of_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().canonicalize().unwrap();
    std::fs::write(out.join("note"), "a needle\n").unwrap();
    std::fs::create_dir(out.join("sub")).unwrap();
    std::fs::write(out.join("sub/deep"), "another needle\n").unwrap();
    let grep = |path: &Path| ("Grep", json!({"pattern": "needle", "path": path, "output_mode": "content"}));
    let play = calling(vec![
        write(out.join("new/file")),
        ("Read", json!({"file_path": out.join("note")})),
        (
            "Edit",
            json!({"file_path": out.join("note"), "old_string": "a needle", "new_string": "one needle"}),
        ),
        grep(&out),
        grep(&out.join("note")),
        ("Glob", json!({"pattern": "**/*", "path": out})),
    ]);
    let (asked, end) = asking(&play, "claude", CLAUDE, allow);
    assert_eq!(asked.len(), 6, "each call is asked about: {end:#?}");
    assert_eq!(std::fs::read_to_string(out.join("new/file")).unwrap(), "written", "{end:#?}");
    assert_eq!(std::fs::read_to_string(out.join("note")).unwrap(), "one needle\n", "{end:#?}");
    let all = play.server.asked();
    let told: Vec<String> = all.iter().skip(2).map(|asked| asked.last().to_string()).collect();
    assert!(told[0].contains("a needle"), "{told:#?}");
    assert!(told[2].contains("one needle") && told[2].contains("another needle"), "{told:#?}");
    assert!(told[3].contains("one needle") && !told[3].contains("another"), "{told:#?}");
    assert!(told[4].contains("sub/deep"), "{told:#?}");
    // A denied call does not.
    let play = calling(vec![write(out.join("denied"))]);
    asking(&play, "claude", CLAUDE, |_| json!({"behavior": "deny", "message": "no"}));
    assert!(!out.join("denied").exists());
}

#[test]
fn a_host_of_qwen_code_opens_what_it_allows() {
    let play = calling(vec![]);
    let file = play.base().join("out/file");
    let call = ("write_file", json!({"file_path": file, "content": "written"}));
    let play = play.served(crate::support::model::Server::script(vec![Answer::calls(&[call]), done()]));
    let (asked, end) = asking(&play, "qwen-code", QWEN, allow);
    assert_eq!(asked.len(), 1, "{end:#?}");
    assert!(file.exists(), "{end:#?}");
}

#[test]
fn only_the_path_that_the_host_answered_with_is_open() {
    let play = calling(vec![write("/nowhere/asked"), write("/nowhere/asked"), write("/nowhere/asked")]);
    let out = play.base().join("out");
    symlink(&out, play.base().join("link")).unwrap();
    let denied = play.base().join("denied");
    std::fs::create_dir(&denied).unwrap();
    let instead = [out.join("answered"), play.base().join("link/through"), denied.join("file")];
    let mut paths = instead.iter();
    let rule = format!("Edit(/{}/**)", denied.display());
    let (asked, end) = asking(
        &play,
        "claude",
        &[CLAUDE, &["--disallowedTools", &rule]].concat(),
        |_| json!({"behavior": "allow", "updatedInput": {"file_path": paths.next(), "content": "changed"}}),
    );
    assert_eq!(asked.len(), 3, "{end:#?}");
    assert_eq!(std::fs::read_to_string(out.join("answered")).unwrap(), "changed", "{end:#?}");
    assert!(!out.join("through").exists(), "through a link that nobody told the host of: {end:#?}");
    assert!(!instead[2].exists(), "a rule that denies holds: {end:#?}");
}

#[test]
fn the_host_is_told_where_a_link_leads_and_nothing_else_is_open() {
    for (dialect, args, tool) in [("claude", CLAUDE, "Write"), ("qwen-code", QWEN, "write_file")] {
        let call = (tool, json!({"file_path": "link/file", "content": "written"}));
        let play = calling(vec![call.clone(), call]);
        let (out, link) = (play.base().join("out"), play.path("link"));
        let elsewhere = play.base().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        symlink(&out, &link).unwrap();
        let mut number = 0;
        let (asked, end) = asking(&play, dialect, args, |asked| {
            number += 1;
            if number == 2 {
                // While the question stands.
                std::fs::remove_file(&link).unwrap();
                symlink(&elsewhere, &link).unwrap();
            }
            json!({"behavior": "allow", "updatedInput": asked["input"]})
        });
        assert_eq!(asked[0]["blocked_path"], json!(out.join("file")), "{asked:#?}");
        assert!(out.join("file").exists(), "{dialect}: {end:#?}");
        assert_eq!(asked.len(), 2, "{dialect}: {end:#?}");
        assert!(!elsewhere.join("file").exists(), "{dialect}: {end:#?}");
    }
}

#[test]
fn a_link_of_which_the_host_is_not_told_stays_closed() {
    let play = calling(vec![]);
    let out = play.base().join("out");
    symlink(&out, play.path("link")).unwrap();
    let write = |path: String| ("write_file", json!({"file_path": path, "content": "written"}));
    let calls = [write("link/through".to_owned()), write(out.join("named").display().to_string())];
    let mut answers: Vec<Answer> = calls.into_iter().map(|call| Answer::calls(&[call])).collect();
    answers.push(done());
    let play = play.served(crate::support::model::Server::script(answers));
    let mut host = play.host("qwen", QWEN);
    host.say(&json!({"model": "m", "input": {"origin": "user", "parts": [{"type": "text", "text": "go"}]}}).to_string());
    loop {
        let line = host.next(std::time::Duration::from_secs(30)).unwrap();
        if line["type"] == "control_request" {
            let response = json!({"subtype": "success", "request_id": line["request_id"], "response": {"behavior": "approve"}});
            host.say(&json!({"type": "control_response", "response": response}).to_string());
        }
        if line["metadata"]["summary"] == "true" {
            break;
        }
    }
    let end = closed(host);
    assert!(out.join("named").exists(), "{end:#?}");
    assert!(
        !out.join("through").exists(),
        "the RFC's question has no place for where a link leads: {end:#?}"
    );
}

#[test]
fn no_rule_mode_or_hook_opens_the_wall() {
    let settings = |play: &Play| {
        let hook = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
        std::fs::write(play.path("hook.json"), hook.to_string()).unwrap();
        let request = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
        std::fs::write(play.path("request.json"), request.to_string()).unwrap();
    };
    let hooks = |moment: &str, file: &str| {
        let hook = json!([{"hooks": [{"type": "command", "command": format!("cat {file}")}]}]);
        json!({"hooks": {moment: hook}}).to_string()
    };
    let (before, request) = (hooks("PreToolUse", "hook.json"), hooks("PermissionRequest", "request.json"));
    let asks: &[&str] = &["-p", "--verbose", "--output-format", "stream-json"];
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("bypass", &[], PRINT),
        (
            "a rule",
            &[],
            &["-p", "--verbose", "--output-format", "stream-json", "--allowedTools", "Write", "--"],
        ),
        (
            "a hook",
            &[],
            &["-p", "--verbose", "--output-format", "stream-json", "--settings", &before],
        ),
        (
            "a hook that answers questions",
            &[],
            &["-p", "--verbose", "--output-format", "stream-json", "--settings", &request],
        ),
        ("--on-ask", &["--on-ask", "Write"], asks),
        ("a command", &["--on-ask", "command:true"], asks),
    ];
    for (what, ours, theirs) in cases {
        let play = Play::new(|asked, number| match number {
            0 => Answer::calls(&[write(format!(
                "{}/../out/file",
                asked.system().split("folder ").nth(1).unwrap().split(' ').next().unwrap()
            ))]),
            _ => done(),
        });
        std::fs::create_dir(play.base().join("out")).unwrap();
        settings(&play);
        let plain = play.command("claude", &[theirs, &["go"][..]].concat());
        let mut command = std::process::Command::new(plain.get_program());
        command.args(plain.get_args().take(1)).args(*ours).args(plain.get_args().skip(1));
        command.env_clear().current_dir(play.path(""));
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let end = run(command);
        assert!(said(&end).contains("outside the workspace"), "{what}: {end:#?}");
        assert!(!play.base().join("out/file").exists(), "{what}: {end:#?}");
    }
    // A host's own hook is one too.
    let play = calling(vec![]);
    let file = play.base().join("out/file");
    let play = play.served(crate::support::model::Server::script(vec![Answer::calls(&[write(&file)]), done()]));
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&["PreToolUse"], &json!({}))).say(&user("go"));
    serve(
        &mut host,
        1,
        |_| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
    );
    let end = closed(host);
    assert!(said(&end).contains("outside the workspace") && !file.exists(), "{end:#?}");
}
