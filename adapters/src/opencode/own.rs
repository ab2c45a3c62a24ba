//! OpenCode's own events written back as the lines that they were read from.

use super::encode::Encoder;
use super::{DATA, ERROR, INVALID, PART, STATE};
use crate::event::{At, Block, Event, Kind, Notice, Outcome, ResultStatus, Time, ToolCall, ToolResult};
use crate::json::{Out, Raw, Str};

impl Encoder {
    pub(super) fn own(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            // One that nobody said has no fields.
            Kind::RoundStart(start) if !event.fields.is_empty() => {
                self.enter(start.id);
                begin(event, "step_start", out);
                self.head(event, "step-start", out);
                rest(event, PART, &HEAD, out);
                close(event, out);
            }
            Kind::Reply(reply) => {
                self.enter(reply.id);
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => self.own_text(event, "text", *text, out),
                        Block::Thinking(thinking) => self.own_text(event, "reasoning", thinking.text, out),
                        // The line is that of the result.
                        Block::Call(call) if field(event, STATE, "status").is_some() => self.own_call(event, call, None, out),
                        _ => {}
                    }
                }
            }
            Kind::ToolResult(result) => {
                if let Some(call) = &result.of {
                    self.own_call(event, call, Some(result), out);
                }
            }
            Kind::RoundEnd(end) => {
                let Some(stop) = end.stop else { return };
                begin(event, "step_finish", out);
                out.lit("{\"id\":");
                out.unchecked(field(event, PART, "id").unwrap_or(Raw::trusted("\"\"")));
                out.str_if(",\"reason\":", Some(stop.word));
                self.own_places(event, out);
                out.lit(",\"type\":\"step-finish\"");
                for name in ["tokens", "cost"] {
                    named(name, field(event, PART, name), out);
                }
                rest(event, PART, &["id", "messageID", "sessionID", "type", "tokens", "cost"], out);
                close(event, out);
            }
            Kind::Notice(notice) => self::notice(event, notice, out),
            Kind::Outcome(outcome) => self::outcome(event, outcome, out),
            Kind::Noise(text) => out.copied_line(text),
            Kind::Unknown(line) => {
                out.unchecked(line);
                out.lit("\n");
            }
            _ => {}
        }
    }

    /// What most parts begin with.
    fn head(&self, event: &Event<'_>, kind: &str, out: &mut Out) {
        out.lit("{\"id\":");
        out.unchecked(field(event, PART, "id").unwrap_or(Raw::trusted("\"\"")));
        self.own_places(event, out);
        out.lit(",\"type\":\"");
        out.lit(kind);
        out.lit("\"");
    }

    /// Where a part belongs.
    fn own_places(&self, event: &Event<'_>, out: &mut Out) {
        self.message_id(event, out);
        session_id(event, out);
    }

    fn message_id(&self, event: &Event<'_>, out: &mut Out) {
        match field(event, PART, "messageID") {
            None => {
                out.lit(",\"messageID\":\"");
                out.lit(&self.message);
                out.lit("\"");
            }
            found => named("messageID", found, out),
        }
    }

    fn own_text(&self, event: &Event<'_>, kind: &str, text: Str<'_>, out: &mut Out) {
        begin(event, kind, out);
        self.head(event, kind, out);
        out.lit(",\"text\":");
        out.str(text);
        rest(event, PART, &HEAD, out);
        close(event, out);
    }

    fn own_call(&self, event: &Event<'_>, call: &ToolCall<'_>, result: Option<&ToolResult<'_>>, out: &mut Out) {
        begin(event, "tool_use", out);
        out.lit("{\"type\":\"tool\",\"tool\":");
        out.str(call.name);
        out.lit(",\"callID\":");
        out.str(call.id);
        out.lit(",\"state\":{\"status\":");
        let metadata = result.and_then(|result| result.detail).map(|detail| detail.raw);
        match result {
            None => out.unchecked(field(event, STATE, "status").unwrap_or(Raw::trusted("\"running\""))),
            Some(result) => out.lit(if completed(call, result) { "\"completed\"" } else { "\"error\"" }),
        }
        out.lit(",\"input\":");
        out.unchecked(call.input);
        if let Some(result) = result {
            out.lit(if completed(call, result) { ",\"output\":\"" } else { ",\"error\":\"" });
            result.content.texts().for_each(|text| out.body(text));
            out.lit("\"");
        }
        named("metadata", metadata, out);
        named("title", field(event, STATE, "title"), out);
        rest(event, STATE, &["status", "title"], out);
        out.lit("}");
        named("id", field(event, PART, "id"), out);
        session_id(event, out);
        self.message_id(event, out);
        rest(event, PART, &HEAD, out);
        close(event, out);
    }
}

/// A call of a command that failed is completed.
pub(super) fn completed(call: &ToolCall<'_>, result: &ToolResult<'_>) -> bool {
    let exits = result.detail.and_then(|detail| detail.raw.get("exit"));
    result.status == ResultStatus::Success
        || result.status == ResultStatus::Error && (call.name.is(INVALID) || exits.is_some_and(|exit| !exit.is_null()))
}

/// Members of parts that are written before the others.
const HEAD: [&str; 4] = ["id", "messageID", "sessionID", "type"];

fn field<'a>(event: &Event<'a>, at: At<'_>, key: &str) -> Option<Raw<'a>> {
    event
        .fields
        .iter()
        .find(|field| field.at == at && field.key.is(key))
        .map(|field| field.value)
}

fn begin(event: &Event<'_>, kind: &str, out: &mut Out) {
    out.lit("{\"type\":\"");
    out.lit(kind);
    out.lit("\"");
    line_head(event, out);
    out.lit(",\"part\":");
}

fn line_head(event: &Event<'_>, out: &mut Out) {
    match event.origin.time {
        Some(Time::Millis(time)) => out.unchecked_if(",\"timestamp\":", Some(time)),
        _ => out.lit(",\"timestamp\":0"),
    }
    out.str_if(",\"sessionID\":", event.origin.session);
}

fn session_id(event: &Event<'_>, out: &mut Out) {
    match field(event, PART, "sessionID") {
        None => out.str_if(",\"sessionID\":", event.origin.session),
        found => named("sessionID", found, out),
    }
}

/// A member behind a comma, if there is one.
fn named(name: &str, value: Option<Raw<'_>>, out: &mut Out) {
    let Some(value) = value else { return };
    out.lit(",\"");
    out.lit(name);
    out.lit("\":");
    out.unchecked(value);
}

/// The fields of an object that are not written yet.
fn rest(event: &Event<'_>, at: At<'_>, written: &[&str], out: &mut Out) {
    for found in event.fields.iter().filter(|field| field.at == at) {
        if !written.iter().any(|name| found.key.is(name)) {
            found.write_next(out);
        }
    }
}

/// Ends a line whose last member is an object.
fn close(event: &Event<'_>, out: &mut Out) {
    out.lit("}");
    rest(event, At::Line, &[], out);
    out.lit("}\n");
}

fn notice(event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
    if notice.name.is("error") {
        return error(event, None, notice.message, out);
    }
    out.lit("{\"type\":");
    out.str(notice.name);
    line_head(event, out);
    out.str_if(",\"reason\":", notice.message);
    rest(event, At::Line, &[], out);
    out.lit("}\n");
}

fn outcome(event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
    match outcome.error {
        Some(message) => error(event, outcome.word, Some(message), out),
        // That a run has ended is all that says so.
        None if outcome.synthetic => out.carried(),
        None => {
            out.lit("{\"type\":\"done\"");
            line_head(event, out);
            out.str_if(",\"reason\":", outcome.word);
            rest(event, At::Line, &[], out);
            out.lit("}\n");
        }
    }
}

fn error(event: &Event<'_>, name: Option<Str<'_>>, message: Option<Str<'_>>, out: &mut Out) {
    out.lit("{\"type\":\"error\"");
    line_head(event, out);
    out.lit(",\"error\":{\"name\":");
    match (name, field(event, ERROR, "name")) {
        (Some(name), _) => out.str(name),
        (None, found) => out.unchecked(found.unwrap_or(Raw::trusted("\"UnknownError\""))),
    }
    if field(event, ERROR, "data").is_none() {
        out.lit(",\"data\":{\"message\":");
        out.str(message.unwrap_or_default());
        rest(event, DATA, &[], out);
        out.lit("}");
    }
    rest(event, ERROR, &["name"], out);
    close(event, out);
}
