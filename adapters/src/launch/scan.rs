//! Words of a command line told apart: flags with their values, operands, and what nobody knows. The meaning comes after.

mod argparse;
mod clap;
mod commander;
mod yargs;

use super::flag::{Flag, Grammar, Shape, Sub};
use super::help::{did_you_mean, usage};
use super::program::Program;
use super::{ArgError, Errand, Means};
use crate::codec::Mode;

/// A command line taken apart.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The flags, in their order.
    pub(super) given: Vec<Given>,
    /// Words that are no flags.
    pub(super) operands: Vec<String>,
    /// Flags that nobody knows.
    pub(super) unknown: Vec<Unknown>,
    /// The command that sends the agent to its latest session was named.
    pub(super) latest: bool,
    /// The command that goes on with a session was named: the first operand is its id.
    pub(super) resumes: bool,
    pub(super) forks: bool,
    /// It is the agent for a host of many sessions, in this mode.
    pub(super) server: Option<Mode>,
}

/// A flag that was given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) flag: &'static Flag,
    /// Its name as typed.
    pub(super) name: String,
    /// The value; a list's values come one by one.
    pub(super) value: Option<String>,
}

/// A flag that nobody knows.
#[derive(Debug)]
pub(super) struct Unknown {
    /// As typed.
    pub(super) text: String,
    /// The operand that stands right after it.
    pub(super) next: Option<usize>,
}

/// What a scan ends in.
#[derive(Debug)]
pub(super) enum Outcome {
    Launch(Scanned),
    Errand(Errand),
}

pub(super) fn scan(program: &Program, args: &[String]) -> Result<Outcome, ArgError> {
    let mut scan = Scan {
        program,
        args,
        at: 0,
        out: Scanned::default(),
        is_agent: false,
        adjacent: false,
        prompt_end: 0,
    };
    let errand = match program.grammar {
        Grammar::Commander => scan.commander()?,
        Grammar::Yargs => scan.yargs()?,
        Grammar::Argparse => scan.argparse()?,
        Grammar::Clap => scan.clap()?,
    };
    Ok(match errand {
        Some(errand) => Outcome::Errand(errand),
        None => Outcome::Launch(scan.out),
    })
}

struct Scan<'a> {
    program: &'a Program,
    args: &'a [String],
    at: usize,
    out: Scanned,
    /// The word for the agent was said.
    is_agent: bool,
    /// The word before was an unknown flag without `=`.
    adjacent: bool,
    /// What stands after the prompt (argparse).
    prompt_end: usize,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<String> {
        let word = self.args.get(self.at)?.clone();
        self.at += 1;
        Some(word)
    }

    fn peek(&self) -> Option<&str> {
        self.args.get(self.at).map(String::as_str)
    }

    /// A flag with its value. Flags that are done at once end the scan.
    fn give(&mut self, flag: &'static Flag, name: &str, value: Option<String>) -> Result<Option<Errand>, ArgError> {
        let on = value.as_deref() != Some("false");
        match flag.means {
            Means::Version if on => return Ok(Some(Errand::Version)),
            Means::Help if on => return Ok(Some(Errand::Help)),
            Means::Models if on => return Ok(Some(Errand::Models)),
            _ => {}
        }
        // yargs looks at the values when all words are read: an unknown flag comes first.
        if self.program.grammar != Grammar::Yargs {
            check_value(self.program, flag, value.as_deref())?;
        }
        self.adjacent = false;
        self.out.given.push(Given {
            flag,
            name: name.to_owned(),
            value,
        });
        Ok(None)
    }

    /// A word that is no flag. The first may be a command.
    fn operand(&mut self, word: String) -> Result<Option<Errand>, ArgError> {
        if self.out.operands.is_empty() && !self.adjacent {
            match self.program.command(&word).map(|command| command.is) {
                // What follows is said to the agent, whatever else it may be called.
                Some(_) if self.is_agent => {}
                Some(Sub::Agent) => {
                    self.is_agent = true;
                    return Ok(None);
                }
                Some(Sub::Latest) => {
                    self.out.latest = true;
                    return Ok(None);
                }
                Some(Sub::Errand(read) | Sub::Beside(read)) => {
                    let words = &self.args[self.at..];
                    // A command of Commander's has a help of its own; a stand-in has one help.
                    if words.iter().any(|word| word == "--help" || word == "-h") {
                        return Ok(Some(Errand::Help));
                    }
                    let mut named = vec![word];
                    named.extend_from_slice(words);
                    return read(&named).map(Some);
                }
                Some(Sub::Resume | Sub::Fork | Sub::Server(_)) | None => {}
            }
        }
        if self.adjacent
            && let Some(unknown) = self.out.unknown.last_mut()
        {
            unknown.next = Some(self.out.operands.len());
        }
        self.adjacent = false;
        self.out.operands.push(word);
        Ok(None)
    }

    fn unknown(&mut self, word: String) {
        self.adjacent = !word.contains('=');
        self.out.unknown.push(Unknown { text: word, next: None });
    }

    /// Everything after `--` is an operand and never a command.
    fn literal(&mut self) {
        self.out.operands.extend_from_slice(&self.args[self.at..]);
        self.at = self.args.len();
    }
}

/// What is said where the word for the agent is missing: without it the program is one for people.
fn no_terminal(program: &Program) -> String {
    let agent = program.commands.iter().find(|command| matches!(command.is, Sub::Agent));
    let word = agent.map_or("", |command| command.names[0]);
    format!(
        "'{}' is for people at a terminal, which a stand-in is not; say '{} {word}'",
        program.name, program.name
    )
}

/// A word is missing.
pub(super) fn no_operand(name: &str) -> ArgError {
    clap::no_operand(name)
}

/// What argparse says to a wrong command line.
pub(crate) fn argparse_error(program: &Program, text: &str) -> ArgError {
    ArgError::line(format!("{}{}: error: {text}", usage(program), program.name), 2)
}

/// What the program says to flags that it does not know.
pub(super) fn unknown_error(program: &Program, unknown: &[Unknown]) -> ArgError {
    match program.grammar {
        Grammar::Commander => {
            let word = unknown.first().map_or("", |unknown| &unknown.text);
            ArgError::line(format!("error: unknown option '{word}'{}", did_you_mean(program, word)), 1)
        }
        Grammar::Yargs => {
            let mut names: Vec<String> = Vec::new();
            for unknown in unknown {
                let name = unknown.text.trim_start_matches('-');
                let name = name.split_once('=').map_or(name, |(name, _)| name).to_owned();
                let camel = camel(&name);
                for name in [name, camel] {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            let plural = if names.len() == 1 { "" } else { "s" };
            yargs_error(program, &format!("Unknown argument{plural}: {}", names.join(", ")))
        }
        Grammar::Argparse => {
            let words: Vec<&str> = unknown.iter().map(|unknown| unknown.text.as_str()).collect();
            argparse_error(program, &format!("unrecognized arguments: {}", words.join(" ")))
        }
        Grammar::Clap => clap::surplus(program, unknown.first().map_or("", |unknown| &unknown.text)),
    }
}

/// What yargs says: the complaint, then the help.
pub(crate) fn yargs_error(program: &Program, text: &str) -> ArgError {
    ArgError::line(format!("{text}\n{}", usage(program).trim_end()), 1)
}

/// Refuses a value that the flag does not take, in the words of clap or of Commander.
fn check_value(program: &Program, flag: &Flag, value: Option<&str>) -> Result<(), ArgError> {
    let Some(value) = value else {
        return Ok(());
    };
    let wrong = match flag.shape {
        Shape::OneOf(_, words, more) if !words.contains(&value) && !more.contains(&value) => {
            format!("Allowed choices are {}.", words.join(", "))
        }
        Shape::Checked(_, check) => match check(value) {
            Ok(()) => return Ok(()),
            Err(text) => text.to_owned(),
        },
        _ => return Ok(()),
    };
    if program.grammar == Grammar::Clap {
        return Err(clap::no_choice(flag, value));
    }
    Err(ArgError::line(
        format!("error: option '{}' argument '{value}' is invalid. {wrong}", flag.declared()),
        1,
    ))
}

/// What yargs says to words that are none of a flag's choices: all of them in one complaint.
pub(super) fn check_choices(program: &Program, given: &[Given]) -> Result<(), ArgError> {
    let mut text = String::new();
    for given in given {
        if let (Shape::OneOf(_, words, _), Some(value)) = (given.flag.shape, given.value.as_deref())
            && !words.contains(&value)
        {
            let choices: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let name = given.flag.long().trim_start_matches('-');
            text.push_str(&format!("\n  Argument: {name}, Given: \"{value}\", Choices: {}", choices.join(", ")));
        }
    }
    if text.is_empty() {
        return Ok(());
    }
    Err(yargs_error(program, &format!("Invalid values:{text}")))
}

/// Qwen's "fatal configuration error", which comes after all else: red whether there is a terminal or not.
pub(super) fn check_numbers(given: &[Given]) -> Result<(), ArgError> {
    for given in given {
        if let (Shape::Checked(_, check), Some(value)) = (given.flag.shape, given.value.as_deref())
            && let Err(text) = check(value)
        {
            let got = value.trim().parse::<f64>().map_or_else(|_| "NaN".to_owned(), |number| number.to_string());
            return Err(ArgError::line(format!("\u{1b}[31m{text}, got {got}\u{1b}[0m"), 52));
        }
    }
    Ok(())
}

/// The flag of the first letter, its name and the letters after it.
fn first_letter<'w>(program: &Program, letters: &'w str) -> Option<(&'static Flag, String, &'w str)> {
    let first = letters.chars().next()?;
    let name = format!("-{first}");
    Some((program.flag(&name)?, name, &letters[first.len_utf8()..]))
}

fn is_negative_number(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') && rest.parse::<f64>().is_ok())
}

/// `output-format` as `outputFormat`.
fn camel(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        if letter == '-' {
            upper = !text.is_empty();
        } else if upper {
            text.extend(letter.to_uppercase());
            upper = false;
        } else {
            text.push(letter);
        }
    }
    text
}
