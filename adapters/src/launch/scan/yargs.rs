//! yargs' grammar.

use super::{ArgError, Errand, Flag, Scan, Shape, Sub, is_negative_number, no_terminal};

impl Scan<'_> {
    pub(super) fn yargs(&mut self) -> Result<Option<Errand>, ArgError> {
        while let Some(word) = self.next() {
            if word == "--" {
                self.literal();
                break;
            }
            let errand = if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let kebab = kebab(name);
                let flag = self.program.flag(&format!("--{kebab}"));
                let negated = kebab.strip_prefix("no-").filter(|_| flag.is_none() && value.is_none());
                let negated = negated
                    .and_then(|name| self.program.flag(&format!("--{name}")))
                    .filter(|flag| matches!(flag.shape, Shape::Switch));
                match (flag, negated) {
                    (Some(flag), _) => self.yargs_flag(flag, &format!("--{name}"), value)?,
                    (None, Some(flag)) => self.give(flag, &word, Some("false".to_owned()))?,
                    (None, None) => {
                        self.unknown(word);
                        None
                    }
                }
            } else if word.len() > 1 && word.starts_with('-') && !is_negative_number(&word) {
                self.yargs_cluster(&word)?
            } else {
                self.operand(word)?
            };
            if errand.is_some() {
                return Ok(errand);
            }
        }
        let has_word = self.program.commands.iter().any(|command| matches!(command.is, Sub::Agent));
        if has_word && !self.is_agent {
            return Err(ArgError::line(no_terminal(self.program), 1));
        }
        Ok(None)
    }

    fn yargs_flag(&mut self, flag: &'static Flag, name: &str, value: Option<String>) -> Result<Option<Errand>, ArgError> {
        let is_value = |next: &str| !next.starts_with('-') || is_negative_number(next);
        match flag.shape {
            Shape::Switch => {
                let value = value.or_else(|| {
                    self.peek()
                        .is_some_and(|next| next == "true" || next == "false")
                        .then(|| self.next())
                        .flatten()
                });
                self.give(flag, name, value)
            }
            Shape::List(_) => {
                let mut any = false;
                if let Some(value) = value {
                    self.give(flag, name, Some(value))?;
                    any = true;
                }
                while self.peek().is_some_and(is_value) {
                    let value = self.next();
                    self.give(flag, name, value)?;
                    any = true;
                }
                if !any {
                    self.give(flag, name, None)?;
                }
                Ok(None)
            }
            _ => {
                // A text flag without its value has the empty one.
                let value = match value {
                    Some(value) => value,
                    None if self.peek().is_some_and(is_value) => self.next().unwrap_or_default(),
                    None => String::new(),
                };
                self.give(flag, name, Some(value))
            }
        }
    }

    /// `-abc`: three flags of which the last may have a value; `-o=json`.
    fn yargs_cluster(&mut self, word: &str) -> Result<Option<Errand>, ArgError> {
        let mut letters = word.strip_prefix('-').unwrap_or_default();
        while let Some(letter) = letters.chars().next() {
            let name = format!("-{letter}");
            letters = &letters[letter.len_utf8()..];
            let value = letters.strip_prefix('=').map(str::to_owned);
            match (self.program.flag(&name), value) {
                (Some(flag), value) if value.is_some() || letters.is_empty() => return self.yargs_flag(flag, &name, value),
                (Some(flag), _) => {
                    let empty = (!matches!(flag.shape, Shape::Switch)).then(String::new);
                    if let Some(errand) = self.give(flag, &name, empty)? {
                        return Ok(Some(errand));
                    }
                }
                (None, Some(value)) => {
                    self.unknown(format!("{name}={value}"));
                    return Ok(None);
                }
                (None, None) => self.unknown(name),
            }
        }
        Ok(None)
    }
}

/// `outputFormat` as `output-format`.
fn kebab(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() {
            if at > 0 {
                text.push('-');
            }
            text.push(letter.to_ascii_lowercase());
        } else {
            text.push(letter);
        }
    }
    text
}
