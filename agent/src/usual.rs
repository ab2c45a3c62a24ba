//! The persona of the dialects whose agents are much alike: Claude Code, Qwen Code, the RFC, Cursor.

use std::cell::OnceCell;
use std::rc::Rc;

use super::persona;
use super::persona::Persona;
use super::tool::{Given, Tool, World};
use super::tools::processes::Processes;
use super::tools::seen::Seen;
use super::tools::shell::Settings;
use super::tools::todo::Todos;
use agentglot_adapters::codec::Dialect;
use agentglot_adapters::event::DetailShape;

/// See the module.
#[derive(Debug)]
pub(super) struct Usual {
    dialect: Dialect,
    settings: Settings,
    processes: OnceCell<Rc<Processes>>,
}

impl Usual {
    /// That of a dialect, and how its commands run.
    pub(super) const fn new(dialect: Dialect, settings: Settings) -> Self {
        Self {
            dialect,
            settings,
            processes: OnceCell::new(),
        }
    }
}

impl Persona for Usual {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn tools(&self, world: &Rc<World>) -> Vec<Rc<dyn Tool>> {
        let processes = self.processes.get_or_init(|| Processes::new(world, self.settings.clone()));
        let seen = Rc::new(Seen::default());
        let todos = Rc::new(Todos::default());
        match self.dialect {
            Dialect::Claude => {
                let mut tools = persona::claude::tools::files(&seen);
                tools.extend(persona::claude::tools::shell::shell(processes));
                tools.extend(persona::claude::tools::todo::todo(&todos));
                tools
            }
            Dialect::Qwen | Dialect::QwenCode => {
                let mut tools = persona::qwen::tools::files(&seen);
                tools.extend(persona::qwen::tools::shell::shell(processes, self.dialect == Dialect::Qwen));
                tools.extend(persona::qwen::tools::todo::todo(&todos));
                tools
            }
            _ => {
                let mut tools = persona::cursor::tools::files::files(&seen);
                tools.extend(persona::cursor::tools::shell::shell(processes));
                tools.extend(persona::cursor::tools::todo::todo(&todos));
                tools
            }
        }
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

    fn processes(&self) -> Option<Rc<Processes>> {
        self.processes.get().cloned()
    }

    fn unknown(&self, name: &str) -> Given {
        match self.dialect {
            Dialect::Claude | Dialect::Cursor => {
                let text = format!("Error: No such tool available: {name}");
                Given::error(format!("<tool_use_error>{text}</tool_use_error>")).with(DetailShape::Claude, text.into())
            }
            _ => Given::error(format!("Tool \"{name}\" not found in registry.")),
        }
    }
}
