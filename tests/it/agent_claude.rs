//! What the hosts of Claude Code take for granted of the built-in agent: what its SDKs' own end-to-end tests ask for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::claude::{BASH, bash, called, closed, hello, serve};
use crate::support::model::{Answer, Server};
use crate::support::play::{PRINT, Play, run};
use crate::support::stage::{CLAUDE, request, user};

fn ok() -> Answer {
    Answer::text("OK")
}

/// The answer to a request of the host's.
fn answer<'l>(lines: &'l [Value], id: &str) -> &'l Value {
    let answer = lines.iter().find(|line| line["response"]["request_id"] == id);
    &answer.unwrap_or_else(|| panic!("no answer to {id}: {lines:#?}"))["response"]
}

fn init(lines: &[Value]) -> &Value {
    lines.iter().find(|line| line["subtype"] == "init").expect("the turn begins with init")
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let all = list.as_array().unwrap().iter();
    all.map(|one| if key.is_empty() { one } else { &one[key] }.as_str().unwrap().to_owned())
        .collect()
}

/// A file of the workspace.
fn put(play: &Play, name: &str, text: &str) {
    let path = play.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_handshake_and_init_tell_the_same() {
    let play = Play::script(vec![ok()]);
    let write = |name: &str, text: &str| put(&play, name, text);
    write(
        ".claude/commands/fix.md",
        "---\ndescription: Fixes it\nargument-hint: <file>\n---\nFix $ARGUMENTS.",
    );
    write(".claude/agents/look.md", "---\nname: look\ndescription: Looks.\n---\nLook.");
    write(
        ".claude/output-styles/terse.md",
        "---\nname: Terse\ndescription: Few words\n---\nAnswer in one word.",
    );
    write(".claude/settings.local.json", r#"{"outputStyle": "Terse"}"#);
    let sources = |which| [BASH, &["--setting-sources", which]].concat();
    let mut host = play.host("claude", &sources("user,project,local"));
    host.say(&hello(&[], &json!({"agents": {"mine": {"description": "Mine.", "prompt": "Be mine."}}})));
    host.say(&user("go"));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let (told, init) = (&answer(&end.lines, "hello")["response"], init(&end.lines));
    assert_eq!(names(&told["commands"], "name"), names(&init["slash_commands"], ""));
    let fix = told["commands"]
        .as_array()
        .unwrap()
        .iter()
        .find(|command| command["name"] == "fix")
        .unwrap();
    assert_eq!((&fix["description"], &fix["argumentHint"]), (&json!("Fixes it"), &json!("<file>")));
    assert!(names(&told["commands"], "description").iter().all(|text| !text.is_empty()));
    assert_eq!(names(&told["agents"], "name"), names(&init["agents"], ""));
    assert!(
        ["mine", "look", "general-purpose"]
            .iter()
            .all(|name| names(&init["agents"], "").contains(&(*name).to_owned()))
    );
    assert_eq!((&told["output_style"], &init["output_style"]), (&json!("Terse"), &json!("Terse")));
    assert_eq!(
        names(&told["available_output_styles"], ""),
        ["default", "Explanatory", "Learning", "Terse"]
    );
    assert!(play.server.asked()[0].system().contains("Answer in one word."));
    // What is not named does not count.
    let play = play.served(Server::script(vec![ok(), ok()]));
    for which in ["", "user"] {
        let mut host = play.host("claude", &sources(which));
        host.say(&hello(&[], &json!({}))).say(&user("go"));
        serve(&mut host, 1, |_| json!({}));
        let end = closed(host);
        let told = self::init(&end.lines);
        assert_eq!(told["output_style"], "default", "{which}");
        assert!(!names(&told["slash_commands"], "").contains(&"fix".to_owned()), "{which}");
    }
}

#[test]
fn of_a_project_nobody_trusts_the_style_counts_by_its_name() {
    for (name, prompt) in [
        ("local-test-style", None),
        ("Explanatory", Some("# Output style: Explanatory")),
        ("Mine", None),
    ] {
        let play = Play::script(vec![ok()]);
        put(
            &play,
            ".claude/settings.local.json",
            &json!({"outputStyle": name, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}).to_string(),
        );
        put(&play, ".claude/output-styles/Mine.md", "Do as the project says.");
        let mut host = play.host("claude", BASH);
        host.say(&hello(&[], &json!({}))).say(&user("go"));
        serve(&mut host, 1, |_| json!({}));
        let end = closed(host);
        assert_eq!(init(&end.lines)["output_style"], name);
        let system = play.server.asked()[0].system();
        assert_eq!(system.contains("# Output style"), prompt.is_some(), "{name}: {system}");
        assert!(
            prompt.is_none_or(|text| system.contains(text)) && !system.contains("as the project says"),
            "{name}: {system}"
        );
        assert!(!play.path("ran").exists(), "{name}");
    }
}

#[test]
fn models_have_the_names_that_hosts_call_them() {
    let asked = |api: &str, args: &[&str], file: &str, set: bool| {
        let play = Play::script(vec![ok()]);
        let config = play.base().join("home/.claude");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("settings.json"), file).unwrap();
        let mut command = play.command_of(api, "claude", &[PRINT, args, &["go"]].concat());
        if !set {
            command.env_remove("ANTHROPIC_MODEL").env_remove("OPENAI_MODEL");
        }
        command.env("ANTHROPIC_DEFAULT_OPUS_MODEL", "claude-opus-of-ours");
        run(command);
        play.server.asked()[0].body["model"].as_str().unwrap().to_owned()
    };
    let file = r#"{"model": "of-the-file"}"#;
    // The command line goes before the environment, and that before files.
    assert_eq!(asked("openai", &["--model", "x-1"], file, true), "x-1");
    assert_eq!(asked("openai", &[], file, true), "gpt-4o");
    assert_eq!(asked("openai", &[], file, false), "of-the-file");
    // Claude's words stand for Anthropic's models; elsewhere for the one that is there.
    assert_eq!(asked("anthropic", &["--model", "opus"], "{}", true), "claude-opus-of-ours");
    assert!(asked("anthropic", &["--model", "haiku"], "{}", true).starts_with("claude-haiku-"));
    assert_eq!(asked("openai", &["--model", "sonnet"], "{}", true), "gpt-4o");
}

#[test]
fn thoughts_are_asked_for_by_the_variable_that_claude_code_reads() {
    let play = Play::script(vec![ok()]);
    let mut command = play.command_of("anthropic", "claude", &[PRINT, &["go"]].concat());
    command.env("MAX_THINKING_TOKENS", "8000");
    run(command);
    assert_eq!(play.server.asked()[0].body["thinking"], json!({"type": "enabled", "budget_tokens": 8000}));
}

#[test]
fn results_say_who_let_the_call_run() {
    let meta = |args: &[&str], moments: &[&str], call: (&'static str, Value), answer: Value| {
        let play = Play::script(vec![Answer::calls(&[call]), ok()]);
        let mut host = play.host("claude", args);
        host.say(&hello(moments, &json!({}))).say(&user("go"));
        serve(&mut host, 1, |_| answer.clone());
        let end = closed(host);
        let result = end
            .lines
            .iter()
            .find(|line| line["message"]["content"][0]["type"] == "tool_result")
            .unwrap();
        let mut meta = result["tool_result_meta"][0].clone();
        assert_eq!(meta.as_object_mut().unwrap().remove("id").unwrap(), "call_0", "{result}");
        meta
    };
    let decided = |decision: &str, source: &str| json!({"permission_decision": {"decision": decision, "source": source}});
    let write = || ("Write", json!({"file_path": "a.txt", "content": "a"}));
    let mut by_rule = decided("accept", "config");
    by_rule["permission_decision"]["reason_type"] = "rule".into();
    assert_eq!(meta(BASH, &[], bash("echo a > a"), json!({})), by_rule);
    assert_eq!(
        meta(CLAUDE, &[], write(), json!({"behavior": "allow"})),
        decided("accept", "user_temporary")
    );
    let mut no = decided("reject", "user_reject");
    no["non_execution_kind"] = "permission-rule".into();
    assert_eq!(meta(CLAUDE, &[], write(), json!({"behavior": "deny", "message": "no"})), no);
    let denies = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}});
    let mut hook = decided("reject", "hook");
    hook["non_execution_kind"] = "permission-rule".into();
    hook["permission_decision"]["reason_type"] = "hook".into();
    assert_eq!(meta(BASH, &["PreToolUse"], bash("echo a > a"), denies), hook);
}

#[test]
fn refusals_have_the_codes_that_programs_look_at() {
    let play = Play::script(vec![]);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&[], &json!({})));
    for mode in ["bogus", "bypassPermissions", "acceptEdits"] {
        host.say(&request(mode, &json!({"subtype": "set_permission_mode", "mode": mode}).to_string()));
    }
    host.say(&request("odd", r#"{"subtype":"no_such_thing"}"#));
    let end = closed(host);
    let code = |id: &str| answer(&end.lines, id)["error_code"].clone();
    assert_eq!(
        [code("bogus"), code("bypassPermissions")],
        [json!("invalid_mode"), json!("bypass_not_launched")]
    );
    assert_eq!(
        (code("odd"), &answer(&end.lines, "acceptEdits")["subtype"]),
        (json!("unsupported_request"), &json!("success"))
    );
}

#[test]
fn text_that_a_program_has_composed_is_taken_as_it_stands() {
    let play = Play::script(vec![ok(), ok(), ok()]);
    std::fs::create_dir_all(play.path(".claude/commands")).unwrap();
    std::fs::write(play.path(".claude/commands/fix.md"), "Fix it all.").unwrap();
    std::fs::write(play.path("note.txt"), "the secret word").unwrap();
    let mut host = play.host("claude", &[BASH, &["--setting-sources", "project"]].concat());
    let composed = |text: &str| {
        let mut line: Value = serde_json::from_str(&user(text)).unwrap();
        line["client_composed"] = true.into();
        line.to_string()
    };
    host.say(&hello(&[], &json!({})));
    for prompt in [composed("see @note.txt"), composed("/fix"), user("/fix")] {
        host.say(&prompt);
        serve(&mut host, 1, |_| json!({}));
    }
    closed(host);
    let asked = play.server.asked();
    assert!(
        asked[0].last().contains("@note.txt") && !asked[0].last().contains("secret"),
        "{}",
        asked[0].last()
    );
    assert!(
        asked[1].last().contains("/fix") && asked[2].last().contains("Fix it all."),
        "{}",
        asked[2].last()
    );
}

#[test]
fn turns_that_nobody_asked_for_are_no_prompts_of_the_users() {
    let play = Play::new(|asked, number| match number {
        0 => Answer::calls(&[(
            "Bash",
            json!({"command": "sleep 0.3; echo '@note.txt'", "description": "wait", "run_in_background": true}),
        )]),
        _ if asked.last().contains("<task-notification>") => Answer::text("Heard."),
        _ => Answer::text("Begun."),
    });
    let mut host = play.host("claude", BASH);
    host.say(&hello(&["UserPromptSubmit"], &json!({}))).say(&user("go"));
    let results = serve(&mut host, 2, |_| json!({}));
    let end = closed(host);
    assert_eq!(results[1]["result"], "Heard.", "{end:#?}");
    assert_eq!(called(&end.lines, "UserPromptSubmit").len(), 1, "{end:#?}");
}

#[test]
fn hooks_hear_of_a_question_that_waits_for_the_user() {
    let play = Play::script(vec![Answer::calls(&[("Write", json!({"file_path": "a.txt", "content": "a"}))]), ok()]);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&["Notification"], &json!({}))).say(&user("go"));
    serve(&mut host, 1, |asked| {
        if asked == "can_use_tool" {
            std::thread::sleep(Duration::from_millis(6500));
        }
        json!({"behavior": "allow"})
    });
    let end = closed(host);
    let notified = called(&end.lines, "Notification");
    assert_eq!(notified.len(), 1, "{end:#?}");
    assert_eq!(notified[0]["notification_type"], "permission_prompt");
    assert!(notified[0]["message"].as_str().unwrap().contains("Write"), "{}", notified[0]);
    assert_eq!(play.read("a.txt"), "a");
}

#[test]
fn plugins_and_skills_bring_what_they_have() {
    let play = Play::script(vec![
        Answer::text("Hello."),
        Answer::calls(&[("Skill", json!({"skill": "plug:paint", "args": "the wall"}))]),
        Answer::calls(&[bash("echo a > a")]),
        ok(),
    ]);
    put(&play, "plug/.claude-plugin/plugin.json", r#"{"name": "plug", "version": "1.2.3"}"#);
    put(&play, "plug/commands/greet.md", "---\ndescription: Greets\n---\nSay hello to $ARGUMENTS.");
    put(&play, "plug/agents/pa.md", "---\nname: pa\ndescription: Helps.\n---\nHelp.");
    put(
        &play,
        "plug/skills/paint/SKILL.md",
        "---\nname: paint\ndescription: Paints\n---\nPaint $ARGUMENTS blue.",
    );
    let hooks = json!({"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "cat ${CLAUDE_PLUGIN_ROOT}/word > hooked"}
    ]}]}});
    put(&play, "plug/hooks/hooks.json", &hooks.to_string());
    put(&play, "plug/word", "heard");
    let mut host = play.host("claude", &[BASH, &["--plugin-dir", &play.at("plug"), "--allowedTools", "Skill"]].concat());
    host.say(&hello(&[], &json!({}))).say(&user("/plug:greet Ada"));
    serve(&mut host, 1, |_| json!({}));
    host.say(&user("paint"));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let init = init(&end.lines);
    let about = json!([{"name": "plug", "path": play.at("plug"), "source": "plug@inline", "version": "1.2.3"}]);
    assert_eq!((&init["plugins"], &init["skills"]), (&about, &json!(["plug:paint"])));
    assert!(names(&init["agents"], "").contains(&"plug:pa".to_owned()), "{init}");
    assert!(names(&init["slash_commands"], "").contains(&"plug:greet".to_owned()), "{init}");
    let asked = play.server.asked();
    assert!(asked[0].last().contains("Say hello to Ada."), "{}", asked[0].last());
    assert!(asked[2].last().contains("Paint the wall blue."), "{}", asked[2].last());
    assert_eq!(play.read("hooked"), "heard", "{end:#?}");
    // Where there are no skills there is no such tool.
    assert!(asked[0].tools().contains(&"Skill".to_owned()));
    let bare = Play::script(vec![ok()]);
    bare.print("go");
    assert!(!bare.server.asked()[0].tools().contains(&"Skill".to_owned()));
}

#[test]
fn an_agent_may_have_the_main_conversation() {
    let play = Play::script(vec![ok()]);
    let agents = json!({"clerk": {"description": "Reads.", "prompt": "You are a clerk.", "tools": ["Read"], "model": "x-2"}}).to_string();
    let args = [PRINT, &["--agents", &agents, "--agent", "clerk", "go"]].concat();
    run(play.command("claude", &args));
    let asked = &play.server.asked()[0];
    assert!(asked.system().contains("You are a clerk."), "{}", asked.system());
    assert_eq!((asked.tools(), &asked.body["model"]), (vec!["Read".to_owned()], &json!("x-2")));
}

#[test]
fn hosts_change_settings_and_read_files() {
    let play = Play::script(vec![Answer::calls(&[bash("touch -c note.txt; cat note.txt")]), ok()]);
    put(&play, "note.txt", "some words");
    put(&play, ".claude/settings.local.json", r#"{"env": {"A": "1", "B": "2"}, "model": "m"}"#);
    let mut host = play.host("claude", CLAUDE);
    host.say(&hello(&[], &json!({})));
    let ask = |host: &mut crate::support::stage::Host, id: &str, what: Value| {
        host.say(&request(id, &what.to_string()));
    };
    let settings = json!({"outputStyle": "Terse", "env": {"B": null}});
    ask(
        &mut host,
        "kept",
        json!({"subtype": "update_settings", "source": "localSettings", "settings": settings}),
    );
    ask(
        &mut host,
        "flag",
        json!({"subtype": "apply_flag_settings", "settings": {"permissions": {"allow": ["Bash(touch:*)"]}, "model": "x-3"}}),
    );
    ask(
        &mut host,
        "odd",
        json!({"subtype": "apply_flag_settings", "settings": {"permissions": {"allow": ["*"]}}}),
    );
    ask(&mut host, "read", json!({"subtype": "read_file", "path": "note.txt"}));
    ask(
        &mut host,
        "some",
        json!({"subtype": "read_file", "path": play.at("note.txt"), "max_bytes": 4}),
    );
    ask(&mut host, "out", json!({"subtype": "read_file", "path": "/etc/passwd"}));
    host.say(&user("go"));
    let result = serve(&mut host, 1, |asked| panic!("nothing is asked: {asked}")).remove(0);
    let end = closed(host);
    assert_eq!(result["result"], "OK");
    let asked = play.server.asked();
    assert!(asked[1].last().contains("some words"), "{}", asked[1].last());
    assert_eq!(asked[0].body["model"], "x-3");
    let kept: Value = serde_json::from_str(&play.read(".claude/settings.local.json")).unwrap();
    assert_eq!(kept, json!({"env": {"A": "1"}, "model": "m", "outputStyle": "Terse"}));
    let read = &answer(&end.lines, "read")["response"];
    assert_eq!(
        (&read["contents"], &read["lossy"], &read["absPath"]),
        (&json!("some words"), &json!(false), &json!(play.at("note.txt")))
    );
    assert_eq!(answer(&end.lines, "some")["response"]["contents"], "some");
    for refused in ["odd", "out"] {
        assert_eq!(answer(&end.lines, refused)["subtype"], "error", "{refused}");
    }
}

#[test]
fn files_that_a_prompt_names_are_read_and_kept_with_the_session() {
    let play = Play::script(vec![ok()]);
    put(&play, "in.txt", "inside words\n");
    let outside = play.base().join("outside.txt");
    std::fs::write(&outside, "outside words\n").unwrap();
    let end = play.one("claude", PRINT, &format!("Compare @in.txt and @{}", outside.display()));
    let asked = play.server.asked()[0].last();
    assert!(asked.contains("inside words") && asked.contains("outside words"), "{asked}");
    let projects = std::fs::read_dir(play.base().join("home/.claude/projects")).unwrap();
    let folder = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    let id = end.result()["session_id"].as_str().unwrap();
    let kept = std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).unwrap();
    let lines = kept.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let files: Vec<Value> = lines
        .map(|line| line["attachment"].clone())
        .filter(|about| about["type"] == "file")
        .collect();
    let told: Vec<_> = files
        .iter()
        .map(|file| (&file["filename"], &file["content"]["file"]["content"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!(play.at("in.txt")), &json!("inside words\n")),
            (&json!(outside), &json!("outside words\n")),
        ]
    );
}

#[test]
fn debug_messages_go_where_the_host_wants_them() {
    let play = Play::script(vec![ok(), ok()]);
    let end = play.one("claude", &[PRINT, &["--debug-to-stderr"]].concat(), "go");
    assert!(end.stderr.contains("[DEBUG] the model is asked"), "{end:#?}");
    assert_eq!(end.result()["result"], "OK");
    let end = play.one("claude", &[PRINT, &["--debug-file", &play.at("log")]].concat(), "go");
    assert_eq!(end.stderr, "");
    assert!(play.read("log").contains("[DEBUG] the model is asked"), "{}", play.read("log"));
}

#[test]
fn folders_of_settings_are_read_again_when_the_host_says_so() {
    let play = Play::script(vec![ok()]);
    put(&play, ".claude/commands/fix.md", "Fix it.");
    let mut host = play.host("claude", &[BASH, &["--setting-sources", "project"]].concat());
    host.say(&hello(&[], &json!({})));
    host.until("control_response");
    put(&play, ".claude/commands/late.md", "---\ndescription: Late\n---\nDo it late.");
    put(
        &play,
        ".claude/skills/paint/SKILL.md",
        "---\nname: paint\ndescription: Paints\n---\nPaint.",
    );
    put(&play, ".claude/output-styles/new.md", "---\nname: New\n---\nBe new.");
    put(&play, ".claude/agents/look.md", "---\nname: look\ndescription: Looks.\n---\nLook.");
    for what in ["reload_output_styles", "reload_skills", "reload_plugins"] {
        host.say(&request(what, &json!({"subtype": what}).to_string()));
    }
    host.say(&user("/late"));
    serve(&mut host, 1, |_| json!({}));
    let end = closed(host);
    let told = |id: &str| &answer(&end.lines, id)["response"];
    assert!(names(&told("reload_output_styles")["available_output_styles"], "").contains(&"New".to_owned()));
    assert_eq!(names(&told("reload_skills")["skills"], "name"), ["paint"]);
    let plugins = told("reload_plugins");
    assert!(names(&plugins["commands"], "name").contains(&"late".to_owned()), "{plugins}");
    assert!(names(&plugins["agents"], "name").contains(&"look".to_owned()), "{plugins}");
    assert_eq!((&plugins["plugins"], &plugins["error_count"]), (&json!([]), &json!(0)));
    assert!(play.server.asked()[0].last().contains("Do it late."));
}
