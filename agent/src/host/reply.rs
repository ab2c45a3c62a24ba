//! What hosts hear of a reply while it comes: all of it, but for what a dialect keeps to itself or calls otherwise.

use crate::host::event_writer::{EventWriter, RunningSubagent, body};
use crate::persona::host::ToldCall;
use agentglot_adapters::raw::event::{BlockHead, BlockStart, Delta, Event, Kind, Piece};
use agentglot_adapters::raw::json::Str;

/// Tells a reply, event by event.
#[derive(Debug)]
pub(crate) struct Teller {
    events: EventWriter,
    subagent: Option<RunningSubagent>,
    /// A subagent's words and thoughts stay with it.
    calls_only: bool,
    /// Calls are told whole, and so.
    whole_calls: Option<ToldCall>,
    hidden: bool,
    call: Option<Held>,
}

/// A call that is coming.
#[derive(Debug)]
struct Held {
    id: String,
    name: String,
    /// The arguments, as the body of a JSON string.
    input: String,
}

impl Teller {
    /// For a reply of whoever speaks.
    pub(crate) const fn new(events: EventWriter, subagent: Option<RunningSubagent>, calls_only: bool, whole_calls: Option<ToldCall>) -> Self {
        Self {
            events,
            subagent,
            calls_only,
            whole_calls,
            hidden: false,
            call: None,
        }
    }

    /// The next event of the reply; `id` is that of the line that its block becomes.
    pub(crate) fn tell(&mut self, event: &Event<'_>, id: Option<&str>) {
        match event.kind {
            Kind::BlockStart(start) => {
                self.hidden = self.calls_only && !matches!(start.head, BlockHead::Call { .. });
                if let (BlockHead::Call { id, name }, true) = (start.head, self.whole_calls.is_some()) {
                    self.call = Some(Held {
                        id: id.as_escaped().to_owned(),
                        name: name.unescape().into_owned(),
                        input: String::new(),
                    });
                    return;
                }
                if self.hidden {
                    return;
                }
            }
            Kind::Delta(delta) => {
                if let (Some(call), Piece::Input(piece)) = (&mut self.call, delta.piece) {
                    call.input.push_str(piece.as_escaped());
                    return;
                }
                if self.hidden {
                    return;
                }
            }
            Kind::BlockStop(stop) => {
                if let (Some(call), Some(told)) = (self.call.take(), self.whole_calls) {
                    self.whole(&call, told, stop.index);
                } else if std::mem::take(&mut self.hidden) {
                    return;
                }
            }
            _ => {}
        }
        self.events.say(event.kind, self.subagent.as_ref(), id);
    }

    /// Tells a call that has come, up to its end.
    fn whole(&self, call: &Held, told: ToldCall, index: u32) {
        let input = Str::trusted(&call.input).unescape();
        let (name, input) = told(&call.name, &input);
        let (name, input) = (body(&name), body(&input));
        let head = BlockHead::Call {
            id: Str::trusted(&call.id),
            name: Str::trusted(&name),
        };
        let say = |kind| self.events.say(kind, self.subagent.as_ref(), None);
        say(Kind::BlockStart(BlockStart { index, head }));
        say(Kind::Delta(Delta {
            index,
            piece: Piece::Input(Str::trusted(&input)),
        }));
    }
}
