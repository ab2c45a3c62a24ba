//! The tables and their columns.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};

use crate::cell::{Cell, Column, Millis, field, row};

/// The version of the tables. A new column at the end does not change it; a changed meaning, name or type does.
pub const VERSION: u32 = 1;

/// What the schemas of tables say of themselves.
pub(crate) const TABLE_KEY: &str = "agentglot.table";
pub(crate) const VERSION_KEY: &str = "agentglot.columns";

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// A row for each line of `agentglot:events`: all that a log says, enough to write it again.
    Events,
    /// A row for each prompt and each reply.
    Messages,
    /// A row for each tool call, with what came of it.
    ToolCalls,
    /// A row for each turn: a prompt up to its outcome.
    Turns,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Events, Self::Messages, Self::ToolCalls, Self::Turns];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Messages => "messages",
            Self::ToolCalls => "tool_calls",
            Self::Turns => "turns",
        }
    }

    /// Its columns in order.
    pub fn columns(self) -> Vec<Column> {
        match self {
            Self::Events => EventRow::members(),
            Self::Messages => MessageRow::members(),
            Self::ToolCalls => CallRow::members(),
            Self::Turns => TurnRow::members(),
        }
    }

    /// Its schema, with the table's name and [`VERSION`] as metadata.
    pub fn schema(self) -> SchemaRef {
        let fields: Vec<_> = self.columns().iter().map(field).collect();
        let about = [(TABLE_KEY, self.name().to_owned()), (VERSION_KEY, VERSION.to_string())];
        let about: HashMap<String, String> = about.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Arc::new(Schema::new_with_metadata(fields, about))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Table {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|table| table.name() == name);
        named.ok_or_else(|| format!("there is no table {name:?}; there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

row! {
    /// Tokens.
    struct Tokens {
        /// tokens sent to the model, without those of the prompt cache
        input: i64,
        /// tokens read from the prompt cache
        cache_read: i64,
        /// tokens written to the prompt cache
        cache_write: i64,
        /// tokens that the model wrote, those that it thought with too
        output: i64,
        /// the source's own total
        total: i64,
        /// what the numbers cover: `round`, `turn` or `session` (so far)
        scope: String,
        /// whether the numbers were worked out instead of said
        derived: bool,
        /// those of the output that the model thought with
        reasoning: i64,
    }

    /// A subagent.
    struct Agent {
        /// its id
        id: String,
        /// the name of its definition
        name: String,
        /// what it was asked to do, in a few words
        task: String,
    }

    /// A row of `events`.
    struct EventRow {
        /// the log; `-` is standard input
        file: String,
        /// the line of the log with which the event was complete, from 1 (in a document: the message)
        line: i64,
        /// the number of the row in its log, from 1: the order in which the rows make a log again
        seq: i64,
        /// the dialect of the log
        agent: String,
        /// the name of the event as in `agentglot:events`; null in rows that are no event: headers, spellings, damage
        event: String,
        /// whether the host says it, not the agent
        host: bool,
        /// the session's id
        session: String,
        /// the id of the line (Claude Code, Qwen Code)
        id: String,
        /// the turn's id (the RFC's `prompt_id`)
        turn: String,
        /// the tool call whose subagent speaks; null is the main thread
        parent: String,
        /// the subagent, where the line names it
        subagent: Agent,
        /// when it was said
        time: Millis,
        /// the id of the reply
        reply: String,
        /// the model
        model: String,
        /// the text: of a prompt, a reply, a piece, a result, an outcome, a notice, output for a terminal, noise
        text: String,
        /// the thoughts of a reply, or a piece of them
        thinking: String,
        /// the ids of the tool calls that are made, answered or asked about
        calls: Vec<String>,
        /// the names of their tools
        tools: Vec<String>,
        /// how a tool call went (`success`, `error`, `denied`, `canceled`), how a turn ended (`success`, `refused`, …), what a notice is about
        status: String,
        /// whether the source calls it an error
        is_error: bool,
        /// what went wrong
        error: String,
        /// why a reply stopped, in the source's word
        stop: String,
        /// an outcome's time from the prompt to the end, in milliseconds
        duration_ms: i64,
        /// US dollars as an outcome says them: of the turn or of the session so far; `turns` has those of the turn
        cost_usd: f64,
        /// tokens
        usage: Tokens,
        /// the line of `agentglot:events`, exactly
        json: String,
        /// what could not be read here (`BYTE: reason`); then all columns but file and line are null
        damage: String,
    }

    /// A piece of a message.
    struct Piece {
        /// `text`, `thinking`, `call`, `redacted`, `media` or `other`
        kind: String,
        /// the text
        text: String,
        /// the id of the tool call
        call: String,
        /// the name of the tool
        tool: String,
        /// the arguments of the call, or the whole of what is media or other, as JSON
        json: String,
    }

    /// A row of `messages`.
    struct MessageRow {
        /// the log; `-` is standard input
        file: String,
        /// the line of the log with which the message was first heard of, from 1 (in a document: the message)
        line: i64,
        /// the dialect of the log
        agent: String,
        /// the session's id
        session: String,
        /// the number of the turn in its session, from 1
        turn: i64,
        /// the number of the message in its turn, from 1
        message: i64,
        /// the tool call whose subagent it belongs to; null is the main thread
        parent: String,
        /// `user` or `assistant`
        role: String,
        /// who really wrote what stands in the user's role: `host`, `echo`, `agent` or `parent`
        source: String,
        /// the id of the reply; the same reply may stand in several logs (sessions that were resumed)
        id: String,
        /// the model that replied
        model: String,
        /// when it was first heard of
        time: Millis,
        /// its texts
        text: String,
        /// its thoughts
        thinking: String,
        /// all of it, in order
        blocks: Vec<Piece>,
        /// why the reply stopped, in the source's word
        stop: String,
        /// the reply is this error message, not the model's words
        error: String,
        /// its tokens
        usage: Tokens,
        /// the message as JSON, if that was asked for
        json: String,
        /// what could not be read here (`BYTE: reason`); then all columns but file and line are null
        damage: String,
    }

    /// A row of `tool_calls`.
    struct CallRow {
        /// the log; `-` is standard input
        file: String,
        /// the line of the log with the call, from 1 (in a document: the message)
        line: i64,
        /// the line with its result
        result_line: i64,
        /// the dialect of the log
        agent: String,
        /// the session's id
        session: String,
        /// the number of the turn in its session, from 1
        turn: i64,
        /// the tool call whose subagent makes it; null is the main thread
        parent: String,
        /// the model that made it
        model: String,
        /// its id
        id: String,
        /// the tool's name in the log's dialect
        tool: String,
        /// what the tool does, whatever it is called: `read`, `write`, `edit`, `multi_edit`, `notebook_edit`, `shell`, `grep`, `glob`, `list`, `delete`, `mkdir`, `todo`, `subagent`, `fetch`, `web_search`, `mcp`, `ask`, `exit_plan`, `other`
        kind: String,
        /// what was read, changed, run, looked for
        object: String,
        /// the file that it changes
        changes: String,
        /// how many lines the change adds
        lines_added: i64,
        /// how many lines the change removes
        lines_removed: i64,
        /// the arguments, as JSON
        input: String,
        /// when it was made
        asked: Millis,
        /// when its result came
        answered: Millis,
        /// the time between the two, in milliseconds
        duration_ms: i64,
        /// whether it was allowed, where somebody was asked and the log holds the answer
        allowed: bool,
        /// what came of it: `success`, `error`, `denied`, `canceled`; null if the log does not say
        status: String,
        /// the exit code of a command
        exit_code: i64,
        /// the text that the model sees of its result
        result: String,
        /// the subagent that worked for it
        subagent: Agent,
        /// the call and all that came of it as JSON, if that was asked for
        json: String,
        /// what could not be read here (`BYTE: reason`); then all columns but file and line are null
        damage: String,
    }

    /// A row of `turns`.
    struct TurnRow {
        /// the log; `-` is standard input
        file: String,
        /// the first line of the turn in the log, from 1 (in a document: the message)
        line: i64,
        /// its last line
        last_line: i64,
        /// the dialect of the log
        agent: String,
        /// the agent's version
        version: String,
        /// the session's id
        session: String,
        /// the number of the turn in its session, from 1
        turn: i64,
        /// the working folder
        cwd: String,
        /// the permission mode, in the dialect's word
        permission_mode: String,
        /// the model that gave the last reply, else the session's
        model: String,
        /// when its first line was said
        started: Millis,
        /// when its last line was said
        ended: Millis,
        /// what was asked, if the log holds it
        prompt: String,
        /// what the agent said to the user
        text: String,
        /// how it ended: `success`, `refused`, `limit_…`, `cancelled`, `failed_…`
        outcome: String,
        /// the outcome in the source's word
        word: String,
        /// whether the source calls it an error
        is_error: bool,
        /// whether the outcome was made up because the log has none
        synthetic: bool,
        /// what went wrong
        error: String,
        /// from the prompt to the end, in milliseconds, as the source says
        duration_ms: i64,
        /// of that spent in model calls
        duration_api_ms: i64,
        /// US dollars for the turn; where the source says those of the session so far, what they have grown by
        cost_usd: f64,
        /// tokens of the turn: as the source says; else what the session's sum has grown by, or the sum of the main thread's replies
        usage: Tokens,
        /// how many replies the main thread has
        replies: i64,
        /// how many tool calls there are, those of subagents too
        calls: i64,
        /// how many of those have a result that is no success
        failed_calls: i64,
        /// how many model calls failed and were tried again
        retries: i64,
        /// how often the conversation was made shorter
        compactions: i64,
        /// the turn as JSON, if that was asked for
        json: String,
        /// what could not be read here (`BYTE: reason`); then all columns but file and line are null
        damage: String,
    }
}
