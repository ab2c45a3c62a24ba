use bumpalo::Bump;

use super::{ASIDE, ATTACHMENT, KEPT};
use crate::blocks::{MESSAGE, UsagePlace, Writer, api_error, member};
use crate::claude::behind::{Behind, Rest};
use crate::claude::decode::tells_end;
use crate::claude::encode::{write_request, write_time};
use crate::claude::encode_stream::word;
use crate::claude::{STOP_NOTICE, VERSION};
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{
    At, Block, Content, Counted, DetailShape, Event, Fields, Input, InputKind, Kind, Notice, Origin, Outcome, OutcomeKind, Place, Prompt,
    PromptSource, Reply, ResultStatus, RoundEnd, Stop, ToolResult, Usage,
};
use crate::json::{Out, Str};
use crate::store::{Fact, Writing, kept, known_time, version};

/// Writes a transcript that Claude Code goes on with.
#[derive(Debug)]
pub struct Encoder {
    writer: Writer,
    kept: Writing,
    /// Whether the program's stream is read.
    from_stream: bool,
    /// The permission mode, as all texts here the body of a JSON string.
    mode: Fact,
    /// The id of the round that goes on.
    round: Option<String>,
    /// The lines of calls that have no result yet.
    calls: Vec<(String, String)>,
    /// The tokens of a reply that had no block to stand with: the next block of its round has them.
    tokens: Option<Usage<'static>>,
    /// Lines whose tokens are said behind them.
    behind: Behind,
    /// The last reply is the program's, and says what went wrong.
    failed: bool,
    /// The last line says that the turn was stopped.
    stopped: bool,
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
            kept: Writing::new(style.at),
            from_stream: style.source == Dialect::Claude,
            mode: Fact::default(),
            round: None,
            calls: Vec::new(),
            tokens: None,
            behind: Behind::new(&style, style.is_own(Dialect::Claude)),
            failed: false,
            stopped: false,
        }
    }

    const fn own(&self) -> bool {
        self.writer.own
    }

    /// Writes where a line hangs: from `parent`, or from the last one.
    fn head(&self, parent: Option<&str>, out: &mut Out) {
        out.lit("{\"parentUuid\":");
        self.kept.parent(parent, "/parentUuid", out);
        out.lit(",\"isSidechain\":false");
    }

    /// Writes what all lines end with, and makes this one the last.
    fn tail(&mut self, id: String, origin: &Origin<'_>, out: &mut Out) {
        out.lit(",\"uuid\":\"");
        out.lit(&id);
        self.kept.hang(id);
        out.lit("\",\"timestamp\":\"");
        let time = known_time(origin.time, out);
        out.lit(self.kept.time(time, "/timestamp", out));
        out.lit("\",\"userType\":\"external\",\"entrypoint\":\"sdk-cli\",\"cwd\":\"");
        out.lit(self.kept.cwd("/cwd", out));
        out.lit("\",\"sessionId\":\"");
        out.lit(self.kept.session("/sessionId", out));
        out.lit("\",\"version\":\"");
        out.lit(version(VERSION, "/version", out));
        out.lit("\",\"gitBranch\":\"\"}\n");
    }

    fn prompt(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        (self.round, self.tokens) = (None, None);
        self.stopped = prompt.content.texts().next().is_some_and(|text| text.begins(STOP_NOTICE));
        let id = self.kept.line_id(origin.id, "/uuid", out);
        self.head(None, out);
        if prompt.source == PromptSource::Agent {
            out.lit(",\"isMeta\":true");
        }
        out.lit(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        self.writer.content(out, prompt.content);
        out.lit("}");
        if let Some(mode) = self.mode.say() {
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
        let id = self.kept.line_id(event.origin.id, "/uuid", out);
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
        self.failed = reply.error.is_some();
        self.stopped = false;
        let mut any = false;
        for block in reply.blocks {
            match block {
                Block::Text { text, .. } if text.is_empty() => out.carried(),
                // The API takes no thought that it has not sealed.
                Block::Thinking(thinking) if thinking.signature.is_none_or(Str::is_empty) => {
                    out.lost(thinking.text.as_escaped(), None, "thinking that no model has signed cannot be sent again");
                    out.left_out("thinking that no model has signed cannot be sent again");
                }
                block if !self.writer.is_block(block) => {}
                block => {
                    let usage = reply.usage.or(self.tokens.take());
                    self.block(event, reply, usage.as_ref(), block, out);
                    any = true;
                }
            }
        }
        if let Some(usage) = reply.usage.filter(|_| !any) {
            self.tokens = Some(usage.detached());
        }
    }

    /// Writes why a reply stopped, in Claude's words; `usual` is why, if nobody says.
    fn stop(stop: Option<Stop<'_>>, usual: Option<&str>, out: &mut Out) {
        out.lit(",\"stop_reason\":");
        let said = stop.as_ref().and_then(|stop| Some((stop, word(stop)?)));
        match (said, usual) {
            (Some((stop, word)), _) if stop.word.is(word) => out.str(stop.word),
            (Some((_, word)), _) => out.text(word),
            (None, Some(usual)) if stop.is_none() => out.text(usual),
            _ => out.lit("null"),
        }
        out.lit(",\"stop_sequence\":null");
    }

    /// Writes what the end of a round says.
    fn rest(writer: &Writer, end: &RoundEnd<'_>, what: Rest, out: &mut Out) {
        if what == Rest::StopAndTokens {
            Self::stop(end.stop, None, out);
        }
        Self::tokens(writer, end.usage.as_ref(), out);
    }

    /// Writes the tokens of a reply, if they are known.
    fn tokens(writer: &Writer, usage: Option<&Usage<'_>>, out: &mut Out) {
        if usage.is_some() {
            out.lit(",\"usage\":");
            writer.usage_at(out, usage, UsagePlace::Message);
        }
    }

    /// Each block has a line; they share the reply's id.
    fn block(&mut self, event: &Event<'_>, reply: &Reply<'_>, usage: Option<&Usage<'_>>, block: &Block<'_>, out: &mut Out) {
        let id = self.kept.line_id(event.origin.id, "/uuid", out);
        self.name_round(reply, out);
        self.head(None, out);
        out.lit(",\"message\":{\"id\":\"");
        out.lit(self.round.as_deref().unwrap_or_default());
        out.lit("\",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
        match (reply.error, reply.model) {
            (Some(_), _) => {
                out.text("<synthetic>");
                out.invented("/message/model", "the target's word for what no model said");
            }
            (None, Some(model)) => out.str(model),
            (None, None) => out.str(Str::trusted(self.kept.model(None, "/message/model", out))),
        }
        out.lit(",\"content\":[");
        self.writer.block(out, block);
        out.lit("]");
        let waits = self.behind.waits() && usage.is_none() && reply.error.is_none();
        let calls = matches!(block, Block::Call(_));
        if waits && reply.stop.is_none() && !calls {
            self.behind.place(out.len(), Rest::StopAndTokens, None);
        } else {
            Self::stop(reply.stop, calls.then_some("tool_use"), out);
            match waits || self.behind.settles() && reply.error.is_none() {
                true => self.behind.place(out.len(), Rest::Tokens, usage),
                false => Self::tokens(&self.writer, usage, out),
            }
        }
        out.lit("}");
        if let Some(error) = reply.error {
            out.lit(",\"isApiErrorMessage\":true,\"error\":");
            out.str(error);
        }
        if self.from_stream {
            write_request(out, event.fields, ["request_id", "requestId"]);
        }
        out.lit(",\"type\":\"assistant\"");
        if let Block::Call(call) = block {
            self.calls.push((call.id.as_escaped().to_owned(), id.clone()));
        }
        self.tail(id, &event.origin, out);
    }

    /// The id that the lines of this round share: who counts tokens goes by it.
    fn name_round(&mut self, reply: &Reply<'_>, out: &Out) {
        if self.round.is_some() {
            return;
        }
        self.round = Some(match reply.id {
            Some(id) => kept(id, out),
            None => {
                out.invented("/message/id", "the lines of a reply share an id");
                format!("msg_{}", self.kept.fresh_id().replace('-', ""))
            }
        });
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
                Self::tokens(&self.writer, reply.usage.as_ref(), out);
                self.message_end(fields, out);
                out.str_if(",\"error\":", reply.error);
            }
            Kind::Notice(notice) => self.own_notice(notice, out),
            Kind::Noise(text) => return out.copied_line(text),
            Kind::Unknown(raw) => return out.copied_line(raw.as_str()),
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
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::NO_TOTAL
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/message/content/0/content")
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.with_whole_rounds().with_served().with_turns_by_prompts()
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.kept.come_to(&event.origin);
        if self.own() {
            return self.own_event(event, out);
        }
        let arena = Bump::new();
        let renamed = self.kept.unique.event(event, "/message/content/0/id", &arena, out);
        let event = renamed.as_ref().unwrap_or(event);
        let Self { behind, writer, .. } = self;
        behind.before(event, out, |end, what, out| Self::rest(writer, end, what, out));
        out.pin();
        let from = out.len();
        self.write(event, out);
        out.unpin();
        let Self { behind, writer, .. } = self;
        behind.after(event, from, out, |end, what, out| Self::rest(writer, end, what, out));
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if let InputKind::Prompt(prompt) = input.kind {
            self.tell_behind(out);
            self.prompt(&input.origin, prompt, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        self.tell_behind(out);
        self.kept.end(out);
        self.mode.end(out);
    }
}

impl Encoder {
    fn tell_behind(&mut self, out: &mut Out) {
        let Self { behind, writer, .. } = self;
        behind.tell(&RoundEnd::PLAIN, out, |end, what, out| Self::rest(writer, end, what, out));
    }

    fn write(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::Session(session) => {
                self.kept.facts(session, out);
                self.mode.hear(session.permission_mode, out);
            }
            Kind::Prompt(prompt) => self.prompt(&event.origin, prompt, out),
            Kind::Reply(reply) => self.reply(event, reply, out),
            Kind::ToolResult(result) => self.result(event, result, out),
            Kind::RoundEnd(end) => {
                let parts = end.usage.iter().flat_map(Usage::parts).filter(|_| self.round.is_none());
                parts.for_each(|part| out.lost(part, None, "a reply of which nothing is written has no line"));
                (self.round, self.tokens) = (None, None);
            }
            Kind::Outcome(outcome) => self.outcome(&event.origin, outcome, out),
            _ => {}
        }
    }

    /// A file does not say how turns end. Why one failed the program says in a message of its own, and that one was stopped in the user's place.
    fn outcome(&mut self, origin: &Origin<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let (was_said, stopped) = (std::mem::take(&mut self.failed), std::mem::take(&mut self.stopped));
        if outcome.kind == OutcomeKind::Cancelled {
            if stopped {
                return out.carried();
            }
            out.invented("/message/content", "what the program says where a turn was stopped");
            let text = Str::trusted("[Request interrupted by user]");
            let notice = Prompt {
                content: Content::Blocks(&[Block::Text { text, fields: &[] }]),
                source: PromptSource::Echo,
            };
            self.prompt(origin, &notice, out);
            self.stopped = false;
            return out.carried();
        }
        let says = outcome.error.or(outcome.text).filter(|says| !says.is_empty());
        let fails = matches!(outcome.kind, OutcomeKind::Failed(_)) && !outcome.synthetic;
        let Some(text) = says.filter(|_| fails && !was_said) else {
            return outcome.unsaid(out);
        };
        (self.round, self.tokens) = (None, None);
        let block = Block::Text { text, fields: &[] };
        let reply = Reply {
            blocks: &[block],
            error: Some(Str::trusted(api_error::word(text.as_escaped()))),
            ..Reply::default()
        };
        out.invented("/error", "the target's word for what went wrong");
        let event = Event::new(*origin, Kind::Reply(&reply));
        self.block(&event, &reply, None, &block, out);
        self.round = None;
        outcome.kind.told_as(OutcomeKind::Failed(Place::Model), out);
    }
}
