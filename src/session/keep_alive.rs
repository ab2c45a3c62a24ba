//! Signs of life that nobody asked for.

use std::time::{Duration, Instant};

use super::Session;
use crate::adapters::raw::event::{Event, Heartbeat, Kind, Origin};
use crate::adapters::raw::json::{Raw, Str};

/// When the next one is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beat {
    pace: Option<Duration>,
    due: Option<Instant>,
}

impl Beat {
    /// More often than this nobody can want them.
    const FASTEST: Duration = Duration::from_millis(10);

    pub(super) fn new(pace: Option<Duration>, now: Instant) -> Self {
        let pace = pace.filter(|pace| !pace.is_zero()).map(|pace| pace.max(Self::FASTEST));
        Self {
            pace,
            due: pace.and_then(|pace| now.checked_add(pace)),
        }
    }

    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether one is due. Those that could not be given in time are not made up for.
    pub(super) fn beats(&mut self, now: Instant) -> bool {
        let beats = self.due.is_some_and(|due| due <= now);
        if beats {
            *self = Self::new(self.pace, now);
        }
        beats
    }
}

impl Session {
    /// The host wants them at another pace; 0 ends them.
    pub(super) fn set_pace(&mut self, milliseconds: f64, now: Instant) {
        if self.conduct.gives_signs_of_life() {
            let pace = Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
            self.beat = Beat::new(pace, now);
        }
    }

    pub(super) fn give_sign_of_life(&mut self, origin: Origin<'_>, now: Instant) {
        let seconds = self.clock.at(now).to_string();
        let heartbeat = Heartbeat {
            status: Some(Str::trusted("ok")),
            ts: Some(Raw::trusted(&seconds)),
        };
        self.say(&Event::new(origin, Kind::Heartbeat(heartbeat)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_keep_a_pace_and_are_not_made_up_for() {
        let now = Instant::now();
        let at = |ms| now + Duration::from_millis(ms);
        let mut beat = Beat::new(Some(Duration::from_millis(50)), now);
        let heard: Vec<u64> = (0..40)
            .map(|n| n * 10)
            .filter(|&ms| !(100..=300).contains(&ms) && beat.beats(at(ms)))
            .collect();
        assert_eq!(heard, [50, 310, 360]);
        for never in [None, Some(Duration::ZERO)] {
            let mut beat = Beat::new(never, now);
            assert_eq!((beat.due(), beat.beats(at(1 << 40))), (None, false));
        }
        assert_eq!(Beat::new(Some(Duration::from_nanos(1)), now).due(), Some(at(10)));
    }
}
