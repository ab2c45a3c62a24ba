//! Lines that are spelled alike: the text that stays, and the values in it that change.

use memchr::memmem::Finder;

use crate::json::{Cursor, Raw, Shape as Json, stands_at};

/// The most values of a line that may change.
pub(super) const MOST: usize = 40;

/// A value that changes. The next one has the same JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hole {
    /// The body of a string, read with a full check.
    Text,
    /// The same of a string that is not empty: an empty one may mean something else.
    Filled,
    /// A number.
    Number,
    /// An object of which only the structure is checked.
    Object,
    /// An array of which only the structure is checked.
    Array,
    /// An object, read with a full check.
    Record,
    /// An array, read with a full check.
    List,
    /// A value of any type, read with a full check.
    Value,
    /// A value of any type of which only the structure is checked.
    Loose,
    /// The id of the session that is read.
    Session,
}

impl Hole {
    /// The hole for a value, and the part of it that changes. `None` for values that stay.
    pub(super) fn of(value: Raw<'_>) -> Option<(&str, Self)> {
        let text = value.as_str();
        Some(match (value.shape()?, value.is_checked()) {
            (Json::String, _) => (text.get(1..text.len().checked_sub(1)?)?, Self::Text),
            (Json::Number, _) => (text, Self::Number),
            (Json::Object, false) => (text, Self::Object),
            (Json::Array, false) => (text, Self::Array),
            (Json::Object, true) => (text, Self::Record),
            (Json::Array, true) => (text, Self::List),
            (Json::Null | Json::Bool, _) => return None,
        })
    }

    /// Whether what stands there is checked in full.
    const fn is_checked(self) -> bool {
        !matches!(self, Self::Object | Self::Array | Self::Loose)
    }
}

/// How a line is spelled: every byte of it but the holes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// The pieces between the holes, one after the other.
    fixed: Box<[u8]>,
    /// Where the piece before each hole ends in `fixed`.
    holes: Box<[(u32, Hole)]>,
    /// Whether a hole may hold white space.
    wraps: bool,
}

/// A part of every line of a shape, wherever the holes before it have moved it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    from: Place,
    to: Place,
    /// A value there is sound: it was when it was learnt, and what changes in it is checked in full.
    pub(super) sound: bool,
}

/// So many bytes from the beginning of a piece.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    piece: u32,
    offset: u32,
}

/// Where each piece of a shape begins in a line.
pub(super) type Starts = [u32; MOST + 1];

/// Nothing has been read yet.
pub(super) const NO_STARTS: Starts = [0; MOST + 1];

/// A line that has a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match<'m, 'a> {
    line: &'a str,
    starts: &'m Starts,
}

impl<'m, 'a> Match<'m, 'a> {
    /// A line for which [`Shape::read`] has found where the pieces begin.
    #[inline]
    pub(super) const fn new(line: &'a str, starts: &'m Starts) -> Self {
        Self { line, starts }
    }

    /// A part of the line.
    #[inline]
    pub(super) fn part(&self, spot: Spot) -> &'a str {
        let at = |place: Place| self.starts.get(place.piece as usize).map_or(0, |start| start + place.offset) as usize;
        // The pieces are those of the line that was learnt, and a hole is whole: the borders are those of characters.
        self.line.get(at(spot.from)..at(spot.to)).unwrap_or_default()
    }
}

impl<'a> Match<'_, 'a> {
    /// A value of the line.
    #[inline]
    pub(super) fn raw(&self, spot: Spot) -> Raw<'a> {
        Raw::known(self.part(spot), spot.sound)
    }
}

impl Shape {
    /// If `line` begins with a value of this shape: how long that is. Notes where its pieces are. Else how many of its holes were
    /// read, with the pieces before them. The first `known` holes have been read already, and `starts` tells where they end. `session` is the id
    /// of the session that is read, if it is known.
    #[inline]
    pub(super) fn read(&self, line: &str, known: usize, session: &str, starts: &mut Starts) -> Result<usize, usize> {
        let bytes = line.as_bytes();
        // A number that does not fit has no place in `starts`.
        if bytes.len() > u32::MAX as usize {
            return Err(0);
        }
        let (mut at, mut from) = match known.checked_sub(1) {
            None => (0, 0),
            Some(last) => (starts[known] as usize, self.holes[last].0 as usize),
        };
        for n in known..self.holes.len() {
            let (end, hole) = self.holes[n];
            *starts.get_mut(n).ok_or(n)? = at as u32;
            let piece = self.fixed.get(from..end as usize).ok_or(n)?;
            if !stands_at(bytes, at, piece) {
                return Err(n);
            }
            at += piece.len();
            from = end as usize;
            let mut cursor = Cursor::starting(line, at);
            match (hole, bytes.get(at).ok_or(n)?) {
                // The piece before it ends with the quote that the string begins with.
                (Hole::Filled, b'"') => return Err(n),
                (Hole::Text | Hole::Filled, _) => {
                    at = cursor.string_body().map_err(|_| n)?;
                    continue;
                }
                (Hole::Session, _) => {
                    if session.is_empty() || !stands_at(bytes, at, session.as_bytes()) {
                        return Err(n);
                    }
                    at += session.len();
                    continue;
                }
                (Hole::Number, b'-' | b'0'..=b'9') => {
                    // Indices and counts, as a rule.
                    if let Some(end) = whole_number(bytes, at) {
                        at = end;
                        continue;
                    }
                    cursor.skip().map_err(|_| n)?;
                }
                (Hole::Object, b'{') | (Hole::Array, b'[') => {
                    cursor.skip().map_err(|_| n)?;
                }
                (Hole::Record, b'{') | (Hole::List, b'[') => {
                    cursor.raw().map_err(|_| n)?;
                }
                (Hole::Value, first) if !first.is_ascii_whitespace() => {
                    cursor.raw().map_err(|_| n)?;
                }
                (Hole::Loose, first) if !first.is_ascii_whitespace() => {
                    cursor.skip().map_err(|_| n)?;
                }
                _ => return Err(n),
            }
            at = cursor.position();
        }
        let n = self.holes.len();
        let piece = self.fixed.get(from..).ok_or(n)?;
        *starts.get_mut(n).ok_or(n)? = at as u32;
        stands_at(bytes, at, piece).then(|| at + piece.len()).ok_or(n)
    }

    /// How long the line's end is behind a value of this shape, which is `len` bytes long. `None` if it does not end there, or has
    /// ended before.
    #[inline]
    pub(super) fn line_end(&self, text: &str, len: usize) -> Option<usize> {
        let (value, behind) = text.as_bytes().split_at_checked(len)?;
        let end = match behind {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        // Between the tokens of an object or an array a line feed would be white space.
        (!self.wraps || memchr::memchr(b'\n', value).is_none()).then_some(end)
    }

    /// How many holes both shapes begin with that are alike, as are the pieces before them.
    pub(super) fn shared(&self, other: &Self) -> usize {
        let mut from = 0;
        let alike = |(one, two): &(&(u32, Hole), &(u32, Hole))| {
            let piece = from..one.0 as usize;
            from = piece.end;
            one == two && self.fixed[piece.clone()] == other.fixed[piece]
        };
        self.holes.iter().zip(&other.holes).take_while(alike).count()
    }

    /// How much text is remembered.
    pub(super) const fn size(&self) -> usize {
        self.fixed.len()
    }

    /// The text before the first hole.
    pub(super) fn beginning(&self) -> &[u8] {
        let end = self.holes.first().map_or(self.fixed.len(), |&(end, _)| end as usize);
        &self.fixed[..end]
    }
}

/// Where a whole number ends; `None` for other numbers, which may be none.
#[inline]
fn whole_number(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    // Most are indices.
    if let Some([b'0'..=b'9', b',' | b'}' | b']']) = rest.get(..2) {
        return Some(at + 1);
    }
    // Times have more than eight.
    let many = rest.first_chunk().is_some_and(|eight| are_digits(*eight));
    let behind = if many { 8 } else { 0 };
    let digits = behind + rest[behind..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let alone = digits == 1 || rest.first() != Some(&b'0');
    (digits > 0 && alone && matches!(rest.get(digits), Some(b',' | b'}' | b']'))).then_some(at + digits)
}

/// Whether all of them are decimal digits.
#[inline]
const fn are_digits(eight: [u8; 8]) -> bool {
    const HIGH: u64 = u64::from_le_bytes([0xf0; 8]);
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    const SIX: u64 = u64::from_le_bytes([6; 8]);
    let word = u64::from_le_bytes(eight);
    // With six added what is behind `9` has another high half; no sum carries into the next byte, as all of them are below 0x40.
    word & HIGH == ZEROS && word.wrapping_add(SIX) & HIGH == ZEROS
}

/// A shape that is being learnt from one line.
pub(super) struct Drawing<'l> {
    line: &'l str,
    /// The holes in order: from, to, what may stand there.
    holes: Vec<(usize, usize, Hole)>,
}

impl<'l> Drawing<'l> {
    pub(super) const fn new(line: &'l str) -> Self {
        Self { line, holes: Vec::new() }
    }

    /// Where a part stands in the line; `None` for a text that is no part of it.
    fn find(&self, part: &str) -> Option<(usize, usize)> {
        let from = (part.as_ptr() as usize).wrapping_sub(self.line.as_ptr() as usize);
        (from <= self.line.len() && part.len() <= self.line.len() - from).then_some((from, from + part.len()))
    }

    /// Whether it is a part of the line.
    pub(super) fn has(&self, part: &str) -> bool {
        self.find(part).is_some()
    }

    /// A part may change; `false` if it is none of the line.
    pub(super) fn hole(&mut self, part: &str, hole: Hole) -> bool {
        let Some((from, to)) = self.find(part) else { return false };
        self.holes.push((from, to, hole));
        true
    }

    /// The line is one of the session `id`, which may be said again as `session_id`: there the id of the session stands that is read.
    /// False if it stands elsewhere too, where it may mean something else. `finder` is that of the id before, which is the same as a rule.
    pub(super) fn name(&mut self, id: &str, finder: &mut Option<Finder<'static>>) -> bool {
        const AGAIN: &[u8] = b"\"session_id\":\"";
        let is_open = |(_, _, hole): &(usize, usize, Hole)| *hole == Hole::Session;
        if !self.holes.iter().any(is_open) {
            return true;
        }
        self.in_order();
        if finder.as_ref().is_none_or(|finder| finder.needle() != id.as_bytes()) {
            *finder = Some(Finder::new(id).into_owned());
        }
        let Some(finder) = finder else { return false };
        let bytes = self.line.as_bytes();
        let (mut again, mut from) = (Vec::new(), 0);
        for n in 0..=self.holes.len() {
            let to = self.holes.get(n).map_or(bytes.len(), |&(to, _, _)| to);
            for at in finder.find_iter(bytes.get(from..to).unwrap_or_default()).map(|at| from + at) {
                let end = at + id.len();
                if !bytes[..at].ends_with(AGAIN) || bytes.get(end) != Some(&b'"') {
                    return false;
                }
                again.push((at, end, Hole::Session));
            }
            from = self.holes.get(n).map_or(from, |&(_, end, _)| end);
        }
        self.holes.append(&mut again);
        true
    }

    /// Puts the holes in order. What is open anyway may be anything.
    fn in_order(&mut self) {
        self.holes
            .sort_unstable_by_key(|&(from, to, hole)| (from, to, hole == Hole::Session, hole == Hole::Text));
        let mut end = 0;
        self.holes.retain(|&(_, to, hole)| {
            let within = hole == Hole::Session && to <= end;
            end = end.max(to);
            !within
        });
        // What is a text for one reader and a filled one for another is filled.
        self.holes
            .dedup_by_key(|&mut (from, to, hole)| (from, to, if hole == Hole::Text { Hole::Filled } else { hole }));
    }

    /// Puts the holes in order. `None` if they overlap, are too many, or do not stand where their kind stands, and if there are more than
    /// `longest` bytes around them.
    pub(super) fn shape(&mut self, longest: usize) -> Option<Shape> {
        self.in_order();
        let bytes = self.line.as_bytes();
        let open: usize = self.holes.iter().map(|(from, to, _)| to - from).sum();
        let around = bytes.len().saturating_sub(open);
        if self.holes.len() > MOST || around > longest {
            return None;
        }
        let (mut fixed, mut holes, mut at) = (Vec::with_capacity(around), Vec::with_capacity(self.holes.len()), 0);
        for &(from, to, hole) in &self.holes {
            let quoted = from > at && bytes[from - 1] == b'"' && bytes.get(to) == Some(&b'"');
            let begins = match hole {
                Hole::Text | Hole::Filled => quoted,
                Hole::Object | Hole::Record => bytes.get(from) == Some(&b'{'),
                Hole::Array | Hole::List => bytes.get(from) == Some(&b'['),
                // An id may be a part of a text.
                Hole::Number | Hole::Value | Hole::Loose | Hole::Session => from < to,
            };
            if from < at || !begins {
                return None;
            }
            fixed.extend_from_slice(&bytes[at..from]);
            holes.push((u32::try_from(fixed.len()).ok()?, hole));
            at = to;
        }
        fixed.extend_from_slice(&bytes[at..]);
        Some(Shape {
            wraps: holes
                .iter()
                .any(|(_, hole)| !matches!(hole, Hole::Text | Hole::Filled | Hole::Number | Hole::Session)),
            fixed: fixed.into(),
            holes: holes.into(),
        })
    }

    /// Where a part stands in every line of the shape, which may be known to be sound in this one. The holes are in order.
    pub(super) fn spot(&self, part: &str, is_checked: bool) -> Option<Spot> {
        let (from, to) = self.find(part)?;
        let start = |piece: usize| if piece == 0 { 0 } else { self.holes[piece - 1].1 };
        // At the border of a hole: in front of one that begins there, behind one that ends there. An empty hole has both.
        let first = self.holes.partition_point(|&(begin, _, _)| begin < from);
        let last = self.holes.partition_point(|&(_, end, _)| end <= to);
        let place = |piece: usize, at: usize| {
            Some(Place {
                piece: u32::try_from(piece).ok()?,
                offset: u32::try_from(at.checked_sub(start(piece))?).ok()?,
            })
        };
        let inside = self.holes.get(first..last).unwrap_or_default();
        let sound = inside.iter().all(|(_, _, hole)| hole.is_checked()) && (is_checked || Raw::trusted(part).check().is_ok());
        Some(Spot {
            from: place(first, from)?,
            to: place(last, to)?,
            sound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(line: &str, holes: &[(&str, Hole)], parts: &[&str]) -> (Shape, Vec<Spot>) {
        let slice = |part: &str| {
            let at = line.find(part).unwrap();
            &line[at..at + part.len()]
        };
        let mut drawing = Drawing::new(line);
        for (part, hole) in holes {
            assert!(drawing.hole(slice(part), *hole));
        }
        let shape = drawing.shape(100).unwrap();
        (shape, parts.iter().map(|part| drawing.spot(slice(part), false).unwrap()).collect())
    }

    #[test]
    fn parts_are_found_wherever_the_holes_move_them() {
        let line = r#"{"a":"text","n":1,"é":{"k":[1,2]},"l":[3],"v":null,"f":"full","tail":true}"#;
        let holes = [
            ("text", Hole::Text),
            ("1", Hole::Number),
            (r#"{"k":[1,2]}"#, Hole::Object),
            ("[3]", Hole::Array),
            ("null", Hole::Value),
            ("full", Hole::Filled),
        ];
        let parts = [
            "text",
            r#""text""#,
            "1",
            "é",
            r#"{"k":[1,2]}"#,
            "[3]",
            "null",
            "full",
            "true",
            "tail",
            r#"1,"é":{"k":[1,2]}"#,
        ];
        let (shape, spots) = learn(line, &holes, &parts);
        assert_eq!(shape.beginning(), br#"{"a":""#);
        let other = r#"{"a":"","n":-12.5e3,"é":{"\"":"]"},"l":[],"v":{"x":1},"f":"y","tail":true}{"next":1}"#;
        let mut starts = NO_STARTS;
        let len = shape.read(other, 0, "", &mut starts).unwrap();
        let found = Match::new(other, &starts);
        let parts: Vec<_> = spots.into_iter().map(|spot| found.part(spot)).collect();
        let moved = [
            "",
            r#""""#,
            "-12.5e3",
            "é",
            r#"{"\"":"]"}"#,
            "[]",
            r#"{"x":1}"#,
            "y",
            "true",
            "tail",
            r#"-12.5e3,"é":{"\"":"]"}"#,
        ];
        assert_eq!(parts, moved);
        assert_eq!(&other[len..], r#"{"next":1}"#);
        let good = r#"{"a":"x","n":1,"é":{},"l":[],"v":1,"f":"z","tail":true}"#;
        assert_eq!(shape.read(good, 0, "", &mut starts), Ok(good.len()));
        for (part, wrong) in [
            ("1,", "\"1\","),
            ("1,", "01,"),
            ("1,", ","),
            ("1,", " 1,"),
            ("{}", "null"),
            ("{}", "[]"),
            ("{}", "{]}"),
            ("[]", "{}"),
            (":1,\"f\"", ":\"\\x\",\"f\""),
            (":1,\"f\"", ": 1,\"f\""),
            ("true", "false"),
            ("\"x\"", "\"\\x\""),
            ("\"x\"", "\"\u{1}\""),
            ("\"x\"", "1"),
            ("\"z\"", "\"\""),
        ] {
            let miss = good.replacen(part, wrong, 1);
            assert!(shape.read(&miss, 0, "", &mut starts).is_err(), "{miss}");
        }
        for end in 0..good.len() {
            assert!(good.get(..end).is_none_or(|cut| shape.read(cut, 0, "", &mut starts).is_err()), "{end}");
        }
    }

    #[test]
    fn a_hole_is_checked_as_its_value_was() {
        let line = r#"{"a":{"k":1},"b":[2]}"#;
        let (object, array) = (&line[5..12], &line[17..20]);
        let mut starts = NO_STARTS;
        for (is_checked, fits) in [(false, true), (true, false)] {
            let mut drawing = Drawing::new(line);
            for value in [object, array] {
                let (part, hole) = Hole::of(Raw::known(value, is_checked)).unwrap();
                assert!(drawing.hole(part, hole));
            }
            let shape = drawing.shape(100).unwrap();
            for (other, is_sound) in [
                (r#"{"a":{"k":[2]},"b":[]}"#, true),
                (r#"{"a":{"k":01},"b":[2]}"#, false),
                (r#"{"a":{"k":1},"b":[nonsense]}"#, false),
            ] {
                assert_eq!(shape.read(other, 0, "", &mut starts).is_ok(), is_sound || fits, "{other}");
            }
            assert!(shape.read(r#"{"a":[],"b":[2]}"#, 0, "", &mut starts).is_err());
        }
        assert_eq!(Hole::of(Raw::NULL), None);
    }

    #[test]
    fn the_id_of_the_session_that_is_read_stands_where_the_other_stood() {
        let line = r#"{"id":"chat-one","hook":{"session_id":"one"},"n":1}"#;
        let session = |line: &'static str| {
            let mut drawing = Drawing::new(line);
            let at = line.find("one").unwrap();
            assert!(drawing.hole(&line[at..at + 3], Hole::Session));
            let is_sure = drawing.name("one", &mut None);
            (drawing.shape(100).unwrap(), is_sure)
        };
        let (shape, is_sure) = session(line);
        assert!(is_sure);
        let mut starts = NO_STARTS;
        let mut reads = |line: &str, id: &str| shape.read(line, 0, id, &mut starts) == Ok(line.len());
        assert!(reads(line, "one"));
        assert!(!reads(line, "two") && !reads(line, "on") && !reads(line, ""));
        let other = line.replace("one", "another");
        assert!(reads(&other, "another"));
        assert!(!reads(&line.replacen("one", "another", 1), "another"));
        assert!(!session(r#"{"id":"one","path":"/one/x"}"#).1, "nobody knows what it means there");
    }

    #[test]
    fn whole_numbers_end_where_their_digits_end() {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut eight = *b"12345678";
                eight[at] = byte;
                assert_eq!(are_digits(eight), byte.is_ascii_digit(), "{eight:?}");
            }
        }
        for digits in 1..30 {
            let number = "1234567890".repeat(3)[..digits].to_owned();
            for (end, whole) in [
                (",", true),
                ("}", true),
                ("]", true),
                (".5,", false),
                ("e1,", false),
                ("", false),
                (" ,", false),
            ] {
                let text = format!(":{number}{end}");
                assert_eq!(whole_number(text.as_bytes(), 1), whole.then_some(1 + digits), "{text}");
            }
            let zero = format!("0{number},");
            assert_eq!(whole_number(zero.as_bytes(), 0), None);
        }
        assert_eq!(whole_number(b"-1,", 0), None);
        assert_eq!(whole_number(b"0,", 0), Some(1));
        assert_eq!(whole_number(b",", 0), None);
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_learnt() {
        let line = r#"{"a":"text","b":[1]}"#;
        let at = |from: usize, to: usize| &line[from..to];
        for holes in [
            vec![(at(6, 10), Hole::Text), (at(8, 9), Hole::Text)],
            vec![(at(5, 9), Hole::Text)],
            vec![(at(5, 5), Hole::Number)],
            vec![(at(16, 19), Hole::Object)],
        ] {
            let mut drawing = Drawing::new(line);
            assert!(holes.iter().all(|(part, hole)| drawing.hole(part, *hole)));
            assert!(drawing.shape(100).is_none());
        }
        assert!(Drawing::new(line).shape(line.len()).is_some());
        assert!(Drawing::new(line).shape(line.len() - 1).is_none());
        assert!(!Drawing::new(line).hole(&String::from("text"), Hole::Text));
    }
}
