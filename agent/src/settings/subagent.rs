//! Kinds of subagents, as files of settings, the command line and hosts describe them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::AgentFile;

/// A kind of subagent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SubagentKind {
    /// When to use it.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools that it has; all of ours if absent.
    pub tools: Option<Vec<String>>,
    /// Tools that it does not have.
    pub without: Vec<String>,
    /// Its model; ours if absent.
    pub model: Option<String>,
    /// The most rounds of it.
    pub max_rounds: Option<u64>,
    /// Nobody waits for it.
    pub background: bool,
}

impl SubagentKind {
    /// That of a file.
    pub(crate) fn of(agent: &AgentFile) -> Self {
        Self {
            description: agent.description.clone(),
            prompt: agent.prompt.clone(),
            tools: agent.tools.clone(),
            without: agent.without.clone(),
            model: agent.model.clone(),
            max_rounds: agent.max_rounds,
            background: agent.background,
        }
    }

    /// Whether it may have this tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        self.tools.as_deref().is_none_or(named) && !named(&self.without)
    }
}

/// Kinds of subagents as hosts declare them: an object by name, or a list of objects with names.
pub(crate) fn kinds(agents: &Value) -> BTreeMap<String, SubagentKind> {
    let kind = |about: &Value| {
        let text = |names: &[&str]| names.iter().find_map(|name| about.get(name)?.as_str()).map(str::to_owned);
        let list = |name: &str| -> Option<Vec<String>> {
            let list = about.get(name)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        SubagentKind {
            description: text(&["description"]).unwrap_or_default(),
            prompt: text(&["prompt", "systemPrompt"]).unwrap_or_default(),
            tools: list("tools"),
            without: list("disallowedTools").unwrap_or_default(),
            model: text(&["model"]),
            max_rounds: about.get("maxTurns").and_then(Value::as_u64).filter(|most| *most > 0),
            background: about.get("background").and_then(Value::as_bool) == Some(true),
        }
    };
    match agents {
        Value::Object(agents) => agents.iter().map(|(name, about)| (name.clone(), kind(about))).collect(),
        Value::Array(agents) => agents
            .iter()
            .filter_map(|about| Some((about.get("name")?.as_str()?.to_owned(), kind(about))))
            .collect(),
        _ => BTreeMap::new(),
    }
}
