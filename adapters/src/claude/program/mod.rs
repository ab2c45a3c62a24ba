//! The command line of Claude Code (protocols: both SDKs start it without `-p`, Python mostly with `--flag value`, TypeScript
//! with `--flag=value`; both send empty values).

mod conduct;
#[cfg(test)]
mod tests;

use conduct::Claude;

use crate::codec::{Dialect, Layout};
use crate::launch::{
    ArgError, Errand, Flag, Grammar, InputFormat, Launch, PermissionMode, Program, PromptBy, Resume, SubCommand, Traits, flags, is_number, is_uuid,
};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Claude,
    name: "claude",
    product: "Claude Code",
    version: "2.1.329 (Claude Code)",
    grammar: Grammar::Commander,
    flags: FLAGS,
    commands: COMMANDS,
    closed: false,
    check,
    child: &["--output-format=stream-json", "--verbose", "--input-format=stream-json"],
    prompt: PromptBy::Lines,
    permission: PermissionMode::Ask,
    no_prompt: || {
        ArgError::line(
            "Error: Input must be provided either through stdin or as a prompt argument when using --print",
            1,
        )
    },
    no_session,
    no_key: None,
    links: &["claude"],
    claims: None,
    backend: &["claude"],
    file: "claude",
    environment: &[
        "ANTHROPIC_*",
        "CLAUDE_*",
        "AWS_*",
        "CLOUD_ML_REGION",
        "VERTEX_*",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "DISABLE_*",
        "MAX_THINKING_TOKENS",
        "MCP_*",
        "API_TIMEOUT_MS",
        "BASH_DEFAULT_TIMEOUT_MS",
        "BASH_MAX_*",
        "OTEL_*",
        "TRACEPARENT",
        "TRACESTATE",
    ],
    log_in: "set ANTHROPIC_API_KEY, or log in with `claude` once",
    api: "anthropic",
    patience: None,
    traits: Traits {
        takes_empty: true,
        folds_prompts: true,
        no_late_bypass: true,
        holds_sessions: true,
        extension: Some("claudeCode"),
        ..Traits::NONE
    },
    conduct: &Claude,
};

const FLAGS: &[Flag] = &flags! {
    "--add-dir": List("<directories...>") => AddDir, "more directories that tools may use";
    "--agent": Value("<agent>") => Agent, "the agent of the main thread";
    "--agents": Value("<json-or-file>") => Agents, "definitions of agents: JSON, or a path";
    "--allow-dangerously-skip-permissions": Switch => Rest, "bypassPermissions may be chosen later";
    "--allowedTools", "--allowed-tools": List("<tools...>") => Allowed, "rules for tools that run without a question; commas or blanks between them";
    "--append-system-prompt": Value("<prompt>") => Append, "text after the usual system prompt";
    "--append-system-prompt-file": Value("<file>") => AppendFile, "the same from a file";
    "--autocompact": Value("<auto|tokens>") => Rest, "when the history is summed up";
    "--await-initialize": Switch => Rest, "wait for the host's initialize request";
    "--ax-screen-reader": Switch => Rest, "flat text on the terminal";
    "--bare": Switch => Rest, "no hooks, plugins, memory or discovery";
    "--betas": List("<betas...>") => Rest, "beta headers for the API";
    "--bg", "--background": Switch => Private, "start in the background";
    "--brief": Switch => Rest, "a tool that sends messages to the user";
    "--channels": List("<channels...>") => Rest, "channels that bring messages";
    "--chrome": Switch => Rest, "use a browser";
    "--cloud": Maybe("[description|session_id|url]") => Private, "a session in the cloud";
    "-c", "--continue": Switch => Latest, "go on in the latest session of this directory";
    "--dangerously-skip-permissions": Switch => PermissionIs(PermissionMode::Bypass), "everything runs without a question";
    "-d", "--debug": Maybe("[filter]") => Rest, "debug messages, of some kinds";
    "--debug-file": Value("<path>") => Rest, "debug messages to a file";
    "--debug-to-stderr": Switch => Rest, "debug messages to stderr";
    "--desktop": Switch => Private, "open the desktop program";
    "--disable-slash-commands": Switch => Rest, "no skills and no commands";
    "--disallowedTools", "--disallowed-tools": List("<tools...>") => Disallowed, "rules for tools that are refused";
    "--effort": Value("<level>") => Effort, "how much effort: low, medium, high, xhigh, max";
    "--environment": Value("<environment_id>") => Private, "where a cloud session runs";
    "--exclude-dynamic-system-prompt-sections": Switch => Rest, "what differs between machines goes into the first message";
    "--fallback-model": Value("<model>") => Fallback, "models to fall back to, with commas between them";
    "--file": List("<specs...>") => Rest, "files to fetch at the start: id:path";
    "--fork-session": Switch => Fork, "go on in a copy of the resumed session";
    "--forward-subagent-text": Switch => Rest, "text and thinking of subagents are shown too";
    "--from-pr": Maybe("[value]") => Private, "the session of a pull request";
    "-h", "--help": Switch => Help, "this help";
    "--ide": Switch => Rest, "connect to the editor";
    "--include-hook-events": Switch => HookEvents, "hooks are shown in the stream";
    "--include-partial-messages": Switch => Partial, "deltas beside the snapshots";
    "--initialize-fields": Value("<names>") => Rest, "which settings come in the initialize request";
    "--input-format": OneOf("<format>", &["text", "stream-json"], &[]) => Input, "what stdin brings";
    "--json-schema": Value("<schema>") => Schema, "a JSON schema of the answer";
    "--managed-settings": Value("<file-or-json>") => Rest, "settings of the administrator";
    "--managed-settings-in-initialize": Switch => Rest, "these settings come in the initialize request";
    "--max-budget-usd": Checked("<amount>", budget) => MaxBudget, "the most that the session may cost, in US dollars";
    "--max-thinking-tokens": Checked("<tokens>", number) => ThinkingTokens, "the most tokens for thinking";
    "--max-turns": Checked("<turns>", number) => MaxTurns, "the most rounds of a turn";
    "--mcp-config": List("<configs...>") => Mcp, "MCP servers: paths, or JSON";
    "--model": Value("<model>") => Model, "the model";
    "-n", "--name": Value("<name>") => Rest, "a name for the session";
    "--no-chrome": Switch => Rest, "use no browser";
    "--no-session-persistence": Switch => Rest, "the session is not kept and cannot be resumed";
    "--output-format": OneOf("<format>", &["text", "json", "stream-json"], &[]) => Output, "what stdout carries";
    "--permission-mode": OneOf("<mode>", &["acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"], &["default"])
        => Permission, "how freely tools may run";
    "--permission-prompt-tool": Value("<tool>") => Answerer, "who answers questions for permission: stdio (the host), or a tool of an MCP server";
    "--permission-prompts": OneOf("<target>", &["host", "none"], &[]) => Answers, "whether anybody answers them";
    "--plugin-dir": Value("<path>") => Rest, "a plugin, or a directory of them";
    "--plugin-dir-no-mcp": Value("<path>") => Rest, "the same without its MCP servers";
    "--plugin-url": Value("<url>") => Rest, "a plugin to fetch";
    "-p", "--print": Switch => Print, "answer and end";
    "--project-config-root": Value("<path>") => Rest, "where the project's settings are";
    "--prompt-suggestions": Maybe("[value]") => Rest, "guess at the user's next prompt";
    "--remote-control": Maybe("[name]") => Private, "let the session be driven from elsewhere";
    "--remote-control-session-name-prefix": Value("<prefix>") => Private, "how such sessions are named";
    "--replay-user-messages": Switch => Replay, "the host's user messages come back on stdout";
    "--restricted": Switch => Rest, "no tools that run code, no settings files";
    "-r", "--resume": Maybe("[value]") => Resume, "go on in the session of this id or title";
    "--resume-drops-turn": Value("<message id>") => Rest, "the turn of this message is dropped at --resume-session-at";
    "--resume-session-at": Value("<message id>") => ResumeAt, "go on after this message of the resumed session";
    "--safe-mode": Switch => Rest, "no customisation at all";
    "--session-id": Value("<uuid>") => SessionId, "the id that the new session is to have";
    "--session-mirror": Switch => Rest, "what is stored of the session is shown in the stream";
    "--setting-sources": Value("<sources>") => SettingSources, "which settings files are read: user, project, local; empty for none";
    "--settings": Value("<file-or-json>") => Settings, "more settings: a path, or JSON";
    "--strict-mcp-config": Switch => StrictMcp, "no MCP servers but those of --mcp-config";
    "--system-prompt": Value("<prompt>") => System, "the system prompt; empty for none";
    "--system-prompt-file": Value("<file>") => SystemFile, "the same from a file";
    "--system-prompt-snapshot": OneOf("<on|off>", &["on", "off"], &[]) => Rest, "keep the first system prompt of a session";
    "--task-budget": Checked("<tokens>", task_budget) => Rest, "tokens for the whole task, of which the model is told";
    "--teleport": Maybe("[session]") => Private, "fetch a session of the cloud";
    "--thinking": OneOf("<mode>", &["enabled", "adaptive", "disabled"], &[]) => Thinking, "whether the model thinks";
    "--thinking-display": OneOf("<display>", &["summarized", "omitted", "highlights"], &[]) => Rest, "how much of its thoughts is shown";
    "--tmux": Switch => Private, "a terminal session for the worktree";
    "--tools": List("<tools...>") => Tools, "the tools that exist: names, default, or empty for none";
    "--verbose": Switch => Verbose, "all messages; stream-json needs it";
    "-v", "--version": Switch => Version, "the version";
    "-w", "--worktree": Maybe("[name]") => Rest, "work in a git worktree of its own";
};

const COMMANDS: &[SubCommand] = &[
    SubCommand::other(&["agents"], "background sessions"),
    SubCommand::other(&["attach"], "open a background session"),
    SubCommand::other(&["auth"], "sign in and out"),
    SubCommand::other(&["auto-mode"], "the rules of the auto mode"),
    SubCommand::other(&["doctor"], "check the installation"),
    SubCommand::other(&["gateway"], "a gateway for keys and telemetry"),
    SubCommand::other(&["import"], "take over another agent's settings"),
    SubCommand::other(&["install"], "install the program"),
    SubCommand::other(&["logs"], "output of a background session"),
    SubCommand::errand(&["mcp"], |words| Ok(Errand::Mcp(words[1..].to_vec())), "MCP servers"),
    SubCommand::other(&["plugin", "plugins"], "plugins"),
    SubCommand::other(&["purge"], "delete a project's data"),
    SubCommand::other(&["respawn"], "restart background sessions"),
    SubCommand::other(&["rm"], "remove a background session"),
    SubCommand::other(&["setup-token"], "a token for machines"),
    SubCommand::other(&["stop", "kill"], "stop a background session"),
    SubCommand::other(&["ultrareview"], "a review in the cloud"),
    SubCommand::errand(&["update", "upgrade"], |_| Ok(Errand::Update), "fetch a newer version"),
];

fn number(text: &str) -> Result<(), &'static str> {
    if is_number(text) { Ok(()) } else { Err("must be a number") }
}

fn budget(text: &str) -> Result<(), &'static str> {
    match text.trim().parse::<f64>() {
        Ok(amount) if amount > 0.0 => Ok(()),
        _ => Err("--max-budget-usd must be a number greater than 0"),
    }
}

fn task_budget(text: &str) -> Result<(), &'static str> {
    match text.trim().parse::<f64>() {
        Ok(tokens) if tokens > 0.0 && tokens.fract() == 0.0 => Ok(()),
        _ => Err("--task-budget must be a positive integer"),
    }
}

/// What the program refuses when all flags are read. Its stdout is a pipe here, which it takes for `--print`.
fn check(launch: &mut Launch, given: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    let streams = launch.format.mode.layout == Layout::Lines;
    let protocol = launch.input == InputFormat::StreamJson;
    let resumes = launch.resume != Resume::New;
    let refusal = if launch.session_id.is_some() && resumes && !launch.fork {
        "Error: --session-id with --continue or --resume also needs --fork-session."
    } else if launch.session_id.as_deref().is_some_and(|id| !is_uuid(id)) {
        "Error: Invalid session ID. Must be a valid UUID."
    } else if given("--resume-drops-turn") && launch.resume_at.is_none() {
        "Error: --resume-drops-turn requires --resume-session-at"
    } else if given("--restricted") && launch.permission == Some(PermissionMode::Bypass) {
        "Error: bypassPermissions not supported in restricted mode"
    } else if protocol && !streams {
        "Error: --input-format=stream-json requires output-format=stream-json."
    } else if launch.replay_user_messages && !(protocol && streams) {
        "Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json."
    } else if launch.partial && !streams {
        "Error: --include-partial-messages requires --print and --output-format=stream-json."
    } else if launch.resume == Resume::Pick {
        "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>"
    } else if streams && !launch.verbose {
        "Error: When using --print, --output-format=stream-json requires --verbose"
    } else if launch.resume_at.is_some() && !matches!(launch.resume, Resume::Session(_)) {
        "Error: --resume-session-at requires --resume"
    } else {
        return Ok(());
    };
    Err(ArgError::line(refusal, 1))
}

fn no_session(id: &str) -> ArgError {
    if is_uuid(id) {
        return ArgError::line(format!("No conversation found with session ID: {id}"), 1);
    }
    ArgError::line(
        format!(
            "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume \
             <session-id|title>. Provided value \"{id}\" is not a UUID and does not match any session title."
        ),
        1,
    )
}
