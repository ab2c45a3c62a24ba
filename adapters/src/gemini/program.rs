//! The command line of `gemini`, with which it is started: one process is one turn, the prompt comes on stdin, and nobody is asked for
//! permission. It is not stood in for.

use crate::codec::{Dialect, Mode};
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};
use crate::launch::{ArgError, Flag, Grammar, PermissionMode, Program, PromptBy, Traits, flags};

/// The version that it was tried with.
const VERSION: &str = "0.61.0";

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Gemini,
    name: "gemini",
    product: "Gemini CLI",
    version: VERSION,
    grammar: Grammar::Yargs,
    flags: FLAGS,
    commands: &[],
    closed: true,
    check: |_, _| Ok(()),
    // Without --skip-trust it refuses to start in a directory that it has not seen.
    child: &["--output-format=stream-json", "--skip-trust"],
    prompt: PromptBy::Stdin,
    permission: PermissionMode::Ask,
    no_prompt: || {
        ArgError::line(
            "No input provided via stdin. Input can be provided by piping data into gemini or using the --prompt option.",
            42,
        )
    },
    no_session: |id| ArgError::line(format!("Error resuming session: Invalid session identifier \"{id}\"."), 42),
    no_key: None,
    links: &[],
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
    "-r", "--resume": Value("<session>") => Resume, "go on in this session: an id, a number, or latest";
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
    "-l", "--list-extensions": Switch => Rest, "the extensions";
    "--list-sessions": Switch => Sessions, "the sessions of this directory";
    "--delete-session": Value("<number>") => Rest, "delete a session";
    "-d", "--debug": Switch => Rest, "tell more on stderr";
    "-v", "--version": Switch => Version, "the version";
    "-h", "--help": Switch => Help, "the help";
};

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct GeminiCli;

impl Conduct for GeminiCli {
    fn version(&self) -> &'static str {
        VERSION
    }

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
    }

    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.is_error || ended.outcome.is_none())
    }

    fn tells_failures(&self, mode: Mode) -> bool {
        mode == Mode::STREAM_JSON
    }

    fn echoes(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
