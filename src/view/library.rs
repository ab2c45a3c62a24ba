//! The logs of a place, and what is known of them. A log that is as it was is not read again: what it said is kept on disk.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::disk_cache::{Kept, Known};
use super::place::{Place, Stamp};
use super::search_index::{self, Doc, Words};
use super::summary::{self, Summary};
use crate::io::{Console, Input};

/// A log.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// What it is called: a file by its path, what lies in a database as if that were its folder.
    pub(super) path: PathBuf,
    pub(super) input: Input,
    /// How it was when it was read.
    pub(super) stamp: Stamp,
    pub(super) what: What,
    /// What it is called in the index of words.
    pub(super) doc: Option<Doc>,
}

/// What is known of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Nothing yet.
    Waiting,
    /// This.
    Told(Arc<Summary>),
    /// Nothing is in it.
    Empty,
    /// It is no log, or cannot be read.
    Unread(Arc<str>),
}

/// All logs of a place.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) place: Place,
    logs: RwLock<Logs>,
    kept: Mutex<Kept>,
    /// When it was kept last.
    kept_at: Mutex<Option<Instant>>,
    /// Which logs say a word.
    words: Words,
    /// Counts up when something is otherwise than before.
    pub(super) changed: watch::Sender<u64>,
    /// So many are to be read.
    waiting: AtomicUsize,
    /// The first look is over.
    looked: AtomicBool,
    stopped: AtomicBool,
    /// So many pages are open that want news.
    readers: AtomicU64,
    /// What went wrong last.
    failure: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Logs {
    /// By their ids, which are never used again: `None` if it is gone.
    all: Vec<Option<Log>>,
    ids: HashMap<PathBuf, usize>,
}

/// What is known is kept on disk when so many logs were read, and so often else.
const MANY: usize = 50;
const KEEP: Duration = Duration::from_secs(60);
/// So many different words of one log are held before they go to the index.
const MOST_WORDS: usize = 100_000;

/// A page that wants news; places nobody has open are looked at no more.
#[derive(Debug)]
pub(super) struct Reader(Arc<Library>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Library {
    /// Of a place, with what is kept on disk of it.
    pub(super) fn new(place: Place, keep: bool) -> Self {
        let (kept, words) = Kept::open(keep.then(|| place.key()).as_deref());
        Self {
            words,
            place,
            logs: RwLock::default(),
            kept: Mutex::new(kept),
            kept_at: Mutex::default(),
            changed: watch::Sender::new(0),
            waiting: AtomicUsize::new(0),
            looked: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            readers: AtomicU64::new(0),
            failure: Mutex::default(),
        }
    }

    /// The log with this id.
    pub(super) fn log(&self, id: usize) -> Option<Log> {
        self.read().all.get(id)?.clone()
    }

    /// All of them, with their ids, but for the files of subagents that sessions are read with and what stands beside these.
    pub(super) fn logs(&self) -> Vec<(usize, Log)> {
        let logs = self.read();
        let summaries = logs
            .all
            .iter()
            .flatten()
            .filter_map(|log| if let What::Told(summary) = &log.what { Some(summary) } else { None });
        let beside = summaries.flat_map(|summary| &summary.beside);
        let left_out: HashSet<PathBuf> = beside.flat_map(|path| [path.clone(), path.with_extension("meta.json")]).collect();
        let all = logs.all.iter().enumerate().filter_map(|(id, log)| Some((id, log.clone()?)));
        let is_subagent = |log: &Log| self.place.knows_sessions() && matches!(&log.what, What::Told(summary) if summary.is_subagent);
        all.filter(|(_, log)| !left_out.contains(&log.path) && !is_subagent(log)).collect()
    }

    /// The logs that say all words of a text. `None`: no word is in it.
    pub(super) fn find(&self, text: &str) -> Option<HashSet<Doc>> {
        self.words.find(text).unwrap_or_else(|error| {
            self.failed(Some(error.to_string()));
            Some(HashSet::new())
        })
    }

    /// How many are still to be read; `None`: nobody has counted them yet.
    pub(super) fn waiting(&self) -> Option<usize> {
        self.looked.load(Ordering::Acquire).then(|| self.waiting.load(Ordering::Acquire))
    }

    /// Why the place could not be looked at.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Somebody wants news.
    pub(super) fn reader(self: &Arc<Self>) -> Reader {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Reader(Arc::clone(self))
    }

    /// Ends [`Self::keep_up`].
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Looks again and again, as long as somebody wants news, until it is stopped.
    pub(super) fn keep_up(&self) {
        loop {
            let begun = Instant::now();
            self.look();
            if self.is_stopped() {
                return;
            }
            // A place that takes long to look at is looked at less often.
            let pause = (begun.elapsed() * 10).clamp(Duration::from_secs(1), Duration::from_secs(60));
            let until = Instant::now() + pause;
            while Instant::now() < until || self.readers.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(50));
                if self.is_stopped() {
                    return;
                }
            }
        }
    }

    /// Looks which logs there are, and reads those that are not as they were.
    fn look(&self) {
        let inputs = match self.place.inputs() {
            Ok((inputs, failed)) => {
                self.failed(failed.first().map(ToString::to_string));
                inputs
            }
            Err(failure) => {
                self.failed(Some(failure.to_string()));
                self.looked.store(true, Ordering::Release);
                return self.news();
            }
        };
        let stamped = inputs.into_iter().filter_map(|input| Stamp::found(&input).map(|stamp| (input, stamp)));
        let stamped: Vec<(Input, Stamp)> = stamped.collect();
        let (queue, is_other) = self.sort(stamped);
        self.waiting.store(queue.len(), Ordering::Release);
        if !self.looked.swap(true, Ordering::AcqRel) || is_other {
            self.news();
        }
        if queue.is_empty() && !is_other {
            return;
        }
        self.read_all(&queue);
        // A log that grows is read again and again; what is known of it need not be kept each time.
        let was = *self.kept_at.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() > MANY || was.is_none_or(|was| was.elapsed() > KEEP) {
            self.keep();
        }
        self.news();
    }

    fn failed(&self, failure: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Takes over which logs there are; gives those that are to be read, and whether any are new, changed or gone.
    fn sort(&self, stamped: Vec<(Input, Stamp)>) -> (Vec<usize>, bool) {
        let mut logs = self.write();
        let mut kept = self.kept();
        let mut there = vec![false; logs.all.len()];
        let (mut queue, mut is_other) = (Vec::new(), false);
        for (input, stamp) in stamped {
            let path = input.path().map_or_else(|| PathBuf::from(input.name()), std::borrow::Cow::into_owned);
            let id = match logs.ids.get(&path) {
                Some(&id) => id,
                None => {
                    let (what, doc) = kept.take(&path, stamp).unwrap_or((What::Waiting, None));
                    let id = logs.all.len();
                    logs.ids.insert(path.clone(), id);
                    logs.all.push(Some(Log {
                        path,
                        input,
                        stamp,
                        what,
                        doc,
                    }));
                    there.push(false);
                    is_other = true;
                    id
                }
            };
            there[id] = true;
            // It is there: ids of those that are gone are forgotten.
            let log = logs.all[id].as_mut().expect("a known path has a log");
            if log.stamp != stamp || log.what == What::Waiting {
                log.stamp = stamp;
                queue.push(id);
                is_other = true;
            }
        }
        for (id, _) in there.iter().enumerate().filter(|(_, there)| !**there) {
            if let Some(log) = logs.all[id].take() {
                logs.ids.remove(&log.path);
                is_other = true;
            }
        }
        kept.forget();
        // What was written last is wanted first.
        queue.sort_by_key(|id| std::cmp::Reverse(logs.all[*id].as_ref().map(|log| log.stamp.modified)));
        (queue, is_other)
    }

    /// Reads logs, several at a time.
    fn read_all(&self, queue: &[usize]) {
        let next = AtomicUsize::new(0);
        let told = Mutex::new(Instant::now());
        let work = || {
            while let Some(&id) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.is_stopped() {
                    return;
                }
                self.read_one(id);
                self.waiting.fetch_sub(1, Ordering::AcqRel);
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.elapsed() > Duration::from_millis(500) {
                    *told = Instant::now();
                    self.news();
                }
            }
        };
        let jobs = std::thread::available_parallelism().map_or(1, NonZero::get).clamp(1, 8).min(queue.len());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
    }

    fn read_one(&self, id: usize) {
        let Some(log) = self.log(id) else { return };
        let doc = self.words.new_doc();
        let mut words = HashSet::new();
        let mut failed = None;
        let mut add = |words: &mut HashSet<Box<str>>| {
            if let Err(error) = self.words.add(doc, words) {
                failed = Some(format!("the index of words cannot be written: {error}"));
            }
            words.clear();
        };
        let read = summary::read(&log.input, &|| self.is_stopped(), &mut |text| {
            search_index::words(text, &mut |word| {
                if !words.contains(word) {
                    words.insert(word.into());
                }
            });
            if words.len() > MOST_WORDS {
                add(&mut words);
            }
        });
        add(&mut words);
        if failed.is_some() {
            self.failed(failed);
        }
        let what = match read {
            Ok(Some(summary)) => What::Told(Arc::new(summary)),
            Ok(None) => What::Empty,
            Err(_) if self.is_stopped() => return,
            Err(failure) => What::Unread(failure.without_from().to_string().into()),
        };
        if let Some(Some(log)) = self.write().all.get_mut(id) {
            log.what = what;
            log.doc = Some(doc);
        }
    }

    /// Keeps on disk what is known.
    pub(super) fn keep(&self) {
        if self.kept().is_full() {
            // Nobody has looked yet: what was kept is still true.
            return;
        }
        *self.kept_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let (known, docs) = {
            let logs = self.read();
            let told = logs.all.iter().flatten().filter(|log| log.what != What::Waiting);
            let known: Vec<Known> = told.map(Known::of).collect();
            let docs: HashSet<Doc> = logs.all.iter().flatten().filter_map(|log| log.doc).collect();
            (known, docs)
        };
        let kept = self.words.settle(&|doc| docs.contains(&doc)).and_then(|saved| {
            self.kept().save(&known, &saved)?;
            self.words.sweep(&saved);
            Ok(())
        });
        if let Err(error) = kept {
            Console::plain().say(&format!("the index cannot be kept: {error}"));
        }
    }

    fn news(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    fn read(&self) -> RwLockReadGuard<'_, Logs> {
        self.logs.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Logs> {
        self.logs.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
