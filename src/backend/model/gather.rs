//! What came of one reply.

use crate::adapters::event::{Event, StopKind, Usage};
use crate::agent::chat::{Message, Role};

/// Takes the events of one reply, and gives what came of it.
#[derive(Debug, Default)]
pub struct Gather {
    message: Vec<crate::agent::chat::Part>,
}

impl Gather {
    /// One more.
    pub fn event(&mut self, event: &Event<'_>) {
        let _ = event;
    }

    /// The reply as a message.
    pub fn message(&self) -> Message {
        Message {
            role: Role::Assistant,
            parts: self.message.clone(),
        }
    }

    /// Why it stopped, and the API's word for it.
    pub fn stop(&self) -> Option<(StopKind, &str)> {
        None
    }

    /// What it cost.
    pub fn usage(&self) -> Option<Usage<'static>> {
        None
    }

    /// The model, as the API calls it.
    pub fn model(&self) -> Option<&str> {
        None
    }
}

/// US dollars, if the model's price is known.
pub fn cost(model: &str, usage: &Usage<'_>) -> Option<f64> {
    let _ = (model, usage);
    None
}

/// The tokens that a model can read.
pub fn window(model: &str) -> u64 {
    let _ = model;
    200_000
}
