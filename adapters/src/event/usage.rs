use bumpalo::Bump;

use crate::json::Raw;

/// Tokens used. Each number is what the source said or what was worked out from it; absent is absent, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage<'a> {
    /// Tokens sent to the model. See [`Self::inclusive`].
    pub input: Option<Count<'a>>,
    /// Tokens that the model wrote.
    pub output: Option<Count<'a>>,
    /// Tokens read from the prompt cache.
    pub cache_read: Option<Count<'a>>,
    /// Tokens written to the prompt cache.
    pub cache_write: Option<Count<'a>>,
    /// The source's own total.
    pub total: Option<Count<'a>>,
    /// Whether `input` counts cache reads and writes too: yes for OpenAI's `prompt_tokens` and Qwen Code's `input_tokens`,
    /// no for Claude's `input_tokens` and Cursor's `inputTokens`.
    pub inclusive: bool,
    /// What the numbers cover.
    pub scope: Scope,
    /// Whether the source said them.
    pub provenance: Provenance,
    /// The whole object as written, with the details that only its dialect has (service tier, cache lifetimes …).
    pub raw: Option<Raw<'a>>,
}

/// US dollars that add up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost(f64);

impl Cost {
    /// This was spent, too.
    pub(crate) fn add(&mut self, cost: Option<f64>) {
        self.0 += cost.unwrap_or(0.0);
    }

    /// The sum. Who does not know a price says 0: that is none.
    pub(crate) fn text(self) -> Option<String> {
        if !self.0.is_finite() || self.0 <= 0.0 {
            return None;
        }
        // Sums of decimal fractions have digits that nobody has said.
        let mut text = format!("{:.10}", self.0);
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        Some(text)
    }

    /// The same, as a line would say it.
    pub(crate) fn said(self, arena: &Bump) -> Option<Raw<'_>> {
        Some(Raw::trusted(arena.alloc_str(&self.text()?)))
    }
}

/// A number of tokens (or turns, or milliseconds), and the part of the line that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count<'a> {
    /// The number.
    pub value: u64,
    /// The digits in the source line; empty when the number was worked out.
    pub source: &'a str,
}

/// The numbers that a target writes besides input, output and what the cache gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// A total of its own.
    pub total: bool,
    /// What the cache took.
    pub cache_write: bool,
}

impl Counted {
    /// All of them.
    pub const ALL: Self = Self {
        total: true,
        cache_write: true,
    };
    /// No total.
    pub const NO_TOTAL: Self = Self { total: false, ..Self::ALL };
    /// What the cache took only with the input.
    pub const WITH_INPUT: Self = Self {
        cache_write: false,
        ..Self::ALL
    };
}

/// What a usage covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// One model call.
    #[default]
    Round,
    /// One turn: Claude's and Cursor's `result.usage`, the RFC's summary.
    Turn,
    /// All turns so far: Qwen Code's `result.usage`.
    Session,
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provenance {
    /// The source says it.
    #[default]
    Reported,
    /// It was worked out from what the source says (sums, differences).
    Derived,
}

impl<'a> Count<'a> {
    /// Reads a whole number that is not negative; `None` for anything else.
    pub fn read(raw: Raw<'a>) -> Option<Self> {
        raw.u64().map(|value| Self { value, source: raw.as_str() })
    }

    /// A number that was worked out.
    pub const fn derived(value: u64) -> Self {
        Self { value, source: "" }
    }
}

impl<'a> Usage<'a> {
    /// What a sum over the session has grown by since `before`, which becomes this sum: the tokens of the turn alone. A turn that
    /// failed may say zeros instead of the sum, and has used nothing. A number that is smaller than before counts anew.
    pub fn of_turn(&self, before: &mut Usage<'static>) -> Self {
        let grown = |now: Option<Count<'a>>, before: Option<Count<'static>>| {
            now.map(|now| Count {
                value: now.value.checked_sub(before.map_or(0, |before| before.value)).unwrap_or(now.value),
                ..now
            })
        };
        let turn = Self {
            input: grown(self.input, before.input),
            output: grown(self.output, before.output),
            cache_read: grown(self.cache_read, before.cache_read),
            cache_write: grown(self.cache_write, before.cache_write),
            total: grown(self.total, before.total),
            scope: Scope::Turn,
            raw: None,
            ..*self
        };
        if !self.is_blank() {
            *before = self.detached();
        }
        turn
    }
}

impl Usage<'static> {
    /// Adds the tokens of a round to those of its turn.
    pub(crate) fn add(sum: &mut Option<Self>, round: &Usage<'_>) {
        let round = round.detached();
        let Some(sum) = sum else {
            *sum = Some(round);
            return;
        };
        // A sum over some of the rounds would be none.
        let has_totals = sum.total.is_some() && round.total.is_some();
        sum.total = sum.total.filter(|_| has_totals);
        let both = [
            (&mut sum.input, round.input),
            (&mut sum.output, round.output),
            (&mut sum.cache_read, round.cache_read),
            (&mut sum.cache_write, round.cache_write),
            (&mut sum.total, round.total.filter(|_| has_totals)),
        ];
        for (sum, round) in both {
            if let Some(round) = round {
                let sum = sum.get_or_insert(Count::derived(0));
                sum.value = sum.value.saturating_add(round.value);
            }
        }
    }
}

impl<'a> Usage<'a> {
    /// The same numbers with cache reads and writes counted into `input`, thoughts into `output`, and without any tie to a source line.
    pub(crate) fn with_cache(&self) -> Usage<'static> {
        Usage {
            input: self.prompt_tokens().map(Count::derived),
            output: self.written_tokens().map(Count::derived),
            inclusive: true,
            ..self.detached()
        }
    }

    /// Tokens sent to the model with cache reads and writes counted in (OpenAI's `prompt_tokens`).
    pub fn prompt_tokens(&self) -> Option<u64> {
        let input = self.input?.value;
        if self.inclusive {
            return Some(input);
        }
        let cache = |c: Option<Count<'_>>| c.map_or(0, |c| c.value);
        Some(input.saturating_add(cache(self.cache_read)).saturating_add(cache(self.cache_write)))
    }

    /// Tokens sent to the model without those that the cache answered or took (Claude's `input_tokens`).
    pub fn fresh_tokens(&self) -> Option<u64> {
        let input = self.input?.value;
        if !self.inclusive {
            return Some(input);
        }
        let cache = |c: Option<Count<'_>>| c.map_or(0, |c| c.value);
        Some(input.saturating_sub(cache(self.cache_read)).saturating_sub(cache(self.cache_write)))
    }

    /// Tokens that the model wrote, what it thought with counted in. Some sources count that beside the output, or in the total alone.
    pub fn written_tokens(&self) -> Option<u64> {
        let output = self.output?.value;
        // Who counts it beside the output says a total, too.
        let Some(total) = self.total else { return Some(output) };
        let said = self.raw.and_then(|raw| raw.get("thoughts")?.u64());
        let beside = said.or_else(|| total.value.checked_sub(self.prompt_tokens()?.saturating_add(output)));
        Some(output.saturating_add(beside.unwrap_or(0)))
    }

    /// The same as a number of its own, for targets whose output is all that the model wrote.
    pub(crate) fn written(&self) -> Option<Count<'a>> {
        let output = self.output?;
        let written = self.written_tokens()?;
        Some(if written == output.value { output } else { Count::derived(written) })
    }

    /// What the model thought with, where the source counts that beside the output.
    pub(crate) fn thought_beside(&self) -> Option<u64> {
        let beside = self.written_tokens()?.saturating_sub(self.output?.value);
        (beside > 0).then_some(beside)
    }

    /// The slices of the source line that its numbers stand in.
    pub fn sources(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        [self.input, self.output, self.cache_read, self.cache_write, self.total]
            .into_iter()
            .flatten()
            .map(|c| c.source)
    }

    /// The same for a target that writes no total.
    pub fn parts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.said_by(Counted::NO_TOTAL)
    }

    /// The same for a target that writes these numbers: a total counts where it is the sum of the others, what the cache took where
    /// it becomes a part of the input.
    pub fn said_by(&self, target: Counted) -> impl Iterator<Item = &'a str> + use<'a> {
        let sum = self.prompt_tokens().unwrap_or(0).saturating_add(self.written_tokens().unwrap_or(0));
        let total = self.total.filter(|total| target.total || total.value == sum);
        let cache_write = self.cache_write.filter(|count| target.cache_write || !self.inclusive || count.value == 0);
        Self { total, cache_write, ..*self }.sources()
    }

    /// Whether every number is absent or zero: Qwen Code writes such an object on all but the last piece of a reply, where
    /// it means "absent".
    pub fn is_blank(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write, self.total]
            .into_iter()
            .flatten()
            .all(|c| c.value == 0)
    }

    /// The same numbers without any tie to a source line.
    pub fn detached(&self) -> Usage<'static> {
        let free = |c: Option<Count<'_>>| c.map(|c| Count::derived(c.value));
        Usage {
            input: free(self.input),
            output: free(self.output),
            cache_read: free(self.cache_read),
            cache_write: free(self.cache_write),
            total: free(self.total),
            inclusive: self.inclusive,
            scope: self.scope,
            provenance: self.provenance,
            raw: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_thought_was_written() {
        let written = |output, total, raw: Option<&'static str>| {
            let usage = Usage {
                input: Some(Count::derived(100)),
                output,
                cache_read: Some(Count::derived(30)),
                total,
                inclusive: true,
                raw: raw.map(Raw::trusted),
                ..Usage::default()
            };
            usage.written_tokens()
        };
        let count = |value| Some(Count::derived(value));
        assert_eq!(written(count(20), None, None), Some(20));
        assert_eq!(written(count(20), count(125), None), Some(25));
        assert_eq!(written(count(20), count(40), None), Some(20), "a total that counts less");
        assert_eq!(written(count(20), count(135), Some(r#"{"thoughts":5,"tool":10}"#)), Some(25));
        assert_eq!(written(None, count(125), None), None);
        let usage = Usage {
            input: count(100),
            output: count(20),
            total: count(125),
            inclusive: true,
            ..Usage::default()
        };
        assert_eq!((usage.written(), usage.thought_beside()), (count(25), Some(5)));
        assert_eq!(usage.with_cache().output, count(25), "a target whose output is all of it");
        assert_eq!(usage.with_cache().thought_beside(), None);
    }

    #[test]
    fn a_turn_is_what_the_session_has_grown_by() {
        let sum = |input, output| Usage {
            input: Some(Count::derived(input)),
            output: Some(Count::derived(output)),
            scope: Scope::Session,
            inclusive: true,
            ..Usage::default()
        };
        let mut before = Usage::default();
        let mut turn = |input, output| {
            let turn = sum(input, output).of_turn(&mut before);
            assert_eq!(turn.scope, Scope::Turn);
            (turn.input.map(|c| c.value), turn.output.map(|c| c.value))
        };
        assert_eq!(turn(100, 20), (Some(100), Some(20)));
        assert_eq!(turn(200, 40), (Some(100), Some(20)));
        assert_eq!(turn(0, 0), (Some(0), Some(0)), "a turn that failed says zeros");
        assert_eq!(turn(300, 60), (Some(100), Some(20)), "and the sum goes on behind it");
        assert_eq!(turn(50, 70), (Some(50), Some(10)), "a smaller number counts anew");
    }
}
