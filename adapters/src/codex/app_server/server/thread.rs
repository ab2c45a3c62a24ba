//! One thread: what is said to the program inside and to the host, and what each waits for.

mod changes;
mod told;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::MODE;
use super::facts::Facts;
use super::history::joining_id;
use super::policy::Policy;
use super::words::{self, Wrong};
use crate::codec::{Dialect, Format};
use crate::conduct::quoted;
use crate::event::{
    Content, ControlKind, Event, Kind, Limit, Origin, Outcome, OutcomeKind, Place, Prompt, PromptSource, Response, Session, StopKind,
};
use crate::json::{Raw, Shape, Str};
use crate::launch::{Launch, PermissionMode, Resume};
use crate::live::Speaker;
use crate::server::inside::{Inside, Part, Tools, speaker};
use crate::server::{Action, Actions, Wait};

/// See the module.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: String,
    /// The request that opens it, as long as it is not open.
    opening: Option<String>,
    launch: Launch,
    inside: Inside,
    /// The id under which whoever answers keeps it.
    pub(super) kept_as: String,
    /// Writes what the program inside says.
    to_host: Speaker,
    pub(super) policy: Policy,
    /// The commands that run without another question, as they are spelled.
    pub(super) granted: BTreeSet<String>,
    mode: PermissionMode,
    model: String,
    /// `[{value,displayName,description}]`, as the program inside says them.
    models: String,
    /// Facts that are told of it.
    facts: Facts,
    running: Option<Running>,
    /// Turns that wait until the one is over that the host does not want any more.
    waiting: VecDeque<Turn>,
    /// What a request has changed in the middle of a turn, for those behind it.
    later: Option<Settings>,
    /// What the program inside was asked, by our ids.
    asked: BTreeMap<String, Asked>,
    /// How many turns have begun since it was opened, or has gone back.
    turns: u64,
    /// It makes conversations shorter when it is told to.
    compacts: bool,
    /// Where it has gone back to, and what waits for that.
    back: Option<changes::Back>,
}

/// A turn that has not begun.
#[derive(Debug)]
struct Turn {
    id: String,
    /// What the host says; nothing: the conversation is made shorter.
    parts: Vec<Part>,
    settings: Settings,
}

/// What a turn begins with.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    policy: Policy,
    model: Option<String>,
    schema: Option<String>,
}

/// The turn that runs.
#[derive(Debug)]
struct Running {
    id: String,
    /// The host does not want it any more.
    cancelled: bool,
    /// What the host has said to it since, and the program inside has not heard.
    more: VecDeque<Vec<Part>>,
    /// How often it has heard more.
    joined: u64,
    /// It makes the conversation shorter, and hears nothing else.
    shortens: bool,
}

/// What the program inside was asked.
#[derive(Debug)]
enum Asked {
    Handshake,
    Stop,
    Mode(PermissionMode),
    Model(String),
    /// A name, for this request of the host's: it is kept when the answer comes.
    Name(String, String),
}

impl Thread {
    pub(super) fn new(id: &str, opening: &str, launch: Launch, policy: Policy, facts: Facts) -> Self {
        let dialect = launch.format.dialect;
        Self {
            id: id.to_owned(),
            opening: Some(opening.to_owned()),
            inside: Inside::new(id, dialect),
            kept_as: id.to_owned(),
            to_host: speaker(dialect, format(), Tools::Native),
            mode: policy.mode(),
            policy,
            granted: BTreeSet::new(),
            model: launch.model.clone().unwrap_or_default(),
            models: String::new(),
            facts,
            running: None,
            waiting: VecDeque::new(),
            later: None,
            asked: BTreeMap::new(),
            turns: 0,
            compacts: false,
            back: None,
            launch,
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.opening.is_none()
    }

    pub(super) fn waits(&self) -> Option<Wait> {
        match (&self.opening, &self.running) {
            (Some(_), _) => Some(Wait::Begin),
            _ if self.goes_back() => Some(Wait::Begin),
            (None, Some(running)) if running.cancelled => Some(Wait::Stop),
            _ => None,
        }
    }

    /// Whether a request of the host's has no answer yet, or a turn no end.
    pub(super) fn is_busy(&self) -> bool {
        self.opening.is_some() || self.running.is_some() || self.goes_back()
    }

    /// Starts its program and greets it.
    pub(super) fn begin(&mut self, actions: &mut Actions) {
        self.launch.permission = Some(self.mode);
        actions.todo.push(Action::Open(self.id.clone(), Box::new(self.launch.clone())));
        self.request("initialize", ControlKind::Initialize, None, Asked::Handshake, actions);
    }

    fn request(&mut self, subtype: &str, kind: ControlKind, member: Option<(&str, &str)>, asked: Asked, actions: &mut Actions) {
        let id = self.inside.request(subtype, kind, member, actions);
        self.asked.insert(id, asked);
    }

    pub(super) fn answer(&mut self, response: &Response<'_>, actions: &mut Actions) {
        self.inside.answer(response, actions);
    }

    /// Shows what is said, as part of the turn that runs.
    pub(super) fn show(&mut self, event: &Event<'_>, now: i64, actions: &mut Actions) {
        let turn = self.running.as_ref().map(|running| running.id.clone());
        let event = Event {
            origin: Origin {
                // The host knows both by these names, whatever the program inside calls them.
                session: Some(Str::trusted(&self.id)),
                turn: turn.as_deref().map(Str::trusted),
                ..event.origin
            },
            ..*event
        };
        self.to_host.now(now);
        self.to_host.event(&event, &mut actions.out);
    }

    /// The settings of a turn: those of the one before it, with what its request changes for itself and those behind it.
    pub(super) fn settings(&self, params: Raw<'_>) -> Result<Settings, Wrong> {
        let before = self.waiting.back().map(|turn| &turn.settings).or(self.later.as_ref());
        let mut settings = match before {
            Some(settings) => settings.clone(),
            None => Settings {
                policy: self.policy.clone(),
                model: None,
                schema: None,
            },
        };
        settings.policy.change(params)?;
        settings.model = words::text(params, "model")?.or(settings.model);
        if let Some(cwd) = words::text(params, "cwd")?.filter(|cwd| Some(cwd) != self.launch.cwd.as_ref()) {
            return Err(Wrong::params(&format!(
                "cwd: a thread keeps the folder in which it began, and {cwd} is another"
            )));
        }
        let schema = params.get("outputSchema").filter(|schema| !schema.is_null());
        if schema.is_some_and(|schema| schema.shape() != Some(Shape::Object)) {
            return Err(Wrong::params("outputSchema: an object is expected"));
        }
        settings.schema = schema.map(|schema| schema.as_str().to_owned());
        Ok(settings)
    }

    /// From here on they count.
    fn apply(&mut self, settings: Settings, actions: &mut Actions) {
        let Settings { policy, model, schema } = settings;
        self.policy = policy;
        if schema != self.launch.json_schema {
            if let Some(model) = &model {
                self.launch.model = Some(model.clone());
            }
            self.reopen(schema, actions);
        }
        let (mode, word) = (self.policy.mode(), self.policy.mode().name(self.inside.dialect()));
        // What runs without a question only from the beginning on is allowed question by question.
        if let Some(word) = word.filter(|_| mode != self.mode && mode != PermissionMode::Bypass) {
            self.request(
                "set_permission_mode",
                ControlKind::SetMode,
                Some(("mode", word)),
                Asked::Mode(mode),
                actions,
            );
        }
        if let Some(model) = model.filter(|model| *model != self.model) {
            self.request(
                "set_model",
                ControlKind::SetModel,
                Some(("model", &model)),
                Asked::Model(model.clone()),
                actions,
            );
        }
    }

    /// The program inside is told at its start which schema its answers have: another one needs another process.
    fn reopen(&mut self, schema: Option<String>, actions: &mut Actions) {
        self.launch.json_schema = schema;
        if self.turns > 0 || self.launch.fork {
            self.launch.session_id = None;
            self.launch.fork = false;
            self.launch.resume = Resume::Session(self.kept_as.clone());
        }
        if self.turns > 0 {
            // What was said since is part of it.
            self.launch.resume_at = None;
        }
        self.begin_anew(actions);
    }

    /// Another process goes on with it.
    fn begin_anew(&mut self, actions: &mut Actions) {
        actions.todo.push(Action::Close(self.id.clone()));
        self.name_all(actions);
        self.asked.clear();
        self.begin(actions);
    }

    /// A turn begins. What is said while one runs is said to that one; what it changes counts from the next one on.
    pub(super) fn start(&mut self, request: &str, id: String, parts: Vec<Part>, settings: Settings, now: i64, actions: &mut Actions) {
        let hears = |running: &&mut Running| !running.cancelled && !running.shortens;
        if let Some(running) = self.running.as_mut().filter(hears) {
            words::answer(request, &format!("{{\"turn\":{}}}", turn_object(&running.id)), actions);
            running.more.push_back(parts);
            self.later = Some(settings);
            return;
        }
        words::answer(request, &format!("{{\"turn\":{}}}", turn_object(&id)), actions);
        self.waiting.push_back(Turn { id, parts, settings });
        self.next(now, actions);
    }

    fn next(&mut self, now: i64, actions: &mut Actions) {
        if self.running.is_some() || self.goes_back() {
            return;
        }
        let Some(Turn { id, parts, settings }) = self.waiting.pop_front() else {
            return;
        };
        self.later = None;
        self.apply(settings, actions);
        self.turns += 1;
        self.running = Some(Running::new(id.clone()));
        self.facts.updated = now / 1000;
        if parts.is_empty() {
            self.running.iter_mut().for_each(|running| running.shortens = true);
            return self.shorten(&id, now, actions);
        }
        if let (true, Some(Part::Text(text))) = (self.facts.preview.is_empty(), parts.first()) {
            self.facts.preview = Str::trusted(text).unescape().into_owned();
        }
        self.hear(&id, &parts, now, actions);
    }

    /// What the host says is shown to it, and told the program inside: what a turn begins with under the turn's id, what joins it under one of its own.
    fn hear(&mut self, id: &str, parts: &[Part], now: i64, actions: &mut Actions) {
        Part::with(parts, |content: Content<'_>| {
            let prompt = Prompt {
                content,
                source: PromptSource::Host,
            };
            self.show(&event(Kind::Prompt(&prompt)), now, actions);
        });
        // The program has no commands in texts.
        let verbatim = matches!(parts.first(), Some(Part::Text(text)) if text.trim_start().starts_with('/'));
        self.inside.prompt_as(Some(id), parts, verbatim, actions);
    }

    /// The host says more to the turn that runs. The program inside hears it when it has answered what it was asked before.
    pub(super) fn steer(&mut self, expected: &str, parts: Vec<Part>) -> Result<String, Wrong> {
        let running = self.named(expected, "steer")?;
        if running.shortens {
            return Err(Wrong::request("cannot steer a compact turn"));
        }
        running.more.push_back(parts);
        Ok(running.id.clone())
    }

    /// Stops the turn that runs.
    pub(super) fn interrupt(&mut self, expected: &str, actions: &mut Actions) -> Result<(), Wrong> {
        let running = self.named(expected, "interrupt")?;
        running.more.clear();
        running.cancelled = true;
        self.request("interrupt", ControlKind::Interrupt, None, Asked::Stop, actions);
        Ok(())
    }

    fn named(&mut self, expected: &str, what: &str) -> Result<&mut Running, Wrong> {
        let running = self.running.as_mut().filter(|running| !running.cancelled);
        let running = running.ok_or_else(|| Wrong::request(format!("no active turn to {what}")))?;
        if running.id != expected {
            return Err(Wrong::request(format!("expected active turn id `{expected}` but found `{}`", running.id)));
        }
        Ok(running)
    }

    /// What the program inside says of its session when it begins a turn of its own.
    pub(super) fn session(&mut self, event: &Event<'_>, session: &Session<'_>, new_id: fn() -> String, now: i64, actions: &mut Actions) {
        if let Some(model) = session.model {
            self.model = model.unescape().into_owned();
        }
        let id = event.origin.session.map(Str::unescape);
        if let Some(id) = id.filter(|id| !id.is_empty() && *id != self.kept_as) {
            self.kept_as = id.into_owned();
            actions.todo.push(Action::Keep {
                session: self.id.clone(),
                id: self.kept_as.clone(),
            });
        }
        if session.opens_turn && self.running.is_none() {
            // Nobody has asked for it: what ran in the background has ended.
            self.turns += 1;
            self.running = Some(Running::new(new_id()));
        }
        // The turn has begun with its prompt.
        let session = Session {
            opens_turn: false,
            ..*session
        };
        let event = Event {
            kind: Kind::Session(&session),
            ..*event
        };
        self.show(&event, now, actions);
    }

    /// The program inside has answered.
    pub(super) fn over(&mut self, told: &Event<'_>, outcome: &Outcome<'_>, now: i64, actions: &mut Actions) {
        let Some(running) = &mut self.running else { return };
        let cut = Outcome {
            kind: OutcomeKind::Limit(Limit::Tokens),
            is_error: true,
            error: Some(Str::trusted("Incomplete response returned, reason: max_output_tokens")),
            ..*outcome
        };
        // An answer that breaks off is none.
        let is_cut = !outcome.is_error && outcome.stop.is_some_and(|stop| stop.kind == StopKind::Length);
        let outcome = if is_cut { &cut } else { outcome };
        if outcome.is_error || running.cancelled {
            running.more.clear();
        } else if let Some(parts) = running.more.pop_front() {
            // An answer is not the end: this is answered next, in the same turn.
            running.joined += 1;
            let id = joining_id(&running.id, running.joined);
            return self.hear(&id, &parts, now, actions);
        }
        self.end(told, *outcome, now, actions);
        self.next(now, actions);
    }

    /// The turn that runs ends.
    fn end(&mut self, told: &Event<'_>, mut outcome: Outcome<'_>, now: i64, actions: &mut Actions) {
        if self.running.as_ref().is_some_and(|running| running.cancelled) {
            // However the program calls that.
            outcome.kind = OutcomeKind::Cancelled;
            outcome.error = None;
        }
        let told = Event {
            kind: Kind::Outcome(&outcome),
            ..*told
        };
        self.show(&told, now, actions);
        self.running = None;
    }

    /// The program inside answers a request of ours. An error is why it does not begin.
    pub(super) fn answered(&mut self, response: &Response<'_>, now: i64, actions: &mut Actions) -> Result<(), String> {
        let asked = response.id.and_then(|id| self.asked.remove(&*id.unescape()));
        let said = |error: Raw<'_>| {
            error
                .string()
                .map_or_else(|| error.as_str().to_owned(), |text| text.unescape().into_owned())
        };
        let why = (!response.ok).then(|| response.error.map_or_else(|| "it was refused".to_owned(), said));
        match (asked, why) {
            (Some(Asked::Handshake), Some(why)) => return Err(why),
            (Some(Asked::Handshake), None) => self.opened(response.body.unwrap_or(Raw::NULL), now, actions),
            (Some(Asked::Mode(mode)), None) => self.mode = mode,
            (Some(Asked::Model(model)), None) => {
                self.launch.model = Some(model.clone());
                self.model = model;
            }
            (Some(Asked::Name(request, name)), why) => {
                self.keep_name(request, name, actions);
                actions.notes.extend(why.map(|why| format!("thread {}: {why}", self.id)));
            }
            (Some(Asked::Mode(_) | Asked::Model(_)), Some(why)) => actions.notes.push(format!("thread {}: {why}", self.id)),
            (Some(Asked::Stop) | None, _) => {}
        }
        Ok(())
    }

    /// The program inside is there.
    fn opened(&mut self, greeting: Raw<'_>, now: i64, actions: &mut Actions) {
        greeting.get("models").map_or("", Raw::as_str).clone_into(&mut self.models);
        if self.model.is_empty() {
            let first = Raw::trusted(&self.models).elements().next();
            let first = first.and_then(|model| model.get("value")?.string());
            self.model = first.map(|model| model.unescape().into_owned()).unwrap_or_default();
        }
        self.compacts = changes::has_command(greeting, changes::COMPACT);
        let Some(request) = self.opening.take() else {
            self.is_back(now, actions);
            return self.next(now, actions);
        };
        words::answer(&request, &self.opening_answer(&self.facts.turns), actions);
        let params = format!("{{\"thread\":{}}}", self.object_with(""));
        words::notify("thread/started", &params, now, actions);
        self.next(now, actions);
    }

    pub(super) fn cwd(&self) -> &str {
        self.launch.cwd.as_deref().unwrap_or("/")
    }

    /// The turn that runs.
    pub(super) fn turn(&self) -> Option<&str> {
        self.running.as_ref().map(|running| running.id.as_str())
    }

    /// The turn that runs is stopped by an answer of the host's.
    pub(super) fn stopped(&mut self) {
        if let Some(running) = &mut self.running {
            running.more.clear();
            running.cancelled = true;
        }
    }

    /// Whose words are said inside.
    pub(super) const fn inside(&self) -> Dialect {
        self.inside.dialect()
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// It is over, for this reason: a request that waits is answered, and each turn has its end.
    pub(super) fn leave(&mut self, why: &str, now: i64, actions: &mut Actions) {
        if let Some(request) = self.opening.take() {
            return words::refuse(&request, &Wrong::internal(why), actions);
        }
        self.leave_changes(why, actions);
        let error = quoted(why);
        let outcome = Outcome {
            error: Raw::trusted(&error).string(),
            is_error: true,
            ..Outcome::new(OutcomeKind::Failed(Place::Backend))
        };
        loop {
            if self.running.is_none() {
                let Some(turn) = self.waiting.pop_front() else { break };
                self.running = Some(Running::new(turn.id));
            }
            self.end(&event(Kind::Outcome(&outcome)), outcome, now, actions);
        }
    }
}

impl Running {
    const fn new(id: String) -> Self {
        Self {
            id,
            cancelled: false,
            more: VecDeque::new(),
            joined: 0,
            shortens: false,
        }
    }
}

/// How threads are written.
pub(super) fn format() -> Format {
    Format {
        dialect: Dialect::Codex,
        mode: MODE,
    }
}

const fn event(kind: Kind<'_>) -> Event<'_> {
    Event {
        origin: Origin {
            session: None,
            id: None,
            parent: None,
            agent: None,
            turn: None,
            time: None,
        },
        kind,
        fields: &[],
    }
}

/// A turn that has just been taken.
fn turn_object(id: &str) -> String {
    format!(
        "{{\"id\":\"{id}\",\"items\":[],\"itemsView\":\"notLoaded\",\"status\":\"inProgress\",\"error\":null,\"startedAt\":null,\"completedAt\":null,\"durationMs\":null}}"
    )
}
