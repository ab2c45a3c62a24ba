//! What hosts of Tricode's are told.

use agentglot_adapters::raw::codec::Mode;

use crate::model::{ModelError, ModelErrorKind};
use crate::persona::host::{HostPersona, plain};
use crate::persona::shared::jobs;
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct TricodeHost;

impl HostPersona for TricodeHost {
    fn failure(&self, error: &ModelError) -> String {
        match error.status {
            Some(status) => format!("OpenAI API error: Error code: {status} - {}", plain(error)),
            None if error.kind == ModelErrorKind::Malformed => {
                tracing::warn!("{}", error.message);
                "OpenAI API error: Invalid response from API".to_owned()
            }
            None => format!("OpenAI API error: {}", error.message),
        }
    }

    fn begins_turns(&self, _: Mode) -> bool {
        false
    }

    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }

    fn counts_rounds(&self) -> bool {
        true
    }

    fn previews_changes(&self) -> bool {
        true
    }
}
