use crate::codec::Dialect;
use crate::launch::tests::*;
use crate::launch::*;

#[test]
fn the_python_sdk_of_claude() {
    let asked = launch(
        Dialect::Claude,
        &[
            "--output-format",
            "stream-json",
            "--verbose",
            "--system-prompt",
            "",
            "--tools",
            "",
            "--allowedTools",
            "Bash(git log:*, git diff),mcp__calc__add",
            "--max-turns",
            "3",
            "--max-budget-usd",
            "0.5",
            "--disallowedTools",
            "Write",
            "--model",
            "claude-sonnet-4-5",
            "--fallback-model",
            "a, b",
            "--betas",
            "context-1m",
            "--permission-prompt-tool",
            "stdio",
            "--permission-mode",
            "acceptEdits",
            "--resume=-odd title",
            "--session-id=11111111-2222-4333-8444-555555555556",
            "--settings",
            "{\"a\": 1}",
            "--add-dir",
            "/a",
            "--add-dir",
            "/b,c",
            "--mcp-config",
            "{\"mcpServers\":{}}",
            "--include-partial-messages",
            "--include-hook-events",
            "--strict-mcp-config",
            "--fork-session",
            "--resume-session-at=m1",
            "--session-mirror",
            "--setting-sources=",
            "--replay-user-messages",
            "--thinking",
            "adaptive",
            "--max-thinking-tokens",
            "1000",
            "--effort",
            "high",
            "--json-schema",
            "{\"type\": \"object\"}",
            "--input-format",
            "stream-json",
        ],
    );
    assert_eq!(asked.format.to_string(), "claude");
    assert!(asked.has_stdin_protocol() && asked.partial && asked.verbose && asked.hook_events && asked.strict_mcp && asked.fork);
    assert!(asked.replay_user_messages && !asked.print);
    assert_eq!(asked.prompt, None);
    assert_eq!(asked.system.replace, Some(Text::Here(String::new())));
    assert_eq!(asked.tools, Some(vec![]));
    assert_eq!(asked.allowed_tools, ["Bash(git log:*, git diff)", "mcp__calc__add"]);
    assert_eq!(asked.disallowed_tools, ["Write"]);
    assert_eq!((asked.max_turns, asked.max_budget_usd), (Some(3), Some(0.5)));
    assert_eq!(asked.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(asked.fallback_models, ["a", "b"]);
    assert_eq!(asked.answerer, Answerer::Host);
    assert_eq!(asked.permission, Some(PermissionMode::AcceptEdits));
    assert_eq!(asked.resume, Resume::Session("-odd title".to_owned()));
    assert_eq!(asked.session_id.as_deref(), Some(UUID));
    assert_eq!(asked.resume_at.as_deref(), Some("m1"));
    assert_eq!(asked.add_dirs, ["/a", "/b,c"]);
    assert_eq!(asked.mcp_config, ["{\"mcpServers\":{}}"]);
    assert_eq!(asked.setting_sources, Some(vec![]));
    assert_eq!((asked.thinking.as_deref(), asked.effort.as_deref()), (Some("adaptive"), Some("high")));
    assert_eq!(asked.max_thinking_tokens, Some(1000));
    assert_eq!(asked.rest.len(), 2, "{:?}", asked.rest);
    assert!(asked.unknown.is_empty());
}

#[test]
fn the_typescript_sdk_of_claude() {
    let asked = launch(
        Dialect::Claude,
        &[
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
            "--model=opus",
            "--permission-prompt-tool=stdio",
            "--permission-mode=plan",
            "--allow-dangerously-skip-permissions",
            "--setting-sources=user,project",
            "--allowedTools=Read,Bash(ls *)",
            "--mcp-config={}",
            "--plugin-dir=/p",
            "--debug-to-stderr",
            "--no-session-persistence",
            "--brand-new=x",
            "--newer",
            "value",
            "--newest",
        ],
    );
    assert_eq!(asked.permission, Some(PermissionMode::Plan));
    assert_eq!(asked.setting_sources, Some(words(&["user", "project"])));
    assert_eq!(asked.allowed_tools, ["Read", "Bash(ls *)"]);
    assert_eq!(asked.unknown, ["--brand-new=x", "--newer", "value", "--newest"]);
    assert_eq!(asked.prompt, None);
    // At a terminal's side the word after an unknown flag is the prompt.
    let asked = launch(Dialect::Claude, &["-p", "--newer", "hi"]);
    assert_eq!(
        (asked.prompt.as_deref(), asked.unknown.as_slice()),
        (Some("hi"), &["--newer".to_owned()][..])
    );
}

#[test]
fn claude_reads_lists_clusters_and_dashes_as_commander_does() {
    let asked = launch(
        Dialect::Claude,
        &["--allowedTools", "Bash", "Read Edit", "-p", "-dc", "--", "--odd prompt", "more"],
    );
    assert_eq!(asked.allowed_tools, ["Bash", "Read", "Edit"]);
    assert!(asked.print);
    assert_eq!(asked.prompt.as_deref(), Some("--odd prompt"));
    assert_eq!(asked.unknown, ["more"]);
    // `-d` takes the rest of its cluster, as `-r` and `-n` do.
    assert_eq!(asked.rest, [("-d".to_owned(), Some("c".to_owned()))]);
    assert_eq!(launch(Dialect::Claude, &["-pcnfoo", "hi"]).resume, Resume::Latest);
    // A list takes the prompt too.
    assert_eq!(launch(Dialect::Claude, &["-p", "--allowedTools", "hi"]).prompt, None);
    assert_eq!(
        launch(Dialect::Claude, &["-p", "--allowedTools=Bash", "hi"]).prompt.as_deref(),
        Some("hi")
    );
    // A value may look like a flag.
    assert_eq!(
        launch(Dialect::Claude, &["-p", "--model", "--verbose", "hi"]).model.as_deref(),
        Some("--verbose")
    );
    assert_eq!(launch(Dialect::Claude, &["-p", "--max-turns", "-1", "hi"]).max_turns, None);
    assert_eq!(errand(Dialect::Claude, &["-pv"]), Errand::Version);
    assert_eq!(errand(Dialect::Claude, &["--no-such-flag", "x", "-v"]), Errand::Version);
    // What stands after `--` is never a command.
    assert_eq!(launch(Dialect::Claude, &["--debug", "--", "mcp"]).prompt.as_deref(), Some("mcp"));
    assert_eq!(errand(Dialect::Claude, &["--verbose", "mcp", "list"]), Errand::Mcp(words(&["list"])));
    assert_eq!(errand(Dialect::Claude, &["auth", "status"]), Errand::Other(words(&["auth", "status"])));
    assert_eq!(errand(Dialect::Claude, &["mcp", "--help"]), Errand::Help);
}

#[test]
fn claude_refuses_what_the_program_refuses() {
    for (args, text) in [
        (&["--output-format"][..], "error: option '--output-format <format>' argument missing"),
        (
            &["--output-format=bogus"],
            "error: option '--output-format <format>' argument 'bogus' is invalid. Allowed choices are text, json, stream-json.",
        ),
        (
            &["--no-such-flag", "x", "--output-format=bogus"],
            "error: option '--output-format <format>' argument 'bogus' is invalid. Allowed choices are text, json, stream-json.",
        ),
        (
            &["--permission-mode=bogus"],
            "error: option '--permission-mode <mode>' argument 'bogus' is invalid. Allowed choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan.",
        ),
        (
            &["--max-turns=abc"],
            "error: option '--max-turns <turns>' argument 'abc' is invalid. must be a number",
        ),
        (
            &["--max-budget-usd", "0"],
            "error: option '--max-budget-usd <amount>' argument '0' is invalid. --max-budget-usd must be a number greater than 0",
        ),
        (
            &["--task-budget=x"],
            "error: option '--task-budget <tokens>' argument 'x' is invalid. --task-budget must be a positive integer",
        ),
        (&["-p", "hi", "--tools"], "error: option '--tools <tools...>' argument missing"),
        (
            &["-p", "hi", "--resume="],
            "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>",
        ),
        (
            &["-p", "hi", "--include-partial-messages"],
            "Error: --include-partial-messages requires --print and --output-format=stream-json.",
        ),
        (
            &["-p", "hi", "--session-id", UUID, "--continue"],
            "Error: --session-id with --continue or --resume also needs --fork-session.",
        ),
        (&["-p", "hi", "--resume-session-at", "x"], "Error: --resume-session-at requires --resume"),
        (
            &["-p", "hi", "--resume-drops-turn", "x"],
            "Error: --resume-drops-turn requires --resume-session-at",
        ),
        (
            &["-p", "hi", "--output-format", "json", "--replay-user-messages"],
            "Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.",
        ),
    ] {
        let error = refusal(Dialect::Claude, args);
        assert_eq!((error.text, error.exit_code), (format!("{text}\n"), 1), "{args:?}");
    }
    // With strictness, an unknown flag too, with the guess of the program.
    for (flag, guess) in [
        ("--print=x", "\n(Did you mean --print?)"),
        ("--help=1", "\n(Did you mean --help?)"),
        ("--verion", "\n(Did you mean --version?)"),
        ("--printt", "\n(Did you mean --print?)"),
        ("--output-fromat", "\n(Did you mean --output-format?)"),
        ("--no-session-persistence=1", "\n(Did you mean --no-session-persistence?)"),
        ("--bogus", ""),
        ("-x", ""),
    ] {
        let error = parse(program(Dialect::Claude), &words(&[flag]), true).expect_err("nobody knows it");
        assert_eq!(error.text, format!("error: unknown option '{flag}'{guess}\n"));
        assert_eq!(error.exit_code, 1);
    }
}
