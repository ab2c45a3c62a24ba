//! `system` lines and what else comes beside the replies.

use super::super::ERROR;
use super::{Core, Encoder};
use crate::blocks::EVENT;
use crate::codec::Layout;
use crate::event::{At, Event, Fate, Field, Notice, Origin, ToolProgress, Topic};
use crate::json::{Out, Raw, Str};

/// What this dialect says of a background task, by the same names as its sister.
const TASK: &[&str] = &["task_id", "tool_use_id", "description", "subagent_type", "status", "usage"];

impl Encoder {
    pub(super) fn notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        if self.core.own {
            return self.own_notice(event, notice, out);
        }
        match notice.topic {
            Topic::SubagentEnd => {
                self.flush(out);
                self.core.subagent_end(event, notice, out);
            }
            Topic::Task if matches!(notice.name.as_escaped(), "task_started" | "task_notification") => {
                let data = |name: &str| find(event, notice, name);
                if data("task_id").is_some() {
                    self.flush(out);
                    self.core.begin_turn(event, out);
                    self.core.system(event, notice.name, out);
                    let mut first = true;
                    // Claude's description is the notice's text.
                    let text = notice.message.filter(|_| notice.name.is("task_started"));
                    for name in TASK {
                        let value = data(name);
                        let text = text.filter(|_| *name == "description" && value.is_none());
                        if value.is_none() && text.is_none() {
                            continue;
                        }
                        out.lit(if std::mem::take(&mut first) { "{\"" } else { ",\"" });
                        out.lit(name);
                        out.lit("\":");
                        match (value, text) {
                            (Some(value), _) => out.unchecked(value),
                            (None, text) => out.str(text.unwrap_or_default()),
                        }
                    }
                    out.lit("}");
                    self.core.pen.close(out);
                }
            }
            Topic::Retry => self.retry(event, notice, out),
            _ => {}
        }
    }

    /// A model call is tried again, with its number: `attempt max_retries retry_delay_ms`, or as this dialect calls them.
    fn retry(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        let number = |names: [&str; 2]| {
            names
                .into_iter()
                .find_map(|name| find(event, notice, name))
                .filter(|value| value.f64().is_some())
        };
        let Some(attempt) = number(["attempt", "attempt"]) else { return };
        self.flush(out);
        self.core.begin_turn(event, out);
        self.core.system(event, Str::trusted("retry"), out);
        out.used(notice.name.as_escaped());
        out.lit("{\"reason\":\"retry\",\"attempt\":");
        out.unchecked(attempt);
        for (key, names) in [
            (",\"maxRetries\":", ["max_retries", "maxRetries"]),
            (",\"delayMs\":", ["retry_delay_ms", "delayMs"]),
        ] {
            if let Some(value) = number(names) {
                out.lit(key);
                out.unchecked(value);
            }
        }
        out.lit(",\"discardedToolCalls\":0,\"preserveText\":false}");
        out.invented("/data/discardedToolCalls", "a failed call has called no tools");
        self.core.pen.close(out);
    }

    fn own_notice(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        if notice.topic == Topic::SubagentEnd {
            return self.core.subagent_end(event, notice, out);
        }
        let core = &mut self.core;
        let writer = core.writer.0;
        if notice.name.is("goal_state") {
            if self.mode.layout != Layout::Lines {
                return;
            }
            core.pen.open("stream_event", out);
            core.pen.envelope(event.origin.id, event.origin.parent, out);
            out.lit(",\"event\":{\"type\":\"goal_state\"");
            out.raw_if(",\"goal_state\":", notice.data);
            writer.fields(out, event.fields, At::Part(EVENT));
            out.lit("}");
        } else {
            core.system_head(event, notice.name, out);
            out.raw_if(",\"data\":", notice.data);
        }
        writer.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    /// What a tool shows while it runs. What does not show anything has no place.
    pub(super) fn progress(&mut self, event: &Event<'_>, progress: &ToolProgress<'_>, out: &mut Out) {
        if self.mode.layout != Layout::Lines || !self.core.partial {
            return;
        }
        let Some(content) = progress.content.or(self.core.own.then_some(Raw::NULL)) else {
            return;
        };
        let core = &mut self.core;
        core.pen.open("stream_event", out);
        core.pen.envelope(event.origin.id, event.origin.parent, out);
        out.lit(",\"event\":{\"type\":\"tool_progress\",\"tool_use_id\":");
        out.str(progress.call);
        if progress.content.is_some() {
            out.lit(",\"content\":");
            out.unchecked(content);
        }
        core.writer.0.fields(out, event.fields, At::Part(EVENT));
        out.lit("}");
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }
}

impl Core {
    /// A reply was given up, which is fetched again: its pieces do not count.
    #[cold]
    pub(super) fn retracted(&mut self, event: &Event<'_>, out: &mut Out) {
        let origin = Origin { id: None, ..event.origin };
        self.system(&Event { origin, ..*event }, Str::trusted("retry"), out);
        out.lit("{\"reason\":\"retry\",\"discardedToolCalls\":0,\"preserveText\":false}");
        out.note(Fate::Invented, "", "how this dialect says that the pieces of a reply are taken back");
        self.pen.close(out);
    }

    fn system_head(&mut self, event: &Event<'_>, subtype: Str<'_>, out: &mut Out) {
        self.pen.open("system", out);
        out.lit(",\"subtype\":");
        out.str(subtype);
        self.pen.envelope(event.origin.id, event.origin.parent, out);
    }

    fn system(&mut self, event: &Event<'_>, subtype: Str<'_>, out: &mut Out) {
        self.system_head(event, subtype, out);
        out.lit(",\"data\":");
    }

    /// A subagent that was cancelled writes a result in which every number is 0.
    fn subagent_end(&mut self, event: &Event<'_>, notice: &Notice<'_>, out: &mut Out) {
        let writer = self.writer.0;
        self.pen.open("result", out);
        out.lit(",\"uuid\":\"");
        self.pen.id(event.origin.id, out);
        out.lit("\",\"session_id\":\"");
        out.lit(self.pen.session_id(out).as_escaped());
        out.lit("\"");
        out.str_if(",\"parent_tool_use_id\":", event.origin.parent);
        let stored = |field: &&Field<'_>| field.at == At::Line && super::super::fields::SUBAGENT_END.contains(&field.key.as_escaped());
        if self.own {
            writer.fields(out, event.fields, At::Line);
        } else if event.fields.iter().any(|field| stored(&field)) {
            event.fields.iter().filter(stored).for_each(|field| super::pen::member(field, out));
        } else {
            out.lit(",\"subtype\":\"error_during_execution\",\"is_error\":true,\"duration_ms\":0,\"duration_api_ms\":0,\"num_turns\":0");
            out.lit(",\"usage\":{\"input_tokens\":0,\"output_tokens\":0},\"permission_denials\":[]");
            out.invented("/usage", "a subagent's own result holds zeros");
        }
        out.lit(",\"error\":{\"message\":");
        // The word that tells such a result from a turn's.
        match notice.message {
            Some(message) => out.str(message),
            None => out.lit("\"CANCELLED\""),
        }
        writer.fields(out, event.fields, At::Part(ERROR));
        out.lit("}");
        self.pen.close(out);
    }
}

/// A member of a foreign notice: of its payload, or of its line.
fn find<'a>(event: &Event<'a>, notice: &Notice<'a>, name: &str) -> Option<Raw<'a>> {
    let in_data = notice.data.and_then(|data| data.get(name));
    in_data.or_else(|| {
        event
            .fields
            .iter()
            .find(|field| field.at == At::Line && field.key.is(name))
            .map(|field| field.value)
    })
}
