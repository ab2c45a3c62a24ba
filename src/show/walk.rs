//! The walk over turns that tells rows.

use std::io;

use agentglot_adapters::Error;
use agentglot_adapters::events::{Event, Kind, Notice, OutcomeKind, Prompt, PromptSource, ResultStatus, Thinking, Topic};
use agentglot_adapters::session::{AsideKind, Block, Call, Permission, Round, Subagent, Thread, Turn};

use super::Page;
use super::piece::{about, written};
use super::row::{By, Ended, Head, Row, State, What};

/// What of a log is shown.
#[derive(Clone, Debug, Default)]
pub struct Pick {
    /// Only the turn of this number.
    pub turn: Option<u64>,
    /// Only calls.
    pub tools: bool,
    /// Only what went wrong.
    pub errors: bool,
    /// Only turns that began at this time or later: milliseconds since 1970. Turns without a time are shown.
    pub since: Option<i64>,
}

/// Walks over the turns of a log, and tells rows.
#[derive(Debug)]
pub struct Walk<'p> {
    pick: &'p Pick,
    /// What a reply may still take back is told too.
    at_once: bool,
    /// The session that was told last.
    session: Option<Option<String>>,
    /// The turn that goes on, and how far it was told.
    at: Option<Place>,
}

/// How far a turn was told.
#[derive(Debug, Default)]
struct Place {
    number: u64,
    /// It is not picked.
    skipped: bool,
    /// Its beginning was told.
    begun: bool,
    round: usize,
    block: usize,
    asides: usize,
    prompts: usize,
    permissions: usize,
    retries: usize,
    compactions: usize,
    others: usize,
    /// The agent has said something.
    answered: bool,
    last_prompt: String,
}

impl<'p> Walk<'p> {
    /// At the beginning of a log.
    pub const fn new(pick: &'p Pick) -> Self {
        Self {
            pick,
            at_once: false,
            session: None,
            at: None,
        }
    }

    /// The same for somebody who waits: what is there of a reply that goes on is told at once, though it may be taken back.
    pub fn at_once(pick: &'p Pick) -> Self {
        Self {
            at_once: true,
            ..Self::new(pick)
        }
    }

    /// Tells what is settled of a turn that goes on, and lets it go.
    ///
    /// # Errors
    /// The page's.
    pub fn going_on(&mut self, turn: &mut Turn, page: &mut dyn Page) -> io::Result<()> {
        self.tell(turn, false, page)?;
        if let Some(at) = &mut self.at {
            // The round that goes on stays, and is counted from the beginning again.
            let rounds = at.round.min(turn.thread.rounds.len().saturating_sub(1));
            turn.let_go(rounds, at.asides);
            at.round -= rounds;
            (at.asides, at.prompts, at.permissions, at.retries, at.compactions, at.others) = (0, 0, 0, 0, 0, 0);
        }
        Ok(())
    }

    /// Tells the rest of a turn that has ended.
    ///
    /// # Errors
    /// The page's.
    pub fn turn(&mut self, mut turn: Turn, page: &mut dyn Page) -> io::Result<()> {
        self.tell(&mut turn, true, page)?;
        let strays = std::mem::take(&mut turn.strays);
        for stray in &strays {
            self.subagent(stray, 1, &turn, page)?;
        }
        let outcome = turn.outcome.as_ref();
        let told_before = outcome.is_some_and(|outcome| outcome.told_before);
        let answered = told_before || self.at.as_ref().is_some_and(|at| at.answered);
        if let (false, Some(text)) = (answered, outcome.and_then(|outcome| outcome.text.as_deref()))
            && !text.is_empty()
        {
            self.put(0, What::Answer { text, retracted: false }, &turn, page)?;
        }
        let time = |time: &Option<_>| time.as_ref().and_then(agentglot_adapters::events::Time::millis);
        let said = outcome.and_then(|outcome| outcome.duration_ms.as_ref()?.to_f64());
        let between = || time(&turn.ended)?.checked_sub(time(&turn.started)?)?.try_into().ok().filter(|ms| *ms > 0);
        let ended = Ended {
            outcome,
            // A duration is a small number that is not negative; what is none becomes 0.
            ms: said.map(|ms| ms as u64).or_else(between),
            usage: turn.usage.as_ref(),
        };
        self.put(0, What::Outcome(ended), &turn, page)?;
        self.at = None;
        Ok(())
    }

    /// Tells that something cannot be read.
    ///
    /// # Errors
    /// The page's.
    pub fn damage(&mut self, error: &Error, page: &mut dyn Page) -> io::Result<()> {
        page.row(&Row {
            depth: 0,
            turn: self.at.as_ref().map_or(0, |at| at.number),
            what: What::Damage { text: &error.to_string() },
        })
    }

    /// Tells what belongs to no turn.
    ///
    /// # Errors
    /// The page's.
    pub fn rest(&mut self, events: &[Event], page: &mut dyn Page) -> io::Result<()> {
        if self.pick.turn.is_some() {
            return Ok(());
        }
        let mut turn = Turn::default();
        turn.session = events.iter().find_map(|event| event.origin.session.clone());
        self.at = Some(Place {
            begun: true,
            ..Place::default()
        });
        for event in events {
            self.event(event, &turn, page)?;
        }
        self.at = None;
        Ok(())
    }

    fn tell(&mut self, turn: &mut Turn, ended: bool, page: &mut dyn Page) -> io::Result<()> {
        if self.at.is_none() && (ended || self.at_once || turn.started.is_some() || turn.thread.rounds.len() > 1) {
            let early = |since: i64| turn.started.as_ref().and_then(|time| time.millis()).is_some_and(|time| time < since);
            self.at = Some(Place {
                number: turn.number,
                skipped: self.pick.turn.is_some_and(|number| number != turn.number) || self.pick.since.is_some_and(early),
                ..Place::default()
            });
        }
        // Until then it is not known when it began, which stands above everything else.
        loop {
            self.asides(turn, page)?;
            let Some(at) = &mut self.at else { return Ok(()) };
            let rounds = turn.thread.rounds.len();
            let waits = !ended && turn.waits_for(at.round);
            let Some(round) = turn.thread.rounds.get_mut(at.round) else {
                return Ok(());
            };
            let is_last = at.round + 1 == rounds;
            if is_last && !ended && !self.at_once && !round.is_over() {
                return Ok(());
            }
            match round.blocks.get_mut(at.block) {
                Some(Block::Call(call)) if waits && call.result.is_none() => return Ok(()),
                Some(block) => {
                    at.block += 1;
                    let block = std::mem::replace(block, Block::Text(String::new()));
                    let error = round.error.clone();
                    self.block(&block, error.as_deref(), 0, turn, page)?;
                }
                None if is_last && !ended => return Ok(()),
                None => {
                    at.round += 1;
                    at.block = 0;
                    let retracted = std::mem::take(&mut round.retracted);
                    self.retracted(&retracted, 0, turn, page)?;
                }
            }
        }
    }

    /// Tells what stands beside the replies here.
    fn asides(&mut self, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        loop {
            let Some(at) = &mut self.at else { return Ok(()) };
            let Some(aside) = turn.asides.get(at.asides) else { return Ok(()) };
            if (aside.round, aside.block) > (at.round, at.block) {
                return Ok(());
            }
            at.asides += 1;
            let next = |count: &mut usize| std::mem::replace(count, *count + 1);
            match aside.what {
                AsideKind::Prompt => {
                    let prompt = turn.thread.prompts.get(next(&mut at.prompts));
                    prompt.map_or(Ok(()), |prompt| self.prompt(prompt, 0, turn, page))
                }
                AsideKind::Permission => {
                    let permission = turn.permissions.get(next(&mut at.permissions));
                    permission.map_or(Ok(()), |permission| self.permission(permission, 0, turn, page))
                }
                AsideKind::Retry => {
                    let notice = turn.retries.get(next(&mut at.retries));
                    notice.map_or(Ok(()), |notice| self.notice(notice, turn, page))
                }
                AsideKind::Compaction => {
                    let notice = turn.compactions.get(next(&mut at.compactions));
                    notice.map_or(Ok(()), |notice| self.notice(notice, turn, page))
                }
                AsideKind::Other => {
                    let event = turn.others.get(next(&mut at.others));
                    event.map_or(Ok(()), |event| self.event(event, turn, page))
                }
                _ => Ok(()),
            }?;
        }
    }

    fn prompt(&mut self, prompt: &Prompt, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let text = written(&prompt.content);
        let by = match prompt.source {
            PromptSource::Host | PromptSource::Echo => By::User,
            PromptSource::Agent => By::Program,
            PromptSource::Parent => By::Parent,
        };
        if let Some(at) = self.at.as_mut().filter(|_| depth == 0) {
            // What the host said and the agent says again is told once.
            if prompt.source == PromptSource::Echo && at.last_prompt == *text {
                return Ok(());
            }
            at.last_prompt = text.clone().into_owned();
        }
        if text.is_empty() {
            return Ok(());
        }
        let what = What::Prompt {
            text: &text,
            by,
            content: &prompt.content,
        };
        self.put(depth, what, turn, page)
    }

    fn block(&mut self, block: &Block, error: Option<&str>, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        match block {
            Block::Text(text) if text.is_empty() => Ok(()),
            Block::Text(text) => {
                if let Some(at) = self.at.as_mut().filter(|_| depth == 0) {
                    at.answered = true;
                }
                let what = match error {
                    Some(_) => What::Notice {
                        name: "error",
                        text,
                        fault: true,
                    },
                    None => What::Answer { text, retracted: false },
                };
                self.put(depth, what, turn, page)
            }
            Block::Thinking(thinking) => self.thinking(thinking, depth, turn, page),
            Block::Call(call) => self.call(call, depth, turn, page),
            Block::Other(piece) => {
                let (name, text) = about(piece);
                let what = What::Raw {
                    name: &name,
                    text: &text,
                    piece: Some(piece),
                };
                self.put(depth, what, turn, page)
            }
            _ => Ok(()),
        }
    }

    fn thinking(&mut self, thinking: &Thinking, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let (text, subject) = (&*thinking.text, thinking.subject.as_deref());
        if text.is_empty() && subject.is_none() {
            return Ok(());
        }
        self.put(depth, What::Thinking { text, subject }, turn, page)
    }

    fn call(&mut self, call: &Call, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let mut deed = call.deed();
        let said = call.subagent.as_ref().and_then(|subagent| last_text(&subagent.thread));
        if said.is_some_and(|said| deed.output.contains(said.trim())) {
            // It is told where the subagent says it.
            deed.output.clear();
        }
        let state = match call.result.as_ref().map(|result| result.status) {
            Some(ResultStatus::Success) if deed.exit.is_some_and(|code| code != 0) => State::Failed,
            Some(ResultStatus::Success) => State::Done,
            Some(ResultStatus::Error) => State::Failed,
            Some(ResultStatus::Denied) => State::Denied,
            Some(ResultStatus::Canceled) => State::Canceled,
            None => State::Open,
        };
        let millis = |time: &Option<agentglot_adapters::events::Time>| time.as_ref().and_then(|time| time.millis());
        let ms = || millis(&call.answered)?.checked_sub(millis(&call.asked)?)?.try_into().ok();
        let what = What::Call {
            call,
            deed: &deed,
            state,
            ms: ms(),
        };
        self.put(depth, what, turn, page)?;
        if let Some(permission) = &call.permission {
            self.permission(permission, depth + 1, turn, page)?;
        }
        match &call.subagent {
            Some(subagent) => self.subagent(subagent, depth + 1, turn, page),
            None => Ok(()),
        }
    }

    fn subagent(&mut self, subagent: &Subagent, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        // Deeper ones are told as deep as pages go.
        let depth = depth.min(DEEPEST);
        for prompt in &subagent.thread.prompts {
            self.prompt(prompt, depth, turn, page)?;
        }
        for Round {
            blocks, retracted, error, ..
        } in &subagent.thread.rounds
        {
            for block in blocks {
                self.block(block, error.as_deref(), depth, turn, page)?;
            }
            self.retracted(retracted, depth, turn, page)?;
        }
        Ok(())
    }

    fn retracted(&mut self, blocks: &[Block], depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        for block in blocks {
            match block {
                Block::Text(text) if !text.is_empty() => self.put(depth, What::Answer { text, retracted: true }, turn, page)?,
                Block::Call(call) => {
                    let text = format!("{} {}", call.name, call.input);
                    self.put(
                        depth,
                        What::Raw {
                            name: "taken back",
                            text: &text,
                            piece: None,
                        },
                        turn,
                        page,
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn permission(&mut self, permission: &Permission, depth: usize, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let answer = permission.answer.as_ref();
        let message = answer.and_then(|answer| {
            let said = answer.body.as_ref().and_then(|body| body.get("message")).or_else(|| answer.error.clone());
            said.and_then(|said| said.to_text())
        });
        let message = if permission.withdrawn { Some("taken back") } else { message.as_deref() };
        let what = What::Permission {
            name: &permission.asked.name,
            allowed: permission.allowed(),
            message,
        };
        self.put(depth, what, turn, page)
    }

    fn notice(&mut self, notice: &Notice, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let data = || notice.data.as_ref().filter(|data| !data.is_null()).map(ToString::to_string);
        let text = notice.message.clone().or_else(data).unwrap_or_default();
        // How far a limit is off is told on every step of some programs.
        if text.is_empty() && matches!(notice.topic, Topic::Task | Topic::Limit) {
            return Ok(());
        }
        let what = What::Notice {
            name: topic(notice),
            text: &text,
            fault: matches!(notice.topic, Topic::Retry | Topic::Permission | Topic::Limit),
        };
        self.put(0, what, turn, page)
    }

    /// Everything else; what only keeps a stream going is told by nobody.
    fn event(&mut self, event: &Event, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let (name, text) = match &event.kind {
            Kind::Notice(notice) if is_quiet(notice.topic) => return Ok(()),
            Kind::Notice(notice) => return self.notice(notice, turn, page),
            Kind::Terminal(terminal) => ("terminal", terminal.text.clone().unwrap_or_default()),
            Kind::Noise(text) => ("text", text.to_string()),
            Kind::Unknown(json) => ("unknown", json.to_string()),
            Kind::Command(_) => ("command", event.to_json()),
            // In a turn the outcome says it.
            Kind::Fatal(fatal) if turn.number == 0 => {
                let what = What::Notice {
                    name: "error",
                    text: &fatal.message,
                    fault: true,
                };
                return self.put(0, what, turn, page);
            }
            _ => return Ok(()),
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        let what = What::Raw {
            name,
            text: &text,
            piece: None,
        };
        self.put(0, what, turn, page)
    }

    /// Puts a row on the page, if it is picked, below its session's and its turn's.
    fn put(&mut self, depth: usize, what: What<'_>, turn: &Turn, page: &mut dyn Page) -> io::Result<()> {
        let Some(at) = &mut self.at else { return Ok(()) };
        if at.skipped || !is_picked(self.pick, &what) {
            return Ok(());
        }
        let row = |depth, what| Row {
            depth,
            turn: turn.number,
            what,
        };
        if self.session.as_ref() != Some(&turn.session) {
            self.session = Some(turn.session.clone());
            page.row(&row(
                0,
                What::Session(Head {
                    id: turn.session.as_deref(),
                    facts: turn.facts.as_ref(),
                }),
            ))?;
        }
        if !at.begun {
            at.begun = true;
            let started = turn.started.as_ref();
            page.row(&row(0, What::Turn { started }))?;
        }
        page.row(&row(depth, what))
    }
}

/// Subagents of subagents are told as far as this.
const DEEPEST: usize = 8;

fn is_picked(pick: &Pick, what: &What<'_>) -> bool {
    if pick.tools && !matches!(what, What::Call { .. }) {
        return false;
    }
    !pick.errors
        || match what {
            What::Call { state, .. } => !state.is_fine(),
            What::Permission { allowed, .. } => *allowed == Some(false),
            What::Notice { fault, .. } => *fault,
            What::Outcome(ended) => ended.outcome.is_some_and(|outcome| outcome.kind != OutcomeKind::Success),
            What::Damage { .. } => true,
            _ => false,
        }
}

/// Notices that say nothing about what was done.
const fn is_quiet(topic: Topic) -> bool {
    matches!(topic, Topic::Status | Topic::Query | Topic::SubagentEnd | Topic::Thinking | Topic::Other)
}

fn topic(notice: &Notice) -> &str {
    match notice.topic {
        Topic::Retry => "retry",
        Topic::Compaction => "compaction",
        Topic::Task => "task",
        Topic::Hook => "hook",
        Topic::Permission => "refused",
        Topic::Limit => "limit",
        Topic::Cancelled => "cancelled",
        Topic::Reminder => "reminder",
        Topic::Reset => "reset",
        _ => &notice.name,
    }
}

/// What a thread said last.
fn last_text(thread: &Thread) -> Option<&str> {
    let blocks = thread.rounds.iter().rev().flat_map(|round| round.blocks.iter().rev());
    blocks
        .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
        .next()
}
