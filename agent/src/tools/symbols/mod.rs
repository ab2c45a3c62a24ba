//! Where names of a program are defined and used, found in its syntax by the grammars of tree-sitter.
//!
//! What git ignores and what is hidden is passed over, as in a search for text. Files are read as they are: there is no index.

mod definitions;
mod language;
mod references;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkState};
use tokio_util::sync::CancellationToken;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

pub use definitions::{Definition, definitions};
pub use language::Language;
pub use references::{Confidence, Named, Reference, Usage, reference_id, references};

use super::walk::{self, Until, Visit, still_inside, walk};
use crate::workspace::{Fault, Kind, Place, Wall};

/// Files with more bytes are passed over, and so are those whose brackets nest deeper, and those that take longer: nobody has written them
/// by hand, and a tree takes hundreds of times the memory of its text.
const BIGGEST: u64 = 1 << 20;
const DEEPEST: usize = 500;
const LONGEST: Duration = Duration::from_secs(2);

/// The most things that are kept; the search ends there.
const KEPT: usize = 100_000;

/// Whether a file is one of tests, by its name and the folders that it is in (`path` from the folder that is searched).
pub fn is_test(path: &Path) -> bool {
    const FOLDERS: [&str; 5] = ["test", "tests", "testing", "__tests__", "spec"];
    let is_folder = |part: Component<'_>| {
        part.as_os_str()
            .to_str()
            .is_some_and(|name| FOLDERS.iter().any(|test| name.eq_ignore_ascii_case(test)))
    };
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    path.parent().is_some_and(|folders| folders.components().any(is_folder))
        || stem.starts_with("test_")
        || ["_test", "_tests", "Test", "Tests"].iter().any(|end| stem.ends_with(end))
}

/// Whether a file is other people's code, by the folders that it is in.
pub fn is_third_party(path: &Path) -> bool {
    const FOLDERS: [&str; 6] = ["third_party", "third-party", "vendor", "node_modules", "dist", "build"];
    path.parent().is_some_and(|folders| {
        folders.components().any(|part| {
            part.as_os_str()
                .to_str()
                .is_some_and(|name| FOLDERS.iter().any(|one| name.eq_ignore_ascii_case(one)))
        })
    })
}

/// A file that was read.
struct Source<'s> {
    /// From the folder that is searched, or its name alone if it is the file that was asked for.
    below: &'s Path,
    path: &'s Path,
    text: &'s [u8],
    language: Option<Language>,
}

/// Has every file of a folder looked into, or the one that was asked for; gives what was found by the paths, and whether there was more
/// than is kept. What lies outside of the workspace by then is left out.
fn each<T: Send>(
    wall: &Wall,
    place: &Place,
    globs: &[String],
    cancel: &CancellationToken,
    look: &(dyn Fn(&Source<'_>, &mut Eyes<'_>) -> Vec<T> + Sync),
    path: impl Fn(&T) -> &Path,
) -> Result<(Vec<T>, bool), Fault> {
    let (all, kept) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let finder = || Finder {
        place,
        look,
        eyes: Eyes {
            parser: Parser::new(),
            set: None,
            cancel,
        },
        kept: &kept,
        found: Vec::new(),
        all: &all,
    };
    if place.stat()?.kind == Kind::Folder {
        let tree = walk::Tree {
            globs: globs.to_vec(),
            ..walk::Tree::default()
        };
        walk(place, &tree, &Until::new(place, cancel), finder)?;
    } else {
        let (text, _) = place.read(BIGGEST)?;
        let name = place.path().file_name().map(PathBuf::from).unwrap_or_default();
        finder().look_at(&name, place.path(), &text);
        if cancel.is_cancelled() {
            return Err(Fault::Cancelled);
        }
    }
    let mut found = all.into_inner().unwrap_or_default();
    still_inside(wall, &mut found, path);
    Ok((found, kept.into_inner() > KEPT))
}

/// What turns texts into trees; each thread has its own.
struct Eyes<'c> {
    parser: Parser,
    set: Option<Language>,
    cancel: &'c CancellationToken,
}

impl Eyes<'_> {
    /// The tree of a text; `None` when it was cancelled, and for texts that no tree is made of.
    fn parse(&mut self, language: Language, text: &[u8]) -> Option<Tree> {
        if depth(text) > DEEPEST {
            return None;
        }
        if self.set != Some(language) {
            self.parser.set_language(&language.grammar()).ok()?;
            self.set = Some(language);
        }
        let (cancel, until) = (self.cancel, Instant::now() + LONGEST);
        let mut go_on = |_: &ParseState| match cancel.is_cancelled() || Instant::now() > until {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        let tree = self
            .parser
            .parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            self.parser.reset();
        }
        tree
    }
}

struct Finder<'f, T> {
    place: &'f Place,
    look: &'f (dyn Fn(&Source<'_>, &mut Eyes<'_>) -> Vec<T> + Sync),
    eyes: Eyes<'f>,
    kept: &'f AtomicUsize,
    found: Vec<T>,
    all: &'f Mutex<Vec<T>>,
}

impl<T> Finder<'_, T> {
    fn look_at(&mut self, below: &Path, path: &Path, text: &[u8]) {
        let source = Source {
            below,
            path,
            text,
            language: Language::of(path).or_else(|| script(text)),
        };
        let found = (self.look)(&source, &mut self.eyes);
        self.kept.fetch_add(found.len(), Ordering::Relaxed);
        self.found.extend(found);
    }
}

impl<T: Send> Visit for Finder<'_, T> {
    fn file(&mut self, path: &Path, entry: &DirEntry) -> WalkState {
        if entry.metadata().is_ok_and(|about| about.len() <= BIGGEST)
            && let Ok((mut file, _)) = self.place.open_below(path)
        {
            let mut text = Vec::new();
            // It may have grown meanwhile.
            let mut file = std::io::Read::take(&mut file, BIGGEST);
            if std::io::Read::read_to_end(&mut file, &mut text).is_ok() {
                self.look_at(path, entry.path(), &text);
            }
        }
        if self.kept.load(Ordering::Relaxed) > KEPT {
            WalkState::Quit
        } else {
            WalkState::Continue
        }
    }
}

impl<T> Drop for Finder<'_, T> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.found);
        }
    }
}

/// How deep brackets nest, wherever they stand.
fn depth(text: &[u8]) -> usize {
    let (mut deep, mut deepest) = (0_usize, 0);
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => {
                deep += 1;
                deepest = deepest.max(deep);
            }
            b')' | b']' | b'}' => deep = deep.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The language of a script, by its first line.
fn script(text: &[u8]) -> Option<Language> {
    let line = text.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut programs = line.split([' ', '/', '\t', '\r']);
    programs
        .any(|word| word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "python")
        .then_some(Language::Python)
}
