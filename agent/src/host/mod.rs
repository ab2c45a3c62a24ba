//! What goes between the agent and its host: events and questions one way, prompts and answers the other.

pub(crate) mod display;
pub(crate) mod event_writer;
pub(crate) mod prompts;
pub(crate) mod reply;
pub(crate) mod side_jobs;
pub(crate) mod state;
pub mod terminal;

use std::cell::{Cell, RefCell};

use self::display::Screens;
use self::event_writer::EventWriter;
use self::prompts::PromptQueue;
use self::side_jobs::SideJobs;
use self::state::SessionState;
use crate::control_requests::HostRequests;
use crate::persona::HostPersona;
use crate::persona::host::PromptState;
use agentglot_adapters::raw::codec::{Dialect, Layout};
use agentglot_adapters::raw::launch::Launch;

/// The host of a session.
#[derive(Debug)]
pub(crate) struct Host {
    /// The dialect that it speaks.
    pub dialect: Dialect,
    /// How it wants to hear of things.
    pub persona: &'static dyn HostPersona,
    /// What it asked for.
    pub launch: Launch,
    /// The session's id.
    pub session: RefCell<String>,
    /// What it is told.
    pub events: EventWriter,
    /// What it is asked.
    pub requests: HostRequests,
    /// What it has said.
    pub prompts: PromptQueue,
    /// What it knows of whether the session works.
    pub state: SessionState,
    /// What it sees of tools that run.
    pub screens: RefCell<Screens>,
    /// It was told the session's facts.
    pub introduced: Cell<bool>,
    /// What is done beside the turns.
    pub jobs: SideJobs,
    /// Tells the user what no dialect has a word for.
    pub warn: fn(&str),
}

impl Host {
    /// Tells the host what becomes of a prompt that it has given an id.
    pub(crate) fn prompt_is(&self, id: &str, state: PromptState) {
        if id.is_empty() || self.launch.format.mode.layout != Layout::Lines {
            return;
        }
        if let Some(told) = self.persona.prompt_is(id, state) {
            self.events.told(&told);
        }
    }
}
