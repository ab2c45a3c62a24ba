use crate::codec::{Dialect, Mode};
use crate::launch::tests::*;
use crate::launch::*;

/// The command lines of five clients that were written for the real program.
#[test]
fn five_clients_of_cursor() {
    let read = |list: &[&str]| launch(Dialect::Cursor, list);
    // @blowmage/cursor-agent-acp
    let asked = read(&[
        "--resume",
        UUID,
        "--model",
        "auto",
        "--print",
        "--output-format",
        "json",
        "--force",
        "do it",
    ]);
    assert_eq!(asked.resume, Resume::Session(UUID.to_owned()));
    assert_eq!((asked.format.mode, asked.permission), (Mode::JSON, Some(PermissionMode::Bypass)));
    assert_eq!(asked.prompt.as_deref(), Some("do it"));
    let asked = read(&[
        "--resume",
        UUID,
        "--model",
        "auto",
        "agent",
        "--print",
        "--output-format",
        "stream-json",
        "do it",
    ]);
    assert_eq!((asked.prompt.as_deref(), asked.print), (Some("do it"), true));
    assert_eq!(errand(Dialect::Cursor, &["--version"]), Errand::Version);
    assert_eq!(errand(Dialect::Cursor, &["status"]), Errand::Status { json: false });
    assert_eq!(errand(Dialect::Cursor, &["models"]), Errand::Models);
    assert_eq!(errand(Dialect::Cursor, &["create-chat"]), Errand::CreateChat { cwd: None });
    // cursor-cli
    assert_eq!(
        errand(Dialect::Cursor, &["create-chat", "--workspace=/w"]),
        Errand::CreateChat { cwd: Some("/w".to_owned()) }
    );
    let asked = read(&[
        "--resume=11111111-2222-4333-8444-555555555556",
        "--output-format",
        "stream-json",
        "--stream-partial-output",
        "--trust",
        "-p",
        "do it",
    ]);
    assert!(asked.partial && asked.print);
    assert_eq!(asked.rest, [("--trust".to_owned(), None)]);
    // ai-cli-runner: the prompt comes from stdin.
    let asked = read(&[
        "--model",
        "auto",
        "--print",
        "--output-format",
        "stream-json",
        "--trust",
        "--workspace",
        "/w",
    ]);
    assert_eq!((asked.prompt, asked.cwd.as_deref()), (None, Some("/w")));
    // agent-bridge-orchestrator
    let asked = read(&["-p", "--force", "--output-format", "stream-json", "--resume", UUID, "do it"]);
    assert_eq!(asked.prompt.as_deref(), Some("do it"));
    // ralphy-cli
    let asked = read(&["--print", "--force", "--output-format", "stream-json", "do", "it"]);
    assert_eq!(asked.prompt.as_deref(), Some("do it"));
}

#[test]
fn cursor_refuses_flags_that_nobody_knows() {
    let error = refusal(Dialect::Cursor, &["-p", "--no-such-flag", "hi"]);
    assert_eq!((error.text.as_str(), error.exit_code), ("error: unknown option '--no-such-flag'\n", 1));
    assert_eq!(refusal(Dialect::Cursor, &["status", "--x"]).text, "error: unknown option '--x'\n");
}

#[test]
fn cursor_without_an_id_goes_on_in_the_latest_session() {
    assert_eq!(launch(Dialect::Cursor, &["-p", "--resume"]).resume, Resume::Latest);
    assert_eq!(launch(Dialect::Cursor, &["resume", "-p", "go on"]).resume, Resume::Latest);
    assert_eq!(launch(Dialect::Cursor, &["-p", "--", "models"]).prompt.as_deref(), Some("models"));
    let asked = launch(Dialect::Cursor, &["-p", "--mode=ask", "why?"]);
    assert_eq!(asked.permission, Some(PermissionMode::Plan));
    assert_eq!(asked.rest, [("--mode".to_owned(), Some("ask".to_owned()))]);
}

#[test]
fn cursor_answers_small_commands() {
    let answer = |list: &[&str]| errand(Dialect::Cursor, list).answer(program(Dialect::Cursor), &facts()).stdout;
    assert_eq!(answer(&["-v"]), "2026.09.10-fd3934a\n");
    assert_eq!(answer(&["whoami"]), "✓ Logged in as a@b\n");
    let json: serde_json::Value = serde_json::from_str(&answer(&["status", "--format", "json"])).expect("it is JSON");
    assert_eq!(json["isAuthenticated"], true);
    assert_eq!(
        answer(&["--list-models"]),
        "Available models\n\nauto - Auto (default)\nfast - Fast\n\nTip: use --model <id> (or /model <id> in interactive mode) to switch.\n"
    );
    assert_eq!(answer(&["create-chat"]), format!("{UUID}\n"));
    assert_eq!(answer(&["ls"]), "one\ntwo\n");
    assert!(answer(&["--help"]).contains("--stream-partial-output"));
    let refused = errand(Dialect::Cursor, &["mcp", "login", "x"]).answer(program(Dialect::Cursor), &facts());
    assert_eq!((refused.stdout.as_str(), refused.exit_code), ("", 1));
    assert!(refused.stderr.contains("mcp login x"));
    assert_eq!(
        errand(Dialect::Claude, &["--version"]).answer(program(Dialect::Claude), &facts()).stdout,
        "2.1.329 (Claude Code)\n"
    );
}
