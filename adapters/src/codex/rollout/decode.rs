//! Lines to events: what they are, and how turns begin and end.

use std::collections::BTreeSet;

use super::line::Line;
use crate::codec::{Cx, Decode, stray};
use crate::codex::failure::why;
use crate::event::{
    Count, Event, Fate, Fields, Kind, Limit, Notice, Origin, Outcome, OutcomeKind, Provenance, RoundEnd, Scope, Session, Sink, Topic, Usage,
};
use crate::json::{Error, Raw, Str};
use crate::store::{Child, Reading, unknown};
use crate::trace::Kept;

/// What the ledger says of a model that nothing is said with.
pub(super) const NO_REPLY: &str = "no place in the target: nothing that says a model is said in this turn";

/// Reads rollout files of all generations.
#[derive(Debug, Default)]
pub struct Decoder {
    pub(super) kept: Reading,
    /// The thread that this one was forked off.
    forked_from: String,
    /// Something was said in it.
    pub(super) spoken: bool,
    /// The program says where turns begin and end (0.169).
    pub(super) tasked: bool,
    /// A review has been asked for, whose own turn has not begun.
    pub(super) reviews: bool,
    /// The model, as the body of a JSON string.
    pub(super) model: String,
    /// Where it is said, until something is said with it.
    pub(super) unsaid_model: Kept,
    pub(super) round: Round,
    /// Calls of the turn that have no result yet.
    pub(super) open: BTreeSet<String>,
    /// Calls of the turn whose results were told by what people are shown of them.
    pub(super) shown: BTreeSet<String>,
    /// Searches that have no id.
    pub(super) searches: u64,
    /// That the conversation was made shorter is the last that was said.
    pub(super) compacted: bool,
    /// What the thread has used, as it was said last.
    total: Option<[u64; 4]>,
    /// Why the turn failed.
    error: String,
    /// What another agent says next begins a turn.
    pub(super) sent_for: bool,
}

/// A model call.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) open: bool,
    /// A call of it has its result: what the model says next is another reply.
    pub(super) resulted: bool,
}

/// What the ledger says of a line that says what another one does.
const TWICE: &str = "what people are shown of what another line says";

impl Decode for Decoder {
    fn line<'a>(&mut self, text: &'a str, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) -> Result<usize, Error> {
        if !text.starts_with('{') {
            return Ok(stray(text, sink));
        }
        let line = Line::read(text, cx)?;
        let used = line.raw.as_str().len();
        let kind = line.kind.map_or("", Str::as_escaped);
        let known = matches!(
            kind,
            "session_meta"
                | "turn_context"
                | "world_state"
                | "token_usage_record"
                | "compacted"
                | "response_item"
                | "event_msg"
                | "inter_agent_communication_metadata"
                | "state"
        );
        if !known {
            unknown(line.raw, self.kept.known(cx), sink);
            return Ok(used);
        }
        if line.payload.is_none() {
            return Err(line.missing("payload"));
        }
        match kind {
            "session_meta" => self.session_meta(&line, sink)?,
            "turn_context" => {
                self.notice(&line, kind, Topic::Status, None, sink);
                if let Some(model) = line.text("model") {
                    model.as_escaped().clone_into(&mut self.model);
                    if let Some(trace) = cx.trace {
                        trace.tell_held(&mut self.unsaid_model, Fate::Dropped, NO_REPLY);
                        trace.hold_model(&mut self.unsaid_model, model.as_escaped());
                    }
                }
            }
            "token_usage_record" => self.tokens(&line, line.get("usage"), line.get("thread_token_usage"), sink),
            "compacted" => self.compaction(&line, kind, line.text("message"), sink),
            "response_item" => self.item(&line, sink)?,
            "event_msg" => self.view(&line, sink)?,
            "inter_agent_communication_metadata" => {
                self.sent_for = line.get("trigger_turn").and_then(Raw::bool) == Some(true);
                self.notice(&line, kind, Topic::Other, None, sink);
            }
            _ => self.notice(&line, kind, Topic::Other, None, sink),
        }
        Ok(used)
    }

    fn finish<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.end_turn(cx, sink);
        if let Some(trace) = cx.trace {
            trace.tell_held(&mut self.unsaid_model, Fate::Dropped, NO_REPLY);
        }
    }

    fn next_session(&mut self, _to: &str) {
        self.kept.next_session();
        *self = Self {
            kept: std::mem::take(&mut self.kept),
            ..Self::default()
        };
    }

    fn subagent(&mut self, of: &Child) {
        self.kept.of_subagent(of);
    }
}

impl Decoder {
    /// Where a line belongs.
    pub(super) fn origin<'a>(&self, line: &Line<'a>) -> Origin<'a> {
        let origin = Origin {
            session: self.kept.known(&line.cx),
            turn: line.turn(),
            time: line.time,
            ..Origin::default()
        };
        self.kept.beside(origin, &line.cx)
    }

    /// What the line says.
    pub(super) fn tell<'a>(&self, line: &Line<'a>, kind: Kind<'a>, sink: &mut dyn Sink<'a>) {
        line.took();
        self.tell_with(line, kind, line.fields(), sink);
    }

    /// What the line says too.
    pub(super) fn tell_with<'a>(&self, line: &Line<'a>, kind: Kind<'a>, fields: Fields<'a>, sink: &mut dyn Sink<'a>) {
        let origin = self.origin(line);
        sink.event(&Event { origin, kind, fields });
    }

    pub(super) fn notice<'a>(&self, line: &Line<'a>, name: &str, topic: Topic, message: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let notice = line.cx.keep(Notice {
            name: line.cx.text(name),
            topic,
            message,
            data: None,
        });
        self.tell(line, Kind::Notice(notice), sink);
    }

    /// A line that says what another one does.
    pub(super) fn said_twice<'a>(&self, line: &Line<'a>, sink: &mut dyn Sink<'a>) {
        if let Some(trace) = line.cx.trace {
            trace.merged(TWICE);
        }
        self.notice(line, line.word.as_escaped(), Topic::Status, None, sink);
    }

    /// The conversation was made shorter, which several lines say.
    pub(super) fn compaction<'a>(&mut self, line: &Line<'a>, name: &str, summary: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let again = std::mem::replace(&mut self.compacted, true);
        if again && summary.is_none_or(|summary| summary.is_empty()) {
            return self.said_twice(line, sink);
        }
        self.notice(line, name, Topic::Compaction, summary, sink);
    }

    fn session_meta<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let id = line.need("id")?;
        let cx = &line.cx;
        // A thread that was forked off another one may say whose words come first.
        if !self.spoken && !self.forked_from.is_empty() && id.as_escaped() == self.forked_from {
            self.notice(line, "session_meta", Topic::Other, None, sink);
            return Ok(());
        }
        let session = self.kept.session(Some(id), true, cx);
        if session == self.kept.known(cx) {
            self.end_turn(cx, sink);
            self.total = None;
            self.spoken = false;
            self.tasked = false;
            let from = line.text("forked_from_id").unwrap_or_default();
            from.as_escaped().clone_into(&mut self.forked_from);
        }
        let made_for = line
            .get("base_instructions")
            .and_then(|given| given.get("provenance")?.get("model")?.string());
        let facts = cx.keep(Session {
            cwd: line.text("cwd"),
            model: made_for,
            version: line.text("cli_version"),
            resumed: line.get("forked_from_id").is_some(),
            ..Session::default()
        });
        line.took();
        let origin = Origin {
            session,
            time: line.time,
            ..Origin::default()
        };
        sink.event(&Event {
            origin: self.kept.beside(origin, cx),
            kind: Kind::Session(facts),
            fields: line.fields(),
        });
        Ok(())
    }

    /// Ends the turn of which the file does not say how it ended, if one is open.
    pub(super) fn end_turn<'a>(&mut self, cx: &Cx<'a>, sink: &mut dyn Sink<'a>) {
        self.kept.end_turn(cx, sink);
        self.begin();
    }

    /// Nothing of a turn is known.
    fn begin(&mut self) {
        self.round = Round::default();
        self.open.clear();
        self.shown.clear();
        self.error.clear();
    }

    /// The tokens of a model call, which are said once or several times, with those of the thread so far: where these have not grown
    /// nothing new is said.
    fn tokens<'a>(&mut self, line: &Line<'a>, last: Option<Raw<'a>>, total: Option<Raw<'a>>, sink: &mut dyn Sink<'a>) {
        let name = if line.word.is_empty() { "token_usage_record" } else { "token_count" };
        let (Some(last), Some(total)) = (last, total) else {
            return self.notice(line, name, Topic::Limit, None, sink);
        };
        let sum =
            ["input_tokens", "cached_input_tokens", "output_tokens", "total_tokens"].map(|name| total.get(name).and_then(Raw::u64).unwrap_or(0));
        let told = self.total.replace(sum) == Some(sum);
        if told || !self.round.open && !self.round.resulted {
            return self.said_twice(line, sink);
        }
        self.round = Round::default();
        let usage = usage(last);
        if self.kept.is_main() {
            self.kept.turn.used(&usage);
        }
        let end = line.cx.keep(RoundEnd {
            usage: Some(usage),
            ..RoundEnd::PLAIN
        });
        self.tell(line, Kind::RoundEnd(end), sink);
    }

    /// What people are shown, and what the program says of itself.
    fn view<'a>(&mut self, line: &Line<'a>, sink: &mut dyn Sink<'a>) -> Result<(), Error> {
        let name = line.need("type")?.unescape();
        match &*name {
            "task_started" | "turn_started" => {
                if !std::mem::take(&mut self.reviews) {
                    self.end_turn(&line.cx, sink);
                }
                self.tasked = true;
                self.notice(line, &name, Topic::Status, None, sink);
            }
            "task_complete" | "turn_complete" => {
                let error = line
                    .get("error")
                    .and_then(|error| error.string().or_else(|| error.get("message")?.string()));
                self.completed(line, None, error, sink);
            }
            "turn_aborted" => {
                // What a goal may cost is used up; every other reason is the user's.
                let kind = match line.text("reason").map(Str::as_escaped) {
                    Some("budget_limited") => OutcomeKind::Limit(Limit::Budget),
                    _ => OutcomeKind::Cancelled,
                };
                self.completed(line, Some(kind), None, sink);
            }
            "token_count" => {
                let info = line.get("info");
                let of = |name: &str| info.and_then(|info| info.get(name)).filter(|usage| !usage.is_null());
                self.tokens(line, of("last_token_usage"), of("total_token_usage"), sink);
            }
            "item_completed" => self.shown_item(line, sink)?,
            "entered_review_mode" => self.review(line, line.text("user_facing_hint"), sink),
            "user_message"
            | "agent_message"
            | "agent_reasoning"
            | "agent_reasoning_raw_content"
            | "agent_reasoning_section_break"
            | "exec_command_begin"
            | "exec_command_end"
            | "patch_apply_begin"
            | "patch_apply_end"
            | "mcp_tool_call_begin"
            | "mcp_tool_call_end"
            | "web_search_begin"
            | "web_search_end"
            | "view_image_tool_call"
            | "item_started"
            | "plan_update" => self.said_twice(line, sink),
            "error" => {
                let message = line.need("message")?;
                self.kept.turn.failed(message);
                message.as_escaped().clone_into(&mut self.error);
                self.notice(line, &name, Topic::Other, Some(message), sink);
                self.kept.turn.keeps(message, &line.cx);
            }
            "stream_error" => self.notice(line, &name, Topic::Retry, line.text("message"), sink),
            "thread_rolled_back" => {
                if let Some(trace) = line.cx.trace {
                    let note = "the last turns were taken back: what was said in them is read, and the program does not go on with it";
                    trace.note(Fate::Merged, "/payload/type", note);
                }
                self.notice(line, &name, Topic::Other, None, sink);
            }
            "context_compacted" => self.compaction(line, &name, None, sink),
            "warning"
            | "deprecation_notice"
            | "model_reroute"
            | "thread_settings_applied"
            | "thread_name_updated"
            | "exited_review_mode"
            | "undo_started"
            | "undo_completed"
            | "turn_diff"
            | "background_event"
            | "session_configured"
            | "mcp_startup_update"
            | "mcp_startup_complete"
            | "thread_goal_updated" => {
                self.notice(line, &name, Topic::Status, line.text("message"), sink);
            }
            _ => self.tell_with(line, Kind::Unknown(line.raw), &[], sink),
        }
        Ok(())
    }

    /// The turn is over, as the file says.
    fn completed<'a>(&mut self, line: &Line<'a>, kind: Option<OutcomeKind>, error: Option<Str<'a>>, sink: &mut dyn Sink<'a>) {
        let cx = &line.cx;
        let worked_out = if self.kept.is_main() { self.kept.turn.outcome(cx) } else { None };
        let failed = || match worked_out.and_then(|turn| turn.error) {
            Some(error) if error.as_escaped() == self.error => error,
            _ => Str::trusted(cx.arena.alloc_str(&self.error)),
        };
        let error = error.or_else(|| (!self.error.is_empty()).then(failed));
        // A task in which nothing was asked and nothing went wrong is no turn: the program was busy with itself.
        if worked_out.is_none() && (error.is_none() || !self.kept.is_main()) {
            self.begin();
            return self.notice(line, line.word.as_escaped(), Topic::Status, None, sink);
        }
        let kind = kind.unwrap_or_else(|| error.map_or(OutcomeKind::Success, |error| why(error.as_escaped())));
        let outcome = cx.keep(Outcome {
            text: line.text("last_agent_message"),
            error: error.filter(|_| kind != OutcomeKind::Success),
            word: line.text("reason"),
            duration_ms: line.get("duration_ms").filter(|ms| ms.u64().is_some()),
            usage: worked_out.and_then(|turn| turn.usage).map(|usage| Usage {
                provenance: Provenance::Derived,
                ..usage
            }),
            ..Outcome::new(kind)
        });
        self.begin();
        self.tell(line, Kind::Outcome(outcome), sink);
        self.kept.turn.told(outcome, cx);
    }
}

/// One model call's.
fn usage(last: Raw<'_>) -> Usage<'_> {
    let count = |name| last.get(name).and_then(Count::read);
    Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        reasoning: count("reasoning_output_tokens"),
        cache_read: count("cached_input_tokens"),
        cache_write: count("cache_write_input_tokens"),
        total: count("total_tokens"),
        inclusive: true,
        scope: Scope::Round,
        raw: Some(last),
        ..Usage::default()
    }
}
