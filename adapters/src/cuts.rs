//! Where a log may be cut in two, so that both parts convert by themselves to what they give in one piece, if the second is told where
//! it stands ([`Options::at`](crate::convert::Options::at)).
//!
//! A [`Converter`](crate::convert::Converter) keeps nothing of a session when the next one begins, so the first line of
//! another session is such a place, if the turn before it is over and in the same dialect: a turn may go on under another id. What
//! counts is what a decoder says of the lines, not what they look like: a session's id may stand in lines of other sessions too.

use std::collections::VecDeque;

use crate::codec::{Decoder, Dialect};
use crate::detect;
use crate::event::{Event, Input, Sink};
use crate::follow::ends_turn;
use crate::json::{Error, Raw, Str};
use crate::reader::{Consumer, Damaged, Framing, Reader, Source};

/// Looks for places to cut, a line at a time.
#[derive(Debug)]
pub struct Cuts {
    dialect: Dialect,
    max_line: usize,
    /// The session of the last line that names one.
    session: String,
    /// That line is not among the recent ones any more, and was searched for its session only, not decoded.
    unsure: bool,
    recent: VecDeque<Recent>,
}

/// One of the last lines.
#[derive(Debug, Default)]
struct Recent {
    line: Vec<u8>,
    /// The session was found in it, which may be about another one.
    searched: bool,
}

/// What lines say of sessions and turns.
#[derive(Default)]
struct Seen {
    /// The first and the last session that was named.
    first: Option<String>,
    last: String,
    /// Whether the last turn has ended, if anything was said of turns.
    ended: Option<bool>,
    /// The same where the last other session began.
    ended_before: Option<bool>,
}

impl Seen {
    fn names(&mut self, id: &str) {
        if id != self.last {
            self.ended_before = self.ended;
            id.clone_into(&mut self.last);
        }
        self.first.get_or_insert_with(|| id.to_owned());
    }
}

impl<'a> Sink<'a> for Seen {
    fn event(&mut self, event: &Event<'a>) {
        if let Some(id) = event.origin.session.filter(|id| !id.is_empty()) {
            self.names(id.as_escaped());
        }
        self.ended = ends_turn(&event.kind).or(self.ended);
    }

    fn input(&mut self, _input: &Input<'a>) {}

    fn program(&mut self, session: Option<Str<'a>>, _process: Option<Raw<'a>>) {
        match session {
            Some(id) => self.names(id.as_escaped()),
            // It begins another session, or none.
            None => self.ended = Some(false),
        }
    }
}

impl Consumer for Seen {
    fn value<'a>(&mut self, text: &'a str, source: Source<'_, 'a>) -> Result<usize, Error> {
        source.tell(text, self)
    }

    // What is damaged names no session.
    fn damaged(&mut self, _damaged: &Damaged<'_>) {}
}

impl Cuts {
    /// Shorter ids are not searched for: they stand in too many lines.
    const TELLING: usize = 8;
    /// So many lines are looked back at for the end of a turn.
    const RECENT: usize = 16;

    /// For a log of `dialect`, in which lines longer than `max_line` are left out.
    pub fn new(dialect: Dialect, max_line: usize) -> Self {
        Self {
            dialect,
            max_line,
            session: String::new(),
            unsure: false,
            recent: VecDeque::new(),
        }
    }

    /// Takes the next line, with its line feed. Returns whether the log may be cut before it.
    pub fn line(&mut self, line: &[u8]) -> bool {
        // The header of stored events stands before the first line of a session, and belongs to it. A model's stream is one reply.
        if line.len() > self.max_line || self.dialect.vendor().logs.stores_others || self.dialect.is_api() {
            return false;
        }
        if self.session.len() >= Self::TELLING && memchr::memmem::find(line, self.session.as_bytes()).is_some() {
            self.keep(line, true);
            return false;
        }
        let found = self.seen([line]);
        let cut = found.first.is_some_and(|first| self.ends_before(line, &first));
        if !found.last.is_empty() {
            self.session = found.last;
            self.unsure = false;
            self.recent.clear();
        }
        self.keep(line, false);
        cut
    }

    /// The session that a line belongs to, as far as the line alone tells. To look at places far apart before every line
    /// between them is taken.
    pub fn session_of(&self, line: &[u8]) -> Option<String> {
        if line.len() > self.max_line { None } else { self.seen([line]).first }
    }

    /// Lines follow that were not looked at: which session they belong to is no longer known.
    pub fn forget(&mut self) {
        self.session.clear();
        self.unsure = false;
        self.recent.clear();
    }

    fn keep(&mut self, line: &[u8], searched: bool) {
        let mut kept = match self.recent.len() {
            Self::RECENT.. => self.recent.pop_front().unwrap_or_default(),
            _ => Recent::default(),
        };
        self.unsure |= kept.searched;
        if searched {
            self.unsure = false;
        }
        line.clone_into(&mut kept.line);
        kept.searched = searched;
        self.recent.push_back(kept);
    }

    /// Whether the session before certainly has ended, its last turn included, where `line` names `another`.
    fn ends_before(&self, line: &[u8], another: &str) -> bool {
        if self.session.is_empty() || another == self.session || self.unsure {
            return false;
        }
        let before = || self.recent.iter().map(|recent| recent.line.as_slice());
        let last = self.seen(before()).last;
        let certain = last == self.session || last.is_empty() && !self.recent.iter().any(|recent| recent.searched);
        certain && self.seen(before().chain([line])).ended_before == Some(true) && detect::may_be(self.dialect, before())
    }

    /// What a decoder that has seen nothing else says of lines.
    fn seen<'l>(&self, lines: impl IntoIterator<Item = &'l [u8]>) -> Seen {
        let mut seen = Seen::default();
        let mut reader = Reader::new(Framing::lines(usize::MAX), usize::MAX, Decoder::new(self.dialect));
        for line in lines {
            reader.feed(line, &mut seen);
        }
        reader.finish(&mut seen);
        seen
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

    fn ends(session: &str) -> String {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"total_cost_usd\":0,\"session_id\":\"{session}\",\"uuid\":\"u\"}}\n"
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
            cuts(&[says(A, ""), ends(A), other.clone(), says(B, ""), other, ends(B), says(A, "")]),
            [3, 6]
        );
        assert_eq!(cuts(&[ends("a"), says("b", ""), ends("b"), says("a", "")]), [1, 3]);
    }

    #[test]
    fn nothing_is_cut_in_the_middle_of_a_turn() {
        assert_eq!(cuts(&[ends(A), says(A, ""), says(B, ""), ends(B), says(A, "")]), [4]);
    }

    #[test]
    fn an_id_in_another_sessions_line_misleads_nobody() {
        // The second line belongs to B already: before the third one B does not begin.
        assert_eq!(cuts(&[ends(A), says(B, A), ends(B), says(A, "")]), [3]);
        // Nor is it known whose session goes on when a line of none names A last.
        let nobody = format!("{{\"type\":\"keep_alive\",\"of\":\"{A}\"}}\n");
        assert_eq!(cuts(&[ends(A), nobody, says(B, ""), ends(B), says(A, "")]), [2, 4]);
    }

    #[test]
    fn damaged_and_left_out_lines_begin_no_session() {
        let broken = says(B, "").replace("]}", "]");
        assert_eq!(cuts(&[ends(A), broken, ends(A), says(B, "")]), [3]);
        let mut cuts = Cuts::new(Dialect::Claude, 300);
        let lines = [ends(A), says(B, &"x".repeat(300)), says(B, "")];
        assert_eq!(
            lines.iter().map(|line| cuts.line(line.as_bytes())).collect::<Vec<_>>(),
            [false, false, true]
        );
        cuts.line(ends(A).as_bytes());
        cuts.forget();
        assert!(!cuts.line(says(B, "").as_bytes()));
    }

    #[test]
    fn two_sessions_may_meet_on_one_line() {
        let both = format!("{}{}", ends(A).trim_end(), says(B, ""));
        assert_eq!(cuts(&[says(A, ""), both, ends(B), says(A, "")]), [3]);
    }
}
