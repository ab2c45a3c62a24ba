//! What agents used: sessions, turns, calls, tokens and money, counted over many logs.
//!
//! Each reply is counted once, wherever it stands: a reply's tokens are said on each of its lines, resumed and forked sessions begin with
//! a copy of what they go on from, and some agents say the sum over the session instead of the turn's own tokens.

mod prices;
mod table;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use agentglot_adapters::Error;
use agentglot_adapters::events::{OutcomeKind, Provenance, ResultStatus, Scope, Time, Usage};
use agentglot_adapters::session::{Block, Call, Thread, Turn};
use chrono::{DateTime, Datelike, Local};

pub use prices::Prices;
pub use table::{Form, written};
pub use tokens::Tokens;

use crate::io::Joined;

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each session.
    Session,
    /// What began on one day.
    Day,
    /// What began in one week.
    Week,
    /// What one model answered.
    Model,
    /// The calls of one tool.
    Tool,
    /// What was done in one folder.
    Project,
    /// What one agent did.
    Agent,
}

/// What was counted together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// Sessions.
    pub sessions: HashSet<u64>,
    /// Turns.
    pub turns: u64,
    /// Turns that did not end well.
    pub failed_turns: u64,
    /// Model calls.
    pub rounds: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tool calls that failed, were refused or stopped.
    pub failed: u64,
    /// Milliseconds between calls and their results, where logs have times.
    pub ms: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars.
    pub cost: f64,
    /// Tokens were used whose price is not known: so many times.
    pub unpriced: u64,
}

/// Counts.
#[derive(Debug)]
pub struct Counter {
    by: By,
    utc: bool,
    prices: Prices,
    sums: BTreeMap<String, Sum>,
    /// What is counted together in other ways at the same time.
    also: Vec<(By, BTreeMap<String, Sum>)>,
    total: Sum,
    /// Replies that were counted, and turns of which no reply has an id.
    seen: HashSet<u64>,
    /// What sessions had used when they were counted last, where the log says the sum.
    sessions: HashMap<u64, Tokens>,
    /// What sessions of this log had cost.
    costs: HashMap<u64, f64>,
    hasher: RandomState,
}

/// Where something that is counted belongs.
struct Place<'p> {
    session: u64,
    name: &'p str,
    agent: &'p str,
    project: &'p str,
    started: Option<&'p Time>,
}

impl Counter {
    /// Nothing is counted yet.
    pub fn new(by: By, utc: bool, prices: Prices) -> Self {
        Self {
            by,
            utc,
            prices,
            sums: BTreeMap::new(),
            also: Vec::new(),
            total: Sum::default(),
            seen: HashSet::new(),
            sessions: HashMap::new(),
            costs: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// Counts a log; gives how many lines are damaged.
    ///
    /// # Errors
    /// When some of it cannot be read. What else there is is counted.
    pub fn log(&mut self, mut turns: Joined<'_>, name: &str) -> Result<u64, Error> {
        self.costs.clear();
        let (mut damaged, mut failed) = (0, None);
        let format = turns.format()?;
        let agent = format.map_or("", |format| format.dialect.name());
        for turn in turns {
            match turn {
                Ok(turn) => self.turn(&turn, agent, name),
                Err(error) if error.can_continue() => damaged += 1,
                // Of a subagent's file, perhaps: what else there is counts.
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(damaged), Err)
    }

    /// It counts together in another way, too.
    #[must_use]
    pub fn also(mut self, by: By) -> Self {
        self.also.push((by, BTreeMap::new()));
        self
    }

    /// What was counted, by name, and all of it.
    pub const fn sums(&self) -> (&BTreeMap<String, Sum>, &Sum) {
        (&self.sums, &self.total)
    }

    /// What was counted in each way, by name.
    pub fn ways(&self) -> impl Iterator<Item = (By, &BTreeMap<String, Sum>)> {
        let also = self.also.iter().map(|(by, sums)| (*by, sums));
        std::iter::once((self.by, &self.sums)).chain(also)
    }

    /// By which prices.
    pub const fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Counts a turn of a log that is called `log`.
    pub(crate) fn turn(&mut self, turn: &Turn, agent: &str, log: &str) {
        let id = turn.session.as_deref().unwrap_or(log);
        let facts = turn.facts.as_ref();
        let place = Place {
            session: self.hasher.hash_one(id),
            name: id,
            agent,
            project: facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or("?"),
            started: turn.started.as_ref(),
        };
        let mut usual = facts.and_then(|facts| facts.model.as_deref());
        let main = self.fresh(&turn.thread);
        let ids = turn.thread.rounds.iter().filter(|round| round.id.is_some()).count();
        let copied = main.iter().filter(|fresh| !**fresh).count();
        if ids > 0 && copied == ids {
            return;
        }
        if ids == 0 {
            let key = (
                id,
                turn.started.as_ref().and_then(Time::millis),
                turn.text(),
                turn.usage.as_ref().map(Tokens::of),
                prompt(turn),
            );
            if !self.seen.insert(self.hasher.hash_one(key)) {
                return;
            }
        }
        usual = turn.thread.rounds.iter().rev().find_map(|round| round.model.as_deref()).or(usual);
        let model = usual.unwrap_or("?");
        let failed = turn.outcome.as_ref().is_some_and(|outcome| outcome.kind != OutcomeKind::Success);
        self.add(&place, model, None, |sum| {
            sum.turns += 1;
            sum.failed_turns += u64::from(failed);
        });
        // What the log says of the turn as a whole counts; else what it says of each reply.
        let worked_out = |usage: &&Usage| usage.provenance == Provenance::Derived && turn.thread.rounds.iter().any(|round| round.usage.is_some());
        let whole = turn.outcome.as_ref().and_then(|outcome| outcome.usage.as_ref());
        let whole = whole.filter(|usage| copied == 0 && !worked_out(usage));
        let mut unpriced: Vec<(String, Tokens)> = Vec::new();
        if let Some(usage) = whole {
            let tokens = self.of_turn(usage, place.session);
            unpriced.push((model.to_owned(), tokens));
        }
        self.thread(&turn.thread, &main, whole.is_none(), &place, model, &mut unpriced);
        let of_main = unpriced.len();
        let calls = turn.calls();
        let subagents = calls.iter().filter_map(|call| call.subagent.as_ref()).chain(&turn.strays);
        for subagent in subagents {
            let fresh = self.fresh(&subagent.thread);
            self.thread(&subagent.thread, &fresh, true, &place, model, &mut unpriced);
        }
        let cost = self.cost_said(turn, place.session);
        // What was worked out of the replies of the turn says nothing of its subagents, whose files are others.
        let said = match turn.outcome.as_ref().filter(|_| cost.is_some()) {
            Some(outcome) if outcome.synthetic => of_main,
            Some(_) => unpriced.len(),
            None => 0,
        };
        for (n, (model, tokens)) in unpriced.iter().enumerate() {
            let priced = if n < said { Some(0.0) } else { self.prices.cost(model, tokens) };
            self.add(&place, model, None, |sum| {
                sum.tokens.add(tokens);
                sum.cost += priced.unwrap_or(0.0);
                sum.unpriced += u64::from(priced.is_none() && !tokens.is_empty());
            });
        }
        if let Some(cost) = cost {
            self.add(&place, model, None, |sum| sum.cost += cost);
        }
    }

    /// Which replies of a thread were not counted before. One without an id was not.
    fn fresh(&mut self, thread: &Thread) -> Vec<bool> {
        let rounds = thread.rounds.iter();
        let mut here = HashSet::new();
        rounds
            .map(|round| {
                let Some(id) = &round.id else { return true };
                let key = self.hasher.hash_one(("reply", id));
                // A reply that goes on behind another one's is the same reply.
                here.insert(key) && self.seen.insert(key)
            })
            .collect()
    }

    fn thread(&mut self, thread: &Thread, fresh: &[bool], tokens: bool, place: &Place<'_>, usual: &str, used: &mut Vec<(String, Tokens)>) {
        for (round, _) in thread.rounds.iter().zip(fresh).filter(|(_, fresh)| **fresh) {
            let model = round.model.as_deref().unwrap_or(usual);
            self.add(place, model, None, |sum| sum.rounds += 1);
            for block in &round.blocks {
                if let Block::Call(call) = block {
                    self.call(call, place, model);
                }
            }
            if let Some(usage) = round.usage.as_ref().filter(|_| tokens) {
                used.push((model.to_owned(), Tokens::of(usage)));
            }
        }
    }

    fn call(&mut self, call: &Call, place: &Place<'_>, model: &str) {
        let failed = call.result.as_ref().is_some_and(|result| result.status != ResultStatus::Success);
        let millis = |time: &Option<Time>| time.as_ref().and_then(Time::millis);
        let took = || u64::try_from(millis(&call.answered)?.checked_sub(millis(&call.asked)?)?).ok();
        let ms = took().unwrap_or(0);
        self.add(place, model, Some(&call.name), |sum| {
            sum.calls += 1;
            sum.failed += u64::from(failed);
            sum.ms += ms;
        });
    }

    /// The tokens of a turn, where the log may say those of the session so far.
    fn of_turn(&mut self, usage: &Usage, session: u64) -> Tokens {
        let said = Tokens::of(usage);
        if usage.scope != Scope::Session {
            return said;
        }
        let before = self.sessions.entry(session).or_default();
        let grown = said.since(before);
        if !said.is_empty() {
            *before = said;
        }
        grown
    }

    /// What the log says that the turn has cost, where it may say what the session has cost so far.
    fn cost_said(&mut self, turn: &Turn, session: u64) -> Option<f64> {
        let outcome = turn.outcome.as_ref()?;
        let said = outcome.cost_usd.as_ref()?.to_f64()?;
        if outcome.cost_scope != Scope::Session {
            return Some(said);
        }
        let before = self.costs.insert(session, said).unwrap_or(0.0);
        Some(if said >= before { said - before } else { said })
    }

    /// Adds to what belongs together, and to all.
    fn add(&mut self, place: &Place<'_>, model: &str, tool: Option<&str>, add: impl Fn(&mut Sum)) {
        let utc = self.utc;
        let also = self.also.iter_mut().map(|(by, sums)| (*by, sums));
        let sums = std::iter::once((self.by, &mut self.sums)).chain(also).filter_map(|(by, sums)| {
            let name = match by {
                By::Session => place.name.to_owned(),
                By::Day | By::Week => day(by, utc, place.started),
                By::Model => model.to_owned(),
                By::Tool => tool?.to_owned(),
                By::Project => place.project.to_owned(),
                By::Agent => place.agent.to_owned(),
            };
            Some(sums.entry(name).or_default())
        });
        for sum in sums.chain([&mut self.total]) {
            add(sum);
            sum.sessions.insert(place.session);
        }
    }
}

/// The day, or the week, in which something began.
fn day(by: By, utc: bool, started: Option<&Time>) -> String {
    let Some(time) = started.and_then(|time| DateTime::from_timestamp_millis(time.millis()?)) else {
        return "?".to_owned();
    };
    let day = if utc {
        time.date_naive()
    } else {
        time.with_timezone(&Local).date_naive()
    };
    if by == By::Week {
        let week = day.iso_week();
        return format!("{}-W{:02}", week.year(), week.week());
    }
    day.to_string()
}

/// The first thing that was asked in a turn.
fn prompt(turn: &Turn) -> Option<String> {
    turn.thread.prompts.first().map(|prompt| prompt.content.text())
}
