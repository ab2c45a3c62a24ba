//! One live conversation: turns, questions and their deadlines, and exactly one end for each turn.
//!
//! A session does no IO and knows no clock. What the host and the back end say goes in together with the time, what is to be said
//! to the host comes out as bytes; the back end is told through [`Backend::input`].

mod pending;
pub mod run;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::adapters::codec::{Dialect, Format};
use crate::adapters::conduct::{Answer, Conduct, Damage, Ended, Facts, Misread};
use crate::adapters::event::ToolCall;
use crate::adapters::event::{
    CancelResult, Content, ControlKind, Event, Heartbeat, HintResult, Input, InputKind, Kind, Limit, Origin, Outcome, OutcomeKind, Place, Prompt,
    PromptSource, Request, Response, Withdraw,
};
use crate::adapters::json::{Raw, Str};
use crate::adapters::live::{Heard, Manner, Speaker};
use crate::adapters::tools::Translate;
use crate::backend::Backend;
use pending::Pending;

/// What a session needs to know of its host when it begins.
#[derive(Clone, Debug)]
pub struct Host {
    /// What the host reads.
    pub format: Format,
    /// Deltas beside snapshots.
    pub partial: bool,
    /// `json` with all messages.
    pub verbose: bool,
    /// It talks over standard input, for as many turns as it likes.
    pub interactive: bool,
    /// It said that it answers permission questions.
    pub answers_permissions: bool,
    /// Everything may run without a question.
    pub allows_all: bool,
    /// It wants its prompts back: Cursor's always, Claude's only when it says so.
    pub echoes: bool,
    /// The most rounds of a turn, where the back end does not count them itself.
    pub max_rounds: Option<u64>,
    /// What is known of the session.
    pub facts: Facts,
    /// What time it is.
    pub clock: Clock,
}

/// A moment on both clocks: the one that never jumps, by which a session waits, and that of the calendar.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The moment.
    pub moment: Instant,
    /// The same in seconds since 1970.
    pub seconds: u64,
}

impl Clock {
    /// Seconds since 1970 at another moment.
    pub fn at(self, moment: Instant) -> u64 {
        self.seconds + moment.saturating_duration_since(self.moment).as_secs()
    }
}

/// What happens to a permission question when the host cannot be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnAsk {
    /// It is denied.
    #[default]
    Deny,
    /// Tools of these names are allowed, others denied.
    Allow(Vec<String>),
}

/// How long a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// For the first sign of a back end after a prompt.
    pub start: Duration,
    /// For the next sign of a back end while a turn runs and nobody is asked.
    pub silence: Duration,
    /// For the host's answer to a question.
    pub permission: Duration,
    /// For the back end's answer to a request of the host's.
    pub control: Duration,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            silence: Duration::from_secs(1800),
            permission: Duration::from_secs(600),
            control: Duration::from_secs(60),
        }
    }
}

/// What did not go as it should, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Answers of the host to questions that nobody asked, or that were answered already.
    pub stray_answers: u64,
    /// Answers of the host to permission questions that say neither yes nor no; the question is then denied.
    pub bad_answers: u64,
    /// Answers of the back end to requests that the host did not make.
    pub stray_replies: u64,
    /// Outcomes when no turn ran.
    pub extra_outcomes: u64,
    /// Lines of the back end that could not be read.
    pub damaged: u64,
}

/// What the host was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Asked {
    /// The tool, in the host's words, and its arguments as the host saw them; empty if it was no tool.
    tool: String,
    input: String,
    call: String,
}

/// A turn that runs.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// The last sign of the back end, or the beginning.
    sign: Instant,
    /// The back end has said something in it.
    heard: bool,
    /// Rounds that have begun, and whether the next word of the model begins another one.
    rounds: u64,
    between: bool,
    /// The limit of rounds was reached: what still comes is not said any more.
    cut: bool,
}

impl Turn {
    const fn new(now: Instant, heard: bool) -> Self {
        Self {
            sign: now,
            heard,
            rounds: 0,
            between: true,
            cut: false,
        }
    }
}

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
    /// Requests of the host that wait for the back end.
    requested: Pending<Answer>,
    turn: Option<Turn>,
    /// Prompts that no outcome has answered.
    prompts: usize,
    /// The last prompt's text, as the body of a JSON string.
    prompt: String,
    ended: Ended,
    /// Tools that the host has allowed for the rest of the session, by its own rules.
    allowed: Vec<String>,
    /// What the host has denied in this turn: `{tool_name,tool_use_id,tool_input}`, separated by commas.
    denials: String,
    /// Interrupts of our own, counted for their ids.
    interrupts: u64,
    /// The run is over at once: what goes to standard error, and the exit code.
    fatal: Option<(String, u8)>,
    /// The last turn's failure in words, for dialects that say it on standard error.
    failure: Option<String>,
    /// The session's facts were told.
    introduced: bool,
    oddities: Oddities,
    /// Prompts that make no sense, and why: each fails a turn when it would be its.
    doomed: VecDeque<&'static str>,
    clock: Clock,
    /// The host will say nothing more.
    gone: bool,
    out: Vec<u8>,
}

impl Session {
    /// At the beginning.
    pub fn new(host: Host, backend: Dialect, timers: Timers, on_ask: OnAsk) -> Self {
        let same = host.format.dialect == backend;
        let manner = Manner {
            from: backend,
            to: host.format,
            native_tools: true,
            partial: host.partial,
            old_text: false,
            verbose: host.verbose,
        };
        Self {
            conduct: host.format.dialect.conduct(),
            voice: Speaker::new(manner),
            own: same.then(|| {
                Speaker::new(Manner {
                    from: Dialect::Agentglot,
                    ..manner
                })
            }),
            same,
            asked: Pending::default(),
            requested: Pending::default(),
            turn: None,
            prompts: 0,
            prompt: String::new(),
            allowed: Vec::new(),
            denials: String::new(),
            interrupts: 0,
            ended: Ended {
                interactive: host.interactive,
                ..Ended::default()
            },
            fatal: None,
            failure: None,
            introduced: false,
            oddities: Oddities::default(),
            doomed: VecDeque::new(),
            clock: host.clock,
            gone: !host.interactive,
            out: Vec::new(),
            host,
            timers,
            on_ask,
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
    pub const fn busy(&self) -> bool {
        self.turn.is_some() || self.prompts > 0
    }

    /// Whether the run is over before its time; the exit code is then that of [`Self::exit_code`].
    pub const fn over(&self) -> bool {
        self.fatal.is_some()
    }

    /// What belongs on standard error when the run is over.
    pub fn last_words(&self) -> Option<&str> {
        let failure = self.failure.as_deref().filter(|_| !self.says_failures());
        self.fatal.as_ref().map(|(text, _)| text.as_str()).or(failure)
    }

    /// The exit code of the program that the host thinks it talks to.
    pub fn exit_code(&self) -> u8 {
        match &self.fatal {
            Some((_, code)) => *code,
            None => self.conduct.exit_code(self.ended),
        }
    }

    /// What did not go as it should.
    pub const fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// The host said something.
    pub fn host(&mut self, heard: &Heard<'_, '_>, now: Instant, backend: &mut dyn Backend) {
        match heard {
            Heard::Input(input) => self.input(input, now, backend),
            // A host has no events to tell; what is neither is told as one.
            Heard::Event(event) => match event.kind {
                Kind::Noise(text) => self.damaged(text, "it is not JSON", now),
                Kind::Unknown(raw) => self.unknown(raw, now),
                _ => {}
            },
            Heard::Damaged { why, bytes, .. } => self.damaged(&String::from_utf8_lossy(bytes), why, now),
        }
    }

    /// The host will say nothing more: nobody is left to answer the agent's questions.
    pub fn host_gone(&mut self, backend: &mut dyn Backend) {
        self.gone = true;
        for asked in self.asked.drain() {
            refuse(&asked.id, "the host has closed its input", backend);
        }
    }

    /// The back end said something.
    pub fn backend(&mut self, heard: &Heard<'_, '_>, now: Instant, backend: &mut dyn Backend) {
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
            Heard::Input(_) => {}
            Heard::Damaged { .. } => self.oddities.damaged += 1,
        }
    }

    /// The back end will say nothing more. Every turn that is left fails, and requests that wait for it are refused; in between two
    /// turns the program that the host talks to has died, if there is a reason.
    pub fn backend_over(&mut self, why: Option<String>, now: Instant) {
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
            });
            self.fatal = Some((why, code.max(1)));
        }
    }

    /// The back end was not listened to until now: its silence does not count.
    pub fn heard_nothing(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn {
            turn.sign = now;
        }
    }

    /// The turn that runs, and with `all` every one that waits, ends here.
    pub fn end_turns(&mut self, kind: OutcomeKind, why: &str, all: bool, now: Instant) {
        while self.busy() {
            self.end_turn(kind, why, now);
            if !all {
                break;
            }
        }
    }

    /// When [`Self::tick`] is to be called, at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        let silence = self.turn.filter(|_| self.asked.is_empty()).map(|turn| {
            let limit = if turn.heard { self.timers.silence } else { self.timers.start };
            turn.sign + limit
        });
        [self.asked.deadline(), self.requested.deadline(), silence].into_iter().flatten().min()
    }

    /// The same without the back end's own deadlines: those of questions that the host was asked.
    pub fn due_host(&self) -> Option<Instant> {
        self.asked.deadline()
    }

    /// Time has passed. Returns whether the back end is to be stopped because it fell silent.
    pub fn tick(&mut self, now: Instant, backend: &mut dyn Backend) -> bool {
        for asked in self.asked.expired(now) {
            let waited = now.duration_since(asked.since).as_secs_f64();
            refuse(&asked.id, &format!("the host did not answer within {waited:.1} s"), backend);
            if self.conduct.withdraws() {
                let id = Str::trusted(&asked.id);
                self.say(&Event::new(Origin::default(), Kind::Withdraw(Withdraw { id: Some(id) })));
            }
        }
        for request in self.requested.expired(now) {
            let waited = now.duration_since(request.since).as_secs_f64();
            self.reply(
                Some(&request.id),
                &Answer::Refused(format!("no answer from the agent within {waited:.1} s"), None),
            );
        }
        let Some(turn) = self.turn.filter(|_| self.asked.is_empty()) else {
            return false;
        };
        let limit = if turn.heard { self.timers.silence } else { self.timers.start };
        if now < turn.sign + limit {
            return false;
        }
        let why = format!("the agent has said nothing for {:.0} s", now.duration_since(turn.sign).as_secs_f64());
        self.end_turns(OutcomeKind::Failed(Place::Backend), &why, true, now);
        true
    }

    /// The conversation is over: says what is still held. A program that breaks off says nothing more.
    pub fn finish(&mut self) {
        if self.fatal.is_some() {
            return;
        }
        if !self.busy() {
            self.voice.settled();
        }
        self.voice.finish(&mut self.out);
    }
}

impl Session {
    /// Whether the stream itself says that a turn failed. Cursor's never does, and a run that did not even begin says it on standard
    /// error too.
    fn says_failures(&self) -> bool {
        self.host.format.dialect != Dialect::Cursor && self.introduced
    }

    /// The host said something that cannot be read.
    fn damaged(&mut self, text: &str, why: &str, now: Instant) {
        let json = Raw::trusted(text.trim_ascii());
        let line = Misread {
            text,
            json: json.check().is_ok().then_some(json),
            why,
            busy: self.turn.is_some(),
        };
        match self.conduct.damaged(&line) {
            Damage::Ignored => {}
            Damage::FailedTurn(why) => {
                self.doomed.push_back(why);
                self.fail_doomed(now);
            }
            Damage::Fatal { stderr, code } => self.fatal = Some((stderr, code)),
        }
    }

    /// The host said something that is JSON and of no known type.
    fn unknown(&mut self, raw: Raw<'_>, now: Instant) {
        if self.conduct.needs_type() && raw.get("type").and_then(Raw::string).is_none() {
            self.damaged(raw.as_str(), "it is no object with a type", now);
        }
    }

    /// Turns that cannot begin end where they would have begun: behind those before them.
    fn fail_doomed(&mut self, now: Instant) {
        while !self.busy()
            && let Some(why) = self.doomed.pop_front()
        {
            self.prompts += 1;
            self.end_turn(OutcomeKind::Failed(Place::Protocol), why, now);
        }
    }

    fn input(&mut self, input: &Input<'_>, now: Instant, backend: &mut dyn Backend) {
        match input.kind {
            InputKind::Prompt(prompt) if self.conduct.ignores_empty_prompts() && says_nothing(prompt) => {}
            InputKind::Prompt(prompt) => {
                self.remember(prompt);
                self.prompted(input, now, backend);
            }
            InputKind::Chat(_) => self.prompted(input, now, backend),
            InputKind::Request(request) => self.request(input, request, now, backend),
            InputKind::Response(response) => {
                let Some(asked) = response.id.and_then(|id| self.asked.take(id.as_escaped())) else {
                    self.oddities.stray_answers += 1;
                    return;
                };
                self.answered(&asked.id, &asked.note, input, response, backend);
                // The wait was the host's.
                if let Some(turn) = &mut self.turn {
                    turn.sign = now;
                }
            }
            InputKind::Cancel { .. } => {
                let busy = self.turn.is_some();
                let (status, message) = if busy { ("ok", None) } else { ("noop", Some("Nothing to cancel.")) };
                let result = CancelResult {
                    status: Some(Str::trusted(status)),
                    message: message.map(Str::trusted),
                };
                self.say(&Event::new(input.origin, Kind::CancelResult(result)));
                if busy {
                    backend.input(input);
                }
            }
            InputKind::Heartbeat { .. } => {
                let seconds = self.clock.at(now).to_string();
                let heartbeat = Heartbeat {
                    status: Some(Str::trusted("ok")),
                    ts: Some(Raw::trusted(&seconds)),
                };
                self.say(&Event::new(input.origin, Kind::Heartbeat(heartbeat)));
            }
            InputKind::Hint(hint) => {
                let result = HintResult {
                    trigger: hint.trigger,
                    status: Some(Str::trusted("error")),
                    suggestions: None,
                    metadata: None,
                    message: Some(Str::trusted("this agent has no command hints")),
                };
                self.say(&Event::new(input.origin, Kind::Hint(&result)));
            }
            InputKind::Withdraw(_) | InputKind::Environment(_) => {
                backend.input(input);
            }
            InputKind::Noise(text) => {
                self.damaged(text, "it is not JSON", now);
            }
            InputKind::Unknown(raw) => self.unknown(raw, now),
            InputKind::HintCancel | InputKind::KeepAlive => {}
        }
    }

    fn prompted(&mut self, input: &Input<'_>, now: Instant, backend: &mut dyn Backend) {
        self.prompts += 1;
        if self.turn.is_none() {
            self.voice.settled();
            self.turn = Some(Turn::new(now, false));
        }
        backend.input(input);
    }

    fn remember(&mut self, prompt: &Prompt<'_>) {
        self.prompt.clear();
        match prompt.content {
            Content::Text(text) => self.prompt.push_str(text.as_escaped()),
            content => content.texts().for_each(|text| self.prompt.push_str(text.as_escaped())),
        }
        if self.host.echoes {
            self.voice.prompt(&self.prompt);
        }
    }

    /// The host has answered a question. Changed arguments go over in the agent's words where it runs what it is told to run; where
    /// it would run the original ones, the call is denied.
    fn answered(&mut self, id: &str, asked: &Asked, input: &Input<'_>, response: &Response<'_>, backend: &mut dyn Backend) {
        let body = response.body.filter(|_| response.ok);
        let word = body.and_then(|body| body.get("behavior")).and_then(Raw::string);
        if response.ok
            && !asked.tool.is_empty()
            && !word.is_some_and(|word| ["allow", "approve", "deny", "reject"].iter().any(|known| word.is(known)))
        {
            self.oddities.bad_answers += 1;
            return refuse(id, "the host's answer to this could not be understood", backend);
        }
        if self.same && backend.takes_changes() {
            backend.input(input);
            return;
        }
        let updated = body.and_then(|body| body.get("updatedInput")).filter(|value| !value.is_null());
        let allowed = word.is_some_and(|word| word.is("allow") || word.is("approve"));
        if asked.tool.is_empty() {
            backend.input(input);
            return;
        }
        if !allowed {
            let comma = if self.denials.is_empty() { "" } else { "," };
            self.denials.push_str(&format!(
                "{comma}{{\"tool_name\":\"{}\",\"tool_use_id\":\"{}\",\"tool_input\":{}}}",
                asked.tool,
                asked.call,
                if asked.input.is_empty() { "{}" } else { &asked.input }
            ));
            backend.input(input);
            // Others than Claude Code go on in spite of it.
            if body.and_then(|body| body.get("interrupt")).and_then(Raw::bool) == Some(true) {
                self.interrupt(backend);
            }
            return;
        }
        self.learn_rules(body.and_then(|body| body.get("updatedPermissions")));
        let same = updated.is_none_or(|updated| Raw::trusted(&asked.input).same_value(updated));
        match updated {
            Some(_) if same => respond(id, "{\"behavior\":\"allow\"}", backend),
            Some(updated) if backend.takes_changes() => {
                let arena = crate::adapters::tools::Arena::new();
                let native = Translate {
                    from: self.host.format.dialect,
                    to: backend.dialect(),
                };
                let call = ToolCall {
                    id: Str::EMPTY,
                    name: Str::trusted(&asked.tool),
                    kind: Default::default(),
                    input: updated,
                    fields: &[],
                };
                let input = native.call(&call, &arena).map_or(updated, |call| call.input);
                respond(id, &format!("{{\"behavior\":\"allow\",\"updatedInput\":{}}}", input.as_str()), backend);
            }
            Some(_) => refuse(
                id,
                "this agent runs a tool only with the arguments that it asked for; the host changed them",
                backend,
            ),
            None => {
                backend.input(input);
            }
        }
    }

    /// A control request of the host's: the back end answers what it can, and we the rest.
    fn request(&mut self, input: &Input<'_>, request: &Request<'_>, now: Instant, backend: &mut dyn Backend) {
        self.host.facts.busy = self.turn.is_some();
        // Without an id nobody could tell what an answer of the back end's belongs to.
        let Some(id) = request.id.map(|id| id.as_escaped().to_owned()) else {
            if self.conduct.answers_nameless() {
                let answer = self.conduct.answer(request, input.fields, &self.host.facts);
                if request.kind == ControlKind::Interrupt && self.turn.is_some() {
                    self.interrupt(backend);
                }
                self.reply(None, &answer);
            }
            return;
        };
        if request.kind == ControlKind::Initialize && self.host.format.dialect == Dialect::Claude {
            self.host.facts.agents = crate::adapters::claude::conduct::declared_agents(input.fields);
        }
        let answer = self.conduct.answer(request, input.fields, &self.host.facts);
        let refused = matches!(answer, Answer::Refused(..));
        if !refused {
            self.take_over(request, input);
        }
        // What the dialect's own program would refuse does not reach the back end, unless that is the program itself.
        if refused && !self.same {
            return self.reply(Some(&id), &answer);
        }
        let taken = backend.input(input);
        if request.kind == ControlKind::Interrupt && !(self.same && taken) {
            self.take_back();
        }
        if taken && (self.same || request.kind != ControlKind::Initialize) {
            self.requested.add(id, answer, now, self.timers.control);
            return;
        }
        self.reply(Some(&id), &answer);
    }

    /// Stops the turn because of what the host has answered.
    fn interrupt(&mut self, backend: &mut dyn Backend) {
        self.interrupts += 1;
        let id = format!("agentglot-interrupt-{}", self.interrupts);
        let request = Request {
            id: Some(Str::trusted(&id)),
            subtype: Str::trusted("interrupt"),
            kind: ControlKind::Interrupt,
            permission: None,
        };
        backend.input(&Input {
            origin: Origin::default(),
            kind: InputKind::Request(&request),
            fields: &[],
        });
    }

    /// Keeps the rules that the host gives together with its leave, where a whole tool is allowed: the agent does not know them.
    fn learn_rules(&mut self, updates: Option<Raw<'_>>) {
        let is = |value: Raw<'_>, name: &str, word: &str| value.get(name).and_then(Raw::string).is_some_and(|text| text.is(word));
        let adds = |update: &Raw<'_>| is(*update, "type", "addRules") && is(*update, "behavior", "allow");
        for update in updates.into_iter().flat_map(Raw::elements).filter(adds) {
            for rule in update
                .get("rules")
                .into_iter()
                .flat_map(Raw::elements)
                .filter(|rule| rule.get("ruleContent").is_none())
            {
                self.allowed
                    .extend(rule.get("toolName").and_then(Raw::string).map(|name| name.as_escaped().to_owned()));
            }
        }
    }

    /// Takes all open questions back: the host need not answer any more.
    fn take_back(&mut self) {
        for asked in self.asked.drain() {
            if self.conduct.withdraws() {
                let id = Str::trusted(&asked.id);
                self.say(&Event::new(Origin::default(), Kind::Withdraw(Withdraw { id: Some(id) })));
            }
        }
    }

    /// Facts that the host changes.
    fn take_over(&mut self, request: &Request<'_>, input: &Input<'_>) {
        let text = |name: &str| {
            let field = input.fields.iter().find(|field| field.key.is(name));
            field.and_then(|field| field.value.string()).map(|text| text.unescape().into_owned())
        };
        match request.kind {
            ControlKind::SetModel => self.host.facts.model = text("model").unwrap_or_default(),
            ControlKind::SetMode => self.host.facts.permission_mode = text("mode").unwrap_or_default(),
            _ => {}
        }
    }

    fn event(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) {
        if let Kind::Session(session) = event.kind {
            self.introduced = true;
            if let Some(id) = event.origin.session {
                // The agent's own session is the one that the host knows.
                self.host.facts.session = id.unescape().into_owned();
            }
            if let Some(servers) = session.mcp_servers {
                servers.as_str().clone_into(&mut self.host.facts.mcp_servers);
            }
        }
        if self.over_limit(event, now, backend) {
            return;
        }
        match event.kind {
            Kind::Response(response) => {
                let Some(waited) = response.id.and_then(|id| self.requested.take(id.as_escaped())) else {
                    self.oddities.stray_replies += 1;
                    return;
                };
                if !self.same && response.ok {
                    // It is done; the host gets it in the words of the program that it knows.
                    return self.reply(Some(&waited.id), &waited.note);
                }
            }
            Kind::Request(request) => {
                let Some(id) = request.id.map(|id| id.as_escaped().to_owned()) else {
                    return;
                };
                let asks_leave = request.kind == ControlKind::CanUseTool;
                if self.gone || !self.conduct.can_ask() || (asks_leave && !self.host.answers_permissions) {
                    return self.decide(&id, request, backend);
                }
                let before = self.out.len();
                self.voice.event(event, &mut self.out);
                if self.out.len() == before {
                    // The host's dialect has no such question.
                    return refuse(&id, "the host has no answer to this", backend);
                }
                let asked = seen_by_host(&self.out[before..]);
                if asks_leave && self.allowed.contains(&asked.tool) {
                    // The host has said already what it thinks of it.
                    self.out.truncate(before);
                    return respond(&id, "{\"behavior\":\"allow\"}", backend);
                }
                return self.asked.add(id, asked, now, self.timers.permission);
            }
            Kind::Withdraw(withdraw) => {
                if let Some(id) = withdraw.id {
                    self.asked.take(id.as_escaped());
                }
            }
            Kind::Outcome(outcome) => {
                // A run that is refused ends before it begins; any other outcome belongs to a turn.
                let refused = outcome.is_error && !self.introduced && self.ended.outcome.is_none();
                if self.turn.is_none() && !refused {
                    self.oddities.extra_outcomes += 1;
                    return;
                }
                self.ended_with(outcome, now);
                let denials = std::mem::take(&mut self.denials);
                let said = outcome.denials.is_some_and(|list| list.elements().next().is_some());
                if !self.same && !said && !denials.is_empty() {
                    let list = format!("[{denials}]");
                    let whole = Outcome {
                        denials: Some(Raw::trusted(&list)),
                        ..*outcome
                    };
                    let event = Event {
                        kind: Kind::Outcome(&whole),
                        ..*event
                    };
                    return self.voice.event(&event, &mut self.out);
                }
            }
            Kind::Session(session) if session.opens_turn && self.turn.is_none() => {
                // The agent goes on by itself: a task in the background has come to its end.
                self.voice.settled();
                self.turn = Some(Turn::new(now, true));
            }
            Kind::Prompt(prompt) if prompt.source == PromptSource::Echo && !self.prompt.is_empty() && self.host.format.dialect == Dialect::Cursor => {
                let text = self.prompt.clone();
                let live = Prompt {
                    content: Content::Text(Str::trusted(&text)),
                    ..*prompt
                };
                let echoed = Event {
                    kind: Kind::Prompt(&live),
                    ..*event
                };
                return self.voice.event(&echoed, &mut self.out);
            }
            _ => {}
        }
        self.voice.event(event, &mut self.out);
    }

    /// Counts the rounds of the turn. The one over the limit is stopped, and nothing of it is said but its outcome.
    fn over_limit(&mut self, event: &Event<'_>, now: Instant, backend: &mut dyn Backend) -> bool {
        let (Some(limit), Some(turn), None) = (self.host.max_rounds, &mut self.turn, event.origin.parent) else {
            return false;
        };
        match event.kind {
            Kind::ToolResult(_) => turn.between = true,
            Kind::RoundStart(_) | Kind::Reply(_) | Kind::BlockStart(_) if turn.between => {
                turn.between = false;
                turn.rounds += 1;
                if turn.rounds > limit && !turn.cut {
                    turn.cut = true;
                    self.interrupt(backend);
                }
            }
            _ => {}
        }
        let cut = self.turn.is_some_and(|turn| turn.cut);
        if let (true, Kind::Outcome(outcome)) = (cut, event.kind) {
            let mut why = String::new();
            Str::escape(&format!("Reached maximum number of turns ({limit})"), &mut why);
            let limited = Outcome {
                error: Some(Str::trusted(&why)),
                usage: outcome.usage,
                duration_ms: outcome.duration_ms,
                duration_api_ms: outcome.duration_api_ms,
                ..Outcome::new(OutcomeKind::Limit(Limit::Turns))
            };
            self.voice.event(
                &Event {
                    kind: Kind::Outcome(&limited),
                    ..*event
                },
                &mut self.out,
            );
            self.ended_with(&limited, now);
        }
        cut && !matches!(event.kind, Kind::Response(_) | Kind::Withdraw(_))
    }

    fn ended_with(&mut self, outcome: &Outcome<'_>, now: Instant) {
        self.ended.outcome = Some(outcome.kind);
        self.ended.is_error = outcome.is_error;
        self.failure = outcome.is_error.then(|| {
            let said = outcome.error.or(outcome.text);
            said.map_or_else(|| "the turn failed".to_owned(), |text| text.unescape().into_owned())
        });
        if let Some(usage) = outcome.usage {
            let value = |count: Option<crate::adapters::event::Count<'_>>| count.map_or(0, |count| count.value);
            self.host.facts.tokens = (value(usage.input), value(usage.output));
        }
        self.prompts = self.prompts.saturating_sub(1);
        self.turn = (self.prompts > 0).then_some(Turn::new(now, false));
    }

    fn end_turn(&mut self, kind: OutcomeKind, why: &str, now: Instant) {
        let mut body = String::new();
        Str::escape(why, &mut body);
        let text = Str::trusted(&body);
        let outcome = Outcome {
            synthetic: true,
            error: Some(text),
            ..Outcome::new(kind)
        };
        let session = self.host.facts.session.clone();
        let origin = Origin {
            session: Some(Str::trusted(&session)).filter(|s| !s.is_empty()),
            ..Origin::default()
        };
        self.say(&Event::new(origin, Kind::Outcome(&outcome)));
        self.ended_with(&outcome, now);
    }

    /// Answers a question of the agent's by policy: the host cannot be asked.
    fn decide(&self, id: &str, request: &Request<'_>, backend: &mut dyn Backend) {
        let name = request
            .permission
            .map(|permission| permission.name.unescape().into_owned())
            .unwrap_or_default();
        match &self.on_ask {
            _ if self.host.allows_all && request.kind == ControlKind::CanUseTool => respond(id, "{\"behavior\":\"allow\"}", backend),
            OnAsk::Allow(names) if request.kind == ControlKind::CanUseTool && names.contains(&name) => {
                respond(id, "{\"behavior\":\"allow\"}", backend);
            }
            _ => refuse(id, "nobody can be asked for leave here", backend),
        }
    }

    /// Answers a request of the host's.
    fn reply(&mut self, id: Option<&str>, answer: &Answer) {
        let mut error = String::new();
        let (ok, body) = match answer {
            Answer::Done(body) => (true, body.as_deref()),
            Answer::Refused(why, code) => {
                error.push_str(if code.is_some() { "{\"message\":\"" } else { "\"" });
                Str::escape(why, &mut error);
                error.push('"');
                if let Some(code) = code {
                    error.push_str(&format!(",\"code\":\"{code}\"}}"));
                }
                (false, None)
            }
        };
        let response = Response {
            id: id.map(Str::trusted),
            ok,
            body: body.map(Raw::trusted),
            error: (!ok).then_some(Raw::trusted(&error)),
        };
        self.say(&Event::new(Origin::default(), Kind::Response(&response)));
    }

    /// Says something of our own.
    fn say(&mut self, event: &Event<'_>) {
        match &mut self.own {
            // The one that told the turn has to end it: it knows what is open, and which session this is.
            _ if matches!(event.kind, Kind::Outcome(_)) => self.voice.event(event, &mut self.out),
            Some(own) => own.directly(event, &mut self.out),
            None => self.voice.directly(event, &mut self.out),
        }
    }
}

/// What a question that was just written says of the tool and its arguments.
fn seen_by_host(line: &[u8]) -> Asked {
    let line = String::from_utf8_lossy(line);
    let Some(last) = line.trim_end().lines().last() else {
        return Asked::default();
    };
    let raw = Raw::trusted(last);
    let Some(request) = raw.get("request") else { return Asked::default() };
    // The RFC has the two one level deeper.
    let tool = request.get("tool");
    let name = request.get("tool_name").or_else(|| tool?.get("name")).and_then(Raw::string);
    let input = request.get("input").or_else(|| tool?.get("arguments"));
    Asked {
        tool: name.map(|name| name.as_escaped().to_owned()).unwrap_or_default(),
        input: input.map(|input| input.as_str().to_owned()).unwrap_or_default(),
        call: request
            .get("tool_use_id")
            .and_then(Raw::string)
            .map(|id| id.as_escaped().to_owned())
            .unwrap_or_default(),
    }
}

/// Whether a prompt has neither a text nor anything else.
fn says_nothing(prompt: &Prompt<'_>) -> bool {
    match prompt.content {
        Content::Text(text) => text.is_empty(),
        Content::Blocks(blocks) => blocks.is_empty(),
    }
}

/// Denies what the agent asks.
fn refuse(id: &str, why: &str, backend: &mut dyn Backend) {
    let mut message = String::new();
    Str::escape(why, &mut message);
    respond(id, &format!("{{\"behavior\":\"deny\",\"message\":\"{message}\"}}"), backend);
}

fn respond(id: &str, body: &str, backend: &mut dyn Backend) {
    let response = Response {
        id: Some(Str::trusted(id)),
        ok: true,
        body: Some(Raw::trusted(body)),
        error: None,
    };
    backend.input(&Input {
        origin: Origin::default(),
        kind: InputKind::Response(&response),
        fields: &[],
    });
}

#[cfg(test)]
mod tests;
