use serde_json::json;
use tempfile::TempDir;

use super::*;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::PermissionMode;

fn room(files: &[(&str, &str)]) -> TempDir {
    let room = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(room.path().join("w")).unwrap();
    for (path, text) in files {
        let path = room.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    room
}

fn places(room: &TempDir, dialect: Dialect, sources: Option<&[&str]>) -> Places {
    let launch = Launch {
        setting_sources: sources.map(|names| names.iter().map(ToString::to_string).collect()),
        ..Launch::new(dialect)
    };
    let root = room.path().canonicalize().unwrap();
    let home = root.join("home").into_os_string();
    Places::of(&launch, crate::persona::of(dialect).settings, &root.join("w"), &|_| false, &|name| {
        (name == "HOME").then(|| home.clone())
    })
}

const FILES: &[(&str, &str)] = &[
    (
        "home/.claude/settings.json",
        r#"{"model":"user","env":{"A":"1","B":"1"},"permissions":{"allow":["Bash(make:*)"],"defaultMode":"acceptEdits"}}"#,
    ),
    (
        "w/.claude/settings.json",
        r#"{"outputStyle":"terse","env":{"B":2},"permissions":{"deny":["Read(.env)"],"additionalDirectories":["../more"]},"hooks":{"Stop":[]}}"#,
    ),
    ("w/.claude/settings.local.json", "{ broken"),
    ("w/.mcp.json", r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#),
    (
        "w/.claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: \"Reads: twice\"\ntools: Read, Grep\nmodel: inherit\n---\n\nYou review.\n",
    ),
    ("w/.claude/agents/bad.md", "no front matter"),
    (
        "home/.claude/agents/list.md",
        "---\ndescription: >\n  two\n  lines\ntools:\n  - Read\n  - Bash(ls)\nmodel: haiku\n---\nbody",
    ),
    (
        "w/.claude/commands/fix/issue.md",
        "---\ndescription: Fix it\nargument-hint: NUMBER\n---\nFix issue $1 of $ARGUMENTS for $5.",
    ),
    ("w/.claude/commands/plain.md", "# Do it\n\nnow"),
    ("w/CLAUDE.md", "x"),
];

#[test]
fn a_project_counts_when_it_is_asked_for() {
    let room = room(FILES);
    let mut asked = Settings::load(places(&room, Dialect::Claude, Some(&["user", "project", "local"])));
    assert_eq!(
        asked.layers.iter().map(|(source, _)| *source).collect::<Vec<_>>(),
        [Source::User, Source::Project]
    );
    assert_eq!((asked.model(), asked.output_style()), (Some("user"), Some("terse")));
    assert_eq!(asked.env(), [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
    assert_eq!(asked.hooks().len(), 1);
    assert_eq!(asked.mcp_servers()["mcpServers"].as_object().unwrap().len(), 2);
    assert_eq!(asked.problems.len(), 2, "{:?}", asked.problems);
    assert!(
        asked.problems[0].contains("settings.local.json is no JSON and is skipped"),
        "{:?}",
        asked.problems
    );

    let agents: Vec<(&str, &str, Option<&str>)> = asked
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), agent.description.as_str(), agent.model.as_deref()))
        .collect();
    assert_eq!(agents, [("list", "two lines", Some("haiku")), ("reviewer", "Reads: twice", None)]);
    assert_eq!(asked.agents[0].tools, Some(vec!["Read".to_owned(), "Bash(ls)".to_owned()]));
    assert_eq!(asked.agents[1].prompt, "You review.");
    let commands: Vec<(&str, &str, &str)> = asked
        .commands
        .iter()
        .map(|command| (command.name.as_str(), command.description.as_str(), command.hint.as_str()))
        .collect();
    assert_eq!(commands, [("fix:issue", "Fix it", "NUMBER"), ("plain", "Do it", "")]);
    assert_eq!(asked.commands[0].prompt_for(" 7 now "), "Fix issue 7 of 7 now for .");
    assert_eq!(asked.commands[1].prompt_for("x"), "# Do it\n\nnow\n\nARGUMENTS: x");

    let launch = Launch::new(Dialect::Claude);
    let (mut policy, _) = Policy::new(
        &launch,
        crate::persona::of(launch.format.dialect).vocabulary(),
        &asked.places().root,
        None,
        None,
    );
    assert!(asked.tell(&mut policy, &launch).is_empty());
    assert_eq!(policy.mode(), PermissionMode::AcceptEdits);
    assert_eq!(policy.folders().count(), 2);
    assert_eq!(policy.listed()["state"]["rules"].as_array().unwrap().len(), 2);
}

#[test]
fn a_project_that_nobody_trusts_says_nothing() {
    let room = room(FILES);
    for (sources, layers) in [(None, 2), (Some(&["user"][..]), 1)] {
        let mut unknown = Settings::load(places(&room, Dialect::Claude, sources));
        assert_eq!(unknown.layers.len(), layers);
        assert_eq!(unknown.env(), [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "1".to_owned())]);
        assert!(unknown.hooks().is_empty() && unknown.commands.is_empty() && unknown.agents.len() == 1);
        assert_eq!(unknown.mcp_servers(), json!({"mcpServers": {}}));
    }
    let none = Settings::load(places(&room, Dialect::Claude, Some(&[])));
    assert!(none.layers.is_empty() && none.agents.is_empty());
}

#[test]
fn of_a_project_that_nobody_trusts_only_what_is_harmless_counts() {
    let many: Vec<String> = (0..5000).map(|number| format!("Read(file-{number})")).collect();
    let all = json!({
        "outputStyle": "Explanatory", "model": "dear", "env": {"PATH": "/evil"}, "apiKeyHelper": "/evil", "disableAllHooks": true,
        "hooks": {"Stop": []}, "mcpServers": {"a": {"command": "x"}}, "statusLine": {"type": "command", "command": "x"},
        "permissions": {
            "allow": ["Bash"], "deny": many, "ask": ["Bash(make:*)", "x".repeat(5000), 7], "defaultMode": "bypassPermissions",
            "additionalDirectories": ["/"],
        },
    });
    let room = room(&[
        ("w/.claude/settings.json", &all.to_string()),
        ("w/.claude/output-styles/Mine.md", "Say what the project wants."),
        ("w/.claude/settings.local.json", r#"{"outputStyle": "Mine"}"#),
    ]);
    let settings = Settings::load(places(&room, Dialect::Claude, None));
    let expected = json!({"outputStyle": "Explanatory", "permissions": {"deny": many[..1000], "ask": ["Bash(make:*)"]}});
    assert_eq!(settings.layers[0], (Source::Project, expected));
    assert_eq!(
        (settings.style(), settings.style_prompt()),
        ("Mine", None),
        "the text of a stranger's style does not count"
    );
    let launch = Launch::new(Dialect::Claude);
    let (mut policy, _) = Policy::new(
        &launch,
        crate::persona::of(launch.format.dialect).vocabulary(),
        &settings.places().root,
        None,
        None,
    );
    settings.tell(&mut policy, &launch);
    assert_eq!((policy.mode(), policy.folders().count()), (PermissionMode::Ask, 1));
}

#[test]
fn settings_of_the_command_line_go_before_files() {
    let room = room(FILES);
    let mut places = places(&room, Dialect::Claude, Some(&["user"]));
    places.flag = Some(r#"{"model":"flag","disableAllHooks":true,"hooks":{"Stop":[]}}"#.to_owned());
    let settings = Settings::load(places.clone());
    assert_eq!(settings.model(), Some("flag"));
    assert!(settings.hooks().is_empty());
    places.flag = Some(".claude/settings.json".to_owned());
    assert_eq!(Settings::load(places.clone()).output_style(), Some("terse"));
    places.flag = Some("nowhere.json".to_owned());
    assert!(Settings::load(places).problems[0].contains("nowhere.json is not there"));
}

#[test]
fn other_dialects_have_files_of_their_own() {
    let room = room(&[
        (
            "home/.qwen/settings.json",
            r#"{"model":{"name":"q"},"tools":{"approvalMode":"auto-edit","exclude":["web_fetch"],"allowed":["run_shell_command(ls)"]}}"#,
        ),
        (
            "home/.cursor/cli-config.json",
            r#"{"permissions":{"allow":["Shell(ls)"],"deny":["Write(**/*.env)"]}}"#,
        ),
    ]);
    let qwen = Settings::load(places(&room, Dialect::QwenCode, None));
    assert_eq!(qwen.model(), Some("q"));
    let launch = Launch::new(Dialect::QwenCode);
    let (mut policy, _) = Policy::new(
        &launch,
        crate::persona::of(launch.format.dialect).vocabulary(),
        &qwen.places().root,
        None,
        None,
    );
    assert!(qwen.tell(&mut policy, &launch).is_empty());
    assert_eq!(
        (policy.mode(), policy.listed()["state"]["rules"].as_array().unwrap().len()),
        (PermissionMode::AcceptEdits, 2)
    );
    let cursor = Settings::load(places(&room, Dialect::Cursor, None));
    assert_eq!(cursor.layers.len(), 1);
    assert!(Settings::load(places(&room, Dialect::Tricode, None)).layers.is_empty());
}

#[test]
fn updates_are_written_to_their_file_and_to_no_other() {
    let room = room(&[("w/.claude/settings.local.json", "{\"z\":1,\"permissions\":{\"allow\":[\"Read\"]}}")]);
    let places = places(&room, Dialect::Claude, Some(&["local"]));
    let launch = Launch::new(Dialect::Claude);
    let (mut policy, _) = Policy::new(&launch, crate::persona::of(launch.format.dialect).vocabulary(), &places.root, None, None);
    let updates = json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "echo (a)"}, {"toolName": "Read"}], "behavior": "allow", "destination": "localSettings"},
        {"type": "addDirectories", "directories": ["/srv"], "destination": "userSettings"},
        {"type": "addRules", "rules": [{"toolName": "Write"}], "behavior": "allow", "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
        {"type": "nonsense"},
    ]);
    let updated = policy.update(&updates).unwrap();
    assert_eq!(updated.mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(updated.problems.len(), 2, "{:?}", updated.problems);
    assert_eq!(policy.folders().count(), 2);
    for (source, update) in &updated.keep {
        places.write(*source, update).unwrap();
    }
    let local = std::fs::read_to_string(places.file(Source::Local).unwrap()).unwrap();
    let local: Value = serde_json::from_str(&local).unwrap();
    assert_eq!(local, json!({"z": 1, "permissions": {"allow": ["Read", "Bash(echo \\(a\\))"]}}));
    assert!(places.file(Source::User).unwrap().exists() && !places.file(Source::Project).unwrap().exists());

    let remove = json!({"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "allow", "destination": "localSettings"});
    assert!(policy.update(&json!([remove])).unwrap().problems.is_empty());
    places.write(Source::Local, &remove).unwrap();
    let replace = json!({"type": "replaceRules", "rules": [], "behavior": "allow", "destination": "session"});
    policy.update(&json!([replace])).unwrap();
    assert_eq!(policy.listed()["state"]["rules"].as_array().unwrap().len(), 1);

    assert!(policy.update(&json!({"type": "addRules"})).is_err() && policy.update(&json!([{}])).is_err());
    let many: Vec<Value> = (0..5000).map(|_| json!({"type": "addRules", "rules": []})).collect();
    assert!(policy.update(&json!(many)).is_err());

    let damaged = places.file(Source::Project).unwrap();
    std::fs::write(&damaged, "{ broken").unwrap();
    assert!(places.write(Source::Project, &remove).unwrap_err().contains("no JSON"));
    assert_eq!(std::fs::read_to_string(&damaged).unwrap(), "{ broken");
    std::fs::remove_file(&damaged).unwrap();
    std::os::unix::fs::symlink("/nowhere/x", &damaged).unwrap();
    assert!(places.write(Source::Project, &remove).unwrap_err().contains("is a link"));
}
