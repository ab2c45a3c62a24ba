//! The command line of `tricode`: one process is one turn, the prompt is on the command line, and stdin is read for the answers
//! to questions for permission alone.
//! How `tricode` behaves towards its host: docs/tricode.md. It reads a prompt and, where it asks in plain text, a choice.

use super::ask::{self, AGAIN, CLOSED, Questions, read};
use crate::codec::{Dialect, Layout};
use crate::conduct::{Answer, Choice, Conduct, Damage, Ended, Facts, Misread, TextQuestions, Typed};
use crate::event::{Fields, OutcomeKind, Request};
use crate::launch::{Answerer, ArgError, Flag, Grammar, Launch, Means, PermissionMode, Program, PromptBy, Shape, Traits, argparse_error};

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

const FLAGS: &[Flag] = &[
    Flag::new(&["-h", "--help"], Shape::Switch, Means::Help, "this help"),
    Flag::new(&["--version"], Shape::Switch, Means::Version, "the version"),
    Flag::new(&["--update"], Shape::Switch, Means::Update, "fetch a newer version"),
    Flag::new(
        &["-v", "--verbose"],
        Shape::Switch,
        Means::Verbose,
        "more for people; changes nothing with --stdio",
    ),
    Flag::new(
        &["--debug"],
        Shape::Switch,
        Means::Rest,
        "requests and answers of the model, as text between the lines",
    ),
    Flag::new(&["--stdio"], Shape::Switch, Means::Lines, "one JSON object a line"),
    Flag::new(
        &["--tools"],
        Shape::Value("TOOLS"),
        Means::Tools,
        "the tools that the model is told of, with commas between them; plan is always one",
    ),
    Flag::new(
        &["--override-system-prompt"],
        Shape::Switch,
        Means::Rest,
        "AGENTS.md instead of the usual system prompt",
    ),
    Flag::new(
        &["-r", "--resume"],
        Shape::Value("SESSION_ID"),
        Means::Resume,
        "go on in the session of this id",
    ),
    Flag::new(&["-l", "--list-conversations"], Shape::Switch, Means::Sessions, "the sessions"),
    Flag::new(&["--work-dir"], Shape::Value("PATH"), Means::Cwd, "the working directory"),
    Flag::new(
        &["--bypass-work-directory-limit"],
        Shape::Switch,
        Means::Rest,
        "files outside of it may be used",
    ),
    Flag::new(
        &["--bypass-permission"],
        Shape::Switch,
        Means::PermissionIs(PermissionMode::Bypass),
        "everything runs without a question",
    ),
    Flag::new(&["--provider"], Shape::Value("NAME"), Means::Rest, "whose model: openai, anthropic"),
    Flag::new(&["--tui"], Shape::Switch, Means::Private, "for people at a terminal"),
    Flag::new(&["--mcp-server"], Shape::Switch, Means::Private, "be an MCP server"),
];

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

    fn answer(&self, request: &Request<'_>, _fields: Fields<'_>, _facts: &Facts) -> Answer {
        Answer::Refused(format!("no control channel: {}", request.subtype.unescape()), None)
    }

    fn damaged(&self, _line: &Misread<'_>) -> Damage {
        Damage::Ignored
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
