//! `-c KEY=VALUE`: the settings that say of a launch what other programs have flags for.

use toml::{Table, Value};

use crate::conduct::quoted;
use crate::json::Raw;
use crate::launch::{ArgError, Launch, PermissionMode, Text};

/// Reads them, in their order; a later one counts. What a flag says counts more.
pub(super) fn apply(launch: &mut Launch) -> Result<(), ArgError> {
    let all = all(launch)?;
    let text = |name: &str| all.get(name).and_then(Value::as_str).map(str::to_owned);
    launch.model = launch.model.take().or_else(|| text("model"));
    launch.effort = launch.effort.take().or_else(|| text("model_reasoning_effort"));
    if launch.system.append.is_none() {
        launch.system.append = text("developer_instructions").map(Text::Here);
    }
    if launch.system.replace.is_none() {
        launch.system.replace = text("model_instructions_file").map(Text::File);
    }
    // What may be written is not guessed.
    if let Some(mode) = all.get("sandbox_mode") {
        let named = mode.as_str().and_then(|mode| PermissionMode::from_name(launch.format.dialect, mode));
        let named = named.ok_or_else(|| {
            let said = mode.as_str().unwrap_or_else(|| mode.type_str());
            let why = format!("unknown variant `{said}`, expected one of `read-only`, `workspace-write`, `danger-full-access`");
            wrong("sandbox_mode", &why)
        })?;
        launch.permission.get_or_insert(named);
    }
    if let Some(servers) = all.get("mcp_servers") {
        if !servers.is_table() {
            return Err(wrong("mcp_servers", &format!("{} is no table", servers.type_str())));
        }
        let mut json = String::new();
        write(servers, &mut json);
        launch.mcp_config.push(super::servers::common(Raw::trusted(&json)));
    }
    Ok(())
}

fn wrong(name: &str, why: &str) -> ArgError {
    ArgError::line(format!("Error loading config.toml: {why}\nin `{name}`"), 1)
}

/// The text that a setting of this name has.
pub(in crate::codex) fn text(launch: &Launch, name: &str) -> Option<String> {
    // What is wrong with them was said when the command line was read.
    all(launch).ok()?.get(name)?.as_str().map(str::to_owned)
}

fn all(launch: &Launch) -> Result<Table, ArgError> {
    let mut all = Table::new();
    for (_, value) in launch.rest.iter().filter(|(name, _)| matches!(name.as_str(), "-c" | "--config")) {
        merge(&mut all, read(value.as_deref().unwrap_or_default())?);
    }
    Ok(all)
}

/// One setting. What is no TOML is a text, as it stands.
fn read(setting: &str) -> Result<Table, ArgError> {
    let Some((key, value)) = setting.split_once('=') else {
        return Err(ArgError::line(
            format!("Error parsing -c overrides: Invalid override (missing '='): {setting}"),
            1,
        ));
    };
    let (key, value) = (key.trim(), value.trim());
    let one = format!("value = {value}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("value"));
    let mut value = one.unwrap_or_else(|| Value::String(value.trim_matches(['"', '\'']).to_owned()));
    if key.is_empty() {
        return Err(ArgError::line(format!("Error parsing -c overrides: Empty key in override: {setting}"), 1));
    }
    let mut parts = key.split('.').rev();
    let last = parts.next_back().unwrap_or_default();
    for part in parts {
        value = Value::Table(Table::from_iter([(part.to_owned(), value)]));
    }
    Ok(Table::from_iter([(last.to_owned(), value)]))
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(before)), Value::Table(more)) => merge(before, more),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// As JSON; dates are texts, and numbers that JSON does not have are nothing.
fn write(value: &Value, json: &mut String) {
    match value {
        Value::String(text) => json.push_str(&quoted(text)),
        Value::Integer(number) => json.push_str(&number.to_string()),
        Value::Float(number) if number.is_finite() => json.push_str(&number.to_string()),
        Value::Float(_) => json.push_str("null"),
        Value::Boolean(truth) => json.push_str(if *truth { "true" } else { "false" }),
        Value::Datetime(date) => json.push_str(&quoted(&date.to_string())),
        Value::Array(list) => {
            json.push('[');
            for (at, element) in list.iter().enumerate() {
                json.push_str(if at == 0 { "" } else { "," });
                write(element, json);
            }
            json.push(']');
        }
        Value::Table(members) => {
            json.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                json.push_str(if at == 0 { "" } else { "," });
                json.push_str(&quoted(name));
                json.push(':');
                write(member, json);
            }
            json.push('}');
        }
    }
}
