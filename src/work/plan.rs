use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agentglot_adapters::convert::Options;
use agentglot_adapters::detect::Found;
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::cuts::Cuts;
use agentglot_adapters::raw::frame::{Line, Lines, Values};
use agentglot_adapters::raw::store::begins_as_subagent;

use super::Work;
use crate::io::{Columnar, Console, Input, Output, READ, Range, Shared, Source, Subagent, beside, other_side};
use crate::status::Failure;

/// One log that is converted.
#[derive(Debug)]
pub(super) struct Log {
    /// Which of the inputs.
    pub(super) index: usize,
    /// What it is called in messages.
    pub(super) name: String,
    /// How it is converted.
    pub(super) options: Options,
    /// Its dialect is known.
    pub(super) is_told: bool,
    /// Its dialect was named: whether it looks like it has not been asked.
    pub(super) is_named: bool,
    /// Each of the prompts must be of a turn.
    pub(super) needs_all_prompts: bool,
    /// What is to be said before anything else: how its dialect was told.
    pub(super) note: Option<String>,
    /// Where its output goes; standard output without it.
    pub(super) output: Option<Output>,
    /// The files of its subagents.
    pub(super) subagents: Vec<Subagent>,
    /// Where in the log each piece of its output comes from is noted.
    pub(super) has_marks: bool,
    /// Its output cannot be written: there is no point in going on with it.
    pub(super) dead: AtomicBool,
}

/// A piece of the work.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) index: usize,
    pub(super) log: Arc<Log>,
    pub(super) piece: Piece,
    /// With it the log is done.
    pub(super) last: bool,
}

/// What is to be read.
#[derive(Debug)]
pub(super) enum Piece {
    /// A whole log.
    Whole(Box<Source>),
    /// A part of one.
    Part(Range),
    /// It could not be opened, or its dialect could not be told.
    Nothing(Failure),
}

/// Hands out the work.
#[derive(Debug)]
pub(super) struct Plan {
    inputs: std::vec::IntoIter<Input>,
    from: Option<Format>,
    options: Options,
    outputs: Option<std::vec::IntoIter<Output>>,
    keeps_ledger: bool,
    has_marks: bool,
    tables_from: Option<Columnar>,
    needs_all_prompts: bool,
    subagents: bool,
    jobs: usize,
    console: Console,
    logs: usize,
    tasks: usize,
    splitting: Option<Split>,
}

/// A big log of which parts are still to be handed out.
#[derive(Debug)]
struct Split {
    log: Arc<Log>,
    file: Arc<Shared>,
    at: u64,
}

/// A part is about this long at most: little enough that what waits for its turn fits into memory, enough that looking for the
/// next place to cut, and learning how the lines are spelled, costs little beside it.
const LONGEST_PART: u64 = 8 << 20;
/// A part is about this long at least. Towards the end of a log they become shorter, so that all jobs end together.
const SHORTEST_PART: u64 = 2 << 20;
/// A shorter log is one part.
pub(super) const WORTH_CUTTING: u64 = 2 * SHORTEST_PART;
/// A log with no place to cut within this many bytes is not searched on.
const PATIENCE: u64 = 64 << 20;
/// Lines longer than this are not looked into for a place to cut.
const LONG: usize = 1 << 20;

impl Plan {
    pub(super) fn new(work: Work, console: Console) -> Self {
        Self {
            inputs: work.inputs.into_iter(),
            from: work.from,
            options: work.options,
            outputs: work.outputs.map(Vec::into_iter),
            keeps_ledger: work.ledger.is_some(),
            has_marks: work.tables.is_some(),
            tables_from: work.tables_from,
            needs_all_prompts: work.needs_all_prompts,
            subagents: work.subagents,
            jobs: work.jobs,
            console,
            logs: 0,
            tasks: 0,
            splitting: None,
        }
    }

    /// The next task; `None` when all have been handed out.
    pub(super) fn next(&mut self) -> Option<Task> {
        let (log, piece, last) = match self.splitting.take() {
            Some(split) => self.part(split),
            None => {
                let input = self.inputs.next()?;
                let output = self.outputs.as_mut().and_then(Iterator::next);
                self.begin(&input, output)
            }
        };
        let index = self.tasks;
        self.tasks += 1;
        Some(Task { index, log, piece, last })
    }

    fn begin(&mut self, input: &Input, output: Option<Output>) -> (Arc<Log>, Piece, bool) {
        let mut options = self.options.clone();
        let name = input.name();
        options.ledger = self.keeps_ledger.then(|| name.clone());
        let mut log = Log {
            index: self.logs,
            name,
            options,
            is_told: self.from.is_some(),
            is_named: self.from.is_some(),
            needs_all_prompts: self.needs_all_prompts,
            note: None,
            output,
            subagents: Vec::new(),
            has_marks: self.has_marks,
            dead: AtomicBool::new(false),
        };
        self.logs += 1;
        let mut source = match Source::open(input, &self.console) {
            Ok(source) => source,
            Err(failure) => return (Arc::new(log), Piece::Nothing(failure), true),
        };
        if let Some(wanted) = self.tables_from.filter(|wanted| source.columnar() != Some(*wanted)) {
            let why = Failure::Usage(format!("{}: this is no {} file", log.name, wanted.name()));
            return (Arc::new(log), Piece::Nothing(why), true);
        }
        match self.from {
            Some(from) => log.options.from = from,
            None => match find_out(input, &mut source) {
                Ok(Some(found)) => {
                    log.options.from = found.format;
                    log.is_told = true;
                    log.options.follow = found.format.stands_with_others();
                    log.note = Some(format!("{}: {} ({})", log.name, found.format, found.why));
                }
                Ok(None) => log.note = Some(format!("{}: empty, there is nothing to convert", log.name)),
                Err(failure) => return (Arc::new(log), Piece::Nothing(failure), true),
            },
        }
        if log.options.from.is_store() && log.is_told {
            self.family(&mut log, input, source.head());
        }
        let log = Arc::new(log);
        let options = &log.options;
        tracing::info!(log = log.name, from = %options.from, to = %options.to, "reading");
        let has_headers = options.from.dialect.vendor().logs.stores_others;
        let separable = self.jobs > 1
            && options.from.is_streaming()
            && !has_headers
            && !options.from.mode.serves_many
            && Values::begin(source.head()) != Some(true)
            && options.prompts.is_empty()
            && !options.strict
            && !options.to.mode.layout.is_one_value();
        match source.file() {
            Some(file) if separable && file.len() >= WORTH_CUTTING => {
                let split = Split {
                    log,
                    file: Arc::clone(file),
                    at: 0,
                };
                self.part(split)
            }
            _ => (log, Piece::Whole(Box::new(source)), true),
        }
    }

    /// Finds the files of subagents. Within one format each file stays what it is.
    fn family(&self, log: &mut Log, input: &Input, head: &[u8]) {
        let more = if begins_as_subagent(head) {
            Some("this is the file of a subagent, read without its session".to_owned())
        } else if self.subagents && log.options.from != log.options.to {
            log.subagents = beside(input, log.options.from);
            let names: Vec<&str> = log.subagents.iter().map(|subagent| &*subagent.name).collect();
            (!names.is_empty()).then(|| format!("with its subagents in {}", names.join(", ")))
        } else {
            None
        };
        if let Some(more) = more {
            log.note = Some(match &log.note {
                Some(note) => format!("{note}; {more}"),
                None => format!("{}: {more}", log.name),
            });
        }
    }

    fn part(&mut self, split: Split) -> (Arc<Log>, Piece, bool) {
        let Split { log, file, at } = split;
        let len = file.len();
        let to = if len - at < WORTH_CUTTING {
            None
        } else {
            let part = ((len - at) / (2 * self.jobs as u64)).clamp(SHORTEST_PART, LONGEST_PART);
            cut(&file, at + part, &log.options)
        };
        let part = Range::new(Arc::clone(&file), at, to);
        if let Some(at) = to {
            tracing::debug!(log = log.name, at, "cut");
            self.splitting = Some(Split {
                log: Arc::clone(&log),
                file,
                at,
            });
        }
        (log, Piece::Part(part), to.is_none())
    }
}

/// The dialect of a log; `None` if there is nothing in it.
pub(crate) fn find_out(input: &Input, source: &mut Source) -> Result<Option<Found>, Failure> {
    match source.detect() {
        Err(Failure::Unclear { name, unclear }) => match other_side(input, &unclear.candidates) {
            Some((format, why)) => Ok(Some(Found { format, why })),
            None => Err(Failure::Unclear { name, unclear }),
        },
        found => found,
    }
}

/// A place behind `from` where the log may be cut. An error of reading is left to those who read the part.
fn cut(file: &Shared, from: u64, options: &Options) -> Option<u64> {
    let len = file.len();
    let search = Search {
        file,
        dialect: options.from.dialect,
        max_line: options.max_line.min(LONG),
    };
    let last = len.min(from + PATIENCE);
    let Some(mut session) = search.session_at(from) else {
        return search.between(from, last).filter(|&at| at < len);
    };
    // In long steps first, then line by line where another session shows.
    let mut left = from;
    while left < last {
        let right = left + STEP;
        let other = search.session_at(right);
        if other.as_ref() != Some(&session)
            && let Some(found) = search.between(left, right + STEP).filter(|&at| at < len)
        {
            return Some(found);
        }
        session = other.unwrap_or(session);
        left = right;
    }
    None
}

/// How far the places lie apart that are looked at first.
const STEP: u64 = READ as u64;

/// Looks for sessions in a file.
struct Search<'f> {
    file: &'f Shared,
    dialect: Dialect,
    max_line: usize,
}

impl Search<'_> {
    /// The session of the first line behind `at` that names one, if that is not far away.
    fn session_at(&self, at: u64) -> Option<String> {
        let mut buffer = vec![0; READ / 8];
        let read = self.file.read_at(&mut buffer, at).ok()?;
        let cuts = Cuts::new(self.dialect, self.max_line);
        // The first piece is the end of a line, the last one the beginning of another.
        let lines = buffer[..read]
            .split_inclusive(|&byte| byte == b'\n')
            .skip(1)
            .filter(|line| line.ends_with(b"\n"));
        lines.take(8).find_map(|line| cuts.session_of(line))
    }

    /// The first place to cut between `from` and `to` (or a little behind it), line by line.
    fn between(&self, from: u64, to: u64) -> Option<u64> {
        let mut cuts = Cuts::new(self.dialect, self.max_line);
        let mut lines = Lines::new(LONG);
        let mut buffer = vec![0; READ];
        let (mut at, mut line_at) = (from, from);
        // The line in which `from` lies has begun before it.
        let mut whole = false;
        let mut found = None;
        while found.is_none() && at < to {
            let read = self.file.read_at(&mut buffer, at).ok().filter(|&read| read > 0)?;
            at += read as u64;
            lines.feed(&buffer[..read], |line| {
                let bytes = match line {
                    Line::Whole { bytes, .. } => {
                        if whole && cuts.line(bytes) {
                            found = Some(line_at);
                        }
                        bytes.len() as u64
                    }
                    Line::Oversize { bytes, .. } => {
                        cuts.forget();
                        bytes
                    }
                };
                line_at += bytes;
                whole = true;
                found.is_none()
            });
        }
        found
    }
}
