//! What became of each part of a source line: the machinery behind the ledger.
//!
//! Everything that a decoder hands on borrows from the line it came from, so the address of a written slice tells which
//! part of the line went over. When the line is done, a walk over its JSON finds the parts that nobody wrote.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

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
    held: RefCell<HeldParts>,
}

/// Parts of source lines that an encoder holds, until it is known whether they go over. Empty, and without memory of its
/// own, when nobody keeps a ledger.
#[derive(Default, Debug)]
pub struct Kept(Vec<u64>);

impl Kept {
    /// The parts that were kept before the `at`-th stay; the others are returned.
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.split_off(at.min(self.0.len())))
    }

    /// How many parts there are; zero when nobody keeps a ledger.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What the ledger knows about parts that are held.
#[derive(Default, Debug)]
struct HeldParts {
    count: u64,
    /// Parts of the line that is being handled: their number, and their addresses.
    here: Vec<(u64, usize, usize)>,
    /// Parts of earlier lines: the line, counted from 1, and the pointer.
    before: HashMap<u64, (u64, String)>,
    /// Parts that turned out to have no place.
    dropped: Vec<(u64, &'static str)>,
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
        let mut held = self.held.borrow_mut();
        held.here.clear();
        held.dropped.clear();
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

    /// A part is held: whether it goes over is told later, with [`Self::release`] or [`Self::drop_held`].
    pub fn hold(&self, kept: &mut Kept, part: &str) {
        let mut held = self.held.borrow_mut();
        held.count += 1;
        let number = held.count;
        if let Some((from, to)) = self.span(part) {
            self.spans.borrow_mut().push((from, to));
            held.here.push((number, from, to));
        }
        kept.0.push(number);
    }

    /// Parts that were held have gone over.
    pub fn release(&self, kept: &mut Kept) {
        let mut held = self.held.borrow_mut();
        for number in kept.0.drain(..) {
            held.before.remove(&number);
        }
    }

    /// Parts that were held have no place after all. Each is told on the line that it stands on; of one that no line holds
    /// as a whole, because it came in pieces, this line tells.
    pub fn drop_held(&self, kept: &mut Kept, note: &'static str) {
        let mut nowhere = false;
        let mut held = self.held.borrow_mut();
        for number in kept.0.drain(..) {
            let known = held.before.contains_key(&number) || held.here.iter().any(|here| here.0 == number);
            nowhere |= !known;
            if known {
                held.dropped.push((number, note));
            }
        }
        drop(held);
        if nowhere {
            self.note(Fate::Dropped, "", &format!("{note} (it came in pieces, on lines before this one)"));
        }
    }

    /// Ends the line number `line` for the parts of it that are held.
    pub(crate) fn settle_held(&self, text: &str, line: u64) {
        let mut held = self.held.borrow_mut();
        let start = text.as_ptr() as usize;
        let HeldParts { here, before, .. } = &mut *held;
        for (number, from, to) in here.drain(..) {
            before.insert(number, (line, pointer_of(text, from - start, to - start)));
        }
    }

    /// What there is to say about parts of earlier lines that were held: for each the line and the finding.
    pub(crate) fn take_late(&self) -> Vec<(u64, Finding)> {
        let mut held = self.held.borrow_mut();
        let HeldParts { before, dropped, .. } = &mut *held;
        let mut late = Vec::new();
        dropped.retain(|(number, note)| match before.remove(number) {
            Some((line, pointer)) => {
                late.push((line, Finding::new(Fate::Dropped, &pointer, note)));
                false
            }
            None => true,
        });
        late
    }

    /// The session is over: nobody holds anything of the lines before this one.
    pub(crate) fn end_held(&self) {
        self.held.borrow_mut().before.clear();
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

    #[test]
    fn what_was_held_is_told_on_its_own_line() {
        let trace = Trace::default();
        let (mut first, mut second, mut gone) = (Kept::default(), Kept::default(), Kept::default());
        let lines = [r#"{"m":{"text":"one"},"id":7}"#, r#"{"text":"two","more":"three"}"#];
        let part = |line: usize, text: &str| lines[line].find(text).map(|at| &lines[line][at..at + text.len()]).unwrap();
        trace.begin(lines[0]);
        trace.hold(&mut first, part(0, "one"));
        assert!(trace.settle(lines[0], false, "x").iter().all(|f| f.pointer == "/id"), "held for now");
        trace.settle_held(lines[0], 4);
        assert!(trace.take_late().is_empty());
        trace.begin(lines[1]);
        trace.drop_held(&mut first, "no place");
        trace.hold(&mut second, part(1, "two"));
        trace.drop_held(&mut second, "no place either");
        trace.hold(&mut gone, part(1, "three"));
        trace.release(&mut gone);
        trace.drop_held(&mut gone, "went over");
        trace.settle_held(lines[1], 5);
        let late: Vec<_> = trace.take_late().into_iter().map(|(line, f)| (line, f.pointer, f.note)).collect();
        let wanted = [(4, "/m/text", "no place"), (5, "/text", "no place either")];
        assert_eq!(late, wanted.map(|(line, pointer, note)| (line, pointer.to_owned(), note.to_owned())));
        let mut pieces = Kept::default();
        trace.hold(&mut pieces, "of no line");
        trace.drop_held(&mut pieces, "no place");
        assert_eq!(trace.take_findings().len(), 1, "what no line holds is told where it is dropped");
    }
}
