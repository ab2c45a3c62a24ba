//! What the decoder of a store keeps.

use super::Child;
use super::chain::{Odd, Walk};
use super::turn::Turn;
use crate::codec::Cx;
use crate::event::{Event, Fate, Kind, Origin, Session, Sink};
use crate::json::{Raw, Str};

/// The session that a store is of, as far as it is read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The turn that the main thread is in.
    pub(crate) turn: Turn,
    /// The session's id, as all texts here the body of a JSON string.
    session: String,
    /// Its facts were told.
    begun: bool,
    /// Another session begins.
    another: bool,
    /// The line that is read is the first of that: it says nothing of this one, and is read once more.
    over: bool,
    cwd: String,
    version: String,
    /// The file is a subagent's, of this call.
    child: Option<Child>,
    walk: Walk,
}

/// Where lines of all stores whose lines go on from others name the one that they go on from.
const PARENT: &str = "/parentUuid";
const NOWHERE: &str = "it does not say where it belongs: it is read behind the line before it";

impl Reading {
    /// The file is that of a subagent.
    pub(crate) fn of_subagent(&mut self, child: &Child) {
        self.child = Some(child.clone());
    }

    /// Another session begins in the same file.
    pub(crate) fn next_session(&mut self) {
        *self = Self {
            child: self.child.take(),
            ..Self::default()
        };
    }

    /// Whether the file is the session's own.
    pub(crate) const fn is_main(&self) -> bool {
        self.child.is_none()
    }

    /// Whether the session's facts were told.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// The session that a line with this id belongs to. A session that goes on from another one may have lines of that one too, with its
    /// id: only a `root`, which goes on from nothing, begins another.
    pub(crate) fn session<'a>(&mut self, id: Option<Str<'a>>, root: bool, cx: &Cx<'a>) -> Option<Str<'a>> {
        let id = id.filter(|id| !id.is_empty())?;
        if self.session.is_empty() {
            id.as_escaped().clone_into(&mut self.session);
        }
        if id.as_escaped() == self.session {
            return Some(id);
        }
        if root && self.is_main() {
            // Its facts come first, whatever it begins with.
            self.begun = false;
            self.another = true;
            return Some(id);
        }
        self.known(cx)
    }

    /// Lines that do not name their session are of this one from here on.
    pub(crate) fn goes_on_in(&mut self, id: Str<'_>) {
        id.as_escaped().clone_into(&mut self.session);
    }

    /// The session, for lines that do not name it.
    pub(crate) fn known<'a>(&self, cx: &Cx<'a>) -> Option<Str<'a>> {
        (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session)))
    }

    /// Where a line of the conversation belongs. `facts` is what it says of the session: that is told before the first one.
    pub(crate) fn place<'a>(&mut self, origin: Origin<'a>, facts: Session<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Origin<'a> {
        if self.is_main() {
            if std::mem::replace(&mut self.begun, true) {
                self.over = false;
                self.say_again(facts, cx);
            } else {
                if std::mem::take(&mut self.another) {
                    self.turn.end(&self.session, cx, sink);
                    self.over = true;
                }
                facts.cwd.unwrap_or_default().as_escaped().clone_into(&mut self.cwd);
                facts.version.unwrap_or_default().as_escaped().clone_into(&mut self.version);
                let at = Origin {
                    session: origin.session,
                    time: origin.time,
                    ..Origin::default()
                };
                sink.event(&Event::new(at, Kind::Session(cx.keep(facts))));
            }
        }
        self.beside(origin, cx)
    }

    /// Tells the ledger of a line that a program which goes on with the session would not come to, or not from the line before. It is
    /// read where it stands.
    ///
    /// `opens`: it is a prompt; of a reply, `reply` is its id.
    pub(crate) fn hangs<'t>(
        &mut self,
        id: Option<Str<'_>>,
        parent: Option<Str<'_>>,
        says: bool,
        opens: bool,
        reply: impl FnOnce() -> Option<Option<Str<'t>>>,
        cx: &Cx<'_>,
    ) {
        // What begins another session behind this one hangs from nothing, and is read once more.
        let goes_on = self.begun || self.walk.is_empty();
        let Some(trace) = cx.trace.filter(|_| self.is_main() && goes_on) else {
            return;
        };
        let opens = opens || reply().is_some_and(|id| self.walk.begins_reply(id));
        let (pointer, note) = match self.walk.line(id, parent, says, opens) {
            None => return,
            // There is nothing to point at.
            Some(Odd::NoId | Odd::NoParent) => return trace.note(Fate::Invented, "", NOWHERE),
            Some(Odd::Lost) => (PARENT, "what it goes on from is not there: it is read behind the line before it"),
            Some(Odd::Back) => (
                PARENT,
                "it goes back to an earlier line: what was said since is another branch, and read before it",
            ),
        };
        if let Some(parent) = parent {
            cx.took(parent.as_escaped());
        }
        trace.note(Fate::Merged, pointer, note);
    }

    /// Where a line belongs that is no part of the conversation.
    pub(crate) fn beside<'a>(&self, origin: Origin<'a>, cx: &Cx<'a>) -> Origin<'a> {
        self.child.as_ref().map_or(origin, |child| child.origin(origin, cx))
    }

    /// What a line says again of the session is nothing that is lost.
    fn say_again(&self, facts: Session<'_>, cx: &Cx<'_>) {
        for (again, told) in [(facts.cwd, &self.cwd), (facts.version, &self.version)] {
            if let Some(again) = again.filter(|again| again.as_escaped() == told) {
                cx.took(again.as_escaped());
            }
        }
    }

    /// Tells how the turn ended, if one is open.
    pub(crate) fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if self.is_main() && !self.over {
            self.turn.end(&self.session, cx, sink);
        }
    }
}

/// Tells of a line that is of no type that is known.
pub(crate) fn unknown<'a>(raw: Raw<'a>, session: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
    let origin = Origin {
        session,
        ..Origin::default()
    };
    sink.event(&Event::new(origin, Kind::Unknown(raw)));
}
