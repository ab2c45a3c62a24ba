//! `agentglot sessions copy`: a session, written so that another agent's program goes on with it.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use agentglot_adapters::convert::{Anew, Options};
use agentglot_adapters::events::Time;
use agentglot_adapters::raw::codec::Format;
use agentglot_adapters::raw::store::Home;
use agentglot_adapters::turns;
use serde_json::json;

use super::about;
use super::place::{New, make};
use crate::homes;
use crate::io::{Console, Input, Output, Source, shell_word};
use crate::status::{Failure, Status};
use crate::system::FileId;
use crate::work::{self, Work};

/// What is to be copied, and where to.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The id of a session on this machine, enough of its beginning, or a file of any dialect.
    pub what: String,
    /// What the file is written in; without it, it is looked at.
    pub from: Option<Format>,
    /// For whose program.
    pub to: Format,
    /// The working folder of the copy.
    pub cwd: Option<PathBuf>,
    /// Prompts that the source does not hold.
    pub prompts: Vec<String>,
    /// Where the ledger goes, if one is kept.
    pub ledger: Option<PathBuf>,
    /// One JSON object instead of the command.
    pub json: bool,
}

/// Copies a session.
///
/// # Errors
/// When there is no such session, nothing in it to go on with, or it cannot be read or written.
pub(super) fn run(copy: &Copy) -> Result<Status, Failure> {
    let (to, home) = target(copy.to)?;
    let root = homes::root(home).ok_or_else(|| {
        let names: Vec<&str> = home.roots.iter().map(|root| root.variable).collect();
        Failure::Usage(format!(
            "where {} keeps sessions is not known: none of {} is set",
            to.dialect.about(),
            names.join(", ")
        ))
    })?;
    let (input, from) = source(copy)?;
    let name = input.name();
    let read = input.path().and_then(|path| FileId::of(&path));
    if let Some(ledger) = copy.ledger.as_ref().filter(|_| read.is_some())
        && FileId::of(ledger) == read
    {
        return Err(Failure::Usage(format!(
            "--ledger {}: this file is read; it would be lost",
            ledger.display()
        )));
    }
    let seen = look(&input, from, &name)?;
    if seen.lacks_prompt && copy.prompts.is_empty() {
        return Err(Failure::Usage(format!(
            "{name} does not hold the prompt of its first turn, without which nobody can go on with it: say it with --prompt"
        )));
    }
    let worked_in = seen.cwd.or_else(|| homes::claimed_for(&input.path()?));
    let new = New::of(home, cwd(copy, worked_in.as_deref(), &name)?);
    let written = |error| Failure::Write {
        name: root.display().to_string(),
        error,
    };
    make(&root).map_err(written)?;
    let file = tempfile::Builder::new().prefix(".agentglot-").tempfile_in(&root).map_err(written)?;
    let file = file.into_temp_path();
    let mut options = Options::new(from.unwrap_or(to), to);
    options.repair = true;
    options.prompts.clone_from(&copy.prompts);
    options.anew = Some(Anew {
        session: new.id.clone(),
        cwd: new.cwd.clone(),
        time: new.time(seen.begins),
    });
    let work = Work {
        tables: None,
        tables_from: None,
        inputs: vec![input],
        from,
        options,
        needs_all_prompts: copy.prompts.len() > 1,
        outputs: Some(vec![Output::Named(file.to_path_buf())]),
        folders: Vec::new(),
        ledger: copy.ledger.clone(),
        report: None,
        subagents: true,
        quiet: false,
        status: Status::Clean,
        jobs: 1,
    };
    let status = work::run(work, &Console::plain());
    if status > Status::Damaged {
        return Ok(status);
    }
    let end = home.end.replace("NOW", &new.time(None));
    let size = std::fs::OpenOptions::new().append(true).open(&file).and_then(|mut file| {
        let size = file.metadata()?.len();
        file.write_all(end.as_bytes())?;
        file.sync_all()?;
        Ok(size)
    });
    if size.map_err(written)? == 0 {
        return Err(Failure::Usage(format!("{name}: nothing in it goes over to {to}")));
    }
    let path = new.path(home, &root).map_err(written)?;
    file.persist_noclobber(&path).map_err(|error| Failure::Write {
        name: path.display().to_string(),
        error: error.error,
    })?;
    tell(copy, home, &new, &path)?;
    Ok(status)
}

/// The store that the program of a dialect looks into.
fn target(named: Format) -> Result<(Format, &'static Home), Failure> {
    let found = homes::stores().find(|(dialect, ..)| *dialect == named.dialect);
    let format = found.map(|(dialect, store, home)| (Format { dialect, mode: store.mode }, home));
    format.filter(|(format, _)| format.is_writable()).ok_or_else(|| {
        let names: BTreeSet<&str> = homes::stores().map(|(dialect, ..)| dialect.name()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        Failure::Usage(format!(
            "{} keeps no sessions that we can write; there are {}",
            named.dialect.name(),
            names.join(", ")
        ))
    })
}

/// The log that is meant, and what it is written in as far as that is known.
fn source(copy: &Copy) -> Result<(Input, Option<Format>), Failure> {
    let path = Path::new(&copy.what);
    if copy.what.contains('/') || path.exists() {
        // It is looked at before it is copied, and what a pipe says comes once.
        if path.exists() && !path.is_file() && !path.is_dir() {
            return Err(Failure::Usage(format!(
                "{}: this is no plain file, and cannot be read twice; write what it says into one",
                path.display()
            )));
        }
        return Ok((Input::File(path.to_owned()), copy.from));
    }
    let (input, owner) = homes::input(&copy.what)?;
    Ok((input, copy.from.or(owner)))
}

/// What a look at the source tells.
#[derive(Debug, Default)]
struct Seen {
    cwd: Option<String>,
    lacks_prompt: bool,
    /// The first time that it says, in milliseconds since 1970.
    begins: Option<i64>,
}

fn look(input: &Input, from: Option<Format>, name: &str) -> Result<Seen, Failure> {
    let (log, from) = Source::log(input, from, &Console::plain())?;
    let mut seen = Seen::default();
    let mut sessions = BTreeSet::new();
    let mut any = false;
    for turn in turns(log, from).named(name) {
        match turn {
            Ok(turn) => {
                if !std::mem::replace(&mut any, true) {
                    seen.lacks_prompt = about::prompt(&turn).is_none();
                }
                seen.cwd = turn.facts.as_ref().and_then(|facts| facts.cwd.clone()).or(seen.cwd);
                let times = [&turn.started, &turn.ended].into_iter().flatten();
                seen.begins = seen.begins.or_else(|| times.filter_map(Time::millis).next());
                sessions.extend(turn.session);
            }
            // It is told when it is written.
            Err(error) if error.can_continue() => {}
            Err(error) => return Err(Failure::of_log(name, error)),
        }
    }
    if !any {
        return Err(Failure::Usage(format!("{name}: there is no conversation in it")));
    }
    if sessions.len() > 1 {
        let names: Vec<String> = sessions.iter().take(5).cloned().collect();
        return Err(Failure::Usage(format!(
            "{name} holds {} sessions ({}{}); one is copied at a time, from a file of its own",
            sessions.len(),
            names.join(", "),
            if sessions.len() > names.len() { " …" } else { "" }
        )));
    }
    Ok(seen)
}

/// The working folder of the copy: the one that was asked for, or that of the source, or ours.
fn cwd(copy: &Copy, of_source: Option<&str>, name: &str) -> Result<String, Failure> {
    let (path, said) = match (&copy.cwd, of_source) {
        (Some(path), _) => (path.clone(), "--cwd names"),
        (None, Some(cwd)) => (PathBuf::from(cwd), "the session worked in"),
        (None, None) => (PathBuf::from("."), "here is"),
    };
    let told = |why: &str| {
        let hint = if copy.cwd.is_none() {
            "; --cwd DIR says where it is to go on"
        } else {
            ""
        };
        Failure::Usage(format!("{name}: {said} {}, {why}{hint}", path.display()))
    };
    if copy.cwd.is_none() && of_source.is_some() && !path.is_absolute() {
        return Err(told("which is no absolute path"));
    }
    let found = path.canonicalize().map_err(|_| told("which is not there"))?;
    if !found.is_dir() {
        return Err(told("which is no folder"));
    }
    found.into_os_string().into_string().map_err(|_| told("whose name is not UTF-8"))
}

/// Says how to go on.
fn tell(copy: &Copy, home: &Home, new: &New, path: &Path) -> Result<(), Failure> {
    let file = path.display().to_string();
    let values = [("ID", new.id.as_str()), ("FILE", file.as_str())];
    let commands = home.takes.into_iter().chain([home.goes_on]);
    let filled = |word: &&str| values.iter().find(|(name, _)| name == word).map_or(*word, |(_, value)| value).to_owned();
    let commands: Vec<Vec<String>> = commands.map(|words| words.iter().map(filled).collect()).collect();
    let text = if copy.json {
        let told = json!({"agent": copy.to.dialect.name(), "id": new.id, "cwd": new.cwd, "path": file, "commands": commands});
        format!("{told}\n")
    } else {
        let cd = vec!["cd".to_owned(), new.cwd.clone()];
        let all = std::iter::once(&cd).chain(&commands);
        let words = all.map(|words| words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "));
        format!("{}\n", words.collect::<Vec<_>>().join(" && "))
    };
    let goes_on = if copy.json { "" } else { "; it goes on with:" };
    Console::plain().say(&format!("written to {file}{goes_on}"));
    super::super::print(text.as_bytes())?;
    Ok(())
}
