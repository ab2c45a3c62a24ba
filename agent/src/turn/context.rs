//! What the turns of a session work with: its parts, each with a state of its own.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use super::client_tools::ClientTools;
use super::hooks::HookState;
use super::options::Options;
use super::state::TurnState;
use super::structured::Slot;
use super::tasks::Tasks;
use crate::conversation::{Conversation, transcript};
use crate::host::Host;
use crate::mcp::McpServers;
use crate::model::Model;
use crate::model::call_ids::CallIds;
use crate::model::names::Models;
use crate::model::usage::SessionUsage;
use crate::permissions::Policy;
use crate::persona::{Persona, PersonaSession};
use crate::restrictions::Restrictions;
use crate::settings::CurrentSettings;
use crate::settings::subagent::SubagentKind;
use crate::store::Checkpoints;
use crate::tools::{Tool, World};

/// The parts of a session.
pub(crate) struct Context {
    /// The host, and the dialect that it speaks.
    pub host: Host,
    /// Whom the agent plays.
    pub persona: &'static Persona,
    /// What the command line keeps it from.
    pub restrictions: Restrictions,
    /// What it keeps for that in this session.
    pub persona_session: Rc<dyn PersonaSession>,
    /// Who thinks.
    pub model: ModelState,
    /// What it may call.
    pub tools: Toolbox,
    /// The surroundings of its tools.
    pub world: Rc<World>,
    /// MCP servers.
    pub mcp: McpServers,
    /// What may run.
    pub policy: RefCell<Policy>,
    /// What hooks are asked, and what they have said.
    pub hooks: HookState,
    /// What files of settings say.
    pub settings: CurrentSettings,
    /// What is kept on disk.
    pub store: Kept,
    /// The main conversation; taken out while a turn works on it.
    pub conversation: RefCell<Conversation>,
    /// The turn that runs.
    pub turns: TurnState,
    /// Subagents in the background.
    pub tasks: Tasks,
}

/// The model, and what it has used.
#[derive(Debug)]
pub(crate) struct ModelState {
    /// Its client.
    pub client: Rc<dyn Model>,
    /// What models are called.
    pub names: Models,
    /// What the host wants of it now.
    pub options: RefCell<Options>,
    /// What it has used so far.
    pub usage: RefCell<SessionUsage>,
    /// The ids of the calls that it has made.
    pub calls: RefCell<CallIds>,
}

/// The tools of a session, but for those of MCP servers.
#[derive(Debug)]
pub(crate) struct Toolbox {
    /// Those of the dialect.
    pub own: Vec<Rc<dyn Tool>>,
    /// Those that are for the user to answer.
    pub asking: Vec<Rc<dyn Tool>>,
    /// Those that the host runs.
    pub client: Rc<ClientTools>,
    /// The answer that was given by the tool for it.
    pub structured: Slot,
}

/// What a session keeps on disk.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The transcript of the main conversation.
    pub transcript: transcript::Handle,
    /// What files were before they were changed, if the host wants to go back.
    pub checkpoints: Option<RefCell<Checkpoints>>,
    /// The session goes on from an earlier run.
    pub resumed: bool,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Context {
    /// Stops the turn that runs, or the one that is about to begin.
    pub(crate) fn interrupt(&self) {
        self.turns.interrupt(self.host.prompts.bytes() > 0);
    }

    /// Reads the folders of settings again: commands, skills, kinds of subagents, output styles, plugins. What files say of permissions,
    /// hooks and servers holds from the beginning of a run to its end.
    pub(crate) fn reload(&self) {
        let settings = self.settings.reload(&self.restrictions);
        let mut options = self.model.options.borrow_mut();
        for agent in &settings.agents {
            options.agents.entry(agent.name.clone()).or_insert_with(|| SubagentKind::of(agent));
        }
    }
}
