//! Writing annotations: tool results and calls on their way, terminal output, session events.

use super::display;
use super::encode::Encoder;
use super::own;
use crate::codec::Layout;
use crate::event::{At, Field, Fields, Notice, Origin, ResultStatus, Terminal, Time, ToolProgress, ToolResult, Topic};
use crate::json::{Out, Shape, Str};

/// Which finish reason stands on a line without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usual {
    /// It shows a call or its result: the turn goes on.
    Result,
    /// Nothing follows it.
    End,
    /// Anything else.
    Other,
}

impl Encoder {
    fn is_chunked(&self) -> bool {
        self.mode.layout == Layout::Pieces
    }

    /// Begins a line that holds annotations, beside `content` if there is any.
    fn begin_annotations(&mut self, content: Option<Str<'_>>, out: &mut Out) {
        self.frame.begin(out);
        if self.is_chunked() {
            out.lit("[{\"index\":0,\"delta\":{");
            if let Some(content) = content {
                out.lit("\"content\":");
                out.str(content);
                out.lit(",");
            }
            out.lit("\"annotations\":[");
        } else {
            out.lit("[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
            out.str_or_null(content);
            out.lit(",\"annotations\":[");
        }
    }

    /// Closes an annotation, with its number where pieces are put together by number.
    fn close_annotation(&mut self, out: &mut Out) {
        if self.is_chunked() {
            self.end_annotation(out);
        } else {
            out.lit("}");
        }
    }

    /// Ends a line that holds annotations.
    fn end_annotations(&mut self, usual: Usual, fields: Fields<'_>, out: &mut Out) {
        for raw in own::annotations(fields) {
            out.lit(",");
            out.unchecked(raw);
        }
        out.lit("]");
        let usual = match (self.is_chunked(), usual) {
            (true, Usual::Result | Usual::Other) => "null",
            (false, Usual::Result) => "\"tool_calls\"",
            (false, Usual::Other) | (_, Usual::End) => "\"stop\"",
        };
        self.end_delta(fields, usual, out);
    }

    /// The reply that made a call goes out before anything that is said about the call.
    fn end_call(&mut self, out: &mut Out) {
        self.begin(out);
        if self.is_chunked() {
            self.end_calls(out);
        } else {
            self.flush(None, out);
        }
    }

    pub(super) fn result(&mut self, result: &ToolResult<'_>, event: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.end_call(out);
        let task = self.tasks.take(result.call);
        self.begin_annotations(None, out);
        let status = match result.status {
            ResultStatus::Success => "success",
            ResultStatus::Error => "error",
            ResultStatus::Denied | ResultStatus::Canceled => "canceled",
        };
        let of_display = self.own_fields(result.fields);
        self.begin_display(result.call, Str::trusted(status), of_display, out);
        out.lit(",\"result_display\":");
        let tells_task = display::write(result, task.as_ref(), self.native_tools, self.own, out);
        if let Some(mut task) = task {
            match tells_task {
                true => out.release(&mut task.kept),
                false => out.drop_held(&mut task.kept, "the source's own display says what the subagent did"),
            }
        }
        timestamp(event, out);
        own::write(own::in_blocks(of_display).filter(not_session), out);
        self.close_annotation(out);
        self.end_annotations(Usual::Result, fields, out);
    }

    pub(super) fn progress(&mut self, progress: &ToolProgress<'_>, event: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        if self.is_chunked() {
            self.end_calls(out);
        } else if self.held.has_calls() {
            self.flush(None, out);
        }
        self.begin_annotations(None, out);
        let status = progress
            .status
            .filter(|s| matches!(s.as_escaped(), "pending" | "executing" | "confirming"));
        self.begin_display(progress.call, status.unwrap_or(Str::trusted("executing")), fields, out);
        if let Some(content) = progress.content {
            match content.shape() {
                Some(Shape::String) => {
                    out.lit(",\"result_display\":{\"kind\":\"string\",\"text\":");
                    out.unchecked(content);
                    out.lit("}");
                }
                Some(Shape::Object) if content.get("kind").is_some() => {
                    out.lit(",\"result_display\":");
                    out.unchecked(content);
                }
                _ => {}
            }
        }
        out.unchecked_if(",\"confirmation\":", progress.confirmation);
        timestamp(event, out);
        own::write(own::in_blocks(fields).filter(not_session), out);
        self.close_annotation(out);
        self.end_annotations(Usual::Result, fields, out);
    }

    fn begin_display(&self, call: Str<'_>, status: Str<'_>, fields: Fields<'_>, out: &mut Out) {
        out.lit("{\"type\":\"x-qwen-tool-display\",\"tool_call_id\":");
        out.str(call);
        // Lines of the RFC's own carry their session among their fields, if they name it.
        if let Some(session) = own::in_blocks(fields).find(|field| field.key.is("session_id")) {
            out.lit(",\"session_id\":");
            out.unchecked(session.value);
        } else if !self.own && !self.session.is_empty() {
            out.lit(",\"session_id\":\"");
            out.lit(&self.session);
            out.lit("\"");
        }
        out.lit(",\"status\":");
        out.str(status);
    }

    pub(super) fn terminal(&mut self, terminal: &Terminal<'_>, event: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begin(out);
        let styles_reply = terminal.source.is_none_or(|s| s.is("assistant")) && terminal.text.is_none() && terminal.raw_ansi.is_none();
        let goes_with_text = |field: &Field<'_>| matches!(field.at, At::Block(_)) || field.key.is("model");
        if styles_reply && fields.iter().all(goes_with_text) {
            // It goes with the text that follows.
            let mut line = Out::default();
            begin_terminal(terminal, event.turn, &mut line);
            own::write(own::in_blocks(fields), &mut line);
            line.swap(&mut self.waiting);
            for part in [terminal.channel, terminal.source, terminal.level, event.turn].into_iter().flatten() {
                out.used(part.as_escaped());
            }
            for part in [terminal.spans, terminal.ansi, terminal.exit_code]
                .into_iter()
                .flatten()
                .chain(fields.iter().map(|f| f.value))
            {
                out.used(part.as_str());
            }
            return out.carried();
        }
        let has_styles = terminal.channel.is_some() || terminal.source.is_some() || terminal.spans.is_some() || terminal.ansi.is_some();
        self.begin_annotations(terminal.text, out);
        if has_styles {
            begin_terminal(terminal, event.turn, out);
            own::write(own::in_blocks(fields), out);
            self.close_annotation(out);
        }
        if let Some(value) = terminal.raw_ansi {
            out.lit(if has_styles {
                ",{\"type\":\"x-qwen-ansi\",\"value\":"
            } else {
                "{\"type\":\"x-qwen-ansi\",\"value\":"
            });
            out.str(value);
            if !has_styles {
                own::write(own::in_blocks(fields), out);
            }
            self.close_annotation(out);
        }
        // The program's last words end the stream too.
        let ends = self.is_chunked() && terminal.exit_code.is_some() && fields.iter().all(|f| !f.key.is("finish_reason"));
        self.end_annotations(if ends { Usual::End } else { Usual::Other }, fields, out);
    }

    /// A terminal annotation whose text never came.
    pub(super) fn flush_waiting(&mut self, out: &mut Out) {
        if self.waiting.is_empty() {
            return;
        }
        if self.held.any {
            // It goes with the text that came behind it.
            return self.flush(None, out);
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.begin_annotations(None, out);
        out.bytes(&waiting);
        self.close_annotation(out);
        self.end_annotations(Usual::Other, &[], out);
    }

    pub(super) fn notice(&mut self, notice: &Notice<'_>, event: &Origin<'_>, fields: Fields<'_>, out: &mut Out) {
        let name = match (self.own, notice.topic) {
            (true, _) => notice.name,
            (false, Topic::Compaction) => Str::trusted("ChatCompressed"),
            (false, Topic::Cancelled) => Str::trusted("USER_CANCELLED"),
            (false, Topic::Limit) if notice.name.is("MAX_TOKENS") => Str::trusted("MAX_TOKENS"),
            (false, Topic::Retry) if notice.name.is("Retry") => Str::trusted("Retry"),
            (false, Topic::Limit) if is_about(notice.name, "turn") => Str::trusted("MaxSessionTurns"),
            (false, Topic::Limit) if is_about(notice.name, "token") => Str::trusted("SessionTokenLimitExceeded"),
            _ => return,
        };
        out.used(notice.name.as_escaped());
        if !self.own {
            out.invented("/event", "this dialect's name for the event");
        }
        let in_message = self.own && event.time.is_some();
        if in_message {
            self.begin_annotations(None, out);
        } else {
            self.begin_session(out);
        }
        out.lit("{\"type\":\"x-qwen-session-event\",\"event\":");
        out.str(name);
        match notice.message {
            Some(message) => {
                out.lit(",\"message\":");
                out.str(message);
            }
            None if self.own => {}
            None => {
                out.invented("/message", "the source says nothing for people");
                out.lit(",\"message\":\"");
                out.lit(match notice.topic {
                    Topic::Compaction => "The conversation was made shorter.",
                    Topic::Cancelled => "User cancelled the request.",
                    _ => "A limit was reached.",
                });
                out.lit("\"");
            }
        }
        out.unchecked_if(
            ",\"metrics\":",
            notice.data.filter(|data| self.own || data.shape() == Some(Shape::Object)),
        );
        if in_message {
            own::write(own::in_blocks(fields), out);
            self.close_annotation(out);
            self.end_annotations(Usual::Other, fields, out);
        } else {
            super::encode_side::session_and_turn(event, self.own, out);
            own::end_line(fields, out);
        }
    }
}

/// A display's session stands at its beginning.
fn not_session(field: &&Field<'_>) -> bool {
    !field.key.is("session_id")
}

/// Whether a notice's name has a word in it.
fn is_about(name: Str<'_>, word: &str) -> bool {
    name.as_escaped().to_ascii_lowercase().contains(word)
}

/// Writes a terminal annotation up to the members that only its line has.
fn begin_terminal(terminal: &Terminal<'_>, turn: Option<Str<'_>>, out: &mut Out) {
    out.lit("{\"type\":\"x-qwen-terminal\"");
    out.str_if(",\"channel\":", terminal.channel);
    out.str_if(",\"source\":", terminal.source);
    out.unchecked_if(",\"spans\":", terminal.spans);
    out.unchecked_if(",\"ansi\":", terminal.ansi);
    out.str_if(",\"console_level\":", terminal.level);
    out.unchecked_if(",\"exit_code\":", terminal.exit_code);
    out.str_if(",\"prompt_id\":", turn);
}

/// When the call got there, in milliseconds: where the source says more than the envelope's seconds.
fn timestamp(event: &Origin<'_>, out: &mut Out) {
    match event.time {
        Some(Time::Millis(raw)) if raw.shape() == Some(Shape::Number) => {
            out.lit(",\"timestamp\":");
            out.unchecked(raw);
        }
        Some(time @ (Time::Iso(_) | Time::Millis(_))) => {
            if let Some(millis) = time.millis() {
                out.lit(",\"timestamp\":");
                out.number(millis);
            }
        }
        _ => {}
    }
}
