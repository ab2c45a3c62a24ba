//! A target that is one value: what each turn, or each session, writes of it is put together.

use crate::event::{Fate, Finding};
use crate::json::Out;
use crate::ledger::Ledger;
use crate::trace::Given;

/// What has been written of the one value. As the programs have it, that is the outcome alone (of several the last), or an array of all
/// messages.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The outcome that was written last, and the line that it came of.
    last: Vec<u8>,
    line: u64,
    /// That line says the outcome, which is not worked out.
    said: bool,
    /// What the ledger has to say of the line.
    findings: Vec<Finding>,
    /// The same of its session, which is over.
    session: Given,
    /// The array is not closed: another session may follow.
    open: bool,
}

impl Document {
    /// Takes what was written behind `before` while the line `line` was read, which may say the outcome. Returns whether there was another
    /// one, which is not the last any more.
    pub(super) fn take(&mut self, before: usize, (line, said): (u64, bool), out: &mut Out, ledger: Option<&mut Ledger>) -> bool {
        let written = out.since(before);
        match written.first() {
            Some(b'{') => {
                let earlier = !self.last.is_empty();
                if let Some(ledger) = ledger {
                    self.lose(ledger);
                }
                let end = written.trim_ascii_end();
                // A value that is laid out over lines begins alone at the beginning of one.
                let start = memchr::memmem::rfind(end, b"\n{").map_or(0, |at| at + 1);
                end[start..].clone_into(&mut self.last);
                (self.line, self.said) = (line, said);
                out.truncate(before);
                earlier
            }
            Some(b'[') if self.open => {
                self.open = false;
                out.replace(before, b',');
                false
            }
            _ => false,
        }
    }

    /// What there is to say of a line waits, if the outcome that was written last came of it.
    pub(super) fn keeps(&mut self, line: u64, findings: &mut Vec<Finding>) {
        if self.line == line && !self.last.is_empty() {
            self.findings.append(findings);
        }
    }

    /// A session is over; where it has written no outcome, that of one before it stands.
    pub(super) fn keeps_session(&mut self, mut given: Given) {
        self.session.stays.append(&mut given.stays);
        self.session.lost.append(&mut given.lost);
    }

    /// The outcome that was written last has no place: of its line nothing goes over, or nothing but what else it says.
    fn lose(&mut self, ledger: &mut Ledger) {
        let line = self.line;
        ledger.add_late(std::mem::take(&mut self.session).lost);
        let told = std::mem::take(&mut self.findings).into_iter();
        match self.said {
            true => {
                let damaged = told.filter(|finding| finding.fate == Fate::Damaged);
                ledger.add_late(damaged.map(|finding| (line, finding)));
                ledger.lose_line(line, "one outcome is written, the last");
            }
            false => {
                let told = told.filter(|finding| finding.fate != Fate::Invented);
                ledger.add_late(told.map(|finding| (line, finding)));
            }
        }
        self.said = false;
    }

    /// A session is over: its array goes on with the next one.
    pub(super) fn end_session(&mut self, out: &mut Out) {
        const END: &[u8] = b"]\n";
        if self.last.is_empty() && out.written().ends_with(END) {
            out.truncate(out.len() - END.len());
            self.open = true;
        }
    }

    /// All is over.
    pub(super) fn end(&mut self, out: &mut Out, ledger: Option<&mut Ledger>) {
        if let Some(ledger) = ledger {
            let line = self.line;
            ledger.add_late(self.findings.drain(..).map(|finding| (line, finding)));
            ledger.add_late(std::mem::take(&mut self.session).stays);
        }
        if !self.last.is_empty() {
            out.bytes(&self.last);
            out.lit("\n");
        } else if self.open {
            out.lit("]\n");
        }
    }
}
