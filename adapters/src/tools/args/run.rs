//! Commands, subagents, tools of MCP servers.

use bumpalo::Bump;

use super::{Args, Shell, Subagent};
use crate::json::{Raw, Shape, Str};
use crate::tools::Family;
use crate::tools::json::{Json, members, object, optional, whole};

/// Time limits are milliseconds, in Tricode seconds.
pub(super) fn shell<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let shell = match from {
        Family::Claude => {
            let [command, timeout, description, background] = members(input, ["command", "timeout", "description", "run_in_background"])?;
            Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                directory: None,
            }
        }
        Family::Qwen => {
            let [command, background, timeout, description, directory] =
                members(input, ["command", "is_background", "timeout", "description", "directory"])?;
            Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                directory: optional(directory, Raw::string)?,
            }
        }
        Family::Cursor => {
            let [command, directory, timeout, background, description] =
                members(input, ["command", "workingDirectory", "timeout", "isBackground", "description"])?;
            Shell {
                command: command?.string()?,
                timeout: optional(timeout, whole)?,
                description: optional(description, Raw::string)?,
                background: optional(background, Raw::bool)?,
                // An empty one is the workspace.
                directory: optional(directory, Raw::string)?.filter(|path| !path.is_empty()),
            }
        }
        Family::Tricode => {
            let [command, timeout] = members(input, ["command", "timeout"])?;
            let timeout = optional(timeout, milliseconds)?;
            Shell {
                command: command?.string()?,
                timeout,
                description: None,
                background: None,
                directory: None,
            }
        }
    };
    Some(Args::Shell(shell))
}

/// Seconds, whole or not, as milliseconds.
fn milliseconds(seconds: Raw<'_>) -> Option<u64> {
    let value = (seconds.f64()? * 1000.0).round();
    // Up to 2^53 every whole number is a double.
    (0.0..=9_007_199_254_740_992.0).contains(&value).then_some(value as u64)
}

pub(super) fn write_shell<'a>(shell: Shell<'_>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').key("command").str(shell.command);
    let name = match to {
        Family::Claude => {
            json.maybe_number("timeout", shell.timeout).maybe_str("description", shell.description);
            json.maybe_bool("run_in_background", shell.background.filter(|background| *background));
            "Bash"
        }
        // `is_background` is required.
        Family::Qwen => {
            json.key("is_background")
                .bool(shell.background.unwrap_or(false))
                .maybe_number("timeout", shell.timeout);
            json.maybe_str("description", shell.description).maybe_str("directory", shell.directory);
            "run_shell_command"
        }
        Family::Cursor => {
            json.key("workingDirectory")
                .str(shell.directory.unwrap_or_default())
                .maybe_number("timeout", shell.timeout);
            json.key("toolCallId").str(id).key("isBackground").bool(shell.background.unwrap_or(false));
            json.maybe_str("description", shell.description);
            "shellToolCall"
        }
        Family::Tricode => {
            if let Some(timeout) = shell.timeout {
                json.key("timeout").number(timeout / 1000);
                if timeout % 1000 != 0 {
                    json.lit(format!(".{:03}", timeout % 1000).trim_end_matches('0'));
                }
            }
            "run_command"
        }
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

pub(super) fn subagent<'a>(from: Family, input: Raw<'a>) -> Option<Args<'a>> {
    let [description, prompt, snake, camel, background] =
        members(input, ["description", "prompt", "subagent_type", "subagentType", "run_in_background"])?;
    let agent = match from {
        Family::Cursor => optional(camel, agent_type)?.flatten(),
        _ => optional(snake, Raw::string)?,
    };
    Some(Args::Subagent(Subagent {
        description: optional(description, Raw::string)?,
        prompt: prompt?.string()?,
        agent,
        background: optional(background, Raw::bool)?,
    }))
}

/// Cursor's one-of: `{"unspecified":{}}`, `{"NAME":{}}`, `{"custom":{"name":"NAME"}}`.
fn agent_type<'a>(value: Raw<'a>) -> Option<Option<Str<'a>>> {
    if let Some(name) = value.string() {
        return Some(Some(name));
    }
    let (name, inner) = value.members().next()?;
    if name.is("custom") {
        return Some(inner.get("name").and_then(Raw::string).or(Some(name)));
    }
    Some((!name.is("unspecified")).then_some(name))
}

pub(super) fn write_subagent<'a>(call: Subagent<'_>, to: Family, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let mut json = Json::new(arena);
    json.mark('{').maybe_str("description", call.description).key("prompt").str(call.prompt);
    let name = match to {
        Family::Claude | Family::Qwen => {
            json.maybe_str("subagent_type", call.agent)
                .maybe_bool("run_in_background", call.background);
            if to == Family::Claude { "Agent" } else { "agent" }
        }
        Family::Cursor => {
            let agent = call.agent.unwrap_or(Str::trusted("unspecified"));
            json.key("subagentType").mark('{').key(agent.as_escaped()).lit("{}").mark('}');
            "taskToolCall"
        }
        Family::Tricode => return None,
    };
    json.mark('}');
    Some((Str::trusted(name), json.done()))
}

/// Everywhere but in Cursor the name holds server and tool: `mcp__SERVER__TOOL`.
pub(super) fn mcp<'a>(name: Str<'a>, input: Raw<'a>) -> Option<Args<'a>> {
    if let Some(rest) = name.as_escaped().strip_prefix("mcp__") {
        let (server, tool) = rest.split_once("__")?;
        if name.has_escapes() || server.is_empty() || tool.is_empty() || input.shape() != Some(Shape::Object) {
            return None;
        }
        return Some(Args::Mcp {
            server: Str::trusted(server),
            tool: Str::trusted(tool),
            args: input,
        });
    }
    let [args, provider, server, tool] = members(input, ["args", "providerIdentifier", "serverIdentifier", "toolName"])?;
    let (server, tool) = (provider.or(server)?.string()?, tool?.string()?);
    let args = optional(args, object)?.unwrap_or(Raw::trusted("{}"));
    (!server.is_empty() && !tool.is_empty()).then_some(Args::Mcp { server, tool, args })
}

pub(super) fn write_mcp<'a>(server: Str<'_>, tool: Str<'_>, args: Raw<'a>, to: Family, id: Str<'_>, arena: &'a Bump) -> Option<(Str<'a>, Raw<'a>)> {
    let (server, tool) = (server.as_escaped(), tool.as_escaped());
    match to {
        Family::Claude | Family::Qwen => {
            let name = bumpalo::format!(in arena, "mcp__{}__{}", server, tool);
            Some((Str::trusted(name.into_bump_str()), args))
        }
        Family::Cursor => {
            let mut json = Json::new(arena);
            let name = bumpalo::format!(in arena, "{}-{}", server, tool);
            json.mark('{')
                .key("name")
                .str(Str::trusted(&name))
                .key("args")
                .raw(args)
                .key("toolCallId")
                .str(id);
            json.key("providerIdentifier")
                .str(Str::trusted(server))
                .key("toolName")
                .str(Str::trusted(tool))
                .mark('}');
            Some((Str::trusted("mcpToolCall"), json.done()))
        }
        Family::Tricode => None,
    }
}
