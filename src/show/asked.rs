//! A call that somebody is asked about: all that it would do is shown, and nothing of it is cut off in silence.

use std::collections::HashSet;
use std::io::{self, Write};

use agentglot_adapters::events::Json;
use agentglot_adapters::session::{Call, Deed};
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::Page;
use super::rendered::wrapped;
use super::row::{Row, State, What};
use super::text::{BAD, GOOD, QUIET, TextPage};
use crate::io::visible;

/// So many lines are shown of the beginning of what is asked for, and of its end.
const BEGINNING: usize = 150;
const END: usize = 50;

impl<W: Write> TextPage<W> {
    /// The call as its question has it.
    pub(super) fn asked(&mut self, call: &Call) -> io::Result<()> {
        let deed = call.deed();
        let mut head = deed.clone();
        (head.diff, head.output) = (None, String::new());
        let room = self
            .width()
            .saturating_sub(deed.verb.width() + deed.detail.as_deref().map_or(0, UnicodeWidthStr::width) + 10);
        let is_short = visible(&deed.object) == deed.object && !deed.object.trim().contains('\n') && deed.object.width() <= room;
        if !is_short {
            head.object = String::new();
        }
        let what = What::Call {
            call,
            deed: &head,
            state: State::Asked,
            ms: None,
        };
        self.row(&Row { depth: 0, turn: 0, what })?;
        let mut lines: Vec<(Style, String)> = Vec::new();
        if !is_short {
            lines.extend(deed.object.split('\n').map(|line| (Style::new(), line.to_owned())));
        }
        for line in deed.diff.iter().flat_map(|diff| diff.trim_end_matches('\n').split('\n')) {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@' | b'\\') => QUIET,
                _ => Style::new(),
            };
            lines.push((style, line.to_owned()));
        }
        if !deed.output.is_empty() {
            lines.extend(deed.output.split('\n').map(|line| (Style::new(), line.to_owned())));
        }
        for (name, value) in unseen(&deed, &call.input) {
            lines.extend(format!("{name}: {value}").split('\n').map(|line| (QUIET, line.to_owned())));
        }
        self.whole(&lines)
    }

    /// A call of which nothing else was heard: its tool, and its arguments as they stand.
    pub(super) fn asked_of(&mut self, name: &str, input: &str) -> io::Result<()> {
        self.head(&format!("? {}", visible(name).replace('\n', " ")))?;
        self.whole(&[(Style::new(), input.to_owned())])
    }

    /// Lines that are wrapped, and not cut: of very many the middle is left out, which is said.
    fn whole(&mut self, lines: &[(Style, String)]) -> io::Result<()> {
        let width = self.width().saturating_sub(4);
        let most = BEGINNING + END;
        // What is left out need not be wrapped.
        let (first, last) = match lines.len() > 2 * most {
            true => (&lines[..most], &lines[lines.len() - most..]),
            false => (lines, &[][..]),
        };
        let between = lines.len() - first.len() - last.len();
        let pieces = |lines: &[(Style, String)]| -> Vec<(Style, String)> {
            let pieces = lines.iter().flat_map(|(style, line)| {
                let line = visible(line.trim_end_matches('\r')).replace('\t', "    ");
                wrapped(&line, width).into_iter().map(|piece| (*style, piece))
            });
            pieces.collect()
        };
        let (mut first, mut last) = (pieces(first), pieces(last));
        if last.is_empty() && first.len() > most {
            last = first.split_off(BEGINNING);
        }
        let hidden = between + first.len().saturating_sub(BEGINNING) + last.len().saturating_sub(END);
        let hidden = if last.is_empty() { 0 } else { hidden };
        if hidden > 0 {
            first.truncate(BEGINNING);
            last.drain(..last.len() - END);
        }
        for (style, piece) in &first {
            self.bar(*style, piece)?;
        }
        if hidden > 0 {
            self.bar(BAD, &format!("… {hidden} lines are not shown here …"))?;
        }
        for (style, piece) in &last {
            self.bar(*style, piece)?;
        }
        Ok(())
    }
}

/// The arguments that are not among what is shown of a call already, whatever they are called: a tool may go by one that its line does not
/// show.
fn unseen(deed: &Deed, input: &Json) -> Vec<(String, String)> {
    if deed.object == input.as_str() {
        return Vec::new();
    }
    let shown = deed.diff.iter().flat_map(|diff| diff.split('\n')).chain(deed.output.split('\n'));
    let shown: HashSet<&str> = shown.map(|line| line.strip_prefix(['+', '-', ' ']).unwrap_or(line)).collect();
    let is_shown = |text: &str| text.is_empty() || text == deed.object || text.split('\n').all(|line| line.is_empty() || shown.contains(line));
    let members = input
        .members()
        .map(|(name, value)| (name, value.to_text().unwrap_or_else(|| value.to_string())));
    members.filter(|(_, text)| !is_shown(text)).collect()
}

#[cfg(test)]
mod tests {
    use agentglot_adapters::{Dialect, turns};

    use crate::show::text::Look;
    use crate::show::{Cut, TextPage};

    fn asked(name: &str, input: &str) -> String {
        let log = format!(
            r#"{{"type":"assistant","session_id":"s","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"{name}","input":{input}}}]}}}}"#
        );
        let turn = turns(log.as_bytes(), Dialect::Claude).next().unwrap().unwrap();
        let mut page = Vec::new();
        let look = Look {
            colour: false,
            width: Some(80),
            cut: Cut::USUAL,
            thinking: false,
            utc: true,
        };
        TextPage::new(&mut page, look).asked(turn.calls()[0]).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn nothing_of_a_command_is_left_out_of_its_question() {
        assert_eq!(asked("Bash", r#"{"command":"ls -la"}"#), "? Bash ls -la\n");
        let padded = asked("Bash", &format!(r#"{{"command":"ls {}; rm -rf x"}}"#, " ".repeat(500)));
        assert!(padded.contains("; rm -rf x"), "{padded}");
        let several = asked("Bash", r#"{"command":"ls\n\n\nrm -rf x"}"#);
        assert!(several.contains("  │ rm -rf x"), "{several}");
        let hidden = asked("Bash", r#"{"command":"ls \u001b[8m\u202e; rm -rf x"}"#);
        assert!(hidden.contains("\\u{1b}[8m\\u{202e}; rm -rf x"), "{hidden}");
        let long = asked("Bash", &format!(r#"{{"command":"{}rm -rf x"}}"#, "ls\\n".repeat(100_000)));
        assert!(long.contains("lines are not shown here") && long.contains("rm -rf x"), "{long}");
        assert!(long.lines().count() < 300);
    }

    #[test]
    fn arguments_that_nothing_else_shows_are_named() {
        let other = asked("Bash", r#"{"command":"ls","cmd":"rm -rf x"}"#);
        assert!(other.contains("ls") && other.contains("rm -rf x"), "{other}");
        let written = asked("Write", r#"{"file_path":"a","content":"one\ntwo\n"}"#);
        assert!(written.contains("+one") && !written.contains("content"), "{written}");
        let wide = asked("Write", &format!(r#"{{"file_path":"a","content":"x{}evil"}}"#, " ".repeat(500)));
        assert!(wide.contains("evil"), "{wide}");
        let called = asked("mcp__a__b", r#"{"x":1,"y":"z"}"#);
        assert!(called.contains(r#"{"x":1,"y":"z"}"#), "{called}");
        let spaced = asked("mcp__a__b", &format!(r#"{{"x":"{}evil"}}"#, " ".repeat(500)));
        assert!(spaced.contains("evil"), "{spaced}");
    }
}
