//! What is said in a run: prompts, rounds, texts, thoughts, calls and results, of the agent and of its subagents.

use super::encode::{Encoder, ours};
use super::{AGAIN, ROUND, parts, usage};
use crate::event::{BlockHead, BlockStart, Event, Piece, Prompt, PromptSource, ResultStatus, RoundEnd, RoundStart, ToolCall, ToolResult, Usage};
use crate::json::{Cursor, Out, Str};

/// The agent, or a subagent.
#[derive(Debug, Default)]
pub(super) struct Speaker {
    /// The subagent's id, escaped; empty for the agent.
    pub(super) id: String,
    /// The source's word for it, escaped, and the call that it works for.
    agent: String,
    call: String,
    /// The number of its round; 0 where none goes on.
    round: u64,
    /// The id of the round's message, escaped; empty until one is needed, where the source names none.
    message: String,
    /// The source does not name it.
    is_made: bool,
    model: String,
    open: Option<Open>,
}

/// What comes in pieces.
#[derive(Debug)]
struct Open {
    what: What,
    /// Its id, escaped; empty until its first piece.
    id: String,
    /// The arguments of a call, escaped, and where their pieces end.
    input: String,
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Text,
    Thought,
    Call,
    Other,
}

const IDS: &str = "the source does not name it";

impl Encoder {
    /// Who says something. A subagent that says something for the first time is announced.
    pub(super) fn speaker(&mut self, parent: Option<Str<'_>>, event: &Event<'_>, out: &mut Out) -> &mut Speaker {
        self.need_run(event.origin.turn, out);
        let parent = parent.filter(|call| !call.is_empty());
        if let Some(call) = parent {
            out.beside(call.as_escaped());
            if self.thread(parent).id.is_empty() {
                self.announce(call, event, out);
            }
            let agent = event.origin.agent.and_then(|agent| agent.id).filter(|_| out.traced());
            if let Some(agent) = agent.filter(|id| self.thread(parent).agent == id.as_escaped()) {
                out.beside(agent.as_escaped());
            }
        }
        self.thread(parent)
    }

    /// The same of one that is known.
    fn thread(&mut self, parent: Option<Str<'_>>) -> &mut Speaker {
        let threads = &mut self.run.get_or_insert_default().threads;
        match parent.filter(|call| !call.is_empty()) {
            None => &mut threads.main,
            Some(call) => threads.subagent(call.as_escaped(), |_| Speaker::default()),
        }
    }

    fn announce(&mut self, call: Str<'_>, event: &Event<'_>, out: &mut Out) {
        let agent = event.origin.agent;
        let run = self.run.get_or_insert_default();
        let wanted = agent.and_then(|agent| agent.id).filter(|id| !id.is_empty()).unwrap_or(call);
        let id = run.messages.named(wanted.as_escaped());
        let written = run.calls.called(call.as_escaped()).map(str::to_owned);
        let owner = run.owners.get(call.as_escaped()).cloned();
        let parent = owner.map(|owner| self.thread(Some(Str::trusted(&owner))).id.clone());
        self.begin("SUBAGENT_STARTED", &id, out);
        out.lit(",\"name\":");
        match agent.and_then(|agent| agent.name) {
            Some(name) => out.str(name),
            None => {
                out.lit("\"subagent\"");
                out.invented("/name", "the source does not say what the subagent is called");
            }
        }
        out.str_if(",\"description\":", agent.and_then(|agent| agent.task));
        if let Some(parent) = parent.filter(|parent| !parent.is_empty()) {
            out.lit(",\"parentSubagentRunId\":\"");
            out.lit(&parent);
            out.lit("\"");
        }
        out.lit(",\"parentToolCallId\":");
        match written {
            Some(written) => out.str(Str::trusted(&written)),
            None => out.str(call),
        }
        out.lit("}\n");
        let thread = self.thread(Some(call));
        thread.id = id;
        wanted.as_escaped().clone_into(&mut thread.agent);
        call.as_escaped().clone_into(&mut thread.call);
    }

    /// The subagent of a call is done, and with it those that work for its own calls.
    pub(super) fn end_subagent(&mut self, call: &str, out: &mut Out) {
        let run = self.run.get_or_insert_default();
        let Some(mut thread) = run.threads.end(call).filter(|thread| !thread.id.is_empty()) else {
            return;
        };
        let mut inner = run.owned.remove(call).unwrap_or_default();
        inner.sort_unstable();
        for call in inner {
            self.end_subagent(&call, out);
        }
        self.close(&mut thread, out);
        self.begin("SUBAGENT_FINISHED", &thread.id, out);
        out.lit("}\n");
    }

    /// All subagents are done.
    pub(super) fn end_subagents(&mut self, out: &mut Out) {
        let run = self.run.get_or_insert_default();
        let calls: Vec<String> = run
            .threads
            .all()
            .map(|thread| thread.call.clone())
            .filter(|call| !call.is_empty())
            .collect();
        for call in calls.iter().rev() {
            self.end_subagent(call, out);
        }
    }

    pub(super) fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        let agent = self.speaker(event.origin.parent, event, out).id.clone();
        let is_said = prompt.content.texts().any(|text| !text.is_empty());
        if !is_said {
            return out.carried();
        }
        let id = self.message("prompt", out);
        self.begin("TEXT_MESSAGE_START", &agent, out);
        message_id(&id, out);
        out.lit(if prompt.source == PromptSource::Agent {
            ",\"role\":\"system\"}\n"
        } else {
            ",\"role\":\"user\"}\n"
        });
        for text in prompt.content.texts().filter(|text| !text.is_empty()) {
            self.content("TEXT_MESSAGE_CONTENT", &id, &agent, text, out);
        }
        self.begin("TEXT_MESSAGE_END", &agent, out);
        message_id(&id, out);
        out.lit("}\n");
    }

    /// A text of the agent's that no round has.
    pub(super) fn say(&mut self, text: Str<'_>, out: &mut Out) {
        let id = self.message("message", out);
        self.begin("TEXT_MESSAGE_START", "", out);
        message_id(&id, out);
        out.lit(",\"role\":\"assistant\"}\n");
        self.content("TEXT_MESSAGE_CONTENT", &id, "", text, out);
        self.begin("TEXT_MESSAGE_END", "", out);
        message_id(&id, out);
        out.lit("}\n");
    }

    pub(super) fn round_start(&mut self, event: &Event<'_>, start: &RoundStart<'_>, out: &mut Out) {
        self.speaker(event.origin.parent, event, out);
        self.end_step(event.origin.parent, &RoundEnd::PLAIN, out);
        let run = self.run.get_or_insert_default();
        run.rounds += 1;
        let round = run.rounds;
        let thread = self.thread(event.origin.parent);
        thread.round = round;
        thread.is_made = false;
        start.id.unwrap_or_default().as_escaped().clone_into(&mut thread.message);
        start.model.unwrap_or_default().as_escaped().clone_into(&mut thread.model);
        let agent = thread.id.clone();
        self.begin("STEP_STARTED", &agent, out);
        step_name(round, out);
        out.invented("/stepName", "rounds are numbered");
        ours(out, |out| {
            out.str_if(",\"messageId\":", start.id);
            out.str_if(",\"model\":", start.model);
        });
        out.lit("}\n");
    }

    pub(super) fn round_end(&mut self, event: &Event<'_>, end: &RoundEnd<'_>, out: &mut Out) {
        self.end_step(event.origin.parent, end, out);
        out.carried();
    }

    fn end_step(&mut self, parent: Option<Str<'_>>, end: &RoundEnd<'_>, out: &mut Out) {
        let mut thread = std::mem::take(self.thread(parent));
        self.close(&mut thread, out);
        if thread.round != 0 {
            self.begin("STEP_FINISHED", &thread.id, out);
            step_name(thread.round, out);
            ours(out, |out| {
                out.str_if(",\"stopReason\":", end.stop.map(|stop| stop.word));
                if let Some(usage) = &end.usage {
                    out.lit(",\"usage\":");
                    usage::write(usage, None, out);
                }
            });
            out.lit("}\n");
            if let (Some(usage), Some(run)) = (&end.usage, &mut self.run) {
                let mut sum = run.models.remove(&thread.model);
                // Sums count what the cache gave with the input.
                Usage::add(&mut sum, &usage.with_cache());
                run.models.extend(sum.map(|sum| (thread.model.clone(), sum)));
            }
        }
        thread.round = 0;
        *self.thread(parent) = thread;
    }

    pub(super) fn block_start(&mut self, event: &Event<'_>, start: BlockStart<'_>, out: &mut Out) {
        let parent = event.origin.parent;
        self.speaker(parent, event, out);
        let mut thread = std::mem::take(self.thread(parent));
        self.close(&mut thread, out);
        let mut open = Open {
            what: What::Other,
            id: String::new(),
            input: String::new(),
            ends: Vec::new(),
        };
        match start.head {
            BlockHead::Text => open.what = What::Text,
            BlockHead::Thinking => open.what = What::Thought,
            BlockHead::Call { id, name } => {
                open.what = What::Call;
                let message = self.round_message(&mut thread, out);
                open.id = self.call_id(id, parent, out);
                self.begin("TOOL_CALL_START", &thread.id, out);
                call_id(&open.id, out);
                out.lit(",\"toolCallName\":");
                out.str(name);
                out.used(id.as_escaped());
                if thread.is_made {
                    out.invented("/parentMessageId", IDS);
                }
                out.lit(",\"parentMessageId\":\"");
                out.lit(&message);
                out.lit("\"}\n");
            }
            BlockHead::Redacted { data } => {
                let id = self.message("reasoning", out);
                self.simple("REASONING_START", &id, &thread.id, out);
                self.seal(&id, &thread.id, data, out);
                self.simple("REASONING_END", &id, &thread.id, out);
            }
            BlockHead::Other { .. } => {}
        }
        if matches!(open.what, What::Text | What::Thought) {
            out.carried();
        }
        thread.open = Some(open);
        *self.thread(parent) = thread;
    }

    /// A piece of what is open.
    pub(super) fn piece(&mut self, parent: Option<Str<'_>>, piece: Piece<'_>, out: &mut Out) {
        let thread = self.thread(parent);
        let Some(open) = &mut thread.open else { return };
        match piece {
            Piece::Input(text) => {
                open.input.push_str(text.as_escaped());
                open.ends.push(open.input.len());
                return out.used(text.as_escaped());
            }
            Piece::Text(text) | Piece::Thinking(text) if text.is_empty() => return out.used(text.as_escaped()),
            Piece::Text(_) | Piece::Thinking(_) | Piece::Signature(_) => {}
            Piece::Subject(_) | Piece::Other(_) => return,
        }
        let is_main = thread.id.is_empty();
        let mut thread = std::mem::take(thread);
        self.need_begun(&mut thread, out);
        let id = thread.open.as_ref().map_or("", |open| open.id.as_str());
        match piece {
            Piece::Text(text) => {
                self.content("TEXT_MESSAGE_CONTENT", id, &thread.id, text, out);
                if let Some(run) = self.run.as_mut().filter(|_| is_main) {
                    run.said.push_str(text.as_escaped());
                }
            }
            Piece::Thinking(text) => self.content("REASONING_MESSAGE_CONTENT", id, &thread.id, text, out),
            Piece::Signature(data) => self.seal(id, &thread.id, data, out),
            _ => {}
        }
        *self.thread(parent) = thread;
    }

    pub(super) fn block_stop(&mut self, parent: Option<Str<'_>>, out: &mut Out) {
        let mut thread = std::mem::take(self.thread(parent));
        self.close(&mut thread, out);
        *self.thread(parent) = thread;
        out.carried();
    }

    /// A text or a thought begins with its first piece: there are none without.
    fn need_begun(&mut self, thread: &mut Speaker, out: &mut Out) {
        let Some(open) = thread.open.as_ref().filter(|open| open.id.is_empty()) else {
            return;
        };
        let is_text = open.what == What::Text;
        let message = if is_text {
            self.round_message(thread, out)
        } else {
            "reasoning".to_owned()
        };
        let id = if is_text { self.fresh(&message) } else { self.message(&message, out) };
        if is_text && id != message {
            out.invented("/messageId", "another message of the run has its id");
        }
        if is_text {
            self.begin("TEXT_MESSAGE_START", &thread.id, out);
            message_id(&id, out);
            out.lit(",\"role\":\"assistant\"}\n");
        } else {
            self.simple("REASONING_START", &id, &thread.id, out);
            self.begin("REASONING_MESSAGE_START", &thread.id, out);
            message_id(&id, out);
            out.lit(",\"role\":\"reasoning\"}\n");
        }
        if let Some(open) = &mut thread.open {
            open.id = id;
        }
    }

    /// Ends what is open.
    fn close(&self, thread: &mut Speaker, out: &mut Out) {
        let Some(open) = thread.open.take().filter(|open| !open.id.is_empty()) else {
            return;
        };
        match open.what {
            What::Text => self.simple("TEXT_MESSAGE_END", &open.id, &thread.id, out),
            What::Thought => {
                self.simple("REASONING_MESSAGE_END", &open.id, &thread.id, out);
                self.simple("REASONING_END", &open.id, &thread.id, out);
            }
            What::Call => {
                self.arguments(&open, &thread.id, out);
                self.begin("TOOL_CALL_END", &thread.id, out);
                call_id(&open.id, out);
                out.lit("}\n");
            }
            What::Other => {}
        }
    }

    /// The arguments of a call. Those that are no JSON go over as a text that is.
    fn arguments(&self, open: &Open, agent: &str, out: &mut Out) {
        let text = Str::trusted(&open.input).unescape();
        if text.trim().is_empty() {
            return;
        }
        let mut at = Cursor::new(&text);
        let is_sound = at.raw().is_ok() && at.at_end();
        let mut line = |write: &dyn Fn(&mut Out)| {
            self.begin("TOOL_CALL_ARGS", agent, out);
            call_id(&open.id, out);
            out.lit(",\"delta\":\"");
            write(out);
            out.lit("\"}\n");
        };
        if !is_sound {
            return line(&|out| out.json_in_string(&format!("\"{}\"", open.input)));
        }
        let mut from = 0;
        for end in open.ends.iter().copied() {
            if end > from {
                line(&|out| out.lit(&open.input[from..end]));
            }
            from = end;
        }
    }

    pub(super) fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        let agent = self.speaker(event.origin.parent, event, out).id.clone();
        self.end_subagent(result.call.as_escaped(), out);
        let id = self.message("result", out);
        let run = self.run.get_or_insert_default();
        run.asked.remove(result.call.as_escaped());
        let written = run.calls.answered(result.call.as_escaped());
        let is_of_run = run.calls.is_given(result.call.as_escaped());
        if let Some(call) = result.of.filter(|_| !is_of_run) {
            self.call_again(&call, &agent, out);
        }
        self.begin("TOOL_CALL_RESULT", &agent, out);
        match written {
            Some(written) => call_id(&written, out),
            None => out.str_if(",\"toolCallId\":", Some(result.call)),
        }
        out.used(result.call.as_escaped());
        if let Some(name) = result.name_again() {
            out.used(name.as_escaped());
        }
        out.lit(",\"content\":");
        parts::texts(result.content, out);
        message_id(&id, out);
        out.lit(",\"role\":\"tool\"");
        ours(out, |out| {
            parts::media(result.content, out);
            match result.status {
                ResultStatus::Success => {}
                ResultStatus::Error => out.lit(",\"status\":\"error\""),
                ResultStatus::Denied => out.lit(",\"status\":\"denied\""),
                ResultStatus::Canceled => out.lit(",\"status\":\"canceled\""),
            }
        });
        out.lit("}\n");
    }

    /// A call of an earlier run, for its result: what a run tells of a call has to begin in it. Clients that have the call keep its arguments.
    fn call_again(&self, call: &ToolCall<'_>, agent: &str, out: &mut Out) {
        for kind in ["TOOL_CALL_START", "TOOL_CALL_END"] {
            self.begin(kind, agent, out);
            call_id(call.id.as_escaped(), out);
            if kind == "TOOL_CALL_START" {
                out.lit(",\"toolCallName\":");
                out.str(call.name);
            }
            ours(out, |out| {
                out.lit(",\"");
                out.lit(AGAIN);
                out.lit("\":true");
            });
            out.lit("}\n");
        }
    }

    /// The id of a message that nobody names.
    fn message(&mut self, word: &str, out: &Out) -> String {
        self.messages += 1;
        out.invented("/messageId", IDS);
        let id = format!("{word}_{}", self.messages);
        self.fresh(&id)
    }

    fn fresh(&mut self, wanted: &str) -> String {
        self.run.get_or_insert_default().messages.named(wanted)
    }

    /// The id of the message that a round is.
    fn round_message(&mut self, thread: &mut Speaker, out: &Out) -> String {
        if thread.message.is_empty() {
            self.messages += 1;
            out.invented("/messageId", IDS);
            thread.message = format!("message_{}", self.messages);
            thread.is_made = true;
        }
        thread.message.clone()
    }

    /// The id of a call. No two of a run have the same.
    fn call_id(&mut self, id: Str<'_>, parent: Option<Str<'_>>, out: &Out) -> String {
        let run = self.run.get_or_insert_default();
        let id = id.as_escaped();
        let written = run.calls.call(id).unwrap_or_else(|| id.to_owned());
        if written != id {
            out.invented("/toolCallId", "another call of the run has its id");
        }
        if let Some(parent) = parent {
            let parent = parent.as_escaped();
            run.owners.insert(id.to_owned(), parent.to_owned());
            run.owned.entry(parent.to_owned()).or_default().push(id.to_owned());
        }
        written
    }

    fn content(&self, kind: &str, id: &str, agent: &str, text: Str<'_>, out: &mut Out) {
        self.begin(kind, agent, out);
        message_id(id, out);
        out.lit(",\"delta\":");
        out.str(text);
        out.lit("}\n");
    }

    fn simple(&self, kind: &str, id: &str, agent: &str, out: &mut Out) {
        self.begin(kind, agent, out);
        message_id(id, out);
        out.lit("}\n");
    }

    /// What the model's vendor sealed a thought with.
    fn seal(&self, id: &str, agent: &str, data: Str<'_>, out: &mut Out) {
        self.begin("REASONING_ENCRYPTED_VALUE", agent, out);
        out.lit(",\"subtype\":\"message\",\"entityId\":\"");
        out.lit(id);
        out.lit("\",\"encryptedValue\":");
        out.str(data);
        out.lit("}\n");
    }
}

fn message_id(id: &str, out: &mut Out) {
    out.lit(",\"messageId\":\"");
    out.lit(id);
    out.lit("\"");
}

fn call_id(id: &str, out: &mut Out) {
    out.lit(",\"toolCallId\":\"");
    out.lit(id);
    out.lit("\"");
}

fn step_name(round: u64, out: &mut Out) {
    out.lit(",\"stepName\":\"");
    out.lit(ROUND);
    out.number(round);
    out.lit("\"");
}
