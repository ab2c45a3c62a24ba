//! Sessions that lie in databases, which are read without their program: a database is opened for reading alone.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::raw::store::{Child, Database};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};

use crate::io::{Input, Record};
use crate::status::Failure;

/// So long a database may be kept from us by whoever mends it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A session in a database.
#[derive(Clone, Debug)]
pub(crate) struct InDatabase {
    database: &'static Database,
    file: PathBuf,
    pub(crate) format: Format,
    pub(crate) id: String,
    pub(crate) cwd: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) turns: u64,
    pub(crate) tokens: u64,
    pub(crate) written: SystemTime,
    size: u64,
}

impl InDatabase {
    /// It is read when it is wanted.
    pub(crate) fn input(self) -> Input {
        Input::Record(Arc::new(self))
    }
}

/// All sessions in the databases of the programs on this machine, and the databases that cannot be read.
pub(crate) fn list() -> (Vec<InDatabase>, Vec<Failure>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for (dialect, store, home) in super::stores() {
        let Some((database, root)) = home.database.as_ref().zip(super::root(home)) else {
            continue;
        };
        let file = root.join(database.file);
        if !file.is_file() {
            continue;
        }
        let format = Format { dialect, mode: store.mode };
        match listed(database, &file, format) {
            Ok(listed) => found.extend(listed),
            Err(error) => failed.push(Failure::Read {
                name: file.display().to_string(),
                error: io::Error::other(error),
            }),
        }
    }
    (found, failed)
}

fn listed(database: &'static Database, file: &Path, format: Format) -> rusqlite::Result<Vec<InDatabase>> {
    let base = open(file)?;
    let mut query = base.prepare(database.list)?;
    let listed = query.query_map([], |row| {
        Ok(InDatabase {
            database,
            file: file.to_owned(),
            format,
            id: row.get("id")?,
            cwd: row.get("cwd")?,
            prompt: row.get("prompt")?,
            turns: number(row, "turns")?,
            tokens: number(row, "tokens")?,
            written: UNIX_EPOCH + Duration::from_millis(number(row, "written")?),
            size: number(row, "size")?,
        })
    })?;
    listed.collect()
}

/// A count; what is no number, or less than nothing, is none.
fn number(row: &Row<'_>, name: &str) -> rusqlite::Result<u64> {
    let said: Option<i64> = row.get(name)?;
    Ok(said.map_or(0, |said| u64::try_from(said).unwrap_or(0)))
}

/// Opens a database for reading. Where no log of changes lies beside it, the file itself is all there is, and it is said to stay as it is:
/// else SQLite would lay such a log, and the file that programs share for it, into the program's folder.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let log = PathBuf::from([file.as_os_str(), "-wal".as_ref()].join("".as_ref()));
    let is_quiet = log.metadata().map_or(true, |about| about.len() == 0);
    let path = file.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(file.to_owned()))?;
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let uri = format!("file:{path}?mode=ro{}", if is_quiet { "&immutable=1" } else { "" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let base = Connection::open_with_flags(uri, flags)?;
    base.busy_timeout(PATIENCE)?;
    // Programs keep their sessions in tables: what the file says is to be reckoned instead may have no end.
    base.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    base.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(base)
}

impl Record for InDatabase {
    fn name(&self) -> String {
        self.file.join(&self.id).display().to_string()
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let read = || {
            let mut base = open(&self.file)?;
            // All queries see the same state.
            let state = base.transaction()?;
            let mut text = Vec::new();
            for query in self.database.one {
                let mut query = state.prepare(query)?;
                let mut rows = query.query([&self.id])?;
                while let Some(row) = rows.next()? {
                    text.extend_from_slice(row.get_ref(0)?.as_bytes_or_null()?.unwrap_or_default());
                    text.push(b'\n');
                }
                // The first says whether the session is there; what it had may outlive it.
                if text.is_empty() {
                    break;
                }
            }
            Ok::<_, rusqlite::Error>(text)
        };
        let text = read().map_err(io::Error::other)?;
        if text.is_empty() {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(text)
        }
    }

    fn was(&self) -> (u64, SystemTime) {
        (self.size, self.written)
    }

    fn now(&self) -> Option<(u64, SystemTime)> {
        let query = format!("select size, written from ({}) where id = ?1", self.database.list);
        let now = open(&self.file).and_then(|base| {
            let now = base.query_row(&query, [&self.id], |row| Ok((number(row, "size")?, number(row, "written")?)));
            now.optional()
        });
        let (size, written) = now.ok()??;
        Some((size, UNIX_EPOCH + Duration::from_millis(written)))
    }

    fn subagents(&self) -> Vec<(Child, Arc<dyn Record>)> {
        let all = || {
            let base = open(&self.file)?;
            let mut query = base.prepare(self.database.subagents)?;
            let found = query.query_map([&self.id], |row| {
                let id: String = row.get("id")?;
                let of = Child {
                    call: row.get("call")?,
                    agent: Some(id.clone()),
                    name: row.get("name")?,
                    task: row.get("task")?,
                };
                Ok((of, Arc::new(Self { id, ..self.clone() }) as Arc<dyn Record>))
            })?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        // A session is shown without them.
        all().unwrap_or_default()
    }
}
