//! What an agent that is another program has done by us, its host: files and commands, behind the wall that our own agent works behind.
//!
//! Who may what is judged as for our own agent, by the mode and the rules of the session's command line ([`Policy`]). What nothing allows is
//! asked about, unless the host has just allowed the call of which it is a part; what is forbidden is not done, whoever has allowed it.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::permissions::{Policy, Verdict};
use crate::persona;
use crate::tools::confine::Confine;
use crate::tools::environment::environment;
use crate::tools::read::{Content, Window, read};
use crate::tools::shell::{Commands, Order, Settings};
use crate::tools::terminals::{NoTerminal, State, Terminals};
use crate::tools::write::{Put, write};
use crate::tools::{Access, Spec, World};
use crate::workspace::{Fault, Limits, Wall};
use agentglot_adapters::raw::client::{Act, ClientCall, Done, Exit as Ended, Start, Undone};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::event::ToolKind;
use agentglot_adapters::raw::launch::{Launch, PermissionMode};
use agentglot_adapters::raw::tools::Tools;
use agentglot_process::{Exit, leftover};

/// How many bytes of a text are read at once. More is read in parts.
pub const LARGEST_TEXT: usize = 16 << 20;

/// What there is to know before the first call.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// How much of the workspace is looked through.
    pub limits: Limits,
    /// Commands write only in the workspace.
    pub confine_commands: bool,
    /// What they leave behind on purpose lives on.
    pub keeps_daemons: bool,
    /// Variables that they get besides the usual ones.
    pub pass_env: Vec<String>,
}

/// The place where it is done.
#[derive(Debug)]
pub struct Workplace {
    wall: Arc<Wall>,
    policy: Policy,
    host: Dialect,
    commands: Rc<Commands>,
    terminals: Rc<Terminals>,
    local: LocalSet,
    tell: UnboundedSender<Told>,
    told: UnboundedReceiver<Told>,
    _scratch: leftover::Folder,
}

/// What came of a call of this number.
type Told = (u64, Result<Done, Undone>);

impl Workplace {
    /// For a session in this folder.
    ///
    /// # Errors
    /// When its folders cannot be opened, or commands not be confined as they should.
    pub fn new(launch: &Launch, cwd: &Path, means: &Means) -> Result<Self, String> {
        let wall = Wall::new(cwd).map_err(|error| format!("{}: {error}", cwd.display()))?;
        let wall = wall.within(means.limits);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let host = launch.format.dialect;
        let (mut policy, problems) = Policy::new(launch, persona::of(host).vocabulary(), wall.root(), home, None);
        policy.set_read_rules(wall.read_rules().clone());
        for problem in problems {
            tracing::warn!("{problem}");
        }
        for folder in policy.folders().skip(1) {
            if let Err(error) = wall.add(folder) {
                tracing::warn!("{}: {error}", folder.display());
            }
        }
        let confine = means.confine_commands.then(Confine::default);
        if let Some(confine) = &confine {
            confine.check().map_err(|error| error.to_string())?;
        }
        let scratch = leftover::Folder::new().map_err(|error| format!("a folder for the session's own files: {error}"))?;
        let wall = Arc::new(wall);
        let world = World {
            environment: Arc::new(environment([], &means.pass_env)),
            wall: Arc::clone(&wall),
            scratch: scratch.path().to_owned(),
        };
        let commands = Commands::new(
            &world,
            Settings {
                confine,
                keeps_daemons: means.keeps_daemons,
                ..Settings::default()
            },
        );
        let (tell, told) = unbounded_channel();
        Ok(Self {
            wall,
            policy,
            host,
            terminals: Rc::new(Terminals::new(Rc::clone(&commands))),
            commands,
            local: LocalSet::new(),
            tell,
            told,
            _scratch: scratch,
        })
    }

    /// Begins with one. What comes of it is told by [`Self::next`].
    pub fn begin(&mut self, call: ClientCall) {
        let number = call.number;
        if let Some(done) = self.act(call).transpose() {
            // It lives as long as this does.
            let _ = self.tell.send((number, done));
        }
    }

    /// Waits for what came of one. Commands go on meanwhile, and only then. Cancel-safe.
    pub async fn next(&mut self) -> Told {
        let told = self.local.run_until(self.told.recv()).await;
        match told {
            Some(told) => told,
            // Not while there is somebody who tells.
            None => std::future::pending().await,
        }
    }

    /// Ends every command, and waits until nothing is left.
    pub async fn end(&self) {
        self.local.run_until(self.terminals.end()).await;
    }

    /// `None`: it will be told.
    fn act(&mut self, call: ClientCall) -> Result<Option<Done>, Undone> {
        let number = call.number;
        match call.act {
            Act::Read { path, line, limit } => {
                let wall = self.inside(&path)?;
                self.judge(ToolKind::Read, &Access::Read(vec![path.clone()]), call.permitted, call.mode)?;
                self.beside(number, move || lines_of(&wall, &path, line, limit).map(Done::Text));
            }
            Act::Write { path, content } => {
                let wall = self.inside(&path)?;
                self.judge(ToolKind::Write, &Access::Write(vec![path.clone()]), call.permitted, call.mode)?;
                self.beside(number, move || {
                    write(&wall.locate(&path)?, &content, Put::Instead, None)?;
                    Ok(Done::Nothing)
                });
            }
            Act::Start(start) => return self.start(&start, call.permitted, call.mode).map(Some),
            Act::Output(id) => {
                let output = self.terminals.output(&id)?;
                return Ok(Some(Done::Output {
                    text: output.text,
                    cut: output.cut,
                    exit: ended(output.state),
                }));
            }
            Act::Wait(id) => self.follow(number, &id, Done::Ended)?,
            Act::Kill(id) => {
                self.terminals.kill(&id)?;
                self.follow(number, &id, |_| Done::Nothing)?;
            }
            Act::Release(id) => {
                self.terminals.release(&id)?;
                return Ok(Some(Done::Nothing));
            }
        }
        Ok(None)
    }

    /// The wall, if the path leads nowhere else.
    fn inside(&self, path: &str) -> Result<Arc<Wall>, Undone> {
        self.wall.locate(path)?;
        Ok(Arc::clone(&self.wall))
    }

    /// Whether it may be done, by the host's mode and its rules.
    fn judge(&mut self, kind: ToolKind, access: &Access, permitted: bool, mode: PermissionMode) -> Result<(), Undone> {
        self.policy.hold(mode);
        let name = Tools::of(self.host).and_then(|tools| tools.name(kind)).unwrap_or_default();
        let spec = Spec {
            name: name.to_owned(),
            description: String::new(),
            schema: Value::Null,
            kind,
            reads_only: kind == ToolKind::Read,
            ..Spec::default()
        };
        match self.policy.judge(&spec, &Value::Null, access) {
            Verdict::Allow { .. } => Ok(()),
            Verdict::Deny { message, .. } => Err(Undone::Refused(message)),
            Verdict::Ask { .. } if permitted => Ok(()),
            Verdict::Ask { .. } => Err(Undone::AskHost),
        }
    }

    fn start(&mut self, start: &Start, permitted: bool, mode: PermissionMode) -> Result<Done, Undone> {
        let folder = match &start.folder {
            Some(folder) => self.wall.locate(folder)?.path().to_owned(),
            None => self.wall.root().to_owned(),
        };
        let asked = self.commands.asked(start.shown.clone(), Some(&folder));
        self.judge(ToolKind::Shell, &Access::Run(asked), permitted, mode)?;
        let order = Order {
            folder: Some(&folder),
            env: &start.env,
            ..Order::new(&start.command)
        };
        let _inside = self.local.enter();
        Ok(Done::Started(self.terminals.start(order, start.keep)?))
    }

    /// Does something with files on a thread that may block.
    fn beside(&self, number: u64, work: impl FnOnce() -> Result<Done, Undone> + Send + 'static) {
        let tell = self.tell.clone();
        self.local.spawn_local(async move {
            let done = spawn_blocking(work).await;
            let done = done.unwrap_or_else(|error| Err(Undone::Failed(error.to_string())));
            let _ = tell.send((number, done));
        });
    }

    /// Tells when the command of a terminal has ended.
    fn follow(&self, number: u64, id: &str, done: fn(Ended) -> Done) -> Result<(), Undone> {
        let (mut state, tell) = (self.terminals.watch(id)?, self.tell.clone());
        self.local.spawn_local(async move {
            let state = state.wait_for(|state| *state != State::Running).await.map(|state| *state);
            let exit = state.ok().and_then(ended).unwrap_or_default();
            let _ = tell.send((number, Ok(done(exit))));
        });
        Ok(())
    }
}

/// Reads lines of a text.
fn lines_of(wall: &Wall, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, Undone> {
    let place = wall.locate(path)?;
    let window = Window {
        first: line.unwrap_or(1),
        lines: limit,
        bytes: LARGEST_TEXT,
        hash: false,
    };
    // Nobody stops it: it is bounded by the limits of the workspace.
    let content = read(&place, &window, &CancellationToken::new())?;
    let no_text = || Undone::Failed(format!("{path} is no text in UTF-8"));
    let Content::Text(mut text) = content else { return Err(no_text()) };
    if text.lossy {
        return Err(no_text());
    }
    if text.cut {
        let why = format!("{path}: this is more than {LARGEST_TEXT} bytes; read it in parts, by `line` and `limit`");
        return Err(Undone::Failed(why));
    }
    // Lines have their ends, the last one too.
    if text.count > 0 && text.first + text.count - 1 < text.total {
        text.text.push('\n');
    }
    Ok(text.text)
}

fn ended(state: State) -> Option<Ended> {
    match state {
        State::Running => None,
        State::Ended(None) => Some(Ended::default()),
        State::Ended(Some(Exit::Code(code))) => Some(Ended {
            code: Some(code),
            signal: None,
        }),
        State::Ended(Some(exit @ Exit::Signal(number))) => Some(Ended {
            code: None,
            signal: Some(exit.signal().map_or_else(|| number.to_string(), str::to_owned)),
        }),
    }
}

impl From<Fault> for Undone {
    fn from(fault: Fault) -> Self {
        let why = fault.to_string();
        match fault {
            Fault::Missing(_) => Self::Missing(why),
            Fault::Outside { .. } | Fault::Forbidden(_) => Self::Refused(why),
            Fault::Folder(_) | Fault::NotFolder(_) | Fault::Special { .. } | Fault::Name(_) => Self::Wrong(why),
            _ => Self::Failed(why),
        }
    }
}

impl From<NoTerminal> for Undone {
    fn from(none: NoTerminal) -> Self {
        match none {
            NoTerminal::Unknown(_) => Self::Missing(none.to_string()),
            NoTerminal::Many | NoTerminal::NotRun(_) => Self::Failed(none.to_string()),
        }
    }
}
