//! Reading `chat.completion` lines: replies, tool results, terminal output, summaries.

use super::annotations::{Annotation, AnnotationKind};
use super::decode::Decoder;
use super::finish;
use super::learnt::{spelled_reply, spelled_result, spelled_summary};
use super::line::{End, Line};
use super::metadata::Meta;
use super::teller::Teller;
use crate::chat::{CallPiece, arguments_json, inner};
use crate::codec::{Cx, Dialect};
use crate::event::{At, Block, Field, Kind, Outcome, Reply, Scope, Stop, StopKind, Thinking, ToolCall, Usage};
use crate::json::{Raw, Str};
use crate::tools;

impl Decoder {
    /// Reads a line that is no receipt.
    pub(super) fn completion<'a>(&mut self, text: &'a str, mut line: Line<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let cx = teller.cx;
        let terminals = line.terminals();
        let choice = line.choice();
        let summary = line.meta.is_summary();
        let has_thought = line.notes.list.iter().any(|a| matches!(a.kind, AnnotationKind::Thought { .. }));
        let says_something = !choice.says_nothing() || has_thought;
        let is_reply = says_something || !summary && terminals.is_empty() && !line.notes.list.iter().any(|a| tells(a));
        if is_reply {
            self.reply(text, line, terminals, teller);
            return;
        }
        self.settle_model(&mut line, cx);
        if let Some(content) = choice.content.filter(|c| c.is_empty()) {
            cx.took(content.as_escaped());
        }
        let mut fields = line.take_fields(cx);
        if summary {
            let spelled = spelled_summary(&line, &choice, cx).filter(|_| fields.is_empty() && terminals.is_empty() && cx.trace.is_none());
            let outcome = self.summary(&mut line, choice.finish, cx);
            if let Some(word) = choice.finish {
                keep_finish(word, finish::of_turn(&outcome, outcome.usage.is_some()), &mut fields, cx);
            }
            line.meta.pour(&mut fields);
            teller.fields = fields.into_bump_slice();
            // What is shown with the summary comes before it.
            self.tell_annotations(&line, terminals, teller);
            teller.tell(Kind::Outcome(cx.keep(outcome)));
            if let Some(spelled) = spelled {
                self.learn(text, teller, &[], spelled);
            }
            return;
        }
        if let Some(word) = choice.finish {
            let is_result = line.notes.list.iter().any(|a| matches!(a.kind, AnnotationKind::Display(_)));
            keep_finish(word, finish::of_line(is_result), &mut fields, cx);
        }
        if let Some(raw) = line.envelope.usage.and_then(|u| u.raw) {
            fields.push(Field {
                at: At::Line,
                key: Str::trusted("usage"),
                value: raw,
                known: true,
            });
        }
        let plain = line.meta.is_empty() && terminals.is_empty();
        line.meta.pour(&mut fields);
        let fields = fields.into_bump_slice();
        teller.fields = fields;
        self.tell_annotations(&line, terminals, teller);
        if plain
            && cx.trace.is_none()
            && let [annotation] = &*line.notes.list
            && let (AnnotationKind::Display(display), Some(result)) = (annotation.kind, teller.result)
            && let Some(spelled) = spelled_result(result, display, annotation.fields, cx)
        {
            self.learn(text, teller, fields, spelled);
        }
    }

    fn reply<'a>(&mut self, text: &'a str, mut line: Line<'a>, terminals: Terminals<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let cx = teller.cx;
        let choice = line.choice();
        let summary = line.meta.is_summary();
        let outcome = summary.then(|| self.summary(&mut line, choice.finish, cx));
        let model = self.new_model(&mut line);
        let said = line.meta.error().and_then(inner).filter(|_| !summary);
        let usage = line.envelope.usage.filter(|_| !summary);
        // A failure told behind the model's words does not make them the program's: those the model has spent tokens on, or the turn ends
        // with the failure.
        let by_model = usage.is_some() || choice.finish.is_some_and(|word| word.is("error"));
        let is_model_s = |error: Str<'_>| by_model && choice.content.is_some_and(|text| !text.is_empty() && text != error);
        let error = match said {
            Some(error) if !is_model_s(error) => line.meta.take_error(cx),
            _ => None,
        };
        let reply = Reply {
            id: None,
            model,
            blocks: blocks(&line, cx),
            stop: choice.finish.map(Stop::read),
            usage,
            error,
            last: true,
        };
        if let Some(content) = choice.content.filter(|c| c.is_empty()) {
            cx.took(content.as_escaped());
        }
        let mut fields = line.take_fields(cx);
        let plain = line.meta.is_empty() && terminals.is_empty() && !summary && error.is_none();
        line.meta.pour(&mut fields);
        let fields = fields.into_bump_slice();
        teller.fields = fields;
        for terminal in terminals {
            teller.terminal(terminal);
        }
        if !summary {
            self.end = reply.stop.and_then(|stop| End::of_reply(stop, said));
        }
        teller.tell(Kind::Reply(cx.keep(reply)));
        self.annotations(&line.notes.list, teller);
        if plain
            && cx.trace.is_none()
            && teller.told == 1
            && let Some(spelled) = spelled_reply(text, &reply, &choice, &line.notes.list, cx)
        {
            self.learn(text, teller, fields, spelled);
        }
        if let Some(outcome) = outcome {
            teller.tell(Kind::Outcome(cx.keep(outcome)));
        }
    }

    /// Takes the turn's outcome out of a summary line, in either mode.
    pub(super) fn summary<'a>(&mut self, line: &mut Line<'a>, finish: Option<Str<'a>>, cx: &Cx<'a>) -> Outcome<'a> {
        self.summary_of(&mut line.meta, line.envelope.usage, finish, cx)
    }

    /// The same, of its parts.
    pub(super) fn summary_of<'a>(&mut self, meta: &mut Meta<'a>, usage: Option<Usage<'a>>, finish: Option<Str<'a>>, cx: &Cx<'a>) -> Outcome<'a> {
        self.end = None;
        let usage = usage.map(|usage| Usage { scope: Scope::Turn, ..usage });
        Outcome {
            usage,
            ..meta.outcome(finish, cx)
        }
    }

    fn tell_annotations<'a>(&mut self, line: &Line<'a>, terminals: Terminals<'a>, teller: &mut Teller<'_, '_, 'a>) {
        for terminal in terminals {
            teller.terminal(terminal);
        }
        self.annotations(&line.notes.list, teller);
    }
}

type Terminals<'a> = Vec<(crate::event::Terminal<'a>, Option<Str<'a>>, crate::event::Fields<'a>)>;

/// Whether an annotation is an event of its own.
fn tells(annotation: &Annotation<'_>) -> bool {
    matches!(annotation.kind, AnnotationKind::Display(_) | AnnotationKind::Notice(_))
}

/// A `finish_reason` on a line without a reply: structure when it is what we would write there, else a field.
pub(super) fn keep_finish<'a>(word: Str<'a>, usual: &str, fields: &mut crate::chat::FieldList<'a>, cx: &Cx<'a>) {
    let known = word.as_escaped() == usual || Stop::read(word).kind != StopKind::Other;
    if known {
        cx.took(word.as_escaped());
    }
    if word.as_escaped() != usual {
        let quoted = format!("\"{}\"", word.as_escaped());
        let value = Raw::trusted(cx.arena.alloc_str(&quoted));
        cx.stands_for(value.as_str(), word.as_escaped());
        fields.push(Field {
            at: At::Part("/choices/0"),
            key: Str::trusted("finish_reason"),
            value,
            known: true,
        });
    }
}

/// The blocks of a reply in the order in which they count: what it thought, what it said, what it called.
fn blocks<'a>(line: &Line<'a>, cx: &Cx<'a>) -> &'a [Block<'a>] {
    let choice = line.choice();
    // A thought and a text as a rule, and the calls.
    let mut blocks = bumpalo::collections::Vec::with_capacity_in(choice.calls.len() + 2, cx.arena);
    thoughts(&line.notes.list, choice.reasoning, cx, |thinking| blocks.push(Block::Thinking(thinking)));
    if let Some(text) = choice.content.filter(|c| !c.is_empty()) {
        blocks.push(Block::Text { text, fields: &[] });
    }
    blocks.extend(choice.calls.iter().map(|call| Block::Call(whole_call(call, cx))));
    blocks.into_bump_slice()
}

fn whole_call<'a>(call: &CallPiece<'a>, cx: &Cx<'a>) -> ToolCall<'a> {
    let name = call.name.unwrap_or_default();
    ToolCall {
        id: call.id.unwrap_or_default(),
        name,
        kind: tools::kind_of(Dialect::Qwen, name),
        input: arguments_json(call.arguments, cx),
        fields: call.fields,
    }
}

/// The thoughts of a line. `reasoning_content` and the `x-qwen-thought` beside it are one thought, said twice.
pub(super) fn thoughts<'a>(list: &[Annotation<'a>], reasoning: Option<Str<'a>>, cx: &Cx<'a>, mut found: impl FnMut(Thinking<'a>)) {
    let annotated = || {
        list.iter().filter_map(|annotation| match annotation.kind {
            AnnotationKind::Thought { subject, description } => Some((subject, description, annotation.fields)),
            _ => None,
        })
    };
    let Some(reasoning) = reasoning.filter(|r| !r.is_empty()) else {
        for (subject, description, fields) in annotated() {
            // A subject alone is the thought.
            let (text, subject) = if description.is_empty() {
                (subject.unwrap_or_default(), None)
            } else {
                (description, subject)
            };
            found(Thinking {
                text,
                signature: None,
                subject,
                fields,
            });
        }
        return;
    };
    let pieces = annotated().count();
    let mut rest = reasoning.as_escaped();
    let agree = annotated().all(|(_, description, _)| rest.strip_prefix(description.as_escaped()).inspect(|r| rest = r).is_some()) && rest.is_empty();
    if pieces > 0 && (agree || pieces == 1) {
        let mut whole = Some(reasoning);
        for (subject, description, fields) in annotated() {
            let text = if pieces == 1 { whole.take().unwrap_or_default() } else { description };
            let mut fields = fields;
            if agree || text.same_text(description) {
                cx.stands_for(text.as_escaped(), description.as_escaped());
                cx.stands_for(text.as_escaped(), reasoning.as_escaped());
            } else {
                fields = with_description(fields, description, cx);
            }
            found(Thinking {
                text,
                signature: None,
                subject,
                fields,
            });
        }
        return;
    }
    let mut fields: &'a [Field<'a>] = &[];
    for (_, description, own) in annotated() {
        let all: Vec<_> = fields.iter().chain(own).copied().collect();
        fields = with_description(cx.list(&all), description, cx);
    }
    found(Thinking {
        text: reasoning,
        signature: None,
        subject: annotated().find_map(|(subject, _, _)| subject),
        fields,
    });
}

fn with_description<'a>(fields: &[Field<'a>], description: Str<'a>, cx: &Cx<'a>) -> &'a [Field<'a>] {
    let mut all = fields.to_vec();
    let quoted = bumpalo::format!(in cx.arena, "\"{}\"", description.as_escaped()).into_bump_str();
    cx.stands_for(quoted, description.as_escaped());
    all.push(Field {
        at: At::Block(0),
        key: Str::trusted("description"),
        value: Raw::trusted(quoted),
        known: true,
    });
    cx.list(&all)
}
