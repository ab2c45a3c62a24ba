//! Which session a log is in.
//!
//! A log may hold several, one after the other (files that were put together) or mixed (programs that write into one file). And a
//! session may get another id in the middle of a turn (`/clear`), which ends nothing.

use std::collections::VecDeque;

use crate::codec::Layout;
use crate::event::{Fate, Kind, PromptSource, Topic};
use crate::json::{Raw, Str, alike};
use crate::trace::{Kept, Trace};

/// The session that is read, and those that it interrupted.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    current: String,
    /// Sessions that another one broke into in the middle of a turn. When their lines come again, several programs write into one
    /// file, and no line is the other's going on.
    interrupted: VecDeque<String>,
    /// What comes next decides what another id means.
    next: Next,
    /// The process that speaks, where it says so.
    process: String,
    /// When something was said last, in milliseconds since 1970, in a session that is written anew.
    pub(super) latest: Option<i64>,
    /// Where the session is named first, for the ledger; and whether anything was written of it.
    named: Kept,
    wrote: bool,
}

/// What another id would mean, where its line does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// Nothing is known.
    #[default]
    Open,
    /// The same session: it said that it goes on under another id.
    Same,
    /// Another session: the program of the one before is over.
    Another,
    /// Another session: a header stood before it, which may say at which byte of its log it began.
    Headed(Option<u64>),
}

/// What the id of a line means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The session goes on.
    GoesOn,
    /// Another session begins.
    Another,
}

/// More sessions than this are not mixed in one file.
const MOST_INTERRUPTED: usize = 64;

impl Sessions {
    #[inline]
    pub(crate) fn is_current(&self, id: &str) -> bool {
        alike(id, &self.current)
    }

    /// The session that is read; empty before the first.
    pub(crate) fn current(&self) -> &str {
        &self.current
    }

    /// Whether the session has said that it goes on under another id.
    pub(crate) fn is_renamed(&self) -> bool {
        self.next == Next::Same
    }

    /// A line has named the session.
    pub(super) fn names(&mut self, id: &str, trace: &Trace) {
        if self.named.is_empty() && !self.wrote {
            trace.place(&mut self.named, id);
        }
    }

    /// It goes on under another id.
    pub(super) fn renamed(&mut self, trace: &Trace) {
        if !self.wrote {
            trace.tell_held(
                &mut self.named,
                Fate::Dropped,
                "the session has another id before anything is written of it",
            );
        }
    }

    /// A line of the session is read, or nothing more comes of it.
    #[inline]
    pub(super) const fn wrote(&mut self, wrote: bool) {
        self.wrote |= wrote;
    }

    /// The session is over: its id is said by what was written of it, where the target says ids.
    pub(super) fn over(&mut self, layout: Layout, trace: &Trace) {
        let lost = match std::mem::take(&mut self.wrote) {
            true if layout.names_sessions() => return trace.release(&mut self.named),
            true => "no place in the target: it names no session",
            false => "nothing is written of this session",
        };
        trace.tell_held(&mut self.named, Fate::Dropped, lost);
    }

    /// Whether no line has named a session yet.
    #[inline]
    pub(super) const fn is_unnamed(&self) -> bool {
        self.current.is_empty()
    }

    /// A line of this kind has been read.
    #[inline]
    pub(crate) fn read(&mut self, kind: &Kind<'_>) {
        self.next = match kind {
            Kind::Notice(notice) => return self.notice(notice.topic),
            // The program is over, and its turn with it.
            Kind::Fatal(_) => Next::Another,
            _ => Next::Open,
        };
    }

    /// A notice of the session was read.
    #[inline]
    pub(crate) const fn notice(&mut self, topic: Topic) {
        self.next = if matches!(topic, Topic::Reset) { Next::Same } else { Next::Open };
    }

    /// What follows is another session's, which began `at` this byte of its log.
    pub(crate) const fn header(&mut self, at: Option<u64>) {
        self.next = Next::Headed(at);
    }

    /// Whether the line is the first behind a header.
    #[inline]
    pub(super) const fn is_headed(&self) -> bool {
        matches!(self.next, Next::Headed(_))
    }

    /// Whether a line that names no session begins another one, for it is the first behind a header.
    #[inline]
    pub(super) const fn begins_unnamed(&self, in_turn: bool) -> bool {
        self.begins_again() || self.is_headed() && !in_turn && !self.is_unnamed()
    }

    /// Whether the next line begins another session whatever it names, the same or nothing: the header before it says where in the log
    /// that stood, and not at its beginning, with which stored logs are put together.
    #[inline]
    pub(super) const fn begins_again(&self) -> bool {
        matches!(self.next, Next::Headed(Some(_)))
    }

    /// Where in its log the session began that is to begin now, if its header told.
    pub(super) const fn begins_at(&self) -> Option<u64> {
        match self.next {
            Next::Headed(at) => at,
            _ => None,
        }
    }

    /// A line of this kind names another session than the one before; `in_turn`: that one is in the middle of a turn.
    #[cold]
    pub(crate) fn step(&mut self, id: &str, kind: &Kind<'_>, in_turn: bool) -> Step {
        if self.is_unnamed() && !self.begins_again() {
            id.clone_into(&mut self.current);
            return Step::GoesOn;
        }
        let goes_on = in_turn
            && match self.next {
                Next::Same => true,
                Next::Another | Next::Headed(_) => false,
                Next::Open => !self.interrupted.iter().any(|other| other == id) && !begins(kind),
            };
        if !goes_on {
            return Step::Another;
        }
        if !kind.may_precede_session() {
            id.clone_into(&mut self.current);
        }
        Step::GoesOn
    }

    /// A program answers its host for the first time. Returns whether it is another one than that whose lines came before.
    #[cold]
    pub(crate) fn is_another_program(&mut self, session: Option<Str<'_>>, process: Option<Raw<'_>>, in_turn: bool) -> bool {
        if let Some(id) = session {
            return !self.current.is_empty() && !self.is_current(id.as_escaped());
        }
        let process = process.map_or("", Raw::as_str);
        let another = match self.process.is_empty() {
            false => self.process != process,
            // A host may greet the program when a turn has begun already.
            true => !self.current.is_empty() && !in_turn,
        };
        if !another {
            process.clone_into(&mut self.process);
        }
        another
    }

    /// The session `id` begins.
    pub(crate) fn begin(&mut self, id: &str, in_turn: bool) {
        let before = std::mem::replace(&mut self.current, id.to_owned());
        if !in_turn {
            self.interrupted.clear();
        } else if !self.interrupted.contains(&before) {
            self.interrupted.truncate(MOST_INTERRUPTED - 1);
            self.interrupted.push_front(before);
        }
        self.next = Next::Open;
        self.process.clear();
    }
}

/// Whether a session begins with it, whatever came before.
const fn begins(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Session(_) => true,
        Kind::Prompt(prompt) => matches!(prompt.source, PromptSource::Host | PromptSource::Echo),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Fatal, Notice, Reply, Session};

    const REPLY: Kind<'static> = Kind::Reply(&Reply {
        id: None,
        model: None,
        blocks: &[],
        stop: None,
        usage: None,
        error: None,
        last: false,
    });

    fn notice(topic: Topic) -> Notice<'static> {
        Notice {
            name: Str::trusted("x"),
            topic,
            message: None,
            data: None,
        }
    }

    fn at(id: &str) -> Sessions {
        let mut sessions = Sessions::default();
        assert_eq!(sessions.step(id, &REPLY, false), Step::GoesOn);
        sessions
    }

    #[test]
    fn a_turn_goes_on_under_another_id() {
        let mut sessions = at("a");
        assert_eq!(sessions.step("b", &REPLY, true), Step::GoesOn);
        assert_eq!(sessions.current, "b");
        assert_eq!(sessions.step("c", &REPLY, false), Step::Another, "the turn is over");
    }

    #[test]
    fn behind_an_error_that_ends_the_program_nothing_goes_on() {
        let mut sessions = at("a");
        sessions.read(&Kind::Fatal(&Fatal::default()));
        assert_eq!(sessions.step("b", &REPLY, true), Step::Another);
    }

    #[test]
    fn a_session_begins_with_its_facts_unless_it_was_renamed() {
        let facts = Session::default();
        let mut sessions = at("a");
        assert_eq!(sessions.step("b", &Kind::Session(&facts), true), Step::Another);
        sessions.read(&Kind::Notice(&notice(Topic::Reset)));
        assert_eq!(sessions.step("b", &Kind::Session(&facts), true), Step::GoesOn);
        sessions.read(&REPLY);
        let hook = notice(Topic::Hook);
        assert_eq!(sessions.step("c", &Kind::Notice(&hook), true), Step::GoesOn);
        assert_eq!(sessions.current, "b", "a hook may run before the session that it belongs to");
        assert_eq!(sessions.step("c", &Kind::Session(&facts), true), Step::Another);
    }

    #[test]
    fn sessions_that_are_mixed_do_not_go_on_in_each_other() {
        let facts = Session::default();
        let mut sessions = at("a");
        assert_eq!(sessions.step("b", &Kind::Session(&facts), true), Step::Another);
        sessions.begin("b", true);
        assert_eq!(sessions.step("a", &REPLY, true), Step::Another);
        sessions.begin("a", false);
        assert_eq!(sessions.step("b", &REPLY, true), Step::GoesOn, "all that was mixed is over");
    }
}
