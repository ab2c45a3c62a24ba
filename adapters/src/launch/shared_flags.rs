//! A command line that two vendors share: a program with yargs as it ships, and the description of the same program that takes over
//! its flags.

use super::flag::{Flag, Means, Shape, Sub, SubCommand};
use super::scan::yargs_error;
use super::{Answerer, ArgError, Errand, InputFormat, Launch, PermissionMode, Program, Resume, ServerWords, Traits, is_uuid};
use crate::codec::Layout;

/// How many there are.
pub(crate) const COUNT: usize = 64;

/// The flags; the two dialects differ in what goes in and out.
pub(crate) const fn flags(input: &'static [&'static str], output: &'static [&'static str]) -> [Flag; COUNT] {
    [
        rest(&["--telemetry"], Shape::Switch, "send telemetry"),
        rest(&["--telemetry-target"], Shape::OneOf("", &["local", "gcp"], &[]), "where to"),
        rest(&["--telemetry-otlp-endpoint"], Shape::Value(""), "where to, by OTLP"),
        rest(
            &["--telemetry-otlp-protocol"],
            Shape::OneOf("", &["grpc", "http"], &[]),
            "how it goes there",
        ),
        rest(&["--telemetry-log-prompts"], Shape::Switch, "with the prompts"),
        rest(&["--telemetry-outfile"], Shape::Value(""), "to a file instead"),
        rest(&["-d", "--debug"], Shape::Switch, "debug messages"),
        rest(&["--bare"], Shape::Switch, "no discovery at the start"),
        rest(&["--safe-mode"], Shape::Switch, "no customisation at all"),
        Flag::new(&["--proxy"], Shape::Value(""), Means::Private, "a proxy, with its password if it has one"),
        rest(&["--insecure"], Shape::Switch, "certificates are not checked"),
        rest(&["--chat-recording"], Shape::Switch, "sessions are kept and can be resumed"),
        Flag::new(&["-m", "--model"], Shape::Value(""), Means::Model, "the model"),
        Flag::new(
            &["--fallback-model"],
            Shape::List(""),
            Means::Fallback,
            "models to fall back to, at most three",
        ),
        Flag::new(
            &["-p", "--prompt"],
            Shape::Value(""),
            Means::Prompt,
            "the prompt; what stdin brings goes before it",
        ),
        Flag::new(
            &["-i", "--prompt-interactive"],
            Shape::Value(""),
            Means::PromptThenTerminal,
            "the first prompt of a session at the terminal",
        ),
        Flag::new(&["--background", "--bg"], Shape::Switch, Means::Private, "start in the background"),
        Flag::new(&["--system-prompt"], Shape::Value(""), Means::System, "the system prompt"),
        Flag::new(
            &["--append-system-prompt"],
            Shape::Value(""),
            Means::Append,
            "text after the system prompt",
        ),
        rest(&["--output-style"], Shape::Value(""), "how answers are written"),
        rest(&["-s", "--sandbox"], Shape::Switch, "run in a sandbox"),
        rest(&["--sandbox-image"], Shape::Value(""), "the sandbox's image"),
        Flag::new(
            &["-y", "--yolo"],
            Shape::Switch,
            Means::PermissionIs(PermissionMode::Bypass),
            "everything runs without a question",
        ),
        Flag::new(
            &["--approval-mode"],
            Shape::OneOf("", &["plan", "default", "auto-edit", "auto", "yolo"], &[]),
            Means::Permission,
            "how freely tools may run; without it auto",
        ),
        Flag::new(&["--acp"], Shape::Switch, Means::Private, "be an ACP server"),
        Flag::new(&["--experimental-acp"], Shape::Switch, Means::Private, "the same").read_only(),
        rest(&["--experimental-skills"], Shape::Switch, "nothing any more").read_only(),
        rest(&["--experimental-lsp"], Shape::Switch, "ask language servers"),
        rest(
            &["--restore-ask-user-question"],
            Shape::Switch,
            "an open question is asked again in a resumed session",
        ),
        rest(
            &["--channel"],
            Shape::OneOf("", &["VSCode", "ACP", "SDK", "CI", "desktop", "daemon"], &[]),
            "who drives the program",
        ),
        rest(&["--allowed-mcp-server-names"], Shape::List(""), "the MCP servers that may be used"),
        Flag::new(&["--mcp-config"], Shape::Value(""), Means::Mcp, "MCP servers: a path, or JSON"),
        Flag::new(
            &["--allowed-tools"],
            Shape::List(""),
            Means::Allowed,
            "rules for tools that run without a question",
        ),
        rest(&["-e", "--extensions"], Shape::List(""), "the extensions that are used"),
        Flag::new(&["-l", "--list-extensions"], Shape::Switch, Means::Private, "list the extensions"),
        Flag::new(
            &["--include-directories", "--add-dir"],
            Shape::List(""),
            Means::AddDir,
            "more directories that tools may use",
        ),
        rest(&["--openai-logging"], Shape::Switch, "log requests to the model"),
        rest(&["--openai-logging-dir"], Shape::Value(""), "where to"),
        Flag::new(
            &["--openai-api-key"],
            Shape::Value(""),
            Means::Private,
            "the key; OPENAI_API_KEY does the same",
        ),
        Flag::new(
            &["--openai-base-url"],
            Shape::Value(""),
            Means::Private,
            "the server; OPENAI_BASE_URL does the same",
        ),
        rest(&["--screen-reader"], Shape::Switch, "flat text on the terminal"),
        Flag::new(&["--input-format"], Shape::OneOf("", input, &[]), Means::Input, "what stdin brings"),
        Flag::new(
            &["-o", "--output-format"],
            Shape::OneOf("", output, &[]),
            Means::Output,
            "what stdout carries",
        ),
        Flag::new(
            &["--include-partial-messages"],
            Shape::Switch,
            Means::Partial,
            "deltas beside the snapshots",
        ),
        Flag::new(
            &["--json-fd"],
            Shape::Value(""),
            Means::Private,
            "events to this file descriptor, beside the terminal",
        ),
        Flag::new(
            &["--json-file"],
            Shape::Value(""),
            Means::Private,
            "events to this file, beside the terminal",
        ),
        Flag::new(
            &["--json-schema"],
            Shape::Value(""),
            Means::Schema,
            "a JSON schema of the answer, or @ and its path",
        ),
        Flag::new(
            &["--input-file"],
            Shape::Value(""),
            Means::Private,
            "commands from this file, beside the terminal",
        ),
        Flag::new(
            &["-c", "--continue"],
            Shape::Switch,
            Means::Latest,
            "go on in the latest session of this project",
        ),
        Flag::new(
            &["-r", "--resume"],
            Shape::Value(""),
            Means::Resume,
            "go on in the session of this id or title",
        ),
        Flag::new(
            &["--session-id"],
            Shape::Value(""),
            Means::SessionId,
            "the id that the new session is to have",
        ),
        Flag::new(&["--fork-session"], Shape::Switch, Means::Fork, "go on in a copy of the resumed session"),
        Flag::new(
            &["--sandbox-session-id"],
            Shape::Value(""),
            Means::Private,
            "the session outside of the sandbox",
        )
        .read_only(),
        rest(&["--worktree"], Shape::Value(""), "work in a git worktree of its own"),
        Flag::new(
            &["--max-session-turns"],
            Shape::Checked("", turns),
            Means::MaxTurns,
            "the most rounds of the session",
        ),
        rest(
            &["--max-wall-time"],
            Shape::Value(""),
            "the longest that the run may take: 90, 30s, 5m, 1h",
        ),
        rest(&["--max-tool-calls"], Shape::Value(""), "the most tool calls of the run"),
        rest(&["--max-subagent-depth"], Shape::Value(""), "how deep subagents may start subagents"),
        Flag::new(&["--core-tools"], Shape::List(""), Means::Tools, "the tools that exist"),
        Flag::new(
            &["--exclude-tools"],
            Shape::List(""),
            Means::Disallowed,
            "rules for tools that are refused",
        ),
        rest(&["--disabled-slash-commands"], Shape::List(""), "slash commands that are left out"),
        rest(
            &["--auth-type"],
            Shape::OneOf("", &["openai", "openai-responses", "anthropic", "qwen-oauth", "gemini", "vertex-ai"], &[]),
            "whose model",
        ),
        Flag::new(&["-v", "--version"], Shape::Switch, Means::Version, "the version"),
        Flag::new(&["-h", "--help"], Shape::Switch, Means::Help, "this help"),
    ]
}

const fn rest(names: &'static [&'static str], shape: Shape, about: &'static str) -> Flag {
    Flag::new(names, shape, Means::Rest, about)
}

/// Its small commands.
pub(crate) const COMMANDS: &[SubCommand] = &[
    other(&["auth"], "sign in (removed)"),
    other(&["board"], "share work with other agents"),
    other(&["channel"], "messaging channels"),
    other(&["extensions"], "extensions"),
    other(&["hooks"], "hooks"),
    SubCommand {
        names: &["mcp"],
        is: Sub::Errand(|words| Ok(Errand::Mcp(words[1..].to_vec()))),
        about: "MCP servers",
    },
    other(&["serve"], "be an HTTP server"),
    other(&["sessions"], "the sessions"),
    SubCommand {
        names: &["update"],
        is: Sub::Errand(|_| Ok(Errand::Update)),
        about: "fetch a newer version",
    },
];

const fn other(names: &'static [&'static str], about: &'static str) -> SubCommand {
    SubCommand {
        names,
        is: Sub::Errand(|words| Ok(Errand::Other(words.to_vec()))),
        about,
    }
}

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
