//! Commander's grammar.

use super::{ArgError, Errand, Flag, Grammar, Program, Scan, Shape, clap, first_letter};

impl Scan<'_> {
    pub(super) fn commander(&mut self) -> Result<Option<Errand>, ArgError> {
        let mut list: Option<(&'static Flag, String)> = None;
        while let Some(word) = self.next() {
            if word == "--" {
                self.literal();
                break;
            }
            let errand = if word.len() > 1 && word.starts_with('-') {
                list = self
                    .program
                    .flag(&word)
                    .filter(|flag| matches!(flag.shape, Shape::List(_)))
                    .map(|flag| (flag, word.clone()));
                self.commander_flag(&word)?
            } else if let Some((flag, name)) = &list {
                let name = name.clone();
                self.give(flag, &name, Some(word))?
            } else {
                self.operand(word)?
            };
            if errand.is_some() {
                return Ok(errand);
            }
        }
        Ok(None)
    }

    pub(super) fn commander_flag(&mut self, word: &str) -> Result<Option<Errand>, ArgError> {
        if let Some(flag) = self.program.flag(word) {
            let value = match flag.shape {
                Shape::Switch => None,
                Shape::Maybe(_) => match self.peek() {
                    Some(next) if !(next.len() > 1 && next.starts_with('-')) => self.next(),
                    _ => None,
                },
                // A value may begin with a dash here.
                _ => Some(self.next().ok_or_else(|| missing(self.program, flag))?),
            };
            return self.give(flag, word, value);
        }
        if let Some((flag, name, value)) = with_equals(self.program, word) {
            return self.give(flag, name, Some(value.to_owned()));
        }
        let mut letters = word.strip_prefix('-').unwrap_or_default();
        while let Some((flag, name, after)) = first_letter(self.program, letters) {
            if after.is_empty() {
                // The last letter is a flag like any other: its value is the next word.
                return self.commander_flag(&name);
            }
            if !matches!(flag.shape, Shape::Switch) {
                return self.give(flag, &name, Some(after.to_owned()));
            }
            if let Some(errand) = self.give(flag, &name, None)? {
                return Ok(Some(errand));
            }
            letters = after;
        }
        self.unknown(format!("-{letters}"));
        Ok(None)
    }
}

fn missing(program: &Program, flag: &Flag) -> ArgError {
    if program.grammar == Grammar::Clap {
        return clap::missing(flag);
    }
    ArgError::line(format!("error: option '{}' argument missing", flag.declared()), 1)
}

/// `--x=VALUE` of a flag that takes one.
fn with_equals<'w>(program: &Program, word: &'w str) -> Option<(&'static Flag, &'w str, &'w str)> {
    let (name, value) = word.split_once('=').filter(|(name, _)| name.starts_with("--"))?;
    let flag = program.flag(name)?;
    (!matches!(flag.shape, Shape::Switch)).then_some((flag, name, value))
}
