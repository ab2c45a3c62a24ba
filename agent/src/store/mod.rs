//! Sessions on disk: what was said is appended to a transcript, a JSON line an entry, and can be gone on with.
//!
//! The lines are those of Claude Code, whose SDKs read them, and lie where the persona says ([`SessionFiles`]): for `claude` where those SDKs
//! look for them, for others in a folder of our own. A transcript is a tree: each entry names the one that it hangs from, and a
//! conversation is the way from its last entry to its first, or to the last compaction. The last line may be half a line (the process was
//! killed, the disk was full); it is cut off when the session is gone on with.
//!
//! ```no_run
//! # use agentglot_agent::store::{Ask, Round, Store, UserFacts, Writer};
//! # use agentglot_agent::model::message::Part;
//! # use agentglot_agent::persona;
//! # use agentglot_adapters::raw::codec::Dialect;
//! # use agentglot_adapters::raw::launch::Resume;
//! # fn main() -> Result<(), agentglot_agent::store::StoreError> {
//! # let cwd = std::path::Path::new("/workspace");
//! let store = Store::open(persona::of(Dialect::Claude).sessions, cwd, &|name| std::env::var_os(name));
//! let (mut transcript, history) = store.begin(&Ask::default(), Writer::new(cwd))?;
//! let prompt = transcript.append_user(&[Part::Text("hi".into())], &UserFacts::default());
//! let round = Round { message_id: "msg_1", model: "m", ..Round::default() };
//! let blocks = transcript.append_assistant(&[Part::Text("Hello.".into())], &round, &[]);
//! transcript.end_turn();
//! # Ok(()) }
//! ```

mod ask;
mod chain;
mod checkpoint;
mod dir;
mod entry;
mod facts;
mod found;
mod line;
mod list;
mod place;
mod scan;
mod shelf;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_going_on;
mod transcript;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use ask::{Ask, StoreError};
pub use chain::History;
pub use checkpoint::{Checkpoints, Rewound};
pub use facts::{ApiFailure, Compaction, Mirror, ResultFacts, Round, Subagent, Trouble, UserFacts, Writer};
pub use list::Summary;
pub use place::{Ids, own_root};
pub use shelf::{Listing, Root, Shelf};
pub use transcript::{Transcript, Writing};

use crate::redact::Secrets;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::ids;
use agentglot_adapters::raw::launch::Resume;
use chain::{Chain, Unfit, Upto};
use dir::Dir;
use found::{Found, lock};
use scan::Tail;
use transcript::Place;

/// The kind of line that holds what a persona keeps.
pub(crate) const STATE: &str = "agentglot-state";

/// The sessions of a dialect in a working folder.
#[derive(Clone, Debug)]
pub struct Store {
    files: &'static SessionFiles,
    /// The folder of all working folders' folders; `None` if there is no home.
    root: Option<PathBuf>,
    slug: String,
    secrets: Rc<Secrets>,
}

/// The folder that these variables of the environment name.
pub type FindRoot = fn(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf>;

/// How a vendor's sessions are kept.
#[derive(Debug)]
pub struct SessionFiles {
    /// Whose they are: the name in the first line of a transcript.
    pub dialect: Dialect,
    /// The folder that holds a folder for each working folder.
    pub root: FindRoot,
    /// What ids look like.
    pub ids: Ids,
    /// A session is found by its title too.
    pub have_titles: bool,
    /// The same by its number in the list, in which the oldest is 1.
    pub have_numbers: bool,
    /// The same by the path of its transcript.
    pub have_paths: bool,
    /// A session belongs to the working folder that it began in.
    pub have_folders: bool,
    /// Ids are given out before anything is said.
    pub given_out: bool,
    /// What is said of a new session's id that another one has.
    pub in_use: Option<fn(&str) -> String>,
    /// What is said of an id that is none.
    pub bad_id: Option<&'static str>,
    /// The flag by which a session is gone on with in a copy.
    pub copies: Option<&'static str>,
    /// With which the program ends when a session cannot be had.
    pub exit_code: u8,
    /// The variable by which the host asks for [`Checkpoints`].
    pub checkpoints: Option<&'static str>,
}

impl SessionFiles {
    /// As most vendors have them here.
    pub const fn of(dialect: Dialect) -> Self {
        Self {
            dialect,
            root: own_root,
            ids: Ids::Uuid,
            have_titles: false,
            have_numbers: false,
            have_paths: false,
            have_folders: true,
            given_out: false,
            in_use: None,
            bad_id: None,
            copies: None,
            exit_code: 1,
            checkpoints: None,
        }
    }

    /// A new session's id.
    pub fn new_id(&self) -> String {
        let id = transcript::uuid();
        match self.ids {
            Ids::Uuid => id,
            Ids::Short => ids::short(&id),
            Ids::Prefixed(prefix) => format!("{prefix}{}", &id.replace('-', "")[..place::DIGITS]),
        }
    }
}

impl Store {
    /// The sessions of this working folder, an absolute path without links. `env` gives the variables that say where they lie:
    /// a variable of the vendor's, or `AGENTGLOT_STATE_DIR`, `XDG_STATE_HOME` and `HOME`.
    pub fn open(files: &'static SessionFiles, cwd: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        Self {
            files,
            root: (files.root)(env),
            slug: place::slug(cwd),
            secrets: Rc::new(Secrets::ours().clone()),
        }
    }

    /// With these secrets, which are never written, instead of those in our variables.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Rc::new(secrets);
        self
    }

    /// The session that is asked for, and what was said in it if it is not new.
    ///
    /// A disk that takes nothing is no error: see [`Transcript::take_trouble`].
    ///
    /// # Errors
    /// When there is no such session, or it is in use.
    pub fn begin(&self, ask: &Ask, writer: Writer) -> Result<(Transcript, Option<History>), StoreError> {
        let writer = Rc::new(writer);
        let found = match &ask.which {
            Resume::New | Resume::Pick => None,
            // Where there is none, a new one.
            Resume::Latest => self.latest(),
            Resume::Session(wanted) => match self.find(wanted) {
                Some(found) => Some(found),
                // Such an id was given out before anything was said.
                None if self.files.given_out && ids::is_unused(wanted) => {
                    let transcript = self.create(Some(wanted), ask, writer)?;
                    return Ok((transcript, None));
                }
                None => return Err(StoreError::NotFound(wanted.clone())),
            },
        };
        match found {
            None => Ok((self.create(ask.id.as_deref(), ask, writer)?, None)),
            Some(found) => {
                let (transcript, history) = self.resume(found, ask, writer)?;
                Ok((transcript, Some(history)))
            }
        }
    }

    /// A new session. Without an id it gets one.
    fn create(&self, id: Option<&str>, ask: &Ask, writer: Rc<Writer>) -> Result<Transcript, StoreError> {
        let id = match id {
            Some(id) if !self.files.ids.fit(id) => return Err(StoreError::BadId(id.to_owned())),
            Some(id) => id.to_owned(),
            None => self.files.new_id(),
        };
        let made = if ask.keep { Some(self.make(&id, &writer)?) } else { None };
        let (place, trouble) = match made {
            Some(Ok(place)) => (Some(place), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let mut transcript = Transcript::new(id, place, writer, Rc::clone(&self.secrets));
        if let Some(error) = trouble {
            transcript.fail(&error);
        }
        if ask.mirror {
            transcript.mirror();
        }
        Ok(transcript)
    }

    /// The file of a new session, which is ours alone from now on. The inner error is the disk's.
    fn make(&self, id: &str, writer: &Writer) -> Result<io::Result<Place>, StoreError> {
        let home = match self.folder(true) {
            Ok(home) => Rc::new(home),
            Err(error) => return Ok(Err(error)),
        };
        let name = format!("{id}.jsonl");
        loop {
            let file = match home.append(&name, true) {
                Ok(file) => file,
                // A link, a pipe or a folder of this name is not ours.
                Err(error) if home.has(&name) && error.kind() != ErrorKind::PermissionDenied => return Err(StoreError::InUse(id.to_owned())),
                Err(error) => return Ok(Err(error)),
            };
            match lock(&file) {
                Ok(true) => {}
                Ok(false) => return Err(StoreError::InUse(id.to_owned())),
                Err(error) => return Ok(Err(error)),
            }
            // Whoever made it may have removed it again, before it was locked.
            if !home.holds(&name, &file) {
                continue;
            }
            return match file.metadata() {
                Ok(about) if about.len() > 0 => Err(StoreError::InUse(id.to_owned())),
                Ok(_) => Ok(Ok(Place {
                    path: home.path().join(&name),
                    home,
                    file,
                    fresh: Some(transcript::head(self.files.dialect.name(), id, writer)),
                    elsewhere: false,
                })),
                Err(error) => Ok(Err(error)),
            };
        }
    }

    fn resume(&self, found: Found, ask: &Ask, writer: Rc<Writer>) -> Result<(Transcript, History), StoreError> {
        let io = |error| StoreError::Io(found.id.clone(), error);
        let writes = ask.keep && !ask.fork;
        if writes && !lock(&found.file).map_err(io)? {
            return Err(StoreError::Busy(found.id));
        }
        let upto = Upto {
            at: ask.at.as_deref(),
            drops: ask.drops_turn.as_deref(),
        };
        let mut tail = Tail::read(&found.file, false).map_err(io)?;
        let read = match Chain::read(&tail, upto, false) {
            Err(Unfit::Cut) => {
                tail = Tail::read(&found.file, true).map_err(io)?;
                Chain::read(&tail, upto, false)
            }
            read => read,
        };
        let chain = read.map_err(|unfit| match unfit {
            Unfit::Empty | Unfit::Cut => StoreError::NotFound(found.id.clone()),
            Unfit::NoMessage => StoreError::NoMessage(ask.at.clone().unwrap_or_default()),
            Unfit::Drops(why) => StoreError::DropsMore(why),
        })?;
        let mut history = chain.history();
        history.session.clone_from(&found.id);
        if tail.torn > 0 {
            history
                .notes
                .push(format!("the transcript ended in half a line, of {} bytes: it is cut off", tail.torn));
        }
        let mut transcript = if writes {
            self.mend(&found.file, &tail).map_err(io)?;
            let place = Place {
                home: found.home,
                path: found.path,
                file: found.file,
                fresh: None,
                elsewhere: found.elsewhere,
            };
            Transcript::new(found.id, Some(place), writer, Rc::clone(&self.secrets))
        } else {
            // A session that is not kept goes by the id that was asked for, if it is no copy.
            let id = if ask.fork { ask.id.clone() } else { Some(found.id.clone()) };
            let mut copy = self.create(id.as_deref(), ask, writer)?;
            if ask.keep {
                let id = copy.id().to_owned();
                copy.put_all(chain.lines().into_iter().filter_map(|line| entry::forked(line, &id, &found.id)));
            }
            copy
        };
        if ask.mirror {
            transcript.mirror();
        }
        transcript.leaf.clone_from(&history.leaf);
        Ok((transcript, history))
    }

    /// Leaves a transcript with a whole last line.
    fn mend(&self, file: &File, tail: &Tail) -> io::Result<()> {
        if tail.torn > 0 {
            file.set_len(file.metadata()?.len() - tail.torn as u64)?;
        } else if tail.unended {
            (&*file).write_all(b"\n")?;
        }
        Ok(())
    }

    /// The ids of the sessions of this folder, the one that was written last first; where they have numbers, the one that began last.
    pub fn ids(&self) -> Vec<String> {
        let mut all = self.all().unwrap_or_default();
        if self.files.have_numbers {
            all.sort_by_cached_key(|found| std::cmp::Reverse(list::began(&found.file)));
        }
        all.into_iter().map(|found| found.id).collect()
    }

    /// The folder of this working folder.
    fn folder(&self, create: bool) -> io::Result<Dir> {
        let Some(root) = &self.root else {
            return Err(io::Error::new(ErrorKind::NotFound, "there is no home for sessions: HOME is not set"));
        };
        let root = Dir::root(root, create)?;
        match root.sub(&self.slug, false) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Of long paths, other programs hash the rest in another way.
                if let Some(stem) = place::stem(&self.slug)
                    && let Some((name, _)) = root.names()?.into_iter().find(|(name, folder)| *folder && name.starts_with(stem))
                {
                    return root.sub(&name, false);
                }
                root.sub(&self.slug, create)
            }
            found => found,
        }
    }

    /// The session that somebody means by an id, a title or a file.
    fn find(&self, wanted: &str) -> Option<Found> {
        if self.files.ids.fit(wanted) {
            return self.by_id(wanted);
        }
        if let Ok(number) = wanted.parse::<usize>()
            && self.files.have_numbers
        {
            return self.by_id(self.ids().iter().rev().nth(number.checked_sub(1)?)?);
        }
        if self.files.have_paths && wanted.ends_with(".jsonl") && wanted.contains('/') {
            return self.by_file(Path::new(wanted));
        }
        let titled = |found: &Found| list::title(&found.file).is_some_and(|title| title == wanted);
        let named = !wanted.is_empty() && self.files.have_titles;
        self.all().filter(|_| named)?.into_iter().find(titled)
    }

    fn by_id(&self, id: &str) -> Option<Found> {
        // Ids are as good in capitals, but files are not.
        let id = id.to_ascii_lowercase();
        let here = self.folder(false).ok().and_then(|home| Found::open(home, &id));
        if here.is_some() || self.files.have_folders {
            return here.filter(|found| self.is_ours(found));
        }
        let root = Dir::root(self.root.as_deref()?, false).ok()?;
        let folders = root.names().ok()?.into_iter().filter(|(_, folder)| *folder);
        folders
            .filter_map(|(name, _)| Found::open(root.sub(&name, false).ok()?, &id))
            .find(|found| self.is_ours(found))
    }

    fn by_file(&self, path: &Path) -> Option<Found> {
        let path = std::path::absolute(path).ok()?;
        let home = Dir::root(path.parent()?, false).ok()?;
        let name = path.file_name()?.to_str()?;
        let file = home.append(name, false).or_else(|_| home.read(name)).ok()?;
        let stem = name.strip_suffix(".jsonl")?;
        let id = if place::is_uuid(stem) {
            stem.to_owned()
        } else {
            let tail = Tail::read(&file, false).ok()?;
            let chain = Chain::read(&tail, Upto::default(), false).ok()?;
            chain
                .session()
                .filter(|id| place::is_uuid(id))
                .map_or_else(transcript::uuid, str::to_owned)
        };
        let real = |path: &Path| path.canonicalize().ok();
        let root = self.root.as_deref().and_then(real);
        let lies = path.parent().and_then(real);
        Some(Found {
            id,
            home: Rc::new(home),
            elsewhere: !lies.zip(root).is_some_and(|(lies, root)| lies.starts_with(root)),
            path,
            file,
        })
    }

    fn latest(&self) -> Option<Found> {
        let fits = |found: &Found| {
            let tail = Tail::read(&found.file, false).ok()?;
            match Chain::read(&tail, Upto::default(), false) {
                Ok(_) | Err(Unfit::Cut) => Some(()),
                Err(_) => None,
            }
        };
        self.all()?.into_iter().find(|found| fits(found).is_some())
    }

    /// The sessions of this folder, the one that was written last first.
    fn all(&self) -> Option<Vec<Found>> {
        let home = self.folder(false).ok()?;
        let home = Rc::new(home);
        let mut all: Vec<(std::time::SystemTime, Found)> = Vec::new();
        for (name, folder) in home.names().ok()? {
            let id = name.strip_suffix(".jsonl").filter(|id| !folder && self.files.ids.fit(id));
            let Some(found) = id.and_then(|id| Found::open_in(&home, id)) else {
                continue;
            };
            let Ok(written) = found.file.metadata().and_then(|about| about.modified()) else {
                continue;
            };
            if self.is_ours(&found) {
                all.push((written, found));
            }
        }
        all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
        Some(all.into_iter().map(|(_, found)| found).collect())
    }

    /// Sessions of several dialects may lie side by side; those of the vendor's own program do not say whose they are.
    fn is_ours(&self, found: &Found) -> bool {
        list::dialect(&found.file).is_none_or(|name| name == self.files.dialect.name())
    }
}
