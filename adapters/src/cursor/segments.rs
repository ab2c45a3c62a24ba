//! Which assistant lines are pieces and which are whole segments.
//!
//! | timestamp_ms | model_call_id | what it is |
//! |---|---|---|
//! | no | no | the last segment of the turn, whole (2025: a piece of one; both read as texts that follow each other) |
//! | yes | yes | a segment, whole, flushed before a tool call |
//! | yes | no | with `--stream-partial-output` a piece; without it, rarely, a whole segment |
//!
//! With partial output each segment comes in pieces and then whole, and nothing in the log says so. A whole line that
//! equals the pieces since the last tool call proves it. Until then every piece goes on as a piece, which reads right in
//! both modes; only what a whole line means depends on the proof.

use crate::json::Str;

/// What was said in pieces since the last tool call or whole segment.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// The pieces one after the other, still escaped.
    said: String,
    /// Where in `said` each block begins: thinking may come between pieces of one segment.
    begins: Vec<usize>,
    /// It is proved that segments come in pieces first.
    partial: bool,
}

/// What a whole line means.
#[derive(Debug, PartialEq)]
pub(super) enum Whole<'a> {
    /// A segment that nobody has said yet.
    New,
    /// What was said in pieces, said again: one text for each block of pieces.
    Again(Vec<Str<'a>>),
    /// What was said in pieces, but spelled or cut otherwise. Saying it would say it twice.
    Differs,
}

impl Segments {
    /// A piece came; `fresh` when it begins a block.
    #[inline]
    pub(super) fn piece(&mut self, text: Str<'_>, fresh: bool) {
        if fresh {
            self.begins.push(self.said.len());
        }
        self.said.push_str(text.as_escaped());
    }

    /// A whole line came.
    pub(super) fn whole<'a>(&mut self, text: Str<'a>) -> Whole<'a> {
        let meaning = self.compare(text);
        self.cut();
        meaning
    }

    /// A tool call came, or the turn is over: what was said stays as it is.
    pub(super) fn cut(&mut self) {
        self.said.clear();
        self.begins.clear();
        // One long segment must not hold its memory for the rest of the log.
        if self.said.capacity() > 1 << 20 {
            self.said = String::new();
        }
    }

    /// The run is over; the next one may have other flags.
    pub(super) fn reset(&mut self) {
        self.cut();
        self.partial = false;
    }

    fn compare<'a>(&mut self, text: Str<'a>) -> Whole<'a> {
        if self.said.is_empty() {
            return Whole::New;
        }
        let body = text.as_escaped();
        if body == self.said {
            self.partial = true;
            return Whole::Again(self.split(body));
        }
        if text.same_text(Str::trusted(&self.said)) {
            self.partial = true;
            return if self.begins.len() == 1 {
                Whole::Again(vec![text])
            } else {
                Whole::Differs
            };
        }
        match (self.partial, body.starts_with(&self.said)) {
            // The last pieces are lost.
            (true, true) => Whole::Again(self.split(body)),
            (true, false) => Whole::Differs,
            (false, _) => Whole::New,
        }
    }

    /// Cuts a body that begins with what was said where the blocks begin; the last one takes the rest.
    fn split<'a>(&self, body: &'a str) -> Vec<Str<'a>> {
        let ends = self.begins.iter().skip(1).copied().chain([body.len()]);
        self.begins
            .iter()
            .zip(ends)
            .map(|(&begin, end)| Str::trusted(&body[begin..end]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str]) -> Segments {
        let mut segments = Segments::default();
        for (n, piece) in pieces.iter().enumerate() {
            segments.piece(Str::trusted(piece), n == 0);
        }
        segments
    }

    #[test]
    fn a_whole_line_that_equals_its_pieces_proves_partial_output() {
        let mut segments = said(&["I'll", " run"]);
        assert_eq!(segments.whole(Str::trusted("I'll run")), Whole::Again(vec![Str::trusted("I'll run")]));
        segments.piece(Str::trusted("do"), true);
        assert_eq!(
            segments.whole(Str::trusted("done")),
            Whole::Again(vec![Str::trusted("done")]),
            "a piece is lost"
        );
        segments.piece(Str::trusted("do"), true);
        assert_eq!(segments.whole(Str::trusted("go")), Whole::Differs);
        assert_eq!(segments.whole(Str::trusted("go")), Whole::New, "a segment without pieces");
    }

    #[test]
    fn without_the_proof_a_whole_line_is_a_segment_of_its_own() {
        assert_eq!(said(&["I ask."]).whole(Str::trusted("It is high.")), Whole::New);
        assert_eq!(said(&[]).whole(Str::trusted("")), Whole::New);
        let mut plain = said(&["a"]);
        plain.cut();
        assert_eq!(plain.whole(Str::trusted("a")), Whole::New, "a tool call came between");
    }

    #[test]
    fn pieces_of_several_blocks_are_said_again_block_by_block() {
        let mut segments = said(&["one ", "two "]);
        segments.piece(Str::trusted("three"), true);
        assert_eq!(
            segments.whole(Str::trusted("one two three")),
            Whole::Again(vec![Str::trusted("one two "), Str::trusted("three")])
        );
    }

    #[test]
    fn the_spelling_of_escapes_does_not_count() {
        let mut segments = said(&["\\ud83d", "\\ude00"]);
        assert_eq!(segments.whole(Str::trusted("😀")), Whole::Again(vec![Str::trusted("😀")]));
    }
}
