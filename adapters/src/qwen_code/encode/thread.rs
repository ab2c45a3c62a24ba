//! One thread's replies: the main one's or a subagent's.
//!
//! A message holds blocks of one kind. It is held until another kind, a result or the end of the round comes: calls of one
//! round stay together, and the last message of a round has the usage.

mod pieces;

use super::super::USAGE;
use super::pen::member;
use super::{COUNTED, Core};
use crate::blocks::MESSAGE;
use crate::event::{At, Block, Count, Event, Reply, RoundEnd, RoundStart, StopKind, Usage};
use crate::json::{Out, Str};
use crate::trace::Kept;

/// What is half said in a thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The tool call whose subagent this is; empty for the main thread.
    parent: String,
    /// Which subagent it is; 0 for the main thread.
    number: u64,
    message: Message,
    round: Round,
    /// The block whose pieces are coming.
    open: Option<Run>,
    middle: Middle,
    /// The source's id of the last round that had one.
    last_round: String,
}

/// What a delta line has between its id and its piece.
#[derive(Debug, Default)]
struct Middle {
    text: Vec<u8>,
    /// The block, and the session that it was rendered for.
    run: Option<Run>,
    index: u32,
    session: String,
}

/// The message that is being put together.
#[derive(Debug, Default)]
struct Message {
    run: Option<Run>,
    id: String,
    /// Its blocks as they will be written, with commas between them.
    content: Vec<u8>,
    /// How many blocks are in `content`.
    held: u32,
    /// The index of the next block that comes in pieces.
    index: u32,
    /// The open block's arguments have gone over in pieces.
    input_said: bool,
    /// Fields of the line and of the message, each behind a comma.
    line_fields: Vec<u8>,
    message_fields: Vec<u8>,
}

/// The reply that is being given.
#[derive(Debug, Default)]
struct Round {
    /// The source's id, until a message has it.
    id: String,
    /// Where the source says it, until a message does.
    unnamed: Kept,
    model: String,
    /// Where the source says the model, until a message does.
    unsaid: Kept,
    /// A message has said it.
    model_told: bool,
    usage: Option<Usage<'static>>,
    /// A message of this round has the usage.
    usage_told: bool,
    frame: Frame,
    /// The pieces are made of messages of this dialect, of which each line has the message's id.
    assembled: bool,
}

/// How far the lines around a reply's pieces have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frame {
    /// No `message_start` was written.
    #[default]
    None,
    /// `message_start` was written.
    Open,
    /// `message_stop` was written too, before a result.
    Interrupted,
}

/// What a message's blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Text,
    Thinking,
    Calls,
    Other,
}

impl Run {
    const fn of(block: &Block<'_>) -> Self {
        match block {
            Block::Text { .. } => Self::Text,
            Block::Thinking(_) => Self::Thinking,
            Block::Call(_) => Self::Calls,
            Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => Self::Other,
        }
    }
}

impl Round {
    /// A message has said the model, and the id.
    fn told(&mut self, out: &Out) {
        self.model_told = true;
        out.release(&mut self.unsaid);
        out.release(&mut self.unnamed);
    }

    /// No message will say the model.
    fn silent(&mut self, out: &Out) {
        out.drop_held(&mut self.unsaid, UNSAID);
    }

    /// Another reply begins.
    fn end(&mut self, next: Self, out: &Out) {
        self.silent(out);
        out.drop_held(&mut self.unnamed, UNSAID);
        *self = next;
    }
}

/// What the ledger says of the facts of a reply of which nothing is written.
const UNSAID: &str = "nothing is said in this reply";

impl Message {
    /// The next message is another one.
    fn reset(&mut self) {
        self.held = 0;
        self.run = None;
        self.index = 0;
        self.id.clear();
        self.line_fields.clear();
        self.message_fields.clear();
        self.content.clear();
        if self.content.capacity() > KEEP {
            self.content = Vec::new();
        }
    }
}

/// How much a block says.
const fn length(block: &Block<'_>) -> usize {
    match block {
        Block::Text { text, .. } => text.as_escaped().len(),
        Block::Thinking(thinking) => thinking.text.as_escaped().len(),
        Block::Call(call) => call.input.as_str().len(),
        Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => 0,
    }
}

/// Beyond this a buffer that held one huge message is given back.
const KEEP: usize = 1 << 20;
/// No more than this waits for what else there is of its kind: a reply that is longer becomes several messages.
const MOST: usize = 4 << 20;

impl Thread {
    pub(super) fn of(parent: &str, number: u64) -> Self {
        Self {
            parent: parent.to_owned(),
            number,
            ..Self::default()
        }
    }

    pub(super) fn round_start(&mut self, core: &mut Core, event: &Event<'_>, start: &RoundStart<'_>, out: &mut Out) {
        self.flush(core, out);
        self.message.reset();
        let next = Round {
            usage: start.usage.map(|usage| usage.detached()),
            assembled: core.own && start.id.is_some() && start.id == event.origin.id,
            ..Round::default()
        };
        self.round.end(next, out);
        if let Some(id) = start.id.map(Str::as_escaped).filter(|id| *id != self.last_round) {
            id.clone_into(&mut self.round.id);
            id.clone_into(&mut self.last_round);
        }
        self.model(start.model, out);
        if let Some(usage) = &start.usage {
            usage.said_by(COUNTED).for_each(|source| out.used(source));
        }
        if self.parent.is_empty() {
            core.turn.rounds += 1;
        }
        // A subagent's pieces come without a frame.
        if !core.partial || !self.parent.is_empty() {
            // Its own replies name themselves.
            if !core.own {
                start.id.into_iter().for_each(|id| out.hold(&mut self.round.unnamed, id.as_escaped()));
                out.carried();
            }
            return;
        }
        start.id.into_iter().for_each(|id| out.used(id.as_escaped()));
        self.start_message(core, event, start, out);
    }

    /// A result comes: what is held stands before it, and so does the end of its frame. More of the same reply begins another one.
    pub(super) fn result(&mut self, core: &mut Core, event: &Event<'_>, out: &mut Out) {
        self.flush(core, out);
        if self.open.is_none() && self.round.frame == Frame::Open && !core.own {
            self.round.frame = Frame::Interrupted;
            let plain = Event { fields: &[], ..*event };
            self.stop_message(core, &plain, out);
        }
    }

    pub(super) fn round_end(&mut self, core: &mut Core, event: &Event<'_>, end: &RoundEnd<'_>, out: &mut Out) {
        self.usage(end.usage.as_ref(), out);
        if let Some(stop) = end.stop {
            match stop.kind {
                StopKind::Other if core.own => out.used(stop.word.as_escaped()),
                StopKind::Tools | StopKind::Done => out.used(stop.word.as_escaped()),
                // A word that nobody knows is told where the source says it.
                StopKind::Other => {}
                _ => out.lost(stop.word.as_escaped(), None, "a reply's stop reason is tool_use or nothing"),
            }
        }
        if let Some(usage) = self.round.usage.filter(|_| !core.own) {
            core.turn.add_round(&usage);
        }
        self.flush_last(true, core, out);
        // Of a reply of which something stands the rest is taken back without a word: a retry takes back all of it.
        let gives_up = end.abandoned_from == Some(0);
        let written_by_source = core.own && !gives_up;
        if gives_up && core.partial && !core.own && self.parent.is_empty() {
            // With this line the program ends the reply as well.
            core.retracted(event, out);
        } else if core.partial && self.parent.is_empty() && (self.round.frame == Frame::Open || written_by_source) {
            self.stop_message(core, event, out);
        } else {
            out.carried();
        }
        self.open = None;
        self.round.end(Round::default(), out);
        self.message.reset();
    }

    pub(super) fn reply(&mut self, core: &mut Core, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        if core.own && self.open.is_none() {
            return self.whole(core, event, reply, out);
        }
        self.model(reply.model, out);
        self.usage(reply.usage.as_ref(), out);
        if self.round.id.is_empty()
            && self.message.run.is_none()
            && let Some(id) = reply.id.map(Str::as_escaped).filter(|id| *id != self.last_round)
        {
            id.clone_into(&mut self.round.id);
            id.clone_into(&mut self.last_round);
        }
        if let Some(id) = reply
            .id
            .filter(|id| id.as_escaped() == self.round.id || id.as_escaped() == self.message.id)
        {
            out.used(id.as_escaped());
        }
        for block in reply.blocks {
            self.hold(core, event, block, out);
        }
        if core.own && self.message.held > 0 {
            self.hold_fields(event, out);
        }
    }

    /// A message of this dialect, as it is.
    fn whole(&mut self, core: &mut Core, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        self.flush(core, out);
        let writer = core.writer.0;
        core.pen.open("assistant", out);
        let id = event.origin.id.or(reply.id);
        core.pen.envelope(id, event.origin.parent, out);
        out.lit(",\"message\":{");
        if let Some(id) = reply.id {
            out.lit("\"id\":");
            out.str(id);
            out.lit(",");
        }
        if !writer.has(event.fields, At::Part(MESSAGE), "type") {
            out.lit("\"type\":\"message\",");
        }
        out.lit("\"role\":\"assistant\"");
        out.str_if(",\"model\":", reply.model);
        out.lit(",\"content\":");
        writer.blocks(out, reply.blocks);
        out.lit(",\"stop_reason\":");
        out.str_or_null(reply.stop.map(|stop| stop.word));
        out.lit(",\"usage\":");
        match &reply.usage {
            Some(usage) => writer.usage(out, Some(usage)),
            // zeros
            None => {
                out.lit("{\"input_tokens\":0,\"output_tokens\":0");
                writer.fields(out, event.fields, At::Part(USAGE));
                out.lit("}");
            }
        }
        writer.fields(out, event.fields, At::Part(MESSAGE));
        out.lit("}");
        writer.fields(out, event.fields, At::Line);
        core.pen.close(out);
        self.message.reset();
        self.round.told(out);
        self.round.usage_told |= reply.usage.is_some();
    }

    /// One more block of a message. What this dialect has no place for is left out.
    fn hold(&mut self, core: &mut Core, event: &Event<'_>, block: &Block<'_>, out: &mut Out) {
        let run = Run::of(block);
        if run == Run::Other && !core.own {
            return;
        }
        if self.open.is_none() {
            self.enter(run, core, event.origin.id, out);
        }
        match block {
            Block::Text { text, .. } if self.parent.is_empty() => core.turn.say(*text, out),
            Block::Call(call) if self.open == Some(Run::Calls) && !self.message.input_said => {
                out.lit("{\"type\":\"stream_event\",\"uuid\":\"");
                let id = self.line_id(core, event);
                core.pen.id(id, out);
                out.bytes(&self.middle.text);
                out.json_in_string(&call.object(out));
                out.lit("\"}}}\n");
            }
            _ => {}
        }
        let writer = core.writer.0;
        if length(block) > MOST && self.message.held == 0 && self.open.is_none() && !core.own {
            self.write(false, core, out, |out, _| writer.block(out, block));
            return out.carried();
        }
        let message = &mut self.message;
        if message.held == 0 && self.number > 0 {
            core.holding.insert(self.number);
        }
        let first = message.held == 0;
        out.write_to(&mut message.content, |out| {
            out.lit(if first { "" } else { "," });
            writer.block(out, block);
        });
        message.held += 1;
        out.carried();
        if message.content.len() > MOST && self.open.is_none() {
            self.flush_last(false, core, out);
        }
    }

    fn hold_fields(&mut self, event: &Event<'_>, out: &mut Out) {
        let message = &mut self.message;
        for (place, buffer) in [(At::Line, &mut message.line_fields), (At::Part(MESSAGE), &mut message.message_fields)] {
            buffer.clear();
            out.write_to(buffer, |out| {
                event.fields.iter().filter(|field| field.at == place).for_each(|field| member(field, out))
            });
        }
    }

    /// A block of this kind follows: in the message that is held, or in a new one.
    fn enter(&mut self, run: Run, core: &mut Core, line: Option<Str<'_>>, out: &mut Out) {
        if self.message.run == Some(run) {
            return;
        }
        self.flush_last(false, core, out);
        if self.message.run.is_some() {
            self.message.id.clear();
            self.message.index = 0;
        }
        self.message.run = Some(run);
        if run == Run::Text && self.parent.is_empty() {
            core.turn.hush();
        }
        self.name_message(core, line, out);
    }

    /// Gives the message its id, if it has none: the round's for the first one, else that of the source's line.
    fn name_message(&mut self, core: &mut Core, line: Option<Str<'_>>, out: &mut Out) {
        if !self.message.id.is_empty() {
            return;
        }
        let id = std::mem::take(&mut self.round.id);
        if !id.is_empty() && core.messages.add(Str::trusted(&id)) {
            self.message.id = id;
            return;
        }
        if let Some(line) = line.filter(|line| core.messages.add(*line)) {
            self.message.id.push_str(line.as_escaped());
            return out.used(line.as_escaped());
        }
        out.invented("/message/id", "each message has an id of its own");
        let made = core.pen.made_up();
        // Hexadecimal digits and hyphens.
        self.message.id.push_str(std::str::from_utf8(&made).unwrap_or_default());
    }

    /// Whether a message is held.
    pub(super) const fn holds(&self) -> bool {
        self.message.held > 0
    }

    /// Writes what is held, unless its pieces are still coming. Something else follows, so that it may be the round's last.
    pub(super) fn flush(&mut self, core: &mut Core, out: &mut Out) {
        if self.open.is_none() {
            self.flush_last(true, core, out);
        }
    }

    fn flush_last(&mut self, last: bool, core: &mut Core, out: &mut Out) {
        if self.message.held > 0 {
            self.write(last, core, out, |out, held| out.held(held));
        }
    }

    /// Writes a message; `content` writes its blocks, of which some may be held.
    fn write(&mut self, last: bool, core: &mut Core, out: &mut Out, content: impl FnOnce(&mut Out, &mut Vec<u8>)) {
        let parent = (!self.parent.is_empty()).then(|| Str::trusted(&self.parent));
        let message = &mut self.message;
        let id = Str::trusted(&message.id);
        core.pen.has_id(&message.id);
        core.pen.open("assistant", out);
        out.lit(",\"uuid\":\"");
        out.lit(&message.id);
        out.lit("\"");
        core.pen.place(parent, out);
        out.lit(",\"message\":{\"id\":");
        out.str(id);
        out.lit(",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"");
        out.lit(core.facts.model_of(&self.round.model, out));
        out.lit("\",\"content\":[");
        content(out, &mut message.content);
        out.lit(if message.run == Some(Run::Calls) {
            "],\"stop_reason\":\"tool_use\",\"usage\":"
        } else {
            "],\"stop_reason\":null,\"usage\":"
        });
        match self.round.usage.filter(|_| last && !self.round.usage_told) {
            Some(usage) => {
                self.round.usage_told = true;
                core.writer.0.usage(out, Some(&inclusive(usage)));
            }
            None => {
                out.lit("{\"input_tokens\":0,\"output_tokens\":0}");
                out.invented(
                    "/message/usage",
                    "zeros stand for what is not known, or is said with the reply's last message",
                );
            }
        }
        out.bytes(&message.message_fields);
        out.lit("}");
        out.bytes(&message.line_fields);
        core.pen.close(out);
        message.reset();
        self.round.told(out);
    }

    /// The session is over: a round that is open is closed.
    pub(super) fn stop(&mut self, core: &mut Core, out: &mut Out) {
        self.open = None;
        self.flush(core, out);
        self.round.silent(out);
    }

    fn model(&mut self, model: Option<Str<'_>>, out: &Out) {
        let Some(model) = model else { return };
        let round = &mut self.round;
        if round.model != model.as_escaped() {
            model.as_escaped().clone_into(&mut round.model);
            round.silent(out);
            round.model_told = false;
        }
        if round.model_told {
            out.used(model.as_escaped());
        } else {
            out.hold(&mut round.unsaid, model.as_escaped());
        }
    }

    fn usage(&mut self, usage: Option<&Usage<'_>>, out: &Out) {
        let Some(usage) = usage else { return };
        usage.said_by(COUNTED).for_each(|source| out.used(source));
        self.round.usage = Some(self.round.usage.map_or_else(|| usage.detached(), |old| usage.over(&old)));
    }
}

/// The numbers as this dialect counts: what the cache gave and took is input, and there is a total.
pub(super) fn inclusive(usage: Usage<'static>) -> Usage<'static> {
    let input = usage.prompt_tokens().map(Count::derived);
    let usage = usage.all_in_output();
    let output = usage.output;
    let total = usage.total.or_else(|| Some(Count::derived(input?.value.saturating_add(output?.value))));
    Usage {
        input,
        output,
        total,
        inclusive: true,
        ..usage
    }
}
