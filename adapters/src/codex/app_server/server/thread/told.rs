//! What hosts are told of a thread as it is now.

use super::super::facts::Facts;
use super::super::words;
use super::Thread;
use crate::conduct::quoted;
use crate::json::Raw;
use crate::server::Actions;

impl Thread {
    /// The thread's status as the host is told it.
    pub(in super::super) fn status(&self, status: &str, now: i64, actions: &mut Actions) {
        let params = format!("{{\"threadId\":\"{}\",\"status\":{status}}}", self.id);
        words::notify("thread/status/changed", &params, now, actions);
    }

    /// What a request that opens a thread is answered.
    pub(in super::super) fn opening_answer(&self, turns: &str) -> String {
        format!(
            "{{\"thread\":{},\"model\":{},\"modelProvider\":\"agentglot\",\"serviceTier\":null,\"cwd\":{},\"instructionSources\":[],{},\"reasoningEffort\":null}}",
            self.object_with(turns),
            quoted(&self.model),
            quoted(self.cwd()),
            self.policy.members(),
        )
    }

    fn status_now(&self) -> &'static str {
        if self.running.is_some() {
            "{\"type\":\"active\",\"activeFlags\":[]}"
        } else {
            "{\"type\":\"idle\"}"
        }
    }

    /// The thread as an object, with these turns, a list.
    pub(in super::super) fn object_with(&self, turns: &str) -> String {
        let facts = Facts {
            turns: turns.to_owned(),
            ..self.facts.clone()
        };
        facts.object(&self.id, self.cwd(), Some(&self.model), self.status_now())
    }

    /// The models that there are, as the program inside says them.
    pub(in super::super) fn models(&self) -> Raw<'_> {
        Raw::trusted(&self.models)
    }

    pub(in super::super) fn has_listed_model(&self) -> bool {
        let mut names = self.models().elements().filter_map(|model| model.get("value")?.string());
        names.any(|name| name.is(&self.model))
    }
}
