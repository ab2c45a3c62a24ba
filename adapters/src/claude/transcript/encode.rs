use super::{ASIDE, ATTACHMENT, KEPT};
use crate::blocks::{MESSAGE, UsagePlace, Writer, member};
use crate::claude::VERSION;
use crate::claude::encode::write_time;
use crate::codec::{Dialect, Encode, Style, Want};
use crate::event::{
    At, Block, DetailShape, Event, Fate, Fields, Input, InputKind, Kind, Notice, Origin, Prompt, PromptSource, Reply, ResultStatus, Session,
    ToolResult,
};
use crate::ids::Uuids;
use crate::json::{Out, Str};

/// Writes a transcript that Claude Code goes on with.
#[derive(Debug)]
pub struct Encoder {
    writer: Writer,
    /// The session's id, as all texts here the body of a JSON string.
    session: String,
    ids: Option<Uuids>,
    cwd: Option<String>,
    model: Option<String>,
    mode: Option<String>,
    /// The line that the next one hangs from.
    tip: Option<String>,
    /// The ids of lines that were written: of several lines that come of one, only the first has its id.
    last_id: String,
    /// The reply that goes on, by the source's id and ours.
    round: Option<(Option<String>, String)>,
    /// The lines of calls that have no result yet.
    calls: Vec<(String, String)>,
    time: String,
}

/// The members of a line of the conversation that stand behind its message.
const LINE: At<'static> = At::Line;

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            writer: Writer {
                words: &KEPT,
                own: style.is_own(Dialect::Claude),
            },
            session: String::new(),
            ids: None,
            cwd: None,
            model: None,
            mode: None,
            tip: None,
            last_id: String::new(),
            round: None,
            calls: Vec::new(),
            time: String::new(),
        }
    }

    const fn own(&self) -> bool {
        self.writer.own
    }

    fn facts(&mut self, session: &Session<'_>, out: &Out) {
        let keep = |slot: &mut Option<String>, text: Option<Str<'_>>| {
            if let Some(text) = text {
                out.used(text.as_escaped());
                *slot = Some(text.as_escaped().to_owned());
            }
        };
        keep(&mut self.cwd, session.cwd);
        keep(&mut self.model, session.model);
        keep(&mut self.mode, session.permission_mode);
        out.carried();
    }

    /// A made-up id.
    fn fresh_id(&mut self) -> String {
        let ids = self.ids.get_or_insert_with(|| Uuids::new(&self.session, 1));
        ids.next_ascii().into_iter().map(char::from).collect()
    }

    /// The id of the line that is about to be written: that of the source's, for one line, else a made-up one.
    fn line_id(&mut self, origin: &Origin<'_>, out: &Out) -> String {
        match origin.id.filter(|id| !id.is_empty() && id.as_escaped() != self.last_id) {
            Some(id) => {
                out.used(id.as_escaped());
                id.as_escaped().clone_into(&mut self.last_id);
                self.last_id.clone()
            }
            None => {
                out.invented("/uuid", "each line needs an id of its own");
                self.fresh_id()
            }
        }
    }

    /// Writes where a line hangs: from `parent`, or from the last one.
    fn head(&self, parent: Option<&str>, out: &mut Out) {
        out.lit("{\"parentUuid\":");
        match parent.or(self.tip.as_deref()) {
            Some(parent) => {
                out.lit("\"");
                out.lit(parent);
                out.lit("\"");
                out.invented("/parentUuid", "the line before it in the conversation");
            }
            None => out.lit("null"),
        }
        out.lit(",\"isSidechain\":false");
    }

    /// Writes what all lines end with, and makes this one the last.
    fn tail(&mut self, id: String, origin: &Origin<'_>, out: &mut Out) {
        out.lit(",\"uuid\":\"");
        out.lit(&id);
        out.lit("\"");
        self.tip = Some(id);
        self.write_time(origin, out);
        out.lit(",\"userType\":\"external\",\"entrypoint\":\"sdk-cli\",\"cwd\":\"");
        out.lit(self.cwd.as_deref().unwrap_or("/"));
        if self.cwd.is_none() {
            out.invented("/cwd", "the source does not name the working folder");
        }
        out.lit("\",\"sessionId\":\"");
        if self.session.is_empty() {
            self.session = crate::ids::uuid("", 0);
            out.invented("/sessionId", "the source names no session");
        }
        out.lit(&self.session);
        out.lit("\",\"version\":\"");
        out.lit(VERSION);
        out.invented("/version", "the version whose transcripts are written");
        out.lit("\",\"gitBranch\":\"\"}\n");
    }

    /// Without a time no program goes on with the session: where the source has none, it is that of the line before.
    fn write_time(&mut self, origin: &Origin<'_>, out: &mut Out) {
        if origin.time.and_then(crate::event::Time::millis).is_some() {
            let before = out.len();
            write_time(out, origin.time);
            self.time = String::from_utf8_lossy(&out.written()[before..]).into_owned();
            return;
        }
        let why = if self.time.is_empty() {
            self.time = ",\"timestamp\":\"1970-01-01T00:00:00.000Z\"".to_owned();
            "the source does not say when it was"
        } else {
            "that of the line before"
        };
        out.lit(&self.time);
        out.invented("/timestamp", why);
    }

    fn prompt(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        self.round = None;
        let id = self.line_id(origin, out);
        self.head(None, out);
        if prompt.source == PromptSource::Agent {
            out.lit(",\"isMeta\":true");
        }
        out.lit(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        self.writer.content(out, prompt.content);
        out.lit("}");
        if let Some(mode) = &self.mode {
            out.lit(",\"permissionMode\":\"");
            out.lit(mode);
            out.lit("\"");
        }
        self.tail(id, origin, out);
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        let call = result.call.as_escaped();
        let made = self.calls.iter().position(|(known, _)| known == call);
        let made = made.map(|at| self.calls.remove(at).1);
        let id = self.line_id(&event.origin, out);
        self.head(made.as_deref(), out);
        out.lit(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
        let failed = result.status != ResultStatus::Success;
        self.writer
            .result(out, result, Some(failed).filter(|failed| *failed || result.is_error.is_some()));
        out.lit("]}");
        if let Some(detail) = result.detail.filter(|detail| detail.shape == DetailShape::Claude) {
            out.lit(",\"toolUseResult\":");
            out.unchecked(detail.raw);
        }
        if result.status == ResultStatus::Denied {
            out.lit(",\"toolDenialKind\":\"user-rejected\"");
            out.invented("/toolDenialKind", "the target's word for a call that was refused");
        }
        if let Some(made) = made {
            out.lit(",\"sourceToolAssistantUUID\":\"");
            out.lit(&made);
            out.lit("\"");
        }
        self.tail(id, &event.origin, out);
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } if text.is_empty() => out.carried(),
                // The API takes no thought that it has not sealed.
                Block::Thinking(thinking) if thinking.signature.is_none_or(Str::is_empty) => {
                    out.lost(thinking.text.as_escaped(), None, "thinking that no model has signed cannot be sent again");
                    out.note(Fate::Dropped, "", "thinking that no model has signed cannot be sent again");
                }
                block => self.block(event, reply, block, out),
            }
        }
    }

    /// Each block has a line; they share the reply's id.
    fn block(&mut self, event: &Event<'_>, reply: &Reply<'_>, block: &Block<'_>, out: &mut Out) {
        let id = self.line_id(&event.origin, out);
        self.name_round(reply, out);
        self.head(None, out);
        out.lit(",\"message\":{\"id\":\"");
        out.lit(self.round.as_ref().map_or("", |(_, id)| id));
        out.lit("\",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
        match (reply.error, reply.model, &self.model) {
            (Some(_), ..) => {
                out.text("<synthetic>");
                out.invented("/message/model", "the target's word for what no model said");
            }
            (None, Some(model), _) => out.str(model),
            (None, None, Some(model)) => {
                out.str(Str::trusted(model));
                out.invented("/message/model", "the session's model");
            }
            (None, None, None) => {
                out.text("unknown");
                out.invented("/message/model", "the source does not name the model");
            }
        }
        out.lit(",\"content\":[");
        self.writer.block(out, block);
        out.lit("],\"stop_reason\":");
        match (reply.stop, block) {
            (Some(stop), _) => out.str(stop.word),
            (None, Block::Call(_)) => out.lit("\"tool_use\""),
            (None, _) => out.lit("null"),
        }
        out.lit(",\"stop_sequence\":null");
        if reply.usage.is_some() {
            out.lit(",\"usage\":");
            self.writer.usage_at(out, reply.usage.as_ref(), UsagePlace::Message);
        }
        out.lit("}");
        if let Some(error) = reply.error {
            out.lit(",\"isApiErrorMessage\":true,\"error\":");
            out.str(error);
        }
        out.lit(",\"type\":\"assistant\"");
        if let Block::Call(call) = block {
            self.calls.push((call.id.as_escaped().to_owned(), id.clone()));
        }
        self.tail(id, &event.origin, out);
    }

    /// The id that the lines of this reply share.
    fn name_round(&mut self, reply: &Reply<'_>, out: &Out) {
        let said = reply.id.map(|id| id.as_escaped().to_owned());
        if let Some((known, _)) = &self.round
            && *known == said
        {
            out.used(reply.id.map_or("", Str::as_escaped));
            return;
        }
        let id = match &said {
            Some(id) => {
                out.used(id);
                id.clone()
            }
            None => {
                out.invented("/message/id", "the lines of a reply share an id");
                let fresh = self.fresh_id();
                format!("msg_{}", fresh.replace('-', ""))
            }
        };
        self.round = Some((said, id));
    }

    /// Writes a line as it was: what the model says of it, and the rest as fields.
    fn own_event(&self, event: &Event<'_>, out: &mut Out) {
        let fields = event.fields;
        let is_attachment = fields.iter().any(|field| field.at == LINE && field.key.is("attachment"));
        match event.kind {
            Kind::Prompt(_) if is_attachment => out.lit("{\"type\":\"attachment\""),
            Kind::Prompt(prompt) => {
                out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
                self.writer.content(out, prompt.content);
                self.message_end(fields, out);
            }
            Kind::ToolResult(result) => {
                out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
                self.writer.result(out, result, result.is_error);
                out.lit("]");
                self.message_end(fields, out);
                if let Some(detail) = result.detail.filter(|detail| detail.shape == DetailShape::Claude) {
                    out.lit(",\"toolUseResult\":");
                    out.unchecked(detail.raw);
                }
            }
            Kind::Reply(reply) => {
                out.lit("{\"type\":\"assistant\",\"message\":{\"id\":");
                out.str_or_null(reply.id);
                out.lit(",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
                out.str_or_null(reply.model);
                out.lit(",\"content\":");
                self.writer.blocks(out, reply.blocks);
                out.lit(",\"stop_reason\":");
                out.str_or_null(reply.stop.map(|stop| stop.word));
                if !self.writer.has(fields, At::Part(MESSAGE), "stop_sequence") {
                    out.lit(",\"stop_sequence\":null");
                }
                if reply.usage.is_some() {
                    out.lit(",\"usage\":");
                    self.writer.usage_at(out, reply.usage.as_ref(), UsagePlace::Message);
                }
                self.message_end(fields, out);
                out.str_if(",\"error\":", reply.error);
            }
            Kind::Notice(notice) => self.own_notice(notice, out),
            Kind::Noise(text) => {
                out.used(text);
                out.lit(text);
                out.lit("\n");
                return;
            }
            Kind::Unknown(raw) => {
                out.raw(raw);
                out.lit("\n");
                return;
            }
            _ => return,
        }
        out.str_if(",\"uuid\":", event.origin.id);
        write_time(out, event.origin.time);
        out.str_if(",\"sessionId\":", event.origin.session);
        if event.origin.parent.is_none() {
            out.str_if(",\"agentId\":", event.origin.agent.and_then(|agent| agent.id));
        }
        self.writer.fields(out, fields, LINE);
        out.lit("}\n");
    }

    fn message_end(&self, fields: Fields<'_>, out: &mut Out) {
        fields
            .iter()
            .filter(|field| field.at == At::Part(MESSAGE))
            .for_each(|field| member(out, field));
        out.lit("}");
    }

    fn own_notice(&self, notice: &Notice<'_>, out: &mut Out) {
        let name = notice.name.as_escaped();
        if name.starts_with(ATTACHMENT) {
            out.lit("{\"type\":\"attachment\"");
        } else if ASIDE.contains(&name) {
            out.lit("{\"type\":");
            out.str(notice.name);
        } else {
            out.lit("{\"type\":\"system\",\"subtype\":");
            out.str(notice.name);
        }
    }
}

impl Encode for Encoder {
    fn want(&self) -> Want {
        Want::SNAPSHOTS
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if let Some(id) = event.origin.session.filter(|id| id.as_escaped() != self.session) {
            id.as_escaped().clone_into(&mut self.session);
            self.ids = None;
        }
        if self.own() {
            return self.own_event(event, out);
        }
        match event.kind {
            Kind::Session(session) => self.facts(session, out),
            Kind::Prompt(prompt) => self.prompt(&event.origin, prompt, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::RoundEnd(_) => self.round = None,
            _ => {}
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.prompt(&input.origin, prompt, out);
        }
    }
}
