//! Another agent's program as a back end: some live as long as the session (`claude`, `qwen`), the others as long as a turn, started anew
//! and resumed for the next one.

mod deliver;
mod exit;
mod hook_questions;
mod start;
mod text_questions;
mod version;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
pub(super) use exit::died;
use hook_questions::{EARLY, next};
use text_questions::Typed;
use tokio::time::Instant;
pub(crate) use version::version;

use crate::adapters::raw::codec::{Dialect, Layout};
use crate::adapters::raw::event::{Content, ControlKind, Event, Input, InputKind, Kind, Prompt};
use crate::adapters::raw::ids;
use crate::adapters::raw::json::Raw;
use crate::adapters::raw::launch::{self, Answerer, Launch, PermissionMode, Resume, Unsaid};
use crate::adapters::raw::live::{Manner, Speaker};
use crate::adapters::raw::prompts;
use crate::agent::hooks::Callback;
use crate::backend::control_support::{Behind, Control, Reach, reach};
use crate::backend::hooks::{Hooks, Question};
use crate::backend::replay::Live;
use crate::backend::{Backend, Hurry, Said, callbacks, end, with_word};
use crate::child::file::read_named_text;
use crate::child::{Child, Environment, Ourselves};
use crate::status::Failure;

/// The program, and how it is started.
#[derive(Debug)]
pub struct Cli {
    dialect: Dialect,
    host: Dialect,
    program: PathBuf,
    /// The first argument, where an interpreter runs it.
    script: Option<PathBuf>,
    launch: Launch,
    cwd: PathBuf,
    env: Environment,
    /// Writes what the host says, in the program's words.
    voice: Speaker,
    child: Option<Child>,
    /// Files that only we can read and that the program is told to; gone with us.
    files: Vec<tempfile::NamedTempFile>,
    /// Prompts that wait for the program of a turn.
    prompts: VecDeque<String>,
    /// The turn that runs has had its outcome.
    answered: bool,
    /// The host stopped the turn.
    cancelled: bool,
    /// The host will say nothing more.
    closed: bool,
    /// Prompts whose outcome has not come.
    owed: usize,
    /// Prompts, as lines, that wait for the outcome of the one before: the program would make them part of its turn.
    held: VecDeque<Vec<u8>>,
    /// The program has said something of the turn that runs; and interrupts that came before, as lines.
    begun: bool,
    stops: Vec<u8>,
    /// What was said to the program, for as long as it may not know the session that it is to go on with though that is to begin.
    unheard: Option<Vec<u8>>,
    /// The first line has gone out.
    greeted: bool,
    /// Questions over the settings hooks of Qwen Code, and the host's own callbacks.
    hooks: Option<Hooks>,
    callbacks: Vec<Callback>,
    /// Hooks that wait for the host, by the ids of the requests that were made of them.
    waiting: Vec<(Vec<String>, Question)>,
    /// A hook whose call was not seen yet, and until when it is waited for.
    early: Option<(Question, Instant)>,
    /// Calls without a result: id, name, arguments.
    calls: Vec<(String, String, String)>,
    /// The hooks have heard of the turn's prompt.
    prompt_told: bool,
    /// Requests that were made of hooks so far.
    asked: u64,
    /// Questions that the program asks in plain text.
    typed: Typed,
    /// The last byte that the program wrote ended a line.
    between: bool,
    /// Why no program could be started.
    failed: Option<String>,
    room: Vec<u8>,
    /// What the host's names of models are called here.
    models: BTreeMap<String, String>,
    /// Daemons of its tools live on.
    keeps_daemons: bool,
    /// How long its host may think about a question.
    patience: Duration,
    /// What our log was told that it is not told.
    told: Vec<Unsaid>,
}

/// How long a host may think about a question, unless somebody says so.
const PATIENCE: Duration = Duration::from_secs(600);

/// The largest configuration of servers that is handed on, in bytes.
const LARGEST_CONFIG: u64 = 1 << 20;

impl Cli {
    /// Ready to be started with the first thing that the host says.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn new(dialect: Dialect, path: Option<&Path>, launch: &Launch, live: &Live, cwd: &Path, pass: &[String]) -> Result<Self, Failure> {
        let Some(behind) = dialect.program() else {
            return Err(Failure::Usage(format!("{} has no program that could be started", dialect.name())));
        };
        let traits = behind.traits;
        let (program, script) = locate(behind.file, path)?;
        let host = launch.format.dialect;
        let mut launch = launch.clone();
        launch.cwd = Some(cwd.display().to_string());
        if host != dialect {
            own_configs(&mut launch, cwd);
        }
        // What is streamed can be put together again; what is not cannot be taken apart.
        launch.partial |= launch.format.mode.layout == Layout::Pieces;
        launch.prompt = None;
        if let Some(name) = launch.model.as_mut().filter(|_| host != dialect)
            && let Some(program) = host.program()
        {
            *name = program.bare_model(name).to_owned();
        }
        if host != dialect && traits.no_late_bypass {
            // It asks about everything, and the session answers.
            launch.answerer = Answerer::Host;
            // Qwen Code's hosts that name no mode answer questions; Claude Code's own automatic mode asks nobody, and not everybody has it.
            let unsaid = launch.permission.is_none() && launch.has_stdin_protocol();
            let mode = if unsaid { PermissionMode::Ask } else { launch.permission_or_default() };
            launch.permission = Some(asking(mode));
        }
        if host != dialect && launch.resume == Resume::New && launch.session_id.is_none() && !traits.names_sessions {
            launch.session_id = Some(live.session.clone());
        }
        let unused = matches!(&launch.resume, Resume::Session(id) if ids::is_unused(id));
        if unused && traits.names_sessions {
            launch.resume = Resume::New;
        }
        let unheard = unused.then(Vec::new);
        Ok(Self {
            dialect,
            host,
            program,
            script,
            launch,
            cwd: cwd.to_owned(),
            env: Environment::default().allow(behind.environment).allow(pass),
            voice: Speaker::new(Manner::new(host, dialect.into())),
            child: None,
            files: Vec::new(),
            prompts: VecDeque::new(),
            answered: false,
            cancelled: false,
            closed: false,
            owed: 0,
            held: VecDeque::new(),
            begun: false,
            stops: Vec::new(),
            unheard,
            greeted: false,
            hooks: None,
            callbacks: Vec::new(),
            waiting: Vec::new(),
            early: None,
            calls: Vec::new(),
            prompt_told: false,
            asked: 0,
            typed: Typed::of(dialect.conduct()),
            between: true,
            failed: None,
            room: vec![0; 64 << 10],
            models: BTreeMap::new(),
            keeps_daemons: false,
            patience: PATIENCE,
            told: Vec::new(),
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

    /// Lets what its tools start in sessions of their own live on.
    #[must_use]
    pub fn keeping_daemons(mut self, keeps: bool) -> Self {
        self.keeps_daemons = keeps;
        self
    }

    /// Lets the program wait for answers as long as the session does.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What becomes of a control message.
    fn reach(&self, control: Control) -> Reach {
        reach(control, self.host, Behind::Program(self.dialect)).0
    }

    /// What sets the program apart.
    fn traits(&self) -> launch::Traits {
        self.dialect.program().map_or(launch::Traits::NONE, |program| program.traits)
    }

    /// Whether it lives for a turn only.
    fn one_turn(&self) -> bool {
        self.dialect.program().is_some_and(launch::Program::is_one_turn)
    }
}

#[async_trait(?Send)]
impl Backend for Cli {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        self.amend(input);
        if self.one_turn() {
            match input.kind {
                InputKind::Prompt(prompt) => self.prompts.push_back(words(prompt)),
                InputKind::Chat(chat) => self.prompts.push_back(prompts::of_chat(chat).unwrap_or_default()),
                InputKind::Request(request) => {
                    self.change(input, request.kind);
                    return false;
                }
                InputKind::Cancel { .. } => self.change(input, ControlKind::Interrupt),
                InputKind::Response(response) => return self.typed.answered(response, self.child.as_ref()),
                _ => return false,
            }
            return true;
        }
        if let InputKind::Response(response) = input.kind
            && self.hook_answered(response)
        {
            return true;
        }
        if let InputKind::Request(request) = input.kind
            && request.kind == ControlKind::Initialize
        {
            self.callbacks = callbacks(self.host, input.fields);
        }
        if !self.awake() {
            return false;
        }
        self.owed += match input.kind {
            // Qwen Code says nothing at all to an empty prompt.
            InputKind::Prompt(prompt) => usize::from(match prompt.content {
                Content::Text(text) => !text.is_empty(),
                Content::Blocks(blocks) => !blocks.is_empty(),
            }),
            InputKind::Chat(_) => 1,
            _ => 0,
        };
        self.greet(input);
        if matches!(input.kind, InputKind::Prompt(_)) && self.traits().folds_prompts && self.host != self.dialect && self.owed > 1 {
            let mut line = Vec::new();
            self.voice.input(input, &mut line);
            self.held.push_back(line);
            return true;
        }
        if let InputKind::Request(request) = input.kind
            && request.kind != ControlKind::Initialize
            && self.reach(Control::of_host(request.kind)) != Reach::Passed
        {
            return false;
        }
        let interrupts = matches!(input.kind, InputKind::Request(request) if request.kind == ControlKind::Interrupt);
        if interrupts && self.host != self.dialect && self.traits().stops_what_runs && !self.begun && self.owed > 0 {
            self.voice.input(input, &mut self.stops);
            return true;
        }
        if self.host != self.dialect && matches!(input.kind, InputKind::Request(request) if request.kind == ControlKind::Initialize) {
            // It was started with these.
            let fields: Vec<_> = input.fields.iter().filter(|field| !field.key.is("mcpServers")).copied().collect();
            return self.say(&Input { fields: &fields, ..*input });
        }
        let Some((member, word)) = self.reworded(input) else {
            return self.say(input);
        };
        with_word(input, member, &word, |input| self.say(input))
    }

    fn refuse(&mut self, line: Raw<'_>, why: &str) {
        let answer = self.dialect.conduct().refusal(line, why);
        if let (Some(answer), Some(child)) = (answer, &self.child) {
            // One that has ended says so itself.
            let _ = child.write(answer.as_bytes());
        }
    }

    /// Qwen Code reads changed arguments on its control channel and runs the original ones; its hooks do better
    /// (docs/qwen-code.md).
    fn calls_hooks(&self) -> bool {
        !self.one_turn()
    }

    fn takes_changes(&self) -> bool {
        match self.reach(Control::ChangedArguments) {
            Reach::Passed => true,
            Reach::Emulated => self.hooks.is_some(),
            Reach::Refused => false,
        }
    }

    /// Its own host expects that.
    fn folds_prompts(&self) -> bool {
        self.traits().folds_prompts && self.host == self.dialect
    }

    fn queued(&self) -> usize {
        let prompts: usize = self.prompts.iter().map(String::len).sum();
        let held: usize = self.held.iter().map(Vec::len).sum();
        prompts + held + self.child.as_ref().map_or(0, Child::queued)
    }

    fn close(&mut self) {
        self.closed = true;
        self.hang_up();
    }

    fn heard(&mut self, event: &Event<'_>) {
        if matches!(event.kind, Kind::Session(_)) {
            self.unheard = None;
        }
        let ends = matches!(event.kind, Kind::Outcome(_));
        if ends || event.kind.is_conversation() {
            self.begun = !ends;
            let stops = std::mem::take(&mut self.stops);
            self.write(&stops);
        }
        if ends {
            self.answered = true;
            self.owed = if self.folds_prompts() { 0 } else { self.owed.saturating_sub(1) };
            if let Some(line) = self.held.pop_front() {
                self.write(&line);
            }
            if self.closed {
                self.hang_up();
            }
        }
        if self.hooks.is_some() || self.typed.asks() {
            self.note_calls(event);
        }
        if let Some(session) = event.origin.session.filter(|_| self.one_turn()) {
            let id = session.unescape();
            if !matches!(&self.launch.resume, Resume::Session(known) if *known == id) {
                self.launch.resume = Resume::Session(id.into_owned());
                self.launch.session_id = None;
                // Later turns go on in the copy.
                self.launch.fork = false;
            }
        }
    }

    async fn read(&mut self, into: &mut Vec<u8>) -> Said {
        loop {
            if let Some(why) = self.failed.take() {
                return Said::Over(Some(why));
            }
            if let Some(question) = self.typed.next(&self.calls, into) {
                return Said::Asks(question);
            }
            let Some(child) = &self.child else {
                match self.prompts.pop_front() {
                    Some(prompt) => {
                        if let Err(why) = self.start(Some(&prompt)) {
                            self.failed = Some(why);
                        }
                        continue;
                    }
                    None if self.closed => return Said::Over(None),
                    None => return std::future::pending().await,
                }
            };
            let due = self.early.as_ref().map(|(_, until)| *until);
            let read = tokio::select! {
                biased;
                read = child.read(&mut self.room) => read,
                question = next(&mut self.hooks), if self.early.is_none() && self.between => {
                    self.early = Some((question, Instant::now() + EARLY));
                    continue;
                }
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() && self.between => {
                    if let Some((question, _)) = self.early.take() {
                        self.question(question, into);
                    }
                    return Said::Bytes;
                }
            };
            match read {
                Ok(read @ 1..) => {
                    if self.typed.asks() {
                        self.typed.hear(&self.room[..read], into);
                        return Said::Bytes;
                    }
                    into.extend_from_slice(&self.room[..read]);
                    self.between = self.room[read - 1] == b'\n';
                    return Said::Bytes;
                }
                Ok(0) | Err(_) => {
                    // The next program's first line is not the rest of this one's last.
                    if self.one_turn() {
                        self.typed.finish(into);
                        into.push(b'\n');
                    }
                    return self.epilogue().await;
                }
            }
        }
    }

    fn dismiss(&mut self) {
        if let Some(child) = &self.child {
            child.close_stdin();
        }
    }

    async fn stop(&mut self, hurry: &Hurry) {
        end(self.child.take(), hurry).await;
    }
}

/// The mode of a program that asks about what would run unasked.
pub(super) fn asking(mode: PermissionMode) -> PermissionMode {
    if mode == PermissionMode::Bypass { PermissionMode::Ask } else { mode }
}

/// Finds a vendor's program, or the file that somebody named. The second is a script, which the first runs.
pub(super) fn locate(file: &str, path: Option<&Path>) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let find = |wanted: &OsStr| {
        let found = crate::child::find(wanted, std::env::var_os("PATH").as_deref(), &Ourselves::running());
        found.map_err(|error| Failure::Usage(error.to_string()))
    };
    // A script as it lies in its package's folder need not say who runs it.
    match path.filter(|path| is_script(path)) {
        Some(path) => Ok((
            find("node".as_ref())?,
            Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
        )),
        None => Ok((find(path.map_or(file.as_ref(), Path::as_os_str))?, None)),
    }
}

/// Reads the configurations of servers that are files: those of the host's are in the words of the program that it knows.
pub(super) fn own_configs(launch: &mut Launch, cwd: &Path) {
    for config in launch.mcp_config.iter_mut().filter(|config| !config.trim_start().starts_with('{')) {
        if let Ok(text) = read_named_text(&cwd.join(&*config), LARGEST_CONFIG) {
            *config = text;
        }
    }
}

pub(crate) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|js| ending == *js))
}

/// The text of a prompt.
fn words(prompt: &Prompt<'_>) -> String {
    match prompt.content {
        Content::Text(text) => text.unescape().into_owned(),
        content => content.texts().map(|text| text.unescape().into_owned()).collect::<Vec<_>>().join("\n"),
    }
}
