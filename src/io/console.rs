use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What people see on stderr: messages, and a progress bar when it is a terminal.
#[derive(Clone, Debug)]
pub struct Console {
    bar: ProgressBar,
}

impl Console {
    /// Shorter work needs no bar.
    const WORTH_A_BAR: u64 = 16 << 20;

    /// Messages only.
    pub fn plain() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    /// With a bar for `bytes` of input, if stderr is a terminal and the work is worth it.
    pub fn with_bar(bytes: u64) -> Self {
        if bytes < Self::WORTH_A_BAR || !std::io::stderr().is_terminal() {
            return Self::plain();
        }
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(8));
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// So many more bytes of input were read.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Tells something, as a line that begins with the program's name.
    pub fn say(&self, text: &str) {
        self.lines(&format!("agentglot: {text}\n"));
    }

    /// Writes whole lines. When stderr cannot be written there is nobody left to tell.
    pub fn lines(&self, text: &str) {
        let write = || {
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        };
        if self.bar.is_hidden() { write() } else { self.bar.suspend(write) }
    }

    /// Takes the bar away.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}
