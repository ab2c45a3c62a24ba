//! What there is to say about sessions without reading them whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::SystemTime;

use memchr::memmem;

use super::entry::Entry;
use super::transcript::short;
use crate::model::message::Part;
use agentglot_adapters::raw::codec::Dialect;

/// How much of the beginning and of the end is looked at.
const LOOK: usize = 64 << 10;

/// So much of a transcript is looked through for prompts, and so long may a line of it be.
const MOST: u64 = 1 << 30;
const LONGEST_LINE: u64 = 16 << 20;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// Whose it is: `claude`, `qwen-code`, `tricode`, `cursor`.
    pub dialect: String,
    /// We began it; else the program itself did.
    pub ours: bool,
    /// The working folder.
    pub cwd: Option<String>,
    /// The transcript.
    pub path: PathBuf,
    /// When it began, as the transcript says it.
    pub began: Option<String>,
    /// When it was written last.
    pub written: SystemTime,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// What it was called.
    pub title: Option<String>,
    /// The beginning of its first prompt.
    pub prompt: Option<String>,
    /// How many prompts there were.
    pub turns: u64,
}

/// What a transcript says of itself. `None`: there is no conversation in it, or it is neither ours nor its owner's.
pub(super) fn summary(id: &str, path: PathBuf, file: &File, owner: Option<Dialect>) -> io::Result<Option<Summary>> {
    let about = file.metadata()?;
    let began = dialect(file);
    let ours = began.is_some();
    let Some(dialect) = began.or_else(|| Some(owner?.name().to_owned())) else {
        return Ok(None);
    };
    let head = ends(file, true)?;
    let entries = || lines(&head).filter_map(Entry::read);
    let first = entries().find(|entry| entry.is_chained() && entry.timestamp.is_some());
    if first.as_ref().is_none_or(|first| first.is_sidechain) {
        return Ok(None);
    }
    let text = |entry: Entry<'_>| {
        let texts = entry
            .said()
            .parts
            .into_iter()
            .find_map(|part| if let Part::Text(text) = part { Some(text) } else { None });
        texts.map(|text| short(&text)).filter(|text| !text.is_empty())
    };
    Ok(Some(Summary {
        id: id.to_owned(),
        dialect,
        ours,
        cwd: entries().find_map(|entry| entry.cwd),
        path,
        began: first.and_then(|first| first.timestamp),
        written: about.modified()?,
        bytes: about.len(),
        title: title(file),
        prompt: entries().filter(Entry::is_prompt).find_map(text),
        turns: turns(file)?,
    }))
}

/// What a session was called last.
pub(super) fn title(file: &File) -> Option<String> {
    let titled = |from_head: bool| {
        let text = ends(file, from_head).ok()?;
        let titles = lines(&text).filter(|line| memmem::find(line, b"custom-title").is_some());
        let title = titles.filter_map(Entry::read).filter(|entry| entry.kind == "custom-title").last();
        title?.custom_title.filter(|title| !title.is_empty())
    };
    titled(false).or_else(|| titled(true))
}

/// When a session began, as the transcript says it.
pub(super) fn began(file: &File) -> Option<String> {
    let head = ends(file, true).ok()?;
    lines(&head).filter_map(Entry::read).find(Entry::is_chained)?.timestamp
}

/// Whose a session is, if it is one of ours.
pub(super) fn dialect(file: &File) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(rename = "type")]
        kind: String,
        dialect: String,
    }
    let text = ends(file, true).ok()?;
    let head: Head = serde_json::from_slice(lines(&text).next()?).ok()?;
    (head.kind == "agentglot").then_some(head.dialect)
}

/// How many prompts there are, by the looks of the lines.
fn turns(file: &File) -> io::Result<u64> {
    let user = memmem::Finder::new(b"\"type\":\"user\"");
    let others = [
        &b"\"tool_result\""[..],
        b"\"isMeta\":true",
        b"\"isCompactSummary\":true",
        b"\"isSidechain\":true",
    ];
    let others = others.map(memmem::Finder::new);
    let mut reader = io::BufReader::with_capacity(1 << 20, file.try_clone()?);
    io::Seek::rewind(&mut reader)?;
    let mut reader = io::Read::take(reader, MOST);
    let (mut line, mut turns) = (Vec::new(), 0);
    loop {
        // Of a longer line what comes behind is a line of its own, and looks like none of a prompt.
        let mut piece = io::Read::take(&mut reader, LONGEST_LINE);
        if io::BufRead::read_until(&mut piece, b'\n', &mut line)? == 0 {
            break;
        }
        if user.find(&line).is_some() && others.iter().all(|other| other.find(&line).is_none()) {
            turns += 1;
        }
        line.clear();
    }
    Ok(turns)
}

/// The beginning of a file, or its end.
fn ends(file: &File, head: bool) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let size = LOOK.min(usize::try_from(length).unwrap_or(LOOK));
    let mut text = vec![0; size];
    let at = if head { 0 } else { length - size as u64 };
    file.read_exact_at(&mut text, at)?;
    Ok(text)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}
