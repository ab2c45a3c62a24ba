use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentglot_adapters::raw::hidden::is_hidden;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What people see on stderr: messages, and a progress bar when it is a terminal.
#[derive(Clone, Debug)]
pub struct Console {
    bar: ProgressBar,
    silent: bool,
}

impl Console {
    /// Shorter work needs no bar.
    const WORTH_A_BAR: u64 = 16 << 20;

    /// Messages only.
    pub fn plain() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            silent: false,
        }
    }

    /// Nobody is told anything: who called asks for what came of it.
    pub fn silent() -> Self {
        Self {
            silent: true,
            ..Self::plain()
        }
    }

    /// With a bar for `bytes` of input, if stderr is a terminal and the work is worth it.
    pub fn with_bar(bytes: u64) -> Self {
        if bytes < Self::WORTH_A_BAR || !io::stderr().is_terminal() {
            return Self::plain();
        }
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self { bar, silent: false }
    }

    /// So many more bytes of input were read.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Tells something, as a [`message`].
    pub fn say(&self, text: &str) {
        self.write(&message(text));
    }

    /// Writes whole lines in the words of another program. On a terminal, control and bidi characters are made visible; elsewhere the
    /// bytes count.
    pub fn lines(&self, text: &str) {
        if io::stderr().is_terminal() {
            self.write(&visible(&clean(text)));
        } else {
            self.write(&clean(text));
        }
    }

    /// Writes what may be shown. When stderr cannot be written there is nobody left to tell.
    pub fn write(&self, text: &str) {
        if self.silent {
            return;
        }
        let write = || {
            let _ = io::stderr().lock().write_all(text.as_bytes());
        };
        if self.bar.is_hidden() { write() } else { self.bar.suspend(write) }
    }

    /// Takes the bar away.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}

/// A message of ours, as a line that begins with the program's name. What it repeats of paths, logs and models is shown for what it is, and
/// cannot look like another message: the lines behind the first are indented. Secrets are taken out.
pub fn message(text: &str) -> String {
    let text = clean(text.trim_end());
    format!("agentglot: {}\n", visible(&text).replace('\n', "\nagentglot:     "))
}

/// Standard error, for our log: what is drawn on the same terminal writes its lines as long as there is a [`HeldLog`].
#[derive(Clone, Copy, Debug)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *held() {
            Some(held) if held.len() < HeldLog::MOST => held.extend_from_slice(bytes),
            _ => io::stderr().lock().write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Keeps our log from a terminal that something is drawn on, as long as it lives.
#[derive(Debug)]
pub struct HeldLog(());

impl HeldLog {
    /// No more is kept: where nobody takes it, it is written all the same.
    const MOST: usize = 1 << 20;

    /// From now on.
    pub fn begin() -> Self {
        held().get_or_insert_default();
        Self(())
    }

    /// What the log has said since it was asked last.
    pub fn take(&self) -> Vec<u8> {
        held().as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl Drop for HeldLog {
    fn drop(&mut self) {
        if let Some(rest) = held().take() {
            // When stderr cannot be written there is nobody left to tell.
            let _ = io::stderr().lock().write_all(&rest);
        }
    }
}

fn held() -> MutexGuard<'static, Option<Vec<u8>>> {
    static HELD: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    // Nothing that holds it can panic in between.
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text without secrets: ours, and what looks like one. Where no agent can live there are none.
#[cfg(all(unix, feature = "agent"))]
pub(crate) use crate::agent::redact::clean;

#[cfg(not(all(unix, feature = "agent")))]
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    text.into()
}

/// A text as it may be shown on one line: as [`visible`] has it, and line ends too are written as `\u{…}`.
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\u{a}")
}

/// A word of a command that people copy into a shell, on one line: nothing in it means anything to the shell, or is hidden from who reads
/// it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let is_hidden_here = |c: char| c.is_control() || is_hidden(c);
    if !word.chars().any(is_hidden_here) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // Not every shell has `$'…'`. What `printf` says loses the line feeds at its end.
    let text = word.trim_end_matches('\n');
    let mut said = String::new();
    for (n, c) in text.char_indices() {
        // A `String` takes everything.
        let _ = match c {
            '\\' => write!(said, "\\\\"),
            '%' => write!(said, "%%"),
            '-' if n > 0 => write!(said, "-"),
            '\'' | '-' => write!(said, "\\{:03o}", u32::from(c)),
            c if is_hidden_here(c) => c.encode_utf8(&mut [0; 4]).bytes().try_for_each(|byte| write!(said, "\\{byte:03o}")),
            c => write!(said, "{c}"),
        };
    }
    let ends = &word[text.len()..];
    let ends = if ends.is_empty() { String::new() } else { format!("'{ends}'") };
    format!("\"$(printf '{said}')\"{ends}")
}

/// A text as it may be shown on a terminal: what moves the cursor, changes colours, turns the direction of writing or cannot be
/// seen at all is written as `\u{…}`. Line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            // A String takes everything.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_reaches_a_terminal() {
        assert!(matches!(visible("päth/to: 不 can't\n\tx"), Cow::Borrowed(_)));
        assert_eq!(
            visible("a\u{1b}[31mb\u{202e}c\u{9b}d\r\u{7}"),
            "a\\u{1b}[31mb\\u{202e}c\\u{9b}d\\u{d}\\u{7}"
        );
        for blank in ['\u{34f}', '\u{3164}', '\u{206a}', '\u{fe01}', '\u{e0100}', '\u{e0041}'] {
            assert_ne!(visible(&format!("a{blank}b")), format!("a{blank}b"));
        }
        assert_eq!(visible("\u{2764}\u{fe0f}"), "\u{2764}\u{fe0f}");
    }

    #[test]
    fn words_are_quoted_for_shells() {
        assert_eq!(shell_word("/home/me/a-b.c"), "/home/me/a-b.c");
        assert_eq!(shell_word("it's $HOME"), "'it'\\''s $HOME'");
        assert_eq!(shell_word(""), "''");
        for (word, quoted) in [
            (
                "-a\n\t\u{1b}[1m'\\%s\u{202e}$x",
                r#""$(printf '\055a\012\011\033[1m\047\\%%s\342\200\256$x')""#,
            ),
            ("a\n\n", "\"$(printf 'a')\"'\n\n'"),
        ] {
            assert_eq!(shell_word(word), quoted);
            // Where there is a shell.
            let mut shell = std::process::Command::new("sh");
            if let Ok(said) = shell.args(["-c", &format!("printf %s {quoted}")]).output() {
                assert_eq!(said.stdout, word.as_bytes());
            }
        }
    }

    #[test]
    fn nothing_that_is_repeated_looks_like_a_message() {
        assert_eq!(one_line("a\nb\u{1b}c\td"), "a\\u{a}b\\u{1b}c\td");
        assert_eq!(
            message("x\nagentglot: all is well\r\n::error::y: is gone\n"),
            "agentglot: x\nagentglot:     agentglot: all is well\\u{d}\nagentglot:     ::error::y: is gone\n"
        );
    }
}
