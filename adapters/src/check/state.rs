//! What is known of one session.

use super::blocks::Round;
use super::calls::Calls;
use super::report::{Line, Report};
use super::tree::Tree;
use super::turns::Turns;
use super::{Rule, Seen};
use crate::event::{Event, Origin};
use crate::json::Str;
use crate::threads::Threads;
use crate::vendor::{Logs, Vendor};

/// Whether a subagent is told of as working for itself.
fn is_own(origin: &Origin<'_>, parent: Str<'_>) -> bool {
    origin.agent.and_then(|agent| agent.id).is_some_and(|id| id.same_text(parent))
}

/// What is known of one session.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) turns: Turns,
    pub(super) calls: Calls,
    pub(super) threads: Threads<Round>,
    pub(super) tree: Tree,
    pub(super) lines: Seen,
    /// The id of the line before, and where it stood.
    last_line: u64,
    lines_line: u64,
    parents: Seen,
    time: i64,
    pub(super) in_turn: bool,
}

impl State {
    /// Where the event belongs.
    pub(super) fn origin(&mut self, event: &Event<'_>, logs: &Logs, stored: bool, line: &mut Line<'_>, report: &mut Report) {
        let origin = &event.origin;
        // Some name the session where a line has no id of its own.
        let own = |id: &Str<'_>| !id.is_empty() && !origin.session.is_some_and(|session| session.same_text(*id));
        if let Some(id) = origin.id.filter(own) {
            // One line may say several things, each of which is stored on a line of its own.
            let hash = crate::ids::hash(id.as_escaped());
            let same = self.last_line == hash && (stored || self.lines_line == line.number());
            self.last_line = hash;
            self.lines_line = line.number();
            if !same && !self.lines.add(id) {
                let text = format!("there was a line {:?} before", id.unescape());
                report.find(Rule::DuplicateUuid, line.place(id.as_escaped()), text);
            }
        }
        if let Some(parent) = origin.parent
            && !self.calls.knows(parent)
            && self.parents.add(parent)
            && !(logs.free_subagents && is_own(origin, parent))
        {
            let text = format!("there is no call {:?}", parent.unescape());
            report.find(Rule::UnknownParent, line.place(parent.as_escaped()), text);
        }
        if let Some(time) = origin.time
            && let Some(now) = time.millis()
        {
            if now < self.time {
                let text = "an earlier time than on the line before".to_owned();
                report.fold(Rule::TimeRunsBack, || line.place(time.source()), text);
            }
            self.time = now;
        }
    }

    /// What is known of the session that follows in the log.
    pub(super) fn next(&self) -> Self {
        Self {
            calls: self.calls.next_session(),
            ..Self::default()
        }
    }

    /// The session is over.
    pub(super) fn end(mut self, vendor: &Vendor, report: &mut Report) {
        self.turns.end(report);
        self.calls.end(report);
        for round in self.threads.all() {
            // A model's stream says nothing else of its end.
            round.end_turn(vendor.encoder.is_none(), vendor.logs.pieces, report);
        }
    }
}
