//! Which tables are written, and where to.

use std::path::Path;

use super::outputs::Outputs;
use crate::io::{Columnar, Output};
use crate::status::Failure;
use crate::work::{Table, Tables};

/// The tables that a conversion is to write; none if it writes a dialect.
pub(super) fn wanted(to: Option<Columnar>, named: &[Table], with_json: bool, output: Option<&Path>) -> Result<Option<Tables>, Failure> {
    let Some(columnar) = to else {
        return match named.is_empty() && !with_json {
            true => Ok(None),
            false => Err(usage("--table and --with-json go with --to parquet or --to arrow")),
        };
    };
    if cfg!(not(feature = "columnar")) {
        return Err(usage(crate::io::NO_TABLES));
    }
    let folder = output.filter(|path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR));
    let tables = match (named, folder) {
        ([], Some(_)) => vec![Table::Events, Table::Messages, Table::ToolCalls, Table::Turns],
        ([], None) => vec![Table::Events],
        (named, _) => named.to_vec(),
    };
    if let Some(twice) = (1..tables.len()).find(|&n| tables[..n].contains(&tables[n])) {
        return Err(usage(&format!("--table {} is given twice", name(tables[twice]))));
    }
    let file = |table| match (folder, output) {
        (Some(folder), _) => Some(Output::InFolder {
            folder: folder.to_owned(),
            below: format!("{}.{}", name(table), columnar.name()).into(),
        }),
        (None, path) => path.map(|path| Output::Named(path.to_owned())),
    };
    if folder.is_none() && tables.len() > 1 {
        return Err(usage("several tables need a folder: -o FOLDER/"));
    }
    Ok(Some(Tables {
        columnar,
        files: tables.into_iter().map(|table| (table, file(table))).collect(),
        folder: folder.map(Path::to_owned),
        with_json,
    }))
}

/// What tables are kept in that go to a file of this name.
pub(super) fn named(output: &Path) -> Option<Columnar> {
    let ending = output.extension()?.to_str()?.to_ascii_lowercase();
    Columnar::ALL.into_iter().find(|columnar| columnar.name() == ending)
}

impl Tables {
    /// The files of the tables.
    pub(super) fn outputs(&self) -> Outputs {
        let files: Vec<Output> = self.files.iter().filter_map(|(_, file)| file.clone()).collect();
        Outputs {
            files: (!files.is_empty()).then_some(files),
            folders: self.folder.iter().cloned().collect(),
        }
    }
}

pub(crate) const fn name(table: Table) -> &'static str {
    match table {
        Table::Events => "events",
        Table::Messages => "messages",
        Table::ToolCalls => "tool_calls",
        Table::Turns => "turns",
    }
}

fn usage(why: &str) -> Failure {
    Failure::Usage(why.to_owned())
}
