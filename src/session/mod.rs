//! One live conversation: turns, questions and their deadlines, and exactly one end for each turn.
//!
//! A session does no IO and knows no clock. What the host and the back end say goes in together with the time, what is to be said
//! to the host comes out as bytes; the back end is told through [`Backend::input`].

mod backend_events;
mod control;
mod final_text;
mod host_hooks;
mod host_servers;
mod input;
mod keep_alive;
mod notices;
mod pending;
mod plain_text;
mod policy;
mod rules;
pub mod run;
mod setup;
mod spelled_ids;
mod structured_output;
mod text_questions;
mod turn;
mod unanswerable;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::adapters::raw::codec::{Dialect, Format, Mode};
use crate::adapters::raw::conduct::{Answer, Conduct, Ended};
use crate::adapters::raw::event::{Event, Kind, Origin, OutcomeKind, Place, Withdraw};
use crate::adapters::raw::json::Str;
use crate::adapters::raw::launch::ArgError;
use crate::adapters::raw::live::{Heard, Manner, Speaker};
use crate::agent::control_requests::CLOSED;
use crate::backend::Backend;
use control::Asked;
use keep_alive::Beat;
use notices::Aside;
pub use notices::tell_end;
use pending::Pending;
use plain_text::Plain;
pub use rules::Rules;
pub use setup::{Clock, Host, Oddities, OnAsk, Timers};
use spelled_ids::SpelledIds;

use final_text::Spoken;
use host_hooks::HostHooks;
use turn::Turn;

/// One conversation.
#[derive(Debug)]
pub struct Session {
    host: Host,
    conduct: &'static dyn Conduct,
    timers: Timers,
    on_ask: OnAsk,
    /// Says what the back end says.
    voice: Speaker,
    /// Says what the session itself has to say, in the same dialect; `None` if `voice` does.
    own: Option<Speaker>,
    /// The host and the back end speak the same dialect.
    same: bool,
    /// Questions of the agent that wait for the host.
    asked: Pending<Asked>,
    /// Questions that a person is asked one after the other.
    unasked: VecDeque<text_questions::Question>,
    /// What a person has typed and was not asked for yet.
    ahead: VecDeque<String>,
    /// Questions that wait for a command to decide, and how many are not decided.
    undecided: VecDeque<policy::Undecided>,
    deciding: usize,
    /// Requests of the host that wait for the back end.
    requested: Pending<Answer>,
    turn: Option<Turn>,
    /// Prompts that no outcome has answered.
    prompts: usize,
    /// The ids of the last prompts, where one that comes again is passed over.
    prompt_ids: VecDeque<String>,
    /// The last prompt's text, as the body of a JSON string.
    prompt: String,
    ended: Ended,
    /// The last outcome was the agent's own.
    ended_by_agent: bool,
    /// Tools that the host has allowed for the rest of the session, by its own rules.
    allowed: Vec<String>,
    /// A change of the permission mode that the back end has not answered yet: the request's id, and whether everything may run then.
    freeing: Option<(String, bool)>,
    /// What the host has denied in this turn: `{tool_name,tool_use_id,tool_input}`, separated by commas.
    denials: String,
    /// Interrupts of our own, counted for their ids.
    interrupts: u64,
    /// The run is over at once: what goes to standard error, and the exit code.
    fatal: Option<(String, u8)>,
    manner: Manner,
    /// The last turn's failure in words, for dialects that say it on standard error.
    failure: Option<String>,
    /// The one value of a turn that failed, where that goes to standard error.
    failed_value: Option<String>,
    /// The last turn's answer, if it succeeded.
    answer: Option<String>,
    /// What the model says, where its last words are kept.
    spoken: Option<Spoken>,
    /// The session's facts were told.
    introduced: bool,
    oddities: Oddities,
    /// What is to be said beside the turns once the session's facts were told.
    asides: VecDeque<Aside>,
    /// Prompts that make no sense, and why: each fails a turn when it would be its.
    doomed: VecDeque<Cow<'static, str>>,
    clock: Clock,
    /// For a host that reads text.
    plain: Option<Plain>,
    beat: Beat,
    /// The host will say nothing more.
    gone: bool,
    /// It has said that the session is to end: what it says behind that is not heard.
    ends: bool,
    spelled_ids: SpelledIds,
    hooks: HostHooks,
    out: Vec<u8>,
}

/// Who speaks to the host.
fn voice(manner: Manner, host: &Host) -> Speaker {
    let mut voice = Speaker::new(manner);
    if host.types_answers {
        voice.asks();
    }
    voice
}

impl Session {
    /// At the beginning.
    pub fn new(host: Host, backend: Format, tools: Dialect, timers: Timers, on_ask: OnAsk) -> Self {
        let program = host.format.dialect.program();
        let keeps = program.is_some_and(|program| !program.traits.answer_file.is_empty());
        let same = backend == Format::from(host.format.dialect) || host.agent;
        let manner = Manner {
            from: backend.dialect,
            tools,
            to: if host.watched { Dialect::CANONICAL.into() } else { host.format },
            native_tools: true,
            partial: host.partial || host.watched,
            old_text: host.old_text,
            hides_thoughts: host.hides_thoughts,
            agent: host.agent,
            verbose: host.verbose,
        };
        Self {
            conduct: host.format.dialect.conduct(),
            voice: voice(manner, &host),
            manner,
            own: (same && !host.agent).then(|| Speaker::new(manner.of_ours())),
            same,
            asked: Pending::default(),
            requested: Pending::default(),
            turn: None,
            prompts: 0,
            prompt_ids: VecDeque::new(),
            prompt: String::new(),
            allowed: Vec::new(),
            freeing: None,
            denials: String::new(),
            interrupts: 0,
            ended: Ended {
                interactive: host.interactive,
                is_text: host.format.mode == Mode::TEXT,
                ..Ended::default()
            },
            ended_by_agent: false,
            fatal: None,
            failure: None,
            failed_value: None,
            answer: None,
            spoken: (keeps || host.schema.is_some()).then(Spoken::default),
            introduced: false,
            oddities: Oddities::default(),
            asides: VecDeque::new(),
            doomed: VecDeque::new(),
            clock: host.clock,
            plain: (host.format.mode == Mode::TEXT && !host.interactive && !host.watched).then(Plain::default),
            beat: Beat::new(
                host.heartbeat.filter(|_| host.format.dialect.conduct().gives_signs_of_life()),
                host.clock.moment,
            ),
            gone: !host.interactive && !host.types_answers,
            ends: false,
            spelled_ids: SpelledIds::default(),
            hooks: HostHooks::default(),
            unasked: VecDeque::new(),
            ahead: VecDeque::new(),
            undecided: VecDeque::new(),
            deciding: 0,
            out: Vec::new(),
            host,
            timers,
            on_ask,
        }
    }

    /// Before it has said anything the agent turns out to say lines of another format.
    pub fn speaks(&mut self, format: Format) {
        self.manner.from = format.dialect;
        self.voice = voice(self.manner, &self.host);
        if self.host.echoes {
            self.voice.prompt(&self.prompt);
        }
    }

    /// How many questions may wait in each direction; 1024 unless this is called. With one more, the oldest is due at once.
    pub const fn limit_pending(&mut self, most: usize) {
        self.asked.limit(most);
        self.requested.limit(most);
    }

    /// What is to be written to the host. The caller takes it away.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether a turn runs or waits.
    pub fn busy(&self) -> bool {
        self.turn.is_some() || self.prompts > 0 || self.hooks.holds()
    }

    /// How many bytes of prompts wait for the host's hooks, or behind a prompt that does.
    pub fn queued(&self) -> usize {
        self.hooks.queued()
    }

    /// How long the back end may take to end by itself.
    pub const fn shutdown(&self) -> Duration {
        self.timers.shutdown
    }

    /// Whether the last turn ended by the agent's own word: what it says behind that is no rest of a turn that was broken off.
    pub const fn ended_by_agent(&self) -> bool {
        self.ended_by_agent
    }

    /// Whether a request of the host's waits for the back end's answer; it waits no longer than it may.
    pub fn owes_answers(&self) -> bool {
        self.requested.deadline().is_some()
    }

    /// Whether the last turn was broken off: the agent may never come to its end.
    pub const fn broke_off(&self) -> bool {
        self.ended.outcome.is_some() && !self.ended_by_agent
    }

    /// Whether the run is over before its time; the exit code is then that of [`Self::exit_code`].
    pub const fn over(&self) -> bool {
        self.fatal.is_some()
    }

    /// What belongs on standard error when the run is over.
    pub fn last_words(&self) -> Option<&str> {
        let failure = self.failed_value.as_deref().or(self.failure.as_deref()).filter(|_| !self.says_failures());
        self.fatal.as_ref().map(|(text, _)| text.as_str()).or(failure)
    }

    /// What the last turn answered, which may be nothing; of a turn that failed or has not ended there is no answer.
    pub fn last_answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// The exit code of the program that the host thinks it talks to.
    pub fn exit_code(&self) -> u8 {
        match &self.fatal {
            Some((_, code)) => *code,
            None => self.conduct.exit_code(self.ended),
        }
    }

    /// That of a program which this signal has ended.
    pub fn code_of_signal(&self, signal: i32) -> u8 {
        let is_interrupt = signal == Signal::INT.as_raw() && !self.ended.is_text;
        let own = is_interrupt.then(|| self.conduct.interrupted()).flatten();
        own.unwrap_or_else(|| u8::try_from(128 + signal).unwrap_or(1))
    }

    /// What did not go as it should.
    pub const fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// The host said something.
    pub fn host(&mut self, heard: &Heard<'_, '_>, now: Instant, backend: &mut dyn Backend) {
        if self.ends {
            return;
        }
        self.moment(now);
        if self.host.types_answers && !matches!(heard, Heard::Input(_)) {
            return self.typed(heard, now, backend);
        }
        match heard {
            Heard::Input(input) => self.input(input, now, backend),
            // A host has no events to tell; what is neither is told as one.
            Heard::Event(event) => match event.kind {
                Kind::Noise(text) => self.damaged(text, "it is not JSON", now, backend),
                Kind::Unknown(raw) => self.unknown(raw, now, backend),
                _ if self.conduct.tells_faults() => self.complain("QWEN_INVALID_REQUEST: the host says what only an agent says", Some(backend)),
                // What only agents ask is refused like any request that nobody knows.
                Kind::Request(request) => {
                    let answer = self.conduct.answer(request, event.fields, &self.host.facts);
                    self.reply(request.id.map(|id| id.as_escaped()), &answer);
                }
                _ => {}
            },
            Heard::Damaged { why, bytes, .. } => self.damaged(&String::from_utf8_lossy(bytes), why, now, backend),
        }
    }

    /// Whether the host has said that the session is to end.
    pub const fn host_ends(&self) -> bool {
        self.ends
    }

    /// The host will say nothing more: nobody is left to answer the agent's questions.
    pub fn host_gone(&mut self, now: Instant, backend: &mut dyn Backend) {
        self.gone = true;
        self.hooks_gone(now, backend);
        if self.host.types_answers {
            return self.nobody_types(now, backend);
        }
        for asked in self.asked.drain() {
            let id = asked.note.first.as_ref().unwrap_or(&asked.id);
            asked.note.unanswered(id, CLOSED, backend);
        }
    }

    /// The back end said something.
    pub fn backend(&mut self, heard: &Heard<'_, '_>, now: Instant, backend: &mut dyn Backend) {
        self.moment(now);
        if let Some(turn) = &mut self.turn {
            (turn.sign, turn.heard) = (now, true);
        }
        match heard {
            Heard::Event(event) => {
                backend.heard(event);
                self.event(event, now, backend);
                self.fail_doomed(now);
            }
            // What only hosts say, a back end has no business to say.
            Heard::Input(input) => Self::turned_round(input, backend),
            Heard::Damaged { bytes, why, .. } => {
                self.oddities.damaged += 1;
                self.unreadable(bytes, why, now, backend);
            }
        }
    }

    /// The back end will say nothing more. Every turn that is left fails, and requests that wait for it are refused; in between two
    /// turns the program that the host talks to has died, if there is a reason.
    pub fn backend_over(&mut self, why: Option<String>, now: Instant) {
        self.moment(now);
        if let Some(refusal) = why.as_deref().and_then(|why| self.no_session(why)) {
            self.turn = None;
            self.prompts = 0;
            self.fatal = Some(refusal);
            return;
        }
        let idle = !self.busy();
        let reason = why.as_deref().unwrap_or("the agent ended before the turn did");
        for request in self.requested.drain() {
            self.reply(Some(&request.id), &Answer::Refused(format!("no answer: {reason}"), None));
        }
        self.end_turns(OutcomeKind::Failed(Place::Backend), reason, true, now);
        if let Some(why) = why.filter(|_| idle && !self.gone) {
            let code = self.conduct.exit_code(Ended {
                outcome: Some(OutcomeKind::Failed(Place::Backend)),
                is_error: true,
                interactive: false,
                ..self.ended
            });
            self.last_words_in_stream(&why, "QWEN_INTERNAL", code.max(1));
            self.fatal = Some((why, code.max(1)));
        }
    }

    /// Whether the session is not there that the only prompt is for, and the host is not told so in the stream: what goes to standard error,
    /// and the exit code.
    fn no_session(&self, why: &str) -> Option<(String, u8)> {
        let told = self.introduced || self.host.interactive || self.conduct.tells_no_session();
        let refusal = ArgError::no_session(self.host.format.dialect, &self.host.facts.session);
        (!told && refusal.text.trim_end() == why).then(|| (why.to_owned(), refusal.exit_code))
    }

    /// The turn that runs, and with `all` every one that waits, ends here.
    pub fn end_turns(&mut self, kind: OutcomeKind, why: &str, all: bool, now: Instant) {
        self.moment(now);
        self.drop_hooks(all);
        while self.turn.is_some() || self.prompts > 0 {
            self.end_turn(kind, why, now);
            if !all {
                break;
            }
        }
    }

    /// What time it is then, in milliseconds since 1970.
    pub fn millis(&self, now: Instant) -> i64 {
        i64::try_from(self.clock.millis_at(now)).unwrap_or(i64::MAX)
    }

    /// When [`Self::tick`] is to be called, at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        let others = [self.due_host(), self.requested.deadline(), self.beat.due()];
        others.into_iter().flatten().chain(self.turn_deadlines().into_iter().flatten()).min()
    }

    /// The same without the back end's own deadlines: those of questions that the host was asked.
    pub fn due_host(&self) -> Option<Instant> {
        self.asked.deadline().into_iter().chain(self.hooks.deadline()).min()
    }

    /// Time has passed. Returns whether the back end is to be stopped because it fell silent, or does not come to an end.
    pub fn tick(&mut self, now: Instant, backend: &mut dyn Backend) -> bool {
        self.moment(now);
        let waits = self.waits_for_answer();
        if self.beat.beats(now) {
            let session = self.host.facts.session.clone();
            let origin = Origin {
                session: Some(Str::trusted(&session)),
                ..Origin::default()
            };
            self.give_sign_of_life(origin, now);
        }
        for asked in self.asked.expired(now) {
            let waited = now.duration_since(asked.since).as_secs_f64();
            let why = format!("the host did not answer within {waited:.1} s");
            self.control_fault(&asked.id, &why, false);
            let id = asked.note.first.as_ref().unwrap_or(&asked.id);
            asked.note.unanswered(id, &why, backend);
            if self.withdraws() {
                let id = Str::trusted(&asked.id);
                self.say(&Event::new(Origin::default(), Kind::Withdraw(Withdraw { id: Some(id) })));
            }
        }
        self.hooks_expire(now, backend);
        if self.host.types_answers {
            self.ask_person(now, backend);
        }
        if waits && !self.waits_for_answer() {
            self.waited(now);
        }
        for request in self.requested.expired(now) {
            let waited = now.duration_since(request.since).as_secs_f64();
            self.reply(
                Some(&request.id),
                &Answer::Refused(format!("no answer from the agent within {waited:.1} s"), None),
            );
        }
        self.turn_expires(now)
    }

    /// The conversation is over: says what is still held. A program that breaks off says nothing more.
    pub fn finish(&mut self) {
        if self.fatal.is_some() {
            return;
        }
        self.drop_hooks(true);
        self.tell_asides();
        if !self.busy() {
            self.voice.settled();
        }
        self.voice.finish(&mut self.out);
    }
}

impl Session {
    /// Whether a signal ends it without another word.
    pub fn breaks_off(&self) -> bool {
        !self.host.watched && self.conduct.breaks_off(self.host.format.mode)
    }

    /// Whether it is the host, or a command of the user's, that the agent waits for.
    const fn waits_for_answer(&self) -> bool {
        !self.asked.is_empty() || self.deciding > 0 || self.hooks.is_waiting()
    }

    /// Whether the stream itself says that a turn failed. A run that did not even begin says it on standard error too.
    fn says_failures(&self) -> bool {
        self.host.watched || self.conduct.tells_failures(self.host.format.mode) && self.introduced
    }

    /// Whether the host hears that a question need not be answered any more.
    fn withdraws(&self) -> bool {
        self.host.watched || self.conduct.withdraws()
    }

    /// What is said from here on is said now, if it says nothing else.
    fn moment(&mut self, now: Instant) {
        let millis = self.millis(now);
        for voice in std::iter::once(&mut self.voice).chain(&mut self.own) {
            voice.now(millis);
        }
    }

    /// Says something of our own.
    fn say(&mut self, event: &Event<'_>) {
        match &mut self.own {
            // The one that told the turn has to end it: it knows what is open, and which session this is.
            _ if let Kind::Outcome(outcome) = event.kind => self.tell_outcome(event, outcome.is_error),
            Some(own) => own.directly(event, &mut self.out),
            None => self.voice.directly(event, &mut self.out),
        }
    }
}

#[cfg(test)]
mod tests;
