//! The host's side of the protocol, version 1: one session with an agent that is somebody else's program ([`crate::client`]).
//!
//! The session reads what a recorder would have kept of the conversation, from the request on that opens it; what belongs to the handshake and to
//! nobody else is left out, and so is what a loaded session says again.

pub(super) mod modes;
mod open;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use modes::Choice;
use words::{Dir, say, tell};

use super::facts::Change;
use super::rpc;
use crate::client::{Client, Exchange, Wait};
use crate::codec::{Dialect, Format};
use crate::conduct::quoted;
use crate::event::{Block, Content, ControlKind, Fields, Input, InputKind, Prompt, Request, Response};
use crate::json::{Cursor, Raw, Shape, Str};
use crate::launch::{Launch, PermissionMode, Program};

/// A session with an agent.
#[derive(Debug)]
pub(super) struct Conversation {
    launch: Launch,
    stage: Stage,
    /// The session's id, as the body of a JSON string.
    session: String,
    /// How many requests were made; each has its number.
    requests: u64,
    /// What the agent was asked and has not answered.
    asked: BTreeMap<u64, Asked>,
    /// What the agent has asked and the host has not answered.
    questions: Vec<Question>,
    /// Prompts that the agent was not told yet.
    waiting: VecDeque<Vec<(bool, String)>>,
    /// The prompt that the agent answers, by its number.
    running: Option<u64>,
    /// The host does not want the turn that runs, or is the next to run.
    stops: bool,
    can: Abilities,
    modes: Choice,
    models: Choice,
}

/// How far the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No session is open.
    Begins,
    /// It is, and is given its mode and its model.
    Set,
    Open,
    /// There is none, and there will be none.
    Over,
}

/// What the agent was asked.
#[derive(Debug)]
enum Asked {
    Initialize,
    LogIn,
    List,
    /// A session, by this method.
    Open(&'static str),
    /// At the beginning: another mode, another model.
    Set(Change),
    Prompt,
    /// The same for the host, under the id that it gave it, as JSON.
    Host(String, Change),
}

/// A request that changes a session, its parameters, and what they change.
type Set = (&'static str, String, Change);

/// What an agent says that it can do.
#[derive(Debug, Default)]
struct Abilities {
    load: bool,
    resume: bool,
    list: bool,
    fork: bool,
    folders: bool,
    /// The program whose agent it is, where it reads words of that program's own.
    own: Option<&'static Program>,
    image: bool,
    http: bool,
    sse: bool,
    /// Ways to log in with a key, which need nobody at a screen, that were not tried.
    keys: Vec<String>,
    /// What the ways to log in are called.
    ways: Vec<String>,
}

/// A question for permission.
#[derive(Debug)]
struct Question {
    /// Its id as it was spelled.
    id: String,
    /// The answers to choose from: id and kind, as bodies of JSON strings.
    options: Vec<(String, String)>,
}

impl Question {
    /// Its id as the host knows it.
    fn name(&self) -> &str {
        self.id.trim_matches('"')
    }

    /// What is answered: the option that says no more than this.
    fn result(&self, allow: bool) -> String {
        let kinds = if allow {
            ["allow_once", "allow_always"]
        } else {
            ["reject_once", "reject_always"]
        };
        let of = |kind: &str| self.options.iter().find(|(_, known)| known == kind);
        match kinds.into_iter().find_map(of) {
            Some((option, _)) => format!("{{\"outcome\":{{\"outcome\":\"selected\",\"optionId\":\"{option}\"}}}}"),
            None => CANCELLED.to_owned(),
        }
    }
}

/// What is answered to a question whose turn the host does not want any more.
const CANCELLED: &str = "{\"outcome\":{\"outcome\":\"cancelled\"}}";

/// So much of a line that is no message is told.
const SHOWN: usize = 200;

impl Conversation {
    pub(super) fn new(launch: &Launch) -> Self {
        Self {
            launch: launch.clone(),
            stage: Stage::Begins,
            session: String::new(),
            requests: 0,
            asked: BTreeMap::new(),
            questions: Vec::new(),
            waiting: VecDeque::new(),
            running: None,
            stops: false,
            can: Abilities::default(),
            modes: Choice::default(),
            models: Choice::default(),
        }
    }

    /// Asks the agent something. Returns the message.
    fn ask(&mut self, method: &str, params: &str, asked: Asked, exchange: &mut Exchange) -> String {
        let number = self.requests;
        self.requests += 1;
        let message = rpc::request(&number.to_string(), method, params);
        say(&message, exchange);
        if matches!(asked, Asked::Prompt) {
            self.running = Some(number);
        }
        self.asked.insert(number, asked);
        message
    }

    /// Tells the agent the next prompt, once it has answered the one before: what is stopped is then one turn.
    fn next(&mut self, exchange: &mut Exchange) {
        if self.stage != Stage::Open || self.running.is_some() {
            return;
        }
        let Some(blocks) = self.waiting.pop_front() else { return };
        let all = blocks.len();
        let blocks: Vec<String> = blocks
            .into_iter()
            .filter(|(image, _)| self.can.image || !image)
            .map(|(_, block)| block)
            .collect();
        if blocks.len() < all {
            exchange
                .notes
                .push("the agent takes no images: those of the prompt were left out".to_owned());
        }
        let params = format!("{{\"sessionId\":\"{}\",\"prompt\":[{}]}}", self.session, blocks.join(","));
        let message = self.ask("session/prompt", &params, Asked::Prompt, exchange);
        tell(Dir::Ours, &message, exchange);
        if self.stops {
            self.stop(exchange);
        }
    }

    /// Stops the turn that runs, or the next one if none runs yet.
    fn stop(&mut self, exchange: &mut Exchange) {
        for question in std::mem::take(&mut self.questions) {
            reply(&rpc::answer(&question.id, CANCELLED), exchange);
        }
        self.stops = self.running.is_some() || !self.waiting.is_empty();
        if self.running.is_some() {
            let params = format!("{{\"sessionId\":\"{}\"}}", self.session);
            reply(
                &format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{params}}}"),
                exchange,
            );
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, exchange: &mut Exchange) {
        let one;
        let blocks = match prompt.content {
            Content::Text(text) => {
                one = [Block::Text { text, fields: &[] }];
                &one[..]
            }
            Content::Blocks(blocks) => blocks,
        };
        let said: Vec<_> = blocks.iter().filter_map(|block| words::block(*block)).collect();
        if said.len() < blocks.len() {
            exchange
                .notes
                .push("a part of a prompt that is neither text nor an image was left out: the protocol has no word for it".to_owned());
        }
        self.waiting.push_back(said);
        self.next(exchange);
    }

    /// The host wants another mode or another model.
    fn change(&mut self, request: &Request<'_>, fields: Fields<'_>, exchange: &mut Exchange) -> bool {
        let is_mode = request.kind == ControlKind::SetMode;
        let word = fields.iter().find(|field| field.key.is(if is_mode { "mode" } else { "model" }));
        let word = word.and_then(|field| field.value.string()).map(Str::unescape);
        let (Some(word), Some(id)) = (word, request.id) else { return false };
        let mode = PermissionMode::from_name(self.launch.format.dialect, &word).filter(|_| is_mode);
        if self.stage != Stage::Open {
            // The session begins with it.
            match mode {
                Some(mode) => self.launch.permission = Some(mode),
                None if !is_mode => self.launch.model = Some(word.into_owned()),
                None => {}
            }
            return false;
        }
        let (method, params, change) = match mode {
            Some(mode) => match self.mode_for(mode) {
                Ok(Some(set)) => set,
                Ok(None) => return false,
                Err(why) => return refused(id, &why, exchange),
            },
            None if !is_mode && !self.models.is_empty() => self.set_model(&word),
            None if is_mode => return false,
            None => return refused(id, "the agent gives no choice of models", exchange),
        };
        // The session knows it by the id that the host gave it.
        let id = format!("\"{}\"", id.as_escaped());
        tell(Dir::Ours, &rpc::request(&id, method, &params), exchange);
        self.ask(method, &params, Asked::Host(id, change), exchange);
        true
    }

    /// What sets this mode; nothing if what the agent does now comes to the same because its questions are answered for it.
    fn mode_for(&self, mode: PermissionMode) -> Result<Option<Set>, String> {
        use PermissionMode::{Ask, Bypass, DontAsk};
        let asks = || self.modes.of_mode(Ask).filter(|_| matches!(mode, Ask | Bypass | DontAsk));
        match self.modes.of_mode(mode).or_else(asks) {
            Some(word) if self.modes.is(word) => Ok(None),
            Some(word) => {
                let (method, params) = self.modes.set(("session/set_mode", "modeId"), word);
                Ok(Some((method, self.in_session(&params), Change::Mode(word.to_owned()))))
            }
            None if matches!(mode, Ask | Bypass | DontAsk) => Ok(None),
            None => Err(format!("the agent has no mode that means {mode:?}")),
        }
    }

    fn set_model(&self, plain: &str) -> Set {
        let mut word = String::new();
        Str::escape(plain, &mut word);
        let (method, params) = self.models.set(("session/set_model", "modelId"), &word);
        (method, self.in_session(&params), Change::Model(word))
    }

    fn in_session(&self, params: &str) -> String {
        format!("{{\"sessionId\":\"{}\",{params}}}", self.session)
    }

    /// The agent has granted it.
    fn changed(&mut self, change: Change) {
        match change {
            Change::Mode(mode) => self.modes.is_now(&mode),
            Change::Model(model) => self.models.is_now(&model),
        }
    }

    /// The host answers a question. Returns whether it is one of the agent's.
    fn answered(&mut self, response: &Response<'_>, exchange: &mut Exchange) -> bool {
        let named = |question: &Question| response.id.is_some_and(|id| id.as_escaped() == question.name());
        let Some(at) = self.questions.iter().position(named) else { return false };
        let question = self.questions.remove(at);
        let word = response
            .body
            .filter(|_| response.ok)
            .and_then(|body| body.get("behavior"))
            .and_then(Raw::string);
        let allow = word.is_some_and(|word| word.is("allow") || word.is("approve"));
        reply(&rpc::answer(&question.id, &question.result(allow)), exchange);
        true
    }

    fn message(&mut self, text: &str, message: Raw<'_>, exchange: &mut Exchange) {
        let params = message.get("params").unwrap_or(Raw::trusted("{}"));
        let id = message.get("id").filter(|id| !id.is_null());
        match (message.get("method").and_then(Raw::string), id) {
            (Some(method), Some(id)) => self.asks(text, &method.unescape(), id, params, exchange),
            (Some(method), None) => self.notice(text, &method.unescape(), params, exchange),
            (None, Some(id)) => match id.u64().and_then(|number| Some((number, self.asked.remove(&number)?))) {
                Some((number, asked)) => self.answer(text, number, asked, message, exchange),
                None => exchange.notes.push(format!("the agent answers {}, which nobody asked", id.as_str())),
            },
            (None, None) => exchange.notes.push(format!("the agent says what is no message: {}", shown(text))),
        }
    }

    /// The agent asks something.
    fn asks(&mut self, text: &str, method: &str, id: Raw<'_>, params: Raw<'_>, exchange: &mut Exchange) {
        if method != "session/request_permission" {
            exchange.notes.push(format!("the agent asks for {method:?}, which was not offered"));
            return say(&rpc::error(id.as_str(), -32601, &format!("Method not found: {method}")), exchange);
        }
        if self.stage != Stage::Open || !self.is_ours(params) {
            return say(&rpc::error(id.as_str(), -32602, "there is no such session"), exchange);
        }
        let said = |option: Raw<'_>, name: &str| Some(option.get(name)?.string()?.as_escaped().to_owned());
        let question = Question {
            id: id.as_str().to_owned(),
            options: params
                .get("options")
                .into_iter()
                .flat_map(Raw::elements)
                .filter_map(|option| Some((said(option, "optionId")?, said(option, "kind")?)))
                .collect(),
        };
        if self.stops {
            return say(&rpc::answer(&question.id, CANCELLED), exchange);
        }
        if self.questions.iter().any(|known| known.name() == question.name()) {
            return say(&rpc::error(&question.id, -32600, "a question of this id waits for its answer"), exchange);
        }
        self.questions.push(question);
        tell(Dir::Agents, text, exchange);
    }

    fn notice(&mut self, text: &str, method: &str, params: Raw<'_>, exchange: &mut Exchange) {
        if method == "$/cancel_request" {
            let name = params.get("requestId").map_or("", Raw::as_str);
            let Some(at) = self.questions.iter().position(|question| question.id == name) else {
                return;
            };
            let question = self.questions.remove(at);
            say(&rpc::error(&question.id, -32800, "Request cancelled"), exchange);
            return tell(Dir::Agents, text, exchange);
        }
        // What comes earlier was said in another process, or is about no session.
        if self.stage == Stage::Begins || !self.is_ours(params) {
            return;
        }
        let update = params.get("update");
        if let Some(mode) = update.and_then(|update| update.get("currentModeId")).and_then(Raw::string) {
            self.modes.is_now(mode.as_escaped());
        }
        if let Some(update) = update {
            self.modes.hear(update, "mode");
            self.models.hear(update, "model");
        }
        tell(Dir::Agents, text, exchange);
    }

    fn is_ours(&self, params: Raw<'_>) -> bool {
        let session = params.get("sessionId").and_then(Raw::string);
        session.is_none_or(|session| session.as_escaped() == self.session)
    }

    /// The agent answers.
    fn answer(&mut self, text: &str, number: u64, asked: Asked, message: Raw<'_>, exchange: &mut Exchange) {
        let result = message.get("result").unwrap_or(Raw::trusted("{}"));
        let error = message.get("error").filter(|error| !error.is_null());
        match asked {
            Asked::Prompt => {
                if self.running == Some(number) {
                    self.running = None;
                    self.stops = false;
                    // No answer of the host's counts any more.
                    for question in std::mem::take(&mut self.questions) {
                        say(&rpc::answer(&question.id, CANCELLED), exchange);
                    }
                }
                tell(Dir::Agents, text, exchange);
                self.next(exchange);
            }
            Asked::Host(id, change) => {
                let message = match error {
                    Some(error) => rpc::error(&id, -32602, &words::said(error)),
                    None => {
                        self.changed(change);
                        rpc::answer(&id, result.as_str())
                    }
                };
                tell(Dir::Agents, &message, exchange);
            }
            asked => self.handshake(text, asked, result, error, exchange),
        }
    }
}

impl Client for Conversation {
    fn format(&self) -> Format {
        Dialect::Acp.into()
    }

    fn args(&self) -> Vec<String> {
        Vec::new()
    }

    fn begin(&mut self, exchange: &mut Exchange) {
        self.ask("initialize", words::GREETING, Asked::Initialize, exchange);
    }

    fn input(&mut self, input: &Input<'_>, exchange: &mut Exchange) -> bool {
        if self.stage == Stage::Over {
            return false;
        }
        match input.kind {
            InputKind::Prompt(prompt) => self.prompt(prompt, exchange),
            InputKind::Response(response) => return self.answered(response, exchange),
            // It is not answered: the turn ends.
            InputKind::Cancel { .. } => self.stop(exchange),
            InputKind::Request(request) => match request.kind {
                ControlKind::Interrupt => {
                    self.stop(exchange);
                    return false;
                }
                ControlKind::SetMode | ControlKind::SetModel => return self.change(request, input.fields, exchange),
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    fn hear(&mut self, line: &[u8], exchange: &mut Exchange) {
        let text = line.trim_ascii();
        if text.is_empty() || self.stage == Stage::Over {
            return;
        }
        let Ok(text) = std::str::from_utf8(text) else {
            return exchange.notes.push("the agent says a line that is no UTF-8".to_owned());
        };
        let mut cursor = Cursor::new(text);
        match cursor.raw() {
            Ok(message) if cursor.at_end() && message.shape() == Some(Shape::Object) => self.message(text, message, exchange),
            _ => exchange.notes.push(format!("the agent says what is no message: {}", shown(text))),
        }
    }

    fn waits(&self) -> Option<Wait> {
        match self.stage {
            Stage::Begins | Stage::Set => Some(Wait::Begin),
            Stage::Open => (self.stops && self.running.is_some()).then_some(Wait::Stop),
            Stage::Over => None,
        }
    }

    fn late(&mut self, exchange: &mut Exchange) {
        let why = match self.stage {
            Stage::Open => "the agent does not end the turn that its host has stopped",
            _ => "the agent does not answer: no session has begun. Is it one that speaks the Agent Client Protocol?",
        };
        self.end(why.to_owned(), exchange);
    }

    fn queued(&self) -> usize {
        self.waiting.iter().flatten().map(|(_, block)| block.len()).sum()
    }
}

/// Says something to the agent that the session is to know, too.
fn reply(message: &str, exchange: &mut Exchange) {
    say(message, exchange);
    tell(Dir::Ours, message, exchange);
}

/// Refuses what the host wants in the agent's name.
fn refused(id: Str<'_>, why: &str, exchange: &mut Exchange) -> bool {
    let id = format!("\"{}\"", id.as_escaped());
    tell(Dir::Agents, &rpc::error(&id, -32602, why), exchange);
    true
}

/// The beginning of a text, in quotes.
fn shown(text: &str) -> String {
    quoted(&text.chars().take(SHOWN).collect::<String>())
}
