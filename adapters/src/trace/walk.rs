//! Which parts of a line nobody wrote, and what they are called.

use crate::json::{Cursor, Error, Object};

/// Pointers of the largest parts of `line` that no span touches. `spans` is sorted.
pub(super) fn uncovered(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let mut walk = Walk::new(line);
    let mut found: Vec<String> = Vec::new();
    // For each open container: how many findings there were before it, whether something in it is covered, its pointer.
    let mut open: Vec<(usize, bool, usize)> = Vec::new();
    let (parts, empty) = apart(spans);
    let covered = |from: usize, to: usize| {
        let part = parts.partition_point(|part| part.1 <= from);
        let point = empty.partition_point(|&point| point <= from);
        parts.get(part).is_some_and(|part| part.0 < to) || empty.get(point).is_some_and(|&point| point < to)
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

/// The stretches that spans cover, none touching another, and the places of empty spans; both in order.
fn apart(spans: &[(usize, usize)]) -> (Vec<(usize, usize)>, Vec<usize>) {
    let (mut parts, mut empty): (Vec<(usize, usize)>, _) = (Vec::new(), Vec::new());
    for &(from, to) in spans {
        match parts.last_mut() {
            _ if from == to => empty.push(from),
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => parts.push((from, to)),
        }
    }
    (parts, empty)
}

/// Where the values of a line stand: made once, and asked for as many pointers as there are parts to tell of.
#[derive(Debug)]
pub(super) struct Places {
    base: usize,
    /// Every value, in the order in which they begin.
    values: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// The addresses of its first byte and behind its last.
    from: usize,
    to: usize,
    /// The value that it stands in.
    parent: Option<usize>,
    /// Its key or its index there, as a pointer has it.
    name: String,
    /// It holds no others.
    is_leaf: bool,
}

impl Places {
    /// Reads a line; one that breaks off has the values that came through.
    pub(super) fn of(line: &str) -> Self {
        let mut walk = Walk::new(line);
        let (base, end) = (walk.base, walk.base + line.len());
        let mut values: Vec<Place> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut step = walk.value().ok();
        while let Some(now) = step {
            let (from, to) = match now {
                Step::Enter => (walk.begun, end),
                Step::Leaf(from, to) => (from, to),
                Step::Leave => {
                    if let Some(container) = open.pop() {
                        values[container].to = walk.base + walk.at.position();
                    }
                    step = walk.step().unwrap_or(None);
                    continue;
                }
            };
            // The pointer of what stands in an open container ends with its name there.
            let above = walk
                .open
                .iter()
                .rev()
                .nth(usize::from(matches!(now, Step::Enter)))
                .map_or(0, |frame| frame.pointer);
            values.push(Place {
                from,
                to,
                parent: open.last().copied(),
                name: walk.pointer[above..].to_owned(),
                is_leaf: matches!(now, Step::Leaf(..)),
            });
            if matches!(now, Step::Enter) {
                open.push(values.len() - 1);
            }
            step = walk.step().unwrap_or(None);
        }
        Self { base, values }
    }

    /// The pointer of the smallest value that holds the bytes from `from` to `to` (offsets in the line).
    pub(super) fn pointer(&self, from: usize, to: usize) -> String {
        let (from, to) = (self.base + from, self.base + to);
        let begun = self.values.partition_point(|value| value.from <= from);
        let mut holder = begun.checked_sub(1);
        while let Some(at) = holder.filter(|&at| self.values[at].to < to) {
            holder = self.values[at].parent;
        }
        // A key is no value of its own: what is told of it is told of the line.
        let begins = |at: usize| self.values[at].from >= from && self.values[at].from < to;
        let is_key =
            holder.is_some_and(|at| !self.values[at].is_leaf) && !holder.is_some_and(begins) && !(begun < self.values.len() && begins(begun));
        if is_key {
            return String::new();
        }
        let mut names = Vec::new();
        while let Some(at) = holder {
            names.push(self.values[at].name.as_str());
            holder = self.values[at].parent;
        }
        names.iter().rev().copied().collect()
    }
}

/// Walks the leaves of a line. For each leaf: its pointer, and the addresses of its first byte and behind its last.
/// `enter` and `leave` bracket objects and arrays that have members.
struct Walk<'a> {
    at: Cursor<'a>,
    base: usize,
    pointer: String,
    open: Vec<Frame>,
    /// Where the container begins that was entered last.
    begun: usize,
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
            begun: 0,
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
        self.begun = self.base + begin;
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
