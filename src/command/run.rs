//! `run`: be another program.

mod begin;
mod early;
mod prompt;
mod signals;
mod terminal;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agentglot_adapters::raw::codec::{Dialect, Layout, Mode};
use agentglot_adapters::raw::conduct::Facts;
use agentglot_adapters::raw::launch::{self, ArgError, Command, Errand, Launch, PermissionMode, Resume};
use agentglot_adapters::raw::live::Listener;

use super::refusal::{self, Reader, refuse};
use crate::agent::flags::given;
use crate::agent::mcp;
use crate::agent::persona;
use crate::agent::store::{Ask, History, Store, StoreError, Transcript, Writer};
use crate::agent::tools::environment;
use crate::agent::workspace::Limits;
use crate::backend::Backend;
use crate::backend::choice::{Choice, no_backend};
use crate::backend::model::ModelErrorKind;
use crate::backend::replay::{Live, Pace};
use crate::child::file::{open_named, write_named};
use crate::child::{family, leftover};
use crate::config::durations::{FOR_EVER, seconds};
use crate::config::trust::Trust;
use crate::io::Console;
use crate::live;
use crate::record::{About, Recorder};
use crate::session::run::{Ears, run as drive};
use crate::session::{Clock, Host, OnAsk, Rules, Session, Timers};
use crate::show::LivePage;
use crate::status::{Failure, Status};
use begin::{Own, backend, client, model_trouble, named_model};
use early::Nobody;
use prompt::{Prompt, prompt};
use signals::Signals;
use terminal::Typist;

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
    /// On a terminal with colours; without it, if the terminal has them.
    pub colour: Option<bool>,
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
    /// How much an agent may say in a turn.
    pub max_turn: usize,
    /// The longest prompt, and the longest line of the host.
    pub max_prompt: usize,
    /// How much of files and folders the built-in agent looks through.
    pub limits: Limits,
    /// How many questions may wait in each direction.
    pub max_pending: usize,
    /// How many bytes may wait for the host before the back end has to.
    pub max_queued: usize,
    /// How many sessions a host may have open with a program that serves many.
    pub max_sessions: usize,
    /// What flags and variables say of all this, as variables: what a program of ours that we start is to hear of it.
    pub said: Vec<(OsString, OsString)>,
}

/// Runs until the session ends. Returns the exit code of the program that we stand in for.
///
/// # Errors
/// When the back end cannot be had.
pub fn run(run: &Run) -> Result<u8, Failure> {
    let Some(program) = run.dialect.program().filter(|program| program.has_stand_in()) else {
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
    if let Some(begin) = (program.traits.server)(&launch) {
        let runtime = crate::system::runtime()?;
        let stop = runtime.block_on(async { Signals::watch() })?;
        let done = runtime.block_on(crate::serve::run(run, &launch, begin, stop));
        // Whoever looks for sessions that nobody wants to know of any more is not waited for.
        runtime.shutdown_timeout(PATIENCE_FOR_LEFTOVERS);
        return done;
    }
    let reader = Reader::of(&launch);
    let done = early::unpanicked(run, &launch, stdout, |begun| launched(run, &launch, begun));
    if let Err(failure) = &done {
        let no_model = match run.backend.clone().or_else(|| Choice::of_environment(run.dialect)) {
            Some(Choice::Model(api)) => model_trouble(api, &launch).is_some(),
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

/// Runs what was understood. `begun`: whether the session tells by itself how it ended.
fn launched(run: &Run, launch: &Launch, begun: &Cell<bool>) -> Result<u8, Failure> {
    let runtime = crate::system::runtime()?;
    // From here on a signal is no end without words.
    let mut stop = runtime.block_on(async { Signals::watch() })?;
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
    // The number of a signal that ends the session before anybody answers.
    let mut early = None;
    let prompt = if launch.has_stdin_protocol() {
        None
    } else {
        let none = ArgError::no_prompt(run.dialect);
        match runtime.block_on(prompt(launch, run.prompt_timeout, run.max_prompt, &mut stop)) {
            Ok(Prompt::Whole(prompt)) => Some(prompt),
            Ok(Prompt::Stopped(signal, said)) => {
                early = Some(signal);
                // Something empty would be no turn, and a turn is what has an outcome.
                Some(said).filter(|said| !said.is_empty()).or_else(|| Some(" ".to_owned()))
            }
            Ok(Prompt::None) => return Ok(refusal::on_stderr(Reader::of(launch), &none.text, none.exit_code)),
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
    if let Some((flag, why)) = program_of(run).and_then(|program| program.traits.needs_repository)
        && given(launch, flag).is_none()
        && launch.permission != Some(PermissionMode::Bypass)
        && !cwd.ancestors().any(|folder| folder.join(".git").exists())
    {
        return Ok(refusal::on_stderr(Reader::of(launch), &format!("{why}\n"), 1));
    }
    let answer_file = answer_file(run, launch);
    // Whoever waits for an answer in it is told before the model is asked that there will be none.
    if let Some(file) = answer_file
        && let Err(error) = open_named(Path::new(file))
    {
        let why = format!("Error: Failed to open last message file {file:?}: {error}\n");
        return Ok(refusal::on_stderr(Reader::of(launch), &why, 1));
    }
    let images = program_of(run).map_or(&[][..], |program| program.traits.images);
    for (_, file) in launch.rest.iter().filter(|(name, _)| images.contains(&name.as_str())) {
        let file = file.as_deref().unwrap_or_default();
        Console::plain().say(&format!("{file} does not reach the model: a stand-in passes on the prompt's text only"));
    }
    let launch = &trusting(launch, run, choice, &cwd);
    if let (Choice::Model(api), Some(no_key), None) = (choice, run.dialect.program().and_then(|program| program.no_key), early)
        && let Err(error) = client(*api, launch)?
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
        Choice::Model(_) if early.is_none() => match keep(launch, &cwd) {
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
        // Other programs are told which session it is, in an id of the kind that they all take.
        _ if matches!(choice, Choice::Cli(..)) => uuid::Uuid::new_v4().to_string(),
        _ => persona::of(run.dialect).sessions.new_id(),
    };
    let live_facts = Live {
        session: session.clone(),
        cwd: cwd.display().to_string(),
    };
    let watched = early.is_none() && terminal::is_watched(launch);
    let typist = if watched { Typist::who_watches() } else { Typist::Nobody };
    let on_ask = run.on_ask.clone().unwrap_or_else(|| usual_on_ask(run.dialect, choice, &typist));
    let mut host = host(launch, &live_facts, run, choice, &on_ask);
    host.log = wishes.log;
    if watched {
        host.watched = true;
        host.types_answers = on_ask == OnAsk::Host;
    }
    let types_answers = host.types_answers;
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
        let model = match early {
            Some(_) => None,
            None => tokio::select! {
                biased;
                number = stop() => {
                    early = Some(number);
                    None
                }
                model = named_model(choice, launch) => model?,
            },
        };
        let mut backend: Box<dyn Backend> = match early {
            Some(_) => Box::new(Nobody { why: None }),
            None => backend(
                run,
                choice,
                &terminal::asked_for_pieces(launch, watched),
                &live_facts,
                &cwd,
                Own { kept, servers, model },
            )?,
        };
        let mut ears = Ears {
            host: Listener::to_host(run.dialect, run.max_line.min(run.max_prompt)),
            backend: Listener::to_agent(backend.format(), run.max_line),
            max_line: run.max_line,
            max_turn: run.max_turn,
            backlog: run.max_queued,
            record: None,
            page: watched.then(|| LivePage::new(terminal::look(run.colour), terminal::size, run.max_line)),
        };
        let mut talk = Session::new(host, backend.format(), backend.dialect(), run.timers, on_ask);
        talk.limit_pending(run.max_pending);
        let stdin = match &typist {
            Typist::Terminal(keys) if types_answers => Some(live::Input::new(keys.as_fd())),
            _ => (launch.has_stdin_protocol() || types_answers).then(live::Input::stdin),
        };
        let stdin = stdin.transpose().map_err(|error| Failure::Read {
            name: "standard input".to_owned(),
            error,
        })?;
        let stdout = stdout()?;
        ears.record = run.record.as_deref().and_then(|dir| {
            let about = About {
                session,
                host: if watched {
                    Dialect::CANONICAL.name().to_owned()
                } else {
                    launch.format.to_string()
                },
                backend: backend.format().to_string(),
                chosen: choice.to_string(),
                argv: run.args.clone(),
                cwd: live_facts.cwd.clone(),
                prompt: prompt.clone(),
                secrets,
            };
            let warn = |error| Console::plain().say(&format!("{}: nothing is recorded: {error}", dir.display()));
            Recorder::start(dir, &about).map_err(warn).ok()
        });
        // What the host has said before the signal is read: a prompt in it gets its outcome.
        let heard = tokio::time::Instant::now() + PATIENCE_FOR_UNREAD;
        let stop = async || match early {
            Some(number) => {
                if launch.has_stdin_protocol() {
                    tokio::time::sleep_until(heard).await;
                }
                number
            }
            None => stop().await,
        };
        begun.set(true);
        let code = drive(&mut talk, &mut ears, backend.as_mut(), prompt.as_deref(), stdin, stdout, stop).await;
        // A host that had closed its end may have ended it first.
        let code = early.map_or(code, |number| u8::try_from(128 + number).unwrap_or(1));
        if let Some(words) = talk.last_words() {
            Console::plain().lines(&format!("{words}\n"));
        }
        if let Some(record) = ears.record.take() {
            record.finish(code);
        }
        // The turn is what it was, with or without the file.
        if let Some((file, answer)) = answer_file.zip(talk.last_answer())
            && let Err(error) = write_named(Path::new(file), answer.as_bytes(), PATIENCE_FOR_READERS)
        {
            let failure = Failure::Write {
                name: file.to_owned(),
                error,
            };
            Console::plain().say(&failure.to_string());
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

fn program_of(run: &Run) -> Option<&'static launch::Program> {
    run.dialect.program()
}

/// The file that a flag names for the last message, where the program has such a flag. A turn that fails leaves it as it is.
fn answer_file<'l>(run: &Run, launch: &'l Launch) -> Option<&'l str> {
    let names = program_of(run).map_or(&[][..], |program| program.traits.answer_file);
    names.iter().rev().find_map(|name| given(launch, name)?.1.as_deref())
}

fn stdout() -> Result<live::Output, Failure> {
    live::Output::stdout().map_err(Failure::of_stdout)
}

/// How long the file of the last message, if it is a pipe, may wait for whoever reads it.
const PATIENCE_FOR_READERS: Duration = Duration::from_secs(5);

/// How long what a host has said may take to be read when a signal has ended the session before it began.
const PATIENCE_FOR_UNREAD: Duration = Duration::from_millis(50);

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
            none => *none = choice.program().is_some().then(|| vec!["user".to_owned()]),
        }
        launch.rest.retain(|(flag, _)| !["--trust", "--skip-trust"].contains(&flag.as_str()));
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

/// What happens to questions that the host cannot be asked, where nobody says it.
fn usual_on_ask(dialect: Dialect, choice: &Choice, typist: &Typist) -> OnAsk {
    if matches!(typist, Typist::Stdin | Typist::Terminal(_)) || matches!(choice, Choice::Model(_)) && dialect.conduct().asks_in_text() {
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
        hides_thoughts: dialect
            .program()
            .and_then(|program| program.traits.thoughts)
            .is_some_and(|flag| given(launch, flag).is_none()),
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
        watched: false,
        types_answers: *on_ask == OnAsk::Host && dialect.conduct().asks_in_text(),
        allows_all: mode == PermissionMode::Bypass,
        // Some programs count themselves, others die at their limit, or know none.
        max_rounds: launch.max_turns.filter(|_| {
            choice
                .program()
                .is_some_and(|behind| !behind.program().is_some_and(launch::Program::counts_rounds))
        }),
        rules: choice.program().map_or_else(Rules::default, |behind| Rules::of(launch, behind)),
        schema: launch.json_schema.clone(),
        echoes: dialect.conduct().echoes() || launch.replay_user_messages,
        facts: Facts {
            session: live.session.clone(),
            cwd: live.cwd.clone(),
            model: launch.model.clone().unwrap_or_default(),
            first_model: launch.model.clone().unwrap_or_default(),
            permission_mode: mode.name(dialect).unwrap_or_default().to_owned(),
            pid: std::process::id(),
            ..Facts::default()
        },
        clock: clock(),
    }
}

/// What time it is.
pub(crate) fn clock() -> Clock {
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
