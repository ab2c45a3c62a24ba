//! The command line of `gemini`, and how it behaves towards its host: one process is one turn, the prompt stands on the command line, on
//! stdin, or on both, and nobody is asked for permission.

use super::ends;
use super::serves::SERVES;
use crate::codec::{Dialect, Layout, Mode};
use crate::conduct::{Conduct, Ended};
use crate::launch::{
    ArgError, Errand, Flag, Grammar, Launch, PermissionMode, Piped, Program, PromptBy, Resume, SubCommand, Traits, flags, not_here, yargs_error,
};

/// The exit code of a run whose input makes no sense.
const INPUT: u8 = 42;

/// The version that it was tried with.
const VERSION: &str = "0.61.0";

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Gemini,
    name: "gemini",
    product: "Gemini CLI",
    version: VERSION,
    grammar: Grammar::Yargs,
    flags: FLAGS,
    commands: COMMANDS,
    closed: true,
    check,
    // Without --skip-trust it refuses to start in a directory that it has not seen.
    child: &["--output-format=stream-json", "--skip-trust"],
    prompt: PromptBy::Stdin,
    permission: PermissionMode::Ask,
    no_prompt: || {
        ArgError::line(
            "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.",
            INPUT,
        )
    },
    no_session: |id| {
        let how = "  Use --list-sessions to see available sessions, then use --resume {number}, --resume {uuid}, or --resume latest.";
        ArgError::line(format!("Error resuming session: Invalid session identifier \"{id}\".\n{how}"), INPUT)
    },
    no_key: None,
    links: &["gemini"],
    claims: None,
    backend: &["gemini"],
    file: "gemini",
    environment: &["GEMINI_*", "GOOGLE_*", "CLOUDSDK_*"],
    log_in: "set GEMINI_API_KEY, or log in with `gemini` once",
    api: "openai",
    patience: None,
    traits: Traits {
        always_in_pieces: true,
        cuts_at_commas: true,
        // It turns what it is told into text and looks there for words; the error is an object.
        missing_is_empty: Some("gemini-cli"),
        latest: Some("latest"),
        numbers_sessions: true,
        piped: Piped::Before(500),
        serves: Some(SERVES),
        ..Traits::NONE
    },
    conduct: &GeminiCli,
};

const FLAGS: &[Flag] = &flags! {
    "-m", "--model": Value("<model>") => Model, "the model";
    "-p", "--prompt": Value("<text>") => Prompt, "the prompt, behind what stdin says";
    "-i", "--prompt-interactive": Value("<text>") => PromptThenTerminal, "the prompt, and then a terminal";
    "-o", "--output-format": OneOf("<format>", &["text", "json", "stream-json"], &[]) => Output, "what stdout carries";
    "--approval-mode": OneOf("<mode>", &["default", "auto_edit", "yolo", "plan"], &[]) => Permission, "what runs; what would be asked about is not offered to the model";
    "-y", "--yolo": Switch => PermissionIs(PermissionMode::Bypass), "everything runs";
    "--allowed-tools": List("<tools>") => Allowed, "tools that run without a question";
    "-r", "--resume": Maybe("[session]") => Resume, "go on in this session: an id, a number, or latest";
    "--session-id": Value("<uuid>") => SessionId, "the id that the new session is to have";
    "--session-file": Value("<file>") => Rest, "go on with the session of a file";
    "--include-directories": List("<paths>") => AddDir, "more directories that tools may use";
    "--skip-trust": Switch => Rest, "trust the directory without a question";
    "--policy": List("<files>") => Rest, "files of rules for tools";
    "--admin-policy": List("<files>") => Rest, "files of an administrator's rules";
    "--allowed-mcp-server-names": List("<names>") => Rest, "the MCP servers that may be used";
    "-e", "--extensions": List("<names>") => Rest, "the extensions that are used";
    "-s", "--sandbox": Switch => Rest, "run in a sandbox";
    "-w", "--worktree": Maybe("[name]") => Rest, "work in a git worktree of its own";
    "--raw-output": Switch => Rest, "control sequences of the model's are not taken out";
    "--accept-raw-output-risk": Switch => Rest, "no warning of that";
    "--screen-reader": Switch => Rest, "for screen readers";
    "--acp": Switch => Private, "be an ACP agent";
    "--experimental-acp": Switch => Private, "--acp (older versions)", read_only;
    "-l", "--list-extensions": Switch => Rest, "the extensions";
    "--list-sessions": Switch => Sessions, "the sessions of this directory";
    "--delete-session": Value("<number>") => Rest, "delete a session";
    "-d", "--debug": Switch => Rest, "tell more on stderr";
    "-v", "--version": Switch => Version, "the version";
    "-h", "--help": Switch => Help, "the help";
};

const COMMANDS: &[SubCommand] = &[
    SubCommand::errand(&["mcp"], |words| Ok(Errand::Mcp(words[1..].to_vec())), "MCP servers"),
    SubCommand::other(&["extensions", "extension"], "extensions"),
    SubCommand::other(&["skills", "skill"], "skills"),
    SubCommand::other(&["hooks", "hook"], "hooks"),
    SubCommand::other(&["gemma"], "a model on this machine"),
];

/// What does not go together; and what would make it something other than an agent that answers once.
fn check(launch: &mut Launch, is_given: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    if is_given("--yolo") && is_given("--approval-mode") {
        let why = "Cannot use both --yolo (-y) and --approval-mode together. Use --approval-mode=yolo instead.";
        return Err(yargs_error(&PROGRAM, why));
    }
    let sessions = ["--resume", "--session-id", "--session-file"];
    if sessions.iter().filter(|flag| is_given(flag)).count() > 1 {
        let why = "The flags --resume, --session-id, and --session-file are mutually exclusive. Please provide only one.";
        return Err(yargs_error(&PROGRAM, why));
    }
    if is_given("--prompt-interactive") {
        return Err(ArgError::line(
            "Error: The --prompt-interactive flag cannot be used when input is piped from stdin.",
            INPUT,
        ));
    }
    for flag in ["--acp", "--experimental-acp", "--list-extensions", "--delete-session"] {
        if is_given(flag) {
            return Err(ArgError::line(not_here(&PROGRAM, flag), 1));
        }
    }
    if launch.resume == Resume::Pick {
        launch.resume = Resume::Latest;
    }
    launch.print = true;
    Ok(())
}

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct GeminiCli;

impl Conduct for GeminiCli {
    fn version(&self) -> &'static str {
        VERSION
    }

    /// Of a failed call of the model's API it is the HTTP status, cut to eight bits.
    fn exit_code(&self, ended: Ended) -> u8 {
        match ended.outcome {
            Some(kind) if ended.is_error => ends::exit_code(kind, ended.status, ended.is_text),
            outcome => u8::from(outcome.is_none()),
        }
    }

    /// Lines that a signal ends have no result, and a call that runs stays open.
    fn breaks_off(&self, mode: Mode) -> bool {
        mode.layout == Layout::Lines
    }

    fn interrupted(&self) -> Option<u8> {
        Some(0)
    }

    fn tells_failures(&self, mode: Mode) -> bool {
        mode.layout == Layout::Lines
    }

    fn writes_text_at_once(&self) -> bool {
        true
    }

    fn fails_on_stderr(&self, mode: Mode) -> bool {
        mode.layout == Layout::Document
    }

    fn echoes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
