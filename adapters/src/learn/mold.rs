//! What a line of a known shape says.

use std::cell::Cell;

use super::parts::{FieldMold, UsageMold, fields_at, fields_of, str_at};
use super::reply::{ContentMold, ReplyMold, ResultMold};
use super::shape::{Drawing, Hole, Match, Spot};
use super::turn::{OutcomeMold, SessionMold};
use super::{Aside, Rules};
use crate::codec::Cx;
use crate::event::{
    Agent, BlockHead, BlockStart, BlockStop, Delta, Event, Kind, Notice, Origin, Piece, Prompt, PromptSource, Response, RoundEnd, RoundStart,
    RoundStop, Sink, Stop, Time, Topic,
};
use crate::json::{Raw, Shape, Str};

/// An event with places instead of its parts.
#[derive(Debug)]
pub(super) struct Mold {
    origin: OriginMold,
    fields: Box<[FieldMold]>,
    kind: KindMold,
    beside: Box<[Spot]>,
    /// Whether it is a prompt, or about a turn or the session as a whole: whoever passes over the fields within a turn looks at these.
    aside: bool,
    /// Whether such lines say nothing but their event, and nothing about where they belong but for their session and their own id.
    plain: bool,
}

#[derive(Debug)]
struct OriginMold {
    session: Option<Spot>,
    id: Option<Spot>,
    parent: Option<Spot>,
    turn: Option<Spot>,
    time: Option<TimeMold>,
    agent: Option<Box<[Option<Spot>; 3]>>,
}

#[derive(Clone, Copy, Debug)]
enum TimeMold {
    Iso(Spot),
    Millis(Spot),
    Seconds(Spot),
}

#[derive(Debug)]
enum KindMold {
    Delta {
        index: Option<Spot>,
        piece: PieceMold,
        text: Spot,
    },
    BlockStart {
        index: Spot,
        head: HeadMold,
    },
    BlockStop {
        index: Spot,
    },
    RoundStart(Box<RoundMold>),
    RoundStop(Box<RoundMold>),
    RoundEnd,
    Reply(Box<ReplyMold>),
    Result(Box<ResultMold>),
    Prompt {
        content: ContentMold,
        source: PromptSource,
    },
    Session(Box<SessionMold>),
    Outcome(Box<OutcomeMold>),
    Notice {
        name: Spot,
        topic: Topic,
        message: Option<Spot>,
        data: Option<Spot>,
    },
    Response {
        id: Option<Spot>,
        ok: bool,
        body: Option<Spot>,
    },
}

#[derive(Clone, Copy, Debug)]
enum PieceMold {
    Text,
    Thinking,
    Signature,
    Subject,
    Input,
}

#[derive(Debug)]
enum HeadMold {
    Text,
    Thinking,
    Call { id: Spot, name: Spot },
}

/// A round's start or its stop.
#[derive(Debug)]
struct RoundMold {
    /// The id, or the word why it stopped.
    word: Option<Spot>,
    model: Option<Spot>,
    usage: Option<UsageMold>,
}

/// A block whose pieces come on lines of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Growing {
    shape: usize,
    index: u32,
}

/// Takes the parts of a line. It is asked twice for the same ones: to know which may change, then where they are.
pub(super) struct Pick<'p, 'l> {
    pub(super) rules: &'p Rules,
    pub(super) drawing: Drawing<'l>,
    /// The holes are known.
    pub(super) drawn: bool,
}

impl Pick<'_, '_> {
    /// The most numbers of an answer that may change.
    const NUMBERS: usize = 8;

    /// Takes a part: with a hole, it may change; without one, it stays. Gives its place once the holes are known.
    pub(super) fn part(&mut self, part: &str, hole: Option<Hole>) -> Option<Spot> {
        if self.drawn {
            return self.drawing.spot(part, false);
        }
        let found = match hole {
            Some(hole) => self.drawing.hole(part, hole),
            None => self.drawing.has(part),
        };
        found.then(Spot::default)
    }

    /// A string that may change.
    pub(super) fn text(&mut self, text: Str<'_>) -> Option<Spot> {
        self.part(text.as_escaped(), Some(Hole::Text))
    }

    /// A string that may be absent; an empty one may mean that it is. `None` if it cannot be found.
    #[allow(clippy::option_option)]
    pub(super) fn may(&mut self, text: Option<Str<'_>>, hole: Option<Hole>) -> Option<Option<Spot>> {
        match text {
            None => Some(None),
            Some(text) if hole == Some(Hole::Text) && !text.is_empty() => self.part(text.as_escaped(), Some(Hole::Filled)).map(Some),
            Some(text) => self.part(text.as_escaped(), hole).map(Some),
        }
    }

    /// A value that may be absent.
    #[allow(clippy::option_option)]
    pub(super) fn raw(&mut self, value: Option<Raw<'_>>, hole: Hole) -> Option<Option<Spot>> {
        match value {
            None => Some(None),
            Some(value) => self.part(value.as_str(), Some(hole)).map(Some),
        }
    }

    /// An answer, which is large as a rule and says the same each time but for a few numbers: comparing is much quicker than checking.
    fn answer(&mut self, body: Raw<'_>) -> Option<Spot> {
        if !self.drawn {
            let numbers = body.members().filter(|(_, value)| value.shape() == Some(Shape::Number));
            for (_, number) in numbers.take(Self::NUMBERS) {
                self.open(number)?;
            }
        }
        self.checked(body)
    }

    /// A part that stays but for the holes in it.
    fn checked(&mut self, value: Raw<'_>) -> Option<Spot> {
        if self.drawn {
            return self.drawing.spot(value.as_str(), value.is_checked());
        }
        self.drawing.has(value.as_str()).then(Spot::default)
    }

    /// A value of which another one of its type would mean as little. It is checked as it was when it was read.
    pub(super) fn open(&mut self, value: Raw<'_>) -> Option<Spot> {
        if let Some((part, hole)) = Hole::of(value).filter(|_| !self.drawn) {
            self.part(part, Some(hole))?;
        }
        self.checked(value)
    }
}

impl Mold {
    /// How many classes of lines there are, each with shapes of its own.
    pub(super) const CLASSES: usize = 20;
    /// The class of answers on the control channel.
    pub(super) const ANSWERS: usize = 18;

    /// The most text that is remembered of a line of a class, in bytes. Few lines are long but for what changes in them.
    pub(super) const fn longest(class: usize) -> usize {
        match class {
            Self::ANSWERS => 32 << 10,
            _ => 8 << 10,
        }
    }

    /// The mold of an event, if it is one of those that come again and again.
    pub(super) fn of(event: &Event<'_>, aside: Aside<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        let begins = matches!(event.kind, Kind::Session(_));
        let origin = OriginMold::of(&event.origin, begins, pick)?;
        Some(Self {
            // What stands beside the event may say that it belongs elsewhere.
            plain: origin.is_plain() && aside.beside.is_empty(),
            origin,
            fields: fields_of(event.fields, pick)?,
            kind: KindMold::of(event.kind, aside, pick)?,
            beside: aside.beside.iter().map(|value| pick.open(*value)).collect::<Option<_>>()?,
            aside: matches!(
                event.kind,
                Kind::Prompt(_) | Kind::Session(_) | Kind::Notice(_) | Kind::Outcome(_) | Kind::Response(_)
            ),
        })
    }

    /// A number below [`Self::CLASSES`]; `None` for events that do not come again and again.
    pub(super) const fn class(kind: &Kind<'_>) -> Option<usize> {
        Some(match kind {
            Kind::Delta(delta) => match delta.piece {
                Piece::Text(_) => 0,
                Piece::Thinking(_) => 1,
                Piece::Signature(_) => 2,
                Piece::Subject(_) => 3,
                Piece::Input(_) => 4,
                Piece::Other(_) => return None,
            },
            Kind::BlockStart(start) => match start.head {
                BlockHead::Text => 5,
                BlockHead::Thinking => 6,
                BlockHead::Call { .. } => 7,
                BlockHead::Redacted { .. } | BlockHead::Other { .. } => return None,
            },
            Kind::BlockStop(_) => 8,
            Kind::RoundStart(_) => 9,
            Kind::RoundStop(_) => 10,
            Kind::RoundEnd(_) => 11,
            Kind::Reply(_) => 12,
            Kind::ToolResult(_) => 13,
            Kind::Notice(notice) if matches!(notice.topic, Topic::Thinking) => 14,
            Kind::Notice(_) => 15,
            Kind::Session(_) => 16,
            Kind::Outcome(_) => 17,
            Kind::Response(_) => Self::ANSWERS,
            Kind::Prompt(_) => 19,
            _ => return None,
        })
    }

    /// The id of the question that an answer names.
    pub(super) fn answers<'a>(&self, found: Match<'_, 'a>) -> Option<Str<'a>> {
        match self.kind {
            KindMold::Response { id, .. } => str_at(found, id),
            _ => None,
        }
    }

    /// Finds the values that are no part of the event.
    #[inline(always)]
    pub(super) fn beside<'a>(&self, found: Match<'_, 'a>, cx: &Cx<'a>, values: &Cell<&'a [Raw<'a>]>) {
        if !self.beside.is_empty() {
            values.set(cx.arena.alloc_slice_fill_iter(self.beside.iter().map(|spot| found.raw(*spot))));
        }
    }

    /// Tells what a line says that has the shape number `shape`. `None` if a part of it does not fit, and then nothing was told.
    /// Takes and returns what the lines before and up to it were a piece of.
    #[inline]
    pub(super) fn tell<'a>(
        &self,
        found: Match<'_, 'a>,
        shape: usize,
        growing: Option<Growing>,
        rules: &Rules,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
    ) -> Option<Option<Growing>> {
        let text = |spot: Spot| Str::trusted(found.part(spot));
        let number = |spot: Spot| match found.part(spot).as_bytes() {
            &[digit @ b'0'..=b'9'] => Some(u32::from(digit - b'0')),
            _ => found.part(spot).parse().ok(),
        };
        let mut grows = None;
        match &self.kind {
            KindMold::Delta { index, piece, text: at } if self.plain => {
                let this = Growing {
                    shape,
                    index: index.map_or(Some(0), number)?,
                };
                if growing == Some(this) && sink.more(piece.of(text(*at))) {
                    return Some(growing);
                }
                grows = Some(this);
            }
            KindMold::Notice { topic, .. } if self.plain && sink.passes_over(*topic, str_at(found, self.origin.session)) => return Some(growing),
            _ => {}
        }
        let fields: &[FieldMold] = if self.aside || sink.takes_fields() { &self.fields } else { &[] };
        sink.event(&Event {
            origin: self.origin.at(found, cx),
            fields: fields_at(fields, found, cx),
            kind: match &self.kind {
                KindMold::Delta { index, piece, text: at } => Kind::Delta(Delta {
                    index: index.map_or(Some(0), number)?,
                    piece: piece.of(text(*at)),
                }),
                KindMold::BlockStart { index, head } => {
                    let head = match head {
                        HeadMold::Text => BlockHead::Text,
                        HeadMold::Thinking => BlockHead::Thinking,
                        HeadMold::Call { id, name } => BlockHead::Call {
                            id: text(*id),
                            name: text(*name),
                        },
                    };
                    Kind::BlockStart(BlockStart {
                        index: number(*index)?,
                        head,
                    })
                }
                KindMold::BlockStop { index } => Kind::BlockStop(BlockStop { index: number(*index)? }),
                KindMold::RoundStart(round) => Kind::RoundStart(cx.arena.alloc(RoundStart {
                    id: str_at(found, round.word),
                    model: str_at(found, round.model),
                    usage: UsageMold::at(round.usage.as_ref().filter(|_| sink.takes_usage()), found)?,
                    number: None,
                })),
                KindMold::RoundStop(round) => Kind::RoundStop(cx.arena.alloc(RoundStop {
                    id: None,
                    stop: str_at(found, round.word).map(Stop::read),
                    usage: UsageMold::at(round.usage.as_ref().filter(|_| sink.takes_usage()), found)?,
                })),
                KindMold::RoundEnd => Kind::RoundEnd(&RoundEnd::PLAIN),
                KindMold::Reply(reply) => Kind::Reply(reply.at(found, rules, sink.takes_usage(), cx)?),
                KindMold::Result(result) => Kind::ToolResult(result.at(found, rules, cx)),
                KindMold::Prompt { content, source } => Kind::Prompt(cx.arena.alloc(Prompt {
                    content: content.at(found, rules, cx),
                    source: *source,
                })),
                KindMold::Session(session) => Kind::Session(session.at(found, cx)),
                KindMold::Outcome(outcome) => Kind::Outcome(outcome.at(found, cx)?),
                KindMold::Notice { name, topic, message, data } => Kind::Notice(cx.arena.alloc(Notice {
                    name: text(*name),
                    topic: *topic,
                    message: str_at(found, *message),
                    data: data.map(|at| found.raw(at)),
                })),
                KindMold::Response { id, ok, body } => Kind::Response(cx.arena.alloc(Response {
                    id: str_at(found, *id),
                    ok: *ok,
                    body: body.map(|at| found.raw(at)),
                    error: None,
                })),
            },
        });
        Some(grows)
    }
}

impl PieceMold {
    #[inline]
    const fn of(self, text: Str<'_>) -> Piece<'_> {
        match self {
            Self::Text => Piece::Text(text),
            Self::Thinking => Piece::Thinking(text),
            Self::Signature => Piece::Signature(text),
            Self::Subject => Piece::Subject(text),
            Self::Input => Piece::Input(text),
        }
    }
}

impl OriginMold {
    /// Whether lines of this mold say nothing about where they belong, but for their session and their own id.
    #[inline]
    fn is_plain(&self) -> bool {
        self.parent.is_none() && self.agent.is_none() && self.turn.is_none() && self.time.is_none()
    }

    /// A line that `begins` a session may be one of any; the others are of the session that is read.
    fn of(origin: &Origin<'_>, begins: bool, pick: &mut Pick<'_, '_>) -> Option<Self> {
        let time = match origin.time {
            None => None,
            Some(Time::Iso(time)) => Some(TimeMold::Iso(pick.text(time)?)),
            Some(Time::Millis(time)) => Some(TimeMold::Millis(pick.part(time.as_str(), Some(Hole::Number))?)),
            Some(Time::Seconds(time)) => Some(TimeMold::Seconds(pick.part(time.as_str(), Some(Hole::Number))?)),
        };
        let agent = match origin.agent {
            None => None,
            Some(Agent { id, name, task }) => {
                let mut text = |part: &Option<Str<'_>>| pick.may(*part, Some(Hole::Text));
                Some(Box::new([text(id)?, text(name)?, text(task)?]))
            }
        };
        Some(Self {
            session: match origin.session {
                Some(id) if begins => Some(pick.text(id)?),
                // It says that none is named.
                id if id.is_none_or(Str::is_empty) => pick.may(id, None)?,
                id => pick.may(id, Some(Hole::Session))?,
            },
            id: pick.may(origin.id, Some(Hole::Text))?,
            parent: pick.may(origin.parent, Some(Hole::Text))?,
            turn: pick.may(origin.turn, Some(Hole::Text))?,
            time,
            agent,
        })
    }

    #[inline]
    fn at<'a>(&self, found: Match<'_, 'a>, cx: &Cx<'a>) -> Origin<'a> {
        let raw = |spot: Spot| found.raw(spot);
        Origin {
            session: str_at(found, self.session),
            id: str_at(found, self.id),
            parent: str_at(found, self.parent),
            agent: self.agent.as_deref().map(|&[id, name, task]| {
                cx.keep(Agent {
                    id: str_at(found, id),
                    name: str_at(found, name),
                    task: str_at(found, task),
                })
            }),
            turn: str_at(found, self.turn),
            time: self.time.map(|time| match time {
                TimeMold::Iso(at) => Time::Iso(Str::trusted(found.part(at))),
                TimeMold::Millis(at) => Time::Millis(raw(at)),
                TimeMold::Seconds(at) => Time::Seconds(raw(at)),
            }),
        }
    }
}

impl KindMold {
    fn of(kind: Kind<'_>, aside: Aside<'_>, pick: &mut Pick<'_, '_>) -> Option<Self> {
        let index = |pick: &mut Pick<'_, '_>| pick.part(aside.index?.as_str(), Some(Hole::Number));
        Some(match kind {
            Kind::Delta(delta) => {
                let (piece, text) = match delta.piece {
                    Piece::Text(text) => (PieceMold::Text, text),
                    Piece::Thinking(text) => (PieceMold::Thinking, text),
                    Piece::Signature(text) => (PieceMold::Signature, text),
                    Piece::Subject(text) => (PieceMold::Subject, text),
                    Piece::Input(text) => (PieceMold::Input, text),
                    Piece::Other(_) => return None,
                };
                Self::Delta {
                    index: if pick.rules.indexed { Some(index(pick)?) } else { None },
                    piece,
                    text: pick.text(text)?,
                }
            }
            Kind::BlockStart(start) => {
                let head = match start.head {
                    BlockHead::Text => HeadMold::Text,
                    BlockHead::Thinking => HeadMold::Thinking,
                    BlockHead::Call { id, name } => HeadMold::Call {
                        id: pick.text(id)?,
                        name: pick.text(name)?,
                    },
                    BlockHead::Redacted { .. } | BlockHead::Other { .. } => return None,
                };
                Self::BlockStart { index: index(pick)?, head }
            }
            Kind::BlockStop(_) => Self::BlockStop { index: index(pick)? },
            Kind::RoundStart(&RoundStart {
                id,
                model,
                usage,
                number: None,
            }) => Self::RoundStart(Box::new(RoundMold {
                word: pick.may(id, Some(Hole::Text))?,
                model: pick.may(model, None)?,
                usage: UsageMold::of(usage, pick)?,
            })),
            Kind::RoundStop(stop) if stop.id.is_none() => Self::RoundStop(Box::new(RoundMold {
                word: pick.may(stop.stop.map(|stop| stop.word), Some(Hole::Text))?,
                model: None,
                usage: UsageMold::of(stop.usage, pick)?,
            })),
            Kind::RoundEnd(&RoundEnd {
                stop: None,
                usage: None,
                abandoned_from: None,
            }) => Self::RoundEnd,
            Kind::Reply(reply) => Self::Reply(Box::new(ReplyMold::of(reply, pick)?)),
            Kind::ToolResult(result) => Self::Result(Box::new(ResultMold::of(result, aside.meta, pick)?)),
            Kind::Prompt(prompt) => Self::Prompt {
                content: ContentMold::of(prompt.content, pick)?,
                source: prompt.source,
            },
            Kind::Session(session) => Self::Session(Box::new(SessionMold::of(session, pick)?)),
            Kind::Outcome(outcome) => Self::Outcome(Box::new(OutcomeMold::of(outcome, pick)?)),
            Kind::Notice(notice) => Self::Notice {
                name: pick.part(notice.name.as_escaped(), None)?,
                topic: notice.topic,
                message: pick.may(notice.message, Some(Hole::Text))?,
                data: pick.raw(notice.data, Hole::Value)?,
            },
            Kind::Response(&Response { id, ok, body, error: None }) => Self::Response {
                id: pick.may(id, Some(Hole::Text))?,
                ok,
                body: match body {
                    None => None,
                    Some(body) => Some(pick.answer(body)?),
                },
            },
            _ => return None,
        })
    }
}
