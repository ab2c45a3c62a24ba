//! Calls and their results.

use std::collections::BTreeMap;

use super::report::{Line, Place, Report};
use super::{Level, Rule, Seen};
use crate::event::{ResultStatus, ToolResult};
use crate::json::Str;

/// What is known of a session's calls. Ids stand for themselves as they are spelled.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Calls that have no result yet.
    open: BTreeMap<String, Call>,
    /// Every call, and those of them that have a result.
    made: Seen,
    answered: Seen,
    /// Those of the session before, whose subagents may work on under this one's name.
    before: Seen,
    /// Results of calls that nobody has made so far.
    orphans: BTreeMap<String, Orphan>,
}

#[derive(Debug)]
struct Call {
    place: Place,
    /// Told in pieces, as a whole, or both.
    started: bool,
    whole: bool,
    /// Its turn may end well without its result.
    excused: bool,
    /// Its result came before it.
    answered: bool,
    /// Its turn is over, which ended well or not: the next one may begin with its result, if another one than the agent has run it.
    over: Option<bool>,
    /// The thread that it belongs to.
    parent: Option<String>,
}

#[derive(Debug)]
struct Orphan {
    place: Place,
    /// It may stand alone.
    refusal: bool,
}

/// How a call was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Its block begins.
    Start,
    /// The whole block.
    Whole,
}

/// More calls are not kept in mind: nobody waits for so many results.
const MOST: usize = 1 << 16;

impl Calls {
    /// A call was made.
    pub(super) fn call(&mut self, id: Str<'_>, told: Told, parent: Option<Str<'_>>, line: &mut Line<'_>, report: &mut Report) {
        if id.is_empty() {
            return;
        }
        let again = match self.open.get_mut(id.as_escaped()).filter(|call| call.over.is_none()) {
            Some(call) => {
                let slot = match told {
                    Told::Start => &mut call.started,
                    Told::Whole => &mut call.whole,
                };
                // A whole block is the same call as its start, and comes behind it.
                let again = *slot || told == Told::Start;
                *slot = true;
                if !again {
                    return;
                }
                true
            }
            None => !self.made.add(id),
        };
        if again {
            let text = format!("there was a call {:?} before", id.unescape());
            report.find(Rule::DuplicateCallId, line.place(id.as_escaped()), text);
            return;
        }
        let early = self.orphans.remove(id.as_escaped());
        if let Some(Orphan { place, .. }) = &early {
            let text = format!("the call {:?} comes only on line {}", id.unescape(), line.number());
            report.find(Rule::ResultBeforeCall, place.clone(), text);
            self.answered.add(id);
        }
        if self.open.len() < MOST {
            let call = Call {
                place: line.place(id.as_escaped()),
                started: told == Told::Start,
                whole: told == Told::Whole,
                excused: false,
                answered: early.is_some(),
                over: None,
                parent: parent.map(|parent| parent.as_escaped().to_owned()),
            };
            if let Some(other) = self.open.insert(id.as_escaped().to_owned(), call) {
                let well = other.over == Some(true);
                unanswered(id.as_escaped(), other, well, report);
            }
        }
    }

    /// The call may get no result though its turn ends well: the host is asked whether it may run, and may answer itself, or it runs on.
    pub(super) fn excuse(&mut self, id: Str<'_>) {
        if let Some(call) = self.open.get_mut(id.as_escaped()) {
            call.excused = true;
        }
    }

    /// What came of a call.
    pub(super) fn result(&mut self, result: &ToolResult<'_>, line: &mut Line<'_>, report: &mut Report) {
        let id = result.call;
        if id.is_empty() {
            return;
        }
        if self.open.get(id.as_escaped()).is_some_and(|call| !call.answered) {
            self.open.remove(id.as_escaped());
            self.answered.add(id);
        } else if self.answered.has(id) || self.orphans.contains_key(id.as_escaped()) {
            let text = format!("the call {:?} has a result already", id.unescape());
            report.find(Rule::SecondResult, line.place(id.as_escaped()), text);
        } else if self.knows(id) {
            // It was made when too many were open, too long ago, or in the session before.
            self.answered.add(id);
        } else {
            let orphan = Orphan {
                place: line.place(id.as_escaped()),
                // A call that was refused may be told with its refusal alone.
                refusal: result.name.is_some() && result.status == ResultStatus::Denied,
            };
            if self.orphans.len() < MOST {
                self.orphans.insert(id.as_escaped().to_owned(), orphan);
            } else {
                uncalled(id.as_escaped(), orphan, report);
            }
        }
    }

    /// Whether there was a call of this id.
    pub(super) fn knows(&self, id: Str<'_>) -> bool {
        self.made.has(id) || self.made.is_full() || self.before.has(id)
    }

    /// Those of the session that follows in the log.
    pub(super) fn next_session(&self) -> Self {
        let before = if self.made.is_empty() { &self.before } else { &self.made };
        Self {
            before: before.clone(),
            ..Self::default()
        }
    }

    /// A turn is said again that was said before it, perhaps in this log: its calls are no second ones.
    pub(super) fn say_again(&mut self) {
        (self.made, self.answered) = Default::default();
    }

    /// A reply was taken back, and with it calls that it had begun.
    pub(super) fn retract(&mut self, id: &str) {
        if self.open.get(id).is_some_and(|call| !call.whole) {
            self.open.remove(id);
        }
    }

    /// A turn is over; `well`: nothing kept it from being done. What has no result may get it with the next turn, and after that none any
    /// more; subagents may work on behind a turn's end.
    pub(super) fn end_turn(&mut self, well: bool, report: &mut Report) {
        let open = std::mem::take(&mut self.open);
        for (id, call) in open {
            match call.over {
                _ if call.parent.is_some() => {
                    self.open.insert(id, call);
                }
                None => {
                    let over = Some(well && !report.damaged);
                    self.open.insert(id, Call { over, ..call });
                }
                Some(well) => unanswered(&id, call, well, report),
            }
        }
        for (id, orphan) in std::mem::take(&mut self.orphans) {
            uncalled(&id, orphan, report);
        }
    }

    /// The session is over.
    pub(super) fn end(&mut self, report: &mut Report) {
        for (id, call) in std::mem::take(&mut self.open) {
            let well = call.over == Some(true);
            unanswered(&id, call, well, report);
        }
        for (id, orphan) in std::mem::take(&mut self.orphans) {
            uncalled(&id, orphan, report);
        }
    }
}

fn unanswered(id: &str, call: Call, well: bool, report: &mut Report) {
    if call.answered {
        return;
    }
    let level = if well && !call.excused { Level::Error } else { Level::Warning };
    let text = format!("the call {:?} has no result", Str::trusted(id).unescape());
    report.find_as(Rule::CallWithoutResult, level, call.place, text);
}

fn uncalled(id: &str, orphan: Orphan, report: &mut Report) {
    if !orphan.refusal {
        let text = format!("there is no call {:?}", Str::trusted(id).unescape());
        report.find(Rule::ResultWithoutCall, orphan.place, text);
    }
}
