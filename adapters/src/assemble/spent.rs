//! What a turn has used beyond what its rounds say: for targets that have no other place for it, its last round says it.

use crate::event::{Count, Outcome, Scope, Usage};
use crate::json::Out;

/// What the rounds of the turn have used that are over.
#[derive(Debug, Default)]
pub(super) struct Spent {
    rounds: bool,
    /// One of them has not said it.
    unsaid: bool,
    tokens: Option<Usage<'static>>,
    /// What the session had used when its turn before ended, and which session that was.
    before: (String, Usage<'static>),
}

impl Spent {
    /// No round is over.
    pub(super) const fn is_none(&self) -> bool {
        !self.rounds
    }

    /// A round is over.
    pub(super) fn round(&mut self, usage: Option<&Usage<'_>>) {
        self.rounds = true;
        match usage.filter(|usage| usage.input.is_some()) {
            Some(usage) => Usage::add(&mut self.tokens, usage),
            None => self.unsaid = true,
        }
    }

    /// The turn is over.
    pub(super) fn clear(&mut self) {
        (self.rounds, self.unsaid, self.tokens) = (false, false, None);
    }

    /// What the last round of the turn, which has said `said`, has used by what its outcome says. What more rounds than that have sent to
    /// the model is nobody's in particular: programs take the input of the last round for what the context holds.
    pub(super) fn last(&mut self, session: &str, said: Option<&Usage<'_>>, outcome: &Outcome<'_>, out: &Out) -> Option<Usage<'static>> {
        let told = outcome.usage.as_ref().filter(|usage| !outcome.synthetic && !usage.is_blank())?;
        let turn = match told.scope {
            Scope::Session => {
                if self.before.0 != session {
                    self.before = (session.to_owned(), Usage::default());
                }
                told.of_turn(&mut self.before.1)
            }
            _ => *told,
        };
        let Some(said) = said.filter(|said| said.input.is_some()) else {
            let alone = !self.rounds && !turn.is_blank();
            return alone.then(|| {
                told.sources().for_each(|source| out.used(source));
                Usage {
                    scope: Scope::Round,
                    ..turn.detached()
                }
            });
        };
        let before = self.tokens.unwrap_or_default();
        let rest = |turn: Option<u64>, before: Option<u64>| Some(turn?.saturating_sub(before.unwrap_or(0)));
        let output = rest(turn.written_tokens(), before.written_tokens()).filter(|_| !self.unsaid)?;
        let said = said.all_in_output();
        if said.output.is_some_and(|said| said.value >= output) {
            return None;
        }
        // Else it has asked the model for more than these rounds.
        if rest(turn.prompt_tokens(), before.prompt_tokens()) != said.prompt_tokens() {
            return None;
        }
        told.parts().for_each(|part| out.used(part));
        let reasoning = rest(turn.reasoning_tokens(), before.reasoning_tokens()).map(Count::derived);
        Some(Usage {
            output: Some(Count::derived(output)),
            reasoning: reasoning.or(said.reasoning),
            total: None,
            ..said
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::OutcomeKind;

    fn usage(input: u64, output: u64, scope: Scope) -> Usage<'static> {
        Usage {
            input: Some(Count::derived(input)),
            output: Some(Count::derived(output)),
            scope,
            ..Usage::default()
        }
    }

    fn last(spent: &mut Spent, said: Option<Usage<'_>>, turn: Usage<'_>) -> Option<(u64, u64)> {
        let outcome = Outcome {
            usage: Some(turn),
            ..Outcome::new(OutcomeKind::Success)
        };
        let last = spent.last("s", said.as_ref(), &outcome, &Out::default())?;
        assert_eq!(last.scope, Scope::Round);
        Some((last.prompt_tokens()?, last.written_tokens()?))
    }

    #[test]
    fn the_last_round_has_what_the_others_did_not_say() {
        let [round, turn, session] = [Scope::Round, Scope::Turn, Scope::Session];
        let mut spent = Spent::default();
        assert_eq!(last(&mut spent, None, usage(9, 4, turn)), Some((9, 4)), "the only round");
        assert_eq!(last(&mut spent, Some(usage(9, 1, round)), usage(9, 4, turn)), Some((9, 4)));
        assert_eq!(last(&mut spent, Some(usage(9, 4, round)), usage(9, 4, turn)), None, "nothing is left");
        spent.round(Some(&usage(9, 1, round)));
        assert_eq!(last(&mut spent, Some(usage(10, 1, round)), usage(19, 40, turn)), Some((10, 39)));
        assert_eq!(last(&mut spent, Some(usage(10, 1, round)), usage(19, 2, turn)), None);
        assert_eq!(
            last(&mut spent, Some(usage(10, 1, round)), usage(29, 40, turn)),
            None,
            "there was a round that nobody tells of"
        );
        assert_eq!(
            last(&mut spent, None, usage(19, 40, turn)),
            None,
            "how much of the input is its own is not known"
        );
        spent.round(None);
        assert_eq!(
            last(&mut spent, Some(usage(10, 1, round)), usage(19, 40, turn)),
            None,
            "nor of the output"
        );
        spent.clear();
        assert_eq!(last(&mut spent, None, usage(5, 5, session)), Some((5, 5)));
        assert_eq!(last(&mut spent, None, usage(12, 9, session)), Some((7, 4)), "what the sum has grown by");
    }
}
