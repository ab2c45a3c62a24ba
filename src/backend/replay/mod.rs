//! A recorded log as a back end: the n-th prompt gets the n-th turn.
//!
//! The log's session id and working folder become the live ones. Questions that the agent asked are asked again and waited for,
//! and so are interrupts; what the agent answered to its host it answers again.

mod script;

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{Backend, Hurry, Said};
use crate::adapters::raw::codec::Dialect;
use crate::adapters::raw::event::{ControlKind, Input, InputKind};
use crate::adapters::raw::json::Raw;
use script::{Act, Script, Step};
pub use script::{Asked, Live, ScriptError};

/// How fast a log is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// As fast as it is taken.
    #[default]
    Full,
    /// The waits between its times, multiplied by this: 1 is as it was recorded, 0.5 twice as fast.
    Factor(f64),
}

impl Pace {
    /// Whether nothing is told later than at that pace.
    pub(crate) fn is_no_slower_than(self, other: Self) -> bool {
        let factor = |pace| if let Self::Factor(factor) = pace { factor } else { 0.0 };
        factor(self) <= factor(other)
    }
}

/// The longest wait that a log's times can make.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// A log that answers.
#[derive(Debug)]
pub struct Replay {
    script: Script,
    /// How it goes on when the host denies what is asked; the same up to that question.
    denied: Option<Script>,
    pace: Pace,
    /// The next step.
    at: usize,
    /// The host has said something.
    begun: bool,
    /// The host will say nothing more.
    closed: bool,
    /// Prompts that came.
    prompts: usize,
    /// Prompts that were told that the log is over.
    turned_away: usize,
    /// Questions of the log that wait for the host's answer.
    open: Vec<String>,
    /// Interrupts that the log will answer, by the id of the host's request.
    interrupts: VecDeque<String>,
    /// The turn was given up: an interrupt that the log does not know.
    cancelled: bool,
    /// Answers to the host that stand ready.
    answers: Vec<u8>,
    /// When the next step is due, and the log's own time of the step before.
    due: Option<Instant>,
    time: Option<i64>,
}

impl Replay {
    /// Reads a log.
    ///
    /// # Errors
    /// If the log has no turn.
    pub fn new(dialect: Dialect, log: &[u8], asked: &Asked, live: &Live, pace: Pace) -> Result<Self, ScriptError> {
        Ok(Self {
            script: Script::read(dialect, log, asked, live)?,
            denied: None,
            pace,
            at: 0,
            begun: false,
            closed: false,
            prompts: 0,
            turned_away: 0,
            open: Vec::new(),
            interrupts: VecDeque::new(),
            cancelled: false,
            answers: Vec::new(),
            due: None,
            time: None,
        })
    }

    /// Goes on with another log from the first question that the host denies. Up to there both are the same.
    #[must_use]
    pub fn or_if_denied(self, other: Self) -> Self {
        Self {
            denied: Some(other.script),
            ..self
        }
    }

    /// Whether the next step may be told now. `None`: there is none.
    fn ready(&self) -> Option<bool> {
        let step = self.script.steps.get(self.at)?;
        if !self.begun || step.turn > self.prompts {
            return Some(false);
        }
        Some(match &step.act {
            Act::Ask(_) => true,
            Act::Withdraw(id) => {
                // It was overtaken by an interrupt: it has to come first.
                let overtaken = self.script.interrupted_after(self.at);
                let others = self.open.iter().any(|open| open != id);
                (self.closed || !others) && (!overtaken || self.closed || !self.interrupts.is_empty())
            }
            Act::AnswerInterrupt(_) => self.closed || !self.interrupts.is_empty(),
            Act::Plain | Act::Answer => self.open.is_empty(),
        })
    }

    /// Tells the next step.
    fn tell(&mut self, into: &mut Vec<u8>) {
        let step = &self.script.steps[self.at];
        self.at += 1;
        match &step.act {
            Act::Plain => into.extend_from_slice(&step.line),
            Act::Ask(id) => {
                // One that the log takes back is not waited for: the interrupt is.
                if !self.script.withdrawn(self.at, id) {
                    self.open.push(id.clone());
                }
                into.extend_from_slice(&step.line);
            }
            Act::Withdraw(id) => {
                self.open.retain(|open| open != id);
                into.extend_from_slice(&step.line);
            }
            Act::AnswerInterrupt(old) => {
                if let Some(new) = self.interrupts.pop_front() {
                    into.extend_from_slice(&script::renamed(&step.line, old, &new));
                }
            }
            // The host gets it when it asks.
            Act::Answer => {}
        }
    }

    /// Whether the next step is a question in plain text.
    fn asks_in_text(&self) -> bool {
        self.script.steps.get(self.at).is_some_and(|step| step.question.is_some())
    }

    /// Waits until the log's own times allow the next step.
    async fn keep_pace(&mut self) {
        let Pace::Factor(factor) = self.pace else { return };
        let step: &Step = &self.script.steps[self.at];
        if self.due.is_none() {
            let (Some(now), Some(before)) = (step.time, self.time) else {
                self.time = step.time.or(self.time);
                return;
            };
            // A turn begins when the prompt comes, however long the host took to think of it.
            let wait = if step.opens { 0 } else { now.saturating_sub(before).max(0) };
            let wait = Duration::from_millis(wait.unsigned_abs())
                .mul_f64(factor.clamp(0.0, 1e6))
                .min(LONGEST_WAIT);
            self.due = Some(Instant::now() + wait);
            self.time = Some(now);
        }
        if let Some(due) = self.due {
            tokio::time::sleep_until(due).await;
            self.due = None;
        }
    }
}

#[async_trait(?Send)]
impl Backend for Replay {
    fn dialect(&self) -> Dialect {
        self.script.dialect
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        self.begun = true;
        match input.kind {
            InputKind::Prompt(_) | InputKind::Chat(_) => {
                self.prompts += 1;
                true
            }
            InputKind::Response(response) => {
                let Some(id) = response.id else { return false };
                let before = self.open.len();
                self.open.retain(|open| open != id.as_escaped());
                let known = self.open.len() < before;
                let allowed = response.body.and_then(|body| body.get("behavior")).and_then(Raw::string);
                if known
                    && !(response.ok && allowed.is_some_and(|word| word.is("allow") || word.is("approve")))
                    && let Some(denied) = self.denied.take()
                {
                    self.script = denied;
                }
                known
            }
            InputKind::Cancel { .. } => self.interrupt(None),
            InputKind::Request(request) => {
                let Some(id) = request.id else { return false };
                if request.kind == ControlKind::Interrupt {
                    return self.interrupt(Some(id.as_escaped()));
                }
                match self.script.answer(&request.subtype.unescape(), id.as_escaped()) {
                    Some(line) => {
                        self.answers.extend_from_slice(&line);
                        true
                    }
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn close(&mut self) {
        self.begun = true;
        self.closed = true;
    }

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        if !self.answers.is_empty() {
            into.append(&mut self.answers);
            return Said::Bytes;
        }
        if std::mem::take(&mut self.cancelled) {
            return Said::Cancelled;
        }
        loop {
            match self.ready() {
                Some(true) => {
                    self.keep_pace().await;
                    let question = self.script.steps[self.at].question.clone();
                    self.tell(into);
                    if let Some(question) = question {
                        return Said::Asks(question);
                    }
                    // The rest of what may be told goes along, so that a fast log is told in large pieces.
                    while self.pace == Pace::Full && into.len() < crate::io::READ && self.ready() == Some(true) && !self.asks_in_text() {
                        self.tell(into);
                    }
                    if !into.is_empty() {
                        return Said::Bytes;
                    }
                }
                Some(false) if self.closed && self.script.steps[self.at].turn > self.prompts => return Said::Over(None),
                None if self.begun && self.prompts >= self.script.turns && self.script.unended.is_some() => {
                    let end_is_outcome = self.dialect().program().is_some_and(|program| program.traits.end_is_outcome);
                    return match self.script.unended.take() {
                        _ if end_is_outcome => Said::Ended("the log ends before the turn does".to_owned()),
                        Some(script::Unended::Denied(tool)) => Said::Denied(format!("{tool} was not allowed, and the log ends there")),
                        _ => Said::Failed("the log ends before the turn does".to_owned()),
                    };
                }
                None if self.prompts > self.script.turns + self.turned_away => {
                    self.turned_away += 1;
                    return Said::Failed("the log is over".to_owned());
                }
                None if self.closed => return Said::Over(None),
                Some(false) | None => std::future::pending().await,
            }
        }
    }

    async fn stop(&mut self, _: &Hurry) {}
}

impl Replay {
    /// The host wants the turn stopped. Where the log shows that, it goes on as recorded; else the turn is given up.
    fn interrupt(&mut self, id: Option<&str>) -> bool {
        if let Some(id) = id.filter(|_| self.script.interrupted_after(self.at)) {
            self.interrupts.push_back(id.to_owned());
            return true;
        }
        let running = self
            .script
            .steps
            .get(self.at)
            .is_some_and(|step| step.turn <= self.prompts && !step.opens && step.turn > 0);
        if running {
            let turn = self.script.steps[self.at].turn;
            while self.script.steps.get(self.at).is_some_and(|step| step.turn == turn) {
                self.at += 1;
            }
            self.open.clear();
            self.due = None;
            self.cancelled = true;
        }
        false
    }
}
