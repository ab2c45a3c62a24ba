//! Everything that a session runs.

use std::rc::Rc;

use super::jobs::Jobs;
use super::pty::Terminals;
use super::shell::{Commands, Settings};
use crate::tools::World;

/// The commands, background commands and interactive sessions of a session. There is one of these as long as the session lives; dropping
/// it kills what still runs.
#[derive(Debug)]
pub struct Processes {
    /// Commands that are waited for.
    pub commands: Rc<Commands>,
    /// Commands in the background.
    pub jobs: Jobs,
    /// Interactive sessions.
    pub terminals: Terminals,
}

impl Processes {
    /// Nothing is started yet.
    pub fn new(world: &World, settings: Settings) -> Rc<Self> {
        let commands = Commands::new(world, settings);
        Rc::new(Self {
            jobs: Jobs::new(Rc::clone(&commands)),
            terminals: Terminals::new(Rc::clone(&commands)),
            commands,
        })
    }

    /// Ends everything, and waits until nothing is left. To be called when the session ends.
    pub async fn end(&self) {
        tokio::join!(self.jobs.end(), self.terminals.end());
        self.commands.end().await;
    }
}
