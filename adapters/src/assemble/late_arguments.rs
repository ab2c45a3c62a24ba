//! Calls that are spoken of before it is known what they are called with: what follows one is held until it is told, so that each is told
//! in its place.

use std::collections::VecDeque;

use super::held_line::Held;
use super::{Assembler, Down};
use crate::codec::{Decoder, Dialect, Tools};
use crate::event::{Block, Event, Input, InputKind, Kind, Reply, Sink};
use crate::json::Str;

/// What is held, in the order in which it was said: the first is a call that is not told yet.
#[derive(Debug, Default)]
pub(super) struct Late {
    said: VecDeque<Said>,
    /// How many bytes its lines have.
    size: usize,
}

#[derive(Debug)]
enum Said {
    /// A call was spoken of; whether it is said to run.
    Announced { id: String, runs: bool },
    /// The line that says it, and the call that it tells, if it does.
    Line { call: Option<String>, held: Held },
}

impl Late {
    /// So many bytes are held, and so many things one behind the other.
    const MOST: usize = 1 << 20;
    const MANY: usize = 1 << 12;

    fn is_full(&self) -> bool {
        self.size > Self::MOST || self.said.len() >= Self::MANY
    }

    fn place(&mut self, id: Str<'_>) -> Option<&mut Said> {
        self.said.iter_mut().find(|said| match said {
            Said::Announced { id: call, .. } | Said::Line { call: Some(call), .. } => call == id.as_escaped(),
            Said::Line { call: None, .. } => false,
        })
    }

    fn is_first(&self, id: Str<'_>) -> bool {
        matches!(self.said.front(), Some(Said::Announced { id: call, .. }) if call == id.as_escaped())
    }

    /// A call is on its way that has not been told.
    fn hear(&mut self, id: Str<'_>, is_running: bool) {
        let is_full = self.is_full();
        match self.place(id) {
            Some(Said::Announced { runs, .. }) => *runs |= is_running,
            Some(Said::Line { .. }) => {}
            None if is_full => {}
            None => self.said.push_back(Said::Announced {
                id: id.as_escaped().to_owned(),
                runs: is_running,
            }),
        }
    }

    /// Holds what a line says; of a call that was spoken of, in its place.
    fn hold(&mut self, call: Option<Str<'_>>, held: Held) {
        self.size += held.size();
        let announced = call.and_then(|id| self.place(id)).filter(|said| matches!(said, Said::Announced { .. }));
        let call = call.map(|id| id.as_escaped().to_owned());
        match announced {
            Some(place) => *place = Said::Line { call, held },
            None => self.said.push_back(Said::Line { call, held }),
        }
    }

    /// What waits for nothing, or `all` that is held: then what was spoken of has no place any more.
    fn take(&mut self, all: bool) -> Vec<Held> {
        let mut lines = Vec::new();
        while let Some(said) = self.said.pop_front() {
            match said {
                Said::Line { held, .. } => {
                    self.size -= held.size();
                    lines.push(held);
                }
                Said::Announced { .. } if all => {}
                waits @ Said::Announced { .. } => {
                    self.said.push_front(waits);
                    break;
                }
            }
        }
        lines
    }
}

/// The call that an event tells.
const fn told<'a>(kind: &Kind<'a>) -> Option<Str<'a>> {
    match kind {
        Kind::Reply(Reply {
            blocks: [Block::Call(call)], ..
        }) => Some(call.id),
        _ => None,
    }
}

impl Assembler {
    /// Whether an event is held behind a call that is not told yet, or has been taken with what was held behind it.
    pub(super) fn holds<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) -> bool {
        if let Kind::ToolProgress(progress) = event.kind
            && self.calls.find(progress.call).is_none()
        {
            let runs = progress.status.is_some_and(|status| status.is("in_progress"));
            self.late.hear(progress.call, runs);
            if self.late.said.iter().all(|said| matches!(said, Said::Announced { .. })) {
                return false;
            }
        }
        if self.late.said.is_empty() {
            return false;
        }
        let call = told(&event.kind);
        if call.is_some_and(|id| self.late.is_first(id)) {
            self.late.said.pop_front();
            self.take(event, down);
            self.tell_late(false, down);
            return true;
        }
        match event.kind {
            _ if self.late.is_full() || self.is_urgent(&event.kind) => {
                self.tell_late(true, down);
                return false;
            }
            // They say nothing of what stands in which order.
            Kind::Notice(_) | Kind::Heartbeat(_) | Kind::Noise(_) | Kind::Unknown(_) | Kind::Hint(_) | Kind::Command(_) => return false,
            _ => {}
        }
        if event.kind.is_conversation() {
            self.content(event, down);
        }
        self.late.hold(call, Held::event(event, down.cx));
        if self.want.tools == Tools::Calls {
            call.into_iter().for_each(|id| down.out.used(id.as_escaped()));
            if let Kind::ToolResult(result) = event.kind {
                down.out.used(result.call.as_escaped());
            }
        }
        down.out.promise();
        down.out.merged("it is told behind a call that is not whole yet");
        true
    }

    /// The same of what the host says.
    pub(super) fn holds_input<'a>(&mut self, input: &Input<'a>, down: &mut Down<'_, 'a>) -> bool {
        if self.late.said.is_empty() {
            return false;
        }
        if self.duties.live || self.late.is_full() || matches!(input.kind, InputKind::Prompt(_) | InputKind::Chat(_)) {
            self.tell_late(true, down);
            return false;
        }
        self.late.hold(None, Held::input(input));
        down.out.promise();
        down.out.merged("it is told behind a call that is not whole yet");
        true
    }

    /// Whether it does not wait for calls: what a turn begins and ends with, and in a session that lives all that its host has to see at
    /// once.
    fn is_urgent(&self, kind: &Kind<'_>) -> bool {
        match kind {
            Kind::Session(_) | Kind::Prompt(_) | Kind::Outcome(_) | Kind::Fatal(_) => true,
            Kind::Request(_) | Kind::Response(_) | Kind::Withdraw(_) | Kind::BlockStart(_) | Kind::Delta(_) => self.duties.live,
            Kind::Reply(_) => self.duties.live && told(kind).is_none(),
            Kind::ToolResult(_) => self.duties.live && self.late.said.iter().any(|said| matches!(said, Said::Announced { runs: true, .. })),
            _ => false,
        }
    }

    /// Tells what is held and waits for nothing, or `all` of it.
    pub(super) fn tell_late(&mut self, all: bool, down: &mut Down<'_, '_>) {
        let lines = self.late.take(all);
        if lines.is_empty() {
            return;
        }
        self.growing = None;
        let mut decoder = Decoder::new(Dialect::CANONICAL);
        let cx = down.cx;
        let mut again = Again { assembler: self, down };
        for held in lines {
            held.tell(&mut decoder, cx, &mut again);
        }
    }
}

/// Takes what was held.
struct Again<'s, 'd, 'e, 'a> {
    assembler: &'s mut Assembler,
    down: &'d mut Down<'e, 'a>,
}

impl<'a> Sink<'a> for Again<'_, '_, '_, 'a> {
    fn event(&mut self, event: &Event<'a>) {
        self.assembler.take(event, self.down);
    }

    fn input(&mut self, input: &Input<'a>) {
        self.assembler.take_input(input, self.down);
    }
}
