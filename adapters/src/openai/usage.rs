use crate::chat::read_usage;
use crate::event::{Count, Usage};
use crate::json::Raw;

/// Reads a stream's `usage`: OpenAI's members, and where others tell the part that came from the cache: DeepSeek's
/// `prompt_cache_hit_tokens`, Moonshot's `cached_tokens`. Prompt tokens count cache reads in.
pub(super) fn read(raw: Raw<'_>) -> Option<Usage<'_>> {
    let mut usage = read_usage(raw)?;
    for name in ["prompt_cache_hit_tokens", "cached_tokens"] {
        usage.cache_read = usage.cache_read.or_else(|| raw.get(name).and_then(Count::read));
    }
    if let Some(written) = raw.get("prompt_tokens_details").and_then(|details| details.get("cache_write_tokens")) {
        usage.cache_write = Count::read(written);
    }
    Some(usage)
}
