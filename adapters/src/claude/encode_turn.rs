//! The conversation: prompts, whole replies, results.

use crate::blocks::{MESSAGE, UsagePlace};
use crate::codec::Dialect;
use crate::event::{At, Block, Content, DetailShape, Event, Origin, Prompt, PromptSource, Reply, ResultStatus, ToolProgress, ToolResult, Usage};
use crate::json::{Out, Str, alike};
use crate::trace::Kept;

use super::behind::{FAILED_FOOT, FOOT, Rest};
use super::encode::{Encoder, LINE, Line, write_request};

/// What an `assistant` line, or a retry, may call its error.
pub(super) const ERRORS: [&str; 10] = [
    "authentication_failed",
    "oauth_org_not_allowed",
    "billing_error",
    "rate_limit",
    "overloaded",
    "invalid_request",
    "model_not_found",
    "server_error",
    "max_output_tokens",
    "unknown",
];

/// What is known of the turn that is being written.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Its `system/init` is written.
    pub(super) opened: bool,
    /// Something of it is written.
    pub(super) begun: bool,
    /// The program's own end stands for the turn's.
    pub(super) fatal: bool,
    /// `user` lines of the main thread that are no replays.
    pub(super) user_lines: u64,
    /// The last text of the main thread, as the body of a JSON string.
    pub(super) text: String,
    /// Why the last reply stopped, in Claude's word.
    pub(super) stop: Option<String>,
    /// The source did not say so: it follows from what the reply holds.
    pub(super) stop_follows: bool,
    /// The word of the source for it that nobody knows: the outcome may say it too.
    pub(super) unknown_stop: (String, Kept),
    /// The calls that were refused, as members of a list.
    pub(super) denials: String,
    /// The tokens of all rounds, where the source counts by round.
    pub(super) usage: Option<Usage<'static>>,
    /// What was said last is a call or a result: tools run, or the next reply is on its way.
    pub(super) in_tools: bool,
}

/// What stands in the user's place where the host has stopped the turn.
fn is_interrupt(content: Content<'_>) -> bool {
    let says = |text: Str<'_>| text.as_escaped().starts_with(super::STOP_NOTICE);
    match content {
        Content::Text(text) => says(text),
        Content::Blocks([Block::Text { text, .. }]) => says(*text),
        Content::Blocks(_) => false,
    }
}

impl Encoder {
    /// Something of the conversation is about to be written: the turn's init stands before it.
    pub(super) fn content(&mut self, event: &Event<'_>, out: &mut Out) {
        self.turn.fatal = false;
        // A subagent that works on between two turns begins none.
        if self.turn.begun || event.origin.parent.is_some() && self.facts.are_known() {
            return;
        }
        self.turn.begun = true;
        if !self.own() && !self.turn.opened {
            self.init_again(event, out);
        }
    }

    pub(super) fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        self.content(event, out);
        let main = event.origin.parent.is_none();
        let replay = matches!(prompt.source, PromptSource::Host | PromptSource::Echo);
        self.turn.user_lines += u64::from(main && !replay);
        if !self.shows(Line::Message) {
            return;
        }
        self.begin(out, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        self.writer.content(out, prompt.content);
        self.writer.fields(out, event.fields, At::Part(MESSAGE));
        out.lit("}");
        self.tail(out, &event.origin);
        // The program does not mark what it says of an interrupt as its own.
        if !self.own() && main && !is_interrupt(prompt.content) {
            out.lit(if replay { ",\"isReplay\":true" } else { ",\"isSynthetic\":true" });
        }
        self.writer.fields(out, event.fields, LINE);
        self.added(out, event.fields, LINE);
        self.end(out);
    }

    pub(super) fn tool_result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        self.content(event, out);
        let main = event.origin.parent.is_none();
        self.turn.user_lines += u64::from(main);
        self.turn.in_tools |= main;
        if let Some(call) = result.of.filter(|_| result.status == ResultStatus::Denied && !self.own()) {
            let comma = if self.turn.denials.is_empty() { "" } else { "," };
            let (name, id, input) = (call.name.as_escaped(), call.id.as_escaped(), call.input.as_str());
            self.turn.denials += &format!("{comma}{{\"tool_name\":\"{name}\",\"tool_use_id\":\"{id}\",\"tool_input\":{input}}}");
        }
        self.rounds.end(result.call, out);
        if !self.shows(Line::Message) {
            return;
        }
        let failed = result.status != ResultStatus::Success;
        let is_error = if self.own() {
            result.is_error
        } else {
            Some(failed).filter(|failed| *failed || result.is_error.is_some())
        };
        self.begin(out, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
        self.writer.result(out, result, is_error);
        out.lit("]");
        self.writer.fields(out, event.fields, At::Part(MESSAGE));
        out.lit("}");
        self.tail(out, &event.origin);
        if let Some(detail) = result.detail.filter(|detail| detail.shape == DetailShape::Claude) {
            out.lit(",\"tool_use_result\":");
            out.unchecked(detail.raw);
        }
        if let Some(meta) = self.told(event.fields, "tool_result_meta") {
            out.lit(",\"tool_result_meta\":");
            out.raw(meta.value);
        } else if !self.own() && result.status == ResultStatus::Denied {
            out.lit(",\"tool_result_meta\":[{\"id\":");
            out.str(result.call);
            out.lit(",\"non_execution_kind\":\"user-rejected\"}]");
        }
        self.writer.fields(out, event.fields, LINE);
        self.end(out);
    }

    pub(super) fn tool_progress(&mut self, event: &Event<'_>, progress: &ToolProgress<'_>, out: &mut Out) {
        // The line tells how many seconds a tool has been running; other dialects don't.
        if !self.own() || !self.shows(Line::Message) {
            return;
        }
        self.begin(out, "{\"type\":\"tool_progress\",\"tool_use_id\":");
        out.str(progress.call);
        self.own_tail(
            out,
            &Origin {
                parent: None,
                ..event.origin
            },
        );
        out.lit(",\"parent_tool_use_id\":");
        out.str_or_null(event.origin.parent);
        self.writer.fields(out, event.fields, LINE);
        self.end(out);
    }

    pub(super) fn reply(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        self.content(event, out);
        if !self.shows(Line::Message) && event.origin.parent.is_none() {
            for block in reply.blocks {
                if let Block::Text { text, .. } = block {
                    self.answer.pause();
                    self.answer.say(*text, out);
                }
            }
        }
        if self.own() {
            if self.shows(Line::Message) {
                self.own_assistant(event, reply, out);
            }
            return;
        }
        if event.origin.parent.is_none() {
            self.turn.in_tools = reply.blocks.iter().any(|block| matches!(block, Block::Call(_)));
            let last = reply.blocks.iter().rev().find_map(|block| match block {
                Block::Text { text, .. } => Some(text.as_escaped()),
                _ => None,
            });
            if let Some(text) = last {
                text.clone_into(&mut self.turn.text);
            }
        }
        self.round(&event.origin).called |= reply.blocks.iter().any(|block| matches!(block, Block::Call(_)));
        if !self.shows(Line::Message) {
            return;
        }
        for block in reply.blocks {
            if matches!(block, Block::Text { text, .. } if text.is_empty()) {
                out.carried();
                continue;
            }
            if self.writer.is_block(block) {
                self.assistant(event, reply, block, out);
            }
        }
    }

    /// Writes an `assistant` line as Claude Code wrote it.
    fn own_assistant(&mut self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        let message = At::Part(MESSAGE);
        self.begin(out, "{\"type\":\"assistant\",\"message\":{\"id\":");
        out.str_or_null(reply.id);
        out.lit(",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
        out.str_or_null(reply.model);
        out.lit(",\"content\":");
        self.writer.blocks(out, reply.blocks);
        out.lit(",\"stop_reason\":");
        out.str_or_null(reply.stop.map(|stop| stop.word));
        if !self.writer.has(event.fields, message, "stop_sequence") {
            out.lit(",\"stop_sequence\":null");
        }
        if reply.usage.is_some() {
            out.lit(",\"usage\":");
            self.writer.usage_at(out, reply.usage.as_ref(), UsagePlace::Message);
        }
        self.writer.fields(out, event.fields, message);
        out.lit("}");
        self.tail(out, &event.origin);
        self.assistant_end(event, reply, out);
    }

    /// Writes one block of another dialect's reply as an `assistant` line.
    fn assistant(&mut self, event: &Event<'_>, reply: &Reply<'_>, block: &Block<'_>, out: &mut Out) {
        self.make_id(&event.origin, reply.id, out, "/message/id");
        self.make_model(&event.origin, reply.model, out, "/message/model");
        if let Some(model) = reply.model.filter(|_| event.origin.parent.is_none() && reply.error.is_none()) {
            self.facts.answered(model);
        }
        if self.has_frame(event, reply, out) {
            self.framed_head(reply, out);
            self.writer.block(out, block);
            self.await_tokens(&event.origin, reply, out);
            self.framed_foot(out);
            self.uuid_value(out, event.origin.id);
            self.frames.time(out, event.origin.time);
        } else {
            self.begin(out, "");
            self.assistant_head(event.origin.parent, reply, out);
            self.writer.block(out, block);
            self.await_tokens(&event.origin, reply, out);
            self.assistant_foot(event.origin.parent, reply, out);
            self.tail(out, &event.origin);
        }
        self.assistant_end(event, reply, out);
    }

    /// Whether the tokens of a reply are said behind it.
    fn awaits_tokens(&mut self, parent: Option<Str<'_>>, reply: &Reply<'_>) -> bool {
        self.behind.waits() && parent.is_none() && reply.usage.is_none() && reply.error.is_none() && self.rounds.of(None).usage.is_none()
    }

    fn await_tokens(&mut self, origin: &Origin<'_>, reply: &Reply<'_>, out: &Out) {
        if self.awaits_tokens(origin.parent, reply) {
            self.behind.place(out.len() + FOOT.len(), Rest::Tokens, None);
        }
    }

    /// Writes such a line up to its block.
    pub(super) fn assistant_head(&mut self, parent: Option<Str<'_>>, reply: &Reply<'_>, out: &mut Out) {
        out.lit("{\"type\":\"assistant\",\"message\":{\"id\":");
        let round = self.rounds.of(parent);
        known(out, reply.id, &round.id);
        out.lit(",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
        if reply.error.is_some() && round.model != SYNTHETIC {
            // What the program itself says about a failed call is no model's.
            out.lost(reply.model.unwrap_or_default().as_escaped(), None, "");
            out.text(SYNTHETIC);
            out.invented("/message/model", "the target's word for what no model said");
        } else {
            known(out, reply.model, &round.model);
        }
        out.lit(",\"content\":[");
    }

    /// Writes the rest of its message.
    pub(super) fn assistant_foot(&mut self, parent: Option<Str<'_>>, reply: &Reply<'_>, out: &mut Out) {
        let usage = self.rounds.of(parent).usage;
        let usage = usage.as_ref().or(reply.usage.as_ref());
        // What an agent of ours says of a failed call ends as the program's own words do.
        out.lit(if self.style.agent && reply.error.is_some() { FAILED_FOOT } else { FOOT });
        if usage.is_some() || !self.awaits_tokens(parent, reply) {
            self.writer.usage_at(out, usage, UsagePlace::Message);
        }
        out.lit("}");
    }

    /// Writes what stands behind the line's place and time.
    fn assistant_end(&self, event: &Event<'_>, reply: &Reply<'_>, out: &mut Out) {
        if let Some(error) = reply.error {
            out.lit(",\"error\":");
            if self.own() || ERRORS.contains(&error.as_escaped()) {
                out.str(error);
            } else {
                out.lit("\"unknown\"");
                out.invented("/error", "the target has words of its own for errors");
            }
        }
        if self.own() {
            self.writer.fields(out, event.fields, LINE);
        } else if self.style.source == Dialect::Claude {
            write_request(out, event.fields, ["requestId", "request_id"]);
        }
        self.added(out, event.fields, LINE);
        self.end(out);
    }
}

/// The model of what the program itself says.
const SYNTHETIC: &str = "<synthetic>";

/// Writes a text that is remembered; as the line has it, if the line says the same.
fn known(out: &mut Out, said: Option<Str<'_>>, remembered: &str) {
    out.str(
        said.filter(|said| alike(said.as_escaped(), remembered))
            .unwrap_or(Str::trusted(remembered)),
    );
}
