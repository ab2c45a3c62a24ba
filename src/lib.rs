//! agentglot lets software written for one headless coding agent talk to another.
//!
//! Everything about protocols is in [`adapters`], which is pure. This crate is what touches the world: files, pipes, threads
//! and the command line. What lives (`agent`, `backend`, `child`, `session` …) is there on Unix, with the feature `agent`; the rest
//! needs nothing of an operating system but files and standard streams. To convert inside another program, [`convert`] goes from a reader to a writer:
//!
//! ```
//! use agentglot::adapters::convert::Options;
//!
//! let log = br#"{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}"#;
//! let mut written = Vec::new();
//! let report = agentglot::convert(&log[..], &mut written, Options::new("cursor".parse()?, "tricode".parse()?))?;
//! assert!(report.damage.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

use std::io::{ErrorKind, Read, Write};

pub use agentglot_adapters as adapters;
use agentglot_adapters::convert::{Converter, Damage, Options, Silent};
#[cfg(all(unix, feature = "agent"))]
pub use agentglot_agent as agent;
#[cfg(feature = "columnar")]
pub use agentglot_columns as columns;
#[cfg(all(unix, feature = "agent"))]
pub use agentglot_process as child;
#[cfg(all(unix, feature = "agent"))]
pub use agentglot_process::live;

#[cfg(all(unix, feature = "agent"))]
pub mod backend;
pub mod cli;
pub mod command;
#[cfg(all(unix, feature = "agent"))]
pub mod config;
#[cfg(all(unix, feature = "agent"))]
mod homes;
pub mod io;
#[cfg(all(unix, feature = "agent"))]
pub mod record;
pub mod schema;
#[cfg(all(unix, feature = "agent"))]
mod serve;
#[cfg(all(unix, feature = "agent"))]
pub mod session;
pub mod show;
pub mod stats;
pub mod status;
mod system;
#[cfg(feature = "view")]
pub mod view;
pub mod work;

/// What there is to say about a conversion when it is over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines read.
    pub lines: u64,
    /// What could not be read, in order.
    pub damage: Vec<Damage>,
    /// How many lines gave no output of their own.
    pub silent: Silent,
    /// The ledger as JSON lines, if [`Options::ledger`] asked for one.
    pub ledger: String,
}

/// Converts everything that `reader` gives, and writes every line as soon as it is complete: what one read brings is written
/// at once, so both ends may be pipes that live.
///
/// # Errors
/// Those of `reader` and `writer`. What came before them has been converted and written.
pub fn convert(mut reader: impl Read, mut writer: impl Write, options: Options) -> std::io::Result<Report> {
    let mut converter = Converter::new(options);
    let mut report = Report::default();
    let mut buffer = vec![0; io::READ];
    let mut out = Vec::new();
    while !converter.stopped() {
        let read = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        converter.feed(&buffer[..read], &mut out);
        writer.write_all(&out)?;
        out.clear();
        report.damage.append(&mut converter.take_damage());
        report.ledger.push_str(&converter.take_ledger());
    }
    converter.finish(&mut out);
    writer.write_all(&out)?;
    writer.flush()?;
    report.damage.append(&mut converter.take_damage());
    report.ledger.push_str(&converter.take_ledger());
    report.lines = converter.lines();
    report.silent = converter.silent();
    Ok(report)
}
