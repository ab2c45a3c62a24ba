//! Lines that repeat: everything of a line but a few strings is as in the last line of its kind.

use super::cursor::Cursor;
use super::string::Str;

/// The spelling of one kind of line: its text around the `N` strings that change from line to line.
///
/// A stream of deltas repeats itself: comparing the fixed pieces byte by byte and scanning only the strings between them is
/// much cheaper than walking over every line, and learning them from the last line of the kind keeps any key order and
/// white space. A line that is spelled otherwise is no hit and takes the general way.
#[derive(Debug)]
pub(crate) struct Template<const N: usize> {
    /// The fixed pieces, one after the other. Each but the last ends with the quote that opens a hole, each but the first
    /// begins with the quote that closes one.
    fixed: Vec<u8>,
    /// In the order of the line: where the piece before the hole ends in `fixed`, and the number that the caller gave the hole.
    holes: [(usize, usize); N],
}

impl<const N: usize> Default for Template<N> {
    fn default() -> Self {
        Self {
            fixed: Vec::new(),
            holes: [(0, 0); N],
        }
    }
}

impl<const N: usize> Template<N> {
    /// Remembers how `line`, one whole JSON value that has been read, is spelled around the strings `holes`, which are slices
    /// of it. If one of them is none, nothing is remembered.
    pub(crate) fn learn(&mut self, line: &str, holes: [Str<'_>; N]) {
        self.fixed.clear();
        let begin = line.as_ptr() as usize;
        let mut at: [(usize, usize, usize); N] = [(0, 0, 0); N];
        for (number, hole) in holes.iter().enumerate() {
            let from = (hole.as_escaped().as_ptr() as usize).wrapping_sub(begin);
            at[number] = (from, hole.as_escaped().len(), number);
        }
        at.sort_unstable();
        let mut from = 0;
        for (slot, (hole, len, number)) in self.holes.iter_mut().zip(at) {
            let opened = line.get(from..hole).filter(|piece| piece.ends_with('"'));
            let closed = hole
                .checked_add(len)
                .filter(|&end| line.get(hole..).is_some_and(|rest| rest.as_bytes().get(end - hole) == Some(&b'"')));
            let (Some(piece), Some(end)) = (opened, closed) else {
                return self.fixed.clear();
            };
            self.fixed.extend_from_slice(piece.as_bytes());
            *slot = (self.fixed.len(), number);
            from = end;
        }
        self.fixed.extend_from_slice(&line.as_bytes()[from..]);
    }

    /// If `line` begins with a value that is spelled like the last one: its strings, as numbered when it was learnt, and how
    /// many bytes it takes. The strings are checked in full.
    #[inline]
    pub(crate) fn read<'a>(&self, line: &'a str) -> Option<([Str<'a>; N], usize)> {
        if self.fixed.is_empty() {
            return None;
        }
        let bytes = line.as_bytes();
        let mut strings = [Str::EMPTY; N];
        let (mut at, mut from) = (0, 0);
        for &(end, number) in &self.holes {
            let piece = &self.fixed[from..end];
            if !bytes[at..].starts_with(piece) {
                return None;
            }
            // The piece ends with the quote that the string begins with.
            at += piece.len() - 1;
            let mut cursor = Cursor::new(&line[at..]);
            strings[number] = cursor.string().ok()?;
            at += cursor.position() - 1;
            from = end;
        }
        let piece = &self.fixed[from..];
        bytes[at..].starts_with(piece).then_some((strings, at + piece.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(line: &'a str, part: &str) -> Str<'a> {
        let from = line.find(part).unwrap();
        Str::trusted(&line[from..from + part.len()])
    }

    #[test]
    fn reads_lines_of_the_same_spelling_and_no_others() {
        let line = "{ \"uuid\":\"u1\",\"é\":{\"text\":\"hello\" , \"n\":0},\"session\":\"s\"}";
        let mut template = Template::<2>::default();
        assert!(template.read(line).is_none(), "nothing learnt yet");
        template.learn(line, [at(line, "hello"), at(line, "u1")]);
        let (strings, len) = template.read(line).unwrap();
        assert_eq!((strings[0].as_escaped(), strings[1].as_escaped(), len), ("hello", "u1", line.len()));
        let other = "{ \"uuid\":\"\",\"é\":{\"text\":\"a\\\"\\ud800é\" , \"n\":0},\"session\":\"s\"}{\"next\":1}";
        let (strings, len) = template.read(other).unwrap();
        assert_eq!(
            (strings[0].as_escaped(), strings[1].as_escaped(), &other[len..]),
            ("a\\\"\\ud800é", "", "{\"next\":1}")
        );
        for no_hit in [
            line.replace("\"n\":0", "\"n\":1"),
            line.replace(" , ", ","),
            line.replace("\"s\"", "\"t\""),
            line.replace("hello", "a\\x"),
            line.replace("hello", "a\u{1}"),
            line[..line.len() - 1].to_owned(),
            line[..30].to_owned(),
            String::new(),
        ] {
            assert!(template.read(&no_hit).is_none(), "{no_hit}");
        }
    }

    #[test]
    fn strings_that_are_no_part_of_the_line_teach_nothing() {
        let line = "{\"a\":\"b\"}".to_owned();
        let mut template = Template::<1>::default();
        for foreign in ["b", "", "not in the line"] {
            template.learn(&line, [Str::trusted(foreign)]);
            assert!(template.read(&line).is_none());
        }
        template.learn(&line, [at(&line, "a\":\"b")]);
        assert_eq!(template.read(&line).map(|(s, _)| s[0].as_escaped()), None, "more than one string");
        template.learn(&line, [at(&line, "b")]);
        assert!(template.read(&line).is_some());
    }
}
