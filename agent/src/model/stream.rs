use bumpalo::Bump;

use super::measure::{self, Measure};
use super::{ModelError, ModelErrorKind, failure};
use agentglot_adapters::raw::codec::{Cx, Decode};
use agentglot_adapters::raw::event::{Event, Input, Kind, Notice, Origin, Sink, StopKind, Topic};
use agentglot_adapters::raw::frame::{Frame, Sse};
use agentglot_adapters::raw::json::Str;
use agentglot_adapters::raw::openai::End;
use agentglot_adapters::raw::{anthropic, openai};
use agentglot_models::Api;

/// The bytes of an answer, and what they say.
#[derive(Debug)]
pub(super) struct Stream {
    frames: Sse,
    reader: Reader,
    arena: Bump,
    /// The beginning of what came, as long as no event has.
    stray: Vec<u8>,
    events: u64,
    /// The first payload that could not be read.
    damage: Option<String>,
    measure: Measure,
}

#[derive(Debug)]
struct Reader {
    decoder: Decoder,
}

#[derive(Debug)]
enum Decoder {
    Openai(openai::Decoder),
    Anthropic(anthropic::Decoder),
}

/// Whether a reply is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nothing more has to be waited for.
    Yes,
    /// More may come.
    No,
}

/// The largest event that is read, whatever a reply may have.
const LARGEST_EVENT: usize = 64 << 20;
/// So much is kept of a body in which no event comes, to say what came instead.
const MOST_STRAY: usize = 1 << 20;

/// What a notice is called that stands before the ends of blocks that never came to theirs: the reply has broken off.
const BROKEN: &str = "reply_broken";

/// Whether it is that notice.
pub(crate) fn is_broken(event: &Event<'_>) -> bool {
    matches!(event.kind, Kind::Notice(notice) if notice.name.is(BROKEN))
}

fn tell_broken(hear: &mut dyn FnMut(&Event<'_>)) {
    let notice = Notice {
        name: Str::trusted(BROKEN),
        topic: Topic::Other,
        message: None,
        data: None,
    };
    hear(&Event::new(Origin::default(), Kind::Notice(&notice)));
}

/// Passes on what is part of a reply, and keeps the error that a stream says.
struct Ear<'s> {
    measure: &'s mut Measure,
    hear: &'s mut dyn FnMut(&Event<'_>),
    failure: &'s mut Option<ModelError>,
}

impl<'a> Sink<'a> for Ear<'_> {
    fn event(&mut self, event: &Event<'a>) {
        match event.kind {
            Kind::Fatal(fatal) => {
                let code = fatal
                    .code
                    .map(|code| code.string().map_or_else(|| code.as_str().into(), |code| code.unescape()));
                let kind = fatal.kind.map(|kind| kind.unescape()).unwrap_or_default();
                let message = fatal.message.unescape();
                *self.failure = Some(failure::of_stream(&message, &kind, &code.unwrap_or_default()));
            }
            Kind::Noise(_) | Kind::Unknown(_) => {}
            Kind::RoundStop(stop) if self.failure.is_none() && stop.stop.is_some_and(|stop| stop.kind == StopKind::Error) => {
                let word = stop.stop.map(|stop| stop.word.unescape()).unwrap_or_default();
                let message = format!("the server broke the reply off and gives `{word}` as the reason");
                (self.hear)(event);
                *self.failure = Some(ModelError::new(ModelErrorKind::Server, message));
            }
            _ if self.failure.is_some() => {}
            _ => match self.measure.event(event) {
                Ok(()) => (self.hear)(event),
                Err(error) => *self.failure = Some(error),
            },
        }
    }

    fn input(&mut self, _input: &Input<'a>) {}
}

impl Stream {
    /// `most`: the most bytes of a reply.
    pub(super) fn new(api: Api, most: usize) -> Self {
        let decoder = match api {
            Api::Openai => Decoder::Openai(openai::Decoder::live(rand::random())),
            Api::Anthropic => Decoder::Anthropic(anthropic::Decoder::live()),
        };
        Self {
            frames: Sse::new(LARGEST_EVENT),
            reader: Reader { decoder },
            arena: Bump::new(),
            stray: Vec::new(),
            events: 0,
            damage: None,
            measure: Measure::new(most),
        }
    }

    /// Whether the reply has said why it stops: little is left to come.
    pub(super) const fn is_ending(&self) -> bool {
        self.reader.is_ending()
    }

    /// Takes what came.
    pub(super) fn feed(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&Event<'_>)) -> Result<Ended, ModelError> {
        self.measure.bytes(bytes.len())?;
        self.frames(Some(bytes), hear)
    }

    /// Nothing more comes, because of `cut` or because it is over.
    pub(super) fn finish(&mut self, cut: Option<ModelError>, host: &str, hear: &mut dyn FnMut(&Event<'_>)) -> Result<(), ModelError> {
        self.frames(None, hear)?;
        if self.reader.end() == End::Incomplete {
            tell_broken(hear);
        }
        let mut failure = None;
        let cx = Cx::new(&self.arena);
        let mut ear = Ear {
            measure: &mut self.measure,
            hear,
            failure: &mut failure,
        };
        self.reader.decoder().finish(&cx, &mut ear);
        if let Some(failure) = failure {
            return Err(failure);
        }
        match self.reader.end() {
            End::Terminal => self.whole_so_far(),
            // The API has said it already.
            End::Failed => Err(ModelError::new(ModelErrorKind::Malformed, format!("{host} said that it failed"))),
            End::Incomplete => Err(match cut {
                Some(cut) => ModelError {
                    message: format!("the reply is cut off: {}", cut.message),
                    kind: match cut.kind {
                        ModelErrorKind::Timeout => ModelErrorKind::Timeout,
                        _ => ModelErrorKind::Incomplete,
                    },
                    ..cut
                },
                None => ModelError::new(ModelErrorKind::Incomplete, format!("{host} ended the stream before the reply was over")),
            }),
            End::Nothing => Err(match (cut, self.damage.take()) {
                (Some(cut), _) => cut,
                (None, Some(damage)) => ModelError::new(ModelErrorKind::Malformed, format!("{host} answered what is no reply: {damage}")),
                (None, None) => return self.no_events(host, hear),
            }),
        }
    }

    /// What came in one piece: a reply, or an error.
    pub(super) fn whole(&mut self, body: &[u8], host: &str, hear: &mut dyn FnMut(&Event<'_>)) -> Result<(), ModelError> {
        // A stream under a wrong name.
        if body.starts_with(b"data:") || body.starts_with(b"event:") || body.starts_with(b":") {
            self.feed(body, hear)?;
            return self.finish(None, host, hear);
        }
        self.stray = body.to_vec();
        self.no_events(host, hear)
    }

    /// A body that is no stream.
    fn no_events(&mut self, host: &str, hear: &mut dyn FnMut(&Event<'_>)) -> Result<(), ModelError> {
        let body = std::mem::take(&mut self.stray);
        let text = String::from_utf8_lossy(&body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() && self.events > 0 {
            return Err(ModelError::new(
                ModelErrorKind::Malformed,
                format!("{host} sent events, and none of a reply"),
            ));
        }
        if text.is_empty() {
            return Err(ModelError::new(ModelErrorKind::Incomplete, format!("{host} answered with nothing")));
        }
        if text.starts_with('{') {
            let mut failure = None;
            let cx = Cx::new(&self.arena);
            let mut ear = Ear {
                measure: &mut self.measure,
                hear,
                failure: &mut failure,
            };
            let _ = self.reader.decoder().line(text, &cx, &mut ear);
            if let Some(failure) = failure {
                return Err(failure);
            }
            if self.reader.end() == End::Terminal {
                return Ok(());
            }
        }
        let quoted = failure::excerpt(text);
        Err(ModelError::new(
            ModelErrorKind::Malformed,
            format!("{host} answered what is no reply of a model: {quoted}"),
        ))
    }

    fn frames(&mut self, bytes: Option<&[u8]>, hear: &mut dyn FnMut(&Event<'_>)) -> Result<Ended, ModelError> {
        let Self {
            frames,
            reader,
            arena,
            stray,
            events,
            damage,
            measure,
        } = self;
        let mut failure = None;
        let each = |frame: Frame<'_>| {
            let (name, data) = match frame {
                Frame::Event { name, data, .. } => (name, data),
                Frame::Stray { text, .. } => {
                    if *events == 0 && stray.len() + text.len() < MOST_STRAY {
                        stray.extend_from_slice(text);
                        stray.push(b'\n');
                    }
                    return true;
                }
                // A reply without it would pass for a whole one.
                Frame::Oversize { .. } => {
                    failure = Some(measure::event_too_large(LARGEST_EVENT));
                    return false;
                }
            };
            *events += 1;
            let text = String::from_utf8_lossy(data);
            // Its decoder ends the blocks that are open before it says so.
            if name == "error" || text.trim_start().starts_with("{\"error\"") {
                tell_broken(&mut *hear);
            }
            let cx = Cx::new(arena);
            let mut ear = Ear {
                measure: &mut *measure,
                hear: &mut *hear,
                failure: &mut failure,
            };
            let text = text.trim();
            if !text.is_empty()
                && let Err(error) = reader.decoder().line(text, &cx, &mut ear)
                // What it has used may be lost.
                && !reader.is_ending()
            {
                damage.get_or_insert_with(|| format!("{error} in {}", failure::excerpt(text)));
            }
            // An error that nothing but the name of its event says.
            if name == "error" && failure.is_none() {
                failure = Some(failure::of_error_event(text));
            }
            arena.reset();
            failure.is_none() && !reader.is_over()
        };
        match bytes {
            Some(bytes) => frames.feed(bytes, each),
            None => frames.finish(each),
        }
        if failure.is_none() && frames.is_too_long() {
            failure = Some(measure::event_too_large(LARGEST_EVENT));
        }
        match failure {
            Some(failure) => Err(failure),
            None if self.reader.is_over() => self.whole_so_far().map(|()| Ended::Yes),
            None => Ok(Ended::No),
        }
    }

    /// A reply of which a part could not be read would pass for a whole one.
    fn whole_so_far(&mut self) -> Result<(), ModelError> {
        let lacks = |damage| ModelError::new(ModelErrorKind::Malformed, format!("a part of the reply cannot be read: {damage}"));
        self.damage.take().map_or(Ok(()), |damage| Err(lacks(damage)))
    }
}

impl Reader {
    fn decoder(&mut self) -> &mut dyn Decode {
        match &mut self.decoder {
            Decoder::Openai(decoder) => decoder,
            Decoder::Anthropic(decoder) => decoder,
        }
    }

    const fn end(&self) -> End {
        match &self.decoder {
            Decoder::Openai(decoder) => decoder.end(),
            Decoder::Anthropic(decoder) => decoder.end(),
        }
    }

    const fn is_ending(&self) -> bool {
        match &self.decoder {
            Decoder::Openai(decoder) => decoder.is_ending(),
            Decoder::Anthropic(_) => false,
        }
    }

    const fn is_over(&self) -> bool {
        match &self.decoder {
            Decoder::Openai(decoder) => decoder.is_over(),
            Decoder::Anthropic(decoder) => decoder.is_over(),
        }
    }
}
