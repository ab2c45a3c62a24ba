//! What subagents do. They have no lines of their own in the RFC: their calls are told with the result of the call that started
//! them.

use std::collections::{BTreeMap, VecDeque};

use crate::event::{Block, BlockHead, Event, Kind, Piece, ResultStatus, ToolCall};
use crate::json::{Out, Str, leaves};
use crate::threads::Threads;
use crate::trace::Kept;

/// The subagents of a turn.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// The subagents at work; the main thread is none of them.
    open: Threads<Task>,
    /// For calls of subagents that call of the main thread which they are told with: there a subagent that works for one of them belongs.
    above: BTreeMap<String, String>,
    /// Calls whose result has gone out while their subagent goes on in the background: what it does comes too late.
    done: VecDeque<String>,
}

/// One subagent, with those that it called itself.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Its name, where its lines say it.
    pub(super) name: String,
    pub(super) calls: Vec<TaskCall>,
    /// The last call of each id.
    by_id: BTreeMap<String, usize>,
    /// Where the source says them.
    pub(super) kept: Kept,
}

/// A call that a subagent made.
#[derive(Debug, Default)]
pub(super) struct TaskCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments as JSON, or as the body of a string that holds it while they come in pieces.
    pub(super) input: String,
    pub(super) in_pieces: bool,
    /// The call for which the subagent works that made it, and which block of its reply it is.
    thread: String,
    block: u32,
    pub(super) status: Option<ResultStatus>,
    /// What came of it, as a string's body.
    pub(super) text: String,
}

impl Tasks {
    const MOST: usize = 64;

    /// Looks at what a subagent says.
    pub(super) fn watch(&mut self, event: &Event<'_>, out: &Out) {
        let Some(parent) = event.origin.parent else { return };
        let thread = parent.as_escaped();
        let main = self.above.get(thread).map_or(thread, String::as_str).to_owned();
        if self.done.contains(&main) {
            return;
        }
        match event.kind {
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    if let Block::Call(call) = block {
                        self.above.insert(call.id.as_escaped().to_owned(), main.clone());
                        self.task(&main, event).call(call, out);
                    }
                }
            }
            Kind::BlockStart(start) => {
                if let BlockHead::Call { id, name } = start.head {
                    self.above.insert(id.as_escaped().to_owned(), main.clone());
                    let task = self.task(&main, event);
                    task.told([id, name].map(Str::as_escaped), out);
                    task.add(TaskCall {
                        id: id.as_escaped().to_owned(),
                        name: name.as_escaped().to_owned(),
                        in_pieces: true,
                        thread: thread.to_owned(),
                        block: start.index,
                        ..TaskCall::default()
                    });
                }
            }
            Kind::Delta(delta) => {
                let Piece::Input(text) = delta.piece else { return };
                let task = self.task(&main, event);
                let is_it = |call: &&mut TaskCall| call.in_pieces && call.block == delta.index && call.thread == thread;
                if let Some(call) = task.calls.iter_mut().rfind(is_it) {
                    call.input.push_str(text.as_escaped());
                    task.told([text.as_escaped()], out);
                    out.hold_words(&mut task.kept, text.as_escaped());
                }
            }
            Kind::ToolResult(result) => {
                let task = self.task(&main, event);
                if let Some(call) = task.known(result.call) {
                    call.status = Some(result.status);
                    call.text.clear();
                    result.content.texts().for_each(|text| call.text.push_str(text.as_escaped()));
                    task.told([result.call.as_escaped()], out);
                    result.content.texts().for_each(|text| task.told([text.as_escaped()], out));
                }
            }
            _ => {}
        }
    }

    /// What the subagent of a call did; its result is about to go out.
    pub(super) fn take(&mut self, call: Str<'_>) -> Option<Task> {
        let task = self.open.end(call.as_escaped())?;
        for call in &task.calls {
            self.above.remove(&call.id);
        }
        if self.done.len() == Self::MOST {
            self.done.pop_front();
        }
        self.done.push_back(call.as_escaped().to_owned());
        Some(task)
    }

    /// The turn is over.
    pub(super) fn clear(&mut self, out: &Out) {
        for task in self.open.all() {
            out.drop_held(&mut task.kept, "what a subagent did is told with the result of its call, which has none");
        }
        self.open.end_all();
        self.above.clear();
        self.done.clear();
    }

    /// What is told with a call of the main thread, of which an event is part.
    fn task(&mut self, main: &str, event: &Event<'_>) -> &mut Task {
        let task = self.open.subagent(main, |_| Task::default());
        if let Some(name) = event.origin.agent.and_then(|agent| agent.name).filter(|_| task.name.is_empty()) {
            name.as_escaped().clone_into(&mut task.name);
        }
        task
    }
}

impl Task {
    fn add(&mut self, call: TaskCall) {
        self.by_id.insert(call.id.clone(), self.calls.len());
        self.calls.push(call);
    }

    fn known(&mut self, id: Str<'_>) -> Option<&mut TaskCall> {
        self.by_id.get(id.as_escaped()).and_then(|&at| self.calls.get_mut(at))
    }

    fn call(&mut self, call: &ToolCall<'_>, out: &Out) {
        self.told([call.id.as_escaped()], out);
        // Name and arguments may be the target's own.
        out.hold_unsaid(&mut self.kept, call.name.as_escaped());
        match out.holds(call.input.as_str()) {
            true => out.hold(&mut self.kept, call.input.as_str()),
            false => leaves(call.input).iter().for_each(|part| out.hold_unsaid(&mut self.kept, part.as_str())),
        }
        out.hold_words(&mut self.kept, call.input.as_str());
        if self.known(call.id).is_none() {
            self.add(TaskCall {
                id: call.id.as_escaped().to_owned(),
                ..TaskCall::default()
            });
        }
        let Some(known) = self.known(call.id) else { return };
        call.name.as_escaped().clone_into(&mut known.name);
        call.input.as_str().clone_into(&mut known.input);
        known.in_pieces = false;
    }

    /// Parts of the line go over later.
    fn told<const N: usize>(&mut self, parts: [&str; N], out: &Out) {
        parts.iter().for_each(|part| out.hold_unsaid(&mut self.kept, part));
        out.carried();
    }
}
