//! `session/update`: what is new in a session.

use super::UPDATE;
use super::answers::{Ends, read_usage};
use super::calls::Step;
use super::client::is_client_call;
use super::decode::{Decoder, Line, Open, content};
use super::fields::knows;
use crate::blocks::api_error;
use crate::chat::Members;
use crate::event::{
    Block, BlockHead, BlockStart, BlockStop, Content, Delta, Event, Kind, Notice, Origin, Piece, Prompt, PromptSource, Reply, ResultStatus, RoundEnd,
    RoundStart, RoundStop, Sink, Thinking, ToolCall, ToolKind, ToolProgress, ToolResult, Topic,
};
use crate::json::{Error, Raw, Shape, Str};

/// How a call is, before it is over.
const STATUSES: [&str; 2] = ["pending", "in_progress"];

/// A notification, opened.
pub(super) struct News<'a> {
    pub(super) line: Line<'a>,
    pub(super) origin: Origin<'a>,
    /// What is new, as it stands, and what is left of it.
    raw: Raw<'a>,
    pub(super) update: Members<'a>,
    /// What kind of news it is, is no structure.
    keeps_word: bool,
    /// Nobody looks at the fields of what is said within a turn.
    bare: bool,
}

impl<'a> News<'a> {
    /// The rest of the line as fields of what is said within a turn.
    fn rest_within(self) -> &'a [crate::event::Field<'a>] {
        if self.bare { &[] } else { self.rest() }
    }

    /// The rest of the line as fields.
    fn rest(mut self) -> &'a [crate::event::Field<'a>] {
        let cx = self.line.cx;
        let mut fields = self.line.fields();
        if let Some(word) = self.update.get("sessionUpdate").filter(|_| self.keeps_word) {
            self.update.take_raw("sessionUpdate");
            let mut first = Members::new(&cx);
            first.push(Str::trusted("sessionUpdate"), word);
            first.pour(UPDATE, knows, &mut fields);
        } else {
            self.update.word("sessionUpdate", &cx);
        }
        self.update.pour(UPDATE, knows, &mut fields);
        self.line.rest(fields)
    }

    fn message_id(&self) -> &'a str {
        self.update.get("messageId").and_then(Raw::string).map_or("", Str::as_escaped)
    }
}

impl Decoder {
    pub(super) fn update<'a>(&mut self, mut line: Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = line.cx;
        let Some(raw) = line.params.shaped("update", Shape::Object, &cx) else {
            return Err(line.missing("params/update"));
        };
        let Some(update) = line.params.inside(raw, &cx) else {
            return Err(line.missing("params/update"));
        };
        let Some(word) = update.get("sessionUpdate").and_then(Raw::string) else {
            return Err(line.missing("params/update/sessionUpdate"));
        };
        let origin = self.origin_of(&line);
        let parent = update.find(&["_meta", "claudeCode", "parentToolUseId"]);
        let origin = Origin {
            parent: parent.and_then(Raw::string),
            ..origin
        };
        if let Some(parent) = origin.parent {
            self.tell_parent(parent, &cx, sink);
        }
        let news = News {
            line,
            origin,
            raw,
            update,
            keeps_word: false,
            bare: !sink.takes_fields(),
        };
        let is_said = |word: &str| ["agent_", "user_", "tool_call", "plan"].iter().any(|begins| word.starts_with(begins));
        match word.as_escaped() {
            said if is_said(said)
                && self.turns == 0
                && self.host_asked.replays()
                && origin.session.is_some_and(|id| id.as_escaped() == self.begun) =>
            {
                self.notice(news, word, sink);
                Ok(())
            }
            "agent_message_chunk" => self.chunk(news, false, sink),
            "agent_thought_chunk" => self.chunk(news, true, sink),
            "agent_message" => self.message(news, false, sink),
            "agent_thought" => self.message(news, true, sink),
            "user_message_chunk" | "user_message" => {
                self.user(news, word, sink);
                Ok(())
            }
            "tool_call" | "tool_call_update" => self.call(news, sink),
            "plan" | "plan_update" => self.plan(news, sink),
            "state_update" if self.turns > 0 && news.update.get("stopReason").is_some() => {
                self.state(news, sink);
                Ok(())
            }
            _ => {
                self.notice(news, word, sink);
                Ok(())
            }
        }
    }

    /// A piece of what the model says.
    fn chunk<'a>(&mut self, mut news: News<'a>, thinking: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (cx, origin) = (news.line.cx, news.origin);
        let Some(raw) = news.update.shaped("content", Shape::Object, &cx) else {
            return Err(news.line.missing("params/update/content"));
        };
        let block = super::decode::block_of(raw, news.update.inside(raw, &cx), &cx);
        let Block::Text { text, fields } = block else {
            // An image comes whole.
            self.turn.said = true;
            self.end_block(origin, sink);
            self.turn.next += 1;
            let blocks = cx.list(&[block]);
            return self.reply(news, blocks, sink);
        };
        if !thinking && self.turn.open.is_none() && api_error::status(text.as_escaped()).is_some() {
            // Those are no words of the model's.
            self.turn.said = true;
            self.begin_round(origin, sink);
            let reply = cx.keep(Reply {
                blocks: cx.list(&[block]),
                error: Some(Str::trusted(api_error::word(text.as_escaped()))),
                ..Reply::default()
            });
            sink.event(&Event {
                origin,
                kind: Kind::Reply(reply),
                fields: news.rest(),
            });
            return Ok(());
        }
        let usage = || news.update.find(&["_meta", "usage"]).filter(|usage| usage.shape() == Some(Shape::Object));
        if let Some(usage) = text.is_empty().then(usage).flatten() {
            // Qwen Code says so what the model call took. Results of what we have done ourselves come while the model may still speak.
            if !self.turn.round || self.turn.ran {
                self.begin_round(origin, sink);
            }
            let usage = crate::event::Usage {
                scope: crate::event::Scope::Round,
                inclusive: true,
                ..read_usage(usage)
            };
            let stop = cx.keep(RoundStop {
                usage: Some(usage),
                ..RoundStop::default()
            });
            sink.event(&Event {
                origin,
                kind: Kind::RoundStop(stop),
                fields: news.rest_within(),
            });
            return Ok(());
        }
        self.turn.said = true;
        let message = news.message_id();
        let index = self.begin_block(thinking, message, origin, sink);
        let piece = if thinking { Piece::Thinking(text) } else { Piece::Text(text) };
        let mut all = news.line.fields();
        all.extend_from_slice(fields);
        all.extend_from_slice(news.rest_within());
        sink.event(&Event {
            origin,
            kind: Kind::Delta(Delta { index, piece }),
            fields: all.into_bump_slice(),
        });
        Ok(())
    }

    /// What the model says, whole: version 2, behind its pieces or without any.
    fn message<'a>(&mut self, mut news: News<'a>, thinking: bool, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let cx = news.line.cx;
        let Some(list) = news.update.shaped("content", Shape::Array, &cx) else {
            return Err(news.line.missing("params/update/content"));
        };
        if list.elements().next().is_none() {
            let word = if thinking { "agent_thought" } else { "agent_message" };
            self.notice(news, Str::trusted(word), sink);
            return Ok(());
        }
        let whole = content(list, &cx);
        let mut blocks = bumpalo::collections::Vec::new_in(cx.arena);
        match whole {
            Content::Text(text) => blocks.push(Block::Text { text, fields: &[] }),
            Content::Blocks(list) => blocks.extend_from_slice(list),
        }
        for block in blocks.iter_mut().filter(|_| thinking) {
            if let Block::Text { text, fields } = *block {
                *block = Block::Thinking(Thinking {
                    text,
                    fields,
                    ..Thinking::default()
                });
            }
        }
        self.turn.said = true;
        self.begin_round(news.origin, sink);
        self.end_block(news.origin, sink);
        self.reply(news, blocks.into_bump_slice(), sink)
    }

    fn reply<'a>(&mut self, news: News<'a>, blocks: &'a [Block<'a>], sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (cx, origin) = (news.line.cx, news.origin);
        let reply = cx.keep(Reply { blocks, ..Reply::default() });
        sink.event(&Event {
            origin,
            kind: Kind::Reply(reply),
            fields: news.rest_within(),
        });
        Ok(())
    }

    /// What the user says: again, in a session that goes on, or what was just said.
    fn user<'a>(&mut self, mut news: News<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) {
        let (cx, origin) = (news.line.cx, news.origin);
        if self.turns > 0 && !self.turn.said {
            return self.notice(news, word, sink);
        }
        // Of some messages it is only said that there is one, before their pieces.
        let says = |content: Raw<'a>| content.shape() != Some(Shape::Array) || content.elements().next().is_some();
        if !news.update.get("content").is_some_and(says) {
            return self.notice(news, word, sink);
        }
        let Some(raw) = news.update.take("content", &cx) else {
            return self.notice(news, word, sink);
        };
        let content = match raw.shape() {
            Some(Shape::Array) => content(raw, &cx),
            _ => match super::decode::block(raw, &cx) {
                Block::Text { text, fields: [] } => Content::Text(text),
                block => Content::Blocks(cx.list(&[block])),
            },
        };
        self.tell_calls(&cx, sink);
        self.end_block(origin, sink);
        if self.turns == 0 {
            // Pieces of what the user says are of one turn, until the agent says something.
            let before = self.turn.heard.as_deref();
            if before.is_some_and(|before| self.turn.said || !before.is_empty() && before != news.message_id()) {
                self.end_untold(&cx, sink);
            }
            self.turn = super::decode::Turn {
                replayed: self.host_asked.replays(),
                heard: Some(news.message_id().to_owned()),
                ..super::decode::Turn::default()
            };
        }
        let prompt = cx.keep(Prompt {
            content,
            source: PromptSource::Echo,
        });
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(prompt),
            fields: news.rest(),
        });
    }

    /// Something about a call, which is what is said of it so far: members that are missing stay as they were.
    fn call<'a>(&mut self, mut news: News<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (cx, origin) = (news.line.cx, news.origin);
        let Some(id) = news.update.text("toolCallId", &cx) else {
            return Err(news.line.missing("params/update/toolCallId"));
        };
        self.begin_call(id, origin, sink);
        // The word says no more than whether the call has been spoken of.
        let usual = if self.calls.knows(id) { "tool_call_update" } else { "tool_call" };
        let word = news.update.get("sessionUpdate").and_then(Raw::string).unwrap_or_default();
        news.keeps_word = !word.is(usual);
        if word.is("tool_call") {
            self.calls.call(id);
        }
        self.tell_before(id, &cx, sink);
        let before = self.calls.known(id);
        match self.calls.hear(id, &news.update) {
            Step::Known => {
                let status = news.update.text("status", &cx);
                if let Some(trace) = cx.trace.filter(|_| !self.calls.is_told(id)) {
                    trace.merged("the call is told when it is whole");
                    cx.took(id.as_escaped());
                }
                if let Some(status) = status.filter(|word| STATUSES.contains(&word.as_escaped())) {
                    cx.took(status.as_escaped());
                }
                let progress = cx.keep(ToolProgress {
                    call: id,
                    status,
                    content: None,
                    confirmation: None,
                });
                let said = cx.trace.map(|trace| (news.update.seen(&cx), trace));
                sink.event(&Event {
                    origin,
                    kind: Kind::ToolProgress(progress),
                    fields: news.rest(),
                });
                if let Some((said, trace)) = said {
                    self.calls.keep(id, &said, trace);
                }
            }
            Step::Runs => {
                let said = news.update.seen(&cx);
                // With its status a message says itself that a call runs; one without says its arguments, or shows something.
                if let Some(status) = news.update.get("status") {
                    cx.took(status.as_str());
                    if self.calls.takes_input(id, &before) {
                        news.update.take_raw("rawInput");
                    }
                }
                self.tell_call(id, Some(&said), news.rest(), origin, &cx, sink);
            }
            Step::Ended => {
                self.tell_call(id, Some(&news.update), &[], origin, &cx, sink);
                let result = self.calls.result(id, &mut news.update, &before, self.turn.cancelled, &cx);
                self.turn.resulted |= origin.parent.is_none();
                self.turn.ran |= origin.parent.is_none() && !is_client_call(id.as_escaped());
                sink.event(&Event {
                    origin,
                    kind: Kind::ToolResult(cx.keep(result)),
                    fields: news.rest_within(),
                });
            }
        }
        Ok(())
    }

    /// A plan is the whole list of things to do. It takes the place of the call that wrote it, of which nothing else is said.
    fn plan<'a>(&mut self, mut news: News<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let (cx, origin) = (news.line.cx, news.origin);
        let inside = news.update.get("plan").and_then(|plan| plan.get("entries"));
        let Some(entries) = inside
            .or_else(|| news.update.get("entries"))
            .filter(|list| list.shape() == Some(Shape::Array))
        else {
            return Err(news.line.missing("params/update/entries"));
        };
        if inside.is_none() {
            news.update.take_raw("entries");
        }
        self.turn.said = true;
        self.begin_round(origin, sink);
        self.end_block(origin, sink);
        self.plans += 1;
        let input = bumpalo::format!(in cx.arena, "{{\"todos\":{}}}", entries.as_str()).into_bump_str();
        let begin = entries.as_str().as_ptr() as usize - "{\"todos\":".len();
        for value in entries.elements().flat_map(Raw::members).map(|(_, value)| value.as_str()) {
            let at = value.as_ptr() as usize - begin;
            cx.stands_for(&input[at..at + value.len()], value);
        }
        let id = Str::trusted(bumpalo::format!(in cx.arena, "plan_{}", self.plans).into_bump_str());
        if let Some(trace) = cx.trace {
            trace.note(crate::event::Fate::Invented, "", "a plan is no call here: it gets an id");
        }
        let name = Str::trusted("plan");
        let call = ToolCall {
            id,
            name,
            kind: ToolKind::Todo,
            input: Raw::checked(input),
            fields: &[],
        };
        self.reply(news, cx.list(&[Block::Call(call)]), sink)?;
        let result = cx.keep(ToolResult {
            name: Some(name),
            ..ToolResult::new(id, ResultStatus::Success, Content::Text(Str::EMPTY))
        });
        (self.turn.resulted, self.turn.ran) = (true, true);
        sink.event(&Event::new(origin, Kind::ToolResult(result)));
        Ok(())
    }

    /// The turn is over, as version 2 says it.
    fn state<'a>(&mut self, mut news: News<'a>, sink: &mut dyn Sink<'a>) {
        let (cx, origin) = (news.line.cx, news.origin);
        let mut ends = Ends::default();
        let mut fields = news.line.fields();
        ends.read(&mut news.update, &cx, &mut fields);
        fields.extend_from_slice(news.rest());
        self.outcome(ends, origin, &cx, sink, fields.into_bump_slice());
    }

    /// What is no part of the conversation.
    fn notice<'a>(&mut self, mut news: News<'a>, word: Str<'a>, sink: &mut dyn Sink<'a>) {
        let (cx, origin) = (news.line.cx, news.origin);
        let topic = match word.as_escaped() {
            "state_update" | "current_mode_update" | "config_option_update" | "session_info_update" => Topic::Status,
            "user_message" | "user_message_chunk" | "agent_message" | "agent_thought" => Topic::Status,
            "compaction_update" | "compaction_summary_chunk" => Topic::Compaction,
            _ => Topic::Other,
        };
        let dollars = news
            .update
            .get("cost")
            .filter(|cost| cost.get("currency").and_then(Raw::string).is_some_and(|word| word.is("USD")));
        if let Some(amount) = dollars
            .and_then(|cost| cost.get("amount"))
            .filter(|amount| amount.shape() == Some(Shape::Number))
        {
            amount.as_str().clone_into(&mut self.cost);
        }
        news.update = Members::new(&cx);
        let notice = cx.keep(Notice {
            name: word,
            topic,
            message: word.is("notice").then(|| news.raw.get("title")?.string()).flatten(),
            data: Some(news.raw),
        });
        sink.event(&Event {
            origin,
            kind: Kind::Notice(notice),
            fields: news.rest(),
        });
    }

    /// A call is spoken of: it has its place where that is done first.
    pub(super) fn begin_call<'a>(&mut self, id: Str<'_>, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        self.turn.said = true;
        if !self.calls.knows(id) {
            self.begin_round(origin, sink);
        }
        self.end_block(origin, sink);
    }

    /// A reply begins, if none has or its calls have their results.
    pub(super) fn begin_round<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        if origin.parent.is_some() || self.turn.round && !self.turn.resulted {
            return;
        }
        self.end_block(origin, sink);
        if self.turn.round {
            sink.event(&Event::new(origin, Kind::RoundEnd(&RoundEnd::PLAIN)));
        }
        sink.event(&Event::new(
            origin,
            Kind::RoundStart(
                &const {
                    RoundStart {
                        id: None,
                        model: None,
                        usage: None,
                        number: None,
                    }
                },
            ),
        ));
        (self.turn.round, self.turn.next) = (true, 0);
        (self.turn.resulted, self.turn.ran) = (false, false);
    }

    fn begin_block<'a>(&mut self, thinking: bool, message: &str, origin: Origin<'a>, sink: &mut dyn Sink<'a>) -> u32 {
        self.begin_round(origin, sink);
        if let Some(open) = self
            .turn
            .open
            .as_ref()
            .filter(|open| open.thinking == thinking && open.message == message)
        {
            return open.index;
        }
        self.end_block(origin, sink);
        let index = self.turn.next;
        self.turn.next += 1;
        self.turn.open = Some(Open {
            index,
            thinking,
            message: message.to_owned(),
        });
        let head = if thinking { BlockHead::Thinking } else { BlockHead::Text };
        sink.event(&Event::new(origin, Kind::BlockStart(BlockStart { index, head })));
        index
    }

    /// The text or thought that came in pieces is whole.
    pub(super) fn end_block<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(open) = self.turn.open.take() {
            let origin = Origin {
                session: origin.session,
                ..Origin::default()
            };
            sink.event(&Event::new(origin, Kind::BlockStop(BlockStop { index: open.index })));
        }
    }
}
