//! Where a source says the facts of a session, until a turn begins that says them.

use crate::json::Out;
use crate::trace::Kept;

/// The facts that were said last, and where; nothing unless somebody keeps a ledger.
#[derive(Debug, Default)]
pub(crate) struct Unsaid(Vec<(String, Kept)>);

impl Unsaid {
    /// These are the facts now. Those that were others have not gone over.
    pub(crate) fn hear<'f>(&mut self, facts: impl Iterator<Item = &'f str>, out: &Out) {
        if !out.traced() {
            return;
        }
        let mut before = std::mem::take(self);
        for fact in facts {
            let same = before.0.iter().position(|(known, _)| known == fact);
            self.0.extend(same.map(|at| before.0.swap_remove(at)));
            self.add(fact, out);
        }
        before.drop(out);
    }

    /// This is one too.
    pub(crate) fn add(&mut self, fact: &str, out: &Out) {
        if !out.traced() {
            return;
        }
        let mut kept = Kept::default();
        out.hold(&mut kept, fact);
        match self.0.last_mut().filter(|(known, _)| known == fact) {
            Some((_, before)) => before.append(kept),
            None => self.0.push((fact.to_owned(), kept)),
        }
    }

    /// They are said.
    pub(crate) fn said(&mut self, out: &Out) {
        self.0.drain(..).for_each(|(_, mut kept)| out.release(&mut kept));
    }

    /// Those of another are these too.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// What has taken the place of what said them says this, or nothing.
    pub(crate) fn lose_others(&mut self, fact: Option<&str>, note: &'static str, out: &Out) {
        self.0.retain_mut(|(known, kept)| {
            let stays = Some(known.as_str()) == fact;
            if !stays {
                out.drop_held(kept, note);
            }
            stays
        });
    }

    /// Where the source says them.
    pub(crate) fn take(&mut self) -> Kept {
        let mut all = Kept::default();
        self.0.drain(..).for_each(|(_, kept)| all.append(kept));
        all
    }

    /// They were not said, for no turn has begun.
    pub(crate) fn drop(&mut self, out: &Out) {
        for (_, mut kept) in self.0.drain(..) {
            out.drop_held(&mut kept, "what a session is like is said when a turn begins, and none has begun");
        }
    }
}
