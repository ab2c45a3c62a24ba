//! Tables that are written in place of logs, each of all logs together.
//!
//! Their rows are made on a thread of their own: it is much of the work, and has an order.

use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use agentglot_adapters::convert::Damage;
use agentglot_columns::{Builder, Container, Place, RecordBatch, Writer};

use super::order::{InFile, Made, Mark};
use super::{Table, Tables};
use crate::io::{Columnar, Target};
use crate::status::Failure;

/// Takes the batches of tables in place of files. False: no more of them are wanted.
pub type Give = Box<dyn FnMut(agentglot_columns::Table, RecordBatch) -> bool + Send>;

/// The tables, as those see them who bring what stands in them.
#[derive(Debug)]
pub(super) struct TableFiles {
    tasks: Option<SyncSender<Task>>,
    thread: Option<JoinHandle<Result<(), Failure>>>,
}

/// What comes next.
enum Task {
    /// The next log, and its name.
    Log(String),
    /// What it says, as canonical events, and what of it could not be read.
    Made {
        out: Vec<u8>,
        marks: Vec<InFile<Mark>>,
        damage: Vec<InFile<Damage>>,
        lines_before: u64,
    },
    /// It could not be read, or not to its end.
    Lacks(String),
    /// Nothing is to be written after all.
    GiveUp,
}

/// So many tasks wait at most; what they hold is about as long as one read of a log.
const WAITING: usize = 4;

impl TableFiles {
    /// Begins their files; what goes to none of them goes to `stdout`.
    pub(super) fn open(tables: &Tables, mut stdout: Option<Target>) -> Result<Self, Failure> {
        let container = match tables.columnar {
            Columnar::Parquet => Container::Parquet,
            Columnar::Arrow => Container::Arrow,
        };
        let mut files = Vec::new();
        for (table, output) in &tables.files {
            let name = output
                .as_ref()
                .map_or_else(|| "standard output".to_owned(), |output| output.path().display().to_string());
            let table = known(*table);
            let target = match output {
                Some(output) => Target::file(output),
                None => Ok(stdout.take().unwrap_or_else(Target::stdout)),
            };
            let file = target.and_then(|target| Writer::new(target, container, table));
            let file = file.map_err(|error| Failure::Write { name: name.clone(), error })?;
            files.push(File { table, name, file });
        }
        let wanted: Vec<_> = files.iter().map(|file| file.table).collect();
        let with_json = tables.with_json;
        Ok(Self::begun(move |tasks| write(Builder::new(&wanted).with_json(with_json), files, tasks)))
    }

    /// Makes batches for somebody who takes them.
    pub(super) fn given(tables: &Tables, give: Give) -> Self {
        let wanted: Vec<_> = tables.files.iter().map(|(table, _)| known(*table)).collect();
        let with_json = tables.with_json;
        Self::begun(move |tasks| hand_over(Builder::new(&wanted).with_json(with_json), give, tasks))
    }

    fn begun(work: impl FnOnce(&Receiver<Task>) -> Result<(), Failure> + Send + 'static) -> Self {
        let (tasks, to_do) = sync_channel(WAITING);
        Self {
            tasks: Some(tasks),
            thread: Some(std::thread::spawn(move || work(&to_do))),
        }
    }

    /// The next log begins.
    pub(super) fn begin(&mut self, log: &str) {
        self.send(Task::Log(log.to_owned()));
    }

    /// Takes what a log says; its damage is still to be told by the caller.
    pub(super) fn put(&mut self, made: &mut Made, lines_before: u64) -> Result<(), Failure> {
        if made.out.is_empty() && made.damage.is_empty() {
            return Ok(());
        }
        let damage = made.damage.iter().map(|damage| InFile {
            file: damage.file.clone(),
            what: damage.what.clone(),
        });
        let task = Task::Made {
            damage: damage.collect(),
            out: std::mem::take(&mut made.out),
            marks: std::mem::take(&mut made.marks),
            lines_before,
        };
        match self.send(task) {
            true => Ok(()),
            false => self.end(),
        }
    }

    /// A log could not be read, or not to its end.
    pub(super) fn lacks(&mut self, why: &Failure) {
        self.send(Task::Lacks(why.to_string()));
    }

    /// Nothing is to be written after all: what is not whole does not get its name.
    pub(super) fn give_up(mut self) {
        self.send(Task::GiveUp);
        let _ = self.end();
    }

    /// All is read: ends the files.
    pub(super) fn close(mut self) -> Result<(), Failure> {
        self.end()
    }

    /// Returns whether anybody still takes tasks: why not, [`Self::end`] tells.
    fn send(&self, task: Task) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.tasks = None;
        let ended = self.thread.take().map(JoinHandle::join);
        // A panic of the thread was told by it, and is one of ours.
        ended.map_or(Ok(()), |ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// A table, and where it goes.
struct File {
    table: agentglot_columns::Table,
    name: String,
    file: Writer<Target>,
}

impl File {
    fn failed(name: &str) -> impl FnOnce(std::io::Error) -> Failure {
        let name = name.to_owned();
        move |error| Failure::Write { name, error }
    }
}

/// Writes the rows of what comes, and ends the files.
fn write(builder: Builder, mut files: Vec<File>, tasks: &Receiver<Task>) -> Result<(), Failure> {
    let is_whole = make(builder, tasks, |table, batch| {
        for File { name, file, .. } in files.iter_mut().filter(|file| file.table == table) {
            file.write(&batch).map_err(File::failed(name))?;
        }
        Ok(())
    })?;
    for File { name, file, .. } in files.into_iter().filter(|_| is_whole) {
        file.finish().and_then(Target::commit).map_err(File::failed(&name))?;
    }
    Ok(())
}

/// Gives away the rows of what comes, as long as somebody takes them.
fn hand_over(builder: Builder, mut give: Give, tasks: &Receiver<Task>) -> Result<(), Failure> {
    make(builder, tasks, |table, batch| match give(table, batch) {
        true => Ok(()),
        false => Err(File::failed("tables")(ErrorKind::BrokenPipe.into())),
    })
    .map(drop)
}

/// Makes rows of what comes, until nothing comes any more. False if nothing is to be written after all.
fn make(
    mut builder: Builder,
    tasks: &Receiver<Task>,
    mut put: impl FnMut(agentglot_columns::Table, RecordBatch) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    for task in tasks {
        match task {
            Task::Log(name) => builder.begin(&name),
            Task::Made {
                out,
                marks,
                damage,
                lines_before,
            } => rows(&mut builder, &out, &marks, &damage, lines_before),
            Task::GiveUp => return Ok(false),
            Task::Lacks(why) => builder.damage(Place { file: None, line: 0 }, &why),
        }
        while let Some((table, batch)) = builder.next_batch() {
            put(table, batch)?;
        }
    }
    builder.finish();
    while let Some((table, batch)) = builder.next_batch() {
        put(table, batch)?;
    }
    Ok(true)
}

/// Makes rows; of damage each stands behind what its line says all the same.
fn rows(builder: &mut Builder, out: &[u8], marks: &[InFile<Mark>], damage: &[InFile<Damage>], lines_before: u64) {
    let line_of = |file: Option<&str>, line: u64| if file.is_some() { line } else { line + lines_before };
    let tell = |builder: &mut Builder, InFile { file, what }: &InFile<Damage>| {
        let file = file.as_deref();
        let line = line_of(file, what.line);
        builder.damage(Place { file, line }, &format!("{}: {}", what.byte, what.reason));
    };
    let mut damage = damage.iter().peekable();
    let mut from = 0;
    for mark in marks {
        let file = mark.file.as_deref();
        let line = line_of(file, mark.what.line);
        builder.feed(&out[from..mark.what.end], Place { file, line });
        from = mark.what.end;
        while let Some(found) = damage.next_if(|found| found.file.as_deref() == file && found.what.line <= mark.what.line) {
            tell(builder, found);
        }
    }
    for found in damage {
        tell(builder, found);
    }
}

const fn known(table: Table) -> agentglot_columns::Table {
    match table {
        Table::Events => agentglot_columns::Table::Events,
        Table::Messages => agentglot_columns::Table::Messages,
        Table::ToolCalls => agentglot_columns::Table::ToolCalls,
        Table::Turns => agentglot_columns::Table::Turns,
    }
}
