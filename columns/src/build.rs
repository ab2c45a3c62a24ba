//! Canonical events in, record batches out.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use agentglot_adapters::session::{Growing, Turn};
use agentglot_adapters::{Dialect, Event};
use arrow_array::RecordBatch;

use crate::cell::{Cell, arrays_of};
use crate::event::{self, number};
use crate::table::{CallRow, EventRow, MessageRow, Table, TurnRow};
use crate::turn::{self, Found};

/// A batch has this many rows at most, unless it is told otherwise.
const ROWS: usize = 8192;
/// Rows that take about this many bytes are a batch.
const BYTES: usize = 16 << 20;
/// A row beyond this does not fit into a batch, whose texts are addressed by 32 bits.
const HUGE: usize = 1 << 30;

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'f> {
    /// The file, where it is not the log itself: that of a subagent.
    pub file: Option<&'f str>,
    /// The line, counted from 1.
    pub line: u64,
}

/// Makes rows of logs in `agentglot:events`, and batches of rows. What is held is at most a batch of each table, and a turn.
#[derive(Debug)]
pub struct Builder {
    events: Option<Rows<EventRow>>,
    messages: Option<Rows<MessageRow>>,
    calls: Option<Rows<CallRow>>,
    turns: Option<Rows<TurnRow>>,
    json: bool,
    rows: usize,
    made: VecDeque<(Table, RecordBatch)>,
    log: Log,
    /// What was fed of a line that is not complete.
    open: Vec<u8>,
}

/// What is known of the log that is read.
#[derive(Debug, Default)]
struct Log {
    /// Its name, and those of the files that belong to it.
    files: Vec<Arc<str>>,
    agent: Option<String>,
    seq: i64,
    growing: Option<Growing>,
    /// How many turns sessions have had, and what they have cost.
    sessions: HashMap<Option<String>, (i64, f64)>,
}

impl Builder {
    /// Makes these tables.
    pub fn new(tables: &[Table]) -> Self {
        Self {
            events: tables.contains(&Table::Events).then(Rows::default),
            messages: tables.contains(&Table::Messages).then(Rows::default),
            calls: tables.contains(&Table::ToolCalls).then(Rows::default),
            turns: tables.contains(&Table::Turns).then(Rows::default),
            json: false,
            rows: ROWS,
            made: VecDeque::new(),
            log: Log::default(),
            open: Vec::new(),
        }
    }

    /// Fills the column `json` of messages, calls and turns too; events always have theirs.
    #[must_use]
    pub const fn with_json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Batches have this many rows at most.
    #[must_use]
    pub const fn with_rows(mut self, rows: usize) -> Self {
        self.rows = if rows == 0 { 1 } else { rows };
        self
    }

    /// The next log begins, and is called so.
    pub fn begin(&mut self, file: &str) {
        self.end();
        self.log.files.push(file.into());
        if self.messages.is_some() || self.calls.is_some() || self.turns.is_some() {
            self.log.growing = Some(Growing::new(Dialect::CANONICAL.into()));
        }
    }

    /// Takes what the log says, in `agentglot:events`, and where it says it.
    pub fn feed(&mut self, events: &[u8], place: Place<'_>) {
        let mut rest = events;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = rest.split_at(end + 1);
            if self.open.is_empty() {
                self.line(line, place);
            } else {
                let mut whole = std::mem::take(&mut self.open);
                whole.extend_from_slice(line);
                self.line(&whole, place);
            }
            rest = behind;
        }
        self.open.extend_from_slice(rest);
    }

    /// Something could not be read. Each table gets a row that says so.
    pub fn damage(&mut self, place: Place<'_>, why: &str) {
        let place = self.place(place);
        self.damaged(place, why);
    }

    /// The log is over.
    pub fn end(&mut self) {
        if let Some(mut growing) = self.log.growing.take() {
            growing.finish();
            self.take_turns(&mut growing);
        }
        self.log = Log::default();
        self.open.clear();
    }

    /// All logs are over: what is held becomes batches.
    pub fn finish(&mut self) {
        self.end();
        let Self {
            events,
            messages,
            calls,
            turns,
            made,
            ..
        } = self;
        flush(events, Table::Events, made);
        flush(messages, Table::Messages, made);
        flush(calls, Table::ToolCalls, made);
        flush(turns, Table::Turns, made);
    }

    /// The next batch that is complete.
    pub fn next_batch(&mut self) -> Option<(Table, RecordBatch)> {
        self.made.pop_front()
    }

    fn line(&mut self, line: &[u8], place: Place<'_>) {
        let place = self.place(place);
        self.log.seq += 1;
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
        let is_event = !text.starts_with("{\"agentglot\":");
        if !is_event && let Some(agent) = source(text) {
            self.log.agent = Some(agent);
        }
        if self.events.is_some() {
            match (is_event, Event::from_json(text)) {
                (true, Err(error)) => self.damaged(place, &error.to_string()),
                (true, Ok(event)) => self.event(event::row(&event), Some(name_of(text)), text, place),
                (false, _) => self.event(EventRow::default(), None, text, place),
            }
        }
        if let Some(mut growing) = self.log.growing.take() {
            growing.at(place);
            growing.feed(line);
            self.take_turns(&mut growing);
            self.log.growing = Some(growing);
        }
    }

    fn event(&mut self, row: EventRow, name: Option<&str>, json: &str, place: u64) {
        let (file, line) = self.log.origin(place);
        let row = EventRow {
            file,
            line,
            seq: Some(self.log.seq),
            agent: self.log.agent.clone(),
            event: name.map(str::to_owned),
            json: Some(json.to_owned()),
            ..row
        };
        push(&mut self.events, row, self.rows, Table::Events, &mut self.made);
    }

    fn take_turns(&mut self, growing: &mut Growing) {
        // What the lines themselves could not say was told when they were converted.
        while let Some(ended) = growing.next_ended() {
            if let Ok(turn) = ended {
                self.turn(&turn);
            }
        }
    }

    fn turn(&mut self, turn: &Turn) {
        let session = self.log.sessions.entry(turn.session.clone()).or_default();
        session.0 += 1;
        let count = session.0;
        let mut row = turn::turn_row(turn, self.json && self.turns.is_some());
        if turn::costs_the_session(turn)
            && let Some(said) = row.cost_usd
        {
            let before = std::mem::replace(&mut session.1, said);
            row.cost_usd = Some(if said >= before { said - before } else { said });
        }
        let (file, line) = self.log.origin(turn.places.0);
        let row = TurnRow {
            file,
            line,
            last_line: self.log.origin(turn.places.1).1,
            agent: self.log.agent.clone(),
            turn: Some(count),
            ..row
        };
        push(&mut self.turns, row, self.rows, Table::Turns, &mut self.made);
        if self.messages.is_none() && self.calls.is_none() {
            return;
        }
        let mut message = 0;
        turn::walk(turn, &mut |parent, found| match found {
            Found::Prompt(prompt, place) => {
                message += 1;
                self.message(turn::prompt_row(prompt, self.json), turn, count, message, parent, place);
            }
            Found::Reply(round) => {
                message += 1;
                self.message(turn::reply_row(round, self.json), turn, count, message, parent, round.place);
            }
            Found::Call(call, round) => {
                if self.calls.is_none() {
                    return;
                }
                let (file, line) = self.log.origin(call.places.0.max(round.place));
                let row = CallRow {
                    file,
                    line: if call.places.0 > 0 { line } else { None },
                    result_line: self.log.origin(call.places.1).1,
                    agent: self.log.agent.clone(),
                    session: turn.session.clone(),
                    turn: Some(count),
                    parent: parent.map(str::to_owned),
                    ..turn::call_row(call, round, self.json)
                };
                push(&mut self.calls, row, self.rows, Table::ToolCalls, &mut self.made);
            }
        });
    }

    fn message(&mut self, row: MessageRow, turn: &Turn, count: i64, message: i64, parent: Option<&str>, place: u64) {
        let (file, line) = self.log.origin(place);
        let row = MessageRow {
            file,
            line,
            agent: self.log.agent.clone(),
            session: turn.session.clone(),
            turn: Some(count),
            message: Some(message),
            parent: parent.map(str::to_owned),
            ..row
        };
        push(&mut self.messages, row, self.rows, Table::Messages, &mut self.made);
    }

    fn damaged(&mut self, place: u64, why: &str) {
        let (file, line) = self.log.origin(place);
        let Self {
            events,
            messages,
            calls,
            turns,
            rows,
            made,
            ..
        } = self;
        push(events, EventRow::damaged(file.clone(), line, why), *rows, Table::Events, made);
        push(messages, MessageRow::damaged(file.clone(), line, why), *rows, Table::Messages, made);
        push(calls, CallRow::damaged(file.clone(), line, why), *rows, Table::ToolCalls, made);
        push(turns, TurnRow::damaged(file, line, why), *rows, Table::Turns, made);
    }

    /// A place as one number: which of the log's files, and the line.
    fn place(&mut self, place: Place<'_>) -> u64 {
        let file = match place.file {
            None => 0,
            Some(name) => {
                let known = self.log.files.iter().skip(1).position(|file| **file == *name);
                known.map_or_else(
                    || {
                        self.log.files.push(name.into());
                        self.log.files.len() - 1
                    },
                    |at| at + 1,
                )
            }
        };
        (file as u64) << LINE_BITS | place.line.min((1 << LINE_BITS) - 1)
    }
}

const LINE_BITS: u32 = 40;

impl Log {
    fn origin(&self, place: u64) -> (Option<String>, Option<i64>) {
        let file = self.files.get((place >> LINE_BITS) as usize);
        let line = place & ((1 << LINE_BITS) - 1);
        (file.map(|file| file.to_string()), number(line).filter(|line| *line > 0))
    }
}

/// The dialect that a header names.
fn source(header: &str) -> Option<String> {
    let header = agentglot_adapters::Json::new(header)?;
    header.get("source")?.to_text()
}

/// The name of an event: the value of its first member.
fn name_of(line: &str) -> &str {
    line.split('"').nth(3).unwrap_or_default()
}

/// Rows that are not yet a batch.
#[derive(Debug)]
struct Rows<R> {
    rows: Vec<R>,
    weight: usize,
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), weight: 0 }
    }
}

fn push<R: Damaged>(rows: &mut Option<Rows<R>>, row: R, most: usize, table: Table, made: &mut VecDeque<(Table, RecordBatch)>) {
    let Some(kept) = rows else { return };
    let weight = row.weight();
    if weight >= HUGE {
        let (file, line) = row.origin();
        return push(
            rows,
            R::damaged(file, line, &format!("{weight} bytes do not fit into a row")),
            most,
            table,
            made,
        );
    }
    kept.weight += weight;
    kept.rows.push(row);
    if kept.rows.len() >= most || kept.weight >= BYTES {
        flush(rows, table, made);
    }
}

fn flush<R: Cell>(rows: &mut Option<Rows<R>>, table: Table, made: &mut VecDeque<(Table, RecordBatch)>) {
    let Some(kept) = rows.as_mut().filter(|rows| !rows.rows.is_empty()) else {
        return;
    };
    let rows = std::mem::take(kept).rows.into_iter().map(Some).collect();
    let batch = RecordBatch::try_new(table.schema(), arrays_of(&R::array(rows))).expect("a table's schema is made of its columns");
    made.push_back((table, batch));
}

/// Rows that can say what could not be read.
trait Damaged: Cell {
    fn damaged(file: Option<String>, line: Option<i64>, why: &str) -> Self;
    fn origin(&self) -> (Option<String>, Option<i64>);
}

macro_rules! damaged {
    ($($row:ident),+) => { $(
        impl Damaged for $row {
            fn damaged(file: Option<String>, line: Option<i64>, why: &str) -> Self {
                Self { file, line, damage: Some(why.to_owned()), ..Self::default() }
            }

            fn origin(&self) -> (Option<String>, Option<i64>) {
                (self.file.clone(), self.line)
            }
        }
    )+ };
}

damaged!(EventRow, MessageRow, CallRow, TurnRow);
