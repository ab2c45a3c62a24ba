//! What all parts of one agent share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::hooks::Hooks;
use crate::host::event_writer::{EventWriter, Speaks};
use crate::host::prompts::PromptQueue;
use crate::host::requests::HostRequests;
use crate::mcp::{self, Mcp};
use crate::model::message::{Call, Message, Part};
use crate::model::{self, Model, Written};
use crate::permissions::Policy;
use crate::persona::{Persona, PersonaSession};
use crate::settings::{AgentFile, Settings};
use crate::store::Checkpoints;
use crate::tools::{Spec, Tool, World};
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::Usage;
use agentglot_adapters::launch::Launch;

/// One agent.
pub(crate) struct Core {
    /// The dialect in use.
    pub dialect: Dialect,
    /// What its host asked for.
    pub launch: Launch,
    /// Tells the user what no dialect has a word for.
    pub warn: fn(&str),
    /// Whom it plays.
    pub persona: &'static dyn Persona,
    /// What it keeps for that in this session.
    pub persona_session: Rc<dyn PersonaSession>,
    /// The tools of the dialect.
    pub tools: Vec<Rc<dyn Tool>>,
    /// Those that are for the user to answer.
    pub asking: Vec<Rc<dyn Tool>>,
    /// Who thinks.
    pub model: Rc<dyn Model>,
    /// The surroundings of its tools.
    pub world: Rc<World>,
    /// What it says.
    pub events: EventWriter,
    /// What it asks.
    pub requests: HostRequests,
    /// What it is asked.
    pub prompts: PromptQueue,
    /// MCP servers, once they were asked for.
    pub mcp: RefCell<Option<Mcp>>,
    /// What the handshake says of them, until it was taken over.
    pub greeting: RefCell<Option<Value>>,
    /// The transcript of the main conversation.
    pub kept: crate::conversation::transcript::Kept,
    /// What files were before they were changed, if the host wants to go back.
    pub checkpoints: Option<RefCell<Checkpoints>>,
    /// What is to be done beside the turns.
    pub chores: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
    /// What settings files say.
    pub settings: RefCell<Rc<Settings>>,
    /// The MCP servers of the command line.
    pub flagged: Vec<mcp::Server>,
    /// The MCP servers that they name.
    pub servers: Value,
    /// What the user and the project want every agent to know.
    pub memory: Option<String>,
    /// What may run.
    pub policy: RefCell<Policy>,
    /// What tools print that run now.
    pub screens: RefCell<crate::host::display::Screens>,
    /// What the host may change while it runs.
    pub wishes: RefCell<Wishes>,
    /// The conversation.
    pub thread: RefCell<Thread>,
    /// What it has cost so far.
    pub spent: RefCell<Spent>,
    /// The turn that begins next is stopped at once: the host said so before it began.
    pub stopped_ahead: Cell<bool>,
    /// The call that an earlier run of the session has put off, until somebody has come back to it.
    pub deferred: RefCell<Option<Call>>,
    /// Stops the turn that runs.
    pub cancel: RefCell<CancellationToken>,
    /// The session's id.
    pub session: RefCell<String>,
    /// The answer that was given by the tool for it.
    pub structured: crate::turn::structured::Slot,
    /// What models are called.
    pub models: model::names::Models,
    /// Subagents in the background.
    pub tasks: crate::turn::tasks::Tasks,
    /// What the host knows of whether it works.
    pub session_state: crate::host::state::SessionState,
    /// What is known of the host's requests.
    pub desk: Rc<crate::commands::request::Desk>,
    /// Turns that have begun.
    pub turns: Cell<u64>,
    /// The session goes on from an earlier run.
    pub resumed: bool,
    /// Whom hooks belong to.
    pub hooks: Hooks,
    /// What hooks want the model to read behind a call, by its id.
    pub hook_context: RefCell<BTreeMap<String, String>>,
    /// Conversations that a hook has not let stop; the main one has no id.
    pub held_up: RefCell<BTreeSet<String>>,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("dialect", &self.dialect).finish_non_exhaustive()
    }
}

impl Core {
    /// Stops the turn that runs, or the one that is about to begin.
    pub(crate) fn interrupt(&self) {
        self.cancel.borrow().cancel();
        if !self.desk.busy.get() && self.prompts.bytes() > 0 {
            self.stopped_ahead.set(true);
        }
    }

    /// Stops what this conversation does: the turn that runs, or the subagent in the background.
    pub(crate) fn cancel_of(&self, thread: &Thread) -> CancellationToken {
        thread.stop.clone().unwrap_or_else(|| self.cancel.borrow().clone())
    }

    /// What settings files say.
    pub(crate) fn settings(&self) -> Rc<Settings> {
        self.settings.borrow().clone()
    }

    /// Reads the folders of settings again: commands, skills, kinds of subagents, output styles, plugins. What files say of leave, hooks and
    /// servers holds from the beginning of a run to its end.
    pub(crate) fn reload(&self) {
        let settings = Settings::load(self.settings().places().clone());
        for problem in &settings.problems {
            tracing::warn!("{problem}");
        }
        let mut wishes = self.wishes.borrow_mut();
        for agent in &settings.agents {
            wishes.agents.entry(agent.name.clone()).or_insert_with(|| AgentKind::of(agent));
        }
        drop(wishes);
        self.settings.replace(Rc::new(settings));
    }

    /// Does something beside the turns.
    pub(crate) fn chore(&self, chore: impl Future<Output = ()> + 'static) {
        self.chores.borrow_mut().push(Box::pin(chore));
        self.events.nudge();
    }

    /// The MCP servers, which begin to come up when they are first asked for.
    pub(crate) fn mcp(&self) -> Mcp {
        let mcp = self.mcp.borrow_mut().get_or_insert_with(|| self.start_mcp()).clone();
        if let Some(greeting) = self.greeting.take()
            && let Err(error) = mcp.initialize(&greeting)
        {
            tracing::warn!("{error}");
        }
        mcp
    }

    fn start_mcp(&self) -> Mcp {
        let root = self.world.wall.root().to_owned();
        let variable = |name: &str| std::env::var(name).ok();
        let mut servers = match mcp::config::of_value(&self.servers, "settings", &variable) {
            Ok(servers) if !self.launch.strict_mcp => servers,
            _ => Vec::new(),
        };
        mcp::config::join(&mut servers, self.flagged.clone());
        let options = mcp::Options {
            naming: *self.persona.mcp(),
            asks_user: self.persona.elicits() && self.launch.has_stdin_protocol(),
            ..mcp::Options::new(root, self.world.environment.to_vec(), &variable)
        };
        Mcp::start(servers, self.requests.clone(), options)
    }

    /// Adds what a call of the model has used to the session's sum. A server may answer in a name of its own that has no price: then the
    /// price of the model that was asked for counts.
    pub(crate) fn count(&self, model: &str, asked: &str, used: &Usage<'_>) -> Tokens {
        let tokens = Tokens::of(used);
        let mut spent = self.spent.borrow_mut();
        let of_model = spent.models.entry(model.to_owned()).or_default();
        of_model.tokens += tokens;
        of_model.requests += 1;
        of_model.cost += model::cost(model, used).or_else(|| model::cost(asked, used)).unwrap_or(0.0);
        tokens
    }
}

/// What the host may change while the agent runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// The model.
    pub model: String,
    /// The model that the launch named.
    pub first_model: String,
    /// The system prompt instead of ours; an empty one is none.
    pub system: Option<String>,
    /// What is added to the system prompt.
    pub append_system: Option<String>,
    /// Kinds of subagents, by name.
    pub agents: BTreeMap<String, AgentKind>,
    /// Subagents' words and thoughts are told to the host too.
    pub forwards_text: bool,
    /// The JSON schema of the answer.
    pub schema: Option<Value>,
    /// The most tokens for thinking.
    pub thinking: Option<u64>,
    /// How much effort.
    pub effort: Option<String>,
    /// Sampling.
    pub temperature: Option<f64>,
    /// Sampling.
    pub top_p: Option<f64>,
    /// The most tokens of a reply.
    pub max_tokens: Option<u64>,
}

/// A kind of subagent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AgentKind {
    /// When to use it.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools that it has; all of ours if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that it does not have.
    pub without: Vec<String>,
    /// Its model; ours if absent.
    pub model: Option<String>,
    /// The most rounds of it.
    pub max_rounds: Option<u64>,
    /// Nobody waits for it.
    pub background: bool,
}

impl AgentKind {
    /// That of a file.
    pub(crate) fn of(agent: &AgentFile) -> Self {
        Self {
            description: agent.description.clone(),
            prompt: agent.prompt.clone(),
            tools: agent.tools.clone(),
            without: agent.without.clone(),
            model: agent.model.clone(),
            max_rounds: agent.max_rounds,
            background: agent.background,
        }
    }

    /// Whether it may have this tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        self.tools.as_deref().is_none_or(named) && !named(&self.without)
    }
}

/// One conversation with the model: the main one, or a subagent's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    /// Who speaks; nobody for the main one.
    pub speaks: Option<Speaks>,
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
    pub kept: crate::conversation::transcript::Kept,
    /// Tokens that the last request had, as the API counted them.
    pub filled: u64,
}

impl Thread {
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
        use crate::model::message::Role;
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => Rc::make_mut(last).parts.extend(parts),
            _ => self.messages.push(Rc::new(Message {
                role: Role::User,
                parts: parts.into_iter().collect(),
            })),
        }
    }
}

/// What the session has cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent {
    /// By model, with subagents.
    pub models: BTreeMap<String, ModelSpent>,
    /// The turn that runs, the main conversation alone.
    pub turn: Tokens,
    /// All turns, the main conversation alone.
    pub session: Tokens,
    /// Time in model calls in the turn that runs.
    pub api: Duration,
    /// Calls of tools so far.
    pub calls: u64,
    /// Calls of tools that were refused in the turn that runs: `{tool_name,tool_use_id,tool_input}`.
    pub denials: Vec<Value>,
}

/// What one model has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ModelSpent {
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars, as far as the price is known.
    pub cost: f64,
    /// Requests.
    pub requests: u64,
}

/// Tokens, cache reads and writes not counted in `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// What an API counted in one call.
    pub fn of(usage: &Usage<'_>) -> Self {
        let value = |count: Option<agentglot_adapters::event::Count<'_>>| count.map_or(0, |count| count.value);
        Self {
            input: usage.fresh_tokens().unwrap_or(0),
            output: value(usage.output),
            cache_read: value(usage.cache_read),
            cache_write: value(usage.cache_write),
        }
    }

    /// All that the model has read.
    pub const fn read(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
    }
}

impl Spent {
    /// US dollars of the whole session.
    pub(crate) fn cost(&self) -> f64 {
        self.models.values().map(|spent| spent.cost).fold(0.0, |sum, cost| sum + cost)
    }
}
