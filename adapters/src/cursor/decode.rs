//! Cursor's lines to events.

use super::members::{Inside, Line, Members};
use super::message::message;
use super::segments::{Segments, Whole};
use crate::codec::{Cx, Decode, stray};
use crate::event::{
    At, Block, BlockHead, BlockStart, BlockStop, Content, Count, Delta, Event, Fate, Field, Fields, Kind, Notice, Origin, Outcome, OutcomeKind,
    Piece, Place, Prompt, PromptSource, Reply, Scope, Session, Sink, Time, Topic, Usage,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::learn::{Aside, Learned, Rules};

/// Reads `stream-json` of both generations and `json`.
#[derive(Debug, Default)]
pub struct Decoder {
    segments: Segments,
    /// The block that comes in pieces, and its index.
    open: Option<(Voice, u32)>,
    /// The index of the next block of the round.
    next: u32,
    /// Something was said since the last result.
    begun: bool,
    answer: Answer,
    /// The last line said text without a time and without the id of a model call.
    after_bare: bool,
    /// There were two such lines in a row: the log is of 2025, when every piece of a text was such a line.
    bare_pieces: bool,
    learned: Option<Box<Learned>>,
    /// The calls of the turn and how their started lines were spelled. Kept only when there is a ledger.
    pub(super) started: super::calls::Started,
}

/// What was said since the last tool call, by whole lines: the end of what `result` says, which is all segments of the turn.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    /// Something was said in pieces and not again.
    is_open: bool,
}

impl Answer {
    fn clear(&mut self) {
        self.text.clear();
        // One long answer must not hold its memory for the rest of the log.
        if self.text.capacity() > 1 << 20 {
            self.text = String::new();
        }
        self.is_open = false;
    }

    /// The last answer within the text of a result that says more.
    fn within<'a>(&self, result: Str<'a>) -> Option<Str<'a>> {
        let result = result.as_escaped();
        let before = result
            .strip_suffix(self.text.as_str())
            .filter(|_| !self.is_open && !self.text.is_empty())?;
        (!before.is_empty()).then(|| Str::trusted(&result[before.len()..]))
    }
}

/// What can come in pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Voice {
    Thinking,
    Text,
}

impl Decode for Decoder {
    #[inline]
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if cx.trace.is_none()
            && let Some(used) = self.read_learnt(text, false, cx, sink)
        {
            return Ok(used);
        }
        self.walk(text, cx, sink)
    }

    #[inline]
    fn reads_again(&self) -> bool {
        true
    }

    #[inline]
    fn again<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        self.read_learnt(text, true, cx, sink)
    }

    fn next_session(&mut self, to: &str) {
        let mut learned = self.learned.take();
        if let Some(learned) = &mut learned {
            learned.next_session(to);
        }
        *self = Self { learned, ..Self::default() };
    }
}

/// Pieces are learnt, which say nothing but their text, their session and their time.
static RULES: Rules = Rules {
    indexed: false,
    places: &[],
    tools: None,
    counts: None,
    status: None,
};

impl Decoder {
    /// Reads a piece that is spelled like an earlier one, and tells it. The `first` of some lines is read with its end.
    #[inline]
    fn read_learnt<'a>(&mut self, text: &'a str, first: bool, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Option<usize> {
        let mut learned = self.learned.take()?;
        let used = learned.read_spelled((text, first), &RULES, cx, sink, |event, _, sink| {
            let (voice, text) = match event.kind {
                Kind::Delta(Delta {
                    piece: Piece::Thinking(text),
                    ..
                }) => (Voice::Thinking, text),
                Kind::Delta(Delta {
                    piece: Piece::Text(text), ..
                }) => (Voice::Text, text),
                _ => return false,
            };
            self.piece(voice, text, event.origin, &[], sink);
            true
        });
        self.learned = Some(learned);
        used
    }

    /// Remembers how the line of a piece is spelled, which says nothing else.
    fn learn(&mut self, line: &Line<'_>, piece: Piece<'_>, origin: Origin<'_>) {
        if line.cx.trace.is_none() && origin.time.and_then(Time::millis).is_some() {
            let event = Event::new(origin, Kind::Delta(Delta { index: 0, piece }));
            self.learned.get_or_insert_default().learn(line.text, &RULES, &event, Aside::default());
        }
    }
}

impl Decoder {
    fn walk<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let (mut members, inside) = Members::line(&mut at, cx)?;
        let used = at.position();
        let line = Line {
            text: &text[..used],
            cx: *cx,
        };
        let kind = members.take_word("type", &line)?.unwrap_or_default();
        let has_subtype = matches!(
            kind,
            "thinking" | "tool_call" | "system" | "result" | "interaction_query" | "connection" | "retry"
        );
        let subtype = if has_subtype { members.take_word("subtype", &line)? } else { None };
        match (kind, subtype.unwrap_or_default()) {
            ("thinking", "delta") => self.thinking(&line, members, sink)?,
            ("thinking", "completed") => self.thought(&line, members, sink)?,
            ("assistant", _) => self.assistant(&line, (members, inside), sink)?,
            ("tool_call", "started") => self.call_started(&line, (members, inside), sink)?,
            ("tool_call", "completed") => self.call_completed(&line, (members, inside), sink)?,
            ("tool_call", "progress") => self.call_progress(&line, members, sink)?,
            ("system", "init") => self.session(&line, members, sink)?,
            ("user", _) => self.prompt(&line, (members, inside), sink)?,
            ("result", _) => self.outcome(&line, subtype, members, sink)?,
            ("interaction_query", word) => notice(&line, (kind, word), Topic::Query, members, sink)?,
            ("retry", word @ ("starting" | "resuming")) => notice(&line, (kind, word), Topic::Retry, members, sink)?,
            // The retry that it leads to has a line of its own.
            ("connection", word) => notice(&line, (kind, word), Topic::Status, members, sink)?,
            ("system" | "retry", word) => notice(&line, (kind, word), Topic::Other, members, sink)?,
            _ => {
                let origin = origin(&line, &mut members)?;
                sink.event(&Event::new(origin, Kind::Unknown(Raw::trusted(line.text))));
            }
        }
        self.begun = kind != "result";
        Ok(used)
    }

    fn session<'a>(&mut self, line: &Line<'a>, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let session = Session {
            cwd: members.take_string("cwd", line)?,
            model: members.take_string("model", line)?,
            permission_mode: members.take_string("permissionMode", line)?,
            api_key_source: members.take_string("apiKeySource", line)?,
            // Not in any recording; the page announces them.
            tools: members.take_shape("tools", Shape::Array).map(|v| line.checked(v)).transpose()?,
            mcp_servers: members.take_shape("mcp_servers", Shape::Array).map(|v| line.checked(v)).transpose()?,
            opens_turn: true,
            ..Session::default()
        };
        self.end_turn();
        let fields = rest(line, &members);
        let session = line.cx.keep(session);
        sink.event(&Event {
            origin,
            kind: Kind::Session(session),
            fields,
        });
        Ok(())
    }

    fn prompt<'a>(&mut self, line: &Line<'a>, (mut members, inside): (Members<'a>, Inside<'a>), sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let mut fields = line.fields();
        let blocks = message(line, &mut members, inside, &mut fields)?;
        members.rest(At::Line, &mut fields);
        self.end_block(origin, sink);
        self.segments.cut();
        self.next = 0;
        let prompt = line.cx.keep(Prompt {
            content: Content::Blocks(blocks),
            source: PromptSource::Echo,
        });
        sink.event(&Event {
            origin,
            kind: Kind::Prompt(prompt),
            fields: fields.into_bump_slice(),
        });
        Ok(())
    }

    fn thinking<'a>(&mut self, line: &Line<'a>, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let text = members.need_string("text", line)?;
        let fields = rest(line, &members);
        if fields.is_empty() {
            self.learn(line, Piece::Thinking(text), origin);
        }
        self.piece(Voice::Thinking, text, origin, fields, sink);
        Ok(())
    }

    fn thought<'a>(&mut self, line: &Line<'a>, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let index = match self.open {
            Some((Voice::Thinking, index)) => index,
            _ => self.begin(Voice::Thinking, origin, sink),
        };
        self.open = None;
        sink.event(&Event {
            origin,
            kind: Kind::BlockStop(BlockStop { index }),
            fields: rest(line, &members),
        });
        Ok(())
    }

    fn assistant<'a>(&mut self, line: &Line<'a>, (mut members, inside): (Members<'a>, Inside<'a>), sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let id = members.take_string("model_call_id", line)?;
        let mut fields = line.fields();
        let blocks = message(line, &mut members, inside, &mut fields)?;
        let only_text = blocks.iter().all(|block| matches!(block, Block::Text { .. }));
        let mut is_piece = origin.time.is_some() && id.is_none() && only_text && !blocks.is_empty();
        let mut meaning = Whole::New;
        if let ([Block::Text { text, .. }], false) = (blocks, is_piece) {
            meaning = self.segments.whole(*text);
            if id.is_none() && meaning != Whole::Differs {
                self.answer.text.push_str(text.as_escaped());
                self.answer.is_open &= meaning == Whole::New;
            }
            if id.is_none() && meaning == Whole::New {
                self.bare_pieces |= std::mem::replace(&mut self.after_bare, true);
                is_piece = self.bare_pieces;
            }
        }
        if is_piece {
            for (block, n) in blocks.iter().zip(0..) {
                if let Block::Text { fields: own, .. } = block {
                    fields.extend(own.iter().map(|field| Field { at: At::Block(n), ..*field }));
                }
            }
        }
        members.rest(At::Line, &mut fields);
        let mut fields: Fields<'a> = fields.into_bump_slice();
        if !is_piece {
            let reply = Reply {
                id,
                blocks,
                ..Reply::default()
            };
            self.whole(line, (reply, meaning), origin, fields, sink);
            return Ok(());
        }
        if let ([Block::Text { text, .. }], []) = (blocks, fields) {
            self.learn(line, Piece::Text(*text), origin);
        }
        for block in blocks {
            if let Block::Text { text, .. } = block {
                self.piece(Voice::Text, *text, origin, fields, sink);
                fields = &[];
            }
        }
        Ok(())
    }

    /// A line that holds a whole segment.
    fn whole<'a>(
        &mut self,
        line: &Line<'a>,
        (mut reply, meaning): (Reply<'a>, Whole<'a>),
        origin: Origin<'a>,
        fields: Fields<'a>,
        sink: &mut dyn Sink<'a>,
    ) {
        match meaning {
            Whole::Differs => return,
            Whole::New => {
                self.end_block(origin, sink);
                self.next = self.next.saturating_add(reply.blocks.len() as u32);
            }
            Whole::Again(texts) if texts.len() > 1 => {
                let blocks = line
                    .cx
                    .arena
                    .alloc_slice_fill_iter(texts.into_iter().map(|text| Block::Text { text, fields: &[] }));
                reply.blocks = blocks;
            }
            Whole::Again(_) => {}
        }
        let reply = line.cx.keep(reply);
        sink.event(&Event {
            origin,
            kind: Kind::Reply(reply),
            fields,
        });
        self.end_block(origin, sink);
    }

    fn outcome<'a>(&mut self, line: &Line<'a>, subtype: Option<&'a str>, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let origin = origin(line, &mut members)?;
        let is_error = members.take_shape("is_error", Shape::Bool);
        if let Some(flag) = is_error {
            line.cx.took(flag.as_str());
        }
        let is_error = is_error.and_then(Raw::bool).unwrap_or(false);
        let kind = if is_error {
            OutcomeKind::Failed(Place::Model)
        } else {
            OutcomeKind::Success
        };
        let said = members.take_shape("result", Shape::String);
        let text = said.map(|value| line.string(value)).transpose()?;
        let answer = text.and_then(|text| self.answer.within(text)).filter(|_| !is_error);
        let mut fields = line.fields();
        if let (Some(value), Some(_)) = (said, answer) {
            if let Some(trace) = line.cx.trace {
                trace.note(Fate::Merged, "/result", "what comes before the answer stands in lines of its own");
                trace.took(value.as_str());
            }
            fields.push(Field {
                at: At::Line,
                key: Str::trusted("result"),
                value,
                known: true,
            });
        }
        let outcome = Outcome {
            is_error,
            text: answer.or(text),
            error: text.filter(|_| is_error),
            word: subtype.map(|word| {
                let spelled = line.cx.text(word);
                line.cx.stands_for(spelled.as_escaped(), word);
                spelled
            }),
            duration_ms: members.take_shape("duration_ms", Shape::Number),
            duration_api_ms: members.take_shape("duration_api_ms", Shape::Number),
            usage: members
                .take_shape("usage", Shape::Object)
                .map(|raw| line.checked(raw))
                .transpose()?
                .map(usage),
            request_id: members.take_string("request_id", line)?,
            ..Outcome::new(kind)
        };
        self.end_block(origin, sink);
        self.end_turn();
        if !self.begun && !is_error {
            // The `json` format, which is the outcome alone: its text is all that was said.
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                let blocks = line.cx.list(&[Block::Text { text, fields: &[] }]);
                let reply = line.cx.keep(Reply { blocks, ..Reply::default() });
                sink.event(&Event::new(origin, Kind::Reply(reply)));
            }
        }
        let outcome = line.cx.keep(outcome);
        members.rest(At::Line, &mut fields);
        sink.event(&Event {
            origin,
            kind: Kind::Outcome(outcome),
            fields: fields.into_bump_slice(),
        });
        Ok(())
    }

    /// A piece of a block, which begins if another kind is open or none.
    #[inline]
    fn piece<'a>(&mut self, voice: Voice, text: Str<'a>, origin: Origin<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
        let (index, fresh) = match self.open {
            Some((open, index)) if open == voice => (index, false),
            _ => (self.begin(voice, origin, sink), true),
        };
        let piece = match voice {
            Voice::Thinking => Piece::Thinking(text),
            Voice::Text => {
                // What stands in a line without a time is not said again.
                if origin.time.is_some() {
                    self.segments.piece(text, fresh);
                    self.answer.is_open = true;
                }
                Piece::Text(text)
            }
        };
        self.begun = true;
        sink.event(&Event {
            origin,
            kind: Kind::Delta(Delta { index, piece }),
            fields,
        });
    }

    fn begin<'a>(&mut self, voice: Voice, origin: Origin<'a>, sink: &mut dyn Sink<'a>) -> u32 {
        self.end_block(origin, sink);
        let index = self.next;
        self.next = self.next.saturating_add(1);
        self.open = Some((voice, index));
        let head = match voice {
            Voice::Thinking => BlockHead::Thinking,
            Voice::Text => BlockHead::Text,
        };
        sink.event(&Event::new(origin, Kind::BlockStart(BlockStart { index, head })));
        index
    }

    /// Ends the block that is open because something else comes. A thought that is cut short has no line that ends it, so
    /// nothing is said of it; the assembler ends what is left open.
    pub(super) fn end_block<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        if let Some((Voice::Text, index)) = self.open.take() {
            sink.event(&Event::new(origin, Kind::BlockStop(BlockStop { index })));
        }
    }

    /// A tool call: what was said in pieces before it is said.
    pub(super) fn before_call<'a>(&mut self, origin: Origin<'a>, sink: &mut dyn Sink<'a>) {
        self.end_block(origin, sink);
        self.segments.cut();
        self.answer.clear();
        self.after_bare = false;
        self.next = self.next.saturating_add(1);
    }

    /// A tool's result: the next model call begins with its first block.
    pub(super) const fn after_result(&mut self) {
        self.next = 0;
    }

    fn end_turn(&mut self) {
        self.segments.reset();
        self.answer.clear();
        self.after_bare = false;
        self.open = None;
        self.next = 0;
        self.started.clear();
    }
}

/// Session and time. Without one (`null`) the member still tells a piece from a whole segment; a time that is no number stays a field.
pub(super) fn origin<'a>(line: &Line<'a>, members: &mut Members<'a>) -> Result<Origin<'a>, Error> {
    let unknown = |value: &Raw<'_>| line.cx.took(value.as_str());
    let time = members
        .take_shape("timestamp_ms", Shape::Number)
        .or_else(|| members.take_shape("timestamp_ms", Shape::Null).inspect(unknown));
    Ok(Origin {
        session: members.take_string("session_id", line)?,
        time: time.map(Time::Millis),
        ..Origin::default()
    })
}

/// What is left of the line's own members.
pub(super) fn rest<'a>(line: &Line<'a>, members: &Members<'a>) -> Fields<'a> {
    let mut fields = line.fields();
    members.rest(At::Line, &mut fields);
    fields.into_bump_slice()
}

/// A line about the connection, or a question that the program asks and answers itself.
fn notice<'a>(line: &Line<'a>, (kind, subtype): (&str, &str), topic: Topic, mut members: Members<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
    let origin = origin(line, &mut members)?;
    let data = match (topic, subtype) {
        (Topic::Query, "response") => members.take("response"),
        (Topic::Query, _) => members.take("query"),
        _ => None,
    };
    let name = if subtype.is_empty() {
        line.cx.text(kind)
    } else {
        let name = line.cx.text(&format!("{kind}/{subtype}"));
        line.cx.stands_for(name.as_escaped(), subtype);
        name
    };
    let notice = line.cx.keep(Notice {
        name,
        topic,
        message: None,
        data: data.map(|raw| line.checked(raw)).transpose()?,
    });
    sink.event(&Event {
        origin,
        kind: Kind::Notice(notice),
        fields: rest(line, &members),
    });
    Ok(())
}

/// `inputTokens` does not count what the cache answered or took.
fn usage(raw: Raw<'_>) -> Usage<'_> {
    let count = |name| raw.get(name).and_then(Count::read);
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheWriteTokens"),
        scope: Scope::Turn,
        raw: Some(raw),
        ..Usage::default()
    }
}
