//! Servers of the Model Context Protocol, whose tools, resources and prompts the session has beside its own.
//!
//! [`Mcp::start`] begins to connect to all servers at once and returns; [`Mcp::ready`] waits until each has come up or has not. A server
//! that does not come up is a failed one, and the session goes on without it. One that dies later is started anew by the next call of
//! one of its tools; the call that saw it die is an error result.
//!
//! Servers that are programs of ours and those at an address are spoken to with rmcp; those that live in the host
//! (`initialize.sdkMcpServers`, servers of type `sdk`) get their JSON-RPC over the control channel, one `mcp_message` a message.
//!
//! ```no_run
//! # async fn example(requests: agentglot_agent::control_requests::HostRequests, environment: Vec<(String, String)>) -> Result<(), Box<dyn std::error::Error>> {
//! use agentglot_agent::mcp::{Mcp, Options, config};
//!
//! let cwd = std::env::current_dir()?;
//! let variable = |name: &str| std::env::var(name).ok();
//! let servers = config::of_flag(&[r#"{"mcpServers":{"all":{"command":"npx","args":["-y","@modelcontextprotocol/server-everything"]}}}"#.to_owned()], &cwd, &variable)?;
//! let mcp = Mcp::start(servers, requests, Options::new(cwd, environment, &variable));
//! mcp.ready().await;
//! let tools = mcp.tools();
//! # Ok(()) }
//! ```

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

mod bounded;
mod client;
pub mod config;
mod connect;
mod content;
mod control;
mod host_link;
mod lazy;
mod link;
mod names;
mod prompt;
mod slot;
mod sse;
mod stdio;
mod tool;

pub use config::{ConfigError, Reach, Server};
pub use control::Changed;
pub(crate) use lazy::McpServers;
pub use names::{Naming, PLAIN, SNAKE};
pub use prompt::Command;

use self::content::Store;
use self::link::{Around, Trouble};
use self::slot::{Phase, Slot};
use crate::control_requests::HostRequests;
use crate::tools::{Owner, Spec, Tool};
use agentglot_adapters::raw::event::ToolKind;
use agentglot_process::Watcher;

/// No API takes longer names of tools, nor a request with one among its tools.
const LONGEST_NAME: usize = 128;

/// How long a server may take to come up, unless `MCP_TIMEOUT` says otherwise.
pub const CONNECT: Duration = Duration::from_secs(30);

/// How long a call may take, unless `MCP_TOOL_TIMEOUT` or the server's `timeout` says otherwise: as with Claude Code, more than a day.
pub const CALL: Duration = Duration::from_secs(100_000);

/// How many tokens of text a result may have, unless `MAX_MCP_OUTPUT_TOKENS` says otherwise; a token is taken for four bytes.
pub const OUTPUT: usize = 25_000;

/// How long what is no call may take: lists, resources, prompts.
const ASK: Duration = Duration::from_secs(60);

/// What holds for all servers of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder that programs run in, and the one root that servers are told.
    pub cwd: PathBuf,
    /// The variables that programs get beside those of their own, scrubbed of secrets.
    pub environment: Vec<(String, String)>,
    /// Who looks after programs if we die.
    pub watcher: Watcher,
    /// How long a server may take to come up.
    pub connect: Duration,
    /// How long a call may take.
    pub call: Duration,
    /// How many tokens of text a result may have.
    pub output: usize,
    /// How tools are called.
    pub naming: Naming,
    /// Whether a server's questions to the user go to the host as `elicitation`; otherwise they are declined.
    pub asks_user: bool,
}

impl Options {
    /// The usual ones, with the time-outs and limits that the variables say.
    pub fn new(cwd: PathBuf, environment: Vec<(String, String)>, variable: config::Lookup<'_>) -> Self {
        let number = |name: &str| {
            variable(name)
                .and_then(|text| text.trim().parse::<u64>().ok())
                .filter(|&number| number > 0)
        };
        let time = |name: &str, usual| number(name).map_or(usual, Duration::from_millis);
        Self {
            cwd,
            environment,
            watcher: Watcher::default(),
            connect: time("MCP_TIMEOUT", CONNECT),
            call: time("MCP_TOOL_TIMEOUT", CALL),
            output: number("MAX_MCP_OUTPUT_TOKENS")
                .and_then(|number| usize::try_from(number).ok())
                .unwrap_or(OUTPUT),
            naming: PLAIN,
            asks_user: false,
        }
    }
}

/// The servers of a session. Clones are the same ones.
#[derive(Clone, Debug)]
pub struct Mcp {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: Arc<Options>,
    requests: HostRequests,
    slots: RefCell<Vec<Rc<Slot>>>,
}

/// How far a server is, in the words of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// `connected`
    Connected,
    /// `pending`
    Pending,
    /// `failed`
    Failed,
    /// `needs-auth`
    NeedsAuth,
    /// `disabled`
    Disabled,
}

impl Status {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::NeedsAuth => "needs-auth",
            Self::Disabled => "disabled",
        }
    }

    /// Whether there is a connection, which is all that some programs say of it.
    pub const fn connection(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Pending => "connecting",
            Self::Failed | Self::NeedsAuth | Self::Disabled => "disconnected",
        }
    }
}

/// A server in `system/init`, and whose a tool is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// How far it is.
    pub status: Status,
    /// Where it comes from, see [`Server::source`].
    pub source: String,
    /// Why it is not there.
    pub error: Option<String>,
}

/// Whose a tool is and what is said of it: what permissions are judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The server.
    pub server: String,
    /// Where it comes from, see [`Server::source`].
    pub source: String,
    /// Its calls need no permission.
    pub trusted: bool,
    /// `always_allow`, `always_ask` or `always_deny`, if that is said of the tool.
    pub policy: Option<String>,
}

impl Mcp {
    /// Begins to connect to servers.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(servers: Vec<Server>, requests: HostRequests, options: Options) -> Self {
        let mcp = Self {
            inner: Rc::new(Inner {
                options: Arc::new(options),
                requests,
                slots: RefCell::default(),
            }),
        };
        mcp.add(servers, None);
        mcp
    }

    /// The host's `initialize` names servers of its own (`sdkMcpServers`, with what it tells of them in `sdkMcpServerManifests`) and others
    /// (`mcpServers`). [`Self::ready`] greets them.
    ///
    /// # Errors
    /// When `mcpServers` is no configuration.
    pub fn initialize(&self, request: &Value) -> Result<(), ConfigError> {
        let mut servers = config::of_host(request);
        if let Some(others) = request.get("mcpServers").filter(|others| !others.is_null()) {
            config::join(&mut servers, config::of_value(others, "dynamic", &variable)?);
        }
        // One that the host names twice is there already: Python says its servers in the flag as well.
        let manifests = request.get("sdkMcpServerManifests");
        servers.retain(|server| {
            let slots = self.inner.slots.borrow();
            !slots.iter().any(|slot| {
                slot.server == *server || (slot.server.reach == Reach::Host && server.reach == Reach::Host && slot.is_named(&server.name))
            })
        });
        self.add(servers, manifests);
        Ok(())
    }

    fn add(&self, servers: Vec<Server>, manifests: Option<&Value>) -> Vec<Rc<Slot>> {
        let mut added = Vec::new();
        for server in servers {
            let manifest = manifests.and_then(|manifests| manifests.get(&server.name)).cloned();
            let slot = Slot::new(server, manifest);
            slot.begin(&self.inner);
            let mut slots = self.inner.slots.borrow_mut();
            slots.retain(|known| !known.is_named(&slot.server.name));
            slots.push(Rc::clone(&slot));
            added.push(slot);
        }
        added
    }

    /// Waits until each server has come up or has not: no longer than [`Options::connect`].
    pub async fn ready(&self) {
        let slots = self.inner.all();
        futures_util::future::join_all(slots.iter().map(|slot| slot.settled(&self.inner))).await;
    }

    /// Asks servers that said that their lists have changed for the new ones: to be called before each request to the model. It takes no time
    /// if there is nothing new.
    pub async fn refresh(&self) {
        let slots = self.inner.all();
        futures_util::future::join_all(slots.iter().map(|slot| slot.refresh(&self.inner))).await;
    }

    /// The tools of all servers that are there, in the order of the servers; of two with the same name the first. Those for resources are
    /// among them if a server has any.
    pub fn tools(&self) -> Vec<Rc<dyn Tool>> {
        let mut tools: Vec<Rc<dyn Tool>> = Vec::new();
        let mut names = HashSet::new();
        for slot in self.inner.all() {
            for (tool, spec) in self.inner.specs(&slot) {
                if spec.name.len() > LONGEST_NAME {
                    tracing::warn!(
                        server = slot.server.name,
                        "an MCP tool has a name of {} characters: it does not count",
                        spec.name.len()
                    );
                    continue;
                }
                if !names.insert(spec.name.clone()) {
                    tracing::warn!(
                        server = slot.server.name,
                        "two MCP tools have the name {}: the first one counts",
                        spec.name
                    );
                    continue;
                }
                tools.push(Rc::new(tool::McpTool {
                    inner: Rc::clone(&self.inner),
                    slot: Rc::clone(&slot),
                    tool,
                    spec,
                }));
            }
        }
        if self.inner.all().iter().any(|slot| slot.offers_resources()) {
            tools.push(Rc::new(tool::ListResources::new(Rc::clone(&self.inner))));
            tools.push(Rc::new(tool::ReadResource::new(Rc::clone(&self.inner))));
        }
        tools
    }

    /// Whose a tool is, by the name that the model calls it.
    pub fn provenance(&self, name: &str) -> Option<Provenance> {
        self.inner.all().into_iter().find_map(|slot| {
            let (tool, _) = self.inner.specs(&slot).into_iter().find(|(_, spec)| spec.name == name)?;
            let server = &slot.server;
            Some(Provenance {
                server: server.name.clone(),
                source: server.source.clone(),
                trusted: server.trusted,
                policy: server.policies.iter().find(|(named, _)| *named == tool).map(|(_, policy)| policy.clone()),
            })
        })
    }

    /// All servers, for `system/init`.
    pub fn status(&self) -> Vec<Known> {
        let known = |slot: Rc<Slot>| {
            let (status, error) = status(&slot.phase());
            Known {
                name: slot.server.name.clone(),
                status,
                source: slot.server.source.clone(),
                error,
            }
        };
        self.inner.all().into_iter().map(known).collect()
    }

    /// What servers say of how they are to be used, by name, for the system prompt.
    pub fn instructions(&self) -> Vec<(String, String)> {
        let said = |slot: Rc<Slot>| match slot.phase() {
            Phase::Connected(connected) => Some((
                slot.server.name.clone(),
                short(&connected.offer.instructions.filter(|text| !text.trim().is_empty())?),
            )),
            _ => None,
        };
        self.inner.all().into_iter().filter_map(said).collect()
    }

    /// Ends all connections and the programs behind them, with everything that they started.
    pub async fn stop(&self) {
        let slots = self.inner.slots.take();
        futures_util::future::join_all(slots.iter().map(|slot| slot.stop(Phase::Disabled))).await;
    }
}

/// What goes into every request to the model of a server's or a tool's description, in bytes.
const DESCRIBED: usize = 2048;

/// A description, no longer than is passed on.
fn short(text: &str) -> String {
    if text.len() <= DESCRIBED {
        return text.to_owned();
    }
    format!("{}… [the rest was left out]", &text[..text.floor_char_boundary(DESCRIBED)])
}

impl Inner {
    fn all(&self) -> Vec<Rc<Slot>> {
        self.slots.borrow().clone()
    }

    fn find(&self, name: &str) -> Option<Rc<Slot>> {
        self.slots.borrow().iter().find(|slot| slot.is_named(name)).cloned()
    }

    fn no_server(&self, name: &str) -> String {
        let names: Vec<String> = self.all().iter().map(|slot| slot.server.name.clone()).collect();
        format!("There is no MCP server {name:?}; there are: {}", names.join(", "))
    }

    /// What a server's tools are for the model, each with the server's own name for it.
    fn specs(&self, slot: &Slot) -> Vec<(String, Spec)> {
        let Phase::Connected(connected) = slot.phase() else { return Vec::new() };
        let server = &slot.server;
        let offered =
            |name: &str| server.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name)) && !server.without.iter().any(|one| one == name);
        let tools = connected.offer.tools.iter().filter(|tool| offered(&tool.name));
        tools
            .map(|tool| {
                let hint = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
                let spec = Spec {
                    name: self.options.naming.tool(&server.name, &tool.name),
                    description: short(tool.description.as_deref().unwrap_or_default()),
                    schema: Value::Object((*tool.input_schema).clone()),
                    kind: ToolKind::Mcp,
                    reads_only: hint.unwrap_or(false),
                    owner: Some(Owner {
                        server: self.options.naming.part(&server.name),
                        trusted: server.trusted,
                    }),
                };
                (tool.name.clone().into_owned(), spec)
            })
            .collect()
    }

    fn around<'a>(&'a self, server: &'a str) -> Around<'a> {
        Around {
            requests: &self.requests,
            server,
            timeout: ASK,
            tell: &|_| {},
        }
    }

    fn store<'a>(&self, folder: &'a Path, call: &'a str, server: &'a str) -> Store<'a> {
        Store {
            folder,
            call,
            server,
            tokens: self.options.output,
        }
    }

    /// `resources/read`'s result.
    async fn read(&self, server: &str, uri: &str) -> Result<Value, Trouble> {
        let slot = self.find(server).ok_or_else(|| Trouble::Gone(self.no_server(server)))?;
        let connected = slot.connection(self).await?;
        connected.link.read(uri, self.around(server)).await
    }
}

fn status(phase: &Phase) -> (Status, Option<String>) {
    match phase {
        Phase::Pending => (Status::Pending, None),
        Phase::Disabled => (Status::Disabled, None),
        Phase::Failed(Trouble::NeedsAuth) => (Status::NeedsAuth, None),
        Phase::Failed(trouble) => (Status::Failed, Some(trouble.to_string())),
        Phase::Connected(connected) if connected.link.is_over() => (Status::Failed, connected.link.fault()),
        Phase::Connected(_) => (Status::Connected, None),
    }
}

/// A variable of ours.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What `mcp_status` says of a server.
fn told(slot: &Slot) -> Value {
    let phase = slot.phase();
    let (status, error) = status(&phase);
    let server = &slot.server;
    let mut told = json!({ "name": server.name, "status": status.as_str() });
    if let Phase::Connected(connected) = &phase
        && let Some(info) = &connected.offer.info
    {
        told["serverInfo"] = json!({ "name": info.name, "version": info.version });
    }
    if let Some(error) = error {
        told["error"] = Value::String(error);
    }
    // Variables and headers hold secrets: they are not told.
    told["config"] = match &server.reach {
        Reach::Stdio { command, args, .. } => json!({ "type": "stdio", "command": command, "args": args }),
        Reach::Http { url, .. } => json!({ "type": "http", "url": url }),
        Reach::Sse { url, .. } => json!({ "type": "sse", "url": url }),
        Reach::Host => json!({ "type": "sdk", "name": server.name }),
        Reach::Nowhere(_) => json!({}),
    };
    told["scope"] = Value::String(
        if server.reach == Reach::Host {
            "dynamic"
        } else {
            server.source.as_str()
        }
        .to_owned(),
    );
    told["source"] = Value::String(server.source.clone());
    if let Phase::Connected(connected) = phase {
        let tools = connected.offer.tools.iter().map(|tool| {
            let mut said = json!({ "name": tool.name });
            if let Some(description) = &tool.description {
                said["description"] = Value::String(description.clone().into_owned());
            }
            if let Some(hints) = &tool.annotations {
                let hints = [
                    ("readOnly", hints.read_only_hint),
                    ("destructive", hints.destructive_hint),
                    ("openWorld", hints.open_world_hint),
                ];
                let hints = hints.into_iter().filter_map(|(name, hint)| Some((name.to_owned(), Value::Bool(hint?))));
                said["annotations"] = Value::Object(hints.collect());
            }
            said
        });
        told["tools"] = Value::Array(tools.collect());
    }
    told
}
