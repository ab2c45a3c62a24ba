//! What hosts of Codex's are told.

use agentglot_adapters::raw::codec::{Layout, Mode};

use crate::model::ModelError;
use crate::persona::host::{HostPersona, plain};
use crate::persona::shared::jobs;
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct CodexHost;

impl HostPersona for CodexHost {
    fn failure(&self, error: &ModelError) -> String {
        match error.status {
            Some(status) => format!("unexpected status {status}: {}", plain(error)),
            None => error.message.clone(),
        }
    }

    fn begins_turns(&self, _: Mode) -> bool {
        false
    }

    /// The app-server tells both, and sums up by itself.
    fn counts_thread(&self, mode: Mode) -> bool {
        mode.layout == Layout::Lines && !mode.serves_many
    }

    fn cut_off(&self) -> Option<&'static str> {
        Some("Incomplete response returned, reason: max_output_tokens")
    }

    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }
}
