use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::order::{End, InFile, Made};
use super::plan::Log;
use super::report::{Entry, Report, told};
use super::table_files::TableFiles;
use super::{Done, Work};
use crate::io::{Console, Output, Target, clean, no_link, no_link_below, one_line};
use crate::status::{Failure, Status};
use crate::system::no_folder;

/// Writes what comes to it, in the order in which it comes: output, ledger, messages.
#[derive(Debug)]
pub(super) struct LogWriter {
    console: Console,
    stdout: Option<Target>,
    ledger: Option<(File, PathBuf)>,
    /// The log that is being written, and the file that its output goes to.
    current: Option<usize>,
    target: Option<Target>,
    /// The tables that are written in place of logs.
    table_files: Option<TableFiles>,
    /// How many lines of the log lie before the part that is being written.
    lines_before: u64,
    report: Report,
    report_path: Option<PathBuf>,
    keeps_ledger: bool,
    quiet: bool,
    status: Status,
}

impl LogWriter {
    /// Everything that all logs share is opened now: it makes no sense to begin without it.
    pub(super) fn open(work: &Work, stdout: Target, console: &Console) -> Result<Self, Failure> {
        let mut writer = Self::bare(work, console)?;
        // Last: what is begun here gets its name in the end.
        match &work.tables {
            Some(tables) => writer.table_files = Some(TableFiles::open(tables, Some(stdout))?),
            None if work.outputs.is_none() => writer.stdout = Some(stdout),
            None => {}
        }
        Ok(writer)
    }

    /// The same for tables that go to no file.
    #[cfg(feature = "columnar")]
    pub(super) fn open_for(work: &Work, table_files: TableFiles, console: &Console) -> Result<Self, Failure> {
        let mut writer = Self::bare(work, console)?;
        writer.table_files = Some(table_files);
        Ok(writer)
    }

    fn bare(work: &Work, console: &Console) -> Result<Self, Failure> {
        for folder in &work.folders {
            let made = no_link_below(&work.folders[0], folder).and_then(|()| fs::create_dir_all(folder).map_err(no_folder));
            made.map_err(|error| Failure::Write {
                name: folder.display().to_string(),
                error,
            })?;
        }
        let ledger = match &work.ledger {
            Some(path) => {
                let file = no_link(path).and_then(|()| File::create(path)).map_err(|error| Failure::Write {
                    name: path.display().to_string(),
                    error,
                })?;
                Some((file, path.clone()))
            }
            None => None,
        };
        Ok(Self {
            console: console.clone(),
            stdout: None,
            ledger,
            current: None,
            target: None,
            table_files: None,
            lines_before: 0,
            report: Report::new(match &work.tables {
                Some(tables) => tables.columnar.name().to_owned(),
                None => work.options.to.to_string(),
            }),
            report_path: work.report.clone(),
            keeps_ledger: work.ledger.is_some(),
            quiet: work.quiet,
            status: work.status,
        })
    }

    /// Writes a piece. Returns whether anything more is to be done.
    pub(super) fn put(&mut self, log: &Log, made: &mut Made) -> bool {
        self.begin(log);
        let go_on = self.write_out(log, made) && self.write_ledger(log, made);
        if let Some(hint) = made.hint.take().filter(|_| !self.quiet) {
            self.console.say(&hint);
        }
        self.tell_followed(log, made);
        self.tell_damage(log, made);
        made.out.clear();
        // One huge line must not hold its memory for the rest of the run.
        if made.out.capacity() > 16 << 20 {
            made.out = Vec::new();
        }
        made.entries.clear();
        made.damage.clear();
        made.marks.clear();
        go_on
    }

    /// A part of a log, or all of it, is done. Returns whether anything more is to be done.
    pub(super) fn end(&mut self, log: &Log, end: End) -> bool {
        self.begin(log);
        self.lines_before += end.lines;
        let entry = self.report.current();
        entry.lines += end.lines;
        entry.lost += end.silent.lost;
        entry.merged += end.silent.merged;
        let whole = end.failure.is_none() && !end.stopped;
        if let Some(failure) = end.failure {
            if let Some(table_files) = &mut self.table_files {
                table_files.lacks(&failure);
            }
            self.fail(log, &failure);
        }
        if end.stopped {
            if let Some(table_files) = self.table_files.take() {
                table_files.give_up();
            }
            let text = format!("{}: stopped at the first fault, as --strict asks", log.name);
            self.console.say(&text);
            self.report.current().error = Some(text);
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
    pub(super) fn close(mut self) -> Done {
        if let Some(table_files) = self.table_files.take()
            && let Err(failure) = table_files.close()
            && !failure.is_closed_reader()
        {
            self.status.worsen(failure.status());
            self.console.say(&failure.to_string());
        }
        if !self.quiet {
            let left_out = told(self.report.silent()).filter(|_| !self.keeps_ledger);
            for text in self.report.summary().into_iter().chain(left_out) {
                self.console.say(&text);
            }
        }
        let report = self.report.json();
        if let Some(path) = &self.report_path
            && let Err(error) = no_link(path).and_then(|()| fs::write(path, &report))
        {
            let name = path.display().to_string();
            let failure = Failure::Write { name, error };
            self.status.worsen(failure.status());
            self.console.say(&failure.to_string());
        }
        let status = self.status;
        Done { status, report }
    }

    fn begin(&mut self, log: &Log) {
        if self.current == Some(log.index) {
            return;
        }
        self.current = Some(log.index);
        self.lines_before = 0;
        self.target = None;
        self.report.begin(Entry::new(log));
        if let Some(table_files) = &mut self.table_files {
            table_files.begin(&log.name);
        }
        if let Some(note) = log.note.as_ref().filter(|_| !self.quiet) {
            self.console.say(note);
        }
    }

    fn write_out(&mut self, log: &Log, made: &mut Made) -> bool {
        let out = &made.out;
        if let Some(table_files) = &mut self.table_files {
            let Err(failure) = table_files.put(made, self.lines_before) else {
                return true;
            };
            self.fail(log, &failure);
            self.table_files = None;
            return false;
        }
        if log.dead.load(Ordering::Relaxed) {
            return true;
        }
        let written = match (&mut self.stdout, &log.output) {
            (Some(stdout), _) => stdout.write_all(out).map_err(|error| (stdout.name().to_owned(), error)),
            (None, Some(output)) => open(&mut self.target, output)
                .and_then(|target| target.write_all(out))
                .map_err(|error| (output.path().display().to_string(), error)),
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
        for InFile { file, what: entry } in &mut made.entries {
            entry.line += self.lines_before;
            entry.last_line += self.lines_before;
            entry.write(file.as_deref().unwrap_or(&log.name), &dialect, &mut text);
        }
        let Err(error) = file.write_all(text.as_bytes()) else { return true };
        let failure = Failure::Write {
            name: path.display().to_string(),
            error,
        };
        self.fail(log, &failure);
        false
    }

    /// A log that was told by its first lines goes on in another dialect.
    fn tell_followed(&self, log: &Log, made: &mut Made) {
        for followed in made.followed.drain(..).filter(|_| !self.quiet) {
            let line = followed.line + self.lines_before;
            self.console.say(&format!("{}:{line}: {} ({})", log.name, followed.format, followed.why));
        }
    }

    fn tell_damage(&mut self, log: &Log, made: &Made) {
        if made.damage.is_empty() {
            return;
        }
        self.status.worsen(Status::Damaged);
        let mut text = String::new();
        for InFile { file, what: damage } in &made.damage {
            self.report.current().note_damage(damage, self.lines_before, file.as_deref());
            let pointer = damage.pointer.as_ref().map_or_else(String::new, |pointer| format!(" ({pointer})"));
            let line = damage.line + self.lines_before;
            let file = file.as_deref().unwrap_or(&log.name);
            text.push_str(&one_line(&format!("{file}:{line}:{}: {}{pointer}", damage.byte, damage.reason)));
            text.push('\n');
        }
        self.console.write(&clean(&text));
    }

    fn fail(&mut self, log: &Log, failure: &Failure) {
        if failure.is_closed_reader() {
            tracing::debug!(log = log.name, "nobody reads the output any more");
            return;
        }
        self.status.worsen(failure.status());
        let text = failure.to_string();
        self.console.say(&text);
        self.report.current().error.get_or_insert(text);
    }
}

/// The file that the current log goes to, made when the first of it is to be written.
fn open<'t>(target: &'t mut Option<Target>, output: &Output) -> io::Result<&'t mut Target> {
    match target {
        Some(target) => Ok(target),
        None => Ok(target.insert(Target::file(output)?)),
    }
}
