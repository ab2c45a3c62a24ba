//! A target that is one value: what each turn, or each session, writes of it is put together.

use crate::json::Out;

/// What has been written of the one value. As the programs have it, that is the outcome alone (of several the last), or an array of all
/// messages.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The outcome that was written last, and the line that it came of.
    last: Vec<u8>,
    line: u64,
    /// The array is not closed: another session may follow.
    open: bool,
}

impl Document {
    /// Takes what was written behind `before` while the line `line` was read. Returns the line whose outcome is not the last one any more.
    pub(super) fn take(&mut self, before: usize, line: u64, out: &mut Out) -> Option<u64> {
        let written = &out.written()[before.min(out.len())..];
        match written.first()? {
            b'{' => {
                let earlier = (!self.last.is_empty()).then_some(self.line);
                let end = written.trim_ascii_end();
                // A value that is laid out over lines begins alone at the beginning of one.
                let start = memchr::memmem::rfind(end, b"\n{").map_or(0, |at| at + 1);
                end[start..].clone_into(&mut self.last);
                self.line = line;
                out.truncate(before);
                earlier
            }
            b'[' if self.open => {
                self.open = false;
                out.replace(before, b',');
                None
            }
            _ => None,
        }
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
    pub(super) fn end(&mut self, out: &mut Out) {
        if !self.last.is_empty() {
            out.bytes(&self.last);
            out.lit("\n");
        } else if self.open {
            out.lit("]\n");
        }
    }
}
