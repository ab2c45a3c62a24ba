//! The end of a turn: the `result` line, the `json` value, the `text` for people, today's and that of 2025.

use super::encode::Encoder;
use super::lines::{member, name, raw_member};
use crate::answer::used_in;
use crate::codec::{Dialect, Layout};
use crate::event::{Count, Counted, DetailShape, Event, Outcome, ResultStatus, Scope, ToolKind, ToolResult, Usage};
use crate::json::{Out, Str};
use crate::tools::kind_of;

impl Encoder {
    /// How a turn that succeeded ends.
    pub(super) fn result(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let said = if self.is_stream() { &self.turn.said } else { self.answer.text() };
        if let Some(text) = outcome.text.filter(|_| out.traced())
            && (said.is_empty() || said.contains(text.as_escaped()))
        {
            used_in(self.style.mode.layout, text, out);
        }
        match self.style.mode.layout {
            Layout::Text => {
                self.turn_usage(outcome);
                self.result_text(outcome, out);
            }
            Layout::Document => {
                out.lit("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false");
                durations(outcome, out);
                self.result_end(event, outcome, out);
            }
            _ => {
                out.lit("{\"type\":\"result\",\"subtype\":\"success\"");
                durations(outcome, out);
                out.lit(",\"is_error\":false");
                self.result_end(event, outcome, out);
            }
        }
        out.carried();
    }

    /// In the text format of 2025: a short line for each thing that was done.
    pub(super) fn tool_line(&self, result: &ToolResult<'_>, out: &mut Out) {
        if self.style.mode.layout != Layout::Text || !self.style.old_text {
            return;
        }
        let kind = result.of.map_or(ToolKind::Other, |call| match call.kind {
            // An agent that speaks to Cursor's hosts alone has their names for its tools.
            ToolKind::Other if self.style.agent => kind_of(Dialect::Cursor, call.name),
            kind => kind,
        });
        let ran = match result.status {
            ResultStatus::Success => true,
            // A command that failed was run.
            ResultStatus::Error => kind == ToolKind::Shell,
            ResultStatus::Denied | ResultStatus::Canceled => false,
        };
        if !ran {
            return;
        }
        out.lit(match kind {
            ToolKind::Read => "Read file",
            ToolKind::Write => "Created new file",
            ToolKind::Edit | ToolKind::MultiEdit if is_new_file(result) => "Created new file",
            ToolKind::Edit | ToolKind::MultiEdit | ToolKind::NotebookEdit => "Edited file",
            ToolKind::Shell => "Ran terminal command",
            ToolKind::Grep => "Searched files",
            ToolKind::Glob => "Found files",
            ToolKind::List => "Listed directory",
            ToolKind::Delete => "Deleted file",
            ToolKind::Mkdir => "Created directory",
            ToolKind::Todo => "Updated todos",
            ToolKind::Subagent => "Ran subagent",
            ToolKind::Fetch => "Fetched page",
            ToolKind::WebSearch => "Searched web",
            ToolKind::Mcp => "Called MCP tool",
            ToolKind::Ask => "Asked question",
            ToolKind::ExitPlan => "Created plan",
            ToolKind::Other => "Called tool",
        });
        out.lit("\n");
    }

    /// Today's text: what was said after the last tool call. The old one has no answer; an agent of its own gives it all the same.
    fn result_text(&mut self, outcome: &Outcome<'_>, out: &mut Out) {
        if self.style.old_text && !self.style.agent {
            return self.answer.lose("no place in the text of 2025: it says what was done", out);
        }
        let said = outcome.text.filter(|_| self.answer.text().is_empty());
        self.answer.print(said, out);
        out.lit("\n");
    }

    /// From `result` on, which is the same in both formats.
    fn result_end(&mut self, event: &Event<'_>, outcome: &Outcome<'_>, out: &mut Out) {
        let own = self.style.source == Dialect::Cursor;
        name("result", out);
        let may_be_own = matches!(self.style.source, Dialect::Cursor | Dialect::Agentglot);
        let whole = event.fields.iter().find(|field| may_be_own && field.known && field.key.is("result"));
        let nothing_said = self.turn.said.is_empty() && self.answer.text().is_empty();
        match (whole, outcome.text) {
            // All segments, as this dialect has said it itself.
            (Some(whole), _) => {
                self.answer.end(whole.value.string(), out);
                out.unchecked(whole.value);
            }
            (None, Some(text)) if own || nothing_said => {
                self.answer.end(Some(text), out);
                out.str(text);
            }
            _ => {
                let answer = self.answer.end(None, out);
                out.lit("\"");
                out.lit(if self.is_stream() { &self.turn.said } else { &answer });
                out.lit("\"");
            }
        }
        out.bytes(&self.tail);
        match outcome.request_id {
            Some(id) => member("request_id", Some(id), out),
            None if own => {}
            None => {
                // In every recording; the ids of model calls begin with it.
                self.make_up_request();
                member("request_id", Some(Str::trusted(&self.turn.request)), out);
                out.invented("/request_id", "the source names no request");
            }
        }
        if own {
            raw_member("usage", outcome.usage.and_then(|usage| usage.raw), out);
        } else {
            let usage = self.turn_usage(outcome);
            if outcome.usage.is_none() {
                out.release(&mut self.turn.tokens);
            }
            self::usage(usage, out);
        }
        out.lit("}\n");
    }

    /// The usage of this turn: what the source says, what a sum over the session has grown by, or the sum of the rounds.
    pub(super) fn turn_usage<'a>(&mut self, outcome: &Outcome<'a>) -> Option<Usage<'a>> {
        match outcome.usage {
            Some(usage) if usage.scope == Scope::Session => Some(usage.of_turn(&mut self.total)),
            Some(usage) => Some(usage),
            None => self.turn.usage.take(),
        }
    }
}

fn durations(outcome: &Outcome<'_>, out: &mut Out) {
    name("duration_ms", out);
    match outcome.duration_ms {
        Some(millis) => out.unchecked(millis),
        None => {
            out.lit("0");
            out.invented("/duration_ms", "the source does not say it");
        }
    }
    name("duration_api_ms", out);
    match outcome.duration_api_ms {
        Some(millis) => out.unchecked(millis),
        None => {
            // The real program writes the same number twice.
            match outcome.duration_ms {
                Some(millis) => out.unchecked(millis),
                None => out.lit("0"),
            }
            out.invented("/duration_api_ms", "the source does not say it");
        }
    }
}

/// What is said of tokens.
pub(super) const COUNTED: Counted = Counted::NO_TOTAL.without_reasoning();

/// `usage`, with the numbers that are known.
fn usage(usage: Option<Usage<'_>>, out: &mut Out) {
    let Some(usage) = usage else { return };
    let numbers = [
        ("inputTokens", usage.fresh_tokens()),
        ("outputTokens", usage.written_tokens()),
        ("cacheReadTokens", value(usage.cache_read)),
        ("cacheWriteTokens", value(usage.cache_write)),
    ];
    if numbers.iter().all(|(_, number)| number.is_none()) {
        return;
    }
    usage.said_by(COUNTED).for_each(|source| out.used(source));
    name("usage", out);
    let mut before = "{\"";
    for (key, number) in numbers {
        if let Some(number) = number {
            out.lit(before);
            out.lit(key);
            out.lit("\":");
            out.number(number);
            before = ",\"";
        }
    }
    out.lit("}");
}

fn value(count: Option<Count<'_>>) -> Option<u64> {
    count.map(|count| count.value)
}

/// Whether an edit made its file: then the result holds no text from before.
fn is_new_file(result: &ToolResult<'_>) -> bool {
    let detail = result.detail.filter(|detail| detail.shape == DetailShape::Cursor);
    let success = detail.and_then(|detail| detail.raw.get("success"));
    success.is_some_and(|success| success.get("afterFullFileContent").is_some() && success.get("beforeFullFileContent").is_none())
}
