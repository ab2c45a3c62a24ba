//! What is told later than it is said: it is held as a line, and what becomes of its parts is known when that is told.

use crate::codec::{Cx, Decode, Decoder};
use crate::event::{Block, Event, Input, Kind, Reply, Request, Sink};
use crate::json::{Raw, Str, leaves};
use crate::trace::{Kept, Trace};

/// A line that is held, and where the source says its parts.
#[derive(Debug)]
pub(super) struct Held {
    line: String,
    kept: Vec<KeptPart>,
}

impl Held {
    pub(super) fn event(event: &Event<'_>, cx: Cx<'_>) -> Self {
        let kept = |trace: &Trace| parts(event).iter().map(|part| part.hold(trace)).collect();
        Self {
            line: event.as_line(),
            kept: cx.trace.map_or_else(Vec::new, kept),
        }
    }

    pub(super) fn input(input: &Input<'_>) -> Self {
        Self {
            line: input.as_line(),
            kept: Vec::new(),
        }
    }

    pub(super) const fn size(&self) -> usize {
        self.line.len()
    }

    /// Tells it.
    pub(super) fn tell<'a>(self, decoder: &mut Decoder, cx: Cx<'a>, sink: &mut dyn Sink<'a>) {
        let mut again = Again {
            sink,
            trace: cx.trace,
            kept: self.kept,
        };
        // It was written of what was read.
        let _ = decoder.line(cx.arena.alloc_str(&self.line), &Cx { trace: None, ..cx }, &mut again);
    }
}

/// Watches what becomes of the parts of what is told.
struct Again<'s, 'a> {
    sink: &'s mut dyn Sink<'a>,
    trace: Option<&'a Trace>,
    kept: Vec<KeptPart>,
}

impl<'a> Sink<'a> for Again<'_, 'a> {
    fn event(&mut self, event: &Event<'a>) {
        let Some(trace) = self.trace else { return self.sink.event(event) };
        let kept = std::mem::take(&mut self.kept);
        let parts = parts(event);
        let before = trace.watches();
        parts.iter().zip(&kept).for_each(|(part, kept)| part.watch(kept, trace));
        self.sink.event(event);
        parts.iter().zip(kept).for_each(|(part, kept)| part.told(kept, trace));
        trace.watch_no_more(before);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.sink.input(input);
    }
}

/// A text or a value that an event says, and the values of which that is made.
struct Part<'e> {
    whole: &'e str,
    leaves: Vec<Raw<'e>>,
}

/// Where the source says them. The whole is kept if none of its values has gone over yet.
#[derive(Debug)]
struct KeptPart {
    whole: Kept,
    leaves: Vec<Kept>,
}

/// What an event says whose parts are held: a call, how it goes, its result, or a question.
fn parts<'e>(event: &Event<'e>) -> Vec<Part<'e>> {
    let text = |whole: &'e str| Part { whole, leaves: Vec::new() };
    let value = |value: Raw<'e>| Part {
        whole: value.as_str(),
        leaves: leaves(value),
    };
    match event.kind {
        Kind::Reply(Reply {
            blocks: [Block::Call(call)], ..
        }) => vec![text(call.name.as_escaped()), value(call.input)],
        Kind::ToolResult(result) => {
            let texts = result.content.texts().map(|text| text.as_escaped()).filter(|text| !text.is_empty());
            texts.map(text).chain(result.detail.map(|detail| value(detail.raw))).collect()
        }
        Kind::Withdraw(withdraw) => withdraw.id.into_iter().map(|id| text(id.as_escaped())).collect(),
        Kind::ToolProgress(progress) => {
            let words = [Some(progress.call), progress.status].into_iter().flatten().map(Str::as_escaped);
            let values = [progress.content, progress.confirmation].into_iter().flatten();
            words.filter(|word| !word.is_empty()).map(text).chain(values.map(value)).collect()
        }
        Kind::Request(Request {
            id,
            subtype,
            permission: Some(asked),
            ..
        }) => {
            let words = [*id, Some(*subtype), Some(asked.name), asked.call, event.origin.turn];
            let words = words.into_iter().flatten().map(Str::as_escaped).filter(|word| !word.is_empty());
            let values = [asked.input, asked.suggestions].into_iter().flatten();
            words.map(text).chain(values.map(value)).collect()
        }
        _ => Vec::new(),
    }
}

impl Part<'_> {
    fn hold(&self, trace: &Trace) -> KeptPart {
        let hold = |part: &str| {
            let mut kept = Kept::default();
            trace.hold_unsaid(&mut kept, part);
            kept
        };
        let leaves: Vec<Kept> = self.leaves.iter().map(|leaf| hold(leaf.as_str())).collect();
        let mut whole = Kept::default();
        if leaves.is_empty() {
            whole = hold(self.whole);
        } else if trace.holds(self.whole) && leaves.iter().all(|leaf| !leaf.is_empty()) {
            trace.hold(&mut whole, self.whole);
        }
        KeptPart { whole, leaves }
    }

    fn watch(&self, kept: &KeptPart, trace: &Trace) {
        trace.watch(self.whole, &kept.whole);
        for (leaf, kept) in self.leaves.iter().zip(&kept.leaves) {
            trace.watch(leaf.as_str(), kept);
        }
    }

    fn told(&self, mut kept: KeptPart, trace: &Trace) {
        const NOWHERE: &str = "no place in the target";
        // Of a value of which nothing goes over one entry tells.
        let gone = !kept.leaves.is_empty() && !kept.whole.is_empty() && !trace.saw(self.whole);
        for (leaf, kept) in self.leaves.iter().zip(&mut kept.leaves) {
            match gone {
                true => trace.release(kept),
                false => trace.told(kept, leaf.as_str(), NOWHERE),
            }
        }
        trace.told(&mut kept.whole, self.whole, NOWHERE);
    }
}
