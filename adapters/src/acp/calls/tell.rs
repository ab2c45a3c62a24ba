//! Calls are told: when they are whole, or when others, a subagent or the end of the turn need them to be.

use super::super::decode::Decoder;
use super::Early;
use crate::chat::Members;
use crate::codec::Cx;
use crate::event::{Block, Content, Event, Fields, Kind, Origin, Reply, ResultStatus, Sink, ToolResult};
use crate::json::Str;

impl Decoder {
    /// Tells the calls that were spoken of and not told.
    pub(in crate::acp) fn tell_calls<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for at in 0..self.calls.all.len() {
            self.tell_untold(at, cx, sink);
        }
    }

    /// The turn is over. Of a call that did not even begin, and of which nobody was asked, what it shows is why not: Gemini CLI says no more
    /// of one that its mode forbids.
    pub(in crate::acp) fn tell_unbegun<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        for at in 0..self.calls.all.len() {
            let call = &mut self.calls.all[at];
            if call.ended || call.past || call.runs || call.asked || !call.waits || call.shown.is_empty() {
                continue;
            }
            call.ended = true;
            let text = Str::trusted(cx.arena.alloc_str(&call.shown));
            let result = cx.keep(ToolResult::new(
                Str::trusted(cx.arena.alloc_str(&call.id)),
                ResultStatus::Error,
                Content::Text(text),
            ));
            let parent = (!call.parent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&call.parent)));
            let origin = Origin { parent, ..self.origin(cx) };
            sink.event(&Event::new(origin, Kind::ToolResult(result)));
        }
    }

    /// A call is spoken of: if others have to be forgotten for it, they are told before.
    pub(in crate::acp) fn tell_before<'a>(&mut self, id: Str<'_>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if self.calls.is_full() && !self.calls.knows(id) {
            self.tell_calls(cx, sink);
        }
    }

    /// A subagent speaks: the call that it works for is whole.
    pub(in crate::acp) fn tell_parent<'a>(&mut self, parent: Str<'_>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(at) = self.calls.find(parent) {
            self.tell_untold(at, cx, sink);
        }
    }

    fn tell_untold<'a>(&mut self, at: usize, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let call = &self.calls.all[at];
        if !call.told {
            let id = Str::trusted(cx.arena.alloc_str(&call.id));
            let parent = (!call.parent.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&call.parent)));
            let origin = Origin { parent, ..self.origin(cx) };
            self.tell_call(id, None, &[], origin, cx, sink);
        }
    }

    /// Tells a call, if that has not been done. `said` is what the message says of it. It is of the round in which it was first spoken of.
    pub(in crate::acp) fn tell_call<'a>(
        &mut self,
        id: Str<'a>,
        said: Option<&Members<'a>>,
        fields: Fields<'a>,
        origin: Origin<'a>,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        let Some(at) = self.calls.find(id).filter(|at| !self.calls.all[*at].told) else {
            return;
        };
        self.end_block(origin, sink);
        let stored = &mut self.calls.all[at];
        stored.told = true;
        let call = stored.call(id, said, cx);
        let mut early = std::mem::take(&mut stored.early);
        let parts = [call.name.as_escaped(), call.input.as_str()];
        if let Some(trace) = cx.trace {
            early.iter_mut().zip(parts).for_each(|(early, part)| early.watch(part, trace));
        }
        let blocks = cx.list(&[Block::Call(call)]);
        let reply = cx.keep(Reply { blocks, ..Reply::default() });
        sink.event(&Event {
            origin,
            kind: Kind::Reply(reply),
            fields,
        });
        if let Some(trace) = cx.trace {
            let tell = |(early, part): (&mut Early, &str)| trace.told(&mut early.kept, part, "no place in the target");
            early.iter_mut().zip(parts).for_each(tell);
        }
    }
}
