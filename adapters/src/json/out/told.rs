//! What the ledger is told while something is written.

use super::Out;
use crate::event::Fate;
use crate::json::Raw;
use crate::trace::Kept;

impl Out {
    /// Tells the ledger that a part of the source line went over, or will, in another form than its own bytes (a
    /// number summed up, a flag turned into a word, a text kept for later).
    #[inline(always)]
    pub fn used(&self, part: &str) {
        if let Some(trace) = &self.trace {
            trace.used(part);
        }
    }

    /// Tells the ledger that a part of the source line (its time) goes over with whatever else of the line does.
    #[inline(always)]
    pub fn beside(&self, part: &str) {
        if let Some(trace) = &self.trace {
            trace.beside(part);
        }
    }

    /// Tells the ledger that a part went over in another shape, of which its own parts are told one by one.
    #[inline]
    pub fn reshaped(&self, part: &str, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.reshaped(part, note);
        }
    }

    /// Whether somebody keeps a ledger, and a part is one of the source line.
    pub fn holds(&self, part: &str) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.holds(part))
    }

    /// [`Self::used`] for a value that may be absent.
    #[inline]
    pub fn used_raw(&self, part: Option<Raw<'_>>) {
        if let Some(part) = part {
            self.used(part.as_str());
        }
    }

    /// Tells the ledger that a part of the source line is kept for later, and that it is not sure that it goes over.
    #[inline]
    pub fn hold(&self, kept: &mut Kept, part: &str) {
        if let Some(trace) = &self.trace {
            trace.hold(kept, part);
        }
    }

    /// The same of a part that may have gone over already, or is none of the line's.
    #[inline]
    pub(crate) fn hold_unsaid(&self, kept: &mut Kept, part: &str) {
        if let Some(trace) = &self.trace {
            trace.hold_unsaid(kept, part);
        }
    }

    /// Tells the ledger that what was kept with [`Self::hold`] has gone over.
    #[inline]
    pub fn release(&self, kept: &mut Kept) {
        if let Some(trace) = &self.trace {
            trace.release(kept);
        }
    }

    /// Tells the ledger that what was kept with [`Self::hold`] has no place after all.
    #[inline]
    pub fn drop_held(&self, kept: &mut Kept, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.tell_held(kept, Fate::Dropped, note);
        }
    }

    /// Tells the ledger that what was kept with [`Self::hold`] went over in another shape.
    #[inline]
    pub fn rename_held(&self, kept: &mut Kept, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.tell_held(kept, Fate::Renamed, note);
        }
    }

    /// Tells the ledger that something else says what was kept with [`Self::hold`].
    #[inline]
    pub(crate) fn merge_held(&self, kept: &mut Kept, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.tell_held(kept, Fate::Merged, note);
        }
    }

    /// What was kept with [`Self::hold`] is `made` now: watches whether that goes over. [`Self::told`] ends it.
    #[inline]
    pub fn tells(&self, made: &str, kept: &Kept) {
        if let Some(trace) = &self.trace {
            trace.watch(made, kept);
        }
    }

    /// Tells the ledger whether `made`, which stands for what was kept, has gone over since [`Self::tells`].
    #[inline]
    pub fn told(&self, kept: &mut Kept, made: &str) {
        if let Some(trace) = &self.trace {
            trace.told(kept, made, "no place in the target");
        }
    }

    /// The same if it has; else it may do so yet.
    #[inline]
    pub(crate) fn told_if_said(&self, kept: &mut Kept, made: &str) {
        if let Some(trace) = self.trace.as_ref().filter(|_| !kept.is_empty()) {
            trace.told_if_said(kept, made, "no place in the target");
        }
    }

    /// Tells the ledger that the meaning of this event went over, though nothing of its text was written (yet).
    #[inline]
    pub fn carried(&self) {
        if let Some(trace) = &self.trace {
            trace.carried();
        }
    }

    /// Tells the ledger that the whole event is already part of another one (deltas beside their snapshot).
    #[inline]
    pub fn merged(&self, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.merged(note);
        }
    }

    /// The same if the part that was kept last goes over; else that has no place, and nothing else of the event.
    #[inline]
    pub fn merged_with(&self, kept: &Kept, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.merged_with(kept, note);
        }
    }

    /// Tells the ledger about a value in the output that the source did not have. `pointer` is that of the output line.
    #[inline]
    pub fn invented(&self, pointer: &'static str, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.note(Fate::Invented, pointer, note);
        }
    }

    /// Tells the ledger about a part that went over under another name or in another shape (tools).
    #[inline]
    pub fn renamed(&self, part: &str, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.renamed(part, note);
        }
    }

    /// Tells the ledger that a part of a call's arguments goes over in other words, or in pieces.
    #[inline]
    pub(crate) fn goes_in_words(&self, part: &str) {
        if let Some(trace) = &self.trace {
            trace.goes_in_words(part);
        }
    }

    /// The same of one that is another argument there.
    #[inline]
    pub(crate) fn renamed_in_words(&self, part: &str, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.renamed_in_words(part, note);
        }
    }

    /// Holds what was told so of a call with these arguments.
    #[inline]
    pub(crate) fn hold_words(&self, kept: &mut Kept, input: &str) {
        if let Some(trace) = &self.trace {
            trace.hold_words(kept, input);
        }
    }

    /// Tells the ledger that a part has no place in the target, where it is not a part of the line as it stands: it came in a text of
    /// its own, or in `pieces`.
    #[inline]
    pub fn lost(&self, part: &str, pieces: Option<&Kept>, note: &str) {
        if let Some(trace) = &self.trace {
            trace.lost(part, pieces, note);
        }
    }

    /// The same of a part of this line, if it is one.
    #[inline]
    pub(crate) fn lost_here(&self, part: &str, note: &str) {
        if let Some(trace) = &self.trace {
            trace.lost_here(part, note);
        }
    }

    /// Tells the ledger why an event of this line, or a part of one that is written, has no place.
    #[inline]
    pub fn left_out(&self, note: &'static str) {
        if let Some(trace) = &self.trace {
            trace.left_out(note);
        }
    }

    /// Tells the ledger something about this line that the calls above don't say. `pointer` is that of the source line.
    #[inline]
    pub fn note(&self, fate: Fate, pointer: &str, note: &str) {
        if let Some(trace) = &self.trace {
            trace.note(fate, pointer, note);
        }
    }

    /// Whether somebody keeps a ledger: only then is it worth working for one.
    #[inline(always)]
    pub const fn traced(&self) -> bool {
        self.trace.is_some()
    }
}
