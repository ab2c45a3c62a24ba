//! What a persona has and keeps for one session.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use agentglot_adapters::raw::launch::Launch;
use serde_json::Value;

use crate::model::Ask;
use crate::model::message::Message;
use crate::model::usage::Tokens;
use crate::tools::processes::Processes;
use crate::tools::seen::Seen;
use crate::tools::shell::Settings;
use crate::tools::todo::Todos;
use crate::tools::web_search::Engine;
use crate::tools::{Given, Tool, World};

/// What a session begins with.
#[derive(Debug)]
pub struct Start<'s> {
    /// What the host asked for; a persona may complete its lists.
    pub launch: &'s mut Launch,
    /// The surroundings of the tools.
    pub world: &'s World,
    /// How commands run.
    pub commands: Settings,
    /// Who searches the web.
    pub engine: Option<Engine>,
}

/// A persona in one session.
pub trait PersonaSession: fmt::Debug {
    /// The tools, under the vendor's names.
    fn tools(&self, world: &Rc<World>) -> Vec<Rc<dyn Tool>>;

    /// What its tools run: to be ended with the session, and looked at for ends of what runs in the background.
    fn processes(&self) -> Option<Rc<Processes>>;

    /// The system prompt, where the host gives none.
    fn system_prompt(&self, world: &World) -> String;

    /// The result of a call of a tool that there is not.
    fn unknown(&self, name: &str) -> Given;

    /// A call that is refused before anything else is asked.
    fn gate(&self, name: &str, input: &Value) -> Option<Given> {
        let _ = (name, input);
        None
    }

    /// Whether a call needs permission, where that does not follow from what it touches.
    fn needs_permission(&self, name: &str) -> Option<bool> {
        let _ = name;
        None
    }

    /// What becomes of the other calls of a round when a person has denied one, where the turn ends behind them without an answer.
    fn behind_denial(&self) -> Option<Given> {
        None
    }

    /// How many calls of a reply run at the same time, if they only read.
    fn side_by_side(&self) -> usize {
        10
    }

    /// What the model is reminded of behind the last result of a round: told to the model as a message of the user's, and to the host as
    /// a reminder.
    fn reminder(&self) -> Option<String> {
        None
    }

    /// Why the model may not finish yet, though it tried.
    fn unfinished(&self) -> Option<String> {
        None
    }

    /// A request to the model in short, for whoever wants to see it between the lines.
    fn debug_request(&self, ask: &Ask<'_>) -> Option<String> {
        let _ = ask;
        None
    }

    /// The answer to it: its id, the model, what it says, what it has cost.
    fn debug_reply(&self, id: &str, model: &str, message: &Message, tokens: Tokens) -> Option<String> {
        let _ = (id, model, message, tokens);
        None
    }

    /// What of all this a session keeps on disk, for a run that goes on with it.
    fn keep(&self) -> Option<Value> {
        None
    }

    /// Takes back what an earlier run of the session kept.
    fn restore(&self, kept: &Value) {
        let _ = kept;
    }
}

/// The tools of a persona whose session shares no more than these.
pub(super) type MakeTools = fn(&Rc<Processes>, &Rc<Seen>, &Rc<Todos>) -> Vec<Rc<dyn Tool>>;

/// A session of a persona with tools for files, commands and things to do, and our own system prompt.
#[derive(Debug)]
pub(super) struct Plain {
    tools: MakeTools,
    unknown: fn(&str) -> Given,
    settings: Settings,
    processes: OnceCell<Rc<Processes>>,
}

impl Plain {
    pub(super) fn begin(start: Start<'_>, tools: MakeTools, unknown: fn(&str) -> Given) -> Rc<dyn PersonaSession> {
        Rc::new(Self {
            tools,
            unknown,
            settings: start.commands,
            processes: OnceCell::new(),
        })
    }
}

impl PersonaSession for Plain {
    fn tools(&self, world: &Rc<World>) -> Vec<Rc<dyn Tool>> {
        let processes = self.processes.get_or_init(|| Processes::new(world, self.settings.clone()));
        (self.tools)(processes, &Rc::default(), &Rc::default())
    }

    fn processes(&self) -> Option<Rc<Processes>> {
        self.processes.get().cloned()
    }

    fn system_prompt(&self, world: &World) -> String {
        format!(
            "You are a coding agent that works from a program, without a person at a terminal. You work in the folder {} on a {} machine.\n\n\
             Work on what was asked until it is done, with the tools that you have. Look before you change something: read files before you \
             edit them, search instead of guessing, keep to the style of what is there. Make the smallest change that does the whole job, and \
             check it by running what the project has for that. Never invent results; say plainly what did not work. Do not commit, push, \
             delete or send anything that you were not asked to. When you are done, answer briefly: what you did, what you found, what is left.",
            world.wall.root().display(),
            std::env::consts::OS,
        )
    }

    fn unknown(&self, name: &str) -> Given {
        (self.unknown)(name)
    }
}
