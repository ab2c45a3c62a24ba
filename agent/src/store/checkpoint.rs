//! What files were before the session's tools changed them, so that they can be put back to where they stood at a prompt.
//!
//! A journal notes each prompt, and for each file that is changed behind it what it was before the first change; the contents lie beside
//! it, each under its hash. A file's state at a prompt is what it was before the first change behind it. Putting files back is a change
//! like others, so that it can be undone by going to a later prompt.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentglot_process::leftover;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::SessionFiles;
use super::dir::Dir;

/// A larger file is not kept.
const LARGEST: u64 = 64 << 20;

/// So many bytes are kept in all.
const MOST: u64 = 1 << 30;

/// So many files of a folder are kept that is changed as a whole.
const FILES: usize = 2000;

/// How long the lines of two contents are compared.
const COMPARING: Duration = Duration::from_millis(300);

const JOURNAL: &str = "journal.jsonl";

/// The states of files at the prompts of a session.
#[derive(Debug, Default)]
pub struct Checkpoints {
    folder: Option<Dir>,
    /// Where they lie when the session is not kept.
    _temp: Option<leftover::Folder>,
    journal: Option<File>,
    lines: Vec<Line>,
    /// What was noted behind the last prompt.
    noted: HashSet<PathBuf>,
    bytes: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Line {
    Prompt { message: String },
    File { path: PathBuf, was: Was },
}

/// What a file was.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Was {
    /// There was none.
    Missing,
    /// This content, and these rights.
    Content { sha256: String, mode: u32 },
    /// It is not known, for this reason.
    Unknown(String),
    /// A link or something else that is no file.
    Special,
}

/// What putting files back did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewound {
    /// It can be done.
    pub can_rewind: bool,
    /// Why it cannot, or which files could not be put back.
    pub error: Option<String>,
    /// The files that change.
    pub files_changed: Vec<String>,
    /// Lines that come back.
    pub insertions: u64,
    /// Lines that go.
    pub deletions: u64,
    /// Files that are left alone because a link stands in their place.
    pub skipped_links: u64,
    /// It was only looked at what would be done.
    pub dry_run: bool,
}

impl Rewound {
    /// It cannot be done at all: file checkpoints are off.
    pub fn off() -> Self {
        Self::cannot("File rewinding is not enabled.")
    }

    fn cannot(why: impl Into<String>) -> Self {
        Self {
            error: Some(why.into()),
            ..Self::default()
        }
    }

    /// The answer to `rewind_files`: the figures only where nothing was changed, as Claude Code gives it.
    pub fn answer(&self) -> Value {
        let mut answer = Map::new();
        answer.insert("canRewind".to_owned(), json!(self.can_rewind));
        if let Some(error) = &self.error {
            answer.insert("error".to_owned(), json!(error));
        }
        if self.can_rewind && self.dry_run {
            answer.insert("filesChanged".to_owned(), json!(self.files_changed));
            answer.insert("insertions".to_owned(), json!(self.insertions));
            answer.insert("deletions".to_owned(), json!(self.deletions));
        } else if self.can_rewind {
            answer.insert("skippedLinks".to_owned(), json!(self.skipped_links));
        }
        Value::Object(answer)
    }
}

impl Checkpoints {
    /// Whether the host wants them: it says so by a variable.
    pub fn wanted(files: &SessionFiles, env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> bool {
        let value = files.checkpoints.and_then(env);
        value.is_some_and(|value| value == "true" || value == "1")
    }

    /// Those of this folder; without one they last as long as the process.
    pub(super) fn open(folder: Option<Dir>) -> Self {
        let temp = if folder.is_none() { leftover::Folder::new().ok() } else { None };
        let folder = folder.or_else(|| Dir::root(temp.as_ref()?.path(), false).ok());
        let journal = folder.as_ref().and_then(|folder| folder.append(JOURNAL, true).ok());
        let mut text = String::new();
        if let Some(mut journal) = journal.as_ref() {
            let _ = journal.read_to_string(&mut text);
            // A line that was cut off would be the beginning of the next one.
            if !text.is_empty() && !text.ends_with('\n') {
                let _ = journal.write_all(b"\n");
            }
        }
        let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let mut noted = HashSet::new();
        for line in &lines {
            match line {
                Line::Prompt { .. } => noted.clear(),
                Line::File { path, .. } => {
                    noted.insert(path.clone());
                }
            }
        }
        Self {
            folder,
            _temp: temp,
            journal,
            lines,
            noted,
            bytes: 0,
        }
    }

    /// A prompt begins; files can be put back to where they stand now.
    pub fn mark(&mut self, message: &str) {
        self.noted.clear();
        self.note(Line::Prompt { message: message.to_owned() });
    }

    /// A file or a folder is going to be changed, made or removed. The path is absolute. Never fails: what cannot be kept cannot be put
    /// back, and that is said then.
    pub fn before_change(&mut self, path: &Path) {
        let Some(path) = settled(path) else { return };
        if std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
            for file in ignore::WalkBuilder::new(&path)
                .standard_filters(false)
                .follow_links(false)
                .build()
                .take(FILES)
                .flatten()
            {
                if file.file_type().is_some_and(|kind| !kind.is_dir()) {
                    self.note_file(file.into_path());
                }
            }
        } else {
            self.note_file(path);
        }
    }

    fn note_file(&mut self, path: PathBuf) {
        if self.noted.insert(path.clone()) {
            let was = self.keep(&path);
            self.note(Line::File { path, was });
        }
    }

    /// Keeps what a file is now.
    fn keep(&mut self, path: &Path) -> Was {
        let found = match now(path) {
            Ok(Now::Missing | Now::Folder) => return Was::Missing,
            Ok(Now::Special) => return Was::Special,
            Ok(Now::File(file, about)) => read(file, &about).map(|bytes| (bytes, about.permissions().mode())),
            Err(error) => Err(error),
        };
        let kept = found.and_then(|(bytes, mode)| {
            let sha256 = hash(&bytes);
            let folder = self.folder.as_ref().ok_or_else(|| io::Error::other("there is no room for checkpoints"))?;
            if !folder.has(&sha256) {
                if self.bytes + bytes.len() as u64 > MOST {
                    return Err(io::Error::other("too much is kept already"));
                }
                folder.replace(&sha256, &bytes, 0o600)?;
                self.bytes += bytes.len() as u64;
            }
            Ok(Was::Content { sha256, mode })
        });
        kept.unwrap_or_else(|error| Was::Unknown(error.to_string()))
    }

    fn note(&mut self, line: Line) {
        if let (Some(journal), Ok(mut text)) = (&mut self.journal, serde_json::to_string(&line)) {
            text.push('\n');
            // What the disk does not take is there as long as the process.
            let _ = journal.write_all(text.as_bytes());
        }
        self.lines.push(line);
    }

    /// Puts the files back to where they stood at a prompt.
    pub fn rewind(&mut self, message: &str, dry_run: bool) -> Rewound {
        let at = self
            .lines
            .iter()
            .rposition(|line| matches!(line, Line::Prompt { message: known } if known == message));
        let Some(at) = at else {
            return Rewound::cannot("No file checkpoint found for this message.");
        };
        let mut states: BTreeMap<PathBuf, Was> = BTreeMap::new();
        for line in &self.lines[at..] {
            if let Line::File { path, was } = line {
                states.entry(path.clone()).or_insert_with(|| was.clone());
            }
        }
        let mut rewound = Rewound {
            can_rewind: true,
            dry_run,
            ..Rewound::default()
        };
        let mut failed = Vec::new();
        // What lies deeper goes first: a folder can only be removed when it is empty.
        for (path, was) in states.into_iter().rev() {
            match self.put_back(&path, &was, dry_run) {
                Ok(None) => {}
                Ok(Some(Changed::Skipped)) => rewound.skipped_links += 1,
                Ok(Some(Changed::Lines(insertions, deletions))) => {
                    rewound.insertions += insertions;
                    rewound.deletions += deletions;
                    rewound.files_changed.push(path.display().to_string());
                }
                Err(error) => failed.push(format!("{}: {error}", path.display())),
            }
        }
        rewound.files_changed.reverse();
        if !failed.is_empty() {
            let why = format!("Failed to rewind: {}", failed.join("; "));
            if rewound.files_changed.is_empty() {
                return Rewound::cannot(why);
            }
            rewound.error = Some(why);
        }
        rewound
    }

    fn put_back(&mut self, path: &Path, was: &Was, dry_run: bool) -> io::Result<Option<Changed>> {
        let Some((parent, name)) = path.parent().zip(path.file_name().and_then(|name| name.to_str())) else {
            return Ok(None);
        };
        if parent.canonicalize().is_ok_and(|real| real != parent) {
            return Ok(Some(Changed::Skipped));
        }
        let now = match now(path)? {
            Now::Special => return Ok((*was != Was::Special).then_some(Changed::Skipped)),
            Now::File(_, about) if about.nlink() > 1 => return Ok(Some(Changed::Skipped)),
            Now::File(file, about) => Some((read(file, &about)?, about.permissions().mode())),
            Now::Missing => None,
            Now::Folder => {
                if *was == Was::Missing && !dry_run {
                    // A folder in which something was put by others stays.
                    let _ = Dir::root(parent, false)?.remove_empty(name);
                }
                return Ok(None);
            }
        };
        let then = match was {
            Was::Special => return Ok(Some(Changed::Skipped)),
            Was::Unknown(why) => return Err(io::Error::other(format!("what it was is not known: {why}"))),
            Was::Missing => None,
            Was::Content { sha256, mode } => Some((self.kept(sha256)?, *mode)),
        };
        if now == then {
            return Ok(None);
        }
        let lines = compared(
            now.as_ref().map_or(&[], |(bytes, _)| bytes),
            then.as_ref().map_or(&[], |(bytes, _)| bytes),
        );
        if !dry_run {
            self.note_file(path.to_owned());
            match then {
                None => Dir::root(parent, false)?.remove(name)?,
                Some((bytes, mode)) => {
                    std::fs::create_dir_all(parent)?;
                    if parent.canonicalize()? != parent {
                        return Ok(Some(Changed::Skipped));
                    }
                    Dir::root(parent, false)?.replace(name, &bytes, mode)?;
                }
            }
        }
        Ok(Some(Changed::Lines(lines.0, lines.1)))
    }

    fn kept(&self, sha256: &str) -> io::Result<Vec<u8>> {
        let folder = self.folder.as_ref().ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        let mut bytes = Vec::new();
        folder.read(sha256)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if hash(&bytes) == sha256 {
            Ok(bytes)
        } else {
            Err(io::Error::other("what was kept of it is damaged"))
        }
    }
}

enum Changed {
    /// Lines that come, lines that go.
    Lines(u64, u64),
    /// A link stands there.
    Skipped,
}

/// What there is at a path.
enum Now {
    Missing,
    File(File, Metadata),
    Folder,
    /// A link, a pipe …
    Special,
}

fn now(path: &Path) -> io::Result<Now> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    match OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path) {
        Ok(file) => {
            let about = file.metadata()?;
            Ok(if about.is_file() {
                Now::File(file, about)
            } else if about.is_dir() {
                Now::Folder
            } else {
                Now::Special
            })
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Now::Missing),
        Err(error) => match std::fs::symlink_metadata(path) {
            Ok(about) if !about.is_file() => Ok(Now::Special),
            _ => Err(error),
        },
    }
}

fn read(file: File, about: &Metadata) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if about.len() <= LARGEST {
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    }
    if about.len() > LARGEST || bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    Ok(bytes)
}

/// A path whose folder is free of links: the file itself may be one.
fn settled(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let mut missing = vec![name.to_owned()];
    let mut parent = path.parent()?;
    loop {
        if let Ok(real) = parent.canonicalize() {
            let rest: PathBuf = missing.iter().rev().collect();
            return Some(real.join(rest));
        }
        missing.push(parent.file_name()?.to_owned());
        parent = parent.parent()?;
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many lines come and how many go.
fn compared(old: &[u8], new: &[u8]) -> (u64, u64) {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = similar::TextDiff::configure().timeout(COMPARING).diff_lines(&*old, &*new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
    (count(similar::ChangeTag::Insert), count(similar::ChangeTag::Delete))
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;
