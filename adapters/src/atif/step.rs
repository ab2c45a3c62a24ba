//! One step of a trajectory to events.

use super::decode::{Sums, Teller, Thread};
use super::fields::knows;
use super::{ALSO_REASONING, CACHE_WRITE, EXTRA, METRICS, OUTCOME, REASONING, SIGNATURE, STOP, media};
use crate::chat::{FieldList, Members};
use crate::codec::Dialect;
use crate::event::{
    At, Block, Content, Count, Fields, Kind, Notice, Origin, Outcome, OutcomeKind, Prompt, PromptSource, Reply, Stop, Thinking, Time, ToolCall,
    Topic, Usage,
};
use crate::json::{Raw, Shape, Str};
use crate::tools;

impl<'a> Teller<'_, 'a> {
    pub(super) fn step(&mut self, raw: Raw<'a>, thread: Thread<'a>) {
        let cx = self.cx;
        let step = Members::of(raw, &cx).filter(|_| raw.shape() == Some(Shape::Object));
        let source = raw.get("source").and_then(Raw::string).unwrap_or_default();
        let (Some(mut step), true) = (step, matches!(source.as_escaped(), "user" | "agent" | "system")) else {
            return self.tell(self.origin(None), Kind::Unknown(raw), &[]);
        };
        step.word("source", &cx);
        if let Some(number) = step.shaped("step_id", Shape::Number, &cx) {
            cx.took(number.as_str());
        }
        let timed = step.get("timestamp").and_then(Raw::string).map(Time::Iso);
        let time = timed.filter(|time| time.millis().is_some());
        if time.is_some() {
            step.take("timestamp", &cx);
        }
        let origin = Origin {
            parent: thread.parent,
            agent: thread.agent,
            ..self.origin(time)
        };
        match source.as_escaped() {
            "user" => self.user(step, origin),
            "agent" => self.agent(step, raw, origin, thread),
            _ => self.system(step, origin),
        }
    }

    fn user(&mut self, mut step: Members<'a>, origin: Origin<'a>) {
        let main = origin.parent.is_none();
        if main {
            if !self.prompted {
                self.end_turn(None, Sums::default());
            }
            self.prompted = true;
            self.turn.goes_on();
        }
        let outcome = step.get(EXTRA).and_then(|extra| outcome_of(extra.get(OUTCOME)?));
        let content = self.message(&mut step);
        let source = if main { PromptSource::Host } else { PromptSource::Parent };
        let prompt = self.cx.keep(Prompt { content, source });
        let fields = self.rest(step);
        self.tell(origin, Kind::Prompt(prompt), fields);
        if let Some(outcome) = outcome.filter(|_| main) {
            self.end_turn(Some((outcome, &[])), self.sums);
        }
    }

    /// What neither user nor model says. One that says how the turn ended says what went wrong.
    fn system(&mut self, mut step: Members<'a>, origin: Origin<'a>) {
        let cx = self.cx;
        let outcome = step.get(EXTRA).and_then(|extra| outcome_of(extra.get(OUTCOME)?));
        let message = step.get("message");
        let (text, data) = match self.message(&mut step) {
            Content::Text(text) => (Some(text), None),
            Content::Blocks([]) => (None, None),
            Content::Blocks(_) => (None, message),
        };
        let fields = self.rest(step);
        if let Some(outcome) = outcome.filter(|_| origin.parent.is_none()) {
            let error = text.filter(|text| !text.is_empty());
            return self.end_turn(Some((Outcome { error, ..outcome }, fields)), self.sums);
        }
        let notice = Notice {
            name: Str::trusted("system"),
            topic: Topic::Other,
            message: text,
            data,
        };
        self.tell(origin, Kind::Notice(cx.keep(notice)), fields);
    }

    fn agent(&mut self, mut step: Members<'a>, raw: Raw<'a>, origin: Origin<'a>, thread: Thread<'a>) {
        let cx = self.cx;
        let extra = step.get(EXTRA);
        let said = |name: &str| extra.and_then(|extra| extra.get(name)).and_then(Raw::string);
        let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
        if let Some(text) = step.text("reasoning_content", &cx) {
            blocks.push(Block::Thinking(Thinking {
                text,
                signature: said(SIGNATURE),
                ..Thinking::default()
            }));
        }
        match self.message(&mut step) {
            Content::Text(text) if text.is_empty() => cx.took(text.as_escaped()),
            Content::Text(text) => blocks.push(Block::Text { text, fields: &[] }),
            Content::Blocks(parts) => blocks.extend(parts.iter().copied()),
        }
        let calls = step.shaped("tool_calls", Shape::Array, &cx);
        for call in calls.into_iter().flat_map(Raw::elements) {
            blocks.push(self.call(call));
        }
        let mut fields = self.fields();
        let reply = Reply {
            model: step.text("model_name", &cx),
            usage: step.shaped("metrics", Shape::Object, &cx).map(|metrics| self.usage(metrics, &mut fields)),
            stop: said(STOP).map(Stop::read),
            blocks: blocks.into_bump_slice(),
            last: true,
            ..Reply::default()
        };
        let observation = step.shaped("observation", Shape::Object, &cx);
        step.pour(At::Line, knows, &mut fields);
        if origin.parent.is_none() {
            self.prompted = false;
            self.turn.reply(&reply);
        }
        self.tell(origin, Kind::Reply(cx.keep(reply)), fields.into_bump_slice());
        for block in reply.blocks {
            if let Block::Call(call) = block {
                self.tell_alone_of(call.id, thread);
            }
        }
        if observation.is_some() {
            self.results(raw, reply.blocks, origin, thread);
        }
        let outcome = extra.and_then(|extra| outcome_of(extra.get(OUTCOME)?));
        if let Some(outcome) = outcome.filter(|_| origin.parent.is_none()) {
            self.end_turn(Some((outcome, &[])), self.sums);
        }
    }

    fn call(&self, raw: Raw<'a>) -> Block<'a> {
        let cx = &self.cx;
        let other = Block::Other {
            kind: Str::trusted("tool_call"),
            raw,
        };
        let Some(mut call) = Members::of(raw, cx) else { return other };
        let (Some(id), Some(name)) = (call.text("tool_call_id", cx), call.text("function_name", cx)) else {
            return other;
        };
        let input = call.take("arguments", cx).unwrap_or(Raw::trusted("{}"));
        let mut fields = self.fields();
        call.pour(At::Line, knows, &mut fields);
        Block::Call(ToolCall {
            id,
            name,
            kind: tools::kind_of(Dialect::Atif, name),
            input,
            fields: fields.into_bump_slice(),
        })
    }

    /// What an answer took. Tokens of the cache count as sent.
    fn usage(&self, metrics: Raw<'a>, fields: &mut FieldList<'a>) -> Usage<'a> {
        let cx = &self.cx;
        let Some(mut members) = Members::of(metrics, cx) else {
            return Usage::default();
        };
        let extra = |path: &[&str]| members.get(EXTRA)?.find(path).and_then(Count::read);
        let written = extra(&[CACHE_WRITE]);
        let reasoning = extra(&[REASONING]).or_else(|| ALSO_REASONING.into_iter().find_map(extra));
        let mut count = |name: &str| {
            let value = members.get(name).and_then(Count::read)?;
            members.take_raw(name);
            Some(value)
        };
        let usage = Usage {
            input: count("prompt_tokens"),
            output: count("completion_tokens"),
            reasoning,
            cache_read: count("cached_tokens"),
            cache_write: written,
            inclusive: true,
            ..Usage::default()
        };
        members.pour(At::Part(METRICS), knows, fields);
        usage
    }

    /// What a step says. What is neither a text nor parts stays.
    fn message(&self, step: &mut Members<'a>) -> Content<'a> {
        let raw = step.get("message");
        if matches!(raw.and_then(Raw::shape), Some(Shape::String | Shape::Array | Shape::Null)) {
            step.take_raw("message");
        }
        self.content(raw, step.get(EXTRA))
    }

    /// A text, or parts; nothing for what is neither. Media may stand beside it.
    pub(super) fn content(&self, raw: Option<Raw<'a>>, extra: Option<Raw<'a>>) -> Content<'a> {
        let cx = &self.cx;
        let mut parts = bumpalo::collections::Vec::new_in(cx.arena);
        let mut beside = media::inline(extra).peekable();
        match raw.and_then(|raw| Some((raw, raw.shape()?))) {
            Some((raw, Shape::String)) => {
                let text = raw.string().unwrap_or_default();
                if beside.peek().is_none() {
                    return Content::Text(text);
                }
                parts.push(Block::Text { text, fields: &[] });
            }
            Some((raw, Shape::Array)) => parts.extend(raw.elements().map(|part| media::read(part, cx))),
            Some((raw, Shape::Null)) => cx.took(raw.as_str()),
            _ => {}
        }
        parts.extend(beside);
        Content::Blocks(parts.into_bump_slice())
    }

    fn rest(&self, step: Members<'a>) -> Fields<'a> {
        let mut fields = self.fields();
        step.pour(At::Line, knows, &mut fields);
        fields.into_bump_slice()
    }
}

/// How a turn ended, where a step says it.
fn outcome_of(raw: Raw<'_>) -> Option<Outcome<'_>> {
    let text = |name: &str| raw.get(name).and_then(Raw::string);
    let number = |name: &str| raw.get(name).filter(|value| value.shape() == Some(Shape::Number));
    let kind = OutcomeKind::read(text("kind")?.as_escaped())?;
    Some(Outcome {
        is_error: raw.get("is_error").and_then(Raw::bool).unwrap_or(kind != OutcomeKind::Success),
        synthetic: raw.get("synthetic").and_then(Raw::bool) == Some(true),
        text: text("text"),
        error: text("error"),
        word: text("word"),
        duration_ms: number("duration_ms"),
        duration_api_ms: number("duration_api_ms"),
        num_turns: raw.get("num_turns").and_then(Count::read),
        ..Outcome::new(kind)
    })
}

/// What a step says of itself beside what the model has a place for goes with this.
pub(super) fn notice<'a>(name: &'static str, data: Raw<'a>) -> Notice<'a> {
    Notice {
        name: Str::trusted(name),
        topic: Topic::Other,
        message: None,
        data: Some(data),
    }
}
