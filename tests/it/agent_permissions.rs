//! What the built-in agent runs where nobody can be asked.

use serde_json::json;

use crate::support::claude::bash;
use crate::support::model::Answer;
use crate::support::play::{ONE, PRINT, Play, said};

/// Claude's program without permission for anything.
const ASKS: &[&str] = &["-p", "--verbose", "--output-format", "stream-json"];

fn done() -> Answer {
    Answer::text("All done.")
}

#[test]
fn what_must_be_asked_and_cannot_be_is_denied_where_everything_runs() {
    let touching = "{\"permissions\": {\"ask\": [\"Bash(touch:*)\"], \"deny\": [\"Bash(mkdir:*)\", \"Read(.env)\"]}}";
    for (command, runs) in [
        ("printf ok > ran", true),
        ("touch ran", false),
        ("printf ok > ran; touch x", false),
        ("printf ok > ran; t={touch,x}; $t", false),
        ("printf ok > ran; $(echo touch) x", false),
        ("printf ok > ran; {touch,x}", false),
        ("printf ok > ran; echo $(mkdir x)", false),
        ("printf ok > ran; echo bWtkaXIgeA== | base64 -d | sh", false),
        ("cat .env > ran", false),
        ("cat .e* > ran", false),
    ] {
        let play = Play::script(vec![Answer::calls(&[bash(command)]), done()]);
        std::fs::write(play.path(".env"), "KEY=x\n").unwrap();
        let end = play.one("claude", &[PRINT, &["--settings", touching, "--"]].concat(), "go");
        assert_eq!(play.path("ran").exists(), runs, "{command}: {end:#?}");
        assert_eq!(
            end.result()["permission_denials"].as_array().map(Vec::len),
            Some(usize::from(!runs)),
            "{command}: {end:#?}"
        );
    }
    // Without rules bypass is what it says.
    for (dialect, args) in ONE {
        let (tool, input) = match *dialect {
            "claude" => ("Bash", json!({"command": "$(echo touch) ran"})),
            "tricode" => ("run_command", json!({"command": "$(echo touch) ran"})),
            "cursor" => ("shell", json!({"command": "$(echo touch) ran"})),
            _ => ("run_shell_command", json!({"command": "$(echo touch) ran", "is_background": false})),
        };
        let mut answers = vec![Answer::calls(&[(tool, input)]), done()];
        if *dialect == "tricode" {
            answers.insert(0, Answer::calls(&[("plan", json!({"action": "skip", "reason": "one step"}))]));
        }
        let play = Play::script(answers);
        let end = play.one(dialect, args, "go");
        assert!(play.path("ran").exists(), "{dialect}: {end:#?}");
    }
}

#[test]
fn the_folder_of_a_command_is_where_it_is_judged() {
    let secret = |play: &Play| {
        std::fs::create_dir_all(play.base().join("out")).unwrap();
        std::fs::write(play.base().join("out/secret.txt"), "a-secret").unwrap();
        std::fs::create_dir_all(play.path("sub")).unwrap();
        std::fs::write(play.path("sub/open.txt"), "an-open-word").unwrap();
        std::os::unix::fs::symlink(play.base().join("out"), play.path("link")).unwrap();
    };
    let modes: [(&str, &str, &str, &[&str]); 4] = [
        (
            "cursor",
            "shell",
            "workingDirectory",
            &["-p", "--trust", "--output-format", "stream-json"],
        ),
        (
            "cursor",
            "shell",
            "workingDirectory",
            &["-p", "--trust", "--mode", "plan", "--output-format", "stream-json"],
        ),
        (
            "qwen-code",
            "run_shell_command",
            "directory",
            &["--allowed-tools", "run_shell_command(cat)", "--output-format", "stream-json", "-p"],
        ),
        (
            "qwen-code",
            "run_shell_command",
            "directory",
            &[
                "--approval-mode",
                "auto-edit",
                "--allowed-tools",
                "run_shell_command(cat)",
                "--output-format",
                "stream-json",
                "-p",
            ],
        ),
    ];
    for (dialect, tool, name, args) in modes {
        for (folder, file, reads) in [
            ("sub", "open.txt", true),
            ("link", "secret.txt", false),
            ("../out", "secret.txt", false),
            ("sub/../../out", "secret.txt", false),
        ] {
            let play = Play::new(move |_, number| match number {
                0 => Answer::calls(&[(tool, json!({"command": format!("cat {file}"), name: folder, "is_background": false}))]),
                _ => done(),
            });
            secret(&play);
            let end = play.one(dialect, args, "go");
            let told = play.server.asked().iter().map(|asked| asked.all().to_string()).collect::<String>();
            assert_eq!(told.contains("an-open-word"), reads, "{dialect} {args:?} {folder}: {end:#?}");
            assert!(!told.contains("a-secret"), "{dialect} {args:?} {folder}: {end:#?}");
        }
    }
    // Claude's shell stays where the last command went.
    let play = Play::script(vec![
        Answer::calls(&[bash("cd sub")]),
        Answer::calls(&[bash("cat open.txt")]),
        Answer::calls(&[bash("cat ../../out/secret.txt")]),
        Answer::calls(&[bash("cat ../link/secret.txt")]),
        Answer::calls(&[bash("cd ../link && cat secret.txt")]),
        done(),
    ]);
    secret(&play);
    let end = play.one("claude", ASKS, "go");
    assert!(said(&end).contains("an-open-word"), "{end:#?}");
    assert!(!said(&end).contains("a-secret"), "{end:#?}");
    assert_eq!(end.result()["permission_denials"].as_array().map(Vec::len), Some(3), "{end:#?}");
}

/// A hook answers questions. What a rule denies, or wants a person to say, is none of its.
#[test]
fn a_hook_that_allows_lifts_no_rule() {
    let allows = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}).to_string();
    let settings = json!({
        "permissions": {"deny": ["Bash(touch denied*)"], "ask": ["Bash(touch asked*)"]},
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": format!("echo '{allows}'")}]}]},
    });
    let lines = [
        ("touch free", true),
        ("touch free-$(echo 2)", false),
        ("mkdir free-3 && ls > free-3/x", true),
        ("touch asked", false),
        ("touch denied", false),
        ("t=touch; $t asked-2", false),
        ("eval \"$(echo touch) denied-2\"", false),
    ];
    let calls: Vec<_> = lines
        .iter()
        .map(|(line, _)| ("Bash", json!({"command": line, "description": "x"})))
        .collect();
    for mode in ["default", "acceptEdits", "bypassPermissions"] {
        let play = Play::script(vec![Answer::calls(&calls), Answer::text("All done.")]);
        let args = [
            "-p",
            "--verbose",
            "--output-format",
            "stream-json",
            "--permission-mode",
            mode,
            "--settings",
            &settings.to_string(),
        ];
        let end = play.one("claude", &args, "go");
        assert_eq!(end.result()["result"], "All done.", "{end:#?}");
        let denied: Vec<&str> = end.result()["permission_denials"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|denied| denied["tool_input"]["command"].as_str())
            .collect();
        let wanted: Vec<&str> = lines.iter().filter(|(_, runs)| !runs).map(|(line, _)| *line).collect();
        assert_eq!(denied, wanted, "{mode}: {end:#?}");
        let made = |name: &str| play.path(name).exists();
        assert!(made("free") && made("free-3/x"), "{mode}");
        assert!(
            !["asked", "denied", "asked-2", "denied-2", "free-2"].iter().any(|name| made(name)),
            "{mode}"
        );
    }
}
