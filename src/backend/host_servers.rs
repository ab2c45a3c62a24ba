//! MCP servers that live in the host, for programs that know only servers which they start themselves.
//!
//! In place of such a server the program is given our own program to start; that hands lines over a socket to the session, which asks the
//! host, one `mcp_message` a message. A program may start it more than once, and the host has one server: each request goes to it under
//! a number of ours. What tools a server has is asked by us too, for the session's facts say it, and these programs do not.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::adapters::raw::event::{ControlKind, Fields, Input, InputKind, Request, Response};
use crate::agent::mcp::PLAIN;
use crate::child::leftover;

/// The hidden command that stands for a server: it passes lines between its standard input and output and a socket.
pub const RELAY: &str = "server-relay";

/// How the ids of our questions begin.
pub const OURS: &str = "agentglot-server-";

/// A message for a server inside the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    /// The id of the question.
    pub id: String,
    /// The server's name.
    pub server: String,
    /// The message.
    pub message: Value,
}

/// A server inside the host, as the session's facts tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// It has said what tools it has.
    pub connected: bool,
    /// What the host calls these.
    pub tools: Vec<String>,
}

/// The servers, and who speaks to them. The socket and its folder, which only we can read, are gone with this.
#[derive(Debug)]
pub struct Inside {
    heard: mpsc::Receiver<Heard>,
    door: tokio::task::JoinHandle<()>,
    servers: Vec<Known>,
    /// Servers whose tools are not known yet.
    unknown: usize,
    since: Instant,
    clients: BTreeMap<u64, Client>,
    /// Requests that the host has not answered, by their numbers.
    waiting: BTreeMap<u64, Waiting>,
    numbers: u64,
    messages: VecDeque<ServerMessage>,
    /// See [`Serves::wants_objects`](crate::adapters::raw::client::Serves::wants_objects).
    wants_objects: bool,
    folder: leftover::Folder,
}

/// A program that has started a server.
#[derive(Debug)]
struct Client {
    server: String,
    lines: mpsc::UnboundedSender<Value>,
}

#[derive(Debug)]
struct Waiting {
    /// Who asked; we ourselves if this is `None`.
    client: Option<u64>,
    /// Its own id.
    id: Value,
    server: String,
}

#[derive(Debug)]
enum Heard {
    Opened(u64, Client),
    Said(u64, Value),
    Closed(u64),
}

/// So long the session's facts wait for what tools the servers have.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest message of a program.
const LONGEST: u64 = 64 << 20;

/// So many messages of programs wait to be passed on.
const AHEAD: usize = 64;

impl Inside {
    /// With a host's handshake: takes the place of its servers in these configurations, those of type `sdk` and those that the handshake names.
    pub fn instead(request: &Request<'_>, fields: Fields<'_>, configs: &mut Vec<String>) -> Option<Self> {
        if request.kind != ControlKind::Initialize {
            return None;
        }
        Self::replacing(fields, configs).unwrap_or_else(|error| {
            tracing::warn!("the servers inside the host cannot be reached: {error}");
            None
        })
    }

    fn replacing(handshake: Fields<'_>, configs: &mut Vec<String>) -> std::io::Result<Option<Self>> {
        let mut read: Vec<Option<Value>> = configs.iter().map(|text| serde_json::from_str(text).ok()).collect();
        let is_ours = |server: &Value| server["type"] == "sdk";
        let mut names: Vec<String> = Vec::new();
        for (name, _) in read.iter_mut().flatten().flat_map(servers).filter(|(_, server)| is_ours(server)) {
            names.push(name.clone());
        }
        for field in handshake.iter().filter(|field| field.key.is("sdkMcpServers")) {
            names.extend(field.value.elements().filter_map(|name| Some(name.string()?.unescape().into_owned())));
            names.extend(field.value.members().map(|(name, _)| name.unescape().into_owned()));
        }
        names.sort();
        names.dedup();
        if names.is_empty() {
            return Ok(None);
        }
        let inside = Self::listen(&names)?;
        let socket = inside.folder.path().join(SOCKET);
        let own = std::env::current_exe()?;
        let relay = |name: &str| json!({ "type": "stdio", "command": own, "args": [RELAY, socket, name] });
        for (text, config) in configs.iter_mut().zip(&mut read) {
            let Some(config) = config else { continue };
            let mut changed = false;
            for (name, server) in servers(config).filter(|(_, server)| is_ours(server)) {
                *server = relay(name);
                names.retain(|known| known != name);
                changed = true;
            }
            if changed {
                *text = config.to_string();
            }
        }
        let named: Map<String, Value> = names.iter().map(|name| (name.clone(), relay(name))).collect();
        if !named.is_empty() {
            configs.push(json!({ "mcpServers": named }).to_string());
        }
        Ok(Some(inside))
    }

    fn listen(names: &[String]) -> std::io::Result<Self> {
        let folder = leftover::Folder::new()?;
        let listener = UnixListener::bind(folder.path().join(SOCKET))?;
        let (say, heard) = mpsc::channel(AHEAD);
        let door = tokio::spawn(async move {
            let mut count = 0;
            while let Ok((stream, _)) = listener.accept().await {
                count += 1;
                tokio::spawn(serve(count, stream, say.clone()));
            }
        });
        let mut inside = Self {
            heard,
            door,
            servers: Vec::new(),
            unknown: names.len(),
            since: Instant::now(),
            clients: BTreeMap::new(),
            waiting: BTreeMap::new(),
            numbers: 0,
            messages: VecDeque::new(),
            wants_objects: false,
            folder,
        };
        for name in names {
            inside.servers.push(Known {
                name: name.clone(),
                ..Known::default()
            });
            let who = json!({ "name": "agentglot", "version": env!("CARGO_PKG_VERSION") });
            let params = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": who });
            inside.greet(name, "initialize", params);
        }
        Ok(inside)
    }

    /// For a program that wants the structured content of a result to be an object.
    #[must_use]
    pub const fn with_objects(mut self, wanted: bool) -> Self {
        self.wants_objects = wanted;
        self
    }

    /// The servers, as far as they are known.
    pub fn servers(&self) -> &[Known] {
        &self.servers
    }

    /// Until when the session's facts wait; `None` if they need not.
    pub fn due(&self) -> Option<Instant> {
        let until = self.since + PATIENCE;
        (self.unknown > 0 && Instant::now() < until).then_some(until)
    }

    /// Waits for the next message for the host. Cancel-safe.
    async fn next(&mut self) -> ServerMessage {
        loop {
            if let Some(message) = self.messages.pop_front() {
                return message;
            }
            match self.heard.recv().await {
                Some(heard) => self.hear(heard),
                None => std::future::pending().await,
            }
        }
    }

    /// The host says something. Returns whether it is an answer to a message that was put to it here.
    pub fn told(&mut self, input: &Input<'_>) -> bool {
        match input.kind {
            InputKind::Response(response) => self.answered(response),
            InputKind::Request(request) if request.kind == ControlKind::Mcp => {
                self.says(input.fields);
                false
            }
            _ => false,
        }
    }

    fn answered(&mut self, response: &Response<'_>) -> bool {
        let Some(number) = response.id.and_then(|id| id.as_escaped().strip_prefix(OURS)) else {
            return false;
        };
        let Some(waiting) = number.parse().ok().and_then(|number: u64| self.waiting.remove(&number)) else {
            // It was nothing that has an answer.
            return true;
        };
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        let body = response.body.and_then(|body| read(body.as_str())).unwrap_or_default();
        let mut answer = match body.get("mcp_response").filter(|answer| response.ok && answer.is_object()) {
            Some(answer) => answer.clone(),
            None => {
                let error = response.error.and_then(|error| read(error.as_str())).unwrap_or_default();
                let said = [&error, &error["message"], &body["message"]].into_iter().find_map(Value::as_str);
                json!({ "jsonrpc": "2.0", "error": { "code": -32603, "message": said.unwrap_or("the host did not answer") } })
            }
        };
        match waiting.client {
            None => self.learn(&waiting, &answer),
            Some(client) => {
                answer["id"] = waiting.id;
                if let Some(result) = answer.get_mut("result").filter(|_| self.wants_objects) {
                    structure(result);
                }
                if let Some(client) = self.clients.get(&client) {
                    let _ = client.lines.send(answer);
                }
            }
        }
        true
    }

    /// A server says something of its own accord.
    fn says(&mut self, fields: Fields<'_>) {
        let member = |name: &str| fields.iter().find(|field| field.key.is(name)).map(|field| field.value);
        let server = member("server_name").and_then(|name| Some(name.string()?.unescape().into_owned()));
        let message = member("message").and_then(|message| serde_json::from_str::<Value>(message.as_str()).ok());
        let (Some(server), Some(message)) = (server, message.filter(|message| message.get("method").is_some())) else {
            return;
        };
        let mut clients = self.clients.values().filter(|client| client.server == server);
        // An answer comes from one.
        let most = if message.get("id").is_some() { 1 } else { usize::MAX };
        clients.by_ref().take(most).for_each(|client| _ = client.lines.send(message.clone()));
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Opened(number, client) => _ = self.clients.insert(number, client),
            Heard::Closed(number) => {
                self.clients.remove(&number);
                self.waiting.retain(|_, waiting| waiting.client != Some(number));
            }
            Heard::Said(number, mut message) => {
                let Some(server) = self.clients.get(&number).map(|client| client.server.clone()) else {
                    return;
                };
                if message["method"] == "notifications/cancelled" {
                    let of = |(_, waiting): &(&u64, &Waiting)| waiting.client == Some(number) && waiting.id == message["params"]["requestId"];
                    let Some((ours, _)) = self.waiting.iter().find(of) else { return };
                    message["params"]["requestId"] = json!(ours);
                }
                let asks = message.get("method").and(message.get("id")).is_some();
                let asks = asks.then(|| Waiting {
                    client: Some(number),
                    id: message["id"].take(),
                    server: server.clone(),
                });
                self.put(server, message, asks);
            }
        }
    }

    /// What the server inside the host says to us: at last, what tools it has.
    fn learn(&mut self, asked: &Waiting, answer: &Value) {
        let Some(known) = self.servers.iter_mut().find(|known| known.name == asked.server) else {
            return;
        };
        let result = answer.get("result");
        if asked.id == "initialize" && result.is_some() {
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            self.put(asked.server.clone(), message, None);
            return self.greet(&asked.server, "tools/list", json!({}));
        }
        known.connected = result.is_some();
        let tools = result.and_then(|result| result["tools"].as_array()).into_iter().flatten();
        let tools = tools.filter_map(|tool| Some(PLAIN.tool(&known.name, tool["name"].as_str()?)));
        known.tools.extend(tools);
        match result
            .and_then(|result| result["nextCursor"].as_str())
            .filter(|_| known.tools.len() < MOST)
        {
            Some(cursor) => self.greet(&asked.server, "tools/list", json!({ "cursor": cursor })),
            None => self.unknown -= 1,
        }
    }

    fn greet(&mut self, server: &str, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params });
        let asks = Waiting {
            client: None,
            id: json!(method),
            server: server.to_owned(),
        };
        self.put(server.to_owned(), message, Some(asks));
    }

    /// Puts a message to the host, under a number of ours.
    fn put(&mut self, server: String, mut message: Value, asks: Option<Waiting>) {
        self.numbers += 1;
        if let Some(asks) = asks {
            message["id"] = json!(self.numbers);
            self.waiting.insert(self.numbers, asks);
        }
        self.messages.push_back(ServerMessage {
            id: format!("{OURS}{}", self.numbers),
            server,
            message,
        });
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.door.abort();
    }
}

/// Waits for the next message for the host; without any servers, for ever.
pub async fn next(inside: &mut Option<Inside>) -> ServerMessage {
    match inside {
        Some(inside) => inside.next().await,
        None => std::future::pending().await,
    }
}

/// What the relay does, until one side has ended.
///
/// # Errors
/// Those of the socket: the session has gone.
pub fn relay(socket: &Path, server: &str) -> std::io::Result<()> {
    let mut stream = BlockingStream::connect(socket)?;
    stream.write_all(format!("{}\n", json!(server)).as_bytes())?;
    let mut says = stream.try_clone()?;
    std::thread::spawn(move || {
        let _ = pass(&mut std::io::stdin().lock(), &mut says);
        let _ = says.shutdown(std::net::Shutdown::Write);
    });
    pass(&mut stream, &mut std::io::stdout().lock())
}

/// Not `std::io::copy`: on Linux that has the system move the bytes, which then holds a pipe while it waits, and whoever reads it waits too.
fn pass(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut room = vec![0; 64 << 10];
    loop {
        match from.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                to.write_all(&room[..read])?;
                to.flush()?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What the socket is called in its folder.
const SOCKET: &str = "socket";

/// The version of the protocol that we ask the servers in.
const VERSION: &str = "2025-06-18";

/// Above so many tools no further page of them is asked for.
const MOST: usize = 10_000;

/// Gives a result whose text is JSON and no object a structured content that is one, as servers do whose tools return no object.
fn structure(result: &mut Value) {
    let first = &result["content"][0];
    let text = first["text"].as_str().filter(|_| first["type"] == "text");
    let value: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
    if let Some(value) = value.filter(|value| !value.is_object() && result["structuredContent"].is_null()) {
        result["structuredContent"] = json!({ "result": value });
    }
}

/// The servers of a configuration.
fn servers(config: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    let framed = config.get("mcpServers").is_some();
    let servers = if framed { &mut config["mcpServers"] } else { config };
    servers.as_object_mut().into_iter().flatten()
}

/// One program that has started a server.
async fn serve(number: u64, stream: UnixStream, heard: mpsc::Sender<Heard>) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    let Ok(_) = (&mut read).take(LONGEST).read_until(b'\n', &mut line).await else {
        return;
    };
    let Ok(server) = serde_json::from_slice(&line) else { return };
    let (lines, mut answers) = mpsc::unbounded_channel::<Value>();
    let writes = tokio::spawn(async move {
        while let Some(answer) = answers.recv().await {
            if write.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
                return;
            }
        }
    });
    let _ = heard.send(Heard::Opened(number, Client { server, lines })).await;
    loop {
        line.clear();
        let read = (&mut read).take(LONGEST).read_until(b'\n', &mut line).await;
        // A line that has no end is too long, or the last one of a program that was killed.
        if read.is_err() || !line.ends_with(b"\n") {
            break;
        }
        if let Ok(message @ Value::Object(_)) = serde_json::from_slice(&line)
            && heard.send(Heard::Said(number, message)).await.is_err()
        {
            break;
        }
    }
    let _ = heard.send(Heard::Closed(number)).await;
    let _ = writes.await;
}

#[cfg(test)]
mod tests;
