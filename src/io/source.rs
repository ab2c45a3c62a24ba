use std::borrow::Cow;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use agentglot_adapters::Source as Written;
use agentglot_adapters::detect::{Answer, Detector, Found};
use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::raw::store::Child;

use super::gzip::{Members, Unpacked};
use super::{Columnar, Console, READ, Shared, tables};
use crate::status::Failure;

/// Where a log is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file, or anything else that has a path.
    File(PathBuf),
    /// A file that was found in a folder.
    InFolder {
        /// The folder that was named.
        folder: PathBuf,
        /// Where the file lies below it.
        below: PathBuf,
    },
    /// What a program holds.
    Memory(Memory),
    /// What lies in no file of its own.
    Record(Arc<dyn Record>),
}

/// A log in something that is no file, which gives it when it is wanted.
pub trait Record: fmt::Debug + Send + Sync {
    /// What it is called in messages: no other has this name.
    fn name(&self) -> String;

    /// All of it, as it is now.
    ///
    /// # Errors
    /// When it cannot be read, or is not there any more.
    fn read(&self) -> io::Result<Vec<u8>>;

    /// About how many bytes it had when it was found, and when it was written last.
    fn was(&self) -> (u64, SystemTime);

    /// The same of how it is now. `None`: it is not there any more.
    fn now(&self) -> Option<(u64, SystemTime)>;

    /// What those did who work for it, and for whom they work. A line of its that has such a call has the result, too.
    fn subagents(&self) -> Vec<(Child, Arc<dyn Record>)>;
}

impl PartialEq for dyn Record {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Record {}

/// A log in memory.
#[derive(Clone)]
pub struct Memory {
    name: String,
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl Memory {
    /// What it is called in messages, and what it holds.
    pub fn new(name: &str, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            bytes: Arc::new(bytes),
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name, self.as_ref().len())
    }
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.bytes, &other.bytes)
    }
}

impl Eq for Memory {}

/// The endings of compressed files.
const COMPRESSED: [&str; 3] = ["gz", "zst", "zstd"];

impl Input {
    /// Where it lies; standard input and what is in no file have no path.
    pub fn path(&self) -> Option<Cow<'_, Path>> {
        match self {
            Self::Stdin | Self::Memory(_) | Self::Record(_) => None,
            Self::File(path) => Some(path.into()),
            Self::InFolder { folder, below } => Some(folder.join(below).into()),
        }
    }

    /// What it is called in messages and in the ledger; `-` is standard input.
    pub fn name(&self) -> String {
        match self {
            Self::Memory(memory) => memory.name.clone(),
            Self::Record(record) => record.name(),
            _ => self.path().map_or_else(|| "-".to_owned(), |path| path.display().to_string()),
        }
    }

    /// What its output is called in a folder, without the endings that say how it is compressed: the name alone, or the place below
    /// the folder that was named.
    pub fn plain_name(&self) -> PathBuf {
        let record;
        let name = match self {
            Self::Stdin => Path::new("stdin"),
            Self::File(path) => path.file_name().map_or(Path::new("log"), Path::new),
            Self::InFolder { below, .. } => below,
            Self::Memory(memory) => Path::new(&memory.name),
            Self::Record(given) => {
                record = given.name();
                Path::new(&record).file_name().map_or(Path::new("log"), Path::new)
            }
        };
        if is_called(name, &COMPRESSED) {
            name.with_extension("")
        } else {
            name.to_owned()
        }
    }

    /// How many bytes there are to read, as far as that can be known.
    pub fn size(&self) -> u64 {
        match self {
            Self::Memory(memory) => return memory.as_ref().len() as u64,
            Self::Record(record) => return record.was().0,
            _ => {}
        }
        let about = self.path().and_then(|path| path.metadata().ok());
        about.filter(Metadata::is_file).map_or(0, |about| about.len())
    }

    fn is_called(&self, endings: &[&str]) -> bool {
        match self {
            Self::Memory(memory) => is_called(Path::new(&memory.name), endings),
            _ => self.path().is_some_and(|path| is_called(&path, endings)),
        }
    }
}

fn is_called(path: &Path, endings: &[&str]) -> bool {
    path.extension()
        .is_some_and(|found| endings.iter().any(|ending| found.eq_ignore_ascii_case(ending)))
}

/// An open log, decompressed.
pub struct Source {
    name: String,
    /// Whether the file's name says that it holds one JSON document.
    json_name: bool,
    /// What was read ahead to find out what it is.
    head: Vec<u8>,
    rest: Box<dyn Read + Send>,
    over: bool,
    file: Option<Arc<Shared>>,
    /// It is a table of events, in a file of this kind.
    columnar: Option<Columnar>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("head", &self.head.len())
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a log. gzip and zstd are known by their first bytes as well as by the file's name.
    ///
    /// # Errors
    /// When it cannot be opened, is a folder, or its first bytes cannot be read.
    pub fn open(input: &Input, console: &Console) -> Result<Self, Failure> {
        let name = input.name();
        Self::begin(input, &name, console).map_err(|error| Failure::Read { name, error })
    }

    fn begin(input: &Input, name: &str, console: &Console) -> io::Result<Self> {
        let (mut raw, file): (Box<dyn Read + Send>, _) = match input.path() {
            None if let Input::Memory(memory) = input => (Box::new(Cursor::new(memory.clone())), None),
            None if let Input::Record(record) = input => {
                let all = record.read()?;
                console.advance(record.was().0);
                (Box::new(Cursor::new(all)), None)
            }
            // A read as long as ours goes past the standard library's buffer, and gives what is there.
            None => (Box::new(io::stdin()), None),
            Some(path) => {
                let file = File::open(&path)?;
                let about = file.metadata()?;
                if about.is_dir() {
                    return Err(ErrorKind::IsADirectory.into());
                }
                // A place of its own in the file: the other one is where the log is read from its beginning.
                let shared = if about.is_file() {
                    Some(Arc::new(Shared::new(File::open(&path)?, about.len())))
                } else {
                    None
                };
                let counted = Counted {
                    inner: file,
                    console: console.clone(),
                };
                (Box::new(counted), shared)
            }
        };
        let head = first_bytes(&mut raw)?;
        let head_of = head[..head.len().min(16)].to_vec();
        // What is in memory may have been unpacked by whoever read the file, and keep its name.
        let is_named = !head.is_empty() && !matches!(input, Input::Memory(_));
        let gzip = head.starts_with(GZIP) || is_named && input.is_called(&["gz"]);
        let zstd = head.starts_with(ZSTD) || is_named && input.is_called(&["zst", "zstd"]);
        let json_name = is_called(&input.plain_name(), &["json"]);
        let mut source = Self {
            name: name.to_owned(),
            json_name,
            head,
            rest: raw,
            over: false,
            file,
            columnar: tables::kind(&head_of),
        };
        if source.columnar.is_some() {
            let path = input.path().filter(|_| source.file.is_some());
            source.file = None;
            let whole = Cursor::new(std::mem::take(&mut source.head)).chain(std::mem::replace(&mut source.rest, Box::new(io::empty())));
            source.rest = tables::open(&head_of, path.as_deref(), whole)?;
            return Ok(source);
        }
        if gzip || zstd {
            let rest = std::mem::replace(&mut source.rest, Box::new(io::empty()));
            let whole = Cursor::new(std::mem::take(&mut source.head)).chain(rest);
            source.file = None;
            source.rest = match gzip {
                // A file may be many members, or frames, one after the other.
                true => Box::new(Unpacked {
                    inner: Members::new(whole),
                    by: "gzip",
                }),
                false => Box::new(Unpacked {
                    inner: zstd::stream::read::Decoder::new(whole)?,
                    by: "zstd",
                }),
            };
        }
        Ok(source)
    }

    /// What it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, if it is a plain one that can be read anywhere.
    pub const fn file(&self) -> Option<&Arc<Shared>> {
        self.file.as_ref()
    }

    /// The kind of file, if it is a table of events.
    pub const fn columnar(&self) -> Option<Columnar> {
        self.columnar
    }

    /// Finds out the dialect, reading no further than needed. `None`: there is nothing in it.
    ///
    /// # Errors
    /// When reading fails, or the dialect cannot be told.
    pub fn detect(&mut self) -> Result<Option<Found>, Failure> {
        let mut detector = Detector::new(self.json_name);
        loop {
            match detector.look(&self.head, self.over) {
                Answer::Found(found) => return Ok(Some(found)),
                Answer::Empty => return Ok(None),
                Answer::Unclear(unclear) => {
                    return Err(Failure::Unclear {
                        name: self.name.clone(),
                        unclear,
                    });
                }
                Answer::More => self.read_ahead().map_err(|error| Failure::Read {
                    name: self.name.clone(),
                    error,
                })?,
            }
        }
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        let len = self.head.len();
        self.head.resize(len + READ, 0);
        let read = self.rest.read(&mut self.head[len..]);
        self.head.truncate(len + read.as_ref().map_or(0, |&n| n));
        match read {
            Ok(0) => self.over = true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What was read of it so far.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Opens a log to be read from its beginning, and says what it is written in.
    ///
    /// # Errors
    /// When it cannot be read, or the dialect cannot be told.
    pub fn log(input: &Input, named: Option<Format>, console: &Console) -> Result<(impl Read + Send + use<>, Written), Failure> {
        let mut source = Self::open(input, console)?;
        let from = source.written_in(input, named)?;
        Ok((source.into_reader(), from))
    }

    /// What the log is written in.
    ///
    /// # Errors
    /// When reading fails, or the dialect cannot be told.
    pub fn written_in(&mut self, input: &Input, named: Option<Format>) -> Result<Written, Failure> {
        if let Some(format) = named {
            return Ok(Written::Is(format));
        }
        match self.detect() {
            // Where a session in another dialect begins, that one is read. In a database there is none.
            Ok(Some(found)) if found.format.stands_with_others() && !matches!(input, Input::Record(_)) => Ok(Written::Auto),
            Ok(Some(found)) => Ok(Written::Is(found.format)),
            Ok(None) => Ok(Written::Auto),
            Err(Failure::Unclear { name, unclear }) => match other_side(input, &unclear.candidates) {
                Some((format, _)) => Ok(Written::Is(format)),
                None => Err(Failure::Unclear { name, unclear }),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Everything from the beginning: what was read ahead first.
    pub fn into_reader(self) -> impl Read + Send {
        Cursor::new(self.head).chain(self.rest)
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// When reading fails.
    pub fn read_all(self) -> Result<Vec<u8>, Failure> {
        let name = self.name.clone();
        let mut bytes = Vec::new();
        match self.into_reader().read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(Failure::Read { name, error }),
        }
    }
}

/// The dialect of the agent's side of a log of the host's side: `NAME.out.jsonl` beside `NAME.in.jsonl`. Many lines that hosts
/// write are the same in several dialects.
pub fn other_side(input: &Input, candidates: &[Found]) -> Option<(Format, String)> {
    let path = input.path()?;
    let name = path.file_name()?.to_str()?;
    let other = path.with_file_name(name.replacen(".in.jsonl", ".out.jsonl", 1));
    if other == path || !other.is_file() {
        return None;
    }
    let found = Source::open(&Input::File(other.clone()), &Console::plain()).ok()?.detect().ok()??;
    let fits = candidates.iter().any(|c| c.format.dialect == found.format.dialect);
    fits.then(|| {
        (
            found.format,
            format!("{}, {}", other.file_name().unwrap_or_default().display(), found.why),
        )
    })
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Reads once, and on only while it may still become the first bytes of a compressed stream.
fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; READ];
    let mut len = 0;
    loop {
        match reader.read(&mut head[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let begun = |magic: &[u8]| len < magic.len() && magic.starts_with(&head[..len]);
        if !begun(GZIP) && !begun(ZSTD) {
            break;
        }
    }
    head.truncate(len);
    Ok(head)
}

/// Moves the progress bar.
struct Counted {
    inner: File,
    console: Console,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.console.advance(read as u64);
        Ok(read)
    }
}
