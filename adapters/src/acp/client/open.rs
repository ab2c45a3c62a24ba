//! The handshake, up to a session that has its mode and its model.

use super::messages::{self, Dir, tell};
use super::modes::Choice;
use super::{Abilities, Asked, Change, Conversation, Stage};
use crate::client::Exchange;
use crate::conduct::quoted;
use crate::json::{Raw, Str};
use crate::launch::{ArgError, PermissionMode, Program, Resume};

/// Somebody has to log in first.
const LOG_IN: i64 = -32000;
/// There is no such session.
const NOTHING: i64 = -32002;

impl Conversation {
    /// The agent answers a part of the handshake.
    pub(super) fn handshake(&mut self, text: &str, asked: Asked, result: Raw<'_>, error: Option<Raw<'_>>, exchange: &mut Exchange) {
        let why = error.map(messages::said);
        let code = error.and_then(|error| error.get("code")).and_then(Raw::i64);
        match (asked, why) {
            (Asked::Initialize, why) => {
                self.greeted = true;
                match why {
                    None => self.meets(result, exchange),
                    Some(why) => self.end(format!("the agent refuses to begin: {why}"), exchange),
                }
            }
            (Asked::LogIn, None) => self.open(exchange),
            (Asked::LogIn, Some(why)) => {
                exchange.notes.push(format!("the agent could not log in: {why}"));
                self.log_in(&why, exchange);
            }
            (Asked::List, None) if self.inquiry.is_some() => self.named(result, exchange),
            (Asked::List, None) => self.latest(result, exchange),
            (Asked::List | Asked::Open(_), Some(why)) if code == Some(LOG_IN) => self.log_in(&why, exchange),
            (Asked::List, Some(why)) => self.end(format!("the agent does not say which sessions there are: {why}"), exchange),
            (Asked::Open("session/new"), Some(why)) => self.end(format!("the agent begins no session: {why}"), exchange),
            (Asked::Open(_), Some(why)) => self.not_found(code, &why, exchange),
            (Asked::Open(_), None) if self.inquiry.is_some() => {
                tell(Dir::Agents, text, exchange);
                self.told_all(exchange);
            }
            (Asked::Open(_), None) => self.opened(text, result, exchange),
            (Asked::Set(change), None) => {
                self.changed(change);
                tell(Dir::Agents, text, exchange);
                self.set(exchange);
            }
            (Asked::Set(Change::Mode(word) | Change::Model(word)), Some(why)) => {
                exchange
                    .notes
                    .push(format!("the agent does not take {word:?}, which its host wants: {why}"));
                tell(Dir::Agents, text, exchange);
                self.set(exchange);
            }
            (Asked::Prompt | Asked::Host(..) | Asked::Anew(..), _) => {}
        }
    }

    /// Nothing will come of this session, for this reason.
    pub(super) fn end(&mut self, why: String, exchange: &mut Exchange) {
        self.stage = Stage::Over;
        self.client_calls.end();
        exchange.over = Some(why);
    }

    fn meets(&mut self, result: Raw<'_>, exchange: &mut Exchange) {
        let version = result.get("protocolVersion");
        if version.and_then(Raw::i64) != Some(messages::VERSION) {
            let theirs = version.map_or("none", Raw::as_str);
            let why = format!(
                "the agent speaks version {theirs} of the Agent Client Protocol, and agentglot version {} with it",
                messages::VERSION
            );
            return self.end(why, exchange);
        }
        let inside = |of: Option<Raw<'_>>, name: &str| {
            of.and_then(|of| of.get(name))
                .is_some_and(|value| !value.is_null() && value.bool() != Some(false))
        };
        let can = result.get("agentCapabilities");
        let part = |name: &str| can.and_then(|can| can.get(name));
        let (sessions, servers) = (part("sessionCapabilities"), part("mcpCapabilities"));
        let ways = || result.get("authMethods").into_iter().flat_map(Raw::elements);
        let text = |way: Raw<'_>, name: &str| Some(way.get(name)?.string()?.as_escaped().to_owned());
        self.can = Abilities {
            load: inside(can, "loadSession"),
            resume: inside(sessions, "resume"),
            list: inside(sessions, "list"),
            fork: inside(sessions, "fork"),
            folders: inside(sessions, "additionalDirectories"),
            own: Program::backends().find(|program| program.traits.extension.is_some_and(|name| inside(part("_meta"), name))),
            missing_is_empty: {
                let name = result.get("agentInfo").and_then(|info| info.get("name")?.string());
                let is = |known: &str| name.is_some_and(|name| name.is(known));
                Program::backends().any(|program| program.traits.missing_is_empty.is_some_and(is))
            },
            image: inside(part("promptCapabilities"), "image"),
            http: inside(servers, "http"),
            sse: inside(servers, "sse"),
            keys: ways().filter(|way| takes_key(*way)).filter_map(|way| text(way, "id")).collect(),
            ways: ways().filter_map(|way| text(way, "name").or_else(|| text(way, "id"))).collect(),
        };
        self.open(exchange);
    }

    /// Opens the session that the host wants.
    fn open(&mut self, exchange: &mut Exchange) {
        if let Some(inquiry) = self.inquiry.clone() {
            return self.inquire_now(&inquiry, exchange);
        }
        let (method, session) = match &self.launch.resume {
            Resume::New => ("session/new", None),
            Resume::Session(id) if self.launch.fork && self.can.fork => ("session/fork", Some(id.clone())),
            Resume::Session(_) if self.launch.fork => {
                return self.end("the agent cannot go on in a copy of a session".to_owned(), exchange);
            }
            // What was said is known to the host: it need not be said again.
            Resume::Session(id) if self.can.resume => ("session/resume", Some(id.clone())),
            Resume::Session(id) if self.can.load => ("session/load", Some(id.clone())),
            Resume::Session(_) => return self.end("the agent cannot go on with a session that it had before".to_owned(), exchange),
            Resume::Latest if self.can.list => {
                let params = format!("{{\"cwd\":{}}}", quoted(self.launch.cwd.as_deref().unwrap_or("/")));
                self.ask("session/list", &params, Asked::List, exchange);
                return;
            }
            Resume::Latest => {
                return self.end(
                    "the agent does not say which session is the latest: name it by its id".to_owned(),
                    exchange,
                );
            }
            Resume::Pick => return self.end("a session of this agent is named by its id".to_owned(), exchange),
        };
        let mut params = String::from("{");
        if let Some(session) = &session {
            self.session.clear();
            Str::escape(session, &mut self.session);
            params.push_str(&format!("\"sessionId\":\"{}\",", self.session));
        }
        params.push_str(&messages::opening(&self.launch, &self.can, self.serves.as_ref(), &mut exchange.notes));
        params.push('}');
        let message = self.ask(method, &params, Asked::Open(method), exchange);
        tell(Dir::Ours, &message, exchange);
    }

    /// The host wants the session that was written last. Without any, one begins.
    fn latest(&mut self, result: Raw<'_>, exchange: &mut Exchange) {
        let text = |session: Raw<'_>, name: &str| Some(session.get(name)?.string()?.unescape().into_owned());
        let sessions = result.get("sessions").into_iter().flat_map(Raw::elements);
        let latest = sessions.max_by_key(|session| text(*session, "updatedAt"));
        let id = latest.and_then(|session| text(session, "sessionId"));
        self.launch.resume = id.map_or(Resume::New, Resume::Session);
        self.open(exchange);
    }

    /// Logs in with a key of the environment, where the agent wants that and has a way that needs nobody at a screen.
    fn log_in(&mut self, why: &str, exchange: &mut Exchange) {
        if self.can.keys.is_empty() {
            let ways = self.can.ways.join(", ");
            let ways = if ways.is_empty() {
                String::new()
            } else {
                format!("; its ways to log in: {ways}")
            };
            return self.end(
                format!("the agent wants its user to log in, or a key in the environment: {why}{ways}"),
                exchange,
            );
        }
        let way = self.can.keys.remove(0);
        self.ask("authenticate", &format!("{{\"methodId\":\"{way}\"}}"), Asked::LogIn, exchange);
    }

    fn not_found(&mut self, code: Option<i64>, why: &str, exchange: &mut Exchange) {
        let known = ["not found", "no conversation", "unknown session"];
        let known = known.iter().chain(self.serves.iter().flat_map(|serves| serves.unknown));
        let says = why.to_ascii_lowercase();
        let why = match &self.launch.resume {
            Resume::Session(id) if code == Some(NOTHING) || known.into_iter().any(|words| says.contains(words)) => {
                ArgError::no_session(self.launch.format.dialect, id).text.trim_end().to_owned()
            }
            _ => format!("the agent does not go on with the session: {why}"),
        };
        self.end(why, exchange);
    }

    fn opened(&mut self, text: &str, result: Raw<'_>, exchange: &mut Exchange) {
        if let Some(session) = result.get("sessionId").and_then(Raw::string) {
            session.as_escaped().clone_into(&mut self.session);
        }
        if self.session.is_empty() {
            return self.end("the agent opens a session that has no id".to_owned(), exchange);
        }
        self.modes = Choice::read(result, ("modes", "availableModes", "id", "currentModeId"), "mode");
        self.models = Choice::read(result, ("models", "availableModels", "modelId", "currentModelId"), "model");
        tell(Dir::Agents, text, exchange);
        self.stage = Stage::Set;
        let mode = self.first_mode();
        match self.mode_for(mode) {
            Ok(Some((method, params, change))) => {
                let message = self.ask(method, &params, Asked::Set(change), exchange);
                tell(Dir::Ours, &message, exchange);
            }
            Ok(None) => {}
            // Who wants that nothing changes must not get something else.
            Err(why) if mode == PermissionMode::Plan => return self.end(why, exchange),
            Err(why) => exchange.notes.push(why),
        }
        if let Some(model) = self.launch.model.clone() {
            if self.models.is_empty() {
                exchange
                    .notes
                    .push(format!("the agent gives no choice of models: it is not told {model:?}"));
            } else if !self.models.is(self.models.named(&model)) && (self.can.own.is_none() || self.models.has(&model)) {
                // One that was told it when the session was opened may list it and still call another the current one.
                let (method, params, change) = self.set_model(&model);
                let message = self.ask(method, &params, Asked::Set(change), exchange);
                tell(Dir::Ours, &message, exchange);
            }
        }
        self.set(exchange);
    }

    /// The mode that the session begins in. A host that names none relies on that of the program that it knows; an agent may begin in
    /// one that asks nobody. What programs decide by themselves, not every agent's model or account is up to: there the host is asked.
    fn first_mode(&self) -> PermissionMode {
        match self.launch.permission_or_default() {
            PermissionMode::Auto if self.launch.permission.is_none() => PermissionMode::Ask,
            mode => mode,
        }
    }

    /// Begins with the prompts as soon as mode and model are set.
    fn set(&mut self, exchange: &mut Exchange) {
        if !self.asked.values().any(|asked| matches!(asked, Asked::Set(_))) {
            self.stage = Stage::Open;
            self.next(exchange);
        }
    }
}

/// Whether a way to log in is a key of the environment.
fn takes_key(way: Raw<'_>) -> bool {
    let is = |name: &str, words: &[&str]| {
        way.get(name)
            .and_then(Raw::string)
            .is_some_and(|text| words.iter().any(|word| text.as_escaped().contains(word)))
    };
    is("type", &["env_var"]) || is("id", &["api-key", "api_key", "apikey"]) || is("id", &["openai"]) && is("name", &["API key"])
}
