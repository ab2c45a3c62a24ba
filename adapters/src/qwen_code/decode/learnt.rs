//! Lines that are spelled like an earlier one: pieces, replies, results, the facts of a session, notices, outcomes.
//!
//! What such a line says depends on the lines before it in a few ways, which [`Open`](super::Open) knows.

use super::super::USAGE;
use super::turn::{is_api_error, status};
use super::{Decoder, Line};
use crate::codec::{Cx, Dialect};
use crate::event::{Event, Kind, Reply, Side, Sink};
use crate::json::Raw;
use crate::learn::{Aside, Rules};

/// What follows from the values of a line.
static RULES: Rules = Rules {
    indexed: true,
    places: &[USAGE],
    tools: Some(Dialect::QwenCode),
    counts: Some(&crate::blocks::COUNTS),
    status: Some(|result, _| status(result)),
};

impl Decoder {
    /// Reads a line that is spelled like an earlier one, tells what it says, and returns how long it is. The `first` of some lines is
    /// read with its end.
    #[inline]
    pub(super) fn read_learnt<'a>(&mut self, text: &'a str, first: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let Self { learned, open, side, .. } = self;
        let used = learned.read_spelled((text, first), &RULES, cx, sink, |event, _, sink| {
            // How a subagent ended may be spelled like the end of a turn.
            if matches!(event.kind, Kind::Outcome(outcome) if outcome.is_error) && !open.subagents.is_empty() {
                return false;
            }
            let Kind::Reply(reply) = event.kind else {
                open.told(event);
                sink.event(event);
                return true;
            };
            // Nothing but zeros stands for "not known yet", and an error for itself.
            if reply.usage.is_some_and(|usage| usage.is_blank()) || is_api_error(reply) {
                return false;
            }
            open.told(event);
            let main = event.origin.parent.is_none();
            let reply = Reply {
                last: main && reply.usage.is_some() && !open.message,
                ..*reply
            };
            sink.event(&Event {
                kind: Kind::Reply(cx.keep(reply)),
                ..*event
            });
            true
        })?;
        *side = Side::Agent;
        Some(used)
    }
}

impl<'a> Line<'_, 'a, '_> {
    /// Tells an event, of which its line says nothing else, and remembers how the line is spelled.
    pub(super) fn only(&mut self, decoder: &mut Decoder, event: &Event<'a>, used: usize, index: Option<Raw<'a>>) {
        if self.cx.trace.is_none() {
            decoder
                .learned
                .learn(&self.text[..used], &RULES, event, Aside { index, ..Aside::default() });
        }
        decoder.side = Side::Agent;
        decoder.open.told(event);
        self.sink.event(event);
    }
}

impl<'a> super::Envelope<'a> {
    pub(super) fn event(self, kind: Kind<'a>) -> Event<'a> {
        Event {
            origin: self.origin,
            kind,
            fields: self.fields.into_bump_slice(),
        }
    }
}
