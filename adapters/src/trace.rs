//! What became of each part of a source line: the machinery behind the ledger.
//!
//! Everything that a decoder hands on borrows from the line it came from, so the address of a written slice tells which
//! part of the line went over. When the line is done, a walk over its JSON finds the parts that nobody wrote.

mod held;
mod many;
mod marks;
mod stand_ins;
#[cfg(test)]
mod tests;
mod walk;
mod watched;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use crate::codec::{Part, Want};
use crate::event::{Fate, Finding};
use crate::json::{Error, Str};
pub(crate) use held::Given;
use held::HeldParts;
pub use held::Kept;
use many::{FEW, Many, alike, and_others, of_each_kind};
use marks::Marks;
use stand_ins::StandIns;
use walk::{Places, uncovered};
use watched::Watching;

/// The addresses of a part's first byte and of the one behind its last.
type Span = (usize, usize);

/// Watches one source line at a time.
#[derive(Default, Debug)]
pub struct Trace {
    line: Cell<(usize, usize)>,
    /// See [`Want::models`](crate::codec::Want::models).
    models: bool,
    /// Which part of its line that is.
    part: Cell<Option<Part>>,
    /// How much was told of the line's other parts.
    told_of_parts: Cell<usize>,
    /// What went over, and what was understood.
    marks: RefCell<Marks>,
    /// A part went over, or is held.
    used: Cell<bool>,
    /// A part went over.
    written: Cell<bool>,
    renamed: RefCell<Many<(usize, usize, &'static str)>>,
    /// Parts of a part of the line, which is read as JSON itself: where that one stands.
    lost: RefCell<Many<(Span, String)>>,
    /// Parts of texts of the line, of which each goes over or not.
    apart: RefCell<Vec<Span>>,
    /// What stands for parts of the line: its addresses, and theirs.
    stand_ins: RefCell<StandIns>,
    /// Texts that are watched, and what was kept of which they are made.
    watched: RefCell<Watching>,
    /// Texts that were watched and went over.
    seen: RefCell<HashSet<Span>>,
    findings: RefCell<Many<Finding>>,
    /// Findings of parts that stand on no line as a whole.
    elsewhere: RefCell<Vec<Finding>>,
    carried: Cell<bool>,
    merged: Cell<Option<&'static str>>,
    /// Why an event of the line has no place, where the line may hold others.
    left_out: Cell<Option<&'static str>>,
    /// One entry tells of the line as a whole.
    whole: Cell<bool>,
    /// The part that is held on which that entry depends.
    depends: Cell<Option<u64>>,
    held: RefCell<HeldParts>,
    /// Arguments of calls that go over in other words, or in pieces; with what is said of those that are others there.
    arguments: RefCell<Vec<(Span, Option<&'static str>)>>,
}

/// Whether one part is inside another, or is that one.
const fn within((from, to): Span, outer: Span) -> bool {
    outer.0 <= from && to <= outer.1
}

/// Whether it tells of a part that it is said by others, or by none.
const fn is_gone(finding: &Finding) -> bool {
    matches!(finding.fate, Fate::Dropped | Fate::Merged)
}

/// Whether it is not about a part of its line, of which one entry tells where nothing of it goes over.
fn is_of_more_than_parts(finding: &Finding) -> bool {
    finding.pointer.is_empty() || !(is_gone(finding) || finding.fate == Fate::Renamed)
}

/// The addresses of a part's first byte and of the one behind its last.
fn address(part: &str) -> Span {
    let from = part.as_ptr() as usize;
    (from, from + part.len())
}

impl Trace {
    /// Watches the lines that go to a target which wants this.
    pub(crate) fn for_target(want: Want) -> Self {
        Self {
            models: want.models,
            ..Self::default()
        }
    }

    /// Begins with a new line (one JSON value of it, where a line holds several).
    pub fn begin(&self, line: &str) {
        let start = line.as_ptr() as usize;
        self.line.set((start, start + line.len()));
        self.part.set(None);
        self.marks.borrow_mut().begin(self.line.get());
        self.used.set(false);
        self.written.set(false);
        self.renamed.borrow_mut().clear();
        self.lost.borrow_mut().clear();
        self.apart.borrow_mut().clear();
        self.stand_ins.borrow_mut().clear();
        self.seen.borrow_mut().clear();
        self.watched.borrow_mut().clear();
        self.carried.set(false);
        self.merged.set(None);
        self.left_out.set(None);
        self.whole.set(false);
        self.depends.set(None);
        self.held.borrow_mut().begin();
        self.arguments.borrow_mut().clear();
    }

    /// The line is a part of one.
    pub(crate) fn is_part(&self, part: Option<Part>) {
        self.part.set(part);
        if part.is_some_and(|part| part.first == 0) {
            self.told_of_parts.set(0);
            self.held.borrow_mut().begin_parts();
        }
    }

    /// What there is to say of a part of a line. Of the line as a whole its first part tells; when much has been told, one of each kind is.
    pub(crate) fn of_part(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let Some(part) = self.part.get() else { return findings };
        if part.first > 0 {
            findings.retain(|finding| !finding.pointer.is_empty());
        }
        if self.told_of_parts.get() > FEW {
            findings = of_each_kind(findings.into_iter().map(|finding| (0, finding)));
        }
        self.told_of_parts.set(self.told_of_parts.get() + findings.len());
        findings
    }

    /// Where in the whole line something stands that is told here.
    fn placed(&self, pointer: String) -> Option<String> {
        match self.part.get() {
            None => Some(pointer),
            Some(part) => part.placed(pointer),
        }
    }

    /// A part went over. Slices that do not belong to the line are ignored.
    #[inline]
    pub fn used(&self, part: &str) {
        if let Some(span) = self.span(part) {
            self.goes_over(span);
        }
        let stand_ins = self.stand_ins.borrow();
        if !stand_ins.is_empty() {
            for (made, source) in stand_ins.touching(address(part)) {
                // What is watched is of other lines.
                if made == source {
                    self.seen.borrow_mut().insert(made);
                } else {
                    self.goes_over(source);
                }
            }
        }
    }

    #[inline]
    fn goes_over(&self, span: Span) {
        self.used.set(true);
        self.written.set(true);
        self.marks.borrow_mut().mark(span);
    }

    /// `made` says the same as the part `source` of the line: where the one goes over, so does the other.
    pub fn stands_for(&self, made: &str, source: &str) {
        if let Some(span) = self.span(source) {
            self.stand_ins.borrow_mut().add(address(made), span, made == source);
        }
    }

    /// `made` is put together of these, which may be put together of parts of the line themselves.
    pub(crate) fn says_all(&self, made: &str, sources: &[Str<'_>]) {
        for span in sources.iter().flat_map(|source| self.places_of(source.as_escaped())) {
            self.stand_ins.borrow_mut().add(address(made), span, false);
        }
    }

    /// Whether it is a part of the line.
    pub fn holds(&self, part: &str) -> bool {
        self.span(part).is_some()
    }

    /// A part was understood as structure: it decides what the event is, and is carried exactly when the event is.
    #[inline]
    pub fn took(&self, part: &str) {
        if let Some(span) = self.span(part) {
            self.marks.borrow_mut().mark(span);
        }
    }

    /// A text of the line says several things one behind the other, of which each goes over or not. What stands around them was understood.
    pub fn consists_of(&self, text: &str, things: &[&str]) {
        let Some((mut from, end)) = self.span(text) else { return };
        let things = things.iter().filter(|thing| !thing.is_empty()).filter_map(|thing| self.span(thing));
        let things: Vec<Span> = things.collect();
        if things.first() == Some(&(from, end)) {
            return;
        }
        let mut marks = self.marks.borrow_mut();
        for around in things.iter().chain([&(end, end)]) {
            if from < around.0 {
                marks.mark((from, around.0));
            }
            from = around.1;
        }
        self.apart.borrow_mut().extend(things);
    }

    /// Whether everything in a part was understood or went over.
    pub fn covers(&self, part: &str) -> bool {
        let marks = self.marks.borrow();
        uncovered(part, |leaf| marks.touch(leaf)).0.is_empty()
    }

    /// A part goes over with whatever else of the line does.
    pub fn beside(&self, part: &str) {
        self.took(part);
        for (made, source) in self.stand_ins.borrow().touching(address(part)) {
            if made == source {
                self.seen.borrow_mut().insert(made);
            } else {
                self.marks.borrow_mut().mark(source);
            }
        }
    }

    /// A part went over under another name or in another shape.
    pub fn renamed(&self, part: &str, note: &'static str) {
        self.used(part);
        self.reshaped(part, note);
    }

    /// A part went over in another shape: of its own parts those that were used.
    pub fn reshaped(&self, part: &str, note: &'static str) {
        let mut renamed = self.renamed.borrow_mut();
        let mut tell = |(from, to)| {
            if renamed.last() != Some(&(from, to, note)) {
                renamed.push((from, to, note), |a, b| a.2 == b.2);
            }
        };
        match self.span(part).or_else(|| self.source_of(part)) {
            Some(source) => tell(source),
            // It was put together of parts of the line.
            None => {
                let (begin, end) = self.line.get();
                let stand_ins = self.stand_ins.borrow();
                let parts = stand_ins.touching(address(part)).map(|(_, source)| source);
                parts.filter(|(from, to)| *from >= begin && *to <= end).for_each(tell);
                let mut watched = self.watched.borrow_mut();
                let is_one = watched.of(part).next().is_some();
                let inside = |made| if is_one { made == address(part) } else { within(made, address(part)) };
                let told = watched.iter_mut().filter(|watched| inside(watched.made));
                told.for_each(|watched| watched.renamed = Some(note));
            }
        }
    }

    /// A part has no place, though the whole that it is a part of may have gone over. If it is one of the line's own, nothing else has
    /// to be said; else it is a part of a text, which is told where it stands: in the line, or in the `pieces` that were held.
    pub fn lost(&self, part: &str, pieces: Option<&Kept>, note: &str) {
        if let Some(span) = self.span(part) {
            return self.marks.borrow_mut().unmark(span);
        }
        let watched = self.watched.borrow();
        // Whether the parts of a whole that are watched have gone over is told of each.
        if watched
            .iter()
            .any(|watched| within(watched.made, address(part)) && watched.made != address(part))
        {
            return;
        }
        if let Some(watched) = watched.iter().find(|watched| watched.holds(address(part))) {
            let mut held = self.held.borrow_mut();
            return held.lost.extend(watched.parts.first().map(|&number| (number, note.to_owned())));
        }
        match (self.source_of(part), pieces.and_then(|pieces| pieces.0.first())) {
            // Parts of an object or a list have gone over: the others are told as what nobody has written.
            (Some((from, to)), _) if to - from == part.len() && part.starts_with(['{', '[']) && self.marks.borrow().touch((from, to)) => {}
            (Some(source), _) => {
                // It is told here, and once.
                self.marks.borrow_mut().mark(source);
                self.lost.borrow_mut().push((source, note.to_owned()), |a, b| alike(&a.1, &b.1));
            }
            (None, Some(number)) => self.held.borrow_mut().lost.push((*number, note.to_owned())),
            (None, None) => {
                let note = format!("{note} (it came on lines before this one)");
                self.elsewhere.borrow_mut().push(Finding::new(Fate::Dropped, "", &note));
            }
        }
    }

    /// The same of a part of this line, if it is one, or of those that it is put together of: of what nobody has understood is told anyway.
    pub(crate) fn lost_here(&self, part: &str, note: &str) {
        if self.span(part).is_some() || self.source_of(part).is_some() {
            return self.lost(part, None, note);
        }
        for source in self.places_of(part) {
            let is_held = self.held.borrow().here.iter().any(|&(_, from, to)| (from, to) == source);
            if !is_held && self.marks.borrow().touch(source) {
                self.lost.borrow_mut().push((source, note.to_owned()), |a, b| alike(&a.1, &b.1));
            }
        }
    }

    /// The event of this line went over.
    pub fn carried(&self) {
        self.carried.set(true);
    }

    /// The event of this line went over, or parts of it: what it ends is not what it says.
    pub(crate) fn carried_apart(&self) {
        self.carried();
        self.merged.set(None);
    }

    /// The event of this line is part of another one.
    pub fn merged(&self, note: &'static str) {
        self.merged.set(Some(note));
    }

    /// The same if the part that was kept last goes over, which is a part of this line.
    pub fn merged_with(&self, kept: &Kept, note: &'static str) {
        self.merged(note);
        let here = |number: &u64| self.held.borrow().here.binary_search_by_key(number, |here| here.0).is_ok();
        self.depends.set(kept.0.last().copied().filter(here));
    }

    /// An event of this line has no place. If nothing of the line goes over, that is why; else its parts are told like all others that
    /// nobody has written.
    pub fn left_out(&self, note: &'static str) {
        self.left_out.set(Some(note));
    }

    /// A finding of its own.
    pub fn note(&self, fate: Fate, pointer: &str, note: &str) {
        let same = |a: &Finding, b: &Finding| a.fate == b.fate && alike(&a.note, &b.note);
        self.findings.borrow_mut().push(Finding::new(fate, pointer, note), same);
    }

    /// A part turned out to be damaged when it was about to be written.
    pub fn damaged(&self, part: &str, error: &Error) {
        if let Some((from, to)) = self.span(part) {
            self.goes_over((from, to));
        }
        self.note(Fate::Damaged, "", &format!("a value is damaged ({error}) and was replaced by null"));
    }

    /// Ends the line: `wrote` tells whether any output came of it. Returns everything there is to say about it.
    pub fn settle(&self, line: &str, wrote: bool, target: &str) -> Vec<Finding> {
        let mut findings = self.found();
        findings.dedup();
        let carried = wrote || self.carried.get() || self.used.get();
        let left_out = self.left_out.get();
        // What was written may be of lines before this one, which only closes something.
        let is_others = !self.carried.get() && !self.used.get() && !self.written.get();
        if let Some(note) = self.merged.get().filter(|_| !wrote || is_others) {
            self.whole.set(true);
            // One entry tells of the line: what has no place goes over with nothing else.
            match left_out {
                Some(why) => {
                    self.depends.set(None);
                    findings.retain(is_of_more_than_parts);
                    findings.push(Finding::new(Fate::Dropped, "", why));
                }
                None if self.depends.get().is_some() => {}
                None => {
                    findings.retain(is_of_more_than_parts);
                    findings.push(Finding::new(Fate::Merged, "", note));
                }
            }
            findings.append(&mut self.elsewhere.borrow_mut());
            return findings;
        }
        // What was written may be of lines before this one, and what is held is no more than that.
        if !carried || left_out.is_some() && !self.written.get() {
            self.whole.set(true);
            self.depends.set(None);
            findings.retain(is_of_more_than_parts);
            let tells = |finding: &Finding| finding.pointer.is_empty() && matches!(finding.fate, Fate::Dropped | Fate::Damaged | Fate::Merged);
            if !findings.iter().any(tells) {
                let note = left_out.map_or_else(|| format!("no place in {target}"), str::to_owned);
                findings.push(Finding::new(Fate::Dropped, "", &note));
            }
            findings.append(&mut self.elsewhere.borrow_mut());
            return findings;
        }
        findings.append(&mut self.elsewhere.borrow_mut());
        let start = self.line.get().0;
        let marks = self.marks.borrow();
        let (uncovered, others) = uncovered(line, |leaf| marks.touch(leaf));
        let note = format!("no place in {target}");
        // Text that is no JSON is one part.
        if !line.starts_with(['{', '[']) && self.span(line).is_some_and(|span| span.0 < span.1 && !marks.touch(span)) {
            findings.push(Finding::new(Fate::Dropped, "", &note));
        }
        // What became of a part is told once: a decoder may know better than that nobody has written it.
        let known: HashSet<String> = findings
            .iter()
            .filter(|finding| is_gone(finding))
            .map(|finding| finding.pointer.clone())
            .collect();
        for (n, pointer) in uncovered.iter().enumerate() {
            let last = n + 1 == uncovered.len();
            if let Some(pointer) = self.placed(pointer.clone()).filter(|pointer| !known.contains(pointer)) {
                findings.push(Finding::new(Fate::Dropped, &pointer, &and_others(&note, if last { others } else { 0 })));
            }
        }
        for &thing in self.apart.borrow().iter().filter(|thing| !marks.touch(**thing)) {
            self.lost.borrow_mut().push((thing, note.clone()), |a, b| alike(&a.1, &b.1));
        }
        let (lost, renamed) = (self.lost.borrow(), self.renamed.borrow());
        if lost.is_empty() && renamed.is_empty() {
            return findings;
        }
        let parts = lost.iter().map(|((part, _), _)| *part);
        let places = Places::of(line, parts.chain(renamed.iter().map(|(&(from, to, _), _)| (from, to))));
        let lost = lost.iter().map(|((part, note), others)| (Fate::Dropped, *part, note.as_str(), others));
        // Who finds a part in another shape tells of it, and not who writes that in yet another one.
        let mut told = HashSet::new();
        let renamed = renamed
            .iter()
            .filter(|((from, to, _), _)| told.insert((*from, *to)))
            .map(|(&(from, to, note), others)| (Fate::Renamed, (from, to), note, others));
        for (fate, (from, to), note, others) in lost.chain(renamed) {
            if let Some(pointer) = self.placed(places.pointer(from - start, to - start)) {
                findings.push(Finding::new(fate, &pointer, &and_others(note, others)));
            }
        }
        findings
    }

    /// Takes what was found outside of any line: at the end of a session.
    pub fn take_findings(&self) -> Vec<Finding> {
        let mut findings = self.found();
        findings.append(&mut self.elsewhere.borrow_mut());
        findings
    }

    fn found(&self) -> Vec<Finding> {
        let found = std::mem::take(&mut *self.findings.borrow_mut());
        let tell = |(finding, others): (&Finding, u64)| Finding::new(finding.fate, &finding.pointer, &and_others(&finding.note, others));
        found.iter().map(tell).collect()
    }

    /// The part of the line that says what this is a part of, in other letters.
    fn source_of(&self, part: &str) -> Option<Span> {
        let part = address(part);
        let (begin, end) = self.line.get();
        let stand_ins = self.stand_ins.borrow();
        let holds = stand_ins.touching(part).filter(|(made, _)| made.0 <= part.0 && part.1 <= made.1);
        // What is only watched stands for no part of the line.
        let sources = holds.map(|(_, source)| source).filter(|(from, to)| begin <= *from && *to <= end);
        sources.last()
    }

    /// Where the line says this: in one place, or in several of which it is put together.
    fn places_of(&self, part: &str) -> Vec<Span> {
        if let Some(span) = self.span(part) {
            return vec![span];
        }
        let part = address(part);
        let (begin, end) = self.line.get();
        let stand_ins = self.stand_ins.borrow();
        let of_line = |(_, (from, to)): &(Span, Span)| begin <= *from && *to <= end;
        let all: Vec<_> = stand_ins.touching(part).filter(of_line).collect();
        let whole = all.iter().rfind(|(made, _)| made.0 <= part.0 && part.1 <= made.1).map(|(made, _)| *made);
        let says = all.into_iter().filter(|(made, _)| whole.is_none_or(|whole| whole == *made));
        says.map(|(_, source)| source).collect()
    }

    fn span(&self, part: &str) -> Option<(usize, usize)> {
        let (start, end) = self.line.get();
        let from = part.as_ptr() as usize;
        (from >= start && from + part.len() <= end).then_some((from, from + part.len()))
    }
}
