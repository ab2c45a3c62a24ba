use agentglot_adapters::events::Usage;

/// Tokens, each counted in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tokens {
    /// Sent to the model, without those of the cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// Written by the model.
    pub output: u64,
    /// Among those: what it thought, where logs say it.
    pub reasoning: u64,
}

impl Tokens {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
            .saturating_add(self.output)
    }

    /// Those of a usage.
    pub fn of(usage: &Usage) -> Self {
        let (cache_read, cache_write) = (usage.cache_read.unwrap_or(0), usage.cache_write.unwrap_or(0));
        let input = usage.input.unwrap_or(0);
        Self {
            input: if usage.inclusive {
                input.saturating_sub(cache_read).saturating_sub(cache_write)
            } else {
                input
            },
            cache_read,
            cache_write,
            output: usage.written_tokens().unwrap_or(0),
            reasoning: usage.reasoning_tokens().unwrap_or(0),
        }
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds others. A log may say any number.
    pub const fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    /// What a sum has grown by. One that is smaller than before counts anew.
    pub(super) const fn since(&self, before: &Self) -> Self {
        const fn grown(now: u64, before: u64) -> u64 {
            if now >= before { now - before } else { now }
        }
        Self {
            input: grown(self.input, before.input),
            cache_read: grown(self.cache_read, before.cache_read),
            cache_write: grown(self.cache_write, before.cache_write),
            output: grown(self.output, before.output),
            reasoning: grown(self.reasoning, before.reasoning),
        }
    }
}
