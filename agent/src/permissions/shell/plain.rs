//! The language of what may run unasked: commands of literal words, joined by `;` `&&` `||` `|` and newlines.
//!
//! Every character outside quotes is one of [a few](is_plain) that no shell gives a meaning; everything else is refused. So what is read
//! here is what runs, whatever else bash knows. That the [grammar](super::tree) sees the same commands is asked as well.

use super::tree::Tree;
use super::{Command, Join, Word, unreadable};

/// The commands of a line.
///
/// # Errors
/// Why it is not of this language.
pub(in crate::permissions) fn read(line: &str) -> Result<Vec<Command>, String> {
    if let Some(why) = unreadable(line) {
        return Err(why);
    }
    let mut lexer = Lexer { rest: line };
    let commands = lexer.list()?;
    let tree = Tree::read(line);
    if let Some(problem) = tree.problem {
        return Err(problem);
    }
    let same = tree.commands.len() == commands.len()
        && tree.commands.iter().zip(&commands).all(|(seen, command)| {
            // The grammar has a rule of its own for what stands in brackets.
            command.name() == Some("[") || seen.words == command.words
        });
    if same {
        Ok(commands)
    } else {
        Err(unclear("it can be read in two ways"))
    }
}

/// What a word means to a command; `None` if it is not literal.
pub(super) fn value(raw: &str) -> Option<String> {
    let mut lexer = Lexer { rest: raw };
    let word = lexer.word().ok()?;
    (lexer.rest.is_empty()).then_some(word.value)?
}

fn unclear(what: &str) -> String {
    format!("the command cannot be judged for sure: {what}")
}

/// Characters that stand for themselves, wherever in a word and in whichever shell.
const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ',' | ':' | '@' | '%' | '+' | '=')
}

/// Words of the language in the place of a command.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in", "function", "time", "coproc", "{",
    "}", "{}", "!", "[[", "]]", "]",
];

/// Words that are literal as a whole, though their characters are not.
const WHOLE: &[&str] = &["[", "]", "{}", "!"];

/// Redirections that neither write nor read a file.
const NOWHERE: &[&str] = &["&>>", "&>", ">>", ">", "<"];

struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    fn eat(&mut self, text: &str) -> bool {
        let behind = self.rest.strip_prefix(text);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Whether a word ends here.
    fn at_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with([' ', '\t', '\n', ';', '&', '|', '<', '>'])
    }

    fn list(&mut self) -> Result<Vec<Command>, String> {
        let mut commands = Vec::new();
        let mut join = Join::Then;
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
            if self.rest.is_empty() && join == Join::Then {
                return Ok(commands);
            }
            let words = self.simple()?;
            commands.push(Command { words, join });
            join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else if self.eat("|") {
                Join::Pipe
            } else if self.eat(";") || self.eat("\n") || self.rest.is_empty() {
                Join::Then
            } else {
                return Err(unclear("`&` or something like it"));
            };
        }
    }

    fn simple(&mut self) -> Result<Vec<Word>, String> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if self.redirect()? {
                continue;
            }
            if self.at_end() {
                break;
            }
            let word = self.word()?;
            if words.is_empty() && (RESERVED.contains(&word.raw.as_str()) || word.raw.contains('=')) {
                return Err(unclear(&format!("`{}`", word.raw)));
            }
            words.push(word);
        }
        if words.is_empty() {
            return Err(unclear("a command without words"));
        }
        Ok(words)
    }

    /// `2>/dev/null`, `2>&1` and their like.
    fn redirect(&mut self) -> Result<bool, String> {
        let from = self.rest;
        let digit = self.rest.starts_with(['0', '1', '2']) && self.rest[1..].starts_with(['<', '>']);
        if digit {
            self.rest = &self.rest[1..];
        }
        if [">&1", ">&2"].iter().any(|copy| self.eat(copy)) {
            return if self.at_end() { Ok(true) } else { Err(unclear("a redirection")) };
        }
        if !NOWHERE
            .iter()
            .filter(|operator| !(digit && operator.starts_with('&')))
            .any(|operator| self.eat(operator))
        {
            self.rest = from;
            return Ok(false);
        }
        self.blanks();
        if self.eat("/dev/null") && self.at_end() {
            return Ok(true);
        }
        Err(unclear("a redirection"))
    }

    fn word(&mut self) -> Result<Word, String> {
        let from = self.rest;
        if let Some(whole) = WHOLE.iter().find(|whole| {
            let behind = self.rest.strip_prefix(**whole);
            behind.is_some_and(|rest| Lexer { rest }.at_end())
        }) {
            self.rest = &self.rest[whole.len()..];
            return Ok(Word {
                raw: (*whole).to_owned(),
                value: Some((*whole).to_owned()),
            });
        }
        // `=ls` is a path in zsh.
        if self.rest.starts_with('=') {
            return Err(unclear("`=` before a word"));
        }
        let mut value = String::new();
        let mut before = ' ';
        while !self.at_end() {
            let mut chars = self.rest.chars();
            let c = chars.next().unwrap_or_default();
            let next = chars.next();
            match c {
                c if is_plain(c) => value.push(c),
                // `HEAD~1`, `HEAD^`: nothing but a letter stands before.
                '~' | '^' if before.is_ascii_alphanumeric() || matches!(before, '~' | '^') => value.push(c),
                '\\' => {
                    let next = next.filter(|next| matches!(next, ' '..='~')).ok_or_else(|| unclear("a backslash"))?;
                    value.push(next);
                    self.rest = &self.rest[1..];
                }
                '\'' => {
                    let (inside, behind) = self.rest[1..].split_once('\'').ok_or_else(|| unclear("a quote that is not closed"))?;
                    value.push_str(inside);
                    self.rest = behind;
                    before = ' ';
                    continue;
                }
                '"' => {
                    self.rest = &self.rest[1..];
                    self.quoted(&mut value)?;
                    before = ' ';
                    continue;
                }
                c => return Err(unclear(&format!("`{c}` outside quotes"))),
            }
            before = if c == '\\' { ' ' } else { c };
            self.rest = &self.rest[1..];
        }
        Ok(Word {
            raw: from[..from.len() - self.rest.len()].to_owned(),
            value: Some(value),
        })
    }

    /// What is in double quotes, the first of which has been read.
    fn quoted(&mut self, value: &mut String) -> Result<(), String> {
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(());
                }
                '$' | '`' => return Err(unclear(&format!("`{c}` in double quotes"))),
                '\\' => match chars.next() {
                    Some((_, next @ ('$' | '`' | '"' | '\\'))) => value.push(next),
                    Some((_, next)) if next != '\n' => value.extend(['\\', next]),
                    _ => return Err(unclear("a backslash")),
                },
                c => value.push(c),
            }
        }
        Err(unclear("a quote that is not closed"))
    }
}
