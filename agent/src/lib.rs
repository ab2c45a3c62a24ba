//! The built-in agent: a model behind an API, tools in the working folder, a session that can be gone on with.
//!
//! It says what it does in the words of the canonical model; the dialect of its host is a codec's business, as with any other back end.
//! What differs between the dialects beyond their lines (names of tools, Tricode's plan) is a [`persona`].

#![deny(unsafe_code)]

pub mod about;
mod clock;
mod commands;
pub mod control_requests;
mod conversation;
pub mod flags;
pub mod hooks;
pub mod host;
mod http;
mod ids;
pub mod mcp;
pub mod model;
pub mod permissions;
pub mod persona;
pub mod redact;
pub mod restrictions;
mod session;
pub mod settings;
mod setup;
pub mod store;
pub mod telemetry;
pub mod tools;
mod turn;
pub mod workplace;
pub mod workspace;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, LocalSet};

use self::hooks::Hooks;
use self::persona::Start;
use self::settings::{Places, Settings};
use self::store::{Checkpoints, History, Transcript};
use crate::commands::hint::Hints;
use crate::commands::request::ChatRequests;
use crate::control_requests::{HostRequests, Unanswered};
use crate::conversation::Conversation;
use crate::host::Host;
use crate::host::event_writer::EventWriter;
use crate::host::prompts::{HostPrompt, PromptQueue};
use crate::host::side_jobs::SideJobs;
use crate::model::Model;
use crate::model::usage::SessionUsage;
use crate::permissions::Policy;
use crate::persona::host::PromptState;
use crate::restrictions::{Restriction, Restrictions};
use crate::settings::CurrentSettings;
use crate::settings::subagent::SubagentKind;
use crate::tools::World;
use crate::turn::context::{Context, Kept, ModelState, Toolbox};
use crate::turn::hooks::HookState;
use crate::turn::state::TurnState;
pub use crate::turn::structured::of_text as answer_of_schema;
use crate::workspace::Wall;
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::conduct::Facts;
use agentglot_adapters::raw::event::{Input, InputKind, InputOrigin};
use agentglot_adapters::raw::launch::Launch;
use agentglot_process::leftover;

/// How long what still runs may take to end when an agent is stopped.
const LAST: Duration = Duration::from_secs(2);

/// What an agent is made of.
#[derive(Debug)]
pub struct Parts {
    /// The dialect of its host.
    pub dialect: Dialect,
    /// What the host asked for.
    pub launch: Launch,
    /// The working folder.
    pub cwd: PathBuf,
    /// Who thinks.
    pub model: Rc<dyn Model>,
    /// The model that was asked for, by the command line or the environment.
    pub model_name: Option<String>,
    /// What models are called.
    pub models: model::names::Models,
    /// The session's transcript, and what was said in it by now.
    pub kept: (Transcript, Option<History>),
    /// The MCP servers of the command line.
    pub servers: Vec<mcp::Server>,
    /// Variables that commands get besides the usual ones.
    pub pass_env: Vec<String>,
    /// How much of the workspace is looked through.
    pub limits: workspace::Limits,
    /// How commands run.
    pub commands: tools::shell::Settings,
    /// Who searches the web.
    pub engine: tools::web_search::Engine,
    /// Whether the user trusts the project in this folder: then its files of settings count.
    pub trusts: fn(&Path) -> bool,
    /// Whether the host may say so too, by flags of its program.
    pub heeds_host: bool,
    /// Tells the user what no dialect has a word for.
    pub warn: fn(&str),
}

/// Why an agent cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What it was asked to be makes no sense here.
    #[error("{0}")]
    Usage(String),
    /// A file or folder could not be opened or read.
    #[error("{name}: cannot be read: {error}")]
    Read {
        /// The file.
        name: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file or folder could not be made or written.
    #[error("{name}: cannot be written: {error}")]
    Write {
        /// The file.
        name: String,
        /// What the system says.
        error: std::io::Error,
    },
}

/// What [`Agent::read`] came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes were appended: lines of `agentglot:events`, or a part of one.
    Bytes,
    /// The prompt that waited longest is answered, without an outcome: it was a command.
    Answered,
    /// Nothing more will come; with the reason, if it broke down.
    Over(Option<String>),
}

/// The agent. It says what it does as lines of `agentglot:events`.
#[derive(Debug)]
pub struct Agent {
    context: Rc<Context>,
    chats: Rc<ChatRequests>,
    hints: Rc<Hints>,
    local: LocalSet,
    life: Option<JoinHandle<()>>,
    /// It has come to its end; with the reason, if it should not have.
    over: Option<Option<String>>,
    _scratch: leftover::Folder,
}

impl Agent {
    /// Puts one together. It begins to live when it is read.
    ///
    /// # Errors
    /// When the working folder cannot be opened, a file that the launch names cannot be read, or commands cannot be confined as they should.
    pub fn new(mut parts: Parts) -> Result<Self, Error> {
        let wall = Wall::new(&parts.cwd).map_err(|error| Error::Read {
            name: parts.cwd.display().to_string(),
            error,
        })?;
        let wall = wall.within(parts.limits);
        let persona = persona::of(parts.dialect);
        let mut restrictions = Restrictions::of(persona.restricts, &parts.launch, &|name| std::env::var(name).ok()).map_err(Error::Usage)?;
        restrictions.limit_tools(&mut parts.launch);
        if restrictions.has(Restriction::Subagents) && parts.launch.agents.take().is_some() && parts.launch.agent.is_some() {
            // What that subagent may do is not known any more.
            let name = parts.launch.agent.as_deref().unwrap_or_default();
            return Err(Error::Usage(format!("--agent '{name}' not found: subagents of --agents are left out")));
        }
        if restrictions.has(Restriction::WritingElsewhere) {
            parts.commands.confine.get_or_insert_default();
        }
        if let Some(confine) = &parts.commands.confine {
            confine.check().map_err(|error| Error::Usage(error.to_string()))?;
        }
        let scratch = leftover::Folder::new().map_err(|error| Error::Write {
            name: "a folder for the session's own files".to_owned(),
            error,
        })?;
        let trusts = |root: &Path| parts.heeds_host && (persona.trusts)(&parts.launch) || (parts.trusts)(root);
        let places = Places::of(&parts.launch, persona.settings, wall.root(), &trusts, &|name| std::env::var_os(name));
        let settings = Settings::load(places.without(&restrictions));
        restrictions.add(settings.max_calls(), settings.max_time(), settings.disabled_commands());
        let mut settings = settings.without_commands(&restrictions);
        let servers = settings.mcp_servers();
        let world = Rc::new(World {
            environment: Arc::new(tools::environment::environment(settings.env(), &parts.pass_env)),
            wall: Arc::new(wall),
            scratch: scratch.path().to_owned(),
        });
        let commands = std::mem::take(&mut parts.commands);
        let persona_session = (persona.begin)(Start {
            launch: &mut parts.launch,
            world: &world,
            commands,
            engine: Some(parts.engine.clone()),
        })?;
        let mut options = setup::options(&parts, &settings)?;
        for agent in &settings.agents {
            options.agents.entry(agent.name.clone()).or_insert_with(|| SubagentKind::of(agent));
        }
        let events = EventWriter::new(persona.host);
        let (transcript, history) = parts.kept;
        let session = transcript.id().to_owned();
        let resumed = history.is_some();
        let used = history.as_ref().map(|history| history.used).unwrap_or_default();
        let deferred = history.as_ref().and_then(|history| history.deferred.clone());
        if let Some(state) = history.as_ref().and_then(|history| history.state.as_ref()) {
            persona_session.restore(state);
        }
        events.set_session(&session);
        let checkpoints = Checkpoints::wanted(persona.sessions, &|name| std::env::var_os(name)).then(|| RefCell::new(transcript.checkpoints()));
        let transcript = Some(Rc::new(RefCell::new(transcript)));
        let conversation = Conversation {
            messages: history.map(History::shared).unwrap_or_default(),
            transcript: transcript.clone(),
            ..Conversation::default()
        };
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let (mut policy, mut problems) = Policy::new(
            &parts.launch,
            persona.vocabulary(),
            world.wall.root(),
            home,
            settings.places().config.clone(),
        );
        if restrictions.has(Restriction::Bypass) {
            policy.never_bypass();
        }
        problems.extend(settings.tell(&mut policy, &parts.launch));
        policy.set_read_rules(world.wall.read_rules().clone());
        let (memories, forgotten) = settings::memory::load(persona.memory, settings.places(), world.wall.read_rules());
        for folder in policy.folders().skip(1) {
            if let Err(error) = world.wall.add(folder) {
                problems.push(format!("{}: {error}", folder.display()));
            }
        }
        let requests = HostRequests::default();
        let tell = parts.launch.hook_events.then(|| {
            let events = events.clone();
            Rc::new(move |told| turn::hooks::show(persona.host, &events, &told)) as hooks::Tell
        });
        let root = world.wall.root().to_owned();
        let hooks = Hooks::new(persona.hooks, root, world.environment.to_vec(), requests.clone(), tell);
        for (source, value) in settings.hooks() {
            problems.extend(hooks.add_settings(source, value));
        }
        for problem in problems.into_iter().chain(forgotten).chain(settings.problems.iter().cloned()) {
            tracing::warn!("{problem}");
        }
        let mut own = persona_session.tools(&world);
        if setup::is_named(&["WebFetch", "web_fetch", "webfetch"], &parts.launch, &settings) {
            own.extend(persona.fetch.map(|fetch| fetch(tools::fetch::Policy::new(Vec::new()))));
        }
        if setup::is_named(&["WebSearch", "web_search", "websearch"], &parts.launch, &settings) {
            own.extend(persona.search.map(|search| search(parts.engine.clone())));
        }
        let mcp = setup::mcp_servers((persona, &restrictions), &parts.launch, parts.servers, &servers, &world, &requests);
        let variable = |name: &str| std::env::var(name).ok();
        let host = Host {
            dialect: parts.dialect,
            persona: persona.host,
            state: host::state::SessionState::new(persona.host.wants_state(&parts.launch, &variable)),
            launch: parts.launch,
            session: RefCell::new(session),
            jobs: SideJobs::new(events.clone()),
            events,
            requests,
            prompts: PromptQueue::default(),
            screens: RefCell::default(),
            introduced: Cell::new(false),
            warn: parts.warn,
        };
        let context = Rc::new(Context {
            host,
            model: ModelState {
                client: parts.model,
                names: parts.models,
                options: RefCell::new(options),
                usage: RefCell::new(SessionUsage {
                    before: used,
                    ..SessionUsage::default()
                }),
                calls: RefCell::default(),
            },
            tools: Toolbox {
                own,
                asking: (persona.asking)(),
                client: Rc::default(),
                structured: Rc::default(),
            },
            persona,
            restrictions,
            persona_session,
            world,
            mcp,
            policy: RefCell::new(policy),
            hooks: HookState::new(hooks),
            settings: CurrentSettings::new(settings, settings::memory::prompt(&memories)),
            store: Kept {
                transcript,
                checkpoints,
                resumed,
            },
            conversation: RefCell::new(conversation),
            turns: TurnState::new(deferred),
            tasks: turn::tasks::Tasks::default(),
        });
        Ok(Self {
            context,
            chats: Rc::default(),
            hints: Rc::default(),
            local: LocalSet::new(),
            life: None,
            over: None,
            _scratch: scratch,
        })
    }
}

impl Agent {
    /// The host said something. Never waits. Returns whether the agent deals with it: that it will answer a request, act on a response.
    pub fn input(&mut self, input: &Input<'_>) -> bool {
        match input.kind {
            InputKind::Prompt(prompt) => {
                let mut asked = HostPrompt::of_prompt(input, prompt);
                asked.waited = self.context.turns.busy.get() || self.context.host.prompts.any_waits();
                self.context.host.prompt_is(&asked.id, PromptState::Queued);
                self.context.host.prompts.put(asked);
                true
            }
            InputKind::Chat(chat) => {
                let asked = HostPrompt::of_chat(input, chat);
                if let (Some(InputOrigin::ToolResponse), Some(chat)) = (chat.origin, &asked.chat) {
                    let call = chat["tool_call"].as_str().unwrap_or_default();
                    return self.context.tools.client.answer(call, &chat["parts"]);
                }
                self.context.host.prompts.put(asked);
                true
            }
            InputKind::Request(request) => session::control::request(&self.context, input, request),
            InputKind::Response(response) => {
                let read = |raw: agentglot_adapters::raw::json::Raw<'_>| serde_json::from_str(raw.as_str()).unwrap_or_default();
                let answer = if response.ok {
                    Ok(response.body.map(read).unwrap_or_default())
                } else {
                    let why: serde_json::Value = response.error.map(read).unwrap_or_default();
                    let text = why.as_str().or_else(|| why.get("message")?.as_str()).unwrap_or("the host refused");
                    Err(Unanswered::Failed(text.to_owned()))
                };
                self.context.host.requests.answer(&host::prompts::plain(response.id), answer)
            }
            InputKind::Cancel { .. } => {
                commands::introduce::introduce_first(&self.context);
                commands::request::cancel(&self.context, &self.chats, input);
                true
            }
            InputKind::Heartbeat { .. } => {
                commands::introduce::introduce_first(&self.context);
                commands::request::heartbeat(&self.context, input);
                true
            }
            InputKind::Hint(hint) => {
                commands::introduce::introduce_first(&self.context);
                commands::hint::ask(&self.context, &self.hints, input, hint);
                true
            }
            InputKind::HintCancel => {
                commands::hint::cancel(&self.hints);
                true
            }
            InputKind::KeepAlive => {
                commands::introduce::introduce_first(&self.context);
                true
            }
            _ => false,
        }
    }

    /// How many bytes of what the host said have not been taken yet: above a limit the host is not read.
    pub fn queued(&self) -> usize {
        self.context.host.prompts.bytes()
    }

    /// Adds what it knows of itself to what the host's handshake is answered by.
    pub fn tell(&self, facts: &mut Facts) {
        facts.greeting = Some(session::control::greeting(&self.context));
        self.context.model.options.borrow().first_model.clone_into(&mut facts.first_model);
    }

    /// Whether it has something to say that nobody has asked for, such as a turn of its own.
    pub fn at_work(&self) -> bool {
        self.context.turns.deferred.borrow().is_some()
            || self.context.turns.busy.get()
            || self.context.host.prompts.any_waits()
            || self.context.tasks.any()
            || turn::background::waits(&self.context)
    }

    /// The host will say nothing more.
    pub fn close(&mut self) {
        self.context.host.prompts.close();
    }

    /// Waits for the next thing to say and appends its bytes. May be dropped at any await and called again; nothing is lost.
    pub async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        let context = self.context.clone();
        if let Some(why) = &self.over {
            let said = context.host.events.take(into);
            return match context.host.events.take_answered() {
                true => Said::Answered,
                false if said => Said::Bytes,
                false => Said::Over(why.clone()),
            };
        }
        let life = self
            .life
            .get_or_insert_with(|| self.local.spawn_local(session::life::live(context.clone(), Rc::clone(&self.chats))));
        let line = context.host.requests.wake();
        let ended = self
            .local
            .run_until(async {
                loop {
                    for chore in context.host.jobs.take() {
                        tokio::task::spawn_local(chore);
                    }
                    let (asked, withdrawn) = context.host.requests.take();
                    asked.iter().for_each(|(id, question)| context.host.events.ask(id, question));
                    withdrawn.iter().for_each(|id| context.host.events.withdraw(id));
                    if context.host.events.take(into) || context.host.events.has_answered() {
                        return None;
                    }
                    tokio::select! {
                        biased;
                        () = context.host.events.said() => {}
                        () = line.notified() => {}
                        ended = &mut *life => return Some(ended),
                    }
                }
            })
            .await;
        if let Some(ended) = ended {
            // Its last words come before its end.
            self.life = None;
            let why = ended.err().map(|error| format!("the agent broke down: {error}"));
            self.over = Some(why.clone());
            if !context.host.events.take(into) {
                return Said::Over(why);
            }
        }
        if context.host.events.take_answered() {
            return Said::Answered;
        }
        Said::Bytes
    }

    /// Ends it and leaves nothing behind. Bounded in time.
    pub async fn stop(&mut self) {
        self.context.turns.cancel().cancel();
        self.context.tasks.stop_all();
        self.context.host.prompts.close();
        let context = self.context.clone();
        let mcp = context.mcp.take();
        let life = self.life.take();
        let last = async move {
            if let Some(life) = life {
                let _ = life.await;
            }
            let processes = context.persona_session.processes();
            let processes = async {
                if let Some(processes) = processes {
                    processes.end().await;
                }
            };
            let mcp = async {
                if let Some(mcp) = mcp {
                    mcp.stop().await;
                }
            };
            tokio::join!(processes, mcp);
        };
        let _ = self.local.run_until(tokio::time::timeout(LAST, last)).await;
        telemetry::flush().await;
    }
}
