//! The command line of `opencode run`, with which it is started: one process is one turn, the prompt comes on stdin, and nobody is asked for
//! permission. It is not stood in for.

use crate::codec::{Dialect, Mode};
use crate::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::event::{Fields, Request};
use crate::launch::{ArgError, Flag, Grammar, PermissionMode, Program, PromptBy, Sub, SubCommand, Traits, flags};

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
    check: |_, _| Ok(()),
    child: &["run", "--format=json", "--thinking"],
    prompt: PromptBy::Stdin,
    permission: PermissionMode::Ask,
    no_prompt: || ArgError::line("Error: You must provide a message or a command", 1),
    no_session: |_| ArgError::line("Error: Session not found", 1),
    no_key: None,
    links: &[],
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
    "--format": OneOf("<format>", &["default", "json"], &[]) => Rest, "what stdout carries";
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
    "--log-level": Value("<level>") => Rest, "what its log tells";
    "-v", "--version": Switch => Version, "the version";
    "-h", "--help": Switch => Help, "the help";
};

const COMMANDS: &[SubCommand] = &[SubCommand {
    names: &["run"],
    is: Sub::Agent,
    about: "the agent: one turn, the prompt as arguments or on stdin",
}];

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct OpencodeRun;

impl Conduct for OpencodeRun {
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
        u8::from(ended.is_error)
    }

    fn tells_failures(&self, mode: Mode) -> bool {
        mode != Mode::TEXT
    }
}

#[cfg(test)]
mod tests;
