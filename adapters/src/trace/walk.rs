//! Which parts of a line nobody wrote, and what they are called.

use super::many::FEW;
use crate::json::{Cursor, Error, Object, Str};

/// Pointers of the largest parts of `line` of which nothing is `covered`, which is asked about each leaf by its addresses; of very many
/// the first ones, and how many others there are.
pub(super) fn uncovered(line: &str, covered: impl Fn((usize, usize)) -> bool) -> (Vec<String>, u64) {
    let mut walk = Walk::new(line);
    let mut found: Vec<String> = Vec::new();
    let mut count = 0;
    let add = |found: &mut Vec<String>, count: &mut usize, pointer: &str| {
        // Of a name that stands twice one pointer says both.
        if found.last().is_some_and(|last| last == pointer) {
            return;
        }
        if *count < FEW {
            found.push(pointer.to_owned());
        }
        *count += 1;
    };
    // For each open container: how many findings there were before it, whether something in it is covered, its pointer.
    let mut open: Vec<(usize, bool, usize)> = Vec::new();
    let mut step = walk.value().ok();
    while let Some(now) = step {
        match now {
            Step::Enter => open.push((count, false, walk.pointer.len())),
            Step::Leaf(from, to) => {
                let hit = covered((from, to));
                match open.last_mut() {
                    Some(top) if hit => top.1 = true,
                    _ if hit => {}
                    _ => add(&mut found, &mut count, &walk.pointer),
                }
            }
            Step::Leave => {
                if let Some((before, any, pointer)) = open.pop() {
                    if !any && count > before {
                        count = before;
                        found.truncate(count);
                        add(&mut found, &mut count, &walk.pointer[..pointer.min(walk.pointer.len())]);
                    }
                    if let Some(parent) = open.last_mut() {
                        parent.1 |= any;
                    }
                }
            }
        }
        step = walk.step().unwrap_or(None);
    }
    let others = (count - found.len()) as u64;
    (found, others)
}

/// Where the values of a line stand: made once, and asked for as many pointers as there are parts to tell of.
#[derive(Debug)]
pub(super) struct Places<'l> {
    base: usize,
    /// In the order in which they begin.
    values: Vec<Place<'l>>,
}

#[derive(Debug)]
struct Place<'l> {
    /// The addresses of its first byte and behind its last.
    from: usize,
    to: usize,
    /// The value that it stands in.
    parent: Option<usize>,
    name: Name<'l>,
    /// It holds no others.
    is_leaf: bool,
    /// It is the first value that begins in a part.
    is_first: bool,
}

/// What a value is called in the one that it stands in.
#[derive(Clone, Copy, Debug)]
enum Name<'l> {
    /// It stands in none.
    Root,
    Key(Str<'l>),
    Index(usize),
}

impl Name<'_> {
    /// Appends it to a pointer.
    fn write(self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Index(index) => pointer.push_str(&format!("/{index}")),
            Self::Key(key) => {
                pointer.push('/');
                for c in key.unescape().chars() {
                    match c {
                        '~' => pointer.push_str("~0"),
                        '/' => pointer.push_str("~1"),
                        c => pointer.push(c),
                    }
                }
            }
        }
    }
}

impl<'l> Places<'l> {
    /// Reads a line; one that breaks off has the values that came through. Only those values are kept that it takes to name these `parts`,
    /// told by their addresses.
    pub(super) fn of(line: &'l str, parts: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut parts: Vec<(usize, usize)> = parts.collect();
        parts.sort_unstable();
        // Whether a part begins in a value, and whether a value is the first one that begins in a part.
        let first_behind = |from: usize| parts.partition_point(|part| part.0 < from);
        let holds_one = |from: usize, to: usize| parts.get(first_behind(from)).is_some_and(|part| part.0 < to);
        let mut entered = 0;
        let mut is_first_in = |from: usize| {
            let before = parts.partition_point(|part| part.0 <= from);
            let inside = entered < before && parts[entered..before].iter().any(|part| from < part.1);
            entered = before;
            inside
        };
        let mut walk = Walk::new(line);
        let (base, end) = (walk.base, walk.base + line.len());
        let mut values: Vec<Place<'l>> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut step = walk.value().ok();
        while let Some(now) = step {
            let (from, to) = match now {
                Step::Enter => (walk.begun, end),
                Step::Leaf(from, to) => (from, to),
                Step::Leave => {
                    if let Some(container) = open.pop() {
                        let to = walk.base + walk.at.position();
                        values[container].to = to;
                        if values.len() == container + 1 && !values[container].is_first && !holds_one(values[container].from, to) {
                            values.pop();
                        }
                    }
                    step = walk.step().unwrap_or(None);
                    continue;
                }
            };
            let is_leaf = matches!(now, Step::Leaf(..));
            let is_first = is_first_in(from);
            if !is_leaf || is_first || holds_one(from, to) {
                values.push(Place {
                    from,
                    to,
                    parent: open.last().copied(),
                    name: walk.name,
                    is_leaf,
                    is_first,
                });
            }
            if !is_leaf {
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
            names.push(self.values[at].name);
            holder = self.values[at].parent;
        }
        let mut pointer = String::new();
        names.iter().rev().for_each(|name| name.write(&mut pointer));
        pointer
    }
}

/// So many containers are opened, one in the other.
const DEEP: usize = 256;

/// Walks the leaves of a line. For each leaf: its pointer, and the addresses of its first byte and behind its last.
/// `enter` and `leave` bracket objects and arrays that have members.
struct Walk<'a> {
    at: Cursor<'a>,
    base: usize,
    pointer: String,
    /// What the value at the cursor is called.
    name: Name<'a>,
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
            name: Name::Root,
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
            // What is nested deeper than anything real is one part.
            _ if self.open.len() == DEEP => true,
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
            self.name = Name::Key(key);
        } else if let Some(array) = &mut frame.array {
            if !array.more(&mut self.at)? {
                self.open.pop();
                return Ok(Some(Step::Leave));
            }
            self.name = Name::Index(frame.next);
            frame.next += 1;
        }
        self.name.write(&mut self.pointer);
        self.value().map(Some)
    }
}
