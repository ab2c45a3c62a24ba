//! Which logs say a word. New words are held in memory, up to a bound; then they go to a file of their own, sorted, and of many such files
//! one is made. A look-up reads a few blocks of each file.
//!
//! A file is a row of blocks, the first word of each block with its place, and where these begin. In a block stands word after word: how
//! much it has in common with the one before, the rest of it, and the numbers of its logs as differences. All numbers are LEB128.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentglot_adapters::raw::ids::{FNV_SEED, fnv};

/// A log, as it was when it was read. One that is read again gets another number.
pub(super) type Doc = u32;

/// Longer words are known by their beginning.
const LONGEST: usize = 40;
/// What is longer is no word, but a picture or a key.
const NO_WORD: usize = 200;
/// So many bytes of words are held in memory, about.
const HELD: usize = 64 << 20;
/// A block is about so long.
const BLOCK: usize = 16 << 10;
/// Of so many files one is made.
const FILES: usize = 12;
const MAGIC: &[u8; 16] = b"agentglot words1";

/// Which logs say a word.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Where files are kept; without it, they have no names.
    folder: Option<PathBuf>,
    state: Mutex<State>,
    /// One at a time writes files.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    held: HashMap<Box<str>, Vec<Doc>>,
    weight: usize,
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
        let held = {
            let mut state = self.state();
            state.weight = 0;
            std::mem::take(&mut state.held)
        };
        if held.is_empty() {
            return Ok(());
        }
        let mut held: Vec<(Box<str>, Vec<Doc>)> = held.into_iter().collect();
        held.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut writer = self.begin()?;
        for (word, mut docs) in held {
            docs.sort_unstable();
            docs.dedup();
            writer.put(&word, &docs)?;
        }
        let file = Arc::new(writer.end()?);
        self.state().files.push(file);
        Ok(())
    }

    /// Makes one file of many, without the logs that are not there any more; gives what must be saved.
    pub(super) fn settle(&self, is_there: &dyn Fn(Doc) -> bool) -> io::Result<Saved> {
        self.flush()?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let files = self.state().files.clone();
        if files.len() > FILES {
            let merged = Arc::new(self.merged(&files, is_there)?);
            self.state().files = vec![merged];
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
            if begins {
                let fitting = state.held.iter().filter(|(known, _)| known.starts_with(word));
                docs.extend(fitting.flat_map(|(_, docs)| docs));
            } else if let Some(known) = state.held.get(word) {
                docs.extend(known);
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
        let mut writer = Writer {
            name,
            out: BufWriter::with_capacity(256 << 10, file),
            at: 0,
            block: Vec::new(),
            first: String::new(),
            last: String::new(),
            blocks: Vec::new(),
        };
        writer.out.write_all(MAGIC)?;
        writer.at = MAGIC.len() as u64;
        Ok(writer)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Words, sorted, in a file.
#[derive(Debug)]
struct Sorted {
    name: u64,
    file: Mutex<File>,
    blocks: Vec<Block>,
}

/// Where a block is, and with which word it begins.
#[derive(Clone, Debug)]
struct Block {
    first: String,
    at: u64,
    len: usize,
}

impl Sorted {
    /// `None`: it is damaged.
    fn open(mut file: File, name: u64) -> Option<Self> {
        let len = file.metadata().ok()?.len();
        let mut magic = [0; 16];
        file.read_exact(&mut magic).ok()?;
        let mut foot = [0; 16];
        file.seek(SeekFrom::Start(len.checked_sub(16)?)).ok()?;
        file.read_exact(&mut foot).ok()?;
        let (at, sum) = foot.split_at(8);
        let at = u64::from_le_bytes(at.try_into().ok()?);
        let mut index = vec![0; usize::try_from(len.checked_sub(16)?.checked_sub(at)?).ok()?];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut index).ok()?;
        if magic != *MAGIC || fnv(&index, FNV_SEED).to_le_bytes() != sum {
            return None;
        }
        let mut rest = &index[..];
        let mut blocks = Vec::new();
        while !rest.is_empty() {
            let first = take(&mut rest)?;
            let (first, behind) = rest.split_at_checked(usize::try_from(first).ok()?)?;
            rest = behind;
            blocks.push(Block {
                first: std::str::from_utf8(first).ok()?.to_owned(),
                at: take(&mut rest)?,
                len: usize::try_from(take(&mut rest)?).ok()?,
            });
        }
        Some(Self {
            name,
            file: Mutex::new(file),
            blocks,
        })
    }

    fn block(&self, at: usize) -> io::Result<Vec<u8>> {
        let block = &self.blocks[at];
        let mut bytes = vec![0; block.len];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(block.at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Adds the logs of a word, or of all that begin so.
    fn find(&self, word: &str, begins: bool, docs: &mut HashSet<Doc>) -> io::Result<()> {
        let first = self.blocks.partition_point(|block| &*block.first <= word).saturating_sub(1);
        for at in first..self.blocks.len() {
            if self.blocks[at].first.as_str() > word && !self.blocks[at].first.starts_with(word) {
                break;
            }
            let bytes = self.block(at)?;
            let mut rows = Row::of(&bytes);
            while let Some((known, here)) = rows.next()? {
                if known == word || begins && known.starts_with(word) {
                    each(here, |doc| {
                        docs.insert(doc);
                    })?;
                } else if known > word {
                    return Ok(());
                }
            }
            if !begins && self.blocks.get(at + 1).is_none_or(|next| &*next.first > word) {
                break;
            }
        }
        Ok(())
    }
}

/// The words of a block.
struct Row<'b> {
    rest: &'b [u8],
    word: Vec<u8>,
}

impl<'b> Row<'b> {
    const fn of(rest: &'b [u8]) -> Self {
        Self { rest, word: Vec::new() }
    }

    /// The next word, and the numbers of its logs as they are written.
    fn next(&mut self) -> io::Result<Option<(&str, &'b [u8])>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut read = || {
            let rest = &mut self.rest;
            let (common, more) = (usize::try_from(take(rest)?).ok()?, usize::try_from(take(rest)?).ok()?);
            let (more, behind) = rest.split_at_checked(more)?;
            *rest = behind;
            self.word.truncate(common);
            self.word.extend_from_slice(more);
            let len = usize::try_from(take(rest)?).ok()?;
            let (docs, behind) = rest.split_at_checked(len)?;
            *rest = behind;
            Some(docs)
        };
        let docs = read().ok_or_else(damaged)?;
        let word = std::str::from_utf8(&self.word).map_err(|_| damaged())?;
        Ok(Some((word, docs)))
    }
}

/// The words of a file, one after the other.
struct Rows<'f> {
    file: &'f Sorted,
    block: usize,
    words: std::vec::IntoIter<(String, Vec<Doc>)>,
    /// The logs of the word that was given last.
    docs: Vec<Doc>,
}

impl<'f> Rows<'f> {
    fn of(file: &'f Sorted) -> Self {
        Self {
            file,
            block: 0,
            words: Vec::new().into_iter(),
            docs: Vec::new(),
        }
    }

    fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some((word, docs)) = self.words.next() {
                self.docs = docs;
                return Ok(Some(word));
            }
            if self.block == self.file.blocks.len() {
                return Ok(None);
            }
            let bytes = self.file.block(self.block)?;
            self.block += 1;
            let mut row = Row::of(&bytes);
            let mut words = Vec::new();
            while let Some((word, written)) = row.next()? {
                let mut docs = Vec::new();
                each(written, |doc| docs.push(doc))?;
                words.push((word.to_owned(), docs));
            }
            self.words = words.into_iter();
        }
    }
}

/// Writes words in their order.
struct Writer {
    name: u64,
    out: BufWriter<File>,
    at: u64,
    block: Vec<u8>,
    first: String,
    last: String,
    blocks: Vec<Block>,
}

impl Writer {
    fn put(&mut self, word: &str, docs: &[Doc]) -> io::Result<()> {
        if self.block.is_empty() {
            word.clone_into(&mut self.first);
            self.last.clear();
        }
        let common = word.bytes().zip(self.last.bytes()).take_while(|(a, b)| a == b).count();
        put(&mut self.block, common as u64);
        put(&mut self.block, (word.len() - common) as u64);
        self.block.extend_from_slice(&word.as_bytes()[common..]);
        let mut written = Vec::with_capacity(docs.len() * 2);
        let mut before = 0;
        for doc in docs {
            put(&mut written, u64::from(doc - before));
            before = *doc;
        }
        put(&mut self.block, written.len() as u64);
        self.block.extend_from_slice(&written);
        word.clone_into(&mut self.last);
        if self.block.len() >= BLOCK { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.out.write_all(&self.block)?;
        self.blocks.push(Block {
            first: std::mem::take(&mut self.first),
            at: self.at,
            len: self.block.len(),
        });
        self.at += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    fn end(mut self) -> io::Result<Sorted> {
        self.close()?;
        let mut index = Vec::new();
        for block in &self.blocks {
            put(&mut index, block.first.len() as u64);
            index.extend_from_slice(block.first.as_bytes());
            put(&mut index, block.at);
            put(&mut index, block.len as u64);
        }
        self.out.write_all(&index)?;
        self.out.write_all(&self.at.to_le_bytes())?;
        self.out.write_all(&fnv(&index, FNV_SEED).to_le_bytes())?;
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Sorted {
            name: self.name,
            file: Mutex::new(file),
            blocks: self.blocks,
        })
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the index of words is damaged")
}

fn put(to: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        to.push(n as u8 | 0x80);
        n >>= 7;
    }
    to.push(n as u8);
}

fn take(from: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

fn each(mut written: &[u8], mut to: impl FnMut(Doc)) -> io::Result<()> {
    let mut doc: Doc = 0;
    while !written.is_empty() {
        let more = take(&mut written).and_then(|more| Doc::try_from(more).ok());
        doc = more.and_then(|more| doc.checked_add(more)).ok_or_else(damaged)?;
        to(doc);
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> HashSet<Box<str>> {
        let mut all = HashSet::new();
        words(text, &mut |word| {
            all.insert(word.into());
        });
        all
    }

    fn found(index: &Words, text: &str) -> Vec<Doc> {
        let mut docs: Vec<Doc> = index.find(text).unwrap().unwrap_or_default().into_iter().collect();
        docs.sort_unstable();
        docs
    }

    #[test]
    fn words_are_letters_and_digits_that_stand_together() {
        let mut all: Vec<_> = of("Read_Edit(src/main.rs) — ÄRGER, 2x 東京").into_iter().collect();
        all.sort();
        assert_eq!(
            all.iter().map(|word| &**word).collect::<Vec<_>>(),
            ["2x", "edit", "main", "read", "rs", "src", "ärger", "京", "東"]
        );
        assert_eq!(of(&"a".repeat(LONGEST + 1)), of(&"a".repeat(LONGEST)));
        assert!(of(&"a".repeat(NO_WORD + 1)).is_empty() && of(" -- ").is_empty());
    }

    #[test]
    fn what_was_put_in_is_found_in_memory_in_files_and_in_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let index = Words::empty(Some(folder.path().to_owned()));
        // Many words, so that there are many blocks; some in all logs.
        let text = |n: u32| {
            (0..300).map(|at| format!("word{} ", n * 300 + at)).collect::<String>() + "common été" + if n.is_multiple_of(7) { " rare" } else { "" }
        };
        let many = 100;
        for n in 0..many {
            let doc = index.new_doc();
            assert_eq!(doc, n + 1);
            index.add(doc, &of(&text(n))).unwrap();
            if n % 5 == 4 {
                index.flush().unwrap();
            }
        }
        let check = |index: &Words, gone: Doc| {
            let all = |keep: &dyn Fn(Doc) -> bool| (1..=many).filter(|doc| *doc != gone && keep(*doc)).collect::<Vec<_>>();
            assert_eq!(found(index, "common "), all(&|_| true));
            assert_eq!(found(index, "ÉTÉ RARE"), all(&|doc| (doc - 1).is_multiple_of(7)));
            assert_eq!(found(index, "comm"), all(&|_| true));
            assert_eq!(found(index, "comm "), [0; 0]);
            assert_eq!(found(index, "word901 "), [4]);
            assert_eq!(found(index, "word901 rare"), [0; 0]);
            for n in (0..many).filter(|n| n + 1 != gone) {
                assert_eq!(found(index, &format!("word{} word{} ", n * 300, n * 300 + 299)), [n + 1]);
            }
            // word2999, and word29990 to word29999.
            assert_eq!(found(index, "word2999"), [10, 100]);
            assert_eq!(index.find(" -- ").unwrap(), None);
        };
        check(&index, 0);
        assert!(index.state().files.len() > FILES);
        let saved = index.settle(&|doc| doc != 50).unwrap();
        assert_eq!(saved.files.len(), 1);
        index.sweep(&saved);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        check(&index, 50);
        let again = Words::open(Some(folder.path().to_owned()), &saved).unwrap();
        check(&again, 50);
        assert_eq!(again.new_doc(), many + 1);
        // A file that is cut off or changed is not taken for an index.
        let path = folder.path().join(format!("words-{}", saved.files[0]));
        let whole = std::fs::read(&path).unwrap();
        for (n, damage) in [&whole[..whole.len() - 1], &whole[..20], &[][..], &whole[1..]].into_iter().enumerate() {
            std::fs::write(&path, damage).unwrap();
            assert!(Words::open(Some(folder.path().to_owned()), &saved).is_none(), "{n}");
        }
        // One that is damaged in the middle says so, and never panics.
        let mut torn = whole.clone();
        for byte in &mut torn[1000..1400] {
            *byte = 0xff;
        }
        std::fs::write(&path, &torn).unwrap();
        let torn = Words::open(Some(folder.path().to_owned()), &saved).unwrap();
        assert!(torn.find("common").is_ok() || torn.find("common").is_err());
        assert!(torn.find(&text(0)[..40]).is_err());
    }
}
