//! `agentglot dialects`.

use std::fmt::Write;

use agentglot_adapters::raw::codec::{Dialect, Format};

use crate::status::{Failure, Status};

/// Lists what can be read and written, as a table or as JSON lines.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(json: bool) -> Result<Status, Failure> {
    super::print(if json { lines() } else { table() }.as_bytes())
}

fn formats(dialect: Dialect) -> impl Iterator<Item = Format> {
    dialect.modes().iter().map(move |&mode| Format { dialect, mode })
}

fn table() -> String {
    let mut text = format!("{:<10} {:<18} {:<5} {:<6} WHAT IT IS\n", "DIALECT", "FORMAT", "READ", "WRITE");
    for dialect in Dialect::readable() {
        let mut about = dialect.about();
        for (n, format) in formats(dialect).enumerate() {
            let name = if n == 0 { dialect.name() } else { "" };
            let read = if format.is_readable() { "yes" } else { "no" };
            let write = if format.is_writable() { "yes" } else { "no" };
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "{}",
                format!("{name:<10} {:<18} {read:<5} {write:<6} {about}", format.mode.name).trim_end()
            );
            about = "";
        }
    }
    text.push_str("\nA dialect is named NAME or NAME:FORMAT; the first format is the one that NAME alone means.\n");
    text
}

fn lines() -> String {
    let mut text = String::new();
    for format in Dialect::readable().flat_map(formats) {
        let default = format == format.dialect.into();
        let _ = writeln!(
            text,
            r#"{{"dialect":"{}","format":"{}","default":{default},"read":{},"write":{},"streaming":{},"about":"{}"}}"#,
            format.dialect.name(),
            format.mode.name,
            format.is_readable(),
            format.is_writable(),
            format.is_streaming(),
            format.dialect.about(),
        );
    }
    text
}
