use std::collections::HashMap;

use super::WORDS;
use crate::blocks::{FieldList, Reader, StreamEvent};
use crate::codec::{Cx, Decode};
use crate::event::{
    At, BlockHead, Fatal, Kind, Limit, Notice, Origin, Outcome, OutcomeKind, Piece, RoundEnd, RoundStart, RoundStop, Scope, Session, Sink, Stop,
    StopKind, Topic,
};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};
use crate::trace::Kept;
use crate::weave::{Balance, End, Voice, Weave};

/// Reads the payloads of a stream.
#[derive(Debug)]
pub struct Decoder {
    /// A log is read: the session's facts and the turn's outcome are told too, as far as a reply tells them.
    log: bool,
    /// The id of the first reply, which is the session's in a log.
    session: Option<String>,
    id: String,
    /// A reply has begun, and has not been ended.
    open: bool,
    end: End,
    weave: Weave,
    /// The calls' arguments, by block.
    calls: HashMap<u32, Balance>,
    stopped: Option<StopKind>,
    /// What the API says of a refusal, as the body of a JSON string, and where the stream says it.
    explanation: String,
    explained: Kept,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { log: true, ..Self::live() }
    }
}

impl Decoder {
    /// A decoder of a reply that comes from an API: it tells rounds, blocks and errors, nothing of a session.
    pub fn live() -> Self {
        Self {
            log: false,
            session: None,
            id: String::new(),
            open: false,
            end: End::Nothing,
            weave: Weave::default(),
            calls: HashMap::new(),
            stopped: None,
            explanation: String::new(),
            explained: Kept::default(),
        }
    }

    /// How far the last reply has come.
    pub const fn end(&self) -> End {
        self.end
    }

    /// Whether nothing more has to be waited for: `message_stop` has come, a whole reply, or an error.
    pub const fn is_over(&self) -> bool {
        matches!(self.end, End::Terminal | End::Failed)
    }

    fn stream_event<'a>(&mut self, event: StreamEvent<'a>, fields: FieldList<'a>, voice: &mut Voice<'_, 'a>) {
        let fields = fields.into_bump_slice();
        match event {
            StreamEvent::MessageStart(start) => {
                let id = start.id.map_or("", Str::as_escaped);
                if self.open && id == self.id {
                    if self.log {
                        let notice = Notice {
                            name: Str::trusted("message_start"),
                            topic: Topic::Other,
                            message: Some(Str::trusted("the same message begins again; what has come of it stands")),
                            data: None,
                        };
                        voice.say(Kind::Notice(voice.cx.keep(notice)), &[]);
                    }
                    return;
                }
                if self.open {
                    // Another message in place of the one that was on its way, which nobody is going to finish.
                    self.weave.abandon(voice);
                    let end = RoundEnd {
                        abandoned_from: Some(0),
                        ..RoundEnd::PLAIN
                    };
                    voice.say(Kind::RoundEnd(voice.cx.keep(end)), &[]);
                }
                self.begin(start, fields, voice);
            }
            StreamEvent::BlockStart(start, piece) => {
                self.begin_unsaid(voice);
                let key = u64::from(start.index);
                self.weave.stop(key, voice);
                if let BlockHead::Call { .. } = start.head {
                    self.calls.insert(start.index, Balance::default());
                }
                self.weave.begin(key, start.head, fields, voice);
                if let Some(piece) = piece {
                    self.piece(start.index, piece, &[], voice);
                }
            }
            StreamEvent::Delta(delta) => {
                self.begin_unsaid(voice);
                let head = match delta.piece {
                    Piece::Text(_) => Some(BlockHead::Text),
                    Piece::Thinking(_) | Piece::Signature(_) => Some(BlockHead::Thinking),
                    _ => None,
                };
                // A block whose beginning was left out.
                if let Some(head) = head.filter(|_| !self.weave.is_open(delta.index.into())) {
                    self.weave.begin(delta.index.into(), head, &[], voice);
                }
                self.piece(delta.index, delta.piece, fields, voice);
            }
            StreamEvent::BlockStop(stop) => self.weave.stop(stop.index.into(), voice),
            StreamEvent::MessageDelta(stop) => {
                let stop = RoundStop {
                    stop: stop.stop.map(|stop| self.stop(stop)),
                    ..stop
                };
                if let Some(reason) = stop.stop {
                    self.weave.stop_all(voice);
                    self.stopped = Some(reason.kind);
                }
                voice.say(Kind::RoundStop(voice.cx.keep(stop)), fields);
                let details = fields.iter().find(|field| field.key.is("stop_details"));
                self.explains(details.map(|field| field.value), voice);
            }
            StreamEvent::MessageStop => self.close(voice),
            StreamEvent::Other { kind, raw } => match kind.as_escaped() {
                "error" => self.fail(raw, voice),
                "message" => self.message(raw, voice),
                "ping" if self.log => {
                    let notice = Notice {
                        name: Str::trusted("ping"),
                        topic: Topic::Status,
                        message: None,
                        data: None,
                    };
                    voice.say(Kind::Notice(voice.cx.keep(notice)), &[]);
                }
                "ping" => {}
                // Servers of another make, and what stands in front of them.
                _ if raw.get("error").is_some_and(|error| !error.is_null()) || raw.get("detail").is_some() => self.fail(raw, voice),
                _ => voice.say(Kind::Unknown(raw), &[]),
            },
        }
    }

    /// A reply whose beginning was left out.
    fn begin_unsaid<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        if self.end == End::Nothing && !self.log {
            self.begin(RoundStart::default(), &[], voice);
        }
    }

    fn begin<'a>(&mut self, start: RoundStart<'a>, fields: &'a [crate::event::Field<'a>], voice: &mut Voice<'_, 'a>) {
        self.open = true;
        self.end = End::Incomplete;
        self.weave.restart();
        self.calls.clear();
        self.stopped = None;
        self.explanation.clear();
        self.id.clear();
        self.id.push_str(start.id.map_or("", Str::as_escaped));
        if self.log {
            let begun = self.session.is_some();
            let session = self.session.get_or_insert_with(|| self.id.clone());
            voice.origin = origin(voice.cx, session);
            if !begun {
                let facts = Session {
                    model: start.model,
                    opens_turn: true,
                    ..Session::default()
                };
                voice.say(Kind::Session(voice.cx.keep(facts)), &[]);
            }
        }
        voice.say(Kind::RoundStart(voice.cx.keep(start)), fields);
    }

    fn piece<'a>(&mut self, index: u32, piece: Piece<'a>, fields: &'a [crate::event::Field<'a>], voice: &mut Voice<'_, 'a>) {
        if let (Piece::Input(text), Some(balance)) = (piece, self.calls.get_mut(&index)) {
            balance.feed(&text.unescape());
        }
        let _ = self.weave.piece(index.into(), piece, fields, voice);
    }

    /// Why the model refused, in words that nobody has said.
    fn explains<'a>(&mut self, details: Option<Raw<'a>>, voice: &Voice<'_, 'a>) {
        let text = details.and_then(|details| details.get("explanation")).and_then(Raw::string);
        let Some(text) = text.filter(|_| self.log && self.stopped == Some(StopKind::Refusal)) else {
            return;
        };
        text.as_escaped().clone_into(&mut self.explanation);
        if let Some(trace) = voice.cx.trace {
            trace.hold_unsaid(&mut self.explained, text.as_escaped());
        }
    }

    /// A normal end with a whole call means that the call is wanted.
    fn stop<'a>(&self, stop: Stop<'a>) -> Stop<'a> {
        let whole = self.calls.values().any(|call| call.is_blank() || call.is_complete());
        match stop.kind {
            StopKind::Done if whole => Stop {
                kind: StopKind::Tools,
                ..stop
            },
            _ => stop,
        }
    }

    fn close<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        if !self.open {
            return;
        }
        self.weave.stop_all(voice);
        voice.say(Kind::RoundEnd(voice.cx.keep(RoundEnd::PLAIN)), &[]);
        self.open = false;
        self.end = End::Terminal;
        let outcome = match self.stopped {
            Some(StopKind::Done | StopKind::Sequence) => OutcomeKind::Success,
            None if self.calls.is_empty() => OutcomeKind::Success,
            Some(StopKind::Length) => OutcomeKind::Limit(Limit::Tokens),
            Some(StopKind::Refusal) => OutcomeKind::Refused,
            // The calls have to be answered first.
            _ => return,
        };
        if !self.log {
            return;
        }
        let error = (!self.explanation.is_empty()).then(|| Str::trusted(voice.cx.arena.alloc_str(&self.explanation)));
        if let Some((trace, error)) = voice.cx.trace.zip(error) {
            trace.watch(error.as_escaped(), &self.explained);
        }
        let outcome = Outcome {
            error,
            ..Outcome::new(outcome)
        };
        voice.say(Kind::Outcome(voice.cx.keep(outcome)), &[]);
        if let Some((trace, error)) = voice.cx.trace.zip(error) {
            trace.told(&mut self.explained, error.as_escaped(), "the outcome does not say it");
        }
    }

    fn fail<'a>(&mut self, event: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        self.weave.stop_all(voice);
        self.open = false;
        self.end = End::Failed;
        let error = event.get("error").or_else(|| event.get("detail")).unwrap_or(event);
        let text = error.string().or_else(|| error.get("message").and_then(Raw::string));
        let fatal = Fatal {
            message: text.unwrap_or_else(|| voice.cx.text(error.as_str())),
            kind: error.get("type").and_then(Raw::string),
            param: None,
            code: error.get("code").filter(|code| !code.is_null()),
        };
        voice.say(Kind::Fatal(voice.cx.keep(fatal)), &[]);
    }

    /// A whole reply.
    fn message<'a>(&mut self, message: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let text = |name: &str| message.get(name).and_then(Raw::string);
        let start = RoundStart {
            id: text("id"),
            model: text("model"),
            ..RoundStart::default()
        };
        self.begin(start, &[], voice);
        let blocks = message.get("content").into_iter().flat_map(Raw::elements);
        for (index, block) in (0..).zip(blocks) {
            self.block(index, block, voice);
        }
        let cx = voice.cx;
        let reader = Reader { cx, words: &WORDS };
        let usage = message.get("usage").and_then(|usage| {
            let mut at = Cursor::new(usage.as_str());
            reader
                .usage(&mut at, Scope::Round, At::Line, Str::trusted("usage"), &mut reader.fields())
                .ok()
                .flatten()
        });
        let stop = text("stop_reason").map(|word| self.stop(Stop::read(word)));
        self.stopped = stop.map(|stop| stop.kind);
        self.weave.stop_all(voice);
        voice.say(Kind::RoundStop(cx.keep(RoundStop { id: None, stop, usage })), &[]);
        self.explains(message.get("stop_details"), voice);
        self.close(voice);
    }

    /// A block of a whole reply.
    fn block<'a>(&mut self, index: u32, block: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let text = |name: &str| block.get(name).and_then(Raw::string).unwrap_or_default();
        let kind = text("type");
        let (head, pieces) = match kind.as_escaped() {
            "text" => (BlockHead::Text, [Some(Piece::Text(text("text"))), None]),
            "thinking" => (
                BlockHead::Thinking,
                [
                    Some(Piece::Thinking(text("thinking"))),
                    block.get("signature").and_then(Raw::string).map(Piece::Signature),
                ],
            ),
            "redacted_thinking" => (BlockHead::Redacted { data: text("data") }, [None, None]),
            "tool_use" => {
                let head = BlockHead::Call {
                    id: text("id"),
                    name: text("name"),
                };
                self.calls.insert(index, Balance::default());
                let input = block.get("input").map(|input| Piece::Input(voice.cx.text(input.as_str())));
                (head, [input, None])
            }
            _ => (BlockHead::Other { kind, raw: block }, [None, None]),
        };
        self.weave.begin(index.into(), head, &[], voice);
        for piece in pieces.into_iter().flatten() {
            self.piece(index, piece, &[], voice);
        }
        self.weave.stop(index.into(), voice);
    }
}

fn origin<'a>(cx: &Cx<'a>, session: &str) -> Origin<'a> {
    let id: &'a str = cx.arena.alloc_str(session);
    Origin {
        session: Some(Str::trusted(id)).filter(|id| !id.is_empty()),
        ..Origin::default()
    }
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        let mut voice = Voice {
            cx,
            origin: origin(cx, self.session.as_deref().unwrap_or_default()),
            sink,
        };
        if !text.starts_with('{') {
            if text.trim_end() == "[DONE]" {
                cx.took(text);
            } else {
                voice.say(Kind::Noise(text), &[]);
            }
            return Ok(text.len());
        }
        let reader = Reader { cx, words: &WORDS };
        let mut fields = reader.fields();
        let mut at = Cursor::new(text);
        let event = reader.event(&mut at, &mut fields)?;
        if let StreamEvent::Other { raw, .. } = event
            && raw.shape() != Some(Shape::Object)
        {
            return Err(at.error(Why::Type));
        }
        self.stream_event(event, fields, &mut voice);
        Ok(at.position())
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let mut voice = Voice {
            cx,
            origin: origin(cx, self.session.as_deref().unwrap_or_default()),
            sink,
        };
        self.weave.stop_all(&mut voice);
        self.open = false;
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self {
            log: self.log,
            ..Self::live()
        };
    }
}
