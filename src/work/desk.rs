use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::Work;
use super::order::{End, Made};
use super::plan::Log;
use crate::io::{Console, Target};
use crate::status::{Failure, Status};

/// Writes what comes to it, in the order in which it comes: output, ledger, messages.
#[derive(Debug)]
pub(super) struct Desk {
    console: Console,
    stdout: Option<Target>,
    ledger: Option<(File, PathBuf)>,
    /// The log that is being written, and the file that its output goes to.
    current: Option<usize>,
    target: Option<Target>,
    /// How many lines of the log lie before the part that is being written.
    lines_before: u64,
    dropped: u64,
    lossy: bool,
    status: Status,
}

impl Desk {
    /// Everything that all logs share is opened now: it makes no sense to begin without it.
    pub(super) fn open(work: &Work, console: &Console) -> Result<Self, Failure> {
        let stdout = match &work.outputs {
            Some(_) => None,
            None => Some(Target::stdout()),
        };
        let ledger = match &work.ledger {
            Some(path) => {
                let file = File::create(path).map_err(|error| Failure::Write {
                    name: path.display().to_string(),
                    error,
                })?;
                Some((file, path.clone()))
            }
            None => None,
        };
        Ok(Self {
            console: console.clone(),
            stdout,
            ledger,
            current: None,
            target: None,
            lines_before: 0,
            dropped: 0,
            lossy: work.ledger.is_none(),
            status: Status::Clean,
        })
    }

    /// Writes a piece. Returns whether anything more is to be done.
    pub(super) fn put(&mut self, log: &Log, made: &mut Made) -> bool {
        let go_on = self.begin(log) && self.write_out(log, &made.out) && self.write_ledger(log, made);
        self.tell_damage(log, made);
        made.out.clear();
        // One huge line must not hold its memory for the rest of the run.
        if made.out.capacity() > 16 << 20 {
            made.out = Vec::new();
        }
        made.entries.clear();
        made.damage.clear();
        go_on
    }

    /// A part of a log, or all of it, is done. Returns whether anything more is to be done.
    pub(super) fn end(&mut self, log: &Log, end: End) -> bool {
        self.lines_before += end.lines;
        self.dropped += end.dropped;
        let whole = end.failure.is_none() && !end.stopped;
        if let Some(failure) = end.failure {
            self.fail(log, &failure);
        }
        if end.stopped {
            self.console.say(&format!("{}: stopped at the first fault, as --strict asks", log.name));
        }
        if !whole {
            // What is not whole does not get its name.
            log.dead.store(true, Ordering::Relaxed);
            self.target = None;
        }
        if end.last
            && let Some(target) = self.target.take()
        {
            let name = target.name().to_owned();
            if let Err(error) = target.commit() {
                self.fail(log, &Failure::Write { name, error });
            }
        }
        !end.stopped
    }

    /// All is done.
    pub(super) fn close(self) -> Status {
        if self.lossy && self.dropped > 0 {
            let lines = if self.dropped == 1 {
                "1 line".to_owned()
            } else {
                format!("{} lines", self.dropped)
            };
            self.console.say(&format!(
                "{lines} gave no output, having no place in the target or being said by other lines; --ledger FILE tells what did not go over"
            ));
        }
        self.status
    }

    fn begin(&mut self, log: &Log) -> bool {
        if self.current == Some(log.index) {
            return true;
        }
        self.current = Some(log.index);
        self.lines_before = 0;
        self.target = None;
        if let Some(note) = &log.note {
            self.console.say(note);
        }
        true
    }

    fn write_out(&mut self, log: &Log, out: &[u8]) -> bool {
        if log.dead.load(Ordering::Relaxed) {
            return true;
        }
        let written = match (&mut self.stdout, &log.output) {
            (Some(stdout), _) => stdout.write_all(out).map_err(|error| (stdout.name().to_owned(), error)),
            (None, Some(path)) => open(&mut self.target, path)
                .and_then(|target| target.write_all(out))
                .map_err(|error| (path.display().to_string(), error)),
            (None, None) => Ok(()),
        };
        let Err((name, error)) = written else { return true };
        let failure = Failure::Write { name, error };
        self.fail(log, &failure);
        log.dead.store(true, Ordering::Relaxed);
        self.target = None;
        // Without standard output there is no point in going on at all.
        self.stdout.is_none()
    }

    fn write_ledger(&mut self, log: &Log, made: &mut Made) -> bool {
        let Some((file, path)) = &mut self.ledger else { return true };
        let mut text = String::new();
        let dialect = log.options.to.to_string();
        for entry in &mut made.entries {
            entry.line += self.lines_before;
            entry.last_line += self.lines_before;
            entry.write(&log.name, &dialect, &mut text);
        }
        let Err(error) = file.write_all(text.as_bytes()) else { return true };
        let failure = Failure::Write {
            name: path.display().to_string(),
            error,
        };
        self.fail(log, &failure);
        false
    }

    fn tell_damage(&mut self, log: &Log, made: &Made) {
        if made.damage.is_empty() {
            return;
        }
        self.status.worsen(Status::Damaged);
        let mut text = String::new();
        for damage in &made.damage {
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "{}:{}:{}: {}",
                log.name,
                damage.line + self.lines_before,
                damage.byte,
                damage.reason
            );
        }
        self.console.lines(&text);
    }

    fn fail(&mut self, log: &Log, failure: &Failure) {
        if failure.is_closed_reader() {
            tracing::debug!(log = log.name, "nobody reads the output any more");
            return;
        }
        self.status.worsen(failure.status());
        self.console.say(&failure.to_string());
    }
}

/// The file that the current log goes to, made when the first of it is to be written.
fn open<'t>(target: &'t mut Option<Target>, path: &std::path::Path) -> io::Result<&'t mut Target> {
    match target {
        Some(target) => Ok(target),
        None => Ok(target.insert(Target::file(path)?)),
    }
}
