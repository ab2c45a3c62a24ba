//! `agentglot sessions`: those of the built-in agent, and those of every program on this machine.

mod about;
mod copy;
mod place;

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agentglot_adapters::convert::Options;
use agentglot_adapters::raw::codec::{Dialect, Format};
use serde_json::json;

pub(crate) use self::about::prompt;
pub use self::copy::Copy;
use crate::agent::persona;
use crate::agent::store::{Shelf, StoreError, Summary};
use crate::homes;
use crate::io::{Console, one_line, shell_word};
use crate::status::{Failure, Status};

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Sessions {
    /// The sessions of the working folder, or of all folders.
    List {
        /// Of all folders.
        all: bool,
        /// Of every agent, and all folders.
        all_agents: bool,
        /// JSON lines instead of a table.
        json: bool,
    },
    /// One goes over to another agent.
    Copy(Copy),
    /// What was said in one.
    Show {
        /// Its id, or enough of its beginning; or the path of its transcript.
        id: String,
        /// A dialect to say it in; text without one.
        to: Option<Format>,
    },
    /// Away with one, or with all of the working folder.
    Delete {
        /// Its id, or enough of its beginning.
        id: Option<String>,
        /// All of the working folder.
        all: bool,
    },
}

/// Lists, shows or deletes sessions.
///
/// # Errors
/// When there is no such session, or something cannot be read or written.
pub fn run(sessions: &Sessions) -> Result<Status, Failure> {
    let shelf = persona::shelf(&|name| std::env::var_os(name));
    match sessions {
        Sessions::List { all_agents: true, json, .. } => about::list(*json),
        Sessions::Copy(copy) => copy::run(copy),
        Sessions::List { all, json, .. } => {
            let (listed, unread) = list(&shelf, *all)?;
            let mut status = Status::Clean;
            for failure in &unread {
                Console::plain().say(&failure.to_string());
                status = Status::Failed;
            }
            // An empty list would say that there is nothing.
            if listed.is_empty() && status != Status::Clean {
                return Ok(status);
            }
            super::print(if *json { lines(&listed) } else { table(&listed, *all) }.as_bytes())?;
            Ok(status)
        }
        Sessions::Show { id, to } => {
            let session = match named(&shelf, id)? {
                Some(session) => session,
                None => one(&shelf, id)?,
            };
            let (history, entries) = shelf.read(&session).map_err(failed)?;
            for note in &history.notes {
                Console::plain().say(note);
            }
            let mut log = entries.join(&b"\n"[..]);
            log.push(b'\n');
            match to {
                None => super::show::kept(log, transcript(), &session.id),
                Some(to) => converted(&log, *to),
            }
        }
        Sessions::Delete { id: Some(id), all: false } => {
            let session = one(&shelf, id)?;
            delete(&shelf, &[session])
        }
        Sessions::Delete { id: None, all: true } => {
            let (mut ours, unread) = list(&shelf, false)?;
            ours.retain(|session| session.ours);
            if let (true, Some(failure)) = (ours.is_empty(), unread.into_iter().next()) {
                return Err(failure);
            }
            delete(&shelf, &ours)
        }
        Sessions::Delete { .. } => Err(Failure::Usage(
            "delete wants the id of a session, or --all for those that agentglot began in this folder".to_owned(),
        )),
    }
}

/// The sessions of the working folder, or of all, and what cannot be read.
fn list(shelf: &Shelf, all: bool) -> Result<(Vec<Summary>, Vec<Failure>), Failure> {
    let cwd = std::env::current_dir().and_then(|cwd| cwd.canonicalize());
    let cwd = cwd.map_err(|error| Failure::Read {
        name: "the working folder".to_owned(),
        error,
    })?;
    let listing = shelf.list((!all).then_some(&cwd));
    Ok((listing.sessions, unread(listing.unread)))
}

/// The folders and files that may hold sessions, and cannot be read.
pub(crate) fn unread(unread: Vec<(PathBuf, io::Error)>) -> Vec<Failure> {
    let failure = |(path, error): (PathBuf, io::Error)| Failure::Read {
        name: path.display().to_string(),
        error,
    };
    unread.into_iter().map(failure).collect()
}

/// The session of a transcript that is named by its path.
fn named(shelf: &Shelf, path: &str) -> Result<Option<Summary>, Failure> {
    if !path.contains('/') && !Path::new(path).is_file() {
        return Ok(None);
    }
    let found = shelf.at(Path::new(path)).map_err(|error| Failure::Read {
        name: path.to_owned(),
        error,
    })?;
    found.map(Some).ok_or_else(|| {
        Failure::Usage(format!(
            "{path} is not the transcript of a session; `agentglot show {}` shows other logs",
            shell_word(path)
        ))
    })
}

/// The session whose id begins like this: one of the working folder, else of any.
fn one(shelf: &Shelf, id: &str) -> Result<Summary, Failure> {
    let mut unread = Vec::new();
    for all in [false, true] {
        let mut fitting;
        (fitting, unread) = list(shelf, all)?;
        fitting.retain(|session| !id.is_empty() && session.id.starts_with(&*id.to_ascii_lowercase()));
        if fitting.len() > 1 {
            fitting.retain(|session| session.id == id);
            if fitting.len() != 1 {
                return Err(Failure::Usage(format!("more than one session begins with {id:?}; say more of its id")));
            }
        }
        if let Some(session) = fitting.pop() {
            return Ok(session);
        }
    }
    // One that another program keeps is read by `show`, and left to that program.
    if let Ok((_, Some(owner))) = homes::input(id) {
        return Err(Failure::Usage(format!(
            "session {id:?} is one of {}'s, and not agentglot's: `agentglot show {}` shows it, and only its own program deletes it",
            owner.dialect.name(),
            shell_word(id)
        )));
    }
    // It may lie where nobody could look.
    Err(unread
        .into_iter()
        .next()
        .unwrap_or_else(|| Failure::Usage(format!("there is no session {id:?}; `agentglot sessions list --all-agents` names them"))))
}

fn failed(error: StoreError) -> Failure {
    match error {
        StoreError::Io(id, error) => Failure::Read {
            name: format!("session {id}"),
            error,
        },
        other => Failure::Usage(other.to_string()),
    }
}

fn delete(shelf: &Shelf, sessions: &[Summary]) -> Result<Status, Failure> {
    let console = Console::plain();
    let mut status = Status::Clean;
    for session in sessions {
        match shelf.delete(session) {
            Ok(()) => console.say(&format!("session {} is deleted", session.id)),
            Err(error) => {
                console.say(&error.to_string());
                status.worsen(match error {
                    StoreError::NotOurs(_) => Status::Usage,
                    _ => Status::Failed,
                });
            }
        }
    }
    if sessions.is_empty() {
        console.say("there are no sessions here");
    }
    Ok(status)
}

fn table(sessions: &[Summary], all: bool) -> String {
    let mut text = String::new();
    for session in sessions {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "{}  {:<9}  {:<9}  {:>8}  {:>3} ",
            one_line(&session.id),
            session.dialect,
            by(session),
            ago(session.written),
            session.turns
        );
        text.push_str(if session.turns == 1 { "turn   " } else { "turns  " });
        let said = session.title.as_deref().or(session.prompt.as_deref()).unwrap_or_default();
        text.push_str(&one_line(&said.chars().take(60).collect::<String>()));
        if let Some(cwd) = session.cwd.as_deref().filter(|_| all) {
            let _ = write!(text, "  [{}]", one_line(cwd));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    if sessions.is_empty() {
        text.push_str(if all {
            "No sessions.\n"
        } else {
            "No sessions of this folder; --all lists those of all folders.\n"
        });
    }
    text
}

fn lines(sessions: &[Summary]) -> String {
    let mut text = String::new();
    for session in sessions {
        let written = session.written.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let line = json!({
            "id": session.id,
            "dialect": session.dialect,
            "by": by(session),
            "cwd": session.cwd,
            "began": session.began,
            "written": written,
            "turns": session.turns,
            "bytes": session.bytes,
            "title": session.title,
            "prompt": session.prompt,
            "path": session.path.display().to_string(),
        });
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Whose program began it.
fn by(session: &Summary) -> &str {
    if session.ours { "agentglot" } else { &session.dialect }
}

fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(time).unwrap_or_default().as_secs();
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// What sessions of ours are written in.
fn transcript() -> Format {
    let written = homes::stores().find(|(dialect, ..)| *dialect == Dialect::Claude);
    written.map_or(Dialect::Claude.into(), |(dialect, store, _)| Format { dialect, mode: store.mode })
}

fn converted(log: &[u8], to: Format) -> Result<Status, Failure> {
    let mut written = Vec::new();
    crate::convert(log, &mut written, Options::new(transcript(), to)).map_err(Failure::of_stdout)?;
    super::print(&written)
}
