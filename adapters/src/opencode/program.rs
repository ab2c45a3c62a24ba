//! The command line of `opencode run`, and how it behaves towards its host: one process is one turn, the prompt stands on the command line, on
//! stdin, or on both, and nobody is asked for permission.

use super::serves::SERVES;
use crate::codec::{Dialect, Mode};
use crate::conduct::{Conduct, Ended};
use crate::event::OutcomeKind;
use crate::launch::{ArgError, Flag, Grammar, Launch, PermissionMode, Piped, Program, PromptBy, Resume, Sub, SubCommand, Traits, flags, not_here};

/// The version that it was tried with.
const VERSION: &str = "1.18.33";

/// What says its rules for tools, on top of those of its settings.
const RULES: &str = "OPENCODE_PERMISSION";

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Opencode,
    name: "opencode",
    product: "OpenCode",
    version: VERSION,
    grammar: Grammar::Yargs,
    flags: FLAGS,
    commands: COMMANDS,
    closed: true,
    check,
    child: &["run", "--format=json", "--thinking"],
    prompt: PromptBy::Stdin,
    // Commands run besides: see RUNS.
    permission: PermissionMode::AcceptEdits,
    no_prompt: || ArgError::line("Error: You must provide a message or a command", 1),
    no_session: |_| ArgError::line("Error: Session not found", 1),
    no_key: None,
    links: &["opencode"],
    claims: None,
    backend: &["opencode"],
    file: "opencode",
    environment: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_*", "OPENROUTER_*"],
    log_in: "log in with `opencode auth login` once",
    api: "openai",
    patience: None,
    traits: Traits {
        names_sessions: true,
        end_is_outcome: true,
        piped: Piped::Behind,
        lines: Some("json"),
        names_providers: true,
        thoughts: Some("--thinking"),
        serves: Some(SERVES),
        images: &["-f", "--file"],
        // By itself it runs everything in its directory. What it asks about is refused and ends the turn; what is denied is not offered
        // to the model.
        mode_variables: &[
            (PermissionMode::Ask, RULES, READS),
            (PermissionMode::DontAsk, RULES, READS),
            (PermissionMode::Plan, RULES, READS),
            (PermissionMode::Auto, RULES, READS),
            (PermissionMode::AcceptEdits, RULES, EDITS),
        ],
        ..Traits::NONE
    },
    conduct: &OpencodeRun,
};

/// Nothing is changed, started or fetched, and nothing is read elsewhere.
const READS: &str =
    r#"{"edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","external_directory":"deny","doom_loop":"deny"}"#;

/// The same, but files may be changed.
const EDITS: &str =
    r#"{"edit":"allow","bash":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","external_directory":"deny","doom_loop":"deny"}"#;

const FLAGS: &[Flag] = &flags! {
    "--format": OneOf("<format>", &["default", "json"], &[]) => Output, "what stdout carries";
    "-m", "--model": Value("<provider/model>") => Model, "the model";
    "-s", "--session": Value("<id>") => Resume, "go on in this session";
    "-c", "--continue": Switch => Latest, "go on in the latest session";
    "--fork": Switch => Fork, "go on in a copy of the session";
    "--thinking": Switch => Rest, "thoughts are shown";
    "--auto": Switch => PermissionIs(PermissionMode::Bypass), "everything runs that is not forbidden";
    "--agent": Value("<name>") => Agent, "the agent";
    "--variant": Value("<name>") => Effort, "how much effort the model takes, in the provider's words";
    "--dir": Value("<path>") => Cwd, "the working directory";
    "-f", "--file": List("<files>") => Rest, "files that go with the prompt";
    "--title": Value("<text>") => Rest, "a name for the session";
    "--share": Switch => Rest, "share the session";
    "--command": Value("<name>") => Rest, "a command; the prompt is its arguments";
    "--attach": Value("<url>") => Private, "a server that runs already";
    "-p", "--password": Value("<password>") => Private, "the server's password";
    "-u", "--username": Value("<name>") => Private, "the server's user";
    "--port": Value("<port>") => Private, "the port of its own server";
    "-i", "--interactive": Switch => Private, "for a person at a terminal";
    "--pure": Switch => Rest, "no plugins";
    "--print-logs": Switch => Rest, "its log on stderr";
    "--log-level": OneOf("<level>", &["DEBUG", "INFO", "WARN", "ERROR"], &[]) => Rest, "what its log tells";
    "-v", "--version": Switch => Version, "the version";
    "-h", "--help": Switch => Help, "the help";
};

const COMMANDS: &[SubCommand] = &[
    SubCommand {
        names: &["run"],
        is: Sub::Agent,
        about: "the agent: one turn, the prompt as arguments or on stdin",
    },
    SubCommand::other(&["serve"], "the agent as a server"),
    SubCommand::other(&["web"], "the same with a page"),
    SubCommand::other(&["attach"], "a terminal for a server that runs already"),
    SubCommand::other(&["acp"], "be an ACP agent"),
    SubCommand::other(&["mcp"], "MCP servers"),
    SubCommand::other(&["providers", "auth"], "who serves models, and keys for them"),
    SubCommand::other(&["models"], "the models"),
    SubCommand::other(&["agent"], "kinds of agents"),
    SubCommand::other(&["session"], "the sessions"),
    SubCommand::other(&["export"], "give a session away"),
    SubCommand::other(&["import"], "take a session"),
    SubCommand::other(&["stats"], "tokens and costs"),
    SubCommand::other(&["github"], "the agent on GitHub"),
    SubCommand::other(&["pr"], "the agent on a pull request"),
    SubCommand::other(&["plugin", "plug"], "plugins"),
    SubCommand::other(&["upgrade"], "another version"),
    SubCommand::other(&["uninstall"], "remove it"),
    SubCommand::other(&["completion"], "completions for a shell"),
    SubCommand::other(&["debug"], "look into it"),
    SubCommand::other(&["db"], "its database"),
];

/// What runs without a question by itself, beside reading and changing files of the folder.
const RUNS: [&str; 4] = ["bash", "webfetch", "task", "mcp__*"];

/// What would make it something other than an agent that answers once; and what its agents and its silence mean.
fn check(launch: &mut Launch, is_given: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    for flag in ["--attach", "--command"] {
        if is_given(flag) {
            return Err(ArgError::line(not_here(&PROGRAM, &format!("run {flag}")), 1));
        }
    }
    if launch.fork && launch.resume == Resume::New {
        return Err(ArgError::line("Error: --fork requires --continue or --session", 1));
    }
    match launch.agent.take().as_deref() {
        Some("plan") => launch.permission = Some(PermissionMode::Plan),
        None | Some("build") => {}
        Some(other) => launch.agent = Some(other.to_owned()),
    }
    launch.allowed_tools = RUNS.map(str::to_owned).to_vec();
    launch.print = true;
    Ok(())
}

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct OpencodeRun;

impl Conduct for OpencodeRun {
    fn version(&self) -> &'static str {
        VERSION
    }

    /// A turn that ends because a permission was refused has not failed.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.outcome.is_none() || ended.is_error && ended.outcome != Some(OutcomeKind::Cancelled))
    }

    fn tells_failures(&self, mode: Mode) -> bool {
        mode != Mode::TEXT
    }
}

#[cfg(test)]
mod tests;
