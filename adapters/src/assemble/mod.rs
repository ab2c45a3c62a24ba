//! Gives a target what it wants and the source lacks.
//!
//! Deltas become snapshots, snapshots become one delta, and what comes twice goes on once. Rounds that no line ends are
//! ended; every turn gets exactly one outcome; results without a call get their call; calls carry the target's own tool
//! names. Everything is keyed by call id or block index within its thread (the main one, and one for each subagent).

mod ahead;
mod blocks;
mod calls;
mod held_line;
mod holders;
mod late_arguments;
mod pending;
mod permission_arguments;
mod pieces;
mod results;
mod round;
mod server_tools;
mod settle;
mod spent;
mod thread;
mod turn;
mod unrun;
mod waiting;

use crate::codec::{Cx, Dialect, Encode, Encoder, Format, Layout, Tools, Want};
use crate::event::{Block, Event, Input, InputKind, Kind, Origin, Outcome, Piece, Reply, ToolCall, ToolResult};
use crate::json::{Out, Str, alike};
use crate::threads::Threads;
use crate::tools::Translate;
use crate::trace::Kept;
use ahead::Ahead;
use calls::Calls;
use holders::Holders;
use late_arguments::Late;
use pending::NO_PLACE;
use permission_arguments::Asked;
use server_tools::Served;
use thread::Thread;

/// What the assembler is to do besides.
#[derive(Clone, Debug, Default)]
pub struct Duties {
    /// Tool names and shapes are translated.
    pub tools: Option<Translate>,
    /// Calls that never got a result get one that says so.
    pub repair: bool,
    /// Calls that a stopped turn leaves without a result get one: hosts wait for it.
    pub live: bool,
    /// So do those of a program that is gone, or was given up.
    pub gone: bool,
    /// A block is whole when it stops: no snapshot follows that would say it again, perhaps otherwise.
    pub whole_at_stop: bool,
    /// What is answered on the control channel is in another dialect's words.
    pub foreign: bool,
    /// What was stored goes back to where it comes from: an outcome that was made up for it stays away, if it is not to be repaired.
    pub gives_back: bool,
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
    /// The tokens of a round come behind the results of its calls, and the target has its place for them before.
    tokens_behind: bool,
    one_turn_a_run: bool,
    free_subagents: bool,
    results_outlive_turns: bool,
    /// What the source's program writes in the user's role when the user stops it begins so.
    stop_notice: &'static str,
    /// What the source says stands on lines, not in one value for all of it.
    has_lines: bool,
    both_sides: bool,
    /// Calls may be spoken of before they are told, and have a place then.
    late_calls: bool,
    late: Late,
    dialect: Dialect,
    served: Served,
    threads: Threads<Thread>,
    holders: Holders,
    calls: Calls,
    asked: Asked,
    /// Where the source says the folder that the session works in, if the facts do not go over with it.
    folder: Kept,
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
    /// A turn of the session is over already.
    is_later: bool,
    /// It has become another one, whose facts have not come yet.
    moved: bool,
    /// The program has said that it failed, and neither an outcome nor another turn has come since.
    failed: bool,
    ahead: Ahead,
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
    duties: &'d Duties,
    ids_name_rounds: bool,
    tokens_behind: bool,
    calls: &'d mut Calls,
    /// A call that waited for its result, in the words that this allows.
    answered: Option<(ToolCall<'a>, ToolResult<'a>)>,
    down: &'d mut Down<'e, 'a>,
}

impl<'d, 'a> Desk<'d, '_, 'a> {
    const fn tools(&self) -> Option<&'d Translate> {
        self.duties.tools.as_ref()
    }

    #[inline(always)]
    fn emit(&mut self, event: &Event<'_>) {
        match event.kind {
            _ if self.duties.watch => {}
            Kind::Reply(reply) if self.want.keeps_quiet => self.without_thoughts(event, reply),
            _ => self.down.emit(event),
        }
    }

    /// The reply without what was thought.
    #[cold]
    fn without_thoughts(&mut self, event: &Event<'_>, reply: &Reply<'_>) {
        let is_thought = |block: &&Block<'_>| matches!(block, Block::Thinking(_) | Block::Redacted { .. });
        let thoughts = reply.blocks.iter().filter(is_thought).count();
        if thoughts > 0 {
            self.down.out.left_out("thoughts that the target's model has not sealed would be refused");
        }
        if thoughts == 0 || thoughts < reply.blocks.len() {
            let said: Vec<Block<'_>> = reply.blocks.iter().filter(|block| !is_thought(block)).copied().collect();
            let reply = Reply { blocks: &said, ..*reply };
            self.down.emit(&Event {
                kind: Kind::Reply(&reply),
                ..*event
            });
        }
    }

    /// What becomes of what a block says: of a call its arguments, which are the target's own if they are `translated`.
    fn became(&self, block: &Block<'_>, translated: bool) -> Became {
        match block {
            Block::Thinking(_) if !self.want.thoughts => Became::Nothing,
            Block::Call(_) if self.want.tools != Tools::Calls => Became::Nothing,
            _ if translated => Became::Translated,
            _ => Became::Said,
        }
    }

    /// A block of a snapshot comes, whose arguments may stand in a text of the line: the ledger hears that they have no place.
    fn leaves_out(&self, block: &Block<'_>) {
        if let (Block::Call(call), Became::Nothing) = (block, self.became(block, false)) {
            self.down.out.lost_here(call.input.as_str(), NO_PLACE);
        }
    }

    /// A snapshot says a call, which has come in pieces before or is new.
    fn says(&mut self, call: &ToolCall<'_>, known: Option<usize>) {
        match known {
            Some(_) => self.calls.add(call, self.down.cx),
            None => self.calls.add_new(call, self.down.cx),
        };
    }

    /// A result and its call in the target's words, if the call is known.
    fn in_answer(&self, result: &ToolResult<'a>) -> Option<Answered<'a>> {
        let call = self.calls.get(self.calls.find_for_result(result.call)?, result.call, self.down.cx);
        let result = ToolResult { of: Some(call), ..*result };
        Some(self.tools()?.result(&call, &result, self.down.cx.arena))
    }
}

/// What becomes of what a block says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Became {
    Said,
    Translated,
    Nothing,
}

/// What [`Translate::result`] makes of a call and its result.
type Answered<'a> = (Option<ToolCall<'a>>, Option<ToolResult<'a>>);

impl Assembler {
    /// At the beginning of a session of `source` events for a target that wants `want`.
    pub fn new(source: Format, want: Want, duties: Duties) -> Self {
        let vendor = source.dialect.vendor();
        let tokens_behind = source.mode.tokens_behind && want.whole_rounds && !duties.live && !duties.watch;
        let late_calls = vendor.logs.late_calls && !want.as_is && !want.at_once && !duties.watch;
        Self {
            want,
            duties,
            ids_name_rounds: vendor.logs.ids_name_rounds,
            tokens_behind,
            one_turn_a_run: vendor.logs.one_turn_a_run,
            free_subagents: vendor.logs.free_subagents,
            results_outlive_turns: vendor.logs.results_outlive_turns,
            stop_notice: vendor.logs.stop_notice,
            has_lines: vendor.modes[0].layout != Layout::Document,
            both_sides: source.mode.both_sides,
            late_calls,
            late: Late::default(),
            dialect: source.dialect,
            served: Served::default(),
            threads: Threads::default(),
            holders: Holders::default(),
            calls: Calls::default(),
            asked: Asked::default(),
            folder: Kept::NONE,
            turn: Turn::default(),
            growing: None,
            prompts_used: 0,
        }
    }

    /// Takes one event of the source.
    pub fn event<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        if let Some(session) = event.origin.session.filter(|s| !alike(s.as_escaped(), &self.turn.session))
            && !(self.turn.open && !self.turn.session.is_empty() && event.kind.may_precede_session())
        {
            session.as_escaped().clone_into(&mut self.turn.session);
            self.turn.is_later = false;
            self.turn.moved = true;
        }
        if event.origin.parent.is_some() && !self.want.subagents && !self.want.as_is {
            if down.out.traced() && self.has_lines {
                down.out.left_out("a subagent's event; the target knows one thread only");
            }
            return;
        }
        if !self.want.served && !self.want.as_is && self.served.looks_at(&event.kind) && self.served(event, down) {
            return;
        }
        if !(self.late_calls && self.holds(event, down)) {
            self.take(event, down);
        }
    }

    /// The same of what does not wait.
    #[inline]
    fn take<'a>(&mut self, event: &Event<'a>, down: &mut Down<'_, 'a>) {
        if let Some(call) = event.origin.parent.filter(|_| !self.want.as_is && is_of_thread(&event.kind)) {
            self.settle_call_of(call, event.origin, down);
            if self.free_subagents && begins_something(&event.kind) && self.calls.find(call).is_none() {
                self.make_call(call, event.origin, down);
            }
            if let Some(agent) = event.origin.agent.filter(|_| self.duties.whole_at_stop) {
                let (thread, _) = self.at(event.origin.parent, down);
                thread.is_of(agent);
            }
        }
        if self.turn.failed && event.origin.parent.is_none() && turn::begins(&event.kind) {
            self.fails(event.origin, down);
        }
        if self.is_of_given_up(&event.kind) {
            down.out.left_out("the call has a result: its turn was over without one");
            return;
        }
        if self.threads.main.round.waits && goes_on(event) {
            let (thread, mut desk) = self.at(None, down);
            thread.end_round(event.origin, &mut desk);
        }
        let growing = self.growing.take();
        let told = self.threads.main.results.waits() && goes_between(&event.kind) && self.ends_round(event, down);
        if told {
            self.tell_results(event.origin, down);
        }
        self.holders.note(event, &mut self.threads);
        let before = down.out.len();
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
            Kind::Reply(reply) if !self.remembers_calls() => {
                self.turn.ahead.reply(event.origin, reply);
                self.content(event, down);
                self.pass(event, down);
            }
            Kind::Reply(reply) => {
                self.turn.ahead.reply(event.origin, reply);
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
                // Facts that change while a reply is going on do not end it.
                if std::mem::take(&mut self.turn.moved) || session.opens_turn {
                    self.settle(event.origin, down);
                }
                if session.opens_turn && event.origin.parent.is_none() {
                    self.turn.ahead.begin();
                }
                self.turn.open |= session.opens_turn;
                if session.cwd.is_some() {
                    self.tell_folder(down);
                }
                self.session(event, session, down);
                self.hold_folder(session, down);
            }
            Kind::Outcome(outcome) => {
                self.content(event, down);
                let tools = self.duties.tools.as_ref();
                let refused = outcome
                    .denials
                    .zip(tools)
                    .and_then(|(denials, tools)| tools.refused(denials, down.cx.arena, down.out));
                let told_before = self.turn.ahead.end(outcome);
                let outcome = Outcome {
                    told_before,
                    denials: refused.or(outcome.denials),
                    ..*outcome
                };
                let kind = Kind::Outcome(&outcome);
                self.end_turn(&Event { kind, ..*event }, down);
            }
            // The question, on the other side, was asked in another dialect, and decides what the words mean.
            Kind::Response(_) if self.duties.foreign => {}
            Kind::Fatal(_) => {
                self.settle(event.origin, down);
                self.pass(event, down);
                self.turn.failed = !self.want.as_is && !self.duties.watch;
            }
            Kind::Notice(_) => {
                self.growing = growing;
                self.pass(event, down);
            }
            Kind::ToolProgress(_) | Kind::Withdraw(_) => self.pass_or_wait(event, down),
            Kind::Terminal(_) | Kind::Response(_) | Kind::Command(_) | Kind::CancelResult(_) => self.pass(event, down),
            Kind::Hint(_) | Kind::Heartbeat(_) | Kind::Noise(_) | Kind::Unknown(_) => self.pass(event, down),
        }
        if told && down.out.len() == before {
            // What its line has given is of lines before it.
            down.out.left_out("no place in the target");
        }
    }

    /// Whether it matters later which calls were made, and with what.
    const fn remembers_calls(&self) -> bool {
        !self.want.as_is || self.duties.repair || self.duties.live
    }

    /// What is asked and answered stands behind the results that came before it: their round ends without its tokens.
    #[cold]
    fn tell_results(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let origin = Origin {
            parent: None,
            agent: None,
            ..origin
        };
        let (thread, mut desk) = self.at(None, down);
        thread.settle(origin, &mut desk);
        thread.end_round(origin, &mut desk);
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
    pub fn input<'a>(&mut self, input: &Input<'a>, down: &mut Down<'_, 'a>) {
        if !(self.late_calls && self.holds_input(input, down)) {
            self.take_input(input, down);
        }
    }

    fn take_input<'a>(&mut self, input: &Input<'a>, down: &mut Down<'_, 'a>) {
        self.growing = None;
        let elsewhere = self.both_sides && self.duties.foreign;
        let prompts = matches!(input.kind, InputKind::Prompt(_) | InputKind::Chat(_));
        if self.turn.failed && prompts {
            self.fails(input.origin, down);
        }
        self.turn.prompted |= prompts;
        if self.threads.main.results.waits() && (prompts || !elsewhere) {
            self.tell_results(input.origin, down);
        }
        if self.duties.watch || elsewhere {
            return;
        }
        match self.answered(input, down) {
            Some(response) => {
                let kind = InputKind::Response(&response);
                down.encoder.input(&Input { kind, ..*input }, down.out);
            }
            None => down.encoder.input(input, down.out),
        }
    }

    /// The session is over: ends what is open. A turn without an outcome gets one that is marked as made up.
    pub fn finish(&mut self, down: &mut Down<'_, '_>) {
        self.tell_late(true, down);
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
        self.tell_folder(down);
        self.threads.end_all();
        self.threads.main.clear();
    }

    /// Becomes what `fresh` is, which has heard of nothing yet, and keeps its memory.
    pub(crate) fn begin_anew(&mut self, fresh: Self) {
        let Self { threads, calls, .. } = std::mem::replace(self, fresh);
        self.threads = threads;
        self.calls = calls;
        self.threads.end_all();
        self.threads.main.clear();
        self.calls.clear();
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

    /// Whether a turn has begun and has no outcome yet.
    #[inline]
    pub const fn is_in_turn(&self) -> bool {
        self.turn.open
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
            duties: &self.duties,
            ids_name_rounds: self.ids_name_rounds,
            tokens_behind: self.tokens_behind,
            calls: &mut self.calls,
            answered: None,
            down,
        };
        (thread, desk)
    }
}

/// Whether a subagent that says it is at work.
const fn is_of_thread(kind: &Kind<'_>) -> bool {
    kind.is_conversation() || matches!(kind, Kind::Notice(_))
}

/// Whether the main thread goes on with it: its round before is over, whether or not somebody has said its tokens.
const fn goes_on(event: &Event<'_>) -> bool {
    let kind = &event.kind;
    event.origin.parent.is_none() && matches!(kind, Kind::BlockStart(_) | Kind::Delta(_) | Kind::Reply(_) | Kind::ToolResult(_))
}

/// Whether it stands in an order with results that is not to change.
const fn goes_between(kind: &Kind<'_>) -> bool {
    matches!(
        kind,
        Kind::Request(_) | Kind::Response(_) | Kind::Withdraw(_) | Kind::Command(_) | Kind::CancelResult(_) | Kind::Terminal(_)
    )
}

/// Whether a subagent says something, and does not only end it.
const fn begins_something(kind: &Kind<'_>) -> bool {
    kind.is_conversation() && !matches!(kind, Kind::BlockStop(_) | Kind::RoundStop(_) | Kind::RoundEnd(_))
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
