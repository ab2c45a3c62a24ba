//! What a vendor's hosts are told, and how.
//!
//! Where nothing is said here, the canonical event goes out and the codec writes what its dialect has room for.

use std::fmt;

use agentglot_adapters::raw::codec::Mode;
use agentglot_adapters::raw::event::{At, Topic};
use agentglot_adapters::raw::launch::Launch;
use serde_json::{Value, json};

use crate::mcp::Status;
use crate::model::ModelError;
use crate::model::usage::Tokens;
use crate::permissions::Decision;
use crate::tools::jobs::Job;
use crate::tools::{Access, Given, Spec};

pub use super::host_tasks::{SubagentAtWork, SubagentEnd, SubagentTask, Task, TaskHost};
pub use super::told::{
    CallShown, Compacted, ContextParts, Ended, PromptState, Reached, Refused, Reminders, ResultForm, SessionFacts, SubagentShown, Told, ToldCall,
    Unfinished, interrupted,
};

/// What hosts of a vendor's are told.
pub trait HostPersona: fmt::Debug + Sync {
    /// What stands for a reply that failed, in the words that hosts look for.
    fn failure(&self, error: &ModelError) -> String;

    /// Whether a host can read a turn that nobody asked for, such as one about the end of a command in the background.
    fn begins_turns(&self, mode: Mode) -> bool;

    /// What the model is told of a command in the background that has ended. `output` is the end of what it printed.
    fn job_ended(&self, job: &Job, output: &str) -> String;

    /// Every line has a time; otherwise only results have one.
    fn is_timed(&self) -> bool {
        false
    }

    /// Where a session's line has the members that only this vendor has.
    fn session_members_at(&self) -> At<'static> {
        At::Line
    }

    /// Those members.
    fn session_members(&self, facts: &SessionFacts<'_>) -> Vec<(&'static str, Value)> {
        let _ = facts;
        Vec::new()
    }

    /// What a host may do besides asking: a JSON text.
    fn capabilities(&self) -> Option<&'static str> {
        None
    }

    /// The session's facts come before anything else, and not only with a turn.
    fn introduces_first(&self) -> bool {
        false
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

    /// Requests of the host name their turns; else turns have names of ours.
    fn requests_name_turns(&self) -> bool {
        false
    }

    /// Calls are told whole, and so.
    fn whole_calls(&self) -> Option<ToldCall> {
        None
    }

    /// What a result says of who has decided about its call: the member's name and its value.
    fn decision(&self, decision: &Decision, call: &str) -> Option<(&'static str, Value)> {
        let _ = (decision, call);
        None
    }

    /// Rounds are told of before the model is asked, and those that fail too.
    fn counts_rounds(&self) -> bool {
        false
    }

    /// A subagent's words and thoughts stay with it unless the host wants them.
    fn hides_subagents(&self) -> bool {
        false
    }

    /// The words of a subagent that works in the background are told all the same.
    fn tells_background(&self) -> bool {
        false
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

    /// Calls are shown while they wait and run.
    fn shows_calls(&self) -> bool {
        false
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

    /// What the model reads in the user's place, so that it goes on, is told to the host.
    fn tells_urging(&self) -> bool {
        false
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

    /// The answer to a host that wants the last turn to go on, by whether it does. `None`: no host wants that.
    fn continued(&self) -> Option<fn(bool) -> Value> {
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

    /// A reply that broke off in its first block is given up and asked for again, so often.
    fn asks_again(&self) -> u64 {
        0
    }

    /// Of a reply that broke off the conversation keeps the blocks that were whole, and not what came of the last one.
    fn keeps_whole_blocks(&self) -> bool {
        false
    }

    /// What is said of a model that has refused to answer: to the host at once, and in place of the answer.
    fn refusal(&self, model: &str) -> Option<(Told, String)> {
        let _ = model;
        None
    }

    /// A host takes back prompts that wait, and is told which those are.
    fn withdraws_prompts(&self) -> bool {
        false
    }

    /// What the host says while a turn runs belongs to it once its calls are done, and what waits for the next turn is one prompt.
    fn joins_prompts(&self) -> bool {
        false
    }

    /// How often the model is reminded of an answer that it has to give in a form, and what comes of a turn that ends without.
    fn answer_reminders(&self) -> Reminders {
        Reminders { most: 5, fails: true }
    }

    /// Another model answers from here on, for the first cannot be had: `overloaded`, `model_not_found`.
    fn falls_back(&self, model: &str, to: &str, why: &'static str) -> Told {
        self.inform(&format!("{to} answers in place of {model}: {why}"), json!({"level": "notice"}))
    }

    /// What goes on with a reply is its end, and the answer is both.
    fn joins_replies(&self) -> bool {
        false
    }

    /// A question about a server's tool says whose it is.
    fn names_servers(&self) -> bool {
        false
    }

    /// A question for permission shows what the call would change.
    fn previews_changes(&self) -> bool {
        false
    }

    /// What runs in the background is told of, and so.
    fn tasks(&self) -> Option<&'static dyn TaskHost> {
        None
    }

    /// The turn was stopped by the host. `None`: that is said as a text of the user's.
    fn cancelled(&self) -> Option<Told> {
        None
    }

    /// A turn that the host has stopped is told of beside its outcome.
    fn tells_interrupts(&self) -> bool {
        true
    }

    /// What the model reads of a call that was stopped.
    fn call_stopped(&self) -> &'static str {
        interrupted(true)
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

    /// Configurations may say of a server that its tools need no permission.
    fn trusts_servers(&self) -> bool {
        false
    }

    /// How a session's facts say how it stands with a server.
    fn server_status(&self, status: Status) -> &'static str {
        status.as_str()
    }

    /// A session's facts name the kinds of subagents that are there without anybody's doing.
    fn lists_own_agents(&self) -> bool {
        true
    }

    /// How full the context is, for a host that asks, where that is not what Claude's hosts are told.
    fn context_shown(&self, parts: &ContextParts) -> Option<Value> {
        let _ = parts;
        None
    }

    /// A host that names no model takes its choice back.
    fn takes_models_back(&self) -> bool {
        true
    }

    /// Another model answers from the next round on, and not only from the next turn.
    fn changes_models_at_once(&self) -> bool {
        false
    }

    /// A reply in which there is nothing at all has failed, for this reason, once it was asked for so often in vain.
    fn empty_reply(&self) -> Option<(&'static str, u64)> {
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

    /// The codec counts the turns of an outcome by itself.
    fn codec_counts_turns(&self) -> bool {
        false
    }

    /// A member of the outcome that says how the turn ended.
    fn ended(&self, ended: Ended) -> Option<(&'static str, &'static str)> {
        let _ = ended;
        None
    }

    /// A turn whose last reply was cut off at the limit of tokens has failed, for this reason.
    fn cut_off(&self) -> Option<&'static str> {
        None
    }

    /// The outcome says what the whole session has used, earlier runs among it, and not what the turn has.
    fn counts_thread(&self, _: Mode) -> bool {
        false
    }

    /// A conversation that the model finds too long has reached a limit: that is no failure of the API.
    fn limits_context(&self) -> bool {
        false
    }

    /// The API's own word for a failure is told, where the reply and the outcome stand for one.
    fn tells_error_types(&self) -> bool {
        false
    }

    /// A reply that failed is told as a reply.
    fn tells_failures(&self) -> bool {
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
