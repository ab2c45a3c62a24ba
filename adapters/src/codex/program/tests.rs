use super::PROGRAM;
use crate::codec::{Dialect, Layout, Mode};
use crate::launch::{ArgError, Command, Errand, Launch, PermissionMode, PromptBy, Resume, argv, parse};

fn launch(args: &[&str]) -> Result<Launch, ArgError> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    match parse(&PROGRAM, &args, false)? {
        Command::Launch(launch) => Ok(*launch),
        Command::Errand(errand) => panic!("{errand:?}"),
    }
}

/// As its SDK 0.163.0 starts it.
#[test]
fn the_sdk_s_command_line_is_read() {
    let args = [
        "exec",
        "--experimental-json",
        "--config",
        "model_provider=\"mock\"",
        "--config",
        "mcp_servers.calc.args=[\"/calc.py\", \"-x\"]",
        "--config",
        "mcp_servers.calc.command=\"python3\"",
        "--model",
        "gpt-5.5",
        "--sandbox",
        "danger-full-access",
        "--cd",
        "/w",
        "--skip-git-repo-check",
        "--config",
        "approval_policy=\"never\"",
        "resume",
        "t-1",
        "--image",
        "a.png",
        "b.png",
    ];
    let read = launch(&args).unwrap();
    assert_eq!(read.format, Dialect::Codex.into());
    assert_eq!(read.format.mode.layout, Layout::Lines);
    assert_eq!(read.resume, Resume::Session("t-1".to_owned()));
    assert_eq!((read.prompt, read.print), (None, true));
    assert_eq!(read.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(read.permission, Some(PermissionMode::Bypass));
    assert_eq!(read.cwd.as_deref(), Some("/w"));
    assert_eq!(
        read.mcp_config,
        [r#"{"mcpServers":{"calc":{"args":["/calc.py","-x"],"command":"python3"}}}"#]
    );
    let images: Vec<_> = read
        .rest
        .iter()
        .filter(|(name, _)| name == "--image")
        .map(|(_, file)| file.as_deref())
        .collect();
    assert_eq!(images, [Some("a.png"), Some("b.png")]);
}

#[test]
fn prompts_stand_behind_the_word_for_the_agent() {
    let one = launch(&["-m", "x", "exec", "do it"]).unwrap();
    assert_eq!((one.prompt.as_deref(), one.format.mode), (Some("do it"), Mode::TEXT));
    assert_eq!(one.permission_or_default(), PermissionMode::DontAsk);
    assert_eq!(launch(&["exec", "-"]).unwrap().prompt, None);
    assert_eq!(launch(&["exec", "--", "-x"]).unwrap().prompt.as_deref(), Some("-x"));
    // Words of other commands are a prompt there.
    assert_eq!(launch(&["exec", "--worktree", "do it"]).unwrap().prompt.as_deref(), Some("do it"));
    assert_eq!(launch(&["exec", "login"]).unwrap().prompt.as_deref(), Some("login"));
    let latest = launch(&["exec", "resume", "--last", "go on"]).unwrap();
    assert_eq!((latest.resume, latest.prompt.as_deref()), (Resume::Latest, Some("go on")));
    let named = launch(&["exec", "resume", "id", "go on"]).unwrap();
    assert_eq!((named.resume, named.prompt.as_deref()), (Resume::Session("id".to_owned()), Some("go on")));
}

#[test]
fn settings_say_what_flags_say_and_flags_count_more() {
    let read = launch(&[
        "exec",
        "-c",
        "model=o5",
        "-c",
        "sandbox_mode=\"workspace-write\"",
        "-c",
        "model_reasoning_effort=high",
        "x",
    ])
    .unwrap();
    assert_eq!((read.model.as_deref(), read.effort.as_deref()), (Some("o5"), Some("high")));
    assert_eq!(read.permission, Some(PermissionMode::AcceptEdits));
    let read = launch(&[
        "exec",
        "-c",
        "model=o5",
        "-c",
        "sandbox_mode=\"workspace-write\"",
        "-s",
        "read-only",
        "-m",
        "m",
        "x",
    ])
    .unwrap();
    assert_eq!((read.model.as_deref(), read.permission), (Some("m"), Some(PermissionMode::DontAsk)));
    for wrong in ["sandbox_mode=nope", "sandbox_mode=3", "mcp_servers=3"] {
        let error = launch(&["exec", "-c", wrong, "x"]).unwrap_err();
        assert!(
            error.exit_code == 1 && error.text.starts_with("Error loading config.toml: "),
            "{wrong}: {error:?}"
        );
    }
    // Rubbish is a text.
    assert_eq!(launch(&["exec", "-c", "model=[[", "x"]).unwrap().model.as_deref(), Some("[["));
}

#[test]
fn what_makes_no_sense_is_refused_as_the_program_does() {
    for (args, code, says) in [
        (
            &["exec", "--no-such-flag", "x"][..],
            2,
            "error: unexpected argument '--no-such-flag' found",
        ),
        (&["exec", "a", "b"], 2, "error: unexpected argument 'b' found"),
        (&["exec", "resume", "a", "b", "c"], 2, "error: unexpected argument 'c' found"),
        (
            &["exec", "-m"],
            2,
            "error: a value is required for '--model <MODEL>' but none was supplied",
        ),
        (
            &["exec", "-s", "none", "x"],
            2,
            "error: invalid value 'none' for '--sandbox <SANDBOX_MODE>'",
        ),
        (
            &["exec", "-c", "x", "y"],
            1,
            "Error parsing -c overrides: Invalid override (missing '='): x",
        ),
        (&["exec", "-c", "=x", "y"], 1, "Error parsing -c overrides: Empty key in override: =x"),
        (
            &["exec", "-m", "a", "--model=b", "x"],
            2,
            "error: the argument '--model <MODEL>' cannot be used multiple times",
        ),
        (
            &["exec", "--ephemeral", "--ephemeral", "x"],
            2,
            "error: the argument '--ephemeral' cannot be used multiple times",
        ),
        (&["do it"], 1, "Error: stdin is not a terminal"),
        (&[], 1, "Error: stdin is not a terminal"),
    ] {
        let error = launch(args).unwrap_err();
        assert_eq!((error.exit_code, error.text.lines().next()), (code, Some(says)), "{args:?}");
    }
    // Some may be, and each command counts for itself.
    for args in [
        &["exec", "-c", "a=1", "--config", "b=2", "--enable", "a", "--enable", "b", "x"][..],
        &["exec", "--add-dir", "/a", "--add-dir", "/b", "x"],
        &["-m", "a", "exec", "-m", "b", "x"],
        &["exec", "--json", "resume", "--json", "t-1"],
    ] {
        assert!(launch(args).is_ok(), "{args:?}");
    }
    let version = parse(&PROGRAM, &["--version".to_owned()], false);
    assert!(matches!(version, Ok(Command::Errand(Errand::Version))));
}

/// `resume` takes fewer flags than `exec`, so it stands behind them.
#[test]
fn it_is_started_for_a_turn() {
    let mut launch = Launch::new(Dialect::Claude);
    launch.model = Some("gpt-5.5".to_owned());
    launch.cwd = Some("/w".to_owned());
    launch.permission = Some(PermissionMode::AcceptEdits);
    launch.json_schema = Some("{\"type\":\"object\"}".to_owned());
    let begin = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--model=gpt-5.5",
        "--sandbox=workspace-write",
        "--cd=/w",
    ];
    let child = argv(&PROGRAM, &launch).unwrap();
    assert_eq!((&child.args[..], child.prompt), (&begin.map(str::to_owned)[..], PromptBy::Stdin));
    assert_eq!((child.files.len(), child.files[0].flag), (1, "--output-schema"));
    launch.resume = Resume::Session("t-1".to_owned());
    assert_eq!(argv(&PROGRAM, &launch).unwrap().args, [&begin[..], &["resume", "t-1"]].concat());
    launch.resume = Resume::Session("--last".to_owned());
    assert_eq!(argv(&PROGRAM, &launch).unwrap().args, begin);
    launch.resume = Resume::Latest;
    assert_eq!(argv(&PROGRAM, &launch).unwrap().args, [&begin[..], &["resume", "--last"]].concat());
}

/// Nobody is asked: what would be is refused, whatever the settings of its user say.
#[test]
fn every_mode_is_said_as_a_sandbox_and_none_is_freer() {
    for (mode, word) in [
        (PermissionMode::Ask, "read-only"),
        (PermissionMode::Plan, "read-only"),
        (PermissionMode::Auto, "read-only"),
        (PermissionMode::DontAsk, "read-only"),
        (PermissionMode::Bypass, "danger-full-access"),
    ] {
        let mut launch = Launch::new(Dialect::Claude);
        launch.permission = Some(mode);
        let child = argv(&PROGRAM, &launch).unwrap();
        assert!(child.args.contains(&format!("--sandbox={word}")), "{mode:?}: {child:?}");
    }
}
