//! Where a log may be cut in two, so that both parts convert by themselves to what they give in one piece.
//!
//! A [`Converter`](crate::convert::Converter) keeps nothing of a session when the next one begins, so the first line of
//! another session is such a place. What counts is what a decoder says of a line, not what the line looks like: a session's
//! id may stand in lines of other sessions too.

use crate::codec::{Decoder, Dialect, Layout};
use crate::event::{Event, Input, Sink};
use crate::json::Error;
use crate::reader::{Consumer, Damaged, Framing, Reader, Source};

/// Looks for places to cut, a line at a time.
#[derive(Debug)]
pub struct Cuts {
    dialect: Dialect,
    max_line: usize,
    /// The session of the last line that names one.
    session: String,
    /// That line, when its session was only searched for and not decoded; else empty.
    searched: Vec<u8>,
}

/// The first and the last session that the values of a line belong to.
#[derive(Default)]
struct Sessions {
    first: Option<String>,
    last: String,
}

impl<'a> Sink<'a> for Sessions {
    fn event(&mut self, event: &Event<'a>) {
        if let Some(id) = event.origin.session.filter(|id| !id.is_empty()) {
            id.as_escaped().clone_into(&mut self.last);
            self.first.get_or_insert_with(|| id.as_escaped().to_owned());
        }
    }

    fn input(&mut self, _input: &Input<'a>) {}
}

impl Consumer for Sessions {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        source.tell(text, self)
    }

    // What is damaged names no session.
    fn damaged(&mut self, _damaged: &Damaged<'_>) {}
}

impl Cuts {
    /// Shorter ids are not searched for: they stand in too many lines.
    const TELLING: usize = 8;

    /// For a log of `dialect`, in which lines longer than `max_line` are left out.
    pub fn new(dialect: Dialect, max_line: usize) -> Self {
        Self {
            dialect,
            max_line,
            session: String::new(),
            searched: Vec::new(),
        }
    }

    /// Takes the next line, with its line feed. Returns whether the log may be cut before it.
    pub fn line(&mut self, line: &[u8]) -> bool {
        // The header of stored events stands before the first line of a session, and belongs to it. A model's stream is one reply.
        if line.len() > self.max_line || self.dialect.vendor().stores_others || self.dialect.is_api() {
            return false;
        }
        if self.session.len() >= Self::TELLING && memchr::memmem::find(line, self.session.as_bytes()).is_some() {
            line.clone_into(&mut self.searched);
            return false;
        }
        let found = self.sessions(line);
        let Some(first) = found.first else { return false };
        let searched = std::mem::take(&mut self.searched);
        let certain = searched.is_empty() || self.sessions(&searched).last == self.session;
        let cut = certain && !self.session.is_empty() && first != self.session;
        self.session = found.last;
        cut
    }

    /// The session that a line belongs to, as far as the line alone tells. To look at places far apart before every line
    /// between them is taken.
    pub fn session_of(&self, line: &[u8]) -> Option<String> {
        if line.len() > self.max_line { None } else { self.sessions(line).first }
    }

    /// Lines follow that were not looked at: which session they belong to is no longer known.
    pub fn forget(&mut self) {
        self.session.clear();
        self.searched.clear();
    }

    /// What a decoder that has seen nothing else says of a line.
    fn sessions(&self, line: &[u8]) -> Sessions {
        let mut found = Sessions::default();
        let mut reader = Reader::new(Framing::of(Layout::Lines, usize::MAX), usize::MAX, Decoder::new(self.dialect));
        reader.feed(line, &mut found);
        reader.finish(&mut found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaa-0000-4000-8000-000000000000";
    const B: &str = "bbbbbbbb-0000-4000-8000-000000000000";

    fn says(session: &str, text: &str) -> String {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"msg_1\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\"session_id\":\"{session}\",\"uuid\":\"u\"}}\n"
        )
    }

    fn cuts(lines: &[String]) -> Vec<usize> {
        let mut cuts = Cuts::new(Dialect::Claude, 1 << 20);
        (0..lines.len()).filter(|&n| cuts.line(lines[n].as_bytes())).collect()
    }

    #[test]
    fn a_log_is_cut_where_another_session_begins() {
        let other = "{\"type\":\"keep_alive\"}\n".to_owned();
        assert_eq!(
            cuts(&[says(A, ""), says(A, ""), other.clone(), says(B, ""), other, says(B, ""), says(A, "")]),
            [3, 6]
        );
        assert_eq!(cuts(&[says("a", ""), says("b", ""), says("b", ""), says("a", "")]), [1, 3]);
    }

    #[test]
    fn an_id_in_another_sessions_line_misleads_nobody() {
        // The second line belongs to B already: before the third one B does not begin.
        assert_eq!(cuts(&[says(A, ""), says(B, A), says(B, ""), says(A, "")]), [3]);
        // Nor is it known whose session goes on when a line of none names A last.
        let nobody = format!("{{\"type\":\"keep_alive\",\"of\":\"{A}\"}}\n");
        assert_eq!(cuts(&[says(A, ""), nobody, says(B, ""), says(A, "")]), [3]);
    }

    #[test]
    fn damaged_and_left_out_lines_begin_no_session() {
        let broken = says(B, "").replace("]}", "]");
        assert_eq!(cuts(&[says(A, ""), broken, says(A, ""), says(B, "")]), [3]);
        let mut cuts = Cuts::new(Dialect::Claude, 300);
        let lines = [says(A, ""), says(B, &"x".repeat(300)), says(B, "")];
        assert_eq!(
            lines.iter().map(|line| cuts.line(line.as_bytes())).collect::<Vec<_>>(),
            [false, false, true]
        );
        cuts.line(says(A, "").as_bytes());
        cuts.forget();
        assert!(!cuts.line(says(B, "").as_bytes()));
    }

    #[test]
    fn two_sessions_may_meet_on_one_line() {
        let both = format!("{}{}", says(A, "").trim_end(), says(B, ""));
        assert_eq!(cuts(&[says(A, ""), both, says(B, ""), says(A, "")]), [3]);
    }
}
