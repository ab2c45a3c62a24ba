use super::calls::Calls;
use super::{fields, usage};
use crate::codec::{Cx, Decode};
use crate::event::{
    At, BlockHead, Fatal, Field, Kind, Limit, Origin, Outcome, OutcomeKind, Piece, RoundEnd, RoundStart, RoundStop, Session, Sink, Stop, StopKind,
};
use crate::json::{Cursor, Error, Raw, Shape, Str};
use crate::weave::{End, Voice, Weave};

/// Reads the payloads of a stream.
#[derive(Debug)]
pub struct Decoder {
    /// A log is read: the session's facts and the turn's outcome are told too, as far as a reply tells them.
    log: bool,
    /// What made-up ids are made of, besides the reply's own.
    seed: u64,
    /// The id of the first reply, which is the session's in a log.
    session: Option<String>,
    id: String,
    /// A reply has begun, and has not been ended.
    open: bool,
    end: End,
    weave: Weave,
    keys: u64,
    /// The block of text or of thought that goes on.
    flow: Option<(Flow, u64)>,
    calls: Calls,
    /// Which of several answers is read.
    choice: Option<u64>,
    /// Why it stopped, as written.
    finish: Option<String>,
    refused: bool,
    /// It came in one piece.
    whole: bool,
    usage: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Text,
    Thinking,
}

/// Where thoughts may stand, and which of them is taken when the same one stands in several.
const THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

impl Default for Decoder {
    fn default() -> Self {
        Self { log: true, ..Self::live(0) }
    }
}

impl Decoder {
    /// A decoder of a reply that comes from an API: it tells rounds, blocks and errors, nothing of a session. The seed keeps ids that
    /// have to be made up from meeting those of another reply.
    pub fn live(seed: u64) -> Self {
        Self {
            log: false,
            seed,
            session: None,
            id: String::new(),
            open: false,
            end: End::Nothing,
            weave: Weave::default(),
            keys: 0,
            flow: None,
            calls: Calls::default(),
            choice: None,
            finish: None,
            refused: false,
            whole: false,
            usage: None,
        }
    }

    /// How far the last reply has come.
    pub const fn end(&self) -> End {
        self.end
    }

    /// Whether nothing more has to be waited for: `[DONE]` has come, a whole reply, or an error.
    pub const fn is_over(&self) -> bool {
        matches!(self.end, End::Terminal | End::Failed) && !self.open
    }

    /// Whether it was said why the reply stops: what may still come is what it used.
    pub const fn is_ending(&self) -> bool {
        self.open && self.finish.is_some()
    }

    fn chunk<'a>(&mut self, chunk: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let (mut error, mut choices, mut id, mut model, mut own_usage) = (None, None, None, None, None);
        let (mut object, mut message, mut detail) = (None, None, None);
        let mut rest: Vec<Field<'a>> = Vec::new();
        for (key, value) in chunk.members() {
            match key.as_escaped() {
                "error" => error = Some(value).filter(|value| !value.is_null()),
                "choices" => choices = Some(value),
                "id" => id = value.string().filter(|id| !id.is_empty()),
                "model" => model = value.string().filter(|model| !model.is_empty()),
                "usage" => own_usage = Some(value),
                "object" => object = value.string(),
                "message" => message = value.string(),
                "detail" => detail = Some(value),
                name => {
                    if name == "x_groq" {
                        own_usage = own_usage.or_else(|| value.get("usage"));
                    }
                    if !value.is_null() {
                        rest.push(field(At::Line, key, value));
                    }
                }
            }
        }
        if let Some(object) = object {
            voice.cx.took(object.as_escaped());
        }
        let failed = error.is_some() || object.is_some_and(|object| object.is("error")) || (choices.is_none() && detail.is_some());
        if let Some(elements) = choices.filter(|_| !failed || self.open) {
            self.choices(elements, id, model, &rest, voice);
        }
        if let Some(raw) = own_usage.filter(|raw| raw.shape() == Some(Shape::Object)) {
            self.usage = Some(raw.as_str().to_owned());
        }
        if failed {
            self.fail(error.or(detail).unwrap_or(chunk), message, voice);
        } else if choices.is_none() && own_usage.is_none() {
            voice.say(Kind::Unknown(chunk), &[]);
        } else if self.whole && self.open {
            self.close(voice);
        }
    }

    fn choices<'a>(&mut self, choices: Raw<'a>, id: Option<Str<'a>>, model: Option<Str<'a>>, rest: &[Field<'a>], voice: &mut Voice<'_, 'a>) {
        for choice in choices.elements() {
            let index = choice.get("index").and_then(Raw::u64).unwrap_or(0);
            // Another reply stands behind one that has not been ended with a word.
            let other = id.filter(|id| self.open && self.finish.is_some() && !self.id.is_empty() && id.as_escaped() != self.id);
            if other.is_some() {
                self.close(voice);
            }
            if !self.open {
                self.begin(id, model, rest, voice);
            }
            if *self.choice.get_or_insert(index) == index {
                self.choice(choice, voice);
            }
        }
    }

    fn begin<'a>(&mut self, id: Option<Str<'a>>, model: Option<Str<'a>>, rest: &[Field<'a>], voice: &mut Voice<'_, 'a>) {
        self.open = true;
        self.end = End::Incomplete;
        self.weave.restart();
        self.calls.clear();
        (self.flow, self.choice, self.finish) = (None, None, None);
        (self.keys, self.refused, self.whole) = (0, false, false);
        self.id.clear();
        self.id.push_str(id.map_or("", Str::as_escaped));
        if self.log {
            let begun = self.session.is_some();
            let session = self.session.get_or_insert_with(|| self.id.clone());
            voice.origin = origin(voice.cx, session);
            if !begun {
                let facts = Session {
                    model,
                    opens_turn: true,
                    ..Session::default()
                };
                voice.say(Kind::Session(voice.cx.keep(facts)), &[]);
            }
        }
        let start = RoundStart {
            id,
            model,
            ..RoundStart::default()
        };
        voice.say(Kind::RoundStart(voice.cx.keep(start)), voice.cx.list(rest));
    }

    fn choice<'a>(&mut self, choice: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let mut finish = None;
        let (mut delta, mut message, mut text) = (None, None, None);
        for (key, value) in choice.members() {
            match key.as_escaped() {
                "delta" => delta = Some(value),
                "message" => message = Some(value),
                "text" => text = value.string(),
                "finish_reason" => finish = value.string().filter(|word| !word.is_empty()),
                "index" => voice.cx.took(value.as_str()),
                "usage" if value.shape() == Some(Shape::Object) => self.usage = Some(value.as_str().to_owned()),
                _ if value.is_null() => voice.cx.took(value.as_str()),
                _ => {}
            }
        }
        if let Some(text) = text {
            self.flow(Flow::Text, "", Piece::Text(text), &[], voice);
        }
        // A whole reply. Perplexity says beside each piece what has come so far.
        let whole = message.filter(|_| delta.is_none() && self.keys == 0);
        if let Some(delta) = delta.or(whole) {
            self.delta(delta, voice);
        }
        self.whole |= whole.is_some();
        if let Some(word) = finish {
            // A cut or a filter is never called something better by what follows.
            let severe = |word: &str| matches!(word, "length" | "content_filter");
            if !self.finish.as_deref().is_some_and(severe) {
                self.finish = Some(word.as_escaped().to_owned());
            }
            self.complete(voice);
        }
    }

    fn delta<'a>(&mut self, delta: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let mut thoughts: [Option<Str<'a>>; THOUGHTS.len()] = [None; THOUGHTS.len()];
        let (mut details, mut content, mut refusal, mut calls, mut call) = (None, None, None, None, None);
        let (mut spoken, mut images) = (None, None);
        let mut rest: Vec<Field<'a>> = Vec::new();
        for (key, value) in delta.members() {
            let name = key.as_escaped();
            if let Some(at) = THOUGHTS.iter().position(|thought| *thought == name) {
                thoughts[at] = value.string().filter(|text| !text.is_empty());
                continue;
            }
            match name {
                "reasoning_details" => details = Some(value).filter(|list| list.elements().next().is_some()),
                "content" => content = Some(value),
                "refusal" => refusal = value.string().filter(|text| !text.is_empty()),
                "tool_calls" => calls = Some(value),
                "audio" if value.shape() == Some(Shape::Object) => spoken = Self::audio(value, &mut rest),
                "images" => images = Some(value),
                "function_call" => call = Some(value).filter(|call| call.shape() == Some(Shape::Object)),
                "role" => voice.cx.took(value.as_str()),
                _ if value.is_null() => voice.cx.took(value.as_str()),
                _ => rest.push(field(At::Part(DELTA), key, value)),
            }
        }
        let thought = thoughts.iter().zip(THOUGHTS).find_map(|(text, name)| Some((name, (*text)?)));
        if let Some(details) = details {
            let (_, text) = thought.unwrap_or(("", details_text(details, voice.cx)));
            let key = Str::trusted("reasoning_details");
            self.flow(
                Flow::Thinking,
                "reasoning_details",
                Piece::Thinking(text),
                &[field(At::Part(DELTA), key, details)],
                voice,
            );
        } else if let Some((name, text)) = thought {
            self.flow(Flow::Thinking, name, Piece::Thinking(text), &[], voice);
        }
        match content.and_then(Raw::shape) {
            Some(Shape::String) => {
                let text = content.and_then(Raw::string).unwrap_or_default();
                self.flow(Flow::Text, "", Piece::Text(text), &rest, voice);
            }
            Some(Shape::Array) => content
                .into_iter()
                .flat_map(Raw::elements)
                .for_each(|element| self.element(element, voice)),
            _ => {}
        }
        if let Some(text) = spoken {
            self.flow(Flow::Text, "", Piece::Text(text), &rest, voice);
        }
        images.into_iter().flat_map(Raw::elements).for_each(|image| self.element(image, voice));
        if let Some(text) = refusal {
            self.refused = true;
            self.flow(Flow::Text, "", Piece::Text(text), &[], voice);
        }
        for calls in [calls, call].into_iter().flatten() {
            self.end_flow(voice);
            self.calls.take(calls, &mut self.keys, &mut self.weave, voice);
        }
    }

    /// What was spoken, as a text; what else is said of it stays.
    fn audio<'a>(audio: Raw<'a>, rest: &mut Vec<Field<'a>>) -> Option<Str<'a>> {
        let mut spoken = None;
        for (key, value) in audio.members() {
            match value.string().filter(|_| key.is("transcript")) {
                Some(text) => spoken = Some(text),
                None => rest.push(field(At::Part(AUDIO), key, value)),
            }
        }
        spoken
    }

    /// An element of a `content` that is a list: Mistral's. Or one of the images of an answer.
    fn element<'a>(&mut self, element: Raw<'a>, voice: &mut Voice<'_, 'a>) {
        let kind = element.get("type").and_then(Raw::string).unwrap_or_default();
        match kind.as_escaped() {
            "text" => {
                voice.cx.took(kind.as_escaped());
                let text = element.get("text").and_then(Raw::string).unwrap_or_default();
                self.flow(Flow::Text, "", Piece::Text(text), &[], voice);
            }
            "thinking" => {
                voice.cx.took(kind.as_escaped());
                let thinking = element.get("thinking");
                let whole = thinking.and_then(Raw::string).into_iter();
                let parts = thinking.into_iter().flat_map(Raw::elements).filter_map(|part| part.get("text")?.string());
                for text in whole.chain(parts) {
                    self.flow(Flow::Thinking, "content", Piece::Thinking(text), &[], voice);
                }
            }
            _ => {
                self.end_flow(voice);
                self.calls.close_complete(&mut self.weave, voice);
                self.keys += 1;
                self.weave.begin(self.keys, BlockHead::Other { kind, raw: element }, &[], voice);
                self.weave.stop(self.keys, voice);
            }
        }
    }

    /// A piece of text or of a thought.
    fn flow<'a>(&mut self, kind: Flow, member: &'static str, piece: Piece<'a>, fields: &[Field<'a>], voice: &mut Voice<'_, 'a>) {
        let empty = matches!(piece, Piece::Text(text) | Piece::Thinking(text) if text.is_empty());
        if empty && (fields.is_empty() || kind == Flow::Text) {
            return;
        }
        let key = match self.flow {
            Some((open, key)) if open == kind => key,
            _ => {
                self.end_flow(voice);
                self.calls.close_complete(&mut self.weave, voice);
                self.keys += 1;
                self.flow = Some((kind, self.keys));
                let (head, name) = match kind {
                    Flow::Text => (BlockHead::Text, None),
                    Flow::Thinking => (BlockHead::Thinking, Some(member)),
                };
                let quoted = name.map(|name| &*voice.cx.arena.alloc_str(&format!("\"{name}\"")));
                let fields: Vec<Field<'a>> = quoted
                    .map(|value| field(At::Part(DELTA), Str::trusted("member"), Raw::trusted(value)))
                    .into_iter()
                    .collect();
                self.weave.begin(self.keys, head, voice.cx.list(&fields), voice);
                self.keys
            }
        };
        let fields = voice.cx.list(fields);
        let _ = self.weave.piece(key, piece, fields, voice);
    }

    fn end_flow<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        if let Some((_, key)) = self.flow.take() {
            self.weave.stop(key, voice);
        }
    }

    /// No block goes on.
    fn complete<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        self.flow = None;
        self.calls.tell_all(&self.id, self.seed, &mut self.weave, voice);
        self.weave.stop_all(voice);
    }

    /// The reply is over.
    fn close<'a>(&mut self, voice: &mut Voice<'_, 'a>) {
        self.complete(voice);
        let stop = self.stop(voice);
        self.say_stop(stop, voice);
        voice.say(Kind::RoundEnd(voice.cx.keep(RoundEnd::PLAIN)), &[]);
        self.open = false;
        self.end = End::Terminal;
        if !self.log {
            return;
        }
        let outcome = match stop.map(|stop| stop.kind) {
            Some(StopKind::Done | StopKind::Sequence) => OutcomeKind::Success,
            None if self.calls.is_empty() => OutcomeKind::Success,
            Some(StopKind::Length) => OutcomeKind::Limit(Limit::Tokens),
            Some(StopKind::Refusal) => OutcomeKind::Refused,
            // The calls have to be answered first.
            _ => return,
        };
        let outcome = Outcome {
            stop,
            ..Outcome::new(outcome)
        };
        voice.say(Kind::Outcome(voice.cx.keep(outcome)), &[]);
    }

    /// Why the reply stopped. `stop` with a whole call means that the call is wanted; `length` stays what it is.
    fn stop<'a>(&self, voice: &Voice<'_, 'a>) -> Option<Stop<'a>> {
        let word: &'a str = voice.cx.arena.alloc_str(self.finish.as_deref()?);
        let stop = Stop::read(Str::trusted(word));
        Some(match stop.kind {
            // Who reads the word alone has to be told the same.
            StopKind::Done if self.refused => Stop::read(Str::trusted("refusal")),
            StopKind::Done if self.calls.any_whole() => Stop {
                kind: StopKind::Tools,
                ..stop
            },
            _ => stop,
        })
    }

    fn say_stop<'a>(&mut self, stop: Option<Stop<'a>>, voice: &mut Voice<'_, 'a>) {
        let usage = self.usage.take();
        let usage = usage.and_then(|usage| usage::read(Raw::trusted(voice.cx.arena.alloc_str(&usage))));
        if stop.is_some() || usage.is_some() {
            voice.say(Kind::RoundStop(voice.cx.keep(RoundStop { id: None, stop, usage })), &[]);
        }
    }

    fn fail<'a>(&mut self, error: Raw<'a>, message: Option<Str<'a>>, voice: &mut Voice<'_, 'a>) {
        if self.open {
            self.complete(voice);
            self.say_stop(None, voice);
        }
        let text = error.string().or_else(|| error.get("message").and_then(Raw::string)).or(message);
        let fatal = Fatal {
            message: text.unwrap_or_else(|| voice.cx.text(error.as_str())),
            kind: error.get("type").and_then(Raw::string),
            param: error.get("param").filter(|param| !param.is_null()),
            code: error.get("code").filter(|code| !code.is_null()),
        };
        self.open = false;
        self.end = End::Failed;
        voice.say(Kind::Fatal(voice.cx.keep(fatal)), &[]);
    }
}

/// Where a chunk has its delta.
const DELTA: &str = "/choices/0/delta";
/// Where it has what was spoken.
const AUDIO: &str = "/choices/0/delta/audio";

fn field<'a>(at: At<'a>, key: Str<'a>, value: Raw<'a>) -> Field<'a> {
    let known = fields::knows(key.as_escaped());
    Field { at, key, value, known }
}

fn origin<'a>(cx: &Cx<'a>, session: &str) -> Origin<'a> {
    let id: &'a str = cx.arena.alloc_str(session);
    Origin {
        session: Some(Str::trusted(id)).filter(|id| !id.is_empty()),
        ..Origin::default()
    }
}

/// The text in OpenRouter's list of thoughts, where no other member says it.
fn details_text<'a>(details: Raw<'a>, cx: &Cx<'a>) -> Str<'a> {
    let texts = details
        .elements()
        .filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.string());
    let mut texts: Vec<&str> = texts.map(Str::as_escaped).collect();
    match texts.pop() {
        None => Str::EMPTY,
        Some(one) if texts.is_empty() => Str::trusted(one),
        Some(last) => Str::trusted(cx.arena.alloc_str(&format!("{}{last}", texts.concat()))),
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
                // It says that the reply is over, whether or not a reason was given; a call in the middle of its arguments is not.
                if self.open && (self.finish.is_some() || self.calls.all_whole()) {
                    self.close(&mut voice);
                }
            } else {
                voice.say(Kind::Noise(text), &[]);
            }
            return Ok(text.len());
        }
        let mut at = Cursor::new(text);
        let chunk = at.raw()?;
        self.chunk(chunk, &mut voice);
        Ok(at.position())
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let mut voice = Voice {
            cx,
            origin: origin(cx, self.session.as_deref().unwrap_or_default()),
            sink,
        };
        if !self.open {
            return;
        }
        if self.finish.is_some() {
            self.close(&mut voice);
        } else {
            self.complete(&mut voice);
            self.say_stop(None, &mut voice);
            self.open = false;
        }
    }

    fn next_session(&mut self, _to: &str) {
        *self = Self {
            log: self.log,
            ..Self::live(self.seed)
        };
    }
}
