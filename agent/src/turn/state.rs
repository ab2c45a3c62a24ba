//! The turn that runs: whether there is one, and what stops it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use crate::conversation::Conversation;
use crate::model::message::{Call, Message};

/// A conversation as it stood before a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    /// Who answers.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// What was said.
    pub messages: Vec<Rc<Message>>,
}

/// The turn that runs, or the pause between two.
#[derive(Debug, Default)]
pub(crate) struct TurnState {
    /// Stops it.
    cancel: RefCell<CancellationToken>,
    /// The turn that begins next is stopped at once: the host said so before it began.
    stopped_ahead: Cell<bool>,
    /// A prompt is in work.
    pub busy: Cell<bool>,
    /// A limit of the whole run has ended the turn: no other one follows.
    pub is_last: Cell<bool>,
    /// The ids of prompts that the turn has read besides its own.
    pub joined: RefCell<Vec<String>>,
    /// The last turn's outcome was a failure.
    pub failed: Cell<bool>,
    /// What was said before the turn that runs.
    pub before: RefCell<Before>,
    /// Turns that have begun.
    pub begun: Cell<u64>,
    /// Calls of tools that the main conversation has made for the prompt.
    pub calls: Cell<u64>,
    /// The call that an earlier run of the session has put off, until somebody has come back to it.
    pub deferred: RefCell<Option<Call>>,
}

impl TurnState {
    /// A session goes on, perhaps with a call that was put off.
    pub(crate) fn new(deferred: Option<Call>) -> Self {
        Self {
            deferred: RefCell::new(deferred),
            ..Self::default()
        }
    }

    /// A turn begins.
    pub(crate) fn begin(&self) {
        let cancel = CancellationToken::new();
        if self.stopped_ahead.take() {
            cancel.cancel();
        }
        *self.cancel.borrow_mut() = cancel;
        self.busy.set(true);
        self.begun.set(self.begun.get() + 1);
    }

    /// Stops the turn that runs, or the one that is about to begin because a prompt waits.
    pub(crate) fn interrupt(&self, prompt_waits: bool) {
        self.cancel.borrow().cancel();
        if !self.busy.get() && prompt_waits {
            self.stopped_ahead.set(true);
        }
    }

    /// What stops the turn.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.cancel.borrow().clone()
    }

    /// What stops this conversation: the turn that runs, or the subagent in the background.
    pub(crate) fn cancel_of(&self, conversation: &Conversation) -> CancellationToken {
        conversation.stop.clone().unwrap_or_else(|| self.cancel())
    }
}
