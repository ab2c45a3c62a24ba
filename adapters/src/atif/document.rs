//! A trajectory while it is put together: its steps are held, for results come after what is said behind their calls.

use super::VERSION;
use crate::event::Usage;
use crate::json::Out;

/// A trajectory: the main one, or a subagent's.
#[derive(Debug, Default)]
pub(super) struct Trajectory {
    /// The call that it works for, escaped; empty for the main one.
    pub(super) call: String,
    /// The number of the trajectory in which that call stands, where a later call has taken its id.
    pub(super) owner: Option<usize>,
    /// A result refers to it.
    pub(super) referred: bool,
    /// Its id, and its agent's name, escaped; empty where they are not known.
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) steps: Vec<Step>,
    /// The answer of the model that is being written.
    pub(super) open: Option<usize>,
    /// What the steps took.
    pub(super) sum: Option<Usage<'static>>,
}

/// A step. What stands in it is JSON already, but for texts: those are bodies of strings.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) source: &'static str,
    pub(super) time: String,
    pub(super) model: Vec<u8>,
    pub(super) message: Vec<Part>,
    pub(super) thought: Option<Vec<u8>>,
    pub(super) calls: Vec<Vec<u8>>,
    pub(super) results: Vec<Vec<u8>>,
    /// Members of its metrics.
    pub(super) metrics: Vec<u8>,
    /// Members of its free room.
    pub(super) extra: Vec<u8>,
    /// Members of its own, each behind a comma.
    pub(super) more: Vec<u8>,
    /// No model answered.
    pub(super) without_model: bool,
}

/// A part of a message.
#[derive(Debug)]
pub(super) enum Part {
    Text(Vec<u8>),
    Other(Vec<u8>),
}

/// What goes into a document besides steps.
pub(super) struct Frame<'t> {
    /// Members of the agent but for its name, which is that of the main one.
    pub(super) name: &'t str,
    pub(super) agent: &'t [u8],
    /// Members of the whole behind its steps, each behind a comma.
    pub(super) more: &'t [u8],
    /// What it cost.
    pub(super) cost: Option<&'t str>,
    /// The sums are among `more`.
    pub(super) has_sums: bool,
}

/// Adds a member; what stands before it decides whether there is a comma.
pub(super) fn member(to: &mut Vec<u8>, name: &str, value: &[u8]) {
    if !to.is_empty() {
        to.push(b',');
    }
    to.extend_from_slice(format!("\"{name}\":").as_bytes());
    to.extend_from_slice(value);
}

impl Step {
    pub(super) fn new(source: &'static str, time: String) -> Self {
        Self {
            source,
            time,
            without_model: source == "agent",
            ..Self::default()
        }
    }

    /// Whether it says what neither user nor model says.
    pub(super) fn is_notice(&self) -> bool {
        self.source == "system"
    }

    fn write(&self, number: usize, out: &mut Out) {
        out.lit("{\"step_id\":");
        out.number(number as u64);
        if !self.time.is_empty() {
            out.lit(",\"timestamp\":\"");
            out.lit(&self.time);
            out.lit("\"");
        }
        out.lit(",\"source\":\"");
        out.lit(self.source);
        out.lit("\"");
        list_if(",\"model_name\":", &self.model, "", out);
        out.lit(",\"message\":");
        message(&self.message, out);
        if let Some(thought) = &self.thought {
            out.lit(",\"reasoning_content\":\"");
            out.bytes(thought);
            out.lit("\"");
        }
        for (before, list, behind) in [
            (",\"tool_calls\":[", &self.calls, "]"),
            (",\"observation\":{\"results\":[", &self.results, "]}"),
        ] {
            if !list.is_empty() {
                out.lit(before);
                out.commas(list);
                out.lit(behind);
            }
        }
        list_if(",\"metrics\":{", &self.metrics, "}", out);
        if self.source == "agent" && !self.more.windows(17).any(|part| part == b"\"llm_call_count\":") {
            out.lit(",\"llm_call_count\":");
            out.number(u8::from(!self.without_model || self.thought.is_some() || !self.metrics.is_empty()));
        }
        out.bytes(&self.more);
        list_if(",\"extra\":{", &self.extra, "}", out);
        out.lit("}");
    }
}

/// One text is a text; several, and what is none, are parts.
pub(super) fn message(parts: &[Part], out: &mut Out) {
    match parts {
        [] => out.lit("\"\""),
        [Part::Text(text)] => {
            out.lit("\"");
            out.bytes(text);
            out.lit("\"");
        }
        parts => {
            for (n, part) in parts.iter().enumerate() {
                out.lit(if n == 0 { "[" } else { "," });
                match part {
                    Part::Text(text) => {
                        out.lit("{\"type\":\"text\",\"text\":\"");
                        out.bytes(text);
                        out.lit("\"}");
                    }
                    Part::Other(part) => out.bytes(part),
                }
            }
            out.lit("]");
        }
    }
}

fn list_if(before: &str, list: &[u8], behind: &str, out: &mut Out) {
    if !list.is_empty() {
        out.lit(before);
        out.bytes(list);
        out.lit(behind);
    }
}

/// Writes the trajectory number `at` of `all`, with those of its subagents, which stand `inside` each.
pub(super) fn write(all: &[Trajectory], at: usize, inside: &[Vec<usize>], session: &str, frame: &Frame<'_>, out: &mut Out) {
    let one = &all[at];
    let main = at == 0;
    out.lit("{\"schema_version\":\"");
    out.lit(VERSION);
    out.lit("\"");
    for (name, id) in [("session_id", if main { session } else { "" }), ("trajectory_id", &one.id)] {
        if !id.is_empty() {
            out.lit(&format!(",\"{name}\":\"{id}\""));
        }
    }
    out.lit(",\"agent\":{\"name\":\"");
    out.lit(if one.agent.is_empty() { frame.name } else { &one.agent });
    out.lit("\"");
    if main {
        out.bytes(frame.agent);
    } else {
        out.lit(",\"version\":\"unknown\"");
    }
    out.lit("},\"steps\":[");
    for (n, step) in one.steps.iter().enumerate() {
        if n > 0 {
            out.lit(",");
        }
        step.write(n + 1, out);
    }
    out.lit("]");
    if main {
        out.bytes(frame.more);
    }
    if !main || !frame.has_sums {
        sums(one, frame.cost.filter(|_| main), out);
    }
    for (n, &sub) in inside[at].iter().enumerate() {
        out.lit(if n == 0 { ",\"subagent_trajectories\":[" } else { "," });
        write(all, sub, inside, session, frame, out);
    }
    out.lit(if inside[at].is_empty() { "}" } else { "]}" });
}

fn sums(one: &Trajectory, cost: Option<&str>, out: &mut Out) {
    let sum = one.sum.unwrap_or_default();
    out.lit(",\"final_metrics\":{\"total_steps\":");
    out.number(one.steps.len() as u64);
    for (name, number) in [
        ("total_prompt_tokens", sum.prompt_tokens()),
        ("total_completion_tokens", sum.output.map(|count| count.value)),
        ("total_cached_tokens", sum.cache_read.map(|count| count.value)),
    ] {
        if let Some(number) = number {
            out.lit(&format!(",\"{name}\":{number}"));
        }
    }
    if let Some(cost) = cost {
        out.lit(&format!(",\"total_cost_usd\":{cost}"));
    }
    if let Some(written) = sum.cache_write {
        out.lit(&format!(",\"extra\":{{\"total_cache_creation_input_tokens\":{}}}", written.value));
    }
    out.lit("}");
}
