//! The host's side of a conversation with `codex app-server`: what our host says becomes requests, one turn at a time.
//!
//! The session reads the conversation as a recorder writes it, which tells both sides' ids apart. What the program asks and no host of ours
//! could answer is refused here, and stands in no line for the session.

mod answers;
mod opening;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::mem::take;

use crate::client::{Client, Exchange, Wait};
use crate::codec::{Dialect, Format};
use crate::conduct::{quoted, text};
use crate::event::{ControlKind, Fields, Input, InputKind, Request};
use crate::json::{Raw, Shape, Str, on_one_line, sound_part};
use crate::launch::{ArgError, Launch, PermissionMode, Program, Resume};
pub(super) use answers::{FORM, approves};
use answers::{Question, answer, question};
use opening::Opening;

/// The host's side, at the beginning of a session.
pub(in crate::codex) fn client(launch: &Launch, _: &'static Program) -> Box<dyn Client> {
    Box::new(AppServer::new(launch))
}

#[derive(Debug)]
struct AppServer {
    opening: Opening,
    host: Dialect,
    /// How many requests were made.
    asked: u64,
    stage: Stage,
    /// The request of the handshake that is to be answered.
    awaited: String,
    /// The thread's id, as the body of a JSON string.
    thread: String,
    /// Prompts that wait for their turn, as its `input`.
    prompts: VecDeque<String>,
    turn: Option<Turn>,
    /// The turn that has ended last, as the body of a JSON string.
    ended: String,
    /// Requests of the host to stop a turn that the program has not begun yet, by their ids, as JSON.
    stops: Vec<String>,
    questions: Vec<Question>,
    /// What the next turn is told to do otherwise than the one before, as members of its parameters.
    model: Option<String>,
    mode: Option<PermissionMode>,
}

/// What the program has to answer before prompts go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asleep,
    Greeted,
    /// It looks for the latest thread of the folder.
    Looking,
    Opening,
    Open,
}

/// The turn that runs.
#[derive(Debug)]
struct Turn {
    /// The request that began it.
    request: String,
    /// Its id, once the program has said it, as the body of a JSON string.
    id: Option<String>,
    /// The program has told something of it. What is told to stop before that it takes for no turn.
    begun: bool,
    stopping: bool,
    /// The commands of it that run, by the program's numbers of their processes, as JSON.
    running: BTreeSet<String>,
}

impl Client for AppServer {
    fn format(&self) -> Format {
        Format {
            dialect: Dialect::Codex,
            mode: super::MODE,
        }
    }

    fn args(&self) -> Vec<String> {
        vec!["app-server".to_owned()]
    }

    fn begin(&mut self, exchange: &mut Exchange) {
        self.stage = Stage::Greeted;
        let version = env!("CARGO_PKG_VERSION");
        // Commands that a stopped turn leaves behind can be ended by an experimental request alone.
        let who = format!(
            "{{\"clientInfo\":{{\"name\":\"agentglot\",\"title\":\"agentglot\",\"version\":\"{version}\"}},\"capabilities\":{{\"experimentalApi\":true}}}}"
        );
        self.awaited = self.ask("initialize", &who, exchange);
    }

    fn input(&mut self, input: &Input<'_>, exchange: &mut Exchange) -> bool {
        match input.kind {
            InputKind::Prompt(prompt) => {
                let (input, lost) = opening::prompt(prompt.content);
                exchange
                    .notes
                    .extend(lost.map(|kind| format!("a prompt holds what the program does not take: {kind}")));
                self.prompts.push_back(input);
                self.next_turn(exchange);
                true
            }
            InputKind::Cancel { .. } => self.stop(None, exchange),
            InputKind::Request(request) => match request.kind {
                ControlKind::Interrupt => self.stop(request.id, exchange),
                _ => {
                    self.change(request, input.fields);
                    false
                }
            },
            InputKind::Response(response) => {
                let asked = response.id.and_then(|id| self.questions.iter().position(|asked| asked.is(id)));
                let Some(asked) = asked.map(|at| self.questions.remove(at)) else {
                    return false;
                };
                say(&answer(&asked, response), exchange);
                true
            }
            _ => false,
        }
    }

    fn hear(&mut self, line: &[u8], exchange: &mut Exchange) {
        // What is no UTF-8 may be what is waited for, or wait for an answer.
        let text = String::from_utf8_lossy(line);
        let text = Some(&*text).filter(|text| Raw::trusted(text).check().is_ok());
        let Some(message) = text.map(Raw::trusted).filter(|message| message.shape() == Some(Shape::Object)) else {
            // The session's reader says what is wrong with it.
            exchange.session.extend_from_slice(line);
            exchange.session.push(b'\n');
            return self.damaged(&String::from_utf8_lossy(line), exchange);
        };
        let method = message.get("method").and_then(Raw::string);
        let id = message.get("id").filter(|id| !id.is_null());
        match (method, id) {
            // Who asks under what is no id, or for what is no method, waits all the same.
            (Some(method), _)
                if message
                    .get("id")
                    .is_some_and(|id| !matches!(id.shape(), Some(Shape::Number | Shape::String))) =>
            {
                let id = message.get("id").unwrap_or(Raw::NULL);
                refuse(id, -32600, "the id of a request is a text or a number", method, exchange);
            }
            (None, Some(id)) if message.get("method").is_some() => {
                refuse(id, -32600, "the method of a request is a text", Str::EMPTY, exchange);
            }
            (Some(method), Some(id)) => self.question(message, method, id, exchange),
            (Some(method), None) if self.is_no_end(message, method) => {
                exchange.notes.push("the program says the end of a turn that does not run".to_owned());
            }
            (Some(method), None) => {
                recorded(FROM_PROGRAM, message.as_str(), exchange);
                self.notification(message, method, exchange);
            }
            (None, _) if !["result", "error"].iter().any(|name| message.get(name).is_some()) => {
                exchange.notes.push("the program says what is no message".to_owned());
            }
            (None, id) => {
                recorded(FROM_PROGRAM, message.as_str(), exchange);
                self.answered(message, id, exchange);
            }
        }
    }

    fn has_answered(&self) -> bool {
        !matches!(self.stage, Stage::Asleep | Stage::Greeted)
    }

    fn waits(&self) -> Option<Wait> {
        match (self.stage, &self.turn) {
            (Stage::Asleep, _) => None,
            (Stage::Open, turn) => turn.as_ref().filter(|turn| turn.stopping).map(|_| Wait::Stop),
            _ => Some(Wait::Begin),
        }
    }

    fn late(&mut self, exchange: &mut Exchange) {
        exchange.over = Some(match self.stage {
            Stage::Open => "codex app-server did not end the turn that it was told to stop".to_owned(),
            _ => "codex app-server did not answer the handshake".to_owned(),
        });
    }

    fn queued(&self) -> usize {
        self.prompts.iter().map(String::len).sum()
    }
}

impl AppServer {
    fn new(launch: &Launch) -> Self {
        Self {
            opening: Opening::of(launch),
            host: launch.format.dialect,
            asked: 0,
            stage: Stage::Asleep,
            awaited: String::new(),
            thread: String::new(),
            prompts: VecDeque::new(),
            turn: None,
            ended: String::new(),
            stops: Vec::new(),
            questions: Vec::new(),
            model: None,
            mode: None,
        }
    }

    /// Makes a request and returns its id. Ours are texts, for those of the program, and of hosts, are numbers or texts of another kind.
    fn ask(&mut self, method: &str, params: &str, exchange: &mut Exchange) -> String {
        let id = self.new_id();
        request(method, &id, params, exchange);
        id
    }

    fn new_id(&mut self) -> String {
        self.asked += 1;
        format!("\"agentglot-{}\"", self.asked)
    }

    fn open(&mut self, exchange: &mut Exchange) {
        self.stage = Stage::Opening;
        let (method, params) = self.opening.request();
        exchange.notes.append(&mut self.opening.unsaid);
        self.awaited = self.ask(method, &params, exchange);
    }

    /// Begins the turn of the prompt that has waited longest: a second one beside it would be told to the first.
    fn next_turn(&mut self, exchange: &mut Exchange) {
        if self.stage != Stage::Open || self.turn.is_some() {
            return;
        }
        let Some(input) = self.prompts.pop_front() else { return };
        let changes = self.opening.turn(self.model.take().as_deref(), self.mode.take());
        let params = format!("{{\"threadId\":\"{}\",\"input\":{input}{changes}}}", self.thread);
        let request = self.ask("turn/start", &params, exchange);
        self.turn = Some(Turn {
            request,
            id: None,
            begun: false,
            stopping: false,
            running: BTreeSet::new(),
        });
    }

    /// What the host wants from the next turn on.
    fn change(&mut self, request: &Request<'_>, fields: Fields<'_>) {
        match request.kind {
            ControlKind::SetModel => self.model = text(fields, "model").or(self.model.take()),
            ControlKind::SetMode => {
                let mode = text(fields, "mode").and_then(|mode| PermissionMode::from_name(self.host, &mode));
                self.mode = mode.or(self.mode);
            }
            _ => {}
        }
    }

    /// Stops the turn that runs, or that is about to. The answer to the host's request is the program's.
    fn stop(&mut self, id: Option<Str<'_>>, exchange: &mut Exchange) -> bool {
        if self.turn.is_none() && self.prompts.is_empty() {
            return false;
        }
        let id = id.map_or_else(|| self.new_id(), |id| format!("\"{}\"", id.as_escaped()));
        self.stops.push(id);
        self.stop_now(exchange);
        true
    }

    fn stop_now(&mut self, exchange: &mut Exchange) {
        let begun = self.turn.as_mut().filter(|turn| turn.begun);
        let Some((turn, id)) = begun.and_then(|turn| turn.id.clone().map(|id| (turn, id))) else {
            return;
        };
        for stop in take(&mut self.stops) {
            turn.stopping = true;
            let params = format!("{{\"threadId\":\"{}\",\"turnId\":\"{id}\"}}", self.thread);
            request("turn/interrupt", &stop, &params, exchange);
        }
    }

    /// The program asks.
    fn question(&mut self, message: Raw<'_>, method: Str<'_>, id: Raw<'_>, exchange: &mut Exchange) {
        match question(method, id, message) {
            Some(asked) => {
                recorded(FROM_PROGRAM, message.as_str(), exchange);
                self.questions.push(asked);
            }
            None => {
                let why = format!("agentglot does not serve {}", method.unescape());
                refuse(id, -32601, &why, method, exchange);
            }
        }
    }

    /// A message that cannot be read to its end. It may be a question, an answer or the end of the turn: somebody waits.
    fn damaged(&mut self, text: &str, exchange: &mut Exchange) {
        let Some(part) = sound_part(text) else { return };
        let message = Raw::trusted(&part);
        let method = message.get("method").and_then(Raw::string);
        let error = "{\"message\":\"what the program said of it cannot be read\"}";
        let made = match (method, message.get("id").filter(|id| !id.is_null())) {
            (Some(method), Some(id)) => return refuse(id, -32700, "a message ends with its last bracket", method, exchange),
            (None, Some(id)) => format!("{{\"id\":{},\"error\":{error}}}", id.as_str()),
            (Some(method), None) if method.is("turn/completed") => {
                let Some(turn) = self.turn.as_ref().and_then(|turn| turn.id.as_deref()) else {
                    return;
                };
                let turn = format!("{{\"id\":\"{turn}\",\"items\":[],\"status\":\"failed\",\"error\":{error}}}");
                let thread = message.get("params").and_then(|params| params.get("threadId")).and_then(Raw::string);
                let thread = thread.map_or(self.thread.as_str(), Str::as_escaped);
                format!("{{\"method\":\"turn/completed\",\"params\":{{\"threadId\":\"{thread}\",\"turn\":{turn}}}}}")
            }
            _ => return,
        };
        self.hear(made.as_bytes(), exchange);
    }

    fn notification(&mut self, message: Raw<'_>, method: Str<'_>, exchange: &mut Exchange) {
        let params = message.get("params").unwrap_or(Raw::NULL);
        let word = |of: Option<Raw<'_>>, name: &str| Some(of?.get(name)?.string()?.as_escaped().to_owned());
        // Agents that the program has started have threads and turns of their own.
        if word(Some(params), "threadId").is_some_and(|thread| thread != self.thread) {
            return;
        }
        match &*method.unescape() {
            "turn/started" => self.began(word(params.get("turn"), "id"), true, exchange),
            "turn/completed" => self.ended(exchange),
            name if name.starts_with("item/") => {
                let turn = word(Some(params), "turnId");
                if self.turn.as_ref().is_some_and(|runs| runs.id.is_some() && runs.id == turn) {
                    self.began(turn, true, exchange);
                    self.runs(name, params);
                }
            }
            "serverRequest/resolved" => {
                let id = params.get("requestId").map_or("", Raw::as_str);
                self.questions.retain(|asked| asked.id != id);
            }
            "thread/closed" => exchange.over = Some("codex app-server has closed the thread".to_owned()),
            _ => {}
        }
    }

    /// A command of the turn may have begun or ended.
    fn runs(&mut self, method: &str, params: Raw<'_>) {
        let process = params
            .get("item")
            .and_then(|item| item.get("processId"))
            .filter(|process| !process.is_null());
        let (Some(turn), Some(process)) = (&mut self.turn, process) else {
            return;
        };
        match method {
            "item/started" => _ = turn.running.insert(process.as_str().to_owned()),
            "item/completed" => _ = turn.running.remove(process.as_str()),
            _ => {}
        }
    }

    /// The turn has its id, or the program tells something of the one that has it.
    fn began(&mut self, id: Option<String>, begun: bool, exchange: &mut Exchange) {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.id.is_none() || turn.id == id && !turn.begun) else {
            return;
        };
        turn.id = id;
        turn.begun |= begun;
        self.stop_now(exchange);
    }

    /// Whether this is the end of a turn of the thread which is not the one that runs: what ended once does not end another one.
    fn is_no_end(&self, message: Raw<'_>, method: Str<'_>) -> bool {
        let params = message.get("params").unwrap_or(Raw::NULL);
        let id = params.get("turn").and_then(|turn| turn.get("id")?.string());
        let Some(id) = id.filter(|_| method.is("turn/completed")) else {
            return false;
        };
        let thread = params.get("threadId").and_then(Raw::string);
        let ours = thread.is_none_or(|thread| thread.as_escaped() == self.thread);
        let runs = self.turn.as_ref().and_then(|turn| turn.id.as_deref());
        ours && (id.as_escaped() == self.ended || runs.is_some_and(|runs| runs != id.as_escaped()))
    }

    fn ended(&mut self, exchange: &mut Exchange) {
        let Some(turn) = self.turn.take() else { return };
        self.ended = turn.id.unwrap_or_default();
        // The program lets commands of a turn that was stopped go on in the background.
        for process in turn.running.iter().filter(|_| turn.stopping) {
            let params = format!("{{\"threadId\":\"{}\",\"processId\":{process}}}", self.thread);
            self.ask("thread/backgroundTerminals/terminate", &params, exchange);
        }
        // What was to be stopped has ended by itself.
        for stop in take(&mut self.stops) {
            recorded(FROM_PROGRAM, &format!("{{\"id\":{stop},\"result\":{{}}}}"), exchange);
        }
        self.next_turn(exchange);
    }

    /// The program has answered one of our requests.
    fn answered(&mut self, message: Raw<'_>, id: Option<Raw<'_>>, exchange: &mut Exchange) {
        let id = id.map_or("", Raw::as_str);
        let error = message.get("error").filter(|error| !error.is_null());
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.request == id) {
            match message.get("result").and_then(|result| result.get("turn")?.get("id")?.string()) {
                Some(id) if turn.id.is_none() => self.began(Some(id.as_escaped().to_owned()), false, exchange),
                // The decoder tells how that turn has ended.
                None if error.is_some() => self.ended(exchange),
                _ => {}
            }
            return;
        }
        if self.stage == Stage::Open || id != self.awaited {
            return;
        }
        if let Some(error) = error {
            let why = error.get("message").and_then(Raw::string).map(|text| text.unescape().into_owned());
            let why = why.unwrap_or_else(|| error.as_str().to_owned());
            exchange.over = Some(match &self.opening.resume {
                Resume::Session(id) if self.stage == Stage::Opening => ArgError::no_session(self.host, id).text.trim_end().to_owned(),
                _ => format!("codex app-server refuses to begin: {why}"),
            });
            exchange.notes.push(format!("the handshake failed: {why}"));
            return;
        }
        let result = message.get("result").unwrap_or(Raw::NULL);
        match self.stage {
            Stage::Greeted => {
                say("{\"method\":\"initialized\"}", exchange);
                if self.opening.resume == Resume::Latest {
                    self.stage = Stage::Looking;
                    let params = self.opening.latest();
                    self.awaited = self.ask("thread/list", &params, exchange);
                } else {
                    self.open(exchange);
                }
            }
            Stage::Looking => {
                let latest = result.get("data").and_then(|list| list.elements().next()?.get("id")?.string());
                self.opening.resume = latest.map_or(Resume::New, |id| Resume::Session(id.unescape().into_owned()));
                self.open(exchange);
            }
            Stage::Opening => match result.get("thread").and_then(|thread| thread.get("id")?.string()) {
                Some(thread) => {
                    thread.as_escaped().clone_into(&mut self.thread);
                    self.stage = Stage::Open;
                    self.next_turn(exchange);
                }
                None => exchange.over = Some("codex app-server does not say which thread it has opened".to_owned()),
            },
            Stage::Asleep | Stage::Open => {}
        }
    }
}

/// The program asks what nobody can be asked, and reads why.
fn refuse(id: Raw<'_>, code: i32, why: &str, method: Str<'_>, exchange: &mut Exchange) {
    exchange
        .notes
        .push(format!("the program asks what nobody here can answer: {}: {why}", method.unescape()));
    let line = format!("{{\"id\":{},\"error\":{{\"code\":{code},\"message\":{}}}}}\n", id.as_str(), quoted(why));
    exchange.program.extend_from_slice(line.as_bytes());
}

const FROM_HOST: &str = "c2s";
const FROM_PROGRAM: &str = "s2c";

fn request(method: &str, id: &str, params: &str, exchange: &mut Exchange) {
    // A host's configurations may stand on several lines.
    let params = on_one_line(params);
    say(&format!("{{\"method\":\"{method}\",\"id\":{id},\"params\":{params}}}"), exchange);
}

/// Says a message to the program.
fn say(message: &str, exchange: &mut Exchange) {
    exchange.program.extend_from_slice(message.as_bytes());
    exchange.program.push(b'\n');
    recorded(FROM_HOST, message, exchange);
}

/// The line of a recording.
fn recorded(side: &str, message: &str, exchange: &mut Exchange) {
    let line = format!("{{\"dir\":\"{side}\",\"msg\":{message}}}\n");
    exchange.session.extend_from_slice(line.as_bytes());
}
