//! Which logs say a word. New words are held in memory, up to a bound; then they go to a file of their own, sorted, and of many such files
//! one is made. A look-up reads a few blocks of each file.

mod sorted;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::sorted::{Rows, Sorted, Writer};

/// A log, as it was when it was read. One that is read again gets another number.
pub(super) type Doc = u32;

/// Longer words are known by their beginning.
const LONGEST: usize = 40;
/// What is longer is no word, but a picture or a key.
const NO_WORD: usize = 200;
/// So many bytes of words are held in memory, about.
const HELD: usize = 64 << 20;
/// Of so many files one is made.
const FILES: usize = 12;

/// Which logs say a word.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Where files are kept; without it, they have no names.
    folder: Option<PathBuf>,
    state: Mutex<State>,
    /// One at a time writes files.
    writing: Mutex<()>,
}

/// The logs that say each word.
type Held = HashMap<Box<str>, Vec<Doc>>;

#[derive(Debug, Default)]
struct State {
    held: Held,
    weight: usize,
    /// What is being written to a file, and is found here until that is there.
    leaving: Arc<Held>,
    files: Vec<Arc<Sorted>>,
    next: Doc,
    next_file: u64,
}

/// What [`Words`] need to be there again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Saved {
    next: Doc,
    files: Vec<u64>,
}

impl Words {
    /// None yet.
    pub(super) fn empty(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// None, or those that were saved in a folder. `None`: they are damaged.
    pub(super) fn open(folder: Option<PathBuf>, saved: &Saved) -> Option<Self> {
        let mut state = State {
            next: saved.next,
            next_file: saved.files.iter().max().map_or(0, |last| last + 1),
            ..State::default()
        };
        if let Some(folder) = &folder {
            for name in &saved.files {
                state
                    .files
                    .push(Arc::new(Sorted::open(File::open(folder.join(format!("words-{name}"))).ok()?, *name)?));
            }
        }
        Some(Self {
            folder,
            state: Mutex::new(state),
            writing: Mutex::default(),
        })
    }

    /// A log that is about to be read.
    pub(super) fn new_doc(&self) -> Doc {
        let mut state = self.state();
        state.next += 1;
        state.next
    }

    /// A log says these words.
    pub(super) fn add(&self, doc: Doc, words: &HashSet<Box<str>>) -> io::Result<()> {
        let is_full = {
            let mut state = self.state();
            for word in words {
                // A word, its list, and their place in the table.
                state.weight += 4;
                if let Some(docs) = state.held.get_mut(word) {
                    docs.push(doc);
                } else {
                    state.weight += word.len() + 80;
                    state.held.insert(word.clone(), vec![doc]);
                }
            }
            state.weight > HELD
        };
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Everything that is held goes to a file.
    pub(super) fn flush(&self) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let leaving = {
            let mut state = self.state();
            // What could not be written before is written now.
            for (word, docs) in std::mem::take(&mut state.leaving).iter() {
                state.held.entry(word.clone()).or_default().extend(docs);
            }
            state.weight = 0;
            state.leaving = Arc::new(std::mem::take(&mut state.held));
            Arc::clone(&state.leaving)
        };
        if leaving.is_empty() {
            return Ok(());
        }
        let mut words: Vec<(&Box<str>, &Vec<Doc>)> = leaving.iter().collect();
        words.sort_unstable();
        let mut writer = self.begin()?;
        for (word, docs) in words {
            let mut docs = docs.clone();
            docs.sort_unstable();
            docs.dedup();
            writer.put(word, &docs)?;
        }
        let file = Arc::new(writer.end()?);
        let mut state = self.state();
        state.files.push(file);
        state.leaving = Arc::default();
        Ok(())
    }

    /// Makes one file of many, without the logs that are not there any more; gives what must be saved.
    pub(super) fn settle(&self, is_there: &dyn Fn(Doc) -> bool) -> io::Result<Saved> {
        self.flush()?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files = self.state().files.clone();
        if files.len() > FILES {
            files.sort_by_key(|file| std::cmp::Reverse(file.size()));
            // A large one is not written anew for the sake of some small ones.
            let small: u64 = files[1..].iter().map(|file| file.size()).sum();
            let stays = usize::from(files[0].size() / 4 > small);
            let merged = Arc::new(self.merged(&files[stays..], is_there)?);
            files.truncate(stays);
            files.push(merged);
            self.state().files = files;
        }
        let state = self.state();
        Ok(Saved {
            next: state.next,
            files: state.files.iter().map(|file| file.name).collect(),
        })
    }

    /// Files that nobody needs, once something was saved, are removed.
    pub(super) fn sweep(&self, saved: &Saved) {
        let Some(Ok(entries)) = self.folder.as_ref().map(std::fs::read_dir) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("words-")?.parse().ok());
            if number.is_some_and(|number: u64| !saved.files.contains(&number)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// The logs that say all words of a text, the last of them perhaps not to its end. `None`: no word is in it.
    pub(super) fn find(&self, text: &str) -> io::Result<Option<HashSet<Doc>>> {
        let mut wanted = Vec::new();
        words(text, &mut |word| wanted.push(word.to_owned()));
        let Some(last) = wanted.pop() else { return Ok(None) };
        let is_begun = text.ends_with(|c: char| c.is_alphanumeric()) && last.chars().count() > 1;
        let mut found = self.docs(&last, is_begun)?;
        for word in wanted {
            let docs = self.docs(&word, false)?;
            found.retain(|doc| docs.contains(doc));
        }
        Ok(Some(found))
    }

    fn docs(&self, word: &str, begins: bool) -> io::Result<HashSet<Doc>> {
        let mut docs = HashSet::new();
        let files = {
            let state = self.state();
            for held in [&state.held, &state.leaving] {
                if begins {
                    let fitting = held.iter().filter(|(known, _)| known.starts_with(word));
                    docs.extend(fitting.flat_map(|(_, docs)| docs));
                } else if let Some(known) = held.get(word) {
                    docs.extend(known);
                }
            }
            state.files.clone()
        };
        for file in files {
            file.find(word, begins, &mut docs)?;
        }
        Ok(docs)
    }

    fn merged(&self, files: &[Arc<Sorted>], is_there: &dyn Fn(Doc) -> bool) -> io::Result<Sorted> {
        let mut rows: Vec<Rows<'_>> = files.iter().map(|file| Rows::of(file)).collect();
        // The next word of each file.
        let mut next: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter_mut().enumerate() {
            if let Some(word) = row.next()? {
                next.entry(word).or_default().push(at);
            }
        }
        let mut writer = self.begin()?;
        while let Some((word, from)) = next.pop_first() {
            let mut docs = Vec::new();
            for at in from {
                docs.append(&mut rows[at].docs);
                if let Some(word) = rows[at].next()? {
                    next.entry(word).or_default().push(at);
                }
            }
            docs.retain(|doc| is_there(*doc));
            docs.sort_unstable();
            docs.dedup();
            if !docs.is_empty() {
                writer.put(&word, &docs)?;
            }
        }
        writer.end()
    }

    fn begin(&self) -> io::Result<Writer> {
        let name = {
            let mut state = self.state();
            state.next_file += 1;
            state.next_file
        };
        let file = match &self.folder {
            Some(folder) => File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(folder.join(format!("words-{name}")))?,
            None => tempfile::tempfile()?,
        };
        Writer::begin(file, name)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the words of a text, in small letters: letters and digits that stand together. Each sign of a writing without spaces is a word.
pub(super) fn words(text: &str, tell: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut len = 0;
    let mut end = |word: &mut String, len: &mut usize| {
        if *len > 0 && *len <= NO_WORD {
            tell(word);
        }
        word.clear();
        *len = 0;
    };
    for c in text.chars() {
        if c.is_ascii() {
            if c.is_ascii_alphanumeric() {
                len += 1;
                if len <= LONGEST {
                    word.push(c.to_ascii_lowercase());
                }
            } else {
                end(&mut word, &mut len);
            }
        } else if is_sign(c) {
            end(&mut word, &mut len);
            word.push(c);
            len = 1;
            end(&mut word, &mut len);
        } else if c.is_alphanumeric() {
            len += 1;
            if len <= LONGEST {
                word.extend(c.to_lowercase());
            }
        } else {
            end(&mut word, &mut len);
        }
    }
    end(&mut word, &mut len);
}

const fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
