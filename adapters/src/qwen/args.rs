//! The command line of `qwen` as the RFC describes it: `--input-format` and `--output-format` with the value
//! `stream-chunk-json` too, any of one with any of the other; the other flags are those that ship.

use crate::codec::Dialect;
use crate::launch::{self, ArgError, ArgvError, Child, Command, Flag, Grammar, Launch, Means, Program, Shape, qwen_flags};

/// Reads what a host typed after `qwen`.
///
/// # Errors
/// A complaint and the help for stderr, and the exit code.
pub fn parse(args: &[String], strict: bool) -> Result<Command, ArgError> {
    launch::parse(&PROGRAM, args, strict)
}

/// The command line with which we start a program that speaks the RFC: both sides line by line, the prompt by stdin.
///
/// # Errors
/// When a part cannot be an argument.
pub fn argv(launch: &Launch) -> Result<Child, ArgvError> {
    launch::argv(&PROGRAM, launch)
}

pub(crate) static PROGRAM: Program = Program {
    dialect: Dialect::Qwen,
    name: "qwen",
    version: "0.24.4",
    grammar: Grammar::Yargs,
    flags: &FLAGS,
    commands: qwen_flags::COMMANDS,
    closed: false,
    check: |launch, given| qwen_flags::check(&PROGRAM, launch, given),
    child: &["--input-format=stream-json", "--output-format=stream-chunk-json"],
};

/// What the RFC adds.
const MORE: [Flag; 3] = [
    Flag::new(
        &["--control-timeout"],
        Shape::Value(""),
        Means::Rest,
        "how long the host may take to answer a control request, in seconds; 60 without it",
    ),
    Flag::new(
        &["--heartbeat"],
        Shape::Value(""),
        Means::Rest,
        "a heartbeat every so many seconds, unasked",
    ),
    Flag::new(
        &["--log-annotations"],
        Shape::Switch,
        Means::Rest,
        "the program's own log goes into the stream",
    ),
];

const FLAGS: [Flag; qwen_flags::COUNT + MORE.len()] = {
    let shipped = qwen_flags::flags(
        &["text", "stream-json", "stream-chunk-json"],
        &["text", "stream-json", "stream-chunk-json"],
    );
    let mut all = [MORE[0]; qwen_flags::COUNT + MORE.len()];
    let mut n = 0;
    while n < all.len() {
        all[n] = if n < shipped.len() { shipped[n] } else { MORE[n - shipped.len()] };
        n += 1;
    }
    all
};
