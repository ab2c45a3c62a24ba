//! Command lines for a shell, taken apart without running them.
//!
//! This reads the part of the language that models write day by day, and says of everything else that it does not understand it: then a
//! person is asked. So it may be wrong in one direction only. It is not a check of syntax: a line that bash refuses may be read.

mod lex;
pub(super) mod reads;
pub(super) mod wrap;

/// So long may a command line be, in characters.
const LONGEST: usize = 64 * 1024;
/// So deep may substitutions and subshells be nested.
const DEEPEST: usize = 12;

/// A command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands in it, wherever they stand: behind each other, in pipes, in subshells, in substitutions.
    pub commands: Vec<Command>,
    /// Why there may be more in it than [`Self::commands`].
    pub problem: Option<String>,
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Assignments before it, or alone.
    pub assigns: Vec<Word>,
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// Files that are opened for it.
    pub redirects: Vec<Redirect>,
    /// More arguments will be added when it runs.
    pub open: bool,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// As it is written, quotes and all.
    pub raw: String,
    /// What the command gets; `None`: that cannot be told before it runs.
    pub value: Option<String>,
    /// It may become names of files.
    pub glob: bool,
}

/// A file that is opened for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// It is written.
    pub writes: bool,
    /// Which.
    pub target: Word,
}

impl Script {
    /// Takes a command line apart.
    pub fn parse(line: &str) -> Self {
        Self::parse_at(line, 0)
    }

    fn parse_at(line: &str, depth: usize) -> Self {
        let mut script = Self::default();
        if line.chars().count() > LONGEST || depth > DEEPEST {
            script.problem = Some("the command is too long or too deeply nested to be judged".to_owned());
            return script;
        }
        if let Some(c) = line.chars().find(|c| is_unseen(*c)) {
            script.problem = Some(format!("the command holds a character that is not seen: U+{:04X}", c as u32));
            return script;
        }
        script.problem = lex::read(line, depth, &mut script.commands).err();
        script
    }
}

impl Command {
    /// The name, if it can be told.
    pub fn name(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }

    /// The whole of it but for redirections, one blank between the words.
    pub fn text(&self) -> String {
        let raws: Vec<&str> = self.assigns.iter().chain(&self.words).map(|word| word.raw.as_str()).collect();
        raws.join(" ")
    }

    /// The same without assignments.
    pub fn bare(&self) -> String {
        let raws: Vec<&str> = self.words.iter().map(|word| word.raw.as_str()).collect();
        raws.join(" ")
    }

    /// The words behind the first, as the command gets them; `None`: not all can be told.
    pub fn arguments(&self) -> Option<Vec<&str>> {
        self.words.iter().skip(1).map(|word| word.value.as_deref()).collect()
    }
}

/// Characters that look like nothing or like a blank, or turn the text around: what a person is shown is not what runs.
fn is_unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{1680}' | '\u{180e}' | '\u{3000}' | '\u{feff}' => true,
        '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
