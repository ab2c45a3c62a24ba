//! What agents used: sessions, turns, calls, tokens and money, counted over many logs.
//!
//! Each reply is counted once, wherever it stands: a reply's tokens are said on each of its lines, resumed and forked sessions begin with
//! a copy of what they go on from, and some agents say the sum over the session instead of the turn's own tokens.

mod prices;
mod table;
#[cfg(test)]
mod tests;
mod tokens;
mod work;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use agentglot_adapters::Error;
use agentglot_adapters::events::{OutcomeKind, Provenance, Scope, Time, Usage};
use agentglot_adapters::session::Turn;
use chrono::{DateTime, Datelike, Local};

pub use prices::Prices;
pub use table::{Form, written};
pub use tokens::Tokens;
use work::{Seen, Work};

use crate::io::{Input, Joined};
use crate::show::money;

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
    /// Tokens were used whose number or price is not known: so many times.
    pub unpriced: u64,
}

impl Sum {
    /// What it cost, as far as that is known, in words; `?` stands for the rest.
    pub(crate) fn cost(&self) -> String {
        match (self.unpriced > 0, self.cost == 0.0) {
            (true, true) => "?".to_owned(),
            (true, false) => format!("{}?", money(self.cost)),
            (false, _) => money(self.cost),
        }
    }
}

/// Counts.
#[derive(Debug)]
pub struct Counter {
    by: By,
    utc: bool,
    prices: Prices,
    sums: BTreeMap<String, Sum>,
    /// Whose the folder is in which the log lies.
    beside: Option<String>,
    /// What is counted together in other ways at the same time.
    also: Vec<(By, BTreeMap<String, Sum>)>,
    total: Sum,
    /// Replies that were counted, and turns of which no reply has an id.
    seen: Seen,
    /// What sessions had used when they were counted last, where the log says the sum.
    sessions: HashMap<u64, Tokens>,
    /// What sessions of this log had cost.
    costs: HashMap<u64, f64>,
}

/// Where something that is counted belongs.
struct Place<'p> {
    session: u64,
    name: &'p str,
    agent: &'p str,
    project: &'p str,
    started: Option<&'p Time>,
    /// The day and the week in which it began, once they were asked for.
    days: OnceCell<(String, String)>,
}

impl Counter {
    /// Nothing is counted yet.
    pub fn new(by: By, utc: bool, prices: Prices) -> Self {
        Self {
            by,
            utc,
            prices,
            sums: BTreeMap::new(),
            beside: None,
            also: Vec::new(),
            total: Sum::default(),
            seen: Seen::default(),
            sessions: HashMap::new(),
            costs: HashMap::new(),
        }
    }

    /// The log that comes next is this one: what it does not say of its folder, its program may have noted beside it.
    pub fn comes(&mut self, input: &Input) {
        self.beside = input.path().and_then(|path| noted_beside(&path));
    }

    /// Counts a log; gives how many lines are damaged.
    ///
    /// # Errors
    /// When some of it cannot be read. What else there is is counted.
    pub fn log(&mut self, mut turns: Joined<'_>, name: &str) -> Result<u64, Error> {
        self.costs.clear();
        turns.leave_contents();
        let (mut damaged, mut failed) = (0, None);
        let format = turns.format()?;
        let agent = format.map_or("", |format| format.dialect.name());
        let mut work = Work::default();
        while let Some(step) = turns.step() {
            match step {
                Ok(Some(turn)) => self.ended(&turn, std::mem::take(&mut work), agent, name),
                Ok(None) => {
                    if let Some(turn) = turns.going_on() {
                        work.settle(turn, &mut self.seen);
                    }
                }
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
    #[cfg(all(unix, feature = "agent"))]
    pub(crate) fn turn(&mut self, turn: &Turn, agent: &str, log: &str) {
        self.ended(turn, Work::default(), agent, log);
    }

    /// The same of a turn part of whose work was taken while it went on.
    fn ended(&mut self, turn: &Turn, mut work: Work, agent: &str, log: &str) {
        work.end(turn, &mut self.seen);
        if work.copied > 0 && work.copied == work.with_ids {
            return;
        }
        let id = turn.session.as_deref().unwrap_or(log);
        if work.with_ids == 0 {
            let started = turn.started.as_ref().and_then(Time::millis);
            if !self.seen.insert((id, started, work.said(), turn.usage.as_ref().map(Tokens::of))) {
                return;
            }
        }
        let facts = turn.facts.as_ref();
        let beside = self.beside.clone();
        let cwd = facts.and_then(|facts| facts.cwd.as_deref()).or(beside.as_deref());
        let place = Place {
            session: self.seen.hash(id),
            name: id,
            agent,
            project: cwd.unwrap_or("?"),
            started: turn.started.as_ref(),
            days: OnceCell::new(),
        };
        let usual = work.model.as_deref().or_else(|| facts?.model.as_deref()).unwrap_or("?");
        let failed = turn.outcome.as_ref().is_some_and(|outcome| outcome.kind != OutcomeKind::Success);
        let cost = self.cost_said(turn, place.session);
        self.add(&place, usual, None, |sum| {
            sum.turns += 1;
            sum.failed_turns += u64::from(failed);
            sum.cost += cost.unwrap_or(0.0);
        });
        // What the log says of the turn as a whole counts; else what it says of each reply.
        let whole = turn.outcome.as_ref().and_then(|outcome| outcome.usage.as_ref());
        let whole = whole.filter(|usage| work.copied == 0 && !(usage.provenance == Provenance::Derived && work.says_usage));
        if let Some(usage) = whole {
            let tokens = self.of_turn(usage, place.session);
            self.tokens(&place, usual, &tokens, u64::from(!tokens.is_empty()), cost.is_some());
        }
        let main = work.main.iter().map(|used| (used, whole.is_none(), cost.is_some()));
        // What was worked out of the replies of the turn says nothing of its subagents, whose files are others.
        let says_all = cost.is_some() && turn.outcome.as_ref().is_some_and(|outcome| !outcome.synthetic);
        // The log says nothing of tokens.
        let untold = cost.is_none() && !work.says_usage && turn.outcome.as_ref().is_none_or(|outcome| outcome.usage.is_none());
        let all = main.chain(work.subagents.iter().map(|used| (used, true, says_all)));
        for ((model, used), counts, known) in all {
            let model = model.as_deref().unwrap_or(usual);
            self.add(&place, model, None, |sum| sum.rounds += used.rounds);
            for (tool, calls) in &used.calls {
                self.add(&place, model, Some(tool), |sum| {
                    sum.calls += calls.calls;
                    sum.failed += calls.failed;
                    sum.ms += calls.ms;
                });
            }
            if untold {
                self.add(&place, model, None, |sum| sum.unpriced += used.rounds);
            } else if counts {
                self.tokens(&place, model, &used.tokens, used.replies, known);
            }
        }
    }

    /// Counts the tokens of so many replies; what they cost is `known`, or a matter of prices.
    fn tokens(&mut self, place: &Place<'_>, model: &str, tokens: &Tokens, replies: u64, known: bool) {
        let priced = if known { Some(0.0) } else { self.prices.cost(model, tokens) };
        self.add(place, model, None, |sum| {
            sum.tokens.add(tokens);
            sum.cost += priced.unwrap_or(0.0);
            sum.unpriced += if priced.is_none() { replies } else { 0 };
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
        for (by, sums) in std::iter::once((self.by, &mut self.sums)).chain(also) {
            let name = match by {
                By::Session => place.name,
                By::Day => &place.days.get_or_init(|| days(utc, place.started)).0,
                By::Week => &place.days.get_or_init(|| days(utc, place.started)).1,
                By::Model => model,
                By::Tool => match tool {
                    Some(tool) => tool,
                    None => continue,
                },
                By::Project => place.project,
                By::Agent => place.agent,
            };
            if !sums.contains_key(name) {
                sums.insert(name.to_owned(), Sum::default());
            }
            let sum = sums.get_mut(name).expect("it has just been put there, or was there");
            add(sum);
            sum.sessions.insert(place.session);
        }
        add(&mut self.total);
        self.total.sessions.insert(place.session);
    }
}

#[cfg(all(unix, feature = "agent"))]
pub(crate) use crate::homes::claimed_for as noted_beside;

/// Where sessions lie is known where there are agents.
#[cfg(not(all(unix, feature = "agent")))]
pub(crate) const fn noted_beside(_: &std::path::Path) -> Option<String> {
    None
}

/// The day and the week in which something began.
fn days(utc: bool, started: Option<&Time>) -> (String, String) {
    let Some(time) = started.and_then(|time| DateTime::from_timestamp_millis(time.millis()?)) else {
        return ("?".to_owned(), "?".to_owned());
    };
    let day = if utc {
        time.date_naive()
    } else {
        time.with_timezone(&Local).date_naive()
    };
    let week = day.iso_week();
    (day.to_string(), format!("{}-W{:02}", week.year(), week.week()))
}
