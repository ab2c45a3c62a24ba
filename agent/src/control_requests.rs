//! What the agent asks its host on the control channel, and the host's answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;
use tokio::sync::oneshot;

use agentglot_adapters::raw::event::ControlKind;

/// What a question is refused with where the host cannot be asked.
pub const NOBODY: &str = "nobody can be asked for permission here";

/// Permission that the host did not give in this call: a rule, a mode or a command of the user's gave it, and the host saw nothing.
pub const UNSEEN: &str = "{\"behavior\":\"allow\",\"unseen\":true}";

/// Whether an answer is such a permission.
pub fn is_unseen(answer: &Value) -> bool {
    answer.get("unseen") == Some(&Value::Bool(true))
}

/// What a question is refused with that was open when the host closed its input.
pub const CLOSED: &str = "the host has closed its input";

/// A question for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked.
    pub kind: ControlKind,
    /// The same on the wire: `can_use_tool`, `hook_callback`, `mcp_message` …
    pub subtype: String,
    /// For [`ControlKind::CanUseTool`]: the tool, the call's id, the arguments and the suggestions.
    pub permission: Option<PermissionRequest>,
    /// The other members of the request, in order.
    pub fields: Vec<(String, Value)>,
}

/// A call that waits for permission.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionRequest {
    /// The tool.
    pub name: String,
    /// The call's id.
    pub call: String,
    /// The arguments.
    pub input: Value,
    /// Rules that the host may accept together with the call.
    pub suggestions: Option<Value>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The host says that it went wrong.
    #[error("{0}")]
    Failed(String),
    /// The question was taken back, or the host is gone.
    #[error("the host did not answer")]
    Gone,
}

type Waiting = HashMap<String, oneshot::Sender<Result<Value, Unanswered>>>;

/// The line to the host. Clones are the same line.
#[derive(Clone, Debug, Default)]
pub struct HostRequests {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: Waiting,
    asked: Vec<(String, Question)>,
    count: u64,
    wake: Rc<tokio::sync::Notify>,
    withdrawn: Vec<String>,
}

impl HostRequests {
    /// Asks, and waits for the answer: as long as it takes, for the session has deadlines of its own. Whoever drops this takes the question
    /// back.
    ///
    /// # Errors
    /// When the host answers with an error or not at all.
    pub async fn ask(&self, question: Question) -> Result<Value, Unanswered> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut inner = self.inner.borrow_mut();
            inner.count += 1;
            let id = format!("agentglot-{}", inner.count);
            inner.waiting.insert(id.clone(), answer);
            inner.asked.push((id.clone(), question));
            inner.wake.notify_one();
            id
        };
        let mut open = Open { line: self, id: Some(id) };
        let answer = answered.await.unwrap_or(Err(Unanswered::Gone));
        open.id = None;
        answer
    }

    /// Says something whose answer nobody waits for, such as a notification for an MCP server in the host.
    pub fn say(&self, question: Question) {
        let mut inner = self.inner.borrow_mut();
        inner.count += 1;
        let id = format!("agentglot-{}", inner.count);
        inner.asked.push((id, question));
        inner.wake.notify_one();
    }

    /// The host has answered. Returns whether anybody had asked.
    pub fn answer(&self, id: &str, answer: Result<Value, Unanswered>) -> bool {
        let waiting = self.inner.borrow_mut().waiting.remove(id);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    /// The host is gone: nobody will answer any more.
    pub fn hang_up(&self) {
        self.inner.borrow_mut().waiting.clear();
    }

    /// What is to be said to the host: questions with their ids, and the ids of those that were taken back.
    pub fn take(&self) -> (Vec<(String, Question)>, Vec<String>) {
        let mut inner = self.inner.borrow_mut();
        (std::mem::take(&mut inner.asked), std::mem::take(&mut inner.withdrawn))
    }

    /// Wakes whoever calls [`Self::take`].
    pub fn wake(&self) -> Rc<tokio::sync::Notify> {
        self.inner.borrow().wake.clone()
    }
}

/// A question that is open.
struct Open<'a> {
    line: &'a HostRequests,
    id: Option<String>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let mut inner = self.line.inner.borrow_mut();
        inner.waiting.remove(&id);
        let before = inner.asked.len();
        inner.asked.retain(|(asked, _)| *asked != id);
        if inner.asked.len() == before {
            inner.withdrawn.push(id);
            inner.wake.notify_one();
        }
    }
}
