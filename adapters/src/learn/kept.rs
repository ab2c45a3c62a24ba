//! The shapes that are kept, and the way from a line to its own.

use super::mold::Mold;
use super::shape::{Shape, Starts};

/// The shapes of earlier lines.
#[derive(Debug, Default)]
pub(super) struct Kept {
    known: Vec<Known>,
    /// Those that begin alike.
    groups: Vec<Group>,
    /// For each two of a group, with how many values both begin alike: see [`pair`].
    shared: Vec<u8>,
    /// How much text is remembered.
    bytes: usize,
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) shape: Shape,
    pub(super) mold: Mold,
    /// The shapes that came behind lines of this one, the last of them first.
    pub(super) next: [usize; 3],
    /// When it came last.
    pub(super) seen: u64,
    /// The class of its lines.
    pub(super) class: usize,
    /// Its group.
    pub(super) group: usize,
    /// The session that alone has such lines, by its number, where it is not sure what its id means in them.
    pub(super) only: Option<u32>,
}

/// Shapes that begin alike.
#[derive(Debug)]
struct Group {
    head: Head,
    shapes: Vec<usize>,
}

/// The text before the first value of a shape that changes: how long it is, and its last eight bytes. Most shapes are ruled out by these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Head {
    len: usize,
    tail: [u8; 8],
}

impl Head {
    pub(super) fn of(shape: &Shape) -> Option<Self> {
        let beginning = shape.beginning();
        Some(Self {
            len: beginning.len(),
            tail: *beginning.last_chunk()?,
        })
    }

    /// Whether a line may have this shape.
    #[inline]
    fn may_be(&self, text: &str) -> bool {
        text.as_bytes()
            .get(self.len.wrapping_sub(self.tail.len())..self.len)
            .is_some_and(|found| found == self.tail)
    }
}

impl Known {
    /// Whether lines of this session may have the shape.
    #[inline]
    fn is_of(&self, session: u32) -> bool {
        self.only.is_none_or(|only| only == session)
    }
}

/// Where [`Kept::shared`] has two shapes: each has a row, in which are those before it.
#[inline]
const fn pair(one: usize, other: usize) -> usize {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    high * high.saturating_sub(1) / 2 + low
}

impl Kept {
    /// The most shapes, and the most text in all of them.
    const MOST: usize = 512;
    const BYTES: usize = 1 << 20;
    /// A session that there is not: no line has the shape.
    const NEVER: u32 = u32::MAX;

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Known> {
        self.known.get_mut(at)
    }

    /// The shape of a line that came behind one of the shape `last`, and how long it is. It is one of the `session` with this number and
    /// this id. `starts` tells where its pieces are.
    #[inline]
    pub(super) fn find(&self, text: &str, last: usize, session: (u32, &str), starts: &mut Starts) -> Option<(usize, usize)> {
        let first = self.known.get(last)?.next[0];
        let guess = self.known.get(first)?;
        if !guess.is_of(session.0) {
            return self.find_another(text, last, None, session, starts);
        }
        match guess.shape.read(text, 0, session.1, starts) {
            Ok(len) => Some((first, len)),
            Err(read) => self.find_another(text, last, Some((first, read)), session, starts),
        }
    }

    /// The same where the first guess is wrong. `tried` is the shape that was tried last, and how many of its values the line has.
    fn find_another(
        &self,
        text: &str,
        last: usize,
        mut tried: Option<(usize, usize)>,
        session: (u32, &str),
        starts: &mut Starts,
    ) -> Option<(usize, usize)> {
        let [first, second, third] = self.known.get(last)?.next;
        let mut fits = |at: usize| {
            let this = self.known.get(at)?;
            // What begins as that shape does need not be read again.
            let read = match tried {
                Some((other, read)) if self.known.get(other)?.group == this.group => {
                    let shared = self.shared.get(pair(at, other)).map_or(0, |&shared| usize::from(shared));
                    if shared > read {
                        return None;
                    }
                    shared
                }
                _ => 0,
            };
            if !this.is_of(session.0) {
                return None;
            }
            match this.shape.read(text, read, session.1, starts) {
                Ok(len) => Some((at, len)),
                Err(read) => {
                    tried = Some((at, read));
                    None
                }
            }
        };
        let guesses = [(second, second != first), (third, third != first && third != second)];
        for (at, _) in guesses.into_iter().filter(|&(_, is_new)| is_new) {
            let group = self.known.get(at).and_then(|this| self.groups.get(this.group));
            if group.is_some_and(|group| group.head.may_be(text))
                && let found @ Some(_) = fits(at)
            {
                return found;
            }
        }
        let others = self.groups.iter().filter(|group| group.head.may_be(text)).flat_map(|group| &group.shapes);
        others.copied().filter(|at| ![first, second, third].contains(at)).find_map(fits)
    }

    /// The group of shapes that begin so, which may be one that is not there yet.
    pub(super) fn group(&self, head: Head) -> usize {
        let found = self.groups.iter().position(|group| group.head == head);
        found
            .or_else(|| self.groups.iter().position(|group| group.shapes.is_empty()))
            .unwrap_or(self.groups.len())
    }

    /// Whether lines of a class and a session may have this shape already.
    pub(super) fn has(&self, shape: &Shape, group: usize, class: usize, session: u32) -> bool {
        let alike = self.groups.get(group).map_or(&[][..], |group| &group.shapes);
        let mut alike = alike.iter().map(|&at| &self.known[at]);
        alike.any(|known| known.class == class && known.is_of(session) && known.shape == *shape)
    }

    /// Keeps a shape, in the place of the one that has not come for the longest time if there are enough; returns its place.
    pub(super) fn keep(&mut self, fresh: Known, head: Head) -> usize {
        let size = fresh.shape.size();
        while self.bytes + size > Self::BYTES && self.forget_oldest().is_some() {}
        let free = self.known.iter().position(|known| known.only == Some(Self::NEVER));
        let at = match free {
            Some(at) => at,
            None if self.known.len() < Self::MOST => self.known.len(),
            None => self.forget_oldest().unwrap_or_default(),
        };
        self.bytes += size;
        self.shared.resize(self.shared.len().max(pair(at + 1, 0)), 0);
        match self.groups.get_mut(fresh.group) {
            Some(group) => {
                group.head = head;
                for &other in &group.shapes {
                    // No shape has as many holes as a byte can count.
                    let shared = fresh.shape.shared(&self.known[other].shape);
                    self.shared[pair(at, other)] = u8::try_from(shared).unwrap_or(0);
                }
                group.shapes.push(at);
            }
            None => self.groups.push(Group { head, shapes: vec![at] }),
        }
        match self.known.get_mut(at) {
            Some(place) => *place = fresh,
            None => self.known.push(fresh),
        }
        at
    }

    /// Forgets the shape that has not come for the longest time; returns its place, which is free then. `None` if there is none.
    fn forget_oldest(&mut self) -> Option<usize> {
        let kept = self.known.iter().enumerate().filter(|(_, known)| known.only != Some(Self::NEVER));
        let (at, _) = kept.min_by_key(|(_, known)| known.seen)?;
        let oldest = &mut self.known[at];
        oldest.only = Some(Self::NEVER);
        self.bytes -= std::mem::take(&mut oldest.shape).size();
        self.groups[oldest.group].shapes.retain(|&other| other != at);
        Some(at)
    }
}
