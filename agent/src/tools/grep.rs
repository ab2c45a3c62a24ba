//! Searching in files.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::{DirEntry, WalkState};
use tokio_util::sync::CancellationToken;

use super::walk::{Tree, Until, Visit, walk};
use super::work::in_time;
use crate::workspace::{Fault, Kind, Place};

/// The most that is kept of all lines, in bytes; the search ends there.
const KEPT: usize = 64 << 20;
/// The most of a file that is searched for patterns of several lines, in bytes.
const WHOLE: usize = 64 << 20;
/// The longest line that is searched, in bytes: a file ends before a longer one.
const LONGEST_LINE: usize = 16 << 20;
/// How much longer than it may take a search is waited for.
const GRACE: Duration = Duration::from_secs(1);

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// A regular expression in the syntax of ripgrep.
    pub pattern: String,
    /// Capital letters are small ones too.
    pub any_case: bool,
    /// The pattern may go over several lines, and `.` is also the end of one.
    pub multiline: bool,
    /// What is wanted of each file.
    pub want: Want,
    /// Which files of a folder.
    pub tree: Tree,
}

/// What is wanted of a file that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Its name.
    Files,
    /// How many of its lines match.
    Counts,
    /// Its lines.
    Lines {
        /// So many before each.
        before: usize,
        /// So many after each.
        after: usize,
        /// The most characters of a line.
        width: usize,
        /// The most lines that are kept of one file; those behind them are counted.
        most: usize,
        /// The matches alone, each as a line.
        only: bool,
    },
}

impl Want {
    /// The lines that match, without those around them.
    pub const fn lines(width: usize, most: usize) -> Self {
        Self::Lines {
            before: 0,
            after: 0,
            width,
            most,
            only: false,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The files that match, by their paths.
    pub files: Vec<Hits>,
    /// There was more than can be kept.
    pub cut: bool,
}

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits {
    /// Its path, absolute.
    pub path: PathBuf,
    /// When it was written last, if names are wanted.
    pub modified: Option<SystemTime>,
    /// How many lines match; 1 if names are wanted.
    pub count: u64,
    /// Its lines, if they are wanted.
    pub lines: Vec<Line>,
}

/// A line of a file that matches, or one around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without its end.
    pub text: String,
    /// It was too wide, and is only the beginning.
    pub cut: bool,
    /// It does not match, but one near it does.
    pub around: bool,
    /// It does not follow the one before it.
    pub gap: bool,
}

/// Searches a file, or all files below a folder.
///
/// # Errors
/// When there is no such file or folder, when the pattern makes no sense, when it takes too long, and when it was cancelled.
pub fn grep(place: &Place, asked: &Asked, cancel: &CancellationToken) -> Result<Found, Fault> {
    let (its_place, its_asked, its_cancel) = (place.clone(), asked.clone(), cancel.clone());
    // A search stops by itself between pieces of files. What the engine does with a piece, nothing stops.
    in_time(place.limits().search + GRACE, cancel, move || search(&its_place, &its_asked, &its_cancel))?
}

fn search(place: &Place, asked: &Asked, cancel: &CancellationToken) -> Result<Found, Fault> {
    let matcher = matcher(asked)?;
    let kept = AtomicUsize::new(0);
    let (cut, until) = (AtomicBool::new(false), Until::new(place, cancel));
    let all = Mutex::new(Vec::new());
    let finder = || Finder {
        place,
        matcher: &matcher,
        searcher: searcher(asked, true),
        want: asked.want,
        until: &until,
        kept: &kept,
        cut: &cut,
        found: Vec::new(),
        all: &all,
    };
    match place.stat()?.kind {
        Kind::Folder => walk(place, &asked.tree, &until, finder)?,
        _ => {
            let (file, stat) = place.open()?;
            let mut finder = finder();
            // Who names a file wants to know what is in it.
            finder.searcher = searcher(asked, false);
            finder.search(file, place.path(), stat.modified);
            drop(finder);
            until.check()?;
        }
    }
    let mut files: Vec<Hits> = all.into_inner().unwrap_or_default();
    // Each was opened inside the workspace, whatever became of the folders on the way meanwhile.
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(Found {
        files,
        cut: cut.into_inner(),
    })
}

fn matcher(asked: &Asked) -> Result<RegexMatcher, Fault> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(asked.any_case)
        .multi_line(true)
        .dot_matches_new_line(asked.multiline);
    if !asked.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    let built = builder.build(&asked.pattern);
    built.map_err(|error| Fault::Other(format!("regex parse error: {error}")))
}

fn searcher(asked: &Asked, skip_binary: bool) -> Searcher {
    let (before, after) = match asked.want {
        Want::Lines { before, after, .. } => (before, after),
        _ => (0, 0),
    };
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(matches!(asked.want, Want::Lines { .. }))
        .before_context(before)
        .after_context(after)
        .multi_line(asked.multiline)
        .binary_detection(if skip_binary {
            BinaryDetection::quit(0)
        } else {
            BinaryDetection::none()
        });
    builder.heap_limit(Some(if asked.multiline { WHOLE } else { LONGEST_LINE }));
    builder.build()
}

struct Finder<'f> {
    place: &'f Place,
    matcher: &'f RegexMatcher,
    searcher: Searcher,
    want: Want,
    until: &'f Until,
    kept: &'f AtomicUsize,
    cut: &'f AtomicBool,
    found: Vec<Hits>,
    all: &'f Mutex<Vec<Hits>>,
}

impl Visit for Finder<'_> {
    fn file(&mut self, path: &Path, entry: &DirEntry) -> WalkState {
        // A file that cannot be read has no matches.
        if let Ok((file, stat)) = self.place.open_below(path) {
            self.search(file, entry.path(), stat.modified);
        }
        if self.cut.load(Ordering::Relaxed) {
            WalkState::Quit
        } else {
            WalkState::Continue
        }
    }
}

impl Finder<'_> {
    fn search(&mut self, file: impl Read, path: &Path, modified: Option<SystemTime>) {
        let mut hits = Hits {
            path: PathBuf::new(),
            modified: None,
            count: 0,
            lines: Vec::new(),
        };
        let file = Stoppable {
            file: file.take(self.place.limits().file),
            until: self.until,
        };
        let sink = Taker {
            matcher: self.matcher,
            want: self.want,
            hits: &mut hits,
            gap: false,
            size: 0,
        };
        // What was found before a file could not be read further was found.
        let _ = self.searcher.search_reader(self.matcher, file, sink);
        if hits.count == 0 {
            return;
        }
        if self.want == Want::Files {
            hits.modified = modified;
        }
        path.clone_into(&mut hits.path);
        let size = hits.lines.iter().map(|line| line.text.len() + size_of::<Line>()).sum::<usize>() + size_of::<Hits>();
        if self.kept.fetch_add(size, Ordering::Relaxed) > KEPT {
            self.cut.store(true, Ordering::Relaxed);
            return;
        }
        self.found.push(hits);
    }
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.found);
        }
    }
}

/// A file whose end comes when the time is over.
struct Stoppable<'c, R> {
    file: R,
    until: &'c Until,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.until.is_over() {
            return Err(io::Error::other("no more time"));
        }
        self.file.read(into)
    }
}

/// Takes what the searcher finds in one file.
struct Taker<'t> {
    matcher: &'t RegexMatcher,
    want: Want,
    hits: &'t mut Hits,
    gap: bool,
    size: usize,
}

impl Taker<'_> {
    fn keep(&mut self, number: u64, line: &[u8], around: bool) {
        let Want::Lines { width, most, .. } = self.want else { return };
        if self.hits.lines.len() >= most || self.size > KEPT {
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // No more of the line is looked at than can be shown; a character has four bytes at most.
        let near = &line[..line.len().min(width.saturating_mul(4).saturating_add(4))];
        let text = String::from_utf8_lossy(near);
        let (text, cut) = match text.char_indices().nth(width) {
            Some((at, _)) => (text[..at].to_owned(), true),
            None => (text.into_owned(), false),
        };
        self.size += text.len();
        self.hits.lines.push(Line {
            number,
            text,
            cut,
            around,
            gap: std::mem::take(&mut self.gap),
        });
    }
}

impl Sink for Taker<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let Want::Lines { only, .. } = self.want else {
            self.hits.count += found.lines().count() as u64;
            return Ok(self.want != Want::Files);
        };
        for (line, number) in found.lines().zip(found.line_number().unwrap_or(1)..) {
            self.hits.count += 1;
            if only {
                let mut at = 0;
                while let Ok(Some(part)) = self.matcher.find_at(line, at) {
                    if !part.is_empty() {
                        self.keep(number, &line[part], false);
                    }
                    at = part.end() + usize::from(part.is_empty());
                    if at > line.len() {
                        break;
                    }
                }
            } else {
                self.keep(number, line, false);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.keep(context.line_number().unwrap_or(1), context.bytes(), true);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.gap = true;
        Ok(true)
    }
}
