//! Another mode, another model: what sets them, and what comes to the same.

use super::messages::{self, Dir, tell};
use super::{Asked, Conversation, Set, Stage, rpc};
use crate::acp::facts::Change;
use crate::client::Exchange;
use crate::event::{ControlKind, Fields, Request};
use crate::json::{Raw, Str};
use crate::launch::PermissionMode;

impl Conversation {
    /// The host wants another mode or another model.
    pub(super) fn change(&mut self, request: &Request<'_>, fields: Fields<'_>, exchange: &mut Exchange) -> bool {
        let is_mode = request.kind == ControlKind::SetMode;
        let word = fields.iter().find(|field| field.key.is(if is_mode { "mode" } else { "model" }));
        let word = word.and_then(|field| field.value.string()).map(Str::unescape);
        let (Some(word), Some(id)) = (word, request.id) else { return false };
        let mode = PermissionMode::from_name(self.launch.format.dialect, &word).filter(|_| is_mode);
        if self.stage != Stage::Open {
            // The session begins with it.
            match mode {
                Some(mode) => {
                    self.launch.permission = Some(mode);
                    self.mode = mode;
                }
                None if !is_mode => self.launch.model = Some(word.into_owned()),
                None => {}
            }
            return false;
        }
        let (method, params, change) = match mode {
            Some(mode) => match self.mode_for(mode) {
                Ok(Some(set)) => set,
                Ok(None) => {
                    self.mode = mode;
                    return !self.modes.is_empty() && self.is_so(id, exchange);
                }
                Err(why) => return refused(id, &why, exchange),
            },
            None if !is_mode && !self.models.is_empty() => self.set_model(&word),
            None if is_mode => return false,
            None => return refused(id, "the agent gives no choice of models", exchange),
        };
        // The session knows it by the id that the host gave it.
        let id = format!("\"{}\"", id.as_escaped());
        tell(Dir::Ours, &rpc::request(&id, method, &params), exchange);
        self.ask(method, &params, Asked::Host(id, change, mode), exchange);
        true
    }

    /// What sets this mode; nothing if what the agent does now comes to the same because its questions are answered for it.
    pub(super) fn mode_for(&self, mode: PermissionMode) -> Result<Option<Set>, String> {
        use PermissionMode::{AcceptEdits, Ask, Bypass, DontAsk};
        if self.modes.means(mode) {
            return Ok(None);
        }
        let asks = || self.modes.of_mode(Ask).filter(|_| matches!(mode, Ask | AcceptEdits | Bypass | DontAsk));
        match self.modes.of_mode(mode).or_else(asks) {
            Some(word) if self.modes.is(word) => Ok(None),
            Some(word) => {
                let (method, params) = self.modes.set(("session/set_mode", "modeId"), word);
                Ok(Some((method, self.in_session(&params), Change::Mode(word.to_owned()))))
            }
            None if matches!(mode, Ask | AcceptEdits | Bypass | DontAsk) => Ok(None),
            None => Err(format!("the agent has no mode that means {mode:?}")),
        }
    }

    /// Whether a question is about a change of files that the mode allows and the agent, which has no such mode, asks about.
    pub(super) fn accepts(&self, call: Raw<'_>) -> bool {
        let accepts = self.mode == PermissionMode::AcceptEdits && self.modes.of_mode(PermissionMode::AcceptEdits).is_none();
        if !accepts || call.get("kind").and_then(Raw::string).is_none_or(|kind| !kind.is("edit")) {
            return false;
        }
        let folder = self.launch.cwd.as_deref().unwrap_or("/");
        let mut places = call.get("locations").into_iter().flat_map(Raw::elements).peekable();
        places.peek().is_some()
            && places.all(|place| {
                place
                    .get("path")
                    .and_then(Raw::string)
                    .is_some_and(|path| is_inside(&path.unescape(), folder))
            })
    }

    /// The session hears of a mode for which the agent has nothing to do.
    fn is_so(&self, id: Str<'_>, exchange: &mut Exchange) -> bool {
        let id = format!("\"{}\"", id.as_escaped());
        let (method, params) = self.modes.set(("session/set_mode", "modeId"), self.modes.current());
        tell(Dir::Ours, &rpc::request(&id, method, &self.in_session(&params)), exchange);
        tell(Dir::Agents, &rpc::answer(&id, "{}"), exchange);
        true
    }

    pub(super) fn set_model(&self, plain: &str) -> Set {
        let mut word = String::new();
        Str::escape(self.models.named(plain), &mut word);
        let (method, params) = self.models.set(("session/set_model", "modelId"), &word);
        (method, self.in_session(&params), Change::Model(word))
    }

    /// Whether a model that the agent's list lacks may be had by opening the session once more: the agent reads a model there. What runs in it
    /// would end.
    pub(super) fn can_open_anew(&self) -> bool {
        self.can.own.is_some() && self.can.resume && self.running.is_none() && !self.opens_anew()
    }

    /// Whether the session is being opened once more: until then it has no prompts.
    pub(super) fn opens_anew(&self) -> bool {
        self.asked.values().any(|asked| matches!(asked, Asked::Anew(..)))
    }

    /// Opens the session once more, with this model.
    pub(super) fn open_anew(&mut self, id: String, model: String, exchange: &mut Exchange) {
        let before = self.launch.model.replace(Str::trusted(&model).unescape().into_owned());
        // What else it is not told was noted when it was opened.
        let params = messages::opening(&self.launch, &self.can, self.serves.as_ref(), &mut Vec::new());
        self.ask("session/resume", &self.in_session(&params), Asked::Anew(id, model, before), exchange);
    }

    /// The agent has done so, or not.
    pub(super) fn opened_anew(
        &mut self,
        id: &str,
        model: String,
        before: Option<String>,
        result: Raw<'_>,
        error: Option<Raw<'_>>,
        exchange: &mut Exchange,
    ) {
        let message = match error {
            Some(error) => {
                self.launch.model = before;
                rpc::error(id, -32602, &messages::said(error))
            }
            None => {
                self.models.hear(result, "model");
                self.changed(Change::Model(model));
                rpc::answer(id, "{}")
            }
        };
        tell(Dir::Agents, &message, exchange);
        self.next(exchange);
    }

    pub(super) fn in_session(&self, params: &str) -> String {
        format!("{{\"sessionId\":\"{}\",{params}}}", self.session)
    }

    /// The agent has granted it.
    pub(super) fn changed(&mut self, change: Change) {
        match change {
            Change::Mode(mode) => self.modes.is_now(&mode),
            Change::Model(model) => self.models.is_now(&model),
        }
    }

    /// Whether the agent has a change of mode or model to answer.
    pub(super) fn is_changing(&self) -> bool {
        self.asked.values().any(|asked| matches!(asked, Asked::Host(..) | Asked::Set(_)))
    }
}

/// Whether a path is one in a folder.
fn is_inside(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/') && !rest.split('/').any(|part| part == ".."))
}

/// Refuses what the host wants in the agent's name.
fn refused(id: Str<'_>, why: &str, exchange: &mut Exchange) -> bool {
    let id = format!("\"{}\"", id.as_escaped());
    tell(Dir::Agents, &rpc::error(&id, -32602, why), exchange);
    true
}
