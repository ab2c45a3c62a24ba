use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use agentglot_adapters::Drain;
use agentglot_adapters::convert::{Damage, Followed, LedgerEntry, Silent};

use super::plan::Log;
use super::writer::LogWriter;
use crate::status::Failure;

/// What has been made and not been written yet.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) out: Vec<u8>,
    pub(super) damage: Vec<InFile<Damage>>,
    pub(super) followed: Vec<Followed>,
    pub(super) entries: Vec<InFile<LedgerEntry>>,
    /// Where the pieces of `out` come from, if that is noted.
    pub(super) marks: Vec<InFile<Mark>>,
    /// What is to be said before the damage.
    pub(super) hint: Option<String>,
}

/// Where a piece of the output comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// The piece ends here, and begins where the one before ends.
    pub(super) end: usize,
    /// The line that it comes from, in the part of the log that was read.
    #[cfg_attr(not(feature = "columnar"), expect(dead_code, reason = "only tables want to know"))]
    pub(super) line: u64,
}

/// What there is to say of a place in a file.
#[derive(Debug)]
pub(super) struct InFile<T> {
    /// The file of a subagent; `None` for the log's own.
    pub(super) file: Option<Arc<str>>,
    pub(super) what: T,
}

/// What there is to say when a task is done.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Lines read.
    pub(super) lines: u64,
    /// Lines that gave no output of their own.
    pub(super) silent: Silent,
    /// Why it could not be done, or not to its end.
    pub(super) failure: Option<Failure>,
    /// `strict` has ended the run.
    pub(super) stopped: bool,
    /// The log is done with it.
    pub(super) last: bool,
}

/// Puts the output of tasks that are worked on at the same time into the order of the tasks.
#[derive(Debug)]
pub(super) struct Order {
    state: Mutex<State>,
    moved: Condvar,
    /// The first task that is not done; as in the state, to be looked at without a lock.
    next: AtomicUsize,
    over: AtomicBool,
    jobs: usize,
}

#[derive(Debug)]
struct State {
    writer: LogWriter,
    next: usize,
    waiting: BTreeMap<usize, (Arc<Log>, Made, End)>,
    /// Emptied buffers, to be used again.
    spare: Vec<Vec<u8>>,
}

/// The right to work on a task.
#[derive(Debug)]
pub(super) struct Ticket {
    order: Arc<Order>,
    index: usize,
    log: Arc<Log>,
    /// What has been made since the last [`Ticket::offer`].
    pub(super) made: Made,
}

/// Who is not at the head of the line waits when it has made this much.
const MOST_WAITING: usize = 16 << 20;

impl Order {
    pub(super) const fn new(writer: LogWriter, jobs: usize) -> Self {
        let state = State {
            writer,
            next: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            moved: Condvar::new(),
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            jobs,
        }
    }

    /// Waits until a task is near enough to the head of the line. `None`: nothing more is to be done.
    pub(super) fn admit(self: &Arc<Self>, index: usize, log: &Arc<Log>) -> Option<Ticket> {
        let mut state = self.lock();
        while !self.is_over() && index >= state.next + self.jobs + 2 {
            state = self.wait(state);
        }
        let out = state.spare.pop().unwrap_or_default();
        (!self.is_over()).then(|| Ticket {
            order: Arc::clone(self),
            index,
            log: Arc::clone(log),
            made: Made { out, ..Made::default() },
        })
    }

    /// Gives the writer back when all workers have ended.
    pub(super) fn into_writer(self: Arc<Self>) -> LogWriter {
        // Tickets, and what they gave to converters, end with their tasks.
        let order = Arc::into_inner(self).expect("no worker is left");
        order.state.into_inner().unwrap_or_else(|e| e.into_inner()).writer
    }

    /// See [`Ticket::offer`].
    fn offer(&self, index: usize, log: &Log, made: &mut Made) -> bool {
        if self.next.load(Ordering::Acquire) != index {
            let waiting = made.out.len() + 256 * made.entries.len();
            if waiting < MOST_WAITING {
                return !self.is_over() && !log.dead.load(Ordering::Relaxed);
            }
        }
        let mut state = self.lock();
        while !self.is_over() && state.next != index {
            state = self.wait(state);
        }
        if self.is_over() || !state.writer.put(log, made) {
            drop(state);
            self.stop();
            return false;
        }
        !log.dead.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    // A lock is poisoned only by a panic, which ends the whole run.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.moved.wait(state).unwrap_or_else(|e| e.into_inner())
    }

    /// Nothing more is to be done: everybody stops.
    fn stop(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.moved.notify_all();
    }
}

impl Ticket {
    /// Writes what has been made, if it is this task's turn; else keeps it, and waits when it is much. Returns whether to go
    /// on reading. [`Self::finish`] must be called in any case.
    pub(super) fn offer(&mut self) -> bool {
        self.order.offer(self.index, &self.log, &mut self.made)
    }

    /// Takes what is made while a very long line is read.
    pub(super) fn drain(&self) -> Drain {
        let (order, index, log) = (Arc::clone(&self.order), self.index, Arc::clone(&self.log));
        Box::new(move |out| {
            let mut made = Made {
                out: std::mem::take(out),
                ..Made::default()
            };
            order.offer(index, &log, &mut made);
            *out = made.out;
        })
    }

    /// The task is done.
    pub(super) fn finish(self, end: End) {
        let Self { order, index, log, made } = self;
        let mut state = order.lock();
        state.waiting.insert(index, (log, made, end));
        let mut go_on = !order.is_over();
        while let Some((log, mut made, end)) = go_on.then(|| state.next).and_then(|next| state.waiting.remove(&next)) {
            go_on = state.writer.put(&log, &mut made) && state.writer.end(&log, end);
            made.out.clear();
            if state.spare.len() <= order.jobs {
                state.spare.push(made.out);
            }
            state.next += 1;
            order.next.store(state.next, Ordering::Release);
        }
        drop(state);
        if go_on { order.moved.notify_all() } else { order.stop() }
    }
}
