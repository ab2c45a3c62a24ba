//! Writing `chat.completion` lines: a reply is collected and goes out whole.

use super::encode::Encoder;
use super::own;
use super::{facts, finish};
use crate::chat::{write_call, write_usage};
use crate::event::{Block, Counted, Fields, Outcome, Reply, RoundEnd, Stop, StopKind, Thinking, ToolCall, Usage};
use crate::json::{LONG, Out, Str};

/// A reply that has not gone out yet.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Something is held.
    pub(super) any: bool,
    text: String,
    reasoning: String,
    /// Elements of `tool_calls`, with commas between them.
    calls: Vec<u8>,
    /// Elements of `annotations`, with commas between them.
    annotations: Vec<u8>,
    error: String,
    /// When the last block came, if it said so.
    created: String,
    model: String,
    usage: Option<Usage<'static>>,
    /// The round's usage has gone out with an earlier line of the reply.
    usage_told: bool,
    /// The same as the RFC's own line had it.
    usage_raw: String,
    stop: Option<(StopKind, String)>,
}

impl Held {
    /// Whether a reply with calls is held.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}

impl Encoder {
    pub(super) fn reply(&mut self, reply: &Reply<'_>, timed: bool, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        self.look_model(reply.model, out);
        for block in reply.blocks {
            match block {
                Block::Call(call) if call.input.as_str().len() > LONG && !self.own => {
                    self.flush(None, out);
                    self.late_receipt(out.len(), true, out);
                    self.held.any = true;
                    self.round(reply, timed, out);
                    self.write_held(None, Some(call), false, &[], out);
                }
                _ => self.block(block, reply.last, out),
            }
        }
        if reply.blocks.is_empty() && self.own {
            self.held.any = true;
        }
        self.round(reply, timed, out);
        out.carried();
        if reply.last && self.own {
            self.write_held(None, None, true, fields, out);
        }
    }

    /// Takes what a reply says about its round.
    fn round(&mut self, reply: &Reply<'_>, timed: bool, out: &Out) {
        let held = &mut self.held;
        if let Some(error) = reply.error {
            out.used(error.as_escaped());
            error.as_escaped().clone_into(&mut held.error);
        }
        if let Some(usage) = reply.usage.filter(|usage| self.own || !usage.is_blank() && !held.usage_told) {
            usage.said_by(Counted::WITH_INPUT).for_each(|part| out.used(part));
            held.usage = Some(usage.detached());
            held.usage_raw.clear();
            if let Some(raw) = usage.raw.filter(|raw| self.own && raw.check().is_ok()) {
                out.used(raw.as_str());
                held.usage_raw.push_str(raw.as_str());
            }
        }
        if let Some(stop) = reply.stop {
            if self.own || stop.kind != StopKind::Other {
                out.used(stop.word.as_escaped());
            }
            held.stop = Some((stop.kind, stop.word.as_escaped().to_owned()));
        }
        if timed {
            self.frame.time().clone_into(&mut held.created);
        }
        self.frame.model().clone_into(&mut held.model);
    }

    fn block(&mut self, block: &Block<'_>, exact: bool, out: &mut Out) {
        match block {
            // What comes behind a call goes into a line of its own, so that the order stays.
            Block::Text { .. } | Block::Thinking(_) if self.held.has_calls() && !self.own => self.flush(None, out),
            Block::Call(_) if self.held.calls.len() > LONG && !self.own => self.flush(None, out),
            _ => {}
        }
        let held = &mut self.held;
        match block {
            Block::Text { text, .. } => {
                out.used(text.as_escaped());
                held.any |= !text.is_empty();
                held.text.push_str(text.as_escaped());
            }
            Block::Thinking(thinking) => self.thought(thinking, exact && self.own, out),
            Block::Call(call) => {
                held.any = true;
                // The ledger is told about parts of the line here, for they are written into a buffer of our own.
                out.used(call.id.as_escaped());
                out.used(call.name.as_escaped());
                out.used(call.input.as_str());
                let mut line = Out::default();
                line.swap(&mut held.calls);
                if !line.is_empty() {
                    line.lit(",");
                }
                write_call(call.id, call.name, call.input, &mut line);
                if self.own {
                    call.fields.iter().for_each(|field| out.used(field.value.as_str()));
                    own::write(call.fields.iter(), &mut line);
                }
                line.lit("}");
                line.swap(&mut held.calls);
            }
            // Redacted thoughts, images and the like have no place in a reply of the RFC.
            Block::Redacted { .. } | Block::Media(_) | Block::Other { .. } => {}
        }
    }

    /// A thought: `reasoning_content` for clients of OpenAI-style servers, and an `x-qwen-thought` beside it.
    fn thought(&mut self, thinking: &Thinking<'_>, exact: bool, out: &mut Out) {
        let held = &mut self.held;
        if thinking.text.is_empty() && thinking.subject.is_none() {
            return;
        }
        held.any = true;
        out.used(thinking.text.as_escaped());
        held.reasoning.push_str(thinking.text.as_escaped());
        let mut line = Out::default();
        line.swap(&mut held.annotations);
        if !line.is_empty() {
            line.lit(",");
        }
        line.lit("{\"type\":\"x-qwen-thought\",\"subject\":");
        match thinking.subject {
            Some(subject) => {
                out.used(subject.as_escaped());
                line.str(subject);
            }
            None if exact => line.lit("\"\""),
            None => line.str(headline(thinking.text)),
        }
        line.lit(",\"description\":");
        line.str(thinking.text);
        if self.own {
            thinking.fields.iter().for_each(|field| out.used(field.value.as_str()));
            own::write(thinking.fields.iter().filter(|f| !f.key.is("description")), &mut line);
        }
        line.lit("}");
        line.swap(&mut held.annotations);
    }

    /// The round is over, and its usage is final.
    pub(super) fn end_reply(&mut self, end: &RoundEnd<'_>, out: &mut Out) {
        out.carried();
        if let Some(usage) = end.usage.filter(|usage| !usage.is_blank() && !self.held.usage_told) {
            usage.said_by(Counted::WITH_INPUT).for_each(|part| out.used(part));
            if self.held.usage_raw.is_empty() {
                self.held.usage = Some(usage.detached());
            }
        }
        self.flush(end.stop, out);
        // A line of the RFC's own says what it said.
        self.turn.lacks = self.held.usage.take().is_some() && !self.own;
        self.turn.unsaid |= self.turn.lacks;
        self.held.usage_told = false;
    }

    /// Writes the reply that is held, if there is one.
    pub(super) fn flush(&mut self, stop: Option<Stop<'_>>, out: &mut Out) {
        self.write_held(stop, None, false, &[], out);
    }

    /// The same, and a call that is too long to be held; `exact` for a line of the RFC's own that goes out as it came.
    fn write_held(&mut self, stop: Option<Stop<'_>>, long: Option<&ToolCall<'_>>, exact: bool, fields: Fields<'_>, out: &mut Out) {
        if !self.held.any {
            self.held.error.clear();
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        let waiting = std::mem::take(&mut self.waiting);
        // The envelope is that of the time when the reply came; afterwards it is again what it was.
        let timed = !held.created.is_empty();
        if timed {
            self.frame.swap_time(&mut held.created);
        }
        self.frame.swap_model(&mut held.model);
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
        let has_calls = held.has_calls() || long.is_some();
        let only_other = held.text.is_empty() && (has_calls || !held.reasoning.is_empty());
        if only_other {
            out.lit("null");
        } else {
            out.str(Str::trusted(&held.text));
        }
        if !held.reasoning.is_empty() {
            out.lit(",\"reasoning_content\":");
            out.str(Str::trusted(&held.reasoning));
        }
        list("tool_calls", &[&held.calls], &[], out);
        if let Some(call) = long {
            out.lit(",\"tool_calls\":[");
            write_call(call.id, call.name, call.input, out);
            out.lit("}]");
        }
        list("annotations", &[&held.annotations, &waiting], fields, out);
        own::write(own::at(fields, &own::BODIES), out);
        out.lit("},\"finish_reason\":\"");
        let kind = stop.map(|stop| stop.kind);
        match held.stop.take() {
            Some((_, word)) if exact => out.lit(&word),
            _ if has_calls => out.lit("tool_calls"),
            said if kind.or(said.as_ref().map(|(kind, _)| *kind)) == Some(StopKind::Length) => out.lit("length"),
            _ => out.lit("stop"),
        }
        out.lit("\"");
        own::end_choice(fields, out);
        held.usage_told |= held.usage.is_some() && !self.own;
        match held.usage.take() {
            Some(_) if !held.usage_raw.is_empty() => {
                out.lit(",\"usage\":");
                out.lit(&held.usage_raw);
            }
            Some(usage) => {
                out.lit(",\"usage\":");
                write_usage(&usage, out);
            }
            None => {}
        }
        if held.error.is_empty() {
            own::metadata(fields, out);
        } else {
            out.lit(",\"metadata\":{\"error\":\"");
            out.lit(&held.error);
            out.lit("\"");
            own::write(own::at(fields, &[own::METADATA]), out);
            out.lit("}");
        }
        own::end_line(fields, out);
        if timed {
            self.frame.swap_time(&mut held.created);
        }
        self.frame.swap_model(&mut held.model);
        held.clear();
        self.held = held;
    }

    /// The last line of a turn.
    pub(super) fn summary(&mut self, outcome: &Outcome<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        self.flush(None, out);
        self.frame.begin(out);
        out.lit("[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"");
        list("annotations", &[], fields, out);
        own::write(own::at(fields, &own::BODIES), out);
        out.lit("},\"finish_reason\":");
        let word = finish::of_turn(outcome, outcome.usage.is_some());
        match own::finish_reason(fields) {
            Some(word) => out.str(word),
            None => {
                out.lit("\"");
                out.lit(word);
                out.lit("\"");
            }
        }
        own::end_choice(fields, out);
        if let Some(usage) = outcome.usage {
            out.lit(",\"usage\":");
            match usage.raw.filter(|_| self.own) {
                Some(raw) => out.unchecked(raw),
                None => write_usage(&usage, out),
            }
        }
        facts::write_summary(outcome, self.own, word, out);
        own::write(own::at(fields, &[own::METADATA]), out);
        out.lit("}");
        own::end_line(fields, out);
    }
}

impl Held {
    /// Forgets the reply, keeps the memory.
    fn clear(&mut self) {
        self.any = false;
        self.text.clear();
        self.reasoning.clear();
        self.calls.clear();
        self.annotations.clear();
        self.error.clear();
        self.created.clear();
        self.usage_raw.clear();
        self.stop = None;
    }
}

/// A member that is a list, if there is anything in it.
fn list(name: &str, parts: &[&[u8]], fields: Fields<'_>, out: &mut Out) {
    let mut open = false;
    let mut before = |out: &mut Out| {
        if std::mem::replace(&mut open, true) {
            out.lit(",");
        } else {
            out.lit(",\"");
            out.lit(name);
            out.lit("\":[");
        }
    };
    for part in parts.iter().filter(|part| !part.is_empty()) {
        before(out);
        out.bytes(part);
        if name == "annotations" && part.last() != Some(&b'}') {
            // An annotation that waited for this text is still open.
            out.lit("}");
        }
    }
    for raw in own::annotations(fields) {
        before(out);
        out.unchecked(raw);
    }
    if open {
        out.lit("]");
    }
}

/// The first line of a thought, if it stands alone.
fn headline(text: Str<'_>) -> Str<'_> {
    let body = text.as_escaped();
    // An escaped backslash before an `n` is no line feed.
    let is_feed = |at: usize| body[..at].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 0;
    let feeds = memchr::memchr_iter(b'\\', body.as_bytes()).filter(|at| body.as_bytes().get(at + 1) == Some(&b'n'));
    match feeds.into_iter().find(|at| is_feed(*at)) {
        Some(at) => Str::trusted(&body[..at]),
        None => Str::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_is_a_first_line_that_stands_alone() {
        let of = |text: &'static str| headline(Str::trusted(text)).as_escaped();
        assert_eq!(of("Plan the work\\nRead the file."), "Plan the work");
        assert_eq!(of("no headline"), "");
        assert_eq!(of("a path C:\\\\new"), "");
        assert_eq!(of("C:\\\\new\\nrest"), "C:\\\\new");
    }
}
