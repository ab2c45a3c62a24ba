//! The agent's side of the protocol, version 1, as an editor starts it: many sessions in one process ([`crate::server`]).

mod answer;
mod prompt;
mod session;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use answer::UNSAID;
use session::Session;
use words::Wrong;

use crate::event::{Event, Kind, iso};
use crate::json::{Cursor, Raw, Shape, Str};
use crate::launch::Resume;
use crate::server::question::Question;
use crate::server::{Action, Actions, Listed, SessionServer, Setup, Wait};

/// The sessions that an editor has with us.
#[derive(Debug)]
pub(super) struct Sessions {
    setup: Setup,
    sessions: BTreeMap<String, Session>,
    /// What the editor was asked, by our numbers, each with the id that the editor knows the call by, escaped.
    asked: BTreeMap<u64, (Question, String)>,
    /// How many numbers were given.
    numbers: u64,
    /// The editor says nothing more.
    alone: bool,
}

/// How a session comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    New,
    /// Of what was said before all is said again.
    Load,
    /// Nothing of it.
    Resume,
}

impl Sessions {
    pub(super) const fn new(setup: Setup) -> Self {
        Self {
            setup,
            sessions: BTreeMap::new(),
            asked: BTreeMap::new(),
            numbers: 0,
            alone: false,
        }
    }

    fn message(&mut self, message: Raw<'_>, actions: &mut Actions) {
        if message.shape() != Some(Shape::Object) {
            return words::refuse("null", &Wrong::request("a message is an object"), actions);
        }
        let id = message.get("id");
        if id.is_some_and(|id| matches!(id.shape(), Some(Shape::Object | Shape::Array | Shape::Bool))) {
            return words::refuse("null", &Wrong::request("an id is a number or a text"), actions);
        }
        let params = message.get("params").unwrap_or(Raw::trusted("{}"));
        match (message.get("method").map(Raw::string), id) {
            (Some(None), _) => words::refuse(id.map_or("null", Raw::as_str), &Wrong::request("the method is no text"), actions),
            (Some(Some(method)), Some(id)) => {
                if let Err(wrong) = self.request(&method.unescape(), id.as_str(), params, actions) {
                    words::refuse(id.as_str(), &wrong, actions);
                }
            }
            (Some(Some(method)), None) => self.notice(&method.unescape(), params, actions),
            (None, Some(id)) => self.heard(id, message, actions),
            (None, None) => words::refuse("null", &Wrong::request("neither a method nor an id"), actions),
        }
    }

    fn request(&mut self, method: &str, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        match method {
            "initialize" => {
                if params.get("protocolVersion").and_then(Raw::i64).is_none() {
                    return Err(Wrong::params("protocolVersion: a number is wanted"));
                }
                words::answer(id, words::CAPABILITIES, actions);
            }
            "authenticate" => return Err(Wrong::params("there is no way to log in here: keys are the environment's")),
            "session/new" => self.open(How::New, id, params, actions)?,
            "session/load" => self.open(How::Load, id, params, actions)?,
            "session/resume" => self.open(How::Resume, id, params, actions)?,
            "session/list" => {
                let cwd = match params.get("cwd").filter(|cwd| !cwd.is_null()) {
                    Some(cwd) => Some(folder(cwd)?),
                    None => None,
                };
                actions.todo.push(Action::List { request: id.to_owned(), cwd });
            }
            "session/close" => {
                let name = self.named(params)?;
                self.close(&name, "the session was closed", actions);
                words::answer(id, "{}", actions);
            }
            "session/prompt" => {
                let prompt = params.get("prompt").ok_or_else(|| Wrong::params("prompt: it is missing"))?;
                let parts = prompt::blocks(prompt)?;
                self.session(params)?.prompt(id, parts, actions);
            }
            "session/set_mode" => {
                let mode = text(params, "modeId")?;
                self.session(params)?.set_mode(id, &mode, false, actions)?;
            }
            "session/set_config_option" => {
                let (option, value) = (text(params, "configId")?, text(params, "value")?);
                let session = self.session(params)?;
                match &*option {
                    "mode" => session.set_mode(id, &value, true, actions)?,
                    "model" => session.set_model(id, &value, actions)?,
                    _ => return Err(Wrong::params(&format!("configId: there is no option {option:?}"))),
                }
            }
            _ => return Err(Wrong::method(method)),
        }
        Ok(())
    }

    fn notice(&mut self, method: &str, params: Raw<'_>, actions: &mut Actions) {
        match method {
            "session/cancel" => match self.session(params) {
                Ok(session) => session.cancel(actions),
                Err(wrong) => actions.notes.push(format!("session/cancel: {}", wrong.message)),
            },
            "$/cancel_request" => {
                let request = params.get("requestId").map_or("", Raw::as_str);
                // Only prompts take long enough. What else it may name is answered as it comes.
                let _ = self.sessions.values_mut().any(|session| session.cancel_prompt(request, actions));
            }
            _ if method.starts_with("$/") || method.starts_with('_') => {}
            _ => actions.notes.push(format!("the host tells {method:?}, which nobody knows here")),
        }
    }

    fn named(&self, params: Raw<'_>) -> Result<String, Wrong> {
        let name = text(params, "sessionId")?;
        let known = self.sessions.get(&name).is_some_and(Session::is_open);
        if known { Ok(name) } else { Err(Wrong::nothing(&name)) }
    }

    fn session(&mut self, params: Raw<'_>) -> Result<&mut Session, Wrong> {
        let name = self.named(params)?;
        self.sessions.get_mut(&name).ok_or_else(|| Wrong::nothing(&name))
    }

    fn open(&mut self, how: How, id: &str, params: Raw<'_>, actions: &mut Actions) -> Result<(), Wrong> {
        let cwd = folder(params.get("cwd").ok_or_else(|| Wrong::params("cwd: it is missing"))?)?;
        let mut launch = self.setup.launch.clone();
        if let Some(folders) = params.get("additionalDirectories").filter(|list| !list.is_null()) {
            for more in folders.elements() {
                launch.add_dirs.push(folder(more)?);
            }
        }
        if let Some(servers) = params.get("mcpServers").filter(|list| !list.is_null()) {
            launch.mcp_config.extend(words::servers(servers)?);
        }
        let name = match how {
            How::New => (self.setup.new_id)(),
            How::Load | How::Resume => text(params, "sessionId")?,
        };
        // Ids become names of files and words of a command line.
        let is_id = |name: &str| {
            name.len() <= 128 && !name.starts_with('-') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if name.is_empty() || !is_id(&name) {
            return Err(Wrong::nothing(&name));
        }
        if self.sessions.contains_key(&name) || self.sessions.values().any(|session| session.is_kept_as(&name)) {
            return Err(is_open(&name));
        }
        if self.sessions.len() >= self.setup.most {
            return Err(Wrong::internal(&self.setup.too_many("session/close")));
        }
        launch.cwd = Some(cwd.clone());
        match how {
            How::New => launch.session_id = Some(name.clone()),
            How::Load | How::Resume => launch.resume = Resume::Session(name.clone()),
        }
        let mut session = Session::new(name.clone(), how, id, launch);
        match how {
            How::New => session.begin(actions),
            How::Load | How::Resume => actions.todo.push(Action::Recall {
                session: name.clone(),
                cwd: Some(cwd),
            }),
        }
        self.sessions.insert(name, session);
        Ok(())
    }

    /// Ends a session and its program, for this reason. What is asked of the editor in its name is asked no more.
    fn close(&mut self, name: &str, why: &str, actions: &mut Actions) {
        if let Some(mut session) = self.sessions.remove(name) {
            session.cancel(actions);
            session.leave(why, actions);
        }
        self.withdraw(|question| question.session == name, actions);
        actions.todo.push(Action::Close(name.to_owned()));
    }
}

impl SessionServer for Sessions {
    fn hear(&mut self, line: &[u8], actions: &mut Actions) {
        let Ok(line) = std::str::from_utf8(line) else {
            return words::refuse("null", &Wrong::parse("the line is no UTF-8"), actions);
        };
        if line.trim().is_empty() {
            return;
        }
        let mut cursor = Cursor::new(line);
        match cursor.raw() {
            Ok(message) if cursor.at_end() => self.message(message, actions),
            Ok(_) => words::refuse("null", &Wrong::parse("something stands behind the message"), actions),
            Err(error) => words::refuse("null", &Wrong::parse(&error.to_string()), actions),
        }
    }

    /// Most say a message's id before its parameters.
    fn left_out(&mut self, start: &[u8], why: &str, actions: &mut Actions) {
        let start = String::from_utf8_lossy(start);
        let id = Raw::trusted(&start)
            .get("id")
            .filter(|id| matches!(id.shape(), Some(Shape::Number | Shape::String)));
        words::refuse(id.map_or("null", Raw::as_str), &Wrong::request(why), actions);
    }

    fn said(&mut self, name: &str, event: &Event<'_>, actions: &mut Actions) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        match event.kind {
            Kind::Response(response) => {
                if let Err(why) = session.answered(response, actions) {
                    self.close(name, &why, actions);
                }
            }
            Kind::Request(request) => {
                session.show(event, actions);
                self.ask(name, request, actions);
            }
            Kind::Withdraw(withdraw) => {
                let id = withdraw.id.unwrap_or_default();
                self.withdraw(|question| question.session == name && question.id == id.as_escaped(), actions);
            }
            Kind::Outcome(outcome) => {
                session.show(event, actions);
                session.over(outcome, actions);
            }
            Kind::Session(facts) => {
                session.show(event, actions);
                session.learn(facts, event.origin.session, actions);
            }
            Kind::Reply(reply) if event.origin.parent.is_none() => {
                session.show(event, actions);
                session.reply(reply);
            }
            _ => session.show(event, actions),
        }
    }

    fn recall(&mut self, session: &str, event: &Event<'_>, actions: &mut Actions) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.recall(event, actions);
        }
    }

    fn recalled(&mut self, session: &str, found: Option<&Listed>, actions: &mut Actions) {
        let found = found.map(|kept| kept.id.as_str());
        let open = found.filter(|id| *id != session && self.sessions.values().any(|other| other.is_kept_as(id)));
        match (self.sessions.get_mut(session), found) {
            (Some(known), Some(id)) if open.is_none() => known.goes_on(id, actions),
            (Some(_), _) => {
                let wrong = open.map_or_else(|| Wrong::nothing(session), is_open);
                if let Some(id) = self.sessions.remove(session).and_then(Session::opening) {
                    words::refuse(&id, &wrong, actions);
                }
            }
            (None, _) => {}
        }
    }

    fn listed(&mut self, request: &str, sessions: Result<&[Listed], &str>, actions: &mut Actions) {
        let sessions = match sessions {
            Ok(sessions) => sessions,
            Err(why) => return words::refuse(request, &Wrong::internal(why), actions),
        };
        let mut list = String::from("{\"sessions\":[");
        for (n, session) in sessions.iter().enumerate() {
            list.push_str(if n > 0 { ",{" } else { "{" });
            words::member("sessionId", &session.id, &mut list);
            list.push(',');
            words::member("cwd", &session.cwd, &mut list);
            if let Some(title) = session.name.as_ref().or(session.title.as_ref()) {
                list.push(',');
                words::member("title", title, &mut list);
            }
            let written = iso(session.written);
            list.push_str(",\"updatedAt\":\"");
            list.extend(written.map(char::from));
            list.push_str("\"}");
        }
        list.push_str("]}");
        words::answer(request, &list, actions);
    }

    fn ended(&mut self, session: &str, why: &str, actions: &mut Actions) {
        if let Some(mut ended) = self.sessions.remove(session) {
            ended.leave(why, actions);
            actions.notes.push(format!("session {session}: {why}"));
        }
        self.withdraw(|question| question.session == session, actions);
    }

    fn left(&mut self, actions: &mut Actions) {
        self.alone = true;
        for (question, _) in std::mem::take(&mut self.asked).into_values() {
            self.decide(&question, UNSAID, actions);
        }
    }

    fn is_busy(&self) -> bool {
        self.sessions.values().any(Session::is_busy)
    }

    fn stop(&mut self, why: &str, actions: &mut Actions) {
        for session in std::mem::take(&mut self.sessions).values_mut() {
            session.leave(why, actions);
        }
    }

    fn waits(&self, session: &str) -> Option<Wait> {
        self.sessions.get(session)?.waits()
    }
}

fn is_open(session: &str) -> Wrong {
    Wrong::params(&format!("the session {session} is open here; session/close ends it"))
}

/// A text among the parameters.
fn text(params: Raw<'_>, name: &str) -> Result<String, Wrong> {
    let text = params.get(name).and_then(Raw::string).map(Str::unescape);
    text.map(std::borrow::Cow::into_owned)
        .ok_or_else(|| Wrong::params(&format!("{name}: a text is wanted")))
}

/// A folder, by its absolute path.
fn folder(path: Raw<'_>) -> Result<String, Wrong> {
    let path = path.string().map(Str::unescape);
    let path = path.filter(|path| path.starts_with('/') && !path.contains('\0'));
    path.map(std::borrow::Cow::into_owned)
        .ok_or_else(|| Wrong::params("a folder is the absolute path of one"))
}
