//! Writing the RFC's lines: which event becomes which line.

use super::encode_chunk::Chunks;
use super::encode_reply::Held;
use super::tasks::Tasks;
use super::teller::settled;
use super::{facts, own};
use crate::answer::Answer;
use crate::chat::{Frame, Object};
use crate::codec::{Dialect, Encode, Layout, Mode, Style, TellsEnd, Tools, Want};
use crate::event::{Block, Counted, Event, Fields, Input, Kind, Origin, Outcome, Piece, ResultStatus, Session, ToolResult, Topic, Usage};
use crate::json::{Out, Str, alike};
use crate::trace::Kept;

/// Writes `stream-json`, `stream-chunk-json` or `text`.
#[derive(Debug)]
pub struct Encoder {
    pub(super) mode: Mode,
    /// The events come from the RFC itself: what only its lines have is written back.
    pub(super) own: bool,
    /// Tools carry the RFC's own names and shapes.
    pub(super) native_tools: bool,
    pub(super) frame: Frame,
    /// The session's id, as a string's body.
    pub(super) session: String,
    /// What time it is, in a session that lives.
    now: Option<i64>,
    /// The receipt has gone out, or waits.
    begun: bool,
    /// The receipt, and where in it the time stands: while none is known it waits for the line behind it, whose time it gets.
    late: Option<(Vec<u8>, usize)>,
    /// The session that the receipt told.
    told: String,
    facts: facts::Told,
    pub(super) turn: Turn,
    /// The session's tokens before this turn, for a source whose numbers go on over turns.
    before: Usage<'static>,
    pub(super) tasks: Tasks,
    /// A terminal annotation that belongs to the next text.
    pub(super) waiting: Vec<u8>,
    pub(super) held: Held,
    pub(super) chunks: Chunks,
    /// For `text`.
    answer: Answer,
}

/// What is counted through one turn.
#[derive(Debug)]
pub(super) struct Turn {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The next `tool_calls[].index`.
    pub(super) calls: u32,
    /// The next `annotations[].index`.
    pub(super) annotations: u32,
    /// The program has ended with an error.
    fatal: bool,
    /// What its rounds have used so far: chunks say it once a turn.
    used: Option<Usage<'static>>,
    /// Where the source says it of rounds whose own lines do not.
    told: Kept,
    /// Where it says it of the others.
    said: Kept,
    /// The tokens of the round that ended last stand on none of its lines; those of any round.
    pub(super) lacks: bool,
    pub(super) unsaid: bool,
}

impl Turn {
    fn new(number: u64) -> Self {
        Self {
            number,
            calls: 0,
            annotations: 0,
            fatal: false,
            used: None,
            told: Kept::default(),
            said: Kept::default(),
            lacks: false,
            unsaid: false,
        }
    }
}

impl Encoder {
    /// At the beginning of a session.
    pub fn new(style: Style) -> Self {
        let object = if style.mode.layout == Layout::Pieces {
            Object::Chunk
        } else {
            Object::Completion
        };
        Self {
            mode: style.mode,
            own: style.source == Dialect::Qwen,
            native_tools: style.native_tools,
            frame: Frame::new(object),
            session: String::new(),
            now: None,
            begun: false,
            late: None,
            told: String::new(),
            facts: facts::Told::default(),
            turn: Turn::new(1),
            before: Usage::default(),
            tasks: Tasks::default(),
            waiting: Vec::new(),
            held: Held::default(),
            chunks: Chunks::default(),
            answer: Answer::default(),
        }
    }

    /// Takes what an event says about who and when.
    #[inline]
    pub(super) fn look(&mut self, origin: &Origin<'_>, out: &Out) {
        if let Some(session) = origin.session.filter(|s| !alike(s.as_escaped(), &self.session) && !s.is_empty()) {
            session.as_escaped().clone_into(&mut self.session);
            self.frame.set_id("chatcmpl-", session);
        }
        match (origin.time, self.now) {
            (Some(time), _) => {
                if out.traced() && time.millis().is_some() {
                    out.beside(time.source());
                }
                self.frame.set_time(time);
            }
            (None, Some(now)) => self.frame.set_millis(now),
            (None, None) => {}
        }
    }

    /// Takes the model that a line names. What Claude calls `<synthetic>` is none.
    pub(super) fn look_model(&mut self, model: Option<Str<'_>>, out: &Out) {
        if let Some(model) = model.filter(|m| !m.is_empty() && !m.as_escaped().starts_with('<')) {
            out.used(model.as_escaped());
            self.frame.set_model(model.as_escaped());
        }
    }

    /// Writes the receipt, unless it has gone out: nothing stands before it. A log of the RFC's own that has none stays as it is.
    #[inline]
    pub(super) fn begin(&mut self, out: &mut Out) {
        if !self.begun && !self.own {
            self.receipt(&Session::default(), &[], out);
        }
    }

    #[cold]
    fn receipt(&mut self, session: &Session<'_>, fields: Fields<'_>, out: &mut Out) {
        self.begun = true;
        let from = out.len();
        let time = (!self.own).then(|| self.frame.begin_late(out)).flatten();
        if time.is_none() {
            self.frame.begin(out);
        }
        self.write_receipt(session, fields, out);
        if let Some(time) = time {
            self.late = Some((out.take_from(from), time - from));
            out.promise();
            out.pin();
        }
    }

    fn write_receipt(&mut self, session: &Session<'_>, fields: Fields<'_>, out: &mut Out) {
        out.lit(match self.mode.layout {
            Layout::Pieces => "[{\"index\":0,\"delta\":{\"role\":\"assistant\"",
            _ => "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"",
        });
        own::write(own::at(self.own_fields(fields), &own::BODIES), out);
        out.lit(if self.mode.layout == Layout::Pieces {
            "},\"finish_reason\":null"
        } else {
            "},\"finish_reason\":\"stop\""
        });
        own::end_choice(self.own_fields(fields), out);
        self.told.clone_from(&self.session);
        facts::write_receipt(session, fields, self.own, self.mode, out);
        own::end_line(self.own_fields(fields), out);
    }

    /// Writes the receipt that waits before the line that was written behind `from`, or `always`.
    #[cold]
    pub(super) fn late_receipt(&mut self, from: usize, always: bool, out: &mut Out) {
        let Some((mut receipt, at)) = self.late.take_if(|_| always || out.len() > from) else {
            return;
        };
        if self.frame.time().is_empty() {
            out.invented("/created", "the source does not say when");
        } else {
            receipt.splice(at..=at, self.frame.time().bytes());
        }
        out.insert(from, &receipt);
        out.unpin();
    }

    fn session(&mut self, session: &Session<'_>, fields: Fields<'_>, out: &mut Out) {
        self.look_model(session.model, out);
        // An agent that goes over to another session while it runs says so with a receipt of its own.
        let another = session.capabilities.is_some() && self.told != self.session;
        if self.begun && !self.own && !another {
            // Later turns of the same session say it again.
            match self.facts.again(session, out) {
                true => out.merged("the receipt says it once a session"),
                false => out.carried(),
            }
            return;
        }
        if out.traced() {
            self.facts = facts::Told::of(session);
        }
        self.receipt(session, fields, out);
    }

    /// The fields of an event, if they are the RFC's own.
    pub(super) const fn own_fields<'a>(&self, fields: Fields<'a>) -> Fields<'a> {
        if self.own { fields } else { &[] }
    }

    fn outcome(&mut self, outcome: &Outcome<'_>, fields: Fields<'_>, out: &mut Out) {
        if self.turn.fatal && outcome.synthetic {
            out.merged("the program's error has ended the turn");
        } else {
            let mut usage = outcome.usage.and_then(|usage| facts::of_turn(usage, &mut self.before));
            if usage.is_none() && (self.turn.unsaid || self.mode.layout == Layout::Pieces) {
                usage = self.turn.used.take();
                out.release(&mut self.turn.told);
            }
            let outcome = Outcome { usage, ..*outcome };
            match self.mode.layout {
                Layout::Pieces => self.end_chunks(&outcome, fields, out),
                _ => self.summary(&outcome, fields, out),
            }
        }
        out.release(&mut self.turn.said);
        out.drop_held(&mut self.turn.told, "the turn says its tokens, this model call does not");
        self.tasks.clear(out);
        self.turn = Turn::new(self.turn.number + 1);
    }

    /// Whether an event goes on with the line that a waiting annotation belongs to.
    const fn goes_on(kind: &Kind<'_>) -> bool {
        matches!(kind, Kind::RoundStart(_) | Kind::BlockStart(_) | Kind::Delta(_) | Kind::Reply(_))
    }

    fn lines(&mut self, event: &Event<'_>, out: &mut Out) {
        self.look(&event.origin, out);
        let fields = self.own_fields(event.fields);
        if let Some(model) = own::model(fields) {
            self.look_model(Some(model), out);
        }
        let with_held = self.held.any && matches!(event.kind, Kind::RoundEnd(_));
        if !self.waiting.is_empty() && !Self::goes_on(&event.kind) && !with_held {
            self.flush_waiting(out);
        }
        let chunked = self.mode.layout == Layout::Pieces;
        match event.kind {
            Kind::Session(session) => self.session(session, event.fields, out),
            Kind::RoundStart(start) if chunked => self.start_round(start, fields, out),
            Kind::RoundStart(start) => {
                self.look_model(start.model, out);
                out.carried();
            }
            Kind::BlockStart(start) if chunked => self.start_block(start, out),
            Kind::Delta(delta) if chunked => self.piece(event, delta, out),
            Kind::BlockStop(stop) if chunked => self.stop_block(stop, out),
            Kind::RoundStop(stop) if chunked && self.own => self.empty_chunk(stop, fields, out),
            Kind::RoundEnd(end) => {
                if let Some(usage) = end.usage.filter(|usage| !usage.is_blank()) {
                    Usage::add(&mut self.turn.used, &usage);
                }
                if chunked {
                    self.end_round(end, fields, out);
                } else {
                    self.end_reply(end, out);
                }
            }
            Kind::Reply(reply) if !chunked => self.reply(reply, event.origin.time.is_some(), fields, out),
            Kind::ToolResult(result) => self.result(result, &event.origin, fields, out),
            Kind::ToolProgress(progress) => self.progress(progress, &event.origin, fields, out),
            // No other dialect has it: what stands beside it is the RFC's own, whoever says it.
            Kind::Terminal(terminal) => self.terminal(terminal, &event.origin, event.fields, out),
            Kind::Notice(notice) => self.notice(notice, &event.origin, fields, out),
            Kind::Outcome(outcome) => self.outcome(outcome, fields, out),
            Kind::Fatal(fatal) => {
                self.fatal(fatal, fields, out);
                self.turn.fatal = true;
            }
            Kind::Request(request) => self.request(request, event, out),
            Kind::Response(response) if self.own => self.response(response, fields, out),
            Kind::Command(result) => self.command(result, &event.origin, fields, out),
            Kind::Hint(hint) => self.hint(hint, &event.origin, fields, out),
            Kind::Heartbeat(heartbeat) => self.heartbeat(heartbeat, &event.origin, fields, out),
            Kind::CancelResult(cancel) => self.cancel(cancel, &event.origin, fields, out),
            Kind::Noise(text) if self.own => out.copied_line(text),
            Kind::Unknown(raw) if self.own => {
                out.unchecked(raw);
                out.lit("\n");
            }
            Kind::BlockStart(_)
            | Kind::Delta(_)
            | Kind::BlockStop(_)
            | Kind::RoundStop(_)
            | Kind::Reply(_)
            | Kind::Prompt(_)
            | Kind::Response(_)
            | Kind::Withdraw(_)
            | Kind::Noise(_)
            | Kind::Unknown(_) => {}
        }
    }

    /// `text`: the answer of each turn, and a line feed.
    fn plain(&mut self, event: &Event<'_>, out: &mut Out) {
        if event.origin.parent.is_some() {
            return;
        }
        match event.kind {
            Kind::RoundStart(_) => self.answer.take_back(out),
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    match block {
                        Block::Text { text, .. } => self.answer.say(*text, out),
                        // What was said before a call is no answer.
                        Block::Call(_) => self.answer.take_back(out),
                        _ => {}
                    }
                }
            }
            Kind::Outcome(outcome) => {
                let answered = self.answer.print(outcome.text, out);
                out.lit(if answered { "\n" } else { "" });
            }
            _ => {}
        }
    }
}

impl Encode for Encoder {
    fn counts_usage(&self) -> Counted {
        Counted::WITH_INPUT
    }

    fn tells_end(&self, result: &ToolResult<'_>) -> TellsEnd {
        let text = result.content.texts().next().unwrap_or_default();
        match settled(ResultStatus::Canceled, text) {
            read if read == result.status => TellsEnd::Itself,
            _ => TellsEnd::Lost("qwen has one word for calls that were refused and for those that were stopped"),
        }
    }

    fn want(&self) -> Want {
        match self.mode.layout {
            Layout::Pieces => Want::DELTAS.with_subagents(),
            Layout::Text => Want::SNAPSHOTS.with_tools(Tools::Nothing),
            _ => Want::SNAPSHOTS.with_subagents().with_results_last().with_questions(),
        }
    }

    fn now(&mut self, millis: i64) {
        self.now = Some(millis);
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>, out: &mut Out) {
        if let Kind::Delta(delta) = event.kind
            && self.repeats(event, delta, out)
        {
            return;
        }
        let from = out.len();
        if self.mode.layout == Layout::Text {
            self.plain(event, out);
        } else if event.origin.parent.is_some() {
            self.tasks.watch(event, out);
        } else {
            self.lines(event, out);
        }
        // It may have been made for this very event.
        if self.late.is_some() {
            self.late_receipt(from, false, out);
        }
    }

    #[inline]
    fn more(&mut self, piece: Piece<'_>, out: &mut Out) -> bool {
        self.grows(piece, out)
    }

    fn takes_fields(&self) -> bool {
        self.own
    }

    fn says_times(&self) -> bool {
        true
    }

    fn takes_usage(&self) -> bool {
        self.mode.layout != Layout::Text
    }

    fn sums_usage(&self) -> bool {
        // A round has none in chunks, and none where nothing of it is left to say: the turn's stand in its summary.
        self.mode.layout != Layout::Text
    }

    fn round_tokens(&mut self, tokens: Kept) {
        let chunked = self.mode.layout == Layout::Pieces;
        let kept = if chunked || self.turn.lacks {
            &mut self.turn.told
        } else {
            &mut self.turn.said
        };
        kept.append(tokens);
    }

    fn passes_over(&self, topic: Topic, session: Option<Str<'_>>) -> bool {
        let is_told = session.is_none_or(|id| alike(id.as_escaped(), &self.session));
        is_told && !self.own && self.waiting.is_empty() && matches!(topic, Topic::Thinking | Topic::Status)
    }

    fn input(&mut self, input: &Input<'_>, out: &mut Out) {
        let from = out.len();
        if self.mode.layout != Layout::Text {
            self.host(input, out);
        }
        self.late_receipt(from, false, out);
    }

    fn finish(&mut self, out: &mut Out) {
        self.late_receipt(out.len(), true, out);
        match self.mode.layout {
            Layout::Text => {}
            Layout::Pieces => self.finish_chunks(out),
            _ => {
                self.flush_waiting(out);
                self.flush(None, out);
            }
        }
    }
}
