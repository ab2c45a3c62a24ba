//! Gives a target what it wants and the source lacks.
//!
//! Deltas become snapshots, snapshots become one delta, and what comes twice goes on once. Rounds that no line ends are
//! ended; every turn gets exactly one outcome; results without a call get their call; calls carry the target's own tool
//! names. Everything is keyed by call id or block index within its thread (the main one, and one for each subagent).

mod calls;
mod pending;
mod pieces;
mod thread;
mod waiting;

use crate::codec::{Cx, Dialect, Encode, Encoder, Want};
use crate::event::{
    Block, Content, Event, Fate, InputKind, Kind, Origin, Outcome, OutcomeKind, Piece, Place, Prompt, PromptSource, Reply, Request, ResultStatus,
    Session, ToolCall, ToolKind, ToolResult,
};
use crate::json::{Out, Raw, Str, alike};
use crate::threads::Threads;
use crate::tools::Translate;
use calls::Calls;
use thread::Thread;

/// What the assembler is to do besides.
#[derive(Clone, Debug, Default)]
pub struct Duties {
    /// Tool names and shapes are translated.
    pub tools: Option<Translate>,
    /// Calls that never got a result get one that says so.
    pub repair: bool,
    /// Nothing goes on but what is made up: repairs within one dialect, where the lines themselves are copied.
    pub watch: bool,
    /// Prompts that the log does not hold, in the order of the turns, as bodies of JSON strings.
    pub prompts: Vec<String>,
}

/// Stands between a decoder and an encoder.
#[derive(Debug)]
pub struct Assembler {
    want: Want,
    duties: Duties,
    ids_name_rounds: bool,
    one_turn_a_run: bool,
    threads: Threads<Thread>,
    calls: Calls,
    turn: Turn,
    /// The block of the main thread that the last event, notices aside, was a piece of.
    growing: Option<usize>,
    /// The number of prompts that have been used up; goes on over sessions.
    prompts_used: usize,
}

#[derive(Debug, Default)]
struct Turn {
    open: bool,
    prompted: bool,
    session: String,
}

/// The encoder and what it writes to.
#[derive(Debug)]
pub struct Down<'d, 'a> {
    /// Writes the target dialect.
    pub encoder: &'d mut Encoder,
    /// What is written.
    pub out: &'d mut Out,
    /// The memory of the line that is being handled.
    pub cx: Cx<'a>,
}

impl Down<'_, '_> {
    #[inline(always)]
    fn emit(&mut self, event: &Event<'_>) {
        self.encoder.event(event, self.out);
    }
}

/// What the parts of the assembler share while an event is handled.
struct Desk<'d, 'e, 'a> {
    want: Want,
    watch: bool,
    ids_name_rounds: bool,
    tools: Option<&'d Translate>,
    calls: &'d mut Calls,
    down: &'d mut Down<'e, 'a>,
}

impl<'a> Desk<'_, '_, 'a> {
    #[inline(always)]
    fn emit(&mut self, event: &Event<'_>) {
        if !self.watch {
            self.down.emit(event);
        }
    }
}

impl Assembler {
    /// At the beginning of a session of `source` events for a target that wants `want`.
    pub fn new(source: Dialect, want: Want, duties: Duties) -> Self {
        Self {
            want,
            duties,
            ids_name_rounds: source.ids_name_rounds(),
            one_turn_a_run: source.one_turn_a_run(),
            threads: Threads::default(),
            calls: Calls::default(),
            turn: Turn::default(),
            growing: None,
            prompts_used: 0,
        }
    }

    /// Takes one event of the source.
    pub fn event<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        if let Some(session) = event.origin.session.filter(|s| !alike(s.as_escaped(), &self.turn.session)) {
            session.as_escaped().clone_into(&mut self.turn.session);
        }
        if event.origin.parent.is_some() && !self.want.subagents && !self.want.as_is {
            if down.out.traced() {
                down.out.note(Fate::Dropped, "", "a subagent's event; the target knows one thread only");
            }
            return;
        }
        let growing = self.growing.take();
        match event.kind {
            Kind::Delta(delta) => {
                self.content(event, down);
                let (thread, desk) = self.at(event.origin.parent, down);
                let block = thread.delta(event, delta, desk);
                self.growing = block.filter(|_| event.origin.parent.is_none());
            }
            Kind::BlockStart(start) => {
                self.content(event, down);
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.block_start(event, start, desk);
            }
            Kind::BlockStop(stop) => {
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.block_stop(event, stop, desk);
            }
            Kind::RoundStart(start) => {
                self.content(event, down);
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.round_start(event, start, desk);
            }
            Kind::RoundStop(stop) => {
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.round_stop(event, stop, desk);
            }
            Kind::RoundEnd(end) => {
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.round_end(event, end, desk);
            }
            Kind::Reply(reply) => {
                self.content(event, down);
                let (thread, desk) = self.at(event.origin.parent, down);
                thread.reply(event, reply, desk);
            }
            Kind::ToolResult(result) => {
                self.content(event, down);
                self.tool_result(event, result, down);
            }
            Kind::Request(request) => self.request(event, request, down),
            Kind::Prompt(prompt) => self.prompt(event, prompt, down),
            Kind::Session(session) => {
                if self.one_turn_a_run && session.opens_turn && self.turn.open {
                    // The next run begins, and the one before never ended.
                    self.end_unfinished(
                        Origin {
                            session: event.origin.session,
                            ..Origin::default()
                        },
                        down,
                    );
                }
                self.settle(event.origin, down);
                self.turn.open |= session.opens_turn;
                self.session(event, session, down);
            }
            Kind::Outcome(outcome) => {
                self.content(event, down);
                let tools = self.duties.tools.as_ref();
                let refused = outcome
                    .denials
                    .zip(tools)
                    .and_then(|(denials, tools)| tools.refused(denials, down.cx.arena));
                match refused {
                    Some(denials) => {
                        down.out.used_raw(outcome.denials);
                        let outcome = Outcome {
                            denials: Some(denials),
                            ..*outcome
                        };
                        let kind = Kind::Outcome(&outcome);
                        self.end_turn(&Event { kind, ..*event }, down);
                    }
                    None => self.end_turn(event, down),
                }
            }
            Kind::Fatal(_) => {
                self.settle(event.origin, down);
                self.pass(event, down);
            }
            Kind::Notice(_) => {
                self.growing = growing;
                self.pass(event, down);
            }
            Kind::ToolProgress(_)
            | Kind::Terminal(_)
            | Kind::Response(_)
            | Kind::Withdraw(_)
            | Kind::Command(_)
            | Kind::Hint(_)
            | Kind::Heartbeat(_)
            | Kind::CancelResult(_)
            | Kind::Noise(_)
            | Kind::Unknown(_) => self.pass(event, down),
        }
    }

    /// Takes one more piece of the block that the last event, notices aside, was a piece of; the rest of its event is as in that
    /// one, but for ids. False if nothing was done: then it has to come as an event.
    #[inline]
    pub fn more(&mut self, piece: Piece<'_>, down: &mut Down<'_, '_>) -> bool {
        let Some(block) = self.growing.and_then(|at| self.threads.main.blocks.get_mut(at)) else {
            return false;
        };
        // The pieces of a call's arguments are held.
        let goes_on = self.want.deltas && !matches!(piece, Piece::Input(_));
        if matches!(piece, Piece::Other(_)) || goes_on && !down.encoder.more(piece, down.out) {
            return false;
        }
        block.grow(piece);
        true
    }

    /// Whether the last event that named a session named this one.
    #[inline]
    pub fn is_in(&self, session: Option<Str<'_>>) -> bool {
        session.is_none_or(|id| alike(id.as_escaped(), &self.turn.session))
    }

    /// Takes what the host says, which passes on as it is; a prompt among it is the prompt of the next turn.
    pub fn input<'a>(&mut self, input: &crate::event::Input<'a>, down: &mut Down<'_, 'a>) {
        self.growing = None;
        if matches!(input.kind, InputKind::Prompt(_) | InputKind::Chat(_)) {
            self.turn.prompted = true;
        }
        if !self.duties.watch {
            down.encoder.input(input, down.out);
        }
    }

    /// The session is over: ends what is open. A turn without an outcome gets one that is marked as made up.
    pub fn finish(&mut self, down: &mut Down<'_, '_>) {
        self.growing = None;
        let session = std::mem::take(&mut self.turn.session);
        let origin = Origin {
            session: (!session.is_empty()).then(|| Str::trusted(&session)),
            ..Origin::default()
        };
        if self.turn.open {
            self.end_unfinished(origin, down);
        } else {
            self.settle(origin, down);
        }
        self.threads.end_all();
        self.threads.main = Thread::default();
    }

    /// Ends a turn that the source left without an outcome.
    fn end_unfinished(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let outcome = Outcome {
            synthetic: true,
            error: Some(Str::trusted("the log ends before the turn does")),
            ..Outcome::new(OutcomeKind::Failed(Place::Protocol))
        };
        match (self.duties.watch, self.duties.repair) {
            (false, _) => down.out.note(Fate::Invented, "", "the turn has no outcome: one was made up"),
            (true, true) => down.out.note(Fate::Repaired, "", "the turn had no outcome: one was added"),
            (true, false) => {}
        }
        self.end_turn(&Event::new(origin, Kind::Outcome(&outcome)), down);
    }

    /// How many prompts of [`Duties::prompts`] have been used up.
    pub const fn prompts_used(&self) -> usize {
        self.prompts_used
    }

    /// A prompt that came while the session goes on, as the body of a JSON string: the next turn that lacks one takes it.
    pub fn prompted(&mut self, body: &str) {
        if self.prompts_used == self.duties.prompts.len() {
            self.duties.prompts.clear();
            self.prompts_used = 0;
        }
        self.duties.prompts.push(body.to_owned());
    }

    /// Every turn has its outcome: what was said after the last one began none.
    pub const fn settled(&mut self) {
        self.turn.open = false;
        self.turn.prompted = false;
    }

    /// Continues with the prompts of an earlier session.
    pub const fn skip_prompts(&mut self, used: usize) {
        self.prompts_used = used;
    }

    fn at<'s, 'd, 'e, 'a>(&'s mut self, parent: Option<Str<'_>>, down: &'d mut Down<'e, 'a>) -> (&'s mut Thread, Desk<'s, 'e, 'a>)
    where
        'd: 's,
    {
        let thread = match parent {
            None => &mut self.threads.main,
            Some(parent) => self.threads.subagent(parent.as_escaped(), |_| Thread::of(parent)),
        };
        let desk = Desk {
            want: self.want,
            watch: self.duties.watch,
            ids_name_rounds: self.ids_name_rounds,
            tools: self.duties.tools.as_ref(),
            calls: &mut self.calls,
            down,
        };
        (thread, desk)
    }

    fn pass(&self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        if !self.duties.watch {
            down.emit(event);
        }
    }

    /// The session's facts; its tools are listed as the target calls them.
    fn session<'a>(&self, event: &Event<'a>, session: &Session<'a>, down: &mut Down<'_, 'a>) {
        let tools = self.duties.tools.as_ref();
        let listed = session.tools.zip(tools).and_then(|(list, tools)| tools.list(list, down.cx.arena));
        let Some(listed) = listed else { return self.pass(event, down) };
        if let Some(tools) = session.tools {
            down.out.renamed(tools.as_str(), "the target's own tool names");
        }
        let session = Session {
            tools: Some(listed),
            ..*session
        };
        let kind = Kind::Session(&session);
        self.pass(&Event { kind, ..*event }, down);
    }

    /// Something that belongs to a turn is about to go on.
    #[inline(always)]
    fn content(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        if self.turn.open && self.turn.prompted {
            return;
        }
        self.begin_turn(event.origin, down);
    }

    /// Opens the turn; the first one that lacks its prompt takes it from the list, if there is one.
    fn begin_turn(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        self.turn.open = true;
        if self.turn.prompted || origin.parent.is_some() {
            return;
        }
        self.turn.prompted = true;
        let Some(text) = self.duties.prompts.get(self.prompts_used) else {
            return;
        };
        self.prompts_used += 1;
        if !self.duties.watch && !self.want.as_is {
            let prompt = Prompt {
                content: Content::Text(Str::trusted(text)),
                source: PromptSource::Echo,
            };
            let origin = Origin {
                session: origin.session,
                ..Origin::default()
            };
            down.encoder.event(&Event::new(origin, Kind::Prompt(&prompt)), down.out);
        }
    }

    fn prompt<'a>(&mut self, event: &Event<'a>, prompt: &Prompt<'a>, down: &mut Down<'_, 'a>) {
        let main = event.origin.parent.is_none();
        if main && matches!(prompt.source, PromptSource::Host | PromptSource::Echo) && !self.turn.prompted {
            self.turn.prompted = true;
            self.prompts_used += usize::from(self.prompts_used < self.duties.prompts.len());
        }
        self.turn.open = true;
        let (thread, mut desk) = self.at(event.origin.parent, down);
        thread.settle(event.origin, &mut desk);
        thread.end_round(event.origin, &mut desk);
        self.pass(event, down);
    }

    fn request<'a>(&mut self, event: &Event<'a>, request: &Request<'a>, down: &mut Down<'_, 'a>) {
        if let Some(call) = request.permission.and_then(|p| p.call) {
            let main = event.origin.parent;
            let (thread, mut desk) = self.at(main, down);
            thread.settle_call(call, event.origin, &mut desk);
        } else {
            let (thread, mut desk) = self.at(event.origin.parent, down);
            thread.settle_whole_calls(event.origin, &mut desk);
        }
        // Cursor and Tricode have no line that asks.
        let tools = self
            .duties
            .tools
            .as_ref()
            .filter(|tools| !matches!(tools.to, Dialect::Cursor | Dialect::Tricode));
        let translated = request.permission.zip(tools).and_then(|(permission, tools)| {
            let call = ToolCall {
                id: permission.call.unwrap_or_default(),
                name: permission.name,
                kind: crate::tools::kind_of(tools.from, permission.name),
                input: permission.input.unwrap_or(Raw::trusted("{}")),
                fields: &[],
            };
            let call = tools.call(&call, down.cx.arena)?;
            down.out.renamed(permission.name.as_escaped(), "the target's own tool name");
            down.out.used_raw(permission.input);
            Some(crate::event::Permission {
                name: call.name,
                input: permission.input.map(|_| call.input),
                ..*permission
            })
        });
        match translated {
            Some(permission) => {
                let request = Request {
                    permission: Some(&permission),
                    ..*request
                };
                self.pass(
                    &Event {
                        kind: Kind::Request(&request),
                        ..*event
                    },
                    down,
                );
            }
            None => self.pass(event, down),
        }
    }

    fn tool_result<'a>(&mut self, event: &Event<'a>, result: &ToolResult<'a>, down: &mut Down<'_, 'a>) {
        if let Some(mut thread) = self.threads.end(result.call.as_escaped()) {
            // The subagent that ran for this call is done.
            let (_, mut desk) = self.at(None, down);
            thread.settle(event.origin, &mut desk);
            thread.end_round(event.origin, &mut desk);
        }
        let as_is = self.want.as_is;
        let (thread, mut desk) = self.at(event.origin.parent, down);
        thread.settle_call(result.call, event.origin, &mut desk);
        thread.result(event.origin, &mut desk);
        if !desk.calls.knows(result.call) {
            let name = result.name.unwrap_or(Str::trusted("unknown"));
            let bare = ToolCall {
                id: result.call,
                name,
                kind: desk.tools.map_or(ToolKind::Other, |tools| crate::tools::kind_of(tools.from, name)),
                input: Raw::trusted("{}"),
                fields: &[],
            };
            let call = result.of.unwrap_or(bare);
            desk.calls.add(&call);
            if !as_is {
                desk.down.out.note(Fate::Invented, "", "a result without a call: the call was made up");
                let reply = Reply {
                    blocks: &[Block::Call(call)],
                    ..Reply::default()
                };
                thread.reply(&Event::new(event.origin, Kind::Reply(&reply)), &reply, desk);
                // The round that the call was made up for is over with its result, like any other.
                let (thread, mut desk) = self.at(event.origin.parent, down);
                thread.result(event.origin, &mut desk);
            }
        }
        let Some(stored) = self.calls.resolve(result.call, down.cx).filter(|_| !as_is) else {
            return self.pass(event, down);
        };
        let mut result = ToolResult { of: Some(stored), ..*result };
        if let Some(tools) = &self.duties.tools {
            let (answered, shaped) = tools.result(&stored, &result, down.cx.arena);
            if let Some(shaped) = shaped {
                if down.out.traced() {
                    told_in_another_shape(&result, &shaped, down.out);
                }
                result = shaped;
            }
            if let Some(call) = answered {
                result.name = result.name.map(|_| call.name);
                result.of = Some(call);
            }
        }
        self.pass(
            &Event {
                kind: Kind::ToolResult(&result),
                ..*event
            },
            down,
        );
    }

    /// Ends whatever is half said in every thread.
    fn settle(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let mut threads = std::mem::take(&mut self.threads);
        for thread in threads.all() {
            let (_, mut desk) = self.desk(down);
            thread.settle(origin, &mut desk);
            thread.end_round(origin, &mut desk);
        }
        self.threads = threads;
    }

    fn desk<'s, 'e, 'a>(&'s mut self, down: &'s mut Down<'e, 'a>) -> ((), Desk<'s, 'e, 'a>) {
        let desk = Desk {
            want: self.want,
            watch: self.duties.watch,
            ids_name_rounds: self.ids_name_rounds,
            tools: self.duties.tools.as_ref(),
            calls: &mut self.calls,
            down,
        };
        ((), desk)
    }

    fn end_turn(&mut self, outcome: &Event<'_>, down: &mut Down<'_, '_>) {
        self.settle(outcome.origin, down);
        if self.duties.repair {
            for call in self.calls.unresolved() {
                let text = Str::trusted("The tool call was interrupted: the log holds no result for it.");
                let result = ToolResult {
                    call: Str::trusted(&call.id),
                    name: Some(Str::trusted(&call.name)),
                    status: ResultStatus::Canceled,
                    content: Content::Text(text),
                    is_error: Some(true),
                    detail: None,
                    fields: &[],
                    of: None,
                };
                let origin = Origin {
                    session: outcome.origin.session,
                    ..Origin::default()
                };
                down.out
                    .note(Fate::Repaired, "", "a call without a result: an interrupted result was added");
                down.encoder.event(&Event::new(origin, Kind::ToolResult(&result)), down.out);
            }
        }
        let made_up = matches!(outcome.kind, Kind::Outcome(o) if o.synthetic && o.word.is_none());
        if !self.duties.watch || (self.duties.repair && made_up) {
            down.encoder.event(outcome, down.out);
        }
        self.calls.clear();
        self.threads.end_all();
        self.threads.main.clear();
        self.turn.open = false;
        self.turn.prompted = false;
    }
}

/// Tells the ledger which parts of a result go over in the target's own shape: the text, and the structured form if it has
/// become another one.
fn told_in_another_shape(result: &ToolResult<'_>, shaped: &ToolResult<'_>, out: &Out) {
    const NOTE: &str = "the result of a tool in the target's own shape";
    for text in result.content.texts().filter(|text| !text.is_empty()) {
        out.renamed(text.as_escaped(), NOTE);
    }
    if let Some(detail) = result.detail.filter(|detail| shaped.detail != Some(*detail)) {
        out.renamed(detail.raw.as_str(), NOTE);
    }
}

/// A snapshot of nothing.
const EMPTY_REPLY: Reply<'static> = Reply {
    id: None,
    model: None,
    blocks: &[],
    stop: None,
    usage: None,
    error: None,
    last: false,
};

#[cfg(test)]
mod tests;
