//! Questions that wait for an answer.

use std::time::{Duration, Instant};

/// A question that waits, with what its answer will be looked at for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting<T> {
    /// Its id, as the body of a JSON string.
    pub(super) id: String,
    /// When it was asked.
    pub(super) since: Instant,
    until: Instant,
    pub(super) note: T,
}

/// Questions of one direction, oldest first.
#[derive(Debug)]
pub(super) struct Pending<T> {
    waiting: Vec<Waiting<T>>,
    most: usize,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            most: Self::MOST,
        }
    }
}

impl<T> Pending<T> {
    /// More than any program has open; beyond it the oldest is due at once.
    const MOST: usize = 1024;

    pub(super) const fn limit(&mut self, most: usize) {
        self.most = most;
    }

    pub(super) fn add(&mut self, id: String, note: T, now: Instant, limit: Duration) {
        if self.waiting.len() >= self.most
            && let Some(oldest) = self.waiting.first_mut()
        {
            oldest.until = now;
        }
        self.waiting.push(Waiting {
            id,
            since: now,
            until: now + limit,
            note,
        });
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Waiting<T>> {
        self.take_if(|waiting| waiting.id == id)
    }

    /// Takes the first of which this holds.
    pub(super) fn take_if(&mut self, holds: impl FnMut(&Waiting<T>) -> bool) -> Option<Waiting<T>> {
        let at = self.waiting.iter().position(holds)?;
        Some(self.waiting.remove(at))
    }

    /// The oldest.
    pub(super) fn first(&self) -> Option<&Waiting<T>> {
        self.waiting.first()
    }

    /// Whether this holds of one.
    pub(super) fn any(&self, holds: impl FnMut(&Waiting<T>) -> bool) -> bool {
        self.waiting.iter().any(holds)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.waiting.iter().map(|waiting| waiting.until).min()
    }

    /// Takes those whose time is over.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<Waiting<T>> {
        self.waiting.extract_if(.., |waiting| waiting.until <= now).collect()
    }

    /// Takes those of which this holds.
    pub(super) fn drain_if(&mut self, mut holds: impl FnMut(&Waiting<T>) -> bool) -> Vec<Waiting<T>> {
        self.waiting.extract_if(.., |waiting| holds(waiting)).collect()
    }

    /// Takes all.
    pub(super) fn drain(&mut self) -> Vec<Waiting<T>> {
        std::mem::take(&mut self.waiting)
    }
}
