//! Subagents: a conversation of its own for a part of the work. The model that called it sees its last words alone.

use std::rc::Rc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::chat::{Call, Message, Part};
use super::core::{AgentKind, Core, Thread};
use super::tool::{Cx, Given, Spec, Tool};
use super::turn::{self, End};
use super::voice::{Speaks, line_id};
use crate::adapters::codec::Dialect;
use crate::adapters::event::{DetailShape, PromptSource, ToolKind};

/// The kind of a subagent that nobody has described further.
pub(super) const GENERAL: &str = "general-purpose";

/// What a call wants of a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    kind: String,
    task: String,
    prompt: String,
}

/// The tool that begins a subagent.
#[derive(Debug)]
pub(super) struct Subagents {
    spec: Spec,
}

impl Subagents {
    /// Under the name of the dialect, with the kinds that there are.
    pub(super) fn new(dialect: Dialect, kinds: impl Iterator<Item = (String, String)>) -> Self {
        let name = match dialect {
            Dialect::Cursor => "task",
            Dialect::Qwen | Dialect::QwenCode => "agent",
            _ => "Agent",
        };
        let mut about =
            "Gives a part of the work to another agent, which has a conversation of its own and answers once, at its end.\n\nKinds:\n".to_owned();
        for (kind, description) in kinds {
            about.push_str(&format!("- {kind}: {description}\n"));
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The task in three to five words"},
                "prompt": {"type": "string", "description": "The whole task; the agent sees nothing else"},
                "subagent_type": {"type": "string", "description": "The kind of agent"}
            },
            "required": ["description", "prompt"]
        });
        Self {
            spec: Spec {
                name: name.to_owned(),
                description: about,
                schema,
                kind: ToolKind::Subagent,
                reads_only: true,
            },
        }
    }
}

#[async_trait(?Send)]
impl Tool for Subagents {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, _: &Value, _: &Cx<'_>) -> Given {
        Given::error("a subagent cannot begin one")
    }
}

/// What a call of this tool wants, if it is the one that begins subagents.
pub(super) fn wanted(tool: &dyn Tool, input: &Value) -> Option<Wanted> {
    if tool.spec().kind != ToolKind::Subagent {
        return None;
    }
    let member = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str()).unwrap_or_default().to_owned();
    Some(Wanted {
        kind: Some(member(&["subagent_type", "subagentType"]))
            .filter(|kind| !kind.is_empty())
            .unwrap_or_else(|| GENERAL.to_owned()),
        task: member(&["description"]),
        prompt: member(&["prompt"]),
    })
}

/// Runs one to its end.
pub(super) async fn run(core: &Rc<Core>, parent: &Thread, call: &Call, wanted: Wanted) -> Given {
    if parent.speaks.is_some() {
        return Given::error("A subagent cannot begin another one.");
    }
    let kind = match core.wishes.borrow().agents.get(&wanted.kind) {
        Some(kind) => kind.clone(),
        None if wanted.kind == GENERAL => AgentKind {
            prompt: core.persona.system_prompt(&core.world),
            ..AgentKind::default()
        },
        None => {
            let known: Vec<String> = kinds(core).map(|(name, _)| name).collect();
            return Given::error(format!("Agent type '{}' not found. Available agents: {}", wanted.kind, known.join(", ")));
        }
    };
    let begun = std::time::Instant::now();
    let tools: Vec<Rc<dyn Tool>> = parent
        .tools
        .iter()
        .filter(|tool| tool.spec().kind != ToolKind::Subagent && tool.spec().name != super::structured::NAME)
        .filter(|tool| kind.tools.as_ref().is_none_or(|names| names.contains(&tool.spec().name)))
        .cloned()
        .collect();
    let speaks = Speaks {
        call: call.id.clone(),
        id: format!("a{}", &uuid::Uuid::new_v4().simple().to_string()[..16]),
        kind: wanted.kind.clone(),
        task: wanted.task.clone(),
    };
    super::hooking::subagent_begins(core, &speaks).await;
    let prompt = [Part::Text(wanted.prompt.clone())];
    let prompt_id = line_id();
    core.voice.prompt(&prompt, PromptSource::Parent, Some(&speaks), &prompt_id);
    let mut thread = Thread {
        specs: Vec::new(),
        tools: Vec::new(),
        system: kind.prompt.clone(),
        model: kind
            .model
            .clone()
            .filter(|model| !matches!(model.as_str(), "inherit" | ""))
            .unwrap_or_else(|| parent.model.clone()),
        messages: vec![Rc::new(Message::user(wanted.prompt.clone()))],
        written: Rc::default(),
        max_rounds: None,
        kept: super::keeping::subagent(parent, &speaks),
        filled: 0,
        speaks: Some(speaks.clone()),
    };
    thread.equip(tools);
    super::keeping::prompt(core, &thread, &prompt, &prompt_id, "", None);
    let calls_before = core.spent.borrow().calls;
    let came = turn::rounds(core, &mut thread).await;
    super::keeping::shown(core, &thread);
    super::hooking::subagent_ends(core, &speaks).await;
    let text = match came.end {
        End::Done(text, _) => text,
        End::Refused(text) => return Given::error(format!("The agent refused: {text}")),
        End::Rounds(limit) => return Given::error(format!("The agent reached its limit of {limit} rounds.")),
        End::Budget(limit) => return Given::error(format!("The agent stopped: the budget of {limit} dollars is spent.")),
        End::Interrupted(_) => return Given::error("[Request interrupted by user for tool use]"),
        End::Stopped(why) | End::Held(why) | End::Refusing(why) | End::Denied(why) => return Given::error(why),
        End::Failed(error) => return Given::error(format!("The agent failed: {}", error.message)),
        End::Deferred(..) | End::Unavailable(_) | End::Unstructured(_) => return Given::error("The agent gave no answer."),
    };
    let calls = core.spent.borrow().calls - calls_before;
    let detail = json!({
        "status": "completed",
        "prompt": wanted.prompt,
        "agentId": speaks.id,
        "agentType": wanted.kind,
        "content": [{"type": "text", "text": text}],
        "totalDurationMs": begun.elapsed().as_millis() as u64,
        "totalTokens": thread.filled,
        "totalToolUseCount": calls,
    });
    Given::text(text).with(DetailShape::Claude, detail)
}

/// The kinds that there are, with what each is for.
pub(super) fn kinds(core: &Core) -> impl Iterator<Item = (String, String)> {
    let own: Vec<(String, String)> = core
        .wishes
        .borrow()
        .agents
        .iter()
        .map(|(name, kind)| (name.clone(), kind.description.clone()))
        .collect();
    let general = (GENERAL.to_owned(), "any work of several steps; it has all tools".to_owned());
    let has = own.iter().any(|(name, _)| name == GENERAL);
    (!has).then_some(general).into_iter().chain(own)
}
