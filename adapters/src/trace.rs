//! What became of each part of a source line: the machinery behind the ledger.
//!
//! Everything that a decoder hands on borrows from the line it came from, so the address of a written slice tells which
//! part of the line went over. When the line is done, a walk over its JSON finds the parts that nobody wrote.

use std::cell::{Cell, RefCell};

use crate::event::{Fate, Finding};
use crate::json::{Cursor, Error, Object};

/// Watches one source line at a time.
#[derive(Default, Debug)]
pub struct Trace {
    line: Cell<(usize, usize)>,
    spans: RefCell<Vec<(usize, usize)>>,
    structure: RefCell<Vec<(usize, usize)>>,
    renamed: RefCell<Vec<(usize, usize, &'static str)>>,
    findings: RefCell<Vec<Finding>>,
    carried: Cell<bool>,
    merged: Cell<Option<&'static str>>,
}

impl Trace {
    /// Begins with a new line (one JSON value of it, where a line holds several).
    pub fn begin(&self, line: &str) {
        let start = line.as_ptr() as usize;
        self.line.set((start, start + line.len()));
        self.spans.borrow_mut().clear();
        self.structure.borrow_mut().clear();
        self.renamed.borrow_mut().clear();
        self.carried.set(false);
        self.merged.set(None);
    }

    /// A part went over. Slices that do not belong to the line are ignored.
    #[inline]
    pub fn used(&self, part: &str) {
        if let Some(span) = self.span(part) {
            self.spans.borrow_mut().push(span);
        }
    }

    /// A part was understood as structure: it decides what the event is, and is carried exactly when the event is.
    #[inline]
    pub fn took(&self, part: &str) {
        if let Some(span) = self.span(part) {
            self.structure.borrow_mut().push(span);
        }
    }

    /// A part went over under another name or in another shape.
    pub fn renamed(&self, part: &str, note: &'static str) {
        if let Some((from, to)) = self.span(part) {
            self.spans.borrow_mut().push((from, to));
            self.renamed.borrow_mut().push((from, to, note));
        }
    }

    /// The event of this line went over.
    pub fn carried(&self) {
        self.carried.set(true);
    }

    /// Takes back what was said of the line's event: it was about the session before.
    pub(crate) fn nothing_carried(&self) {
        self.carried.set(false);
        self.merged.set(None);
    }

    /// The event of this line is part of another one.
    pub fn merged(&self, note: &'static str) {
        self.merged.set(Some(note));
    }

    /// A finding of its own.
    pub fn note(&self, fate: Fate, pointer: &str, note: &str) {
        self.findings.borrow_mut().push(Finding::new(fate, pointer, note));
    }

    /// A part turned out to be damaged when it was about to be written.
    pub fn damaged(&self, part: &str, error: &Error) {
        if let Some((from, to)) = self.span(part) {
            self.spans.borrow_mut().push((from, to));
        }
        self.note(Fate::Damaged, "", &format!("a value is damaged ({error}) and was replaced by null"));
    }

    /// Ends the line: `wrote` tells whether any output came of it. Returns everything there is to say about it.
    pub fn settle(&self, line: &str, wrote: bool, target: &str) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut *self.findings.borrow_mut());
        let carried = wrote || self.carried.get() || !self.spans.borrow().is_empty();
        if let Some(note) = self.merged.get().filter(|_| !wrote) {
            findings.push(Finding::new(Fate::Merged, "", note));
            return findings;
        }
        if !carried {
            if !findings
                .iter()
                .any(|f| f.pointer.is_empty() && matches!(f.fate, Fate::Dropped | Fate::Damaged | Fate::Merged))
            {
                findings.push(Finding::new(Fate::Dropped, "", &format!("no place in {target}")));
            }
            return findings;
        }
        let start = self.line.get().0;
        let mut spans: Vec<_> = self.spans.borrow().iter().chain(self.structure.borrow().iter()).copied().collect();
        spans.sort_unstable();
        for pointer in uncovered(line, &spans) {
            findings.push(Finding::new(Fate::Dropped, &pointer, &format!("no place in {target}")));
        }
        for &(from, to, note) in self.renamed.borrow().iter() {
            let pointer = pointer_of(line, from - start, to - start);
            findings.push(Finding::new(Fate::Renamed, &pointer, note));
        }
        findings
    }

    /// Takes what was found outside of any line: at the end of a session.
    pub fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.findings.borrow_mut())
    }

    fn span(&self, part: &str) -> Option<(usize, usize)> {
        let (start, end) = self.line.get();
        let from = part.as_ptr() as usize;
        (from >= start && from + part.len() <= end).then_some((from, from + part.len()))
    }
}

/// Walks the leaves of a line. For each leaf: its pointer, and the addresses of its first byte and behind its last.
/// `enter` and `leave` bracket objects and arrays that have members.
struct Walk<'a> {
    at: Cursor<'a>,
    base: usize,
    pointer: String,
    open: Vec<Frame>,
}

struct Frame {
    object: Option<Object>,
    array: Option<crate::json::Array>,
    next: usize,
    pointer: usize,
}

enum Step {
    Enter,
    Leaf(usize, usize),
    Leave,
}

impl<'a> Walk<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            at: Cursor::new(line),
            base: line.as_ptr() as usize,
            pointer: String::new(),
            open: Vec::new(),
        }
    }

    /// The value at the cursor: opened if it has members, else a leaf.
    fn value(&mut self) -> Result<Step, Error> {
        let mut probe = self.at;
        let first = probe.peek();
        let begin = probe.position();
        let empty = match first {
            Some(b'{') => {
                let mut object = probe.object()?;
                object.key(&mut probe)?.is_none()
            }
            Some(b'[') => {
                let mut array = probe.array()?;
                !array.more(&mut probe)?
            }
            _ => true,
        };
        if empty {
            let raw = self.at.skip()?;
            return Ok(Step::Leaf(self.base + begin, self.base + begin + raw.as_str().len()));
        }
        let frame = match first {
            Some(b'{') => Frame {
                object: Some(self.at.object()?),
                array: None,
                next: 0,
                pointer: self.pointer.len(),
            },
            _ => Frame {
                object: None,
                array: Some(self.at.array()?),
                next: 0,
                pointer: self.pointer.len(),
            },
        };
        self.open.push(frame);
        Ok(Step::Enter)
    }

    fn step(&mut self) -> Result<Option<Step>, Error> {
        let Some(frame) = self.open.last_mut() else { return Ok(None) };
        self.pointer.truncate(frame.pointer);
        if let Some(object) = &mut frame.object {
            let Some(key) = object.key(&mut self.at)? else {
                self.open.pop();
                return Ok(Some(Step::Leave));
            };
            self.pointer.push('/');
            for c in key.unescape().chars() {
                match c {
                    '~' => self.pointer.push_str("~0"),
                    '/' => self.pointer.push_str("~1"),
                    c => self.pointer.push(c),
                }
            }
        } else if let Some(array) = &mut frame.array {
            if !array.more(&mut self.at)? {
                self.open.pop();
                return Ok(Some(Step::Leave));
            }
            self.pointer.push_str(&format!("/{}", frame.next));
            frame.next += 1;
        }
        self.value().map(Some)
    }
}

/// Pointers of the largest parts of `line` that no span touches. `spans` is sorted.
fn uncovered(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let mut walk = Walk::new(line);
    let mut found: Vec<String> = Vec::new();
    // For each open container: how many findings there were before it, whether something in it is covered, its pointer.
    let mut open: Vec<(usize, bool, usize)> = Vec::new();
    let longest = spans.iter().map(|s| s.1 - s.0).max().unwrap_or(0);
    let covered = |from: usize, to: usize| {
        let first = spans.partition_point(|s| s.0 + longest < from);
        spans[first..].iter().take_while(|s| s.0 <= to).any(|s| {
            let (begin, end) = (s.0.max(from), s.1.min(to));
            begin < end || (s.0 == s.1 && s.0 > from && s.0 < to)
        })
    };
    let mut step = walk.value().ok();
    while let Some(now) = step {
        match now {
            Step::Enter => open.push((found.len(), false, walk.pointer.len())),
            Step::Leaf(from, to) => {
                let hit = covered(from, to);
                match open.last_mut() {
                    Some(top) if hit => top.1 = true,
                    _ if hit => {}
                    _ => found.push(walk.pointer.clone()),
                }
            }
            Step::Leave => {
                if let Some((before, any, pointer)) = open.pop() {
                    if !any && found.len() > before {
                        found.truncate(before);
                        found.push(walk.pointer[..pointer.min(walk.pointer.len())].to_owned());
                    }
                    if let Some(parent) = open.last_mut() {
                        parent.1 |= any;
                    }
                }
            }
        }
        step = walk.step().unwrap_or(None);
    }
    found
}

/// The pointer of the smallest value of `line` that holds the bytes from `from` to `to` (offsets).
fn pointer_of(line: &str, from: usize, to: usize) -> String {
    let mut walk = Walk::new(line);
    let (from, to) = (walk.base + from, walk.base + to);
    let mut best = String::new();
    let mut step = walk.value().ok();
    while let Some(now) = step {
        if let Step::Leaf(begin, end) = now {
            if begin <= from && to <= end {
                return walk.pointer;
            }
            if from <= begin && end <= to {
                // The part is a container: its pointer is the common beginning of its leaves' pointers.
                best = match best.is_empty() {
                    true => walk.pointer.rsplit_once('/').map_or("", |(head, _)| head).to_owned(),
                    false => common(&best, &walk.pointer),
                };
            }
        }
        step = walk.step().unwrap_or(None);
    }
    best
}

fn common(a: &str, b: &str) -> String {
    let mut shared = String::new();
    for (left, right) in a.split('/').zip(b.split('/')).skip(1) {
        if left != right {
            break;
        }
        shared.push('/');
        shared.push_str(left);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(line: &str, used: &[&str], took: &[&str]) -> Vec<String> {
        let trace = Trace::default();
        trace.begin(line);
        for part in used {
            let at = line.find(part).unwrap();
            trace.used(&line[at..at + part.len()]);
        }
        for part in took {
            let at = line.find(part).unwrap();
            trace.took(&line[at..at + part.len()]);
        }
        trace.settle(line, false, "x").into_iter().map(|f| f.pointer).collect()
    }

    #[test]
    fn names_the_largest_parts_that_nobody_wrote() {
        let line = r#"{"type":"user","a":{"b":1,"c":{"d":"deep","e":2}},"list":[{"x":7},{"y":8}],"z~/":3,"n":{},"":0}"#;
        assert_eq!(findings(line, &[], &["user"]), [""], "nothing carried: the whole line");
        assert_eq!(
            findings(line, &["deep", "7"], &["user"]),
            ["/a/b", "/a/c/e", "/list/1", "/z~0~1", "/n", "/"]
        );
        assert_eq!(
            findings(line, &[r#"{"b":1,"c":{"d":"deep","e":2}}"#], &[]),
            ["/type", "/list", "/z~0~1", "/n", "/"]
        );
        assert!(findings(line, &[line], &[]).is_empty());
    }

    #[test]
    fn an_empty_string_that_was_written_is_covered() {
        let line = r#"{"a":"","b":""}"#;
        let trace = Trace::default();
        trace.begin(line);
        trace.used(&line[6..6]);
        let pointers: Vec<_> = trace.settle(line, true, "x").into_iter().map(|f| f.pointer).collect();
        assert_eq!(pointers, ["/b"]);
    }

    #[test]
    fn a_renamed_container_is_named_by_its_own_pointer() {
        let line = r#"{"m":{"input":{"a":1,"b":{"c":2}},"name":"Read"}}"#;
        let trace = Trace::default();
        trace.begin(line);
        let at = line.find(r#"{"a""#).unwrap();
        trace.renamed(&line[at..at + r#"{"a":1,"b":{"c":2}}"#.len()], "reshaped");
        let at = line.find("Read").unwrap();
        trace.renamed(&line[at..at + 4], "renamed");
        let found: Vec<_> = trace.settle(line, true, "x").into_iter().map(|f| f.pointer).collect();
        assert_eq!(found, ["/m/input", "/m/name"]);
    }
}
