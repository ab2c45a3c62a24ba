//! Converting many logs, or the parts of a big one, at the same time, and writing in the order in which they were given.
//!
//! A `Plan` hands out tasks one after the other: a log, or a part of one that begins where a session begins. Workers
//! take a task each and convert it. What they make goes through an `Order`: the first task that is not done writes
//! as it goes, the others wait with what they have. So any number of workers writes the same bytes as one.

mod order;
mod plan;
mod report;
#[cfg(feature = "columnar")]
mod table_files;
#[cfg(not(feature = "columnar"))]
#[path = "no_table_files.rs"]
mod table_files;
mod worker;
mod writer;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::Format;

use crate::io::{Columnar, Console, Input, Output, Target};
use crate::status::{Failure, Status};
use order::Order;
use plan::Plan;
pub(crate) use plan::find_out;
#[cfg(feature = "columnar")]
pub use table_files::Give;
use writer::LogWriter;

/// What is to be converted, and how.
#[derive(Debug)]
pub struct Work {
    /// The logs, in order.
    pub inputs: Vec<Input>,
    /// What they are written in; without it each is looked at.
    pub from: Option<Format>,
    /// How they are converted. `from` and `ledger` are filled in for each log.
    pub options: Options,
    /// More prompts than turns are an error, not a log that ended early.
    pub needs_all_prompts: bool,
    /// Where the output goes: a path for each log, or standard output.
    pub outputs: Option<Vec<Output>>,
    /// The tables that are written in place of logs, each of all logs together.
    pub tables: Option<Tables>,
    /// What is read is a table of events, in a file of this kind.
    pub tables_from: Option<Columnar>,
    /// The folders of those, which are made where they lack: the one that the user named, and those in it.
    pub folders: Vec<PathBuf>,
    /// Where the ledger goes, if one is kept.
    pub ledger: Option<PathBuf>,
    /// Where what came of each log goes, as JSON.
    pub report: Option<PathBuf>,
    /// The files of subagents are read with that of their session.
    pub subagents: bool,
    /// Only errors are said.
    pub quiet: bool,
    /// What could not even be looked for is told already: how the run ends at best.
    pub status: Status,
    /// How many may be at work at the same time.
    pub jobs: usize,
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Table {
    /// Each event; these alone can be converted back
    Events,
    /// Each prompt and each reply
    Messages,
    /// Each tool call, with what came of it
    ToolCalls,
    /// Each turn: a prompt up to its outcome
    Turns,
}

/// Tables that are written.
#[derive(Clone, Debug)]
pub struct Tables {
    /// What they are kept in.
    pub columnar: Columnar,
    /// Each with its file; standard output without one.
    pub files: Vec<(Table, Option<Output>)>,
    /// The folder of the files, if they have one.
    pub folder: Option<PathBuf>,
    /// Messages, calls and turns are written as JSON too.
    pub with_json: bool,
}

impl Tables {
    /// Where they go, for people.
    pub fn place(&self) -> String {
        let file = self.files.first().and_then(|(_, file)| file.as_ref());
        match (&self.folder, file) {
            (Some(folder), _) => folder.display().to_string(),
            (None, Some(file)) => file.path().display().to_string(),
            (None, None) => "standard output".to_owned(),
        }
    }
}

/// What came of it all.
#[derive(Debug)]
pub struct Done {
    /// How the run ended.
    pub status: Status,
    /// What came of each log, as [`Work::report`] has it.
    pub report: String,
}

/// Does the work. Everything there is to say is said to `console`.
pub fn run(work: Work, console: &Console) -> Status {
    if let Some(tables) = work.tables.as_ref().filter(|tables| tables.files.iter().any(|(_, file)| file.is_none()))
        && std::io::stdout().is_terminal()
    {
        let failure = Failure::Usage(format!("{} is not for a terminal; name a file with -o", tables.columnar.name()));
        console.say(&failure.to_string());
        return failure.status();
    }
    match run_to(work, Target::stdout(), console) {
        Ok(done) => done.status,
        Err(failure) => {
            console.say(&failure.to_string());
            failure.status()
        }
    }
}

/// The same with something else in place of standard output.
///
/// # Errors
/// When it could not be begun at all.
pub fn run_to(work: Work, stdout: Target, console: &Console) -> Result<Done, Failure> {
    let writer = LogWriter::open(&work, stdout, console)?;
    Ok(run_at(writer, work, console))
}

/// Makes the tables that are wanted ([`Work::tables`]) for somebody who takes their batches as they are made; no file is written.
///
/// # Errors
/// When it could not be begun at all.
#[cfg(feature = "columnar")]
pub fn run_giving(work: Work, give: Give, console: &Console) -> Result<Done, Failure> {
    let Some(tables) = &work.tables else {
        return Err(Failure::Usage("no tables are named".to_owned()));
    };
    let writer = LogWriter::open_for(&work, table_files::TableFiles::given(tables, give), console)?;
    Ok(run_at(writer, work, console))
}

fn run_at(writer: LogWriter, work: Work, console: &Console) -> Done {
    let jobs = match work.inputs.as_slice() {
        // One log that is not cut needs one worker.
        [only] if only.size() < plan::WORTH_CUTTING => 1,
        _ => work.jobs,
    };
    let work = Work { jobs, ..work };
    let plan = Mutex::new(Plan::new(work, console.clone()));
    let order = Arc::new(Order::new(writer, jobs));
    if jobs == 1 {
        worker(&plan, &order, console);
    } else {
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| worker(&plan, &order, console));
            }
        });
    }
    let done = order.into_writer().close();
    console.done();
    done
}

fn worker(plan: &Mutex<Plan>, order: &Arc<Order>, console: &Console) {
    let mut buffer = vec![0; crate::io::READ];
    loop {
        // A lock is poisoned only by a panic, which ends the whole run.
        let Some(task) = plan.lock().unwrap_or_else(|e| e.into_inner()).next() else {
            return;
        };
        let Some(ticket) = order.admit(task.index, &task.log) else { return };
        worker::convert(task, ticket, &mut buffer, console);
    }
}
