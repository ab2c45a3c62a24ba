//! The command line of `tricode`: one process is one turn, the prompt is on the command line, and stdin is read for the answers
//! to questions for permission alone.

use crate::codec::{Dialect, Mode};
use crate::launch::{
    self, Answerer, ArgError, ArgvError, Child, Command, Flag, Grammar, Launch, Means, PermissionMode, Program, Shape, argparse_error,
};

/// Reads what a host typed after `tricode`.
///
/// # Errors
/// What the program says to it, and its exit code 2. Flags that nobody knows are always an error.
pub fn parse(args: &[String], strict: bool) -> Result<Command, ArgError> {
    launch::parse(&PROGRAM, args, strict)
}

/// The command line with which we start `tricode` for one turn, its prompt included.
///
/// # Errors
/// When a part cannot be an argument.
pub fn argv(launch: &Launch) -> Result<Child, ArgvError> {
    launch::argv(&PROGRAM, launch)
}

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Tricode,
    name: "tricode.py",
    version: "Tricode-cli dev (git-unknown)",
    grammar: Grammar::Argparse,
    flags: FLAGS,
    commands: &[],
    closed: true,
    check,
    child: &["--stdio"],
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
    if launch.format.mode == Mode::Stdio && launch.permission != Some(PermissionMode::Bypass) {
        launch.answerer = Answerer::Typed;
    }
    Ok(())
}
