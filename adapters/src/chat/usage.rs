use crate::event::{Count, Counted, Usage};
use crate::json::{Out, Raw, Shape};

/// The members of a `usage` that are read.
pub(crate) const COUNTS: [&str; 5] = [
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details",
    "completion_tokens_details",
];

/// Reads OpenAI's `usage`: `prompt_tokens` (cache reads and writes are counted in), `completion_tokens`, `total_tokens`,
/// `prompt_tokens_details.cached_tokens`, `completion_tokens_details.reasoning_tokens` (counted in the completion). `None` for anything but
/// an object. A number that is none counts as absent.
pub(crate) fn read_usage(raw: Raw<'_>) -> Option<Usage<'_>> {
    if raw.shape() != Some(Shape::Object) {
        return None;
    }
    let mut usage = Usage {
        inclusive: true,
        raw: Some(raw),
        ..Usage::default()
    };
    for (key, value) in raw.members() {
        let Some(which) = COUNTS.iter().position(|name| *name == key.as_escaped()) else {
            continue;
        };
        let count = || Some(value).filter(|v| v.shape() == Some(Shape::Number)).and_then(Count::read);
        match which {
            0 => usage.input = usage.input.or_else(count),
            1 => usage.output = usage.output.or_else(count),
            2 => usage.total = usage.total.or_else(count),
            3 => usage.cache_read = usage.cache_read.or_else(|| value.get("cached_tokens").and_then(Count::read)),
            _ => usage.reasoning = usage.reasoning.or_else(|| value.get("reasoning_tokens").and_then(Count::read)),
        }
    }
    Some(usage)
}

/// Writes OpenAI's `usage`. The three totals have to be there: one that is not known is 0, and told to the ledger.
pub(crate) fn write_usage(usage: &Usage<'_>, out: &mut Out) {
    usage.said_by(Counted::WITH_INPUT).for_each(|part| out.used(part));
    let prompt = usage.prompt_tokens();
    let completion = usage.written_tokens();
    let total = usage.total.map(|count| count.value);
    if prompt.is_none() {
        out.invented("/usage/prompt_tokens", "the source does not say how many tokens went to the model");
    }
    if completion.is_none() {
        out.invented("/usage/completion_tokens", "the source does not say how many tokens the model wrote");
    }
    let (prompt, completion) = (prompt.unwrap_or(0), completion.unwrap_or(0));
    out.lit("{\"prompt_tokens\":");
    out.number(prompt);
    out.lit(",\"completion_tokens\":");
    out.number(completion);
    out.lit(",\"total_tokens\":");
    out.number(total.unwrap_or_else(|| prompt.saturating_add(completion)));
    if let Some(cached) = usage.cache_read {
        out.lit(",\"prompt_tokens_details\":{\"cached_tokens\":");
        out.number(cached.value);
        out.lit("}");
    }
    if let Some(reasoning) = usage.reasoning_tokens() {
        out.lit(",\"completion_tokens_details\":{\"reasoning_tokens\":");
        out.number(reasoning);
        out.lit("}");
    }
    out.lit("}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(usage: &Usage<'_>) -> String {
        let mut out = Out::default();
        write_usage(usage, &mut out);
        String::from_utf8(out.written().to_vec()).unwrap()
    }

    #[test]
    fn what_is_read_is_written() {
        let text = "{\"prompt_tokens\":1200,\"completion_tokens\":80,\"total_tokens\":1280,\"prompt_tokens_details\":{\"cached_tokens\":1000},\
            \"completion_tokens_details\":{\"reasoning_tokens\":30}}";
        let usage = read_usage(Raw::trusted(text)).unwrap();
        assert_eq!((usage.reasoning_tokens(), usage.written_tokens()), (Some(30), Some(80)));
        assert_eq!(usage.fresh_tokens(), Some(200));
        assert_eq!(written(&usage), text);
        assert_eq!(read_usage(Raw::trusted("\"many\"")), None);
        assert_eq!(read_usage(Raw::trusted("{\"prompt_tokens\":null}")).unwrap().input, None);
    }

    #[test]
    fn cache_reads_and_writes_of_other_dialects_are_counted_in() {
        let count = |n| Some(Count::derived(n));
        let usage = Usage {
            input: count(10),
            output: count(3),
            cache_read: count(100),
            cache_write: count(5),
            ..Usage::default()
        };
        assert_eq!(
            written(&usage),
            "{\"prompt_tokens\":115,\"completion_tokens\":3,\"total_tokens\":118,\"prompt_tokens_details\":{\"cached_tokens\":100}}"
        );
        assert_eq!(
            written(&Usage::default()),
            "{\"prompt_tokens\":0,\"completion_tokens\":0,\"total_tokens\":0}"
        );
    }
}
