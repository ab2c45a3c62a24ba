//! Lines that are spelled like an earlier one: what begins and ends a run, prompts, texts, calls and their results.

use super::NO_TIME;
use super::decode::{Decoder, Line, Run};
use super::unrun::says_more;
use crate::codec::{Cx, Dialect};
use crate::event::{Block, Event, Fields, Kind, Origin, OutcomeKind, Session, Sink, Time};
use crate::learn::{Aside, Rules};

/// What follows from the values of a line. Which block a piece belongs to the decoder knows.
static RULES: Rules = Rules {
    indexed: false,
    places: &[super::ERROR],
    tools: Some(Dialect::Gemini),
    counts: Some(&super::stats::STREAM),
    status: None,
};

impl Decoder {
    /// Reads a line that is spelled like an earlier one, tells what it says, and returns how long it is. The `first` of some lines is
    /// read with its end.
    #[inline]
    pub(super) fn read_learnt<'a>(&mut self, text: &'a str, first: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let Self { run, learned, .. } = self;
        learned.read_spelled((text, first), &RULES, cx, sink, |event, _, sink| {
            let goes = is_plain(event, run);
            if matches!(event.kind, Kind::Session(Session { model: Some(_), .. })) && event.origin.time.is_some() {
                sink.own();
            }
            if goes {
                run.tell(event, sink);
            }
            goes
        })
    }

    /// Tells an event, of which its line says nothing else, and remembers how the line is spelled.
    pub(super) fn only<'a>(&mut self, line: &Line<'a>, origin: Origin<'a>, kind: Kind<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
        let event = Event { origin, kind, fields };
        if line.cx.trace.is_none() && !matches!(kind, Kind::ToolResult(result) if says_more(result)) {
            self.learned.learn(line.text, &RULES, &event, Aside::default());
        }
        self.run.tell(&event, sink);
    }
}

/// Whether what a line says follows from its values alone.
fn is_plain(event: &Event<'_>, run: &Run) -> bool {
    let is_timed = !matches!(event.origin.time, Some(Time::Iso(time)) if time.is(NO_TIME));
    is_timed
        && match event.kind {
            Kind::Reply(reply) => !matches!(reply.blocks, [Block::Call(call)] if call.input.is_null()),
            // The words of a failure may say more of it than the form of the line.
            Kind::ToolResult(result) => !says_more(result),
            Kind::Outcome(outcome) => outcome.kind == OutcomeKind::Success || run.warned.is_empty(),
            _ => true,
        }
}
