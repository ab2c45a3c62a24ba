//! Files of tables: written batch by batch, and read back as logs.

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::str::FromStr;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::ChunkReader;

use crate::table::{TABLE_KEY, Table, VERSION, VERSION_KEY};

/// What tables are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Apache Parquet, compressed with zstd.
    Parquet,
    /// An Arrow IPC file; IPC streams are read as well.
    Arrow,
}

impl Container {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Parquet, Self::Arrow];

    /// Its name, which is the usual ending of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// What a file is by its first bytes, at least eight.
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if head.starts_with(ARROW) || head.starts_with(STREAM) {
            Some(Self::Arrow)
        } else {
            None
        }
    }
}

const ARROW: &[u8] = b"ARROW1";
/// A message of a stream.
const STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff];

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Container {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|container| container.name() == name);
        named.ok_or_else(|| format!("{name:?} is neither parquet nor arrow"))
    }
}

/// Why a file of tables cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its tables are of a version that is not known.
    #[error("its tables are of version {0}, and version {VERSION} is read: write it anew from the logs, or read it with the agentglot that wrote it")]
    Version(String),
    /// It holds another table than `events`.
    #[error("it holds the table {0}; only the table events says all that a log does and can be converted")]
    OtherTable(String),
    /// It lacks the column that events are read from.
    #[error("it is no table of events: it has no column `json` of texts")]
    NoEvents,
    /// It is damaged, cut off, or nothing of that kind.
    #[error("it is damaged or cut off, or no {0} file: {1}")]
    Damaged(Container, String),
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes a table to a file, batch by batch. Of Parquet a row group is held, about 64 MB at most.
pub struct Writer<W: Write + Send>(To<W>);

enum To<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl<W: Write + Send> Writer<W> {
    /// Begins the file of a table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(to: W, container: Container, table: Table) -> io::Result<Self> {
        let schema = table.schema();
        Ok(Self(match container {
            Container::Parquet => {
                let about = schema.metadata().iter();
                let about = about.map(|(key, value)| parquet::file::metadata::KeyValue::new(key.clone(), value.clone()));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_bytes(Some(64 << 20))
                    .set_created_by(concat!("agentglot ", env!("CARGO_PKG_VERSION")).to_owned())
                    .set_key_value_metadata(Some(about.collect()))
                    .build();
                To::Parquet(Box::new(ArrowWriter::try_new(to, schema, Some(properties))?))
            }
            Container::Arrow => To::Arrow(Box::new(FileWriter::try_new(to, &schema).map_err(failed)?)),
        }))
    }

    /// Writes a batch of the table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match &mut self.0 {
            To::Parquet(file) => Ok(file.write(batch)?),
            To::Arrow(file) => file.write(batch).map_err(failed),
        }
    }

    /// Ends the file, and gives back what it was written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            To::Parquet(file) => Ok(file.into_inner()?),
            To::Arrow(file) => file.into_inner().map_err(failed),
        }
    }
}

fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// A file with the table `events`, read as the log in `agentglot:events` that it was made of.
pub struct EventLines {
    container: Container,
    batches: Batches,
    lines: Vec<u8>,
    given: usize,
}

impl fmt::Debug for EventLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLines").field("container", &self.container).finish_non_exhaustive()
    }
}

impl EventLines {
    /// Of a Parquet file. Files that other programs wrote anew will do, if they kept the column `json`.
    ///
    /// # Errors
    /// When it is none, or holds another table, or one of another version.
    pub fn parquet(file: impl ChunkReader + 'static) -> Result<Self, Error> {
        let container = Container::Parquet;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| Error::Damaged(container, error.to_string()))?;
        check(reader.schema())?;
        let only = parquet::arrow::ProjectionMask::columns(reader.parquet_schema(), ["json"]);
        let batches = reader.with_projection(only).with_batch_size(1024).build();
        let batches = batches.map_err(|error| Error::Damaged(container, error.to_string()))?;
        Ok(Self::new(container, Box::new(batches)))
    }

    /// Of an Arrow IPC file, or a stream of Arrow IPC messages.
    ///
    /// # Errors
    /// As [`Self::parquet`].
    pub fn arrow(mut file: impl Read + Seek + Send + 'static) -> Result<Self, Error> {
        let container = Container::Arrow;
        let damaged = |error: ArrowError| Error::Damaged(container, error.to_string());
        let mut head = [0; 6];
        let is_file = file.read_exact(&mut head).is_ok() && head == *ARROW;
        file.rewind()?;
        if is_file {
            let schema = FileReader::try_new(&mut file, None).map_err(damaged)?.schema();
            check(&schema)?;
            file.rewind()?;
            let column = schema.index_of("json").map_err(damaged)?;
            let batches = FileReader::try_new(file, Some(vec![column])).map_err(damaged)?;
            return Ok(Self::new(container, Box::new(batches)));
        }
        let batches = StreamReader::try_new(file, None).map_err(damaged)?;
        check(&batches.schema())?;
        Ok(Self::new(container, Box::new(batches)))
    }

    fn new(container: Container, batches: Batches) -> Self {
        Self {
            container,
            batches,
            lines: Vec::new(),
            given: 0,
        }
    }

    /// The lines of the next batch.
    fn more(&mut self) -> Result<bool, Error> {
        let Some(batch) = self.batches.next() else { return Ok(false) };
        let batch = batch.map_err(|error| Error::Damaged(self.container, error.to_string()))?;
        let column = batch.column_by_name("json").ok_or(Error::NoEvents)?;
        self.lines.clear();
        self.given = 0;
        for at in 0..column.len() {
            // Damage that was told stands in rows without a line.
            if column.is_null(at) {
                continue;
            }
            let line = match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value(at),
                DataType::LargeUtf8 => column.as_string::<i64>().value(at),
                DataType::Utf8View => column.as_string_view().value(at),
                _ => return Err(Error::NoEvents),
            };
            self.lines.extend_from_slice(line.as_bytes());
            self.lines.push(b'\n');
        }
        Ok(true)
    }
}

impl Read for EventLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.lines.len() {
            if !self.more().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))? {
                return Ok(0);
            }
        }
        let read = (&self.lines[self.given..]).read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

/// Whether events can be read from a table like this. What other programs write anew says nothing of tables and versions.
fn check(schema: &Schema) -> Result<(), Error> {
    let about = |key: &str| schema.metadata().get(key);
    if let Some(version) = about(VERSION_KEY).filter(|version| **version != VERSION.to_string()) {
        return Err(Error::Version(version.clone()));
    }
    if let Some(table) = about(TABLE_KEY).filter(|table| **table != Table::Events.name()) {
        return Err(Error::OtherTable(table.clone()));
    }
    let json = schema.field_with_name("json").ok().map(|field| field.data_type());
    let is_event = schema.field_with_name("event").is_ok() || about(TABLE_KEY).is_some();
    match json {
        Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) if is_event => Ok(()),
        _ => Err(Error::NoEvents),
    }
}
