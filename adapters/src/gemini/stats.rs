//! What a run took: the members of `stats`, in the two forms that the two formats have.

use super::tool_stats::ToolStats;
use crate::chat::Members;
use crate::event::{Count, Counted, Outcome, Provenance, Scope, Usage};
use crate::json::{Out, Raw, Shape, Str};

/// What `stats` says that the model has a place for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats<'a> {
    pub(super) usage: Usage<'a>,
    pub(super) duration_ms: Option<Raw<'a>>,
    /// The model, if there is one alone.
    pub(super) model: Option<Str<'a>>,
}

/// Tokens by the names of a form: all of them, those sent, those written, those from the cache, those of thoughts. In a stream only the
/// sum of all has the last ones.
pub(super) const STREAM: [&str; 4] = ["total_tokens", "input_tokens", "output_tokens", "cached"];
const DOCUMENT: [&str; 5] = ["total", "prompt", "candidates", "cached", "thoughts"];

impl<'a> Stats<'a> {
    /// Reads the value of `stats` and its members. Sums are said in a stream; in a document only each model's.
    pub(super) fn read(raw: Raw<'a>, members: &Members<'a>) -> Self {
        let models = members.get("models").filter(|models| models.shape() == Some(Shape::Object));
        let mut names = models.into_iter().flat_map(Raw::members).map(|(name, _)| name);
        let model = names.next().filter(|_| names.next().is_none());
        let sums = STREAM.map(|name| members.get(name));
        let usage = if sums[0].is_some() {
            let [total, input, output, cache_read] = sums;
            tokens([total, input, output, cache_read, None])
        } else {
            let each = models.into_iter().flat_map(Raw::members);
            let all = each.filter_map(|(_, model)| model.get("tokens")).map(|part| tokens(part.pick(DOCUMENT)));
            all.reduce(|sum, more| plus(&sum, &more)).unwrap_or_default()
        };
        Self {
            usage: Usage {
                scope: Scope::Turn,
                inclusive: true,
                reasoning_beside: sums[0].is_none(),
                raw: Some(raw),
                ..usage
            },
            duration_ms: members.get("duration_ms").filter(|value| value.shape() == Some(Shape::Number)),
            model,
        }
    }
}

/// Whether `stats` is in the form that streams have.
pub(super) fn is_stream(stats: Raw<'_>) -> bool {
    stats.get("total_tokens").is_some()
}

fn tokens(counts: [Option<Raw<'_>>; 5]) -> Usage<'_> {
    let [total, input, output, cache_read, reasoning] = counts.map(|count| count.and_then(Count::read));
    Usage {
        input,
        output,
        reasoning,
        cache_read,
        total,
        ..Usage::default()
    }
}

/// The sum of what two rounds, or models, took.
pub(super) fn plus<'a>(one: &Usage<'a>, other: &Usage<'a>) -> Usage<'a> {
    let sum = |one: Option<Count<'a>>, other: Option<Count<'a>>| match (one, other) {
        (Some(one), Some(other)) => Some(Count::derived(one.value.saturating_add(other.value))),
        (one, other) => one.or(other),
    };
    Usage {
        input: sum(one.input, other.input),
        output: sum(one.output, other.output),
        reasoning: sum(one.reasoning, other.reasoning),
        cache_read: sum(one.cache_read, other.cache_read),
        cache_write: sum(one.cache_write, other.cache_write),
        total: sum(one.total, other.total),
        provenance: Provenance::Derived,
        raw: None,
        ..*one
    }
}

/// What a turn took, as it is to be written.
pub(super) struct Taken<'t> {
    pub(super) usage: Option<Usage<'t>>,
    pub(super) outcome: &'t Outcome<'t>,
    /// The calls of tools.
    pub(super) tool_stats: &'t ToolStats,
    /// How often the model was asked, if that is known.
    pub(super) rounds: u64,
    /// The model, escaped.
    pub(super) model: Option<&'t str>,
    /// In the form of documents.
    pub(super) document: bool,
}

impl Taken<'_> {
    /// Writes `,"stats":{…}`, if anything is known. Returns whether it is.
    pub(super) fn write(&self, out: &mut Out) -> bool {
        let Self { usage, outcome, .. } = self;
        if usage.is_none() && outcome.duration_ms.is_none() {
            return false;
        }
        if let Some(raw) = usage.and_then(|usage| usage.raw).filter(|raw| self.is_own(*raw)) {
            out.lit(",\"stats\":");
            out.unchecked(raw);
            return true;
        }
        if usage.is_none() {
            out.invented("/stats", "the source says no tokens");
        }
        let usage = usage.unwrap_or_default();
        usage.said_by(Counted::WITH_INPUT).for_each(|source| out.used(source));
        let value = |count: Option<Count<'_>>| count.map_or(0, |count| count.value);
        let (input, output) = (usage.prompt_tokens().unwrap_or(0), usage.answer_tokens().unwrap_or(0));
        let thoughts = usage.reasoning_tokens().unwrap_or(0);
        let sum = input.saturating_add(output).saturating_add(thoughts);
        let numbers = Numbers {
            total: usage.total.map_or(sum, |total| total.value),
            input,
            output,
            thoughts,
            cached: value(usage.cache_read),
        };
        out.lit(",\"stats\":{");
        if self.document {
            self.document(&numbers, out);
        } else {
            self.stream(&numbers, out);
        }
        out.lit("}");
        true
    }

    /// Whether the source's own object is in the form that is written.
    fn is_own(&self, raw: Raw<'_>) -> bool {
        let has = |name| raw.get(name).is_some();
        if self.document {
            has("models") && has("tools") && has("files")
        } else {
            is_stream(raw) && has("duration_ms") && has("tool_calls")
        }
    }

    fn stream(&self, numbers: &Numbers, out: &mut Out) {
        numbers.stream(out);
        out.lit(",\"duration_ms\":");
        match self.outcome.duration_ms.filter(|raw| raw.u64().is_some()) {
            Some(duration) => out.raw(duration),
            None => {
                out.lit("0");
                out.invented("/stats/duration_ms", "the source does not say it");
            }
        }
        out.lit(",\"tool_calls\":");
        out.number(self.tool_stats.calls());
        out.lit(",\"models\":{");
        if let Some(model) = self.model {
            out.lit("\"");
            out.lit(model);
            out.lit("\":{");
            numbers.stream(out);
            out.lit("}");
        }
        out.lit("}");
    }

    fn document(&self, numbers: &Numbers, out: &mut Out) {
        out.lit("\"models\":{");
        if let Some(model) = self.model {
            out.lit("\"");
            out.lit(model);
            out.lit("\":{\"api\":{");
            self.requests(out);
            out.lit(",\"errorsByType\":{}},");
            numbers.document(out);
            out.lit(",\"roles\":{\"main\":{");
            self.requests(out);
            out.lit(",");
            numbers.document(out);
            out.lit("}}}");
        }
        out.lit("},\"tools\":{");
        self.tool_stats.write(out);
        out.lit("},\"files\":{\"totalLinesAdded\":0,\"totalLinesRemoved\":0}");
        out.invented("/stats/files", "the source does not count the lines that were changed");
    }

    /// How often the model was asked, and for how long.
    fn requests(&self, out: &mut Out) {
        out.lit("\"totalRequests\":");
        out.number(self.rounds.max(1));
        out.lit(",\"totalErrors\":0,\"totalLatencyMs\":");
        match self.outcome.duration_api_ms.filter(|raw| raw.u64().is_some()) {
            Some(duration) => out.raw(duration),
            None => {
                out.lit("0");
                out.invented("/stats/models/api/totalLatencyMs", "the source does not say it");
            }
        }
    }
}

struct Numbers {
    total: u64,
    input: u64,
    output: u64,
    thoughts: u64,
    cached: u64,
}

impl Numbers {
    /// What was sent and not answered by the cache.
    const fn fresh(&self) -> u64 {
        self.input.saturating_sub(self.cached)
    }

    fn stream(&self, out: &mut Out) {
        for (name, number) in [
            ("\"total_tokens\":", self.total),
            (",\"input_tokens\":", self.input),
            (",\"output_tokens\":", self.output),
            (",\"cached\":", self.cached),
            (",\"input\":", self.fresh()),
        ] {
            out.lit(name);
            out.number(number);
        }
    }

    /// `tokens` of a document.
    fn document(&self, out: &mut Out) {
        out.lit("\"tokens\":{");
        for (name, number) in [
            ("\"input\":", self.fresh()),
            (",\"prompt\":", self.input),
            (",\"candidates\":", self.output),
            (",\"total\":", self.total),
            (",\"cached\":", self.cached),
            (",\"thoughts\":", self.thoughts),
        ] {
            out.lit(name);
            out.number(number);
        }
        out.lit(",\"tool\":0}");
    }
}
