//! Markdown: for a page, a pull request, a report.

use std::io;

use super::row::{By, Row, State, What};
use super::text::Look;
use super::words::{clock, counted, duration, figures, first_line, outcome, shown};
use super::{Cut, Out, Page};
use crate::io::one_line;

/// A page of Markdown.
pub struct MarkdownPage<'w> {
    out: Out<'w>,
    cut: Cut,
    thinking: bool,
    utc: bool,
    begun: bool,
}

impl std::fmt::Debug for MarkdownPage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MarkdownPage").field("cut", &self.cut).finish_non_exhaustive()
    }
}

impl<'w> MarkdownPage<'w> {
    /// An empty one. Of how text is shown, widths and colours mean nothing here.
    pub fn new(out: Out<'w>, look: Look) -> Self {
        Self {
            out,
            cut: look.cut,
            thinking: look.thinking,
            utc: look.utc,
            begun: false,
        }
    }

    /// A paragraph, or another thing that empty lines stand around; subagents' are quoted.
    fn put(&mut self, depth: usize, text: &str) -> io::Result<()> {
        let quote = "> ".repeat(depth);
        if std::mem::replace(&mut self.begun, true) {
            writeln!(self.out)?;
        }
        for line in text.lines() {
            writeln!(self.out, "{}", format!("{quote}{line}").trim_end())?;
        }
        Ok(())
    }

    /// A text between fences, cut.
    fn fenced(&mut self, depth: usize, language: &str, text: &str, most: usize) -> io::Result<()> {
        let text = shown(text);
        let (lines, hidden) = Cut::of(&text, most);
        if lines.is_empty() {
            return Ok(());
        }
        let text = lines.join("\n");
        let fence = fence(&text);
        self.put(depth, &format!("{fence}{language}\n{text}\n{fence}"))?;
        if hidden > 0 {
            self.put(depth, &format!("*… {}*", counted(hidden, "more line")))?;
        }
        Ok(())
    }

    fn call(&mut self, row: &Row<'_>) -> io::Result<()> {
        let What::Call { deed, state, ms, .. } = &row.what else { return Ok(()) };
        let object = shown(&deed.object);
        let (object, more) = first_line(&object);
        let mut parts = vec![format!("**{}**", inert(&deed.verb))];
        if !object.is_empty() {
            parts.push(code(object));
        }
        if more > 0 {
            parts.push(format!("(+{})", counted(more, "line")));
        }
        parts.extend(deed.detail.as_deref().map(inert));
        if let Some((added, removed)) = deed.lines.filter(|_| deed.diff.is_some()) {
            parts.push(format!("+{added} −{removed}"));
        }
        parts.extend(deed.exit.filter(|code| *code != 0).map(|code| format!("exit {code}")));
        if *state != State::Done && deed.exit.is_none_or(|code| code == 0) {
            parts.push(format!("*{}*", state.word()));
        }
        parts.extend(ms.filter(|ms| *ms > 0).map(duration));
        self.put(row.depth, &parts.join(" "))?;
        if let Some(diff) = deed.diff.as_deref().filter(|_| state.is_fine()) {
            self.fenced(row.depth, "diff", diff, self.cut.diff())?;
        }
        self.fenced(row.depth, "", &deed.output, self.cut.lines)
    }
}

impl Page for MarkdownPage<'_> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        match &row.what {
            What::Session(head) => {
                self.put(0, &format!("# Session {}", inert(head.id.unwrap_or("without an id"))))?;
                let Some(facts) = head.facts else { return Ok(()) };
                let facts = [
                    ("Model", &facts.model),
                    ("Folder", &facts.cwd),
                    ("Mode", &facts.permission_mode),
                    ("Version", &facts.version),
                ];
                let facts: Vec<String> = facts
                    .iter()
                    .filter_map(|(name, fact)| Some(format!("{name}: {}", code(&one_line(fact.as_deref()?)))))
                    .collect();
                if facts.is_empty() { Ok(()) } else { self.put(0, &facts.join(" · ")) }
            }
            What::Turn { started } => {
                let time = started
                    .and_then(|time| clock(time, self.utc))
                    .map(|time| format!(" · {time}"))
                    .unwrap_or_default();
                self.put(0, &format!("## Turn {}{time}", row.turn))
            }
            What::Prompt { text, by: By::Program, .. } => self.fenced(row.depth, "", text, self.cut.lines),
            What::Prompt { text, .. } => self.put(row.depth + 1, shown(text).trim()),
            What::Answer { text, retracted } => {
                let mark = if *retracted { "*(taken back)*\n\n" } else { "" };
                self.put(row.depth, &format!("{mark}{}", shown(text).trim()))
            }
            What::Thinking { text, subject } => {
                let subject = subject.map(|subject| format!(": {}", inert(first_line(subject).0))).unwrap_or_default();
                let lines = text.trim().lines().count();
                self.put(row.depth, &format!("*thinking{subject}, {}*", counted(lines, "line")))?;
                if self.thinking {
                    self.fenced(row.depth, "", text, usize::MAX)
                } else {
                    Ok(())
                }
            }
            What::Call { .. } => self.call(row),
            What::Permission { name, allowed, message } => {
                let answer = match allowed {
                    Some(true) => "allowed",
                    Some(false) => "refused",
                    None => "asked",
                };
                let message = message.map(|message| format!(": {}", inert(message))).unwrap_or_default();
                self.put(row.depth, &format!("*{} {answer}*{message}", inert(name)))
            }
            What::Notice { name, text, .. } => self.put(row.depth, &format!("*{}* {}", inert(name), inert(text))),
            What::Raw { name, text, .. } => {
                self.put(row.depth, &format!("*{}*", inert(name)))?;
                self.fenced(row.depth, "", text, self.cut.lines)
            }
            What::Damage { text } => self.put(0, &format!("**cannot be read:** {}", inert(text))),
            What::Outcome(ended) => {
                let (word, why) = outcome(ended);
                let mut parts = vec![format!("**{}**", inert(&word))];
                parts.extend(figures(ended));
                let why = why.map(|why| format!("\n\n{}", inert(&why))).unwrap_or_default();
                self.put(0, &format!("{}{why}", parts.join(" · ")))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A fence that no line of the text is.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// A text as code within a line.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// A text on one line without a meaning in Markdown.
fn inert(text: &str) -> String {
    let text = shown(text).replace('\n', " ");
    let mut inert = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '|' | '~' | '&') {
            inert.push('\\');
        }
        inert.push(c);
    }
    inert
}
