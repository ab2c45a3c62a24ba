//! Turns of a log that comes in pieces.

use super::Turn;
use super::build::Builder;
use crate::codec::Format;
use crate::convert::Converter;
use crate::events::{Event, Json, Time};
use crate::read::{Collector, Error};
use crate::store::Child;

/// Puts the turns of a log together that somebody else reads: what [`turns`](super::turns) does of a reader.
#[derive(Debug)]
pub struct Growing {
    log: Converter,
    /// Nothing is written.
    none: Vec<u8>,
    builder: Builder,
    /// Something was said since [`Self::is_fresh`] was asked.
    fresh: bool,
    over: bool,
    /// When what says nothing of its time is said.
    now: Option<Time>,
}

impl Growing {
    /// At the beginning of a log in this format.
    pub fn new(format: Format) -> Self {
        Self::following(format, false)
    }

    /// The same; with `follow`, sessions in another dialect are read as what they are.
    pub(super) fn following(format: Format, follow: bool) -> Self {
        Self {
            log: Converter::collecting(format, follow),
            none: Vec::new(),
            builder: Builder::default(),
            fresh: false,
            over: false,
            now: None,
        }
    }

    /// What calls were given, what came of them and what the model thought is left out from here on: enough to count, and less work.
    pub fn leave_contents(&mut self) {
        if let Some(found) = self.log.collected() {
            found.leave_contents();
        }
    }

    /// From here on it is this time, in milliseconds since 1970: what has no time of its own is said then.
    pub fn now(&mut self, millis: i64) {
        self.now = Json::new(&millis.to_string()).map(Time::Millis);
    }

    /// From here on what is said stands at this place: a number that means something to the caller, the line for instance. The parts of
    /// turns keep it.
    pub const fn at(&mut self, place: u64) {
        self.builder.place = place;
    }

    /// Takes the next piece of the log, of whichever size.
    pub fn feed(&mut self, piece: &[u8]) {
        self.log.feed(piece, &mut self.none);
        self.damage();
    }

    /// What is fed from here on is the file of a subagent, which lies beside that of the session; until [`Self::end_subagent`]. The place
    /// is between two lines, best before the one with the result of the call that the subagent works for.
    pub fn begin_subagent(&mut self, of: &Child) {
        self.log.begin_subagent(of);
    }

    /// The subagent's file is over: what is fed goes on where it was before.
    pub fn end_subagent(&mut self) {
        self.log.end_subagent(&mut self.none);
        self.damage();
    }

    /// There is no more.
    pub fn finish(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.log.finish(&mut self.none);
            self.damage();
        }
    }

    /// The next turn that has ended, or what cannot be read. `None`: more has to come, or there is no more.
    pub fn next_ended(&mut self) -> Option<Result<Turn, Error>> {
        loop {
            if let Some(turn) = self.builder.next() {
                return Some(Ok(turn));
            }
            match self.log.collected().and_then(Collector::next) {
                Some(Ok(mut event)) => {
                    if event.origin.time.is_none() {
                        event.origin.time.clone_from(&self.now);
                    }
                    self.builder.take(event);
                    self.fresh = true;
                }
                Some(Err(error)) => return Some(Err(error)),
                None if self.over => {
                    self.builder.finish();
                    return self.builder.next().map(Ok);
                }
                None => return None,
            }
        }
    }

    /// The turn that has begun and not ended. Who shows it as it grows may let go of what is shown ([`Turn::let_go`]): the turn that
    /// [`Self::next_ended`] gives in the end lacks it too.
    pub fn going_on(&mut self) -> Option<&mut Turn> {
        self.builder.going_on()
    }

    /// Takes what was said since the last turn and belongs to none.
    pub fn rest(&mut self) -> Vec<Event> {
        self.builder.rest()
    }

    /// Whether something was said since this was asked.
    pub(super) const fn is_fresh(&mut self) -> bool {
        std::mem::replace(&mut self.fresh, false)
    }

    /// What was read cannot be read on.
    pub(super) const fn broke_off(&mut self) {
        self.over = true;
    }

    fn damage(&mut self) {
        let damage = self.log.take_damage();
        if let Some(found) = self.log.collected() {
            for damage in damage {
                found.push(Error::damaged(damage.line, damage.byte, damage.reason));
            }
        }
    }
}
