//! What of a run is shown as a row.

use std::io;

use super::sheet::Sheet;
use crate::show::row::{By, Row, What};
use crate::show::{Page, TextPage};

/// The rows of a run: who has started it knows what he has asked for, and sees what is asked of him.
pub(super) struct Rows {
    pub(super) page: TextPage<Sheet>,
    /// What the agent says in an answer that is not settled.
    pub(super) coming: String,
    /// Calls that were shown already, with what they would change.
    pub(super) asked: Vec<String>,
}

impl Page for Rows {
    fn row(&mut self, row: &Row<'_>) -> io::Result<()> {
        match &row.what {
            What::Session(_) | What::Turn { .. } | What::Prompt { by: By::User, .. } | What::Permission { allowed: None, .. } => return Ok(()),
            What::Answer { .. } if row.depth == 0 => self.coming.clear(),
            What::Outcome(_) if !self.coming.is_empty() => {
                let text = &std::mem::take(&mut self.coming);
                let retracted = false;
                self.page.row(&Row {
                    what: What::Answer { text, retracted },
                    ..*row
                })?;
            }
            What::Call { call, deed, state, ms } if self.asked.contains(&call.id) => {
                let mut deed = (*deed).clone();
                deed.diff = None;
                let what = What::Call {
                    call,
                    deed: &deed,
                    state: *state,
                    ms: *ms,
                };
                return self.page.row(&Row { what, ..*row });
            }
            _ => {}
        }
        self.page.row(row)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
