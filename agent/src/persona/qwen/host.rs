//! What hosts of Qwen Code's are told.

use agentglot_adapters::raw::codec::{Layout, Mode};

use crate::model::ModelError;
use crate::persona::host::{HostPersona, with_status};
use crate::persona::shared::jobs;
use crate::tools::jobs::Job;

#[derive(Debug)]
pub(super) struct CodeHost;

impl HostPersona for CodeHost {
    fn failure(&self, error: &ModelError) -> String {
        format!("[API Error: {}]", with_status(error))
    }

    fn begins_turns(&self, mode: Mode) -> bool {
        // Not where the host waits for one value at the end.
        mode.layout == Layout::Lines
    }

    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }
}
