//! Flags by which a host keeps the built-in agent from something: it is kept from that, or does not begin.

use serde_json::{Value, json};

use crate::common::skipped;
use crate::support::model::{Answer, Asked};
use crate::support::play::{PRINT, Play, run};
use crate::support::stage::End;

/// A folder of settings with one of each kind, the user's or the project's.
fn fill(play: &Play, folder: &str, whose: &str) {
    let ran = play.at(&format!("ran-{whose}"));
    let settings = json!({
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": format!("touch {ran}")}]}]},
        "permissions": {"defaultMode": "acceptEdits"},
        "mcpServers": {format!("server-{whose}"): {"command": "/bin/false"}},
    });
    let base = play.base().join(folder);
    for (name, text) in [
        ("settings.json", settings.to_string()),
        ("CLAUDE.md", format!("memory-{whose}")),
        (
            &format!("agents/agent-{whose}.md"),
            format!("---\nname: agent-{whose}\ndescription: d\n---\nx"),
        ),
        (&format!("commands/command-{whose}.md"), "Do it.".to_owned()),
        (
            &format!("skills/skill-{whose}/SKILL.md"),
            format!("---\nname: skill-{whose}\ndescription: d\n---\nx"),
        ),
    ] {
        let path = base.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// A run of Claude's in a project that it trusts, with settings of every kind.
fn restricted(flags: &[&str]) -> (Play, End) {
    let play = Play::script(vec![Answer::text("Done.")]);
    fill(&play, "home/.claude", "user");
    fill(&play, "work/.claude", "project");
    let args: Vec<&str> = PRINT.iter().filter(|flag| !flag.starts_with("--dangerously")).copied().collect();
    let servers = r#"{"mcpServers": {"server-flag": {"command": "/bin/false"}}}"#;
    let more = ["--setting-sources", "user,project,local", "--mcp-config", servers];
    let end = play.one("claude", &[&args, &more[..], flags, &["--"]].concat(), "go");
    (play, end)
}

/// What there is of each kind: tools, subagents, skills, commands, MCP servers, and the mode.
fn facts(end: &End) -> Value {
    let init = end
        .lines
        .iter()
        .find(|line| line["subtype"] == "init")
        .unwrap_or_else(|| panic!("no init: {end:#?}"));
    let ours = |member: &str| -> Vec<String> {
        let all = init[member].as_array().cloned().unwrap_or_default();
        let names = all.iter().filter_map(|one| one.as_str().or_else(|| one["name"].as_str()));
        let marks = ["agent-", "command-", "skill-", "server-"];
        let mut names: Vec<String> = names
            .filter(|name| marks.iter().any(|mark| name.starts_with(mark)))
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    };
    json!({
        "agents": ours("agents"), "skills": ours("skills"), "commands": ours("slash_commands"), "servers": ours("mcp_servers"),
        "mode": init["permissionMode"],
    })
}

/// Those of the tools that the model is told of, in the order of the alphabet.
fn only(asked: &Asked, names: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = asked.tools().into_iter().filter(|tool| names.contains(&tool.as_str())).collect();
    found.sort();
    found
}

#[test]
fn claude_s_flags_that_keep_the_agent_from_something_do() {
    const LOOKED_FOR: &[&str] = &["Bash", "Edit", "NotebookEdit", "Read", "Write", "WebFetch", "Skill"];
    let both = |kind: &str| json!([format!("{kind}-project"), format!("{kind}-user")]);
    let all = json!({
        "agents": both("agent"), "skills": both("skill"),
        "commands": ["command-project", "command-user", "skill-project", "skill-user"],
        "servers": ["server-flag", "server-project", "server-user"], "mode": "acceptEdits",
    });
    let changed = |changes: Value| {
        let mut all = all.clone();
        let changes = changes.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(changes);
        all
    };
    let none = json!({"agents": [], "skills": [], "commands": [], "servers": ["server-flag"]});
    let bare = changed(none.clone());
    let safe = changed(json!({"agents": [], "skills": [], "commands": [], "servers": []}));
    let mut closed = changed(none);
    closed["mode"] = "default".into();
    let quiet = changed(json!({"skills": [], "commands": []}));
    for (flags, wanted, tools, is_added) in [
        (&[][..], &all, &["Bash", "Edit", "NotebookEdit", "Read", "Skill", "Write"][..], true),
        (&["--bare"], &bare, &["Bash", "Edit", "Read"], false),
        (&["--bare", "--tools", "Read,Write"], &bare, &["Read", "Write"], false),
        (&["--safe-mode"], &safe, &["Bash", "Edit", "NotebookEdit", "Read", "Write"], false),
        (
            &["--restricted", "--allowedTools", "WebFetch"],
            &closed,
            &["Edit", "NotebookEdit", "Read", "Write"],
            false,
        ),
        (&["--restricted", "--tools", "Bash,Read"], &closed, &["Bash", "Read"], false),
        (
            &["--disable-slash-commands"],
            &quiet,
            &["Bash", "Edit", "NotebookEdit", "Read", "Write"],
            true,
        ),
    ] {
        let (play, end) = restricted(flags);
        assert_eq!(end.code(), 0, "{flags:?}: {end:#?}");
        assert_eq!(&facts(&end), wanted, "{flags:?}");
        let asked = &play.server.asked()[0];
        assert_eq!(only(asked, LOOKED_FOR), tools, "{flags:?}");
        for whose in ["user", "project"] {
            assert_eq!(
                asked.all().contains(&format!("memory-{whose}")),
                is_added,
                "{flags:?}: memory of the {whose}"
            );
            assert_eq!(play.path(&format!("ran-{whose}")).exists(), is_added, "{flags:?}: hook of the {whose}");
        }
    }
}

#[test]
fn a_restricted_session_never_lets_everything_run() {
    let play = Play::script(vec![Answer::text("Done.")]);
    let end = play.one("claude", &[PRINT, &["--restricted"]].concat(), "go");
    assert!(end.code() == 1 && end.lines.is_empty(), "{end:#?}");
    assert!(end.stderr.contains("bypassPermissions not supported in restricted mode"), "{end:#?}");
    let mut host = play.host(
        "claude",
        &[crate::support::stage::CLAUDE, &["--restricted", "--allow-dangerously-skip-permissions"]].concat(),
    );
    host.say(r#"{"type":"control_request","request_id":"m","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}"#);
    let answer = loop {
        let line = host.next(std::time::Duration::from_secs(30)).unwrap();
        if line["type"] == "control_response" {
            break line["response"].clone();
        }
    };
    assert_eq!(answer["subtype"], "error", "{answer}");
    host.close();
    host.end();
}

#[test]
fn what_an_agent_cannot_be_kept_from_is_refused() {
    for (dialect, args, flag) in [
        ("claude", &["-p", "--worktree", "--"][..], "--worktree"),
        ("claude", &["-p", "-w", "mine"], "-w"),
        ("qwen-code", &["--worktree", "mine", "-p"], "--worktree"),
        ("cursor", &["-p", "--trust", "--worktree=mine"], "--worktree"),
        ("gemini", &["--policy", "rules.toml", "-p"], "--policy"),
        ("codex", &["exec", "--json", "--skip-git-repo-check", "--worktree"], "--worktree"),
        ("codex", &["exec", "--json", "--skip-git-repo-check", "-p", "mine"], "-p"),
        ("claude", &["-p", "--managed-settings", "{}", "--"], "--managed-settings"),
        ("qwen-code", &["--proxy", "http://127.0.0.1:1", "-p"], "--proxy"),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let end = play.one(dialect, args, "go");
        assert_ne!(end.code(), 0, "{dialect}: {end:#?}");
        assert!(play.server.asked().is_empty(), "{dialect}: the model was asked");
        let said = format!("{flag} is nothing that the built-in agent can do");
        assert!(end.stderr.contains(&said), "{dialect}: {end:#?}");
    }
}

#[test]
fn only_the_named_mcp_servers_are_there() {
    let file = |name: &str| json!({"command": "/bin/false", "args": [name]});
    let settings = json!({"mcpServers": {"a": file("a"), "b": file("b"), "c": file("c")}}).to_string();
    for (flags, wanted) in [
        (&[][..], &["a", "b", "c"][..]),
        (&["--allowed-mcp-server-names", "a,c"], &["a", "c"]),
        (&["--allowed-mcp-server-names", "b"], &["b"]),
        (&["--safe-mode"], &[]),
        (&["--no-safe-mode"], &["a", "b", "c"]),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        std::fs::create_dir_all(play.base().join("home/.qwen")).unwrap();
        std::fs::write(play.base().join("home/.qwen/settings.json"), &settings).unwrap();
        let end = play.one("qwen-code", &[flags, &["--output-format", "stream-json", "-p"]].concat(), "go");
        let init = end.lines.iter().find(|line| line["subtype"] == "init").unwrap();
        let servers = init["mcp_servers"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> = servers.iter().filter_map(|server| server["name"].as_str()).collect();
        assert_eq!(names, wanted, "{flags:?}");
    }
}

#[test]
fn a_sandbox_keeps_commands_in_the_workspace() {
    // The folders for temporary files are open, and the home of this test may lie in one: another place is needed.
    let Some(outside) = std::env::home_dir().filter(|home| !home.starts_with("/tmp") && !home.starts_with(std::env::temp_dir())) else {
        return skipped("a sandbox", "the home lies in a folder for temporary files");
    };
    let Ok(outside) = tempfile::Builder::new().prefix(".agentglot-test-").tempdir_in(outside) else {
        return skipped("a sandbox", "the home cannot be written");
    };
    let made = outside.path().join("made");
    for (flag, is_kept) in [("--sandbox", true), ("-s", true), ("--no-sandbox", false)] {
        let command = format!("echo in > made; echo out > {}", made.display());
        let call = ("run_shell_command", json!({"command": command, "is_background": false}));
        let play = Play::script(vec![Answer::calls(&[call]), Answer::text("Done.")]);
        let end = run(play.command("qwen-code", &[flag, "--output-format", "stream-json", "--yolo", "-p", "go"]));
        if end.stderr.contains("commands cannot be confined") {
            assert!(!made.exists() && end.code() != 0, "{end:#?}");
            return skipped("a sandbox", "no Landlock here");
        }
        assert_eq!(end.code(), 0, "{end:#?}");
        assert!(play.path("made").exists(), "{end:#?}");
        assert_eq!(made.exists(), !is_kept, "{flag}: {end:#?}");
    }
}

#[test]
fn a_session_that_is_to_be_safe_has_no_subagents_of_the_command_line() {
    let agents = r#"{"reviewer": {"description": "d", "prompt": "p", "tools": ["Read"]}}"#;
    for (flags, is_there) in [(&[][..], true), (&["--safe-mode"], false)] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let end = play.one("claude", &[PRINT, &["--agents", agents], flags].concat(), "go");
        let init = end.lines.iter().find(|line| line["subtype"] == "init").unwrap();
        let names = init["agents"].as_array().unwrap();
        assert_eq!(names.contains(&json!("reviewer")), is_there, "{flags:?}: {init}");
    }
    // Nobody runs without what the subagent was limited to.
    let play = Play::script(vec![Answer::text("Done.")]);
    let args = [PRINT, &["--safe-mode", "--agents", agents, "--agent", "reviewer"]].concat();
    let end = play.one("claude", &args, "go");
    assert!(end.code() != 0 && play.server.asked().is_empty(), "{end:#?}");
    assert!(end.stderr.contains("--agent 'reviewer' not found"), "{end:#?}");
}

#[test]
fn codex_has_no_tool_of_a_feature_that_is_switched_off() {
    const RUN: &[&str] = &["exec", "--json", "--skip-git-repo-check"];
    for (flags, is_there) in [
        (&[][..], true),
        (&["--disable", "shell_tool"], false),
        (&["-c", "features.shell_tool=false"], false),
        (&["-c", "features.shell_tool=true", "--disable", "memories"], true),
        (&["--ignore-user-config", "--ignore-rules"], true),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let end = play.one("codex", &[RUN, flags].concat(), "go");
        assert_eq!(end.code(), 0, "{flags:?}: {end:#?}");
        let tools = play.server.asked()[0].tools();
        assert_eq!(tools.contains(&"shell_command".to_owned()), is_there, "{flags:?}: {tools:?}");
    }
}

#[test]
fn a_model_of_this_machine_is_no_other() {
    let run_with = |url: Option<&str>| {
        let play = Play::script(vec![Answer::text("Done.")]);
        let mut command = play.command("codex", &["exec", "--json", "--skip-git-repo-check", "--oss", "go"]);
        if let Some(url) = url {
            command.env("OPENAI_BASE_URL", url);
        }
        run(command)
    };
    assert_eq!(run_with(None).code(), 0);
    let end = run_with(Some("http://model.invalid/v1"));
    assert_ne!(end.code(), 0, "{end:#?}");
    assert!(
        end.stderr
            .contains("--oss wants a model on this machine, and http://model.invalid/v1 is elsewhere"),
        "{end:#?}"
    );
}

#[test]
fn settings_of_the_project_can_be_left_out() {
    for (flags, is_there) in [(&[][..], true), (&["--disable-project-configs"], false)] {
        let play = Play::script(vec![Answer::text("Done.")]);
        std::fs::write(play.path("AGENTS.md"), "words-of-the-project").unwrap();
        let end = play.one("cursor", &[&["-p", "--trust"], flags].concat(), "go");
        assert_eq!(end.code(), 0, "{end:#?}");
        assert_eq!(play.server.asked()[0].all().contains("words-of-the-project"), is_there, "{flags:?}");
    }
}

#[test]
fn a_list_of_tools_means_no_others() {
    const LOOKED_FOR: &[&str] = &[
        "read_file",
        "glob",
        "grep_search",
        "list_directory",
        "edit",
        "write_file",
        "notebook_edit",
        "run_shell_command",
        "Read",
        "Edit",
        "Write",
        "NotebookEdit",
        "Bash",
        "Glob",
        "Grep",
    ];
    for (dialect, flag, list, wanted) in [
        ("qwen-code", "--core-tools", "edit", "edit"),
        ("qwen-code", "--core-tools", "Edit", "edit"),
        ("qwen-code", "--core-tools", "EditTool", "edit"),
        ("qwen-code", "--core-tools", "read_file", "read_file"),
        ("qwen-code", "--core-tools", "ReadFileTool", "read_file"),
        ("qwen-code", "--core-tools", "NotebookEdit", "notebook_edit"),
        ("qwen-code", "--core-tools", "Bash", "run_shell_command"),
        ("claude", "--tools", "Edit", "Edit"),
        ("claude", "--tools", "NotebookEdit", "NotebookEdit"),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let everything = if dialect == "claude" {
            "--dangerously-skip-permissions"
        } else {
            "--yolo"
        };
        let end = play.one(dialect, &[flag, list, everything, "-p"], "go");
        assert_eq!(end.code(), 0, "{list}: {end:#?}");
        assert_eq!(only(&play.server.asked()[0], LOOKED_FOR), [wanted], "{dialect} {list}");
    }
}
