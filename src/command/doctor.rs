//! `doctor`: what was found, and what would run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::{Launch, Program};
use serde_json::{Value, json};

use super::print;
use crate::agent::redact::is_secret_name;
use crate::backend::choice::{Choice, no_backend};
use crate::backend::cli::{is_script, version};
use crate::backend::model::{Api, Client, Endpoint};
use crate::backend::requests::{Requests, Start};
use crate::child::{Environment, Ourselves, find};
use crate::cli::live::links;
use crate::cli::live::settings::{Origin, alone_without_wrong};
use crate::config::{Config, FILE, Project};
use crate::io::{clean, one_line};
use crate::session::Timers;
use crate::status::{Failure, Status};

/// How long a program may take to say its version. Some start a whole Node first.
const PATIENCE: Duration = Duration::from_secs(15);

/// A program that was looked for.
struct Found {
    dialect: Dialect,
    /// The file that names it; `None`: PATH, or the back end itself.
    named_in: Option<PathBuf>,
    path: Result<PathBuf, String>,
    version: Result<String, String>,
}

/// Says it. [`Status::Damaged`], which is exit code 1, when nothing or something else than was asked for would run.
///
/// # Errors
/// When it cannot be written.
pub fn run(json: bool, probe: bool) -> Result<Status, Failure> {
    let cwd = std::env::current_dir().map_err(|error| Failure::Read {
        name: "the working folder".to_owned(),
        error,
    })?;
    let mut problems = Vec::new();
    let loaded = Config::load(&cwd);
    let broken = loaded.as_ref().err().map(ToString::to_string);
    problems.extend(broken.clone());
    let config = loaded.unwrap_or_default();
    let (settings, wrong) = alone_without_wrong(&config);
    let mut limits = None;
    let (backend, pass_env, origins, unread) = match settings {
        Ok((settings, origins, _)) => {
            let timers = Timers {
                start: settings.start_timeout,
                ..Timers::default()
            };
            limits = Some((timers, settings.max_line)).filter(|_| probe);
            (settings.backend, settings.pass_env, origins, None)
        }
        Err(error) => (None, Vec::new(), Vec::new(), Some(error)),
    };
    problems.extend(wrong.into_iter().chain(unread).map(|error| {
        let told = error.to_string();
        told.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
    }));
    let runtime = crate::system::runtime()?;
    let mut found: Vec<Found> = Vec::new();
    for program in Program::backends() {
        let dialect = program.dialect;
        let chosen = match &backend {
            Some(Choice::Cli(of, Some(path))) if *of == dialect => Some((path.clone(), None)),
            _ => config.program(dialect).map(|(path, file)| (path.to_owned(), Some(file.to_owned()))),
        };
        found.push(runtime.block_on(look(program, chosen, &pass_env)));
    }
    match &backend {
        None if problems.is_empty() && models(None).is_empty() => problems.push(no_backend()),
        Some(Choice::Cli(dialect, _)) => {
            for program in found.iter().filter(|program| program.dialect == *dialect) {
                problems.extend(program.path.as_ref().err().or(program.version.as_ref().err()).cloned());
            }
        }
        Some(Choice::Command(dialect, command)) => {
            let agent = agent(*dialect, command, &cwd, &pass_env, limits);
            problems.extend(runtime.block_on(agent));
        }
        Some(Choice::Replay(path)) if !path.is_file() => problems.push(format!("{}: there is no such log", path.display())),
        _ => {}
    }
    let mut servers = Vec::new();
    for api in models(backend.as_ref()) {
        let server = runtime.block_on(Server::look(api, probe));
        problems.extend(server.error.clone());
        servers.push(server);
    }
    let keys = keys();
    let status = if problems.is_empty() { Status::Clean } else { Status::Damaged };
    let report = Report {
        config: &config,
        broken: broken.as_deref(),
        cwd: &cwd,
        origins: &origins,
        found: &found,
        servers: &servers,
        keys: &keys,
        backend: backend.as_ref(),
        problems: &problems,
    };
    let text = if json { report.json() } else { report.text() };
    print(clean(&text).as_bytes())?;
    Ok(status)
}

/// Why the agent behind a command could not be used. With limits for it a session is opened with it.
async fn agent(dialect: Dialect, command: &[String], cwd: &Path, pass: &[String], probe: Option<(Timers, usize)>) -> Option<String> {
    let launch = Launch::new(Dialect::CANONICAL);
    let found = Requests::new(dialect, Start::Command(command), &launch, cwd, pass).map_err(|failure| failure.to_string());
    match (found, probe) {
        (Ok(agent), Some((timers, max_line))) => agent.within(timers, max_line).probe().await.err(),
        (found, _) => found.err(),
    }
}

/// Looks a program up and asks it for its version.
async fn look(of: &'static Program, chosen: Option<(PathBuf, Option<PathBuf>)>, pass: &[String]) -> Found {
    let (wanted, named_in) = match chosen {
        Some((path, file)) => (path.into_os_string(), file),
        None => (OsString::from(of.file), None),
    };
    let search = |wanted: &OsString| {
        let path = std::env::var_os("PATH");
        find(wanted, path.as_deref(), &Ourselves::running()).map_err(|error| error.to_string())
    };
    let script = is_script(Path::new(&wanted));
    let path = if script {
        let path = PathBuf::from(&wanted);
        if path.is_file() {
            Ok(path)
        } else {
            Err(format!("{}: there is no such file", path.display()))
        }
    } else {
        search(&wanted)
    };
    let env = Environment::default().allow(of.environment).allow(pass);
    let version = match &path {
        Ok(path) if script => match search(&OsString::from("node")) {
            Ok(node) => version(&node, vec![path.clone().into(), "--version".into()], env, PATIENCE).await,
            Err(error) => Err(error),
        },
        Ok(path) => version(path, vec!["--version".into()], env, PATIENCE).await,
        Err(_) => Err("not found".to_owned()),
    };
    Found {
        dialect: of.dialect,
        named_in,
        path,
        version,
    }
}

/// The APIs of models that some program of ours would use.
fn models(backend: Option<&Choice>) -> Vec<Api> {
    let mut apis: Vec<Api> = match backend {
        Some(Choice::Model(api)) => vec![*api],
        Some(_) => Vec::new(),
        None => links()
            .filter_map(|(_, dialect)| match Choice::of_environment(dialect) {
                Some(Choice::Model(api)) => Some(api),
                _ => None,
            })
            .collect(),
    };
    apis.sort_by_key(|api| api.name());
    apis.dedup();
    apis
}

/// The server of a model.
struct Server {
    api: Api,
    url: String,
    /// What the environment calls the model.
    model: Option<String>,
    /// The models that it says it has, if it was asked.
    models: Option<Vec<String>>,
    /// Why it could not be used.
    error: Option<String>,
}

impl Server {
    async fn look(api: Api, probe: bool) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let mut server = Self {
            api,
            // What is wrong is shown as it was said.
            url: Endpoint::base_of_environment(api, &variable).unwrap_or_else(|| api.home().to_owned()),
            model: Endpoint::model_of_environment(api, &variable),
            models: None,
            error: None,
        };
        match Client::of_environment(api) {
            Ok(client) if probe => match client.models().await {
                Ok(models) => server.models = Some(models),
                Err(error) => server.error = Some(error.message),
            },
            Ok(_) => {}
            Err(error) => server.error = Some(error.message),
        }
        server
    }

    fn text(&self) -> Vec<String> {
        let mut lines = vec![format!("  {:<11}{}", self.api.name(), self.url)];
        lines.push(match (&self.model, &self.models) {
            (Some(model), Some(models)) if !models.is_empty() && !models.contains(model) => {
                format!("  {:<11}{model}, which is none of the models that the server has", "model")
            }
            (Some(model), _) => format!("  {:<11}{model}, unless the host names one", "model"),
            (None, _) => format!(
                "  {:<11}the one that the host names, else a usual one of the API or the first of a local server",
                "model"
            ),
        });
        if let Some(models) = &self.models {
            const SHOWN: usize = 10;
            let more = models.len().saturating_sub(SHOWN);
            let names = models.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("  {:<11}it answers, and has {names}{more}", ""));
        }
        lines
    }
}

/// The names of variables that look like keys of the programs that could run. Never their values.
fn keys() -> Vec<String> {
    let all = Program::backends().flat_map(|program| program.environment);
    let set = Environment::nothing().allow(all).choose(std::env::vars_os());
    let named = set.into_iter().filter(|(_, value)| !value.is_empty());
    let mut names: Vec<String> = named.filter_map(|(name, _)| name.into_string().ok()).collect();
    names.retain(|name| is_secret_name(name));
    names.sort();
    names
}

struct Report<'a> {
    config: &'a Config,
    /// Why there is none.
    broken: Option<&'a str>,
    cwd: &'a Path,
    origins: &'a [Origin],
    found: &'a [Found],
    servers: &'a [Server],
    keys: &'a [String],
    backend: Option<&'a Choice>,
    problems: &'a [String],
}

impl Report<'_> {
    /// The back end behind a link, and the program behind that.
    fn runs(&self, dialect: Dialect) -> Option<(String, Option<&Path>)> {
        let Some(backend) = self.backend else {
            return Choice::of_environment(dialect).map(|choice| (format!("{choice}, by the environment"), None));
        };
        let program = match backend {
            Choice::Cli(dialect, _) => {
                let found = self.found.iter().find(|found| found.dialect == *dialect);
                found.and_then(|found| found.path.as_deref().ok())
            }
            _ => None,
        };
        Some((backend.to_string(), program))
    }

    fn json(&self) -> String {
        let shown = |path: &Path| path.display().to_string();
        let ignored: Vec<Value> = self
            .config
            .ignored
            .iter()
            .map(|ignored| json!({"file": ignored.path.display().to_string(), "line": ignored.line, "key": ignored.key, "why": ignored.why}))
            .collect();
        let settings: serde_json::Map<String, Value> = self
            .origins
            .iter()
            .map(|origin| {
                let from = origin.from.as_deref().unwrap_or("default");
                (origin.key.clone(), json!({"value": origin.value, "from": from}))
            })
            .collect();
        let programs: Vec<Value> = self
            .found
            .iter()
            .map(|found| {
                json!({
                    "dialect": found.dialect.name(),
                    "path": found.path.as_ref().ok().map(|path| path.display().to_string()),
                    "from": found.named_in.as_ref().map_or_else(|| "PATH".to_owned(), |path| path.display().to_string()),
                    "version": found.version.as_ref().ok(),
                    "error": found.path.as_ref().err().or(found.version.as_ref().err()),
                })
            })
            .collect();
        let servers: Vec<Value> = self
            .servers
            .iter()
            .map(|server| {
                json!({
                    "api": server.api.name(),
                    "url": server.url,
                    "model": server.model,
                    "models": server.models,
                    "error": server.error,
                })
            })
            .collect();
        let links: Vec<Value> = links()
            .map(|(name, dialect)| {
                let runs = self.runs(dialect);
                json!({
                    "name": name,
                    "as": dialect.name(),
                    "backend": runs.as_ref().map(|(backend, _)| backend),
                    "program": runs.as_ref().and_then(|(_, path)| *path).map(|path| path.display().to_string()),
                })
            })
            .collect();
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "folder": self.cwd.display().to_string(),
            "config": {
                "error": self.broken,
                "project": self.config.project.as_ref().map(|project| shown(project.path())),
                "trusted": self.config.project.as_ref().is_some_and(Project::is_trusted),
                "user": self.config.user.as_ref().map(|user| shown(&user.path)),
                "user_looked_for": self.config.user_path.as_ref().map(|path| path.display().to_string()),
                "ignored": ignored,
            },
            "settings": settings,
            "models": self.config.models(),
            "programs": programs,
            "servers": servers,
            "keys": self.keys,
            "links": links,
            "problems": self.problems,
        });
        format!("{report:#}\n")
    }

    fn text(&self) -> String {
        let mut lines = vec![
            format!("agentglot {} in {}", env!("CARGO_PKG_VERSION"), self.cwd.display()),
            String::new(),
        ];
        lines.push("Configuration".to_owned());
        lines.push(match (&self.config.project, self.broken) {
            (_, Some(why)) => format!("  none of it counts: {why}"),
            (Some(project), None) => format!(
                "  project  {}{}",
                project.path().display(),
                if project.is_trusted() { " (trusted)" } else { "" }
            ),
            (None, None) => format!("  project  no {FILE} here or above"),
        });
        lines.push(match (&self.config.user, &self.config.user_path) {
            (Some(layer), _) => format!("  user     {}", layer.path.display()),
            (None, Some(path)) => format!("  user     none ({} would be it)", path.display()),
            (None, None) => "  user     none".to_owned(),
        });
        lines.extend(self.config.ignored.iter().map(|ignored| format!("  {ignored}")));
        lines.extend([String::new(), "Settings".to_owned()]);
        for origin in self.origins {
            let value = origin.value.as_deref().unwrap_or("-");
            let from = origin.from.as_ref().map(|from| format!("  ({from})")).unwrap_or_default();
            lines.push(format!("  {:<19}{value}{from}", origin.key));
        }
        for (from, to) in self.config.models() {
            lines.push(format!("  model {from} is {to}"));
        }
        lines.extend([String::new(), "Programs".to_owned()]);
        for found in self.found {
            let name = found.dialect.name();
            let named = found.named_in.as_ref().map(|path| format!("  ({})", path.display())).unwrap_or_default();
            lines.push(match (&found.path, &found.version) {
                (Ok(path), Ok(version)) => format!("  {name:<11}{}  {version}{named}", path.display()),
                (Ok(path), Err(error)) => format!("  {name:<11}{}  {error}{named}", path.display()),
                (Err(error), _) => format!("  {name:<11}{error}{named}"),
            });
        }
        if !self.servers.is_empty() {
            lines.extend([String::new(), "Model".to_owned()]);
            lines.extend(self.servers.iter().flat_map(Server::text));
        }
        lines.extend([String::new(), "Keys that are set".to_owned()]);
        lines.push(if self.keys.is_empty() {
            "  none".to_owned()
        } else {
            format!("  {}", self.keys.join(", "))
        });
        lines.extend([String::new(), "What a link of this name runs".to_owned()]);
        for (name, dialect) in links() {
            let runs = match self.runs(dialect) {
                Some((backend, Some(path))) => format!("{backend} ({})", path.display()),
                Some((backend, None)) => backend,
                None => "nothing".to_owned(),
            };
            lines.push(format!("  {name:<14}as {:<10}{runs}", dialect.name()));
        }
        if !self.problems.is_empty() {
            lines.extend([String::new(), "Problems".to_owned()]);
            lines.extend(self.problems.iter().map(|problem| format!("  {problem}")));
        }
        // What is told of folders, files and variables makes no line of its own.
        lines.iter().map(|line| one_line(line) + "\n").collect()
    }
}
