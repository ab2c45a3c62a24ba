//! The command line of the `qwen` program as it ships. Its SDK starts it with `--input-format stream-json --output-format
//! stream-json --channel=SDK` and flags of the table, and never with a prompt.

use crate::codec::Dialect;
use crate::launch::{self, ArgError, ArgvError, Child, Command, Flag, Grammar, Launch, Program, qwen_flags};

/// Reads what a host typed after `qwen`.
///
/// # Errors
/// What the program says to it (its complaint, then its help) and its exit code. Flags that nobody knows are an error with
/// `strict` only, though the program itself refuses them: its SDK gains flags faster than a table can follow.
pub fn parse(args: &[String], strict: bool) -> Result<Command, ArgError> {
    launch::parse(&PROGRAM, args, strict)
}

/// The command line with which we start `qwen`: both sides line by line, the prompt by stdin.
///
/// # Errors
/// When a part cannot be an argument.
pub fn argv(launch: &Launch) -> Result<Child, ArgvError> {
    launch::argv(&PROGRAM, launch)
}

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::QwenCode,
    name: "qwen",
    version: "0.24.4",
    grammar: Grammar::Yargs,
    flags: FLAGS,
    commands: qwen_flags::COMMANDS,
    closed: false,
    check: |launch, given| qwen_flags::check(&PROGRAM, launch, given),
    child: &["--input-format=stream-json", "--output-format=stream-json", "--channel=SDK"],
};

const FLAGS: &[Flag] = &qwen_flags::flags(&["text", "stream-json"], &["text", "json", "stream-json"]);
