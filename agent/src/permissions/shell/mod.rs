//! Command lines for a shell, taken apart without running them.
//!
//! There are two readings. `plain` is for what may run unasked: a language so small that no shell can mean anything else by it, and
//! `reads` says which commands of it only read. `tree` is for rules that forbid: it looks for commands wherever the language has them.

pub(super) mod git;
pub(super) mod plain;
pub(super) mod reads;
mod table;
pub(super) mod tree;

use agentglot_adapters::raw::hidden::is_hidden;

/// So long may a command line be, in bytes.
const LONGEST: usize = 64 << 10;

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// What stands before it.
    pub join: Join,
}

/// How a command hangs together with the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Join {
    /// `;`, or nothing.
    #[default]
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`: both run at the same time.
    Pipe,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// As it is written, quotes and all.
    pub raw: String,
    /// What the command gets; `None`: that cannot be told before it runs.
    pub value: Option<String>,
}

impl Command {
    /// The name, if it can be told.
    pub(super) fn name(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }

    /// As it is written but for redirections, one blank between the words.
    pub(super) fn text(&self) -> String {
        let raws: Vec<&str> = self.words.iter().map(|word| word.raw.as_str()).collect();
        raws.join(" ")
    }

    /// The words as the command gets them; `None`: not all can be told.
    pub(super) fn values(&self) -> Option<Vec<&str>> {
        self.words.iter().map(|word| word.value.as_deref()).collect()
    }
}

/// The first word of a line that is a command's name, for who shows it.
pub(crate) fn root_command(line: &str) -> Option<String> {
    let tree = tree::Tree::read(line);
    tree.commands.first()?.name().map(str::to_owned)
}

/// Why a line cannot be read at all: its length, or characters that look like nothing or like a blank or turn the text around, so that
/// what a person is shown is not what runs.
fn unreadable(line: &str) -> Option<String> {
    if line.len() > LONGEST {
        return Some("the command is too long to be judged".to_owned());
    }
    let c = line.chars().find(|c| is_unseen(*c))?;
    Some(format!("the command holds a character that is not seen: U+{:04X}", c as u32))
}

/// Whether a character is not seen, or is a blank that separates no words.
pub(super) fn is_unseen(c: char) -> bool {
    let is_blank = matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
    is_blank || is_hidden(c) || c == '\u{fe0e}'
}

#[cfg(test)]
mod tests;
