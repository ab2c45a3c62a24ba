//! argparse's grammar.

use super::{ArgError, Errand, Flag, Scan, Shape, argparse_error, first_letter, is_negative_number};

impl Scan<'_> {
    pub(super) fn argparse(&mut self) -> Result<Option<Errand>, ArgError> {
        // Abbreviations are told apart before anything is read.
        for word in self.args.iter().take_while(|word| *word != "--").filter(|word| looks_like_flag(word)) {
            self.abbreviated(word.split_once('=').map_or(word, |(name, _)| name))?;
        }
        while let Some(word) = self.next() {
            if word == "--" {
                // It belongs to the prompt if it stands beside it, and is a surplus word elsewhere.
                if !self.out.operands.is_empty() && self.prompt_end != self.at - 1 {
                    self.unknown(word);
                }
                while let Some(word) = self.next() {
                    self.prompt_or_surplus(word);
                }
                break;
            }
            if !looks_like_flag(&word) {
                self.prompt_or_surplus(word);
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let errand = match self.abbreviated(name)? {
                Some(flag) => self.argparse_flag(flag, name, value)?,
                None => self.argparse_cluster(&word)?,
            };
            if errand.is_some() {
                return Ok(errand);
            }
        }
        Ok(None)
    }

    fn argparse_flag(&mut self, flag: &'static Flag, name: &str, value: Option<String>) -> Result<Option<Errand>, ArgError> {
        let value = match (flag.shape, value) {
            (Shape::Switch, Some(value)) => {
                let text = format!("argument {}: ignored explicit argument '{value}'", flag.names.join("/"));
                return Err(self.argparse_error(&text));
            }
            (Shape::Switch, None) => None,
            (_, Some(value)) => Some(value),
            (_, None) => match self.peek() {
                Some(next) if next == "-" || !next.starts_with('-') || is_negative_number(next) || next.contains(' ') => self.next(),
                _ => {
                    let text = format!("argument {}: expected one argument", flag.names.join("/"));
                    return Err(self.argparse_error(&text));
                }
            },
        };
        self.give(flag, name, value)
    }

    /// The one flag whose long name begins so.
    fn abbreviated(&self, name: &str) -> Result<Option<&'static Flag>, ArgError> {
        if let Some(flag) = self.program.flag(name) {
            return Ok(Some(flag));
        }
        if !name.starts_with("--") {
            return Ok(None);
        }
        let begins: Vec<(&'static Flag, &str)> = self
            .program
            .flags
            .iter()
            .flat_map(|flag| flag.names.iter().filter(|long| long.starts_with(name)).map(move |long| (flag, *long)))
            .collect();
        match begins.as_slice() {
            [] => Ok(None),
            [(flag, _)] => Ok(Some(flag)),
            many => {
                let names: Vec<&str> = many.iter().map(|(_, name)| *name).collect();
                Err(self.argparse_error(&format!("ambiguous option: {name} could match {}", names.join(", "))))
            }
        }
    }

    /// `-vl`, `-rID`; a word with a blank in it that is no flag is an operand.
    fn argparse_cluster(&mut self, word: &str) -> Result<Option<Errand>, ArgError> {
        let mut letters = word.strip_prefix('-').unwrap_or_default();
        let Some((mut flag, mut name, mut after)) = first_letter(self.program, letters) else {
            if word.contains(' ') {
                self.prompt_or_surplus(word.to_owned());
                return Ok(None);
            }
            self.unknown(word.to_owned());
            return Ok(None);
        };
        loop {
            if after.is_empty() {
                return self.argparse_flag(flag, &name, None);
            }
            if !matches!(flag.shape, Shape::Switch) {
                return self.give(flag, &name, Some(after.strip_prefix('=').unwrap_or(after).to_owned()));
            }
            letters = after;
            if let Some(errand) = self.give(flag, &name, None)? {
                return Ok(Some(errand));
            }
            let Some(next) = first_letter(self.program, letters) else {
                // As Python 3.13 does; older ones blame the flag before.
                self.unknown(format!("-{letters}"));
                return Ok(None);
            };
            (flag, name, after) = next;
        }
    }

    /// One word is the prompt; the others stand among the flags that nobody knows.
    fn prompt_or_surplus(&mut self, word: String) {
        if self.out.operands.is_empty() {
            self.out.operands.push(word);
            self.prompt_end = self.at;
        } else {
            self.unknown(word);
        }
    }

    fn argparse_error(&self, text: &str) -> ArgError {
        argparse_error(self.program, text)
    }
}

fn looks_like_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !is_negative_number(word)
}
