//! What an agent did, for people: one walk over a log that is put together turn by turn ([`Walk`]), which tells [`Row`]s; and pages that
//! show them ([`Page`]): text, Markdown, JSON lines, HTML.
//!
//! A log is shown as it is read: of a turn that goes on what is settled is shown, and its texts are let go. What a log says is data: no
//! page hands on what would move a terminal's cursor, or be markup in a browser.

#[cfg(all(unix, feature = "agent"))]
mod asked;
mod compare;
mod html;
mod json;
#[cfg(all(unix, feature = "agent"))]
mod live;
mod markdown;
mod piece;
mod rendered;
mod row;
#[cfg(test)]
mod tests;
mod text;
mod walk;
mod words;

use std::io::{self, Write};

pub use compare::{Difference, Ignore, Kept};
#[cfg(feature = "view")]
pub(crate) use html::escaped;
pub use html::{HtmlPage, STYLE as HTML_STYLE, Served, policy as html_policy};
pub use json::JsonPage;
#[cfg(all(unix, feature = "agent"))]
pub use live::{Chosen, LivePage};
pub use markdown::MarkdownPage;
pub use piece::Picture;
pub(crate) use rendered::{fitted, wrapped};
pub use row::{By, Ended, Head, Row, State, What};
pub use text::{Look, TextPage};
pub use walk::{Pick, Walk};
#[cfg(feature = "view")]
pub(crate) use words::{clock_of, shown};
pub(crate) use words::{duration, money, number};

use crate::io::Joined;

/// Shows rows.
pub trait Page {
    /// Shows one.
    ///
    /// # Errors
    /// When what it shows on cannot be written.
    fn row(&mut self, row: &Row<'_>) -> io::Result<()>;

    /// Everything that is known so far is to be seen.
    ///
    /// # Errors
    /// When what it shows on cannot be written.
    fn flush(&mut self) -> io::Result<()>;

    /// There is no more.
    ///
    /// # Errors
    /// When what it shows on cannot be written.
    fn end(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// What came of showing a log.
#[derive(Debug, Default)]
pub struct Shown {
    /// Lines that are damaged.
    pub damaged: u64,
    /// Why it could not be read on.
    pub stopped: Option<agentglot_adapters::Error>,
    /// There was nothing in it.
    pub empty: bool,
    /// The number of its last turn.
    pub turns: u64,
}

/// Shows a log on a page.
///
/// # Errors
/// When the page cannot be written.
pub fn show(mut turns: Joined<'_>, pick: &Pick, page: &mut dyn Page) -> io::Result<Shown> {
    let mut walk = Walk::new(pick);
    let mut shown = Shown {
        empty: true,
        ..Shown::default()
    };
    while let Some(step) = turns.step() {
        shown.empty = false;
        match step {
            Ok(Some(turn)) => {
                shown.turns = shown.turns.max(turn.number);
                walk.turn(turn, page)?;
            }
            Ok(None) => {
                if let Some(turn) = turns.going_on() {
                    walk.going_on(turn, page)?;
                }
                page.flush()?;
            }
            Err(error) if error.can_continue() => {
                walk.damage(&error, page)?;
                shown.damaged += 1;
            }
            // What was read before comes out behind it.
            Err(error) => shown.stopped = Some(error),
        }
    }
    let rest = turns.rest();
    shown.empty &= rest.is_empty();
    walk.rest(&rest, page)?;
    if let Some(error) = &shown.stopped {
        walk.damage(error, page)?;
    }
    page.end()?;
    Ok(shown)
}

/// How much of long texts is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// So many lines of an output.
    pub lines: usize,
}

impl Cut {
    /// What is shown if nothing is said.
    pub const USUAL: Self = Self { lines: 10 };
    /// Nothing is cut.
    pub const NONE: Self = Self { lines: usize::MAX };

    /// So many lines of a change.
    #[must_use]
    pub const fn diff(self) -> usize {
        self.lines.saturating_mul(4)
    }

    /// The lines of a text that are shown, and how many are not.
    pub(crate) fn of(text: &str, most: usize) -> (Vec<&str>, usize) {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return (Vec::new(), 0);
        }
        let all = text.split('\n').count();
        // One line that is hidden takes as much room as the line that says so.
        let most = if all == most.saturating_add(1) { all } else { most };
        (
            text.split('\n').take(most).map(|line| line.strip_suffix('\r').unwrap_or(line)).collect(),
            all.saturating_sub(most),
        )
    }
}

/// What a page is written to.
pub type Out<'w> = &'w mut dyn Write;
