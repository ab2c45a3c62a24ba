//! What a vendor's hosts are told, and how.
//!
//! Where nothing is said here, the canonical event goes out and the codec writes what its dialect has room for.

use std::fmt;

use agentglot_adapters::raw::codec::Mode;
use agentglot_adapters::raw::event::Topic;
use agentglot_adapters::raw::launch::Launch;
use serde_json::{Value, json};

use crate::mcp::Status;
use crate::model::ModelError;
use crate::model::usage::Tokens;
use crate::permissions::Decision;
use crate::tools::jobs::Job;
use crate::tools::{Access, Given, Spec};

pub use super::host_facts::HostFacts;
pub use super::host_tasks::{SubagentAtWork, SubagentEnd, SubagentTask, Task, TaskHost};
use super::shared::jobs;
pub use super::told::{
    CallShown, Compacted, ContextParts, Ended, PromptState, Reached, Refused, Reminders, ResultForm, SessionFacts, SubagentShown, Told, ToldCall,
    Unfinished, interrupted,
};

/// What hosts of a vendor's are told.
pub trait HostPersona: fmt::Debug + Sync {
    /// What holds whatever happens.
    fn facts(&self) -> &'static HostFacts {
        &HostFacts::PLAIN
    }

    /// What stands for a reply that failed, in the words that hosts look for.
    fn failure(&self, error: &ModelError) -> String {
        error.message.clone()
    }

    /// What the model is told of a command in the background that has ended. `output` is the end of what it printed.
    fn job_ended(&self, job: &Job, output: &str) -> String {
        jobs::notice(job, output)
    }

    /// Those members.
    fn session_members(&self, facts: &SessionFacts<'_>) -> Vec<(&'static str, Value)> {
        let _ = facts;
        Vec::new()
    }

    /// What a session's facts say of the key's source, by the variable that it comes from, if any.
    fn key_source(&self, variable: &'static str) -> &'static str {
        let _ = variable;
        "env"
    }

    /// What follows the session's facts when they are told for the first time.
    fn introduced(&self) -> Option<Told> {
        None
    }

    /// What the n-th turn of a session is called, where the host does not say.
    fn turn_name(&self, session: &str, number: u64) -> String {
        format!("{session}########{number}")
    }

    /// What a result says of who has decided about its call: the member's name and its value.
    fn decision(&self, decision: &Decision, call: &str) -> Option<(&'static str, Value)> {
        let _ = (decision, call);
        None
    }

    /// A model call is tried again.
    fn retried(&self, message: Option<&str>, metrics: &Value) -> Option<Told> {
        let _ = (message, metrics);
        None
    }

    /// The conversation was made shorter.
    fn compacted(&self, compacted: &Compacted<'_>) -> Told {
        let Compacted { trigger, before, after, .. } = compacted;
        let data = json!({
            "trigger": trigger, "pre_tokens": before, "post_tokens": after,
            "original_token_count": before, "new_token_count": after,
        });
        Told::notice("ChatCompressed", Topic::Compaction, None, Some(data))
    }

    /// What a command hook does.
    fn hook(&self, name: &'static str, output: Option<&str>, data: &Value) -> Told {
        Told::notice(name, Topic::Hook, output, Some(data.clone()))
    }

    /// A word of the agent's to whoever looks on. `data` has its `level`.
    fn inform(&self, text: &str, data: Value) -> Told {
        Told::notice("informational", Topic::Other, Some(text), Some(data))
    }

    /// The permission mode has changed.
    fn mode_changed(&self, mode: &str) -> Told {
        Told::notice("status", Topic::Status, None, Some(json!({"status": null, "permissionMode": mode})))
    }

    /// The host has set the permission mode.
    fn mode_set(&self, mode: &str) -> Option<Told> {
        let _ = mode;
        None
    }

    /// A transcript could not be written. `None`: the terminal is told.
    fn writes_lost(&self, code: &str, session: &str) -> Option<Told> {
        let _ = (code, session);
        None
    }

    /// Whether the host wants to know if the session works: `None` if it does not; else whether only its program is to see it.
    fn wants_state(&self, launch: &Launch, variable: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
        let _ = (launch, variable);
        None
    }

    /// What a person sees of a call that waits for permission. `diff` is the change that an edit would make.
    fn confirmation(&self, spec: &Spec, input: &Value, access: &Access, diff: Option<&str>) -> Value {
        let _ = (spec, input, access, diff);
        Value::Null
    }

    /// What is shown of a subagent at work.
    fn subagent_shown(&self, shown: &SubagentShown<'_>) -> Value {
        let _ = shown;
        Value::Null
    }

    /// A call was refused, and nobody was asked about it.
    fn refused(&self, refused: &Refused<'_>) -> Option<Told> {
        let _ = refused;
        None
    }

    /// What the model reads so that it goes on, where its last reply did not end well, and how often in a row.
    fn goes_on(&self, reply: Unfinished) -> Option<(&'static str, u64)> {
        let _ = reply;
        None
    }

    /// The model is asked, where the host reads the pieces of the reply.
    fn asking(&self) -> Option<Told> {
        None
    }

    /// About so many tokens a reply has thought so far, and so many since that was told last.
    fn thought(&self, so_far: u64, more: u64) -> Option<Told> {
        let _ = (so_far, more);
        None
    }

    /// A request of the host's has begun that takes longer. `None`: hosts do not make any such.
    fn request_begun(&self, id: &str) -> Option<Told> {
        let _ = id;
        None
    }

    /// The host has chosen a model in the middle of a conversation.
    fn model_set(&self, model: &str) -> Option<Told> {
        let _ = model;
        None
    }

    /// What an outcome says of the command that it is of; `None`: nothing, and a command that cannot be done has failed.
    fn of_command(&self, name: &str) -> Option<(&'static str, Value)> {
        let _ = name;
        None
    }

    /// What becomes of a prompt to which the host has given this id.
    fn prompt_is(&self, id: &str, state: PromptState) -> Option<Told> {
        let _ = (id, state);
        None
    }

    /// What is said of a model that has refused to answer: to the host at once, and in place of the answer.
    fn refusal(&self, model: &str) -> Option<(Told, String)> {
        let _ = model;
        None
    }

    /// Another model answers from here on, for the first cannot be had: `overloaded`, `model_not_found`.
    fn falls_back(&self, model: &str, to: &str, why: &'static str) -> Told {
        self.inform(&format!("{to} answers in place of {model}: {why}"), json!({"level": "notice"}))
    }

    /// The turn was stopped by the host. `None`: that is said as a text of the user's.
    fn cancelled(&self) -> Option<Told> {
        None
    }

    /// What a host reads as a call's result, where that is not what the model reads.
    fn result_shown(&self, given: &Given) -> Option<String> {
        let _ = given;
        None
    }

    /// In which form a host reads the result of a call that went well and has this typed form.
    fn result_form(&self, detail: &Value) -> ResultForm {
        let _ = detail;
        ResultForm::default()
    }

    /// What a turn has used, in the members that the host's types want.
    fn usage_told(&self, tokens: Tokens) -> Option<Value> {
        let _ = tokens;
        None
    }

    /// How a session's facts say how it stands with a server.
    fn server_status(&self, status: Status) -> &'static str {
        status.as_str()
    }

    /// How full the context is, for a host that asks, where that is not what Claude's hosts are told.
    fn context_shown(&self, parts: &ContextParts) -> Option<Value> {
        let _ = parts;
        None
    }

    /// What the conversation keeps of a turn that the host has stopped, perhaps while tools ran.
    fn cancelled_note(&self, in_tools: bool) -> Option<&'static str> {
        let _ = in_tools;
        None
    }

    /// A turn has ended at a limit.
    fn reached(&self, limit: &Reached<'_>) -> Option<Told> {
        let _ = limit;
        None
    }

    /// A member of the outcome that says how the turn ended.
    fn ended(&self, ended: Ended) -> Option<(&'static str, &'static str)> {
        let _ = ended;
        None
    }

    /// The outcome says what the whole session has used, earlier runs among it, and not what the turn has.
    fn counts_thread(&self, _: Mode) -> bool {
        false
    }
}

/// What a failed model call says, without the status that many servers repeat.
pub(super) fn plain(error: &ModelError) -> &str {
    let repeated = error.status.and_then(|status| error.message.strip_prefix(&format!("{status} ")));
    repeated.unwrap_or(&error.message)
}

/// The same behind the status, if there is one.
pub(super) fn with_status(error: &ModelError) -> String {
    match error.status {
        Some(status) => format!("{status} {}", plain(error)),
        None => error.message.clone(),
    }
}
