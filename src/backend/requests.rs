//! A program that is spoken to in requests: a [`Client`] holds the conversation; here are its process, its pipes and the clock.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};

use super::cli::{asking, died, locate, own_configs};
use super::host_servers::{Inside, Known, next};
use crate::adapters::raw::client::{Act, Begin, Client, ClientCall, Exchange, Inquiry, Undone, Wait};
use crate::adapters::raw::codec::{Dialect, Format};
use crate::adapters::raw::event::{Content, ControlKind, Input, InputKind, Origin, Prompt, PromptSource};
use crate::adapters::raw::frame::{Line, Lines};
use crate::adapters::raw::ids;
use crate::adapters::raw::json::Str;
use crate::adapters::raw::launch::{Launch, PermissionMode, Program, Resume, serving};
use crate::adapters::raw::prompts;
use crate::adapters::raw::server::Listed;
use crate::agent::hooks::HookEvent;
use crate::agent::redact::arguments;
use crate::agent::workplace::{Means, Workplace};
use crate::backend::control_support::{Behind, Control, Reach, reach};
use crate::backend::settings::settings;
use crate::backend::{Backend, Hurry, Said, callbacks, end, with_word, word};
use crate::child::{Child, Environment, Plan, Steps};
use crate::session::Timers;
use crate::status::Failure;

/// The program, and the conversation with it.
#[derive(Debug)]
pub struct Requests {
    dialect: Dialect,
    host: Dialect,
    behind: &'static Program,
    begin: Begin,
    client: Box<dyn Client>,
    program: PathBuf,
    /// What stands on its command line before what the client says.
    args: Vec<OsString>,
    launch: Launch,
    cwd: PathBuf,
    env: Environment,
    child: Option<Child>,
    /// The beginning of a line.
    lines: Lines,
    room: Vec<u8>,
    /// What the session has not read yet.
    said: Vec<u8>,
    /// Why nothing more will come behind that.
    over: Option<String>,
    /// Hooks of the host's guard calls: the program is to ask about each that it asks about at all.
    guarded: bool,
    /// The program has been started once: there is no second one.
    started: bool,
    /// It ended in the middle of the handshake.
    unheard: bool,
    closed: bool,
    /// What is waited for, and since when.
    waits: Option<(Wait, Instant)>,
    timers: Timers,
    /// What the host's names of models are called here.
    models: BTreeMap<String, String>,
    /// So many bytes of a line have come whose end has not.
    unfinished: usize,
    max_line: usize,
    /// Where it is only asked, and what it says is held as a whole: so much more it may say.
    room_left: Option<usize>,
    /// What it has done by us; none before it wants something.
    workplace: Option<Workplace>,
    means: Means,
    /// Servers that live in the host.
    inside: Option<Inside>,
}

/// Above this many bytes that the program has not taken, it is given no more files and outputs.
const UNREAD: usize = 64 << 20;

/// What is to be started: the program of a vendor, or any that speaks its protocol, as a command line.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// The vendor's program, or the file that somebody named.
    Program(Option<&'a Path>),
    /// A command: the program and its arguments.
    Command(&'a [String]),
}

impl Requests {
    /// Ready to be started with the first thing that the host says.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn new(dialect: Dialect, start: Start<'_>, launch: &Launch, cwd: &Path, pass: &[String]) -> Result<Self, Failure> {
        let behind = dialect.program().and_then(|program| Some((program, program.client()?)));
        let Some((behind, begin)) = behind else {
            return Err(Failure::Usage(format!("{} has no program that takes requests", dialect.name())));
        };
        let mut env = Environment::default().allow(behind.environment).allow(pass);
        let (program, args) = match start {
            Start::Program(path) => {
                let (program, script) = locate(behind.file, path)?;
                (program, script.map(OsString::from).into_iter().collect())
            }
            Start::Command(words) => {
                let Some((name, args)) = words.split_first() else {
                    return Err(Failure::Usage("a command is wanted that starts an agent".to_owned()));
                };
                // Whose program it is nobody knows: it may need what any of those does.
                env = env.allow(Program::backends().flat_map(|program| program.environment));
                (locate(name, None)?.0, args.iter().map(OsString::from).collect())
            }
        };
        let mut launch = launch.clone();
        let host = launch.format.dialect;
        launch.cwd = Some(cwd.display().to_string());
        launch.prompt = None;
        own_configs(&mut launch, cwd);
        // It names its sessions itself: one that was only given an id begins.
        if matches!(&launch.resume, Resume::Session(id) if ids::is_unused(id)) {
            launch.resume = Resume::New;
        }
        Ok(Self {
            dialect,
            host,
            client: begin(&launch, behind),
            behind,
            begin,
            program,
            args,
            launch,
            cwd: cwd.to_owned(),
            env,
            child: None,
            lines: Lines::new(usize::MAX),
            room: vec![0; 64 << 10],
            said: Vec::new(),
            over: None,
            guarded: false,
            started: false,
            unheard: false,
            unfinished: 0,
            max_line: usize::MAX,
            room_left: None,
            closed: false,
            waits: None,
            timers: Timers::default(),
            models: BTreeMap::new(),
            workplace: None,
            inside: None,
            means: Means {
                pass_env: pass.to_vec(),
                ..Means::default()
            },
        })
    }

    /// Calls the host's models by other names.
    #[must_use]
    pub fn with_models(mut self, models: BTreeMap<String, String>) -> Self {
        if let Some(name) = self.launch.model.as_ref().and_then(|model| models.get(model)) {
            self.launch.model = Some(name.clone());
        }
        self.models = models;
        self
    }

    /// How what it wants done by us is done.
    #[must_use]
    pub fn with_means(mut self, means: Means) -> Self {
        self.means = means;
        self
    }

    /// Waits so long, and leaves longer lines out.
    #[must_use]
    pub fn within(mut self, timers: Timers, max_line: usize) -> Self {
        self.timers = timers;
        self.lines = Lines::new(max_line);
        self.max_line = max_line;
        self
    }

    /// Opens a session and leaves it: whether somebody is there who can be asked.
    ///
    /// # Errors
    /// Why not.
    pub async fn probe(mut self) -> Result<(), String> {
        self.room_left = Some(self.max_line);
        self.awake(&Input {
            origin: Origin::default(),
            kind: InputKind::KeepAlive,
            fields: &[],
        });
        let why = self.greeted(&mut Vec::new()).await;
        self.stop(&Hurry::none()).await;
        why.map_or(Ok(()), Err)
    }

    /// Asks of the sessions that the program keeps, and leaves it. Those that it names, and what was said in one: lines of [`Self::format`].
    ///
    /// # Errors
    /// Why it does not say so.
    pub async fn inquire(mut self, inquiry: Inquiry) -> Result<(Vec<Listed>, Vec<u8>), String> {
        if !self.client.inquire(inquiry) {
            return Err("the program is not asked for its sessions in this way".to_owned());
        }
        self.started = true;
        self.room_left = Some(self.max_line);
        self.child = Some(self.start()?);
        self.converse(|client, exchange| client.begin(exchange));
        let mut said = Vec::new();
        let why = self.greeted(&mut said).await.filter(|why| !why.is_empty());
        let sessions = self.client.sessions();
        self.stop(&Hurry::none()).await;
        why.map_or(Ok((sessions, said)), Err)
    }

    /// Until the handshake is over. Returns why it never will be.
    async fn greeted(&mut self, said: &mut Vec<u8>) -> Option<String> {
        loop {
            if self.over.is_none() && self.client.waits() != Some(Wait::Begin) {
                return None;
            }
            if let Said::Over(why) = self.read(said).await {
                return why;
            }
        }
    }

    /// Sees to it that the program runs. What the host says first may say how.
    fn awake(&mut self, input: &Input<'_>) -> bool {
        if !std::mem::replace(&mut self.started, true) {
            if let InputKind::Request(request) = input.kind {
                self.host.conduct().amend(request, input.fields, &mut self.launch);
                self.guarded = callbacks(self.host, input.fields)
                    .iter()
                    .any(|callback| callback.event == HookEvent::PreToolUse);
                if self.guarded {
                    self.launch.permission = self.launch.permission.map(asking);
                    self.launch.allowed_tools.clear();
                }
                let agents = input.fields.iter().find(|field| field.key.is("agents") && !field.value.is_null());
                self.launch.agents = agents.map(|field| field.value.as_str().to_owned()).or(self.launch.agents.take());
                let objects = self.behind.traits.serves.is_some_and(|serves| serves.wants_objects);
                let inside = Inside::instead(request, input.fields, &mut self.launch.mcp_config);
                self.inside = inside.map(|inside| inside.with_objects(objects));
            }
            self.client = (self.begin)(&self.launch, self.behind);
            match self.start() {
                Ok(child) => {
                    self.child = Some(child);
                    self.converse(|client, exchange| client.begin(exchange));
                }
                Err(why) => self.over = Some(why),
            }
        }
        self.child.is_some()
    }

    fn start(&self) -> Result<Child, String> {
        let mut env = self.env.clone();
        let mut said = self.client.args();
        if let Some(serves) = &self.behind.traits.serves {
            let line = serving(self.behind, serves, &self.launch).map_err(|error| error.to_string())?;
            for unsaid in line.unsaid {
                tracing::warn!("{} is not told `{}`: {}", self.program.display(), unsaid.what, unsaid.why);
            }
            let settings = serves
                .settings
                .map(|(name, more)| (name, settings(std::env::var(name).ok().as_deref(), more)));
            for (name, value) in line.variables.iter().map(|(name, value)| (*name, (*value).to_owned())).chain(settings) {
                env = env.set(name, value);
            }
            said.extend(line.args);
        }
        let args: Vec<OsString> = self.args.iter().cloned().chain(said.into_iter().map(OsString::from)).collect();
        let shown: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        tracing::info!(program = %self.program.display(), args = ?arguments(&shown).0, "starting");
        let plan = Plan {
            env,
            cwd: Some(self.cwd.clone()),
            keeps_daemons: self.means.keeps_daemons,
            ..Plan::new(&self.program)
        };
        Child::start(plan.args(args)).map_err(|error| error.to_string())
    }

    /// Lets the client deal with something, and does what comes of it.
    fn converse<R>(&mut self, deal: impl FnOnce(&mut dyn Client, &mut Exchange) -> R) -> R {
        let mut exchange = Exchange::default();
        let result = deal(self.client.as_mut(), &mut exchange);
        self.obey(exchange);
        result
    }

    fn obey(&mut self, exchange: Exchange) {
        if let Some(child) = self.child.as_ref().filter(|_| !exchange.program.is_empty()) {
            // One that has ended says so itself.
            let _ = child.write(&exchange.program);
        }
        self.said.extend_from_slice(&exchange.session);
        for note in exchange.notes {
            tracing::warn!("{}: {note}", self.program.display());
        }
        self.over = self.over.take().or(exchange.over);
        for call in exchange.client_calls {
            self.begin(call);
        }
        let now = self.client.waits();
        if self.waits.map(|(wait, _)| wait) != now {
            self.waits = now.map(|wait| (wait, Instant::now()));
        }
    }

    /// The program wants something done.
    fn begin(&mut self, call: ClientCall) {
        let number = call.number;
        let unread = self.child.as_ref().map_or(0, Child::queued);
        if unread > UNREAD && matches!(call.act, Act::Read { .. } | Act::Output(_)) {
            let why = format!("{unread} bytes wait to be read already");
            return self.converse(|client, exchange| client.done(number, Err(Undone::Failed(why)), exchange));
        }
        let workplace = match self.workplace.take() {
            Some(workplace) => Ok(workplace),
            None => Workplace::new(&self.launch, &self.cwd, &self.means),
        };
        match workplace {
            Ok(workplace) => self.workplace.insert(workplace).begin(call),
            Err(why) => self.converse(|client, exchange| client.done(number, Err(Undone::Failed(why)), exchange)),
        }
    }

    /// The program wrote this, or, if it is empty, nothing more.
    fn heard(&mut self, read: usize) {
        let ends = self.room[..read].iter().rposition(|byte| *byte == b'\n');
        self.unfinished = ends.map_or(self.unfinished + read, |at| read - at - 1);
        let mut exchange = Exchange::default();
        let client = self.client.as_mut();
        let hear = |line: Line<'_>| {
            match line {
                Line::Whole { bytes: line, .. } => client.hear(line.trim_ascii_end(), &mut exchange),
                Line::Oversize { bytes, start, .. } => {
                    let why = format!("a line of {bytes} bytes is longer than --max-line allows, and was left out");
                    exchange.notes.push(why);
                    client.hear(start, &mut exchange);
                }
            }
            true
        };
        match read {
            0 => self.lines.finish(hear),
            read => self.lines.feed(&self.room[..read], hear),
        }
        self.obey(exchange);
    }

    /// What is asked of the program in another word than the host's: the member of the request, and the word.
    fn reworded(&self, input: &Input<'_>, kind: ControlKind) -> Option<(&'static str, String)> {
        match kind {
            ControlKind::SetModel => Some(("model", self.models.get(&word(input, "model")?)?.clone())),
            ControlKind::SetMode if self.guarded => {
                let mode = PermissionMode::from_name(self.host, &word(input, "mode")?)?;
                Some(("mode", asking(mode).name(self.host)?.to_owned()))
            }
            _ => None,
        }
    }

    /// Whether the handshake is over.
    pub fn has_begun(&self) -> bool {
        self.started && !self.is_beginning() && !self.unheard
    }

    /// Whether the program ended of itself before it answered anything.
    pub const fn ended_unheard(&self) -> bool {
        self.unheard
    }

    const fn is_beginning(&self) -> bool {
        matches!(self.waits, Some((Wait::Begin, _)))
    }

    fn due(&self) -> Option<Instant> {
        let (wait, since) = self.waits?;
        let patience = match wait {
            // Sooner than the session, which sees only that nobody speaks.
            Wait::Begin => self.timers.start - self.timers.start / 10,
            Wait::Stop => self.timers.control,
            // If they do not follow the question at once, it is put without them.
            Wait::Arguments => Duration::from_secs(1),
        };
        since.checked_add(patience)
    }
}

#[async_trait(?Send)]
impl Backend for Requests {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn format(&self) -> Format {
        self.client.format()
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        if !self.awake(input) {
            return false;
        }
        if self.inside.as_mut().is_some_and(|inside| inside.told(input)) {
            return true;
        }
        match input.kind {
            InputKind::Request(request) if reach(Control::of_host(request.kind), self.host, Behind::Program(self.dialect)).0 != Reach::Passed => {
                false
            }
            InputKind::Chat(chat) => {
                let mut text = String::new();
                Str::escape(&prompts::of_chat(chat).unwrap_or_default(), &mut text);
                let prompt = Prompt {
                    content: Content::Text(Str::trusted(&text)),
                    source: PromptSource::Host,
                };
                let kind = InputKind::Prompt(&prompt);
                self.converse(|client, exchange| client.input(&Input { kind, ..*input }, exchange))
            }
            InputKind::Request(request) => match self.reworded(input, request.kind) {
                Some((member, word)) => with_word(input, member, &word, |input| {
                    self.converse(|client, exchange| client.input(input, exchange))
                }),
                None => self.converse(|client, exchange| client.input(input, exchange)),
            },
            _ => self.converse(|client, exchange| client.input(input, exchange)),
        }
    }

    fn takes_changes(&self) -> bool {
        reach(Control::ChangedArguments, self.host, Behind::Program(self.dialect)).0 == Reach::Passed
    }

    fn calls_hooks(&self) -> bool {
        false
    }

    fn inside(&self) -> &[Known] {
        self.inside.as_ref().map_or(&[], Inside::servers)
    }

    fn queued(&self) -> usize {
        self.client.queued() + self.child.as_ref().map_or(0, Child::queued)
    }

    fn close(&mut self) {
        self.closed = true;
    }

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        loop {
            let held = self.inside.as_ref().and_then(Inside::due).filter(|_| self.child.is_some());
            if !self.said.is_empty() && held.is_none() {
                into.append(&mut self.said);
                return Said::Bytes;
            }
            if let Some(why) = self.over.take() {
                return Said::Over(Some(why));
            }
            let Some(child) = &self.child else {
                if self.closed {
                    return Said::Over(None);
                }
                return std::future::pending().await;
            };
            let due = self.due();
            let (workplace, inside) = (&mut self.workplace, &mut self.inside);
            let done = async {
                match workplace {
                    Some(workplace) => workplace.next().await,
                    None => std::future::pending().await,
                }
            };
            let read = tokio::select! {
                biased;
                (number, done) = done => {
                    self.converse(|client, exchange| client.done(number, done, exchange));
                    continue;
                }
                message = next(inside) => return Said::AsksServer(Box::new(message)),
                () = sleep_until(held.unwrap_or_else(Instant::now)), if held.is_some() => continue,
                read = child.read(&mut self.room) => read.unwrap_or(0),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.converse(|client, exchange| client.late(exchange));
                    continue;
                }
            };
            if read > 0 {
                match self.room_left.map(|room| room.checked_sub(read)) {
                    Some(None) => {
                        let most = self.max_line;
                        self.over = Some(format!("the agent has said more than the {most} bytes that --max-line allows"));
                        continue;
                    }
                    room => self.room_left = room.flatten(),
                }
                self.heard(read);
                continue;
            }
            // Nothing more comes of it: one that has only closed its output is not waited for. It stays ours until all is known: this may be
            // dropped while it waits.
            child.begin_stop(Steps::default());
            let ending = child.ended().await;
            self.heard(0);
            self.unheard = !self.client.has_answered() && self.over.is_none();
            let mut why = died(self.dialect, &self.program, &ending);
            if self.unfinished > 0 {
                why.push_str(&format!("; it ended in the middle of a line of {} bytes", self.unfinished));
            }
            self.over = self.over.take().or(Some(why));
            self.child = None;
        }
    }

    fn dismiss(&mut self) {
        if let Some(child) = &self.child {
            child.close_stdin();
        }
    }

    async fn stop(&mut self, hurry: &Hurry) {
        let commands = async {
            if let Some(workplace) = &self.workplace {
                workplace.end().await;
            }
        };
        tokio::join!(end(self.child.take(), hurry), commands);
    }
}
