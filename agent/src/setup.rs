//! What the host and the files of settings say of an agent before it lives.

use std::path::Path;

use serde_json::Value;

use crate::control_requests::HostRequests;
use crate::mcp::{self, McpServers, Server};
use crate::permissions::Source;
use crate::persona::{self, Persona};
use crate::restrictions::Restrictions;
use crate::settings::{self, Settings};
use crate::tools::World;
use crate::turn::options::Options;
use crate::{Error, Parts};
use agentglot_adapters::raw::codec::Dialect;
use agentglot_adapters::raw::launch::{Launch, SystemPrompt, Text};
use agentglot_process::file::read_named_text;

/// The largest file that the command line names for the model to be told of, in bytes.
const LARGEST_TEXT: u64 = 16 << 20;

/// What the host wants at the beginning.
pub(crate) fn options(parts: &Parts, settings: &Settings) -> Result<Options, Error> {
    let models = &parts.models;
    let named = |name| models.named(parts.dialect.program().map_or(name, |program| program.bare_model(name)));
    let asked = parts.model_name.as_deref().and_then(named);
    let model = asked.or_else(|| named(settings.model()?)).unwrap_or_else(|| models.usual().to_owned());
    let launch = &parts.launch;
    let SystemPrompt { replace, append } = &launch.system;
    let text = |text: &Option<Text>| match text {
        None => Ok(None),
        Some(Text::Here(text)) => Ok(Some(text.clone())),
        Some(Text::File(path)) => read_named_text(&parts.cwd.join(path), LARGEST_TEXT)
            .map(Some)
            .map_err(|error| Error::Read { name: path.clone(), error }),
    };
    if launch.settings.is_some() && !settings.layers.iter().any(|(source, _)| *source == Source::Flag) {
        return Err(Error::Usage(settings.problems.join("; ")));
    }
    let json = |text: &Option<String>, what: &str| text.as_ref().map(|text| named_json(text, what, &parts.cwd)).transpose();
    Ok(Options {
        first_model: model.clone(),
        model,
        system: text(replace)?,
        append_system: text(append)?,
        agents: json(&launch.agents, "the subagents")?
            .map(|agents| settings::subagent::kinds(&agents))
            .unwrap_or_default(),
        schema: json(&launch.json_schema, "the schema of the answer")?.map(valid).transpose()?,
        thinking: launch
            .max_thinking_tokens
            .or_else(|| of_mode(launch.thinking.as_deref()?))
            .or_else(|| thinking(parts.dialect, settings)),
        effort: launch.effort.clone(),
        ..Options::default()
    })
}

/// The MCP servers of the command line, and of files of settings unless the host wants none of those.
pub(crate) fn mcp_servers(
    (persona, restrictions): (&Persona, &Restrictions),
    launch: &Launch,
    flagged: Vec<Server>,
    of_settings: &Value,
    world: &World,
    requests: &HostRequests,
) -> McpServers {
    let variable = |name: &str| std::env::var(name).ok();
    let mut servers = match mcp::config::of_value(of_settings, "settings", &variable) {
        Ok(servers) if !launch.strict_mcp => servers,
        _ => Vec::new(),
    };
    mcp::config::join(&mut servers, flagged);
    servers.retain(|server| restrictions.allows_server(&server.name));
    let root = world.wall.root().to_owned();
    let options = mcp::Options {
        naming: *persona.mcp,
        asks_user: persona.elicits && launch.has_stdin_protocol(),
        ..mcp::Options::new(root, world.environment.to_vec(), &variable)
    };
    McpServers::new(servers, requests.clone(), options)
}

/// Whether somebody has named a tool, on the command line or in a file of settings: tools for the web are there only then.
pub(crate) fn is_named(names: &[&str], launch: &Launch, settings: &Settings) -> bool {
    let listed = settings
        .layers
        .iter()
        .filter_map(|(_, value)| value.get("permissions")?.get("allow")?.as_array());
    let listed = listed.flatten().filter_map(Value::as_str);
    let named = launch.allowed_tools.iter().chain(launch.tools.iter().flatten()).map(String::as_str);
    named.chain(listed).any(|rule| names.iter().any(|name| rule.trim().starts_with(name)))
}

/// The most tokens for thinking in a mode of it.
fn of_mode(mode: &str) -> Option<u64> {
    match mode {
        "disabled" => Some(0),
        "enabled" | "adaptive" => Some(MOST_THINKING),
        _ => None,
    }
}

/// The most tokens for thinking where only the mode is said: all that the least reply of today's models has room for.
const MOST_THINKING: u64 = 31_999;

/// What the user says by the vendor's variable, in the environment or a file of settings.
fn thinking(dialect: Dialect, settings: &Settings) -> Option<u64> {
    let known = persona::of(dialect).thinking_variable?;
    let set = || settings.env().into_iter().find(|(name, _)| name == known).map(|(_, value)| value);
    let value = std::env::var(known).ok().or_else(set)?;
    value.trim().parse().ok()
}

/// A schema that answers can be held against.
fn valid(schema: Value) -> Result<Value, Error> {
    match jsonschema::validator_for(&schema) {
        Ok(_) => Ok(schema),
        Err(error) => Err(Error::Usage(format!("--json-schema is not a valid JSON Schema: {error}"))),
    }
}

/// JSON of the command line: itself, or the file that holds it, which may stand behind an `@`.
fn named_json(text: &str, what: &str, cwd: &Path) -> Result<Value, Error> {
    let (text, place) = if text.trim_start().starts_with(['{', '[']) {
        (text.to_owned(), what.to_owned())
    } else {
        let name = text.strip_prefix('@').unwrap_or(text);
        let read = read_named_text(&cwd.join(name), LARGEST_TEXT).map_err(|error| Error::Read {
            name: format!("{what}, {name:?}"),
            error,
        })?;
        (read, format!("{what}, {name:?}"))
    };
    serde_json::from_str(&text).map_err(|error| Error::Usage(format!("{place}: this is no JSON: {error}")))
}
