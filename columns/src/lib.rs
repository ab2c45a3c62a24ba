//! The logs of headless coding agents as tables, for DuckDB, Polars, pandas, Spark and whatever else reads Arrow or Parquet.
//!
//! * [`Table`] names the tables and their columns; [docs/columns.md] describes them.
//! * [`Logs`] reads logs of any dialect and gives record batches; what is held at a time is a batch, a line and a turn.
//! * [`TableReader`] gives those of one table as Arrow's readers do, made on a thread of their own.
//! * [`Writer`] puts batches into Parquet or Arrow files.
//! * [`EventLines`] reads a file with the table `events` back, as a log in `agentglot:events`, which converts to any dialect.
//!
//! ```
//! use agentglot_columns::{Builder, Logs, Table};
//!
//! let log = r#"{"type":"assistant","session_id":"s","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Hi"}]}}
//! {"type":"result","subtype":"success","is_error":false,"result":"Hi","session_id":"s","total_cost_usd":0.25}
//! "#;
//! let logs = [("a.jsonl".to_owned(), log.as_bytes())];
//! let batches: Vec<_> = Logs::new(logs, Builder::new(&[Table::Turns])).collect();
//! let (table, batch) = &batches[0];
//! assert_eq!((*table, batch.num_rows()), (Table::Turns, 1));
//! assert!(batch.column_by_name("cost_usd").is_some());
//! ```
//!
//! [docs/columns.md]: https://github.com/agentglot/agentglot/blob/main/docs/columns.md

#![deny(unsafe_code)]

mod build;
mod cell;
mod event;
mod file;
mod logs;
mod reader;
mod table;
mod turn;

pub use arrow_array::RecordBatch;
pub use arrow_schema::SchemaRef;

pub use build::{Builder, Place};
pub use cell::Column;
pub use file::{Container, Error, EventLines, Writer};
pub use logs::Logs;
pub use reader::TableReader;
pub use table::{Table, VERSION};
