//! Events to a session: the lines of a run, put together into messages.

use std::collections::BTreeMap;

use bumpalo::Bump;

use super::INFO;
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{At, Block, Content, Event, Fields, Input, InputKind, Kind, Media, Origin, OutcomeKind, Prompt, PromptSource, ToolResult, Topic};
use crate::json::{Cursor, Out, Raw, Str};
use crate::opencode::PART;
use crate::opencode::decode::why;
use crate::opencode::encode::Encoder as Run;
use crate::opencode::parts::tells_end;
use crate::store::{Writing, kept, version};

/// Writes one document a session, when the session is over.
///
/// What a run says in lines is what a session keeps in parts, so those are written as a run's and taken apart again.
#[derive(Debug)]
pub struct Encoder {
    run: Run,
    own: bool,
    kept: Writing,
    /// Members of what is known of the session, each behind a comma, and of the document, as they were read.
    info: Vec<u8>,
    rest: Vec<u8>,
    messages: Vec<Message>,
    /// Calls that have no results yet: the message and the part.
    running: BTreeMap<String, (usize, usize)>,
    /// The last message is a reply that goes on.
    open: bool,
    /// The id of the last prompt's message.
    asked: String,
    /// What was asked first, as the body of a string.
    title: String,
}

/// A message. What stands in it is JSON already.
#[derive(Debug, Default)]
struct Message {
    id: String,
    of_user: bool,
    parent: String,
    model: Option<String>,
    /// Zero while no time is known.
    time: i64,
    /// Members of what is known of it, as they were read, each behind a comma.
    info: Vec<u8>,
    rest: Vec<u8>,
    parts: Vec<Vec<u8>>,
    /// Why the round is over, what it took, what it cost, and what went wrong.
    finish: String,
    tokens: String,
    cost: String,
    error: String,
}

impl Message {
    /// The call that is the part at `at` has its result, which comes in another message of a run; in a session it is the same part.
    fn done(&mut self, at: usize, part: Raw<'_>) {
        let whole = part.as_str();
        let mut text = whole.to_owned();
        if let Some(id) = part.get("messageID") {
            let from = id.as_str().as_ptr() as usize - whole.as_ptr() as usize;
            text.replace_range(from..from + id.as_str().len(), &format!("\"{}\"", self.id));
        }
        self.parts[at] = text.into_bytes();
    }
}

/// The version of the program that sessions are written for.
const VERSION: &str = "1.18.33";
/// A reply goes on among so many messages.
const NEAR: usize = 8;
/// More letters of the first prompt are no title.
const TITLE: usize = 60;
const NO_TOKENS: &str = r#"{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}"#;

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            run: Run::of_export(style),
            own: style.is_own(Dialect::Opencode),
            kept: Writing::new(style.at),
            info: Vec::new(),
            rest: Vec::new(),
            messages: Vec::new(),
            running: BTreeMap::new(),
            open: false,
            asked: String::new(),
            title: String::new(),
        }
    }

    fn prompt(&mut self, origin: Origin<'_>, prompt: &Prompt<'_>, fields: Fields<'_>, out: &mut Out) {
        self.run.meet(origin, out);
        self.run.name_session(out);
        let own_id = fields.iter().find(|field| field.at == INFO && field.key.is("id"));
        let id = match own_id.and_then(|field| field.value.string()) {
            Some(id) => id.as_escaped().to_owned(),
            None => self.run.next_id("msg"),
        };
        let one;
        let blocks = match prompt.content {
            Content::Text(text) => {
                one = [Block::Text { text, fields: &[] }];
                &one[..]
            }
            Content::Blocks(blocks) => blocks,
        };
        let mut message = Message {
            id: id.clone(),
            of_user: true,
            time: self.run.time.unwrap_or(0),
            info: members(fields, INFO, out),
            rest: members(fields, At::Line, out),
            ..Message::default()
        };
        for block in blocks {
            let part = out.apart(|out| match block {
                Block::Text { text, fields } => {
                    let fields = if self.own { *fields } else { &[] };
                    self.text(*text, fields, prompt.source, &id, out);
                }
                Block::Media(Media { raw, .. }) | Block::Other { raw, .. } if self.own => out.unchecked(*raw),
                Block::Media(media) if media.picture().is_some() => {
                    out.beside(media.kind.as_escaped());
                    self.run.file(media, &id, out);
                }
                _ => out.left_out("what is no text in a prompt"),
            });
            if !part.is_empty() {
                message.parts.push(part);
            }
        }
        self.open = false;
        self.asked = id;
        self.messages.push(message);
        out.promise();
    }

    /// A text that the model is asked.
    fn text(&mut self, text: Str<'_>, fields: Fields<'_>, source: PromptSource, message: &str, out: &mut Out) {
        out.lit("{\"type\":\"text\",\"text\":");
        out.str(text);
        if source == PromptSource::Agent {
            out.lit(",\"synthetic\":true");
        } else if self.title.is_empty() {
            let title: String = text.unescape().trim().chars().take(TITLE).collect();
            Str::escape(&title, &mut self.title);
        }
        fields.iter().for_each(|field| field.write_next(out));
        let part = self.run.next_id("prt");
        for (name, value) in [("id", part.as_str()), ("sessionID", &self.run.session), ("messageID", message)] {
            if !fields.iter().any(|field| field.key.is(name)) {
                out.lit(&format!(",\"{name}\":\"{value}\""));
            }
        }
        out.lit("}");
    }

    /// Takes apart what a run would have written.
    fn take(&mut self, written: &[u8], out: &mut Out) {
        let mut at = Cursor::new(std::str::from_utf8(written).unwrap_or_default());
        // What is copied of a source that is spread over lines is so here too.
        while at.peek().is_some() {
            let Ok(line) = at.raw() else { return };
            let kind = line.get("type").and_then(Raw::string).unwrap_or_default();
            let time = line.get("timestamp").and_then(Raw::i64).unwrap_or(0);
            match (line.get("part"), line.get("error")) {
                (Some(part), _) => {
                    let call = part.get("callID").and_then(Raw::string).map(Str::as_escaped);
                    let state = part.get("state").and_then(|state| state.get("status")).and_then(Raw::string);
                    let runs = state.is_some_and(|state| state.is("running"));
                    if let Some((message, at)) = call.filter(|_| !runs).and_then(|call| self.running.remove(call)) {
                        self.messages[message].done(at, part);
                        continue;
                    }
                    let id = part.get("messageID").and_then(Raw::string).unwrap_or_default();
                    let place = self.reply(id.as_escaped(), time, out);
                    let message = &mut self.messages[place];
                    message.parts.push(part.as_str().as_bytes().to_vec());
                    if let Some(call) = call.filter(|_| runs) {
                        let at = message.parts.len() - 1; // One was pushed.
                        self.running.insert(call.to_owned(), (place, at));
                        continue;
                    }
                    if kind.is("step_finish") {
                        let said = |name: &str| part.get(name).map_or("", Raw::as_str).to_owned();
                        (message.finish, message.tokens, message.cost) = (said("reason"), said("tokens"), said("cost"));
                    }
                }
                // What was read says it among what is known of the reply.
                (None, Some(error)) if !self.own => {
                    let id = if self.open && !self.is_spoilt_by(error) {
                        self.run.message.clone()
                    } else {
                        self.run.next_id("msg")
                    };
                    let place = self.reply(&id, time, out);
                    error.as_str().clone_into(&mut self.messages[place].error);
                }
                _ => {}
            }
        }
    }

    /// Whether what the last reply says would be lost if it had failed: the program leaves a reply that failed out of the conversation, unless
    /// it was aborted. It began with a part that says nothing.
    fn is_spoilt_by(&self, error: Raw<'_>) -> bool {
        let is_aborted = error.get("name").and_then(Raw::string).map(|name| why(name, None)) == Some(OutcomeKind::Cancelled);
        !is_aborted && self.messages.last().is_some_and(|last| last.parts.len() > 1)
    }

    /// The place of the reply with this id, which may begin.
    fn reply(&mut self, id: &str, time: i64, out: &mut Out) -> usize {
        self.open = true;
        // Its end may stand behind what the program says in the user's place.
        let near = self.messages.len().saturating_sub(NEAR);
        if let Some(known) = self.messages[near..].iter().rposition(|message| message.id == id && !message.of_user) {
            return near + known;
        }
        if self.asked.is_empty() {
            self.asked = self.run.next_id("msg");
            out.invented("/messages/0/info/parentID", "the source does not say what was asked");
        }
        self.messages.push(Message {
            id: id.to_owned(),
            parent: self.asked.clone(),
            time,
            ..Message::default()
        });
        out.promise();
        self.messages.len() - 1
    }

    /// A part of a reply that is no other event, as it was read.
    fn other_part(&mut self, part: Raw<'_>, out: &mut Out) {
        let part = out.apart(|out| out.unchecked(part));
        if let Some(last) = self.messages.last_mut() {
            last.parts.push(part);
        }
    }

    fn write(&mut self, out: &mut Out) {
        let times = || self.messages.iter().map(|message| message.time).filter(|&time| time != 0);
        let (began, ended) = (times().next().unwrap_or(0), times().next_back().unwrap_or(0));
        for message in self.messages.iter_mut().filter(|message| message.time == 0) {
            message.time = began;
        }
        out.lit("{\"info\":{\"id\":\"");
        out.lit(&self.run.session);
        out.lit("\",\"directory\":\"");
        out.lit(self.kept.cwd("/info/directory", out));
        out.lit("\"");
        if self.info.is_empty() {
            let title = if self.title.is_empty() { "New session" } else { &self.title };
            out.lit(&format!(
                ",\"slug\":\"session\",\"projectID\":\"global\",\"title\":\"{title}\",\"version\":\"{}\",\"time\":{{\"created\":{began},\"updated\":{ended}}}",
                version(VERSION, "/info/version", out)
            ));
            for pointer in ["/info/slug", "/info/projectID", "/info/title"] {
                out.invented(pointer, "sessions have names only here");
            }
        }
        out.bytes(&self.info);
        out.lit("},\"messages\":[");
        for (n, message) in std::mem::take(&mut self.messages).into_iter().enumerate() {
            out.lit(if n > 0 { ",{\"info\":{\"role\":\"" } else { "{\"info\":{\"role\":\"" });
            self.message(&message, out);
        }
        out.lit("]");
        out.bytes(&self.rest);
        out.lit("}\n");
    }

    fn message(&self, message: &Message, out: &mut Out) {
        out.lit(if message.of_user { "user\"" } else { "assistant\"" });
        let (id, time) = (&message.id, message.time);
        let model = |out: &Out| self.kept.model(message.model.as_deref(), "/messages/0/info/modelID", out).to_owned();
        match (message.of_user, message.info.is_empty()) {
            (true, false) => {}
            (false, false) => {
                out.lit(&format!(",\"id\":\"{id}\""));
                if let Some(model) = &message.model {
                    out.lit(&format!(",\"modelID\":\"{model}\""));
                }
            }
            (true, true) => {
                let model = model(out);
                out.lit(&format!(
                    ",\"id\":\"{id}\",\"time\":{{\"created\":{time}}},\"agent\":\"build\",\"model\":{{\"providerID\":\"unknown\",\"modelID\":\"{model}\"}}"
                ));
                out.invented("/messages/0/info/agent", "the program's own agent");
                out.invented("/messages/0/info/model/providerID", "the source does not say who serves its model");
            }
            (false, true) => self.made_up(message, &model(out), out),
        }
        out.lit(&format!(",\"sessionID\":\"{}\"", self.run.session));
        out.bytes(&message.info);
        out.lit("},\"parts\":[");
        out.commas(&message.parts);
        out.lit("]");
        out.bytes(&message.rest);
        out.lit("}");
    }

    /// What is known of a reply of another dialect.
    fn made_up(&self, message: &Message, model: &str, out: &mut Out) {
        let or = |text: &'static str, said: &str| if said.is_empty() { text.to_owned() } else { said.to_owned() };
        let (id, parent, time) = (&message.id, &message.parent, message.time);
        let (tokens, cost) = (or(NO_TOKENS, &message.tokens), or("0", &message.cost));
        let cwd = self.kept.cwd("/messages/0/info/path/cwd", out);
        out.lit(&format!(
            concat!(
                r#","id":"{}","parentID":"{}","mode":"build","agent":"build","path":{{"cwd":"{}","root":"/"}},"cost":{},"#,
                r#""tokens":{},"modelID":"{}","providerID":"unknown","time":{{"created":{},"completed":{}}}"#
            ),
            id, parent, cwd, cost, tokens, model, time, time
        ));
        for (name, value) in [("finish", &message.finish), ("error", &message.error)] {
            if !value.is_empty() {
                out.lit(&format!(",\"{name}\":{value}"));
            }
        }
        out.invented("/messages/0/info/mode", "the program's own agent");
        out.invented("/messages/0/info/providerID", "the source does not say who serves its model");
        out.invented("/messages/0/info/time/completed", "the source does not say when it was over");
    }
}

/// The fields of an object, each behind a comma.
fn members(fields: Fields<'_>, at: At<'_>, out: &mut Out) -> Vec<u8> {
    out.apart(|out| fields.iter().filter(|field| field.at == at).for_each(|field| field.write_next(out)))
}

impl Encode for Encoder {
    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/messages/0/parts/0/state/error")
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.with_whole_rounds().with_turns_by_prompts()
    }

    fn asks_rounds(&self) -> bool {
        true
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        self.run.passes_over(topic, session)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Prompt(prompt) => {
                let fields = if self.own { event.fields } else { &[] };
                return self.prompt(event.origin, prompt, fields, out);
            }
            Kind::Session(session) => {
                self.kept.facts(session, out);
                if self.own {
                    if let Some(version) = session.version {
                        self.info.extend(out.apart(|out| out.str_if(",\"version\":", Some(version))));
                    }
                    self.info.extend(members(event.fields, INFO, out));
                    self.rest.extend(members(event.fields, At::Line, out));
                }
            }
            // Of lines without a meaning nothing is kept.
            Kind::Noise(_) | Kind::Unknown(_) => return,
            Kind::Notice(notice) if self.own => {
                if let Some(data) = notice.data.filter(|_| self.open) {
                    return self.other_part(data, out);
                }
            }
            Kind::RoundStart(start) if self.own => {
                self.run.meet(event.origin, out);
                let (info, rest) = (members(event.fields, INFO, out), members(event.fields, At::Line, out));
                let (model, time) = (start.model.map(|model| kept(model, out)), self.run.time.unwrap_or(0));
                self.run.enter(start.id);
                let place = self.reply(start.id.unwrap_or_default().as_escaped(), time, out);
                let message = &mut self.messages[place];
                (message.info, message.rest, message.model) = (info, rest, model);
                // Not each reply has a part that says so.
                if !event.fields.iter().any(|field| field.at == PART) {
                    return;
                }
            }
            Kind::Reply(reply) if self.own => {
                if let [Block::Media(media)] = reply.blocks {
                    return self.other_part(media.raw, out);
                }
            }
            Kind::RoundEnd(_) if self.own && event.fields.is_empty() => return,
            _ => {}
        }
        let arena = Bump::new();
        // Models are sent all of it, and their servers refuse ids that come twice.
        let renamed = (!self.own).then(|| self.kept.unique.event(event, "/messages/0/parts/0/callID", &arena, out));
        let event = renamed.as_ref().and_then(Option::as_ref).unwrap_or(event);
        let written = out.apart(|out| self.run.event(event, out));
        self.take(&written, out);
        let model = match event.kind {
            Kind::RoundStart(start) => start.model,
            Kind::Reply(reply) => reply.model,
            _ => None,
        };
        if let (Some(model), Some(message)) = (model, self.messages.last_mut().filter(|message| !message.of_user)) {
            message.model = Some(kept(model, out));
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.prompt(input.origin, prompt, &[], out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        let written = out.apart(|out| self.run.finish(out));
        self.take(&written, out);
        if !self.messages.is_empty() || !self.info.is_empty() {
            self.write(out);
        }
        self.kept.end(out);
    }
}
