//! The sessions that whoever answers can go on with, and what was said in them: those on our shelf, or those that another agent's program keeps.
//!
//! All of it reads files, and asks programs: it may take its time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::client::Inquiry;
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::launch::Launch;
use agentglot_adapters::raw::server::{Listed, Mark};
use agentglot_adapters::turns;

use super::marks;
use crate::agent::persona;
use crate::agent::store::{Shelf, StoreError, Summary};
use crate::backend::choice::Choice;
use crate::backend::requests::{Requests, Start};
use crate::child::file::read_regular;
use crate::command::run::Run;
use crate::command::sessions::unread;
use crate::homes::{self, Kept, Lies};
use crate::io::{Console, Input, Source};
use crate::session::Timers;
use crate::status::Failure;

/// So many bytes say under which id a session is kept.
const NOTE: u64 = 1024;

/// A prompt is as much of a title.
const TITLE: usize = 200;

/// A program that was told to end may take as long.
const LETTING_GO: Duration = Duration::from_secs(5);

/// Who keeps them.
#[derive(Clone, Debug)]
pub(super) enum Keeper {
    /// The built-in agent, and the program that is played inside, whose sessions have the same form.
    Shelf(Shelf, Dialect),
    /// Another agent's program.
    Program(Dialect, Format),
    /// The agent that a command starts.
    Agent(Agent),
}

/// An agent that is asked for its sessions: a process for each question.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    dialect: Dialect,
    command: Vec<String>,
    pass_env: Vec<String>,
    timers: Timers,
    max_line: usize,
}

/// What was said in a session before.
#[derive(Debug)]
pub(super) struct Said {
    /// The session as it is kept.
    pub(super) kept: Listed,
    /// Lines of the store of the program inside.
    pub(super) lines: Vec<u8>,
    /// What is odd about it.
    pub(super) notes: Vec<String>,
}

impl Keeper {
    /// That of whoever answers. `inside`: the program that is played to each session.
    pub(super) fn of(choice: Option<&Choice>, inside: Dialect, run: &Run) -> Self {
        if let Some(Choice::Command(dialect, command)) = choice {
            return Self::Agent(Agent {
                dialect: *dialect,
                command: command.clone(),
                pass_env: run.pass_env.clone(),
                timers: run.timers,
                max_line: run.max_line,
            });
        }
        if let Some(Choice::Cli(dialect, _)) = choice
            && *dialect != inside
            && let Some((_, store, _)) = homes::stores().find(|(of, ..)| of == dialect)
        {
            let format = Format {
                dialect: *dialect,
                mode: store.mode,
            };
            return Self::Program(*dialect, format);
        }
        Self::Shelf(persona::shelf(&|name| std::env::var_os(name)), inside)
    }

    /// The sessions of a folder, or of all, those that were written last first. What an editor has begun has the id that it was told. An error
    /// where nothing is found, and there may be something that cannot be read.
    pub(super) fn list(&self, cwd: Option<&str>) -> Result<Vec<Listed>, String> {
        let folder = cwd.map(real);
        let mut all: Vec<Listed> = match self {
            Self::Shelf(..) => self.on_shelf(folder.as_deref())?.into_iter().filter_map(listed).collect(),
            Self::Program(dialect, format) => {
                let (kept, unread) = homes::kept_by(*dialect);
                let begun = kept.iter().filter_map(|kept| begun(kept, *format)).collect();
                readable(begun, unread)?
            }
            Self::Agent(agent) => agent.list(cwd)?,
        };
        if let Self::Program(dialect, ..) | Self::Agent(Agent { dialect, .. }) = self {
            let names = names(*dialect);
            for session in &mut all {
                if let Some((_, name)) = names.get(&session.id) {
                    session.id.clone_from(name);
                }
            }
        }
        all.retain(|session| folder.as_deref().is_none_or(|folder| real(&session.cwd) == folder));
        all.iter_mut().for_each(marks::read);
        all.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.id.cmp(&b.id)));
        Ok(all)
    }

    /// What was said in a session; nothing if there is none of this id, in this folder if one is named.
    pub(super) fn read(&self, id: &str, cwd: Option<&str>) -> Result<Option<Said>, String> {
        let mut said = self.as_kept(id, cwd)?;
        if let Some(said) = &mut said {
            let own = std::mem::replace(&mut said.kept.id, id.to_owned());
            marks::read(&mut said.kept);
            said.kept.id = own;
        }
        Ok(said)
    }

    /// Keeps something of a session, which is so from now on; nothing if there is none of this id.
    pub(super) fn mark(&self, id: &str, mark: &Mark) -> Result<Option<Listed>, String> {
        let found = self.list(None)?.into_iter().find(|session| session.id == id);
        let Some(mut found) = found.filter(|found| (*mark == Mark::Unarchived) == found.archived || *mark == Mark::Deleted) else {
            return Ok(None);
        };
        match (self, mark) {
            (Self::Shelf(shelf, _), Mark::Name(_) | Mark::Deleted) => {
                let kept = self.on_shelf(None)?.into_iter().find(|kept| kept.id == id);
                let Some(kept) = kept else { return Ok(None) };
                match mark {
                    Mark::Name(name) if kept.title.as_ref() != Some(name) => shelf.rename(&kept, name),
                    Mark::Deleted => delete(shelf, &kept),
                    _ => Ok(()),
                }
                .map_err(|error| error.to_string())?;
                if *mark == Mark::Deleted {
                    marks::write(id, mark).map_err(|error| error.to_string())?;
                }
            }
            (_, Mark::Deleted) => return Err("the program that keeps this session removes it itself".to_owned()),
            _ => marks::write(id, mark).map_err(|error| error.to_string())?,
        }
        match mark {
            Mark::Name(name) => found.name = Some(name.clone()),
            Mark::Archived | Mark::Unarchived => found.archived = *mark == Mark::Archived,
            Mark::Deleted => {}
        }
        Ok(Some(found))
    }

    fn as_kept(&self, id: &str, cwd: Option<&str>) -> Result<Option<Said>, String> {
        match self {
            Self::Shelf(shelf, _) => {
                let found = self.on_shelf(cwd.map(real).as_deref())?.into_iter().find(|kept| kept.id == id);
                let Some(kept) = found else { return Ok(None) };
                let (history, lines) = shelf.read(&kept).map_err(|error| error.to_string())?;
                let lines = lines.into_iter().flat_map(|line| line.into_iter().chain([b'\n'])).collect();
                let notes = history.notes;
                Ok(listed(kept).map(|kept| Said { kept, lines, notes }))
            }
            Self::Program(dialect, format) => {
                let found = match (find(id, cwd, *dialect, *format)?, noted(id, *dialect)) {
                    (None, Some(id)) => find(&id, cwd, *dialect, *format)?,
                    (found, _) => found,
                };
                found.map(|(kept, input)| converted(kept, &input, *format)).transpose()
            }
            Self::Agent(agent) => {
                let id = noted(id, agent.dialect).unwrap_or_else(|| id.to_owned());
                agent.read(&id, cwd.unwrap_or("/")).map(Some)
            }
        }
    }

    /// Remembers that a program keeps a session under an id of its own: an editor asks for it by ours.
    pub(super) fn note(&self, session: &str, id: &str) {
        let (Self::Program(dialect, ..) | Self::Agent(Agent { dialect, .. })) = self else {
            return;
        };
        let Some(path) = note(session) else { return };
        let folder = path.parent().unwrap_or(&path);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        if let Err(error) = made.and_then(|()| fs::write(&path, format!("{} {id}\n", dialect.name()))) {
            tracing::warn!("{}: {error}", path.display());
        }
    }

    fn on_shelf(&self, cwd: Option<&Path>) -> Result<Vec<Summary>, String> {
        let Self::Shelf(shelf, inside) = self else { return Ok(Vec::new()) };
        let mut listing = shelf.list(cwd);
        listing.sessions.retain(|session| session.dialect == inside.name());
        readable(listing.sessions, unread(listing.unread))
    }
}

/// What was found, with a word about what cannot be read; if that is all there is, it is an error.
fn readable<T>(found: Vec<T>, unread: Vec<Failure>) -> Result<Vec<T>, String> {
    if let (true, Some(failure)) = (found.is_empty(), unread.first()) {
        return Err(failure.to_string());
    }
    for failure in unread {
        tracing::warn!("{failure}");
    }
    Ok(found)
}

impl Agent {
    fn list(&self, cwd: Option<&str>) -> Result<Vec<Listed>, String> {
        let asked = Inquiry::Sessions { cwd: cwd.map(str::to_owned) };
        let (mut sessions, _) = self.inquire(asked, Path::new(cwd.unwrap_or("/")))?;
        // Others could not be asked for.
        sessions.retain(|session| is_plain(&session.id));
        Ok(sessions)
    }

    fn read(&self, id: &str, cwd: &str) -> Result<Said, String> {
        let (_, said) = self.inquire(Inquiry::Said(id.to_owned()), Path::new(cwd))?;
        let kept = Listed {
            id: id.to_owned(),
            cwd: cwd.to_owned(),
            title: None,
            name: None,
            written: 0,
            archived: false,
        };
        let mut lines = Vec::new();
        let notes = in_words_of_inside(&*said, self.dialect.into(), "what the agent says again", &mut lines)?;
        Ok(Said { kept, lines, notes })
    }

    fn inquire(&self, inquiry: Inquiry, cwd: &Path) -> Result<(Vec<Listed>, Vec<u8>), String> {
        let launch = Launch::new(Dialect::CANONICAL);
        let agent = Requests::new(self.dialect, Start::Command(&self.command), &launch, cwd, &self.pass_env);
        let agent = agent.map_err(|failure| failure.to_string())?.within(self.timers, self.max_line);
        let runtime = crate::system::runtime();
        runtime.map_err(|failure| failure.to_string())?.block_on(agent.inquire(inquiry))
    }
}

/// Removes a session, whose program may be about to let go of it.
fn delete(shelf: &Shelf, session: &Summary) -> Result<(), StoreError> {
    let until = Instant::now() + LETTING_GO;
    loop {
        match shelf.delete(session) {
            Err(StoreError::Busy(_)) if Instant::now() < until => {}
            done => return done,
        }
    }
}

/// Where it is remembered under which ids sessions are kept: a file for each, called by ours.
fn notes() -> Option<PathBuf> {
    Some(own_folder()?.join("names"))
}

/// The folder below which we keep what is ours.
pub(super) fn own_folder() -> Option<PathBuf> {
    let shelf = persona::shelf(&|name| std::env::var_os(name));
    shelf.own().next().map(Path::to_path_buf)
}

fn note(session: &str) -> Option<PathBuf> {
    notes().filter(|_| is_plain(session)).map(|folder| folder.join(session))
}

/// Our ids of the sessions that a program keeps under its own, by these; of two, the one that was given last, and when.
fn names(dialect: Dialect) -> BTreeMap<String, (SystemTime, String)> {
    let mut names: BTreeMap<String, (SystemTime, String)> = BTreeMap::new();
    for entry in notes().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(id) = noted(&name, dialect) {
            let given = entry.metadata().and_then(|about| about.modified()).unwrap_or(UNIX_EPOCH);
            let last = names.entry(id).or_insert((UNIX_EPOCH, String::new()));
            if given >= last.0 {
                *last = (given, name);
            }
        }
    }
    names
}

/// What was remembered of a session.
fn noted(session: &str, dialect: Dialect) -> Option<String> {
    let text = String::from_utf8(read_regular(&note(session)?, NOTE).ok()?).ok()?;
    let id = text.strip_prefix(dialect.name())?.trim();
    is_plain(id).then(|| id.to_owned())
}

pub(super) fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !id.is_empty() && !id.starts_with('-') && id.len() <= 128 && id.bytes().all(plain)
}

/// The session of this id, as its program has it.
fn find(id: &str, cwd: Option<&str>, dialect: Dialect, format: Format) -> Result<Option<(Listed, Input)>, String> {
    let is_here = |session: &Listed| cwd.is_none_or(|cwd| real(&session.cwd) == real(cwd));
    let (kept, unread) = homes::kept_by(dialect);
    let found = readable(kept, unread)?.into_iter().rev().find(|kept| kept.id == id);
    let session = found.as_ref().and_then(|kept| {
        let session = begun(kept, format)?;
        let cwd = match &kept.lies {
            Lies::InFile(path) => homes::claimed_for(path).unwrap_or(session.cwd),
            Lies::InDatabase(_) => session.cwd,
        };
        Some(Listed { cwd, ..session })
    });
    Ok(session.filter(is_here).zip(found.map(Kept::input)))
}

/// The format of the lines that a server is told what was said in.
pub(super) fn lines_of(inside: Dialect) -> Format {
    let mode = inside.vendor().stores.first().map_or(inside.modes()[0], |store| store.mode);
    Format { dialect: inside, mode }
}

fn real(cwd: &str) -> PathBuf {
    Path::new(cwd).canonicalize().unwrap_or_else(|_| cwd.into())
}

/// A session in the words in which a server hears it: those of the program that is played to it.
fn converted(kept: Listed, input: &Input, from: Format) -> Result<Said, String> {
    let (log, _) = Source::log(input, Some(from), &Console::plain()).map_err(|failure| failure.to_string())?;
    let mut lines = Vec::new();
    let notes = in_words_of_inside(log, from, &input.name(), &mut lines)?;
    Ok(Said { kept, lines, notes })
}

/// A log in the words of the program that is played to a session. What is odd about it.
fn in_words_of_inside(log: impl Read + Send, from: Format, name: &str, lines: &mut Vec<u8>) -> Result<Vec<String>, String> {
    let to = lines_of(agentglot_adapters::raw::server::inside().dialect);
    let report = crate::convert(log, &mut Cursor::new(lines), Options::new(from, to)).map_err(|error| error.to_string())?;
    let odd = report.damage.iter().map(|damage| format!("{name}: {}", damage.reason));
    Ok(odd.collect())
}

fn listed(session: Summary) -> Option<Listed> {
    let written = session.written.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Some(Listed {
        id: session.id,
        cwd: session.cwd?,
        title: session.prompt,
        name: session.title,
        written: i64::try_from(written).unwrap_or(i64::MAX),
        archived: false,
    })
}

/// A session as its database lists it; by its file, of what was said in it, its first turn.
fn begun(kept: &Kept, format: Format) -> Option<Listed> {
    let written = kept.written.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let written = i64::try_from(written).unwrap_or(i64::MAX);
    let shortened = |prompt: &str| prompt.chars().take(TITLE).collect();
    let path = match &kept.lies {
        Lies::InFile(path) => path,
        Lies::InDatabase(row) => {
            return Some(Listed {
                id: kept.id.clone(),
                cwd: row.cwd.clone()?,
                title: row.prompt.as_deref().map(shortened),
                name: None,
                written,
                archived: false,
            });
        }
    };
    let (log, from) = Source::log(&Input::File(path.clone()), Some(format), &Console::plain()).ok()?;
    let first = turns(log, from).find_map(Result::ok)?;
    let cwd = first
        .facts
        .as_ref()
        .and_then(|facts| facts.cwd.clone())
        .or_else(|| homes::claimed_for(path))?;
    Some(Listed {
        id: kept.id.clone(),
        cwd,
        title: crate::command::sessions::prompt(&first).map(|prompt| shortened(&prompt)),
        name: None,
        written,
        archived: false,
    })
}
