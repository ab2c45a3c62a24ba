//! The back end of a run, from what was chosen.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::{Launch, Program};

use super::{Kept, Run};
use crate::agent::model::names::Models;
use crate::agent::model::{ModelError, server_flags};
use crate::agent::persona;
use crate::agent::tools::confine::Confine;
use crate::agent::tools::shell::Settings;
use crate::agent::tools::web_search::Engine;
use crate::agent::workplace::Means;
use crate::agent::{Parts, mcp};
use crate::backend::agent::Builtin;
use crate::backend::choice::Choice;
use crate::backend::demo::demo;
use crate::backend::model::{Api, Client, Endpoint};
use crate::backend::older_versions::MaybeOlder;
use crate::backend::replay::{Asked, Live, Pace, Replay};
use crate::backend::requests::{Requests, Start};
use crate::backend::{Backend, cli};
use crate::config::trust::Trust;
use crate::io::{Console, Input, Source};
use crate::status::Failure;

/// What only the built-in agent begins with.
pub(super) struct Own {
    pub(super) kept: Option<Kept>,
    pub(super) servers: Vec<mcp::Server>,
    /// The model where the host names none.
    pub(super) model: Option<String>,
}

/// Begins it.
pub(super) fn backend(run: &Run, choice: &Choice, launch: &Launch, live: &Live, cwd: &Path, own: Own) -> Result<Box<dyn Backend>, Failure> {
    let Own { kept, servers, model } = own;
    match choice {
        Choice::Demo => {
            let demo = demo(live).map_err(|error| Failure::Usage(format!("demo: {error}")))?;
            Ok(Box::new(demo))
        }
        Choice::Replay(path) => replay(path, run.pace, live),
        Choice::Model(api) => {
            let client = client(*api, launch)?.map_err(|error| Failure::Usage(error.message))?;
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
                limits: run.limits,
                commands: Settings {
                    confine: run.confine_commands.then(Confine::default),
                    keeps_daemons: run.keep_daemons,
                    ..Settings::default()
                },
            };
            Ok(Box::new(Builtin::new(parts)?))
        }
        Choice::Command(dialect, command) => Ok(Box::new(requests(run, *dialect, Start::Command(command), launch, cwd)?)),
        Choice::Cli(dialect, path) => {
            let cli = cli::Cli::new(*dialect, path.as_deref(), launch, live, cwd, &run.pass_env)?;
            let cli = cli
                .with_models(run.models.clone())
                .keeping_daemons(run.keep_daemons)
                .patient(run.timers.permission);
            let takes_requests = |program: &Program| {
                let in_lines = program.traits.serves.is_some_and(|serves| (serves.in_lines)(launch));
                program.takes_requests(launch.format.dialect) && !in_lines
            };
            if !dialect.program().is_some_and(takes_requests) {
                return Ok(Box::new(cli));
            }
            let requests = requests(run, *dialect, Start::Program(path.as_deref()), launch, cwd)?;
            Ok(Box::new(MaybeOlder::new(requests, cli)))
        }
    }
}

fn requests(run: &Run, dialect: Dialect, start: Start<'_>, launch: &Launch, cwd: &Path) -> Result<Requests, Failure> {
    let requests = Requests::new(dialect, start, launch, cwd, &run.pass_env)?;
    Ok(requests
        .with_models(run.models.clone())
        .with_means(Means {
            limits: run.limits,
            confine_commands: run.confine_commands,
            keeps_daemons: run.keep_daemons,
            pass_env: run.pass_env.clone(),
        })
        .within(run.timers, run.max_line))
}

/// The model that is asked where the host names none: what the environment names, or else one that a server of our own machine has. What an
/// API of the net calls its models is known.
pub(super) async fn named_model(choice: &Choice, launch: &Launch) -> Result<Option<String>, Failure> {
    let &Choice::Model(api) = choice else { return Ok(None) };
    let set = Endpoint::model_of_environment(api, &|name| std::env::var(name).ok());
    if set.is_some() || launch.model.is_some() || api != Api::Openai {
        return Ok(set);
    }
    let client = client(api, launch)?.map_err(|error| Failure::Usage(error.message))?;
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

/// The client for an API's server: the environment says which, and flags of the launch go over it. Fails at flags that speak of another API.
pub(super) fn client(api: Api, launch: &Launch) -> Result<Result<Client, ModelError>, Failure> {
    let known = persona::of(launch.format.dialect).server;
    let said = server_flags::variables(known, launch, api).map_err(Failure::Usage)?;
    let of_flag = |name: &str| said.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let client = Client::of_variables(api, &|name| of_flag(name).or_else(|| std::env::var(name).ok()));
    let elsewhere = client
        .as_ref()
        .ok()
        .and_then(|client| server_flags::elsewhere(known, launch, client.endpoint()));
    elsewhere.map_or(Ok(client), |why| Err(Failure::Usage(why)))
}

/// Why the built-in agent could not begin with this API, if too little is said of it.
pub(super) fn model_trouble(api: Api, launch: &Launch) -> Option<String> {
    client(api, launch).ok()?.err().map(|error| error.message)
}

/// A log, and beside it what its host said, if that was recorded too.
fn replay(path: &Path, pace: Pace, live: &Live) -> Result<Box<dyn Backend>, Failure> {
    let console = Console::plain();
    let input = Input::File(path.to_owned());
    let mut source = Source::open(&input, &console)?;
    let name = input.name();
    let found = source
        .detect()
        .map_err(Failure::without_from)?
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

/// The model of an API, where nobody names one.
const fn usual_model(api: Api) -> &'static str {
    match api {
        Api::Openai => "gpt-5.1",
        Api::Anthropic => "claude-sonnet-4-5",
    }
}
