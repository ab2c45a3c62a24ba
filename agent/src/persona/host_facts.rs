//! What a vendor's hosts expect, whatever happens: one value a persona.

use agentglot_adapters::raw::event::At;
use serde_json::Value;

use super::host_tasks::TaskHost;
use super::told::{Reminders, ToldCall, interrupted};

/// What holds of hosts of a vendor's.
#[derive(Clone, Copy)]
pub struct HostFacts {
    /// A host of lines can read a turn that nobody asked for, such as one about the end of a command in the background.
    pub begins_turns: bool,
    /// Every line has a time; otherwise only results have one.
    pub is_timed: bool,
    /// Where a session's line has the members that only this vendor has.
    pub session_members_at: At<'static>,
    /// What a host may do besides asking: a JSON text.
    pub capabilities: Option<&'static str>,
    /// The session's facts come before anything else, and not only with a turn.
    pub introduces_first: bool,
    /// Requests of the host name their turns; else turns have names of ours.
    pub requests_name_turns: bool,
    /// Calls are told whole, and so.
    pub whole_calls: Option<ToldCall>,
    /// Rounds are told of before the model is asked, and those that fail too.
    pub counts_rounds: bool,
    /// A subagent's words and thoughts stay with it unless the host wants them.
    pub hides_subagents: bool,
    /// The words of a subagent that works in the background are told all the same.
    pub tells_background: bool,
    /// Calls are shown while they wait and run.
    pub shows_calls: bool,
    /// What the model reads in the user's place, so that it goes on, is told to the host.
    pub tells_urging: bool,
    /// The answer to a host that wants the last turn to go on, by whether it does. `None`: no host wants that.
    pub continued: Option<fn(bool) -> Value>,
    /// A reply that broke off in its first block is given up and asked for again, so often.
    pub asks_again: u64,
    /// Of a reply that broke off the conversation keeps the blocks that were whole, and not what came of the last one.
    pub keeps_whole_blocks: bool,
    /// A host takes back prompts that wait, and is told which those are.
    pub withdraws_prompts: bool,
    /// What the host says while a turn runs belongs to it once its calls are done, and what waits for the next turn is one prompt.
    pub joins_prompts: bool,
    /// How often the model is reminded of an answer that it has to give in a form, and what comes of a turn that ends without.
    pub answer_reminders: Reminders,
    /// What goes on with a reply is its end, and the answer is both.
    pub joins_replies: bool,
    /// A question about a server's tool says whose it is.
    pub names_servers: bool,
    /// A question for permission shows what the call would change.
    pub previews_changes: bool,
    /// What runs in the background is told of, and so.
    pub tasks: Option<&'static dyn TaskHost>,
    /// A turn that the host has stopped is told of beside its outcome.
    pub tells_interrupts: bool,
    /// What the model reads of a call that was stopped.
    pub call_stopped: &'static str,
    /// Configurations may say of a server that its tools need no permission.
    pub trusts_servers: bool,
    /// A session's facts name the kinds of subagents that are there without anybody's doing.
    pub lists_own_agents: bool,
    /// A host that names no model takes its choice back.
    pub takes_models_back: bool,
    /// Another model answers from the next round on, and not only from the next turn.
    pub changes_models_at_once: bool,
    /// A reply in which there is nothing at all has failed, for this reason, once it was asked for so often in vain.
    pub empty_reply: Option<(&'static str, u64)>,
    /// The codec counts the turns of an outcome by itself.
    pub codec_counts_turns: bool,
    /// A turn whose last reply was cut off at the limit of tokens has failed, for this reason.
    pub cut_off: Option<&'static str>,
    /// A conversation that the model finds too long has reached a limit: that is no failure of the API.
    pub limits_context: bool,
    /// The API's own word for a failure is told, where the reply and the outcome stand for one.
    pub tells_error_types: bool,
    /// A reply that failed is told as a reply.
    pub tells_failures: bool,
}

impl HostFacts {
    /// Where a vendor has no ways of its own.
    pub const PLAIN: Self = Self {
        begins_turns: false,
        is_timed: false,
        session_members_at: At::Line,
        capabilities: None,
        introduces_first: false,
        requests_name_turns: false,
        whole_calls: None,
        counts_rounds: false,
        hides_subagents: false,
        tells_background: false,
        shows_calls: false,
        tells_urging: false,
        continued: None,
        asks_again: 0,
        keeps_whole_blocks: false,
        withdraws_prompts: false,
        joins_prompts: false,
        answer_reminders: Reminders { most: 5, fails: true },
        joins_replies: false,
        names_servers: false,
        previews_changes: false,
        tasks: None,
        tells_interrupts: true,
        call_stopped: interrupted(true),
        trusts_servers: false,
        lists_own_agents: true,
        takes_models_back: true,
        changes_models_at_once: false,
        empty_reply: None,
        codec_counts_turns: false,
        cut_off: None,
        limits_context: false,
        tells_error_types: false,
        tells_failures: false,
    };
}
