//! `search_context`: what ripgrep finds, as `PATH:LINE:TEXT`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::{WalkBuilder, WalkState};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{text, text_or};
use super::place::refused;
use crate::agent::tool::Given;
use crate::agent::wall::{Kind, Wall};

/// How long a search may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many bytes are found at most, and so many of a line are shown.
const MOST: usize = 1 << 20;
const LINE: usize = 4096;

pub(super) fn search(input: &Value, wall: &Wall, cancel: &CancellationToken) -> Result<Given, Given> {
    let pattern = text(input, "pattern")?;
    let asked = text_or(input, "path", ".")?;
    let place = wall.locate(asked).map_err(|fault| refused(&fault, wall.absolute(asked.as_ref())))?;
    let path = place.path();
    let failed = |why: &str| Given::error(format!("Search error: {why}"));
    let stat = place
        .stat()
        .map_err(|_| failed(&format!("rg: {}: No such file or directory (os error 2)\n", path.display())))?;
    let matcher = matcher(pattern).map_err(|error| failed(&format!("{error}\n")))?;
    let hunt = Hunt {
        matcher,
        cancel,
        until: Instant::now() + PATIENCE,
        bytes: AtomicUsize::new(0),
        found: Mutex::default(),
    };
    match stat.kind {
        Kind::Folder => hunt.folder(path),
        Kind::File => hunt.file(&mut searcher(), path, None),
        _ => return Err(failed(&format!("rg: {}: not a regular file\n", path.display()))),
    }
    if cancel.is_cancelled() {
        return Err(Given::error("Search failed: cancelled"));
    }
    if Instant::now() > hunt.until {
        return Err(Given::error(format!("Search failed: timed out after {} seconds", PATIENCE.as_secs())));
    }
    let cut = hunt.is_full();
    let mut found = hunt.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut lines: Vec<String> = found.into_iter().flat_map(|(_, lines)| lines).collect();
    if lines.is_empty() {
        return Ok(Given::text("No matches found"));
    }
    if cut {
        lines.push(format!("[output truncated at {MOST} bytes; look for something rarer]"));
    }
    Ok(Given::text(lines.join("\n")))
}

/// A pattern that is no regular expression is looked for as it stands.
fn matcher(pattern: &str) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n'));
    builder.build(pattern).or_else(|_| builder.fixed_strings(true).build(pattern))
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

struct Hunt<'a> {
    matcher: RegexMatcher,
    cancel: &'a CancellationToken,
    until: Instant,
    bytes: AtomicUsize,
    found: Mutex<Vec<(PathBuf, Vec<String>)>>,
}

impl Hunt<'_> {
    fn folder(&self, path: &Path) {
        // Links are not followed, so nothing outside is read.
        WalkBuilder::new(path).require_git(true).build_parallel().run(|| {
            let mut searcher = searcher();
            Box::new(move |entry| {
                if self.is_over() {
                    return WalkState::Quit;
                }
                if let Ok(entry) = entry
                    && entry.file_type().is_some_and(|kind| kind.is_file())
                {
                    self.file(&mut searcher, entry.path(), Some(entry.path()));
                }
                WalkState::Continue
            })
        });
    }

    /// `shown`: what stands before the lines that are found.
    fn file(&self, searcher: &mut Searcher, path: &Path, shown: Option<&Path>) {
        let mut lines = Lines {
            hunt: self,
            shown,
            found: Vec::new(),
        };
        // A file that cannot be read is passed over, as one that is no text.
        if searcher.search_path(&self.matcher, path, &mut lines).is_ok() && !lines.found.is_empty() {
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push((path.to_owned(), lines.found));
        }
    }

    fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > MOST
    }

    fn is_over(&self) -> bool {
        self.is_full() || self.cancel.is_cancelled() || Instant::now() > self.until
    }
}

/// The lines that are found in one file.
struct Lines<'a, 'h> {
    hunt: &'a Hunt<'h>,
    shown: Option<&'a Path>,
    found: Vec<String>,
}

impl Sink for Lines<'_, '_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\n', '\r']);
        let cut = line.floor_char_boundary(LINE);
        let (shown, more) = line.split_at(cut);
        let mut text = match self.shown {
            Some(path) => format!("{}:{}:{shown}", path.display(), found.line_number().unwrap_or(0)),
            None => format!("{}:{shown}", found.line_number().unwrap_or(0)),
        };
        if !more.is_empty() {
            text.push_str(&format!(" [... {} more bytes]", more.len()));
        }
        self.hunt.bytes.fetch_add(text.len() + 1, Ordering::Relaxed);
        self.found.push(text);
        Ok(!self.hunt.is_over())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.found.clear();
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), Self::Error> {
        if finish.binary_byte_offset().is_some() {
            self.found.clear();
        }
        Ok(())
    }
}
