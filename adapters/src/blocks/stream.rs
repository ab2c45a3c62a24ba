use super::read::{FieldList, Members, Reader, checked, plain, plain_key, since};
use super::{DELTA, EVENT, HEAD, START, Signature};
use crate::event::{At, BlockHead, BlockStart, BlockStop, Delta, Piece, RoundStart, RoundStop, Scope, Stop, Usage};
use crate::json::{Cursor, Error, Raw, Shape, Str, Why};

/// What the `event` object of a `stream_event` line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StreamEvent<'a> {
    /// `message_start`.
    MessageStart(RoundStart<'a>),
    /// `content_block_start`, and the first piece if the block does not begin empty.
    BlockStart(BlockStart<'a>, Option<Piece<'a>>),
    /// `content_block_delta`.
    Delta(Delta<'a>),
    /// `content_block_stop`.
    BlockStop(BlockStop),
    /// `message_delta`.
    MessageDelta(RoundStop<'a>),
    /// `message_stop`.
    MessageStop,
    /// Another kind (`ping`, `error`, `goal_state` …): its `type` and the whole object, checked for structure only. Nothing of it is in the fields.
    Other {
        /// Its `type`; empty when it has none.
        kind: Str<'a>,
        /// The whole event.
        raw: Raw<'a>,
    },
}

/// An object inside the event, walked before it is known what the event is.
struct Inner<'c, 'a> {
    members: Members<'c, 'a>,
    raw: Raw<'a>,
    /// Behind it.
    end: usize,
}

impl<'c, 'a> Reader<'c, 'a> {
    /// Reads the `event` object of a `stream_event` line.
    pub(crate) fn event(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>) -> Result<StreamEvent<'a>, Error> {
        self.event_and_index(at, fields).map(|(event, _)| event)
    }

    /// The same, and where the event says the block's index.
    pub(crate) fn event_and_index(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>) -> Result<(StreamEvent<'a>, Option<Raw<'a>>), Error> {
        at.peek();
        let before = at.rest();
        let mark = fields.len();
        let mut kind: Option<Str<'a>> = None;
        let mut index: Option<Raw<'a>> = None;
        let mut usage: Option<Usage<'a>> = None;
        let (mut delta, mut head) = (None, None);
        let mut message: Option<(Cursor<'a>, Raw<'a>)> = None;
        let mut members = Members::new(*self, At::Part(EVENT));
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            loop {
                match name {
                    "type" if kind.is_none() && at.peek() == Some(b'"') => kind = Some(at.string()?),
                    "index" if index.is_none() => index = Some(at.skip()?),
                    "usage" if usage.is_none() => usage = self.usage(at, Scope::Round, At::Part(EVENT), key, fields)?,
                    "delta" if delta.is_none() => delta = Some(self.inner(at, DELTA)?),
                    "content_block" if head.is_none() => head = Some(self.inner(at, HEAD)?),
                    "message" if message.is_none() => {
                        at.peek();
                        let begin = *at;
                        message = Some((begin, at.skip()?));
                    }
                    _ => match plain_key(self.cx, name) {
                        Some(plain) => {
                            name = plain;
                            continue;
                        }
                        None => members.push(key, at)?,
                    },
                }
                break;
            }
        }
        let Some(kind) = kind else {
            fields.truncate(mark);
            let raw = since(before, at);
            return Ok((StreamEvent::Other { kind: Str::EMPTY, raw }, None));
        };
        let said = index;
        let missing = |member| at.error(Why::Missing(member));
        let number = |index: Option<Raw<'a>>| match index {
            None => Err(missing("index")),
            Some(raw) if raw.shape() == Some(Shape::Number) => {
                self.cx.took(raw.as_str());
                raw.as_str().parse::<u32>().map_err(|_| at.error(Why::Type))
            }
            Some(_) => Err(at.error(Why::Type)),
        };
        let event = match plain(self.cx, kind) {
            "content_block_delta" => {
                let index = number(index.take())?;
                StreamEvent::Delta(Delta {
                    index,
                    piece: self.delta(delta.take().ok_or(missing("delta"))?, fields)?,
                })
            }
            "content_block_start" => {
                let index = number(index.take())?;
                let (head, piece) = self.head(head.take().ok_or(missing("content_block"))?, fields)?;
                StreamEvent::BlockStart(BlockStart { index, head }, piece)
            }
            "content_block_stop" => StreamEvent::BlockStop(BlockStop {
                index: number(index.take())?,
            }),
            "message_start" => {
                let (mut message, _) = message.take().ok_or(missing("message"))?;
                StreamEvent::MessageStart(self.start(&mut message, fields)?)
            }
            "message_delta" => {
                let stop = match delta.take() {
                    Some(inner) => self.stop(inner, fields)?,
                    None => None,
                };
                StreamEvent::MessageDelta(RoundStop {
                    id: None,
                    stop,
                    usage: usage.take(),
                })
            }
            "message_stop" => StreamEvent::MessageStop,
            _ => {
                fields.truncate(mark);
                let raw = since(before, at);
                return Ok((StreamEvent::Other { kind, raw }, None));
            }
        };
        self.cx.took(kind.as_escaped());
        // What this kind of event has no use for is still there.
        let left = [
            ("index", index),
            ("delta", delta.map(|inner| inner.raw)),
            ("content_block", head.map(|inner| inner.raw)),
            ("message", message.map(|(_, raw)| raw)),
            ("usage", usage.and_then(|usage| usage.raw)),
        ];
        for (name, value) in left {
            if let Some(value) = value {
                fields.push(self.field(At::Part(EVENT), Str::trusted(name), value));
            }
        }
        members.pour(fields);
        Ok((event, said))
    }

    /// Gathers the members of an object whose meaning is not known yet. Another value has none, and fails where it is needed.
    fn inner(&self, at: &mut Cursor<'a>, place: &'static str) -> Result<Inner<'c, 'a>, Error> {
        let mut members = Members::new(*self, At::Part(place));
        if at.peek() != Some(b'{') {
            return Ok(Inner {
                members,
                raw: at.skip()?,
                end: at.position(),
            });
        }
        let before = at.rest();
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            members.push(key, at)?;
        }
        Ok(Inner {
            members,
            raw: since(before, at),
            end: at.position(),
        })
    }

    fn delta(&self, inner: Inner<'c, 'a>, fields: &mut FieldList<'a>) -> Result<Piece<'a>, Error> {
        let Inner { mut members, raw, end } = inner.object()?;
        let kind = members.text("type").unwrap_or_default();
        let piece = match plain(self.cx, kind) {
            "text_delta" => Piece::Text(members.need("text", end)?),
            "thinking_delta" => Piece::Thinking(members.need("thinking", end)?),
            "input_json_delta" => Piece::Input(members.need("partial_json", end)?),
            "signature_delta" => {
                let text = members.need("signature", end)?;
                match self.words.signature {
                    Signature::Seal => Piece::Signature(text),
                    Signature::Subject => Piece::Subject(text),
                }
            }
            _ => return checked(raw, end).map(Piece::Other),
        };
        self.cx.took(kind.as_escaped());
        members.pour(fields);
        Ok(piece)
    }

    fn head(&self, inner: Inner<'c, 'a>, fields: &mut FieldList<'a>) -> Result<(BlockHead<'a>, Option<Piece<'a>>), Error> {
        let Inner { mut members, raw, end } = inner.object()?;
        let kind = members.text("type").unwrap_or_default();
        let found = match plain(self.cx, kind) {
            "text" => (BlockHead::Text, members.opening("text").map(Piece::Text)),
            "thinking" => {
                members.opening_or_field("signature");
                (BlockHead::Thinking, members.opening("thinking").map(Piece::Thinking))
            }
            "redacted_thinking" => (
                BlockHead::Redacted {
                    data: members.need("data", end)?,
                },
                None,
            ),
            "tool_use" => {
                let (id, name) = (members.need("id", end)?, members.need("name", end)?);
                let input = members.take("input");
                let nothing = |input: &Raw<'_>| matches!(input.as_str(), "{}" | "null" | "\"\"");
                input.filter(nothing).inspect(|input| self.cx.took(input.as_str()));
                let input = input.filter(|input| !nothing(input));
                (
                    BlockHead::Call { id, name },
                    input.map(|input| {
                        let piece = self.cx.text(input.as_str());
                        self.cx.stands_for(piece.as_escaped(), input.as_str());
                        Piece::Input(piece)
                    }),
                )
            }
            _ => {
                return Ok((
                    BlockHead::Other {
                        kind,
                        raw: checked(raw, end)?,
                    },
                    None,
                ));
            }
        };
        self.cx.took(kind.as_escaped());
        members.pour(fields);
        Ok(found)
    }

    fn start(&self, at: &mut Cursor<'a>, fields: &mut FieldList<'a>) -> Result<RoundStart<'a>, Error> {
        let place = At::Part(START);
        let mut start = RoundStart::default();
        let mut usage_seen = false;
        let mut object = at.object()?;
        while let Some(key) = object.key(at)? {
            let mut name = key.as_escaped();
            loop {
                match name {
                    "id" if start.id.is_none() => start.id = self.text(at, place, key, fields)?,
                    "model" if start.model.is_none() => start.model = self.text(at, place, key, fields)?,
                    "usage" if !usage_seen => {
                        usage_seen = true;
                        start.usage = self.usage(at, Scope::Round, place, key, fields)?;
                    }
                    _ => match plain_key(self.cx, name) {
                        Some(plain) => {
                            name = plain;
                            continue;
                        }
                        None => {
                            let peeked = at.rest();
                            let empty = matches!(name, "content" | "stop_reason") && (peeked.starts_with("[]") || peeked.starts_with("null"));
                            if empty {
                                self.cx.took(at.skip()?.as_str());
                            } else {
                                self.constant(at, place, key, fields)?;
                            }
                        }
                    },
                }
                break;
            }
        }
        Ok(start)
    }

    fn stop(&self, inner: Inner<'c, 'a>, fields: &mut FieldList<'a>) -> Result<Option<Stop<'a>>, Error> {
        let Inner { mut members, .. } = inner.object()?;
        let stop = members.text("stop_reason").map(Stop::read);
        members.drop_null("stop_sequence");
        members.pour(fields);
        Ok(stop)
    }
}

impl Inner<'_, '_> {
    fn object(self) -> Result<Self, Error> {
        if self.raw.shape() == Some(Shape::Object) {
            Ok(self)
        } else {
            Err(Error {
                at: self.end,
                why: Why::Type,
            })
        }
    }
}
