//! The built-in agent as a back end.

use async_trait::async_trait;

use super::{Backend, Hurry, Said};
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::conduct::Facts;
use crate::adapters::raw::event::Input;
use crate::agent::{self, Agent, Parts};
use crate::status::Failure;

/// The agent.
#[derive(Debug)]
pub struct Builtin(Agent);

impl Builtin {
    /// Puts one together. It begins to live when it is read.
    ///
    /// # Errors
    /// See [`Agent::new`].
    pub fn new(parts: Parts) -> Result<Self, Failure> {
        Ok(Self(Agent::new(parts)?))
    }
}

#[async_trait(?Send)]
impl Backend for Builtin {
    fn dialect(&self) -> Dialect {
        Dialect::CANONICAL
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        self.0.input(input)
    }

    fn takes_denials(&self) -> bool {
        true
    }

    fn queued(&self) -> usize {
        self.0.queued()
    }

    fn tell(&self, facts: &mut Facts) {
        self.0.tell(facts);
    }

    fn at_work(&self) -> bool {
        self.0.at_work()
    }

    fn close(&mut self) {
        self.0.close();
    }

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        match self.0.read(into).await {
            agent::Said::Bytes => Said::Bytes,
            agent::Said::Answered => Said::Answered,
            agent::Said::Over(why) => Said::Over(why),
        }
    }

    async fn stop(&mut self, _: &Hurry) {
        self.0.stop().await;
    }
}
