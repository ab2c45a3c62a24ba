//! Lines that are spelled like an earlier one: replies, tool results, summaries of turns.
//!
//! Some things follow from what such a line says rather than stand in it: the JSON in a call's `arguments`, the thought that is
//! said twice, the time that is said in seconds and in milliseconds, a turn's outcome in `metadata`. What is learnt is an event with
//! these things as they are spelled ([`spelled_reply`], [`spelled_result`], [`spelled_summary`]), and [`Spelled`] makes of it what
//! the general way tells, or finds that the general way has to be taken. All shapes are of one session and one model, for what a
//! line says depends on whether these are new.

use super::annotations::{Annotation, AnnotationKind, Display, Status};
use super::chunk::Voice;
use super::completion::keep_finish;
use super::decode::Decoder;
use super::finish;
use super::line::{End, Line};
use super::metadata::Meta;
use super::teller::{Teller, settled, time_of};
use crate::chat::{COUNTS, CallPiece, Choice, FieldList, arguments_json, inner, read_usage};
use crate::codec::{Cx, Dialect};
use crate::event::{
    At, Block, Content, Delta, Event, Field, Fields, Kind, Notice, Origin, Outcome, Piece, Reply, Sink, StopKind, Time, ToolCall, ToolResult, Topic,
};
use crate::json::{Raw, Shape, Str, alike};
use crate::learn::{Aside, Learned, Rules};

/// What follows from the values of a line.
static RULES: Rules = Rules {
    indexed: false,
    places: &[],
    tools: Some(Dialect::Qwen),
    counts: Some(&COUNTS),
    status: None,
};

/// How much of a result's `result_display` may stay as it is for the line to be learnt.
const FRAME: usize = 64;

impl Decoder {
    /// Reads a line that is spelled like an earlier one, tells what it says, and returns how long it is. The `first` of some lines is
    /// read with its end.
    #[inline]
    pub(super) fn read_learnt<'a>(&mut self, text: &'a str, first: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        // The line that names the model tells it, and no other.
        if self.role_waits || self.model.is_empty() {
            return None;
        }
        let mut learned = std::mem::take(&mut self.learned)?;
        let mut spelled = Spelled { decoder: self, cx };
        let used = learned.read_spelled((text, first), &RULES, cx, sink, |event, beside, sink| spelled.tell(event, beside, sink));
        self.learned = Some(learned);
        used
    }

    /// Remembers how a line is spelled that says this and nothing else.
    pub(super) fn learn<'a>(&mut self, line: &str, teller: &Teller<'_, '_, 'a>, fields: Fields<'a>, (kind, beside): Spelling<'a>) {
        // A model that is a field is one that was not told before; the next line's is structure.
        if teller.cx.trace.is_none() && !teller.is_receipt && !fields.iter().any(|field| field.key.is("model")) {
            let aside = Aside { beside, ..Aside::default() };
            let origin = teller.origin;
            let event = Event { origin, kind, fields };
            self.learned.get_or_insert_default().learn(line, &RULES, &event, aside);
        }
    }

    /// The lines of another session look like those of the one before.
    pub(super) fn rename_learnt(&mut self, to: &str) {
        if let Some(learned) = &mut self.learned {
            learned.next_session(to);
        }
    }

    /// Another model answers: no shape holds any more.
    pub(super) fn forget_learnt(&mut self) {
        if let Some(learned) = &mut self.learned {
            **learned = Learned::default();
        }
    }
}

/// What an event is made of, as its line spells it, and the values that stand beside that.
pub(super) type Spelling<'a> = (Kind<'a>, &'a [Raw<'a>]);

/// A reply as its line spells it: the arguments are the string that they are, and the thought that is said again stands beside it. `None`
/// if there is more than one thought, or anything but thoughts besides.
pub(super) fn spelled_reply<'a>(line: &'a str, reply: &Reply<'a>, choice: &Choice<'a>, list: &[Annotation<'a>], cx: &Cx<'a>) -> Option<Spelling<'a>> {
    let reasoning = choice.reasoning.filter(|reasoning| !reasoning.is_empty());
    let again = again(line, reasoning.is_some(), list, cx)?;
    let mut calls = choice.calls.iter();
    let mut blocks = bumpalo::collections::Vec::with_capacity_in(reply.blocks.len(), cx.arena);
    for block in reply.blocks {
        blocks.push(match *block {
            Block::Call(call) => Block::Call(ToolCall {
                input: quoted(line, calls.next()?.arguments?)?,
                ..call
            }),
            other => other,
        });
    }
    let reply = cx.keep(Reply {
        blocks: blocks.into_bump_slice(),
        ..*reply
    });
    Some((Kind::Reply(reply), again))
}

/// The thought that is said again, if there is one. `None` if something else is said with the thought, or without one.
fn again<'a>(line: &'a str, thinks: bool, list: &[Annotation<'a>], cx: &Cx<'a>) -> Option<&'a [Raw<'a>]> {
    match list {
        [] => Some(&[]),
        [only] => match only.kind {
            AnnotationKind::Thought { description, .. } if thinks => Some(cx.list(&[quoted(line, description)?])),
            _ => None,
        },
        _ => None,
    }
}

/// A piece as its line spells it: beside it stand the thought that is said again, or the number of the call, with its id and its name if
/// it begins. `None` if the line says it otherwise.
pub(super) fn spelled_piece<'a>(line: &'a str, piece: Piece<'a>, choice: &Choice<'a>, list: &[Annotation<'a>], cx: &Cx<'a>) -> Option<Spelling<'a>> {
    let beside = match piece {
        Piece::Input(_) if list.is_empty() => {
            let call = choice.calls.first()?;
            match (call.id, call.name) {
                (Some(id), Some(name)) => cx.list(&[call.number?, quoted(line, id)?, quoted(line, name)?]),
                _ => cx.list(&[call.number?]),
            }
        }
        _ => again(line, matches!(piece, Piece::Thinking(_)), list, cx)?,
    };
    Some((Kind::Delta(Delta { index: 0, piece }), beside))
}

/// A result as its line spells it: its timestamp is a field, and beside it stands what is shown besides its text. `None` if it is not
/// likely that others are alike.
pub(super) fn spelled_result<'a>(told: &ToolResult<'a>, display: Display<'a>, own: Fields<'a>, cx: &Cx<'a>) -> Option<Spelling<'a>> {
    let Status::Final(status) = display.status else { return None };
    let Content::Text(text) = told.content else { return None };
    let shown = display.shown?;
    if told.fields.len() != own.len() {
        return None;
    }
    // The kind decides where the text is, which is a part that may change already.
    let beside = |(key, value): (Str<'a>, Raw<'a>)| {
        let is_text = value
            .string()
            .is_some_and(|body| body.as_escaped().as_ptr() == text.as_escaped().as_ptr());
        let changes = !is_text && !key.is("kind") && !matches!(value.shape(), None | Some(Shape::Null | Shape::Bool));
        changes.then_some(value)
    };
    let beside: Vec<_> = shown.members().filter_map(beside).collect();
    let changes = beside.iter().map(|value| value.as_str().len()).sum::<usize>() + text.as_escaped().len();
    if shown.as_str().len() > changes + FRAME {
        return None;
    }
    let timestamp = display.timestamp.map(|(key, value)| Field {
        at: At::Block(0),
        key,
        value: value.unread(),
        known: true,
    });
    // The turn, which a display says for those who read the line alone.
    let passed_over = |field: &Field<'a>| match field.key.is("prompt_id") {
        true => Field {
            value: field.value.unread(),
            ..*field
        },
        false => *field,
    };
    let fields: Vec<_> = own.iter().map(passed_over).chain(timestamp).collect();
    let result = cx.keep(ToolResult {
        status,
        fields: cx.list(&fields),
        ..*told
    });
    Some((Kind::ToolResult(result), cx.list(&beside)))
}

/// A summary that is no reply too, as its line spells it: under its `finish_reason`, which stays, are the metadata, and beside them
/// the usage. `None` if the line says more.
pub(super) fn spelled_summary<'a>(line: &Line<'a>, choice: &Choice<'a>, cx: &Cx<'a>) -> Option<Spelling<'a>> {
    // An error may refuse the version.
    let finish = choice.finish.filter(|word| !word.is("error"))?;
    if !line.notes.list.is_empty() {
        return None;
    }
    let notice = Notice {
        name: finish,
        topic: Topic::Other,
        message: None,
        data: Some(line.meta.raw?),
    };
    let usage = match line.envelope.usage {
        None => &[],
        Some(usage) => cx.list(&[usage.raw?]),
    };
    Some((Kind::Notice(cx.keep(notice)), usage))
}

/// A string of the line, with its quotes.
fn quoted<'a>(line: &'a str, body: Str<'a>) -> Option<Raw<'a>> {
    let from = (body.as_escaped().as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    let text = line.get(from.checked_sub(1)?..from.checked_add(body.as_escaped().len())?.checked_add(1)?)?;
    (text.starts_with('"') && text.ends_with('"')).then_some(Raw::trusted(text))
}

/// Tells what a line says that is spelled like an earlier one.
struct Spelled<'d, 'c, 'a> {
    decoder: &'d mut Decoder,
    cx: &'c Cx<'a>,
}

impl<'a> Spelled<'_, '_, 'a> {
    /// False if the line has to be read in the general way.
    fn tell(&mut self, event: &Event<'a>, beside: &'a [Raw<'a>], sink: &mut dyn Sink<'a>) -> bool {
        // A time that is none is something else.
        if event
            .origin
            .time
            .is_some_and(|time| !alike(time.source(), &self.decoder.created) && time.millis().is_none())
        {
            return false;
        }
        let told = match event.kind {
            Kind::Delta(delta) => return self.piece(delta.piece, event.origin, beside, sink),
            Kind::Reply(reply) => self.reply(reply, beside).map(|reply| Event {
                kind: Kind::Reply(reply),
                ..*event
            }),
            Kind::ToolResult(result) => self.result(result, event.origin, beside).map(|(origin, result)| Event {
                origin,
                kind: Kind::ToolResult(result),
                ..*event
            }),
            Kind::Notice(notice) => self.summary(notice, beside).map(|(outcome, fields)| Event {
                kind: Kind::Outcome(outcome),
                fields,
                ..*event
            }),
            // No other is learnt.
            _ => None,
        };
        if let Some(told) = told {
            self.decoder.says_so(event.origin.time);
            sink.event(&told);
        }
        told.is_some()
    }

    /// Tells a piece, and the beginning of its block if that is not open.
    fn piece(&mut self, piece: Piece<'a>, origin: Origin<'a>, beside: &'a [Raw<'a>], sink: &mut dyn Sink<'a>) -> bool {
        let round = &mut self.decoder.round;
        let mut teller = Teller {
            cx: self.cx,
            sink,
            origin,
            fields: &[],
            told: 0,
            is_receipt: false,
            result: None,
        };
        let index = match (piece, beside) {
            (Piece::Text(text), []) if !text.is_empty() => round.grow(Voice::Text, &mut teller),
            (Piece::Thinking(thought), again) if !thought.is_empty() && says_again(thought, again) => round.grow(Voice::Thought, &mut teller),
            (Piece::Input(_), [number, begins @ ..]) => {
                let index = number.u64().filter(|index| u32::try_from(*index).is_ok());
                if index.is_none() {
                    return false;
                }
                let mut begins = begins.iter().map(|text| inner(*text));
                let piece = CallPiece {
                    index,
                    id: begins.next().flatten(),
                    name: begins.next().flatten(),
                    ..CallPiece::default()
                };
                round.call(&piece, &mut teller)
            }
            _ => return false,
        };
        teller.tell(Kind::Delta(Delta { index, piece }));
        self.decoder.says_so(origin.time);
        true
    }

    fn reply(&mut self, reply: &'a Reply<'a>, again: &[Raw<'a>]) -> Option<&'a Reply<'a>> {
        // An empty text is no block; an error may refuse the version.
        let fits = |block: &Block<'a>| match block {
            Block::Text { text, .. } => !text.is_empty(),
            Block::Thinking(thought) => !thought.text.is_empty() && says_again(thought.text, again),
            Block::Call(call) => call.input.shape() == Some(Shape::String),
            _ => false,
        };
        if !reply.blocks.iter().all(fits) || reply.stop.is_some_and(|stop| stop.kind == StopKind::Error) {
            return None;
        }
        self.decoder.end = reply.stop.and_then(|stop| End::of_reply(stop, None));
        if !reply.blocks.iter().any(|block| matches!(block, Block::Call(_))) {
            return Some(reply);
        }
        let cx = self.cx;
        let blocks = reply.blocks.iter().map(|&block| match block {
            Block::Call(call) => Block::Call(ToolCall {
                input: arguments_json(call.input.as_str().get(1..call.input.as_str().len() - 1).map(Str::trusted), cx),
                ..call
            }),
            other => other,
        });
        Some(cx.keep(Reply {
            blocks: cx.arena.alloc_slice_fill_iter(blocks),
            ..*reply
        }))
    }

    fn result(&self, result: &'a ToolResult<'a>, mut origin: Origin<'a>, beside: &[Raw<'a>]) -> Option<(Origin<'a>, &'a ToolResult<'a>)> {
        let mut fields = result.fields;
        if let Some((last, others)) = fields.split_last()
            && last.value.shape() == Some(Shape::Number)
            && last.key.is("timestamp")
        {
            let (time, None) = time_of(origin.time, Some(last.value), self.cx) else {
                return None;
            };
            origin.time = time;
            fields = others;
        }
        for value in beside {
            value.check().ok()?;
        }
        let Content::Text(text) = result.content else { return None };
        let status = settled(result.status, text);
        Some((origin, self.cx.keep(ToolResult { status, fields, ..*result })))
    }

    fn summary(&mut self, spelled: &Notice<'a>, usage: &[Raw<'a>]) -> Option<(&'a Outcome<'a>, Fields<'a>)> {
        let cx = self.cx;
        let mut meta = Meta::of(spelled.data?, cx).filter(Meta::is_summary)?;
        let usage = match usage {
            [] => None,
            [usage, ..] => {
                usage.check().ok()?;
                read_usage(*usage)
            }
        };
        let outcome = self.decoder.summary_of(&mut meta, usage, Some(spelled.name), cx);
        let mut fields = FieldList::new_in(cx.arena);
        keep_finish(spelled.name, finish::of_turn(&outcome, outcome.usage.is_some()), &mut fields, cx);
        meta.pour(&mut fields);
        Some((cx.keep(outcome), fields.into_bump_slice()))
    }
}

/// Whether what is said again, if anything is, is the same thought.
#[inline]
fn says_again(thought: Str<'_>, again: &[Raw<'_>]) -> bool {
    again
        .iter()
        .all(|again| again.string().is_some_and(|text| alike(text.as_escaped(), thought.as_escaped())))
}

impl Decoder {
    /// An agent's line was read, written then.
    #[inline]
    fn says_so(&mut self, time: Option<Time<'_>>) {
        self.side = crate::event::Side::Agent;
        if let Some(time) = time
            && !alike(time.source(), &self.created)
        {
            time.source().clone_into(&mut self.created);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Decode;
    use bumpalo::Bump;

    use crate::event::Input;

    #[derive(Default)]
    struct Told(Vec<String>);

    impl<'a> Sink<'a> for Told {
        fn event(&mut self, event: &Event<'a>) {
            self.0.push(format!("{event:?}"));
        }

        fn input(&mut self, _: &Input<'a>) {}
    }

    /// Whether the line is read like an earlier one. It says the same as in the general way.
    fn is_learnt(decoder: &mut Decoder, line: &str) -> bool {
        let arena = Bump::new();
        let cx = Cx::new(&arena);
        let mut fast = Told::default();
        let used = decoder.read_learnt(line, false, &cx, &mut fast);
        let mut whole = Told::default();
        decoder.line(line, &cx, &mut whole).unwrap();
        assert!(used.is_none() && fast.0.is_empty() || used == Some(line.len()) && fast.0 == whole.0);
        used.is_some()
    }

    #[test]
    fn replies_and_results_are_learnt_until_the_model_changes() {
        let line = |id: &str, model: &str, rest: &str| {
            format!(
                "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion\",\"created\":1795240802,\"model\":\"{model}\",\"choices\":[{{\"index\":0,{rest}"
            )
        };
        let reply = |thought: &str, again: &str, n: u32| {
            let usage =
                format!("{{\"prompt_tokens\":{n},\"completion_tokens\":1,\"total_tokens\":9,\"prompt_tokens_details\":{{\"cached_tokens\":{n}}}}}");
            format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":\"t{n}\",\"reasoning_content\":\"{thought}\",\"tool_calls\":[{{\"id\":\"c{n}\",\"type\":\"function\",\"function\":{{\"name\":\"read_file\",\"arguments\":\"{{\\\"n\\\":{n}}}\"}}}}],\"annotations\":[{{\"type\":\"x-qwen-thought\",\"subject\":\"\",\"description\":\"{again}\"}}]}},\"finish_reason\":\"tool_calls\"}}],\"usage\":{usage}}}"
            )
        };
        let result = |text: &str, millis: u64| {
            format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":null,\"annotations\":[{{\"type\":\"x-qwen-tool-display\",\"tool_call_id\":\"c1\",\"status\":\"canceled\",\"result_display\":{{\"kind\":\"string\",\"text\":\"{text}\"}},\"timestamp\":{millis}}}]}},\"finish_reason\":\"tool_calls\"}}]}}"
            )
        };
        let todos = |todos: &str| {
            format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":null,\"annotations\":[{{\"type\":\"x-qwen-tool-display\",\"tool_call_id\":\"c1\",\"status\":\"success\",\"result_display\":{{\"kind\":\"todo_list\",\"todos\":{todos},\"text\":\"done\"}},\"timestamp\":1795240802240}}]}},\"finish_reason\":\"tool_calls\"}}]}}"
            )
        };
        let long = "a list that is much longer than what stays on a line that is learnt";
        let summary = |metadata: &str| {
            format!(
                "\"message\":{{\"role\":\"assistant\",\"content\":\"\"}},\"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":1}},\"metadata\":{metadata}}}"
            )
        };
        let mut decoder = Decoder::default();
        for (line, expected) in [
            (line("session-a", "m", &reply("x", "x", 1)), false),
            (line("session-a", "m", &reply("x", "x", 1)), true),
            (line("session-a", "m", &reply("y", "y", 2)), true),
            (line("session-a", "m", &reply("y", "z", 2)), false),
            (line("session-a", "m", &result("no", 1_795_240_802_240)), false),
            (line("session-a", "m", &result("", 1_795_240_802_241)), true),
            (line("session-a", "m", &result("no", 1_795_240_999_000)), false),
            (line("session-a", "m", &todos(&format!("[{{\"content\":\"{long}\"}}]"))), false),
            (line("session-a", "m", &todos("[]")), true),
            (line("session-a", "m", &todos("{}")), false),
            (line("session-a", "m", &summary("{\"summary\":\"true\",\"is_error\":\"false\"}")), false),
            (
                line("session-a", "m", &summary("{\"summary\":\"true\",\"outcome\":\"failed\",\"zz\":[1]}")),
                true,
            ),
            (line("session-a", "m", &summary("{\"protocol_version\":\"1\"}")), false),
            (line("session-a", "n", &reply("x", "x", 1)), false),
            (line("session-a", "m", &reply("x", "x", 1)), false),
            (line("session-b", "m", &reply("x", "x", 1)), false),
            (line("session-b", "m", &reply("x", "x", 3)), true),
            (line("session-b", "m", &result("no", 1_795_240_802_240)), false),
            (line("session-b", "m", &result("", 1_795_240_802_241)), true),
            // The first line names the model; the others look like those of the session before.
            (line("session-c", "m", &reply("x", "x", 1)), false),
            (line("session-c", "m", &result("yes", 1_795_240_802_242)), true),
            (line("session-c", "m", &reply("x", "x", 3)), true),
            (line("session-a", "n", &reply("x", "x", 1)), false),
            (line("session-a", "n", &result("yes", 1_795_240_802_242)), false),
        ] {
            assert_eq!(is_learnt(&mut decoder, &line), expected, "{line}");
        }
    }
}
