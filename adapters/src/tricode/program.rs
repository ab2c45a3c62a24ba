//! The command line of `tricode`: one process is one turn, the prompt is on the command line, and stdin is read for the answers
//! to questions for permission alone.
//! How `tricode` behaves towards its host: docs/tricode.md. It reads a prompt and, where it asks in plain text, a choice.

use super::ask::{self, AGAIN, CLOSED, Questions, read};
use crate::codec::{Dialect, Layout};
use crate::conduct::{Choice, Conduct, Ended, TextQuestions, Typed};
use crate::event::OutcomeKind;
use crate::launch::{Answerer, ArgError, Flag, Grammar, Launch, PermissionMode, Program, PromptBy, Traits, argparse_error, flags};

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Tricode,
    name: "tricode.py",
    product: "Tricode",
    version: "Tricode-cli dev (git-unknown)",
    grammar: Grammar::Argparse,
    flags: FLAGS,
    commands: &[],
    closed: true,
    check,
    child: &["--stdio"],
    prompt: PromptBy::Argument,
    permission: PermissionMode::Ask,
    no_prompt: || argparse_error(&PROGRAM, "the following arguments are required: prompt"),
    no_session: |id| ArgError::line(format!("Error: Session {id} not found"), 0),
    no_key: Some(|api| ArgError::line(format!("Error: API key not configured for provider '{api}'"), 0)),
    links: &["tricode"],
    claims: None,
    backend: &["tricode"],
    file: "tricode",
    environment: &["OPENAI_*", "ANTHROPIC_*", "TRICODE_*"],
    log_in: "set OPENAI_API_KEY, or the key of the provider that tricode is set to",
    api: "openai",
    patience: None,
    traits: Traits {
        names_sessions: true,
        ..Traits::NONE
    },
    conduct: &Tricode,
};

const FLAGS: &[Flag] = &flags! {
    "-h", "--help": Switch => Help, "this help";
    "--version": Switch => Version, "the version";
    "--update": Switch => Update, "fetch a newer version";
    "-v", "--verbose": Switch => Verbose, "more for people; changes nothing with --stdio";
    "--debug": Switch => Rest, "requests and answers of the model, as text between the lines";
    "--stdio": Switch => Lines, "one JSON object a line";
    "--tools": Value("TOOLS") => Tools, "the tools that the model is told of, with commas between them; plan is always one";
    "--override-system-prompt": Switch => Rest, "AGENTS.md instead of the usual system prompt";
    "-r", "--resume": Value("SESSION_ID") => Resume, "go on in the session of this id";
    "-l", "--list-conversations": Switch => Sessions, "the sessions";
    "--work-dir": Value("PATH") => Cwd, "the working directory";
    "--bypass-work-directory-limit": Switch => Rest, "files outside of it may be used";
    "--bypass-permission": Switch => PermissionIs(PermissionMode::Bypass), "everything runs without a question";
    "--provider": Value("NAME") => Rest, "whose model: openai, anthropic";
    "--tui": Switch => Private, "for people at a terminal";
    "--mcp-server": Switch => Private, "be an MCP server";
};

/// A prompt is needed for everything but a terminal and an MCP server.
fn check(launch: &mut Launch, given: &dyn Fn(&str) -> bool) -> Result<(), ArgError> {
    if launch.prompt.is_none() && !given("--tui") && !given("--mcp-server") {
        return Err(argparse_error(&PROGRAM, "the following arguments are required: prompt"));
    }
    launch.print = !given("--tui");
    if launch.format.mode.layout == Layout::Lines && launch.permission != Some(PermissionMode::Bypass) {
        launch.answerer = Answerer::Typed;
    }
    Ok(())
}

/// The program itself.
#[derive(Clone, Copy, Debug)]
struct Tricode;

impl Conduct for Tricode {
    fn version(&self) -> &'static str {
        "341a160"
    }

    /// A failed model call is told in the stream and exits with 0; only a run that was stopped exits with 1.
    fn exit_code(&self, ended: Ended) -> u8 {
        u8::from(ended.outcome == Some(OutcomeKind::Cancelled))
    }

    fn asks_in_text(&self) -> bool {
        true
    }

    fn questions(&self) -> Option<Box<dyn TextQuestions>> {
        Some(Box::<Questions>::default())
    }

    fn types(&self, choice: Choice) -> &'static str {
        ask::typed(choice)
    }

    fn refuses_on_stdout(&self) -> bool {
        true
    }

    /// Recorded: `perm_deny`, `perm_terminate`, `perm_eof`.
    fn typed(&self, line: Option<&str>, tool: &str) -> Typed {
        match line.map(read) {
            Some(Some(Choice::Once)) => Typed::Allow,
            Some(Some(Choice::Always)) => Typed::AllowTool,
            Some(Some(Choice::Deny)) => Typed::Deny(format!("User denied {tool} operation")),
            Some(Some(Choice::Stop)) => Typed::Stop {
                prints: "",
                why: format!("User denied {tool} operation and requested termination"),
            },
            Some(None) => Typed::Unclear(AGAIN),
            None => Typed::Stop {
                prints: CLOSED,
                why: format!("User cancelled {tool} operation"),
            },
        }
    }
}

#[cfg(test)]
mod tests;
