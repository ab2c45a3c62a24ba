//! The files of subagents, which lie beside that of their session.

use std::collections::HashSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentglot_adapters::raw::codec::{Dialect, Format};
use agentglot_adapters::raw::store::{Child, Store};

use crate::io::{Console, Input, READ, Source};
use crate::status::Failure;

/// The file of a subagent.
#[derive(Clone, Debug)]
pub(crate) struct Subagent {
    /// Whose it is.
    pub(crate) of: Child,
    pub(crate) path: PathBuf,
    /// What it is called in messages and in the ledger.
    pub(crate) name: Arc<str>,
}

/// The files of the subagents of a session, in the order of their names: where `from` says that they lie. Files that do not say whose they
/// are are none of them.
pub(crate) fn beside(input: &Input, from: Format) -> Vec<Subagent> {
    let store = from.dialect.vendor().stores.iter().find(|store| store.mode == from.mode);
    store
        .and_then(|store| folder(store, input))
        .map_or_else(Vec::new, |folder| inside(&folder))
}

fn folder(store: &Store, input: &Input) -> Option<PathBuf> {
    let path = input.path()?;
    let parent = path.parent()?.to_str()?;
    let name = input.plain_name();
    let parent = if parent.is_empty() { "." } else { parent };
    store.subagents_of(parent, name.file_stem()?.to_str()?).map(PathBuf::from)
}

fn inside(folder: &Path) -> Vec<Subagent> {
    let mut found: Vec<_> = folder
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| whose(&entry.path()))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A file with what stands beside it.
fn whose(path: &Path) -> Option<Subagent> {
    if path.extension()? != "jsonl" {
        return None;
    }
    let of = std::fs::read_to_string(path.with_extension("meta.json"))
        .ok()
        .as_deref()
        .and_then(Child::read)?;
    let name = path.display().to_string().into();
    Some(Subagent {
        of,
        path: path.to_owned(),
        name,
    })
}

/// Leaves out of what was found in folders what stands beside those files, which is no log; and, if they are `joined` to the session that
/// they belong to, the files themselves.
pub(crate) fn leave_to_their_sessions(inputs: &mut Vec<Input>, joined: bool) {
    let stores: Vec<&Store> = Dialect::ALL.iter().flat_map(|dialect| dialect.vendor().stores).collect();
    let folders: HashSet<PathBuf> = inputs
        .iter()
        .flat_map(|input| stores.iter().filter_map(|store| folder(store, input)))
        .filter(|folder| folder.is_dir())
        .collect();
    let mut left_out = HashSet::new();
    for subagent in folders.iter().flat_map(|folder| inside(folder)) {
        left_out.insert(subagent.path.with_extension("meta.json"));
        if joined {
            left_out.insert(subagent.path);
        }
    }
    inputs.retain(|input| !matches!(input, Input::InFolder { .. }) || !input.path().is_some_and(|path| left_out.contains(path.as_ref())));
}

/// A session's file, with those of its subagents where they belong.
#[derive(Debug)]
pub(super) struct Family<'l> {
    /// Those that are still to come.
    waiting: Vec<Waiting<'l>>,
    /// The beginning of a line.
    line: Vec<u8>,
}

#[derive(Debug)]
struct Waiting<'l> {
    subagent: &'l Subagent,
    /// The call's id, as lines have it.
    id: String,
    /// A line has named it: that of the call.
    called: bool,
}

/// What comes of it.
#[derive(Debug)]
pub(super) enum Step<'s> {
    /// The next bytes.
    Bytes(&'s [u8]),
    /// From here on they are those of a subagent.
    Begin(&'s Subagent),
    /// It is over.
    End,
    /// Its file could not be read, or not to its end.
    Failed(Failure),
}

impl<'l> Family<'l> {
    pub(super) fn new(subagents: &'l [Subagent]) -> Self {
        let waiting = subagents.iter().map(|subagent| Waiting {
            subagent,
            id: format!("\"{}\"", subagent.of.call),
            called: false,
        });
        Self {
            waiting: waiting.collect(),
            line: Vec::new(),
        }
    }

    /// Whether nobody waits: then all bytes go on as they are.
    pub(super) const fn is_complete(&self) -> bool {
        self.waiting.is_empty() && self.line.is_empty()
    }

    /// Takes the next piece of the session's file. A subagent's comes before the second line that names its call: that is the one with
    /// the result, or one shortly before it.
    pub(super) fn feed(&mut self, mut bytes: &[u8], to: &mut impl FnMut(Step<'_>)) {
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
    pub(super) fn finish(mut self, to: &mut impl FnMut(Step<'_>)) {
        let line = std::mem::take(&mut self.line);
        self.whole(&line, to);
        while !self.waiting.is_empty() {
            let next = self.waiting.remove(0);
            self.read(next.subagent, to);
        }
    }

    fn whole(&mut self, line: &[u8], to: &mut impl FnMut(Step<'_>)) {
        let mut at = 0;
        while let Some(next) = self.waiting.get_mut(at) {
            let is_named = memchr::memmem::find(line, next.id.as_bytes()).is_some();
            if is_named && next.called {
                let next = self.waiting.remove(at);
                self.read(next.subagent, to);
            } else {
                next.called |= is_named;
                at += 1;
            }
        }
        to(Step::Bytes(line));
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
        let source = Source::open(&Input::File(subagent.path.clone()), &Console::plain())?;
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
