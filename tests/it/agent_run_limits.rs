//! Flags of Qwen Code's that limit a run, or say whose model it is to be: they count, or the agent does not begin.

use serde_json::json;

use crate::support::model::Answer;
use crate::support::play::{Play, run};
use crate::support::stage::End;

/// The last outcome's words and the exit code of a run of Qwen Code's with these flags, in which the model calls three commands and then is done.
fn limited(flags: &[&str], settings: &str) -> (Play, End) {
    let command = |name: &str| ("run_shell_command", json!({"command": format!("touch {name}"), "is_background": false}));
    let both = [command("first"), command("second")];
    let play = Play::script(vec![Answer::calls(&both), Answer::calls(&[command("third")]), Answer::text("Done.")]);
    std::fs::create_dir_all(play.base().join("home/.qwen")).unwrap();
    std::fs::write(play.base().join("home/.qwen/settings.json"), settings).unwrap();
    let end = play.one("qwen-code", &[flags, &["--output-format", "stream-json", "--yolo", "-p"]].concat(), "go");
    (play, end)
}

#[test]
fn a_limit_of_calls_ends_the_run_before_the_call_that_is_too_many() {
    let none = "{}";
    let two = r#"{"model": {"maxToolCalls": 2}}"#;
    for (flags, settings, ran, limit) in [
        (&[][..], none, 3, None),
        (&["--max-tool-calls", "3"][..], none, 3, None),
        (&["--max-tool-calls", "2"], none, 2, Some((2, 3))),
        (&["--max-tool-calls=1"], none, 1, Some((1, 2))),
        (&["--max-tool-calls", "0"], none, 0, Some((0, 1))),
        (&["--max-tool-calls=-1"], two, 3, None),
        (&[], two, 2, Some((2, 3))),
        (&["--max-tool-calls", "1"], two, 1, Some((1, 2))),
    ] {
        let (play, end) = limited(flags, settings);
        let made = ["first", "second", "third"].map(|name| play.path(name).exists());
        assert_eq!(made.iter().filter(|made| **made).count(), ran, "{flags:?} {settings}: {end:#?}");
        let Some((most, observed)) = limit else {
            assert_eq!(
                (end.code(), &end.result()["is_error"]),
                (0, &json!(false)),
                "{flags:?} {settings}: {end:#?}"
            );
            continue;
        };
        let why = format!("Run aborted: tool-call budget of {most} exceeded (--max-tool-calls); observed {observed}.");
        assert_eq!(
            (end.code(), &end.result()["error"]["message"]),
            (55, &json!(why)),
            "{flags:?} {settings}: {end:#?}"
        );
    }
}

#[test]
fn a_limit_of_calls_ends_a_host_s_session_too() {
    let play = Play::script(vec![Answer::calls(&[("list_directory", json!({"path": "."}))]), Answer::text("Done.")]);
    let args = ["--input-format", "stream-json", "--output-format", "stream-json", "--max-tool-calls", "0"];
    let mut host = play.host("qwen-code", &args);
    host.say(&crate::support::stage::user("go"));
    assert_eq!(host.until("result")["is_error"], true);
    // The host keeps its end open.
    assert_eq!(host.end().code(), 55);
}

#[test]
fn a_limit_of_time_ends_the_run_and_what_it_does() {
    let waits = || Answer::calls(&[("run_shell_command", json!({"command": "sleep 20; touch late", "is_background": false}))]);
    let silent = || Answer::with(200, crate::support::model::Says::Silence(std::time::Duration::from_secs(20)));
    for (first, flags, settings) in [
        (waits(), &["--max-wall-time", "1"][..], "{}"),
        (silent(), &["--max-wall-time=1s"], "{}"),
        (silent(), &[], r#"{"model": {"maxWallTimeSeconds": 1}}"#),
    ] {
        let play = Play::script(vec![first, Answer::text("Done.")]);
        std::fs::create_dir_all(play.base().join("home/.qwen")).unwrap();
        std::fs::write(play.base().join("home/.qwen/settings.json"), settings).unwrap();
        let begun = std::time::Instant::now();
        let end = play.one("qwen-code", &[flags, &["--output-format", "stream-json", "--yolo", "-p"]].concat(), "go");
        let why = "Run aborted: wall-clock budget of 1s exceeded (--max-wall-time).";
        assert_eq!((end.code(), &end.result()["error"]["message"]), (55, &json!(why)), "{flags:?}: {end:#?}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(15), "{flags:?}");
        assert!(!play.path("late").exists());
        play.nothing_is_left(None);
    }
}

#[test]
fn limits_that_say_nothing_are_refused() {
    for (flags, why) in [
        (&["--max-tool-calls", "many"][..], "--max-tool-calls many: this is no number of calls"),
        (&["--max-tool-calls=-2"], "--max-tool-calls -2: this is no number of calls"),
        (&["--max-wall-time", "500ms"], "--max-wall-time 500ms: this is no time"),
        (&["--max-wall-time", "1x"], "--max-wall-time 1x: this is no time"),
        (&["--max-subagent-depth", "0"], "--max-subagent-depth 0: this is no number of levels"),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let end = play.one("qwen-code", &[flags, &["-p"]].concat(), "go");
        assert_ne!(end.code(), 0, "{flags:?}: {end:#?}");
        assert!(play.server.asked().is_empty(), "{flags:?}: the model was asked");
        assert!(end.stderr.contains(why), "{flags:?}: {end:#?}");
    }
}

#[test]
fn flags_that_name_the_server_go_over_the_environment() {
    let (named, other) = (Play::script(vec![Answer::text("Named.")]), Play::script(vec![Answer::text("Other.")]));
    let url = format!("http://127.0.0.1:{}/v1", named.server.port);
    let args = ["--openai-base-url", &url, "--openai-api-key", "sk-of-the-flag", "-p"];
    let end = other.one("qwen-code", &args, "go");
    assert!(end.code() == 0 && other.server.asked().is_empty(), "{end:#?}");
    assert!(named.server.asked()[0].head.contains("sk-of-the-flag"), "{end:#?}");
    // What is meant for one API's server goes to no other's.
    let end = run(other.command_of("anthropic", "qwen-code", &[&args[..2], &["-p", "go"]].concat()));
    assert!(end.code() != 0 && other.server.asked().is_empty(), "{end:#?}");
    assert!(end.stderr.contains("--openai-base-url speaks of a server of openai"), "{end:#?}");
    // A key is not needed there, nor how the host's own program would have logged in.
    let anthropic = Play::script(vec![Answer::text("Done.")]);
    let habits = [&args[2..4], &["--auth-type", "openai", "-p", "go"]].concat();
    let end = run(anthropic.command_of("anthropic", "qwen-code", &habits));
    assert_eq!(end.code(), 0, "{end:#?}");
    assert!(!anthropic.server.asked()[0].head.contains("sk-of-the-flag"));
}

#[test]
fn commands_that_are_left_out_are_refused_in_words() {
    for (flags, settings, variable, prompt, is_out) in [
        (&[][..], "{}", "", "/mine it", None),
        (&["--disabled-slash-commands", "other,MINE"][..], "{}", "", "/mine it", Some("mine")),
        (&["--disabled-slash-commands", "init"], "{}", "", "/init", Some("init")),
        (&[], r#"{"slashCommands": {"disabled": ["mine"]}}"#, "", "/mine it", Some("mine")),
        (&[], "{}", "mine", "/mine it", Some("mine")),
    ] {
        let play = Play::script(vec![Answer::text("Done.")]);
        let folder = play.base().join("home/.qwen");
        std::fs::create_dir_all(folder.join("commands")).unwrap();
        std::fs::write(folder.join("commands/mine.md"), "Do what is mine.").unwrap();
        std::fs::write(folder.join("settings.json"), settings).unwrap();
        let args = [flags, &["--output-format", "stream-json", "-p", prompt]].concat();
        let mut command = play.command("qwen-code", &args);
        command.env("QWEN_DISABLED_SLASH_COMMANDS", variable);
        let end = run(command);
        let init = end.lines.iter().find(|line| line["subtype"] == "init").unwrap();
        let listed = init["slash_commands"].as_array().unwrap();
        let Some(name) = is_out else {
            assert!(end.code() == 0 && listed.contains(&json!("mine")), "{end:#?}");
            continue;
        };
        let why = format!("The command \"/{name}\" is disabled by the current configuration.");
        assert_eq!((end.code(), &end.result()["error"]["message"]), (1, &json!(why)), "{flags:?}: {end:#?}");
        assert!(play.server.asked().is_empty() && !listed.contains(&json!(name)), "{flags:?}: {end:#?}");
    }
}
