//! The host's side of the protocol, version 1: one session with an agent that is somebody else's program ([`crate::client`]).
//!
//! The session reads what a recorder would have kept of the conversation, from the request on that opens it; what belongs to the handshake and to
//! nobody else is left out, and so is what a loaded session says again.

mod client_calls;
mod messages;
mod mode_and_model;
pub(super) mod modes;
mod open;
mod permitted_calls;
mod questions;
mod session_lists;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use client_calls::ClientCalls;
pub(super) use client_calls::is_client_call;
use messages::{Dir, say, tell};
use modes::Choice;
use questions::Question;

use super::facts::Change;
use super::rpc;
use crate::client::{Client, Done, Exchange, Inquiry, Serves, Undone, Wait};
use crate::codec::{Dialect, Format};
use crate::conduct::quoted;
use crate::event::{Block, Content, ControlKind, Input, InputKind, Prompt};
use crate::json::{Cursor, Raw, Shape, sound_part};
use crate::launch::{Launch, PermissionMode, Program};
use crate::server::Listed;

/// A session with an agent.
#[derive(Debug)]
pub(super) struct Conversation {
    launch: Launch,
    /// What is known of the program, where it is not any.
    serves: Option<Serves>,
    /// What the agent calls its MCP servers, where the names of their tools begin with that.
    servers: Vec<String>,
    /// What is asked, where no session is to be held.
    inquiry: Option<Inquiry>,
    /// What was named so far.
    sessions: Vec<Listed>,
    stage: Stage,
    /// The agent has answered the handshake's first request.
    greeted: bool,
    /// The session's id, as the body of a JSON string.
    session: String,
    /// How many requests were made; each has its number.
    requests: u64,
    /// What the agent was asked and has not answered.
    asked: BTreeMap<u64, Asked>,
    /// What the agent has asked and the host has not answered.
    questions: Vec<Question>,
    /// Of these, those that the session is not told yet, by the calls whose arguments are waited for.
    held: Vec<(String, String)>,
    /// What it wants done by us.
    client_calls: ClientCalls,
    /// Prompts that the agent was not told yet.
    waiting: VecDeque<Vec<(bool, String)>>,
    /// The prompt that the agent answers, by its number.
    running: Option<u64>,
    /// The host does not want the turn that runs, or is the next to run.
    stops: bool,
    can: Abilities,
    /// How freely tools may run, as the host wants it.
    mode: PermissionMode,
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
    /// The same for the host, under the id that it gave it, as JSON, and the mode that it wants, if it is one.
    Host(String, Change, Option<PermissionMode>),
    /// For the host under its id, the session that is open, with this model; and the one before.
    Anew(String, String, Option<String>),
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
    /// A file that is missing is an empty one to it.
    missing_is_empty: bool,
    image: bool,
    http: bool,
    sse: bool,
    /// Ways to log in with a key, which need nobody at a screen, that were not tried.
    keys: Vec<String>,
    /// What the ways to log in are called.
    ways: Vec<String>,
}

/// Why a turn has failed whose prompt was answered with nothing.
const NO_STOP: &str = "the agent has answered the prompt and does not say how the turn ended";

/// So much of a line that is no message is told.
const SHOWN: usize = 200;

impl Conversation {
    pub(super) fn new(launch: &Launch, serves: Option<Serves>) -> Self {
        Self {
            launch: launch.clone(),
            servers: match serves {
                Some(Serves { joins_names: true, .. }) => messages::names(launch),
                _ => Vec::new(),
            },
            serves,
            inquiry: None,
            sessions: Vec::new(),
            stage: Stage::Begins,
            greeted: false,
            session: String::new(),
            requests: 0,
            asked: BTreeMap::new(),
            questions: Vec::new(),
            held: Vec::new(),
            client_calls: ClientCalls::default(),
            mode: launch.permission_or_default(),
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
        if self.stage != Stage::Open || self.running.is_some() || self.opens_anew() {
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
        self.cancel_questions(exchange);
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
        let said: Vec<_> = blocks.iter().filter_map(|block| messages::block(*block)).collect();
        if said.len() < blocks.len() {
            exchange
                .notes
                .push("a part of a prompt that is neither text nor an image was left out: the protocol has no word for it".to_owned());
        }
        self.waiting.push_back(said);
        self.next(exchange);
    }

    fn message(&mut self, text: &str, message: Raw<'_>, exchange: &mut Exchange) {
        let params = message.get("params").unwrap_or(Raw::trusted("{}"));
        let id = message.get("id").filter(|id| !id.is_null());
        match (message.get("method").and_then(Raw::string), id) {
            // Who asks under what is no id, or for what is no method, waits all the same.
            (method, _) if message.get("id").is_some_and(|id| method.is_some() && !rpc::is_id(id)) => {
                refuse(message, "the id of a request is a text or a number", exchange);
            }
            (None, Some(_)) if message.get("method").is_some() => refuse(message, "the method of a request is a text", exchange),
            (Some(method), Some(id)) => self.asks(text, &method.unescape(), id, params, exchange),
            (Some(method), None) => self.notice(text, &method.unescape(), params, exchange),
            // Neither an answer nor a refusal: what was asked still waits.
            (None, Some(_)) if !["result", "error"].iter().any(|name| message.get(name).is_some()) => {
                exchange.notes.push(format!("the agent says what is no message: {}", shown(text)));
            }
            // A number is not the text that spells it.
            (None, Some(id)) => match id.as_str().parse().ok().and_then(|number| Some((number, self.asked.remove(&number)?))) {
                Some((number, asked)) => self.answer(text, number, asked, message, exchange),
                None => exchange.notes.push(format!("the agent answers {}, which nobody asked", id.as_str())),
            },
            (None, None) => exchange.notes.push(format!("the agent says what is no message: {}", shown(text))),
        }
    }

    /// A message that cannot be read to its end. If it is a question or an answer somebody waits, on either side.
    fn damaged(&mut self, text: &str, exchange: &mut Exchange) {
        let Some(part) = sound_part(text) else { return };
        let message = Raw::trusted(&part);
        let Some(id) = message.get("id").filter(|id| rpc::is_id(*id)) else {
            return;
        };
        if message.get("method").is_some() {
            return refuse(message, "a message ends with its last bracket", exchange);
        }
        let failed = rpc::error(id.as_str(), -32603, "the agent's answer cannot be read");
        self.message(&failed, Raw::trusted(&failed), exchange);
    }

    /// A message about a call as the session is to read it.
    fn reworded<'m>(&self, text: &'m str, call: Option<Raw<'_>>) -> Cow<'m, str> {
        let call = call.filter(|call| call.get("toolCallId").is_some());
        let said = self.serves.zip(call).map(|(serves, call)| {
            let mut members = (serves.call)(call);
            if serves.joins_names {
                messages::part_names(&mut members, &self.servers);
            }
            (call, members)
        });
        match said.filter(|(_, members)| !members.is_empty()) {
            Some((call, members)) => Cow::Owned(messages::with_members(text, call, &members)),
            None => Cow::Borrowed(text),
        }
    }

    fn notice(&mut self, text: &str, method: &str, params: Raw<'_>, exchange: &mut Exchange) {
        if method == "$/cancel_request" {
            let name = params.get("requestId").map_or("", Raw::as_str);
            return self.taken_back(text, name, exchange);
        }
        // What comes earlier was said in another process, or is about no session; but who asks for it wants nothing else.
        if self.stage == Stage::Begins && self.inquiry.is_none() || !self.is_ours(params) {
            return;
        }
        let update = params.get("update");
        if let Some(mode) = update.and_then(|update| update.get("currentModeId")).and_then(Raw::string) {
            self.modes.is_now(mode.as_escaped());
        }
        let kind = update.and_then(|update| update.get("sessionUpdate")).and_then(Raw::string);
        if self.running.is_none() && self.is_changing() && kind.is_some_and(|kind| kind.is("agent_message_chunk")) {
            return exchange.notes.push(format!("the agent says of a change: {}", shown(text)));
        }
        if let Some(update) = update {
            self.modes.hear(update, "mode");
            self.models.hear(update, "model");
            let told = self.reworded(update.as_str(), Some(update));
            self.client_calls.hear(Raw::trusted(&told), &self.session, exchange);
            if update.get("currentModeId").or_else(|| update.get("configOptions")).is_some() {
                self.leave_plan();
            }
        }
        tell(Dir::Agents, &self.reworded(text, update), exchange);
        self.ask_held(false, exchange);
    }

    /// An agent that plans no longer, whatever brought it there, asks; what goes further only the host can want.
    fn leave_plan(&mut self) {
        let plans = self.modes.of_mode(PermissionMode::Plan).is_none_or(|plan| self.modes.is(plan));
        if self.mode == PermissionMode::Plan && self.stage == Stage::Open && !plans {
            self.mode = PermissionMode::Ask;
        }
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
                    self.forget_questions(exchange);
                }
                // Here the answer is the end of the turn, whatever it says.
                let ends = error.is_some() || result.get("stopReason").and_then(Raw::string).is_some();
                match ends {
                    true => tell(Dir::Agents, text, exchange),
                    false => tell(Dir::Agents, &rpc::error(&number.to_string(), -32603, NO_STOP), exchange),
                }
                self.next(exchange);
            }
            Asked::Host(id, Change::Model(model), _) if (error.is_some() || self.models.another(result, "model", &model)) && self.can_open_anew() => {
                self.open_anew(id, model, exchange);
            }
            Asked::Anew(id, model, before) => self.opened_anew(&id, model, before, result, error, exchange),
            Asked::Host(id, change, mode) => {
                let message = match error {
                    Some(error) => rpc::error(&id, -32602, &messages::said(error)),
                    None => {
                        self.changed(change);
                        self.mode = mode.unwrap_or(self.mode);
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

    fn inquire(&mut self, inquiry: Inquiry) -> bool {
        self.inquiry = Some(inquiry);
        true
    }

    fn sessions(&mut self) -> Vec<Listed> {
        std::mem::take(&mut self.sessions)
    }

    fn begin(&mut self, exchange: &mut Exchange) {
        self.ask("initialize", messages::GREETING, Asked::Initialize, exchange);
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
        // It may be what is waited for, or wait for an answer.
        let text = String::from_utf8_lossy(text);
        if matches!(text, Cow::Owned(_)) {
            let note = "the agent says a line that is no UTF-8: the bytes that are none were replaced";
            exchange.notes.push(note.to_owned());
        }
        let text = &*text;
        let mut cursor = Cursor::new(text);
        match cursor.raw() {
            // Several at a time are not this protocol's.
            Ok(message) if cursor.at_end() && asks_several(message) => refuse(message, "a message is an object", exchange),
            Ok(message) if cursor.at_end() && message.shape() == Some(Shape::Object) => self.message(text, message, exchange),
            _ => {
                exchange.notes.push(format!("the agent says what is no message: {}", shown(text)));
                self.damaged(text, exchange);
            }
        }
    }

    fn has_answered(&self) -> bool {
        self.greeted
    }

    fn waits(&self) -> Option<Wait> {
        match self.stage {
            Stage::Begins | Stage::Set => Some(Wait::Begin),
            Stage::Open if self.stops && self.running.is_some() => Some(Wait::Stop),
            Stage::Open => (!self.held.is_empty()).then_some(Wait::Arguments),
            Stage::Over => None,
        }
    }

    fn late(&mut self, exchange: &mut Exchange) {
        if self.waits() == Some(Wait::Arguments) {
            return self.ask_held(true, exchange);
        }
        let why = match self.stage {
            Stage::Open => "the agent does not end the turn that its host has stopped",
            _ => "the agent does not answer: no session has begun. Is it one that speaks the Agent Client Protocol?",
        };
        self.end(why.to_owned(), exchange);
    }

    fn queued(&self) -> usize {
        self.waiting.iter().flatten().map(|(_, block)| block.len()).sum()
    }

    fn done(&mut self, number: u64, done: Result<Done, Undone>, exchange: &mut Exchange) {
        let missing = self.can.missing_is_empty && self.client_calls.is_read(number) && matches!(done, Err(Undone::Missing(_)));
        let done = if missing { Ok(Done::Text(String::new())) } else { done };
        self.client_calls.done(number, done, &self.session, self.stops, exchange);
    }
}

/// Says something to the agent that the session is to know, too.
fn reply(message: &str, exchange: &mut Exchange) {
    say(message, exchange);
    tell(Dir::Ours, message, exchange);
}

/// Whether it is a list, and something in it is asked.
fn asks_several(message: Raw<'_>) -> bool {
    let asks = |one: Raw<'_>| one.get("method").is_some() && one.get("id").is_some();
    message.shape() == Some(Shape::Array) && message.elements().any(asks)
}

/// The agent asks what cannot be read.
fn refuse(message: Raw<'_>, why: &str, exchange: &mut Exchange) {
    exchange
        .notes
        .push(format!("the agent asks what cannot be read: {why}: {}", shown(message.as_str())));
    let id = message.get("id").map_or("null", Raw::as_str);
    say(&rpc::error(id, -32600, why), exchange);
}

/// The beginning of a text, in quotes.
fn shown(text: &str) -> String {
    quoted(&text.chars().take(SHOWN).collect::<String>())
}
