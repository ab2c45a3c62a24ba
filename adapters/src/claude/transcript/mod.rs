//! `claude:transcript`: the file in which Claude Code keeps a session, `~/.claude/projects/<folder>/<session id>.jsonl` (docs/claude.md).
//!
//! Lines are chained by `parentUuid`; one line a content block, and results hang from the line of their call. Nothing begins a session and
//! nothing says how a turn ended.

mod decode;
mod encode;
mod fields;
mod line;
#[cfg(feature = "schema")]
mod schema;

pub(crate) use decode::Decoder;
pub(crate) use encode::Encoder;

use super::WORDS;
use crate::blocks::Vocabulary;
use crate::codec::{Layout, Mode};
use crate::store::{Home, Ids, Project, Root, Store, UUIDS};

/// Its mode.
pub(super) const MODE: Mode = Mode::new("transcript", Layout::Store);

/// Where they lie.
const HOME: Home = Home {
    roots: &[
        Root {
            variable: "CLAUDE_CONFIG_DIR",
            below: "",
        },
        Root {
            variable: "HOME",
            below: ".claude",
        },
    ],
    files: &["projects/*/*.jsonl"],
    file: "projects/PROJECT/ID.jsonl",
    project: Project::ShortPath,
    ids: Ids::Random,
    thoughts: true,
    end: "",
    takes: None,
    goes_on: &["claude", "--resume", "ID"],
    database: None,
};

/// What it says of itself.
pub(super) const STORE: Store = Store {
    mode: MODE,
    fields: fields::KNOWN,
    subagents: Some("ID/subagents"),
    chain: Some(UUIDS),
    home: Some(HOME),
    #[cfg(feature = "schema")]
    schema: &schema::SIDE,
};

/// The API's own vocabulary, as in the streams; but the lines have members of their own.
static KEPT: Vocabulary = Vocabulary {
    knows: fields::knows,
    ..WORDS
};

/// Types of lines that stand outside the chain, and are about the session.
const ASIDE: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    // The first line of a session of the built-in agent.
    "agentglot",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-resumed",
    "api-request-shape",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "data-flow-incomplete",
    "data-flow-records",
    "derived-from",
    "dev-mods",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "host-row",
    "hybrid-organization",
    "isolation-latch",
    "last-prompt",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "repl-mode",
    "resume-head-vouch",
    "session-owner",
    "summary",
    "tag",
    "tools-used",
    "worktree-state",
];

/// What the name of an attachment begins with, before its own type.
const ATTACHMENT: &str = "attachment/";

/// Whether lines of this type stand outside the chain.
pub(super) fn is_aside(kind: &str) -> bool {
    ASIDE.contains(&kind)
}
