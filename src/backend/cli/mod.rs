//! Another agent's program as a back end: `claude` and `qwen` live as long as the session, `cursor-agent` and `tricode` as long as a
//! turn, started anew and resumed for the next one.

mod asked;
mod typed;
mod version;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use asked::{EARLY, next};
use async_trait::async_trait;
use serde_json::Value;
use tokio::time::Instant;
use typed::Typed;
pub(crate) use version::version;

use crate::adapters::codec::{Dialect, Format};
use crate::adapters::event::{Content, ControlKind, Event, Input, InputKind, Kind, Origin, Prompt, Request};
use crate::adapters::ids;
use crate::adapters::json::{Raw, Str};
use crate::adapters::launch::{self, Answerer, Launch, PermissionMode, PromptBy, Resume, Unsaid};
use crate::adapters::live::{Manner, Speaker};
use crate::backend::hooks::{Callback, Hooks, Question, VARIABLE};
use crate::backend::reach::{Behind, Control, Reach, reach};
use crate::backend::replay::Live;
use crate::backend::{Backend, Said};
use crate::child::{Child, Environment, Ourselves, Plan, Steps};
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
    /// What our log was told that it is not told.
    told: Vec<Unsaid>,
}

/// The names of the programs, and what of our environment they need besides the basics.
pub(crate) const fn program(dialect: Dialect) -> (&'static str, &'static [&'static str]) {
    match dialect {
        Dialect::Claude => (
            "claude",
            &["ANTHROPIC_*", "CLAUDE_*", "AWS_*", "DISABLE_*", "MAX_THINKING_TOKENS", "MCP_*"],
        ),
        Dialect::Qwen | Dialect::QwenCode | Dialect::Agentglot => ("qwen", &["OPENAI_*", "QWEN_*", "DASHSCOPE_*", "GEMINI_*", "GOOGLE_*"]),
        Dialect::Cursor => ("cursor-agent", &["CURSOR_*"]),
        Dialect::Tricode => ("tricode", &["OPENAI_*", "ANTHROPIC_*", "TRICODE_*"]),
    }
}

/// The id of our own greeting; its answer is for us alone.
const GREETING: &str = "agentglot-initialize";

impl Cli {
    /// Ready to be started with the first thing that the host says.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn new(dialect: Dialect, path: Option<&Path>, launch: &Launch, live: &Live, cwd: &Path, pass: &[String]) -> Result<Self, Failure> {
        let (name, needs) = program(dialect);
        let wanted = path.map_or_else(|| OsString::from(name), |path| path.as_os_str().to_owned());
        let find = |wanted: &OsStr| {
            let found = crate::child::find(wanted, std::env::var_os("PATH").as_deref(), &Ourselves::running());
            found.map_err(|error| Failure::Usage(error.to_string()))
        };
        // A script as it lies in its package's folder need not say who runs it.
        let (program, script) = match path.filter(|path| is_script(path)) {
            Some(path) => (
                find("node".as_ref())?,
                Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            ),
            None => (find(&wanted)?, None),
        };
        let host = launch.format.dialect;
        let mut launch = launch.clone();
        launch.cwd = Some(cwd.display().to_string());
        // What is streamed can be put together again; what is not cannot be taken apart.
        launch.partial |= launch.format.mode == crate::adapters::codec::Mode::StreamChunkJson;
        launch.prompt = None;
        if host != dialect && dialect == Dialect::Claude {
            // It asks about everything, and the session answers: root may not start it in a mode where everything runs, and a session
            // that began in another mode cannot change to that one.
            launch.answerer = Answerer::Host;
            launch.permission = Some(asking(launch.permission_or_default()));
        }
        if host != dialect && launch.resume == Resume::New && launch.session_id.is_none() {
            launch.session_id = Some(live.session.clone());
        }
        let unused = matches!(&launch.resume, Resume::Session(id) if ids::is_unused(id));
        if unused && dialect == Dialect::Tricode {
            // It gives its sessions ids of its own.
            launch.resume = Resume::New;
        }
        let unheard = unused.then(Vec::new);
        let manner = Manner {
            from: host,
            to: Format::from(dialect),
            native_tools: true,
            partial: false,
            old_text: false,
            verbose: false,
        };
        Ok(Self {
            dialect,
            host,
            program,
            script,
            launch,
            cwd: cwd.to_owned(),
            env: Environment::default().allow(needs).allow(pass),
            voice: Speaker::new(manner),
            child: None,
            files: Vec::new(),
            prompts: VecDeque::new(),
            answered: false,
            cancelled: false,
            closed: false,
            owed: 0,
            unheard,
            greeted: false,
            hooks: None,
            callbacks: Vec::new(),
            waiting: Vec::new(),
            early: None,
            calls: Vec::new(),
            prompt_told: false,
            asked: 0,
            typed: Typed::default(),
            between: true,
            failed: None,
            room: vec![0; 64 << 10],
            models: BTreeMap::new(),
            keeps_daemons: false,
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

    /// What becomes of a control message.
    const fn reach(&self, control: Control) -> Reach {
        reach(control, self.host, Behind::Program(self.dialect)).0
    }

    /// Whether it lives for a turn only.
    const fn one_turn(&self) -> bool {
        matches!(self.dialect, Dialect::Cursor | Dialect::Tricode)
    }

    /// Starts the program. `prompt`: that of its only turn.
    fn start(&mut self, prompt: Option<&str>) -> Result<(), String> {
        let Some(program) = self.dialect.args() else {
            return Err("there is no such program".to_owned());
        };
        self.launch.prompt = prompt.map(str::to_owned);
        let line = launch::argv(program, &self.launch).map_err(|error| error.to_string())?;
        let mut args: Vec<OsString> = Vec::new();
        args.extend(self.script.clone().map(OsString::from));
        let at = line.args.iter().position(|arg| arg == "--").unwrap_or(line.args.len());
        args.extend(line.args[..at].iter().map(OsString::from));
        for part in &line.files {
            let mut file = tempfile::Builder::new()
                .prefix("agentglot-")
                .suffix(".json")
                .tempfile()
                .map_err(|e| e.to_string())?;
            file.write_all(part.text.as_bytes()).map_err(|error| error.to_string())?;
            args.push(format!("{}={}", part.flag, file.path().display()).into());
            self.files.push(file);
        }
        args.extend(line.args[at..].iter().map(OsString::from));
        tracing::info!(program = %self.program.display(), ?args, "starting");
        self.tell_unsaid(&line.unsaid);
        let mut env = self.env.clone();
        if !self.one_turn() && self.reach(Control::Leave) == Reach::Emulated && self.hooks.is_none() {
            self.hooks = Some(
                self.listen()
                    .map_err(|error| format!("the hooks of {}: {error}", self.program.display()))?,
            );
        }
        if let Some(hooks) = &self.hooks {
            env = env.set(VARIABLE, hooks.settings());
        }
        let plan = Plan {
            env,
            cwd: Some(self.cwd.clone()),
            keeps_daemons: self.keeps_daemons,
            ..Plan::new(&self.program)
        };
        let child = Child::start(plan.args(args)).map_err(|error| error.to_string())?;
        match (line.prompt, prompt) {
            (PromptBy::Stdin, Some(prompt)) => {
                let _ = child.write(prompt.as_bytes());
                child.close_stdin();
            }
            // It is asked for leave there, and reads nothing else.
            (PromptBy::Argument, _) if self.launch.permission != Some(PermissionMode::Bypass) => {}
            (PromptBy::Argument, _) => child.close_stdin(),
            _ => {}
        }
        self.child = Some(child);
        self.answered = false;
        self.typed.begin();
        Ok(())
    }

    /// Tells our log what the host asked for and the program cannot be told, each once.
    fn tell_unsaid(&mut self, unsaid: &[Unsaid]) {
        for unsaid in unsaid {
            let ours = matches!(unsaid.what, "tools" | "allowed_tools" | "disallowed_tools")
                || (unsaid.what == "permission" && self.launch.permission == Some(PermissionMode::DontAsk));
            // Rounds are counted by the session.
            if unsaid.what != "max_turns" && !self.told.contains(unsaid) {
                self.told.push(*unsaid);
                let by = if ours { "; it holds for what the program asks leave for" } else { "" };
                tracing::warn!("{} is not told `{}`: {}{by}", self.program.display(), unsaid.what, unsaid.why);
            }
        }
    }

    /// Sees to it that a program that lives as long as the session runs.
    fn awake(&mut self) -> bool {
        if self.child.is_none()
            && self.failed.is_none()
            && let Err(why) = self.start(None)
        {
            self.failed = Some(why);
        }
        self.child.is_some()
    }

    /// Says something to the program in its own words. Returns whether it has words for it.
    fn say(&mut self, input: &Input<'_>) -> bool {
        let mut line = Vec::new();
        self.voice.input(input, &mut line);
        if let Some(unheard) = &mut self.unheard {
            unheard.extend_from_slice(&line);
        }
        match &self.child {
            Some(child) if !line.is_empty() => child.write(&line).is_ok(),
            _ => false,
        }
    }

    /// Qwen Code decides by its first line whether it is controlled at all.
    fn greet(&mut self, first: &Input<'_>) {
        if std::mem::replace(&mut self.greeted, true) || self.dialect != Dialect::QwenCode {
            return;
        }
        let initializes = matches!(first.kind, InputKind::Request(request) if request.kind == ControlKind::Initialize);
        if initializes || self.host == self.dialect {
            return;
        }
        let request = Request {
            id: Some(Str::trusted(GREETING)),
            subtype: Str::trusted("initialize"),
            kind: ControlKind::Initialize,
            permission: None,
        };
        self.say(&Input {
            origin: Origin::default(),
            kind: InputKind::Request(&request),
            fields: &[],
        });
    }

    /// What is asked of the program in another word than the host's: the member of the request, and the word.
    fn reworded(&self, input: &Input<'_>) -> Option<(&'static str, String)> {
        let InputKind::Request(request) = input.kind else { return None };
        let word = |name: &str| {
            let field = input.fields.iter().find(|field| field.key.is(name))?;
            field.value.string().map(|text| text.unescape().into_owned())
        };
        match request.kind {
            ControlKind::SetModel => Some(("model", self.models.get(&word("model")?)?.clone())),
            ControlKind::SetMode if self.dialect == Dialect::Claude && self.host != self.dialect => {
                let mode = PermissionMode::from_name(self.host, &word("mode")?)?;
                Some(("mode", asking(mode).name(self.host)?.to_owned()))
            }
            _ => None,
        }
    }

    /// A change that a program which is started for each turn is told with the next start.
    fn change(&mut self, input: &Input<'_>, kind: ControlKind) {
        let text = |name: &str| {
            let field = input.fields.iter().find(|field| field.key.is(name));
            field.and_then(|field| field.value.string()).map(|text| text.unescape().into_owned())
        };
        match kind {
            ControlKind::SetModel => self.launch.model = text("model").map(|model| self.models.get(&model).cloned().unwrap_or(model)),
            ControlKind::SetMode => {
                let mode = text("mode").and_then(|mode| PermissionMode::from_name(self.host, &mode));
                self.launch.permission = mode.or(self.launch.permission);
            }
            ControlKind::Interrupt => {
                if let Some(child) = &self.child {
                    self.cancelled = true;
                    child.begin_stop(Steps {
                        close: Duration::ZERO,
                        ..Steps::default()
                    });
                }
            }
            _ => {}
        }
    }

    /// Starts the program anew with a session that it does not know yet, and says everything again.
    fn begin_session(&mut self, id: String, unheard: &[u8]) -> Said {
        (self.launch.resume, self.launch.session_id) = (Resume::New, Some(id));
        if let Err(why) = self.start(None) {
            return Said::Over(Some(why));
        }
        if let Some(child) = &self.child {
            let _ = child.write(unheard);
        }
        Said::Bytes
    }

    /// Closes the input of a program that lives as long as the session, once its last turn is here: until then it may ask, and Qwen
    /// Code ends behind its last turn without waiting until its output is read (recording `long_line`).
    fn hang_up(&self) {
        if let Some(child) = self.child.as_ref().filter(|_| !self.one_turn() && self.owed == 0) {
            child.close_stdin();
        }
    }

    /// What to do about a program that does not understand us. Only then is it asked for its version: no start waits for that.
    async fn wrong_version(&self) -> String {
        let args = self.script.iter().map(OsString::from).chain([OsString::from("--version")]).collect();
        let env = self.env.clone();
        let says = match version(&self.program, args, env, VERSION).await {
            Ok(version) => format!("it is {version}"),
            Err(_) => "it does not say its version".to_owned(),
        };
        let known = self.dialect.conduct().version();
        format!(
            "{says} and does not know what agentglot tells it, which works with {known}: update the program, or name another one with cli:NAME=PATH"
        )
    }

    /// The program has ended: what there is to say about it.
    async fn epilogue(&mut self) -> Said {
        // It stays ours until all is known: this may be dropped while it waits.
        let Some(child) = &self.child else { return Said::Over(None) };
        let ending = child.ended().await;
        let words = String::from_utf8_lossy(&ending.stderr_tail).trim().to_owned();
        let how = ending.exit.map_or_else(|| "does not end".to_owned(), |exit| exit.to_string());
        let name = self.script.as_ref().unwrap_or(&self.program).display();
        let mut why = if words.is_empty() {
            format!("{name} {how}")
        } else {
            format!("{name} {how}: {words}")
        };
        if is_of_another_version(&words) {
            why.push_str("; ");
            why.push_str(&self.wrong_version().await);
        } else if let Some(advice) = advice(self.dialect, &words) {
            why.push_str("; ");
            why.push_str(advice);
        }
        self.child = None;
        if let (Resume::Session(id), true) = (&self.launch.resume, unknown_session(&words)) {
            if let Some(unheard) = self.unheard.take() {
                return self.begin_session(id.clone(), &unheard);
            }
            let why = launch::ArgError::no_session(self.host, id).text.trim_end().to_owned();
            return Said::Over(Some(why));
        }
        if !self.one_turn() {
            return Said::Over(Some(why));
        }
        match (std::mem::take(&mut self.cancelled), self.answered) {
            (_, true) => Said::Bytes,
            (true, false) => Said::Cancelled,
            (false, false) => match self.typed.denied() {
                Some(tool) if ending.exit.is_some_and(|exit| exit.code() == 0) => {
                    Said::Denied(format!("{tool} was not allowed, and {name} ends its run there"))
                }
                _ => Said::Failed(why),
            },
        }
    }
}

#[async_trait(?Send)]
impl Backend for Cli {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn input(&mut self, input: &Input<'_>) -> bool {
        if self.one_turn() {
            match input.kind {
                InputKind::Prompt(prompt) => self.prompts.push_back(words(prompt)),
                InputKind::Request(request) => {
                    if self.reach(Control::of_host(request.kind)) == Reach::Emulated {
                        self.change(input, request.kind);
                    }
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
            let hooks = input.fields.iter().find(|field| field.key.is("hooks"));
            let hooks = hooks.and_then(|field| serde_json::from_str(field.value.as_str()).ok());
            self.callbacks = hooks.map(|hooks: Value| Callback::read(&hooks)).unwrap_or_default();
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
        if let InputKind::Request(request) = input.kind
            && request.kind != ControlKind::Initialize
            && self.reach(Control::of_host(request.kind)) != Reach::Passed
        {
            return false;
        }
        let Some((member, word)) = self.reworded(input) else {
            return self.say(input);
        };
        let mut quoted = String::from("\"");
        Str::escape(&word, &mut quoted);
        quoted.push('"');
        let value = Raw::trusted(&quoted);
        let mut fields = input.fields.to_vec();
        for field in fields.iter_mut().filter(|field| field.key.is(member)) {
            field.value = value;
        }
        self.say(&Input { fields: &fields, ..*input })
    }

    /// Qwen Code reads changed arguments on its control channel and runs the original ones; its hooks do better
    /// (docs/qwen-code.md).
    fn takes_changes(&self) -> bool {
        match self.reach(Control::ChangedArguments) {
            Reach::Passed => true,
            Reach::Emulated => self.hooks.is_some(),
            Reach::Refused => false,
        }
    }

    fn queued(&self) -> usize {
        let prompts: usize = self.prompts.iter().map(String::len).sum();
        prompts + self.child.as_ref().map_or(0, Child::queued)
    }

    fn close(&mut self) {
        self.closed = true;
        self.hang_up();
    }

    fn heard(&mut self, event: &Event<'_>) {
        if matches!(event.kind, Kind::Session(_)) {
            self.unheard = None;
        }
        if matches!(event.kind, Kind::Outcome(_)) {
            self.answered = true;
            self.owed = self.owed.saturating_sub(1);
            if self.closed {
                self.hang_up();
            }
        }
        if self.hooks.is_some() || self.dialect == Dialect::Tricode {
            self.note_calls(event);
        }
        if let Some(session) = event.origin.session.filter(|_| self.one_turn()) {
            let id = session.unescape();
            if !matches!(&self.launch.resume, Resume::Session(known) if *known == id) {
                self.launch.resume = Resume::Session(id.into_owned());
                self.launch.session_id = None;
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
                    if self.dialect == Dialect::Tricode {
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

    async fn stop(&mut self) {
        if let Some(child) = self.child.take() {
            child.stop(Steps::default()).await;
        }
    }
}

/// The mode of a program that asks about what would run unasked.
fn asking(mode: PermissionMode) -> PermissionMode {
    if mode == PermissionMode::Bypass { PermissionMode::Ask } else { mode }
}

/// Whether a program says that it does not know the session that it is to go on with.
fn unknown_session(words: &str) -> bool {
    const WORDS: [&str; 2] = ["No saved session found", "No conversation found"];
    WORDS.iter().any(|known| words.contains(known))
}

/// How long a program that has just failed may take to say its version.
const VERSION: Duration = Duration::from_secs(5);

/// Whether a program says that it does not know an argument.
fn is_of_another_version(words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    let known = ["unknown option", "unknown argument", "unexpected argument", "unrecognized option"];
    known.iter().any(|known| words.contains(known))
}

/// What to do about what a program said last, if that is something that its user can mend.
fn advice(dialect: Dialect, words: &str) -> Option<&'static str> {
    let words = words.to_ascii_lowercase();
    let has = |known: &[&str]| known.iter().any(|known| words.contains(known));
    let no_key = [
        "api key",
        "api_key",
        "apikey",
        "/login",
        "not logged in",
        "log in",
        "authentication",
        "no auth type",
    ];
    has(&no_key).then_some(match dialect {
        Dialect::Claude => "set ANTHROPIC_API_KEY, or log in with `claude` once",
        Dialect::Qwen | Dialect::QwenCode | Dialect::Agentglot => "set OPENAI_API_KEY, or log in with `qwen` once",
        Dialect::Cursor => "set CURSOR_API_KEY, or log in with `cursor-agent login` once",
        Dialect::Tricode => "set OPENAI_API_KEY, or the key of the provider that tricode is set to",
    })
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
