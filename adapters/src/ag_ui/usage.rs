//! Tokens, in the protocol's own accounting: what the cache gave and took is counted in the input.

use crate::codec::Cx;
use crate::event::{Count, Provenance, Scope, Usage};
use crate::json::{Out, Raw, Str};

/// What a run says that it took: one entry for each model.
pub(super) fn of_run<'a>(list: Raw<'a>, cx: &Cx<'a>) -> Option<Usage<'a>> {
    let mut entries = list.elements();
    let first = read(entries.next()?);
    let Some(second) = entries.next() else {
        return first.map(|usage| Usage {
            scope: Scope::Turn,
            raw: Some(list),
            ..usage
        });
    };
    let mut sum = None;
    let others = std::iter::once(second).chain(entries).filter_map(read);
    for usage in first.into_iter().chain(others) {
        usage.sources().for_each(|source| cx.took(source));
        Usage::add(&mut sum, &usage);
    }
    sum.map(|sum: Usage<'static>| Usage {
        scope: Scope::Turn,
        provenance: Provenance::Derived,
        raw: Some(list),
        ..sum
    })
}

/// What a round took, as we write it.
pub(super) fn of_round(entry: Raw<'_>) -> Option<Usage<'_>> {
    read(entry)
}

fn read(entry: Raw<'_>) -> Option<Usage<'_>> {
    let count = |name: &str| entry.get(name).and_then(Count::read);
    let usage = Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        reasoning: count("reasoningTokens"),
        cache_read: count("cachedInputTokens"),
        cache_write: count("cacheWriteInputTokens"),
        total: count("totalTokens"),
        inclusive: true,
        ..Usage::default()
    };
    usage.sources().next().is_some().then_some(usage)
}

/// Writes an entry, with the model if there is one.
pub(super) fn write(usage: &Usage<'_>, model: Option<Str<'_>>, out: &mut Out) {
    usage.parts().for_each(|source| out.used(source));
    let mut before = "{";
    if let Some(model) = model.filter(|model| !model.is_empty()) {
        out.lit("{\"model\":");
        out.str(model);
        before = ",";
    }
    let value = |count: Option<Count<'_>>| count.map(|count| count.value);
    let (input, output) = (usage.prompt_tokens(), usage.written_tokens());
    let total = input.zip(output).map(|(input, output)| input.saturating_add(output));
    for (name, number) in [
        ("\"inputTokens\":", input),
        ("\"outputTokens\":", output),
        ("\"totalTokens\":", total.filter(|_| usage.total.is_some())),
        ("\"reasoningTokens\":", usage.reasoning_tokens()),
        ("\"cachedInputTokens\":", value(usage.cache_read)),
        ("\"cacheWriteInputTokens\":", value(usage.cache_write)),
    ] {
        // The protocol counts no further than numbers in JavaScript go.
        if let Some(number) = number.filter(|number| *number <= MOST) {
            out.lit(before);
            out.lit(name);
            out.number(number);
            before = ",";
        }
    }
    out.lit(if before == "{" { "{}" } else { "}" });
}

const MOST: u64 = (1 << 53) - 1;
