//! One session: what is said to the program inside and to the editor, and what each waits for.

use std::collections::{BTreeMap, VecDeque};

use super::super::turn;
use super::How;
use super::answer::refuse_all;
use super::words::{self, Wrong};
use crate::codec::Dialect;
use crate::conduct::quoted;
use crate::event::{ControlKind, Event, Kind, Limit, Origin, Outcome, OutcomeKind, Place, Reply, Response, Scope, StopKind};
use crate::json::{Out, Raw, Str};
use crate::launch::{Launch, PermissionMode, Resume};
use crate::live::Speaker;
use crate::server::inside::{Inside, Part, Tools, speaker};
use crate::server::{Action, Actions, Wait};

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    /// What whoever answers calls it.
    kept_as: String,
    how: How,
    /// The request that opens it, as long as it is not open.
    opening: Option<String>,
    launch: Launch,
    inside: Inside,
    /// Writes what that program says.
    to_editor: Speaker,
    /// The prompt that runs.
    running: Option<String>,
    /// The editor does not want it any more.
    cancelled: bool,
    /// The model's API has refused what this turn said last, for want of credentials.
    unauthorized: bool,
    /// Those that come after it.
    waiting: VecDeque<(String, Vec<Part>)>,
    /// What the program was asked, by our ids.
    asked: BTreeMap<String, Asked>,
    mode: PermissionMode,
    bypass: bool,
    model: String,
    /// `[{value,displayName,description}]`, as the program says them.
    models: String,
}

/// What the program was asked.
#[derive(Debug)]
enum Asked {
    Handshake,
    Stop,
    /// Another mode: the editor's request, and whether it was one for an option.
    Mode(String, PermissionMode, bool),
    Model(String, String),
}

impl Session {
    pub(super) fn new(name: String, how: How, request: &str, launch: Launch) -> Self {
        let inside = launch.format.dialect;
        Self {
            kept_as: name.clone(),
            inside: Inside::new(&name, inside),
            to_editor: speaker(inside, Dialect::Acp.into(), Tools::AsTheyAre),
            name,
            how,
            opening: Some(request.to_owned()),
            running: None,
            cancelled: false,
            unauthorized: false,
            waiting: VecDeque::new(),
            asked: BTreeMap::new(),
            mode: launch.permission.unwrap_or(PermissionMode::Ask),
            bypass: launch.permission == Some(PermissionMode::Bypass),
            model: launch.model.clone().unwrap_or_default(),
            models: String::new(),
            launch,
        }
    }

    /// Whose words are said inside.
    pub(super) const fn inside(&self) -> Dialect {
        self.inside.dialect()
    }

    pub(super) const fn is_open(&self) -> bool {
        self.opening.is_none()
    }

    /// Whether whoever answers calls it so.
    pub(super) fn is_kept_as(&self, id: &str) -> bool {
        self.kept_as == id
    }

    /// Goes on with what is kept under this id.
    pub(super) fn goes_on(&mut self, id: &str, actions: &mut Actions) {
        id.clone_into(&mut self.kept_as);
        self.launch.resume = Resume::Session(id.to_owned());
        self.begin(actions);
    }

    /// The request that would have opened it.
    pub(super) fn opening(self) -> Option<String> {
        self.opening
    }

    pub(super) fn waits(&self) -> Option<Wait> {
        match (&self.opening, self.cancelled) {
            (Some(_), _) => Some(Wait::Begin),
            (None, true) => Some(Wait::Stop),
            (None, false) => None,
        }
    }

    /// Whether a request of the editor's has no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        let asks = |asked: &Asked| matches!(asked, Asked::Mode(..) | Asked::Model(..));
        self.opening.is_some() || self.running.is_some() || self.asked.values().any(asks)
    }

    /// Starts its program and greets it.
    pub(super) fn begin(&mut self, actions: &mut Actions) {
        // What was said before is over, also where it broke off: what comes now is not held against it.
        if self.how == How::Load {
            self.to_editor.finish(&mut actions.out);
        }
        self.to_editor = speaker(self.inside(), Dialect::Acp.into(), Tools::AsTheyAre);
        actions.todo.push(Action::Open(self.name.clone(), Box::new(self.launch.clone())));
        self.request("initialize", ControlKind::Initialize, None, Asked::Handshake, actions);
    }

    fn request(&mut self, subtype: &str, kind: ControlKind, member: Option<(&str, &str)>, asked: Asked, actions: &mut Actions) {
        let id = self.inside.request(subtype, kind, member, actions);
        self.asked.insert(id, asked);
    }

    pub(super) fn answer(&mut self, response: &Response<'_>, actions: &mut Actions) {
        self.inside.answer(response, actions);
    }

    /// Shows what is said.
    pub(super) fn show(&mut self, event: &Event<'_>, actions: &mut Actions) {
        // The editor knows the session by this name, whatever the program inside calls it.
        let event = Event {
            origin: Origin {
                session: Some(Str::trusted(&self.name)),
                ..event.origin
            },
            ..*event
        };
        self.to_editor.event(&event, &mut actions.out);
    }

    /// What the editor knows a call as.
    pub(super) fn called<'a>(&'a self, call: Str<'a>) -> Str<'a> {
        self.to_editor.called(call.as_escaped()).map_or(call, Str::trusted)
    }

    pub(super) fn recall(&mut self, event: &Event<'_>, actions: &mut Actions) {
        if self.how == How::Load && !matches!(event.kind, Kind::Request(_) | Kind::Response(_) | Kind::Withdraw(_)) {
            self.show(event, actions);
        }
    }

    /// A prompt. One after the other is told the program, so that stopping a turn stops what waits behind it, too.
    pub(super) fn prompt(&mut self, id: &str, parts: Vec<Part>, actions: &mut Actions) {
        self.waiting.push_back((id.to_owned(), parts));
        self.next(actions);
    }

    fn next(&mut self, actions: &mut Actions) {
        if self.running.is_some() {
            return;
        }
        let Some((id, parts)) = self.waiting.pop_front() else { return };
        self.running = Some(id);
        self.inside.prompt(&parts, actions);
    }

    /// Stops the turn that runs, and all that waits behind it.
    pub(super) fn cancel(&mut self, actions: &mut Actions) {
        for (id, _) in self.waiting.drain(..) {
            words::answer(&id, CANCELLED, actions);
        }
        self.interrupt(actions);
    }

    /// Stops this prompt alone. Returns whether it is one of this session's.
    pub(super) fn cancel_prompt(&mut self, id: &str, actions: &mut Actions) -> bool {
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) {
            self.waiting.remove(at);
            words::answer(id, CANCELLED, actions);
            return true;
        }
        let runs = self.running.as_deref() == Some(id);
        if runs {
            self.interrupt(actions);
        }
        runs
    }

    fn interrupt(&mut self, actions: &mut Actions) {
        if self.running.is_some() && !std::mem::replace(&mut self.cancelled, true) {
            self.request("interrupt", ControlKind::Interrupt, None, Asked::Stop, actions);
        }
    }

    /// A reply of the turn.
    pub(super) fn reply(&mut self, reply: &Reply<'_>) {
        self.unauthorized = turn::wants_credentials(reply);
    }

    /// A turn is over.
    pub(super) fn over(&mut self, outcome: &Outcome<'_>, actions: &mut Actions) {
        let unauthorized = std::mem::take(&mut self.unauthorized);
        let Some(id) = self.running.take() else { return };
        let mut outcome = *outcome;
        if std::mem::take(&mut self.cancelled) {
            // However the program calls that.
            outcome.kind = OutcomeKind::Cancelled;
            outcome.error = None;
        } else if let Some(stop) = outcome.stop {
            // Some programs call a refusal a failure, and an answer that was cut off a success.
            match (stop.kind, outcome.kind) {
                (StopKind::Refusal, OutcomeKind::Success | OutcomeKind::Failed(Place::Model)) => outcome.kind = OutcomeKind::Refused,
                (StopKind::Length, OutcomeKind::Success) => outcome.kind = OutcomeKind::Limit(Limit::Tokens),
                _ => {}
            }
        }
        let usage = outcome.usage.filter(|usage| usage.scope == Scope::Turn);
        let mut out = Out::new(None);
        turn::ended(&id, &outcome, usage.as_ref(), unauthorized, &mut out);
        actions.out.extend_from_slice(out.written());
        self.next(actions);
    }

    /// What a program says of its session when a turn begins: it may have changed its mode.
    pub(super) fn learn(&mut self, facts: &crate::event::Session<'_>, id: Option<Str<'_>>, actions: &mut Actions) {
        if let Some(id) = id.map(Str::unescape).filter(|id| !id.is_empty() && *id != self.kept_as) {
            self.kept_as = id.into_owned();
            actions.todo.push(Action::Keep {
                session: self.name.clone(),
                id: self.kept_as.clone(),
            });
        }
        if let Some(model) = facts.model {
            self.model = model.unescape().into_owned();
        }
        let mode = facts
            .permission_mode
            .and_then(|mode| PermissionMode::from_name(self.inside(), &mode.unescape()));
        if let Some(mode) = mode.filter(|mode| *mode != self.mode) {
            self.changes_to(mode, actions);
        }
    }

    fn changes_to(&mut self, mode: PermissionMode, actions: &mut Actions) {
        self.mode = mode;
        if let Some((_, name, ..)) = words::modes(true).find(|(known, ..)| *known == mode) {
            let update = format!("\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"{name}\"");
            words::update(&self.name, &update, actions);
        }
    }

    pub(super) fn set_mode(&mut self, id: &str, name: &str, option: bool, actions: &mut Actions) -> Result<(), Wrong> {
        let known = words::modes(self.bypass).find(|(_, known, ..)| *known == name);
        let Some((mode, ..)) = known else {
            return Err(Wrong::params(&format!("there is no mode {name:?}")));
        };
        let word = mode.name(self.inside()).unwrap_or(name);
        let asked = Asked::Mode(id.to_owned(), mode, option);
        self.request("set_permission_mode", ControlKind::SetMode, Some(("mode", word)), asked, actions);
        Ok(())
    }

    pub(super) fn set_model(&mut self, id: &str, name: &str, actions: &mut Actions) -> Result<(), Wrong> {
        let known = || Raw::trusted(&self.models).elements().filter_map(|model| model.get("value")?.string());
        if name != self.model && !known().any(|known| known.is(name)) {
            return Err(Wrong::params(&format!("there is no model {name:?}")));
        }
        let asked = Asked::Model(id.to_owned(), name.to_owned());
        self.request("set_model", ControlKind::SetModel, Some(("model", name)), asked, actions);
        Ok(())
    }

    /// The program answers a request of ours. An error is why it does not begin.
    pub(super) fn answered(&mut self, response: &Response<'_>, actions: &mut Actions) -> Result<(), String> {
        let asked = response.id.and_then(|id| self.asked.remove(&*id.unescape()));
        let why = response.error.map(|error| {
            error
                .string()
                .map_or_else(|| error.as_str().to_owned(), |text| text.unescape().into_owned())
        });
        let why = (!response.ok).then(|| why.unwrap_or_else(|| "it was refused".to_owned()));
        match (asked, why) {
            (Some(Asked::Handshake), None) => self.opened(response.body.unwrap_or(Raw::NULL), actions),
            (Some(Asked::Handshake), Some(why)) => return Err(why),
            (Some(Asked::Mode(id, ..) | Asked::Model(id, _)), Some(why)) => refuse_all([id], &why, actions),
            (Some(Asked::Mode(id, mode, option)), None) => {
                self.mode = mode;
                let result = if option { format!("{{{}}}", self.options()) } else { "{}".to_owned() };
                words::answer(&id, &result, actions);
            }
            (Some(Asked::Model(id, model)), None) => {
                self.model = model;
                words::answer(&id, &format!("{{{}}}", self.options()), actions);
            }
            (Some(Asked::Stop) | None, _) => {}
        }
        Ok(())
    }

    /// The program is there.
    fn opened(&mut self, greeting: Raw<'_>, actions: &mut Actions) {
        let Some(id) = self.opening.take() else { return };
        greeting.get("models").map_or("", Raw::as_str).clone_into(&mut self.models);
        if self.model.is_empty() {
            let first = Raw::trusted(&self.models)
                .elements()
                .next()
                .and_then(|model| model.get("value")?.string());
            self.model = first.map(|model| model.unescape().into_owned()).unwrap_or_default();
        }
        let mut result = String::from("{");
        if self.how == How::New {
            words::member("sessionId", &self.name, &mut result);
            result.push(',');
        }
        result.push_str("\"modes\":{\"currentModeId\":");
        result.push_str(&quoted(self.mode_name()));
        result.push_str(",\"availableModes\":[");
        for (n, (_, name, title, about)) in words::modes(self.bypass).enumerate() {
            result.push_str(if n > 0 { ",{" } else { "{" });
            words::member("id", name, &mut result);
            result.push(',');
            words::member("name", title, &mut result);
            result.push(',');
            words::member("description", about, &mut result);
            result.push('}');
        }
        result.push_str("]},");
        result.push_str(&self.options());
        result.push('}');
        words::answer(&id, &result, actions);
        self.commands(greeting, actions);
    }

    fn mode_name(&self) -> &'static str {
        words::modes(true)
            .find(|(mode, ..)| *mode == self.mode)
            .map_or("default", |(_, name, ..)| name)
    }

    /// The member with what can be set: the mode, and the model where there is a choice.
    fn options(&self) -> String {
        let mut text =
            String::from("\"configOptions\":[{\"id\":\"mode\",\"name\":\"Mode\",\"category\":\"mode\",\"type\":\"select\",\"currentValue\":");
        text.push_str(&quoted(self.mode_name()));
        text.push_str(",\"options\":[");
        for (n, (_, name, title, about)) in words::modes(self.bypass).enumerate() {
            option(n, name, title, Some(about), &mut text);
        }
        text.push_str("]}");
        let models: Vec<(String, String, Option<String>)> = Raw::trusted(&self.models)
            .elements()
            .filter_map(|model| {
                let said = |name: &str| Some(model.get(name)?.string()?.unescape().into_owned());
                let value = said("value")?;
                Some((value.clone(), said("displayName").unwrap_or(value), said("description")))
            })
            .collect();
        if !models.is_empty() {
            text.push_str(",{\"id\":\"model\",\"name\":\"Model\",\"category\":\"model\",\"type\":\"select\",\"currentValue\":");
            text.push_str(&quoted(&self.model));
            text.push_str(",\"options\":[");
            let mut count = 0;
            if !models.iter().any(|(value, ..)| *value == self.model) {
                option(count, &self.model, &self.model, None, &mut text);
                count += 1;
            }
            for (value, name, about) in &models {
                option(count, value, name, about.as_deref(), &mut text);
                count += 1;
            }
            text.push_str("]}");
        }
        text.push(']');
        text
    }

    /// What can be typed behind a slash.
    fn commands(&self, greeting: Raw<'_>, actions: &mut Actions) {
        let mut list = String::new();
        for command in greeting.get("commands").into_iter().flat_map(Raw::elements) {
            let said = |name: &str| command.get(name).and_then(Raw::string);
            let Some(name) = said("name") else { continue };
            list.push_str(if list.is_empty() { "{\"name\":\"" } else { ",{\"name\":\"" });
            list.push_str(name.as_escaped());
            list.push_str("\",\"description\":\"");
            list.push_str(said("description").unwrap_or_default().as_escaped());
            list.push('"');
            if let Some(hint) = said("argumentHint").filter(|hint| !hint.is_empty()) {
                list.push_str(",\"input\":{\"hint\":\"");
                list.push_str(hint.as_escaped());
                list.push_str("\"}");
            }
            list.push('}');
        }
        if !list.is_empty() {
            let update = format!("\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[{list}]");
            words::update(&self.name, &update, actions);
        }
    }

    /// It is over, for this reason: every request that waits is answered.
    pub(super) fn leave(&mut self, why: &str, actions: &mut Actions) {
        let cancelled = std::mem::take(&mut self.cancelled);
        match self.running.take() {
            Some(id) if cancelled => words::answer(&id, CANCELLED, actions),
            running => refuse_all(running, why, actions),
        }
        let asked = std::mem::take(&mut self.asked).into_values();
        let asked = asked.filter_map(|asked| match asked {
            Asked::Mode(id, ..) | Asked::Model(id, _) => Some(id),
            Asked::Handshake | Asked::Stop => None,
        });
        let waiting = self.waiting.drain(..).map(|(id, _)| id);
        refuse_all(self.opening.take().into_iter().chain(waiting).chain(asked), why, actions);
    }
}

const CANCELLED: &str = "{\"stopReason\":\"cancelled\"}";

/// Writes one of the values that an option may have.
fn option(n: usize, value: &str, name: &str, about: Option<&str>, into: &mut String) {
    into.push_str(if n > 0 { ",{" } else { "{" });
    words::member("value", value, into);
    into.push(',');
    words::member("name", name, into);
    if let Some(about) = about {
        into.push(',');
        words::member("description", about, into);
    }
    into.push('}');
}
