//! Events to OpenCode's lines: who writes what.

use super::parts::tells_end;
use super::turn::{Behind, Turn};
use crate::codec::{Dialect, Encode, Layout, Style, TellsEnd, Tools, Want};
use crate::event::{Event, Input, Origin, Time, ToolResult, Topic};
use crate::ids;
use crate::json::{Out, Raw, Str};
use crate::trace::Kept;

/// Writes it.
///
/// Lines that were read in this dialect go back as they were (`own`). Everything else becomes rounds of parts (`turn`).
#[derive(Debug)]
pub struct Encoder {
    pub(super) style: Style,
    /// The session's id, escaped; empty until it is known or made up.
    pub(super) session: String,
    /// The same as the source says it.
    known: String,
    /// A session is written that the program is to go on with: it takes ids of its own kind alone.
    pub(super) makes_ids: bool,
    /// A session keeps the images of a reply; no line of a run is one.
    pub(super) keeps_files: bool,
    /// Where the source says it, until it is said here.
    pub(super) named: Kept,
    /// The id of the reply whose parts are written.
    pub(super) message: String,
    /// The last time that the source said, in milliseconds; in a session that lives, what time it is.
    pub(super) time: Option<i64>,
    lives: bool,
    /// How many ids were made, and what is counted from.
    pub(super) ids: u64,
    pub(super) turn: Turn,
    /// In text: the turn has said something.
    pub(super) printed: bool,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            session: String::new(),
            known: String::new(),
            makes_ids: false,
            keeps_files: false,
            named: Kept::default(),
            message: String::new(),
            time: None,
            lives: false,
            ids: 0,
            turn: Turn::default(),
            printed: false,
        }
    }

    /// What a whole session is made of.
    pub(super) fn of_export(style: Style) -> Self {
        Self {
            makes_ids: style.source != Dialect::Opencode,
            keeps_files: true,
            ..Self::new(style)
        }
    }

    /// Something is said in this session, at this time.
    pub(super) fn meet(&mut self, origin: Origin<'_>, out: &mut Out) {
        if let Some(id) = origin.session.filter(|id| !id.is_empty() && id.as_escaped() != self.known) {
            id.as_escaped().clone_into(&mut self.known);
            if self.makes_ids && !id.as_escaped().starts_with("ses_") {
                let hash = ids::hash(id.as_escaped());
                self.session = format!("ses_{:012x}{:014x}", hash >> 16, hash & 0xff_ffff_ffff_ffff);
                out.renamed(id.as_escaped(), "the program knows its sessions by ids of its own kind");
            } else {
                id.as_escaped().clone_into(&mut self.session);
            }
            out.drop_held(&mut self.named, "another id follows before anything is said");
        }
        self.time = origin.time.and_then(Time::millis).or(self.time);
    }

    /// Parts follow of the reply with this id, if it has one.
    pub(super) fn enter(&mut self, message: Option<Str<'_>>) {
        if let Some(id) = message {
            id.as_escaped().clone_into(&mut self.message);
        }
    }
}

impl Encode for Encoder {
    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/part/state/error")
    }

    fn want(&self) -> Want {
        let want = match self.style.mode.layout {
            Layout::Text => Want::SNAPSHOTS.with_tools(Tools::Nothing),
            _ => Want::SNAPSHOTS.with_whole_rounds(),
        };
        let want = want.without_models();
        match self.style.hides_thoughts {
            true => want.without_thoughts(),
            false => want,
        }
    }

    fn takes_fields(&self) -> bool {
        self.style.is_own(Dialect::Opencode)
    }

    fn asks_rounds(&self) -> bool {
        self.takes_usage()
    }

    fn takes_usage(&self) -> bool {
        self.style.mode.layout != Layout::Text
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        let is_met = session.is_none_or(|id| id.as_escaped() == self.known);
        is_met && !self.style.is_own(Dialect::Opencode) && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn now(&mut self, millis: i64) {
        self.lives = true;
        self.time = Some(millis);
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.style.mode.layout == Layout::Text {
            return self.plain(event, out);
        }
        self.meet(event.origin, out);
        match self.style.is_own(Dialect::Opencode) {
            true => {
                let now = self
                    .time
                    .filter(|_| self.lives && event.origin.time.is_none())
                    .map(|millis| millis.to_string());
                let timed = now.as_deref().map(|now| Event {
                    origin: Origin {
                        time: Some(Time::Millis(Raw::trusted(now))),
                        ..event.origin
                    },
                    ..*event
                });
                self.own(timed.as_ref().unwrap_or(event), out);
            }
            false => self.foreign(event, out),
        }
    }

    // The prompt stands on the command line.
    fn input(&mut self, _: &Input<'_>, _: &mut Out) {}

    fn finish(&mut self, out: &mut Out) {
        self.end_round(Behind::Nothing, out);
        out.drop_held(&mut self.named, "a session is named with what is said in it, and nothing was");
    }
}
