//! `run`: be another program.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};

use agentglot_adapters::raw::codec::{Dialect, Layout, Mode};
use agentglot_adapters::raw::conduct::Facts;
use agentglot_adapters::raw::launch::{self, ArgError, Command, Errand, Launch, PermissionMode, Resume};
use agentglot_adapters::raw::live::Listener;

use rustix::process::{Resource, Signal, getrlimit};

use super::refusal::{self, Reader, refuse};
use crate::agent::flags::given;
use crate::agent::model::names::Models;
use crate::agent::persona;
use crate::agent::store::{Ask, History, Store, StoreError, Transcript, Writer};
use crate::agent::tools::confine::Confine;
use crate::agent::tools::environment;
use crate::agent::tools::shell::Settings;
use crate::agent::tools::web_search::Engine;
use crate::agent::{Parts, mcp};
use crate::backend::agent::Builtin;
use crate::backend::demo::demo;
use crate::backend::model::{Api, Client, Endpoint, ModelErrorKind};
use crate::backend::replay::{Asked, Live, Pace, Replay};
use crate::backend::{Backend, cli};
use crate::child::{family, leftover, sys};
use crate::config::trust::Trust;
use crate::io::{Console, Input, Source};
use crate::live;
use crate::record::{About, Recorder};
use crate::session::run::{Ears, run as drive, words};
use crate::session::{Clock, Host, OnAsk, Rules, Session, Timers};
use crate::status::{Failure, Status};

/// A transcript, and what was said in it by now.
type Kept = (Transcript, Option<History>);

/// Whom to be, and who answers.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whose program.
    pub dialect: Dialect,
    /// Who answers. Small commands (`--version`) need nobody.
    pub backend: Option<Choice>,
    /// Its own arguments.
    pub args: Vec<String>,
    /// Arguments that nobody knows are an error, also where they are usually let through.
    pub strict: bool,
    /// The host may say by its flags that a project is trusted; otherwise only the user does.
    pub heeds_host: bool,
    /// How fast a log is replayed.
    pub pace: Pace,
    /// How long to wait for what.
    pub timers: Timers,
    /// How often a host of the RFC gets a sign of life that it did not ask for.
    pub heartbeat: Option<Duration>,
    /// How long a prompt on standard input may go without a byte.
    pub prompt_timeout: Duration,
    /// What happens to questions that the host cannot be asked. Where nobody says it they are denied, but for the built-in agent as a
    /// program that asks in plain text: it asks.
    pub on_ask: Option<OnAsk>,
    /// Variables that a program gets from our environment besides its own ones.
    pub pass_env: Vec<String>,
    /// What the agent's tools start in sessions of their own lives on after the agent.
    pub keep_daemons: bool,
    /// Commands of the built-in agent write only in the workspace.
    pub confine_commands: bool,
    /// The address of the search engine of the built-in agent, if it is not the usual one.
    pub search_engine: Option<String>,
    /// What the host's names of models are called behind us.
    pub models: BTreeMap<String, String>,
    /// Where what is said is kept.
    pub record: Option<PathBuf>,
    /// Longer lines are damaged.
    pub max_line: usize,
    /// The longest prompt, and the longest line of the host.
    pub max_prompt: usize,
    /// How many questions may wait in each direction.
    pub max_pending: usize,
    /// How many bytes may wait for the host before the back end has to.
    pub max_queued: usize,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A recorded log.
    Replay(PathBuf),
    /// The session inside the program.
    Demo,
    /// Another agent's program.
    Cli(Dialect, Option<PathBuf>),
    /// The built-in agent, with a model behind this API.
    Model(Api),
}

/// Runs until the session ends. Returns the exit code of the program that we stand in for.
///
/// # Errors
/// When the back end cannot be had.
pub fn run(run: &Run) -> Result<u8, Failure> {
    let Some(program) = run.dialect.program() else {
        return Err(Failure::Usage(format!("{} is no program that could be stood in for", run.dialect.name())));
    };
    let launch = match launch::parse(program, &run.args, run.strict) {
        Ok(Command::Launch(launch)) => *launch,
        Ok(Command::Errand(errand)) => return Ok(answer(&errand, program)),
        Err(error) => {
            let host = Reader::of_args(run.dialect, &run.args);
            return Ok(refusal::on_stderr(host, &error.text, error.exit_code));
        }
    };
    let reader = Reader::of(&launch);
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| launched(run, &launch))).unwrap_or_else(|panicked| {
        Err(Failure::Read {
            name: "the session".to_owned(),
            error: std::io::Error::other(format!("agentglot itself failed, and this is a bug of it: {}", words(&*panicked))),
        })
    });
    if let Err(failure) = &done {
        let no_model = match run.backend.clone().or_else(|| Choice::of_environment(run.dialect)) {
            Some(Choice::Model(api)) => model_trouble(api).is_some(),
            _ => false,
        };
        let code = match failure {
            _ if no_model => "QWEN_MODEL_ERROR",
            Failure::Usage(_) => "QWEN_INVALID_REQUEST",
            _ => "QWEN_INTERNAL",
        };
        refusal::in_stream(reader, &failure.to_string(), code, 1);
        refusal::hear_first_line(reader);
    }
    done
}

/// Runs what was understood.
fn launched(run: &Run, launch: &Launch) -> Result<u8, Failure> {
    let wishes = waits(run, launch)?;
    let run = &wishes.run;
    let refused = |text: &str, exit_code: u8| refusal::on_stderr(Reader::of(launch), &format!("agentglot: {text}\n"), exit_code);
    let chosen = run.backend.clone().or_else(|| Choice::of_environment(run.dialect));
    let Some(choice) = &chosen else {
        return Ok(refused(&no_backend(), Status::Usage.code()));
    };
    // Who uses us plainly should know whose account pays; a host's session is not disturbed.
    if run.backend.is_none() && launch.format.mode == Mode::TEXT && !launch.has_stdin_protocol() {
        Console::plain().say(&format!("{choice} answers, for its key or address is set in the environment"));
    }
    if matches!(choice, Choice::Model(_))
        && let Err(error) = environment::hide_ours()
    {
        tracing::warn!("commands can read our environment: {error}");
    }
    let prompt = if launch.has_stdin_protocol() {
        None
    } else {
        let none = ArgError::no_prompt(run.dialect);
        match prompt(launch, run.prompt_timeout, run.max_prompt) {
            Ok(Some(prompt)) => Some(prompt),
            Ok(None) => return Ok(refusal::on_stderr(Reader::of(launch), &none.text, none.exit_code)),
            Err(why) => return Ok(refused(&why, none.exit_code)),
        }
    };
    let cwd = match &launch.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| Failure::Read {
        name: "the working folder".to_owned(),
        error,
    })?;
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    let launch = &trusting(launch, run, choice, &cwd);
    if let (Choice::Model(api), Some(no_key)) = (choice, run.dialect.program().and_then(|program| program.no_key))
        && let Err(error) = Client::of_environment(*api)
        && error.kind == ModelErrorKind::Authentication
    {
        return Ok(refuse(Reader::of(launch), &no_key(api.name()), "QWEN_MODEL_ERROR"));
    }
    let variable = |name: &str| std::env::var(name).ok();
    let servers = match mcp::config::of_flag(&launch.mcp_config, &cwd, &variable) {
        Err(error) if matches!(choice, Choice::Model(_)) => {
            return Ok(refusal::on_stderr(Reader::of(launch), &format!("Error: {error}\n"), 1));
        }
        servers => servers.unwrap_or_default(),
    };
    let secrets: Vec<String> = servers.iter().flat_map(mcp::Server::secrets).collect();
    let kept = match choice {
        Choice::Model(_) => match keep(launch, &cwd) {
            Ok(kept) => Some(kept),
            Err(error) => {
                if error.has_result() {
                    refusal::tell_failure(launch, &error.refusal(persona::of(run.dialect).sessions).text);
                }
                return Ok(refuse(
                    Reader::of(launch),
                    &error.refusal(persona::of(run.dialect).sessions),
                    "QWEN_UNKNOWN_SESSION",
                ));
            }
        },
        _ => None,
    };
    let session = match (&kept, &launch.session_id, &launch.resume) {
        (Some((transcript, _)), ..) => transcript.id().to_owned(),
        (None, Some(id), _) | (None, None, Resume::Session(id)) => id.clone(),
        _ => uuid::Uuid::new_v4().to_string(),
    };
    let live_facts = Live {
        session: session.clone(),
        cwd: cwd.display().to_string(),
    };
    let on_ask = run.on_ask.clone().unwrap_or_else(|| usual_on_ask(run.dialect, choice));
    let mut host = host(launch, &live_facts, run, choice, &on_ask);
    host.log = wishes.log;
    let types_answers = host.types_answers;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Read {
            name: "the async runtime".to_owned(),
            error,
        })?;
    if !run.keep_daemons
        && let Err(error) = family::adopt()
    {
        tracing::warn!("what commands leave behind may outlive us: {error}");
    }
    let sweeper = cwd.clone();
    // Nobody waits for it: what it does not come to, the next of us does.
    let sweeper = std::thread::Builder::new()
        .name("leftovers".to_owned())
        .spawn(move || leftover::sweep(&[&sweeper]));
    let done = runtime.block_on(async {
        let stop = Signals::watch()?;
        let model = named_model(choice, launch).await?;
        let mut backend = backend(run, choice, launch, &live_facts, &cwd, Own { kept, servers, model })?;
        let mut ears = Ears {
            host: Listener::to_host(run.dialect, run.max_line.min(run.max_prompt)),
            backend: Listener::to_agent(backend.dialect(), run.max_line),
            backlog: run.max_queued,
            record: None,
        };
        let mut talk = Session::new(host, backend.dialect(), run.timers, on_ask);
        talk.limit_pending(run.max_pending);
        let stdin = (launch.has_stdin_protocol() || types_answers).then(live::Input::stdin).transpose();
        let stdin = stdin.map_err(|error| Failure::Read {
            name: "standard input".to_owned(),
            error,
        })?;
        let stdout = live::Output::stdout().map_err(|error| Failure::Write {
            name: "standard output".to_owned(),
            error,
        })?;
        ears.record = run.record.as_deref().and_then(|dir| {
            let about = About {
                session,
                host: launch.format.to_string(),
                backend: backend.dialect().name().to_owned(),
                chosen: choice.to_string(),
                argv: run.args.clone(),
                cwd: live_facts.cwd.clone(),
                prompt: prompt.clone(),
                secrets,
            };
            let warn = |error| Console::plain().say(&format!("{}: nothing is recorded: {error}", dir.display()));
            Recorder::start(dir, &about).map_err(warn).ok()
        });
        let code = drive(&mut talk, &mut ears, backend.as_mut(), prompt.as_deref(), stdin, stdout, stop).await;
        if let Some(words) = talk.last_words() {
            Console::plain().lines(&format!("{words}\n"));
        }
        if let Some(record) = ears.record.take() {
            record.finish(code);
        }
        Ok(code)
    });
    drop(runtime);
    if !run.keep_daemons {
        family::end_all();
    }
    let until = Instant::now() + PATIENCE_FOR_LEFTOVERS;
    while sweeper.as_ref().is_ok_and(|sweeper| !sweeper.is_finished()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    done
}

/// How long the end of a session waits for what others left behind to be taken away.
const PATIENCE_FOR_LEFTOVERS: Duration = Duration::from_secs(1);

/// The launch with those files of the project that are trusted. Who names them by `--setting-sources` trusts what they start; it is said once.
fn trusting(launch: &Launch, run: &Run, choice: &Choice, cwd: &Path) -> Launch {
    let mut launch = launch.clone();
    let brings = |name: &String| name.trim() != "user";
    if Trust::now().holds(cwd) {
        return launch;
    }
    if !run.heeds_host {
        match &mut launch.setting_sources {
            Some(names) => names.retain(|name| !brings(name)),
            // Another program would read them all.
            none => *none = matches!(choice, Choice::Cli(..)).then(|| vec!["user".to_owned()]),
        }
        launch.rest.retain(|(flag, _)| flag != "--trust");
    } else if launch.setting_sources.iter().flatten().any(brings) {
        tracing::warn!(
            "the host's --setting-sources trusts {}: hooks, servers and variables of its files count; with AGENTGLOT_TRUST=listed only \
             folders do that `agentglot trust` lists",
            cwd.display()
        );
    }
    launch
}

/// What flags say of how long hosts may take, where the program has them.
struct Wishes {
    run: Run,
    log: bool,
}

fn waits(run: &Run, launch: &Launch) -> Result<Wishes, Failure> {
    let mut wishes = Wishes {
        run: run.clone(),
        log: false,
    };
    let Some(patience) = run.dialect.program().and_then(|program| program.patience) else {
        return Ok(wishes);
    };
    let given = |flag| given(launch, flag).map(|(_, value)| value);
    let time = |flag| {
        let value = given(flag).and_then(Option::as_ref);
        let read = value.map(|value| seconds(value).map_err(|why| Failure::Usage(format!("{flag} {value}: {why}"))));
        read.transpose()
    };
    let timers = &mut wishes.run.timers;
    if let Some(patience) = time("--control-timeout")? {
        timers.permission = patience;
    } else if timers.permission == Timers::default().permission {
        timers.permission = Duration::from_secs(patience);
    }
    if let Some(pace) = time("--heartbeat")? {
        wishes.run.heartbeat = Some(pace).filter(|pace| *pace < FOR_EVER);
    }
    wishes.log = given("--log-annotations").is_some_and(|value| value.as_deref() != Some("false"));
    Ok(wishes)
}

/// A small command's answer.
fn answer(errand: &Errand, program: &launch::Program) -> u8 {
    let sessions = match (errand, std::env::current_dir().and_then(|cwd| cwd.canonicalize())) {
        (Errand::Sessions, Ok(cwd)) => Store::open(persona::of(program.dialect).sessions, &cwd, &|name| std::env::var_os(name)).ids(),
        _ => Vec::new(),
    };
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    let id = agentglot_adapters::raw::ids::unused(*uuid::Uuid::new_v4().as_bytes());
    let facts = launch::Facts {
        new_id: &id,
        account: "agentglot@localhost",
        models: &[("auto", "Auto")],
        sessions: &sessions,
    };
    let answer = errand.answer(program, &facts);
    let _ = std::io::stdout().lock().write_all(answer.stdout.as_bytes());
    Console::plain().lines(&answer.stderr);
    answer.exit_code
}

/// The prompt of a host that does not talk: from the command line, else all of standard input.
///
/// A host that neither says more nor closes its end is given up after a while: it waits for us as we do for it.
fn prompt(launch: &Launch, patience: Duration, most: usize) -> Result<Option<String>, String> {
    let too_long = |place: &str| format!("the prompt {place} has more than {most} bytes; --max-prompt says how long it may be");
    if let Some(prompt) = launch.prompt.as_ref().filter(|prompt| !prompt.is_empty()) {
        return match prompt.len() > most {
            true => Err(too_long("on the command line")),
            false => Ok(Some(prompt.clone())),
        };
    }
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let (give, coming) = mpsc::sync_channel(4);
    std::thread::spawn(move || {
        let mut room = vec![0; crate::io::READ];
        loop {
            let read = match stdin.read(&mut room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            if read == 0 || give.send(room[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut bytes = Vec::new();
    loop {
        match coming.recv_timeout(patience) {
            Ok(piece) if bytes.len() + piece.len() > most => return Err(too_long("on standard input")),
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!(
                    "the prompt on standard input has not ended: {} bytes, and nothing more for {:.1} s; close standard input behind it, or \
                     give the prompt as an argument",
                    bytes.len(),
                    patience.as_secs_f64()
                ));
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok((!text.is_empty()).then_some(text))
}

/// What happens to questions that the host cannot be asked, where nobody says it.
fn usual_on_ask(dialect: Dialect, choice: &Choice) -> OnAsk {
    if matches!(choice, Choice::Model(_)) && dialect.conduct().asks_in_text() {
        OnAsk::Host
    } else {
        OnAsk::Deny
    }
}

fn host(launch: &Launch, live: &Live, run: &Run, choice: &Choice, on_ask: &OnAsk) -> Host {
    let dialect = launch.format.dialect;
    let mode = launch.permission_or_default();
    Host {
        format: launch.format,
        agent: matches!(choice, Choice::Model(_)),
        // A person at a terminal wants to see what is done; a program that reads text wants the answer alone.
        old_text: matches!(choice, Choice::Model(_)) && std::io::stdout().is_terminal(),
        partial: launch.partial,
        // A single object is all that Claude's `json` writes, unless it is to be verbose.
        verbose: launch.verbose && launch.format.mode.layout == Layout::Document,
        interactive: launch.has_stdin_protocol(),
        answers_permissions: if dialect.program().is_some_and(launch::Program::names_answerer) {
            launch.answerer == launch::Answerer::Host
        } else {
            launch.has_stdin_protocol()
        },
        heartbeat: run.heartbeat,
        log: false,
        types_answers: *on_ask == OnAsk::Host && dialect.conduct().asks_in_text(),
        allows_all: mode == PermissionMode::Bypass,
        // Some programs count themselves, others die at their limit, or know none.
        max_rounds: launch.max_turns.filter(|_| match choice {
            Choice::Cli(other, _) => !other.program().is_some_and(launch::Program::counts_rounds),
            _ => false,
        }),
        rules: match choice {
            Choice::Cli(behind, _) => Rules::of(launch, *behind),
            _ => Rules::default(),
        },
        echoes: dialect.conduct().echoes() || launch.replay_user_messages,
        facts: Facts {
            session: live.session.clone(),
            cwd: live.cwd.clone(),
            model: launch.model.clone().unwrap_or_default(),
            permission_mode: mode.name(dialect).unwrap_or_default().to_owned(),
            pid: std::process::id(),
            ..Facts::default()
        },
        clock: clock(),
    }
}

/// What time it is.
pub(super) fn clock() -> Clock {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Clock {
        moment: Instant::now(),
        millis: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The transcript of the built-in agent's session.
fn keep(launch: &Launch, cwd: &Path) -> Result<Kept, StoreError> {
    let dialect = launch.format.dialect;
    let store = Store::open(persona::of(dialect).sessions, cwd, &|name| std::env::var_os(name));
    store.begin(&Ask::of(launch), Writer::new(cwd))
}

/// What only the built-in agent begins with.
struct Own {
    kept: Option<Kept>,
    servers: Vec<mcp::Server>,
    /// The model where the host names none.
    model: Option<String>,
}

fn backend(run: &Run, choice: &Choice, launch: &Launch, live: &Live, cwd: &Path, own: Own) -> Result<Box<dyn Backend>, Failure> {
    let Own { kept, servers, model } = own;
    match choice {
        Choice::Demo => {
            let demo = demo(live).map_err(|error| Failure::Usage(format!("demo: {error}")))?;
            Ok(Box::new(demo))
        }
        Choice::Replay(path) => replay(path, run.pace, live),
        Choice::Model(api) => {
            let client = Client::of_environment(*api).map_err(|error| Failure::Usage(error.message))?;
            let variable = |name: &str| std::env::var(name).ok();
            let usual = model.clone().unwrap_or_else(|| usual_model(*api).to_owned());
            let models = Models::new(*api, run.models.clone(), usual, &variable);
            let engine = Engine::new(run.search_engine.as_deref(), variable).map_err(Failure::Usage)?;
            let parts = Parts {
                dialect: run.dialect,
                engine,
                trusts: |root| Trust::now().holds(root),
                heeds_host: run.heeds_host,
                warn: |text| Console::plain().say(text),
                launch: launch.clone(),
                kept: kept.ok_or_else(|| Failure::Usage("the session is not kept".to_owned()))?,
                servers,
                cwd: cwd.to_owned(),
                model: Rc::new(client),
                model_name: launch.model.clone().or(model),
                models,
                pass_env: run.pass_env.clone(),
                commands: Settings {
                    confine: run.confine_commands.then(Confine::default),
                    keeps_daemons: run.keep_daemons,
                    ..Settings::default()
                },
            };
            Ok(Box::new(Builtin::new(parts)?))
        }
        Choice::Cli(dialect, path) => {
            let cli = cli::Cli::new(*dialect, path.as_deref(), launch, live, cwd, &run.pass_env)?;
            Ok(Box::new(
                cli.with_models(run.models.clone())
                    .keeping_daemons(run.keep_daemons)
                    .patient(run.timers.permission),
            ))
        }
    }
}

/// The model that is asked where the host names none: what the environment names, or else one that a server of our own machine has. What an
/// API of the net calls its models is known.
async fn named_model(choice: &Choice, launch: &Launch) -> Result<Option<String>, Failure> {
    let &Choice::Model(api) = choice else { return Ok(None) };
    let set = Endpoint::model_of_environment(api, &|name| std::env::var(name).ok());
    if set.is_some() || launch.model.is_some() || api != Api::Openai {
        return Ok(set);
    }
    let client = Client::of_environment(api).map_err(|error| Failure::Usage(error.message))?;
    if !client.endpoint().is_local() {
        return Ok(None);
    }
    match client.models().await {
        Ok(models) => Ok(models.into_iter().next()),
        Err(error) => {
            tracing::info!("the server does not say which models it has: {}", error.message);
            Ok(None)
        }
    }
}

/// Why the built-in agent could not begin with this API, if the environment says too little for it.
pub fn model_trouble(api: Api) -> Option<String> {
    Client::of_environment(api).err().map(|error| error.message)
}

/// A log, and beside it what its host said, if that was recorded too.
fn replay(path: &Path, pace: Pace, live: &Live) -> Result<Box<dyn Backend>, Failure> {
    let console = Console::plain();
    let input = Input::File(path.to_owned());
    let mut source = Source::open(&input, &console)?;
    let name = input.name();
    let found = source
        .detect()?
        .ok_or_else(|| Failure::Usage(format!("{name}: there is nothing in it")))?;
    let dialect = found.format.dialect;
    let log = source.read_all()?;
    let beside = name.strip_suffix(".out.jsonl").map(|stem| PathBuf::from(format!("{stem}.in.jsonl")));
    let asked = match beside.filter(|path| path.is_file()) {
        Some(path) => Asked::read(dialect, &Source::open(&Input::File(path), &console)?.read_all()?),
        None => Asked::default(),
    };
    let replay = Replay::new(dialect, &log, &asked, live, pace).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Ok(Box::new(replay))
}

/// The signals that would end us and can be caught: each ends the session with an outcome.
struct Signals(Vec<(i32, tokio::signal::unix::Signal)>);

impl Signals {
    const ALL: [Signal; 12] = [
        Signal::TERM,
        Signal::INT,
        Signal::HUP,
        Signal::QUIT,
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::XCPU,
        Signal::XFSZ,
    ];

    /// What waits for the next of them.
    fn watch() -> Result<impl AsyncFnMut() -> i32, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        // Where files have a limit, it is one of them that reached it: writing it fails, and that is told where it was written.
        let is_limited = getrlimit(Resource::Fsize).current.is_some();
        let mut signals = Self(Vec::new());
        for one in Self::ALL {
            let number = one.as_raw();
            // `nohup`, and shells that put us into the background, want us to live on; by these two we are stopped all the same.
            if sys::is_ignored(number) && !matches!(one, Signal::TERM | Signal::INT) {
                continue;
            }
            let heard = signal(SignalKind::from_raw(number)).map_err(|error| Failure::Read {
                name: "signals".to_owned(),
                error,
            })?;
            signals.0.push((number, heard));
        }
        Ok(async move || {
            poll_fn(|cx| {
                for (number, heard) in &mut signals.0 {
                    while heard.poll_recv(cx).is_ready() {
                        if !(is_limited && *number == Signal::XFSZ.as_raw()) {
                            return Poll::Ready(*number);
                        }
                    }
                }
                Poll::Pending
            })
            .await
        })
    }
}

/// The back ends, for messages.
fn choices() -> String {
    let programs: Vec<&str> = programs().collect();
    format!("demo, replay:FILE, cli:{}[=PATH] and model:openai|anthropic", programs.join("|"))
}

/// What the programs are called that can be started behind us.
fn programs() -> impl Iterator<Item = &'static str> {
    launch::Program::backends().filter_map(|program| program.backend.first().copied())
}

/// What is said to somebody who has chosen no back end.
pub(super) fn no_backend() -> String {
    format!(
        "no back end is chosen: --backend, AGENTGLOT_BACKEND or `backend` in agentglot.toml names it, or a model's API by OPENAI_API_KEY, \
         OPENAI_BASE_URL, ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL; there are {}",
        choices()
    )
}

/// The model of an API, where nobody names one.
const fn usual_model(api: Api) -> &'static str {
    match api {
        Api::Openai => "gpt-5.1",
        Api::Anthropic => "claude-sonnet-4-5",
    }
}

impl Choice {
    /// `demo`, `replay:FILE`, `cli:NAME[=PATH]`, `model:API`.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence that names the choices.
    pub fn read(text: &str) -> Result<Self, String> {
        if text == "demo" {
            return Ok(Self::Demo);
        }
        if let Some(file) = text.strip_prefix("replay:").filter(|file| !file.is_empty()) {
            return Ok(Self::Replay(PathBuf::from(file)));
        }
        if let Some(program) = text.strip_prefix("cli:") {
            let (name, path) = program.split_once('=').map_or((program, None), |(name, path)| (name, Some(path)));
            let program = launch::Program::of_backend(name).ok_or_else(|| {
                let known: Vec<String> = programs().map(|name| format!("cli:{name}")).collect();
                format!("cli:{name}: there are {}", known.join(", "))
            })?;
            return Ok(Self::Cli(program.dialect, path.filter(|path| !path.is_empty()).map(PathBuf::from)));
        }
        if let Some(name) = text.strip_prefix("model:") {
            return Api::read(name)
                .map(Self::Model)
                .ok_or_else(|| format!("model:{name}: there are model:openai and model:anthropic"));
        }
        Err(format!("{text:?} is no back end; there are {}", choices()))
    }

    /// What the environment has a key or an address for. With both, the program that we are decides.
    pub(super) fn of_environment(dialect: Dialect) -> Option<Self> {
        let has = |names: [&str; 2]| names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let openai = has(["OPENAI_API_KEY", "OPENAI_BASE_URL"]);
        let anthropic = has(["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]) || has(["ANTHROPIC_AUTH_TOKEN", ""]);
        match (openai, anthropic) {
            (false, false) => None,
            (true, true) => {
                let api = dialect.program().and_then(|program| Api::read(program.api));
                Some(Self::Model(api.unwrap_or(Api::Openai)))
            }
            (true, false) => Some(Self::Model(Api::Openai)),
            (false, true) => Some(Self::Model(Api::Anthropic)),
        }
    }
}

/// As [`Choice::read`] reads it.
impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Replay(path) => write!(f, "replay:{}", path.display()),
            Self::Demo => f.write_str("demo"),
            Self::Model(api) => write!(f, "model:{}", api.name()),
            Self::Cli(dialect, path) => {
                let name = dialect.program().and_then(|program| program.backend.first()).copied();
                let name = name.unwrap_or_else(|| dialect.name());
                write!(f, "cli:{name}")?;
                path.iter().try_for_each(|path| write!(f, "={}", path.display()))
            }
        }
    }
}

/// As long as any program lives.
pub const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

/// The waits of a session, from seconds; 0 is for ever.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Ok(FOR_EVER),
        Ok(wait) => Ok(wait.min(FOR_EVER)),
        Err(error) => Err(error.to_string()),
    }
}
