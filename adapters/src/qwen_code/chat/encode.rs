use bumpalo::Bump;

use super::{RESPONSE, TELEMETRY};
use crate::blocks::member;
use crate::codec::{Dialect, Encode, Style, TellsEnd, Want};
use crate::event::{
    At, Block, Content, Counted, Event, Fields, Input, InputKind, Kind, Notice, Origin, Prompt, PromptSource, Reply, ResultStatus, Time, ToolResult,
    Usage,
};
use crate::json::Out;
use crate::qwen_code::VERSION;
use crate::qwen_code::decode::turn::tells_end;
use crate::store::{Writing, kept, known_time, version};

/// Writes a chat file that Qwen Code goes on with.
#[derive(Debug)]
pub struct Encoder {
    own: bool,
    kept: Writing,
    /// The reply that is gathered: it is one line.
    round: Round,
}

#[derive(Debug, Default)]
struct Round {
    /// Its parts, with commas between them.
    parts: Vec<u8>,
    id: Option<String>,
    /// The line's id.
    line: Option<String>,
    time: Option<String>,
    model: Option<String>,
    usage: Option<Usage<'static>>,
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        Self {
            own: style.is_own(Dialect::QwenCode),
            kept: Writing::new(style.at),
            round: Round::default(),
        }
    }

    /// Writes what all lines begin with, and makes this one the last.
    fn head(&mut self, id: String, time: Option<String>, kind: &str, whose: &str, out: &mut Out) {
        out.lit("{\"uuid\":\"");
        out.lit(&id);
        out.lit("\",\"parentUuid\":");
        self.kept.parent(None, "/parentUuid", out);
        self.kept.hang(id);
        out.lit(",\"sessionId\":\"");
        out.lit(self.kept.session("/sessionId", out));
        out.lit("\",\"timestamp\":\"");
        out.lit(self.kept.time(time, "/timestamp", out));
        out.lit("\",\"type\":\"");
        out.lit(kind);
        out.lit("\",\"provenance\":\"");
        out.lit(whose);
        out.lit("\",\"cwd\":\"");
        out.lit(self.kept.cwd("/cwd", out));
        out.lit("\",\"version\":\"");
        out.lit(version(VERSION, "/version", out));
        out.lit("\"");
    }

    fn prompt(&mut self, origin: &Origin<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        self.flush(out);
        let id = self.kept.line_id(origin.id, "/uuid", out);
        let time = known_time(origin.time, out);
        let whose = if prompt.source == PromptSource::Agent { "system" } else { "real_user" };
        self.head(id, time, "user", whose, out);
        out.lit(",\"message\":{\"role\":\"user\",\"parts\":[");
        let mut any = false;
        for text in prompt.content.texts() {
            out.lit(if any { ",{\"text\":" } else { "{\"text\":" });
            out.str(text);
            out.lit("}");
            any = true;
        }
        let blocks = match prompt.content {
            Content::Blocks(blocks) => blocks,
            Content::Text(_) => &[],
        };
        for block in blocks {
            if let Block::Media(media) = block
                && let Some(picture) = media.shown()
            {
                out.lit(if any { "," } else { "" });
                out.beside(media.kind.as_escaped());
                picture.write_part(out);
                any = true;
            }
        }
        if !any {
            out.lit("{\"text\":\"\"}");
        }
        if prompt.content.has_other_than_text() {
            out.left_out("what is no text in a prompt");
        }
        out.lit("]}}\n");
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.flush(out);
        let id = self.kept.line_id(event.origin.id, "/uuid", out);
        let time = known_time(event.origin.time, out);
        self.head(id, time, "tool_result", "tool_result", out);
        out.lit(",\"message\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":");
        out.str(result.call);
        out.lit(",\"name\":");
        match result.of.map(|call| call.name).or(result.name) {
            Some(name) => out.str(name),
            None => {
                out.lit("\"unknown\"");
                out.invented("/message/parts/0/functionResponse/name", "the source does not name the tool");
            }
        }
        let failed = result.status != ResultStatus::Success;
        out.lit(if failed {
            ",\"response\":{\"error\":\""
        } else {
            ",\"response\":{\"output\":\""
        });
        result.content.as_one().for_each(|text| out.body(text));
        out.lit("\"}}}]},\"toolCallResult\":{\"callId\":");
        out.str(result.call);
        out.lit(match result.status {
            ResultStatus::Success => ",\"status\":\"success\"}}\n",
            ResultStatus::Denied | ResultStatus::Canceled => ",\"status\":\"cancelled\"}}\n",
            ResultStatus::Error => ",\"status\":\"error\"}}\n",
        });
    }

    fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        let said = reply.id.map(|id| id.as_escaped().to_owned());
        if !self.round.parts.is_empty() && said.is_some() && said != self.round.id {
            self.flush(out);
        }
        if let Some(usage) = &reply.usage {
            usage.said_by(Counted::WITH_INPUT).for_each(|source| out.used(source));
            self.round.usage = Some(usage.detached());
        }
        if reply.error.is_some() {
            // A failed model call leaves no message.
            out.left_out("what the program says about a failed model call is no message");
            return;
        }
        let mut parts = Out::default();
        for block in reply.blocks {
            let before = parts.len();
            if !self.round.parts.is_empty() || before > 0 {
                parts.lit(",");
            }
            if !part(block, &mut parts, out) {
                parts.truncate(before);
            }
        }
        if parts.is_empty() {
            return;
        }
        self.round.parts.extend_from_slice(parts.written());
        self.round.id = said;
        out.carried();
        if self.round.line.is_none() {
            self.round.line = Some(self.kept.line_id(event.origin.id, "/uuid", out));
            self.round.time = known_time(event.origin.time, out);
        }
        if let Some(model) = reply.model {
            self.round.model = Some(kept(model, out));
        }
    }

    /// Writes the reply that was gathered.
    fn flush(&mut self, out: &mut Out) {
        let round = std::mem::take(&mut self.round);
        let Some(line) = round.line else { return };
        self.head(line, round.time, "assistant", "assistant_output", out);
        out.lit(",\"model\":\"");
        out.lit(self.kept.model(round.model.as_deref(), "/model", out));
        out.lit("\",\"message\":{\"role\":\"model\",\"parts\":[");
        out.bytes(&round.parts);
        out.lit("]}");
        if let Some(usage) = round.usage {
            let input = usage.prompt_tokens();
            let output = usage.written_tokens();
            let total = usage.total.map(|count| count.value).or_else(|| Some(input?.saturating_add(output?)));
            let cached = usage.cache_read.map(|count| count.value);
            let members = [
                ("promptTokenCount", input),
                ("candidatesTokenCount", output),
                ("thoughtsTokenCount", usage.reasoning_tokens()),
                ("totalTokenCount", total),
                ("cachedContentTokenCount", cached),
            ];
            out.lit(",\"usageMetadata\":{");
            let mut comma = "\"";
            for (name, count) in members {
                if let Some(count) = count {
                    out.lit(comma);
                    out.lit(name);
                    out.lit("\":");
                    out.number(count);
                    comma = ",\"";
                }
            }
            out.lit("}");
        }
        out.lit("}\n");
    }

    /// Writes a line as it was: what the model says of it, and the rest as fields.
    fn own_event(&self, event: &Event<'_>, out: &mut Out) {
        let fields = event.fields;
        let has = |name: &str| fields.iter().any(|field| field.at == At::Line && field.key.is(name));
        match event.kind {
            Kind::Prompt(_) if has("message") => out.lit("{\"type\":\"user\""),
            Kind::Prompt(prompt) => {
                out.lit("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"parts\":[");
                match prompt.content {
                    Content::Text(text) => own_part(&Block::Text { text, fields: &[] }, out),
                    Content::Blocks(blocks) => own_parts(blocks, out),
                }
                out.lit("]}");
            }
            Kind::ToolResult(result) => {
                out.lit("{\"type\":\"tool_result\",\"message\":{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":");
                out.str(result.call);
                out.str_if(",\"name\":", result.name);
                own_fields(result.fields, At::Part(RESPONSE), out);
                out.lit("}}]}");
            }
            Kind::Reply(reply) => {
                out.lit("{\"type\":\"assistant\"");
                out.str_if(",\"model\":", reply.model);
                out.lit(",\"message\":{\"role\":\"model\",\"parts\":[");
                own_parts(reply.blocks, out);
                out.lit("]}");
                out.unchecked_if(",\"usageMetadata\":", reply.usage.and_then(|usage| usage.raw));
            }
            Kind::Notice(Notice { name, .. }) => {
                out.lit("{\"type\":\"system\"");
                debug_assert!(has("subtype") || !name.as_escaped().starts_with(TELEMETRY));
            }
            Kind::Noise(text) => return out.copied_line(text),
            Kind::Unknown(raw) => return out.copied_line(raw.as_str()),
            _ => return,
        }
        out.str_if(",\"uuid\":", event.origin.id);
        out.str_if(",\"sessionId\":", event.origin.session);
        if let Some(Time::Iso(time)) = event.origin.time {
            out.lit(",\"timestamp\":");
            out.str(time);
        }
        if let Some(agent) = event.origin.agent {
            out.str_if(",\"agentId\":", agent.id);
            out.str_if(",\"agentName\":", agent.name);
        }
        own_fields(fields, At::Line, out);
        out.lit("}\n");
    }
}

/// Writes a block of another dialect's reply. False if the program has no such part.
fn part(block: &Block<'_>, parts: &mut Out, out: &mut Out) -> bool {
    match block {
        Block::Text { text, .. } if !text.is_empty() => {
            parts.lit("{\"text\":");
            parts.str(*text);
            parts.lit("}");
            out.used(text.as_escaped());
        }
        Block::Thinking(thinking) if !thinking.text.is_empty() => {
            parts.lit("{\"text\":");
            parts.str(thinking.text);
            parts.lit(",\"thought\":true}");
            out.used(thinking.text.as_escaped());
        }
        Block::Call(call) => {
            parts.lit("{\"functionCall\":{\"id\":");
            parts.str(call.id);
            parts.lit(",\"name\":");
            parts.str(call.name);
            parts.lit(",\"args\":");
            call.write_object(parts);
            parts.lit("}}");
            for used in [call.id.as_escaped(), call.name.as_escaped(), call.input.as_str()] {
                out.used(used);
            }
        }
        Block::Text { .. } | Block::Thinking(_) => {
            out.carried();
            return false;
        }
        Block::Media(media) => {
            let Some(picture) = media.shown() else { return false };
            picture.write_part(parts);
            picture.tell("what is shown is a part", out);
        }
        Block::Redacted { .. } | Block::Other { .. } => return false,
    }
    true
}

fn own_parts(blocks: &[Block<'_>], out: &mut Out) {
    for (n, block) in blocks.iter().enumerate() {
        if n > 0 {
            out.lit(",");
        }
        own_part(block, out);
    }
}

fn own_part(block: &Block<'_>, out: &mut Out) {
    let (fields, end) = match block {
        Block::Text { text, fields } => {
            out.lit("{\"text\":");
            out.str(*text);
            (*fields, "}")
        }
        Block::Thinking(thinking) => {
            out.lit("{\"text\":");
            out.str(thinking.text);
            out.lit(",\"thought\":true");
            (thinking.fields, "}")
        }
        Block::Call(call) => {
            out.lit("{\"functionCall\":{\"id\":");
            out.str(call.id);
            out.lit(",\"name\":");
            out.str(call.name);
            out.lit(",\"args\":");
            out.unchecked(call.input);
            (call.fields, "}}")
        }
        Block::Other { raw, .. } => return out.unchecked(*raw),
        Block::Media(media) => return out.unchecked(media.raw),
        Block::Redacted { .. } => return out.lit("{}"),
    };
    fields.iter().for_each(|field| member(out, field));
    out.lit(end);
}

fn own_fields(fields: Fields<'_>, place: At<'_>, out: &mut Out) {
    fields.iter().filter(|field| field.at == place).for_each(|field| member(out, field));
}

impl Encode for Encoder {
    fn asks_rounds(&self) -> bool {
        true
    }

    fn counts_usage(&self) -> Counted {
        Counted::WITH_INPUT
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/message/parts/0/functionResponse/response/error")
    }

    fn want(&self) -> Want {
        Want::SNAPSHOTS.with_whole_replies().with_turns_by_prompts()
    }

    fn says_times(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        self.kept.come_to(&event.origin);
        if self.own {
            return self.own_event(event, out);
        }
        let arena = Bump::new();
        let renamed = self.kept.unique.event(event, "/message/parts", &arena, out);
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
                if let Some(usage) = end.usage.filter(|_| self.round.line.is_some()) {
                    usage.said_by(Counted::WITH_INPUT).for_each(|source| out.used(source));
                    self.round.usage = Some(usage.detached());
                }
                self.flush(out);
            }
            Kind::Outcome(outcome) => {
                self.flush(out);
                outcome.unsaid(out);
            }
            Kind::Fatal(_) => self.flush(out),
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
