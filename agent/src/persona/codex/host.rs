//! What hosts of Codex's are told.

use agentglot_adapters::raw::codec::{Layout, Mode};

use crate::model::ModelError;
use crate::persona::host::{HostFacts, HostPersona, plain};

#[derive(Debug)]
pub(super) struct CodexHost;

static FACTS: HostFacts = HostFacts {
    cut_off: Some("Incomplete response returned, reason: max_output_tokens"),
    ..HostFacts::PLAIN
};

impl HostPersona for CodexHost {
    fn facts(&self) -> &'static HostFacts {
        &FACTS
    }

    fn failure(&self, error: &ModelError) -> String {
        match error.status {
            Some(status) => format!("unexpected status {status}: {}", plain(error)),
            None => error.message.clone(),
        }
    }

    /// The app-server tells both, and sums up by itself.
    fn counts_thread(&self, mode: Mode) -> bool {
        mode.layout == Layout::Lines && !mode.serves_many
    }
}
