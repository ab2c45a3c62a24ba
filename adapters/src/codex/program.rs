//! The command line of `codex`, as far as hosts use it: `codex exec`, and how it behaves towards them. One process is one turn; nobody is
//! asked for permission.

pub(super) mod config;
pub(super) mod servers;
mod text;

use super::app_server;
use crate::codec::{Dialect, Mode};
use crate::conduct::Conduct;
use crate::launch::{ArgError, Errand, Flag, Grammar, Launch, PermissionMode, Piped, Program, PromptBy, Sub, SubCommand, Traits, flags};

/// What it is called in its lines and by `--version`.
pub(super) const VERSION: &str = "0.169.0";

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Codex,
    name: "codex",
    product: "Codex",
    version: "codex-cli 0.169.0",
    grammar: Grammar::Clap,
    flags: FLAGS,
    commands: COMMANDS,
    closed: true,
    check,
    child: &["exec", "--json", "--skip-git-repo-check"],
    prompt: PromptBy::Stdin,
    // The sandbox is read-only where nobody names another, and nobody is asked.
    permission: PermissionMode::DontAsk,
    no_prompt: || ArgError::line("No prompt provided via stdin.", 1),
    no_session: |id| {
        ArgError::line(
            format!("Error: thread/resume: thread/resume failed: no rollout found for thread id {id}"),
            1,
        )
    },
    no_key: None,
    links: &["codex"],
    claims: None,
    backend: &["codex"],
    file: "codex",
    environment: &["CODEX_*", "OPENAI_*"],
    log_in: "set CODEX_API_KEY or OPENAI_API_KEY, or log in with `codex login` once",
    api: "openai",
    patience: None,
    traits: Traits {
        names_sessions: true,
        schema_in_file: true,
        repeats: Some(&["--config", "--enable", "--disable", "--image", "--add-dir"]),
        needs_repository: Some((
            "--skip-git-repo-check",
            "Not inside a trusted directory and --skip-git-repo-check was not specified.",
        )),
        answer_file: &["-o", "--output-last-message"],
        images: &["-i", "--image"],
        piped: Piped::Tagged("stdin"),
        decodes: text::decode,
        server: |launch| (launch.format.mode == app_server::MODE).then_some(|setup| Box::new(app_server::server::Threads::new(setup))),
        client: Some(app_server::client::client),
        ..Traits::NONE
    },
    conduct: &CodexExec,
};

/// Flags of the words `codex`, `exec` and `resume`: each may stand where any of them may.
const FLAGS: &[Flag] = &flags! {
    "--json": Switch => Lines, "one JSON object a line";
    "--experimental-json": Switch => Lines, "--json";
    "-c", "--config": Value("<key=value>") => Rest, "a setting, its value in TOML";
    "-m", "--model": Value("<MODEL>") => Model, "the model";
    "-C", "--cd": Value("<DIR>") => Cwd, "the working directory";
    "-s", "--sandbox": OneOf("<SANDBOX_MODE>", &["read-only", "workspace-write", "danger-full-access"], &[]) => Permission, "what commands may write";
    "--dangerously-bypass-approvals-and-sandbox": Switch => PermissionIs(PermissionMode::Bypass), "everything runs";
    "--yolo": Switch => PermissionIs(PermissionMode::Bypass), "--dangerously-bypass-approvals-and-sandbox", read_only;
    "--full-auto": Switch => PermissionIs(PermissionMode::AcceptEdits), "--sandbox workspace-write (older versions)", read_only;
    "--approve-for-me": Switch => PermissionIs(PermissionMode::AcceptEdits), "--sandbox workspace-write, and a model reviews what needs more", read_only;
    "-a", "--ask-for-approval": OneOf("<APPROVAL_POLICY>", &["untrusted", "on-request", "never", "on-failure"], &[]) => Rest, "when to ask; nobody is asked here";
    "--search": Switch => Rest, "the model may search the web";
    "--no-alt-screen": Switch => Rest, "where people read";
    "--add-dir": Value("<DIR>") => AddDir, "one more directory that may be written";
    "-i", "--image": List("<FILE>...") => Rest, "an image that goes with the prompt";
    "--output-schema": Value("<FILE>") => Schema, "the file of a JSON schema of the answer";
    "-o", "--output-last-message": Value("<FILE>") => Rest, "a file that gets the last message";
    "--skip-git-repo-check": Switch => Rest, "outside of a git repository too";
    "--stdio": Switch => Rest, "behind app-server: --listen stdio://";
    "--listen": OneOf("<URL>", &["stdio://"], &[]) => Rest, "behind app-server: where the host is";
    "--analytics-default-enabled": Switch => Rest, "behind app-server: usage is told unless settings say no";
    "--startup-client-info": Value("<JSON>") => Rest, "behind app-server: who the host is, before it says so";
    "--startup-sign-out": Switch => Rest, "behind app-server: sign out first";
    "--cloud-skills-snapshot": Value("<PATH>") => Rest, "behind app-server: skills from a file";
    "--code-mode-host": Value("<URL>") => Rest, "behind app-server: where code runs";
    "--last": Switch => Latest, "behind resume: go on in the latest session";
    "--all": Switch => Rest, "behind resume: of all folders";
    "--ephemeral": Switch => Rest, "keep no session file";
    "-p", "--profile": Value("<CONFIG_PROFILE>") => Rest, "a profile of the settings";
    "--ignore-user-config": Switch => Rest, "no settings of the user";
    "--ignore-rules": Switch => Rest, "no rules for commands";
    "--strict-config": Switch => Rest, "refuse settings that nobody knows";
    "--color": OneOf("<COLOR>", &["always", "never", "auto"], &[]) => Rest, "colours on stderr";
    "--thread-source": Value("<SOURCE>") => Rest, "who began the thread";
    "--worktree": Switch => Rest, "work in a git worktree of its own";
    "--trust": Switch => Rest, "trust this project from now on";
    "--dangerously-bypass-hook-trust": Switch => Rest, "hooks run without trust";
    "--cyber-access-program": Value("<PROGRAM>") => Rest, "which access program of OpenAI the turn is under";
    "--remote": Value("<ADDR>") => Rest, "an app-server that runs already";
    "--remote-auth-token-env": Value("<ENV_VAR>") => Rest, "which variable holds the token for it";
    "--oss": Switch => Rest, "a model on this machine";
    "--local-provider": Value("<PROVIDER>") => Rest, "which server of this machine";
    "--enable": Value("<FEATURE>") => Rest, "switch a feature on";
    "--disable": Value("<FEATURE>") => Rest, "switch a feature off";
    "-h", "--help": Switch => Help, "this help";
    "-V", "--version": Switch => Version, "the version";
};

const COMMANDS: &[SubCommand] = &[
    SubCommand {
        names: &["exec", "e"],
        is: Sub::Agent,
        about: "the agent: one turn, the prompt as an argument or on stdin",
    },
    SubCommand {
        names: &["resume"],
        is: Sub::Resume,
        about: "behind exec: the agent in the session of this id",
    },
    SubCommand {
        names: &["fork"],
        is: Sub::Fork,
        about: "behind exec: the agent in a copy of the session of this id",
    },
    SubCommand {
        names: &["app-server"],
        is: Sub::Server(app_server::MODE),
        about: "the agent for editors: many threads, by JSON-RPC on stdin and stdout",
    },
    SubCommand::other(&["mcp-server"], "be an MCP server"),
    SubCommand::other(&["mcp"], "MCP servers"),
    SubCommand::other(&["login"], "sign in"),
    SubCommand::other(&["logout"], "sign out"),
    SubCommand::beside(&["review"], |words| Ok(Errand::Other(words.to_vec())), "look through changes"),
    SubCommand::beside(&["help"], |_| Ok(Errand::Help), "what --help says"),
    SubCommand::other(&["apply", "a"], "apply the latest diff"),
    SubCommand::other(&["sandbox"], "run a command in a sandbox"),
    SubCommand::other(&["completion"], "completions for a shell"),
];

/// `-` is standard input; settings say what other programs have flags for.
fn check(launch: &mut Launch, _: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    launch.print = true;
    if launch.prompt.as_deref() == Some("-") {
        launch.prompt = None;
    }
    config::apply(launch)
}

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct CodexExec;

impl Conduct for CodexExec {
    fn version(&self) -> &'static str {
        VERSION
    }

    /// Hosts take a turn that has failed for just that, and not for one that they have stopped.
    fn breaks_off(&self, mode: Mode) -> bool {
        mode != Mode::TEXT
    }

    fn interrupted(&self) -> Option<u8> {
        Some(1)
    }

    /// Text is the last message alone.
    fn tells_failures(&self, mode: Mode) -> bool {
        mode != Mode::TEXT
    }
}

#[cfg(test)]
mod tests;
