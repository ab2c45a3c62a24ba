//! Batches that are made on a thread of their own.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use agentglot_adapters::Source;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::build::Builder;
use crate::logs::Logs;
use crate::table::Table;

/// So many batches wait to be taken.
const WAITING: usize = 2;

/// The batches of one table, made on a thread of their own while they are taken: what Arrow's interfaces for streams want of a reader, the one
/// for other languages included (`FFI_ArrowArrayStream`). The thread ends with the logs, or soon after this is dropped.
#[derive(Debug)]
pub struct TableReader {
    schema: SchemaRef,
    batches: Receiver<RecordBatch>,
}

impl TableReader {
    /// Reads these logs, as [`Logs`] does. With `json` the column of that name is filled in all tables.
    ///
    /// # Errors
    /// When the system has no more threads.
    pub fn new<L, R>(table: Table, logs: L, from: Source, json: bool) -> std::io::Result<Self>
    where
        L: IntoIterator<Item = (String, R)> + Send + 'static,
        R: Read,
    {
        let (made, batches) = sync_channel(WAITING);
        let read = move || read(table, logs, from, json, &made);
        std::thread::Builder::new().name("agentglot-tables".to_owned()).spawn(read)?;
        Ok(Self {
            schema: table.schema(),
            batches,
        })
    }
}

fn read<L: IntoIterator<Item = (String, R)>, R: Read>(table: Table, logs: L, from: Source, json: bool, made: &SyncSender<RecordBatch>) {
    let logs = Logs::new(logs, Builder::new(&[table]).with_json(json)).from(from);
    for (_, batch) in logs {
        if made.send(batch).is_err() {
            return;
        }
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.recv().ok().map(Ok)
    }
}

impl RecordBatchReader for TableReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
