//! Which parts of a line nobody wrote, and what they are called.

use crate::json::{Cursor, Error, Object};

/// Pointers of the largest parts of `line` that no span touches. `spans` is sorted.
pub(super) fn uncovered(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
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
pub(super) fn pointer_of(line: &str, from: usize, to: usize) -> String {
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
