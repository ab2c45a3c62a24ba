use super::{Block, Content};
use crate::json::{Raw, Str};

/// The session's facts. Claude, Qwen Code: `system/init`, once a turn. Cursor: `system/init`, once a run. RFC: the receipt's
/// metadata, once a session. Tricode: the `system` line, which knows the id alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Session<'a> {
    /// The working folder.
    pub cwd: Option<Str<'a>>,
    /// The model (Cursor: its display name).
    pub model: Option<Str<'a>>,
    /// The tools: an array of names (the RFC: names in one text, separated by blanks).
    pub tools: Option<Raw<'a>>,
    /// The permission mode, in the dialect's words.
    pub permission_mode: Option<Str<'a>>,
    /// The agent's version: `claude_code_version`, `qwen_code_version`, the RFC's `agent_version`.
    pub version: Option<Str<'a>>,
    /// Where the key comes from: Claude's and Cursor's `apiKeySource`.
    pub api_key_source: Option<Str<'a>>,
    /// MCP servers and their state: `[{name,status}]`.
    pub mcp_servers: Option<Raw<'a>>,
    /// Slash commands, by name.
    pub slash_commands: Option<Raw<'a>>,
    /// Subagents, by name.
    pub agents: Option<Raw<'a>>,
    /// The RFC's `protocol_version`.
    pub protocol_version: Option<Raw<'a>>,
    /// The RFC's `capabilities`.
    pub capabilities: Option<Raw<'a>>,
    /// The session goes on from an earlier run: Tricode's `Resumed session`.
    pub resumed: bool,
    /// A turn begins with it: yes for `system/init` and Tricode's line, no for the RFC's receipt.
    pub opens_turn: bool,
}

/// Something about the session that is no part of the conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Notice<'a> {
    /// Its name on the wire: Claude's `subtype` (or `type`, where there is none), the RFC's `event`, Cursor's `type/subtype`.
    pub name: Str<'a>,
    /// What it is about.
    pub topic: Topic,
    /// A text for people, if there is one.
    pub message: Option<Str<'a>>,
    /// Its payload in one piece, where the dialect has one: Qwen Code's `data`, the RFC's `metrics`, Cursor's `query`/`response`.
    pub data: Option<Raw<'a>>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topic {
    /// A model call failed and is tried again: `api_retry`, `retry`, Cursor's `retry`. Never an outcome.
    Retry,
    /// The conversation was made shorter: `compact_boundary`, `ChatCompressed`.
    Compaction,
    /// What the agent is doing: `status`, `session_state_changed`, Cursor's `connection`.
    Status,
    /// A task in the background: `task_*`, `background_tasks_changed`.
    Task,
    /// A hook ran: `hook_*`.
    Hook,
    /// A tool was refused by rule: `permission_denied`.
    Permission,
    /// A limit of the account or of the session: `rate_limit_event`, `MaxSessionTurns`, `MAX_TOKENS` …
    Limit,
    /// The user cancelled: `USER_CANCELLED`.
    Cancelled,
    /// The agent reminds itself: Tricode's `reminder`.
    Reminder,
    /// The agent asks and answers itself: Cursor's `interaction_query`.
    Query,
    /// The conversation begins anew under another id: `conversation_reset`.
    Reset,
    /// A subagent ended on its own: Qwen Code's all-zero `result` in mid-turn. Ends no turn.
    SubagentEnd,
    /// A count of thinking tokens while they come: `thinking_tokens`.
    Thinking,
    /// Anything else.
    #[default]
    Other,
}

/// Text in the user's role.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prompt<'a> {
    /// What it says.
    pub content: Content<'a>,
    /// Who really wrote it.
    pub source: PromptSource,
}

impl Prompt<'_> {
    /// Whether the program itself has put something into the user's place in which no word is, nor an image.
    pub fn is_mark(&self) -> bool {
        let Content::Blocks(blocks) = self.content else { return false };
        self.source == PromptSource::Agent && blocks.iter().all(|block| matches!(block, Block::Other { .. }))
    }
}

/// Who wrote a message in the user's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptSource {
    /// The user, through the host.
    Host,
    /// The host's message said again: Claude's `isReplay`, Cursor's echo.
    Echo,
    /// The agent's own program: notices, nudges, summaries.
    Agent,
    /// The agent that started a subagent: the subagent's task.
    Parent,
}
