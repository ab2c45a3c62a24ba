//! A conversation with the model: what it was told and has said, and where that is written.

pub(crate) mod transcript;

use std::cell::Cell;
use std::rc::Rc;

use tokio_util::sync::CancellationToken;

use crate::host::event_writer::RunningSubagent;
use crate::model::Written;
use crate::model::message::{Message, Part, Role};
use crate::tools::{Spec, Tool};

/// One conversation with the model: the main one, or a subagent's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    /// Who speaks; nobody for the main one.
    pub subagent: Option<RunningSubagent>,
    /// Stops it, if it goes on over the ends of turns.
    pub stop: Option<CancellationToken>,
    /// Calls of tools that it has made.
    pub calls: Cell<u64>,
    /// What was said.
    pub messages: Vec<Rc<Message>>,
    /// What is written of it for the model.
    pub written: Rc<Written>,
    /// The system prompt.
    pub system: String,
    /// The tools.
    pub tools: Vec<Rc<dyn Tool>>,
    /// The same as the model is told.
    pub specs: Vec<Rc<Spec>>,
    /// The model.
    pub model: String,
    /// The most rounds of a turn.
    pub max_rounds: Option<u64>,
    /// Its transcript.
    pub transcript: transcript::Handle,
    /// Tokens that the last request had, as the API counted them.
    pub context_tokens: u64,
}

impl Conversation {
    /// The tool of a name.
    pub(crate) fn tool(&self, name: &str) -> Option<Rc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.is_called(name)).cloned()
    }

    /// Gives it these tools. What the model is told of one that it had before stays the same, and need not be written again.
    pub(crate) fn equip(&mut self, tools: Vec<Rc<dyn Tool>>) {
        let told = |tools: &[Rc<dyn Tool>]| -> Vec<Rc<dyn Tool>> { tools.iter().filter(|tool| tool.is_told()).cloned().collect() };
        let had = told(&self.tools);
        let specs = told(&tools).into_iter().map(|tool| {
            let at = had.iter().position(|had| std::ptr::addr_eq(Rc::as_ptr(had), Rc::as_ptr(&tool)));
            let at = at.or_else(|| self.specs.iter().position(|spec| **spec == *tool.spec()));
            let spec = at.and_then(|at| self.specs.get(at)).cloned();
            spec.unwrap_or_else(|| Rc::new(tool.spec().clone()))
        });
        self.specs = specs.collect();
        self.tools = tools;
    }

    /// Adds to the user's side: the last message if it is the user's, else a new one.
    pub(crate) fn add_user(&mut self, parts: impl IntoIterator<Item = Part>) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => Rc::make_mut(last).parts.extend(parts),
            _ => self.messages.push(Rc::new(Message {
                role: Role::User,
                parts: parts.into_iter().collect(),
            })),
        }
    }
}
