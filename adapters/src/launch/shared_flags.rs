//! A command line that two vendors share: a program with yargs as it ships, and the description of the same program that takes over
//! its flags.

use super::flag::{Flag, SubCommand, flags};
use super::scan::yargs_error;
use super::{Answerer, ArgError, Errand, InputFormat, Launch, PermissionMode, Program, Resume, ServerWords, Traits, is_uuid};
use crate::codec::Layout;

/// How many there are.
pub(crate) const COUNT: usize = 64;

/// The flags; the two dialects differ in what goes in and out.
pub(crate) const fn flags(input: &'static [&'static str], output: &'static [&'static str]) -> [Flag; COUNT] {
    flags! {
        "--telemetry": Switch => Rest, "send telemetry";
        "--telemetry-target": OneOf("", &["local", "gcp"], &[]) => Rest, "where to";
        "--telemetry-otlp-endpoint": Value("") => Rest, "where to, by OTLP";
        "--telemetry-otlp-protocol": OneOf("", &["grpc", "http"], &[]) => Rest, "how it goes there";
        "--telemetry-log-prompts": Switch => Rest, "with the prompts";
        "--telemetry-outfile": Value("") => Rest, "to a file instead";
        "-d", "--debug": Switch => Rest, "debug messages";
        "--bare": Switch => Rest, "no discovery at the start";
        "--safe-mode": Switch => Rest, "no customisation at all";
        "--proxy": Value("") => Private, "a proxy, with its password if it has one";
        "--insecure": Switch => Rest, "certificates are not checked";
        "--chat-recording": Switch => Rest, "sessions are kept and can be resumed";
        "-m", "--model": Value("") => Model, "the model";
        "--fallback-model": List("") => Fallback, "models to fall back to, at most three";
        "-p", "--prompt": Value("") => Prompt, "the prompt; what stdin brings goes before it";
        "-i", "--prompt-interactive": Value("") => PromptThenTerminal, "the first prompt of a session at the terminal";
        "--background", "--bg": Switch => Private, "start in the background";
        "--system-prompt": Value("") => System, "the system prompt";
        "--append-system-prompt": Value("") => Append, "text after the system prompt";
        "--output-style": Value("") => Rest, "how answers are written";
        "-s", "--sandbox": Switch => Rest, "run in a sandbox";
        "--sandbox-image": Value("") => Rest, "the sandbox's image";
        "-y", "--yolo": Switch => PermissionIs(PermissionMode::Bypass), "everything runs without a question";
        "--approval-mode": OneOf("", &["plan", "default", "auto-edit", "auto", "yolo"], &[])
            => Permission, "how freely tools may run; without it auto";
        "--acp": Switch => Private, "be an ACP server";
        "--experimental-acp": Switch => Private, "the same", read_only;
        "--experimental-skills": Switch => Rest, "nothing any more", read_only;
        "--experimental-lsp": Switch => Rest, "ask language servers";
        "--restore-ask-user-question": Switch => Rest, "an open question is asked again in a resumed session";
        "--channel": OneOf("", &["VSCode", "ACP", "SDK", "CI", "desktop", "daemon"], &[]) => Rest, "who drives the program";
        "--allowed-mcp-server-names": List("") => Rest, "the MCP servers that may be used";
        "--mcp-config": Value("") => Mcp, "MCP servers: a path, or JSON";
        "--allowed-tools": List("") => Allowed, "rules for tools that run without a question";
        "-e", "--extensions": List("") => Rest, "the extensions that are used";
        "-l", "--list-extensions": Switch => Private, "list the extensions";
        "--include-directories", "--add-dir": List("") => AddDir, "more directories that tools may use";
        "--openai-logging": Switch => Rest, "log requests to the model";
        "--openai-logging-dir": Value("") => Rest, "where to";
        "--openai-api-key": Value("") => Private, "the key; OPENAI_API_KEY does the same";
        "--openai-base-url": Value("") => Private, "the server; OPENAI_BASE_URL does the same";
        "--screen-reader": Switch => Rest, "flat text on the terminal";
        "--input-format": OneOf("", input, &[]) => Input, "what stdin brings";
        "-o", "--output-format": OneOf("", output, &[]) => Output, "what stdout carries";
        "--include-partial-messages": Switch => Partial, "deltas beside the snapshots";
        "--json-fd": Value("") => Private, "events to this file descriptor, beside the terminal";
        "--json-file": Value("") => Private, "events to this file, beside the terminal";
        "--json-schema": Value("") => Schema, "a JSON schema of the answer, or @ and its path";
        "--input-file": Value("") => Private, "commands from this file, beside the terminal";
        "-c", "--continue": Switch => Latest, "go on in the latest session of this project";
        "-r", "--resume": Value("") => Resume, "go on in the session of this id or title";
        "--session-id": Value("") => SessionId, "the id that the new session is to have";
        "--fork-session": Switch => Fork, "go on in a copy of the resumed session";
        "--sandbox-session-id": Value("") => Private, "the session outside of the sandbox", read_only;
        "--worktree": Value("") => Rest, "work in a git worktree of its own";
        "--max-session-turns": Checked("", turns) => MaxTurns, "the most rounds of the session";
        "--max-wall-time": Value("") => Rest, "the longest that the run may take: 90, 30s, 5m, 1h";
        "--max-tool-calls": Value("") => Rest, "the most tool calls of the run";
        "--max-subagent-depth": Value("") => Rest, "how deep subagents may start subagents";
        "--core-tools": List("") => Tools, "the tools that exist";
        "--exclude-tools": List("") => Disallowed, "rules for tools that are refused";
        "--disabled-slash-commands": List("") => Rest, "slash commands that are left out";
        "--auth-type": OneOf("", &["openai", "openai-responses", "anthropic", "qwen-oauth", "gemini", "vertex-ai"], &[]) => Rest, "whose model";
        "-v", "--version": Switch => Version, "the version";
        "-h", "--help": Switch => Help, "this help";
    }
}

/// Its small commands.
pub(crate) const COMMANDS: &[SubCommand] = &[
    SubCommand::other(&["auth"], "sign in (removed)"),
    SubCommand::other(&["board"], "share work with other agents"),
    SubCommand::other(&["channel"], "messaging channels"),
    SubCommand::other(&["extensions"], "extensions"),
    SubCommand::other(&["hooks"], "hooks"),
    SubCommand::errand(&["mcp"], |words| Ok(Errand::Mcp(words[1..].to_vec())), "MCP servers"),
    SubCommand::other(&["serve"], "be an HTTP server"),
    SubCommand::other(&["sessions"], "the sessions"),
    SubCommand::errand(&["update"], |_| Ok(Errand::Update), "fetch a newer version"),
];

/// What the program refuses when all flags are read: exit 1 and the help, but 52 for a number of turns that is none. `pairs`: what
/// comes in and what goes out have to go together.
pub(crate) fn check(program: &Program, pairs: bool, launch: &mut Launch, given: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    let streams = launch.format.mode.layout == Layout::Lines;
    let protocol = launch.input == InputFormat::StreamJson;
    let resumes = launch.resume != Resume::New;
    let invalid_id;
    let refusal = if given("--yolo") && given("--approval-mode") {
        "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead."
    } else if pairs && launch.partial && !streams {
        "--include-partial-messages requires --output-format stream-json"
    } else if pairs && protocol && !streams {
        "--input-format stream-json requires --output-format stream-json"
    } else if given("--continue") && given("--resume") {
        "Cannot use both --continue and --resume together. Use --continue to resume the latest session, or --resume <sessionId> to resume a specific session."
    } else if launch.session_id.is_some() && resumes {
        "Cannot use --session-id with --continue or --resume. Use --session-id to start a new session with a specific ID, or use --continue/--resume to resume an existing session."
    } else if launch.fork && !resumes {
        "--fork-session must be used with --resume or --continue."
    } else if let Some(id) = launch.session_id.as_deref().filter(|id| !is_uuid(id)) {
        invalid_id = format!("Invalid --session-id: \"{id}\". Must be a valid UUID (e.g., \"123e4567-e89b-12d3-a456-426614174000\").");
        &invalid_id
    } else if given("--json-fd") && given("--json-file") {
        "--json-fd and --json-file are mutually exclusive. Use one or the other."
    } else if launch.json_schema.is_some() && given("--prompt-interactive") {
        "--json-schema cannot be used with --prompt-interactive (-i); structured output only terminates the non-interactive flow."
    } else if pairs && launch.json_schema.is_some() && protocol {
        "--json-schema cannot be used with --input-format stream-json; the \"first structured_output call ends the session\" contract is incompatible with the long-lived stream-json input protocol."
    } else {
        ""
    };
    if !refusal.is_empty() {
        return Err(yargs_error(program, refusal));
    }
    if protocol {
        launch.answerer = Answerer::Host;
    }
    // A piece a line is what this format is.
    launch.partial |= launch.format.mode.layout == Layout::Pieces;
    Ok(())
}

/// What it says without a prompt.
pub(crate) fn no_prompt() -> ArgError {
    ArgError::line(
        "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.",
        1,
    )
}

/// What it says without a session of this id.
pub(crate) fn no_session(id: &str) -> ArgError {
    ArgError::line(
        format!("No saved session found with ID {id}. Run `qwen --resume` without an ID to choose from existing sessions."),
        1,
    )
}

/// What sets it apart: it counts the rounds of the whole session, and dies of them with exit code 53 and no result.
pub(crate) const TRAITS: Traits = Traits {
    limits_sessions: true,
    cuts_at_commas: true,
    servers: ServerWords::Member,
    ..Traits::NONE
};

/// What it needs of the environment.
pub(crate) const ENVIRONMENT: &[&str] = &["OPENAI_*", "QWEN_*", "DASHSCOPE_*", "GEMINI_*", "GOOGLE_*"];

/// What its user can do when it has no key.
pub(crate) const LOG_IN: &str = "set OPENAI_API_KEY, or log in with `qwen` once";

/// Its names of permission modes.
pub(crate) const PERMISSION_MODES: &[(&str, PermissionMode)] = &[
    ("default", PermissionMode::Ask),
    ("auto-edit", PermissionMode::AcceptEdits),
    ("plan", PermissionMode::Plan),
    ("yolo", PermissionMode::Bypass),
    ("auto", PermissionMode::Auto),
];

/// The number of turns as the program reads it.
fn turns(text: &str) -> Result<(), &'static str> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.fract() == 0.0 => Ok(()),
        Err(_) if text.trim().is_empty() => Ok(()),
        _ => Err("Invalid maxSessionTurns: must be an integer"),
    }
}
