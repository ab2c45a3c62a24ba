//! clap's grammar.

use super::{ArgError, Errand, Flag, Program, Scan, Shape, no_terminal};
use crate::launch::Sub;

impl Scan<'_> {
    pub(super) fn clap(&mut self) -> Result<Option<Errand>, ArgError> {
        let mut list: Option<(&'static Flag, String)> = None;
        let mut is_agent = false;
        let mut typed: Vec<&str> = Vec::new();
        while let Some(word) = self.next() {
            let errand = if word == "--" {
                let args = self.args;
                for word in &args[self.at..] {
                    self.clap_operand(word.clone(), is_agent)?;
                }
                break;
            } else if word.len() > 1 && word.starts_with('-') {
                list = self
                    .program
                    .flag(&word)
                    .filter(|flag| matches!(flag.shape, Shape::List(_)))
                    .map(|flag| (flag, word.clone()));
                if let Some(flag) = self.program.flag(word.split_once('=').map_or(&*word, |(name, _)| name)) {
                    let only = self
                        .program
                        .traits
                        .repeats
                        .filter(|repeats| !flag.names.iter().any(|name| repeats.contains(name)));
                    if only.is_some() && typed.contains(&flag.long()) {
                        return Err(twice(self.program, flag));
                    }
                    typed.push(flag.long());
                }
                self.commander_flag(&word)?
            } else if let Some((flag, name)) = &list {
                let name = name.clone();
                self.give(flag, &name, Some(word))?
            } else {
                let command = self.program.command(&word).map(|command| command.is);
                // Each command counts for itself.
                if !is_agent || matches!(command, Some(Sub::Resume | Sub::Fork)) && !self.out.resumes {
                    typed.clear();
                }
                match command {
                    Some(Sub::Agent) if !is_agent => {
                        is_agent = true;
                        None
                    }
                    Some(Sub::Server(mode)) if !is_agent => {
                        is_agent = true;
                        self.out.server = Some(mode);
                        None
                    }
                    Some(is @ (Sub::Resume | Sub::Fork)) if is_agent && !self.out.resumes && self.out.operands.is_empty() => {
                        self.out.resumes = true;
                        self.out.forks = matches!(is, Sub::Fork);
                        None
                    }
                    Some(Sub::Errand(_)) if !is_agent => self.operand(word)?,
                    Some(Sub::Beside(_)) if !self.out.resumes && self.out.server.is_none() && self.out.operands.is_empty() => self.operand(word)?,
                    _ => self.clap_operand(word, is_agent)?,
                }
            };
            if errand.is_some() {
                return Ok(errand);
            }
        }
        if is_agent { Ok(None) } else { Err(for_people(self.program)) }
    }

    /// The prompt, and before it the id of the session to go on with.
    fn clap_operand(&mut self, word: String, is_agent: bool) -> Result<Option<Errand>, ArgError> {
        if !is_agent {
            return Err(for_people(self.program));
        }
        if self.out.server.is_some() || self.out.operands.len() > usize::from(self.out.resumes) {
            return Err(surplus(self.program, &word));
        }
        self.out.operands.push(word);
        Ok(None)
    }
}

/// Without the word for the agent it is a program for people.
fn for_people(program: &Program) -> ArgError {
    ArgError::line(format!("Error: stdin is not a terminal\n{}", no_terminal(program)), 1)
}

/// A word that nobody knows.
pub(super) fn surplus(program: &Program, word: &str) -> ArgError {
    complaint(&format!("unexpected argument '{word}' found\n\n{}", usage(program)))
}

/// A flag that was given before.
fn twice(program: &Program, flag: &Flag) -> ArgError {
    let usage = usage(program);
    complaint(&format!("the argument '{}' cannot be used multiple times\n\n{usage}", declared(flag)))
}

fn usage(program: &Program) -> String {
    let agent = program.commands.iter().find(|command| matches!(command.is, Sub::Agent));
    let agent = agent.map_or("", |command| command.names[0]);
    let name = program.name;
    format!("Usage: {name} {agent} [OPTIONS] [PROMPT]\n       {name} {agent} [OPTIONS] <COMMAND> [ARGS]")
}

/// A flag without its value.
pub(super) fn missing(flag: &Flag) -> ArgError {
    complaint(&format!("a value is required for '{}' but none was supplied", declared(flag)))
}

/// A word that a small command needs and did not get.
pub(super) fn no_operand(name: &str) -> ArgError {
    complaint(&format!("the following required arguments were not provided:\n  <{name}>"))
}

/// A value that the flag does not take.
pub(super) fn no_choice(flag: &Flag, value: &str) -> ArgError {
    let Shape::OneOf(_, words, _) = flag.shape else {
        return complaint(&format!("invalid value '{value}' for '{}'", declared(flag)));
    };
    complaint(&format!(
        "invalid value '{value}' for '{}'\n  [possible values: {}]",
        declared(flag),
        words.join(", ")
    ))
}

fn declared(flag: &Flag) -> String {
    format!("{} {}", flag.long(), flag.shape.placeholder()).trim_end().to_owned()
}

fn complaint(text: &str) -> ArgError {
    ArgError::line(format!("error: {text}\n\nFor more information, try '--help'."), 2)
}
