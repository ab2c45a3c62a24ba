//! Turns: how they begin, and that each has one outcome.

use std::collections::VecDeque;

use super::report::{Line, Place, Report};
use super::{Level, Rule};
use crate::event::{Kind, Outcome, ResultStatus, Session};
use crate::ids;
use crate::json::Str;
use crate::vendor::Facts;

const NO_FACTS: &str = "the session begins without its facts";

/// Where a session is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The turn that has not ended.
    open: Option<Open>,
    /// Turns in which tasks in the background told of themselves, and behind which others began before their outcomes came: these come later, in
    /// the order of the turns.
    late: VecDeque<Open>,
    /// The session's facts were told, or it was said that they were not.
    facts: bool,
    /// They were told at the beginning of a turn, as they are in this dialect.
    facts_open: bool,
    /// The outcome before.
    ended: Option<Ended>,
    /// What came behind it without the beginning of another turn.
    stray: Option<Place>,
    /// An outcome before which nothing was told. If it is the only line, it is a document.
    alone: Option<(Place, Level)>,
}

#[derive(Debug)]
struct Open {
    place: Place,
    /// More than its beginning was told.
    said: bool,
    /// The last that was told is the result of a call that was refused.
    refused: bool,
    /// A task in the background has told of itself.
    tasks: bool,
}

#[derive(Debug)]
struct Ended {
    line: u64,
    /// What its line says, as a hash.
    text: u64,
    turn: Option<u64>,
}

/// What there is to know of a line beside its event.
#[derive(Debug)]
pub(super) struct About<'a> {
    /// Whether logs of the dialect begin with the session's facts.
    pub(super) facts: Facts,
    /// Whether a refused call may be the last that is said.
    pub(super) refusal_ends: bool,
    /// Whether they are events that were stored, of which nobody knows what the log was like.
    pub(super) stored: bool,
    /// Whether the outcome is all that there is.
    pub(super) document: bool,
    /// Whether the dialect has logs like that.
    pub(super) has_documents: bool,
    /// The turn that the line names.
    pub(super) turn: Option<Str<'a>>,
    /// The whole line.
    pub(super) text: &'a str,
}

impl About<'_> {
    /// How bad it is that nothing says the session's facts.
    const fn lacks_facts(&self) -> Level {
        match self.facts {
            Facts::Always if !self.stored => Level::Error,
            _ => Level::Warning,
        }
    }
}

/// Whether a turn is going on with it.
pub(super) const fn is_part(kind: &Kind<'_>) -> bool {
    matches!(
        kind,
        Kind::RoundStart(_) | Kind::BlockStart(_) | Kind::Delta(_) | Kind::BlockStop(_) | Kind::Reply(_) | Kind::ToolResult(_)
    )
}

impl Turns {
    /// The session's facts.
    pub(super) fn facts(&mut self, session: &Session<'_>, line: &Line<'_>, report: &mut Report) {
        self.facts = true;
        if !session.opens_turn {
            return;
        }
        self.facts_open = true;
        self.end_stray(report);
        let before = self.open.replace(Open {
            place: line.whole(),
            said: false,
            refused: false,
            tasks: false,
        });
        match before.filter(|before| before.said) {
            Some(before) if before.tasks => self.late.push_back(before),
            Some(before) => unended(before, report),
            None => {}
        }
    }

    /// A task in the background has told of itself.
    pub(super) const fn task(&mut self) {
        if let Some(open) = &mut self.open {
            open.tasks = true;
        }
    }

    /// What the user says begins a turn.
    pub(super) fn prompt(&mut self) {
        if self.open.is_none() && self.stray.is_none() {
            self.ended = None;
        }
    }

    /// A part of the main conversation.
    pub(super) fn part(&mut self, kind: &Kind<'_>, about: &About<'_>, line: &Line<'_>, report: &mut Report) {
        let refused = about.refusal_ends && matches!(kind, Kind::ToolResult(result) if result.status == ResultStatus::Denied);
        if let Some(open) = &mut self.open {
            open.said = true;
            open.refused = refused;
            return;
        }
        let turn = about.turn.map(|turn| ids::hash(turn.as_escaped()));
        if let Some(ended) = &self.ended {
            let same = turn.is_some() && turn == ended.turn;
            if same || self.facts_open {
                self.stray.get_or_insert_with(|| line.whole());
                return;
            }
        }
        self.need_facts(about, line, report);
        self.open = Some(Open {
            place: line.whole(),
            said: true,
            refused,
            tasks: false,
        });
    }

    /// How the turn ended.
    pub(super) fn outcome(&mut self, outcome: &Outcome<'_>, about: &About<'_>, line: &Line<'_>, report: &mut Report) {
        let now = Ended {
            line: line.number(),
            text: ids::hash(about.text),
            turn: about.turn.map(|turn| ids::hash(turn.as_escaped())),
        };
        match (self.open.take(), &self.ended, self.stray.take()) {
            (Some(_), _, _) => {}
            (None, _, _) if self.late.pop_front().is_some() => {}
            (None, Some(before), stray) => {
                let named = now.turn.is_some() && before.turn.is_some();
                let same = before.text == now.text || named && now.turn == before.turn;
                match stray.filter(|_| !same) {
                    Some(place) => report.find(Rule::MissingInit, place, "a turn begins without the session's facts"),
                    None if named && !same => {}
                    None => {
                        let text = format!("the turn has an outcome already, on line {}", before.line);
                        // What a host says that makes no sense is answered like a turn, and of a turn that said nothing there may be no more.
                        let level = if same || self.facts_open && !outcome.is_error {
                            Level::Error
                        } else {
                            Level::Warning
                        };
                        report.find_as(Rule::SecondOutcome, level, line.whole(), text);
                    }
                }
            }
            // What fails before it begins has an outcome alone.
            (None, None, _) if outcome.is_error => {}
            (None, None, _) if about.has_documents && about.facts == Facts::Always && !self.facts => {
                self.facts = true;
                self.alone = Some((line.whole(), about.lacks_facts()));
            }
            (None, None, _) => self.need_facts(about, line, report),
        }
        self.ended = Some(now);
    }

    /// Whether the session's facts are all that was told, and no turn has begun with them.
    pub(super) const fn is_fresh(&self) -> bool {
        self.facts && self.open.is_none() && self.ended.is_none()
    }

    /// The program ended with an error; an outcome may still follow.
    pub(super) fn fatal(&mut self) {
        self.open = None;
        self.ended = None;
    }

    /// The session is over.
    pub(super) fn end(&mut self, report: &mut Report) {
        self.end_stray(report);
        if let Some((place, level)) = self.alone.take().filter(|_| report.summary.lines > 1) {
            report.find_as(Rule::MissingInit, level, place, NO_FACTS);
        }
        for open in self.late.drain(..).chain(self.open.take()) {
            unended(open, report);
        }
    }

    fn end_stray(&mut self, report: &mut Report) {
        if let Some(place) = self.stray.take() {
            let line = self.ended.as_ref().map_or(0, |ended| ended.line);
            report.find(Rule::LineAfterOutcome, place, format!("the turn has ended on line {line}"));
        }
    }

    fn need_facts(&mut self, about: &About<'_>, line: &Line<'_>, report: &mut Report) {
        if about.facts != Facts::Never && !self.facts && !about.document {
            self.facts = true;
            report.find_as(Rule::MissingInit, about.lacks_facts(), line.whole(), NO_FACTS);
        }
    }
}

fn unended(open: Open, report: &mut Report) {
    let level = if open.refused { Level::Warning } else { Level::Error };
    report.find_as(Rule::MissingOutcome, level, open.place, "the turn that begins here has no outcome");
}
