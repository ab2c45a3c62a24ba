//! What is done beside the turns: answers that take time, subagents that nobody waits for.

use std::cell::RefCell;
use std::fmt;

use futures_util::future::LocalBoxFuture;

use super::event_writer::EventWriter;

/// Jobs that were begun and wait for a task of their own.
pub(crate) struct SideJobs {
    waiting: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
    events: EventWriter,
}

impl SideJobs {
    /// None yet. Whoever waits for events takes them up.
    pub(crate) const fn new(events: EventWriter) -> Self {
        Self {
            waiting: RefCell::new(Vec::new()),
            events,
        }
    }

    /// Does something beside the turns.
    pub(crate) fn spawn(&self, job: impl Future<Output = ()> + 'static) {
        self.waiting.borrow_mut().push(Box::pin(job));
        self.events.nudge();
    }

    /// Takes those that wait.
    pub(crate) fn take(&self) -> Vec<LocalBoxFuture<'static, ()>> {
        self.waiting.take()
    }
}

impl fmt::Debug for SideJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SideJobs").finish_non_exhaustive()
    }
}
