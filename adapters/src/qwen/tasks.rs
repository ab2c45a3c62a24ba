//! What subagents do. They have no lines of their own in the RFC: their calls are told with the result of the call that started
//! them.

use std::collections::{BTreeMap, VecDeque};

use crate::event::{Block, BlockHead, Event, Kind, Piece, ResultStatus, ToolCall};
use crate::json::{Out, Str};
use crate::threads::Threads;

/// The subagents of a turn.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// The subagents at work; the main thread is none of them.
    open: Threads<Task>,
    /// Calls whose result has gone out while their subagent goes on in the background: what it does comes too late.
    done: VecDeque<String>,
}

/// One subagent.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Its name, where its lines say it.
    pub(super) name: String,
    pub(super) calls: Vec<TaskCall>,
    /// The last call of each id.
    by_id: BTreeMap<String, usize>,
}

/// A call that a subagent made.
#[derive(Debug, Default)]
pub(super) struct TaskCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments as JSON, or as the body of a string that holds it while they come in pieces.
    pub(super) input: String,
    pub(super) in_pieces: bool,
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
        if self.done.iter().any(|done| done == parent.as_escaped()) {
            return;
        }
        match event.kind {
            Kind::Reply(reply) => {
                for block in reply.blocks {
                    if let Block::Call(call) = block {
                        self.task(event).call(call, out);
                    }
                }
            }
            Kind::BlockStart(start) => {
                if let BlockHead::Call { id, name } = start.head {
                    told([id, name].map(Str::as_escaped), out);
                    let call = TaskCall {
                        id: id.as_escaped().to_owned(),
                        name: name.as_escaped().to_owned(),
                        in_pieces: true,
                        block: start.index,
                        ..TaskCall::default()
                    };
                    self.task(event).add(call);
                }
            }
            Kind::Delta(delta) => {
                if let Piece::Input(text) = delta.piece
                    && let Some(call) = self
                        .task(event)
                        .calls
                        .iter_mut()
                        .rfind(|call| call.in_pieces && call.block == delta.index)
                {
                    told([text.as_escaped()], out);
                    call.input.push_str(text.as_escaped());
                }
            }
            Kind::ToolResult(result) => {
                if let Some(call) = self.task(event).known(result.call) {
                    told([result.call.as_escaped()], out);
                    call.status = Some(result.status);
                    call.text.clear();
                    for text in result.content.texts() {
                        told([text.as_escaped()], out);
                        call.text.push_str(text.as_escaped());
                    }
                }
            }
            _ => {}
        }
    }

    /// What the subagent of a call did; its result is about to go out.
    pub(super) fn take(&mut self, call: Str<'_>) -> Option<Task> {
        let task = self.open.end(call.as_escaped())?;
        if self.done.len() == Self::MOST {
            self.done.pop_front();
        }
        self.done.push_back(call.as_escaped().to_owned());
        Some(task)
    }

    /// The turn is over.
    pub(super) fn clear(&mut self) {
        self.open.end_all();
        self.done.clear();
    }

    fn task(&mut self, event: &Event<'_>) -> &mut Task {
        let parent = event.origin.parent.unwrap_or_default();
        let task = self.open.subagent(parent.as_escaped(), |_| Task::default());
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
        told([call.id.as_escaped(), call.name.as_escaped(), call.input.as_str()], out);
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
}

/// Tells the ledger that parts of the line go over later.
fn told<const N: usize>(parts: [&str; N], out: &Out) {
    parts.iter().for_each(|part| out.used(part));
    out.carried();
}
