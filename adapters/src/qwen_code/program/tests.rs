use crate::codec::{Dialect, Mode};
use crate::conduct::{Conduct, Ended};
use crate::event::{Limit, OutcomeKind, Place};
use crate::launch::tests::*;
use crate::launch::*;

#[test]
fn the_sdk_of_qwen() {
    let asked = launch(
        Dialect::QwenCode,
        &[
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--channel=SDK",
            "--model",
            "first-model",
            "--system-prompt",
            "be brief",
            "--approval-mode",
            "auto-edit",
            "--max-session-turns",
            "4",
            "--core-tools",
            "read_file,glob",
            "--exclude-tools",
            "edit",
            "--allowed-tools",
            "run_shell_command(git status)",
            "--auth-type",
            "openai",
            "--include-partial-messages",
            "--session-id",
            UUID,
            "--from-next-year",
            "7",
        ],
    );
    assert!(asked.has_stdin_protocol() && asked.partial && !asked.print);
    assert_eq!(asked.format.to_string(), "qwen-code");
    assert_eq!(asked.answerer, Answerer::Host);
    assert_eq!(asked.permission, Some(PermissionMode::AcceptEdits));
    assert_eq!(asked.tools, Some(words(&["read_file", "glob"])));
    assert_eq!(asked.disallowed_tools, ["edit"]);
    assert_eq!(asked.allowed_tools, ["run_shell_command(git status)"]);
    assert_eq!(asked.max_turns, Some(4));
    assert_eq!(asked.session_id.as_deref(), Some(UUID));
    assert_eq!(asked.rest.len(), 2);
    assert_eq!((asked.unknown.as_slice(), asked.prompt), (&words(&["--from-next-year", "7"])[..], None));
}

#[test]
fn qwen_reads_as_yargs_does() {
    let read = |list: &[&str]| launch(Dialect::QwenCode, list);
    assert_eq!(read(&["--outputFormat", "json", "say", "hello"]).prompt.as_deref(), Some("say hello"));
    assert_eq!(read(&["--outputFormat", "json", "hi"]).format.mode, Mode::JSON);
    assert_eq!(read(&["-yo", "json", "-p", "hi"]).permission, Some(PermissionMode::Bypass));
    assert_eq!(read(&["--yolo=false", "hi"]).permission, None);
    assert_eq!(read(&["--no-yolo", "hi"]).permission, None);
    assert_eq!(read(&["--yolo", "false", "hi"]).prompt.as_deref(), Some("hi"));
    // A value that is missing is empty.
    assert_eq!(read(&["--model", "--debug", "hi"]).model, None);
    assert_eq!(read(&["--system-prompt=", "hi"]).system.replace, Some(Text::Here(String::new())));
    assert_eq!(read(&["--resume"]).resume, Resume::Pick);
    // A list goes on, after `=` as well.
    assert_eq!(
        read(&["--core-tools=a,b", "c", "--add-dir", "/x,/y", "--debug"]).tools,
        Some(words(&["a", "b", "c"]))
    );
    assert_eq!(read(&["--add-dir", "/x,/y", "--debug"]).add_dirs, ["/x", "/y"]);
    assert_eq!(read(&["-p", "hi"]).permission_or_default(), PermissionMode::Auto);
    assert_eq!(read(&["--", "--model", "x"]).prompt.as_deref(), Some("--model x"));
    assert_eq!(errand(Dialect::QwenCode, &["-yv"]), Errand::Version);
    assert_eq!(errand(Dialect::QwenCode, &["mcp", "list"]), Errand::Mcp(words(&["list"])));
}

#[test]
fn qwen_refuses_what_the_program_refuses() {
    for (args, text) in [
        (&["--bogus", "hi"][..], "Unknown argument: bogus"),
        (&["--bogus-flag", "hi"], "Unknown arguments: bogus-flag, bogusFlag"),
        (&["-xq", "hi"], "Unknown arguments: x, q"),
        (
            &["--output-format"],
            "Invalid values:\n  Argument: output-format, Given: \"\", Choices: \"text\", \"json\", \"stream-json\"",
        ),
        (
            &["-p", "hi", "hi"],
            "Cannot use both a positional prompt and the --prompt (-p) flag together",
        ),
        (
            &["--session-id=x", "hi"],
            "Invalid --session-id: \"x\". Must be a valid UUID (e.g., \"123e4567-e89b-12d3-a456-426614174000\").",
        ),
        (&["--fork-session", "hi"], "--fork-session must be used with --resume or --continue."),
    ] {
        let error = parse(program(Dialect::QwenCode), &words(args), true).expect_err("it is refused");
        assert_eq!(error.exit_code, 1);
        assert!(
            error.text.starts_with(&format!("{text}\nUsage: qwen [options] [command]\n")),
            "{args:?}: {}",
            error.text
        );
        assert!(error.text.contains("--approval-mode") && error.text.ends_with('\n'));
    }
    let error = refusal(Dialect::QwenCode, &["--max-session-turns=x", "-p", "hi"]);
    assert_eq!(
        (error.text.as_str(), error.exit_code),
        ("\u{1b}[31mInvalid maxSessionTurns: must be an integer, got NaN\u{1b}[0m\n", 52)
    );
}

#[test]
fn the_rfc_takes_any_format_with_any() {
    let asked = launch(
        Dialect::Qwen,
        &[
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-chunk-json",
            "--heartbeat",
            "5",
        ],
    );
    assert_eq!(asked.format.to_string(), "qwen:stream-chunk-json");
    assert!(asked.partial && asked.has_stdin_protocol());
    assert_eq!(asked.rest, [("--heartbeat".to_owned(), Some("5".to_owned()))]);
    let asked = launch(Dialect::Qwen, &["--input-format=stream-chunk-json", "--output-format=text"]);
    assert_eq!((asked.input, asked.format.mode), (InputFormat::StreamJson, Mode::TEXT));
    // What ships refuses both.
    let shipped = program(Dialect::QwenCode);
    assert!(parse(shipped, &words(&["--output-format", "stream-chunk-json", "go"]), false).is_err());
    assert!(
        parse(
            shipped,
            &words(&["--output-format", "text", "go", "--input-format", "stream-json"]),
            false
        )
        .is_err()
    );
}

#[test]
fn the_limit_of_rounds_shows_in_the_exit_code() {
    for (outcome, interactive, code) in [
        (OutcomeKind::Limit(Limit::Turns), true, 53),
        (OutcomeKind::Limit(Limit::Turns), false, 53),
        (OutcomeKind::Failed(Place::Model), true, 0),
        (OutcomeKind::Failed(Place::Model), false, 1),
    ] {
        let ended = Ended {
            outcome: Some(outcome),
            is_error: true,
            interactive,
            ..Ended::default()
        };
        assert_eq!(super::Qwen.exit_code(ended), code, "{outcome:?} {interactive}");
    }
}
