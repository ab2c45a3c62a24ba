use bumpalo::Bump;

use crate::json::Raw;

/// Tokens used. Each number is what the source said or what was worked out from it; absent is absent, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage<'a> {
    /// Tokens sent to the model. See [`Self::inclusive`].
    pub input: Option<Count<'a>>,
    /// Tokens that the model wrote. See [`Self::reasoning_beside`].
    pub output: Option<Count<'a>>,
    /// Those of them that it thought with.
    pub reasoning: Option<Count<'a>>,
    /// Tokens read from the prompt cache.
    pub cache_read: Option<Count<'a>>,
    /// Tokens written to the prompt cache.
    pub cache_write: Option<Count<'a>>,
    /// The source's own total.
    pub total: Option<Count<'a>>,
    /// Whether `input` counts cache reads and writes too: yes for OpenAI's `prompt_tokens` and Qwen Code's `input_tokens`,
    /// no for Claude's `input_tokens` and Cursor's `inputTokens`.
    pub inclusive: bool,
    /// Whether `reasoning` stands beside `output` and is no part of it: yes for Gemini CLI and OpenCode, no for all others.
    pub reasoning_beside: bool,
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
    /// What the model thought with.
    pub reasoning: bool,
}

impl Counted {
    /// All of them.
    pub const ALL: Self = Self {
        total: true,
        cache_write: true,
        reasoning: true,
    };
    /// No total.
    pub const NO_TOTAL: Self = Self { total: false, ..Self::ALL };
    /// What the cache took only with the input.
    pub const WITH_INPUT: Self = Self {
        cache_write: false,
        ..Self::ALL
    };

    /// The same, and what was thought only with the output.
    pub const fn without_reasoning(self) -> Self {
        Self { reasoning: false, ..self }
    }
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
            reasoning: grown(self.reasoning, before.reasoning),
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
        let round = round.all_in_output();
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
            (&mut sum.reasoning, round.reasoning),
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
            inclusive: true,
            ..self.all_in_output()
        }
    }

    /// The same numbers with thoughts counted into `output`, and without any tie to a source line.
    pub(crate) fn all_in_output(&self) -> Usage<'static> {
        Usage {
            output: self.written_tokens().map(Count::derived),
            reasoning: self.reasoning_tokens().map(Count::derived),
            reasoning_beside: false,
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
        Some(self.output?.value.saturating_add(self.beside()))
    }

    /// Tokens that the model thought with, where the source says them or its total counts more than it names.
    pub fn reasoning_tokens(&self) -> Option<u64> {
        self.reasoning
            .map(|count| count.value)
            .or_else(|| Some(self.beside()).filter(|beside| *beside > 0))
    }

    /// Tokens that the model wrote without those that it thought with, for targets that count these beside the output.
    pub(crate) fn answer_tokens(&self) -> Option<u64> {
        Some(self.written_tokens()?.saturating_sub(self.reasoning_tokens().unwrap_or(0)))
    }

    /// What was thought and is not counted in the output.
    fn beside(&self) -> u64 {
        let rest = || {
            // Who says nothing of it may count it in the total alone.
            let said = self.prompt_tokens()?.saturating_add(self.output?.value);
            self.total?.value.checked_sub(said)
        };
        match self.reasoning {
            Some(said) if self.reasoning_beside => said.value,
            Some(_) => 0,
            None => rest().unwrap_or(0),
        }
    }

    /// [`Self::written_tokens`] as a number of its own, for targets whose output is all that the model wrote.
    pub(crate) fn written(&self) -> Option<Count<'a>> {
        let output = self.output?;
        let written = self.written_tokens()?;
        Some(if written == output.value { output } else { Count::derived(written) })
    }

    /// The slices of the source line that its numbers stand in.
    pub fn sources(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        [self.input, self.output, self.reasoning, self.cache_read, self.cache_write, self.total]
            .into_iter()
            .flatten()
            .map(|c| c.source)
    }

    /// The same for a target that writes no total.
    pub fn parts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.said_by(Counted::NO_TOTAL)
    }

    /// The same for a target that writes these numbers: a total counts where it is the sum of the others, what the cache took where
    /// it becomes a part of the input, what was thought where it becomes a part of the output.
    pub fn said_by(&self, target: Counted) -> impl Iterator<Item = &'a str> + use<'a> {
        let sum = self.prompt_tokens().unwrap_or(0).saturating_add(self.written_tokens().unwrap_or(0));
        let total = self.total.filter(|total| target.total || total.value == sum);
        let cache_write = self.cache_write.filter(|count| target.cache_write || !self.inclusive || count.value == 0);
        let reasoning = self
            .reasoning
            .filter(|count| target.reasoning || self.reasoning_beside || count.value == 0);
        Self {
            total,
            cache_write,
            reasoning,
            ..*self
        }
        .sources()
    }

    /// Whether every number is absent or zero: Qwen Code writes such an object on all but the last piece of a reply, where
    /// it means "absent".
    pub fn is_blank(&self) -> bool {
        [self.input, self.output, self.reasoning, self.cache_read, self.cache_write, self.total]
            .into_iter()
            .flatten()
            .all(|c| c.value == 0)
    }

    /// These numbers, and where one is missing that of `old`: the last value said wins.
    pub(crate) fn over(&self, old: &Usage<'_>) -> Usage<'static> {
        let (new, old) = (self.detached(), old.detached());
        Usage {
            input: new.input.or(old.input),
            output: new.output.or(old.output),
            reasoning: new.reasoning.or(old.reasoning),
            cache_read: new.cache_read.or(old.cache_read),
            cache_write: new.cache_write.or(old.cache_write),
            total: new.total.or(old.total),
            ..new
        }
    }

    /// The same numbers without any tie to a source line.
    pub fn detached(&self) -> Usage<'static> {
        let free = |c: Option<Count<'_>>| c.map(|c| Count::derived(c.value));
        Usage {
            input: free(self.input),
            output: free(self.output),
            reasoning: free(self.reasoning),
            cache_read: free(self.cache_read),
            cache_write: free(self.cache_write),
            total: free(self.total),
            inclusive: self.inclusive,
            reasoning_beside: self.reasoning_beside,
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
        let count = |value| Some(Count::derived(value));
        let usage = |output, total, reasoning| Usage {
            input: count(100),
            output,
            reasoning,
            cache_read: count(30),
            total,
            inclusive: true,
            ..Usage::default()
        };
        let tokens = |usage: &Usage<'_>| (usage.written_tokens(), usage.reasoning_tokens(), usage.answer_tokens());
        let said = |output, total, reasoning| tokens(&usage(output, total, reasoning));
        assert_eq!(said(count(20), None, None), (Some(20), None, Some(20)));
        assert_eq!(said(count(20), count(125), None), (Some(25), Some(5), Some(20)));
        assert_eq!(said(count(20), count(40), None), (Some(20), None, Some(20)), "a total that counts less");
        assert_eq!(said(None, count(125), None), (None, None, None));
        assert_eq!(said(count(20), count(120), count(5)), (Some(20), Some(5), Some(15)));
        assert_eq!(said(count(20), None, count(5)), (Some(20), Some(5), Some(15)));
        assert_eq!(
            said(count(20), count(125), count(5)),
            (Some(20), Some(5), Some(15)),
            "the total counts something else"
        );
        let beside = Usage {
            reasoning_beside: true,
            ..usage(count(20), count(135), count(5))
        };
        assert_eq!(tokens(&beside), (Some(25), Some(5), Some(20)), "ten of a tool");
        assert_eq!(beside.written(), count(25));
        for usage in [beside, usage(count(20), count(125), None)] {
            let whole = usage.with_cache();
            assert_eq!(
                (whole.output, whole.reasoning),
                (count(25), count(5)),
                "a target whose output is all of it"
            );
            assert_eq!(tokens(&whole), (Some(25), Some(5), Some(20)));
        }
        let mut sum = None;
        Usage::add(&mut sum, &beside);
        Usage::add(&mut sum, &usage(count(20), count(120), count(5)));
        assert_eq!(tokens(&sum.unwrap()), (Some(45), Some(10), Some(35)));
    }

    #[test]
    fn what_a_target_has_no_place_for_is_not_said() {
        let text = "7";
        let usage = Usage {
            reasoning: Some(Count { value: 7, source: text }),
            ..Usage::default()
        };
        let said = |usage: &Usage<'_>, counted| usage.said_by(counted).any(|part| part == text);
        let none = Counted::ALL.without_reasoning();
        assert!(said(&usage, Counted::ALL) && !said(&usage, none));
        let beside = Usage {
            reasoning_beside: true,
            ..usage
        };
        assert!(said(&beside, none), "it becomes a part of the output");
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
