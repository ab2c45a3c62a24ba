//! Text: for a terminal, or plain.

use std::io::{self, Write};

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use super::rendered::{fitted, markdown, wrapped};
use super::row::{By, Ended, Head, Row, State, What};
use super::words::{clock, counted, duration, figures, first_line, outcome, shown};
use super::{Cut, Page};

/// How text is shown.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// With colours, and Markdown as what it means.
    pub colour: bool,
    /// Lines are no longer than that; without a width they stay as they are.
    pub width: Option<usize>,
    /// What is cut.
    pub cut: Cut,
    /// What was thought is shown.
    pub thinking: bool,
    /// Times are those of Greenwich.
    pub utc: bool,
}

/// A page of text.
pub struct TextPage<W> {
    out: W,
    look: Look,
    /// Something stands on it.
    begun: bool,
    /// What was put on it last was a call or a remark: no empty line stands between those.
    tight: bool,
}

impl<W> std::fmt::Debug for TextPage<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextPage").field("look", &self.look).finish_non_exhaustive()
    }
}

/// Lines that are longer are cut where they are an output's.
const LONGEST: usize = 500;
pub(super) const QUIET: Style = Style::new().effects(Effects::DIMMED);
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
const USER: Style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
const BOLD: Style = Style::new().effects(Effects::BOLD);

impl<W: Write> TextPage<W> {
    /// An empty one.
    pub const fn new(out: W, look: Look) -> Self {
        Self {
            out,
            look,
            begun: false,
            tight: false,
        }
    }

    /// From here on lines are that wide.
    pub const fn set_width(&mut self, width: Option<usize>) {
        self.look.width = width;
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.look.colour && !style.is_plain() && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    fn line(&mut self, depth: usize, text: &str) -> io::Result<()> {
        let indent = if text.is_empty() { 0 } else { depth * 2 };
        writeln!(self.out, "{:indent$}{text}", "")
    }

    /// An empty line between things.
    fn gap(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            writeln!(self.out)
        } else {
            Ok(())
        }
    }

    fn room(&self, depth: usize) -> Option<usize> {
        Some(self.look.width?.saturating_sub(depth * 2).max(20))
    }

    /// A text in lines of the width there is.
    fn lines(&self, text: &str, depth: usize, margin: usize) -> Vec<String> {
        let text = shown(text);
        let text = text.trim_matches('\n');
        match self.room(depth) {
            Some(width) => {
                let width = width.saturating_sub(margin);
                text.split('\n').flat_map(|line| wrapped(&line.replace('\t', "    "), width)).collect()
            }
            None => text.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect(),
        }
    }

    /// The lines of what an agent says.
    pub(super) fn said(&self, text: &str, depth: usize) -> Vec<String> {
        match self.room(depth).filter(|_| self.look.colour) {
            Some(width) => markdown(&shown(text), width),
            None => self.lines(text, depth, 0),
        }
    }

    fn session(&mut self, head: &Head<'_>) -> io::Result<()> {
        self.gap()?;
        let mut parts = vec![format!("Session {}", head.id.unwrap_or("without an id"))];
        if let Some(facts) = head.facts {
            parts.extend(facts.model.clone());
            parts.extend(facts.cwd.clone());
            parts.extend(facts.permission_mode.as_ref().map(|mode| format!("mode {mode}")));
            parts.extend(facts.version.as_ref().map(|version| format!("version {version}")));
        }
        let line = parts.join(" · ").replace('\n', " ");
        for line in self.lines(&line, 0, 0) {
            let line = self.paint(BOLD, line.trim_end());
            self.line(0, &line)?;
        }
        Ok(())
    }

    fn turn(&mut self, row: &Row<'_>, started: Option<String>) -> io::Result<()> {
        self.gap()?;
        let text = match started {
            Some(time) => format!("── Turn {} · {time} ", row.turn),
            None => format!("── Turn {} ", row.turn),
        };
        let rest = self.look.width.unwrap_or(80).saturating_sub(text.width());
        let line = self.paint(QUIET, &format!("{text}{}", "─".repeat(rest)));
        self.line(0, &line)
    }

    fn prompt(&mut self, row: &Row<'_>, text: &str, by: By) -> io::Result<()> {
        self.gap()?;
        if by == By::Program {
            // What the program adds is no news but for the model.
            let (lines, hidden) = Cut::of(text, self.look.cut.lines);
            for line in self.lines(&lines.join("\n"), row.depth, 2) {
                let line = self.paint(QUIET, format!("# {line}").trim_end());
                self.line(row.depth, &line)?;
            }
            return self.hidden(row.depth, hidden, "# ");
        }
        for line in self.lines(text, row.depth, 2) {
            let line = format!("{}{}", self.paint(USER, "> "), line);
            self.line(row.depth, line.trim_end())?;
        }
        Ok(())
    }

    fn answer(&mut self, row: &Row<'_>, text: &str, retracted: bool) -> io::Result<()> {
        self.gap()?;
        if retracted {
            let line = self.paint(QUIET, "(taken back)");
            self.line(row.depth, &line)?;
        }
        for line in self.said(text, row.depth) {
            self.line(row.depth, line.trim_end())?;
        }
        Ok(())
    }

    fn thinking(&mut self, row: &Row<'_>, text: &str, subject: Option<&str>) -> io::Result<()> {
        self.gap()?;
        let count = text.trim().lines().count();
        let subject = subject.map(|subject| format!(": {}", first_line(&shown(subject)).0)).unwrap_or_default();
        if !self.look.thinking && count > 0 {
            let line = self.paint(QUIET, &format!("~ thinking{subject}, {}", counted(count, "line")));
            return self.line(row.depth, &line);
        }
        if count == 0 || !subject.is_empty() {
            let line = self.paint(QUIET, &format!("~ thinking{subject}"));
            self.line(row.depth, &line)?;
        }
        for line in self.lines(text.trim(), row.depth, 2) {
            let line = self.paint(QUIET.italic(), &format!("~ {line}"));
            self.line(row.depth, line.trim_end())?;
        }
        Ok(())
    }

    fn call(&mut self, row: &Row<'_>) -> io::Result<()> {
        let What::Call { deed, state, ms, .. } = &row.what else { return Ok(()) };
        if !self.tight {
            self.gap()?;
        }
        let (mark, colour) = match state {
            State::Done => ("●", GOOD),
            State::Open => ("○", QUIET),
            State::Asked => ("?", USER),
            _ => ("✗", BAD),
        };
        let object = shown(&deed.object);
        let (object, more) = first_line(&object);
        let mut tail = Vec::new();
        if more > 0 {
            tail.push(format!("(+{more} {})", if more == 1 { "line" } else { "lines" }));
        }
        tail.extend(deed.detail.as_deref().map(|detail| shown(detail).replace('\n', " ")));
        let stat = deed.lines.filter(|_| deed.diff.is_some());
        tail.extend(stat.map(|(added, removed)| format!("{} {}", self.paint(GOOD, &format!("+{added}")), self.paint(BAD, &format!("−{removed}")))));
        tail.extend(deed.exit.filter(|code| *code != 0).map(|code| self.paint(BAD, &format!("exit {code}"))));
        tail.extend((!state.is_fine() && deed.exit.is_none_or(|code| code == 0) || *state == State::Open).then(|| self.paint(colour, state.word())));
        tail.extend(ms.filter(|ms| *ms > 0).map(|ms| self.paint(QUIET, &duration(ms))));
        let verb = shown(&deed.verb).replace('\n', " ");
        let tail = tail.join("  ");
        let plain_tail = anstream::adapter::strip_str(&tail).to_string().width();
        let object = match self.room(row.depth) {
            Some(width) => fitted(object, width.saturating_sub(verb.width() + plain_tail + 5).max(8)),
            None => fitted(object, LONGEST),
        };
        let head = [self.paint(colour, mark), self.paint(BOLD, &verb)].join(" ");
        let parts = [head, object, tail];
        let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let line = match parts.as_slice() {
            [head, object] => format!("{head} {object}"),
            [head, object, tail] => format!("{head} {object}  {tail}"),
            _ => parts.concat(),
        };
        self.line(row.depth, &line)?;
        if let Some(diff) = deed.diff.as_deref().filter(|_| state.is_fine()) {
            self.diff(row.depth, diff)?;
        }
        self.output(row.depth, &deed.output)
    }

    fn diff(&mut self, depth: usize, diff: &str) -> io::Result<()> {
        let (lines, hidden) = Cut::of(diff, self.look.cut.diff());
        for line in lines {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@' | b'\\') => QUIET,
                _ => Style::new(),
            };
            self.piece(depth, line, style)?;
        }
        self.hidden(depth, hidden, "  │ ")
    }

    fn output(&mut self, depth: usize, text: &str) -> io::Result<()> {
        let (lines, hidden) = Cut::of(text, self.look.cut.lines);
        for line in lines {
            self.piece(depth, line, QUIET)?;
        }
        self.hidden(depth, hidden, "  │ ")
    }

    /// A line of what a call gave.
    fn piece(&mut self, depth: usize, line: &str, style: Style) -> io::Result<()> {
        let line = shown(line);
        let line = match self.room(depth) {
            Some(width) => fitted(&line.replace('\t', "    "), width.saturating_sub(4)),
            None if self.look.cut == Cut::NONE => line.into_owned(),
            None => match line.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}… ({} more characters)", &line[..end], line[end..].chars().count()),
                None => line.into_owned(),
            },
        };
        self.bar_at(depth, style, &line)
    }

    fn bar_at(&mut self, depth: usize, style: Style, text: &str) -> io::Result<()> {
        let line = format!("{}{}", self.paint(QUIET, "  │ "), self.paint(style, text));
        self.line(depth, line.trim_end())
    }

    fn hidden(&mut self, depth: usize, lines: usize, margin: &str) -> io::Result<()> {
        if lines == 0 {
            return Ok(());
        }
        let line = self.paint(QUIET, &format!("{margin}… {}", counted(lines, "more line")));
        self.line(depth, &line)
    }

    fn quiet(&mut self, depth: usize, mark: &str, text: &str, style: Style) -> io::Result<()> {
        if !self.tight {
            self.gap()?;
        }
        let text = shown(text);
        let (lines, hidden) = Cut::of(&text, self.look.cut.lines);
        let text = lines.join("\n");
        for (n, line) in self.lines(&text, depth, 2).iter().enumerate() {
            let mark = if n == 0 { mark } else { " " };
            let line = self.paint(style, &format!("{mark} {line}"));
            self.line(depth, line.trim_end())?;
        }
        self.hidden(depth, hidden, "  ")
    }

    fn outcome(&mut self, ended: &Ended<'_>) -> io::Result<()> {
        self.gap()?;
        let (word, why) = outcome(ended);
        let fine = ended.outcome.is_some_and(|outcome| !outcome.is_error);
        let mut parts = vec![word];
        parts.extend(figures(ended));
        let line = format!("{} {}", if fine { "✓" } else { "✗" }, parts.join(" · "));
        for line in self.lines(&line, 0, 0) {
            let line = self.paint(if fine { GOOD } else { BAD }, line.trim_end());
            self.line(0, &line)?;
        }
        if let Some(why) = why {
            for line in self.lines(&why, 0, 2) {
                let line = self.paint(BAD, &format!("  {line}"));
                self.line(0, &line)?;
            }
        }
        Ok(())
    }
}

/// What a question needs, which only an agent asks.
#[cfg(all(unix, feature = "agent"))]
impl<W: Write> TextPage<W> {
    /// How wide lines may be.
    pub(super) fn width(&self) -> usize {
        self.room(0).unwrap_or(LONGEST)
    }

    /// A line with a call, as [`Page::row`] puts it.
    pub(super) fn head(&mut self, text: &str) -> io::Result<()> {
        if !self.tight {
            self.gap()?;
        }
        self.tight = true;
        let line = self.paint(BOLD, text);
        self.line(0, &line)
    }

    /// A line below a call.
    pub(super) fn bar(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.bar_at(0, style, text)
    }
}

impl<W: Write> Page for TextPage<W> {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        match &row.what {
            What::Session(head) => self.session(head),
            What::Turn { started } => self.turn(row, started.and_then(|time| clock(time, self.look.utc))),
            What::Prompt { text, by, .. } => self.prompt(row, text, *by),
            What::Answer { text, retracted } => self.answer(row, text, *retracted),
            What::Thinking { text, subject } => self.thinking(row, text, *subject),
            What::Call { .. } => self.call(row),
            What::Permission { name, allowed, message } => {
                let (answer, style) = match allowed {
                    Some(true) => ("allowed", QUIET),
                    Some(false) => ("refused", BAD),
                    None => ("asked", QUIET),
                };
                let message = message.map(|message| format!(": {message}")).unwrap_or_default();
                self.quiet(row.depth, "?", &format!("{name} {answer}{message}"), style)
            }
            What::Notice { name, text, fault } => {
                let text = if text.is_empty() {
                    (*name).to_owned()
                } else {
                    format!("{name}: {text}")
                };
                self.quiet(row.depth, "·", &text, if *fault { BAD } else { QUIET })
            }
            What::Raw { name, text, .. } => {
                let text = if text.is_empty() {
                    format!("[{name}]")
                } else {
                    format!("[{name}] {text}")
                };
                let text = shown(&text);
                let (line, more) = first_line(&text);
                let more = if more > 0 {
                    format!("  (+{})", counted(more, "line"))
                } else {
                    String::new()
                };
                let line = format!("{}{more}", fitted(line, self.room(row.depth).unwrap_or(LONGEST) - more.len().min(15)));
                if !self.tight {
                    self.gap()?;
                }
                let line = self.paint(QUIET, &line);
                self.line(row.depth, &line)
            }
            What::Damage { text } => self.quiet(0, "!", &format!("cannot be read: {text}"), BAD),
            What::Outcome(ended) => self.outcome(ended),
        }?;
        self.tight = matches!(
            row.what,
            What::Call { .. } | What::Permission { .. } | What::Notice { .. } | What::Raw { .. }
        );
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
