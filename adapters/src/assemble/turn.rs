//! What belongs to a turn as a whole: its beginning, prompts, requests, results and its outcome.

use super::{Assembler, Desk, Down, Duties, unrun};
use crate::codec::{Encode, Tools};
use crate::event::{
    Block, Content, Event, Fate, Kind, Origin, Outcome, OutcomeKind, Place, Prompt, PromptSource, Reply, Request, ResultStatus, Session, ToolCall,
    ToolKind, ToolProgress, ToolResult,
};
use crate::json::{Out, Raw, Str};
use crate::tools::reshaped::Made;

impl Assembler {
    pub(super) fn pass(&self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        if !self.duties.watch {
            down.emit(event);
        }
    }

    /// The same of what may have to wait.
    pub(super) fn pass_or_wait(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        if self.waits_with_results(event, down) {
            return self.threads.main.results.hold(event, down);
        }
        self.pass(event, down);
    }

    /// The session's facts; its tools are listed as the target calls them.
    pub(super) fn session<'a>(&mut self, event: &Event<'a>, session: &Session<'a>, down: &mut Down<'_, 'a>) {
        if let Some((tools, folder)) = self.duties.tools.as_mut().zip(session.cwd) {
            tools.in_folder(folder);
        }
        let tools = self.duties.tools.as_ref();
        let tools = tools.filter(|_| self.want.tools == Tools::Calls);
        let listed = session.tools.zip(tools).and_then(|(list, tools)| tools.list(list, down.cx.arena));
        let Some(listed) = listed else { return self.pass(event, down) };
        let source = session.tools.map_or("", Raw::as_str);
        down.cx.stands_for(listed.as_str(), source);
        let session = Session {
            tools: Some(listed),
            ..*session
        };
        let kind = Kind::Session(&session);
        self.pass(&Event { kind, ..*event }, down);
        // A later turn may say again what the target says once.
        if down.cx.trace.is_some_and(|trace| trace.covers(source)) {
            down.out.reshaped(source, "the target's own tool names");
        }
    }

    /// What runs in the session's folder may say it, where its facts do not.
    pub(super) fn hold_folder(&mut self, session: &Session<'_>, down: &mut Down<'_, '_>) {
        let (Some(trace), Some(folder)) = (down.cx.trace, session.cwd) else {
            return;
        };
        let said = down.encoder.said_folder();
        let tools = self.duties.tools.as_ref().filter(|_| self.want.tools == Tools::Calls);
        if said.is_some() || tools.is_some_and(|tools| tools.says_folder()) {
            trace.hold_unsaid(&mut self.folder, folder.as_escaped());
        }
    }

    /// Whether it has.
    pub(super) fn tell_folder(&mut self, down: &mut Down<'_, '_>) {
        let in_path = self.duties.tools.as_ref().is_some_and(|tools| tools.said_folder());
        match down.encoder.said_folder() == Some(true) || in_path {
            true => down.out.release(&mut self.folder),
            false => down.out.drop_held(&mut self.folder, "no place in the target"),
        }
    }

    /// Something that belongs to a turn is about to go on.
    #[inline(always)]
    pub(super) fn content(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        if self.turn.open && self.turn.prompted {
            return;
        }
        self.begin_turn(event, down);
    }

    /// Opens the turn; the first one that lacks its prompt takes it from the list, if there is one.
    pub(super) fn begin_turn(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) {
        let origin = event.origin;
        // What a subagent does in the background belongs to the turn that goes on, if one does.
        if origin.parent.is_some() {
            return;
        }
        self.turn.open = true;
        if self.turn.prompted {
            return;
        }
        self.turn.prompted = true;
        let Some(text) = self.duties.prompts.get(self.prompts_used) else {
            // Of a turn that says nothing there is nothing to go on with.
            let silent = matches!(event.kind, Kind::Outcome(outcome) if outcome.says_nothing());
            if self.want.turns_by_prompts && !self.want.as_is && self.turn.is_later && !silent {
                down.out
                    .note(Fate::Renamed, "", "the turn has no prompt: there it goes on with the one before");
            }
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
                time: origin.time,
                ..Origin::default()
            };
            down.encoder.event(&Event::new(origin, Kind::Prompt(&prompt)), down.out);
        }
    }

    pub(super) fn prompt<'a>(&mut self, event: &Event<'a>, prompt: &Prompt<'a>, down: &mut Down<'_, 'a>) {
        let main = event.origin.parent.is_none();
        if main && matches!(prompt.source, PromptSource::Host | PromptSource::Echo) && !self.turn.prompted {
            self.turn.prompted = true;
            self.prompts_used += usize::from(self.prompts_used < self.duties.prompts.len());
        }
        self.turn.open |= main;
        let (thread, mut desk) = self.at(event.origin.parent, down);
        thread.settle(event.origin, &mut desk);
        thread.end_round(event.origin, &mut desk);
        if self.duties.foreign && prompt.is_mark() {
            return down.out.left_out("a mark of the program's own, without a word");
        }
        if self.duties.foreign && self.is_stop_notice(prompt) {
            return down
                .out
                .left_out("the program's words for a turn that the user has stopped: the outcome says it");
        }
        self.pass(event, down);
    }

    fn is_stop_notice(&self, prompt: &Prompt<'_>) -> bool {
        let says = |text: Str<'_>| text.as_escaped().starts_with(self.stop_notice);
        prompt.source == PromptSource::Agent && !self.stop_notice.is_empty() && prompt.content.texts().next().is_some_and(says)
    }

    pub(super) fn request<'a>(&mut self, event: &Event<'a>, request: &Request<'a>, down: &mut Down<'_, 'a>) {
        if let Some(call) = request.permission.and_then(|p| p.call) {
            let main = event.origin.parent;
            let (thread, mut desk) = self.at(main, down);
            thread.settle_call(call, event.origin, &mut desk);
        } else {
            let (thread, mut desk) = self.at(event.origin.parent, down);
            thread.settle_whole_calls(event.origin, &mut desk);
        }
        // Without a line that asks there is nothing to translate.
        let tools = self.duties.tools.as_ref().filter(|tools| tools.asks());
        if tools.is_some() {
            self.asked.add(request);
        }
        let translated = request.permission.zip(tools).and_then(|(permission, tools)| {
            let call = ToolCall {
                id: permission.call.unwrap_or_default(),
                name: permission.name,
                kind: crate::tools::kind_of(tools.from, permission.name),
                input: permission.input.unwrap_or(Raw::trusted("{}")),
                fields: &[],
            };
            let asked = call;
            let call = tools.call(&asked, down.cx.arena)?;
            tools.tell(&asked, &call, None, down.out);
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
                let kind = Kind::Request(&request);
                self.pass_or_wait(&Event { kind, ..*event }, down);
            }
            None => self.pass_or_wait(event, down),
        }
    }

    pub(super) fn tool_result<'a>(&mut self, event: &Event<'a>, result: &ToolResult<'a>, down: &mut Down<'_, 'a>) {
        if let Some(mut thread) = self.threads.end(result.call.as_escaped()) {
            // The subagent that ran for this call is done.
            let (_, mut desk) = self.at(None, down);
            thread.settle(event.origin, &mut desk);
            thread.end_round(event.origin, &mut desk);
        }
        if !self.remembers_calls() {
            return self.pass(event, down);
        }
        let as_is = self.want.as_is;
        // Our own agent gives a result without a call in one case: the call was put off in an earlier run, whose host was told of it.
        let told_before = as_is || self.duties.whole_at_stop;
        let (thread, mut desk) = self.at(event.origin.parent, down);
        let mut worked_out = thread.settle_answered(event.origin, result, &mut desk);
        thread.result(event.origin, &mut desk);
        let at = match desk.calls.find_for_result(result.call) {
            Some(at) if !as_is && desk.calls.is_told_again(at, result) => return desk.down.out.merged("a result that was told already"),
            Some(at) => at,
            None => {
                let name = result.name.unwrap_or(Str::trusted("unknown"));
                let bare = ToolCall {
                    id: result.call,
                    name,
                    kind: desk.tools().map_or(ToolKind::Other, |tools| crate::tools::kind_of(tools.from, name)),
                    input: Raw::trusted("{}"),
                    fields: &[],
                };
                let call = result.of.unwrap_or(bare);
                let at = desk.calls.add(&call, desk.down.cx);
                if !told_before {
                    desk.down.out.note(Fate::Invented, "", "a result without a call: the call was made up");
                    let reply = Reply {
                        blocks: &[Block::Call(call)],
                        ..Reply::default()
                    };
                    // The line's id is the result's.
                    let origin = Origin { id: None, ..event.origin };
                    thread.reply(&Event::new(origin, Kind::Reply(&reply)), &reply, desk);
                    // The round that the call was made up for is over with its result, like any other.
                    let (thread, mut desk) = self.at(event.origin.parent, down);
                    worked_out = thread.settle_answered(event.origin, result, &mut desk);
                    thread.result(event.origin, &mut desk);
                }
                at
            }
        };
        let mut part = None;
        let Some(stored) = self.calls.resolve(at, result.call, &mut part, down.cx).filter(|_| !as_is) else {
            return self.pass(event, down);
        };
        let source = result;
        let mut result = ToolResult { of: Some(stored), ..*source };
        if let Some(tools) = &mut self.duties.tools {
            let waited = worked_out.is_some() && down.out.traced();
            let (answered, shaped) = worked_out.unwrap_or_else(|| tools.result(&stored, &result, down.cx.arena));
            if let Some(shaped) = shaped {
                if down.out.traced() && self.want.tools == Tools::Calls {
                    told_in_another_shape(&result, &shaped, down.out);
                }
                result = shaped;
            }
            // A call that has waited says what its result tells about it.
            if let (Some(call), Some(detail)) = (answered.filter(|_| waited), source.detail) {
                Made::whole(vec![call.input.as_str().as_bytes()]).tell_beside(detail.raw, down.out);
            }
            if down.out.traced() {
                let own = result.detail.filter(|detail| tools.results_say(&stored) == Some(detail.shape));
                self.calls.tell_unsaid(stored.id, own.map(|detail| detail.raw), down.out);
            }
            tools.follow(&stored, source, down.cx.arena);
            if let Some(call) = answered {
                result.name = result.name.map(|_| call.name);
                result.of = Some(call);
            }
        }
        if self.duties.tools.is_some() && self.want.tools == Tools::Calls {
            unrun::tell(&mut result, down);
        }
        let event = Event {
            kind: Kind::ToolResult(&result),
            ..*event
        };
        let (thread, desk) = self.at(event.origin.parent, down);
        if thread.holds_results(&desk) {
            if let Some(id) = event.origin.id.filter(|_| desk.want.whole_replies) {
                desk.down.out.used(id.as_escaped());
            }
            return thread.results.hold(&event, desk.down);
        }
        self.pass(&event, down);
    }

    /// A subagent says something for the first time: its call stands before it.
    pub(super) fn settle_call_of(&mut self, call: Str<'_>, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        // As a rule the call has gone over, and no thread has to be looked through for it: there may be very many.
        if self.threads.has(call.as_escaped()) || self.calls.find_for_result(call).is_some() {
            return;
        }
        let origin = Origin {
            parent: None,
            agent: None,
            ..origin
        };
        let Some(thread) = self.holders.of(call, &mut self.threads) else {
            return;
        };
        let mut desk = Desk {
            want: self.want,
            duties: &self.duties,
            ids_name_rounds: self.ids_name_rounds,
            tokens_behind: self.tokens_behind,
            calls: &mut self.calls,
            answered: None,
            down,
        };
        thread.settle_call(call, origin, &mut desk);
    }

    /// A subagent works for no call: targets know it by its call, so one is made up, behind what the main agent has said.
    pub(super) fn make_call(&mut self, id: Str<'_>, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let origin = Origin {
            session: origin.session,
            time: origin.time,
            ..Origin::default()
        };
        let call = ToolCall {
            id,
            name: Str::trusted("unknown"),
            kind: ToolKind::Other,
            input: Raw::trusted("{}"),
            fields: &[],
        };
        down.out.note(Fate::Invented, "", "a subagent without a call: the call was made up");
        let reply = Reply {
            blocks: &[Block::Call(call)],
            ..Reply::default()
        };
        let (thread, desk) = self.at(None, down);
        thread.reply(&Event::new(origin, Kind::Reply(&reply)), &reply, desk);
        self.settle_call_of(id, origin, down);
    }

    /// Ends whatever is half said in every thread.
    pub(super) fn settle(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        for thread in self.threads.all() {
            let mut desk = Desk {
                want: self.want,
                duties: &self.duties,
                ids_name_rounds: self.ids_name_rounds,
                tokens_behind: self.tokens_behind,
                calls: &mut self.calls,
                answered: None,
                down,
            };
            thread.settle(origin, &mut desk);
            thread.end_round(origin, &mut desk);
        }
    }

    /// Whether the results that are held have to stand before what is asked or answered: it is written, and does not wait with them.
    pub(super) fn ends_round(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) -> bool {
        let is_question = matches!(event.kind, Kind::Request(_) | Kind::Response(_) | Kind::Withdraw(_));
        (self.want.asks || !is_question) && !self.waits_with_results(event, down)
    }

    /// Whether it waits with the results of the round until its tokens are known: a question whether a call may run, and how that goes on.
    fn waits_with_results(&mut self, event: &Event<'_>, down: &mut Down<'_, '_>) -> bool {
        if !self.want.asks || !self.tokens_behind {
            return false;
        }
        let asks = matches!(event.kind, Kind::Request(request) if request.permission.is_some()) && event.origin.parent.is_none();
        let goes_on = matches!(event.kind, Kind::ToolProgress(_) | Kind::Withdraw(_));
        let (thread, desk) = self.at(None, down);
        (asks || goes_on && thread.results.waits()) && thread.holds_results(&desk)
    }

    /// Whether it tells of a call that was given up with its turn.
    pub(super) fn is_of_given_up(&self, kind: &Kind<'_>) -> bool {
        match kind {
            Kind::ToolResult(ToolResult { call, .. }) | Kind::ToolProgress(ToolProgress { call, .. }) => {
                !self.want.as_is && self.calls.was_given_up(*call)
            }
            _ => false,
        }
    }

    pub(super) fn end_turn(&mut self, outcome: &Event<'_>, down: &mut Down<'_, '_>) {
        if let Kind::Outcome(said) = outcome.kind {
            self.threads.main.spends_rest(outcome.origin.session, said, down);
        }
        self.settle(outcome.origin, down);
        let (stopped, gone) = match outcome.kind {
            Kind::Outcome(outcome) => (
                outcome.kind == OutcomeKind::Cancelled,
                outcome.synthetic && outcome.kind == OutcomeKind::Failed(Place::Backend),
            ),
            _ => (false, false),
        };
        let gives_up = self.duties.live && stopped || self.duties.gone && gone;
        if self.duties.repair || gives_up {
            for at in self.calls.unresolved() {
                let text = Str::trusted(if self.duties.repair {
                    "The tool call was interrupted: the log holds no result for it."
                } else {
                    "The tool call was interrupted."
                });
                let id = Str::trusted(self.calls.id(at));
                let result = ToolResult {
                    name: Some(Str::trusted(self.calls.name(at))),
                    is_error: Some(true),
                    // Where tools are translated the target knows its own call.
                    of: self.duties.tools.is_none().then(|| self.calls.get(at, id, down.cx)),
                    ..ToolResult::new(id, ResultStatus::Canceled, Content::Text(text))
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
        let Duties {
            watch, repair, gives_back, ..
        } = self.duties;
        let goes_on = if made_up { repair || !watch && !gives_back } else { !watch };
        if goes_on {
            down.encoder.event(outcome, down.out);
        }
        self.calls.drop_unsaid(down.out);
        if gives_up && !repair {
            self.calls.give_up();
        } else if self.results_outlive_turns && !repair {
            // What the host's tools give back, or what goes on in the background, comes with a later turn.
            self.calls.keep_unresolved();
        } else {
            self.calls.clear();
        }
        self.threads.end_all();
        self.threads.main.clear();
        self.turn.open = false;
        self.turn.prompted = false;
        self.turn.is_later = true;
        self.turn.failed = false;
    }

    /// Ends a turn that the source left without an outcome.
    pub(super) fn end_unfinished(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let outcome = Outcome {
            synthetic: true,
            error: Some(Str::trusted(Outcome::CUT_OFF)),
            ..Outcome::new(OutcomeKind::Failed(Place::Protocol))
        };
        match (self.duties.watch, self.duties.repair) {
            (false, _) => down.out.note(Fate::Invented, "", "the turn has no outcome: one was made up"),
            (true, true) => down.out.note(Fate::Repaired, "", "the turn had no outcome: one was added"),
            (true, false) => {}
        }
        self.end_turn(&Event::new(origin, Kind::Outcome(&outcome)), down);
    }

    /// The error was of the turn before, which nothing else ends: what comes is of another one. An outcome would be of the same.
    #[cold]
    pub(super) fn fails(&mut self, origin: Origin<'_>, down: &mut Down<'_, '_>) {
        let origin = Origin {
            session: origin.session,
            ..Origin::default()
        };
        let outcome = Outcome {
            synthetic: true,
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        self.end_turn(&Event::new(origin, Kind::Outcome(&outcome)), down);
    }
}

/// Whether a turn is going on with it, and not only over.
pub(super) const fn begins(kind: &Kind<'_>) -> bool {
    match kind {
        Kind::Session(session) => session.opens_turn,
        Kind::Reply(reply) => !reply.blocks.is_empty(),
        _ => matches!(kind, Kind::Prompt(_) | Kind::BlockStart(_) | Kind::Delta(_) | Kind::ToolResult(_)),
    }
}

/// Tells the ledger which parts of a result go over in the target's own shape: the text, and the structured form if it has
/// become another one.
fn told_in_another_shape(result: &ToolResult<'_>, shaped: &ToolResult<'_>, out: &Out) {
    const NOTE: &str = "the result of a tool in the target's own shape";
    // A text that stays as it is goes over where it is written, and a structured form that stays is not the target's.
    let stays = shaped.content == result.content;
    let others = Made::result(&ToolResult {
        content: if stays { Content::Blocks(&[]) } else { shaped.content },
        detail: shaped.detail.filter(|detail| Some(*detail) != result.detail),
        ..*shaped
    });
    for text in result.content.texts().filter(|text| !text.is_empty()) {
        // A text that was made of the structured form is told with that.
        if result.detail.is_none() || out.holds(text.as_escaped()) {
            others.tell_text(text, NOTE, out);
        }
    }
    match result.detail {
        Some(detail) if shaped.detail != Some(detail) => {
            let made = Made::result(shaped);
            let made = if stays { made.with_text(result.content) } else { made };
            made.tell(detail.raw, NOTE, out);
        }
        Some(detail) => Made::texts(shaped.content).tell_beside(detail.raw, out),
        None => {}
    }
}
