//! The characters of a command line.

use super::{Command, DEEPEST, Redirect, Script, Word};

type Read<T> = Result<T, String>;

/// Reads a whole line. What was read before a problem is in `into`.
pub(super) fn read(line: &str, depth: usize, into: &mut Vec<Command>) -> Read<()> {
    let mut lexer = Lexer {
        chars: line.chars().collect(),
        at: 0,
        depth,
        into,
        heredocs: Vec::new(),
    };
    lexer.list(false)?;
    if lexer.heredocs.is_empty() {
        Ok(())
    } else {
        Err(unclear("a here-document without an end"))
    }
}

struct Lexer<'a> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    into: &'a mut Vec<Command>,
    /// Here-documents that begin behind this line.
    heredocs: Vec<Heredoc>,
}

struct Heredoc {
    end: String,
    tabs: bool,
    quoted: bool,
}

fn unclear(what: &str) -> String {
    format!("the command cannot be judged for sure: {what}")
}

const OPERATORS: &str = ";&|()<>";

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next_is(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.chars.get(self.at + index) == Some(&c))
    }

    fn eat(&mut self, text: &str) -> bool {
        let is = self.next_is(text);
        if is {
            self.at += text.chars().count();
        }
        is
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Commands up to the end, or up to the parenthesis that closes.
    fn list(&mut self, closes: bool) -> Read<()> {
        loop {
            self.blanks();
            match self.peek() {
                None if closes => return Err(unclear("a parenthesis that is not closed")),
                None => return Ok(()),
                Some('#') => self.comment(),
                Some('\n') => {
                    self.at += 1;
                    self.bodies()?;
                }
                Some(';') => {
                    self.at += 1;
                    if self.peek() == Some(';') {
                        return Err(unclear("`;;`"));
                    }
                }
                Some('&') if !self.next_is("&>") => self.at += 1,
                Some('|') => self.at += 1,
                Some(')') if closes => {
                    self.at += 1;
                    return if self.heredocs.is_empty() {
                        Ok(())
                    } else {
                        Err(unclear("a here-document in parentheses"))
                    };
                }
                Some(')') => return Err(unclear("a parenthesis that was not opened")),
                Some('(') => {
                    if self.next_is("((") {
                        return Err(unclear("arithmetic"));
                    }
                    self.at += 1;
                    self.deeper()?;
                    self.behind()?;
                }
                Some(_) => self.simple()?,
            }
        }
    }

    /// What is in parentheses, the first of which has been read.
    fn deeper(&mut self) -> Read<()> {
        if self.depth >= DEEPEST {
            return Err(unclear("it is nested too deeply"));
        }
        if !self.heredocs.is_empty() {
            return Err(unclear("a here-document before parentheses"));
        }
        self.depth += 1;
        self.list(true)?;
        self.depth -= 1;
        Ok(())
    }

    /// Redirections behind a group.
    fn behind(&mut self) -> Read<()> {
        let mut command = Command::default();
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')' | '#') => break,
                Some('&') if !self.next_is("&>") => break,
                Some('<' | '>' | '&') => self.redirect(&mut command)?,
                Some(c) if c.is_ascii_digit() => {
                    let word = self.word()?;
                    if !self.is_descriptor(&word) {
                        return Err(unclear("words behind a group"));
                    }
                }
                Some(_) => return Err(unclear("words behind a group")),
            }
        }
        if !command.redirects.is_empty() {
            self.into.push(command);
        }
        Ok(())
    }

    fn is_descriptor(&self, word: &Word) -> bool {
        !word.raw.is_empty()
            && word.raw.chars().all(|c| c.is_ascii_digit())
            && matches!(self.peek(), Some('<' | '>'))
            && !self.next_is("<(")
            && !self.next_is(">(")
    }

    /// One command, and the words of the language before it.
    fn simple(&mut self) -> Read<()> {
        let mut command = Command::default();
        let start = self.into.len();
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if !self.next_is("&>") => break,
                Some('(') => return Err(unclear("a function or an array")),
                Some('#') => {
                    self.comment();
                    break;
                }
                Some('<' | '>' | '&') if !self.next_is("<(") && !self.next_is(">(") => self.redirect(&mut command)?,
                Some(_) => {
                    let word = self.word()?;
                    if self.is_descriptor(&word) {
                        continue;
                    }
                    if word.raw.starts_with('{') && matches!(self.peek(), Some('<' | '>')) {
                        return Err(unclear("a named descriptor"));
                    }
                    let first = command.words.is_empty();
                    if first && command.assigns.is_empty() && command.redirects.is_empty() {
                        match word.raw.as_str() {
                            "!" | "then" | "else" | "elif" | "if" | "while" | "until" | "do" | "{" => continue,
                            "time" => {
                                self.blanks();
                                while self.next_is("-p ") {
                                    self.at += 2;
                                    self.blanks();
                                }
                                continue;
                            }
                            "}" | "fi" | "done" => return self.behind(),
                            "for" => {
                                self.loop_over()?;
                                continue;
                            }
                            "case" | "esac" | "select" | "function" | "coproc" | "[[" | "]]" | "in" => {
                                return Err(unclear(&format!("`{}`", word.raw)));
                            }
                            _ => {}
                        }
                    }
                    if first && is_assignment(&word.raw) {
                        command.assigns.push(word);
                    } else if first && assigns_an_element(&word.raw) {
                        return Err(unclear("an assignment to an element"));
                    } else {
                        command.words.push(word);
                    }
                }
            }
        }
        if !(command.words.is_empty() && command.assigns.is_empty() && command.redirects.is_empty()) {
            // What is substituted runs before; order matters to nobody but the reader.
            self.into.insert(start, command);
        }
        Ok(())
    }

    /// `for NAME in WORDS`.
    fn loop_over(&mut self) -> Read<()> {
        self.blanks();
        let name = self.word()?;
        if !is_name(&name.raw) {
            return Err(unclear("`for`"));
        }
        self.blanks();
        while self.peek() == Some('\n') {
            self.at += 1;
            self.blanks();
        }
        if !self.next_is("in") {
            return Ok(());
        }
        let word = self.word()?;
        if word.raw != "in" {
            return if word.raw == "do" { Ok(()) } else { Err(unclear("`for`")) };
        }
        loop {
            self.blanks();
            match self.peek() {
                Some(';' | '\n') => return Ok(()),
                Some(c) if !OPERATORS.contains(c) && c != '#' => {
                    self.word()?;
                }
                _ => return Err(unclear("`for`")),
            }
        }
    }

    fn redirect(&mut self, command: &mut Command) -> Read<()> {
        if self.eat("<<<") {
            self.blanks();
            self.word()?;
            return Ok(());
        }
        if self.eat("<<") {
            let tabs = self.eat("-");
            self.blanks();
            let end = self.word()?;
            let Some(value) = end.value.filter(|_| !end.raw.contains('\n')) else {
                return Err(unclear("a here-document"));
            };
            self.heredocs.push(Heredoc {
                quoted: end.raw != value,
                end: value,
                tabs,
            });
            return Ok(());
        }
        let both = self.eat("&>>") || self.eat("&>");
        let copies = !both && (self.next_is(">&") || self.next_is("<&"));
        let writes = both || self.peek() == Some('>') || self.next_is("<>");
        if !both {
            let _ = self.eat(">>") || self.eat(">|") || self.eat(">&") || self.eat("<&") || self.eat("<>") || self.eat(">") || self.eat("<");
        }
        self.blanks();
        if matches!(self.peek(), None | Some('\n'))
            || (self.peek().is_some_and(|c| OPERATORS.contains(c)) && !self.next_is("<(") && !self.next_is(">("))
        {
            return Err(unclear("a redirection to nothing"));
        }
        let target = self.word()?;
        let number = target.raw.trim_end_matches('-');
        if copies && (number.is_empty() || number.chars().all(|c| c.is_ascii_digit())) {
            return Ok(());
        }
        if target.raw.starts_with("<(") || target.raw.starts_with(">(") {
            return Ok(());
        }
        command.redirects.push(Redirect { writes, target });
        Ok(())
    }

    /// The here-documents that begin on this line.
    fn bodies(&mut self) -> Read<()> {
        for heredoc in std::mem::take(&mut self.heredocs) {
            loop {
                if self.at >= self.chars.len() {
                    return Err(unclear("a here-document without an end"));
                }
                let from = self.at;
                self.comment();
                let line: String = self.chars[from..self.at].iter().collect();
                self.at += 1;
                let line = if heredoc.tabs { line.trim_start_matches('\t') } else { &line };
                if line == heredoc.end {
                    break;
                }
                if !heredoc.quoted
                    && (line.contains("$(") || line.contains("${") || line.contains("$[") || line.contains('`') || line.ends_with('\\'))
                {
                    return Err(unclear("a here-document with substitutions"));
                }
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Read<Word> {
        let mut word = Building::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' => break,
                '<' | '>' if self.chars.get(self.at + 1) == Some(&'(') => {
                    let from = self.at;
                    self.at += 2;
                    self.deeper()?;
                    word.unknown(&self.chars[from..self.at]);
                }
                c if OPERATORS.contains(c) => break,
                '\\' => {
                    let Some(&next) = self.chars.get(self.at + 1) else {
                        return Err(unclear("a backslash at the end"));
                    };
                    self.at += 2;
                    if next != '\n' {
                        word.raw.extend(['\\', next]);
                        word.value.push(next);
                    }
                }
                '\'' => {
                    let from = self.at;
                    self.at += 1;
                    loop {
                        match self.peek() {
                            None => return Err(unclear("a quote that is not closed")),
                            Some('\'') => break,
                            Some(c) => word.value.push(c),
                        }
                        self.at += 1;
                    }
                    self.at += 1;
                    word.raw.extend(&self.chars[from..self.at]);
                }
                '"' => self.quoted(&mut word)?,
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word)?,
                '{' if self.chars.get(self.at + 1) != Some(&'}') && self.braces() => {
                    word.known = false;
                    self.take(&mut word);
                }
                '~' if word.raw.is_empty()
                    && !matches!(self.chars.get(self.at + 1), None | Some('/' | ' ' | '\t' | '\n' | ';' | '&' | '|' | ')')) =>
                {
                    word.known = false;
                    self.take(&mut word);
                }
                '*' | '?' | '[' => {
                    word.glob = true;
                    self.take(&mut word);
                }
                _ => self.take(&mut word),
            }
        }
        Ok(Word {
            raw: word.raw,
            value: word.known.then_some(word.value),
            glob: word.glob,
        })
    }

    /// A character that stands for itself.
    fn take(&mut self, word: &mut Building) {
        if let Some(c) = self.peek() {
            word.raw.push(c);
            word.value.push(c);
            self.at += 1;
        }
    }

    /// Whether braces begin here that become several words.
    fn braces(&self) -> bool {
        let rest = self.chars[self.at + 1..].iter().take_while(|c| !c.is_whitespace());
        let rest: String = rest.collect();
        rest.contains(',') || rest.contains("..")
    }

    fn quoted(&mut self, word: &mut Building) -> Read<()> {
        self.at += 1;
        word.raw.push('"');
        loop {
            match self.peek() {
                None => return Err(unclear("a quote that is not closed")),
                Some('"') => {
                    self.at += 1;
                    word.raw.push('"');
                    return Ok(());
                }
                Some('\\') => {
                    let Some(&next) = self.chars.get(self.at + 1) else {
                        return Err(unclear("a quote that is not closed"));
                    };
                    self.at += 2;
                    match next {
                        '\n' => {}
                        '$' | '`' | '"' | '\\' => {
                            word.raw.extend(['\\', next]);
                            word.value.push(next);
                        }
                        _ => {
                            word.raw.extend(['\\', next]);
                            word.value.extend(['\\', next]);
                        }
                    }
                }
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backticks(word)?,
                Some(_) => self.take(word),
            }
        }
    }

    /// What begins with `$`.
    fn dollar(&mut self, word: &mut Building, quoted: bool) -> Read<()> {
        let from = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') => {
                if self.next_is("((") {
                    return Err(unclear("arithmetic"));
                }
                self.at += 1;
                self.deeper()?;
            }
            Some('[') => return Err(unclear("arithmetic")),
            Some('{') => {
                self.at += 1;
                let name = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                if self.at == name || self.peek() != Some('}') {
                    return Err(unclear("`${…}`"));
                }
                self.at += 1;
            }
            Some('\'') if !quoted => {
                self.at += 1;
                loop {
                    match self.peek() {
                        None => return Err(unclear("a quote that is not closed")),
                        Some('\\') => self.at += 1,
                        Some('\'') => break,
                        Some(_) => {}
                    }
                    self.at += 1;
                }
                self.at += 1;
            }
            Some('"') if !quoted => {
                word.known = false;
                word.raw.push('$');
                return self.quoted(word);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
            }
            Some(c) if c.is_ascii_digit() || "?!$#@*-".contains(c) => self.at += 1,
            _ => {
                word.raw.push('$');
                word.value.push('$');
                return Ok(());
            }
        }
        if self.at > self.chars.len() {
            return Err(unclear("a quote that is not closed"));
        }
        word.unknown(&self.chars[from..self.at]);
        Ok(())
    }

    fn backticks(&mut self, word: &mut Building) -> Read<()> {
        let from = self.at;
        self.at += 1;
        let inside = self.at;
        loop {
            match self.peek() {
                None => return Err(unclear("a backtick that is not closed")),
                Some('\\') => return Err(unclear("a backslash between backticks")),
                Some('`') => break,
                Some(_) => self.at += 1,
            }
        }
        let text: String = self.chars[inside..self.at].iter().collect();
        self.at += 1;
        let script = Script::parse_at(&text, self.depth + 1);
        self.into.extend(script.commands);
        if let Some(problem) = script.problem {
            return Err(problem);
        }
        word.unknown(&self.chars[from..self.at]);
        Ok(())
    }
}

struct Building {
    raw: String,
    value: String,
    known: bool,
    glob: bool,
}

impl Default for Building {
    fn default() -> Self {
        Self {
            raw: String::new(),
            value: String::new(),
            known: true,
            glob: false,
        }
    }
}

impl Building {
    /// A piece whose value only the shell knows.
    fn unknown(&mut self, raw: &[char]) {
        self.raw.extend(raw);
        self.known = false;
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_assignment(raw: &str) -> bool {
    raw.split_once('=')
        .is_some_and(|(name, _)| is_name(name.strip_suffix('+').unwrap_or(name)))
}

fn assigns_an_element(raw: &str) -> bool {
    raw.split_once('[')
        .is_some_and(|(name, rest)| is_name(name) && rest.contains("]=") || is_name(name) && rest.contains("]+="))
}
