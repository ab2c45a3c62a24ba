//! Logs of any dialect in, record batches out.

use std::io::{ErrorKind, Read};

use agentglot_adapters::convert::{Converter, Options};
use agentglot_adapters::detect::{Answer, Detector};
use agentglot_adapters::{Dialect, Source};
use arrow_array::RecordBatch;

use crate::build::{Builder, Place};
use crate::table::Table;

/// So much is read at a time.
const PIECE: usize = 64 << 10;

/// Reads logs, one after the other, and gives batches of the tables that the builder makes.
///
/// What cannot be read is no error: a damaged line, a log whose dialect is not clear or that cannot be read on becomes a row of each table,
/// which says so in the column `damage`; what else there is, is read.
#[derive(Debug)]
pub struct Logs<I, R> {
    logs: I,
    from: Source,
    builder: Builder,
    reading: Option<Reading<R>>,
    over: bool,
}

impl<I: Iterator<Item = (String, R)>, R: Read> Logs<I, R> {
    /// Reads these logs; each comes with the name that the column `file` has.
    pub fn new<L: IntoIterator<Item = (String, R), IntoIter = I>>(logs: L, builder: Builder) -> Self {
        Self {
            logs: logs.into_iter(),
            from: Source::Auto,
            builder,
            reading: None,
            over: false,
        }
    }

    /// The same for logs that are written in this.
    #[must_use]
    pub fn from(mut self, from: impl Into<Source>) -> Self {
        self.from = from.into();
        self
    }

    /// Reads on. False when there is nothing more.
    fn step(&mut self) -> bool {
        let Some(reading) = &mut self.reading else {
            let Some((name, log)) = self.logs.next() else { return false };
            self.builder.begin(&name);
            self.reading = Some(Reading::new(log, self.from));
            return true;
        };
        if !reading.step(&mut self.builder) {
            self.builder.end();
            self.reading = None;
        }
        true
    }
}

impl<I: Iterator<Item = (String, R)>, R: Read> Iterator for Logs<I, R> {
    type Item = (Table, RecordBatch);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(made) = self.builder.next_batch() {
                return Some(made);
            }
            if self.over {
                return None;
            }
            if !self.step() {
                self.over = true;
                self.builder.finish();
            }
        }
    }
}

/// A log that is being read.
#[derive(Debug)]
struct Reading<R> {
    log: R,
    from: Source,
    converter: Option<Converter>,
    /// What was read to find out the dialect.
    head: Vec<u8>,
    made: Vec<u8>,
}

impl<R: Read> Reading<R> {
    const fn new(log: R, from: Source) -> Self {
        Self {
            log,
            from,
            converter: None,
            head: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Reads a piece. False when there is nothing more.
    fn step(&mut self, builder: &mut Builder) -> bool {
        let mut piece = vec![0; PIECE];
        let read = match self.log.read(&mut piece) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => return true,
            Err(error) => {
                let line = self.converter.as_ref().map_or(0, Converter::line);
                builder.damage(Place { file: None, line }, &format!("reading failed: {error}"));
                return false;
            }
        };
        piece.truncate(read);
        if self.converter.is_none() {
            self.head.append(&mut piece);
            match self.options(read == 0) {
                Ok(Some(options)) => self.converter = Some(Converter::new(options)),
                Ok(None) => return read > 0,
                Err(why) => {
                    builder.damage(Place { file: None, line: 0 }, &why);
                    return false;
                }
            }
            piece = std::mem::take(&mut self.head);
        }
        let Some(converter) = &mut self.converter else { return false };
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            converter.feed(line, &mut self.made);
            give(converter, &mut self.made, builder);
        }
        if read == 0 {
            converter.finish(&mut self.made);
            give(converter, &mut self.made, builder);
        }
        read > 0
    }

    /// How the log is converted, as soon as its dialect is clear; nothing while more has to be read, or if there is nothing in it.
    fn options(&self, over: bool) -> Result<Option<Options>, String> {
        let mut follow = false;
        let format = match self.from {
            Source::Is(format) if !format.is_readable() => return Err(format!("logs of {format} are for people and cannot be read")),
            Source::Is(format) => format,
            Source::Auto => match Detector::new(false).look(&self.head, over) {
                Answer::Found(found) => {
                    follow = found.format.is_streaming();
                    found.format
                }
                Answer::Unclear(unclear) => return Err(unclear.to_string()),
                Answer::Empty | Answer::More => return Ok(None),
            },
        };
        let mut options = Options::new(format, Dialect::CANONICAL.into());
        options.follow = follow;
        options.keep_spelling = true;
        Ok(Some(options))
    }
}

/// Hands on what the line gave that was fed last.
fn give(converter: &mut Converter, made: &mut Vec<u8>, builder: &mut Builder) {
    if !made.is_empty() {
        let line = converter.line();
        builder.feed(made, Place { file: None, line });
        made.clear();
    }
    for damage in converter.take_damage() {
        let line = damage.line;
        builder.damage(Place { file: None, line }, &format!("{}: {}", damage.byte, damage.reason));
    }
}
