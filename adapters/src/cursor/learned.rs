//! The spelling of a line of which only a text and a time change: pieces of thinking, pieces of an answer.

use crate::json::{Cursor, Raw, Str};

/// How the last line of a kind was spelled around its text and its time.
///
/// Streams repeat themselves: comparing the fixed parts and scanning only what changes is much cheaper than walking over each
/// line, and what is learnt from the last line holds for any order of keys. A line that is spelled otherwise is no hit.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// The three fixed parts, one after the other. A text's quotes belong to the text.
    fixed: String,
    /// Where the first and the second part end in `fixed`.
    ends: [usize; 2],
    /// Whether the text stands before the time.
    text_first: bool,
    /// In which fixed part the session's id stands, and where in it.
    session: Option<(usize, usize, usize)>,
}

/// What a line that is spelled like the last one says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit<'a> {
    pub(super) text: Str<'a>,
    pub(super) time: Raw<'a>,
    pub(super) session: Option<Str<'a>>,
    /// How many bytes the line takes.
    pub(super) used: usize,
}

impl Learned {
    /// Remembers how `line` is spelled, of which the others are parts.
    pub(super) fn learn(&mut self, line: &str, text: Str<'_>, time: Raw<'_>, session: Option<Str<'_>>) {
        self.fixed.clear();
        let Some(((text_from, text_to), (time_from, time_to))) = range(line, text.as_escaped()).zip(range(line, time.as_str())) else {
            return;
        };
        // Without its quotes the text could be any part of the line.
        let quoted = (text_from.wrapping_sub(1), text_to + 1);
        if line.get(quoted.0..text_from) != Some("\"") || line.get(text_to..quoted.1) != Some("\"") {
            return;
        }
        let number = (time_from, time_to);
        self.text_first = quoted.0 < number.0;
        let (first, second) = if self.text_first { (quoted, number) } else { (number, quoted) };
        let parts = [line.get(..first.0), line.get(first.1..second.0), line.get(second.1..)];
        let [Some(head), Some(middle), Some(tail)] = parts else { return };
        self.session = None;
        if let Some(session) = session {
            let Some((from, to)) = range(line, session.as_escaped()) else { return };
            let part = usize::from(from >= first.1) + usize::from(from >= second.1);
            let begin = [0, first.1, second.1][part];
            self.session = Some((part, from - begin, to - from));
        }
        self.fixed.extend([head, middle, tail]);
        self.ends = [head.len(), head.len() + middle.len()];
    }

    /// Reads a line that is spelled like the last one. The text is checked in full.
    #[inline]
    pub(super) fn read<'a>(&self, line: &'a str) -> Option<Hit<'a>> {
        let (head, rest) = self.fixed.split_at(self.ends[0]);
        let (middle, tail) = rest.split_at(self.ends[1] - self.ends[0]);
        if head.is_empty() || !line.starts_with(head) {
            return None;
        }
        let mut begins = [0, 0, 0];
        let (mut text, mut time) = (Str::EMPTY, Raw::NULL);
        let mut at = head.len();
        for (hole, (begin, fixed)) in begins[1..].iter_mut().zip([middle, tail]).enumerate() {
            if (hole == 0) == self.text_first {
                let mut cursor = Cursor::new(&line[at..]);
                // A fixed part ends before the text, so white space cannot stand here.
                text = cursor.string().ok()?;
                at += cursor.position();
            } else {
                let digits = line[at..].bytes().take_while(u8::is_ascii_digit).count();
                time = Raw::trusted(&line[at..at + digits]);
                if digits == 0 || (digits > 1 && time.as_str().starts_with('0')) {
                    return None;
                }
                at += digits;
            }
            *begin = at;
            if !line.as_bytes()[at..].starts_with(fixed.as_bytes()) {
                return None;
            }
            at += fixed.len();
        }
        let session = match self.session {
            // The fixed parts are equal, so the id is where it was.
            Some((part, from, len)) => Some(Str::trusted(line.get(begins[part] + from..)?.get(..len)?)),
            None => None,
        };
        Some(Hit {
            text,
            time,
            session,
            used: at,
        })
    }
}

/// Where a part stands in its line.
fn range(line: &str, part: &str) -> Option<(usize, usize)> {
    let from = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let to = from.checked_add(part.len())?;
    (to <= line.len()).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(line: &str, text: &str, time: &str, session: Option<&str>) -> Learned {
        let part = |part: &str| &line[line.find(part).unwrap()..][..part.len()];
        let mut learned = Learned::default();
        learned.learn(
            line,
            Str::trusted(part(text)),
            Raw::trusted(part(time)),
            session.map(|s| Str::trusted(part(s))),
        );
        learned
    }

    #[test]
    fn text_and_time_may_stand_in_any_order() {
        for line in [
            "{\"type\":\"thinking\",\"text\":\"one\",\"session_id\":\"S1\",\"timestamp_ms\":12}",
            "{ \"timestamp_ms\" : 12 ,\"session_id\":\"S1\",\"text\": \"one\" }",
            "{\"session_id\":\"S1\",\"timestamp_ms\":12,\"m\":[{\"text\":\"one\"}]}",
        ] {
            let learned = learn(line, "one", "12", Some("S1"));
            let next = line.replace("one", "two \\u00e9é\\\"").replace("12", "1788000000004");
            let hit = learned.read(&next).unwrap();
            assert_eq!((hit.text.as_escaped(), hit.time.as_str()), ("two \\u00e9é\\\"", "1788000000004"));
            assert_eq!((hit.session, hit.used), (Some(Str::trusted("S1")), next.len()));
            let more = format!("{next}{{}}");
            assert_eq!(learned.read(&more).map(|hit| hit.used), Some(next.len()));
            for other in [
                line.replace("S1", "S2"),
                line.replace("12", "-1"),
                line.replace("12", "012"),
                line.replace("12", "1.5"),
                line.replace("12", "\"12\""),
                line.replace("\"one\"", "1"),
                line.replace("one", "a\\x"),
                line.replace("one", "a\u{1}b"),
                line[..line.len() - 1].to_owned(),
                line[..20].to_owned(),
                String::new(),
            ] {
                assert_eq!(learned.read(&other), None, "{other}");
            }
        }
    }

    #[test]
    fn parts_that_are_no_parts_teach_nothing() {
        let line = "{\"text\":\"a\",\"timestamp_ms\":1}".to_owned();
        let mut learned = Learned::default();
        assert_eq!(learned.read(&line), None);
        learned.learn(&line, Str::trusted("a"), Raw::trusted(&line[line.len() - 2..line.len() - 1]), None);
        assert_eq!(learned.read(&line), None);
    }
}
