//! Members that only ATIF has.

use crate::names::Names;

/// They ride in the events' fields; sorted by name.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("completion_token_ids", "metrics: the tokens that the model wrote"),
    ("continued_trajectory_ref", "the file in which the trajectory goes on"),
    ("cost_usd", "metrics: what the answer cost"),
    ("extra", "free room, on every object but an observation"),
    ("final_metrics", "the sums over the whole trajectory"),
    ("is_copied_context", "step: it was copied from an earlier trajectory and is counted there"),
    ("llm_call_count", "step: how many answers of the model it stands for; 0 is none"),
    ("logprobs", "metrics: of each token that the model wrote"),
    ("name", "agent: what it is called"),
    ("notes", "of the trajectory, for people"),
    ("observation", "step: what came of it, where that is of no call"),
    ("prompt_token_ids", "metrics: the tokens that the model was sent"),
    ("reasoning_effort", "step: how hard the model was told to think"),
    (
        "subagent_trajectories",
        "trajectories of subagents inside this one, where they cannot be read",
    ),
    ("subagent_trajectory_ref", "result: the trajectories of the subagents that worked for it"),
    ("tool_definitions", "agent: its tools, as functions"),
    ("trajectory_id", "of the trajectory, beside the session's id"),
];

static NAMES: Names = Names::of(KNOWN);

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    NAMES.has(name)
}
