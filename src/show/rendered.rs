//! Markdown as a terminal shows it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The lines of a Markdown text, with colours, none wider than that.
pub(super) fn markdown(text: &str, width: usize) -> Vec<String> {
    let mut made = Lines { width, ..Lines::default() };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS) {
        made.take(event);
    }
    made.end_line();
    while made.lines.last().is_some_and(String::is_empty) {
        made.lines.pop();
    }
    made.lines
}

/// The pieces of a text, none wider than that: cut at blanks where there are any.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut line = Line::default();
    let mut lines = Vec::new();
    for word in text.split_inclusive(' ') {
        line.word(word, Style::new(), width, "", &mut lines);
    }
    lines.push(line.text);
    lines
}

/// A text that is no wider than that; what is cut off is replaced by `…`.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used < width
    });
    let mut kept: String = kept.collect();
    kept.push('…');
    kept
}

/// Lines that are being made.
#[derive(Debug, Default)]
struct Lines {
    width: usize,
    lines: Vec<String>,
    line: Line,
    styles: Vec<Style>,
    /// What stands before each line of lists and quotations.
    before: Vec<String>,
    /// The mark of an item, which stands before its first line.
    mark: Option<String>,
    /// The number of the next item of each list; none where they have no numbers.
    lists: Vec<Option<u64>>,
    links: Vec<String>,
    in_code: bool,
    cells: usize,
}

/// One line that is being made.
#[derive(Debug, Default)]
struct Line {
    text: String,
    used: usize,
}

const CODE: Style = AnsiColor::Cyan.on_default();
const QUIET: Style = Style::new().effects(Effects::DIMMED);

impl Lines {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => {
                for line in text.lines() {
                    self.end_line();
                    self.say(&line.replace('\t', "    "), CODE);
                    self.end_line();
                }
            }
            Event::Text(text) => self.words(&text, self.style()),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.words(&text, CODE),
            Event::Html(text) | Event::InlineHtml(text) => self.words(&text, self.style()),
            Event::SoftBreak => self.words(" ", self.style()),
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                self.say(&"─".repeat(self.room().min(40)), QUIET);
                self.end_line();
            }
            Event::TaskListMarker(done) => self.words(if done { "[x] " } else { "[ ] " }, self.style()),
            Event::FootnoteReference(name) => self.words(&format!("[^{name}]"), self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let bold = Style::new().bold();
        match tag {
            Tag::Paragraph if self.mark.is_none() => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.styles.push(bold.underline());
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.before.push("│ ".to_owned());
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                self.in_code = true;
                self.before.push("  ".to_owned());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.say(&language, QUIET);
                    self.end_line();
                }
            }
            Tag::List(first) => {
                self.end_line();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                self.before.push(" ".repeat(mark.width()));
                self.mark = Some(mark);
            }
            Tag::Emphasis => self.styles.push(self.style().italic()),
            Tag::Strong => self.styles.push(self.style().bold()),
            Tag::Strikethrough => self.styles.push(self.style().strikethrough()),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.links.push(dest_url.into_string()),
            Tag::Table(_) => self.gap(),
            Tag::TableHead => {
                self.cells = 0;
                self.styles.push(bold);
            }
            Tag::TableRow => self.cells = 0,
            Tag::TableCell => {
                if self.cells > 0 {
                    self.say(" │ ", QUIET);
                }
                self.cells += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::TableRow => self.end_line(),
            TagEnd::Heading(_) | TagEnd::TableHead => {
                self.styles.pop();
                self.end_line();
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.before.pop();
            }
            TagEnd::CodeBlock => {
                self.end_line();
                self.in_code = false;
                self.before.pop();
            }
            TagEnd::Item => {
                self.end_line();
                self.mark = None;
                self.before.pop();
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                if let Some(link) = self.links.pop()
                    && !self.line.text.contains(&link)
                {
                    self.words(&format!(" ({link})"), QUIET);
                }
            }
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn room(&self) -> usize {
        let before: usize = self.before.iter().map(|before| before.width()).sum();
        self.width.saturating_sub(before).max(10)
    }

    fn words(&mut self, text: &str, style: Style) {
        for word in text.split_inclusive([' ', '\n']) {
            self.say(&word.replace('\n', " "), style);
        }
    }

    /// Text that is only broken where it has to be.
    fn say(&mut self, text: &str, style: Style) {
        let room = self.room();
        if self.line.text.is_empty() {
            self.line.text = self.margin();
        }
        let before = self.before.concat();
        self.line.word(text, style, room, &before, &mut self.lines);
    }

    fn margin(&mut self) -> String {
        let mark = self.mark.take();
        let before = self.before.iter().enumerate();
        let last = self.before.len().saturating_sub(1);
        before
            .map(|(at, before)| match &mark {
                Some(mark) if at == last => mark.clone(),
                _ => before.clone(),
            })
            .collect()
    }

    fn end_line(&mut self) {
        if !self.line.text.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.lines.push(line.text.trim_end().to_owned());
        }
    }

    /// An empty line, unless there is one.
    fn gap(&mut self) {
        self.end_line();
        if self.lines.last().is_some_and(|line| !line.is_empty()) && self.mark.is_none() {
            self.lines.push(String::new());
        }
    }
}

impl Line {
    /// Puts a word behind the others, or on a line of its own; one that is wider than a line is broken.
    fn word(&mut self, word: &str, style: Style, width: usize, before: &str, lines: &mut Vec<String>) {
        let wide = word.trim_end().width();
        if self.used > 0 && self.used + wide > width {
            self.ended(before, lines);
        }
        let mut piece = String::new();
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if self.used + wide > width && !c.is_whitespace() {
                self.put(&std::mem::take(&mut piece), style);
                self.ended(before, lines);
            }
            self.used += wide;
            piece.push(c);
        }
        self.put(&piece, style);
    }

    fn put(&mut self, text: &str, style: Style) {
        // A `String` takes everything.
        let _ = if style.is_plain() {
            write!(self.text, "{text}")
        } else {
            write!(self.text, "{style}{text}{style:#}")
        };
    }

    fn ended(&mut self, before: &str, lines: &mut Vec<String>) {
        let line = std::mem::replace(&mut self.text, before.to_owned());
        lines.push(line.trim_end().to_owned());
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, width: usize) -> String {
        let lines = markdown(text, width);
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    }

    #[test]
    fn markdown_reads_like_text() {
        let text = "# Done\n\nI changed **two** files:\n\n- `a.rs`, with a rather long remark\n- b\n  1. c\n\n```rust\nfn main() {}\n```\n\n> quoted\n\n[site](https://x.y)";
        assert_eq!(
            plain(text, 24),
            "Done\n\nI changed two files:\n\n• a.rs, with a rather\n  long remark\n• b\n  1. c\n\n  rust\n  fn main() {}\n\n│ quoted\n\nsite (https://x.y)"
        );
    }

    #[test]
    fn nothing_is_wider_than_it_may_be() {
        for text in [
            "不不不不不不不不不不不不",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "a bb ccc dddd eeeee ffffff ggggggg",
        ] {
            for line in wrapped(text, 10).iter().chain(&markdown(text, 10)) {
                assert!(line.trim_end().width() <= 10, "{line}");
            }
        }
        assert_eq!(fitted("abcdef", 4), "abc…");
        assert_eq!(fitted("abcd", 4), "abcd");
    }
}
