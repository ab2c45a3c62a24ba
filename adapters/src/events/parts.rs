//! What events are made of, besides replies.

use super::mirror::{owned, owned_enum};
use super::{Content, ControlKind, DetailShape, Json, OutcomeKind, PromptSource, Provenance, ResultStatus, Scope, Stop, ToolCall, Topic};

owned! {
    /// Where an event belongs.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Origin = Origin {
        /// The session's id.
        session: Option<String>,
        /// The id of the line itself: `uuid` (Claude Code, Qwen Code).
        id: Option<String>,
        /// The tool call whose subagent speaks; `None` is the main thread.
        parent: Option<String>,
        /// The subagent that speaks, where the line names it.
        agent: Option<Box<Agent>>,
        /// The turn: the RFC's `prompt_id`.
        turn: Option<String>,
        /// When it was said.
        time: Option<Time>,
    }

    /// A subagent as lines name it.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Agent = Agent {
        /// Its id.
        id: Option<String>,
        /// The name of its definition.
        name: Option<String>,
        /// What it was asked to do, in a few words.
        task: Option<String>,
    }

    /// One member that only its own dialect understands.
    #[derive(Clone, Debug, PartialEq)]
    struct Field = Field {
        /// In which object of the line it stands.
        at: At,
        /// Its name, as on the wire.
        key: String,
        /// Its value.
        value: Json,
        /// Whether the dialect's page names it.
        known: bool,
    }

    /// The session's facts, as a line of the log tells them: at the beginning of a session, or of each turn.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct SessionFacts = Session {
        /// The working folder.
        cwd: Option<String>,
        /// The model.
        model: Option<String>,
        /// The tools: an array of names (the RFC: names in one text, separated by blanks).
        tools: Option<Json>,
        /// The permission mode, in the dialect's words.
        permission_mode: Option<String>,
        /// The agent's version.
        version: Option<String>,
        /// Where the key comes from.
        api_key_source: Option<String>,
        /// MCP servers and their state: `[{name,status}]`.
        mcp_servers: Option<Json>,
        /// Slash commands, by name.
        slash_commands: Option<Json>,
        /// Subagents, by name.
        agents: Option<Json>,
        /// The version of the protocol, where it has one.
        protocol_version: Option<Json>,
        /// What the agent can do, where the protocol says so.
        capabilities: Option<Json>,
        /// The session goes on from an earlier run.
        resumed: bool,
        /// A turn begins with it.
        opens_turn: bool,
    }

    /// Something about the session that is no part of the conversation.
    #[derive(Clone, Debug, PartialEq)]
    struct Notice = Notice {
        /// Its name on the wire.
        name: String,
        /// What it is about.
        topic: Topic,
        /// A text for people, if there is one.
        message: Option<String>,
        /// Its payload in one piece, where the dialect has one.
        data: Option<Json>,
    }

    /// Text in the user's role.
    #[derive(Clone, Debug, PartialEq)]
    struct Prompt = Prompt {
        /// What it says.
        content: Content,
        /// Who really wrote it.
        source: PromptSource,
    }

    /// What came of a tool call.
    #[derive(Clone, Debug, PartialEq)]
    struct ToolResult = ToolResult {
        /// The call's id.
        call: String,
        /// The tool's name, where the result repeats it.
        name: Option<String>,
        /// How it went.
        status: ResultStatus,
        /// What the model sees.
        content: Content,
        /// Whether the source calls it an error, where it says so.
        is_error: Option<bool>,
        /// The result in a structured form, where the dialect has one.
        detail: Option<Detail>,
        /// Other members of the result block.
        fields: Vec<Field>,
        /// The call that it answers, where it is known here.
        of: Option<ToolCall>,
    }

    /// A result in the structured form of its dialect.
    #[derive(Clone, Debug, PartialEq)]
    struct Detail = Detail {
        /// Whose form it is.
        shape: DetailShape,
        /// The value.
        raw: Json,
    }

    /// A tool call is on its way.
    #[derive(Clone, Debug, PartialEq)]
    struct ToolProgress = ToolProgress {
        /// The call's id.
        call: String,
        /// `pending`, `executing` or `confirming`, where it is said.
        status: Option<String>,
        /// What there is to see so far.
        content: Option<Json>,
        /// What the user is asked to confirm.
        confirmation: Option<Json>,
    }

    /// Output for a terminal. Offsets are code points of the text.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Terminal = Terminal {
        /// The text that is shown.
        text: Option<String>,
        /// `stdout` or `stderr`.
        channel: Option<String>,
        /// `assistant`, `tool`, `console` or `system`.
        source: Option<String>,
        /// Styled ranges: `[{start_index,end_index,style}]`.
        spans: Option<Json>,
        /// Escape sequences and where they stand: `[{offset,sequence}]`.
        ansi: Option<Json>,
        /// `log`, `warn`, `error`, `info` or `debug`, with source `console`.
        level: Option<String>,
        /// The exit code, with source `system`.
        exit_code: Option<Json>,
        /// An escape string on its own.
        raw_ansi: Option<String>,
    }

    /// A question on the control channel, in either direction.
    #[derive(Clone, Debug, PartialEq)]
    struct Request = Request {
        /// The question's id, which the answer names. Each direction has ids of its own.
        id: Option<String>,
        /// The `subtype` on the wire.
        subtype: String,
        /// What is asked.
        kind: ControlKind,
        /// What is to be allowed, when permission for a tool call is asked for.
        permission: Option<Box<Permission>>,
    }

    /// A tool call that waits for permission.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Permission = Permission {
        /// The tool's name.
        name: String,
        /// The call's id.
        call: Option<String>,
        /// The arguments.
        input: Option<Json>,
        /// Rules that the user may accept together with the call, in the dialect's own form.
        suggestions: Option<Json>,
    }

    /// An answer on the control channel, in either direction.
    #[derive(Clone, Debug, PartialEq)]
    struct Response = Response {
        /// The id of the question.
        id: Option<String>,
        /// Whether it is an answer or a refusal to answer.
        ok: bool,
        /// The answer. Absent when a success has nothing to say.
        body: Option<Json>,
        /// What went wrong.
        error: Option<Json>,
    }

    /// A question is taken back.
    #[derive(Clone, Debug, PartialEq)]
    struct Withdraw = Withdraw {
        /// The id of the question.
        id: Option<String>,
    }

    /// The outcome of a slash or `@` command.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct CommandResult = CommandResult {
        /// The command: `{kind,path,args,references?}`.
        command: Option<Json>,
        /// What came of it.
        result: Option<Json>,
    }

    /// Suggestions while the user types.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct HintResult = HintResult {
        /// `slash` or `at`.
        trigger: Option<String>,
        /// `ok`, `loading` or `error`.
        status: Option<String>,
        /// `[{label,value,description?,matchedIndex?}]`.
        suggestions: Option<Json>,
        /// `{is_perfect_match}`.
        metadata: Option<Json>,
        /// What went wrong.
        message: Option<String>,
    }

    /// A sign of life.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Heartbeat = Heartbeat {
        /// `ok`.
        status: Option<String>,
        /// Seconds since 1970.
        ts: Option<Json>,
    }

    /// The answer to a cancel.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct CancelResult = CancelResult {
        /// `ok` or `noop`.
        status: Option<String>,
        /// A text for people.
        message: Option<String>,
    }

    /// How a turn ended.
    #[derive(Clone, Debug, PartialEq)]
    struct Outcome = Outcome {
        /// What it means.
        kind: OutcomeKind,
        /// Whether the source calls it an error.
        is_error: bool,
        /// Made up because the source had none: a killed run, a log that breaks off.
        synthetic: bool,
        /// The answer: the last text, or what the source says it is.
        text: Option<String>,
        /// That text was said before the outcome of an earlier turn, which was held back: nothing says it anew.
        told_before: bool,
        /// What went wrong, for people.
        error: Option<String>,
        /// The word on the wire.
        word: Option<String>,
        /// Milliseconds from the prompt to the end.
        duration_ms: Option<Json>,
        /// Milliseconds spent in model calls.
        duration_api_ms: Option<Json>,
        /// The source's own count of turns, which each agent counts in its way.
        num_turns: Option<u64>,
        /// US dollars.
        cost_usd: Option<Json>,
        /// What they were spent on; Claude Code says that of the session so far, beside the tokens of the turn.
        cost_scope: Scope,
        /// Tokens.
        usage: Option<Usage>,
        /// Why the last reply stopped.
        stop: Option<Stop>,
        /// Tool calls that were refused: `[{tool_name,tool_use_id,tool_input}]`.
        denials: Option<Json>,
        /// The answer in the form that the host's JSON schema asked for.
        structured: Option<Json>,
        /// The request's id, where the source has one.
        request_id: Option<String>,
    }

    /// The program itself ends with an error.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Fatal = Fatal {
        /// What happened.
        message: String,
        /// Its `type`.
        kind: Option<String>,
        /// The parameter that is to blame.
        param: Option<Json>,
        /// A code.
        code: Option<Json>,
    }

    /// Tokens used. Absent is absent, never zero.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Usage = Usage {
        /// Tokens sent to the model. See `inclusive`.
        input: Option<u64>,
        /// Tokens that the model wrote. See `reasoning_beside`.
        output: Option<u64>,
        /// Those of them that it thought with.
        reasoning: Option<u64>,
        /// Tokens read from the prompt cache.
        cache_read: Option<u64>,
        /// Tokens written to the prompt cache.
        cache_write: Option<u64>,
        /// The source's own total.
        total: Option<u64>,
        /// Whether `input` counts the tokens of the cache too.
        inclusive: bool,
        /// Whether `reasoning` stands beside `output` and is no part of it.
        reasoning_beside: bool,
        /// What the numbers cover: a round, a turn, or the session so far.
        scope: Scope,
        /// Whether the source said them.
        provenance: Provenance,
        /// The source's own object.
        raw: Option<Json>,
    }
}

owned_enum! {
    /// A point in time as the line spells it.
    #[derive(Clone, Debug, PartialEq)]
    enum Time = Time {
        /// ISO 8601.
        Iso(String),
        /// Milliseconds since 1970.
        Millis(Json),
        /// Seconds since 1970. 0 stands for "not known".
        Seconds(Json),
    }

    /// The object of a line that a field stands in.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    enum At = At {
        /// The line itself.
        Line,
        /// An object inside, named by its JSON pointer.
        Part(Box<str>),
        /// The n-th content block of the line, counted from 0.
        Block(u32),
    }
}

impl Time {
    /// Milliseconds since 1970; `None` when the text is no time, or says that it is not known.
    pub fn millis(&self) -> Option<i64> {
        use super::mirror::Mirror;
        self.borrow(&bumpalo::Bump::new()).millis()
    }
}

impl Usage {
    /// Tokens sent to the model, those of the cache counted in, whatever the source counts as `input`.
    pub fn prompt_tokens(&self) -> Option<u64> {
        use super::mirror::Mirror;
        self.borrow(&bumpalo::Bump::new()).prompt_tokens()
    }

    /// Tokens that the model wrote, what it thought with counted in, whatever the source counts as `output`.
    pub fn written_tokens(&self) -> Option<u64> {
        use super::mirror::Mirror;
        self.borrow(&bumpalo::Bump::new()).written_tokens()
    }

    /// Tokens that the model thought with, where the source says them or its total counts more than it names.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        use super::mirror::Mirror;
        self.borrow(&bumpalo::Bump::new()).reasoning_tokens()
    }
}

impl Prompt {
    /// What the user says through the host.
    pub fn new(text: &str) -> Self {
        Self {
            content: Content::Text(text.to_owned()),
            source: PromptSource::Host,
        }
    }
}

impl ToolResult {
    /// What came of that call.
    pub fn new(call: &str, status: ResultStatus, text: &str) -> Self {
        Self {
            call: call.to_owned(),
            name: None,
            status,
            content: Content::Text(text.to_owned()),
            is_error: None,
            detail: None,
            fields: Vec::new(),
            of: None,
        }
    }
}

impl Outcome {
    /// An outcome of which only the meaning is known.
    pub fn new(kind: OutcomeKind) -> Self {
        super::Mirror::own(&crate::event::Outcome::new(kind))
    }
}
