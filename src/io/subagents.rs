//! The files of subagents, which lie beside that of their session.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentglot_adapters::Source as Written;
use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::store::{Child, Store, begins_as_subagent, session_of};

use super::{Console, Input, READ, Source};
use crate::status::Failure;

/// The file of a subagent, or what a database has of it.
#[derive(Clone, Debug)]
pub(crate) struct Subagent {
    /// Whose it is.
    pub(crate) of: Child,
    pub(crate) input: Input,
    /// What it is called in messages and in the ledger.
    pub(crate) name: Arc<str>,
}

/// The files of the subagents of a log that is open and begins with `head`. The file of a subagent has none but those it is read with.
pub(crate) fn of_log(input: &Input, from: Written, head: &[u8]) -> Vec<Subagent> {
    if let Input::Record(record) = input {
        let subagents = record.subagents().into_iter();
        return subagents.map(|(of, record)| subagent(of, Input::Record(record))).collect();
    }
    match from {
        Written::Is(format) if format.is_store() && !begins_as_subagent(head) => beside(input, format),
        _ => Vec::new(),
    }
}

/// The files of the subagents of a session, in the order of their names: where `from` says that they lie. Files that do not say whose they
/// are are none of them.
pub(crate) fn beside(input: &Input, from: Format) -> Vec<Subagent> {
    let store = from.dialect.vendor().stores.iter().find(|store| store.mode == from.mode);
    let Some((store, folder)) = store.and_then(|store| Some((store, folder(store, input)?))) else {
        return Vec::new();
    };
    inside(store, &folder, input)
}

fn folder(store: &Store, input: &Input) -> Option<PathBuf> {
    // What stands in a pipe can be read once only.
    let path = input.path().filter(|path| path.is_file())?;
    let parent = path.parent()?.to_str()?;
    let parent = if parent.is_empty() { "." } else { parent };
    let name = if store.names_subagents() {
        session_of(Source::open(input, &Console::plain()).ok()?.head())?
    } else {
        input.plain_name().file_stem()?.to_str()?.to_owned()
    };
    store.subagents_of(parent, &name).map(PathBuf::from)
}

fn inside(store: &Store, folder: &Path, session: &Input) -> Vec<Subagent> {
    let entries = folder.read_dir();
    if let Err(error) = &entries
        && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        // It stands for those in it: read in their place, it fails, and that is told as it is of a file.
        let call = folder.display().to_string();
        return vec![subagent(Child { call, ..Child::default() }, Input::File(folder.to_owned()))];
    }
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let mut found = Vec::new();
    if store.names_subagents() {
        found = called(files.collect(), "", session);
    } else {
        let mut others = Vec::new();
        for path in files {
            match whose(&path) {
                Some(of) => found.push(subagent(of, Input::File(path))),
                None => others.push(path),
            }
        }
        found.extend(called(others, "agent-", session));
    }
    found.sort_by(|a, b| a.input.path().cmp(&b.input.path()));
    found
}

fn subagent(of: Child, input: Input) -> Subagent {
    let name = input.name().into();
    Subagent { of, input, name }
}

/// What stands beside a file.
fn whose(path: &Path) -> Option<Child> {
    let about = std::fs::read_to_string(path.with_extension("meta.json")).ok();
    about.as_deref().and_then(Child::read)
}

/// Those of the files whose calls the session's file has. They are called by their ids, behind `before`.
fn called(mut files: Vec<PathBuf>, before: &str, session: &Input) -> Vec<Subagent> {
    let mut found = Vec::new();
    if files.is_empty() {
        return found;
    }
    let Ok(source) = Source::open(session, &Console::plain()) else {
        return found;
    };
    let mut reader = BufReader::new(source.into_reader());
    let mut line = Vec::new();
    while !files.is_empty() && reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = std::str::from_utf8(&line).unwrap_or_default();
        files.retain(|path| {
            let id = path.file_stem().and_then(|id| id.to_str()?.strip_prefix(before));
            let id = id.filter(|id| text.contains(id));
            let of = id.and_then(|id| Child::called(text, id));
            let is_found = of.is_some();
            found.extend(of.map(|of| subagent(of, Input::File(path.clone()))));
            !is_found
        });
        line.clear();
    }
    found
}

/// Leaves out of what was found in folders what stands beside those files, which is no log; and, if they are `joined` to the session that
/// they belong to, the files themselves.
pub(crate) fn leave_to_their_sessions(inputs: &mut Vec<Input>, joined: bool) {
    if !inputs.iter().any(|input| matches!(input, Input::InFolder { .. })) {
        return;
    }
    let stores: Vec<&Store> = Dialect::ALL.iter().flat_map(|dialect| dialect.vendor().stores).collect();
    let mut folders = HashMap::new();
    for input in inputs.iter() {
        for store in &stores {
            if let Some(folder) = folder(store, input).filter(|folder| folder.is_dir()) {
                folders.insert(folder, (*store, input));
            }
        }
    }
    let mut left_out = HashSet::new();
    for subagent in folders.iter().flat_map(|(folder, (store, input))| inside(store, folder, input)) {
        let Some(path) = subagent.input.path() else { continue };
        left_out.insert(path.with_extension("meta.json"));
        if joined {
            left_out.insert(path.into_owned());
        }
    }
    inputs.retain(|input| !matches!(input, Input::InFolder { .. }) || !input.path().is_some_and(|path| left_out.contains(path.as_ref())));
}

/// A session's file, with those of its subagents where they belong.
#[derive(Debug)]
pub(crate) struct Family {
    /// Those that are still to come.
    waiting: Vec<Waiting>,
    /// The beginning of a line.
    line: Vec<u8>,
}

#[derive(Debug)]
struct Waiting {
    subagent: Subagent,
    /// The call's id, as lines have it.
    id: String,
    /// A line has named it: that of the call.
    called: bool,
    /// A line with its call has the result, too.
    at_once: bool,
}

/// What comes of it.
#[derive(Debug)]
pub(crate) enum Step<'s> {
    /// The next bytes.
    Bytes(&'s [u8]),
    /// From here on they are those of a subagent.
    Begin(&'s Subagent),
    /// It is over.
    End,
    /// Its file could not be read, or not to its end.
    Failed(Failure),
}

impl Family {
    /// Of a session with these subagents.
    pub(crate) fn new(subagents: Vec<Subagent>) -> Self {
        let waiting = subagents.into_iter().map(|subagent| Waiting {
            id: format!("\"{}\"", subagent.of.call),
            at_once: matches!(subagent.input, Input::Record(_)),
            subagent,
            called: false,
        });
        Self {
            waiting: waiting.collect(),
            line: Vec::new(),
        }
    }

    /// Whether nobody waits: then all bytes go on as they are.
    pub(crate) const fn is_complete(&self) -> bool {
        self.waiting.is_empty() && self.line.is_empty()
    }

    /// Takes the next piece of the session's file. A subagent's comes before the second line that names its call: that is the one with
    /// the result, or one shortly before it. Where one line has both, it comes behind that.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], to: &mut impl FnMut(Step<'_>)) {
        while let Some(at) = memchr::memchr(b'\n', bytes).filter(|_| !self.is_complete()) {
            let (line, rest) = bytes.split_at(at + 1);
            bytes = rest;
            if self.line.is_empty() {
                self.whole(line, to);
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                self.whole(&line, to);
            }
        }
        if self.is_complete() {
            to(Step::Bytes(bytes));
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// The session's file is over: subagents whose place has not come are read behind it.
    pub(crate) fn finish(mut self, to: &mut impl FnMut(Step<'_>)) {
        let line = std::mem::take(&mut self.line);
        self.whole(&line, to);
        while !self.waiting.is_empty() {
            let next = self.waiting.remove(0);
            self.read(&next.subagent, to);
        }
    }

    fn whole(&mut self, line: &[u8], to: &mut impl FnMut(Step<'_>)) {
        let mut at = 0;
        let mut behind = Vec::new();
        while let Some(next) = self.waiting.get_mut(at) {
            let is_named = memchr::memmem::find(line, next.id.as_bytes()).is_some();
            if is_named && next.at_once {
                behind.push(self.waiting.remove(at));
            } else if is_named && next.called {
                let next = self.waiting.remove(at);
                self.read(&next.subagent, to);
            } else {
                next.called |= is_named;
                at += 1;
            }
        }
        to(Step::Bytes(line));
        for next in behind {
            self.read(&next.subagent, to);
        }
    }

    /// Reads the file of a subagent, which may have others.
    fn read(&mut self, subagent: &Subagent, to: &mut impl FnMut(Step<'_>)) {
        let line = std::mem::take(&mut self.line);
        to(Step::Begin(subagent));
        if let Err(failure) = self.bytes_of(subagent, to) {
            to(Step::Failed(failure));
        }
        let last = std::mem::replace(&mut self.line, line);
        to(Step::Bytes(&last));
        to(Step::End);
    }

    fn bytes_of(&mut self, subagent: &Subagent, to: &mut impl FnMut(Step<'_>)) -> Result<(), Failure> {
        let source = Source::open(&subagent.input, &Console::plain())?;
        let mut reader = source.into_reader();
        let mut buffer = vec![0; READ];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.feed(&buffer[..read], to),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let name = subagent.name.to_string();
                    return Err(Failure::Read { name, error });
                }
            }
        }
    }
}
