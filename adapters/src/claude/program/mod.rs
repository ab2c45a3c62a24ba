//! The command line of Claude Code (protocols: both SDKs start it without `-p`, Python mostly with `--flag value`, TypeScript
//! with `--flag=value`; both send empty values).

mod conduct;
#[cfg(test)]
mod tests;

use conduct::Claude;

use crate::codec::{Dialect, Layout};
use crate::launch::{
    ArgError, Errand, Flag, Grammar, InputFormat, Launch, Means, PermissionMode, Program, PromptBy, Resume, Shape, Sub, SubCommand, Traits,
    is_number, is_uuid,
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
        no_late_bypass: true,
        ..Traits::NONE
    },
    conduct: &Claude,
};

const FLAGS: &[Flag] = &[
    Flag::new(
        &["--add-dir"],
        Shape::List("<directories...>"),
        Means::AddDir,
        "more directories that tools may use",
    ),
    Flag::new(&["--agent"], Shape::Value("<agent>"), Means::Agent, "the agent of the main thread"),
    Flag::new(
        &["--agents"],
        Shape::Value("<json-or-file>"),
        Means::Agents,
        "definitions of agents: JSON, or a path",
    ),
    Flag::new(
        &["--allow-dangerously-skip-permissions"],
        Shape::Switch,
        Means::Rest,
        "bypassPermissions may be chosen later",
    ),
    Flag::new(
        &["--allowedTools", "--allowed-tools"],
        Shape::List("<tools...>"),
        Means::Allowed,
        "rules for tools that run without a question; commas or blanks between them",
    ),
    Flag::new(
        &["--append-system-prompt"],
        Shape::Value("<prompt>"),
        Means::Append,
        "text after the usual system prompt",
    ),
    Flag::new(
        &["--append-system-prompt-file"],
        Shape::Value("<file>"),
        Means::AppendFile,
        "the same from a file",
    ),
    Flag::new(
        &["--autocompact"],
        Shape::Value("<auto|tokens>"),
        Means::Rest,
        "when the history is summed up",
    ),
    Flag::new(
        &["--await-initialize"],
        Shape::Switch,
        Means::Rest,
        "wait for the host's initialize request",
    ),
    Flag::new(&["--ax-screen-reader"], Shape::Switch, Means::Rest, "flat text on the terminal"),
    Flag::new(&["--bare"], Shape::Switch, Means::Rest, "no hooks, plugins, memory or discovery"),
    Flag::new(&["--betas"], Shape::List("<betas...>"), Means::Rest, "beta headers for the API"),
    Flag::new(&["--bg", "--background"], Shape::Switch, Means::Private, "start in the background"),
    Flag::new(&["--brief"], Shape::Switch, Means::Rest, "a tool that sends messages to the user"),
    Flag::new(&["--channels"], Shape::List("<channels...>"), Means::Rest, "channels that bring messages"),
    Flag::new(&["--chrome"], Shape::Switch, Means::Rest, "use a browser"),
    Flag::new(
        &["--cloud"],
        Shape::Maybe("[description|session_id|url]"),
        Means::Private,
        "a session in the cloud",
    ),
    Flag::new(
        &["-c", "--continue"],
        Shape::Switch,
        Means::Latest,
        "go on in the latest session of this directory",
    ),
    Flag::new(
        &["--dangerously-skip-permissions"],
        Shape::Switch,
        Means::PermissionIs(PermissionMode::Bypass),
        "everything runs without a question",
    ),
    Flag::new(&["-d", "--debug"], Shape::Maybe("[filter]"), Means::Rest, "debug messages, of some kinds"),
    Flag::new(&["--debug-file"], Shape::Value("<path>"), Means::Rest, "debug messages to a file"),
    Flag::new(&["--debug-to-stderr"], Shape::Switch, Means::Rest, "debug messages to stderr"),
    Flag::new(&["--desktop"], Shape::Switch, Means::Private, "open the desktop program"),
    Flag::new(&["--disable-slash-commands"], Shape::Switch, Means::Rest, "no skills and no commands"),
    Flag::new(
        &["--disallowedTools", "--disallowed-tools"],
        Shape::List("<tools...>"),
        Means::Disallowed,
        "rules for tools that are refused",
    ),
    Flag::new(
        &["--effort"],
        Shape::Value("<level>"),
        Means::Effort,
        "how much effort: low, medium, high, xhigh, max",
    ),
    Flag::new(
        &["--environment"],
        Shape::Value("<environment_id>"),
        Means::Private,
        "where a cloud session runs",
    ),
    Flag::new(
        &["--exclude-dynamic-system-prompt-sections"],
        Shape::Switch,
        Means::Rest,
        "what differs between machines goes into the first message",
    ),
    Flag::new(
        &["--fallback-model"],
        Shape::Value("<model>"),
        Means::Fallback,
        "models to fall back to, with commas between them",
    ),
    Flag::new(
        &["--file"],
        Shape::List("<specs...>"),
        Means::Rest,
        "files to fetch at the start: id:path",
    ),
    Flag::new(&["--fork-session"], Shape::Switch, Means::Fork, "go on in a copy of the resumed session"),
    Flag::new(
        &["--forward-subagent-text"],
        Shape::Switch,
        Means::Rest,
        "text and thinking of subagents are shown too",
    ),
    Flag::new(&["--from-pr"], Shape::Maybe("[value]"), Means::Private, "the session of a pull request"),
    Flag::new(&["-h", "--help"], Shape::Switch, Means::Help, "this help"),
    Flag::new(&["--ide"], Shape::Switch, Means::Rest, "connect to the editor"),
    Flag::new(
        &["--include-hook-events"],
        Shape::Switch,
        Means::HookEvents,
        "hooks are shown in the stream",
    ),
    Flag::new(
        &["--include-partial-messages"],
        Shape::Switch,
        Means::Partial,
        "deltas beside the snapshots",
    ),
    Flag::new(
        &["--initialize-fields"],
        Shape::Value("<names>"),
        Means::Rest,
        "which settings come in the initialize request",
    ),
    Flag::new(
        &["--input-format"],
        Shape::OneOf("<format>", &["text", "stream-json"], &[]),
        Means::Input,
        "what stdin brings",
    ),
    Flag::new(&["--json-schema"], Shape::Value("<schema>"), Means::Schema, "a JSON schema of the answer"),
    Flag::new(
        &["--managed-settings"],
        Shape::Value("<file-or-json>"),
        Means::Rest,
        "settings of the administrator",
    ),
    Flag::new(
        &["--managed-settings-in-initialize"],
        Shape::Switch,
        Means::Rest,
        "these settings come in the initialize request",
    ),
    Flag::new(
        &["--max-budget-usd"],
        Shape::Checked("<amount>", budget),
        Means::MaxBudget,
        "the most that the session may cost, in US dollars",
    ),
    Flag::new(
        &["--max-thinking-tokens"],
        Shape::Checked("<tokens>", number),
        Means::ThinkingTokens,
        "the most tokens for thinking",
    ),
    Flag::new(
        &["--max-turns"],
        Shape::Checked("<turns>", number),
        Means::MaxTurns,
        "the most rounds of a turn",
    ),
    Flag::new(&["--mcp-config"], Shape::List("<configs...>"), Means::Mcp, "MCP servers: paths, or JSON"),
    Flag::new(&["--model"], Shape::Value("<model>"), Means::Model, "the model"),
    Flag::new(&["-n", "--name"], Shape::Value("<name>"), Means::Rest, "a name for the session"),
    Flag::new(&["--no-chrome"], Shape::Switch, Means::Rest, "use no browser"),
    Flag::new(
        &["--no-session-persistence"],
        Shape::Switch,
        Means::Rest,
        "the session is not kept and cannot be resumed",
    ),
    Flag::new(
        &["--output-format"],
        Shape::OneOf("<format>", &["text", "json", "stream-json"], &[]),
        Means::Output,
        "what stdout carries",
    ),
    Flag::new(
        &["--permission-mode"],
        Shape::OneOf(
            "<mode>",
            &["acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"],
            &["default"],
        ),
        Means::Permission,
        "how freely tools may run",
    ),
    Flag::new(
        &["--permission-prompt-tool"],
        Shape::Value("<tool>"),
        Means::Answerer,
        "who answers questions for permission: stdio (the host), or a tool of an MCP server",
    ),
    Flag::new(
        &["--permission-prompts"],
        Shape::OneOf("<target>", &["host", "none"], &[]),
        Means::Answers,
        "whether anybody answers them",
    ),
    Flag::new(&["--plugin-dir"], Shape::Value("<path>"), Means::Rest, "a plugin, or a directory of them"),
    Flag::new(
        &["--plugin-dir-no-mcp"],
        Shape::Value("<path>"),
        Means::Rest,
        "the same without its MCP servers",
    ),
    Flag::new(&["--plugin-url"], Shape::Value("<url>"), Means::Rest, "a plugin to fetch"),
    Flag::new(&["-p", "--print"], Shape::Switch, Means::Print, "answer and end"),
    Flag::new(
        &["--project-config-root"],
        Shape::Value("<path>"),
        Means::Rest,
        "where the project's settings are",
    ),
    Flag::new(
        &["--prompt-suggestions"],
        Shape::Maybe("[value]"),
        Means::Rest,
        "guess at the user's next prompt",
    ),
    Flag::new(
        &["--remote-control"],
        Shape::Maybe("[name]"),
        Means::Private,
        "let the session be driven from elsewhere",
    ),
    Flag::new(
        &["--remote-control-session-name-prefix"],
        Shape::Value("<prefix>"),
        Means::Private,
        "how such sessions are named",
    ),
    Flag::new(
        &["--replay-user-messages"],
        Shape::Switch,
        Means::Replay,
        "the host's user messages come back on stdout",
    ),
    Flag::new(&["--restricted"], Shape::Switch, Means::Rest, "no tools that run code, no settings files"),
    Flag::new(
        &["-r", "--resume"],
        Shape::Maybe("[value]"),
        Means::Resume,
        "go on in the session of this id or title",
    ),
    Flag::new(
        &["--resume-drops-turn"],
        Shape::Value("<message id>"),
        Means::Rest,
        "the turn of this message is dropped at --resume-session-at",
    ),
    Flag::new(
        &["--resume-session-at"],
        Shape::Value("<message id>"),
        Means::ResumeAt,
        "go on after this message of the resumed session",
    ),
    Flag::new(&["--safe-mode"], Shape::Switch, Means::Rest, "no customisation at all"),
    Flag::new(
        &["--session-id"],
        Shape::Value("<uuid>"),
        Means::SessionId,
        "the id that the new session is to have",
    ),
    Flag::new(
        &["--session-mirror"],
        Shape::Switch,
        Means::Rest,
        "what is stored of the session is shown in the stream",
    ),
    Flag::new(
        &["--setting-sources"],
        Shape::Value("<sources>"),
        Means::SettingSources,
        "which settings files are read: user, project, local; empty for none",
    ),
    Flag::new(
        &["--settings"],
        Shape::Value("<file-or-json>"),
        Means::Settings,
        "more settings: a path, or JSON",
    ),
    Flag::new(
        &["--strict-mcp-config"],
        Shape::Switch,
        Means::StrictMcp,
        "no MCP servers but those of --mcp-config",
    ),
    Flag::new(
        &["--system-prompt"],
        Shape::Value("<prompt>"),
        Means::System,
        "the system prompt; empty for none",
    ),
    Flag::new(
        &["--system-prompt-file"],
        Shape::Value("<file>"),
        Means::SystemFile,
        "the same from a file",
    ),
    Flag::new(
        &["--system-prompt-snapshot"],
        Shape::OneOf("<on|off>", &["on", "off"], &[]),
        Means::Rest,
        "keep the first system prompt of a session",
    ),
    Flag::new(
        &["--task-budget"],
        Shape::Checked("<tokens>", task_budget),
        Means::Rest,
        "tokens for the whole task",
    ),
    Flag::new(&["--teleport"], Shape::Maybe("[session]"), Means::Private, "fetch a session of the cloud"),
    Flag::new(
        &["--thinking"],
        Shape::OneOf("<mode>", &["enabled", "adaptive", "disabled"], &[]),
        Means::Thinking,
        "whether the model thinks",
    ),
    Flag::new(
        &["--thinking-display"],
        Shape::OneOf("<display>", &["summarized", "omitted", "highlights"], &[]),
        Means::Rest,
        "how much of its thoughts is shown",
    ),
    Flag::new(&["--tmux"], Shape::Switch, Means::Private, "a terminal session for the worktree"),
    Flag::new(
        &["--tools"],
        Shape::List("<tools...>"),
        Means::Tools,
        "the tools that exist: names, default, or empty for none",
    ),
    Flag::new(&["--verbose"], Shape::Switch, Means::Verbose, "all messages; stream-json needs it"),
    Flag::new(&["-v", "--version"], Shape::Switch, Means::Version, "the version"),
    Flag::new(
        &["-w", "--worktree"],
        Shape::Maybe("[name]"),
        Means::Rest,
        "work in a git worktree of its own",
    ),
];

const COMMANDS: &[SubCommand] = &[
    other(&["agents"], "background sessions"),
    other(&["attach"], "open a background session"),
    other(&["auth"], "sign in and out"),
    other(&["auto-mode"], "the rules of the auto mode"),
    other(&["doctor"], "check the installation"),
    other(&["gateway"], "a gateway for keys and telemetry"),
    other(&["import"], "take over another agent's settings"),
    other(&["install"], "install the program"),
    other(&["logs"], "output of a background session"),
    SubCommand {
        names: &["mcp"],
        is: Sub::Errand(|words| Ok(Errand::Mcp(words[1..].to_vec()))),
        about: "MCP servers",
    },
    other(&["plugin", "plugins"], "plugins"),
    other(&["purge"], "delete a project's data"),
    other(&["respawn"], "restart background sessions"),
    other(&["rm"], "remove a background session"),
    other(&["setup-token"], "a token for machines"),
    other(&["stop", "kill"], "stop a background session"),
    other(&["ultrareview"], "a review in the cloud"),
    SubCommand {
        names: &["update", "upgrade"],
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
