//! What a vendor's hosts are told of commands and subagents at work.

use serde_json::Value;

use super::host::Told;
use crate::tools::jobs::Job;

/// A command or a subagent that runs, or has run, in the background.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// A command.
    Command(&'a Job),
    /// A subagent.
    Subagent(&'a SubagentTask<'a>),
}

/// A subagent at work for a session.
#[derive(Clone, Copy, Debug)]
pub struct SubagentTask<'a> {
    /// Its id.
    pub id: &'a str,
    /// The call that began it.
    pub call: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Its task in a few words.
    pub about: &'a str,
    /// Its task.
    pub prompt: &'a str,
    /// Nobody waits for it.
    pub background: bool,
    /// Where its last words are found.
    pub output: &'a std::path::Path,
    /// How it ended, if it has.
    pub ended: Option<SubagentEnd<'a>>,
}

/// A subagent that makes a call.
#[derive(Clone, Copy, Debug)]
pub struct SubagentAtWork<'a> {
    /// Its id.
    pub id: &'a str,
    /// The call that began it.
    pub call: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// The tool that it calls.
    pub tool: &'a str,
    /// The arguments.
    pub input: &'a Value,
    /// Tokens of its last request.
    pub tokens: u64,
    /// Calls of tools that it has made, with this one.
    pub calls: u64,
    /// How long it has worked, in milliseconds.
    pub took: u64,
}

/// How a subagent ended.
#[derive(Clone, Copy, Debug)]
pub struct SubagentEnd<'a> {
    /// `completed`, `failed`, `stopped`.
    pub status: &'static str,
    /// What it said last.
    pub text: &'a str,
    /// Tokens of its last request.
    pub tokens: u64,
    /// Calls of tools that it made.
    pub calls: u64,
    /// How long it worked, in milliseconds.
    pub took: u64,
}

/// Who is told of what runs in the background.
pub trait TaskHost: Sync {
    /// One has begun.
    fn started(&self, task: Task<'_>) -> Told;

    /// A subagent makes a call of a tool.
    fn progressed(&self, subagent: &SubagentAtWork<'_>) -> Told;

    /// One has ended: what is told, in order.
    fn ended(&self, task: Task<'_>) -> Vec<Told>;

    /// These run now.
    fn running(&self, tasks: &[Task<'_>]) -> Told;
}
