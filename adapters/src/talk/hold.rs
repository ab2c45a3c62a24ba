//! What was said, while it is put together: what came of a call stands behind what called it.

use std::collections::HashMap;

use super::SYSTEM;
use crate::event::{
    Block, Content, Event, Fate, Fields, Kind, Media, Notice, Outcome, Prompt, PromptSource, Reply, ResultStatus, RoundEnd, Stop, StopKind, ToolCall,
    ToolResult,
};
use crate::json::{Out, Raw, Str};

/// The list of a session.
#[derive(Debug, Default)]
pub struct Held {
    /// The events are of the same format: its members go back as they were.
    own: bool,
    places: Places,
    /// The session's id, escaped; empty where it is not known.
    pub(crate) session: String,
    /// Members of the whole, each behind a comma, as they were read.
    pub(crate) whole: Vec<u8>,
    pub(crate) said: Vec<Said>,
    /// The answer that the model is giving.
    open: Option<usize>,
    /// The reply's id, if it has one.
    reply: String,
    /// Where a call stands.
    calls: HashMap<String, usize>,
    /// All that the model said in the turn, escaped.
    words: String,
    /// The model has said something in the turn.
    in_turn: bool,
}

/// What a dialect's words have a place for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    /// Ids of calls.
    pub(crate) ids: bool,
    /// Images in what the user says.
    pub(crate) images: bool,
    /// That the model has refused.
    pub(crate) refusals: bool,
    /// Who speaks in a role.
    pub(crate) names: bool,
    /// What readers look for in texts: one that holds it says something else to them.
    pub(crate) marks: &'static [&'static str],
}

/// One thing that was said. Texts are bodies of strings; all else is JSON.
#[derive(Debug)]
pub struct Said {
    pub(crate) who: Who,
    pub(crate) parts: Vec<Part>,
    pub(crate) thought: Vec<u8>,
    pub(crate) calls: Vec<Call>,
    /// What came of the calls.
    pub(crate) answers: Vec<Answer>,
    /// The model has refused.
    pub(crate) refused: bool,
    /// Members of its own, each behind a comma.
    pub(crate) more: Vec<u8>,
    /// Something else came since its last text.
    apart: bool,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// Under the name of [`SYSTEM`] that has this number.
    System(usize),
    User,
    /// The agent's own program, in the user's place.
    Program,
    Model,
    /// Nobody: what came of a call that nobody made.
    Nobody,
}

#[derive(Debug)]
pub(crate) enum Part {
    Text(Vec<u8>),
    /// An image, by its address.
    Image(String),
    /// Another one, as it was read.
    Other(Vec<u8>),
}

#[derive(Debug)]
pub(crate) struct Call {
    /// With quotes.
    pub(crate) id: Vec<u8>,
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) more: Vec<u8>,
}

#[derive(Debug)]
pub struct Answer {
    /// The call's id, with quotes.
    pub(crate) call: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) more: Vec<u8>,
}

impl Who {
    /// What the system is called.
    pub(crate) const fn system(self) -> &'static str {
        match self {
            Self::System(at) => SYSTEM[at],
            _ => "",
        }
    }
}

impl Said {
    const fn new(who: Who) -> Self {
        Self {
            who,
            parts: Vec::new(),
            thought: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            refused: false,
            more: Vec::new(),
            apart: false,
        }
    }

    /// Its text; what is none is left out.
    pub(crate) fn text(&self) -> Vec<u8> {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_slice()),
            _ => None,
        });
        texts.collect::<Vec<_>>().concat()
    }

    fn push(&mut self, text: Str<'_>, out: &mut Out) {
        let body = out.apart(|out| out.body(text));
        let apart = std::mem::take(&mut self.apart);
        match self.parts.last_mut() {
            Some(Part::Text(before)) => join(before, &body, apart, text, out),
            _ => self.parts.push(Part::Text(body)),
        }
    }
}

impl Held {
    pub(crate) fn new(own: bool, places: Places) -> Self {
        Self {
            own,
            places,
            ..Self::default()
        }
    }

    pub(crate) fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if let Some(session) = event.origin.session.filter(|_| self.session.is_empty()) {
            session.as_escaped().clone_into(&mut self.session);
        }
        match event.kind {
            Kind::Session(_) if self.own => {
                self.whole = self.members(event.fields, out);
                out.carried();
            }
            Kind::Prompt(prompt) => self.prompt(prompt, event.fields, out),
            Kind::RoundStart(_) => out.carried(),
            // What the program says where the model could not be asked is nothing to learn from.
            Kind::Reply(reply) if reply.error.is_none() => self.reply(reply, event.fields, out),
            Kind::RoundEnd(end) => self.round_end(end, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::Notice(notice) => self.notice(notice, event.fields, out),
            Kind::Outcome(outcome) => self.outcome(outcome, out),
            _ => {}
        }
    }

    pub(crate) fn prompt(&mut self, prompt: &Prompt<'_>, fields: Fields<'_>, out: &mut Out) {
        let is_programs = prompt.source == PromptSource::Agent;
        // What a turn begins with is what the model was asked, whoever did.
        let who = match is_programs && self.places.names && (self.own || self.in_turn) {
            true => Who::Program,
            false => Who::User,
        };
        match who {
            Who::Program => out.invented("/messages/name", "who speaks in the user's place"),
            _ if is_programs => out.note(
                Fate::Renamed,
                "",
                "what the program says in the user's place: nothing says that the user did not",
            ),
            _ => {}
        }
        let mut said = Said::new(who);
        self.content(prompt.content, &mut said, out);
        said.more = self.members(fields, out);
        self.begin(said, out);
    }

    fn begin(&mut self, said: Said, out: &mut Out) -> usize {
        out.promise();
        self.open = None;
        self.said.push(said);
        self.said.len() - 1
    }

    /// The answer that the model is giving.
    fn answer(&mut self, out: &mut Out) -> usize {
        if let Some(open) = self.open {
            return open;
        }
        let at = self.begin(Said::new(Who::Model), out);
        self.open = Some(at);
        at
    }

    /// What stands before all else and says what the system says.
    fn notice(&mut self, notice: &Notice<'_>, fields: Fields<'_>, out: &mut Out) {
        let name = SYSTEM.iter().position(|name| notice.name.is(name));
        let is_first = || self.said.iter().all(|said| matches!(said.who, Who::System(_)));
        let Some(name) = name.filter(|_| self.own || is_first()) else { return };
        let mut said = Said::new(Who::System(name));
        match (notice.message, notice.data) {
            (Some(text), _) => said.push(text, out),
            (None, Some(data)) => {
                for part in data.elements() {
                    match part.get("text").and_then(Raw::string) {
                        Some(text) => {
                            said.push(text, out);
                            said.apart = true;
                        }
                        None if self.own => said.parts.push(Part::Other(out.apart(|out| out.unchecked(part)))),
                        None => {}
                    }
                }
            }
            (None, None) => return,
        }
        out.used(notice.name.as_escaped());
        said.more = self.members(fields, out);
        self.begin(said, out);
    }

    fn reply(&mut self, reply: &Reply<'_>, fields: Fields<'_>, out: &mut Out) {
        // What comes behind results is another answer, unless it is said to be the same.
        let id = reply.id.map_or("", Str::as_escaped);
        let is_answered = self.open.is_some_and(|at| !self.said[at].answers.is_empty());
        if is_answered && (id.is_empty() || id != self.reply) {
            self.open = None;
        }
        id.clone_into(&mut self.reply);
        self.in_turn = true;
        let at = self.answer(out);
        out.promise();
        let members = self.members(fields, out);
        self.said[at].more.extend(members);
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } => {
                    self.look_for_marks(*text, out);
                    self.said[at].push(*text, out);
                    self.words.push_str(text.as_escaped());
                    continue;
                }
                Block::Thinking(thinking) => {
                    self.look_for_marks(thinking.text, out);
                    let body = out.apart(|out| out.body(thinking.text));
                    join(&mut self.said[at].thought, &body, true, thinking.text, out);
                }
                Block::Call(call) => self.call(call, at, out),
                // The model's own images have a place in no list: those that were read in one stand in the text's.
                Block::Media(media) if self.own => self.said[at].parts.extend(image(media, out)),
                Block::Other { raw, .. } if self.own => self.said[at].parts.push(Part::Other(out.apart(|out| out.unchecked(*raw)))),
                // Sealed thoughts and what other blocks there are have no place.
                Block::Media(_) | Block::Redacted { .. } | Block::Other { .. } => {}
            }
            self.said[at].apart = true;
        }
        self.stop(at, reply.stop, out);
        // Replies that go back as they were are whole, and nothing else says that they are over.
        if reply.last && self.own {
            self.open = None;
        }
    }

    fn stop(&mut self, at: usize, stop: Option<Stop<'_>>, out: &Out) {
        if let Some(stop) = stop.filter(|stop| self.places.refusals && stop.kind == StopKind::Refusal) {
            out.used(stop.word.as_escaped());
            self.said[at].refused = true;
        }
    }

    /// A text that holds a mark goes over as it is; whoever reads it may take it for what the mark says.
    fn look_for_marks(&self, text: Str<'_>, out: &Out) {
        let holds = |text: &str| self.places.marks.iter().any(|mark| text.contains(mark));
        if !self.places.marks.is_empty() && holds(&text.unescape()) {
            out.note(
                Fate::Renamed,
                "",
                "a text that holds a mark of the format: readers may take it for what the mark says",
            );
        }
    }

    /// An id with its quotes.
    fn id(&self, id: Str<'_>, out: &mut Out) -> Vec<u8> {
        match self.places.ids {
            true => out.apart(|out| out.str(id)),
            false => Vec::new(),
        }
    }

    fn call(&mut self, call: &ToolCall<'_>, at: usize, out: &mut Out) {
        let written = Call {
            id: self.id(call.id, out),
            name: text(out.apart(|out| out.body(call.name))),
            input: text(out.apart(|out| out.unchecked(call.input))),
            more: self.members(call.fields, out),
        };
        self.said[at].calls.push(written);
        self.calls.insert(call.id.as_escaped().to_owned(), at);
    }

    fn round_end(&mut self, end: &RoundEnd<'_>, out: &Out) {
        let Some(at) = self.open.take() else { return };
        self.stop(at, end.stop, out);
        out.carried();
    }

    /// What came of a call stands behind what called it.
    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        out.promise();
        let mut said = Said::new(Who::Nobody);
        let text = match result.content {
            Content::Text(text) => out.apart(|out| out.body(text)),
            content @ Content::Blocks(_) => {
                self.content(content, &mut said, out);
                said.text()
            }
        };
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        if result.status != ResultStatus::Success {
            out.note(Fate::Renamed, "", "a call that failed: nothing says so but its text");
        }
        let answer = Answer {
            call: self.id(result.call, out),
            text,
            more: self.members(event.fields, out),
        };
        let at = match self.calls.get(result.call.as_escaped()) {
            Some(&at) => at,
            None => self.begin(Said::new(Who::Nobody), out),
        };
        self.said[at].answers.push(answer);
    }

    /// Where nothing has said the answer before, the outcome does. How the turn ended has no place.
    fn outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        self.open = None;
        self.in_turn = false;
        let words = std::mem::take(&mut self.words);
        if outcome.is_error && !outcome.synthetic {
            out.left_out("how the turn ended");
        }
        let Some(text) = outcome.answer(out).filter(|text| !text.is_empty()) else {
            return;
        };
        let has_said = words.contains(text.as_escaped()) || Str::trusted(&words).unescape().contains(&*text.unescape());
        if has_said {
            out.used(text.as_escaped());
        } else if !outcome.is_error {
            let mut said = Said::new(Who::Model);
            said.push(text, out);
            self.begin(said, out);
        }
    }

    fn content(&self, content: Content<'_>, said: &mut Said, out: &mut Out) {
        match content {
            Content::Text(text) => said.push(text, out),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        Block::Text { text, .. } => said.push(*text, out),
                        Block::Media(media) if self.places.images && matches!(said.who, Who::User | Who::Program) => {
                            said.parts.extend(image(media, out))
                        }
                        Block::Other { raw, .. } if self.own => said.parts.push(Part::Other(out.apart(|out| out.unchecked(*raw)))),
                        _ => {}
                    }
                    said.apart = true;
                }
            }
        }
    }

    /// Members that were read in this format, each behind a comma.
    fn members(&self, fields: Fields<'_>, out: &mut Out) -> Vec<u8> {
        if !self.own {
            return Vec::new();
        }
        out.apart(|out| {
            for field in fields {
                field.write_next(out);
            }
        })
    }
}

/// A text of several is one.
fn join(before: &mut Vec<u8>, body: &[u8], apart: bool, source: Str<'_>, out: &Out) {
    if !before.is_empty() && !body.is_empty() {
        out.renamed(source.as_escaped(), "the texts of a message are one");
        if apart {
            before.extend_from_slice(b"\\n\\n");
        }
    }
    before.extend_from_slice(body);
}

/// What encoders write is UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// An image that has an address, or is one itself with its data.
fn image(media: &Media<'_>, out: &Out) -> Option<Part> {
    let picture = media.picture().filter(|picture| !picture.is_document)?;
    let value = picture.value.as_escaped();
    let address = match picture.mime {
        Some(mime) => format!("data:{};base64,{value}", mime.as_escaped()),
        None => value.to_owned(),
    };
    picture.tell("an image is an address", out);
    Some(Part::Image(address))
}
