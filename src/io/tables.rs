//! Tables of events, read as the logs that they were made of.

use std::io::{self, Read};
use std::path::Path;

/// What tables are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columnar {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC.
    Arrow,
}

impl Columnar {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Parquet, Self::Arrow];

    /// Its name, and the ending of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }
}

/// What is said where tables are asked for and there are none.
pub(crate) const NO_TABLES: &str = "this agentglot was built without tables (the feature `columnar`); the published programs have it, and \
     `cargo install --path . --features columnar` builds one that has";

/// What a file is by its first bytes.
pub(super) fn kind(head: &[u8]) -> Option<Columnar> {
    if head.starts_with(b"PAR1") {
        Some(Columnar::Parquet)
    } else if head.starts_with(b"ARROW1") || head.starts_with(&[0xff; 4]) {
        Some(Columnar::Arrow)
    } else {
        None
    }
}

/// Its lines: from the file itself where it is a plain one, else all of it is read first.
#[cfg(feature = "columnar")]
pub(super) fn open(head: &[u8], path: Option<&Path>, mut whole: impl Read) -> io::Result<Box<dyn Read + Send>> {
    use agentglot_columns::{Error, EventLines};

    let is_parquet = kind(head) == Some(Columnar::Parquet);
    let lines = match path {
        Some(path) if is_parquet => EventLines::parquet(std::fs::File::open(path)?),
        Some(path) => EventLines::arrow(io::BufReader::new(std::fs::File::open(path)?)),
        None => {
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes)?;
            match is_parquet {
                true => EventLines::parquet(bytes::Bytes::from(bytes)),
                false => EventLines::arrow(io::Cursor::new(bytes)),
            }
        }
    };
    match lines {
        Ok(lines) => Ok(Box::new(lines)),
        Err(Error::Io(error)) => Err(error),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

#[cfg(not(feature = "columnar"))]
pub(super) fn open(_: &[u8], _: Option<&Path>, _: impl Read) -> io::Result<Box<dyn Read + Send>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, NO_TABLES))
}
