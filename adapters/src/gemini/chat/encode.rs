use bumpalo::Bump;

use super::{AGAIN, HEADER, INNER, REWIND, SET};
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{
    At, Block, Content, Counted, Event, Input, InputKind, Kind, Media, Notice, Origin, Picture, Prompt, PromptSource, Reply, ResultStatus, Time,
    ToolResult, Usage,
};
use crate::gemini::unrun::tells_end;
use crate::json::{Out, Str};
use crate::store::{Writing, kept, known_time};

/// Writes a chat file that Gemini CLI goes on with.
#[derive(Debug)]
pub struct Encoder {
    own: bool,
    pub(super) kept: Writing,
    /// The session whose header is written.
    session: Option<String>,
    /// The reply that is gathered, with the results of its calls: it is one line.
    round: Round,
    /// What the user asked last, as parts.
    asked: Vec<u8>,
    /// What was said to have gone wrong in this turn.
    pub(super) failed: Option<String>,
}

/// All texts are the bodies of JSON strings, and lists have commas between their elements.
#[derive(Debug, Default)]
struct Round {
    /// There is something to write.
    any: bool,
    /// A result has come.
    answered: bool,
    /// All of the reply was said.
    ended: bool,
    id: Option<String>,
    /// The line's id.
    line: Option<String>,
    time: Option<String>,
    model: Option<String>,
    said: Vec<Said>,
    thoughts: Vec<u8>,
    calls: Vec<Call>,
    usage: Option<Usage<'static>>,
}

/// A part of a reply.
#[derive(Debug)]
enum Said {
    Text(Vec<u8>),
    /// What is shown, as it is written.
    Shown(Vec<u8>),
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    /// `{"id":…,"name":…,"args":…`
    head: Vec<u8>,
    result: Option<Answer>,
}

#[derive(Debug)]
struct Answer {
    /// The member that the model sees, with its text.
    response: Vec<u8>,
    /// The parts behind it, each behind a comma.
    beside: Vec<u8>,
    status: &'static str,
    time: Option<String>,
}

/// What the program checks of a session is only that it has one.
const PROJECT: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            own: style.is_own(Dialect::Gemini),
            kept: Writing::new(style.at),
            session: None,
            round: Round::default(),
            asked: Vec::new(),
            failed: None,
        }
    }

    /// Writes the header, if the session has none yet.
    fn begin(&mut self, time: Option<&str>, out: &mut Out) {
        let id = self.kept.session("/sessionId", out).to_owned();
        if self.session.as_ref() == Some(&id) {
            return;
        }
        let time = self.kept.time(time.map(str::to_owned), "/startTime", out).to_owned();
        out.lit("{\"sessionId\":\"");
        out.lit(&id);
        out.lit("\",\"projectHash\":\"");
        out.lit(PROJECT);
        out.invented("/projectHash", "the program looks only whether there is one");
        out.lit("\",\"startTime\":\"");
        out.lit(&time);
        out.lit("\",\"lastUpdated\":\"");
        out.lit(&time);
        out.lit("\",\"kind\":\"main\"}\n");
        self.session = Some(id);
    }

    /// Writes what all messages begin with.
    pub(super) fn head(&mut self, id: &str, time: Option<String>, kind: &str, out: &mut Out) {
        self.begin(time.as_deref(), out);
        out.lit("{\"id\":\"");
        out.lit(id);
        out.lit("\",\"timestamp\":\"");
        out.lit(self.kept.time(time, "/timestamp", out));
        out.lit("\",\"type\":\"");
        out.lit(kind);
        out.lit("\",\"content\":");
    }

    fn prompt(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        self.flush(out);
        // Before the user has asked anything no line shows it as another's words: it would be read as what the user asks first.
        if prompt.source == PromptSource::Agent && self.asked.is_empty() && !self.own {
            let texts: Vec<&str> = prompt.content.texts().map(Str::as_escaped).collect();
            texts.iter().for_each(|text| out.used(text));
            if prompt.content.has_other_than_text() {
                out.left_out("what is no text in a prompt");
            }
            return self.aside(origin, "info", Str::trusted(&texts.join("\\n")), out);
        }
        let id = self.kept.line_id(origin.id, "/id", out);
        let time = known_time(origin.time, out);
        self.head(&id, time, "user", out);
        let mut parts = Out::default();
        for text in prompt.content.texts() {
            parts.lit(if parts.is_empty() { "[{\"text\":" } else { ",{\"text\":" });
            parts.str(text);
            parts.lit("}");
            out.used(text.as_escaped());
        }
        for picture in pictures(prompt.content, out) {
            parts.lit(if parts.is_empty() { "[" } else { "," });
            picture.write_part(&mut parts);
        }
        parts.lit(if parts.is_empty() { "[{\"text\":\"\"}]" } else { "]" });
        if prompt.content.has_other_than_text() {
            out.left_out("what is no text in a prompt");
        }
        out.bytes(parts.written());
        // What the program says in the user's place is shown as what the user has said.
        if prompt.source == PromptSource::Agent && !self.asked.is_empty() {
            out.lit(",\"displayContent\":");
            out.bytes(&self.asked);
        } else {
            self.asked = parts.written().to_vec();
        }
        out.lit("}\n");
        out.carried();
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        let mut response = Out::default();
        let failed = result.status != ResultStatus::Success;
        response.lit(if failed { "{\"error\":\"" } else { "{\"output\":\"" });
        for text in result.content.as_one() {
            response.body(text);
            out.used(text.as_escaped());
        }
        response.lit("\"}");
        let mut beside = Out::default();
        for picture in pictures(result.content, out) {
            beside.lit(",");
            picture.write_part(&mut beside);
        }
        if result.content.has_other_than_text() {
            out.left_out("what is no text in a result");
        }
        let time = known_time(event.origin.time, out);
        let call = result.call.as_escaped();
        out.used(call);
        out.carried();
        let made = self.round.calls.iter_mut().rev().find(|made| made.id == call && made.result.is_none());
        if let Some(made) = made {
            made.result = Some(Answer {
                response: response.written().to_vec(),
                beside: beside.written().to_vec(),
                status: match result.status {
                    ResultStatus::Success => "success",
                    ResultStatus::Denied | ResultStatus::Canceled => "cancelled",
                    ResultStatus::Error => "error",
                },
                time,
            });
            self.round.answered = true;
            return;
        }
        // Its call is written already.
        self.flush(out);
        let id = self.kept.line_id(event.origin.id, "/id", out);
        self.head(&id, time, "user", out);
        out.lit("[");
        let name = result.of.map(|call| call.name).or(result.name);
        function_response(call, name.map_or("unknown", Str::as_escaped), response.written(), out);
        out.bytes(beside.written());
        if name.is_none() {
            out.invented("/content/0/functionResponse/name", "the source does not name the tool");
        }
        out.lit("]}\n");
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        if let Some(error) = reply.error {
            return self.error(event, reply, error, out);
        }
        // The results of a reply's first calls may come before its last ones.
        let said = reply.id.map(|id| id.as_escaped().to_owned());
        let is_other = if said.is_some() { said != self.round.id } else { self.round.answered };
        if self.round.any && (self.round.ended || is_other) {
            self.flush(out);
        }
        if let Some(usage) = &reply.usage {
            usage.said_by(Counted::WITH_INPUT).for_each(|source| out.used(source));
            self.round.usage = Some(usage.detached());
        }
        if let Some(model) = reply.model {
            self.round.model = Some(kept(model, out));
        }
        let mut any = false;
        for block in reply.blocks {
            any |= self.block(block, event, out);
        }
        if !any {
            return;
        }
        out.carried();
        self.round.any = true;
        self.round.id = said;
        if self.round.line.is_none() {
            self.round.line = Some(self.kept.line_id(event.origin.id, "/id", out));
            self.round.time = known_time(event.origin.time, out);
        }
    }

    /// Gathers a block. False if the program has nothing like it.
    fn block(&mut self, block: &Block<'_>, event: &Event<'_>, out: &Out) -> bool {
        match block {
            Block::Text { text, .. } if !text.is_empty() => {
                out.used(text.as_escaped());
                self.round.said.push(Said::Text(text.as_escaped().as_bytes().to_vec()));
                if !self.round.calls.is_empty() {
                    out.reshaped(text.as_escaped(), "a reply's texts stand before its calls");
                }
            }
            Block::Thinking(thinking) if !thinking.text.is_empty() => {
                let mut thought = Out::default();
                thought.lit(if self.round.thoughts.is_empty() {
                    "{\"subject\":"
                } else {
                    ",{\"subject\":"
                });
                thought.str(thinking.subject.unwrap_or_default());
                thought.lit(",\"description\":");
                thought.str(thinking.text);
                if let Some(Time::Iso(time)) = event.origin.time {
                    thought.lit(",\"timestamp\":");
                    thought.str(time);
                }
                thought.lit("}");
                for used in [Some(thinking.text), thinking.subject].into_iter().flatten() {
                    out.used(used.as_escaped());
                }
                self.round.thoughts.extend_from_slice(thought.written());
            }
            Block::Call(call) => {
                let mut head = Out::default();
                head.lit("{\"id\":");
                head.str(call.id);
                head.lit(",\"name\":");
                head.str(call.name);
                head.lit(",\"args\":");
                call.write_object(&mut head);
                for used in [call.id.as_escaped(), call.name.as_escaped(), call.input.as_str()] {
                    out.used(used);
                }
                self.round.calls.push(Call {
                    id: call.id.as_escaped().to_owned(),
                    name: call.name.as_escaped().to_owned(),
                    head: head.written().to_vec(),
                    result: None,
                });
            }
            Block::Text { .. } | Block::Thinking(_) => {
                out.carried();
                return false;
            }
            Block::Media(media) => {
                let Some(picture) = shown(media, out) else { return false };
                let mut part = Out::default();
                picture.write_part(&mut part);
                self.round.said.push(Said::Shown(part.written().to_vec()));
            }
            Block::Redacted { .. } | Block::Other { .. } => return false,
        }
        true
    }

    /// Writes the reply that was gathered.
    pub(super) fn flush(&mut self, out: &mut Out) {
        let round = std::mem::take(&mut self.round);
        let Some(line) = round.line else { return };
        self.head(&line, round.time, "gemini", out);
        match round.said.as_slice() {
            [] => out.lit("\"\""),
            [Said::Text(text)] => {
                out.lit("\"");
                out.bytes(text);
                out.lit("\"");
            }
            parts => {
                for (n, part) in parts.iter().enumerate() {
                    out.lit(if n == 0 { "[" } else { "," });
                    match part {
                        Said::Text(text) => {
                            out.lit("{\"text\":\"");
                            out.bytes(text);
                            out.lit("\"}");
                        }
                        Said::Shown(part) => out.bytes(part),
                    }
                }
                out.lit("]");
            }
        }
        out.lit(",\"thoughts\":[");
        out.bytes(&round.thoughts);
        out.lit("]");
        if let Some(usage) = round.usage {
            let count = |count: Option<crate::event::Count<'_>>| count.map_or(0, |count| count.value);
            let (input, output) = (usage.prompt_tokens().unwrap_or(0), usage.answer_tokens().unwrap_or(0));
            let thoughts = usage.reasoning_tokens();
            let sum = input.saturating_add(output).saturating_add(thoughts.unwrap_or(0));
            for (name, number) in [
                (",\"tokens\":{\"input\":", Some(input)),
                (",\"output\":", Some(output)),
                (",\"cached\":", Some(count(usage.cache_read))),
                (",\"thoughts\":", thoughts),
                (",\"total\":", Some(usage.total.map_or(sum, |total| total.value))),
            ] {
                if let Some(number) = number {
                    out.lit(name);
                    out.number(number);
                }
            }
            out.lit("}");
        }
        out.lit(",\"model\":\"");
        out.lit(self.kept.model(round.model.as_deref(), "/model", out));
        out.lit("\"");
        for (n, call) in round.calls.iter().enumerate() {
            out.lit(if n == 0 { ",\"toolCalls\":[" } else { "," });
            self.call(call, out);
        }
        out.lit(if round.calls.is_empty() { "}\n" } else { "]}\n" });
    }

    fn call(&mut self, call: &Call, out: &mut Out) {
        out.bytes(&call.head);
        match &call.result {
            Some(answer) => {
                out.lit(",\"result\":[");
                function_response(&call.id, &call.name, &answer.response, out);
                out.bytes(&answer.beside);
                out.lit("],\"status\":\"");
                out.lit(answer.status);
            }
            None => {
                out.lit(",\"status\":\"cancelled");
                out.invented("/toolCalls/0/status", "the source does not say what came of the call");
            }
        }
        out.lit("\",\"timestamp\":\"");
        let time = call.result.as_ref().and_then(|answer| answer.time.clone());
        out.lit(self.kept.time(time, "/toolCalls/0/timestamp", out));
        out.lit("\"}");
    }

    /// Writes a line as it was: what the model says of it, and the rest as fields.
    fn own_event(event: &Event<'_>, out: &mut Out) {
        let fields = event.fields;
        if fields.iter().any(|field| field.at == INNER) {
            return;
        }
        let kind = match event.kind {
            Kind::Noise(text) => return out.copied_line(text),
            Kind::Unknown(raw) => return out.copied_line(raw.as_str()),
            Kind::Notice(Notice { name, .. }) => match name.as_escaped() {
                HEADER | SET | REWIND => "",
                "session_context" => "user",
                name => name.strip_prefix(AGAIN).map_or(name, |kind| kind.trim_start_matches('/')),
            },
            Kind::Prompt(_) => "user",
            Kind::Reply(_) => "gemini",
            // The others stand on the lines of their calls.
            Kind::ToolResult(_) if !fields.is_empty() => "user",
            _ => return,
        };
        let mut comma = "{";
        let mut member = |key: &str, out: &mut Out| {
            out.lit(comma);
            out.lit(key);
            comma = ",";
        };
        if kind.is_empty() {
            if let Some(session) = event
                .origin
                .session
                .filter(|_| matches!(event.kind, Kind::Notice(notice) if notice.name.is(HEADER)))
            {
                member("\"sessionId\":", out);
                out.str(session);
            }
        } else {
            let again = fields.iter().find(|field| field.key.is("id"));
            let reply = match event.kind {
                Kind::Reply(reply) => reply.id,
                _ => None,
            };
            if let Some(id) = event.origin.id.or(reply) {
                member("\"id\":", out);
                out.str(id);
            } else if let Some(id) = again {
                member("\"id\":", out);
                out.unchecked(id.value);
            }
            if let Some(Time::Iso(time)) = event.origin.time {
                member("\"timestamp\":", out);
                out.str(time);
            }
            member("\"type\":\"", out);
            out.lit(kind);
            out.lit("\"");
        }
        if !fields.iter().any(|field| field.key.is("content")) {
            match event.kind {
                Kind::Prompt(prompt) => {
                    member("\"content\":[{\"text\":\"", out);
                    prompt.content.texts().for_each(|text| out.body(text));
                    out.lit("\"}]");
                }
                Kind::Reply(reply) => {
                    member("\"content\":\"", out);
                    Content::Blocks(reply.blocks).texts().for_each(|text| out.body(text));
                    out.lit("\"");
                }
                _ => {}
            }
        }
        for field in fields.iter().filter(|field| field.at == At::Line && !field.key.is("id")) {
            member("", out);
            field.write(out);
        }
        out.lit(if comma == "{" { "{}\n" } else { "}\n" });
    }
}

/// The images of content, of which the ledger is told that they go over.
fn pictures<'a>(content: Content<'a>, out: &Out) -> Vec<Picture<'a>> {
    let Content::Blocks(blocks) = content else { return Vec::new() };
    let media = blocks.iter().filter_map(|block| match block {
        Block::Media(media) => shown(media, out),
        _ => None,
    });
    media.collect()
}

/// An image or a document, of which the ledger is told that it goes over.
fn shown<'a>(media: &Media<'a>, out: &Out) -> Option<Picture<'a>> {
    let picture = media.shown()?;
    out.beside(media.kind.as_escaped());
    [picture.mime, Some(picture.value)]
        .into_iter()
        .flatten()
        .for_each(|said| out.used(said.as_escaped()));
    Some(picture)
}

fn function_response(call: &str, name: &str, response: &[u8], out: &mut Out) {
    out.lit("{\"functionResponse\":{\"id\":\"");
    out.lit(call);
    out.lit("\",\"name\":\"");
    out.lit(name);
    out.lit("\",\"response\":");
    out.bytes(response);
    out.lit("}}");
}

impl Encode for Encoder {
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::WITH_INPUT
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/toolCalls/0/result/0/functionResponse/response/error")
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.with_whole_rounds().with_turns_by_prompts()
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if self.own {
            return Self::own_event(event, out);
        }
        if event
            .origin
            .session
            .is_some_and(|id| self.session.as_deref().is_some_and(|known| known != id.as_escaped()))
        {
            self.flush(out);
        }
        self.kept.come_to(&event.origin);
        let arena = Bump::new();
        let renamed = self.kept.unique.event(event, "/toolCalls", &arena, out);
        let event = renamed.as_ref().unwrap_or(event);
        match event.kind {
            Kind::Session(session) => {
                self.flush(out);
                self.kept.facts(session, out);
            }
            Kind::Prompt(prompt) => self.prompt(&event.origin, prompt, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = end.usage {
                    usage.said_by(Counted::WITH_INPUT).for_each(|source| out.used(source));
                    self.round.usage = Some(usage.detached());
                }
                self.round.ended = true;
            }
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => self.failure(event, fatal.message, out),
            _ => {}
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.prompt(&input.origin, prompt, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        self.flush(out);
        self.kept.end(out);
    }
}
