//! Writes what the `qwen` program writes: docs/qwen-code.md.

mod control;
mod init;
mod input;
mod notice;
mod outcome;
mod pen;
mod thread;

use std::collections::BTreeSet;

use super::WORDS;
use super::decode::turn::tells_end;
use crate::answer::Answer;
use crate::blocks::{MESSAGE, Writer};
use crate::codec::{Dialect, Encode, Layout, Mode, Style, TellsEnd, Tools, Want};
use crate::event::{At, Block, Content, Counted, Event, Input, Kind, Prompt, PromptSource, ResultStatus, Session, ToolResult, Topic};
use crate::json::{Out, Str};
use crate::seen::Seen;
use crate::threads::Threads;
use init::Facts;
use outcome::{Spent, Turn};
use pen::Pen;
use thread::Thread;

/// Writes Qwen Code's lines.
#[derive(Debug)]
pub struct Encoder {
    mode: Mode,
    core: Core,
    /// The main thread, and one for each subagent.
    threads: Threads<Thread>,
    /// For `text`.
    answer: Answer,
}

/// What the threads share.
#[derive(Debug)]
struct Core {
    /// The events come from this dialect: their fields are written back, and replies as they come.
    own: bool,
    /// The events are an agent's of ours: [`Style::agent`].
    agent: bool,
    /// Pieces are written beside the messages.
    partial: bool,
    writer: Blocks,
    pen: Pen,
    facts: Facts,
    turn: Turn,
    spent: Spent,
    /// The ids of messages: no two have the same.
    messages: Seen<4096>,
    /// The program said why it ends; the outcome is still to come.
    fatal: Option<String>,
    /// The numbers of subagents that may hold a message.
    holding: BTreeSet<u64>,
}

/// The shared writer of content blocks.
#[derive(Clone, Copy)]
struct Blocks(Writer);

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("own", &self.0.own).finish()
    }
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        let own = style.is_own(Dialect::QwenCode);
        let core = Core {
            own,
            agent: style.agent,
            partial: style.partial && style.mode.layout == Layout::Lines,
            writer: Blocks(Writer { words: &WORDS, own }),
            pen: Pen::new(style.mode.layout == Layout::Document, own, style.at),
            facts: Facts::default(),
            turn: Turn::default(),
            spent: Spent::default(),
            messages: Seen::default(),
            fatal: None,
            holding: BTreeSet::new(),
        };
        Self {
            mode: style.mode,
            core,
            threads: Threads::default(),
            answer: Answer::default(),
        }
    }

    /// The thread that an event belongs to, and what the threads share.
    #[inline]
    fn at(&mut self, event: &Event<'_>) -> (&mut Thread, &mut Core) {
        let thread = match event.origin.parent.map(Str::as_escaped) {
            None => &mut self.threads.main,
            Some(parent) => self.threads.subagent(parent, |number| Thread::of(parent, number)),
        };
        (thread, &mut self.core)
    }

    /// Writes what is held, so that what follows stands behind it. A message whose pieces are still coming stays.
    fn flush(&mut self, out: &mut Out) {
        self.threads.main.flush(&mut self.core, out);
        for number in std::mem::take(&mut self.core.holding) {
            if let Some(thread) = self.threads.numbered(number) {
                thread.flush(&mut self.core, out);
                if thread.holds() {
                    self.core.holding.insert(number);
                }
            }
        }
    }

    /// `text`: nothing but the answer.
    fn plain(&mut self, event: &Event<'_>, out: &mut Out) {
        match event.kind {
            Kind::RoundStart(_) => self.answer.pause(),
            Kind::Reply(reply) if event.origin.parent.is_none() => {
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => self.answer.say(*text, out),
                        _ => self.answer.pause(),
                    }
                }
            }
            // The program writes errors to stderr.
            Kind::Outcome(outcome) if outcome.is_error => self.answer.lose("a turn that failed prints no answer", out),
            Kind::Outcome(outcome) => {
                self.answer.print(outcome.text, out);
                out.lit("\n");
            }
            _ => {}
        }
    }

    fn tool_result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, out: &mut Out) {
        let (thread, core) = self.at(event);
        core.begin_turn(event, out);
        thread.result(core, event, out);
        core.pen.open("user", out);
        let id = core.pen.id_of_result(event.origin.id);
        core.pen.envelope(id, event.origin.parent, out);
        out.lit(",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":");
        out.str(result.call);
        let is_error = result.is_error.unwrap_or(result.status != ResultStatus::Success);
        if result.is_error.is_some() || !core.own {
            out.lit(if is_error { ",\"is_error\":true" } else { ",\"is_error\":false" });
            if result.is_error.is_none() {
                out.invented("/message/content/0/is_error", "told from how the call went");
            }
        }
        out.lit(",\"content\":");
        if core.own {
            core.writer.0.content(out, result.content);
            for field in result.fields {
                pen::member(field, out);
            }
        } else {
            // The program knows results as one text.
            out.lit("\"");
            result.content.as_one().for_each(|text| out.body(text));
            out.lit("\"");
        }
        out.lit("}]");
        core.writer.0.fields(out, event.fields, At::Part(MESSAGE));
        out.lit("}");
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
        if event.origin.parent.is_none() {
            // The subagent that ran for this call is done.
            if let Some(mut thread) = self.threads.end(result.call.as_escaped()) {
                thread.flush(&mut self.core, out);
            }
        }
    }

    fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>, out: &mut Out) {
        // The program does not say again what its host said.
        if !self.core.own && matches!(prompt.source, PromptSource::Host | PromptSource::Echo) {
            return;
        }
        let (thread, core) = self.at(event);
        core.begin_turn(event, out);
        thread.flush(core, out);
        core.pen.open("user", out);
        core.pen.envelope(event.origin.id, event.origin.parent, out);
        out.lit(",\"message\":{\"role\":\"user\",\"content\":");
        core.content(prompt.content, out);
        core.writer.0.fields(out, event.fields, At::Part(MESSAGE));
        out.lit("}");
        core.writer.0.fields(out, event.fields, At::Line);
        core.pen.close(out);
    }

    fn session(&mut self, event: &Event<'_>, session: &Session<'_>, out: &mut Out) {
        self.flush(out);
        let core = &mut self.core;
        let changed = core.facts.keep(session, event, &core.writer, core.agent, out);
        if core.own || (session.opens_turn && (changed || !core.turn.init)) {
            core.init(out);
        } else if session.opens_turn {
            core.facts.said(out);
            out.merged("the facts of the session were said already");
        } else {
            out.carried();
        }
    }
}

impl Core {
    /// Foreign turns that begin without the session's facts get those that are known.
    #[inline]
    fn begin_turn(&mut self, event: &Event<'_>, out: &mut Out) {
        if !self.turn.init && !self.own && event.origin.parent.is_none() {
            self.missing_init(out);
        }
    }

    /// Content of a message in the user's role: text, or blocks. Of a foreign one only text has a place.
    fn content(&self, content: Content<'_>, out: &mut Out) {
        match content {
            Content::Blocks(blocks) if !self.own => {
                out.lit("[");
                let mut first = true;
                for block in blocks.iter().filter(|block| matches!(block, Block::Text { .. })) {
                    if !std::mem::take(&mut first) {
                        out.lit(",");
                    }
                    self.writer.0.block(out, block);
                }
                out.lit("]");
            }
            content => self.writer.0.content(out, content),
        }
    }
}

/// What is said of tokens.
const COUNTED: Counted = Counted::WITH_INPUT.without_reasoning();

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        COUNTED
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        tells_end(result, "/message/content/0/content")
    }

    fn want(&self) -> Want {
        match self.mode.layout {
            Layout::Text => Want::SNAPSHOTS.with_tools(Tools::Nothing),
            _ if self.core.partial && self.core.own => Want::BOTH.with_subagents().with_retraction(),
            // A foreign call's arguments go over in one piece, which is made of the whole call.
            _ if self.core.partial => Want::BOTH.with_subagents().with_retraction().without_inputs(),
            _ => Want::SNAPSHOTS.with_subagents().with_results_last().with_questions(),
        }
    }

    #[inline]
    fn takes_usage(&self) -> bool {
        self.mode.layout != Layout::Text
    }

    fn takes_fields(&self) -> bool {
        self.core.own
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        // A host's line may have named another session since.
        let is_told = session.is_none_or(|id| id.as_escaped() == self.core.pen.session_now());
        !self.core.own && matches!(topic, Topic::Thinking | Topic::Status) && is_told
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        // What a program that has ended says no more is another one's.
        if self.core.fatal.is_some() && matches!(event.kind, Kind::RoundStart(_) | Kind::Prompt(_)) {
            self.last_words(out);
        }
        self.core.pen.session(event.origin.session);
        if self.mode.layout == Layout::Text {
            return self.plain(event, out);
        }
        // A subagent's call stands before what it says.
        let is_new = |call: Str<'_>| !self.threads.has(call.as_escaped());
        let tells = event.kind.is_conversation() || matches!(event.kind, Kind::Notice(_));
        if !self.core.own && tells && event.origin.parent.is_some_and(is_new) {
            self.flush(out);
        }
        match event.kind {
            Kind::Delta(delta) => {
                let (thread, core) = self.at(event);
                thread.delta(core, event, &delta, out);
            }
            Kind::BlockStart(start) => {
                let (thread, core) = self.at(event);
                core.begin_turn(event, out);
                thread.block_start(core, event, &start, out);
            }
            Kind::BlockStop(_) => {
                let (thread, core) = self.at(event);
                thread.block_stop(core, event, out);
            }
            Kind::RoundStart(start) => {
                let (thread, core) = self.at(event);
                core.begin_turn(event, out);
                thread.round_start(core, event, start, out);
            }
            Kind::RoundStop(stop) => {
                let (thread, core) = self.at(event);
                thread.round_stop(core, event, stop, out);
            }
            Kind::RoundEnd(end) => {
                let (thread, core) = self.at(event);
                thread.round_end(core, event, end, out);
            }
            Kind::Reply(reply) => {
                let (thread, core) = self.at(event);
                core.begin_turn(event, out);
                thread.reply(core, event, reply, out);
                // What is held of it goes out with the thread's.
                event.origin.parent.into_iter().for_each(|parent| out.beside(parent.as_escaped()));
            }
            Kind::ToolResult(result) => self.tool_result(event, result, out),
            Kind::Prompt(prompt) => self.prompt(event, prompt, out),
            Kind::Session(session) => self.session(event, session, out),
            Kind::Notice(notice) => self.notice(event, notice, out),
            Kind::ToolProgress(progress) => self.progress(event, progress, out),
            Kind::Request(request) => self.request(event, request, out),
            Kind::Response(response) => self.core.response(response, event.fields, out),
            Kind::Withdraw(withdraw) => self.core.withdraw(&withdraw, event.fields, out),
            Kind::Outcome(outcome) => self.outcome(event, outcome, out),
            Kind::Fatal(fatal) => {
                // What a program before this one ended with is another turn's.
                self.last_words(out);
                out.used(fatal.message.as_escaped());
                out.carried();
                self.core.fatal = Some(fatal.message.as_escaped().to_owned());
            }
            Kind::Noise(text) if self.core.own && self.mode.layout == Layout::Lines => out.copied_line(text),
            Kind::Unknown(raw) if self.core.own || self.core.agent => self.core.pen.line(raw, out),
            Kind::Noise(_) | Kind::Unknown(_) | Kind::Terminal(_) | Kind::Command(_) | Kind::Hint(_) | Kind::Heartbeat(_) | Kind::CancelResult(_) => {
            }
        }
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        if self.mode.layout == Layout::Lines {
            self.core.input(input, out);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if self.mode.layout == Layout::Text {
            return;
        }
        for thread in self.threads.all() {
            thread.stop(&mut self.core, out);
        }
        self.last_words(out);
        self.core.facts.unsaid(out);
        self.core.pen.finish(out);
    }
}
