//! What hosts are told of a thread.

use super::words::quoted_or_null;
use crate::conduct::quoted;

/// What is told of a thread and never changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Who began it.
    pub(super) originator: String,
    /// What the host calls it.
    pub(super) name: Option<String>,
    /// How it begins.
    pub(super) preview: String,
    /// The thread of which it is a copy.
    pub(super) of: Option<String>,
    /// When it began and when it was written last, in seconds since 1970.
    pub(super) created: i64,
    pub(super) updated: i64,
    /// Its turns so far, as one list, where they were asked for.
    pub(super) turns: String,
}

impl Facts {
    /// A thread as an object.
    pub(super) fn object(&self, id: &str, cwd: &str, model: Option<&str>, status: &str) -> String {
        let turns = if self.turns.is_empty() { "[]" } else { &self.turns };
        format!(
            concat!(
                "{{\"id\":\"{id}\",\"sessionId\":\"{id}\",\"forkedFromId\":{of},\"parentThreadId\":null,\"preview\":{preview},\"ephemeral\":false,",
                "\"modelProvider\":\"agentglot\",\"model\":{model},\"createdAt\":{created},\"updatedAt\":{updated},\"recencyAt\":{updated},",
                "\"status\":{status},\"path\":null,\"cwd\":{cwd},\"cliVersion\":\"{version}\",\"originator\":{originator},\"source\":\"appServer\",",
                "\"threadSource\":null,\"agentNickname\":null,\"agentRole\":null,\"gitInfo\":null,\"name\":{name},\"projectId\":null,\"turns\":{turns}}}"
            ),
            id = id,
            of = quoted_or_null(self.of.as_deref()),
            name = quoted_or_null(self.name.as_deref()),
            preview = quoted(&self.preview),
            model = quoted_or_null(model),
            created = self.created,
            updated = self.updated,
            status = status,
            cwd = quoted(cwd),
            version = crate::codex::program::VERSION,
            originator = quoted(&self.originator),
            turns = turns,
        )
    }
}
