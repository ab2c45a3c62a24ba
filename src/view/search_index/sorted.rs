//! A file of words. It is a row of blocks, the first word of each block with its place, and where these begin. In a block stands word after
//! word: how much it has in common with the one before, the rest of it, and the numbers of its logs as differences. All numbers are LEB128.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use agentglot_adapters::raw::ids::{FNV_SEED, fnv};

use super::Doc;

/// A block is about so long.
const BLOCK: usize = 16 << 10;
const MAGIC: &[u8; 16] = b"agentglot words1";

/// Words, sorted, in a file.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) name: u64,
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
    pub(super) fn open(mut file: File, name: u64) -> Option<Self> {
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

    /// How long it is, about.
    pub(super) fn size(&self) -> u64 {
        self.blocks.last().map_or(0, |last| last.at + last.len as u64)
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
    pub(super) fn find(&self, word: &str, begins: bool, docs: &mut HashSet<Doc>) -> io::Result<()> {
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
pub(super) struct Rows<'f> {
    file: &'f Sorted,
    block: usize,
    words: std::vec::IntoIter<(String, Vec<Doc>)>,
    /// The logs of the word that was given last.
    pub(super) docs: Vec<Doc>,
}

impl<'f> Rows<'f> {
    pub(super) fn of(file: &'f Sorted) -> Self {
        Self {
            file,
            block: 0,
            words: Vec::new().into_iter(),
            docs: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
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
pub(super) struct Writer {
    name: u64,
    out: BufWriter<File>,
    at: u64,
    block: Vec<u8>,
    first: String,
    last: String,
    blocks: Vec<Block>,
}

impl Writer {
    pub(super) fn begin(file: File, name: u64) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(256 << 10, file);
        out.write_all(MAGIC)?;
        Ok(Self {
            name,
            out,
            at: MAGIC.len() as u64,
            block: Vec::new(),
            first: String::new(),
            last: String::new(),
            blocks: Vec::new(),
        })
    }

    pub(super) fn put(&mut self, word: &str, docs: &[Doc]) -> io::Result<()> {
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

    pub(super) fn end(mut self) -> io::Result<Sorted> {
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
