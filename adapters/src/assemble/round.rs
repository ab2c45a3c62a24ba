//! The round that goes on in a thread: what the source has said of it, and what of that waits for its end.

use super::pending::merge;
use super::{Desk, Down};
use crate::codec::Encode;
use crate::event::{Stop, StopKind, Usage};
use crate::json::Out;
use crate::trace::Kept;

#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) open: bool,
    /// The source said that it began, so it will say that it ends.
    pub(super) declared: bool,
    /// It is over, but for tokens that the turn's outcome may say.
    pub(super) waits: bool,
    pub(super) id: String,
    pub(super) model: String,
    /// Where the source says the model, until something is said with it.
    pub(super) unsaid_model: Kept,
    pub(super) stop: Option<String>,
    /// What that word means is known.
    pub(super) means: bool,
    /// Where the source says it, for the ledger.
    pub(super) kept: Kept,
    pub(super) usage: Option<Usage<'static>>,
    /// Where the source says it, for a target that sums up.
    pub(super) tokens: Kept,
}

impl Round {
    /// A line says what the round has used so far.
    pub(super) fn counts(&mut self, usage: &Usage<'_>, desk: &mut Desk<'_, '_, '_>) {
        merge(&mut self.usage, usage);
        let Down { encoder, out, .. } = &mut *desk.down;
        if !out.traced() {
            return;
        }
        // A target that has no place for it leaves it where it is.
        let (sums, takes) = (encoder.sums_usage(), encoder.takes_usage());
        for source in usage.said_by(encoder.counts_usage()).filter(|_| takes) {
            if sums {
                out.hold(&mut self.tokens, source);
            } else {
                out.used(source);
            }
        }
    }

    /// Why it stopped. What a known word means goes over with the round.
    pub(super) fn stops(&mut self, stop: Option<Stop<'_>>, out: &Out) {
        let Some(Stop { kind, word }) = stop else { return };
        let again = self.stop.as_deref() == Some(word.as_escaped());
        self.stop = Some(word.as_escaped().to_owned());
        if std::mem::replace(&mut self.means, kind != StopKind::Other) || again {
            out.release(&mut self.kept);
        } else {
            out.drop_held(&mut self.kept, "another word followed");
        }
        match out.holds(word.as_escaped()) {
            // Some have said it with the reply.
            true => out.hold_unsaid(&mut self.kept, word.as_escaped()),
            false => out.hold(&mut self.kept, word.as_escaped()),
        }
    }

    /// Forgets the round, keeps the memory.
    pub(super) fn clear(&mut self) {
        let [mut id, mut model] = [&mut self.id, &mut self.model].map(std::mem::take);
        id.clear();
        model.clear();
        *self = Self {
            id,
            model,
            ..Self::default()
        };
    }
}
