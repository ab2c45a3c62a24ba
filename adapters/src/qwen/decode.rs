//! Reading the RFC's lines: what kind of line it is, and what both kinds of chat object have in common.

use super::annotations::{Annotation, AnnotationKind, Annotations};
use super::chunk::Round;
use super::fields::knows;
use super::line::{End, Line, outcome_of};
use super::metadata;
use super::teller::Teller;
use super::{input, side};
use crate::chat::{Envelope, FieldList, Form, Members, Object, Reader, inner};
use crate::codec::{Cx, Decode, stray};
use crate::event::{At, Event, Fatal, Field, Input, InputKind, Kind, Origin, Outcome, Side, Sink, Stop, StopKind, Time};
use crate::json::{Cursor, Error, Raw, Str, Why};
use crate::learn::Learned;

/// Reads `stream-json` and `stream-chunk-json`, which are told apart line by line, and the host's side of both.
#[derive(Debug, Default)]
pub struct Decoder {
    pub(super) side: Side,
    /// The session of the last line that named one.
    session: String,
    /// When the last line that said a time was written: `created`.
    pub(super) created: String,
    /// The model that was told last.
    pub(super) model: String,
    /// The ids of the agent's open questions.
    pub(super) asked: Vec<String>,
    pub(super) round: Round,
    /// Where the turn may have ended, if no summary follows.
    pub(super) end: Option<End>,
    /// A chunk without an id declared a role: it is told with the next line, which names the session.
    pub(super) role_waits: bool,
    /// How replies and results are spelled, once there was one.
    pub(super) learned: Option<Box<Learned>>,
    /// The model that these lines name.
    learnt_model: String,
}

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if cx.trace.is_none()
            && let Some(used) = self.read_learnt(text, false, cx, sink)
        {
            return Ok(used);
        }
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let mut at = Cursor::new(text);
        let mut notes = Annotations::new(cx);
        let reader = Reader { cx, knows };
        let envelope = reader.envelope(&mut at, &mut |at| notes.read(at, cx))?;
        let used = at.position();
        let line = &text[..used];
        let object = envelope.object.or_else(|| {
            let choice = envelope.has_choices.then_some(envelope.choice)?;
            Some(if choice.is_some_and(|c| c.form == Form::Message) {
                Object::Completion
            } else {
                Object::Chunk
            })
        });
        match object {
            Some(object) => self.chat(line, object, envelope, notes, cx, sink)?,
            None => self.other(line, envelope.give_back(), cx, sink)?,
        }
        Ok(used)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_turn(cx, sink);
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
        self.rename_learnt(to);
        *self = Self {
            learned: std::mem::take(&mut self.learned),
            learnt_model: std::mem::take(&mut self.learnt_model),
            ..Self::default()
        };
    }
}

impl Decoder {
    /// At the beginning of what a host says.
    pub(crate) fn of_host() -> Self {
        Self {
            side: Side::Host,
            ..Self::default()
        }
    }

    /// A line without `object` and `choices`.
    fn other<'a>(&mut self, line: &'a str, members: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let kind = members.get("type").and_then(inner).map(Str::unescape);
        match kind.as_deref() {
            Some(kind) => {
                if let Some(members) = self.host_line(kind, members, cx, sink)? {
                    self.agent_line(kind, members, line, cx, sink)?;
                }
                Ok(())
            }
            None if members.get("input").is_some() || members.get("messages").is_some() => {
                self.side = Side::Host;
                self.end_turn(cx, sink);
                sink.input(&input::chat_request(members, cx)?);
                Ok(())
            }
            None if members.get("error").is_some() && members.get("type").is_none() => {
                let event = side::fatal(members, cx)?;
                self.side = Side::Agent;
                self.end = None;
                sink.event(&event);
                Ok(())
            }
            None => {
                sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(line))));
                Ok(())
            }
        }
    }

    /// What only hosts write. Gives the members back when it is no such line.
    fn host_line<'a>(&mut self, kind: &str, mut members: Members<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<Option<Members<'a>>, Error> {
        let input = match kind {
            "command_hint_request" | "command_hint_cancel" | "heartbeat_request" | "control/cancel" => {
                self.side = Side::Host;
                input::side_request(kind, members, cx)?
            }
            "control_request" if side::is_from_host(&members) => {
                self.side = Side::Host;
                input::control_request(members, cx)?
            }
            "control_response" if self.is_for_agent(&members) => {
                let mut fields = FieldList::new_in(cx.arena);
                let input = side::response(&mut members, &mut fields, cx)?;
                members.pour(At::Line, knows, &mut fields);
                Input {
                    origin: Origin::default(),
                    kind: InputKind::Response(cx.keep(input)),
                    fields: fields.into_bump_slice(),
                }
            }
            _ => return Ok(Some(members)),
        };
        sink.input(&input);
        Ok(None)
    }

    /// Whether a `control_response` answers the agent. The RFC lets hosts answer; an agent answers a cancel alone.
    fn is_for_agent(&mut self, members: &Members<'_>) -> bool {
        let id = side::answered(members);
        if let Some(at) = id.and_then(|id| self.asked.iter().position(|asked| asked == id.as_escaped())) {
            self.asked.swap_remove(at);
            return true;
        }
        self.side != Side::Agent
    }

    /// What only agents write, and lines of types that nobody knows.
    fn agent_line<'a>(&mut self, kind: &str, members: Members<'a>, line: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let Some(event) = side::event(kind, members, cx)? else {
            sink.event(&Event::new(Origin::default(), Kind::Unknown(Raw::trusted(line))));
            return Ok(());
        };
        self.side = Side::Agent;
        if let Kind::Request(request) = event.kind
            && let Some(id) = request.id
        {
            // Questions that nobody answers are forgotten in the end.
            if self.asked.len() == 1024 {
                self.asked.remove(0);
            }
            self.asked.push(id.as_escaped().to_owned());
        }
        sink.event(&event);
        Ok(())
    }

    /// A `chat.completion` or a chunk.
    fn chat<'a>(
        &mut self,
        text: &'a str,
        object: Object,
        mut envelope: Envelope<'a>,
        notes: Annotations<'a>,
        cx: &Cx<'a>,
        sink: &mut dyn Sink<'a>,
    ) -> Result<(), Error> {
        if !envelope.has_choices && envelope.usage.is_none() || envelope.rest.get("choices").is_some() {
            let why = if envelope.rest.get("choices").is_some() {
                Why::Type
            } else {
                Why::Missing("choices")
            };
            return Err(Error { at: text.len() - 1, why });
        }
        if object == Object::Completion && envelope.choice.is_none() && envelope.rest.get("metadata").is_none() {
            return Err(Error {
                at: text.len() - 1,
                why: Why::Missing("choices/0"),
            });
        }
        envelope.took_object(cx);
        let session = envelope
            .id
            .and_then(inner)
            .map(|id| Str::trusted(id.as_escaped().strip_prefix("chatcmpl-").unwrap_or(id.as_escaped())));
        let time = envelope.created.map(Time::Seconds).filter(|time| time.millis().is_some());
        // All chunks of a reply have the same id and time; one that leaves them out has those of the one before.
        let again = |said: &str| (object == Object::Chunk && !said.is_empty()).then(|| &*cx.arena.alloc_str(said));
        let session = match envelope.id {
            None => again(&self.session).map(Str::trusted),
            Some(_) => session,
        };
        let time = match envelope.created {
            None => again(&self.created).map(|created| Time::Seconds(Raw::trusted(created))),
            Some(_) => time.inspect(|time| time.source().clone_into(&mut self.created)),
        };
        if let (Some(created), None) = (envelope.created, time) {
            // 0 stands for "not known"; anything else that is no time is kept.
            if created.as_str() == "0" || created.is_null() {
                cx.took(created.as_str());
            } else {
                envelope.rest.push(Str::trusted("created"), created);
            }
        }
        let origin = Origin {
            session,
            time,
            ..Origin::default()
        };
        if let Some(id) = session.filter(|id| !id.is_empty() && id.as_escaped() != self.session) {
            self.next_session(id, cx, sink);
        }
        self.side = Side::Agent;
        let meta = metadata::read(&mut envelope, cx);
        // What stands where no model is known.
        let nobody = |model: &Str<'_>| model.is("unknown");
        let model = envelope.model.and_then(inner).filter(|model| !nobody(model));
        if let (Some(raw), None) = (envelope.model, model) {
            cx.took(raw.as_str());
        }
        let mut line = Line {
            envelope,
            notes,
            meta,
            model,
        };
        let mut teller = Teller {
            cx,
            sink,
            origin,
            fields: &[],
            told: 0,
            is_receipt: false,
            result: None,
        };
        if std::mem::take(&mut self.role_waits) {
            self.round.start(None, &mut teller);
        }
        if line.is_refused_version() {
            self.refuse_version(line, &mut teller);
            return Ok(());
        }
        if line.meta.is_receipt() {
            self.end_turn(cx, teller.sink);
            self.receipt(&mut line, &mut teller);
            teller.is_receipt = true;
            if line.says_nothing() {
                return Ok(());
            }
        }
        match object {
            Object::Completion => self.completion(text, line, &mut teller),
            Object::Chunk if line.envelope.id.is_none() && line.is_role_only() => {
                self.role_waits = true;
                if let Some(trace) = cx.trace {
                    trace.merged("a role that is told with the line that names the session");
                }
            }
            Object::Chunk => self.chunk(text, line, &mut teller),
        }
        Ok(())
    }

    /// Another conversation begins: what the last one left open is over.
    fn next_session<'a>(&mut self, id: Str<'a>, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        if !self.session.is_empty() {
            self.end_turn(cx, sink);
            self.round = Round::default();
            self.model.clear();
        }
        id.as_escaped().clone_into(&mut self.session);
        self.rename_learnt(id.as_escaped());
    }

    /// The log, the session or the turn is over: a reply's end that no summary followed was the turn's.
    pub(super) fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        let Some(end) = self.end.take() else { return };
        let word = Str::trusted(cx.arena.alloc_str(&end.word));
        let outcome = Outcome {
            error: end.error.map(|error| Str::trusted(cx.arena.alloc_str(&error))),
            usage: end.usage,
            stop: Some(Stop::read(word)),
            word: Some(Str::trusted(outcome_of(word).kind.as_str())),
            ..outcome_of(word)
        };
        let session = (!self.session.is_empty()).then(|| Str::trusted(cx.arena.alloc_str(&self.session)));
        let origin = Origin {
            session,
            ..Origin::default()
        };
        sink.event(&Event::new(origin, Kind::Outcome(cx.keep(outcome))));
    }

    fn receipt<'a>(&mut self, line: &mut Line<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let model = self.new_model(line);
        if let Some(finish) = line.envelope.choice.as_mut().and_then(|c| c.finish.take()) {
            took_finish(finish, teller.cx);
        }
        if let Some(content) = line.envelope.choice.and_then(|c| c.content).filter(|c| c.is_empty()) {
            teller.cx.took(content.as_escaped());
        }
        let session = line.meta.session(model, teller.cx);
        let mut fields = line.take_fields(teller.cx);
        line.meta.pour(&mut fields);
        teller.fields = fields.into_bump_slice();
        teller.tell(Kind::Session(teller.cx.keep(session)));
    }

    /// The program does not speak the version that the host wants, and ends.
    fn refuse_version<'a>(&mut self, mut line: Line<'a>, teller: &mut Teller<'_, '_, 'a>) {
        let choice = line.choice();
        if let Some(finish) = choice.finish {
            took_finish(finish, teller.cx);
        }
        let code = line
            .meta
            .take_refusal(teller.cx)
            .or_else(|| line.envelope.usage.and_then(|u| u.raw).and_then(|u| u.get("error")));
        let fatal = Fatal {
            message: choice.content.unwrap_or_default(),
            kind: None,
            param: None,
            code,
        };
        self.settle_model(&mut line, teller.cx);
        let mut fields = line.take_fields(teller.cx);
        line.meta.pour(&mut fields);
        teller.fields = fields.into_bump_slice();
        self.end = None;
        teller.tell(Kind::Fatal(teller.cx.keep(fatal)));
    }

    /// The line's model, if it has not been told yet.
    pub(super) fn new_model<'a>(&mut self, line: &mut Line<'a>) -> Option<Str<'a>> {
        let model = line.model.take()?;
        if model.as_escaped() != self.model {
            self.next_model(model);
        }
        Some(model)
    }

    /// Another model answers.
    fn next_model(&mut self, model: Str<'_>) {
        model.as_escaped().clone_into(&mut self.model);
        if self.learnt_model != self.model {
            self.model.clone_into(&mut self.learnt_model);
            self.forget_learnt();
        }
    }

    /// Makes the line's model structure if it was told before, else a field.
    pub(super) fn settle_model(&mut self, line: &mut Line<'_>, cx: &Cx<'_>) {
        let Some(model) = line.model.take() else { return };
        if model.as_escaped() == self.model {
            cx.took(model.as_escaped());
            return;
        }
        self.next_model(model);
        if let Some(raw) = line.envelope.model {
            line.envelope.fields.push(Field {
                at: At::Line,
                key: Str::trusted("model"),
                value: raw,
                known: true,
            });
        }
    }

    /// Tells what the annotations say that are no part of the reply. `content` is what is shown with a terminal annotation
    /// that does not style the model's own words.
    pub(super) fn annotations<'a>(&mut self, list: &[Annotation<'a>], teller: &mut Teller<'_, '_, 'a>) {
        for annotation in list {
            match annotation.kind {
                AnnotationKind::Display(display) => teller.display(display, annotation.fields),
                AnnotationKind::Notice(notice) => teller.tell_with(Kind::Notice(teller.cx.keep(notice)), annotation.fields),
                AnnotationKind::Thought { .. } | AnnotationKind::Terminal { .. } | AnnotationKind::Other(_) => {}
            }
        }
    }
}

/// A word that says nothing there but that a reply ends.
fn took_finish<'a>(finish: Str<'a>, cx: &Cx<'a>) {
    if Stop::read(finish).kind != StopKind::Other {
        cx.took(finish.as_escaped());
    }
}
